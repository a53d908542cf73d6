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
 * With streamk=stationary the second operand of a tile's steps lies in shared memory whole: copies of a block's first tile bring both operands, of
 * others the first alone.
 * With streamk=cluster a block has one tile, and of that a part of the depth; gpu/pipeline/cluster.h says how the parts meet.
 *
 * A stage has the rows of the first operand, then those of the second, as gpu/wgmma.h wants them: 128 bytes of a row together, or where
 * rows are contiguous slabs of 64 rows, depth by depth. The text that includes this gives
 *   kw_feed                            where the next step of a tile lies
 *   kw_feed_steps(args, &work)         steps of a tile
 *   kw_feed_start(&feed, args, &work)  at a tile and its first step
 *   kw_feed_bring(&feed, args, &work, to, bar, both) copies of both operands, or of the one that does not stay; goes on to the next step
 *   kw_operand(args, which)            an operand
 *   kw_result_put(args, &work, piece, row, col)       a piece of the result, at a row and column of the tile, from shared memory
 *   kw_result_row(args, &work, row, &ok)              where a row of the tile begins in the result
 *   kw_result_col(args, &work, col, &cols)            from there to a piece's first column; how many of its columns there are
 *   kw_direct_row(args, &work, row, &ok), kw_direct_col(args, &work, col, &ok)        of one element, their sum, where !KW_PASSES
 *   kw_direct_pairs(args)                             whether columns 2 n and 2 n + 1 lie together at a multiple of both
 *   kw_share_start(args, &work, col)                  what is stored begins at this column of the tile (KW_TEAM)
 * and where it has them
 *   KW_SUMS_JOIN(row, col)  whether a sum of the tile is one of the result, which is then stored by threads
 *   KW_PHASES         kw_feed_strides(args), above 1: rows of the result lie apart, as kw_apart_row_... say
 *   KW_STORES_CELLS   kw_feed_cells(args): zeros are stored beside them, as kw_cell_... say
 *   KW_BORDER         the same of all rows; gpu/pipeline/overlap_border.h says what else
 *   KW_SPOTS          kw_spots_cols(args), kw_spot_...: the result is stored elsewhere than its rows and columns say
 *   KW_FACTS_BYTES    kw_facts_work_out(args, facts), what a block knows; kw_work_phase(args, &work), which pixels the rows are */
#ifndef KW_OVERLAP_H
#define KW_OVERLAP_H

#include "gpu/pipeline/overlap_layout.h"

#ifndef KW_STORES_CELLS
#define KW_STORES_CELLS 0
#endif
#define KW_APART (KW_PHASES || KW_BORDER) /* rows of a tile may lie apart in the result */
#if KW_ALIGNS
#include "gpu/lib/align.h"
#endif

KW_DEVICE char *kw_full_at(char *lds, int stage) { return lds + KW_BARRIERS_AT + stage * KW_STAGE_BARRIER_BYTES; }
KW_DEVICE char *kw_empty_at(char *lds, int stage) { return kw_full_at(lds, stage) + 8; }

/* --- from tile to tile --- */

/* Where few steps make a tile, as in 1x1 layers, the operand that many tiles share would be half or more of what all tiles draw from the second-level cache,
 * and always the same: a.params.places says that it stays. That is the second operand, and blocks go down a column of tiles; of channels-first images
 * (KW_PLANES) the first, the weights, and blocks go along a row of tiles, image after image. Step s of each tile has the places s, s + steps, ...,
 * and after the first round copies bring the other operand alone. */
#define KW_KEEPS (KW_OP != KW_OP_CONV_BWD_WEIGHT && KW_TEAM == 1 && KW_PAIR == 1 && !KW_STATIONARY && !KW_ROW_GROUPS)
#define KW_KEEPS_FIRST (KW_KEEPS && KW_PLANES)
KW_DEVICE int kw_places(const kw_gpu_args *a) { return KW_KEEPS && a->params.places ? (int)a->params.places : KW_STAGES; }

