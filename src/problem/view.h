/* view.h: a problem seen as matrix products. Every direction of a convolution is a GEMM over gathered operands (docs/problem-text.md
 * has the table); backward data with a stride is one GEMM per stride phase. Derived quantities are written here once. */
#ifndef KW_PROBLEM_VIEW_H
#define KW_PROBLEM_VIEW_H

#include "base/status.h"

/* gm x gn x gk, batch times. For backward data, phases is the number of sub-problems with at least one tap and gk and gm are the
 * largest phase's; kw_phase gives each. */
typedef struct kw_gemm_view {
    int64_t batch, gm, gn, gk, phases;
} kw_gemm_view;

kw_gemm_view kw_problem_view(const kw_problem *problem);

/* How output pixels of one axis of a forward or backward-data convolution walk over source pixels and taps. Of the pixels written,
 * number j sits at out_start + j out_step; its tap number t reads source position src_start + j src_step + t tap_src_step (outside
 * 0..source extent - 1 reads zero) with filter index tap_start + t tap_step. Forward has one walk an axis; backward data has one for
 * each residue of (in + pad) mod stride, and a walk with taps = 0 writes zeros. kernels/prelude/cpu.h states the same rule for
 * kernels; tests/unit/test_walk.c holds the two together. */
typedef struct kw_walk {
    int64_t pixels, out_start, out_step;
    int64_t src_start, src_step;
    int64_t taps, tap_src_step, tap_start, tap_step;
} kw_walk;

/* Walks of an axis (0 depth, 1 height, 2 width): 1 for forward, the stride for backward data. */
int64_t kw_problem_walks(const kw_problem *problem, int axis);
kw_walk kw_problem_walk(const kw_problem *problem, int axis, int64_t phase);

/* In-bounds (output pixel, tap) pairs of one axis: the exact number of products along it. */
int64_t kw_problem_axis_products(const kw_problem *problem, int axis);

#endif
