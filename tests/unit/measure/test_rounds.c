/* test_rounds.c: the order within rounds, the control and its drift, and the dropping of the slow: on subjects whose time is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/clock.h"
#include "measure/timing.h"

#include <math.h>
#include <string.h>

enum { LOG = 4096 };

/* The machine that all subjects of a test run on: its speed is that of the round, which the control's calls count. */
typedef struct machine {
    char log[LOG]; /* names in the order of calls */
    size_t logged;
    int control_calls;
    double (*slowness)(int round);
} machine;

typedef struct spinner {
    machine *machine;
    char name; /* 'c' is the control */
    double ns;
    int calls;
} spinner;

enum { SIZING = 2 }; /* calls that size a batch of one */

/* Takes so much processor time, however often it is preempted. */
static kw_status spin(void *context, kw_error *err) {
    (void)err;
    spinner *s = context;
    machine *m = s->machine;
    int round = m->control_calls - SIZING;
    double slowness = m->slowness && round >= 0 ? m->slowness(round) : 1;
    int64_t end = kw_clock_thread_ns() + (int64_t)(s->ns * slowness);
    s->calls++;
    m->control_calls += s->name == 'c';
    if (m->logged < LOG - 1) {
        m->log[m->logged++] = s->name;
    }
    while (kw_clock_thread_ns() < end) {
    }
    return KW_OK;
}

/* Single calls of more than 1 ms have no warm-up of their own before each batch, so the log is the order. */
static void time_logged(machine *m, uint64_t seed, const char *names, kw_timed times[]) {
    spinner spinners[8];
    kw_subject subjects[8] = {{0}};
    kw_control control = {0};
    size_t count = strlen(names);
    for (size_t i = 0; i < count; i++) {
        spinners[i] = (spinner){m, names[i], 1.1e6, 0};
        subjects[i] = (kw_subject){spin, &spinners[i]};
    }
    kw_timing_options options = {.batches = 8, .order_seed = seed, .control = &control};
    *m = (machine){0};
    assert_int_equal(kw_time_subjects(subjects, count - 1, &options, 1, times, NULL), KW_OK);
    for (size_t i = 0; i < count; i++) { /* the log begins with the first round */
        memmove(m->log, m->log + times[i].warmups, LOG - (size_t)times[i].warmups);
    }
}

static void rounds_are_in_a_random_order_of_their_own(void **state) {
    (void)state;
    machine first, same, other;
    kw_timed times[4];
    time_logged(&first, 5, "abdc", times);
    time_logged(&same, 5, "abdc", times);
    time_logged(&other, 6, "abdc", times);
    int different = 0, controls[4] = {0};
    for (size_t round = 0; round < 8; round++) {
        char names[5] = "";
        memcpy(names, first.log + 4 * round, 4);
        for (const char *name = "abcd"; *name; name++) {
            assert_non_null(strchr(names, *name)); /* each once */
        }
        controls[strchr(names, 'c') - names]++;
        different += round > 0 && memcmp(names, first.log, 4) != 0;
    }
    assert_true(different >= 4);
    assert_true(controls[0] < 8 && controls[3] < 8); /* the control has no place of its own */
    assert_memory_equal(first.log, same.log, 32);
    assert_memory_not_equal(first.log, other.log, 32);
}

static void without_a_seed_the_order_rotates(void **state) {
    (void)state;
    machine m;
    kw_timed times[3];
    time_logged(&m, 0, "abc", times);
    assert_memory_equal(m.log, "abcbcacab", 9);
}

/* The first rounds run on a faster clock, as after idling. */
static double boost(int round) {
    return round < 7 ? 0.7 : 1;
}