/* Bands of tile rows (of pairs' rows half as many, of quads' a quarter), column by column in a band, so that blocks that run at the same time
 * share few rows and few columns. A division takes some hundred cycles, while nothing multiplies: most kernels have no parts and one batch, and
 * whole bands need none. */
#define KW_BAND ((KW_TILE_N > KW_TILE_M ? 16 : 8) / KW_PAIR)

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
    work->part = work->first = work->divided = 0;
    work->end = kw_feed_steps(a, work);
    return 1;
}
#else
KW_DEVICE int kw_work_units(const kw_gpu_args *a) { return (int)a->params.units * KW_PAIR; }

/* false: there is no such unit. */
KW_DEVICE int kw_work_start(kw_work *work, const kw_gpu_args *a, const char *lds, int unit) {
    if (unit >= kw_work_units(a)) return 0;
#if KW_PAIR > 1
    int rank = unit % KW_PAIR;
    unit /= KW_PAIR;
#else
    const int rank = 0;
#endif
    int splits = KW_SPLIT_K == 1 ? 1 : (int)a->params.splits, cols = (int)a->params.tile_cols, rows = (int)a->params.tile_rows;
    int at = unit, first_row = 0;
    work->batch = work->part = 0;
    work->divided = kw_to_workspace(a);
#if KW_TEAM > 1
    work->part = kw_cluster_rank();
    at /= KW_TEAM;
#else
    if (splits > 1) {
        int tail = 0; /* units before it */
#if KW_TAILS
        tail = (int)a->params.to_workspace - 1;
        work->divided = at >= tail;
        first_row = work->divided ? kw_tail_row(a) : 0;
        rows = work->divided ? rows - first_row : kw_tail_row(a);
#endif
        if (work->divided) {
            int tiles = ((int)a->params.units - tail) / splits;
            at -= tail;
            work->part = at / tiles;
            at -= work->part * tiles;
        } else {
            splits = 1;
        }
    }
#endif
    int all = rows * cols;
#if KW_KEEPS
    if (a->params.places) {
#if KW_KEEPS_FIRST
        int over = at / rows;
        work->batch = over / cols;
        work->row = (at - over * rows) * KW_TILE_M;
        work->col = (over - work->batch * cols) * KW_TILE_N;
#else
        int over = cols == 1 ? at : at / cols;
        work->row = over * KW_TILE_M;
        work->col = (at - over * cols) * KW_TILE_N;
#endif
#if KW_FACTS_BYTES
        work->facts = lds + KW_FACTS_AT;
        kw_work_phase(a, work);
#endif
        work->first = 0;
        work->end = kw_feed_steps(a, work);
        return 1;
    }
#endif
    if (at >= all) {
        work->batch = at / all;
        at -= work->batch * all;
    }
    int band = cols == 1 ? at / KW_BAND : at / (KW_BAND * cols), high = rows - band * KW_BAND, over;
    at -= band * KW_BAND * cols;
    over = high >= KW_BAND ? at / KW_BAND : at / high;
    work->row = ((first_row + band * KW_BAND + at - over * kw_min(high, KW_BAND)) * KW_PAIR + rank) * KW_TILE_M;
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

/* places: of so many; fewer than there are stages are no fewer than steps. */
KW_DEVICE void kw_ring_next(kw_ring *r, int steps, int places) {
    int at = r->stage + steps;
#if KW_KEEPS
    if (places < KW_STAGES) {
        int over = at >= places;
        r->parity ^= over;
        r->stage = over ? at - places : at;
        return;
    }
#endif
    r->parity ^= at / KW_STAGES & 1;
    r->stage = at % KW_STAGES;
}

/* One step, with all stages as places: no division. */
KW_DEVICE void kw_ring_step(kw_ring *r) {
    int over = r->stage + 1 == KW_STAGES;
    r->parity ^= over;
    r->stage = over ? 0 : r->stage + 1;
}

/* --- bringing: by one thread --- */

/* A block's first unit of a product is known before its threads meet and the launch before has ended: some hundred cycles, in which parameters
 * are read for the first time. Large tiles, whose launches are long, do without the text; a convolution's units take more registers than they save time. */
#define KW_BEGINS_AHEAD (KW_OP == KW_OP_GEMM && !KW_FACTS_BYTES && !KW_ROW_GROUPS && KW_TILE_M * KW_TILE_N <= 128 * 128)

#if !KW_BORDER
/* work, some: the first unit, with KW_BEGINS_AHEAD. */
KW_DEVICE void kw_tiles_bring(const kw_gpu_args *a, char *lds, kw_work work, int some) {
    kw_feed feed;
    kw_ring at = {0, 0};
    int places = kw_places(a),
        fresh = KW_KEEPS && a->params.places ? places : 0; /* fresh: steps to come that bring both operands; 0: all do */
    int both = 1;
    const int bytes_a = KW_STAGE_BYTES_A, bytes_b = KW_TILE_BYTES(KW_HELD_N);
    int unit = (int)kw_block();
    while (KW_BEGINS_AHEAD ? some : kw_work_start(&work, a, lds, unit)) {
        kw_feed_start(&feed, a, &work);
#if KW_STATIONARY
        feed.second = lds + KW_STATIONARY_AT;
#endif
        for (int step = work.first; step < work.end; step++) {
            char *full = kw_full_at(lds, at.stage);
            kw_mbar_wait(kw_empty_at(lds, at.stage), at.parity ^ 1);
            kw_mbar_expect(full, both ? bytes_a + bytes_b : KW_KEEPS_FIRST ? bytes_b : bytes_a);
            kw_feed_bring(&feed, a, &work, lds + at.stage * KW_STAGE_BYTES, full, both);
            kw_ring_next(&at, 1, places);
            if (fresh && --fresh == 0) both = 0;
        }
        if (KW_STATIONARY) both = 0;
        unit += (int)kw_blocks();
        if (KW_BEGINS_AHEAD) some = kw_work_start(&work, a, lds, unit);
    }
}
#endif

/* --- multiplying --- */

#define KW_GROUP_ROWS (KW_PINGPONG ? KW_TILE_M : KW_TILE_M / 2)
#define KW_OWN_STEPS (KW_TEAM > 1 && KW_PINGPONG ? 2 : 1) /* from one step of a group to its next */
#define KW_REPEAT_M (KW_GROUP_ROWS / KW_INST_M)
#if !KW_EMU && KW_REPEAT_M > KW_NAMED
#error gpu/matrix/wgmma.h has no names for so many sums
#endif

/* What a lane asks for of the epilogue's tensors before a tile is multiplied (gpu/pipeline/finish.h), as far as it has registers: what its columns and
 * rows share, and pieces of one that is added. It does so while the first step is multiplied (KW_ASKS_LATE), or before where there are
 * branches, behind which the compiler would wait for the products. */
#if KW_EPILOGUE && KW_PASSES && !KW_PASSES_TURNED && !KW_ALIGNS && KW_TEAM == 1
#define KW_STAGES_RESIDUAL (KW_OUT_BYTES == 2 && KW_RESIDUAL >= 0)
#define KW_FEW_SUMS (KW_TILE_M * KW_TILE_N <= 160 * (KW_PINGPONG ? 1 : 2) * KW_GROUP_WAVES * KW_WAVE)
#define KW_ASKS_AHEAD                                                                                                                      \
    (KW_PLANES_RESULT ? KW_EPILOGUE_ROW_BYTES == 0 : KW_EPILOGUE_CHANNEL_BYTES * KW_TILE_N <= 512 && (KW_FEW_SUMS || !KW_STAGES_RESIDUAL))
#else
#define KW_STAGES_RESIDUAL 0
#define KW_FEW_SUMS 0
#define KW_ASKS_AHEAD 0
#endif
#define KW_ASKS_LATE ((KW_ASKS_AHEAD || KW_STAGES_RESIDUAL) && KW_SUM_SETS == 1 && !KW_APART && !KW_PLANES_RESULT)
#define KW_RESIDUALS (KW_REPEAT_M * KW_TILE_N > KW_PIECE && KW_FEW_SUMS ? 2 : 1)

/* A lane's share of a piece of a tensor that is added to results: of each fourth of its wave's 16 rows, 8 columns. */
typedef struct kw_residual {
    kw_u32 w[4][4];
} kw_residual;

typedef struct kw_sums {
    kw_acc at[KW_REPEAT_M];
#if KW_STAGES_RESIDUAL
    kw_residual residual[KW_RESIDUALS]; /* of the next pieces */
#endif
#if KW_ASKS_AHEAD
    kw_u32 of_line[KW_REPEAT_M][2][KW_EXTRAS], across[KW_TILE_N / 8][KW_EXTRAS][2]; /* words of a value, and of two */
#endif
} kw_sums;

KW_DEVICE void kw_sums_take(kw_sums *sums) {
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++)
        kw_wgmma_take(&sums->at[i], i);
}

