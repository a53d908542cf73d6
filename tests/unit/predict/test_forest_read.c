/* test_forest_read.c: a model is read as it stands or refused by name. One small model with a numeric and a categorical split is spoilt in
 * one place at a time; whatever bytes come, the answer is a status. */

#include <math.h>
#include <zlib.h>

#include "forest_cases.h"
#include "support/kw_test.h"

enum { TEXT_MAX = 16384 };

/* "@" stands for the trees' sizes in bytes, which follow from what is below. */
static const char good_head[] =
    "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=1\nobjective=regression\n"
    "feature_names=size kind\nfeature_infos=[0:9] -1:0:1:2\ntree_sizes=@\n\n";
static const char good_tree[] = "Tree=0\nnum_leaves=4\nnum_cat=1\nsplit_feature=0 1 0\nsplit_gain=3 2 1\nthreshold=2.5 0 -1.5e-3\n"
                                "decision_type=2 1 10\nleft_child=1 -1 -2\nright_child=2 -3 -4\nleaf_value=0.5 -1 2 4.25\n"
                                "leaf_weight=1 1 1 1\nleaf_count=1 1 1 1\ninternal_value=0 0 0\ninternal_weight=0 0 0\n"
                                "internal_count=4 2 2\ncat_boundaries=0 1\ncat_threshold=5\nis_linear=0\nshrinkage=1\n\n\n";
static const char good_second[] = "Tree=1\nnum_leaves=1\nnum_cat=0\nsplit_feature=\nsplit_gain=\nthreshold=\ndecision_type=\nleft_child=\n"
                                  "right_child=\nleaf_value=0.125\nleaf_weight=\nleaf_count=4\ninternal_value=\ninternal_weight=\n"
                                  "internal_count=\nis_linear=0\nshrinkage=1\n\n\n";
static const char good_tail[] = "end of trees\n\nfeature_importances:\nsize=2\n\nparameters:\n[any: thing]\nend of parameters\n";

/* text with the first `find` replaced; false where it is not there. */
static bool replace(char *text, const char *find, const char *by) {
    char rest[TEXT_MAX];
    char *at = strstr(text, find);
    if (!at) {
        return false;
    }
    snprintf(rest, sizeof rest, "%s", at + strlen(find));
    snprintf(at, TEXT_MAX - (size_t)(at - text), "%s%s", by, rest);
    return true;
}

/* The model with one replacement, in the head or else in a tree, before the sizes are counted. */
static void make_model(char text[4 * TEXT_MAX], const char *find, const char *by) {
    char head[TEXT_MAX], tree[TEXT_MAX], second[TEXT_MAX], sizes[64];
    snprintf(head, sizeof head, "%s", good_head);
    snprintf(tree, sizeof tree, "%s", good_tree);
    snprintf(second, sizeof second, "%s", good_second);
    bool replaced = !find || replace(head, find, by) || replace(tree, find, by) || replace(second, find, by);
    assert_true(replaced);
    snprintf(sizes, sizeof sizes, "%zu %zu", strlen(tree), strlen(second));
    if (strchr(head, '@')) {
        replace(head, "@", sizes);
    }
    size_t size = 0;
    const char *const parts[] = {head, tree, second, good_tail};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        memcpy(text + size, parts[i], strlen(parts[i]) + 1);
        size += strlen(parts[i]);
    }
}

static kw_status parse(kw_forest **forest, const char *text, size_t size, kw_error *err) {
    char *exact = malloc(size ? size : 1); /* ends where memory ends */
    memcpy(exact, text, size);
    kw_status status = kw_forest_parse(forest, "m.lgbm", exact, size, err);
    free(exact);
    assert_true(status ? !*forest : *forest != NULL);
    return status;
}

