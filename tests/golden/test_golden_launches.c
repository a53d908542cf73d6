/* test_golden_launches.c: what kernels make of problems, held to tests/golden/launches.txt: a line for each architecture, family and
 * operation, of kernels of the sets tiny and default on problems that a fixed seed draws for them: how many pairs were asked and served, and
 * hashes of the reasons of refusals, of launches, of expected times and features, and of the texts that families write for the compiler. A
 * new family adds lines and changes none.
 * That these are right is for the tests that run kernels; what changes them unmeant is found here. `make golden` (KW_GOLDEN_WRITE=1)
 * remakes the file. */
#include "base/hash.h"
#include "base/os/file.h"
#include "base/statistics/random.h"
#include "check/legal/legal_problems.h"
#include "config/catalog.h"
#include "config/arch/gpu_arch.h"
#include "config/arch/isa.h"
#include "predict/features/features_native.h"
#include "predict/predict.h"
#include "space/enumerate.h"
#include "support/kw_test.h"

#include <math.h>

enum { PAIRS = 120, TEXTS = 4 };

/* Kernels of an architecture, and what a line of it is made from. */
typedef struct group {
    kw_target target;
    kw_catalog catalog;
    kw_native_features *features;
    double *row;
    const kw_config **of_line;
    kw_text refusals, launches, expected, texts;
    size_t served;
} group;

static bool keep(void *user, const kw_config *config) {
    return kw_catalog_add(user, config, NULL, NULL) == KW_OK;
}

static void put(kw_text *out, int64_t value) {
    kw_text_add_bytes(out, &value, sizeof value);
}

/* In single precision, so that it is the same whatever a compiler makes of the arithmetic. */
static void put_real(kw_text *out, double value) {
    float rounded = isnan(value) ? -1.5f : (float)value;
    kw_text_add_bytes(out, &rounded, sizeof rounded);
}

static void put_map(kw_text *out, const kw_map *map) {
    const int64_t whole[] = {map->tensor, map->copied, map->copied_at, map->dtype, map->rank, map->swizzle, map->pixels};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        put(out, whole[i]);
    }
    for (int i = 0; i < map->rank; i++) {
        put(out, map->extent[i]);
        put(out, i ? map->stride[i - 1] : 0);
        put(out, map->box[i]);
    }
    for (int i = 0; i < 3; i++) {
        put(out, map->low[i]);
        put(out, map->count[i]);
        put(out, map->step[i]);
    }
}

static void put_launch(kw_text *out, const kw_launch *launch) {
    put(out, launch->stages);
    for (int i = 0; i < launch->stages; i++) {
        put(out, launch->stage[i].units);
        put(out, launch->stage[i].packs);
        put(out, launch->stage[i].threads);
        put(out, launch->early[i]);
    }
    put(out, launch->packed_bytes);
    put(out, launch->shared_bytes);
    put(out, launch->thread_bytes);
    for (int i = 0; i < KW_PARAMS_WORDS; i++) {
        put(out, launch->params.word[i]);
    }
    for (int i = 0; i < KW_MAPS; i++) {
        put_map(out, &launch->map[i]);
    }
    put_real(out, launch->multiply_adds);
    put_real(out, launch->loads);
    put_real(out, launch->copied_bytes);
    for (int i = 0; i < KW_CACHE_REUSE_MAX; i++) {
        put_real(out, launch->rereads[i].bytes);
        put(out, launch->rereads[i].between);
    }
}

/* A category by its word, where it has one. */
static uint64_t hash_of_feature(const kw_feature *feature, double value) {
    char text[160];
    int left = feature->words ? (int)value + 1 : 0;
    kw_scan scan = kw_scan_string(feature->words ? feature->words : "");
    kw_word word = {0};
    while (left > 0 && kw_scan_word(&scan, &word)) {
        left--;
    }
    int length = word.size ? snprintf(text, sizeof text, "%s %.*s", feature->name, KW_WORD(word))
                           : snprintf(text, sizeof text, "%s %.9g", feature->name, (double)(float)value);
    assert_in_range(length, 1, (int)sizeof text - 1);
    return kw_hash64(text, (size_t)length);
}

/* Of the columns that the kernel has, by their names and in no order, and without its family's place in the table: a new family, whose axes
 * are new columns anywhere, changes no line of another. */
static uint64_t sum_of_features(const kw_feature_table *table, const double *row) {
    uint64_t sum = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (!isnan(row[i]) && strcmp(table->features[i].name, "family")) {
            sum += hash_of_feature(&table->features[i], row[i]);
        }
    }
    return sum;
}

/* The catalog's kernel, with what the problem wants in its text. */
static void ask(group *g, const kw_config *listed, const kw_problem *problem) {
    kw_error err = {0};
    kw_launch launch = {0};
    kw_config special, *config = &special;
    if (kw_config_serves(config, listed, problem, &g->target, &err)) {
        kw_text_addf(&g->refusals, "%s\n", err.text);
        return;
    }
    g->served++;
    kw_config_launch(config, problem, &g->target, &launch);
    put_launch(&g->launches, &launch);
    double ns = kw_predict_ns(config, problem, &g->target, &launch);
    put_real(&g->expected, ns);
    kw_native_features_problem sight;
    kw_native_problem_read(&sight, problem, &g->target);
    kw_native_features_fill_problem(g->features, g->row, &sight);
    kw_native_features_fill_config(g->features, g->row, config);
    kw_native_features_tiles tiles = kw_native_features_tiles_of(config);
    kw_native_features_fill_tiled(g->features, g->row, &sight, &tiles, &launch, ns);
    put(&g->expected, (int64_t)sum_of_features(kw_native_features_table(g->features), g->row));
}

