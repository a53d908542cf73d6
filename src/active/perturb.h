/* perturb.h: problems that are like another one: some extents, channels or the batch are larger or smaller by up to a factor of two,
 * everything else stays. */
#ifndef KW_ACTIVE_PERTURB_H
#define KW_ACTIVE_PERTURB_H

#include "base/status.h"

/* A legal problem near from, drawn from the state of kw_random; false when the draw gave none, or from itself. It may be of another
 * family. */
bool kw_problem_perturb(kw_problem *near, const kw_problem *from, uint64_t *state);

#endif