static void a_good_model_is_read_as_it_stands(void **state) {
    (void)state;
    char text[4 * TEXT_MAX];
    kw_forest *forest = NULL;
    kw_error err = {0};
    make_model(text, NULL, NULL);
    assert_int_equal(parse(&forest, text, strlen(text), &err), KW_OK);
    kw_forest_facts facts = kw_forest_describe(forest);
    assert_int_equal(facts.features, 2);
    assert_int_equal(facts.trees, 2);
    assert_int_equal(facts.leaves, 5);
    assert_int_equal(facts.conditions, 3);
    assert_string_equal(facts.objective, "regression");
    assert_string_equal(kw_forest_feature(forest, 0), "size");
    assert_string_equal(kw_forest_feature(forest, 1), "kind");
    assert_int_equal(kw_forest_feature_splits(forest, 0), 2);
    assert_int_equal(kw_forest_feature_splits(forest, 1), 1);
    static const struct {
        double size, kind, score;
    } rows[] = {{2, 0, 0.5}, {2.5, 2.9, 0.5}, {2, 1, 2},           {2, -0.5, 0.5}, {2, -1, 2},          {2, NAN, 2},      {2, 1e300, 2},
                {2, 64, 2},  {3, 0, 4.25},    {INFINITY, 0, 4.25}, {NAN, 0, .5},   {-INFINITY, 0, 0.5}, {2.5001, 0, 4.25}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double row[] = {rows[i].size, rows[i].kind}, score = 0;
        kw_forest_score(forest, row, 1, &score);
        assert_true(score == rows[i].score + 0.125);
    }
    kw_forest_drop(&forest);
    assert_null(forest);
}

typedef struct spoilt {
    const char *find, *by;
    kw_status status;
    const char *says;
} spoilt;

static const spoilt head_cases[] = {
    {"tree\n", "trees\n", KW_MALFORMED, "does not begin with the line \"tree\""},
    {"version=v4\n", "", KW_MALFORMED, "lacks version"},
    {"version=v4", "version=v2", KW_ILLEGAL, "version: v2 is not supported"},
    {"num_class=1", "num_class=3", KW_ILLEGAL, "num_class: 3"},
    {"num_class=1", "num_class=1 1", KW_MALFORMED, "num_class: more than the 1 values"},
    {"num_tree_per_iteration=1", "num_tree_per_iteration=2", KW_ILLEGAL, "num_tree_per_iteration: 2"},
    {"max_feature_idx=1", "max_feature_idx=-1", KW_ILLEGAL, "max_feature_idx: value -1"},
    {"max_feature_idx=1", "max_feature_idx=4096", KW_ILLEGAL, "no integer from 0 to 4095"},
    {"max_feature_idx=1", "max_feature_idx=2", KW_MALFORMED, "feature_names: 2 names where max_feature_idx asks for 3"},
    {"max_feature_idx=1", "max_feature_idx=0", KW_MALFORMED, "feature_names: more than the 1 values"},
    {"objective=regression", "objective=binary sigmoid:1", KW_ILLEGAL, "objective: binary is not supported"},
    {"objective=regression", "objective=regression sqrt", KW_ILLEGAL, "reg_sqrt"},
    {"objective=regression", "objective", KW_MALFORMED, "objective: has no value"},
    {"feature_names=size kind", "feature_names=size size", KW_ILLEGAL, "feature_names: size stands twice"},
    {"feature_names=size kind", "feature_names=size ", KW_ILLEGAL, "name 1 is empty"},
    {"feature_names=size kind", "feature_names=size\tk b", KW_ILLEGAL, "control character"},
    {"tree_sizes=@", "tree_sizes=", KW_ILLEGAL, "0 trees"},
    {"tree_sizes=@", "tree_sizes=@ 5", KW_MALFORMED, "does not begin with the line \"Tree=2\""},
    {"tree_sizes=@", "tree_sizes=5 5", KW_ILLEGAL, "tree_sizes says 5"},
    {"label_index=0", "average_output", KW_ILLEGAL, "random forest"},
    {"label_index=0", "speed=9", KW_ILLEGAL, "key speed of the head is not known"},
    {"label_index=0", "num_class=1", KW_MALFORMED, "num_class: comes twice"},
};

