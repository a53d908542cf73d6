/* args.h of gpu/depthwise: what launch() of conv.depthwise_block hands to depthwise.c, and the counts of a block, which
 * src/families/gpu/depthwise has as well: macros over the axes, as in gpu/lib/resources.h. */
#ifndef KW_DEPTHWISE_BLOCK_ARGS_H
#define KW_DEPTHWISE_BLOCK_ARGS_H

#include "prelude/kernel_params.h"

typedef struct kw_depthwise_block_params {
    kw_i64 tiles_h, tiles_w; /* along height and width */
    kw_i64 parts;            /* of backward weight: blocks that share a filter's sums */
    kw_i64 units;            /* of backward weight: tiles of all images that the parts share */
    kw_i64 elements;         /* of backward weight: weights */
    kw_i64 tiles_d;          /* slices of the depth */
    kw_i64 rows;             /* of a tile */
} kw_depthwise_block_params;

KW_PARAMS_FIT(kw_depthwise_block_params);

#define KW_DATA (KW_OP == KW_OP_CONV_BWD_DATA)
#define KW_WEIGHT (KW_OP == KW_OP_CONV_BWD_WEIGHT)
#define KW_FIRST (KW_ORDER == KW_ORDER_FIRST)
#define KW_FILTER_H (KW_NDIM == 1 ? 1 : KW_FILTER) /* rows of the filter */
#define KW_TAPS (KW_FILTER_H * KW_FILTER)          /* of a slice of the filter */

/* --- lanes: each has a subtile of KW_LANE_PLANES planes --- */

#define KW_SUBS_H KW_CEIL(KW_TILE_H, KW_SUB_H)
#define KW_SUBS_W KW_CEIL(KW_TILE_W, KW_SUB_W)
#define KW_SUBTILES (KW_SUBS_H * KW_SUBS_W)
#define KW_SUBTILE_LANES (KW_WAVE / KW_SUBTILES) /* lanes with the same subtile of different planes */
#define KW_LANE_PLANES (KW_FIRST ? 1 : KW_VEC_OUT)
#define KW_PLANES (KW_SUBTILE_LANES * KW_LANE_PLANES) /* at a time */

/* --- which source pixel a tap of a pixel reads, along a row and (_H) along the height; counted from the first one that a subtile or tile
 * at pixel 0 reads --- */

#define KW_STRIDE_H (KW_NDIM == 1 ? 1 : KW_STRIDE)
#define KW_PAD_H (KW_NDIM == 1 ? 0 : KW_PAD)
#define KW_EXTENT ((KW_FILTER - 1) * KW_DILATION + 1) /* pixels from the first tap to the last */
#define KW_EXTENT_H ((KW_FILTER_H - 1) * KW_DILATION + 1)
#define KW_UP(extent, stride) ((stride) * (extent)) /* added so that what is divided is never negative */
#define KW_LOW_OF(extent, stride, pad) (KW_DATA ? KW_CEIL((pad) - (extent) + 1 + KW_UP(extent, stride), stride) - (extent) : -(pad))
#define KW_READS_OF(pixel, tap, extent, stride, pad)                                                                                       \
    (!KW_DATA || ((pixel) + (pad) - (tap)*KW_DILATION + KW_UP(extent, stride)) % (stride) == 0)
#define KW_SOURCE_OF(pixel, tap, extent, stride, pad)                                                                                      \
    (KW_DATA ? ((pixel) + (pad) - (tap)*KW_DILATION + KW_UP(extent, stride)) / (stride) - (extent)-KW_LOW_OF(extent, stride, pad)          \
             : (pixel) * (stride) + (tap)*KW_DILATION)
#define KW_MOVED_OF(pixels, stride) (KW_DATA ? (pixels) / (stride) : (pixels) * (stride)) /* how far the source moves with so many pixels */
#define KW_SPAN_OF(pixels, extent, stride, pad)                                                                                            \
    (KW_DATA ? KW_SOURCE_OF((pixels)-1, 0, extent, stride, pad) + 1 : ((pixels)-1) * (stride) + (extent))
#define KW_MOVED(pixels) KW_MOVED_OF(pixels, KW_STRIDE)
#define KW_MOVED_H(pixels) KW_MOVED_OF(pixels, KW_STRIDE_H)
#define KW_SPAN_H KW_SPAN_OF(KW_SUB_H, KW_EXTENT_H, KW_STRIDE_H, KW_PAD_H) /* source rows and columns of a subtile */
#define KW_SPAN_W KW_SPAN_OF(KW_SUB_W, KW_EXTENT, KW_STRIDE, KW_PAD)
#define KW_SRC_H ((KW_SUBS_H - 1) * KW_MOVED_H(KW_SUB_H) + KW_SPAN_H) /* and of the tile */
#define KW_SRC_W ((KW_SUBS_W - 1) * KW_MOVED(KW_SUB_W) + KW_SPAN_W)

/* --- accesses, in elements; shared memory --- */

