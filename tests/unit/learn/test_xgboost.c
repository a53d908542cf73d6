/* test_xgboost.c: XGBoost's models as LightGBM's text: every double takes the leaf that XGBoost gives it, and sums differ by the rounding of
 * floats alone. What needs the library (libxgboost0 of Debian, or KW_XGBOOST) is left out, with a note, where there is none. */
#include "base/random.h"
#include "predict/forest/forest.h"
#include "support/kw_test.h"
#include "support/scratch.h"
#include "learn/data/dataset.h"
#include "learn/model/forest_text.h"
#include "learn/fit/xgboost.h"
#include "learn/fit/xgboost_text.h"

#include <kernelwright_tune.h>

#include <dlfcn.h>
#include <float.h>
#include <jansson.h>
#include <math.h>

static const char *const stores[] = {KW_DATA "/x86-64-v4-bf16-fp32-gemm.jsonl.gz"};
static char folder[SCRATCH_MAX], reason[sizeof((kw_error *)0)->text];

static const char *library_name(void) {
    const char *named = getenv("KW_XGBOOST");
    return named && *named ? named : "libxgboost.so.0";
}

static int set_up(void **state) {
    (void)state;
    kw_xgboost *library = NULL;
    kw_error err = {0};
    scratch_make(folder);
    if (kw_xgboost_open(&library, library_name(), &err)) {
        snprintf(reason, sizeof reason, "%s", err.text);
    }
    kw_xgboost_close(&library);
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

/* --- without the library ---------------------------------------------------------------------------------------------- */

static void a_threshold_says_of_every_double_what_the_float_says(void **state) {
    (void)state;
    static const float fixed[] = {0, 1, -1, 0.1f, 1e-38f, 1e-45f, -1e-45f, FLT_MAX, -FLT_MAX, 16777216, 16777218, 3.1415927f, 1e30f};
    uint64_t random = 5;
    for (int i = 0; i < 20000; i++) {
        size_t known = sizeof fixed / sizeof *fixed;
        float split =
            (size_t)i < known ? fixed[i] : (float)((kw_random_unit(&random) - 0.5) * exp2(floor(kw_random_unit(&random) * 60 - 30)));
        double at = kw_xgboost_threshold(split), near = ((double)nextafterf(split, -INFINITY) + (double)split) / 2;
        double values[] = {(double)split,
                           (double)nextafterf(split, -INFINITY),
                           (double)nextafterf(split, INFINITY),
                           at,
                           near,
                           nextafter(at, INFINITY),
                           nextafter(at, -INFINITY),
                           nextafter(near, INFINITY),
                           nextafter(near, -INFINITY),
                           (double)split * (1 + 1e-9),
                           (double)split * (1 - 1e-9),
                           0,
                           1e300,
                           -1e300};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            if (((float)values[k] < split) != (values[k] <= at)) {
                fail_msg("%a at split %a: %a is on the other side", values[k], (double)split, at);
            }
        }
    }
}

static const kw_feature features[] = {{"size", "", "", ""}, {"depth", "", "", ""}};
static const kw_feature_table table = {"made", features, 2};

#define HEAD "{\"learner\": {\"gradient_booster\": {\"model\": {\"trees\": ["
#define TAIL "]}}}}"
#define TREE(left, right, feature, value, to_left)                                                                                         \
    "{\"left_children\": [" left "], \"right_children\": [" right "], \"split_indices\": [" feature "], \"split_conditions\": [" value     \
    "], \"default_left\": [" to_left "]}"
/* size < 2.5: depth < 1 (missing left): 0.5, else -1; else 4. */
#define GOOD_TREE TREE("1,3,-1,-1,-1", "2,4,-1,-1,-1", "0,1,0,0,0", "2.5E0,1E0,4E0,5E-1,-1E0", "0,1,0,0,0")
#define LEAF TREE("-1", "-1", "0", "1.25E-1", "0")

