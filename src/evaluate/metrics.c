/* metrics.c: a table says of each figure which column it is made of and how. A resample is a weight for each evaluation, so that columns
 * are gathered and sorted once for all of them. */
#include "evaluate/metrics.h"

#include "base/statistics/random.h"
#include "base/statistics/stats.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 1000, SEED = 1 };

typedef enum column {
    EFFICIENCY = 0,
    UNTIED,
    SELECTED_NS,
    ORACLE_NS,
    TIED,
    BEST_IN_1,
    BEST_IN_3,
    BEST_IN_5,
    BEST_IN_10,
    SELECTED_IN_3,
    SELECTED_IN_5,
    SELECTED_IN_10,
    NDCG,
    SPEARMAN,
    MEASURED,
    SHORTLIST_3,
    SHORTLIST_5,
    SHORTLIST_8,
    COLUMNS
} column;

typedef enum metric_reduction { MEAN = 0, QUANTILE, EXCESS /* sum of the column over that of ORACLE_NS, less 1 */ } metric_reduction;

typedef struct metric_spec {
    size_t offset;
    metric_reduction metric_reduction;
    column column;
    double at;
} metric_spec;

#define METRIC(name) offsetof(kw_evaluation_metrics, name)
static const metric_spec metric_specs[] = {
    {METRIC(mean), MEAN, EFFICIENCY, 0},
    {METRIC(median), QUANTILE, EFFICIENCY, 0.5},
    {METRIC(p10), QUANTILE, EFFICIENCY, 0.1},
    {METRIC(p1), QUANTILE, EFFICIENCY, 0.01},
    {METRIC(worst), QUANTILE, EFFICIENCY, 0},
    {METRIC(mean_efficiency_untied), MEAN, UNTIED, 0},
    {METRIC(regret), EXCESS, SELECTED_NS, 0},
    {METRIC(tied), MEAN, TIED, 0},
    {METRIC(best_in_1), MEAN, BEST_IN_1, 0},
    {METRIC(best_in_3), MEAN, BEST_IN_3, 0},
    {METRIC(best_in_5), MEAN, BEST_IN_5, 0},
    {METRIC(best_in_10), MEAN, BEST_IN_10, 0},
    {METRIC(selected_in_3), MEAN, SELECTED_IN_3, 0},
    {METRIC(selected_in_5), MEAN, SELECTED_IN_5, 0},
    {METRIC(selected_in_10), MEAN, SELECTED_IN_10, 0},
    {METRIC(ndcg), MEAN, NDCG, 0},
    {METRIC(spearman), MEAN, SPEARMAN, 0},
    {METRIC(coverage), MEAN, MEASURED, 0},
    {METRIC(shortlist_3), MEAN, SHORTLIST_3, 0},
    {METRIC(shortlist_5), MEAN, SHORTLIST_5, 0},
    {METRIC(shortlist_8), MEAN, SHORTLIST_8, 0},
    {METRIC(shortlist_8_p10), QUANTILE, SHORTLIST_8, 0.1},
};
#undef METRIC
enum { METRIC_SPECS = sizeof metric_specs / sizeof *metric_specs };
#define COUNT(name, meaning) +1
_Static_assert(METRIC_SPECS == 0 KW_EVALUATION_METRICS(COUNT), "each metric has one line here");
#undef COUNT

/* --- the sample ------------------------------------------------------------------------------------------------------- */

typedef struct sample {
    size_t count, columns, shapes;
    double *value[COLUMNS];
    size_t *order[COLUMNS]; /* ascending, where a quantile is asked for */
    size_t *shape;          /* number of each evaluation's shape */
    double *weight;         /* of each evaluation in the resample under way */
    size_t *drawn;          /* how often each shape is in it */
} sample;

static void sample_drop(sample *s) {
    for (size_t i = 0; i < COLUMNS; i++) {
        free(s->value[i]);
        free(s->order[i]);
    }
    free(s->shape);
    free(s->weight);
    free(s->drawn);
}

typedef struct keyed {
    double value;
    uint64_t key;
    size_t at;
} keyed;

