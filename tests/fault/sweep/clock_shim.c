/* clock_shim.c: preloaded into a program, it makes the time of day jump a year back and forth from call to call, as on a machine whose
 * clock is set while it works. Other clocks stay as they are. */
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_uint calls;

static time_t leap(void) {
    static const time_t years[] = {0, -31536000, 31536000, -63072000, 0, 63072000};
    return years[atomic_fetch_add(&calls, 1) % (sizeof years / sizeof *years)];
}

int clock_gettime(clockid_t id, struct timespec *now) {
    int code = (int)syscall(SYS_clock_gettime, id, now);
    if (!code && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
        now->tv_sec += leap();
    }
    return code;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) {
        *out = now.tv_sec;
    }
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){now.tv_sec, (suseconds_t)(now.tv_nsec / 1000)};
    return 0;
}
