/* dataset.c: rows into problem groups and pairs. Rows come sorted by target, problem and config, so a problem group is found among the
 * four (packed or not, cold or not) of the problem under way; at the end the pairs are put behind one another by problem group, in the
 * order of their texts. */
#include "learn/data/dataset.h"

#include "base/container/array.h"
#include "base/hash.h"
#include "base/order.h"
#include "measure/measure.h"
#include "predict/ck/ck_kernels.h"
#include "predict/ck/ck_rows.h"
#include "predict/predict.h"
#include "space/problems/family_key.h"
#include "learn/data/rows.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 4 };

typedef struct entry {
    kw_pair pair;
    size_t problem_group;
    uint64_t hash; /* of what is used of the row */
} entry;

/* What the runs on a target said of its cores: of several the highest. */
typedef struct machine {
    char target[KW_TARGET_TEXT_MAX];
    kw_rates rates;
} machine;

typedef struct reading {
    kw_dataset *dataset;
    machine *machines;
    size_t machine_count, machine_capacity;
    entry *entries;
    size_t count, capacity, problem_group_capacity;
    uint64_t *holdout; /* sorted hashes */
    size_t holdout_count;
    char target_text[KW_TARGET_TEXT_MAX], problem_text[KW_PROBLEM_TEXT_MAX], config_text[KW_CONFIG_TEXT_MAX];
    kw_target target;
    kw_problem problem;
    kw_config config;
    bool target_known, problem_known, config_known;
    bool ck;            /* the config is one of CK Tile */
    size_t kind[KINDS]; /* problem group of each kind for the problem under way, plus 1; 0: none yet */
    bool with_ck;
    bool good; /* there was memory for everything */
} reading;

static uint64_t hash_without_dtype(const kw_problem *problem) {
    char text[KW_PROBLEM_TEXT_MAX];
    kw_problem plain = *problem;
    plain.dtype = KW_FP32;
    kw_problem_print(text, sizeof text, &plain);
    return kw_hash64(text, strlen(text));
}

static kw_rates *rates_of(reading *r, const char *target) {
    for (size_t i = 0; i < r->machine_count; i++) {
        if (!strcmp(r->machines[i].target, target)) {
            return &r->machines[i].rates;
        }
    }
    return NULL;
}

static bool add_dataset_run(void *user, const kw_run *run) {
    reading *r = user;
    kw_rates rates = {0}, *known = rates_of(r, run->target);
    if (!kw_rates_parse(&rates, (kw_word){run->roofs, strlen(run->roofs)})) {
        return true; /* of a run before rates were known: the defaults stand for it */
    }
    if (!known) {
        if (!KW_ARRAY_RESERVE(r->machines, r->machine_capacity, r->machine_count + 1)) {
            return r->good = false;
        }
        machine *made = &r->machines[r->machine_count++];
        *made = (machine){.rates = {0}};
        snprintf(made->target, sizeof made->target, "%s", run->target);
        known = &made->rates;
    }
    kw_rates_raise(known, &rates);
    return true;
}

/* Parses the row's three texts, each only when it is not the one before. false: one of them is not ours. */
static bool parse_row(reading *r, const kw_row *row) {
    if (strcmp(r->target_text, row->target) != 0) {
        memcpy(r->target_text, row->target, sizeof r->target_text);
        r->target_known = !kw_target_parse(&r->target, row->target, NULL);
        const kw_rates *rates = r->target_known ? rates_of(r, row->target) : NULL;
        r->target.rates = rates ? *rates : (kw_rates){0};
        r->problem_text[0] = 0;
    }
    if (strcmp(r->problem_text, row->problem) != 0) {
        memcpy(r->problem_text, row->problem, sizeof r->problem_text);
        r->problem_known = !kw_problem_parse(&r->problem, row->problem, NULL);
        memset(r->kind, 0, sizeof r->kind);
    }
    if (strcmp(r->config_text, row->record.config) != 0) {
        memcpy(r->config_text, row->record.config, sizeof r->config_text);
        r->config_known = !kw_config_parse(&r->config, row->record.config, NULL);
        r->ck = !r->config_known && r->with_ck && !kw_ck_config_read(&r->config, row->record.config, NULL);
    }
    return r->target_known && r->problem_known && (r->config_known || r->ck);
}

