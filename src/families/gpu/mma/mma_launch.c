/* mma_launch.c: how many blocks compute a product, and what they share. A block computes a tile, or a part of its depth, or with stream-K
 * an equal share of all steps; kernels/gpu/lib/work.h is the other side of this. */
#include "base/math.h"
#include "families/gpu/mma/mma.h"
#include "gpu/gemm/args.h"
#include "gpu/igemm/args.h"
#define KW_CEIL kw_ceil_div
#include "gpu/lib/resources.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

_Static_assert(offsetof(kw_igemm_params, to_workspace) == offsetof(kw_work_params, to_workspace) &&
                   offsetof(kw_gemm_mma_params, to_workspace) == offsetof(kw_work_params, to_workspace),
               "both params begin with those of the work");
enum { SPLITS_MAX = 128 };

bool kw_mma_grid_is_counted(const kw_mma_grid *grid) {
    bool good = true;
    int64_t units = kw_mul(kw_mul(kw_mul(grid->tile_rows, grid->tile_cols, &good), grid->batches, &good), SPLITS_MAX, &good);
    return good && units <= INT32_MAX;
}

/* Blocks that a multiprocessor holds at once, by its shared memory and its waves; registers are not known before compiling, so two at
 * most. */
static int64_t blocks_held(const kw_mma *mma, const kw_target *target) {
    if (kw_mma_overlaps(mma)) {
        return kw_mma_blocks_held(mma);
    }
    int64_t tile = kw_mma_tile_bytes(mma) * mma->stages;
    int64_t by_lds = target->unit_lds / kw_max(1, tile), by_waves = target->unit_waves / kw_mma_waves(mma);
    return kw_max(1, kw_min(2, kw_min(by_lds, by_waves)));
}

/* What a block that stays does in a nanosecond, roughly: of a multiprocessor's products of 16 bits, and of what it draws from the second-level cache;
 * the end of a tile that nothing hides; the second stage; what all draw together from that cache. */
static const double products_ns = 6000, drawn_ns = 70, tile_end_ns = 700, add_stage_ns = 2500, cache_ns = 4000;

/* How a product is divided: its first tiles are whole, of those behind them, the tail, each has so many parts. 1: nothing is divided. */
typedef struct division {
    int64_t whole, splits;
    int64_t elements; /* of the result's rows that are divided */
} division;

/* Every tile, but those of so many rows. */
static division division_behind(const kw_mma *mma, const kw_mma_grid *grid, int64_t rows, int64_t splits) {
    return (division){rows * grid->tile_cols, splits, grid->elements - rows * mma->tile[0] * grid->row};
}

static double division_ns(const kw_mma *mma, const kw_mma_grid *grid, const division *d, int64_t resident) {
    double products = 2.0 * mma->tile[0] * mma->tile[1] * mma->tile[2],
           drawn = grid->drawn > 0 ? grid->drawn : (double)kw_mma_tile_bytes(mma);
    double step = fmax(products * mma->bytes / (2 * products_ns), drawn / drawn_ns) * kw_mma_blocks_held(mma);
    int64_t tiles = grid->tile_rows * grid->tile_cols * grid->batches, each = kw_ceil_div(grid->steps, d->splits);
    int64_t rounds = kw_ceil_div(d->whole, resident), places = rounds * resident - d->whole; /* which parts take */
    int64_t more = kw_ceil_div(kw_max(0, (tiles - d->whole) * d->splits - places), resident);
    double way = 2.0 * (double)(d->splits * d->elements * KW_SUM_BYTES);
    return (double)rounds * ((double)grid->steps * step + tile_end_ns) + (double)more * ((double)each * step + tile_end_ns) +
           (d->splits > 1 ? add_stage_ns + way / cache_ns : 0);
}

/* For split_k=0 of blocks that stay: what is done first, by rounds of blocks, steps of a part, and the way of the sums through the
 * workspace. A tail begins behind a whole count of rounds, as far as whole rows of tiles go. */
