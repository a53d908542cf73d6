/* weight.h: backward weight of direct_1st.c. The gradient is a product of y, turned, by the patch: rows are channels of the result, columns
 * elements of the depth (row, column, channel) as the filter has them, summed over pixels. A block keeps its sums in registers from
 * beginning to end; blocks share the tiles of all images, waves the elements of the depth (KW_WAVES_D) and a tile's pixels (KW_WAVES_Q).
 * Each block stores its sums in a slice of the workspace, and a second kernel adds the slices in order.
 *
 * While a tile is multiplied the next one is copied to the other half of shared memory. Lanes take x element by element, as forward does:
 * how far an element of the depth lies behind a pixel's first tap they keep in registers, and the pixels of an instruction lie in a row,
 * the same distance apart. Pixels beside the result have zeros on both sides, so that no infinity is multiplied by nothing. */
#ifndef KW_DIRECT_1ST_WEIGHT_H
#define KW_DIRECT_1ST_WEIGHT_H

#include "gpu/lib/parts.h"

#define KW_COPIES (KW_HAS_MMA && KW_HAS_ASYNC16) /* that pass no registers */
#define KW_SUMS_M (KW_COLS / KW_INST_M)
#define KW_SUMS_N (KW_WAVE_SPAN / KW_INST_N)
enum { KW_Y_CELLS = KW_Y_PITCH / 8 }; /* 16 bytes each; the last of a pixel is nobody's */

typedef struct kw_weight_sums {
    kw_acc at[KW_SUMS_M][KW_SUMS_N];
} kw_weight_sums;

/* What a lane knows from beginning to end, in bytes: of its columns, from a pixel's first tap; of its share of an instruction's pixels,
 * from the first one's. */
typedef struct kw_weight_lane {
    int column[KW_SUMS_N], pixel[KW_KPL];
} kw_weight_lane;

/* Element e of a lane's share of an instruction's pixels: as matrices read from shared memory have them, or one after the other. */
KW_DEVICE int kw_share_pixel(int lane, int e) {
    return KW_HAS_MMA ? e / 2 * 8 + 2 * kw_frag_group(lane) + e % 2 : kw_frag_group(lane) * KW_KPL + e;
}

/* --- tiles --- */

KW_DEVICE kw_patch_place kw_weight_place(const kw_gpu_args *a, int unit, int channel) {
    int across = (int)a->params.tiles_w, high = (int)a->params.tiles_h, rows = unit / across, images = rows / high;
    kw_patch_place at;
    at.channel = channel;
    at.col = (unit - rows * across) * KW_TILE_W;
    at.row = (rows - images * high) * KW_TILE_H;
    at.image = images;
    kw_patch_begin(&at, a);
    return at;
}

/* The tile of y; zeros beside the result. */
KW_DEVICE void kw_weight_results(char *lds, const kw_gpu_args *a, kw_patch_place at) {
    int height = (int)a->out[1], width = (int)a->out[2], channels = (int)a->k;
    const char *image = a->y + at.image * ((kw_i64)height * width * channels) * KW_BYTES;
#if KW_COPIES && KW_VEC == 8
    KW_ROLLED
    for (int first = kw_wave() * KW_WAVE; first < KW_TILE_H * KW_TILE_W * KW_Y_CELLS; first += KW_THREADS) {
        int cell = first + kw_lane(), pixel = cell / KW_Y_CELLS, own = cell - pixel * KW_Y_CELLS, channel = at.channel + own * 8;
        int row = at.row + pixel / KW_TILE_W, col = at.col + pixel % KW_TILE_W;
        int ok = pixel < KW_TILE_H * KW_TILE_W && own < KW_Y_CELLS - 1 && row < height && col < width && channel < channels;
        kw_async16(lds + first * 16, ok ? image + ((row * width + col) * channels + channel) * KW_BYTES : a->y, ok);
    }
#else
    enum { RUNS = KW_COLS / KW_VEC };
    KW_ROLLED
    for (int run = kw_thread(); run < KW_TILE_H * KW_TILE_W * RUNS; run += KW_THREADS) {
        int pixel = run / RUNS, own = run % RUNS * KW_VEC, channel = at.channel + own;
        int row = at.row + pixel / KW_TILE_W, col = at.col + pixel % KW_TILE_W;
        kw_u32 words[4] = {0, 0, 0, 0};
        if (row < height && col < width && channel < channels)
            kw_load_run(words, image + ((row * width + col) * channels + channel) * KW_BYTES, KW_VEC * KW_BYTES);
        kw_store_run(lds + (pixel * KW_Y_PITCH + own) * KW_BYTES, words, KW_VEC * KW_BYTES);
    }
#endif
}

