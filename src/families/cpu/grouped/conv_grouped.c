/* conv_grouped.c: the families of few channels a group, channels last, any filter, stride, dilation and padding, in 1, 2 and 3
 * dimensions. They differ in their axes, and in which channels of a group they serve.
 *
 * conv.depthwise: one channel a group, forward and backward data, a vector of channels at a time. The speed comes from loading a source
 * pixel once for all the taps and result pixels of a tile that need it, so from windows of several taps; windows of one tap serve what
 * those cannot.
 *
 * conv.merged: few channels a group. A vector of result channels covers several groups; each source channel of the groups is spread over
 * its group's lanes by one permutation, which all the taps of a window share, so no lane is wasted. Groups whose result channels fill
 * whole vectors take their source channels by broadcast instead.
 *
 * conv.depthwise_weight and conv.merged_weight: their weight gradients. The sums of a window of taps stay in registers while a unit goes
 * over the pixels, once for each input channel of a group.
 *
 * conv.any_merged and conv.any_merged_weight: the same of groups of any width, C/G unlike K/G as well, whose channels the problem tells. The result's channels, in
 * the gradient those of the wider side, fill the lanes, which go on from group to group, and the other's channels are brought to them by permutations of as many vectors as
 * the groups of a vector take. */
#include "base/math.h"
#include "families/cpu/cpu_rules.h"
#include "families/cpu/grouped/grouped.h"
#include "families/cpu/reorder.h"

#include <assert.h>

/* Behind the axes that all four share. */
enum { GROUP_C = KW_GROUPED_AXIS_COUNT, GROUP_K, MERGED_AXIS_COUNT };

#define GROUP_AXES                                                                                                                         \
    {"group_c", NULL, 1, 64, "input channels of a group"}, {                                                                               \
        "group_k", NULL, 1, 64, "output channels of a group"                                                                               \
    }
#define BLOCK_AXIS                                                                                                                         \
    { "block", NULL, 0, 64, "vectors of channels that a unit takes through its pixels; 0: all" }

static const kw_axis depthwise_axes[] = {KW_ISA_AXES, KW_GROUPED_AXES, BLOCK_AXIS};
static const kw_axis depthwise_weight_axes[] = {KW_ISA_AXES, KW_GROUPED_AXES};
static const kw_axis merged_axes[] = {KW_ISA_AXES, KW_GROUPED_AXES, GROUP_AXES, BLOCK_AXIS};
static const kw_axis merged_weight_axes[] = {KW_ISA_AXES, KW_GROUPED_AXES, GROUP_AXES};

/* Of groups of any width. */
enum { ANY_LANES = KW_GROUPED_AXIS_COUNT, ANY_REACH };
enum { LANES_C, LANES_K };
#define REACH_AXIS                                                                                                                         \
    { "reach", NULL, 1, 2, "vectors of the other side's channels that are permuted at once" }
static const kw_axis any_merged_axes[] = {KW_ISA_AXES, KW_GROUPED_AXES, REACH_AXIS};
static const kw_axis any_merged_weight_axes[] = {
    KW_ISA_AXES,
    KW_GROUPED_AXES,
    {"lanes", "c k", 0, 1, "whose channels fill the vectors: c of x, k of y; the other's are permuted"},
    REACH_AXIS,
};

static kw_grouped grouped_of(const kw_config *config) {
    const int32_t *axis = config->axis, count = config->family->axis_count;
    assert(count >= KW_GROUPED_AXIS_COUNT && count <= MERGED_AXIS_COUNT + 1);
    bool backward = config->op == KW_CONV_BWD_DATA, merged = count >= MERGED_AXIS_COUNT;
    return (kw_grouped){
        .tile_h = axis[KW_GROUPED_TILE_H],
        .tile_w = axis[KW_GROUPED_TILE_W],
        .taps_h = axis[KW_GROUPED_TAPS_H],
        .taps_w = axis[KW_GROUPED_TAPS_W],
        .stride = axis[KW_GROUPED_STRIDE],
        .src = merged ? axis[backward ? GROUP_K : GROUP_C] : 1,
        .dst = merged ? axis[backward ? GROUP_C : GROUP_K] : 1,
        .block = config->op == KW_CONV_BWD_WEIGHT ? 0 : axis[count - 1],
    };
}