/* Whether the config serves the problem there, as far as it is known. */
static bool row_fits(const reading *r) {
    if (r->ck) {
        return kw_target_is_gpu(&r->target) && !kw_ck_config_fits(&r->config, &r->problem, NULL);
    }
    return r->config.op == r->problem.op && r->config.dtype == r->problem.dtype &&
           !kw_config_fits(&r->config, &r->problem, &r->target, NULL);
}

/* The problem group of the row, made if it is new; SIZE_MAX for want of memory. */
static size_t problem_group_of(reading *r, const kw_row *row) {
    kw_dataset *dataset = r->dataset;
    size_t *kind = &r->kind[(row->packed ? 1 : 0) + (row->record.cold ? 2 : 0)];
    if (*kind) {
        return *kind - 1;
    }
    if (!KW_ARRAY_RESERVE(dataset->problem_groups, r->problem_group_capacity, dataset->problem_group_count + 1)) {
        r->good = false;
        return SIZE_MAX;
    }
    kw_problem_group *problem_group = &dataset->problem_groups[dataset->problem_group_count];
    *problem_group = (kw_problem_group){.problem = r->problem, .target = r->target, .packed = row->packed, .cold = row->record.cold};
    char text[KW_PROBLEM_TEXT_MAX];
    kw_problem_print(text, sizeof text, &r->problem);
    problem_group->hash = kw_hash64(text, strlen(text));
    kw_line bucket = {.data = problem_group->bucket, .capacity = sizeof problem_group->bucket};
    kw_family_key(&bucket, &r->problem);
    uint64_t plain = hash_without_dtype(&r->problem);
    problem_group->holdout = bsearch(&plain, r->holdout, r->holdout_count, sizeof plain, kw_order_uint64_items);
    *kind = ++dataset->problem_group_count;
    return *kind - 1;
}

/* What a change of would be another data set. */
static uint64_t hash_of(const kw_row *row) {
    char text[2048];
    kw_line line = {.data = text, .capacity = sizeof text};
    const kw_record *record = &row->record;
    kw_line_addf(&line, "%s\n%s\n%s\n%d %d %s %d %a %a %a %a", row->target, row->problem, record->config, row->packed, record->cold,
                 kw_outcome_name(record->outcome), (int)record->samples, record->time_ns, record->spread_ns, record->half_ns[0],
                 record->half_ns[1]);
    if (row->registers) {
        kw_line_addf(&line, " %d %d %d", (int)row->registers, (int)row->spilled_bytes, (int)row->shared_bytes);
    }
    return kw_hash64(text, line.size < sizeof text ? line.size : sizeof text - 1);
}

/* A time from elsewhere is one number: it is its own halves, and what is mistrusted only because nobody here could verify it counts. */
static void take_ck_time(kw_pair *pair) {
    if (pair->outcome == KW_MISTRUSTED && pair->time_ns > 0) {
        pair->outcome = KW_GOOD;
        pair->samples = pair->samples ? pair->samples : 1;
    }
    if (pair->outcome == KW_GOOD && !(pair->half_ns[0] > 0)) {
        pair->half_ns[0] = pair->half_ns[1] = pair->time_ns;
    }
}

static bool add_dataset_row(void *user, const kw_row *row) {
    reading *r = user;
    kw_dataset *dataset = r->dataset;
    const kw_record *record = &row->record;
    dataset->outcome[record->outcome]++;
    if (record->outcome == KW_UNFIT || record->outcome == KW_SPILLS || record->outcome == KW_TOO_MUCH_LDS) {
        return true;
    }
    if (record->outcome == KW_UNTRIED || (record->outcome == KW_GOOD && !(record->time_ns > 0 && kw_record_score(record) > 0))) {
        dataset->untimed++;
        return true;
    }
    if (!parse_row(r, row) || !row_fits(r)) {
        dataset->foreign++;
        return true;
    }
    size_t problem_group = problem_group_of(r, row);
    if (problem_group == SIZE_MAX || !KW_ARRAY_RESERVE(r->entries, r->capacity, r->count + 1)) {
        return r->good = false;
    }
    entry *made = &r->entries[r->count++];
    *made = (entry){.problem_group = problem_group, .hash = hash_of(row)};
    made->pair = (kw_pair){.config = r->config,
                           .outcome = record->outcome,
                           .samples = record->samples,
                           .time_ns = record->time_ns,
                           .spread_ns = record->spread_ns,
                           .half_ns = {record->half_ns[0], record->half_ns[1]},
                           .need = {row->registers, row->spilled_bytes, row->shared_bytes}};
    if (r->ck) {
        take_ck_time(&made->pair);
        dataset->ck++;
    }
    kw_config_launch(&r->config, &r->problem, &r->target, &made->pair.launch);
    made->pair.estimate_ns = kw_predict_ns(&r->config, &r->problem, &r->target, &made->pair.launch);
    return true;
}

