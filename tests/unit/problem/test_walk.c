/* test_walk.c: walks of an axis: the library's and the kernels' rule are one, and it is the definition of convolution. */

#include "prelude_walk.h"
#include "problem/view.h"
#include "random.h"
#include "support/kw_test.h"

enum { AXIS = 2, EXTENT_MAX = 64 };

static kw_problem random_axis(uint64_t *random, kw_op op) {
    kw_problem problem;
    do {
        problem = random_problem(random, op, 24);
    } while (problem.ndim != 1);
    return problem;
}

static kw_kernel_args args_of(const kw_problem *problem) {
    kw_kernel_args args = {0};
    int64_t out[3];
    kw_problem_output(out, problem);
    for (int axis = 0; axis < 3; axis++) {
        args.in[axis] = problem->conv.in[axis];
        args.out[axis] = out[axis];
        args.filter[axis] = problem->conv.filter[axis];
        args.stride[axis] = problem->conv.stride[axis];
        args.pad[axis] = problem->conv.pad[axis];
        args.dilation[axis] = problem->conv.dilation[axis];
    }
    return args;
}

static void kernels_walk_as_the_library_does(void **state) {
    (void)state;
    uint64_t random = 3;
    for (int i = 0; i < 20000; i++) {
        kw_problem problem = random_axis(&random, i % 2 ? KW_CONV_FWD : KW_CONV_BWD_DATA);
        kw_kernel_args args = args_of(&problem);
        int64_t walks = kw_problem_walks(&problem, AXIS);
        assert_int_equal(i % 2 ? 1 : prelude_walks_backward(&args, AXIS), walks);
        for (int64_t phase = 0; phase < walks; phase++) {
            kw_walk walk = kw_problem_walk(&problem, AXIS, phase);
            const long long library[9] = {walk.pixels, walk.out_start,    walk.out_step,  walk.src_start, walk.src_step,
                                          walk.taps,   walk.tap_src_step, walk.tap_start, walk.tap_step};
            long long kernel[9];
            if (i % 2) {
                prelude_walk_forward(kernel, &args, AXIS);
            } else {
                prelude_walk_backward(kernel, &args, AXIS, phase);
            }
            for (int j = 0; j < 9; j++) {
                if ((walk.taps || j < 3 || j == 5) && kernel[j] != library[j]) {
                    char text[KW_PROBLEM_TEXT_MAX];
                    kw_problem_print(text, sizeof text, &problem);
                    fail_msg("%s: phase %d, number %d: %d and %d", text, (int)phase, j, (int)kernel[j], (int)library[j]);
                }
            }
        }
    }
}

/* Every written position exactly once, and of it exactly the (random, tap) pairs of the definition, out s - p + t d = in. Taps that read
 * beside the random are allowed by the walk; they read zero. */
static void walks_cover_each_position_once_with_its_taps(void **state) {
    (void)state;
    uint64_t random = 4;
    for (int i = 0; i < 20000; i++) {
        bool forward = i % 2;
        kw_problem problem = random_axis(&random, forward ? KW_CONV_FWD : KW_CONV_BWD_DATA);
        const kw_conv_dims *conv = &problem.conv;
        int64_t out[3], in = conv->in[AXIS], products = 0;
        kw_problem_output(out, &problem);
        int64_t written = forward ? out[AXIS] : in, readable = forward ? in : out[AXIS];
        static unsigned char hit[EXTENT_MAX][EXTENT_MAX];
        int seen[EXTENT_MAX] = {0};
        assert_true(written <= EXTENT_MAX && readable <= EXTENT_MAX);
        memset(hit, 0, sizeof hit);
        for (int64_t phase = 0; phase < kw_problem_walks(&problem, AXIS); phase++) {
            kw_walk walk = kw_problem_walk(&problem, AXIS, phase);
            assert_true(walk.pixels > 0);
            for (int64_t j = 0; j < walk.pixels; j++) {
                int64_t at = walk.out_start + j * walk.out_step;
                assert_true(at >= 0 && at < written);
                seen[at]++;
                for (int64_t t = 0; t < walk.taps; t++) {
                    int64_t from = walk.src_start + j * walk.src_step + t * walk.tap_src_step, tap = walk.tap_start + t * walk.tap_step;
                    assert_true(tap >= 0 && tap < conv->filter[AXIS]);
                    if (from >= 0 && from < readable) {
                        int64_t o = forward ? at : from, x = forward ? from : at;
                        assert_int_equal(o * conv->stride[AXIS] - conv->pad[AXIS] + tap * conv->dilation[AXIS], x);
                        assert_int_equal(hit[at][tap]++, 0);
                        products++;
                    }
                }
            }
        }
        for (int64_t at = 0; at < written; at++) {
            assert_int_equal(seen[at], 1);
        }
        /* Each pair that was hit is right and is there once, so the same number means the same set. */
        int64_t expected = 0;
        for (int64_t o = 0; o < out[AXIS]; o++) {
            for (int64_t t = 0; t < conv->filter[AXIS]; t++) {
                int64_t x = o * conv->stride[AXIS] - conv->pad[AXIS] + t * conv->dilation[AXIS];
                expected += x >= 0 && x < in;
            }
        }
        assert_int_equal(products, expected);
        assert_int_equal(kw_problem_axis_products(&problem, AXIS), expected);
    }
}

