/* worker_job.c: one job: the data, the control, then each kernel loaded and verified, then the good ones timed together, interleaved.
 *
 * What fails is answered at once; what is good has its answer when all were timed. The status page is written before each step of each
 * kernel, and before every batch while they are timed. */
#include "sweep/worker/worker.h"

#include "config/config.h"
#include "measure/evaluate_kernel.h"
#include "problem/names/outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct job_kernel {
    kw_kernel *kernel; /* NULL: not loaded */
    kw_record record;
    bool answered;
} job_kernel;

/* A job under way. The arrays of what is timed are parallel, as kw_bench_time wants them. */
typedef struct job_run {
    kw_worker *w;
    const kw_worker_job *job;
    job_kernel *job_kernels;
    size_t *place; /* of a timed kernel in the job */
    const kw_kernel **kernels;
    const kw_config **configs;
    kw_record *records;
    size_t timed;
} job_run;

static void set_step(const kw_worker *w, int32_t kernel, kw_worker_step step) {
    kw_worker_check_output(w);
    kw_worker_status_write(w->status_page, kernel, step);
}

static void answer_record(job_run *run, size_t index) {
    kw_answer answer = {.kind = KW_ANSWER_RECORD, .number = (int64_t)index, .record = run->job_kernels[index].record};
    run->job_kernels[index].answered = true;
    kw_worker_answer(run->w, &answer);
}

/* --- data, control --------------------------------------------------------------------------------------------------- */

static bool same_problem(const kw_problem *a, const kw_problem *b) {
    char first[KW_PROBLEM_TEXT_MAX], second[KW_PROBLEM_TEXT_MAX];
    kw_problem_print(first, sizeof first, a);
    kw_problem_print(second, sizeof second, b);
    return !strcmp(first, second);
}

static kw_status ensure_bench(kw_worker *w, const kw_worker_job *job, kw_error *err) {
    if (w->bench && w->seed == job->seed && same_problem(&w->problem, job->problem)) {
        return KW_OK;
    }
    kw_bench_close(&w->bench);
    w->problem = *job->problem;
    w->seed = job->seed;
    return kw_bench_open(&w->bench, w->backend, w->device, job->problem, job->seed, err);
}

/* A kernel of the cache, by its key, for kw_evaluate_load. */
typedef struct keyed_load {
    kw_worker *w;
    const char *key;
    kw_kernel **kernel;
} keyed_load;

static kw_status load_by_key(void *user, const kw_config *config, kw_error *err) {
    const keyed_load *l = user;
    kw_blob blob = {0};
    kw_status status = KW_OK;
    if (!config->family->builtin) {
        status = l->w->jit.jit.cache ? kw_cache_get(l->w->jit.jit.cache, l->key, &blob, err) : KW_OK;
        if (!status && !blob.data) {
            status = kw_fail(err, KW_MISSING, "the cache does not hold %.96s", l->key);
        }
    }
    status = status ? status : l->w->backend->load(l->w->device, config, &blob, l->kernel, err);
    kw_blob_drop(&blob);
    return status;
}

/* The kernel of a key, or what became of it. A GPU that is lost ends the process. */
static kw_status load_job_kernel(kw_worker *w, const kw_worker_job_kernel *wanted, const kw_problem *problem, kw_kernel **kernel,
                                 kw_record *record, kw_error *err) {
    const kw_target *target = w->backend->target(w->device);
    kw_error why = {0};
    *record = (kw_record){0};
    *kernel = NULL;
    keyed_load from = {w, wanted->key, kernel};
    kw_kernel_load load = {.config = wanted->config, .problem = problem, .target = target, .load = load_by_key, .user = &from};
    kw_status status = kw_evaluate_load(&load, record, &why);
    return status == KW_ENVIRONMENT && kw_target_is_gpu(target) ? kw_fail(err, status, "%s", why.text) : KW_OK;
}

void kw_worker_control_close(kw_worker *w) {
    kw_worker_control *c = &w->control;
    if (c->kernel) {
        w->backend->unload(w->device, &c->kernel);
    }
    kw_bench_close(&c->bench);
    *c = (kw_worker_control){0};
}

