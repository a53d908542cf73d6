/* test_ranking.c: a ranking gives for each config what the forest gives for its row, in nanoseconds. The batch is the default catalog of
 * one architecture. The program's allocation functions are wrapped, so that they can be counted and made to fail. */

#include "base/embedded.h"
#include "config/catalog.h"
#include "predict/forest/forest.h"
#include "predict/predict.h"
#include "sample_model.h"
#include "support/kw_test.h"
#include "support/memory_limit.h"

#include <math.h>

extern const kw_embedded kw_default_catalogs[];

/* --- rankings --------------------------------------------------------------------------------------------------------- */

/* The configs of one operation and type of the default catalog, and everything a ranking asks for. */
typedef struct batch {
    kw_catalog catalog;
    const kw_config **configs;
    kw_launch *launches;
    const kw_launch **fitting;
    double *estimates, *ns;
    size_t count;
    kw_target target;
} batch;

static void open_batch(batch *p, kw_op op, kw_dtype dtype) {
    kw_text text = {0};
    *p = (batch){0};
    assert_int_equal(kw_target_parse(&p->target, TARGET, NULL), KW_OK);
    assert_int_equal(kw_embedded_text(&text, kw_embedded_find(kw_default_catalogs, p->target.arch), NULL), KW_OK);
    assert_int_equal(kw_catalog_read(&p->catalog, p->target.arch, text.data, text.size, NULL), KW_OK);
    kw_text_drop(&text);
    p->configs = calloc(p->catalog.count, sizeof *p->configs);
    p->launches = calloc(p->catalog.count, sizeof *p->launches);
    p->fitting = calloc(p->catalog.count, sizeof *p->fitting);
    p->estimates = calloc(p->catalog.count, sizeof *p->estimates);
    p->ns = calloc(p->catalog.count, sizeof *p->ns);
    for (size_t i = 0; i < p->catalog.count; i++) {
        const kw_config *config = &p->catalog.configs[i];
        if (config->op == op && config->dtype == dtype) {
            p->configs[p->count++] = config;
        }
    }
    assert_true(p->count > 10);
}

static void close_batch(batch *p) {
    kw_catalog_drop(&p->catalog);
    free(p->configs);
    free(p->launches);
    free(p->fitting);
    free(p->estimates);
    free(p->ns);
}

static kw_problem aim(batch *p, const char *text) {
    kw_problem problem;
    assert_int_equal(kw_problem_parse(&problem, text, NULL), KW_OK);
    for (size_t i = 0; i < p->count; i++) {
        p->fitting[i] = NULL;
        p->launches[i] = (kw_launch){0};
        if (!kw_config_fits(p->configs[i], &problem, &p->target, NULL)) {
            p->configs[i]->family->launch(p->configs[i], &problem, &p->target, &p->launches[i]);
            p->fitting[i] = &p->launches[i];
            p->estimates[i] = kw_predict_ns(p->configs[i], &problem, &p->target, p->fitting[i]);
        }
    }
    return problem;
}

static kw_ranking *rank(const batch *p, const kw_model *model) {
    kw_ranking *ranking = NULL;
    kw_error err = {0};
    if (kw_ranking_open(&ranking, model, p->configs, p->count, &err)) {
        fail_msg("%s", err.text);
    }
    return ranking;
}

/* The code that a family has in the list of names; NaN where it is not there. */
static double code_of(const char *const *names, const char *family) {
    for (size_t i = 0; names[i]; i++) {
        if (!strcmp(names[i], family)) {
            return (double)i;
        }
    }
    return NAN;
}

/* Whether it fits, and the model saw kernels of its family; else it says nothing of it. */
static bool is_known(const stumps *what, const batch *p, size_t i) {
    return p->fitting[i] && !isnan(code_of(what->families, p->configs[i]->family->name));
}

/* The definition: the whole row, and the forest on it. */
static double score_row(const stumps *what, const kw_forest *forest, const kw_native_features *own, const kw_problem *problem,
                        const batch *p, size_t i) {
    const kw_feature_table *table = kw_native_features_table(own);
    double *row = calloc(table->count, sizeof *row), features[16], score;
    kw_native_features_problem sight;
    kw_native_problem_read(&sight, problem, &p->target);
    kw_native_features_fill_problem(own, row, &sight);
    kw_native_features_fill_config(own, row, p->configs[i]);
    kw_native_features_tiles tiles = kw_native_features_tiles_of(p->configs[i]);
    kw_native_features_fill_tiled(own, row, &sight, &tiles, p->fitting[i], p->estimates[i]);
    row[kw_feature_find(table, "family")] = code_of(what->families, p->configs[i]->family->name);
    for (size_t j = 0; j < kw_forest_describe(forest).features; j++) {
        features[j] = row[kw_feature_find(table, kw_forest_feature(forest, j))];
    }
    kw_forest_score(forest, features, 1, &score);
    free(row);
    return score;
}

