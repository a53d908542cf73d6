/* feed.h: what gpu/pipeline/overlap.h asks of a product of matrices: steps of 64 depths by bulk copies in any layout. Maps: of an operand
 * whose depth is contiguous (depth, row, batch), of the others (row, depth, batch), of the result (column, row, batch). */
#ifndef KW_GEMM_FEED_H
#define KW_GEMM_FEED_H

typedef struct kw_feed {
    int row, col, k, batch;
#if KW_STATIONARY
    char *second; /* where the second operand's first step lies */
#endif
#if KW_PITCHED
    int batch_of[2]; /* of the operands: 0 where all of the batch share one */
#endif
} kw_feed;

#define KW_OPERAND(which) (((which) == KW_A) == KW_TURNED) /* its number among the problem's tensors */

KW_DEVICE int kw_feed_steps(const kw_gpu_args *a, const kw_work *work) {
    (void)work;
    return (int)KW_CEIL(a->gk, KW_TILE_K);
}

KW_DEVICE void kw_feed_start(kw_feed *f, const kw_gpu_args *a, const kw_work *work) {
    f->row = work->row;
    f->col = work->col;
    f->batch = work->batch;
    f->k = work->first * KW_TILE_K;
#if KW_PITCHED
    f->batch_of[KW_A] = a->batch_step[KW_OPERAND(KW_A)] ? work->batch : 0;
    f->batch_of[KW_B] = a->batch_step[KW_OPERAND(KW_B)] ? work->batch : 0;
#endif
}

KW_DEVICE void kw_feed_operand(const kw_feed *f, const kw_gpu_args *a, int which, int row, char *to, char *bar) {
    const kw_tensor_map *map = &a->map[which];
    int by_rows = which == KW_A ? KW_A_BY_ROWS : KW_B_BY_ROWS, rows = which == KW_A ? KW_TILE_M : KW_TILE_N;
    int batch = KW_ROW_GROUPS && (which == KW_A) != KW_TURNED ? 0 : f->batch; /* groups of rows are in one matrix */
#if KW_PAIR > 1
    if (which == KW_B) { /* this block's part of it, for all: some rows, or some depths of all */
        int rank = kw_cluster_rank(), part = (by_rows ? KW_TILE_K : KW_TILE_N) / KW_PAIR, first = rank * part;
        if (!by_rows) {
            kw_tensor_share3(to + first * 128, map, bar, f->k, row + first, batch, (1 << KW_PAIR) - 1);
            return;
        }
        KW_UNROLL
        for (int i = 0; i < KW_TILE_N; i += KW_SLAB_ELEMENTS)
            kw_tensor_share3(to + (i + first) * 128, map, bar, row + i, f->k + first, batch, (1 << KW_PAIR) - 1);
        return;
    }
#endif
    if (!by_rows) {
        KW_UNROLL
        for (int i = 0; i < rows; i += KW_COPY_ROWS(rows))
            kw_tensor_load3(to + i * 128, map, bar, f->k, row + i, batch);
        return;
    }
    KW_UNROLL
    for (int i = 0; i < rows; i += KW_SLAB_ELEMENTS)
        kw_tensor_load3(to + i * 128, map, bar, row + i, f->k, batch);
}

KW_DEVICE void kw_feed_bring(kw_feed *f, const kw_gpu_args *a, const kw_work *work, char *to, char *bar, int second) {
#if KW_PITCHED
    f->batch = f->batch_of[KW_A];
#endif
    kw_feed_operand(f, a, KW_A, f->row, to, bar);
#if KW_PITCHED
    f->batch = f->batch_of[KW_B];
#endif
#if KW_STATIONARY
    char *other = f->second + f->k / KW_TILE_K * KW_TILE_BYTES(KW_HELD_N);
#else
    char *other = to + KW_STAGE_BYTES_A;
#endif
    if (second) kw_feed_operand(f, a, KW_B, f->col, other, bar);
    f->k += KW_TILE_K;
}

KW_DEVICE const char *kw_operand(const kw_gpu_args *a, int which) { return which == KW_A ? a->x : a->w; }

/* Rows or columns of the result. */
KW_DEVICE kw_i64 kw_operand_lines(const kw_gpu_args *a, int which) { return which == KW_A ? a->gm : a->gn; }

