/* timing.h: the timing loop on anything that can be called. Subjects are compared only interleaved. */
#ifndef KW_MEASURE_TIMING_TIMING_H
#define KW_MEASURE_TIMING_TIMING_H

#include "base/status.h"

#include "measure/measure.h"

typedef struct kw_subject {
    kw_status (*call)(void *context, kw_error *err);
    void *context;
    /* So many calls and their time by a clock that neither the host's scheduler nor the way to the device touches: no batch of it is
     * preempted. NULL: clocks around the calls. */
    kw_status (*batch)(void *context, int64_t calls, double *ns, kw_error *err);
    /* So many calls, and what they would have taken if nobody else had the cores (kw_backend.run_alone). Looking at the clocks is part of
     * the calls. NULL: not to be had. */
    kw_status (*alone)(void *context, int64_t calls, double *ns, kw_error *err);
    int threads; /* that a call takes; 0: as kw_time_subjects is told */
} kw_subject;

/* The fields of kw_record of the same names, for one subject. */
typedef struct kw_timed {
    double time_ns, spread_ns, median_ns, mad_ns, least_ns, half_ns[2];
    int32_t samples; /* 0: it gave up; time_ns is then what was seen */
    int32_t dropped; /* batches that were preempted or in a round of drift */
    int32_t calls, warmups;
    double spent_ns; /* all calls together, those that do not count as well */
    double slow;     /* so many times the fastest, and dropped for it: time_ns is what was seen, samples the batches seen; else 0 */
} kw_timed;

/* threads: that a call uses; with more than one, switches of the whole process are counted. options as of kw_bench_time; where it has a
 * control, subjects[count] is that, results[count] gets its times and options->control->drift is set. */
kw_status kw_time_subjects(const kw_subject subjects[], size_t count, const kw_timing_options *options, int threads, kw_timed results[],
                           kw_error *err);

#endif
