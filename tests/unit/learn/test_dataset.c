/* test_dataset.c: rows into problem groups and pairs, and problem groups into folds. */
#include "support/rows/made_rows.h"
#include "support/kw_test.h"
#include "support/scratch.h"
#include "learn/data/dataset.h"
#include "learn/data/split/folds.h"

#include <math.h>

enum { PROBLEMS = 40, FOLDS = 5 };

static char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX];
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

static void open_set(kw_dataset *dataset, const char *const *paths, size_t count, const kw_dataset_filter *filter) {
    kw_error err = {0};
    if (kw_dataset_open(dataset, paths, count, filter, &err)) {
        fail_msg("%s", err.text);
    }
}

static void what_fits_is_there_whatever_came_of_it(void **state) {
    (void)state;
    kw_dataset dataset;
    size_t count[KW_OUTCOME_COUNT] = {0};
    open_set(&dataset, (const char *[]){path}, 1, NULL);
    assert_true(made.unfit > 0 && made.slow > 0 && made.failed > 0);
    assert_int_equal(dataset.pair_count, made.good + made.slow + made.failed);
    assert_int_equal(dataset.outcome[KW_UNFIT], made.unfit);
    assert_int_equal(dataset.foreign, 0);
    for (size_t i = 0; i < dataset.pair_count; i++) {
        count[dataset.pairs[i].outcome]++;
        assert_true(dataset.pairs[i].estimate_ns > 0);
        assert_true(dataset.pairs[i].launch.stages > 0);
    }
    assert_int_equal(count[KW_GOOD], made.good);
    assert_int_equal(count[KW_SLOW], made.slow);
    assert_int_equal(count[KW_CRASHED], made.failed);
    assert_int_equal(count[KW_UNFIT], 0);
    kw_dataset_close(&dataset);
}

static void pairs_of_a_contest_stand_together(void **state) {
    (void)state;
    kw_dataset dataset;
    size_t next = 0;
    open_set(&dataset, (const char *[]){path}, 1, NULL);
    assert_int_equal(dataset.problem_group_count, PROBLEMS);
    for (size_t c = 0; c < dataset.problem_group_count; c++) {
        const kw_problem_group *problem_group = &dataset.problem_groups[c];
        assert_int_equal(problem_group->first, next);
        assert_true(problem_group->packed && !problem_group->cold && !problem_group->holdout);
        for (size_t i = problem_group->first; i < problem_group->first + problem_group->count; i++) {
            assert_int_equal(dataset.pairs[i].config.op, problem_group->problem.op);
            assert_int_equal(dataset.pairs[i].config.dtype, problem_group->problem.dtype);
        }
        next += problem_group->count;
    }
    assert_int_equal(next, dataset.pair_count);
    kw_dataset_close(&dataset);
}

/* Cut in two stores, exported, compressed: the same rows are the same data set. */
static void the_way_rows_come_changes_nothing(void **state) {
    (void)state;
    kw_dataset dataset;
    kw_store *store = NULL;
    char names[4][2 * SCRATCH_MAX], digest[33];
    scratch_path(names[0], folder, "even.db");
    scratch_path(names[1], folder, "odd.db");
    scratch_path(names[2], folder, "all.jsonl.gz");
    scratch_path(names[3], folder, "all.csv");
    made_rows_save(&made, names[0], 0, 2);
    made_rows_save(&made, names[1], 1, 2);
    assert_int_equal(kw_store_open(&store, path, KW_STORE_READ, NULL), KW_OK);
    assert_int_equal(kw_store_export(store, &(kw_row_filter){.size = sizeof(kw_row_filter)}, "jsonl", names[2], NULL, NULL), KW_OK);
    assert_int_equal(kw_store_export(store, &(kw_row_filter){.size = sizeof(kw_row_filter)}, "csv", names[3], NULL, NULL), KW_OK);
    kw_store_close(&store);
    open_set(&dataset, (const char *[]){path}, 1, NULL);
    memcpy(digest, dataset.digest, sizeof digest);
    kw_dataset_close(&dataset);
    const char *const ways[][2] = {{names[1], names[0]}, {names[2], NULL}, {names[3], NULL}, {names[2], names[0]}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        open_set(&dataset, ways[i], ways[i][1] ? 2 : 1, NULL);
        assert_string_equal(dataset.digest, digest);
        kw_dataset_close(&dataset);
    }
    open_set(&dataset, (const char *[]){names[0]}, 1, NULL);
    assert_string_not_equal(dataset.digest, digest);
    kw_dataset_close(&dataset);
}

