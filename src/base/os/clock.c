/* clock.c: the clocks of POSIX. */
#include "base/os/clock.h"

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

static void print_now(char *text, size_t capacity, const char *format, int days_before) {
    time_t now = time(NULL) - (time_t)days_before * 86400;
    struct tm parts;
    if (!gmtime_r(&now, &parts) || !strftime(text, capacity, format, &parts)) {
        text[0] = 0;
    }
}

void kw_clock_date(char text[11]) {
    print_now(text, 11, "%Y-%m-%d", 0);
}

void kw_clock_date_before(char text[11], int days) {
    print_now(text, 11, "%Y-%m-%d", days);
}

void kw_clock_time(char text[21]) {
    print_now(text, 21, "%Y-%m-%dT%H:%M:%SZ", 0);
}
