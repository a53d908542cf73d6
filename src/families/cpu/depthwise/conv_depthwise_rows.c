/* conv_depthwise_rows.c: depthwise convolution of channels-first tensors whose images are small, as they lie: a whole row, or those of some
 * channels, in one register; kernels/cpu/rows/rows.c is the kernel. It reads and writes by masks, which AVX-512 alone has. The image's size
 * is compiled in: at 7 rows of 9 products each what surrounds them would take as long as they do. Others are conv.depthwise_planes's. */
#include "families/cpu/depthwise/depthwise_rules.h"

#include "base/math.h"
#include "cpu/rows/args.h"

#include <assert.h>

enum { IMAGE = KW_ISA_AXIS_COUNT, PLANES, TAPS, STRIDE, AXIS_COUNT };

static const kw_axis axes[AXIS_COUNT] = {
    KW_ISA_AXES,
    {"image", NULL, 2, 31, "rows and columns of what is read"},
    {"planes", NULL, 1, 4, "channels whose rows share a vector"},
    {"taps", NULL, 3, 9, "filter rows and columns; half of them, rounded down, are padding"},
    {"stride", NULL, 1, 2, "stride of rows and columns"},
};

/* Sums of a row of results: of pixels of even and of odd columns, or two that do not wait for each other. */
enum { PARTS = 2 };

/* Registers for what is picked out of a row, for a weight and the compiler's own use; of the row. */
enum { SPARE = 3, ROW = 2 };

/* What a config comes to. */
typedef struct rows {
    int32_t image, planes, taps, stride, pad, result; /* of the image, rows and columns of the result */
    bool dp, words, twice;                            /* what is picked is pairs of pixels; or a row is in two registers */
    int32_t live;                                     /* rows of results under way */
    int32_t loads, step;                              /* picked of a row of the source, pixels from one to the next */
    int32_t columns;                                  /* weights of a filter row */
    int32_t share;                                    /* pixels that a plane has of a row's vectors */
    bool held;                                        /* weights stay in registers */
    bool by_columns;                                  /* the whole image does, and one column of the filter after the other */
} rows;

static rows rows_of(const kw_config *config) {
    const int32_t *axis = config->axis, lanes = kw_config_isa(config)->lanes;
    rows r = {.image = axis[IMAGE], .planes = axis[PLANES], .taps = axis[TAPS], .stride = axis[STRIDE]};
    r.pad = (r.taps - 1) / 2;
    r.result = (r.image - 1) / r.stride + 1;
    r.dp = axis[KW_AXIS_MATH] == KW_MATH_DP;
    r.words = r.dp || (config->dtype != KW_FP32 && r.stride == 2);
    r.twice = !r.words && r.stride == 2;
    r.live = (r.taps + r.stride - 1) / r.stride;
    r.step = r.words ? r.stride : 1;
    r.columns = r.dp ? (r.taps + 1) / 2 : r.taps;
    r.loads = r.dp && r.stride == 1 ? 2 * r.columns : (r.taps + r.step - 1) / r.step;
    r.share = (r.words || r.twice ? 2 * lanes : lanes) / r.planes;
    int32_t sums = r.dp && r.stride == 1 ? PARTS : 1;
    r.by_columns = !r.twice && (r.dp || !r.words) && r.image + r.result * sums + r.taps + SPARE <= kw_config_isa(config)->registers;
    r.held = r.live * PARTS + r.loads + ROW + SPARE + r.taps * r.columns <= kw_config_isa(config)->registers;
    r.by_columns = r.by_columns && !r.held;
    return r;
}

static bool has_masks(const kw_rule_case *c) {
    return c->config->axis[KW_AXIS_ISA] == KW_ISA_AVX512;
}

static bool sums_are_in_registers(const kw_rule_case *c) {
    rows r = rows_of(c->config);
    return r.live * PARTS + r.loads + ROW + SPARE <= kw_config_isa(c->config)->registers;
}

static bool planes_share_evenly(const kw_rule_case *c) {
    rows r = rows_of(c->config);
    return r.planes == 1 || r.planes == 2 || (r.planes == 4 && r.dp && r.stride == 1);
}

static bool taps_are_odd(const kw_rule_case *c) {
    return c->config->axis[TAPS] % 2 == 1;
}

static bool rows_fit_their_share(const kw_rule_case *c) {
    rows r = rows_of(c->config);
    return r.image < r.share;
}

static bool units_are_short(const kw_rule_case *c) {
    rows r = rows_of(c->config);
    return r.result * r.taps * r.loads <= 1024;
}

static bool data_moves_by_one(const kw_rule_case *c) {
    return c->config->op == KW_CONV_FWD || c->config->axis[STRIDE] == 1;
}

