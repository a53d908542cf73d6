/* child.c: posix_spawn with a socket pair and a pipe. The socket makes MSG_NOSIGNAL possible; the pipe is drained whenever the child is read,
 * and all but its last bytes are dropped, so that a child that prints without end fills no memory and no disk.
 *
 * Descriptors are moved above the numbers that the child gets, since a host program may have closed 0, 1 or 2. The end of the socket does
 * not tell that the child ended, for what it has forked may hold it; so its state is asked for whenever it is quiet. */
#include "base/os/process/child.h"

#include "base/os/clock.h"
#include "base/os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const int64_t reap_limit_ns = 10000000000, glance_ns = 2000000;

static void close_all(const int descriptors[], size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (descriptors[i] >= 0) {
            close(descriptors[i]);
        }
    }
}

/* ends: the socket here and there, the pipe here and there. */
static bool open_ends(int ends[4]) {
    int sockets[2] = {-1, -1}, pipes[2] = {-1, -1};
    bool good = !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) && !pipe2(pipes, O_CLOEXEC | O_NONBLOCK);
    ends[0] = kw_descriptor_move_up(sockets[0]);
    ends[1] = kw_descriptor_move_up(sockets[1]);
    ends[2] = kw_descriptor_move_up(pipes[0]);
    ends[3] = kw_descriptor_move_up(pipes[1]);
    for (int i = 0; i < 4; i++) {
        good = good && ends[i] >= 0;
    }
    return good && !fcntl(ends[3], F_SETFL, 0); /* the child's end blocks: a full pipe makes it wait */
}

static int spawn(pid_t *pid, const char *const argv[], const int ends[4], int handed) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[3], 2);
    if (handed >= 0) {
        posix_spawn_file_actions_adddup2(&actions, handed, KW_CHILD_HANDED);
    }
#if __GLIBC_PREREQ(2, 34)
    posix_spawn_file_actions_addclosefrom_np(&actions, handed >= 0 ? KW_CHILD_HANDED + 1 : KW_CHILD_HANDED);
#endif
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int code = posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)(uintptr_t)argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

kw_status kw_child_start(kw_child *child, const char *const argv[], int handed, kw_error *err) {
    int ends[4] = {-1, -1, -1, -1};
    pid_t pid = 0;
    char why[128];
    *child = (kw_child){0};
    int own = handed >= 0 ? fcntl(handed, F_DUPFD_CLOEXEC, KW_DESCRIPTOR_FIRST) : -1;
    int code = (handed >= 0 && own < 0) || !open_ends(ends) ? errno : spawn(&pid, argv, ends, own);
    close_all((int[]){ends[1], ends[3], own}, 3);
    if (code) {
        close_all((int[]){ends[0], ends[2]}, 2);
        return kw_fail(err, KW_ENVIRONMENT, "cannot start %s: %s", argv[0], strerror_r(code, why, sizeof why));
    }
    child->pid = pid;
    child->lines = ends[0];
    child->errors = ends[2];
    return KW_OK;
}

/* --- talking --------------------------------------------------------------------------------------------------------- */

/* Reads what there is of standard error, at most a pipe's worth, and keeps the end of it. */
static void drain_errors(kw_child *child) {
    char piece[4096];
    for (int i = 0; i < 16; i++) {
        ssize_t got = read(child->errors, piece, sizeof piece);
        if (got <= 0) {
            return;
        }
        size_t take = (size_t)got < sizeof child->tail ? (size_t)got : sizeof child->tail;
        size_t room = sizeof child->tail - take, keep = child->tail_size < room ? child->tail_size : room;
        memmove(child->tail, child->tail + child->tail_size - keep, keep);
        memcpy(child->tail + keep, piece + (size_t)got - take, take);
        child->tail_size = keep + take;
    }
}

/* poll for lines in the given direction and for errors; false when nothing came in time. Times are clipped to a millisecond and a
 * minute. */
