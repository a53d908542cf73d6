/* weight.h: backward weight of direct.c, for groups of 4 to 32 channels. A wave has the weights between 16 result channels and 16 source
 * channels, those of whole groups side by side or a quarter of what 32 x 32 channels have, for all nine taps in registers from beginning to
 * end: products of y, turned, by x, whose depth is pixels. Blocks share the tiles of all images, waves (KW_WAVES_Q) those of a tile's
 * pixels; each stores its sums in a slice of the workspace, and a second kernel adds the slices in order.
 *
 * Both tiles stand in shared memory channel by channel, since a lane wants pixels that follow each other, and x's columns by what they
 * leave when divided by the stride: what the columns of the filter read of a row are then the same few words, moved by nothing, one element
 * or two, and read once for all three. */
#ifndef KW_DIRECT_WEIGHT_H
#define KW_DIRECT_WEIGHT_H

#include "gpu/lib/parts.h"

#define KW_REPEAT_N (KW_COLS / KW_INST_N)

/* A tile of a tensor of so many rows and columns; `split`: how many kinds of columns a row has in shared memory, `row`: their elements. */
typedef struct kw_rect {
    const char *from; /* the image */
    int h, w, c, top, left, rows, cols, split, row, plane;
} kw_rect;

/* Columns that x has beside the last pixel's are zeros as well, since words are read whole. */
KW_DEVICE void kw_planes_load(char *lds, kw_rect r, int channel) {
    for (int first = kw_thread(); first < r.rows * r.cols * KW_PIXEL_RUNS; first += 4 * KW_THREADS) {
        kw_u32 words[4][KW_RUN_WORDS];
        KW_UNROLL
        for (int i = 0; i < 4; i++) {
            int run = first + i * KW_THREADS, pixel = run / KW_PIXEL_RUNS, at = channel + run % KW_PIXEL_RUNS * KW_VEC;
            int row = r.top + pixel / r.cols, col = r.left + pixel % r.cols;
            int ok = pixel < r.rows * r.cols && (kw_u32)row < (kw_u32)r.h && (kw_u32)col < (kw_u32)r.w && at < r.c;
            kw_load_run(words[i], r.from + (ok ? (row * r.w + col) * r.c + at : 0) * KW_BYTES, KW_VEC * KW_BYTES);
            KW_UNROLL
            for (int w = 0; w < KW_RUN_WORDS; w++)
                words[i][w] = ok ? words[i][w] : 0;
        }
        KW_UNROLL
        for (int i = 0; i < 4; i++) {
            int run = first + i * KW_THREADS, pixel = run / KW_PIXEL_RUNS, row = pixel / r.cols, col = pixel % r.cols;
            kw_u16 *to =
                (kw_u16 *)(lds + run % KW_PIXEL_RUNS * KW_VEC * r.plane * 4) + (row * r.split + col % r.split) * r.row + col / r.split;
            if (pixel >= r.rows * r.cols) continue;
            KW_UNROLL
            for (int e = 0; e < KW_VEC; e++)
                to[e * r.plane * 2] = (kw_u16)(words[i][e / 2] >> e % 2 * 16);
        }
    }
}

/* The block's wave: its first result and source channel. Of 32 channels a group four waves have a quarter each. */
KW_DEVICE int kw_wave_to(int wave) { return KW_CHANNELS == 32 ? wave / 4 * 32 + wave / 2 % 2 * 16 : wave * 16; }
KW_DEVICE int kw_wave_from(int wave) { return KW_CHANNELS == 32 ? wave / 4 * 32 + wave % 2 * 16 : wave * 16; }

typedef struct kw_sums {
    kw_acc at[KW_TAPS][KW_REPEAT_N];
} kw_sums;

enum { KW_SHARE = KW_KPL / 2 }; /* words of pixels that a lane multiplies at a time */

/* Pixels from number `pixel` of the tile on, KW_INST_K of them. x, y: the planes of the wave's first channels. */
KW_DEVICE void kw_pixels_run(kw_sums *sums, const kw_u32 *x, const kw_u32 *y, int pixel) {
    int lane = kw_lane(), mine = pixel + kw_frag_group(lane) * KW_KPL, row = mine / KW_TILE_W, col = mine % KW_TILE_W;
    kw_frag_a a;
    KW_UNROLL
    for (int i = 0; i < KW_A_ROWS; i++) {
        KW_UNROLL
        for (int j = 0; j < KW_SHARE; j++)
            a.w[kw_frag_word(KW_A_ROWS, i, j)] = y[kw_frag_row_a(lane, i) * KW_Y_PLANE + mine / 2 + j];
    }
    KW_UNROLL
    for (int k = 0; k < KW_REPEAT_N * KW_EXTENT * KW_STRIDE; k++) {
        int kind = k % KW_STRIDE, filter_row = k / KW_STRIDE % KW_EXTENT, n = k / KW_STRIDE / KW_EXTENT;
        kw_u32 words[KW_SHARE + 1];
        int at = (((row * KW_STRIDE + filter_row) * KW_STRIDE + kind) * KW_ROW_HALF + col) / 2;
        KW_UNROLL
        for (int j = 0; j < KW_SHARE + 1; j++)
            words[j] = x[(n * KW_INST_N + kw_frag_row_b(lane, 0)) * KW_X_PLANE + at + j];
        KW_UNROLL
        for (int tap = kind; tap < KW_EXTENT; tap += KW_STRIDE) {
            kw_frag_b b;
            KW_UNROLL
            for (int j = 0; j < KW_SHARE; j++) {
                int moved = tap / KW_STRIDE;
                b.w[kw_frag_word(KW_B_ROWS, 0, j)] = moved == 0   ? words[j]
                                                     : moved == 2 ? words[j + 1]
                                                                  : words[j] >> 16 | words[j + 1] << 16;
            }
            kw_mma(&sums->at[filter_row * KW_EXTENT + tap][n], &a, &b);
        }
    }
}

