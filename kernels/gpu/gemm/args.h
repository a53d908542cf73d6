/* args.h of gpu/gemm: what launch() of gemm.mma hands to gemm.c. */
#ifndef KW_GEMM_MMA_ARGS_H
#define KW_GEMM_MMA_ARGS_H

#include "gpu/lib/work_params.h"

typedef struct kw_gemm_mma_params {
    kw_work_params work;
} kw_gemm_mma_params;

KW_PARAMS_FIT(kw_gemm_mma_params);

#endif
