/* process.c: posix_spawn, one pipe, one wait. Safe from many threads: nothing is inherited but the pipe's end that is meant to be,
 * because every descriptor of this project is opened close-on-exec. */
#include "base/os/process.h"

#include "base/os/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { OUTPUT_LIMIT = 1 << 20, STOP_MS = 100 };

/* The environment with LC_ALL=C in front; the caller frees the array. */
static char **plain_environment(void) {
    size_t count = 0;
    while (environ[count]) {
        count++;
    }
    char **copy = calloc(count + 2, sizeof *copy);
    if (!copy) {
        return NULL;
    }
    static char locale[] = "LC_ALL=C";
    size_t used = 0;
    copy[used++] = locale;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], "LC_ALL=", 7)) {
            copy[used++] = environ[i];
        }
    }
    return copy;
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

kw_status kw_process_run(const char *const argv[], int64_t limit_ns, kw_text *output, kw_process_result *result, kw_error *err) {
    return kw_process_run_until(argv, limit_ns, NULL, output, result, err);
}

kw_status kw_process_run_until(const char *const argv[], int64_t limit_ns, const kw_stop *stop, kw_text *output, kw_process_result *result,
                               kw_error *err) {
    kw_status status = KW_OK;
    int ends[2] = {-1, -1};
    pid_t child = 0;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char **environment = plain_environment();
    *result = (kw_process_result){0};
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    if (!environment || pipe2(ends, O_CLOEXEC)) {
        status = kw_fail(err, KW_ENVIRONMENT, "cannot start %s: %s", argv[0], environment ? "no pipe" : "out of memory");
        goto out;
    }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    /* Its own group, so that a time limit also ends what the child started. */
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    int code = posix_spawnp(&child, argv[0], &actions, &attributes, (char *const *)(uintptr_t)argv, environment);
    close(ends[1]);
    ends[1] = -1;
    if (code) {
        char why[128];
        status = kw_fail(err, KW_ENVIRONMENT, "cannot start %s: %s", argv[0], strerror_r(code, why, sizeof why));
        goto out;
    }
    bounds limits = {limit_ns ? kw_clock_ns() + limit_ns : 0, stop};
    collect_output(ends[0], output, child, &limits, &result->timed_out);
    int wait_status = 0;
    struct rusage usage;
    while (wait4(child, &wait_status, 0, &usage) < 0) {
        if (errno != EINTR) {
            status = kw_fail(err, KW_ENVIRONMENT, "lost the process of %s (is SIGCHLD ignored?)", argv[0]);
            goto out;
        }
    }
    result->exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
    result->signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    result->cpu_ns = ((int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
                     ((int64_t)usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
out:
    if (ends[0] >= 0) {
        close(ends[0]);
    }
    if (ends[1] >= 0) {
        close(ends[1]);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return status;
}
