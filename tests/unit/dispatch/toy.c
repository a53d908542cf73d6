/* toy.c: see toy.h. */
#include "unit/dispatch/toy.h"

#include "base/embedded.h"
#include "base/os/file.h"
#include "config/arch/isa.h"
#include "config/config.h"
#include "support/kw_test.h"

enum { NAME = KW_ISA_AXIS_COUNT, SLOW, FAULT, ROOM, PACKS, AXIS_COUNT };

static const kw_axis axes[] = {
    KW_ISA_AXES,
    {"name", NULL, 0, 1000, "tells toys apart"},
    {"slow", NULL, 1, 100000, "how often the product is formed"},
    {"fault", "none wrong syntax", 0, 2, "what is wrong with it"},
    {"room", NULL, 0, 1 << 30, "bytes of shared workspace"},
    {"packs", NULL, 0, 1, "1: copies the weights first"},
};

static const char pack_stage[] = "KW_EXPORT void kw_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *own) {\n"
                                 "    for (kw_i64 i = begin; i < end; i++) ((float *)a->packed)[i] = ((float *)a->w)[i];\n"
                                 "    (void)own;\n"
                                 "}\n";
static const char product_stage[] = "KW_EXPORT void PRODUCT(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *own) {\n"
                                    "    const float *x = (float *)a->x, *w = (float *)WEIGHTS;\n"
                                    "    for (volatile int again = 0; again < SLOW; again++)\n"
                                    "        for (kw_i64 i = begin; i < end; i++)\n"
                                    "            for (kw_i64 j = 0; j < a->gn; j++) {\n"
                                    "                float sum = 0;\n"
                                    "                for (kw_i64 p = 0; p < a->gk; p++) sum += x[i * a->gk + p] * w[j * a->gk + p];\n"
                                    "                ((float *)a->y)[i * a->gn + j] = sum + WRONG;\n"
                                    "            }\n"
                                    "    (void)own;\n"
                                    "}\n";

static void emit(const kw_config *config, kw_text *text) {
    bool packs = config->axis[PACKS] != 0;
    kw_text_addf(text, "#define SLOW %d\n#define WRONG %d\n", config->axis[SLOW], config->axis[FAULT] == 1);
    kw_text_addf(text, "#define PRODUCT kw_stage%d\n#define WEIGHTS a->%s\n", packs, packs ? "packed" : "w");
    kw_text_addf(text, "/* name %d */\n%s%s", config->axis[NAME], packs ? pack_stage : "", product_stage);
    if (config->axis[FAULT] == 2) {
        kw_text_add(text, "this is no C;\n");
    }
}

static bool is_one_rcr_product(const kw_rule_case *c) {
    return c->problem->layout == KW_RCR && c->problem->gemm.batch == 1;
}

enum { TAILORED_NAME = 1000, TAILORED_ROWS = 23 };

static bool is_listed_product(const kw_rule_case *c) {
    return (c->config->axis[NAME] == TAILORED_NAME) == (c->problem->gemm.m == TAILORED_ROWS);
}

static const kw_rule fits_rules[] = {{"rcr", "layout rcr and batch 1 are needed", is_one_rcr_product},
                                     {"measure", "23 rows have a kernel of their own", is_listed_product},
                                     {0}};

/* Of any problem the same: one that is listed, a slow one, the right one, one that is none. */
static size_t tailor(const kw_problem *problem, const kw_target *target, kw_config configs[KW_TAILORED_MAX]) {
    static const char *const texts[] = {TOY_BEST, TOY(1000, 9, none, 0, 0), TOY_TAILORED};
    (void)problem;
    (void)target;
    size_t count = sizeof texts / sizeof *texts;
    for (size_t i = 0; i < count; i++) {
        if (kw_config_parse(&configs[i], texts[i], NULL)) {
            fail_msg("%s is no config", texts[i]);
        }
    }
    configs[count] = configs[0];
    configs[count].axis[SLOW] = 0; /* below the axis's range */
    return count + 1;
}

static void launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *result) {
    const kw_gemm_dims *d = &problem->gemm;
    int packs = config->axis[PACKS];
    (void)target;
    result->stages = 1 + packs;
    result->stage[0] = (kw_stage){.units = d->n * d->k, .packs = true};
    result->stage[packs] = (kw_stage){.units = d->m};
    result->packed_bytes = packs ? d->n * d->k * 4 : 0;
    result->shared_bytes = config->axis[ROOM];
    result->multiply_adds = (double)config->axis[SLOW] * (double)(d->m * d->n * d->k);
}

