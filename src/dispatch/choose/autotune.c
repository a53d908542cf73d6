/* autotune.c: build, screenings, final, decision. A screening verifies one kernel and times it briefly, giving up early on what is far
 * behind; the final times the few near the front in turns, so that what disturbs the machine disturbs all alike. A machine that others share
 * may be slower for a while, which no clock tells of: what its screening would keep out of the final is timed again in turns with the best,
 * and between two finals what all kernels have in common is the machine's change, not theirs. */
#include "dispatch/choose/autotune.h"

#include "dispatch/choose/measured_team.h"

#include "base/math.h"
#include "base/os/clock.h"
#include "base/os/parallel.h"
#include "measure/evaluate_kernel.h"
#include "measure/machine_change.h"
#include "measure/timing/noise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SCREEN_BATCHES = 3,
    RESCREEN_PASSES = 2,
    RESCREEN_BATCHES = 5,
    FINAL_LEAST = 5, /* batches of each in a final, and at most; then of one that is run again */
    FINAL_MOST = 21,
    AGAIN_LEAST = 3,
    AGAIN_MOST = 7,
    LONG_SCREENED = 4, /* of a shortlist, when a launch is long */
    IN_TURNS_MAX = 8,  /* kernels that are timed in turns: all have their memory at once */
    LONG_FINALISTS = 3,
    FINALS_MAX = 4,
    BUSY_FINALS_MAX = 5, /* on a busy machine; before each a pause, twice as long each time */
    FAILURES_TOLD = 4,
    REFUSED_MOST = 4, /* times the shortlist: as far down the candidates others are sought for what a compiler's facts refuse */
};
/* A launch above the first is long: fewer screenings, a short final; above the second it gets one second screening. */
static const double long_ns = 20e6, middling_ns = 5e6;
static const double final_ns = 100e6;                      /* about what a final may take, and one that is run again half of it */
static const double batch_ns = 3e5;                        /* the least that a batch takes */
static const double hopeless = 1.6, hopeless_in_turns = 2; /* a screening gives up at so many times the best, first launches in turns */
static const double near = 1.15, near_long = 1.05;         /* of the best screening's time: enters the final */
static const double slowed = 1.1;                          /* a final in which all take so many times what they took before was disturbed */
static const int64_t busy_pause_ns = 20000000, busy_budget_ns = 2000000000; /* the first pause; all of them and their finals */
static const double alike = 0.02, unclear = 0.03;                           /* behind the best by up to so much: perhaps a tie */

typedef struct tuned_candidate {
    kw_loaded_kernel *loaded;
    kw_record record;
    const kw_launch *launch;
    bool absent;  /* not cached, and there is no compiler */
    bool wanting; /* could not be tried for want of memory, processes, descriptors or disk, which another day has */
} tuned_candidate;

typedef struct autotuner {
    const kw_request *request;
    const kw_candidates *candidates;
    tuned_candidate *tuned; /* tuned[i] runs candidates->list[i] */
    size_t count, built;
    kw_bench *bench;
    kw_progress progress;
    int finals;      /* run because the machine was busy */
    double change;   /* of the machine before the last time in turns: it is so many times as slow as it was known */
    kw_error broken; /* why nothing more can be measured: the device is lost, or a stop was asked for; status KW_OK while it can */
} autotuner;

static void report_progress(autotuner *t, const tuned_candidate *c) {
    t->progress.done++;
    t->progress.failed += !c->loaded || (c->record.outcome != KW_GOOD && c->record.outcome != KW_UNTRIED);
    t->progress.current = c->record.config;
    if (t->request->progress) {
        t->request->progress(t->request->user, &t->progress);
    }
}

static bool is_tuning_over(autotuner *t) {
    if (!t->broken.status && kw_stop_requested(t->request->context->settings.stop)) {
        kw_fail_stopped(&t->broken);
    }
    return t->broken.status != KW_OK;
}

/* --- build -------------------------------------------------------------------------------------------------------- */

