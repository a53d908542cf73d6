/* conv_depthwise_lines.c: depthwise convolution of channels-last images whose rows are runs of elements, so that vectors are full whatever the number of
 * channels is; kernels/cpu/lines/lines.c is the kernel. conv.depthwise has a vector for each pixel: of 11 channels, a third of its lanes idle, and of
 * bf16 in pairs two thirds. */
#include "families/cpu/depthwise/lines.h"

#include <string.h>

enum { TILE_H = KW_ISA_AXIS_COUNT, TAPS_H, STRIDE, AXIS_COUNT };

static const kw_axis axes[AXIS_COUNT] = {
    KW_ISA_AXES,
    {"tile_h", NULL, 1, 16, "rows of results of a tile"},
    {"taps_h", NULL, 1, 9, "filter rows"},
    {"stride", NULL, 1, 3, "stride of rows and columns"},
};

/* Registers for a word of a line, and for a weight and the compiler's own use. */
enum { SPARE = 3 };

/* What a config comes to. */
typedef struct lines {
    int32_t tile_h, taps_h, stride, lanes;
    int32_t rows;         /* of the image that a line has side by side */
    bool whole;           /* int8 */
    int32_t lines, words; /* that a tile reads; weights of a filter column */
    kw_line_size size;
    int32_t products; /* of a filter column and a vector of each row */
} lines;

static bool meets(const lines *l, int32_t line, int32_t row, int32_t *word) {
    int32_t tap = line * l->rows - row * l->stride;
    *word = tap + l->rows - 1;
    return *word >= 0 && tap < l->taps_h;
}

static lines lines_of(const kw_config *config) {
    const int32_t *axis = config->axis, math = axis[KW_AXIS_MATH];
    lines l = {.tile_h = axis[TILE_H], .taps_h = axis[TAPS_H], .stride = axis[STRIDE], .lanes = kw_config_isa(config)->lanes};
    l.whole = config->dtype == KW_INT8;
    l.rows = math == KW_MATH_FMA ? 1 : l.whole && math == KW_MATH_DP ? 4 : 2;
    int32_t rows = (l.tile_h - 1) * l.stride + l.taps_h, word;
    l.lines = (rows + l.rows - 1) / l.rows;
    l.words = l.taps_h + l.rows - 1;
    l.size = kw_line_size_of(l.lines, l.stride, l.lanes);
    for (int32_t line = 0; line < l.lines; line++) {
        for (int32_t row = 0; row < l.tile_h; row++) {
            l.products += meets(&l, line, row, &word);
        }
    }
    return l;
}

static bool sums_are_in_registers(const kw_rule_case *c) {
    lines l = lines_of(c->config);
    return l.tile_h + SPARE <= kw_config_isa(c->config)->registers;
}

static bool data_moves_by_one(const kw_rule_case *c) {
    return c->config->op == KW_CONV_FWD || c->config->axis[STRIDE] == 1;
}

static const kw_rule valid_rules[] = {
    {"sum_registers", "the sums of a tile and a word of a line must fit the isa's vector registers", sums_are_in_registers},
    {"bwd_data_stride", "backward data has stride 1 here; for others take conv.depthwise", data_moves_by_one},
    {0},
};

static bool filter_has_taps(const kw_rule_case *c) {
    return kw_line_filter(&c->problem->conv, c->config->axis[TAPS_H]);
}

static bool strides_are_those(const kw_rule_case *c) {
    return kw_line_strides(&c->problem->conv, c->config->axis[STRIDE]);
}

static void results_of(const kw_problem *problem, int64_t to[3]) {
    if (problem->op == KW_CONV_FWD) {
        kw_problem_output(to, problem);
    } else {
        memcpy(to, problem->conv.in, 3 * sizeof to[0]);
    }
}

static bool rows_fill_a_tile(const kw_rule_case *c) {
    int64_t to[3];
    results_of(c->problem, to);
    return to[1] >= c->config->axis[TILE_H] && to[2] * c->problem->conv.g >= kw_config_isa(c->config)->lanes;
}

/* What storing a vector takes, as products; copying one of a line of quads. */
#define STORE_PRODUCTS 2.0
#define QUAD_COPY_PRODUCTS 6.0

/* A problem in blocks of so many channels. */
typedef struct cut {
    int64_t block, blocks, vectors, spans, tiles;
    double sums, copied, products; /* vectors of sums by rows of a tile, and of lines; both as products, with all that is summed twice */
} cut;

static cut cut_of(const lines *l, const kw_problem *problem, int64_t block) {
    const kw_conv_dims *d = &problem->conv;
    int64_t to[3];
    results_of(problem, to);
    cut c = {.block = block,
             .blocks = kw_ceil_div(d->g, block),
             .vectors = kw_ceil_div(to[2] * block, l->lanes),
             .tiles = kw_ceil_div(to[1], l->tile_h)};
    c.spans = kw_ceil_div(c.vectors, kw_line_vectors(l->size, l->stride, l->lanes, d, block));
    double units = (double)(d->n * c.tiles * c.blocks), columns = (double)d->filter[2];
    double reach = (double)((d->filter[2] - 1) * d->dilation[2] * block) / l->lanes;
    c.sums = units * (double)c.vectors;
    c.copied = units * ((double)c.vectors * l->stride + (double)c.spans * reach) * l->lines;
    c.products = c.sums * (columns * l->products + STORE_PRODUCTS * l->tile_h) +
                 (l->rows == 4 ? QUAD_COPY_PRODUCTS : KW_LINE_COPY_PRODUCTS) * c.copied;
    return c;
}

/* All channels of a pixel, or of int8 as many whole vectors as take the fewest products: of those that differ little the widest block, which leaves fewer cache
 * lines in parts. No block where lines are too short. Floats of many channels are read where they lie, by conv.depthwise. */
