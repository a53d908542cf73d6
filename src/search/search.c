/* search.c: kw_search. Proposals are points of the axes that the rule files give (search_domain.c); each is asked of C, of the rules, of
 * the filter and of the problem before it is scored, so nothing is ever proposed that cannot be built and run.
 *
 * Each family has axes of its own, hence a population of its own; a family gets another generation while its best is within reach of the
 * best of all. */
#include "base/sized.h"
#include "backend/backend.h"
#include "base/container/array.h"
#include "config/catalog.h"
#include "predict/model.h"
#include "predict/predict.h"
#include "space/enumerate.h"
#include "search/search_domain.h"

#include <assert.h>
#include <kernelwright_tune.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUDGET = 500,
    TOP = 10,
    POPULATION = 20,
    DRAWS = 120,
    IDLE_MAX = 40,
    FOUNDERS = 5,
    CLIMBERS = 5,
    BESIDE = 8,
    MISSES = 3,
    LIMIT = 1000000
};
static const double reach = 1.5;

/* A family of the space that has points for the problem's operation and type. */
typedef struct part {
    kw_search_domain from;
    size_t member[POPULATION]; /* of seen */
    size_t members;
    double best;
    int missed; /* draws in a row, of DRAWS points each, that found nothing good: a family may have nothing for the problem */
} part;

typedef struct session {
    const kw_search_options *options;
    kw_space_options space;
    kw_search_report *report;
    kw_target target;
    kw_model *model;
    kw_points *points;
    part *parts;
    size_t part_count;
    kw_catalog seen; /* everything drawn that is in the space and fits: in order, plain (kw_config_is_plain) as the space has it */
    double *predicted, *estimates;
    size_t scored, capacity;
    int32_t budget;
    uint64_t state;
    kw_error *err;
} session;

/* --- scoring ---------------------------------------------------------------------------------------------------------- */

static kw_status score_by_model(session *s, const kw_config *const configs[], const kw_launch *const launches[], size_t count) {
    kw_ranking *ranking = NULL;
    kw_status status = kw_ranking_open(&ranking, s->model, configs, count, s->err);
    if (!status) {
        kw_ranking_score(ranking, s->options->problem, &s->target, launches, s->estimates + s->scored, s->predicted + s->scored);
    }
    kw_ranking_close(&ranking);
    return status;
}

/* Scores what was seen and not scored yet. */
static kw_status score_points(session *s) {
    assert(s->scored <= s->seen.count);
    size_t count = s->seen.count - s->scored;
    if (!count) {
        return KW_OK;
    }
    size_t predicted = s->capacity, estimates = s->capacity;
    if (!KW_ARRAY_RESERVE(s->predicted, predicted, s->seen.count) || !KW_ARRAY_RESERVE(s->estimates, estimates, s->seen.count)) {
        return kw_fail_memory(s->err, "a search");
    }
    s->capacity = predicted;
    kw_config *specials = calloc(count, sizeof *specials); /* with what the problem wants in their texts */
    const kw_config **configs = calloc(count, sizeof *configs);
    kw_launch *launches = calloc(count, sizeof *launches);
    const kw_launch **pointers = calloc(count, sizeof *pointers);
    kw_status status = specials && configs && launches && pointers ? KW_OK : kw_fail_memory(s->err, "a search");
    for (size_t i = 0; i < count && !status; i++) {
        specials[i] = kw_config_special(&s->seen.configs[s->scored + i], s->options->problem);
        configs[i] = &specials[i];
        kw_config_launch(configs[i], s->options->problem, &s->target, &launches[i]);
        pointers[i] = &launches[i];
        s->estimates[s->scored + i] = kw_predict_ns(configs[i], s->options->problem, &s->target, &launches[i]);
        s->predicted[s->scored + i] = s->estimates[s->scored + i];
    }
    if (!status && s->model) {
        status = score_by_model(s, configs, pointers, count);
    }
    s->scored += status ? 0 : count;
    free(specials);
    free(configs);
    free(launches);
    free(pointers);
    return status;
}

/* --- proposals -------------------------------------------------------------------------------------------------------- */

