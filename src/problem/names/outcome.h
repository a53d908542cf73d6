/* outcome.h: what can become of a kernel on a problem, beside the names that kernelwright.h declares. */
#ifndef KW_PROBLEM_NAMES_OUTCOME_H
#define KW_PROBLEM_NAMES_OUTCOME_H

#include "base/status.h"

/* Whether it counts as a failure of the kernel: neither timed, nor slow, nor a kernel that does not serve the problem. */
bool kw_outcome_is_failure(kw_outcome outcome);
/* The record ends with this outcome, for this reason, which is cut to the record's room. */
void kw_record_fail(kw_record *record, kw_outcome outcome, const kw_error *why);

#endif
