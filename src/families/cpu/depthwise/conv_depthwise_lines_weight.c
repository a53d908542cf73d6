/* conv_depthwise_lines_weight.c: gradients of depthwise weights of channels-last images whose rows are runs of elements, as conv.depthwise_lines has
 * them; kernels/cpu/lines/lines_weight.c is the kernel. */
#include "families/cpu/depthwise/lines.h"

#include <stdio.h>

enum { TILE_H = KW_ISA_AXIS_COUNT, TAPS_H, COLUMNS, STRIDE, AXIS_COUNT };

static const kw_axis axes[AXIS_COUNT] = {
    KW_ISA_AXES,
    {"tile_h", NULL, 1, 16, "rows of y of a tile"},
    {"taps_h", NULL, 1, 9, "filter rows"},
    {"columns", NULL, 1, 3, "filter columns whose sums are in registers together"},
    {"stride", NULL, 1, 2, "stride of rows and columns"},
};

/* Registers for words of lines, beside those held of the line before, and for the compiler's own use. */
enum { SPARE = 3 };

/* Bytes of a unit's sums; products of a unit, where there are so many, and units at most. */
enum { SUMS_BYTES = 131072, UNIT_PRODUCTS = 65536, UNITS_MOST = 16 };

/* What a config comes to. Lines of y have pair rows each. Those of x with pairs begin with rows 2 stride j + i, i < stride, and have the one stride
 * rows below it as well; with single rows they are all that a tap meets. */
typedef struct lines {
    int32_t tile_h, taps_h, columns, stride, lanes, pair, results, lines;
    kw_line_size size;
} lines;

static lines lines_of(const kw_config *config) {
    const int32_t *axis = config->axis;
    lines l = {.tile_h = axis[TILE_H], .taps_h = axis[TAPS_H], .columns = axis[COLUMNS], .stride = axis[STRIDE]};
    l.lanes = kw_config_isa(config)->lanes;
    l.pair = axis[KW_AXIS_MATH] == KW_MATH_DP ? 2 : 1;
    l.results = (l.tile_h + l.pair - 1) / l.pair;
    int32_t rows = (l.tile_h - 1) * l.stride + l.taps_h;
    l.lines = l.pair == 1 ? rows : (rows + 2 * l.stride - 1) / (2 * l.stride) * l.stride;
    l.size = kw_line_size_of(l.lines + l.results, l.stride, l.lanes);
    return l;
}

/* Products of a vector and a filter column. */
static int32_t products_of(const lines *l) {
    return l->taps_h * l->results;
}

static bool tiles_are_pairs(const kw_rule_case *c) {
    return c->config->axis[KW_AXIS_MATH] != KW_MATH_DP || c->config->axis[TILE_H] % 2 == 0;
}

static bool sums_are_in_registers(const kw_rule_case *c) {
    lines l = lines_of(c->config);
    int32_t held = l.pair == 1 ? l.results : 2 * l.results + l.stride;
    return held + l.taps_h * l.columns + SPARE <= kw_config_isa(c->config)->registers;
}

static const kw_rule valid_rules[] = {
    {"row_pairs", "of pairs of rows (math=dp) tile_h is even", tiles_are_pairs},
    {"sum_registers", "the sums of the filter columns and a vector of each line of y must fit the isa's vector registers",
     sums_are_in_registers},
    {0},
};

static bool filter_has_taps(const kw_rule_case *c) {
    return kw_line_filter(&c->problem->conv, c->config->axis[TAPS_H]);
}

static bool columns_divide(const kw_rule_case *c) {
    return c->problem->conv.filter[2] % c->config->axis[COLUMNS] == 0;
}

static bool strides_are_those(const kw_rule_case *c) {
    return kw_line_strides(&c->problem->conv, c->config->axis[STRIDE]);
}

static int64_t sums_bytes(const lines *l, const kw_conv_dims *d) {
    return KW_LINES_PHASES(d->g, l->lanes) * d->filter[2] * l->taps_h * 4 * l->lanes;
}

static bool rows_lie(const lines *l, const kw_config *config, const kw_conv_dims *d) {
    return KW_LINES_MAY_LIE(config->dtype == KW_FP32, l->stride, l->columns) &&
           KW_LINES_LIE(d->filter[2], d->pad[2], d->in[2] * d->g, l->lanes);
}

/* Whether the rows of a tile that lie evict each other from the first level, as those a multiple of 4,096 bytes apart: more of them in a set than it
 * has ways. Then tiles of few rows are faster. */