/* Puts the pairs of each problem group behind one another; within a problem group they keep their order. */
static kw_status finish_dataset(reading *r, kw_error *err) {
    kw_dataset *dataset = r->dataset;
    uint64_t *hashes = calloc(r->count + 1, sizeof *hashes);
    dataset->pairs = calloc(r->count + 1, sizeof *dataset->pairs);
    if (!hashes || !dataset->pairs) {
        free(hashes);
        return kw_fail_memory(err, "the data set");
    }
    for (size_t i = 0; i < r->count; i++) {
        dataset->problem_groups[r->entries[i].problem_group].count++;
    }
    size_t first = 0;
    for (size_t i = 0; i < dataset->problem_group_count; i++) {
        dataset->problem_groups[i].first = first;
        first += dataset->problem_groups[i].count;
        dataset->problem_groups[i].count = 0;
    }
    assert(first == r->count); /* every entry is in one problem group */
    for (size_t i = 0; i < r->count; i++) {
        kw_problem_group *problem_group = &dataset->problem_groups[r->entries[i].problem_group];
        size_t place = problem_group->first + problem_group->count++;
        dataset->pairs[place] = r->entries[i].pair;
        hashes[place] = r->entries[i].hash;
    }
    dataset->pair_count = r->count;
    kw_hash_text(dataset->digest, hashes, r->count * sizeof *hashes);
    free(hashes);
    return KW_OK;
}

static kw_status hash_holdout(reading *r, const kw_dataset_filter *filter, kw_error *err) {
    r->holdout = calloc(filter->holdout_count + 1, sizeof *r->holdout);
    if (!r->holdout) {
        return kw_fail_memory(err, "the held-out problems");
    }
    for (size_t i = 0; i < filter->holdout_count; i++) {
        r->holdout[i] = hash_without_dtype(&filter->holdout[i]);
    }
    qsort(r->holdout, filter->holdout_count, sizeof *r->holdout, kw_order_uint64_items);
    r->holdout_count = filter->holdout_count;
    return KW_OK;
}

kw_status kw_dataset_open(kw_dataset *dataset, const char *const *paths, size_t count, const kw_dataset_filter *filter, kw_error *err) {
    static const kw_dataset_filter all = {0};
    filter = filter ? filter : &all;
    *dataset = (kw_dataset){0};
    reading *r = calloc(1, sizeof *r);
    if (!r) {
        return kw_fail_memory(err, "the data set");
    }
    r->dataset = dataset;
    r->good = true;
    r->with_ck = filter->ck;
    kw_row_filter rows = {.size = sizeof(kw_row_filter),
                          .answers = true,
                          .by_op = filter->by_op,
                          .by_dtype = filter->by_dtype,
                          .op = filter->op,
                          .dtype = filter->dtype};
    kw_status status = hash_holdout(r, filter, err);
    status = status ? status : kw_rows_visit(paths, count, &rows, &(kw_rows_visitor){add_dataset_run, add_dataset_row, r}, err);
    if (!status && !r->good) {
        status = kw_fail_memory(err, "the data set");
    }
    status = status ? status : finish_dataset(r, err);
    free(r->machines);
    free(r->entries);
    free(r->holdout);
    free(r);
    if (status) {
        kw_dataset_close(dataset);
    }
    return status;
}

void kw_dataset_close(kw_dataset *dataset) {
    free(dataset->problem_groups);
    free(dataset->pairs);
    *dataset = (kw_dataset){0};
}

