/* evaluate_print.c: an evaluation as text, JSON and CSV. */
#include "evaluate/evaluate.h"

#include "base/format/csv.h"
#include "base/format/number.h"
#include "learn/data/rate_errors.h"
#include "store/io/writer.h"
#include "json/json_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORST_PICKS = 5, WORST_FAMILIES = 10 };

/* --- text ------------------------------------------------------------------------------------------------------------- */

/* A line: what, value, interval. Group is said on its first line. */
static void add_figure(kw_text *text, const char *group, const char *name, const kw_metric *figure, double scale) {
    char value[32] = "-", low[32] = "", high[32] = "";
    if (!isnan(figure->value)) {
        snprintf(value, sizeof value, "%.2f", scale * figure->value);
        snprintf(low, sizeof low, "%.2f", scale * figure->low);
        snprintf(high, sizeof high, "%.2f", scale * figure->high);
    }
    kw_text_addf(text, "%-18s %-24s %8s %9s %9s\n", group, name, value, low, high);
}

static void add_left_out(kw_text *text, size_t count, const char *what) {
    if (count) {
        kw_text_addf(text, "left out: %zu problem groups %s\n", count, what);
    }
}

static void add_evaluation_head(kw_text *text, const kw_evaluation *e) {
    const kw_evaluation_metrics *f = &e->all;
    kw_text_addf(text, "by %s: %lld problem groups of %lld problems, %.1f kernels each (%.0f to %.0f)\n", e->by,
                 (long long)f->problem_groups, (long long)f->problems, f->candidates, f->candidates_min, f->candidates_max);
    if (f->failed) {
        kw_text_addf(text, "%lld selections failed or have no row\n", (long long)f->failed);
    }
    add_left_out(text, e->in_sample, "of shapes that the model was trained on (--in-sample evaluates them)");
    add_left_out(text, e->unpredicted, "of which nothing is predicted");
    add_left_out(text, e->unsolved, "without a good kernel");
    add_left_out(text, e->outside_holdout, "that are in no holdout list");
    if (e->dataset.foreign) {
        kw_text_addf(text, "left out: %lld rows of kernels or problems that are not known here, or do not fit any more\n",
                     (long long)e->dataset.foreign);
    }
    if (e->untried) {
        kw_text_addf(text, "the catalog adds %zu candidates that have no row\n", e->untried);
    }
}

static void add_all_figures(kw_text *text, const kw_evaluation_metrics *f) {
    kw_text_addf(text, "\n%-18s %-24s %8s %19s\n", "", "", "%", "95 % interval");
    add_figure(text, "efficiency", "mean", &f->mean, 100);
    add_figure(text, "", "median", &f->median, 100);
    add_figure(text, "", "P10", &f->p10, 100);
    add_figure(text, "", "P1", &f->p1, 100);
    add_figure(text, "", "worst", &f->worst, 100);
    add_figure(text, "", "mean, ties as measured", &f->mean_efficiency_untied, 100);
    add_figure(text, "regret", "by time", &f->regret, 100);
    add_figure(text, "fastest kernel is", "the selection", &f->best_in_1, 100);
    add_figure(text, "", "in the first 3", &f->best_in_3, 100);
    add_figure(text, "", "in the first 5", &f->best_in_5, 100);
    add_figure(text, "", "in the first 10", &f->best_in_10, 100);
    add_figure(text, "the selection is", "tied with the fastest", &f->tied, 100);
    add_figure(text, "", "in the fastest 3", &f->selected_in_3, 100);
    add_figure(text, "", "in the fastest 5", &f->selected_in_5, 100);
    add_figure(text, "", "in the fastest 10", &f->selected_in_10, 100);
    add_figure(text, "best of a list", "of 3, mean", &f->shortlist_3, 100);
    add_figure(text, "", "of 5, mean", &f->shortlist_5, 100);
    add_figure(text, "", "of 8, mean", &f->shortlist_8, 100);
    add_figure(text, "", "of 8, P10", &f->shortlist_8_p10, 100);
    add_figure(text, "order", "NDCG of the first 10", &f->ndcg, 100);
    add_figure(text, "", "Spearman in a group", &f->spearman, 100);
    add_figure(text, "coverage", "measured, not failed", &f->coverage, 100);
}

