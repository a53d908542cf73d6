/* work_params.h: how a product is cut into tiles and parts of its depth, which launch() of conv.igemm and gemm.mma tells work.h. */
#ifndef KW_WORK_PARAMS_H
#define KW_WORK_PARAMS_H

#include "prelude/kernel_params.h"

/* The first members of both kernels' params. Not a struct inside those: ptxas was seen to allocate registers otherwise for it. */
#define KW_WORK_PARAMS                                                                                                                     \
    kw_i64 tile_rows, tile_cols; /* tiles along the rows of the result and along its columns */                                            \
    kw_i64 splits;               /* parts of the depth; of stream-K: blocks of the stage that multiplies */                                \
    kw_i64 units;                /* tiles of all batches, times parts; with a tail, tiles before it and parts of its tiles */              \
    kw_i64 elements;             /* of the result tensor; with a tail, those of the tail */                                                \
    kw_i64 to_workspace; /* 0: each unit stores its result; else sums of units from to_workspace - 1 on, the tail, go to the       \
                                  * workspace, and a later stage stores them */       \
    kw_i64 places;       /* above 0: tiles of a column (KW_PLANES: a row) follow each other, and their operand stays in so many stages */

typedef struct kw_work_params {
    KW_WORK_PARAMS
} kw_work_params;

#endif
