/* direct.h: the launch that conv.direct and conv.direct_1st share; both run kernels/cpu/direct/direct.c. */
#ifndef KW_FAMILIES_CPU_DIRECT_H
#define KW_FAMILIES_CPU_DIRECT_H

#include "families/cpu/cpu_rules.h"
#include "families/cpu/emit/tile.h"

typedef struct kw_direct {
    kw_tile tile; /* first: kw_tile_valid_rules */
    int32_t band; /* output rows of a unit; 0: as many as fit half of the second-level cache */
    bool merge;   /* the columns of a filter row and the channels are one run */
    bool columns; /* the columns of a filter row are channels (kernels/cpu/direct/direct_columns.h) */
} kw_direct;

void kw_direct_launch(const kw_direct *direct, const kw_config *config, const kw_problem *problem, const kw_target *target,
                      kw_launch *launch);
void kw_direct_emit(const kw_direct *direct, const kw_config *config, kw_text *text);

#endif
