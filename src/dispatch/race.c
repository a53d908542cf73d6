/* race.c: build, heats, final, decision. A heat verifies one kernel and times it briefly, giving up early on what is far behind; the
 * final times the few that are near the front, interleaved, so that what disturbs the machine disturbs all alike. Whatever a kernel does
 * wrong ends in its record. */
#include "dispatch/race.h"

#include "base/clock.h"
#include "dispatch/crew.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEAT_BATCHES = 5,
    FINALISTS_MAX = 6,
    LONG_HEATS = 4, /* of a shortlist, when a launch is long */
    LONG_FINALISTS = 3,
    FAILURES_TOLD = 4,
};
static const double long_ns = 20e6; /* a launch above this is long: fewer heats, a short final */
static const double hopeless = 3;   /* a heat gives up at so many times the best */
static const double near = 1.15;    /* of the best heat's time: enters the final */
static const double near_long = 1.05;
static const double noise_floor = 0.01;   /* least width of the noise band */
static const double noise_memory = 0.02;  /* the same where memory decides: its speed varies more from run to run */
static const double noise_ceiling = 0.05; /* a machine so restless that the band would be wider still decides by time */
static const double memory_intensity = 8; /* FLOP a byte: a core does about 100 GFLOP/s and reads 10 to 25 GB/s */

typedef struct entrant {
    kw_loaded *loaded;
    kw_record record;
    bool absent; /* not cached, and there is no compiler */
} entrant;

typedef struct race {
    const kw_request *request;
    const kw_field *field;
    entrant *entrants; /* entrants[i] runs field->list[i] */
    size_t count;
    kw_bench *bench;
    kw_progress progress;
} race;

static void tell_progress(race *r, const entrant *e) {
    r->progress.done++;
    r->progress.failed += !e->loaded || (e->record.outcome != KW_GOOD && e->record.outcome != KW_UNTRIED);
    r->progress.current = e->record.config;
    if (r->request->progress) {
        r->request->progress(r->request->user, &r->progress);
    }
}

static void fail_record(kw_record *record, kw_outcome outcome, const kw_error *why) {
    record->outcome = outcome;
    snprintf(record->detail, sizeof record->detail, "%.*s", (int)sizeof record->detail - 1, why->text);
}

/* --- build -------------------------------------------------------------------------------------------------------- */

static void build_one(void *user, size_t i) {
    race *r = user;
    entrant *e = &r->entrants[i];
    kw_error why = {0};
    kw_status status = kw_shelf_take(&e->loaded, &r->request->context->shelf, r->field->list[i].config, true, &why);
    if (status) {
        fail_record(&e->record, KW_UNCOMPILED, &why);
        e->absent = status == KW_MISSING;
    }
}

static void built_one(void *user, size_t i) {
    race *r = user;
    tell_progress(r, &r->entrants[i]);
}

static kw_status prepare(race *r, kw_error *err) {
    r->entrants = calloc(r->count, sizeof *r->entrants);
    if (!r->entrants) {
        return kw_fail_memory(err, "a race of kernels");
    }
    for (size_t i = 0; i < r->count; i++) {
        kw_config_print(r->entrants[i].record.config, KW_CONFIG_TEXT_MAX, r->field->list[i].config);
        r->entrants[i].record.workspace = r->field->list[i].workspace;
    }
    r->progress = (kw_progress){.total = r->count, .what = "build"};
    kw_crew_run(&(kw_crew){.count = r->count, .work = build_one, .done = built_one, .user = r});
    return KW_OK;
}

/* --- heats -------------------------------------------------------------------------------------------------------- */

static void run_heat(race *r, entrant *e) {
    kw_record *record = &e->record;
    const kw_kernel *kernel = e->loaded->kernel;
    const kw_config *config = &e->loaded->config;
    kw_error why = {0};
    if (kw_bench_verify(r->bench, kernel, config, record, &why)) {
        fail_record(record, KW_UNLAUNCHED, &why);
    }
    if (record->outcome != KW_GOOD) {
        return;
    }
    kw_timing_options brief = {.batches = HEAT_BATCHES, .give_up_ns = hopeless * r->progress.best_ns};
    if (kw_bench_time(r->bench, &kernel, &config, 1, &brief, record, &why)) {
        fail_record(record, KW_UNLAUNCHED, &why);
        return;
    }
    if (record->samples && (r->progress.best_ns <= 0 || record->time_ns < r->progress.best_ns)) {
        r->progress.best_ns = record->time_ns;
    }
}

