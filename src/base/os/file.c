/* file.c: whole files, output that is there whole or not at all, folders. */
#include "base/os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

kw_status kw_fail_file(kw_error *err, const char *verb, const char *path) {
    char why[128];
    int code = errno;
    const char *text = strerror_r(code, why, sizeof why);
    return kw_fail(err, code == ENOENT ? KW_MISSING : KW_IO, "cannot %s %s: %s", verb, path, text);
}

ptrdiff_t kw_file_fill(int fd, void *data, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t got = read(fd, (char *)data + done, size - done);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -1;
        }
        if (!got) {
            break;
        }
        done += (size_t)got;
    }
    return (ptrdiff_t)done;
}

/* write, where a limit on the size of files (RLIMIT_FSIZE) is an errno and not a signal that ends the process: EFBIG is told as a full disk is. */
static ssize_t write_within_limit(int fd, const void *data, size_t size) {
    sigset_t limit, before;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    ssize_t put = write(fd, data, size);
    int code = errno;
    if (put < 0 && code == EFBIG && !sigismember(&before, SIGXFSZ)) {
        sigtimedwait(&limit, NULL, &(struct timespec){0}); /* it was for this thread and this write */
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return put;
}

bool kw_file_write(int fd, const void *data, size_t size) {
    const char *at = data;
    while (size) {
        ssize_t put = write_within_limit(fd, at, size);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return false;
        }
        at += put;
        size -= (size_t)put;
    }
    return true;
}

kw_status kw_file_read(kw_arena *arena, const char *path, size_t limit, char **data, size_t *size, kw_error *err) {
    kw_status status = KW_OK;
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &info)) {
        status = kw_fail_file(err, "read", path);
        goto out;
    }
    if (!S_ISREG(info.st_mode)) {
        status = kw_fail(err, KW_IO, "cannot read %s: not a regular file", path);
        goto out;
    }
    if ((uint64_t)info.st_size > limit) {
        status = kw_fail(err, KW_ILLEGAL, "%s has %lld bytes; at most %zu are read", path, (long long)info.st_size, limit);
        goto out;
    }
    char *memory = kw_arena_alloc(arena, (size_t)info.st_size + 1);
    if (!memory) {
        status = kw_fail_memory(err, path);
        goto out;
    }
    ptrdiff_t got = kw_file_fill(fd, memory, (size_t)info.st_size);
    if (got < 0) {
        status = kw_fail_file(err, "read", path);
        goto out;
    }
    *data = memory;
    *size = (size_t)got;
out:
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

/* --- output ----------------------------------------------------------------------------------------------------- */

char *kw_path_follow(const char *path) {
    char *now = realpath(path, NULL), *next = NULL;
    char target[4096];
    if (now || errno == ENOMEM) {
        return now;
    }
    now = strdup(path); /* the file is still to be made: links that lead nowhere yet are followed by hand */
    for (int links = 0; now && links < 40; links++) {
        ssize_t length = readlink(now, target, sizeof target - 1);
        if (length < 0) {
            break;
        }
        target[length] = 0;
        const char *slash = strrchr(now, '/');
        size_t folder = *target == '/' || !slash ? 0 : (size_t)(slash - now) + 1;
        next = malloc(folder + (size_t)length + 1);
        if (next) {
            memcpy(next, now, folder);
            memcpy(next + folder, target, (size_t)length + 1);
        }
        free(now);
        now = next;
    }
    return now;
}

/* A file without a name where the file system can make one: a process that is killed leaves nothing behind. Else one of a name that nobody
 * has, which is set. */
static int open_beside(kw_output *output, mode_t mode) {
    size_t length = strlen(output->path);
    char *slash = strrchr(output->path, '/');
    char *folder = slash ? strndup(output->path, (size_t)(slash - output->path) + 1) : strdup(".");
    int fd = folder ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode) : -1;
    free(folder);
    output->temporary = malloc(length + 8);
    if (!output->temporary) {
        if (fd >= 0) {
            close(fd);
        }
        errno = ENOMEM;
        return -1;
    }
    output->unnamed = fd >= 0;
    for (int i = 0; i < 64; i++) {
        uint32_t random = 0;
        if (getrandom(&random, sizeof random, 0) != sizeof random) {
            break;
        }
        snprintf(output->temporary, length + 8, "%s.%06x", output->path, random & 0xffffff);
        if (output->unnamed) {
            return fd;
        }
        fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST) {
            return fd;
        }
    }
    return -1;
}

