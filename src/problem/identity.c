/* identity.c: see identity.h. */
#include "problem/identity.h"

#include <string.h>

void kw_problem_normalize(kw_problem *out, const kw_problem *problem) {
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
}