/* Dispatch passes them over, so they are no selections that fail; what the others' rows say of their kernels is kept, and counts. */
static void kernels_that_spill_are_left_out_and_resources_are_kept(void **state) {
    (void)state;
    kw_dataset dataset;
    char name[2 * SCRATCH_MAX], digest[33];
    size_t at = 0;
    while (made.rows[at].record.outcome != KW_GOOD) {
        at++;
    }
    for (int part = 0; part < 2; part++) {
        kw_row rows[3] = {made.rows[at], made.rows[at], made.rows[at]};
        kw_store *store = NULL;
        scratch_path(name, folder, part ? "resources.db" : "no resources.db");
        rows[0].registers = part ? 128 : 0;
        rows[0].shared_bytes = part ? 16384 : 0;
        rows[1].record = (kw_record){.outcome = KW_SPILLS};
        rows[2].record = (kw_record){.outcome = KW_TOO_MUCH_LDS};
        for (int i = 1; i < 3; i++) {
            memcpy(rows[i].record.config, made.rows[at].record.config, sizeof rows[i].record.config);
            rows[i].record.cold = i == 1;
            rows[i].packed = i == 1;
        }
        assert_int_equal(kw_store_open(&store, name, KW_STORE_WRITE, NULL), KW_OK);
        assert_int_equal(kw_store_add(store, rows, 3, NULL, NULL), KW_OK);
        kw_store_close(&store);
        open_set(&dataset, (const char *[]){name}, 1, NULL);
        assert_int_equal(dataset.pair_count, 1);
        assert_int_equal(dataset.problem_group_count, 1);
        assert_int_equal(dataset.outcome[KW_SPILLS], 1);
        assert_int_equal(dataset.outcome[KW_TOO_MUCH_LDS], 1);
        assert_true(dataset.pairs[0].need.registers == (part ? 128 : 0));
        assert_true(dataset.pairs[0].need.shared_bytes == (part ? 16384 : 0));
        if (part) {
            assert_string_not_equal(dataset.digest, digest);
        }
        memcpy(digest, dataset.digest, sizeof digest);
        kw_dataset_close(&dataset);
    }
}

static void what_is_not_ours_or_not_timed_is_counted(void **state) {
    (void)state;
    kw_dataset dataset;
    char name[2 * SCRATCH_MAX];
    scratch_path(name, folder, "odd ones.db");
    size_t at = 0;
    while (made.rows[at].record.outcome != KW_GOOD) {
        at++;
    }
    kw_row rows[4];
    for (int i = 0; i < 4; i++) {
        rows[i] = made.rows[at];
    }
    snprintf(rows[1].record.config, sizeof rows[1].record.config, "grouped_conv_forward_bf16_2d_64x128x64_compv4");
    snprintf(rows[2].record.config, sizeof rows[2].record.config, "conv.gone conv_fwd fp32 tile=3");
    snprintf(rows[3].record.config, sizeof rows[3].record.config, "%s", made.rows[at + 1].record.config);
    rows[3].record = (kw_record){.outcome = KW_GOOD};
    memcpy(rows[3].record.config, made.rows[at + 1].record.config, sizeof rows[3].record.config);
    made_rows_save(&(made_rows){.rows = rows, .count = 4}, name, 0, 1);
    open_set(&dataset, (const char *[]){name}, 1, NULL);
    assert_int_equal(dataset.pair_count, 1);
    assert_int_equal(dataset.foreign, 2);
    assert_int_equal(dataset.untimed, 1);
    kw_dataset_close(&dataset);
}

