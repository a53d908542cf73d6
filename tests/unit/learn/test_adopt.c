/* test_adopt.c: models in the published folders' format are made ours, and score as LightGBM scored them: tests/data/ck/make_models.py
 * trained them and worked the columns out by itself. What does not say enough, or something else than its forest, is refused. */
#include "base/format/gzip.h"
#include "kernelwright_tune/learn.h"
#include "predict/ck/ck_kernels.h"
#include "predict/ck/ck_rows.h"
#include "predict/model_parts.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { PAIRS = 60, SPECS = 3 };

static char folder[SCRATCH_MAX];

static int set_up(void **state) {
    (void)state;
    scratch_make(folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

static const struct published {
    const char *name;
    kw_op op;
    kw_dtype dtype;
    int64_t features;
    const char *quantities, *specs[SPECS];
} published[] = {
    {"gemm_universal_fp8_gfx950",
     KW_GEMM,
     KW_FP8,
     55,
     "plain_tflops latency plain_bandwidth",
     {"model.spec", "model_latency.spec", "model_bandwidth.spec"}},
    {"gemm_universal_fp16_gfx950",
     KW_GEMM,
     KW_FP16,
     72,
     "tflops latency bandwidth",
     {"model.spec", "model_latency.spec", "model_bandwidth.spec"}},
    {"grouped_conv_bwd_data_bf16_gfx950", KW_CONV_BWD_DATA, KW_BF16, 83, "plain_tflops", {"model.spec"}},
    {"grouped_conv_forward_bf16_gfx950", KW_CONV_FWD, KW_BF16, 97, "tflops", {"model.spec"}},
};
enum { PUBLISHED = sizeof published / sizeof *published };

static const char *published_path(char path[2 * SCRATCH_MAX], const char *name, const char *file) {
    snprintf(path, 2 * SCRATCH_MAX, "%s/models/%s%s%s", KW_CK_SAMPLES, name, *file ? "/" : "", file);
    return path;
}

typedef struct scored_pair {
    kw_problem problem;
    kw_config config;
    kw_launch launch;
    double score[SPECS];
} scored_pair;

static size_t read_scored(scored_pair pairs[PAIRS], const struct published *p, const kw_target *target) {
    char path[2 * SCRATCH_MAX], *rest = NULL;
    size_t size, count = 0;
    char *text = scratch_read(published_path(path, p->name, "scores.txt"), &size);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *cells = NULL;
        kw_error err = {0};
        const char *problem = strtok_r(line, "|", &cells), *name = strtok_r(NULL, "|", &cells);
        scored_pair *pair = &pairs[count++];
        assert_true(count <= PAIRS);
        if (kw_problem_parse(&pair->problem, problem, &err) || kw_ck_config_read(&pair->config, name, &err) ||
            kw_ck_config_fits(&pair->config, &pair->problem, &err)) {
            fail_msg("%s", err.text);
        }
        pair->config.family->launch(&pair->config, &pair->problem, target, &pair->launch);
        for (int i = 0; i < SPECS && p->specs[i]; i++) {
            pair->score[i] = strtod(strtok_r(NULL, "|", &cells), NULL);
        }
    }
    free(text);
    return count;
}

/* The raw score of the pair, by a row of the model's columns. */
static double raw_score(const kw_model *model, const scored_pair *pair, const kw_target *target) {
    double row[KW_CK_FEATURES_MAX], columns[KW_CK_FEATURES_MAX], score = 0;
    kw_ck_row(row, &pair->config, &pair->problem, kw_ck_features_hardware_of(target->arch));
    for (size_t i = 0; i < model->facts.features; i++) {
        columns[i] = row[model->column[i]];
    }
    kw_forest_score(model->forest, columns, 1, &score);
    return score;
}

/* All pairs' kernels in one ranking, asked for one problem after the other. */
static void check_ranking(const kw_model *model, const scored_pair *pairs, size_t count, int spec, const kw_target *target) {
    const kw_config *configs[PAIRS];
    const kw_launch *launches[PAIRS];
    double estimates[PAIRS], ns[PAIRS];
    kw_ranking *ranking = NULL;
    for (size_t i = 0; i < count; i++) {
        configs[i] = &pairs[i].config;
        estimates[i] = 1000;
    }
    assert_int_equal(kw_ranking_open(&ranking, model, configs, count, NULL), KW_OK);
    for (size_t i = 0; i < count; i++) {
        kw_native_features_problem sight;
        for (size_t k = 0; k < count; k++) {
            launches[k] = kw_ck_config_fits(configs[k], &pairs[i].problem, NULL) ? NULL : &pairs[i].launch;
        }
        kw_native_problem_read(&sight, &pairs[i].problem, target);
        kw_ranking_score(ranking, &pairs[i].problem, target, launches, estimates, ns);
        double wanted = kw_model_rate_ns(model->facts.quantity, pairs[i].score[spec], sight.dense_flops, sight.bytes);
        if (ns[i] != wanted) {
            fail_msg("pair %zu: %a ns instead of %a", i, ns[i], wanted);
        }
    }
    kw_ranking_close(&ranking);
}

static void scores_are_lightgbms_to_the_last_bit(void **state) {
    (void)state;
    for (size_t m = 0; m < PUBLISHED; m++) {
        const struct published *p = &published[m];
        char from[2 * SCRATCH_MAX], out[2 * SCRATCH_MAX], path[4 * SCRATCH_MAX];
        scored_pair pairs[PAIRS];
        kw_adopt_report report;
        kw_error err = {0};
        kw_adopt_options options = {
            .size = sizeof(kw_adopt_options), .folder = published_path(from, p->name, ""), .out = scratch_path(out, folder, p->name)};
        if (kw_model_adopt(&options, &report, &err)) {
            fail_msg("%s: %s", p->name, err.text);
        }
        assert_true(report.op == p->op && report.dtype == p->dtype && report.features == p->features);
        assert_string_equal(report.quantities, p->quantities);
        assert_string_equal(report.arch, "gfx950");
        for (int i = 0; i < SPECS && p->specs[i]; i++) {
            kw_model *model = NULL;
            snprintf(path, sizeof path, "%s%s%s", out, i ? "/" : "", i ? p->specs[i] : "");
            if (kw_model_open(&model, path, &err)) {
                fail_msg("%s", err.text);
            }
            const kw_target *target = &model->spec.targets[0];
            size_t count = read_scored(pairs, p, target);
            assert_int_equal(count, PAIRS);
            for (size_t k = 0; k < count; k++) {
                double score = raw_score(model, &pairs[k], target);
                if (score != pairs[k].score[i]) {
                    fail_msg("%s, pair %zu: %a is not LightGBM's %a", path, k, score, pairs[k].score[i]);
                }
            }
            check_ranking(model, pairs, count, i, target);
            kw_model_close(&model);
        }
    }
}

/* --- what is refused ---------------------------------------------------------------------------------------------------- */

/* A copy of a published folder as folder/name, with a part of its feature_spec.json replaced. */
static const char *copy_folder(char out[2 * SCRATCH_MAX], const char *from, const char *name, const char *part, const char *instead) {
    static const char *const files[] = {"model_tflops.lgbm.gz", "feature_spec.json", "train_manifest.json"};
    mkdir(scratch_path(out, folder, name), 0755);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[2 * SCRATCH_MAX], to[4 * SCRATCH_MAX];
        size_t size;
        char *data = scratch_read(published_path(path, from, files[i]), &size);
        snprintf(to, sizeof to, "%s/%s", out, files[i]);
        char *at = i == 1 && part ? strstr(data, part) : NULL;
        if (i == 1 && part && !at) {
            fail_msg("%s is not in the spec of %s", part, from);
        }
        if (at) {
            char *changed = calloc(1, size + strlen(instead) + 1);
            memcpy(changed, data, (size_t)(at - data));
            strcat(changed, instead);
            strcat(changed, at + strlen(part));
            scratch_write(to, changed, strlen(changed), 0644);
            free(changed);
        } else {
            scratch_write(to, data, size, 0644);
        }
        free(data);
    }
    return out;
}

