/* conv_depthwise_weight.c: the weight gradient of convolutions with one channel a group: a vector of channels at a time, any filter, stride,
 * dilation and padding, in 1, 2 and 3 dimensions. The sums of a window of taps stay in registers while a unit goes over the pixels. */
#include "families/cpu/grouped.h"

enum { AXIS_COUNT = KW_GROUPED_AXIS_COUNT };

static const kw_axis axes[AXIS_COUNT] = {
    KW_ISA_AXES,
    KW_GROUPED_AXES,
};

static kw_grouped conv_depthwise_weight_grouped(const kw_config *config) {
    const int32_t *axis = config->axis;
    return (kw_grouped){
        .tile_h = axis[KW_GROUPED_TILE_H],
        .tile_w = axis[KW_GROUPED_TILE_W],
        .taps_h = axis[KW_GROUPED_TAPS_H],
        .taps_w = axis[KW_GROUPED_TAPS_W],
        .stride = axis[KW_GROUPED_STRIDE],
        .src = 1,
        .dst = 1,
    };
}

static kw_status conv_depthwise_weight_valid(const kw_config *config, kw_error *why) {
    kw_grouped grouped = conv_depthwise_weight_grouped(config);
    return kw_grouped_valid(config, &grouped, why);
}

static kw_status conv_depthwise_weight_fits(const kw_config *config, const kw_problem *problem, kw_error *why) {
    const kw_conv_dims *d = &problem->conv;
    if (d->c != d->g || d->k != d->g) {
        return kw_fail(why, KW_NO_KERNEL, "conv.depthwise_weight needs g = c = k");
    }
    kw_grouped grouped = conv_depthwise_weight_grouped(config);
    return kw_grouped_fits(config, &grouped, problem, why);
}

static void conv_depthwise_weight_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_grouped grouped = conv_depthwise_weight_grouped(config);
    kw_gradient_launch(config, &grouped, problem, target, launch);
}

static void conv_depthwise_weight_emit(const kw_config *config, kw_text *text) {
    kw_grouped grouped = conv_depthwise_weight_grouped(config);
    kw_grouped_emit(text, config, &grouped);
}

extern const kw_family kw_family_conv_depthwise_weight;
const kw_family kw_family_conv_depthwise_weight = {
    .name = "conv.depthwise_weight",
    .summary = "one channel a group, weight gradient",
    .kind = KW_KIND_CPU,
    .ops = 1 << KW_CONV_BWD_WEIGHT,
    .dtypes = 1 << KW_FP32 | 1 << KW_BF16 | 1 << KW_FP16,
    .axes = axes,
    .axis_count = AXIS_COUNT,
    .valid = conv_depthwise_weight_valid,
    .fits = conv_depthwise_weight_fits,
    .launch = conv_depthwise_weight_launch,
    .emit = conv_depthwise_weight_emit,
    .kernel = "cpu/grouped/grouped_weight.c",
};
