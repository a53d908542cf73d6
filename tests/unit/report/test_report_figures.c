/* test_report_figures.c: a store of four problems whose times, roof and failures are round numbers gives the figures that they make, on
 * the page and in the summary. All are worked out by hand. */

#include "made_up_report_data.h"
#include "support/kw_test.h"

static const char target[] = "cpu:x86-64-v4 model=a-1-2-3 units=1 lanes=16 registers=32 l1=32768 l2=1048576 l3=33554432";
static const char tiled[] = "gemm.tiled gemm fp32 tile_m=8", reference[] = "gemm.reference gemm fp32";

/* A problem of 2 64 64 K FLOP at a roof of 10^12 FLOP/s takes 8.192 K ns. */
typedef struct known_problem {
    const char *text;
    double tiled_ns, reference_ns; /* 0: it fails */
} known_problem;

static const known_problem new_times[] = {
    {"gemm fp32 rcr b1 m64 n64 k125", 1280, 10240}, /* 80 % of the roof, 8 times as fast as the reference kernel */
    {"gemm fp32 rcr b1 m64 n64 k250", 4096, 8192},  /* 50 %, twice as fast */
    {"gemm fp32 rcr b1 m64 n64 k500", 8192, 8200},  /* 50 %, a tie: a thousandth is less than 1 % */
    {"gemm fp32 rcr b1 m64 n64 k1000", 0, 0},       /* no good kernel: efficiency 0, no speed-up */
};
/* The first problem took twice as long, the second as long, the third is not there. */
static const known_problem old_times[] = {
    {"gemm fp32 rcr b1 m64 n64 k125", 2560, 10240},
    {"gemm fp32 rcr b1 m64 n64 k250", 4096, 8192},
};

static void add_answer(kw_report_data *data, const char *problem, const char *config, double ns, kw_outcome failure) {
    kw_row row = {.packed = true, .compile_ns = 5e7, .code_bytes = 100, .control_ns = 1000};
    kw_record *record = &row.record;
    snprintf(row.target, sizeof row.target, "%s", target);
    snprintf(row.problem, sizeof row.problem, "%s", problem);
    snprintf(row.run, sizeof row.run, "%032d", 1);
    snprintf(row.time, sizeof row.time, "2026-11-21T00:00:00Z");
    snprintf(record->config, sizeof record->config, "%s", config);
    record->outcome = ns > 0 ? KW_GOOD : failure;
    record->samples = ns > 0 ? 20 : 0;
    record->time_ns = record->half_ns[0] = record->half_ns[1] = ns;
    snprintf(record->detail, sizeof record->detail, "%s", ns > 0 ? "" : failure == KW_WRONG ? "12 of 4096 differ" : "after 30 s");
    assert_true(made_up_take_row(data, &row));
}

static kw_report_data *make_report_data(const known_problem *problems, size_t count) {
    kw_report_data *data = NULL;
    kw_run run = {0};
    snprintf(run.id, sizeof run.id, "%032d", 1);
    snprintf(run.target, sizeof run.target, "%s", target);
    snprintf(run.roofs, sizeof run.roofs, "fp32=1e12");
    assert_int_equal(kw_report_data_create(&data, "0123456789abcdef0123456789abcdef", "known.db", NULL), KW_OK);
    assert_true(made_up_take_run(data, &run));
    for (size_t i = 0; i < count; i++) {
        add_answer(data, problems[i].text, tiled, problems[i].tiled_ns, KW_WRONG);
        add_answer(data, problems[i].text, reference, problems[i].reference_ns, KW_TIMED_OUT);
    }
    assert_int_equal(kw_report_data_finish(data, NULL), KW_OK);
    return data;
}

typedef struct reported {
    kw_report_data *data, *baseline;
    kw_text page, summary;
} reported;

static int set_up(void **state) {
    static reported r;
    r = (reported){make_report_data(new_times, sizeof new_times / sizeof *new_times),
                   make_report_data(old_times, sizeof old_times / sizeof *old_times),
                   {0},
                   {0}};
    const kw_report report = {.report_data = r.data, .baseline = r.baseline};
    kw_report_page(&r.page, &report);
    kw_report_summary(&r.summary, &report);
    *state = &r;
    return r.page.failed || r.summary.failed;
}

static int tear_down(void **state) {
    reported *r = *state;
    kw_text_drop(&r->page);
    kw_text_drop(&r->summary);
    kw_report_data_close(&r->data);
    kw_report_data_close(&r->baseline);
    return 0;
}

static void assert_says(const char *text, const char *const *pieces) {
    for (; *pieces; pieces++) {
        if (!strstr(text, *pieces)) {
            fail_msg("it does not say: %s\n%s", *pieces, strlen(text) < 6000 ? text : "");
        }
    }
}

