/* align.h: operands whose rows are no multiple of 16 bytes, which bulk copies cannot read, are copied to rows that are (KW_ALIGNS): a stage
 * before the one that multiplies, into the workspace behind the sums of parts. A thread copies 16 bytes of a row; what lies behind its end
 * is zero. Operands of fp8, bf8 and tf32 are turned so where their depth is not contiguous (KW_COPIES_TURN). src/families/gpu/mma/mma_launch.c describes the copies to the maps.
 *
 * The text that includes this gives kw_operand_rows(args, which, &row): how many rows an operand has, and elements of each; with KW_PITCHED
 * kw_operand_line(args, which, row): where one begins. With KW_SPOTS
 * the second operand is always made anew, by its kw_spots_piece(args, number, words), which returns where 16 bytes of it go. With KW_COPIES_TURN
 * KW_TURNS_A, KW_TURNS_B: whether an operand is turned; kw_operand_lines(args, which): how many rows one matrix has. */
#ifndef KW_ALIGN_H
#define KW_ALIGN_H

#if KW_COPIES_TURN
#include "gpu/lib/turn_square.h"

/* Whether its rows are contiguous. */
KW_DEVICE int kw_turns(int which) { return which == KW_A ? KW_TURNS_A : KW_TURNS_B; }
#else
#define kw_turns(which) 0
#endif

/* Pieces of 16 bytes of an operand's copy; 0: it needs none. */
KW_DEVICE kw_i64 kw_copy_pieces(const kw_gpu_args *a, int which, int *row) {
    kw_i64 rows = kw_operand_rows(a, which, row);
    if (kw_turns(which)) return rows * KW_CEIL(*row, KW_COPY_RUN);
#if KW_PITCHED
    return (a->line_step[which] | a->batch_step[which]) % KW_COPY_RUN ? rows * KW_CEIL(*row, KW_COPY_RUN) : 0;
#endif
    return *row % KW_COPY_RUN || (KW_SPOTS && which == KW_B) ? rows * KW_CEIL(*row, KW_COPY_RUN) : 0;
}

#if KW_COPIES_TURN
/* Elements from `from` on, as many as there are left in the row. */
KW_DEVICE void kw_copy_row(char *to, const char *from, int left) {
    kw_u32 w[4] = {0, 0, 0, 0};
    KW_UNROLL
    for (int i = 0; i < KW_COPY_RUN; i++) {
        kw_u32 element = 0;
        if (i < left) kw_load_run(&element, from + i * KW_BYTES, KW_BYTES);
        w[i * KW_BYTES / 4] |= element << i * KW_BYTES % 4 * 8;
    }
    kw_store_run(to, w, 16);
}

/* Blocks for an operand's pieces. */
KW_DEVICE kw_i64 kw_copy_blocks(const kw_gpu_args *a, int which, kw_i64 pieces, int row) {
    kw_i64 lines = kw_operand_lines(a, which), each = KW_CEIL(row, KW_COPY_RUN);
    return kw_turns(which) && pieces ? pieces / (lines * each) * KW_COPY_BLOCKS(lines, each) : KW_CEIL(pieces, KW_ADD_THREADS);
}

/* A block's share of an operand, by squares that lie behind each other along the depth. */
KW_DEVICE void kw_copy_turned(const kw_gpu_args *a, int which, int block, int row, char *lds, char *to, const char *from) {
    int lines = (int)kw_operand_lines(a, which), each = KW_CEIL(row, KW_COPY_RUN), across = KW_CEIL(lines, KW_COPY_SIDE);
    int over = block / across, down = KW_CEIL(each, KW_COPY_DEPTHS / KW_COPY_RUN), batch = over / down;
    int line = (block - over * across) * KW_COPY_SIDE, depth = (over - batch * down) * KW_COPY_DEPTHS;
#if KW_PITCHED
    kw_i64 step = a->line_step[which], matrix = batch * a->batch_step[which];
#else
    kw_i64 step = lines, matrix = (kw_i64)batch * row * lines;
#endif
    kw_i64 pitch = step * KW_BYTES, copied = (kw_i64)each * 16;
    int depths = kw_min(row - depth, KW_COPY_DEPTHS), cols = kw_min(lines - line, KW_COPY_SIDE);
    from += (matrix + depth * step + line) * KW_BYTES;
    to += ((kw_i64)batch * lines + line) * copied + depth * KW_BYTES;
    int access = kw_turn_access(pitch | lines * KW_BYTES | (kw_i64)(kw_u64)from);
    if (access == 16)
        kw_turn_load(lds, from, pitch, depths, cols * KW_BYTES, KW_COPY_DEPTHS, KW_BYTES, 16);
    else if (access >= 4)
        kw_turn_load(lds, from, pitch, depths, cols * KW_BYTES, KW_COPY_DEPTHS, KW_BYTES, 4);
    else
        kw_turn_load(lds, from, pitch, depths, cols * KW_BYTES, KW_COPY_DEPTHS, KW_BYTES, KW_BYTES);
    kw_barrier();
    for (int first = 0; first < depths; first += KW_COPY_SIDE)
        kw_turn_store(lds + first * KW_TURN_LINE, to + first * KW_BYTES, copied, depths - first, cols, KW_BYTES, 16);
}

