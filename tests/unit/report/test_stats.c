/* test_stats.c: quantiles, means, the bootstrap; scales and ticks; outside text made harmless. */

#include "report/page/scale.h"
#include "base/statistics/stats.h"
#include "support/kw_test.h"

#include <math.h>

static void assert_near(double value, double wanted, double error) {
    assert_true(fabs(value - wanted) <= error);
}

static void quantiles_are_linear_between_neighbours(void **state) {
    (void)state;
    static const double values[] = {1, 2, 4, 8, 16};
    static const struct { double at, value; } cases[] = {{0, 1}, {1, 16}, {0.5, 4}, {0.25, 2}, {0.125, 1.5}, {0.9, 12.8}, {-3, 1}, {7, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_near(kw_stat_quantile(values, 5, cases[i].at), cases[i].value, 1e-12);
    }
    assert_near(kw_stat_quantile(values, 1, 0.7), 1, 0);
    assert_near(kw_stat_quantile(NULL, 0, 0.5), 0, 0);
}

static void values_at_most_a_limit_are_counted(void **state) {
    (void)state;
    static const double values[] = {1, 2, 2, 2, 5};
    static const struct {
        double limit;
        size_t count;
    } cases[] = {{0.5, 0}, {1, 1}, {1.5, 1}, {2, 4}, {4.9, 4}, {5, 5}, {9, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(kw_stat_at_most(values, 5, cases[i].limit), cases[i].count);
    }
    assert_int_equal(kw_stat_at_most(values, 0, 3), 0);
}

static void a_geometric_mean_undoes_products(void **state) {
    (void)state;
    static const double values[] = {0.5, 2, 4, 1, 16};
    assert_near(kw_stat_geomean(values, 5), pow(64, 0.2), 1e-12);
    assert_near(kw_stat_geomean(values, 2), 1, 1e-12);
    assert_near(kw_stat_geomean(values, 0), 0, 0);
    assert_near(kw_stat_mean(values, 4), 1.875, 1e-12);
}

/* The interval of n logarithms with deviation s is about 2 * 1.96 s / sqrt(n) wide. */
static void the_bootstrap_gives_the_width_of_the_normal_interval(void **state) {
    (void)state;
    double values[400];
    for (int i = 0; i < 400; i++) {
        values[i] = 3 * (i % 2 ? exp(0.5) : exp(-0.5));
    }
    kw_interval interval = kw_stat_geomean_interval(values, 400), again = kw_stat_geomean_interval(values, 400);
    assert_true(interval.low < 3 && interval.high > 3);
    double width = log(interval.high / interval.low), wanted = 2 * 1.96 * 0.5 / 20;
    assert_true(width > 0.85 * wanted && width < 1.15 * wanted);
    assert_memory_equal(&interval, &again, sizeof again);
    interval = kw_stat_geomean_interval(values, 1);
    assert_near(interval.low, interval.high, 1e-12);
    assert_near(kw_stat_geomean_interval(values, 0).high, 0, 0);
}

static void scales_hold_whatever_they_are_given(void **state) {
    (void)state;
    static const double odd[] = {0, 1, -1, 5, 1e-300, 1e300, -1e300, 1e12};
    double values[11];
    memcpy(values, odd, sizeof odd);
    values[8] = (double)NAN;
    values[9] = (double)INFINITY;
    values[10] = -(double)INFINITY;
    for (int i = 0; i < 11 * 11 * 2; i++) {
        kw_svg_axis axis = {.title = "", .low = values[i % 11], .high = values[i / 11 % 11], .log = i >= 121};
        kw_tick ticks[KW_TICKS_MAX];
        kw_scale_sanitize(&axis);
        assert_true(isfinite(axis.low) && isfinite(axis.high) && axis.low < axis.high);
        assert_true(!axis.log || axis.low > 0);
        int count = kw_scale_ticks(ticks, &axis, 9);
        assert_in_range(count, 0, KW_TICKS_MAX);
        for (int t = 0; t < count; t++) {
            double place = kw_scale_map(&axis, ticks[t].value);
            assert_true(place >= 0 && place <= 1);
        }
        for (int v = 0; v < 11; v++) {
            double place = kw_scale_map(&axis, values[v]);
            assert_true(place <= 1 && (place >= 0 || !isfinite(values[v]) || (axis.log && values[v] <= 0)));
        }
    }
}

static void ticks_are_round_and_enough(void **state) {
    (void)state;
    static const struct {
        double low, high;
        bool log;
        int least, most;
    } cases[] = {{0, 1, false, 5, 11}, {0, 37, false, 4, 11},    {0.92, 1.08, false, 4, 11}, {1, 1000, true, 4, 14},
                 {3, 5, true, 3, 11},  {1e9, 1e12, true, 4, 14}, {1e-3, 1e15, true, 6, 20}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_svg_axis axis = {.low = cases[i].low, .high = cases[i].high, .log = cases[i].log};
        kw_tick ticks[KW_TICKS_MAX];
        int count = kw_scale_ticks(ticks, &axis, 9), labelled = 0;
        for (int t = 0; t < count; t++) {
            labelled += ticks[t].labelled;
            double digits = ticks[t].value / pow(10, floor(log10(ticks[t].value + 1e-300)) - 2);
            assert_true(ticks[t].value == 0 || fabs(digits - round(digits)) < 1e-6);
        }
        assert_in_range(labelled, 2, 11);
        assert_in_range(count, cases[i].least, cases[i].most);
    }
}

static void values_are_written_short(void **state) {
    (void)state;
    static const struct {
        double value;
        kw_unit unit;
        const char *text;
    } cases[] = {{0, KW_UNIT_PLAIN, "0"},           {1.5, KW_UNIT_PLAIN, "1.5"},
                 {1.2e11, KW_UNIT_SI, "120 G"},     {2.4e10, KW_UNIT_SI, "24 G"},
                 {999.7, KW_UNIT_SI, "1 k"},        {0.5, KW_UNIT_PERCENT, "50 %"},
                 {2, KW_UNIT_RATIO, "2x"},          {1500, KW_UNIT_TIME, "1.5 \xc2\xb5s"},
                 {8.41e6, KW_UNIT_TIME, "8.41 ms"}, {100, KW_UNIT_PLAIN, "100"},
                 {10, KW_UNIT_PLAIN, "10"},         {-0.25, KW_UNIT_PLAIN, "-0.25"}};
    char text[24];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_unit_print(text, cases[i].value, cases[i].unit);
        assert_string_equal(text, cases[i].text);
    }
    for (int unit = KW_UNIT_PLAIN; unit <= KW_UNIT_TIME; unit++) {
        static const double extremes[] = {1e300, -1e300, 1e-300, 123456789};
        for (int i = 0; i < 4; i++) {
            kw_unit_print(text, extremes[i], (kw_unit)unit);
            assert_in_range(strlen(text), 1, 23);
        }
        kw_unit_print(text, (double)NAN, (kw_unit)unit);
        assert_string_equal(text, "n/a");
    }
}

static void outside_text_is_harmless_in_every_place(void **state) {
    (void)state;
    static const struct {
        const char *text;
        kw_escape form;
        const char *safe;
    } cases[] = {
        {"a<b>&\"'", KW_ESCAPE_HTML, "a&lt;b&gt;&amp;&quot;&#39;"},
        {"a<b>&\"'", KW_ESCAPE_TERMINAL, "a<b>&\"'"},
        {"</script>\"\\'&", KW_ESCAPE_JSON, "\\u003c/script\\u003e\\\"\\\\\\u0027\\u0026"},
        {"\033]0;x\007\t\n", KW_ESCAPE_TERMINAL, "\\x1b]0;x\\x07\\x09\\x0a"},
        {"\033", KW_ESCAPE_JSON, "\\\\x1b"},
        {"\x7f\xc2\x9b", KW_ESCAPE_HTML, "\\x7f\\u{9b}"},
        {"\xe2\x80\xaeok\xe2\x80\x8b", KW_ESCAPE_TERMINAL, "\\u{202e}ok\\u{200b}"},
        {"\xe2\x80\xa8", KW_ESCAPE_JSON, "\\\\u{2028}"},
        {"\xff\xc0\xaf\xed\xa0\x80", KW_ESCAPE_TERMINAL, "\\xff\\xc0\\xaf\\xed\\xa0\\x80"},
        {"\xe2\x80", KW_ESCAPE_TERMINAL, "\\xe2\\x80"},
        {"\xf4\x90\x80\x80", KW_ESCAPE_TERMINAL, "\\xf4\\x90\\x80\\x80"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", KW_ESCAPE_HTML, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"a,b", KW_ESCAPE_CSV, "\"a,b\""},
        {"a\"b", KW_ESCAPE_CSV, "\"a\"\"b\""},
        {"=1+1", KW_ESCAPE_CSV, "\"'=1+1\""},
        {"@x", KW_ESCAPE_CSV, "\"'@x\""},
        {"-12.5", KW_ESCAPE_CSV, "-12.5"},
        {"+1e5", KW_ESCAPE_CSV, "+1e5"},
        {"-1+cmd", KW_ESCAPE_CSV, "\"'-1+cmd\""},
        {"", KW_ESCAPE_CSV, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_text out = {0};
        kw_escape_add(&out, cases[i].text, cases[i].form);
        assert_string_equal(kw_text_string(&out), cases[i].safe);
        kw_text_drop(&out);
    }
}

/* Any bytes at all: what comes out is UTF-8 without control characters, and in HTML without markup. */
static void random_bytes_become_printable(void **state) {
    (void)state;
    unsigned seed = 12345;
    for (int round = 0; round < 2000; round++) {
        char text[40] = {0};
        for (int i = 0; i < 39; i++) {
            seed = seed * 1103515245u + 12345u;
            text[i] = (char)(seed >> 16);
        }
        for (int form = KW_ESCAPE_TERMINAL; form <= KW_ESCAPE_CSV; form++) {
            kw_text out = {0}, again = {0};
            kw_escape_add(&out, text, (kw_escape)form);
            for (const char *c = kw_text_string(&out); *c; c++) {
                assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
                assert_true(form != KW_ESCAPE_HTML || !strchr("<>\"'", *c));
                assert_true(form != KW_ESCAPE_JSON || !strchr("<>&", *c));
            }
            if (form == KW_ESCAPE_TERMINAL) { /* nothing is left to be done */
                kw_escape_add(&again, kw_text_string(&out), KW_ESCAPE_TERMINAL);
                assert_string_equal(kw_text_string(&again), kw_text_string(&out));
            }
            kw_text_drop(&out);
            kw_text_drop(&again);
        }
    }
}

static void long_text_is_cut_between_characters(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t limit;
        const char *cut;
    } cases[] = {{"abcdef", 6, "abcdef"},
                 {"abcdef", 5, "abcd\xe2\x80\xa6"},
                 {"\xc3\xa9\xc3\xa9\xc3\xa9", 2, "\xc3\xa9\xe2\x80\xa6"},
                 {"a", 1, "a"},
                 {"", 1, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_text out = {0};
        kw_escape_add_truncated(&out, cases[i].text, KW_ESCAPE_TERMINAL, cases[i].limit);
        assert_string_equal(kw_text_string(&out), cases[i].cut);
        kw_text_drop(&out);
    }
}

static void a_shell_takes_a_quoted_word_as_it_is(void **state) {
    (void)state;
    kw_text out = {0};
    kw_escape_quote(&out, "a'b $(x) `y` \"z\"");
    assert_string_equal(kw_text_string(&out), "'a'\\''b $(x) `y` \"z\"'");
    kw_text_drop(&out);
    kw_escape_add_url(&out, "a b\xff\"", 5);
    assert_string_equal(kw_text_string(&out), "a%20b%FF%22");
    kw_text_drop(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_linear_between_neighbours),
        cmocka_unit_test(values_at_most_a_limit_are_counted),
        cmocka_unit_test(a_geometric_mean_undoes_products),
        cmocka_unit_test(the_bootstrap_gives_the_width_of_the_normal_interval),
        cmocka_unit_test(scales_hold_whatever_they_are_given),
        cmocka_unit_test(ticks_are_round_and_enough),
        cmocka_unit_test(values_are_written_short),
        cmocka_unit_test(outside_text_is_harmless_in_every_place),
        cmocka_unit_test(random_bytes_become_printable),
        cmocka_unit_test(long_text_is_cut_between_characters),
        cmocka_unit_test(a_shell_takes_a_quoted_word_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
