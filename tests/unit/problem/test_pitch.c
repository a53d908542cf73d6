/* test_pitch.c: matrices that are parts of larger ones: their text, what is refused, where each element lies. */
#include "base/math.h"
#include "problem/identity.h"
#include "problem/tensors/runs.h"
#include "support/kw_test.h"

#include <string.h>

#define GEMM "gemm fp32 rcr b3 m5 n6 k7"
#define CONV "conv_fwd fp32 nhwgc n2 g1 c3 k5 i6x7 f3x3 s1x1 p1x1 d1x1"

static kw_problem parse(const char *text) {
    kw_problem problem;
    kw_error err = {0};
    assert_ok(kw_problem_parse(&problem, text, &err), &err);
    return problem;
}

static void text_says_what_was_read(void **state) {
    static const struct {
        const char *given, *printed;
    } cases[] = {
        {GEMM " lda7 ldb7 ldc6 stridea35 strideb42 stridec30", GEMM}, /* as it is anyway */
        {GEMM " lda8", GEMM " lda8"},
        {GEMM " lda8 stridea40", GEMM " lda8"},
        {GEMM " stridea0 strideb0", GEMM " stridea0 strideb0"},
        {"gemm fp32 rcr b1 m5 n6 k7 stridea99", "gemm fp32 rcr b1 m5 n6 k7"}, /* one matrix has no next one */
        {"gemm fp32 rcr b1 m1 n6 k7 lda99", "gemm fp32 rcr b1 m1 n6 k7"},
        {"stridec6 ldc18 " GEMM, GEMM " ldc18 stridec6"},
        {"gemm fp32 ccr b3 m5 n6 k7 lda9 epilogue=relu", "gemm fp32 ccr b3 m5 n6 k7 lda9 epilogue=relu"},
        {CONV " ldxw3 ldxh21 ldxd126 ldxn126 ldyw5", CONV}, /* as it is anyway; there is one plane */
        {CONV " ldyn999 ldxw4 ldxh28", CONV " ldxw4 ldyn999"},
        {"ldxn6 " CONV " ldxw12", CONV " ldxw12 ldxn6"}, /* images that lie between the pixels of others */
        {"conv_fwd fp32 ngchw n2 g1 c3 k5 i6x7 f3x3 s1x1 p1x1 d1x1 ldxc60 ldxh7 ldyh9",
         "conv_fwd fp32 ngchw n2 g1 c3 k5 i6x7 f3x3 s1x1 p1x1 d1x1 ldxc60 ldyh9"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[KW_PROBLEM_TEXT_MAX];
        kw_problem problem = parse(cases[i].given), again;
        kw_problem_print(text, sizeof text, &problem);
        assert_string_equal(text, cases[i].printed);
        again = parse(text);
        assert_memory_equal(&problem, &again, sizeof problem);
    }
}

static void what_cannot_be_is_refused(void **state) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {GEMM " lda6", "lda=6 is below the 7 elements"},
        {"gemm fp32 ccr m5 n6 k7 lda4", "lda=4 is below the 5 elements"},
        {GEMM " ldc5", "ldc=5 is below the 6 elements"},
        {GEMM " stridec0", "each result needs a place of its own"},
        {GEMM " stridec29", "use at least 30, or ldc at least 64"},
        {GEMM " ldc17 stridec6", "makes results of the batch overlap"},
        {GEMM " ldc18 stridec5", "makes results of the batch overlap"},
        {GEMM " lda0", "at least 1"},
        {GEMM " lda8 lda8", "a second time"},
        {GEMM " lda", "no distance"},
        {GEMM " lda9223372036854775807", "more than 63 bits hold"},
        {GEMM " strideb9223372036854775807", "more than 63 bits hold"},
        {"conv_fwd fp32 c8 k8 i8 f3 lda9", "is not known"},
        {CONV " ldxc4", "names no axis; behind ldx stands one of whdn"},
        {"conv_fwd fp32 nchw c3 k5 i6x7 f3x3 ldyw4", "names no axis; behind ldy stands one of hdcn"},
        {CONV " ldx", "names no axis"},
        {CONV " ldxw0", "at least 1"},
        {CONV " ldxw4 ldxw4", "a second time"},
        {CONV " ldxw2", "ldxw=2 makes elements of x overlap; use at least 3"},
        {CONV " ldyh34", "ldyh=34 makes elements of y overlap; use at least 35"},
        {CONV " ldyw11 ldyn4", "ldyn=4 makes elements of y overlap"},
        {CONV " ldyn9223372036854775807", "more than 63 bits hold"},
        {CONV " ldxw9223372036854775807", "more than 63 bits hold"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem;
        kw_error err = {0};
        assert_true(kw_problem_parse(&problem, cases[i].text, &err) != KW_OK);
        if (!strstr(err.text, cases[i].says)) {
            fail_msg("%s: %s", cases[i].text, err.text);
        }
    }
    kw_error err = {0};
    kw_problem conv = parse("conv_fwd fp32 c8 k8 i8 f3");
    conv.pitch[KW_W][0] = 9;
    assert_int_equal(kw_problem_check(&conv, &err), KW_ILLEGAL);
    conv.pitch[KW_W][0] = 0;
    conv.pitch[KW_Y][3] = KW_BROADCAST;
    assert_int_equal(kw_problem_check(&conv, &err), KW_ILLEGAL);
    kw_problem gemm = parse(GEMM);
    gemm.pitch[KW_W][2] = 1;
    assert_int_equal(kw_problem_check(&gemm, &err), KW_ILLEGAL);
}

