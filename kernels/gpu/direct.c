/* direct.c: grouped convolution with 3x3 filters and 4, 8, 16 or 32 channels a group, two spatial axes, channels last, by matrix
 * instructions that read the source where it lies: family conv.direct_block. Forward, and backward data with stride 1, which is forward
 * from y to x with the filter turned round and its channels swapped.
 *
 * A block computes KW_TILE_H x KW_TILE_W pixels of KW_COLS channels. What they read of the source comes to shared memory once, and all nine
 * taps take their first operands from there. Whole groups stand side by side: a slab of KW_SLAB channels is a product of its own, pixels x
 * (taps, slab) by (taps, slab) x slab, whose weights are zero between two groups. A first stage brings the weights into that form, each
 * lane's words together.
 *
 * An instruction's depth may end inside a tap or reach over several: element k of a product's depth is channel k % KW_SLAB of tap k /
 * KW_SLAB. Behind the last tap weights are zero, and the source is read from that tap, so that nothing is multiplied that is no number. */
#define KW_INST_M 16
#define KW_INST_N (KW_NVIDIA ? 8 : 16)
#include "gpu/fragment.h"
#if KW_PTX
#include "gpu/mma_ptx.h"
#elif KW_AMD
#include "gpu/mma_amd.h"
#else
#include "gpu/mma_emu.h"
#endif

#define KW_DATA (KW_OP == KW_OP_CONV_BWD_DATA)

/* args.value */
#define KW_TILES_H 0
#define KW_TILES_W 1
#define KW_BLOCK_COLS 2 /* blocks side by side along the channels */
#define KW_PACKED 3     /* lanes' shares of all weights */

enum { KW_WAVE_COLS = 64, KW_EXTENT = 3, KW_TAPS = 9 };

#define KW_THREADS (KW_WAVES_C * KW_WAVES_Q * KW_WAVE)
#define KW_COLS (KW_WAVES_C * KW_WAVE_COLS)
#define KW_PIXELS (KW_TILE_H * KW_TILE_W)
#define KW_REPEAT_M (KW_PIXELS / (KW_WAVES_Q * KW_INST_M)) /* instructions of a wave along the pixels */

#define KW_SLAB (KW_CHANNELS > KW_INST_N ? KW_CHANNELS : KW_INST_N)
#define KW_SLABS (KW_WAVE_COLS / KW_SLAB) /* of a wave, one after another */
#define KW_REPEAT_N (KW_SLAB / KW_INST_N)
#define KW_STEPS KW_CEIL(KW_TAPS *KW_SLAB, KW_INST_K)

/* --- weights, packed: slab, step, instruction of the slab, lane, words --- */

/* The tap and the channel of the slab that element k of the depth is. */
KW_DEVICE int kw_depth_tap(int k) { return k / KW_SLAB; }
KW_DEVICE int kw_depth_channel(int k) { return k % KW_SLAB; }

/* What source channel `from` gives to result channel `to`, both of all groups, by a tap. */
KW_DEVICE kw_u32 kw_weight(const kw_gpu_args *a, kw_i64 from, kw_i64 to, int tap) {
    if (tap >= KW_TAPS || from / KW_CHANNELS != to / KW_CHANNELS || to >= a->groups * KW_CHANNELS) return 0;
    kw_i64 c = KW_DATA ? to : from, k = KW_DATA ? from : to;
    return ((const kw_u16 *)a->w)[(k * KW_TAPS + (KW_DATA ? KW_TAPS - 1 - tap : tap)) * KW_CHANNELS + c % KW_CHANNELS];
}

enum { KW_PACK_THREADS = 256 };

KW_KERNEL(kw_stage0, 256) {
    kw_i64 at = kw_block() * KW_PACK_THREADS + kw_thread();
    if (at >= args.value[KW_PACKED]) return;
    int lane = (int)(at % KW_WAVE), n = (int)(at / KW_WAVE % KW_REPEAT_N), step = (int)(at / (KW_WAVE * KW_REPEAT_N) % KW_STEPS);
    kw_i64 slab = at / (KW_WAVE * KW_REPEAT_N * KW_STEPS) * KW_SLAB;
    kw_u32 *words = (kw_u32 *)args.packed + at * KW_B_WORDS;
    KW_UNROLL
    for (int i = 0; i < KW_B_ROWS; i++) {
        kw_i64 to = slab + n * KW_INST_N + kw_frag_row_b(lane, i);
        KW_UNROLL
        for (int j = 0; j < KW_ROW_WORDS; j++) {
            int k = step * KW_INST_K + kw_frag_group(lane) * KW_KPL + j * KW_EPW;
            kw_u32 low = kw_weight(&args, slab + kw_depth_channel(k), to, kw_depth_tap(k));
            kw_u32 high = kw_weight(&args, slab + kw_depth_channel(k + 1), to, kw_depth_tap(k + 1));
            words[kw_frag_word(KW_B_ROWS, i, j)] = high << 16 | low;
        }
    }
}

