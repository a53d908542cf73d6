/* evaluation_times.c: predicted times against measured ones: each pair of kernel and problem as a point, and the distribution of what is
 * left over. */
#include "report/evaluation/evaluation_page.h"

#include "base/statistics/stats.h"

#include <math.h>
#include <stdlib.h>

enum { SELECTED = 0, OTHER = 6, DIAGONAL = 4 };

static const kw_dataset *list_evaluations(const kw_evaluation_page *view) {
    return &view->selectors[0].evaluation->dataset;
}

static double predicted_of(const kw_evaluation_page *view, size_t pair) {
    double ns = view->selectors[0].evaluation->scores.ns[pair];
    return ns > 0 && ns < HUGE_VAL ? ns : 0;
}

/* --- points ----------------------------------------------------------------------------------------------------------- */

static const char *const columns[] = {"problem",          "selection",   "predicted ns", "measured ns", "best kernel",
                                      "its predicted ns", "its time ns", "efficiency",   "candidates",  NULL};

typedef struct selection_list {
    const kw_evaluation_page *view;
    const kw_group_evaluation **group_evaluations; /* ascending by efficiency */
    size_t count;
} selection_list;

static void worst_selection_cell(const void *user, size_t row, size_t column, kw_text *out) {
    const selection_list *list = user;
    const kw_group_evaluation *j = list->group_evaluations[row];
    switch (column) {
    case 0:
        kw_evaluation_page_group(out, list->view, j);
        break;
    case 1:
    case 4:
        kw_evaluation_page_config(out, list->view, column == 1 ? j->selection : j->best);
        break;
    case 2:
    case 5:
        kw_text_addf(out, "%.0f", predicted_of(list->view, column == 2 ? j->selection : j->best));
        break;
    case 3:
        kw_text_addf(out, "%.0f", kw_pair_time(&list_evaluations(list->view)->pairs[j->selection]));
        break;
    case 6:
        kw_text_addf(out, "%.0f", j->oracle_ns);
        break;
    case 7:
        kw_text_addf(out, "%.4f", j->efficiency);
        break;
    default:
        kw_text_addf(out, "%zu", j->candidates);
    }
}

static int by_predicted_efficiency(const void *left, const void *right) {
    const kw_group_evaluation *a = *(const kw_group_evaluation *const *)left, *b = *(const kw_group_evaluation *const *)right;
    return a->efficiency != b->efficiency ? (a->efficiency > b->efficiency) - (a->efficiency < b->efficiency)
                                          : (a->problem_group > b->problem_group) - (a->problem_group < b->problem_group);
}

static void draw_point(kw_svg *svg, const kw_evaluation_page *view, const kw_group_evaluation *j, size_t pair) {
    double measured = kw_pair_time(&list_evaluations(view)->pairs[pair]), predicted = predicted_of(view, pair);
    if (!(measured > 0) || !(predicted > 0)) {
        return;
    }
    kw_text title = {0};
    if (pair == j->selection) {
        kw_evaluation_page_group(&title, view, j);
        kw_text_addf(&title, ": %.1f %% of the best, ", 100 * j->efficiency);
        kw_evaluation_page_config(&title, view, pair);
    }
    kw_svg_point(svg, measured, predicted, pair == j->selection ? SELECTED : OTHER, pair == j->selection ? kw_text_string(&title) : NULL);
    kw_escape_drop(&title, svg->out);
}

/* The selections come last, so that they lie on top. */
static void draw_prediction_points(kw_svg *svg, const selection_list *list) {
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < list->count; i++) {
            const kw_group_evaluation *j = list->group_evaluations[i];
            const kw_problem_group *problem_group = &list_evaluations(list->view)->problem_groups[j->problem_group];
            for (size_t pair = problem_group->first; pair < problem_group->first + problem_group->count; pair++) {
                if ((pair == j->selection) == (pass == 1)) {
                    draw_point(svg, list->view, j, pair);
                }
            }
        }
    }
}