static const spoilt tree_cases[] = {
    {"Tree=0", "Tree=1", KW_MALFORMED, "tree 0: does not begin"},
    {"num_leaves=4", "num_leaves=0", KW_ILLEGAL, "tree 0: num_leaves: 0; a tree has a leaf"},
    {"num_leaves=4", "num_leaves=65537", KW_ILLEGAL, "num_leaves: value 65537"},
    {"num_leaves=4", "num_leaves=5", KW_MALFORMED, "split_feature: no value at position 3"},
    {"num_leaves=4", "num_leaves=3", KW_MALFORMED, "split_feature: more than the 2 values"},
    {"num_leaves=4", "num_leaves=4.0", KW_ILLEGAL, "num_leaves: value 4.0"},
    {"num_cat=1", "num_cat=4", KW_ILLEGAL, "num_cat: value 4"},
    {"num_cat=1", "num_cat=0", KW_MALFORMED, "must not be there"},
    {"num_cat=1", "num_cat=2", KW_ILLEGAL, "decision_type: 1 categorical splits where num_cat says 2"},
    {"split_feature=0 1 0", "split_feature=0 2 0", KW_ILLEGAL, "split_feature: value 2 at position 1 is no integer from 0 to 1"},
    {"split_feature=0 1 0", "split_feature=0 -1 0", KW_ILLEGAL, "value -1"},
    {"split_feature=0 1 0", "split_feature=0 0 0", KW_ILLEGAL, "feature size is split both by threshold and by category"},
    {"split_feature=0 1 0", "split_feature=0  1 0", KW_MALFORMED, "no value at position 1"},
    {"split_feature=0 1 0", "split_feature=0 1 0 ", KW_MALFORMED, "more than the 3"},
    {"split_feature=0 1 0\n", "", KW_MALFORMED, "tree 0: lacks split_feature"},
    {"threshold=2.5", "threshold=nan", KW_MALFORMED, "threshold: value nan at position 0 is not a finite"},
    {"threshold=2.5 0", "threshold=2.5 inf", KW_ILLEGAL, "threshold: value inf at position 1 names no category set"},
    {"threshold=2.5", "threshold=-nan", KW_MALFORMED, "value -nan"},
    {"threshold=2.5", "threshold=+inf", KW_MALFORMED, "value +inf"},
    {"threshold=2.5", "threshold=infinity", KW_MALFORMED, "value infinity"},
    {"leaf_value=0.5", "leaf_value=inf", KW_MALFORMED, "leaf_value: value inf"},
    {"threshold=2.5", "threshold=1e999", KW_ILLEGAL, "beyond the range"},
    {"threshold=2.5", "threshold=0x1p3", KW_MALFORMED, "0x1p3"},
    {"threshold=2.5", "threshold=2,5", KW_MALFORMED, "2,5"},
    {"threshold=2.5", "threshold=1e", KW_MALFORMED, "1e"},
    {"threshold=2.5", "threshold=.", KW_MALFORMED, "value ."},
    {"threshold=2.5 0", "threshold=2.5 1", KW_ILLEGAL, "threshold: value 1 at position 1 names no category set; there are 1"},
    {"threshold=2.5 0", "threshold=2.5 -1", KW_ILLEGAL, "names no category set"},
    {"decision_type=2", "decision_type=14", KW_ILLEGAL, "kind of missing value 3"},
    {"decision_type=2", "decision_type=16", KW_ILLEGAL, "value 16"},
    {"left_child=1", "left_child=0", KW_ILLEGAL, "split 0 is reached twice"},
    {"left_child=1", "left_child=2", KW_ILLEGAL, "split 2 is reached twice"},
    {"left_child=1", "left_child=3", KW_ILLEGAL, "left_child: value 3"},
    {"left_child=1", "left_child=-5", KW_ILLEGAL, "left_child: value -5"},
    {"left_child=1 -1", "left_child=1 -2", KW_ILLEGAL, "leaf 1 is reached twice"},
    {"left_child=1", "left_child=-3", KW_ILLEGAL, "2 of 3 splits and 3 of 4 leaves"},
    {"right_child=2", "right_child=9999999999999999999999", KW_ILLEGAL, "right_child: value 9999999999999999999999"},
    {"leaf_value=0.5", "leaf_value=nan", KW_MALFORMED, "leaf_value: value nan"},
    {"leaf_value=0.5", "leaf_value=0.5 1", KW_MALFORMED, "leaf_value: more than the 4"},
    {"leaf_value=0.5 -1", "leaf_value=0.5", KW_MALFORMED, "leaf_value: no value at position 3"},
    {"cat_boundaries=0 1", "cat_boundaries=1 1", KW_ILLEGAL, "cat_boundaries: value 1 at position 0"},
    {"cat_boundaries=0 1", "cat_boundaries=0 0", KW_ILLEGAL, "cat_boundaries: value 0 at position 1"},
    {"cat_boundaries=0 1", "cat_boundaries=0 2048", KW_ILLEGAL, "cat_boundaries: value 2048"},
    {"cat_boundaries=0 1", "cat_boundaries=0 2", KW_MALFORMED, "cat_threshold: no value at position 1"},
    {"cat_threshold=5", "cat_threshold=4294967296", KW_ILLEGAL, "cat_threshold: value 4294967296"},
    {"cat_threshold=5\n", "", KW_MALFORMED, "must be there"},
    {"is_linear=0", "is_linear=1", KW_ILLEGAL, "linear trees are not supported"},
    {"is_linear=0", "leaf_coeff=1", KW_ILLEGAL, "key leaf_coeff is not known"},
    {"is_linear=0", "num_cat=1", KW_MALFORMED, "num_cat: comes twice"},
    {"shrinkage=1\n\n\n", "shrinkage=1\n\n", KW_MALFORMED, "two empty lines"},
    {"Tree=1", "Tree=7", KW_MALFORMED, "tree 1: does not begin with the line \"Tree=1\""},
    {"leaf_value=0.125", "leaf_value=", KW_MALFORMED, "tree 1: leaf_value: no value at position 0"},
};

