/* conv_direct_1st.c: dense convolution of few input channels, as in a network's first layer. The columns of a filter row and the channels
 * lie side by side in the padded copy, so one run of filter_w * c elements takes the place of filter_w short ones, and bf16 pairs
 * straddle taps. Forward only: in backward data the few channels are those written, which no merging of the read ones helps;
 * conv.gemm_col2im is for these. The kernel is conv.direct's. A pair that lacks its partner at a run's end is multiplied apart
 * (kw_tile.odd), because the next element in memory is another pixel's and may be infinite; integers meet a weight of zero there. math=amx copies
 * what the filter row of each result column reads (kernels/cpu/direct/direct_columns.h).
 *
 * Of channels-first tensors the pixels fill the vectors, and the depth is channels by taps: kernels/cpu/gemm/first.c, by whose tiles tile_w are result
 * channels and vecs vectors of pixels. */
#include "families/cpu/direct/direct.h"
#include "families/cpu/gemm/planes.h"
#include "families/cpu/reorder.h"
#include "families/cpu/tailor.h"

#include "base/math.h"
#include "problem/epilogue/epilogue.h"
#include "problem/view.h"

enum { TILE_W = KW_ISA_AXIS_COUNT, VECS, BAND, AXIS_COUNT };

extern const kw_family kw_family_conv_direct_1st;

static const kw_axis axes[AXIS_COUNT] = {
    KW_ISA_AXES,
    {"tile_w", NULL, 1, 64, "output columns of a tile"},
    {"vecs", NULL, 1, 6, "vectors of output channels of a tile"},
    {"band", NULL, 0, 256, "output rows of a unit; 0: as many as fit half of the second-level cache"},
};

static kw_direct conv_direct_1st_direct(const kw_config *config) {
    bool columns = config->axis[KW_AXIS_MATH] == KW_MATH_AMX;
    return (kw_direct){
        .tile = {.rows = 1,
                 .cols = config->axis[TILE_W],
                 .vecs = config->axis[VECS],
                 .odd = config->axis[KW_AXIS_MATH] == KW_MATH_DP && config->dtype == KW_BF16},
        .band = config->axis[BAND],
        .merge = !columns,
        .columns = columns,
    };
}

static void conv_direct_1st_decode(const kw_config *config, const kw_target *target, void *decoded) {
    (void)target;
    *(kw_direct *)decoded = conv_direct_1st_direct(config);
}

/* Whether channels-first tensors are read and written as they lie. int8, tile registers, parts of larger tensors, and steps that have values of pixels
 * or of two tensors like the result have turns (families/cpu/reorder.h). */
static bool has_planes(const kw_config *config, const kw_wants *wants) {
    int likes = 0, rows = 0;
    for (int32_t i = 0; i < wants->epilogue.count; i++) {
        kw_extra_shape shape = kw_epilogue_info_of(wants->epilogue.step[i].op)->shape;
        likes += shape == KW_EXTRA_ALL;
        rows += shape == KW_EXTRA_ROW;
    }
    bool lies = wants->first && !wants->pitched && likes <= 1 && !rows;
    return lies && config->dtype != KW_INT8 && config->axis[KW_AXIS_MATH] != KW_MATH_AMX;
}

/* The same but for half pairs, which meet zeros in a panel. */
static kw_tile plane_tile(const kw_config *config) {
    kw_tile tile = conv_direct_1st_direct(config).tile;
    tile.odd = false;
    return tile;
}

static void launch_last(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *result) {
    kw_direct direct = conv_direct_1st_direct(config);
    kw_direct_launch(&direct, config, problem, target, result);
}

static void conv_direct_1st_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *result) {
    kw_wants wants = kw_problem_wants(problem);
    kw_tile tile = plane_tile(config);
    if (has_planes(config, &wants)) {
        kw_planes_launch(&tile, true, config, problem, target, result);
    } else {
        kw_reorder_launch(launch_last, config, problem, target, result);
    }
}

static const char *conv_direct_1st_text(const kw_config *config) {
    return has_planes(config, &config->wants) ? "cpu/gemm/first.c" : "cpu/direct/direct.c";
}

static void conv_direct_1st_emit(const kw_config *config, kw_text *text) {
    kw_direct direct = conv_direct_1st_direct(config);
    kw_tile tile = plane_tile(config);
    if (has_planes(config, &config->wants)) {
        kw_tile_emit(text, &tile, config);
    } else {
        kw_direct_emit(&direct, config, text);
    }
}

/* Pixels along an axis that read no padding. */
static int64_t pixels_inside(const kw_problem *problem, int axis) {
    kw_walk walk = kw_problem_walk(problem, axis, 0);
    int64_t room = problem->conv.in[axis] - 1 - walk.src_start - (walk.taps - 1) * walk.tap_src_step;
    int64_t first = kw_ceil_div(kw_max(-walk.src_start, 0), walk.src_step);
    return room < 0 ? 0 : kw_max(kw_min(room / walk.src_step + 1, walk.pixels) - first, 0);
}

/* The columns of which tiles are rows: where columns that read padding stand (kernels/cpu/direct/direct_edges.h), the others. */
static int64_t columns_of_rows(const kw_problem *problem) {
    enum { ROWS_LEAST = 30 }; /* as many as the widest tile has pixels */
    bool stand = pixels_inside(problem, 1) >= ROWS_LEAST && problem->conv.g == 1;
    return stand ? pixels_inside(problem, 2) : kw_tailor_row(problem);
}

/* Of channels last, where vectors are results. */
static size_t tailor_1st(const kw_problem *problem, const kw_target *target, kw_config configs[KW_TAILORED_MAX]) {
    const kw_tailor_rows rows = {
        .base = {.family = &kw_family_conv_direct_1st, .op = problem->op, .dtype = problem->dtype},
        .cols_axis = TILE_W,
        .vecs_axis = VECS,
        .pixels = columns_of_rows(problem),
        .results = problem->conv.k / problem->conv.g,
    };
    return problem->layout == KW_CHANNELS_LAST ? kw_tailor_tiles(&rows, target, configs) : 0;
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
              [KW_TAKES] = {kw_cpu_conv_rules, kw_run_takes_rules}},
    .decode = conv_direct_1st_decode,
    .launch = conv_direct_1st_launch,
    .tailor = tailor_1st,
    .emit = conv_direct_1st_emit,
    .kernel = "cpu/direct/direct.c",
    .kernel_of = conv_direct_1st_text,
};