static void run_heats(race *r) {
    char time[32];
    size_t measured = 0;
    bool brief = r->request->mode != KW_EXHAUSTIVE;
    r->progress = (kw_progress){.total = r->count, .what = "measure"};
    for (size_t i = 0; i < r->count; i++) {
        entrant *e = &r->entrants[i];
        if (e->loaded && brief && measured >= LONG_HEATS && r->progress.best_ns > long_ns) {
            kw_time_print(time, r->progress.best_ns);
            snprintf(e->record.detail, sizeof e->record.detail, "not measured: one launch takes %s, so only %d were", time, LONG_HEATS);
        } else if (e->loaded) {
            run_heat(r, e);
            measured += e->record.outcome == KW_GOOD;
        }
        tell_progress(r, e);
    }
}

/* --- final -------------------------------------------------------------------------------------------------------- */

static bool is_timed(const entrant *e) {
    return e->record.outcome == KW_GOOD && e->record.samples > 0;
}

static int by_record(const kw_record *a, const kw_record *b) {
    int left = a->outcome == KW_GOOD      ? 0
               : a->outcome == KW_UNTRIED ? 1
                                          : 2,
        right = b->outcome == KW_GOOD      ? 0
                : b->outcome == KW_UNTRIED ? 1
                                           : 2;
    if (left != right) {
        return left - right;
    }
    if (left == 0 && a->time_ns != b->time_ns) {
        return a->time_ns < b->time_ns ? -1 : 1;
    }
    return strcmp(a->config, b->config);
}

static int by_entrant(const void *a, const void *b) {
    return by_record(&((const entrant *)a)->record, &((const entrant *)b)->record);
}

/* After it the entrants stand best first, and the first *finalists of them were timed together. */
static void run_final(race *r, size_t *finalists) {
    qsort(r->entrants, r->count, sizeof *r->entrants, by_entrant);
    bool is_long = r->progress.best_ns > long_ns;
    size_t most = is_long ? LONG_FINALISTS : FINALISTS_MAX, count = 0;
    const kw_kernel *kernels[FINALISTS_MAX];
    const kw_config *configs[FINALISTS_MAX];
    kw_record records[FINALISTS_MAX];
    double limit = r->progress.best_ns * (is_long ? near_long : near);
    while (count < most && count < r->count && is_timed(&r->entrants[count]) && r->entrants[count].record.time_ns <= limit) {
        kernels[count] = r->entrants[count].loaded->kernel;
        configs[count] = &r->entrants[count].loaded->config;
        records[count] = r->entrants[count].record;
        count++;
    }
    *finalists = count;
    if (!count || (is_long && count == 1)) {
        return;
    }
    kw_error why = {0};
    if (kw_bench_time(r->bench, kernels, configs, count, &(kw_timing_options){0}, records, &why)) {
        kw_remark(&r->request->context->settings, "%s: the heats decide: %s", r->request->text, why.text);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        r->entrants[i].record = records[i];
    }
    qsort(r->entrants, count, sizeof *r->entrants, by_entrant);
}

/* --- decision ----------------------------------------------------------------------------------------------------- */

/* Twice the standard error of the difference of two lower quartiles. Of a normal sample the quartile's error is 1.36 sigma / sqrt(n) and
 * the interquartile range 1.35 sigma, so the range over sqrt(n) stands for it. */
static double band(const kw_record *best, const kw_record *other, double floor) {
    double first = best->spread_ns * best->spread_ns / (best->samples > 0 ? best->samples : 1);
    double second = other->spread_ns * other->spread_ns / (other->samples > 0 ? other->samples : 1);
    double width = best->time_ns > 0 ? 2 * sqrt(first + second) / best->time_ns : 0;
    return width < floor ? floor : width > noise_ceiling ? noise_ceiling : width;
}

size_t kw_race_decide(const kw_record *const records[], size_t count, double floor, double *noise) {
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        best = records[i]->time_ns < records[best]->time_ns ? i : best;
    }
    size_t chosen = best;
    double least = HUGE_VAL;
    for (size_t i = 0; i < count; i++) {
        double width = band(records[best], records[i], floor);
        if (records[i]->time_ns <= records[best]->time_ns * (1 + width) && strcmp(records[i]->config, records[chosen]->config) < 0) {
            chosen = i;
        }
        if (i != best && records[i]->time_ns < least) {
            least = records[i]->time_ns;
            if (noise) {
                *noise = width;
            }
        }
    }
    return chosen;
}

static void tell_failures(const race *r, kw_text *story) {
    size_t failed = 0, absent = 0;
    for (size_t i = 0; i < r->count; i++) {
        const entrant *e = &r->entrants[i];
        absent += e->absent;
        if (e->absent || e->record.outcome == KW_GOOD || e->record.outcome == KW_UNTRIED) {
            continue;
        }
        kw_remark(&r->request->context->settings, "%s on %s: %s: %s", e->record.config, r->request->text,
                  kw_outcome_name(e->record.outcome), e->record.detail);
        if (failed++ < FAILURES_TOLD) {
            kw_text_addf(story, "  failed (%s): %s: %s\n", kw_outcome_name(e->record.outcome), e->record.config, e->record.detail);
        }
    }
    if (failed > FAILURES_TOLD) {
        kw_text_addf(story, "  and %zu more failed\n", failed - FAILURES_TOLD);
    }
    if (absent) {
        const char *note;
        kw_tools_compiler(r->request->context->tools, &note);
        kw_text_addf(story, "  %zu kernels were left out: not cached, and no compiler (%s)\n", absent, note);
    }
}

