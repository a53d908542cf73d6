/* args.h of gpu/direct: what launch() of conv.direct_block hands to direct.c. */
#ifndef KW_DIRECT_BLOCK_ARGS_H
#define KW_DIRECT_BLOCK_ARGS_H

#include "prelude/kernel_params.h"

typedef struct kw_direct_block_params {
    kw_i64 tiles_h, tiles_w; /* of the result */
    kw_i64 block_cols;       /* blocks side by side along the channels of the result */
    kw_i64 packed;           /* lanes' shares of all weights */
    /* Of backward weight: */
    kw_i64 parts;    /* blocks that share a channel's sums */
    kw_i64 units;    /* tiles of all images */
    kw_i64 elements; /* weights */
} kw_direct_block_params;

KW_PARAMS_FIT(kw_direct_block_params);

#endif
