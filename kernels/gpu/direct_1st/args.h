/* args.h of gpu/direct_1st: what launch() of conv.direct_1st_block hands to direct_1st.c, and the counts of a block, which
 * src/families/gpu/direct_1st has as well: macros over the axes, as in gpu/lib/resources.h. */
#ifndef KW_DIRECT_1ST_BLOCK_ARGS_H
#define KW_DIRECT_1ST_BLOCK_ARGS_H

#include "prelude/kernel_params.h"

typedef struct kw_direct_1st_block_params {
    kw_i64 tiles_h, tiles_w; /* of the result */
    kw_i64 block_cols;       /* blocks side by side along the channels of the result */
    kw_i64 packed;           /* lanes' shares of all weights */
    kw_i64 rows, pitch;      /* of a patch: source rows, elements of one; of KW_IN_PLANES of each channel */
    /* Of backward weight: */
    kw_i64 parts;    /* blocks that share the same sums */
    kw_i64 elements; /* weights */
} kw_direct_1st_block_params;

KW_PARAMS_FIT(kw_direct_1st_block_params);

#define KW_WEIGHT (KW_OP == KW_OP_CONV_BWD_WEIGHT)
/* Forward with channels first: x and y are read and written as they lie, plane by plane; so is w, whose depth is (channel, row, column). */
#define KW_IN_PLANES (KW_CHANNELS_FIRST && !KW_WEIGHT)
#define KW_INST_M 16 /* pixels of an instruction; of backward weight channels */
#define KW_INST_N (KW_NVIDIA ? 8 : 16)
#define KW_BLOCK_THREADS (KW_WAVES * KW_WAVE)
#define KW_REPEAT_M (KW_TILE_H * KW_TILE_W / (KW_WAVES * KW_INST_M)) /* instructions of a wave along the pixels, */
#define KW_REPEAT_N (KW_COLS / KW_INST_N)                            /* and along the channels of the result */

/* Shared memory: the patch, where each element of the depth lies in it, and of each wave the sums of 16 pixels on their way out. */
#define KW_DEPTH_MOST 1024
/* Rows that follow each other meet different banks: of channels, and where planes leave of pixels. */
#define KW_SUMS_PITCH (KW_IN_PLANES ? KW_INST_M + 4 : KW_COLS + 8)
#define KW_SUMS_ROWS (KW_IN_PLANES ? KW_COLS : KW_INST_M)
#define KW_PATCH_BYTES (KW_PATCH * 1024)
#define KW_OFFSETS_BYTES (KW_DEPTH_MOST * 4)
#define KW_STAGED_SUMS_BYTES (KW_WAVES * KW_SUMS_ROWS * KW_SUMS_PITCH * 4)
#define KW_FORWARD_LDS_BYTES (KW_PATCH_BYTES + KW_OFFSETS_BYTES + KW_STAGED_SUMS_BYTES)

/* Backward weight: the tile of y, pixel by pixel, whose rows of channels are moved by one run so that pixels that follow each other meet
 * different banks, and its patch, two of each; in their place at the end the sums of waves that have other pixels. Waves copy 512 bytes
 * together. A wave has so many elements of the depth, for all of KW_COLS channels; waves with the same elements share pixels. */
#define KW_WAVE_SPAN (KW_SPAN / KW_WAVES_D)
#define KW_WAVES_Q (KW_WAVES / KW_WAVES_D)
#define KW_Y_PITCH (KW_COLS + 8)
#define KW_Y_BYTES (KW_CEIL(KW_TILE_H * KW_TILE_W * KW_Y_PITCH * 2, 512) * 512)
#define KW_WEIGHT_STAGE_BYTES (KW_Y_BYTES + KW_PATCH_BYTES)
#define KW_SHARED_SUMS_BYTES (KW_WAVES_Q > 1 ? KW_COLS * KW_SPAN * 4 : 0)
#define KW_WEIGHT_LDS_BYTES (2 * KW_WEIGHT_STAGE_BYTES > KW_SHARED_SUMS_BYTES ? 2 * KW_WEIGHT_STAGE_BYTES : KW_SHARED_SUMS_BYTES)
#define KW_DIRECT_1ST_LDS_BYTES (KW_WEIGHT ? KW_WEIGHT_LDS_BYTES : KW_FORWARD_LDS_BYTES)

#endif
