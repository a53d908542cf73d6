/* test_derived.c: sizes, bytes and exact operation counts against counting by hand. */

#include "problem/view.h"
#include "random.h"
#include "support/kw_test.h"

static int64_t count_axis(const kw_conv_dims *conv, const int64_t out[3], int axis) {
    int64_t pairs = 0;
    for (int64_t o = 0; o < out[axis]; o++) {
        for (int64_t t = 0; t < conv->filter[axis]; t++) {
            int64_t x = o * conv->stride[axis] - conv->pad[axis] + t * conv->dilation[axis];
            pairs += x >= 0 && x < conv->in[axis];
        }
    }
    return pairs;
}

static void operations_are_those_really_formed(void **state) {
    (void)state;
    uint64_t random = 6;
    for (int i = 0; i < 20000; i++) {
        kw_problem problem = random_problem(&random, (kw_op)(i % KW_OP_COUNT), i % 8 ? 12 : 300);
        int64_t out[3], expected;
        if (problem.op == KW_GEMM) {
            expected = 2 * problem.gemm.batch * problem.gemm.m * problem.gemm.n * problem.gemm.k;
        } else {
            const kw_conv_dims *conv = &problem.conv;
            kw_problem_output(out, &problem);
            expected = 2 * conv->n * (conv->c / conv->g) * conv->k;
            for (int axis = 0; axis < 3; axis++) {
                int64_t pairs = count_axis(conv, out, axis);
                assert_int_equal(kw_problem_axis_products(&problem, axis), pairs);
                expected *= pairs;
            }
        }
        assert_int_equal(kw_problem_flops(&problem), expected);
    }
}

/* The count takes steps as of a greatest common divisor, so extents of any size cost nothing. */
static void huge_extents_are_counted_at_once(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t flops;
    } cases[] = {
        {"conv_fwd fp32 c1 k1 i3000000000 f1500000000", 2 * 1500000001LL * 1500000000LL},
        {"conv_fwd fp32 c1 k1 i1000000000000 f3 p1", 2 * (3 * 1000000000000LL - 2)},
        {"conv_bwd_data fp32 c1 k1 i1000000000000 f3 s1000000", 2 * 3 * 1000000LL},
        {"conv_fwd fp32 c1 k1 i1 f1000000001 p500000000", 2},
        {"conv_fwd fp32 c1 k1 i1 f1 s9223372036854775807 d9223372036854775807", 2},
        {"conv_fwd fp32 c1 k1 i1000000001 f3 d500000000 p500000000", 2 * (1000000001LL + 2 * 500000001LL)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem;
        kw_error err = {0};
        if (kw_problem_parse(&problem, cases[i].text, &err)) {
            fail_msg("%s", err.text);
        }
        assert_int_equal(kw_problem_flops(&problem), cases[i].flops);
    }
}

static void sizes_follow_the_layout_and_the_output_rule(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t elements[KW_TENSOR_COUNT];
        kw_dtype dtypes[KW_TENSOR_COUNT];
        int64_t bytes;
        kw_tensor result;
    } cases[] = {
        {"gemm fp32 b2 m3 n5 k7", {42, 70, 30}, {KW_FP32, KW_FP32, KW_FP32}, 4 * 142, KW_Y},
        {"gemm int8 m3 n5 k7", {21, 35, 15}, {KW_INT8, KW_INT8, KW_INT32}, 56 + 60, KW_Y},
        {"conv_fwd fp8 nhwgc n2 g2 c4 k6 i5x4 f3x2", {160, 72, 108}, {KW_FP8, KW_FP8, KW_FP16}, 232 + 216, KW_Y},
        {"conv_bwd_data bf8 nhwgc n2 g2 c4 k6 i5x4 f3x2", {160, 72, 108}, {KW_FP16, KW_BF8, KW_BF8}, 320 + 180, KW_X},
        {"conv_bwd_weight int8 ngchw n2 g2 c4 k6 i5x4 f3x2", {160, 72, 108}, {KW_INT8, KW_INT32, KW_INT8}, 268 + 288, KW_W},
        {"conv_bwd_weight bf16 c4 k6 i5 f3 s2 p1:0", {20, 72, 12}, {KW_BF16, KW_BF16, KW_BF16}, 208, KW_W},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem;
        assert_int_equal(kw_problem_parse(&problem, cases[i].text, NULL), KW_OK);
        for (kw_tensor tensor = 0; tensor < KW_TENSOR_COUNT; tensor++) {
            assert_int_equal(kw_problem_elements(&problem, tensor), cases[i].elements[tensor]);
            assert_int_equal(kw_problem_dtype(&problem, tensor), cases[i].dtypes[tensor]);
        }
        assert_int_equal(kw_problem_bytes(&problem), cases[i].bytes);
        assert_int_equal(kw_problem_result(&problem), cases[i].result);
    }
}

