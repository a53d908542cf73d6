/* block_rows.h: rows of the families whose blocks hold an image's part. */
#ifndef KW_TESTS_CHECK_GPU_BLOCK_ROWS_H
#define KW_TESTS_CHECK_GPU_BLOCK_ROWS_H

#include "check/gpu/player.h"

/* Configs of these families, whose axes are all named; op, type and layout head their problems. more: what
 * differs from architecture to architecture, in the order of player_arches. */
typedef struct block_row {
    const char *ops, *dtype, *layout, *axes, *more[PLAYER_ARCHES], *problems[PLAYER_PROBLEMS];
} block_row;

typedef struct block_rows {
    const block_row *rows;
    size_t count;
} block_rows;

extern const block_rows planes_rows, lines_and_volumes_rows, narrow_groups_rows, narrow_weights_rows, dense_rows, few_channels_rows;

#endif
