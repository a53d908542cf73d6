/* clocking.c: kernels on a bench as subjects of the timing loop. They run on the real data, never on zeros (zeros draw less power and
 * run faster), with workspaces of their own. After its last batch a kernel is checked once more: some faults show only after many runs.
 *
 * Hot, all calls run on the bench's own tensors. Cold, each call runs on the next of many copies. All kernels share one place in the
 * rotation, so that none finds in the caches what another has just used; packed weights are each kernel's own and rotate along. */
#include "base/math.h"
#include "measure/bench.h"
#include "measure/timing/timing.h"

#include <stdio.h>
#include <stdlib.h>

enum { QUEUE_MOST = 256 };                   /* launches between two looks at a device's clock */
static const int64_t copies_limit = 1 << 30; /* bytes of all copies together */

/* Where the calls stand in the rotation over copies. */
typedef struct rotation {
    const kw_rotation *copies; /* NULL: hot */
    size_t count, next;        /* count may be less than there are, where packed weights leave no room */
} rotation;

typedef struct runner {
    kw_prepared ready;
    int parts;
    kw_launch_memory memory; /* hot, or copy 0 */
    rotation *turn;
    kw_buffer packed; /* copies of the packed weights */
    int64_t packed_step;
} runner;

/* One call of kw_bench_time. The control, where there is one, is the last of the runners and subjects. */
typedef struct session {
    const kw_timing_options *options;
    runner *runners;
    kw_subject *subjects;
    kw_timed *times;
    size_t *place; /* of a subject among the kernels */
    size_t used;   /* subjects without the control */
    rotation cold, hot;
} session;

/* The memory of the next call. */
static kw_launch_memory next_memory(runner *r) {
    if (!r->turn->copies) {
        return r->memory;
    }
    int64_t at = (int64_t)r->turn->next;
    r->turn->next = r->turn->next + 1 < r->turn->count ? r->turn->next + 1 : 0;
    kw_launch_memory memory = r->memory;
    for (int tensor = 0; tensor < KW_TENSOR_COUNT; tensor++) {
        memory.tensor[tensor] = (char *)memory.tensor[tensor] + at * r->turn->copies->step[tensor];
    }
    if (memory.packed) {
        memory.packed = (char *)memory.packed + at * r->packed_step;
    }
    return memory;
}

static kw_status call_once(void *context, kw_error *err) {
    runner *r = context;
    const kw_bench *bench = r->ready.bench;
    kw_launch_memory memory = next_memory(r);
    kw_status status = bench->backend->run(r->ready.bound, &memory, r->parts, NULL, err);
    return status || !bench->backend->sync ? status : bench->backend->sync(bench->device, err);
}

/* By the processor clocks of the threads. */
static kw_status call_alone(void *context, int64_t calls, double *ns, kw_error *err) {
    runner *r = context;
    kw_status status = KW_OK;
    *ns = 0;
    for (int64_t i = 0; i < calls && !status; i++) {
        double one = 0;
        kw_launch_memory memory = next_memory(r);
        status = r->ready.bench->backend->run_alone(r->ready.bound, &memory, r->parts, &one, err);
        *ns += one;
    }
    return status;
}

/* By the device's own clock, in pieces that queue without a wait between their calls. */
static kw_status call_batch(void *context, int64_t calls, double *ns, kw_error *err) {
    runner *r = context;
    kw_launch_memory list[QUEUE_MOST];
    kw_status status = KW_OK;
    *ns = 0;
    while (calls > 0 && !status) {
        size_t count = (size_t)kw_min(calls, QUEUE_MOST);
        double piece = 0;
        for (size_t i = 0; i < count; i++) {
            list[i] = next_memory(r);
        }
        status = r->ready.bench->backend->time(r->ready.bound, list, count, r->parts, &piece, err);
        *ns += piece;
        calls -= (int64_t)count;
    }
    return status;
}

static void report_subject_turn(const session *s, size_t place) {
    if (s->options->turn) {
        s->options->turn(s->options->user, place);
    }
}

/* The loop knows subjects, the caller kernels. */
static void pass_turn(void *user, size_t index) {
    const session *s = user;
    report_subject_turn(s, index == SIZE_MAX ? index : s->place[index]);
}

/* --- cold ------------------------------------------------------------------------------------------------------------ */

static int64_t set_bytes(const kw_bench *bench) {
    int64_t bytes = kw_round_up(bench->result.size, KW_BUFFER_ALIGN);
    for (int tensor = 0; tensor < KW_TENSOR_COUNT; tensor++) {
        bytes += kw_round_up(bench->set[KW_SET_REAL].tensor[tensor].size, KW_BUFFER_ALIGN);
    }
    return bytes;
}

