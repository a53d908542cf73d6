/* oracle.c: picks and their figures. */
#include "learn/data/oracle.h"

#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

kw_status kw_marks_make(kw_mark **marks, const kw_dataset *dataset, kw_error *err) {
    kw_mark *made = calloc(dataset->contest_count + 1, sizeof *made);
    *marks = made;
    if (!made) {
        return kw_fail_memory(err, "the oracles");
    }
    kw_status status = KW_OK;
    for (size_t c = 0; c < dataset->contest_count && !status; c++) {
        const kw_contest *contest = &dataset->contests[c];
        status = kw_contest_oracle(dataset, contest, &made[c].best, &made[c].oracle_ns, err);
        for (size_t i = contest->first; i < contest->first + contest->count; i++) {
            kw_record record = kw_pair_record(&dataset->pairs[i]);
            made[c].slowest_ns = fmax(made[c].slowest_ns, kw_record_score(&record));
        }
    }
    if (status) {
        free(made);
        *marks = NULL;
    }
    return status;
}

bool kw_pick_make(kw_pick *pick, const kw_dataset *dataset, size_t contest, const kw_mark *mark, const double *ns) {
    const kw_contest *of = &dataset->contests[contest];
    *pick = (kw_pick){.pair = of->first};
    if (!(mark->oracle_ns > 0)) {
        return false;
    }
    for (size_t i = of->first; i < of->first + of->count; i++) {
        pick->pair = ns[i] < ns[pick->pair] || (isnan(ns[pick->pair]) && !isnan(ns[i])) ? i : pick->pair;
    }
    const kw_pair *pair = &dataset->pairs[pick->pair];
    kw_record record = kw_pair_record(pair);
    pick->ns = pair->outcome == KW_SLOW ? pair->time_ns : kw_record_score(&record);
    pick->failed = !(pick->ns > 0);
    pick->efficiency = pick->failed ? 0 : fmin(1, mark->oracle_ns / pick->ns);
    pick->ns = pick->failed ? mark->slowest_ns : pick->ns;
    return true;
}

kw_status kw_figures_make(kw_train_figures *figures, const kw_dataset *dataset, const kw_mark *marks, const double *ns, const int32_t *fold,
                          int32_t which, kw_error *err) {
    double *efficiency = calloc(dataset->contest_count + 1, sizeof *efficiency);
    double picked = 0, oracle = 0;
    size_t count = 0, hits = 0;
    *figures = (kw_train_figures){0};
    if (!efficiency) {
        return kw_fail_memory(err, "the figures");
    }
    for (size_t c = 0; c < dataset->contest_count; c++) {
        kw_pick pick;
        if ((fold && fold[c] != which) || !kw_pick_make(&pick, dataset, c, &marks[c], ns)) {
            continue;
        }
        efficiency[count++] = pick.efficiency;
        picked += pick.ns;
        oracle += marks[c].oracle_ns;
        hits += pick.pair == marks[c].best;
        figures->failed += pick.failed;
    }
    figures->contests = (int64_t)count;
    if (count) {
        kw_stat_sort(efficiency, count);
        figures->mean = kw_stat_mean(efficiency, count);
        figures->median = kw_stat_quantile(efficiency, count, 0.5);
        figures->p10 = kw_stat_quantile(efficiency, count, 0.1);
        figures->worst = efficiency[0];
        figures->regret = picked / oracle - 1;
        figures->top1 = (double)hits / (double)count;
    }
    free(efficiency);
    return KW_OK;
}
