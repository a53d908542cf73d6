/* conv_interleaved_weight.c: weight gradient of groups of few channels, by conv.direct_bwd_weight's kernel: vectors have the channels of 2 or
 * 4 groups in turn (kernels/cpu/bwd_weight/bwd_weight_ways.h). Of 20 channels conv.direct_bwd_weight leaves 12 of 32 lanes idle, beside
 * one vector it has a load for each product, and where it reads the tensors as they lie each pixel of a group is two lines of memory. */
#include "families/cpu/bwd_weight/bwd_weight.h"

#include "cpu/bwd_weight/args.h"
#include "families/cpu/cpu_rules.h"

enum { LANES = KW_ISA_AXIS_COUNT, TILE, VECS, WAYS, MERGE, AXIS_COUNT };
enum { LANES_C };

static const kw_axis axes[AXIS_COUNT] = {
    KW_ISA_AXES,
    {"lanes", "c k", 0, 1, "whose channels fill the vectors: c of x, k of y; the other's are spread"},
    {"tile", NULL, 1, 30, "spread channels of a tile"},
    {"vecs", NULL, 1, 7, "vectors of a tile"},
    {"ways", NULL, 2, 4, "groups whose channels go in turn in a vector: 2 or 4"},
    {"merge", NULL, 0, 1, "1: the taps of a filter row and the channels are worked on as channels"},
};

static kw_bwd_weight interleaved_weight(const kw_config *config) {
    return (kw_bwd_weight){
        .tile = config->axis[TILE],
        .vecs = config->axis[VECS],
        .copy = KW_COPY_BOTH,
        .lanes_c = config->axis[LANES] == LANES_C,
        .merge = config->axis[MERGE],
        .ways = config->axis[WAYS],
    };
}

static bool tile_in_registers(const kw_rule_case *c) {
    const int32_t *axis = c->config->axis;
    return (axis[TILE] + 1) * axis[VECS] + 1 <= kw_config_isa(c->config)->registers;
}

static bool ways_are_even(const kw_rule_case *c) {
    return c->config->axis[WAYS] % 2 == 0;
}

static bool channels_are_few(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    return d->c / d->g <= KW_BWD_WEIGHT_WAY_CHANNELS && d->k / d->g <= KW_BWD_WEIGHT_WAY_CHANNELS;
}

static bool row_is_dense(const kw_rule_case *c) {
    return !c->config->axis[MERGE] || kw_has_dense_rows(c);
}

static const kw_rule valid_rules[] = {
    {"tile_registers", "the sums of a tile, a row of vectors and a spread value must fit the isa's vector registers", tile_in_registers},
    {"even_ways", "ways is 2 or 4", ways_are_even},
    {0},
};

static const kw_rule takes_rules[] = {
    {"channels_last", "the layout must be channels-last", kw_has_channels_last},
    {"several_groups", "g must be above 1", kw_has_several_groups},
    {"way_channels", "a group must have at most 96 channels; above, conv.direct_bwd_weight leaves few lanes idle", channels_are_few},
    {0},
};

static const kw_rule fits_rules[] = {
    {"merged_row", "merge=1 needs dilation 1 in the last axis", row_is_dense},
    {0},
};

static void conv_interleaved_weight_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_bwd_weight how = interleaved_weight(config);
    kw_bwd_weight_launch(&how, config, problem, target, launch);
}

static void conv_interleaved_weight_emit(const kw_config *config, kw_text *text) {
    kw_bwd_weight how = interleaved_weight(config);
    kw_bwd_weight_emit(&how, text);
}

const kw_family kw_family_conv_interleaved_weight = {
    .name = "conv.interleaved_weight",
    .summary = "groups of few channels: those of 2 or 4 groups in turn in a vector; weight gradient",
    .kind = KW_KIND_CPU,
    .pitched = true,
    .pitched_text = true,
    .ops = 1u << KW_CONV_BWD_WEIGHT,
    .dtypes = 1u << KW_FP32,
    .axes = axes,
    .axis_count = AXIS_COUNT,
    .rules = {[KW_VALID] = {kw_isa_valid_rules, valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_TAKES] = {kw_cpu_conv_rules, takes_rules},
              [KW_FITS] = {fits_rules}},
    .launch = conv_interleaved_weight_launch,
    .emit = conv_interleaved_weight_emit,
    .kernel = "cpu/bwd_weight/bwd_weight.c",
};
