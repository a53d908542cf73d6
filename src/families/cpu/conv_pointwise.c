/* conv_pointwise.c: convolution with filter 1 and no padding, forward and backward data, as the matrix product of gemm.tiled: pixels of all
 * images are the rows of A. A strided forward gathers its pixels. Strided backward data leaves most pixels zero and is conv.direct's. */
#include "families/cpu/gemm.h"

static const kw_axis axes[KW_GEMM_AXIS_COUNT] = {KW_ISA_AXES, KW_GEMM_AXES};

static bool strided(const kw_conv_dims *d) {
    return d->stride[0] != 1 || d->stride[1] != 1 || d->stride[2] != 1;
}

static bool filter_is_one(const kw_rule_case *c) {
    const int64_t *filter = c->problem->conv.filter;
    return filter[0] == 1 && filter[1] == 1 && filter[2] == 1;
}

static bool nothing_is_padded(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    int64_t out[3];
    bool good = true;
    kw_problem_output(out, c->problem);
    for (int axis = 0; axis < 3; axis++) {
        good = good && d->pad[axis] == 0 && (out[axis] - 1) * d->stride[axis] < d->in[axis];
    }
    return good;
}

static bool bwd_data_is_whole(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    int64_t out[3];
    kw_problem_output(out, c->problem);
    bool same = out[0] == d->in[0] && out[1] == d->in[1] && out[2] == d->in[2];
    return c->problem->op != KW_CONV_BWD_DATA || (!strided(d) && same);
}

static const kw_rule fits_rules[] = {
    {"filter_1", "the filter must be 1 on all axes", filter_is_one},
    {"no_padding", "padding must be 0 on both sides", nothing_is_padded},
    {"bwd_data_whole", "backward data needs stride 1 and an output as large as the input", bwd_data_is_whole},
    {0},
};

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

const kw_family kw_family_conv_pointwise = {
    .name = "conv.pointwise",
    .summary = "convolution with filter 1 as a matrix product; forward and backward data",
    .kind = KW_KIND_CPU,
    .tiles = true,
    .ops = 1u << KW_CONV_FWD | 1u << KW_CONV_BWD_DATA,
    .dtypes = 1u << KW_FP32 | 1u << KW_BF16 | 1u << KW_FP16 | 1u << KW_INT8 | 1u << KW_FP8 | 1u << KW_BF8,
    .axes = axes,
    .axis_count = KW_GEMM_AXIS_COUNT,
    .rules = {[KW_VALID] = {kw_isa_valid_rules, kw_tile_valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_FITS] = {kw_cpu_conv_rules, fits_rules}},
    .decode = kw_gemm_decode,
    .launch = conv_pointwise_launch,
    .emit = conv_pointwise_emit,
    .kernel = "cpu/gemm/gemm.c",
};
