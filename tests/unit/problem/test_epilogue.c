/* Epilogues: their text, what is refused, and what a step means. */
#include "support/kw_test.h"

#include "problem/epilogue/epilogue.h"
#include "problem/identity.h"
#include "problem/reference.h"

#include <math.h>
#include <string.h>

#define GEMM "gemm bf16 rcr b1 m2 n3 k4"

static void text_says_what_was_read(void **state) {
    (void)state;
    static const struct {
        const char *given, *printed;
    } cases[] = {
        {GEMM, GEMM},
        {GEMM " out=bf16", GEMM},
        {GEMM " out=fp32", GEMM " out=fp32"},
        {"out=float32 epilogue=relu " GEMM, GEMM " out=fp32 epilogue=relu"},
        {GEMM " epilogue=bias", GEMM " epilogue=bias:fp32"},
        {GEMM " epilogue=bias:bf16+gelu+add", GEMM " epilogue=bias:bf16+gelu+add:bf16"},
        {GEMM " out=fp32 epilogue=add", GEMM " out=fp32 epilogue=add:fp32"},
        {GEMM " epilogue=add:half:0.5", GEMM " epilogue=add:fp16:0.5"},
        {GEMM " epilogue=bias:bf16,gelu,add:0.5", GEMM " epilogue=bias:bf16+gelu+add:bf16:0.5"},
        {GEMM " epilogue=add:1", GEMM " epilogue=add:bf16"},
        {GEMM " epilogue=scale+beta+add", GEMM " epilogue=scale:fp32+beta:fp32+add:bf16"},
        {GEMM " epilogue=clamp:-1.5:6+leaky_relu+leaky_relu:0.2", GEMM " epilogue=clamp:-1.5:6+leaky_relu+leaky_relu:0.2"},
        {"gemm int8 rcr b1 m2 n3 k4 out=s8 epilogue=scale_channel+add:int8+scale_row",
         "gemm int8 rcr b1 m2 n3 k4 out=int8 epilogue=scale_channel:fp32+add:int8+scale_row:fp32"},
        {"gemm fp32 fpmath=tf32 m2 n3 k4 epilogue=relu", "gemm fp32 rcr b1 m2 n3 k4 fpmath=tf32 epilogue=relu"},
        {"gemm fpmath=fast_accum bf8 m2 n3 k4", "gemm bf8 rcr b1 m2 n3 k4 fpmath=fast_accum"},
        {"gemm int8 x=u8 m2 n3 k4", "gemm int8 rcr b1 m2 n3 k4 x=uint8"},
        {"gemm int8 m2 n3 k4 epilogue=zero_x:u8+zero_w_channel:s8", "gemm int8 rcr b1 m2 n3 k4 epilogue=zero_x:uint8+zero_w_channel:int8"},
        {"gemm int8 m2 n3 k4 epilogue=zero_w", "gemm int8 rcr b1 m2 n3 k4 epilogue=zero_w:int32"},
        {"gemm int8 m2 n3 k4 out=s8 epilogue=zero_x+scale+zero_y:s8",
         "gemm int8 rcr b1 m2 n3 k4 out=int8 epilogue=zero_x:int32+scale:fp32+zero_y:int8"},
        {"gemm int8 x=int8 m2 n3 k4", "gemm int8 rcr b1 m2 n3 k4"},
        {"conv_fwd fp32 c8 k8 i9 f3 filter=krsc", "conv_fwd fp32 nwgc n1 g1 c8 k8 i9 f3 s1 p0 d1"},
        {"filter=kcrs conv_fwd fp32 c8 k8 i9 f3", "conv_fwd fp32 nwgc n1 g1 c8 k8 i9 f3 s1 p0 d1 filter=kcrs"},
        {"conv_fwd fp32 ngcw c8 k8 i9 f3 filter=kcrs", "conv_fwd fp32 ngcw n1 g1 c8 k8 i9 f3 s1 p0 d1"},
        {"conv_fwd fp32 ngcw c8 k8 i9 f1 filter=krsc", "conv_fwd fp32 ngcw n1 g1 c8 k8 i9 f1 s1 p0 d1"},
        {"conv_fwd fp32 g8 c8 k8 i9 f3 filter=kcrs", "conv_fwd fp32 nwgc n1 g8 c8 k8 i9 f3 s1 p0 d1"},
        {"conv_fwd fp32 c1 k8 i9 f3 filter=crsk out=bf16", "conv_fwd fp32 nwgc n1 g1 c1 k8 i9 f3 s1 p0 d1 filter=crsk out=bf16"},
        {"conv_fwd fp32 c8 k8 i9 f3 filter=rsck", "conv_fwd fp32 nwgc n1 g1 c8 k8 i9 f3 s1 p0 d1 filter=rsck"},
        {"conv_fwd fp32 c1 k8 i9 f3 filter=rsck", "conv_fwd fp32 nwgc n1 g1 c1 k8 i9 f3 s1 p0 d1 filter=crsk"},
        {"conv_bwd_weight bf16 c8 k8 i9 f3 epilogue=bias_gradient+add",
         "conv_bwd_weight bf16 nwgc n1 g1 c8 k8 i9 f3 s1 p0 d1 epilogue=bias_gradient:fp32+add:bf16"},
        {"x=uint8 out=u8 gemm int8 m2 n3 k4 epilogue=scale+add",
         "gemm int8 rcr b1 m2 n3 k4 x=uint8 out=uint8 epilogue=scale:fp32+add:uint8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem, again;
        kw_error err = {0};
        char text[KW_PROBLEM_TEXT_MAX];
        assert_ok(kw_problem_parse(&problem, cases[i].given, &err), &err);
        assert_true(kw_problem_print(text, sizeof text, &problem) < sizeof text);
        assert_string_equal(text, cases[i].printed);
        assert_ok(kw_problem_parse(&again, text, &err), &err);
        assert_memory_equal(&problem, &again, sizeof problem);
    }
}

/* The longest text there is fits KW_PROBLEM_TEXT_MAX. */
static void longest_text_fits(void **state) {
    (void)state;
    kw_problem problem;
    kw_error err = {0};
    char text[KW_PROBLEM_TEXT_MAX];
    assert_ok(kw_problem_parse(&problem, "conv_fwd bf16 ndhwgc n9 c8 k8 i9 f3", &err), &err);
    problem.epilogue.count = KW_EPILOGUE_MAX;
    for (int i = 0; i < KW_EPILOGUE_MAX; i++) {
        problem.epilogue.step[i] = (kw_epilogue_step){.op = KW_EPILOGUE_CLAMP, .a = -1.2345678901234567e-201, .b = 1.2345678901234567e-101};
        if (i < KW_EXTRA_MAX) {
            problem.epilogue.step[i] = (kw_epilogue_step){.op = KW_EPILOGUE_ADD, .dtype = KW_INT32, .a = -1.2345678901234567e-201};
        }
    }
    int64_t *sizes = (int64_t *)(void *)&problem.conv;
    for (size_t i = 0; i < sizeof problem.conv / sizeof *sizes; i++) {
        sizes[i] = INT64_MIN;
    }
    assert_true(kw_problem_print(text, sizeof text, &problem) < sizeof text);
}

static void bad_text_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {GEMM " epilogue=", "no step \"\""},
        {GEMM " epilogue=bia", "did you mean bias"},
        {GEMM " epilogue=relu+", "no step \"\""},
        {GEMM " epilogue=relu,", "no step \"\""},
        {GEMM " epilogue=relu:1", "relu takes 0 numbers"},
        {GEMM " epilogue=relu:fp32", "relu takes 0 numbers"},
        {GEMM " epilogue=clamp:1", "needs 2 numbers"},
        {GEMM " epilogue=clamp:2:1", "the lower end comes first"},
        {GEMM " epilogue=clamp:1:1e40", "beyond 1e30"},
        {GEMM " epilogue=add:fp32:1:2", "no number more"},
        {GEMM " epilogue=add:fp8", "use fp32, bf16, fp16, int8, uint8 or int32"},
        {GEMM " epilogue=relu epilogue=relu", "a second time"},
        {GEMM " out=fp32 out=fp32", "a second time"},
        {GEMM " out=fp33", "is no type; use one of"},
        {GEMM " out=int32", "for int8 alone"},
        {GEMM " epilogue=zero_x", "step zero_x is for gemm and conv_fwd of int8, not for gemm of bf16"},
        {GEMM " epilogue=zero_y", "add out=int8 or out=uint8"},
        {"gemm int8 m4 n4 k4 epilogue=relu+zero_x", "zero_x is step 2 of the epilogue"},
        {"gemm int8 m4 n4 k4 epilogue=zero_x+zero_x", "it stands first, once"},
        {GEMM " epilogue=zero_w", "step zero_w is for gemm and conv_fwd of int8, not for gemm of bf16"},
        {"conv_bwd_data int8 n1 c8 k8 i9x9 f3x3 epilogue=zero_w_channel", "not for conv_bwd_data of int8"},
        {"gemm int8 m4 n4 k4 epilogue=zero_w+zero_x", "zero_x is step 2 of the epilogue"},
        {"gemm int8 m4 n4 k4 epilogue=relu+zero_w", "zero_w is step 2 of the epilogue; it stands first or behind zero_x, once"},
        {"gemm int8 m4 n4 k4 epilogue=zero_x+zero_w+zero_w_channel", "zero_w_channel is step 3 of the epilogue"},
        {"gemm int8 m4 n4 k4 epilogue=zero_w_channel:bf16", "use int32, int8 or uint8"},
        {"gemm int8 m4 n4 k4 epilogue=zero_w+add+add+add+add+add", "read 6 tensors; with zero_w they read at most 5"},
        {"gemm int8 m4 n4 k4 epilogue=zero_x:fp32", "use int32, int8 or uint8"},
        {"gemm int8 m4 n4 k4 out=fp32 epilogue=zero_y", "add out=int8 or out=uint8"},
        {"conv_bwd_data int8 n1 c8 k8 i9x9 f3x3 epilogue=zero_x", "not for conv_bwd_data of int8"},
        {GEMM " epilogue=scale+beta", "beta is step 2 of the epilogue; it stands in front of an add without a number"},
        {GEMM " epilogue=beta+bias+add", "beta is step 1 of the epilogue"},
        {GEMM " epilogue=beta+add:0.5", "beta is step 1 of the epilogue"},
        {GEMM " epilogue=add:0", "step add adds 0 times its tensor; a=1 adds the tensor itself"},
        {GEMM " epilogue=beta+beta+add", "beta is step 1 of the epilogue"},
        {GEMM " epilogue=bias_gradient", "step bias_gradient is for conv_bwd_weight of floating point, not for gemm of bf16"},
        {"conv_bwd_weight int8 c8 k8 i9 f3 epilogue=bias_gradient", "not for conv_bwd_weight of int8"},
        {"conv_bwd_weight fp32 c8 k8 i9 f3 epilogue=add+bias_gradient", "bias_gradient is step 2 of the epilogue; it stands first, once"},
        {"conv_bwd_weight fp32 c8 k8 i9 f3 epilogue=bias_gradient+bias_gradient", "it stands first, once"},
        {"conv_bwd_weight fp32 c8 k8 i9 f3 epilogue=bias_gradient:bf16", "is bf16 in a problem of fp32; use fp32"},
        {"conv_bwd_weight bf16 c8 k8 i9 f3 epilogue=bias_gradient:fp16", "use fp32 or bf16"},
        {GEMM " x=uint8", "x has another type than w only as x=uint8 of int8"},
        {GEMM " x=uint9", "is no type; use x=uint8"},
        {"gemm bf16 m4 n4 k4 fpmath=tf32", "fpmath=tf32 of bf16: only elements of fp32"},
        {GEMM " filter=krsc", "filter=krsc: a gemm has no filter"},
        {"conv_fwd fp32 c8 k8 i9 f3 filter=skcr", "filter=skcr is no order of a filter; use one of krsc, kcrs, crsk, rsck"},
        {"conv_fwd fp32 c8 k8 i9 f3 filter=krsc filter=kcrs", "the filter's order a second time"},
        {"gemm fp32 m4 n4 k4 fpmath=bf16", "fpmath takes tf32 or fast_accum, or is left out"},
        {"gemm fp32 m4 n4 k4 fpmath=fast_accum", "fpmath=fast_accum of gemm in fp32: it is for gemm in fp8 and bf8"},
        {"conv_fwd fp8 c4 k4 i8x8 f3x3 fpmath=fast_accum", "fpmath=fast_accum of conv_fwd in fp8"},
        {"gemm fp32 m4 n4 k4 fpmath=tf32 fpmath=tf32", "how exact products are a second time"},
        {"gemm int8 m4 n4 k4 x=int32", "x has another type than w only as x=uint8 of int8"},
        {"gemm int8 m4 n4 k4 x=uint8 x=uint8", "names the type of x a second time"},
        {"gemm uint8 m4 n4 k4", "use int8 x=uint8"},
        {"conv_bwd_data int8 n1 c8 k8 i9x9 f3x3 x=uint8", "is for gemm and conv_fwd"},
        {GEMM " epilogue=relu+relu+relu+relu+relu+relu+relu+relu+relu", "at most 8"},
        {GEMM " epilogue=add+add+add+add+add+add+add", "at most 6"},
        {"conv_bwd_weight bf16 n1 c8 k8 i9x9 f3x3 epilogue=bias", "needs a result with channels"},
        {"conv_bwd_weight bf16 n1 c8 k8 i9x9 f3x3 epilogue=scale_row", "needs a result with channels"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem;
        kw_error err = {0};
        assert_true(kw_problem_parse(&problem, cases[i].text, &err) != KW_OK);
        if (!strstr(err.text, cases[i].says)) {
            fail_msg("%s: %s", cases[i].text, err.text);
        }
    }
}

