/* args.h of gpu/depthwise: what launch() of conv.depthwise_block hands to depthwise.c. */
#ifndef KW_DEPTHWISE_BLOCK_ARGS_H
#define KW_DEPTHWISE_BLOCK_ARGS_H

#include "prelude/kernel_params.h"

typedef struct kw_depthwise_block_params {
    kw_i64 tiles_h, tiles_w, tiles_d; /* tiles along height and width; slices of the depth */
    /* Of backward weight: */
    kw_i64 parts;    /* blocks that share a filter's sums */
    kw_i64 units;    /* tiles of all images that the parts share */
    kw_i64 elements; /* weights */
} kw_depthwise_block_params;

KW_PARAMS_FIT(kw_depthwise_block_params);

#endif