/* Every element has a place of its own, every place that no element has is a gap, and the last one ends the tensor. */
static void elements_and_places_are_each_others(void **state) {
    static const char *const texts[] = {GEMM,
                                        GEMM " ldc8",
                                        GEMM " ldc8 stridec50",
                                        GEMM " ldc20 stridec6",
                                        GEMM " ldc23 stridec7",
                                        "gemm fp32 rcr b1 m1 n6 k7",
                                        "gemm fp32 rcr b4 m1 n6 k7 stridec9",
                                        CONV,
                                        CONV " ldyw7",
                                        CONV " ldyw10 ldyn5 ldyh77",
                                        CONV " ldyh500 ldyn40",
                                        "conv_fwd fp32 ndhwc n2 c3 k5 i2x6x1 f1x3x1 p0x1x0 ldyw6 ldyd41 ldyn90",
                                        "conv_fwd fp32 ngcdhw n2 c3 k5 i2x6x7 f1 ldyh9 ldyc120 ldyd56 ldyn1000"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kw_problem problem = parse(texts[i]);
        int64_t places = kw_problem_elements(&problem, KW_Y), values = kw_problem_values(&problem, KW_Y), found = 0;
        int64_t extent[KW_AXES_MAX], stride[KW_AXES_MAX], all = 1;
        for (int axis = kw_problem_axes(extent, stride, &problem, KW_Y) - 1; axis >= 0; axis--) {
            all *= extent[axis];
        }
        assert_int_equal(values, all);
        for (int64_t index = 0; index < values; index++) {
            int64_t place = kw_problem_place(&problem, KW_Y, index);
            assert_true(place >= 0 && place < places);
            assert_int_equal(kw_problem_index(&problem, KW_Y, place), index);
        }
        for (int64_t place = 0; place < places; place++) {
            found += kw_problem_index(&problem, KW_Y, place) >= 0;
        }
        assert_int_equal(found, values);
        assert_true(kw_problem_index(&problem, KW_Y, places - 1) == values - 1);
    }
    kw_problem shared = parse(GEMM " strideb0");
    assert_int_equal(kw_problem_elements(&shared, KW_W), 6 * 7);
    assert_int_equal(kw_problem_values(&shared, KW_W), 6 * 7);
    kw_problem dense = parse(GEMM);
    assert_int_equal(kw_problem_bytes(&dense) - kw_problem_bytes(&shared), 2 * 6 * 7 * 4);
}

/* Every element is in a run, and in those that are exact there is nothing else. */
static void runs_have_all_elements(void **state) {
    static const struct {
        const char *text;
        kw_runs y; /* {0}: not exact */
    } cases[] = {
        {GEMM, {90, 90, 1}},
        {GEMM " ldc9", {6, 9, 15}},
        {GEMM " stridec40", {30, 40, 3}},
        {GEMM " ldc18 stridec6", {18 * 5, 18 * 5, 1}},
        {GEMM " ldc20 stridec6", {18, 20, 5}},
        {GEMM " ldc9 stridec90", {0}},
        {GEMM " ldc9 stridec91", {0}},
        {GEMM " ldc40 stridec7", {0}},
        {CONV, {420, 420, 1}},
        {CONV " ldyw8", {5, 8, 84}},
        {CONV " ldyn999", {210, 999, 2}},
        {CONV " ldyw12 ldyn6", {0}},
        {"conv_fwd fp32 ngchw n2 g1 c3 k5 i6x7 f3x3 p1x1 ldyn999", {210, 999, 2}},
        {"conv_fwd fp32 ngchw n2 g1 c3 k5 i6x7 f3x3 p1x1 ldyh9 ldyn999", {0}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem = parse(cases[i].text);
        kw_runs runs = kw_problem_runs(&problem, KW_Y);
        int64_t values = kw_problem_values(&problem, KW_Y);
        for (int64_t e = 0; e < values; e++) {
            int64_t place = kw_problem_place(&problem, KW_Y, e), run = kw_min(place / runs.step, runs.count - 1);
            assert_true(place - run * runs.step < runs.length);
        }
        if (cases[i].y.count) {
            assert_memory_equal(&runs, &cases[i].y, sizeof runs);
            assert_int_equal(runs.length * runs.count, values);
        }
        assert_true((runs.count - 1) * runs.step + runs.length <= kw_problem_elements(&problem, KW_Y));
    }
}

static void what_changes_nothing_is_no_difference(void **state) {
    kw_problem a = parse(GEMM), b = a, same[2];
    (void)state;
    b.pitch[KW_X][0] = 7;
    b.pitch[KW_Y][1] = 30;
    kw_problem_normalize(&same[0], &a);
    kw_problem_normalize(&same[1], &b);
    assert_memory_equal(&same[0], &same[1], sizeof a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_says_what_was_read),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(elements_and_places_are_each_others),
        cmocka_unit_test(runs_have_all_elements),
        cmocka_unit_test(what_changes_nothing_is_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
