/* worker_status.h: a page that a worker and its parent map: what the worker is doing right now. It outlives the worker, so that the parent
 * can read there which kernel was running when the worker died, and since when one runs that does not end. Writing to it costs a few
 * stores, where a line would cost a system call in the middle of a measurement.
 *
 * The worker writes, the parent reads. A kernel gone astray may write there too: what is read is checked, and blame is all that hangs on
 * it. */
#ifndef KW_SWEEP_WORKER_WORKER_STATUS_H
#define KW_SWEEP_WORKER_WORKER_STATUS_H

#include "base/status.h"

/* In the order of a job. KW_WORKER_STEP_PREPARE: the data of the problem; no kernel runs. KW_WORKER_STEP_TIME holds the packing before. */
typedef enum kw_worker_step {
    KW_WORKER_STEP_IDLE = 0,
    KW_WORKER_STEP_PREPARE,
    KW_WORKER_STEP_LOAD,
    KW_WORKER_STEP_VERIFY,
    KW_WORKER_STEP_TIME,
    KW_WORKER_STEP_REVERIFY,
    KW_WORKER_STEP_UNLOAD,
    KW_WORKER_STEP_COUNT
} kw_worker_step;

enum { KW_WORKER_KERNEL_NONE = -1, KW_WORKER_KERNEL_CONTROL = -2 };

typedef struct kw_worker_progress {
    uint64_t count; /* of entries so far: a worker whose count grows is alive */
    int64_t at_ns;  /* when it was made, monotonic */
    int32_t kernel; /* its index in the job, or KW_WORKER_KERNEL_ */
    kw_worker_step step;
} kw_worker_progress;

typedef struct kw_worker_status kw_worker_status;

/* Makes one; fd (to be closed by the caller) is what a child maps. */
kw_status kw_worker_status_create(kw_worker_status **status_page, int *fd, kw_error *err);
/* Maps one that was handed over. */
kw_status kw_worker_status_map(kw_worker_status **status_page, int fd, kw_error *err);
void kw_worker_status_close(kw_worker_status **status_page);

/* status_page NULL: nothing. */
void kw_worker_status_write(kw_worker_status *status_page, int32_t kernel, kw_worker_step step);
kw_worker_progress kw_worker_status_read(const kw_worker_status *status_page);
/* "verified", for sentences such as "while it was verified". */
const char *kw_worker_step_name(kw_worker_step step);

#endif
