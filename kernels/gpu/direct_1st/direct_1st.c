/* direct_1st.c: convolution of few channels, forward and backward weight, two spatial axes, one group, by matrix
 * instructions: family conv.direct_1st_block.
 *
 * The depth of the product is all taps of all channels together, (row, column, channel) as the filter has them, so that three channels fill
 * an instruction as well as thirty. What the pixels of a tile read of the source, the patch, comes to shared memory once, row by row as it
 * lies in the image, which is contiguous over columns and channels; what lies beside the image is zero. A table says where each element of
 * the depth lies, counted from a pixel's first tap, and lanes gather their first operands by it, element by element. A first stage brings
 * the weights, the second operands, into lanes' order. Sums pass shared memory, so that results leave in runs of channels. Forward with
 * channels first, a patch has a plane for each channel, and results leave in runs of pixels (KW_IN_PLANES).
 * gpu/direct_1st/weight.h has backward weight, of the same patches. */
#include "gpu/direct_1st/args.h"
#define KW_KERNEL_PARAMS kw_direct_1st_block_params
#include "kw_config.h"
#include "gpu/matrix/fragment.h"
#if KW_PTX
#include "gpu/matrix/mma_ptx.h"
#elif KW_AMD
#include "gpu/matrix/mma_amd.h"
#else
#include "gpu/matrix/mma_emu.h"
#endif

#define KW_THREADS KW_BLOCK_THREADS

KW_DEVICE int kw_patch_depth(const kw_gpu_args *a) { return (int)(a->filter[1] * a->filter[2] * a->c); }

/* --- the patch --- */

/* A tile's place: its image, its first result pixel, the block's first channel of the result, and where its patch begins in the image: a
 * row, and an element of it, a multiple of KW_VEC_IN; before: elements that this is before the first one needed. */
typedef struct kw_patch_place {
    kw_i64 image;
    int row, col, channel;
    int top, element, before;
} kw_patch_place;

KW_DEVICE void kw_patch_begin(kw_patch_place *at, const kw_gpu_args *a) {
    int first = (at->col * (int)a->stride[2] - (int)a->pad[2]) * (KW_IN_PLANES ? 1 : (int)a->c);
    at->top = at->row * (int)a->stride[1] - (int)a->pad[1];
    at->before = first & KW_VEC_IN - 1;
    at->element = first - at->before;
}

KW_DEVICE kw_patch_place kw_patch_place_of(const kw_gpu_args *a, kw_i64 block) {
    kw_patch_place at;
    at.channel = (int)(block % a->params.block_cols) * KW_COLS;
    block /= a->params.block_cols;
    at.col = (int)(block % a->params.tiles_w) * KW_TILE_W;
    block /= a->params.tiles_w;
    at.row = (int)(block % a->params.tiles_h) * KW_TILE_H;
    at.image = block / a->params.tiles_h;
    kw_patch_begin(&at, a);
    return at;
}

#define KW_PATCH_LOADS 4 /* of a thread under way together */
#define KW_PATCH_WORDS KW_CEIL(KW_VEC_IN *KW_BYTES, 4)

KW_DEVICE void kw_patch_load(char *lds, const kw_gpu_args *a, kw_patch_place at) {
    int runs = (int)a->params.pitch / KW_VEC_IN, rows = (int)a->params.rows, height = (int)a->in[1];
    int all = runs * rows * (KW_IN_PLANES ? (int)a->c : 1), line = (int)a->in[2] * (KW_IN_PLANES ? 1 : (int)a->c);
    const char *image = a->x + at.image * (a->in[1] * a->in[2] * a->c) * KW_BYTES;
    for (int first = kw_thread(); first < all; first += KW_PATCH_LOADS * KW_THREADS) {
        kw_u32 words[KW_PATCH_LOADS][KW_PATCH_WORDS];
        KW_UNROLL
        for (int i = 0; i < KW_PATCH_LOADS; i++) {
            int run = first + i * KW_THREADS, over = run / runs, plane = KW_IN_PLANES ? over / rows : 0;
            int row = at.top + over - plane * rows, element = at.element + (run - over * runs) * KW_VEC_IN;
            int ok = run < all && (kw_u32)row < (kw_u32)height && (kw_u32)element < (kw_u32)line;
            kw_load_run(words[i], image + (ok ? (plane * height + row) * line + element : 0) * KW_BYTES, KW_VEC_IN * KW_BYTES);
            KW_UNROLL
            for (int w = 0; w < KW_PATCH_WORDS; w++)
                words[i][w] = ok ? words[i][w] : 0;
        }
        KW_UNROLL
        for (int i = 0; i < KW_PATCH_LOADS; i++) {
            int run = first + i * KW_THREADS;
            if (run < all) kw_store_run(lds + run * (KW_VEC_IN * KW_BYTES), words[i], KW_VEC_IN * KW_BYTES);
        }
    }
}

