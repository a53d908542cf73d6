/* evaluate.c: kw_evaluation: reads, leaves out what must not be evaluated, lets the scorer say its times, evaluates and slices. */
#include "evaluate/evaluate.h"

#include "base/sized.h"
#include "base/container/array.h"
#include "problem/text/dims.h"
#include "learn/data/dataset_candidates.h"
#include "learn/data/split/holdout.h"
#include "learn/data/rate_errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *kw_slicing_name(kw_slicing slicing) {
    static const char *const names[KW_SLICINGS] = {
        [KW_SLICE_OP] = "op",         [KW_SLICE_DTYPE] = "dtype",     [KW_SLICE_LAYOUT] = "layout",
        [KW_SLICE_TIMING] = "timing", [KW_SLICE_ARCH] = "arch",       [KW_SLICE_SIZE] = "size",
        [KW_SLICE_WINNER] = "winner", [KW_SLICE_TRAINED] = "trained", [KW_SLICE_FAMILY] = "family",
    };
    return names[slicing];
}

const char *kw_problem_group_timing(const kw_problem_group *problem_group) {
    static const char *const names[] = {"hot fresh weights", "hot", "cold fresh weights", "cold"};
    return names[(problem_group->cold ? 2 : 0) + (problem_group->packed ? 1 : 0)];
}

static void log_evaluation_remark(const kw_evaluation_options *o, const char *line) {
    if (o->log) {
        o->log(o->user, line);
    }
}

/* --- slices ----------------------------------------------------------------------------------------------------------- */

/* In words that ascend with the size. */
static const char *size_of(const kw_problem *problem) {
    double flops = (double)kw_problem_flops(problem);
    return flops < 1e6   ? "below 1 MFLOP"
           : flops < 1e7 ? "from 1 MFLOP"
           : flops < 1e8 ? "from 10 MFLOP"
           : flops < 1e9 ? "from 100 MFLOP"
                         : "from 1000 MFLOP";
}

static const char *slice_key(const kw_evaluation *e, const kw_group_evaluation *j, kw_slicing slicing) {
    const kw_problem_group *problem_group = &e->dataset.problem_groups[j->problem_group];
    switch (slicing) {
    case KW_SLICE_OP:
        return kw_op_name(problem_group->problem.op);
    case KW_SLICE_DTYPE:
        return kw_dtype_name(problem_group->problem.dtype);
    case KW_SLICE_LAYOUT:
        return kw_layout_name(problem_group->problem.layout, problem_group->problem.ndim);
    case KW_SLICE_TIMING:
        return kw_problem_group_timing(problem_group);
    case KW_SLICE_ARCH:
        return problem_group->target.arch;
    case KW_SLICE_SIZE:
        return size_of(&problem_group->problem);
    case KW_SLICE_WINNER:
        return e->dataset.pairs[j->best].config.family->name;
    case KW_SLICE_TRAINED:
        return !e->trained.known                                             ? ""
               : kw_trained_on_has(&e->trained, problem_group, KW_BY_FAMILY) ? "family trained on"
                                                                             : "family left out";
    default:
        return problem_group->bucket;
    }
}

typedef struct member {
    const char *key;
    size_t evaluation_of_group;
} member;

static int by_slice_key(const void *left, const void *right) {
    const member *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    return order ? order : (a->evaluation_of_group > b->evaluation_of_group) - (a->evaluation_of_group < b->evaluation_of_group);
}

static kw_status add_slice(kw_evaluation *e, kw_slicing slicing, const member *members, size_t count, kw_error *err) {
    size_t *which = calloc(count, sizeof *which);
    if (!which || !KW_ARRAY_RESERVE(e->slices, e->slice_capacity, e->slice_count + 1)) {
        free(which);
        return kw_fail_memory(err, "slices");
    }
    kw_slice *slice = &e->slices[e->slice_count];
    *slice = (kw_slice){.slicing = slicing};
    snprintf(slice->key, sizeof slice->key, "%s", members[0].key);
    for (size_t i = 0; i < count; i++) {
        which[i] = members[i].evaluation_of_group;
    }
    kw_status status = kw_evaluation_metrics_compute(&slice->metrics, e->group_evaluations, which, count, err);
    e->slice_count += !status;
    free(which);
    return status;
}

