/* ranking.c: a fixed list of configs under one model. A feature is known by the part of the table that it lies in: of the configs once,
 * when the ranking is opened; of the problem once a call; of both once a config and call, and only those that the forest asks about.
 *
 * All memory is taken when the ranking is opened, in one arena. */
#include "predict/ck/ck_rows.h"
#include "predict/model_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct kw_ranking {
    const kw_model *model;
    const kw_config *const *configs;
    size_t count;
    kw_arena arena;
    kw_forest_batch *batch;
    kw_forest_scratch *scratch;
    double *row;            /* of the model's table */
    double *values;         /* one a feature of the forest, for role PROBLEM */
    double **columns;       /* one a feature of the forest; count values for role PAIR with a split, else NULL */
    const double **queried; /* the same, as a query takes them */
    double *scores, *estimates;
    bool *known, *asked;             /* one a config: the model can say something of it; and it fits the problem of the call */
    kw_native_features_tiles *tiles; /* one a config */
    kw_target target;                /* the last one that was asked about, and how far the model is trusted there */
    double trust;
    size_t *pairs; /* features with role PAIR and a split */
    size_t pair_count;
    const kw_config **copied; /* configs, so that the caller's list of pointers may go */
};

/* A feature without a column, which no tree asks about, counts as one of pairs: these are looked at only where there is a split. */
static kw_forest_role role_of(const kw_model *model, size_t feature) {
    size_t column = (size_t)model->column[feature];
    if (!model->own) {
        return model->column[feature] < 0 ? KW_FOREST_PAIR : kw_ck_role(model->table, column);
    }
    return column < kw_native_features_config_start(model->own) ? KW_FOREST_PROBLEM
           : column < kw_native_features_pair_start(model->own) ? KW_FOREST_KERNEL
                                                                : KW_FOREST_PAIR;
}

static void fill_own_config(const kw_ranking *r, size_t i) {
    const kw_model *model = r->model;
    size_t family = 0;
    kw_native_features_fill_config(model->own, r->row, r->configs[i]);
    r->tiles[i] = kw_native_features_tiles_of(r->configs[i]);
    while (kw_family_table[family] && kw_family_table[family] != r->configs[i]->family) {
        family++;
    }
    double code = kw_family_table[family] ? model->family_codes[family] : NAN;
    r->row[model->family_column] = code;
    r->known[i] = kw_model_spec_saw(&model->spec, r->configs[i]->family->name, r->configs[i]->op);
}

/* Published columns come by the row; what stands in the places of a problem is not read. A config without tiles has none. */
static void fill_ck_config(const kw_ranking *r, size_t i) {
    kw_problem any = {.op = r->configs[i]->op, .dtype = r->configs[i]->dtype};
    memset(r->row, 0, r->model->table->count * sizeof *r->row);
    r->known[i] = kw_ck_describes(r->configs[i]);
    if (r->known[i]) {
        kw_ck_row(r->row, r->configs[i], &any, kw_ck_features_hardware_of(""));
    }
}

/* What depends on a config alone, columns for the batch and tiles. */
static void fill_config(const kw_ranking *r, size_t i) {
    const kw_model *model = r->model;
    if (model->own) {
        fill_own_config(r, i);
    } else {
        fill_ck_config(r, i);
    }
    for (size_t feature = 0; feature < model->facts.features; feature++) {
        if (r->columns[feature] && role_of(model, feature) == KW_FOREST_KERNEL) {
            r->columns[feature][i] = kw_model_value(model, feature, r->row[model->column[feature]]);
        }
    }
}

