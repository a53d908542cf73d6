/* legal_wants.c: see the header. */
#include "check/legal/legal_wants.h"

#include "base/statistics/random.h"
#include "problem/epilogue/epilogue.h"
#include "problem/tensors/pitch.h"

#include <stdio.h>
#include <string.h>

/* Steps that do not make most results zero, and few: each list is a kernel to compile. */
static const char *const forward[] = {
    " epilogue=bias+relu",           " epilogue=bias:fp32+relu", " epilogue=add+relu", " epilogue=scale_channel+bias:fp32+leaky_relu:0.125",
    " epilogue=scale+beta+add:fp32", " epilogue=multiply:fp32",  " epilogue=scale_row"};
static const char *const gradient[] = {" epilogue=bias_gradient:fp32", " epilogue=scale", " epilogue=add:fp32"};

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* By its text, where all of it has its words. */
void legal_epilogue_draw(uint64_t *random, kw_problem *problem) {
    char text[2 * KW_PROBLEM_TEXT_MAX];
    kw_problem with;
    bool weight = problem->op == KW_CONV_BWD_WEIGHT;
    const char *steps = weight ? gradient[kw_random_below(random, COUNT(gradient))] : forward[kw_random_below(random, COUNT(forward))];
    problem->epilogue = (kw_epilogue){0};
    kw_problem_print(text, KW_PROBLEM_TEXT_MAX, problem);
    strcat(text, steps);
    if (!kw_problem_parse(&with, text, NULL)) {
        *problem = with;
    }
}

void legal_pitches_draw(uint64_t *random, kw_problem *problem) {
    kw_problem with = *problem;
    bool gemm = problem->op == KW_GEMM;
    for (kw_tensor t = KW_X; t <= KW_Y; t++) {
        for (int axis = 0; axis < (gemm ? 2 : KW_PITCHES) && (gemm || t != KW_W); axis++) {
            kw_matrix matrix = gemm ? kw_problem_matrix(&with, t) : (kw_matrix){0};
            kw_image image = gemm ? (kw_image){0} : kw_problem_image(&with, t);
            int64_t dense = !gemm ? image.step[axis] : axis ? matrix.lines * matrix.line_step : matrix.length;
            with.pitch[t][axis] = kw_random_below(random, 3) ? 0 : dense + 1 + (int64_t)kw_random_below(random, 9);
        }
    }
    kw_pitches_normalize(&with);
    if (!kw_problem_check(&with, NULL)) {
        *problem = with;
    }
}
