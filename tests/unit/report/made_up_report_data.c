/* made_up_report_data.c: rows straight into report data. */

#include "made_up_report_data.h"
#include "support/kw_test.h"

bool made_up_take_run(void *user, const kw_run *run) {
    return kw_report_data_add_run(user, run);
}

bool made_up_take_row(void *user, const kw_row *row) {
    return kw_report_data_add_answer(user, row) && kw_report_data_add_row(user, row);
}

kw_report_data *made_up_report_data(const made_up *what) {
    kw_report_data *report_data = NULL;
    assert_int_equal(kw_report_data_create(&report_data, "0123456789abcdef0123456789abcdef", "results.db", NULL), KW_OK);
    assert_true(made_up_visit(what, made_up_take_run, made_up_take_row, report_data));
    assert_int_equal(kw_report_data_finish(report_data, NULL), KW_OK);
    return report_data;
}
