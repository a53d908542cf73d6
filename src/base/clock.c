/* clock.c: the clocks of POSIX. */
#include "base/clock.h"

#include <time.h>

static int64_t read_clock(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t kw_clock_ns(void) {
    return read_clock(CLOCK_MONOTONIC);
}

int64_t kw_clock_thread_ns(void) {
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void kw_clock_date(char text[11]) {
    time_t now = time(NULL);
    struct tm parts;
    if (!gmtime_r(&now, &parts) || !strftime(text, 11, "%Y-%m-%d", &parts)) {
        text[0] = 0;
    }
}
