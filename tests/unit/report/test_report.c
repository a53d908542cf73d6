/* test_report.c: pages and summaries of made-up stores, of odd ones, and of such as mean harm. */

#include "made_up_report_data.h"
#include "markup.h"
#include "support/kw_test.h"

#include <locale.h>
#include <unistd.h>

static const char *const figure_ids[] = {"roofline", "efficiency", "kernels", "heat", "failures", "drift", "speedup", "costs"};

static kw_text page_of(const made_up *what, const made_up *before, const char *script) {
    kw_report_data *report_data = made_up_report_data(what), *baseline = before ? made_up_report_data(before) : NULL;
    kw_text page = {0};
    kw_report_page(&page, &(kw_report){.report_data = report_data,
                                       .baseline = baseline,
                                       .title = what->hostile ? "<b>\"</title><script>" : NULL,
                                       .script = script});
    kw_report_data_close(&report_data);
    kw_report_data_close(&baseline);
    assert_false(page.failed);
    return page;
}

static void assert_sound(const kw_text *page) {
    char reason[256];
    if (!markup_is_sound(kw_text_string(page), reason)) {
        fail_msg("%s", reason);
    }
}

static size_t count_of(const char *text, const char *piece) {
    size_t count = 0;
    while ((text = strstr(text, piece))) {
        count++;
        text += strlen(piece);
    }
    return count;
}

/* The text of one section. */
static char *section_of(const char *page, const char *id) {
    char start[64];
    snprintf(start, sizeof start, "<section id=\"%s\">", id);
    const char *at = strstr(page, start);
    assert_non_null(at);
    assert_null(strstr(at + 1, start));
    const char *end = strstr(at, "</section>");
    assert_non_null(end);
    return strndup(at, (size_t)(end - at));
}

static void every_figure_has_a_chart_a_table_csv_and_its_facts(void **state) {
    (void)state;
    kw_text page = page_of(&(made_up){.problems = 120, .speed = 1}, &(made_up){.problems = 100, .speed = 0.9}, NULL);
    assert_sound(&page);
    for (size_t i = 0; i < sizeof figure_ids / sizeof *figure_ids; i++) {
        char *section = section_of(kw_text_string(&page), figure_ids[i]);
        assert_true(count_of(section, "<svg ") > 0);
        assert_int_equal(count_of(section, "<svg "), count_of(section, "<figcaption>"));
        assert_true(count_of(section, "<details>") > 0);
        assert_int_equal(count_of(section, "<details>"), count_of(section, "href=\"data:text/csv"));
        assert_true(count_of(section, "store 0123456789abcdef") > 0);
        assert_true(count_of(section, "n = ") > 0);
        assert_true(count_of(section, "left out: ") > 0);
        assert_true(count_of(section, "2026-11-21T") > 0);
        free(section);
    }
    kw_text_drop(&page);
}

static void charts_have_marks_and_finite_places(void **state) {
    (void)state;
    kw_text page = page_of(&(made_up){.problems = 60, .speed = 1}, NULL, NULL);
    for (const char *at = kw_text_string(&page); (at = strstr(at, "<svg ")); at++) {
        const char *end = strstr(at, "</svg>");
        assert_non_null(end);
        char *svg = strndup(at, (size_t)(end - at));
        assert_true(count_of(svg, "class=\"s") + count_of(svg, "class=\"line") + count_of(svg, "class=\"h") > 0);
        assert_null(strstr(svg, "nan"));
        assert_null(strstr(svg, "inf"));
        free(svg);
    }
    kw_text_drop(&page);
}

static void nothing_is_loaded(void **state) {
    (void)state;
    kw_text page = page_of(&(made_up){.problems = 30, .speed = 1}, NULL, "var Chart = function () {};");
    const char *text = kw_text_string(&page);
    assert_non_null(strstr(text, "default-src 'none'"));
    static const char *const loads[] = {"http:", "https:",  "src=",   "@import", "url(",   "<link",
                                        "<img",  "<iframe", "fetch(", "XMLHttp", "unsafe-"};
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        assert_null(strstr(text, loads[i]));
    }
    kw_text_drop(&page);
}