static void filters_leave_one_operation_and_type(void **state) {
    (void)state;
    kw_dataset dataset;
    open_set(&dataset, (const char *[]){path}, 1, &(kw_dataset_filter){.by_op = true, .op = KW_GEMM, .by_dtype = true, .dtype = KW_BF16});
    assert_true(dataset.problem_group_count > 0);
    for (size_t c = 0; c < dataset.problem_group_count; c++) {
        assert_true(dataset.problem_groups[c].problem.op == KW_GEMM && dataset.problem_groups[c].problem.dtype == KW_BF16);
    }
    kw_dataset_close(&dataset);
}

static void sealed_problems_are_known_in_every_type(void **state) {
    (void)state;
    kw_dataset dataset;
    kw_problem holdout;
    size_t marked = 0;
    assert_int_equal(kw_problem_parse(&holdout, made.rows[0].problem, NULL), KW_OK);
    holdout.dtype = holdout.dtype == KW_FP32 ? KW_FP16 : KW_FP32;
    open_set(&dataset, (const char *[]){path}, 1, &(kw_dataset_filter){.holdout = &holdout, .holdout_count = 1});
    for (size_t c = 0; c < dataset.problem_group_count; c++) {
        char text[KW_PROBLEM_TEXT_MAX];
        kw_problem_print(text, sizeof text, &dataset.problem_groups[c].problem);
        assert_int_equal(dataset.problem_groups[c].holdout, !strcmp(text, made.rows[0].problem));
        marked += dataset.problem_groups[c].holdout;
    }
    assert_int_equal(marked, 1);
    kw_dataset_close(&dataset);
}

static void features_are_those_of_each_pair_alone(void **state) {
    (void)state;
    kw_dataset dataset;
    kw_native_features *own = NULL;
    double *rows = NULL;
    open_set(&dataset, (const char *[]){path}, 1, NULL);
    assert_int_equal(kw_native_features_open(&own, NULL), KW_OK);
    assert_int_equal(kw_dataset_features(&rows, &dataset, own, NULL), KW_OK);
    size_t columns = kw_native_features_table(own)->count;
    double *row = calloc(columns, sizeof *row);
    for (size_t c = 0; c < dataset.problem_group_count; c++) {
        kw_native_features_problem sight;
        kw_native_problem_read(&sight, &dataset.problem_groups[c].problem, &dataset.problem_groups[c].target);
        size_t i = dataset.problem_groups[c].first + dataset.problem_groups[c].count - 1;
        kw_native_features_fill_problem(own, row, &sight);
        kw_native_features_fill_config(own, row, &dataset.pairs[i].config);
        kw_native_features_tiles tiles = kw_native_features_tiles_of(&dataset.pairs[i].config);
        kw_native_features_fill_tiled(own, row, &sight, &tiles, &dataset.pairs[i].launch, dataset.pairs[i].estimate_ns);
        for (size_t k = 0; k < columns; k++) {
            double other = rows[i * columns + k];
            assert_true(other == row[k] || (isnan(other) && isnan(row[k])));
        }
    }
    free(row);
    free(rows);
    kw_native_features_close(&own);
    kw_dataset_close(&dataset);
}

static void a_file_that_is_no_store_is_refused_by_name(void **state) {
    (void)state;
    kw_dataset dataset;
    kw_error err = {0};
    char name[2 * SCRATCH_MAX];
    scratch_path(name, folder, "nonsense.jsonl");
    scratch_write(name, "{\"no\": 1}\n", 10, 0644);
    assert_int_equal(kw_dataset_open(&dataset, (const char *[]){name}, 1, NULL, &err), KW_MALFORMED);
    assert_non_null(strstr(err.text, "nonsense.jsonl"));
    assert_int_equal(kw_dataset_open(&dataset, (const char *[]){"/no/such.db"}, 1, NULL, &err), KW_MISSING);
    assert_int_equal(kw_dataset_open(&dataset, NULL, 0, NULL, &err), KW_ILLEGAL);
}

/* --- folds ------------------------------------------------------------------------------------------------------------ */

