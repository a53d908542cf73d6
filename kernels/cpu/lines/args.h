/* args.h of cpu/lines: what launch() of conv.depthwise_lines and conv.depthwise_lines_weight hands to lines.c and lines_weight.c. Thread memory is
 * the lines of a tile; then the filter's columns, 8 bytes each, and values of steps; of weight gradients the sums, by phases. */
#ifndef KW_LINES_ARGS_H
#define KW_LINES_ARGS_H

#include "cpu/lib/sizes.h"

typedef struct kw_lines_params {
    kw_i64 spans, vectors; /* of a row of results: parts, and vectors of the whole */
    kw_i64 tiles;          /* of rows */
    kw_i64 block, blocks;  /* channels of a unit, which are all of a pixel's in weight gradients; parts of a pixel */
    kw_i64 block_words;    /* of packed weights */
    kw_i64 phases, parts;  /* of weight gradients: places in a period where vectors begin; parts of the pixels */
} kw_lines_params;

KW_PARAMS_FIT(kw_lines_params);

/* Words of a weight, or of a step's values, for all channels from any one on: as many as begin a period, and a vector more. */
#define KW_LINES_PERIOD(channels, lanes) ((channels) + (lanes))

/* Whether weight gradients read rows where they lie: of which configs, and of which of their problems, whose rows have so many words. */
#define KW_LINES_MAY_LIE(fp32, stride, columns) ((fp32) && (stride) == 1 && (columns) == 1)
#define KW_LINES_LIE(filter_w, pad_w, row_words, lanes) ((filter_w) == 1 && (pad_w) == 0 && (row_words) % (lanes) == 0)

/* Phases: channels over what they and the lanes, a power of two, have in common. */
#define KW_LINES_PHASES(channels, lanes) ((channels) / KW_LINES_COMMON((channels) & -(channels), lanes))
#define KW_LINES_COMMON(power, lanes) ((power) < (lanes) ? (power) : (lanes))

#endif
