/* sweep.c: kw_sweep, from options to rows: what is there to do, build, measure. Each step is a file (sweep_plan, sweep_build,
 * sweep_devices, sweep_measure, sweep_rows, sweep_facts). The calling process opens no device; the target comes from the first worker's
 * greeting. */
#include "sweep/shards/shard.h"
#include "sweep/sweep_facts.h"
#include "sweep/sweep_measure.h"
#include "sweep/sweep_roofs.h"

#include "base/sized.h"
#include "base/os/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double longest_s = 1e9; /* of a budget */

/* All that one call owns. */
typedef struct sweep {
    const kw_sweep_options *options;
    kw_sweep_report *report;
    kw_arena arena;
    kw_sweep_plan plan;
    kw_sweep_toolchain toolchain;
    kw_sweep_devices devices;
    kw_sink sink; /* its kind is NULL while there is none */
    kw_row key;
    kw_sweep_writer writer;
    bool writing;
    kw_config control_config;
    kw_problem control_problem;
    kw_sweep_kernel control;
} sweep;

/* The key of a pair's rows. */
static const kw_row *sweep_pair_key(sweep *s, const char *problem, const char *config) {
    kw_row *key = &s->key;
    snprintf(key->target, sizeof key->target, "%s", s->plan.target_text);
    snprintf(key->problem, sizeof key->problem, "%s", problem);
    snprintf(key->record.config, sizeof key->record.config, "%s", config);
    key->packed = !s->plan.manifest.fresh_weights;
    key->record.cold = s->plan.manifest.cold;
    return key;
}

static kw_status has_sweep_row(void *user, bool *has, const char *problem, const char *config, kw_error *err) {
    sweep *s = user;
    return kw_sink_has(&s->sink, has, sweep_pair_key(s, problem, config), err);
}

static kw_status drop_rows(void *user, const char *problem, const char *config, kw_error *err) {
    sweep *s = user;
    return kw_sink_drop(&s->sink, sweep_pair_key(s, problem, config), err);
}

/* The sink; a count leaves no file behind. */
static kw_status open_sink(sweep *s, kw_error *err) {
    const kw_sweep_options *o = s->options;
    if (!o->out || !*o->out) {
        return o->count_only ? KW_OK : kw_fail(err, KW_ILLEGAL, "a sweep needs a place for its rows; name a store, e.g. results.db");
    }
    const char *path = kw_shard_path(&s->arena, o->out, o->shard.index, o->shard.count);
    if (!path) {
        return kw_fail_memory(err, "the name of a store");
    }
    return o->count_only && access(path, F_OK) ? KW_OK : kw_sink_open(&s->sink, path, err);
}

static kw_status prepare_sweep(sweep *s, kw_error *err) {
    const kw_sweep_options *o = s->options;
    kw_status status = kw_sweep_plan_read(&s->plan, o, err);
    status = status ? status : open_sink(s, err);
    status = status ? status : kw_sweep_toolchain_open(&s->toolchain, o, err);
    status = status ? status : kw_sweep_devices_open(&s->devices, o, s->toolchain.cache_folder, err);
    status = status ? status : kw_sweep_toolchain_find(&s->toolchain, o, &s->devices.device_workers[0].target, err);
    if (status) {
        return status;
    }
    kw_sweep_existing known = {.has = has_sweep_row, .drop = drop_rows, .user = s};
    status = kw_sweep_plan_sort(&s->plan, o, &s->devices.device_workers[0].target, s->sink.kind ? &known : NULL, err);
    s->report->pairs = s->plan.total;
    s->report->skipped = s->plan.skipped;
    if (!status && o->count_only) {
        s->report->outcome[KW_UNFIT] = s->plan.unfit;
        s->report->outcome[KW_UNTRIED] = s->plan.fit;
    }
    return status;
}

