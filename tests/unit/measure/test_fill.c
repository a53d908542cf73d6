/* test_fill.c: the data: the same whatever the order, exact where it must be, real where it must be; guarded buffers by themselves. */

#include "host.h"
#include "measure/data/buffers.h"
#include "measure/data/expected.h"
#include "problem/reference.h"
#include "problem/view.h"
#include "support/kw_test.h"

#include <math.h>

static kw_problem parse(const char *text) {
    kw_problem problem;
    kw_error err = {0};
    if (kw_problem_parse(&problem, text, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    return problem;
}

static void data_do_not_depend_on_the_order_of_filling(void **state) {
    (void)state;
    kw_problem problem = parse("gemm bf16 rcr m37 n5 k11");
    kw_fill fill = kw_fill_real(&problem, 3);
    uint16_t whole[37 * 11], parts[37 * 11];
    kw_fill_tensor(&fill, &problem, KW_X, 0, 407, whole);
    for (int64_t first = 0, step = 1; first < 407; first += step, step = step % 9 + 1) {
        step = first + step > 407 ? 407 - first : step;
        kw_fill_tensor(&fill, &problem, KW_X, first, step, parts + first);
    }
    assert_memory_equal(whole, parts, sizeof whole);
    fill.seed++;
    kw_fill_tensor(&fill, &problem, KW_X, 0, 407, parts);
    assert_memory_not_equal(whole, parts, sizeof whole);
}

/* Worst case of a partial sum stays exact in the accumulator, or the first operand is thinned until its expectation does. */
static void integer_sums_stay_exact(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double limit;
    } cases[] = {
        {"gemm fp32 rcr m4 n4 k1", 16777216},
        {"gemm fp32 rcr m4 n4 k4608", 16777216},
        {"gemm bf16 rcr m4 n4 k100000", 16777216},
        {"gemm fp16 rcr m4 n4 k5000", 16777216},
        {"gemm fp8 rcr m4 n4 k5000", 16777216},
        {"gemm int8 rcr m4 n4 k60000", 1073741824},
        {"gemm int8 rcr m4 n4 k2000000", 1073741824},
        {"gemm fp32 rcr m1 n1 k50000000", 16777216},
        {"conv_bwd_weight fp32 ndhwgc n4 c1 k1 i128x128x128 f1", 16777216},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem = parse(cases[i].text);
        kw_fill fill = kw_fill_exact(&problem, 1);
        double products = (double)kw_problem_view(&problem).gk, a = 0, b = 0;
        for (int tensor = 0; tensor < KW_TENSOR_COUNT; tensor++) {
            if ((kw_tensor)tensor != kw_problem_result(&problem)) {
                assert_true(fill.range[tensor] >= 1);
                *(a == 0 ? &a : &b) = fill.range[tensor];
            }
        }
        assert_true(products * fill.density * a * b <= cases[i].limit);
        assert_true(fill.density == 1 || products > cases[i].limit / 2);
    }
}

static void values_are_as_promised(void **state) {
    (void)state;
    static const char *const dtypes[] = {"fp32", "bf16", "fp16", "fp8", "bf8", "int8"};
    enum { COUNT = 5000 };
    static uint32_t memory[COUNT];
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        char text[64];
        snprintf(text, sizeof text, "gemm %s rcr m50 n50 k100", dtypes[i]);
        kw_problem problem = parse(text);
        for (int real = 0; real < 2; real++) {
            kw_fill fill = real ? kw_fill_real(&problem, 9) : kw_fill_exact(&problem, 9);
            kw_fill_tensor(&fill, &problem, KW_X, 0, COUNT, memory);
            int negative = 0;
            double least = INFINITY, most = 0;
            for (int64_t j = 0; j < COUNT; j++) {
                double value = kw_dtype_load(problem.dtype, memory, j);
                negative += value < 0;
                least = fmin(least, fabs(value));
                most = fmax(most, fabs(value));
                assert_true(!fill.exact || value == rint(value));
            }
            assert_true(negative > COUNT / 3 && negative < 2 * COUNT / 3);
            assert_true(fill.exact ? least == 1 && most == fill.range[KW_X] : least >= 1.0 / 64 && most <= 1 && most > 0.9);
        }
    }
}