static kw_status convert(kw_forest **forest, const char *json, int32_t trees, double base, kw_error *err) {
    kw_xgboost_model model = {.json = json, .size = strlen(json), .trees = trees, .features = &table, .base = base};
    kw_text text = {0};
    kw_status status = kw_xgboost_text(&text, &model, NULL, err);
    status = status ? status : kw_forest_parse(forest, "converted", text.data, text.size, err);
    kw_text_drop(&text);
    return status;
}

static void a_model_is_converted_tree_by_tree(void **state) {
    (void)state;
    static const struct {
        double size, depth, score;
    } rows[] = {{2, 0, 0.625},   {2.4999, 0.99, 0.625}, {2.5, 0, 4.125},          {2, 1, -0.875},
                {2, NAN, 0.625}, {NAN, 0, 4.125},       {2.49999999999, 0, 4.125}};
    kw_forest *forest = NULL;
    kw_error err = {0};
    assert_ok(convert(&forest, HEAD GOOD_TREE "," LEAF TAIL, 2, 3, &err), &err);
    assert_int_equal(kw_forest_describe(forest).trees, 3);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double row[] = {rows[i].size, rows[i].depth}, score;
        kw_forest_score(forest, row, 1, &score);
        assert_true(score == rows[i].score + 3);
    }
    kw_forest_drop(&forest);
    assert_ok(convert(&forest, HEAD GOOD_TREE "," LEAF TAIL, 1, 0, &err), &err); /* the first tree alone */
    assert_int_equal(kw_forest_describe(forest).trees, 1);
    kw_forest_drop(&forest);
}

static void what_is_no_model_of_thresholds_is_refused(void **state) {
    (void)state;
    static const char *const cases[] = {
        "",
        "{}",
        HEAD GOOD_TREE,
        HEAD TAIL,
        HEAD "{}" TAIL,
        HEAD TREE("1,0,-1", "2,2,-1", "0,0,0", "1,1,1", "0,0,0") TAIL,   /* a cycle */
        HEAD TREE("1,-1", "7,-1", "0,0", "1,1", "0,0") TAIL,             /* a child that is not there */
        HEAD TREE("1,-1,-1", "2,-1,-1", "2,0,0", "1,1,1", "0,0,0") TAIL, /* a feature that is not there */
        HEAD TREE("1,-1,-1", "2,-1,-1", "0,0,0", "1,1", "0,0,0") TAIL,   /* lists of different lengths */
        HEAD "{\"left_children\": [-1], \"right_children\": [-1], \"split_indices\": [0], \"split_conditions\": [1], \"default_left\": [0],"
             " \"categories_nodes\": [0]}" TAIL,
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_forest *forest = NULL;
        kw_error err = {0};
        assert_int_equal(convert(&forest, cases[i], 1, 0, &err), KW_MALFORMED);
        assert_non_null(strstr(err.text, "XGBoost"));
    }
}

/* --- with it ---------------------------------------------------------------------------------------------------------- */

typedef struct peer {
    int (*matrix)(const float *data, unsigned long long rows, unsigned long long columns, float missing, void **out);
    int (*set)(void *matrix, const char *name, const float *values, unsigned long long count);
    int (*free_matrix)(void *matrix);
    int (*create)(void *const matrices[], unsigned long long count, void **out);
    int (*parameter)(void *booster, const char *name, const char *value);
    int (*update)(void *booster, int iteration, void *matrix);
    int (*save)(void *booster, const char *config, unsigned long long *size, const char **out);
    int (*predict)(void *booster, void *matrix, int options, unsigned trees, int training, unsigned long long *count, const float **out);
    int (*free_booster)(void *booster);
} peer;

