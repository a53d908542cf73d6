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
    SCREEN_BATCHES = 3,
    RESCREEN_PASSES = 2,
    FINAL_LEAST = 5, /* batches of each in a final, and at most */
    FINAL_MOST = 21,
    AGAIN_LEAST = 3,
    AGAIN_MOST = 7,
    LONG_SCREENED = 4, /* of a shortlist, when a launch is long */
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

typedef struct tuned_candidate {
    kw_loaded_kernel *loaded;
    kw_record record;
    bool absent; /* not cached, and there is no compiler */
} tuned_candidate;

typedef struct autotuner {
    const kw_request *request;
    const kw_candidates *field;
    tuned_candidate *candidates; /* candidates[i] runs field->list[i] */
    size_t count;
    kw_bench *bench;
    kw_progress progress;
    kw_error broken; /* why the device cannot be used any more; status KW_OK while it can */
} autotuner;

static void tell_progress(autotuner *r, const tuned_candidate *e) {
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

static void build_candidate(void *user, size_t i) {
    autotuner *r = user;
    tuned_candidate *e = &r->candidates[i];
    kw_error why = {0};
    kw_status status = kw_kernel_cache_acquire(&e->loaded, &r->request->context->shelf, r->field->list[i].config, true, &why);
    if (status) {
        fail_record(&e->record, kw_load_outcome(status), &why);
        e->absent = status == KW_MISSING;
        return;
    }
    e->record.outcome = kw_loaded_kernel_check(e->loaded, &r->request->context->shelf, e->record.detail);
    if (e->record.outcome != KW_UNTRIED) {
        kw_kernel_cache_release(&r->request->context->shelf, &e->loaded);
    }
}

static void report_built(void *user, size_t i) {
    autotuner *r = user;
    tell_progress(r, &r->candidates[i]);
}

static kw_status prepare_candidates(autotuner *r, kw_error *err) {
    r->candidates = calloc(r->count, sizeof *r->candidates);
    if (!r->candidates) {
        return kw_fail_memory(err, "a race of kernels");
    }
    for (size_t i = 0; i < r->count; i++) {
        kw_config_print(r->candidates[i].record.config, KW_CONFIG_TEXT_MAX, r->field->list[i].config);
        r->candidates[i].record.workspace = r->field->list[i].workspace;
    }
    r->progress = (kw_progress){.total = r->count, .what = "build"};
    kw_parallel_run(&(kw_parallel){.count = r->count, .work = build_candidate, .done = report_built, .user = r});
    return KW_OK;
}

/* A kernel that could not be run; one that took the device along has ended the autotuner. */
static void fail_run(autotuner *r, tuned_candidate *e, const kw_error *why) {
    fail_record(&e->record, why->status == KW_ENVIRONMENT ? KW_CRASHED : KW_UNLAUNCHED, why);
    if (why->status == KW_ENVIRONMENT) {
        kw_fail(&r->broken, KW_ENVIRONMENT, "%.200s: %.250s", e->record.config, why->text);
    }
}

/* --- heats -------------------------------------------------------------------------------------------------------- */

/* Times the tuned_candidate briefly; of this time and an earlier one the lesser stays. */
static void time_briefly(autotuner *r, tuned_candidate *e) {
    kw_record before = e->record;
    const kw_kernel *kernel = e->loaded->kernel;
    const kw_config *config = &e->loaded->config;
    kw_error why = {0};
    kw_timing_options brief = {
        .pack_weights = !r->request->fresh_weights, .batches = SCREEN_BATCHES, .give_up_ns = hopeless * r->progress.best_ns};
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

static void screen_candidate(autotuner *r, tuned_candidate *e) {
    kw_error why = {0};
    if (kw_bench_verify(r->bench, e->loaded->kernel, &e->loaded->config, &e->record, &why)) {
        fail_run(r, e, &why);
    }
    if (e->record.outcome == KW_GOOD) {
        time_briefly(r, e);
    }
}

/* A heat may have been disturbed: those that would not enter the final get two more. */
static void rescreen_candidates(autotuner *r) {
    int passes = r->progress.best_ns > long_ns ? 0 : r->progress.best_ns > middling_ns ? 1 : RESCREEN_PASSES;
    for (int pass = 0; pass < passes; pass++) {
        for (size_t i = 0; i < r->count; i++) {
            tuned_candidate *e = &r->candidates[i];
            if (e->record.outcome == KW_GOOD && (!e->record.samples || e->record.time_ns > near * r->progress.best_ns)) {
                time_briefly(r, e);
            }
        }
    }
}

static void screen_candidates(autotuner *r) {
    char time[32];
    size_t measured = 0;
    bool brief = r->request->mode != KW_EXHAUSTIVE;
    r->progress = (kw_progress){.total = r->count, .what = "measure"};
    for (size_t i = 0; i < r->count; i++) {
        tuned_candidate *e = &r->candidates[i];
        if (r->broken.status) {
            return;
        }
        if (e->loaded && brief && measured >= LONG_SCREENED && r->progress.best_ns > long_ns) {
            kw_time_print(time, r->progress.best_ns);
            snprintf(e->record.detail, sizeof e->record.detail, "not measured: one launch takes %s, so only %d were", time, LONG_SCREENED);
        } else if (e->loaded) {
            screen_candidate(r, e);
            measured += e->record.outcome == KW_GOOD;
        }
        tell_progress(r, e);
    }
}

/* --- final -------------------------------------------------------------------------------------------------------- */

static bool is_candidate_timed(const tuned_candidate *e) {
    return e->record.outcome == KW_GOOD && e->record.samples > 0;
}

/* Good ones, untried ones, failures. */
static int record_rank(const kw_record *record) {
    return record->outcome == KW_GOOD ? 0 : record->outcome == KW_UNTRIED ? 1 : 2;
}

static int compare_records(const kw_record *a, const kw_record *b) {
    int left = record_rank(a), right = record_rank(b);
    if (left != right) {
        return left - right;
    }
    if (left == 0 && a->time_ns != b->time_ns) {
        return a->time_ns < b->time_ns ? -1 : 1;
    }
    return strcmp(a->config, b->config);
}

static int compare_candidates(const void *a, const void *b) {
    return compare_records(&((const tuned_candidate *)a)->record, &((const tuned_candidate *)b)->record);
}

/* How many of the first candidates, which stand best first, are within the limit. */
static size_t count_near(const autotuner *r, size_t most, double limit_ns) {
    size_t count = 0;
    while (count < most && count < r->count && is_candidate_timed(&r->candidates[count]) &&
           r->candidates[count].record.time_ns <= limit_ns) {
        count++;
    }
    return count;
}

/* As many batches as the final's time allows. */
static int32_t batches_for(const autotuner *r, size_t count, bool again) {
    double each = r->candidates[count - 1].record.time_ns;
    double batches = (again ? final_ns / 2 : final_ns) / ((each > batch_ns ? each : batch_ns) * (double)count);
    int32_t least = again ? AGAIN_LEAST : FINAL_LEAST, most = again ? AGAIN_MOST : FINAL_MOST;
    return batches < least ? least : batches > most ? most : (int32_t)batches;
}

/* Times the first count candidates, interleaved, and puts them in order. again: of the time known and the new one the lesser stays. */
static bool time_interleaved(autotuner *r, size_t count, bool again) {
    const kw_kernel *kernels[FINALISTS_MAX] = {0};
    const kw_config *configs[FINALISTS_MAX] = {0};
    kw_record records[FINALISTS_MAX];
    kw_error why = {0};
    for (size_t i = 0; i < count; i++) {
        kernels[i] = r->candidates[i].loaded->kernel;
        configs[i] = &r->candidates[i].loaded->config;
        records[i] = r->candidates[i].record;
    }
    kw_timing_options options = {.pack_weights = !r->request->fresh_weights, .batches = batches_for(r, count, again)};
    if (kw_bench_time(r->bench, kernels, configs, count, &options, records, &why)) {
        kw_log_line(&r->request->context->settings, "%s: earlier times decide: %s", r->request->text, why.text);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!again || records[i].time_ns < r->candidates[i].record.time_ns) {
            r->candidates[i].record = records[i];
        }
    }
    qsort(r->candidates, count, sizeof *r->candidates, compare_candidates);
    return true;
}

/* Whether a time lies where a little more noise would change the decision. */
static bool is_unclear(const autotuner *r, size_t count) {
    double best = r->candidates[0].record.time_ns;
    for (size_t i = 1; i < count; i++) {
        double gap = r->candidates[i].record.time_ns / best - 1;
        if (gap > noise_floor / 2 && gap <= unclear) {
            return true;
        }
    }
    return false;
}

/* After it the candidates stand best first, and the first *finalists of them were timed together. Those at the edge of a tie are timed
 * again: a disturbance makes a kernel slower, never faster, so the least of several times is nearest to the truth. */
static void run_final(autotuner *r, size_t *finalists) {
    qsort(r->candidates, r->count, sizeof *r->candidates, compare_candidates);
    bool is_long = r->progress.best_ns > long_ns;
    *finalists = count_near(r, is_long ? LONG_FINALISTS : FINALISTS_MAX, r->progress.best_ns * (is_long ? near_long : near));
    if (!*finalists || (is_long && *finalists == 1) || !time_interleaved(r, *finalists, false)) {
        return;
    }
    for (int round = 1; round < FINALS_MAX && !is_long; round++) {
        size_t tied = count_near(r, *finalists, r->candidates[0].record.time_ns * (1 + unclear));
        if (!is_unclear(r, tied) || !time_interleaved(r, tied, true)) {
            return;
        }
    }
}

/* --- decision ----------------------------------------------------------------------------------------------------- */

static void explain_failures(const autotuner *r, kw_text *explanation) {
    size_t failed = 0, absent = 0;
    for (size_t i = 0; i < r->count; i++) {
        const tuned_candidate *e = &r->candidates[i];
        absent += e->absent;
        if (e->absent || e->record.outcome == KW_GOOD || e->record.outcome == KW_UNTRIED) {
            continue;
        }
        kw_log_line(&r->request->context->settings, "%s on %s: %s: %s", e->record.config, r->request->text,
                    kw_outcome_name(e->record.outcome), e->record.detail);
        if (failed++ < FAILURES_TOLD) {
            kw_text_addf(explanation, "  failed (%s): %s: %s\n", kw_outcome_name(e->record.outcome), e->record.config, e->record.detail);
        }
    }
    if (failed > FAILURES_TOLD) {
        kw_text_addf(explanation, "  and %zu more failed\n", failed - FAILURES_TOLD);
    }
    if (absent) {
        const char *note;
        kw_build_tools_compiler(r->request->context->tools, &note);
        kw_text_addf(explanation, "  %zu kernels were left out: not cached, and no compiler (%s)\n", absent, note);
    }
}

static void explain_winner(const autotuner *r, const kw_wisdom_value *wisdom_value, double noise, kw_text *explanation) {
    char time[32];
    kw_time_print(time, wisdom_value->time_ns);
    kw_text_addf(explanation, "  measured now (%s): %s (spread %.1f %%), best of %d kernels out of %zu that fit\n",
                 kw_mode_name(wisdom_value->mode), time,
                 wisdom_value->time_ns > 0 ? 100 * wisdom_value->spread_ns / wisdom_value->time_ns : 0, wisdom_value->candidates,
                 r->field->count + r->field->over_limit);
    if (*wisdom_value->next) {
        double gap = wisdom_value->next_ns / wisdom_value->time_ns - 1;
        kw_text_addf(explanation, "  next best: %+.1f %% time, %s (%.1f %%): %s\n", 100 * gap,
                     gap <= noise ? "inside the noise, decided by name" : "outside the noise", 100 * noise, wisdom_value->next);
    }
}

/* Who chose the candidates of a shortlist. */
static void explain_model(const autotuner *r, kw_text *explanation) {
    if (r->request->mode == KW_SHORTLIST && *r->field->advice.model) {
        kw_text_addf(explanation, "  the shortlist is by model %s\n", r->field->advice.model);
    }
    kw_text_add(explanation, kw_text_string(&r->field->advice.notes));
}

/* The winner's kernel goes to the choice; it is tuned_candidate number winner. */
static void take_winner(autotuner *r, kw_choice *choice, size_t winner) {
    choice->loaded = r->candidates[winner].loaded;
    r->candidates[winner].loaded = NULL;
}

static void decide(autotuner *r, kw_choice *choice, kw_wisdom_value *wisdom_value, size_t finalists) {
    const kw_record *records[FINALISTS_MAX];
    double noise = 0;
    for (size_t i = 0; i < finalists; i++) {
        records[i] = &r->candidates[i].record;
    }
    const kw_problem *problem = &r->request->problem;
    bool memory = (double)kw_problem_flops(problem) < memory_intensity * (double)kw_problem_bytes(problem);
    size_t winner = kw_noise_select(records, finalists, memory ? noise_memory : noise_floor, &noise);
    const kw_record *won = records[winner];
    wisdom_value->time_ns = won->time_ns;
    wisdom_value->spread_ns = won->spread_ns;
    memcpy(wisdom_value->config, won->config, sizeof wisdom_value->config);
    snprintf(wisdom_value->builder, sizeof wisdom_value->builder, "%s", r->candidates[winner].loaded->builder);
    kw_clock_date(wisdom_value->date);
    size_t second = winner ? 0 : 1; /* candidates stand best first */
    if (second < r->count && r->candidates[second].record.outcome == KW_GOOD && r->candidates[second].record.time_ns > 0) {
        wisdom_value->next_ns = r->candidates[second].record.time_ns;
        memcpy(wisdom_value->next, r->candidates[second].record.config, sizeof wisdom_value->next);
    }
    explain_winner(r, wisdom_value, noise, &choice->explanation);
    explain_model(r, &choice->explanation);
    take_winner(r, choice, winner);
}

/* Nothing can be measured: the first tuned_candidate that could be built, and the reason. */
static void decide_unmeasured(autotuner *r, kw_choice *choice, const kw_error *why) {
    kw_log_line(&r->request->context->settings, "%s cannot be measured: %s", r->request->text, why->text);
    for (size_t i = 0; i < r->count; i++) {
        if (r->candidates[i].loaded) {
            const char *model = r->field->advice.model;
            kw_text_addf(&choice->explanation, "  by %s%s; it could not be measured: %s\n", *model ? "model " : "the analytic estimate",
                         model, why->text);
            take_winner(r, choice, i);
            return;
        }
    }
}

static kw_status keep_records(const autotuner *r, kw_choice *choice, kw_error *err) {
    choice->records = calloc(r->count, sizeof *choice->records);
    if (!choice->records) {
        return kw_fail_memory(err, "the records of a race");
    }
    for (size_t i = 0; i < r->count; i++) {
        choice->records[i] = r->candidates[i].record;
    }
    choice->record_count = r->count;
    return KW_OK;
}

kw_status kw_autotune(kw_choice *choice, kw_wisdom_value *wisdom_value, const kw_request *request, const kw_candidates *field,
                      size_t candidates, kw_error *err) {
    kw_context *context = request->context;
    autotuner r = {.request = request, .field = field, .count = candidates};
    kw_error why = {0};
    kw_status status = prepare_candidates(&r, err);
    if (status) {
        return status;
    }
    for (size_t i = 0; i < r.count; i++) {
        wisdom_value->candidates += !r.candidates[i].absent;
    }
    if (wisdom_value->candidates && kw_bench_open(&r.bench, context->backend, context->device, &request->problem, 0, &why)) {
        decide_unmeasured(&r, choice, &why);
    } else if (wisdom_value->candidates) {
        size_t finalists = 0;
        screen_candidates(&r);
        if (!r.broken.status) {
            rescreen_candidates(&r);
            run_final(&r, &finalists);
        }
        explain_failures(&r, &choice->explanation);
        if (finalists) {
            decide(&r, choice, wisdom_value, finalists);
        }
        status = r.broken.status ? kw_fail(err, KW_ENVIRONMENT, "%s", r.broken.text) : keep_records(&r, choice, err);
    } else {
        explain_failures(&r, &choice->explanation);
    }
    kw_bench_close(&r.bench);
    for (size_t i = 0; i < r.count; i++) {
        kw_kernel_cache_release(&context->shelf, &r.candidates[i].loaded);
    }
    free(r.candidates);
    return status;
}