static void check_cases(const spoilt *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char text[4 * TEXT_MAX];
        kw_forest *forest = NULL;
        kw_error err = {0};
        make_model(text, cases[i].find, cases[i].by);
        kw_status status = parse(&forest, text, strlen(text), &err);
        if (status != cases[i].status || !strstr(err.text, cases[i].says) || !strstr(err.text, "m.lgbm")) {
            fail_msg("\"%s\" for \"%s\": %d %s", cases[i].by, cases[i].find, (int)status, err.text);
        }
    }
}

static void a_spoilt_head_is_refused_by_name(void **state) {
    (void)state;
    check_cases(head_cases, sizeof head_cases / sizeof *head_cases);
}

static void a_spoilt_tree_is_refused_by_name(void **state) {
    (void)state;
    check_cases(tree_cases, sizeof tree_cases / sizeof *tree_cases);
}

static void what_scoring_does_not_need_is_passed_over(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"objective=regression\n", ""},
                                           {"objective=regression", "objective=lambdarank"},
                                           {"objective=regression", "objective=quantile alpha:0.3"},
                                           {"label_index=0\n", ""},
                                           {"feature_infos=[0:9] -1:0:1:2", "feature_infos=none none"},
                                           {"split_gain=3 2 1", "split_gain=-nan inf 1"},
                                           {"leaf_weight=1 1 1 1\n", ""},
                                           {"is_linear=0\n", ""},
                                           {"shrinkage=1\n", "shrinkage=0.02\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[4 * TEXT_MAX];
        kw_forest *forest = NULL;
        kw_error err = {0};
        make_model(text, cases[i][0], cases[i][1]);
        assert_int_equal(parse(&forest, text, strlen(text), &err), KW_OK);
        kw_forest_drop(&forest);
    }
}

static void a_part_of_a_model_is_refused(void **state) {
    (void)state;
    char text[4 * TEXT_MAX];
    make_model(text, NULL, NULL);
    size_t needed = (size_t)(strstr(text, "end of trees\n") - text) + strlen("end of trees");
    for (size_t size = 0; size < needed; size++) {
        kw_forest *forest = NULL;
        assert_int_not_equal(parse(&forest, text, size, NULL), KW_OK);
    }
    kw_forest *forest = NULL;
    assert_int_equal(parse(&forest, text, needed, NULL), KW_OK);
    kw_forest_drop(&forest);
}

static void any_changed_byte_gives_a_status(void **state) {
    (void)state;
    static const char bytes[] = {'\0', '\n', '-', '9', ' ', '=', 'e', '\x80'};
    char text[4 * TEXT_MAX];
    make_model(text, NULL, NULL);
    size_t size = strlen(text);
    for (size_t i = 0; i < size; i++) {
        for (size_t k = 0; k < sizeof bytes; k++) {
            kw_forest *forest = NULL;
            kw_error err = {0};
            char before = text[i];
            text[i] = bytes[k];
            kw_status status = parse(&forest, text, size, &err);
            assert_int_equal(status, err.status);
            text[i] = before;
            kw_forest_drop(&forest);
        }
    }
}

