/* args.h of cpu/dot: what launch() of gemm.dot hands to dot.c. Thread memory is the sums of a tile. */
#ifndef KW_DOT_ARGS_H
#define KW_DOT_ARGS_H

#include "cpu/lib/sizes.h"

typedef struct kw_dot_params {
    kw_i64 columns; /* of a unit, whole tiles */
    kw_i64 far;     /* bytes ahead of where it multiplies that a tile asks for B; 0 where the core does so by itself */
} kw_dot_params;

KW_PARAMS_FIT(kw_dot_params);

#endif