static const char *const conv_problems[] = {
    "conv_fwd fp32 nhwgc n1 c64 k64 i56x56 f3x3 p1x1",  "conv_fwd fp32 nhwgc n4 c256 k512 i14x14 f1x1",
    "conv_fwd fp32 nhwgc n1 c3 k64 i224x224 f7x7 s2x2", "conv_fwd fp32 nhwgc n2 g96 c96 k96 i28x28 f3x3 p1x1",
    "conv_fwd fp32 nhwgc n1 c17 k33 i9x7 f2x2",         "conv_fwd fp32 ngchw n1 c8 k8 i6x6 f3x3",
};

static void a_ranking_gives_what_the_forest_gives_row_by_row(void **state) {
    (void)state;
    kw_text spec = {0}, text = {0};
    kw_forest *forest = NULL;
    kw_native_features *own = NULL;
    batch p;
    size_t compared = 0, unfit = 0;
    stumps_write(&plain, &spec, &text);
    assert_int_equal(kw_forest_parse(&forest, "stumps", text.data, text.size, NULL), KW_OK);
    assert_int_equal(kw_native_features_open(&own, NULL), KW_OK);
    kw_model *model = open_stumps(&plain);
    open_batch(&p, KW_CONV_FWD, KW_FP32);
    kw_ranking *ranking = rank(&p, model);
    for (size_t n = 0; n < sizeof conv_problems / sizeof *conv_problems; n++) {
        kw_problem problem = aim(&p, conv_problems[n]);
        kw_ranking_score(ranking, &problem, &p.target, p.fitting, p.estimates, p.ns);
        for (size_t i = 0; i < p.count; i++) {
            double expected = is_known(&plain, &p, i) ? exp(score_row(&plain, forest, own, &problem, &p, i)) : INFINITY;
            if (memcmp(&expected, &p.ns[i], sizeof expected)) {
                fail_msg("%s, config %zu: %.17g, by its row %.17g", conv_problems[n], i, p.ns[i], expected);
            }
            compared += p.fitting[i] != NULL;
            unfit += !p.fitting[i];
        }
    }
    assert_true(compared > 50 && unfit > 10);
    kw_ranking_close(&ranking);
    kw_model_close(&model);
    kw_native_features_close(&own);
    kw_forest_drop(&forest);
    kw_text_drop(&spec);
    kw_text_drop(&text);
    close_batch(&p);
}

/* What dispatch asks: parts of estimates in place of their sums, and kernels of one problem in places that had others. */
static void parts_and_replaced_kernels_score_as_the_same_ones_from_the_first(void **state) {
    (void)state;
    batch p;
    open_batch(&p, KW_CONV_FWD, KW_FP32);
    kw_problem problem = aim(&p, conv_problems[0]);
    kw_model *model = open_stumps(&plain);
    kw_ranking *ranking = rank(&p, model), *turned = NULL;
    kw_estimate *parts = calloc(p.count, sizeof *parts);
    const kw_config **first = calloc(p.count, sizeof *first);
    double *ns = calloc(p.count, sizeof *ns);
    assert_true(parts && first && ns);
    for (size_t i = 0; i < p.count; i++) {
        first[i] = p.configs[p.count - 1 - i];
        if (p.fitting[i]) {
            parts[i] = kw_estimate_of(p.configs[i], &problem, (double)kw_problem_bytes(&problem), &p.target, p.fitting[i]);
        }
    }
    assert_int_equal(kw_ranking_open(&turned, model, first, p.count, NULL), KW_OK);
    for (size_t i = 0; i < p.count; i++) {
        kw_ranking_replace(turned, i, p.configs[i]);
    }
    kw_ranking_score(ranking, &problem, &p.target, p.fitting, p.estimates, p.ns);
    kw_ranking_score_parts(turned, &problem, &p.target, p.fitting, parts, ns);
    assert_memory_equal(ns, p.ns, p.count * sizeof *ns);
    kw_ranking_close(&ranking);
    kw_ranking_close(&turned);
    kw_model_close(&model);
    close_batch(&p);
    free(parts);
    free(first);
    free(ns);
}

