/* planes.h: swizzle=none of weight.h. Tiles of x and y stand in shared memory channel by channel, since a lane wants pixels that follow each other,
 * and x's columns by what they leave when divided by the stride: what the columns of the filter read of a row are then the same few words, moved
 * by nothing, one element or two, and read once for all three. */
#ifndef KW_DIRECT_PLANES_H
#define KW_DIRECT_PLANES_H

/* A tile of a tensor of so many rows and columns; `split`: how many kinds of columns a row has in shared memory, `row`: their elements. */
typedef struct kw_rect {
    const char *from; /* the image */
    int h, w, c, top, left, rows, cols, split, row, plane;
} kw_rect;

/* Columns that x has beside the last pixel's are zeros as well, since words are read whole. */
KW_DEVICE void kw_planes_load(char *lds, kw_rect r, int channel, int thread) {
    for (int first = thread; first < r.rows * r.cols * KW_PIXEL_RUNS; first += KW_LOADS * KW_BRING_THREADS) {
        kw_u32 words[KW_LOADS][KW_RUN_WORDS];
        KW_UNROLL
        for (int i = 0; i < KW_LOADS; i++) {
            int run = first + i * KW_BRING_THREADS, pixel = run / KW_PIXEL_RUNS, at = channel + run % KW_PIXEL_RUNS * KW_VEC;
            int row = r.top + pixel / r.cols, col = r.left + pixel % r.cols;
            int ok = pixel < r.rows * r.cols && (kw_u32)row < (kw_u32)r.h && (kw_u32)col < (kw_u32)r.w && at < r.c;
            kw_load_run(words[i], r.from + (ok ? (row * r.w + col) * r.c + at : 0) * KW_BYTES, KW_VEC * KW_BYTES);
            KW_UNROLL
            for (int w = 0; w < KW_RUN_WORDS; w++)
                words[i][w] = ok ? words[i][w] : 0;
        }
        KW_UNROLL
        for (int i = 0; i < KW_LOADS; i++) {
            int run = first + i * KW_BRING_THREADS, pixel = run / KW_PIXEL_RUNS, row = pixel / r.cols, col = pixel % r.cols;
            kw_u16 *to =
                (kw_u16 *)(lds + run % KW_PIXEL_RUNS * KW_VEC * r.plane * 4) + (row * r.split + col % r.split) * r.row + col / r.split;
            if (pixel >= r.rows * r.cols) continue;
            KW_UNROLL
            for (int e = 0; e < KW_VEC; e++)
                to[e * r.plane * 2] = (kw_u16)(words[i][e / 2] >> e % 2 * 16);
        }
    }
}

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

#endif
