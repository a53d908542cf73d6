/* kernels.c: every kernel against the oracle of its problem, by family. */
#include "report/charts/figures.h"
#include "base/stats.h"

#include <stdlib.h>

typedef struct family_line {
    uint32_t family;
    double *shares; /* ascending once sorted */
    size_t count, wins, near, failed;
} family_line;

typedef struct family_list {
    const kw_ledger *ledger;
    family_line *lines; /* the first is all families together */
    size_t count;
} family_list;

static const char *const columns[] = {"family", "pairs", "best of its problem", "within 5 % of the oracle", "failed", "P10", "P50",
                                      "mean",   NULL};

static void cell(const void *user, size_t row, size_t column, kw_text *out) {
    const family_list *list = user;
    const family_line *line = &list->lines[row];
    switch (column) {
    case 0:
        kw_text_add(out, row ? list->ledger->families.text[line->family] : "all");
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

static void take(family_line *line, const kw_contest *contest, const kw_entry *entry, bool best) {
    double share = kw_entry_share(contest, entry);
    line->shares[line->count++] = share;
    line->wins += best;
    line->near += share >= 0.95;
    line->failed += kw_outcome_is_failure(entry->outcome);
}

/* Whether a contest has an oracle to be held against; a kernel alone would always have 100 %. */
static bool is_contest(const kw_contest *contest) {
    return contest->oracle_ns > 0 && contest->good + contest->failed > 1;
}

static bool counts(const kw_entry *entry) {
    return entry->score_ns > 0 || kw_outcome_is_failure(entry->outcome);
}

/* lines[0]: all; lines[1 + f]: family f. */
static bool collect(kw_page *page, const kw_panel *panel, family_line *lines, size_t *alone) {
    const kw_ledger *ledger = page->ledger;
    size_t families = ledger->families.count;
    for (int pass = 0; pass < 2; pass++) { /* counts, then memory and values */
        for (size_t f = 0; f <= families && pass; f++) {
            lines[f] =
                (family_line){.family = f ? (uint32_t)f - 1 : UINT32_MAX, .shares = kw_page_array(page, lines[f].count, sizeof(double))};
            if (!lines[f].shares) {
                return false;
            }
        }
        for (size_t i = 0; i < ledger->contest_count; i++) {
            const kw_contest *contest = &ledger->contests[i];
            bool taken = kw_panel_has(ledger, panel, contest) && is_contest(contest);
            *alone += !pass && !taken && kw_panel_has(ledger, panel, contest);
            for (size_t e = contest->first; taken && e < contest->first + contest->count; e++) {
                const kw_entry *entry = &ledger->entries[e];
                family_line *line = &lines[1 + ledger->configs[entry->config].family_number];
                if (counts(entry) && pass) {
                    take(&lines[0], contest, entry, e == contest->best);
                    take(line, contest, entry, e == contest->best);
                } else if (counts(entry)) {
                    lines[0].count++;
                    line->count++;
                }
            }
        }
    }
    return true;
}

static void add_panel(kw_page *page, const kw_panel *panel) {
    const kw_ledger *ledger = page->ledger;
    size_t families = ledger->families.count, alone = 0, kept = 1;
    family_line *lines = kw_page_array(page, families + 1, sizeof *lines);
    if (!lines || !collect(page, panel, lines, &alone)) {
        return;
    }
    for (size_t f = 0; f <= families; f++) {
        kw_stat_sort(lines[f].shares, lines[f].count);
    }
    if (!lines[0].count) {
        kw_page_nothing(page, "No problem of this target has a good kernel and a second one to compare.");
        return;
    }
    qsort(lines + 1, families, sizeof *lines, compare_wins);
    while (kept <= families && lines[kept].count) {
        kept++;
    }
    kw_svg_key keys[KW_SVG_SERIES] = {{"all", 0, KW_MARK_LINE}};
    int drawn = (int)(kept < KW_SVG_SERIES ? kept : KW_SVG_SERIES);
    for (int i = 1; i < drawn; i++) {
        keys[i] = (kw_svg_key){ledger->families.text[lines[i].family], i, KW_MARK_LINE};
    }
    kw_text caption = {0}, left_out = {0};
    kw_panel_print(&caption, ledger, panel);
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
    kw_page_facts(page, panel->target, lines[0].count, "pairs of kernel and problem", kw_text_string(&left_out));
    family_list list = {ledger, lines, kept};
    kw_page_table(page, &(kw_table){"kernels", columns, kept, cell, &list});
    kw_safe_drop(&caption, &page->out);
    kw_safe_drop(&left_out, &page->out);
}

void kw_figure_kernels(kw_page *page) {
    kw_panel panels[KW_PANELS_MAX];
    size_t more, count = kw_panels(page->ledger, panels, false, false, &more);
    kw_page_begin(
        page, "kernels", "Kernels against the oracle",
        "The share of kernels (up) that reach at most a share of the best time of their problem (across). A family whose curve hugs the "
        "right edge is nearly always a good choice; failed kernels count as 0. The oracle is chosen by one half of the samples "
        "and scored by the other, so a kernel can come out slightly above 100 %.");
    for (size_t i = 0; i < count; i++) {
        add_panel(page, &panels[i]);
    }
    kw_panel_more(page, more);
    if (!count) {
        kw_page_nothing(page, "The store has no rows with a problem that can be read.");
    }
    kw_page_end(page);
}
