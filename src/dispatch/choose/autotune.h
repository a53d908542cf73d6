/* autotune.h: candidates are built side by side, verified, timed one against the other, and one of them is chosen. */
#ifndef KW_DISPATCH_CHOOSE_AUTOTUNE_H
#define KW_DISPATCH_CHOOSE_AUTOTUNE_H

#include "dispatch/choose/candidates.h"

/* Measures the first count of the candidates. choice gets the winner, the records and the explanation; value what wisdom is to remember,
 * with time_ns 0 when nothing could be measured (the first one that loads is then the winner). choice->loaded stays NULL when no candidate
 * could be used. The caller holds the measuring lock. */
kw_status kw_autotune(kw_choice *choice, kw_wisdom_value *value, const kw_request *request, const kw_candidates *candidates, size_t count,
                      kw_error *err);

#endif