/* The longest set of categories that is read: 0, 2 and the last one go left. A batch keeps apart the last one and those beyond. */
static void the_largest_category_is_told_from_unknown_ones(void **state) {
    (void)state;
    enum { WORDS = (KW_FOREST_MAX_CATEGORY + 1) / 32, COUNT = 7 };
    static const double kinds[COUNT] = {0, 1, KW_FOREST_MAX_CATEGORY, KW_FOREST_MAX_CATEGORY + 1, 65535, 65536, 65568};
    static char text[4 * TEXT_MAX], sets[TEXT_MAX];
    kw_error err = {0};
    kw_forest *forest = NULL;
    kw_forest_batch *batch = NULL;
    kw_forest_scratch *scratch = NULL;
    int size = snprintf(sets, sizeof sets, "cat_boundaries=0 %d\ncat_threshold=5", WORDS);
    for (int i = 1; i < WORDS; i++) {
        size += snprintf(sets + size, sizeof sets - (size_t)size, " %s", i + 1 < WORDS ? "0" : "2147483648");
    }
    make_model(text, "cat_boundaries=0 1\ncat_threshold=5", sets);
    assert_int_equal(parse(&forest, text, strlen(text), &err), KW_OK);
    double scores[COUNT], problem[2] = {0};
    const double *columns[] = {NULL, kinds};
    const kw_forest_role roles[] = {KW_FOREST_PROBLEM, KW_FOREST_PAIR};
    assert_int_equal(kw_forest_batch_open(&batch, forest, &(kw_forest_candidates){COUNT, roles, columns}, &err), KW_OK);
    assert_int_equal(kw_forest_scratch_open(&scratch, batch, NULL, &err), KW_OK);
    kw_forest_batch_score(batch, scratch, &(kw_forest_query){.values = problem, .columns = columns}, scores);
    for (size_t i = 0; i < COUNT; i++) {
        double row[] = {0, kinds[i]}, score = 0;
        kw_forest_score(forest, row, 1, &score);
        assert_true(score == (i == 0 || i == 2 ? 0.625 : 2.125));
        assert_true(scores[i] == score);
    }
    kw_forest_scratch_close(&scratch);
    kw_forest_batch_close(&batch);
    kw_forest_drop(&forest);
}

static size_t compress_text(unsigned char *out, size_t room, const void *text, size_t size) {
    z_stream stream = {
        .next_in = (unsigned char *)(uintptr_t)text, .avail_in = (unsigned)size, .next_out = out, .avail_out = (unsigned)room};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return room - stream.avail_out;
}

static double score_in_batch(const kw_forest *forest, const double row[2], kw_forest_role role) {
    const kw_forest_role roles[2] = {role, role};
    const double *const columns[2] = {&row[0], &row[1]};
    kw_forest_batch *batch = NULL;
    kw_forest_scratch *scratch = NULL;
    kw_error err = {0};
    double score = 0;
    assert_ok(kw_forest_batch_open(&batch, forest, &(kw_forest_candidates){1, roles, columns}, &err), &err);
    assert_ok(kw_forest_scratch_open(&scratch, batch, "baseline", &err), &err);
    kw_forest_batch_score(batch, scratch, &(kw_forest_query){.values = row, .columns = columns}, &score);
    kw_forest_scratch_close(&scratch);
    kw_forest_batch_close(&batch);
    return score;
}

/* A threshold of 0 or next to it: LightGBM goes left where the value is no greater, and takes what is no number, or next to 0, for 0. So it
 * is where a split behind it asks for numbers that are missing (10), and where it asks for zeros (6), which then have a bin of their own. */
