/* overlap_layout.h: for gpu/pipeline/overlap.h and what brings its steps: roles of waves, the layout of shared memory, a unit of work. */
#ifndef KW_OVERLAP_LAYOUT_H
#define KW_OVERLAP_LAYOUT_H

#include "gpu/matrix/wgmma.h"

/* --- threads and their roles; gpu/lib/resources.h has the counts --- */

#define KW_PINGPONG (KW_PIPE == KW_PIPE_PINGPONG)
enum { KW_MULTIPLY_WAVES = KW_MATH_WAVES * KW_WAVE_GROUPS }; /* two groups of four */
enum { KW_MULTIPLY_THREADS = KW_MULTIPLY_WAVES * KW_WAVE };
enum { KW_THREADS = KW_BLOCK_WAVES * KW_WAVE };
enum { KW_GROUP_THREADS = KW_GROUP_WAVES * KW_WAVE };

/* --- shared memory: stages, borders (KW_BORDER), the whole second operand (KW_STATIONARY), pieces of the result that are on their way, barriers --- */

enum { KW_STAGE_BYTES_A = KW_BORDER ? 0 : KW_TILE_BYTES(KW_TILE_M) };
enum { KW_STAGE_BYTES = KW_STAGE_BYTES_A + (KW_STATIONARY ? 0 : KW_TILE_BYTES(KW_HELD_N)) };
enum { KW_PIECE = KW_SLAB_ELEMENTS }; /* rows and columns of the result that leave together */
enum { KW_BORDERS_AT = KW_STAGES * KW_STAGE_BYTES };
enum { KW_STATIONARY_AT = KW_BORDERS_AT + (KW_BORDER ? 2 * KW_BORDER_ROWS * KW_SLAB_ROW_BYTES : 0) };
enum { KW_PIECES_AT = KW_STATIONARY_AT + KW_STATIONARY_BYTES };
enum { KW_BARRIERS_AT = KW_PIECES_AT + 2 * KW_PIECES * KW_PIECE_BYTES };
enum { KW_FACTS_AT = KW_BARRIERS_AT + (KW_STAGES + KW_BORDERS) * KW_STAGE_BARRIER_BYTES };
enum { KW_LDS_BYTES = KW_OVERLAP_BYTES(KW_PIECES) };

#undef KW_LEAST_BLOCKS
#define KW_LEAST_BLOCKS KW_BLOCKS_HELD

#if KW_TEAM > 1
/* --- gpu/pipeline/cluster.h: parts of a tile's depth, of each block or with pingpong of each of its groups; shares of its columns that are added up
 * one by one, by all groups or, where columns are few, by one of each block; sums of an instruction in a thread's share --- */

enum { KW_PARTS = KW_TEAM * KW_WAVE_GROUPS };
enum { KW_SHARES = KW_TILE_N % (8 * KW_PARTS) == 0 ? KW_PARTS : KW_TEAM };
enum { KW_SHARE_GROUPS = KW_SHARES / KW_TEAM };
enum { KW_SHARE_N = KW_CEIL(KW_TILE_N / 8, KW_SHARES) * 4 }; /* whole runs of 8 columns; the last share may be less, or none */
#endif

/* --- a tile, or a part of its depth --- */

typedef struct kw_work {
    int batch, row, col, part; /* of the tile's first element; the part of its depth */
    int first, end;            /* steps of that part */
    int divided;               /* its sums go to the workspace */
    int phase;                 /* of backward data: which pixels the tile's rows are */
    const char *facts;         /* what the text keeps in shared memory (KW_FACTS_BYTES) */
    kw_i64 share_at;           /* KW_TEAM, of a convolution: where a row of the share begins behind the row of the result, */
    int share_cols;            /* and how many columns there are from there on */
    int share_end;             /* KW_TEAM, of a product: where the tile's columns end */
    int rows_end;              /* KW_ROW_GROUPS: of the group, which is `batch`; rows (or with KW_TURNED columns) count over all groups */
} kw_work;

#endif
