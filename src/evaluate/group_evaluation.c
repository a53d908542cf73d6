/* group_evaluation.c: one problem group at a time. Every time that is held against the oracle comes from samples that did not choose it:
 * a selection's is the mean of its halves, a shortlist's best is chosen by one half and timed by the other. */
#include "evaluate/group_evaluation.h"

#include "base/statistics/stats.h"
#include "learn/data/split/folds.h"
#include "predict/shortlist.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const size_t kw_shortlist_lengths[KW_SHORTLISTS] = {3, 5, 8};

bool kw_pair_tied(const kw_pair *a, const kw_pair *b, const kw_noise_band *band) {
    if (a->outcome != KW_GOOD || b->outcome != KW_GOOD || a->samples < 1 || b->samples < 1) {
        return false;
    }
    kw_noisy_time left = {a->time_ns, a->spread_ns, a->samples}, right = {b->time_ns, b->spread_ns, b->samples};
    return kw_noise_tied(&left, &right, band);
}

/* Room for one problem group, as large as the largest. */
typedef struct scratch_arrays {
    kw_candidate *order, *list; /* the predicted order; a shortlist that is being drawn */
    kw_record *records;
    double *predicted, *measured, *gains;
    size_t *ranked;
    bool failed; /* there was no memory */
} scratch_arrays;

static void scratch_arrays_drop(scratch_arrays *b) {
    free(b->order);
    free(b->list);
    free(b->records);
    free(b->predicted);
    free(b->measured);
    free(b->gains);
    free(b->ranked);
}

static kw_status scratch_arrays_make(scratch_arrays *b, const kw_dataset *dataset, kw_error *err) {
    size_t most = 1;
    for (size_t c = 0; c < dataset->problem_group_count; c++) {
        most = dataset->problem_groups[c].count > most ? dataset->problem_groups[c].count : most;
    }
    b->order = calloc(most, sizeof *b->order);
    b->list = calloc(most, sizeof *b->list);
    b->records = calloc(most, sizeof *b->records);
    b->predicted = calloc(most, sizeof *b->predicted);
    b->measured = calloc(most, sizeof *b->measured);
    b->gains = calloc(most, sizeof *b->gains);
    b->ranked = calloc(most, sizeof *b->ranked);
    return b->order && b->list && b->records && b->predicted && b->measured && b->gains && b->ranked ? KW_OK
                                                                                                     : kw_fail_memory(err, "evaluating");
}

double kw_pair_time(const kw_pair *pair) {
    kw_record record = kw_pair_record(pair);
    return pair->outcome == KW_SLOW ? fmax(0, pair->time_ns) : kw_record_score(&record);
}

/* --- the predicted order ---------------------------------------------------------------------------------------------- */

/* Configs of a problem group lie in the order of their texts, so the address decides as the text would. */
static int by_predicted_ns(const void *left, const void *right) {
    const kw_candidate *a = left, *b = right;
    if (a->expected_ns != b->expected_ns) {
        return a->expected_ns < b->expected_ns ? -1 : 1;
    }
    return (a->config > b->config) - (a->config < b->config);
}

static size_t candidate_pair(const kw_dataset *dataset, const kw_candidate *candidate) {
    const char *first = (const char *)&dataset->pairs[0].config;
    return (size_t)((const char *)candidate->config - first) / sizeof *dataset->pairs;
}

static void set_order(scratch_arrays *b, const kw_dataset *dataset, const kw_problem_group *problem_group, const double *ns) {
    for (size_t i = 0; i < problem_group->count; i++) {
        const kw_pair *pair = &dataset->pairs[problem_group->first + i];
        double expected = ns[problem_group->first + i];
        b->order[i] =
            (kw_candidate){.config = &pair->config, .expected_ns = isnan(expected) ? INFINITY : expected, .estimate_ns = pair->estimate_ns};
    }
    qsort(b->order, problem_group->count, sizeof *b->order, by_predicted_ns);
}

/* --- places and orders ------------------------------------------------------------------------------------------------ */

