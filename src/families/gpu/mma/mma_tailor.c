/* mma_tailor.c: tiles of pipe=cooperative and pingpong made to a problem's measure (kw_family.tailor). Their columns come in steps of 8,
 * and which of them a problem needs is a matter of counting: so many tiles that the multiprocessors' last round is full, and no more
 * columns than the result has. Of a thin product, whose tiles are few, blocks share a tile's depth besides, or its few rows or columns.
 * No list can have them all; each is compiled when it is met (docs/kernels/gpu-tailored.md). */
#include "base/math.h"
#include "families/gpu/mma/tailor.h"
#include "gpu/lib/resources.h"
#include "problem/epilogue/epilogue.h"

#include <math.h>

/* Rows of a block's tile. */
typedef struct height {
    kw_pipe pipe;
    int32_t rows;
} height;
static const height heights[] = {
    {KW_PIPE_PINGPONG, 64}, {KW_PIPE_PINGPONG, 128}, {KW_PIPE_COOPERATIVE, 128}, {KW_PIPE_PINGPONG, 192}, {KW_PIPE_COOPERATIVE, 256},
};
enum { COLS_MAX = 256, COLS_STEP = 8, IMAGE_STEP = 16, STAGES_MAX = 8, STAGES_MIN = 3, GROUP_ROWS = 64, STEP_BYTES = 128, INST_BYTES = 32 };
enum { SUMS = 192, LANES = 32 }; /* of a thread that multiplies, and threads of a wave */

/* Those that were found so far, the cheapest first. Thin products have places for each way in which blocks share (alone, pairs, quads,
 * clusters), as what is expected of one way says little of the others. */
enum { WAYS = 4, WAY_MAX = 3, ROUNDS_MAX = KW_TAILORED_MAX - WAYS * WAY_MAX };
typedef struct found {
    kw_mma tile[ROUNDS_MAX];
    double ns[ROUNDS_MAX];
    size_t count, most; /* most: places, ROUNDS_MAX or WAY_MAX */
} found;

static void keep_tile(found *f, const kw_mma *mma, double ns) {
    bool full = f->count == f->most;
    size_t at = full ? f->count - 1 : f->count;
    if (full && f->ns[at] <= ns) {
        return;
    }
    for (; at > 0 && f->ns[at - 1] > ns; at--) {
        f->tile[at] = f->tile[at - 1];
        f->ns[at] = f->ns[at - 1];
    }
    f->tile[at] = *mma;
    f->ns[at] = ns;
    f->count += !full;
}

/* As deep as shared memory has room for; 0 where that is too little. */
static int32_t stages_of(kw_mma *mma) {
    for (mma->stages = STAGES_MAX; mma->stages >= STAGES_MIN; mma->stages--) {
        if (kw_mma_stages_bytes(mma) <= mma->lds) {
            return mma->stages;
        }
    }
    return 0;
}

/* What a multiprocessor does in a nanosecond, and what a tile and a launch take besides, fitted to 1,100 tiles of 78 problems that an
 * H200 timed (docs/results/2026-11-28/nvidia-columns.md). */
static const double products_ns = 5800, drawn_ns = 77,
                    shows = 0.1; /* operations of 16 bits; bytes from the second-level cache; of the lesser of both */
static const double apart = 1.2; /* times the bytes where rows are contiguous and begin between lines of that cache */
static const double end_ns[] = {440, 770}, result_ns = 0.058; /* of a tile, of pingpong: its groups hide half of the results' way */
static const double divided_ns = 2600, part_ns = 2400;        /* a second stage; bytes of parts that all draw */

/* Time of the busiest multiprocessor, roughly: tiles in whole rounds, or parts of their depth, as split_k will say. */
static double busiest_ns(kw_mma *mma, const kw_mma_grid *grid, int64_t units, int64_t elements) {
    bool turns = mma->pipe == KW_PIPE_PINGPONG, cut = mma->tile[1] % KW_SLAB_ELEMENTS && grid->tile_cols > 1;
    double results = (double)mma->tile[0] * mma->tile[1], first = (double)mma->tile[0] * STEP_BYTES,
           second = (double)kw_mma_tile_bytes(mma) - first; /* more than its columns take where they are contiguous: whole slabs */
    bool slabs = second > (double)mma->tile[1] * STEP_BYTES;
    double products = results * mma->tile[2] * mma->bytes / products_ns, drawn = (first + second * (slabs && cut ? apart : 1)) / drawn_ns;
    double step = fmax(products, drawn) + shows * fmin(products, drawn), end = end_ns[turns] + result_ns * results / (turns ? 2 : 1);
    int64_t tiles = grid->tile_rows * grid->tile_cols * grid->batches, most = kw_max(1, kw_min(units / tiles, grid->steps / 2));
    double whole = (double)kw_ceil_div(tiles, units) * ((double)grid->steps * step + end);
    double parts =
        (double)kw_ceil_div(grid->steps, most) * step + end + divided_ns + 2.0 * (double)(most * elements * KW_SUM_BYTES) / part_ns;
    bool divided = mma->epi == KW_EPI_CSHUFFLE && most > 1 && parts < whole;
    mma->split_k = !divided;
    return divided ? parts : whole;
}

