/* test_warm_start.c: what a model that is gone on with means here: its features, families and words of axes are known by name, whatever
 * their numbers were, and what cannot be gone on with is refused by name. */
#include "base/hash.h"
#include "learn/data/trained_on.h"
#include "learn/fit/warm_start.h"
#include "predict/ck/ck_rows.h"
#include "predict/features/features_native.h"
#include "support/kw_test.h"
#include "support/rows/made_rows.h"
#include "support/rows/stumps.h"
#include "support/scratch.h"

#include <math.h>

enum { PROBLEMS = 12, ROWS = 400 };

static const char *const targets[] = {made_target, NULL}, *const served[] = {"conv_bwd_weight fp32", "gemm bf16", NULL};
/* Not this library's order, one that it does not have, and some of its own missing. */
static const char *const families[] = {"gemm.tiled", "conv.of_yesterday", "conv.pointwise", "conv.direct", NULL};
static const stump trees[] = {
    {"log2_gk", 8.5, 0.25, -0.125, false}, {"tile_w", 4.5, 0.0625, -0.3, false},   {"log2_estimate", 14.5, -0.7, 0.9, false},
    {"family", 0xb, 0.01, 0.02, true},     {"out_w_fill", 0.95, 0.2, -0.1, false}, {"isa", 0x2, 0.003, 0.004, true},
    {"op", 0x5, 0.5, -0.5, true},          {"log2_n", 1.5, -2, 2, false},          {NULL, 0, 0, 0, false},
};
static const stumps model = {"ratio", targets, served, families, trees};
/* isa's words in the order of a library that was not ours, with one that is no more. */
static const char words[] = "codes isa avx512 mmx avx2\n";
static const char *const isa_words[] = {"avx512", "mmx", "avx2", NULL};

static char folder[SCRATCH_MAX];
static kw_dataset dataset;
static kw_native_features *own;
static const kw_feature_table *features;

static int set_up(void **state) {
    (void)state;
    static char store[2 * SCRATCH_MAX];
    const char *const stores[] = {store};
    made_rows made;
    scratch_make(folder);
    made_rows_make(&made, PROBLEMS);
    made_rows_save(&made, scratch_path(store, folder, "rows.db"), 0, 1);
    made_rows_free(&made);
    if (kw_dataset_open(&dataset, stores, 1, NULL, NULL) || kw_native_features_open(&own, NULL)) {
        return 1;
    }
    features = kw_native_features_table(own);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    kw_dataset_close(&dataset);
    kw_native_features_close(&own);
    scratch_remove(folder);
    return 0;
}

/* The model in a folder, with more lines in its spec. */
static const char *save(const stumps *what, const char *more) {
    static char where[2 * SCRATCH_MAX];
    char path[4 * SCRATCH_MAX];
    size_t size = 0;
    stumps_save(what, scratch_path(where, folder, "before"));
    snprintf(path, sizeof path, "%s/model.spec", where);
    char *spec = scratch_read(path, &size);
    kw_text text = {0};
    kw_text_addf(&text, "%s%s", spec, more);
    scratch_write(path, text.data, text.size, 0600);
    free(spec);
    kw_text_drop(&text);
    return where;
}

/* What a code of ours was called, and where that stands among the names of training; 99 where it does not. */
static int code_there(const char *feature, int code) {
    const char *const *names = strcmp(feature, "isa") ? families : isa_words;
    const char *name = NULL;
    char word[32];
    if (!strcmp(feature, "op")) {
        return code;
    }
    if (!strcmp(feature, "family")) {
        name = kw_family_table[code]->name;
    } else {
        kw_scan scan = kw_scan_string(features->features[kw_feature_find(features, feature)].words);
        kw_word one = {"", 0};
        for (int i = 0; i <= code; i++) {
            assert_true(kw_scan_word(&scan, &one));
        }
        assert_true(kw_word_copy(word, sizeof word, one));
        name = word;
    }
    for (int i = 0; names[i]; i++) {
        if (!strcmp(names[i], name)) {
            return i;
        }
    }
    return 99;
}