static void find_time_range(const selection_list *list, double *low, double *high, size_t *points) {
    *low = HUGE_VAL;
    *high = 0;
    *points = 0;
    for (size_t i = 0; i < list->count; i++) {
        const kw_problem_group *problem_group = &list_evaluations(list->view)->problem_groups[list->group_evaluations[i]->problem_group];
        for (size_t pair = problem_group->first; pair < problem_group->first + problem_group->count; pair++) {
            double measured = kw_pair_time(&list_evaluations(list->view)->pairs[pair]), predicted = predicted_of(list->view, pair);
            if (measured > 0 && predicted > 0) {
                *low = fmin(*low, fmin(measured, predicted));
                *high = fmax(*high, fmax(measured, predicted));
                ++*points;
            }
        }
    }
}

static void add_times_panel(kw_evaluation_page *view, const kw_evaluation_group *group) {
    static const kw_svg_key keys[] = {
        {"selection", SELECTED, KW_MARK_POINT}, {"other kernels", OTHER, KW_MARK_POINT}, {"equal", DIAGONAL, KW_MARK_LINE}};
    selection_list list = {view, kw_page_array(&view->page, view->count, sizeof *list.group_evaluations), 0};
    for (size_t i = 0; i < view->count && list.group_evaluations; i++) {
        if (kw_evaluation_group_has(view, group, view->selectors[0].group_evaluations[i])) {
            list.group_evaluations[list.count++] = view->selectors[0].group_evaluations[i];
        }
    }
    double low, high;
    size_t points;
    find_time_range(&list, &low, &high, &points);
    if (!points) {
        return;
    }
    qsort(list.group_evaluations, list.count, sizeof *list.group_evaluations, by_predicted_efficiency);
    kw_svg svg;
    kw_page_chart(
        &view->page, &svg, group->name,
        &(kw_svg_spec){.label = "Predicted over measured time",
                       .height = 420,
                       .keys = keys,
                       .key_count = 3,
                       .x = {.title = "measured time", .low = low / 1.5, .high = high * 1.5, .log = true, .unit = KW_UNIT_TIME},
                       .y = {.title = "predicted time", .low = low / 1.5, .high = high * 1.5, .log = true, .unit = KW_UNIT_TIME}});
    draw_prediction_points(&svg, &list);
    kw_svg_line_begin(&svg, DIAGONAL, true, "equal");
    kw_svg_line_to(&svg, low / 1.5, low / 1.5);
    kw_svg_line_to(&svg, high * 1.5, high * 1.5);
    kw_svg_line_end(&svg);
    kw_page_chart_end(&view->page, &svg);
    kw_evaluation_page_note(view, points, "pairs of kernel and problem", "kernels that failed or of which nothing is predicted");
    kw_page_table(&view->page, &(kw_table){"predicted", columns, list.count, worst_selection_cell, &list});
}

static const char blind[] = "This selector says no times, only an order.";

static void add_left_out_note(kw_evaluation_page *view, size_t more) {
    if (more) {
        kw_text_addf(&view->page.out,
                     "<p class=\"nothing\">%zu further operations and types have no chart here; --op and --dtype show them.</p>\n", more);
    }
}

void kw_evaluation_chart_predicted(kw_evaluation_page *view) {
    kw_evaluation_group groups[KW_PANELS_MAX];
    size_t more, count = kw_evaluation_groups(view, groups, &more);
    kw_page_begin(
        &view->page, "predicted", "Predicted against measured",
        "Each point is a kernel on a problem. Only the order within a problem decides what is selected, so a cloud beside the line does "
        "no harm, but a selection far to the right of the other points at its height does.");
    if (view->selectors[0].evaluation->scores.kind == KW_SCORES_UNTIMED) {
        kw_page_empty(&view->page, blind);
    } else {
        for (size_t i = 0; i < count; i++) {
            add_times_panel(view, &groups[i]);
        }
        add_left_out_note(view, more);
    }
    kw_page_end(&view->page);
}

/* --- residuals -------------------------------------------------------------------------------------------------------- */

typedef struct residual_group {
    const kw_evaluation_group *group;
    double *ratios; /* measured over predicted, ascending */
    size_t count;
    double within; /* root mean square of ln(ratio) about its mean in a problem group */
} residual_group;

static const char *const residue_columns[] = {"operation and type", "pairs", "P10", "median", "P90", "spread within a problem %", NULL};

