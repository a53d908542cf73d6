/* test_widening.c: kernels that read a tensor where it lies, and multiply wider values than lie there, are told apart by the estimate from
 * those that find them widened: how many multiply-adds' time a launch counts beyond that of fp32. */
#include "config/config.h"
#include "support/kw_test.h"

#include <math.h>

static double multiply_adds_of(const char *config_text, const char *dtype, const char *math, const char *problem_text) {
    static const kw_target target = {
        .backend = KW_BACKEND_CPU, .arch = "x86-64-v4-bf16", .units = 1, .lanes = 16, .registers = 32, .l1 = 32768};
    char text[256];
    kw_config config;
    kw_problem problem;
    kw_launch launch = {0};
    snprintf(text, sizeof text, config_text, dtype, math);
    assert_int_equal(kw_config_parse(&config, text, NULL), KW_OK);
    snprintf(text, sizeof text, problem_text, dtype);
    assert_int_equal(kw_problem_parse(&problem, text, NULL), KW_OK);
    assert_int_equal(kw_config_serves(&config, &config, &problem, &target, NULL), KW_OK);
    config.family->launch(&config, &problem, &target, &launch);
    return launch.multiply_adds;
}

static void what_is_widened_in_the_loop_counts(void **state) {
    (void)state;
    /* widened: vectors for each vector product of fp32, so a tile's sources over its products; 0 of those that widen as they copy or
     * pack. */
    static const struct {
        const char *config, *problem;
        double widened;
    } cases[] = {
        {"gemm.dot gemm %s isa=avx512 math=%s tile_m=3 tile_n=3", "gemm %s rcr m30 n30 k65536", 6.0 / 9},
        {"gemm.tiled gemm %s isa=avx512 math=%s tile_m=6 vecs=2 band=0 ahead=1", "gemm %s rcr m30 n30 k65536", 0},
        {"conv.depthwise conv_fwd %s isa=avx512 math=%s tile_h=1 tile_w=7 taps_h=1 taps_w=3 stride=1 block=0",
         "conv_fwd %s g32 c32 k32 i28x28 f3x3 p1x1", 9.0 / 21},
        {"conv.merged conv_fwd %s isa=avx512 math=%s tile_h=1 tile_w=14 taps_h=1 taps_w=3 stride=1 block=0 group_c=4 group_k=4",
         "conv_fwd %s g32 c128 k128 i28x28 f3x3 p1x1", 16.0 / 42},
        {"conv.any_groups conv_fwd %s isa=avx512 math=%s tile_h=1 tile_w=7", "conv_fwd %s g4 c80 k80 i28x28 f3x3 p1x1", 0},
        {"conv.depthwise_weight conv_bwd_weight %s isa=avx512 math=%s tile_h=1 tile_w=7 taps_h=1 taps_w=3 stride=1",
         "conv_bwd_weight %s g32 c32 k32 i28x28 f3x3 p1x1", 16.0 / 21},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double plain = multiply_adds_of(cases[i].config, "fp32", "fma", cases[i].problem);
        double halves = multiply_adds_of(cases[i].config, "bf16", "fma", cases[i].problem);
        if (fabs(halves / plain - 1 - 2 * cases[i].widened) > 0.02 * (1 + cases[i].widened)) {
            fail_msg("%s: %g products of fp32, %g of bf16", cases[i].config, plain, halves);
        }
    }
    const char *dot = cases[0].config, *product = cases[0].problem;
    double plain = multiply_adds_of(dot, "fp32", "fma", product);
    assert_true(multiply_adds_of(dot, "fp16", "fma", product) > 2 * plain);
    assert_true(multiply_adds_of(dot, "bf16", "dp", product) < plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_widened_in_the_loop_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
