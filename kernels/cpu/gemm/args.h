/* args.h of cpu/gemm: what launch() of gemm.tiled and conv.pointwise hands to gemm.c. Thread memory is what a tile spills, then copied
 * rows. */
#ifndef KW_GEMM_ARGS_H
#define KW_GEMM_ARGS_H

#include "cpu/lib/sizes.h"

typedef struct kw_gemm_params {
    kw_i64 chunk_rows;        /* rows of A of a unit, whole tiles; of channels-first pixels (planes.h) its panels */
    kw_i64 parts;             /* of the columns; each is a unit of its own */
    char copy;                /* 1: all rows of A are copied; 0: those of a last tile that is not whole */
    char soon;                /* 1: packed weights are beyond the second level, and tiles ask for the next block's */
    short ahead;              /* with which blocks tiles ask for the next tile's rows, KW_GEMM_AHEAD_ */
    short far;                /* kw_tile_job; below 0 of the first tile that meets a block alone (kw_far_of_tile) */
    short together;           /* blocks of columns that a tile of rows meets before the next one, of math=amx; else 1 */
    kw_i64 pitch;             /* bytes from one copied row to the next */
    int a_columns, b_columns; /* 1: A, B lies in memory by columns */
    kw_i64 copy_at;           /* byte of thread memory where copied rows begin; before it: what tiles spill */
    union {
        kw_i64 slice;   /* steps of the depth that all of a chunk's tiles sum before the next, of math=amx; else all steps */
        kw_i64 rows_at; /* of planes_taps.h: byte of thread memory where rows of the source begin */
    };
    kw_i64 deep; /* steps of the depth that all of a unit's blocks sum before the next, whole slices; else all steps */
} kw_gemm_params;

KW_PARAMS_FIT(kw_gemm_params);

#define KW_GEMM_AHEAD_NEVER 0
#define KW_GEMM_AHEAD_FIRST 1 /* of a unit's blocks, for which rows come from beyond the second level */
#define KW_GEMM_AHEAD_EACH 2

/* Whether sums of part of the depth can wait for the rest. */
#define KW_GEMM_SLICES(amx, fp32) ((amx) || (fp32))
/* Whether the last step of a row may be of elements of which some are the next row's: integers as they lie, times weights of zero. */
#define KW_GEMM_READS_BEYOND(amx, int8, converts) ((int8) && !(amx) && !(converts))
/* Whether half a bf16 pair at the end of a depth is multiplied together with the element before it (KW_TILE_TWICE). */
#define KW_GEMM_MEETS_TWICE(pairs, depth) ((pairs) && (depth) > 1 && (depth) % 2 != 0)
/* Whether a panel of planes.h can be met where its pixels lie: fp32, or pairs that zip.h makes. */
#define KW_PLANES_MAY_LIE(fp32, pairs, lanes) ((fp32) || ((pairs) && (lanes) == 16))

/* A run of a panel; the most runs of a panel of so many of an image's pixels. */
#define KW_PLANE_RUN_BYTES 32
/* A panel; a vector may end behind it. */
#define KW_PLANE_PANEL_BYTES(steps, block) ((steps)*KW_TILE_STEP_BYTES(block) + 2 * KW_LINE)
/* Of planes_taps.h: a place for each element of the depth (two numbers for each run of a row), in whole lines; bytes of a run of a row's pixels. A vector of pixels may end behind the last. */
#define KW_PLANE_PLACES(depth) ((8 * (depth) + KW_LINE - 1) / KW_LINE * KW_LINE)
#define KW_PLANE_RUN_OF(pixels, more, bytes) ((((pixels) + (more)) * (bytes) + KW_LINE - 1) / KW_LINE * KW_LINE)
#define KW_PLANE_RUNS(block, pixels) ((pixels) == 1 ? (block) : (block) / (pixels) + 2)

#endif
