/* test_parse.c: a problem's text: what is printed is read back, the order of words is free, faults are named. */

#include "random.h"
#include "support/kw_test.h"

#include <inttypes.h>

static void printed_problems_are_read_back(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        kw_problem problem = random_problem(&random, (kw_op)(i % KW_OP_COUNT), i % 3 ? 9 : 100000), again;
        char text[KW_PROBLEM_TEXT_MAX], twice[KW_PROBLEM_TEXT_MAX];
        kw_error err = {0};
        size_t length = kw_problem_print(text, sizeof text, &problem);
        assert_int_equal(length, strlen(text));
        memset(&again, 0xa5, sizeof again);
        if (kw_problem_parse(&again, text, &err)) {
            fail_msg("%s: %s", text, err.text);
        }
        assert_memory_equal(&again, &problem, sizeof problem);
        kw_problem_print(twice, sizeof twice, &again);
        assert_string_equal(text, twice);
    }
}

static void words_in_any_order_mean_the_same(void **state) {
    (void)state;
    uint64_t random = 2;
    for (int i = 0; i < 4000; i++) {
        kw_problem problem = random_problem(&random, (kw_op)(i % KW_OP_COUNT), 50), again;
        char text[KW_PROBLEM_TEXT_MAX], shuffled[2 * KW_PROBLEM_TEXT_MAX] = "", *words[16], *rest = text;
        kw_problem_print(text, sizeof text, &problem);
        int count = 0;
        for (char *word; (word = strtok_r(rest, " ", &rest));) {
            words[count++] = word;
        }
        for (int j = count; j > 0; j--) {
            int64_t pick = random_between(&random, 0, j - 1);
            strcat(strcat(shuffled, words[pick]), random_between(&random, 0, 1) ? " " : " \t ");
            words[pick] = words[j - 1];
        }
        kw_error err = {0};
        if (kw_problem_parse(&again, shuffled, &err)) {
            fail_msg("%s: %s", shuffled, err.text);
        }
        assert_memory_equal(&again, &problem, sizeof problem);
    }
}

