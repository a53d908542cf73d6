/* test_golden_report.c: summaries and pages of made-up stores and evaluations, held to tests/golden/report.txt: a summary word for word, of
 * a page each section's size and a hash of its text. What moves a mark, a count or a word by a little is found here; whether that is right
 * is for test_report_figures and its like. `make golden` (KW_GOLDEN_WRITE=1) remakes the file; to see a page, make_store and
 * `kwright report --html`. */
#include "base/hash.h"
#include "base/os/file.h"
#include "report/report.h"
#include "support/kw_test.h"
#include "support/rows/made_rows.h"
#include "support/scratch.h"
#include "support/rows/stumps.h"
#include "unit/report/made_up_report_data.h"

#include <unistd.h>

typedef struct made_case {
    const char *name;
    made_up what, before; /* before.problems 0: no baseline */
} made_case;

static const made_case cases[] = {
    {"one target, with a baseline", {.problems = 40, .speed = 1}, {.problems = 30, .speed = 0.8}},
    {"ten targets, with a baseline", {.problems = 60, .speed = 1, .targets = 10}, {.problems = 66, .speed = 1.02, .targets = 11}},
    {"problems beyond what a table shows", {.problems = 700, .speed = 1}, {.problems = 700, .speed = 1.3}},
    {"no roofs", {.problems = 20, .speed = 1, .roofless = true}, {0}},
    {"failures alone", {.problems = 24, .only_failures = true}, {.problems = 12, .speed = 1}},
    {"names that mean harm", {.problems = 12, .speed = 1, .hostile = true}, {0}},
    {"rows without a control, the first and the last among them", {.problems = 36, .speed = 1, .controlless = true}, {0}},
    {"one problem", {.problems = 1, .speed = 1}, {0}},
    {"no rows", {0}, {0}},
};

/* A line for what stands before the sections and for each of them. */
static void add_sections(kw_text *out, const char *page) {
    static const char start[] = "<section id=\"", end[] = "</section>";
    const char *from = strstr(page, "<body"), *to;
    assert_non_null(from);
    for (const char *id = "start"; from; from = strstr(to, start)) {
        char hash[KW_HASH_TEXT];
        bool section = !strncmp(from, start, sizeof start - 1);
        id = section ? from + sizeof start - 1 : id;
        to = strstr(from, section ? end : start);
        assert_non_null(to);
        kw_hash_text(hash, from, (size_t)(to - from));
        kw_text_addf(out, "%.*s %zu %.16s\n", (int)strcspn(id, "\""), id, (size_t)(to - from), hash);
    }
}

static void add_case(kw_text *out, const made_case *c) {
    kw_report_data *data = made_up_report_data(&c->what), *baseline = c->before.problems ? made_up_report_data(&c->before) : NULL;
    const kw_report report = {.report_data = data, .baseline = baseline};
    kw_text page = {0};
    kw_text_addf(out, "\n== %s\n", c->name);
    kw_report_summary(out, &report);
    kw_report_page(&page, &report);
    assert_false(page.failed);
    add_sections(out, kw_text_string(&page));
    kw_text_drop(&page);
    kw_report_data_close(&data);
    kw_report_data_close(&baseline);
}

/* The page of a model, beside those who pick without one. */
static void add_evaluation(kw_text *out) {
    static const stump trees[] = {{"tile_w", 1e9, 0, 0, false}, {NULL, 0, 0, 0, false}};
    static const char *const families[] = {"conv.direct", NULL}, *const serves[] = {"conv_fwd fp32", "conv_bwd_data fp32", "gemm fp32",
                                                                                    NULL};
    static const char importances[] = "{\"tile_w\": 30, \"log2_flops\": 90, \"unused\": 0}";
    const char *const targets[] = {made_target, NULL};
    const stumps model = {"ratio", targets, serves, families, trees};
    const char *const stores[] = {"all.db"}, *const by[] = {"./model", "estimate", "single", "random"};
    char folder[SCRATCH_MAX];
    kw_error err = {0};
    made_rows made;
    /* Names are relative, so that the page knows nothing of the folder. */
    scratch_make(folder);
    assert_int_equal(chdir(folder), 0);
    made_rows_make(&made, 40);
    made_rows_save(&made, *stores, 0, 1);
    made_rows_free(&made);
    stumps_save(&model, *by);
    assert_int_equal(kw_file_replace("model/feature_importances_ratio.json", importances, sizeof importances - 1, 0644, &err), KW_OK);
    kw_evaluation *evaluations[4];
    for (size_t i = 0; i < 4; i++) {
        kw_evaluation_options options = {.size = sizeof(kw_evaluation_options), .stores = stores, .store_count = 1, .by = by[i]};
        assert_int_equal(kw_evaluation_open(&evaluations[i], &options, &err), KW_OK);
    }
    const kw_report_options options = {.size = sizeof(kw_report_options), .script = ""};
    assert_int_equal(kw_evaluations_html("page.html", (const kw_evaluation *const *)evaluations, 4, &options, &err), KW_OK);
    kw_arena arena = {0};
    char *page = NULL;
    size_t size = 0;
    assert_int_equal(kw_file_read(&arena, "page.html", 8 << 20, &page, &size, &err), KW_OK);
    kw_text_add(out, "\n== an evaluation\n");
    add_sections(out, page);
    kw_arena_drop(&arena);
    for (size_t i = 0; i < 4; i++) {
        kw_evaluation_close(&evaluations[i]);
    }
    assert_int_equal(chdir("/"), 0);
    scratch_remove(folder);
}

static void pages_and_summaries_are_those_of_the_golden_file(void **state) {
    (void)state;
    static const char path[] = KW_GOLDEN_FOLDER "/report.txt";
    kw_text out = {0};
    kw_error err = {0};
    kw_text_add(&out, "# made by `make golden`: summaries; sections of pages, their bytes and a hash of their text\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        add_case(&out, &cases[i]);
    }
    add_evaluation(&out);
    assert_false(out.failed);
    if (getenv("KW_GOLDEN_WRITE")) {
        assert_int_equal(kw_file_replace(path, out.data, out.size, 0644, &err), KW_OK);
    } else {
        kw_arena arena = {0};
        char *old = NULL;
        size_t size = 0;
        assert_int_equal(kw_file_read(&arena, path, 1 << 20, &old, &size, &err), KW_OK);
        assert_string_equal(old, out.data);
        kw_arena_drop(&arena);
    }
    kw_text_drop(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pages_and_summaries_are_those_of_the_golden_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
