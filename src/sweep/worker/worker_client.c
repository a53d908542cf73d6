/* worker_client.c: keeps a child, gives it jobs, and sees to it that every kernel of a job gets a record.
 *
 * When a child is lost, the kernel it was at is set aside and the others go on without it; those set aside are tried once more, each alone,
 * and what happens then is their record. Each loss sets one kernel aside or is counted, so the work ends. When it cannot be told whose
 * fault a loss was, all that are left are tried alone. */
#include "sweep/worker/worker_client.h"

#include "base/os/clock.h"
#include "sweep/worker/worker_client_job.h"
#include "sweep/worker/protocol.h"
#include "config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { START_TRIES = 3, STRIKES = 2, ARGUMENTS = 20, NUMBER_TEXT = 24 };
static const int64_t start_limit_ns = 30000000000, pause_ns = 100000000, close_patience_ns = 1000000000;
static const int64_t kernel_limit_default_ns = 30000000000;

struct kw_pool {
    kw_pool_options options;
    kw_child child;
    kw_blackbox *box; /* of the child */
    kw_target target;
    char device[KW_TARGET_TEXT_MAX];
    int64_t lost;
};

/* --- the child ------------------------------------------------------------------------------------------------------- */

static bool is_stopped(const kw_pool *pool) {
    return pool->options.stop && *pool->options.stop;
}

static void say(const kw_pool *pool, const char *line) {
    if (pool->options.log) {
        pool->options.log(pool->options.user, line);
    }
}

