/* enumerate.h: the configs that a rule set declares for an architecture. */
#ifndef KW_SPACE_ENUMERATE_H
#define KW_SPACE_ENUMERATE_H

#include "config/config.h"

#include <kernelwright_tune.h>

/* Visits each config once, in a fixed order: families in the order of kw_family_table, then op, dtype, then the product of the axes with
 * the last axis fastest. options->arch must be given (KW_ILLEGAL); visit returns false to stop. */
kw_status kw_enumerate(const kw_space_options *options, bool (*visit)(void *user, const kw_config *config), void *user, kw_error *err);

/* The options (may be NULL) with an architecture: where none is named, that of this machine's CPU, whose text target keeps. In space.c. */
kw_status kw_space_settle(kw_space_options *whole, const kw_space_options *options, kw_target *target, kw_error *err);

#endif
