/* finish.h: the epilogue of gpu/pipeline/overlap.h, on the sums where they are, a piece of 64 rows and 64 columns at a time.
 *
 * A lane has two neighbours each in two rows of an instruction's. What the steps read for its columns is read once for all of a tile's rows,
 * what they read for a row once for all of its columns, and both before the tile is multiplied, as words that nothing waits for (KW_ASKS_AHEAD). A
 * tensor of the result's shape and 16 bits (KW_RESIDUAL) comes in runs of 16 bytes: a lane asks for its share of the first pieces before the
 * tile is multiplied, for that of another when one is taken, and puts it where the piece's results will lie, from where a wave reads it as it
 * will write them (KW_STAGES_RESIDUAL). Others are read by each lane for itself. */
#ifndef KW_FINISH_H
#define KW_FINISH_H

/* Column groups of 8 whose tensors are asked for together, without a branch between, since each answer takes some hundred cycles: all of a
 * piece's where the sums leave the registers for that. */
enum { KW_LANE_SUMS = KW_REPEAT_M * KW_ACC_N, KW_FINISH_AHEAD = KW_LANE_SUMS > 160 ? 2 : 8 };

/* An instruction's rows, of which a lane has two. */
typedef struct kw_lines {
    kw_i64 at[2]; /* where they begin in the result */
    int ok[2];
    kw_extras of[2]; /* what the steps read for the whole row */
} kw_lines;

/* What the steps read once for a row, or for a column. */
#define KW_OF_LINE (KW_OF_ONE | (KW_PLANES_RESULT ? KW_OF_CHANNEL : KW_OF_ROW))
#define KW_OF_COLUMN (KW_PLANES_RESULT ? KW_OF_ROW : KW_OF_CHANNEL)

/* Row `row` of the tile; at, ok: where it begins in the result. */
KW_DEVICE kw_place kw_line_place(const kw_gpu_args *a, const kw_work *work, int row, kw_i64 at, int ok) {
    kw_place place = {0, 0, 0, KW_PLANES_RESULT, 0, 0};
#if KW_PLANES_RESULT
    place.channel = kw_plane_channel(a, work, row);
    place.no_channel = !ok;
#else
#if KW_PITCHED
    place.row = (KW_OP == KW_OP_GEMM ? work->batch * a->gm : 0) + work->row + row;
#else
    place.row = KW_OP == KW_OP_CONV_BWD_WEIGHT ? 0 : kw_place_of(a, at).row;
#endif
    place.no_row = !ok;
#endif
    return place;
}

/* Columns col and col + 1 of the tile, `left` of which are there; at: of the first in a row of the result. */
KW_DEVICE kw_place kw_column_place(const kw_gpu_args *a, const kw_work *work, kw_i64 at, int left) {
    kw_place place = {0, kw_work_channel(a, work) + at, 0, KW_PLANES_RESULT, 0, left <= 0};
#if KW_PLANES_RESULT
    place.row = (kw_i64)kw_plane_image(a, work) * kw_plane_pixels(a) + at;
    place.no_row = left <= 0;
#endif
    return place;
}

KW_DEVICE void kw_lines_start(kw_lines *lines, const kw_gpu_args *a, const kw_work *work, const kw_sums *sums, int first_row, const int i) {
    KW_UNROLL
    for (int half = 0; half < 2; half++) {
        int row = first_row + i * KW_INST_M + kw_acc_row(kw_acc_lane(), 2 * half);
        lines->ok[half] = 1;
        lines->at[half] = kw_result_row(a, work, row, &lines->ok[half]);
#if KW_ASKS_AHEAD
        kw_extras_take(&lines->of[half], sums->of_line[i][half], 1, 1, KW_PLANES_RESULT, KW_OF_LINE, 0);
#else
        kw_extras_load_some(&lines->of[half], a, kw_line_place(a, work, row, lines->at[half], lines->ok[half]), 1, KW_OF_LINE, 0);
#endif
    }
}

#if KW_STAGES_RESIDUAL

KW_DEVICE int kw_residual_row(int i) { return kw_wave() % 4 * 16 + i * 4 + kw_lane() / 8; }

