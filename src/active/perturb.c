/* perturb.c: a few sizes of a problem scaled at random. */
#include "active/perturb.h"

#include "base/statistics/random.h"

#include <math.h>
#include <string.h>

static const double factors[] = {0.5, 0.625, 0.75, 0.875, 1.125, 1.25, 1.5, 2};
enum { FACTORS = sizeof factors / sizeof *factors };

/* Never the same size: small ones move by 1. */
static int64_t scale_size(int64_t size, double factor) {
    int64_t moved = (int64_t)round((double)size * factor);
    moved = moved != size ? moved : factor < 1 ? size - 1 : size + 1;
    return moved < 1 ? 1 : moved;
}

static double draw_factor(uint64_t *state) {
    return factors[kw_random_below(state, FACTORS)];
}

static int64_t perturb_size(int64_t size, uint64_t *state) {
    return scale_size(size, draw_factor(state));
}

static void perturb_gemm(kw_gemm_dims *gemm, int what, uint64_t *state) {
    int64_t *sizes[] = {&gemm->m, &gemm->n, &gemm->k, &gemm->batch};
    int64_t *size = sizes[what % 4];
    *size = size == &gemm->batch && *size == 1 ? 1 : perturb_size(*size, state);
}

/* Channels of a group stay whole; a depthwise problem stays one. */
static void perturb_conv(kw_conv_dims *conv, int ndim, int what, uint64_t *state) {
    int64_t cg = conv->c / conv->g, kg = conv->k / conv->g;
    bool depthwise = conv->g > 1 && conv->g == conv->c;
    int axis;
    switch (what % 5) {
    case 0:
        conv->n = perturb_size(conv->n, state);
        break;
    case 1:
        cg = depthwise ? cg : perturb_size(cg, state);
        conv->g = depthwise ? perturb_size(conv->g, state) : conv->g;
        break;
    case 2:
        kg = depthwise ? kg : perturb_size(kg, state);
        conv->g = depthwise ? perturb_size(conv->g, state) : conv->g;
        break;
    case 3:
        /* The axis is drawn first: C leaves the order of operands open, and a seed must give the same problems everywhere. */
        axis = 3 - ndim + (int)kw_random_below(state, (uint64_t)ndim);
        conv->in[axis] = perturb_size(conv->in[axis], state);
        break;
    default: {
        double factor = draw_factor(state); /* one for all axes: the image keeps its shape */
        for (axis = 3 - ndim; axis < 3; axis++) {
            conv->in[axis] = scale_size(conv->in[axis], factor);
        }
    }
    }
    conv->c = cg * conv->g;
    conv->k = kg * conv->g;
}

bool kw_problem_perturb(kw_problem *near, const kw_problem *from, uint64_t *state) {
    char texts[2][KW_PROBLEM_TEXT_MAX];
    int changes = 1 + (int)kw_random_below(state, 3);
    *near = *from;
    for (int i = 0; i < changes; i++) {
        int what = (int)kw_random_below(state, 20);
        if (from->op == KW_GEMM) {
            perturb_gemm(&near->gemm, what, state);
        } else {
            perturb_conv(&near->conv, from->ndim, what, state);
        }
    }
    if (kw_problem_check(near, NULL)) {
        return false;
    }
    kw_problem_print(texts[0], sizeof texts[0], near);
    kw_problem_print(texts[1], sizeof texts[1], from);
    return strcmp(texts[0], texts[1]) != 0;
}
