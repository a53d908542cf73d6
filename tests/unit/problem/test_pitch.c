/* test_pitch.c: matrices that are parts of larger ones: their text, what is refused, where each element lies. */
#include "problem/identity.h"
#include "support/kw_test.h"

#include <string.h>

#define GEMM "gemm fp32 rcr b3 m5 n6 k7"

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
    conv.pitch[KW_X][0] = 9;
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
                                        "gemm fp32 rcr b4 m1 n6 k7 stridec9"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kw_problem problem = parse(texts[i]);
        int64_t places = kw_problem_elements(&problem, KW_Y), values = kw_problem_values(&problem, KW_Y), found = 0;
        assert_int_equal(values, problem.gemm.batch * problem.gemm.m * problem.gemm.n);
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
        cmocka_unit_test(what_changes_nothing_is_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