static const kw_rule valid_rules[] = {
    {"masks", "isa=avx512 has the masks that rows are read by; for others take conv.depthwise", has_masks},
    {"sum_registers", "the sums of the rows under way, a row and its index vectors must fit the isa's vector registers",
     sums_are_in_registers},
    {"shared_vector", "a vector has the rows of one or two planes, of bf16 by dp with stride 1 also of four", planes_share_evenly},
    {"odd_filter", "taps must be odd, so that padding is the same on both sides", taps_are_odd},
    {"row_width", "a row must be shorter than its share of a vector: the lane behind it stands for padding", rows_fit_their_share},
    {"unit_size", "a unit, which is written out, has at most 1024 products", units_are_short},
    {"bwd_data_stride", "backward data has stride 1 here; for others take conv.depthwise", data_moves_by_one},
    {0},
};

static bool taps_are_the_filter(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    int32_t taps = c->config->axis[TAPS];
    return d->filter[1] == taps && d->filter[2] == taps && d->dilation[1] == 1 && d->dilation[2] == 1;
}

static bool strides_are_those(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    return d->stride[1] == c->config->axis[STRIDE] && d->stride[2] == c->config->axis[STRIDE];
}

/* Of backward data the stride is one, and both sizes are the same. */
static bool sizes_are_those(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    rows r = rows_of(c->config);
    int64_t out[3];
    kw_problem_output(out, c->problem);
    return d->in[1] == r.image && d->in[2] == r.image && out[1] == r.result && out[2] == r.result && d->pad[1] == r.pad &&
           d->pad[2] == r.pad;
}

static bool planes_are_whole(const kw_rule_case *c) {
    return kw_problem_pixels_are_even(c->problem, KW_X) && kw_problem_pixels_are_even(c->problem, KW_Y);
}

static const kw_rule takes_rules[] = {
    KW_AS_THEY_LIE_RULES,
    {"whole_planes", "a channel's pixels lie together; for images cut out of larger ones take conv.depthwise_planes", planes_are_whole},
    {0},
};

static const kw_rule fits_rules[] = {
    {"whole_filter", "the filter must be taps x taps, without dilation", taps_are_the_filter},
    {"stride", "rows and columns must have the config's stride", strides_are_those},
    {"image_size", "the image must be image x image, with half of the filter as padding", sizes_are_those},
    {0},
};

/* What reading and writing a row cost, and the weights of a unit, as products. */
enum { ROW_PRODUCTS = 3, UNIT_PRODUCTS = 8 };

static void conv_depthwise_rows_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    rows r = rows_of(config);
    int64_t line = 4 * kw_config_isa(config)->lanes, blocks = kw_ceil_div(d->g, r.planes), weights = r.taps * r.columns;
    int64_t expanded = r.planes > 1 && !r.held && !r.by_columns ? weights : 0;
    (void)target;
    *launch = (kw_launch){.stages = 2, .stage = {{.units = blocks, .packs = true}, {.units = d->n * blocks}}};
    launch->packed_bytes = blocks * weights * r.planes * 4;
    launch->thread_bytes = (r.loads + expanded) * line + kw_round_up(r.result * r.result * 4, KW_LINE);
    *kw_launch_params(launch, kw_rows_params) = (kw_rows_params){.planes = blocks};

    int64_t met = 0; /* rows of the source by rows of the filter */
    for (int32_t row = 0; row < r.result; row++) {
        int32_t first = row * r.stride - r.pad;
        met += kw_min(first + r.taps, r.image) - (first > 0 ? first : 0);
    }
    double units = (double)(d->n * blocks), picked = (double)r.columns * (r.dp && r.stride == 1 ? 2 : 1);
    launch->multiply_adds = units * ((double)met * picked + ROW_PRODUCTS * (double)r.image + UNIT_PRODUCTS);
    launch->loads = units * (double)(r.image * r.planes * 2 + weights);
    launch->copied_bytes = 2.0 * (double)launch->packed_bytes;
}

/* --- text --- */

/* What was picked as x (z) of a row of the source, with the taps of all filter rows that it meets. used: the sums that have a product. */
static void emit_products(kw_text *text, const rows *r, int row, char name, int column, int part, bool used[][PARTS]) {
    for (int to = 0; to < r->result; to++) {
        int tap = row + r->pad - to * r->stride;
        if (tap >= 0 && tap < r->taps) {
            kw_text_addf(text, used[to][part] ? " KW_MULTIPLY(a%d_%d, %c, " : " KW_FIRST(a%d_%d, %c, ", to, part, name);
            kw_text_addf(text, r->held || r->by_columns ? "w%d)" : "KW_WEIGHT(%d))", r->by_columns ? tap : tap * r->columns + column);
            used[to][part] = true;
        }
    }
}

static void emit_load(kw_text *text, const rows *r, int row, int load, bool used[][PARTS]) {
    bool two = r->words && !r->dp;
    int column = r->dp && r->stride == 1 ? load / 2 : two ? 2 * load : load;
    int part = two || (r->by_columns && !(r->dp && r->stride == 1)) ? 0 : load % PARTS;
    kw_text_addf(text, two ? "    KW_PICK_TWO(x, z, %d)" : "    KW_PICK(x, %d)", load);
    emit_products(text, r, row, 'x', column, part, used);
    if (two && column + 1 < r->taps) {
        emit_products(text, r, row, 'z', column + 1, 1, used);
    }
    kw_text_add(text, " \\\n");
}

