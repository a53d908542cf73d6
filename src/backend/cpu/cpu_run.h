/* cpu_run.h: a kernel's stages over threads. */
#ifndef KW_BACKEND_CPU_CPU_RUN_H
#define KW_BACKEND_CPU_CPU_RUN_H

#include "backend/backend.h"
#include "backend/cpu/cpu_filter.h"
#include "backend/cpu/cpu_pool.h"
#include "backend/cpu/cpu_x_sums.h"

#include "prelude/kernel_abi.h"

enum { KW_CPU_THREADS_MAX = 1024 };

/* Whose threads: the host's, where it lends some, else the library's. */
typedef struct kw_cpu_threads {
    kw_cpu_pool *pool;
    kw_host_threads host;
    int most; /* that a run takes */
} kw_cpu_threads;

/* The stages of one launch, in order; threads takes part in each. */
typedef struct kw_cpu_work {
    kw_kernel_args args;
    kw_kernel_stage *stage[KW_STAGE_MAX];          /* NULL: the stage sums x or copies */
    const kw_cpu_filter_run *filter[KW_STAGE_MAX]; /* what, there */
    const kw_cpu_x_sums_run *sums;                 /* of the first stages, so many */
    int32_t sums_stages;
    int64_t units[KW_STAGE_MAX];
    int32_t stages;
    char *thread_memory;
    size_t thread_bytes;
    int64_t (*share_ns)[KW_CPU_THREADS_MAX]; /* NULL, or zeros for KW_STAGE_MAX stages: each share's time, by processor clocks */
} kw_cpu_work;

/* Runs the stages on at most so many threads and returns when all are done; wake as in cpu_pool.h. */
void kw_cpu_run(kw_cpu_work *work, const kw_cpu_threads *on, int threads, bool wake);

/* Things that have nothing to do with each other, each of which one thread does: those of a share lie side by side, so that most often a thread
 * has the same ones each time, and who is done takes over what the others did not begin. */
typedef struct kw_cpu_list {
    int count;
    double (*work)(void *user, int item); /* of any unit; items are shared out by it */
    void (*run)(void *user, int item);
    void *user;
} kw_cpu_list;
void kw_cpu_run_list(const kw_cpu_list *list, const kw_cpu_threads *on, int threads, bool wake);

#endif
