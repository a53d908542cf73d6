/* overlap.h: the pipelines `cooperative` and `pingpong`: blocks that go from tile to tile, and whose results leave while the next tile
 * comes in.
 *
 * One thread of the last four waves asks for bulk copies, step after step of all its tiles, as far ahead as the KW_STAGES places in shared
 * memory reach. The other waves, in groups of four, multiply where the steps lie. cooperative: two groups share each tile's rows.
 * pingpong: each group has tiles of its own, in turns, so that one multiplies while the other stores. Results leave through pieces of
 * shared memory, 64 rows by 64 columns, by bulk stores; sums of a part of the depth go to their slice of the workspace from the registers.
 *
 * Each place has two barriers, whose phases go on from tile to tile: `full` is over when a step's bytes are there, `empty` when the waves
 * that multiply it are done. Who waits for a phase must have seen the one before, or it would take that one for its own: with pingpong a
 * group therefore begins its tile only when the other has seen the last step of the tile before (KW_TURN_BARRIER).
 *
 * With streamk=cluster a block has one tile, and of that a part of the depth; gpu/lib/cluster.h says how the parts meet.
 *
 * A stage has the rows of the first operand, then those of the second, as gpu/wgmma.h wants them: 128 bytes of a row together, or where
 * rows are contiguous slabs of 64 rows, depth by depth. The text that includes this gives
 *   kw_feed                            where the next step of a tile lies
 *   kw_feed_steps(args, &work)         steps of a tile
 *   kw_feed_start(&feed, args, &work)  at a tile and its first step
 *   kw_feed_bring(&feed, args, &work, to, bar) copies of both operands; goes on to the next step
 *   kw_operand(args, which)            an operand
 *   kw_result_put(args, &work, piece, row, col)       a piece of the result, at a row and column of the tile, from shared memory
 *   kw_result_row(args, &work, row, &ok)              where a row of the tile begins in the result
 *   kw_result_col(args, &work, col, &cols)            from there to a piece's first column; how many of its columns there are
 *   kw_direct_row(args, &work, row, &ok), kw_direct_col(args, &work, col, &ok)        of one element, their sum, where !KW_PASSES
 *   kw_direct_pairs(args)                             whether columns 2 n and 2 n + 1 lie together at a multiple of both
 *   kw_share_start(args, &work, col)                  what is stored begins at this column of the tile (KW_TEAM)
 * and where it has them
 *   KW_PHASES         kw_feed_strides(args), above 1: rows of the result lie apart, as kw_phase_row_... say
 *   KW_SPOTS          kw_spots_cols(args), kw_spot_...: the result is stored elsewhere than its rows and columns say
 *   KW_FACTS_BYTES    kw_facts_work_out(args, facts), what a block knows; kw_work_phase(args, &work), which pixels the rows are */
#ifndef KW_OVERLAP_H
#define KW_OVERLAP_H

#include "gpu/lib/overlap_layout.h"
#if KW_ALIGNS
#include "gpu/lib/align.h"
#endif

KW_DEVICE char *kw_full_at(char *lds, int stage) { return lds + KW_BARRIERS_AT + stage * KW_STAGE_BARRIER_BYTES; }
KW_DEVICE char *kw_empty_at(char *lds, int stage) { return kw_full_at(lds, stage) + 8; }

/* --- from tile to tile --- */

/* Bands of tile rows, column by column in a band, so that blocks that run at the same time share few rows and few columns. A division takes
 * some hundred cycles, while nothing multiplies: most kernels have no parts and one batch, and whole bands need none. */
#define KW_BAND (KW_TILE_N > KW_TILE_M ? 16 : 8)

#if KW_ROW_GROUPS
/* Rows of the result that a tile has, and tiles across them. */
#define KW_GROUP_TILE (KW_TURNED ? KW_TILE_N : KW_TILE_M)
KW_DEVICE int kw_group_tiles(const kw_gpu_args *a) { return (int)(KW_TURNED ? a->params.tile_rows : a->params.tile_cols); }

KW_DEVICE int kw_work_units(const kw_gpu_args *a) {
    return kw_group_chunks(a->ends, (int)a->groups, (int)a->gm, KW_GROUP_TILE) * kw_group_tiles(a);
}

