/* test_report_memory.c: want of memory at any one allocation of a report is a status, never a crash or a page with a hole. */

#include "made_up.h"

#include "report/report.h"
#include "support/kw_test.h"
#include "support/memory_limit.h"

static bool take_run(void *user, const kw_run *run) {
    return kw_report_data_add_run(user, run);
}

static bool take_row(void *user, const kw_row *row) {
    return kw_report_data_add_answer(user, row) && kw_report_data_add_row(user, row);
}

/* All of a report with so many allocations granted; false when it said that there is no memory. */
static bool report(long allocations, kw_text *page) {
    kw_report_data *report_data = NULL;
    kw_error err = {0};
    memory_granted = allocations;
    bool good = kw_report_data_create(&report_data, "id", "name", &err) == KW_OK &&
                made_up_visit(&(made_up){.problems = 9, .speed = 1}, take_run, take_row, report_data) &&
                kw_report_data_finish(report_data, &err) == KW_OK;
    if (good) {
        kw_report_page(page, &(kw_report){.report_data = report_data, .baseline = report_data, .script = "1;"});
        good = !page->failed;
    }
    memory_granted = -1;
    kw_report_data_close(&report_data);
    return good;
}

static void want_of_memory_anywhere_is_told(void **state) {
    (void)state;
    kw_text whole = {0};
    memory_asked = 0;
    assert_true(report(-1, &whole));
    long all = memory_asked;
    assert_true(all > 200);
    for (long n = 0; n < all; n += n < 300 ? 1 : 7) {
        kw_text page = {0};
        bool good = report(n, &page);
        assert_true(!good || !strcmp(kw_text_string(&page), kw_text_string(&whole))); /* a refusal that harms nothing is none */
        kw_text_drop(&page);
    }
    kw_text page = {0};
    assert_true(report(all, &page));
    assert_string_equal(kw_text_string(&page), kw_text_string(&whole));
    kw_text_drop(&page);
    kw_text_drop(&whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(want_of_memory_anywhere_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