static kw_status ensure_control(kw_worker *w, const kw_worker_job *job, kw_error *err) {
    kw_worker_control *c = &w->control;
    const kw_worker_job_kernel *wanted = &job->control;
    if (!wanted->config) {
        return KW_OK;
    }
    if (c->bench && !memcmp(&c->config, wanted->config, sizeof c->config) && !strcmp(c->key, wanted->key) &&
        same_problem(&c->problem, job->control_problem)) {
        return KW_OK;
    }
    kw_worker_control_close(w);
    c->problem = *job->control_problem;
    c->config = *wanted->config;
    snprintf(c->key, sizeof c->key, "%s", wanted->key);
    set_step(w, KW_WORKER_KERNEL_CONTROL, KW_WORKER_STEP_LOAD);
    kw_status status = load_job_kernel(w, wanted, job->control_problem, &c->kernel, &c->record, err);
    if (status || !c->kernel) {
        return status;
    }
    status = kw_bench_open(&c->bench, w->backend, w->device, job->control_problem, 0, err);
    if (status) {
        return status;
    }
    set_step(w, KW_WORKER_KERNEL_CONTROL, KW_WORKER_STEP_VERIFY);
    return kw_evaluate_run(c->bench, c->kernel, &c->config, NULL, &c->record, err);
}

/* --- the kernels ----------------------------------------------------------------------------------------------------- */

static kw_status load_and_verify_kernel(job_run *run, size_t index, kw_error *err) {
    kw_worker *w = run->w;
    job_kernel *k = &run->job_kernels[index];
    const kw_worker_job_kernel *wanted = &run->job->kernels[index];
    set_step(w, (int32_t)index, KW_WORKER_STEP_LOAD);
    kw_status status = load_job_kernel(w, wanted, run->job->problem, &k->kernel, &k->record, err);
    if (status) {
        return status;
    }
    if (k->kernel) {
        set_step(w, (int32_t)index, KW_WORKER_STEP_VERIFY);
        status = kw_evaluate_run(w->bench, k->kernel, wanted->config, NULL, &k->record, err);
        if (status) {
            return status;
        }
    }
    kw_worker_check_output(w);
    if (k->record.outcome != KW_GOOD || run->job->verify_only) {
        answer_record(run, index);
    } else {
        run->place[run->timed] = index;
        run->kernels[run->timed] = k->kernel;
        run->configs[run->timed] = wanted->config;
        run->records[run->timed++] = k->record;
    }
    return KW_OK;
}

static void note_timing(void *user, size_t index) {
    const job_run *run = user;
    set_step(run->w, index == SIZE_MAX ? KW_WORKER_KERNEL_CONTROL : (int32_t)run->place[index], KW_WORKER_STEP_TIME);
}

static void note_reverification(void *user, size_t index) {
    const job_run *run = user;
    set_step(run->w, (int32_t)run->place[index], KW_WORKER_STEP_REVERIFY);
}

/* first..first + count - 1 of what is timed. */
static kw_status time_kernels(job_run *run, size_t first, size_t count, kw_control *control, kw_error *err) {
    job_run part = *run; /* so that note_timing counts from first */
    part.place += first;
    kw_timing_options options = {.pack_weights = run->job->pack_weights,
                                 .cold = run->job->cold,
                                 .batches = run->job->batches,
                                 .drop_ratio = run->job->drop_ratio,
                                 .best_ns = run->job->best_ns,
                                 .order_seed = run->job->seed ? run->job->seed : 1,
                                 .control = control,
                                 .turn = note_timing,
                                 .reverify = note_reverification,
                                 .user = &part};
    set_step(run->w, KW_WORKER_KERNEL_NONE, KW_WORKER_STEP_PREPARE);
    return kw_bench_time(run->w->bench, run->kernels + first, run->configs + first, count, &options, run->records + first, err);
}

/* Those for which there was no memory beside the others are timed by themselves. */
static kw_status time_kernel_alone(job_run *run, size_t i, kw_control *control, kw_error *err) {
    kw_error why = {0};
    run->records[i].outcome = KW_GOOD;
    *run->records[i].detail = 0;
    return time_kernels(run, i, 1, control, &why) ? kw_evaluate_fail_launch(&run->records[i], &why, err) : KW_OK;
}