KW_DEVICE void kw_sums_clear(kw_sums *sums) {
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        KW_UNROLL
        for (int e = 0; e < KW_ACC_N; e++)
            sums->at[i].e[e] = 0;
    }
}

/* The operand of a step. Further on, by constants: from row on, of instruction number kk. Addresses stand in a descriptor's lowest bits, which
 * all of shared memory fits, so one addition moves it; made anew each would take several, between instructions that follow each other in
 * 32 cycles. */
KW_DEVICE kw_u64 kw_step_operand(const char *tile, int by_rows) {
    return by_rows ? kw_wgmma_slabs(tile, KW_SLAB_ELEMENTS * KW_SLAB_ROW_BYTES) : kw_wgmma_tile(tile);
}
KW_DEVICE kw_u64 kw_step_operand_at(kw_u64 operand, int by_rows, int row, int kk) {
    return operand + (kw_u64)((row * 128 + kk * KW_INST_K * (by_rows ? 128 : KW_BYTES)) >> 4);
}

/* Asks for the products of a tile's step, which lies in a stage. add false: the sums begin with them. */
KW_DEVICE void kw_step_multiply(kw_sums *sums, const char *lds, int in_stage, int step, int first_row, int add) {
    const char *stage = lds + in_stage * KW_STAGE_BYTES,
               *second = KW_STATIONARY ? lds + KW_STATIONARY_AT + step * KW_TILE_BYTES(KW_HELD_N) : stage + KW_STAGE_BYTES_A;
    kw_u64 a = kw_step_operand(stage + first_row * 128, KW_A_BY_ROWS), b = kw_step_operand(second, KW_B_BY_ROWS);
    kw_wgmma_fence();
    KW_UNROLL
    for (int kk = 0; kk < KW_TILE_K / KW_INST_K; kk++) {
        KW_UNROLL
        for (int i = 0; i < KW_REPEAT_M; i++)
            kw_wgmma_sum(&sums->at[i], i, kw_step_operand_at(a, KW_A_BY_ROWS, i * KW_INST_M, kk),
                         kw_step_operand_at(b, KW_B_BY_ROWS, 0, kk), add);
        add = 1;
    }
    kw_wgmma_commit();
}