/* Whether the config is in the space and serves the problem. */
static kw_status consider_config(session *s, const part *from, const kw_config *config, bool *good) {
    bool wanted = false;
    *good = false;
    s->report->drawn++;
    kw_status status = kw_points_contains(&wanted, s->points, from->from.number, config, s->err);
    if (status || !wanted) {
        s->report->refused += !status;
        return status;
    }
    kw_config special;
    *good = !kw_config_serves(&special, config, s->options->problem, &s->target, NULL);
    s->report->unfit += !*good;
    return KW_OK;
}

static kw_config blank_config(const session *s, const part *from) {
    return (kw_config){.family = from->from.axes.family, .op = s->options->problem->op, .dtype = s->options->problem->dtype};
}

/* A random point that is good, in a few tries; *place is SIZE_MAX when none was. */
static kw_status draw_search_point(session *s, const part *from, size_t *place) {
    kw_status status = KW_OK;
    *place = SIZE_MAX;
    for (int i = 0; i < DRAWS && !status && *place == SIZE_MAX; i++) {
        kw_config config = blank_config(s, from);
        bool good;
        kw_search_domain_draw(&from->from, &config, &s->state);
        status = consider_config(s, from, &config, &good);
        if (!status && good) {
            status = kw_catalog_add(&s->seen, &config, NULL, s->err);
            *place = kw_catalog_find(&s->seen, &config);
        }
    }
    return status;
}

/* A child of the members, or, where that cannot be, what it was made of, if that is new: *place is SIZE_MAX when neither is good. */
static kw_status breed_config(session *s, const part *p, const size_t with[4], size_t *place) {
    const kw_config *const parents[4] = {&s->seen.configs[with[0]], &s->seen.configs[with[1]], &s->seen.configs[with[2]],
                                         &s->seen.configs[with[3]]};
    kw_config plain, child = kw_search_domain_crossover(&p->from, parents, &s->state, &plain);
    bool good = false;
    *place = SIZE_MAX;
    kw_status status = consider_config(s, p, &child, &good);
    if (!status && !good && p->from.listed.count && !kw_catalog_has(&s->seen, &plain)) {
        child = plain;
        status = consider_config(s, p, &child, &good);
    }
    if (!status && good) {
        status = kw_catalog_add(&s->seen, &child, NULL, s->err);
        *place = kw_catalog_find(&s->seen, &child);
    }
    return status;
}

/* --- methods ---------------------------------------------------------------------------------------------------------- */

static bool is_budget_spent(const session *s) {
    return s->seen.count >= (size_t)s->budget;
}

/* Ends when the budget is spent or when many draws in a row gave nothing new: then there is little left to find. */
static kw_status search_random(session *s) {
    kw_status status = KW_OK;
    for (int idle = 0; idle < IDLE_MAX * (int)s->part_count && !is_budget_spent(s) && !status;) {
        size_t before = s->seen.count, place;
        part *p = &s->parts[kw_search_random_below(&s->state, s->part_count)];
        if (p->missed < MISSES) {
            status = draw_search_point(s, p, &place);
            p->missed = place == SIZE_MAX ? p->missed + 1 : 0;
        }
        idle = s->seen.count > before ? 0 : idle + 1;
    }
    return status ? status : score_points(s);
}

static bool is_member(const part *p, size_t place) {
    for (size_t i = 0; i < p->members; i++) {
        if (p->member[i] == place) {
            return true;
        }
    }
    return false;
}

/* The listed point number n of those that have the word, NULL behind the last. */
static const kw_config *listed_with_word(const kw_catalog *listed, int axis, int32_t word, size_t n) {
    for (size_t i = 0; i < listed->count; i++) {
        if (listed->configs[i].axis[axis] == word && n-- == 0) {
            return &listed->configs[i];
        }
    }
    return NULL;
}

/* Of a listed family one point for each word of each axis, the best of a few that are spread over those that have it: a word such as a
 * pipeline that few points have would hardly be met otherwise, and the moves of evolution do not lead to it. */
