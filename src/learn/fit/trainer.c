/* trainer.c: parts of the data set, models of them, and what these say of the rest. */
#include "learn/fit/trainer.h"

#include "learn/model/forest_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a contest is to a model. */
typedef enum role { LEFT_OUT = 0, TRAINS, JUDGES } role;

/* --- parts -------------------------------------------------------------------------------------------------------- */

typedef struct part {
    int32_t *row, *group;
    float *label, *weight;
    double *start;
    kw_gbm_part view;
} part;

static void drop_part(part *p) {
    free(p->row);
    free(p->group);
    free(p->label);
    free(p->weight);
    free(p->start);
    *p = (part){0};
}

typedef struct labelled {
    float *label, *weight; /* of all pairs */
    const double *start;   /* likewise; NULL: none */
    bool grouped;
} labelled;

/* The rows that have labels of the contests with a role. */
static kw_status take_part(part *p, const kw_trainer *t, const labelled *all, const role *roles, role wanted, kw_error *err) {
    size_t pairs = t->dataset->pair_count + 1, contests = t->dataset->contest_count + 1, count = 0, groups = 0;
    *p = (part){.row = calloc(pairs, sizeof *p->row),
                .group = calloc(contests, sizeof *p->group),
                .label = calloc(pairs, sizeof *p->label),
                .weight = calloc(pairs, sizeof *p->weight),
                .start = calloc(pairs, sizeof *p->start)};
    if (!p->row || !p->group || !p->label || !p->weight || !p->start) {
        drop_part(p);
        return kw_fail_memory(err, "a part of the rows");
    }
    for (size_t c = 0; c < t->dataset->contest_count; c++) {
        const kw_contest *contest = &t->dataset->contests[c];
        if (roles[c] != wanted || !(t->marks[c].oracle_ns > 0)) {
            continue;
        }
        for (size_t i = contest->first; i < contest->first + contest->count; i++, count++) {
            p->row[count] = (int32_t)i;
            p->label[count] = all->label[i];
            p->weight[count] = all->weight[i];
            p->start[count] = all->start ? all->start[i] : 0;
        }
        p->group[groups++] = (int32_t)contest->count;
    }
    p->view = (kw_gbm_part){.row = p->row,
                            .label = p->label,
                            .weight = p->weight,
                            .start = all->start ? p->start : NULL,
                            .count = count,
                            .group = all->grouped ? p->group : NULL,
                            .group_count = all->grouped ? groups : 0};
    return KW_OK;
}

static kw_status make_labels(labelled *all, const kw_trainer *t, const kw_recipe *recipe, kw_error *err) {
    const kw_dataset *dataset = t->dataset;
    *all = (labelled){.label = calloc(dataset->pair_count + 1, sizeof *all->label),
                      .weight = calloc(dataset->pair_count + 1, sizeof *all->weight),
                      .grouped = recipe->quantity == KW_PREDICTS_RANK};
    if (!all->label || !all->weight) {
        return kw_fail_memory(err, "the labels");
    }
    kw_labels_make(all->label, dataset, t->times, recipe->quantity);
    for (size_t c = 0; c < dataset->contest_count; c++) {
        for (size_t i = dataset->contests[c].first; i < dataset->contests[c].first + dataset->contests[c].count; i++) {
            all->weight[i] = recipe->emphasis ? (float)recipe->emphasis[c] : 1;
        }
    }
    return KW_OK;
}

static void drop_labels(labelled *all) {
    free(all->label);
    free(all->weight);
}

/* Trains on the contests with role TRAINS; those with JUDGES, if any, end it. */
static kw_status train(char **text, int32_t *trees, const kw_trainer *t, const kw_recipe *recipe, const labelled *all, const role *roles,
                       const char *before, kw_error *err) {
    part learn = {0}, judge = {0};
    char *parameters = kw_recipe_text(recipe, t->features, t->kind);
    kw_status status = parameters ? KW_OK : kw_fail_memory(err, "the parameters");
    status = status ? status : take_part(&learn, t, all, roles, TRAINS, err);
    status = status ? status : take_part(&judge, t, all, roles, JUDGES, err);
    if (!status && !learn.view.count) {
        status = kw_fail(err, KW_FAILED, "no row is left to train on: no contest has a good kernel");
    }
    if (!status) {
        kw_gbm_job job = {.parameters = parameters,
                          .train = &learn.view,
                          .judge = judge.view.count ? &judge.view : NULL,
                          .trees = recipe->trees,
                          .patience = recipe->patience,
                          .more_is_better = recipe->quantity == KW_PREDICTS_RANK,
                          .before = before,
                          .stop = t->stop};
        status = kw_gbm_train(text, trees, t->table, &job, err);
    }
    drop_part(&learn);
    drop_part(&judge);
    free(parameters);
    return status;
}

/* --- held out ----------------------------------------------------------------------------------------------------- */

/* What a model says of the contests that it was not trained on. */
static kw_status score_rest(double *ns, const kw_trainer *t, const char *text, kw_model_quantity quantity, const role *roles,
                            kw_error *err) {
    kw_forest *forest = NULL;
    kw_text slim = {0};
    kw_status status = kw_forest_text_slim(&slim, text, INT64_MAX, err);
    status = status ? status : kw_forest_parse(&forest, "the model", slim.data, slim.size, err);
    kw_text_drop(&slim);
    size_t columns = t->features->count;
    for (size_t c = 0; c < t->dataset->contest_count && !status; c++) {
        const kw_contest *contest = &t->dataset->contests[c];
        if (roles[c] != LEFT_OUT) {
            continue;
        }
        double flops = (double)kw_problem_flops(&contest->problem);
        kw_forest_score(forest, t->rows + contest->first * columns, contest->count, ns + contest->first);
        for (size_t i = contest->first; i < contest->first + contest->count; i++) {
            ns[i] = kw_label_ns(ns[i], quantity, t->dataset->pairs[i].estimate_ns, flops);
        }
    }
    kw_forest_drop(&forest);
    return status;
}