static void values_by_hand_are_checked(void **state) {
    (void)state;
    kw_problem good;
    kw_error err = {0};
    assert_ok(kw_problem_parse(&good, GEMM, &err), &err);
    kw_problem bad = good;
    bad.reserved[sizeof bad.reserved - 1] = 1;
    assert_int_equal(kw_problem_check(&bad, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "begin with a zeroed kw_problem"));
    bad = good;
    bad.epilogue.count = KW_EPILOGUE_MAX + 1;
    assert_int_equal(kw_problem_check(&bad, &err), KW_ILLEGAL);
    bad.epilogue.count = 1;
    bad.epilogue.step[0].op = KW_EPILOGUE_OP_COUNT;
    assert_int_equal(kw_problem_check(&bad, &err), KW_ILLEGAL);
    bad = good;
    bad.epilogue.converts = true;
    bad.epilogue.output = KW_DTYPE_COUNT;
    assert_int_equal(kw_problem_check(&bad, &err), KW_ILLEGAL);
    assert_int_equal(sizeof good, KW_PROBLEM_BYTES);
}

/* What a caller left in unused members changes nothing. */
static void unused_members_are_no_difference(void **state) {
    (void)state;
    kw_problem a, b, same[2];
    kw_error err = {0};
    assert_ok(kw_problem_parse(&a, GEMM " epilogue=relu", &err), &err);
    b = a;
    b.epilogue.output = KW_INT8; /* of no meaning without converts */
    b.epilogue.step[0].a = 7;
    b.epilogue.step[0].dtype = KW_INT32;
    b.epilogue.step[1].op = KW_EPILOGUE_GELU;
    kw_problem_normalize(&same[0], &a);
    kw_problem_normalize(&same[1], &b);
    assert_memory_equal(&same[0], &same[1], sizeof same[0]);
}

