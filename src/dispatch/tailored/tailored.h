/* tailored.h: kernels that families make for a request's problem (kw_family.tailor), of which no list has all. A registry has them where
 * it is, or has taken in, the default one whole; one that lists kernels of its own, or keeps some, means these alone. */
#ifndef KW_DISPATCH_TAILORED_TAILORED_H
#define KW_DISPATCH_TAILORED_TAILORED_H

#include "base/container/arena.h"
#include "dispatch/choose/request.h"
#include "predict/estimate.h"

/* Those that the estimate says are best, and all whose blocks meet in clusters, of which it knows less; so many at most. */
enum { KW_TAILORED_BEST = 8, KW_TAILORED_KEPT = 20 };

/* A kernel with what the problem wants in its text, and its launch. */
typedef struct kw_tailored {
    kw_config config;
    kw_launch launch;
    kw_estimate estimate;
} kw_tailored;

/* Those that serve the problem and that the registry does not list, the best first; how many. They lie in the arena. */
kw_status kw_tailored_make(kw_tailored **made, size_t *count, kw_arena *arena, const kw_request *request, kw_error *err);
/* Whether a plain config is such a one, and whether there is any. Both whatever the registry is. */
bool kw_tailored_has(const kw_request *request, const kw_config *config);
bool kw_tailored_any(const kw_request *request);

#endif
