/* evaluate.c: kw_evaluation: reads, leaves out what must not be judged, lets the scorer say its times, judges and slices. */
#include "evaluate/evaluate.h"

#include "problem/dims.h"
#include "learn/data/unmeasured.h"
#include "learn/data/holdout.h"

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

const char *kw_contest_timing(const kw_contest *contest) {
    static const char *const names[] = {"hot fresh weights", "hot", "cold fresh weights", "cold"};
    return names[(contest->cold ? 2 : 0) + (contest->packed ? 1 : 0)];
}

static void remark(const kw_evaluation_options *o, const char *line) {
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

static const char *key_of(const kw_evaluation *e, const kw_judgement *j, kw_slicing slicing) {
    const kw_contest *contest = &e->dataset.contests[j->contest];
    switch (slicing) {
    case KW_SLICE_OP:
        return kw_op_name(contest->problem.op);
    case KW_SLICE_DTYPE:
        return kw_dtype_name(contest->problem.dtype);
    case KW_SLICE_LAYOUT:
        return kw_layout_name(contest->problem.layout, contest->problem.ndim);
    case KW_SLICE_TIMING:
        return kw_contest_timing(contest);
    case KW_SLICE_ARCH:
        return contest->target.arch;
    case KW_SLICE_SIZE:
        return size_of(&contest->problem);
    case KW_SLICE_WINNER:
        return e->dataset.pairs[j->best].config.family->name;
    case KW_SLICE_TRAINED:
        return !e->trained.known ? "" : kw_trained_on_has(&e->trained, contest, KW_BY_FAMILY) ? "family trained on" : "family left out";
    default:
        return contest->bucket;
    }
}

typedef struct member {
    const char *key;
    size_t judgement;
} member;

static int by_key(const void *left, const void *right) {
    const member *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    return order ? order : (a->judgement > b->judgement) - (a->judgement < b->judgement);
}

static kw_status add_slice(kw_evaluation *e, kw_slicing slicing, const member *members, size_t count, kw_error *err) {
    size_t *which = calloc(count, sizeof *which);
    kw_slice *moved = realloc(e->slices, (e->slice_count + 1) * sizeof *moved);
    if (moved) {
        e->slices = moved;
    }
    if (!which || !moved) {
        free(which);
        return kw_fail_memory(err, "slices");
    }
    kw_slice *slice = &e->slices[e->slice_count];
    *slice = (kw_slice){.slicing = slicing};
    snprintf(slice->key, sizeof slice->key, "%s", members[0].key);
    for (size_t i = 0; i < count; i++) {
        which[i] = members[i].judgement;
    }
    kw_status status = kw_evaluation_figures_make(&slice->figures, e->judgements, which, count, err);
    e->slice_count += !status;
    free(which);
    return status;
}

static kw_status slice_by(kw_evaluation *e, kw_slicing slicing, member *members, kw_error *err) {
    kw_status status = KW_OK;
    for (size_t i = 0; i < e->count; i++) {
        members[i] = (member){key_of(e, &e->judgements[i], slicing), i};
    }
    qsort(members, e->count, sizeof *members, by_key);
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

static kw_status slice_all(kw_evaluation *e, kw_error *err) {
    member *members = calloc(e->count + 1, sizeof *members);
    size_t *which = calloc(e->count + 1, sizeof *which);
    kw_status status = members && which ? KW_OK : kw_fail_memory(err, "slices");
    for (size_t i = 0; i < e->count && !status; i++) {
        which[i] = i;
    }
    status = status ? status : kw_evaluation_figures_make(&e->all, e->judgements, which, e->count, err);
    for (int slicing = 0; slicing < KW_SLICINGS && !status; slicing++) {
        status = slice_by(e, (kw_slicing)slicing, members, err);
    }
    free(members);
    free(which);
    return status;
}

/* --- reading ---------------------------------------------------------------------------------------------------------- */

static kw_status read_rows(kw_evaluation *e, const kw_evaluation_options *o, kw_error *err) {
    kw_sealed sealed = {0};
    kw_status status = kw_sealed_read(&sealed, o->sealed, o->sealed_count, err);
    kw_dataset_filter filter = {.by_op = o->by_op,
                                .by_dtype = o->by_dtype,
                                .op = o->op,
                                .dtype = o->dtype,
                                .sealed = sealed.problems,
                                .sealed_count = sealed.count};
    status = status ? status : kw_dataset_open(&e->dataset, o->stores, o->store_count, &filter, err);
    kw_sealed_drop(&sealed);
    return status;
}

static kw_status add_pool(kw_evaluation *e, const kw_evaluation_options *o, kw_error *err) {
    kw_catalog pool = {0};
    kw_status status = o->pool ? kw_pool_read(&pool, o->pool, err) : KW_OK;
    if (!status && o->pool) {
        status = kw_pool_complete(&e->dataset, &pool, &e->untried, err);
    }
    kw_catalog_drop(&pool);
    return status;
}

/* The folder that knows what a scorer was trained on. Held-out predictions saw nothing that they speak of. */
static kw_status read_trained(kw_evaluation *e, const kw_evaluation_options *o, kw_error *err) {
    if (!kw_scorer_is_model(o->by)) {
        return KW_OK;
    }
    kw_status status = kw_trained_on_read(&e->trained, o->by, err);
    if (!status && !e->trained.known) {
        remark(o, "the model does not say what it was trained on (no trained_on.txt.gz): these figures may be of its own training data");
    }
    return status;
}

/* keep[c]: whether contest c may be judged. */
static void choose_contests(kw_evaluation *e, const kw_evaluation_options *o, bool *keep) {
    for (size_t c = 0; c < e->dataset.contest_count; c++) {
        const kw_contest *contest = &e->dataset.contests[c];
        bool seen = e->trained.known && kw_trained_on_has(&e->trained, contest, KW_BY_SHAPE);
        bool outside = o->sealed_count && !contest->sealed;
        keep[c] = !outside && (!seen || o->in_sample);
        e->unsealed += outside;
        e->in_sample += !outside && seen && !o->in_sample;
        e->unserved += keep[c] && !e->scores.served[c];
        e->hopeless += keep[c] && e->scores.served[c] && !(e->marks[c].oracle_ns > 0);
    }
}

static kw_status refuse_nothing(const kw_evaluation *e, const kw_evaluation_options *o, kw_error *err) {
    if (e->count) {
        return KW_OK;
    }
    if (e->in_sample) {
        return kw_fail(
            err, KW_FAILED,
            "all %zu contests are of shapes that %.200s was trained on; judge its held-out predictions (oof.csv.gz), other rows, or "
            "say so (--in-sample)",
            e->in_sample, o->by);
    }
    return kw_fail(
        err, KW_FAILED,
        "no contest can be judged: of %zu, %zu are in no sealed list, of %zu nothing is predicted, %zu have no good kernel; %lld rows "
        "are of kernels or problems not known here",
        e->dataset.contest_count, e->unsealed, e->unserved, e->hopeless, (long long)e->dataset.foreign);
}

static kw_status judge(kw_evaluation *e, const kw_evaluation_options *o, kw_error *err) {
    kw_scorer scorer = {.by = o->by, .folds = o->folds, .seed = o->seed};
    bool *keep = calloc(e->dataset.contest_count + 1, sizeof *keep);
    kw_status status = keep ? kw_marks_make(&e->marks, &e->dataset, err) : kw_fail_memory(err, "judging");
    status = status ? status : kw_scores_make(&e->scores, &e->dataset, e->marks, &scorer, err);
    status = status ? status : read_trained(e, o, err);
    if (!status) {
        choose_contests(e, o, keep);
        status = kw_judgements_make(&e->judgements, &e->count, &e->dataset, e->marks, &e->scores, keep, err);
    }
    free(keep);
    status = status ? status : refuse_nothing(e, o, err);
    return status ? status : slice_all(e, err);
}

kw_status kw_evaluation_open(kw_evaluation **evaluation, const kw_evaluation_options *options, kw_error *err) {
    if (!evaluation || !options || !options->stores) {
        return kw_fail(err, KW_ILLEGAL, "kw_evaluation_open: %s is NULL", evaluation ? "options or its stores" : "evaluation");
    }
    *evaluation = NULL;
    kw_evaluation *e = calloc(1, sizeof *e);
    if (!e) {
        return kw_fail_memory(err, "an evaluation");
    }
    snprintf(e->by, sizeof e->by, "%s", options->by ? options->by : "estimate");
    kw_status status = read_rows(e, options, err);
    status = status ? status : add_pool(e, options, err);
    status = status ? status : judge(e, options, err);
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
        free(e->marks);
        free(e->judgements);
        free(e->slices);
        free(e);
        *evaluation = NULL;
    }
}

const kw_evaluation_figures *kw_evaluation_all(const kw_evaluation *evaluation) {
    return &evaluation->all;
}
