/* cpu_filter.c: where output channels lie side by side in one of the two orders, a unit goes through input channels and taps and copies its
 * output channels of each; else one output channel after the other, whose input channels or taps lie side by side. */
#include "backend/cpu/cpu_filter.h"

#include "base/math.h"

#include <string.h>

static void set_sizes(kw_cpu_filter *filter, const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    filter->k = d->k;
    filter->c = d->c / d->g;
    filter->taps = d->filter[0] * d->filter[1] * d->filter[2];
}

void kw_cpu_filter_in(kw_cpu_filter *filter, const kw_problem *problem) {
    set_sizes(filter, problem);
    filter->count = kw_filter_tensors_in(filter->tensor, problem);
    kw_filter_steps(filter->from, problem, problem->filter_order);
    kw_filter_steps(filter->to, problem, KW_FILTER_OF_LAYOUT);
}

void kw_cpu_filter_back(kw_cpu_filter *filter, const kw_problem *problem) {
    set_sizes(filter, problem);
    filter->count = 1;
    filter->tensor[0] = (kw_filter_tensor){KW_W, (int32_t)kw_dtype_size(kw_problem_dtype(problem, KW_W))};
    kw_filter_steps(filter->from, problem, KW_FILTER_OF_LAYOUT);
    kw_filter_steps(filter->to, problem, problem->filter_order);
}

/* bytes is a constant wherever this is called. */
static inline __attribute__((always_inline)) void copy_rows(const kw_cpu_filter *f, const char *from, char *to, int64_t rows,
                                                            size_t bytes) {
    int64_t size = (int64_t)bytes;
    for (int64_t c = 0; c < f->c; c++) {
        for (int64_t tap = 0; tap < f->taps; tap++) {
            const char *source = from + (c * f->from[KW_FILTER_STEP_C] + tap * f->from[KW_FILTER_STEP_TAP]) * size;
            char *place = to + (c * f->to[KW_FILTER_STEP_C] + tap * f->to[KW_FILTER_STEP_TAP]) * size;
            for (int64_t row = 0; row < rows; row++) {
                memcpy(place + row * f->to[KW_FILTER_STEP_K] * size, source + row * f->from[KW_FILTER_STEP_K] * size, bytes);
            }
        }
    }
}

void kw_cpu_filter_copy(const kw_cpu_filter_run *run, int64_t begin, int64_t end) {
    const kw_cpu_filter *f = run->what;
    int64_t first = begin * KW_FILTER_COPY_ROWS, rows = kw_min(f->k, end * KW_FILTER_COPY_ROWS) - first;
    bool side_by_side = f->from[KW_FILTER_STEP_K] == 1 || f->to[KW_FILTER_STEP_K] == 1;
    int64_t at_once = side_by_side ? KW_FILTER_COPY_ROWS : 1;
    for (int32_t i = 0; i < f->count; i++) {
        int64_t size = f->tensor[i].bytes;
        for (int64_t row = 0; row < rows; row += at_once) {
            const char *from = run->from[i] + (first + row) * f->from[KW_FILTER_STEP_K] * size;
            char *to = run->to[i] + (first + row) * f->to[KW_FILTER_STEP_K] * size;
            int64_t some = kw_min(rows - row, at_once);
            switch (size) {
            case 1:
                copy_rows(f, from, to, some, 1);
                break;
            case 2:
                copy_rows(f, from, to, some, 2);
                break;
            default:
                copy_rows(f, from, to, some, 4);
                break;
            }
        }
    }
}