static kw_status found_word_member(session *s, part *p, int axis, int32_t word) {
    const kw_catalog *listed = &p->from.listed;
    size_t count = 0, best = SIZE_MAX;
    kw_status status = KW_OK;
    for (size_t i = 0; i < listed->count; i++) {
        count += listed->configs[i].axis[axis] == word;
    }
    size_t start = count ? kw_search_random_below(&s->state, count) : 0;
    for (size_t drawn = 0; drawn < FOUNDERS && drawn < count && !is_budget_spent(s) && !status; drawn++) {
        const kw_config *config = listed_with_word(listed, axis, word, (start + drawn * count / FOUNDERS) % count);
        s->report->drawn++;
        status = kw_catalog_has(&s->seen, config) ? KW_OK : kw_catalog_add(&s->seen, config, NULL, s->err);
        status = status ? status : score_points(s);
        size_t place = status ? SIZE_MAX : kw_catalog_find(&s->seen, config);
        best = !status && (best == SIZE_MAX || s->predicted[place] < s->predicted[best]) ? place : best;
    }
    if (best != SIZE_MAX && !is_member(p, best)) {
        p->member[p->members++] = best;
    }
    return status;
}

static kw_status found_word_members(session *s, part *p) {
    const kw_family *family = p->from.axes.family;
    kw_status status = KW_OK;
    for (int a = 0; a < family->axis_count && p->from.listed.count; a++) {
        for (int v = 0; v < p->from.axes.count[a] && family->axes[a].words && p->members < POPULATION && !status; v++) {
            status = found_word_member(s, p, a, p->from.axes.values[a][v]);
        }
    }
    return status;
}

static kw_status found_population(session *s, part *p) {
    kw_status status = found_word_members(s, p);
    for (int tries = 0; tries < 4 * POPULATION && p->members < POPULATION && !is_budget_spent(s) && !status; tries++) {
        size_t place;
        status = draw_search_point(s, p, &place);
        if (place == SIZE_MAX) {
            break;
        }
        if (!is_member(p, place)) {
            p->member[p->members++] = place;
        }
    }
    return status ? status : score_points(s);
}

static void set_best_time(session *s, part *p) {
    p->best = INFINITY;
    for (size_t i = 0; i < p->members; i++) {
        p->best = fmin(p->best, s->predicted[p->member[i]]);
    }
}

/* Four different members, the first of them number i. */
static void choose_parents(session *s, const part *p, size_t i, size_t with[4]) {
    assert(p->members >= 4 && p->members <= POPULATION && i < p->members); /* else there are no four to choose */
    size_t number[4] = {i};
    for (int k = 1; k < 4;) {
        bool twice = false;
        number[k] = kw_search_random_below(&s->state, p->members);
        for (int j = 0; j < k; j++) {
            twice = twice || number[j] == number[k];
        }
        k += !twice;
    }
    for (int k = 0; k < 4; k++) {
        with[k] = p->member[number[k]];
    }
}

/* Every member is challenged once; what cannot be leaves its parent alone. */
static kw_status evolve_part(session *s, part *p) {
    size_t child[POPULATION];
    kw_status status = KW_OK;
    for (size_t i = 0; i < p->members; i++) {
        size_t with[4];
        child[i] = SIZE_MAX;
        choose_parents(s, p, i, with);
        status = status || is_budget_spent(s) ? status : breed_config(s, p, with, &child[i]);
    }
    status = status ? status : score_points(s);
    for (size_t i = 0; i < p->members && !status; i++) {
        if (child[i] != SIZE_MAX && s->predicted[child[i]] < s->predicted[p->member[i]]) {
            p->member[i] = child[i];
        }
    }
    if (!status) {
        set_best_time(s, p); /* without memory there are no scores */
    }
    return status;
}

/* The best members of different times: kernels that the prediction does not tell apart lead to the same places. Returns how many. */
static size_t choose_climbers(const session *s, const part *p, size_t chosen[CLIMBERS]) {
    size_t count = 0;
    double above = -INFINITY;
    while (count < CLIMBERS) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < p->members; i++) {
            double time = s->predicted[p->member[i]];
            best = time > above && (best == SIZE_MAX || time < s->predicted[p->member[best]]) ? i : best;
        }
        if (best == SIZE_MAX) {
            break;
        }
        above = s->predicted[p->member[best]];
        chosen[count++] = best;
    }
    return count;
}

/* For the best members a few of the listed points beside each: evolution, which goes by the nearest listed point of a move, may stay a
 * single axis away from a better one for ever. */