static kw_status lay_out_columns(kw_ranking *r, const kw_forest_role *roles, kw_error *err) {
    const kw_model *model = r->model;
    size_t features = model->facts.features;
    r->row = kw_arena_array(&r->arena, model->table->count, sizeof *r->row);
    r->values = kw_arena_array(&r->arena, features, sizeof *r->values);
    r->columns = kw_arena_array(&r->arena, features, sizeof *r->columns);
    r->queried = kw_arena_array(&r->arena, features, sizeof *r->queried);
    r->pairs = kw_arena_array(&r->arena, features, sizeof *r->pairs);
    r->scores = kw_arena_array(&r->arena, r->count, sizeof *r->scores);
    r->estimates = kw_arena_array(&r->arena, r->count, sizeof *r->estimates);
    r->tiles = kw_arena_array(&r->arena, r->count, sizeof *r->tiles);
    r->known = kw_arena_array(&r->arena, r->count, sizeof *r->known);
    r->asked = kw_arena_array(&r->arena, r->count, sizeof *r->asked);
    bool good =
        r->tiles && r->known && r->asked && r->row && r->values && r->columns && r->queried && r->pairs && r->scores && r->estimates;
    for (size_t i = 0; i < features && good; i++) {
        if (roles[i] == KW_FOREST_PROBLEM || !kw_forest_feature_splits(model->forest, i)) {
            continue;
        }
        r->columns[i] = kw_arena_array(&r->arena, r->count, sizeof **r->columns);
        r->queried[i] = r->columns[i];
        good = r->columns[i] != NULL;
        if (roles[i] == KW_FOREST_PAIR) {
            r->pairs[r->pair_count++] = i;
        }
    }
    return good ? KW_OK : kw_fail_memory(err, "a ranking");
}

kw_status kw_ranking_open(kw_ranking **ranking, const kw_model *model, const kw_config *const configs[], size_t count, kw_error *err) {
    *ranking = NULL;
    if (!count || count > KW_FOREST_MAX_CANDIDATES) {
        return kw_fail(err, KW_ILLEGAL, "%zu kernels to rank; a ranking has 1 to %d", count, KW_FOREST_MAX_CANDIDATES);
    }
    kw_ranking *r = calloc(1, sizeof *r);
    if (!r) {
        return kw_fail_memory(err, "a ranking");
    }
    *r = (kw_ranking){.model = model, .count = count};
    kw_forest_role *roles = kw_arena_array(&r->arena, model->facts.features, sizeof *roles);
    r->copied = kw_arena_array(&r->arena, count, sizeof *r->copied);
    kw_status status = roles && r->copied ? KW_OK : kw_fail_memory(err, "a ranking");
    if (!status) {
        memcpy(r->copied, configs, count * sizeof *r->copied);
        r->configs = r->copied;
        for (size_t i = 0; i < model->facts.features; i++) {
            roles[i] = role_of(model, i);
        }
        status = lay_out_columns(r, roles, err);
    }
    if (!status) {
        for (size_t i = 0; i < count; i++) {
            fill_config(r, i);
        }
        status = kw_forest_batch_open(&r->batch, model->forest, &(kw_forest_candidates){count, roles, r->queried}, err);
    }
    status = status ? status : kw_forest_scratch_open(&r->scratch, r->batch, NULL, err);
    if (status) {
        kw_ranking_close(&r);
    }
    *ranking = r;
    return status;
}

void kw_ranking_replace(kw_ranking *r, size_t place, const kw_config *config) {
    r->copied[place] = config;
    fill_config(r, place);
    kw_forest_batch_replace(r->batch, place, r->queried);
}

void kw_ranking_close(kw_ranking **ranking) {
    if (!*ranking) {
        return;
    }
    kw_forest_scratch_close(&(*ranking)->scratch);
    kw_forest_batch_close(&(*ranking)->batch);
    kw_arena_drop(&(*ranking)->arena);
    free(*ranking);
    *ranking = NULL;
}

/* --- a call --------------------------------------------------------------------------------------------------------- */

static void fill_ck_row(kw_ranking *r, size_t i, const kw_native_features_problem *sight) {
    const kw_ck_features_hardware *own = &r->model->spec.hardware;
    kw_ck_row(r->row, r->configs[i], sight->problem, own->arch ? own : kw_ck_features_hardware_of(sight->target->arch));
}

static void fill_problem(kw_ranking *r, const kw_native_features_problem *sight) {
    const kw_model *model = r->model;
    if (model->own) {
        kw_native_features_fill_problem(model->own, r->row, sight);
    }
    for (size_t i = 0; !model->own && i < r->count; i++) {
        if (r->asked[i]) { /* any of them has the problem's columns */
            fill_ck_row(r, i, sight);
            break;
        }
    }
    for (size_t i = 0; i < model->facts.features; i++) {
        if (role_of(model, i) == KW_FOREST_PROBLEM) {
            r->values[i] = r->row[model->column[i]];
        }
    }
}

