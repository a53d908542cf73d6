/* runs.c: see runs.h. Axes are put together from the innermost on. */
#include "problem/tensors/runs.h"

#include "base/math.h"
#include "problem/tensors/pitch.h"

static void put_axis(kw_runs *runs, int64_t extent, int64_t step) {
    if (extent <= 1) {
        return;
    }
    int64_t end = (runs->count - 1) * runs->step + runs->length;
    if (runs->count == 1 && step == runs->length) { /* goes on where the run ends */
        runs->length *= extent;
        runs->step = runs->length;
    } else if (runs->count == 1 && step > runs->length) {
        runs->step = step;
        runs->count = extent;
    } else if (step % runs->step == 0 && step >= end) { /* those in the gap, if there are any, count too */
        runs->count += (extent - 1) * (step / runs->step);
    } else {
        *runs = (kw_runs){(extent - 1) * step + end, (extent - 1) * step + end, 1};
    }
}

kw_runs kw_problem_runs(const kw_problem *problem, kw_tensor tensor) {
    if (problem->op != KW_GEMM) {
        kw_image image = kw_problem_image(problem, tensor);
        if (tensor == KW_W) {
            int64_t all = kw_problem_elements(problem, tensor);
            return (kw_runs){all, all, 1};
        }
        kw_runs runs = {image.length, image.length, 1};
        for (int i = 0; i < KW_PITCHES; i++) {
            put_axis(&runs, image.extent[i], image.step[i]);
        }
        return runs;
    }
    kw_matrix m = kw_problem_matrix(problem, tensor);
    kw_runs runs = {m.length, m.length, 1};
    bool inner_batch = m.batch_step < m.line_step; /* matrices between each other's lines */
    put_axis(&runs, inner_batch ? m.batch : m.lines, inner_batch ? m.batch_step : m.line_step);
    put_axis(&runs, inner_batch ? m.lines : m.batch, inner_batch ? m.line_step : m.batch_step);
    return runs;
}
