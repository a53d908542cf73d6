/* test_evaluation_page.c: pages about evaluations of made-up rows: every figure is there and drawn, says what its numbers are, and stays
 * markup whatever a model's folder holds. */
#include "support/rows/made_rows.h"
#include "markup.h"
#include "support/kw_test.h"
#include "support/scratch.h"
#include "support/rows/stumps.h"

enum { PROBLEMS = 40 };

static const char *const figure_ids[] = {"predicted", "selections", "families", "lists", "residuals", "features"};
static char folder[SCRATCH_MAX], store[2 * SCRATCH_MAX], page_path[2 * SCRATCH_MAX];

static int set_up(void **state) {
    (void)state;
    made_rows made;
    scratch_make(folder);
    scratch_path(store, folder, "all.db");
    scratch_path(page_path, folder, "page.html");
    made_rows_make(&made, PROBLEMS);
    made_rows_save(&made, store, 0, 1);
    made_rows_free(&made);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

static kw_evaluation *open_by(const char *by, bool gemm) {
    const char *const paths[] = {store};
    kw_evaluation *e = NULL;
    kw_error err = {0};
    kw_evaluation_options options = {
        .size = sizeof(kw_evaluation_options), .stores = paths, .store_count = 1, .by = by, .by_op = gemm, .op = KW_GEMM};
    if (kw_evaluation_open(&e, &options, &err)) {
        fail_msg("%s", err.text);
    }
    return e;
}

static char *read_page(void) {
    FILE *file = fopen(page_path, "rb");
    assert_non_null(file);
    static char page[8 << 20];
    size_t size = fread(page, 1, sizeof page - 1, file);
    page[size] = 0;
    fclose(file);
    return page;
}

/* The page about the first of these, beside the others. */
static char *page_of(const char *const by[], size_t count, const char *title) {
    kw_evaluation *evaluations[8];
    kw_error err = {0};
    for (size_t i = 0; i < count; i++) {
        evaluations[i] = open_by(by[i], false);
    }
    kw_report_options options = {.size = sizeof(kw_report_options), .title = title, .script = ""};
    kw_status status = kw_evaluations_html(page_path, (const kw_evaluation *const *)evaluations, count, &options, &err);
    for (size_t i = 0; i < count; i++) {
        kw_evaluation_close(&evaluations[i]);
    }
    if (status) {
        fail_msg("%s", err.text);
    }
    char reason[256], *page = read_page();
    if (!markup_is_sound(page, reason)) {
        fail_msg("%s", reason);
    }
    return page;
}

static size_t count_of(const char *text, const char *piece) {
    size_t count = 0;
    while ((text = strstr(text, piece))) {
        count++;
        text += strlen(piece);
    }
    return count;
}

/* To be freed. */
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

/* A model with two features, and a list of importances that means harm. */
static const char *save_model(char path[2 * SCRATCH_MAX], const char *importances) {
    static const stump trees[] = {{"tile_w", 1e9, 0, 0, false}, {NULL, 0, 0, 0, false}};
    static const char *const families[] = {"conv.direct", NULL}, *const serves[] = {"conv_fwd fp32", "conv_bwd_data fp32", "gemm fp32",
                                                                                    NULL};
    const char *const targets[] = {made_target, NULL};
    stumps model = {"ratio", targets, serves, families, trees};
    char file[3 * SCRATCH_MAX];
    scratch_path(path, folder, "model");
    stumps_save(&model, path);
    snprintf(file, sizeof file, "%s/feature_importances_ratio.json", path);
    FILE *out = fopen(file, "wb");
    assert_non_null(out);
    fputs(importances, out);
    fclose(out);
    return path;
}

static void every_figure_is_drawn_with_its_table_and_facts(void **state) {
    (void)state;
    char path[2 * SCRATCH_MAX];
    const char *const by[] = {save_model(path, "{\"tile_w\": 30, \"log2_flops\": 90, \"unused\": 0}"), "estimate", "single", "random"};
    char *page = page_of(by, 4, NULL);
    for (size_t i = 0; i < sizeof figure_ids / sizeof *figure_ids; i++) {
        char *section = section_of(page, figure_ids[i]);
        size_t charts = count_of(section, "<svg ");
        assert_true(charts > 0);
        assert_int_equal(charts, count_of(section, "<figcaption>"));
        assert_int_equal(count_of(section, "<details>"), count_of(section, "href=\"data:text/csv"));
        assert_int_equal(charts, count_of(section, "<details>"));
        assert_int_equal(charts, count_of(section, "n = "));
        assert_int_equal(charts, count_of(section, "left out: "));
        assert_true(count_of(section, "class=\"s") + count_of(section, "class=\"line") > 0);
        assert_null(strstr(section, "nan"));
        assert_null(strstr(section, "inf"));
        free(section);
    }
    char *features = section_of(page, "features");
    assert_true(strstr(features, "log2_flops: 90, 75.0 %") < strstr(features, "tile_w: 30, 25.0 %"));
    assert_null(strstr(features, "unused"));
    free(features);
}

static void curves_are_those_of_all_who_pick(void **state) {
    (void)state;
    static const char *const by[] = {"estimate", "single", "random"};
    char *page = page_of(by, 3, NULL), *selections = section_of(page, "selections"), *lists = section_of(page, "lists");
    for (int i = 0; i < 3; i++) {
        char key[64];
        snprintf(key, sizeof key, ">%s</text>", by[i]);
        assert_non_null(strstr(selections, key));
        assert_non_null(strstr(lists, key));
    }
    kw_evaluation *e = open_by("estimate", false);
    char mean[32];
    snprintf(mean, sizeof mean, "%.4f", kw_evaluation_all(e)->mean.value);
    assert_non_null(strstr(selections, mean));
    snprintf(mean, sizeof mean, "%.4f", kw_evaluation_all(e)->shortlist_5.value);
    assert_non_null(strstr(lists, mean));
    kw_evaluation_close(&e);
    free(selections);
    free(lists);
}

static void who_says_no_times_has_no_points(void **state) {
    (void)state;
    static const char *const by[] = {"random"};
    char *page = page_of(by, 1, NULL), *section = section_of(page, "predicted");
    assert_null(strstr(section, "<svg"));
    assert_non_null(strstr(section, "says no times"));
    free(section);
    section = section_of(page, "features");
    assert_null(strstr(section, "<svg"));
    free(section);
}

static void names_that_mean_harm_stay_text(void **state) {
    (void)state;
    char path[2 * SCRATCH_MAX];
    const char *const by[] = {save_model(path, "{\"<script>alert(1)</script>\": 4, \"\\u202eevil\": 3}")};
    char *page = page_of(by, 1, "<b>\"</title><script>");
    assert_null(strstr(page, "<script>alert"));
    assert_non_null(strstr(page, "&lt;script&gt;alert(1)"));
    assert_non_null(strstr(page, "\\u{202e}evil"));
    const char *const broken[] = {save_model(path, "{\"tile_w\": ")};
    char *section = section_of(page_of(broken, 1, NULL), "features");
    assert_null(strstr(section, "<svg"));
    free(section);
}

static void evaluations_of_other_rows_are_refused(void **state) {
    (void)state;
    kw_error err = {0};
    kw_evaluation *evaluations[] = {open_by("estimate", false), open_by("single", true)};
    const kw_evaluation *const both[] = {evaluations[0], evaluations[1]};
    assert_int_equal(kw_evaluations_html(page_path, both, 2, NULL, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "different rows"));
    assert_int_equal(kw_evaluations_html(page_path, both, 0, NULL, &err), KW_ILLEGAL);
    kw_evaluation_close(&evaluations[0]);
    kw_evaluation_close(&evaluations[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_figure_is_drawn_with_its_table_and_facts),
        cmocka_unit_test(curves_are_those_of_all_who_pick),
        cmocka_unit_test(who_says_no_times_has_no_points),
        cmocka_unit_test(names_that_mean_harm_stay_text),
        cmocka_unit_test(evaluations_of_other_rows_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