static void add_hash(kw_text *out, kw_text *hashed, const char *end) {
    char hash[KW_HASH_TEXT];
    assert_false(hashed->failed);
    kw_hash_text(hash, hashed->size ? hashed->data : "", hashed->size);
    kw_text_addf(out, " %.12s%s", hash, end);
    kw_text_drop(hashed);
}

/* Of the catalog's kernels of a family and operation. */
static void add_line(kw_text *out, group *g, const kw_family *family, kw_op op) {
    uint64_t random = 20261123;
    size_t count = 0;
    g->served = 0;
    for (size_t i = 0; i < g->catalog.count; i++) {
        const kw_config *config = &g->catalog.configs[i];
        if (config->family == family && config->op == op) {
            g->of_line[count++] = config;
        }
    }
    for (int i = 0; i < PAIRS && count; i++) {
        static const int64_t threads[] = {1, 2, 3, 64};
        const kw_config *config = g->of_line[kw_random_below(&random, count)];
        kw_problem problem = legal_problem_draw(&random, config, i % 2 ? LEGAL_USUAL : LEGAL_SMALL);
        g->target.units = g->target.backend == KW_BACKEND_CPU ? threads[i % 4] : g->target.units;
        ask(g, config, &problem);
        if (i < TEXTS && family->emit) {
            family->emit(config, &g->texts);
        }
    }
    if (!count) {
        return;
    }
    kw_text_addf(out, "%s %s %s %d %zu", g->target.arch, family->name, kw_op_name(op), PAIRS, g->served);
    add_hash(out, &g->refusals, "");
    add_hash(out, &g->launches, "");
    add_hash(out, &g->expected, "");
    add_hash(out, &g->texts, "\n");
}

static void add_arch(kw_text *out, kw_native_features *features, const kw_target *target) {
    static const char *const sets[] = {"tiny", "default"};
    group g = {.target = *target, .features = features};
    kw_error err = {0};
    for (int i = 0; i < 2; i++) {
        kw_space_options options = {.size = sizeof(kw_space_options), .set = sets[i], .arch = g.target.arch};
        assert_ok(kw_enumerate(&options, keep, &g.catalog, &err), &err);
    }
    g.row = calloc(kw_native_features_table(features)->count, sizeof *g.row);
    g.of_line = calloc(g.catalog.count, sizeof *g.of_line);
    assert_true(g.row && g.of_line);
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        for (int op = 0; op < KW_OP_COUNT; op++) {
            add_line(out, &g, *family, (kw_op)op);
        }
    }
    free(g.row);
    free(g.of_line);
    kw_catalog_drop(&g.catalog);
}

/* The first line that differs. */
static void compare_lines(const char *old, const char *new) {
    kw_scan old_scan = kw_scan_string(old), new_scan = kw_scan_string(new);
    for (bool more = true; more;) {
        kw_word was = {0}, is = {0};
        more = kw_scan_line(&old_scan, &was);
        more |= kw_scan_line(&new_scan, &is);
        if (was.size != is.size || (is.size && memcmp(was.at, is.at, is.size))) {
            fail_msg("launches.txt has '%.*s', it is '%.*s'; if that is wanted, run `make golden`", (int)was.size, was.at, (int)is.size,
                     is.at);
        }
    }
}

static void kernels_answer_as_the_golden_file_says(void **state) {
    (void)state;
    static const char path[] = KW_GOLDEN_FOLDER "/launches.txt";
    kw_text out = {0};
    kw_error err = {0};
    kw_native_features *features = NULL;
    assert_ok(kw_native_features_open(&features, &err), &err);
    kw_text_add(
        &out, "# made by `make golden`: architecture, family, operation, pairs, pairs served, hashes of refusals, of launches, of expected "
              "times and features, of texts for the compiler\n");
    for (const kw_cpu_arch *cpu = kw_cpu_archs; cpu->name; cpu++) {
        kw_target target = {
            .backend = KW_BACKEND_CPU, .lanes = cpu->lanes, .registers = cpu->registers, .l1 = 32768, .l2 = 1048576, .l3 = 33554432};
        snprintf(target.arch, sizeof target.arch, "%s", cpu->name);
        add_arch(&out, features, &target);
    }
    for (const kw_gpu_arch *gpu = kw_gpu_archs; gpu->name; gpu++) {
        add_arch(&out, features, &gpu->typical);
    }
    assert_false(out.failed);
    if (getenv("KW_GOLDEN_WRITE")) {
        assert_int_equal(kw_file_replace(path, out.data, out.size, 0644, &err), KW_OK);
    } else {
        kw_arena arena = {0};
        char *old = NULL;
        size_t size = 0;
        assert_int_equal(kw_file_read(&arena, path, 1 << 20, &old, &size, &err), KW_OK);
        compare_lines(old, out.data);
        kw_arena_drop(&arena);
    }
    kw_native_features_close(&features);
    kw_text_drop(&out);
}

int main(void) {
    unsetenv("KW_RULES");
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_answer_as_the_golden_file_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