kw_status kw_output_open(kw_output *output, const char *path, unsigned mode, kw_error *err) {
    struct stat info;
    *output = (kw_output){.fd = -1, .path = kw_path_follow(path)};
    if (!output->path) {
        return kw_fail_memory(err, path);
    }
    bool there = !stat(output->path, &info);
    if (!there && errno != ENOENT) { /* links that go round, a folder that may not be entered */
        return kw_output_close(output, kw_fail_file(err, "write", path), err);
    }
    if (there && !S_ISREG(info.st_mode)) { /* a pipe, a device: nothing to replace */
        output->fd = open(output->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    } else {
        output->fd = open_beside(output, there ? info.st_mode & 0777 : (mode_t)mode);
    }
    if (output->fd >= 0) {
        return KW_OK;
    }
    kw_status status = errno == ENOMEM ? kw_fail_memory(err, path) : kw_fail_file(err, "write", path);
    free(output->temporary);
    output->temporary = NULL;
    return kw_output_close(output, status, err);
}

/* Gives the written file its name. A link is never made over a file that is there, so where there is one it takes two steps. */
static bool place(kw_output *output) {
    char self[64];
    if (!output->unnamed) {
        return !rename(output->temporary, output->path);
    }
    snprintf(self, sizeof self, "/proc/self/fd/%d", output->fd);
    if (!linkat(AT_FDCWD, self, AT_FDCWD, output->path, AT_SYMLINK_FOLLOW)) {
        return true;
    }
    if (errno != EEXIST || linkat(AT_FDCWD, self, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW)) {
        return false;
    }
    output->unnamed = false;
    return !rename(output->temporary, output->path);
}

kw_status kw_output_close(kw_output *output, kw_status status, kw_error *err) {
    if (!status && output->temporary && (fsync(output->fd) || !place(output))) {
        status = kw_fail_file(err, "write", output->path);
    }
    if (output->fd >= 0 && close(output->fd) && !status) {
        status = kw_fail_file(err, "write", output->path);
    }
    if (status && output->temporary && !output->unnamed) {
        unlink(output->temporary);
    }
    free(output->temporary);
    free(output->path);
    *output = (kw_output){.fd = -1};
    return status;
}

kw_status kw_file_replace(const char *path, const void *data, size_t size, unsigned mode, kw_error *err) {
    kw_output output;
    kw_status status = kw_output_open(&output, path, mode, err);
    if (status) {
        return status;
    }
    if (!kw_file_write(output.fd, data, size)) {
        status = kw_fail_file(err, "write", path);
    }
    return kw_output_close(&output, status, err);
}

/* --- folders ---------------------------------------------------------------------------------------------------- */

kw_status kw_folder_make(const char *path, kw_error *err) {
    char *copy = strdup(path);
    if (!copy) {
        return kw_fail_memory(err, path);
    }
    kw_status status = KW_OK;
    for (char *slash = copy + 1; !status && slash;) {
        slash = *slash ? strchr(slash, '/') : NULL;
        if (slash) {
            *slash = 0;
        }
        if (mkdir(copy, 0700) && errno != EEXIST) {
            status = kw_fail_file(err, "make folder", copy);
        }
        if (slash) {
            *slash++ = '/';
        }
    }
    free(copy);
    return status;
}

const char *kw_folder_user(kw_arena *arena, const char *variable, const char *xdg, const char *home_part) {
    const char *own = secure_getenv(variable);
    if (own && *own) {
        return kw_arena_copy(arena, own, strlen(own));
    }
    const char *base = secure_getenv(xdg);
    if (base && *base == '/') {
        return kw_arena_format(arena, "%s/kernelwright", base);
    }
    const char *home = secure_getenv("HOME");
    return home && *home == '/' ? kw_arena_format(arena, "%s/%s/kernelwright", home, home_part) : "";
}

int kw_descriptor_move_up(int fd) {
    if (fd < 0 || fd >= KW_DESCRIPTOR_FIRST) {
        return fd;
    }
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, KW_DESCRIPTOR_FIRST), why = errno;
    close(fd);
    errno = why;
    return moved;
}
