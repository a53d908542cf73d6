/* sweep_rows.h: records become rows. There is one writer a sweep; many threads may add, each batch is one transaction. */
#ifndef KW_SWEEP_SWEEP_ROWS_H
#define KW_SWEEP_SWEEP_ROWS_H

#include "sweep/sweep_plan.h"
#include "store/sink.h"

#include <pthread.h>

typedef struct kw_sweep_writer {
    const kw_sink *sink;
    pthread_mutex_t lock;
    kw_row shape;     /* what all rows of the sweep share */
    int64_t sequence; /* of the last row */
    int64_t outcome[KW_OUTCOME_COUNT];
} kw_sweep_writer;

/* What was found out together, about one problem. */
typedef struct kw_sweep_batch {
    const char *problem;
    const kw_sweep_kernel *const *kernels; /* one a record */
    const kw_record *records;              /* those that are KW_UNTRIED give no row */
    size_t count;
    double control_ns, drift;
} kw_sweep_batch;

/* run is added to the sink first. */
kw_status kw_sweep_writer_open(kw_sweep_writer *writer, const kw_sink *sink, const kw_run *run, const kw_sweep_plan *plan,
                               const kw_sweep_options *options, kw_error *err);
void kw_sweep_writer_close(kw_sweep_writer *writer);
/* All rows of the batch are in the sink when it returns KW_OK. */
kw_status kw_sweep_writer_add(kw_sweep_writer *writer, const kw_sweep_batch *batch, kw_error *err);

/* Rows for pairs that need no device: those that cannot run, and those whose kernel was refused when it was built, which are taken out of
 * the tasks' fit. */
kw_status kw_sweep_write_unfit(kw_sweep_writer *writer, const kw_sweep_plan *plan, const kw_sweep_options *options, kw_error *err);
kw_status kw_sweep_write_refused(kw_sweep_writer *writer, kw_sweep_plan *plan, kw_error *err);

#endif
