/* test_verify.c: right kernels pass, kernels with a seeded fault are all caught, for every operation, type and layout. */

#include "host.h"
#include "measure/bench.h"
#include "problem/reference.h"
#include "support/kw_test.h"

#include <math.h>

typedef struct fixture {
    kw_device *device;
    kw_problem problem;
    kw_bench *bench;
} fixture;

static fixture open_fixture(const char *text) {
    fixture f = {0};
    kw_error err = {0};
    if (kw_problem_parse(&f.problem, text, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    assert_int_equal(host_backend.open(&f.device, 0, 2, &err), KW_OK);
    assert_int_equal(kw_bench_open(&f.bench, &host_backend, f.device, &f.problem, 0, &err), KW_OK);
    return f;
}

static void close_fixture(fixture *f) {
    kw_bench_close(&f->bench);
    host_backend.close(&f->device);
}

static kw_record verify(const fixture *f, host_fault fault, bool packs) {
    kw_error err = {0};
    kw_kernel *kernel = NULL;
    kw_record record;
    kw_config config = host_config(&f->problem, fault, packs);
    assert_int_equal(host_backend.load(f->device, &config, NULL, &kernel, &err), KW_OK);
    assert_int_equal(kw_bench_verify(f->bench, kernel, &config, &record, &err), KW_OK);
    host_backend.unload(f->device, &kernel);
    return record;
}

/* At each problem, the right kernel must pass and each fault that can show must be caught. */
static void check_faults(const char *text, bool packs) {
    fixture f = open_fixture(text);
    for (int fault = 0; fault < HOST_FAULT_COUNT; fault++) {
        kw_record record = verify(&f, (host_fault)fault, packs);
        bool shows = host_fault_shows((host_fault)fault, &f.problem, packs);
        if (fault == HOST_none || shows) {
            kw_outcome wanted = shows ? KW_WRONG : KW_GOOD;
            if (record.outcome != wanted) {
                fail_msg("%s, %s%s: %s, not %s (%s)", text, host_fault_name((host_fault)fault), packs ? ", packed" : "",
                         kw_outcome_name(record.outcome), kw_outcome_name(wanted), record.detail);
            }
        }
        if (record.outcome == KW_WRONG) {
            assert_true(strlen(record.detail) > 10);
        }
    }
    close_fixture(&f);
}

/* Small enough that all elements are compared. */
static const char *const small_problems[] = {
    "gemm fp32 rcr b2 m7 n5 k9",
    "gemm bf16 rrr b3 m4 n17 k33",
    "gemm fp16 crr b2 m5 n6 k40",
    "gemm int8 ccr b2 m5 n6 k7",
    "gemm fp8 rcr b2 m5 n6 k31",
    "gemm bf8 rcr b2 m5 n6 k31",
    "conv_fwd fp32 nhwgc n2 g2 c6 k10 i7x6 f3x3 p1x1",
    "conv_fwd bf16 nhwgc n1 g3 c9 k6 i5x9 f3x1 s2x1",
    "conv_fwd fp16 ngchw n2 g2 c4 k6 i7x6 f3x3 p1x1",
    "conv_fwd int8 nhwgc n2 g2 c6 k10 i7x6 f3x3 p1x1",
    "conv_fwd fp8 nhwgc n2 g2 c6 k10 i7x6 f3x3 p1x1",
    "conv_fwd fp32 ndhwgc n1 g2 c4 k4 i3x5x4 f2x3x3 p1",
    "conv_bwd_data fp32 nhwgc n2 g2 c6 k10 i7x6 f3x3 p1x1",
    "conv_bwd_data bf16 nhwgc n2 g2 c6 k10 i8x6 f3x3 p1x1 s2x2",
    "conv_bwd_data fp16 ngchw n2 g2 c6 k10 i7x6 f3x3 p1x1",
    "conv_bwd_data int8 ngchw n2 g2 c6 k10 i7x6 f3x3 p1x1",
    "conv_bwd_weight fp32 nhwgc n2 g2 c6 k10 i7x6 f3x3 p1x1",
    "conv_bwd_weight bf16 nhwgc n2 g2 c6 k10 i7x6 f3x3 p1x1",
    "conv_bwd_weight bf8 ngchw n2 g2 c6 k10 i7x6 f3x3 p1x1",
};

static void faults_are_caught_with_all_elements_compared(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof small_problems / sizeof *small_problems; i++) {
        check_faults(small_problems[i], false);
        check_faults(small_problems[i], true);
    }
}

/* Large enough for a sample. */
static void faults_are_caught_with_a_sample_compared(void **state) {
    (void)state;
    static const char *const texts[] = {
        "gemm fp32 rcr b3 m48 n48 k512",
        "conv_fwd fp32 nhwgc n1 g2 c64 k64 i16x16 f3x3 p1x1",
        "conv_bwd_data bf16 nhwgc n1 g2 c64 k64 i16x16 f3x3 p1x1",
        "conv_bwd_weight fp32 nhwgc n2 g2 c64 k32 i16x16 f3x3 p1x1",
    };
    static const host_fault faults[] = {HOST_none,           HOST_row_off_by_one, HOST_swapped_group, HOST_missing_last_tile,
                                        HOST_unwritten_tail, HOST_last_channel,   HOST_last_element,  HOST_unwritten_middle};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fixture f = open_fixture(texts[i]);
        const kw_expected *expected = &f.bench->set[KW_SET_EXACT].expected;
        assert_non_null(expected->index);
        assert_true((int64_t)expected->count < kw_problem_elements(&f.problem, kw_problem_result(&f.problem)));
        for (size_t j = 0; j < sizeof faults / sizeof *faults; j++) {
            kw_record record = verify(&f, faults[j], true);
            if ((record.outcome == KW_GOOD) != (faults[j] == HOST_none)) {
                fail_msg("%s, %s: %s", texts[i], host_fault_name(faults[j]), record.detail);
            }
        }
        close_fixture(&f);
    }
}

