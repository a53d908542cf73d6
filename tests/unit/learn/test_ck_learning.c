/* test_ck_learning.c: rows of CK Tile's kernels, which nothing here can generate, are learned from and evaluated like any other. */
#include "kernelwright_tune/evaluate.h"
#include "kernelwright_tune/learn.h"
#include "kernelwright_tune/store.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <stdlib.h>

static char folder[SCRATCH_MAX], store_path[2 * SCRATCH_MAX];
static const char *const stores[] = {store_path};
static bool has_library;

static int set_up(void **state) {
    (void)state;
    static const char *const files[] = {"conv_forward_bf16.csv.gz", "gemm_fp16_rcr.json.gz", "gemm_fp8_rcr.log.gz"};
    kw_error err = {0};
    kw_store *store = NULL;
    kw_row defaults = {.packed = true};
    const char *library = getenv("KW_LIGHTGBM");
    has_library = library && *library;
    scratch_make(folder);
    kw_status status = kw_target_text(defaults.target, sizeof defaults.target, "gfx950", &err);
    status = status ? status : kw_store_open(&store, scratch_path(store_path, folder, "ck.db"), KW_STORE_WRITE, &err);
    for (size_t i = 0; i < sizeof files / sizeof *files && !status; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", KW_CK_SAMPLES, files[i]);
        status = kw_store_import(store, NULL, path, &defaults, NULL, &err);
    }
    kw_store_close(&store);
    if (status) {
        print_error("%s\n", err.text);
    }
    return status ? -1 : 0;
}

static int tear_down(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

static kw_train_options small_training(const char *out, kw_op op) {
    return (kw_train_options){.size = sizeof(kw_train_options),
                              .stores = stores,
                              .store_count = 1,
                              .out = out,
                              .by_op = true,
                              .op = op,
                              .trees = 40,
                              .rounds = -1,
                              .folds = 3};
}

static void foreign_rows_are_evaluated(void **state) {
    (void)state;
    static const char *const selectors[] = {"estimate", "single", "random"};
    for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++) {
        kw_evaluation *evaluation = NULL;
        kw_error err = {0};
        kw_evaluation_options options = {.size = sizeof(kw_evaluation_options), .stores = stores, .store_count = 1, .by = selectors[i]};
        if (kw_evaluation_open(&evaluation, &options, &err)) {
            fail_msg("%s: %s", selectors[i], err.text);
        }
        const kw_evaluation_metrics *all = kw_evaluation_all(evaluation);
        assert_int_equal(all->problem_groups, 54 + 60);
        assert_true(all->candidates_min == 9 && all->candidates_max == 12);
        assert_true(all->mean.value > 0.3 && all->mean.value <= 1);
        kw_evaluation_close(&evaluation);
    }
}

/* In the published features, by what these were made from. */
static void foreign_rows_are_learned_from(void **state) {
    (void)state;
    static const struct {
        kw_op op;
        const char *name;
        int64_t pairs, failed, groups;
    } cases[] = {{KW_CONV_FWD, "conv", 486, 18, 54}, {KW_GEMM, "gemm", 720, 6, 60}};
    if (!has_library) {
        skip();
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[2 * SCRATCH_MAX];
        kw_train_report report;
        kw_error err = {0};
        kw_evaluation *evaluation = NULL;
        kw_train_options options = small_training(scratch_path(out, folder, cases[i].name), cases[i].op);
        if (kw_train(&options, &report, &err)) {
            fail_msg("%s: %s", cases[i].name, err.text);
        }
        assert_int_equal(report.pairs, cases[i].pairs);
        assert_int_equal(report.failed, cases[i].failed);
        assert_int_equal(report.foreign, 0);
        assert_string_equal(report.quantity, "tflops");
        assert_int_equal(report.shapes.problem_groups, cases[i].groups);
        assert_true(report.shapes.mean > 0.9); /* the rule that made the times can be learned */
        kw_evaluation_options evaluated = {.size = sizeof(kw_evaluation_options), .stores = stores, .store_count = 1, .by = out};
        assert_int_equal(kw_evaluation_open(&evaluation, &evaluated, &err), KW_FAILED);
        assert_non_null(strstr(err.text, "was trained on"));
        evaluated.in_sample = true;
        if (kw_evaluation_open(&evaluation, &evaluated, &err)) {
            fail_msg("%s: %s", cases[i].name, err.text);
        }
        assert_int_equal(kw_evaluation_all(evaluation)->problem_groups, cases[i].groups);
        assert_true(kw_evaluation_all(evaluation)->mean.value > 0.9 && kw_evaluation_all(evaluation)->failed == 0);
        kw_evaluation_close(&evaluation);
    }
}