/* false: there is no such unit. A group's tiles of rows one after the other, in each all that are across. */
KW_DEVICE int kw_work_start(kw_work *work, const kw_gpu_args *a, const char *lds, int unit) {
    kw_group_chunk rows;
    kw_group_place place = {0, 0, 0};
    int across = kw_group_tiles(a), number = unit / across;
    if (!kw_group_find(&rows, &place, a->ends, (int)a->groups, (int)a->gm, KW_GROUP_TILE, number)) return 0;
    work->batch = rows.group;
    work->rows_end = rows.end;
    work->row = KW_TURNED ? (unit - number * across) * KW_TILE_M : rows.first;
    work->col = KW_TURNED ? rows.first : (unit - number * across) * KW_TILE_N;
    work->part = work->first = 0;
    work->end = kw_feed_steps(a, work);
    return 1;
}
#else
KW_DEVICE int kw_work_units(const kw_gpu_args *a) { return (int)a->params.units; }

/* false: there is no such unit. */
KW_DEVICE int kw_work_start(kw_work *work, const kw_gpu_args *a, const char *lds, int unit) {
    if (unit >= (int)a->params.units) return 0;
    int splits = KW_SPLIT_K == 1 ? 1 : (int)a->params.splits, cols = (int)a->params.tile_cols, rows = (int)a->params.tile_rows;
    int all = rows * cols, at = unit;
    work->batch = work->part = 0;
#if KW_TEAM > 1
    work->part = kw_cluster_rank();
    at /= KW_TEAM;
#else
    if (splits > 1) {
        int tiles = (int)a->params.units / splits;
        work->part = at / tiles;
        at -= work->part * tiles;
    }
#endif
    if (at >= all) {
        work->batch = at / all;
        at -= work->batch * all;
    }
    int band = cols == 1 ? at / KW_BAND : at / (KW_BAND * cols), high = rows - band * KW_BAND, over;
    at -= band * KW_BAND * cols;
    over = high >= KW_BAND ? at / KW_BAND : at / high;
    work->row = (band * KW_BAND + at - over * kw_min(high, KW_BAND)) * KW_TILE_M;
    work->col = over * KW_TILE_N;
#if KW_FACTS_BYTES
    work->facts = lds + KW_FACTS_AT;
    kw_work_phase(a, work);
#endif
    int steps = kw_feed_steps(a, work), each = splits > 1 ? KW_CEIL(steps, splits) : steps;
    work->first = kw_min(work->part * each, steps);
    work->end = kw_min(work->first + each, steps);
    return 1;
}
#endif

/* Where a group's channels begin in the tensors of the epilogue. */
KW_DEVICE kw_i64 kw_work_channel(const kw_gpu_args *a, const kw_work *work) { return KW_ROW_GROUPS ? work->batch * a->gn : 0; }

/* A place among the stages. */
typedef struct kw_ring {
    int stage, parity;
} kw_ring;

KW_DEVICE void kw_ring_next(kw_ring *r, int steps) {
    int at = r->stage + steps;
    r->parity ^= at / KW_STAGES & 1;
    r->stage = at % KW_STAGES;
}

/* --- bringing: by one thread --- */

KW_DEVICE void kw_tiles_bring(const kw_gpu_args *a, char *lds) {
    kw_work work;
    kw_feed feed;
    kw_ring at = {0, 0};
    for (int unit = (int)kw_block(); kw_work_start(&work, a, lds, unit); unit += (int)kw_blocks()) {
        kw_feed_start(&feed, a, &work);
        for (int step = work.first; step < work.end; step++) {
            char *full = kw_full_at(lds, at.stage);
            kw_mbar_wait(kw_empty_at(lds, at.stage), at.parity ^ 1);
            kw_mbar_expect(full, KW_STAGE_BYTES);
            kw_feed_bring(&feed, a, &work, lds + at.stage * KW_STAGE_BYTES, full);
            kw_ring_next(&at, 1);
        }
    }
}

/* --- multiplying --- */