/* Every script and style that is to run carries the nonce of the policy. */
static void scripts_carry_the_nonce_of_the_policy(void **state) {
    (void)state;
    kw_text page = page_of(&(made_up){.problems = 30, .speed = 1}, NULL, "var Chart = function () {};");
    const char *text = kw_text_string(&page);
    char nonce[64], marked[96];
    assert_int_equal(sscanf(strstr(text, "script-src 'nonce-"), "script-src 'nonce-%40[0-9a-f]'", nonce), 1);
    assert_int_equal(strlen(nonce), 32);
    snprintf(marked, sizeof marked, "<script nonce=\"%s\">", nonce);
    assert_int_equal(count_of(text, marked), 2);
    assert_int_equal(count_of(text, "<script"), 2 + count_of(text, "<script type=\"application/json\">"));
    kw_text_drop(&page);
    page = page_of(&(made_up){.problems = 30, .speed = 1}, NULL, NULL);
    assert_int_equal(count_of(kw_text_string(&page), "<script nonce"), 0);
    kw_text_drop(&page);
}

static void hostile_names_stay_text(void **state) {
    (void)state;
    kw_text page = page_of(&(made_up){.problems = 60, .speed = 1, .hostile = true}, NULL, NULL);
    assert_sound(&page);
    assert_null(strstr(kw_text_string(&page), "<script>"));
    assert_true(count_of(kw_text_string(&page), "&lt;script&gt;alert(3)") > 10);
    assert_true(count_of(kw_text_string(&page), "\\u{202e}") > 0);
    kw_text_drop(&page);
    kw_report_data *report_data = made_up_report_data(&(made_up){.problems = 60, .speed = 1, .hostile = true});
    kw_report_summary(&page, &(kw_report){.report_data = report_data});
    for (const char *c = kw_text_string(&page); *c; c++) {
        assert_true((unsigned char)*c >= ' ' || *c == '\n');
    }
    assert_null(strstr(kw_text_string(&page), "\xe2\x80\xae"));
    kw_text_drop(&page);
    kw_report_data_close(&report_data);
}

static void odd_stores_give_whole_pages(void **state) {
    (void)state;
    static const made_up odd[] = {
        {.problems = 0},
        {.problems = 1},
        {.problems = 2, .roofless = true},
        {.problems = 40, .only_failures = true},
        {.problems = 40, .only_failures = true, .roofless = true, .hostile = true},
        {.problems = 4, .speed = 1e-30},
        {.problems = 4, .speed = 1e30},
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        for (size_t j = 0; j < sizeof odd / sizeof *odd; j++) {
            kw_text page = page_of(&odd[i], &odd[j], NULL);
            assert_sound(&page);
            for (size_t f = 0; f < sizeof figure_ids / sizeof *figure_ids; f++) {
                char *section = section_of(kw_text_string(&page), figure_ids[f]);
                assert_true(strstr(section, "<svg ") || strstr(section, "class=\"nothing\""));
                free(section);
            }
            kw_text_drop(&page);
        }
    }
}

static void roofs_that_nobody_measured_are_called_so(void **state) {
    (void)state;
    kw_text page = page_of(&(made_up){.problems = 40, .speed = 1, .roofless = true}, NULL, NULL);
    assert_non_null(strstr(kw_text_string(&page), "best seen in this store, not measured"));
    assert_null(strstr(kw_text_string(&page), "FLOP/s (measured)"));
    kw_text_drop(&page);
    page = page_of(&(made_up){.problems = 40, .speed = 1}, NULL, NULL);
    assert_null(strstr(kw_text_string(&page), "best seen in this store, not measured"));
    assert_non_null(strstr(kw_text_string(&page), "FLOP/s (measured)"));
    kw_text_drop(&page);
}

static void the_same_rows_give_the_same_page(void **state) {
    (void)state;
    kw_text first = page_of(&(made_up){.problems = 50, .speed = 1}, NULL, NULL),
            second = page_of(&(made_up){.problems = 50, .speed = 1}, NULL, NULL);
    assert_string_equal(kw_text_string(&first), kw_text_string(&second));
    kw_text_drop(&first);
    kw_text_drop(&second);
}

static void many_rows_give_a_page_of_bounded_size(void **state) {
    (void)state;
    kw_text page = page_of(&(made_up){.problems = 7200, .speed = 1}, NULL, NULL); /* 50,400 rows */
    assert_true(page.size > 1 << 20 && page.size < 9 << 20);
    assert_non_null(strstr(kw_text_string(&page), "are not shown"));
    assert_non_null(strstr(kw_text_string(&page), "the first 2000 of"));
    kw_text_drop(&page);
}