static kw_status make_copies(kw_bench *bench, kw_error *err) {
    if (bench->copies.count) {
        return KW_OK;
    }
    kw_tensor result = kw_problem_result(&bench->problem);
    kw_rotation *copies = &bench->copies;
    size_t count = kw_rotation_count(set_bytes(bench), kw_rotation_cache_bytes(bench->backend->target(bench->device)), copies_limit);
    for (int tensor = 0; tensor < KW_TENSOR_COUNT; tensor++) {
        const kw_buffer *from = tensor == (int)result ? &bench->result : &bench->set[KW_SET_REAL].tensor[tensor];
        kw_status status = kw_rotation_fill(&copies->tensor[tensor], &copies->step[tensor], from, count, err);
        if (status) {
            kw_rotation_close(copies);
            return status;
        }
    }
    copies->count = count;
    return KW_OK;
}

/* The copies that all kernels can have within the limit, with their packed weights. */
static kw_status open_rotation(session *s, kw_bench *bench, size_t count, kw_error *err) {
    kw_status status = make_copies(bench, err);
    int64_t each = set_bytes(bench);
    for (size_t i = 0; i < count; i++) {
        each += s->runners[i].ready.bound ? kw_round_up(s->runners[i].ready.packed.size, KW_BUFFER_ALIGN) : 0;
    }
    int64_t fit = kw_max(bench->copies.count > 1 ? 2 : 1, copies_limit / kw_max(1, each));
    s->cold = (rotation){.copies = &bench->copies, .count = (size_t)kw_min((int64_t)bench->copies.count, fit)};
    return status;
}

static kw_status make_cold(runner *r, kw_error *err) {
    for (int tensor = 0; tensor < KW_TENSOR_COUNT; tensor++) {
        r->memory.tensor[tensor] = r->turn->copies->tensor[tensor].start;
    }
    if (!r->ready.packed.size) {
        return KW_OK;
    }
    kw_status status = kw_rotation_fill(&r->packed, &r->packed_step, &r->ready.packed, r->turn->count, err);
    r->memory.packed = r->packed.start;
    return status;
}

/* Whether what a call touches was beyond the last-level cache since the call before on the same copy, half of it again for good measure. */
static bool is_cold(const runner *r) {
    if (!r->turn->copies) {
        return false;
    }
    const kw_bench *bench = r->ready.bench;
    int64_t cache = kw_rotation_cache_bytes(bench->backend->target(bench->device)), touched = set_bytes(bench);
    touched += r->parts == KW_RUN_REST ? r->ready.packed.size - bench->set[KW_SET_REAL].tensor[KW_W].size : r->ready.packed.size;
    return (double)touched * (double)r->turn->count >= 1.5 * (double)cache;
}

/* --- kernels made ready ---------------------------------------------------------------------------------------------- */

/* Makes ready what can be; runners[i] of the others stays unbound and their records say why. */
static void open_runners(session *s, kw_bench *bench, const kw_kernel *const kernels[], const kw_config *const configs[], size_t count,
                         kw_record records[]) {
    for (size_t i = 0; i < count; i++) {
        kw_record *r = &records[i];
        r->time_ns = r->spread_ns = r->median_ns = r->mad_ns = r->least_ns = r->half_ns[0] = r->half_ns[1] = 0;
        r->samples = r->dropped = r->calls = r->warmups = 0;
        r->cold = false;
        kw_config_print(r->config, sizeof r->config, configs[i]);
        kw_prepared_open(&s->runners[i].ready, bench, kernels[i], configs[i], s->options->teams ? s->options->teams[i] : 0, r);
    }
    kw_buffer_shift(&bench->result, 0);
}

static kw_status add_subject(session *s, size_t at, size_t place, rotation *turn, bool pack_weights, kw_error *err) {
    runner *r = &s->runners[place];
    r->turn = turn;
    r->parts = pack_weights && r->ready.packs ? KW_RUN_REST : KW_RUN_ALL;
    r->memory = kw_prepared_memory(&r->ready, KW_SET_REAL, true);
    s->place[at] = place;
    const kw_backend *backend = r->ready.bench->backend;
    s->subjects[at] = (kw_subject){
        .call = call_once,
        .context = r,
        .batch = backend->time ? call_batch : NULL,
        .alone = backend->run_alone ? call_alone : NULL,
        .threads = backend->team ? backend->team(r->ready.bound) : 0,
    };
    kw_status status = r->parts == KW_RUN_REST ? kw_prepared_run(&r->ready, KW_SET_REAL, KW_RUN_PACK, true, err) : KW_OK;
    return status || !turn->copies ? status : make_cold(r, err);
}

static kw_status add_subjects(session *s, kw_bench *bench, size_t count, kw_error *err) {
    rotation *turn = s->options->cold ? &s->cold : &s->hot;
    kw_status status = s->options->cold ? open_rotation(s, bench, count, err) : KW_OK;
    for (size_t i = 0; i < count && !status; i++) {
        if (s->runners[i].ready.bound) {
            report_subject_turn(s, i);
            status = add_subject(s, s->used++, i, turn, s->options->pack_weights, err);
        }
    }
    return status;
}