static void set_roles(role *roles, const kw_trainer *t, kw_grouping grouping, int32_t left_out, int32_t judge) {
    for (size_t c = 0; c < t->dataset->contest_count; c++) {
        int32_t fold = t->fold[grouping][c];
        roles[c] = fold == left_out ? LEFT_OUT : fold == judge ? JUDGES : TRAINS;
    }
}

static kw_status hold_out_fold(kw_held_out *held, const kw_trainer *t, const kw_recipe *recipe, const labelled *all, role *roles,
                               const int at[2], kw_error *err) {
    kw_grouping grouping = (kw_grouping)at[0];
    int32_t fold = at[1], folds = t->folds[grouping];
    kw_recipe exact = *recipe;
    char *text = NULL;
    kw_status status = KW_OK;
    if (folds > 2) {
        set_roles(roles, t, grouping, fold, (fold + 1) % folds);
        status = train(&text, &exact.trees, t, recipe, all, roles, NULL, err);
        free(text);
        text = NULL;
    }
    int32_t made = 0;
    set_roles(roles, t, grouping, fold, -1);
    status = status ? status : train(&text, &made, t, &exact, all, roles, NULL, err);
    status = status ? status : score_rest(held->ns[grouping], t, text, recipe->quantity, roles, err);
    free(text);
    held->trees[grouping][fold] = made;
    return status ? status
                  : kw_figures_make(&held->fold[grouping][fold], t->dataset, t->marks, held->ns[grouping], t->fold[grouping], fold, err);
}

static void tell(const kw_trainer *t, const kw_held_out *held, int64_t done) {
    int64_t total = 0, contests = 0;
    double sum = 0;
    for (int g = 0; g < KW_GROUPINGS; g++) {
        total += t->folds[g] < 2 ? 0 : t->folds[g];
        for (int f = 0; f < t->folds[g]; f++) {
            contests += held->fold[g][f].contests;
            sum += held->fold[g][f].mean * (double)held->fold[g][f].contests;
        }
    }
    if (t->progress) {
        t->progress(t->user, &(kw_train_progress){"folds", done, total, contests ? sum / (double)contests : 0});
    }
}

kw_status kw_hold_out(kw_held_out *held, const kw_trainer *t, const kw_recipe *recipe, kw_error *err) {
    labelled all = {0};
    size_t pairs = t->dataset->pair_count;
    role *roles = calloc(t->dataset->contest_count + 1, sizeof *roles);
    kw_status status = roles ? make_labels(&all, t, recipe, err) : kw_fail_memory(err, "the folds");
    int64_t done = 0;
    *held = (kw_held_out){0};
    for (int g = 0; g < KW_GROUPINGS && !status; g++) {
        held->ns[g] = calloc(pairs + 1, sizeof *held->ns[g]);
        if (!held->ns[g]) {
            status = kw_fail_memory(err, "what was predicted");
            break;
        }
        for (size_t i = 0; i < pairs; i++) {
            held->ns[g][i] = NAN;
        }
        for (int32_t f = 0; f < t->folds[g] && t->folds[g] > 1 && !status; f++) {
            status = hold_out_fold(held, t, recipe, &all, roles, (int[2]){g, f}, err);
            tell(t, held, ++done);
        }
        if (!status && t->folds[g] > 1) {
            status = kw_figures_make(&held->total[g], t->dataset, t->marks, held->ns[g], NULL, 0, err);
        }
    }
    drop_labels(&all);
    free(roles);
    if (status) {
        kw_held_out_drop(held);
    }
    return status;
}

void kw_held_out_drop(kw_held_out *held) {
    for (int g = 0; g < KW_GROUPINGS; g++) {
        free(held->ns[g]);
    }
    *held = (kw_held_out){0};
}

double kw_held_out_worth(const kw_held_out *held) {
    double worth = 0;
    for (int g = 0; g < KW_GROUPINGS; g++) {
        worth += (held->total[g].mean + held->total[g].p10) / 2 / KW_GROUPINGS;
    }
    return worth;
}

static int by_value(const void *left, const void *right) {
    return *(const int32_t *)left - *(const int32_t *)right;
}

int32_t kw_held_out_trees(const kw_held_out *held, const kw_trainer *t, const kw_recipe *recipe) {
    int32_t folds = t->folds[KW_BY_SHAPE], counts[KW_FOLDS_MAX];
    if (folds < 2) {
        return recipe->trees;
    }
    memcpy(counts, held->trees[KW_BY_SHAPE], sizeof counts);
    qsort(counts, (size_t)folds, sizeof *counts, by_value);
    return counts[folds / 2];
}

kw_status kw_final_model(char **text, const kw_trainer *t, const kw_recipe *recipe, int32_t trees, const kw_warm *warm, kw_error *err) {
    labelled all = {0};
    role *roles = calloc(t->dataset->contest_count + 1, sizeof *roles);
    kw_status status = roles ? make_labels(&all, t, recipe, err) : kw_fail_memory(err, "the model");
    kw_recipe exact = *recipe;
    exact.trees = trees;
    all.start = warm ? warm->start : NULL;
    for (size_t c = 0; roles && c < t->dataset->contest_count; c++) {
        roles[c] = TRAINS;
    }
    int32_t made = 0;
    status = status ? status : train(text, &made, t, &exact, &all, roles, warm ? warm->before : NULL, err);
    drop_labels(&all);
    free(roles);
    return status;
}
