/* test_group_evaluation.c: what a predicted order is worth, on problem groups whose figures are worked out by hand; then figures and
 * their intervals. */
#include "support/rows/made_groups.h"
#include "evaluate/metrics.h"
#include "support/kw_test.h"

#include <math.h>

#define END                                                                                                                                \
    { 0, KW_OUTCOME_COUNT, 0, {0}, 0 }
#define PROBLEM "conv_fwd fp32 n1 c64 k64 i28x28 f1"

static void near(double value, double wanted) {
    if (!(fabs(value - wanted) <= 1e-9 * fmax(1, fabs(wanted)))) {
        fail_msg("%.12g is not %.12g", value, wanted);
    }
}

/* One problem group evaluated by the given times. */
static bool evaluate(kw_group_evaluation *evaluation_of_group, const made_pair *pairs, const double *ns, kw_scorer_kind kind) {
    const made_group problem_group = {PROBLEM, pairs};
    kw_dataset dataset;
    kw_group_oracle *oracles = NULL;
    kw_group_evaluation *list = NULL;
    size_t count;
    bool served = true;
    kw_error err = {0};
    made_groups_make(&dataset, &problem_group, 1);
    kw_scores scores = {.kind = kind, .ns = (double *)(uintptr_t)ns, .served = &served};
    if (kw_group_oracles_create(&oracles, &dataset, &err) ||
        kw_group_evaluations_create(&list, &count, &dataset, oracles, &scores, NULL, &err)) {
        fail_msg("%s", err.text);
    }
    if (count) {
        *evaluation_of_group = list[0];
    }
    free(list);
    free(oracles);
    kw_dataset_close(&dataset);
    return count;
}

/* Kernel 0 is the best; 1 is behind it by less than the noise (2 sqrt(2) of 100, and 2 %); 3 was dropped for being slow, 4 crashed. */
static const made_pair mixed[] = {
    {0, KW_GOOD, 100, {0}, 5},  {1, KW_GOOD, 101, {0}, 5},  {2, KW_GOOD, 150, {0}, 5},
    {3, KW_SLOW, 1000, {0}, 0}, {4, KW_CRASHED, 0, {0}, 0}, END,
};