static void set_ranks(kw_group_evaluation *j, const scratch_arrays *b, const kw_dataset *dataset, const kw_problem_group *problem_group) {
    double selected = kw_pair_time(&dataset->pairs[j->selection]);
    j->selected_rank = 1;
    for (size_t i = 0; i < problem_group->count; i++) {
        double time = kw_pair_time(&dataset->pairs[problem_group->first + i]);
        j->good += time > 0;
        j->selected_rank += time > 0 && (j->failed || time < selected);
        if (candidate_pair(dataset, &b->order[i]) == j->best) {
            j->best_rank = i + 1;
        }
    }
    assert(j->best_rank); /* the oracle's kernel is one of the group */
}

static int by_number_down(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a < b) - (a > b);
}

/* sum of gains / log2(place + 1) over the first KW_NDCG_DEPTH, over that of the best order. */
static double ndcg_of(scratch_arrays *b, const kw_dataset *dataset, const kw_problem_group *problem_group) {
    double got = 0, ideal = 0, best = INFINITY;
    for (size_t i = 0; i < problem_group->count; i++) {
        double time = kw_pair_time(&dataset->pairs[problem_group->first + i]);
        best = time > 0 ? fmin(best, time) : best;
    }
    for (size_t i = 0; i < problem_group->count; i++) {
        double time = kw_pair_time(&dataset->pairs[candidate_pair(dataset, &b->order[i])]);
        b->gains[i] = time > 0 ? best / time : 0;
        got += i < KW_NDCG_DEPTH ? b->gains[i] / log2((double)i + 2) : 0;
    }
    qsort(b->gains, problem_group->count, sizeof *b->gains, by_number_down);
    for (size_t i = 0; i < problem_group->count && i < KW_NDCG_DEPTH; i++) {
        ideal += b->gains[i] / log2((double)i + 2);
    }
    return ideal > 0 && problem_group->count > 1 ? got / ideal : NAN;
}

typedef struct ranked_value {
    double value;
    size_t at;
} ranked_value;

