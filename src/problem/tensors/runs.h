/* runs.h: where a tensor lies, as runs of memory one distance apart: a matrix or image with a leading dimension, a slice of columns, channels
 * or rows. */
#ifndef KW_PROBLEM_TENSORS_RUNS_H
#define KW_PROBLEM_TENSORS_RUNS_H

#include "base/status.h"

/* count runs of length elements, each step after the one before it; of one run step is its length. */
typedef struct kw_runs {
    int64_t length, step, count;
} kw_runs;

/* All places of the tensor's elements. Exact for what has one distance between its runs, which all dense tensors and slices of dense ones along
 * one axis have; where axes have distances of their own, runs that lie between theirs are counted too, or at last all from the first element
 * to the last. Runs do not overlap. */
kw_runs kw_problem_runs(const kw_problem *problem, kw_tensor tensor);

#endif
