/* args.h of gpu/reference: what launch() of conv.reference_gpu and gemm.reference_gpu hands to reference.c. */
#ifndef KW_REFERENCE_GPU_ARGS_H
#define KW_REFERENCE_GPU_ARGS_H

#include "prelude/kernel_params.h"

#define KW_REFERENCE_THREADS 256 /* of a block */

typedef struct kw_reference_gpu_params {
    kw_i64 layout;   /* of a GEMM: 0 rcr, 1 rrr, 2 crr, 3 ccr; of a convolution: 1 channels first, 0 last */
    kw_i64 elements; /* of the result */
    /* Of w: elements from an output channel of all groups to the next, from an input channel of a group, from a tap. */
    kw_i64 w_step[3];
} kw_reference_gpu_params;

KW_PARAMS_FIT(kw_reference_gpu_params);

#endif