static void the_summary_says_what_is_known(void **state) {
    (void)state;
    kw_report_data *report_data = made_up_report_data(&(made_up){.problems = 120, .speed = 1}),
                   *before = made_up_report_data(&(made_up){.problems = 100, .speed = 0.8});
    kw_text text = {0};
    kw_report_summary(&text, &(kw_report){.report_data = report_data, .baseline = before});
    static const char *const said[] = {"problems 120, kernels 56",
                                       "coverage    120 of 120",
                                       "P10 ",
                                       "P50 ",
                                       "mean ",
                                       "winners     conv.pointwise",
                                       "120 GFLOP/s (measured)",
                                       "over the reference kernel",
                                       "over the baseline's best",
                                       "drift       run 5eed0001",
                                       "failures\n",
                                       "kwright check --config 'conv.direct",
                                       "kwright tune --exhaustive --set full --threads 2 '"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        if (!strstr(kw_text_string(&text), said[i])) {
            fail_msg("the summary does not say: %s", said[i]);
        }
    }
    double speedup = 0;
    assert_int_equal(sscanf(strstr(kw_text_string(&text), "  baseline"), " baseline %lf", &speedup), 1);
    assert_true(speedup > 1.2 && speedup < 1.3); /* 1 over 0.8 */
    kw_text_drop(&text);
    kw_report_data_close(&report_data);
    kw_report_data_close(&before);
}

/* --- from files ----------------------------------------------------------------------------------------------- */

typedef struct files {
    char folder[64], store[96], page[96], script[96];
} files;

static bool write_run(void *user, const kw_run *run) {
    return kw_store_add_run(user, run, NULL) == KW_OK;
}

static bool write_row(void *user, const kw_row *row) {
    return kw_store_add(user, row, 1, NULL, NULL) == KW_OK;
}

static int make_files(void **state) {
    files *made = calloc(1, sizeof *made);
    kw_store *store = NULL;
    snprintf(made->folder, sizeof made->folder, "/tmp/kw_report_XXXXXX");
    if (!made || !mkdtemp(made->folder)) {
        return 1;
    }
    snprintf(made->store, sizeof made->store, "%s/results.db", made->folder);
    snprintf(made->page, sizeof made->page, "%s/report.html", made->folder);
    snprintf(made->script, sizeof made->script, "%s/chart.js", made->folder);
    bool good = kw_store_open(&store, made->store, KW_STORE_WRITE, NULL) == KW_OK &&
                made_up_visit(&(made_up){.problems = 6, .speed = 1}, write_run, write_row, store);
    kw_store_close(&store);
    *state = made;
    return good ? 0 : 1;
}

static int drop_files(void **state) {
    files *made = *state;
    char path[128];
    static const char *const names[] = {"results.db",  "results.db-wal", "results.db-shm", "results.db.lock",
                                        "report.html", "chart.js",       "not.db"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", made->folder, names[i]);
        unlink(path);
    }
    rmdir(made->folder);
    free(made);
    return 0;
}