static double time_boosted(kw_control *control, kw_timed times[2]) {
    machine m = {.slowness = boost};
    spinner subject = {&m, 'a', 1.5e6, 0}, other = {&m, 'c', 1.2e6, 0};
    kw_subject subjects[] = {{spin, &subject}, {spin, &other}};
    /* Without a control the machine changes all the same: a second subject stands in its place. */
    kw_timing_options options = {.control = control};
    assert_int_equal(kw_time_subjects(subjects, control ? 1 : 2, &options, 1, times, NULL), KW_OK);
    return times[0].time_ns / 1.5e6;
}

static void rounds_of_drift_do_not_count(void **state) {
    (void)state;
    kw_timed times[2];
    kw_control control = {0};
    double without = time_boosted(NULL, times), with = time_boosted(&control, times);
    assert_true(without < 0.9);
    assert_true(with > 0.95);
    assert_true(times[0].dropped >= 5 && times[0].samples >= 18);
    assert_true(times[1].time_ns > 0.95 * 1.2e6); /* nor for the control itself */
    assert_true(control.drift > 0.3);
    assert_true(without > 0.5 && with < 1.5);
}

static double steady(int round) {
    return round < 0 ? 2 : 1;
}

static void a_steady_control_costs_nothing(void **state) {
    (void)state;
    machine m = {.slowness = steady};
    spinner subject = {&m, 'a', 1.5e6, 0}, other = {&m, 'c', 1.2e6, 0};
    kw_subject subjects[] = {{spin, &subject}, {spin, &other}};
    kw_control control = {.drift_limit = 0.5};
    kw_timed times[2];
    assert_int_equal(kw_time_subjects(subjects, 1, &(kw_timing_options){.control = &control}, 1, times, NULL), KW_OK);
    assert_true(times[0].samples >= 7 && times[1].samples >= 7);
    assert_true(fabs(control.drift) < 0.4);
}

/* No two rounds are alike. */
static double slowing(int round) {
    return 1 + 0.2 * round;
}

static void when_too_little_is_left_all_counts_and_says_so(void **state) {
    (void)state;
    machine m = {.slowness = slowing};
    spinner subject = {&m, 'a', 1.1e6, 0}, other = {&m, 'c', 1.1e6, 0};
    kw_subject subjects[] = {{spin, &subject}, {spin, &other}};
    kw_control control = {.drift_limit = 0.01};
    kw_timed times[2];
    assert_int_equal(kw_time_subjects(subjects, 1, &(kw_timing_options){.batches = 4, .control = &control}, 1, times, NULL), KW_OK);
    int tried = subject.calls - times[0].warmups;
    assert_int_equal(tried, 12); /* three times the batches wanted, and no more */
    assert_true(times[0].samples + times[0].dropped > tried);
    assert_true(control.drift > 0.3);
}

