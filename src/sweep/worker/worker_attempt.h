/* worker_attempt.h: one job given to one child: sent, watched, and answered or lost. What to do about a loss is worker_client.c's. */
#ifndef KW_SWEEP_WORKER_WORKER_ATTEMPT_H
#define KW_SWEEP_WORKER_WORKER_ATTEMPT_H

#include "base/os/process/child.h"
#include "sweep/worker/worker_status.h"
#include "sweep/worker/worker_client.h"

/* Whom a loss is put down to, besides a kernel's index. KW_FAULT_KERNEL_UNKNOWN: one of the kernels, it cannot be told which. */
enum { KW_FAULT_KERNEL_NONE = KW_WORKER_KERNEL_NONE, KW_FAULT_KERNEL_CONTROL = KW_WORKER_KERNEL_CONTROL, KW_FAULT_KERNEL_UNKNOWN = -3 };

typedef struct kw_worker_fault {
    int32_t kernel; /* index in the job, or KW_FAULT_KERNEL_ */
    kw_outcome outcome;
    char text[128];  /* "signal 11 (SIGSEGV) while it was verified" */
    char words[100]; /* the last line on its standard error */
} kw_worker_fault;

typedef enum kw_worker_attempt_end { KW_WORKER_ATTEMPT_DONE, KW_WORKER_ATTEMPT_STOPPED, KW_WORKER_ATTEMPT_LOST } kw_worker_attempt_end;

typedef struct kw_worker_attempt {
    kw_child *child;
    const kw_worker_status *status_page;
    const kw_worker_job *job;
    int64_t kernel_limit_ns, batch_limit_ns; /* none is 0 */
    const kw_stop *stop;                     /* may be NULL */
    /* out */
    kw_record *records; /* of the job's kernels; those that answered say so */
    bool *answered;
    double control_ns, drift, kernel_ns;
    kw_record control;
    kw_worker_fault fault; /* after a loss */
} kw_worker_attempt;

/* After a loss or a stop the child is gone and reaped. KW_NO_MEMORY is the only error. */
kw_status kw_worker_attempt_run(kw_worker_attempt *a, kw_worker_attempt_end *end, kw_error *err);

enum { KW_WORKER_CLIENT_TICK_NS = 90000000 }; /* how often stop and limits are looked at */

#endif