/* Bytes from a pixel's first tap to element k of the depth; behind the last one no more than to that tap. */
KW_DEVICE int kw_depth_offset(const kw_gpu_args *a, int k) {
#if KW_IN_PLANES
    int across = (int)a->filter[2], taps = (int)a->filter[1] * across, channel = k / taps, tap = k - channel * taps;
    int row = tap / across, col = tap - row * across;
    int at = (channel * (int)a->params.rows + row * (int)a->dilation[1]) * (int)a->params.pitch + col * (int)a->dilation[2];
#else
    int c = (int)a->c, across = (int)a->filter[2], tap = k / c, row = tap / across, col = tap - row * across;
    int at = row * (int)(a->dilation[1] * a->params.pitch) + col * (int)a->dilation[2] * c + k - tap * c;
#endif
    return k < kw_patch_depth(a) ? at * KW_BYTES : 0;
}

KW_DEVICE kw_u32 kw_patch_element(const char *pixel, int offset) { return *(const kw_u16 *)(pixel + offset); }

#if KW_OP == KW_OP_CONV_BWD_WEIGHT
#include "gpu/direct_1st/weight.h"
#else

/* --- weights, packed: columns of a block, step of the depth, instruction, lane, words --- */

KW_DEVICE kw_u32 kw_patch_weight(const kw_gpu_args *a, kw_i64 to, int k) {
    int depth = kw_patch_depth(a);
    return to < a->k && k < depth ? ((const kw_u16 *)a->w)[to * depth + k] : 0;
}

KW_KERNEL(kw_stage0, KW_PACK_THREADS) {
    kw_i64 at = kw_block() * KW_PACK_THREADS + kw_thread(), rest = at / KW_WAVE;
    kw_begin();
    if (at >= args.params.packed) return;
    int steps = KW_CEIL(kw_patch_depth(&args), KW_INST_K);
    int lane = (int)(at % KW_WAVE), n = (int)(rest % KW_REPEAT_N), step = (int)(rest / KW_REPEAT_N % steps);
    kw_i64 cols = rest / KW_REPEAT_N / steps * KW_COLS;
    kw_u32 *words = (kw_u32 *)args.packed + at * KW_B_WORDS;
    KW_UNROLL
    for (int i = 0; i < KW_B_ROWS; i++) {
        kw_i64 to = cols + n * KW_INST_N + kw_frag_row_b(lane, i);
        KW_UNROLL
        for (int j = 0; j < KW_ROW_WORDS; j++) {
            int k = step * KW_INST_K + kw_frag_group(lane) * KW_KPL + j * KW_EPW;
            words[kw_frag_word(KW_B_ROWS, i, j)] = kw_patch_weight(&args, to, k + 1) << 16 | kw_patch_weight(&args, to, k);
        }
    }
}

/* --- products --- */

KW_DEVICE void kw_offsets_fill(int *offsets, const kw_gpu_args *a) {
    for (int k = kw_thread(); k < KW_CEIL(kw_patch_depth(a), KW_INST_K) * KW_INST_K; k += KW_THREADS)
        offsets[k] = kw_depth_offset(a, k);
}

typedef struct kw_patch_sums {
    kw_acc at[KW_REPEAT_M][KW_REPEAT_N];
} kw_patch_sums;

/* Where the lane's pixels begin in shared memory. */
typedef struct kw_patch_pixels {
    const char *at[KW_REPEAT_M][KW_A_ROWS];
} kw_patch_pixels;

KW_DEVICE void kw_patch_pixels_of(kw_patch_pixels *p, const char *lds, const kw_gpu_args *a, int before) {
    int first = kw_wave() * (KW_REPEAT_M * KW_INST_M), pitch = (int)a->params.pitch, c = KW_IN_PLANES ? 1 : (int)a->c;
    KW_UNROLL
    for (int m = 0; m < KW_REPEAT_M; m++) {
        KW_UNROLL
        for (int i = 0; i < KW_A_ROWS; i++) {
            int pixel = first + m * KW_INST_M + kw_frag_row_a(kw_lane(), i), row = pixel / KW_TILE_W, col = pixel % KW_TILE_W;
            p->at[m][i] = lds + (row * (int)a->stride[1] * pitch + col * (int)a->stride[2] * c + before) * KW_BYTES;
        }
    }
}