/* gm gn gk over all phases: every tap of every written pixel, padding included, and zero padding makes that exact. */
static void views_count_the_taps_of_all_phases(void **state) {
    (void)state;
    uint64_t random = 5;
    for (int i = 0; i < 6000; i++) {
        kw_problem problem = random_problem(&random, (kw_op)(i % KW_OP_COUNT), 7);
        kw_gemm_view view = kw_problem_view(&problem);
        if (problem.op == KW_GEMM) {
            assert_int_equal(view.batch * view.gm * view.gn * view.gk * 2, kw_problem_flops(&problem));
            continue;
        }
        const kw_conv_dims *conv = &problem.conv;
        int64_t c = conv->c / conv->g, k = conv->k / conv->g, out[3], sum = 0, phases = 0, gm = 0, gk = 0;
        int64_t pairs = 1; /* (written pixel, tap) of all axes, padding included */
        kw_problem_output(out, &problem);
        assert_int_equal(view.batch, conv->g);
        int64_t walks[3], p[3];
        for (int axis = 0; axis < 3; axis++) {
            walks[axis] = kw_problem_walks(&problem, axis);
            int64_t along = 0;
            for (int64_t phase = 0; phase < walks[axis]; phase++) {
                kw_walk walk = kw_problem_walk(&problem, axis, phase);
                along += walk.pixels * walk.taps;
            }
            pairs *= along;
        }
        for (p[0] = 0; p[0] < walks[0]; p[0]++) {
            for (p[1] = 0; p[1] < walks[1]; p[1]++) {
                for (p[2] = 0; p[2] < walks[2]; p[2]++) {
                    int64_t pixels = conv->n, taps = 1;
                    for (int axis = 0; axis < 3; axis++) {
                        kw_walk walk = kw_problem_walk(&problem, axis, p[axis]);
                        pixels *= walk.pixels;
                        taps *= walk.taps;
                    }
                    if (taps) {
                        phases++;
                        sum += pixels * c * k * taps;
                        gm = pixels > gm ? pixels : gm;
                        gk = k * taps > gk ? k * taps : gk;
                    }
                }
            }
        }
        assert_int_equal(sum, conv->n * c * k * pairs);
        assert_true(2 * conv->g * sum >= kw_problem_flops(&problem));
        assert_true(conv->g * sum * 2 <= INT64_MAX / 2);
        if (problem.op == KW_CONV_BWD_DATA) {
            assert_int_equal(view.phases, phases);
            assert_int_equal(view.gm, gm);
            assert_int_equal(view.gn, c);
            assert_int_equal(view.gk, gk);
        } else {
            assert_int_equal(view.phases, 1);
            assert_int_equal(view.gm * view.gn * view.gk, sum);
            assert_int_equal(problem.op == KW_CONV_FWD ? view.gn : view.gm, k);
        }
    }
}

/* A 3x3 filter with stride 2 has phases of 4, 2, 2 and 1 taps; a 1x1 filter with stride 2 has one. */
static void known_strided_views(void **state) {
    (void)state;
    kw_problem problem;
    assert_int_equal(kw_problem_parse(&problem, "conv_bwd_data fp32 nhwgc n2 c3 k5 i8x8 f3x3 s2x2 p1x1", NULL), KW_OK);
    kw_gemm_view view = kw_problem_view(&problem);
    assert_int_equal(view.phases, 4);
    assert_int_equal(view.gk, 5 * 4);
    assert_int_equal(view.gm, 2 * 16);
    assert_int_equal(view.gn, 3);
    assert_int_equal(kw_problem_parse(&problem, "conv_bwd_data fp32 nhwgc c3 k5 i8x8 f1x1 s2x2", NULL), KW_OK);
    view = kw_problem_view(&problem);
    assert_int_equal(view.phases, 1);
    assert_int_equal(view.gk, 5);
    /* Every tap beside the input: x is zero and there is no product. */
    assert_int_equal(kw_problem_parse(&problem, "conv_bwd_data fp32 c1 k1 i1 f1 s3 p2", NULL), KW_OK);
    assert_int_equal(kw_problem_view(&problem).phases, 0);
    assert_int_equal(kw_problem_flops(&problem), 0);
    /* A stride far above the input costs no time. */
    assert_int_equal(kw_problem_parse(&problem, "conv_bwd_data fp32 c1 k1 i5 f1 s1000000000000", NULL), KW_OK);
    assert_int_equal(kw_problem_walks(&problem, AXIS), 5);
    assert_int_equal(kw_problem_view(&problem).phases, 1);
}

/* At most 2^12 phases, and 2^20 taps of the axes together, an axis that is not there having one. */
static void walks_are_few_up_to_the_limits(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool few;
    } cases[] = {
        {"conv_bwd_data fp32 c1 k1 i64x64 f1 s64", true},
        {"conv_bwd_data fp32 c1 k1 i64x65 f1 s64x65", false},
        {"conv_bwd_data fp32 c1 k1 i64x64 f1 s64x65", true},        /* no more phases than pixels */
        {"conv_bwd_data fp32 c1 k1 i3x1026 f1x1022 s3x1026", true}, /* 1 + 3 + 1026 * 1022 = 2^20 */
        {"conv_bwd_data fp32 c1 k1 i3x1026 f2x1022 s3x1026", false},
        {"conv_fwd fp32 c1 k1 i64x65 f1 s64x65", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem;
        kw_error err = {0};
        assert_ok(kw_problem_parse(&problem, cases[i].text, &err), &err);
        if (kw_problem_walks_are_few(&problem) != cases[i].few) {
            fail_msg("%s: %s", cases[i].text, cases[i].few ? "too many" : "few");
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_walk_as_the_library_does),   cmocka_unit_test(walks_cover_each_position_once_with_its_taps),
        cmocka_unit_test(views_count_the_taps_of_all_phases), cmocka_unit_test(known_strided_views),
        cmocka_unit_test(walks_are_few_up_to_the_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