#define KW_GROUP_ROWS (KW_PINGPONG ? KW_TILE_M : KW_TILE_M / 2)
#define KW_OWN_STEPS (KW_TEAM > 1 && KW_PINGPONG ? 2 : 1) /* from one step of a group to its next */
#define KW_REPEAT_M (KW_GROUP_ROWS / KW_INST_M)

#if KW_EPILOGUE && KW_PASSES && !KW_ALIGNS && KW_OUT_BYTES == 2 && KW_RESIDUAL >= 0
#define KW_STAGES_RESIDUAL 1 /* gpu/lib/finish.h */
#else
#define KW_STAGES_RESIDUAL 0
#endif

/* A lane's share of a piece of a tensor that is added to results: of each fourth of its wave's 16 rows, 8 columns. */
typedef struct kw_residual {
    kw_u32 w[4][4];
} kw_residual;

typedef struct kw_sums {
    kw_acc at[KW_REPEAT_M];
#if KW_STAGES_RESIDUAL
    kw_residual residual; /* of the next piece */
#endif
} kw_sums;

KW_DEVICE void kw_sums_hold(kw_sums *sums) {
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++)
        kw_wgmma_hold(&sums->at[i]);
}

KW_DEVICE void kw_sums_clear(kw_sums *sums) {
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        KW_UNROLL
        for (int e = 0; e < KW_ACC_N; e++)
            sums->at[i].e[e] = 0;
    }
}

/* The operand from row on, of instruction number kk of a step. */
KW_DEVICE kw_u64 kw_step_operand(const char *tile, int by_rows, int row, int kk) {
    return by_rows ? kw_wgmma_slabs(tile + row * 128 + kk * KW_INST_K * 128, KW_SLAB_ELEMENTS * KW_SLAB_ROW_BYTES)
                   : kw_wgmma_tile(tile + row * 128 + kk * KW_INST_K * KW_BYTES);
}

/* Asks for the products of a step. add false: the sums begin with them. */
KW_DEVICE void kw_step_multiply(kw_sums *sums, const char *stage, int first_row, int add) {
    kw_wgmma_fence();
    KW_UNROLL
    for (int kk = 0; kk < KW_TILE_K / KW_INST_K; kk++) {
        KW_UNROLL
        for (int i = 0; i < KW_REPEAT_M; i++)
            kw_wgmma_sum(&sums->at[i], kw_step_operand(stage, KW_A_BY_ROWS, first_row + i * KW_INST_M, kk),
                         kw_step_operand(stage + KW_STAGE_BYTES_A, KW_B_BY_ROWS, 0, kk), add);
        add = 1;
    }
    kw_wgmma_commit();
}

KW_DEVICE void kw_stage_give(char *lds, int stage) {
    if (kw_lane() == 0) kw_mbar_arrive(kw_empty_at(lds, stage));
}

/* Named barriers: 1 and 2 of a group alone, 3 and 4 for a group's turn. */
#define KW_GROUP_BARRIER(group) (1 + (group))
#define KW_TURN_BARRIER(group) (3 + (group))

#if KW_SUM_SETS == 1
/* The products of a step are under way while the next one is waited for; then its place is given back. more: tiles that follow, whose
 * turn is the other group's. */
KW_DEVICE void kw_tile_multiply(kw_sums *sums, char *lds, kw_ring *at, int first_row, int count, int group, int more) {
    int before = at->stage;
    kw_mbar_wait(kw_full_at(lds, at->stage), at->parity);
    kw_step_multiply(sums, lds + at->stage * KW_STAGE_BYTES, first_row, 0);
    kw_ring_next(at, KW_OWN_STEPS);
    for (int step = 1; step < count; step++) {
        kw_mbar_wait(kw_full_at(lds, at->stage), at->parity);
        kw_step_multiply(sums, lds + at->stage * KW_STAGE_BYTES, first_row, 1);
        kw_wgmma_wait(1);
        kw_stage_give(lds, before);
        before = at->stage;
        kw_ring_next(at, KW_OWN_STEPS);
    }
    if (KW_PINGPONG && more) kw_waves_arrive(KW_TURN_BARRIER(group ^ 1), 2 * KW_GROUP_THREADS);
    kw_wgmma_wait(0);
    kw_stage_give(lds, before);
    kw_sums_hold(sums);
}
#else

