/* test_train.c: what training refuses, what it writes, and that it writes it again. What needs LightGBM is left out, with a note, where
 * there is none (make lightgbm). */
#include "base/format/gzip.h"
#include "base/hash.h"
#include "support/rows/made_rows.h"
#include "predict/model_spec.h"
#include "support/kw_test.h"
#include "support/scratch.h"
#include "learn/model/artifacts.h"
#include "learn/model/forest_text.h"
#include "learn/fit/lightgbm.h"
#include "learn/model/forest_numbers.h"

#include <jansson.h>
#include <unistd.h>

enum { PROBLEMS = 60 };

static const char *const digests[2] = {"0123456789abcdef0123456789abcdef", "00000000000000000000000000000000"};
static char folder[SCRATCH_MAX], store_path[2 * SCRATCH_MAX];
static made_rows made;
static bool has_library;

static int set_up(void **state) {
    (void)state;
    kw_lightgbm *library = NULL;
    kw_error err = {0};
    scratch_make(folder);
    scratch_path(store_path, folder, "all.db");
    made_rows_make(&made, PROBLEMS);
    made_rows_save(&made, store_path, 0, 1);
    has_library = !kw_lightgbm_open(&library, NULL, &err);
    if (!has_library) {
        print_message("without LightGBM half of this is skipped: %s\n", err.text);
    }
    kw_lightgbm_close(&library);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    made_rows_free(&made);
    scratch_remove(folder);
    return 0;
}

static const char *const *stores(void) {
    static const char *paths[1];
    paths[0] = store_path;
    return paths;
}

/* Small enough for a second. */
static kw_train_options options_of(const char *out) {
    return (kw_train_options){.size = sizeof(kw_train_options),
                              .stores = stores(),
                              .store_count = 1,
                              .out = out,
                              .folds = 3,
                              .trees = 40,
                              .leaves = 12,
                              .rounds = -1,
                              .threads = 1};
}

static void train(const kw_train_options *options, kw_train_report *report) {
    kw_error err = {0};
    if (kw_train(options, report, &err)) {
        fail_msg("%s", err.text);
    }
}

static bool exists(const char *where, const char *name) {
    char path[2 * SCRATCH_MAX];
    return !access(scratch_path(path, where, name), F_OK);
}

static char *read_in(const char *where, const char *name, size_t *size) {
    char path[2 * SCRATCH_MAX];
    return scratch_read(scratch_path(path, where, name), size);
}

static void assert_same_file(const char *a, const char *b, const char *name) {
    size_t sizes[2];
    char *one = read_in(a, name, &sizes[0]), *two = read_in(b, name, &sizes[1]);
    if (sizes[0] != sizes[1] || memcmp(one, two, sizes[0]) != 0) {
        fail_msg("%s differs", name);
    }
    free(one);
    free(two);
}

/* --- without the library ---------------------------------------------------------------------------------------------- */

static void requests_that_cannot_be_are_refused_with_their_reason(void **state) {
    (void)state;
    static const char *const absent[] = {"/no/such.db"};
    char empty[2 * SCRATCH_MAX];
    scratch_write(scratch_path(empty, folder, "empty.txt"), "# none\n", 7, 0644);
    struct {
        kw_train_options options;
        kw_status status;
        const char *names;
    } cases[] = {
        {options_of(NULL), KW_ILLEGAL, "folder"},
        {options_of("x"), KW_MISSING, "quantity"},
        {options_of("x"), KW_ILLEGAL, "folds"},
        {options_of("x"), KW_MISSING, "/no/such.db"},
        {options_of("x"), KW_ILLEGAL, "no store"},
        {options_of("x"), KW_ILLEGAL, "empty.txt"},
        {options_of("x"), KW_FAILED, "no good"},
        {options_of("/dev/null"), KW_ILLEGAL, "/dev/null is no folder"},
        {options_of("/dev/null/a/b/"), KW_ILLEGAL, "/dev/null is no folder"},
    };
    cases[1].options.quantity = "speed";
    cases[2].options.folds = 65;
    cases[3].options.stores = absent;
    cases[4].options.store_count = 0;
    cases[5].options.holdout = (const char *[]){empty};
    cases[5].options.holdout_count = 1;
    cases[6].options.by_dtype = true;
    cases[6].options.dtype = KW_INT8;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_error err = {0};
        assert_int_equal(kw_train(&cases[i].options, NULL, &err), cases[i].status);
        if (!strstr(err.text, cases[i].names)) {
            fail_msg("\"%s\" does not name %s", err.text, cases[i].names);
        }
    }
}