/* A step of the depth. count: elements of the lane's share that there are; the others are no numbers that may be multiplied. */
KW_DEVICE void kw_patch_step(kw_patch_sums *sums, const kw_patch_pixels *pixels, const int *offsets, const kw_u32 *packed, int count) {
    const int run = KW_B_WORDS < 4 ? KW_B_WORDS : 4;
    int at[KW_KPL];
    kw_frag_b b[KW_REPEAT_N];
    KW_UNROLL
    for (int j = 0; j < KW_KPL; j++)
        at[j] = offsets[j];
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_N * KW_B_WORDS; i += run)
        kw_load_run(b[i / KW_B_WORDS].w + i % KW_B_WORDS, (const char *)(packed + i / KW_B_WORDS * (KW_WAVE * KW_B_WORDS) + i % KW_B_WORDS),
                    run * 4);
    KW_UNROLL
    for (int m = 0; m < KW_REPEAT_M; m++) {
        kw_frag_a frag;
        KW_UNROLL
        for (int e = 0; e < KW_A_ROWS * KW_ROW_WORDS; e++) {
            int i = e / KW_ROW_WORDS, j = e % KW_ROW_WORDS;
            kw_u32 low = kw_patch_element(pixels->at[m][i], at[2 * j]), high = kw_patch_element(pixels->at[m][i], at[2 * j + 1]);
            if (2 * j >= count) low = 0;
            if (2 * j + 1 >= count) high = 0;
            frag.w[kw_frag_word(KW_A_ROWS, i, j)] = high << 16 | low;
        }
        KW_UNROLL
        for (int n = 0; n < KW_REPEAT_N; n++)
            kw_mma(&sums->at[m][n], &frag, &b[n]);
    }
}

KW_DEVICE void kw_patch_multiply(kw_patch_sums *sums, const kw_patch_pixels *pixels, const int *offsets, const kw_u32 *packed, int depth) {
    int share = kw_frag_group(kw_lane()) * KW_KPL, steps = depth / KW_INST_K;
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M * KW_REPEAT_N * KW_ACC_N; i++)
        sums->at[i / KW_ACC_N / KW_REPEAT_N][i / KW_ACC_N % KW_REPEAT_N].e[i % KW_ACC_N] = 0;
    offsets += share;
    KW_ROLLED
    for (int step = 0; step < steps; step++) {
        kw_patch_step(sums, pixels, offsets, packed, KW_KPL);
        offsets += KW_INST_K;
        packed += KW_REPEAT_N * KW_WAVE * KW_B_WORDS;
    }
    if (steps * KW_INST_K < depth) kw_patch_step(sums, pixels, offsets, packed, depth - steps * KW_INST_K - share);
}

/* --- results --- */

#if KW_IN_PLANES
#define KW_OUT_RUN (KW_VEC * KW_OUT_BYTES > 16 ? 16 / KW_OUT_BYTES : KW_VEC) /* pixels that a thread stores together */
#define KW_OUT_PART (KW_OUT_RUN < 4 ? KW_OUT_RUN : 4)                        /* and reads together */

/* Of 16 pixels of the tile. stage: the wave's. Eight lanes that follow each other have eight channels, whose sums meet different banks. */
KW_DEVICE void kw_patch_put(const kw_gpu_args *a, kw_patch_place at, const kw_acc *sums, char *stage, int first) {
    const int lanes = 8;
    int height = (int)a->out[1], width = (int)a->out[2], channels = (int)a->k;
    kw_i64 plane = (kw_i64)height * width;
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_N * KW_ACC_N; i++) {
        int n = i / KW_ACC_N, e = i % KW_ACC_N, row = kw_acc_row(kw_lane(), e), col = n * KW_INST_N + kw_acc_col(kw_lane(), e);
        kw_u32 word = kw_bits(sums[n].e[e]);
        kw_store_run(stage + (col * KW_SUMS_PITCH + row) * 4, &word, 4);
    }
    kw_wave_barrier();
    KW_ROLLED
    for (int run = kw_lane(); run < KW_INST_M * KW_COLS / KW_OUT_RUN; run += KW_WAVE) {
        int over = run / lanes, col = over / (KW_INST_M / KW_OUT_RUN) * lanes + run % lanes, channel = at.channel + col;
        int pixel = over % (KW_INST_M / KW_OUT_RUN) * KW_OUT_RUN;
        int row = at.row + (first + pixel) / KW_TILE_W, across = at.col + (first + pixel) % KW_TILE_W;
        kw_sum own[KW_OUT_RUN];
        if (row >= height || across >= width || channel >= channels) continue;
        KW_UNROLL
        for (int i = 0; i < KW_OUT_RUN; i += KW_OUT_PART) {
            kw_u32 words[KW_OUT_PART];
            kw_load_run(words, stage + (col * KW_SUMS_PITCH + pixel + i) * 4, KW_OUT_PART * 4);
            KW_UNROLL
            for (int j = 0; j < KW_OUT_PART; j++)
                own[i + j] = kw_from_bits(words[j]);
        }
        kw_i64 element = (at.image * channels + channel) * plane + row * width + across;
        char *to = a->y + element * KW_OUT_BYTES;
#if KW_EPILOGUE
        kw_place place = {element, channel, at.image * plane + row * width + across, 1};
        kw_finish_run(to, a, place, own, KW_OUT_RUN);
#else
        kw_store_result(to, own, KW_OUT_RUN);
#endif
    }
    kw_wave_barrier();
}
#else
#define KW_OUT_RUN (KW_VEC * KW_OUT_BYTES > 16 ? 16 / KW_OUT_BYTES : KW_VEC) /* channels that a thread stores together */
#define KW_ACC_RUN (KW_NVIDIA ? 2 : 1)                                       /* sums of a lane that stand side by side */

