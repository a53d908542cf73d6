/* made_up_report_data.h: report data of made-up rows, without a store between. */
#ifndef KW_TEST_MADE_UP_REPORT_DATA_H
#define KW_TEST_MADE_UP_REPORT_DATA_H

#include "made_up.h"

#include "report/report.h"

/* Settled; fails the test when there is no memory. */
kw_report_data *made_up_report_data(const made_up *what);
/* For rows given by hand: two functions for made_up_visit's callbacks and others, user is the report data. */
bool made_up_take_run(void *user, const kw_run *run);
bool made_up_take_row(void *user, const kw_row *row);

#endif
