/* report_groups.c: answers grouped by problem, the oracle of each group, and roofs.
 *
 * A roof that a run measured holds. Where none did, the best that the store has seen stands in for it, and the figures say so: then the
 * best problem has 100 % by definition. The memory's roof counts only where it was measured (the best seen may be that of a problem that
 * never waited for memory, which would then have 100 %), and only for problems whose tensors do not fit into the last-level cache or
 * that were timed cold: hot and small, they need no memory. */
#include "base/container/array.h"
#include "base/order.h"
#include "measure/measure.h"
#include "report/data/report_data.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static int by_group_order(const kw_report_entry *a, const kw_report_entry *b) {
    int order = kw_order_uint(a->target, b->target);
    order = order ? order : kw_order_uint(a->problem, b->problem);
    order = order ? order : a->packed - b->packed;
    return order ? order : a->cold - b->cold;
}

static int compare_entry(const void *a, const void *b) {
    const kw_report_entry *x = a, *y = b;
    int order = by_group_order(x, y);
    order = order ? order : kw_order_uint(x->config, y->config);
    return order ? order : kw_order_uint(x->outcome, y->outcome);
}

static int compare_moment(const void *a, const void *b) {
    const kw_report_row *x = a, *y = b;
    int order = kw_order_uint(x->run, y->run);
    order = order ? order : (x->sequence > y->sequence) - (x->sequence < y->sequence);
    return order ? order : kw_order_uint(x->config, y->config);
}

const char *kw_report_group_mode(const kw_report_group *problem_group) {
    return problem_group->cold ? problem_group->packed ? " cold" : " cold, fresh weights" : problem_group->packed ? "" : " fresh weights";
}

double kw_report_group_efficiency(const kw_report_group *problem_group) {
    return problem_group->oracle_ns > 0 ? problem_group->roof_ns / problem_group->oracle_ns : 0;
}

double kw_report_entry_share(const kw_report_group *problem_group, const kw_report_entry *entry) {
    bool timed = entry->outcome == KW_GOOD || entry->outcome == KW_SLOW;
    return timed && entry->score_ns > 0 ? problem_group->oracle_ns / entry->score_ns : 0;
}

/* The oracle over the group's entries; records has room for all of them. */
static void find_group_oracle(kw_report_data *report_data, kw_report_group *problem_group, kw_record records[]) {
    size_t index, least = KW_NOWHERE;
    for (size_t i = 0; i < problem_group->count; i++) {
        const kw_report_entry *entry = &report_data->entries[problem_group->first + i];
        records[i].outcome = entry->outcome;
        records[i].samples = entry->samples;
        records[i].time_ns = entry->time_ns;
        records[i].half_ns[0] = entry->half_ns[0];
        records[i].half_ns[1] = entry->half_ns[1];
        problem_group->good += entry->score_ns > 0;
        problem_group->failed += kw_outcome_is_failure(entry->outcome);
        problem_group->unfit += entry->outcome == KW_UNFIT;
        if (entry->outcome == KW_GOOD && entry->score_ns > 0 &&
            (least == KW_NOWHERE || entry->score_ns < report_data->entries[problem_group->first + least].score_ns)) {
            least = i;
        }
    }
    problem_group->best = KW_NOWHERE;
    problem_group->halves = kw_oracle(records, problem_group->count, &index, &problem_group->oracle_ns);
    if (!problem_group->halves && least != KW_NOWHERE) {
        index = least;
        problem_group->oracle_ns = report_data->entries[problem_group->first + least].score_ns;
    }
    if (problem_group->halves || least != KW_NOWHERE) {
        problem_group->best = problem_group->first + index;
    }
}

