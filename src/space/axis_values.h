/* axis_values.h: a list of values for each axis of a family. */
#ifndef KW_SPACE_AXIS_VALUES_H
#define KW_SPACE_AXIS_VALUES_H

#include "config/family.h"

typedef struct kw_axis_values {
    int32_t *values[KW_AXIS_MAX];
    int32_t count[KW_AXIS_MAX];
} kw_axis_values;

#endif
