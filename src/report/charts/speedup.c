/* speedup.c: the best kernels against the generic ones, and against the best of another store. */
#include "report/charts/figures.h"
#include "base/stats.h"

#include <math.h>

typedef struct duel_list {
    const kw_ledger *ledger;
    const kw_duel *duels;
    size_t count;
} duel_list;

static const char *const columns[] = {"problem", "speed-up", "verdict", "time ns", "best kernel", NULL};

static void cell(const void *user, size_t row, size_t column, kw_text *out) {
    const duel_list *list = user;
    const kw_duel *duel = &list->duels[row];
    switch (column) {
    case 0:
        kw_contest_print(out, list->ledger, duel->contest);
        break;
    case 1:
        kw_text_addf(out, "%.3f", duel->ratio);
        break;
    case 2:
        kw_text_add(out, duel->tie ? "tie" : duel->ratio > 1 ? "faster" : "slower");
        break;
    case 3:
        kw_text_addf(out, "%.0f", duel->contest->oracle_ns);
        break;
    default:
        kw_text_add(out, kw_contest_winner(list->ledger, duel->contest));
    }
}

/* A bar from 1 up or down for each problem; above a few hundred they merge into an area. */
static void draw(kw_page *page, const duel_list *list, const char *caption) {
    static const kw_svg_key keys[] = {{"faster", 2, KW_MARK_BAR}, {"tie within the noise", 7, KW_MARK_BAR}, {"slower", 1, KW_MARK_BAR}};
    double low = list->duels[0].ratio, high = list->duels[list->count - 1].ratio, count = (double)list->count;
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
        const kw_duel *duel = &list->duels[i];
        title.size = 0;
        kw_contest_print(&title, list->ledger, duel->contest);
        kw_text_addf(&title, ": %.2fx%s", duel->ratio, duel->tie ? ", a tie" : "");
        kw_svg_bar(&svg, (double[]){(double)i + gap, 1}, (double[]){fmin((double)(i + stride) - gap, count), duel->ratio},
                   duel->tie         ? 7
                   : duel->ratio > 1 ? 2
                                     : 1,
                   kw_text_string(&title));
    }
    kw_safe_drop(&title, &page->out);
    kw_svg_rule_y(&svg, 1, "");
    kw_page_chart_end(page, &svg);
}

static void add_duels(kw_page *page, const duel_list *list, const char *caption, const char *name, const char *against) {
    double *ratios = kw_page_array(page, list->count, sizeof *ratios);
    size_t faster = 0, slower = 0, ties = 0, target = list->duels[0].contest->target, problems = 0;
    double weight[2] = {0};
    for (size_t i = 0; i < list->count && ratios; i++) {
        const kw_duel *duel = &list->duels[i];
        ratios[i] = duel->ratio;
        ties += duel->tie;
        faster += !duel->tie && duel->ratio > 1;
        slower += !duel->tie && duel->ratio <= 1;
        weight[0] += duel->contest->oracle_ns * duel->ratio;
        weight[1] += duel->contest->oracle_ns;
    }
    if (!ratios) {
        return;
    }
    for (size_t i = 0; i < page->ledger->contest_count; i++) {
        problems += page->ledger->contests[i].target == target;
    }
    draw(page, list, caption);
    kw_interval interval = kw_stat_geomean_interval(ratios, list->count);
    kw_text_addf(&page->out,
                 "<p>Geometric mean <b>%.2fx</b> (95 %% interval %.2fx to %.2fx, bootstrap over problems); total time %.2fx; "
                 "%zu faster, %zu ties, %zu slower; least %.2fx, most %.2fx.</p>\n",
                 kw_stat_geomean(ratios, list->count), interval.low, interval.high, weight[0] / weight[1], faster, ties, slower, ratios[0],
                 ratios[list->count - 1]);
    kw_text left_out = {0};
    kw_text_addf(&left_out, "%zu problems that lack a good kernel or %s", problems - list->count, against);
    kw_page_facts(page, target, list->count, "problems", kw_text_string(&left_out));
    kw_page_table(page, &(kw_table){name, columns, list->count, cell, list});
    kw_safe_drop(&left_out, &page->out);
}

static size_t add_generic(kw_page *page, uint32_t target) {
    duel_list list = {.ledger = page->ledger};
    list.duels = kw_duels_generic(page->ledger, &page->scratch, target, &list.count);
    page->out.failed |= !list.duels;
    if (list.duels && list.count) {
        kw_text caption = {0};
        kw_text_addf(&caption, "Best against generic kernel on %s", page->ledger->targets[target].label);
        add_duels(page, &list, kw_text_string(&caption), "speedup-generic", "a time of the generic kernel");
        kw_safe_drop(&caption, &page->out);
    }
    return list.count;
}

static size_t add_baseline(kw_page *page, uint32_t target) {
    duel_list list = {.ledger = page->ledger};
    uint32_t targets[2] = {target, kw_duel_target(page->ledger, page->baseline, target)};
    if (targets[1] == UINT32_MAX) {
        return 0;
    }
    list.duels = kw_duels_baseline(page->ledger, page->baseline, &page->scratch, targets, &list.count);
    page->out.failed |= !list.duels;
    if (list.duels && list.count) {
        kw_text caption = {0};
        kw_text_addf(&caption, "Best of this store against best of the baseline (store %.12s, %s)", page->baseline->id,
                     page->baseline->targets[targets[1]].label);
        add_duels(page, &list, kw_text_string(&caption), "speedup-baseline", "a time in the baseline");
        kw_safe_drop(&caption, &page->out);
    }
    return list.count;
}

void kw_figure_speedup(kw_page *page) {
    size_t generic = 0, baseline = 0;
    kw_page_begin(
        page, "speedup", "Speed-ups",
        "Time of the kernel to beat over time of the best, one bar a problem, sorted. A tie is a difference inside the noise of the two "
        "times, at least 1 %. The mean is geometric, since speed-ups are ratios; total time weights problems by how long they take.");
    for (uint32_t t = 0; t < page->ledger->target_names.count && t < KW_PANELS_MAX; t++) {
        generic += add_generic(page, t);
    }
    if (!generic) {
        kw_page_nothing(page, "No problem has times of both a generic kernel and a good one.");
    }
    for (uint32_t t = 0; page->baseline && t < page->ledger->target_names.count && t < KW_PANELS_MAX; t++) {
        baseline += add_baseline(page, t);
    }
    if (page->baseline && !baseline) {
        kw_page_nothing(page, "The two stores have no problem in common that was timed the same way.");
    }
    kw_page_end(page);
}