static bool wait_for(kw_child *child, short events, int64_t until_ns) {
    int64_t left = (until_ns - kw_clock_ns() + 999999) / 1000000;
    struct pollfd wanted[2] = {{.fd = child->lines, .events = events}, {.fd = child->errors, .events = POLLIN}};
    int count = poll(wanted, 2, left < 0 ? 0 : left > 60000 ? 60000 : (int)left);
    if (count > 0 && wanted[1].revents & POLLIN) {
        drain_errors(child);
    } else if (count > 0 && wanted[1].revents && !wanted[0].revents) {
        struct timespec glance = {.tv_nsec = glance_ns}; /* its standard error is closed, which poll keeps telling */
        nanosleep(&glance, NULL);
    }
    return count > 0 && wanted[0].revents;
}

bool kw_child_send(kw_child *child, const char *bytes, size_t size, int64_t limit_ns) {
    int64_t until = kw_clock_ns() + limit_ns;
    for (size_t sent = 0; sent < size;) {
        ssize_t got = send(child->lines, bytes + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (got > 0) {
            sent += (size_t)got;
        } else if (errno != EAGAIN && errno != EINTR) {
            return false;
        } else if (kw_clock_ns() > until) {
            return false;
        } else {
            wait_for(child, POLLOUT, until);
        }
    }
    return true;
}

/* The next whole line of the buffer. */
static bool take_child_line(kw_child *child, kw_word *line) {
    char *start = child->buffer + child->begin;
    char *stop = memchr(start, '\n', child->end - child->begin);
    if (!stop) {
        memmove(child->buffer, start, child->end - child->begin);
        child->end -= child->begin;
        child->begin = 0;
        return false;
    }
    *line = (kw_word){start, (size_t)(stop - start)};
    child->begin += line->size + 1;
    return true;
}

/* Whether more was read, or the end was met. */
static ssize_t fill_child_buffer(kw_child *child) {
    ssize_t got = recv(child->lines, child->buffer + child->end, sizeof child->buffer - child->end, MSG_DONTWAIT);
    if (got > 0) {
        child->end += (size_t)got;
    }
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? -1 : got < 0 ? 0 : got;
}

kw_child_event kw_child_read(kw_child *child, int64_t until_ns, kw_word *line) {
    for (;;) {
        if (take_child_line(child, line)) {
            return line->size <= KW_CHILD_LINE_MAX ? KW_CHILD_LINE : KW_CHILD_LONG;
        }
        if (child->end > KW_CHILD_LINE_MAX) {
            return KW_CHILD_LONG;
        }
        ssize_t got = fill_child_buffer(child);
        if (got > 0) {
            continue;
        }
        if (got == 0) {
            return KW_CHILD_ENDED;
        }
        if (!wait_for(child, POLLIN, until_ns)) {
            bool gone = kw_child_has_exited(child);
            if (gone && fill_child_buffer(child) <= 0) {
                return KW_CHILD_ENDED;
            }
            if (!gone) {
                return KW_CHILD_QUIET;
            }
        }
    }
}

/* --- ending ---------------------------------------------------------------------------------------------------------- */

bool kw_child_has_exited(const kw_child *child) {
    siginfo_t info = {0};
    return !child->pid || waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

static bool wait_until_gone(kw_child *child, int64_t limit_ns) {
    int64_t until = kw_clock_ns() + limit_ns;
    while (!kw_child_has_exited(child)) {
        if (kw_clock_ns() > until) {
            return false;
        }
        struct timespec glance = {.tv_nsec = glance_ns};
        drain_errors(child);
        nanosleep(&glance, NULL);
    }
    return true;
}

kw_child_end kw_child_stop(kw_child *child, int64_t patience_ns) {
    kw_child_end end = {0};
    int status = 0;
    if (!child->pid) {
        return end;
    }
    shutdown(child->lines, SHUT_WR);
    end.killed = !wait_until_gone(child, patience_ns);
    kill(-child->pid, SIGKILL); /* before it is reaped, so that the number is still its own; also for what it has left behind */
    wait_until_gone(child, reap_limit_ns);
    end.known = waitpid(child->pid, &status, WNOHANG) == child->pid;
    end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    drain_errors(child);
    close(child->lines);
    close(child->errors);
    child->pid = 0;
    return end;
}

kw_word kw_child_error_tail(const kw_child *child) {
    size_t end = child->tail_size;
    while (end && (unsigned char)child->tail[end - 1] <= ' ') {
        end--;
    }
    size_t begin = end;
    while (begin && child->tail[begin - 1] != '\n') {
        begin--;
    }
    return (kw_word){child->tail + begin, end - begin};
}
