/* worker_client.c: keeps a child, gives it jobs, and sees to it that every kernel of a job gets a record. What a kernel of a job goes
 * through:
 *
 *     WAITING     -> ANSWERED      [run_attempt]        the child answered
 *     WAITING     -> QUARANTINED   [record_loss]        the child was lost at it; the others go on without it
 *     QUARANTINED -> ANSWERED      [retry_quarantined]  once more, alone: what happens then is its record, be it that it is good
 *     WAITING | QUARANTINED -> (untried)                [fill_rest]  the caller stopped
 *     WAITING | QUARANTINED -> (crashed, timed out)     [fill_rest]  the data of the problem ended LOSSES_MAX children
 *
 * And the child: none -> greeted [start_child] -> none, after a loss, a stop, or kw_worker_client_close; the next attempt starts another.
 *
 * Invariants: (1) each loss quarantines one kernel, or is counted (worker_loss_count, control_loss_count), or turns one_by_one on, which
 * happens once: so the work ends; (2) a control that was lost LOSSES_MAX times is left out, and never counts against a kernel; (3) when it
 * cannot be told whose fault a loss was, all that are left are tried alone, where the one kernel of an attempt is to blame. */
#include "sweep/worker/worker_client.h"

#include "base/os/clock.h"
#include "sweep/worker/worker_attempt.h"
#include "sweep/worker/protocol.h"
#include "config/config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { START_TRIES = 3, LOSSES_MAX = 2, ARGUMENTS = 20, NUMBER_TEXT = 24 };
static const int64_t start_limit_ns = 30000000000, pause_ns = 100000000, close_patience_ns = 1000000000;
static const int64_t kernel_limit_default_ns = 30000000000;

struct kw_worker_client {
    kw_worker_client_options options;
    kw_child child;
    kw_worker_status *status_page; /* of the child */
    kw_target target;
    char device[KW_TARGET_TEXT_MAX];
    int64_t lost;
};

/* --- the child ------------------------------------------------------------------------------------------------------- */

static bool is_client_stopped(const kw_worker_client *client) {
    return kw_stop_requested(client->options.stop);
}

static void log_client_line(const kw_worker_client *client, const char *line) {
    if (client->options.log) {
        client->options.log(client->options.user, line);
    }
}

static kw_status start_process(kw_worker_client *client, kw_error *err) {
    const kw_worker_client_options *o = &client->options;
    char numbers[5][NUMBER_TEXT];
    const char *argv[ARGUMENTS] = {o->program, "worker", "--device", o->device};
    int64_t limit_ns = o->batch_limit_ns > o->kernel_limit_ns ? o->batch_limit_ns : o->kernel_limit_ns;
    struct {
        const char *name;
        int64_t value;
    } given[] = {{"--threads", o->threads},
                 {"--parent", getpid()},
                 {"--status", KW_CHILD_HANDED},
                 {"--memory", o->memory_limit},
                 {"--limit", limit_ns / 1000000000 + 1}};
    size_t used = 4;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        snprintf(numbers[i], NUMBER_TEXT, "%lld", (long long)given[i].value);
        argv[used++] = given[i].name;
        argv[used++] = numbers[i];
    }
    if (o->cpus) {
        argv[used++] = "--cpus";
        argv[used++] = o->cpus;
    }
    if (o->cache && *o->cache) {
        argv[used++] = "--cache";
        argv[used++] = o->cache;
    }
    int fd = -1;
    kw_worker_status_close(&client->status_page);
    kw_status status = kw_worker_status_create(&client->status_page, &fd, err);
    kw_worker_status_write(client->status_page, KW_WORKER_KERNEL_NONE, KW_WORKER_STEP_IDLE);
    status = status ? status : kw_child_start(&client->child, argv, fd, err);
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

