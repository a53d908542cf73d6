/* conv_depthwise_pixels_weight.c: gradients of depthwise weights of channels-last images of few channels, whose pixels are read where they lie;
 * kernels/cpu/pixels/pixels_weight.c is the kernel. */
#include "base/math.h"
#include "cpu/pixels/args.h"
#include "families/cpu/depthwise/depthwise_rules.h"

enum { TAPS_H = KW_ISA_AXIS_COUNT, TAPS_W, STRIDE, AXIS_COUNT };

static const kw_axis axes[AXIS_COUNT] = {
    KW_ISA_AXES,
    {"taps_h", NULL, 1, 7, "filter rows whose sums are in registers together"},
    {"taps_w", NULL, 1, 7, "filter columns"},
    {"stride", NULL, 1, 3, "stride of rows and columns"},
};

/* Registers for a pixel of y, one of x and the compiler's own use. */
enum { SPARE = 4 };

/* Bytes of a row of zeros; products of a unit, where there are so many, and units at most. */
enum { ROW_BYTES = 65536, UNIT_PRODUCTS = 65536, UNITS_MOST = 16 };

/* What a config comes to. pair: rows of a tile. kept: columns that the next pixel of y meets again, where they find room in registers. */
typedef struct pixels {
    int32_t taps_h, taps_w, stride, lanes, pair, rows, kept;
} pixels;

static pixels pixels_of(const kw_config *config) {
    const int32_t *axis = config->axis;
    const kw_isa *isa = kw_config_isa(config);
    pixels p = {.taps_h = axis[TAPS_H], .taps_w = axis[TAPS_W], .stride = axis[STRIDE], .lanes = isa->lanes};
    p.pair = axis[KW_AXIS_MATH] == KW_MATH_DP ? 2 : 1;
    p.rows = p.taps_h + (p.pair - 1) * p.stride;
    p.kept = p.taps_w > p.stride ? p.taps_w - p.stride : 0;
    if (p.taps_h * (p.taps_w + p.kept) + SPARE > isa->registers) {
        p.kept = 0;
    }
    return p;
}

static bool sums_are_in_registers(const kw_rule_case *c) {
    pixels p = pixels_of(c->config);
    return p.taps_h * p.taps_w + SPARE <= kw_config_isa(c->config)->registers;
}

static const kw_rule valid_rules[] = {
    {"sum_registers", "the sums of a window of taps and a pixel must fit the isa's vector registers", sums_are_in_registers},
    {0},
};

static bool filter_has_columns(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    return d->filter[2] == c->config->axis[TAPS_W] && d->filter[1] >= c->config->axis[TAPS_H];
}

static bool taps_are_neighbours(const kw_rule_case *c) {
    return c->problem->conv.dilation[1] == 1 && c->problem->conv.dilation[2] == 1;
}

static bool strides_are_those(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    return d->stride[1] == c->config->axis[STRIDE] && d->stride[2] == c->config->axis[STRIDE];
}

/* A row of x or y, the longer one. */
static double row_bytes(const kw_problem *problem) {
    int64_t out[3];
    kw_problem_output(out, problem);
    return (double)kw_max(out[2], problem->conv.in[2]) * (double)problem->conv.g * (double)kw_dtype_size(problem->dtype);
}

static bool rows_are_short(const kw_rule_case *c) {
    return row_bytes(c->problem) <= ROW_BYTES;
}

static const kw_rule takes_rules[] = {
    {"channels_last", "the layout must be channels-last; for channels first take conv.depthwise_planes", kw_has_channels_last},
    KW_DEPTHWISE_RULES,
    {"undilated", "dilation must be 1", taps_are_neighbours},
    {"short_rows", "rows of x and of y must be no longer than 64 KB", rows_are_short},
    {0},
};

static const kw_rule fits_rules[] = {
    {"whole_columns", "the filter must have taps_w columns, and taps_h rows at least", filter_has_columns},
    {"stride", "rows and columns must have the config's stride", strides_are_those},
    {0},
};

/* What a pair of rows takes beside its loads, and each sum as a row begins and ends or at an edge, as products of vectors of 16 lanes: narrower ones
 * take as long. */
#define PAIR_PRODUCTS 1.5
#define SUM_PRODUCTS 4.0

