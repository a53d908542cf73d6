/* speedup.c: the best kernels against the reference ones, and against the best of another store. */
#include "report/charts/figures.h"
#include "base/statistics/stats.h"

#include <math.h>

typedef struct pairwise_list {
    const kw_report_data *report_data;
    const kw_pairwise *pairwise_ratios;
    size_t count;
} pairwise_list;

static const char *const columns[] = {"problem", "speed-up", "result", "time ns", "best kernel", NULL};

static void speedup_cell(const void *user, size_t row, size_t column, kw_text *out) {
    const pairwise_list *list = user;
    const kw_pairwise *pairwise = &list->pairwise_ratios[row];
    switch (column) {
    case 0:
        kw_report_group_print(out, list->report_data, pairwise->problem_group);
        break;
    case 1:
        kw_text_addf(out, "%.3f", pairwise->ratio);
        break;
    case 2:
        kw_text_add(out, pairwise->tie ? "tie" : pairwise->ratio > 1 ? "faster" : "slower");
        break;
    case 3:
        kw_text_addf(out, "%.0f", pairwise->problem_group->oracle_ns);
        break;
    default:
        kw_text_add(out, kw_report_group_winner(list->report_data, pairwise->problem_group));
    }
}

/* A bar from 1 up or down for each problem; above a few hundred they merge into an area. */
static void draw_speedups(kw_page *page, const pairwise_list *list, const char *caption) {
    static const kw_svg_key keys[] = {{"faster", 2, KW_MARK_BAR}, {"tie within the noise", 7, KW_MARK_BAR}, {"slower", 1, KW_MARK_BAR}};
    double low = list->pairwise_ratios[0].ratio, high = list->pairwise_ratios[list->count - 1].ratio, count = (double)list->count;
    kw_svg svg;
    kw_page_chart(
        page, &svg, caption,
        &(kw_svg_spec){
            .label = "Speed-up of each problem, sorted",
            .height = 240,
            .keys = keys,
            .key_count = 3,
            .x = {.title = "problems, sorted by speed-up", .high = count},
            .y = {.title = "speed-up", .low = fmin(low, 1) / 1.1, .high = fmax(high, 1) * 1.1, .log = true, .unit = KW_UNIT_RATIO}});
    double gap = count > 150 ? 0 : 0.12, wide = (svg.right - svg.left) / count;
    size_t stride = wide >= 1 ? 1 : (size_t)ceil(1 / wide); /* bars narrower than a pixel: one of so many is drawn, as wide as all */
    kw_text title = {0};
    for (size_t i = 0; i < list->count; i += stride) {
        const kw_pairwise *pairwise = &list->pairwise_ratios[i];
        title.size = 0;
        kw_report_group_print(&title, list->report_data, pairwise->problem_group);
        kw_text_addf(&title, ": %.2fx%s", pairwise->ratio, pairwise->tie ? ", a tie" : "");
        kw_svg_bar(&svg, (double[]){(double)i + gap, 1}, (double[]){fmin((double)(i + stride) - gap, count), pairwise->ratio},
                   pairwise->tie         ? 7
                   : pairwise->ratio > 1 ? 2
                                         : 1,
                   kw_text_string(&title));
    }
    kw_escape_drop(&title, &page->out);
    kw_svg_rule_y(&svg, 1, "");
    kw_page_chart_end(page, &svg);
}

