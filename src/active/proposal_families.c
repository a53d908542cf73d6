/* proposal_families.c: rows into families and their regrets. Of a model's folder each contest is judged by whoever has not seen its
 * shape: held-out predictions where it was trained on, else the model. */
#include "active/proposal.h"

#include "base/hash.h"
#include "space/problems/family_key.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };
static const double prior_shapes = 2; /* an unknown family counts as if so many shapes of it had lost what is lost on average */

static void key_of(char key[64], const kw_problem *problem) {
    kw_line line = {.data = key, .capacity = 64};
    kw_family_key(&line, problem);
}

/* --- who predicts ----------------------------------------------------------------------------------------------------- */

/* Takes what a has to say of the contests that it is asked for and does say something of. */
static void take_over(kw_scores *scores, const kw_scores *a, const kw_dataset *dataset, const kw_trained_on *trained) {
    for (size_t c = 0; c < dataset->contest_count; c++) {
        const kw_contest *contest = &dataset->contests[c];
        bool seen = !trained->known || kw_trained_on_has(trained, contest, KW_BY_SHAPE);
        if (a->served[c] && seen) {
            memcpy(scores->ns + contest->first, a->ns + contest->first, contest->count * sizeof *scores->ns);
        }
        scores->served[c] = seen ? a->served[c] : scores->served[c];
    }
}

static kw_status score(kw_scores *scores, const kw_proposal *p, const kw_mark *marks, kw_error *err) {
    const kw_proposal_options *o = &p->options;
    char held_out[PATH_SIZE];
    kw_trained_on trained = {0};
    kw_scores other = {0};
    kw_scorer scorer = {.by = o->by, .folds = o->folds, .seed = o->seed};
    kw_status status = kw_scores_make(scores, &p->dataset, marks, &scorer, err);
    if (status || !kw_scorer_is_model(o->by)) {
        return status;
    }
    snprintf(held_out, sizeof held_out, "%s/oof.csv.gz", o->by);
    if (access(held_out, F_OK)) {
        return kw_fail(err, KW_MISSING, "%.300s has no oof.csv.gz, so nothing tells its errors; train it anew with folds", o->by);
    }
    scorer.by = held_out;
    status = kw_trained_on_read(&trained, o->by, err);
    status = status ? status : kw_scores_make(&other, &p->dataset, marks, &scorer, err);
    if (!status) {
        take_over(scores, &other, &p->dataset, &trained);
    }
    kw_scores_drop(&other);
    kw_trained_on_drop(&trained);
    return status;
}

/* --- what counts ------------------------------------------------------------------------------------------------------ */

static bool counts(const kw_proposal *p, const kw_contest *contest) {
    char text[KW_TARGET_TEXT_MAX];
    kw_target_print(text, sizeof text, &contest->target);
    return contest->packed == !p->options.fresh_weights && contest->cold == p->options.cold && !contest->sealed &&
           !strcmp(text, p->target_text);
}

static bool is_asked(const kw_proposal_options *o, const kw_problem *problem) {
    return (!o->by_op || problem->op == o->op) && (!o->by_dtype || problem->dtype == o->dtype);
}

static int by_key(const void *left, const void *right) {
    const kw_family_need *a = left, *b = right;
    return strcmp(a->facts.key, b->facts.key);
}

/* The families of all contests that count and of the lists, each once. */
static kw_status list_families(kw_proposal *p, kw_error *err) {
    const kw_proposal_options *o = &p->options;
    size_t count = 0, kept = 0;
    p->needs = calloc(p->dataset.contest_count + o->problem_count + 1, sizeof *p->needs);
    if (!p->needs) {
        return kw_fail_memory(err, "the families of problems");
    }
    for (size_t c = 0; c < p->dataset.contest_count; c++) {
        if (counts(p, &p->dataset.contests[c])) {
            memcpy(p->needs[count++].facts.key, p->dataset.contests[c].bucket, sizeof p->needs->facts.key);
        }
    }
    for (size_t i = 0; i < o->problem_count; i++) {
        if (is_asked(o, &o->problems[i])) {
            key_of(p->needs[count++].facts.key, &o->problems[i]);
        }
    }
    qsort(p->needs, count, sizeof *p->needs, by_key);
    for (size_t i = 0; i < count; i++) {
        if (!kept || by_key(&p->needs[kept - 1], &p->needs[i]) != 0) {
            p->needs[kept++] = p->needs[i];
        }
    }
    p->need_count = kept;
    return KW_OK;
}