static void at_a_threshold_of_zero_zero_goes_left(void **state) {
    (void)state;
    static const char *const thresholds[] = {"0", "-0", "1e-35", "-1e-35", "5e-324", "-5e-324", "2.5", "-2.5"}, *const behind[] = {"10",
                                                                                                                                   "6"};
    static const double values[] = {0, -0.0, NAN, 5e-324, -5e-324, 1};
    for (size_t i = 0; i < 2 * sizeof thresholds / sizeof *thresholds; i++) {
        char text[4 * TEXT_MAX], by[96];
        kw_forest *forest = NULL;
        kw_error err = {0};
        bool zeros = i % 2;
        snprintf(by, sizeof by, "threshold=%s 0 -1.5e-3\ndecision_type=2 1 %s", thresholds[i / 2], behind[zeros]);
        make_model(text, "threshold=2.5 0 -1.5e-3\ndecision_type=2 1 10", by);
        assert_ok(parse(&forest, text, strlen(text), &err), &err);
        for (size_t j = 0; j < sizeof values / sizeof *values; j++) {
            const double row[2] = {values[j], 0}, value = isnan(values[j]) || fabs(values[j]) < 1e-35 ? 0 : values[j];
            bool by_default = zeros ? value == 0 : isnan(values[j]);
            double wanted = (value <= strtod(thresholds[i / 2], NULL) ? 0.5
                             : by_default || value <= -1.5e-3         ? -1
                                                                      : 4.25) +
                            0.125,
                   score = 0;
            kw_forest_score(forest, row, 1, &score);
            if (!same_double(score, wanted) || !same_double(score_in_batch(forest, row, KW_FOREST_KERNEL), wanted) ||
                !same_double(score_in_batch(forest, row, KW_FOREST_PROBLEM), wanted) ||
                !same_double(score_in_batch(forest, row, KW_FOREST_PAIR), wanted)) {
                fail_msg("%g at %s, %s behind: not %g", values[j], thresholds[i / 2], behind[zeros], wanted);
            }
        }
        kw_forest_drop(&forest);
    }
}

static void gzip_is_read_and_bounded(void **state) {
    (void)state;
    char text[4 * TEXT_MAX];
    unsigned char *packed = malloc(1 << 16);
    kw_forest *forest = NULL;
    kw_error err = {0};
    make_model(text, NULL, NULL);
    size_t size = compress_text(packed, 1 << 16, text, strlen(text));
    assert_int_equal(parse(&forest, (char *)packed, size, &err), KW_OK);
    kw_forest_drop(&forest);
    for (size_t part = 2; part < size; part++) {
        assert_int_equal(parse(&forest, (char *)packed, part, &err), KW_MALFORMED);
    }
    assert_non_null(strstr(err.text, "cut short"));
    packed[size] = 'x';
    assert_int_equal(parse(&forest, (char *)packed, size + 1, &err), KW_MALFORMED);
    assert_non_null(strstr(err.text, "1 bytes follow"));
    packed[size / 2] ^= 0x55;
    assert_int_not_equal(parse(&forest, (char *)packed, size, &err), KW_OK);

    size_t bomb = 16 << 20;
    char *zeros = calloc(bomb, 1);
    size = compress_text(packed, 1 << 16, zeros, bomb);
    assert_int_equal(parse(&forest, (char *)packed, size, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "the most for a file of its size"));
    free(zeros);
    free(packed);
}

static void a_file_that_is_not_there_is_missing(void **state) {
    (void)state;
    kw_forest *forest = NULL;
    kw_error err = {0};
    assert_int_equal(kw_forest_load(&forest, KW_FOREST_DATA "/none.lgbm", &err), KW_MISSING);
    assert_int_equal(kw_forest_load(&forest, KW_FOREST_DATA, &err), KW_IO);
    assert_null(forest);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_model_is_read_as_it_stands),
        cmocka_unit_test(a_spoilt_head_is_refused_by_name),
        cmocka_unit_test(a_spoilt_tree_is_refused_by_name),
        cmocka_unit_test(what_scoring_does_not_need_is_passed_over),
        cmocka_unit_test(a_part_of_a_model_is_refused),
        cmocka_unit_test(any_changed_byte_gives_a_status),
        cmocka_unit_test(the_largest_category_is_told_from_unknown_ones),
        cmocka_unit_test(at_a_threshold_of_zero_zero_goes_left),
        cmocka_unit_test(gzip_is_read_and_bounded),
        cmocka_unit_test(a_file_that_is_not_there_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