static void open_peer(peer *p) {
    void *library = dlopen(library_name(), RTLD_NOW | RTLD_LOCAL);
    const struct {
        const char *name;
        void *place;
    } all[] = {{"XGDMatrixCreateFromMat", &p->matrix}, {"XGDMatrixSetFloatInfo", &p->set},       {"XGDMatrixFree", &p->free_matrix},
               {"XGBoosterCreate", &p->create},        {"XGBoosterSetParam", &p->parameter},     {"XGBoosterUpdateOneIter", &p->update},
               {"XGBoosterPredict", &p->predict},      {"XGBoosterSaveModelToBuffer", &p->save}, {"XGBoosterFree", &p->free_booster}};
    assert_non_null(library);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        void *symbol = dlsym(library, all[i].name);
        assert_non_null(symbol);
        memcpy(all[i].place, &symbol, sizeof symbol);
    }
}

/* Rows of the repository as doubles, some of them off by less than a float can tell, and as the floats that XGBoost gets. */
static size_t make_rows(double **rows, float **floats, float **labels, const kw_native_features *own) {
    kw_dataset dataset;
    kw_error err = {0};
    uint64_t random = 9;
    assert_ok(kw_dataset_open(&dataset, stores, 1, NULL, &err), &err);
    assert_ok(kw_dataset_features(rows, &dataset, own, &err), &err);
    size_t columns = kw_native_features_table(own)->count, count = dataset.pair_count;
    *floats = calloc(count * columns, sizeof **floats);
    *labels = calloc(count, sizeof **labels);
    for (size_t i = 0; i < count * columns; i++) {
        (*rows)[i] *= i % 3 ? 1 : 1 + (kw_random_unit(&random) - 0.5) * 1e-7;
        (*floats)[i] = (float)(*rows)[i];
    }
    for (size_t i = 0; i < count; i++) {
        (*labels)[i] = (float)log(fmax(dataset.pairs[i].time_ns, 1) / dataset.pairs[i].estimate_ns);
    }
    kw_dataset_close(&dataset);
    return count;
}

static void a_converted_forest_predicts_as_xgboost_does(void **state) {
    (void)state;
    enum { TREES = 80 };
    static const char *const parameters[][2] = {{"objective", "reg:squarederror"},
                                                {"tree_method", "hist"},
                                                {"grow_policy", "lossguide"},
                                                {"max_leaves", "31"},
                                                {"max_depth", "0"},
                                                {"nthread", "1"},
                                                {"base_score", "0.25"},
                                                {"verbosity", "0"},
                                                {"eta", "0.1"}};
    double *rows;
    float *floats, *labels;
    kw_native_features *own = NULL;
    kw_forest *forest = NULL;
    kw_text text = {0};
    kw_error err = {0};
    peer p;
    void *matrix, *booster;
    unsigned long long size = 0, length = 0;
    const float *theirs = NULL;
    need_library();
    open_peer(&p);
    assert_ok(kw_native_features_open(&own, &err), &err);
    size_t count = make_rows(&rows, &floats, &labels, own), columns = kw_native_features_table(own)->count;
    assert_int_equal(p.matrix(floats, count, columns, NAN, &matrix), 0);
    assert_int_equal(p.set(matrix, "label", labels, count), 0);
    assert_int_equal(p.create(&matrix, 1, &booster), 0);
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
        assert_int_equal(p.parameter(booster, parameters[i][0], parameters[i][1]), 0);
    }
    for (int i = 0; i < TREES; i++) {
        assert_int_equal(p.update(booster, i, matrix), 0);
    }
    kw_xgboost_model model = {.trees = TREES, .features = kw_native_features_table(own), .base = 0.25};
    int64_t splits = 0;
    assert_int_equal(p.save(booster, "{\"format\": \"json\"}", &size, &model.json), 0);
    model.size = (size_t)size;
    assert_ok(kw_xgboost_text(&text, &model, &splits, &err), &err);
    assert_true(splits > TREES * 10);
    assert_ok(kw_forest_parse(&forest, "converted", text.data, text.size, &err), &err);
    assert_int_equal(kw_forest_describe(forest).trees, TREES + 1);
    double *ours = calloc(count, sizeof *ours);
    kw_forest_score(forest, rows, count, ours);
    assert_int_equal(p.predict(booster, matrix, 1, 0, 0, &length, &theirs), 0);
    assert_int_equal(length, count);
    for (size_t i = 0; i < count; i++) {
        if (!(fabs(ours[i] - (double)theirs[i]) <= 1e-6 * fmax(1, fabs(ours[i])))) {
            fail_msg("row %zu: %.9g is not XGBoost's %.9g", i, ours[i], (double)theirs[i]);
        }
    }
    p.free_booster(booster);
    p.free_matrix(matrix);
    free(rows);
    free(floats);
    free(labels);
    free(ours);
    kw_text_drop(&text);
    kw_forest_drop(&forest);
    kw_native_features_close(&own);
}

