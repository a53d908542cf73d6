/* args.h of cpu/dot: what launch() of gemm.dot hands to dot.c. Thread memory is the sums of a tile, then vectors of those that wait. */
#ifndef KW_DOT_ARGS_H
#define KW_DOT_ARGS_H

#include "cpu/lib/sizes.h"

typedef struct kw_dot_params {
    kw_i64 columns; /* of a unit, whole tiles */
    int down;  /* tiles of a block of rows, which goes over all of these chunk of the depth by chunk; 0: a column of tiles over all rows */
    int chunk; /* vectors of the depth in a chunk */
} kw_dot_params;

KW_PARAMS_FIT(kw_dot_params);

/* Vectors of a tile's sums that wait, those of its columns with them. */
#define KW_DOT_WAITING(rows, columns) (((rows) + 1) * (columns))

#endif
