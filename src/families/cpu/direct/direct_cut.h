/* direct_cut.h: how conv.direct cuts a problem into blocks whose copies stay in the second-level cache. */
#ifndef KW_FAMILIES_CPU_DIRECT_CUT_H
#define KW_FAMILIES_CPU_DIRECT_CUT_H

#include "families/cpu/direct/direct.h"

/* One spatial axis, the worst of its walks. */
typedef struct kw_direct_span {
    int64_t walks, pixels; /* pixels of the longest walk */
    int64_t step, reach;   /* source positions from pixel to pixel, from the first to the last that a pixel's taps read in any walk */
    int64_t taps;          /* most taps of a walk */
    int64_t all_taps;      /* of all walks */
    int64_t products;      /* in-bounds (pixel, tap) pairs */
    int64_t tiled;         /* pairs that are summed: padding included, rounded up to whole tiles, unless that is left out (edge=skip) */
    int64_t visits;        /* (tile, tap) pairs, for which weights are loaded */
    int64_t parts;         /* of these, such that a part of the tile's pixels reads padding */
    int64_t source;        /* source extent */
    int64_t shared;        /* pixels of padding in front and as many behind; rows that follow each other have these in common */
} kw_direct_span;

/* How a problem is cut. */
typedef struct kw_direct_cut {
    kw_direct_span depth, height, width;
    int64_t rows, cols;  /* of a block, whole tiles where these end with rows */
    int64_t pixel;       /* bytes of a copied pixel, or from one to the next */
    int64_t spare;       /* bytes behind a copied row */
    bool flow;           /* tiles go on in the next row */
    int line;            /* 0, or tiles sum intervals: KW_DIRECT_LIES, KW_DIRECT_STANDS */
    int64_t tall, lines; /* their pixels, and lines whose sums are in memory at once */
    bool in_place;       /* nothing is copied */
    bool streams;        /* a block's weights find no room in the second-level cache: tiles that sum intervals meet many rows together */
    bool edges;          /* nothing but what the tiles at both ends of a row read (kernels/cpu/direct/direct_edges.h) */
    int64_t edge_pixels; /* of these, in a row of the copy */
    int64_t row, slice;  /* bytes from one row, slice to the next, of the copy or of the tensor where nothing is copied */
    int64_t copied;      /* bytes of the copy */
} kw_direct_cut;

/* What the cut of a problem depends on, besides its axes. */
typedef struct kw_direct_facts {
    int64_t src, elements, steps, shares, blocks, together;
    int64_t most_rows; /* of a block; 0: any */
    bool sliced;       /* runs are cut */
    bool padded;       /* the text has tiles that sum intervals (kw_wants.padded) */
    int64_t way_rows;  /* of the result, that stand for those of all ways of a group; 0: ways are groups, or there are none */
} kw_direct_facts;

kw_direct_cut kw_direct_cut_of(const kw_direct *direct, const kw_tile_work *work, const kw_problem *problem, const kw_target *target,
                               const kw_direct_facts *facts);
/* Blocks without their rows. */
int64_t kw_direct_cells(const kw_direct_cut *cut, const kw_problem *problem, int64_t shares);
/* Pixels of a row of the copy. */
int64_t kw_direct_row_pixels(const kw_direct_cut *cut);
/* (pixel, tap) pairs of an output slice, rows of tiles and padding between rows included. */
double kw_direct_summed_pairs(const kw_direct_cut *cut, const kw_tile_work *work, const kw_tile *tile);

#endif