#if KW_COPIES && KW_VEC_IN > 1
/* The patch, by copies of 16 or 4 bytes. */
KW_DEVICE void kw_weight_patch(char *lds, const kw_gpu_args *a, kw_patch_place at) {
    enum { UNIT = KW_VEC_IN == 8 ? 8 : 2 };
    int runs = (int)a->params.pitch / UNIT, all = runs * (int)a->params.rows, line = (int)(a->in[2] * a->c);
    const char *image = a->x + at.image * (a->in[1] * line) * KW_BYTES;
    KW_ROLLED
    for (int first = kw_wave() * KW_WAVE; first < all; first += KW_THREADS) {
        int run = first + kw_lane(), over = run / runs, row = at.top + over, element = at.element + (run - over * runs) * UNIT;
        int ok = run < all && (kw_u32)row < (kw_u32)a->in[1] && (kw_u32)element < (kw_u32)line;
        const char *from = ok ? image + (row * line + element) * KW_BYTES : a->x;
#if KW_VEC_IN == 8
        kw_async16(lds + first * 16, from, ok);
#else
        kw_async4(lds + first * 4, from, ok);
#endif
    }
}
#else
#define kw_weight_patch kw_patch_load
#endif

KW_DEVICE void kw_weight_bring(char *stage, const kw_gpu_args *a, int unit, int channel) {
    kw_patch_place at = kw_weight_place(a, unit, channel);
    kw_weight_results(stage, a, at);
    kw_weight_patch(stage + KW_Y_BYTES, a, at);
}

/* --- products --- */

/* A lane's share of 16 channels, from `channel` of the block on, of an instruction's pixels. */
KW_DEVICE void kw_results_read(kw_frag_a *frag, const char *y, int channel) {
    int lane = kw_lane();
#if KW_HAS_MMA
    kw_matrix_read(frag->w, y + ((lane / 16 * 8 + lane % 8) * KW_Y_PITCH + channel + lane / 8 % 2 * 8) * KW_BYTES, KW_A_WORDS, 1);
#else
    KW_UNROLL
    for (int e = 0; e < KW_A_ROWS * KW_ROW_WORDS; e++) {
        int i = e / KW_ROW_WORDS, j = e % KW_ROW_WORDS;
        const char *row = y + (channel + kw_frag_row_a(lane, i)) * KW_BYTES;
        kw_u32 low = kw_patch_element(row, kw_share_pixel(lane, 2 * j) * KW_Y_PITCH * KW_BYTES);
        kw_u32 high = kw_patch_element(row, kw_share_pixel(lane, 2 * j + 1) * KW_Y_PITCH * KW_BYTES);
        frag->w[kw_frag_word(KW_A_ROWS, i, j)] = high << 16 | low;
    }
#endif
}

/* KW_INST_K pixels of a row of the tile, of which count are of the result; whole: all are. */
KW_DEVICE void kw_weight_step(kw_weight_sums *sums, const kw_weight_lane *own, const char *y, const char *x, int count, const int whole) {
    kw_frag_a a[KW_SUMS_M];
    KW_UNROLL
    for (int m = 0; m < KW_SUMS_M; m++)
        kw_results_read(&a[m], y, m * KW_INST_M);
    KW_UNROLL
    for (int n = 0; n < KW_SUMS_N; n++) {
        kw_frag_b b;
        KW_UNROLL
        for (int j = 0; j < KW_ROW_WORDS; j++) {
            kw_u32 low = kw_patch_element(x, own->pixel[2 * j] + own->column[n]);
            kw_u32 high = kw_patch_element(x, own->pixel[2 * j + 1] + own->column[n]);
            if (!whole && kw_share_pixel(kw_lane(), 2 * j) >= count) low = 0;
            if (!whole && kw_share_pixel(kw_lane(), 2 * j + 1) >= count) high = 0;
            b.w[kw_frag_word(KW_B_ROWS, 0, j)] = high << 16 | low;
        }
        KW_UNROLL
        for (int m = 0; m < KW_SUMS_M; m++)
            kw_mma(&sums->at[m][n], &a[m], &b);
    }
}

KW_DEVICE void kw_weight_multiply(kw_weight_sums *sums, const kw_weight_lane *own, const char *stage, const kw_gpu_args *a, int unit) {
    kw_patch_place at = kw_weight_place(a, unit, 0);
    int down = (int)(a->stride[1] * a->params.pitch), right = (int)(a->stride[2] * a->c);
    KW_ROLLED
    for (int step = kw_wave() % KW_WAVES_Q; step < KW_TILE_H * KW_TILE_W / KW_INST_K; step += KW_WAVES_Q) {
        int row = step * KW_INST_K / KW_TILE_W, col = step * KW_INST_K % KW_TILE_W, count = (int)a->out[2] - at.col - col;
        const char *y = stage + step * KW_INST_K * KW_Y_PITCH * KW_BYTES;
        const char *x = stage + KW_Y_BYTES + (row * down + col * right + at.before) * KW_BYTES;
        if (at.row + row >= (int)a->out[1]) break;
        if (count >= KW_INST_K)
            kw_weight_step(sums, own, y, x, KW_INST_K, 1);
        else if (count > 0)
            kw_weight_step(sums, own, y, x, count, 0);
    }
}

