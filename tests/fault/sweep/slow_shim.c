/* slow_shim.c: preloaded into a program, it makes each look at a clock of intervals find 150 ms more gone by, as on a machine that is so slow
 * that one call is a batch and two batches are enough. The date and time of day stay as they are. */
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LOST_MS = 150, MS_PER_S = 1000, NS_PER_MS = 1000000 };
static atomic_llong looks;

int clock_gettime(clockid_t id, struct timespec *now) {
    int code = (int)syscall(SYS_clock_gettime, id, now);
    if (!code && id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE) {
        long long ms = now->tv_nsec / NS_PER_MS + (atomic_fetch_add(&looks, 1) + 1) * LOST_MS;
        now->tv_sec += (time_t)(ms / MS_PER_S);
        now->tv_nsec = (long)(ms % MS_PER_S) * NS_PER_MS + now->tv_nsec % NS_PER_MS;
    }
    return code;
}
