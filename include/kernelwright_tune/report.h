/* report.h: pages about a store or an evaluation.
 * Needs libkernelwright_tune. Conventions are those of kernelwright.h. */
#ifndef KERNELWRIGHT_TUNE_REPORT_H
#define KERNELWRIGHT_TUNE_REPORT_H

#include "evaluate.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kw_report_options {
    size_t size;          /* sizeof(kw_report_options) */
    const char *baseline; /* a second store to compare with; NULL: none */
    const char *title;
    double slack;       /* of kw_report_visit: a difference that counts as none, as a share */
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

/* How a problem's best kernel stands to the baseline's. LOST: the baseline has a good one, this store has tried and has none. */
typedef enum kw_verdict {
    KW_VERDICT_NONE,
    KW_VERDICT_SAME,
    KW_VERDICT_FAST,
    KW_VERDICT_SLOW,
    KW_VERDICT_LOST,
    KW_VERDICT_COUNT
} kw_verdict;
/* "", "SAME", "FAST", "SLOW", "LOST" */
KW_API const char *kw_verdict_name(kw_verdict verdict);

/* A problem on a target, timed in one way. */
typedef struct kw_report_line {
    const char *target, *problem;
    const char *config; /* the best kernel; "": none is good */
    double best_ns;     /* its time, scored by other samples than those that chose it; 0: none */
    double efficiency;  /* share of the roof; 0 where it is not known */
    size_t good, failed, unfit;
    bool packed, cold;
    kw_verdict verdict;          /* of a baseline: NONE where it has no such problem */
    const char *baseline_config; /* its best; "" */
    double baseline_ns, ratio;   /* its time; how many times faster this store's best is; 0: not known */
} kw_report_line;
/* Each problem of a store, in a fixed order; with a baseline how it stands to that: SAME where the difference is inside the noise of the two, or
 * not above options->slack. The texts live for the call. */
KW_API kw_status kw_report_visit(const char *store, const kw_report_options *options, void (*visit)(void *user, const kw_report_line *line),
                                 void *user, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
