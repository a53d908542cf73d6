/* args.h of cpu/reference: what launch() of gemm.reference and conv.reference hands to the compiled-in kernels. */
#ifndef KW_REFERENCE_ARGS_H
#define KW_REFERENCE_ARGS_H

#include "prelude/kernel_params.h"

typedef struct kw_reference_params {
    kw_i64 x, from;  /* kw_dtype of x, and of the other tensors that are read */
    kw_i64 to;       /* of the one that is written */
    kw_i64 elements; /* of the result, where an epilogue has a stage of its own; the first then leaves its sums in shared. Else 0 */
    kw_i64 channels; /* of the result */
    kw_i64 result;   /* kw_tensor */
    kw_i64 pixels;   /* of an image's channel where they follow each other, else 1 */
    kw_i64 layout;   /* kw_layout */
} kw_reference_params;

KW_PARAMS_FIT(kw_reference_params);

#endif