KW_DEVICE void kw_stage_give(char *lds, int stage) {
#if KW_PAIR > 1
    if (kw_lane() < KW_PAIR) kw_mbar_arrive_at(kw_empty_at(lds, stage), kw_lane());
#else
    if (kw_lane() == 0) kw_mbar_arrive(kw_empty_at(lds, stage));
#endif
}

/* Named barriers: 1 and 2 of a group alone, 3 and 4 for a group's turn */
#define KW_GROUP_BARRIER(group) (1 + (group))
#define KW_TURN_BARRIER(group) (3 + (group))

/* --- storing --- */

/* Results of a border's tile pass pieces, and which pixels they are is worked out before. */
#define KW_STORES_PIXELS (KW_BORDER && KW_PASSES && KW_OUT_BYTES == 2)

#include "gpu/pipeline/overlap_store.h"

/* --- a tile --- */

#if KW_BORDER
#include "gpu/pipeline/overlap_border.h"
#elif KW_PICKS
#include "gpu/pipeline/overlap_picked.h"
#elif KW_SUM_SETS == 1
/* The products of a step are under way while the next one is waited for; then its place is given back. more: tiles that follow, whose
 * turn is the other group's. */
KW_DEVICE void kw_tile_multiply(kw_sums *sums, char *lds, kw_ring *at, int first_row, int count, int group, int more, const kw_gpu_args *a,
                                const kw_work *work) {
    int before = at->stage;
    kw_mbar_wait(kw_full_at(lds, at->stage), at->parity);
    kw_step_multiply(sums, lds, at->stage, 0, first_row, 0);
#if KW_ASKS_LATE
    kw_wave_barrier(); /* the compiler would ask for them before it multiplies */
    kw_sums_ahead(sums, a, work, first_row);
#endif
    kw_ring_next(at, KW_OWN_STEPS, kw_places(a));
    for (int step = 1; step < count; step++) {
        kw_mbar_wait(kw_full_at(lds, at->stage), at->parity);
        kw_step_multiply(sums, lds, at->stage, step, first_row, 1);
        kw_wgmma_wait(1);
        kw_stage_give(lds, before);
        before = at->stage;
        kw_ring_next(at, KW_OWN_STEPS, kw_places(a));
    }
    if (KW_PINGPONG && more) kw_waves_arrive(KW_TURN_BARRIER(group ^ 1), 2 * KW_GROUP_THREADS);
    kw_wgmma_wait(0);
    kw_stage_give(lds, before);
    kw_sums_take(sums);
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
KW_DEVICE void kw_tile_multiply(kw_sums *sums, char *lds, kw_ring *at, int first_row, int count, int group, int more, const kw_gpu_args *a,
                                const kw_work *work) {
    kw_sums_clear(sums);
    for (int step = 0; step < count; step++) {
        kw_sums own;
        kw_mbar_wait(kw_full_at(lds, at->stage), at->parity);
        kw_step_multiply(&own, lds, at->stage, step, first_row, 0);
        if (KW_PINGPONG && more && step + 1 == count) kw_waves_arrive(KW_TURN_BARRIER(group ^ 1), 2 * KW_GROUP_THREADS);
        kw_wgmma_wait(0);
        kw_stage_give(lds, at->stage);
        kw_sums_take(&own);
        kw_sums_add(sums, &own);
        kw_ring_next(at, KW_OWN_STEPS, kw_places(a));
    }
}
#endif

/* --- the block's loop --- */

#if KW_TEAM > 1
#include "gpu/pipeline/cluster.h"
#else
KW_DEVICE void kw_tiles_multiply(const kw_gpu_args *a, char *lds, int group) {
    kw_work work;
    kw_ring at = {0, 0};
#if KW_BORDER
    kw_ring border = {0, 0};
#endif
    int first_row = KW_PINGPONG ? 0 : group * KW_GROUP_ROWS, turn = 0;
    int first = (int)kw_block(), blocks = (int)kw_blocks(), units = kw_work_units(a);
    for (int number = 0; kw_work_start(&work, a, lds, first + number * blocks); number++) {
        int count = work.end - work.first;
        if (KW_PINGPONG && number % 2 != group) {
#if KW_BORDER
            kw_border_ring_next(&border, kw_border_count(&work), &work);
#endif
            kw_ring_next(&at, count, KW_BORDER ? KW_STAGES : kw_places(a));
            continue;
        }
        kw_sums sums;
        int more = first + (number + 1) * blocks < units;
#if (KW_ASKS_AHEAD || KW_STAGES_RESIDUAL) && !KW_ASKS_LATE
        if (!work.divided) kw_sums_ahead(&sums, a, &work, first_row); /* on its way while tiles are multiplied */
#endif
        if (KW_PINGPONG && number > 0) kw_waves_barrier(KW_TURN_BARRIER(group), 2 * KW_GROUP_THREADS);
        if (count > 0) {
#if KW_BORDER
            kw_border_tile_multiply(&sums, lds, &at, &border, first_row, group, more, a, &work);
#else
            kw_tile_multiply(&sums, lds, &at, first_row, count, group, more, a, &work);
#endif
        } else {
            kw_sums_clear(&sums);
#if KW_STORES_PIXELS
            kw_wave_barrier();
            kw_border_pixels_put(a, lds, &work, group, first_row);
#endif
#if KW_ASKS_LATE
            kw_sums_ahead(&sums, a, &work, first_row);
#endif
            if (KW_PINGPONG && more) kw_waves_arrive(KW_TURN_BARRIER(group ^ 1), 2 * KW_GROUP_THREADS);
        }
#if !KW_PASSES
        kw_sums_put(a, &work, &sums, first_row);
        (void)turn;
#else
        char *slice = a->shared + (work.part * a->params.elements - kw_tail_element(a)) * 4;
#if KW_OUT_BYTES == 4
#if KW_EPILOGUE
        if (!work.divided) kw_sums_finish(a, &work, &sums, first_row);
#endif
        kw_part_put(a, &work, &sums, first_row, work.divided ? slice : kw_result(a));
#else
        if (work.divided)
            kw_part_put(a, &work, &sums, first_row, slice);
        else
            kw_tile_put(a, lds, &work, &sums, group, first_row, &turn);
#endif
#endif
    }
    if (KW_PASSES && KW_PAIR == 1 && kw_thread() % KW_GROUP_THREADS == 0 && !KW_ALIGNS)
        kw_store_wait_read(0); /* the launch's end waits for the rest */
}
#endif

KW_NAMED_KERNEL(KW_STAGE_RUN, KW_THREADS) {
    KW_LDS(KW_LDS_BYTES);
    kw_work work = {0};
    int some = 0;
    kw_wgmma_name();
    if (kw_thread() == 0) {
        for (int i = 0; i < KW_STAGES + KW_BORDERS; i++) { /* those of a border behind the stages' */
            kw_mbar_init(kw_full_at(kw_lds, i), 1);
            kw_mbar_init(kw_empty_at(kw_lds, i), KW_PAIR * (KW_PINGPONG ? KW_MULTIPLY_WAVES / 2 : KW_MULTIPLY_WAVES));
        }
        kw_mbar_fence();
    }
#if KW_FACTS_BYTES
    kw_facts_work_out(&args, (kw_facts *)(kw_lds + KW_FACTS_AT));
#endif
    if (kw_thread() == KW_MULTIPLY_THREADS) {
        kw_map_prefetch(&args.map[KW_A]);
        kw_map_prefetch(&args.map[KW_B]);
        if (KW_BEGINS_AHEAD) some = kw_work_start(&work, &args, kw_lds, (int)kw_block());
    }
#if KW_PAIR > 1
    kw_cluster_barrier();
#else
    kw_barrier();
#endif
    kw_launch_wait();
    kw_launch_next();
    if (kw_wave() >= KW_MULTIPLY_WAVES) {
        kw_registers_give(KW_BRING_REGISTERS);
        if (kw_thread() == KW_MULTIPLY_THREADS) kw_tiles_bring(&args, kw_lds, work, some);
#if KW_TEAM > 1
        kw_cluster_pass();
#endif
    } else {
        kw_registers_take(KW_MULTIPLY_REGISTERS);
        kw_tiles_multiply(&args, kw_lds, kw_wave() / 4);
    }
#if KW_PAIR > 1
    kw_cluster_barrier(); /* the other block may still say that it is done with a stage */
    if (KW_PASSES && !KW_ALIGNS && kw_wave() < KW_MULTIPLY_WAVES && kw_thread() % KW_GROUP_THREADS == 0) kw_store_wait_read(0);
#endif
}

#endif
