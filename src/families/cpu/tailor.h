/* tailor.h: tiles of CPU kernels made to a problem's measure (kw_family.tailor), for families whose tiles are pixels by vectors of results
 * (docs/kernels/cpu-tailored.md). */
#ifndef KW_FAMILIES_CPU_TAILOR_H
#define KW_FAMILIES_CPU_TAILOR_H

#include "families/cpu/emit/tile.h"

/* Of one problem. base has its operation and type, and the values of all axes but isa, math and these two. */
typedef struct kw_tailor_rows {
    kw_config base;
    int32_t cols_axis, vecs_axis; /* pixels and vectors of a tile */
    int64_t pixels;               /* of a row that tiles end with */
    int64_t results;              /* of a group, which fill the vectors */
} kw_tailor_rows;

size_t kw_tailor_tiles(const kw_tailor_rows *rows, const kw_target *target, kw_config configs[KW_TAILORED_MAX]);
/* Pixels of the longest row of a convolution's result of which any is summed. */
int64_t kw_tailor_row(const kw_problem *problem);

#endif