/* Numbers beside the choice; nothing for selectors that have none. */
static void add_rates(kw_text *text, const kw_evaluation *e) {
    static const char *const units[KW_RATES] = {"TFLOP/s", "milliseconds", "GB/s"};
    for (int rate = 0; rate < KW_RATES && e->rates[0].rows; rate++) {
        const kw_rate_errors *r = &e->rates[rate];
        if (!rate) {
            kw_text_addf(text, "\n%-18s %-24s %8s %9s %9s\n", "predicted rates", "", "R2", "RMSE", "MAE");
        }
        kw_text_addf(text, "%-18s %-24s %8.4f %9.4g %9.4g\n", "", units[rate], r->r2, r->rmse, r->mae);
    }
}

static void add_slice_line(kw_text *text, const kw_slice *s) {
    const kw_evaluation_metrics *f = &s->metrics;
    char interval[32];
    kw_line line = {.data = interval, .capacity = sizeof interval};
    kw_line_addf(&line, "[%.2f %.2f]", 100 * f->mean.low, 100 * f->mean.high);
    kw_text_addf(text, "%-40s %14lld %7.1f %7.2f %-15s %7.2f %7.2f %8.2f %6.1f\n", s->key, (long long)f->problem_groups, f->candidates,
                 100 * f->mean.value, interval, 100 * f->p10.value, 100 * f->worst.value, 100 * f->regret.value, 100 * f->tied.value);
}

static size_t find_slices(const kw_evaluation *e, kw_slicing slicing, size_t *first) {
    size_t count = 0;
    for (size_t i = 0; i < e->slice_count; i++) {
        if (e->slices[i].slicing == slicing) {
            *first = count++ ? *first : i;
        }
    }
    return count;
}

/* What the slice loses, all its problem groups together. */
static int by_selection_loss(const void *left, const void *right) {
    const kw_slice *a = *(const kw_slice *const *)left, *b = *(const kw_slice *const *)right;
    double x = (1 - a->metrics.mean.value) * (double)a->metrics.problem_groups;
    double y = (1 - b->metrics.mean.value) * (double)b->metrics.problem_groups;
    return x != y ? (x < y) - (x > y) : strcmp(a->key, b->key);
}

static void add_families(kw_text *text, const kw_evaluation *e, size_t first, size_t count) {
    const kw_slice **list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++) {
        list[i] = &e->slices[first + i];
    }
    if (!list) {
        text->failed = true;
        return;
    }
    qsort(list, count, sizeof *list, by_selection_loss);
    kw_text_addf(text, "by family of problems, %zu in all, those that lose most\n", count);
    for (size_t i = 0; i < count && i < WORST_FAMILIES; i++) {
        add_slice_line(text, list[i]);
    }
    free(list);
}

static void add_slices(kw_text *text, const kw_evaluation *e) {
    kw_text_addf(text, "\n%-40s %14s %7s %7s %-15s %7s %7s %8s %6s\n", "slice", "problem groups", "kernels", "mean", "", "P10", "worst",
                 "regret", "tied");
    for (int slicing = 0; slicing < KW_SLICINGS; slicing++) {
        size_t first = 0, count = find_slices(e, (kw_slicing)slicing, &first);
        if (slicing == KW_SLICE_FAMILY && count > 1) {
            add_families(text, e, first, count);
        } else if (count > 1) {
            kw_text_addf(text, "by %s\n", kw_slicing_name((kw_slicing)slicing));
            for (size_t i = first; i < first + count; i++) {
                add_slice_line(text, &e->slices[i]);
            }
        }
    }
}

static int by_group_efficiency(const void *left, const void *right) {
    const kw_group_evaluation *a = *(const kw_group_evaluation *const *)left, *b = *(const kw_group_evaluation *const *)right;
    return a->efficiency != b->efficiency ? (a->efficiency > b->efficiency) - (a->efficiency < b->efficiency)
                                          : (a->problem_group > b->problem_group) - (a->problem_group < b->problem_group);
}

