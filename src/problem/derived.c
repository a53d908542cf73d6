/* derived.c: quantities that follow from a legal problem: output extents, tensors, bytes, exact operation counts. kw_problem_check has
 * made sure that none of them overflows, so nothing is checked here. */
#include "base/math.h"
#include "problem/tensors/filter.h"
#include "problem/tensors/pitch.h"
#include "problem/view.h"

#include <assert.h>

static int64_t product(const int64_t extents[3]) {
    return extents[0] * extents[1] * extents[2];
}

static int64_t conv_values(const kw_problem *problem, kw_tensor tensor) {
    const kw_conv_dims *conv = &problem->conv;
    if (tensor == KW_W) {
        return conv->k * (conv->c / conv->g) * product(conv->filter);
    }
    if (tensor == KW_X) {
        return conv->n * conv->c * product(conv->in);
    }
    int64_t out[3];
    kw_problem_output(out, problem);
    return conv->n * conv->k * product(out);
}

int64_t kw_problem_elements(const kw_problem *problem, kw_tensor tensor) {
    if (problem->op == KW_GEMM) {
        kw_matrix m = kw_problem_matrix(problem, tensor);
        return (m.batch - 1) * m.batch_step + (m.lines - 1) * m.line_step + m.length;
    }
    if (tensor == KW_W || kw_problem_is_dense(problem)) {
        return conv_values(problem, tensor);
    }
    kw_image image = kw_problem_image(problem, tensor);
    int64_t last = image.length;
    for (int i = 0; i < KW_PITCHES; i++) {
        last += (image.extent[i] - 1) * image.step[i];
    }
    return last;
}

kw_tensor kw_problem_result(const kw_problem *problem) {
    return problem->op == KW_CONV_BWD_DATA ? KW_X : problem->op == KW_CONV_BWD_WEIGHT ? KW_W : KW_Y;
}

kw_dtype kw_problem_dtype(const kw_problem *problem, kw_tensor tensor) {
    if (tensor != kw_problem_result(problem)) {
        return tensor == KW_X && problem->mixed ? problem->x_dtype : problem->dtype;
    }
    return problem->epilogue.converts ? problem->epilogue.output : kw_dtype_output(problem->dtype);
}

int64_t kw_problem_values(const kw_problem *problem, kw_tensor tensor) {
    if (problem->op != KW_GEMM) {
        return conv_values(problem, tensor);
    }
    kw_matrix m = kw_problem_matrix(problem, tensor);
    return (m.batch_step ? m.batch : 1) * m.lines * m.length;
}

/* From the innermost axis outwards, each stride is the product of what lies inside. */
static int conv_axes(int64_t extent[KW_AXES_MAX], int64_t stride[KW_AXES_MAX], const kw_problem *problem, kw_tensor tensor) {
    const kw_conv_dims *conv = &problem->conv;
    int ndim = problem->ndim, count = ndim + 2;
    int64_t out[3], inner = 1;
    kw_problem_output(out, problem);
    const int64_t *spatial = tensor == KW_X ? conv->in : tensor == KW_W ? conv->filter : out;
    extent[0] = tensor == KW_W ? conv->k : conv->n;
    extent[1] = tensor == KW_X ? conv->c : tensor == KW_W ? conv->c / conv->g : conv->k;
    for (int axis = 0; axis < ndim; axis++) {
        extent[2 + axis] = spatial[3 - ndim + axis];
    }
    bool last = problem->layout == KW_CHANNELS_LAST;
    if (last) {
        stride[1] = inner;
        inner *= extent[1];
    }
    for (int axis = count - 1; axis >= (last ? 2 : 1); axis--) {
        stride[axis] = inner;
        inner *= extent[axis];
    }
    stride[0] = inner;
    if (tensor == KW_W && problem->filter_order) {
        int64_t step[KW_FILTER_STEPS];
        kw_filter_steps(step, problem, problem->filter_order);
        stride[0] = step[KW_FILTER_STEP_K];
        stride[1] = step[KW_FILTER_STEP_C];
        inner = step[KW_FILTER_STEP_TAP];
        for (int axis = count - 1; axis >= 2; axis--) {
            stride[axis] = inner;
            inner *= extent[axis];
        }
    }
    if (tensor != KW_W && !kw_problem_is_dense(problem)) {
        int64_t step[KW_STEP_COUNT];
        kw_problem_steps(step, problem, tensor);
        stride[0] = step[KW_STEP_IMAGE];
        stride[1] = step[KW_STEP_CHANNEL];
        for (int axis = 0; axis < ndim; axis++) {
            stride[2 + axis] = step[KW_STEP_PLANE + 3 - ndim + axis];
        }
    }
    return count;
}

