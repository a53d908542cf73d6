/* selections.h: a page about an evaluation: what the picks of a model, or of whoever picked, are worth beside those of others on the same contests.
 * Internal to this folder. Stands apart from figures.h: contests of a ledger and of a data set are different things of one name. */
#ifndef KW_REPORT_EVALUATION_SELECTIONS_H
#define KW_REPORT_EVALUATION_SELECTIONS_H

#include "report/page/page.h"
#include "evaluate/evaluate.h"

/* One list for the page's contents and its making: id, function, title. */
#define KW_PICK_FIGURES(X)                                                                                                                 \
    X(predicted, "Predicted against measured")                                                                                             \
    X(picks, "Efficiency of the picks")                                                                                                    \
    X(families, "Regret by problem family")                                                                                                \
    X(lists, "Best of a list")                                                                                                             \
    X(residuals, "Residuals by operation")                                                                                                 \
    X(features, "Features that count")

/* Whoever picks, on the contests that all judge. */
typedef struct kw_picker {
    const kw_evaluation *evaluation;
    const kw_judgement **judgements; /* count of kw_picks; contest by contest the same */
} kw_picker;

enum { KW_PICKERS_MAX = KW_SVG_SERIES };

typedef struct kw_picks {
    kw_page page;
    kw_picker pickers[KW_PICKERS_MAX]; /* the first is whom the page is about */
    size_t picker_count;
    size_t count, alone; /* contests that all judge; that only some do */
} kw_picks;

#define KW_PICK_FIGURE(id, title) void kw_pick_figure_##id(kw_picks *picks);
KW_PICK_FIGURES(KW_PICK_FIGURE)
#undef KW_PICK_FIGURE

/* "conv_fwd fp32 ... hot": the contest of a judgement. */
void kw_picks_contest(kw_text *out, const kw_picks *picks, const kw_judgement *judgement);
/* The text of a pair's config. */
void kw_picks_config(kw_text *out, const kw_picks *picks, size_t pair);
/* The line below a chart. */
void kw_picks_facts(kw_picks *picks, size_t count, const char *what, const char *left_out);

/* Operation and type; the groups that contests of an evaluation have, in the order of their numbers. */
typedef struct kw_pick_group {
    kw_op op;
    kw_dtype dtype;
    char name[40];
} kw_pick_group;

size_t kw_pick_groups(const kw_picks *picks, kw_pick_group groups[KW_PANELS_MAX], size_t *more);
bool kw_pick_group_has(const kw_picks *picks, const kw_pick_group *group, const kw_judgement *judgement);

#endif
