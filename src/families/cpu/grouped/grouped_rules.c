/* grouped_rules.c: what the depthwise and merged families refuse, whichever of the four. */
#include "families/cpu/grouped/grouped_emit.h"
#include "families/cpu/grouped/grouped.h"
#include "problem/epilogue/epilogue.h"
#include "problem/tensors/pitch.h"

/* Live vectors of weights: those of the filter rows that a row of source pixels meets. */
static int weights_alive(const kw_config *config, const kw_grouped *g) {
    if (kw_grouped_pairs_columns(config, g)) {
        int pairs[KW_ROW_PAIRS_MAX][2];
        return 2 * kw_grouped_row_pairs(config, g, pairs);
    }
    if (kw_grouped_pairs_rows(config, g)) {
        return 2 * g->taps_w;
    }
    bool scatter = kw_grouped_scatters(config, g);
    int most = 0, rows = kw_grouped_sources(config, g, g->tile_h, g->taps_h);
    for (int row = 0; row < rows; row++) {
        int alive = 0;
        for (int tap = 0; tap < g->taps_h; tap++) {
            int first = -1, last = -1; /* of the tap's sources, which ascend with the pixels */
            for (int pixel = 0; pixel < g->tile_h && first < 0; pixel++) {
                first = kw_tap_source(scatter, g->stride, g->taps_h, pixel, tap);
            }
            for (int pixel = g->tile_h - 1; pixel >= 0 && last < 0; pixel--) {
                last = kw_tap_source(scatter, g->stride, g->taps_h, pixel, tap);
            }
            alive += first >= 0 && first <= row && row <= last;
        }
        most = alive > most ? alive : most;
    }
    return most * g->taps_w;
}

static bool uses_dp(const kw_rule_case *c) {
    return c->config->axis[KW_AXIS_MATH] == KW_MATH_DP || kw_grouped_pairs_rows(c->config, c->decoded);
}

static bool results_fill_lanes(const kw_rule_case *c) {
    const kw_grouped *g = c->decoded;
    int lanes = kw_config_isa(c->config)->lanes;
    return g->dst % lanes == 0 || lanes % g->dst == 0;
}

static bool groups_share_a_vector(const kw_rule_case *c) {
    const kw_grouped *g = c->decoded;
    return g->dst % kw_config_isa(c->config)->lanes == 0 || (g->src <= g->dst && !(g->src & (g->src - 1)));
}

static bool dp_has_pairs(const kw_rule_case *c) {
    const kw_grouped *g = c->decoded;
    return !uses_dp(c) || g->src % 2 == 0 || g->src == 1;
}

static bool gradient_is_fp32(const kw_rule_case *c) {
    const kw_grouped *g = c->decoded;
    return !uses_dp(c) || !kw_grouped_gradient(c->config) || (g->src == 1 && g->dst == 1);
}

static bool dp_has_row_pairs(const kw_rule_case *c) {
    const kw_grouped *g = c->decoded;
    bool pairs = kw_grouped_gradient(c->config) ? g->tile_h % 2 == 0 : g->taps_h > 1 || g->taps_w > 1;
    return !uses_dp(c) || g->src != 1 || (pairs && g->dst == 1);
}

static bool one_tap_has_no_stride(const kw_rule_case *c) {
    const kw_grouped *g = c->decoded;
    return g->taps_h > 1 || g->taps_w > 1 || g->stride == 1;
}

static bool bwd_data_tile_is_strided(const kw_rule_case *c) {
    const kw_grouped *g = c->decoded;
    return !kw_grouped_scatters(c->config, g) ||
           ((g->taps_h == 1 || g->tile_h % g->stride == 0) && (g->taps_w == 1 || g->tile_w % g->stride == 0));
}