/* The greeting's lines come in the order of their kinds. */
static kw_status read_child_line(kw_worker_client *client, kw_word line, kw_answer_kind wanted, kw_error *err) {
    kw_answer answer = {0};
    kw_status status = kw_answer_read(&answer, line, err);
    if (status || answer.kind != wanted) {
        return kw_fail(err, KW_MALFORMED, "line %.*s is no greeting of a worker", KW_WORD(line));
    }
    if (wanted == KW_ANSWER_HELLO && (answer.number != KW_PROTOCOL || strcmp(answer.text, KW_VERSION))) {
        return kw_fail(err, KW_ENVIRONMENT, "it is version %.40s, this is %s", answer.text, KW_VERSION);
    }
    if (wanted == KW_ANSWER_TARGET) {
        return kw_target_parse(&client->target, answer.text, err);
    }
    if (wanted == KW_ANSWER_DEVICE) {
        snprintf(client->device, sizeof client->device, "%s", answer.text);
    }
    return KW_OK;
}

static kw_status wait_for_greeting(kw_worker_client *client, kw_error *err) {
    int64_t until = kw_clock_ns() + start_limit_ns;
    kw_answer_kind wanted = KW_ANSWER_HELLO;
    while (wanted <= KW_ANSWER_READY) {
        kw_word line = {0};
        kw_child_event event = kw_child_read(&client->child, kw_clock_ns() + KW_WORKER_CLIENT_TICK_NS, &line);
        if (event == KW_CHILD_LINE) {
            kw_status status = read_child_line(client, line, wanted++, err);
            if (status) {
                return status;
            }
        } else if (event != KW_CHILD_QUIET) {
            return kw_fail(err, KW_ENVIRONMENT, "it ended without a greeting");
        } else if (kw_clock_ns() > until || is_client_stopped(client)) {
            return kw_fail(err, KW_ENVIRONMENT, is_client_stopped(client) ? "stopped" : "it gives no greeting");
        }
    }
    return KW_OK;
}

static kw_status start_child(kw_worker_client *client, kw_error *err) {
    kw_error why = {0};
    kw_status status = KW_OK;
    for (int i = 0; i < START_TRIES && !is_client_stopped(client); i++) {
        struct timespec pause = {.tv_nsec = i ? pause_ns : 0};
        nanosleep(&pause, NULL);
        status = start_process(client, &why);
        status = status ? status : wait_for_greeting(client, &why);
        if (!status) {
            return KW_OK;
        }
        kw_child_stop(&client->child, pause_ns);
    }
    kw_word words = kw_child_error_tail(&client->child);
    return kw_fail(err, KW_ENVIRONMENT, "no worker can be started with `%.160s worker`: %.200s%s%.*s", client->options.program,
                   *why.text ? why.text : "stopped", words.size ? "; it said: " : "", KW_WORD(words));
}

/* A child that is there; one that ended while it waited is replaced. */
static kw_status ensure_child(kw_worker_client *client, kw_error *err) {
    if (client->child.pid && kw_child_has_exited(&client->child)) {
        kw_child_stop(&client->child, 0);
        client->lost++;
        log_client_line(client, "a worker ended while it waited; it is replaced");
    }
    return client->child.pid ? KW_OK : start_child(client, err);
}

kw_status kw_worker_client_open(kw_worker_client **client, const kw_worker_client_options *options, kw_error *err) {
    kw_worker_client *made = calloc(1, sizeof *made);
    *client = NULL;
    if (!made) {
        return kw_fail_memory(err, "a pool");
    }
    made->options = *options;
    if (made->options.kernel_limit_ns <= 0) {
        made->options.kernel_limit_ns = kernel_limit_default_ns;
    }
    kw_status status = start_child(made, err);
    if (status) {
        kw_worker_client_close(&made);
    }
    *client = made;
    return status;
}

void kw_worker_client_close(kw_worker_client **client) {
    if (*client) {
        kw_child_stop(&(*client)->child, is_client_stopped(*client) ? 0 : close_patience_ns);
        kw_worker_status_close(&(*client)->status_page);
    }
    free(*client);
    *client = NULL;
}

const kw_target *kw_worker_client_target(const kw_worker_client *client) {
    return &client->target;
}

const char *kw_worker_client_device(const kw_worker_client *client) {
    return client->device;
}

int64_t kw_worker_client_lost(const kw_worker_client *client) {
    return client->lost;
}

