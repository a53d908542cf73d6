/* conv_pointwise.c: convolution with filter 1 and no padding, forward and backward data, as the matrix product of gemm.tiled: pixels of all
 * images are the rows of A. A strided forward gathers its pixels. Strided backward data leaves most pixels zero and is conv.direct's. */
#include "families/cpu/gemm.h"

#include <inttypes.h>

static const kw_axis axes[KW_GEMM_AXIS_COUNT] = {KW_ISA_AXES, KW_GEMM_AXES};

static bool strided(const kw_conv_dims *d) {
    return d->stride[0] != 1 || d->stride[1] != 1 || d->stride[2] != 1;
}

static kw_status conv_pointwise_fits(const kw_config *config, const kw_problem *problem, kw_error *why) {
    (void)config;
    const kw_conv_dims *d = &problem->conv;
    if (problem->layout != KW_CHANNELS_LAST) {
        return kw_fail(why, KW_NO_KERNEL, "conv.pointwise needs a channels-last layout");
    }
    int64_t out[3];
    kw_problem_output(out, problem);
    for (int axis = 0; axis < 3; axis++) {
        if (d->filter[axis] != 1) {
            return kw_fail(why, KW_NO_KERNEL, "conv.pointwise needs filter 1, not %" PRId64, d->filter[axis]);
        }
        if (d->pad[axis] != 0 || (out[axis] - 1) * d->stride[axis] >= d->in[axis]) {
            return kw_fail(why, KW_NO_KERNEL, "conv.pointwise needs padding 0 on both sides");
        }
        if (problem->op == KW_CONV_BWD_DATA && (d->stride[axis] != 1 || out[axis] != d->in[axis])) {
            return kw_fail(why, KW_NO_KERNEL, "conv.pointwise backward data needs stride 1 and an output as large as the input");
        }
    }
    return KW_OK;
}

static void conv_pointwise_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *result) {
    const kw_conv_dims *d = &problem->conv;
    bool forward = problem->op == KW_CONV_FWD, cropped = false;
    int64_t out[3], src = forward ? d->c : d->k;
    kw_problem_output(out, problem);
    for (int axis = 0; axis < 3; axis++) {
        cropped |= out[axis] != d->in[axis];
    }
    kw_product product = {
        .batches = d->g,
        .rows = d->n * out[0] * out[1] * out[2],
        .columns = (forward ? d->k : d->c) / d->g,
        .depth = src / d->g,
        .a_row = src * (int64_t)kw_dtype_size(problem->dtype),
        .copies = strided(d) || cropped,
    };
    kw_gemm_launch(&product, config, target, result);
}

static void conv_pointwise_emit(const kw_config *config, kw_text *text) {
    kw_gemm_emit(config, true, text);
}

extern const kw_family kw_family_conv_pointwise;
const kw_family kw_family_conv_pointwise = {
    .name = "conv.pointwise",
    .summary = "convolution with filter 1 as a matrix product; forward and backward data",
    .kind = KW_KIND_CPU,
    .ops = 1u << KW_CONV_FWD | 1u << KW_CONV_BWD_DATA,
    .dtypes = 1u << KW_FP32 | 1u << KW_BF16 | 1u << KW_FP16,
    .axes = axes,
    .axis_count = KW_GEMM_AXIS_COUNT,
    .valid = kw_gemm_valid,
    .fits = conv_pointwise_fits,
    .launch = conv_pointwise_launch,
    .emit = conv_pointwise_emit,
    .kernel = "cpu/gemm/gemm.c",
};