static void a_row_of_a_sealed_problem_is_refused_by_name(void **state) {
    (void)state;
    char list[2 * SCRATCH_MAX], out[2 * SCRATCH_MAX], line[KW_PROBLEM_TEXT_MAX + 8];
    kw_error err = {0};
    kw_problem problem;
    assert_int_equal(kw_problem_parse(&problem, made.rows[0].problem, NULL), KW_OK);
    problem.dtype = KW_FP16; /* not the type that was measured: a leak all the same */
    size_t size = kw_problem_print(line, sizeof line, &problem);
    scratch_path(list, folder, "holdout.txt");
    scratch_write(list, line, size, 0644);
    kw_train_options options = options_of(scratch_path(out, folder, "leak"));
    options.holdout = (const char *[]){list};
    options.holdout_count = 1;
    assert_int_equal(kw_train(&options, NULL, &err), KW_FAILED);
    assert_non_null(strstr(err.text, made.rows[0].problem));
    assert_false(exists(folder, "leak"));
}

static void a_missing_library_says_how_to_get_it(void **state) {
    (void)state;
    char out[2 * SCRATCH_MAX];
    kw_error err = {0};
    kw_train_options options = options_of(scratch_path(out, folder, "nothing"));
    options.lightgbm = "/no/lib_lightgbm.so";
    assert_int_equal(kw_train(&options, NULL, &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, "make lightgbm"));
    options.lightgbm = "libm.so.6";
    assert_int_equal(kw_train(&options, NULL, &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, "LGBM_"));
    assert_false(exists(folder, "nothing"));
}

typedef struct pieces {
    kw_dataset dataset;
    kw_native_features *own;
} pieces;

static void open_pieces(pieces *p) {
    assert_int_equal(kw_dataset_open(&p->dataset, stores(), 1, NULL, NULL), KW_OK);
    assert_int_equal(kw_native_features_open(&p->own, NULL), KW_OK);
}

static void close_pieces(pieces *p) {
    kw_dataset_close(&p->dataset);
    kw_native_features_close(&p->own);
}

static void a_spec_is_read_back_as_it_was_meant(void **state) {
    (void)state;
    pieces p;
    kw_text text = {0};
    kw_model_spec spec;
    kw_error err = {0};
    open_pieces(&p);
    const kw_feature_table *features = kw_native_features_table(p.own);
    assert_int_equal(kw_spec_print(&text, &p.dataset, features, KW_PREDICTS_RANK, NULL, NULL, digests, NULL), KW_OK);
    if (kw_model_spec_read(&spec, "model.spec", text.data, text.size, &err)) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(spec.quantity, KW_PREDICTS_RANK);
    assert_int_equal(spec.feature_count, features->count);
    assert_string_equal(spec.features[3], features->features[3].name);
    assert_int_equal(spec.target_count, 1);
    assert_string_equal(spec.target_texts[0], made_target);
    assert_int_equal(spec.rows, p.dataset.pair_count);
    assert_int_equal(spec.problems, PROBLEMS);
    assert_int_equal(spec.serves[KW_GEMM], 1 << KW_FP32 | 1 << KW_BF16);
    assert_int_equal(spec.serves[KW_CONV_BWD_WEIGHT], 0);
    bool seen[2] = {false, false};
    for (size_t i = 0; kw_family_table[i]; i++) { /* a family without rows keeps its code and counts as none that was seen */
        bool has = false, has_op[KW_OP_COUNT] = {false};
        for (size_t j = 0; j < p.dataset.pair_count; j++) {
            bool same = p.dataset.pairs[j].config.family == kw_family_table[i];
            has |= same;
            has_op[p.dataset.pairs[j].config.op] |= same;
        }
        for (int op = 0; op < KW_OP_COUNT; op++) {
            assert_int_equal(kw_model_spec_saw(&spec, kw_family_table[i]->name, (kw_op)op), has_op[op]);
        }
        assert_true(strstr(spec.families[i], kw_family_table[i]->name) != NULL);
        seen[has] = true;
    }
    assert_true(seen[0] && seen[1]);
    kw_model_spec_drop(&spec);
    kw_text_drop(&text);
    close_pieces(&p);
}