static void no_group_sits_on_both_sides(void **state) {
    (void)state;
    kw_dataset dataset;
    int32_t fold[PROBLEMS], used = 0;
    open_set(&dataset, (const char *[]){path}, 1, NULL);
    for (int g = 0; g < KW_GROUPINGS; g++) {
        size_t load[FOLDS] = {0};
        assert_int_equal(kw_folds_draw(fold, &used, &dataset, (kw_grouping)g, FOLDS, 7, NULL), KW_OK);
        assert_int_equal(used, FOLDS);
        for (size_t i = 0; i < dataset.problem_group_count; i++) {
            assert_in_range(fold[i], 0, FOLDS - 1);
            load[fold[i]]++;
            for (size_t j = 0; j < i; j++) {
                bool same =
                    kw_fold_group(&dataset.problem_groups[i], (kw_grouping)g) == kw_fold_group(&dataset.problem_groups[j], (kw_grouping)g);
                assert_true(!same || fold[i] == fold[j]);
            }
        }
        for (int f = 0; f < FOLDS; f++) {
            assert_true(load[f] >= PROBLEMS / FOLDS / 2); /* dealt evenly: no group is large here */
        }
    }
    kw_dataset_close(&dataset);
}

static void a_shape_is_one_group_in_every_dress(void **state) {
    (void)state;
    static const char *const same[] = {"conv_fwd fp32 nhwgc n2 c64 k64 i14x14 f3 p1", "conv_fwd bf16 nhwgc n2 c64 k64 i14x14 f3 p1",
                                       "conv_bwd_data fp32 nhwgc n2 c64 k64 i14x14 f3 p1",
                                       "conv_bwd_weight fp16 ngchw n2 c64 k64 i14x14 f3 p1"};
    static const char *const other[] = {"conv_fwd fp32 nhwgc n2 c64 k64 i14x14 f3 p1 s2", "conv_fwd fp32 nhwgc n2 c64 k64 i14x14 f3 p0",
                                        "conv_fwd fp32 nhwgc n2 g2 c64 k64 i14x14 f3 p1", "gemm fp32 rcr m64 n64 k64"};
    kw_problem_group problem_group = {0};
    uint64_t group = 0;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_int_equal(kw_problem_parse(&problem_group.problem, same[i], NULL), KW_OK);
        group = i ? group : kw_fold_group(&problem_group, KW_BY_SHAPE);
        assert_true(kw_fold_group(&problem_group, KW_BY_SHAPE) == group);
    }
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        assert_int_equal(kw_problem_parse(&problem_group.problem, other[i], NULL), KW_OK);
        assert_true(kw_fold_group(&problem_group, KW_BY_SHAPE) != group);
    }
}

static void folds_come_from_the_seed(void **state) {
    (void)state;
    kw_dataset dataset;
    int32_t one[PROBLEMS], two[PROBLEMS], used = 0;
    kw_error err = {0};
    open_set(&dataset, (const char *[]){path}, 1, NULL);
    kw_folds_draw(one, &used, &dataset, KW_BY_SHAPE, FOLDS, 7, NULL);
    kw_folds_draw(two, &used, &dataset, KW_BY_SHAPE, FOLDS, 7, NULL);
    assert_memory_equal(one, two, sizeof one);
    kw_folds_draw(two, &used, &dataset, KW_BY_SHAPE, FOLDS, 8, NULL);
    assert_memory_not_equal(one, two, sizeof one);
    assert_int_equal(kw_folds_draw(one, &used, &dataset, KW_BY_SHAPE, 1, 7, &err), KW_ILLEGAL);
    assert_int_equal(kw_folds_draw(one, &used, &dataset, KW_BY_SHAPE, 65, 7, &err), KW_ILLEGAL);
    kw_dataset_close(&dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_is_there_whatever_came_of_it),
        cmocka_unit_test(pairs_of_a_contest_stand_together),
        cmocka_unit_test(the_way_rows_come_changes_nothing),
        cmocka_unit_test(kernels_that_spill_are_left_out_and_resources_are_kept),
        cmocka_unit_test(what_is_not_ours_or_not_timed_is_counted),
        cmocka_unit_test(filters_leave_one_operation_and_type),
        cmocka_unit_test(sealed_problems_are_known_in_every_type),
        cmocka_unit_test(features_are_those_of_each_pair_alone),
        cmocka_unit_test(a_file_that_is_no_store_is_refused_by_name),
        cmocka_unit_test(no_group_sits_on_both_sides),
        cmocka_unit_test(a_shape_is_one_group_in_every_dress),
        cmocka_unit_test(folds_come_from_the_seed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
