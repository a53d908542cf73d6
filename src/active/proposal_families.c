/* proposal_families.c: rows into families and their regrets. Of a model's folder each problem group is evaluated by whoever has not seen
 * its shape: held-out predictions where it was trained on, else the model. */
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

static void make_family_key(char key[64], const kw_problem *problem) {
    kw_line line = {.data = key, .capacity = 64};
    kw_family_key(&line, problem);
}

/* --- who predicts ----------------------------------------------------------------------------------------------------- */

/* Takes what a has to say of the problem groups that it is asked for and does say something of. */
static void merge_scores(kw_scores *scores, const kw_scores *a, const kw_dataset *dataset, const kw_trained_on *trained) {
    for (size_t c = 0; c < dataset->problem_group_count; c++) {
        const kw_problem_group *problem_group = &dataset->problem_groups[c];
        bool seen = !trained->known || kw_trained_on_has(trained, problem_group, KW_BY_SHAPE);
        if (a->served[c] && seen) {
            memcpy(scores->ns + problem_group->first, a->ns + problem_group->first, problem_group->count * sizeof *scores->ns);
        }
        scores->served[c] = seen ? a->served[c] : scores->served[c];
    }
}

static kw_status score_groups(kw_scores *scores, const kw_proposal *p, const kw_group_oracle *oracles, kw_error *err) {
    const kw_proposal_options *o = &p->options;
    char held_out[PATH_SIZE];
    kw_trained_on trained = {0};
    kw_scores other = {0};
    kw_scorer scorer = {.by = o->by, .folds = o->folds, .seed = o->seed};
    kw_status status = kw_scores_make(scores, &p->dataset, oracles, &scorer, err);
    if (status || !kw_scorer_is_model(o->by)) {
        return status;
    }
    snprintf(held_out, sizeof held_out, "%s/oof.csv.gz", o->by);
    if (access(held_out, F_OK)) {
        return kw_fail(err, KW_MISSING, "%.300s has no oof.csv.gz, so nothing tells its errors; train it anew with folds", o->by);
    }
    scorer.by = held_out;
    status = kw_trained_on_read(&trained, o->by, err);
    status = status ? status : kw_scores_make(&other, &p->dataset, oracles, &scorer, err);
    if (!status) {
        merge_scores(scores, &other, &p->dataset, &trained);
    }
    kw_scores_drop(&other);
    kw_trained_on_drop(&trained);
    return status;
}

/* --- what counts ------------------------------------------------------------------------------------------------------ */

static bool is_counted_group(const kw_proposal *p, const kw_problem_group *problem_group) {
    char text[KW_TARGET_TEXT_MAX];
    kw_target_print(text, sizeof text, &problem_group->target);
    return problem_group->packed == !p->options.fresh_weights && problem_group->cold == p->options.cold && !problem_group->holdout &&
           !strcmp(text, p->target_text);
}

static bool is_problem_asked(const kw_proposal_options *o, const kw_problem *problem) {
    return (!o->by_op || problem->op == o->op) && (!o->by_dtype || problem->dtype == o->dtype);
}

static int by_family_key(const void *left, const void *right) {
    const kw_family_need *a = left, *b = right;
    return strcmp(a->facts.key, b->facts.key);
}

/* The families of all problem groups that count and of the lists, each once. */
static kw_status list_family_needs(kw_proposal *p, kw_error *err) {
    const kw_proposal_options *o = &p->options;
    size_t count = 0, kept = 0;
    p->needs = calloc(p->dataset.problem_group_count + o->problem_count + 1, sizeof *p->needs);
    if (!p->needs) {
        return kw_fail_memory(err, "the families of problems");
    }
    for (size_t c = 0; c < p->dataset.problem_group_count; c++) {
        if (is_counted_group(p, &p->dataset.problem_groups[c])) {
            memcpy(p->needs[count++].facts.key, p->dataset.problem_groups[c].bucket, sizeof p->needs->facts.key);
        }
    }
    for (size_t i = 0; i < o->problem_count; i++) {
        if (is_problem_asked(o, &o->problems[i])) {
            make_family_key(p->needs[count++].facts.key, &o->problems[i]);
        }
    }
    qsort(p->needs, count, sizeof *p->needs, by_family_key);
    for (size_t i = 0; i < count; i++) {
        if (!kept || by_family_key(&p->needs[kept - 1], &p->needs[i]) != 0) {
            p->needs[kept++] = p->needs[i];
        }
    }
    p->need_count = kept;
    return KW_OK;
}