/* Slower than three times the fastest, after two launches. */
static void slow_subjects_are_dropped_after_two_launches(void **state) {
    (void)state;
    static const struct {
        double ns[4], best_ns, ratio;
        bool slow[4];
    } cases[] = {
        {{2e6, 4e6, 7e6, 2.2e6}, 0, 3, {false, false, true, false}},
        {{7e6, 2e6, 9e6, 4e6}, 0, 3, {true, false, true, false}}, /* the fastest need not come first */
        {{2e6, 4e6, 7e6, 2.2e6}, 0, 0, {false, false, false, false}},
        {{2e6, 4e6, 7e6, 2.2e6}, 5e5, 3, {true, true, true, true}},
        {{30e6, 4e6, 11e6, 13e6}, 0, 3, {true, false, false, true}},
        {{3e5, 2e5, 1e6, 5e5}, 0, 3, {false, false, true, false}},
        {{3e3, 4e3, 12e3, 2e5}, 0, 20, {false, false, false, true}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        machine m = {0};
        spinner spinners[4];
        kw_subject subjects[4];
        kw_timed times[4];
        for (size_t j = 0; j < 4; j++) {
            spinners[j] = (spinner){&m, 'a', cases[i].ns[j], 0};
            subjects[j] = (kw_subject){spin, &spinners[j]};
        }
        kw_timing_options options = {.batches = 3, .drop_ratio = cases[i].ratio, .best_ns = cases[i].best_ns};
        assert_int_equal(kw_time_subjects(subjects, 4, &options, 1, times, NULL), KW_OK);
        for (size_t j = 0; j < 4; j++) {
            if ((times[j].slow > 0) != cases[i].slow[j]) {
                fail_msg("case %zu: subject %zu was %s", i, j, times[j].slow > 0 ? "dropped" : "kept");
            }
            assert_true(times[j].samples >= 1 && times[j].time_ns >= 0.99 * cases[i].ns[j]);
            if (times[j].slow > 0) {
                assert_true(times[j].slow > cases[i].ratio && times[j].time_ns < 1.5 * cases[i].ns[j]);
                assert_int_equal(times[j].warmups, spinners[j].calls); /* no call more */
            }
            if (times[j].slow > 0 && cases[i].ns[j] >= 2e6) {
                assert_int_equal(spinners[j].calls, 2);
                assert_int_equal(times[j].samples, 2);
            }
        }
    }
}

typedef struct turns {
    size_t list[LOG], count;
} turns;

static void note_turn(void *user, size_t index) {
    turns *t = user;
    if (t->count < LOG) {
        t->list[t->count++] = index;
    }
}

static void whose_turn_it_is_is_told_before_each_batch(void **state) {
    (void)state;
    machine m = {0};
    turns t = {{0}, 0};
    spinner a = {&m, 'a', 1.1e6, 0}, b = {&m, 'b', 1.1e6, 0}, c = {&m, 'c', 1.1e6, 0};
    kw_subject subjects[] = {{spin, &a}, {spin, &b}, {spin, &c}};
    kw_control control = {0};
    kw_timed times[3];
    kw_timing_options options = {.batches = 5, .order_seed = 9, .control = &control, .turn = note_turn, .user = &t};
    assert_int_equal(kw_time_subjects(subjects, 2, &options, 1, times, NULL), KW_OK);
    assert_int_equal(t.count, m.logged); /* batches of one call */
    for (size_t i = 0; i < t.count; i++) {
        assert_int_equal(t.list[i] == SIZE_MAX ? 'c' : 'a' + (int)t.list[i], m.log[i]);
    }
}

static void counts_of_calls_add_up(void **state) {
    (void)state;
    machine m = {0};
    spinner a = {&m, 'a', 1e5, 0}, b = {&m, 'b', 2e6, 0};
    kw_subject subjects[] = {{spin, &a}, {spin, &b}};
    kw_timed times[2];
    assert_int_equal(kw_time_subjects(subjects, 2, &(kw_timing_options){.batches = 4}, 1, times, NULL), KW_OK);
    assert_true(times[0].calls >= 1 && times[0].calls <= 3);
    assert_int_equal(times[1].calls, 1);
    /* the short one has a call before each batch */
    int batches = (a.calls - times[0].warmups) / (times[0].calls + 1);
    assert_int_equal(batches * (times[0].calls + 1) + times[0].warmups, a.calls);
    assert_true(batches >= times[0].samples && times[1].samples <= b.calls - times[1].warmups);
    for (int i = 0; i < 2; i++) {
        assert_true(times[i].least_ns > 0 && times[i].least_ns <= times[i].time_ns && times[i].time_ns <= times[i].median_ns);
        assert_true(fmin(times[i].half_ns[0], times[i].half_ns[1]) >= times[i].least_ns);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_are_in_a_random_order_of_their_own),
        cmocka_unit_test(without_a_seed_the_order_rotates),
        cmocka_unit_test(rounds_of_drift_do_not_count),
        cmocka_unit_test(a_steady_control_costs_nothing),
        cmocka_unit_test(when_too_little_is_left_all_counts_and_says_so),
        cmocka_unit_test(slow_subjects_are_dropped_after_two_launches),
        cmocka_unit_test(whose_turn_it_is_is_told_before_each_batch),
        cmocka_unit_test(counts_of_calls_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