KW_DEVICE void kw_read_b(kw_frag_b *frag, const kw_u32 *packed) {
    const int run = KW_B_WORDS < 4 ? KW_B_WORDS : 4;
    KW_UNROLL
    for (int w = 0; w < KW_B_WORDS; w += run)
        kw_load_run(frag->w + w, (const char *)(packed + w), run * 4);
}

/* --- the source in shared memory: pixel by pixel, pieces of 16 bytes swapped by a number that the pixel gives --- */

#define KW_SRC_H ((KW_TILE_H - 1) * KW_STRIDE + KW_EXTENT)
#define KW_SRC_W ((KW_TILE_W - 1) * KW_STRIDE + KW_EXTENT)
#define KW_PIXEL_BYTES (KW_COLS * KW_BYTES)
#define KW_CELLS (KW_PIXEL_BYTES / 16) /* a multiple of 8, which all banks hold */
#define KW_SRC_BYTES (KW_SRC_H * KW_SRC_W * KW_PIXEL_BYTES)
#define KW_OUT_BYTES_ALL (KW_STORE == KW_STORE_LDS ? KW_PIXELS * KW_PIXEL_BYTES : 0)
#define KW_LDS_BYTES (KW_SRC_BYTES + KW_OUT_BYTES_ALL)

KW_DEVICE int kw_lds_at(int pixel, int col) {
    int cell = col * KW_BYTES / 16, byte = col * KW_BYTES % 16;
#if KW_SWIZZLE == KW_SWIZZLE_XOR
    cell ^= pixel % 8;
#elif KW_SWIZZLE == KW_SWIZZLE_CYCLIC
    cell = (cell + pixel) % KW_CELLS;
#endif
    return pixel * KW_PIXEL_BYTES + cell * 16 + byte;
}

/* The first result pixel of a tile and the channel of a block. */
typedef struct kw_place {
    kw_i64 image;
    int row, col, channel;
} kw_place;

typedef struct kw_image {
    const char *source;
    char *result;
    int channels, source_h, source_w, result_h, result_w; /* an image has fewer than 2^30 elements */
    int top, left;                                        /* source position of the tile's first tap */
} kw_image;

KW_DEVICE kw_place kw_place_of(const kw_gpu_args *a, kw_i64 block) {
    kw_place at;
    at.channel = (int)(block % a->value[KW_BLOCK_COLS]) * KW_COLS;
    block /= a->value[KW_BLOCK_COLS];
    at.col = (int)(block % a->value[KW_TILES_W]) * KW_TILE_W;
    block /= a->value[KW_TILES_W];
    at.row = (int)(block % a->value[KW_TILES_H]) * KW_TILE_H;
    at.image = block / a->value[KW_TILES_H];
    return at;
}

/* Backward data: source position i + pad - tap of result position i; the taps are turned round, so the first is i + pad - 2. */
KW_DEVICE kw_image kw_image_of(const kw_gpu_args *a, kw_place at) {
    kw_image v;
    v.channels = (int)a->groups * KW_CHANNELS;
    v.source_h = (int)(KW_DATA ? a->out[1] : a->in[1]);
    v.source_w = (int)(KW_DATA ? a->out[2] : a->in[2]);
    v.result_h = (int)(KW_DATA ? a->in[1] : a->out[1]);
    v.result_w = (int)(KW_DATA ? a->in[2] : a->out[2]);
    v.source = (KW_DATA ? a->y : a->x) + at.image * (v.source_h * v.source_w * v.channels) * KW_BYTES;
    v.result = (KW_DATA ? a->x : a->y) + at.image * (v.result_h * v.result_w * v.channels) * KW_BYTES;
    v.top = at.row * KW_STRIDE + (int)(KW_DATA ? a->pad[1] - (KW_EXTENT - 1) : -a->pad[1]);
    v.left = at.col * KW_STRIDE + (int)(KW_DATA ? a->pad[2] - (KW_EXTENT - 1) : -a->pad[2]);
    return v;
}

