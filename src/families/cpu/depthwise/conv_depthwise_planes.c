/* conv_depthwise_planes.c: depthwise convolution of channels-first tensors as they lie, a channel's pixels in the lanes; kernels/cpu/planes/planes.c
 * is the kernel. It reads and writes by masks, which AVX-512 alone has: elsewhere conv.depthwise turns what it reads. */
#include "families/cpu/depthwise/depthwise_rules.h"

#include "base/math.h"
#include "cpu/planes/args.h"

#include <assert.h>

enum { VECS = KW_ISA_AXIS_COUNT, PLANES, TAPS_H, TAPS_W, STRIDE, AXIS_COUNT };

static const kw_axis axes[AXIS_COUNT] = {
    KW_ISA_AXES,
    {"vecs", NULL, 1, 6, "vectors of a strip of columns"},
    {"planes", NULL, 1, 4, "channels whose rows share a vector"},
    {"taps_h", NULL, 1, 9, "filter rows"},
    {"taps_w", NULL, 1, 9, "filter columns"},
    {"stride", NULL, 1, 2, "stride of rows and columns"},
};

/* What a config comes to. */
typedef struct planes {
    int32_t vecs, planes, taps_h, taps_w, stride;
    bool dp, words, twice; /* a load is of pairs of pixels; or two loads give every second pixel twice */
    int32_t live;          /* rows of results under way */
    int32_t parts;         /* sums of a vector */
    int32_t loads, step;   /* of a vector and a filter row, pixels from one to the next */
    int32_t columns;       /* weights of a filter row */
    int32_t results;       /* pixels of a vector, all planes */
    bool held;             /* weights stay in registers */
} planes;

/* Products that the loop over the rows of a strip takes as long as. */
enum { ROW_PRODUCTS = 3 };

/* Registers for what is loaded, and for a weight and the compiler's own use. */
enum { SPARE = 3 };

static planes planes_of(const kw_config *config) {
    const int32_t *axis = config->axis, lanes = kw_config_isa(config)->lanes;
    planes p = {.vecs = axis[VECS], .planes = axis[PLANES], .taps_h = axis[TAPS_H], .taps_w = axis[TAPS_W], .stride = axis[STRIDE]};
    p.dp = axis[KW_AXIS_MATH] == KW_MATH_DP;
    p.words = p.dp || (config->dtype != KW_FP32 && p.stride == 2);
    p.twice = !p.words && p.stride == 2;
    p.live = (p.taps_h + p.stride - 1) / p.stride;
    p.step = p.dp ? p.stride : p.stride == 2 ? 2 : 1;
    p.columns = p.dp ? (p.taps_w + 1) / 2 : p.taps_w;
    p.loads = p.dp ? (p.stride == 1 ? 2 * p.columns : p.columns) : (p.taps_w + p.step - 1) / p.step;
    /* Pixels of even and of odd columns; or, of one vector, two sums that do not wait for each other. */
    p.parts = p.dp ? 3 - p.stride : p.vecs == 1 ? 2 : 1;
    p.results = p.dp && p.stride == 1 ? 2 * lanes : lanes;
    p.held = p.live * p.vecs * p.parts + 2 * p.vecs + p.taps_h * p.columns + SPARE <= kw_config_isa(config)->registers;
    return p;
}

static bool has_masks(const kw_rule_case *c) {
    return c->config->axis[KW_AXIS_ISA] == KW_ISA_AVX512;
}

static bool sums_are_in_registers(const kw_rule_case *c) {
    planes p = planes_of(c->config);
    return p.live * p.vecs * p.parts + 2 * p.vecs + SPARE <= kw_config_isa(c->config)->registers;
}

static bool planes_share_evenly(const kw_rule_case *c) {
    planes p = planes_of(c->config);
    bool quarters = !p.twice && (p.words || c->config->dtype == KW_FP32);
    return p.planes == 1 || (p.vecs == 1 && (p.planes == 2 || (p.planes == 4 && quarters)));
}

static bool data_moves_by_one(const kw_rule_case *c) {
    return c->config->op == KW_CONV_FWD || c->config->axis[STRIDE] == 1;
}

static const kw_rule valid_rules[] = {
    {"masks", "isa=avx512 has the masks that rows are read by; for others take conv.depthwise", has_masks},
    {"sum_registers", "the sums of the rows under way and what is loaded must fit the isa's vector registers", sums_are_in_registers},
    {"shared_vector", "2 or 4 planes share one vector; of fp32 with stride 2, and bf16 by fma with stride 1, two", planes_share_evenly},
    {"bwd_data_stride", "backward data has stride 1 here; for others take conv.depthwise", data_moves_by_one},
    {0},
};