static int by_ranked_value(const void *left, const void *right) {
    const ranked_value *a = left, *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

/* Replaces values by their ranks; equal ones share their mean rank. */
static bool rank_values(double *values, size_t count) {
    ranked_value *sorted = calloc(count + 1, sizeof *sorted);
    for (size_t i = 0; sorted && i < count; i++) {
        sorted[i] = (ranked_value){values[i], i};
    }
    if (sorted) {
        qsort(sorted, count, sizeof *sorted, by_ranked_value);
    }
    for (size_t i = 0; sorted && i < count;) {
        size_t end = i + 1;
        while (end < count && sorted[end].value == sorted[i].value) {
            end++;
        }
        for (size_t k = i; k < end; k++) {
            values[sorted[k].at] = (double)(i + end - 1) / 2;
        }
        i = end;
    }
    bool good = sorted != NULL;
    free(sorted);
    return good;
}

static double correlation(const double *a, const double *b, size_t count) {
    double mean_a = kw_stat_mean(a, count), mean_b = kw_stat_mean(b, count), both = 0, square_a = 0, square_b = 0;
    for (size_t i = 0; i < count; i++) {
        both += (a[i] - mean_a) * (b[i] - mean_b);
        square_a += (a[i] - mean_a) * (a[i] - mean_a);
        square_b += (b[i] - mean_b) * (b[i] - mean_b);
    }
    return square_a > 0 && square_b > 0 ? both / sqrt(square_a * square_b) : NAN;
}

/* Over the kernels with a time. */
static double spearman_of(scratch_arrays *b, const kw_dataset *dataset, const kw_problem_group *problem_group) {
    size_t count = 0;
    for (size_t i = 0; i < problem_group->count; i++) {
        double time = kw_pair_time(&dataset->pairs[candidate_pair(dataset, &b->order[i])]);
        if (time > 0) {
            b->predicted[count] = b->order[i].expected_ns;
            b->measured[count++] = time;
        }
    }
    if (!rank_values(b->predicted, count) || !rank_values(b->measured, count)) {
        b->failed = true;
        return NAN;
    }
    return correlation(b->predicted, b->measured, count);
}

/* --- shortlists ------------------------------------------------------------------------------------------------------- */

/* The best of the first length of the list against the oracle. */
static double shortlist_efficiency(scratch_arrays *b, const kw_group_evaluation *j, const kw_dataset *dataset, size_t length) {
    size_t winner;
    double ns = 0, rough = INFINITY;
    for (size_t i = 0; i < length; i++) {
        const kw_pair *pair = &dataset->pairs[candidate_pair(dataset, &b->list[i])];
        b->records[i] = kw_pair_record(pair);
        rough = pair->outcome == KW_SLOW && pair->time_ns > 0 ? fmin(rough, pair->time_ns) : rough;
    }
    if (!kw_oracle(b->records, length, &winner, &ns)) {
        return fmin(1, j->oracle_ns / rough);
    }
    size_t pair = candidate_pair(dataset, &b->list[winner]);
    bool tied = pair == j->best || kw_pair_tied(&dataset->pairs[j->best], &dataset->pairs[pair], &kw_noise_credit);
    return tied ? 1 : fmin(1, j->oracle_ns / ns);
}

static void set_shortlists(kw_group_evaluation *j, scratch_arrays *b, const kw_dataset *dataset, kw_scorer_kind kind) {
    j->best_of[0] = j->efficiency;
    for (size_t wanted = 2; wanted <= KW_SHORTLIST_MAX; wanted++) {
        size_t length = wanted < j->candidates ? wanted : j->candidates;
        memcpy(b->list, b->order, j->candidates * sizeof *b->list);
        if (kind != KW_SCORES_UNTIMED) {
            length = kw_shortlist_take(b->list, j->candidates, wanted, kind == KW_SCORES_MODEL);
        }
        j->best_of[wanted - 1] = shortlist_efficiency(b, j, dataset, length);
    }
    for (int i = 0; i < KW_SHORTLISTS; i++) {
        j->shortlist[i] = j->best_of[kw_shortlist_lengths[i] - 1];
    }
}

/* --- all together ----------------------------------------------------------------------------------------------------- */

static bool evaluate_group(kw_group_evaluation *j, scratch_arrays *b, const kw_dataset *dataset, const kw_group_oracle *oracles,
                           const kw_scores *scores) {
    const kw_problem_group *problem_group = &dataset->problem_groups[j->problem_group];
    const kw_group_oracle *oracle = &oracles[j->problem_group];
    kw_selection selection;
    if (!kw_selection_make(&selection, dataset, j->problem_group, oracle, scores->ns)) {
        return false;
    }
    j->selection = selection.pair;
    j->best = oracle->best;
    j->shape = kw_fold_group(problem_group, KW_BY_SHAPE);
    j->candidates = problem_group->count;
    j->oracle_ns = oracle->oracle_ns;
    j->selected_ns = selection.ns;
    j->failed = selection.failed;
    j->tied =
        selection.pair == oracle->best || kw_pair_tied(&dataset->pairs[oracle->best], &dataset->pairs[selection.pair], &kw_noise_credit);
    j->efficiency_untied = selection.efficiency;
    j->efficiency = j->tied ? 1 : selection.efficiency;
    set_order(b, dataset, problem_group, scores->ns);
    set_ranks(j, b, dataset, problem_group);
    j->ndcg = ndcg_of(b, dataset, problem_group);
    j->spearman = spearman_of(b, dataset, problem_group);
    set_shortlists(j, b, dataset, scores->kind);
    return true;
}

kw_status kw_group_evaluations_create(kw_group_evaluation **made, size_t *count, const kw_dataset *dataset, const kw_group_oracle *oracles,
                                      const kw_scores *scores, const bool *keep, kw_error *err) {
    scratch_arrays b = {0};
    kw_group_evaluation *list = calloc(dataset->problem_group_count + 1, sizeof *list);
    *made = NULL;
    *count = 0;
    kw_status status = list ? scratch_arrays_make(&b, dataset, err) : kw_fail_memory(err, "evaluations");
    for (size_t c = 0; c < dataset->problem_group_count && !status; c++) {
        list[*count] = (kw_group_evaluation){.problem_group = c};
        if ((!keep || keep[c]) && scores->served[c] && evaluate_group(&list[*count], &b, dataset, oracles, scores)) {
            ++*count;
        }
        status = b.failed ? kw_fail_memory(err, "evaluations") : KW_OK;
    }
    scratch_arrays_drop(&b);
    if (status) {
        free(list);
        return status;
    }
    *made = list;
    return KW_OK;
}
