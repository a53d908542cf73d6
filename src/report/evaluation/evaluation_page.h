/* evaluation_page.h: a page about an evaluation: what the selections of a model, or of another selector, are worth beside those of
 * others on the same problem groups. Internal to this folder. Stands apart from figures.h: problem groups of report data and of a data
 * set are different things of one name. */
#ifndef KW_REPORT_EVALUATION_EVALUATION_PAGE_H
#define KW_REPORT_EVALUATION_EVALUATION_PAGE_H

#include "report/page/page.h"
#include "evaluate/evaluate.h"

/* One list for the page's contents and its making: id, function, title. */
#define KW_EVALUATION_CHARTS(X)                                                                                                            \
    X(predicted, "Predicted against measured")                                                                                             \
    X(selections, "Efficiency of the selections")                                                                                          \
    X(families, "Regret by problem family")                                                                                                \
    X(lists, "Best of a list")                                                                                                             \
    X(residuals, "Residuals by operation")                                                                                                 \
    X(features, "Features that count")

/* The selectors, on the problem groups that all evaluate. */
typedef struct kw_evaluation_selector {
    const kw_evaluation *evaluation;
    const kw_group_evaluation **group_evaluations; /* count of kw_evaluation_page; problem group by problem group the same */
} kw_evaluation_selector;

enum { KW_EVALUATION_SELECTORS_MAX = KW_SVG_SERIES };

typedef struct kw_evaluation_page {
    kw_page page;
    kw_evaluation_selector selectors[KW_EVALUATION_SELECTORS_MAX]; /* the first is whom the page is about */
    size_t selector_count;
    size_t count, alone; /* problem groups that all evaluate; that only some do */
} kw_evaluation_page;

#define KW_EVALUATION_CHART(id, title) void kw_evaluation_chart_##id(kw_evaluation_page *view);
KW_EVALUATION_CHARTS(KW_EVALUATION_CHART)
#undef KW_EVALUATION_CHART

/* "conv_fwd fp32 ... hot": the problem group of an evaluation. */
void kw_evaluation_page_group(kw_text *out, const kw_evaluation_page *view, const kw_group_evaluation *evaluation_of_group);
/* The text of a pair's config. */
void kw_evaluation_page_config(kw_text *out, const kw_evaluation_page *view, size_t pair);
/* The line below a chart. */
void kw_evaluation_page_note(kw_evaluation_page *view, size_t count, const char *what, const char *left_out);

/* Operation and type; the groups that problem groups of an evaluation have, in the order of their numbers. */
typedef struct kw_evaluation_group {
    kw_op op;
    kw_dtype dtype;
    char name[40];
} kw_evaluation_group;

size_t kw_evaluation_groups(const kw_evaluation_page *view, kw_evaluation_group groups[KW_PANELS_MAX], size_t *more);
bool kw_evaluation_group_has(const kw_evaluation_page *view, const kw_evaluation_group *group,
                             const kw_group_evaluation *evaluation_of_group);

#endif