static bool taps_are_the_filter(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    const int32_t *axis = c->config->axis;
    return d->filter[1] == axis[TAPS_H] && d->filter[2] == axis[TAPS_W] && (d->filter[1] == 1 || d->dilation[1] == 1) &&
           (d->filter[2] == 1 || d->dilation[2] == 1);
}

static bool strides_are_those(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    int64_t out[3];
    kw_problem_output(out, c->problem);
    bool one_row = d->in[1] == 1 && out[1] == 1 && d->pad[1] == 0;
    return d->stride[2] == c->config->axis[STRIDE] && (one_row || d->stride[1] == c->config->axis[STRIDE]);
}

static int64_t columns_of(const kw_problem *problem) {
    int64_t out[3];
    kw_problem_output(out, problem);
    return problem->op == KW_CONV_FWD ? out[2] : problem->conv.in[2];
}

static bool rows_are_bounded(const kw_rule_case *c) {
    planes p = planes_of(c->config);
    int64_t columns = columns_of(c->problem);
    return columns <= 1 << 20 && (p.planes == 1 || columns <= p.results / p.planes);
}

static const kw_rule takes_rules[] = {
    KW_AS_THEY_LIE_RULES,
    {0},
};

static const kw_rule fits_rules[] = {
    {"whole_filter", "the filter must be taps_h x taps_w, without dilation", taps_are_the_filter},
    {"stride", "rows and columns must have the config's stride", strides_are_those},
    {"row_width", "rows have at most 2^20 pixels; where planes share a vector, a row must fit its share", rows_are_bounded},
    {0},
};

static void conv_depthwise_planes_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    planes p = planes_of(config);
    int64_t out[3], lanes = kw_config_isa(config)->lanes, blocks = kw_ceil_div(d->g, p.planes);
    (void)target;
    kw_problem_output(out, problem);
    int64_t rows = problem->op == KW_CONV_FWD ? d->in[1] : out[1], width = p.planes > 1 ? p.results : p.vecs * p.results;
    int64_t strips = p.planes > 1 ? 1 : kw_ceil_div(columns_of(problem), width), weights = p.taps_h * p.columns;
    *launch = (kw_launch){.stages = 2, .stage = {{.units = blocks, .packs = true}, {.units = d->n * blocks}}};
    launch->packed_bytes = blocks * weights * 4 * (p.planes > 1 ? lanes : 1);
    int64_t masks = p.vecs * ((p.twice ? 2 : 1) * p.loads + p.planes);
    launch->thread_bytes = kw_round_up(strips * masks * 4, KW_LINE);
    *kw_launch_params(launch, kw_planes_params) = (kw_planes_params){.strips = strips};

    /* The loop over a strip's rows takes as long as some products, its beginning as long as two rows. Loads go across lines. */
    double visited = (double)(d->n * blocks * strips) * (double)(rows + 2),
           products = (double)(weights * (p.dp ? p.parts : 1)) / (double)p.stride;
    launch->multiply_adds = visited * (products * (double)p.vecs + ROW_PRODUCTS);
    launch->loads = visited * (double)(p.vecs * p.loads * p.planes) * (p.twice ? 3.0 : 2.0);
    launch->copied_bytes = 2.0 * (double)launch->packed_bytes;
}

/* --- text --- */

static void add_weight(kw_text *text, const planes *p, int number) {
    kw_text_addf(text, p->held ? "w%d" : "KW_WEIGHT(%d)", number);
}

/* What was loaded as x<vector> (z<vector>), pixels of this load, with the taps of all filter rows that a source row meets. */
static void emit_products(kw_text *text, const planes *p, int place, char name, int column, int part) {
    for (int live = 0; place + live * p->stride < p->taps_h; live++) {
        kw_text_add(text, "    { kw_vf t = ");
        add_weight(text, p, (place + live * p->stride) * p->columns + column);
        kw_text_add(text, ";");
        for (int vector = 0; vector < p->vecs; vector++) {
            kw_text_addf(text, " KW_MULTIPLY(a%d_%d_%d, %c%d, t)", live, vector, part, name, vector);
        }
        kw_text_add(text, " } \\\n");
    }
}