static kw_status slice_evaluation_by(kw_evaluation *e, kw_slicing slicing, member *members, kw_error *err) {
    kw_status status = KW_OK;
    for (size_t i = 0; i < e->count; i++) {
        members[i] = (member){slice_key(e, &e->group_evaluations[i], slicing), i};
    }
    qsort(members, e->count, sizeof *members, by_slice_key);
    for (size_t i = 0; i < e->count && !status;) {
        size_t end = i + 1;
        while (end < e->count && !strcmp(members[end].key, members[i].key)) {
            end++;
        }
        if (*members[i].key) {
            status = add_slice(e, slicing, members + i, end - i, err);
        }
        i = end;
    }
    return status;
}

static kw_status slice_evaluation(kw_evaluation *e, kw_error *err) {
    member *members = calloc(e->count + 1, sizeof *members);
    size_t *which = calloc(e->count + 1, sizeof *which);
    kw_status status = members && which ? KW_OK : kw_fail_memory(err, "slices");
    for (size_t i = 0; i < e->count && !status; i++) {
        which[i] = i;
    }
    status = status ? status : kw_evaluation_metrics_compute(&e->all, e->group_evaluations, which, e->count, err);
    for (int slicing = 0; slicing < KW_SLICINGS && !status; slicing++) {
        status = slice_evaluation_by(e, (kw_slicing)slicing, members, err);
    }
    free(members);
    free(which);
    return status;
}

/* --- reading ---------------------------------------------------------------------------------------------------------- */

static kw_status read_evaluation_rows(kw_evaluation *e, const kw_evaluation_options *o, kw_error *err) {
    kw_holdout holdout = {0};
    kw_status status = kw_holdout_read(&holdout, o->holdout, o->holdout_count, err);
    kw_dataset_filter filter = {.ck = true,
                                .by_op = o->by_op,
                                .by_dtype = o->by_dtype,
                                .op = o->op,
                                .dtype = o->dtype,
                                .holdout = holdout.problems,
                                .holdout_count = holdout.count};
    status = status ? status : kw_dataset_open(&e->dataset, o->stores, o->store_count, &filter, err);
    kw_holdout_drop(&holdout);
    return status;
}

static kw_status add_pool(kw_evaluation *e, const kw_evaluation_options *o, kw_error *err) {
    kw_catalog candidates = {0};
    kw_status status = o->candidates ? kw_dataset_candidates_read(&candidates, o->candidates, err) : KW_OK;
    if (!status && o->candidates) {
        status = kw_dataset_candidates_add(&e->dataset, &candidates, &e->untried, err);
    }
    kw_catalog_drop(&candidates);
    return status;
}

/* The folder that knows what a scorer was trained on. Held-out predictions saw nothing that they speak of. */
static kw_status read_trained(kw_evaluation *e, const kw_evaluation_options *o, kw_error *err) {
    if (!kw_scorer_is_model(o->by)) {
        return KW_OK;
    }
    kw_status status = kw_trained_on_read(&e->trained, o->by, err);
    if (!status && !e->trained.known) {
        log_evaluation_remark(
            o, "the model does not say what it was trained on (no trained_on.txt.gz): these figures may be of its own training data");
    }
    return status;
}

/* keep[c]: whether problem group c may be evaluated. */
static void choose_groups(kw_evaluation *e, const kw_evaluation_options *o, bool *keep) {
    for (size_t c = 0; c < e->dataset.problem_group_count; c++) {
        const kw_problem_group *problem_group = &e->dataset.problem_groups[c];
        bool seen = e->trained.known && kw_trained_on_has(&e->trained, problem_group, KW_BY_SHAPE);
        bool outside = o->holdout_count && !problem_group->holdout;
        keep[c] = !outside && (!seen || o->in_sample);
        e->outside_holdout += outside;
        e->in_sample += !outside && seen && !o->in_sample;
        e->unpredicted += keep[c] && !e->scores.served[c];
        e->unsolved += keep[c] && e->scores.served[c] && !(e->oracles[c].oracle_ns > 0);
    }
}