/* --- a job ----------------------------------------------------------------------------------------------------------- */

/* DOUBTED: answered, but it could not be launched or not be loaded, which may be passing want of memory or of room on a disk. */
typedef enum kernel_state { WAITING = 0, ANSWERED, DOUBTED, QUARANTINED } kernel_state;

/* A job under way. selected_kernels, list, records and answered have a place for each kernel of one attempt. */
typedef struct work {
    kw_worker_client *client;
    const kw_worker_job *job;
    kw_worker_job_result *result;
    kernel_state *states;
    kw_worker_fault *faults; /* of those in quarantine */
    size_t *selected_kernels;
    kw_worker_job_kernel *list;
    kw_record *records;
    bool *answered;
    int worker_loss_count;             /* losses outside of any kernel */
    int control_loss_count;            /* losses with the control */
    bool believed;                     /* a kernel that cannot be launched now cannot be launched */
    bool one_by_one;                   /* one kernel at a time: it could not be told whose fault a loss was */
    bool stopped, problem_quarantined; /* the data of the problem end children */
    kw_worker_fault last;
} work;

static bool has_control(const work *k) {
    return k->job->control.config && k->control_loss_count < LOSSES_MAX;
}

static double best_answered_ns(const work *k) {
    double best = k->job->best_ns;
    for (size_t i = 0; i < k->job->count; i++) {
        const kw_record *r = &k->result->records[i];
        if (k->states[i] == ANSWERED && r->outcome == KW_GOOD && r->time_ns > 0 && (best <= 0 || r->time_ns < best)) {
            best = r->time_ns;
        }
    }
    return best;
}

/* Gives the first count of the selected kernels to the child and keeps what it answers. */
static kw_status run_attempt(work *k, size_t count, kw_worker_attempt_end *end, kw_error *err) {
    kw_worker_client *client = k->client;
    const kw_worker_client_options *o = &client->options;
    kw_worker_job part = *k->job;
    if (is_client_stopped(client)) {
        k->stopped = true;
        *end = KW_WORKER_ATTEMPT_STOPPED;
        return KW_OK;
    }
    for (size_t i = 0; i < count; i++) {
        assert(k->selected_kernels[i] < k->job->count && k->states[k->selected_kernels[i]] != ANSWERED);
        k->list[i] = k->job->kernels[k->selected_kernels[i]];
        k->answered[i] = false;
    }
    part.kernels = k->list;
    part.count = count;
    part.best_ns = best_answered_ns(k);
    if (!has_control(k)) {
        part.control = (kw_worker_job_kernel){0};
    }
    kw_status status = ensure_child(client, err);
    if (status) {
        k->stopped = is_client_stopped(client);
        *end = KW_WORKER_ATTEMPT_STOPPED;
        return k->stopped ? KW_OK : status;
    }
    kw_worker_attempt a = {.child = &client->child,
                           .status_page = client->status_page,
                           .job = &part,
                           .stop = o->stop,
                           .records = k->records,
                           .answered = k->answered};
    a.kernel_limit_ns = o->kernel_limit_ns;
    a.batch_limit_ns = o->batch_limit_ns > 0 ? o->batch_limit_ns : o->kernel_limit_ns * (int64_t)(count ? count : 1);
    status = kw_worker_attempt_run(&a, end, err);
    for (size_t i = 0; i < count && !status; i++) {
        if (k->answered[i]) {
            kw_outcome outcome = k->records[i].outcome;
            bool doubted = (outcome == KW_UNLAUNCHED && !k->believed) || outcome == KW_UNTRIED;
            k->result->records[k->selected_kernels[i]] = k->records[i];
            k->states[k->selected_kernels[i]] = doubted ? DOUBTED : ANSWERED;
        }
    }
    k->result->kernel_ns += a.kernel_ns;
    if (a.control_ns > 0) {
        k->result->control_ns = a.control_ns;
        k->result->drift = a.drift;
    }
    k->stopped = !status && *end == KW_WORKER_ATTEMPT_STOPPED;
    k->last = a.fault;
    client->lost += !status && *end == KW_WORKER_ATTEMPT_LOST;
    return status;
}