static void add_pick(kw_text *text, const kw_evaluation *e, const kw_group_evaluation *j) {
    const kw_problem_group *problem_group = &e->dataset.problem_groups[j->problem_group];
    const kw_pair *selection = &e->dataset.pairs[j->selection], *best = &e->dataset.pairs[j->best];
    char problem[KW_PROBLEM_TEXT_MAX], config[KW_CONFIG_TEXT_MAX];
    kw_problem_print(problem, sizeof problem, &problem_group->problem);
    kw_text_addf(text, "%6.2f  %s (%s)\n", 100 * j->efficiency, problem, kw_problem_group_timing(problem_group));
    kw_config_print(config, sizeof config, &selection->config);
    kw_text_addf(text, "        selection %10.4g us  %s%s%s\n", j->failed ? 0 : j->selected_ns / 1e3, config, j->failed ? ": " : "",
                 j->failed ? kw_outcome_name(selection->outcome) : "");
    kw_config_print(config, sizeof config, &best->config);
    kw_text_addf(text, "        best %10.4g us  %s\n", j->oracle_ns / 1e3, config);
}

static void add_worst_selections(kw_text *text, const kw_evaluation *e) {
    const kw_group_evaluation **list = calloc(e->count + 1, sizeof *list);
    for (size_t i = 0; list && i < e->count; i++) {
        list[i] = &e->group_evaluations[i];
    }
    if (!list) {
        text->failed = true;
        return;
    }
    qsort(list, e->count, sizeof *list, by_group_efficiency);
    if (list[0]->efficiency < 1) {
        kw_text_add(text, "\nworst selections\n");
    }
    for (size_t i = 0; i < e->count && i < WORST_PICKS && list[i]->efficiency < 1; i++) {
        add_pick(text, e, list[i]);
    }
    free(list);
}

static kw_status take_evaluation_text(char **out, kw_text *text, kw_error *err) {
    *out = text->failed ? NULL : kw_text_take(text);
    kw_text_drop(text);
    return *out ? KW_OK : kw_fail_memory(err, "an evaluation's text");
}

kw_status kw_evaluation_text(char **text, const kw_evaluation *evaluation, kw_error *err) {
    kw_text made = {0};
    add_evaluation_head(&made, evaluation);
    add_all_figures(&made, &evaluation->all);
    add_rates(&made, evaluation);
    add_slices(&made, evaluation);
    add_worst_selections(&made, evaluation);
    return take_evaluation_text(text, &made, err);
}

/* --- JSON ------------------------------------------------------------------------------------------------------------- */

static void json_figure(kw_json_out *json, const char *name, const kw_metric *figure) {
    kw_json_array(json, name);
    kw_json_real(json, NULL, figure->value);
    kw_json_real(json, NULL, figure->low);
    kw_json_real(json, NULL, figure->high);
    kw_json_end(json);
}

static void json_figures(kw_json_out *json, const kw_evaluation_metrics *f) {
    kw_json_int(json, "problem_groups", f->problem_groups);
    kw_json_int(json, "problems", f->problems);
    kw_json_int(json, "failed", f->failed);
    kw_json_real(json, "candidates", f->candidates);
    kw_json_real(json, "candidates_min", f->candidates_min);
    kw_json_real(json, "candidates_max", f->candidates_max);
#define ADD_FIGURE(name, meaning) json_figure(json, #name, &f->name);
    KW_EVALUATION_METRICS(ADD_FIGURE)
#undef ADD_FIGURE
}