kw_record kw_pair_record(const kw_pair *pair) {
    return (kw_record){.outcome = pair->outcome,
                       .samples = pair->samples,
                       .time_ns = pair->time_ns,
                       .spread_ns = pair->spread_ns,
                       .half_ns = {pair->half_ns[0], pair->half_ns[1]}};
}

kw_status kw_dataset_features(double **rows, const kw_dataset *dataset, const kw_native_features *native, kw_error *err) {
    size_t columns = kw_native_features_table(native)->count, start = kw_native_features_config_start(native);
    double *made = calloc(dataset->pair_count * columns + 1, sizeof *made);
    *rows = made;
    if (!made) {
        return kw_fail_memory(err, "the features");
    }
    for (size_t c = 0; c < dataset->problem_group_count; c++) {
        const kw_problem_group *problem_group = &dataset->problem_groups[c];
        kw_native_features_problem sight;
        kw_native_problem_read(&sight, &problem_group->problem, &problem_group->target);
        double *first = made + problem_group->first * columns;
        for (size_t i = 0; i < problem_group->count; i++) {
            const kw_pair *pair = &dataset->pairs[problem_group->first + i];
            double *row = first + i * columns;
            if (i) {
                memcpy(row, first, start * sizeof *row);
            } else {
                kw_native_features_fill_problem(native, row, &sight);
            }
            kw_native_features_fill_config(native, row, &pair->config);
            kw_native_features_tiles tiles = kw_native_features_tiles_of(&pair->config);
            tiles.need = pair->need;
            kw_native_features_fill_tiled(native, row, &sight, &tiles, &pair->launch, pair->estimate_ns);
        }
    }
    return KW_OK;
}

kw_status kw_dataset_ck_features(double **rows, const kw_feature_table **table, const kw_dataset *dataset, kw_error *err) {
    *table = dataset->problem_group_count ? kw_ck_table(dataset->problem_groups[0].problem.op) : NULL;
    double *made = calloc(dataset->pair_count * KW_CK_FEATURES_MAX + 1, sizeof *made);
    *rows = made;
    if (!made) {
        return kw_fail_memory(err, "the features");
    }
    for (size_t c = 0; c < dataset->problem_group_count; c++) {
        const kw_problem_group *group = &dataset->problem_groups[c];
        for (size_t i = group->first; i < group->first + group->count; i++) {
            const kw_config *config = &dataset->pairs[i].config;
            if (kw_ck_table(config->op) != *table || !kw_ck_describes(config)) {
                char text[KW_CONFIG_TEXT_MAX];
                kw_config_print(text, sizeof text, config);
                return kw_fail(err, KW_ILLEGAL,
                               "published features are of GEMM or of convolutions, and of kernels with tiles and a pipeline; %.200s is of "
                               "another kind than the rest: choose by --op, or train on native features",
                               text);
            }
            kw_ck_row(made + i * (*table)->count, config, &group->problem, kw_ck_features_hardware_of(group->target.arch));
        }
    }
    return KW_OK;
}

kw_group_work kw_problem_group_work(const kw_dataset *dataset, const kw_problem_group *problem_group) {
    kw_native_features_problem sight;
    kw_native_problem_read(&sight, &problem_group->problem, &problem_group->target);
    return (kw_group_work){dataset->published ? sight.dense_flops : sight.flops, sight.bytes};
}

kw_status kw_problem_group_oracle(const kw_dataset *dataset, const kw_problem_group *problem_group, size_t *index, double *ns,
                                  kw_error *err) {
    const kw_pair *pairs = dataset->pairs + problem_group->first;
    kw_record *records = calloc(problem_group->count + 1, sizeof *records);
    *index = SIZE_MAX;
    *ns = 0;
    if (!records) {
        return kw_fail_memory(err, "the oracle of a problem group");
    }
    for (size_t i = 0; i < problem_group->count; i++) {
        records[i] = kw_pair_record(&pairs[i]);
    }
    size_t winner;
    if (kw_oracle(records, problem_group->count, &winner, ns)) {
        *index = problem_group->first + winner;
    }
    free(records);
    return KW_OK;
}
