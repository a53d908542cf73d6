/* x_sums.c: where the sums of x lie and which stages make them. */
#include "config/launch/x_sums.h"

#include "base/math.h"
#include "config/launch/workspace.h"
#include "problem/epilogue/epilogue.h"
#include "problem/tensors/pitch.h"

#include <assert.h>
#include <math.h>

bool kw_x_sums_have_windows(const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    bool windows = false;
    for (int axis = 0; axis < 3 && problem->op != KW_GEMM; axis++) {
        windows |= d->filter[axis] > 1 || d->stride[axis] > 1 || d->pad[axis] || d->pad_back[axis];
    }
    return windows;
}

static void insert_stage(kw_launch *launch, int64_t rows) {
    assert(launch->stages < KW_STAGE_MAX);
    for (int i = launch->stages++; i > 0; i--) {
        launch->stage[i] = launch->stage[i - 1];
    }
    launch->stage[0] = (kw_stage){.units = kw_ceil_div(rows, KW_X_SUMS_ROWS)};
    launch->turning.x_sums++;
    launch->turning.filter_in += launch->turning.filter_in > 0;
    launch->turning.filter_back += launch->turning.filter_back > 0;
}

static int64_t take_shared(kw_launch *launch, int64_t values) {
    int64_t at = kw_round_up(launch->shared_bytes, KW_WORKSPACE_ALIGN);
    launch->shared_bytes = at + values * (int64_t)sizeof(int32_t);
    launch->copied_bytes += 2 * (double)values * sizeof(int32_t);
    return at;
}

void kw_x_sums_add(kw_launch *launch, const kw_problem *problem) {
    int64_t rows = problem->gemm.batch * problem->gemm.m, pixels = rows, groups = 1, taps = 0;
    bool windows = kw_x_sums_have_windows(problem);
    if (problem->op != KW_GEMM) {
        const kw_conv_dims *d = &problem->conv;
        int64_t out[3];
        kw_problem_output(out, problem);
        pixels = d->n * d->in[0] * d->in[1] * d->in[2];
        rows = d->n * out[0] * out[1] * out[2];
        groups = d->g;
        taps = windows ? d->filter[0] * d->filter[1] * d->filter[2] : 0;
    }
    launch->turning.copy[KW_TENSOR_COUNT + kw_epilogue_tensors(&problem->epilogue)] =
        (kw_copy){.made = true, .at = take_shared(launch, rows * groups)};
    if (windows) {
        launch->turning.x_sums_at = take_shared(launch, pixels * groups);
        insert_stage(launch, rows);
    }
    insert_stage(launch, pixels);
    double elements = (double)kw_problem_values(problem, KW_X);
    launch->copied_bytes += elements;
    launch->loads += fmax(elements / 16, (double)(pixels * groups)) + (double)(rows * groups) * (double)taps / 4; /* vectors of 16 bytes */
}