/* 8 elements of a row, which begins anywhere where channels' pixels do. */
KW_DEVICE void kw_residual_run(kw_u32 *w, const char *from, int count, int aligned) {
    if (aligned) {
        kw_load_run(w, from, 16);
        return;
    }
    KW_UNROLL
    for (int e = 0; e < 8; e++) {
        kw_u32 element = 0;
        if (e < count) kw_load_run(&element, from + e * 2, 2);
        w[e / 2] = e % 2 ? w[e / 2] | element << 16 : element;
    }
}

/* Where a lane's four rows begin in the result: the same distance apart, but for strided backward data, which takes one product for all. */
KW_DEVICE void kw_residual_rows(kw_i64 at[4], int ok[4], const kw_gpu_args *a, const kw_work *work, int first_row) {
    KW_UNROLL
    for (int i = 0; i < 4; i++) {
        ok[i] = 1;
        at[i] = kw_result_row(a, work, first_row + kw_residual_row(i), &ok[i]);
    }
#if !KW_APART
    at[2] = at[1] + (at[1] - at[0]);
    at[3] = at[2] + (at[1] - at[0]);
#endif
}

KW_DEVICE void kw_residual_load(kw_residual *r, const kw_gpu_args *a, const kw_work *work, int first_row, int first_col) {
    int cols, col = kw_lane() % 8 * 8, aligned = 1, ok[4];
    kw_i64 at[4], col_at = kw_result_col(a, work, first_col, &cols) + col;
    kw_residual_rows(at, ok, a, work, first_row);
#if KW_PLANES_RESULT
    aligned = kw_plane_pixels(a) % 8 == 0; /* whole runs, which begin at multiples of 16 bytes */
#endif
    KW_UNROLL
    for (int i = 0; i < 4; i++) {
        r->w[i][0] = r->w[i][1] = r->w[i][2] = r->w[i][3] = 0;
        const char *from = kw_pointer_keep(a->extra[KW_RESIDUAL] + (at[i] + col_at) * 2);
        if (ok[i] && col < cols) kw_residual_run(r->w[i], from, cols - col, aligned);
    }
}

KW_DEVICE void kw_residual_put(const kw_residual *r, char *piece) {
    KW_UNROLL
    for (int i = 0; i < 4; i++)
        kw_store_run(piece + kw_piece_at(kw_residual_row(i), kw_lane() % 8), r->w[i], 16);
    kw_wave_barrier();
}

/* Of two groups of columns from number j on, as kw_piece_fill() writes results. */
KW_DEVICE void kw_residual_get(kw_extras own[2][KW_FINISH_AHEAD], const char *piece, int j, int n) {
    kw_u32 w[4];
    kw_matrix_read(w, piece + kw_piece_at(kw_wave() % 4 * 16 + kw_lane() % 16, j + kw_lane() / 16), 4, 0);
    KW_UNROLL
    for (int i = 0; i < 4; i++) {
        own[i % 2][n + i / 2].at[KW_RESIDUAL][0] = kw_extra_value(&w[i], KW_RESIDUAL_TYPE, 0);
        own[i % 2][n + i / 2].at[KW_RESIDUAL][1] = kw_extra_value(&w[i], KW_RESIDUAL_TYPE, 1);
    }
}
#endif

#if KW_ASKS_AHEAD || KW_STAGES_RESIDUAL
/* The tile's pieces in the order in which they leave. */
KW_DEVICE void kw_residual_ahead(kw_sums *sums, const kw_gpu_args *a, const kw_work *work, int first_row, const int number) {
#if KW_STAGES_RESIDUAL
    const int pieces = KW_TILE_N / KW_PIECE, i = number / pieces;
    if (i < KW_REPEAT_M)
        kw_residual_load(&sums->residual[number % KW_RESIDUALS], a, work, first_row + i * KW_INST_M, number % pieces * KW_PIECE);
#endif
}