KW_DEVICE void kw_sums_add(kw_sums *sums, const kw_sums *more) {
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        KW_UNROLL
        for (int e = 0; e < KW_ACC_N; e++)
            sums->at[i].e[e] += more->at[i].e[e];
    }
}

/* Sums of bytes of floating point have few bits inside the instruction: each step has its own, which are then added in fp32. */
KW_DEVICE void kw_tile_multiply(kw_sums *sums, char *lds, kw_ring *at, int first_row, int count, int group, int more) {
    kw_sums_clear(sums);
    for (int step = 0; step < count; step++) {
        kw_sums own;
        kw_mbar_wait(kw_full_at(lds, at->stage), at->parity);
        kw_step_multiply(&own, lds + at->stage * KW_STAGE_BYTES, first_row, 0);
        if (KW_PINGPONG && more && step + 1 == count) kw_waves_arrive(KW_TURN_BARRIER(group ^ 1), 2 * KW_GROUP_THREADS);
        kw_wgmma_wait(0);
        kw_stage_give(lds, at->stage);
        kw_sums_hold(&own);
        kw_sums_add(sums, &own);
        kw_ring_next(at, KW_OWN_STEPS);
    }
}
#endif

/* --- storing --- */

#if !KW_PASSES
#if KW_TEAM > 1
#define KW_PUT_N KW_SHARE_N /* sums of an instruction that a thread stores */
#else
#define KW_PUT_N KW_ACC_N
#endif

#if KW_EPILOGUE
enum { KW_PUT_AHEAD = KW_PUT_N % 8 ? 4 : 8 }; /* elements whose tensors are asked for together */

/* Through the epilogue; else as kw_sums_put() does it. */
KW_DEVICE void kw_sums_put_finished(const kw_gpu_args *a, const kw_work *work, const kw_sums *sums, int first_row) {
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
            float value = kw_steps_apply(&extras[n], (float)sums->at[i].e[from % KW_PUT_N + n], 0, 0);
            if (ok[n]) kw_store_values(kw_result(a) + at[n] * KW_OUT_BYTES, &value, 1);
        }
    }
}
#endif