static const kw_family toy_family = {
    .name = "test.toy",
    .summary = "for tests",
    .kind = KW_KIND_CPU,
    .ops = 1 << KW_GEMM,
    .dtypes = 1 << KW_FP32,
    .axes = axes,
    .axis_count = AXIS_COUNT,
    .rules = {[KW_RUNS] = {kw_isa_runs_rules}, [KW_FITS] = {fits_rules}},
    .launch = launch,
    .tailor = tailor,
    .emit = emit,
};

/* The same under another name, of which no default catalog has a config. */
static const kw_family fresh_family = {
    .name = "test.fresh",
    .summary = "for tests of families that are new",
    .kind = KW_KIND_CPU,
    .ops = 1 << KW_GEMM,
    .dtypes = 1 << KW_FP32,
    .axes = axes,
    .axis_count = AXIS_COUNT,
    .rules = {[KW_RUNS] = {kw_isa_runs_rules}, [KW_FITS] = {fits_rules}},
    .launch = launch,
    .emit = emit,
};

extern const kw_family kw_family_conv_reference, kw_family_gemm_reference;

const kw_family *const kw_family_table[] = {&toy_family, &fresh_family, &kw_family_conv_reference, &kw_family_gemm_reference, NULL};

static const char catalog[] = TOY_SLOW "\n" TOY_SECOND "\n" TOY_BROKEN "\n" TOY_WRONG "\n" TOY_BEST "\n";

extern const kw_embedded kw_default_catalogs[];
const kw_embedded kw_default_catalogs[] = {
    {"x86-64-v3", catalog, catalog + sizeof catalog - 1},
    {"x86-64-v3-vnni", catalog, catalog + sizeof catalog - 1},
    {"x86-64-v4", catalog, catalog + sizeof catalog - 1},
    {"x86-64-v4-vnni", catalog, catalog + sizeof catalog - 1},
    {"x86-64-v4-bf16", catalog, catalog + sizeof catalog - 1},
    {"x86-64-v4-amx", catalog, catalog + sizeof catalog - 1},
    {0},
};

void toy_world_make(toy_world *world) {
    *world = (toy_world){0};
    setenv("KW_SPREAD_MAX", TOY_ANY_SPREAD, 1); /* that wisdom is written must not hang on what else the machine does */
    scratch_make(world->folder);
    scratch_path(world->cache, world->folder, "cache");
    scratch_path(world->data, world->folder, "data");
    scratch_path(world->wisdom, world->folder, "data/wisdom.txt");
    world->options =
        (kw_context_options){.size = sizeof(kw_context_options), .threads = 1, .cache_dir = world->cache, .data_dir = world->data};
}

void toy_world_drop(toy_world *world) {
    scratch_remove(world->folder);
}

kw_context *toy_open(toy_world *world) {
    kw_context *context = NULL;
    kw_error err = {0};
    if (kw_context_open(&context, "cpu", &world->options, &err)) {
        fail_msg("%s", err.text);
    }
    return context;
}

kw_problem toy_problem(const char *text) {
    kw_problem problem;
    kw_error err = {0};
    if (kw_problem_parse(&problem, text, &err)) {
        fail_msg("%s", err.text);
    }
    return problem;
}

const char *toy_chosen(kw_context *context, const kw_plan_options *options) {
    static _Thread_local char text[KW_CONFIG_TEXT_MAX];
    kw_problem problem = toy_problem(TOY_PROBLEM);
    kw_plan *plan = NULL;
    kw_error err = {0};
    if (kw_plan_create(&plan, context, &problem, options, &err)) {
        snprintf(text, sizeof text, "%s: %.300s", kw_status_name(err.status), err.text);
        return text;
    }
    snprintf(text, sizeof text, "%s", kw_plan_config(plan));
    kw_plan_destroy(&plan);
    return text;
}

int toy_wisdom_lines(const toy_world *world) {
    kw_arena arena = {0};
    char *data = NULL;
    size_t size = 0;
    int count = 0;
    if (!kw_file_read(&arena, world->wisdom, 1 << 24, &data, &size, NULL)) {
        kw_scan scan = {data, data + size};
        for (kw_word line; kw_scan_line(&scan, &line);) {
            count += line.size && *line.at != '#';
        }
    }
    kw_arena_drop(&arena);
    return count;
}

void assert_contains(const char *text, const char *part) {
    if (!strstr(text, part)) {
        fail_msg("\"%s\" is not in \"%s\"", part, text);
    }
}