static void set_height(kw_mma *mma, const height *h) {
    mma->pipe = h->pipe;
    mma->wave_groups = mma->pipe == KW_PIPE_PINGPONG ? 2 : 1;
    mma->wave[0] = KW_GROUP_WAVES * (3 - mma->wave_groups);
    mma->tile[0] = h->rows;
}

/* For which a thread has registers, in whole runs. */
static int32_t most_columns(const kw_mma *mma) {
    int32_t sets = mma->bytes == 1 && !mma->fast ? 2 : 1, most = SUMS / sets * LANES * mma->wave[0] / mma->tile[0];
    return (most < COLS_MAX ? most : COLS_MAX) / COLS_STEP * COLS_STEP;
}

/* Of all columns those with which a tile fewer along them would not do. */
static void add_columns(found *f, kw_mma *mma, const kw_tailor_problem *p) {
    enum { LEAST = 16, LISTED = 64 }; /* columns that lists have, and multiples */
    int32_t step = mma->op == KW_GEMM ? COLS_STEP : IMAGE_STEP;
    int64_t cols = p->cols[mma->epi == KW_EPI_TURNED];
    bool listed = mma->epi == KW_EPI_CSHUFFLE && mma->bytes == 2 && !p->any_size;
    int32_t least = mma->op == KW_CONV_BWD_DATA ? LISTED : LEAST;
    for (int32_t each = most_columns(mma) / step * step; each >= least; each -= step) {
        int64_t count = kw_ceil_div(cols, each);
        mma->tile[1] = mma->inst[1] = each;
        if ((each % LISTED || !listed) && kw_round_up(kw_ceil_div(cols, count), step) == each && stages_of(mma)) {
            kw_mma_grid grid = p->grid(mma, p->problem);
            keep_tile(f, mma, busiest_ns(mma, &grid, kw_max(1, p->target->units), grid.elements));
        }
    }
}

/* --- thin products: few columns, or turned few rows, in a tile or two ---
 *
 * Tiles that are fewer than multiprocessors leave some idle, and a tile alone waits for memory as long as its depth is. So the blocks of
 * a cluster share its depth, or neighbours bring the few together, and where few bytes are on their way two blocks share a
 * multiprocessor, the second of which may be of the next launch. */

enum { THIN_COLS = 256, TILES_ACROSS = 2, THIN_STAGES = 16, TURNS_STAGES = 4, HALF_SUMS = 64, HALF_COLS = 104 };
static const height thin_heights[] = {
    {KW_PIPE_PINGPONG, 64},     {KW_PIPE_PINGPONG, 128},    {KW_PIPE_PINGPONG, 192},
    {KW_PIPE_COOPERATIVE, 128}, {KW_PIPE_COOPERATIVE, 256}, {KW_PIPE_COOPERATIVE, 384},
};

/* Fitted to 640 kernels of 39 thin products that an H200 timed (docs/results/2026-11-28/nvidia-products.md). */
static const double thin_products_ns = 6060, thin_drawn_ns = 167; /* a multiprocessor's operations and bytes in a nanosecond */
static const double thin_cache_ns = 7490, thin_memory_ns = 4500;  /* bytes that all draw from the second-level cache and from memory */
static const double copy_ns = 440, step_ns = 140;                 /* of a copy on its way; a step's waits */
static const double shared_ns = 26;                               /* a step's waits for the blocks that share it, besides */
static const double meeting_ns = 270, met_ns = 26;                /* of blocks that add their sums; bytes that a block sends there */
static const double thin_end_ns = 560, thin_result_ns = 0.146;    /* of a tile, and of each result */
static const double beside_ns = 190;  /* gained where a multiprocessor has room for a block of the next launch */
static const double thin_shows = 0.2; /* of the second longest beside the longest */

