/* overlap_store.h: how gpu/pipeline/overlap.h stores a tile's sums. With KW_PASSES they leave through pieces of shared memory by bulk stores, or row
 * by row where these cannot reach; else each lane stores its own. Parts of a depth, and results of 32 bits, go from the registers as
 * they are. What the text that includes overlap.h gives for it (kw_result_..., kw_direct_..., kw_spot_...) is listed there.
 *   kw_sums_put(args, &work, &sums, first_row)               !KW_PASSES: to the result, or to the part's slice
 *   kw_tile_put(args, lds, &work, &sums, group, first_row, &turn)    through shared memory
 *   kw_part_put(args, &work, &sums, first_row, slice)        sums as they are */
#ifndef KW_OVERLAP_STORE_H
#define KW_OVERLAP_STORE_H

#if KW_TEAM > 1
#define KW_PUT_N KW_SHARE_N /* sums of an instruction that a thread stores */
#else
#define KW_PUT_N KW_ACC_N
#endif

#if KW_EPILOGUE && (!KW_PASSES || KW_PASSES_TURNED)
enum { KW_PUT_AHEAD = KW_PUT_N % 8 ? 4 : 8 }; /* elements whose tensors are asked for together */

/* Through the epilogue, each lane its own: to the result as kw_sums_put() does it, or with KW_PASSES to where the sums are. */
KW_DEVICE void kw_sums_finish_each(const kw_gpu_args *a, const kw_work *work, kw_sums *sums, int first_row) {
    int lane = kw_acc_lane();
    KW_UNROLL
    for (int from = 0; from < KW_REPEAT_M * KW_PUT_N; from += KW_PUT_AHEAD) {
        const int i = from / KW_PUT_N;
        kw_extras extras[KW_PUT_AHEAD];
        kw_i64 at[KW_PUT_AHEAD];
        int ok[KW_PUT_AHEAD];
        KW_UNROLL
        for (int n = 0; n < KW_PUT_AHEAD; n++) {
            int e = from % KW_PUT_N + n, row = first_row + i * KW_INST_M + kw_acc_row(lane, e / 2 % 2 * 2),
                col = e / 4 * 8 + kw_acc_col(lane, e % 2);
            kw_i64 line = work->row + row, across = work->col + col;
            ok[n] = 1;
            at[n] = kw_direct_row(a, work, row, &ok[n]) + kw_direct_col(a, work, col, &ok[n]);
            kw_i64 channel = kw_work_channel(a, work) + (KW_TURNED ? line : across), first = KW_ROW_GROUPS ? 0 : work->batch * a->gm;
            kw_place place = {at[n], channel, first + (KW_TURNED ? across : line), 0, !ok[n], !ok[n]};
            kw_extras_load(&extras[n], a, place, 1);
        }
        KW_UNROLL
        for (int n = 0; n < KW_PUT_AHEAD; n++) {
            kw_sum *sum = &sums->at[i].e[from % KW_PUT_N + n];
            float value = kw_steps_apply(&extras[n], (float)*sum, 0, 0);
            if (KW_PASSES)
                *sum = (kw_sum)value;
            else if (ok[n])
                kw_store_values(kw_result(a) + at[n] * KW_OUT_BYTES, &value, 1);
        }
    }
}
#endif

