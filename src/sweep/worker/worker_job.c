/* worker_job.c: one job: the data, the control, then each kernel loaded and verified, then the good ones timed together, interleaved.
 *
 * What fails is answered at once; what is good has its answer when all were timed. The blackbox is written before each step of each kernel,
 * and before every batch while they are timed. */
#include "sweep/worker/worker.h"

#include "config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct trial {
    kw_kernel *kernel; /* NULL: not loaded */
    kw_record record;
    bool answered;
} trial;

/* A job under way. The arrays of what is timed are parallel, as kw_bench_time wants them. */
typedef struct job_run {
    kw_worker *w;
    const kw_worker_job *job;
    trial *trials;
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

static void refuse_kernel(kw_record *record, kw_outcome outcome, const kw_error *why) {
    record->outcome = outcome;
    snprintf(record->detail, sizeof record->detail, "%.*s", (int)sizeof record->detail - 1, why->text);
}

static void answer_record(job_run *run, size_t index) {
    kw_answer answer = {.kind = KW_ANSWER_RECORD, .number = (int64_t)index, .record = run->trials[index].record};
    run->trials[index].answered = true;
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

/* The kernel of a key, or what became of it. A GPU that is lost ends the process. */
static kw_status load_job_kernel(kw_worker *w, const kw_worker_job_kernel *wanted, kw_kernel **kernel, kw_record *record, kw_error *err) {
    kw_blob blob = {0};
    kw_error why = {0};
    kw_status status = KW_OK;
    *record = (kw_record){0};
    *kernel = NULL;
    if (!wanted->config->family->builtin) {
        status = w->cache ? kw_cache_get(w->cache, wanted->key, &blob, &why) : KW_OK;
        if (!status && !blob.data) {
            status = kw_fail(&why, KW_MISSING, "the cache does not hold %.96s", wanted->key);
        }
    }
    status = status ? status : w->backend->load(w->device, wanted->config, &blob, kernel, &why);
    kw_blob_drop(&blob);
    if (status == KW_ENVIRONMENT && kw_target_is_gpu(w->backend->target(w->device))) {
        return kw_fail(err, status, "%s", why.text);
    }
    if (status) {
        refuse_kernel(record, status == KW_NO_KERNEL ? KW_UNFIT : status == KW_NO_MEMORY ? KW_UNLAUNCHED : KW_UNCOMPILED, &why);
    }
    return KW_OK;
}

/* A device that fails ends the process; any other error is the kernel's. */
static kw_status verify_kernel(kw_bench *bench, const kw_kernel *kernel, const kw_config *config, kw_record *record, kw_error *err) {
    kw_error why = {0};
    kw_status status = kw_bench_verify(bench, kernel, config, record, &why);
    if (status == KW_ENVIRONMENT) {
        return kw_fail(err, status, "%s", why.text);
    }
    if (status) {
        refuse_kernel(record, KW_UNLAUNCHED, &why);
    }
    return KW_OK;
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
    kw_status status = load_job_kernel(w, wanted, &c->kernel, &c->record, err);
    if (status || !c->kernel) {
        return status;
    }
    status = kw_bench_open(&c->bench, w->backend, w->device, job->control_problem, 0, err);
    if (status) {
        return status;
    }
    set_step(w, KW_WORKER_KERNEL_CONTROL, KW_WORKER_STEP_VERIFY);
    return verify_kernel(c->bench, c->kernel, &c->config, &c->record, err);
}

/* --- the kernels ----------------------------------------------------------------------------------------------------- */

static kw_status measure_trial(job_run *run, size_t index, kw_error *err) {
    kw_worker *w = run->w;
    trial *t = &run->trials[index];
    const kw_worker_job_kernel *wanted = &run->job->kernels[index];
    set_step(w, (int32_t)index, KW_WORKER_STEP_LOAD);
    kw_status status = load_job_kernel(w, wanted, &t->kernel, &t->record, err);
    if (status) {
        return status;
    }
    if (t->kernel) {
        set_step(w, (int32_t)index, KW_WORKER_STEP_VERIFY);
        status = verify_kernel(w->bench, t->kernel, wanted->config, &t->record, err);
        if (status) {
            return status;
        }
    }
    kw_worker_check_output(w);
    if (t->record.outcome != KW_GOOD || run->job->verify_only) {
        answer_record(run, index);
    } else {
        run->place[run->timed] = index;
        run->kernels[run->timed] = t->kernel;
        run->configs[run->timed] = wanted->config;
        run->records[run->timed++] = t->record;
    }
    return KW_OK;
}

static void turn(void *user, size_t index) {
    const job_run *run = user;
    set_step(run->w, index == SIZE_MAX ? KW_WORKER_KERNEL_CONTROL : (int32_t)run->place[index], KW_WORKER_STEP_TIME);
}

static void reverify(void *user, size_t index) {
    const job_run *run = user;
    set_step(run->w, (int32_t)run->place[index], KW_WORKER_STEP_REVERIFY);
}

/* first..first + count - 1 of what is timed. */
static kw_status time_some(job_run *run, size_t first, size_t count, kw_control *control, kw_error *err) {
    job_run part = *run; /* so that turn counts from first */
    part.place += first;
    kw_timing_options options = {.pack_weights = run->job->pack_weights,
                                 .cold = run->job->cold,
                                 .batches = run->job->batches,
                                 .drop_ratio = run->job->drop_ratio,
                                 .best_ns = run->job->best_ns,
                                 .order_seed = run->job->seed ? run->job->seed : 1,
                                 .control = control,
                                 .turn = turn,
                                 .reverify = reverify,
                                 .user = &part};
    set_step(run->w, KW_WORKER_KERNEL_NONE, KW_WORKER_STEP_PREPARE);
    return kw_bench_time(run->w->bench, run->kernels + first, run->configs + first, count, &options, run->records + first, err);
}

/* Those for which there was no memory beside the others are timed by themselves. */
static kw_status time_without_control(job_run *run, size_t i, kw_control *control, kw_error *err) {
    kw_error why = {0};
    run->records[i].outcome = KW_GOOD;
    *run->records[i].detail = 0;
    kw_status status = time_some(run, i, 1, control, &why);
    if (status == KW_ENVIRONMENT) {
        return kw_fail(err, status, "%s", why.text);
    }
    if (status) {
        refuse_kernel(&run->records[i], KW_UNLAUNCHED, &why);
    }
    return KW_OK;
}

static kw_status time_good(job_run *run, kw_error *err) {
    kw_worker_control *c = &run->w->control;
    bool controlled = run->job->control.config && c->bench && c->record.outcome == KW_GOOD;
    kw_control control = {.bench = c->bench, .kernel = c->kernel, .config = &c->config, .level_ns = c->level_ns};
    kw_error why = {0};
    if (!run->timed) {
        return KW_OK;
    }
    kw_status status = time_some(run, 0, run->timed, controlled ? &control : NULL, &why);
    if (status == KW_ENVIRONMENT) {
        return kw_fail(err, status, "%s", why.text);
    }
    bool failed = status != KW_OK;
    status = KW_OK;
    for (size_t i = 0; i < run->timed && !status; i++) {
        if (run->timed > 1 && (failed || run->records[i].outcome == KW_UNLAUNCHED)) {
            status = time_without_control(run, i, controlled ? &control : NULL, err);
        } else if (failed) {
            refuse_kernel(&run->records[i], KW_UNLAUNCHED, &why);
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
    size_t room = run->job->count + 1;
    run->trials = calloc(room, sizeof *run->trials);
    run->place = calloc(room, sizeof *run->place);
    run->kernels = calloc(room, sizeof *run->kernels);
    run->configs = calloc(room, sizeof *run->configs);
    run->records = calloc(room, sizeof *run->records);
    bool good = run->trials && run->place && run->kernels && run->configs && run->records;
    return good ? KW_OK : kw_fail_memory(err, "a job");
}

static void close_run(job_run *run) {
    for (size_t i = 0; run->trials && i < run->job->count; i++) {
        if (run->trials[i].kernel) {
            set_step(run->w, (int32_t)i, KW_WORKER_STEP_UNLOAD);
            run->w->backend->unload(run->w->device, &run->trials[i].kernel);
        }
    }
    free(run->trials);
    free(run->place);
    free(run->kernels);
    free(run->configs);
    free(run->records);
}

/* Every kernel of a problem whose data cannot be had. */
static kw_status refuse_all(job_run *run, const kw_error *why) {
    for (size_t i = 0; i < run->job->count; i++) {
        refuse_kernel(&run->trials[i].record, KW_UNLAUNCHED, why);
        answer_record(run, i);
    }
    return KW_OK;
}

static kw_status run_kernels(job_run *run, kw_error *err) {
    kw_status status = KW_OK;
    for (size_t i = 0; i < run->job->count && !status; i++) {
        status = measure_trial(run, i, err);
    }
    status = status ? status : time_good(run, err);
    for (size_t i = 0; i < run->timed && !status; i++) {
        run->trials[run->place[i]].record = run->records[i];
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
            status = refuse_all(&run, &why);
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
