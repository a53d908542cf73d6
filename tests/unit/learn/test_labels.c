/* test_labels.c: what a model learns, what it says back, and what a selection of it is worth. */
#include "learn/data/selection.h"
#include "learn/data/labels.h"
#include "learn/data/rate_errors.h"
#include "support/kw_test.h"

#include <math.h>

enum { PAIRS = 6 };

/* One problem group: good 100 and 150 ns, slow 400 and 5000, failed, and good with a lucky first half. */
typedef struct scene {
    kw_problem_group problem_groups[2];
    kw_pair pairs[PAIRS + 1];
    kw_dataset dataset;
} scene;

static kw_pair pair_of(kw_outcome outcome, double time) {
    return (kw_pair){.outcome = outcome,
                     .samples = outcome == KW_GOOD   ? 21
                                : outcome == KW_SLOW ? 2
                                                     : 0,
                     .time_ns = time,
                     .half_ns = {outcome == KW_GOOD ? time : 0, outcome == KW_GOOD ? time : 0},
                     .estimate_ns = 80};
}

static void set(scene *s) {
    *s = (scene){.pairs = {pair_of(KW_GOOD, 150), pair_of(KW_GOOD, 100), pair_of(KW_SLOW, 400), pair_of(KW_SLOW, 5000),
                           pair_of(KW_CRASHED, 0), pair_of(KW_GOOD, 101), pair_of(KW_CRASHED, 0)}};
    s->pairs[5].half_ns[0] = 90; /* wins the first half, and is scored by the second */
    s->pairs[5].half_ns[1] = 112;
    s->problem_groups[0] = (kw_problem_group){.first = 0, .count = PAIRS};
    s->problem_groups[1] = (kw_problem_group){.first = PAIRS, .count = 1};
    for (int c = 0; c < 2; c++) {
        assert_int_equal(kw_problem_parse(&s->problem_groups[c].problem, "gemm fp32 rcr m10 n10 k10", NULL), KW_OK);
    }
    s->dataset = (kw_dataset){.problem_groups = s->problem_groups, .pairs = s->pairs, .problem_group_count = 2, .pair_count = PAIRS + 1};
}

static void times_are_bounded_and_failures_are_the_worst(void **state) {
    (void)state;
    scene s;
    double times[PAIRS + 1];
    set(&s);
    kw_label_times(times, &s.dataset);
    const double expected[] = {150, 100, 400, 800, 800, 101, 0};
    for (int i = 0; i <= PAIRS; i++) {
        assert_true(times[i] == expected[i]);
    }
}

static void scores_say_the_time_that_labels_were_made_of(void **state) {
    (void)state;
    static const kw_model_quantity absolute[] = {KW_PREDICTS_RATIO,          KW_PREDICTS_TFLOPS,    KW_PREDICTS_TIME,
                                                 KW_PREDICTS_LATENCY,        KW_PREDICTS_BANDWIDTH, KW_PREDICTS_PLAIN_TFLOPS,
                                                 KW_PREDICTS_PLAIN_BANDWIDTH};
    scene s;
    double times[PAIRS + 1];
    float label[PAIRS + 1];
    set(&s);
    kw_label_times(times, &s.dataset);
    kw_group_work work = kw_problem_group_work(&s.dataset, &s.dataset.problem_groups[0]);
    assert_true(work.flops > 0 && work.bytes > 0);
    for (size_t q = 0; q < sizeof absolute / sizeof *absolute; q++) {
        kw_labels_make(label, &s.dataset, times, absolute[q]);
        for (int i = 0; i < PAIRS; i++) {
            double ns = kw_label_ns((double)label[i], absolute[q], 80, &work);
            assert_true(fabs(ns - times[i]) < 1e-3 * times[i]);
        }
    }
    kw_labels_make(label, &s.dataset, times, KW_PREDICTS_RELATIVE);
    assert_true(label[1] == 0);
    assert_true(fabs((double)label[0] - log(1.5)) < 1e-6);
}

static void every_quantity_ascends_with_the_time(void **state) {
    (void)state;
    scene s;
    double times[PAIRS + 1];
    float label[PAIRS + 1];
    set(&s);
    kw_label_times(times, &s.dataset);
    kw_group_work work = kw_problem_group_work(&s.dataset, &s.dataset.problem_groups[0]);
    for (int q = 0; q < KW_PREDICTS_COUNT; q++) {
        kw_labels_make(label, &s.dataset, times, (kw_model_quantity)q);
        double ns[3];
        for (int i = 0; i < 3; i++) {
            ns[i] = kw_label_ns((double)label[i], (kw_model_quantity)q, 80, &work);
        }
        assert_true(ns[1] < ns[0] && ns[0] < ns[2]);
    }
    kw_labels_make(label, &s.dataset, times, KW_PREDICTS_RANK);
    assert_true(label[1] == KW_RANK_LEVELS - 1 && label[2] == 0 && label[3] == 0);
}

static void picks_are_scored_by_both_halves_against_an_honest_oracle(void **state) {
    (void)state;
    scene s;
    kw_group_oracle *oracles = NULL;
    kw_selection selection;
    double ns[PAIRS + 1] = {9, 1, 9, 9, 9, 9, 1};
    set(&s);
    assert_int_equal(kw_group_oracles_create(&oracles, &s.dataset, NULL), KW_OK);
    assert_int_equal(oracles[0].best, 1);
    /* half 0 is won by 90, which half 1 times at 112; half 1 is won by 100, which half 0 times at 100 */
    assert_true(fabs(oracles[0].oracle_ns - 106) < 1e-9);
    assert_true(kw_selection_make(&selection, &s.dataset, 0, &oracles[0], ns));
    assert_true(selection.pair == 1 && selection.efficiency == 1 && selection.ns == 100);
    ns[0] = 0.5;
    assert_true(kw_selection_make(&selection, &s.dataset, 0, &oracles[0], ns));
    assert_true(selection.pair == 0 && fabs(selection.efficiency - 106.0 / 150) < 1e-9);
    assert_false(kw_selection_make(&selection, &s.dataset, 1, &oracles[1], ns)); /* nothing good: not evaluated */
    free(oracles);
}