static bool rows_evict(const lines *l, const kw_conv_dims *d, const kw_target *target) {
    enum { WAY = 4096, BYTES = 4 };
    return (l->lines + l->results) * kw_gcd(WAY, d->in[2] * d->g * BYTES) > target->l1;
}

/* Vectors of a span of rows that lie: eight of a phase, as far as the room of the lines has zeros for rows outside the image. */
static int64_t lying_vectors(const lines *l, const kw_conv_dims *d) {
    enum { OF_A_PHASE = 8 };
    int64_t room = ((int64_t)(l->lines + l->results) * l->size.words - d->g) / l->lanes - 1;
    return kw_min(room, kw_max(OF_A_PHASE * KW_LINES_PHASES(d->g, l->lanes), kw_line_vectors(l->size, l->stride, l->lanes, d, d->g)));
}

static bool line_holds_the_reach(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    lines l = lines_of(c->config);
    bool serves = rows_lie(&l, c->config, d) ? 2 * d->g <= (int64_t)(l.lines + l.results) * l.size.words
                                             : kw_line_serves(l.size, l.stride, l.lanes, d, d->g);
    return serves && sums_bytes(&l, d) <= SUMS_BYTES;
}

static bool rows_fill_a_vector(const kw_rule_case *c) {
    int64_t out[3];
    kw_problem_output(out, c->problem);
    return (double)out[2] * (double)c->problem->conv.g >= kw_config_isa(c->config)->lanes &&
           (double)c->problem->conv.in[2] * (double)c->problem->conv.g >= kw_config_isa(c->config)->lanes;
}

static const kw_rule takes_rules[] = {
    KW_LINE_LAYOUT_RULE,
    KW_DEPTHWISE_RULES,
    {0},
};

static const kw_rule fits_rules[] = {
    KW_LINE_FILTER_RULE(filter_has_taps), /* of rows; of columns the next */
    {"whole_columns", "the filter's columns must be a multiple of the config's", columns_divide},
    KW_LINE_STRIDE_RULE(strides_are_those),
    {"result_rows", "rows of x and y must be as long as a vector", rows_fill_a_vector},
    KW_LINE_REACH_RULE(line_holds_the_reach),
    {0},
};

static void conv_depthwise_lines_weight_launch(const kw_config *config, const kw_problem *problem, const kw_target *target,
                                               kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    lines l = lines_of(config);
    int64_t out[3], columns = d->filter[2], taps = columns * l.taps_h, phases = KW_LINES_PHASES(d->g, l.lanes);
    kw_problem_output(out, problem);
    int64_t vectors = kw_ceil_div(out[2] * d->g, l.lanes), tiles = kw_ceil_div(out[1], l.tile_h);
    bool lie = rows_lie(&l, config, d);
    int64_t spans = kw_ceil_div(vectors, lie ? lying_vectors(&l, d) : kw_line_vectors(l.size, l.stride, l.lanes, d, d->g)),
            pieces = d->n * tiles * spans;
    double sums = (double)(d->n * tiles * vectors), products = sums * (double)(columns * products_of(&l));
    double worth = products / UNIT_PRODUCTS;
    int64_t parts = kw_max(1, kw_min(pieces, worth < UNITS_MOST ? (int64_t)worth : UNITS_MOST));
    *launch = (kw_launch){.stages = 2, .stage = {{.units = parts}, {.units = taps}}};
    launch->shared_bytes = parts * taps * 4 * KW_LINES_PERIOD(d->g, l.lanes);
    launch->thread_bytes = kw_round_up((l.lines + l.results) * 4 * l.size.words + sums_bytes(&l, d) + columns * 8, KW_LINE);
    *kw_launch_params(launch, kw_lines_params) =
        (kw_lines_params){.spans = spans, .vectors = vectors, .tiles = tiles, .phases = phases, .parts = parts};

    double reach = (double)((columns - 1) * d->dilation[2] * d->g) / l.lanes;
    double copied = (double)(d->n * tiles) * (((double)vectors * l.stride + (double)spans * reach) * l.lines + (double)vectors * l.results);
    copied = lie ? 0 : copied;
    /* Sums of a phase come and go with its vectors of a span, and words of x begin anywhere, so that most loads go across cache lines. */
    double phased = (double)(pieces * columns * kw_min(phases, vectors)) * 2.0 * l.taps_h;
    launch->multiply_adds = products + phased + (double)(parts * taps * phases) * 2.0 + KW_LINE_COPY_PRODUCTS * copied;
    launch->loads = sums * (double)columns * (2.0 * l.lines + (double)l.results / l.columns) + phased + copied * l.pair;
    launch->copied_bytes = (double)launch->shared_bytes;
    if (lie && rows_evict(&l, d, target)) { /* the half of a line that is not read at once comes from the second level again */
        double lines_read = (double)(d->n * tiles * vectors) * (l.lines + l.results);
        launch->rereads[0] = (kw_cache_reuse){.bytes = KW_LINE * lines_read, .between = target->l1 + KW_LINE};
    }
}