static void build_candidate(void *user, size_t number) {
    autotuner *t = user;
    size_t i = t->built + number;
    tuned_candidate *c = &t->tuned[i];
    kw_context *context = t->request->context;
    kw_error why = {0};
    if (kw_stop_requested(context->settings.stop)) {
        return;
    }
    kw_kernel_cache_user from = {&context->kernel_cache, &c->loaded};
    kw_kernel_load kernel = {
        .config = t->candidates->list[i].config, .target = context->target, .load = kw_kernel_cache_load, .user = &from};
    kw_status status = kw_evaluate_load(&kernel, &c->record, &why);
    if (status) {
        c->absent = status == KW_MISSING;
        c->wanting = status == KW_ENVIRONMENT || status == KW_NO_MEMORY || status == KW_IO;
        return;
    }
    c->record.outcome = kw_loaded_kernel_check(c->loaded, &context->kernel_cache, c->record.detail);
    if (c->record.outcome != KW_UNTRIED) {
        kw_kernel_cache_release(&context->kernel_cache, &c->loaded);
    }
}

static void report_built(void *user, size_t number) {
    autotuner *t = user;
    report_progress(t, &t->tuned[t->built + number]);
}

/* Whether the kernel could be made and is not to be run: it spills registers, or wants too much shared memory. An epilogue may do that to all of
 * a shortlist. */
static bool is_refused(const tuned_candidate *c) {
    return c->record.outcome == KW_SPILLS || c->record.outcome == KW_TOO_MUCH_LDS;
}

/* Builds those from t->built on; the number of those that are refused. */
static size_t build_candidates(autotuner *t) {
    size_t from = t->built, refused = 0;
    for (size_t i = from; i < t->count; i++) {
        kw_config_print(t->tuned[i].record.config, KW_CONFIG_TEXT_MAX, t->candidates->list[i].config);
        t->tuned[i].record.workspace = t->candidates->list[i].workspace;
        t->tuned[i].launch = t->candidates->list[i].launch;
    }
    t->progress.total = t->count;
    kw_parallel_run(&(kw_parallel){.count = t->count - from, .work = build_candidate, .done = report_built, .user = t});
    t->built = t->count;
    for (size_t i = from; i < t->count; i++) {
        refused += is_refused(&t->tuned[i]);
    }
    return refused;
}

/* For each kernel that is refused the next of the candidates. */
static kw_status prepare_candidates(autotuner *t, kw_error *err) {
    size_t most = t->candidates->count / REFUSED_MOST < t->count ? t->candidates->count : REFUSED_MOST * t->count;
    t->tuned = calloc(most, sizeof *t->tuned);
    if (!t->tuned) {
        return kw_fail_memory(err, "kernels to tune");
    }
    t->progress = (kw_progress){.what = "build"};
    for (size_t refused = build_candidates(t); refused && t->count < most; refused = build_candidates(t)) {
        t->count += most - t->count < refused ? most - t->count : refused;
    }
    return KW_OK;
}

/* A kernel that took the device along ends the tuning. */
static void note_lost_device(autotuner *t, const tuned_candidate *c, const kw_error *why) {
    kw_fail(&t->broken, KW_ENVIRONMENT, "%.200s: %.250s", c->record.config, why->text);
}

/* --- screenings -------------------------------------------------------------------------------------------------------- */

static void time_briefly(autotuner *t, tuned_candidate *c) {
    kw_error why = {0};
    kw_timing_options brief = {
        .pack_weights = !t->request->fresh_weights, .batches = SCREEN_BATCHES, .give_up_ns = hopeless * t->progress.best_ns};
    if (kw_evaluate_time(t->bench, c->loaded->kernel, &c->loaded->config, &brief, &c->record, &why)) {
        note_lost_device(t, c, &why);
    }
    if (c->record.outcome == KW_UNLAUNCHED || t->broken.status) {
        return;
    }
    if (c->record.samples && (t->progress.best_ns <= 0 || c->record.time_ns < t->progress.best_ns)) {
        t->progress.best_ns = c->record.time_ns;
    }
}

