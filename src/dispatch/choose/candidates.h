/* candidates.h: the generated kernels that may enter for a request, in the order in which they are expected to be fast: by the model that
 * serves, else by the analytic estimate. */
#ifndef KW_DISPATCH_CHOOSE_CANDIDATES_H
#define KW_DISPATCH_CHOOSE_CANDIDATES_H

#include "base/container/arena.h"
#include "dispatch/choose/request.h"
#include "predict/shortlist.h"

typedef struct kw_candidates {
    kw_candidate *list; /* least expected time first; equal ones by estimate, then in the registry's order */
    size_t count;
    kw_arena arena;                    /* of the list and such configs as are made for the problem */
    kw_launch *launches;               /* of the registry's kernels in it */
    size_t over_limit;                 /* that fit but need more workspace than allowed; they are not in the list */
    kw_selector_prediction prediction; /* whose times they are */
} kw_candidates;

kw_status kw_candidates_gather(kw_candidates *candidates, const kw_request *request, kw_error *err);
void kw_candidates_drop(kw_candidates *candidates);

#endif
