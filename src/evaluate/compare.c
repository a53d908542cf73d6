/* compare.c: compares two evaluations of the same rows, problem group by problem group. */
#include "evaluate/evaluate.h"

#include "base/sized.h"
#include "base/statistics/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A problem group that both evaluate. */
typedef struct evaluation_pair {
    const kw_group_evaluation *a, *b;
} evaluation_pair;

static kw_status match_group_evaluations(evaluation_pair **pairs, size_t *count, const kw_evaluation *a, const kw_evaluation *b,
                                         kw_error *err) {
    *count = 0;
    *pairs = NULL;
    /* Equal digests mean the same problem groups in the same order; a catalog adds candidates, never problem groups. */
    if (strcmp(a->dataset.digest, b->dataset.digest) != 0 || a->dataset.pair_count != b->dataset.pair_count) {
        return kw_fail(err, KW_ILLEGAL, "%.100s and %.100s were evaluated on different rows; give both the same stores", a->by, b->by);
    }
    evaluation_pair *made = calloc(a->count + 1, sizeof *made);
    *pairs = made;
    if (!made) {
        return kw_fail_memory(err, "a comparison");
    }
    for (size_t i = 0, k = 0; i < a->count; i++) {
        while (k < b->count && b->group_evaluations[k].problem_group < a->group_evaluations[i].problem_group) {
            k++;
        }
        if (k < b->count && b->group_evaluations[k].problem_group == a->group_evaluations[i].problem_group) {
            made[(*count)++] = (evaluation_pair){&a->group_evaluations[i], &b->group_evaluations[k]};
        }
    }
    return *count ? KW_OK : kw_fail(err, KW_FAILED, "%.100s and %.100s evaluate no problem group in common", a->by, b->by);
}

/* -1: b is worse, 0: the same within the noise, 1: better. */
static int compare_selections(const evaluation_pair *d, const kw_dataset *dataset) {
    const kw_pair *a = &dataset->pairs[d->a->selection], *b = &dataset->pairs[d->b->selection];
    double more = d->b->efficiency - d->a->efficiency;
    if (d->a->selection == d->b->selection || fabs(more) <= kw_noise_differ.least * fmax(d->a->efficiency, d->b->efficiency) ||
        kw_pair_tied(a, b, &kw_noise_differ)) {
        return 0;
    }
    return more > 0 ? 1 : -1;
}

static void note_worst_loss(kw_comparison *c, const evaluation_pair *d, const kw_dataset *dataset) {
    double loss = d->a->efficiency > 0 ? 1 - d->b->efficiency / d->a->efficiency : 0;
    if (loss > c->worst_loss) {
        c->worst_loss = loss;
        kw_problem_print(c->worst, sizeof c->worst, &dataset->problem_groups[d->a->problem_group].problem);
    }
}

static kw_status make_figures(kw_comparison *c, const evaluation_pair *pairs, size_t count, const kw_evaluation *a, const kw_evaluation *b,
                              kw_error *err) {
    size_t *of_a = calloc(count, sizeof *of_a), *of_b = calloc(count, sizeof *of_b);
    double *delta = calloc(count, sizeof *delta);
    kw_group_evaluation *common = calloc(count, sizeof *common);
    bool good = of_a && of_b && delta && common;
    for (size_t i = 0; good && i < count; i++) {
        of_a[i] = (size_t)(pairs[i].a - a->group_evaluations);
        of_b[i] = (size_t)(pairs[i].b - b->group_evaluations);
        delta[i] = pairs[i].b->efficiency - pairs[i].a->efficiency;
        common[i] = *pairs[i].a;
    }
    kw_status status =
        good ? kw_evaluation_metrics_compute(&c->a, a->group_evaluations, of_a, count, err) : kw_fail_memory(err, "a comparison");
    status = status ? status : kw_evaluation_metrics_compute(&c->b, b->group_evaluations, of_b, count, err);
    status = status ? status : kw_mean_metric(&c->mean_delta, common, delta, count, err);
    free(of_a);
    free(of_b);
    free(delta);
    free(common);
    return status;
}

kw_status kw_evaluations_compare(kw_comparison *comparison, const kw_evaluation *a, const kw_evaluation *b, kw_error *err) {
    evaluation_pair *pairs = NULL;
    size_t count = 0;
    *comparison = (kw_comparison){0};
    kw_status status = match_group_evaluations(&pairs, &count, a, b, err);
    for (size_t i = 0; i < count && !status; i++) {
        int v = compare_selections(&pairs[i], &a->dataset);
        comparison->agreed += pairs[i].a->selection == pairs[i].b->selection;
        comparison->better += v > 0;
        comparison->worse += v < 0;
        comparison->same += !v;
        note_worst_loss(comparison, &pairs[i], &a->dataset);
    }
    comparison->problem_groups = (int64_t)count;
    status = status ? status : make_figures(comparison, pairs, count, a, b, err);
    free(pairs);
    return status;
}

