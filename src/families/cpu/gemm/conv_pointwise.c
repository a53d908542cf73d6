/* conv_pointwise.c: convolution with filter 1 and no padding, forward and backward data, as the matrix product of gemm.tiled: pixels of all
 * images are the rows of A, or of channels-first tensors the columns of B. A strided forward gathers its pixels. Strided backward data leaves most pixels zero and is conv.direct's. */
#include "families/cpu/gemm/gemm.h"
#include "families/cpu/gemm/planes.h"
#include "families/cpu/reorder.h"

#include "problem/epilogue/epilogue.h"
#include "problem/tensors/pitch.h"

extern const kw_family kw_family_conv_pointwise;

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

static kw_tensor source_of(const kw_problem *problem) {
    return problem->op == KW_CONV_FWD ? KW_X : KW_Y;
}

/* Whether the lanes are pixels: of channels-first tensors, but for int8 and tile registers, which have turns. */
static bool has_planes(const kw_config *config, const kw_problem *problem) {
    return problem->layout == KW_CHANNELS_FIRST && problem->dtype != KW_INT8 && config->axis[KW_AXIS_MATH] != KW_MATH_AMX;
}

static bool pitches_are_read(const kw_rule_case *c) {
    const kw_problem *p = c->problem;
    bool turns = p->layout == KW_CHANNELS_FIRST && !has_planes(c->config, p);
    return kw_problem_is_dense(p) || turns || kw_problem_pixels_are_even(p, kw_problem_result(p));
}

/* A tile that is not one whole run of pixels waits beside them, with one tensor like it, and is as wide as ever. */
static bool planes_have_few_steps(const kw_rule_case *c) {
    int likes = 0, rows = 0;
    for (int32_t i = 0; i < c->problem->epilogue.count; i++) {
        kw_extra_shape shape = kw_epilogue_info_of(c->problem->epilogue.step[i].op)->shape;
        likes += shape == KW_EXTRA_ALL;
        rows += shape == KW_EXTRA_ROW;
    }
    return !has_planes(c->config, c->problem) || (likes <= 1 && !rows);
}

static const kw_rule takes_rules[] = {
    {"filter_1", "the filter must be 1 on all axes", filter_is_one},
    {"no_padding", "padding must be 0 on both sides", nothing_is_padded},
    {"bwd_data_whole", "backward data needs stride 1 and an output as large as the input", bwd_data_is_whole},
    {0},
};

static const kw_rule fits_rules[] = {
    {"plane_steps", "of channels-first tensors a step has values of channels or one, and one the result's shape; others turn them",
     planes_have_few_steps},
    {"pitches",
     "of a result with pitches all pixels are one distance apart, of channels first those of each channel of an image lie together; for "
     "images cut out of larger ones take conv.direct",
     pitches_are_read},
    {0},
};

/* Channels last: pixels of all images are rows, a group is a batch. */
static void launch_rows(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *result) {
    const kw_conv_dims *d = &problem->conv;
    bool forward = problem->op == KW_CONV_FWD, cropped = false;
    int64_t out[3], src = forward ? d->c : d->k;
    bool dense = kw_problem_is_dense(problem);
    kw_problem_output(out, problem);
    for (int axis = 0; axis < 3; axis++) {
        cropped |= out[axis] != d->in[axis];
    }
    kw_product product = {
        .batches = d->g,
        .rows = d->n * out[0] * out[1] * out[2],
        .columns = (forward ? d->k : d->c) / d->g,
        .depth = src / d->g,
        .a_row = (dense ? src : kw_problem_image(problem, source_of(problem)).step[0]) * (int64_t)kw_dtype_size(problem->dtype),
        .copies = strided(d) || cropped || !(dense || kw_problem_pixels_are_even(problem, source_of(problem))),
    };
    kw_gemm_launch(&product, config, target, result);
}

static void launch_planes(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *result) {
    kw_tile tile = kw_gemm_tile(config);
    kw_planes_launch(&tile, false, config, problem, target, result);
}

static void conv_pointwise_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *result) {
    if (problem->layout == KW_CHANNELS_LAST) {
        launch_rows(config, problem, target, result);
    } else if (!has_planes(config, problem)) {
        kw_reorder_launch(launch_rows, config, problem, target, result);
    } else {
        launch_planes(config, problem, target, result);
    }
}

static void conv_pointwise_emit(const kw_config *config, kw_text *text) {
    kw_gemm_emit(config, true, text);
}

/* Of channels last, where vectors are results and all pixels are one row. */
static size_t tailor_pointwise(const kw_problem *problem, const kw_target *target, kw_config configs[KW_TAILORED_MAX]) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3], results = (problem->op == KW_CONV_FWD ? d->k : d->c) / d->g;
    kw_problem_output(out, problem);
    bool served = problem->layout == KW_CHANNELS_LAST;
    return served ? kw_gemm_tailor(&kw_family_conv_pointwise, problem, d->n * out[0] * out[1] * out[2], results, target, configs) : 0;
}

const kw_family kw_family_conv_pointwise = {
    .name = "conv.pointwise",
    .summary = "convolution with filter 1 as a matrix product; forward and backward data",
    .kind = KW_KIND_CPU,
    .fuses = true,
    .first_text = true,
    .quantized = true,
    .zero_w = true,
    .tiles = true,
    .pitched = true,
    .pitched_text = true,
    .ops = 1u << KW_CONV_FWD | 1u << KW_CONV_BWD_DATA,
    .dtypes = 1u << KW_FP32 | 1u << KW_BF16 | 1u << KW_FP16 | 1u << KW_INT8 | 1u << KW_FP8 | 1u << KW_BF8,
    .axes = axes,
    .axis_count = KW_GEMM_AXIS_COUNT,
    .rules = {[KW_VALID] = {kw_isa_valid_rules, kw_tile_valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_TAKES] = {kw_cpu_conv_rules, takes_rules},
              [KW_FITS] = {fits_rules}},
    .decode = kw_gemm_decode,
    .launch = conv_pointwise_launch,
    .tailor = tailor_pointwise,
    .emit = conv_pointwise_emit,
    .kernel = "cpu/gemm/gemm.c",
};
