/* test_cold.c: cold calls rotate over copies of the tensors that no cache holds, and the control runs along. */

#include "host.h"
#include "measure/bench.h"
#include "support/kw_test.h"

enum { KERNELS = 3, BLANK = 0x55 };

typedef struct fixture {
    kw_device *device;
    kw_problem problem;
    kw_bench *bench;
    kw_config configs[KERNELS];
    kw_kernel *kernels[KERNELS];
    kw_record records[KERNELS];
    size_t next; /* the copy that the rotation comes to next */
    size_t runs; /* copies that were written */
    size_t controls;
} fixture;

static fixture *open_fixture(const char *text) {
    fixture *f = calloc(1, sizeof *f);
    kw_error err = {0};
    assert_non_null(f);
    assert_int_equal(kw_problem_parse(&f->problem, text, &err), KW_OK);
    assert_int_equal(host_backend.open(&f->device, 0, 1, &err), KW_OK);
    assert_int_equal(kw_bench_open(&f->bench, &host_backend, f->device, &f->problem, 7, &err), KW_OK);
    for (int i = 0; i < KERNELS; i++) {
        f->configs[i] = host_config(&f->problem, HOST_none, i != 1);
        assert_int_equal(host_backend.load(f->device, &f->configs[i], NULL, &f->kernels[i], &err), KW_OK);
        assert_int_equal(kw_bench_verify(f->bench, f->kernels[i], &f->configs[i], &f->records[i], &err), KW_OK);
        assert_int_equal(f->records[i].outcome, KW_GOOD);
    }
    return f;
}

static void close_fixture(fixture *f) {
    for (int i = 0; i < KERNELS; i++) {
        host_backend.unload(f->device, &f->kernels[i]);
    }
    kw_bench_close(&f->bench);
    host_backend.close(&f->device);
    free(f);
}

static void time_all(fixture *f, const kw_timing_options *options) {
    kw_error err = {0};
    const kw_config *configs[KERNELS] = {&f->configs[0], &f->configs[1], &f->configs[2]};
    if (kw_bench_time(f->bench, (const kw_kernel *const *)f->kernels, configs, KERNELS, options, f->records, &err)) {
        fail_msg("%s", err.text);
    }
}

static size_t result_bytes(const fixture *f) {
    return (size_t)f->bench->result.size;
}

static char *copy_at(const fixture *f, size_t i) {
    kw_tensor result = kw_problem_result(&f->problem);
    return f->bench->copies.tensor[result].start + (int64_t)i * f->bench->copies.step[result];
}

static bool is_blank(const fixture *f, size_t i) {
    const char *at = copy_at(f, i);
    for (size_t b = 0; b < result_bytes(f); b++) {
        if (at[b] != BLANK) {
            return false;
        }
    }
    return true;
}

static void blank_all(const fixture *f) {
    for (size_t i = 0; i < f->bench->copies.count; i++) {
        memset(copy_at(f, i), BLANK, result_bytes(f));
    }
}

/* Before a batch: what was written since the one before is a run of copies that begins where the last one ended. */
static void follow(void *user, size_t index) {
    fixture *f = user;
    size_t count = f->bench->copies.count;
    f->controls += index == SIZE_MAX;
    size_t written = 0;
    while (written < count && !is_blank(f, (f->next + written) % count)) {
        written++;
    }
    for (size_t i = written; i < count; i++) {
        assert_true(is_blank(f, (f->next + i) % count));
    }
    f->runs += written;
    f->next = written < count ? (f->next + written) % count : f->next;
    blank_all(f);
}

static const char *const problems[] = {"conv_fwd fp32 nhwgc c3 k5 i4x4 f3x3 p1x1", "conv_bwd_data bf16 nhwgc c3 k5 i4x4 f3x3 p1x1",
                                       "conv_bwd_weight fp32 nhwgc c3 k5 i4x4 f3x3 p1x1"};

/* All kernels go on where the one before stopped, so that no two calls in a row share a copy. */
static void calls_rotate_over_copies(void **state) {
    (void)state;
    for (size_t p = 0; p < sizeof problems / sizeof *problems; p++) {
        fixture *f = open_fixture(problems[p]);
        kw_timing_options options = {.cold = true, .pack_weights = p != 1, .batches = 1};
        time_all(f, &options); /* makes the copies */
        size_t count = f->bench->copies.count;
        assert_true(count * (size_t)kw_problem_bytes(&f->problem) <= 2 * HOST_CACHE + (size_t)kw_problem_bytes(&f->problem));
        assert_true(count * (size_t)kw_problem_bytes(&f->problem) >= HOST_CACHE); /* each is rounded up to 64 bytes */
        blank_all(f);
        options.batches = 9;
        options.turn = follow;
        options.user = f;
        f->next = 0;
        time_all(f, &options);
        assert_true(f->runs > 3 * 9); /* in batches of fewer calls than there are copies, none is missed */
        for (int i = 0; i < KERNELS; i++) {
            assert_int_equal(f->records[i].outcome, KW_GOOD);
            assert_true(f->records[i].cold && f->records[i].samples > 0);
        }
        close_fixture(f);
    }
}