size_t kw_proposal_family_of(const kw_proposal *p, const kw_problem *problem) {
    kw_family_need wanted = {0};
    key_of(wanted.facts.key, problem);
    const kw_family_need *found = bsearch(&wanted, p->needs, p->need_count, sizeof wanted, by_key);
    return found ? (size_t)(found - p->needs) : SIZE_MAX;
}

/* By family, then shape. */
static int by_shape(const void *left, const void *right) {
    const kw_contest_loss *a = left, *b = right;
    int order = (a->family > b->family) - (a->family < b->family);
    order = order ? order : (a->shape > b->shape) - (a->shape < b->shape);
    return order ? order : (a->contest > b->contest) - (a->contest < b->contest);
}

static int by_loss(const void *left, const void *right) {
    const kw_contest_loss *a = left, *b = right;
    double x = isnan(a->loss) ? -1 : a->loss, y = isnan(b->loss) ? -1 : b->loss;
    int order = (a->family > b->family) - (a->family < b->family);
    order = order ? order : (x < y) - (x > y);
    return order ? order : (a->contest > b->contest) - (a->contest < b->contest);
}

/* A contest without a good kernel is neither judged nor waiting: nothing that is learned will change it. */
static kw_status list_losses(kw_proposal *p, const kw_judgement *judgements, size_t count, const kw_mark *marks, kw_error *err) {
    p->losses = calloc(p->dataset.contest_count + 1, sizeof *p->losses);
    if (!p->losses) {
        return kw_fail_memory(err, "the losses of contests");
    }
    for (size_t c = 0, j = 0; c < p->dataset.contest_count; c++) {
        const kw_contest *contest = &p->dataset.contests[c];
        size_t place;
        if (!counts(p, contest)) {
            continue;
        }
        if (!kw_distinct_add(&p->known, &contest->problem, &place)) {
            return kw_fail_memory(err, "the problems that have rows");
        }
        while (j < count && judgements[j].contest < c) {
            j++;
        }
        bool judged = j < count && judgements[j].contest == c;
        if (judged || marks[c].oracle_ns > 0) {
            p->losses[p->loss_count++] = (kw_contest_loss){.contest = c,
                                                           .family = kw_proposal_family_of(p, &contest->problem),
                                                           .shape = kw_fold_group(contest, KW_BY_SHAPE),
                                                           .loss = judged ? 1 - judgements[j].efficiency : NAN};
        }
    }
    return KW_OK;
}

/* Shapes are counted once; a shape of which some contest is judged does not wait. */
static void count_shapes(kw_proposal *p) {
    qsort(p->losses, p->loss_count, sizeof *p->losses, by_shape);
    for (size_t i = 0; i < p->loss_count;) {
        const kw_contest_loss *first = &p->losses[i];
        kw_family_need *need = &p->needs[first->family];
        bool judged = false;
        for (; i < p->loss_count && p->losses[i].family == first->family && p->losses[i].shape == first->shape; i++) {
            if (!isnan(p->losses[i].loss)) {
                judged = true;
                need->loss += p->losses[i].loss;
                need->facts.contests++;
            }
        }
        need->facts.shapes += judged;
        need->facts.waiting += !judged;
    }
    qsort(p->losses, p->loss_count, sizeof *p->losses, by_loss);
}