static void extras_have_the_steps_sizes(void **state) {
    (void)state;
    kw_problem problem;
    kw_error err = {0};
    kw_extra extras[KW_EXTRA_MAX];
    assert_ok(kw_problem_parse(&problem,
                               "conv_bwd_data fp32 n2 g2 c6 k8 i5x7 f3x3 epilogue=bias:bf16+relu+add+scale+scale_row+scale_channel", &err),
              &err);
    assert_int_equal(kw_problem_extras(extras, &problem), 5);
    static const int64_t sizes[] = {6, 2 * 6 * 5 * 7, 1, 2 * 5 * 7, 6};
    static const char *const names[] = {"bias", "add", "scale", "scale_row", "scale_channel"};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(extras[i].elements, sizes[i]);
        assert_string_equal(extras[i].name, names[i]);
        assert_int_equal(extras[i].dtype, i ? KW_FP32 : KW_BF16);
    }
    kw_problem bare = problem;
    bare.epilogue = (kw_epilogue){0};
    assert_int_equal(kw_problem_bytes(&problem) - kw_problem_bytes(&bare), 6 * 2 + (2 * 6 * 5 * 7 + 1 + 2 * 5 * 7 + 6) * 4);
}

/* Values worked out by hand, or by the formula with other functions than the code uses. */
static void steps_mean_what_the_header_says(void **state) {
    (void)state;
    static const struct {
        kw_epilogue_step step;
        double v, t, wanted;
    } cases[] = {
        {{KW_EPILOGUE_ADD, KW_FP32, 0.5, 0}, 3, 4, 5},
        {{KW_EPILOGUE_BIAS, KW_FP32, 0, 0}, 3, 4, 7},
        {{KW_EPILOGUE_MULTIPLY, KW_FP32, 0, 0}, 3, -4, -12},
        {{KW_EPILOGUE_SCALE, KW_FP32, 0, 0}, 3, 0.5, 1.5},
        {{KW_EPILOGUE_SCALE_CHANNEL, KW_FP32, 0, 0}, 3, 2, 6},
        {{KW_EPILOGUE_SCALE_ROW, KW_FP32, 0, 0}, 3, 3, 9},
        {{KW_EPILOGUE_RELU, KW_FP32, 0, 0}, -3, 0, 0},
        {{KW_EPILOGUE_RELU, KW_FP32, 0, 0}, 3, 0, 3},
        {{KW_EPILOGUE_CLAMP, KW_FP32, -1, 2}, -3, 0, -1},
        {{KW_EPILOGUE_CLAMP, KW_FP32, -1, 2}, 3, 0, 2},
        {{KW_EPILOGUE_CLAMP, KW_FP32, -1, 2}, 1.5, 0, 1.5},
        {{KW_EPILOGUE_LEAKY_RELU, KW_FP32, 0.25, 0}, -4, 0, -1},
        {{KW_EPILOGUE_LEAKY_RELU, KW_FP32, 0.25, 0}, 4, 0, 4},
        {{KW_EPILOGUE_SIGMOID, KW_FP32, 0, 0}, 0, 0, 0.5},
        {{KW_EPILOGUE_SIGMOID, KW_FP32, 0, 0}, 1, 0, 0.7310585786300049},
        {{KW_EPILOGUE_TANH, KW_FP32, 0, 0}, 1, 0, 0.7615941559557649},
        {{KW_EPILOGUE_SILU, KW_FP32, 0, 0}, 1, 0, 0.7310585786300049},
        {{KW_EPILOGUE_SILU, KW_FP32, 0, 0}, -2, 0, -0.2384058440442351},
        {{KW_EPILOGUE_SILU, KW_FP32, 0, 0}, -1000, 0, 0},
        {{KW_EPILOGUE_GELU, KW_FP32, 0, 0}, 1, 0, 0.8413447460685429},
        {{KW_EPILOGUE_GELU, KW_FP32, 0, 0}, -1, 0, -0.15865525393145707},
        {{KW_EPILOGUE_GELU_TANH, KW_FP32, 0, 0}, 1, 0, 0.8411919906082768},
        {{KW_EPILOGUE_HARDSWISH, KW_FP32, 0, 0}, 1, 0, 4.0 / 6},
        {{KW_EPILOGUE_HARDSWISH, KW_FP32, 0, 0}, -3, 0, 0},
        {{KW_EPILOGUE_HARDSWISH, KW_FP32, 0, 0}, 5, 0, 5},
        {{KW_EPILOGUE_ZERO_X, KW_INT32, 0, 0}, 3, 4, 3},
        {{KW_EPILOGUE_ZERO_Y, KW_INT32, 0, 0}, 3, -4, -1},
        {{KW_EPILOGUE_BIAS_GRADIENT, KW_FP32, 0, 0}, 3, 4, 3},
        {{KW_EPILOGUE_BETA, KW_FP32, 0, 0}, 3, 4, 3},
        {{KW_EPILOGUE_ZERO_W, KW_INT32, 0, 0}, 3, 4, 3},
        {{KW_EPILOGUE_ZERO_W_CHANNEL, KW_INT32, 0, 0}, 3, 4, 3},
    };
    bool seen[KW_EPILOGUE_OP_COUNT] = {false};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double got = kw_epilogue_step_value(&cases[i].step, cases[i].v, cases[i].t);
        if (!(fabs(got - cases[i].wanted) <= 1e-12)) {
            fail_msg("case %zu: %.17g, not %.17g", i, got, cases[i].wanted);
        }
        seen[cases[i].step.op] = true;
    }
    for (int op = 0; op < KW_EPILOGUE_OP_COUNT; op++) {
        assert_true(seen[op]);
        kw_epilogue_step step = {.op = (kw_epilogue_op)op, .b = 1};
        assert_true(isnan(kw_epilogue_step_value(&step, NAN, 1))); /* nothing hides one */
    }
}

