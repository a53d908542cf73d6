/* reference.c: what each operation means, one element at a time. A tensor is a table of extents and strides by what an index means, made
 * from the layout's order, so there is one loop nest per operation and none per layout. The innermost loop is a dot product of two
 * strided vectors, compiled once per type. */
#include "problem/reference.h"

#include "base/math.h"
#include "problem/epilogue/epilogue.h"
#include "problem/names/dtype.h"
#include "problem/tensors/filter.h"
#include "problem/tensors/pitch.h"

#include <math.h>

/* Meanings of an index. IMAGE is the output channel in w. CHANNEL is within the group. */
enum { IMAGE, GROUP, CHANNEL, DEPTH, HEIGHT, WIDTH, MEANINGS };

typedef struct place {
    int64_t at[MEANINGS];
} place;

/* From slow to fast. */
static const int image_orders[][MEANINGS] = {
    [KW_CHANNELS_LAST] = {IMAGE, DEPTH, HEIGHT, WIDTH, GROUP, CHANNEL},
    [KW_CHANNELS_FIRST] = {IMAGE, GROUP, CHANNEL, DEPTH, HEIGHT, WIDTH},
};
static const int filter_orders[][MEANINGS] = {
    [KW_FILTER_KRSC] = {GROUP, IMAGE, DEPTH, HEIGHT, WIDTH, CHANNEL},
    [KW_FILTER_KCRS] = {GROUP, IMAGE, CHANNEL, DEPTH, HEIGHT, WIDTH},
    [KW_FILTER_CRSK] = {CHANNEL, DEPTH, HEIGHT, WIDTH, GROUP, IMAGE},
    [KW_FILTER_RSCK] = {DEPTH, HEIGHT, WIDTH, CHANNEL, GROUP, IMAGE},
};

/* Of the first and the second factor of each product, and what is subtracted from each, of whole ones alone. */
typedef struct types {
    kw_dtype first, second;
    kw_zeros zero;
} types;

typedef struct operand {
    const void *data;
    const int *order;
    place extent, stride;
} operand;

typedef struct convolution {
    const kw_conv_dims *dims;
    types types;
    operand x, w, y;
} convolution;

typedef struct sum {
    double value, magnitude;
    int64_t products;
} sum;

/* Elements of one tensor: where they begin and how far apart they are. */
typedef struct vector {
    const void *data;
    int64_t start, stride;
} vector;

/* Types are constants wherever this is called, so that the loop holds no test of them. */
static inline __attribute__((always_inline)) void add_typed(kw_dtype first, kw_dtype second, kw_zeros zero, sum *total, vector a, vector b,
                                                            int64_t count) {
    double value = 0, magnitude = 0;
    for (int64_t i = 0; i < count; i++) {
        double product = (kw_dtype_value(first, a.data, a.start + i * a.stride) - zero.x) *
                         (kw_dtype_value(second, b.data, b.start + i * b.stride) - zero.w);
        value += product;
        magnitude += fabs(product);
    }
    total->value += value;
    total->magnitude += magnitude;
    total->products += count;
}

static void add_products(types of, sum *total, vector a, vector b, int64_t count) {
    switch (of.first) {
    case KW_FP32:
        add_typed(KW_FP32, KW_FP32, (kw_zeros){0}, total, a, b, count);
        break;
    case KW_BF16:
        add_typed(KW_BF16, KW_BF16, (kw_zeros){0}, total, a, b, count);
        break;
    case KW_FP16:
        add_typed(KW_FP16, KW_FP16, (kw_zeros){0}, total, a, b, count);
        break;
    case KW_FP8:
        add_typed(KW_FP8, KW_FP8, (kw_zeros){0}, total, a, b, count);
        break;
    case KW_BF8:
        add_typed(KW_BF8, KW_BF8, (kw_zeros){0}, total, a, b, count);
        break;
    case KW_UINT8:
        add_typed(KW_UINT8, KW_INT8, of.zero, total, a, b, count);
        break;
    default:
        add_typed(KW_INT8, KW_INT8, of.zero, total, a, b, count);
        break;
    }
}