/* The wave's slice of the workspace; what lies between two groups is nobody's. */
KW_DEVICE void kw_sums_store(const kw_gpu_args *a, const kw_sums *sums, float *slice, int channel, int wave) {
    KW_UNROLL
    for (int i = 0; i < KW_TAPS * KW_REPEAT_N * KW_ACC_N; i++) {
        int e = i % KW_ACC_N, n = i / KW_ACC_N % KW_REPEAT_N, tap = i / KW_ACC_N / KW_REPEAT_N;
        int to = channel + kw_wave_to(wave) + kw_acc_row(kw_lane(), e);
        int from = channel + kw_wave_from(wave) + n * KW_INST_N + kw_acc_col(kw_lane(), e);
        if (to / KW_CHANNELS == from / KW_CHANNELS && to < (int)a->groups * KW_CHANNELS)
            slice[(to * KW_TAPS + tap) * KW_CHANNELS + from % KW_CHANNELS] = sums->at[tap][n].e[e];
    }
}

KW_KERNEL(kw_stage0, KW_THREADS) {
    KW_LDS(KW_WEIGHT_LDS_BYTES);
    kw_begin();
    kw_i64 part = kw_block() % args.params.parts;
    int channel = (int)(kw_block() / args.params.parts) * KW_SRC_CHANNELS, wave_c = kw_wave() / KW_WAVES_Q, wave_q = kw_wave() % KW_WAVES_Q;
    const kw_u32 *x = (const kw_u32 *)kw_lds + kw_wave_from(wave_c) * KW_X_PLANE;
    const kw_u32 *y = (const kw_u32 *)(kw_lds + KW_X_BYTES) + kw_wave_to(wave_c) * KW_Y_PLANE;
    int h = (int)args.in[1], w = (int)args.in[2], out_h = (int)args.out[1], out_w = (int)args.out[2], c = (int)args.groups * KW_CHANNELS;
    kw_sums sums;
    KW_UNROLL
    for (int i = 0; i < KW_TAPS * KW_REPEAT_N * KW_ACC_N; i++)
        sums.at[i / KW_ACC_N / KW_REPEAT_N][i / KW_ACC_N % KW_REPEAT_N].e[i % KW_ACC_N] = 0;
    for (kw_i64 unit = part; unit < args.params.units; unit += args.params.parts) {
        int col = (int)(unit % args.params.tiles_w) * KW_TILE_W, row = (int)(unit / args.params.tiles_w % args.params.tiles_h) * KW_TILE_H;
        kw_i64 image = unit / args.params.tiles_w / args.params.tiles_h;
        kw_rect from_x = {args.x + image * (h * w * c) * KW_BYTES,
                          h,
                          w,
                          c,
                          row * KW_STRIDE - (int)args.pad[1],
                          col * KW_STRIDE - (int)args.pad[2],
                          KW_SRC_H,
                          KW_STRIDE * KW_ROW_HALF,
                          KW_STRIDE,
                          KW_ROW_HALF,
                          KW_X_PLANE};
        kw_rect from_y = {
            args.y + image * (out_h * out_w * c) * KW_BYTES, out_h, out_w, c, row, col, KW_TILE_H, KW_TILE_W, 1, KW_TILE_W, KW_Y_PLANE};
        kw_planes_load(kw_lds, from_x, channel);
        kw_planes_load(kw_lds + KW_X_BYTES, from_y, channel);
        kw_barrier();
        KW_ROLLED
        for (int pixel = wave_q * KW_INST_K; pixel < KW_TILE_H * KW_TILE_W; pixel += KW_WAVES_Q * KW_INST_K)
            kw_pixels_run(&sums, x, y, pixel);
        kw_barrier();
    }
    kw_sums_store(&args, &sums, (float *)args.shared + (part * KW_WAVES_Q + wave_q) * args.params.elements, channel, wave_c);
}

KW_KERNEL(kw_stage1, KW_ADD_THREADS) {
    KW_LDS(KW_PARTS_BYTES);
    kw_begin();
    kw_parts_reduce(&args, kw_lds, (int)args.params.parts * KW_WAVES_Q);
}

#endif