/* The sum of the stumps by the names of their features and codes. */
static double meant(const double *row) {
    double sum = 0;
    for (const stump *tree = trees; tree->feature; tree++) {
        double value = row[kw_feature_find(features, tree->feature)];
        bool left = !tree->is_code && value <= tree->threshold;
        if (tree->is_code && value >= 0) {
            int code = code_there(tree->feature, (int)value);
            left = code < 32 && (unsigned)tree->threshold >> code & 1;
        }
        sum += left ? tree->left : tree->right;
    }
    return sum;
}

static void names_are_what_a_model_is_gone_on_with_by(void **state) {
    (void)state;
    kw_warm_start_model warm;
    kw_error err = {0};
    uint64_t draw = 5;
    int family_count = 0;
    double *row = calloc(features->count, sizeof *row);
    while (kw_family_table[family_count]) {
        family_count++;
    }
    if (kw_warm_start_open(&warm, save(&model, words), &dataset, features, KW_PREDICTS_RATIO, &err)) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(warm.trees, sizeof trees / sizeof *trees - 1);
    assert_int_equal(kw_forest_describe(warm.forest).features, features->count);
    for (size_t i = 0; i < features->count; i++) {
        assert_string_equal(kw_forest_feature(warm.forest, i), features->features[i].name);
    }
    for (int r = 0; r < ROWS; r++) {
        for (size_t i = 0; i < features->count; i++) {
            const char *name = features->features[i].name;
            int codes = !strcmp(name, "family") ? family_count : !strcmp(name, "isa") ? 2 : !strcmp(name, "op") ? 4 : 20;
            draw = draw * 6364136223846793005u + 1442695040888963407u;
            row[i] = (double)(int)(draw >> 40) / (1 << 24) * codes;
            row[i] = kw_feature_is_code(&features->features[i]) ? floor(row[i]) : row[i];
        }
        double score = 0;
        kw_forest_score(warm.forest, row, 1, &score);
        if (fabs(score - meant(row)) > 1e-9) {
            fail_msg("row %d: %g by the forest, %g by its names", r, score, meant(row));
        }
    }
    kw_warm_start_close(&warm);
    free(row);
}

/* Without the names of its codes a model means ours. */
static void codes_without_names_stay(void **state) {
    (void)state;
    kw_warm_start_model named, plain;
    assert_int_equal(kw_warm_start_open(&plain, save(&model, ""), &dataset, features, KW_PREDICTS_RATIO, NULL), KW_OK);
    kw_text line = {0};
    kw_text_addf(&line, "codes isa %s\n", features->features[kw_feature_find(features, "isa")].words);
    assert_int_equal(kw_warm_start_open(&named, save(&model, line.data), &dataset, features, KW_PREDICTS_RATIO, NULL), KW_OK);
    assert_string_equal(named.text.data, plain.text.data);
    kw_warm_start_close(&named);
    assert_int_equal(kw_warm_start_open(&named, save(&model, words), &dataset, features, KW_PREDICTS_RATIO, NULL), KW_OK);
    assert_string_not_equal(named.text.data, plain.text.data);
    kw_warm_start_close(&named);
    kw_warm_start_close(&plain);
    kw_text_drop(&line);
}