static bool grouped_tile_in_registers(const kw_rule_case *c) {
    const kw_grouped *g = c->decoded;
    bool pairs_rows = kw_grouped_pairs_rows(c->config, g);
    int pixels = g->tile_h * g->tile_w * (pairs_rows ? 2 : 1), spare = g->reach     ? g->reach + 1 + kw_grouped_whole(c->config)
                                                                       : g->dst > 1 ? 2
                                                                                    : 1;
    if (pairs_rows && kw_grouped_gradient(c->config)) { /* sums; results that meet a source column; two rows, which become two pairs */
        int columns = (g->taps_w + g->stride - 1) / g->stride;
        return 2 * g->taps_h * g->taps_w + 2 * (columns < g->tile_w ? columns : g->tile_w) + 4 <= kw_config_isa(c->config)->registers;
    }
    bool columns = kw_grouped_pairs_columns(c->config, g);
    if (columns) {
        spare = 5;
    } else if (pairs_rows) {
        spare = g->taps_h == 2 ? 3 : 4; /* two rows, two pairs; zeros where a row has no partner */
    }
    int left = kw_config_isa(c->config)->registers - pixels - spare;
    /* Not even one filter row: what most points of the axes' product fail, so the rest is not counted. */
    if (left < g->taps_w && !columns) {
        return false;
    }
    return (kw_grouped_gradient(c->config) ? g->taps_h * g->taps_w : weights_alive(c->config, g)) <= left;
}

static bool int8_is_fp32(const kw_rule_case *c) {
    const kw_grouped *g = c->decoded;
    bool whole = g->reach || kw_grouped_gradient(c->config);
    return c->config->dtype != KW_INT8 || (c->config->axis[KW_AXIS_MATH] == KW_MATH_FMA) == !whole;
}

const kw_rule kw_grouped_valid_rules[] = {
    {"int8_math",
     "int8 is multiplied as fp32, by math=fma, but in groups of any width and weight gradients as whole numbers, by math=dp or wide",
     int8_is_fp32},
    {"lanes", "the result channels of a group must fill the lanes of vectors, or divide them", results_fill_lanes},
    {"shared_vector", "groups that share a vector need a power of two of source channels, at most as many as result channels",
     groups_share_a_vector},
    {"channel_pairs", "math=dp needs pairs of source channels, or one channel a group", dp_has_pairs},
    {"weight_math", "the weight gradient of several channels a group multiplies in fp32; it needs math=fma", gradient_is_fp32},
    {"row_pairs",
     "math=dp with one source channel pairs filter rows, or columns of one row, of the weight gradient result rows; it needs more than one "
     "tap, there an even tile_h, and one channel a group",
     dp_has_row_pairs},
    {"one_tap", "with taps_h=1 taps_w=1 any stride is served; stride=1 is its name", one_tap_has_no_stride},
    {"bwd_data_tile", "backward data with a stride needs tiles of a multiple of it, where more than one tap is handled at once",
     bwd_data_tile_is_strided},
    {"tile_registers", "the sums of a tile, the weights in use and a pixel must fit the isa's vector registers", grouped_tile_in_registers},
    {0},
};

/* --- problems ------------------------------------------------------------------------------------------------------ */

/* Taps that are handled at once, of an axis; on the depth it is always one. */
static int64_t taps_at_once(const kw_grouped *g, int axis) {
    return axis == 1 ? g->taps_h : axis == 2 ? g->taps_w : 1;
}

static bool taps_are_in_filter(const kw_rule_case *c) {
    const kw_grouped *g = c->decoded;
    return c->problem->conv.filter[1] >= g->taps_h && c->problem->conv.filter[2] >= g->taps_w;
}

static bool stride_is_that_of_window(const kw_rule_case *c) {
    const kw_grouped *g = c->decoded;
    bool good = true;
    for (int axis = 1; axis < 3; axis++) {
        good = good && (taps_at_once(g, axis) == 1 || c->problem->conv.stride[axis] == g->stride);
    }
    return good;
}

