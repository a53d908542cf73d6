/* turn.h: the first kernel of a text whose tensors have their channels first, or whose filter lies in another order than its layout's
 * (KW_TURNS): it turns matrices of rows x cols to cols x rows, so that the text's own kernels work on copies in the order that they know.
 * Launches of it stand before and behind those; src/families/gpu/turned.c says which tensors they turn. args: from x to y, n matrices, gm
 * rows, gn columns, gk bytes of an element; line_step and batch_step of x and y.
 *
 * A block passes a square of 128 bytes by as many rows through shared memory (gpu/lib/turn_square.h). Where the architecture has them, matrix
 * instructions turn 8 x 8 elements of 16 bits on the way to a second square, from which rows leave as they lie. Accesses to memory are as wide as rows of
 * either side begin at. Matrices of few rows (images of three channels, taps of a filter) are read in long rows and written as one run. */
#ifndef KW_TURN_H
#define KW_TURN_H

#include "gpu/lib/turn_square.h"

/* --- squares --- */

#if KW_TURN_MATRICES
/* kw_turn_store() of 16-bit elements: a wave turns 8 columns, whose rows of the result it then stores. */
KW_DEVICE void kw_turn_store_matrices(char *lds, char *to, kw_i64 pitch, int rows, int cols, const int each) {
    char *turned = lds + KW_TURN_LINE * (KW_TURN_LINE / 2);
    int lane = kw_lane(), first = kw_thread() / 32 * 8, row = lane % 8 * 8;
    KW_UNROLL
    for (int half = 0; half < 2; half++) {
        kw_u32 w[4];
        kw_matrix_read(w, kw_turn_place(lds, half * 32 + lane, first * 2, 2), 4, 1);
        kw_matrix_write(kw_turn_place(turned, first + lane % 8, half * 64 + lane / 8 * 16, 2), w);
    }
    kw_wave_barrier();
    rows -= row;
    KW_UNROLL
    for (int i = 0; i < 2; i++) {
        int col = first + i * 4 + lane / 8;
        kw_u32 w[4];
        kw_load_run(w, kw_turn_place(turned, col, row * 2, 2), 16);
        KW_UNROLL
        for (int b = 0; b < 16; b += each) {
            kw_u32 piece[4] = {w[b / 4] >> b % 4 * 8, w[(b / 4 + 1) % 4], w[(b / 4 + 2) % 4], w[(b / 4 + 3) % 4]};
            if (col < cols && b / 2 < rows) kw_store_run(to + col * pitch + row * 2 + b, piece, each);
        }
    }
}
#endif

/* As wide as its rows begin at. */
KW_DEVICE void kw_turn_leave(char *lds, char *to, kw_i64 pitch, int rows, int cols, const int bytes, const int each) {
#if KW_TURN_MATRICES
    if (bytes == 2) {
        kw_turn_store_matrices(lds, to, pitch, rows, cols, each);
        return;
    }
#endif
    kw_turn_store(lds, to, pitch, rows, cols, bytes, each);
}

/* line and matrix: bytes from a line to the next and from a matrix to the next, of what is read and of what is written. */
typedef struct kw_turned {
    kw_i64 rows, cols, line[2], matrix[2];
} kw_turned;

KW_DEVICE void kw_turn_square(char *lds, const char *from, char *to, const kw_turned *t, int number, const int bytes) {
    const int side = KW_TURN_LINE / bytes;
    kw_i64 rows = t->rows, cols = t->cols;
    kw_u32 across = (kw_u32)KW_CEIL(cols, side), down = (kw_u32)number / across;
    int row = (int)down * side, col = (int)((kw_u32)number - down * across) * side;
    int in = kw_turn_access(cols * bytes | t->line[0] | t->matrix[0]), out = kw_turn_access(rows * bytes | t->line[1] | t->matrix[1]);
    int rows_left = (int)kw_min64(rows - row, side), cols_left = (int)kw_min64(cols - col, side);
    from += row * t->line[0] + col * bytes;
    to += col * t->line[1] + row * bytes;
    if (in == 16)
        kw_turn_load(lds, from, t->line[0], rows_left, cols_left * bytes, side, bytes, 16);
    else if (in == 8)
        kw_turn_load(lds, from, t->line[0], rows_left, cols_left * bytes, side, bytes, 8);
    else
        kw_turn_load(lds, from, t->line[0], rows_left, cols_left * bytes, side, bytes, bytes);
    kw_barrier();
    if (out == 16)
        kw_turn_leave(lds, to, t->line[1], rows_left, cols_left, bytes, 16);
    else if (out == 8)
        kw_turn_leave(lds, to, t->line[1], rows_left, cols_left, bytes, 8);
    else
        kw_turn_leave(lds, to, t->line[1], rows_left, cols_left, bytes, bytes);
}

