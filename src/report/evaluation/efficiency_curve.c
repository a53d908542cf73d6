/* efficiency_curve.c: what selections give of what the best kernels would have given: their distribution, the best of short lists, and
 * which families of problems lose. */
#include "report/evaluation/evaluation_page.h"

#include "base/statistics/stats.h"

#include <math.h>
#include <stdlib.h>

enum { FAMILIES_SHOWN = 24 };

static size_t set_keys(const kw_evaluation_page *view, kw_svg_key keys[KW_EVALUATION_SELECTORS_MAX]) {
    for (size_t p = 0; p < view->selector_count; p++) {
        keys[p] = (kw_svg_key){view->selectors[p].evaluation->by, (int)p, KW_MARK_LINE};
    }
    return view->selector_count;
}

static void print_left_out_groups(kw_text *text, const kw_evaluation_page *view) {
    if (view->alone) {
        kw_text_addf(text, "%zu problem groups that not all of them evaluate", view->alone);
    }
}

/* --- the distribution ------------------------------------------------------------------------------------------------- */

typedef struct curve {
    const char *by;
    double *values; /* ascending */
    size_t count, tied, failed;
} curve;

static const char *const curve_columns[] = {"selections by",         "mean",   "P1", "P10", "median", "worst",
                                            "tied with the fastest", "failed", NULL};

static void curve_cell(const void *user, size_t row, size_t column, kw_text *out) {
    const curve *c = (const curve *)user + row;
    switch (column) {
    case 0:
        kw_text_add(out, c->by);
        break;
    case 1:
        kw_text_addf(out, "%.4f", kw_stat_mean(c->values, c->count));
        break;
    case 6:
        kw_text_addf(out, "%.4f", (double)c->tied / (double)c->count);
        break;
    case 7:
        kw_text_addf(out, "%zu", c->failed);
        break;
    default:
        kw_text_addf(out, "%.4f", kw_stat_quantile(c->values, c->count, (const double[]){0.01, 0.1, 0.5, 0}[column - 2]));
    }
}

void kw_evaluation_chart_selections(kw_evaluation_page *view) {
    curve *curves = kw_page_array(&view->page, view->selector_count, sizeof *curves);
    kw_svg_key keys[KW_EVALUATION_SELECTORS_MAX];
    size_t count = set_keys(view, keys);
    kw_page_begin(
        &view->page, "selections", "Efficiency of the selections",
        "The share of problem groups (up) in which the selection gives at most a share of the best kernel's speed (across); what lies "
        "further left is "
        "counted in where a curve begins. The lower the curve, the better; a tie counts as 100 %, a selection that failed as 0.");
    for (size_t p = 0; curves && p < count; p++) {
        curves[p] = (curve){.by = keys[p].name, .values = kw_page_array(&view->page, view->count, sizeof(double)), .count = view->count};
        for (size_t i = 0; curves[p].values && i < view->count; i++) {
            const kw_group_evaluation *j = view->selectors[p].group_evaluations[i];
            curves[p].values[i] = j->efficiency;
            curves[p].tied += j->tied;
            curves[p].failed += j->failed;
        }
        if (curves[p].values) {
            kw_stat_sort(curves[p].values, curves[p].count);
        }
    }
    if (!view->page.out.failed) {
        kw_svg svg;
        double low = fmin(0.8, floor(10 * kw_stat_quantile(curves[0].values, view->count, 0.01)) / 10);
        kw_page_chart(&view->page, &svg, "All problem groups",
                      &(kw_svg_spec){.label = "Distribution of the efficiency of selections",
                                     .height = 320,
                                     .keys = keys,
                                     .key_count = (int)count,
                                     .x = {.title = "best time over the selection's time", .low = low, .high = 1, .unit = KW_UNIT_PERCENT},
                                     .y = {.title = "share of the problem groups", .high = 1, .unit = KW_UNIT_PERCENT}});
        for (size_t p = count; p-- > 0;) {
            kw_draw_distribution(&svg, curves[p].values, curves[p].count, (int)p, keys[p].name);
        }
        kw_page_chart_end(&view->page, &svg);
        kw_text alone = {0};
        print_left_out_groups(&alone, view);
        kw_evaluation_page_note(view, view->count, "problem_groups", alone.size ? kw_text_string(&alone) : NULL);
        kw_page_table(&view->page, &(kw_table){"selections", curve_columns, count, curve_cell, curves});
        kw_escape_drop(&alone, &view->page.out);
    }
    kw_page_end(&view->page);
}

