/* worker.c: the process in which kernels run: greets, then reads jobs and answers them, until its input ends.
 *
 * Nothing of this process can be trusted once a kernel ran in it: the parent takes its word for results and nothing else, and a process in
 * which something went wrong is not used again. Its states, as the status page shows them to the parent:
 *
 *     (started) -> IDLE                 [greet_parent]
 *     IDLE      -> PREPARE              [serve_job]      a whole job was read: the problem's data are made
 *     PREPARE   -> LOAD                 [kw_worker_run]  the control, where there is one, then each kernel
 *     LOAD      -> VERIFY               [kw_worker_run]  what cannot be loaded or does not serve has its answer, and the next one follows
 *     VERIFY    -> LOAD | PREPARE       [kw_worker_run]  what is wrong has its answer; with the last one, timing is prepared
 *     PREPARE   -> TIME                 [kw_worker_run]  a page entry for each batch of each kernel
 *     TIME      -> REVERIFY -> ...      [kw_worker_run]  after its last batch a kernel is verified once more, and has its answer
 *     REVERIFY  -> UNLOAD -> IDLE       [kw_worker_run]  "done" is said
 *     any       -> (ended, exit code)   KW_WORKER_DONE: end of input. KW_WORKER_BROKEN: the device is lost, after "error".
 *                                       KW_WORKER_OUTPUT_LOST: answers cannot be sent. A signal or an exit of a kernel: the page keeps the
 *                                       state it happened in.
 *
 * Invariants: (1) the page is written before the step it names begins; (2) each kernel of a job has at most one "record" line; (3) "done"
 * follows the last of them; (4) after a fault nothing is cleaned up: _exit leaves the page as it is. */
#include "sweep/worker/worker.h"

#include <kernelwright_tune.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void answer_text(const kw_worker *w, kw_answer_kind kind, int64_t number, const char *text) {
    kw_answer answer = {.kind = kind, .number = number};
    snprintf(answer.text, sizeof answer.text, "%.*s", (int)sizeof answer.text - 1, text);
    kw_worker_answer(w, &answer);
}

static void greet_parent(const kw_worker *w) {
    char target[KW_TARGET_TEXT_MAX], brand[KW_BRAND_MAX] = "";
    kw_target_print(target, sizeof target, w->backend->target(w->device));
    if (!w->backend->about) {
        kw_cpu_brand(brand);
    }
    answer_text(w, KW_ANSWER_HELLO, KW_PROTOCOL, KW_VERSION);
    answer_text(w, KW_ANSWER_TARGET, 0, target);
    answer_text(w, KW_ANSWER_DEVICE, 0, w->backend->about ? w->backend->about(w->device) : brand);
    answer_text(w, KW_ANSWER_READY, 0, "");
}

/* The next line of the input; false at its end. */
static kw_status read_job_line(kw_worker *w, kw_word *line, bool *ended, kw_error *err) {
    *ended = false;
    for (;;) {
        char *start = w->buffer + w->begin, *stop = memchr(start, '\n', w->end - w->begin);
        if (stop) {
            *line = (kw_word){start, (size_t)(stop - start)};
            w->begin += line->size + 1;
            return KW_OK;
        }
        memmove(w->buffer, start, w->end - w->begin);
        w->end -= w->begin;
        w->begin = 0;
        if (w->end > KW_CHILD_LINE_MAX) {
            return kw_fail(err, KW_MALFORMED, "a line of the input is longer than %d bytes", KW_CHILD_LINE_MAX);
        }
        ssize_t got = read(w->in, w->buffer + w->end, sizeof w->buffer - w->end);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            *ended = true;
            return KW_OK;
        }
        w->end += (size_t)got;
    }
}

static kw_status serve_job(kw_worker *w, bool *ended, kw_error *err) {
    kw_job_reader reader = {0};
    kw_status status = KW_OK;
    while (!status && !reader.complete) {
        kw_word line;
        status = read_job_line(w, &line, ended, err);
        if (status || *ended) {
            break;
        }
        status = kw_job_read(&reader, line, err);
    }
    if (!status && reader.complete) {
        kw_worker_allow_time(w, reader.job.count);
        status = kw_worker_run(w, &reader.job, err);
    }
    kw_job_drop(&reader);
    return status;
}

static kw_status open_worker_device(kw_worker *w, kw_error *err) {
    int index = 0;
    kw_status status = kw_backend_find(&w->backend, &index, w->options.device ? w->options.device : KW_DEFAULT_DEVICE, err);
    status = status ? status : w->backend->open(&w->device, index, (int)w->options.threads, err);
    if (!status && w->options.cache && *w->options.cache && !kw_jit_open_cache(&w->jit, w->options.cache)) {
        status = kw_fail(err, KW_ENVIRONMENT, "the cache of the kernels: %s", w->jit.cache_note);
    }
    return status;
}

static void close_worker(kw_worker *w) {
    if (w->device) {
        kw_worker_control_close(w);
        kw_bench_close(&w->bench);
        w->backend->close(&w->device);
    }
    kw_jit_close(&w->jit);
    kw_worker_status_close(&w->status_page);
}

int kw_worker_main(int count, char *const *arguments) {
    kw_error err = {0};
    kw_worker *w = calloc(1, sizeof *w);
    int code = KW_WORKER_USAGE;
    bool ended = false;
    kw_status status = w ? kw_worker_parse(&w->options, count, arguments, &err) : kw_fail_memory(&err, "a worker");
    if (!status) {
        code = KW_WORKER_ENVIRONMENT;
        status = kw_worker_confine(w, &err);
    }
    status = status ? status : open_worker_device(w, &err);
    if (status) {
        fprintf(stderr, "kwright worker: %s\n", err.text);
        goto out;
    }
    greet_parent(w);
    while (!status && !ended) {
        kw_worker_status_write(w->status_page, KW_WORKER_KERNEL_NONE, KW_WORKER_STEP_IDLE);
        status = serve_job(w, &ended, &err);
    }
    if (status) {
        answer_text(w, KW_ANSWER_ERROR, 0, err.text);
    }
    code = status ? KW_WORKER_BROKEN : KW_WORKER_DONE;
    if (status) {
        _exit(code); /* what a broken device still holds is not ours to clean up; the status page stays as it is */
    }
out:
    if (w) {
        close_worker(w);
    }
    free(w);
    return code;
}
