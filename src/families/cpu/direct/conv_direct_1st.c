/* conv_direct_1st.c: dense convolution of few input channels, as in a network's first layer. The columns of a filter row and the channels
 * lie side by side in the padded copy, so one run of filter_w * c elements takes the place of filter_w short ones, and bf16 pairs
 * straddle taps. Forward only: in backward data the few channels are those written, which no merging of the read ones helps;
 * conv.gemm_col2im is for these. The kernel is conv.direct's. A pair that lacks its partner at a run's end is multiplied apart
 * (kw_tile.odd), because the next element in memory is another pixel's and may be infinite; integers meet a weight of zero there. math=amx copies
 * pixels with channels of zeros behind theirs, so that runs are whole chunks. */
#include "families/cpu/direct/direct.h"
#include "families/cpu/reorder.h"

enum { TILE_W = KW_ISA_AXIS_COUNT, VECS, BAND, AXIS_COUNT };

static const kw_axis axes[AXIS_COUNT] = {
    KW_ISA_AXES,
    {"tile_w", NULL, 1, 64, "output columns of a tile"},
    {"vecs", NULL, 1, 6, "vectors of output channels of a tile"},
    {"band", NULL, 0, 256, "output rows of a unit; 0: as many as fit half of the second-level cache"},
};

static kw_direct conv_direct_1st_direct(const kw_config *config) {
    return (kw_direct){
        .tile = {.rows = 1,
                 .cols = config->axis[TILE_W],
                 .vecs = config->axis[VECS],
                 .odd = config->axis[KW_AXIS_MATH] == KW_MATH_DP && config->dtype == KW_BF16},
        .band = config->axis[BAND],
        .merge = true,
    };
}

static void conv_direct_1st_decode(const kw_config *config, const kw_target *target, void *decoded) {
    (void)target;
    *(kw_direct *)decoded = conv_direct_1st_direct(config);
}

static void launch_last(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *result) {
    kw_direct direct = conv_direct_1st_direct(config);
    kw_direct_launch(&direct, config, problem, target, result);
}

static void conv_direct_1st_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *result) {
    kw_reorder_launch(launch_last, config, problem, target, result);
}

static void conv_direct_1st_emit(const kw_config *config, kw_text *text) {
    kw_direct direct = conv_direct_1st_direct(config);
    kw_direct_emit(&direct, config, text);
}

const kw_family kw_family_conv_direct_1st = {
    .name = "conv.direct_1st",
    .summary = "dense convolution of few channels a group: filter columns and channels are one run; forward",
    .kind = KW_KIND_CPU,
    .fuses = true,
    .first_text = true,
    .pitched = true,
    .pitched_text = true,
    .quantized = true,
    .zero_w = true,
    .tiles = true,
    .ops = 1u << KW_CONV_FWD,
    .dtypes = 1u << KW_FP32 | 1u << KW_BF16 | 1u << KW_FP16 | 1u << KW_INT8 | 1u << KW_FP8 | 1u << KW_BF8,
    .axes = axes,
    .axis_count = AXIS_COUNT,
    .rules = {[KW_VALID] = {kw_isa_valid_rules, kw_tile_valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_FITS] = {kw_cpu_conv_rules, kw_run_fits_rules}},
    .decode = conv_direct_1st_decode,
    .launch = conv_direct_1st_launch,
    .emit = conv_direct_1st_emit,
    .kernel = "cpu/direct/direct.c",
};
