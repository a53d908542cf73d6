/* identity.h: when two problems are one. */
#ifndef KW_PROBLEM_IDENTITY_H
#define KW_PROBLEM_IDENTITY_H

#include "base/status.h"

/* Copies the fields that mean something and clears all other bytes, whatever a caller left in the part of the union that is not used: equal
 * problems are then equal bytes, for memcmp and for hashes. */
void kw_problem_normalize(kw_problem *out, const kw_problem *problem);

#endif