#define CONV "grouped_conv_forward_bf16_gfx950"
#define GEMM "gemm_universal_fp16_gfx950"

static void a_spec_that_is_not_its_forests_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *from, *name, *part, *instead, *reason;
    } cases[] = {
        {CONV, "forward", "  \"Ho\",\n", "", "names 96 features and the forest has 97"},
        {CONV, "forward", "\"Ho\",\n  \"Wo\"", "\"Wo\",\n  \"Ho\"", "feature 12 is Wo, and Ho in the forest"},
        {GEMM, "gemm", "\"tile_m\"", "\"tile_q\"", "feature tile_q is none of the 72 published ones"},
        {GEMM, "gemm", "\"tile_m\"", "7", "(no text)"},
        {GEMM, "gemm", "\"tile_n\"", "\"tile_m\"", "named twice"},
        {GEMM, "gemm", "feature_names", "names", "no feature_names"},
        {GEMM, "gemm", "\"gfx950\"", "\"gfx951\"", "gfx951"},
        {GEMM, "gemm", "\"fp16\"", "\"fp17\"", "dtype \"fp17\""},
        {GEMM, "gemm", "\"gemm_universal\"", "\"fmha_fwd\"", "op_type \"fmha_fwd\""},
        {GEMM, "gemm", "\"dtype\"", "\"feature_encoding_version\": 2, \"dtype\"", "version 2"},
        {GEMM, "gemm", "\"dtype\"", "\"hardware\": {\"num_cus\": 304}, \"dtype\"", "hardware does not say simds_per_cu"},
        {GEMM, "gemm", "{", "[", "feature_spec.json"},
        {CONV, "sideways", NULL, NULL, "give it (--op)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[2 * SCRATCH_MAX];
        kw_error err = {0};
        scratch_remove(folder);
        mkdir(folder, 0755);
        kw_adopt_options options = {.size = sizeof(kw_adopt_options),
                                    .folder = copy_folder(out, cases[i].from, cases[i].name, cases[i].part, cases[i].instead)};
        if (!kw_model_adopt(&options, NULL, &err) || !strstr(err.text, cases[i].reason)) {
            fail_msg("%zu: %s", i, err.text);
        }
        assert_int_equal(scratch_count(folder, ".spec"), 0);
    }
}

