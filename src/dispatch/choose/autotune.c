/* autotune.c: build, heats, final, decision. A heat verifies one kernel and times it briefly, giving up early on what is far behind; the
 * final times the few that are near the front, interleaved, so that what disturbs the machine disturbs all alike. Whatever a kernel does
 * wrong ends in its record. */
#include "dispatch/choose/autotune.h"

#include "base/os/clock.h"
#include "base/os/parallel.h"
#include "measure/timing/noise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEAT_BATCHES = 3,
    SECOND_HEATS = 2,
    FINAL_LEAST = 5, /* batches of each in a final, and at most */
    FINAL_MOST = 21,
    AGAIN_LEAST = 3,
    AGAIN_MOST = 7,
    LONG_HEATS = 4, /* of a shortlist, when a launch is long */
    LONG_FINALISTS = 3,
    FINALISTS_MAX = 6,
    FINALS_MAX = 4,
    FAILURES_TOLD = 4,
};
static const double long_ns = 20e6;    /* a launch above this is long: fewer heats, a short final */
static const double middling_ns = 5e6; /* above this, one second heat */
static const double final_ns = 100e6;  /* about what a final may take, and one that is run again half of it */
static const double batch_ns = 3e5;    /* the least that a batch takes */
static const double hopeless = 1.6;    /* a heat gives up at so many times the best */
static const double near = 1.15;       /* of the best heat's time: enters the final */
static const double near_long = 1.05;
static const double unclear = 0.03;       /* behind the best by up to so much: perhaps a tie */
static const double noise_floor = 0.01;   /* least width of the noise band */
static const double noise_memory = 0.02;  /* the same where memory decides: its speed varies more from run to run */
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
    kw_error broken; /* why the device cannot be used any more; status KW_OK while it can */
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
        fail_record(&e->record, kw_outcome_of_load(status), &why);
        e->absent = status == KW_MISSING;
        return;
    }
    e->record.outcome = kw_loaded_judge(e->loaded, &r->request->context->shelf, e->record.detail);
    if (e->record.outcome != KW_UNTRIED) {
        kw_shelf_put(&r->request->context->shelf, &e->loaded);
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

/* A kernel that could not be run; one that took the device along has ended the race. */
static void fail_run(race *r, entrant *e, const kw_error *why) {
    fail_record(&e->record, why->status == KW_ENVIRONMENT ? KW_CRASHED : KW_UNLAUNCHED, why);
    if (why->status == KW_ENVIRONMENT) {
        kw_fail(&r->broken, KW_ENVIRONMENT, "%.200s: %.250s", e->record.config, why->text);
    }
}

/* --- heats -------------------------------------------------------------------------------------------------------- */

/* Times the entrant briefly; of this time and an earlier one the lesser stays. */
static void time_briefly(race *r, entrant *e) {
    kw_record before = e->record;
    const kw_kernel *kernel = e->loaded->kernel;
    const kw_config *config = &e->loaded->config;
    kw_error why = {0};
    kw_timing_options brief = {
        .pack_weights = !r->request->fresh_weights, .batches = HEAT_BATCHES, .give_up_ns = hopeless * r->progress.best_ns};
    if (kw_bench_time(r->bench, &kernel, &config, 1, &brief, &e->record, &why)) {
        fail_run(r, e, &why);
        return;
    }
    if (before.time_ns > 0 && before.time_ns < e->record.time_ns) {
        e->record = before;
    }
    if (e->record.samples && (r->progress.best_ns <= 0 || e->record.time_ns < r->progress.best_ns)) {
        r->progress.best_ns = e->record.time_ns;
    }
}

static void run_heat(race *r, entrant *e) {
    kw_error why = {0};
    if (kw_bench_verify(r->bench, e->loaded->kernel, &e->loaded->config, &e->record, &why)) {
        fail_run(r, e, &why);
    }
    if (e->record.outcome == KW_GOOD) {
        time_briefly(r, e);
    }
}

/* A heat may have been disturbed: those that would not enter the final get two more. */
static void run_second_heats(race *r) {
    int passes = r->progress.best_ns > long_ns ? 0 : r->progress.best_ns > middling_ns ? 1 : SECOND_HEATS;
    for (int pass = 0; pass < passes; pass++) {
        for (size_t i = 0; i < r->count; i++) {
            entrant *e = &r->entrants[i];
            if (e->record.outcome == KW_GOOD && (!e->record.samples || e->record.time_ns > near * r->progress.best_ns)) {
                time_briefly(r, e);
            }
        }
    }
}

static void run_heats(race *r) {
    char time[32];
    size_t measured = 0;
    bool brief = r->request->mode != KW_EXHAUSTIVE;
    r->progress = (kw_progress){.total = r->count, .what = "measure"};
    for (size_t i = 0; i < r->count; i++) {
        entrant *e = &r->entrants[i];
        if (r->broken.status) {
            return;
        }
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

/* Good ones, untried ones, failures. */
static int rank(const kw_record *record) {
    return record->outcome == KW_GOOD ? 0 : record->outcome == KW_UNTRIED ? 1 : 2;
}

static int by_record(const kw_record *a, const kw_record *b) {
    int left = rank(a), right = rank(b);
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

/* How many of the first entrants, which stand best first, are within the limit. */
static size_t count_near(const race *r, size_t most, double limit_ns) {
    size_t count = 0;
    while (count < most && count < r->count && is_timed(&r->entrants[count]) && r->entrants[count].record.time_ns <= limit_ns) {
        count++;
    }
    return count;
}

/* As many batches as the final's time allows. */
static int32_t batches_for(const race *r, size_t count, bool again) {
    double each = r->entrants[count - 1].record.time_ns;
    double batches = (again ? final_ns / 2 : final_ns) / ((each > batch_ns ? each : batch_ns) * (double)count);
    int32_t least = again ? AGAIN_LEAST : FINAL_LEAST, most = again ? AGAIN_MOST : FINAL_MOST;
    return batches < least ? least : batches > most ? most : (int32_t)batches;
}

/* Times the first count entrants, interleaved, and puts them in order. again: of the time known and the new one the lesser stays. */
static bool time_together(race *r, size_t count, bool again) {
    const kw_kernel *kernels[FINALISTS_MAX] = {0};
    const kw_config *configs[FINALISTS_MAX] = {0};
    kw_record records[FINALISTS_MAX];
    kw_error why = {0};
    for (size_t i = 0; i < count; i++) {
        kernels[i] = r->entrants[i].loaded->kernel;
        configs[i] = &r->entrants[i].loaded->config;
        records[i] = r->entrants[i].record;
    }
    kw_timing_options options = {.pack_weights = !r->request->fresh_weights, .batches = batches_for(r, count, again)};
    if (kw_bench_time(r->bench, kernels, configs, count, &options, records, &why)) {
        kw_remark(&r->request->context->settings, "%s: earlier times decide: %s", r->request->text, why.text);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!again || records[i].time_ns < r->entrants[i].record.time_ns) {
            r->entrants[i].record = records[i];
        }
    }
    qsort(r->entrants, count, sizeof *r->entrants, by_entrant);
    return true;
}

/* Whether a time lies where a little more noise would change the decision. */
static bool is_unclear(const race *r, size_t count) {
    double best = r->entrants[0].record.time_ns;
    for (size_t i = 1; i < count; i++) {
        double gap = r->entrants[i].record.time_ns / best - 1;
        if (gap > noise_floor / 2 && gap <= unclear) {
            return true;
        }
    }
    return false;
}

/* After it the entrants stand best first, and the first *finalists of them were timed together. Those at the edge of a tie are timed
 * again: a disturbance makes a kernel slower, never faster, so the least of several times is nearest to the truth. */
static void run_final(race *r, size_t *finalists) {
    qsort(r->entrants, r->count, sizeof *r->entrants, by_entrant);
    bool is_long = r->progress.best_ns > long_ns;
    *finalists = count_near(r, is_long ? LONG_FINALISTS : FINALISTS_MAX, r->progress.best_ns * (is_long ? near_long : near));
    if (!*finalists || (is_long && *finalists == 1) || !time_together(r, *finalists, false)) {
        return;
    }
    for (int round = 1; round < FINALS_MAX && !is_long; round++) {
        size_t tied = count_near(r, *finalists, r->entrants[0].record.time_ns * (1 + unclear));
        if (!is_unclear(r, tied) || !time_together(r, tied, true)) {
            return;
        }
    }
}

/* --- decision ----------------------------------------------------------------------------------------------------- */

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

/* Who chose the entrants of a shortlist. */
static void tell_guide(const race *r, kw_text *story) {
    if (r->request->mode == KW_SHORTLIST && *r->field->advice.model) {
        kw_text_addf(story, "  the shortlist is by model %s\n", r->field->advice.model);
    }
    kw_text_add(story, kw_text_string(&r->field->advice.notes));
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
    size_t winner = kw_tie_decide(records, finalists, memory ? noise_memory : noise_floor, &noise);
    const kw_record *won = records[winner];
    verdict->time_ns = won->time_ns;
    verdict->spread_ns = won->spread_ns;
    memcpy(verdict->config, won->config, sizeof verdict->config);
    snprintf(verdict->builder, sizeof verdict->builder, "%s", r->entrants[winner].loaded->builder);
    kw_clock_date(verdict->date);
    size_t second = winner ? 0 : 1; /* entrants stand best first */
    if (second < r->count && r->entrants[second].record.outcome == KW_GOOD && r->entrants[second].record.time_ns > 0) {
        verdict->next_ns = r->entrants[second].record.time_ns;
        memcpy(verdict->next, r->entrants[second].record.config, sizeof verdict->next);
    }
    tell_winner(r, verdict, noise, &choice->story);
    tell_guide(r, &choice->story);
    crown(r, choice, winner);
}

/* Nothing can be measured: the first entrant that could be built, and the reason. */
static void decide_unmeasured(race *r, kw_choice *choice, const kw_error *why) {
    kw_remark(&r->request->context->settings, "%s cannot be measured: %s", r->request->text, why->text);
    for (size_t i = 0; i < r->count; i++) {
        if (r->entrants[i].loaded) {
            const char *model = r->field->advice.model;
            kw_text_addf(&choice->story, "  by %s%s; it could not be measured: %s\n", *model ? "model " : "the analytic estimate", model,
                         why->text);
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
        if (!r.broken.status) {
            run_second_heats(&r);
            run_final(&r, &finalists);
        }
        tell_failures(&r, &choice->story);
        if (finalists) {
            decide(&r, choice, verdict, finalists);
        }
        status = r.broken.status ? kw_fail(err, KW_ENVIRONMENT, "%s", r.broken.text) : keep_records(&r, choice, err);
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