static operand make_operand(const void *data, const int *order, place extent) {
    operand result = {.data = data, .order = order, .extent = extent};
    int64_t stride = 1;
    for (int i = MEANINGS - 1; i >= 0; i--) {
        result.stride.at[order[i]] = stride;
        stride *= extent.at[order[i]];
    }
    return result;
}

/* x or y, where it is part of a larger tensor. */
static void place_operand(operand *o, const kw_problem *problem, kw_tensor tensor) {
    int64_t step[KW_STEP_COUNT];
    if (!kw_problem_is_dense(problem)) {
        kw_problem_steps(step, problem, tensor);
        o->stride.at[IMAGE] = step[KW_STEP_IMAGE];
        o->stride.at[GROUP] = step[KW_STEP_CHANNEL] * o->extent.at[CHANNEL];
        o->stride.at[CHANNEL] = step[KW_STEP_CHANNEL];
        o->stride.at[DEPTH] = step[KW_STEP_PLANE];
        o->stride.at[HEIGHT] = step[KW_STEP_ROW];
        o->stride.at[WIDTH] = step[KW_STEP_COLUMN];
    }
}

static place operand_offset(const operand *of, int64_t index) {
    place result;
    for (int i = MEANINGS - 1; i >= 0; i--) {
        int meaning = of->order[i];
        result.at[meaning] = index % of->extent.at[meaning];
        index /= of->extent.at[meaning];
    }
    return result;
}

/* The vector of a tensor that runs along one meaning, from a place. */
static vector offset_along(const operand *of, const place *from, int meaning) {
    vector result = {of->data, 0, of->stride.at[meaning]};
    for (int i = 0; i < MEANINGS; i++) {
        result.start += from->at[i] * of->stride.at[i];
    }
    return result;
}

static types types_of(const kw_problem *problem, kw_zeros zero) {
    return (types){problem->mixed ? problem->x_dtype : problem->dtype, problem->dtype, zero};
}

static convolution make_reference_conv(const kw_problem *problem, const void *const tensors[KW_TENSOR_COUNT], kw_zeros zero) {
    const kw_conv_dims *dims = &problem->conv;
    const int *image = image_orders[problem->layout], *filter = filter_orders[kw_filter_order_of(problem)];
    int64_t n = dims->n, g = dims->g, c = dims->c / g, k = dims->k / g, o[3];
    kw_problem_output(o, problem);
    return (convolution){
        .dims = dims,
        .types = types_of(problem, zero),
        .x = make_operand(tensors[KW_X], image, (place){{n, g, c, dims->in[0], dims->in[1], dims->in[2]}}),
        .w = make_operand(tensors[KW_W], filter, (place){{k, g, c, dims->filter[0], dims->filter[1], dims->filter[2]}}),
        .y = make_operand(tensors[KW_Y], image, (place){{n, g, k, o[0], o[1], o[2]}}),
    };
}

/* The input position that output position o meets at tap t of an axis; false when it lies in the padding. */
static bool find_input(const kw_conv_dims *dims, int axis, int64_t o, int64_t t, int64_t *i) {
    *i = o * dims->stride[axis] - dims->pad[axis] + t * dims->dilation[axis];
    return *i >= 0 && *i < dims->in[axis];
}

/* The output position that meets input position i at tap t; false when there is none. */
static bool find_output(const convolution *conv, int axis, int64_t i, int64_t t, int64_t *o) {
    int64_t reach = i + conv->dims->pad[axis] - t * conv->dims->dilation[axis];
    *o = reach / conv->dims->stride[axis];
    return reach >= 0 && reach % conv->dims->stride[axis] == 0 && *o < conv->y.extent.at[DEPTH + axis];
}

