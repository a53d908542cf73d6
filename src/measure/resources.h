/* resources.h: what a compiled GPU kernel needs of a multiprocessor, judged before it is run. A kernel that spills is right all the same,
 * so whoever wants to verify one may: only what picks kernels by their time (sweeps, tuning, predictions) asks here first. */
#ifndef KW_MEASURE_RESOURCES_H
#define KW_MEASURE_RESOURCES_H

#include "jit/jit.h"

/* KW_UNTRIED: nothing speaks against it, or the blob says nothing. Else KW_TOO_MUCH_LDS or KW_SPILLS, with the reason and its numbers in
 * detail. spill_limit: bytes that a thread may spill. */
kw_outcome kw_resources_check(const kw_blob_facts *facts, const kw_target *target, int64_t spill_limit, char detail[256]);

#endif