#if !KW_PASSES
/* Each lane its own sums, as elements of the result or of the part's slice. A lane has two neighbours each in two rows. */
KW_DEVICE void kw_sums_put(const kw_gpu_args *a, const kw_work *work, kw_sums *sums, int first_row) {
    int lane = kw_acc_lane(), parts = kw_to_workspace(a), two = kw_direct_pairs(a);
#if KW_EPILOGUE
    if (!parts) {
        kw_sums_finish_each(a, work, sums, first_row);
        return;
    }
#endif
    char *to = parts ? a->shared + work->part * a->params.elements * 4 : kw_result(a);
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        kw_i64 row[2];
        int row_ok[2] = {1, 1};
        KW_UNROLL
        for (int half = 0; half < 2; half++)
            row[half] = kw_direct_row(a, work, first_row + i * KW_INST_M + kw_acc_row(lane, 2 * half), &row_ok[half]);
        KW_UNROLL
        for (int e = 0; e < KW_PUT_N; e += 2) {
            int half = e / 2 % 2, ok[2] = {row_ok[half], row_ok[half]};
            kw_u32 w[2];
            char *at[2];
            KW_UNROLL
            for (int j = 0; j < 2; j++)
                at[j] = to + (row[half] + kw_direct_col(a, work, e / 4 * 8 + kw_acc_col(lane, j), &ok[j])) * (parts ? 4 : KW_OUT_BYTES);
            if (parts) {
                w[0] = kw_bits(sums->at[i].e[e]), w[1] = kw_bits(sums->at[i].e[e + 1]);
            } else {
                w[0] = kw_out_pair(sums->at[i].e[e], sums->at[i].e[e + 1]), w[1] = w[0] >> 16;
            }
            if (two) {
                if (ok[0]) kw_store_run(at[0], w, parts ? 8 : 4);
                continue;
            }
            if (ok[0]) kw_store_run(at[0], w, parts ? 4 : 2);
            if (ok[1]) kw_store_run(at[1], w + 1, parts ? 4 : 2);
        }
    }
}
#else

/* Byte of a piece where 8 columns of a row lie, as bulk copies exchange them. */
KW_DEVICE int kw_piece_at(int row, int cell) { return row * 128 + ((cell ^ (row & 7)) << 4); }

#if KW_EPILOGUE
#include "gpu/pipeline/finish.h"
#endif

#if KW_OUT_BYTES == 2

/* Sums of KW_PIECE columns, from `first` on: four matrices of 8 x 8 at a time. turned: the piece's rows are columns of the result. */
KW_DEVICE void kw_piece_fill(char *piece, const kw_acc *acc, int first, const int turned) {
    int lane = kw_lane(), row = kw_wave() % 4 * 16 + lane % 16, cell = kw_wave() % 4 * 2 + lane / 8 % 2;
    KW_UNROLL
    for (int j = 0; j < KW_PIECE / 8 && first + j * 8 < KW_TILE_N; j += 2) {
        kw_u32 w[4];
        KW_UNROLL
        for (int i = 0; i < 4; i++) {
            const int e = (first / 8 + j) * 4 + 2 * i;
            w[i] = e < KW_ACC_N ? kw_out_pair(acc->e[e], acc->e[e + 1]) : 0; /* behind an odd number of matrices */
        }
        if (turned)
            kw_matrix_write_turned(piece + kw_piece_at((j + lane / 16) * 8 + lane % 8, cell), w);
        else
            kw_matrix_write(piece + kw_piece_at(row, j + lane / 16), w);
    }
}

#if KW_ALIGNS && !KW_APART
#if KW_OP == KW_OP_CONV_FWD || KW_OP == KW_OP_CONV_BWD_DATA
/* Rows of so many columns, all that the result has, follow each other from `to` on, a multiple of 16 bytes: 16 bytes at a time. */
KW_DEVICE void kw_piece_store_whole(char *to, const char *piece, int rows, int cols) {
    int elements = rows * cols;
    KW_ROLLED
    for (int at = kw_thread() % KW_GROUP_THREADS * 8; at < elements; at += KW_GROUP_THREADS * 8) {
        int row = at / cols, col = at - row * cols;
        kw_u32 w[4];
        KW_UNROLL
        for (int e = 0; e < 8; e++) {
            kw_u32 element;
            kw_load_run(&element, piece + kw_piece_at(row, col / 8) + col % 8 * 2, 2);
            w[e / 2] = e % 2 ? w[e / 2] | element << 16 : element;
            int over = ++col == cols;
            row = kw_min(row + over, KW_PIECE - 1);
            col = over ? 0 : col;
        }
        if (at + 8 <= elements) {
            kw_store_run(to + at * 2, w, 16);
        } else {
            for (int e = 0; e < elements - at; e++) {
                kw_u32 element = w[e / 2] >> e % 2 * 16;
                kw_store_run(to + (at + e) * 2, &element, 2);
            }
        }
    }
}
#endif

