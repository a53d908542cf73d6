/* print.c: the canonical text of a problem. It names every value, so equal problems and only those have equal text; persistent keys
 * stand on that. */
#include "problem/text/dims.h"
#include "problem/epilogue/epilogue.h"
#include "problem/tensors/filter.h"
#include "problem/tensors/pitch.h"

#include <inttypes.h>
#include <string.h>

static void print_list(kw_line *line, const int64_t *values, int count) {
    for (int i = 0; i < count; i++) {
        kw_line_addf(line, "%s%" PRId64, i ? "x" : "", values[i]);
    }
}

size_t kw_problem_print(char *text, size_t capacity, const kw_problem *problem) {
    kw_line line = {text, capacity, 0};
    int ndim = problem->op == KW_GEMM ? 0 : problem->ndim < 1 ? 1 : problem->ndim > 3 ? 3 : problem->ndim;
    const char *layout = kw_layout_name(problem->layout, ndim);
    kw_line_addf(&line, "%s %s %s", kw_op_name(problem->op), kw_dtype_name(problem->dtype), layout ? layout : "unknown");
    for (const kw_dim *dim = kw_dims(problem->op); dim->letter; dim++) {
        int first = dim->spatial ? 3 - ndim : 0, count = dim->spatial ? ndim : 1;
        const int64_t *values = kw_dim_value(problem, dim->offset) + first;
        if (!dim->spatial && !dim->low && !*values) {
            continue;
        }
        kw_line_addf(&line, " %c", dim->letter);
        print_list(&line, values, count);
        const int64_t *back = dim->back ? kw_dim_value(problem, dim->back) + first : values;
        if (memcmp(back, values, (size_t)count * sizeof *back) != 0) {
            kw_line_addf(&line, ":");
            print_list(&line, back, count);
        }
    }
    for (int t = 0; t < KW_TENSOR_COUNT && problem->op == KW_GEMM; t++) {
        for (int i = 0; i < 2; i++) {
            int64_t pitch = problem->pitch[t][i];
            if (pitch) {
                kw_line_addf(&line, " %s%" PRId64, kw_pitch_words[t][i], pitch == KW_BROADCAST ? 0 : pitch);
            }
        }
    }
    for (int t = 0; t < KW_TENSOR_COUNT && problem->op != KW_GEMM; t++) {
        for (int i = 0; i < KW_PITCHES; i++) {
            int64_t pitch = problem->pitch[t][i];
            if (pitch) {
                kw_line_addf(&line, " ld%c%c%" PRId64, "xwy"[t], kw_pitch_letters(problem->layout)[i], pitch);
            }
        }
    }
    if (problem->mixed) {
        kw_line_addf(&line, " x=%s", kw_dtype_name(problem->x_dtype));
    }
    if (problem->fpmath) {
        kw_line_addf(&line, " fpmath=%s", problem->fpmath == KW_FPMATH_TF32 ? "tf32" : "fast_accum");
    }
    if (problem->filter_order) {
        kw_line_addf(&line, " filter=%s", kw_filter_order_name(problem->filter_order));
    }
    kw_epilogue_print(&line, &problem->epilogue);
    return line.size;
}
