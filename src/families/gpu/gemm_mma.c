/* gemm_mma.c: matrix products by tiles in shared memory and matrix instructions, in the four layouts. The kernel text is kernels/gpu/gemm.c. */
#include "base/math.h"
#include "families/gpu/defines.h"
#include "families/gpu/mma/rules.h"

#define ROW(name, words, low, high, meaning) {#name, words, low, high, meaning},
static const kw_axis axes[] = {KW_GEMM_AXES(ROW)};
#undef ROW

static kw_mma_grid gemm_grid(const kw_mma *mma, const kw_problem *problem) {
    const kw_gemm_dims *d = &problem->gemm;
    return (kw_mma_grid){.tile_rows = kw_ceil_div(d->m, mma->tile[0]),
                         .tile_cols = kw_ceil_div(d->n, mma->tile[1]),
                         .batches = d->batch,
                         .steps = kw_ceil_div(d->k, mma->tile[2]),
                         .elements = kw_problem_elements(problem, KW_Y)};
}

static kw_status gemm_mma_fits(const kw_config *config, const kw_problem *problem, kw_error *why) {
    kw_mma mma = kw_mma_read(config);
    const int64_t size[3] = {problem->gemm.m, problem->gemm.n, problem->gemm.k};
    if (problem->layout != (kw_layout)mma.layout) {
        return kw_fail(why, KW_NO_KERNEL, "the config is for another layout than the problem's");
    }
    for (int i = 0; i < 3; i++) {
        if (!mma.pad[i] && size[i] % mma.tile[i]) {
            return kw_fail(why, KW_NO_KERNEL, "%c = %lld is no multiple of tile_%c=%d; pad_%c=1 serves it", "mnk"[i], (long long)size[i],
                           "mnk"[i], (int)mma.tile[i], "mnk"[i]);
        }
    }
    /* What runs along which size: A and B by their layouts, C by columns. */
    const int64_t runs[3] = {mma.layout == KW_RCR || mma.layout == KW_RRR ? size[2] : size[0],
                             mma.layout == KW_RRR || mma.layout == KW_CRR ? size[1] : size[2], size[1]};
    for (int i = 0; i < 3; i++) {
        if (runs[i] % mma.vec[i]) {
            return kw_fail(why, KW_NO_KERNEL, "vec_%c=%d does not divide %lld elements; vec_%c=1 serves any", "abc"[i], (int)mma.vec[i],
                           (long long)runs[i], "abc"[i]);
        }
        int64_t matrix = i == 0 ? size[0] * size[2] : i == 1 ? size[1] * size[2] : size[0] * size[1];
        if (mma.index == 32 && (matrix > KW_OFFSET_MAX || matrix * mma.bytes > INT32_MAX)) {
            return kw_fail(why, KW_NO_KERNEL, "a matrix has %lld elements; index=32 reaches 2 GiB and 2^30 elements, index=64 any",
                           (long long)matrix);
        }
        if (size[i] > INT32_MAX / 4) {
            return kw_fail(why, KW_NO_KERNEL, "rows, columns and depth are counted in 31 bits");
        }
    }
    kw_mma_grid grid = gemm_grid(&mma, problem);
    return kw_mma_grid_fits(&grid, why);
}

/* The second operand is packed first: whole tiles of it, a thread for each lane's share of a step. */
static void pack_first(const kw_mma *mma, const kw_mma_grid *grid, int64_t lanes, kw_launch *launch) {
    enum { PACK_THREADS = 256 }; /* KW_PACK_THREADS of kernels/gpu/gemm.c */
    for (int i = launch->stages++; i > 0; i--) {
        launch->stage[i] = launch->stage[i - 1];
    }
    int64_t shares = grid->batches * grid->tile_cols * (mma->tile[1] / mma->inst[1]) * grid->steps * lanes;
    launch->stage[0] = (kw_stage){kw_ceil_div(shares, PACK_THREADS), true, PACK_THREADS};
    launch->packed_bytes = grid->batches * grid->tile_cols * mma->tile[1] * grid->steps * mma->tile[2] * mma->bytes;
    launch->copied_bytes += 2 * (double)launch->packed_bytes;
}

/* The layout is rcr: the depth is contiguous in both operands. */
static void describe_gemm_operands(const kw_config *config, const kw_mma *mma, const kw_gemm_dims *d, kw_launch *launch) {
    const int64_t first[3] = {d->k, d->m, d->batch}, second[3] = {d->k, d->n, d->batch}, row = d->k * mma->bytes;
    launch->map[0] = kw_mma_bulk_map(KW_X, config->dtype, first, row, d->m * row, mma->tile[0]);
    launch->map[1] = kw_mma_bulk_map(KW_W, config->dtype, second, row, d->n * row, mma->tile[1]);
}

static void launch_gemm_mma(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_mma mma = kw_mma_read(config);
    kw_mma_grid grid = gemm_grid(&mma, problem);
    kw_mma_launch(&mma, &grid, target, launch);
    if (mma.preshuffle) {
        pack_first(&mma, &grid, kw_max(1, target->lanes), launch);
    }
    if (mma.pipe == KW_PIPE_TMA) {
        describe_gemm_operands(config, &mma, &problem->gemm, launch);
    }
}

const kw_family kw_family_gemm_mma = {
    .name = "gemm.mma",
    .summary = "a GPU block for each tile of the product, by matrix instructions",
    .backend = "gpu",
    .ops = 1 << KW_GEMM,
    .dtypes = 1 << KW_FP32 | 1 << KW_BF16 | 1 << KW_FP16 | 1 << KW_FP8 | 1 << KW_BF8 | 1 << KW_INT8,
    .axes = axes,
    .axis_count = sizeof axes / sizeof *axes,
    .valid = kw_gemm_mma_valid,
    .runs = kw_gemm_mma_runs,
    .fits = gemm_mma_fits,
    .launch = launch_gemm_mma,
    .emit = kw_gpu_emit_nothing,
    .kernel = "gpu/gemm.c",
};