/* --- text --- */

/* The products of t, or of both halves of two lines, with vectors of y: line number line begins with row first. */
static void emit_products(kw_text *text, const lines *l, int32_t column, int32_t first, const char *words, char results) {
    for (int32_t result = 0; result < l->results; result++) {
        int32_t tap = first - result * l->pair * l->stride;
        if (tap >= 0 && tap < l->taps_h) {
            kw_text_addf(text, " KW_MULTIPLY(a%d_%d, %s, %c%d)", column, tap, words, results, result);
        }
    }
}

static void emit_line(kw_text *text, const lines *l, int32_t column, int32_t line) {
    if (l->pair == 1) {
        kw_text_addf(text, "    t = KW_WORDS_OF(%d, %d);", column, line);
        emit_products(text, l, column, line, "t", 'y');
    } else {
        int32_t beside = line % l->stride, first = line / l->stride * 2 * l->stride + beside;
        if (line < l->stride) {
            kw_text_addf(text, "    kw_vf p%d_%d = KW_WORDS_OF(%d, %d);", column, beside, column, line);
        } else { /* the later row of the line before, and the earlier of this one */
            kw_text_addf(text, "    t = KW_WORDS_OF(%d, %d); p%d_%d = KW_BETWEEN(p%d_%d, t);", column, line, column, beside, column,
                         beside);
            char words[32];
            snprintf(words, sizeof words, "p%d_%d", column, beside);
            emit_products(text, l, column, first - l->stride, words, 'z');
            kw_text_addf(text, " p%d_%d = t;", column, beside);
        }
        char words[32];
        snprintf(words, sizeof words, "p%d_%d", column, beside);
        emit_products(text, l, column, first, words, 'y');
    }
    kw_text_add(text, " \\\n");
}

static void conv_depthwise_lines_weight_emit(const kw_config *config, kw_text *text) {
    lines l = lines_of(config);
    kw_text_addf(text,
                 "#define KW_TILE_H %d\n#define KW_TAPS_H %d\n#define KW_COLUMNS %d\n#define KW_STRIDE %d\n#define KW_LINES %d\n#define "
                 "KW_RESULTS %d\n",
                 l.tile_h, l.taps_h, l.columns, l.stride, l.lines, l.results);
    kw_text_addf(text, "#define KW_LINE_WORDS %d\n#define KW_PLANE_WORDS %d\n#define KW_EACH_SUM(DO)", l.size.words, l.size.plane);
    for (int32_t i = 0; i < l.columns * l.taps_h; i++) {
        kw_text_addf(text, " DO(a%d_%d, %d)", i / l.taps_h, i % l.taps_h, i);
    }
    kw_text_add(text, "\n#define KW_HOLD_RESULTS");
    for (int32_t result = 0; result < l.results; result++) {
        kw_text_addf(text, " kw_vf y%d = KW_RESULT_OF(%d); KW_KEEP(y%d);", result, result, result);
        if (l.pair == 2) {
            kw_text_addf(text, " kw_vf z%d = KW_TURNED(y%d);", result, result);
        }
    }
    kw_text_add(text, "\n#define KW_COLUMNS_OF kw_vf t; \\\n");
    for (int32_t column = 0; column < l.columns; column++) {
        for (int32_t line = 0; line < l.lines; line++) {
            emit_line(text, &l, column, line);
        }
    }
    kw_text_add(text, "\n");
}

const kw_family kw_family_conv_depthwise_lines_weight = {
    .name = "conv.depthwise_lines_weight",
    .summary = "gradients of weights of one channel a group, channels last, a row as one run of elements",
    .kind = KW_KIND_CPU,
    .ops = 1u << KW_CONV_BWD_WEIGHT,
    .dtypes = 1u << KW_FP32 | 1u << KW_BF16 | 1u << KW_FP16,
    .axes = axes,
    .axis_count = AXIS_COUNT,
    .rules = {[KW_VALID] = {valid_rules, kw_isa_valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_TAKES] = {takes_rules, kw_cpu_conv_rules},
              [KW_FITS] = {fits_rules}},
    .launch = conv_depthwise_lines_weight_launch,
    .emit = conv_depthwise_lines_weight_emit,
    .kernel = "cpu/lines/lines_weight.c",
};