static kw_grouped any_merged_of(const kw_config *config) {
    const int32_t *axis = config->axis;
    bool gradient = kw_grouped_gradient(config);
    return (kw_grouped){
        .tile_h = axis[KW_GROUPED_TILE_H],
        .tile_w = axis[KW_GROUPED_TILE_W],
        .taps_h = axis[KW_GROUPED_TAPS_H],
        .taps_w = axis[KW_GROUPED_TAPS_W],
        .stride = axis[KW_GROUPED_STRIDE],
        .reach = axis[gradient ? ANY_REACH : KW_GROUPED_AXIS_COUNT],
        .lanes_c = gradient && axis[ANY_LANES] == LANES_C,
    };
}

static void any_merged_decode(const kw_config *config, const kw_target *target, void *decoded) {
    (void)target;
    *(kw_grouped *)decoded = any_merged_of(config);
}

static void conv_grouped_decode(const kw_config *config, const kw_target *target, void *decoded) {
    (void)target;
    *(kw_grouped *)decoded = grouped_of(config);
}

static bool has_several_channels(const kw_rule_case *c) {
    return c->config->axis[GROUP_C] > 1 || c->config->axis[GROUP_K] > 1;
}

static bool has_one_channel_groups(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    return d->c == d->g && d->k == d->g;
}

static bool has_channels_of_axes(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    return d->c / d->g == c->config->axis[GROUP_C] && d->k / d->g == c->config->axis[GROUP_K];
}

static const kw_rule merged_valid[] = {
    {"several_channels", "group_c=1 group_k=1 is conv.depthwise and conv.depthwise_weight", has_several_channels},
    {0},
};

static const kw_rule depthwise_takes[] = {
    {"one_channel_groups", "g, c and k must be the same", has_one_channel_groups},
    {0},
};

static const kw_rule merged_fits[] = {
    {"group_channels", "c/g must be group_c, and k/g group_k", has_channels_of_axes},
    {0},
};

static bool has_wide_groups(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    return d->g > 1 && (d->c > d->g || d->k > d->g);
}

static bool lanes_are_of_the_wider(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    return c->config->axis[ANY_LANES] == LANES_C ? d->c >= d->k : d->k >= d->c;
}

static bool groups_are_narrow(const kw_rule_case *c) {
    enum { CHANNELS_MAX = 1024 };
    const kw_conv_dims *d = &c->problem->conv;
    return kw_max(d->c, d->k) / d->g <= CHANNELS_MAX;
}

/* Channels of the other side that one vector of `reach` holds: int8 as whole numbers has half as many bytes as two vectors of it. */
static int64_t loaded_channels(const kw_config *config) {
    return kw_config_isa(config)->lanes * (config->dtype == KW_INT8 ? 2 : 1);
}

/* A vector that begins in the midst of a group meets one more. */
static bool groups_are_within_reach(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    kw_grouped g = any_merged_of(c->config);
    bool of_c = g.lanes_c || c->config->op == KW_CONV_BWD_DATA;
    int64_t lanes = kw_config_isa(c->config)->lanes, own = (of_c ? d->c : d->k) / d->g, other = (of_c ? d->k : d->c) / d->g;
    int64_t groups = lanes % own == 0 || own % lanes == 0 ? kw_ceil_div(lanes, own) : (lanes - 2) / own + 2;
    return kw_min(groups, d->g) * other <= loaded_channels(c->config) * g.reach;
}

static bool both_sides_fill_a_vector(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    int64_t loaded = loaded_channels(c->config) * (c->config->dtype == KW_INT8 ? any_merged_of(c->config).reach : 1);
    bool backward = c->config->op == KW_CONV_BWD_DATA;
    return (backward ? d->c : d->k) >= kw_config_isa(c->config)->lanes && (backward ? d->k : d->c) >= loaded;
}

static const kw_rule any_merged_takes[] = {
    {"wide_groups", "g must be above 1, and so must c/g or k/g", has_wide_groups},
    {"group_width", "a group must have at most 1024 channels; above, conv.direct and conv.direct_bwd_weight fill their vectors as well",
     groups_are_narrow},
    {0},
};

static const kw_rule any_merged_data_fits[] = {
    {"group_reach", "the groups of a vector must have no more channels of the other side than reach vectors", groups_are_within_reach},
    {"whole_vector", "x and y must have as many channels as are loaded at once", both_sides_fill_a_vector},
    {0},
};

