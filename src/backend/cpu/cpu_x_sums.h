/* cpu_x_sums.h: sums of x for weights with zero points (config/launch/x_sums.h). */
#ifndef KW_BACKEND_CPU_CPU_X_SUMS_H
#define KW_BACKEND_CPU_CPU_X_SUMS_H

#include "config/launch/x_sums.h"

/* Worked out once. Extents of a product: its rows are a row of pixels, its batch images. */
typedef struct kw_cpu_x_sums {
    int64_t images, in[3], out[3], filter[3], stride[3], pad[3], dilation[3];
    int64_t groups, channels, step[5]; /* elements from an image to the next, a plane, row, column, channel */
    int64_t
        block; /* groups whose sums of a row lie side by side, in what the kernel reads: all rows of one block, then those of the next */
    bool is_unsigned, windows, shifted;
    kw_dtype zero_type;
} kw_cpu_x_sums;

/* The same with a run's memory; pixels: sums over channels, rows: what the kernel reads, the same where there are no windows. */
typedef struct kw_cpu_x_sums_run {
    const kw_cpu_x_sums *what;
    const char *x;
    const void *zero;
    int32_t *pixels, *rows;
} kw_cpu_x_sums_run;

/* block: of groups that the kernel works on at a time (kw_reorder.groups); 0: all. */
void kw_cpu_x_sums_of(kw_cpu_x_sums *sums, const kw_problem *problem, int64_t block);
/* Units of KW_X_SUMS_ROWS pixels of x, of stage 0, or of the result, of stage 1. */
void kw_cpu_x_sums_do(const kw_cpu_x_sums_run *run, int stage, int64_t begin, int64_t end);

#endif
