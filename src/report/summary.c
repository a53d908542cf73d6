/* summary.c: the report in short. Every line that says something bad is followed by one to paste. */
#include "report/charts/figures.h"
#include "report/report.h"
#include "base/statistics/stats.h"

#include <stdlib.h>
#include <string.h>

enum { WORST = 5, CAUSES = 8, WINNERS = 6, TARGETS = 6 };

/* A problem this near to its roof needs no advice. */
static const double good_enough = 0.9;

typedef struct summary {
    kw_text *out;
    const kw_report_data *report_data, *baseline;
    kw_arena arena;
} summary;

static void add_escaped_name(summary *state, const char *text, size_t limit) {
    kw_escape_add_truncated(state->out, text, KW_ESCAPE_TERMINAL, limit);
}

static void add_summary_head(summary *state) {
    const kw_report_data *report_data = state->report_data;
    kw_text *out = state->out;
    kw_text_add(out, "store       ");
    add_escaped_name(state, report_data->name, 100);
    kw_text_add(out, ", ");
    add_escaped_name(state, report_data->id, 34);
    kw_text_addf(out, "\n            rows %zu, runs %zu, problems %zu, kernels %zu, targets %zu", report_data->rows_in_order_count,
                 report_data->run_names.count, report_data->problem_names.count, report_data->config_names.count,
                 report_data->target_names.count);
    if (*report_data->first) {
        kw_text_add(out, "; ");
        add_escaped_name(state, report_data->first, 24);
        kw_text_add(out, " to ");
        add_escaped_name(state, report_data->last, 24);
    }
    kw_text_addf(out, "\nanswers     %zu:", report_data->entry_count);
    for (int o = 0; o < KW_OUTCOME_COUNT; o++) {
        if (report_data->outcome[o]) {
            kw_text_addf(out, " %s %lld", kw_outcome_name((kw_outcome)o), (long long)report_data->outcome[o]);
        }
    }
    kw_text_add(out, "\n");
    if (report_data->timeless || report_data->halfless) {
        kw_text_addf(out, "            %zu good without a time; %zu with one time alone, so their oracle is not scored by other samples\n",
                     report_data->timeless, report_data->halfless);
    }
}

/* --- one target ----------------------------------------------------------------------------------------------- */

typedef struct family_wins {
    uint32_t family;
    size_t wins;
} family_wins;

static int by_family_wins(const void *a, const void *b) {
    const family_wins *x = a, *y = b;
    return x->wins != y->wins ? (x->wins < y->wins ? 1 : -1) : (x->family > y->family) - (x->family < y->family);
}

static void add_winners(summary *state, uint32_t target) {
    const kw_report_data *report_data = state->report_data;
    size_t count = report_data->families.count, won = 0;
    family_wins *standings = kw_arena_array(&state->arena, count + 1, sizeof *standings);
    if (!standings) {
        state->out->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        standings[i].family = (uint32_t)i;
    }
    for (size_t i = 0; i < report_data->problem_group_count; i++) {
        const kw_report_group *problem_group = &report_data->problem_groups[i];
        if (problem_group->target == target && problem_group->best != KW_NOWHERE) {
            standings[report_data->configs[report_data->entries[problem_group->best].config].family_number].wins++;
            won++;
        }
    }
    qsort(standings, count, sizeof *standings, by_family_wins);
    kw_text_add(state->out, won ? "  winners     " : "");
    for (size_t i = 0; i < count && i < WINNERS && standings[i].wins; i++) {
        kw_text_add(state->out, i ? ", " : "");
        add_escaped_name(state, report_data->families.text[standings[i].family], 40);
        kw_text_addf(state->out, " %zu (%.0f %%)", standings[i].wins, 100 * (double)standings[i].wins / (double)won);
    }
    kw_text_add(state->out, won ? "\n" : "");
}

