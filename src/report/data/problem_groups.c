/* problem_groups.c: answers grouped by problem, the oracle of each group, and roofs.
 *
 * A roof that a run measured holds. Where none did, the best that the store has seen stands in for it, and the figures say so: then the
 * best problem has 100 % by definition. The memory's roof counts only where it was measured (the best seen may be that of a problem that never
 * waited for memory, which would then have 100 %), and only for problems whose tensors do not fit into the last-level cache or that were timed
 * cold: hot and small, they need no memory. */
#include "measure/measure.h"
#include "report/data/report_data.h"

#include <stdlib.h>
#include <string.h>

static int compare_number(uint32_t a, uint32_t b) {
    return (a > b) - (a < b);
}

static int compare_contest(const kw_entry *a, const kw_entry *b) {
    int order = compare_number(a->target, b->target);
    order = order ? order : compare_number(a->problem, b->problem);
    order = order ? order : a->packed - b->packed;
    return order ? order : a->cold - b->cold;
}

static int compare_entry(const void *a, const void *b) {
    const kw_entry *x = a, *y = b;
    int order = compare_contest(x, y);
    order = order ? order : compare_number(x->config, y->config);
    return order ? order : compare_number(x->outcome, y->outcome);
}

static int compare_moment(const void *a, const void *b) {
    const kw_moment *x = a, *y = b;
    int order = compare_number(x->run, y->run);
    order = order ? order : (x->sequence > y->sequence) - (x->sequence < y->sequence);
    return order ? order : compare_number(x->config, y->config);
}

bool kw_outcome_is_failure(kw_outcome outcome) {
    return outcome != KW_GOOD && outcome != KW_SLOW && outcome != KW_UNFIT && outcome != KW_UNTRIED;
}

const char *kw_contest_mode(const kw_contest *contest) {
    return contest->cold ? contest->packed ? " cold" : " cold, fresh weights" : contest->packed ? "" : " fresh weights";
}

double kw_contest_efficiency(const kw_contest *contest) {
    return contest->oracle_ns > 0 ? contest->roof_ns / contest->oracle_ns : 0;
}

double kw_entry_share(const kw_contest *contest, const kw_entry *entry) {
    bool timed = entry->outcome == KW_GOOD || entry->outcome == KW_SLOW;
    return timed && entry->score_ns > 0 ? contest->oracle_ns / entry->score_ns : 0;
}

/* The oracle over the contest's entries; records has room for all of them. */
static void judge(kw_ledger *ledger, kw_contest *contest, kw_record records[]) {
    size_t index, least = KW_NOWHERE;
    for (size_t i = 0; i < contest->count; i++) {
        const kw_entry *entry = &ledger->entries[contest->first + i];
        records[i].outcome = entry->outcome;
        records[i].samples = entry->samples;
        records[i].time_ns = entry->time_ns;
        records[i].half_ns[0] = entry->half_ns[0];
        records[i].half_ns[1] = entry->half_ns[1];
        contest->good += entry->score_ns > 0;
        contest->failed += kw_outcome_is_failure(entry->outcome);
        contest->unfit += entry->outcome == KW_UNFIT;
        if (entry->outcome == KW_GOOD && entry->score_ns > 0 &&
            (least == KW_NOWHERE || entry->score_ns < ledger->entries[contest->first + least].score_ns)) {
            least = i;
        }
    }
    contest->best = KW_NOWHERE;
    contest->halves = kw_oracle(records, contest->count, &index, &contest->oracle_ns);
    if (!contest->halves && least != KW_NOWHERE) {
        index = least;
        contest->oracle_ns = ledger->entries[contest->first + least].score_ns;
    }
    if (contest->halves || least != KW_NOWHERE) {
        contest->best = contest->first + index;
    }
}

static kw_status group(kw_ledger *ledger, kw_error *err) {
    size_t largest = 0;
    for (size_t i = 0; i < ledger->entry_count;) {
        void *items = ledger->contests;
        if (!kw_grow(&ledger->arena, &items, &ledger->contest_room, ledger->contest_count, sizeof *ledger->contests)) {
            return kw_fail_memory(err, "the report");
        }
        ledger->contests = items;
        const kw_entry *first = &ledger->entries[i];
        kw_contest contest = {.first = i, .target = first->target, .problem = first->problem, .packed = first->packed, .cold = first->cold};
        while (i < ledger->entry_count && !compare_contest(first, &ledger->entries[i])) {
            i++;
        }
        contest.count = i - contest.first;
        largest = contest.count > largest ? contest.count : largest;
        ledger->contests[ledger->contest_count++] = contest;
    }
    kw_record *records = calloc(largest + 1, sizeof *records);
    if (!records) {
        return kw_fail_memory(err, "the report");
    }
    for (size_t i = 0; i < ledger->contest_count; i++) {
        judge(ledger, &ledger->contests[i], records);
    }
    free(records);
    return KW_OK;
}

/* --- roofs ---------------------------------------------------------------------------------------------------- */

static bool waits_for_memory(const kw_ledger *ledger, const kw_contest *contest) {
    return contest->cold || ledger->problems[contest->problem].bytes > (double)ledger->targets[contest->target].cache;
}

static void raise_roof(kw_roof *roof, double rate) {
    if (roof->kind != KW_ROOF_MEASURED && rate > roof->rate) {
        *roof = (kw_roof){rate, KW_ROOF_SEEN};
    }
}

bool kw_target_is_measured(const kw_ledger_target *target) {
    for (int i = 0; i < KW_DTYPE_COUNT; i++) {
        if (target->peak[i].kind == KW_ROOF_SEEN) {
            return false;
        }
    }
    return true;
}

static void see_roofs(kw_ledger *ledger) {
    for (size_t i = 0; i < ledger->contest_count; i++) {
        const kw_contest *contest = &ledger->contests[i];
        const kw_ledger_problem *problem = &ledger->problems[contest->problem];
        kw_ledger_target *target = &ledger->targets[contest->target];
        if (problem->known && contest->oracle_ns > 0) {
            raise_roof(&target->peak[problem->value.dtype], problem->flops / contest->oracle_ns * 1e9);
            if (waits_for_memory(ledger, contest)) {
                raise_roof(&target->memory, problem->bytes / contest->oracle_ns * 1e9);
            }
        }
    }
}

static void set_roofs(kw_ledger *ledger) {
    for (size_t i = 0; i < ledger->contest_count; i++) {
        kw_contest *contest = &ledger->contests[i];
        const kw_ledger_problem *problem = &ledger->problems[contest->problem];
        const kw_ledger_target *target = &ledger->targets[contest->target];
        double peak = problem->known ? target->peak[problem->value.dtype].rate : 0;
        if (peak <= 0) {
            continue;
        }
        contest->roof_ns = problem->flops / peak * 1e9;
        double moving_ns = target->memory.kind == KW_ROOF_MEASURED ? problem->bytes / target->memory.rate * 1e9 : 0;
        if (moving_ns > contest->roof_ns && waits_for_memory(ledger, contest)) {
            contest->roof_ns = moving_ns;
            contest->by_memory = true;
        }
    }
}

kw_status kw_ledger_settle(kw_ledger *ledger, kw_error *err) {
    if (ledger->entry_count) {
        qsort(ledger->entries, ledger->entry_count, sizeof *ledger->entries, compare_entry);
    }
    if (ledger->moment_count) {
        qsort(ledger->moments, ledger->moment_count, sizeof *ledger->moments, compare_moment);
    }
    kw_status status = group(ledger, err);
    if (status) {
        return status;
    }
    see_roofs(ledger);
    set_roofs(ledger);
    return KW_OK;
}