#define KW_RUN_WORDS KW_CEIL(KW_VEC *KW_BYTES, 4)
#define KW_SRC_RUNS (KW_SRC_H * KW_SRC_W * (KW_COLS / KW_VEC))
#define KW_FLIGHT (KW_CEIL(KW_SRC_RUNS, KW_THREADS) < 4 ? KW_CEIL(KW_SRC_RUNS, KW_THREADS) : 4) /* loads of a thread under way together */

KW_DEVICE void kw_source_load(char *lds, const kw_image *v, kw_place at) {
    for (int first = kw_thread(); first < KW_SRC_RUNS; first += KW_FLIGHT * KW_THREADS) {
        kw_u32 words[KW_FLIGHT][KW_RUN_WORDS];
        KW_UNROLL
        for (int i = 0; i < KW_FLIGHT; i++) {
            int run = first + i * KW_THREADS, pixel = run / (KW_COLS / KW_VEC), channel = at.channel + run % (KW_COLS / KW_VEC) * KW_VEC;
            int row = v->top + pixel / KW_SRC_W, col = v->left + pixel % KW_SRC_W;
            int ok = (kw_u32)row < (kw_u32)v->source_h && (kw_u32)col < (kw_u32)v->source_w && channel < v->channels;
            int element = ok ? (row * v->source_w + col) * v->channels + channel : 0;
            kw_load_run(words[i], v->source + element * KW_BYTES, KW_VEC * KW_BYTES);
            KW_UNROLL
            for (int w = 0; w < KW_RUN_WORDS; w++)
                words[i][w] = ok ? words[i][w] : 0;
        }
        KW_UNROLL
        for (int i = 0; i < KW_FLIGHT; i++) {
            int run = first + i * KW_THREADS;
            if (run < KW_SRC_RUNS)
                kw_store_run(lds + kw_lds_at(run / (KW_COLS / KW_VEC), run % (KW_COLS / KW_VEC) * KW_VEC), words[i], KW_VEC * KW_BYTES);
        }
    }
}

/* The lane's first operand of a step: pixels from `pixel` on, channels of the slab that begins at column col. */
KW_DEVICE void kw_read_a(kw_frag_a *frag, const char *lds, int pixel, int col, int step) {
    int k = step * KW_INST_K + kw_frag_group(kw_lane()) * KW_KPL, tap = kw_min(kw_depth_tap(k), KW_TAPS - 1);
    const int bytes = KW_KPL * KW_BYTES < 16 ? KW_KPL * KW_BYTES : 16;
    KW_UNROLL
    for (int i = 0; i < KW_A_ROWS; i++) {
        int at = pixel + kw_frag_row_a(kw_lane(), i);
        int row = at / KW_TILE_W * KW_STRIDE + tap / KW_EXTENT, across = at % KW_TILE_W * KW_STRIDE + tap % KW_EXTENT;
        kw_u32 words[KW_ROW_WORDS];
        KW_UNROLL
        for (int b = 0; b < KW_KPL * KW_BYTES; b += bytes)
            kw_load_run(words + b / 4, lds + kw_lds_at(row * KW_SRC_W + across, col + kw_depth_channel(k) + b / KW_BYTES), bytes);
        KW_UNROLL
        for (int j = 0; j < KW_ROW_WORDS; j++)
            frag->w[kw_frag_word(KW_A_ROWS, i, j)] = words[j];
    }
}

/* --- a slab of a wave --- */

typedef struct kw_sums {
    kw_acc at[KW_REPEAT_M][KW_REPEAT_N];
} kw_sums;

KW_DEVICE void kw_sums_clear(kw_sums *sums) {
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M * KW_REPEAT_N * KW_ACC_N; i++)
        sums->at[i / KW_ACC_N / KW_REPEAT_N][i / KW_ACC_N % KW_REPEAT_N].e[i % KW_ACC_N] = 0;
}

