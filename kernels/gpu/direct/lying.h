/* lying.h: swizzle=xor of weight.h. Tiles of x and y stand in shared memory as they lie in the tensors, pixel by pixel: they are copied
 * without registers, the next ones while one is multiplied, and turned as they are read: a fragment is one matrix read, of x one for
 * each tap. Columns of x with a stride stand by what they leave when divided by it, so that neighbouring pixels of the result meet
 * different banks. */
#ifndef KW_DIRECT_LYING_H
#define KW_DIRECT_LYING_H

#define KW_X_HALF KW_CEIL(KW_SRC_W, KW_STRIDE) /* columns that leave the same */

/* Where a piece of 16 bytes of a pixel stands among its KW_CELLS; eight pixels that follow each other meet all banks. */
KW_DEVICE int kw_lying_cell(int pixel, int cell) { return cell ^ (KW_CELLS >= 8 ? pixel % 8 : pixel / (8 / KW_CELLS) % KW_CELLS); }

#define KW_COPY_CELL kw_lying_cell
#define KW_COPY_THREADS KW_BRING_THREADS
#include "gpu/direct/copied.h"

/* A lane's matrix reads of pixel `pixel` on, turned: x, y: the tile; from, to: the wave's first channels in the block. */
KW_DEVICE void kw_lying_run(kw_sums *sums, const char *x, const char *y, int from, int to, int pixel) {
    int lane = kw_lane(), mine = pixel + lane / 16 * 8 + lane % 8, other = pixel + lane % 16;
    int spot = other / KW_TILE_W * KW_STRIDE * KW_SRC_W + other % KW_TILE_W;
    kw_frag_a a;
    kw_matrix_read(a.w, y + mine * KW_PIXEL_BYTES + kw_lying_cell(mine, to / 8 + lane / 8 % 2) * 16, KW_A_WORDS, 1);
    KW_UNROLL
    for (int tap = 0; tap < KW_TAPS; tap++) {
        int row = tap / KW_EXTENT, col = tap % KW_EXTENT;
        int at = spot + row * KW_SRC_W + col % KW_STRIDE * KW_X_HALF + col / KW_STRIDE;
        kw_u32 words[4];
        kw_matrix_read(words, x + at * KW_PIXEL_BYTES + kw_lying_cell(at, from / 8 + lane / 16) * 16, 4, 1);
        KW_UNROLL
        for (int n = 0; n < KW_REPEAT_N; n++) {
            kw_frag_b b;
            b.w[0] = words[2 * n];
            b.w[1] = words[2 * n + 1];
            kw_mma(&sums->at[tap][n], &a, &b);
        }
    }
}

#endif
