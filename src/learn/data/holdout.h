/* holdout.h: problem lists that are kept for judging, read together. */
#ifndef KW_LEARN_DATA_HOLDOUT_H
#define KW_LEARN_DATA_HOLDOUT_H

#include "base/status.h"

/* A zeroed one is empty. */
typedef struct kw_sealed {
    kw_problem *problems;
    size_t count, capacity;
    bool failed; /* memory was wanting */
} kw_sealed;

/* Lists by name or file. A list without a problem is an error: it would say nothing. */
kw_status kw_sealed_read(kw_sealed *sealed, const char *const *lists, size_t count, kw_error *err);
void kw_sealed_drop(kw_sealed *sealed);

#endif