/* Number count of the runners, behind those of the kernels. */
static kw_status add_control(session *s, size_t count, kw_error *err) {
    kw_control *control = s->options->control;
    runner *r = &s->runners[count];
    control->record = (kw_record){.outcome = KW_GOOD};
    kw_config_print(control->record.config, sizeof control->record.config, control->config);
    kw_prepared_open(&r->ready, control->bench, control->kernel, control->config, 0, &control->record);
    if (!r->ready.bound) {
        return kw_fail(err, KW_ILLEGAL, "the control kernel cannot run: %s", control->record.detail);
    }
    kw_buffer_shift(&control->bench->result, 0);
    report_subject_turn(s, SIZE_MAX);
    return add_subject(s, s->used, count, &s->hot, true, err);
}

/* --- results --------------------------------------------------------------------------------------------------------- */

static void keep_times(kw_record *record, const kw_timed *timed) {
    record->time_ns = timed->time_ns;
    record->spread_ns = timed->spread_ns;
    record->median_ns = timed->median_ns;
    record->mad_ns = timed->mad_ns;
    record->least_ns = timed->least_ns;
    record->half_ns[0] = timed->half_ns[0];
    record->half_ns[1] = timed->half_ns[1];
    record->samples = timed->samples;
    record->dropped = timed->dropped;
    record->calls = timed->calls;
    record->warmups = timed->warmups;
}

static kw_status check_again(runner *r, kw_record *record, bool pack_weights, kw_error *err) {
    kw_error why = {0};
    kw_status status = kw_prepared_check(&r->ready, KW_SET_REAL, 0x7f, pack_weights, NULL, &why);
    if (status == KW_FAILED) {
        record->outcome = KW_WRONG;
        snprintf(record->detail, sizeof record->detail, "after timing: %.200s", why.text);
        return KW_OK;
    }
    return status ? kw_fail(err, status, "%s", why.text) : KW_OK;
}

static kw_status finish_record(session *s, size_t subject, kw_record *record, kw_error *err) {
    runner *r = &s->runners[s->place[subject]];
    const kw_timed *timed = &s->times[subject];
    keep_times(record, timed);
    record->cold = is_cold(r);
    record->workspace = kw_prepared_workspace(&r->ready, s->options->pack_weights);
    record->outcome = record->outcome == KW_UNTRIED ? KW_GOOD : record->outcome;
    if (timed->slow > 0 && record->outcome == KW_GOOD) {
        record->outcome = KW_SLOW;
        snprintf(record->detail, sizeof record->detail, "%.1f times the fastest after %d launches", timed->slow, timed->warmups);
        return KW_OK; /* it ran no more often than when it was verified */
    }
    if (s->options->reverify) {
        s->options->reverify(s->options->user, s->place[subject]);
    }
    return check_again(r, record, s->options->pack_weights, err);
}

static kw_status open_timing_session(session *s, size_t count, kw_error *err) {
    size_t room = count + 1;
    s->runners = calloc(room, sizeof *s->runners);
    s->subjects = calloc(room, sizeof *s->subjects);
    s->times = calloc(room, sizeof *s->times);
    s->place = calloc(room, sizeof *s->place);
    return s->runners && s->subjects && s->times && s->place ? KW_OK : kw_fail_memory(err, "timing");
}

static void close_timing_session(session *s, size_t count) {
    for (size_t i = 0; i < count + 1 && s->runners; i++) {
        if (s->runners[i].ready.bench) {
            kw_prepared_close(&s->runners[i].ready);
        }
        kw_buffer_close(&s->runners[i].packed);
    }
    free(s->runners);
    free(s->subjects);
    free(s->times);
    free(s->place);
}

kw_status kw_bench_time(kw_bench *bench, const kw_kernel *const kernels[], const kw_config *const configs[], size_t count,
                        const kw_timing_options *options, kw_record records[], kw_error *err) {
    session s = {.options = options};
    kw_timing_options inner = *options;
    inner.turn = options->turn ? pass_turn : NULL;
    inner.user = &s;
    kw_status status = open_timing_session(&s, count, err);
    if (!status) {
        open_runners(&s, bench, kernels, configs, count, records);
        status = add_subjects(&s, bench, count, err);
    }
    if (!status && options->control) {
        status = add_control(&s, count, err);
    }
    if (!status) {
        status = kw_time_subjects(s.subjects, s.used, &inner, (int)bench->backend->target(bench->device)->units, s.times, err);
    }
    for (size_t i = 0; i < s.used && !status; i++) {
        bench->kernel_ns += s.times[i].spent_ns;
    }
    if (!status && options->control) {
        options->control->bench->kernel_ns += s.times[s.used].spent_ns;
        keep_times(&options->control->record, &s.times[s.used]);
    }
    for (size_t i = 0; i < s.used && !status; i++) {
        status = finish_record(&s, i, &records[s.place[i]], err);
    }
    close_timing_session(&s, count);
    return status;
}