/* Messages name the place, so that one can be debugged. */
static void messages_name_the_place(void **state) {
    (void)state;
    static const struct {
        host_fault fault;
        const char *fragment;
    } cases[] = {
        {HOST_past_end, "y: written at byte 3360, 1 past its end"},
        {HOST_before_start, "y: written 1 bytes before its start"},
        {HOST_shared_past_end, "shared workspace: written at byte 40, 1 past its end"},
        {HOST_thread_past_end, "thread workspace: thread 0 wrote at byte 40, 1 past its end"},
        {HOST_packed_past_end, "packed weights: written"},
        {HOST_changes_x, "x: changed"},
        {HOST_changes_w, "w: changed"},
        {HOST_unwritten_tail, "1 of 840 elements left unwritten, first y[n1 h6 w5 g1 k4]"},
        {HOST_last_element, "y[n1 h6 w5 g1 k4] is "},
        {HOST_ignores_packed, "real data"},
    };
    fixture f = open_fixture("conv_fwd fp32 nhwgc n2 g2 c6 k10 i7x6 f3x3 p1x1");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_record record = verify(&f, cases[i].fault, true);
        if (!strstr(record.detail, cases[i].fragment)) {
            fail_msg("%s: \"%s\" lacks \"%s\"", host_fault_name(cases[i].fault), record.detail, cases[i].fragment);
        }
    }
    close_fixture(&f);
}