/* Packed weights and inputs are copied right: the results are. */
static void results_of_cold_calls_are_right(void **state) {
    (void)state;
    for (size_t p = 0; p < sizeof problems / sizeof *problems; p++) {
        fixture *f = open_fixture(problems[p]);
        kw_timing_options options = {.cold = true, .pack_weights = true, .batches = 1};
        time_all(f, &options);
        blank_all(f);
        options.batches = 21;
        options.batch_ns = 2000000;
        time_all(f, &options);
        for (size_t i = 0; i < f->bench->copies.count; i++) {
            assert_memory_equal(copy_at(f, i), f->bench->result.start, result_bytes(f)); /* left by the check after timing */
        }
        close_fixture(f);
    }
}

static void hot_calls_leave_the_copies_alone(void **state) {
    (void)state;
    fixture *f = open_fixture(problems[0]);
    time_all(f, &(kw_timing_options){.cold = true, .batches = 1});
    blank_all(f);
    time_all(f, &(kw_timing_options){.batches = 3});
    for (size_t i = 0; i < f->bench->copies.count; i++) {
        assert_true(is_blank(f, i));
    }
    assert_false(f->records[0].cold || f->records[1].cold || f->records[2].cold);
    close_fixture(f);
}

static void copies_take_twice_the_cache(void **state) {
    (void)state;
    static const int64_t mib = 1 << 20;
    static const struct {
        int64_t set, cache, limit;
        size_t count;
    } cases[] = {
        {1 << 20, 32 << 20, 1 << 30, 64},
        {(1 << 20) + 1, 32 << 20, 1 << 30, 64},
        {40 << 20, 32 << 20, 1 << 30, 2},
        {63 << 20, 32 << 20, 1 << 30, 2},
        {64 << 20, 32 << 20, 1 << 30, 1},
        {100 << 20, 32 << 20, 1 << 30, 1},
        {1 << 20, 1 << 30, 1 << 30, 1024} /* no more than the limit */,
        {600 << 20, 1 << 30, 1 << 30, 2},
        {0, 1 << 20, 1 << 30, 2 << 20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(kw_rotation_count(cases[i].set, cases[i].cache, cases[i].limit), cases[i].count);
    }
    assert_int_equal(kw_rotation_cache_bytes(&(kw_target){.l2 = mib, .l3 = 32 * mib}), 32 * mib);
    assert_int_equal(kw_rotation_cache_bytes(&(kw_target){.l2 = mib}), mib);
    assert_true(kw_rotation_cache_bytes(&(kw_target){0}) > 0);
}

/* A control of another problem on its own bench, hot, while the kernels are cold. */
static void a_control_runs_on_its_own_bench(void **state) {
    (void)state;
    fixture *f = open_fixture(problems[0]), *other = open_fixture("gemm fp32 rcr m8 n8 k8");
    kw_control control = {.bench = other->bench, .kernel = other->kernels[0], .config = &other->configs[0]};
    time_all(f, &(kw_timing_options){.cold = true, .batches = 1});
    blank_all(f);
    f->next = 0;
    time_all(f, &(kw_timing_options){.cold = true, .batches = 5, .order_seed = 3, .control = &control, .turn = follow, .user = f});
    assert_int_equal(control.record.outcome, KW_GOOD);
    assert_true(control.record.samples > 0 && control.record.time_ns > 0 && !control.record.cold);
    assert_non_null(strstr(control.record.config, "gemm"));
    assert_true(f->controls >= 5 + 1);
    assert_int_equal(f->records[0].outcome, KW_GOOD);
    kw_config wrong = host_config(&f->problem, HOST_none, false);
    control.config = &wrong; /* a config of another operation */
    kw_error err = {0};
    const kw_kernel *kernel = f->kernels[0];
    const kw_config *config = &f->configs[0];
    kw_record record = {0};
    assert_int_equal(kw_bench_time(f->bench, &kernel, &config, 1, &(kw_timing_options){.control = &control}, &record, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "control"));
    close_fixture(f);
    close_fixture(other);
}

static void slow_kernels_are_recorded_as_such(void **state) {
    (void)state;
    fixture *f = open_fixture(problems[0]);
    time_all(f, &(kw_timing_options){.drop_ratio = 3, .best_ns = 1});
    for (int i = 0; i < KERNELS; i++) {
        assert_int_equal(f->records[i].outcome, KW_SLOW);
        assert_true(f->records[i].time_ns > 3 && f->records[i].samples >= 2);
        assert_non_null(strstr(f->records[i].detail, "times the fastest"));
    }
    close_fixture(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_rotate_over_copies),         cmocka_unit_test(results_of_cold_calls_are_right),
        cmocka_unit_test(hot_calls_leave_the_copies_alone), cmocka_unit_test(copies_take_twice_the_cache),
        cmocka_unit_test(a_control_runs_on_its_own_bench),  cmocka_unit_test(slow_kernels_are_recorded_as_such),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