static bool multiplies_floats(const kw_rule_case *c) {
    int math = c->config->axis[KW_AXIS_MATH];
    return math == KW_MATH_FMA || (c->config->dtype == KW_INT8 && (math == KW_MATH_DP || math == KW_MATH_WIDE));
}

static bool pairs_are_of_one_vector(const kw_rule_case *c) {
    return c->config->axis[KW_AXIS_MATH] != KW_MATH_WIDE || any_merged_of(c->config).reach == 1;
}

/* Where a result pixel meets some of a window's taps only, the sums of its weights are its own. */
static bool windows_have_one_sum(const kw_rule_case *c) {
    return c->config->dtype != KW_INT8 || c->config->op != KW_CONV_BWD_DATA || any_merged_of(c->config).stride == 1;
}

static const kw_rule any_merged_valid[] = {
    {"float_math", "groups of any width are multiplied as fp32; it needs math=fma, of int8 dp or wide", multiplies_floats},
    {"pairs_reach", "math=wide needs reach=1: one vector of int16", pairs_are_of_one_vector},
    {"int8_stride", "backward data of int8 needs stride=1", windows_have_one_sum},
    {0},
};

static const kw_rule any_merged_fits[] = {
    {"wider_side", "lanes=c needs c/g of at least k/g, and lanes=k the other way round", lanes_are_of_the_wider},
    {"group_reach", "the groups of a vector must have no more channels of the other side than reach vectors", groups_are_within_reach},
    {0},
};

/* last: tensors are, so that the stages of a gradient that is shared out are the kernel's own. */
static void launch_grouped(kw_grouped grouped, bool last, const kw_config *config, const kw_problem *problem, const kw_target *target,
                           kw_launch *launch) {
    if (kw_grouped_gradient(config)) {
        grouped.shared = last && config->dtype != KW_INT8;
        kw_gradient_launch(config, &grouped, problem, target, launch);
    } else {
        kw_grouped_launch(config, &grouped, problem, target, launch);
    }
}

static void launch_last(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    launch_grouped(grouped_of(config), false, config, problem, target, launch);
}

static void any_merged_launch_last(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    launch_grouped(any_merged_of(config), false, config, problem, target, launch);
}

static void any_merged_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    if (problem->layout == KW_CHANNELS_LAST) {
        *launch = (kw_launch){0};
        launch_grouped(any_merged_of(config), true, config, problem, target, launch);
    } else {
        kw_reorder_launch(any_merged_launch_last, config, problem, target, launch);
    }
}

static void any_merged_emit(const kw_config *config, kw_text *text) {
    kw_grouped grouped = any_merged_of(config);
    kw_grouped_emit(text, config, &grouped);
}

static void conv_grouped_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    if (problem->layout == KW_CHANNELS_LAST) {
        *launch = (kw_launch){0};
        launch_grouped(grouped_of(config), true, config, problem, target, launch);
    } else {
        kw_reorder_launch(launch_last, config, problem, target, launch);
    }
}

static void conv_grouped_emit(const kw_config *config, kw_text *text) {
    kw_grouped grouped = grouped_of(config);
    kw_grouped_emit(text, config, &grouped);
}

enum { FLOATS = 1 << KW_FP32 | 1 << KW_BF16 | 1 << KW_FP16 };

/* What the rows have in common. */
#define GROUPED_FAMILY(table)                                                                                                              \
    .kind = KW_KIND_CPU, .fuses = true, .first_text = true, .pitched = true, .pitched_text = true, .axes = table,                          \
    .axis_count = sizeof table / sizeof *table
#define ANY_WIDTH .decode = any_merged_decode, .launch = any_merged_launch, .emit = any_merged_emit
#define FIXED_WIDTH .decode = conv_grouped_decode, .launch = conv_grouped_launch, .emit = conv_grouped_emit

