/* panels.c: groups of problem groups, and the words that several figures use. */
#include "report/charts/figures.h"
#include "base/statistics/stats.h"

#include <string.h>

bool kw_panel_has(const kw_report_data *report_data, const kw_panel *panel, const kw_report_group *problem_group) {
    const kw_report_problem *problem = &report_data->problems[problem_group->problem];
    return problem->known && problem_group->target == panel->target && (panel->op == KW_OP_COUNT || panel->op == (int)problem->value.op) &&
           (panel->dtype == KW_DTYPE_COUNT || panel->dtype == (int)problem->value.dtype);
}

/* Puts a panel into its place among the largest; false when it is none of them. */
static bool insert_panel(kw_panel panels[KW_PANELS_MAX], size_t *count, const kw_panel *panel) {
    size_t at = *count;
    while (at > 0 && panels[at - 1].problem_groups < panel->problem_groups) {
        at--;
    }
    bool room = *count < KW_PANELS_MAX;
    if (at == KW_PANELS_MAX) {
        return false;
    }
    memmove(&panels[at + 1], &panels[at], (*count - at - !room) * sizeof *panels);
    panels[at] = *panel;
    *count += room;
    return room;
}

size_t kw_panels(const kw_report_data *report_data, kw_panel panels[KW_PANELS_MAX], bool by_op, bool by_dtype, size_t *more) {
    size_t count = 0;
    *more = 0;
    for (uint32_t target = 0; target < report_data->target_names.count; target++) {
        size_t problem_groups[KW_OP_COUNT + 1][KW_DTYPE_COUNT + 1] = {0};
        for (size_t i = 0; i < report_data->problem_group_count; i++) {
            const kw_report_group *problem_group = &report_data->problem_groups[i];
            const kw_problem *problem = &report_data->problems[problem_group->problem].value;
            if (problem_group->target == target && report_data->problems[problem_group->problem].known) {
                problem_groups[by_op ? (int)problem->op : KW_OP_COUNT][by_dtype ? (int)problem->dtype : KW_DTYPE_COUNT]++;
            }
        }
        for (int op = 0; op <= KW_OP_COUNT; op++) {
            for (int dtype = 0; dtype <= KW_DTYPE_COUNT; dtype++) {
                kw_panel panel = {target, op, dtype, problem_groups[op][dtype]};
                *more += panel.problem_groups && !insert_panel(panels, &count, &panel);
            }
        }
    }
    return count;
}

void kw_panel_print(kw_text *out, const kw_report_data *report_data, const kw_panel *panel) {
    if (panel->op != KW_OP_COUNT) {
        kw_text_addf(out, "%s ", kw_op_name((kw_op)panel->op));
    }
    if (panel->dtype != KW_DTYPE_COUNT) {
        kw_text_addf(out, "%s ", kw_dtype_name((kw_dtype)panel->dtype));
    }
    bool all = panel->op == KW_OP_COUNT && panel->dtype == KW_DTYPE_COUNT;
    kw_text_addf(out, "%s%s", all ? "" : "on ", report_data->targets[panel->target].label);
}

void kw_panel_more(kw_page *page, size_t more) {
    if (more) {
        kw_text_addf(&page->out,
                     "<p class=\"nothing\">%zu further group%s with fewer problems have no chart here; a store filtered by "
                     "target, operation or type shows them.</p>\n",
                     more, more == 1 ? "" : "s");
    }
}

void kw_report_group_print(kw_text *out, const kw_report_data *report_data, const kw_report_group *problem_group) {
    kw_text_addf(out, "%s%s", report_data->problems[problem_group->problem].text, kw_report_group_mode(problem_group));
}

const char *kw_report_group_winner(const kw_report_data *report_data, const kw_report_group *problem_group) {
    return problem_group->best == KW_NOWHERE ? "" : report_data->configs[report_data->entries[problem_group->best].config].text;
}

const char *kw_roof_words(kw_roof_kind kind) {
    return kind == KW_ROOF_MEASURED ? "measured" : kind == KW_ROOF_SEEN ? "best seen in this store, not measured" : "not known";
}

void kw_draw_distribution(kw_svg *svg, const double *sorted, size_t count, int series, const char *name) {
    kw_svg_line_begin(svg, series, series == 0, name);
    kw_svg_line_to(svg, svg->x.low, (double)kw_stat_at_most(sorted, count, svg->x.low) / (double)count);
    for (size_t i = 0; i < count; i++) {
        if (sorted[i] > svg->x.low && sorted[i] <= svg->x.high) {
            kw_svg_line_to(svg, sorted[i], (double)i / (double)count);
            kw_svg_line_to(svg, sorted[i], (double)(i + 1) / (double)count);
        }
    }
    kw_svg_line_to(svg, svg->x.high, (double)kw_stat_at_most(sorted, count, svg->x.high) / (double)count);
    kw_svg_line_end(svg);
}