KW_KERNEL(kw_stage0, KW_ADD_THREADS) {
    KW_LDS(KW_COPY_DEPTHS * KW_TURN_LINE);
    int row, which = KW_A, block = (int)kw_block();
    char *to = args.shared + KW_COPIES_AT(args.params.to_workspace ? args.params.splits * args.params.elements * 4 : 0);
    kw_i64 pieces = kw_copy_pieces(&args, KW_A, &row), blocks = kw_copy_blocks(&args, KW_A, pieces, row);
    kw_launch_wait();
    kw_launch_next();
    if (block >= blocks) {
        which = KW_B;
        block -= (int)blocks;
        to += KW_COPIES_AT(pieces * 16);
        pieces = kw_copy_pieces(&args, KW_B, &row);
    }
    const char *from = kw_operand(&args, which);
    if (kw_turns(which)) {
        kw_copy_turned(&args, which, block, row, kw_lds, to, from);
        return;
    }
    int each = KW_CEIL(row, KW_COPY_RUN), at = block * KW_ADD_THREADS + kw_thread(), line = at / each,
        first = (at - line * each) * KW_COPY_RUN;
    if (at >= pieces) return;
#if KW_PITCHED
    from += (kw_operand_line(&args, which, line) + first) * KW_BYTES;
#else
    from += ((kw_i64)line * row + first) * KW_BYTES;
#endif
    kw_copy_row(to + (kw_i64)at * 16, from, row - first);
}
#else
/* Elements from `from` on, as many as there are left in the row; two at a time where all rows begin at words. */
KW_DEVICE void kw_copy_piece(char *to, const char *from, int left, int words) {
    kw_u32 w[4];
    KW_UNROLL
    for (int i = 0; i < 4; i++) {
        kw_u32 low = 0, high = 0;
        if (words) {
            if (2 * i < left) kw_load_run(&low, from + 4 * i, 4);
        } else {
            if (2 * i < left) kw_load_run(&low, from + 4 * i, 2);
            if (2 * i + 1 < left) kw_load_run(&high, from + 4 * i + 2, 2);
        }
        w[i] = low | high << 16;
    }
    kw_store_run(to, w, 16);
}

KW_KERNEL(kw_stage0, KW_ADD_THREADS) {
    int row, at = (int)(kw_block() * KW_ADD_THREADS + kw_thread());
    char *to = args.shared + KW_COPIES_AT(args.params.to_workspace ? args.params.splits * args.params.elements * 4 : 0);
    const char *from = kw_operand(&args, KW_A);
    kw_i64 pieces = kw_copy_pieces(&args, KW_A, &row);
    kw_launch_wait();
    kw_launch_next();
#if KW_PITCHED
    int second = at >= pieces;
#endif
    if (at >= pieces) {
        at -= (int)pieces;
        to += KW_COPIES_AT(pieces * 16);
        from = kw_operand(&args, KW_B);
        if (at >= kw_copy_pieces(&args, KW_B, &row)) return;
#if KW_SPOTS
        kw_u32 words[4];
        at = kw_spots_piece(&args, at, words);
        kw_store_run(to + (kw_i64)at * 16, words, 16);
        return;
#endif
    }
    int each = KW_CEIL(row, KW_COPY_RUN), first = at % each * KW_COPY_RUN;
#if KW_PITCHED
    int which = second ? KW_B : KW_A;
    from += (kw_operand_line(&args, which, at / each) + first) * KW_BYTES;
    kw_copy_piece(to + (kw_i64)at * 16, from, row - first, (row | args.line_step[which] | args.batch_step[which]) % 2 == 0);
#else
    from += ((kw_i64)(at / each) * row + first) * KW_BYTES;
    kw_copy_piece(to + (kw_i64)at * 16, from, row - first, row % 2 == 0);
#endif
}
#endif

#endif
