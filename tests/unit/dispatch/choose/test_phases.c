/* test_phases.c: choices on a machine that is slower for a while, as one is that shares its cores with guests nobody sees: no clock and no
 * count of switches tells of it. The machine is planted: the clocks, pauses and counts of switches of the measuring are its own, and a call of
 * a toy takes exactly what it is said to take, times what the machine's phase makes of it. So every choice below is the same on any host. */
#include "unit/dispatch/toy.h"

#include "measure/timing/timing.h"
#include "support/kw_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { TOYS = 3, SUBJECTS_MAX = 8, VERIFY_NS = 4000000, SEEDS = 24 };

/* A wrapped function has no argument to carry the machine. */
static struct machine {
    int64_t now;     /* ns */
    double ns[TOYS]; /* what a call of each takes, when nobody disturbs */
    double mean_ns;  /* of its phases, alternately at full speed and one and a half times as slow */
    double until;    /* end of the phase */
    bool slow;
    uint64_t random;
    const kw_config *const *timed; /* by kw_bench_time */
    int wrong;                     /* toys 0..wrong-1 are found wrong when they are timed in turns */
    bool lost;                     /* so is the device lost */
} machine;

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_getrusage(int who, struct rusage *usage);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);
kw_status __real_kw_bench_verify(kw_bench *bench, const kw_kernel *kernel, const kw_config *config, kw_record *record, kw_error *err);
kw_status __wrap_kw_bench_verify(kw_bench *bench, const kw_kernel *kernel, const kw_config *config, kw_record *record, kw_error *err);
kw_status __real_kw_bench_time(kw_bench *bench, const kw_kernel *const kernels[], const kw_config *const configs[], size_t count,
                               const kw_timing_options *options, kw_record records[], kw_error *err);
kw_status __wrap_kw_bench_time(kw_bench *bench, const kw_kernel *const kernels[], const kw_config *const configs[], size_t count,
                               const kw_timing_options *options, kw_record records[], kw_error *err);
kw_status __real_kw_time_subjects(const kw_subject subjects[], size_t count, const kw_timing_options *options, int threads,
                                  kw_timed results[], kw_error *err);
kw_status __wrap_kw_time_subjects(const kw_subject subjects[], size_t count, const kw_timing_options *options, int threads,
                                  kw_timed results[], kw_error *err);

int __wrap_clock_gettime(clockid_t id, struct timespec *t) {
    if (id != CLOCK_MONOTONIC && id != CLOCK_THREAD_CPUTIME_ID) {
        return __real_clock_gettime(id, t);
    }
    *t = (struct timespec){.tv_sec = machine.now / 1000000000, .tv_nsec = machine.now % 1000000000};
    return 0;
}

int __wrap_getrusage(int who, struct rusage *usage) {
    (void)who;
    *usage = (struct rusage){0};
    return 0;
}

int __wrap_nanosleep(const struct timespec *time, struct timespec *rest) {
    (void)rest;
    machine.now += time->tv_sec * 1000000000 + time->tv_nsec;
    return 0;
}

kw_status __wrap_kw_bench_verify(kw_bench *bench, const kw_kernel *kernel, const kw_config *config, kw_record *record, kw_error *err) {
    machine.now += VERIFY_NS;
    return __real_kw_bench_verify(bench, kernel, config, record, err);
}

static double next_share(void) {
    machine.random = machine.random * 6364136223846793005u + 1442695040888963407u;
    return (double)(machine.random >> 11) / 9007199254740992.0;
}

/* Phases are of any length about the mean. A call varies by up to 1 %. */
static kw_status call_toy(void *context, kw_error *err) {
    (void)err;
    while ((double)machine.now >= machine.until) {
        machine.until += -machine.mean_ns * log(1 - next_share());
        machine.slow = !machine.slow;
    }
    machine.now += (int64_t)(*(const double *)context * (machine.slow ? 1.5 : 1) * (1 + 0.01 * next_share()));
    return KW_OK;
}

static size_t toy_number(const char *config) {
    size_t number = (size_t)atoi(strstr(config, "name=") + 5) - 1;
    assert_true(number < TOYS);
    return number;
}

