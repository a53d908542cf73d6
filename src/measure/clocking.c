/* clocking.c: kernels on a bench as subjects of the timing loop. They run on the real data, never on zeros (zeros draw less power and
 * run faster), with workspaces of their own. After its last batch a kernel is checked once more: some faults show only after many runs. */
#include "measure/bench.h"
#include "measure/timing.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct runner {
    kw_ready ready;
    int parts;
} runner;

static kw_status call(void *context, kw_error *err) {
    const runner *r = context;
    return kw_ready_run(&r->ready, KW_SET_REAL, r->parts, true, err);
}

static kw_status prepare(runner *r, bool pack_weights, kw_error *err) {
    r->parts = pack_weights && r->ready.packs ? KW_RUN_REST : KW_RUN_ALL;
    return r->parts == KW_RUN_REST ? kw_ready_run(&r->ready, KW_SET_REAL, KW_RUN_PACK, true, err) : KW_OK;
}

/* Makes ready what can be; runners[i] of the others stays unbound and their records say why. */
static void prepare_all(kw_bench *bench, const kw_kernel *const kernels[], const kw_config *const configs[], size_t count, runner runners[],
                        kw_record records[]) {
    for (size_t i = 0; i < count; i++) {
        records[i].time_ns = records[i].spread_ns = 0;
        records[i].samples = 0;
        kw_config_print(records[i].config, sizeof records[i].config, configs[i]);
        kw_ready_open(&runners[i].ready, bench, kernels[i], configs[i], &records[i]);
    }
}

static kw_status check_again(runner *r, kw_record *record, bool pack_weights, kw_error *err) {
    kw_error why = {0};
    kw_status status = kw_ready_check(&r->ready, KW_SET_REAL, 0x7f, pack_weights, &why);
    if (status == KW_FAILED) {
        record->outcome = KW_WRONG;
        snprintf(record->detail, sizeof record->detail, "after timing: %.200s", why.text);
        return KW_OK;
    }
    return status ? kw_fail(err, status, "%s", why.text) : KW_OK;
}

kw_status kw_bench_time(kw_bench *bench, const kw_kernel *const kernels[], const kw_config *const configs[], size_t count,
                        const kw_timing_options *options, kw_record records[], kw_error *err) {
    size_t room = count ? count : 1, used = 0;
    runner *runners = calloc(room, sizeof *runners);
    kw_subject *subjects = calloc(room, sizeof *subjects);
    kw_timed *times = calloc(room, sizeof *times);
    size_t *place = calloc(room, sizeof *place);
    kw_status status = runners && subjects && times && place ? KW_OK : kw_fail_memory(err, "timing");
    if (!status) {
        prepare_all(bench, kernels, configs, count, runners, records);
        kw_buffer_shift(&bench->result, 0);
    }
    for (size_t i = 0; i < count && !status; i++) {
        if (runners[i].ready.bound) {
            status = prepare(&runners[i], options->pack_weights, err);
            place[used] = i;
            subjects[used++] = (kw_subject){call, &runners[i]};
        }
    }
    if (!status) {
        status = kw_time_subjects(subjects, used, options, (int)bench->backend->target(bench->device)->units, times, err);
    }
    for (size_t s = 0; s < used && !status; s++) {
        kw_record *record = &records[place[s]];
        record->time_ns = times[s].time_ns;
        record->spread_ns = times[s].spread_ns;
        record->samples = times[s].samples;
        record->workspace = kw_ready_workspace(&runners[place[s]].ready, options->pack_weights);
        record->outcome = record->outcome == KW_UNTRIED ? KW_GOOD : record->outcome;
        status = check_again(&runners[place[s]], record, options->pack_weights, err);
    }
    for (size_t i = 0; i < count && runners; i++) {
        if (runners[i].ready.bench) {
            kw_ready_close(&runners[i].ready);
        }
    }
    free(runners);
    free(subjects);
    free(times);
    free(place);
    return status;
}
