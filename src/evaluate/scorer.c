/* scorer.c: the scores of each kind of selector, one function each. */
#include "evaluate/scorer.h"

#include "base/os/file.h"
#include "base/format/gzip.h"
#include "base/hash.h"
#include "base/format/number.h"
#include "config/catalog.h"
#include "predict/model.h"
#include "learn/model/forest_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PREDICTIONS_LIMIT = 1 << 30, COLUMNS_MAX = 64 };

typedef struct job {
    kw_scores *scores;
    const kw_dataset *dataset;
    const kw_group_oracle *oracles;
    const kw_scorer *scorer;
} job;

bool kw_scorer_is_model(const char *by) {
    struct stat facts;
    size_t size = by ? strlen(by) : 0;
    return by && !stat(by, &facts) && (S_ISDIR(facts.st_mode) || (size > 5 && !strcmp(by + size - 5, ".spec")));
}

/* --- the simple ones -------------------------------------------------------------------------------------------------- */

static void score_estimate(const job *j) {
    for (size_t i = 0; i < j->dataset->pair_count; i++) {
        j->scores->ns[i] = j->dataset->pairs[i].estimate_ns;
    }
}

/* By a hash of seed, problem group and config: the draw does not depend on what else was read. */
static void score_random(const job *j) {
    for (size_t c = 0; c < j->dataset->problem_group_count; c++) {
        const kw_problem_group *problem_group = &j->dataset->problem_groups[c];
        for (size_t i = problem_group->first; i < problem_group->first + problem_group->count; i++) {
            char config[KW_CONFIG_TEXT_MAX];
            size_t size = kw_config_print(config, sizeof config, &j->dataset->pairs[i].config);
            uint64_t key[3] = {j->scorer->seed, problem_group->hash, kw_hash64(config, size)};
            j->scores->ns[i] = (double)(kw_hash64(key, sizeof key) >> 11) + 1;
        }
    }
}

/* --- the single best kernel ------------------------------------------------------------------------------------------- */

static double scored_efficiency(const job *j, size_t problem_group, size_t pair) {
    kw_record record = kw_pair_record(&j->dataset->pairs[pair]);
    double score = kw_record_score(&record), best = j->oracles[problem_group].oracle_ns;
    return best > 0 && score > 0 ? fmin(1, best / score) : 0;
}

/* Each config's mean efficiency over the problem groups of its operation and type, its own problem group not counted; where it has no
 * row it counts as 0. */
static kw_status score_single(const job *j, kw_error *err) {
    const kw_dataset *dataset = j->dataset;
    kw_catalog catalog = {0};
    double *sum = calloc(dataset->pair_count + 1, sizeof *sum);
    size_t problem_groups[KW_OP_COUNT][KW_DTYPE_COUNT] = {{0}};
    kw_status status = sum ? KW_OK : kw_fail_memory(err, "sums of kernels");
    for (size_t c = 0; c < dataset->problem_group_count && !status; c++) {
        const kw_problem_group *problem_group = &dataset->problem_groups[c];
        problem_groups[problem_group->problem.op][problem_group->problem.dtype]++;
        for (size_t i = problem_group->first; i < problem_group->first + problem_group->count && !status; i++) {
            status = kw_catalog_add(&catalog, &dataset->pairs[i].config, NULL, err);
            if (!status) {
                sum[kw_catalog_find(&catalog, &dataset->pairs[i].config)] += scored_efficiency(j, c, i);
            }
        }
    }
    for (size_t c = 0; c < dataset->problem_group_count && !status; c++) {
        const kw_problem_group *problem_group = &dataset->problem_groups[c];
        double others = fmax(1, (double)problem_groups[problem_group->problem.op][problem_group->problem.dtype] - 1);
        for (size_t i = problem_group->first; i < problem_group->first + problem_group->count; i++) {
            double all = sum[kw_catalog_find(&catalog, &dataset->pairs[i].config)];
            j->scores->ns[i] = 2 - (all - scored_efficiency(j, c, i)) / others;
        }
    }
    kw_catalog_drop(&catalog);
    free(sum);
    return status;
}

/* --- a model ---------------------------------------------------------------------------------------------------------- */

/* All configs of one operation and type, so that what depends on them alone is worked out once. */
typedef struct table {
    kw_catalog catalog;
    const kw_config **configs;
    const kw_launch **launches;
    double *estimates, *ns;
    kw_ranking *ranking;
} table;

static void score_table_drop(table *t) {
    kw_ranking_close(&t->ranking);
    free(t->configs);
    free(t->launches);
    free(t->estimates);
    free(t->ns);
    kw_catalog_drop(&t->catalog);
}

static bool is_in_score_table(const kw_problem_group *problem_group, kw_op op, kw_dtype dtype) {
    return problem_group->problem.op == op && problem_group->problem.dtype == dtype;
}

