/* points.h: a space as something to draw from: the families that have kernels of one operation and type, each with the values of its
 * axes. A point is any combination of values; whether it is in the space is asked of it, so a space need not be enumerated to be
 * searched. Where a set lists its points, any kernel of the family that can be built is in the space, and the list says where to begin. */
#ifndef KW_SPACE_RULES_POINTS_H
#define KW_SPACE_RULES_POINTS_H

#include "config/catalog.h"

#include <kernelwright_tune.h>

/* One thread at a time. */
typedef struct kw_points kw_points;

/* options->arch must be given. Compiled-in families, and those with an axis without values, are left out. */
kw_status kw_points_open(kw_points **points, const kw_space_options *options, kw_op op, kw_dtype dtype, kw_error *err);
void kw_points_close(kw_points **points);

/* A family of the space; values[i][0 .. count[i]-1] are those of its axis i, in the order that the rules give. Owned by the points. */
typedef struct kw_point_family {
    const kw_family *family;
    const int32_t *const *values;
    const int32_t *count;
    const kw_catalog *listed; /* of a set that lists points: those; NULL of one that chooses from the product of the axes */
} kw_point_family;
size_t kw_points_families(const kw_points *points);
kw_point_family kw_points_family(const kw_points *points, size_t number);
/* Whether C, the family's rules, the set, the traits and the filter want a config of family number. */
kw_status kw_points_contains(bool *wanted, kw_points *points, size_t number, const kw_config *config, kw_error *err);

#endif
