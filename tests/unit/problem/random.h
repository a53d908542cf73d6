/* random.h: seeded numbers and random legal problems for the tests of this folder. */
#ifndef KW_TEST_PROBLEM_RANDOM_H
#define KW_TEST_PROBLEM_RANDOM_H

#include "base/statistics/random.h"

#include "problem/tensors/filter.h"

#include <kernelwright.h>
#include <string.h>

/* low..high */
static inline int64_t random_between(uint64_t *state, int64_t low, int64_t high) {
    return low + (int64_t)kw_random_below(state, (uint64_t)(high - low + 1));
}

/* Any legal problem whose extents are at most size; small sizes bring dilation with a common divisor, padding above the filter, strides
 * above the filter and negative far padding all the time. */
static inline kw_problem random_problem(uint64_t *state, kw_op op, int64_t size) {
    kw_problem problem;
    do {
        memset(&problem, 0, sizeof problem);
        problem.op = op;
        problem.dtype = (kw_dtype)random_between(state, 0, KW_INT8);
        if (problem.dtype == KW_INT8 && op <= KW_CONV_FWD && random_between(state, 0, 1)) {
            problem.mixed = true;
            problem.x_dtype = KW_UINT8;
        }
        problem.fpmath = problem.dtype == KW_FP32 && random_between(state, 0, 1) ? KW_FPMATH_TF32 : KW_FPMATH_STRICT;
        problem.fpmath = problem.dtype == KW_FP8 && op == KW_GEMM && random_between(state, 0, 1) ? KW_FPMATH_FAST_ACCUM : problem.fpmath;
        if (op == KW_GEMM) {
            problem.layout = (kw_layout)random_between(state, KW_RCR, KW_CCR);
            problem.gemm = (kw_gemm_dims){.batch = random_between(state, 1, 3),
                                          .m = random_between(state, 1, size),
                                          .n = random_between(state, 1, size),
                                          .k = random_between(state, 1, size)};
            continue;
        }
        kw_conv_dims *conv = &problem.conv;
        problem.layout = (kw_layout)random_between(state, KW_CHANNELS_LAST, KW_CHANNELS_FIRST);
        problem.ndim = (int32_t)random_between(state, 1, 3);
        conv->n = random_between(state, 1, 3);
        conv->g = random_between(state, 1, 3);
        conv->c = conv->g * random_between(state, 1, 4);
        conv->k = conv->g * random_between(state, 1, 4);
        for (int axis = 0; axis < 3; axis++) {
            bool used = axis >= 3 - problem.ndim;
            conv->in[axis] = used ? random_between(state, 1, size) : 1;
            conv->filter[axis] = used ? random_between(state, 1, 4) : 1;
            conv->stride[axis] = used ? random_between(state, 1, 5) : 1;
            conv->dilation[axis] = used ? random_between(state, 1, 4) : 1;
            conv->pad[axis] = used ? random_between(state, 0, 5) : 0;
            conv->pad_back[axis] = used ? (random_between(state, 0, 1) ? conv->pad[axis] : random_between(state, -3, 5)) : 0;
        }
        problem.filter_order = (kw_filter_order)random_between(state, KW_FILTER_OF_LAYOUT, KW_FILTER_RSCK);
        problem.filter_order = kw_filter_order_normal(&problem);
    } while (kw_problem_check(&problem, NULL) != KW_OK);
    return problem;
}

#endif
