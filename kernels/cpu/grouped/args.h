/* args.h of cpu/grouped: what launch() of conv.depthwise, conv.merged and the weight gradients hands to grouped.c and grouped_weight.c.
 * Thread memory is a pixel of zeros, scratch of the same size, the indirection buffers, then what narrow_bytes or staged_tiles ask for. */
#ifndef KW_GROUPED_ARGS_H
#define KW_GROUPED_ARGS_H

#include "cpu/lib/sizes.h"

typedef struct kw_grouped_params {
    kw_i64 block_vectors;        /* vectors of channels of a unit */
    kw_i64 row_tiles, col_tiles; /* rows and columns of tiles that one filling of the indirection buffers serves */
    kw_i64 scratch_bytes;        /* of zeros, and of scratch memory */
    kw_i64 indirection_words;    /* of the source's buffer */
    kw_i64 indirection_tiles;    /* that the buffers hold */
    int near_parts;              /* of a row (residues of a dilation or a stride) whose tiles are in the buffers together */
    int staged_tiles;            /* of the weight gradient: tiles that are copied at a time */
    int shares;                  /* of the weight gradient: of all rows of tiles; above 1 stage 1 adds their sums */
    int near_tiles;              /* of the weight gradient: tiles that all channels of a group go over before the next ones */
} kw_grouped_params;

KW_PARAMS_FIT(kw_grouped_params);

enum { KW_GROUPED_NEAR_PARTS = 8 }; /* at most */

/* Words of one window of one tile in the source's buffer: offset of the window's weights, offsets of the source pixels. */
#define KW_GROUPED_ENTRY(sources) (1 + (sources))
/* Both indirection buffers, each with a list of its padding, into which a word is written before it is known to be padding, and how many
 * windows each tile has. */
#define KW_GROUPED_INDIRECTION_BYTES(words, results, tiles) (16 * ((words) + (results) + 1) + 8 * (tiles))
/* Where there are fewer channels than a vector has: the words of a tile's windows and results, and a vector for each. */
#define KW_GROUPED_NARROW_BYTES(words, lanes) ((words) * (8 + 4 * (lanes)))
/* Of groups of any width: what each vector of a block takes of the other side (kw_group_lanes), and room to align it. */
#define KW_GROUPED_LANES_BYTES(vectors, lanes) (((vectors) + 1) * 8 * (lanes))
/* int8 as whole numbers: steps are words of so many elements of a pixel, and a group may begin in the midst of one. */
#define KW_GROUPED_WORDS(channels, pair)                                                                                                   \
    ((channels) % (pair) == 0 ? (channels) / (pair) : ((channels) + 2 * (pair)-2 - ((channels) % 2 == 0)) / (pair))
/* A tile of the weight gradient that is copied as fp32: a source pixel, and all of it. */
#define KW_GROUPED_SOURCE_BYTES(src, dst, lanes) (4 * ((dst) < (lanes) ? (lanes) : (src) + (lanes)))
#define KW_GROUPED_STAGED_BYTES(sources, source_bytes, results, lanes) ((sources) * (source_bytes) + (results)*4 * (lanes))

#endif
