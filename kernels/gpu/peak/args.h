/* args.h of gpu/peak: what measure/peak hands to peak.c. */
#ifndef KW_PEAK_ARGS_H
#define KW_PEAK_ARGS_H

#include "prelude/kernel_params.h"

#define KW_PEAK_THREADS 256 /* of a block */

typedef struct kw_peak_params {
    kw_i64 count; /* work=math: turns of the loop; work=copy: pieces of 16 bytes */
} kw_peak_params;

KW_PARAMS_FIT(kw_peak_params);

#endif