static char *read_all(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 4 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (4 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static void write_all(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void a_store_becomes_a_page_and_a_summary(void **state) {
    files *made = *state;
    kw_error err = {0};
    char reason[256], *text = NULL;
    assert_int_equal(kw_report_html(made->store, made->page,
                                    &(kw_report_options){.size = sizeof(kw_report_options), .title = "Of a Tuesday", .script = ""}, &err),
                     KW_OK);
    char *page = read_all(made->page);
    assert_true(markup_is_sound(page, reason));
    assert_non_null(strstr(page, "<title>Of a Tuesday</title>"));
    assert_null(strstr(page, "<script nonce"));
    assert_int_equal(kw_report_text(&text, made->store, NULL, &err), KW_OK);
    assert_non_null(strstr(text, "coverage    6 of 6"));
    kw_free(text);
    free(page);
}

static void a_script_is_inlined_unless_it_would_end_early(void **state) {
    files *made = *state;
    kw_error err = {0};
    static const struct {
        const char *text;
        kw_status status;
    } cases[] = {{"window.Chart = function () { return '</ScripX>'; };", KW_OK},
                 {"var s = '</ScripT>';", KW_ILLEGAL},
                 {"var s = '<script';", KW_ILLEGAL},
                 {"var s = '<!--';", KW_ILLEGAL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_all(made->script, cases[i].text);
        unlink(made->page);
        assert_int_equal(
            kw_report_html(made->store, made->page, &(kw_report_options){.size = sizeof(kw_report_options), .script = made->script}, &err),
            cases[i].status);
        assert_int_equal(access(made->page, F_OK), cases[i].status ? -1 : 0);
    }
    assert_non_null(strstr(err.text, "chart.js"));
    unlink(made->script);
    assert_int_not_equal(
        kw_report_html(made->store, made->page, &(kw_report_options){.size = sizeof(kw_report_options), .script = made->script}, &err),
        KW_OK);
}

static void what_is_no_store_is_named(void **state) {
    files *made = *state;
    kw_error err = {0};
    char path[128], *text = NULL;
    snprintf(path, sizeof path, "%s/not.db", made->folder);
    assert_int_equal(kw_report_html(path, made->page, NULL, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "not.db"));
    write_all(path, "this is not a database, though it is longer than a header of one hundred bytes, which is where the format "
                    "says what it is; so it cannot be one");
    assert_int_equal(kw_report_text(&text, path, NULL, &err), KW_MALFORMED);
    assert_non_null(strstr(err.text, "not.db"));
    assert_int_equal(kw_report_text(&text, made->store, &(kw_report_options){.size = sizeof(kw_report_options), .baseline = path}, &err),
                     KW_MALFORMED);
    assert_null(text);
    snprintf(path, sizeof path, "%s/no/such/folder/report.html", made->folder);
    assert_int_not_equal(kw_report_html(made->store, path, NULL, &err), KW_OK);
    assert_non_null(strstr(err.text, "report.html"));
}

/* A host program's decimal comma must not reach coordinates. */
static void a_locale_changes_nothing(void **state) {
    files *made = *state;
    static const char *const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    assert_int_equal(kw_report_html(made->store, made->page, &(kw_report_options){.size = sizeof(kw_report_options), .script = ""}, NULL),
                     KW_OK);
    char *plain = read_all(made->page), before[64], probe[16];
    snprintf(before, sizeof before, "%s", setlocale(LC_ALL, NULL));
    bool found = false;
    for (size_t i = 0; i < sizeof commas / sizeof *commas && !found; i++) {
        found = setlocale(LC_ALL, commas[i]) != NULL;
    }
    if (!found) {
        free(plain);
        print_message("no locale with a decimal comma is installed\n");
        skip();
    }
    kw_status status = kw_report_html(made->store, made->page, &(kw_report_options){.size = sizeof(kw_report_options), .script = ""}, NULL);
    snprintf(probe, sizeof probe, "%.1f", 0.5);
    setlocale(LC_ALL, before);
    assert_string_equal(probe, "0,5"); /* the program's own locale is as it was */
    assert_int_equal(status, KW_OK);
    char *page = read_all(made->page);
    assert_string_equal(page, plain);
    free(page);
    free(plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_figure_has_a_chart_a_table_csv_and_its_facts),
        cmocka_unit_test(charts_have_marks_and_finite_places),
        cmocka_unit_test(nothing_is_loaded),
        cmocka_unit_test(scripts_carry_the_nonce_of_the_policy),
        cmocka_unit_test(hostile_names_stay_text),
        cmocka_unit_test(odd_stores_give_whole_pages),
        cmocka_unit_test(roofs_that_nobody_measured_are_called_so),
        cmocka_unit_test(the_same_rows_give_the_same_page),
        cmocka_unit_test(many_rows_give_a_page_of_bounded_size),
        cmocka_unit_test(the_summary_says_what_is_known),
        cmocka_unit_test_setup_teardown(a_store_becomes_a_page_and_a_summary, make_files, drop_files),
        cmocka_unit_test_setup_teardown(a_script_is_inlined_unless_it_would_end_early, make_files, drop_files),
        cmocka_unit_test_setup_teardown(what_is_no_store_is_named, make_files, drop_files),
        cmocka_unit_test_setup_teardown(a_locale_changes_nothing, make_files, drop_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