int kw_problem_axes(int64_t extent[KW_AXES_MAX], int64_t stride[KW_AXES_MAX], const kw_problem *problem, kw_tensor tensor) {
    if (problem->op != KW_GEMM) {
        return conv_axes(extent, stride, problem, tensor);
    }
    kw_matrix m = kw_problem_matrix(problem, tensor);
    int line = m.columns ? 2 : 1;
    extent[0] = m.batch;
    stride[0] = m.batch_step;
    extent[line] = m.lines;
    stride[line] = m.line_step;
    extent[3 - line] = m.length;
    stride[3 - line] = 1;
    return 3;
}

/* Sum of (a i + b) / m rounded down, over i = 0..n-1, for n >= 0, m > 0, a, b >= 0, in a number of steps as of a greatest common divisor:
 * whole multiples of m are split off; what is left counts the points under a line, and counting them by columns instead of by rows
 * swaps a and m. The sum itself must fit. */
static int64_t floor_sum(int64_t n, int64_t m, int64_t a, int64_t b) {
    int64_t sum = 0;
    assert(n >= 0 && m > 0 && a >= 0 && b >= 0);
    while (n > 0) {
        if (a >= m) {
            sum += (n % 2 ? (n - 1) / 2 * n : n / 2 * (n - 1)) * (a / m);
            a %= m;
        }
        sum += b / m * n;
        b %= m;
        int64_t top = a * n + b; /* the line at i = n */
        n = top / m;
        b = top % m;
        int64_t swap = a;
        a = m;
        m = swap;
        if (n == 0) {
            break;
        }
    }
    return sum;
}

/* Pairs (o, t) with 0 <= o < out, 0 <= t < filter and o stride + t dilation <= limit. */
static int64_t pairs_up_to(int64_t limit, int64_t out, int64_t stride, int64_t filter, int64_t dilation) {
    if (limit < 0) {
        return 0;
    }
    int64_t taps = kw_min(filter, limit / dilation + 1); /* those with any output */
    int64_t last = (out - 1) * stride;                   /* taps up to limit - last have all outputs */
    int64_t whole = limit < last ? 0 : kw_min(taps, (limit - last) / dilation + 1);
    int64_t partial = taps - whole;
    return whole * out + partial + floor_sum(partial, stride, dilation, limit - (taps - 1) * dilation);
}

int64_t kw_problem_axis_products(const kw_problem *problem, int axis) {
    const kw_conv_dims *conv = &problem->conv;
    int64_t out[3];
    kw_problem_output(out, problem);
    int64_t dilation = conv->filter[axis] == 1 ? 1 : conv->dilation[axis]; /* of no effect on one tap, where it may be huge */
    int64_t stride = out[axis] == 1 ? 1 : conv->stride[axis];
    int64_t below = pairs_up_to(conv->pad[axis] - 1, out[axis], stride, conv->filter[axis], dilation);
    return pairs_up_to(conv->pad[axis] + conv->in[axis] - 1, out[axis], stride, conv->filter[axis], dilation) - below;
}

bool kw_problem_reads_padding(const kw_problem *problem) {
    enum { PART = 20 };
    const kw_conv_dims *conv = &problem->conv;
    bool data = problem->op == KW_CONV_BWD_DATA, strided = kw_max(kw_max(conv->stride[0], conv->stride[1]), conv->stride[2]) > 1;
    int64_t out[3];
    if (problem->op != KW_CONV_FWD && (!data || strided)) {
        return false;
    }
    kw_problem_output(out, problem);
    for (int axis = 1; axis < 3; axis++) {
        int64_t pairs = (data ? conv->in[axis] : out[axis]) * conv->filter[axis];
        if (conv->pad[axis] + conv->pad_back[axis] > 0 && pairs - kw_problem_axis_products(problem, axis) >= kw_ceil_div(pairs, PART)) {
            return true;
        }
    }
    return false;
}

int64_t kw_problem_flops(const kw_problem *problem) {
    if (problem->op == KW_GEMM) {
        return 2 * problem->gemm.batch * problem->gemm.m * problem->gemm.n * problem->gemm.k;
    }
    const kw_conv_dims *conv = &problem->conv;
    int64_t products = conv->n * (conv->c / conv->g) * conv->k;
    for (int axis = 0; axis < 3; axis++) {
        products *= kw_problem_axis_products(problem, axis);
    }
    return 2 * products;
}
