/* reference.c: families conv.reference and gemm.reference, compiled into the library. They have no axes, need no compiler and serve every
 * legal problem, so that no request stays without an answer. Their blocks are fixed (kernels/cpu/reference/reference.h); what is computed
 * beyond the result's edge counts as work. */
#include "base/math.h"
#include "config/family.h"
#include "problem/epilogue/epilogue.h"
#include "problem/tensors/pitch.h"
#include "problem/view.h"

#include "cpu/reference/reference.h"
#include "prelude/row_groups.h"

enum { LANES = 4 }; /* the vectors that reference.c uses */

/* Work of multiplying blocks: pairs of vector multiply and add, and loads, for so many products of padded rows and columns. */
static void count_reference_work(kw_launch *launch, double products) {
    launch->multiply_adds = 2 * products / LANES; /* a multiply and an add apart */
    launch->loads = products / LANES * 6 / 8;     /* 4 spread values and 2 vectors for 4 rows of 2 vectors */
}

/* With an epilogue the sums stay in the workspace, and a second stage makes the result of them. */
static void set_reference_params(kw_launch *launch, const kw_problem *problem) {
    bool bare = kw_epilogue_is_bare(&problem->epilogue), backward = problem->op == KW_CONV_BWD_DATA;
    kw_reference_params *params = kw_launch_params(launch, kw_reference_params);
    *params = (kw_reference_params){
        .x = kw_problem_dtype(problem, KW_X),
        .from = problem->dtype,
        .to = bare                        ? kw_dtype_output(problem->dtype)
              : problem->dtype == KW_INT8 ? KW_INT32
                                          : KW_FP32,
        .layout = problem->layout,
    };
    if (bare) {
        return;
    }
    kw_tensor result = kw_problem_result(problem);
    int64_t out[3];
    kw_problem_output(out, problem);
    const int64_t *extent = backward ? problem->conv.in : out;
    params->result = result;
    params->elements = kw_problem_values(problem, result);
    params->channels = problem->op == KW_GEMM ? problem->gemm.n : backward ? problem->conv.c : problem->conv.k;
    params->pixels = problem->op != KW_CONV_BWD_WEIGHT && problem->layout == KW_CHANNELS_FIRST ? extent[0] * extent[1] * extent[2] : 1;
    launch->shared_bytes = params->elements * 4;
    launch->stage[launch->stages++] = (kw_stage){.units = kw_ceil_div(params->elements, KW_REFERENCE_CHUNK)};
}

static void launch_reference_gemm(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    (void)config, (void)target;
    const kw_gemm_dims *d = &problem->gemm;
    int64_t rows = kw_ceil_div(d->m, KW_REFERENCE_ROWS), cols = kw_ceil_div(d->n, KW_REFERENCE_COLS);
    rows = d->groups ? KW_GROUP_CHUNKS_MOST(d->m, d->groups, KW_REFERENCE_ROWS) : rows;
    *launch = (kw_launch){.stages = 1, .stage = {{d->batch * rows * cols, false, 0}}};
    set_reference_params(launch, problem);
    count_reference_work(launch, (double)d->batch * (double)kw_round_up(d->m, 4) * (double)kw_round_up(d->n, 8) * (double)d->k);
    launch->copied_bytes = (double)launch->stage[0].units * (double)d->k * sizeof(float) * (KW_REFERENCE_ROWS + KW_REFERENCE_COLS);
}

/* Blocks of 64 pixels over all stride phases. An axis has phases of two lengths at most. */
static int64_t phase_blocks(const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    int64_t length[3][2], times[3][2], blocks = 0;
    for (int axis = 0; axis < 3; axis++) {
        int64_t phases = kw_min(d->stride[axis], d->in[axis]);
        length[axis][0] = kw_ceil_div(d->in[axis], d->stride[axis]);
        length[axis][1] = d->in[axis] / d->stride[axis];
        times[axis][0] = d->in[axis] % d->stride[axis] ? d->in[axis] % d->stride[axis] : phases;
        times[axis][1] = phases - times[axis][0];
    }
    for (int i = 0; i < 8; i++) {
        int a = i & 1, b = i >> 1 & 1, c = i >> 2;
        int64_t pixels = d->n * length[0][a] * length[1][b] * length[2][c];
        blocks += times[0][a] * times[1][b] * times[2][c] * kw_ceil_div(pixels, KW_REFERENCE_ROWS);
    }
    return blocks;
}

