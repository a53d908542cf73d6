/* drift.c: the control kernel over each run: what changes in it is the machine's doing. */
#include "report/charts/figures.h"
#include "base/statistics/stats.h"

#include <math.h>
#include <stdlib.h>

enum { CHARTS_MAX = 4 };
enum { OFF = 1, NEAR = 6 }; /* series */

const double kw_drift_limit = 0.05;

/* Rows that were timed together share a reading, so equal neighbours are one. */
static bool is_new_reading(const kw_report_row *moment, double before) {
    return moment->control_ns > 0 && moment->control_ns != before;
}

static void measure_run(const kw_report_data *report_data, kw_run_drift *run, double *readings, double *sorted) {
    size_t count = 0;
    double before = 0;
    for (size_t i = run->first; i < run->first + run->count; i++) {
        if (is_new_reading(&report_data->rows_in_order[i], before)) {
            before = readings[count] = sorted[count] = report_data->rows_in_order[i].control_ns;
            count++;
        }
    }
    run->rounds = count;
    if (!count) {
        return;
    }
    kw_stat_sort(sorted, count);
    run->median_ns = kw_stat_quantile(sorted, count, 0.5);
    run->low = kw_stat_quantile(sorted, count, 0.05) / run->median_ns;
    run->high = kw_stat_quantile(sorted, count, 0.95) / run->median_ns;
    for (size_t i = 0; i < count; i++) {
        run->off += fabs(readings[i] / run->median_ns - 1) > kw_drift_limit;
    }
    size_t tenth = (count + 9) / 10;
    kw_stat_sort(readings, tenth);
    double first = kw_stat_quantile(readings, tenth, 0.5);
    if (count >= 2 * tenth) {
        kw_stat_sort(readings + count - tenth, tenth);
        run->last = kw_stat_quantile(readings + count - tenth, tenth, 0.5) / first - 1;
    }
}

static int compare_rounds(const void *a, const void *b) {
    const kw_run_drift *x = a, *y = b;
    return x->rounds != y->rounds ? (x->rounds < y->rounds ? 1 : -1) : (x->run > y->run) - (x->run < y->run);
}

kw_run_drift *kw_drifts(const kw_report_data *report_data, kw_arena *arena, size_t *count) {
    kw_run_drift *runs = kw_arena_array(arena, report_data->run_names.count + 1, sizeof *runs);
    double *readings = kw_arena_array(arena, report_data->rows_in_order_count + 1, sizeof *readings);
    double *sorted = kw_arena_array(arena, report_data->rows_in_order_count + 1, sizeof *sorted);
    *count = 0;
    if (!runs || !readings || !sorted) {
        return NULL;
    }
    for (size_t i = 0; i < report_data->rows_in_order_count;) {
        kw_run_drift run = {.run = report_data->rows_in_order[i].run, .first = i};
        while (i < report_data->rows_in_order_count && report_data->rows_in_order[i].run == run.run) {
            i++;
        }
        run.count = i - run.first;
        measure_run(report_data, &run, readings, sorted);
        if (run.rounds) {
            runs[(*count)++] = run;
        }
    }
    qsort(runs, *count, sizeof *runs, compare_rounds);
    return runs;
}

/* --- the figure ----------------------------------------------------------------------------------------------- */

typedef struct drift_list {
    const kw_report_data *report_data;
    const kw_run_drift *runs;
    size_t count;
} drift_list;

static const char *const columns[] = {
    "run", "started", "host", "rows", "readings", "off by more than 5 %", "median ns", "P5", "P95", "last tenth against first", NULL};

static void drift_cell(const void *user, size_t row, size_t column, kw_text *out) {
    const drift_list *list = user;
    const kw_run_drift *run = &list->runs[row];
    const kw_run *facts = &list->report_data->runs[run->run];
    switch (column) {
    case 0:
        kw_text_add(out, facts->id);
        break;
    case 1:
        kw_text_add(out, facts->started);
        break;
    case 2:
        kw_text_add(out, facts->host);
        break;
    case 3:
    case 4:
    case 5:
        kw_text_addf(out, "%zu", column == 3 ? run->count : column == 4 ? run->rounds : run->off);
        break;
    case 6:
        kw_text_addf(out, "%.0f", run->median_ns);
        break;
    case 7:
    case 8:
        kw_text_addf(out, "%.4f", column == 7 ? run->low : run->high);
        break;
    default:
        kw_text_addf(out, "%+.2f %%", 100 * run->last);
    }
}

