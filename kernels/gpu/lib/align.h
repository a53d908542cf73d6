/* align.h: operands whose rows are no multiple of 16 bytes, which bulk copies cannot read, are copied to rows that are (KW_ALIGNS): a stage
 * before the one that multiplies, into the workspace behind the sums of parts. A thread copies 16 bytes of a row; what lies behind its end
 * is zero. src/families/gpu/mma/mma_launch.c describes the copies to the maps.
 *
 * The text that includes this gives kw_operand_rows(args, which, &row): how many rows an operand has, and elements of each; with KW_PITCHED
 * kw_operand_line(args, which, row): where one begins. With KW_SPOTS
 * the second operand is always made anew, by its kw_spots_piece(args, number, words), which returns where 16 bytes of it go. */
#ifndef KW_ALIGN_H
#define KW_ALIGN_H

/* Pieces of 16 bytes of an operand's copy; 0: it needs none. */
KW_DEVICE kw_i64 kw_copy_pieces(const kw_gpu_args *a, int which, int *row) {
    kw_i64 rows = kw_operand_rows(a, which, row);
#if KW_PITCHED
    return (a->line_step[which] | a->batch_step[which]) % KW_COPY_RUN ? rows * KW_CEIL(*row, KW_COPY_RUN) : 0;
#endif
    return *row % KW_COPY_RUN || (KW_SPOTS && which == KW_B) ? rows * KW_CEIL(*row, KW_COPY_RUN) : 0;
}

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