/* Each shape of tensor reads the element that its channel, row or place says, in both memory orders. */
static void tensors_lie_as_their_shape_says(void **state) {
    (void)state;
    static const char *const texts[] = {"conv_fwd fp32 nhwc n2 g2 c2 k4 i2x3 f1x1 epilogue=bias+add+scale_row+scale",
                                        "conv_fwd fp32 nchw n2 g2 c2 k4 i2x3 f1x1 epilogue=bias+add+scale_row+scale"};
    enum { N = 2, K = 4, P = 6 };
    float bias[K], all[N * K * P], row[N * P], one[1] = {3};
    for (int i = 0; i < N * K * P; i++) {
        all[i] = (float)(100 * i);
        bias[i % K] = (float)(i % K);
        row[i % (N * P)] = (float)(1 + i % (N * P));
    }
    for (int first = 0; first < 2; first++) {
        kw_problem problem;
        kw_error err = {0};
        assert_ok(kw_problem_parse(&problem, texts[first], &err), &err);
        for (int n = 0; n < N; n++) {
            for (int k = 0; k < K; k++) {
                for (int p = 0; p < P; p++) {
                    int64_t index = first ? (n * K + k) * P + p : (n * P + p) * K + k;
                    kw_epilogue_value v = {.value = 0.5};
                    kw_epilogue_apply(&v, &problem, (const void *const[KW_EXTRA_MAX]){bias, all, row, one}, index);
                    assert_true(v.value == (0.5 + k + 100.0 * (double)index) * (1 + n * P + p) * 3);
                }
            }
        }
    }
}

