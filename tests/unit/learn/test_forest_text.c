/* test_forest_text.c: models made small score as before, for LightGBM's own files in tests/data/forest; gzip is the same every time. */
#include "predict/forest/forest.h"
#include "base/statistics/random.h"
#include "support/kw_test.h"
#include "support/scratch.h"
#include "learn/model/forest_numbers.h"
#include "learn/model/forest_text.h"
#include "base/format/gzip.h"

#include <math.h>

static const char *const models[] = {"categorical", "categorical_nan", "constant", "deep",           "many_thresholds",
                                     "nan",         "no_missing",      "rank",     "zero_as_missing"};
enum { ROWS = 200 };

static char *read_model(const char *name) {
    char path[512];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/%s.lgbm", KW_FOREST_DATA, name);
    return scratch_read(path, &size);
}

static kw_forest *parse(const char *text, size_t size) {
    kw_forest *forest = NULL;
    kw_error err = {0};
    if (kw_forest_parse(&forest, "the model", text, size, &err)) {
        fail_msg("%s", err.text);
    }
    return forest;
}

static char *terminated(const char *data, size_t size) {
    char *text = calloc(size + 1, 1);
    memcpy(text, data, size);
    return text;
}

/* Values that fall on either side of most thresholds, and missing ones. */
static void fill(double *rows, size_t count, uint64_t state) {
    for (size_t i = 0; i < count; i++) {
        uint64_t draw = kw_random(&state);
        double value = (double)(draw >> 40) / (double)(1 << 24);
        rows[i] = draw >> 36 & 15 ? (draw >> 33 & 1 ? value * 6 - 3 : floor(value * 30)) : NAN;
    }
}

static void small_models_score_as_before(void **state) {
    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        char *text = read_model(models[m]);
        kw_text slim = {0};
        assert_int_equal(kw_forest_text_compact(&slim, text, INT64_MAX, NULL), KW_OK);
        assert_true(slim.size < strlen(text));
        kw_forest *before = parse(text, strlen(text)), *after = parse(slim.data, slim.size);
        size_t features = kw_forest_describe(before).features;
        assert_int_equal(kw_forest_describe(after).leaves, kw_forest_describe(before).leaves);
        double *rows = calloc(ROWS * features, sizeof *rows), a[ROWS], b[ROWS];
        fill(rows, ROWS * features, m + 1);
        kw_forest_score(before, rows, ROWS, a);
        kw_forest_score(after, rows, ROWS, b);
        for (int i = 0; i < ROWS; i++) {
            assert_true(fabs(a[i] - b[i]) <= 1e-5 * (1 + fabs(a[i])));
        }
        free(rows);
        kw_forest_drop(&before);
        kw_forest_drop(&after);
        kw_text_drop(&slim);
        free(text);
    }
}

static void the_first_trees_are_a_model(void **state) {
    (void)state;
    char *text = read_model("categorical");
    int64_t trees = kw_forest_text_trees(text);
    assert_true(trees > 2);
    for (int64_t keep = 1; keep <= trees; keep++) {
        kw_text slim = {0};
        assert_int_equal(kw_forest_text_compact(&slim, text, keep, NULL), KW_OK);
        kw_forest *forest = parse(slim.data, slim.size);
        assert_int_equal(kw_forest_describe(forest).trees, keep);
        assert_int_equal(kw_forest_text_trees(slim.data), keep);
        kw_forest_drop(&forest);
        kw_text_drop(&slim);
    }
    free(text);
}

/* Making it small twice is making it small once. */
static void small_is_as_small_as_it_gets(void **state) {
    (void)state;
    char *text = read_model("categorical");
    kw_text once = {0}, twice = {0};
    assert_int_equal(kw_forest_text_compact(&once, text, INT64_MAX, NULL), KW_OK);
    assert_int_equal(kw_forest_text_compact(&twice, once.data, INT64_MAX, NULL), KW_OK);
    assert_string_equal(once.data, twice.data);
    kw_text_drop(&once);
    kw_text_drop(&twice);
    free(text);
}