/* Another version's table had a feature that no tree came to ask about. */
static void a_feature_that_no_tree_asks_about_need_not_be_ours(void **state) {
    static const stump trees[] = {{"log2_gk", 1, 1, 2, false}, {"moon_phase", 1, 1, 2, false}, {NULL, 0, 0, 0, false}};
    (void)state;
    kw_text spec = {0}, forest = {0}, spec_of_fewer = {0};
    kw_model *model = NULL;
    kw_error err = {0};
    stumps what = plain;
    what.trees = trees;
    stumps_write(&what, &spec, &forest);
    char *asks = strstr(forest.data, "split_feature=1");
    assert_non_null(asks);
    asks[strlen("split_feature=")] = '0';
    stumps_write_spec(&what, &spec_of_fewer, &forest);
    if (kw_model_parse(&model, spec_of_fewer.data, spec_of_fewer.size, forest.data, forest.size, &err)) {
        fail_msg("%s", err.text);
    }
    batch p;
    open_batch(&p, KW_CONV_FWD, KW_FP32);
    kw_problem problem = aim(&p, "conv_fwd fp32 nhwgc n1 c64 k64 i56x56 f3x3 p1x1");
    kw_ranking *ranking = rank(&p, model);
    kw_ranking_score(ranking, &problem, &p.target, p.fitting, p.estimates, p.ns);
    for (size_t i = 0; i < p.count; i++) {
        assert_true(is_known(&what, &p, i) ? isfinite(p.ns[i]) : isinf(p.ns[i]));
    }
    kw_ranking_close(&ranking);
    kw_model_close(&model);
    close_batch(&p);
    kw_text_drop(&spec);
    kw_text_drop(&forest);
    kw_text_drop(&spec_of_fewer);
}

/* Half way between the best and the worst estimate of those that fit and are known, in bits. */
static double middle_of(const batch *p) {
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < p->count; i++) {
        low = is_known(&plain, p, i) ? fmin(low, p->estimates[i]) : low;
        high = is_known(&plain, p, i) ? fmax(high, p->estimates[i]) : high;
    }
    assert_true(high > 1.01 * low);
    return (log2(low) + log2(high)) / 2;
}

/* One tree that gives 0.25 to the better half of the estimates and 0.5 to the others. */
static void every_quantity_becomes_nanoseconds(void **state) {
    (void)state;
    batch p;
    open_batch(&p, KW_CONV_FWD, KW_FP32);
    kw_problem problem = aim(&p, conv_problems[0]);
    double flops = (double)kw_problem_flops(&problem), best = INFINITY, middle = middle_of(&p);
    const stump trees[] = {{"log2_estimate", middle, 0.25, 0.5, false}, {NULL, 0, 0, 0, false}};
    for (size_t i = 0; i < p.count; i++) {
        best = is_known(&plain, &p, i) ? fmin(best, p.estimates[i]) : best;
    }
    for (int quantity = 0; quantity < KW_PREDICTS_COUNT; quantity++) {
        stumps what = {kw_model_quantity_name((kw_model_quantity)quantity), one_target, two_served, strange_families, trees};
        kw_model *model = open_stumps(&what);
        kw_ranking *ranking = rank(&p, model);
        kw_ranking_score(ranking, &problem, &p.target, p.fitting, p.estimates, p.ns);
        for (size_t i = 0; i < p.count; i++) {
            double score = log2(p.estimates[i]) <= middle ? 0.25 : 0.5;
            const double expected[KW_PREDICTS_COUNT] = {
                [KW_PREDICTS_RATIO] = p.estimates[i] * exp(score),
                [KW_PREDICTS_RELATIVE] = best * exp(score - 0.25),
                [KW_PREDICTS_TFLOPS] = flops / (1e12 * expm1(score)) * 1e9,
                [KW_PREDICTS_TIME] = exp(score),
                [KW_PREDICTS_RANK] = best * exp(0.5 - score),
                [KW_PREDICTS_LATENCY] = score * 1e6,
                [KW_PREDICTS_BANDWIDTH] = (double)kw_problem_bytes(&problem) / expm1(score),
                [KW_PREDICTS_PLAIN_TFLOPS] = flops / (1e3 * score),
                [KW_PREDICTS_PLAIN_BANDWIDTH] = (double)kw_problem_bytes(&problem) / score,
            };
            double wanted = is_known(&what, &p, i) ? expected[quantity] : INFINITY;
            if (isfinite(wanted) ? fabs(p.ns[i] / wanted - 1) > 1e-12 : p.ns[i] != wanted) {
                fail_msg("%s, config %zu: %.17g instead of %.17g", what.predicts, i, p.ns[i], wanted);
            }
        }
        kw_ranking_close(&ranking);
        kw_model_close(&model);
    }
    close_batch(&p);
}

