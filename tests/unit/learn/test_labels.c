/* test_labels.c: what a model learns, what it says back, and what a pick of it is worth. */
#include "learn/data/oracle.h"
#include "learn/data/labels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PAIRS = 6 };

/* One contest: good 100 and 150 ns, slow 400 and 5000, failed, and good with a lucky first half. */
typedef struct scene {
    kw_contest contests[2];
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
    s->contests[0] = (kw_contest){.first = 0, .count = PAIRS};
    s->contests[1] = (kw_contest){.first = PAIRS, .count = 1};
    for (int c = 0; c < 2; c++) {
        assert_int_equal(kw_problem_parse(&s->contests[c].problem, "gemm fp32 rcr m10 n10 k10", NULL), KW_OK);
    }
    s->dataset = (kw_dataset){.contests = s->contests, .pairs = s->pairs, .contest_count = 2, .pair_count = PAIRS + 1};
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
    static const kw_model_quantity absolute[] = {KW_PREDICTS_RATIO, KW_PREDICTS_TFLOPS, KW_PREDICTS_TIME};
    scene s;
    double times[PAIRS + 1], flops = 2000;
    float label[PAIRS + 1];
    set(&s);
    kw_label_times(times, &s.dataset);
    for (size_t q = 0; q < sizeof absolute / sizeof *absolute; q++) {
        kw_labels_make(label, &s.dataset, times, absolute[q]);
        for (int i = 0; i < PAIRS; i++) {
            double ns = kw_label_ns((double)label[i], absolute[q], 80, flops);
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
    for (int q = 0; q < KW_PREDICTS_COUNT; q++) {
        kw_labels_make(label, &s.dataset, times, (kw_model_quantity)q);
        double ns[3];
        for (int i = 0; i < 3; i++) {
            ns[i] = kw_label_ns((double)label[i], (kw_model_quantity)q, 80, 2000);
        }
        assert_true(ns[1] < ns[0] && ns[0] < ns[2]);
    }
    kw_labels_make(label, &s.dataset, times, KW_PREDICTS_RANK);
    assert_true(label[1] == KW_RANK_LEVELS - 1 && label[2] == 0 && label[3] == 0);
}

static void picks_are_scored_by_both_halves_against_an_honest_oracle(void **state) {
    (void)state;
    scene s;
    kw_mark *marks = NULL;
    kw_pick pick;
    double ns[PAIRS + 1] = {9, 1, 9, 9, 9, 9, 1};
    set(&s);
    assert_int_equal(kw_marks_make(&marks, &s.dataset, NULL), KW_OK);
    assert_int_equal(marks[0].best, 1);
    /* half 0 is won by 90, which half 1 times at 112; half 1 is won by 100, which half 0 times at 100 */
    assert_true(fabs(marks[0].oracle_ns - 106) < 1e-9);
    assert_true(kw_pick_make(&pick, &s.dataset, 0, &marks[0], ns));
    assert_true(pick.pair == 1 && pick.efficiency == 1 && pick.ns == 100);
    ns[0] = 0.5;
    assert_true(kw_pick_make(&pick, &s.dataset, 0, &marks[0], ns));
    assert_true(pick.pair == 0 && fabs(pick.efficiency - 106.0 / 150) < 1e-9);
    assert_false(kw_pick_make(&pick, &s.dataset, 1, &marks[1], ns)); /* nothing good: not judged */
    free(marks);
}

static void a_failed_pick_is_worth_nothing_and_is_not_left_out(void **state) {
    (void)state;
    scene s;
    kw_mark *marks = NULL;
    kw_pick pick;
    kw_train_figures figures;
    double ns[PAIRS + 1] = {9, 9, 9, 9, 1, 9, 1};
    set(&s);
    assert_int_equal(kw_marks_make(&marks, &s.dataset, NULL), KW_OK);
    assert_true(kw_pick_make(&pick, &s.dataset, 0, &marks[0], ns));
    assert_true(pick.failed && pick.efficiency == 0 && pick.ns == 150);
    assert_int_equal(kw_figures_make(&figures, &s.dataset, marks, ns, NULL, 0, NULL), KW_OK);
    assert_true(figures.contests == 1 && figures.failed == 1 && figures.mean == 0 && figures.worst == 0);
    assert_true(fabs(figures.regret - (150.0 / 106 - 1)) < 1e-9);
    ns[3] = 0.5; /* slow: its rough time counts */
    assert_int_equal(kw_figures_make(&figures, &s.dataset, marks, ns, NULL, 0, NULL), KW_OK);
    assert_true(figures.failed == 0 && fabs(figures.mean - 106.0 / 5000) < 1e-9);
    free(marks);
}

static void what_was_not_predicted_is_never_picked_before_what_was(void **state) {
    (void)state;
    scene s;
    kw_mark *marks = NULL;
    kw_pick pick;
    double ns[PAIRS + 1] = {NAN, NAN, 7, NAN, 9, NAN, NAN};
    set(&s);
    assert_int_equal(kw_marks_make(&marks, &s.dataset, NULL), KW_OK);
    assert_true(kw_pick_make(&pick, &s.dataset, 0, &marks[0], ns));
    assert_int_equal(pick.pair, 2);
    free(marks);
}

static void figures_are_of_one_fold(void **state) {
    (void)state;
    scene s;
    kw_mark *marks = NULL;
    kw_train_figures figures;
    const int32_t fold[2] = {3, 3};
    double ns[PAIRS + 1] = {9, 1, 9, 9, 9, 9, 1};
    set(&s);
    assert_int_equal(kw_marks_make(&marks, &s.dataset, NULL), KW_OK);
    assert_int_equal(kw_figures_make(&figures, &s.dataset, marks, ns, fold, 3, NULL), KW_OK);
    assert_true(figures.contests == 1 && figures.mean == 1 && figures.top1 == 1);
    assert_int_equal(kw_figures_make(&figures, &s.dataset, marks, ns, fold, 2, NULL), KW_OK);
    assert_true(figures.contests == 0 && figures.mean == 0);
    free(marks);
}

int main(void) {
    const struct CMUnitTest tests[] = {
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
