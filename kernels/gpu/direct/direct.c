/* direct.c: convolution with 3x3 filters, two spatial axes, channels last, by matrix instructions that read the source where it lies:
 * family conv.direct_block. Forward, and backward data, which is forward from y to x with the filter turned round and its channels swapped.
 *
 * What pixels read of the source comes to shared memory once, and the taps take their first operands from there, pixels by channels. A
 * first stage brings the weights, the second operands, into lanes' order. gpu/direct/grouped.h has groups of 4 to 32 channels side by side,
 * gpu/direct/dense.h one group whose source channels waves share, gpu/direct/weight.h backward weight of narrow groups.
 *
 * Backward data with stride 2: result pixel i, counted with its padding, is met by tap f of source pixel (i - f) / 2 where that is whole,
 * so pixels fall into two phases along each axis, whose taps are every second one. A coord is a result pixel, or here 2 x 2 of them, one of
 * each phase; all coords move over the source pixel by pixel. */
#include "gpu/direct/args.h"
#define KW_KERNEL_PARAMS kw_direct_block_params
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

/* What source channel `from` of group `group` gives to channel `to` by the tap of this row and column of the filter. */
KW_DEVICE kw_u32 kw_weight(const kw_gpu_args *a, kw_i64 group, kw_i64 from, kw_i64 to, int row, int col) {
    kw_i64 c = KW_DATA ? to : from, k = KW_DATA ? from : to;
    if (group >= a->groups || c >= a->c || k >= a->k) return 0;
    return ((const kw_u16 *)a->w)[((group * a->k + k) * KW_TAPS + row * KW_EXTENT + col) * a->c + c];
}

/* The lane's words of an instruction's weights. */
KW_DEVICE void kw_read_b(kw_frag_b *frag, const kw_u32 *packed) {
    const int run = KW_B_WORDS < 4 ? KW_B_WORDS : 4;
    KW_UNROLL
    for (int w = 0; w < KW_B_WORDS; w += run)
        kw_load_run(frag->w + w, (const char *)(packed + w), run * 4);
}

/* --- tiles in the tensors --- */

/* The first result pixel of a tile, which with padding may lie before the image, and the first result channel of a block. */
typedef struct kw_position {
    kw_i64 image;
    int row, col, channel;
} kw_position;

typedef struct kw_image {
    const char *source;
    char *result;
    int source_c, result_c, source_h, source_w, result_h, result_w; /* an image has fewer than 2^30 elements */
    int top, left;                                                  /* source position of the tile's first tap */
#if KW_EPILOGUE
    const kw_gpu_args *args;
    kw_i64 first; /* element of the result */
#endif
} kw_image;

/* Of blocks, of which there are less than 2^31. Where a first stage packs, divisions of 64 bits are faster nevertheless: ptxas spreads the
 * reads of the weights otherwise. */
#if KW_BRINGS
typedef kw_u32 kw_count;
#else
typedef kw_i64 kw_count;
#endif

/* cols: result channels of a block. Tiles of backward data begin where a phase does. */
KW_DEVICE kw_position kw_position_of(const kw_gpu_args *a, kw_i64 number, int cols) {
    kw_count block = (kw_count)number, block_cols = (kw_count)a->params.block_cols, tiles_w = (kw_count)a->params.tiles_w,
             tiles_h = (kw_count)a->params.tiles_h;
    kw_position at;
    at.channel = (int)(block % block_cols) * cols;
    block /= block_cols;
    at.col = (int)(block % tiles_w) * KW_TILE_W - (int)(a->pad[2] % KW_SIDE);
    block /= tiles_w;
    at.row = (int)(block % tiles_h) * KW_TILE_H - (int)(a->pad[1] % KW_SIDE);
    at.image = block / tiles_h;
    return at;
}

KW_DEVICE int kw_first_source(int pixel, int pad) { return KW_DATA ? (pixel + pad) / KW_SIDE - (KW_REACH - 1) : pixel * KW_STEP - pad; }

KW_DEVICE kw_image kw_image_of(const kw_gpu_args *a, kw_position at) {
    kw_image v;
    int in_c = (int)(a->groups * a->c), out_c = (int)(a->groups * a->k);
    v.source_c = KW_DATA ? out_c : in_c;
    v.result_c = KW_DATA ? in_c : out_c;
    v.source_h = (int)(KW_DATA ? a->out[1] : a->in[1]);
    v.source_w = (int)(KW_DATA ? a->out[2] : a->in[2]);
    v.result_h = (int)(KW_DATA ? a->in[1] : a->out[1]);
    v.result_w = (int)(KW_DATA ? a->in[2] : a->out[2]);
    v.source = (KW_DATA ? a->y : a->x) + at.image * (v.source_h * v.source_w * v.source_c) * KW_BYTES;
    v.result = (KW_DATA ? a->x : a->y) + at.image * (v.result_h * v.result_w * v.result_c) * KW_OUT_BYTES;
    v.top = kw_first_source(at.row, (int)a->pad[1]);
    v.left = kw_first_source(at.col, (int)a->pad[2]);
#if KW_EPILOGUE
    v.args = a;
    v.first = at.image * (v.result_h * v.result_w * v.result_c);
#endif
    return v;
}

/* Element of the result of a pixel of the tile and a channel of the block; false when there is none. */
KW_DEVICE int kw_result_at(const kw_image *v, kw_position at, int row, int col, int channel, int *element) {
    row += at.row;
    col += at.col;
    channel += at.channel;
    *element = (row * v->result_w + col) * v->result_c + channel;
    return (kw_u32)row < (kw_u32)v->result_h && (kw_u32)col < (kw_u32)v->result_w && channel < v->result_c;
}