/* Element by element, as rows of the result may begin anywhere: a wave has 16 rows of the piece, a lane every 32nd column. */
KW_DEVICE void kw_piece_store(const kw_gpu_args *a, const kw_work *work, const char *piece, int first_row, int first_col) {
#if KW_SPOTS
    int all = kw_spots_cols(a), some = kw_min(KW_PIECE, all - work->col - first_col);
    if (all > a->c) { /* spots of several pixels: a lane has half a row, two columns at a time where all lines begin at words */
        int row = kw_wave() % 4 * 16 + kw_lane() % 16, col = kw_lane() / 16 * (KW_PIECE / 2), end = kw_min(some, col + KW_PIECE / 2);
        int words = a->in[2] * a->c % 2 == 0 && kw_spots_line(a) % 2 == 0;
        kw_spot_walk spot;
        if (col >= end) return;
        kw_spot_walk_start(&spot, a, work->row + first_row + row, work->col + first_col + col);
        KW_ROLLED
        for (int some_cols = words ? 2 : 1; col < end; col += some_cols) {
            kw_u32 pair;
            kw_load_run(&pair, piece + kw_piece_at(row, col / 8) + col % 8 * 2, some_cols * 2);
            if (kw_spot_walk_ok(&spot)) {
                kw_spot_mend(a, spot.at, &pair, some_cols);
                kw_store_run(kw_result(a) + spot.at * 2, &pair, some_cols * 2);
            }
            kw_spot_walk_next(&spot, a, some_cols);
        }
        return;
    }
#endif
    int cols;
    kw_i64 col_at = kw_result_col(a, work, first_col, &cols);
#if KW_OP == KW_OP_CONV_FWD || KW_OP == KW_OP_CONV_BWD_DATA
    int row_cols = (int)(KW_OP == KW_OP_CONV_FWD ? a->k : a->c);
    if (row_cols <= KW_PIECE && ((kw_u64)kw_result(a) & 15) == 0) {
        kw_i64 from = work->row + first_row;
        if (work->col + first_col) return; /* behind the last column */
        kw_piece_store_whole(kw_result(a) + from * row_cols * 2, piece, kw_min(KW_PIECE, kw_feed_pixels(a, work) - (int)from), row_cols);
        return;
    }
#endif
    KW_ROLLED
    for (int i = 0; i < 16; i++) {
        int row = kw_wave() % 4 * 16 + i, ok = 1;
        kw_i64 at = kw_result_row(a, work, first_row + row, &ok) + col_at;
        char *to = kw_result(a) + at * 2;
        KW_UNROLL
        for (int col = kw_lane(); col < KW_PIECE; col += KW_WAVE) {
            kw_u32 element;
            kw_load_run(&element, piece + kw_piece_at(row, col / 8) + col % 8 * 2, 2);
            if (ok && col < kw_min(cols, KW_TILE_N - first_col)) kw_store_run(to + col * 2, &element, 2);
        }
    }
}
#endif

/* Tiles whose columns are no whole pieces: what their last piece has behind them is the next tile's. */
#define KW_PART_PIECE (KW_TILE_N % KW_SLAB_ELEMENTS != 0 && !KW_TURNED)

#if (KW_ROW_GROUPS || KW_PART_PIECE) && !KW_ALIGNS
/* Those of its rows that are the group's, and of its columns that are the tile's, 16 bytes of a row at a time. */
KW_DEVICE void kw_piece_rows(const kw_gpu_args *a, const kw_work *work, const char *piece, int first_row, int first_col) {
    int cell = kw_lane() % 8, cols;
    kw_i64 col = kw_result_col(a, work, first_col, &cols) + cell * 8;
    cols = kw_min(cols, KW_TILE_N - first_col);
    KW_UNROLL
    for (int i = 0; i < 4; i++) {
        int row = kw_wave() % 4 * 16 + i * 4 + kw_lane() / 8, ok = 1;
        kw_u32 words[4];
        kw_i64 at = kw_result_row(a, work, first_row + row, &ok);
        kw_load_run(words, piece + kw_piece_at(row, cell), 16);
        if (ok && cell * 8 < cols) kw_store_run(kw_result(a) + (at + col) * 2, words, 16);
    }
}
#endif

