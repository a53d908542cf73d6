/* args.h of cpu/planes: what launch() of conv.depthwise_planes hands to planes.c. Thread memory is the masks of all strips of a row. */
#ifndef KW_PLANES_ARGS_H
#define KW_PLANES_ARGS_H

#include "cpu/lib/sizes.h"

typedef struct kw_planes_params {
    kw_i64 strips; /* of a row of the result */
} kw_planes_params;

KW_PARAMS_FIT(kw_planes_params);

#endif
