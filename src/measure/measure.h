/* measure.h: one kernel on one device: guarded and poisoned buffers, data, verification, the timing loop and its statistics. */
#ifndef KW_MEASURE_MEASURE_H
#define KW_MEASURE_MEASURE_H

#include "backend/backend.h"

/* The tensors of one problem with guard zones, filled data and the expected result; made once, used for many kernels. */
typedef struct kw_bench kw_bench;

/* seed 0: a fixed one. Allocates device memory through the backend. */
kw_status kw_bench_open(kw_bench **bench, const kw_backend *backend, kw_device *device, const kw_problem *problem, uint64_t seed,
                        kw_error *err);
void kw_bench_close(kw_bench **bench);

/* Verifies a loaded kernel: exact on small integers, within its bound on real data, guards intact, nothing left unwritten. record gets
 * outcome, workspace and detail. An error only when the environment fails. */
kw_status kw_bench_verify(kw_bench *bench, const kw_kernel *kernel, const kw_config *config, kw_record *record, kw_error *err);

typedef struct kw_timing_options {
    bool pack_weights; /* pack stages outside the timed part */
    int32_t batches;   /* clean batches wanted; 0: 21 */
    int64_t batch_ns;  /* length aimed at; 0: 300000 */
    double give_up_ns; /* stop early when the first launches show a time above this; 0: never */
} kw_timing_options;

/* Times kernels that were verified, interleaved: one batch of each per round, the order rotating, preempted batches dropped. records[i]
 * gets time, spread and samples. What gave up has samples 0 and the time seen. */
kw_status kw_bench_time(kw_bench *bench, const kw_kernel *const kernels[], const kw_config *const configs[], size_t count,
                        const kw_timing_options *options, kw_record records[], kw_error *err);

/* Lower quartile and interquartile range of count samples (sorted in place). */
void kw_quartiles(double *samples, size_t count, double *lower, double *range);

/* Measured FLOP/s of a register-only loop of the type on this CPU with so many threads. */
double kw_cpu_peak(kw_dtype dtype, int threads);
/* Measured bytes a second at which one thread reads memory beyond the caches; 0 when there is too little memory to tell. */
double kw_cpu_bandwidth(void);

#endif
