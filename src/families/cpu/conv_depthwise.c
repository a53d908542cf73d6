/* conv_depthwise.c: one channel a group, forward and backward data: a vector of channels at a time, any filter, stride, dilation and padding,
 * in 1, 2 and 3 dimensions. The speed comes from loading a source pixel once for all the taps and result pixels of a tile that need it, so
 * from windows of several taps; windows of one tap serve what those cannot. */
#include "families/cpu/grouped.h"

enum { BLOCK = KW_GROUPED_AXIS_COUNT, AXIS_COUNT };

static const kw_axis axes[AXIS_COUNT] = {
    KW_ISA_AXES,
    KW_GROUPED_AXES,
    {"block", NULL, 0, 64, "vectors of channels that a unit takes through its pixels; 0: all"},
};

static kw_grouped conv_depthwise_grouped(const kw_config *config) {
    const int32_t *axis = config->axis;
    return (kw_grouped){
        .tile_h = axis[KW_GROUPED_TILE_H],
        .tile_w = axis[KW_GROUPED_TILE_W],
        .taps_h = axis[KW_GROUPED_TAPS_H],
        .taps_w = axis[KW_GROUPED_TAPS_W],
        .stride = axis[KW_GROUPED_STRIDE],
        .src = 1,
        .dst = 1,
        .block = axis[BLOCK],
    };
}

static kw_status conv_depthwise_valid(const kw_config *config, kw_error *why) {
    kw_grouped grouped = conv_depthwise_grouped(config);
    return kw_grouped_valid(config, &grouped, why);
}

static kw_status conv_depthwise_fits(const kw_config *config, const kw_problem *problem, kw_error *why) {
    const kw_conv_dims *d = &problem->conv;
    if (d->c != d->g || d->k != d->g) {
        return kw_fail(why, KW_NO_KERNEL, "conv.depthwise needs g = c = k");
    }
    kw_grouped grouped = conv_depthwise_grouped(config);
    return kw_grouped_fits(config, &grouped, problem, why);
}

static void conv_depthwise_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_grouped grouped = conv_depthwise_grouped(config);
    kw_grouped_launch(config, &grouped, problem, target, launch);
}

static void conv_depthwise_emit(const kw_config *config, kw_text *text) {
    kw_grouped grouped = conv_depthwise_grouped(config);
    kw_grouped_emit(text, config, &grouped);
}

extern const kw_family kw_family_conv_depthwise;
const kw_family kw_family_conv_depthwise = {
    .name = "conv.depthwise",
    .summary = "one channel a group, forward and backward data",
    .kind = KW_KIND_CPU,
    .ops = 1 << KW_CONV_FWD | 1 << KW_CONV_BWD_DATA,
    .dtypes = 1 << KW_FP32 | 1 << KW_BF16 | 1 << KW_FP16,
    .axes = axes,
    .axis_count = AXIS_COUNT,
    .valid = conv_depthwise_valid,
    .fits = conv_depthwise_fits,
    .launch = conv_depthwise_launch,
    .emit = conv_depthwise_emit,
    .kernel = "cpu/grouped/grouped.c",
};