static int by_sample_value(const void *left, const void *right) {
    const keyed *a = left, *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

static int by_shape_key(const void *left, const void *right) {
    const keyed *a = left, *b = right;
    return (a->key > b->key) - (a->key < b->key);
}

static bool sort_column(sample *s, size_t c) {
    keyed *list = calloc(s->count + 1, sizeof *list);
    s->order[c] = calloc(s->count + 1, sizeof *s->order[c]);
    for (size_t i = 0; list && i < s->count; i++) {
        list[i] = (keyed){.value = s->value[c][i], .at = i};
    }
    if (list && s->order[c]) {
        qsort(list, s->count, sizeof *list, by_sample_value);
        for (size_t i = 0; i < s->count; i++) {
            s->order[c][i] = list[i].at;
        }
    }
    bool good = list && s->order[c];
    free(list);
    return good;
}

/* shape_of[i] of each member, numbered from 0. */
static bool number_shapes(sample *s, const kw_group_evaluation *group_evaluations, const size_t *which) {
    keyed *list = calloc(s->count + 1, sizeof *list);
    for (size_t i = 0; list && i < s->count; i++) {
        list[i] = (keyed){.key = group_evaluations[which ? which[i] : i].shape, .at = i};
    }
    if (list) {
        qsort(list, s->count, sizeof *list, by_shape_key);
        for (size_t i = 0; i < s->count; i++) {
            s->shapes += !i || list[i].key != list[i - 1].key;
            s->shape[list[i].at] = s->shapes - 1;
        }
    }
    bool good = list != NULL;
    free(list);
    return good;
}

static bool sample_make(sample *s, const kw_group_evaluation *group_evaluations, const size_t *which, size_t count, size_t columns) {
    bool good = true;
    *s = (sample){.count = count, .columns = columns};
    s->shape = calloc(count + 1, sizeof *s->shape);
    s->weight = calloc(count + 1, sizeof *s->weight);
    s->drawn = calloc(count + 1, sizeof *s->drawn);
    for (size_t c = 0; c < columns; c++) {
        s->value[c] = calloc(count + 1, sizeof *s->value[c]);
        good = good && s->value[c];
    }
    good = good && s->shape && s->weight && s->drawn && number_shapes(s, group_evaluations, which);
    return good;
}

static void draw_resample(sample *s, uint64_t *state) {
    memset(s->drawn, 0, s->shapes * sizeof *s->drawn);
    for (size_t i = 0; i < s->shapes; i++) {
        s->drawn[kw_random_below(state, s->shapes)]++;
    }
    for (size_t i = 0; i < s->count; i++) {
        s->weight[i] = (double)s->drawn[s->shape[i]];
    }
}

/* --- one figure of weighted members ----------------------------------------------------------------------------------- */

static double mean_of(const sample *s, column c) {
    double sum = 0, weight = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (!isnan(s->value[c][i])) {
            sum += s->weight[i] * s->value[c][i];
            weight += s->weight[i];
        }
    }
    return weight > 0 ? sum / weight : NAN;
}

static double sample_regret(const sample *s, column c) {
    double sum = 0, base = 0;
    for (size_t i = 0; i < s->count; i++) {
        sum += s->weight[i] * s->value[c][i];
        base += s->weight[i] * s->value[ORACLE_NS][i];
    }
    return base > 0 ? sum / base - 1 : NAN;
}

/* As kw_stat_quantile, of each member as often as its weight says. */
static double sample_quantile(const sample *s, column c, double at) {
    double total = 0, seen = 0, below = NAN;
    for (size_t i = 0; i < s->count; i++) {
        total += s->weight[i];
    }
    double place = at * (total - 1), floor_place = floor(place), rest = place - floor_place;
    for (size_t i = 0; i < s->count; i++) {
        double value = s->value[c][s->order[c][i]], weight = s->weight[s->order[c][i]];
        seen += weight;
        if (isnan(below) && seen > floor_place) {
            below = value;
        }
        if (weight > 0 && (seen > floor_place + 1 || (seen > floor_place && !(rest > 0)))) {
            return below + rest * (value - below);
        }
    }
    return below;
}

static double sample_metric(const sample *s, const metric_spec *r) {
    return r->metric_reduction == MEAN     ? mean_of(s, r->column)
           : r->metric_reduction == EXCESS ? sample_regret(s, r->column)
                                           : sample_quantile(s, r->column, r->at);
}

/* --- intervals -------------------------------------------------------------------------------------------------------- */

/* Values of figure i in resample r stand at spread[i * RESAMPLES + r]; those that are nothing are left out. */
static void set_interval(kw_metric *figure, double *spread) {
    size_t kept = 0;
    for (size_t r = 0; r < RESAMPLES; r++) {
        if (!isnan(spread[r])) {
            spread[kept++] = spread[r];
        }
    }
    kw_stat_sort(spread, kept);
    figure->low = kept ? kw_stat_quantile(spread, kept, 0.025) : NAN;
    figure->high = kept ? kw_stat_quantile(spread, kept, 0.975) : NAN;
}