static void residual_cell(const void *user, size_t row, size_t column, kw_text *out) {
    const residual_group *r = (const residual_group *)user + row;
    static const double at[] = {0.1, 0.5, 0.9};
    if (column == 0) {
        kw_text_add(out, r->group->name);
    } else if (column == 1) {
        kw_text_addf(out, "%zu", r->count);
    } else if (column < 5) {
        kw_text_addf(out, "%.3f", kw_stat_quantile(r->ratios, r->count, at[column - 2]));
    } else {
        kw_text_addf(out, "%.1f", 100 * (exp(r->within) - 1));
    }
}

/* The ratios of a problem group; what they vary within it is what can put kernels into a wrong order. */
static double add_group_residuals(residual_group *r, const kw_evaluation_page *view, const kw_group_evaluation *j) {
    const kw_problem_group *problem_group = &list_evaluations(view)->problem_groups[j->problem_group];
    double sum = 0, squares = 0, count = 0;
    for (size_t pair = problem_group->first; pair < problem_group->first + problem_group->count; pair++) {
        double measured = kw_pair_time(&list_evaluations(view)->pairs[pair]), predicted = predicted_of(view, pair);
        if (measured > 0 && predicted > 0) {
            double ratio = measured / predicted;
            r->ratios[r->count++] = ratio;
            sum += log(ratio);
            squares += log(ratio) * log(ratio);
            count++;
        }
    }
    return count > 0 ? squares - sum * sum / count : 0;
}

static bool add_residual_group(residual_group *r, kw_evaluation_page *view, const kw_evaluation_group *group) {
    double squares = 0;
    *r = (residual_group){.group = group, .ratios = kw_page_array(&view->page, list_evaluations(view)->pair_count, sizeof *r->ratios)};
    for (size_t i = 0; i < view->count && r->ratios; i++) {
        if (kw_evaluation_group_has(view, group, view->selectors[0].group_evaluations[i])) {
            squares += add_group_residuals(r, view, view->selectors[0].group_evaluations[i]);
        }
    }
    r->within = r->count ? sqrt(fmax(0, squares) / (double)r->count) : 0;
    kw_stat_sort(r->ratios, r->count);
    return r->ratios && r->count;
}

static void add_residuals(kw_evaluation_page *view) {
    kw_evaluation_group groups[KW_PANELS_MAX];
    residual_group *residues = kw_page_array(&view->page, KW_PANELS_MAX, sizeof *residues);
    kw_svg_key keys[KW_PANELS_MAX];
    size_t more, kept = 0, pairs = 0, count = kw_evaluation_groups(view, groups, &more);
    for (size_t i = 0; residues && i < count; i++) {
        if (add_residual_group(&residues[kept], view, &groups[i])) {
            keys[kept] = (kw_svg_key){groups[i].name, (int)kept, KW_MARK_LINE};
            pairs += residues[kept++].count;
        }
    }
    if (!kept) {
        return;
    }
    kw_svg svg;
    kw_page_chart(&view->page, &svg, "Measured over predicted time",
                  &(kw_svg_spec){.label = "Distribution of measured over predicted time",
                                 .height = 300,
                                 .keys = keys,
                                 .key_count = (int)kept,
                                 .x = {.title = "measured over predicted", .low = 0.25, .high = 4, .log = true, .unit = KW_UNIT_RATIO},
                                 .y = {.title = "share of the pairs", .high = 1, .unit = KW_UNIT_PERCENT}});
    kw_svg_rule_x(&svg, 1, "");
    for (size_t i = 0; i < kept; i++) {
        kw_draw_distribution(&svg, residues[i].ratios, residues[i].count, (int)i, keys[i].name);
    }
    kw_page_chart_end(&view->page, &svg);
    kw_evaluation_page_note(view, pairs, "pairs of kernel and problem", "kernels that failed or of which nothing is predicted");
    kw_page_table(&view->page, &(kw_table){"residuals", residue_columns, kept, residual_cell, residues});
    add_left_out_note(view, more);
}

void kw_evaluation_chart_residuals(kw_evaluation_page *view) {
    kw_page_begin(
        &view->page, "residuals", "Residuals by operation",
        "The share of pairs (up) whose measured time is at most so many times the predicted one (across). A steep curve is a sharp "
        "prediction; one beside 1 is a scale that is off for all kernels alike, which harms no order. The table has what varies within a "
        "problem, which does.");
    if (view->selectors[0].evaluation->scores.kind == KW_SCORES_UNTIMED) {
        kw_page_empty(&view->page, blind);
    } else {
        add_residuals(view);
    }
    kw_page_end(&view->page);
}