static double products_of(const kw_problem *problem) {
    double products = (double)problem->conv.n;
    for (int axis = 0; axis < 3; axis++) {
        products *= (double)kw_problem_axis_products(problem, axis);
    }
    return products;
}

static void launch_conv(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    (void)config, (void)target;
    const kw_conv_dims *d = &problem->conv;
    int64_t c = d->c / d->g, k = d->k / d->g, taps = d->filter[0] * d->filter[1] * d->filter[2], out[3], units;
    bool depthwise = c == 1 && k == 1;
    int64_t group_blocks = kw_ceil_div(d->g, KW_REFERENCE_COLS);
    double products = products_of(problem), copied = 1; /* values widened for each product's row and column */
    kw_problem_output(out, problem);
    if (problem->op == KW_CONV_BWD_WEIGHT) {
        int64_t blocks = kw_ceil_div(c * taps, KW_REFERENCE_ROWS) * kw_ceil_div(k, KW_REFERENCE_COLS);
        units = depthwise ? taps * group_blocks : d->g * blocks;
        copied = (double)(kw_ceil_div(k, KW_REFERENCE_COLS) * c + k);
        products *= (double)(kw_round_up(c, 4) * kw_round_up(k, 8));
    } else {
        int64_t depth = problem->op == KW_CONV_FWD ? c : k, cols = c + k - depth;
        int64_t pixels =
            problem->op == KW_CONV_FWD ? kw_ceil_div(d->n * out[0] * out[1] * out[2], KW_REFERENCE_ROWS) : phase_blocks(problem);
        units = pixels * (depthwise ? group_blocks : d->g * kw_ceil_div(cols, KW_REFERENCE_COLS));
        copied = (double)depth * (double)kw_ceil_div(cols, KW_REFERENCE_COLS) * 2;
        products *= (double)depth * (double)kw_round_up(cols, 8);
    }
    *launch = (kw_launch){.stages = 1, .stage = {{units, false, 0}}};
    set_reference_params(launch, problem);
    if (depthwise) {
        products = products_of(problem), copied = 2;
    }
    count_reference_work(launch, products * (double)d->g);
    launch->copied_bytes = products_of(problem) * (double)d->g * copied * sizeof(float);
}

static const kw_builtin *builtin_gemm(const kw_config *config) {
    static const kw_builtin gemm = {{kw_reference_kernel_gemm, kw_reference_kernel_epilogue}};
    (void)config;
    return &gemm;
}

static const kw_builtin *builtin_conv(const kw_config *config) {
    static const kw_builtin forward = {{kw_reference_kernel_conv_fwd, kw_reference_kernel_epilogue}},
                            data = {{kw_reference_kernel_conv_bwd_data, kw_reference_kernel_epilogue}},
                            weight = {{kw_reference_kernel_conv_bwd_weight, kw_reference_kernel_epilogue}};
    return config->op == KW_CONV_FWD ? &forward : config->op == KW_CONV_BWD_DATA ? &data : &weight;
}

enum { ALL_DTYPES = 1 << KW_FP32 | 1 << KW_BF16 | 1 << KW_FP16 | 1 << KW_FP8 | 1 << KW_BF8 | 1 << KW_INT8 };

const kw_family kw_family_gemm_reference = {
    .name = "gemm.reference",
    .summary = "plain C, compiled in; any type and layout",
    .kind = KW_KIND_CPU,
    .is_reference = true,
    .fuses = true,
    .quantized = true,
    .zero_w = true,
    .pitched = true,
    .row_groups = true,
    .ops = 1 << KW_GEMM,
    .dtypes = ALL_DTYPES,
    .launch = launch_reference_gemm,
    .kernel = "cpu/reference/reference_gemm.c",
    .builtin = builtin_gemm,
};

const kw_family kw_family_conv_reference = {
    .name = "conv.reference",
    .summary = "plain C, compiled in; any direction, type, layout, grouping and geometry",
    .kind = KW_KIND_CPU,
    .is_reference = true,
    .fuses = true,
    .quantized = true,
    .zero_w = true,
    .pitched = true,
    .ops = 1 << KW_CONV_FWD | 1 << KW_CONV_BWD_DATA | 1 << KW_CONV_BWD_WEIGHT,
    .dtypes = ALL_DTYPES,
    .launch = launch_conv,
    .kernel = "cpu/reference/reference_conv.c",
    .builtin = builtin_conv,
};
