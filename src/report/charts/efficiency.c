/* efficiency.c: how near the best kernels come to the roof, and all kernels to the oracle, as empirical distributions.
 *
 * What failed counts: a problem without a good kernel has efficiency 0, a kernel that failed has share 0 of the oracle. So a curve that
 * starts above zero shows failures, and none vanish from a mean. */
#include "report/charts/figures.h"
#include "base/statistics/stats.h"

#include <math.h>
#include <stdlib.h>

/* --- the best kernels against the roof ------------------------------------------------------------------------ */

typedef struct problem_list {
    const kw_report_data *report_data;
    const kw_report_group **problem_groups; /* ascending by efficiency */
    size_t count, good;
} problem_list;

static const char *const problem_columns[] = {"problem", "of the roof", "roof", "time ns", "best kernel", "timed", "failed", NULL};

static void problem_cell(const void *user, size_t row, size_t column, kw_text *out) {
    const problem_list *list = user;
    const kw_report_group *problem_group = list->problem_groups[row];
    switch (column) {
    case 0:
        kw_report_group_print(out, list->report_data, problem_group);
        break;
    case 1:
        kw_text_addf(out, "%.4f", kw_report_group_efficiency(problem_group));
        break;
    case 2:
        kw_text_add(out, problem_group->by_memory ? "memory" : "arithmetic");
        break;
    case 3:
        kw_text_addf(out, "%.0f", problem_group->oracle_ns);
        break;
    case 4:
        kw_text_add(out, kw_report_group_winner(list->report_data, problem_group));
        break;
    default:
        kw_text_addf(out, "%zu", column == 5 ? problem_group->good : problem_group->failed);
    }
}

static int by_efficiency_value(const void *a, const void *b) {
    const kw_report_group *x = *(const kw_report_group *const *)a, *y = *(const kw_report_group *const *)b;
    double ex = kw_report_group_efficiency(x), ey = kw_report_group_efficiency(y);
    return ex != ey ? (ex > ey) - (ex < ey) : (x->first > y->first) - (x->first < y->first);
}

static void mark_quantiles(kw_svg *svg, const double *sorted, size_t count) {
    static const double at[] = {0.01, 0.1, 0.5};
    static const char *const names[] = {"P1", "P10", "P50"};
    for (int i = 0; i < 3; i++) {
        double value = kw_stat_quantile(sorted, count, at[i]);
        kw_text word = {0};
        kw_text_addf(&word, "%s %.0f %%", names[i], 100 * value);
        double place[2];
        if (kw_svg_map(svg, value, at[i], place)) {
            kw_svg_point(svg, value, at[i], 5, kw_text_string(&word));
            bool left = place[0] > svg->right - 90;
            /* Low in the corner two words would lie on each other, so each stands a line higher than the one before. */
            double y = fmin(place[1], svg->bottom - 8 - 15 * i);
            kw_svg_text(svg, (double[]){place[0] + (left ? -8 : 8), y}, "word", left ? "end" : "start", kw_text_string(&word));
        }
        kw_escape_drop(&word, svg->out);
    }
}

typedef struct group_values {
    double *values;
    size_t count;
    int op, dtype;
} group_values;

static void draw_groups(kw_page *page, kw_svg *svg, const problem_list *list, group_values groups[], size_t count) {
    for (size_t g = 0; g < count; g++) {
        groups[g].values = kw_page_array(page, list->count, sizeof(double));
        for (size_t i = 0; i < list->count && groups[g].values; i++) {
            const kw_problem *problem = &page->report_data->problems[list->problem_groups[i]->problem].value;
            if ((int)problem->op == groups[g].op && (int)problem->dtype == groups[g].dtype) {
                groups[g].values[groups[g].count++] = kw_report_group_efficiency(list->problem_groups[i]);
            }
        }
        if (groups[g].count) {
            kw_text name = {0};
            kw_text_addf(&name, "%s %s", kw_op_name((kw_op)groups[g].op), kw_dtype_name((kw_dtype)groups[g].dtype));
            kw_draw_distribution(svg, groups[g].values, groups[g].count, (int)g + 1, kw_text_string(&name));
            kw_escape_drop(&name, &page->out);
        }
    }
}

/* The panels of one target split by operation and type become its lines. */
static size_t find_value_groups(const kw_report_data *report_data, uint32_t target, group_values groups[], char names[][40], size_t *more) {
    kw_panel panels[KW_PANELS_MAX];
    size_t count = 0, all = kw_panels(report_data, panels, true, true, more);
    for (size_t i = 0; i < all; i++) {
        if (panels[i].target == target && count == KW_SVG_SERIES - 1) {
            ++*more;
        } else if (panels[i].target == target) {
            kw_line line = {names[count], 40, 0};
            kw_line_addf(&line, "%s %s", kw_op_name((kw_op)panels[i].op), kw_dtype_name((kw_dtype)panels[i].dtype));
            groups[count++] = (group_values){.op = panels[i].op, .dtype = panels[i].dtype};
        }
    }
    return count;
}

