/* candidates.h: the generated kernels that may enter for a request, in the order in which they are expected to be fast: by the model that
 * serves, else by the analytic estimate. */
#ifndef KW_DISPATCH_CHOOSE_CANDIDATES_H
#define KW_DISPATCH_CHOOSE_CANDIDATES_H

#include "dispatch/choose/choose.h"

typedef struct kw_candidate {
    const kw_config *config; /* in the registry's catalog */
    double expected_ns;      /* the model's time (INFINITY: it has none), or the estimate where no model answers */
    double estimate_ns;      /* kw_predict_ns */
    int64_t workspace;
} kw_candidate;

typedef struct kw_candidates {
    kw_candidate *list; /* least expected time first; equal ones by estimate, then in the registry's order */
    size_t count;
    size_t over_limit;                 /* that fit but need more workspace than allowed; they are not in the list */
    kw_selector_prediction prediction; /* whose times they are */
} kw_candidates;

kw_status kw_candidates_gather(kw_candidates *candidates, const kw_request *request, kw_error *err);
void kw_candidates_drop(kw_candidates *candidates);
/* Brings the wanted candidates to the front and returns how many they are. By a model: its best, the estimate's best, the best of each
 * family whose best time is within reach of the best of all, then the model's next ones, in that order: a list ranked by one model alone
 * repeats that model's mistake. By the estimate: the best of each family before any second one, least estimate first, because estimates of
 * different families are hard to compare. */
size_t kw_candidates_shortlist(kw_candidates *candidates, size_t wanted);

#endif
