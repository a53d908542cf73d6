/* conv_merged_weight.c: the weight gradient of convolutions with few channels a group. A vector of output channels covers several groups, an
 * input channel of the groups is spread over their lanes by a permutation, as in conv.merged; the sums of a window of taps stay in registers while
 * a unit goes over the pixels, once for each input channel of a group. */
#include "families/cpu/grouped.h"

enum { GROUP_C = KW_GROUPED_AXIS_COUNT, GROUP_K, AXIS_COUNT };

static const kw_axis axes[AXIS_COUNT] = {
    KW_ISA_AXES,
    KW_GROUPED_AXES,
    {"group_c", NULL, 1, 64, "input channels of a group"},
    {"group_k", NULL, 1, 64, "output channels of a group"},
};

static kw_grouped conv_merged_weight_grouped(const kw_config *config) {
    const int32_t *axis = config->axis;
    return (kw_grouped){
        .tile_h = axis[KW_GROUPED_TILE_H],
        .tile_w = axis[KW_GROUPED_TILE_W],
        .taps_h = axis[KW_GROUPED_TAPS_H],
        .taps_w = axis[KW_GROUPED_TAPS_W],
        .stride = axis[KW_GROUPED_STRIDE],
        .src = axis[GROUP_C],
        .dst = axis[GROUP_K],
    };
}

static kw_status conv_merged_weight_valid(const kw_config *config, kw_error *why) {
    kw_grouped grouped = conv_merged_weight_grouped(config);
    if (grouped.src == 1 && grouped.dst == 1) {
        return kw_fail(why, KW_ILLEGAL,
                       "conv.merged_weight needs more than one channel a group; group_c=1 group_k=1 is conv.depthwise_weight");
    }
    return kw_grouped_valid(config, &grouped, why);
}

static kw_status conv_merged_weight_fits(const kw_config *config, const kw_problem *problem, kw_error *why) {
    const kw_conv_dims *d = &problem->conv;
    int32_t c = config->axis[GROUP_C], k = config->axis[GROUP_K];
    if (d->c != d->g * c || d->k != d->g * k) {
        return kw_fail(why, KW_NO_KERNEL, "conv.merged_weight group_c=%d group_k=%d needs c/g = %d and k/g = %d", c, k, c, k);
    }
    kw_grouped grouped = conv_merged_weight_grouped(config);
    return kw_grouped_fits(config, &grouped, problem, why);
}

static void conv_merged_weight_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_grouped grouped = conv_merged_weight_grouped(config);
    kw_gradient_launch(config, &grouped, problem, target, launch);
}

static void conv_merged_weight_emit(const kw_config *config, kw_text *text) {
    kw_grouped grouped = conv_merged_weight_grouped(config);
    kw_grouped_emit(text, config, &grouped);
}

extern const kw_family kw_family_conv_merged_weight;
const kw_family kw_family_conv_merged_weight = {
    .name = "conv.merged_weight",
    .summary = "few channels a group, several groups a vector, weight gradient",
    .kind = KW_KIND_CPU,
    .ops = 1 << KW_CONV_BWD_WEIGHT,
    .dtypes = 1 << KW_FP32 | 1 << KW_BF16 | 1 << KW_FP16,
    .axes = axes,
    .axis_count = AXIS_COUNT,
    .valid = conv_merged_weight_valid,
    .fits = conv_merged_weight_fits,
    .launch = conv_merged_weight_launch,
    .emit = conv_merged_weight_emit,
    .kernel = "cpu/grouped/grouped_weight.c",
};
