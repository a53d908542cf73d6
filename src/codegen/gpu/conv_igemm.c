/* conv_igemm.c: convolution as a matrix product whose operands are gathered on the way into shared memory, all three directions, any filter,
 * stride, dilation, padding and grouping in 1, 2 and 3 dimensions. The kernel text is kernels/gpu/igemm.c; here is which problems a config
 * serves and how they are cut into blocks. */
#include "base/math.h"
#include "codegen/gpu/defines.h"
#include "codegen/gpu/valid.h"
#include "problem/view.h"

#define ROW(name, words, low, high, meaning) {#name, words, low, high, meaning},
static const kw_axis axes[] = {KW_IGEMM_AXES(ROW)};
#undef ROW

static kw_status fits(const kw_config *config, const kw_problem *problem, kw_error *why) {
    kw_mma mma = kw_mma_read(config);
    if (problem->layout != KW_CHANNELS_LAST) {
        return kw_fail(why, KW_NO_KERNEL, "conv.igemm needs a channels-last layout");
    }
    if (problem->ndim != mma.ndim) {
        return kw_fail(why, KW_NO_KERNEL, "ndim=%d does not serve %d spatial axes", (int)mma.ndim, (int)problem->ndim);
    }
    return KW_OK;
}

static void launch_igemm(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_mma mma = kw_mma_read(config);
    kw_gemm_view view = kw_problem_view(problem);
    int64_t tiles = kw_ceil_div(view.gm, mma.tile[0]) * kw_ceil_div(view.gn, mma.tile[1]) * view.batch;
    *launch = (kw_launch){.stages = 1, .stage = {{tiles, false, kw_mma_waves(&mma) * (int32_t)target->lanes}}};
}

const kw_family kw_family_conv_igemm = {
    .name = "conv.igemm",
    .summary = "a GPU block for each tile of an implicit matrix product, by matrix instructions; any direction and geometry",
    .backend = "gpu",
    .ops = 1 << KW_CONV_FWD | 1 << KW_CONV_BWD_DATA | 1 << KW_CONV_BWD_WEIGHT,
    .dtypes = 1 << KW_FP32 | 1 << KW_BF16 | 1 << KW_FP16 | 1 << KW_FP8 | 1 << KW_BF8 | 1 << KW_INT8,
    .axes = axes,
    .axis_count = sizeof axes / sizeof *axes,
    .valid = kw_igemm_valid,
    .runs = kw_igemm_runs,
    .fits = fits,
    .launch = launch_igemm,
    .emit = kw_gpu_emit_nothing,
    .kernel = "gpu/igemm.c",
};