/* Each lane its own sums, as elements of the result or of the part's slice. A lane has two neighbours each in two rows. */
KW_DEVICE void kw_sums_put(const kw_gpu_args *a, const kw_work *work, const kw_sums *sums, int first_row) {
    int lane = kw_acc_lane(), parts = kw_to_workspace(a), two = kw_direct_pairs(a);
#if KW_EPILOGUE
    if (!parts) {
        kw_sums_put_finished(a, work, sums, first_row);
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

/* Byte of a piece where 8 columns of a row lie, as bulk copies exchange them; where it is read column by column, so that 8 rows and the next 8
 * meet different banks, too. */
KW_DEVICE int kw_piece_at(int row, int cell) { return row * 128 + ((cell ^ (row & 7) ^ (KW_STORES_FIRST ? row >> 3 & 7 : 0)) << 4); }

#if KW_EPILOGUE
#include "gpu/lib/finish.h"
#endif

#if !KW_EPILOGUE || KW_OUT_BYTES == 2

/* Sums of KW_PIECE columns, from `first` on: four matrices of 8 x 8 at a time. */
KW_DEVICE void kw_piece_fill(char *piece, const kw_acc *acc, int first) {
    int lane = kw_lane(), row = kw_wave() % 4 * 16 + lane % 16;
    KW_UNROLL
    for (int j = 0; j < KW_PIECE / 8; j += 2) {
        kw_u32 w[4];
        KW_UNROLL
        for (int i = 0; i < 4; i++)
            w[i] = kw_out_pair(acc->e[(first / 8 + j) * 4 + 2 * i], acc->e[(first / 8 + j) * 4 + 2 * i + 1]);
        kw_matrix_write(piece + kw_piece_at(row, j + lane / 16), w);
    }
}

#if KW_ALIGNS
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
    KW_ROLLED
    for (int i = 0; i < 16; i++) {
        int row = kw_wave() % 4 * 16 + i, ok = 1, cols;
        kw_i64 at = kw_result_row(a, work, first_row + row, &ok) + kw_result_col(a, work, first_col, &cols);
        char *to = kw_result(a) + at * 2;
        KW_UNROLL
        for (int col = kw_lane(); col < KW_PIECE; col += KW_WAVE) {
            kw_u32 element;
            kw_load_run(&element, piece + kw_piece_at(row, col / 8) + col % 8 * 2, 2);
            if (ok && col < cols) kw_store_run(to + col * 2, &element, 2);
        }
    }
}
#endif

#if KW_ROW_GROUPS && !KW_ALIGNS
/* Those of its rows that are the group's, 16 bytes of a row at a time. */
KW_DEVICE void kw_piece_rows(const kw_gpu_args *a, const kw_work *work, const char *piece, int first_row, int first_col) {
    int cell = kw_lane() % 8, cols;
    kw_i64 col = kw_result_col(a, work, first_col, &cols) + cell * 8;
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

#if KW_PHASES
/* Rows of a strided tile lie apart: where a lane's four rows do. */
KW_DEVICE void kw_scattered_rows(const kw_gpu_args *a, const kw_work *work, int first_row, kw_i64 at[4]) {
    kw_phase_row row = kw_phase_row_of(work, work->row + first_row + kw_wave() % 4 * 16 + kw_lane() / 8);
    KW_UNROLL
    for (int j = 0; j < 4; j++) {
        at[j] = kw_phase_row_at(a, work, &row);
        if (j < 3) kw_phase_row_next(&row, work, 4);
    }
}

/* 16 bytes of each of them. */
KW_DEVICE void kw_piece_scatter(const kw_gpu_args *a, const kw_work *work, const char *piece, const kw_i64 at[4], int first_col) {
    int cell = kw_lane() % 8, cols;
    kw_i64 col = kw_result_col(a, work, first_col, &cols) + cell * 8;
    KW_UNROLL
    for (int i = 0; i < 4; i++) {
        kw_u32 words[4];
        kw_load_run(words, piece + kw_piece_at(kw_wave() % 4 * 16 + i * 4 + kw_lane() / 8, cell), 16);
        if (at[i] >= 0 && cell * 8 < cols) kw_store_run(kw_result(a) + (at[i] + col) * 2, words, 16);
    }
}
#endif

#if KW_STORES_FIRST
/* Of the result, positions of an image; and a lane's 8 rows of a piece, the first one's number among all pixels. */
KW_DEVICE int kw_first_positions(const kw_gpu_args *a) {
    const kw_i64 *extent = KW_OP == KW_OP_CONV_FWD ? a->out : a->in;
    return (int)(extent[0] * extent[1] * extent[2]);
}
KW_DEVICE int kw_first_row(void) { return kw_thread() % 8 * 8; }

/* A lane has 8 pixels of one column after the other, which lie together in the result, in accesses as wide as images begin at. image: the
 * first pixel's. */
KW_DEVICE void kw_piece_store_first(const kw_gpu_args *a, const kw_work *work, const char *piece, int first_row, int first_col, int image) {
    int row = kw_first_row(), pixel = work->row + first_row + row, cols, positions = kw_first_positions(a), pixels = (int)a->n * positions;
    int run = positions % 8 == 0 ? 8 : positions % 4 == 0 ? 4 : 1;
    kw_i64 channels = a->groups * (KW_OP == KW_OP_CONV_FWD ? a->k : a->c), channel = kw_result_col(a, work, first_col, &cols);
    cols = kw_min(cols, KW_PIECE);
    KW_ROLLED
    for (int col = kw_thread() % KW_GROUP_THREADS / 8; col < cols; col += KW_GROUP_THREADS / 8) {
        kw_u32 w[4] = {0, 0, 0, 0};
        KW_UNROLL
        for (int e = 0; e < 8; e++) {
            kw_u32 element;
            kw_load_run(&element, piece + kw_piece_at(row + e, col / 8) + col % 8 * 2, 2);
            w[e / 2] |= element << e % 2 * 16;
        }
        int at = pixel - image * positions;
        char *to = kw_result(a) + ((image * channels + channel + col) * positions + at) * 2;
        kw_i64 next = (channels - 1) * positions * 2; /* on to the next image's */
        if (run == 8) {
            if (pixel < pixels) kw_store_run(to, w, 16);
        } else if (run == 4) {
            if (pixel < pixels) kw_store_run(to, w, 8);
            if (at + 4 >= positions) to += next;
            if (pixel + 4 < pixels) kw_store_run(to + 8, w + 2, 8);
        } else {
            KW_UNROLL
            for (int e = 0; e < 8; e++) {
                kw_u32 element = w[e / 2] >> e % 2 * 16;
                if (pixel + e < pixels) kw_store_run(to + e * 2, &element, 2);
                if (++at == positions) at = 0, to += next;
            }
        }
    }
}
#endif

/* turn: which of the group's pieces comes next; it may still be on its way from a round before. */
KW_DEVICE void kw_tile_put(const kw_gpu_args *a, char *lds, const kw_work *work, kw_sums *sums, int group, int first_row, int *turn) {
    int leads = kw_thread() % KW_GROUP_THREADS == 0, rows = 1, bulk; /* rows: of the tile, that lie together */
#if KW_PHASES
    rows = kw_feed_strides(a) == 1;
#endif
    bulk = rows && !KW_ALIGNS && !KW_STORES_FIRST;
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        int boxes = bulk; /* of this piece; a group of copies is counted all the same, so that the wait for a piece's last reader holds */
#if KW_ROW_GROUPS
        boxes = bulk && work->row + first_row + i * KW_INST_M + KW_PIECE <= work->rows_end;
#endif
#if KW_STORES_FIRST
        int image = (work->row + first_row + i * KW_INST_M + kw_first_row()) / kw_first_positions(a);
#endif
#if KW_PHASES
        kw_i64 at[4] = {-1, -1, -1, -1};
        if (!rows) kw_scattered_rows(a, work, first_row + i * KW_INST_M, at);
#endif
#if KW_EPILOGUE
        kw_lines lines;
        kw_lines_start(&lines, a, work, first_row + i * KW_INST_M);
#endif
        KW_UNROLL
        for (int col = 0; col < KW_TILE_N; col += KW_PIECE) {
            char *piece = lds + KW_PIECES_AT + (group * KW_PIECES + *turn) * KW_PIECE_BYTES;
#if KW_EPILOGUE && !KW_STAGES_RESIDUAL
            kw_piece_finish(a, work, &sums->at[i], &lines, piece, col);
#endif
            if (leads && bulk) kw_store_wait_read(KW_PIECES - 1);
            kw_waves_barrier(KW_GROUP_BARRIER(group), KW_GROUP_THREADS);
#if KW_STAGES_RESIDUAL
            kw_residual_put(&sums->residual, piece);
            if (col + KW_PIECE < KW_TILE_N)
                kw_residual_load(&sums->residual, a, work, first_row + i * KW_INST_M, col + KW_PIECE);
            else if (i + 1 < KW_REPEAT_M)
                kw_residual_load(&sums->residual, a, work, first_row + (i + 1) * KW_INST_M, 0);
            kw_piece_finish(a, work, &sums->at[i], &lines, piece, col);
            kw_wave_barrier();
#endif
            kw_piece_fill(piece, &sums->at[i], col);
            if (bulk) kw_proxy_fence();
            kw_waves_barrier(KW_GROUP_BARRIER(group), KW_GROUP_THREADS);
#if KW_ALIGNS
            kw_piece_store(a, work, piece, first_row + i * KW_INST_M, col);
#endif
#if KW_STORES_FIRST
            if (rows) kw_piece_store_first(a, work, piece, first_row + i * KW_INST_M, col, image);
#endif
#if KW_PHASES
            if (!rows) kw_piece_scatter(a, work, piece, at, col);
#endif
#if KW_ROW_GROUPS && !KW_ALIGNS
            if (!boxes) kw_piece_rows(a, work, piece, first_row + i * KW_INST_M, col);
#endif
            if (leads && bulk) {
                if (boxes) kw_result_put(a, work, piece, first_row + i * KW_INST_M, col);
                kw_store_commit();
            }
            *turn = (*turn + 1) % KW_PIECES;
        }
    }
}

#elif KW_OUT_BYTES == 1

enum { KW_BYTES_ROW = KW_PIECE + 16 }; /* bytes from row to row of a piece: lanes that write to 8 rows meet different banks */

/* Sums of KW_PIECE columns, from `first` on, two neighbours at a time. */
KW_DEVICE void kw_piece_fill(char *piece, const kw_acc *acc, int first) {
    int lane = kw_acc_lane();
    KW_UNROLL
    for (int i = 0; i < KW_PIECE / 4; i++) {
        char *to = piece + kw_acc_row(lane, 2 * (i % 2)) * KW_BYTES_ROW + i / 2 * 8 + kw_acc_col(lane, 0);
        kw_store_values(to, &acc->e[first / 2 + 2 * i], 2);
    }
}

/* In runs that rows of the result begin at. */
KW_DEVICE void kw_piece_store_runs(const kw_gpu_args *a, const kw_work *work, const char *piece, int first_row, int first_col,
                                   const int run) {
    KW_ROLLED
    for (int at = kw_thread() % KW_GROUP_THREADS * run; at < KW_PIECE * KW_PIECE; at += KW_GROUP_THREADS * run) {
        int row = at / KW_PIECE, col = at % KW_PIECE, ok = 1, cols;
        kw_i64 to = kw_result_row(a, work, first_row + row, &ok) + kw_result_col(a, work, first_col, &cols) + col;
        kw_u32 w[2];
        kw_load_run(w, piece + row * KW_BYTES_ROW + col, run);
        if (ok && col < cols) kw_store_run(kw_result(a) + to, w, run);
    }
}

KW_DEVICE void kw_piece_store(const kw_gpu_args *a, const kw_work *work, const char *piece, int first_row, int first_col) {
#if KW_PLANES_RESULT
    if (kw_plane_pixels(a) % 8) {
        kw_piece_store_runs(a, work, piece, first_row, first_col, 1);
        return;
    }
#endif
    kw_piece_store_runs(a, work, piece, first_row, first_col, KW_ALIGNS ? 1 : 8);
}

KW_DEVICE void kw_tile_put(const kw_gpu_args *a, char *lds, const kw_work *work, kw_sums *sums, int group, int first_row, int *turn) {
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        kw_lines lines;
        kw_lines_start(&lines, a, work, first_row + i * KW_INST_M);
        KW_UNROLL
        for (int col = 0; col < KW_TILE_N; col += KW_PIECE) {
            char *piece = lds + KW_PIECES_AT + group * KW_PIECES * KW_PIECE_BYTES;
            kw_piece_finish(a, work, &sums->at[i], &lines, piece, col);
            kw_waves_barrier(KW_GROUP_BARRIER(group), KW_GROUP_THREADS);
            kw_piece_fill(piece, &sums->at[i], col);
            kw_waves_barrier(KW_GROUP_BARRIER(group), KW_GROUP_THREADS);
            kw_piece_store(a, work, piece, first_row + i * KW_INST_M, col);
        }
    }
}
#endif

