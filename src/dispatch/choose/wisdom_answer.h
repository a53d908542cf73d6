/* wisdom_answer.h: what wisdom says to a request. An entry is used where today's rules accept its kernel, the request's conditions hold,
 * and as many kernels were considered as would be now; one that is old, or whose kernel another compiler made, is verified first. One whose
 * time was measured on a busy machine (kw_noise_restless) is provisional: it answers those who may not measure, and is measured anew and
 * replaced by those who may. */
#ifndef KW_DISPATCH_CHOOSE_WISDOM_ANSWER_H
#define KW_DISPATCH_CHOOSE_WISDOM_ANSWER_H

#include "dispatch/choose/request.h"

bool kw_wisdom_is_provisional(const kw_wisdom_value *value, const kw_request *request);
/* Asks the layers in their order up to the first that answers: choice->loaded or, where it is to be verified, choice->in_doubt. */
void kw_wisdom_answer(kw_choice *choice, const kw_request *request);
/* Verifies choice->in_doubt on the problem, which is not timed: one verification costs the reference result, which measuring costs too. It
 * becomes choice->loaded where it is right or could not be verified; where it is right, wisdom says so from now on. The caller holds the
 * measuring lock. */
kw_status kw_wisdom_verify(kw_choice *choice, const kw_request *request, kw_error *err);
/* Writes the winner down. Where another process was first with the same problem, its answer is taken instead: one decision for all. */
kw_status kw_wisdom_remember(kw_choice *choice, const kw_request *request, const kw_wisdom_value *winner, kw_error *err);

#endif
