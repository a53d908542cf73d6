/* choose.h: from a request to one kernel. Wisdom is asked first (wisdom_answer.h); what it does not know comes from a model or the analytic
 * estimate (candidates.h) or from measuring (autotune.h), and where nothing else serves from the reference kernel. */
#ifndef KW_DISPATCH_CHOOSE_CHOOSE_H
#define KW_DISPATCH_CHOOSE_CHOOSE_H

#include "dispatch/choose/request.h"

/* Answers that need no measuring lock: wisdom's and, where nothing may be measured, the model's or estimate's or the reference kernel.
 * KW_OK without choice->loaded: kernels are to be measured or, with choice->in_doubt, one is to be verified. */
kw_status kw_choose_known(kw_choice *choice, const kw_request *request, kw_error *err);
/* The verification or the measuring. The caller holds the context's measuring lock, and wisdom has not changed since choice asked it. */
kw_status kw_choose_measured(kw_choice *choice, const kw_request *request, kw_error *err);

#endif
