/* selection.c: selections and their figures. */
#include "learn/data/selection.h"

#include "base/statistics/stats.h"
#include "learn/data/rate_errors.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

kw_status kw_group_oracles_create(kw_group_oracle **group_oracles, const kw_dataset *dataset, kw_error *err) {
    kw_group_oracle *made = calloc(dataset->problem_group_count + 1, sizeof *made);
    *group_oracles = made;
    if (!made) {
        return kw_fail_memory(err, "the oracles");
    }
    kw_status status = KW_OK;
    for (size_t c = 0; c < dataset->problem_group_count && !status; c++) {
        const kw_problem_group *problem_group = &dataset->problem_groups[c];
        status = kw_problem_group_oracle(dataset, problem_group, &made[c].best, &made[c].oracle_ns, err);
        for (size_t i = problem_group->first; i < problem_group->first + problem_group->count; i++) {
            kw_record record = kw_pair_record(&dataset->pairs[i]);
            made[c].slowest_ns = fmax(made[c].slowest_ns, kw_record_score(&record));
        }
    }
    if (status) {
        free(made);
        *group_oracles = NULL;
    }
    return status;
}

bool kw_selection_make(kw_selection *selection, const kw_dataset *dataset, size_t problem_group, const kw_group_oracle *group_oracle,
                       const double *ns) {
    const kw_problem_group *of = &dataset->problem_groups[problem_group];
    assert(of->count); /* a problem group has at least the pair that made it */
    *selection = (kw_selection){.pair = of->first};
    if (!(group_oracle->oracle_ns > 0)) {
        return false;
    }
    for (size_t i = of->first; i < of->first + of->count; i++) {
        selection->pair = ns[i] < ns[selection->pair] || (isnan(ns[selection->pair]) && !isnan(ns[i])) ? i : selection->pair;
    }
    const kw_pair *pair = &dataset->pairs[selection->pair];
    kw_record record = kw_pair_record(pair);
    selection->ns = pair->outcome == KW_SLOW ? pair->time_ns : kw_record_score(&record);
    selection->failed = !(selection->ns > 0);
    selection->efficiency = selection->failed ? 0 : fmin(1, group_oracle->oracle_ns / selection->ns);
    selection->ns = selection->failed ? group_oracle->slowest_ns : selection->ns;
    return true;
}

kw_status kw_metrics_compute(kw_train_metrics *metrics, const kw_dataset *dataset, const kw_group_oracle *group_oracles, const double *ns,
                             const int32_t *fold, int32_t which, kw_error *err) {
    double *efficiency = calloc(dataset->problem_group_count + 1, sizeof *efficiency);
    double selected = 0, oracle = 0;
    size_t count = 0, hits = 0;
    *metrics = (kw_train_metrics){0};
    if (!efficiency) {
        return kw_fail_memory(err, "the figures");
    }
    for (size_t c = 0; c < dataset->problem_group_count; c++) {
        kw_selection selection;
        if ((fold && fold[c] != which) || !kw_selection_make(&selection, dataset, c, &group_oracles[c], ns)) {
            continue;
        }
        efficiency[count++] = selection.efficiency;
        selected += selection.ns;
        oracle += group_oracles[c].oracle_ns;
        hits += selection.pair == group_oracles[c].best;
        metrics->failed += selection.failed;
    }
    kw_rate_errors rates;
    kw_rate_errors_compute(&rates, dataset, ns, KW_RATE_TFLOPS, fold, which);
    metrics->r2 = rates.r2;
    metrics->rmse = rates.rmse;
    metrics->mae = rates.mae;
    metrics->problem_groups = (int64_t)count;
    if (count) {
        kw_stat_sort(efficiency, count);
        metrics->mean = kw_stat_mean(efficiency, count);
        metrics->median = kw_stat_quantile(efficiency, count, 0.5);
        metrics->p10 = kw_stat_quantile(efficiency, count, 0.1);
        metrics->worst = efficiency[0];
        metrics->regret = selected / oracle - 1;
        metrics->top1 = (double)hits / (double)count;
    }
    free(efficiency);
    return KW_OK;
}
