/* roofline.c: the rate of every answer over its problem's arithmetic intensity, below the roofs. */
#include "report/charts/figures.h"

#include <math.h>
#include <stdlib.h>

/* Series, which are colours and shapes. */
enum { BEST = 0, FAILED = 1, ROOF = 4, SLOW = 5, GOOD = 6 };

typedef struct roofline {
    const kw_report_data *report_data;
    const kw_report_group **problem_groups; /* ascending by efficiency */
    size_t count;
} roofline;

static int by_roofline_efficiency(const void *a, const void *b) {
    const kw_report_group *x = *(const kw_report_group *const *)a, *y = *(const kw_report_group *const *)b;
    double ex = kw_report_group_efficiency(x), ey = kw_report_group_efficiency(y);
    return ex != ey ? (ex > ey) - (ex < ey) : (x->first > y->first) - (x->first < y->first);
}

static const char *const columns[] = {"problem", "best kernel", "time ns", "spread ns", "GFLOP/s",      "FLOP/byte",
                                      "roof",    "of the roof", "timed",   "failed",    "do not serve", NULL};

static void roofline_cell(const void *user, size_t row, size_t column, kw_text *out) {
    const roofline *figure = user;
    const kw_report_group *problem_group = figure->problem_groups[row];
    const kw_report_problem *problem = &figure->report_data->problems[problem_group->problem];
    double flops = problem->flops;
    switch (column) {
    case 0:
        kw_report_group_print(out, figure->report_data, problem_group);
        break;
    case 1:
        kw_text_add(out, kw_report_group_winner(figure->report_data, problem_group));
        break;
    case 2:
        kw_text_addf(out, "%.0f", problem_group->oracle_ns);
        break;
    case 3:
        kw_text_addf(out, "%.0f", problem_group->best == KW_NOWHERE ? 0 : figure->report_data->entries[problem_group->best].spread_ns);
        break;
    case 4:
        kw_text_addf(out, "%.1f", problem_group->oracle_ns > 0 ? flops / problem_group->oracle_ns : 0);
        break;
    case 5:
        kw_text_addf(out, "%.2f", problem->bytes > 0 ? flops / problem->bytes : 0);
        break;
    case 6:
        kw_text_add(out, problem_group->roof_ns <= 0 ? "not known" : problem_group->by_memory ? "memory" : "arithmetic");
        break;
    case 7:
        kw_text_addf(out, "%.3f", kw_report_group_efficiency(problem_group));
        break;
    default:
        kw_text_addf(out, "%zu", column == 8 ? problem_group->good : column == 9 ? problem_group->failed : problem_group->unfit);
    }
}

/* The range of what is drawn, so that no point lies on the frame. */
static void find_roofline_range(const roofline *figure, kw_svg_axis *x, kw_svg_axis *y) {
    x->low = y->low = HUGE_VAL;
    x->high = y->high = 0;
    for (size_t i = 0; i < figure->count; i++) {
        const kw_report_group *problem_group = figure->problem_groups[i];
        const kw_report_problem *problem = &figure->report_data->problems[problem_group->problem];
        double intensity = problem->bytes > 0 ? problem->flops / problem->bytes : 0;
        for (size_t e = 0; e < problem_group->count && intensity > 0; e++) {
            const kw_report_entry *entry = &figure->report_data->entries[problem_group->first + e];
            double rate = entry->score_ns > 0 ? problem->flops / entry->score_ns * 1e9 : 0;
            x->low = fmin(x->low, intensity);
            x->high = fmax(x->high, intensity);
            y->low = rate > 0 ? fmin(y->low, rate) : y->low;
            y->high = fmax(y->high, rate);
        }
    }
    x->low /= 1.5;
    x->high *= 1.5;
    y->low /= 2;
    y->high *= 1.6;
}

static void draw_roofs(kw_svg *svg, const kw_report_target *target, kw_dtype dtype) {
    double peak = target->peak[dtype].rate, memory = target->memory.rate;
    if (peak <= 0) {
        return;
    }
    kw_svg_line_begin(svg, ROOF, true, "roof");
    if (memory > 0) {
        double corner = peak / memory, start = fmax(svg->x.low, svg->y.low / memory);
        if (start < corner) {
            kw_svg_line_to(svg, start, memory * start);
        }
        kw_svg_line_to(svg, fmax(corner, svg->x.low), peak);
    } else {
        kw_svg_line_to(svg, svg->x.low, peak);
    }
    kw_svg_line_to(svg, svg->x.high, peak);
    kw_svg_line_end(svg);
}

