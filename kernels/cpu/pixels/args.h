/* args.h of cpu/pixels: what launch() of conv.depthwise_pixels_weight hands to pixels_weight.c. */
#ifndef KW_PIXELS_ARGS_H
#define KW_PIXELS_ARGS_H

#include "cpu/lib/sizes.h"

typedef struct kw_pixels_params {
    kw_i64 tiles;      /* of rows of y, KW_TILE_H each */
    kw_i64 parts;      /* of all tiles */
    kw_i64 zero_bytes; /* a row of zeros, of x or of y, and a vector */
} kw_pixels_params;

KW_PARAMS_FIT(kw_pixels_params);

/* Windows of filter rows that cover so many; the last is moved back to end with the filter. */
#define KW_PIXELS_WINDOWS(rows, taps_h) (((rows) + (taps_h)-1) / (taps_h))

#endif
