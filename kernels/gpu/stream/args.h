/* args.h of gpu/stream: what launch() of gemm.stream hands to stream.c, and the counts of a block, which src/families/gpu/stream has as
 * well: macros over the axes, as in gpu/lib/resources.h. */
#ifndef KW_STREAM_ARGS_H
#define KW_STREAM_ARGS_H

#include "prelude/kernel_params.h"

typedef struct kw_stream_params {
    kw_i64 tiles; /* of a product, along its long side */
} kw_stream_params;

KW_PARAMS_FIT(kw_stream_params);

/* The matrix instruction: rows are the long side's, columns the few. */
#define KW_INST_M 16
#define KW_INST_N 8
#define KW_INST_K 16

#define KW_FEW_ROWS (KW_FEW == KW_FEW_M)
#define KW_LONG_TILE (KW_FEW_ROWS ? KW_TILE_N : KW_TILE_M)
#define KW_FEW_TILE (KW_FEW_ROWS ? KW_TILE_M : KW_TILE_N)
#define KW_LONG_FRAGS (KW_LONG_TILE / KW_INST_M)
#define KW_FEW_FRAGS (KW_FEW_TILE / KW_INST_N)

/* Of the few, rows are contiguous, not depths. */
#define KW_FEW_BY_ROWS (KW_FEW_ROWS ? KW_LAYOUT == KW_LAYOUT_CCR : KW_LAYOUT == KW_LAYOUT_RRR)

#define KW_BLOCK_THREADS (KW_WAVES * KW_WAVE)
#define KW_RUN_DEPTH 32 /* depths that four lanes read of a row at once, 16 bytes each: of two instructions */

/* Words of a thread: what it has under way of both operands, and sums. */
#define KW_AHEAD_WORDS (4 * KW_AHEAD * (2 * KW_LONG_FRAGS + KW_FEW_FRAGS))
#define KW_SUM_WORDS (4 * KW_LONG_FRAGS * KW_FEW_FRAGS)
#define KW_PARTS_LDS_BYTES (KW_BLOCK_THREADS * KW_SUM_WORDS * 4)

#endif