static void add_roofs(summary *state, const kw_report_target *target) {
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

static void add_pairwise_summary(summary *state, const kw_pairwise *pairwise_ratios, size_t count, const char *head, const char *what) {
    double *ratios = kw_arena_array(&state->arena, count + 1, sizeof *ratios);
    size_t ties = 0;
    if (!pairwise_ratios || !ratios) {
        state->out->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        ratios[i] = pairwise_ratios[i].ratio;
        ties += pairwise_ratios[i].tie;
    }
    if (count) {
        kw_interval interval = kw_stat_geomean_interval(ratios, count);
        kw_text_addf(state->out, "  %-10s  %.2fx %s, geometric mean of %zu problem%s (95 %% interval %.2fx to %.2fx), %zu of them ties\n",
                     head, kw_stat_geomean(ratios, count), what, count, count == 1 ? "" : "s", interval.low, interval.high, ties);
    }
}

static int by_worst_efficiency(const void *a, const void *b) {
    const kw_report_group *x = *(const kw_report_group *const *)a, *y = *(const kw_report_group *const *)b;
    double ex = kw_report_group_efficiency(x), ey = kw_report_group_efficiency(y);
    return ex != ey ? (ex > ey) - (ex < ey) : (x->first > y->first) - (x->first < y->first);
}

/* What may find a better kernel, or says why there is none, on the group's own target and timed as it was. tune knows hot caches only. */
static void add_group_command(kw_text *command, const kw_report_data *report_data, const kw_report_group *group) {
    bool good = kw_report_group_efficiency(group) > 0;
    kw_text_add(command, !good         ? "kwright explain"
                         : group->cold ? "kwright sweep --cold --exhaustive --set full --out "
                                       : "kwright tune --exhaustive --set full");
    if (good && group->cold) {
        kw_escape_quote(command, report_data->name);
    }
    kw_target_add_options(command, report_data->targets[group->target].text);
    kw_text_add(command, group->packed ? " " : " --fresh-weights ");
    kw_escape_quote(command, report_data->problems[group->problem].text);
}

static void add_worst_groups(summary *state, const kw_report_group *const *problem_groups, size_t count) {
    for (size_t i = 0; i < count && i < WORST && kw_report_group_efficiency(problem_groups[i]) < good_enough; i++) {
        kw_text line = {0}, command = {0};
        double efficiency = kw_report_group_efficiency(problem_groups[i]);
        kw_report_group_print(&line, state->report_data, problem_groups[i]);
        add_group_command(&command, state->report_data, problem_groups[i]);
        kw_text_addf(state->out, "%s%3.0f %%  ", i ? "              " : "  worst       ", 100 * efficiency);
        add_escaped_name(state, kw_text_string(&line), 160);
        kw_text_add(state->out, efficiency > 0 ? problem_groups[i]->by_memory ? " (memory roof)" : "" : " (no good kernel)");
        kw_text_add(state->out, "\n                     ");
        add_escaped_name(state, kw_text_string(&command), 600);
        kw_text_add(state->out, "\n");
        kw_escape_drop(&line, state->out);
        kw_escape_drop(&command, state->out);
    }
}

static void add_efficiency(summary *state, uint32_t target) {
    const kw_report_data *report_data = state->report_data;
    const kw_report_group **problem_groups = kw_arena_array(&state->arena, report_data->problem_group_count + 1, sizeof *problem_groups);
    double *values = kw_arena_array(&state->arena, report_data->problem_group_count + 1, sizeof *values);
    size_t count = 0, problems = 0, covered = 0;
    for (size_t i = 0; i < report_data->problem_group_count && problem_groups && values; i++) {
        const kw_report_group *problem_group = &report_data->problem_groups[i];
        problems += problem_group->target == target;
        covered += problem_group->target == target && problem_group->best != KW_NOWHERE;
        if (problem_group->target == target && problem_group->roof_ns > 0) {
            problem_groups[count++] = problem_group;
        }
    }
    if (!problem_groups || !values) {
        state->out->failed = true;
        return;
    }
    qsort(problem_groups, count, sizeof *problem_groups, by_worst_efficiency);
    for (size_t i = 0; i < count; i++) {
        values[i] = kw_report_group_efficiency(problem_groups[i]);
    }
    kw_text_addf(state->out, "  coverage    %zu of %zu problems have a good kernel\n", covered, problems);
    if (count) {
        bool measured = kw_target_is_measured(&report_data->targets[target]);
        kw_text_addf(state->out, "  efficiency  P10 %.0f %%, P50 %.0f %%, mean %.0f %% of %s; without a good kernel: 0; %zu problem%s\n",
                     100 * kw_stat_quantile(values, count, 0.1), 100 * kw_stat_quantile(values, count, 0.5),
                     100 * kw_stat_mean(values, count), measured ? "the roof" : "the best seen, since no roof was measured", count,
                     count == 1 ? "" : "s");
    }
    add_winners(state, target);
    add_worst_groups(state, problem_groups, count);
}

static void add_target_summary(summary *state, uint32_t number) {
    const kw_report_target *target = &state->report_data->targets[number];
    size_t count;
    add_escaped_name(state, target->label, 100);
    if (*target->device) {
        kw_text_add(state->out, " (");
        add_escaped_name(state, target->device, 96);
        kw_text_add(state->out, ")");
    }
    kw_text_add(state->out, "\n");
    add_roofs(state, target);
    add_efficiency(state, number);
    const kw_pairwise *pairwise_ratios = kw_pairwise_reference(state->report_data, &state->arena, number, &count);
    add_pairwise_summary(state, pairwise_ratios, count, "speed-up", "over the reference kernel");
    uint32_t other = state->baseline ? kw_pairwise_target(state->report_data, state->baseline, number) : UINT32_MAX;
    if (other != UINT32_MAX) {
        const uint32_t targets[2] = {number, other};
        pairwise_ratios = kw_pairwise_baseline(state->report_data, state->baseline, &state->arena, targets, &count);
        add_pairwise_summary(state, pairwise_ratios, count, "baseline", "over the baseline's best");
        if (pairwise_ratios && !count) {
            kw_text_add(state->out, "  baseline    has no problem of this target that was timed the same way\n");
        }
    }
}

/* --- what concerns all of the store --------------------------------------------------------------------------- */

static void add_drift(summary *state) {
    size_t count;
    const kw_run_drift *runs = kw_drifts(state->report_data, &state->arena, &count);
    if (!runs) {
        state->out->failed = true;
        return;
    }
    for (size_t i = 0; i < count && i < 3; i++) {
        kw_text_add(state->out, i ? "            run " : "drift       run ");
        add_escaped_name(state, state->report_data->runs[runs[i].run].id, 9);
        kw_text_addf(state->out, ": control %+.1f %% from its first tenth to its last; %zu of %zu readings off by more than %.0f %%\n",
                     100 * runs[i].last, runs[i].off, runs[i].rounds, 100 * kw_drift_limit);
    }
    if (!count && state->report_data->rows_in_order_count) {
        kw_text_add(state->out, "drift       not known: no row has a control kernel beside it\n");
    }
}

static void add_failures(summary *state) {
    size_t count;
    const kw_failure_cause *failure_causes = kw_failure_causes(state->report_data, &state->arena, false, &count);
    if (!failure_causes) {
        state->out->failed = true;
        return;
    }
    kw_text_add(state->out, count ? "failures\n" : "");
    for (size_t i = 0; i < count && i < CAUSES; i++) {
        kw_text command = {0};
        kw_failure_cause_command(&command, state->report_data, &failure_causes[i]);
        kw_text_addf(state->out, "%6zu  %s  ", failure_causes[i].count, kw_outcome_name(failure_causes[i].outcome));
        add_escaped_name(state, state->report_data->families.text[failure_causes[i].family], 40);
        kw_text_add(state->out, ": ");
        add_escaped_name(state, *failure_causes[i].rule ? failure_causes[i].rule : "(no reason given)", 160);
        kw_text_add(state->out, "\n        ");
        add_escaped_name(state, kw_text_string(&command), 1200);
        kw_text_add(state->out, "\n");
        kw_escape_drop(&command, state->out);
    }
    if (count > CAUSES) {
        kw_text_addf(state->out, "        and %zu causes more; the HTML report has all\n", count - CAUSES);
    }
}

void kw_report_summary(kw_text *out, const kw_report *report) {
    summary state = {.out = out, .report_data = report->report_data, .baseline = report->baseline};
    add_summary_head(&state);
    for (uint32_t t = 0; t < report->report_data->target_names.count && t < TARGETS; t++) {
        add_target_summary(&state, t);
    }
    if (report->report_data->target_names.count > TARGETS) {
        kw_text_addf(out, "and %zu targets more; the HTML report has all\n", report->report_data->target_names.count - TARGETS);
    }
    add_drift(&state);
    add_failures(&state);
    kw_arena_drop(&state.arena);
}
