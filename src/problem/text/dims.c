/* dims.c: the dimension table, and what extents a result has by it. */
#include "problem/text/dims.h"

#include "base/math.h"

static const kw_dim gemm_dims[] = {
    {'b', false, 1, 1, offsetof(kw_problem, gemm.batch), 0, "1", "products in the batch"},
    {'g', false, 0, 0, offsetof(kw_problem, gemm.groups), 0, "8", "groups of rows"},
    {'m', false, 1, KW_DIM_NEEDED, offsetof(kw_problem, gemm.m), 0, "128", "rows of A and C"},
    {'n', false, 1, KW_DIM_NEEDED, offsetof(kw_problem, gemm.n), 0, "64", "columns of B and C"},
    {'k', false, 1, KW_DIM_NEEDED, offsetof(kw_problem, gemm.k), 0, "256", "columns of A, rows of B"},
    {0},
};

static const kw_dim conv_dims[] = {
    {'n', false, 1, 1, offsetof(kw_problem, conv.n), 0, "32", "images"},
    {'g', false, 1, 1, offsetof(kw_problem, conv.g), 0, "1", "groups"},
    {'c', false, 1, KW_DIM_NEEDED, offsetof(kw_problem, conv.c), 0, "64", "input channels of all groups"},
    {'k', false, 1, KW_DIM_NEEDED, offsetof(kw_problem, conv.k), 0, "64", "output channels of all groups"},
    {'i', true, 1, KW_DIM_NEEDED, offsetof(kw_problem, conv.in), 0, "56x56", "input extents"},
    {'f', true, 1, KW_DIM_NEEDED, offsetof(kw_problem, conv.filter), 0, "3x3", "filter extents"},
    {'s', true, 1, 1, offsetof(kw_problem, conv.stride), 0, "1x1", "strides"},
    {'p', true, 0, 0, offsetof(kw_problem, conv.pad), offsetof(kw_problem, conv.pad_back), "1x1", "padding"},
    {'d', true, 1, 1, offsetof(kw_problem, conv.dilation), 0, "1x1", "dilations"},
    {0},
};

_Static_assert(sizeof conv_dims / sizeof *conv_dims == KW_DIMS_MAX + 1, "KW_DIMS_MAX counts the rows of conv_dims");

const kw_dim *kw_dims(kw_op op) {
    return op == KW_GEMM ? gemm_dims : conv_dims;
}

int64_t *kw_dim_field(kw_problem *problem, size_t offset) {
    return (int64_t *)(void *)((char *)problem + offset);
}

const int64_t *kw_dim_value(const kw_problem *problem, size_t offset) {
    return (const int64_t *)(const void *)((const char *)problem + offset);
}

void kw_problem_output(int64_t out[3], const kw_problem *problem) {
    const kw_conv_dims *conv = &problem->conv;
    for (int axis = 0; axis < 3; axis++) {
        if (problem->op == KW_GEMM) {
            out[axis] = 1;
            continue;
        }
        /* Each rule asks, and divisions are dear. */
        int64_t reach = conv->dilation[axis] * (conv->filter[axis] - 1) + 1;
        int64_t last = conv->in[axis] + conv->pad[axis] + conv->pad_back[axis] - reach;
        out[axis] = (conv->stride[axis] == 1 ? last : kw_floor_div(last, conv->stride[axis])) + 1;
    }
}
