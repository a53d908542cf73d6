/* file.c: whole files, atomic replacement, folders. */
#include "base/os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

bool kw_file_write(int fd, const void *data, size_t size) {
    const char *at = data;
    while (size) {
        ssize_t put = write(fd, at, size);
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

kw_status kw_file_replace(const char *path, const void *data, size_t size, unsigned mode, kw_error *err) {
    kw_status status = KW_OK;
    int fd = -1;
    size_t length = strlen(path);
    char *temporary = malloc(length + 8);
    if (!temporary) {
        return kw_fail_memory(err, path);
    }
    memcpy(temporary, path, length);
    memcpy(temporary + length, ".XXXXXX", 8);
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        status = kw_fail_file(err, "write", temporary);
        goto out;
    }
    if (!kw_file_write(fd, data, size) || fchmod(fd, (mode_t)mode) || fsync(fd)) {
        status = kw_fail_file(err, "write", temporary);
        goto out;
    }
    int closed = close(fd);
    fd = -1;
    if (closed || rename(temporary, path)) {
        status = kw_fail_file(err, "write", path);
    }
out:
    if (fd >= 0) {
        close(fd);
    }
    if (status) {
        unlink(temporary);
    }
    free(temporary);
    return status;
}

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

char *kw_folder_user(kw_arena *arena, const char *variable, const char *xdg, const char *home_part) {
    const char *own = secure_getenv(variable);
    if (own && *own) {
        return kw_arena_copy(arena, own, strlen(own));
    }
    const char *base = secure_getenv(xdg);
    if (base && *base == '/') {
        return kw_arena_format(arena, "%s/kernelwright", base);
    }
    const char *home = secure_getenv("HOME");
    return home && *home == '/' ? kw_arena_format(arena, "%s/%s/kernelwright", home, home_part) : NULL;
}