static void a_failed_pick_is_worth_nothing_and_is_not_left_out(void **state) {
    (void)state;
    scene s;
    kw_group_oracle *oracles = NULL;
    kw_selection selection;
    kw_train_metrics metrics;
    double ns[PAIRS + 1] = {9, 9, 9, 9, 1, 9, 1};
    set(&s);
    assert_int_equal(kw_group_oracles_create(&oracles, &s.dataset, NULL), KW_OK);
    assert_true(kw_selection_make(&selection, &s.dataset, 0, &oracles[0], ns));
    assert_true(selection.failed && selection.efficiency == 0 && selection.ns == 150);
    assert_int_equal(kw_metrics_compute(&metrics, &s.dataset, oracles, ns, NULL, 0, NULL), KW_OK);
    assert_true(metrics.problem_groups == 1 && metrics.failed == 1 && metrics.mean == 0 && metrics.worst == 0);
    assert_true(fabs(metrics.regret - (150.0 / 106 - 1)) < 1e-9);
    ns[3] = 0.5; /* slow: its rough time counts */
    assert_int_equal(kw_metrics_compute(&metrics, &s.dataset, oracles, ns, NULL, 0, NULL), KW_OK);
    assert_true(metrics.failed == 0 && fabs(metrics.mean - 106.0 / 5000) < 1e-9);
    free(oracles);
}

static void what_was_not_predicted_is_never_picked_before_what_was(void **state) {
    (void)state;
    scene s;
    kw_group_oracle *oracles = NULL;
    kw_selection selection;
    double ns[PAIRS + 1] = {NAN, NAN, 7, NAN, 9, NAN, NAN};
    set(&s);
    assert_int_equal(kw_group_oracles_create(&oracles, &s.dataset, NULL), KW_OK);
    assert_true(kw_selection_make(&selection, &s.dataset, 0, &oracles[0], ns));
    assert_int_equal(selection.pair, 2);
    free(oracles);
}

static void figures_are_of_one_fold(void **state) {
    (void)state;
    scene s;
    kw_group_oracle *oracles = NULL;
    kw_train_metrics metrics;
    const int32_t fold[2] = {3, 3};
    double ns[PAIRS + 1] = {9, 1, 9, 9, 9, 9, 1};
    set(&s);
    assert_int_equal(kw_group_oracles_create(&oracles, &s.dataset, NULL), KW_OK);
    assert_int_equal(kw_metrics_compute(&metrics, &s.dataset, oracles, ns, fold, 3, NULL), KW_OK);
    assert_true(metrics.problem_groups == 1 && metrics.mean == 1 && metrics.top1 == 1);
    assert_int_equal(kw_metrics_compute(&metrics, &s.dataset, oracles, ns, fold, 2, NULL), KW_OK);
    assert_true(metrics.problem_groups == 0 && metrics.mean == 0);
    free(oracles);
}

/* 150, 100 and 101 ns predicted as 100, 100 and 202: errors of 50, 0 and 101 about a mean of 117. Rows without time or prediction are none. */
static void rates_are_compared_over_good_rows(void **state) {
    (void)state;
    scene s;
    kw_rate_errors errors;
    double ns[PAIRS + 1] = {100, 100, 7, 7, 7, 202, 7};
    const int32_t fold[2] = {3, 4};
    set(&s);
    kw_rate_errors_compute(&errors, &s.dataset, ns, KW_RATE_LATENCY, fold, 3);
    assert_int_equal(errors.rows, 3);
    assert_true(fabs(errors.mae - 151e-6 / 3) < 1e-15 && fabs(errors.rmse - sqrt(12701.0 / 3) * 1e-6) < 1e-15);
    assert_true(fabs(errors.r2 - (1 - 12701.0 / 1634)) < 1e-9);
    kw_rate_errors_compute(&errors, &s.dataset, ns, KW_RATE_TFLOPS, NULL, 0); /* 2,000 operations */
    assert_true(fabs(errors.mae - (2.0 / 100 - 2.0 / 150 + 2.0 / 101 - 2.0 / 202) / 3) < 1e-12);
    ns[0] = ns[1] = NAN;
    ns[5] = INFINITY;
    kw_rate_errors_compute(&errors, &s.dataset, ns, KW_RATE_BANDWIDTH, NULL, 0);
    assert_true(errors.rows == 0 && isnan(errors.r2) && isnan(errors.rmse) && isnan(errors.mae));
    kw_rate_errors_compute(&errors, &s.dataset, ns, KW_RATE_BANDWIDTH, fold, 5);
    assert_int_equal(errors.rows, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_compared_over_good_rows),
        cmocka_unit_test(times_are_bounded_and_failures_are_the_worst),
        cmocka_unit_test(scores_say_the_time_that_labels_were_made_of),
        cmocka_unit_test(every_quantity_ascends_with_the_time),
        cmocka_unit_test(picks_are_scored_by_both_halves_against_an_honest_oracle),
        cmocka_unit_test(a_failed_pick_is_worth_nothing_and_is_not_left_out),
        cmocka_unit_test(what_was_not_predicted_is_never_picked_before_what_was),
        cmocka_unit_test(figures_are_of_one_fold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
