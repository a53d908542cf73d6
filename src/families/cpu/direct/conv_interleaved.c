/* conv_interleaved.c: convolution with few result channels a group, forward and backward data, by conv.direct's kernel: vectors have the
 * results of 2 or 4 ways in turn, which are groups, or parts of a group's rows (kernels/cpu/direct/direct_ways.h). Of 20 results conv.direct
 * leaves 12 of 32 lanes idle, and conv.any_groups copies a vector for each channel; this copies as little as conv.direct, and fills vectors
 * by halves or quarters. */
#include "families/cpu/direct/direct.h"

#include "base/math.h"
#include "cpu/direct/args.h"
#include "problem/view.h"

enum { TILE_W = KW_ISA_AXIS_COUNT, VECS, WAYS, AXIS_COUNT };

static const kw_axis axes[AXIS_COUNT] = {
    KW_ISA_AXES,
    {"tile_w", NULL, 1, 30, "output columns of a tile"},
    {"vecs", NULL, 1, 7, "vectors of output channels of a tile"},
    {"ways", NULL, 2, 4, "groups, or parts of a group's rows, whose results go in turn in a vector: 2 or 4"},
};

static kw_direct interleaved_direct(const kw_config *config) {
    return (kw_direct){
        .tile =
            {.rows = 1, .cols = config->axis[TILE_W], .vecs = config->axis[VECS], .ways = config->axis[WAYS], .skip = true, .sums = true},
    };
}

static void conv_interleaved_decode(const kw_config *config, const kw_target *target, void *decoded) {
    (void)target;
    *(kw_direct *)decoded = interleaved_direct(config);
}

static bool ways_are_even(const kw_rule_case *c) {
    return c->config->axis[WAYS] % 2 == 0;
}

static bool source_is_copied(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    return (c->problem->op == KW_CONV_FWD ? d->c : d->k) / d->g <= KW_DIRECT_WAY_CHANNELS;
}

static bool results_are_few(const kw_rule_case *c) {
    enum { RESULTS_MAX = 96 };
    const kw_conv_dims *d = &c->problem->conv;
    return (c->problem->op == KW_CONV_FWD ? d->k : d->c) / d->g <= RESULTS_MAX;
}

/* As many groups as ways, or as many rows of a walk. */
static bool ways_exist(const kw_rule_case *c) {
    int64_t out[3];
    const kw_conv_dims *d = &c->problem->conv;
    kw_problem_output(out, c->problem);
    int64_t rows = c->problem->op == KW_CONV_FWD ? out[1] : d->in[1];
    return kw_max(d->g, rows / kw_problem_walks(c->problem, 1)) >= c->config->axis[WAYS];
}

static const kw_rule valid_rules[] = {
    {"even_ways", "ways is 2 or 4", ways_are_even},
    {0},
};

static const kw_rule takes_rules[] = {
    {"channels_last", "the layout must be channels-last", kw_has_channels_last},
    {"way_source", "a group must have at most 1024 source channels", source_is_copied},
    {"way_results", "a group must have at most 96 result channels; above, conv.direct leaves few lanes idle", results_are_few},
    {0},
};

static const kw_rule fits_rules[] = {
    {"enough_ways", "there must be as many groups, or rows of the result, as ways", ways_exist},
    {0},
};

static void conv_interleaved_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_direct direct = interleaved_direct(config);
    *launch = (kw_launch){0};
    kw_direct_launch(&direct, config, problem, target, launch);
}

static void conv_interleaved_emit(const kw_config *config, kw_text *text) {
    kw_direct direct = interleaved_direct(config);
    kw_direct_emit(&direct, config, text);
}

const kw_family kw_family_conv_interleaved = {
    .name = "conv.interleaved",
    .summary = "few result channels: those of 2 or 4 groups, or parts of the rows, in turn in a vector; forward and backward data",
    .kind = KW_KIND_CPU,
    .pitched = true,
    .pitched_text = true,
    .fuses = true,
    .ops = 1u << KW_CONV_FWD | 1u << KW_CONV_BWD_DATA,
    .dtypes = 1u << KW_FP32,
    .axes = axes,
    .axis_count = AXIS_COUNT,
    .rules = {[KW_VALID] = {kw_isa_valid_rules, kw_tile_valid_rules, valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_TAKES] = {kw_cpu_conv_rules, takes_rules},
              [KW_FITS] = {fits_rules}},
    .decode = conv_interleaved_decode,
    .launch = conv_interleaved_launch,
    .emit = conv_interleaved_emit,
    .kernel = "cpu/direct/direct.c",
};