static kw_status resample_metrics(kw_metric *const metrics[], const metric_spec *list, size_t count, sample *s, kw_error *err) {
    double *spread = calloc(count * RESAMPLES + 1, sizeof *spread);
    uint64_t state = SEED;
    if (!spread) {
        return kw_fail_memory(err, "intervals");
    }
    for (size_t i = 0; i < s->count; i++) {
        s->weight[i] = 1;
    }
    for (size_t i = 0; i < count; i++) {
        metrics[i]->value = s->count ? sample_metric(s, &list[i]) : NAN;
    }
    for (size_t r = 0; r < RESAMPLES && s->count; r++) {
        draw_resample(s, &state);
        for (size_t i = 0; i < count; i++) {
            spread[i * RESAMPLES + r] = sample_metric(s, &list[i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        metrics[i]->low = metrics[i]->high = NAN;
        if (s->count) {
            set_interval(metrics[i], spread + i * RESAMPLES);
        }
    }
    free(spread);
    return KW_OK;
}

/* --- figures of evaluations -------------------------------------------------------------------------------------------- */

static double evaluation_value(const kw_group_evaluation *j, column c) {
    switch (c) {
    case EFFICIENCY:
        return j->efficiency;
    case UNTIED:
        return j->efficiency_untied;
    case SELECTED_NS:
        return j->selected_ns;
    case ORACLE_NS:
        return j->oracle_ns;
    case TIED:
        return j->tied;
    case BEST_IN_1:
    case BEST_IN_3:
    case BEST_IN_5:
    case BEST_IN_10: {
        static const size_t depth[] = {1, 3, 5, 10};
        return j->best_rank <= depth[c - BEST_IN_1];
    }
    case SELECTED_IN_3:
    case SELECTED_IN_5:
    case SELECTED_IN_10: {
        static const size_t depth[] = {3, 5, 10};
        return !j->failed && j->selected_rank <= depth[c - SELECTED_IN_3];
    }
    case NDCG:
        return j->ndcg;
    case SPEARMAN:
        return j->spearman;
    case MEASURED:
        return !j->failed;
    default:
        assert(c >= SHORTLIST_3 && c < COLUMNS);
        return j->shortlist[c - SHORTLIST_3];
    }
}

static void count_candidates(kw_evaluation_metrics *metrics, const kw_group_evaluation *group_evaluations, const size_t *which,
                             size_t count) {
    for (size_t i = 0; i < count; i++) {
        const kw_group_evaluation *j = &group_evaluations[which[i]];
        double candidates = (double)j->candidates;
        metrics->failed += j->failed;
        metrics->candidates += candidates / (double)count;
        metrics->candidates_min = !i || candidates < metrics->candidates_min ? candidates : metrics->candidates_min;
        metrics->candidates_max = fmax(metrics->candidates_max, candidates);
    }
}

kw_status kw_evaluation_metrics_compute(kw_evaluation_metrics *metrics, const kw_group_evaluation *group_evaluations, const size_t *which,
                                        size_t count, kw_error *err) {
    sample s;
    kw_metric *list[METRIC_SPECS];
    bool good = sample_make(&s, group_evaluations, which, count, COLUMNS);
    *metrics = (kw_evaluation_metrics){.problem_groups = (int64_t)count};
    for (size_t c = 0; c < COLUMNS && good; c++) {
        for (size_t i = 0; i < count; i++) {
            s.value[c][i] = evaluation_value(&group_evaluations[which[i]], (column)c);
        }
    }
    good = good && sort_column(&s, EFFICIENCY) && sort_column(&s, SHORTLIST_8);
    for (size_t i = 0; i < METRIC_SPECS; i++) {
        list[i] = (kw_metric *)(void *)((char *)metrics + metric_specs[i].offset);
    }
    metrics->problems = (int64_t)s.shapes;
    count_candidates(metrics, group_evaluations, which, count);
    kw_status status = good ? resample_metrics(list, metric_specs, METRIC_SPECS, &s, err) : kw_fail_memory(err, "figures");
    sample_drop(&s);
    return status;
}

kw_status kw_mean_metric(kw_metric *figure, const kw_group_evaluation *group_evaluations, const double *values, size_t count,
                         kw_error *err) {
    static const metric_spec mean = {.metric_reduction = MEAN, .column = 0};
    sample s;
    bool good = sample_make(&s, group_evaluations, NULL, count, 1);
    if (good && count) {
        memcpy(s.value[0], values, count * sizeof *values);
    }
    kw_status status = good ? resample_metrics(&figure, &mean, 1, &s, err) : kw_fail_memory(err, "an interval");
    sample_drop(&s);
    return status;
}
