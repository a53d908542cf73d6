/* accepted.h: what holds for every problem that any reader accepts: it is legal, its text is read back to the same bytes, and what is
 * derived from it is in range. */
#ifndef KW_FUZZ_ACCEPTED_H
#define KW_FUZZ_ACCEPTED_H

#include "fuzz/fuzz.h"
#include "problem/view.h"

static inline void check_accepted(const kw_problem *problem) {
    char text[KW_PROBLEM_TEXT_MAX];
    kw_problem again;
    require(kw_problem_check(problem, NULL) == KW_OK);
    require(kw_problem_print(text, sizeof text, problem) < sizeof text);
    require(kw_problem_parse(&again, text, NULL) == KW_OK);
    require(!memcmp(&again, problem, sizeof again));
    int64_t out[3];
    kw_problem_output(out, problem);
    require(out[0] >= 1 && out[1] >= 1 && out[2] >= 1);
    require(kw_problem_flops(problem) >= 0);
    require(kw_problem_bytes(problem) > 0);
    if (problem->op == KW_GEMM) {
        return;
    }
    for (int axis = 0; axis < 3; axis++) {
        int64_t products = kw_problem_axis_products(problem, axis);
        require(products >= 0 && products <= out[axis] * problem->conv.filter[axis]);
    }
    if (problem->op == KW_CONV_BWD_DATA && problem->conv.filter[0] * problem->conv.filter[1] * problem->conv.filter[2] > 100000) {
        return; /* the view goes over all taps */
    }
    kw_gemm_view view = kw_problem_view(problem);
    require(view.batch >= 1 && view.gn >= 1 && view.gm >= 0 && view.gk >= 0 && view.phases >= 0);
}

#endif