static void find_drift_range(const kw_report_data *report_data, const kw_run_drift *run, kw_svg_axis *x, kw_svg_axis *y) {
    x->low = HUGE_VAL;
    x->high = -HUGE_VAL;
    y->low = 0.92;
    y->high = 1.08;
    for (size_t i = run->first; i < run->first + run->count; i++) {
        double ratio = report_data->rows_in_order[i].control_ns / run->median_ns, at = (double)report_data->rows_in_order[i].sequence;
        x->low = ratio > 0 ? fmin(x->low, at) : x->low;
        x->high = ratio > 0 ? fmax(x->high, at) : x->high;
        y->low = ratio > 0 ? fmin(y->low, ratio * 0.99) : y->low;
        y->high = fmin(fmax(y->high, ratio * 1.01), 3);
    }
}

static void add_chart(kw_page *page, const kw_run_drift *run) {
    static const kw_svg_key keys[] = {{"within 5 % of the median", NEAR, KW_MARK_POINT}, {"further off", OFF, KW_MARK_POINT}};
    const kw_report_data *report_data = page->report_data;
    const kw_run *facts = &report_data->runs[run->run];
    kw_text caption = {0}, title = {0};
    kw_text_addf(&caption, "Run %.12s of %s on %s", facts->id, *facts->started ? facts->started : "an unknown day",
                 *facts->host ? facts->host : "an unknown host");
    kw_svg_spec spec = {.label = "Control kernel over the run",
                        .height = 200,
                        .keys = keys,
                        .key_count = 2,
                        .x = {.title = "row of the run", .unit = KW_UNIT_SI},
                        .y = {.title = "control over its median", .unit = KW_UNIT_PERCENT}};
    find_drift_range(report_data, run, &spec.x, &spec.y);
    kw_svg svg;
    kw_page_chart(page, &svg, kw_text_string(&caption), &spec);
    kw_svg_rule_y(&svg, 1 + kw_drift_limit, "");
    kw_svg_rule_y(&svg, 1 - kw_drift_limit, "");
    double before = 0;
    size_t titles = 0;
    for (size_t i = run->first; i < run->first + run->count; i++) {
        const kw_report_row *moment = &report_data->rows_in_order[i];
        if (!is_new_reading(moment, before)) {
            continue;
        }
        before = moment->control_ns;
        double ratio = moment->control_ns / run->median_ns;
        bool off = fabs(ratio - 1) > kw_drift_limit;
        title.size = 0;
        kw_text_addf(&title, "row %lld: %+.1f %%", (long long)moment->sequence, 100 * (ratio - 1));
        kw_svg_point(&svg, (double)moment->sequence, ratio, off ? OFF : NEAR, off && titles++ < 500 ? kw_text_string(&title) : NULL);
    }
    kw_page_chart_end(page, &svg);
    kw_escape_drop(&caption, &page->out);
    kw_escape_drop(&title, &page->out);
}

void kw_figure_drift(kw_page *page) {
    const kw_report_data *report_data = page->report_data;
    drift_list list = {.report_data = report_data};
    size_t readings = 0, without = 0;
    list.runs = kw_drifts(report_data, &page->scratch, &list.count);
    page->out.failed |= !list.runs;
    kw_page_begin(page, "drift", "Drift of the control kernel",
                  "The control is one kernel on one problem, timed beside all others. Were the machine always the same, all points would "
                  "lie at 100 %. "
                  "The lines are 5 % off; single rounds beyond such a limit were not counted for any kernel.");
    for (size_t i = 0; i < list.count; i++) {
        readings += list.runs[i].rounds;
        if (i < CHARTS_MAX) {
            add_chart(page, &list.runs[i]);
        }
    }
    for (size_t i = 0; i < report_data->rows_in_order_count; i++) {
        without += report_data->rows_in_order[i].control_ns <= 0;
    }
    if (!list.count) {
        kw_page_empty(page, report_data->rows_in_order_count ? "No row has a control kernel beside it." : "The store has no rows.");
    } else if (list.count > CHARTS_MAX) {
        kw_text_addf(&page->out, "<p class=\"nothing\">The %d longest of %zu runs; the table has all.</p>\n", CHARTS_MAX, list.count);
    }
    kw_text left_out = {0};
    kw_text_addf(&left_out, "%zu rows without a control, repeats of a reading in rows that were timed together", without);
    kw_page_note(page, KW_NOWHERE, readings, "readings of the control", kw_text_string(&left_out));
    kw_escape_drop(&left_out, &page->out);
    if (list.count) {
        kw_page_table(page, &(kw_table){"drift", columns, list.count, drift_cell, &list});
    }
    kw_page_end(page);
}