/* A config that does not fit has no pair, and the forest is not asked about it. */
static void fill_pairs(kw_ranking *r, const kw_native_features_problem *sight, const kw_launch *const launches[], const double estimates[],
                       const kw_estimate parts[]) {
    const kw_model *model = r->model;
    for (size_t i = 0; i < r->count && r->pair_count; i++) {
        if (!r->asked[i]) {
            continue;
        }
        if (model->own && parts) {
            kw_native_features_fill_pair(model->own, r->row, sight, &r->tiles[i], launches[i], estimates[i], &parts[i]);
        } else if (model->own) {
            kw_native_features_fill_tiled(model->own, r->row, sight, &r->tiles[i], launches[i], estimates[i]);
        } else {
            fill_ck_row(r, i, sight);
        }
        for (size_t j = 0; j < r->pair_count; j++) {
            r->columns[r->pairs[j]][i] = r->row[model->column[r->pairs[j]]];
        }
    }
}

/* Of the configs that fit: the extremes of the raw score and the best estimate. */
typedef struct span {
    double low, high, estimate;
} span;

static span time_span(const kw_ranking *r, const double estimates[]) {
    span s = {INFINITY, -INFINITY, INFINITY};
    for (size_t i = 0; i < r->count; i++) {
        if (r->asked[i]) {
            s.low = fmin(s.low, r->scores[i]);
            s.high = fmax(s.high, r->scores[i]);
            s.estimate = fmin(s.estimate, estimates[i]);
        }
    }
    return s;
}

/* From a raw score to nanoseconds. TFLOP/s of nothing or less are as slow as can be. */
static double predicted_time(const kw_model *model, double score, double estimate, const kw_native_features_problem *sight, const span *s) {
    switch (model->facts.quantity) {
    case KW_PREDICTS_RATIO:
        return estimate * exp(score);
    case KW_PREDICTS_RELATIVE:
        return s->estimate * exp(score - s->low);
    case KW_PREDICTS_TIME:
        return exp(score);
    case KW_PREDICTS_RANK:
        return s->estimate * exp(s->high - score);
    default:
        return kw_model_rate_ns(model->facts.quantity, score, model->own ? sight->flops : sight->dense_flops, sight->bytes);
    }
}

/* On a target that gave no rows, half of what the model says against the estimate is believed: a correction learned on other processors is
 * right in its direction more often than in its size. Anything from 0.3 to 0.7 chose alike on a processor of another vendor, and both ends
 * chose worse (docs/selection/evaluation.md). Published features know nothing of a target but its architecture, so there that is near enough. */
static const double trust_elsewhere = 0.5;

static double trust_of(kw_ranking *r, const kw_target *target) {
    if (!(r->trust > 0) || memcmp(&r->target, target, sizeof *target)) {
        r->target = *target;
        int distance = kw_model_distance(r->model, target);
        r->trust = distance == 0 || (!r->model->own && distance == 1) ? 1 : trust_elsewhere;
    }
    return r->trust;
}

/* parts may be NULL: they are worked out. */
static void score_ranking(kw_ranking *r, const kw_problem *problem, const kw_target *target, const kw_launch *const launches[],
                          const double estimates[], const kw_estimate parts[], double ns[]) {
    kw_native_features_problem sight;
    kw_native_problem_read(&sight, problem, target);
    for (size_t i = 0; i < r->count; i++) {
        r->asked[i] = launches[i] && r->known[i];
    }
    fill_problem(r, &sight);
    fill_pairs(r, &sight, launches, estimates, parts);
    kw_forest_batch_score(r->batch, r->scratch, &(kw_forest_query){r->values, r->queried, r->asked}, r->scores);
    span s = time_span(r, estimates);
    double trust = trust_of(r, target);
    for (size_t i = 0; i < r->count; i++) {
        bool asked = r->asked[i];
        double time = asked ? predicted_time(r->model, r->scores[i], estimates[i], &sight, &s) : INFINITY;
        if (trust < 1 && asked && estimates[i] > 0) {
            time = estimates[i] * pow(time / estimates[i], trust);
        }
        ns[i] = isnan(time) ? INFINITY : time;
    }
}

void kw_ranking_score(kw_ranking *r, const kw_problem *problem, const kw_target *target, const kw_launch *const launches[],
                      const double estimates[], double ns[]) {
    score_ranking(r, problem, target, launches, estimates, NULL, ns);
}

void kw_ranking_score_parts(kw_ranking *r, const kw_problem *problem, const kw_target *target, const kw_launch *const launches[],
                            const kw_estimate parts[], double ns[]) {
    for (size_t i = 0; i < r->count; i++) {
        r->estimates[i] = parts[i].ns;
    }
    score_ranking(r, problem, target, launches, r->estimates, parts, ns);
}
