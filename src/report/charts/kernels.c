/* kernels.c: every kernel against the oracle of its problem, by family. */
#include "report/charts/figures.h"
#include "base/statistics/stats.h"

#include <stdlib.h>

typedef struct family_line {
    uint32_t family;
    double *shares; /* ascending once sorted */
    size_t count, wins, near, failed;
} family_line;

typedef struct family_list {
    const kw_report_data *report_data;
    family_line *lines; /* the first is all families together */
    size_t count;
} family_list;

static const char *const columns[] = {"family", "pairs", "best of its problem", "within 5 % of the oracle", "failed", "P10", "P50",
                                      "mean",   NULL};

static void kernel_cell(const void *user, size_t row, size_t column, kw_text *out) {
    const family_list *list = user;
    const family_line *line = &list->lines[row];
    switch (column) {
    case 0:
        kw_text_add(out, row ? list->report_data->families.text[line->family] : "all");
        break;
    case 1:
        kw_text_addf(out, "%zu", line->count);
        break;
    case 2:
        kw_text_addf(out, "%zu", line->wins);
        break;
    case 3:
        kw_text_addf(out, "%zu", line->near);
        break;
    case 4:
        kw_text_addf(out, "%zu", line->failed);
        break;
    case 5:
    case 6:
        kw_text_addf(out, "%.3f", kw_stat_quantile(line->shares, line->count, column == 5 ? 0.1 : 0.5));
        break;
    default:
        kw_text_addf(out, "%.3f", kw_stat_mean(line->shares, line->count));
    }
}

static int compare_wins(const void *a, const void *b) {
    const family_line *x = a, *y = b;
    if (x->wins != y->wins) {
        return x->wins < y->wins ? 1 : -1;
    }
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : (x->family > y->family) - (x->family < y->family);
}

static void add_family_entry(family_line *line, const kw_report_group *problem_group, const kw_report_entry *entry, bool best) {
    double share = kw_report_entry_share(problem_group, entry);
    line->shares[line->count++] = share;
    line->wins += best;
    line->near += share >= 0.95;
    line->failed += kw_outcome_is_failure(entry->outcome);
}

/* Whether a problem group has an oracle to be held against; a kernel alone would always have 100 %. */
static bool is_group(const kw_report_group *problem_group) {
    return problem_group->oracle_ns > 0 && problem_group->good + problem_group->failed > 1;
}

static bool is_kernel_entry(const kw_report_entry *entry) {
    return entry->score_ns > 0 || kw_outcome_is_failure(entry->outcome);
}

/* lines[0]: all; lines[1 + f]: family f. */
static bool collect_families(kw_page *page, const kw_panel *panel, family_line *lines, size_t *alone) {
    const kw_report_data *report_data = page->report_data;
    size_t families = report_data->families.count;
    for (int pass = 0; pass < 2; pass++) { /* counts, then memory and values */
        for (size_t f = 0; f <= families && pass; f++) {
            lines[f] =
                (family_line){.family = f ? (uint32_t)f - 1 : UINT32_MAX, .shares = kw_page_array(page, lines[f].count, sizeof(double))};
            if (!lines[f].shares) {
                return false;
            }
        }
        for (size_t i = 0; i < report_data->problem_group_count; i++) {
            const kw_report_group *problem_group = &report_data->problem_groups[i];
            bool taken = kw_panel_has(report_data, panel, problem_group) && is_group(problem_group);
            *alone += !pass && !taken && kw_panel_has(report_data, panel, problem_group);
            for (size_t e = problem_group->first; taken && e < problem_group->first + problem_group->count; e++) {
                const kw_report_entry *entry = &report_data->entries[e];
                family_line *line = &lines[1 + report_data->configs[entry->config].family_number];
                if (is_kernel_entry(entry) && pass) {
                    add_family_entry(&lines[0], problem_group, entry, e == problem_group->best);
                    add_family_entry(line, problem_group, entry, e == problem_group->best);
                } else if (is_kernel_entry(entry)) {
                    lines[0].count++;
                    line->count++;
                }
            }
        }
    }
    return true;
}

static void add_kernel_panel(kw_page *page, const kw_panel *panel) {
    const kw_report_data *report_data = page->report_data;
    size_t families = report_data->families.count, alone = 0, kept = 1;
    family_line *lines = kw_page_array(page, families + 1, sizeof *lines);
    if (!lines || !collect_families(page, panel, lines, &alone)) {
        return;
    }
    for (size_t f = 0; f <= families; f++) {
        kw_stat_sort(lines[f].shares, lines[f].count);
    }
    if (!lines[0].count) {
        kw_page_empty(page, "No problem of this target has a good kernel and a second one to compare.");
        return;
    }
    qsort(lines + 1, families, sizeof *lines, compare_wins);
    while (kept <= families && lines[kept].count) {
        kept++;
    }
    kw_svg_key keys[KW_SVG_SERIES] = {{"all", 0, KW_MARK_LINE}};
    int drawn = (int)(kept < KW_SVG_SERIES ? kept : KW_SVG_SERIES);
    for (int i = 1; i < drawn; i++) {
        keys[i] = (kw_svg_key){report_data->families.text[lines[i].family], i, KW_MARK_LINE};
    }
    kw_text caption = {0}, left_out = {0};
    kw_panel_print(&caption, report_data, panel);
    kw_svg svg;
    kw_page_chart(page, &svg, kw_text_string(&caption),
                  &(kw_svg_spec){.label = "Distribution of the share of the oracle",
                                 .height = 300,
                                 .keys = keys,
                                 .key_count = drawn,
                                 .x = {.title = "oracle's time over the kernel's time", .high = 1.05, .unit = KW_UNIT_PERCENT},
                                 .y = {.title = "share of the kernels", .high = 1, .unit = KW_UNIT_PERCENT}});
    for (int i = drawn - 1; i >= 0; i--) {
        kw_draw_distribution(&svg, lines[i].shares, lines[i].count, i, keys[i].name);
    }
    kw_page_chart_end(page, &svg);
    kw_text_addf(&left_out, "%zu problems that have fewer than two kernels or no good one, kernels that do not serve", alone);
    kw_page_note(page, panel->target, lines[0].count, "pairs of kernel and problem", kw_text_string(&left_out));
    family_list list = {report_data, lines, kept};
    kw_page_table(page, &(kw_table){"kernels", columns, kept, kernel_cell, &list});
    kw_escape_drop(&caption, &page->out);
    kw_escape_drop(&left_out, &page->out);
}

void kw_figure_kernels(kw_page *page) {
    kw_panel panels[KW_PANELS_MAX];
    size_t more, count = kw_panels(page->report_data, panels, false, false, &more);
    kw_page_begin(
        page, "kernels", "Kernels against the oracle",
        "The share of kernels (up) that reach at most a share of the best time of their problem (across). A family whose curve hugs the "
        "right edge is nearly always a good choice; failed kernels count as 0. The oracle is chosen by one half of the samples "
        "and scored by the other, so a kernel can come out slightly above 100 %.");
    for (size_t i = 0; i < count; i++) {
        add_kernel_panel(page, &panels[i]);
    }
    kw_panel_more(page, more);
    if (!count) {
        kw_page_empty(page, "The store has no rows with a problem that can be read.");
    }
    kw_page_end(page);
}
