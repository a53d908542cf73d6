/* args.h of gpu/gemm: what launch() of gemm.mma hands to gemm.c, and how a config reads the operands. */
#ifndef KW_GEMM_MMA_ARGS_H
#define KW_GEMM_MMA_ARGS_H

#include "gpu/lib/work_params.h"

typedef struct kw_gemm_mma_params {
    KW_WORK_PARAMS
} kw_gemm_mma_params;

KW_PARAMS_FIT(kw_gemm_mma_params);

/* 1: an operand's rows are contiguous in memory, 0: the depth is. */
#define KW_GEMM_A_BY_ROWS(layout) ((layout) == KW_LAYOUT_CRR || (layout) == KW_LAYOUT_CCR)
#define KW_GEMM_B_BY_ROWS(layout) ((layout) == KW_LAYOUT_RRR || (layout) == KW_LAYOUT_CRR)

#endif
