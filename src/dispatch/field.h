/* field.h: the generated kernels that may enter for a request, by the analytic estimate. */
#ifndef KW_DISPATCH_FIELD_H
#define KW_DISPATCH_FIELD_H

#include "dispatch/choose.h"

typedef struct kw_candidate {
    const kw_config *config; /* in the registry's catalog */
    double estimate_ns;
    int64_t workspace;
} kw_candidate;

typedef struct kw_field {
    kw_candidate *list; /* best estimate first; equal ones in the registry's order */
    size_t count;
    size_t over_limit; /* that fit but need more workspace than allowed; they are not in the list */
} kw_field;

kw_status kw_field_gather(kw_field *field, const kw_request *request, kw_error *err);
void kw_field_drop(kw_field *field);
/* Brings the wanted best to the front, but the best of each family before any second one, and returns how many they are: estimates of
 * different families are hard to compare, and a list ranked by one model alone repeats that model's mistake. */
size_t kw_field_shortlist(kw_field *field, size_t wanted);

#endif
