/* args.h of gpu/igemm: what launch() of conv.igemm hands to igemm.c, and how a config reads the operands. */
#ifndef KW_IGEMM_ARGS_H
#define KW_IGEMM_ARGS_H

#include "gpu/lib/work_params.h"

typedef struct kw_igemm_params {
    KW_WORK_PARAMS
    /* With split_image=1, positions of the result's first axis that a piece of the image has; with KW_SPOTS, pixels of a spot along each axis,
     * KW_SPOT_BITS of them from the outermost on; with spec=stride1, places for borders (behind KW_BORDER_JOINED_BITS), taps of a step, the
     * first axis whose taps share their pixels, copies that bring the pixels of a tile, and the positions of one, KW_BORDER_BITS each; else, of pipe=cooperative and pingpong, 1: pixels are brought as rows of a matrix. */
    kw_i64 pixels;
} kw_igemm_params;

KW_PARAMS_FIT(kw_igemm_params);

/* 1: an operand's rows are contiguous in memory, 0: the depth is. */
#define KW_IGEMM_A_BY_ROWS(op) ((op) == KW_OP_CONV_BWD_WEIGHT)
#define KW_IGEMM_B_BY_ROWS(op) ((op) == KW_OP_CONV_BWD_DATA || (op) == KW_OP_CONV_BWD_WEIGHT)
/* The same of pipe=cooperative and pingpong with spec=filter1x1_stride1_pad0 (gpu/igemm/planes.h), where pixels are contiguous in x and y. */
#define KW_PLANES_A_BY_ROWS(op) ((op) == KW_OP_CONV_BWD_DATA)
#define KW_PLANES_B_BY_ROWS(op) ((op) != KW_OP_CONV_BWD_WEIGHT)
/* pipe=cooperative and pingpong, backward data. The lowest position of y that pixel 0 of x and those of its spot or phase meet, which is the
 * first that copies walk from; reach: positions of x from the first tap to the last. And the farthest from it, of `each` pixels. */
#define KW_SPOT_BITS 16
#define KW_MEETS_FROM(pad, reach, stride) ((pad) > (reach) ? KW_CEIL((pad) - (reach), stride) : -(((reach) - (pad)) / (stride)))
#define KW_MEETS_TO(pad, reach, stride, each) (((each)-1 + (pad)) / (stride)-KW_MEETS_FROM(pad, reach, stride))
/* spec=stride1 (gpu/igemm/border.h): positions of an axis of padded images, of which zeros between two are shared. source, result: its
 * extents in the tensor that is read and in the result; low: where the first result's first tap reads; reach: from there to the last tap. */
#define KW_BORDER_BITS 16
#define KW_BORDER_JOINED_BITS 4
#define KW_BORDER_MOST(a, b) ((a) > (b) ? (a) : (b))
#define KW_BORDER_PITCH(source, result, low, reach) KW_BORDER_MOST(result, KW_BORDER_MOST((source) - (low), (result) + (low) + (reach)))
/* Elements that lie together. With one channel a group (spec=filter3x3) only merged groups do; and weights of merged groups lie together in
 * a group alone, however few they are. */
#define KW_IGEMM_A_VEC(spec, merge, vec) ((spec) == KW_SPEC_FILTER3X3 && (vec) > (merge) ? (merge) : (vec))
#define KW_IGEMM_B_VEC(op, spec, merge, vec) ((op) == KW_OP_CONV_FWD && ((spec) == KW_SPEC_FILTER3X3 || (merge) > 1) ? 1 : (vec))

#endif