static division division_of_rounds(const kw_mma *mma, const kw_mma_grid *grid, int64_t resident) {
    division best = division_behind(mma, grid, 0, 1);
    double least = INFINITY;
    int64_t most = kw_min(SPLITS_MAX, kw_max(1, grid->steps / 2)), full = grid->tile_rows * grid->tile_cols / resident;
    int64_t tails = kw_mma_has_tails(mma) && grid->row ? kw_min(2, full) : 0;
    for (int64_t splits = 1; splits <= most; splits++) {
        int64_t each = kw_ceil_div(grid->steps, splits);
        if (kw_ceil_div(grid->steps, each) != splits) {
            continue;
        }
        for (int64_t i = 0; i <= (splits > 1 ? tails : 0); i++) {
            int64_t rows = i ? (full - (i - 1)) * resident / grid->tile_cols : 0;
            division d = division_behind(mma, grid, rows, splits);
            double ns = rows < grid->tile_rows ? division_ns(mma, grid, &d, resident) : INFINITY;
            if (ns < least) {
                least = ns;
                best = d;
            }
        }
    }
    return best;
}

/* For split_k=0 of other blocks: as many parts as give each multiprocessor two, but no part of fewer than four steps. */
static division division_of(const kw_mma *mma, const kw_mma_grid *grid, int64_t tiles, const kw_target *target, int64_t resident) {
    if (mma->split_k || mma->one_part) {
        return division_behind(mma, grid, 0, kw_max(1, mma->split_k));
    }
    if (kw_mma_overlaps(mma)) {
        return division_of_rounds(mma, grid, resident);
    }
    int64_t wanted = kw_ceil_div(2 * kw_max(1, target->units), tiles), most = kw_max(1, grid->steps / 4);
    int64_t splits = kw_min(kw_min(wanted, most), SPLITS_MAX);
    return division_behind(mma, grid, 0, kw_ceil_div(grid->steps, kw_ceil_div(grid->steps, splits)));
}

/* Whether the operand that all tiles of a column share, of channels-first images all of a row, stays in a block's stages, and in how many: where
 * blocks have several such tiles each, in hardly more rounds than before, and the steps of a tile fit. blocks: becomes as many as columns or rows have
 * alike. */
static int64_t places_kept(const kw_mma *mma, const kw_mma_grid *grid, int64_t *blocks) {
    bool planes = kw_mma_planes(mma), able = kw_mma_overlaps(mma) && mma->persistent && kw_mma_pair(mma) == 1 &&
                                             !kw_mma_is_stationary(mma) && mma->op != KW_CONV_BWD_WEIGHT && !mma->row_groups;
    int64_t lines = planes ? grid->tile_rows : grid->tile_cols, tiles = grid->tile_rows * grid->tile_cols * grid->batches;
    if (!able || (!planes && grid->batches != 1) || grid->uneven || grid->steps < 1 || grid->steps > mma->stages || *blocks < lines) {
        return 0;
    }
    enum { MORE = 32 }; /* one round in so many */
    int64_t each = *blocks / lines, rounds = kw_ceil_div(tiles / lines, each), before = kw_ceil_div(tiles, *blocks);
    if (rounds < 2 || rounds > before + before / MORE) {
        return 0;
    }
    *blocks = each * lines;
    return mma->stages / grid->steps * grid->steps;
}

static void launch_parts(const kw_mma *mma, const kw_mma_grid *grid, const kw_target *target, int64_t resident, kw_launch *launch) {
    kw_work_params *work = kw_launch_params(launch, kw_work_params);
    const division d = division_of(mma, grid, work->units, target, resident);
    bool clusters = kw_mma_cluster(mma) > 1, workspace = (d.splits > 1 && !clusters) || mma->two_stage;
    work->splits = d.splits;
    work->units = d.whole + (work->units - d.whole) * d.splits;
    work->elements = d.elements;
    work->to_workspace = workspace ? 1 + d.whole : 0;
    launch->cluster[0] = clusters ? kw_mma_cluster(mma) : kw_mma_pair(mma) > 1 ? kw_mma_pair(mma) : 0;
    launch->stage[0].units = (mma->persistent ? kw_min(resident, work->units) : work->units) * kw_mma_pair(mma);
    work->places = d.splits > 1 || workspace ? 0 : places_kept(mma, grid, &launch->stage[0].units);
    if (workspace) {
        launch->stages = 2;
        launch->stage[1] = (kw_stage){kw_ceil_div(d.elements, KW_ADD_THREADS), false, KW_ADD_THREADS};
        launch->shared_bytes = d.splits * d.elements * KW_SUM_BYTES;
    }
}

