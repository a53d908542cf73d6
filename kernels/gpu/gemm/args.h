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

/* Rows of a bulk copy of an operand's tile whose depth is contiguous: hardware takes 256 at most. */
#define KW_COPY_ROWS(rows) ((rows) > 256 ? (rows) / 2 : (rows))
/* Rows of the result that a bulk store has with epi=turned, where they are a tile's columns: what divides a piece and the tile. */
#define KW_TURNED_BOX(columns) ((columns) % 64 == 0 ? 64 : (columns) % 32 == 0 ? 32 : (columns) % 16 == 0 ? 16 : 8)

#endif