KW_DEVICE kw_i64 kw_operand_rows(const kw_gpu_args *a, int which, int *row) {
    kw_i64 lines = kw_operand_lines(a, which);
    int by_rows = which == KW_A ? KW_A_BY_ROWS : KW_B_BY_ROWS;
    *row = (int)(by_rows ? lines : a->gk);
#if KW_PITCHED
    return (a->batch_step[which] ? a->batch : 1) * (by_rows ? a->gk : lines);
#else
    kw_i64 matrices = KW_ROW_GROUPS && which == KW_B ? a->groups : a->batch;
    return matrices * (by_rows ? a->gk : lines);
#endif
}

#if KW_PITCHED
/* Where line number `line` of all matrices of an operand begins; which: a tensor, since only without KW_TURNED operands are copied. */
KW_DEVICE kw_i64 kw_operand_line(const kw_gpu_args *a, int which, int line) {
    int lines = (int)((which == KW_A ? KW_A_BY_ROWS : KW_B_BY_ROWS) ? a->gk : which == KW_A ? a->gm : a->gn), batch = line / lines;
    return batch * a->batch_step[which] + (line - batch * lines) * a->line_step[which];
}

/* Of the result, or of a part's slice, which has no gaps. */
KW_DEVICE kw_i64 kw_result_line(const kw_gpu_args *a) { return kw_to_workspace(a) ? a->gn : a->line_step[2]; }
KW_DEVICE kw_i64 kw_result_batch(const kw_gpu_args *a) { return kw_to_workspace(a) ? a->gm * a->gn : a->batch_step[2]; }
#else
#define kw_result_line(a) a->gn
#endif

/* Which matrix of the result a tile is of. */
KW_DEVICE int kw_result_matrix(const kw_work *work) { return KW_ROW_GROUPS ? 0 : work->batch; }

/* Where its rows end; columns where KW_TURNED. */
KW_DEVICE kw_i64 kw_result_end(const kw_gpu_args *a, const kw_work *work) { return KW_ROW_GROUPS ? work->rows_end : a->gm; }

/* A turned piece has rows of the result as its columns, which may end before the piece does: as many boxes as there are. */
KW_DEVICE void kw_result_put(const kw_gpu_args *a, const kw_work *work, const char *piece, int row, int col) {
#if KW_TURNED
    KW_UNROLL
    for (int i = 0; i < KW_PIECE && col + i < KW_TILE_N; i += KW_TURNED_BOX(KW_TILE_N))
        kw_tensor_store3(&a->map[2], piece + i * 128, work->row + row, work->col + col + i, kw_result_matrix(work));
#else
    kw_tensor_store3(&a->map[2], piece, work->col + col, work->row + row, kw_result_matrix(work));
#endif
}

KW_DEVICE kw_i64 kw_result_row(const kw_gpu_args *a, const kw_work *work, int row, int *ok) {
    row += work->row;
    *ok &= row < kw_result_end(a, work);
#if KW_PITCHED
    return work->batch * kw_result_batch(a) + row * kw_result_line(a);
#else
    return (kw_result_matrix(work) * a->gm + row) * a->gn;
#endif
}

KW_DEVICE int kw_result_col(const kw_gpu_args *a, const kw_work *work, int col, int *cols) {
    *cols = (int)a->gn - work->col - col;
    return work->col + col;
}

KW_DEVICE int kw_direct_pairs(const kw_gpu_args *a) {
    int two = !KW_TURNED && a->gn % 2 == 0;
#if KW_PITCHED
    two = two && (kw_result_line(a) | kw_result_batch(a)) % 2 == 0;
#endif
    return two;
}

KW_DEVICE void kw_share_start(const kw_gpu_args *a, kw_work *work, int col) {
    (void)a;
    work->share_end = work->col + KW_TILE_N;
    work->col += col;
}

/* From where a row of the tile begins in the result to its element in a column: the sum of both. */
KW_DEVICE kw_i64 kw_direct_row(const kw_gpu_args *a, const kw_work *work, int row, int *ok) {
    kw_i64 rows = KW_TURNED ? a->gn : kw_result_end(a, work);
    row += work->row;
    *ok &= row < rows;
#if KW_PITCHED
    return work->batch * kw_result_batch(a) + (KW_TURNED ? row : row * kw_result_line(a));
#else
    return kw_result_matrix(work) * a->gm * a->gn + (KW_TURNED ? row : row * a->gn);
#endif
}

KW_DEVICE kw_i64 kw_direct_col(const kw_gpu_args *a, const kw_work *work, int col, int *ok) {
    col += work->col;
    *ok &= col < (KW_TURNED ? kw_result_end(a, work) : a->gn);
#if KW_TEAM > 1
    *ok &= col < work->share_end;
#endif
    return KW_TURNED ? col * kw_result_line(a) : col;
}

#endif