#define KW_ROWS_ANYWHERE (KW_ALIGNS || KW_PLANES_RESULT) /* the result's rows begin at any element */

/* Sums as they are, to the result or to a slice of the workspace. A lane has two neighbours each in two rows of an instruction's; together
 * they are stored where rows of the result begin at them. */
KW_DEVICE void kw_part_put(const kw_gpu_args *a, const kw_work *work, const kw_sums *sums, int first_row, char *slice) {
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        int lane = kw_acc_lane(), ok[2] = {1, 1};
        char *row[2];
        KW_UNROLL
        for (int half = 0; half < 2; half++)
            row[half] = slice + kw_result_row(a, work, first_row + i * KW_INST_M + kw_acc_row(lane, 2 * half), &ok[half]) * 4;
        KW_UNROLL
        for (int part = 0; part < 2 * KW_TILE_N / KW_PIECE; part++) {
            int half = part % 2, first = kw_acc_col(lane, 0), cols;
            kw_i64 at = kw_result_col(a, work, part / 2 * KW_PIECE, &cols);
            char *to = row[half] + (at + first) * 4;
            cols = ok[half] ? cols - first : 0;
            KW_UNROLL
            for (int col = 0; col < KW_PIECE; col += 8) {
                const kw_sum *sum = &sums->at[i].e[part / 2 * (KW_PIECE / 2) + col / 2 + 2 * half];
                kw_u32 w[2];
                w[0] = kw_bits(sum[0]), w[1] = kw_bits(sum[1]);
                if (col < cols) kw_store_run(to + col * 4, w, KW_ROWS_ANYWHERE ? 4 : 8);
                if (KW_ROWS_ANYWHERE && col + 1 < cols) kw_store_run(to + col * 4 + 4, w + 1, 4);
            }
        }
    }
}

