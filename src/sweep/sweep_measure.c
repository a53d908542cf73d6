/* sweep_measure.c: threads draw problems, one after the other; the thread that drew one measures all its kernels, batch by batch, and
 * writes each batch's rows before it goes on, so that its worker is at rest while the store works. The calling thread alone tells
 * progress.
 *
 * Problems come in an order made from the seed (sweep_plan.c): a machine that slows down over the hours slows all kinds of problems alike.
 */
#include "sweep/sweep_measure.h"

#include "base/os/clock.h"
#include "problem/names/outcome.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double drop_ratio = 3; /* so many times slower than the problem's best after its first launches: dropped */
static const int64_t tell_ns = 500000000;

typedef struct measure_queue {
    const kw_sweep_context *context;
    const kw_sweep_plan *plan;
    const kw_sweep_options *options;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t next;    /* the first task nobody has drawn */
    size_t running; /* threads that are not done */
    bool halted;    /* an error came; status and err are of the first one */
    kw_status status;
    kw_error err;
    double kernel_ns, done_weight, all_weight;
    int64_t start_ns, progressed; /* news: grows with every batch */
    kw_sweep_progress progress;
} measure_queue;

/* What a batch on a problem needs. */
typedef struct round {
    const kw_sweep_task *task;
    const kw_sweep_kernel **kernels; /* of the whole task, in the order they are measured */
    kw_worker_job_kernel *given;
    kw_record *records;
    double best_ns;
} round;

static bool open_round(round *r, const measure_queue *q, const kw_sweep_task *task) {
    uint32_t *order = calloc(task->fit + 1, sizeof *order);
    *r = (round){.task = task};
    r->kernels = calloc(task->fit + 1, sizeof(const kw_sweep_kernel *));
    r->given = calloc(task->fit + 1, sizeof *r->given);
    r->records = calloc(task->fit + 1, sizeof *r->records);
    bool good = order && r->kernels && r->given && r->records;
    if (good) {
        memcpy(order, q->plan->pairs + task->first, task->fit * sizeof *order);
        good = !kw_sweep_shuffle(q->plan, task, q->options->timing.seed, order, task->fit, NULL);
    }
    for (uint32_t i = 0; good && i < task->fit; i++) {
        r->kernels[i] = &q->plan->kernels[order[i]];
        r->given[i] = (kw_worker_job_kernel){r->kernels[i]->config, r->kernels[i]->key};
    }
    free(order);
    return good;
}

static void close_round(round *r) {
    free(r->kernels);
    free(r->given);
    free(r->records);
}

