/* summary.c: the report in short. Every line that says something bad is followed by one to paste. */
#include "report/charts/figures.h"
#include "report/report.h"
#include "base/stats.h"

#include <stdlib.h>
#include <string.h>

enum { WORST = 5, CAUSES = 8, WINNERS = 6, TARGETS = 6 };

/* A problem this near to its roof needs no advice. */
static const double good_enough = 0.9;

typedef struct summary {
    kw_text *out;
    const kw_ledger *ledger, *baseline;
    kw_arena arena;
} summary;

static void add_name(summary *state, const char *text, size_t limit) {
    kw_safe_add_cut(state->out, text, KW_SAFE_TERMINAL, limit);
}

static void add_head(summary *state) {
    const kw_ledger *ledger = state->ledger;
    kw_text *out = state->out;
    kw_text_add(out, "store       ");
    add_name(state, ledger->name, 100);
    kw_text_add(out, ", ");
    add_name(state, ledger->id, 34);
    kw_text_addf(out, "\n            rows %zu, runs %zu, problems %zu, kernels %zu, targets %zu", ledger->moment_count,
                 ledger->run_names.count, ledger->problem_names.count, ledger->config_names.count, ledger->target_names.count);
    if (*ledger->first) {
        kw_text_add(out, "; ");
        add_name(state, ledger->first, 24);
        kw_text_add(out, " to ");
        add_name(state, ledger->last, 24);
    }
    kw_text_addf(out, "\nanswers     %zu:", ledger->entry_count);
    for (int o = 0; o < KW_OUTCOME_COUNT; o++) {
        if (ledger->outcome[o]) {
            kw_text_addf(out, " %s %lld", kw_outcome_name((kw_outcome)o), (long long)ledger->outcome[o]);
        }
    }
    kw_text_add(out, "\n");
    if (ledger->timeless || ledger->halfless) {
        kw_text_addf(out, "            %zu good without a time; %zu with one time alone, so their oracle is not scored by other samples\n",
                     ledger->timeless, ledger->halfless);
    }
}

/* --- one target ----------------------------------------------------------------------------------------------- */

typedef struct standing {
    uint32_t family;
    size_t wins;
} standing;

static int compare_standing(const void *a, const void *b) {
    const standing *x = a, *y = b;
    return x->wins != y->wins ? (x->wins < y->wins ? 1 : -1) : (x->family > y->family) - (x->family < y->family);
}

static void add_winners(summary *state, uint32_t target) {
    const kw_ledger *ledger = state->ledger;
    size_t count = ledger->families.count, won = 0;
    standing *standings = kw_arena_array(&state->arena, count + 1, sizeof *standings);
    if (!standings) {
        state->out->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        standings[i].family = (uint32_t)i;
    }
    for (size_t i = 0; i < ledger->contest_count; i++) {
        const kw_contest *contest = &ledger->contests[i];
        if (contest->target == target && contest->best != KW_NOWHERE) {
            standings[ledger->configs[ledger->entries[contest->best].config].family_number].wins++;
            won++;
        }
    }
    qsort(standings, count, sizeof *standings, compare_standing);
    kw_text_add(state->out, won ? "  winners     " : "");
    for (size_t i = 0; i < count && i < WINNERS && standings[i].wins; i++) {
        kw_text_add(state->out, i ? ", " : "");
        add_name(state, ledger->families.text[standings[i].family], 40);
        kw_text_addf(state->out, " %zu (%.0f %%)", standings[i].wins, 100 * (double)standings[i].wins / (double)won);
    }
    kw_text_add(state->out, won ? "\n" : "");
}

static void add_roofs(summary *state, const kw_ledger_target *target) {
    char rate[24];
    kw_text_add(state->out, "  roofs       ");
    for (int d = 0; d < KW_DTYPE_COUNT; d++) {
        if (target->peak[d].kind != KW_ROOF_NONE) {
            kw_unit_print(rate, target->peak[d].rate, KW_UNIT_SI);
            kw_text_addf(state->out, "%s %sFLOP/s (%s); ", kw_dtype_name((kw_dtype)d), rate, kw_roof_words(target->peak[d].kind));
        }
    }
    kw_unit_print(rate, target->memory.rate, KW_UNIT_SI);
    kw_text_addf(state->out, "memory %s%s(%s)\n", target->memory.rate > 0 ? rate : "", target->memory.rate > 0 ? "B/s " : "",
                 kw_roof_words(target->memory.kind));
}