const kw_family kw_family_conv_depthwise = {
    .name = "conv.depthwise",
    .summary = "one channel a group, forward and backward data",
    .ops = 1 << KW_CONV_FWD | 1 << KW_CONV_BWD_DATA,
    .rules = {[KW_VALID] = {kw_isa_valid_rules, kw_grouped_valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_TAKES] = {depthwise_takes, kw_cpu_conv_rules, kw_grouped_takes_rules},
              [KW_FITS] = {kw_grouped_fits_rules}},
    .kernel = "cpu/grouped/grouped.c",
    .dtypes = FLOATS | 1 << KW_INT8,
    .quantized = true,
    .zero_w = true,
    .zero_w_loaded = true,
    .short_sums = true,
    .narrow_pairs = true,
    FIXED_WIDTH,
    GROUPED_FAMILY(depthwise_axes),
};

const kw_family kw_family_conv_depthwise_weight = {
    .name = "conv.depthwise_weight",
    .summary = "one channel a group, weight gradient",
    .ops = 1 << KW_CONV_BWD_WEIGHT,
    .rules = {[KW_VALID] = {kw_isa_valid_rules, kw_grouped_valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_TAKES] = {depthwise_takes, kw_cpu_conv_rules, kw_grouped_takes_rules},
              [KW_FITS] = {kw_grouped_fits_rules}},
    .kernel = "cpu/grouped/grouped_weight.c",
    .dtypes = FLOATS | 1 << KW_INT8,
    FIXED_WIDTH,
    GROUPED_FAMILY(depthwise_weight_axes),
};

const kw_family kw_family_conv_merged = {
    .name = "conv.merged",
    .summary = "few channels a group, several groups a vector, forward and backward data",
    .ops = 1 << KW_CONV_FWD | 1 << KW_CONV_BWD_DATA,
    .rules = {[KW_VALID] = {merged_valid, kw_isa_valid_rules, kw_grouped_valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_TAKES] = {kw_cpu_conv_rules, kw_grouped_takes_rules},
              [KW_FITS] = {merged_fits, kw_grouped_fits_rules}},
    .kernel = "cpu/grouped/grouped.c",
    .dtypes = FLOATS | 1 << KW_INT8,
    .quantized = true,
    .zero_w = true,
    .zero_w_loaded = true,
    .short_sums = true,
    FIXED_WIDTH,
    GROUPED_FAMILY(merged_axes),
};

const kw_family kw_family_conv_merged_weight = {
    .name = "conv.merged_weight",
    .summary = "few channels a group, several groups a vector, weight gradient",
    .ops = 1 << KW_CONV_BWD_WEIGHT,
    .rules = {[KW_VALID] = {merged_valid, kw_isa_valid_rules, kw_grouped_valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_TAKES] = {kw_cpu_conv_rules, kw_grouped_takes_rules},
              [KW_FITS] = {merged_fits, kw_grouped_fits_rules}},
    .kernel = "cpu/grouped/grouped_weight.c",
    .dtypes = FLOATS,
    FIXED_WIDTH,
    GROUPED_FAMILY(merged_weight_axes),
};

const kw_family kw_family_conv_any_merged = {
    .name = "conv.any_merged",
    .summary = "narrow groups of any width, several groups a vector, forward and backward data",
    .ops = 1 << KW_CONV_FWD | 1 << KW_CONV_BWD_DATA,
    .rules = {[KW_VALID] = {any_merged_valid, kw_isa_valid_rules, kw_grouped_valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_TAKES] = {kw_cpu_conv_rules, any_merged_takes, kw_grouped_takes_rules},
              [KW_FITS] = {any_merged_data_fits, kw_grouped_fits_rules}},
    .kernel = "cpu/grouped/grouped.c",
    .dtypes = FLOATS | 1 << KW_INT8,
    .quantized = true,
    .zero_w = true,
    ANY_WIDTH,
    GROUPED_FAMILY(any_merged_axes),
};

const kw_family kw_family_conv_any_merged_weight = {
    .name = "conv.any_merged_weight",
    .summary = "narrow groups of any width, several groups a vector, weight gradient",
    .ops = 1 << KW_CONV_BWD_WEIGHT,
    .rules = {[KW_VALID] = {kw_isa_valid_rules, kw_grouped_valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_TAKES] = {kw_cpu_conv_rules, any_merged_takes, kw_grouped_takes_rules},
              [KW_FITS] = {any_merged_fits, kw_grouped_fits_rules}},
    .kernel = "cpu/grouped/grouped_weight.c",
    .dtypes = FLOATS,
    ANY_WIDTH,
    GROUPED_FAMILY(any_merged_weight_axes),
};