/* pixel: the wave's first; col: the slab's first column in the block; packed: the lane's words of the slab. */
KW_DEVICE void kw_slab_run(kw_sums *sums, const char *lds, int pixel, int col, const kw_u32 *packed) {
    KW_UNROLL
    for (int step = 0; step < KW_STEPS; step++) {
        kw_frag_b b[KW_REPEAT_N];
        KW_UNROLL
        for (int n = 0; n < KW_REPEAT_N; n++)
            kw_read_b(&b[n], packed + (step * KW_REPEAT_N + n) * (KW_WAVE * KW_B_WORDS));
        KW_UNROLL
        for (int m = 0; m < KW_REPEAT_M; m++) {
            kw_frag_a a;
            kw_read_a(&a, lds, pixel + m * KW_INST_M, col, step);
            KW_UNROLL
            for (int n = 0; n < KW_REPEAT_N; n++)
                kw_mma(&sums->at[m][n], &a, &b[n]);
        }
    }
}

/* Element of the result of a pixel of the tile and a column of the block; false when there is none. */
KW_DEVICE int kw_result_at(const kw_image *v, kw_place at, int pixel, int col, int *element) {
    int row = at.row + pixel / KW_TILE_W, across = at.col + pixel % KW_TILE_W;
    *element = (row * v->result_w + across) * v->channels + at.channel + col;
    return row < v->result_h && across < v->result_w && at.channel + col < v->channels;
}

/* To the result, or to shared memory behind the source. */
KW_DEVICE void kw_slab_store(const kw_image *v, kw_place at, const kw_sums *sums, char *lds, int pixel, int col) {
    KW_UNROLL
    for (int m = 0; m < KW_REPEAT_M; m++) {
        KW_UNROLL
        for (int n = 0; n < KW_REPEAT_N; n++) {
            KW_UNROLL
            for (int e = 0; e < KW_ACC_N; e++) {
                int row = pixel + m * KW_INST_M + kw_acc_row(kw_lane(), e), across = col + n * KW_INST_N + kw_acc_col(kw_lane(), e);
#if KW_STORE == KW_STORE_LDS
                kw_store_result(lds + KW_SRC_BYTES + kw_lds_at(row, across), &sums->at[m][n].e[e], 1);
#else
                int element;
                if (kw_result_at(v, at, row, across, &element)) kw_store(v->result, element, sums->at[m][n].e[e]);
#endif
            }
        }
    }
}

#if KW_STORE == KW_STORE_LDS
KW_DEVICE void kw_result_store(const kw_image *v, kw_place at, const char *lds) {
    for (int run = kw_thread(); run < KW_PIXELS * (KW_COLS / KW_VEC); run += KW_THREADS) {
        int pixel = run / (KW_COLS / KW_VEC), col = run % (KW_COLS / KW_VEC) * KW_VEC;
        kw_u32 words[KW_RUN_WORDS];
        int element;
        if (!kw_result_at(v, at, pixel, col, &element)) continue;
        kw_load_run(words, lds + KW_SRC_BYTES + kw_lds_at(pixel, col), KW_VEC * KW_BYTES);
        kw_store_run(v->result + element * KW_BYTES, words, KW_VEC * KW_BYTES);
    }
}
#endif

KW_KERNEL(kw_stage1, KW_THREADS) {
    KW_LDS(KW_LDS_BYTES);
    kw_place at = kw_place_of(&args, kw_block());
    kw_image image = kw_image_of(&args, at);
    int wave_col = kw_wave() % KW_WAVES_C * KW_WAVE_COLS, pixel = kw_wave() / KW_WAVES_C * (KW_REPEAT_M * KW_INST_M);
    kw_source_load(kw_lds, &image, at);
    kw_barrier();
    for (int slab = 0; slab < KW_SLABS; slab++) {
        int col = wave_col + slab * KW_SLAB;
        if (at.channel + col >= image.channels) break;
        const kw_u32 *packed = (const kw_u32 *)args.packed +
                               ((kw_i64)((at.channel + col) / KW_SLAB) * (KW_STEPS * KW_REPEAT_N * KW_WAVE) + kw_lane()) * KW_B_WORDS;
        kw_sums sums;
        kw_sums_clear(&sums);
        kw_slab_run(&sums, kw_lds, pixel, col, packed);
        kw_slab_store(&image, at, &sums, kw_lds, pixel, col);
    }
#if KW_STORE == KW_STORE_LDS
    kw_barrier();
    kw_result_store(&image, at, kw_lds);
#endif
}