static void log_loss(const work *k, const char *what) {
    char line[KW_CONFIG_TEXT_MAX + 256];
    snprintf(line, sizeof line, "%s: %s%s%s", what, k->last.text, *k->last.words ? "; it said: " : "", k->last.words);
    log_client_line(k->client, line);
}

/* Draws the consequence of a loss for what goes on; the kernel of a loss goes into quarantine. */
static void record_loss(work *k) {
    if (k->last.kernel >= 0) {
        assert((size_t)k->last.kernel < k->job->count); /* what a child says was checked when it was read */
        size_t index = k->selected_kernels[k->last.kernel];
        k->states[index] = QUARANTINED;
        k->faults[index] = k->last;
        char config[KW_CONFIG_TEXT_MAX];
        kw_config_print(config, sizeof config, k->job->kernels[index].config);
        log_loss(k, config);
    } else if (k->last.kernel == KW_FAULT_KERNEL_CONTROL) {
        k->control_loss_count++;
        log_loss(k, "control kernel");
    } else if (k->last.kernel == KW_FAULT_KERNEL_UNKNOWN && !k->one_by_one) {
        k->one_by_one = true;
        log_loss(k, "a batch, tried kernel by kernel from here on");
    } else {
        k->worker_loss_count++;
        k->problem_quarantined = k->worker_loss_count >= LOSSES_MAX;
        log_loss(k, "a worker");
    }
}

static size_t select_waiting(work *k) {
    size_t count = 0;
    for (size_t i = 0; i < k->job->count && !(k->one_by_one && count); i++) {
        if (k->states[i] == WAITING) {
            k->selected_kernels[count++] = i;
        }
    }
    return count;
}

static kw_status run_waiting(work *k, kw_error *err) {
    kw_worker_attempt_end end;
    kw_status status = KW_OK;
    size_t count;
    while (!status && !k->stopped && !k->problem_quarantined && (count = select_waiting(k)) > 0) {
        status = run_attempt(k, count, &end, err);
        if (!status && end == KW_WORKER_ATTEMPT_LOST) {
            if (k->last.kernel == KW_FAULT_KERNEL_UNKNOWN && count == 1) {
                k->last.kernel = 0;
            }
            record_loss(k);
        }
    }
    return status;
}

static void print_detail(kw_record *record, const char *text, const char *more, const char *words) {
    kw_line line = {record->detail, sizeof record->detail, 0};
    kw_line_addf(&line, "%s%s%s%s", text, more, *words ? "; it said: " : "", words);
}

/* A kernel in quarantine, once more by itself. A control that fails beside it does not count against it. */
static kw_status retry_quarantined(work *k, size_t index, kw_error *err) {
    kw_worker_attempt_end end = KW_WORKER_ATTEMPT_LOST;
    kw_status status = KW_OK;
    kw_record *record = &k->result->records[index];
    const kw_worker_fault first = k->faults[index];
    bool control = true;
    for (int tries = 0; control && tries <= LOSSES_MAX; tries++) {
        k->selected_kernels[0] = index;
        status = run_attempt(k, 1, &end, err);
        control = !status && end == KW_WORKER_ATTEMPT_LOST && k->last.kernel == KW_FAULT_KERNEL_CONTROL;
        k->control_loss_count += control;
    }
    if (status || end == KW_WORKER_ATTEMPT_STOPPED) {
        return status;
    }
    if (end == KW_WORKER_ATTEMPT_DONE) {
        char before[sizeof record->detail];
        snprintf(before, sizeof before, "%s", record->detail);
        kw_line line = {record->detail, sizeof record->detail, 0};
        kw_line_addf(&line, "%s%sat first: %s; this is from a second run, alone", before, *before ? "; " : "", first.text);
        return KW_OK;
    }
    char more[160];
    bool same = !strcmp(first.text, k->last.text);
    snprintf(more, sizeof more, "; retried alone: %s", same ? "the same" : k->last.text);
    *record = (kw_record){.outcome = k->last.outcome};
    kw_config_print(record->config, sizeof record->config, k->job->kernels[index].config);
    print_detail(record, first.text, more, k->last.words);
    k->states[index] = ANSWERED;
    return KW_OK;
}