size_t kw_proposal_family_of(const kw_proposal *p, const kw_problem *problem) {
    kw_family_need wanted = {0};
    make_family_key(wanted.facts.key, problem);
    const kw_family_need *found = bsearch(&wanted, p->needs, p->need_count, sizeof wanted, by_family_key);
    return found ? (size_t)(found - p->needs) : SIZE_MAX;
}

/* By family, then shape. */
static int by_shape(const void *left, const void *right) {
    const kw_problem_group_loss *a = left, *b = right;
    int order = (a->family > b->family) - (a->family < b->family);
    order = order ? order : (a->shape > b->shape) - (a->shape < b->shape);
    return order ? order : (a->problem_group > b->problem_group) - (a->problem_group < b->problem_group);
}

static int by_group_loss(const void *left, const void *right) {
    const kw_problem_group_loss *a = left, *b = right;
    double x = isnan(a->loss) ? -1 : a->loss, y = isnan(b->loss) ? -1 : b->loss;
    int order = (a->family > b->family) - (a->family < b->family);
    order = order ? order : (x < y) - (x > y);
    return order ? order : (a->problem_group > b->problem_group) - (a->problem_group < b->problem_group);
}

/* A problem group without a good kernel is neither evaluated nor counted as untrained: nothing that is learned will change it. */
static kw_status list_group_losses(kw_proposal *p, const kw_group_evaluation *group_evaluations, size_t count,
                                   const kw_group_oracle *oracles, kw_error *err) {
    p->losses = calloc(p->dataset.problem_group_count + 1, sizeof *p->losses);
    if (!p->losses) {
        return kw_fail_memory(err, "the losses of problem groups");
    }
    for (size_t c = 0, j = 0; c < p->dataset.problem_group_count; c++) {
        const kw_problem_group *problem_group = &p->dataset.problem_groups[c];
        size_t place;
        if (!is_counted_group(p, problem_group)) {
            continue;
        }
        if (!kw_distinct_add(&p->known, &problem_group->problem, &place)) {
            return kw_fail_memory(err, "the problems that have rows");
        }
        while (j < count && group_evaluations[j].problem_group < c) {
            j++;
        }
        bool evaluated = j < count && group_evaluations[j].problem_group == c;
        if (evaluated || oracles[c].oracle_ns > 0) {
            p->losses[p->loss_count++] = (kw_problem_group_loss){.problem_group = c,
                                                                 .family = kw_proposal_family_of(p, &problem_group->problem),
                                                                 .shape = kw_fold_group(problem_group, KW_BY_SHAPE),
                                                                 .loss = evaluated ? 1 - group_evaluations[j].efficiency : NAN};
        }
    }
    return KW_OK;
}

/* Shapes are counted once; a shape of which some problem group is evaluated does not wait. */
static void count_shapes(kw_proposal *p) {
    qsort(p->losses, p->loss_count, sizeof *p->losses, by_shape);
    for (size_t i = 0; i < p->loss_count;) {
        const kw_problem_group_loss *first = &p->losses[i];
        kw_family_need *need = &p->needs[first->family];
        bool evaluated = false;
        for (; i < p->loss_count && p->losses[i].family == first->family && p->losses[i].shape == first->shape; i++) {
            if (!isnan(p->losses[i].loss)) {
                evaluated = true;
                need->loss += p->losses[i].loss;
                need->facts.problem_groups++;
            }
        }
        need->facts.shapes += evaluated;
        need->facts.untrained += !evaluated;
    }
    qsort(p->losses, p->loss_count, sizeof *p->losses, by_group_loss);
}

