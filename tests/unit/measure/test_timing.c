/* test_timing.c: the order in which subjects are run, and when timing stops. */

#include "base/os/clock.h"
#include "host.h"
#include "measure/bench.h"
#include "measure/timing/timing.h"
#include "support/kw_test.h"

/* A subject that takes some processor time, however often it is preempted, and writes its name into a common log. */
typedef struct spinner {
    char name;
    int64_t ns;
    char *log;
    size_t *logged, capacity;
} spinner;

static kw_status spin(void *context, kw_error *err) {
    (void)err;
    const spinner *s = context;
    int64_t end = kw_clock_thread_ns() + s->ns;
    if (*s->logged < s->capacity) {
        s->log[(*s->logged)++] = s->name;
    }
    while (kw_clock_thread_ns() < end) {
    }
    return KW_OK;
}

static kw_status refuse(void *context, kw_error *err) {
    (void)context;
    return kw_fail(err, KW_ENVIRONMENT, "the device is lost");
}

/* Each round runs every subject once, and each is first in turn. Subjects above 1 ms are single calls without a warm-up of their own. */
static void subjects_take_turns_and_the_order_rotates(void **state) {
    (void)state;
    char log[256] = "";
    size_t logged = 0;
    spinner spinners[3];
    kw_subject subjects[3];
    kw_timed times[3];
    for (int i = 0; i < 3; i++) {
        spinners[i] = (spinner){(char)('a' + i), 1500000, log, &logged, sizeof log - 1};
        subjects[i] = (kw_subject){.call = spin, .context = &spinners[i]};
    }
    kw_timing_options options = {.batches = 6};
    assert_int_equal(kw_time_subjects(subjects, 3, &options, 1, times, NULL), KW_OK);
    const char *rounds = log; /* behind the calls that size the batches: two each, or one where that took long */
    for (const char *name = "abc"; *name; name++) {
        assert_int_equal(*rounds, *name);
        rounds += strspn(rounds, (char[]){*name, '\0'});
    }
    static const char *const orders[] = {"abc", "bca", "cab"};
    for (size_t round = 0; round < 3; round++) {
        assert_int_equal(strncmp(rounds + 3 * round, orders[round], 3), 0);
    }
}

static void times_are_right_and_ordered(void **state) {
    (void)state;
    size_t logged = 0;
    spinner fast = {'f', 20000, NULL, &logged, 0}, slow = {'s', 40000, NULL, &logged, 0};
    kw_subject subjects[] = {{.call = spin, .context = &slow}, {.call = spin, .context = &fast}};
    kw_timed times[2];
    assert_int_equal(kw_time_subjects(subjects, 2, &(kw_timing_options){0}, 1, times, NULL), KW_OK);
    assert_true(times[0].time_ns >= 40000 && times[1].time_ns >= 20000);
    assert_true(times[0].time_ns > times[1].time_ns);
    assert_true(times[0].samples > 0 && times[1].samples > 0);
    assert_true(times[0].spread_ns >= 0);
}

static void slow_subjects_give_up_early(void **state) {
    (void)state;
    char log[64] = "";
    size_t logged = 0;
    spinner slow = {'s', 4000000, log, &logged, sizeof log - 1};
    kw_subject subject = {.call = spin, .context = &slow};
    kw_timed time;
    assert_int_equal(kw_time_subjects(&subject, 1, &(kw_timing_options){.give_up_ns = 1e6}, 1, &time, NULL), KW_OK);
    assert_int_equal(time.samples, 0);
    assert_true(time.time_ns >= 4e6);
    assert_true(logged <= 2);
}

static void long_calls_are_measured_few_times(void **state) {
    (void)state;
    char log[128] = "";
    size_t logged = 0;
    spinner slow = {'s', 25000000, log, &logged, sizeof log - 1};
    kw_subject subject = {.call = spin, .context = &slow};
    kw_timed time;
    assert_int_equal(kw_time_subjects(&subject, 1, &(kw_timing_options){0}, 1, &time, NULL), KW_OK);
    assert_true(time.samples >= 1 && logged <= 1 + 3 * 3);
    assert_true(time.time_ns >= 0.9 * 25e6);
}

static kw_status call_nothing(void *context, kw_error *err) {
    (void)context, (void)err;
    return KW_OK;
}

/* 5 us a call by its own clock, whatever the host's says. */
static kw_status tick(void *context, int64_t calls, double *ns, kw_error *err) {
    (void)err;
    *(int64_t *)context += calls;
    *ns = 5000.0 * (double)calls;
    return KW_OK;
}

static void a_devices_own_clock_is_believed(void **state) {
    (void)state;
    int64_t calls = 0;
    kw_subject subject = {.call = call_nothing, .context = &calls, .batch = tick};
    kw_timed time;
    assert_int_equal(kw_time_subjects(&subject, 1, &(kw_timing_options){0}, 4, &time, NULL), KW_OK);
    assert_true(time.time_ns == 5000 && time.spread_ns == 0 && time.least_ns == 5000);
    assert_int_equal(time.samples, 21);
    assert_int_equal(time.dropped, 0);
    assert_int_equal(time.calls, 60);
    assert_true(calls >= 21 * 60);
}

/* The test's own state, for a function of a backend has no argument of the caller's. */
static struct queue {
    size_t most; /* calls at once */
    int64_t calls;
    const void *result;
} queue;

static kw_status time_queue(const kw_bound *bound, const kw_launch_memory calls[], size_t count, int parts, double *ns, kw_error *err) {
    (void)bound, (void)parts, (void)err;
    queue.most = count > queue.most ? count : queue.most;
    queue.calls += (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(calls[i].tensor[KW_Y], queue.result);
    }
    *ns = 1000.0 * (double)count;
    return KW_OK;
}