static void results_of_mostly_zeros_are_mistrusted(void **state) {
    (void)state;
    fixture f = open_fixture("conv_fwd fp32 nhwgc c8 k8 i6x6 f3x3 p1x1");
    kw_bench_close(&f.bench);
    kw_fill fills[KW_SET_COUNT] = {kw_fill_exact(&f.problem, 5), kw_fill_real(&f.problem, 5)};
    fills[KW_SET_EXACT].density = 0.001;
    kw_error err = {0};
    assert_int_equal(kw_bench_open_fills(&f.bench, &host_backend, f.device, &f.problem, fills, &err), KW_OK);
    kw_record record = verify(&f, HOST_none, false);
    assert_int_equal(record.outcome, KW_MISTRUSTED);
    assert_non_null(strstr(record.detail, "of 288 expected values"));
    assert_int_equal(verify(&f, HOST_last_element, false).outcome, KW_WRONG);
    close_fixture(&f);
}

/* One result, which relu makes zero for half of all data: other data is drawn. */
static void few_results_are_given_data_that_tells(void **state) {
    (void)state;
    kw_error err = {0};
    for (uint64_t seed = 1; seed <= 8; seed++) {
        fixture f = open_fixture("conv_fwd fp32 nhwgc c4 k1 i3x3 f3x3 epilogue=bias:fp32+relu");
        kw_bench_close(&f.bench);
        assert_int_equal(kw_bench_open(&f.bench, &host_backend, f.device, &f.problem, seed, &err), KW_OK);
        assert_true(kw_expected_trusted(&f.bench->set[KW_SET_EXACT].expected));
        close_fixture(&f);
    }
}

/* Outputs that no tap reaches are zero by definition; they take no trust away, but must be written. */
static void zeros_by_definition_are_trusted(void **state) {
    (void)state;
    static const char *const texts[] = {"conv_bwd_data fp32 nhwgc c3 k3 i9x9 f1x1 s4x4", "conv_fwd fp32 nhwgc c2 k2 i1x1 f1x1 p3x3",
                                        "conv_bwd_weight fp32 nhwgc c2 k2 i1x1 f5x5 p2x2"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fixture f = open_fixture(texts[i]);
        assert_int_equal(verify(&f, HOST_none, false).outcome, KW_GOOD);
        assert_int_equal(verify(&f, HOST_unwritten_tail, false).outcome, KW_WRONG);
        close_fixture(&f);
    }
}

static void another_problems_kernel_is_unfit(void **state) {
    (void)state;
    fixture f = open_fixture("conv_fwd fp32 nhwgc c2 k2 i3x3 f3x3");
    kw_problem other = f.problem;
    other.dtype = KW_BF16;
    kw_config config = host_config(&other, HOST_none, false);
    kw_error err = {0};
    kw_kernel *kernel = NULL;
    kw_record record;
    assert_int_equal(host_backend.load(f.device, &config, NULL, &kernel, &err), KW_OK);
    assert_int_equal(kw_bench_verify(f.bench, kernel, &config, &record, &err), KW_OK);
    assert_int_equal(record.outcome, KW_UNFIT);
    host_backend.unload(f.device, &kernel);
    close_fixture(&f);
}

