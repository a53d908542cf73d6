/* test_statistics.c: what is made of samples, and the oracle: arithmetic on tables. */

#include "measure/timing/statistics.h"
#include "base/statistics/random.h"
#include "support/kw_test.h"

#include <math.h>

static void assert_near(double got, double wanted, const char *what, size_t i) {
    if (!(fabs(got - wanted) < 1e-12)) {
        fail_msg("case %zu: %s is %g, not %g", i, what, got, wanted);
    }
}

static void quartiles_are_interpolated(void **state) {
    (void)state;
    static const struct {
        double samples[6];
        size_t count;
        double lower, range, median;
    } cases[] = {
        {{0}, 0, 0, 0, 0},
        {{7}, 1, 7, 0, 7},
        {{4, 2}, 2, 2.5, 1, 3},
        {{5, 1, 3, 2, 4}, 5, 2, 2, 3},
        {{1, 1, 1, 1, 100}, 5, 1, 0, 1}, /* one outlier moves none */
        {{6, 5, 4, 3, 2, 1}, 6, 2.25, 2.5, 3.5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double samples[6], lower = -1, range = -1;
        memcpy(samples, cases[i].samples, sizeof samples);
        kw_quartiles(samples, cases[i].count, &lower, &range);
        assert_near(lower, cases[i].lower, "the lower quartile", i);
        assert_near(range, cases[i].range, "the range", i);
        memcpy(samples, cases[i].samples, sizeof samples);
        assert_near(kw_median(samples, cases[i].count), cases[i].median, "the median", i);
    }
}

/* Even and odd samples in the order taken, whatever their size. */
static void halves_are_every_other_sample(void **state) {
    (void)state;
    static const struct {
        double samples[6];
        size_t count;
        kw_timed wanted;
    } cases[] = {
        {{0}, 0, {.samples = 0}},
        {{7}, 1, {.time_ns = 7, .median_ns = 7, .least_ns = 7, .half_ns = {7, 7}}},
        {{4, 2}, 2, {.time_ns = 2.5, .spread_ns = 1, .median_ns = 3, .mad_ns = 1, .least_ns = 2, .half_ns = {4, 2}}},
        {{1, 10, 2, 20, 3, 30},
         6,
         {.time_ns = 2.25, .spread_ns = 15.25, .median_ns = 6.5, .mad_ns = 5, .least_ns = 1, .half_ns = {1.5, 15}}},
        {{3, 20, 2, 10, 1}, 5, {.time_ns = 2, .spread_ns = 8, .median_ns = 3, .mad_ns = 2, .least_ns = 1, .half_ns = {1.5, 12.5}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double samples[6], room[6];
        kw_timed timed = {0};
        const kw_timed *wanted = &cases[i].wanted;
        memcpy(samples, cases[i].samples, sizeof samples);
        kw_timed_fill(&timed, samples, cases[i].count, room);
        assert_int_equal(timed.samples, cases[i].count);
        assert_near(timed.time_ns, wanted->time_ns, "time", i);
        assert_near(timed.spread_ns, wanted->spread_ns, "spread", i);
        assert_near(timed.median_ns, wanted->median_ns, "median", i);
        assert_near(timed.mad_ns, wanted->mad_ns, "mad", i);
        assert_near(timed.least_ns, wanted->least_ns, "least", i);
        assert_near(timed.half_ns[0], wanted->half_ns[0], "half 0", i);
        assert_near(timed.half_ns[1], wanted->half_ns[1], "half 1", i);
    }
}

/* The winner by one half is scored by the other. */
static void the_oracle_is_scored_by_other_samples_than_chose_it(void **state) {
    (void)state;
    static const struct {
        kw_record records[3];
        bool found;
        size_t index;
        double time_ns;
    } cases[] = {
        {{{.outcome = KW_GOOD, .samples = 3, .time_ns = 10, .half_ns = {9, 11}}}, true, 0, 10},
        /* both halves choose number 1 */
        {{{.outcome = KW_GOOD, .samples = 3, .time_ns = 20, .half_ns = {20, 20}},
          {.outcome = KW_GOOD, .samples = 3, .time_ns = 10, .half_ns = {9, 11}}},
         true,
         1,
         10},
        /* each half chooses the one that was lucky in it, and pays for it in the other */
        {{{.outcome = KW_GOOD, .samples = 3, .time_ns = 10, .half_ns = {8, 12}},
          {.outcome = KW_GOOD, .samples = 3, .time_ns = 11, .half_ns = {13, 9}}},
         true,
         0,
         12.5},
        /* of equal times the first stands, in all and in each half */
        {{{.outcome = KW_GOOD, .samples = 3, .time_ns = 10, .half_ns = {9, 11}},
          {.outcome = KW_GOOD, .samples = 3, .time_ns = 10, .half_ns = {9, 13}},
          {.outcome = KW_GOOD, .samples = 3, .time_ns = 10, .half_ns = {14, 11}}},
         true,
         0,
         10},
        /* what is wrong, slow or untimed takes no part */
        {{{.outcome = KW_WRONG, .samples = 3, .time_ns = 1, .half_ns = {1, 1}},
          {.outcome = KW_SLOW, .samples = 2, .time_ns = 1, .half_ns = {1, 1}},
          {.outcome = KW_GOOD, .samples = 3, .time_ns = 10, .half_ns = {9, 11}}},
         true,
         2,
         10},
        {{{.outcome = KW_GOOD, .samples = 0, .time_ns = 5}, {.outcome = KW_CRASHED}}, false, 3, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t index = 99;
        double time_ns = -1;
        assert_int_equal(kw_oracle(cases[i].records, 3, &index, &time_ns), cases[i].found);
        assert_int_equal(index, cases[i].index);
        assert_near(time_ns, cases[i].time_ns, "the oracle", i);
    }
    assert_near(kw_record_score(&cases[0].records[0]), 10, "a kernel's score", 0);
    assert_near(kw_record_score(&cases[4].records[1]), 0, "a slow kernel's score", 4);
}

/* Among equal kernels with noise the least time is below the truth by construction, the oracle's is not. */
static void the_oracle_is_not_biased(void **state) {
    (void)state;
    kw_record records[30] = {0};
    double oracle_sum = 0, least_sum = 0;
    uint64_t random = 1;
    enum { TRIALS = 2000 };
    for (int trial = 0; trial < TRIALS; trial++) {
        double least = 1e9, honest = 0;
        size_t index;
        for (size_t i = 0; i < 30; i++) {
            records[i] = (kw_record){.outcome = KW_GOOD, .samples = 2};
            for (int h = 0; h < 2; h++) {
                records[i].half_ns[h] = 95 + kw_random_unit(&random) * 10; /* 100, give or take 5 */
            }
            records[i].time_ns = (records[i].half_ns[0] + records[i].half_ns[1]) / 2;
            least = fmin(least, records[i].time_ns);
        }
        assert_true(kw_oracle(records, 30, &index, &honest));
        oracle_sum += honest;
        least_sum += least;
    }
    assert_true(fabs(oracle_sum / TRIALS - 100) < 0.3);
    assert_true(least_sum / TRIALS < 97);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quartiles_are_interpolated),
        cmocka_unit_test(halves_are_every_other_sample),
        cmocka_unit_test(the_oracle_is_scored_by_other_samples_than_chose_it),
        cmocka_unit_test(the_oracle_is_not_biased),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