static void what_cannot_be_gone_on_with_is_refused_by_name(void **state) {
    (void)state;
    static const char *const others[] = {"cpu:x86-64-v4-bf16 model=vendor-25-97-3 units=2 lanes=16 registers=32 l1=1 l2=1 l3=1", NULL};
    static const char *const none[] = {NULL};
    static const stump gone[] = {{"log2_gk", 8.5, 0.25, -0.125, false}, {"colour", 1, 0, 1, false}, {NULL, 0, 0, 0, false}};
    static const struct {
        stumps what;
        const char *more, *names;
        kw_status status;
    } cases[] = {
        {{"time", targets, served, families, trees}, "", "predicts time", KW_ILLEGAL},
        {{"ratio", others, served, families, trees}, "", made_target, KW_ILLEGAL},
        {{"ratio", targets, served, families, gone}, "", "colour, which is no more", KW_ILLEGAL},
        {{"ratio", targets, served, none, trees}, "", "names no family", KW_ILLEGAL},
        {{"ratio", targets, served, families, trees}, "units 0123456789abcdef0123456789abcdef\n", "other units", KW_ILLEGAL},
        {{"ratio", targets, served, families, trees}, "codes isa\n", "names of its codes", KW_MALFORMED},
        {{"ratio", targets, served, families, trees}, "codes isa a b\ncodes isa a b\n", "isa is named twice", KW_MALFORMED},
        {{"ratio", targets, served, families, trees}, "codes edge a b\n", "no line says feature edge", KW_MALFORMED},
        {{"ratio", targets, served, families, trees}, "feature tile_h\n", "has 8 features and the model's spec names 9", KW_MALFORMED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_warm_start_model warm;
        kw_error err = {0};
        const char *where = save(&cases[i].what, cases[i].more);
        assert_int_equal(kw_warm_start_open(&warm, where, &dataset, features, KW_PREDICTS_RATIO, &err), cases[i].status);
        if (!strstr(err.text, cases[i].names)) {
            fail_msg("\"%s\" does not say %s", err.text, cases[i].names);
        }
    }
}

static void published_features_do_not_go_on_with_ours(void **state) {
    (void)state;
    kw_warm_start_model warm;
    kw_error err = {0};
    assert_int_equal(kw_warm_start_open(&warm, save(&model, ""), &dataset, kw_ck_table(KW_GEMM), KW_PREDICTS_RATIO, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "our own features"));
}

static void what_was_trained_on_before_still_was(void **state) {
    (void)state;
    char path[2 * SCRATCH_MAX];
    kw_trained_on all = {0};
    kw_text first = {0}, second = {0}, silent = {0};
    kw_dataset half = dataset, rest = dataset;
    const char *where = save(&model, "");
    half.problem_group_count = dataset.problem_group_count / 2;
    rest.problem_groups += half.problem_group_count;
    rest.problem_group_count -= half.problem_group_count;
    snprintf(path, sizeof path, "%.250s/trained_on.txt.gz", where);
    remove(path);
    assert_int_equal(kw_trained_on_print(&silent, &rest, where, NULL), KW_OK);
    assert_int_equal(silent.size, 0);
    assert_int_equal(kw_trained_on_print(&first, &half, NULL, NULL), KW_OK);
    scratch_write(path, first.data, first.size, 0600);
    assert_int_equal(kw_trained_on_print(&second, &rest, where, NULL), KW_OK);
    scratch_write(path, second.data, second.size, 0600);
    assert_int_equal(kw_trained_on_read(&all, where, NULL), KW_OK);
    for (size_t i = 0; i < dataset.problem_group_count; i++) {
        assert_true(kw_trained_on_has(&all, &dataset.problem_groups[i], KW_BY_SHAPE));
        assert_true(kw_trained_on_has(&all, &dataset.problem_groups[i], KW_BY_FAMILY));
    }
    scratch_write(path, "nothing\n", 8, 0600);
    assert_int_equal(kw_trained_on_print(&silent, &rest, where, NULL), KW_MALFORMED);
    kw_trained_on_drop(&all);
    kw_text_drop(&first);
    kw_text_drop(&second);
    kw_text_drop(&silent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_what_a_model_is_gone_on_with_by),      cmocka_unit_test(codes_without_names_stay),
        cmocka_unit_test(what_cannot_be_gone_on_with_is_refused_by_name), cmocka_unit_test(published_features_do_not_go_on_with_ours),
        cmocka_unit_test(what_was_trained_on_before_still_was),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