/* A batch of 300 calls is more than is queued at once; its time is that of these calls, and no others are made. */
static void a_devices_calls_are_queued_in_pieces(void **state) {
    (void)state;
    kw_backend backend = host_backend;
    kw_problem problem;
    kw_error err = {0};
    kw_device *device = NULL;
    kw_bench *bench = NULL;
    kw_kernel *kernel = NULL;
    kw_record record = {0};
    backend.time = time_queue;
    assert_int_equal(kw_problem_parse(&problem, "conv_fwd fp32 nhwgc c3 k5 i4x4 f3x3 p1x1", &err), KW_OK);
    assert_int_equal(backend.open(&device, 0, 1, &err), KW_OK);
    assert_int_equal(kw_bench_open(&bench, &backend, device, &problem, 7, &err), KW_OK);
    kw_config config = host_config(&problem, HOST_none, false);
    assert_int_equal(backend.load(device, &config, NULL, &kernel, &err), KW_OK);
    assert_int_equal(kw_bench_verify(bench, kernel, &config, &record, &err), KW_OK);
    queue = (struct queue){.result = bench->result.start};
    assert_int_equal(kw_bench_time(bench, (const kw_kernel *const[]){kernel}, (const kw_config *const[]){&config}, 1,
                                   &(kw_timing_options){0}, &record, &err),
                     KW_OK);
    assert_int_equal(record.outcome, KW_GOOD);
    assert_int_equal(record.calls, 300);
    assert_true(record.time_ns == 1000 && record.least_ns == 1000 && record.spread_ns == 0);
    assert_int_equal(queue.most, 256);
    assert_true(queue.calls >= 21 * 300 && queue.calls < 23 * 300);
    backend.unload(device, &kernel);
    kw_bench_close(&bench);
    backend.close(&device);
}

static void failures_of_the_device_are_passed_on(void **state) {
    (void)state;
    kw_subject subject = {.call = refuse};
    kw_timed time;
    kw_error err = {0};
    assert_int_equal(kw_time_subjects(&subject, 1, &(kw_timing_options){0}, 1, &time, &err), KW_ENVIRONMENT);
    assert_string_equal(err.text, "the device is lost");
    assert_int_equal(kw_time_subjects(NULL, 0, &(kw_timing_options){0}, 1, NULL, &err), KW_OK);
}

/* Two kernels on a bench: both are timed, and the one that goes wrong after many runs is found out. */
static void kernels_are_checked_again_after_timing(void **state) {
    (void)state;
    kw_problem problem;
    kw_error err = {0};
    kw_device *device = NULL;
    kw_bench *bench = NULL;
    kw_kernel *kernels[2] = {0};
    kw_record records[2] = {0};
    assert_int_equal(kw_problem_parse(&problem, "conv_fwd fp32 nhwgc c3 k5 i4x4 f3x3 p1x1", &err), KW_OK);
    assert_int_equal(host_backend.open(&device, 0, 1, &err), KW_OK);
    assert_int_equal(kw_bench_open(&bench, &host_backend, device, &problem, 7, &err), KW_OK);
    kw_config configs[2] = {host_config(&problem, HOST_none, true), host_config(&problem, HOST_tires, true)};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(host_backend.load(device, &configs[i], NULL, &kernels[i], &err), KW_OK);
        assert_int_equal(kw_bench_verify(bench, kernels[i], &configs[i], &records[i], &err), KW_OK);
        assert_int_equal(records[i].outcome, KW_GOOD);
    }
    kw_timing_options options = {.pack_weights = true};
    assert_int_equal(kw_bench_time(bench, (const kw_kernel *const *)kernels, (const kw_config *const[]){&configs[0], &configs[1]}, 2,
                                   &options, records, &err),
                     KW_OK);
    assert_int_equal(records[0].outcome, KW_GOOD);
    assert_true(records[0].time_ns > 0 && records[0].samples > 0);
    assert_int_equal(records[1].outcome, KW_WRONG);
    assert_non_null(strstr(records[1].detail, "after timing"));
    for (int i = 0; i < 2; i++) {
        host_backend.unload(device, &kernels[i]);
    }
    kw_bench_close(&bench);
    host_backend.close(&device);
}

static void peak_is_that_of_a_real_machine(void **state) {
    (void)state;
    const char *all = "x86-64-v4-amx"; /* what this processor lacks of it is passed over */
    double fp32 = kw_cpu_peak(all, KW_FP32, 1);
    if (fp32 == 0) {
        skip(); /* not an x86-64 with AVX2 */
    }
    assert_true(fp32 > 5e8 && fp32 < 1e13);
    assert_true(kw_cpu_peak(all, KW_BF16, 1) > 0.6 * fp32);
    assert_true(kw_cpu_peak(all, KW_INT32, 1) == 0);
    assert_true(kw_cpu_peak(all, KW_INT8, 1) > 0.6 * fp32);
    assert_true(kw_cpu_peak("x86-64-v3", KW_FP32, 1) < 1.2 * fp32); /* a weaker architecture's, by its own instructions */
    assert_true(kw_cpu_peak("none", KW_FP32, 1) == 0);
    assert_true(kw_cpu_bandwidth() > 1e6); /* any machine's, however busy */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subjects_take_turns_and_the_order_rotates),
        cmocka_unit_test(times_are_right_and_ordered),
        cmocka_unit_test(slow_subjects_give_up_early),
        cmocka_unit_test(long_calls_are_measured_few_times),
        cmocka_unit_test(a_devices_own_clock_is_believed),
        cmocka_unit_test(a_devices_calls_are_queued_in_pieces),
        cmocka_unit_test(failures_of_the_device_are_passed_on),
        cmocka_unit_test(kernels_are_checked_again_after_timing),
        cmocka_unit_test(peak_is_that_of_a_real_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
