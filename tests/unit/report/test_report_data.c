/* test_report_data.c: rows become problem groups; oracles, roofs, pairs, causes and drift are what they say they are. */

#include "made_up_report_data.h"

#include "report/charts/figures.h"
#include "support/kw_test.h"

#include <math.h>

static const char target[] = "cpu:x86-64-v4 model=a-1-2-3 units=1 lanes=16 registers=32 l1=32768 l2=1048576 l3=1000";
static const char gemm[] = "gemm fp32 rcr b1 m64 n64 k64"; /* 524288 FLOP, 49152 bytes */

static void assert_near(double value, double wanted) {
    assert_true(fabs(value - wanted) <= 1e-9 * fabs(wanted) + 1e-12);
}

/* A good row with two halves. */
static kw_row row_of(const char *problem, const char *config, double first, double second) {
    kw_row row = {.packed = true};
    snprintf(row.target, sizeof row.target, "%s", target);
    snprintf(row.problem, sizeof row.problem, "%s", problem);
    snprintf(row.run, sizeof row.run, "%032d", 1);
    snprintf(row.record.config, sizeof row.record.config, "%s", config);
    row.record.outcome = KW_GOOD;
    row.record.samples = 20;
    row.record.half_ns[0] = first;
    row.record.half_ns[1] = second;
    row.record.time_ns = fmin(first, second);
    row.record.spread_ns = 1;
    return row;
}

static kw_report_data *start(const char *roofs) {
    kw_report_data *report_data = NULL;
    kw_run run = {0};
    snprintf(run.id, sizeof run.id, "%032d", 1);
    snprintf(run.target, sizeof run.target, "%s", target);
    snprintf(run.roofs, sizeof run.roofs, "%s", roofs);
    assert_int_equal(kw_report_data_create(&report_data, "id", "name", NULL), KW_OK);
    assert_true(kw_report_data_add_run(report_data, &run));
    return report_data;
}

static void add(kw_report_data *report_data, const kw_row *row) {
    assert_true(made_up_take_row(report_data, row));
}

static void settle(kw_report_data *report_data) {
    assert_int_equal(kw_report_data_finish(report_data, NULL), KW_OK);
}

static void the_oracle_is_chosen_by_one_half_and_scored_by_the_other(void **state) {
    (void)state;
    kw_report_data *report_data = start("");
    kw_row lucky = row_of(gemm, "gemm.tiled gemm fp32 tile_m=8", 900, 1100),
           steady = row_of(gemm, "gemm.tiled gemm fp32 tile_m=14", 1000, 1010);
    add(report_data, &lucky);
    add(report_data, &steady);
    settle(report_data);
    assert_int_equal(report_data->problem_group_count, 1);
    const kw_report_group *problem_group = report_data->problem_groups;
    assert_true(problem_group->halves);
    assert_near(problem_group->oracle_ns, (1100 + 1000) / 2.0); /* 900 wins the first half and is scored 1100; 1010 wins the second: 1000 */
    assert_near(kw_report_entry_share(problem_group, &report_data->entries[0]), 1050 / 1000.0);
    kw_report_data_close(&report_data);
}

static void rows_group_by_problem_target_and_way_of_timing(void **state) {
    (void)state;
    kw_report_data *report_data = start("");
    kw_row row = row_of(gemm, "gemm.tiled gemm fp32 tile_m=8", 100, 100);
    add(report_data, &row);
    row.record.cold = true;
    add(report_data, &row);
    row.packed = false;
    add(report_data, &row);
    snprintf(row.problem, sizeof row.problem, "gemm fp32 rcr b1 m65 n64 k64");
    add(report_data, &row);
    snprintf(row.target, sizeof row.target, "elsewhere");
    add(report_data, &row);
    settle(report_data);
    assert_int_equal(report_data->problem_group_count, 5);
    assert_int_equal(report_data->target_names.count, 2);
    assert_string_equal(kw_report_group_mode(&report_data->problem_groups[0]), " cold, fresh weights");
    kw_report_data_close(&report_data);
}

