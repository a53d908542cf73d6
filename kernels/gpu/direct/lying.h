/* lying.h: swizzle=xor of weight.h. Tiles of x and y stand in shared memory as they lie in the tensors, pixel by pixel: they are copied
 * without registers, the next ones while one is multiplied, and turned as they are read: a fragment is one matrix read, of x one for
 * each tap. Columns of x with a stride stand by what they leave when divided by it, so that neighbouring pixels of the result meet
 * different banks. */
#ifndef KW_DIRECT_LYING_H
#define KW_DIRECT_LYING_H

#define KW_X_HALF KW_CEIL(KW_SRC_W, KW_STRIDE) /* columns that leave the same */

/* Where a piece of 16 bytes of a pixel stands among its KW_CELLS; eight pixels that follow each other meet all banks. */
KW_DEVICE int kw_lying_cell(int pixel, int cell) { return cell ^ (KW_CELLS >= 8 ? pixel % 8 : pixel / (8 / KW_CELLS) % KW_CELLS); }

/* A tile's pixels of a tensor, zeros beside the image. wave: among those that bring the tile. A lane's pixels are as far apart from
 * round to round as all threads together bring, so its row and column follow by additions. */
KW_DEVICE void kw_lying_copy(char *lds, const char *from, int h, int w, int c, int top, int left, int channel, int wave, const int rows,
                             const int cols, const int split) {
    const int half = KW_CEIL(cols, split), all = rows * cols * KW_CELLS, step = KW_BRING_THREADS / KW_CELLS;
    int piece = wave * KW_WAVE + kw_lane(), pixel = piece / KW_CELLS, row = top + pixel / cols, place = pixel % cols;
    int own = channel + kw_lying_cell(pixel, piece % KW_CELLS) * 8;
    KW_ROLLED
    for (int first = wave * KW_WAVE; first < all; first += KW_BRING_THREADS) {
        int col = left + (split == 1 ? place : place < half ? 2 * place : 2 * (place - half) + 1);
        int ok = piece < all && (kw_u32)row < (kw_u32)h && (kw_u32)col < (kw_u32)w && own < c;
        kw_async16(lds + first * 16, from + (ok ? (row * w + col) * c + own : 0) * KW_BYTES, ok);
        piece += KW_BRING_THREADS;
        row += step / cols;
        place += step % cols;
        row += place >= cols;
        place -= place >= cols ? cols : 0;
        if (step % 8) own = channel + kw_lying_cell(piece / KW_CELLS, piece % KW_CELLS) * 8; /* else the same piece of each pixel */
    }
}

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