/* Blocks of stream-K: as many as the device holds at once (persistent), or four times as many smaller shares. */
static void launch_stream(const kw_mma *mma, const kw_mma_grid *grid, int64_t resident, kw_launch *launch) {
    kw_work_params *work = kw_launch_params(launch, kw_work_params);
    int64_t tiles = work->units, blocks = kw_min(mma->persistent ? resident : 4 * resident, tiles * grid->steps);
    work->splits = blocks;
    launch->stage[0].units = blocks;
    launch->stages = 2;
    launch->stage[1] = (kw_stage){tiles, false, launch->stage[0].threads};
    launch->shared_bytes = 2 * blocks * mma->tile[0] * mma->tile[1] * KW_SUM_BYTES;
}

kw_map kw_mma_box_map(kw_tensor tensor, kw_dtype dtype, const int64_t extent[3], const int64_t stride[2], const int32_t box[3]) {
    return (kw_map){.tensor = tensor,
                    .dtype = dtype,
                    .rank = 3,
                    .extent = {extent[0], extent[1], extent[2]},
                    .stride = {stride[0], stride[1]},
                    .box = {box[0], box[1], box[2]},
                    .swizzle = true};
}

kw_map kw_mma_bulk_map(kw_tensor tensor, kw_dtype dtype, const int64_t extent[3], int64_t row, int64_t batch, int32_t tile) {
    int32_t inner = KW_SLAB_ROW_BYTES / (int32_t)kw_dtype_size(dtype);
    kw_map map = kw_mma_box_map(tensor, dtype, extent, (const int64_t[2]){row, batch}, (const int32_t[3]){inner, tile, 1});
    map.tf32 = dtype == KW_FP32; /* which the instruction cuts to that anyway */
    return map;
}

/* kw_copy_blocks() of gpu/lib/align.h: with kw_mma_copies_turn() a block copies of one operand. */
static int64_t copy_blocks(const kw_mma *mma, const kw_map *map, int operand, int64_t rows, int64_t bytes) {
    bool turned = mma->op != KW_GEMM ? operand == 1 && mma->op != KW_CONV_FWD
                  : operand          ? KW_GEMM_B_BY_ROWS(mma->layout)
                                     : KW_GEMM_A_BY_ROWS(mma->layout);
    int64_t lines = mma->op == KW_GEMM ? map->extent[1] : rows; /* of one matrix */
    return turned ? rows / lines * kw_mma_turning_blocks(mma, lines, kw_mma_row_bytes(mma, map->extent[0]) / KW_ACCESS_BYTES)
                  : kw_ceil_div(bytes / KW_ACCESS_BYTES, KW_ADD_THREADS);
}

void kw_mma_align_operands(const kw_mma *mma, int64_t first_rows, int64_t second_rows, kw_launch *launch) {
    const int64_t rows[2] = {first_rows, second_rows};
    int64_t pieces = 0;
    for (int i = launch->stages++; i > 0; i--) {
        launch->stage[i] = launch->stage[i - 1];
        launch->early[i] = launch->early[i - 1];
        launch->cluster[i] = launch->cluster[i - 1];
    }
    for (int i = 0; i < 2; i++) {
        kw_map *map = &launch->map[i];
        if (map->copied || (mma->op != KW_GEMM && map->extent[0] * mma->bytes % KW_ACCESS_BYTES)) {
            int64_t bytes = rows[i] * kw_mma_row_bytes(mma, map->extent[0]);
            map->copied = true;
            map->copied_at = kw_round_up(launch->shared_bytes, KW_COPIES_AT(1));
            launch->shared_bytes = map->copied_at + bytes;
            launch->copied_bytes += 2 * (double)bytes;
            pieces += kw_mma_copies_turn(mma) ? copy_blocks(mma, map, i, rows[i], bytes) * KW_ADD_THREADS : bytes / KW_ACCESS_BYTES;
        }
    }
    launch->stage[0] = (kw_stage){kw_ceil_div(pieces, KW_ADD_THREADS), false, KW_ADD_THREADS};
    launch->cluster[0] = 0;
}