static kw_status refuse_nothing(const kw_evaluation *e, const kw_evaluation_options *o, kw_error *err) {
    if (e->count) {
        return KW_OK;
    }
    if (e->in_sample) {
        return kw_fail(err, KW_FAILED,
                       "all %zu problem groups are of shapes that %.200s was trained on; evaluate its held-out predictions (oof.csv.gz), "
                       "other rows, or "
                       "say so (--in-sample)",
                       e->in_sample, o->by);
    }
    return kw_fail(err, KW_FAILED,
                   "no problem group can be evaluated: of %zu, %zu are in no holdout list, of %zu nothing is predicted, %zu have no good "
                   "kernel; %lld rows "
                   "are of kernels or problems not known here",
                   e->dataset.problem_group_count, e->outside_holdout, e->unpredicted, e->unsolved, (long long)e->dataset.foreign);
}

/* Of the problem groups that are evaluated. Rates of CK Tile's rows count as published, with products of the padding. */
static kw_status compare_rates(kw_evaluation *e, kw_error *err) {
    int32_t *fold = calloc(e->dataset.problem_group_count + 1, sizeof *fold);
    if (!fold) {
        return kw_fail_memory(err, "the rates");
    }
    for (size_t i = 0; i < e->count; i++) {
        fold[e->group_evaluations[i].problem_group] = 1;
    }
    e->dataset.published = e->dataset.ck == e->dataset.pair_count;
    for (int rate = 0; rate < KW_RATES && e->scores.kind != KW_SCORES_UNTIMED; rate++) {
        kw_rate_errors_compute(&e->rates[rate], &e->dataset, e->scores.ns, (kw_rate)rate, fold, 1);
    }
    free(fold);
    return KW_OK;
}

static kw_status evaluate_groups(kw_evaluation *e, const kw_evaluation_options *o, kw_error *err) {
    kw_scorer scorer = {.by = o->by, .folds = o->folds, .seed = o->seed};
    bool *keep = calloc(e->dataset.problem_group_count + 1, sizeof *keep);
    kw_status status = keep ? kw_group_oracles_create(&e->oracles, &e->dataset, err) : kw_fail_memory(err, "evaluating");
    status = status ? status : kw_scores_make(&e->scores, &e->dataset, e->oracles, &scorer, err);
    status = status ? status : read_trained(e, o, err);
    if (!status) {
        choose_groups(e, o, keep);
        status = kw_group_evaluations_create(&e->group_evaluations, &e->count, &e->dataset, e->oracles, &e->scores, keep, err);
    }
    free(keep);
    status = status ? status : refuse_nothing(e, o, err);
    status = status ? status : compare_rates(e, err);
    return status ? status : slice_evaluation(e, err);
}

kw_status kw_evaluation_open(kw_evaluation **evaluation, const kw_evaluation_options *options, kw_error *err) {
    if (!evaluation || !options || !options->stores) {
        return kw_fail(err, KW_ILLEGAL, "kw_evaluation_open: %s is NULL", evaluation ? "options or its stores" : "evaluation");
    }
    *evaluation = NULL;
    kw_evaluation_options own;
    kw_status status = KW_SIZED_READ(&own, kw_evaluation_options, user, options, err);
    if (status) {
        return status;
    }
    options = &own;
    kw_evaluation *e = calloc(1, sizeof *e);
    if (!e) {
        return kw_fail_memory(err, "an evaluation");
    }
    snprintf(e->by, sizeof e->by, "%s", options->by ? options->by : "estimate");
    status = read_evaluation_rows(e, options, err);
    status = status ? status : add_pool(e, options, err);
    status = status ? status : evaluate_groups(e, options, err);
    if (status) {
        kw_evaluation_close(&e);
    }
    *evaluation = e;
    return status;
}

void kw_evaluation_close(kw_evaluation **evaluation) {
    kw_evaluation *e = *evaluation;
    if (e) {
        kw_dataset_close(&e->dataset);
        kw_scores_drop(&e->scores);
        kw_trained_on_drop(&e->trained);
        free(e->oracles);
        free(e->group_evaluations);
        free(e->slices);
        free(e);
        *evaluation = NULL;
    }
}

const kw_evaluation_metrics *kw_evaluation_all(const kw_evaluation *evaluation) {
    return &evaluation->all;
}

const kw_rate_errors *kw_evaluation_rates(const kw_evaluation *evaluation) {
    return evaluation->rates;
}
