/* test_grouped.c: the depthwise and merged CPU families as declared: what valid() and fits() refuse and why, what launch() promises, and which
 * source pixel the emitter joins to which result pixel. That their kernels are right is tests/check's matter. */
#include "base/math.h"
#include "families/cpu/grouped/grouped_emit.h"
#include "config/config.h"
#include "support/kw_test.h"

#define DEPTHWISE "conv.depthwise conv_fwd fp32 isa=avx512 math=fma "
#define DEPTHWISE_DATA "conv.depthwise conv_bwd_data fp32 isa=avx512 math=fma "
#define PAIRS "conv.depthwise conv_fwd bf16 isa=avx512 math=dp "
#define MERGED "conv.merged conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=14 taps_h=1 taps_w=3 stride=1 block=0 "
#define MERGED_DATA "conv.merged conv_bwd_data fp32 isa=avx512 math=fma tile_h=1 tile_w=14 taps_h=1 taps_w=3 stride=1 block=0 "

static void what_cannot_be_generated_is_refused_in_words(void **state) {
    (void)state;
    static const struct {
        const char *config, *reason; /* NULL: it is fine */
    } cases[] = {
        {DEPTHWISE "tile_h=2 tile_w=7 taps_h=3 taps_w=3 stride=1 block=0", NULL},
        {DEPTHWISE "tile_h=3 tile_w=8 taps_h=3 taps_w=3 stride=1 block=0", "rule tile_registers: "},
        {DEPTHWISE "tile_h=1 tile_w=8 taps_h=1 taps_w=1 stride=2 block=0", "rule one_tap: "},
        {DEPTHWISE_DATA "tile_h=2 tile_w=7 taps_h=3 taps_w=3 stride=2 block=0", "rule bwd_data_tile: "},
        {DEPTHWISE_DATA "tile_h=1 tile_w=8 taps_h=1 taps_w=3 stride=2 block=0", NULL},
        {PAIRS "tile_h=1 tile_w=7 taps_h=3 taps_w=3 stride=1 block=0", NULL},
        {PAIRS "tile_h=1 tile_w=8 taps_h=1 taps_w=1 stride=1 block=0", "rule row_pairs: "},
        {PAIRS "tile_h=1 tile_w=10 taps_h=1 taps_w=5 stride=1 block=0", NULL},
        {PAIRS "tile_h=1 tile_w=10 taps_h=1 taps_w=7 stride=1 block=0", "rule tile_registers: "},
        {MERGED "group_c=4 group_k=4", NULL},
        {MERGED "group_c=1 group_k=1", "rule several_channels: "},
        {MERGED "group_c=4 group_k=6", "rule lanes: "},
        {MERGED "group_c=8 group_k=4", "rule shared_vector: "},
        {MERGED "group_c=5 group_k=32", NULL},
        {MERGED_DATA "group_c=8 group_k=4", NULL},
        {"conv.depthwise_weight conv_bwd_weight bf16 isa=avx512 math=dp tile_h=1 tile_w=7 taps_h=3 taps_w=3 stride=1", "rule row_pairs: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_config config;
        kw_error err = {0};
        kw_status status = kw_config_parse(&config, cases[i].config, &err);
        if (status != (cases[i].reason ? KW_ILLEGAL : KW_OK) || (cases[i].reason && !strstr(err.text, cases[i].reason))) {
            fail_msg("%s: '%s' lacks '%s'", cases[i].config, err.text, cases[i].reason ? cases[i].reason : "nothing");
        }
    }
}

static void a_problem_that_a_config_does_not_serve_is_refused_in_words(void **state) {
    (void)state;
    static const struct {
        const char *config, *problem, *reason;
    } cases[] = {
        {DEPTHWISE "tile_h=2 tile_w=7 taps_h=3 taps_w=3 stride=1 block=0", "conv_fwd fp32 c32 k32 i9x9 f3x3", "rule one_channel_groups: "},
        {DEPTHWISE "tile_h=2 tile_w=7 taps_h=3 taps_w=3 stride=1 block=0", "conv_fwd fp32 g32 c32 k64 i9x9 f3x3",
         "rule one_channel_groups: "},
        {DEPTHWISE "tile_h=2 tile_w=7 taps_h=3 taps_w=3 stride=1 block=0", "conv_fwd fp32 ngchw g32 c32 k32 i9x9 f3x3", NULL},
        {DEPTHWISE "tile_h=2 tile_w=7 taps_h=3 taps_w=3 stride=1 block=0", "conv_fwd fp32 g32 c32 k32 i9x9 f3x1", "rule taps_in_filter: "},
        {DEPTHWISE "tile_h=2 tile_w=7 taps_h=3 taps_w=3 stride=1 block=0", "conv_fwd fp32 g32 c32 k32 i9x9 f3x3 s2x2",
         "rule window_stride: "},
        {DEPTHWISE "tile_h=2 tile_w=7 taps_h=3 taps_w=3 stride=1 block=0", "conv_fwd fp32 g32 c32 k32 i9x9 f5x4 d2x3 p4x4", NULL},
        {DEPTHWISE "tile_h=2 tile_w=4 taps_h=3 taps_w=3 stride=2 block=0", "conv_fwd fp32 g32 c32 k32 i9x9 f3x3 s2x2 d2x2",
         "rule stride_or_dilation: "},
        {DEPTHWISE "tile_h=1 tile_w=8 taps_h=1 taps_w=1 stride=1 block=0", "conv_fwd fp32 g3 c3 k3 i9x9 f4x2 s3x2 d2x5 p4x4", NULL},
        {DEPTHWISE_DATA "tile_h=2 tile_w=4 taps_h=3 taps_w=3 stride=2 block=0", "conv_bwd_data fp32 g32 c32 k32 i9x9 f5x5 s2x2",
         "rule bwd_data_filter: "},
        {MERGED "group_c=4 group_k=4", "conv_fwd fp32 g32 c256 k256 i9x9 f3x3", "rule group_channels: "},
        {MERGED "group_c=4 group_k=4", "conv_fwd fp32 g3 c12 k12 i9x9 f3x3", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_config config;
        kw_problem problem;
        kw_error err = {0};
        kw_target target = {.backend = KW_BACKEND_CPU, .arch = "x86-64-v4-bf16", .units = 1, .lanes = 16, .registers = 32};
        assert_int_equal(kw_problem_parse(&problem, cases[i].problem, &err), KW_OK);
        assert_int_equal(kw_config_parse(&config, cases[i].config, &err), KW_OK);
        kw_status status = kw_config_serves(&config, &config, &problem, &target, &err);
        if (status != (cases[i].reason ? KW_NO_KERNEL : KW_OK) || (cases[i].reason && !strstr(err.text, cases[i].reason))) {
            fail_msg("%s: '%s' lacks '%s'", cases[i].problem, err.text, cases[i].reason ? cases[i].reason : "nothing");
        }
    }
}

/* What a launch counts is at least what the problem needs, and units suffice for the threads where there is work to share. */
static void launches_promise_enough(void **state) {
    (void)state;
    static const struct {
        const char *config, *problem;
        int64_t lanes; /* products of a multiply-add */
    } cases[] = {
        {DEPTHWISE "tile_h=2 tile_w=7 taps_h=3 taps_w=3 stride=1 block=0", "conv_fwd fp32 g32 c32 k32 i57x55 f3x3 p1x1", 16},
        {DEPTHWISE "tile_h=1 tile_w=8 taps_h=1 taps_w=1 stride=1 block=1", "conv_fwd fp32 g16 c16 k16 i1x1x400 f1x1x31", 16},
        {DEPTHWISE_DATA "tile_h=2 tile_w=4 taps_h=3 taps_w=3 stride=2 block=0", "conv_bwd_data fp32 g17 c17 k17 i56x56 f3x3 s2x2 p1x1", 16},
        {PAIRS "tile_h=1 tile_w=7 taps_h=2 taps_w=7 stride=1 block=0", "conv_fwd bf16 g96 c96 k96 i30x30 f7x7 p3x3", 32},
        {MERGED "group_c=4 group_k=4", "conv_fwd fp32 g32 c128 k128 i28x28 f3x3 p1x1", 16},
        {"conv.merged_weight conv_bwd_weight fp32 isa=avx512 math=fma tile_h=2 tile_w=7 taps_h=3 taps_w=3 stride=1 group_c=8 group_k=8",
         "conv_bwd_weight fp32 g32 c256 k256 i28x28 f3x3 p1x1", 16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_config config;
        kw_problem problem;
        kw_error err = {0};
        assert_int_equal(kw_problem_parse(&problem, cases[i].problem, &err), KW_OK);
        assert_int_equal(kw_config_parse(&config, cases[i].config, &err), KW_OK);
        for (int64_t units = 1; units <= 8; units *= 2) {
            kw_target target = {.backend = KW_BACKEND_CPU, .arch = "x86-64-v4-bf16", .units = units, .lanes = 16, .registers = 32};
            kw_launch launch = {0};
            assert_int_equal(kw_config_serves(&config, &config, &problem, &target, &err), KW_OK);
            config.family->launch(&config, &problem, &target, &launch);
            assert_true(launch.multiply_adds * 2 * (double)cases[i].lanes >= (double)kw_problem_flops(&problem));
            assert_true(launch.loads > 0 && launch.thread_bytes > 0);
            assert_true(launch.stage[launch.stages - 1].units >= units);
            bool adds = problem.op == KW_CONV_BWD_WEIGHT && launch.shared_bytes > 0; /* shares of the pixels */
            assert_true(launch.stages == 1 || adds || (launch.stage[0].packs && launch.packed_bytes > 0));
        }
    }
}

static kw_launch launch_on(const char *config_text, const char *problem_text) {
    static const kw_target target = {.backend = KW_BACKEND_CPU, .arch = "x86-64-v4", .units = 1, .lanes = 16, .registers = 32, .l1 = 32768};
    kw_config config;
    kw_problem problem;
    kw_launch launch = {0};
    assert_int_equal(kw_problem_parse(&problem, problem_text, NULL), KW_OK);
    assert_int_equal(kw_config_parse(&config, config_text, NULL), KW_OK);
    assert_int_equal(kw_config_serves(&config, &config, &problem, &target, NULL), KW_OK);
    config.family->launch(&config, &problem, &target, &launch);
    return launch;
}

static void tall_tiles_go_over_fewer_rows_again(void **state) {
    (void)state;
    const char *problem = "conv_fwd fp32 n1 g64 c64 k64 i112x112 f3x3 p1x1";
    double tall = launch_on(DEPTHWISE "tile_h=4 tile_w=2 taps_h=3 taps_w=3 stride=1 block=0", problem).rereads[0].bytes;
    double flat = launch_on(DEPTHWISE "tile_h=2 tile_w=7 taps_h=3 taps_w=3 stride=1 block=0", problem).rereads[0].bytes;
    double x = 112.0 * 112 * 64 * 4;
    assert_true(flat == x && tall == x / 2); /* 2 + 2 rows for 2, 4 + 2 for 4 */
    assert_true(launch_on(DEPTHWISE "tile_h=2 tile_w=7 taps_h=1 taps_w=1 stride=1 block=0", "conv_fwd fp32 n1 g64 c64 k64 i112x112 f1x1")
                    .rereads[0]
                    .bytes == 0);
}

/* 15 pixels at 2 KiB share two sets of 8 ways; 29 do not fit there. At 2 KiB and a line they do. */
static void pixels_that_evict_each_other_are_read_again(void **state) {
    (void)state;
    static const struct {
        const char *tile, *problem;
        bool evicts;
    } cases[] = {
        {"tile_w=7", "conv_fwd fp32 n1 g32 c512 k512 i28x28 f3x3 s2x2 p1x1", false},
        {"tile_w=14", "conv_fwd fp32 n1 g32 c512 k512 i28x28 f3x3 s2x2 p1x1", true},
        {"tile_w=14", "conv_fwd fp32 n1 g33 c528 k528 i28x28 f3x3 s2x2 p1x1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char config[256];
        snprintf(config, sizeof config,
                 "conv.merged conv_fwd fp32 isa=avx512 math=fma tile_h=1 %s taps_h=1 taps_w=3 stride=2 group_c=16 group_k=16 block=0",
                 cases[i].tile);
        assert_true((launch_on(config, cases[i].problem).rereads[1].bytes > 0) == cases[i].evicts);
    }
}

/* Every source pixel that a forward tile needs, and for backward data with a stride those for which the division is exact. */
static void taps_join_the_pixels_that_the_definition_joins(void **state) {
    (void)state;
    for (int stride = 1; stride <= 4; stride++) {
        for (int taps = 2; taps <= 7; taps++) {
            int before = (taps - 1) / stride;
            for (int pixel = 0; pixel < 8; pixel++) {
                for (int tap = 0; tap < taps; tap++) {
                    assert_int_equal(kw_tap_source(false, stride, taps, pixel, tap), pixel * stride + tap);
                    int64_t expected = (pixel - tap) % stride ? -1 : kw_floor_div(pixel - tap, stride) + before;
                    assert_int_equal(kw_tap_source(true, stride, taps, pixel, tap), expected);
                }
            }
        }
    }
    assert_int_equal(kw_tap_source(true, 2, 1, 5, 0), 5); /* one tap at once: each pixel has its own */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_generated_is_refused_in_words),
        cmocka_unit_test(a_problem_that_a_config_does_not_serve_is_refused_in_words),
        cmocka_unit_test(launches_promise_enough),
        cmocka_unit_test(tall_tiles_go_over_fewer_rows_again),
        cmocka_unit_test(pixels_that_evict_each_other_are_read_again),
        cmocka_unit_test(taps_join_the_pixels_that_the_definition_joins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