static void assert_section_says(const reported *r, const char *id, const char *const *pieces) {
    char start[64];
    snprintf(start, sizeof start, "<section id=\"%s\">", id);
    const char *at = strstr(kw_text_string(&r->page), start);
    assert_non_null(at);
    const char *end = strstr(at, "</section>");
    assert_non_null(end);
    char *section = strndup(at, (size_t)(end - at));
    assert_says(section, pieces);
    free(section);
}

static void the_summary_counts_problems_kernels_and_outcomes(void **state) {
    const reported *r = *state;
    assert_says(kw_text_string(&r->summary),
                (const char *const[]){"rows 8, runs 1, problems 4, kernels 2, targets 1", "answers     8: good 6 wrong 1 timed_out 1\n",
                                      "coverage    3 of 4 problems have a good kernel\n", "winners     gemm.tiled 3 (100 %)\n",
                                      "roofs       fp32 1 TFLOP/s (measured)", "     1  wrong  gemm.tiled: # of # differ\n",
                                      "     1  timed_out  gemm.reference: after # s\n", NULL});
}

/* Sorted: 0, 0.5, 0.5, 0.8. P10 lies at 0.3 of the way from the first to the second. */
static void efficiencies_are_roof_over_time(void **state) {
    const reported *r = *state;
    assert_says(
        kw_text_string(&r->summary),
        (const char *const[]){"efficiency  P10 15 %, P50 50 %, mean 45 % of the roof; without a good kernel: 0; 4 problems\n", NULL});
    assert_section_says(r, "efficiency",
                        (const char *const[]){"<p>P1 1.5 %, P10 15.0 %, P50 50.0 %, mean 45.0 %. 1 of 4 problems have no good kernel",
                                              "n = 4 problems", "<td class=\"n\">0.8000</td><td>arithmetic</td><td class=\"n\">1280</td>",
                                              "<td class=\"n\">0.5000</td><td>arithmetic</td><td class=\"n\">4096</td>", NULL});
}

/* 8, 2 and 8200 / 8192: the cube root of 16.016 is 2.5207; (10240 + 8192 + 8200) / (1280 + 4096 + 8192) is 1.963. */
static void speed_ups_over_the_reference_kernel_have_their_mean_and_ties(void **state) {
    const reported *r = *state;
    assert_says(
        kw_text_string(&r->summary),
        (const char *const[]){"speed-up    2.52x over the reference kernel, geometric mean of 3 problems", ", 1 of them ties\n", NULL});
    assert_section_says(r, "speedup",
                        (const char *const[]){"Geometric mean <b>2.52x</b>",
                                              "total time 1.96x; 2 faster, 1 ties, 0 slower; least 1.00x, most 8.00x",
                                              "<td class=\"n\">8.000</td><td>faster</td><td class=\"n\">1280</td>",
                                              "<td class=\"n\">2.000</td><td>faster</td><td class=\"n\">4096</td>",
                                              "<td class=\"n\">1.001</td><td>tie</td><td class=\"n\">8192</td>",
                                              "1 problems that lack a good kernel or a time of the reference kernel", NULL});
}

/* 2 and 1: the root of 2. (2560 + 4096) / (1280 + 4096) is 1.238. */
static void speed_ups_over_the_baseline_are_of_common_problems(void **state) {
    const reported *r = *state;
    assert_says(kw_text_string(&r->summary),
                (const char *const[]){"baseline    1.41x over the baseline's best, geometric mean of 2 problems", NULL});
    assert_section_says(r, "speedup",
                        (const char *const[]){"Geometric mean <b>1.41x</b>",
                                              "total time 1.24x; 1 faster, 1 ties, 0 slower; least 1.00x, most 2.00x",
                                              "2 problems that lack a good kernel or a time in the baseline", NULL});
}

static void failures_and_costs_are_counted_once(void **state) {
    const reported *r = *state;
    assert_section_says(r, "failures",
                        (const char *const[]){"n = 2 failed answers", "<td>wrong</td><td>gemm.tiled</td><td class=\"n\">1</td>",
                                              "<td>timed_out</td><td>gemm.reference</td><td class=\"n\">1</td>", NULL});
    /* A kernel is compiled once, however many rows it has: two kernels, 50 ms each. */
    assert_section_says(r, "costs",
                        (const char *const[]){"<td>all</td><td class=\"n\">2</td><td class=\"n\">50.0</td><td class=\"n\">50.0</td>"
                                              "<td class=\"n\">50.0</td><td class=\"n\">50.0</td><td class=\"n\">0.10</td>",
                                              NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_summary_counts_problems_kernels_and_outcomes),
        cmocka_unit_test(efficiencies_are_roof_over_time),
        cmocka_unit_test(speed_ups_over_the_reference_kernel_have_their_mean_and_ties),
        cmocka_unit_test(speed_ups_over_the_baseline_are_of_common_problems),
        cmocka_unit_test(failures_and_costs_are_counted_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