#define WIDER_SHARE 1.05
static bool best_cut(const lines *l, const kw_problem *problem, cut *best) {
    enum { VECTORS_MOST = 16 };
    const kw_conv_dims *d = &problem->conv;
    bool any = kw_line_serves(l->size, l->stride, l->lanes, d, d->g);
    if (any) {
        *best = cut_of(l, problem, d->g);
    }
    for (int64_t vectors = 1; l->whole && vectors <= VECTORS_MOST && vectors * l->lanes < d->g; vectors++) {
        if (kw_line_serves(l->size, l->stride, l->lanes, d, vectors * l->lanes)) {
            cut c = cut_of(l, problem, vectors * l->lanes);
            if (!any || c.products < WIDER_SHARE * best->products) {
                *best = c;
            }
            any = true;
        }
    }
    return any;
}

static bool line_holds_the_reach(const kw_rule_case *c) {
    lines l = lines_of(c->config);
    cut best;
    return best_cut(&l, c->problem, &best);
}

static const kw_rule takes_rules[] = {
    KW_LINE_LAYOUT_RULE,
    KW_DEPTHWISE_RULES,
    KW_CHANNEL_STEPS_RULES,
    {0},
};

static const kw_rule fits_rules[] = {
    KW_LINE_FILTER_RULE(filter_has_taps),
    KW_LINE_STRIDE_RULE(strides_are_those),
    {"result_rows", "the result must have as many rows as a tile, and rows as long as a vector", rows_fill_a_tile},
    KW_LINE_REACH_RULE(line_holds_the_reach),
    {0},
};

static void conv_depthwise_lines_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    lines l = lines_of(config);
    cut c = {0};
    (void)target;
    best_cut(&l, problem, &c);
    int64_t columns = d->filter[2], period = KW_LINES_PERIOD(c.block, l.lanes), block_words = (columns * l.words + l.whole) * period;
    *launch = (kw_launch){
        .stages = 2, .stage = {{.units = c.blocks * (columns + l.whole), .packs = true}, {.units = d->n * c.tiles * c.blocks * c.spans}}};
    launch->packed_bytes = c.blocks * block_words * 4;
    launch->thread_bytes = kw_round_up(l.lines * 4 * l.size.words + columns * 8 + KW_EXTRAS * 4 * period, KW_LINE);
    *kw_launch_params(launch, kw_lines_params) = (kw_lines_params){
        .spans = c.spans, .vectors = c.vectors, .tiles = c.tiles, .block = c.block, .blocks = c.blocks, .block_words = block_words};

    launch->multiply_adds = c.products;
    /* Words of lines begin anywhere, so that most loads go across cache lines, unless a block's pixels are whole vectors. */
    double crossed = c.block % l.lanes == 0 ? 1.0 : 2.0;
    launch->loads = c.sums * (double)columns * (l.whole ? crossed : 2.0) * (l.lines + l.words) + c.copied * l.rows;
    launch->copied_bytes = 2.0 * (double)launch->packed_bytes;
}

/* --- text --- */

static void conv_depthwise_lines_emit(const kw_config *config, kw_text *text) {
    lines l = lines_of(config);
    int32_t word;
    kw_text_addf(text, "#define KW_TILE_H %d\n#define KW_TAPS_H %d\n#define KW_STRIDE %d\n#define KW_LINES %d\n#define KW_WORDS %d\n",
                 l.tile_h, l.taps_h, l.stride, l.lines, l.words);
    kw_text_addf(text, "#define KW_LINE_WORDS %d\n#define KW_PLANE_WORDS %d\n#define KW_EACH_SUM(DO)", l.size.words, l.size.plane);
    for (int32_t row = 0; row < l.tile_h; row++) {
        kw_text_addf(text, " DO(a%d, %d)", row, row);
    }
    kw_text_add(text, "\n#define KW_COLUMN kw_vf t; \\\n");
    for (word = 0; word < l.words; word++) {
        kw_text_addf(text, "    kw_vf w%d = KW_WEIGHT(%d); KW_KEEP(w%d); \\\n", word, word, word);
    }
    for (int32_t line = 0; line < l.lines; line++) {
        kw_text_addf(text, "    t = KW_WORDS_OF(%d);", line);
        for (int32_t row = 0; row < l.tile_h; row++) {
            if (meets(&l, line, row, &word)) {
                const char *words = l.whole || l.rows == 1 ? "t" : word == 0 ? "KW_LATER(t)" : word == l.taps_h ? "KW_EARLIER(t)" : "t";
                kw_text_addf(text, " KW_MULTIPLY(a%d, %s, w%d)", row, words, word);
            }
        }
        kw_text_add(text, " \\\n");
    }
    kw_text_add(text, "\n");
}

const kw_family kw_family_conv_depthwise_lines = {
    .name = "conv.depthwise_lines",
    .summary = "one channel a group, channels last, a row as one run of elements; forward, and backward data of stride 1",
    .kind = KW_KIND_CPU,
    .fuses = true,
    .ops = 1u << KW_CONV_FWD | 1u << KW_CONV_BWD_DATA,
    .dtypes = 1u << KW_FP32 | 1u << KW_BF16 | 1u << KW_FP16 | 1u << KW_INT8,
    .quantized = true,
    .axes = axes,
    .axis_count = AXIS_COUNT,
    .rules = {[KW_VALID] = {valid_rules, kw_isa_valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_TAKES] = {takes_rules, kw_cpu_conv_rules},
              [KW_FITS] = {fits_rules}},
    .launch = conv_depthwise_lines_launch,
    .emit = conv_depthwise_lines_emit,
    .kernel = "cpu/lines/lines.c",
};