/* In the published folder's form: what adopts a folder of theirs takes it as it is. */
static void several_targets_share_a_folder(void **state) {
    (void)state;
    static const char *const files[] = {"feature_spec.json",
                                        "train_manifest.json",
                                        "model_tflops.lgbm.gz",
                                        "model_latency.lgbm.gz",
                                        "model_bandwidth.lgbm.gz",
                                        "model.spec",
                                        "model_latency.spec",
                                        "model_bandwidth.spec",
                                        "cv_metrics_tflops.json",
                                        "cv_metrics_latency.json",
                                        "feature_importances_tflops.json",
                                        "feature_importances_bandwidth.json"};
    char out[2 * SCRATCH_MAX], back[2 * SCRATCH_MAX], spec[4 * SCRATCH_MAX];
    kw_error err = {0};
    kw_adopt_report adopted;
    if (!has_library) {
        skip();
    }
    kw_train_options options = small_training(scratch_path(out, folder, "forward"), KW_CONV_FWD);
    options.quantity = "tflops,latency,bandwidth";
    if (kw_train(&options, NULL, &err)) {
        fail_msg("%s", err.text);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[4 * SCRATCH_MAX];
        size_t size;
        snprintf(path, sizeof path, "%s/%s", out, files[i]);
        free(scratch_read(path, &size));
        assert_true(size > 0);
    }
    assert_int_equal(scratch_count(out, ".lgbm.gz"), 3);
    kw_adopt_options adopt = {.size = sizeof(kw_adopt_options), .folder = out, .out = scratch_path(back, folder, "back")};
    if (kw_model_adopt(&adopt, &adopted, &err)) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(adopted.quantities, "tflops latency bandwidth");
    assert_true(adopted.features == 97 && adopted.op == KW_CONV_FWD && adopted.dtype == KW_BF16);
    snprintf(spec, sizeof spec, "%s/model_latency.spec", out);
    kw_evaluation *evaluation = NULL;
    kw_evaluation_options evaluated = {.size = sizeof(kw_evaluation_options), .stores = stores, .store_count = 1, .by = spec};
    assert_int_equal(kw_evaluation_open(&evaluation, &evaluated, &err), KW_FAILED); /* what it was trained on is known of it, too */
    evaluated.in_sample = true;
    if (kw_evaluation_open(&evaluation, &evaluated, &err)) {
        fail_msg("%s", err.text);
    }
    const kw_rate_errors *rates = kw_evaluation_rates(evaluation);
    assert_int_equal(rates[KW_RATE_LATENCY].rows, 468);
    assert_true(rates[KW_RATE_LATENCY].r2 > 0.5 && rates[KW_RATE_LATENCY].rmse >= rates[KW_RATE_LATENCY].mae);
    kw_evaluation_close(&evaluation);
}

static void lists_of_quantities_have_rules(void **state) {
    (void)state;
    static const char *const lists[] = {"tflops,", ",tflops", "tflops,tflops", "tflops,choose", "tflops,speed"};
    char out[2 * SCRATCH_MAX];
    if (!has_library) {
        skip();
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        kw_error err = {0};
        kw_train_options options = small_training(scratch_path(out, folder, "refused"), KW_CONV_FWD);
        options.quantity = lists[i];
        assert_true(kw_train(&options, NULL, &err) == (i == 4 ? KW_MISSING : KW_ILLEGAL));
        assert_non_null(strstr(err.text, i == 4 ? "speed" : lists[i]));
        assert_int_equal(scratch_count(folder, "refused"), 0);
    }
}

/* In our own features a foreign kernel is one of an unknown family. */
static void foreign_rows_are_learned_from_in_native_features(void **state) {
    (void)state;
    char out[2 * SCRATCH_MAX];
    kw_train_report report;
    kw_error err = {0};
    if (!has_library) {
        skip();
    }
    kw_train_options options = small_training(scratch_path(out, folder, "native"), KW_CONV_FWD);
    options.features = "native";
    if (kw_train(&options, &report, &err)) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(report.quantity, "ratio");
    assert_true(report.pairs == 486 && report.shapes.problem_groups == 54 && report.shapes.mean > 0.9);
}

static void published_features_are_of_one_operation(void **state) {
    (void)state;
    char out[2 * SCRATCH_MAX];
    kw_error err = {0};
    if (!has_library) {
        skip();
    }
    kw_train_options options = small_training(scratch_path(out, folder, "mixed"), 0);
    options.by_op = false;
    assert_int_equal(kw_train(&options, NULL, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "choose by --op"));
    options.features = "origami";
    assert_int_equal(kw_train(&options, NULL, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "native ck"));
    assert_int_equal(scratch_count(folder, "mixed"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(foreign_rows_are_evaluated),
        cmocka_unit_test(foreign_rows_are_learned_from),
        cmocka_unit_test(several_targets_share_a_folder),
        cmocka_unit_test(lists_of_quantities_have_rules),
        cmocka_unit_test(foreign_rows_are_learned_from_in_native_features),
        cmocka_unit_test(published_features_are_of_one_operation),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