#ifdef KW_SUMS_JOIN
/* Those of its sums that are of the result, 16 bytes of a row at a time: hardware refuses bulk stores that begin before the first element. */
KW_DEVICE void kw_piece_joined(const kw_gpu_args *a, const kw_work *work, const char *piece, int first_row, int first_col) {
    int cell = kw_lane() % 8, cols;
    kw_i64 col = kw_result_col(a, work, first_col, &cols) + cell * 8;
    KW_UNROLL
    for (int i = 0; i < 4; i++) {
        int row = kw_wave() % 4 * 16 + i * 4 + kw_lane() / 8, ok = KW_SUMS_JOIN(row, cell * 8);
        kw_u32 words[4];
        kw_i64 at = kw_result_row(a, work, first_row + row, &ok);
        kw_load_run(words, piece + kw_piece_at(row, cell), 16);
        if (ok && cell * 8 < cols) kw_store_run(kw_result(a) + (at + col) * 2, words, 16);
    }
}
#endif

#if KW_BORDER
/* Which pixels a wave's rows of each instruction are: a lane works out one, while products are under way, and puts it where the wave's part of a
 * piece will be. By each lane four, when they are stored, takes as long as products of some steps. All lanes do it: any that part hang wgmma. */
KW_DEVICE int *kw_border_pixels(char *lds, int group) {
    return (int *)(lds + KW_PIECES_AT + group * KW_PIECES * KW_PIECE_BYTES + kw_wave() % 4 * (KW_PIECE_BYTES / 4));
}

KW_DEVICE void kw_border_pixels_put(const kw_gpu_args *a, char *lds, const kw_work *work, int group, int first_row) {
    KW_UNROLL
    for (int first = 0; first < KW_REPEAT_M * 16; first += KW_WAVE) {
        int i = (first + kw_lane()) / 16, row = kw_lane() % 16;
        kw_border_pixels(lds, group)[i * 16 + row % 4 * 4 + row / 4] =
            kw_border_pixel(a, work, work->row + first_row + i * KW_INST_M + kw_wave() % 4 * 16 + row);
    }
}

/* A lane's four rows of each instruction. */
KW_DEVICE void kw_border_pixels_get(char *lds, int group, kw_u32 pixels[KW_REPEAT_M][4]) {
    kw_wave_barrier();
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++)
        kw_load_run(pixels[i], (const char *)(kw_border_pixels(lds, group) + i * 16 + kw_lane() / 8 * 4), 16);
    kw_wave_barrier();
}
#elif KW_APART
/* Where rows of a tile lie apart: where a lane's four rows do; and with KW_STORES_CELLS which phases their cells have. */
KW_DEVICE void kw_scattered_rows(const kw_gpu_args *a, const kw_work *work, int first_row, kw_i64 at[4], int inside[4]) {
    int first = work->row + first_row + kw_wave() % 4 * 16 + kw_lane() / 8;
    kw_apart_row row = kw_apart_row_of(a, work, first);
    KW_UNROLL
    for (int j = 0; j < 4; j++) {
        at[j] = kw_apart_row_at(a, work, &row);
        inside[j] = 0;
#if KW_STORES_CELLS
        if (kw_feed_cells(a)) inside[j] = kw_cell_inside(a, work, &row);
#endif
        if (j < 3) kw_apart_row_next(&row, a, work, 4);
    }
}
#endif