static void what_is_not_said_has_its_default(void **state) {
    (void)state;
    static const struct {
        const char *text, *canonical;
    } cases[] = {
        {"conv_fwd bf16 nhwgc n32 c64 k64 i56x56 f3x3 p1x1", "conv_fwd bf16 nhwgc n32 g1 c64 k64 i56x56 f3x3 s1x1 p1x1 d1x1"},
        {"conv_fwd fp32 nhwgc c64 k32 i56 f3 p1 s2 d2", "conv_fwd fp32 nhwgc n1 g1 c64 k32 i56x56 f3x3 s2x2 p1x1 d2x2"},
        {"conv_bwd_data fp16 c4 k4 i9 f3", "conv_bwd_data fp16 nwgc n1 g1 c4 k4 i9 f3 s1 p0 d1"},
        {"conv_bwd_weight fp8 c4 k4 i9 f3x1x2", "conv_bwd_weight fp8 ndhwgc n1 g1 c4 k4 i9x9x9 f3x1x2 s1x1x1 p0x0x0 d1x1x1"},
        {"conv_fwd bf8 ngchw c4 k4 i9x8 f3 p1:2", "conv_fwd bf8 ngchw n1 g1 c4 k4 i9x8 f3x3 s1x1 p1x1:2x2 d1x1"},
        {"conv_fwd int8 c4 k4 i9 f3 p1:0x-1", "conv_fwd int8 nhwgc n1 g1 c4 k4 i9x9 f3x3 s1x1 p1x1:0x-1 d1x1"},
        {"conv_fwd fp32 c4 k4 i9x9 f3 p2x1:2x1", "conv_fwd fp32 nhwgc n1 g1 c4 k4 i9x9 f3x3 s1x1 p2x1 d1x1"},
        {"gemm fp32 m128 n64 k256", "gemm fp32 rcr b1 m128 n64 k256"},
        {"  ccr\tm0128 k1 b7 n2 gemm int8\n", "gemm int8 ccr b7 m128 n2 k1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem;
        kw_error err = {0};
        char text[KW_PROBLEM_TEXT_MAX];
        if (kw_problem_parse(&problem, cases[i].text, &err)) {
            fail_msg("%s: %s", cases[i].text, err.text);
        }
        kw_problem_print(text, sizeof text, &problem);
        assert_string_equal(text, cases[i].canonical);
        assert_int_equal(err.status, KW_OK);
    }
}

static void faults_are_named_with_the_rule_and_the_way_out(void **state) {
    (void)state;
    static const struct {
        const char *text;
        kw_status status;
        const char *fragments[3];
    } cases[] = {
        {"", KW_MALFORMED, {"names no operation", "gemm, conv_fwd"}},
        {"hello world", KW_MALFORMED, {"\"hello world\"", "no operation"}},
        {"conv fp32 c1 k1 i1 f1", KW_MALFORMED, {"no operation", "conv_bwd_weight"}},
        {"conv_fwd c1 k1 i1 f1", KW_MALFORMED, {"no dtype", "bf16"}},
        {"conv_fwd fp64 c1 k1 i1 f1", KW_MALFORMED, {"no dtype", "bf16"}},
        {"conv_fwd fp32 fp64 c1 k1 i1 f1", KW_MALFORMED, {"\"fp64\" is no size"}},
        {"conv_fwd conv_fwd fp32", KW_MALFORMED, {"\"conv_fwd\"", "second time", "keep one"}},
        {"conv_fwd fp32 fp16", KW_MALFORMED, {"\"fp16\"", "dtype a second time"}},
        {"conv_fwd fp32 nwgc ngcw", KW_MALFORMED, {"\"ngcw\"", "layout a second time"}},
        {"conv_fwd fp32 c64 c32", KW_MALFORMED, {"\"c32\"", "second time, after \"c64\""}},
        {"conv_fwd fp32 q7", KW_MALFORMED, {"\"q7\" is not known", "n g c k i f s p d"}},
        {"gemm fp32 m1 n1 k1 c1", KW_MALFORMED, {"\"c1\" is not known", "b g m n k"}},
        {"conv_fwd fp32 k1 i1 f1", KW_MALFORMED, {"c (input channels of all groups) is missing", "c64"}},
        {"conv_fwd fp32 c1 k1 f1", KW_MALFORMED, {"i (input extents) is missing", "i56x56"}},
        {"gemm fp32 m1 n1", KW_MALFORMED, {"k (columns of A, rows of B) is missing"}},
        {"conv_fwd fp32 c k1 i1 f1", KW_MALFORMED, {"\"c\" is no size", "at least 1"}},
        {"conv_fwd fp32 c-1 k1 i1 f1", KW_MALFORMED, {"\"c-1\" is no size"}},
        {"conv_fwd fp32 c+1 k1 i1 f1", KW_MALFORMED, {"\"c+1\" is no size"}},
        {"conv_fwd fp32 c0 k1 i1 f1", KW_MALFORMED, {"\"c0\" is no size", "at least 1"}},
        {"conv_fwd fp32 c1.5 k1 i1 f1", KW_MALFORMED, {"\"c1.5\" is no size"}},
        {"conv_fwd fp32 c1x1 k1 i1 f1", KW_MALFORMED, {"\"c1x1\" is no size", "one whole number"}},
        {"conv_fwd fp32 c9223372036854775808 k1 i1 f1", KW_MALFORMED, {"\"c9223372036854775808\"", "19 digits"}},
        {"conv_fwd fp32 c1 k1 i1x1x1x1 f1", KW_MALFORMED, {"\"i1x1x1x1\" is no size"}},
        {"conv_fwd fp32 c1 k1 i1x f1", KW_MALFORMED, {"\"i1x\" is no size"}},
        {"conv_fwd fp32 c1 k1 i0 f1", KW_MALFORMED, {"\"i0\" is no size"}},
        {"conv_fwd fp32 c1 k1 i1 f1 p-1", KW_MALFORMED, {"\"p-1\" is no size", "at least 0", "p1x1:2x2"}},
        {"conv_fwd fp32 c1 k1 i1 f1 p1:", KW_MALFORMED, {"\"p1:\" is no size"}},
        {"conv_fwd fp32 c1 k1 i1 f1 s1:1", KW_MALFORMED, {"\"s1:1\" is no size"}},
        {"conv_fwd fp32 nhwgc c1 k1 i8x8x8 f1", KW_MALFORMED, {"\"i8x8x8\" has 3 extents", "2 spatial axes (nhwgc)"}},
        {"conv_fwd fp32 c1 k1 i8x8 f1x1x1", KW_MALFORMED, {"\"i8x8\" has 2 extents", "3 spatial axes"}},
        {"conv_fwd fp32 c1 k1 i8x8 f1 p1:1x1x1", KW_MALFORMED, {"\"i8x8\" has 2 extents"}},
        {"conv_fwd fp32 nhwgc c1 k1 i8x8 f1 p1:1x1x1", KW_MALFORMED, {"\"p1:1x1x1\" has 3 extents"}},
        {"conv_fwd fp32 rcr c1 k1 i1 f1", KW_MALFORMED, {"layout rcr does not belong to conv_fwd", "nhwgc"}},
        {"gemm fp32 nhwgc m1 n1 k1", KW_MALFORMED, {"layout nhwgc does not belong to gemm", "rcr"}},
        {"conv_fwd int32 c1 k1 i1 f1", KW_ILLEGAL, {"int32", "outputs only", "int8"}},
        {"conv_fwd fp32 g2 c65 k64 i1 f1", KW_ILLEGAL, {"c=65 is not a multiple of g=2", "use c64 or c66, or g1"}},
        {"conv_fwd fp32 g4 c4 k3 i1 f1", KW_ILLEGAL, {"k=3 is not a multiple of g=4", "use k4, or g1"}},
        {"conv_fwd fp32 nhwgc c1 k1 i9x2 f3", KW_ILLEGAL, {"output width is below 1", "spans 3", "i=2, p=0:0"}},
        {"conv_fwd fp32 c1 k1 i4 f3 d2", KW_ILLEGAL, {"output width is below 1", "spans 5 (f=3, d=2)"}},
        {"conv_fwd fp32 c1 k1 i4 f1 p0:-4", KW_ILLEGAL, {"output width is below 1", "padded input 0"}},
        {"conv_fwd fp32 c1 k1 i4000000000x4000000000 f1", KW_ILLEGAL, {"63 bits"}},
        {"conv_fwd fp32 c4294967296 k1 i4294967296 f1", KW_ILLEGAL, {"tensor's size in bytes", "63 bits"}},
        {"conv_fwd fp32 c1 k4294967296 i4294967296 f1", KW_ILLEGAL, {"tensor's size in bytes", "63 bits"}},
        {"conv_fwd fp32 c1 k1 i1 f1 p9223372036854775807", KW_ILLEGAL, {"63 bits"}},
        {"conv_fwd fp32 c1 k1 i9 f4000000000 d4000000000", KW_ILLEGAL, {"63 bits"}},
        {"conv_fwd fp32 c1000000 k1000000 i1000x1000 f9 p4", KW_ILLEGAL, {"number of operations", "63 bits"}},
        {"conv_fwd fp32 g9223372036854775807 c1 k1 i1 f1", KW_ILLEGAL, {"c=1 is not a multiple"}},
        {"gemm fp32 m9223372036854775807 n9223372036854775807 k1", KW_ILLEGAL, {"63 bits"}},
        {"gemm fp32 m10000000 n10000000 k1000000", KW_ILLEGAL, {"number of operations"}},
        {"conv_fwd fp32 c1 k1 i1 f1 \xff\xfe", KW_MALFORMED, {"is not known"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem;
        kw_error err = {0};
        memset(&problem, 0x5a, sizeof problem);
        kw_problem before = problem;
        kw_status status = kw_problem_parse(&problem, cases[i].text, &err);
        if (status != cases[i].status || err.status != status) {
            fail_msg("%s: %s: %s", cases[i].text, kw_status_name(status), err.text);
        }
        for (int j = 0; j < 3 && cases[i].fragments[j]; j++) {
            if (!strstr(err.text, cases[i].fragments[j])) {
                fail_msg("%s: \"%s\" lacks \"%s\"", cases[i].text, err.text, cases[i].fragments[j]);
            }
        }
        assert_int_equal(strncmp(err.text, "problem: ", 9), 0);
        assert_memory_equal(&problem, &before, sizeof before); /* untouched by a failure */
        assert_int_equal(kw_problem_parse(&problem, cases[i].text, NULL), status);
    }
}

/* Ten megabytes of one word, of many words, of digits: one line of error each, in linear time. */
static void very_long_lines_are_refused_in_one_line(void **state) {
    (void)state;
    static const struct {
        const char *head, *unit, *fragment;
    } cases[] = {
        {"", "x", "names no operation"},          {"conv_fwd fp32 ", "z ", "is not known"},     {"conv_fwd fp32 c", "9", "is no size"},
        {"conv_fwd fp32 i1", "x1", "is no size"}, {"gemm fp32 m1 n1 k1 ", "1", "is not known"}, {"conv_fwd fp32 c", "0", "is missing"},
        {"conv_fwd fp32 c1 k1 i3 f3", " ", NULL},
    };
    const size_t size = 10u << 20;
    char *text = malloc(size + 64);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length = strlen(cases[i].head), unit = strlen(cases[i].unit);
        memcpy(text, cases[i].head, length);
        for (; length + unit < size; length += unit) {
            memcpy(text + length, cases[i].unit, unit);
        }
        strcpy(text + length, i == 5 ? "1" : "");
        kw_problem problem;
        kw_error err = {0};
        kw_status status = kw_problem_parse(&problem, text, &err);
        assert_int_equal(status, cases[i].fragment ? KW_MALFORMED : KW_OK);
        if (cases[i].fragment && !strstr(err.text, cases[i].fragment)) {
            fail_msg("%s", err.text);
        }
    }
    free(text);
}

/* Every size of every operation, as a word and by hand. */
static void a_size_of_zero_is_refused_by_its_name(void **state) {
    (void)state;
    static const char *const words[] = {"n", "g", "c", "k", "i", "f", "s", "d"}, *const gemm_words[] = {"b", "m", "n", "k"};
    for (size_t i = 0; i < 8 + 4; i++) {
        const char *word = i < 8 ? words[i] : gemm_words[i - 8];
        char text[64], shown[8];
        kw_problem problem;
        kw_error err = {0};
        snprintf(text, sizeof text, "%s fp32 %s0", i < 8 ? "conv_bwd_data" : "gemm", word);
        snprintf(shown, sizeof shown, "\"%s0\"", word);
        assert_int_equal(kw_problem_parse(&problem, text, &err), KW_MALFORMED);
        assert_non_null(strstr(err.text, shown));
        assert_non_null(strstr(err.text, "at least 1"));

        assert_ok(kw_problem_parse(&problem, i < 8 ? "conv_bwd_data fp32 c4 k4 i9x9 f3x3" : "gemm fp32 m4 n4 k4", &err), &err);
        kw_conv_dims *conv = &problem.conv;
        kw_gemm_dims *gemm = &problem.gemm;
        int64_t *sizes[] = {&conv->n,         &conv->g,           &conv->c,     &conv->k, &conv->in[2], &conv->filter[2],
                            &conv->stride[2], &conv->dilation[2], &gemm->batch, &gemm->m, &gemm->n,     &gemm->k};
        *sizes[i] = 0;
        assert_int_equal(kw_problem_check(&problem, &err), KW_ILLEGAL);
        snprintf(shown, sizeof shown, "%s=0 (", word);
        assert_non_null(strstr(err.text, shown));
        assert_non_null(strstr(err.text, "is below 1"));
    }
}

/* 2 operations a product, and padding: the largest sizes that are legal, and one more. test_derived.c has those of tensors. */
static void operations_and_padding_are_legal_up_to_63_bits(void **state) {
    (void)state;
    static const struct {
        const char *legal, *illegal;
    } rows[] = {
        {"gemm fp32 m2097152 n1048576 k2097151", "gemm fp32 m2097152 n1048576 k2097152"},
        {"gemm fp32 b4096 m131072 n131072 k65535", "gemm fp32 b4096 m131072 n131072 k65536"},
        {"conv_fwd fp32 c1 k1 i1 f1 p576460752303423486:0", "conv_fwd fp32 c1 k1 i1 f1 p576460752303423487:0"},
        {"conv_fwd fp32 c1 k1 i1 f1 p576460752303423486:-576460752303423486",
         "conv_fwd fp32 c1 k1 i1 f1 p576460752303423487:-576460752303423487"},
        {"conv_fwd fp32 c1048576 k1048576 i2097151x2 f1", "conv_fwd fp32 c1048576 k1048576 i2097152x2 f1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_problem problem;
        kw_error err = {0};
        assert_ok(kw_problem_parse(&problem, rows[i].legal, &err), &err);
        if (kw_problem_parse(&problem, rows[i].illegal, &err) != KW_ILLEGAL) {
            fail_msg("%s is not refused", rows[i].illegal);
        }
        assert_non_null(strstr(err.text, "63 bits"));
    }
}

static void problems_made_by_hand_are_checked(void **state) {
    (void)state;
    kw_problem good;
    assert_int_equal(kw_problem_parse(&good, "conv_fwd fp32 nhwgc c4 k4 i9x9 f3x3", NULL), KW_OK);
    kw_problem bad[10];
    for (int i = 0; i < 10; i++) {
        bad[i] = good;
    }
    bad[0].op = KW_OP_COUNT;
    bad[1].dtype = KW_DTYPE_COUNT;
    bad[2].layout = KW_RCR;
    bad[3].layout = KW_LAYOUT_COUNT;
    bad[4].ndim = 4;
    bad[5].ndim = 0;
    bad[6].conv.in[0] = 2;
    bad[7].conv.pad_back[0] = 1;
    bad[8].conv.n = 0;
    bad[9].conv.stride[2] = -1;
    assert_int_equal(kw_problem_check(&good, NULL), KW_OK);
    for (int i = 0; i < 10; i++) {
        kw_error err = {0};
        assert_int_equal(kw_problem_check(&bad[i], &err), KW_ILLEGAL);
        assert_true(strlen(err.text) > 30);
    }
    bad[0].op = (kw_op)-1;
    assert_int_equal(kw_problem_check(&bad[0], NULL), KW_ILLEGAL);
}

static void printing_never_writes_beyond_capacity(void **state) {
    (void)state;
    kw_problem problem;
    assert_int_equal(kw_problem_parse(&problem, "conv_bwd_weight fp16 ndhwgc c4 k4 i9 f3 p1:2", NULL), KW_OK);
    char whole[KW_PROBLEM_TEXT_MAX], part[KW_PROBLEM_TEXT_MAX];
    size_t length = kw_problem_print(whole, sizeof whole, &problem);
    for (size_t capacity = 0; capacity <= length + 1; capacity++) {
        memset(part, 'Z', sizeof part);
        assert_int_equal(kw_problem_print(part, capacity, &problem), length);
        if (capacity) {
            assert_int_equal(strlen(part), capacity - 1 < length ? capacity - 1 : length);
            assert_memory_equal(part, whole, strlen(part));
        }
        assert_int_equal(part[capacity], 'Z');
    }
    assert_int_equal(kw_problem_print(NULL, 0, &problem), length);
}

/* The longest text: every number with as many digits as it can have. */
static void canonical_text_always_has_room(void **state) {
    (void)state;
    kw_problem problem = {.op = KW_CONV_BWD_WEIGHT, .dtype = KW_INT32, .layout = KW_CHANNELS_LAST, .ndim = 3};
    kw_conv_dims *conv = &problem.conv;
    conv->n = conv->g = conv->c = conv->k = INT64_MAX;
    for (int axis = 0; axis < 3; axis++) {
        conv->in[axis] = conv->filter[axis] = conv->stride[axis] = conv->dilation[axis] = conv->pad[axis] = INT64_MAX;
        conv->pad_back[axis] = INT64_MIN;
    }
    assert_true(kw_problem_print(NULL, 0, &problem) < KW_PROBLEM_TEXT_MAX);
}

static void names_are_known_and_unknown_values_have_one(void **state) {
    (void)state;
    assert_string_equal(kw_op_name(KW_CONV_BWD_DATA), "conv_bwd_data");
    assert_string_equal(kw_op_name((kw_op)99), "unknown");
    assert_string_equal(kw_outcome_name(KW_UNTRIED), "untried");
    assert_string_equal(kw_outcome_name(KW_UNLAUNCHED), "unlaunched");
    assert_string_equal(kw_outcome_name((kw_outcome)-1), "unknown");
    for (kw_outcome outcome = 0; outcome < KW_OUTCOME_COUNT; outcome++) {
        assert_string_not_equal(kw_outcome_name(outcome), "unknown");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed_problems_are_read_back),
        cmocka_unit_test(words_in_any_order_mean_the_same),
        cmocka_unit_test(what_is_not_said_has_its_default),
        cmocka_unit_test(faults_are_named_with_the_rule_and_the_way_out),
        cmocka_unit_test(very_long_lines_are_refused_in_one_line),
        cmocka_unit_test(a_size_of_zero_is_refused_by_its_name),
        cmocka_unit_test(operations_and_padding_are_legal_up_to_63_bits),
        cmocka_unit_test(problems_made_by_hand_are_checked),
        cmocka_unit_test(printing_never_writes_beyond_capacity),
        cmocka_unit_test(canonical_text_always_has_room),
        cmocka_unit_test(names_are_known_and_unknown_values_have_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
