/* worker_attempt.c: sends a job, reads answers, watches the limits. Limits are looked at only when nothing is there to be read, so that a
 * parent that was suspended itself does not blame its child. */
#include "sweep/worker/worker_attempt.h"

#include "base/os/clock.h"
#include "sweep/worker/protocol.h"
#include "sweep/worker/worker.h"

#include <stdio.h>
#include <string.h>

static const int64_t send_limit_ns = 10000000000, patience_ns = 100000000;

/* --- blame ----------------------------------------------------------------------------------------------------------- */

static void describe_end(char *text, size_t capacity, const kw_child_end *end) {
    if (end->killed || (end->known && end->exit_code == KW_WORKER_OUTPUT_LOST)) {
        snprintf(text, capacity, "its worker's descriptors were closed");
    } else if (!end->known) {
        snprintf(text, capacity, "its worker ended");
    } else if (end->signal) {
        const char *name = sigabbrev_np(end->signal);
        snprintf(text, capacity, "signal %d%s%s%s", end->signal, name ? " (SIG" : "", name ? name : "", name ? ")" : "");
    } else {
        snprintf(text, capacity, "exit code %d", end->exit_code);
    }
}

/* progress: what was going on; what: how it ended. */
static void set_suspect(kw_worker_attempt *a, const kw_worker_progress *progress, kw_outcome outcome, const char *what) {
    kw_worker_fault *fault = &a->fault;
    bool kernels = progress->step != KW_WORKER_STEP_IDLE && progress->step != KW_WORKER_STEP_PREPARE;
    bool known = (progress->kernel == KW_WORKER_KERNEL_CONTROL && a->job->control.config) ||
                 (progress->kernel >= 0 && (size_t)progress->kernel < a->job->count);
    fault->kernel = kernels && known ? progress->kernel : KW_FAULT_KERNEL_NONE;
    fault->outcome = outcome;
    const char *when = kernels                                    ? kw_worker_step_name(progress->step)
                       : progress->step == KW_WORKER_STEP_PREPARE ? "given its data"
                                                                  : "waiting";
    snprintf(fault->text, sizeof fault->text, "%.90s while it was %s", what, when);
    kw_word words = kw_child_error_tail(a->child);
    snprintf(fault->words, sizeof fault->words, "%.*s", (int)(words.size < sizeof fault->words ? words.size : sizeof fault->words - 1),
             words.size ? words.at : "");
    for (char *c = fault->words; *c; c++) {
        *c = (unsigned char)*c < ' ' || (unsigned char)*c > '~' ? ' ' : *c;
    }
}

/* The child ended, or said why it will. */
static void lose_ended(kw_worker_attempt *a, const char *said) {
    char what[100];
    kw_child_end end = kw_child_stop(a->child, patience_ns);
    kw_worker_progress progress = kw_worker_status_read(a->status_page);
    describe_end(what, sizeof what, &end);
    set_suspect(a, &progress, KW_CRASHED, *said ? said : what);
}

/* What is no answer may have been written by any kernel that ran since the last one. */
static void lose_garbled(kw_worker_attempt *a, const char *why) {
    char what[100];
    kw_worker_progress progress = kw_worker_status_read(a->status_page);
    kw_child_stop(a->child, 0);
    snprintf(what, sizeof what, "no answer of a worker: %.70s", why);
    set_suspect(a, &progress, KW_CRASHED, what);
    a->fault.kernel = KW_FAULT_KERNEL_UNKNOWN;
}

/* Whether a limit is passed; then the child is gone. */
static bool lose_late(kw_worker_attempt *a, int64_t start_ns) {
    char what[100];
    kw_worker_progress progress = kw_worker_status_read(a->status_page);
    int64_t now = kw_clock_ns();
    bool steps = progress.step != KW_WORKER_STEP_IDLE && progress.step != KW_WORKER_STEP_PREPARE;
    if (steps && now - progress.at_ns > a->kernel_limit_ns) {
        snprintf(what, sizeof what, "no end after %.1f s", (double)(now - progress.at_ns) / 1e9);
    } else if (now - start_ns > a->batch_limit_ns) {
        snprintf(what, sizeof what, "the batch had no end after %.1f s", (double)(now - start_ns) / 1e9);
    } else {
        return false;
    }
    kw_child_stop(a->child, 0);
    set_suspect(a, &progress, KW_TIMED_OUT, what);
    return true;
}