static void add_duels(summary *state, const kw_duel *duels, size_t count, const char *head, const char *what) {
    double *ratios = kw_arena_array(&state->arena, count + 1, sizeof *ratios);
    size_t ties = 0;
    if (!duels || !ratios) {
        state->out->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        ratios[i] = duels[i].ratio;
        ties += duels[i].tie;
    }
    if (count) {
        kw_interval interval = kw_stat_geomean_interval(ratios, count);
        kw_text_addf(state->out, "  %-10s  %.2fx %s, geometric mean of %zu problem%s (95 %% interval %.2fx to %.2fx), %zu of them ties\n",
                     head, kw_stat_geomean(ratios, count), what, count, count == 1 ? "" : "s", interval.low, interval.high, ties);
    }
}

static int compare_contest(const void *a, const void *b) {
    const kw_contest *x = *(const kw_contest *const *)a, *y = *(const kw_contest *const *)b;
    double ex = kw_contest_efficiency(x), ey = kw_contest_efficiency(y);
    return ex != ey ? (ex > ey) - (ex < ey) : (x->first > y->first) - (x->first < y->first);
}

static void add_worst(summary *state, const kw_contest *const *contests, size_t count) {
    for (size_t i = 0; i < count && i < WORST && kw_contest_efficiency(contests[i]) < good_enough; i++) {
        kw_text line = {0}, command = {0};
        double efficiency = kw_contest_efficiency(contests[i]);
        kw_contest_print(&line, state->ledger, contests[i]);
        kw_text_add(&command, efficiency > 0 ? "kwright tune --exhaustive --set full " : "kwright explain ");
        kw_safe_quote(&command, state->ledger->problems[contests[i]->problem].text);
        kw_text_addf(state->out, "%s%3.0f %%  ", i ? "              " : "  worst       ", 100 * efficiency);
        add_name(state, kw_text_string(&line), 160);
        kw_text_add(state->out, efficiency > 0 ? contests[i]->by_memory ? " (memory roof)" : "" : " (no good kernel)");
        kw_text_add(state->out, "\n                     ");
        add_name(state, kw_text_string(&command), 600);
        kw_text_add(state->out, "\n");
        kw_safe_drop(&line, state->out);
        kw_safe_drop(&command, state->out);
    }
}

static void add_efficiency(summary *state, uint32_t target) {
    const kw_ledger *ledger = state->ledger;
    const kw_contest **contests = kw_arena_array(&state->arena, ledger->contest_count + 1, sizeof *contests);
    double *values = kw_arena_array(&state->arena, ledger->contest_count + 1, sizeof *values);
    size_t count = 0, problems = 0, covered = 0;
    for (size_t i = 0; i < ledger->contest_count && contests && values; i++) {
        const kw_contest *contest = &ledger->contests[i];
        problems += contest->target == target;
        covered += contest->target == target && contest->best != KW_NOWHERE;
        if (contest->target == target && contest->roof_ns > 0) {
            contests[count++] = contest;
        }
    }
    if (!contests || !values) {
        state->out->failed = true;
        return;
    }
    qsort(contests, count, sizeof *contests, compare_contest);
    for (size_t i = 0; i < count; i++) {
        values[i] = kw_contest_efficiency(contests[i]);
    }
    kw_text_addf(state->out, "  coverage    %zu of %zu problems have a good kernel\n", covered, problems);
    if (count) {
        bool measured = kw_target_is_measured(&ledger->targets[target]);
        kw_text_addf(state->out, "  efficiency  P10 %.0f %%, P50 %.0f %%, mean %.0f %% of %s; without a good kernel: 0; %zu problem%s\n",
                     100 * kw_stat_quantile(values, count, 0.1), 100 * kw_stat_quantile(values, count, 0.5),
                     100 * kw_stat_mean(values, count), measured ? "the roof" : "the best seen, since no roof was measured", count,
                     count == 1 ? "" : "s");
    }
    add_winners(state, target);
    add_worst(state, contests, count);
}