static void screen_candidate(autotuner *t, tuned_candidate *c) {
    kw_error why = {0};
    if (kw_evaluate_run(t->bench, c->loaded->kernel, &c->loaded->config, NULL, &c->record, &why)) {
        note_lost_device(t, c, &why);
    }
    if (c->record.outcome == KW_GOOD) {
        time_briefly(t, c);
    }
}

static void screen_candidates(autotuner *t) {
    char time[32];
    size_t measured = 0;
    bool brief = t->request->mode != KW_EXHAUSTIVE;
    t->progress = (kw_progress){.total = t->count, .what = "measure"};
    for (size_t i = 0; i < t->count; i++) {
        tuned_candidate *c = &t->tuned[i];
        if (is_tuning_over(t)) {
            return;
        }
        if (c->loaded && brief && measured >= LONG_SCREENED && t->progress.best_ns > long_ns) {
            kw_time_print(time, t->progress.best_ns);
            snprintf(c->record.detail, sizeof c->record.detail, "not measured: one launch takes %s, so only %d were", time, LONG_SCREENED);
        } else if (c->loaded) {
            screen_candidate(t, c);
            measured += c->record.outcome == KW_GOOD;
        }
        report_progress(t, c);
    }
}

/* --- in turns ----------------------------------------------------------------------------------------------------- */

static bool is_candidate_timed(const tuned_candidate *c) {
    return c->record.outcome == KW_GOOD && c->record.samples > 0;
}

/* Good ones, those of them that were given up early, untried ones, failures. */
static int record_rank(const kw_record *record) {
    return record->outcome == KW_GOOD ? !record->samples : record->outcome == KW_UNTRIED ? 2 : 3;
}

static int compare_records(const kw_record *a, const kw_record *b) {
    int left = record_rank(a), right = record_rank(b);
    if (left != right) {
        return left - right;
    }
    if (left <= 1 && a->time_ns != b->time_ns) {
        return a->time_ns < b->time_ns ? -1 : 1;
    }
    return strcmp(a->config, b->config);
}

static int compare_tuned(const void *a, const void *b) {
    return compare_records(&((const tuned_candidate *)a)->record, &((const tuned_candidate *)b)->record);
}

static bool is_restless(const autotuner *t, const kw_record *record) {
    return kw_noise_restless(record->time_ns, record->spread_ns, kw_context_spread_limit(t->request->context));
}

/* Of two measurements of a kernel the lesser; where they are as good as equal, the one that spreads less. */
static bool is_better_time(const autotuner *t, const kw_record *now, const kw_record *known) {
    bool calm = !is_restless(t, now), was_calm = !is_restless(t, known);
    double allowance = calm == was_calm ? 1 : calm ? 1 + alike : 1 - alike;
    return now->time_ns < allowance * known->time_ns;
}

/* Puts all times as of the machine's faster state. */
static void forget_change(autotuner *t, kw_record now[], size_t count, double change) {
    for (size_t i = 0; i < t->count && change < 1; i++) {
        kw_record_scale(&t->tuned[i].record, change);
    }
    for (size_t i = 0; i < count && change > 1; i++) {
        kw_record_scale(&now[i], 1 / change);
    }
}

/* Times some of the candidates in turns. The first known of them tell how the machine changed since they were timed before. Of the time known
 * and the new one the better stays; anew: the new one. */