/* Distances of one value: a share of the bound, and units in the last place of the type. */
static void errors_are_counted_in_bounds_and_last_places(void **state) {
    (void)state;
    static const struct {
        kw_dtype dtype;
        double wanted, got;
        float bound;
        double error, ulp;
    } cases[] = {
        {KW_FP32, 1, 1, 0, 0, 0},
        {KW_FP32, 1, 1 + 0x1p-22, 0x1p-21f, 0.5, 2},
        {KW_FP32, 1.5, 1.5 - 0x1p-23, 0x1p-23f, 1, 1},
        {KW_FP32, -2, -2 - 0x1p-22, 0x1p-20f, 0.25, 1},
        {KW_FP32, 1 + 0x1p-25, 1, 0x1p-24f, 0.5, 0.25},         /* the reference is not rounded */
        {KW_FP32, 1 - 0x1p-24, 1 + 0x1p-23, 0x1p-22f, 0.75, 3}, /* the unit is the wanted value's */
        {KW_FP32, 0x1p-140, 0x1p-140 + 0x1p-149, 0x1p-148f, 0.5, 1},
        {KW_FP32, 0, 0x1p-148, 0x1p-147f, 0.5, 2},
        {KW_BF16, 1, 1 + 0x1p-7, 0x1p-7f, 1, 1},
        {KW_BF16, 192, 190, 8, 0.25, 2},
        {KW_FP16, 1000, 1002, 4, 0.5, 4},
        {KW_FP16, 0x1p-20, 0x1p-20 + 0x1p-24, 0x1p-23f, 0.5, 1},
        {KW_INT32, 100, 103, 0, 1e9, 3}, /* off where nothing is allowed */
        {KW_FP32, 1, NAN, 1, 1e9, 1e9},
        {KW_FP32, 1, INFINITY, 1, 1e9, 1e9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem;
        kw_dtype dtype = cases[i].dtype == KW_INT32 ? KW_INT8 : cases[i].dtype;
        assert_int_equal(kw_problem_parse(&problem, "gemm fp32 rcr m1 n1 k1", NULL), KW_OK);
        problem.dtype = dtype;
        double value = cases[i].wanted;
        float bound = cases[i].bound;
        _Alignas(8) unsigned char memory[8];
        kw_dtype_store(cases[i].dtype, memory, 0, cases[i].got);
        kw_expected expected = {.problem = problem, .exact = dtype == KW_INT8, .count = 1, .value = &value, .bound = &bound};
        kw_comparison comparison = {.expected = &expected, .poison = 0x7f};
        kw_compare(&comparison, memory, 0, 1);
        if (fabs(comparison.error - cases[i].error) > 1e-9 || fabs(comparison.ulp - cases[i].ulp) > 1e-9) {
            fail_msg("case %zu: error %g, ulp %g", i, comparison.error, comparison.ulp);
        }
    }
}

/* A share of the products' magnitudes, on real data alone. */
static void coarser_sums_are_allowed_what_their_kernel_says(void **state) {
    (void)state;
    static const struct {
        double sum_error, got;
        bool exact, right;
    } cases[] = {
        {0, 1.5, false, false},           {0x1p-11, 1.5, false, false}, {0x1p-4, 1.5, false, true},
        {0x1p-4, 1.515625, false, false}, {0x1p-4, 1.5, true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem;
        double value = 1;
        float bound = 0x1p-24f, magnitude = 8;
        _Alignas(8) unsigned char memory[8];
        assert_int_equal(kw_problem_parse(&problem, "gemm fp32 rcr m1 n1 k1", NULL), KW_OK);
        kw_dtype_store(KW_FP32, memory, 0, cases[i].got);
        kw_expected expected = {
            .problem = problem, .exact = cases[i].exact, .count = 1, .value = &value, .bound = &bound, .magnitude = &magnitude};
        kw_comparison comparison = {.expected = &expected, .sum_error = cases[i].sum_error, .poison = 0x7f};
        kw_compare(&comparison, memory, 0, 1);
        assert_int_equal(comparison.wrong == 0, cases[i].right);
    }
}

/* A kernel that sums in double is off by its one rounding; one that is allowed to be worse is told apart. */
static void a_right_kernels_error_is_recorded(void **state) {
    (void)state;
    static const char *const texts[] = {"conv_fwd fp32 nhwgc n2 g2 c6 k10 i7x6 f3x3 p1x1",
                                        "conv_fwd bf16 nhwgc n2 g2 c6 k10 i7x6 f3x3 p1x1", "gemm fp16 rcr m7 n5 k9"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fixture f = open_fixture(texts[i]);
        kw_record record = verify(&f, HOST_none, true);
        assert_true(record.error > 0 && record.error <= 1);
        assert_true(record.ulp > 0.2 && record.ulp <= 0.5);
        close_fixture(&f);
    }
    fixture f = open_fixture(texts[0]);
    kw_record right = verify(&f, HOST_none, true), nudged = verify(&f, HOST_nudges, true);
    assert_int_equal(nudged.outcome, KW_GOOD);
    assert_true(nudged.ulp > 0.9 && nudged.ulp <= 1.5);
    assert_true(nudged.error > 1.5 * right.error && nudged.error <= 1);
    close_fixture(&f);
    f = open_fixture("conv_fwd int8 nhwgc n2 g2 c6 k10 i7x6 f3x3 p1x1");
    assert_true(verify(&f, HOST_none, true).error == 0 && verify(&f, HOST_none, true).ulp == 0);
    close_fixture(&f);
}

/* The bound of a sum of n products of ones, by hand: n or 16 sqrt(n) roundings of the sum, and one of what is stored. */
static void the_bound_is_what_rounding_can_do_and_no_more(void **state) {
    (void)state;
    enum { MOST = 1024 };
    static const struct {
        const char *problem;
        double bound;
    } cases[] = {
        {"gemm fp32 rcr m1 n1 k1", 0x1p-24 + 0x1p-24},  {"gemm fp32 rcr m1 n1 k64", 0x1p-12 + 0x1p-18},
        {"gemm fp32 rcr m1 n1 k256", 0x1p-8 + 0x1p-16}, {"gemm fp32 rcr m1 n1 k1024", 0x1p-5 + 0x1p-14},
        {"gemm bf16 rcr m1 n1 k64", 0x1p-12 + 0x1p-2},  {"gemm fp16 rcr m1 n1 k64", 0x1p-12 + 0x1p-5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem;
        _Alignas(64) unsigned char ones[4 * MOST];
        kw_error err = {0};
        kw_expected expected;
        assert_ok(kw_problem_parse(&problem, cases[i].problem, &err), &err);
        for (int64_t j = 0; j < MOST; j++) {
            kw_dtype_store(problem.dtype, ones, j, 1);
        }
        kw_fill fill = kw_fill_real(&problem, 1);
        assert_ok(kw_expected_make(&expected, &problem, &fill, &(kw_group_memory){.tensor = {[KW_X] = ones, [KW_W] = ones}}, NULL, &err),
                  &err);
        assert_true(expected.count == 1 && expected.value[0] == (double)problem.gemm.k);
        if (fabs((double)expected.bound[0] / cases[i].bound - 1) > 1e-3) { /* the higher order terms are less */
            fail_msg("%s: %g, not %g", cases[i].problem, (double)expected.bound[0], cases[i].bound);
        }
        kw_expected_drop(&expected);
    }
}

static void three_tenths_that_are_not_zero_are_trusted(void **state) {
    (void)state;
    static const struct {
        size_t nonzero, possible;
        bool trusted;
    } cases[] = {{0, 0, true}, {0, 1, false}, {1, 1, true}, {3, 10, true}, {29, 100, false}, {30, 100, true}, {299, 1000, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_expected expected = {.nonzero = cases[i].nonzero, .possible = cases[i].possible};
        assert_int_equal(kw_expected_trusted(&expected), cases[i].trusted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_is_what_rounding_can_do_and_no_more),
        cmocka_unit_test(three_tenths_that_are_not_zero_are_trusted),
        cmocka_unit_test(faults_are_caught_with_all_elements_compared),
        cmocka_unit_test(faults_are_caught_with_a_sample_compared),
        cmocka_unit_test(messages_name_the_place),
        cmocka_unit_test(results_of_mostly_zeros_are_mistrusted),
        cmocka_unit_test(few_results_are_given_data_that_tells),
        cmocka_unit_test(zeros_by_definition_are_trusted),
        cmocka_unit_test(another_problems_kernel_is_unfit),
        cmocka_unit_test(errors_are_counted_in_bounds_and_last_places),
        cmocka_unit_test(coarser_sums_are_allowed_what_their_kernel_says),
        cmocka_unit_test(a_right_kernels_error_is_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