/* --- with it ---------------------------------------------------------------------------------------------------------- */

static void training_twice_gives_the_same_files(void **state) {
    (void)state;
    static const char *const names[] = {
        "model.lgbm.gz",   "model.spec", "feature_spec.json",   "cv_metrics_ratio.json", "feature_importances_ratio.json",
        "model_card.json", "oof.csv.gz", "train_manifest.json", "MODEL_CARD.md"};
    char one[2 * SCRATCH_MAX], two[2 * SCRATCH_MAX];
    if (!has_library) {
        skip();
    }
    kw_train_report report, again;
    kw_train_options options = options_of(scratch_path(one, folder, "one"));
    options.rounds = 1;
    options.command = "kwright train";
    train(&options, &report);
    options.out = scratch_path(two, folder, "two");
    options.threads = 2; /* and their number changes nothing */
    train(&options, &again);
    assert_memory_equal(&report, &again, sizeof report);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_same_file(one, two, names[i]);
    }
    options.seed = 5;
    train(&options, &again);
    assert_string_not_equal(report.digest, again.digest);
}

static void what_is_written_is_a_model_that_can_be_opened(void **state) {
    (void)state;
    char out[2 * SCRATCH_MAX];
    if (!has_library) {
        skip();
    }
    for (int q = 0; q < KW_PREDICTS_COUNT; q++) {
        kw_train_report report;
        kw_model *model = NULL;
        kw_error err = {0};
        kw_train_options options = options_of(scratch_path(out, folder, kw_model_quantity_name((kw_model_quantity)q)));
        options.quantity = kw_model_quantity_name((kw_model_quantity)q);
        train(&options, &report);
        if (kw_model_open(&model, out, &err)) {
            fail_msg("%s", err.text);
        }
        const kw_model_facts *facts = kw_model_describe(model);
        assert_int_equal(facts->quantity, q);
        assert_int_equal(facts->rows, report.pairs);
        assert_int_equal(facts->trees, report.trees);
        assert_string_equal(facts->digest, report.digest);
        assert_true(kw_model_serves(model, KW_GEMM, KW_BF16) && !kw_model_serves(model, KW_CONV_BWD_WEIGHT, KW_FP32));
        assert_true(report.shapes.problem_groups == PROBLEMS && report.unseen_families.problem_groups == PROBLEMS);
        kw_model_close(&model);
    }
}

/* The rows were made by a rule that the estimate does not know. */
static void what_can_be_learned_is_learned(void **state) {
    (void)state;
    char out[2 * SCRATCH_MAX];
    kw_train_report report;
    if (!has_library) {
        skip();
    }
    kw_train_options options = options_of(scratch_path(out, folder, "learned"));
    options.trees = 200;
    train(&options, &report);
    assert_true(report.shapes.mean > report.estimate.mean + 0.1);
    assert_true(report.unseen_families.mean > report.estimate.mean + 0.1);
    assert_true(report.shapes.regret < report.estimate.regret / 2);
    assert_int_equal(report.good, made.good);
    assert_int_equal(report.failed, made.failed);
}

