/* pairwise.c: pairs of times for one problem: how many times faster, and whether that is more than noise. */
#include "report/charts/figures.h"

#include "measure/timing/noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_pairwise(const void *a, const void *b) {
    const kw_pairwise *x = a, *y = b;
    return x->ratio != y->ratio ? (x->ratio > y->ratio) - (x->ratio < y->ratio)
                                : (x->problem_group->first > y->problem_group->first) - (x->problem_group->first < y->problem_group->first);
}

static kw_noisy_time time_of_entry(const kw_report_entry *entry) {
    return (kw_noisy_time){entry->score_ns, entry->spread_ns, entry->samples};
}

static bool is_ratio_noise(double ratio, const kw_report_entry *a, const kw_report_entry *b) {
    kw_noisy_time left = time_of_entry(a), right = time_of_entry(b);
    return fabs(ratio - 1) <= kw_noise_width(&left, &right, &kw_noise_differ);
}

/* The fastest reference kernel of a problem group that has a time. */
static const kw_report_entry *find_reference(const kw_report_data *report_data, const kw_report_group *problem_group) {
    const kw_report_entry *found = NULL;
    for (size_t e = problem_group->first; e < problem_group->first + problem_group->count; e++) {
        const kw_report_entry *entry = &report_data->entries[e];
        if (report_data->configs[entry->config].reference && entry->score_ns > 0 && (!found || entry->score_ns < found->score_ns)) {
            found = entry;
        }
    }
    return found;
}

kw_pairwise *kw_pairwise_reference(const kw_report_data *report_data, kw_arena *arena, uint32_t target, size_t *count) {
    kw_pairwise *pairwise_ratios = kw_arena_array(arena, report_data->problem_group_count + 1, sizeof *pairwise_ratios);
    *count = 0;
    for (size_t i = 0; i < report_data->problem_group_count && pairwise_ratios; i++) {
        const kw_report_group *problem_group = &report_data->problem_groups[i];
        const kw_report_entry *reference = problem_group->target == target ? find_reference(report_data, problem_group) : NULL;
        if (reference && problem_group->best != KW_NOWHERE) {
            const kw_report_entry *best = &report_data->entries[problem_group->best];
            double ratio = reference == best ? 1 : reference->score_ns / problem_group->oracle_ns;
            pairwise_ratios[(*count)++] = (kw_pairwise){problem_group, ratio, is_ratio_noise(ratio, reference, best)};
        }
    }
    if (*count) {
        qsort(pairwise_ratios, *count, sizeof *pairwise_ratios, compare_pairwise);
    }
    return pairwise_ratios;
}

uint32_t kw_pairwise_target(const kw_report_data *report_data, const kw_report_data *baseline, uint32_t target) {
    uint32_t same = kw_string_table_find(&baseline->target_names, report_data->targets[target].text), most = UINT32_MAX;
    for (uint32_t i = 0; i < baseline->target_names.count; i++) {
        bool more = most == UINT32_MAX || baseline->targets[i].answers > baseline->targets[most].answers;
        most = baseline->targets[i].answers && more ? i : most;
    }
    return same != UINT32_MAX && baseline->targets[same].answers ? same : most;
}

/* The problem group of a problem by its numbers in the baseline; problem groups are sorted by them. */
static const kw_report_group *find_group(const kw_report_data *report_data, const kw_report_group *wanted) {
    size_t low = 0, high = report_data->problem_group_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const kw_report_group *at = &report_data->problem_groups[middle];
        int64_t order = (int64_t)at->target - wanted->target;
        order = order ? order : (int64_t)at->problem - wanted->problem;
        order = order ? order : at->packed - wanted->packed;
        order = order ? order : at->cold - wanted->cold;
        if (!order) {
            return at;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

const kw_report_group *kw_pairwise_partner(const kw_report_data *report_data, const kw_report_data *baseline,
                                           const kw_report_group *problem_group, uint32_t target) {
    kw_report_group wanted = {.target = target, .packed = problem_group->packed, .cold = problem_group->cold};
    wanted.problem = kw_string_table_find(&baseline->problem_names, report_data->problems[problem_group->problem].text);
    return wanted.problem == UINT32_MAX ? NULL : find_group(baseline, &wanted);
}

kw_pairwise kw_pairwise_groups(const kw_report_data *report_data, const kw_report_group *problem_group, const kw_report_data *baseline,
                               const kw_report_group *other) {
    double ratio = other->oracle_ns / problem_group->oracle_ns;
    bool tie = is_ratio_noise(ratio, &baseline->entries[other->best], &report_data->entries[problem_group->best]);
    return (kw_pairwise){problem_group, ratio, tie};
}

kw_pairwise *kw_pairwise_baseline(const kw_report_data *report_data, const kw_report_data *baseline, kw_arena *arena,
                                  const uint32_t targets[2], size_t *count) {
    kw_pairwise *pairwise_ratios = kw_arena_array(arena, report_data->problem_group_count + 1, sizeof *pairwise_ratios);
    *count = 0;
    for (size_t i = 0; i < report_data->problem_group_count && pairwise_ratios; i++) {
        const kw_report_group *problem_group = &report_data->problem_groups[i];
        if (problem_group->target != targets[0] || problem_group->best == KW_NOWHERE) {
            continue;
        }
        const kw_report_group *other = kw_pairwise_partner(report_data, baseline, problem_group, targets[1]);
        if (other && other->best != KW_NOWHERE) {
            pairwise_ratios[(*count)++] = kw_pairwise_groups(report_data, problem_group, baseline, other);
        }
    }
    if (*count) {
        qsort(pairwise_ratios, *count, sizeof *pairwise_ratios, compare_pairwise);
    }
    return pairwise_ratios;
}
