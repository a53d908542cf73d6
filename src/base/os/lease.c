/* lease.c: the lock file of a device. The lock is given back by LOCK_UN, which a child that was forked meanwhile cannot keep. */
#include "base/os/lease.h"

#include "base/hash.h"
#include "base/os/clock.h"
#include "base/os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <kernelwright.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

static int open_lock_file(const kw_settings *settings, const char *device) {
    char path[4096], hash[KW_HASH_TEXT];
    if (!*settings->data || kw_folder_make(settings->data, &(kw_error){0})) {
        return -1;
    }
    kw_hash_text(hash, device, strlen(device));
    int length = snprintf(path, sizeof path, "%s/measuring-%.16s.lock", settings->data, hash);
    return length < (int)sizeof path ? open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600) : -1;
}

int kw_lease_take(const kw_settings *settings, const char *device, int64_t limit_ns) {
    int fd = open_lock_file(settings, device);
    int64_t begin = kw_clock_ns();
    for (bool told = false; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB); told = true) {
        bool over = kw_clock_ns() - begin > limit_ns || (settings->stop && kw_stop_requested(settings->stop));
        if (over || (errno != EWOULDBLOCK && errno != EINTR)) {
            if (over) {
                kw_log_line(settings, "another process still measures on %s; times may be disturbed", device);
            }
            close(fd);
            return -1;
        }
        if (!told) {
            kw_log_line(settings, "another process measures on %s; waiting for it", device);
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return fd;
}

void kw_lease_give(int lease) {
    if (lease >= 0) {
        flock(lease, LOCK_UN);
        close(lease);
    }
}
