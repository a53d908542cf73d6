/* grouped_emit.h: the geometry of a tile that the emitter of the depthwise and merged families, its register budget and its cutting into
 * units agree on. */
#ifndef KW_FAMILIES_CPU_EMIT_GROUPED_EMIT_H
#define KW_FAMILIES_CPU_EMIT_GROUPED_EMIT_H

#include "families/cpu/grouped/grouped.h"

/* The weight gradient goes over the same pixels for each input channel of a group. From 8 on it works on copies, which cost less than
 * reading pixels that lie far apart so often. */
static inline bool kw_grouped_staged(const kw_config *config, const kw_grouped *g) {
    return kw_grouped_gradient(config) && !g->reach && g->src >= 8;
}

/* Backward data with a stride: result pixel and tap decide by their remainders whether there is a source pixel. */
static inline bool kw_grouped_scatters(const kw_config *config, const kw_grouped *g) {
    return config->op == KW_CONV_BWD_DATA && g->stride > 1;
}

/* math=dp with one source channel a group multiplies pairs of filter rows, or of columns where there is but one row, of two vectors'
 * worth of channels at a time; int8 does in the weight gradient, by wide as well. */
static inline bool kw_grouped_pairs_rows(const kw_config *config, const kw_grouped *g) {
    bool whole = config->dtype == KW_INT8 && kw_grouped_gradient(config) && config->axis[KW_AXIS_MATH] != KW_MATH_FMA;
    return (whole || config->axis[KW_AXIS_MATH] == KW_MATH_DP) && g->src == 1;
}

static inline bool kw_grouped_pairs_columns(const kw_config *config, const kw_grouped *g) {
    return kw_grouped_pairs_rows(config, g) && !kw_grouped_gradient(config) && g->taps_h == 1;
}

static inline int kw_grouped_channels(const kw_config *config, const kw_grouped *g) {
    return kw_config_isa(config)->lanes * (kw_grouped_pairs_rows(config, g) ? 2 : 1);
}

/* The source pixel of an axis of a tile that a tap of a window joins to a result pixel; -1: none. */
int kw_tap_source(bool scatters, int stride, int taps, int pixel, int tap);
/* Source pixels of an axis of a tile. */
int kw_grouped_sources(const kw_config *config, const kw_grouped *g, int tile, int taps);
/* int8 as whole numbers (math=dp, wide), in groups of any width: words of a pixel are permuted as they are. */
static inline bool kw_grouped_whole(const kw_config *config) {
    return config->dtype == KW_INT8 && config->axis[KW_AXIS_MATH] != KW_MATH_FMA;
}

/* Vectors of packed weights of a window. */
int64_t kw_grouped_window_vectors(const kw_config *config, const kw_grouped *g);

/* Pairs of filter rows (kw_grouped_pairs_columns(): columns) that the results of a tile use; second -1: the first alone. pairs has room
 * for 2 KW_ROW_PAIRS_MAX; returns their count. */
enum { KW_ROW_PAIRS_MAX = 8 };
int kw_grouped_row_pairs(const kw_config *config, const kw_grouped *g, int pairs[KW_ROW_PAIRS_MAX][2]);

#endif
