/* figures.h: the figures of a report, in the order of the page, and what several of them share. Internal to this folder. */
#ifndef KW_REPORT_CHARTS_FIGURES_H
#define KW_REPORT_CHARTS_FIGURES_H

#include "report/data/report_data.h"
#include "report/page/page.h"

/* One list for the page's contents and its making: id, function, title. */
#define KW_FIGURES(X)                                                                                                                      \
    X(roofline, "Roofline")                                                                                                                \
    X(efficiency, "Efficiency of the best kernels")                                                                                        \
    X(kernels, "Kernels against the oracle")                                                                                               \
    X(heat, "Which shape for which problem")                                                                                               \
    X(failures, "Failures by cause")                                                                                                       \
    X(drift, "Drift of the control kernel")                                                                                                \
    X(speedup, "Speed-ups")                                                                                                                \
    X(costs, "What the measuring cost")

#define KW_FIGURE(id, title) void kw_figure_##id(kw_page *page);
KW_FIGURES(KW_FIGURE)
#undef KW_FIGURE

/* A group of problem groups that gets a chart of its own. */
typedef struct kw_panel {
    uint32_t target;
    int op, dtype; /* KW_OP_COUNT, KW_DTYPE_COUNT: all */
    size_t problem_groups;
} kw_panel;

/* The groups with the most problem groups, largest first; *more: how many further groups there are. Problem groups whose problem cannot
 * be read belong to none. */
size_t kw_panels(const kw_report_data *report_data, kw_panel panels[KW_PANELS_MAX], bool by_op, bool by_dtype, size_t *more);
bool kw_panel_has(const kw_report_data *report_data, const kw_panel *panel, const kw_report_group *problem_group);
/* "conv_fwd bf16 on cpu:x86-64-v4 ..." */
void kw_panel_print(kw_text *out, const kw_report_data *report_data, const kw_panel *panel);
/* A remark that further groups have no chart; nothing for 0. */
void kw_panel_more(kw_page *page, size_t more);

/* The problem's text with how it was timed. */
void kw_report_group_print(kw_text *out, const kw_report_data *report_data, const kw_report_group *problem_group);
/* The text of the group's best config; "" when it has none. */
const char *kw_report_group_winner(const kw_report_data *report_data, const kw_report_group *problem_group);
/* "measured roofs", "best seen in this store", for readers. */
const char *kw_roof_words(kw_roof_kind kind);

/* Failures of one kind: outcome and detail, whose numbers do not count. */
typedef struct kw_failure_cause {
    kw_outcome outcome;
    uint32_t family;
    const char *rule; /* the detail, with # for each number */
    size_t count;     /* answers */
    const kw_report_entry *example;
} kw_failure_cause;
/* Causes with the most answers first; unfit: instead of failures, why kernels do not serve problems. NULL when there is no memory. */
kw_failure_cause *kw_failure_causes(const kw_report_data *report_data, kw_arena *arena, bool unfit, size_t *count);
/* The command line that shows a cause's example again. */
void kw_failure_cause_command(kw_text *out, const kw_report_data *report_data, const kw_failure_cause *cause);

/* What a run's control kernel did. */
typedef struct kw_run_drift {
    uint32_t run;
    size_t first, count;               /* moments of the run */
    size_t rounds, off;                /* different readings of the control; those off its median by more than kw_drift_limit */
    double median_ns, low, high, last; /* P5 and P95 over the median; median of the last tenth over that of the first, less 1 */
} kw_run_drift;
extern const double kw_drift_limit;
/* One for each run that has readings, by number of rounds, largest first. NULL when there is no memory. */
kw_run_drift *kw_drifts(const kw_report_data *report_data, kw_arena *arena, size_t *count);

/* One problem timed twice: by a kernel to beat and by the best. */
typedef struct kw_pairwise {
    const kw_report_group *problem_group;
    double ratio; /* time of the one to beat over time of the best */
    bool tie;     /* the difference is inside the noise of the two */
} kw_pairwise;
/* Against the reference kernel of the same problem group. Ascending by ratio; NULL when there is no memory. */
kw_pairwise *kw_pairwise_reference(const kw_report_data *report_data, kw_arena *arena, uint32_t target, size_t *count);
/* Against the other store's best on the same problem, timed the same way, on its target number other. */
kw_pairwise *kw_pairwise_baseline(const kw_report_data *report_data, const kw_report_data *baseline, kw_arena *arena,
                                  const uint32_t targets[2], size_t *count);
/* The other store's group of the same problem on its target, timed the same way; NULL: it has none. */
const kw_report_group *kw_pairwise_partner(const kw_report_data *report_data, const kw_report_data *baseline,
                                           const kw_report_group *problem_group, uint32_t target);
/* Two groups that have a best kernel each. */
kw_pairwise kw_pairwise_groups(const kw_report_data *report_data, const kw_report_group *problem_group, const kw_report_data *baseline,
                               const kw_report_group *other);
/* The baseline's target to compare a target with: the same, else the one with the most answers; UINT32_MAX: it has none. */
uint32_t kw_pairwise_target(const kw_report_data *report_data, const kw_report_data *baseline, uint32_t target);

#endif