static kw_status climb_part(session *s, part *p) {
    kw_status status = KW_OK;
    size_t climber[CLIMBERS], climbers = choose_climbers(s, p, climber);
    for (size_t c = 0; c < climbers && !status; c++) {
        size_t *member = &p->member[climber[c]];
        const kw_config *beside[BESIDE];
        size_t first = s->seen.count, count = kw_search_domain_beside(&p->from, &s->seen.configs[*member], &s->seen, beside, BESIDE);
        for (size_t b = 0; b < count && !is_budget_spent(s) && !status; b++) {
            s->report->drawn++;
            status = kw_catalog_add(&s->seen, beside[b], NULL, s->err);
        }
        status = status ? status : score_points(s);
        for (size_t place = first; place < s->seen.count && !status; place++) {
            *member = s->predicted[place] < s->predicted[*member] ? place : *member;
        }
    }
    if (!status) {
        set_best_time(s, p);
    }
    return status;
}

static kw_status search_evolve(session *s) {
    kw_status status = KW_OK;
    double best = INFINITY;
    for (size_t i = 0; i < s->part_count && !status; i++) {
        status = found_population(s, &s->parts[i]);
        if (!status) {
            set_best_time(s, &s->parts[i]);
            best = fmin(best, s->parts[i].best);
        }
    }
    for (int idle = 0; idle < IDLE_MAX && !is_budget_spent(s) && !status;) {
        size_t before = s->seen.count;
        for (size_t i = 0; i < s->part_count && !status; i++) {
            part *p = &s->parts[i];
            if (p->members >= 4 && p->best <= reach * best) {
                status = evolve_part(s, p);
                status = status ? status : climb_part(s, p);
            }
            best = fmin(best, p->best);
        }
        idle = s->seen.count > before ? 0 : idle + 1;
    }
    return status;
}

static bool take_space_config(void *user, const kw_config *config) {
    session *s = user;
    const kw_problem *problem = s->options->problem;
    kw_config special;
    bool good = !kw_config_serves(&special, config, problem, &s->target, NULL);
    s->report->drawn++;
    s->report->unfit += !good;
    return !good || !kw_catalog_add(&s->seen, config, NULL, s->err);
}

static kw_status search_whole_space(session *s) {
    kw_space_options space = s->space;
    kw_error failed = {0};
    s->err = s->err ? s->err : &failed;
    space.set = space.set ? space.set : "full";
    space.arch = space.arch ? space.arch : s->target.arch;
    space.problems = s->options->problem;
    space.problem_count = 1;
    kw_status status = kw_enumerate(&space, take_space_config, s, s->err);
    status = status ? status : s->err->status;
    status = status ? status : score_points(s);
    s->err = s->err == &failed ? NULL : s->err;
    return status;
}

/* --- opening ---------------------------------------------------------------------------------------------------------- */

static kw_status open_search_space(session *s) {
    const kw_problem *problem = s->options->problem;
    kw_space_options space = s->space;
    space.set = space.set ? space.set : "full";
    space.arch = space.arch ? space.arch : s->target.arch;
    kw_status status = kw_points_open(&s->points, &space, problem->op, problem->dtype, s->err);
    size_t families = status ? 0 : kw_points_families(s->points);
    s->parts = calloc(families + 1, sizeof *s->parts);
    if (!status && !s->parts) {
        return kw_fail_memory(s->err, "a search");
    }
    for (size_t i = 0; i < families && !status; i++) {
        part *p = &s->parts[s->part_count];
        bool empty;
        *p = (part){.best = INFINITY};
        status = kw_search_domain_open(&p->from, &empty, s->points, i, problem, &s->target, s->err);
        s->part_count += status || !empty; /* what was begun is closed, too */
    }
    return status;
}

static kw_status open_search_model(session *s) {
    const kw_problem *problem = s->options->problem;
    kw_status status = s->options->model ? kw_model_open(&s->model, s->options->model, s->err) : KW_OK;
    if (!status && s->model && (!kw_model_serves(s->model, problem->op, problem->dtype) || kw_model_distance(s->model, &s->target) < 0)) {
        status = kw_fail(s->err, KW_MISSING, "the model %.200s was not trained for %s %s on %s; leave it out to search by the estimate",
                         s->options->model, kw_op_name(problem->op), kw_dtype_name(problem->dtype), kw_backends[s->target.backend].name);
    }
    return status;
}

