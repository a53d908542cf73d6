/* conv_any_groups.c: convolution of groups of any width, C/G unlike K/G as well. conv.any_groups is forward and backward data, by
 * conv.direct's kernel, conv.any_groups_weight the weight gradient, by conv.direct_bwd_weight's. Vectors of result channels go
 * on from group to group, so that none of their lanes is idle; a copy of the source holds for each lane its own group's channels
 * (kernels/cpu/lib/own_lanes.h), and the tile reads vectors where conv.direct spreads single values. Groups
 * whose channels are powers of two are better off in conv.merged, which mixes lanes in registers. */
#include "families/cpu/bwd_weight/bwd_weight.h"
#include "families/cpu/direct/direct.h"

#include "cpu/direct/args.h"

enum { TILE_H = KW_ISA_AXIS_COUNT, TILE_W, AXIS_COUNT };

static const kw_axis axes[AXIS_COUNT] = {
    KW_ISA_AXES,
    {"tile_h", NULL, 1, 5, "output rows of a tile"},
    {"tile_w", NULL, 1, 30, "output columns of a tile"},
};

static kw_direct any_groups_direct(const kw_config *config) {
    return (kw_direct){.tile = {.rows = config->axis[TILE_H], .cols = config->axis[TILE_W], .vecs = 1, .own = true}};
}

static void conv_any_groups_decode(const kw_config *config, const kw_target *target, void *decoded) {
    (void)target;
    *(kw_direct *)decoded = any_groups_direct(config);
}

static bool channels_are_few(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    return (c->problem->op == KW_CONV_FWD ? d->c : d->k) / d->g <= KW_OWN_CHANNELS;
}

static const kw_rule takes_rules[] = {
    {"channels_last", "the layout must be channels-last", kw_has_channels_last},
    {"several_groups", "g must be above 1", kw_has_several_groups},
    {"group_source", "a group must have at most 96 source channels; above, conv.direct is as fast", channels_are_few},
    {0},
};

static void conv_any_groups_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_direct direct = any_groups_direct(config);
    *launch = (kw_launch){0};
    kw_direct_launch(&direct, config, problem, target, launch);
}

static void conv_any_groups_emit(const kw_config *config, kw_text *text) {
    kw_direct direct = any_groups_direct(config);
    kw_direct_emit(&direct, config, text);
}

const kw_family kw_family_conv_any_groups = {
    .name = "conv.any_groups",
    .summary = "groups of any width, vectors of result channels across groups; forward and backward data",
    .kind = KW_KIND_CPU,
    .pitched = true,
    .pitched_text = true,
    .fuses = true,
    .quantized = true,
    .zero_w = true,
    .ops = 1u << KW_CONV_FWD | 1u << KW_CONV_BWD_DATA,
    .dtypes = 1u << KW_FP32 | 1u << KW_BF16 | 1u << KW_FP16 | 1u << KW_INT8,
    .axes = axes,
    .axis_count = AXIS_COUNT,
    .rules = {[KW_VALID] = {kw_isa_valid_rules, kw_tile_valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_TAKES] = {kw_cpu_conv_rules, takes_rules}},
    .decode = conv_any_groups_decode,
    .launch = conv_any_groups_launch,
    .emit = conv_any_groups_emit,
    .kernel = "cpu/direct/direct.c",
};

enum { TILE = KW_ISA_AXIS_COUNT, MERGE, BOX_KIB, WEIGHT_AXIS_COUNT };

static const kw_axis weight_axes[WEIGHT_AXIS_COUNT] = {
    KW_ISA_AXES,
    {"tile", NULL, 1, 30, "input channels of a tile"},
    {"merge", NULL, 0, 1, "1: the taps of a filter row and the channels are worked on as channels"},
    {"box", NULL, 0, 65536, "KiB of pixels worked on at a time; 0: all where the second-level cache holds them, else half of it"},
};

static kw_bwd_weight any_groups_weight(const kw_config *config) {
    return (kw_bwd_weight){
        .tile = config->axis[TILE],
        .vecs = 1,
        .box_kib = config->axis[BOX_KIB],
        .copy = KW_COPY_BOTH,
        .merge = config->axis[MERGE],
        .own = true,
    };
}

static bool weight_tile_in_registers(const kw_rule_case *c) {
    return c->config->axis[TILE] + 2 <= kw_config_isa(c->config)->registers;
}

static bool weight_row_is_dense(const kw_rule_case *c) {
    return !c->config->axis[MERGE] || kw_has_dense_rows(c);
}

static bool weight_channels_are_few(const kw_rule_case *c) {
    enum { CHANNELS_MAX = 96 };
    return c->problem->conv.c / c->problem->conv.g <= CHANNELS_MAX;
}

static const kw_rule weight_valid_rules[] = {
    {"tile_registers", "the sums of a tile, a vector of each side must fit the isa's vector registers", weight_tile_in_registers},
    {0},
};

static const kw_rule weight_takes_rules[] = {
    {"channels_last", "the layout must be channels-last", kw_has_channels_last},
    {"several_groups", "g must be above 1", kw_has_several_groups},
    {"group_source", "a group must have at most 96 input channels; above, conv.direct_bwd_weight is as fast", weight_channels_are_few},
    {0},
};

static const kw_rule weight_fits_rules[] = {
    {"merged_row", "merge=1 needs dilation 1 in the last axis", weight_row_is_dense},
    {0},
};

static void conv_any_groups_weight_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_bwd_weight how = any_groups_weight(config);
    kw_bwd_weight_launch(&how, config, problem, target, launch);
}

static void conv_any_groups_weight_emit(const kw_config *config, kw_text *text) {
    kw_bwd_weight how = any_groups_weight(config);
    kw_bwd_weight_emit(&how, text);
}

const kw_family kw_family_conv_any_groups_weight = {
    .name = "conv.any_groups_weight",
    .summary = "groups of any width, vectors of output channels across groups; weight gradient",
    .kind = KW_KIND_CPU,
    .pitched = true,
    .pitched_text = true,
    .ops = 1u << KW_CONV_BWD_WEIGHT,
    .dtypes = 1u << KW_FP32 | 1u << KW_BF16 | 1u << KW_FP16 | 1u << KW_INT8,
    .axes = weight_axes,
    .axis_count = WEIGHT_AXIS_COUNT,
    .rules = {[KW_VALID] = {kw_isa_valid_rules, weight_valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_TAKES] = {kw_cpu_conv_rules, weight_takes_rules},
              [KW_FITS] = {weight_fits_rules}},
    .launch = conv_any_groups_weight_launch,
    .emit = conv_any_groups_weight_emit,
    .kernel = "cpu/bwd_weight/bwd_weight.c",
};
