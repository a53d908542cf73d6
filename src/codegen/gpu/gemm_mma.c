/* gemm_mma.c: matrix products by tiles in shared memory and matrix instructions, in the four layouts. The kernel text is kernels/gpu/gemm.c. */
#include "base/math.h"
#include "codegen/gpu/defines.h"
#include "codegen/gpu/valid.h"

#define ROW(name, words, low, high, meaning) {#name, words, low, high, meaning},
static const kw_axis axes[] = {KW_GEMM_AXES(ROW)};
#undef ROW

static kw_status fits(const kw_config *config, const kw_problem *problem, kw_error *why) {
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
    return KW_OK;
}

static void launch_gemm(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_mma mma = kw_mma_read(config);
    const kw_gemm_dims *d = &problem->gemm;
    int64_t tiles = kw_ceil_div(d->m, mma.tile[0]) * kw_ceil_div(d->n, mma.tile[1]) * d->batch;
    *launch = (kw_launch){.stages = 1, .stage = {{tiles, false, kw_mma_waves(&mma) * (int32_t)target->lanes}}};
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
    .fits = fits,
    .launch = launch_gemm,
    .emit = kw_gpu_emit_nothing,
    .kernel = "gpu/gemm.c",
};