static bool no_stride_with_dilation(const kw_rule_case *c) {
    bool good = true;
    for (int axis = 1; axis < 3; axis++) {
        bool one = taps_at_once(c->decoded, axis) == 1;
        good = good && (one || c->problem->conv.stride[axis] == 1 || c->problem->conv.dilation[axis] == 1);
    }
    return good;
}

static bool bwd_data_window_is_filter(const kw_rule_case *c) {
    bool good = true;
    for (int axis = 1; axis < 3; axis++) {
        int64_t taps = taps_at_once(c->decoded, axis);
        good = good && (taps == 1 || c->problem->conv.filter[axis] == taps);
    }
    return good || !kw_grouped_scatters(c->config, c->decoded);
}

static bool indirection_is_bounded(const kw_rule_case *c) {
    enum { BYTES_MAX = 262144 };
    return kw_grouped_tile_words(c->config, c->decoded, c->problem) <= BYTES_MAX / 8;
}

static bool has_zero_w(const kw_rule_case *c) {
    return kw_epilogue_zero_w(&c->config->wants.epilogue) >= 0;
}

/* Up to 2^24 fp32 holds every whole number. */
static bool sums_are_exact(const kw_rule_case *c) {
    const kw_grouped *g = c->decoded;
    const kw_conv_dims *d = &c->problem->conv;
    bool shifted = c->config->wants.mixed || kw_epilogue_zero_x(&c->config->wants.epilogue), shifted_w = has_zero_w(c);
    double products = (double)d->filter[0] * (double)d->filter[1] * (double)d->filter[2] * g->src;
    return c->config->dtype != KW_INT8 || kw_grouped_whole(c->config) ||
           products * (shifted ? 255 : 128) * (shifted_w ? 255 : 128) <= 16777216;
}

/* A tap that the last window has beyond the filter is a weight of zero, from which no zero point may be taken. */
static bool windows_are_whole(const kw_rule_case *c) {
    bool whole = true;
    for (int axis = 1; axis < 3 && has_zero_w(c); axis++) {
        whole = whole && c->problem->conv.filter[axis] % taps_at_once(c->decoded, axis) == 0;
    }
    return whole;
}

/* A result's address tells its pixel, and the last rows of an image what reaches beyond the tensor. */
static bool pitches_are_nested(const kw_rule_case *c) {
    bool good = true;
    for (kw_tensor t = KW_X; t <= KW_Y && c->problem->layout == KW_CHANNELS_LAST; t += KW_Y - KW_X) {
        kw_image image = kw_problem_image(c->problem, t);
        double span = (double)image.length;
        for (int i = 0; i < KW_PITCHES; i++) {
            good = good && (image.extent[i] == 1 || (double)image.step[i] >= span);
            span += (double)(image.extent[i] - 1) * (double)image.step[i];
        }
    }
    return good;
}

const kw_rule kw_grouped_takes_rules[] = {
    {"nested", "of channels-last tensors with pitches columns lie within their row, rows within their plane, planes within their image",
     pitches_are_nested},
    {0},
};

const kw_rule kw_grouped_fits_rules[] = {
    {"exact_sums", "sums of int8 have at most 1024 products here, of uint8 or with a zero point 514, with two 258; take another family",
     sums_are_exact},
    {"zero_w_windows", "with zero points of w a filter must be whole windows of the taps that are handled at once", windows_are_whole},
    {"taps_in_filter", "the filter must have the taps that are handled at once", taps_are_in_filter},
    {"window_stride", "stride must be the problem's on each axis with more than one tap at once", stride_is_that_of_window},
    {"stride_or_dilation", "an axis with more than one tap at once needs stride 1 or dilation 1", no_stride_with_dilation},
    {"bwd_data_filter", "backward data with a stride needs a filter of just the taps that are handled at once", bwd_data_window_is_filter},
    {"filter_size", "the filter has too many windows of these taps for an indirection buffer", indirection_is_bounded},
    {0},
};