static kw_status start_process(kw_pool *pool, kw_error *err) {
    const kw_pool_options *o = &pool->options;
    char numbers[5][NUMBER_TEXT];
    const char *argv[ARGUMENTS] = {o->program, "worker", "--device", o->device};
    int64_t limit_ns = o->batch_limit_ns > o->kernel_limit_ns ? o->batch_limit_ns : o->kernel_limit_ns;
    struct {
        const char *name;
        int64_t value;
    } given[] = {{"--threads", o->threads},
                 {"--parent", getpid()},
                 {"--blackbox", KW_CHILD_HANDED},
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
    kw_blackbox_close(&pool->box);
    kw_status status = kw_blackbox_make(&pool->box, &fd, err);
    kw_blackbox_write(pool->box, KW_MARK_NONE, KW_STEP_IDLE);
    status = status ? status : kw_child_start(&pool->child, argv, fd, err);
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

/* The greeting's lines come in the order of their kinds. */
static kw_status hear(kw_pool *pool, kw_word line, kw_answer_kind wanted, kw_error *err) {
    kw_answer answer = {0};
    kw_status status = kw_answer_read(&answer, line, err);
    if (status || answer.kind != wanted) {
        return kw_fail(err, KW_MALFORMED, "line %.*s is no greeting of a worker", KW_WORD(line));
    }
    if (wanted == KW_ANSWER_HELLO && (answer.number != KW_PROTOCOL || strcmp(answer.text, KW_VERSION))) {
        return kw_fail(err, KW_ENVIRONMENT, "it is version %.40s, this is %s", answer.text, KW_VERSION);
    }
    if (wanted == KW_ANSWER_TARGET) {
        return kw_target_parse(&pool->target, answer.text, err);
    }
    if (wanted == KW_ANSWER_DEVICE) {
        snprintf(pool->device, sizeof pool->device, "%s", answer.text);
    }
    return KW_OK;
}

static kw_status wait_for_greeting(kw_pool *pool, kw_error *err) {
    int64_t until = kw_clock_ns() + start_limit_ns;
    kw_answer_kind wanted = KW_ANSWER_HELLO;
    while (wanted <= KW_ANSWER_READY) {
        kw_word line = {0};
        kw_child_event event = kw_child_read(&pool->child, kw_clock_ns() + KW_POOL_TICK_NS, &line);
        if (event == KW_CHILD_LINE) {
            kw_status status = hear(pool, line, wanted++, err);
            if (status) {
                return status;
            }
        } else if (event != KW_CHILD_QUIET) {
            return kw_fail(err, KW_ENVIRONMENT, "it ended without a greeting");
        } else if (kw_clock_ns() > until || is_stopped(pool)) {
            return kw_fail(err, KW_ENVIRONMENT, is_stopped(pool) ? "stopped" : "it gives no greeting");
        }
    }
    return KW_OK;
}

static kw_status start_child(kw_pool *pool, kw_error *err) {
    kw_error why = {0};
    kw_status status = KW_OK;
    for (int i = 0; i < START_TRIES && !is_stopped(pool); i++) {
        struct timespec pause = {.tv_nsec = i ? pause_ns : 0};
        nanosleep(&pause, NULL);
        status = start_process(pool, &why);
        status = status ? status : wait_for_greeting(pool, &why);
        if (!status) {
            return KW_OK;
        }
        kw_child_stop(&pool->child, pause_ns);
    }
    kw_word words = kw_child_last_words(&pool->child);
    return kw_fail(err, KW_ENVIRONMENT, "no worker can be started with `%.160s worker`: %.200s%s%.*s", pool->options.program,
                   *why.text ? why.text : "stopped", words.size ? "; it said: " : "", KW_WORD(words));
}

/* A child that is there; one that ended while it waited is replaced. */
static kw_status need_child(kw_pool *pool, kw_error *err) {
    if (pool->child.pid && kw_child_is_gone(&pool->child)) {
        kw_child_stop(&pool->child, 0);
        pool->lost++;
        say(pool, "a worker ended while it waited; it is replaced");
    }
    return pool->child.pid ? KW_OK : start_child(pool, err);
}

kw_status kw_pool_open(kw_pool **pool, const kw_pool_options *options, kw_error *err) {
    kw_pool *made = calloc(1, sizeof *made);
    *pool = NULL;
    if (!made) {
        return kw_fail_memory(err, "a pool");
    }
    made->options = *options;
    if (made->options.kernel_limit_ns <= 0) {
        made->options.kernel_limit_ns = kernel_limit_default_ns;
    }
    kw_status status = start_child(made, err);
    if (status) {
        kw_pool_close(&made);
    }
    *pool = made;
    return status;
}

void kw_pool_close(kw_pool **pool) {
    if (*pool) {
        kw_child_stop(&(*pool)->child, is_stopped(*pool) ? 0 : close_patience_ns);
        kw_blackbox_close(&(*pool)->box);
    }
    free(*pool);
    *pool = NULL;
}

const kw_target *kw_pool_target(const kw_pool *pool) {
    return &pool->target;
}

const char *kw_pool_device(const kw_pool *pool) {
    return pool->device;
}

int64_t kw_pool_lost(const kw_pool *pool) {
    return pool->lost;
}

/* --- a job ----------------------------------------------------------------------------------------------------------- */

typedef enum place { WAITING = 0, ANSWERED, ASIDE } place;

/* A job under way. pick, list, records and answered are room for the kernels of one attempt. */
typedef struct work {
    kw_pool *pool;
    const kw_pool_job *job;
    kw_pool_result *result;
    place *places;
    kw_fault *faults; /* of those set aside */
    size_t *pick;
    kw_pool_kernel *list;
    kw_record *records;
    bool *answered;
    int strikes;          /* losses outside of any kernel */
    int control_strikes;  /* losses with the control */
    bool apart;           /* one kernel at a time: it could not be told whose fault a loss was */
    bool stopped, barren; /* barren: the data of the problem cannot be had alive */
    kw_fault last;
} work;

static bool has_control(const work *k) {
    return k->job->control.config && k->control_strikes < STRIKES;
}

static double best_of(const work *k) {
    double best = k->job->best_ns;
    for (size_t i = 0; i < k->job->count; i++) {
        const kw_record *r = &k->result->records[i];
        if (k->places[i] == ANSWERED && r->outcome == KW_GOOD && r->time_ns > 0 && (best <= 0 || r->time_ns < best)) {
            best = r->time_ns;
        }
    }
    return best;
}

/* Gives the first count kernels of pick to the child and keeps what it answers. */
static kw_status attempt(work *k, size_t count, kw_attempt_end *end, kw_error *err) {
    kw_pool *pool = k->pool;
    const kw_pool_options *o = &pool->options;
    kw_pool_job part = *k->job;
    if (is_stopped(pool)) {
        k->stopped = true;
        *end = KW_ATTEMPT_STOPPED;
        return KW_OK;
    }
    for (size_t i = 0; i < count; i++) {
        k->list[i] = k->job->kernels[k->pick[i]];
        k->answered[i] = false;
    }
    part.kernels = k->list;
    part.count = count;
    part.best_ns = best_of(k);
    if (!has_control(k)) {
        part.control = (kw_pool_kernel){0};
    }
    kw_status status = need_child(pool, err);
    if (status) {
        k->stopped = is_stopped(pool);
        *end = KW_ATTEMPT_STOPPED;
        return k->stopped ? KW_OK : status;
    }
    kw_attempt a = {.child = &pool->child, .box = pool->box, .job = &part, .stop = o->stop, .records = k->records, .answered = k->answered};
    a.kernel_limit_ns = o->kernel_limit_ns;
    a.batch_limit_ns = o->batch_limit_ns > 0 ? o->batch_limit_ns : o->kernel_limit_ns * (int64_t)(count ? count : 1);
    status = kw_attempt_run(&a, end, err);
    for (size_t i = 0; i < count && !status; i++) {
        if (k->answered[i]) {
            k->result->records[k->pick[i]] = k->records[i];
            k->places[k->pick[i]] = ANSWERED;
        }
    }
    k->result->kernel_ns += a.kernel_ns;
    if (a.control_ns > 0) {
        k->result->control_ns = a.control_ns;
        k->result->drift = a.drift;
    }
    k->stopped = !status && *end == KW_ATTEMPT_STOPPED;
    k->last = a.fault;
    pool->lost += !status && *end == KW_ATTEMPT_LOST;
    return status;
}

static void log_loss(const work *k, const char *what) {
    char line[KW_CONFIG_TEXT_MAX + 256];
    snprintf(line, sizeof line, "%s: %s%s%s", what, k->last.text, *k->last.words ? "; it said: " : "", k->last.words);
    say(k->pool, line);
}

/* Draws the consequence of a loss for what goes on; the kernel of a loss is set aside. */
static void bear(work *k) {
    if (k->last.kernel >= 0) {
        size_t index = k->pick[k->last.kernel];
        k->places[index] = ASIDE;
        k->faults[index] = k->last;
        char config[KW_CONFIG_TEXT_MAX];
        kw_config_print(config, sizeof config, k->job->kernels[index].config);
        log_loss(k, config);
    } else if (k->last.kernel == KW_BLAME_CONTROL) {
        k->control_strikes++;
        log_loss(k, "control kernel");
    } else if (k->last.kernel == KW_BLAME_UNSURE && !k->apart) {
        k->apart = true;
        log_loss(k, "a batch, tried kernel by kernel from here on");
    } else {
        k->strikes++;
        k->barren = k->strikes >= STRIKES;
        log_loss(k, "a worker");
    }
}

static size_t pick_waiting(work *k) {
    size_t count = 0;
    for (size_t i = 0; i < k->job->count && !(k->apart && count); i++) {
        if (k->places[i] == WAITING) {
            k->pick[count++] = i;
        }
    }
    return count;
}

static kw_status run_waiting(work *k, kw_error *err) {
    kw_attempt_end end;
    kw_status status = KW_OK;
    size_t count;
    while (!status && !k->stopped && !k->barren && (count = pick_waiting(k)) > 0) {
        status = attempt(k, count, &end, err);
        if (!status && end == KW_ATTEMPT_LOST) {
            if (k->last.kernel == KW_BLAME_UNSURE && count == 1) {
                k->last.kernel = 0;
            }
            bear(k);
        }
    }
    return status;
}

static void print_detail(kw_record *record, const char *text, const char *more, const char *words) {
    kw_line line = {record->detail, sizeof record->detail, 0};
    kw_line_addf(&line, "%s%s%s%s", text, more, *words ? "; it said: " : "", words);
}

/* A kernel that was set aside, once more by itself. A control that fails beside it does not count against it. */
static kw_status retry(work *k, size_t index, kw_error *err) {
    kw_attempt_end end = KW_ATTEMPT_LOST;
    kw_status status = KW_OK;
    kw_record *record = &k->result->records[index];
    const kw_fault first = k->faults[index];
    bool control = true;
    for (int tries = 0; control && tries <= STRIKES; tries++) {
        k->pick[0] = index;
        status = attempt(k, 1, &end, err);
        control = !status && end == KW_ATTEMPT_LOST && k->last.kernel == KW_BLAME_CONTROL;
        k->control_strikes += control;
    }
    if (status || end == KW_ATTEMPT_STOPPED) {
        return status;
    }
    if (end == KW_ATTEMPT_DONE) {
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
    k->places[index] = ANSWERED;
    return KW_OK;
}

static kw_status run_aside(work *k, kw_error *err) {
    kw_status status = KW_OK;
    for (size_t i = 0; i < k->job->count && !status && !k->stopped; i++) {
        if (k->places[i] == ASIDE) {
            status = retry(k, i, err);
        }
    }
    return status;
}

/* Those without a record: untried, or crashed where the problem itself ends workers. */
static void fill_rest(work *k) {
    for (size_t i = 0; i < k->job->count; i++) {
        kw_record *record = &k->result->records[i];
        if (k->places[i] == ANSWERED) {
            continue;
        }
        *record = (kw_record){0};
        kw_config_print(record->config, sizeof record->config, k->job->kernels[i].config);
        if (k->barren && k->places[i] == ASIDE) {
            record->outcome = k->faults[i].outcome;
            print_detail(record, k->faults[i].text, "", k->faults[i].words);
        } else if (k->barren) {
            record->outcome = k->last.outcome;
            print_detail(record, "twice ", k->last.text, k->last.words);
        }
    }
}

static kw_status open_work(work *k, kw_error *err) {
    size_t room = k->job->count + 1;
    k->places = calloc(room, sizeof *k->places);
    k->faults = calloc(room, sizeof *k->faults);
    k->pick = calloc(room, sizeof *k->pick);
    k->list = calloc(room, sizeof *k->list);
    k->records = calloc(room, sizeof *k->records);
    k->answered = calloc(room, sizeof *k->answered);
    bool good = k->places && k->faults && k->pick && k->list && k->records && k->answered;
    return good ? KW_OK : kw_fail_memory(err, "a job");
}

static void close_work(work *k) {
    free(k->places);
    free(k->faults);
    free(k->pick);
    free(k->list);
    free(k->records);
    free(k->answered);
}

kw_status kw_pool_measure(kw_pool *pool, const kw_pool_job *job, kw_pool_result *result, kw_error *err) {
    work k = {.pool = pool, .job = job, .result = result};
    result->control_ns = result->drift = result->kernel_ns = 0;
    kw_status status = open_work(&k, err);
    if (!status) {
        status = run_waiting(&k, err);
        if (!k.barren) {
            status = status ? status : run_aside(&k, err);
        }
        fill_rest(&k);
    }
    close_work(&k);
    return status;
}
