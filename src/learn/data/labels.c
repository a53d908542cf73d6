/* labels.c: what a model learns from a time and back, one line a quantity. */
#include "learn/data/labels.h"

#include <math.h>

/* The least time of the group's good pairs; 0: there are none. */
static double best_group_time(const kw_dataset *dataset, const kw_problem_group *problem_group) {
    double best = 0;
    for (size_t i = problem_group->first; i < problem_group->first + problem_group->count; i++) {
        const kw_pair *pair = &dataset->pairs[i];
        best = pair->outcome == KW_GOOD && (!(best > 0) || pair->time_ns < best) ? pair->time_ns : best;
    }
    return best;
}

void kw_label_times(double *times, const kw_dataset *dataset) {
    for (size_t c = 0; c < dataset->problem_group_count; c++) {
        const kw_problem_group *problem_group = &dataset->problem_groups[c];
        double best = best_group_time(dataset, problem_group), limit = KW_LABEL_CLAMP * best;
        for (size_t i = problem_group->first; i < problem_group->first + problem_group->count; i++) {
            const kw_pair *pair = &dataset->pairs[i];
            bool seen = pair->outcome == KW_GOOD || (pair->outcome == KW_SLOW && pair->time_ns > 0);
            times[i] = best > 0 ? fmin(seen ? pair->time_ns : limit, limit) : 0;
        }
    }
}

static double quantity_label(kw_model_quantity quantity, double time, double best, double estimate, const kw_group_work *work) {
    switch (quantity) {
    case KW_PREDICTS_RELATIVE:
        return log(time / best);
    case KW_PREDICTS_TFLOPS:
        return log1p(work->flops / time / 1e3);
    case KW_PREDICTS_PLAIN_TFLOPS:
        return work->flops / time / 1e3;
    case KW_PREDICTS_BANDWIDTH:
        return log1p(work->bytes / time);
    case KW_PREDICTS_PLAIN_BANDWIDTH:
        return work->bytes / time;
    case KW_PREDICTS_LATENCY:
        return time / 1e6;
    case KW_PREDICTS_TIME:
        return log(time);
    case KW_PREDICTS_RANK: /* the best is the top level; from twice its time on all are level 0 */
        return round(fmax(0, 1 - log2(time / best)) * (KW_RANK_LEVELS - 1));
    case KW_PREDICTS_RATIO:
    default:
        return log(time / estimate);
    }
}

void kw_labels_make(float *label, const kw_dataset *dataset, const double *times, kw_model_quantity quantity) {
    for (size_t c = 0; c < dataset->problem_group_count; c++) {
        const kw_problem_group *problem_group = &dataset->problem_groups[c];
        double best = best_group_time(dataset, problem_group);
        kw_group_work work = kw_problem_group_work(dataset, problem_group);
        for (size_t i = problem_group->first; i < problem_group->first + problem_group->count; i++) {
            label[i] = times[i] > 0 ? (float)quantity_label(quantity, times[i], best, dataset->pairs[i].estimate_ns, &work) : 0;
        }
    }
}

double kw_label_ns(double score, kw_model_quantity quantity, double estimate_ns, const kw_group_work *work) {
    switch (quantity) {
    case KW_PREDICTS_RELATIVE:
    case KW_PREDICTS_TIME:
        return exp(score);
    case KW_PREDICTS_RANK:
        return exp(-score);
    case KW_PREDICTS_RATIO:
        return estimate_ns * exp(score);
    default:
        return fmin(1e30, kw_model_rate_ns(quantity, score, work->flops, work->bytes));
    }
}