/* --- sums --- */

/* Waves that had other pixels give theirs to the first one, wave after wave. */
KW_DEVICE void kw_weight_join(kw_weight_sums *sums, char *lds) {
    enum { ALL = KW_SUMS_M * KW_SUMS_N * KW_ACC_N };
    float *place = (float *)lds + kw_wave() / KW_WAVES_Q * (ALL * KW_WAVE) + kw_lane();
    KW_ROLLED
    for (int q = 1; q < KW_WAVES_Q; q++) {
        if (kw_wave() % KW_WAVES_Q == q) {
            KW_UNROLL
            for (int i = 0; i < ALL; i++)
                place[i * KW_WAVE] = sums->at[i / KW_ACC_N / KW_SUMS_N][i / KW_ACC_N % KW_SUMS_N].e[i % KW_ACC_N];
        }
        kw_barrier();
        if (kw_wave() % KW_WAVES_Q == 0) {
            KW_UNROLL
            for (int i = 0; i < ALL; i++)
                sums->at[i / KW_ACC_N / KW_SUMS_N][i / KW_ACC_N % KW_SUMS_N].e[i % KW_ACC_N] += place[i * KW_WAVE];
        }
        kw_barrier();
    }
}

KW_DEVICE void kw_weight_store(const kw_gpu_args *a, const kw_weight_sums *sums, float *slice, int channel, int first) {
    int depth = kw_patch_depth(a);
    KW_UNROLL
    for (int i = 0; i < KW_SUMS_M * KW_SUMS_N * KW_ACC_N; i++) {
        int e = i % KW_ACC_N, n = i / KW_ACC_N % KW_SUMS_N, m = i / KW_ACC_N / KW_SUMS_N;
        int to = channel + m * KW_INST_M + kw_acc_row(kw_lane(), e), k = first + n * KW_INST_N + kw_acc_col(kw_lane(), e);
        if (to < (int)a->k && k < depth) slice[to * depth + k] = sums->at[m][n].e[e];
    }
}

KW_KERNEL(kw_stage0, KW_THREADS) {
    KW_LDS(KW_WEIGHT_LDS_BYTES);
    kw_begin();
    int parts = (int)args.params.parts, rest = (int)(kw_block() / parts), part = (int)kw_block() - rest * parts, stage = 0;
    int cols = (int)args.params.block_cols, channel = rest % cols * KW_COLS;
    int first = rest / cols * KW_SPAN + kw_wave() / KW_WAVES_Q * KW_WAVE_SPAN,
        units = (int)(args.params.tiles_h * args.params.tiles_w * args.n);
    kw_weight_lane own;
    kw_weight_sums sums;
    KW_UNROLL
    for (int i = 0; i < KW_SUMS_M * KW_SUMS_N * KW_ACC_N; i++)
        sums.at[i / KW_ACC_N / KW_SUMS_N][i / KW_ACC_N % KW_SUMS_N].e[i % KW_ACC_N] = 0;
    kw_weight_bring(kw_lds, &args, part, channel);
#if KW_COPIES
    kw_async_commit();
#endif
    KW_UNROLL
    for (int n = 0; n < KW_SUMS_N; n++)
        own.column[n] = kw_depth_offset(&args, first + n * KW_INST_N + kw_frag_row_b(kw_lane(), 0));
    KW_UNROLL
    for (int e = 0; e < KW_KPL; e++)
        own.pixel[e] = kw_share_pixel(kw_lane(), e) * (int)(args.stride[2] * args.c) * KW_BYTES;
    KW_ROLLED
    for (int unit = part; unit < units; unit += parts) {
        if (unit + parts < units) kw_weight_bring(kw_lds + (stage ^ 1) * KW_WEIGHT_STAGE_BYTES, &args, unit + parts, channel);
#if KW_COPIES
        kw_async_commit();
        kw_async_wait(1, 0);
#endif
        kw_barrier();
        kw_weight_multiply(&sums, &own, kw_lds + stage * KW_WEIGHT_STAGE_BYTES, &args, unit);
        kw_barrier();
        stage ^= 1;
    }
    kw_weight_join(&sums, kw_lds);
    if (kw_wave() % KW_WAVES_Q == 0) kw_weight_store(&args, &sums, (float *)args.shared + part * args.params.elements, channel, first);
}

KW_KERNEL(kw_stage1, KW_ADD_THREADS) {
    KW_LDS(KW_PARTS_BYTES);
    kw_begin();
    kw_parts_reduce(&args, kw_lds, (int)args.params.parts);
}

#endif
