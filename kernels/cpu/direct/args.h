/* args.h of cpu/direct: what launch() of conv.direct and conv.direct_1st hands to direct.c. */
#ifndef KW_DIRECT_ARGS_H
#define KW_DIRECT_ARGS_H

#include "cpu/lib/sizes.h"

typedef struct kw_direct_params {
    int block[2]; /* output rows and columns of a unit's block */
    int parts;    /* of the output channels; each is a unit of its own */
    union {
        short far;    /* kw_tile_job; below 0 of the first tile that meets a block alone (kw_far_of_tile) */
        short images; /* of a unit, whose copies lie one behind the other, slice by slice (math=amx) */
    };
    union {
        short slice_chunks; /* chunks of each run that a band of tiles sums before the next ones; 0: all (math=amx) */
        short tall;         /* pixels of a tile that sums intervals (direct_intervals.h) */
    };
    kw_i64 pixel, row, slice; /* bytes from one pixel, row, slice of the padded copy to the next */
    kw_i64 copy_at;           /* byte of thread memory where the copy begins; before it: what a tile spills, the table of runs. 0: no copy;
                                 pixel, row and slice are the tensor's own */
    union {
        int flow;     /* 0: tiles end with rows; else a row's copied pixels: tiles go on in the next row (math=amx); KW_DIRECT_LIES,
                         KW_DIRECT_STANDS: tiles sum intervals of rows, of columns; KW_DIRECT_EDGES */
        int way_rows; /* of conv.interleaved, whose tiles end with rows: rows from way to way of a group; 0: ways are groups */
    };
    short join; /* groups that are worked on as one (math=amx) */
    union {
        short slice_runs; /* runs that it sums before the next ones; 0: all */
        short lines;      /* that have their sums in memory at once, of tiles that sum intervals */
    };
    int steps;      /* of a run, with those that math=amx adds as zeros */
    short together; /* groups that have one copy, worked on one after the other */
    short meet;     /* of these, blocks of result channels that a band of tiles meets before the next one; else that a row of tiles does */
} kw_direct_params;

KW_PARAMS_FIT(kw_direct_params);

#define KW_DIRECT_STANDS (-1)
#define KW_DIRECT_LIES (-3)

/* Tiles read the tensor where it lies but for those at the edges, direct_edges.h. */
#define KW_DIRECT_EDGES (-2)

/* Result columns where tiles read what: those of the first `left` columns read a copy that begins with the row; the next ones, up to column
 * `right`, the tensor; those behind a copy from column `from` on, or the tensor where `from` is the row's end. The last of them is moved back to
 * end with the row. right == left: there is nothing to gain. */
typedef struct kw_direct_edges {
    kw_i64 left, right, from;
} kw_direct_edges;

/* Of so many result columns, whose first filter row begins at source column `start` of `size`, the next one step further, and reaches so far. */
static inline kw_direct_edges kw_direct_edges_of(kw_i64 columns, kw_i64 tile, kw_i64 start, kw_i64 step, kw_i64 reach, kw_i64 size) {
    kw_i64 left = start < 0 ? (step - 1 - start) / step : 0, inside = size > reach + start ? (size - 1 - reach - start) / step + 1 : 0;
    left = (left + tile - 1) / tile * tile;
    inside = inside < columns ? inside : columns;
    kw_i64 right = inside > left ? left + (inside - left) / tile * tile : left;
    kw_i64 last = columns - tile < right ? columns - tile : right;
    return (kw_direct_edges){left, right, inside == columns ? columns : last};
}

/* Source columns of the copy of so many result columns. */
static inline kw_i64 kw_direct_edge_columns(kw_i64 columns, kw_i64 step, kw_i64 reach) {
    return columns > 0 ? (columns - 1) * step + reach + 1 : 0;
}

/* Source channels that a group of conv.any_groups has at most. */
#define KW_OWN_CHANNELS 96

/* conv.direct_1st with math=amx: what so many result columns read of a source row, put together in front of the copy. */
#define KW_DIRECT_COLUMNS_BYTES(columns, stride, taps, bytes)                                                                              \
    (((((columns)-1) * (stride) + (taps)) * (bytes) + KW_LINE - 1) / KW_LINE * KW_LINE)

/* Source channels that a group of conv.interleaved has at most. */
#define KW_DIRECT_WAY_CHANNELS 1024

/* A run in the table, with the column and the row that edge=skip needs. */
#define KW_DIRECT_RUN_BYTES 32

/* Tiles of a band, and the byte of thread memory where their sums wait. */
#define KW_DIRECT_BAND 32
#define KW_DIRECT_BAND_AT(spill, runs) (((spill) + (runs)*KW_DIRECT_RUN_BYTES + KW_LINE - 1) / KW_LINE * KW_LINE)

#endif