kw_status kw_evaluation_json(char **json, const kw_evaluation *e, kw_error *err) {
    kw_json_out out = {0};
    kw_json_object(&out, NULL);
    kw_json_int(&out, "schema", 1);
    kw_json_text(&out, "by", e->by);
    kw_json_text(&out, "data_digest", e->dataset.digest);
    kw_json_int(&out, "left_out_trained_on", (int64_t)e->in_sample);
    kw_json_int(&out, "left_out_unpredicted", (int64_t)e->unpredicted);
    kw_json_int(&out, "left_out_without_good_kernel", (int64_t)e->unsolved);
    kw_json_int(&out, "left_out_unsealed", (int64_t)e->outside_holdout);
    kw_json_int(&out, "left_out_foreign_rows", e->dataset.foreign);
    kw_json_int(&out, "candidates_without_row", (int64_t)e->untried);
    kw_json_object(&out, "all");
    json_figures(&out, &e->all);
    kw_json_end(&out);
    kw_json_object(&out, "rates");
    for (int rate = 0; rate < KW_RATES && e->rates[0].rows; rate++) {
        kw_json_object(&out, kw_rate_name((kw_rate)rate));
        kw_json_int(&out, "rows", e->rates[rate].rows);
        kw_json_real(&out, "r2", e->rates[rate].r2);
        kw_json_real(&out, "rmse", e->rates[rate].rmse);
        kw_json_real(&out, "mae", e->rates[rate].mae);
        kw_json_end(&out);
    }
    kw_json_end(&out);
    kw_json_array(&out, "slices");
    for (size_t i = 0; i < e->slice_count; i++) {
        kw_json_object(&out, NULL);
        kw_json_text(&out, "by", kw_slicing_name(e->slices[i].slicing));
        kw_json_text(&out, "key", e->slices[i].key);
        json_figures(&out, &e->slices[i].metrics);
        kw_json_end(&out);
    }
    kw_json_end(&out);
    kw_json_end(&out);
    return take_evaluation_text(json, &out.text, err);
}

/* --- CSV -------------------------------------------------------------------------------------------------------------- */

/* The texts have blanks but neither commas nor quotes. */
static void add_csv_line(kw_text *text, const kw_evaluation *e, const kw_group_evaluation *j) {
    const kw_problem_group *problem_group = &e->dataset.problem_groups[j->problem_group];
    const kw_pair *selection = &e->dataset.pairs[j->selection];
    char target[KW_TARGET_TEXT_MAX], problem[KW_PROBLEM_TEXT_MAX], config[KW_CONFIG_TEXT_MAX], best[KW_CONFIG_TEXT_MAX];
    kw_target_print(target, sizeof target, &problem_group->target);
    kw_problem_print(problem, sizeof problem, &problem_group->problem);
    kw_config_print(config, sizeof config, &selection->config);
    kw_config_print(best, sizeof best, &e->dataset.pairs[j->best].config);
    kw_text_addf(text, "%s,%s,%d,%d,%s,%s,%s,%s", target, problem, problem_group->packed, problem_group->cold, problem_group->bucket,
                 config, kw_outcome_name(selection->outcome), best);
    kw_csv_add_number(text, e->scores.ns[j->selection], false);
    kw_csv_add_number(text, j->failed ? NAN : j->selected_ns, false);
    kw_csv_add_number(text, j->oracle_ns, false);
    kw_csv_add_number(text, j->efficiency, false);
    kw_csv_add_number(text, j->efficiency_untied, false);
    kw_text_addf(text, ",%d,%zu,%zu,%zu,%zu", j->tied, j->best_rank, j->selected_rank, j->candidates, j->good);
    kw_csv_add_number(text, j->ndcg, false);
    kw_csv_add_number(text, j->spearman, false);
    for (int i = 0; i < KW_SHORTLISTS; i++) {
        kw_csv_add_number(text, j->shortlist[i], false);
    }
    kw_text_add(text, "\n");
}

kw_status kw_evaluation_csv(const char *path, const kw_evaluation *e, kw_error *err) {
    kw_writer *writer = NULL;
    kw_text text = {0};
    kw_status status = kw_writer_open(&writer, path, err);
    if (status) {
        return status;
    }
    kw_text_add(
        &text,
        "target,problem,packed,cold,family,selection,selected_outcome,best,predicted_ns,selected_ns,oracle_ns,efficiency,efficiency_untied,"
        "tied,best_rank,selected_rank,candidates,timed,ndcg,spearman,shortlist_3,shortlist_5,shortlist_8\n");
    for (size_t i = 0; i < e->count && !status; i++) {
        add_csv_line(&text, e, &e->group_evaluations[i]);
        status = kw_writer_put(writer, &text, err);
    }
    status = kw_writer_close(&writer, status, err);
    kw_text_drop(&text);
    return status;
}