static void tell_winner(const race *r, const kw_verdict *verdict, double noise, kw_text *story) {
    char time[32];
    kw_time_print(time, verdict->time_ns);
    kw_text_addf(story, "  measured now (%s): %s (spread %.1f %%), best of %d kernels out of %zu that fit\n", kw_mode_name(verdict->mode),
                 time, verdict->time_ns > 0 ? 100 * verdict->spread_ns / verdict->time_ns : 0, verdict->candidates,
                 r->field->count + r->field->over_limit);
    if (*verdict->next) {
        double gap = verdict->next_ns / verdict->time_ns - 1;
        kw_text_addf(story, "  next best: %+.1f %% time, %s (%.1f %%): %s\n", 100 * gap,
                     gap <= noise ? "inside the noise, decided by name" : "outside the noise", 100 * noise, verdict->next);
    }
}

/* The winner's kernel goes to the choice; it is entrant number winner. */
static void crown(race *r, kw_choice *choice, size_t winner) {
    choice->loaded = r->entrants[winner].loaded;
    r->entrants[winner].loaded = NULL;
}

static void decide(race *r, kw_choice *choice, kw_verdict *verdict, size_t finalists) {
    const kw_record *records[FINALISTS_MAX];
    double noise = 0;
    for (size_t i = 0; i < finalists; i++) {
        records[i] = &r->entrants[i].record;
    }
    const kw_problem *problem = &r->request->problem;
    bool memory = (double)kw_problem_flops(problem) < memory_intensity * (double)kw_problem_bytes(problem);
    size_t winner = kw_race_decide(records, finalists, memory ? noise_memory : noise_floor, &noise);
    const kw_record *won = records[winner];
    verdict->time_ns = won->time_ns;
    verdict->spread_ns = won->spread_ns;
    memcpy(verdict->config, won->config, sizeof verdict->config);
    kw_clock_date(verdict->date);
    size_t second = winner ? 0 : 1; /* entrants stand best first */
    if (second < r->count && r->entrants[second].record.outcome == KW_GOOD && r->entrants[second].record.time_ns > 0) {
        verdict->next_ns = r->entrants[second].record.time_ns;
        memcpy(verdict->next, r->entrants[second].record.config, sizeof verdict->next);
    }
    tell_winner(r, verdict, noise, &choice->story);
    crown(r, choice, winner);
}

/* Nothing can be measured: the estimate's best of what could be built, and the reason. */
static void decide_unmeasured(race *r, kw_choice *choice, const kw_error *why) {
    kw_remark(&r->request->context->settings, "%s cannot be measured: %s", r->request->text, why->text);
    for (size_t i = 0; i < r->count; i++) {
        if (r->entrants[i].loaded) {
            kw_text_addf(&choice->story, "  by the analytic estimate; it could not be measured: %s\n", why->text);
            crown(r, choice, i);
            return;
        }
    }
}

static kw_status keep_records(const race *r, kw_choice *choice, kw_error *err) {
    choice->records = calloc(r->count, sizeof *choice->records);
    if (!choice->records) {
        return kw_fail_memory(err, "the records of a race");
    }
    for (size_t i = 0; i < r->count; i++) {
        choice->records[i] = r->entrants[i].record;
    }
    choice->record_count = r->count;
    return KW_OK;
}

kw_status kw_race_run(kw_choice *choice, kw_verdict *verdict, const kw_request *request, const kw_field *field, size_t entrants,
                      kw_error *err) {
    kw_context *context = request->context;
    race r = {.request = request, .field = field, .count = entrants};
    kw_error why = {0};
    kw_status status = prepare(&r, err);
    if (status) {
        return status;
    }
    for (size_t i = 0; i < r.count; i++) {
        verdict->candidates += !r.entrants[i].absent;
    }
    if (verdict->candidates && kw_bench_open(&r.bench, context->backend, context->device, &request->problem, 0, &why)) {
        decide_unmeasured(&r, choice, &why);
    } else if (verdict->candidates) {
        size_t finalists = 0;
        run_heats(&r);
        run_final(&r, &finalists);
        tell_failures(&r, &choice->story);
        if (finalists) {
            decide(&r, choice, verdict, finalists);
        }
        status = keep_records(&r, choice, err);
    } else {
        tell_failures(&r, &choice->story);
    }
    kw_bench_close(&r.bench);
    for (size_t i = 0; i < r.count; i++) {
        kw_shelf_put(&context->shelf, &r.entrants[i].loaded);
    }
    free(r.entrants);
    return status;
}