/* Of a product the channel is the column and the row the row. */
static void tensors_of_products_lie_by_rows_and_columns(void **state) {
    (void)state;
    enum { M = 3, N = 5 };
    kw_problem problem;
    kw_error err = {0};
    float bias[N], row[M];
    for (int i = 0; i < N; i++) {
        bias[i] = (float)(10 * i);
        row[i % M] = (float)(1 + i % M);
    }
    assert_ok(kw_problem_parse(&problem, "gemm fp32 m3 n5 k1 epilogue=bias+scale_row", &err), &err);
    for (int i = 0; i < M * N; i++) {
        kw_epilogue_value v = {.value = 0.5};
        kw_epilogue_apply(&v, &problem, (const void *const[KW_EXTRA_MAX]){bias, row}, i);
        assert_true(v.value == (0.5 + 10 * (i % N)) * (1 + i / N));
    }
}

/* What a step does not use is as it is in every step, the first one too. */
static void every_step_is_normalized(void **state) {
    (void)state;
    kw_epilogue from = {.count = 3}, to = {0};
    for (int i = 0; i < 3; i++) {
        from.step[i] = (kw_epilogue_step){.op = KW_EPILOGUE_RELU, .dtype = KW_BF16, .a = 3, .b = 4};
    }
    from.step[1] = (kw_epilogue_step){.op = KW_EPILOGUE_SCALE_ROW, .dtype = KW_BF16, .a = 3, .b = 4};
    kw_epilogue_normalize(&to, &from);
    assert_int_equal(to.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(to.step[i].op, from.step[i].op);
        assert_int_equal(to.step[i].dtype, i == 1 ? KW_BF16 : KW_FP32);
        assert_true(to.step[i].a == 0 && to.step[i].b == 0);
    }
}

