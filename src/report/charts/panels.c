/* panels.c: groups of contests, and the words that several figures use. */
#include "report/charts/figures.h"
#include "base/stats.h"

#include <string.h>

bool kw_panel_has(const kw_ledger *ledger, const kw_panel *panel, const kw_contest *contest) {
    const kw_ledger_problem *problem = &ledger->problems[contest->problem];
    return problem->known && contest->target == panel->target && (panel->op == KW_OP_COUNT || panel->op == (int)problem->value.op) &&
           (panel->dtype == KW_DTYPE_COUNT || panel->dtype == (int)problem->value.dtype);
}

/* Puts a panel into its place among the largest; false when it is none of them. */
static bool place(kw_panel panels[KW_PANELS_MAX], size_t *count, const kw_panel *panel) {
    size_t at = *count;
    while (at > 0 && panels[at - 1].contests < panel->contests) {
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

size_t kw_panels(const kw_ledger *ledger, kw_panel panels[KW_PANELS_MAX], bool by_op, bool by_dtype, size_t *more) {
    size_t count = 0;
    *more = 0;
    for (uint32_t target = 0; target < ledger->target_names.count; target++) {
        size_t contests[KW_OP_COUNT + 1][KW_DTYPE_COUNT + 1] = {0};
        for (size_t i = 0; i < ledger->contest_count; i++) {
            const kw_contest *contest = &ledger->contests[i];
            const kw_problem *problem = &ledger->problems[contest->problem].value;
            if (contest->target == target && ledger->problems[contest->problem].known) {
                contests[by_op ? (int)problem->op : KW_OP_COUNT][by_dtype ? (int)problem->dtype : KW_DTYPE_COUNT]++;
            }
        }
        for (int op = 0; op <= KW_OP_COUNT; op++) {
            for (int dtype = 0; dtype <= KW_DTYPE_COUNT; dtype++) {
                kw_panel panel = {target, op, dtype, contests[op][dtype]};
                *more += panel.contests && !place(panels, &count, &panel);
            }
        }
    }
    return count;
}

void kw_panel_print(kw_text *out, const kw_ledger *ledger, const kw_panel *panel) {
    if (panel->op != KW_OP_COUNT) {
        kw_text_addf(out, "%s ", kw_op_name((kw_op)panel->op));
    }
    if (panel->dtype != KW_DTYPE_COUNT) {
        kw_text_addf(out, "%s ", kw_dtype_name((kw_dtype)panel->dtype));
    }
    bool all = panel->op == KW_OP_COUNT && panel->dtype == KW_DTYPE_COUNT;
    kw_text_addf(out, "%s%s", all ? "" : "on ", ledger->targets[panel->target].label);
}

void kw_panel_more(kw_page *page, size_t more) {
    if (more) {
        kw_text_addf(&page->out,
                     "<p class=\"nothing\">%zu further group%s with fewer problems have no chart here; a store filtered by "
                     "target, operation or type shows them.</p>\n",
                     more, more == 1 ? "" : "s");
    }
}

void kw_contest_print(kw_text *out, const kw_ledger *ledger, const kw_contest *contest) {
    kw_text_addf(out, "%s%s", ledger->problems[contest->problem].text, kw_contest_mode(contest));
}

const char *kw_contest_winner(const kw_ledger *ledger, const kw_contest *contest) {
    return contest->best == KW_NOWHERE ? "" : ledger->configs[ledger->entries[contest->best].config].text;
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