/* Asynchronous copies are of 16 bytes or of 4. */
static int64_t elements_of_copy(const kw_mma *mma, int operand, bool asynchronous) {
    enum { COPY_BYTES = 16, SHORT_COPY_BYTES = 4 };
    bool is_short = asynchronous && mma->vec[operand] * mma->bytes < COPY_BYTES;
    return kw_max(1, is_short ? SHORT_COPY_BYTES / mma->bytes : mma->vec[operand]);
}

/* For the estimate: how the operands of so many steps of a tile come. */
static void count_copies(const kw_mma *mma, double steps, kw_launch *launch) {
    if (mma->pipe == KW_PIPE_TMA || mma->pipe == KW_PIPE_COOPERATIVE || mma->pipe == KW_PIPE_PINGPONG) {
        return;
    }
    bool asynchronous = mma->pipe == KW_PIPE_COMP_ASYNC || mma->pipe == KW_PIPE_BASIC_ASYNC_V1;
    double depth = steps * (double)mma->tile[2];
    launch->lane_copies = depth * (double)mma->tile[0] / (double)elements_of_copy(mma, 0, asynchronous) +
                          depth * (double)mma->tile[1] / (double)elements_of_copy(mma, 1, asynchronous);
    launch->by_registers = !asynchronous && mma->pipe != KW_PIPE_GATHER;
}

void kw_mma_launch(const kw_mma *mma, const kw_mma_grid *grid, const kw_target *target, kw_launch *launch) {
    assert(kw_mma_grid_is_counted(grid)); /* a rule of both families */
    kw_mma_grid pairs = *grid;            /* rows of tiles in pairs, blocks too */
    pairs.tile_rows = kw_ceil_div(pairs.tile_rows, kw_mma_pair(mma));
    grid = &pairs;
    int64_t tiles = grid->tile_rows * grid->tile_cols * grid->batches, lanes = kw_max(1, target->lanes);
    int64_t resident = kw_mma_clusters_held(kw_mma_pair(mma), kw_max(1, target->units) * blocks_held(mma, target));
    *launch = (kw_launch){.stages = 1, .stage = {{tiles, false, kw_mma_waves(mma) * (int32_t)lanes}}};
    launch->early[0] = launch->early[1] = kw_gpu_arch_has(mma->arch, KW_GPU_tma);
    *kw_launch_params(launch, kw_work_params) =
        (kw_work_params){.tile_rows = grid->tile_rows, .tile_cols = grid->tile_cols, .units = tiles, .elements = grid->elements};
    if (kw_mma_streams(mma)) {
        launch_stream(mma, grid, resident, launch);
    } else {
        launch_parts(mma, grid, target, resident, launch);
    }
    tiles *= kw_mma_pair(mma); /* of blocks, of which each has one */
    double instructions = 1, reads = 0;
    for (int i = 0; i < 3; i++) {
        instructions *= (double)mma->tile[i] / (double)mma->inst[i];
    }
    /* Each wave reads its rows of both operands once a step; other waves read the same rows again. */
    reads = (double)(mma->tile[0] * mma->wave[1] + mma->tile[1] * mma->wave[0]) * (double)mma->tile[2] / (double)(16 * lanes);
    launch->multiply_adds = instructions * (double)(tiles * grid->steps);
    launch->loads = reads * (double)(tiles * grid->steps);
    launch->copied_bytes = 2 * (double)launch->shared_bytes;
    launch->products = (double)(tiles * grid->steps) * (double)mma->tile[0] * (double)mma->tile[1] * (double)mma->tile[2] *
                       (grid->multiplied > 0 ? grid->multiplied : 1);
    launch->tiles = (double)kw_max(launch->stage[0].units, kw_launch_params_of(launch, kw_work_params)->units * kw_mma_pair(mma));
    if (grid->drawn > 0) {
        bool stays = kw_launch_params_of(launch, kw_work_params)->places > 0;
        launch->drawn_bytes =
            (double)(tiles * grid->steps) * (grid->drawn - (stays ? (double)(mma->tile[1] * mma->tile[2] * mma->bytes) : 0));
    }
    if (kw_mma_is_stationary(mma)) {
        int64_t lines = tiles * mma->tile[0] + launch->stage[0].units * mma->tile[1];
        launch->drawn_bytes = (double)(lines * grid->steps * mma->tile[2] * mma->bytes);
    }
    count_copies(mma, (double)(tiles * grid->steps), launch);
}
