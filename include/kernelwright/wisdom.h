/* wisdom.h: measured winners, which later plans are answered from.
 * Conventions are those of kernelwright.h, which includes this. */
#ifndef KERNELWRIGHT_WISDOM_H
#define KERNELWRIGHT_WISDOM_H

#include "plan.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kw_wisdom_entry {
    const char *target, *problem, *config, *date;
    kw_mode mode;
    double time_ns, spread_ns;
    int32_t candidates;
    bool fresh_weights; /* packing was part of the time */
    const char *stale;  /* NULL, or the rule of today that the entry breaks; such an entry is not used */
    bool provisional;   /* measured on a busy machine (KW_SPREAD_MAX): plans that may measure do so again */
    int32_t threads;    /* that it runs on; 0: that was not measured, and the work decides */
} kw_wisdom_entry;

/* Calls visit for each entry of a wisdom file (NULL: of all layers in use). The entry lives during the call only. */
KW_API kw_status kw_wisdom_visit(kw_context *context, const char *path, void (*visit)(void *user, const kw_wisdom_entry *entry), void *user,
                                 kw_error *err);
/* Drops what wisdom says of a problem from the user's file. *dropped may be NULL. */
KW_API kw_status kw_wisdom_forget(kw_context *context, const kw_problem *problem, int64_t *dropped, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