/* The longest of what goes on at the same time, a share of the next, and what nothing hides. */
static double thin_ns(const kw_mma *mma, const kw_problem *problem, int64_t rounds, int64_t steps, int64_t blocks) {
    double team = kw_mma_cluster(mma), results = (double)mma->tile[0] * mma->tile[1];
    double first = (double)mma->tile[0] * STEP_BYTES, drawn = first + ((double)kw_mma_tile_bytes(mma) - first) / kw_mma_pair(mma);
    bool twice = kw_mma_blocks_held(mma) > 1, turns = mma->pipe == KW_PIPE_PINGPONG;
    double on_way = drawn * (double)kw_min(mma->stages, steps) * (twice && rounds > 1 ? 2 : 1), count = (double)(rounds * steps);
    double parts[] = {count * drawn * (1 / thin_drawn_ns + copy_ns / on_way), count * (step_ns + (kw_mma_pair(mma) > 1 ? shared_ns : 0)),
                      count * results * 2 * mma->tile[2] / thin_products_ns, (double)(blocks * steps) * drawn / thin_cache_ns,
                      (double)kw_problem_bytes(problem) / thin_memory_ns};
    double longest = 0, next = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        next = fmax(next, fmin(longest, parts[i]));
        longest = fmax(longest, parts[i]);
    }
    double meeting = team > 1 ? meeting_ns + (double)rounds * mma->wave_groups * results * KW_SUM_BYTES / met_ns : 0;
    return longest + thin_shows * next + meeting + (double)rounds * (thin_end_ns + thin_result_ns * results / team / (turns ? 2 : 1)) -
           (twice ? beside_ns : 0);
}

/* As deep as a multiprocessor, or half of one, has room for, but no deeper than a block has steps; 0 where that is too little, or half
 * would do. */
static int32_t thin_stages(kw_mma *mma, int64_t steps, bool twice) {
    bool in_turns = mma->pipe == KW_PIPE_PINGPONG && kw_mma_cluster(mma) > 1;
    int32_t least = twice || in_turns ? TURNS_STAGES : STAGES_MIN, step = in_turns ? 2 : 1;
    mma->stages = (int32_t)kw_max(least, kw_min(THIN_STAGES, steps)) / step * step;
    while (mma->stages >= least && kw_mma_stages_bytes(mma) > (twice ? KW_HALF_LDS : mma->lds)) {
        mma->stages -= step;
    }
    return mma->stages < least || (kw_mma_blocks_held(mma) > 1) != twice ? 0 : mma->stages;
}

/* A tile of so many rows and columns, its blocks as team (split_k) and pair (streamk) say. */
static void add_thin(found *f, kw_mma *mma, const kw_tailor_problem *p) {
    kw_mma_grid grid = p->grid(mma, p->problem);
    int32_t team = kw_mma_cluster(mma), pair = kw_mma_pair(mma);
    int64_t steps = kw_ceil_div(grid.steps, team), clusters = kw_ceil_div(grid.tile_rows, pair) * grid.tile_cols * grid.batches;
    int64_t rounds = kw_ceil_div(clusters, kw_mma_clusters_held(team * pair, kw_max(1, p->target->units)));
    if (team > 1 && (team > grid.steps || rounds > 1)) {
        return;
    }
    for (int twice = 0; twice < 2; twice++) {
        bool room = !twice || (mma->tile[1] <= HALF_COLS && mma->tile[0] * mma->tile[1] <= HALF_SUMS * LANES * mma->wave[0]);
        if (room && thin_stages(mma, steps, twice) && kw_mma_cluster_bytes(mma) <= kw_mma_tile_bytes(mma) * mma->stages) {
            keep_tile(f, mma, thin_ns(mma, p->problem, rounds, steps, clusters * team * pair));
        }
    }
}

