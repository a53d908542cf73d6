/* lines.h: what conv.depthwise_lines and conv.depthwise_lines_weight share: the lines that rows of an image are copied as, and what they ask of a
 * problem. */
#ifndef KW_FAMILIES_CPU_DEPTHWISE_LINES_H
#define KW_FAMILIES_CPU_DEPTHWISE_LINES_H

#include "base/math.h"
#include "cpu/lines/args.h"
#include "families/cpu/cpu_rules.h"
#include "families/cpu/depthwise/depthwise_rules.h"

/* What lines take of the first-level cache; the most columns of a filter. */
enum { KW_LINES_BYTES = 24576, KW_LINES_COLUMNS = 64 };

/* Words of each of so many lines, and of its pixels of one parity. */
typedef struct kw_line_size {
    int32_t words, plane;
} kw_line_size;

/* A line is an odd number of cache lines, so that no two share the ways of the first level. */
static inline kw_line_size kw_line_size_of(int32_t lines, int32_t stride, int32_t lanes) {
    int32_t cache_lines = KW_LINES_BYTES / lines / KW_LINE, words = (cache_lines - 1 + cache_lines % 2) * (KW_LINE / 4);
    return (kw_line_size){words, words / stride / lanes * lanes};
}

/* Vectors of results that a line of so many channels serves: it begins with a pixel, has the pixels that the filter's columns reach and as much as copies
 * write too much. */
static inline int64_t kw_line_vectors(kw_line_size size, int32_t stride, int32_t lanes, const kw_conv_dims *d, int64_t channels) {
    int64_t reach = ((d->filter[2] - 1) * d->dilation[2] + stride - 1) / stride;
    return (size.plane - (reach + 3) * channels - lanes) / lanes;
}

/* A quarter of a line at least. */
static inline bool kw_line_serves(kw_line_size size, int32_t stride, int32_t lanes, const kw_conv_dims *d, int64_t channels) {
    return channels <= size.words && (double)(d->filter[2] - 1) * (double)d->dilation[2] <= size.words &&
           kw_line_vectors(size, stride, lanes, d, channels) * 4 * lanes >= size.plane;
}

/* What the axes taps_h and stride say of a filter. */
static inline bool kw_line_filter(const kw_conv_dims *d, int32_t taps_h) {
    return d->filter[1] == taps_h && d->dilation[1] == 1 && d->filter[2] <= KW_LINES_COLUMNS;
}
static inline bool kw_line_strides(const kw_conv_dims *d, int32_t stride) {
    return d->stride[1] == stride && d->stride[2] == stride;
}

#define KW_LINE_FILTER_RULE(holds)                                                                                                         \
    { "whole_filter", "the filter must have taps_h rows without dilation, and at most 64 columns", holds }
#define KW_LINE_STRIDE_RULE(holds)                                                                                                         \
    { "stride", "rows and columns must have the config's stride", holds }
#define KW_LINE_REACH_RULE(holds)                                                                                                          \
    { "line_reach", "what the filter's columns reach must leave a quarter of a line; for more channels take conv.depthwise", holds }
#define KW_LINE_LAYOUT_RULE                                                                                                                \
    { "channels_last", "the layout must be channels-last; for channels first take conv.depthwise_planes", kw_has_channels_last }

/* What copying a vector of a line takes, as products. */
#define KW_LINE_COPY_PRODUCTS 3.0

#endif