/* y[n, g, k, o] = sum over taps t and channels c of x[n, g, c, o s - p + t d] w[k, g, c, t] */
static sum sum_forward(const convolution *conv, const place *y) {
    sum total = {0};
    const int64_t *taps = conv->dims->filter, *o = &y->at[DEPTH];
    place x = {{y->at[IMAGE], y->at[GROUP]}}, w = {{y->at[CHANNEL], y->at[GROUP]}};
    for (w.at[DEPTH] = 0; w.at[DEPTH] < taps[0]; w.at[DEPTH]++) {
        if (!find_input(conv->dims, 0, o[0], w.at[DEPTH], &x.at[DEPTH])) {
            continue;
        }
        for (w.at[HEIGHT] = 0; w.at[HEIGHT] < taps[1]; w.at[HEIGHT]++) {
            if (!find_input(conv->dims, 1, o[1], w.at[HEIGHT], &x.at[HEIGHT])) {
                continue;
            }
            for (w.at[WIDTH] = 0; w.at[WIDTH] < taps[2]; w.at[WIDTH]++) {
                if (find_input(conv->dims, 2, o[2], w.at[WIDTH], &x.at[WIDTH])) {
                    add_products(conv->types, &total, offset_along(&conv->x, &x, CHANNEL), offset_along(&conv->w, &w, CHANNEL),
                                 conv->x.extent.at[CHANNEL]);
                }
            }
        }
    }
    return total;
}

/* x[n, g, c, i] = sum over taps t and output channels k of y[n, g, k, o] w[k, g, c, t] where o s - p + t d = i */
static sum backward_data(const convolution *conv, const place *x) {
    sum total = {0};
    const int64_t *taps = conv->dims->filter, *i = &x->at[DEPTH];
    place y = {{x->at[IMAGE], x->at[GROUP]}}, w = {{0, x->at[GROUP], x->at[CHANNEL]}};
    for (w.at[DEPTH] = 0; w.at[DEPTH] < taps[0]; w.at[DEPTH]++) {
        if (!find_output(conv, 0, i[0], w.at[DEPTH], &y.at[DEPTH])) {
            continue;
        }
        for (w.at[HEIGHT] = 0; w.at[HEIGHT] < taps[1]; w.at[HEIGHT]++) {
            if (!find_output(conv, 1, i[1], w.at[HEIGHT], &y.at[HEIGHT])) {
                continue;
            }
            for (w.at[WIDTH] = 0; w.at[WIDTH] < taps[2]; w.at[WIDTH]++) {
                if (find_output(conv, 2, i[2], w.at[WIDTH], &y.at[WIDTH])) {
                    add_products(conv->types, &total, offset_along(&conv->y, &y, CHANNEL), offset_along(&conv->w, &w, IMAGE),
                                 conv->y.extent.at[CHANNEL]);
                }
            }
        }
    }
    return total;
}

/* w[k, g, c, t] = sum over images n and outputs o of x[n, g, c, o s - p + t d] y[n, g, k, o] */
static sum backward_weight(const convolution *conv, const place *w) {
    sum total = {0};
    const int64_t *out = &conv->y.extent.at[DEPTH], *t = &w->at[DEPTH];
    place x = {{0, w->at[GROUP], w->at[CHANNEL]}}, y = {{0, w->at[GROUP], w->at[IMAGE]}};
    /* Along the width the outputs that meet the input are one run: first to last - 1. */
    int64_t first = 0, last = out[2], i;
    while (first < last && !find_input(conv->dims, 2, first, t[2], &x.at[WIDTH])) {
        first++;
    }
    while (last > first && !find_input(conv->dims, 2, last - 1, t[2], &i)) {
        last--;
    }
    y.at[WIDTH] = first;
    for (int64_t n = 0; n < conv->dims->n; n++) {
        x.at[IMAGE] = y.at[IMAGE] = n;
        for (y.at[DEPTH] = 0; y.at[DEPTH] < out[0]; y.at[DEPTH]++) {
            if (!find_input(conv->dims, 0, y.at[DEPTH], t[0], &x.at[DEPTH])) {
                continue;
            }
            for (y.at[HEIGHT] = 0; y.at[HEIGHT] < out[1]; y.at[HEIGHT]++) {
                if (find_input(conv->dims, 1, y.at[HEIGHT], t[1], &x.at[HEIGHT])) {
                    vector inputs = offset_along(&conv->x, &x, WIDTH);
                    inputs.stride *= conv->dims->stride[2];
                    add_products(conv->types, &total, inputs, offset_along(&conv->y, &y, WIDTH), last - first);
                }
            }
        }
    }
    return total;
}