/* The tile alone, in pairs and quads, whose columns they divide evenly, and with its depth among 2 to 8. */
static void add_shared(found f[WAYS], kw_mma *mma, const kw_tailor_problem *p, int32_t cols, int32_t most) {
    static const struct {
        kw_streamk streamk;
        int32_t blocks;
    } ways[] = {{KW_STREAMK_OFF, 1}, {KW_STREAMK_PAIR, 2}, {KW_STREAMK_QUAD, 4}};
    bool turned = mma->epi == KW_EPI_TURNED;
    mma->persistent = mma->split_k = 1;
    mma->vec[2] = KW_ACCESS_BYTES / 2;
    mma->epi = turned ? KW_EPI_TURNED : KW_EPI_CSHUFFLE;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++, f++) {
        mma->streamk = ways[i].streamk;
        mma->tile[1] = mma->inst[1] = (int32_t)kw_round_up(cols, COLS_STEP * ways[i].blocks);
        if (mma->tile[1] <= most) {
            add_thin(f, mma, p);
        }
    }
    mma->streamk = KW_STREAMK_CLUSTER;
    mma->tile[1] = mma->inst[1] = cols;
    mma->vec[2] = 1;
    mma->persistent = 0;
    mma->epi = turned ? KW_EPI_TURNED : KW_EPI_DEFAULT;
    for (mma->split_k = 2; mma->split_k <= KW_MMA_CLUSTER_MAX; mma->split_k++) {
        add_thin(f, mma, p);
    }
}

static void add_thin_tiles(found f[WAYS], kw_mma *mma, const kw_tailor_problem *p) {
    for (int turned = 0; turned < 2; turned++) {
        int64_t cols = p->cols[turned];
        for (size_t i = 0; i < sizeof thin_heights / sizeof *thin_heights && cols <= THIN_COLS; i++) {
            set_height(mma, &thin_heights[i]);
            int32_t most = most_columns(mma);
            for (int64_t across = 1; across <= TILES_ACROSS; across++) {
                int64_t each = kw_round_up(kw_ceil_div(cols, across), COLS_STEP);
                mma->epi = turned ? KW_EPI_TURNED : KW_EPI_CSHUFFLE;
                if (each <= most && kw_ceil_div(cols, each) == across) {
                    add_shared(f, mma, p, (int32_t)each, most);
                }
            }
        }
    }
}

static size_t write_tiles(const found *f, const kw_family *family, kw_config configs[]) {
    for (size_t i = 0; i < f->count; i++) {
        configs[i] = kw_mma_write(&f->tile[i], family);
    }
    return f->count;
}

size_t kw_mma_tailor(const kw_family *family, const kw_tailor_problem *p, kw_config configs[KW_TAILORED_MAX]) {
    const kw_problem *problem = p->problem;
    kw_config any = {.family = family, .op = problem->op, .dtype = problem->dtype};
    kw_mma mma = kw_mma_read(&any, p->target);
    if (!mma.arch || !kw_gpu_arch_has(mma.arch, KW_GPU_tma) || !kw_gpu_arch_has(mma.arch, KW_GPU_wgmma) ||
        !kw_epilogue_is_bare(&problem->epilogue)) {
        return 0;
    }
    found f = {.most = ROUNDS_MAX}, thin[WAYS] = {{.most = WAY_MAX}, {.most = WAY_MAX}, {.most = WAY_MAX}, {.most = WAY_MAX}};
    int32_t run = p->any_size ? 1 : KW_ACCESS_BYTES / mma.bytes, results = p->any_size ? 1 : mma.bytes == 4 ? run : KW_ACCESS_BYTES / 2;
    mma.fast = problem->fpmath == KW_FPMATH_FAST_ACCUM;
    mma.ndim = problem->ndim;
    mma.layout = problem->op == KW_GEMM ? (int32_t)problem->layout : 0;
    mma.merge = mma.persistent = 1;
    mma.index = 32;
    mma.tile[2] = STEP_BYTES / mma.bytes;
    mma.inst[0] = GROUP_ROWS;
    mma.inst[2] = INST_BYTES / mma.bytes;
    mma.vec[0] = mma.vec[1] = run;
    mma.vec[2] = results;
    mma.pad[0] = mma.pad[1] = mma.pad[2] = 1;
    mma.wave[1] = mma.wave[2] = 1;
    for (int turned = 0; turned < (p->turns ? 2 : 1); turned++) {
        mma.epi = turned ? KW_EPI_TURNED : KW_EPI_CSHUFFLE;
        for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
            set_height(&mma, &heights[i]);
            add_columns(&f, &mma, p);
        }
    }
    if (p->turns) {
        add_thin_tiles(thin, &mma, p);
    }
    size_t count = write_tiles(&f, family, configs);
    for (size_t i = 0; i < WAYS; i++) {
        count += write_tiles(&thin[i], family, configs + count);
    }
    return count;
}
