/* turn_square.h: squares of a matrix, 128 bytes by as many rows, on their way through shared memory to the turned matrix: what gpu/lib/turn.h and
 * gpu/lib/align.h share. A square's 16-byte pieces are exchanged in each row by a number of the row, so that both the rows that are written and
 * the columns that are read meet different banks. */
#ifndef KW_TURN_SQUARE_H
#define KW_TURN_SQUARE_H

#include "gpu/lib/access.h"
#include "gpu/lib/resources.h"

/* Loads of a thread under way: more take registers of which others could load too. Families without pipelines copy no operands. */
#ifdef KW_PIPE
enum { KW_TURN_BATCH = KW_COPIES_TURN ? 8 : 16 };
#else
enum { KW_TURN_BATCH = 16 };
#endif
#define KW_TURN_MATRICES (KW_NVIDIA && KW_HAS_TMA) /* elements of 16 bits are turned by matrix reads and writes */

/* The widest access, 16 bytes at most, that divides so many bytes. */
KW_DEVICE int kw_turn_access(kw_i64 bytes) { return (int)((bytes | 16) & -(bytes | 16)); }

/* An element of `bytes` bytes. */
KW_DEVICE kw_u32 kw_turn_element(const char *at, const int bytes) {
    kw_u32 w;
    kw_load_run(&w, at, bytes);
    return w;
}

KW_DEVICE char *kw_turn_place(char *lds, int row, int at, const int bytes) {
    int number = KW_TURN_MATRICES && bytes == 2 ? row : row * bytes / 16;
    return lds + row * KW_TURN_LINE + ((at / 16 ^ (number & 7)) << 4) + at % 16;
}

/* So many rows of 128 bytes, of which there are `rows`, and `line` bytes of each; zeros for the rest. A thread's loads lie below each other. */
KW_DEVICE void kw_turn_load(char *lds, const char *from, kw_i64 pitch, int rows, int line, const int high, const int bytes,
                            const int each) {
    const int accesses = KW_TURN_LINE / each, step = KW_TURN_THREADS / accesses, count = high / step;
    const int batch = count < KW_TURN_BATCH ? count : KW_TURN_BATCH;
    int row = kw_thread() / accesses, at = kw_thread() % accesses * each;
    rows = at < line ? rows : 0;
    from += row * pitch + at;
    KW_ROLLED
    for (int first = 0; first < count; first += batch) {
        kw_u32 w[KW_TURN_BATCH][4];
        KW_UNROLL
        for (int i = 0; i < batch; i++) {
            w[i][0] = w[i][1] = w[i][2] = w[i][3] = 0;
            if (row + i * step < rows) kw_load_run(w[i], from, each);
            from += step * pitch;
        }
        KW_UNROLL
        for (int i = 0; i < batch; i++)
            kw_store_run(kw_turn_place(lds, row + i * step, at, bytes), w[i], each);
        row += batch * step;
    }
}

/* rows and cols of the square that there are. A thread has a run of rows of one column after the other. */
KW_DEVICE void kw_turn_store(char *lds, char *to, kw_i64 pitch, int rows, int cols, const int bytes, const int each) {
    const int run = 16 / bytes, pieces = KW_TURN_LINE / 16, step = KW_TURN_THREADS / pieces;
    int row = kw_thread() % pieces * run, col = kw_thread() / pieces;
    to += col * pitch + row * bytes;
    rows -= row;
    KW_ROLLED
    for (; col < cols; col += step) {
        const char *at = kw_turn_place(lds, row, col * bytes, bytes);
        kw_u32 w[4] = {0, 0, 0, 0};
        KW_UNROLL
        for (int e = 0; e < run; e++)
            w[e * bytes / 4] |= kw_turn_element(at + e * KW_TURN_LINE, bytes) << e * bytes % 4 * 8;
        KW_UNROLL
        for (int b = 0; b < 16; b += each) {
            kw_u32 piece[4] = {w[b / 4] >> b % 4 * 8, w[(b / 4 + 1) % 4], w[(b / 4 + 2) % 4], w[(b / 4 + 3) % 4]};
            if (b / bytes < rows) kw_store_run(to + b, piece, each);
        }
        to += step * pitch;
    }
}

#endif
