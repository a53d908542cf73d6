/* report.h: the page and the summary of report data. The public functions (kernelwright_tune.h) read stores and call these. */
#ifndef KW_REPORT_REPORT_H
#define KW_REPORT_REPORT_H

#include "report/data/report_data.h"

typedef struct kw_report {
    const kw_report_data *report_data, *baseline; /* baseline may be NULL */
    const char *title;                            /* NULL: a plain one */
    const char *script;                           /* text of a chart library; NULL: none */
} kw_report;

/* A whole HTML document. Want of memory sets out->failed. */
void kw_report_page(kw_text *out, const kw_report *report);
/* Lines for a terminal, in plain text; names are made harmless for a terminal. */
void kw_report_summary(kw_text *out, const kw_report *report);

#endif
