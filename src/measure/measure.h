/* measure.h: one kernel on one device: guarded and poisoned buffers, data, verification, the timing loop and its statistics. */
#ifndef KW_MEASURE_MEASURE_H
#define KW_MEASURE_MEASURE_H

#include "backend/backend.h"

/* The tensors of one problem with guard zones, filled data and the expected result; made once, used for many kernels. */
typedef struct kw_bench kw_bench;

/* seed 0: a fixed one. Where the epilogue leaves too few results that tell anything, later seeds are tried. Allocates device memory through the
 * backend. */
kw_status kw_bench_open(kw_bench **bench, const kw_backend *backend, kw_device *device, const kw_problem *problem, uint64_t seed,
                        kw_error *err);
void kw_bench_close(kw_bench **bench);
/* Time spent inside kernels so far: verification, packing, warm-ups and every batch, those that were dropped as well. */
double kw_bench_kernel_ns(const kw_bench *bench);

/* Verifies a loaded kernel: exact on small integers, within its bound on real data, guards intact, nothing left unwritten. record gets
 * outcome, workspace and detail. An error only when the environment fails. */
kw_status kw_bench_verify(kw_bench *bench, const kw_kernel *kernel, const kw_config *config, kw_record *record, kw_error *err);

/* A kernel that is timed along with others, always the same one on the same small problem: what changes in it is the machine's. It runs on
 * a bench of its own, hot, verified before. One batch of it is part of every round; a round in which it is off its median by more than
 * drift_limit does not count, for any kernel. Where its level is known from earlier calls, and it is slower than that, the machine is
 * waited for, half a second a call at most. */
typedef struct kw_control {
    kw_bench *bench;
    const kw_kernel *kernel;
    const kw_config *config;
    double drift_limit; /* share; 0: 0.05 */
    double level_ns;    /* in: its time when the machine is at rest, 0: unknown; out: the same, as this call knows it */
    kw_record record;   /* out: its own times */
    double drift;       /* out: median of its last third of the rounds over that of the first third, less 1 */
} kw_control;

typedef struct kw_timing_options {
    bool pack_weights;    /* pack stages outside the timed part */
    bool cold;            /* calls rotate over copies of the tensors that take twice the last-level cache together, 1 GiB at most */
    int32_t batches;      /* clean batches wanted; 0: 21 */
    int64_t batch_ns;     /* length aimed at; 0: 300000 */
    double give_up_ns;    /* stop early when the first launches show a time above this; 0: never */
    double drop_ratio;    /* after two or three launches, those that took so many times the fastest are dropped as KW_SLOW; 0: none is */
    double best_ns;       /* the fastest known from elsewhere, for drop_ratio; 0: none */
    const int32_t *teams; /* of each kernel the threads of a CPU that it runs on; NULL: as config/launch/team.h estimates */
    bool levelled;        /* what all kernels of a round were slowed by is the machine's, and taken out of their times */
    uint64_t order_seed;  /* each round in a random order of its own, from this; 0: the order rotates */
    kw_control *control;  /* NULL: none */
    /* Told whose turn it is (control: SIZE_MAX) before each batch and before packing, and before a kernel is checked once more; outside the
     * timed part. May be NULL. */
    void (*turn)(void *user, size_t index);
    void (*reverify)(void *user, size_t index);
    void *user;
} kw_timing_options;

/* Times kernels that were verified, interleaved: one batch of each per round, preempted batches dropped. records[i] gets all times and
 * counts. What gave up has samples 0 and the time seen; what was dropped as KW_SLOW has the batches seen as samples, and time_ns alone of
 * the times. cold is set where the copies of a kernel's tensors really exceed the last-level cache. */
kw_status kw_bench_time(kw_bench *bench, const kw_kernel *const kernels[], const kw_config *const configs[], size_t count,
                        const kw_timing_options *options, kw_record records[], kw_error *err);

/* Lower quartile and interquartile range of count samples (sorted in place). */
void kw_quartiles(double *samples, size_t count, double *lower, double *range);

/* The best of several kernels on one problem, and a time for it that was not picked for being low. The least of many noisy times is too
 * low: it was chosen for its noise too. So the winner by half 0 is scored by half 1 and the other way round, which are independent:
 *
 *     time = (half1[argmin half0] + half0[argmin half1]) / 2
 *
 * index is the kernel with the least time_ns, by all samples. Only records with outcome KW_GOOD and samples take part; false, index =
 * count and time 0 when there is none. A single kernel is held against it by kw_record_score, so that the oracle's own choice has ratio 1
 * when both halves agree on it. */
bool kw_oracle(const kw_record records[], size_t count, size_t *index, double *time_ns);
/* Mean of the two halves; 0 where there are none. */
double kw_record_score(const kw_record *record);

/* Measured FLOP/s of a register-only loop of the type on this CPU with so many threads, by that instruction of the architecture (a target's arch)
 * which gets most done: tile registers, dot products, multiply-adds. 0 for types that have none of their own. */
double kw_cpu_peak(const char *arch, kw_dtype dtype, int threads);
/* Measured bytes a second at which one thread reads memory beyond the caches; 0 when there is too little memory to tell. */
double kw_cpu_bandwidth(void);
/* The same of a GPU by its own clock, FLOP/s of the type by matrix instructions (on NVIDIA multiply-adds for fp32), and bytes a second read
 * and written by a copy; 0 where the device has no such instructions, or is one that a CPU plays. Both compile a kernel of a page by jit,
 * which is for the device's target. */
kw_status kw_gpu_peak(double *flops, const kw_backend *backend, kw_device *device, const kw_jit *jit, kw_dtype dtype, kw_error *err);
kw_status kw_gpu_bandwidth(double *bytes_per_s, const kw_backend *backend, kw_device *device, const kw_jit *jit, kw_error *err);

#endif