static void emit_row(kw_text *text, const rows *r, int row, bool used[][PARTS]) {
    kw_text_addf(text, "    KW_ROW(%d) \\\n", row);
    for (int load = 0; load < r->loads; load++) {
        emit_load(text, r, row, load, used);
    }
    for (int to = 0; to < r->result; to++) {
        int last = to * r->stride - r->pad + r->taps - 1;
        if (row == last || (row == r->image - 1 && last > row)) {
            kw_text_addf(text, "    KW_FINISH(%d, a%d_0, a%d_1) \\\n", to, to, to);
        }
    }
}

/* The image in registers: a column of weights is spread once, where by rows all of them would be for every row. */
static void emit_columns(kw_text *text, const rows *r, bool used[][PARTS]) {
    bool pairs = r->dp && r->stride == 1;
    for (int row = 0; row < r->image; row++) {
        kw_text_addf(text, "    KW_ROW(%d) row_of r%d = row; \\\n", row, row);
    }
    for (int load = 0; load < r->loads; load++) {
        for (int tap = 0; tap < r->taps && !(pairs && load % 2); tap++) {
            kw_text_addf(text, load ? "    w%d = spread_weight(w + %d);" : "    kw_vf w%d = spread_weight(w + %d);", tap,
                         (tap * r->columns + (pairs ? load / 2 : load)) * r->planes * 4);
        }
        kw_text_addf(text, " KW_INDEX(%d) \\\n", load);
        for (int row = 0; row < r->image; row++) {
            kw_text_addf(text, "    row = r%d;", row);
            emit_load(text, r, row, load, used);
        }
    }
    for (int to = 0; to < r->result; to++) {
        kw_text_addf(text, pairs ? "    KW_FINISH(%d, a%d_0, a%d_1) \\\n" : "    KW_FINISH_ONE(%d, a%d_0) \\\n", to, to, to);
    }
}

static void conv_depthwise_rows_emit(const kw_config *config, kw_text *text) {
    rows r = rows_of(config);
    bool used[32][PARTS] = {{0}};
    kw_text_addf(text, "#define KW_IMAGE %d\n#define KW_PLANES %d\n#define KW_TAPS %d\n#define KW_STRIDE %d\n", r.image, r.planes, r.taps,
                 r.stride);
    kw_text_addf(text, "#define KW_LOADS %d\n#define KW_LOAD_STEP %d\n#define KW_WEIGHTS %d\n#define KW_HELD %d\n", r.loads, r.step,
                 r.taps * r.columns, r.held || r.by_columns);
    kw_text_addf(text, "#define KW_WEIGHT(number) %s\n",
                 r.planes > 1 ? "kw_load(w + (number)*KW_VECTOR)" : "kw_spread_word(w + 4 * (number))");
    kw_text_add(text, "#define KW_HOLD_WEIGHTS");
    for (int i = 0; r.held && i < r.taps * r.columns; i++) {
        kw_text_addf(text, " kw_vf w%d = spread_weight(w + %d); KW_KEEP(w%d);", i, i * r.planes * 4, i);
    }
    kw_text_add(text, "\n#define KW_HOLD_INDEXES");
    for (int i = 0; i < r.loads && !r.by_columns; i++) {
        kw_text_addf(text, " KW_INDEX(%d)", i);
    }
    kw_text_add(text, "\n#define KW_UNIT kw_vf x");
    for (int i = 0; i < r.result * PARTS; i++) {
        kw_text_addf(text, ", a%d_%d", i / PARTS, i % PARTS);
    }
    kw_text_add(text, r.words && !r.dp ? ", z; \\\n" : "; \\\n");
    if (r.by_columns) {
        emit_columns(text, &r, used);
    }
    for (int row = 0; row < r.image && !r.by_columns; row++) {
        emit_row(text, &r, row, used);
    }
    kw_text_add(text, "\n");
}

const kw_family kw_family_conv_depthwise_rows = {
    .name = "conv.depthwise_rows",
    .summary = "one channel a group, channels first, small square images, a row in a register; forward, and backward data of stride 1",
    .kind = KW_KIND_CPU,
    .pitched = true,
    .pitched_text = true,
    .fuses = true,
    .ops = 1u << KW_CONV_FWD | 1u << KW_CONV_BWD_DATA,
    .dtypes = 1u << KW_FP32 | 1u << KW_BF16,
    .axes = axes,
    .axis_count = AXIS_COUNT,
    .rules = {[KW_VALID] = {valid_rules, kw_isa_valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_TAKES] = {takes_rules, kw_cpu_conv_rules},
              [KW_FITS] = {fits_rules}},
    .launch = conv_depthwise_rows_launch,
    .emit = conv_depthwise_rows_emit,
    .kernel = "cpu/rows/rows.c",
};