/* --- answers --------------------------------------------------------------------------------------------------------- */

static bool take_record(kw_worker_attempt *a, const kw_answer *answer) {
    size_t index = (size_t)answer->number;
    bool reason = answer->record.outcome != KW_UNTRIED || *answer->record.detail;
    if (index >= a->job->count || a->answered[index] || !reason) {
        return false;
    }
    kw_record *record = &a->records[index];
    *record = answer->record;
    kw_config_print(record->config, sizeof record->config, a->job->kernels[index].config);
    a->answered[index] = true;
    return true;
}

static bool all_answered(const kw_worker_attempt *a) {
    size_t count = 0;
    for (size_t i = 0; i < a->job->count; i++) {
        count += a->answered[i];
    }
    return count == a->job->count;
}

/* false: the line has no place here. said gets the worker's own words about its end. */
static bool read_worker_answer(kw_worker_attempt *a, const kw_answer *answer, bool *done, char said[100]) {
    switch (answer->kind) {
    case KW_ANSWER_RECORD:
        return take_record(a, answer);
    case KW_ANSWER_CONTROL:
        a->control = answer->record;
        a->control_ns = answer->record.outcome == KW_GOOD ? answer->record.time_ns : 0;
        a->drift = answer->record.outcome == KW_GOOD ? answer->value : 0;
        return a->job->control.config != NULL;
    case KW_ANSWER_DONE:
        a->kernel_ns = answer->value;
        *done = true;
        return all_answered(a);
    case KW_ANSWER_ERROR:
        snprintf(said, 100, "%.99s", answer->text);
        return true;
    default:
        return false;
    }
}

static kw_status send_job(const kw_worker_attempt *a, bool *sent, kw_error *err) {
    kw_text text = {0};
    kw_job_print(&text, a->job);
    kw_status status = text.failed ? kw_fail_memory(err, "a job") : KW_OK;
    *sent = !status && kw_child_send(a->child, text.data, text.size, send_limit_ns);
    kw_text_drop(&text);
    return status;
}

kw_status kw_worker_attempt_run(kw_worker_attempt *a, kw_worker_attempt_end *end, kw_error *err) {
    char said[100] = "";
    bool sent = false, done = false;
    int64_t start = kw_clock_ns();
    kw_status status = send_job(a, &sent, err);
    if (status) {
        return status;
    }
    *end = KW_WORKER_ATTEMPT_LOST;
    while (!done) {
        kw_word line = {0};
        kw_answer answer = {0};
        kw_error why = {0};
        if (kw_stop_requested(a->stop)) {
            kw_child_stop(a->child, 0);
            *end = KW_WORKER_ATTEMPT_STOPPED;
            return KW_OK;
        }
        switch (kw_child_read(a->child, kw_clock_ns() + KW_WORKER_CLIENT_TICK_NS, &line)) {
        case KW_CHILD_LINE:
            if (kw_answer_read(&answer, line, &why) || !read_worker_answer(a, &answer, &done, said)) {
                char text[64];
                snprintf(text, sizeof text, "%.*s", (int)(line.size < 50 ? line.size : 50), line.at);
                kw_fail(&why, KW_MALFORMED, "%s", text); /* makes one clean line of it */
                lose_garbled(a, why.text);
                return KW_OK;
            }
            break;
        case KW_CHILD_LONG:
            lose_garbled(a, "a line without end");
            return KW_OK;
        case KW_CHILD_ENDED:
            lose_ended(a, said);
            return KW_OK;
        case KW_CHILD_QUIET:
            if (lose_late(a, start)) {
                return KW_OK;
            }
            break;
        }
    }
    *end = KW_WORKER_ATTEMPT_DONE;
    return KW_OK;
}