static kw_status run_quarantined(work *k, kw_error *err) {
    kw_status status = KW_OK;
    for (size_t i = 0; i < k->job->count && !status && !k->stopped; i++) {
        if (k->states[i] == QUARANTINED) {
            status = retry_quarantined(k, i, err);
        }
    }
    return status;
}

/* What could not be launched or loaded beside others, once more by itself. Where that is the same for the first it is believed of all. */
static kw_status run_doubted(work *k, kw_error *err) {
    kw_worker_attempt_end end = KW_WORKER_ATTEMPT_DONE;
    kw_status status = KW_OK;
    bool same = false;
    k->believed = true;
    for (size_t i = 0; i < k->job->count && !status && !same && end == KW_WORKER_ATTEMPT_DONE; i++) {
        if (k->states[i] == DOUBTED) {
            k->selected_kernels[0] = i;
            status = run_attempt(k, 1, &end, err);
            same = k->result->records[i].outcome == KW_UNLAUNCHED || k->result->records[i].outcome == KW_UNTRIED;
        }
    }
    return status;
}

/* A kernel that answered, and could not be tried by itself either, for want of room: nothing can be said of it. */
static kw_status fail_for_room(const work *k, kw_error *err) {
    for (size_t i = 0; i < k->job->count; i++) {
        const kw_record *record = &k->result->records[i];
        if ((k->states[i] == ANSWERED || k->states[i] == DOUBTED) && record->outcome == KW_UNTRIED) {
            return kw_fail(err, KW_IO, "%.250s: %.200s", record->config, record->detail);
        }
    }
    return KW_OK;
}

/* Those without a record: untried, or crashed where the problem itself ends workers. */
static void fill_rest(work *k) {
    for (size_t i = 0; i < k->job->count; i++) {
        kw_record *record = &k->result->records[i];
        if (k->states[i] == ANSWERED || k->states[i] == DOUBTED) {
            continue;
        }
        *record = (kw_record){0};
        kw_config_print(record->config, sizeof record->config, k->job->kernels[i].config);
        if (k->problem_quarantined && k->states[i] == QUARANTINED) {
            record->outcome = k->faults[i].outcome;
            print_detail(record, k->faults[i].text, "", k->faults[i].words);
        } else if (k->problem_quarantined) {
            record->outcome = k->last.outcome;
            print_detail(record, "twice ", k->last.text, k->last.words);
        }
    }
}

static kw_status open_work(work *k, kw_error *err) {
    size_t most = k->job->count + 1;
    k->states = calloc(most, sizeof *k->states);
    k->faults = calloc(most, sizeof *k->faults);
    k->selected_kernels = calloc(most, sizeof *k->selected_kernels);
    k->list = calloc(most, sizeof *k->list);
    k->records = calloc(most, sizeof *k->records);
    k->answered = calloc(most, sizeof *k->answered);
    bool good = k->states && k->faults && k->selected_kernels && k->list && k->records && k->answered;
    return good ? KW_OK : kw_fail_memory(err, "a job");
}

static void close_work(work *k) {
    free(k->states);
    free(k->faults);
    free(k->selected_kernels);
    free(k->list);
    free(k->records);
    free(k->answered);
}

kw_status kw_worker_client_measure(kw_worker_client *client, const kw_worker_job *job, kw_worker_job_result *result, kw_error *err) {
    work k = {.client = client, .job = job, .result = result};
    result->control_ns = result->drift = result->kernel_ns = 0;
    kw_status status = open_work(&k, err);
    if (!status) {
        status = run_waiting(&k, err);
        if (!k.problem_quarantined) {
            status = status || k.stopped ? status : run_doubted(&k, err);
            status = status ? status : run_quarantined(&k, err);
        }
        fill_rest(&k);
        status = status || k.stopped ? status : fail_for_room(&k, err);
    }
    close_work(&k);
    return status;
}