/* Features the other way round with one more among them, and a category's codes three further on: rows in these numbers score alike. */
static void other_numbers_mean_the_same(void **state) {
    (void)state;
    enum { SHIFT = 3, CODES = 64 };
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        char *text = read_model(models[m]);
        kw_forest *before = parse(text, strlen(text));
        size_t count = kw_forest_describe(before).features;
        bool categories = strstr(models[m], "categorical") != NULL;
        kw_feature_number *numbers = calloc(count, sizeof *numbers);
        const char **names = calloc(count + 1, sizeof *names);
        bool *coded = calloc(count, sizeof *coded);
        int32_t codes[CODES];
        for (int i = 0; i < CODES; i++) {
            codes[i] = i + SHIFT;
        }
        names[0] = "of_today";
        const char *infos = strstr(text, "feature_infos=") + strlen("feature_infos=");
        for (size_t i = 0; i < count; i++) {
            coded[i] = categories && *infos != '[' && strncmp(infos, "none", 4) != 0;
            infos += strcspn(infos, " \n") + 1;
            numbers[i] = (kw_feature_number){(int32_t)(count - i), coded[i] ? codes : NULL, CODES};
            names[count - i] = kw_forest_feature(before, i);
        }
        kw_text other = {0};
        kw_error err = {0};
        if (kw_forest_text_renumber(&other, text, numbers, names, count + 1, &err)) {
            fail_msg("%s: %s", models[m], err.text);
        }
        kw_forest *after = parse(other.data, other.size);
        assert_string_equal(kw_forest_feature(after, 0), "of_today");
        double *rows = calloc(ROWS * count, sizeof *rows), *turned = calloc(ROWS * (count + 1), sizeof *turned), a[ROWS], b[ROWS];
        fill(rows, ROWS * count, m + 1);
        for (size_t r = 0; r < ROWS; r++) {
            for (size_t i = 0; i < count; i++) {
                double value = rows[r * count + i];
                bool code = coded[i] && value > -1; /* a category is cut to a whole number */
                turned[r * (count + 1) + count - i] = code ? trunc(value) + SHIFT : value;
            }
        }
        kw_forest_score(before, rows, ROWS, a);
        kw_forest_score(after, turned, ROWS, b);
        for (int i = 0; i < ROWS; i++) {
            assert_true(fabs(a[i] - b[i]) <= 1e-5 * (1 + fabs(a[i])));
        }
        kw_forest_drop(&before);
        kw_forest_drop(&after);
        kw_text_drop(&other);
        free(numbers);
        free(names);
        free(coded);
        free(rows);
        free(turned);
        free(text);
    }
}

static void a_feature_that_is_asked_about_and_no_more_is_named(void **state) {
    (void)state;
    char *text = read_model("deep");
    kw_forest *forest = parse(text, strlen(text));
    size_t count = kw_forest_describe(forest).features;
    kw_feature_number *numbers = calloc(count, sizeof *numbers);
    const char *names[] = {"all"};
    size_t asked = 0;
    while (!kw_forest_feature_splits(forest, asked)) {
        asked++;
    }
    numbers[asked].position = -1;
    kw_text out = {0};
    kw_error err = {0};
    assert_int_equal(kw_forest_text_renumber(&out, text, numbers, names, 1, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, kw_forest_feature(forest, asked)));
    kw_text_drop(&out);
    kw_forest_drop(&forest);
    free(numbers);
    free(text);
}

