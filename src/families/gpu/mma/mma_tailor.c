/* mma_tailor.c: tiles of pipe=cooperative and pingpong made to a problem's measure (kw_family.tailor). Their columns come in steps of 8, and which of
 * them a problem needs is a matter of counting: so many tiles that the multiprocessors' last round is full, and no more columns than the result has.
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

/* Those that were found so far, the cheapest first. */
typedef struct found {
    kw_mma tile[KW_TAILORED_MAX];
    double ns[KW_TAILORED_MAX];
    size_t count;
} found;

static void keep_tile(found *f, const kw_mma *mma, double ns) {
    bool full = f->count == KW_TAILORED_MAX;
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

/* What a multiprocessor does in a nanosecond, and what a tile and a launch take besides, fitted to 1,100 tiles of 78 problems that an H200 timed
 * (docs/results/2026-11-28/nvidia-columns.md). */
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

/* Of all columns those with which a tile fewer along them would not do. */
static void add_columns(found *f, kw_mma *mma, const kw_tailor_problem *p) {
    enum {
        SUMS = 192,
        LANES = 32,
        LEAST = 16,
        LISTED = 64
    }; /* sums that a thread has registers for; columns that lists have, and multiples */
    int32_t step = mma->op == KW_GEMM ? COLS_STEP : IMAGE_STEP, sets = mma->bytes == 1 && !mma->fast ? 2 : 1;
    int32_t most = SUMS / sets * LANES * mma->wave[0] / mma->tile[0];
    int64_t cols = p->cols[mma->epi == KW_EPI_TURNED];
    bool listed = mma->epi == KW_EPI_CSHUFFLE && mma->bytes == 2 && !p->any_size;
    int32_t least = mma->op == KW_CONV_BWD_DATA ? LISTED : LEAST;
    for (int32_t each = (most < COLS_MAX ? most : COLS_MAX) / step * step; each >= least; each -= step) {
        int64_t count = kw_ceil_div(cols, each);
        mma->tile[1] = mma->inst[1] = each;
        if ((each % LISTED || !listed) && kw_round_up(kw_ceil_div(cols, count), step) == each && stages_of(mma)) {
            kw_mma_grid grid = p->grid(mma, p->problem);
            keep_tile(f, mma, busiest_ns(mma, &grid, kw_max(1, p->target->units), grid.elements));
        }
    }
}

size_t kw_mma_tailor(const kw_family *family, const kw_tailor_problem *p, kw_config configs[KW_TAILORED_MAX]) {
    const kw_problem *problem = p->problem;
    kw_config any = {.family = family, .op = problem->op, .dtype = problem->dtype};
    kw_mma mma = kw_mma_read(&any, p->target);
    if (!mma.arch || !kw_gpu_arch_has(mma.arch, KW_GPU_tma) || !kw_gpu_arch_has(mma.arch, KW_GPU_wgmma) ||
        !kw_epilogue_is_bare(&problem->epilogue)) {
        return 0;
    }
    found f = {0};
    int32_t run = p->any_size ? 1 : KW_ACCESS_BYTES / mma.bytes, results = p->any_size ? 1 : KW_ACCESS_BYTES / 2;
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
            mma.pipe = heights[i].pipe;
            mma.wave_groups = mma.pipe == KW_PIPE_PINGPONG ? 2 : 1;
            mma.wave[0] = KW_GROUP_WAVES * (3 - mma.wave_groups);
            mma.tile[0] = heights[i].rows;
            add_columns(&f, &mma, p);
        }
    }
    for (size_t i = 0; i < f.count; i++) {
        configs[i] = kw_mma_write(&f.tile[i], family);
    }
    return f.count;
}