static void set_states(kw_proposal *p) {
    const double target = p->options.regret;
    kw_proposal_facts *facts = &p->facts;
    double lost = 0;
    *facts = (kw_proposal_facts){.regret = NAN, .family_count = p->need_count};
    for (size_t i = 0; i < p->need_count; i++) {
        facts->contests += p->needs[i].facts.contests;
        lost += p->needs[i].loss;
    }
    facts->regret = facts->contests ? lost / (double)facts->contests : NAN;
    double usual = fmax(2 * target, facts->contests ? facts->regret : 0);
    for (size_t i = 0; i < p->need_count; i++) {
        kw_family_need *need = &p->needs[i];
        double contests = (double)need->facts.contests;
        need->facts.regret = contests > 0 ? need->loss / contests : NAN;
        need->facts.state = need->facts.shapes < p->options.least ? KW_FAMILY_UNKNOWN
                            : need->facts.regret > target         ? KW_FAMILY_OVER
                                                                  : KW_FAMILY_MET;
        need->worth = need->facts.state == KW_FAMILY_UNKNOWN ? (need->loss + prior_shapes * usual) / (contests + prior_shapes)
                      : need->facts.state == KW_FAMILY_OVER  ? need->facts.regret
                                                             : 0;
        facts->count[need->facts.state]++;
    }
    facts->met = p->need_count && facts->count[KW_FAMILY_MET] == (int64_t)p->need_count;
}

/* --- all together ----------------------------------------------------------------------------------------------------- */

static kw_status read_rows(kw_proposal *p, kw_error *err) {
    const kw_proposal_options *o = &p->options;
    const char **paths = calloc(o->store_count + 2, sizeof *paths);
    size_t count = o->store_count;
    kw_dataset_filter filter = {.by_op = o->by_op,
                                .by_dtype = o->by_dtype,
                                .op = o->op,
                                .dtype = o->dtype,
                                .sealed = p->sealed.problems,
                                .sealed_count = p->sealed.count};
    if (!paths) {
        return kw_fail_memory(err, "the stores' names");
    }
    bool listed = false;
    for (size_t i = 0; i < count; i++) {
        paths[i] = o->stores[i];
        listed = listed || (p->out && !strcmp(p->out, paths[i]));
    }
    if (p->out && !listed && !access(p->out, F_OK)) {
        paths[count++] = p->out;
    }
    /* Without a row there is nothing to judge, and every family of the lists is unknown. */
    kw_status status = count ? kw_dataset_open(&p->dataset, paths, count, &filter, err) : KW_OK;
    free(paths);
    return status;
}

kw_status kw_proposal_judge(kw_proposal *p, kw_error *err) {
    kw_mark *marks = NULL;
    kw_scores scores = {0};
    kw_judgement *judgements = NULL;
    bool *keep = NULL;
    size_t count = 0;
    kw_status status = read_rows(p, err);
    status = status ? status : kw_marks_make(&marks, &p->dataset, err);
    status = status ? status : score(&scores, p, marks, err);
    if (!status) {
        keep = calloc(p->dataset.contest_count + 1, sizeof *keep);
        status = keep ? KW_OK : kw_fail_memory(err, "the contests that count");
    }
    for (size_t c = 0; c < p->dataset.contest_count && !status; c++) {
        keep[c] = counts(p, &p->dataset.contests[c]);
    }
    status = status ? status : kw_judgements_make(&judgements, &count, &p->dataset, marks, &scores, keep, err);
    status = status ? status : list_families(p, err);
    if (!status && !p->need_count) {
        status = kw_fail(err, KW_FAILED, "no row is of %.200s, timed %s with %s weights, and there is no problem list to begin with",
                         p->target_text, p->options.cold ? "cold" : "hot", p->options.fresh_weights ? "fresh" : "packed");
    }
    status = status ? status : list_losses(p, judgements, count, marks, err);
    if (!status) {
        count_shapes(p);
        set_states(p);
    }
    free(keep);
    free(judgements);
    free(marks);
    kw_scores_drop(&scores);
    return status;
}