/* --- few rows --- */

/* Elements of the result follow each other from thread to thread; a thread's next one is KW_TURN_THREADS on, which takes no division. */
KW_DEVICE void kw_turn_few(char *lds, const char *from, char *to, int rows, kw_i64 cols, int number, const int bytes) {
    kw_i64 first = (kw_i64)number * (KW_TURN_FEW_LINE / bytes), pitch = cols * bytes;
    int line = (int)kw_min64(pitch - first * bytes, KW_TURN_FEW_LINE), all = line / bytes * rows, wide = pitch % 16 == 0;
    int each = wide ? 16 : bytes, accesses = KW_TURN_FEW_LINE / each, at = kw_thread();
    int col = at / rows, row = at - col * rows, cols_on = KW_TURN_THREADS / rows, rows_on = KW_TURN_THREADS - cols_on * rows;
    from += first * bytes;
    to += (first * rows + at) * bytes;
    KW_ROLLED
    for (int item = at; item < rows * accesses; item += KW_TURN_THREADS) {
        int of = item / accesses, byte = item % accesses * each;
        kw_u32 w[4];
        if (byte >= line) continue;
        if (wide) {
            kw_load_run(w, from + of * pitch + byte, 16);
            kw_store_run(lds + of * KW_TURN_FEW_LINE + byte, w, 16);
        } else {
            kw_load_run(w, from + of * pitch + byte, bytes);
            kw_store_run(lds + of * KW_TURN_FEW_LINE + byte, w, bytes);
        }
    }
    kw_barrier();
    KW_ROLLED
    for (; at < all; at += KW_TURN_THREADS) {
        kw_u32 element = kw_turn_element(lds + row * KW_TURN_FEW_LINE + col * bytes, bytes);
        kw_store_run(to, &element, bytes);
        to += KW_TURN_THREADS * bytes;
        row += rows_on;
        col += cols_on;
        if (row >= rows) row -= rows, col++;
    }
}

KW_DEVICE void kw_turn_matrix(char *lds, const char *from, char *to, const kw_turned *t, int few, int number, const int bytes) {
    if (few)
        kw_turn_few(lds, from, to, (int)t->rows, t->cols, number, bytes);
    else
        kw_turn_square(lds, from, to, t, number, bytes);
}

#ifndef KW_TURN_STAGE
#define KW_TURN_STAGE kw_stage0
#endif

/* Types of operands, results and the epilogue's tensors. */
#define KW_TURNS_BYTES(bytes) (KW_EPILOGUE || KW_BYTES == (bytes) || KW_OUT_BYTES == (bytes))

KW_KERNEL_AT(KW_TURN_STAGE, KW_TURN_THREADS) {
    KW_LDS(KW_TURN_FEW_LINE * KW_TURN_FEW_ROWS);
    kw_turned t;
    int few = KW_TURN_IS_FEW(args.gm, args.gn, args.line_step[0], args.line_step[2]);
    kw_i64 bytes = args.gk;
    kw_u32 each = (kw_u32)KW_TURN_UNITS(args.gm, args.gn, bytes, few),
           matrix = (kw_u32)kw_block() / each; /* there are less than 2^31 blocks */
    t.rows = args.gm, t.cols = args.gn;
    t.line[0] = args.line_step[0] * bytes, t.line[1] = args.line_step[2] * bytes;
    t.matrix[0] = args.batch_step[0] * bytes, t.matrix[1] = args.batch_step[2] * bytes;
    const char *from = args.x + matrix * t.matrix[0];
    char *to = args.y + matrix * t.matrix[1];
    int number = (int)((kw_u32)kw_block() - matrix * each);
    kw_begin();
#if KW_TURNS_BYTES(2)
    if (bytes == 2) kw_turn_matrix(kw_lds, from, to, &t, few, number, 2);
#endif
#if KW_TURNS_BYTES(4)
    if (bytes == 4) kw_turn_matrix(kw_lds, from, to, &t, few, number, 4);
#endif
#if KW_TURNS_BYTES(1)
    if (bytes == 1) kw_turn_matrix(kw_lds, from, to, &t, few, number, 1);
#endif
}

#endif
