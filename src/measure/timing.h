/* timing.h: the timing loop on anything that can be called, and its statistics. Subjects are compared only interleaved. */
#ifndef KW_MEASURE_TIMING_H
#define KW_MEASURE_TIMING_H

#include "base/status.h"

#include "measure/measure.h"

typedef struct kw_subject {
    kw_status (*call)(void *context, kw_error *err);
    void *context;
} kw_subject;

typedef struct kw_timed {
    double time_ns, spread_ns;
    int32_t samples; /* 0: it gave up; time_ns is then what was seen */
    int32_t dropped; /* batches not counted because they were preempted */
} kw_timed;

/* threads: that a call uses; with more than one, switches of the whole process are counted. options as of kw_bench_time. */
kw_status kw_time_subjects(const kw_subject subjects[], size_t count, const kw_timing_options *options, int threads, kw_timed results[],
                           kw_error *err);

#endif
