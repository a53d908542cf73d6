/* trainer.c: trains on parts of the data set and scores the parts that were held out. */
#include "learn/fit/trainer.h"

#include "learn/model/forest_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a problem group is to a model. */
typedef enum role { LEFT_OUT = 0, TRAINS, VALIDATES } role;

/* --- parts -------------------------------------------------------------------------------------------------------- */

typedef struct part {
    int32_t *row, *group;
    float *label, *weight;
    double *start;
    kw_lightgbm_subset view;
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

/* The rows that have labels of the problem groups with a role. */
static kw_status make_role_subset(part *p, const kw_trainer *t, const labelled *all, const role *roles, role wanted, kw_error *err) {
    size_t pairs = t->dataset->pair_count + 1, problem_groups = t->dataset->problem_group_count + 1, count = 0, groups = 0;
    *p = (part){.row = calloc(pairs, sizeof *p->row),
                .group = calloc(problem_groups, sizeof *p->group),
                .label = calloc(pairs, sizeof *p->label),
                .weight = calloc(pairs, sizeof *p->weight),
                .start = calloc(pairs, sizeof *p->start)};
    if (!p->row || !p->group || !p->label || !p->weight || !p->start) {
        drop_part(p);
        return kw_fail_memory(err, "a part of the rows");
    }
    for (size_t c = 0; c < t->dataset->problem_group_count; c++) {
        const kw_problem_group *problem_group = &t->dataset->problem_groups[c];
        if (roles[c] != wanted || !(t->oracles[c].oracle_ns > 0)) {
            continue;
        }
        for (size_t i = problem_group->first; i < problem_group->first + problem_group->count; i++, count++) {
            p->row[count] = (int32_t)i;
            p->label[count] = all->label[i];
            p->weight[count] = all->weight[i];
            p->start[count] = all->start ? all->start[i] : 0;
        }
        p->group[groups++] = (int32_t)problem_group->count;
    }
    p->view = (kw_lightgbm_subset){.row = p->row,
                                   .label = p->label,
                                   .weight = p->weight,
                                   .start = all->start ? p->start : NULL,
                                   .count = count,
                                   .group = all->grouped ? p->group : NULL,
                                   .group_count = all->grouped ? groups : 0};
    return KW_OK;
}

static kw_status make_labels(labelled *all, const kw_trainer *t, const kw_hyperparameters *hyperparameters, kw_error *err) {
    const kw_dataset *dataset = t->dataset;
    *all = (labelled){.label = calloc(dataset->pair_count + 1, sizeof *all->label),
                      .weight = calloc(dataset->pair_count + 1, sizeof *all->weight),
                      .grouped = hyperparameters->quantity == KW_PREDICTS_RANK};
    if (!all->label || !all->weight) {
        return kw_fail_memory(err, "the labels");
    }
    kw_labels_make(all->label, dataset, t->times, hyperparameters->quantity);
    for (size_t c = 0; c < dataset->problem_group_count; c++) {
        for (size_t i = dataset->problem_groups[c].first; i < dataset->problem_groups[c].first + dataset->problem_groups[c].count; i++) {
            all->weight[i] = hyperparameters->emphasis ? (float)hyperparameters->emphasis[c] : 1;
        }
    }
    return KW_OK;
}

static void drop_labels(labelled *all) {
    free(all->label);
    free(all->weight);
}

/* Trains on the problem groups with role TRAINS; those with VALIDATES, if any, end it. */
static kw_status train_model(char **text, int32_t *trees, const kw_trainer *t, const kw_hyperparameters *hyperparameters,
                             const labelled *all, const role *roles, const char *before, kw_error *err) {
    part learn = {0}, valid = {0};
    char *parameters = kw_hyperparameters_text(hyperparameters, t->features);
    kw_status status = parameters ? KW_OK : kw_fail_memory(err, "the parameters");
    status = status ? status : make_role_subset(&learn, t, all, roles, TRAINS, err);
    status = status ? status : make_role_subset(&valid, t, all, roles, VALIDATES, err);
    if (!status && !learn.view.count) {
        status = kw_fail(err, KW_FAILED, "no row is left to train on: no problem group has a good kernel");
    }
    if (!status) {
        kw_lightgbm_job job = {.parameters = parameters,
                               .train = &learn.view,
                               .valid = valid.view.count ? &valid.view : NULL,
                               .trees = hyperparameters->trees,
                               .patience = hyperparameters->patience,
                               .more_is_better = hyperparameters->quantity == KW_PREDICTS_RANK,
                               .before = before,
                               .stop = t->stop};
        status = kw_lightgbm_train(text, trees, t->table, &job, err);
    }
    drop_part(&learn);
    drop_part(&valid);
    free(parameters);
    return status;
}

/* --- held out ----------------------------------------------------------------------------------------------------- */

/* What a model says of the problem groups that it was not trained on. */
static kw_status score_held_out(double *ns, const kw_trainer *t, const char *text, kw_model_quantity quantity, const role *roles,
                                kw_error *err) {
    kw_forest *forest = NULL;
    kw_text slim = {0};
    kw_status status = kw_forest_text_compact(&slim, text, INT64_MAX, err);
    status = status ? status : kw_forest_parse(&forest, "the model", slim.data, slim.size, err);
    kw_text_drop(&slim);
    size_t columns = t->features->count;
    for (size_t c = 0; c < t->dataset->problem_group_count && !status; c++) {
        const kw_problem_group *problem_group = &t->dataset->problem_groups[c];
        if (roles[c] != LEFT_OUT) {
            continue;
        }
        kw_group_work work = kw_problem_group_work(t->dataset, problem_group);
        kw_forest_score(forest, t->rows + problem_group->first * columns, problem_group->count, ns + problem_group->first);
        for (size_t i = problem_group->first; i < problem_group->first + problem_group->count; i++) {
            ns[i] = kw_label_ns(ns[i], quantity, t->dataset->pairs[i].estimate_ns, &work);
        }
    }
    kw_forest_drop(&forest);
    return status;
}

static void set_roles(role *roles, const kw_trainer *t, kw_grouping grouping, int32_t left_out, int32_t valid) {
    for (size_t c = 0; c < t->dataset->problem_group_count; c++) {
        int32_t fold = t->fold[grouping][c];
        roles[c] = fold == left_out ? LEFT_OUT : fold == valid ? VALIDATES : TRAINS;
    }
}

static kw_status hold_out_fold(kw_cross_validation *cv, const kw_trainer *t, const kw_hyperparameters *hyperparameters, const labelled *all,
                               role *roles, const int at[2], kw_error *err) {
    kw_grouping grouping = (kw_grouping)at[0];
    int32_t fold = at[1], folds = t->folds[grouping];
    kw_hyperparameters exact = *hyperparameters;
    char *text = NULL;
    kw_status status = KW_OK;
    if (folds > 2) {
        set_roles(roles, t, grouping, fold, (fold + 1) % folds);
        status = train_model(&text, &exact.trees, t, hyperparameters, all, roles, NULL, err);
        free(text);
        text = NULL;
    }
    int32_t made = 0;
    set_roles(roles, t, grouping, fold, -1);
    status = status ? status : train_model(&text, &made, t, &exact, all, roles, NULL, err);
    status = status ? status : score_held_out(cv->ns[grouping], t, text, hyperparameters->quantity, roles, err);
    free(text);
    cv->trees[grouping][fold] = made;
    return status ? status
                  : kw_metrics_compute(&cv->fold[grouping][fold], t->dataset, t->oracles, cv->ns[grouping], t->fold[grouping], fold, err);
}

static void report_fold_progress(const kw_trainer *t, const kw_cross_validation *cv, int64_t done) {
    int64_t total = 0, problem_groups = 0;
    double sum = 0;
    for (int g = 0; g < KW_GROUPINGS; g++) {
        total += t->folds[g] < 2 ? 0 : t->folds[g];
        for (int f = 0; f < t->folds[g]; f++) {
            problem_groups += cv->fold[g][f].problem_groups;
            sum += cv->fold[g][f].mean * (double)cv->fold[g][f].problem_groups;
        }
    }
    if (t->progress) {
        t->progress(t->user, &(kw_train_progress){"folds", done, total, problem_groups ? sum / (double)problem_groups : 0});
    }
}

kw_status kw_cross_validate(kw_cross_validation *cv, const kw_trainer *t, const kw_hyperparameters *hyperparameters, kw_error *err) {
    labelled all = {0};
    size_t pairs = t->dataset->pair_count;
    role *roles = calloc(t->dataset->problem_group_count + 1, sizeof *roles);
    kw_status status = roles ? make_labels(&all, t, hyperparameters, err) : kw_fail_memory(err, "the folds");
    int64_t done = 0;
    *cv = (kw_cross_validation){0};
    for (int g = 0; g < KW_GROUPINGS && !status; g++) {
        cv->ns[g] = calloc(pairs + 1, sizeof *cv->ns[g]);
        if (!cv->ns[g]) {
            status = kw_fail_memory(err, "what was predicted");
            break;
        }
        for (size_t i = 0; i < pairs; i++) {
            cv->ns[g][i] = NAN;
        }
        for (int32_t f = 0; f < t->folds[g] && t->folds[g] > 1 && !status; f++) {
            status = hold_out_fold(cv, t, hyperparameters, &all, roles, (int[2]){g, f}, err);
            report_fold_progress(t, cv, ++done);
        }
        if (!status && t->folds[g] > 1) {
            status = kw_metrics_compute(&cv->total[g], t->dataset, t->oracles, cv->ns[g], NULL, 0, err);
        }
    }
    drop_labels(&all);
    free(roles);
    if (status) {
        kw_cross_validation_drop(cv);
    }
    return status;
}

void kw_cross_validation_drop(kw_cross_validation *cv) {
    for (int g = 0; g < KW_GROUPINGS; g++) {
        free(cv->ns[g]);
    }
    *cv = (kw_cross_validation){0};
}

double kw_cross_validation_score(const kw_cross_validation *cv) {
    double score = 0;
    for (int g = 0; g < KW_GROUPINGS; g++) {
        score += (cv->total[g].mean + cv->total[g].p10) / 2 / KW_GROUPINGS;
    }
    return score;
}

static int by_tree_count(const void *left, const void *right) {
    return *(const int32_t *)left - *(const int32_t *)right;
}

int32_t kw_cross_validation_trees(const kw_cross_validation *cv, const kw_trainer *t, const kw_hyperparameters *hyperparameters) {
    int32_t folds = t->folds[KW_BY_SHAPE], counts[KW_FOLDS_MAX];
    if (folds < 2) {
        return hyperparameters->trees;
    }
    memcpy(counts, cv->trees[KW_BY_SHAPE], sizeof counts);
    qsort(counts, (size_t)folds, sizeof *counts, by_tree_count);
    return counts[folds / 2];
}

kw_status kw_train_final_model(char **text, const kw_trainer *t, const kw_hyperparameters *hyperparameters, int32_t trees,
                               const kw_warm_start *warm, kw_error *err) {
    labelled all = {0};
    role *roles = calloc(t->dataset->problem_group_count + 1, sizeof *roles);
    kw_status status = roles ? make_labels(&all, t, hyperparameters, err) : kw_fail_memory(err, "the model");
    kw_hyperparameters exact = *hyperparameters;
    exact.trees = trees;
    all.start = warm ? warm->start : NULL;
    for (size_t c = 0; roles && c < t->dataset->problem_group_count; c++) {
        roles[c] = TRAINS;
    }
    int32_t made = 0;
    status = status ? status : train_model(text, &made, t, &exact, &all, roles, warm ? warm->before : NULL, err);
    drop_labels(&all);
    free(roles);
    return status;
}