static void add_comparison_row(kw_text *text, const char *name, const kw_metric *a, const kw_metric *b) {
    kw_text_addf(text, "%-18s %8.2f [%6.2f %6.2f] %8.2f [%6.2f %6.2f] %+8.2f\n", name, 100 * a->value, 100 * a->low, 100 * a->high,
                 100 * b->value, 100 * b->low, 100 * b->high, 100 * (b->value - a->value));
}

kw_status kw_comparison_text(char **text, const kw_comparison *c, const kw_evaluation *a, const kw_evaluation *b, kw_error *err) {
    kw_text made = {0};
    double share = c->problem_groups ? 100.0 / (double)c->problem_groups : 0;
    kw_text_addf(&made, "A: %s\nB: %s\n%lld problem groups of %lld problems, %.1f kernels each\n", a->by, b->by,
                 (long long)c->problem_groups, (long long)c->a.problems, c->a.candidates);
    kw_text_addf(&made, "%-18s %8s %15s %8s %15s %8s\n", "%", "A", "", "B", "", "B - A");
    add_comparison_row(&made, "mean", &c->a.mean, &c->b.mean);
    add_comparison_row(&made, "median", &c->a.median, &c->b.median);
    add_comparison_row(&made, "P10", &c->a.p10, &c->b.p10);
    add_comparison_row(&made, "P1", &c->a.p1, &c->b.p1);
    add_comparison_row(&made, "worst", &c->a.worst, &c->b.worst);
    add_comparison_row(&made, "regret by time", &c->a.regret, &c->b.regret);
    add_comparison_row(&made, "tied with the best", &c->a.tied, &c->b.tied);
    add_comparison_row(&made, "best of 8", &c->a.shortlist_8, &c->b.shortlist_8);
    add_comparison_row(&made, "coverage", &c->a.coverage, &c->b.coverage);
    kw_text_addf(&made, "mean of the differences %+.2f [%+.2f %+.2f]\n", 100 * c->mean_delta.value, 100 * c->mean_delta.low,
                 100 * c->mean_delta.high);
    kw_text_addf(&made,
                 "same selection %lld (%.1f %%); B is better in %lld (%.1f %%), the same in %lld (%.1f %%), worse in %lld (%.1f %%)\n",
                 (long long)c->agreed, share * (double)c->agreed, (long long)c->better, share * (double)c->better, (long long)c->same,
                 share * (double)c->same, (long long)c->worse, share * (double)c->worse);
    if (c->worst_loss > 0) {
        kw_text_addf(&made, "B loses most, %.1f %%, on %s\n", 100 * c->worst_loss, c->worst);
    }
    *text = made.failed ? NULL : kw_text_take(&made);
    kw_text_drop(&made);
    return *text ? KW_OK : kw_fail_memory(err, "a comparison's text");
}

/* --- acceptance ------------------------------------------------------------------------------------------------------- */

static kw_status check_criterion(const char *what, double base, double now, double limit, kw_error *err) {
    return now >= base * (1 - limit) ? KW_OK
                                     : kw_fail(err, KW_FAILED, "%s: %.2f %% is more than %.3g %% below the base's %.2f %%", what, 100 * now,
                                               100 * limit, 100 * base);
}

kw_status kw_comparison_accept(const kw_comparison *c, const kw_acceptance *acceptance, kw_error *err) {
    kw_acceptance limit;
    kw_status status = KW_SIZED_READ(&limit, kw_acceptance, one, acceptance, err);
    limit.mean = limit.mean > 0 ? limit.mean : 0.005;
    limit.median = limit.median > 0 ? limit.median : 0.005;
    limit.p10 = limit.p10 > 0 ? limit.p10 : 0.02;
    limit.one = limit.one > 0 ? limit.one : 0.1;
    status = status ? status : check_criterion("mean efficiency", c->a.mean.value, c->b.mean.value, limit.mean, err);
    status = status ? status : check_criterion("median efficiency", c->a.median.value, c->b.median.value, limit.median, err);
    status = status ? status : check_criterion("P10 efficiency", c->a.p10.value, c->b.p10.value, limit.p10, err);
    if (!status && c->worst_loss > limit.one) {
        status =
            kw_fail(err, KW_FAILED, "one problem loses %.1f %%, more than %.3g %%: %.300s", 100 * c->worst_loss, 100 * limit.one, c->worst);
    }
    return status;
}