static void json_files_are_json(void **state) {
    (void)state;
    static const char *const names[] = {"feature_spec.json", "cv_metrics_ratio.json", "feature_importances_ratio.json", "model_card.json",
                                        "train_manifest.json"};
    char out[2 * SCRATCH_MAX];
    kw_train_report report;
    if (!has_library) {
        skip();
    }
    kw_train_options options = options_of(scratch_path(out, folder, "json"));
    options.folds = 1;
    options.command = "kwright train \"quoted\" \\ and\ttabs";
    train(&options, &report);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size = 0;
        json_error_t error;
        char *text = read_in(out, names[i], &size);
        json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
        if (!json) {
            fail_msg("%s: %s", names[i], error.text);
        }
        if (!strcmp(names[i], "train_manifest.json")) {
            assert_string_equal(json_string_value(json_object_get(json, "command")), options.command);
            assert_int_equal(json_integer_value(json_object_get(json, "valid_rows")), report.pairs);
        }
        json_decref(json);
        free(text);
    }
}

static void models_stay_within_their_size(void **state) {
    (void)state;
    char out[2 * SCRATCH_MAX];
    kw_train_report whole, cut;
    if (!has_library) {
        skip();
    }
    kw_train_options options = options_of(scratch_path(out, folder, "size"));
    options.folds = 1;
    train(&options, &whole);
    options.max_bytes = whole.bytes / 2;
    train(&options, &cut);
    assert_true(cut.bytes <= options.max_bytes && cut.trees < whole.trees && cut.trees > whole.trees / 4);
    kw_error err = {0};
    options.max_bytes = 100;
    assert_int_equal(kw_train(&options, NULL, &err), KW_FAILED);
}

static void a_warm_start_keeps_the_trees_it_had(void **state) {
    (void)state;
    char first[2 * SCRATCH_MAX], second[2 * SCRATCH_MAX];
    kw_train_report before, after;
    if (!has_library) {
        skip();
    }
    kw_train_options options = options_of(scratch_path(first, folder, "first"));
    options.folds = 1;
    train(&options, &before);
    options.warm_start = first;
    options.out = scratch_path(second, folder, "second");
    options.trees = 7;
    train(&options, &after);
    assert_int_equal(after.trees, before.trees + 7);
    size_t sizes[2];
    char *packed[2] = {read_in(first, "model.lgbm.gz", &sizes[0]), read_in(second, "model.lgbm.gz", &sizes[1])};
    kw_text text[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(kw_gzip_unpack_any(&text[i], packed[i], sizes[i], 1 << 28, NULL), KW_OK);
        free(packed[i]);
    }
    const char *trees = strstr(text[0].data, "Tree=0"), *end = strstr(text[0].data, "end of trees"),
               *longer = strstr(text[1].data, "Tree=0");
    assert_true(trees && end && longer);
    assert_memory_equal(trees, longer, (size_t)(end - trees));
    kw_text_drop(&text[0]);
    kw_text_drop(&text[1]);
}