/* --- the answer ------------------------------------------------------------------------------------------------------- */

typedef struct found {
    size_t place;
    double predicted, estimate;
} found;

static int by_predicted(const void *left, const void *right) {
    const found *a = left, *b = right;
    if (a->predicted != b->predicted) {
        return a->predicted < b->predicted ? -1 : 1;
    }
    if (a->estimate != b->estimate) {
        return a->estimate < b->estimate ? -1 : 1;
    }
    return (a->place > b->place) - (a->place < b->place);
}

static kw_status fill_search_results(session *s) {
    size_t top = s->options->top > 0 ? (size_t)s->options->top : TOP;
    size_t count = s->scored < top ? s->scored : top;
    found *list = calloc(s->scored + 1, sizeof *list);
    s->report->results = calloc(count + 1, sizeof *s->report->results);
    if (!list || !s->report->results) {
        free(list);
        return kw_fail_memory(s->err, "a search");
    }
    for (size_t i = 0; i < s->scored; i++) {
        list[i] = (found){i, s->predicted[i], s->estimates[i]};
    }
    qsort(list, s->scored, sizeof *list, by_predicted);
    for (size_t i = 0; i < count; i++) {
        kw_search_result *find = &s->report->results[i];
        kw_config special = kw_config_special(&s->seen.configs[list[i].place], s->options->problem);
        kw_config_print(find->config, sizeof find->config, &special);
        find->predicted_ns = list[i].predicted;
        find->estimate_ns = list[i].estimate;
    }
    s->report->count = count;
    s->report->evaluated = (int64_t)s->scored;
    free(list);
    if (!count) {
        char text[KW_PROBLEM_TEXT_MAX];
        kw_problem_print(text, sizeof text, s->options->problem);
        return kw_fail(s->err, KW_NO_KERNEL, "no kernel of the space serves %.300s", text);
    }
    return KW_OK;
}

static kw_status read_search_target(session *s) {
    if (s->options->target) {
        return kw_target_parse(&s->target, s->options->target, s->err);
    }
    kw_cpu_target(&s->target, s->options->threads > 0 ? s->options->threads : 1);
    return KW_OK;
}

static void close_search(session *s) {
    for (size_t i = 0; i < s->part_count; i++) {
        kw_catalog_drop(&s->parts[i].from.listed);
    }
    kw_model_close(&s->model);
    kw_points_close(&s->points);
    kw_catalog_drop(&s->seen);
    free(s->parts);
    free(s->predicted);
    free(s->estimates);
}

kw_status kw_search(const kw_search_options *options, kw_search_report *report, kw_error *err) {
    if (!options || !report || !options->problem) {
        return kw_fail(err, KW_ILLEGAL, "kw_search: %s is NULL", report ? "options or its problem" : "report");
    }
    *report = (kw_search_report){0};
    kw_search_options own;
    kw_status status = KW_SIZED_READ(&own, kw_search_options, seed, options, err);
    if (status) {
        return status;
    }
    options = &own;
    if (options->budget < 0 || options->budget > LIMIT || options->top < 0) {
        return kw_fail(err, KW_ILLEGAL, "a search of %d kernels for %d; the budget is 1 to %d", (int)options->budget, (int)options->top,
                       LIMIT);
    }
    session s = {.options = options,
                 .report = report,
                 .budget = options->budget ? options->budget : BUDGET,
                 .state = options->seed ? options->seed : 1,
                 .err = err};
    status = KW_SIZED_READ(&s.space, kw_space_options, user, options->space, err);
    status = status ? status : kw_problem_check(options->problem, err);
    status = status ? status : read_search_target(&s);
    status = status ? status : open_search_model(&s);
    if (!status && options->method == KW_SEARCH_ALL) {
        status = search_whole_space(&s);
    } else if (!status) {
        status = open_search_space(&s);
        status = status || !s.part_count ? status : options->method == KW_SEARCH_RANDOM ? search_random(&s) : search_evolve(&s);
    }
    status = status ? status : fill_search_results(&s);
    close_search(&s);
    if (status) {
        kw_free(report->results);
        *report = (kw_search_report){0};
    }
    return status;
}