static void infinite_thresholds_stay_infinite(void **state) {
    (void)state;
    static const char text[] =
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=0\nobjective=regression\n"
        "feature_names=a\nfeature_infos=[0:1]\ntree_sizes=1\n\nTree=0\nnum_leaves=2\nnum_cat=0\nsplit_feature=0\n"
        "split_gain=1\nthreshold=inf\ndecision_type=8\nleft_child=-1\nright_child=-2\nleaf_value=1 2\nis_linear=0\n"
        "shrinkage=1\n\n\nend of trees\n";
    kw_text slim = {0};
    double rows[4] = {0, 1e300, NAN, INFINITY}, scores[4];
    assert_int_equal(kw_forest_text_compact(&slim, text, INT64_MAX, NULL), KW_OK);
    assert_non_null(strstr(slim.data, "threshold=inf\n"));
    kw_forest *forest = parse(slim.data, slim.size);
    kw_forest_score(forest, rows, 4, scores);
    assert_true(scores[0] == 1 && scores[1] == 1 && scores[2] == 2 && scores[3] == 1);
    kw_forest_drop(&forest);
    kw_text_drop(&slim);
}

static void text_without_trees_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"", "tree\n", "tree\nversion=v4\n\nend of trees\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kw_text slim = {0};
        kw_error err = {0};
        assert_int_equal(kw_forest_text_compact(&slim, texts[i], 5, &err), KW_MALFORMED);
        assert_true(err.text[0]);
        kw_text_drop(&slim);
    }
}

static void gzip_goes_there_and_back_and_has_no_date(void **state) {
    (void)state;
    char *text = read_model("deep");
    kw_text packed = {0}, again = {0}, back = {0};
    assert_int_equal(kw_gzip_pack(&packed, text, strlen(text), NULL), KW_OK);
    assert_int_equal(kw_gzip_pack(&again, text, strlen(text), NULL), KW_OK);
    assert_true(packed.size == again.size && !memcmp(packed.data, again.data, packed.size));
    assert_memory_equal(packed.data + 4, "\0\0\0\0", 4); /* the member's time of change */
    assert_int_equal(packed.data[3], 0);                 /* no name, no comment */
    assert_int_equal(kw_gzip_unpack_any(&back, packed.data, packed.size, strlen(text), NULL), KW_OK);
    assert_string_equal(back.data, text);
    kw_text_drop(&packed);
    kw_text_drop(&again);
    kw_text_drop(&back);
    free(text);
}

static void gzip_that_is_damaged_cut_off_or_too_large_is_refused(void **state) {
    (void)state;
    char *text = read_model("deep");
    kw_text packed = {0};
    kw_error err = {0};
    assert_int_equal(kw_gzip_pack(&packed, text, strlen(text), NULL), KW_OK);
    struct {
        size_t size, limit, flip;
        kw_status status;
    } const cases[] = {{packed.size / 2, 1 << 20, 0, KW_MALFORMED},
                       {packed.size, 1 << 20, packed.size / 2, KW_MALFORMED},
                       {packed.size, 1000, 0, KW_ILLEGAL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_text back = {0};
        char *bytes = terminated(packed.data, cases[i].size);
        bytes[cases[i].flip ? cases[i].flip : 0] ^= cases[i].flip ? 0x55 : 0;
        assert_int_equal(kw_gzip_unpack_any(&back, bytes, cases[i].size, cases[i].limit, &err), cases[i].status);
        kw_text_drop(&back);
        free(bytes);
    }
    kw_text plain = {0};
    assert_int_equal(kw_gzip_unpack_any(&plain, "tree", 4, 100, NULL), KW_OK);
    assert_string_equal(plain.data, "tree");
    kw_text_drop(&plain);
    kw_text_drop(&packed);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_models_score_as_before),
        cmocka_unit_test(the_first_trees_are_a_model),
        cmocka_unit_test(small_is_as_small_as_it_gets),
        cmocka_unit_test(other_numbers_mean_the_same),
        cmocka_unit_test(a_feature_that_is_asked_about_and_no_more_is_named),
        cmocka_unit_test(infinite_thresholds_stay_infinite),
        cmocka_unit_test(text_without_trees_is_refused),
        cmocka_unit_test(gzip_goes_there_and_back_and_has_no_date),
        cmocka_unit_test(gzip_that_is_damaged_cut_off_or_too_large_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