/* --- the best of a list ----------------------------------------------------------------------------------------------- */

static const char *const list_columns[] = {"length of the list", "selections by", "mean efficiency of its best", "P10", NULL};

typedef struct lists {
    const kw_svg_key *keys;
    double *mean, *p10; /* KW_SHORTLIST_MAX for each the selector */
} lists;

static void list_cell(const void *user, size_t row, size_t column, kw_text *out) {
    const lists *l = user;
    if (column == 1) {
        kw_text_add(out, l->keys[row / KW_SHORTLIST_MAX].name);
    } else if (column == 0) {
        kw_text_addf(out, "%zu", row % KW_SHORTLIST_MAX + 1);
    } else {
        kw_text_addf(out, "%.4f", column == 2 ? l->mean[row] : l->p10[row]);
    }
}

static void take_lists(const kw_evaluation_page *view, lists *l, double *values) {
    for (size_t row = 0; row < view->selector_count * KW_SHORTLIST_MAX; row++) {
        for (size_t i = 0; i < view->count; i++) {
            values[i] = view->selectors[row / KW_SHORTLIST_MAX].group_evaluations[i]->best_of[row % KW_SHORTLIST_MAX];
        }
        kw_stat_sort(values, view->count);
        l->mean[row] = kw_stat_mean(values, view->count);
        l->p10[row] = kw_stat_quantile(values, view->count, 0.1);
    }
}

void kw_evaluation_chart_lists(kw_evaluation_page *view) {
    kw_svg_key keys[KW_EVALUATION_SELECTORS_MAX];
    size_t count = set_keys(view, keys);
    lists l = {keys, kw_page_array(&view->page, count * KW_SHORTLIST_MAX, sizeof *l.mean),
               kw_page_array(&view->page, count * KW_SHORTLIST_MAX, sizeof *l.p10)};
    double *values = kw_page_array(&view->page, view->count, sizeof *values);
    kw_page_begin(
        &view->page, "lists", "Best of a list",
        "Mean efficiency of the best kernel of a shortlist (up) by its length (across): what it gives to measure a few kernels before "
        "choosing; what is lower begins later. Lists are drawn as dispatch draws them; the best is chosen by one half of the samples and "
        "timed by the other.");
    if (!view->page.out.failed) {
        take_lists(view, &l, values);
        double low = floor(20 * fmin(l.mean[0], 0.9)) / 20;
        kw_svg svg;
        kw_page_chart(&view->page, &svg, "All problem groups",
                      &(kw_svg_spec){.label = "Mean efficiency of the best of a list by its length",
                                     .height = 280,
                                     .keys = keys,
                                     .key_count = (int)count,
                                     .x = {.title = "length of the list", .low = 1, .high = KW_SHORTLIST_MAX},
                                     .y = {.title = "mean efficiency", .low = low, .high = 1, .unit = KW_UNIT_PERCENT}});
        for (size_t p = count; p-- > 0;) {
            kw_svg_line_begin(&svg, (int)p, p == 0, keys[p].name);
            for (size_t i = 0; i < KW_SHORTLIST_MAX; i++) {
                if (l.mean[p * KW_SHORTLIST_MAX + i] >= low) {
                    kw_svg_line_to(&svg, (double)i + 1, l.mean[p * KW_SHORTLIST_MAX + i]);
                }
            }
            kw_svg_line_end(&svg);
        }
        kw_page_chart_end(&view->page, &svg);
        kw_text alone = {0};
        print_left_out_groups(&alone, view);
        kw_evaluation_page_note(view, view->count, "problem_groups", alone.size ? kw_text_string(&alone) : NULL);
        kw_page_table(&view->page, &(kw_table){"lists", list_columns, count * KW_SHORTLIST_MAX, list_cell, &l});
        kw_escape_drop(&alone, &view->page.out);
    }
    kw_page_end(&view->page);
}