static void what_is_not_there_is_named(void **state) {
    (void)state;
    char out[2 * SCRATCH_MAX], path[4 * SCRATCH_MAX];
    kw_error err = {0};
    kw_adopt_options options = {
        .size = sizeof(kw_adopt_options), .folder = copy_folder(out, GEMM, "gemm", NULL, NULL), .by_op = true, .op = KW_CONV_FWD};
    assert_int_equal(kw_model_adopt(&options, NULL, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "not of conv_fwd"));
    options.by_op = false;
    snprintf(path, sizeof path, "%s/model_tflops.lgbm.gz", out);
    remove(path);
    assert_int_equal(kw_model_adopt(&options, NULL, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "has no forest"));
    snprintf(path, sizeof path, "%s/feature_spec.json", out);
    remove(path);
    assert_int_equal(kw_model_adopt(&options, NULL, &err), KW_MISSING); /* else its logarithm would go unnoticed */
    assert_non_null(strstr(err.text, "feature_spec.json"));
}

/* --- what is said, is kept ------------------------------------------------------------------------------------------------ */

static void logarithms_and_constants_are_the_folders(void **state) {
    (void)state;
    static const char hardware[] = "\"hardware\": {\"num_cus\": 304, \"simds_per_cu\": 4, \"shader_engines\": 32, \"max_clock_mhz\": 2400, "
                                   "\"max_waves_per_cu\": 32, \"wavefront_size\": 64, \"lds_capacity\": 163840, \"l1_cache_kb\": 32, "
                                   "\"l2_cache_kb\": 4096, \"l3_cache_kb\": 262144, \"num_xcd\": 8}, \"dtype\"";
    char out[2 * SCRATCH_MAX];
    kw_error err = {0};
    kw_adopt_report report;
    kw_model *model = NULL;
    kw_adopt_options options = {.size = sizeof(kw_adopt_options), .folder = copy_folder(out, GEMM, "gemm", "\"dtype\"", hardware)};
    assert_int_equal(kw_model_adopt(&options, &report, &err), KW_OK);
    assert_string_equal(report.quantities, "tflops");
    assert_int_equal(kw_model_open(&model, out, &err), KW_OK);
    assert_true(model->spec.hardware.arch && model->spec.hardware.cus == 304 && model->spec.hardware.lds_bytes == 163840);
    assert_true(model->facts.rows == 540 && model->facts.problems == 45);
    kw_model_close(&model);
    options.folder = copy_folder(out, "grouped_conv_bwd_data_bf16_gfx950", "bwd_data", NULL, NULL);
    options.quantity = "tflops";
    assert_int_equal(kw_model_adopt(&options, &report, &err), KW_OK);
    assert_string_equal(report.quantities, "tflops");
}

/* As their C++ example asks its users to, and back. */
static void a_forest_may_be_unpacked_and_packed_again(void **state) {
    (void)state;
    char out[2 * SCRATCH_MAX], packed[4 * SCRATCH_MAX], plain[4 * SCRATCH_MAX];
    kw_error err = {0};
    kw_text text = {0}, again = {0};
    kw_model *model = NULL;
    size_t size;
    kw_adopt_options options = {.size = sizeof(kw_adopt_options), .folder = copy_folder(out, CONV, "forward", NULL, NULL)};
    assert_int_equal(kw_model_adopt(&options, NULL, &err), KW_OK);
    snprintf(packed, sizeof packed, "%s/model_tflops.lgbm.gz", out);
    snprintf(plain, sizeof plain, "%s/model_tflops.lgbm", out);
    char *data = scratch_read(packed, &size);
    assert_int_equal(kw_gzip_unpack_any(&text, data, size, 1 << 24, &err), KW_OK);
    remove(packed);
    scratch_write(plain, text.data, text.size, 0644);
    assert_int_equal(kw_model_open(&model, out, &err), KW_OK);
    kw_model_close(&model);
    assert_int_equal(kw_model_adopt(&options, NULL, &err), KW_OK); /* again, and from the text */
    remove(plain);
    assert_int_equal(kw_gzip_pack(&again, text.data, text.size, &err), KW_OK);
    scratch_write(packed, again.data, again.size, 0644);
    assert_int_equal(kw_model_open(&model, out, &err), KW_OK);
    kw_model_close(&model);
    text.data[text.size / 2]++;
    remove(packed);
    scratch_write(plain, text.data, text.size, 0644);
    assert_int_equal(kw_model_open(&model, out, &err), KW_MALFORMED);
    free(data);
    kw_text_drop(&text);
    kw_text_drop(&again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scores_are_lightgbms_to_the_last_bit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_spec_that_is_not_its_forests_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(logarithms_and_constants_are_the_folders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_forest_may_be_unpacked_and_packed_again, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