static kw_status time_verified_kernels(job_run *run, kw_error *err) {
    kw_worker_control *c = &run->w->control;
    bool controlled = run->job->control.config && c->bench && c->record.outcome == KW_GOOD;
    kw_control control = {.bench = c->bench, .kernel = c->kernel, .config = &c->config, .level_ns = c->level_ns};
    kw_error why = {0};
    if (!run->timed) {
        return KW_OK;
    }
    kw_status status = time_kernels(run, 0, run->timed, controlled ? &control : NULL, &why);
    if (status == KW_ENVIRONMENT) {
        return kw_fail(err, status, "%s", why.text);
    }
    bool failed = status != KW_OK;
    status = KW_OK;
    for (size_t i = 0; i < run->timed && !status; i++) {
        if (run->timed > 1 && (failed || run->records[i].outcome == KW_UNLAUNCHED)) {
            status = time_kernel_alone(run, i, controlled ? &control : NULL, err);
        } else if (failed) {
            status = kw_evaluate_fail_launch(&run->records[i], &why, err);
        }
    }
    c->level_ns = control.level_ns;
    if (!status && run->job->control.config) {
        kw_answer answer = {.kind = KW_ANSWER_CONTROL, .value = control.drift, .record = controlled ? control.record : c->record};
        kw_worker_check_output(run->w);
        kw_worker_answer(run->w, &answer);
    }
    return status;
}

static kw_status open_run(job_run *run, kw_error *err) {
    size_t most = run->job->count + 1;
    run->job_kernels = calloc(most, sizeof *run->job_kernels);
    run->place = calloc(most, sizeof *run->place);
    run->kernels = calloc(most, sizeof *run->kernels);
    run->configs = calloc(most, sizeof *run->configs);
    run->records = calloc(most, sizeof *run->records);
    bool good = run->job_kernels && run->place && run->kernels && run->configs && run->records;
    return good ? KW_OK : kw_fail_memory(err, "a job");
}

static void close_run(job_run *run) {
    for (size_t i = 0; run->job_kernels && i < run->job->count; i++) {
        if (run->job_kernels[i].kernel) {
            set_step(run->w, (int32_t)i, KW_WORKER_STEP_UNLOAD);
            run->w->backend->unload(run->w->device, &run->job_kernels[i].kernel);
        }
    }
    free(run->job_kernels);
    free(run->place);
    free(run->kernels);
    free(run->configs);
    free(run->records);
}

/* Every kernel of a problem whose data cannot be had. */
static kw_status fail_all_kernels(job_run *run, const kw_error *why) {
    for (size_t i = 0; i < run->job->count; i++) {
        kw_record_fail(&run->job_kernels[i].record, KW_UNLAUNCHED, why);
        answer_record(run, i);
    }
    return KW_OK;
}

static kw_status run_kernels(job_run *run, kw_error *err) {
    kw_status status = KW_OK;
    for (size_t i = 0; i < run->job->count && !status; i++) {
        status = load_and_verify_kernel(run, i, err);
    }
    status = status ? status : time_verified_kernels(run, err);
    for (size_t i = 0; i < run->timed && !status; i++) {
        run->job_kernels[run->place[i]].record = run->records[i];
        answer_record(run, run->place[i]);
    }
    return status;
}

static double kernel_time(const kw_worker *w) {
    return (w->bench ? kw_bench_kernel_ns(w->bench) : 0) + (w->control.bench ? kw_bench_kernel_ns(w->control.bench) : 0);
}

kw_status kw_worker_run(kw_worker *w, const kw_worker_job *job, kw_error *err) {
    job_run run = {.w = w, .job = job};
    kw_error why = {0};
    set_step(w, KW_WORKER_KERNEL_NONE, KW_WORKER_STEP_PREPARE);
    kw_status status = open_run(&run, err);
    double before = 0;
    if (!status) {
        status = ensure_bench(w, job, &why);
        status = status ? status : ensure_control(w, job, &why);
        before = kernel_time(w);
        if (status && status != KW_ENVIRONMENT) {
            status = fail_all_kernels(&run, &why);
        } else if (status) {
            kw_fail(err, status, "%s", why.text);
        } else {
            status = run_kernels(&run, err);
        }
    }
    if (!status) {
        close_run(&run);
        set_step(w, KW_WORKER_KERNEL_NONE, KW_WORKER_STEP_IDLE);
        kw_answer answer = {.kind = KW_ANSWER_DONE, .value = kernel_time(w) - before};
        kw_worker_answer(w, &answer);
    }
    return status;
}
