/* report.h: pages about a store or an evaluation.
 * Needs libkernelwright_tune. Conventions are those of kernelwright.h. */
#ifndef KERNELWRIGHT_REPORT_H
#define KERNELWRIGHT_REPORT_H

#include "evaluate.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kw_report_options {
    const char *baseline; /* a second store to compare with; NULL: none */
    const char *title;
    const char *script; /* a chart library to inline; NULL: Debian's libjs-chart.js where it is; "": none */
} kw_report_options;
/* One self-contained HTML file that opens offline. */
KW_API kw_status kw_report_html(const char *store, const char *path, const kw_report_options *options, kw_error *err);
/* One such file about the first of the evaluations, beside the others (1 to 8 in all, of the same stores) on the problem groups that all
 * of them evaluate: predicted against measured times, distributions of efficiency, the best of lists, regret by family, residuals,
 * features. options: title and script; may be NULL. */
KW_API kw_status kw_evaluations_html(const char *path, const kw_evaluation *const evaluations[], size_t count,
                                     const kw_report_options *options, kw_error *err);
/* The same in short, for a terminal. The caller frees *text with kw_free. */
KW_API kw_status kw_report_text(char **text, const char *store, const kw_report_options *options, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