#define KW_MIN(a, b) ((a) < (b) ? (a) : (b))
#define KW_MAX(a, b) ((a) > (b) ? (a) : (b))
#define KW_IN_RUN KW_MIN(KW_VEC_IN, 16 / KW_BYTES) /* from global to shared memory: of columns, or of planes */
#define KW_OUT_RUN KW_MIN(KW_VEC_OUT, 16 / KW_OUT_BYTES)
#define KW_Y_RUN KW_MIN(KW_VEC_OUT, 16 / KW_BYTES)  /* of an operand that the axis is for as well */
#define KW_ROW_READ KW_MIN(KW_VEC_IN, 4)            /* columns of a row that a lane reads from shared memory together */
#define KW_READ (KW_FIRST ? KW_ROW_READ : KW_Y_RUN) /* from shared memory to registers */

/* order=first: where tiles begin at whole runs of the source, rows of shared memory begin at a run of the image, too, so that runs are
 * stored as they are loaded; the source's first column is then KW_SHIFT behind the row's, and KW_SKIP behind a lane's first read. */
#define KW_RUNS_WHOLE (KW_FIRST && KW_IN_RUN > 1 && KW_MOVED(KW_TILE_W) % KW_IN_RUN == 0)
#define KW_LOW KW_LOW_OF(KW_EXTENT, KW_STRIDE, KW_PAD)
#define KW_SHIFT (KW_RUNS_WHOLE ? KW_LOW & (KW_IN_RUN - 1) : 0)
#define KW_SKIP (KW_SHIFT % KW_READ)
/* Rows are wide enough for the last lane's last read, whose columns behind the source are in no sum. */
#define KW_READ_COLS (KW_FIRST ? KW_CEIL(KW_SKIP + KW_SPAN_W, KW_READ) * KW_READ : KW_SPAN_W)
#define KW_ROW_WHOLE (KW_RUNS_WHOLE ? KW_IN_RUN : KW_READ)
#define KW_ROW                                                                                                                             \
    (KW_FIRST ? KW_CEIL((KW_SUBS_W - 1) * KW_MOVED(KW_SUB_W) + KW_SHIFT - KW_SKIP + KW_READ_COLS, KW_ROW_WHOLE) * KW_ROW_WHOLE : KW_SRC_W)
/* Runs of 16 bytes of channels-last tensors are copied without registers, where the architecture can; then so are those of y. A wave's
 * copies fill its lanes, the last ones behind what is needed. */
#define KW_PLANE_RUNS KW_MAX(KW_PLANES / KW_IN_RUN, 1)
#define KW_WALKS (KW_PATH == KW_PATH_REGISTERS)
#define KW_COPIES (!KW_WALKS && KW_HAS_ASYNC16 && !KW_FIRST && KW_IN_RUN * KW_BYTES == 16 && KW_WAVE % KW_PLANE_RUNS == 0)
#define KW_COPIED(bytes) (KW_COPIES ? KW_CEIL(bytes, 16 * KW_MAX(KW_WAVE, 1)) * 16 * KW_WAVE : (bytes))
#define KW_SRC_BYTES KW_COPIED(KW_PLANES *KW_SRC_H *KW_ROW *KW_BYTES)
#define KW_Y_BYTES (KW_COPIES && KW_WEIGHT ? KW_COPIED(KW_PLANES * KW_TILE_H * KW_TILE_W * KW_BYTES) : 0)
#define KW_FILTERS_BYTES (KW_COPIES && !KW_WEIGHT ? KW_COPIED(KW_PLANES * KW_FILTER_D * KW_TAPS * KW_BYTES) : 0)
#define KW_TILES_BYTES                                                                                                                     \
    (KW_WALKS ? 0 : (KW_SRC_BYTES + KW_Y_BYTES) * (KW_COPIES && KW_WEIGHT ? 2 : 1) + KW_FILTERS_BYTES) /* of a tile, and of the next one */
/* Results pass shared memory, so that they leave it in runs of columns, where a lane's own are not such runs. */
#define KW_OUT_STAGED (KW_FIRST && !KW_WEIGHT && KW_OUT_RUN > 1 && (KW_SUB_W % KW_OUT_RUN || KW_TILE_W % KW_OUT_RUN))
#define KW_STAGED_BYTES (KW_OUT_STAGED ? KW_PLANES * KW_TILE_H * KW_TILE_W * KW_OUT_BYTES : 0)
#define KW_LANES_BYTES (KW_WEIGHT ? KW_TAPS * KW_LANE_PLANES * KW_WAVE * 4 : 0)
#define KW_WAVE_BYTES (KW_CEIL(KW_MAX(KW_TILES_BYTES, KW_MAX(KW_STAGED_BYTES, KW_LANES_BYTES)), 16) * 16)

/* --- backward weight: a block's sums, and with peers > 1 as many again, the shares that its cluster's blocks write to it --- */

#define KW_BLOCK_THREADS (KW_WAVES * KW_WAVE)
#define KW_JOINS (KW_PEERS > 1)
#define KW_FILTER_SUMS ((KW_FIRST ? 1 : KW_PLANES) * KW_TAPS)
#define KW_PEER_SUMS (KW_CEIL(KW_FILTER_SUMS, 4 * KW_PEERS) * 4)
#define KW_JOINED_BYTES (KW_JOINS ? KW_PEERS * KW_PEER_SUMS * 4 : 0) /* of either; without peers the sums need none */
#define KW_LDS_BYTES (2 * KW_JOINED_BYTES + KW_WAVES * KW_WAVE_BYTES)

#endif