static void add_pairwise_chart(kw_page *page, const pairwise_list *list, const char *caption, const char *name, const char *against) {
    double *ratios = kw_page_array(page, list->count, sizeof *ratios);
    size_t faster = 0, slower = 0, ties = 0, target = list->pairwise_ratios[0].problem_group->target, problems = 0;
    double weight[2] = {0};
    for (size_t i = 0; i < list->count && ratios; i++) {
        const kw_pairwise *pairwise = &list->pairwise_ratios[i];
        ratios[i] = pairwise->ratio;
        ties += pairwise->tie;
        faster += !pairwise->tie && pairwise->ratio > 1;
        slower += !pairwise->tie && pairwise->ratio <= 1;
        weight[0] += pairwise->problem_group->oracle_ns * pairwise->ratio;
        weight[1] += pairwise->problem_group->oracle_ns;
    }
    if (!ratios) {
        return;
    }
    for (size_t i = 0; i < page->report_data->problem_group_count; i++) {
        problems += page->report_data->problem_groups[i].target == target;
    }
    draw_speedups(page, list, caption);
    kw_interval interval = kw_stat_geomean_interval(ratios, list->count);
    kw_text_addf(&page->out,
                 "<p>Geometric mean <b>%.2fx</b> (95 %% interval %.2fx to %.2fx, bootstrap over problems); total time %.2fx; "
                 "%zu faster, %zu ties, %zu slower; least %.2fx, most %.2fx.</p>\n",
                 kw_stat_geomean(ratios, list->count), interval.low, interval.high, weight[0] / weight[1], faster, ties, slower, ratios[0],
                 ratios[list->count - 1]);
    kw_text left_out = {0};
    kw_text_addf(&left_out, "%zu problems that lack a good kernel or %s", problems - list->count, against);
    kw_page_note(page, target, list->count, "problems", kw_text_string(&left_out));
    kw_page_table(page, &(kw_table){name, columns, list->count, speedup_cell, list});
    kw_escape_drop(&left_out, &page->out);
}

static size_t add_reference(kw_page *page, uint32_t target) {
    pairwise_list list = {.report_data = page->report_data};
    list.pairwise_ratios = kw_pairwise_reference(page->report_data, &page->scratch, target, &list.count);
    page->out.failed |= !list.pairwise_ratios;
    if (list.pairwise_ratios && list.count) {
        kw_text caption = {0};
        kw_text_addf(&caption, "Best against reference kernel on %s", page->report_data->targets[target].label);
        add_pairwise_chart(page, &list, kw_text_string(&caption), "speedup-reference", "a time of the reference kernel");
        kw_escape_drop(&caption, &page->out);
    }
    return list.count;
}

static size_t add_baseline(kw_page *page, uint32_t target) {
    pairwise_list list = {.report_data = page->report_data};
    uint32_t targets[2] = {target, kw_pairwise_target(page->report_data, page->baseline, target)};
    if (targets[1] == UINT32_MAX) {
        return 0;
    }
    list.pairwise_ratios = kw_pairwise_baseline(page->report_data, page->baseline, &page->scratch, targets, &list.count);
    page->out.failed |= !list.pairwise_ratios;
    if (list.pairwise_ratios && list.count) {
        kw_text caption = {0};
        kw_text_addf(&caption, "Best of this store against best of the baseline (store %.12s, %s)", page->baseline->id,
                     page->baseline->targets[targets[1]].label);
        add_pairwise_chart(page, &list, kw_text_string(&caption), "speedup-baseline", "a time in the baseline");
        kw_escape_drop(&caption, &page->out);
    }
    return list.count;
}

void kw_figure_speedup(kw_page *page) {
    size_t reference = 0, baseline = 0;
    kw_page_begin(
        page, "speedup", "Speed-ups",
        "Time of the kernel to beat over time of the best, one bar a problem, sorted. A tie is a difference inside the noise of the two "
        "times, at least 1 %. The mean is geometric, since speed-ups are ratios; total time weights problems by how long they take.");
    for (uint32_t t = 0; t < page->report_data->target_names.count && t < KW_PANELS_MAX; t++) {
        reference += add_reference(page, t);
    }
    if (!reference) {
        kw_page_empty(page, "No problem has times of both a reference kernel and a good one.");
    }
    for (uint32_t t = 0; page->baseline && t < page->report_data->target_names.count && t < KW_PANELS_MAX; t++) {
        baseline += add_baseline(page, t);
    }
    if (page->baseline && !baseline) {
        kw_page_empty(page, "The two stores have no problem in common that was timed the same way.");
    }
    kw_page_end(page);
}
