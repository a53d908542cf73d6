/* args.h of gpu/point: what launch() of conv.point_block hands to point.c, and the counts of a block, which src/families/gpu/point has as
 * well: macros over the axes, as in gpu/lib/resources.h. */
#ifndef KW_POINT_ARGS_H
#define KW_POINT_ARGS_H

#include "prelude/kernel_params.h"

typedef struct kw_point_params {
    kw_i64 pixels, strips; /* of all images; of KW_ROWS pixels each */
    kw_i64 depth, cols;    /* channels of the source and of the result */
} kw_point_params;

KW_PARAMS_FIT(kw_point_params);

/* The matrix instruction: rows are pixels, columns channels of the result. */
#define KW_INST_M 16
#define KW_INST_N 8
#define KW_INST_K 16

#define KW_POINT_DATA (KW_OP == KW_OP_CONV_BWD_DATA)
#define KW_BLOCK_THREADS (KW_WAVES * KW_WAVE)
#define KW_ROOM_BYTES (KW_ROOM * 1024)

/* Weights in shared memory lie as in w, K lines of C, in whole pieces of 16 channels; lines that follow each other meet different banks. */
#define KW_POINT_WHOLE(channels) (KW_CEIL(channels, KW_INST_K) * KW_INST_K)
#define KW_POINT_LINES(depth, cols) KW_POINT_WHOLE(KW_POINT_DATA ? depth : cols)
#define KW_POINT_LENGTH(depth, cols) KW_POINT_WHOLE(KW_POINT_DATA ? cols : depth)
#define KW_POINT_PITCH(depth, cols) (KW_POINT_LENGTH(depth, cols) + 8)
#define KW_POINT_WEIGHT_BYTES(depth, cols) (KW_POINT_LINES(depth, cols) * KW_POINT_PITCH(depth, cols) * KW_BYTES)
/* Behind them the strips of the source of all waves, in whole copies of a wave and with as many bytes behind them as a fragment reads
 * beyond the last row, then those of the result: both are one range of bytes of their tensors. Where results will be, the weights lie
 * first as they come. */
#define KW_WAVE_COPY 512
#define KW_POINT_COPIES(elements) (KW_CEIL((elements)*KW_BYTES + 32, KW_WAVE_COPY) * KW_WAVE_COPY)
#define KW_POINT_SOURCE_BYTES(depth) KW_POINT_COPIES(KW_ROWS *(depth))
#define KW_POINT_RESULT_BYTES(cols) (KW_ROWS * (cols)*KW_BYTES)
#define KW_POINT_LARGER(a, b) ((a) > (b) ? (a) : (b))
#define KW_POINT_LDS_BYTES(depth, cols)                                                                                                    \
    (KW_POINT_WEIGHT_BYTES(depth, cols) + KW_WAVES * KW_POINT_SOURCE_BYTES(depth) +                                                        \
     KW_POINT_LARGER(KW_WAVES * KW_POINT_RESULT_BYTES(cols), KW_POINT_COPIES((depth) * (cols))))

#endif