static bool time_in_turns(autotuner *t, tuned_candidate *const list[], size_t count, size_t known, bool anew, kw_timing_options options) {
    const kw_kernel *kernels[IN_TURNS_MAX];
    const kw_config *configs[IN_TURNS_MAX];
    kw_record records[IN_TURNS_MAX];
    double before_ns[IN_TURNS_MAX];
    kw_error why = {0};
    for (size_t i = 0; i < count; i++) {
        before_ns[i] = is_candidate_timed(list[i]) ? list[i]->record.time_ns : 0;
        kernels[i] = list[i]->loaded->kernel;
        configs[i] = &list[i]->loaded->config;
        records[i] = list[i]->record;
    }
    options.pack_weights = !t->request->fresh_weights;
    options.levelled = true;
    if (kw_bench_time(t->bench, kernels, configs, count, &options, records, &why)) {
        if (why.status == KW_ENVIRONMENT) {
            kw_fail(&t->broken, KW_ENVIRONMENT, "kernels timed in turns: %.400s", why.text); /* the device is lost */
        }
        kw_log_line(&t->request->context->settings, "%s: earlier times decide: %s", t->request->text, why.text);
        return false;
    }
    t->change = kw_machine_change(before_ns, records, known);
    forget_change(t, records, count, t->change);
    if (t->change > 1) {
        kw_record_keep_behind(records + known, count - known, before_ns[0]);
    }
    for (size_t i = 0; i < count; i++) {
        bool none = records[i].outcome == KW_SLOW || records[i].outcome == KW_UNLAUNCHED; /* there may be no memory for all at once */
        bool taken = anew || records[i].outcome != KW_GOOD || !is_candidate_timed(list[i]);
        if (!none && (taken || is_better_time(t, &records[i], &list[i]->record))) {
            list[i]->record = records[i];
        }
    }
    return true;
}

static tuned_candidate *best_screened(const autotuner *t) {
    tuned_candidate *best = NULL;
    for (size_t i = 0; i < t->count; i++) {
        tuned_candidate *c = &t->tuned[i];
        best = is_candidate_timed(c) && (!best || c->record.time_ns < best->record.time_ns) ? c : best;
    }
    return best;
}

/* Those that would not enter the final are timed again beside the best, which tells what the machine did since. */
static void rescreen_candidates(autotuner *t) {
    int passes = t->progress.best_ns > long_ns ? 0 : t->progress.best_ns > middling_ns ? 1 : RESCREEN_PASSES;
    kw_timing_options brief = {.batches = RESCREEN_BATCHES, .drop_ratio = hopeless_in_turns};
    for (int pass = 0; pass < passes; pass++) {
        for (size_t i = 0; i < t->count && !is_tuning_over(t);) {
            tuned_candidate *list[IN_TURNS_MAX] = {best_screened(t)};
            size_t count = 1;
            for (; i < t->count && list[0] && count < IN_TURNS_MAX; i++) {
                const kw_record *r = &t->tuned[i].record;
                if (r->outcome == KW_GOOD && (!r->samples || r->time_ns > near * list[0]->record.time_ns)) {
                    list[count++] = &t->tuned[i];
                }
            }
            if (!list[0] || (count > 1 && !time_in_turns(t, list, count, 1, false, brief))) {
                return;
            }
        }
    }
}

/* --- final -------------------------------------------------------------------------------------------------------- */

/* How many of the first candidates, which stand best first, are within the limit. */
static size_t count_near(const autotuner *t, size_t most, double limit_ns) {
    size_t count = 0;
    while (count < most && count < t->count && is_candidate_timed(&t->tuned[count]) && t->tuned[count].record.time_ns <= limit_ns) {
        count++;
    }
    return count;
}

/* As many batches as the final's time allows. */
static int32_t batches_for(const autotuner *t, size_t count, bool again) {
    double each = t->tuned[count - 1].record.time_ns;
    double batches = (again ? final_ns / 2 : final_ns) / ((each > batch_ns ? each : batch_ns) * (double)count);
    int32_t least = again ? AGAIN_LEAST : FINAL_LEAST, most = again ? AGAIN_MOST : FINAL_MOST;
    return batches < least ? least : batches > most ? most : (int32_t)batches;
}

/* Times the first count of the finalists in turns and puts them in order. One that is found wrong by then is no finalist any more. */
static bool time_finalists(autotuner *t, size_t count, size_t *finalists, bool again) {
    tuned_candidate *list[IN_TURNS_MAX];
    for (size_t i = 0; i < count; i++) {
        list[i] = &t->tuned[i];
    }
    if (!time_in_turns(t, list, count, count, !again, (kw_timing_options){.batches = batches_for(t, count, again)})) {
        return false;
    }
    qsort(t->tuned, count, sizeof *t->tuned, compare_tuned);
    if (!is_candidate_timed(&t->tuned[count - 1])) {
        qsort(t->tuned, *finalists, sizeof *t->tuned, compare_tuned);
        while (*finalists && !is_candidate_timed(&t->tuned[*finalists - 1])) {
            --*finalists;
        }
    }
    return *finalists > 0;
}

