/* view.h: a problem seen as matrix products. Every direction of a convolution is a GEMM over gathered operands (docs/problems/problem-text.md
 * has the table); backward data with a stride is one GEMM per stride phase. Derived quantities are written here once. */
#ifndef KW_PROBLEM_VIEW_H
#define KW_PROBLEM_VIEW_H

#include "base/status.h"

/* gm x gn x gk, batch times; of a grouped product gm is the mean of its groups.
 * Taps that fall into the padding count. For backward data, phases is the number of sub-problems (one walk of
 * each axis) with at least one tap, and gm and gk are the largest that one of them has; kw_problem_walk gives each. All three are 0
 * where every tap falls beside the input, so that x is all zero. */
typedef struct kw_gemm_view {
    int64_t batch, gm, gn, gk, phases;
} kw_gemm_view;

kw_gemm_view kw_problem_view(const kw_problem *problem);

/* How output pixels of one axis of a forward or backward-data convolution walk over source pixels and taps. Of the pixels written,
 * number j sits at out_start + j out_step; its tap number t reads source position src_start + j src_step + t tap_src_step (outside
 * 0..source extent - 1 reads zero) with filter index tap_start + t tap_step. Forward has one walk an axis; backward data has one for
 * each residue of the input position mod stride, walk number phase writing positions phase, phase + stride, ..., so there are
 * min(stride, in) of them; a walk with taps = 0 writes zeros. kernels/prelude/cpu.h states the same rule for kernels;
 * tests/unit/problem/test_walk.c holds the two together. */
typedef struct kw_walk {
    int64_t pixels, out_start, out_step;
    int64_t src_start, src_step;
    int64_t taps, tap_src_step, tap_start, tap_step;
} kw_walk;

/* Walks of an axis (0 depth, 1 height, 2 width): 1 for forward, min(stride, in) for backward data. Each has at least one pixel. */
int64_t kw_problem_walks(const kw_problem *problem, int axis);
kw_walk kw_problem_walk(const kw_problem *problem, int axis, int64_t phase);
/* Whether going over all walks of all axes, and within each over the taps that kw_problem_walk looks at, is soon done: at most 4096 walks, and
 * 2^20 taps. No family but the reference ones serves what has more. */
bool kw_problem_walks_are_few(const kw_problem *problem);

/* In-bounds (output pixel, tap) pairs of one axis: the exact number of products along it. */
int64_t kw_problem_axis_products(const kw_problem *problem, int axis);
/* Whether a twentieth or more of what the filter's rows, or its columns, read for the pixels of a result is padding. Of strided backward data and of
 * backward weight: no. */
bool kw_problem_reads_padding(const kw_problem *problem);

#endif
