/* test_training_table.c: the table for a trainer of one's own has the pairs, features and labels of the data set. */
#include "learn/data/split/folds.h"
#include "learn/data/labels.h"
#include "support/kw_test.h"
#include "support/rows/made_rows.h"
#include "support/scratch.h"

#include <kernelwright_tune/learn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROBLEMS = 12 };

static char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX];
static const char *const paths[] = {path};
static made_rows made;

static int set_up(void **state) {
    (void)state;
    scratch_make(folder);
    scratch_path(path, folder, "all.db");
    made_rows_make(&made, PROBLEMS);
    made_rows_save(&made, path, 0, 1);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    made_rows_free(&made);
    scratch_remove(folder);
    return 0;
}

static void it_is_what_training_sees(void **state) {
    (void)state;
    kw_error err = {0};
    kw_training_table *table = NULL;
    kw_dataset dataset;
    kw_native_features *native = NULL;
    double *rows = NULL;
    assert_ok(kw_training_table_open(
                  &table,
                  &(kw_training_options){.size = sizeof(kw_training_options), .stores = paths, .store_count = 1, .quantity = "time"}, &err),
              &err);
    assert_ok(kw_dataset_open(&dataset, paths, 1, NULL, &err), &err);
    assert_ok(kw_native_features_open(&native, &err), &err);
    assert_ok(kw_dataset_features(&rows, &dataset, native, &err), &err);
    const kw_training_view *view = kw_training_table_view(table);
    const kw_feature_table *features = kw_native_features_table(native);
    double *times = calloc(dataset.pair_count, sizeof *times);
    float *labels = calloc(dataset.pair_count, sizeof *labels);
    kw_label_times(times, &dataset);
    kw_labels_make(labels, &dataset, times, KW_PREDICTS_TIME);
    assert_int_equal(view->pairs, dataset.pair_count);
    assert_int_equal(view->groups, PROBLEMS);
    assert_int_equal(view->columns, features->count);
    assert_memory_equal(view->values, rows, view->pairs * view->columns * sizeof *rows);
    assert_memory_equal(view->time_ns, times, view->pairs * sizeof *times);
    assert_memory_equal(view->label, labels, view->pairs * sizeof *labels);
    for (size_t i = 0; i < view->columns; i++) {
        assert_string_equal(view->column[i].name, features->features[i].name);
    }
    for (size_t i = 0; i < view->pairs; i++) {
        char problem[KW_PROBLEM_TEXT_MAX], config[KW_CONFIG_TEXT_MAX], own[KW_CONFIG_TEXT_MAX];
        const kw_problem_group *group = &dataset.problem_groups[view->group[i]];
        assert_true(i >= group->first && i < group->first + group->count);
        assert_true(view->shape[i] == kw_fold_group(group, KW_BY_SHAPE));
        assert_int_equal(view->outcome[i], dataset.pairs[i].outcome);
        assert_ok(kw_training_pair_text(problem, config, table, i, &err), &err);
        kw_config_print(own, sizeof own, &dataset.pairs[i].config);
        assert_string_equal(config, own);
    }
    free(times);
    free(labels);
    free(rows);
    kw_native_features_close(&native);
    kw_dataset_close(&dataset);
    kw_training_table_close(&table);
    assert_null(table);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    kw_error err = {0};
    kw_training_table *table = NULL;
    char problem[KW_PROBLEM_TEXT_MAX], config[KW_CONFIG_TEXT_MAX];
    kw_training_options options = {.size = sizeof options, .stores = paths, .store_count = 1, .quantity = "speed"};
    assert_int_equal(kw_training_table_open(&table, &options, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "quantity speed is not known"));
    options = (kw_training_options){.size = sizeof options, .stores = (const char *[]){"/nonexistent/r.db"}, .store_count = 1};
    assert_int_equal(kw_training_table_open(&table, &options, &err), KW_MISSING);
    assert_null(table);
    options = (kw_training_options){.size = sizeof options, .stores = paths, .store_count = 1};
    assert_ok(kw_training_table_open(&table, &options, &err), &err);
    size_t pairs = kw_training_table_view(table)->pairs;
    assert_int_equal(kw_training_pair_text(problem, config, table, pairs, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "count from 0"));
    kw_training_table_close(&table);
    kw_training_table_close(&table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_what_training_sees),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