/* Whether a time lies where a little more noise would change the decision. */
static bool is_unclear(const autotuner *t, size_t count) {
    double best = t->tuned[0].record.time_ns;
    for (size_t i = 1; i < count; i++) {
        double gap = t->tuned[i].record.time_ns / best - 1;
        if (gap > kw_noise_decide.least && gap <= unclear) {
            return true;
        }
    }
    return false;
}

/* Whether the times tell of other work beside the final of the first count: those that could win spread, or the machine was slower than
 * before, or one that did not take part is ahead of all. */
static bool is_machine_busy(const autotuner *t, size_t count) {
    double limit = t->tuned[0].record.time_ns * (1 + unclear);
    for (size_t i = 0; i < count; i++) {
        if (t->tuned[i].record.least_ns <= limit && is_restless(t, &t->tuned[i].record)) {
            return true;
        }
    }
    for (size_t i = count; i < t->count; i++) {
        if (is_candidate_timed(&t->tuned[i]) && t->tuned[i].record.time_ns < t->tuned[0].record.time_ns) {
            return true;
        }
    }
    return t->change > slowed;
}

/* Finals of all until the machine was at rest in one of them for each of those that could win. */
static void repeat_while_busy(autotuner *t, size_t *count) {
    int64_t start = kw_clock_ns(), pause = busy_pause_ns;
    while (t->finals < BUSY_FINALS_MAX && is_machine_busy(t, *count) && !is_tuning_over(t) &&
           kw_clock_ns() - start + pause < busy_budget_ns) {
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
        pause *= 2;
        t->finals++;
        qsort(t->tuned, t->count, sizeof *t->tuned, compare_tuned);
        *count = (size_t)kw_max((int64_t)*count, (int64_t)count_near(t, IN_TURNS_MAX, near * t->tuned[0].record.time_ns));
        if (!time_finalists(t, *count, count, true)) {
            return;
        }
    }
}

/* Sorts the candidates best first; how many of them enter the final. */
static size_t pick_finalists(autotuner *t) {
    qsort(t->tuned, t->count, sizeof *t->tuned, compare_tuned);
    double best = t->tuned[0].record.time_ns;
    return count_near(t, best > long_ns ? LONG_FINALISTS : IN_TURNS_MAX, best * (best > long_ns ? near_long : near));
}

/* Those at the edge of a tie are timed again: the least of several times is nearest to the truth. */
static void time_rounds(autotuner *t, size_t *finalists) {
    bool is_long = t->tuned[0].record.time_ns > long_ns;
    if ((is_long && *finalists == 1) || !time_finalists(t, *finalists, finalists, false)) {
        return;
    }
    repeat_while_busy(t, finalists);
    for (int round = 1; round < FINALS_MAX && !is_long && !is_tuning_over(t); round++) {
        size_t tied = count_near(t, *finalists, t->tuned[0].record.time_ns * (1 + unclear));
        if (!is_unclear(t, tied) || !time_finalists(t, tied, finalists, true)) {
            return;
        }
    }
}

/* After it the candidates stand best first, and the first *finalists of them were timed together; where all of these were found wrong, those
 * that are next, as they were screened. */
static void run_final(autotuner *t, size_t *finalists) {
    *finalists = pick_finalists(t);
    if (*finalists) {
        time_rounds(t, finalists);
        *finalists = *finalists ? *finalists : pick_finalists(t);
    }
}

/* --- decision ----------------------------------------------------------------------------------------------------- */