#endif

#if KW_TEAM > 1
#include "gpu/lib/cluster.h"
#else
KW_DEVICE void kw_tiles_multiply(const kw_gpu_args *a, char *lds, int group) {
    kw_work work;
    kw_ring at = {0, 0};
    int first_row = KW_PINGPONG ? 0 : group * KW_GROUP_ROWS, turn = 0;
    int first = (int)kw_block(), blocks = (int)kw_blocks(), units = kw_work_units(a);
    for (int number = 0; kw_work_start(&work, a, lds, first + number * blocks); number++) {
        int count = work.end - work.first;
        if (KW_PINGPONG && number % 2 != group) {
            kw_ring_next(&at, count);
            continue;
        }
        kw_sums sums;
        int more = first + (number + 1) * blocks < units;
        if (KW_PINGPONG && number > 0) kw_waves_barrier(KW_TURN_BARRIER(group), 2 * KW_GROUP_THREADS);
#if KW_STAGES_RESIDUAL
        if (!kw_to_workspace(a)) kw_residual_load(&sums.residual, a, &work, first_row, 0); /* on its way while the tile is multiplied */
#endif
        if (count > 0) {
            kw_tile_multiply(&sums, lds, &at, first_row, count, group, more);
        } else {
            kw_sums_clear(&sums);
            if (KW_PINGPONG && more) kw_waves_arrive(KW_TURN_BARRIER(group ^ 1), 2 * KW_GROUP_THREADS);
        }
#if !KW_PASSES
        kw_sums_put(a, &work, &sums, first_row);
        (void)turn;
#else
        if (kw_to_workspace(a)) {
            kw_part_put(a, &work, &sums, first_row, a->shared + work.part * a->params.elements * 4);
            continue;
        }
#if KW_EPILOGUE && KW_OUT_BYTES == 4
        kw_sums_finish(a, &work, &sums, first_row);
        kw_part_put(a, &work, &sums, first_row, kw_result(a));
#else
        kw_tile_put(a, lds, &work, &sums, group, first_row, &turn);
#endif
#endif
    }
    if (KW_PASSES && kw_thread() % KW_GROUP_THREADS == 0 && !KW_ALIGNS) kw_store_wait_read(0); /* the launch's end waits for the rest */
}
#endif