#if KW_EPILOGUE
/* Of an element of the image and its channel. */
KW_DEVICE kw_place kw_image_place(const kw_image *v, int element, int channel) {
    kw_place p = {v->first + element, channel, (v->first + element) / v->result_c, 0};
    return p;
}
#endif

/* One sum. */
KW_DEVICE void kw_image_store(const kw_image *v, int element, int channel, kw_sum sum) {
#if KW_EPILOGUE
    kw_finish_run(v->result + (kw_i64)element * KW_OUT_BYTES, v->args, kw_image_place(v, element, channel), &sum, 1);
#else
    kw_store(v->result, element, sum);
#endif
}

/* --- the source in shared memory: pixel by pixel, pieces of 16 bytes swapped by a number that the pixel gives --- */

#define KW_CELLS (KW_PIXEL_BYTES / 16)

KW_DEVICE int kw_lds_at(int pixel, int channel) {
    int cell = channel * KW_BYTES / 16, byte = channel * KW_BYTES % 16;
#if KW_SWIZZLE == KW_SWIZZLE_XOR
    cell ^= pixel % (KW_CELLS % 8 ? 4 : 8); /* eight cells are all banks; a pixel of 32 channels has four (rule swizzle_pieces) */
#elif KW_SWIZZLE == KW_SWIZZLE_CYCLIC
    cell = (cell + pixel) % KW_CELLS;
#endif
    return pixel * KW_PIXEL_BYTES + cell * 16 + byte;
}

#define KW_RUN_WORDS KW_CEIL(KW_VEC *KW_BYTES, 4)
#define KW_PIXEL_RUNS (KW_SRC_CHANNELS / KW_VEC)
#define KW_SRC_RUNS (KW_SRC_H * KW_SRC_W * KW_PIXEL_RUNS)
#define KW_LANE_RUNS KW_CEIL(KW_SRC_RUNS, KW_THREADS)
#define KW_PREFETCH_LOADS (KW_LANE_RUNS < KW_PREFETCH_MOST ? KW_LANE_RUNS : KW_PREFETCH_MOST)

typedef struct kw_prefetch {
    kw_u32 words[KW_PREFETCH_LOADS][KW_RUN_WORDS];
} kw_prefetch;

/* Runs number first, first + threads, ... of the source rows from `top` on, channels from `channel` on. */
KW_DEVICE void kw_prefetch_load(kw_prefetch *f, const kw_image *v, int top, int channel, int first) {
    KW_UNROLL
    for (int i = 0; i < KW_PREFETCH_LOADS; i++) {
        int run = first + i * KW_THREADS, pixel = run / KW_PIXEL_RUNS, at = channel + run % KW_PIXEL_RUNS * KW_VEC;
        int row = top + pixel / KW_SRC_W, col = v->left + pixel % KW_SRC_W;
        int ok = run < KW_SRC_RUNS && (kw_u32)row < (kw_u32)v->source_h && (kw_u32)col < (kw_u32)v->source_w && at < v->source_c;
        kw_load_run(f->words[i], v->source + (ok ? (row * v->source_w + col) * v->source_c + at : 0) * KW_BYTES, KW_VEC * KW_BYTES);
        KW_UNROLL
        for (int w = 0; w < KW_RUN_WORDS; w++)
            f->words[i][w] = ok ? f->words[i][w] : 0;
    }
}

KW_DEVICE void kw_prefetch_store(char *lds, const kw_prefetch *f, int first) {
    KW_UNROLL
    for (int i = 0; i < KW_PREFETCH_LOADS; i++) {
        int run = first + i * KW_THREADS;
        if (run < KW_SRC_RUNS)
            kw_store_run(lds + kw_lds_at(run / KW_PIXEL_RUNS, run % KW_PIXEL_RUNS * KW_VEC), f->words[i], KW_VEC * KW_BYTES);
    }
}

/* All runs from number `first` on, as many together as a thread has under way. */
KW_DEVICE void kw_source_load(char *lds, const kw_image *v, int top, int channel, int first) {
    for (; first < KW_SRC_RUNS; first += KW_PREFETCH_LOADS * KW_THREADS) {
        kw_prefetch f;
        kw_prefetch_load(&f, v, top, channel, first);
        kw_prefetch_store(lds, &f, first);
    }
}

/* Row i of a lane's first operand: its share of the depth, of the channels from `channel` on of a pixel. */
KW_DEVICE void kw_read_a(kw_frag_a *frag, int i, const char *lds, int pixel, int channel) {
    const int bytes = KW_KPL * KW_BYTES < 16 ? KW_KPL * KW_BYTES : 16;
    kw_u32 words[KW_ROW_WORDS];
    KW_UNROLL
    for (int b = 0; b < KW_KPL * KW_BYTES; b += bytes)
        kw_load_run(words + b / 4, lds + kw_lds_at(pixel, channel + b / KW_BYTES), bytes);
    KW_UNROLL
    for (int j = 0; j < KW_ROW_WORDS; j++)
        frag->w[kw_frag_word(KW_A_ROWS, i, j)] = words[j];
}

#if KW_OP == KW_OP_CONV_BWD_WEIGHT
#include "gpu/direct/weight.h"
#elif KW_IMPL == KW_IMPL_DENSE
#include "gpu/direct/dense.h"
#else
#include "gpu/direct/grouped.h"
#endif
