/* temp_folder.c: see temp_folder.h. */
#include "base/os/temp_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BEGIN "kernelwright-"

enum { TRIES = 16, RANDOM_LETTERS = 6, DEPTH_MAX = 8 };

static const char *temp_base(void) {
    const char *base = secure_getenv("TMPDIR");
    return base && *base == '/' ? base : NULL;
}

static int open_at(int at, const char *name) {
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Makes one and takes its lock; -1 and *swept when a sweep of another process was faster, -1 alone when it cannot be made. */
static int make_locked(char path[KW_TEMP_FOLDER_MAX], const char *base, bool *swept) {
    struct stat info;
    *swept = false;
    if (snprintf(path, KW_TEMP_FOLDER_MAX, "%s/" NAME_BEGIN "XXXXXX", base) >= KW_TEMP_FOLDER_MAX || !mkdtemp(path)) {
        return -1;
    }
    int fd = open_at(AT_FDCWD, path);
    if (fd < 0) {
        *swept = errno == ENOENT;
        rmdir(path);
        return -1;
    }
    /* A file system without locks is no obstacle: there, a sweep has none to take either, and removes nothing. */
    *swept = (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) || fstat(fd, &info) || !info.st_nlink;
    if (*swept) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool make_in(kw_temp_folder *folder, const char *base) {
    bool swept = true;
    for (int i = 0; base && swept && i < TRIES; i++) {
        folder->fd = make_locked(folder->path, base, &swept);
        if (folder->fd >= 0) {
            return true;
        }
    }
    *folder->path = 0;
    return false;
}

kw_status kw_temp_folder_make(kw_temp_folder *folder, kw_error *err) {
    const char *base = temp_base();
    *folder = (kw_temp_folder){.fd = -1};
    if (!make_in(folder, base) && !make_in(folder, "/tmp")) {
        return kw_fail(err, KW_ENVIRONMENT, "cannot make a temporary folder in %.200s or /tmp (%s); set TMPDIR to one that can be written",
                       base ? base : "$TMPDIR", strerrordesc_np(errno));
    }
    return KW_OK;
}

/* What is in an opened folder, and in those below it. */
static void empty_folder(int folder, int depth) {
    int list_fd = open_at(folder, ".");
    DIR *list = list_fd >= 0 ? fdopendir(list_fd) : NULL;
    if (!list) {
        if (list_fd >= 0) {
            close(list_fd);
        }
        return;
    }
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || !unlinkat(folder, entry->d_name, 0)) {
            continue;
        }
        int below = depth < DEPTH_MAX ? open_at(folder, entry->d_name) : -1;
        if (below >= 0) {
            empty_folder(below, depth + 1);
            close(below);
            unlinkat(folder, entry->d_name, AT_REMOVEDIR);
        }
    }
    closedir(list);
}

void kw_temp_folder_remove(kw_temp_folder *folder) {
    if (!*folder->path) {
        return;
    }
    empty_folder(folder->fd, 0);
    rmdir(folder->path);
    close(folder->fd);
    *folder = (kw_temp_folder){.fd = -1};
}

/* Removes a folder of this user that nobody holds. */
static void sweep_one(int base, const char *name) {
    struct stat info;
    int fd = open_at(base, name);
    if (fd >= 0 && !fstat(fd, &info) && info.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB)) {
        empty_folder(fd, 0);
        unlinkat(base, name, AT_REMOVEDIR);
    }
    if (fd >= 0) {
        close(fd);
    }
}

static void sweep_base(const char *base) {
    DIR *list = base ? opendir(base) : NULL;
    if (!list) {
        return;
    }
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        if (!strncmp(entry->d_name, NAME_BEGIN, strlen(NAME_BEGIN)) && strlen(entry->d_name) == strlen(NAME_BEGIN) + RANDOM_LETTERS) {
            sweep_one(dirfd(list), entry->d_name);
        }
    }
    closedir(list);
}

void kw_temp_folder_sweep(void) {
    sweep_base(temp_base());
    sweep_base("/tmp");
}