/* The model of a folder with its features and families the other way round, in another folder. */
static void save_reversed(const char *from, const char *to) {
    char path[4 * SCRATCH_MAX];
    size_t size = 0;
    kw_text plain = {0}, forest = {0}, spec = {0};
    kw_model_spec read;
    char *data = read_in(from, "model.spec", &size);
    assert_int_equal(kw_model_spec_read(&read, "model.spec", data, size, NULL), KW_OK);
    free(data);
    size_t features = read.feature_count, families = read.family_count;
    kw_feature_number *numbers = calloc(features, sizeof *numbers);
    int32_t *codes = calloc(families, sizeof *codes);
    const char **names = calloc(features, sizeof *names);
    for (size_t i = 0; i < features; i++) {
        numbers[i].position = (int32_t)(features - 1 - i);
        names[features - 1 - i] = read.features[i];
        if (!strcmp(read.features[i], "family")) {
            numbers[i].codes = codes;
            numbers[i].code_count = families;
        }
    }
    for (size_t i = 0; i < families; i++) {
        codes[i] = (int32_t)(families - 1 - i);
    }
    data = read_in(from, "model.lgbm.gz", &size);
    assert_int_equal(kw_gzip_unpack_any(&plain, data, size, 1 << 28, NULL), KW_OK);
    assert_int_equal(kw_forest_text_renumber(&forest, plain.data, numbers, names, features, NULL), KW_OK);
    assert_string_not_equal(forest.data, plain.data);
    char digest[KW_HASH_TEXT];
    kw_hash_text(digest, forest.data, forest.size);
    kw_text_addf(&spec, "kernelwright-model 1\ntarget %s\nserves conv_bwd_weight bf16\nserves gemm fp32\npredicts ratio\n", made_target);
    for (size_t i = 0; i < features; i++) {
        kw_text_addf(&spec, "feature %s\n", names[i]);
    }
    for (size_t i = families; i-- > 0;) {
        kw_text_addf(&spec, "family %s\n", read.families[i]);
    }
    kw_text_addf(&spec, "rows 1 problems 1\ndigest %s\n", digest);
    snprintf(path, sizeof path, "mkdir -p '%s'", to);
    assert_int_equal(system(path), 0);
    scratch_write(scratch_path(path, to, "model.spec"), spec.data, spec.size, 0644);
    scratch_write(scratch_path(path, to, "model.lgbm.gz"), forest.data, forest.size, 0644);
    kw_model_spec_drop(&read);
    kw_text_drop(&plain);
    kw_text_drop(&forest);
    kw_text_drop(&spec);
    free(data);
    free(numbers);
    free(codes);
    free(names);
}

/* The same trees in other numbers are gone on with alike, and what they serve stays served. */
static void the_order_of_features_and_families_plays_no_part(void **state) {
    (void)state;
    char first[2 * SCRATCH_MAX], turned[2 * SCRATCH_MAX], second[2 * SCRATCH_MAX], third[2 * SCRATCH_MAX];
    kw_train_report report;
    if (!has_library) {
        skip();
    }
    kw_train_options options = options_of(scratch_path(first, folder, "in_order"));
    options.folds = 1;
    train(&options, &report);
    save_reversed(first, scratch_path(turned, folder, "turned"));
    options.trees = 7;
    options.warm_start = first;
    options.out = scratch_path(second, folder, "from_in_order");
    train(&options, &report);
    options.warm_start = turned;
    options.out = scratch_path(third, folder, "from_turned");
    train(&options, &report);
    assert_same_file(second, third, "model.lgbm.gz");
    kw_model *model = NULL;
    assert_int_equal(kw_model_open(&model, third, NULL), KW_OK);
    assert_true(kw_model_serves(model, KW_CONV_BWD_WEIGHT, KW_BF16) && kw_model_serves(model, KW_CONV_FWD, KW_FP32));
    kw_model_close(&model);
}

static void stopped_training_writes_nothing(void **state) {
    (void)state;
    char out[2 * SCRATCH_MAX];
    kw_error err = {0};
    const kw_stop stop = {1};
    if (!has_library) {
        skip();
    }
    kw_train_options options = options_of(scratch_path(out, folder, "stopped"));
    options.stop = &stop;
    assert_int_equal(kw_train(&options, NULL, &err), KW_FAILED);
    assert_non_null(strstr(err.text, "stopped"));
    assert_false(exists(folder, "stopped"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_that_cannot_be_are_refused_with_their_reason),
        cmocka_unit_test(a_row_of_a_sealed_problem_is_refused_by_name),
        cmocka_unit_test(a_missing_library_says_how_to_get_it),
        cmocka_unit_test(a_spec_is_read_back_as_it_was_meant),
        cmocka_unit_test(training_twice_gives_the_same_files),
        cmocka_unit_test(what_is_written_is_a_model_that_can_be_opened),
        cmocka_unit_test(what_can_be_learned_is_learned),
        cmocka_unit_test(json_files_are_json),
        cmocka_unit_test(models_stay_within_their_size),
        cmocka_unit_test(a_warm_start_keeps_the_trees_it_had),
        cmocka_unit_test(the_order_of_features_and_families_plays_no_part),
        cmocka_unit_test(stopped_training_writes_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