/* The run's facts, and the rows of what cannot run. */
static kw_status open_writer(sweep *s, kw_error *err) {
    kw_run run;
    const char *device = s->devices.device_workers[0].name;
    kw_status status = kw_sweep_fill_run(&run, &s->plan, &s->toolchain, s->options, device, err);
    bool gpu = kw_backend_is_gpu_hardware(s->plan.target.backend);
    if (!status && gpu && s->plan.fit && !s->options->timing.verify_only) {
        kw_sweep_roofs(run.roofs, sizeof run.roofs, &s->plan, &s->toolchain, &s->devices.device_workers[0].settings);
    }
    if (!status) {
        status = kw_sweep_writer_open(&s->writer, &s->sink, &run, &s->plan, s->options, err);
        s->writing = true;
    }
    return status ? status : kw_sweep_write_unfit(&s->writer, &s->plan, s->options, err);
}

static kw_status build_kernels(sweep *s, kw_error *err) {
    bool wanted = !s->options->timing.verify_only && s->plan.fit;
    s->control.config =
        wanted && kw_sweep_control_find(&s->control_config, &s->control_problem, &s->plan.target) ? &s->control_config : NULL;
    s->control.text = "the control kernel";
    kw_status status = kw_sweep_build(&s->plan, &s->toolchain, s->control.config ? &s->control : NULL, s->options, s->report, err);
    return status || kw_sweep_should_stop(&s->plan, s->options) ? status : kw_sweep_write_refused(&s->writer, &s->plan, err);
}

/* What runs beside the kernels may spill: it is the same each time. */
static bool may_be_control(const kw_sweep_kernel *kernel) {
    return kernel->refused == KW_UNTRIED || kernel->refused == KW_SPILLS;
}

static kw_status run_measurement(sweep *s, kw_error *err) {
    kw_sweep_context work = {
        .plan = &s->plan,
        .options = s->options,
        .toolchain = &s->toolchain,
        .control = s->control.config && may_be_control(&s->control) ? &s->control : NULL,
        .control_problem = &s->control_problem,
        .writer = &s->writer,
    };
    return kw_sweep_measure(&s->devices, &work, s->report, err);
}

static void sum_outcomes(sweep *s) {
    kw_sweep_report *report = s->report;
    int64_t written = 0;
    for (int i = 0; s->writing && i < KW_OUTCOME_COUNT; i++) {
        report->outcome[i] = s->writer.outcome[i];
        written += report->outcome[i];
    }
    if (s->writing) {
        report->outcome[KW_UNTRIED] = report->pairs - report->skipped - written;
        report->stopped = kw_sweep_is_stopped(s->options) && report->outcome[KW_UNTRIED];
        report->spent = !report->stopped && kw_sweep_is_out_of_budget(&s->plan) && report->outcome[KW_UNTRIED];
    }
}

kw_status kw_sweep(const kw_sweep_options *options, kw_sweep_report *report, kw_error *err) {
    kw_sweep_report unasked = {0};
    report = report ? report : &unasked;
    *report = (kw_sweep_report){0};
    if (!options) {
        return kw_fail(err, KW_ILLEGAL, "kw_sweep: options is NULL; name kernels, problems and a store");
    }
    kw_sweep_options own;
    kw_status status = KW_SIZED_READ(&own, kw_sweep_options, user, options, err);
    if (status) {
        return status;
    }
    options = &own;
    sweep s = {.options = options, .report = report};
    s.plan.until_ns = options->limits.budget_s > 0 ? kw_clock_ns() + (int64_t)(fmin(options->limits.budget_s, longest_s) * 1e9) : 0;
    status = prepare_sweep(&s, err);
    if (!status && !options->count_only) {
        /* Also by a shard that has nothing to do: the one that has may be lost before it begins. */
        status = kw_manifest_update(&s.plan.manifest, options->out, err);
    }
    if (!status && !options->count_only && s.plan.fit + s.plan.unfit) {
        status = open_writer(&s, err);
        status = status || kw_sweep_should_stop(&s.plan, options) ? status : build_kernels(&s, err);
        status = status || kw_sweep_should_stop(&s.plan, options) ? status : run_measurement(&s, err);
    }
    sum_outcomes(&s);
    report->workers_lost = kw_sweep_devices_close(&s.devices);
    if (s.writing) {
        kw_sweep_writer_close(&s.writer);
    }
    if (s.sink.kind) {
        kw_sink_close(&s.sink);
    }
    kw_sweep_toolchain_close(&s.toolchain);
    kw_sweep_plan_drop(&s.plan);
    kw_arena_drop(&s.arena);
    return status;
}