static void emit_row(kw_text *text, const planes *p, int place) {
    bool two = p->step == 2 && !p->dp;
    kw_text_addf(text, "#define KW_ROW_%d \\\n", place);
    for (int load = 0; load < p->loads; load++) {
        for (int vector = 0; vector < p->vecs; vector++) {
            int place_of_load = vector * p->results * p->stride + load * p->step;
            if (load == 0) {
                kw_text_addf(text, two ? "    kw_vf x%d, z%d; \\\n" : "    kw_vf x%d; \\\n", vector, vector);
            }
            kw_text_addf(text, two ? "    KW_TAKE_TWO(x%d, z%d, " : "    KW_TAKE(x%d, ", vector, vector);
            kw_text_addf(text, "m%d_%d, %d * KW_BYTES) \\\n", vector, load, place_of_load);
        }
        int column = p->dp ? (p->stride == 1 ? load / 2 : load) : load * p->step;
        emit_products(text, p, place, 'x', column, p->parts == 2 ? (two ? 0 : load % 2) : 0);
        if (two && column + 1 < p->taps_w) {
            emit_products(text, p, place, 'z', column + 1, p->parts - 1);
        }
    }
    kw_text_add(text, "\n");
}

static void conv_depthwise_planes_emit(const kw_config *config, kw_text *text) {
    planes p = planes_of(config);
    kw_text_addf(text, "#define KW_VECS %d\n#define KW_PLANES %d\n#define KW_TAPS_H %d\n#define KW_TAPS_W %d\n#define KW_STRIDE %d\n",
                 p.vecs, p.planes, p.taps_h, p.taps_w, p.stride);
    kw_text_addf(text, "#define KW_LIVE %d\n#define KW_PARTS %d\n#define KW_LOADS %d\n#define KW_LOAD_STEP %d\n#define KW_WEIGHTS %d\n",
                 p.live, p.parts, p.loads, p.step, p.taps_h * p.columns);
    kw_text_addf(text, "#define KW_WEIGHT(number) %s\n",
                 p.planes > 1 ? "kw_load(w + (number)*KW_VECTOR)" : "kw_spread_word(w + 4 * (number))");
    kw_text_add(text, "#define KW_HOLD_WEIGHTS");
    for (int i = 0; p.held && i < p.taps_h * p.columns; i++) {
        kw_text_addf(text, " kw_vf w%d = KW_WEIGHT(%d); KW_KEEP(w%d);", i, i, i);
    }
    kw_text_add(text, "\n#define KW_HOLD_MASKS");
    for (int i = 0, at = 0; i < p.vecs * p.loads; i++) {
        for (int second = 0; second < (p.twice ? 2 : 1); second++, at++) {
            kw_text_addf(text, " kw_u32 m%d_%d%s = s->masks[%d];", i / p.loads, i % p.loads, second ? "t" : "", at);
        }
    }
    const char *const lists[] = {"SUM", "AGED", "NEWEST", "DONE"};
    for (int list = 0; list < 4; list++) {
        kw_text_addf(text, "\n#define KW_EACH_%s(DO)", lists[list]);
        int youngest = list == 1 ? 1 : 0;
        for (int live = list < 2 ? p.live - 1 : 0; live >= youngest; live--) {
            for (int i = 0; i < p.vecs * (list == 3 ? 1 : p.parts); i++) {
                int vector = list == 3 ? i : i / p.parts, part = list == 3 ? 0 : i % p.parts;
                if (list == 1) {
                    kw_text_addf(text, " DO(a%d_%d_%d, a%d_%d_%d)", live, vector, part, live - 1, vector, part);
                } else if (list == 3) {
                    kw_text_addf(text, " DO(%d, a%d_%d_0, a%d_%d_%d)", vector, p.live - 1, vector, p.live - 1, vector, p.parts - 1);
                } else {
                    kw_text_addf(text, " DO(a%d_%d_%d)", live, vector, part);
                }
            }
        }
    }
    kw_text_add(text, "\n");
    for (int place = 0; place < p.stride; place++) {
        emit_row(text, &p, place);
    }
}

const kw_family kw_family_conv_depthwise_planes = {
    .name = "conv.depthwise_planes",
    .summary = "one channel a group, channels first as they lie; forward, and backward data of stride 1",
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
    .launch = conv_depthwise_planes_launch,
    .emit = conv_depthwise_planes_emit,
    .kernel = "cpu/planes/planes.c",
};