static void measured_roofs_bound_and_memory_only_where_it_is_needed(void **state) {
    (void)state;
    static const struct {
        const char *roofs;
        bool cold;
        double efficiency;
        bool by_memory;
        kw_roof_kind kind;
    } cases[] = {
        {"fp32=1e12 bf16=5e12", false, 524.288 / 1000, false, KW_ROOF_MEASURED},
        {"fp32=1e12 memory=1e15", true, 524.288 / 1000, false, KW_ROOF_MEASURED},
        {"fp32=1e12 memory=6.144e10", true, 0.8, true, KW_ROOF_MEASURED},        /* 49152 bytes take 800 ns */
        {"fp32=1e11 fp32=1e12", false, 524.288 / 1000, false, KW_ROOF_MEASURED}, /* the higher of two */
        {"", false, 1, false, KW_ROOF_SEEN},
        {"fp32=-4 memory=nan", false, 1, false, KW_ROOF_SEEN},
        {"fp32=inf fp32 =1 fp32x=7", true, 1, false, KW_ROOF_SEEN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_report_data *report_data = start(cases[i].roofs);
        kw_row row = row_of(gemm, "gemm.tiled gemm fp32 tile_m=8", 1000, 1000);
        row.record.cold = cases[i].cold;
        add(report_data, &row);
        settle(report_data);
        assert_near(kw_report_group_efficiency(report_data->problem_groups), cases[i].efficiency);
        assert_int_equal(report_data->problem_groups->by_memory, cases[i].by_memory);
        assert_int_equal(report_data->targets->peak[KW_FP32].kind, cases[i].kind);
        assert_int_equal(kw_target_is_measured(report_data->targets), cases[i].kind == KW_ROOF_MEASURED);
        kw_report_data_close(&report_data);
    }
}

/* Hot problems that fit into the last-level cache do not wait for memory. */
static void a_hot_small_problem_has_no_memory_roof(void **state) {
    (void)state;
    kw_report_data *report_data = start("fp32=1e12 memory=1");
    kw_row row = row_of("gemm fp32 rcr b1 m4 n4 k4", "gemm.tiled gemm fp32 tile_m=8", 1000, 1000); /* 192 bytes */
    add(report_data, &row);
    row.record.cold = true;
    add(report_data, &row);
    settle(report_data);
    assert_false(report_data->problem_groups[0].by_memory);
    assert_true(report_data->problem_groups[1].by_memory);
    kw_report_data_close(&report_data);
}

static void what_cannot_be_a_time_is_none(void **state) {
    (void)state;
    static const double odd[] = {0, -5, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        kw_report_data *report_data = start("fp32=1e12");
        kw_row row = row_of(gemm, "gemm.tiled gemm fp32 tile_m=8", odd[i], odd[i]);
        row.record.time_ns = row.record.spread_ns = row.control_ns = row.compile_ns = row.drift = odd[i];
        row.record.samples = row.record.calls = row.record.dropped = -7;
        row.sequence = INT64_MIN;
        row.code_bytes = -1;
        row.record.outcome = i == 3 ? (kw_outcome)77 : KW_GOOD;
        add(report_data, &row);
        settle(report_data);
        assert_int_equal(report_data->problem_groups->best, KW_NOWHERE);
        assert_near(report_data->problem_groups->oracle_ns, 0);
        assert_near(kw_report_group_efficiency(report_data->problem_groups), 0);
        kw_text out = {0};
        kw_report_page(&out, &(kw_report){.report_data = report_data});
        assert_false(out.failed);
        assert_null(strstr(kw_text_string(&out), "nan"));
        assert_null(strstr(kw_text_string(&out), "inf "));
        kw_text_drop(&out);
        kw_report_data_close(&report_data);
    }
}

static void one_time_alone_still_has_a_best(void **state) {
    (void)state;
    kw_report_data *report_data = start("");
    kw_row slow = row_of(gemm, "gemm.tiled gemm fp32 tile_m=8", 0, 0), fast = slow;
    slow.record.time_ns = 300;
    fast.record.time_ns = 200;
    snprintf(fast.record.config, sizeof fast.record.config, "gemm.tiled gemm fp32 tile_m=9");
    add(report_data, &slow);
    add(report_data, &fast);
    settle(report_data);
    assert_false(report_data->problem_groups->halves);
    assert_near(report_data->problem_groups->oracle_ns, 200);
    assert_string_equal(kw_report_group_winner(report_data, report_data->problem_groups), "gemm.tiled gemm fp32 tile_m=9");
    assert_int_equal(report_data->halfless, 2);
    kw_report_data_close(&report_data);
}

static void causes_ignore_numbers_and_keep_an_example(void **state) {
    (void)state;
    kw_report_data *report_data = start("");
    static const struct {
        kw_outcome outcome;
        const char *family, *detail;
    } rows[] = {{KW_WRONG, "a", "y[1,2]: 3 for 4"},   {KW_WRONG, "a", "y[10,22]: 33 for 41"}, {KW_WRONG, "b", "y[1,2]: 3 for 4"},
                {KW_CRASHED, "a", "y[1,2]: 3 for 4"}, {KW_UNFIT, "a", "k=7 is odd"},          {KW_WRONG, "a", "other"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char config[64];
        snprintf(config, sizeof config, "%s.x gemm fp32 tile_m=%zu", rows[i].family, i);
        kw_row row = row_of(gemm, config, 0, 0);
        row.record.outcome = rows[i].outcome;
        snprintf(row.record.detail, sizeof row.record.detail, "%s", rows[i].detail);
        add(report_data, &row);
    }
    settle(report_data);
    size_t count;
    kw_arena arena = {0};
    const kw_failure_cause *causes = kw_failure_causes(report_data, &arena, false, &count);
    assert_int_equal(count, 4);
    assert_int_equal(causes[0].count, 2);
    assert_string_equal(causes[0].rule, "y[#,#]: # for #");
    kw_text command = {0};
    kw_failure_cause_command(&command, report_data, &causes[0]);
    assert_string_equal(kw_text_string(&command),
                        "kwright check --config 'a.x gemm fp32 tile_m=0' --threads 1 'gemm fp32 rcr b1 m64 n64 k64'");
    kw_text_drop(&command);
    causes = kw_failure_causes(report_data, &arena, true, &count);
    assert_int_equal(count, 1);
    assert_string_equal(causes[0].rule, "k=# is odd");
    kw_arena_drop(&arena);
    kw_report_data_close(&report_data);
}

static void pairs_inside_the_noise_are_ties(void **state) {
    (void)state;
    static const struct {
        double reference, spread;
        bool tie;
    } cases[] = {{1000, 1, true}, {1005, 1, true}, {1050, 1, false}, {1050, 200, true}, {5000, 200, false}, {990, 1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_report_data *report_data = start("");
        kw_row best = row_of(gemm, "gemm.tiled gemm fp32 tile_m=8", 1000, 1000);
        kw_row reference = row_of(gemm, "gemm.reference gemm fp32", cases[i].reference, cases[i].reference);
        reference.record.spread_ns = cases[i].spread;
        add(report_data, &best);
        add(report_data, &reference);
        settle(report_data);
        kw_arena arena = {0};
        size_t count;
        const kw_pairwise *pairwise_ratios = kw_pairwise_reference(report_data, &arena, 0, &count);
        assert_int_equal(count, 1);
        assert_int_equal(pairwise_ratios[0].tie, cases[i].tie);
        assert_near(pairwise_ratios[0].ratio, fmax(cases[i].reference, 1000) / 1000);
        kw_arena_drop(&arena);
        kw_report_data_close(&report_data);
    }
}

static void a_baseline_is_met_on_the_same_problem_and_timing(void **state) {
    (void)state;
    kw_report_data *now = start(""), *before = start("");
    kw_row row = row_of(gemm, "gemm.tiled gemm fp32 tile_m=8", 1000, 1000), old = row_of(gemm, "gemm.tiled gemm fp32 tile_m=4", 1500, 1500);
    kw_row other = row_of("gemm fp32 rcr b1 m8 n8 k8", "gemm.tiled gemm fp32 tile_m=4", 10, 10);
    add(before, &other);
    add(before, &old);
    add(now, &row);
    row.record.cold = true;
    add(now, &row);
    settle(now);
    settle(before);
    kw_arena arena = {0};
    size_t count;
    const uint32_t targets[2] = {0, kw_pairwise_target(now, before, 0)};
    const kw_pairwise *pairwise_ratios = kw_pairwise_baseline(now, before, &arena, targets, &count);
    assert_int_equal(count, 1);
    assert_near(pairwise_ratios[0].ratio, 1.5);
    kw_arena_drop(&arena);
    kw_report_data_close(&now);
    kw_report_data_close(&before);
}

static void drift_is_read_from_distinct_readings_in_order(void **state) {
    (void)state;
    kw_report_data *report_data = start("");
    for (int i = 0; i < 400; i++) { /* two rows a reading, added backwards; the machine slows by 10 % in the middle, once it hiccups */
        int reading = (399 - i) / 2;
        kw_row row = row_of(gemm, "gemm.tiled gemm fp32 tile_m=8", 1000, 1000);
        row.sequence = 399 - i;
        row.control_ns = (reading >= 100 ? 1100 : 1000) + reading * 1e-6 + (reading == 50 ? 500 : 0);
        add(report_data, &row);
    }
    settle(report_data);
    kw_arena arena = {0};
    size_t count;
    const kw_run_drift *runs = kw_drifts(report_data, &arena, &count);
    assert_int_equal(count, 1);
    assert_int_equal(runs[0].rounds, 200);
    assert_true(fabs(runs[0].last - 0.1) < 1e-3);
    assert_int_equal(runs[0].off, 100); /* the half that is not near the median, with the hiccup in it or beside it */
    kw_arena_drop(&arena);
    kw_report_data_close(&report_data);
}

static void a_span_is_of_times_that_can_be_read(void **state) {
    (void)state;
    static const char *const times[] = {"2026-11-21T05:47:09Z", "",     "yesterday",           "2026-02-30",
                                        "2026-11-20T23:59:59Z", "9999", "2026-13-01T00:00:00Z"};
    kw_report_data *report_data = start("");
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        kw_row row = row_of(gemm, "gemm.tiled gemm fp32 tile_m=8", 1000, 1000);
        snprintf(row.time, sizeof row.time, "%s", times[i]);
        row.sequence = (int64_t)i;
        add(report_data, &row);
    }
    settle(report_data);
    assert_string_equal(report_data->first, "2026-11-20T23:59:59Z");
    assert_string_equal(report_data->last, "2026-11-21T05:47:09Z");
    assert_near(report_data->rows_in_order[0].second, 1795240029); /* as `date -u +%s` says */
    assert_near(report_data->rows_in_order[0].second - report_data->rows_in_order[4].second, 5 * 3600 + 47 * 60 + 10);
    kw_report_data_close(&report_data);
}

static void kernels_and_problems_that_cannot_be_read_are_kept_and_named(void **state) {
    (void)state;
    kw_report_data *report_data = start("fp32=1e12");
    kw_row row = row_of("a problem of tomorrow", "future.family conv fp99 tile=9", 10, 10);
    add(report_data, &row);
    settle(report_data);
    assert_false(report_data->problems[0].known);
    assert_string_equal(report_data->configs[0].family, "future.family");
    kw_text page = {0};
    kw_report_page(&page, &(kw_report){.report_data = report_data});
    assert_non_null(strstr(kw_text_string(&page), "no rows with a problem that can be read"));
    kw_text_drop(&page);
    kw_report_data_close(&report_data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oracle_is_chosen_by_one_half_and_scored_by_the_other),
        cmocka_unit_test(rows_group_by_problem_target_and_way_of_timing),
        cmocka_unit_test(measured_roofs_bound_and_memory_only_where_it_is_needed),
        cmocka_unit_test(a_hot_small_problem_has_no_memory_roof),
        cmocka_unit_test(what_cannot_be_a_time_is_none),
        cmocka_unit_test(one_time_alone_still_has_a_best),
        cmocka_unit_test(causes_ignore_numbers_and_keep_an_example),
        cmocka_unit_test(pairs_inside_the_noise_are_ties),
        cmocka_unit_test(a_baseline_is_met_on_the_same_problem_and_timing),
        cmocka_unit_test(drift_is_read_from_distinct_readings_in_order),
        cmocka_unit_test(a_span_is_of_times_that_can_be_read),
        cmocka_unit_test(kernels_and_problems_that_cannot_be_read_are_kept_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
