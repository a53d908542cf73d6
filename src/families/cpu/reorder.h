/* reorder.h: channels-first tensors for kernels that are written for channels-last ones: kernels/cpu/lib/reorder.h does it, the launch here
 * decides how. */
#ifndef KW_FAMILIES_CPU_REORDER_H
#define KW_FAMILIES_CPU_REORDER_H

#include "config/family.h"

/* A family's launch() for channels last. Stage 0 packs weights and stage 1 computes; of a weight gradient stage 0 computes.
 * launch->reorder.band_rows says how many result rows of forward data are to be finished before the next ones, 0: that does not matter. A family
 * whose units come by rows says there how many its units have, and in band_units how many units such rows are. */
typedef void kw_launch_last(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch);

/* The launch of either layout. */
void kw_reorder_launch(kw_launch_last *last, const kw_config *config, const kw_problem *problem, const kw_target *target,
                       kw_launch *launch);

#endif
