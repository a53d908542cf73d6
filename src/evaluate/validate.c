/* validate.c: kw_validate. What chose the selection and the best kernel were old samples; these are new ones, so a claim that rested on
 * noise, on another state of the machine or on a mistake in the rows does not come back. */
#include "base/sized.h"
#include "backend/backend.h"
#include "base/hash.h"
#include "base/statistics/stats.h"
#include "sweep/shards/manifest.h"
#include "evaluate/evaluate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT = 50, PATH_SIZE = 4096 };
typedef struct session {
    const kw_evaluation *evaluation;
    const kw_validate_options *options;
    kw_validate_report *report;
    const kw_group_evaluation **chosen;
    size_t count;
    char folder[PATH_SIZE - 64], pairs[PATH_SIZE], store[PATH_SIZE];
    kw_dataset remeasured;
    kw_error *err;
} session;

/* --- which problem groups --------------------------------------------------------------------------------------------------- */

typedef struct drawn {
    uint64_t order;
    const kw_group_evaluation *evaluation_of_group;
} drawn;

static int by_draw_order(const void *left, const void *right) {
    const drawn *a = left, *b = right;
    return a->order != b->order ? (a->order > b->order) - (a->order < b->order)
                                : (a->evaluation_of_group > b->evaluation_of_group) - (a->evaluation_of_group < b->evaluation_of_group);
}

/* A selection that failed is not run again: it is known to be worth nothing. */
static bool can_be_measured(const kw_evaluation *e, const kw_group_evaluation *j, const kw_target *here) {
    const kw_problem_group *problem_group = &e->dataset.problem_groups[j->problem_group];
    kw_target wanted = problem_group->target;
    wanted.units = here->units; /* threads are an option of the sweep */
    return problem_group->packed && !problem_group->cold && !j->failed && kw_target_is_same(&wanted, here);
}

static kw_status draw_problem_groups(session *s, int32_t *threads) {
    const kw_evaluation *e = s->evaluation;
    size_t limit = s->options->limit ? s->options->limit : LIMIT;
    kw_target here;
    drawn *list = calloc(e->count + 1, sizeof *list);
    s->chosen = calloc(e->count + 1, sizeof *s->chosen);
    if (!list || !s->chosen) {
        free(list);
        return kw_fail_memory(s->err, "a validation");
    }
    kw_cpu_target(&here, 1);
    size_t count = 0;
    int64_t units = 0;
    for (size_t i = 0; i < e->count; i++) {
        const kw_problem_group *problem_group = &e->dataset.problem_groups[e->group_evaluations[i].problem_group];
        if (can_be_measured(e, &e->group_evaluations[i], &here) && (!units || units == problem_group->target.units)) {
            uint64_t key[2] = {s->options->seed, problem_group->hash};
            units = problem_group->target.units;
            list[count++] = (drawn){kw_hash64(key, sizeof key), &e->group_evaluations[i]};
        }
    }
    qsort(list, count, sizeof *list, by_draw_order);
    s->count = count < limit ? count : limit;
    for (size_t i = 0; i < s->count; i++) {
        s->chosen[i] = list[i].evaluation_of_group;
    }
    free(list);
    *threads = (int32_t)units;
    char text[KW_TARGET_TEXT_MAX];
    kw_target_print(text, sizeof text, &here);
    return s->count ? KW_OK
                    : kw_fail(s->err, KW_FAILED, "no problem group was timed hot with packed weights on this machine, %.200s", text);
}

/* --- measuring -------------------------------------------------------------------------------------------------------- */

static const kw_config *config_of(const session *s, size_t pair) {
    return &s->evaluation->dataset.pairs[pair].config;
}