static void a_target_without_rows_gets_half_of_the_correction_in_any_order_of_asking(void **state) {
    (void)state;
    batch p;
    open_batch(&p, KW_CONV_FWD, KW_FP32);
    kw_problem problem = aim(&p, conv_problems[0]);
    const stump trees[] = {{"log2_estimate", middle_of(&p), 1, -1, false}, {NULL, 0, 0, 0, false}};
    stumps what = {"ratio", one_target, two_served, strange_families, trees};
    kw_model *model = open_stumps(&what);
    kw_ranking *ranking = rank(&p, model);
    double *near = calloc(p.count, sizeof *near);
    kw_target far = p.target;
    strcpy(far.model, "another-1-2-3");
    kw_ranking_score(ranking, &problem, &p.target, p.fitting, p.estimates, near);
    for (int round = 0; round < 2; round++) {
        kw_ranking_score(ranking, &problem, &far, p.fitting, p.estimates, p.ns);
        for (size_t i = 0; i < p.count; i++) {
            double wanted = p.fitting[i] ? sqrt(near[i] * p.estimates[i]) : INFINITY;
            if (p.fitting[i] ? fabs(p.ns[i] / wanted - 1) > 1e-12 : p.ns[i] != wanted) {
                fail_msg("round %d, config %zu: %.17g instead of %.17g", round, i, p.ns[i], wanted);
            }
        }
        kw_ranking_score(ranking, &problem, &p.target, p.fitting, p.estimates, p.ns);
        assert_memory_equal(p.ns, near, p.count * sizeof *near);
    }
    free(near);
    kw_ranking_close(&ranking);
    kw_model_close(&model);
    close_batch(&p);
}

/* Scores beyond what a time can be: infinite, never NaN. */
static void what_is_no_time_is_infinite(void **state) {
    static const struct {
        const char *predicts;
        double low, high;
    } cases[] = {
        {"time", 0, 1e4},        {"ratio", 1e300, 0}, {"relative", 0, 1e308},
        {"rank", 1e308, -1e308}, {"tflops", -1, 0},   {"relative", -1e308, 1e308},
    };
    (void)state;
    batch p;
    open_batch(&p, KW_CONV_FWD, KW_FP32);
    kw_problem problem = aim(&p, conv_problems[0]);
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        const stump trees[] = {{"log2_estimate", middle_of(&p), cases[n].low, cases[n].high, false}, {NULL, 0, 0, 0, false}};
        stumps what = {cases[n].predicts, one_target, two_served, strange_families, trees};
        kw_model *model = open_stumps(&what);
        kw_ranking *ranking = rank(&p, model);
        size_t infinite = 0;
        kw_ranking_score(ranking, &problem, &p.target, p.fitting, p.estimates, p.ns);
        for (size_t i = 0; i < p.count; i++) {
            assert_true(p.ns[i] >= 0);
            infinite += p.fitting[i] && isinf(p.ns[i]);
        }
        if (!infinite) {
            fail_msg("case %zu: all are finite", n);
        }
        kw_ranking_close(&ranking);
        kw_model_close(&model);
    }
    close_batch(&p);
}

static void scoring_allocates_nothing(void **state) {
    (void)state;
    batch p;
    open_batch(&p, KW_CONV_FWD, KW_FP32);
    kw_model *model = open_stumps(&plain);
    kw_ranking *ranking = rank(&p, model);
    kw_problem problem = aim(&p, conv_problems[0]);
    memory_asked = 0;
    kw_ranking_score(ranking, &problem, &p.target, p.fitting, p.estimates, p.ns);
    assert_int_equal(memory_asked, 0);
    kw_ranking_close(&ranking);
    kw_model_close(&model);
    close_batch(&p);
}

