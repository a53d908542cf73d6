/* identity.h: when two problems are one. */
#ifndef KW_PROBLEM_IDENTITY_H
#define KW_PROBLEM_IDENTITY_H

#include "problem/epilogue/epilogue.h"
#include "problem/tensors/filter.h"
#include "problem/tensors/pitch.h"

#include <string.h>

/* Copies the fields that mean something and clears all other bytes, whatever a caller left in the part of the union that is not used: equal
 * problems are then equal bytes, for memcmp and for hashes. Inline: each look-up of a plan does it. */
static inline void kw_problem_normalize(kw_problem *out, const kw_problem *problem) {
    memset(out, 0, sizeof *out);
    out->op = problem->op;
    out->dtype = problem->dtype;
    out->layout = problem->layout;
    out->ndim = problem->ndim;
    if (problem->op == KW_GEMM) {
        out->gemm = problem->gemm;
    } else {
        out->conv = problem->conv;
    }
    out->mixed = problem->mixed && problem->x_dtype != problem->dtype;
    out->x_dtype = out->mixed ? problem->x_dtype : KW_FP32;
    out->fpmath = problem->fpmath;
    out->filter_order = problem->filter_order ? kw_filter_order_normal(problem) : KW_FILTER_OF_LAYOUT;
    memcpy(out->reserved, problem->reserved, sizeof out->reserved); /* what is not known here is refused, not passed over */
    if (!kw_problem_is_dense(problem)) {
        memcpy(out->pitch, problem->pitch, sizeof out->pitch);
        kw_pitches_normalize(out);
    }
    if (problem->epilogue.count || problem->epilogue.converts) {
        kw_epilogue_normalize(&out->epilogue, &problem->epilogue);
    }
}

#endif