static kw_status group_entries(kw_report_data *report_data, kw_error *err) {
    size_t largest = 0;
    for (size_t i = 0; i < report_data->entry_count;) {
        if (!KW_ARENA_RESERVE(&report_data->arena, report_data->problem_groups, report_data->problem_group_room,
                              report_data->problem_group_count + 1)) {
            return kw_fail_memory(err, "the report");
        }
        const kw_report_entry *first = &report_data->entries[i];
        kw_report_group problem_group = {
            .first = i, .target = first->target, .problem = first->problem, .packed = first->packed, .cold = first->cold};
        while (i < report_data->entry_count && !by_group_order(first, &report_data->entries[i])) {
            i++;
        }
        problem_group.count = i - problem_group.first;
        assert(problem_group.count); /* an entry belongs with itself, so that the loop ends */
        largest = problem_group.count > largest ? problem_group.count : largest;
        report_data->problem_groups[report_data->problem_group_count++] = problem_group;
    }
    kw_record *records = calloc(largest + 1, sizeof *records);
    if (!records) {
        return kw_fail_memory(err, "the report");
    }
    for (size_t i = 0; i < report_data->problem_group_count; i++) {
        find_group_oracle(report_data, &report_data->problem_groups[i], records);
    }
    free(records);
    return KW_OK;
}

/* --- roofs ---------------------------------------------------------------------------------------------------- */

static bool waits_for_memory(const kw_report_data *report_data, const kw_report_group *problem_group) {
    return problem_group->cold ||
           report_data->problems[problem_group->problem].bytes > (double)report_data->targets[problem_group->target].cache;
}

static void raise_roof(kw_roof *roof, double rate) {
    if (roof->kind != KW_ROOF_MEASURED && rate > roof->rate) {
        *roof = (kw_roof){rate, KW_ROOF_SEEN};
    }
}

bool kw_target_is_measured(const kw_report_target *target) {
    for (int i = 0; i < KW_DTYPE_COUNT; i++) {
        if (target->peak[i].kind == KW_ROOF_SEEN) {
            return false;
        }
    }
    return true;
}

static void raise_seen_roofs(kw_report_data *report_data) {
    for (size_t i = 0; i < report_data->problem_group_count; i++) {
        const kw_report_group *problem_group = &report_data->problem_groups[i];
        const kw_report_problem *problem = &report_data->problems[problem_group->problem];
        kw_report_target *target = &report_data->targets[problem_group->target];
        if (problem->known && problem_group->oracle_ns > 0) {
            raise_roof(&target->peak[problem->value.dtype], problem->flops / problem_group->oracle_ns * 1e9);
            if (waits_for_memory(report_data, problem_group)) {
                raise_roof(&target->memory, problem->bytes / problem_group->oracle_ns * 1e9);
            }
        }
    }
}

static void set_roofs(kw_report_data *report_data) {
    for (size_t i = 0; i < report_data->problem_group_count; i++) {
        kw_report_group *problem_group = &report_data->problem_groups[i];
        const kw_report_problem *problem = &report_data->problems[problem_group->problem];
        const kw_report_target *target = &report_data->targets[problem_group->target];
        double peak = problem->known ? target->peak[problem->value.dtype].rate : 0;
        if (peak <= 0) {
            continue;
        }
        problem_group->roof_ns = problem->flops / peak * 1e9;
        double moving_ns = target->memory.kind == KW_ROOF_MEASURED ? problem->bytes / target->memory.rate * 1e9 : 0;
        if (moving_ns > problem_group->roof_ns && waits_for_memory(report_data, problem_group)) {
            problem_group->roof_ns = moving_ns;
            problem_group->by_memory = true;
        }
    }
}

kw_status kw_report_data_finish(kw_report_data *report_data, kw_error *err) {
    if (report_data->entry_count) {
        qsort(report_data->entries, report_data->entry_count, sizeof *report_data->entries, compare_entry);
    }
    if (report_data->rows_in_order_count) {
        qsort(report_data->rows_in_order, report_data->rows_in_order_count, sizeof *report_data->rows_in_order, compare_moment);
    }
    kw_status status = group_entries(report_data, err);
    if (status) {
        return status;
    }
    raise_seen_roofs(report_data);
    set_roofs(report_data);
    return KW_OK;
}
