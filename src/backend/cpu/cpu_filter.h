/* cpu_filter.h: tensors of a filter's shape copied from one order into another (config/launch/filter_copies.h). */
#ifndef KW_BACKEND_CPU_CPU_FILTER_H
#define KW_BACKEND_CPU_CPU_FILTER_H

#include "config/launch/filter_copies.h"

/* Worked out once: what a stage copies. */
typedef struct kw_cpu_filter {
    int32_t count;
    kw_filter_tensor tensor[KW_EXTRA_MAX];
    int64_t k, c, taps;
    int64_t from[KW_FILTER_STEPS], to[KW_FILTER_STEPS];
} kw_cpu_filter;

/* The same with a run's memory. */
typedef struct kw_cpu_filter_run {
    const kw_cpu_filter *what;
    const char *from[KW_EXTRA_MAX];
    char *to[KW_EXTRA_MAX];
} kw_cpu_filter_run;

/* Into the layout's order, or back into the problem's. */
void kw_cpu_filter_in(kw_cpu_filter *filter, const kw_problem *problem);
void kw_cpu_filter_back(kw_cpu_filter *filter, const kw_problem *problem);
/* Units of KW_FILTER_COPY_ROWS output channels. */
void kw_cpu_filter_copy(const kw_cpu_filter_run *run, int64_t begin, int64_t end);

#endif