static void nothing_to_rank_is_refused(void **state) {
    (void)state;
    kw_model *model = open_stumps(&plain);
    kw_ranking *ranking = NULL;
    const kw_config *none = NULL;
    kw_error err = {0};
    assert_int_equal(kw_ranking_open(&ranking, model, &none, 0, &err), KW_ILLEGAL);
    assert_null(ranking);
    assert_non_null(strstr(err.text, "0 kernels"));
    kw_ranking_close(&ranking);
    kw_model_close(&model);
}

static void where_memory_ends_it_says_so_and_leaves_nothing(void **state) {
    (void)state;
    kw_text spec = {0}, forest = {0};
    batch p;
    kw_status status = KW_NO_MEMORY;
    long failing = 0;
    stumps_write(&plain, &spec, &forest);
    open_batch(&p, KW_CONV_FWD, KW_FP32);
    for (; status == KW_NO_MEMORY; failing++) {
        kw_model *model = NULL;
        kw_ranking *ranking = NULL;
        memory_granted = failing;
        status = kw_model_parse(&model, spec.data, spec.size, forest.data, forest.size, NULL);
        status = status ? status : kw_ranking_open(&ranking, model, p.configs, p.count, NULL);
        memory_granted = -1;
        assert_true(!status == (ranking != NULL));
        kw_ranking_close(&ranking);
        kw_model_close(&model);
    }
    assert_int_equal(status, KW_OK);
    assert_true(failing > 20);
    kw_text_drop(&spec);
    kw_text_drop(&forest);
    close_batch(&p);
}

/* Words of an axis in another order are other codes for the same kernels; one that training did not know is a missing value. */
static void words_of_axes_are_known_by_name(void **state) {
    (void)state;
    static const char *const codes[] = {"", "codes isa avx2 avx512\n", "codes isa avx512 mmx avx2\n", "codes isa mmx\n"};
    static const double sets[] = {1, 1, 4, 1}; /* of isa that go left: avx2 but for the last, of which nothing does */
    enum { TREES_MAX = 16 };
    stump trees[TREES_MAX] = {{0}};
    double *all[sizeof sets / sizeof *sets];
    batch p;
    bool differs = false;
    open_batch(&p, KW_CONV_FWD, KW_FP32);
    kw_problem problem = aim(&p, conv_problems[0]);
    for (size_t n = 0; n < sizeof sets / sizeof *sets; n++) {
        stumps what = plain;
        kw_text spec = {0}, forest = {0};
        kw_model *model = NULL;
        kw_error err = {0};
        for (size_t i = 0; plain_trees[i].feature && i < TREES_MAX - 1; i++) {
            trees[i] = plain_trees[i];
            trees[i].threshold = strcmp(trees[i].feature, "isa") ? trees[i].threshold : sets[n];
        }
        what.trees = trees;
        stumps_write(&what, &spec, &forest);
        kw_text_add(&spec, codes[n]);
        if (kw_model_parse(&model, spec.data, spec.size, forest.data, forest.size, &err)) {
            fail_msg("%s", err.text);
        }
        kw_ranking *ranking = rank(&p, model);
        kw_ranking_score(ranking, &problem, &p.target, p.fitting, p.estimates, p.ns);
        all[n] = calloc(p.count, sizeof *all[n]);
        memcpy(all[n], p.ns, p.count * sizeof *all[n]);
        kw_ranking_close(&ranking);
        kw_model_close(&model);
        kw_text_drop(&spec);
        kw_text_drop(&forest);
    }
    for (size_t i = 0; i < p.count; i++) {
        assert_true(all[0][i] == all[1][i] && all[0][i] == all[2][i]);
        differs = differs || all[0][i] != all[3][i];
    }
    assert_true(differs);
    for (size_t n = 0; n < sizeof sets / sizeof *sets; n++) {
        free(all[n]);
    }
    close_batch(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ranking_gives_what_the_forest_gives_row_by_row),
        cmocka_unit_test(parts_and_replaced_kernels_score_as_the_same_ones_from_the_first),
        cmocka_unit_test(a_feature_that_no_tree_asks_about_need_not_be_ours),
        cmocka_unit_test(every_quantity_becomes_nanoseconds),
        cmocka_unit_test(a_target_without_rows_gets_half_of_the_correction_in_any_order_of_asking),
        cmocka_unit_test(what_is_no_time_is_infinite),
        cmocka_unit_test(scoring_allocates_nothing),
        cmocka_unit_test(nothing_to_rank_is_refused),
        cmocka_unit_test(where_memory_ends_it_says_so_and_leaves_nothing),
        cmocka_unit_test(words_of_axes_are_known_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