static void explain_failures(const autotuner *t, kw_explanation_list *explanation) {
    size_t failed = 0, absent = 0;
    for (size_t i = 0; i < t->count; i++) {
        const tuned_candidate *c = &t->tuned[i];
        absent += c->absent;
        bool left_out = c->record.outcome == KW_UNTRIED && !*c->record.detail;
        if (c->absent || c->record.outcome == KW_GOOD || left_out) {
            continue;
        }
        kw_log_line(&t->request->context->settings, "%s on %s: %s: %s", c->record.config, t->request->text,
                    kw_outcome_name(c->record.outcome), c->record.detail);
        if (failed++ < FAILURES_TOLD) {
            kw_explain(explanation, KW_EXPLAIN_FAILED, "failed (%s): %s: %s", kw_outcome_name(c->record.outcome), c->record.config,
                       c->record.detail);
        }
    }
    if (failed > FAILURES_TOLD) {
        kw_explain(explanation, KW_EXPLAIN_FAILED, "and %zu more failed", failed - FAILURES_TOLD);
    }
    if (absent) {
        const char *note;
        kw_build_tools_compiler(t->request->context->build_tools, &note);
        kw_explain(explanation, KW_EXPLAIN_FAILED, "%zu kernels were left out: not cached, and no compiler (%s)", absent, note);
    }
}

static void explain_winner(const autotuner *t, const kw_wisdom_value *value, double noise, kw_explanation_list *explanation) {
    char time[32];
    kw_time_print(time, value->time_ns);
    size_t measured = 0;
    for (size_t i = 0; i < t->count; i++) {
        measured += t->tuned[i].record.outcome == KW_GOOD && t->tuned[i].record.time_ns > 0;
    }
    kw_explain(explanation, KW_EXPLAIN_MEASURED,
               "measured now (%s): %s (spread %.1f %%), best of %zu kernels that were measured, of %zu that fit", kw_mode_name(value->mode),
               time, value->time_ns > 0 ? 100 * value->spread_ns / value->time_ns : 0, measured,
               t->candidates->count + t->candidates->over_limit);
    if (*value->next) {
        double gap = value->next_ns / value->time_ns - 1;
        kw_explain(explanation, KW_EXPLAIN_NEXT, "next best: %.1f %% %s, %s (%.1f %%): %s", 100 * fabs(gap), gap < 0 ? "faster" : "slower",
                   fabs(gap) <= noise ? "a tie within the noise that the name decides" : "outside the noise", 100 * noise, value->next);
    }
}

static void explain_noise(const autotuner *t, const kw_record *won, kw_explanation_list *explanation) {
    double spread = won->time_ns > 0 ? 100 * won->spread_ns / won->time_ns : 0;
    if (is_restless(t, won)) {
        kw_explain(explanation, KW_EXPLAIN_NOISE,
                   "the machine is busy: times of the winner spread by %.0f %% (%.0f %% is the most) after %d more final%s; the choice is"
                   " provisional, and measured again next time",
                   spread, 100 * kw_context_spread_limit(t->request->context), t->finals, t->finals == 1 ? "" : "s");
        kw_log_line(&t->request->context->settings, "the machine is busy: the choice for %s is provisional (spread %.0f %%)",
                    t->request->text, spread);
    } else if (t->finals) {
        kw_explain(explanation, KW_EXPLAIN_NOISE, "the machine was busy: %d more final%s, until times spread by %.1f %%", t->finals,
                   t->finals == 1 ? "" : "s", spread);
    }
}

static void explain_model(const autotuner *t, kw_explanation_list *explanation) {
    if (t->request->mode == KW_SHORTLIST && *t->candidates->prediction.model) {
        kw_explain(explanation, KW_EXPLAIN_MODEL, "the shortlist is by model %s", t->candidates->prediction.model);
    }
    kw_explain_lines(explanation, KW_EXPLAIN_MODEL, kw_text_string(&t->candidates->prediction.notes));
}

/* Its kernel goes to the choice. */
static void take_winner(autotuner *t, kw_choice *choice, size_t winner) {
    choice->loaded = t->tuned[winner].loaded;
    choice->launch = *t->tuned[winner].launch;
    t->tuned[winner].loaded = NULL;
}