static void set_states(kw_proposal *p) {
    const double target = p->options.regret;
    kw_proposal_facts *facts = &p->facts;
    double lost = 0;
    *facts = (kw_proposal_facts){.regret = NAN, .family_count = p->need_count};
    for (size_t i = 0; i < p->need_count; i++) {
        facts->problem_groups += p->needs[i].facts.problem_groups;
        lost += p->needs[i].loss;
    }
    facts->regret = facts->problem_groups ? lost / (double)facts->problem_groups : NAN;
    double usual = fmax(2 * target, facts->problem_groups ? facts->regret : 0);
    for (size_t i = 0; i < p->need_count; i++) {
        kw_family_need *need = &p->needs[i];
        double problem_groups = (double)need->facts.problem_groups;
        need->facts.regret = problem_groups > 0 ? need->loss / problem_groups : NAN;
        need->facts.state = need->facts.shapes < p->options.least ? KW_FAMILY_UNKNOWN
                            : need->facts.regret > target         ? KW_FAMILY_ABOVE
                                                                  : KW_FAMILY_WITHIN;
        need->priority = need->facts.state == KW_FAMILY_UNKNOWN ? (need->loss + prior_shapes * usual) / (problem_groups + prior_shapes)
                         : need->facts.state == KW_FAMILY_ABOVE ? need->facts.regret
                                                                : 0;
        facts->count[need->facts.state]++;
    }
    facts->met = p->need_count && facts->count[KW_FAMILY_WITHIN] == (int64_t)p->need_count;
}

/* --- all together ----------------------------------------------------------------------------------------------------- */

static kw_status read_proposal_rows(kw_proposal *p, kw_error *err) {
    const kw_proposal_options *o = &p->options;
    const char **paths = calloc(o->store_count + 2, sizeof *paths);
    size_t count = o->store_count;
    kw_dataset_filter filter = {.by_op = o->by_op,
                                .by_dtype = o->by_dtype,
                                .op = o->op,
                                .dtype = o->dtype,
                                .holdout = p->holdout.problems,
                                .holdout_count = p->holdout.count};
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
    /* Without a row there is nothing to evaluate, and every family of the lists is unknown. */
    kw_status status = count ? kw_dataset_open(&p->dataset, paths, count, &filter, err) : KW_OK;
    free(paths);
    return status;
}

kw_status kw_proposal_evaluate(kw_proposal *p, kw_error *err) {
    kw_group_oracle *oracles = NULL;
    kw_scores scores = {0};
    kw_group_evaluation *group_evaluations = NULL;
    bool *keep = NULL;
    size_t count = 0;
    kw_status status = read_proposal_rows(p, err);
    status = status ? status : kw_group_oracles_create(&oracles, &p->dataset, err);
    status = status ? status : score_groups(&scores, p, oracles, err);
    if (!status) {
        keep = calloc(p->dataset.problem_group_count + 1, sizeof *keep);
        status = keep ? KW_OK : kw_fail_memory(err, "the problem groups that count");
    }
    for (size_t c = 0; c < p->dataset.problem_group_count && !status; c++) {
        keep[c] = is_counted_group(p, &p->dataset.problem_groups[c]);
    }
    status = status ? status : kw_group_evaluations_create(&group_evaluations, &count, &p->dataset, oracles, &scores, keep, err);
    status = status ? status : list_family_needs(p, err);
    if (!status && !p->need_count) {
        status = kw_fail(err, KW_FAILED, "no row is of %.200s, timed %s with %s weights, and there is no problem list to begin with",
                         p->target_text, p->options.cold ? "cold" : "hot", p->options.fresh_weights ? "fresh" : "packed");
    }
    status = status ? status : list_group_losses(p, group_evaluations, count, oracles, err);
    if (!status) {
        count_shapes(p);
        set_states(p);
    }
    free(keep);
    free(group_evaluations);
    free(oracles);
    kw_scores_drop(&scores);
    return status;
}
