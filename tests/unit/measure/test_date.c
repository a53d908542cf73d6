/* test_date.c: measuring does not ask for the date, so a date that jumps changes nothing. The program is linked with --wrap: all of the
 * library's questions for a clock come here, and those for the date are counted and answered with leaps. */

#include "base/os/clock.h"
#include "host.h"
#include "measure/bench.h"
#include "measure/timing/timing.h"
#include "support/kw_test.h"

#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
time_t __wrap_time(time_t *now);
int __wrap_gettimeofday(struct timeval *restrict now, void *restrict zone);

/* A wrapped function has no argument to carry these. */
static atomic_int dates, intervals;

/* An hour forth, two back, three forth, ... */
static time_t leaping_date(void) {
    int n = atomic_fetch_add(&dates, 1) + 1;
    return 1800000000 + (n % 2 ? 3600 : -3600) * (time_t)n;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *t) {
    if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE || id == CLOCK_TAI) {
        *t = (struct timespec){.tv_sec = leaping_date()};
        return 0;
    }
    atomic_fetch_add(&intervals, 1);
    return __real_clock_gettime(id, t);
}

time_t __wrap_time(time_t *now) {
    time_t date = leaping_date();
    if (now) {
        *now = date;
    }
    return date;
}

int __wrap_gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    *now = (struct timeval){.tv_sec = leaping_date()};
    return 0;
}

static void the_date_is_in_our_hands(void **state) {
    (void)state;
    char first[11], second[11];
    int before = atomic_load(&dates);
    kw_clock_date(first);
    atomic_fetch_add(&dates, 240); /* ten days of leaps later */
    kw_clock_date(second);
    assert_true(atomic_load(&dates) == before + 242);
    assert_string_not_equal(first, second);
    int asked = atomic_load(&intervals);
    kw_clock_ns();
    kw_clock_thread_ns();
    assert_int_equal(atomic_load(&intervals), asked + 2);
}

static void measuring_never_asks_for_the_date(void **state) {
    (void)state;
    kw_problem problem;
    kw_error err = {0};
    kw_device *device = NULL;
    kw_bench *bench = NULL;
    kw_kernel *kernel = NULL;
    kw_record record;
    int before = atomic_load(&dates), asked = atomic_load(&intervals);
    assert_int_equal(kw_problem_parse(&problem, "conv_fwd fp32 nhwgc c3 k5 i4x4 f3x3 p1x1", &err), KW_OK);
    assert_int_equal(host_backend.open(&device, 0, 1, &err), KW_OK);
    assert_int_equal(kw_bench_open(&bench, &host_backend, device, &problem, 7, &err), KW_OK);
    kw_config config = host_config(&problem, HOST_none, true);
    assert_int_equal(host_backend.load(device, &config, NULL, &kernel, &err), KW_OK);
    assert_int_equal(kw_bench_verify(bench, kernel, &config, &record, &err), KW_OK);
    static const kw_timing_options options[] = {
        {.pack_weights = true}, {.cold = true}, {.order_seed = 4, .drop_ratio = 3}, {.drop_ratio = 3, .best_ns = 1}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const kw_kernel *kernels[] = {kernel};
        const kw_config *configs[] = {&config};
        record.outcome = KW_GOOD;
        assert_int_equal(kw_bench_time(bench, kernels, configs, 1, &options[i], &record, &err), KW_OK);
        assert_true(record.time_ns > 100 && record.time_ns < 1e9); /* microseconds; a leap would be 3.6e12 ns */
        assert_true(record.least_ns > 0 && record.spread_ns < 1e9);
    }
    kw_cpu_peak("x86-64-v3", KW_FP32, 1);
    kw_cpu_bandwidth();
    assert_int_equal(atomic_load(&dates), before);
    assert_true(atomic_load(&intervals) > asked + 100);
    host_backend.unload(device, &kernel);
    kw_bench_close(&bench);
    host_backend.close(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_date_is_in_our_hands),
        cmocka_unit_test(measuring_never_asks_for_the_date),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