/* --- families --------------------------------------------------------------------------------------------------------- */

static const char *const family_columns[] = {
    "family of problems", "problem_groups", "regret", "from", "to", "mean efficiency", "P10", "worst", NULL};

typedef struct family_list {
    const kw_slice **slices; /* worst first */
    size_t count;
} family_list;

static void family_cell(const void *user, size_t row, size_t column, kw_text *out) {
    const kw_slice *slice = ((const family_list *)user)->slices[row];
    const kw_evaluation_metrics *f = &slice->metrics;
    const double values[] = {f->regret.value, f->regret.low, f->regret.high, f->mean.value, f->p10.value, f->worst.value};
    if (column == 0) {
        kw_text_add(out, slice->key);
    } else if (column == 1) {
        kw_text_addf(out, "%lld", (long long)f->problem_groups);
    } else {
        kw_text_addf(out, "%.4f", values[column - 2]);
    }
}

static int by_regret(const void *left, const void *right) {
    const kw_slice *a = *(const kw_slice *const *)left, *b = *(const kw_slice *const *)right;
    double x = a->metrics.regret.value, y = b->metrics.regret.value;
    return x != y ? (x < y) - (x > y) : (a > b) - (a < b);
}

static void draw_families(kw_evaluation_page *view, const family_list *list) {
    size_t bars = list->count < FAMILIES_SHOWN ? list->count : FAMILIES_SHOWN;
    double most = fmax(list->slices[0]->metrics.regret.value, 0.01);
    kw_svg svg;
    kw_page_chart(
        &view->page, &svg, "Families that lose most time",
        &(kw_svg_spec){
            .label = "Regret by family of problems",
            .height = 32 * (double)bars,
            .left = 14,
            .x = {.title = "time of the selections over that of the best kernels, less 1", .high = 1.05 * most, .unit = KW_UNIT_PERCENT},
            .y = {.title = "", .low = -(double)bars, .hidden = true}});
    for (size_t i = 0; i < bars; i++) {
        const kw_slice *slice = list->slices[i];
        double y = -(double)i, at[2], regret = fmax(0, slice->metrics.regret.value);
        kw_text title = {0};
        kw_text_addf(&title, "%s: %.1f %%, %lld problem group%s, mean efficiency %.1f %%", slice->key, 100 * slice->metrics.regret.value,
                     (long long)slice->metrics.problem_groups, slice->metrics.problem_groups == 1 ? "" : "s",
                     100 * slice->metrics.mean.value);
        kw_svg_bar(&svg, (double[]){0, y - 0.62}, (double[]){regret, y - 0.92}, 0, kw_text_string(&title));
        kw_svg_map(&svg, 0, y - 0.48, at);
        kw_svg_text(&svg, (double[]){at[0] + 6, at[1]}, "word", "start", kw_text_string(&title));
        kw_escape_drop(&title, &view->page.out);
    }
    kw_page_chart_end(&view->page, &svg);
}

void kw_evaluation_chart_families(kw_evaluation_page *view) {
    const kw_evaluation *e = view->selectors[0].evaluation;
    family_list list = {kw_page_array(&view->page, e->slice_count, sizeof *list.slices), 0};
    kw_page_begin(
        &view->page, "families", "Regret by problem family",
        "Time of the selections over that of the best kernels, less 1, by family: operation, axes, filter, stride, dilation, kind of "
        "groups, extent "
        "and channels in classes. Worst first: where to measure next. A family of one problem group says little.");
    for (size_t i = 0; list.slices && i < e->slice_count; i++) {
        if (e->slices[i].slicing == KW_SLICE_FAMILY) {
            list.slices[list.count++] = &e->slices[i];
        }
    }
    if (list.slices && list.count) {
        qsort(list.slices, list.count, sizeof *list.slices, by_regret);
        draw_families(view, &list);
        kw_evaluation_page_note(view, e->count, "problem_groups", NULL);
        kw_page_table(&view->page, &(kw_table){"families", family_columns, list.count, family_cell, &list});
    }
    kw_page_end(&view->page);
}