static void decide_winner(autotuner *t, kw_choice *choice, kw_wisdom_value *value, size_t finalists) {
    const kw_record *records[IN_TURNS_MAX];
    double noise = 0;
    for (size_t i = 0; i < finalists; i++) {
        records[i] = &t->tuned[i].record;
    }
    size_t winner = kw_noise_select(records, finalists, &kw_noise_decide, &noise);
    const kw_record *won = records[winner];
    value->time_ns = won->time_ns, value->spread_ns = won->spread_ns;
    memcpy(value->config, won->config, sizeof value->config);
    snprintf(value->builder, sizeof value->builder, "%s", t->tuned[winner].loaded->builder);
    kw_clock_date(value->date);
    size_t second = winner ? 0 : 1; /* candidates stand best first */
    if (second < t->count && t->tuned[second].record.outcome == KW_GOOD && t->tuned[second].record.time_ns > 0 &&
        (second < finalists || t->tuned[second].record.time_ns > won->time_ns)) {
        value->next_ns = t->tuned[second].record.time_ns;
        memcpy(value->next, t->tuned[second].record.config, sizeof value->next);
    }
    explain_winner(t, value, noise, &choice->explanation);
    explain_noise(t, won, &choice->explanation);
    explain_model(t, &choice->explanation);
    take_winner(t, choice, winner);
}

/* Nothing can be measured: the first tuned_candidate that could be built, and the reason. */
static void decide_unmeasured(autotuner *t, kw_choice *choice, const kw_error *why) {
    kw_log_line(&t->request->context->settings, "%s cannot be measured: %s", t->request->text, why->text);
    for (size_t i = 0; i < t->count; i++) {
        if (t->tuned[i].loaded) {
            const char *model = t->candidates->prediction.model;
            kw_explain(&choice->explanation, KW_EXPLAIN_PREDICTED, "by %s%s; it could not be measured: %s",
                       *model ? "model " : "the analytic estimate", model, why->text);
            take_winner(t, choice, i);
            return;
        }
    }
}

static kw_status keep_records(const autotuner *t, kw_choice *choice, kw_error *err) {
    choice->records = calloc(t->count, sizeof *choice->records);
    if (!choice->records) {
        return kw_fail_memory(err, "the records of an autotuning");
    }
    for (size_t i = 0; i < t->count; i++) {
        choice->records[i] = t->tuned[i].record;
    }
    choice->record_count = t->count;
    return KW_OK;
}

kw_status kw_autotune(kw_choice *choice, kw_wisdom_value *value, const kw_request *request, const kw_candidates *candidates, size_t count,
                      kw_error *err) {
    kw_context *context = request->context;
    autotuner t = {.request = request, .candidates = candidates, .count = count};
    kw_error why = {0};
    kw_status status = prepare_candidates(&t, err);
    if (status) {
        return status;
    }
    for (size_t i = 0; i < t.count; i++) {
        value->candidates += !t.tuned[i].absent;
        choice->wanting += t.tuned[i].wanting;
    }
    if (value->candidates && kw_bench_open(&t.bench, context->backend, context->device, &request->problem, 0, &why)) {
        decide_unmeasured(&t, choice, &why);
    } else if (value->candidates) {
        size_t finalists = 0;
        screen_candidates(&t);
        if (!is_tuning_over(&t)) {
            rescreen_candidates(&t);
            run_final(&t, &finalists);
        }
        explain_failures(&t, &choice->explanation);
        if (finalists) {
            decide_winner(&t, choice, value, finalists);
        }
        if (finalists && !is_tuning_over(&t)) {
            status = kw_measure_team(choice, value, request, t.bench, value->time_ns, err);
        }
        status = is_tuning_over(&t) ? kw_fail(err, t.broken.status, "%s", t.broken.text) : status;
        status = status ? status : keep_records(&t, choice, err);
    } else {
        explain_failures(&t, &choice->explanation);
    }
    kw_bench_close(&t.bench);
    for (size_t i = 0; i < t.count; i++) {
        kw_kernel_cache_release(&context->kernel_cache, &t.tuned[i].loaded);
    }
    free(t.tuned);
    return status;
}
