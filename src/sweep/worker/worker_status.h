/* worker_status.h: a page that a worker and its parent map: what the worker is doing right now. It outlives the worker, so that the parent can
 * read there which kernel was running when the worker died, and since when one runs that does not end. Writing to it costs a few stores,
 * where a line would cost a system call in the middle of a measurement.
 *
 * The worker writes, the parent reads. A kernel gone astray may write there too: what is read is checked, and blame is all that hangs
 * on it. */
#ifndef KW_SWEEP_WORKER_WORKER_STATUS_H
#define KW_SWEEP_WORKER_WORKER_STATUS_H

#include "base/status.h"

/* In the order of a job. KW_STEP_PREPARE: the data of the problem; no kernel runs. KW_STEP_TIME holds the packing before. */
typedef enum kw_step {
    KW_STEP_IDLE = 0,
    KW_STEP_PREPARE,
    KW_STEP_LOAD,
    KW_STEP_VERIFY,
    KW_STEP_TIME,
    KW_STEP_RECHECK,
    KW_STEP_UNLOAD,
    KW_STEP_COUNT
} kw_step;

enum { KW_MARK_NONE = -1, KW_MARK_CONTROL = -2 };

typedef struct kw_mark {
    uint64_t count; /* of marks so far: one that has moved on is alive */
    int64_t at_ns;  /* when it was made, monotonic */
    int32_t kernel; /* its index in the job, or KW_MARK_ */
    kw_step step;
} kw_mark;

typedef struct kw_blackbox kw_blackbox;

/* Makes one; fd (to be closed by the caller) is what a child maps. */
kw_status kw_blackbox_make(kw_blackbox **box, int *fd, kw_error *err);
/* Maps one that was handed over. */
kw_status kw_blackbox_map(kw_blackbox **box, int fd, kw_error *err);
void kw_blackbox_close(kw_blackbox **box);

/* box NULL: nothing. */
void kw_blackbox_write(kw_blackbox *box, int32_t kernel, kw_step step);
kw_mark kw_blackbox_read(const kw_blackbox *box);
/* "verified", for sentences such as "while it was verified". */
const char *kw_step_name(kw_step step);

#endif