KW_DEVICE void kw_sums_ahead(kw_sums *sums, const kw_gpu_args *a, const kw_work *work, int first_row) {
#if KW_ASKS_AHEAD
    int first = kw_acc_col(kw_acc_lane(), 0);
    KW_UNROLL
    for (int piece = 0; piece < KW_TILE_N; piece += KW_PIECE) {
        int cols;
        kw_i64 at = kw_result_col(a, work, piece, &cols) + first;
        KW_UNROLL
        for (int col = 0; col < KW_PIECE; col += 8) {
            kw_place place = kw_column_place(a, work, at, cols - col - first);
            kw_extras_fetch(sums->across[(piece + col) / 8][0], 2, a, place, col, 2, KW_OF_COLUMN);
        }
    }
    KW_UNROLL
    for (int n = 0; n < 2 * KW_REPEAT_M; n++) {
        int row = first_row + n / 2 * KW_INST_M + kw_acc_row(kw_acc_lane(), 2 * (n % 2)), ok = 1;
        kw_i64 at = kw_result_row(a, work, row, &ok);
        kw_extras_fetch(sums->of_line[n / 2][n % 2], 1, a, kw_line_place(a, work, row, at, ok), 0, 1, KW_OF_LINE);
    }
#endif
    KW_UNROLL
    for (int n = 0; n < KW_RESIDUALS; n++)
        kw_residual_ahead(sums, a, work, first_row, n);
}
#endif

/* Takes the sums of a piece's columns through the steps; those that are beside the result go for nothing. run: elements that are read
 * together. */
KW_DEVICE void kw_piece_finish_runs(const kw_gpu_args *a, const kw_work *work, kw_sums *sums, const kw_lines *lines, const char *piece,
                                    const int number, int first_col, const int run) {
    int first = kw_acc_col(kw_acc_lane(), 0), cols;
    kw_i64 col_at = kw_result_col(a, work, first_col, &cols) + first;
    cols -= first;
    KW_UNROLL
    for (int from = 0; from < KW_PIECE / 8; from += KW_FINISH_AHEAD) {
        kw_extras across[KW_FINISH_AHEAD], own[2][KW_FINISH_AHEAD];
        KW_UNROLL
        for (int n = 0; n < KW_FINISH_AHEAD; n++) {
#if KW_ASKS_AHEAD
            kw_extras_take(&across[n], sums->across[first_col / 8 + from + n][0], 2, 2, KW_PLANES_RESULT, KW_OF_COLUMN, 0);
#endif
            KW_UNROLL
            for (int e = 0; e < 2; e += run) {
                int col = (from + n) * 8 + e;
                kw_place at = kw_column_place(a, work, col_at + col, cols - col);
                if (!KW_ASKS_AHEAD) kw_extras_load_some(&across[n], a, at, run, KW_OF_COLUMN, e);
                KW_UNROLL
                for (int half = 0; half < 2; half++) {
                    at.element = lines->at[half] + col_at + col;
                    at.no_row = !lines->ok[half];
                    at.no_channel = col >= cols;
                    kw_extras_load_some(&own[half][n], a, at, run, KW_STAGES_RESIDUAL ? KW_OF_OTHERS : KW_OF_ALL, e);
                }
            }
        }
#if KW_STAGES_RESIDUAL
        KW_UNROLL
        for (int n = 0; n < KW_FINISH_AHEAD; n += 2)
            kw_residual_get(own, piece, from + n, n);
#endif
        KW_UNROLL
        for (int n = 0; n < KW_FINISH_AHEAD; n++) {
            KW_UNROLL
            for (int e = 0; e < 4; e++) {
                kw_sum *sum = &sums->at[number].e[first_col / 2 + (from + n) * 4 + e];
                *sum = kw_steps_apply_shared(&lines->of[e / 2], &across[n], &own[e / 2][n], (float)*sum, e % 2, KW_PLANES_RESULT);
            }
        }
    }
}

/* number: of the instruction whose sums they are. */
KW_DEVICE void kw_piece_finish(const kw_gpu_args *a, const kw_work *work, kw_sums *sums, const kw_lines *lines, const char *piece,
                               const int number, int first_col) {
#if KW_PLANES_RESULT && (KW_EPILOGUE_OTHERS || (KW_RESIDUAL >= 0 && !KW_STAGES_RESIDUAL))
    if (kw_plane_pixels(a) % 2) {
        kw_piece_finish_runs(a, work, sums, lines, piece, number, first_col, 1);
        return;
    }
#endif
    kw_piece_finish_runs(a, work, sums, lines, piece, number, first_col, KW_ALIGNS ? 1 : 2);
}

KW_DEVICE void kw_sums_finish(const kw_gpu_args *a, const kw_work *work, kw_sums *sums, int first_row) {
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        kw_lines lines;
        kw_lines_start(&lines, a, work, sums, first_row, i);
        KW_UNROLL
        for (int col = 0; col < KW_TILE_N; col += KW_PIECE)
            kw_piece_finish(a, work, sums, &lines, (const char *)0, i, col);
    }
}

#endif