KW_NAMED_KERNEL(KW_STAGE_RUN, KW_THREADS) {
    KW_LDS(KW_LDS_BYTES);
    if (kw_thread() == 0) {
        for (int i = 0; i < KW_STAGES; i++) {
            kw_mbar_init(kw_full_at(kw_lds, i), 1);
            kw_mbar_init(kw_empty_at(kw_lds, i), KW_PINGPONG ? KW_MULTIPLY_WAVES / 2 : KW_MULTIPLY_WAVES);
        }
        kw_mbar_fence();
    }
#if KW_FACTS_BYTES
    kw_facts_work_out(&args, (kw_facts *)(kw_lds + KW_FACTS_AT));
#endif
    if (kw_thread() == KW_MULTIPLY_THREADS) {
        kw_map_prefetch(&args.map[KW_A]);
        kw_map_prefetch(&args.map[KW_B]);
    }
    kw_barrier();
    kw_launch_wait();
    kw_launch_next();
    if (kw_wave() >= KW_MULTIPLY_WAVES) {
        kw_registers_give(KW_BRING_REGISTERS);
        if (kw_thread() == KW_MULTIPLY_THREADS) kw_tiles_bring(&args, kw_lds);
#if KW_TEAM > 1
        kw_cluster_pass();
#endif
    } else {
        kw_registers_take(KW_MULTIPLY_REGISTERS);
        kw_tiles_multiply(&args, kw_lds, kw_wave() / 4);
    }
}

#endif
