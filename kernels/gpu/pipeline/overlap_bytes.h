/* overlap_bytes.h: how gpu/pipeline/overlap_store.h stores results of one byte an element: a wave puts its rows of a piece into shared memory, and
 * reads and stores them by itself. */
enum { KW_BYTES_ROW = KW_PIECE + 16 }; /* bytes from row to row of a piece: lanes that write to 8 rows meet different banks */

#define KW_MENDS (KW_OUT == KW_INT8)
#if KW_MENDS
/* What is no number becomes 0. That is seldom so, and one comparison asks for two values. */
KW_DEVICE void kw_piece_mend(kw_sum *v) {
    int none = 0;
    KW_UNROLL
    for (int e = 0; e < KW_PIECE / 2; e += 2)
        none |= !(v[e] < v[e + 1]) && !(v[e] >= v[e + 1]);
    if (!none) return;
    KW_UNROLL
    for (int e = 0; e < KW_PIECE / 2; e++)
        v[e] = v[e] == v[e] ? v[e] : 0.0f;
}
#else
KW_DEVICE void kw_piece_mend(kw_sum *v) {}
#endif

/* Sums of KW_PIECE columns, from `first` on, two neighbours at a time. */
KW_DEVICE void kw_piece_fill(char *piece, kw_acc *acc, int first) {
    int lane = kw_acc_lane();
    kw_piece_mend(&acc->e[first / 2]);
    KW_UNROLL
    for (int i = 0; i < KW_PIECE / 4; i++) {
        char *to = piece + kw_acc_row(lane, 2 * (i % 2)) * KW_BYTES_ROW + i / 2 * 8 + kw_acc_col(lane, 0);
        const kw_sum *v = &acc->e[first / 2 + 2 * i];
        kw_u32 w = KW_MENDS ? kw_round_number_bits(v[0]) | kw_round_number_bits(v[1]) << 8 : kw_round_two(v[0], v[1]);
        kw_store_run(to, &w, 2);
    }
}

/* A wave's own rows, in runs that rows of the result begin at. */
KW_DEVICE void kw_piece_store_runs(const kw_gpu_args *a, const kw_work *work, const char *piece, int first_row, int first_col,
                                   const int run) {
    KW_ROLLED
    for (int at = kw_lane() * run; at < 16 * KW_PIECE; at += KW_WAVE * run) {
        int row = kw_wave() % 4 * 16 + at / KW_PIECE, col = at % KW_PIECE, ok = 1, cols;
        kw_i64 to = kw_result_row(a, work, first_row + row, &ok) + kw_result_col(a, work, first_col, &cols) + col;
        kw_u32 w[2];
        kw_load_run(w, piece + row * KW_BYTES_ROW + col, run);
        if (ok && col < cols) kw_store_run(kw_result(a) + to, w, run);
    }
}

/* Where a lane's four rows of a piece begin in the result. */
typedef struct kw_bytes_rows {
    kw_i64 at[4];
    int ok[4];
} kw_bytes_rows;

KW_DEVICE int kw_bytes_row(int i) { return kw_wave() % 4 * 16 + i * 4 + kw_lane() / 8; }

KW_DEVICE void kw_bytes_rows_start(kw_bytes_rows *rows, const kw_gpu_args *a, const kw_work *work, int first_row) {
    KW_UNROLL
    for (int i = 0; i < 4; i++) {
        rows->ok[i] = 1;
        rows->at[i] = kw_result_row(a, work, first_row + kw_bytes_row(i), &rows->ok[i]);
    }
}

KW_DEVICE void kw_piece_store(const kw_gpu_args *a, const kw_work *work, const char *piece, const kw_bytes_rows *rows, int first_row,
                              int first_col) {
    int col = kw_lane() % 8 * 8, cols, bytes = KW_ALIGNS;
#if KW_PLANES_RESULT
    bytes = kw_plane_pixels(a) % 8 != 0;
#endif
    if (bytes) {
        kw_piece_store_runs(a, work, piece, first_row, first_col, 1);
        return;
    }
    char *to = kw_result(a) + kw_result_col(a, work, first_col, &cols) + col;
    KW_UNROLL
    for (int i = 0; i < 4; i++) {
        kw_u32 w[2];
        kw_load_run(w, piece + kw_bytes_row(i) * KW_BYTES_ROW + col, 8);
        if (rows->ok[i] && col < cols) kw_store_run(to + rows->at[i], w, 8);
    }
}

/* A wave reads what it wrote alone, so that groups need not meet. */
KW_DEVICE void kw_tile_put(const kw_gpu_args *a, char *lds, const kw_work *work, kw_sums *sums, int group, int first_row, int *turn) {
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        kw_lines lines;
        kw_bytes_rows rows;
        kw_lines_start(&lines, a, work, sums, first_row, i);
        kw_bytes_rows_start(&rows, a, work, first_row + i * KW_INST_M);
        KW_UNROLL
        for (int col = 0; col < KW_TILE_N; col += KW_PIECE) {
            char *piece = lds + KW_PIECES_AT + group * KW_PIECES * KW_PIECE_BYTES;
            kw_piece_finish(a, work, sums, &lines, piece, i, col);
            kw_wave_barrier();
            kw_piece_fill(piece, &sums->at[i], col);
            kw_wave_barrier();
            kw_piece_store(a, work, piece, &rows, first_row + i * KW_INST_M, col);
        }
    }
}
