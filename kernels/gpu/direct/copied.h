/* copied.h: pixels of a tile from a tensor to shared memory, as they lie there, by copies that pass no registers. Who includes this says by
 * KW_COPY_CELL(pixel, cell) where a pixel's pieces of 16 bytes stand, a number that is its own inverse, and how many threads bring a tile together
 * (KW_COPY_THREADS). */
#ifndef KW_DIRECT_COPIED_H
#define KW_DIRECT_COPIED_H

/* A tile's pixels of a tensor, zeros beside the image. wave: among those that bring the tile. A lane's pixels are as far apart from
 * round to round as all threads together bring, so its row and column follow by additions. */
KW_DEVICE void kw_tile_copy(char *lds, const char *from, int h, int w, int c, int top, int left, int channel, int wave, const int rows,
                            const int cols, const int split) {
    const int half = KW_CEIL(cols, split), all = rows * cols * KW_CELLS, step = KW_COPY_THREADS / KW_CELLS;
    int piece = wave * KW_WAVE + kw_lane(), pixel = piece / KW_CELLS, row = top + pixel / cols, place = pixel % cols;
    int own = channel + KW_COPY_CELL(pixel, piece % KW_CELLS) * 8;
    KW_ROLLED
    for (int first = wave * KW_WAVE; first < all; first += KW_COPY_THREADS) {
        int col = left + (split == 1 ? place : place < half ? 2 * place : 2 * (place - half) + 1);
        int ok = piece < all && (kw_u32)row < (kw_u32)h && (kw_u32)col < (kw_u32)w && own < c;
        kw_async16(lds + first * 16, from + (ok ? (row * w + col) * c + own : 0) * KW_BYTES, ok);
        piece += KW_COPY_THREADS;
        row += step / cols;
        place += step % cols;
        row += place >= cols;
        place -= place >= cols ? cols : 0;
        if (step % 8) own = channel + KW_COPY_CELL(piece / KW_CELLS, piece % KW_CELLS) * 8; /* else the same piece of each pixel */
    }
}

#endif