/* The product of all kernels and problems, then only the pairs that are wanted. */
static kw_status make_validation_manifest(const session *s, kw_manifest *m) {
    const char **texts = calloc(2 * s->count, sizeof *texts);
    char(*config_texts)[KW_CONFIG_TEXT_MAX] = calloc(2 * s->count, sizeof *config_texts);
    kw_problem *problems = calloc(s->count, sizeof *problems);
    kw_status status = texts && config_texts && problems ? KW_OK : kw_fail_memory(s->err, "a validation");
    for (size_t i = 0; i < s->count && !status; i++) {
        problems[i] = s->evaluation->dataset.problem_groups[s->chosen[i]->problem_group].problem;
        kw_config_print(config_texts[2 * i], sizeof *config_texts, config_of(s, s->chosen[i]->selection));
        kw_config_print(config_texts[2 * i + 1], sizeof *config_texts, config_of(s, s->chosen[i]->best));
        texts[2 * i] = config_texts[2 * i];
        texts[2 * i + 1] = config_texts[2 * i + 1];
    }
    status = status ? status : kw_manifest_create(m, texts, 2 * s->count, problems, s->count, s->err);
    for (size_t i = 0; i < s->count && !status; i++) {
        uint32_t a = (uint32_t)kw_catalog_find(&m->configs, config_of(s, s->chosen[i]->selection));
        uint32_t b = (uint32_t)kw_catalog_find(&m->configs, config_of(s, s->chosen[i]->best));
        uint32_t low = a < b ? a : b, high = a < b ? b : a;
        status = kw_manifest_add_run(m, (kw_manifest_run){(uint32_t)i, low, low}, s->err);
        status = status || low == high ? status : kw_manifest_add_run(m, (kw_manifest_run){(uint32_t)i, high, high}, s->err);
    }
    free(texts);
    free(config_texts);
    free(problems);
    return status;
}

static kw_status remeasure_pairs(session *s, int32_t threads) {
    const kw_validate_options *o = s->options;
    kw_manifest m = {0};
    kw_sweep_report report;
    kw_status status = make_validation_manifest(s, &m);
    status = status ? status : kw_manifest_write(&m, s->pairs, s->err);
    kw_manifest_drop(&m);
    kw_sweep_options sweep = {.size = sizeof(kw_sweep_options),
                              .pairs = s->pairs,
                              .candidates = "selections and best kernels of an evaluation",
                              .list = "problem groups of an evaluation",
                              .out = s->store,
                              .workers.devices = o->workers.devices,
                              .workers.program = o->workers.program,
                              .command = o->command,
                              .workers.threads = threads,
                              .timing.batches = o->batches,
                              .timing.exhaustive = true,
                              .timing.seed = o->seed,
                              .build.cache_dir = o->build.cache_dir,
                              .build.compiler = o->build.compiler,
                              .stop = o->stop,
                              .progress = o->progress,
                              .log = o->log,
                              .user = o->user};
    status = status ? status : kw_sweep(&sweep, &report, s->err);
    const char *const paths[] = {s->store};
    return status ? status : kw_dataset_open(&s->remeasured, paths, 1, NULL, s->err);
}

/* --- evaluating ---------------------------------------------------------------------------------------------------------- */

/* The new times of a kernel on the problem of an old problem group; NULL where there are none. */
static const kw_pair *find_remeasured(const session *s, const kw_problem_group *old, const kw_config *config) {
    for (size_t c = 0; c < s->remeasured.problem_group_count; c++) {
        const kw_problem_group *problem_group = &s->remeasured.problem_groups[c];
        for (size_t i = problem_group->first; problem_group->hash == old->hash && i < problem_group->first + problem_group->count; i++) {
            const kw_config *other = &s->remeasured.pairs[i].config;
            if (other->family == config->family && !memcmp(other, config, sizeof *config) && s->remeasured.pairs[i].outcome == KW_GOOD) {
                return &s->remeasured.pairs[i];
            }
        }
    }
    return NULL;
}

static double pair_score(const kw_pair *pair) {
    kw_record record = kw_pair_record(pair);
    return kw_record_score(&record);
}

static void note_worst_loss(kw_validate_report *r, double old_efficiency, double new_efficiency, const kw_problem *problem) {
    if (old_efficiency - new_efficiency > r->worst_loss) {
        r->worst_loss = old_efficiency - new_efficiency;
        kw_problem_print(r->worst, sizeof r->worst, problem);
    }
}