#if KW_APART
#if KW_ALIGNS
/* Two elements at a time of each of them, which begins anywhere: together where all begin at words. */
KW_DEVICE void kw_piece_scatter(const kw_gpu_args *a, const kw_work *work, const char *piece, const kw_i64 at[4], int first_col) {
    int first = kw_lane() % 8 * 2, cols, words = (KW_OP == KW_OP_CONV_FWD ? a->k : a->c) % 2 == 0 && ((kw_u64)kw_result(a) & 3) == 0;
    char *to = kw_result(a) + (kw_result_col(a, work, first_col, &cols) + first) * 2;
    cols = kw_min(cols, KW_TILE_N - first_col) - first;
    KW_UNROLL
    for (int i = 0; i < 4; i++) {
        KW_UNROLL
        for (int col = 0; col < KW_PIECE; col += 16) {
            kw_u32 pair, other;
            kw_load_run(&pair, piece + kw_piece_at(kw_wave() % 4 * 16 + i * 4 + kw_lane() / 8, (first + col) / 8) + first % 8 * 2, 4);
            other = pair >> 16;
            if (at[i] < 0 || col >= cols) continue;
            if (words) {
                kw_store_run(to + (at[i] + col) * 2, &pair, 4);
                continue;
            }
            kw_store_run(to + (at[i] + col) * 2, &pair, 2);
            if (col + 1 < cols) kw_store_run(to + (at[i] + col) * 2 + 2, &other, 2);
        }
    }
}
#else
/* 16 bytes of each of them. */
KW_DEVICE void kw_piece_scatter(const kw_gpu_args *a, const kw_work *work, const char *piece, const kw_i64 at[4], int first_col) {
    int cell = kw_lane() % 8, cols;
    kw_i64 col = kw_result_col(a, work, first_col, &cols) + cell * 8;
    cols = kw_min(cols, KW_TILE_N - first_col);
    kw_u32 words[4][4];
    KW_UNROLL
    for (int i = 0; i < 4; i++)
        kw_load_run(words[i], piece + kw_piece_at(kw_wave() % 4 * 16 + i * 4 + kw_lane() / 8, cell), 16);
    KW_UNROLL
    for (int i = 0; i < 4; i++)
        if (at[i] >= 0 && cell * 8 < cols) kw_store_run(kw_result(a) + (at[i] + col) * 2, words[i], 16);
}

#if KW_STORES_CELLS
/* The rest of their cells: zeros. */
KW_DEVICE void kw_cells_clear(const kw_gpu_args *a, const kw_work *work, const kw_i64 at[4], const int inside[4], int first_col) {
    const kw_u32 zeros[4] = {0, 0, 0, 0};
    int cell = kw_lane() % 8, cols, phases = kw_feed_phases(a);
    kw_i64 col = kw_result_col(a, work, first_col, &cols) + cell * 8;
    cols = kw_min(cols, KW_TILE_N - first_col);
    KW_ROLLED
    for (int phase = 1; phase < phases; phase++) {
        char *to = kw_result(a) + (kw_cell_at(a, work, phase) + col) * 2;
        KW_UNROLL
        for (int i = 0; i < 4; i++)
            if (inside[i] >> phase & 1 && cell * 8 < cols) kw_store_run(to + at[i] * 2, zeros, 16);
    }
}
#endif
#endif
#endif
#if KW_STORES_FIRST
#include "gpu/pipeline/overlap_first.h"
#endif

/* Between who writes a piece and who reads it: by a bulk store, a group's lines, or with KW_BORDER each wave the rows that it wrote. */
KW_DEVICE void kw_piece_barrier(int group) {
    if (KW_BORDER && !KW_STORES_FIRST)
        kw_wave_barrier();
    else
        kw_waves_barrier(KW_GROUP_BARRIER(group), KW_GROUP_THREADS);
}

