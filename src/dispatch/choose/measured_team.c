/* measured_team.c: config/launch/team.h says from the work alone how many threads are worth it; here the kernel is timed on about half and twice as
 * many, and on one, interleaved. A thread more takes a core that others may want, so of two teams that are as good as equal the smaller
 * one is taken, and twice the threads that do not save a twentieth are not worth it. A team whose threads have less than half the work
 * that team.h asks for is not tried: back to back, as kernels are timed, it may seem fast, but beside other work and after a rest its
 * threads come late. So the least work is on one thread whatever is measured, and stays fast beside a busy process. */
#include "dispatch/choose/measured_team.h"

#include "config/launch/team.h"

#include <stdio.h>

enum { TEAMS_MAX = 4, BATCHES = 9 };
static const double worth_it = 0.95; /* of the smaller team's time */
static const double long_ns = 20e6;  /* such launches have work enough for all; to time them on one thread takes seconds */

/* Ascending, each once; the first *count of teams. */
static void add_team(int32_t teams[TEAMS_MAX], size_t *count, int64_t team, int64_t most) {
    if (team < 1 || team > most || *count == TEAMS_MAX) {
        return;
    }
    size_t at = *count;
    for (size_t i = 0; i < *count; i++) {
        if (teams[i] == team) {
            return;
        }
    }
    for (; at > 0 && teams[at - 1] > team; at--) {
        teams[at] = teams[at - 1];
    }
    teams[at] = (int32_t)team;
    (*count)++;
}

static size_t list_teams(int32_t teams[TEAMS_MAX], const kw_launch *launch, int64_t bytes, int64_t units) {
    size_t count = 0;
    int64_t widest = 1;
    for (int i = 0; i < launch->stages; i++) {
        widest = kw_max(widest, launch->stage[i].units);
    }
    int64_t useful = kw_min(units, widest), estimated = kw_min(useful, kw_team_threads(launch, bytes, units));
    int64_t most = kw_max(1, kw_min(useful, (int64_t)(2 * kw_team_work(launch, bytes))));
    add_team(teams, &count, estimated, useful);
    add_team(teams, &count, 1, most);
    add_team(teams, &count, estimated / 2, most);
    add_team(teams, &count, kw_min(2 * estimated, most), most);
    return count;
}

/* The smallest team that a larger one does not clearly beat. */
static size_t best_team(const kw_record records[], size_t count) {
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        best = records[i].time_ns < worth_it * records[best].time_ns ? i : best;
    }
    return best;
}

kw_status kw_measure_team(kw_choice *choice, kw_wisdom_value *value, const kw_request *request, kw_bench *bench, double time_ns,
                          kw_error *err) {
    const kw_target *target = request->context->target;
    const kw_kernel *kernels[TEAMS_MAX];
    const kw_config *configs[TEAMS_MAX];
    kw_record records[TEAMS_MAX] = {{.outcome = KW_GOOD}};
    int32_t teams[TEAMS_MAX];
    if (kw_target_is_gpu(target) || target->units < 2 || time_ns > long_ns) {
        return KW_OK;
    }
    size_t count = list_teams(teams, &choice->launch, kw_problem_bytes(&request->problem), target->units);
    if (count < 2) {
        return KW_OK;
    }
    for (size_t i = 0; i < count; i++) {
        kernels[i] = choice->loaded->kernel;
        configs[i] = &choice->loaded->config;
        records[i] = (kw_record){.outcome = KW_GOOD};
    }
    kw_error why = {0};
    kw_timing_options options = {.pack_weights = !request->fresh_weights, .batches = BATCHES, .teams = teams};
    kw_status status = kw_bench_time(bench, kernels, configs, count, &options, records, &why);
    for (size_t i = 0; i < count && !status; i++) {
        if (records[i].outcome != KW_GOOD || !records[i].samples || !(records[i].time_ns > 0)) {
            return KW_OK; /* the estimate stands */
        }
    }
    if (status) {
        kw_log_line(&request->context->settings, "%s: threads are as estimated: %s", request->text, why.text);
        return status == KW_ENVIRONMENT ? kw_fail(err, status, "%s", why.text) : KW_OK;
    }
    size_t best = best_team(records, count);
    char times[256], time[32];
    kw_line line = {times, sizeof times, 0};
    for (size_t i = 0; i < count; i++) {
        kw_time_print(time, records[i].time_ns);
        kw_line_addf(&line, "%s%s on %d", i ? ", " : "", time, teams[i]);
    }
    value->threads = choice->launch.team = teams[best];
    kw_explain(&choice->explanation, KW_EXPLAIN_THREADS, "runs on %d of %lld threads, as was measured: %s", teams[best],
               (long long)target->units, times);
    return KW_OK;
}