/* The best of each problem come last, so that they lie on top; only they have titles. */
static void draw_roofline_points(kw_svg *svg, const roofline *figure) {
    kw_text title = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < figure->count; i++) {
            const kw_report_group *problem_group = figure->problem_groups[i];
            const kw_report_problem *problem = &figure->report_data->problems[problem_group->problem];
            double intensity = problem->bytes > 0 ? problem->flops / problem->bytes : 0;
            for (size_t e = problem_group->first; e < problem_group->first + problem_group->count && !pass; e++) {
                const kw_report_entry *entry = &figure->report_data->entries[e];
                if (entry->score_ns > 0 && e != problem_group->best) {
                    kw_svg_point(svg, intensity, problem->flops / entry->score_ns * 1e9, entry->outcome == KW_SLOW ? SLOW : GOOD, NULL);
                } else if (kw_outcome_is_failure(entry->outcome)) {
                    kw_svg_point(svg, intensity, svg->y.low, FAILED, NULL);
                }
            }
            if (pass && problem_group->oracle_ns > 0) {
                title.size = 0;
                kw_report_group_print(&title, figure->report_data, problem_group);
                kw_text_addf(&title, ": %.0f %% of the roof, %s", 100 * kw_report_group_efficiency(problem_group),
                             kw_report_group_winner(figure->report_data, problem_group));
                kw_svg_point(svg, intensity, problem->flops / problem_group->oracle_ns * 1e9, BEST, kw_text_string(&title));
            }
        }
    }
    kw_escape_drop(&title, svg->out);
}

static void add_roofline_panel(kw_page *page, const kw_panel *panel) {
    static const kw_svg_key keys[] = {{"best kernel of a problem", BEST, KW_MARK_POINT},
                                      {"other kernels", GOOD, KW_MARK_POINT},
                                      {"dropped as slow", SLOW, KW_MARK_POINT},
                                      {"failed, drawn at the bottom", FAILED, KW_MARK_POINT},
                                      {"roofs", ROOF, KW_MARK_LINE}};
    const kw_report_data *report_data = page->report_data;
    const kw_report_target *target = &report_data->targets[panel->target];
    roofline figure = {report_data, kw_page_array(page, panel->problem_groups, sizeof *figure.problem_groups), 0};
    size_t answers = 0, unfit = 0, above = 0;
    for (size_t i = 0; i < report_data->problem_group_count && figure.problem_groups; i++) {
        if (kw_panel_has(report_data, panel, &report_data->problem_groups[i])) {
            const kw_report_group *problem_group = figure.problem_groups[figure.count++] = &report_data->problem_groups[i];
            answers += problem_group->count;
            unfit += problem_group->unfit;
            above += kw_report_group_efficiency(problem_group) > 1.02;
        }
    }
    if (!figure.problem_groups) {
        return;
    }
    qsort(figure.problem_groups, figure.count, sizeof *figure.problem_groups, by_roofline_efficiency);
    kw_text caption = {0}, left_out = {0};
    kw_panel_print(&caption, report_data, panel);
    kw_svg_spec spec = {.label = "Roofline: FLOP/s over FLOP/byte",
                        .height = 380,
                        .keys = keys,
                        .key_count = 5,
                        .x = {.title = "FLOP per byte of the three tensors", .log = true},
                        .y = {.title = "FLOP/s", .log = true, .unit = KW_UNIT_SI}};
    find_roofline_range(&figure, &spec.x, &spec.y);
    spec.y.high = fmax(spec.y.high, 1.3 * target->peak[panel->dtype].rate);
    kw_svg svg;
    kw_page_chart(page, &svg, kw_text_string(&caption), &spec);
    draw_roofs(&svg, target, (kw_dtype)panel->dtype);
    draw_roofline_points(&svg, &figure);
    kw_page_chart_end(page, &svg);
    char peak[24], memory[24];
    kw_unit_print(peak, target->peak[panel->dtype].rate, KW_UNIT_SI);
    kw_unit_print(memory, target->memory.rate, KW_UNIT_SI);
    kw_text_addf(&page->out, "<p>Arithmetic roof %sFLOP/s (%s); memory roof %sB/s (%s%s).", peak,
                 kw_roof_words(target->peak[panel->dtype].kind), memory, kw_roof_words(target->memory.kind),
                 target->memory.kind == KW_ROOF_SEEN ? "; drawn, but not part of any efficiency" : "");
    if (above) {
        kw_text_addf(&page->out, " %zu problem%s more than 2 %% above the roof: the roof was measured too low, or at a lower clock.", above,
                     above == 1 ? " is" : "s are");
    }
    kw_text_add(&page->out, "</p>\n");
    kw_text_addf(&left_out, "%zu answers of kernels that do not serve the problem", unfit);
    kw_page_note(page, panel->target, answers - unfit, "answers", unfit ? kw_text_string(&left_out) : NULL);
    kw_page_table(page, &(kw_table){"roofline", columns, figure.count, roofline_cell, &figure});
    kw_escape_drop(&caption, &page->out);
    kw_escape_drop(&left_out, &page->out);
}

void kw_figure_roofline(kw_page *page) {
    kw_panel panels[KW_PANELS_MAX];
    size_t more, count = kw_panels(page->report_data, panels, false, true, &more);
    kw_page_begin(page, "roofline", "Roofline",
                  "Each point is a kernel on a problem. The roofs say what the device can do at most: arithmetic (level) and moving the "
                  "three tensors once (slope). A problem that fits into the last-level cache and is timed hot is not bound by the slope.");
    for (size_t i = 0; i < count; i++) {
        add_roofline_panel(page, &panels[i]);
    }
    kw_panel_more(page, more);
    if (!count) {
        kw_page_empty(page, "The store has no rows with a problem that can be read.");
    }
    kw_page_end(page);
}