/* turn: which of the group's pieces comes next; it may still be on its way from a round before. */
KW_DEVICE void kw_tile_put(const kw_gpu_args *a, char *lds, const kw_work *work, kw_sums *sums, int group, int first_row, int *turn) {
    int leads = kw_thread() % KW_GROUP_THREADS == 0, rows = 1, bulk; /* rows: of the tile, that lie together */
#if KW_BORDER
    rows = 0;
#elif KW_PHASES
    rows = !KW_ALIGNS && kw_feed_strides(a) == 1;
#endif
    bulk = rows && !KW_ALIGNS && !KW_STORES_FIRST;
#ifdef KW_SUMS_JOIN
    bulk = 0;
#endif
#if KW_EPILOGUE && KW_TURNED
    kw_sums_finish_each(a, work, sums, first_row);
#endif
#if KW_BORDER
    kw_u32 pixels[KW_REPEAT_M][4];
    kw_border_pixels_get(lds, group, pixels);
#endif
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        int boxes = bulk; /* of this piece; a group of copies is counted all the same, so that the wait for a piece's last reader holds */
#if KW_ROW_GROUPS
        boxes = bulk && work->row + first_row + i * KW_INST_M + KW_PIECE <= work->rows_end;
#endif
#if KW_STORES_FIRST
        kw_first_run run = kw_first_start(a, work, first_row + i * KW_INST_M);
#endif
#if KW_BORDER
        kw_i64 at[4];
        KW_UNROLL
        for (int j = 0; j < 4; j++)
            at[j] = kw_border_pixel_at(a, (int)pixels[i][j]);
#elif KW_APART
        kw_i64 at[4] = {-1, -1, -1, -1};
        int inside[4] = {0, 0, 0, 0};
        if (!rows) kw_scattered_rows(a, work, first_row + i * KW_INST_M, at, inside);
#endif
#if KW_EPILOGUE && !KW_TURNED
        kw_lines lines;
        kw_lines_start(&lines, a, work, sums, first_row, i);
#endif
        KW_UNROLL
        for (int col = 0; col < KW_TILE_N; col += KW_PIECE) {
            char *piece = lds + KW_PIECES_AT + (group * KW_PIECES + *turn) * KW_PIECE_BYTES;
            int box = boxes;
#if KW_PART_PIECE
            if (col + KW_PIECE > KW_TILE_N) { /* what is behind the tile's last column may be another's */
                int behind;
                kw_result_col(a, work, KW_TILE_N, &behind);
                box = boxes && behind <= 0;
            }
#endif
#if KW_EPILOGUE && !KW_STAGES_RESIDUAL && !KW_TURNED
            kw_piece_finish(a, work, sums, &lines, piece, i, col);
#endif
            if (leads && bulk) kw_store_wait_read(KW_PIECES - 1);
            kw_piece_barrier(group);
#if KW_STAGES_RESIDUAL
            const int number = i * (KW_TILE_N / KW_PIECE) + col / KW_PIECE;
            kw_residual_put(&sums->residual[number % KW_RESIDUALS], piece);
            kw_residual_ahead(sums, a, work, first_row, number + KW_RESIDUALS);
            kw_piece_finish(a, work, sums, &lines, piece, i, col);
            if (KW_STORES_FIRST) /* its turned results lie where other waves' tensors do */
                kw_waves_barrier(KW_GROUP_BARRIER(group), KW_GROUP_THREADS);
            else
                kw_wave_barrier();
#endif
            if (KW_TURNED || (KW_STORES_FIRST && rows))
                kw_piece_fill(piece, &sums->at[i], col, 1);
            else
                kw_piece_fill(piece, &sums->at[i], col, 0);
            if (bulk) kw_proxy_fence();
            kw_piece_barrier(group);
#if KW_ALIGNS && !KW_APART
            kw_piece_store(a, work, piece, first_row + i * KW_INST_M, col);
#endif
#if KW_STORES_FIRST
            if (rows) {
                int cols;
                kw_i64 channel = kw_result_col(a, work, col, &cols);
                kw_piece_store_first(piece, &run, channel, kw_min(cols, KW_TILE_N - col));
            }
#endif
#if KW_APART
            if (!rows) kw_piece_scatter(a, work, piece, at, col);
#endif
#if KW_STORES_CELLS
            if (kw_feed_cells(a)) kw_cells_clear(a, work, at, inside, col);
#endif
#ifdef KW_SUMS_JOIN
            kw_piece_joined(a, work, piece, first_row + i * KW_INST_M, col);
#endif
#if (KW_ROW_GROUPS || KW_PART_PIECE) && !KW_ALIGNS
            if (bulk && !box) kw_piece_rows(a, work, piece, first_row + i * KW_INST_M, col);
#endif
#if !KW_BORDER
            if (leads && bulk) {
                if (box) kw_result_put(a, work, piece, first_row + i * KW_INST_M, col);
                kw_store_commit();
            }
#endif
            *turn = (*turn + 1) % KW_PIECES;
        }
    }
}

