/* args.h of cpu/reference: what launch() of gemm.reference and conv.reference hands to the compiled-in kernels. */
#ifndef KW_REFERENCE_ARGS_H
#define KW_REFERENCE_ARGS_H

#include "prelude/kernel_params.h"

typedef struct kw_reference_params {
    kw_i64 from, to;  /* kw_dtype of the tensors that are read and of the one that is written */
    kw_i64 layout;    /* kw_layout */
    kw_i64 depthwise; /* 1: groups of one channel in and out are worked on side by side */
} kw_reference_params;

KW_PARAMS_FIT(kw_reference_params);

#endif
