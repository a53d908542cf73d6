/* random.h: seeded numbers and random legal problems for the tests of this folder. */
#ifndef KW_TEST_PROBLEM_RANDOM_H
#define KW_TEST_PROBLEM_RANDOM_H

#include <kernelwright.h>
#include <string.h>

typedef struct dice {
    uint64_t state;
} dice;

static inline uint64_t dice_next(dice *source) {
    source->state += 0x9e3779b97f4a7c15u;
    uint64_t z = source->state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* low..high */
static inline int64_t dice_roll(dice *source, int64_t low, int64_t high) {
    return low + (int64_t)(dice_next(source) % (uint64_t)(high - low + 1));
}

/* Any legal problem whose extents are at most size; small sizes bring dilation with a common divisor, padding above the filter, strides
 * above the filter and negative far padding all the time. */
static inline kw_problem random_problem(dice *source, kw_op op, int64_t size) {
    kw_problem problem;
    do {
        memset(&problem, 0, sizeof problem);
        problem.op = op;
        problem.dtype = (kw_dtype)dice_roll(source, 0, KW_INT8);
        if (op == KW_GEMM) {
            problem.layout = (kw_layout)dice_roll(source, KW_RCR, KW_CCR);
            problem.gemm =
                (kw_gemm_dims){dice_roll(source, 1, 3), dice_roll(source, 1, size), dice_roll(source, 1, size), dice_roll(source, 1, size)};
            continue;
        }
        kw_conv_dims *conv = &problem.conv;
        problem.layout = (kw_layout)dice_roll(source, KW_CHANNELS_LAST, KW_CHANNELS_FIRST);
        problem.ndim = (int32_t)dice_roll(source, 1, 3);
        conv->n = dice_roll(source, 1, 3);
        conv->g = dice_roll(source, 1, 3);
        conv->c = conv->g * dice_roll(source, 1, 4);
        conv->k = conv->g * dice_roll(source, 1, 4);
        for (int axis = 0; axis < 3; axis++) {
            bool used = axis >= 3 - problem.ndim;
            conv->in[axis] = used ? dice_roll(source, 1, size) : 1;
            conv->filter[axis] = used ? dice_roll(source, 1, 4) : 1;
            conv->stride[axis] = used ? dice_roll(source, 1, 5) : 1;
            conv->dilation[axis] = used ? dice_roll(source, 1, 4) : 1;
            conv->pad[axis] = used ? dice_roll(source, 0, 5) : 0;
            conv->pad_back[axis] = used ? (dice_roll(source, 0, 1) ? conv->pad[axis] : dice_roll(source, -3, 5)) : 0;
        }
    } while (kw_problem_check(&problem, NULL) != KW_OK);
    return problem;
}

#endif
