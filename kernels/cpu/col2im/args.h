/* args.h of cpu/col2im: what launch() of conv.gemm_col2im hands to col2im.c. Thread memory is a tile's sums and a vector, the pieces, the
 * patterns, the copied source row, the sums of a band. */
#ifndef KW_COL2IM_ARGS_H
#define KW_COL2IM_ARGS_H

#include "cpu/lib/sizes.h"

typedef struct kw_col2im_params {
    kw_i64 rows, bands;                   /* rows of a band, bands of a slice */
    kw_i64 pixel;                         /* bytes from one copied source pixel to the next */
    kw_i64 left, row;                     /* sums left of the image's first column, sums of a row */
    kw_i64 patterns_at, copy_at, sums_at; /* bytes of thread memory */
} kw_col2im_params;

KW_PARAMS_FIT(kw_col2im_params);

/* Bytes of the kernel's structs. */
#define KW_COL2IM_PIECE_BYTES 24
#define KW_COL2IM_PATTERN_BYTES 32
#define KW_COL2IM_TARGET_BYTES 16
#define KW_COL2IM_SHARE_BYTES(lanes) (8 + 4 * (lanes))

/* Bytes of thread memory before the pieces: a vector may end behind the tile's sums. */
#define KW_COL2IM_PIECES_AT(spill, lanes) ((spill) + 4 * (lanes))
/* The most patterns: whole filter rows, and what the two ends of each block of columns leave of them. */
#define KW_COL2IM_PATTERNS(blocks) (1 + 2 * (blocks))
/* The most shares, and the most targets, of a pattern of a filter row of so many columns. */
#define KW_COL2IM_SHARES(pixels, columns, lanes) ((pixels) * ((columns) / (lanes) + 2))

#endif