/* Each tensor that an epilogue reads is filled to its end and no further, whatever reads before it. */
static void what_an_epilogue_reads_is_filled_to_its_end(void **state) {
    (void)state;
    enum { ROOM = 4096 };
    kw_problem problem = parse("gemm int8 rcr m9 n40 k16 out=int8 epilogue=scale_channel:fp32+bias:fp32+add:int8");
    kw_extra extras[KW_EXTRA_MAX];
    assert_int_equal(kw_problem_extras(extras, &problem), 3);
    assert_int_equal(extras[2].elements, 9 * 40);
    for (int exact = 0; exact < 2; exact++) {
        kw_fill fill = exact ? kw_fill_exact(&problem, 3) : kw_fill_real(&problem, 3);
        for (int step = 0; step < 3; step++) {
            float memory[ROOM] = {0};
            kw_dtype dtype = problem.epilogue.step[step].dtype;
            kw_fill_extra(&fill, &problem, step, memory);
            assert_true(kw_dtype_load(dtype, memory, extras[step].elements - 1) != 0);
            assert_true(kw_dtype_load(dtype, memory, extras[step].elements) == 0);
        }
    }
}

static void samples_visit_every_place_of_every_axis(void **state) {
    (void)state;
    kw_problem problem = parse("conv_fwd fp32 nhwgc n2 g2 c64 k40 i40x48 f3x3 p1x1");
    kw_fill fill = kw_fill_exact(&problem, 1);
    float *x = calloc((size_t)kw_problem_elements(&problem, KW_X), sizeof *x);
    float *w = calloc((size_t)kw_problem_elements(&problem, KW_W), sizeof *w);
    assert_non_null(x);
    assert_non_null(w);
    kw_expected expected;
    assert_int_equal(kw_expected_make(&expected, &problem, &fill, &(kw_group_memory){{x, w, NULL}, {0}}, NULL, NULL), KW_OK);
    assert_non_null(expected.index);
    kw_tensor_axis axes[KW_TENSOR_AXES];
    int count = kw_tensor_axes(axes, &problem, KW_Y);
    assert_int_equal(count, 5);
    bool seen[KW_TENSOR_AXES][64] = {0};
    for (size_t i = 0; i < expected.count; i++) {
        assert_true(i == 0 || expected.index[i - 1] < expected.index[i]);
        int64_t rest = expected.index[i];
        for (int axis = count - 1; axis >= 0; axis--) {
            seen[axis][rest % axes[axis].extent] = true;
            rest /= axes[axis].extent;
        }
        assert_int_equal(rest, 0);
    }
    for (int axis = 0; axis < count; axis++) {
        for (int64_t place = 0; place < axes[axis].extent; place++) {
            assert_true(seen[axis][place]);
        }
    }
    assert_false(kw_expected_trusted(&expected)); /* of zeros */
    kw_expected_drop(&expected);
    free(x);
    free(w);
}

static void strays_are_seen_on_both_sides(void **state) {
    (void)state;
    kw_device *device = NULL;
    kw_error err = {0};
    assert_int_equal(host_backend.open(&device, 0, 1, &err), KW_OK);
    for (int64_t size = 0; size < 200; size += 37) {
        kw_buffer buffer;
        assert_int_equal(kw_buffer_open(&buffer, &host_backend, device, "it", size, &err), KW_OK);
        assert_int_equal((uintptr_t)buffer.start % KW_BUFFER_ALIGN, 0);
        const int64_t strays[] = {-1, -KW_GUARD_BYTES, size, size + KW_GUARD_BYTES - 1};
        for (size_t i = 0; i < sizeof strays / sizeof *strays; i++) {
            for (int shift = 0; shift < 4; shift += 2) {
                kw_buffer_shift(&buffer, shift);
                assert_int_equal(kw_buffer_guard(&buffer, 0x7f, &err), KW_OK);
                assert_int_equal(kw_buffer_poison(&buffer, 0, &err), KW_OK);
                assert_int_equal(kw_buffer_intact(&buffer, &err), KW_OK);
                buffer.start[strays[i]] ^= 1;
                assert_int_equal(kw_buffer_intact(&buffer, &err), KW_FAILED);
                assert_non_null(strstr(err.text, strays[i] < 0 ? "before its start" : "past its end"));
            }
        }
        kw_buffer_close(&buffer);
    }
    kw_buffer buffer;
    assert_int_equal(kw_buffer_open(&buffer, &host_backend, device, "it", INT64_MAX - 5, &err), KW_ILLEGAL);
    host_backend.close(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_do_not_depend_on_the_order_of_filling),
        cmocka_unit_test(integer_sums_stay_exact),
        cmocka_unit_test(values_are_as_promised),
        cmocka_unit_test(what_an_epilogue_reads_is_filled_to_its_end),
        cmocka_unit_test(samples_visit_every_place_of_every_axis),
        cmocka_unit_test(strays_are_seen_on_both_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