static kw_status score_table_make(table *t, const job *j, const kw_model *model, kw_op op, kw_dtype dtype, kw_error *err) {
    const kw_dataset *dataset = j->dataset;
    kw_status status = KW_OK;
    for (size_t c = 0; c < dataset->problem_group_count; c++) {
        const kw_problem_group *problem_group = &dataset->problem_groups[c];
        for (size_t i = problem_group->first;
             is_in_score_table(problem_group, op, dtype) && i < problem_group->first + problem_group->count && !status; i++) {
            status = kw_catalog_add(&t->catalog, &dataset->pairs[i].config, NULL, err);
        }
    }
    size_t count = t->catalog.count;
    if (status || !count) {
        return status;
    }
    t->configs = calloc(count, sizeof *t->configs);
    t->launches = calloc(count, sizeof *t->launches);
    t->estimates = calloc(count, sizeof *t->estimates);
    t->ns = calloc(count, sizeof *t->ns);
    if (!t->configs || !t->launches || !t->estimates || !t->ns) {
        return kw_fail_memory(err, "a table of kernels");
    }
    for (size_t i = 0; i < count; i++) {
        t->configs[i] = &t->catalog.configs[i];
    }
    return kw_ranking_open(&t->ranking, model, t->configs, count, err);
}

static void score_group(const job *j, table *t, const kw_problem_group *problem_group) {
    const kw_pair *pairs = j->dataset->pairs;
    memset(t->launches, 0, t->catalog.count * sizeof *t->launches);
    for (size_t i = problem_group->first; i < problem_group->first + problem_group->count; i++) {
        size_t place = kw_catalog_find(&t->catalog, &pairs[i].config);
        t->launches[place] = &pairs[i].launch;
        t->estimates[place] = pairs[i].estimate_ns;
    }
    kw_ranking_score(t->ranking, &problem_group->problem, &problem_group->target, t->launches, t->estimates, t->ns);
    for (size_t i = problem_group->first; i < problem_group->first + problem_group->count; i++) {
        j->scores->ns[i] = t->ns[kw_catalog_find(&t->catalog, &pairs[i].config)];
    }
}

static kw_status score_op_and_dtype(const job *j, const kw_model *model, kw_op op, kw_dtype dtype, kw_error *err) {
    table t = {0};
    bool serves = kw_model_serves(model, op, dtype);
    kw_status status = serves ? score_table_make(&t, j, model, op, dtype, err) : KW_OK;
    for (size_t c = 0; c < j->dataset->problem_group_count && !status; c++) {
        const kw_problem_group *problem_group = &j->dataset->problem_groups[c];
        if (is_in_score_table(problem_group, op, dtype)) {
            j->scores->served[c] = serves && kw_model_distance(model, &problem_group->target) >= 0;
            if (j->scores->served[c]) {
                score_group(j, &t, problem_group);
            }
        }
    }
    score_table_drop(&t);
    return status;
}

static kw_status score_model(const job *j, kw_error *err) {
    kw_model *model = NULL;
    kw_status status = kw_model_open(&model, j->scorer->by, err);
    for (int op = 0; op < KW_OP_COUNT && !status; op++) {
        for (int dtype = 0; dtype < KW_DTYPE_COUNT && !status; dtype++) {
            status = score_op_and_dtype(j, model, (kw_op)op, (kw_dtype)dtype, err);
        }
    }
    kw_model_close(&model);
    return status;
}

/* --- a file of predictions -------------------------------------------------------------------------------------------- */

/* A pair by the hash of its texts. */
typedef struct known {
    uint64_t hash;
    size_t pair, problem_group;
} known;

static int by_hash(const void *left, const void *right) {
    const known *a = left, *b = right;
    return (a->hash > b->hash) - (a->hash < b->hash);
}

static kw_status list_known_predictions(known **list, const kw_dataset *dataset, kw_error *err) {
    known *made = calloc(dataset->pair_count + 1, sizeof *made);
    *list = made;
    if (!made) {
        return kw_fail_memory(err, "a list of pairs");
    }
    for (size_t c = 0; c < dataset->problem_group_count; c++) {
        const kw_problem_group *problem_group = &dataset->problem_groups[c];
        char text[KW_TARGET_TEXT_MAX + KW_PROBLEM_TEXT_MAX + KW_CONFIG_TEXT_MAX + 8], target[KW_TARGET_TEXT_MAX];
        char problem[KW_PROBLEM_TEXT_MAX], config[KW_CONFIG_TEXT_MAX];
        kw_target_print(target, sizeof target, &problem_group->target);
        kw_problem_print(problem, sizeof problem, &problem_group->problem);
        for (size_t i = problem_group->first; i < problem_group->first + problem_group->count; i++) {
            kw_line line = {.data = text, .capacity = sizeof text};
            kw_config_print(config, sizeof config, &dataset->pairs[i].config);
            kw_line_addf(&line, "%s,%s,%s,%d,%d", target, problem, config, problem_group->packed, problem_group->cold);
            made[i] = (known){kw_hash64(text, line.size), i, c};
        }
    }
    qsort(made, dataset->pair_count, sizeof *made, by_hash);
    return KW_OK;
}

