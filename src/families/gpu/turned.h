/* turned.h: kernels of channels-last tensors serve channels-first ones (kw_family.turns), and those of a layout's filters serve filters in
 * other orders (kw_family.filter_text). */
#ifndef KW_FAMILIES_GPU_TURNED_H
#define KW_FAMILIES_GPU_TURNED_H

#include "config/family.h"

/* A family's launch() of channels-last problems. */
typedef void kw_launch_own(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch);

/* launch() of a family whose own is for channels-last problems: of others, with stages that turn what it reads before and what it writes
 * behind it. */
void kw_turned_launch(kw_launch_own *own, const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch);
/* Of KW_FITS, of families that turn. */
extern const kw_rule kw_turned_rules[];

#endif
