/* args.h of cpu/bwd_weight: what launch() of conv.direct_bwd_weight hands to bwd_weight.c. Thread memory is a box's copies of x, of the
 * groups that are worked on together, those of y, the sums of a tile. */
#ifndef KW_BWD_WEIGHT_ARGS_H
#define KW_BWD_WEIGHT_ARGS_H

#include "cpu/lib/sizes.h"

/* Axes of the pixels, outermost first. */
enum { KW_BOX_N, KW_BOX_D, KW_BOX_H, KW_BOX_W };

typedef struct kw_bwd_weight_params {
    kw_i64 box[4];           /* output pixels of a box, by axis */
    kw_i64 x_bytes, y_bytes; /* of a group's copy */
    short chunk;             /* math=amx: pixel pairs of a tile register */
    char flat;               /* 1: a filter of 1, whose pixels are all one row */
    char along;              /* 1: tiles follow each other along the vector side's channels and the taps, 0: along the spread side's */
    short together;          /* groups at most whose boxes are copied at once and worked on one after the other */
    short split;             /* parts of the spread side's blocks, each of which meets all taps before the next: a slab copies its own */
    int slabs;               /* units of stage 0: so many even shares of the tiles (0: each one) for each of parts shares of the boxes */
    short parts;
    short soon; /* 1: flat, and tiles ask for what the next box reads, which is beyond the second level */
} kw_bwd_weight_params;

KW_PARAMS_FIT(kw_bwd_weight_params);

/* Whether the spread channels are shared out to tiles of as many as fit and of one less: where tensors are read as they lie, with 8 lanes. */
#define KW_BWD_WEIGHT_FEWER(fma, lanes, copy) ((fma) && (lanes) == 8 && (copy) == 0)

/* Whether a tensor whose channels are vectors where it lies may have fewer of them than a tile, by less than a vector: the last one goes on
 * into the next pixel, and a job's last pixel is read by a mask. Not of merged rows, which overlap. */
#define KW_BWD_WEIGHT_READS_ON(fma, lanes, vecs) ((fma) && (lanes) == 16 && (vecs) > 1)

/* Of an axis: whether a stride leaves out all but the positions that its one tap reads, so that these are an axis without a stride. Padding there is
 * none, in front or behind. */
#define KW_BWD_WEIGHT_IS_THIN(filter, pad, stride, in, out) ((filter) == 1 && (pad) == 0 && ((out)-1) * (stride) < (in))

/* Channels of a group of conv.interleaved_weight at most, of either side. */
#define KW_BWD_WEIGHT_WAY_CHANNELS 96

/* Units at most by which the sums of parts are added. */
#define KW_BWD_WEIGHT_SUMS 64

/* math=amx: bytes that a chunk of so many pixel pairs of a spread channel lies behind the one of the channel before: none crosses lines, which
 * would make it cost two. */
#define KW_BWD_WEIGHT_PITCH(chunk) ((chunk) > 8 ? 64 : (chunk) > 4 ? 32 : 16)

/* Sums of a tile of so many spread channels by so many in vectors, as fp32. */
#define KW_BWD_WEIGHT_TILE_BYTES(tile, width) (4 * (tile) * (width))

#endif