static kw_status summarize_validation(session *s) {
    kw_validate_report *r = s->report;
    const kw_dataset *old = &s->evaluation->dataset;
    double *old_efficiency = calloc(s->count + 1, sizeof *old_efficiency), *new_efficiency = calloc(s->count + 1, sizeof *new_efficiency);
    double *drift = calloc(s->count + 1, sizeof *drift);
    kw_group_evaluation *list = calloc(s->count + 1, sizeof *list);
    kw_status status = old_efficiency && new_efficiency && drift && list ? KW_OK : kw_fail_memory(s->err, "a validation");
    size_t count = 0;
    for (size_t i = 0; i < s->count && !status; i++) {
        const kw_group_evaluation *j = s->chosen[i];
        const kw_problem_group *problem_group = &old->problem_groups[j->problem_group];
        const kw_pair *selection = find_remeasured(s, problem_group, &old->pairs[j->selection].config),
                      *best = find_remeasured(s, problem_group, &old->pairs[j->best].config);
        if (!selection || !best) {
            r->failed++;
            continue;
        }
        list[count] = *j;
        old_efficiency[count] = j->efficiency;
        new_efficiency[count] =
            selection == best || kw_pair_tied(best, selection, &kw_noise_credit) ? 1 : fmin(1, pair_score(best) / pair_score(selection));
        drift[count] = pair_score(best) / pair_score(&old->pairs[j->best]);
        note_worst_loss(r, old_efficiency[count], new_efficiency[count], &problem_group->problem);
        count++;
    }
    r->problem_groups = (int64_t)count;
    if (!status && !count) {
        status = kw_fail(s->err, KW_FAILED, "none of %zu problem groups could be measured again", s->count);
    }
    status = status ? status : kw_mean_metric(&r->old_efficiency, list, old_efficiency, count, s->err);
    status = status ? status : kw_mean_metric(&r->new_efficiency, list, new_efficiency, count, s->err);
    if (!status) {
        kw_stat_sort(new_efficiency, count);
        kw_stat_sort(drift, count);
        r->new_p10 = kw_stat_quantile(new_efficiency, count, 0.1);
        r->drift = kw_stat_quantile(drift, count, 0.5);
    }
    free(old_efficiency);
    free(new_efficiency);
    free(drift);
    free(list);
    return status;
}

/* --- places ----------------------------------------------------------------------------------------------------------- */

static kw_status make_validation_paths(session *s) {
    const char *place = getenv("TMPDIR"), *out = s->options->out;
    int size = snprintf(s->folder, sizeof s->folder, "%s/kwright-validate-XXXXXX", place && *place ? place : "/tmp");
    if (size < 0 || (size_t)size >= sizeof s->folder || !mkdtemp(s->folder)) {
        *s->folder = 0;
        return kw_fail(s->err, KW_IO, "cannot make a folder in %.200s: %s; set TMPDIR", place && *place ? place : "/tmp", strerror(errno));
    }
    snprintf(s->pairs, sizeof s->pairs, "%s/pairs.manifest", s->folder);
    snprintf(s->store, sizeof s->store, "%s/rows.db", s->folder);
    if (out && !access(out, F_OK)) {
        return kw_fail(s->err, KW_ILLEGAL, "%.300s is there already; its rows would be taken for new ones", out);
    }
    if (out && (size_t)snprintf(s->store, sizeof s->store, "%s", out) >= sizeof s->store) {
        return kw_fail(s->err, KW_ILLEGAL, "the store's name is longer than %d characters", PATH_SIZE - 1);
    }
    return KW_OK;
}

static void remove_validation_paths(const session *s) {
    static const char *const names[] = {"pairs.manifest",  "rows.db",      "rows.db-wal",     "rows.db-shm",
                                        "rows.db-journal", "rows.db-lock", "rows.db.manifest"};
    for (size_t i = 0; *s->folder && i < sizeof names / sizeof *names; i++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "%s/%s", s->folder, names[i]);
        unlink(path);
    }
    if (*s->folder) {
        rmdir(s->folder);
    }
}

kw_status kw_validate(const kw_evaluation *evaluation, const kw_validate_options *options, kw_validate_report *report, kw_error *err) {
    if (!evaluation || !report) {
        return kw_fail(err, KW_ILLEGAL, "kw_validate: %s is NULL", report ? "evaluation" : "report");
    }
    *report = (kw_validate_report){0};
    kw_validate_options own;
    kw_status status = KW_SIZED_READ(&own, kw_validate_options, user, options, err);
    if (status) {
        return status;
    }
    options = &own;
    session *s = calloc(1, sizeof *s);
    if (!s) {
        return kw_fail_memory(err, "a validation");
    }
    s->evaluation = evaluation;
    s->options = options;
    s->report = report;
    s->err = err;
    int32_t threads = 1;
    status = draw_problem_groups(s, &threads);
    status = status ? status : make_validation_paths(s);
    status = status ? status : remeasure_pairs(s, threads);
    status = status ? status : summarize_validation(s);
    remove_validation_paths(s);
    kw_dataset_close(&s->remeasured);
    free(s->chosen);
    free(s);
    return status;
}