static void a_pick_is_worth_what_it_takes(void **state) {
    (void)state;
    static const struct {
        const char *what;
        double ns[5];
        double efficiency, efficiency_untied, selected_ns;
        bool tied, failed;
        size_t selected_rank, best_rank;
    } cases[] = {
        {"the best", {1, 2, 3, 4, 5}, 1, 1, 100, true, false, 1, 1},
        {"a tie", {2, 1, 3, 4, 5}, 1, 100 / 101.0, 101, true, false, 2, 2},
        {"a slower one", {5, 4, 1, 3, 2}, 100 / 150.0, 100 / 150.0, 150, false, false, 3, 5},
        {"one dropped for being slow", {2, 3, 4, 1, 5}, 0.1, 0.1, 1000, false, false, 4, 2},
        {"one that crashed", {2, 3, 4, 5, 1}, 0, 0, 150, false, true, 5, 2},
        {"equal times: the first by text", {7, 7, 7, 7, 7}, 1, 1, 100, true, false, 1, 1},
        {"nothing said of the best", {NAN, NAN, 1, NAN, NAN}, 100 / 150.0, 100 / 150.0, 150, false, false, 3, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_group_evaluation j;
        print_message("%s\n", cases[i].what);
        assert_true(evaluate(&j, mixed, cases[i].ns, KW_SCORES_UNTIMED));
        near(j.efficiency, cases[i].efficiency);
        near(j.efficiency_untied, cases[i].efficiency_untied);
        near(j.selected_ns, cases[i].selected_ns);
        near(j.oracle_ns, 100);
        assert_int_equal(j.tied, cases[i].tied);
        assert_int_equal(j.failed, cases[i].failed);
        assert_int_equal(j.selected_rank, cases[i].selected_rank);
        assert_int_equal(j.best_rank, cases[i].best_rank);
        assert_int_equal(j.candidates, 5);
        assert_int_equal(j.good, 4);
    }
}

static void neither_oracle_nor_pick_profits_from_noise(void **state) {
    (void)state;
    /* Each of the two is the best by one half and the worse by the other: the oracle takes what the other half says. */
    static const made_pair crossed[] = {{0, KW_GOOD, 95, {90, 110}, 5}, {1, KW_GOOD, 99, {112, 88}, 0}, END};
    static const double first[] = {1, 2}, second[] = {2, 1};
    kw_group_evaluation j;
    assert_true(evaluate(&j, crossed, first, KW_SCORES_UNTIMED));
    near(j.oracle_ns, (110 + 112) / 2.0);
    near(j.selected_ns, 100);
    near(j.efficiency_untied, 1);
    assert_true(evaluate(&j, crossed, second, KW_SCORES_UNTIMED));
    near(j.selected_ns, 100);
    assert_false(j.tied);
}

static void a_tie_needs_a_small_difference_and_noise(void **state) {
    (void)state;
    static const struct {
        double times[2], spread;
        bool tied;
    } cases[] = {
        {{100, 100}, 0, true},   {{100, 101}, 0, false}, {{100, 101}, 1.7, false},
        {{100, 101}, 1.8, true}, {{100, 102}, 50, true}, {{100, 102.1}, 50, false}, /* 2 % is the limit */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_pair a = {.outcome = KW_GOOD, .samples = 25, .time_ns = cases[i].times[0], .spread_ns = cases[i].spread}, b = a;
        b.time_ns = cases[i].times[1];
        assert_int_equal(kw_pair_tied(&a, &b, &kw_noise_credit), cases[i].tied);
        assert_int_equal(kw_pair_tied(&b, &a, &kw_noise_credit), cases[i].tied);
        b.outcome = KW_SLOW;
        assert_false(kw_pair_tied(&a, &b, &kw_noise_credit));
    }
}

static void orders_are_measured_by_gain_and_rank(void **state) {
    (void)state;
    static const made_pair pairs[] = {
        {0, KW_GOOD, 100, {0}, 0}, {1, KW_GOOD, 200, {0}, 0}, {2, KW_GOOD, 400, {0}, 0}, {3, KW_WRONG, 0, {0}, 0}, END};
    static const double right[] = {1, 2, 3, 4}, wrong[] = {4, 3, 2, 1}, flat[] = {1, 1, 1, 1};
    const double ideal = 1 + 0.5 / log2(3) + 0.25 / 2;
    kw_group_evaluation j;
    assert_true(evaluate(&j, pairs, right, KW_SCORES_UNTIMED));
    near(j.ndcg, 1);
    near(j.spearman, 1);
    assert_true(evaluate(&j, pairs, wrong, KW_SCORES_UNTIMED));
    near(j.ndcg, (0.25 / log2(3) + 0.5 / 2 + 1 / log2(5)) / ideal);
    near(j.spearman, -1);
    assert_true(evaluate(&j, pairs, flat, KW_SCORES_UNTIMED));
    near(j.ndcg, 1);
    assert_true(isnan(j.spearman));
    static const double partly[] = {1, 3, 3, 9}; /* ranks 0, 1.5, 1.5 against 0, 1, 2 */
    assert_true(evaluate(&j, pairs, partly, KW_SCORES_UNTIMED));
    near(j.spearman, 1.5 / sqrt(1.5 * 2));
}

static void a_shortlist_is_worth_its_best(void **state) {
    (void)state;
    static const made_pair pairs[] = {
        {0, KW_GOOD, 400, {0}, 0},
        {1, KW_GOOD, 300, {0}, 0},
        {2, KW_GOOD, 200, {0}, 0},
        {3, KW_CRASHED, 0, {0}, 0},
        {4, KW_GOOD, 160, {0}, 0},
        {5, KW_GOOD, 100, {0}, 0},
        END,
    };
    static const double ns[] = {1, 2, 3, 4, 5, 6}, last[] = {6, 5, 4, 1, 2, 3};
    static const double close[] = {1, 2, 3, 4, 1.4, 6};
    kw_group_evaluation j;
    assert_true(evaluate(&j, pairs, ns, KW_SCORES_UNTIMED));
    near(j.shortlist[0], 0.5);
    near(j.shortlist[1], 100 / 160.0);
    near(j.shortlist[2], 1);
    assert_true(evaluate(&j, pairs, last, KW_SCORES_UNTIMED));
    near(j.efficiency, 0);
    near(j.shortlist[0], 1);
    /* By a model: its best, the estimate's best (kernel 0, the same), each family within reach, then in order. */
    assert_true(evaluate(&j, pairs, close, KW_SCORES_MODEL));
    near(j.shortlist[0], 100 / 160.0);
    /* By the estimate: the best of each family first. */
    assert_true(evaluate(&j, pairs, ns, KW_SCORES_ESTIMATE));
    near(j.shortlist[0], 100 / 160.0);
}

static void a_contest_without_a_good_kernel_is_not_judged(void **state) {
    (void)state;
    static const made_pair unsolved[] = {{0, KW_CRASHED, 0, {0}, 0}, {1, KW_WRONG, 0, {0}, 0}, {2, KW_SLOW, 5, {0}, 0}, END};
    static const double ns[] = {1, 2, 3};
    kw_group_evaluation j;
    assert_false(evaluate(&j, unsolved, ns, KW_SCORES_UNTIMED));
}

/* --- figures ---------------------------------------------------------------------------------------------------------- */

/* Evaluations with efficiencies 0, 0.1, ... 0.9 of selections that take 10 and oracles that take 10 times the efficiency. */
static void make_ten(kw_group_evaluation list[10], size_t which[10]) {
    for (size_t i = 0; i < 10; i++) {
        double efficiency = (double)i / 10;
        list[i] = (kw_group_evaluation){.shape = i + 1,
                                        .efficiency = efficiency,
                                        .efficiency_untied = efficiency,
                                        .oracle_ns = 10 * efficiency,
                                        .selected_ns = 10,
                                        .failed = !i,
                                        .tied = i == 9,
                                        .candidates = 10 + i,
                                        .best_rank = i + 1,
                                        .selected_rank = 10 - i,
                                        .ndcg = efficiency,
                                        .spearman = i < 2 ? NAN : efficiency,
                                        .shortlist = {efficiency, 1, efficiency}};
        which[i] = 9 - i;
    }
}

static void figures_are_what_the_hand_says(void **state) {
    (void)state;
    kw_group_evaluation list[10];
    size_t which[10];
    kw_evaluation_metrics f;
    make_ten(list, which);
    assert_int_equal(kw_evaluation_metrics_compute(&f, list, which, 10, NULL), KW_OK);
    near(f.mean.value, 0.45);
    near(f.mean_efficiency_untied.value, 0.45);
    near(f.median.value, 0.45);
    near(f.p10.value, 0.09); /* between 0 and 0.1, nine tenths of the way */
    near(f.p1.value, 0.009);
    near(f.worst.value, 0);
    near(f.regret.value, 100 / 45.0 - 1);
    near(f.tied.value, 0.1);
    near(f.best_in_1.value, 0.1);
    near(f.best_in_3.value, 0.3);
    near(f.best_in_5.value, 0.5);
    near(f.best_in_10.value, 1);
    near(f.selected_in_3.value, 0.3);
    near(f.selected_in_5.value, 0.5);
    near(f.selected_in_10.value, 0.9); /* the failed selection is in no list */
    near(f.ndcg.value, 0.45);
    near(f.spearman.value, 4.4 / 8);
    near(f.coverage.value, 0.9);
    near(f.shortlist_3.value, 0.45);
    near(f.shortlist_5.value, 1);
    near(f.shortlist_8.value, 0.45);
    near(f.shortlist_8_p10.value, 0.09);
    near(f.candidates, 14.5);
    near(f.candidates_min, 10);
    near(f.candidates_max, 19);
    assert_int_equal(f.problem_groups, 10);
    assert_int_equal(f.problems, 10);
    assert_int_equal(f.failed, 1);
    near(f.shortlist_5.low, 1);
    near(f.shortlist_5.high, 1);
    /* The mean of ten such numbers has a standard error of 0.287 / sqrt(10) = 0.091. */
    assert_true(fabs(f.mean.low - (0.45 - 1.96 * 0.091)) < 0.02 && fabs(f.mean.high - (0.45 + 1.96 * 0.091)) < 0.02);
}

static void figures_do_not_depend_on_order_and_come_again(void **state) {
    (void)state;
    kw_group_evaluation list[10];
    size_t which[10], same[10];
    kw_evaluation_metrics a, b;
    make_ten(list, which);
    memcpy(same, which, sizeof same);
    assert_int_equal(kw_evaluation_metrics_compute(&a, list, which, 10, NULL), KW_OK);
    assert_int_equal(kw_evaluation_metrics_compute(&b, list, same, 10, NULL), KW_OK);
    assert_memory_equal(&a, &b, sizeof a);
    for (size_t i = 0; i < 10; i++) {
        same[i] = i;
    }
    assert_int_equal(kw_evaluation_metrics_compute(&b, list, same, 10, NULL), KW_OK);
    near(b.mean.value, a.mean.value);
    near(b.p10.low, a.p10.low);
}

static void groups_of_one_shape_are_drawn_together(void **state) {
    (void)state;
    kw_group_evaluation list[10];
    size_t which[10];
    kw_evaluation_metrics apart, together, one;
    make_ten(list, which);
    assert_int_equal(kw_evaluation_metrics_compute(&apart, list, which, 10, NULL), KW_OK);
    for (size_t i = 0; i < 10; i++) {
        list[i].shape = i < 5 ? 7 : 8; /* the bad ones and the good ones */
    }
    assert_int_equal(kw_evaluation_metrics_compute(&together, list, which, 10, NULL), KW_OK);
    assert_int_equal(together.problems, 2);
    assert_true(together.mean.high - together.mean.low > apart.mean.high - apart.mean.low);
    near(together.mean.low, 0.2);
    near(together.mean.high, 0.7);
    for (size_t i = 0; i < 10; i++) {
        list[i].shape = 7;
    }
    assert_int_equal(kw_evaluation_metrics_compute(&one, list, which, 10, NULL), KW_OK);
    near(one.mean.low, one.mean.value);
    near(one.mean.high, one.mean.value);
}

static void nothing_gives_no_figure(void **state) {
    (void)state;
    kw_evaluation_metrics f;
    kw_group_evaluation none = {0};
    size_t which = 0;
    kw_metric mean;
    assert_int_equal(kw_evaluation_metrics_compute(&f, &none, &which, 0, NULL), KW_OK);
    assert_int_equal(f.problem_groups, 0);
#define IS_NOTHING(name, meaning) assert_true(isnan(f.name.value) && isnan(f.name.low) && isnan(f.name.high));
    KW_EVALUATION_METRICS(IS_NOTHING)
#undef IS_NOTHING
    assert_int_equal(kw_mean_metric(&mean, &none, NULL, 0, NULL), KW_OK);
    assert_true(isnan(mean.value));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pick_is_worth_what_it_takes),
        cmocka_unit_test(neither_oracle_nor_pick_profits_from_noise),
        cmocka_unit_test(a_tie_needs_a_small_difference_and_noise),
        cmocka_unit_test(orders_are_measured_by_gain_and_rank),
        cmocka_unit_test(a_shortlist_is_worth_its_best),
        cmocka_unit_test(a_contest_without_a_good_kernel_is_not_judged),
        cmocka_unit_test(figures_are_what_the_hand_says),
        cmocka_unit_test(figures_do_not_depend_on_order_and_come_again),
        cmocka_unit_test(groups_of_one_shape_are_drawn_together),
        cmocka_unit_test(nothing_gives_no_figure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
