/* repeated_runs.h: does a kernel give the same bits each time, on however many threads? Of sums that are not exact only an order of additions
 * that depends on nothing but config and problem does. */
#ifndef KW_TESTS_CHECK_REPEATED_RUNS_H
#define KW_TESTS_CHECK_REPEATED_RUNS_H

#include "measure/measure.h"

/* What a kernel computed first, on one bench, to be met by later runs on it or on another one of the same problem. */
typedef struct repeated_result {
    unsigned char *bytes; /* freed by the caller */
    size_t size;
} repeated_result;

/* Runs the kernel on the bench's real data, its result poisoned before, on all threads. The first run (bytes NULL) is kept; the others are
 * compared with it. KW_FAILED: it differs, or cannot be launched. */
kw_status repeated_run(repeated_result *first, kw_bench *bench, const kw_kernel *kernel, const kw_config *config, kw_error *err);

#endif