static void outputs_are_rounded_down(void **state) {
    (void)state;
    kw_problem problem;
    int64_t out[3];
    assert_int_equal(kw_problem_parse(&problem, "conv_fwd fp32 nhwgc c1 k1 i224x7 f7x3 s2x3 p3x0:2x-1 d1x2", NULL), KW_OK);
    kw_problem_output(out, &problem);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 112);
    assert_int_equal(out[2], 1);
}

/* 16 bytes an element of each tensor must fit 63 bits: the largest that do, and one more. */
static void tensors_are_legal_up_to_the_last_byte(void **state) {
    (void)state;
    static const struct {
        const char *text, *fault; /* NULL: legal */
    } cases[] = {
        {"gemm int8 m1073741824 k536870911 n1", NULL},
        {"gemm int8 m1073741824 k536870912 n1", "a tensor's size in bytes would not fit"},
        {"gemm int8 m1 k536870911 n1073741824", NULL},
        {"gemm int8 m1 k536870912 n1073741824", "a tensor's size in bytes would not fit"},
        {"gemm int8 m1073741824 k1 n536870911", NULL},
        {"gemm int8 m1073741824 k1 n536870912", "a tensor's size in bytes would not fit"},
        {"gemm int8 b2 m536870912 k1 n536870912", "a tensor's size in bytes would not fit"},
        {"conv_fwd int8 n1 c1073741824 k1 i536870911 f1", NULL},
        {"conv_fwd int8 n1 c1073741824 k1 i536870912 f1", "a tensor's size in bytes (with padding) would not fit"},
        {"conv_fwd int8 n1 c1 k1073741824 i536870911 f1", NULL},
        {"conv_fwd int8 n1 c1 k1073741824 i536870910 f1 p1", "a tensor's size in bytes (with padding) would not fit"},
        {"conv_fwd int8 n2 c1 k536870912 i536870912 f1", "a tensor's size in bytes (with padding) would not fit"},
        {"conv_fwd int8 n1 c1073741824 k536870911 i1 f1", NULL},
        {"conv_fwd int8 n1 c1073741824 k536870912 i1 f1", "a tensor's size in bytes (with padding) would not fit"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem;
        kw_error err = {0};
        kw_status status = kw_problem_parse(&problem, cases[i].text, &err);
        if (status != (cases[i].fault ? KW_ILLEGAL : KW_OK) || (cases[i].fault && !strstr(err.text, cases[i].fault))) {
            fail_msg("%s: %s %s", cases[i].text, kw_status_name(status), err.text);
        }
    }
}

static void axes_say_where_each_element_lies(void **state) {
    static const struct {
        const char *text;
        kw_tensor tensor;
        int count;
        int64_t extent[KW_AXES_MAX], stride[KW_AXES_MAX];
    } cases[] = {
        {"gemm fp32 rcr b3 m5 n6 k7", KW_X, 3, {3, 5, 7}, {35, 7, 1}},
        {"gemm fp32 rcr b3 m5 n6 k7", KW_W, 3, {3, 7, 6}, {42, 1, 7}},
        {"gemm fp32 ccr b3 m5 n6 k7 lda9 stridea0", KW_X, 3, {3, 5, 7}, {0, 1, 9}},
        {"gemm fp32 rrr b3 m5 n6 k7 ldc8", KW_Y, 3, {3, 5, 6}, {40, 8, 1}},
        {"conv_fwd fp32 nhwgc n2 g2 c4 k6 i5x7 f3x2", KW_X, 4, {2, 4, 5, 7}, {140, 1, 28, 4}},
        {"conv_fwd fp32 nhwgc n2 g2 c4 k6 i5x7 f3x2", KW_W, 4, {6, 2, 3, 2}, {12, 1, 4, 2}},
        {"conv_fwd fp32 ngchw n2 g2 c4 k6 i5x7 f3x2", KW_Y, 4, {2, 6, 3, 6}, {108, 18, 6, 1}},
        {"conv_fwd fp32 nwgc n2 c4 k6 i5 f3", KW_X, 3, {2, 4, 5}, {20, 1, 4}},
        {"conv_bwd_weight fp32 ngcdhw n2 g2 c4 k6 i5x7x3 f3x2x1", KW_W, 5, {6, 2, 3, 2, 1}, {12, 6, 2, 1, 1}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem;
        int64_t extent[KW_AXES_MAX] = {0}, stride[KW_AXES_MAX] = {0};
        assert_int_equal(kw_problem_parse(&problem, cases[i].text, NULL), KW_OK);
        assert_int_equal(kw_problem_axes(extent, stride, &problem, cases[i].tensor), cases[i].count);
        assert_memory_equal(extent, cases[i].extent, sizeof extent);
        assert_memory_equal(stride, cases[i].stride, sizeof stride);
        int64_t last = 0;
        for (int axis = 0; axis < cases[i].count; axis++) {
            last += (extent[axis] - 1) * stride[axis];
        }
        assert_int_equal(last + 1, kw_problem_elements(&problem, cases[i].tensor));
    }
}

/* A twentieth of an axis' pairs of a result's pixel and a tap; none in front is counted with those behind. */
static void much_padding_is_a_twentieth_of_what_is_read(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool much;
    } cases[] = {
        {"conv_fwd fp32 nhwgc c1 k1 i13x20 f3x3 p1x0", true},
        {"conv_fwd fp32 nhwgc c1 k1 i14x20 f3x3 p1x0", false},
        {"conv_fwd fp32 nhwgc c1 k1 i6x20 f3x3 p0x0:1x0", true},
        {"conv_fwd fp32 nhwgc c1 k1 i20x20 f3x3 p0x9", true},
        {"conv_fwd fp32 ndhwgc c1 k1 i2x20x20 f3x3x3 p1x0x0", false},
        {"conv_bwd_data fp32 nhwgc c1 k1 i13x20 f3x3 p1x1", true},
        {"conv_bwd_data fp32 nhwgc c1 k1 i13x20 f3x3 s2x1 p1x1", false},
        {"conv_bwd_weight fp32 nhwgc c1 k1 i5x5 f3x3 p1x1", false},
        {"conv_fwd fp32 nhwgc c1 k1 i5x5 f3x3", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem;
        assert_int_equal(kw_problem_parse(&problem, cases[i].text, NULL), KW_OK);
        assert_int_equal(kw_problem_reads_padding(&problem), cases[i].much);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(much_padding_is_a_twentieth_of_what_is_read), cmocka_unit_test(axes_say_where_each_element_lies),
        cmocka_unit_test(operations_are_those_really_formed),          cmocka_unit_test(huge_extents_are_counted_at_once),
        cmocka_unit_test(sizes_follow_the_layout_and_the_output_rule), cmocka_unit_test(outputs_are_rounded_down),
        cmocka_unit_test(tensors_are_legal_up_to_the_last_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