static void add_target(summary *state, uint32_t number) {
    const kw_ledger_target *target = &state->ledger->targets[number];
    size_t count;
    add_name(state, target->label, 100);
    if (*target->device) {
        kw_text_add(state->out, " (");
        add_name(state, target->device, 96);
        kw_text_add(state->out, ")");
    }
    kw_text_add(state->out, "\n");
    add_roofs(state, target);
    add_efficiency(state, number);
    const kw_duel *duels = kw_duels_generic(state->ledger, &state->arena, number, &count);
    add_duels(state, duels, count, "speed-up", "over the generic kernel");
    uint32_t other = state->baseline ? kw_duel_target(state->ledger, state->baseline, number) : UINT32_MAX;
    if (other != UINT32_MAX) {
        const uint32_t targets[2] = {number, other};
        duels = kw_duels_baseline(state->ledger, state->baseline, &state->arena, targets, &count);
        add_duels(state, duels, count, "baseline", "over the baseline's best");
        if (duels && !count) {
            kw_text_add(state->out, "  baseline    has no problem of this target that was timed the same way\n");
        }
    }
}

/* --- what concerns all of the store --------------------------------------------------------------------------- */

static void add_drift(summary *state) {
    size_t count;
    const kw_run_drift *runs = kw_drifts(state->ledger, &state->arena, &count);
    if (!runs) {
        state->out->failed = true;
        return;
    }
    for (size_t i = 0; i < count && i < 3; i++) {
        kw_text_add(state->out, i ? "            run " : "drift       run ");
        add_name(state, state->ledger->runs[runs[i].run].id, 9);
        kw_text_addf(state->out, ": control %+.1f %% from its first tenth to its last; %zu of %zu readings off by more than %.0f %%\n",
                     100 * runs[i].last, runs[i].off, runs[i].rounds, 100 * kw_drift_limit);
    }
    if (!count && state->ledger->moment_count) {
        kw_text_add(state->out, "drift       not known: no row has a control kernel beside it\n");
    }
}

static void add_failures(summary *state) {
    size_t count;
    const kw_cause *causes = kw_causes(state->ledger, &state->arena, false, &count);
    if (!causes) {
        state->out->failed = true;
        return;
    }
    kw_text_add(state->out, count ? "failures\n" : "");
    for (size_t i = 0; i < count && i < CAUSES; i++) {
        kw_text command = {0};
        kw_cause_command(&command, state->ledger, &causes[i]);
        kw_text_addf(state->out, "%6zu  %s  ", causes[i].count, kw_outcome_name(causes[i].outcome));
        add_name(state, state->ledger->families.text[causes[i].family], 40);
        kw_text_add(state->out, ": ");
        add_name(state, *causes[i].rule ? causes[i].rule : "(no reason given)", 160);
        kw_text_add(state->out, "\n        ");
        add_name(state, kw_text_string(&command), 1200);
        kw_text_add(state->out, "\n");
        kw_safe_drop(&command, state->out);
    }
    if (count > CAUSES) {
        kw_text_addf(state->out, "        and %zu causes more; the HTML report has all\n", count - CAUSES);
    }
}

void kw_report_summary(kw_text *out, const kw_report *report) {
    summary state = {.out = out, .ledger = report->ledger, .baseline = report->baseline};
    add_head(&state);
    for (uint32_t t = 0; t < report->ledger->target_names.count && t < TARGETS; t++) {
        add_target(&state, t);
    }
    if (report->ledger->target_names.count > TARGETS) {
        kw_text_addf(out, "and %zu targets more; the HTML report has all\n", report->ledger->target_names.count - TARGETS);
    }
    add_drift(&state);
    add_failures(&state);
    kw_arena_drop(&state.arena);
}