/* Of 16 pixels of the tile. stage: the wave's. */
KW_DEVICE void kw_patch_put(const kw_gpu_args *a, kw_patch_place at, const kw_acc *sums, char *stage, int first) {
    int height = (int)a->out[1], width = (int)a->out[2], channels = (int)a->k;
    char *image = a->y + at.image * ((kw_i64)height * width * channels) * KW_OUT_BYTES;
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_N * KW_ACC_N; i += KW_ACC_RUN) {
        int n = i / KW_ACC_N, e = i % KW_ACC_N, row = kw_acc_row(kw_lane(), e), col = n * KW_INST_N + kw_acc_col(kw_lane(), e);
        kw_u32 words[2];
        words[0] = kw_bits(sums[n].e[e]);
        words[1] = kw_bits(sums[n].e[e + KW_ACC_RUN - 1]);
        kw_store_run(stage + (row * KW_SUMS_PITCH + col) * 4, words, 4 * KW_ACC_RUN);
    }
    kw_wave_barrier();
    KW_ROLLED
    for (int run = kw_lane(); run < KW_INST_M * KW_COLS / KW_OUT_RUN; run += KW_WAVE) {
        int pixel = run / (KW_COLS / KW_OUT_RUN), col = run % (KW_COLS / KW_OUT_RUN) * KW_OUT_RUN, channel = at.channel + col;
        int row = at.row + (first + pixel) / KW_TILE_W, across = at.col + (first + pixel) % KW_TILE_W;
        const kw_sum *from = (const kw_sum *)stage + pixel * KW_SUMS_PITCH + col;
        kw_sum own[KW_OUT_RUN];
        if (row >= height || across >= width || channel >= channels) continue;
        int element = (row * width + across) * channels + channel;
        KW_UNROLL
        for (int i = 0; i < KW_OUT_RUN; i++)
            own[i] = from[i];
#if KW_EPILOGUE
        kw_i64 whole = at.image * ((kw_i64)height * width * channels) + element;
        kw_place place = {whole, channel, whole / channels, 0};
        kw_finish_run(image + (kw_i64)element * KW_OUT_BYTES, a, place, own, KW_OUT_RUN);
#else
        kw_store_result(image + (kw_i64)element * KW_OUT_BYTES, own, KW_OUT_RUN);
#endif
    }
    kw_wave_barrier();
}
#endif

KW_KERNEL(kw_stage1, KW_THREADS) {
    KW_LDS(KW_DIRECT_1ST_LDS_BYTES);
    kw_begin();
    kw_patch_place at = kw_patch_place_of(&args, kw_block());
    int depth = kw_patch_depth(&args), steps = KW_CEIL(depth, KW_INST_K);
    int *offsets = (int *)(kw_lds + KW_PATCH_BYTES);
    char *stage = kw_lds + KW_PATCH_BYTES + KW_OFFSETS_BYTES + kw_wave() * (KW_SUMS_ROWS * KW_SUMS_PITCH * 4);
    kw_patch_pixels pixels;
    kw_patch_sums sums;
    kw_patch_load(kw_lds, &args, at);
    kw_offsets_fill(offsets, &args);
    kw_patch_pixels_of(&pixels, kw_lds, &args, at.before);
    kw_barrier();
    kw_patch_multiply(
        &sums, &pixels, offsets,
        (const kw_u32 *)args.packed + ((kw_i64)(at.channel / KW_COLS) * steps * (KW_REPEAT_N * KW_WAVE) + kw_lane()) * KW_B_WORDS, depth);
    KW_UNROLL
    for (int m = 0; m < KW_REPEAT_M; m++)
        kw_patch_put(&args, at, sums.at[m], stage, (kw_wave() * KW_REPEAT_M + m) * KW_INST_M);
}
#endif