static void train(const char *out, const char *warm, kw_train_report *report) {
    kw_error err = {0};
    kw_train_options options = {.stores = stores,
                                .store_count = 1,
                                .out = out,
                                .folds = 2,
                                .trees = warm ? 10 : 40,
                                .leaves = 24,
                                .rounds = -1,
                                .threads = 2,
                                .warm_start = warm,
                                .lightgbm = library_name()};
    assert_ok(kw_train(&options, report, &err), &err);
}

static char *read_in(const char *where, const char *name, size_t *size) {
    char path[2 * SCRATCH_MAX];
    return scratch_read(scratch_path(path, where, name), size);
}

static void training_by_xgboost_gives_a_model_twice_the_same(void **state) {
    (void)state;
    char one[2 * SCRATCH_MAX], two[2 * SCRATCH_MAX], three[2 * SCRATCH_MAX];
    kw_train_report first, second, warmed;
    kw_evaluation *evaluation = NULL;
    kw_error err = {0};
    size_t sizes[3];
    need_library();
    train(scratch_path(one, folder, "one"), NULL, &first);
    train(scratch_path(two, folder, "two"), NULL, &second);
    char *a = read_in(one, "model.lgbm.gz", &sizes[0]), *b = read_in(two, "model.lgbm.gz", &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(a, b, sizes[0]);
    assert_true(first.shapes.mean > 0.97 && first.unseen_families.mean > 0.95);
    char *manifest = read_in(one, "train_manifest.json", &sizes[2]);
    json_t *json = json_loadb(manifest, sizes[2], 0, NULL);
    assert_string_equal(json_string_value(json_object_get(json, "trainer")), "XGBoost");
    json_decref(json);
    free(manifest);
    free(a);
    free(b);
    kw_evaluation_options options = {.stores = stores, .store_count = 1, .by = one, .in_sample = true};
    assert_ok(kw_evaluation_open(&evaluation, &options, &err), &err);
    assert_true(kw_evaluation_all(evaluation)->mean.value > 0.98);
    kw_evaluation_close(&evaluation);
    train(scratch_path(three, folder, "three"), one, &warmed);
    assert_int_equal(warmed.trees, first.trees + 10);
}

static void a_ranking_is_refused(void **state) {
    (void)state;
    char out[2 * SCRATCH_MAX];
    kw_error err = {0};
    kw_train_options options = {
        .stores = stores, .store_count = 1, .out = scratch_path(out, folder, "rank"), .quantity = "rank", .lightgbm = library_name()};
    need_library();
    assert_int_equal(kw_train(&options, NULL, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "needs LightGBM"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_threshold_says_of_every_double_what_the_float_says),
        cmocka_unit_test(a_model_is_converted_tree_by_tree),
        cmocka_unit_test(what_is_no_model_of_thresholds_is_refused),
        cmocka_unit_test(a_converted_forest_predicts_as_xgboost_does),
        cmocka_unit_test(training_by_xgboost_gives_a_model_twice_the_same),
        cmocka_unit_test(a_ranking_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