static void conv_depthwise_pixels_weight_launch(const kw_config *config, const kw_problem *problem, const kw_target *target,
                                                kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    pixels p = pixels_of(config);
    int64_t out[3], vectors = kw_ceil_div(d->g, p.lanes), windows = KW_PIXELS_WINDOWS(d->filter[1], p.taps_h);
    (void)target;
    kw_problem_output(out, problem);
    int64_t tiles = kw_ceil_div(out[1], p.pair), pieces = d->n * tiles, taps = p.taps_h * p.taps_w, each = windows * vectors * taps;
    double rows = (double)(pieces * windows * vectors), results = rows * (double)out[2], worth = results * (double)taps / UNIT_PRODUCTS;
    int64_t parts = kw_max(1, kw_min(pieces, worth < UNITS_MOST ? (int64_t)worth : UNITS_MOST));
    int64_t zero_bytes = kw_round_up((int64_t)row_bytes(problem) + 4 * p.lanes, KW_LINE);
    *launch = (kw_launch){.stages = 2, .stage = {{.units = parts}, {.units = d->filter[1] * d->filter[2]}}};
    launch->shared_bytes = parts * each * 4 * p.lanes;
    launch->thread_bytes = zero_bytes + kw_round_up((p.rows * p.taps_w + p.pair) * p.lanes * 4, KW_LINE);
    *kw_launch_params(launch, kw_pixels_params) = (kw_pixels_params){.tiles = tiles, .parts = parts, .zero_bytes = zero_bytes};

    double narrow = 16.0 / p.lanes, loaded = results * (1 + p.taps_h * (p.taps_w - p.kept));
    double edges = (double)kw_ceil_div(kw_max(d->pad[2] - p.kept, 0), p.stride), ends = rows * (1.0 + edges) * (double)taps;
    launch->multiply_adds = results * (double)taps + narrow * ((p.pair == 2 ? PAIR_PRODUCTS * loaded : 0.0) + SUM_PRODUCTS * ends);
    /* Vectors begin anywhere, so that half of them, and nearly all of 16 lanes of fp32, go across cache lines. */
    launch->loads = loaded * p.pair * (p.pair == 1 && p.lanes == 16 ? 2.0 : 1.5) + 2.0 * ends;
    launch->copied_bytes = (double)launch->shared_bytes;
}

/* --- text --- */

static void emit_pixel(kw_text *text, const pixels *p, const char *word, int32_t row, int32_t column) {
    kw_text_addf(text, " kw_vf w%d_%d = %s(x%d, x%d, %d);", row, column, word, row, row + (p->pair - 1) * p->stride, column);
}

static void conv_depthwise_pixels_weight_emit(const kw_config *config, kw_text *text) {
    pixels p = pixels_of(config);
    kw_text_addf(text,
                 "#define KW_TAPS_H %d\n#define KW_TAPS_W %d\n#define KW_STRIDE %d\n#define KW_TILE_H %d\n#define KW_ROWS %d\n#define "
                 "KW_KEPT %d\n#define "
                 "KW_EACH_X_ROW(DO)",
                 p.taps_h, p.taps_w, p.stride, p.pair, p.rows, p.kept);
    for (int32_t row = 0; row < p.rows; row++) {
        kw_text_addf(text, " DO(%d)", row);
    }
    kw_text_add(text, "\n#define KW_EACH_SUM(DO)");
    for (int32_t tap = 0; tap < p.taps_h * p.taps_w; tap++) {
        kw_text_addf(text, " DO(a%d_%d, %d)", tap / p.taps_w, tap % p.taps_w, tap);
    }
    kw_text_add(text, "\n#define KW_FIRST_COLUMNS");
    for (int32_t i = 0; i < p.taps_h * p.kept; i++) {
        emit_pixel(text, &p, "KW_FIRST", i / p.kept, i % p.kept);
    }
    kw_text_add(text, "\n#define KW_PRODUCTS \\\n");
    for (int32_t row = 0; row < p.taps_h; row++) {
        kw_text_add(text, "   ");
        for (int32_t column = 0; column < p.taps_w; column++) {
            if (column >= p.kept) {
                emit_pixel(text, &p, "KW_PIXEL", row, column);
            }
            kw_text_addf(text, " KW_MULTIPLY(a%d_%d, w%d_%d)", row, column, row, column);
        }
        for (int32_t column = 0; column < p.kept; column++) {
            kw_text_addf(text, " w%d_%d = w%d_%d;", row, column, row, column + p.stride);
        }
        kw_text_add(text, " \\\n");
    }
    kw_text_add(text, "\n");
}

const kw_family kw_family_conv_depthwise_pixels_weight = {
    .name = "conv.depthwise_pixels_weight",
    .summary = "gradients of weights of one channel a group, channels last, pixels where they lie",
    .kind = KW_KIND_CPU,
    .ops = 1u << KW_CONV_BWD_WEIGHT,
    .dtypes = 1u << KW_FP32 | 1u << KW_BF16 | 1u << KW_FP16,
    .narrow_pairs = true,
    .axes = axes,
    .axis_count = AXIS_COUNT,
    .rules = {[KW_VALID] = {valid_rules, kw_isa_valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_TAKES] = {takes_rules, kw_cpu_conv_rules},
              [KW_FITS] = {fits_rules}},
    .launch = conv_depthwise_pixels_weight_launch,
    .emit = conv_depthwise_pixels_weight_emit,
    .kernel = "cpu/pixels/pixels_weight.c",
};