kw_status __wrap_kw_bench_time(kw_bench *bench, const kw_kernel *const kernels[], const kw_config *const configs[], size_t count,
                               const kw_timing_options *options, kw_record records[], kw_error *err) {
    char config[KW_CONFIG_TEXT_MAX];
    machine.timed = configs;
    if (machine.lost && count > 1) {
        return kw_fail(err, KW_ENVIRONMENT, "the device is lost");
    }
    kw_status status = __real_kw_bench_time(bench, kernels, configs, count, options, records, err);
    for (size_t i = 0; i < count && count > 1; i++) {
        kw_config_print(config, sizeof config, configs[i]);
        if ((int)toy_number(config) < machine.wrong) {
            records[i].outcome = KW_WRONG; /* behind the timing: the times stay */
        }
    }
    return status;
}

kw_status __wrap_kw_time_subjects(const kw_subject subjects[], size_t count, const kw_timing_options *options, int threads,
                                  kw_timed results[], kw_error *err) {
    kw_subject planted[SUBJECTS_MAX];
    char config[KW_CONFIG_TEXT_MAX];
    (void)subjects;
    assert_true(count <= SUBJECTS_MAX);
    for (size_t i = 0; i < count; i++) {
        kw_config_print(config, sizeof config, machine.timed[i]);
        planted[i] = (kw_subject){.call = call_toy, .context = &machine.ns[toy_number(config)], .threads = 1};
    }
    return __real_kw_time_subjects(planted, count, options, threads, results, err);
}

/* What a call of the chosen toy takes, over what one of the fastest takes. */
static double choose_once(toy_world *world) {
    double best = INFINITY;
    unlink(world->wisdom);
    kw_context *context = toy_open(world);
    size_t chosen = toy_number(toy_chosen(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_SHORTLIST}));
    kw_context_close(&context);
    for (int i = 0; i < TOYS; i++) {
        best = fmin(best, machine.ns[i]);
    }
    return machine.ns[chosen] / best;
}

static int setup(void **state) {
    static toy_world world;
    toy_world_make(&world);
    *state = &world;
    return 0;
}

static int teardown(void **state) {
    toy_world_drop(*state);
    return 0;
}

/* Whether a toy is screened, screened again and timed in the final in a slow phase or in a fast one, the fastest is found. */
static void phases_of_the_machine_do_not_decide(void **state) {
    double spent_ns = 0;
    static const double means[] = {5e6, 2e7, 1e8, 5e8};
    static const double ns[][TOYS] = {{1e5, 1.08e5, 1.2e5}, {1.2e5, 1e5, 1.08e5}, {1.08e5, 1.2e5, 1e5}};
    for (size_t m = 0; m < sizeof means / sizeof *means; m++) {
        for (int seed = 0; seed < SEEDS; seed++) {
            machine = (struct machine){.mean_ns = means[m], .random = (uint64_t)(1000 * m + (size_t)seed), .slow = seed % 2};
            memcpy(machine.ns, ns[seed % 3], sizeof machine.ns);
            double taken = choose_once(*state);
            if (taken > 1.01) {
                fail_msg("phases of %.0f ms, seed %d: the choice takes %.2f times the fastest", means[m] / 1e6, seed, taken);
            }
            spent_ns += (double)machine.now;
        }
    }
    assert_true(spent_ns / (double)(SEEDS * sizeof means / sizeof *means) < 2e8); /* and a choice takes no longer for it */
}

/* Results are looked at again behind the timings of the final. */
static void who_is_found_wrong_in_turns_does_not_win(void **state) {
    machine = (struct machine){.mean_ns = 1e18, .ns = {1e5, 1.02e5, 1.04e5}, .wrong = 1};
    assert_true(choose_once(*state) > 1.015);
    machine = (struct machine){.mean_ns = 1e18, .ns = {1e5, 1.02e5, 2e5}, .wrong = 2}; /* the third was no finalist */
    assert_true(choose_once(*state) > 1.9);
}

static void a_device_that_is_lost_in_turns_ends_the_tuning(void **state) {
    toy_world *world = *state;
    machine = (struct machine){.mean_ns = 1e18, .ns = {1e5, 1.02e5, 1.04e5}, .lost = true};
    unlink(world->wisdom);
    kw_context *context = toy_open(world);
    assert_contains(toy_chosen(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_SHORTLIST}), "the device is lost");
    assert_int_not_equal(access(world->wisdom, F_OK), 0);
    kw_context_close(&context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(phases_of_the_machine_do_not_decide, setup, teardown),
        cmocka_unit_test_setup_teardown(who_is_found_wrong_in_turns_does_not_win, setup, teardown),
        cmocka_unit_test_setup_teardown(a_device_that_is_lost_in_turns_ends_the_tuning, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