static void add_problem_panel(kw_page *page, const kw_panel *panel) {
    const kw_report_data *report_data = page->report_data;
    problem_list list = {report_data, kw_page_array(page, panel->problem_groups, sizeof *list.problem_groups), 0, 0};
    double *values = kw_page_array(page, panel->problem_groups, sizeof *values);
    size_t roofless = 0;
    for (size_t i = 0; i < report_data->problem_group_count && list.problem_groups && values; i++) {
        const kw_report_group *problem_group = &report_data->problem_groups[i];
        if (!kw_panel_has(report_data, panel, problem_group)) {
            continue;
        }
        roofless += problem_group->roof_ns <= 0;
        if (problem_group->roof_ns > 0) {
            list.good += problem_group->oracle_ns > 0;
            list.problem_groups[list.count++] = problem_group;
        }
    }
    if (!list.count) {
        kw_page_empty(page, "No problem of this target has a roof: nothing was timed, and no roof was measured.");
        return;
    }
    qsort(list.problem_groups, list.count, sizeof *list.problem_groups, by_efficiency_value);
    for (size_t i = 0; i < list.count; i++) {
        values[i] = kw_report_group_efficiency(list.problem_groups[i]);
    }
    group_values groups[KW_SVG_SERIES] = {{0}};
    char names[KW_SVG_SERIES][40];
    size_t more, count = find_value_groups(report_data, panel->target, groups, names, &more);
    kw_svg_key keys[KW_SVG_SERIES] = {{"all", 0, KW_MARK_LINE}};
    for (size_t i = 0; i < count; i++) {
        keys[i + 1] = (kw_svg_key){names[i], (int)i + 1, KW_MARK_LINE};
    }
    kw_text caption = {0}, left_out = {0};
    kw_panel_print(&caption, report_data, panel);
    kw_svg svg;
    kw_page_chart(
        page, &svg, kw_text_string(&caption),
        &(kw_svg_spec){.label = "Distribution of efficiency",
                       .height = 300,
                       .keys = keys,
                       .key_count = (int)count + 1,
                       .x = {.title = "share of the roof", .high = fmax(1, fmin(values[list.count - 1], 2)), .unit = KW_UNIT_PERCENT},
                       .y = {.title = "share of the problems", .high = 1, .unit = KW_UNIT_PERCENT}});
    draw_groups(page, &svg, &list, groups, count > 1 ? count : 0);
    kw_draw_distribution(&svg, values, list.count, 0, "all");
    mark_quantiles(&svg, values, list.count);
    kw_page_chart_end(page, &svg);
    kw_text_addf(
        &page->out, "<p>P1 %.1f %%, P10 %.1f %%, P50 %.1f %%, mean %.1f %%. %zu of %zu problems have no good kernel and count as 0.</p>\n",
        100 * kw_stat_quantile(values, list.count, 0.01), 100 * kw_stat_quantile(values, list.count, 0.1),
        100 * kw_stat_quantile(values, list.count, 0.5), 100 * kw_stat_mean(values, list.count), list.count - list.good, list.count);
    kw_text_addf(&left_out, "%zu problems without a roof", roofless);
    kw_page_note(page, panel->target, list.count, "problems", roofless ? kw_text_string(&left_out) : NULL);
    kw_page_table(page, &(kw_table){"efficiency", problem_columns, list.count, problem_cell, &list});
    kw_escape_drop(&caption, &page->out);
    kw_escape_drop(&left_out, &page->out);
}

void kw_figure_efficiency(kw_page *page) {
    kw_panel panels[KW_PANELS_MAX];
    size_t more, count = kw_panels(page->report_data, panels, false, false, &more);
    kw_page_begin(
        page, "efficiency", "Efficiency of the best kernels",
        "The share of problems (up) whose best kernel reaches at most a share of the roof (across): the further right, the better. The "
        "best was chosen by one half of its samples and is scored by the other, so it is not flattered by its noise.");
    for (size_t i = 0; i < count; i++) {
        add_problem_panel(page, &panels[i]);
    }
    kw_panel_more(page, more);
    if (!count) {
        kw_page_empty(page, "The store has no rows with a problem that can be read.");
    }
    kw_page_end(page);
}