/* Which column has the predictions; -1: none. The first five are what a pair is. */
static int find_csv_column(kw_scan head, const char *name) {
    static const char *const first[] = {"target", "problem", "config", "packed", "cold"};
    kw_word word;
    for (int i = 0; kw_scan_field(&head, ',', &word); i++) {
        if (i < 5 && !kw_word_is(word, first[i])) {
            return -1;
        }
        if (kw_word_is(word, name)) {
            return i;
        }
    }
    return -1;
}

/* A line's prediction into the pair that it is of; a pair that is not among the rows is passed over. */
static bool take_prediction(const job *j, const known *list, kw_word line, int column) {
    kw_scan scan = {line.at, line.at + line.size};
    kw_word word, value = {0};
    size_t key = 0;
    int i = 0;
    for (; kw_scan_field(&scan, ',', &word); i++) {
        key = i == 4 ? (size_t)(word.at + word.size - line.at) : key;
        value = i == column ? word : value;
    }
    double ns = NAN;
    if (i <= column || (value.size && !kw_number_read(value, &ns))) {
        return false;
    }
    known wanted = {.hash = kw_hash64(line.at, key)};
    const known *found = bsearch(&wanted, list, j->dataset->pair_count, sizeof wanted, by_hash);
    if (found && isfinite(ns)) {
        j->scores->ns[found->pair] = ns;
        j->scores->served[found->problem_group] = true;
    }
    return true;
}

static kw_status take_predictions(const job *j, const known *list, const kw_text *text, kw_error *err) {
    kw_scan scan = {text->data, text->data + text->size};
    const char *folds = j->scorer->folds ? j->scorer->folds : "shape";
    char name[64];
    kw_word line;
    int64_t number = 1;
    kw_line made = {.data = name, .capacity = sizeof name};
    kw_line_addf(&made, "predicted_ns_by_%.20s", folds);
    int column = kw_scan_line(&scan, &line) ? find_csv_column((kw_scan){line.at, line.at + line.size}, name) : -1;
    if (column < 0) {
        return kw_fail(err, KW_MALFORMED, "%.300s: no predictions: its columns must be target,problem,config,packed,cold and %s",
                       j->scorer->by, name);
    }
    while (kw_scan_line(&scan, &line)) {
        number++;
        if (!take_prediction(j, list, line, column)) {
            return kw_fail(err, KW_MALFORMED, "%.300s:%" PRId64 ": %s is not a number", j->scorer->by, number, name);
        }
    }
    return KW_OK;
}

static kw_status score_predictions(const job *j, kw_error *err) {
    kw_arena arena = {0};
    kw_text text = {0};
    known *list = NULL;
    char *data = NULL;
    size_t size = 0;
    kw_status status = kw_file_read(&arena, j->scorer->by, PREDICTIONS_LIMIT, &data, &size, err);
    status = status ? status : kw_gzip_unpack_any(&text, data, size, PREDICTIONS_LIMIT, err);
    kw_arena_drop(&arena);
    memset(j->scores->served, 0, j->dataset->problem_group_count * sizeof *j->scores->served);
    status = status ? status : list_known_predictions(&list, j->dataset, err);
    status = status ? status : take_predictions(j, list, &text, err);
    kw_text_drop(&text);
    free(list);
    return status;
}

/* --- all -------------------------------------------------------------------------------------------------------------- */

kw_status kw_scores_make(kw_scores *scores, const kw_dataset *dataset, const kw_group_oracle *oracles, const kw_scorer *scorer,
                         kw_error *err) {
    const char *by = scorer->by ? scorer->by : "estimate";
    job j = {scores, dataset, oracles, scorer};
    *scores = (kw_scores){.ns = calloc(dataset->pair_count + 1, sizeof *scores->ns),
                          .served = calloc(dataset->problem_group_count + 1, sizeof *scores->served)};
    if (!scores->ns || !scores->served) {
        kw_scores_drop(scores);
        return kw_fail_memory(err, "predicted times");
    }
    memset(scores->served, true, dataset->problem_group_count * sizeof *scores->served);
    for (size_t i = 0; i < dataset->pair_count; i++) {
        scores->ns[i] = NAN;
    }
    kw_status status = KW_OK;
    if (!strcmp(by, "estimate")) {
        scores->kind = KW_SCORES_ESTIMATE;
        score_estimate(&j);
    } else if (!strcmp(by, "random")) {
        scores->kind = KW_SCORES_UNTIMED;
        score_random(&j);
    } else if (!strcmp(by, "single")) {
        scores->kind = KW_SCORES_UNTIMED;
        status = score_single(&j, err);
    } else {
        status = kw_scorer_is_model(by) ? score_model(&j, err) : score_predictions(&j, err);
    }
    if (status) {
        kw_scores_drop(scores);
    }
    return status;
}

void kw_scores_drop(kw_scores *scores) {
    free(scores->ns);
    free(scores->served);
    *scores = (kw_scores){0};
}
