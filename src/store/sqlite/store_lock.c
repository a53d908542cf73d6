/* store_lock.c: who writes. SQLite would let two processes write by turns, each waiting for the other; a sweep is better told at once. The lock
 * is not taken on the store itself, since closing any descriptor of that file would drop SQLite's own locks on it. */
#include "store/sqlite/store.h"

#include "base/os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* PATH-lock of the file that path leads to, so that links to one store share a lock. NULL: no memory. */
static char *lock_path_of(const char *path) {
    char *real = realpath(path, NULL);
    kw_text text = {0};
    kw_text_addf(&text, "%s-lock", real ? real : path);
    free(real);
    return kw_text_take(&text);
}

static kw_status say_busy(int fd, const char *path, kw_error *err) {
    char who[96];
    ptrdiff_t got = kw_file_fill(fd, who, sizeof who - 1);
    who[got > 0 ? got : 0] = 0;
    who[strcspn(who, "\n")] = 0;
    return kw_fail(err, KW_IO, "%s is being written by %s; one process writes a store at a time, so wait for it or write to another file",
                   path, *who ? who : "another process");
}

static bool is_locked_file(int fd, const char *path) {
    struct stat held, there;
    return !fstat(fd, &held) && !stat(path, &there) && held.st_ino == there.st_ino && held.st_dev == there.st_dev;
}

static void sign(int fd) {
    char host[128] = "", line[192];
    gethostname(host, sizeof host - 1);
    int length = snprintf(line, sizeof line, "process %lld on %s\n", (long long)getpid(), host);
    if (ftruncate(fd, 0) || !kw_file_write(fd, line, (size_t)length)) {
        return; /* the lock holds all the same; only its owner's name is missing */
    }
}

kw_status kw_store_lock(kw_store *store, const char *path, kw_error *err) {
    store->lock_path = lock_path_of(path);
    if (!store->lock_path) {
        return kw_fail_memory(err, path);
    }
    for (;;) {
        int fd = open(store->lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0) {
            char why[128];
            return kw_fail(err, errno == ENOENT ? KW_MISSING : KW_IO, "cannot write %s: %s: %s", path, store->lock_path,
                           strerror_r(errno, why, sizeof why));
        }
        int failed = flock(fd, LOCK_EX | LOCK_NB) ? errno : 0;
        if (failed == EWOULDBLOCK) {
            kw_status status = say_busy(fd, path, err);
            close(fd);
            return status;
        }
        if (failed == EINTR) {
            close(fd);
            continue;
        }
        /* A file system without such locks: SQLite's own still keep writers apart, only less politely. */
        if (is_locked_file(fd, store->lock_path)) {
            sign(fd);
            store->lock = fd;
            return KW_OK;
        }
        close(fd); /* the one before us removed it between our open and our lock */
    }
}

void kw_store_unlock(kw_store *store) {
    if (store->lock >= 0) {
        unlink(store->lock_path);
        close(store->lock);
        store->lock = -1;
    }
    free(store->lock_path);
    store->lock_path = NULL;
}