static void note_batch(measure_queue *q, round *r, size_t first, size_t count, double kernel_ns) {
    pthread_mutex_lock(&q->lock);
    kw_sweep_progress *progress = &q->progress;
    for (size_t i = first; i < first + count; i++) {
        const kw_record *record = &r->records[i];
        if (record->outcome == KW_UNTRIED) {
            continue;
        }
        progress->done++;
        progress->failed += kw_outcome_is_failure(record->outcome);
        q->done_weight += r->task->weight;
        if (record->outcome == KW_GOOD && record->samples && (r->best_ns <= 0 || record->time_ns < r->best_ns)) {
            r->best_ns = record->time_ns;
        }
    }
    q->kernel_ns += kernel_ns;
    progress->problem = r->task->text;
    progress->best_ns = r->best_ns;
    q->progressed++;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

static kw_worker_job make_job(const measure_queue *q, const round *r, size_t first, size_t count) {
    const kw_sweep_options *o = q->options;
    const kw_sweep_kernel *control = q->context->control;
    kw_worker_job job = {
        .problem = r->task->problem,
        .kernels = r->given + first,
        .count = count,
        .control_problem = q->context->control_problem,
        .verify_only = o->timing.verify_only,
        .pack_weights = !q->plan->manifest.fresh_weights,
        .cold = q->plan->manifest.cold,
        .batches = o->timing.batches,
        .drop_ratio = o->timing.exhaustive ? 0 : drop_ratio,
        .best_ns = r->best_ns,
        .seed = o->timing.seed,
    };
    if (control) {
        job.control = (kw_worker_job_kernel){control->config, control->key};
    }
    return job;
}

static kw_status keep_built(const measure_queue *q, const round *r, size_t first, size_t count, kw_error *err) {
    const kw_sweep_context *context = q->context;
    kw_status status = context->control ? kw_sweep_rebuild_missing(context->toolchain, context->control, err) : KW_OK;
    for (size_t i = first; !status && i < first + count; i++) {
        status = kw_sweep_rebuild_missing(context->toolchain, r->kernels[i], err);
    }
    return status;
}

static kw_status measure_batch(measure_queue *q, kw_worker_client *client, round *r, size_t first, size_t count, kw_error *err) {
    kw_worker_job job = make_job(q, r, first, count);
    kw_worker_job_result result = {.records = r->records + first};
    kw_status status = keep_built(q, r, first, count, err);
    if (status) {
        return status;
    }
    kw_error why = {0};
    kw_status measured = kw_worker_client_measure(client, &job, &result, &why); /* what it knows has its rows even where it fails */
    kw_sweep_batch batch = {
        .problem = r->task->text,
        .kernels = r->kernels + first,
        .records = r->records + first,
        .count = count,
        .control_ns = result.control_ns,
        .drift = result.drift,
    };
    status = kw_sweep_writer_add(q->context->writer, &batch, err);
    if (!status) {
        note_batch(q, r, first, count, result.kernel_ns);
    }
    return measured ? kw_fail(err, measured, "%s", why.text) : status;
}

static bool should_continue(measure_queue *q) {
    pthread_mutex_lock(&q->lock);
    bool halted = q->halted;
    pthread_mutex_unlock(&q->lock);
    return !halted && !kw_sweep_should_stop(q->plan, q->options);
}

static kw_status measure_task(measure_queue *q, kw_worker_client *client, const kw_sweep_task *task, kw_error *err) {
    round r;
    kw_status status = KW_OK;
    size_t batch = q->options->workers.batch > 0 ? (size_t)q->options->workers.batch : KW_SWEEP_BATCH;
    if (!open_round(&r, q, task)) {
        status = kw_fail_memory(err, "the kernels of a problem");
    }
    for (size_t first = 0; !status && first < task->fit && should_continue(q); first += batch) {
        status = measure_batch(q, client, &r, first, task->fit - first < batch ? task->fit - first : batch, err);
    }
    close_round(&r);
    return status;
}

/* The next task with pairs to measure; NULL when there is none. */
static const kw_sweep_task *next_task(measure_queue *q) {
    const kw_sweep_task *task = NULL;
    pthread_mutex_lock(&q->lock);
    while (!task && !q->halted && !kw_sweep_should_stop(q->plan, q->options) && q->next < q->plan->task_count) {
        task = &q->plan->tasks[q->next++];
        task = task->fit ? task : NULL;
    }
    pthread_mutex_unlock(&q->lock);
    return task;
}

static void run_device_worker(void *memory, kw_worker_client *client) {
    measure_queue *q = memory;
    kw_error err = {0};
    kw_status status = KW_OK;
    const kw_sweep_task *task;
    while (!status && (task = next_task(q))) {
        status = measure_task(q, client, task, &err);
    }
    pthread_mutex_lock(&q->lock);
    if (status && !q->halted) {
        q->halted = true;
        q->status = status;
        q->err = err;
    }
    q->running--;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

/* From the share of the expected time that is done. Negative: nothing is known yet. */
static double eta_s(const measure_queue *q) {
    double elapsed_s = (double)(kw_clock_ns() - q->start_ns) / 1e9;
    return q->done_weight > 0 ? elapsed_s * (q->all_weight - q->done_weight) / q->done_weight : -1;
}

/* Waits for news, at most so long that progress is told twice a second. */
static void wait_for_change(measure_queue *q) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + tell_ns;
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    pthread_cond_timedwait(&q->changed, &q->lock, &until);
}

static void report_until_done(measure_queue *q) {
    int64_t told = -1;
    pthread_mutex_lock(&q->lock);
    while (q->running) {
        if (q->progressed == told) {
            wait_for_change(q);
        }
        told = q->progressed;
        kw_sweep_progress now = q->progress;
        now.eta_s = eta_s(q);
        pthread_mutex_unlock(&q->lock);
        if (q->options->progress) {
            q->options->progress(q->options->user, &now);
        }
        pthread_mutex_lock(&q->lock);
    }
    kw_sweep_progress last = q->progress;
    pthread_mutex_unlock(&q->lock);
    if (q->options->progress) {
        q->options->progress(q->options->user, &last);
    }
}

static void open_queue(measure_queue *q) {
    pthread_condattr_t attributes;
    pthread_mutex_init(&q->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC); /* the other clock may jump */
    pthread_cond_init(&q->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    for (size_t i = 0; i < q->plan->task_count; i++) {
        q->all_weight += q->plan->tasks[i].weight * q->plan->tasks[i].fit;
    }
}

kw_status kw_sweep_measure(kw_sweep_devices *devices, const kw_sweep_context *context, kw_sweep_report *report, kw_error *err) {
    const kw_sweep_plan *plan = context->plan;
    measure_queue q = {.context = context, .plan = plan, .options = context->options, .start_ns = kw_clock_ns()};
    q.progress = (kw_sweep_progress){.phase = "measure", .total = plan->fit, .skipped = plan->skipped};
    open_queue(&q);
    q.running = devices->count;
    kw_sweep_devices_start(devices, run_device_worker, &q);
    report_until_done(&q);
    report->wall_s = (double)(kw_clock_ns() - q.start_ns) / 1e9;
    report->kernel_s = q.kernel_ns / 1e9;
    pthread_cond_destroy(&q.changed);
    pthread_mutex_destroy(&q.lock);
    return q.status ? kw_fail(err, q.status, "%s", q.err.text) : KW_OK;
}
