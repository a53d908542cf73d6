/* view.c: a problem as matrix products, and how one axis is walked. Forward and backward weight are one GEMM each. In backward data an
 * input position is reached only by the taps for which (in + pad - tap dilation) is a multiple of the stride; positions that agree mod
 * stride share these taps, so each residue is a dense GEMM of its own, without a test per tap. */
#include "problem/view.h"

#include "base/math.h"

/* Of backward data's residues on an axis: how many have a tap, the most pixels and the most taps that one has. */
typedef struct residues {
    int64_t count, pixels, taps;
} residues;

int64_t kw_problem_walks(const kw_problem *problem, int axis) {
    return problem->op == KW_CONV_BWD_DATA ? kw_min(problem->conv.stride[axis], problem->conv.in[axis]) : 1;
}

static kw_walk walk_forward(const kw_problem *problem, int axis) {
    const kw_conv_dims *conv = &problem->conv;
    int64_t out[3];
    kw_problem_output(out, problem);
    return (kw_walk){.pixels = out[axis],
                     .out_step = 1,
                     .src_start = -conv->pad[axis],
                     .src_step = conv->stride[axis],
                     .taps = conv->filter[axis],
                     .tap_src_step = conv->dilation[axis],
                     .tap_step = 1};
}

static kw_walk walk_backward(const kw_conv_dims *conv, int axis, int64_t phase) {
    int64_t stride = conv->stride[axis], dilation = conv->dilation[axis];
    int64_t common = kw_gcd(stride, dilation), step = stride / common;
    int64_t reach = phase + conv->pad[axis]; /* the first position, counted from the padded edge */
    kw_walk walk = {.pixels = kw_ceil_div(conv->in[axis] - phase, stride),
                    .out_start = phase,
                    .out_step = stride,
                    .src_step = 1,
                    .tap_src_step = -(dilation / common),
                    .tap_step = step};
    /* Taps that serve are step apart, so the first of them is among the first step taps. */
    for (int64_t tap = 0; tap < kw_min(step, conv->filter[axis]); tap++) {
        if ((reach - tap * dilation) % stride == 0) {
            walk.tap_start = tap;
            walk.taps = kw_ceil_div(conv->filter[axis] - tap, step);
            walk.src_start = (reach - tap * dilation) / stride; /* exact; negative where the tap reaches beyond the output */
            break;
        }
    }
    return walk;
}

kw_walk kw_problem_walk(const kw_problem *problem, int axis, int64_t phase) {
    return problem->op == KW_CONV_BWD_DATA ? walk_backward(&problem->conv, axis, phase) : walk_forward(problem, axis);
}

bool kw_problem_walks_are_few(const kw_problem *problem) {
    const double most_walks = 1 << 12, most_taps = 1 << 20;
    const kw_conv_dims *conv = &problem->conv;
    double walks = 1, taps = 0;
    for (int axis = 0; axis < 3 && problem->op == KW_CONV_BWD_DATA; axis++) {
        double of_axis = (double)kw_problem_walks(problem, axis);
        walks *= of_axis;
        taps += of_axis * (double)kw_min(conv->stride[axis], conv->filter[axis]);
    }
    return walks <= most_walks && taps <= most_taps;
}

/* Goes over the first taps, of which each serves one residue, instead of over all residues: a stride may be far above the filter. */
static residues count_residues(const kw_conv_dims *conv, int axis) {
    int64_t stride = conv->stride[axis], dilation = conv->dilation[axis];
    int64_t step = stride / kw_gcd(stride, dilation);
    residues all = {0};
    for (int64_t tap = 0; tap < kw_min(step, conv->filter[axis]); tap++) {
        int64_t rest = (tap * dilation - conv->pad[axis]) % stride;
        int64_t phase = rest < 0 ? rest + stride : rest; /* the first position that the tap reaches */
        if (phase < conv->in[axis]) {
            all.count++;
            all.pixels = kw_max(all.pixels, kw_ceil_div(conv->in[axis] - phase, stride));
            all.taps = kw_max(all.taps, kw_ceil_div(conv->filter[axis] - tap, step));
        }
    }
    return all;
}

kw_gemm_view kw_problem_view(const kw_problem *problem) {
    if (problem->op == KW_GEMM) {
        const kw_gemm_dims *gemm = &problem->gemm;
        if (gemm->groups) {
            return (kw_gemm_view){gemm->groups, kw_ceil_div(gemm->m, gemm->groups), gemm->n, gemm->k, 1};
        }
        return (kw_gemm_view){gemm->batch, gemm->m, gemm->n, gemm->k, 1};
    }
    const kw_conv_dims *conv = &problem->conv;
    int64_t c = conv->c / conv->g, k = conv->k / conv->g, out[3];
    int64_t pixels = conv->n, taps = 1, phases = 1;
    kw_problem_output(out, problem);
    for (int axis = 0; axis < 3; axis++) {
        residues all = {1, out[axis], conv->filter[axis]};
        if (problem->op == KW_CONV_BWD_DATA) {
            all = count_residues(conv, axis);
        }
        pixels *= all.pixels;
        taps *= all.taps;
        phases *= all.count;
    }
    switch (problem->op) {
    case KW_CONV_BWD_DATA:
        return (kw_gemm_view){conv->g, pixels, c, k * taps, phases};
    case KW_CONV_BWD_WEIGHT:
        return (kw_gemm_view){conv->g, k, c * taps, pixels, 1};
    default:
        return (kw_gemm_view){conv->g, pixels, k, c * taps, 1};
    }
}
