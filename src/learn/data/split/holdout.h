/* holdout.h: problem lists that are kept for evaluation, read together. */
#ifndef KW_LEARN_DATA_SPLIT_HOLDOUT_H
#define KW_LEARN_DATA_SPLIT_HOLDOUT_H

#include "base/status.h"

/* A zeroed one is empty. */
typedef struct kw_holdout {
    kw_problem *problems;
    size_t count, capacity;
    bool failed; /* memory was wanting */
} kw_holdout;

/* Lists by name or file. A list without a problem is an error: it would say nothing. */
kw_status kw_holdout_read(kw_holdout *holdout, const char *const *lists, size_t count, kw_error *err);
void kw_holdout_drop(kw_holdout *holdout);

#endif
