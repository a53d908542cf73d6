/* process.c: vfork and exec, a pipe for what is printed, a lifeline, one wait. Safe from many threads: nothing is inherited but the pipe's end that is meant to be,
 * because every descriptor of this project is opened close-on-exec. */
#include "base/os/process/process.h"

#include "base/os/clock.h"
#include "base/os/file.h"
#include "base/os/process/lifeline.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { OUTPUT_LIMIT = 1 << 20, STOP_MS = 100, LIFELINE = 3 };

/* The environment with LC_ALL=C in front, and TMPDIR where one is given. */
typedef struct environment {
    char **words; /* of which only the array is ours, and temporary */
    char *temporary;
} environment;

static void drop_environment(environment *e) {
    free(e->words);
    free(e->temporary);
}

static bool make_environment(environment *e, const char *temporary) {
    size_t count = 0, used = 0;
    while (environ[count]) {
        count++;
    }
    *e = (environment){.words = calloc(count + 3, sizeof *e->words)};
    if (!e->words || (temporary && asprintf(&e->temporary, "TMPDIR=%s", temporary) < 0)) {
        e->temporary = e->words ? NULL : e->temporary;
        return false;
    }
    static char locale[] = "LC_ALL=C";
    e->words[used++] = locale;
    if (temporary) {
        e->words[used++] = e->temporary;
    }
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], "LC_ALL=", 7) && (!temporary || strncmp(environ[i], "TMPDIR=", 7))) {
            e->words[used++] = environ[i];
        }
    }
    return true;
}

/* When a child has to end. */
typedef struct bounds {
    int64_t deadline;    /* 0: never */
    const kw_stop *stop; /* may be NULL */
} bounds;

static bool is_past_deadline(const bounds *limits) {
    return (limits->deadline && kw_clock_ns() >= limits->deadline) || kw_stop_requested(limits->stop);
}

/* How long to wait before looking at the limits again. */
static int pause_ms(const bounds *limits) {
    int pause = limits->stop ? STOP_MS : -1;
    if (limits->deadline) {
        int64_t left = (limits->deadline - kw_clock_ns()) / 1000000;
        int64_t most = limits->stop ? STOP_MS : 1000;
        pause = (int)(left < 0 ? 0 : left > most ? most : left);
    }
    return pause;
}

static void collect_output(int fd, kw_text *output, pid_t child, const bounds *limits, bool *timed_out) {
    char piece[4096];
    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        int count = poll(&ready, 1, *timed_out ? -1 : pause_ms(limits));
        if (!*timed_out && is_past_deadline(limits)) {
            *timed_out = true;
            kill(-child, SIGKILL);
            continue;
        }
        if (count <= 0) {
            continue;
        }
        ssize_t got = read(fd, piece, sizeof piece);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return;
        }
        if (output && output->size < OUTPUT_LIMIT) {
            kw_text_add_bytes(output, piece, (size_t)got);
        }
    }
}

/* In the child of a vfork, whose memory is its parent's: system calls only. What was caught is not caught any more, so that no handler of
 * the host's runs here. */
static bool enter_group(const kw_lifeline *line, int output, pid_t parent) {
    struct sigaction action, usual = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int number = 1; number < NSIG; number++) {
        if (!sigaction(number, NULL, &action) && action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL) {
            sigaction(number, &usual, NULL);
        }
    }
    int nothing = open("/dev/null", O_RDONLY);
    if (setpgid(0, 0) || nothing < 0 || dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0 ||
        dup2(line->given, LIFELINE) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL)) {
        return false;
    }
    if (nothing > LIFELINE) {
        close(nothing);
    }
    kw_lifeline_tie(line, getpid());
    if (getppid() != parent) {
        _exit(1); /* it died before it could be followed */
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    return true;
}

/* Starts the job; 0, or an errno. vfork, since what makes the child end with its parent is to be done before its program begins: a parent
 * that was killed between the start of a child and the naming of its group would leave it. */
static int spawn_process(pid_t *child, const kw_process_job *job, char **words, int output, const kw_lifeline *line) {
    sigset_t all, before;
    volatile int failed = 0;
    const pid_t parent = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t made = vfork();
    if (!made) {
        if (enter_group(line, output, parent)) {
            execvpe(job->argv[0], (char *const *)(uintptr_t)job->argv, words);
        }
        failed = errno;
        _exit(127);
    }
    int code = made < 0 ? errno : failed;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made > 0 && code) {
        waitpid(made, NULL, 0);
    }
    *child = made;
    return code;
}

static kw_status wait_for_process(kw_process_result *result, pid_t child, const char *name, kw_error *err) {
    int wait_status = 0;
    struct rusage usage;
    while (wait4(child, &wait_status, 0, &usage) < 0) {
        if (errno != EINTR) {
            return kw_fail(err, KW_ENVIRONMENT, "lost the process of %s (is SIGCHLD ignored?)", name);
        }
    }
    result->exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
    result->signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    result->cpu_ns = ((int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
                     ((int64_t)usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
    return KW_OK;
}

kw_status kw_process_run(const char *const argv[], int64_t limit_ns, kw_text *output, kw_process_result *result, kw_error *err) {
    return kw_process_run_job(&(kw_process_job){.argv = argv, .limit_ns = limit_ns}, output, result, err);
}

kw_status kw_process_run_job(const kw_process_job *job, kw_text *output, kw_process_result *result, kw_error *err) {
    kw_status status = KW_OK;
    int ends[2] = {-1, -1};
    pid_t child = 0;
    environment e;
    kw_lifeline line = {-1, -1};
    *result = (kw_process_result){0};
    bool memory = make_environment(&e, job->temporary);
    bool pipes = memory && !pipe2(ends, O_CLOEXEC);
    ends[0] = kw_descriptor_move_up(ends[0]);
    ends[1] = kw_descriptor_move_up(ends[1]);
    if (!pipes || ends[0] < 0 || ends[1] < 0 || !kw_lifeline_open(&line)) {
        status = kw_fail(err, KW_ENVIRONMENT, "cannot start %s: %s", job->argv[0], memory ? strerrordesc_np(errno) : "out of memory");
        goto out;
    }
    int code = spawn_process(&child, job, e.words, ends[1], &line);
    close(ends[1]);
    ends[1] = -1;
    if (code) {
        status = kw_fail(err, KW_ENVIRONMENT, "cannot start %s: %s", job->argv[0], strerrordesc_np(code));
        goto out;
    }
    bounds limits = {job->limit_ns ? kw_clock_ns() + job->limit_ns : 0, job->stop};
    collect_output(ends[0], output, child, &limits, &result->timed_out);
    status = wait_for_process(result, child, job->argv[0], err);
out:
    kw_lifeline_close(&line);
    if (ends[0] >= 0) {
        close(ends[0]);
    }
    if (ends[1] >= 0) {
        close(ends[1]);
    }
    drop_environment(&e);
    return status;
}