/* One row or column of a matrix of the batch: the elements [row, 0], [row, 1], ... of a matrix whose lines are rows, or columns. */
static vector matrix_row(const void *data, const kw_matrix *m, bool row_major, int64_t batch, int64_t row) {
    int64_t start = batch * m->batch_step;
    return row_major ? (vector){data, start + row * m->line_step, 1} : (vector){data, start + row, m->line_step};
}

/* C[b, m, n] = sum over k of A[b, m, k] B[b, k, n]; all layouts have C row-major */
static sum sum_gemm(const kw_problem *problem, const void *const tensors[KW_TENSOR_COUNT], kw_zeros zero, int64_t index) {
    sum total = {0};
    const kw_gemm_dims *dims = &problem->gemm;
    index = kw_problem_index(problem, KW_Y, index);
    int64_t n = index % dims->n, m = index / dims->n % dims->m, batch = index / dims->n / dims->m;
    bool a_rows = problem->layout == KW_RCR || problem->layout == KW_RRR;
    bool b_rows = problem->layout == KW_RRR || problem->layout == KW_CRR;
    kw_matrix left = kw_problem_matrix(problem, KW_X), right = kw_problem_matrix(problem, KW_W);
    vector a = matrix_row(tensors[KW_X], &left, a_rows, batch, m);
    vector b = matrix_row(tensors[KW_W], &right, !b_rows, batch, n); /* a column of B is a row of its transpose */
    add_products(types_of(problem, zero), &total, a, b, dims->k);
    return total;
}

kw_zeros kw_zeros_of(const kw_problem *problem, const void *const extras[KW_EXTRA_MAX], int64_t index) {
    int64_t channel = 0, row;
    if (kw_epilogue_zero_w(&problem->epilogue) >= 0) {
        kw_result_place(&channel, &row, problem, index);
    }
    return (kw_zeros){kw_epilogue_zero_of_x(&problem->epilogue, extras), kw_epilogue_zero_of_w(&problem->epilogue, extras, channel)};
}

double kw_reference_at(const kw_problem *problem, const void *const tensors[KW_TENSOR_COUNT], kw_zeros zero, int64_t index,
                       int64_t *products, double *magnitude) {
    sum total;
    if (problem->op == KW_GEMM) {
        total = sum_gemm(problem, tensors, zero, index);
    } else {
        convolution conv = make_reference_conv(problem, tensors, zero);
        const operand *written = problem->op == KW_CONV_FWD ? &conv.y : problem->op == KW_CONV_BWD_DATA ? &conv.x : &conv.w;
        place_operand(&conv.x, problem, KW_X);
        place_operand(&conv.y, problem, KW_Y);
        place at = operand_offset(written, kw_problem_index(problem, kw_problem_result(problem), index));
        total = problem->op == KW_CONV_FWD        ? sum_forward(&conv, &at)
                : problem->op == KW_CONV_BWD_DATA ? backward_data(&conv, &at)
                                                  : backward_weight(&conv, &at);
    }
    if (products) {
        *products = total.products;
    }
    if (magnitude) {
        *magnitude = total.magnitude;
    }
    return total.value;
}
