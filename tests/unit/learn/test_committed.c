/* test_committed.c: training on rows that the repository holds, by the library that training loads: the same file twice, held-out
 * predictions that are worth more than chance, and a forest that scores every row as the library itself does. Skipped, with the reason,
 * where there is no LightGBM. */
#include "base/os/file.h"
#include "base/format/gzip.h"
#include "predict/forest/forest.h"
#include "support/kw_test.h"
#include "support/scratch.h"
#include "learn/data/dataset.h"
#include "learn/model/forest_text.h"
#include "learn/fit/lightgbm.h"

#include <kernelwright_tune.h>

#include <dlfcn.h>

static const char *const stores[] = {KW_DATA "/x86-64-v4-bf16-fp32-gemm.jsonl.gz"};

static char folder[SCRATCH_MAX], library_path[4096], reason[sizeof((kw_error *)0)->text];

static int set_up(void **state) {
    (void)state;
    kw_lightgbm *library = NULL;
    kw_error err = {0};
    scratch_make(folder);
    if (kw_lightgbm_open(&library, NULL, &err)) {
        snprintf(reason, sizeof reason, "%s", err.text);
    } else {
        snprintf(library_path, sizeof library_path, "%s", kw_lightgbm_path(library));
    }
    kw_lightgbm_close(&library);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

static void need_library(void) {
    if (*reason) {
        print_message("%s\n", reason);
        skip();
    }
}

static void train(const char *out, int32_t threads, kw_train_report *report) {
    kw_error err = {0};
    kw_train_options options = {.size = sizeof(kw_train_options),
                                .stores = stores,
                                .store_count = 1,
                                .out = out,
                                .folds = 2,
                                .trees = 60,
                                .leaves = 24,
                                .rounds = -1,
                                .threads = threads};
    assert_ok(kw_train(&options, report, &err), &err);
}

static void rows_of_the_repository_train_the_same_model_twice(void **state) {
    (void)state;
    char one[2 * SCRATCH_MAX], two[2 * SCRATCH_MAX], path[4 * SCRATCH_MAX];
    kw_train_report first, second;
    size_t sizes[2];
    need_library();
    train(scratch_path(one, folder, "one"), 1, &first);
    train(scratch_path(two, folder, "two"), 2, &second);
    snprintf(path, sizeof path, "%s/model.lgbm.gz", one);
    char *a = scratch_read(path, &sizes[0]);
    snprintf(path, sizeof path, "%s/model.lgbm.gz", two);
    char *b = scratch_read(path, &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(a, b, sizes[0]);
    assert_string_equal(first.digest, second.digest);
    assert_int_equal(first.problem_groups, 150);
    assert_int_equal(first.foreign, 0);
    assert_true(first.shapes.mean > 0.97 && first.shapes.p10 > 0.9);
    free(a);
    free(b);
}

static void its_held_out_predictions_can_be_evaluated(void **state) {
    (void)state;
    char path[4 * SCRATCH_MAX];
    kw_evaluation *by[2] = {NULL, NULL};
    kw_error err = {0};
    need_library();
    snprintf(path, sizeof path, "%s/one/oof.csv.gz", folder);
    kw_evaluation_options options = {.size = sizeof(kw_evaluation_options), .stores = stores, .store_count = 1, .by = path};
    assert_ok(kw_evaluation_open(&by[0], &options, &err), &err);
    options.by = "random";
    assert_ok(kw_evaluation_open(&by[1], &options, &err), &err);
    assert_int_equal(kw_evaluation_all(by[0])->problem_groups, 150);
    assert_true(kw_evaluation_all(by[0])->mean.low > kw_evaluation_all(by[1])->mean.high);
    assert_true(kw_evaluation_all(by[0])->coverage.value > 0.999);
    kw_evaluation_close(&by[0]);
    kw_evaluation_close(&by[1]);
}

/* --- equal to the library --------------------------------------------------------------------------------------------- */

enum { FLOAT64 = 1, RAW_SCORE = 1 };

typedef struct peer {
    int (*open)(const char *text, int *iterations, void **model);
    int (*predict)(void *model, const void *data, int type, int32_t rows, int32_t columns, int row_major, int kind, int first, int count,
                   const char *parameters, int64_t *length, double *result);
    int (*close)(void *model);
} peer;

static void find(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    assert_non_null(symbol);
    memcpy(function, &symbol, sizeof symbol);
}

static void its_forest_scores_every_row_as_lightgbm_does(void **state) {
    (void)state;
    char path[4 * SCRATCH_MAX];
    kw_dataset dataset;
    kw_native_features *own = NULL;
    kw_forest *forest = NULL;
    kw_text text = {0};
    kw_error err = {0};
    size_t size;
    need_library();
    snprintf(path, sizeof path, "%s/one/model.lgbm.gz", folder);
    char *packed = scratch_read(path, &size);
    assert_ok(kw_gzip_unpack_any(&text, packed, size, 1 << 28, &err), &err);
    assert_ok(kw_forest_load(&forest, path, &err), &err);
    assert_ok(kw_dataset_open(&dataset, stores, 1, NULL, &err), &err);
    assert_ok(kw_native_features_open(&own, &err), &err);
    double *rows = NULL, *ours = calloc(dataset.pair_count, sizeof *ours), *theirs = calloc(dataset.pair_count, sizeof *theirs);
    assert_ok(kw_dataset_features(&rows, &dataset, own, &err), &err);
    size_t columns = kw_native_features_table(own)->count;
    kw_forest_score(forest, rows, dataset.pair_count, ours);

    void *library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL), *model = NULL;
    peer p;
    int iterations = 0;
    int64_t length = 0;
    assert_non_null(library);
    find(library, "LGBM_BoosterLoadModelFromString", &p.open);
    find(library, "LGBM_BoosterPredictForMat", &p.predict);
    find(library, "LGBM_BoosterFree", &p.close);
    assert_int_equal(p.open(kw_text_string(&text), &iterations, &model), 0);
    assert_int_equal(p.predict(model, rows, FLOAT64, (int32_t)dataset.pair_count, (int32_t)columns, 1, RAW_SCORE, 0, -1, "num_threads=1",
                               &length, theirs),
                     0);
    assert_int_equal(length, dataset.pair_count);
    for (size_t i = 0; i < dataset.pair_count; i++) {
        if (memcmp(&ours[i], &theirs[i], sizeof *ours) != 0) {
            fail_msg("row %zu: %a is not LightGBM's %a", i, ours[i], theirs[i]);
        }
    }
    p.close(model);
    free(packed);
    free(rows);
    free(ours);
    free(theirs);
    kw_text_drop(&text);
    kw_forest_drop(&forest);
    kw_native_features_close(&own);
    kw_dataset_close(&dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_the_repository_train_the_same_model_twice),
        cmocka_unit_test(its_held_out_predictions_can_be_evaluated),
        cmocka_unit_test(its_forest_scores_every_row_as_lightgbm_does),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
