/* plan.h: the inside of a kw_plan: a handle on a shared impl, and the weights that it was given in the kernel's own order. */
#ifndef KW_DISPATCH_PLAN_H
#define KW_DISPATCH_PLAN_H

#include "dispatch/context.h"

struct kw_plan {
    kw_plan_impl *impl;
    void *packed; /* the weights in the kernel's order; NULL: not packed beforehand */
    bool owned;   /* packed is the plan's own memory (kw_plan_pack_weights); else the caller's (kw_plan_use_packed) */
};

/* What a launch is given: checked, and the workspace cut. */
kw_status kw_plan_read_tensors(kw_launch_memory *memory, const kw_plan *plan, const kw_tensors *tensors, kw_error *err);
/* Runs the pack stages, and returns when the weights are in packed: packed_bytes of the launch. */
kw_status kw_plan_pack_into(const kw_plan *plan, void *packed, const void *w, kw_error *err);
/* packed is the plan's from now on; what it had before is given back where it was its own. */
void kw_plan_set_packed(kw_plan *plan, void *packed, bool owned);
/* KW_OK where w may be packed: it is there and aligned. */
kw_status kw_plan_check_weights(const kw_plan *plan, const void *w, kw_error *err);

#endif