/* What fp32 holds exactly adds nothing to the bound; what it does not, does. */
static void bounds_grow_with_rounding_alone(void **state) {
    (void)state;
    kw_problem problem;
    kw_error err = {0};
    const float t[2] = {1, 1}, tiny[2] = {1e-9f, 1e-9f};
    assert_ok(kw_problem_parse(&problem, "gemm fp32 m1 n2 k4 epilogue=bias+relu+clamp:0:4096", &err), &err);
    kw_epilogue_value v = {.value = 1000};
    kw_epilogue_apply(&v, &problem, (const void *const[KW_EXTRA_MAX]){t}, 0);
    assert_true(v.value == 1001 && v.bound == 0);
    v = (kw_epilogue_value){.value = 1000};
    kw_epilogue_apply(&v, &problem, (const void *const[KW_EXTRA_MAX]){tiny}, 0);
    assert_true(v.bound > 0 && v.bound < 1e-3);
    assert_ok(kw_problem_parse(&problem, "gemm fp32 m1 n2 k4 epilogue=gelu", &err), &err);
    v = (kw_epilogue_value){.value = 1};
    kw_epilogue_apply(&v, &problem, NULL, 0);
    assert_true(v.bound > 0 && v.bound < 1e-5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_says_what_was_read),
        cmocka_unit_test(tensors_of_products_lie_by_rows_and_columns),
        cmocka_unit_test(every_step_is_normalized),
        cmocka_unit_test(longest_text_fits),
        cmocka_unit_test(bad_text_is_refused),
        cmocka_unit_test(values_by_hand_are_checked),
        cmocka_unit_test(unused_members_are_no_difference),
        cmocka_unit_test(extras_have_the_steps_sizes),
        cmocka_unit_test(steps_mean_what_the_header_says),
        cmocka_unit_test(tensors_lie_as_their_shape_says),
        cmocka_unit_test(bounds_grow_with_rounding_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