#elif KW_OUT_BYTES == 1
#include "gpu/pipeline/overlap_bytes.h"
#endif

#define KW_ROWS_ANYWHERE ((KW_ALIGNS && KW_VEC_C == 1) || KW_PLANES_RESULT) /* the result's rows begin at any element */

/* One access of 4 or 8 bytes of global memory, if at is below end. A predicate says so: of a hundred branches NVRTC would make predicates too, in a tenth
 * of a compile. */
#if KW_PTX
#define KW_STORE_BELOW(what)                                                                                                               \
    "{\n"                                                                                                                                  \
    "    .reg .pred p;\n"                                                                                                                  \
    "    setp.lt.s32 p, %0, %1;\n"                                                                                                         \
    "    @p st.global." what ";\n"                                                                                                         \
    "}"
KW_DEVICE void kw_store_below(int at, int end, char *to, const kw_u32 *w, int bytes) {
    kw_u64 place = __cvta_generic_to_global(to);
    if (bytes == 8)
        asm volatile(KW_STORE_BELOW("v2.b32 [%2], {%3, %4}")::"r"(at), "r"(end), "l"(place), "r"(w[0]), "r"(w[1]) : "memory");
    else
        asm volatile(KW_STORE_BELOW("b32 [%2], %3")::"r"(at), "r"(end), "l"(place), "r"(w[0]) : "memory");
}
#else
KW_DEVICE void kw_store_below(int at, int end, char *to, const kw_u32 *w, int bytes) {
    if (at < end) kw_store_run(to, w, bytes);
}
#endif

#if !KW_PICKS
/* Sums as they are, to the result or to a slice of the workspace. A lane has two neighbours each in two rows of an instruction's; together
 * they are stored where rows of the result begin at them. */
KW_DEVICE void kw_part_put(const kw_gpu_args *a, const kw_work *work, const kw_sums *sums, int first_row, char *slice) {
#if KW_OP == KW_OP_GEMM
    int two = !KW_ROWS_ANYWHERE || (kw_direct_pairs(a) && ((kw_u64)slice & 7) == 0);
#else
    const int two = !KW_ROWS_ANYWHERE;
#endif
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        int lane = kw_acc_lane(), ok[2] = {1, 1};
        int number[2];
        char *row[2];
        KW_UNROLL
        for (int half = 0; half < 2; half++) {
            number[half] = first_row + i * KW_INST_M + kw_acc_row(lane, 2 * half);
            row[half] = slice + kw_result_row(a, work, number[half], &ok[half]) * 4;
        }
        KW_UNROLL
        for (int part = 0; part < 2 * KW_CEIL(KW_TILE_N, KW_PIECE); part++) {
            int half = part % 2, first = kw_acc_col(lane, 0), cols;
            kw_i64 at = kw_result_col(a, work, part / 2 * KW_PIECE, &cols);
            char *to = (char *)kw_pointer_keep(row[half] + (at + first) * 4);
            cols = ok[half] ? cols - first : 0;
            KW_UNROLL
            for (int col = 0; col < KW_PIECE && part / 2 * KW_PIECE + col < KW_TILE_N; col += 8) {
                const kw_sum *sum = &sums->at[i].e[part / 2 * (KW_PIECE / 2) + col / 2 + 2 * half];
                kw_u32 w[2];
                w[0] = kw_bits(sum[0]), w[1] = kw_bits(sum[1]);
#ifdef KW_SUMS_JOIN
                if (!KW_SUMS_JOIN(number[half], col)) continue;
#endif
                if (!KW_ROWS_ANYWHERE || KW_OP == KW_OP_GEMM) kw_store_below(col, two ? cols : 0, to + col * 4, w, 8);
                if (!KW_ROWS_ANYWHERE) continue;
                kw_store_below(col, two ? 0 : cols, to + col * 4, w, 4);
                kw_store_below(col + 1, two ? 0 : cols, to + col * 4 + 4, w + 1, 4);
            }
        }
    }
}
#endif

#endif

#endif
