/* scratch.c: a folder for one test, gone afterwards. */
#include "support/scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void need(int good, const char *what, const char *path) {
    if (!good) {
        fprintf(stderr, "scratch: cannot %s %s\n", what, path);
        exit(1);
    }
}

const char *scratch_make(char text[SCRATCH_MAX]) {
    snprintf(text, SCRATCH_MAX, "/tmp/kw-test-XXXXXX");
    need(mkdtemp(text) != NULL, "make", text);
    return text;
}

const char *scratch_path(char text[2 * SCRATCH_MAX], const char *folder, const char *name) {
    snprintf(text, 2 * SCRATCH_MAX, "%s/%s", folder, name);
    return text;
}

void scratch_write(const char *path, const void *data, size_t size, unsigned mode) {
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    need(fd >= 0 && write(fd, data, size) == (ssize_t)size && !fchmod(fd, (mode_t)mode) && !close(fd), "write", path);
}

char *scratch_read(const char *path, size_t *size) {
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    need(fd >= 0 && !fstat(fd, &info), "read", path);
    *size = (size_t)info.st_size;
    char *bytes = malloc(*size + 1);
    need(bytes && read(fd, bytes, *size) == (ssize_t)*size && !close(fd), "read", path);
    bytes[*size] = 0;
    return bytes;
}

/* Calls itself for folders; remove: also takes away what it finds. */
static int walk_folder(const char *folder, const char *part, int remove) {
    int count = 0;
    if (remove) {
        chmod(folder, 0700);
    }
    DIR *list = opendir(folder);
    for (struct dirent *entry = list ? readdir(list) : NULL; entry; entry = readdir(list)) {
        char path[4096];
        struct stat info;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || lstat(path, &info)) {
            continue;
        }
        if (S_ISDIR(info.st_mode)) {
            count += walk_folder(path, part, remove);
        } else {
            count += strstr(entry->d_name, part) != NULL;
        }
        if (remove) {
            S_ISDIR(info.st_mode) ? rmdir(path) : unlink(path);
        }
    }
    if (list) {
        closedir(list);
    }
    return count;
}

int scratch_count(const char *folder, const char *part) {
    return walk_folder(folder, part, 0);
}

void scratch_remove(const char *folder) {
    walk_folder(folder, "", 1);
    rmdir(folder);
}
