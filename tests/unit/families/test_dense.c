/* test_dense.c: the dense CPU families as declared: what valid() and fits() refuse and why, and that launch() never promises less work or
 * memory than the problem takes. That their kernels are right is tests/check's matter. */
#include "base/math.h"
#include "families/cpu/emit/tile.h"
#include "config/config.h"
#include "config/launch/team.h"
#include "cpu/direct/args.h"
#include "cpu/gemm/args.h"
#include "support/kw_test.h"

static kw_target target_with(int64_t units) {
    kw_target target = {
        .backend = KW_BACKEND_CPU, .arch = "x86-64-v4-bf16", .units = units, .lanes = 16, .registers = 32, .l1 = 32768, .l2 = 1 << 20};
    return target;
}

static void a_tile_beyond_the_registers_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *config, *reason; /* NULL: it is fine */
    } cases[] = {
        {"gemm.tiled gemm int8 isa=avx512 math=dp tile_m=14 vecs=2 band=0 ahead=0 x=uint8", NULL},
        {"gemm.tiled gemm fp32 isa=avx512 math=fma tile_m=14 vecs=2 band=0 ahead=0 x=uint8",
         "x has another type than w only as x=uint8 of int8"},
        {"conv.gemm_col2im conv_bwd_data fp32 isa=avx512 math=fma tile_w=7 vecs=2 band=0 x=uint8", "rule x_type: "},
        {"gemm.tiled gemm int8 isa=avx512 math=dp tile_m=14 vecs=2 band=0 ahead=0 epilogue=zero_x:int32", NULL},
        {"conv.gemm_col2im conv_bwd_data fp32 isa=avx512 math=fma tile_w=7 vecs=2 band=0 epilogue=zero_x:int32", "rule zero_x: "},
        {"conv.direct conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=14 vecs=2 band=0 edge=skip", NULL},
        {"conv.direct conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=15 vecs=2 band=0 edge=skip", "rule tile_registers: "},
        {"conv.direct conv_fwd fp32 isa=avx2 math=fma tile_h=1 tile_w=6 vecs=2 band=0 edge=pad", NULL},
        {"conv.direct conv_fwd fp32 isa=avx2 math=fma tile_h=1 tile_w=7 vecs=2 band=0 edge=pad", "rule tile_registers: "},
        {"conv.direct conv_fwd fp32 isa=avx512 math=fma tile_h=3 tile_w=9 vecs=1 band=0 edge=pad", "rule base_pointers: "},
        {"conv.direct conv_fwd fp32 isa=avx512 math=dp tile_h=1 tile_w=7 vecs=2 band=0 edge=pad", "rule math_type: "},
        {"conv.direct_1st conv_fwd bf16 isa=avx2 math=dp tile_w=6 vecs=2 band=0", "rule math_isa: "},
        {"conv.gemm_col2im conv_bwd_data fp32 isa=avx512 math=fma tile_w=6 vecs=5 band=0", "rule tile_registers: "},
        {"conv.pointwise conv_fwd fp32 isa=avx512 math=fma tile_m=30 vecs=2 band=0 ahead=1", "rule tile_registers: "},
        {"gemm.tiled gemm fp32 isa=avx512 math=fma tile_m=4 vecs=6 band=0 ahead=1", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_config config;
        kw_error err = {0};
        kw_status status = kw_config_parse(&config, cases[i].config, &err);
        assert_int_equal(status, cases[i].reason ? KW_ILLEGAL : KW_OK);
        if (cases[i].reason && !strstr(err.text, cases[i].reason)) {
            fail_msg("'%s' lacks '%s'", err.text, cases[i].reason);
        }
    }
}

static void a_problem_that_a_family_does_not_serve_is_refused_in_words(void **state) {
    (void)state;
    static const char pointwise[] = "conv.pointwise %s fp32 isa=avx512 math=fma tile_m=7 vecs=2 band=0 ahead=1";
    static const char first[] = "conv.direct_1st %s fp32 isa=avx512 math=fma tile_w=7 vecs=2 band=0";
    static const char scatter[] = "conv.gemm_col2im %s fp32 isa=avx512 math=fma tile_w=7 vecs=2 band=0";
    static const char direct[] = "conv.direct %s fp32 isa=avx512 math=fma tile_h=1 tile_w=7 vecs=2 band=0 edge=pad";
    static const struct {
        const char *config, *problem, *reason;
    } cases[] = {
        {pointwise, "conv_fwd fp32 nhwgc c8 k8 i9x9 f3x3", "rule filter_1: "},
        {pointwise, "conv_fwd fp32 nhwgc c8 k8 i9x9 f1x1 p1x1", "rule no_padding: "},
        {pointwise, "conv_fwd fp32 nhwgc c8 k8 i9x9 f1x1 p0x0:1x1", "rule no_padding: "},
        {pointwise, "conv_fwd fp32 ngchw c8 k8 i9x9 f1x1", NULL},
        {pointwise, "conv_fwd fp32 nhwgc c8 k8 i9x9 f1x1 s2x2", NULL},
        {pointwise, "conv_bwd_data fp32 nhwgc c8 k8 i9x9 f1x1 s2x2", "rule bwd_data_whole: "},
        {pointwise, "conv_bwd_data fp32 nhwgc c8 k8 i9x9 f1x1 p0x0:-1x0", "rule bwd_data_whole: "},
        {first, "conv_fwd fp32 nhwgc c17 k8 i9x9 f3x3", "rule few_channels: "},
        {first, "conv_fwd fp32 nhwgc g2 c32 k8 i9x9 f3x3", NULL},
        {first, "conv_fwd fp32 nhwgc c3 k8 i9x9 f3x3 d1x2", "rule dense_width: "},
        {first, "conv_fwd fp32 nhwgc c3 k8 i9x9 f3x1 d2x2", NULL},
        {scatter, "conv_bwd_data fp32 nhwgc c17 k8 i9x9 f3x3", "rule few_channels: "},
        {scatter, "conv_bwd_data fp32 nhwgc c3 k8 i9x9 f3x3 d1x2", "rule dense_width: "},
        {scatter, "conv_bwd_data fp32 ngchw c3 k8 i9x9 f3x3", NULL},
        {scatter, "conv_bwd_data fp32 nhwgc g2 c6 k8 i9x9 f3x3 s2x4 d2x1 p1x1:-1x0", NULL},
        {direct, "conv_fwd fp32 ngchw c3 k8 i9x9 f3x3", NULL},
        {direct, "conv_bwd_data fp32 nhwgc c3 k8 i9x9 f3x3 s5x5 d2x3", NULL},
    };
    kw_target target = target_with(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[KW_CONFIG_TEXT_MAX];
        kw_config config;
        kw_problem problem;
        kw_error err = {0};
        assert_int_equal(kw_problem_parse(&problem, cases[i].problem, &err), KW_OK);
        const char *rest = strstr(cases[i].config, "%s");
        snprintf(text, sizeof text, "%.*s%s%s", (int)(rest - cases[i].config), cases[i].config, kw_op_name(problem.op), rest + 2);
        assert_int_equal(kw_config_parse(&config, text, &err), KW_OK);
        kw_status status = kw_config_serves(&config, &config, &problem, &target, &err);
        if (status != (cases[i].reason ? KW_NO_KERNEL : KW_OK) || (cases[i].reason && !strstr(err.text, cases[i].reason))) {
            fail_msg("%s: '%s' lacks '%s'", cases[i].problem, err.text, cases[i].reason ? cases[i].reason : "");
        }
    }
}

static int64_t chance(uint32_t *state, int64_t low, int64_t high) {
    *state = *state * 1664525u + 1013904223u;
    return low + (int64_t)(*state >> 8) % (high - low + 1);
}

/* A random legal problem of the op; tries until one is. */
static kw_problem random_problem(uint32_t *state, kw_op op, kw_dtype dtype) {
    for (;;) {
        kw_problem problem = {.op = op, .dtype = dtype};
        if (op == KW_GEMM) {
            problem.layout = (kw_layout)chance(state, KW_RCR, KW_CCR);
            problem.gemm = (kw_gemm_dims){
                .batch = chance(state, 1, 3), .m = chance(state, 1, 200), .n = chance(state, 1, 200), .k = chance(state, 1, 200)};
        } else {
            kw_conv_dims *d = &problem.conv;
            problem.layout = KW_CHANNELS_LAST;
            problem.ndim = (int32_t)chance(state, 1, 3);
            d->n = chance(state, 1, 3);
            d->g = chance(state, 1, 3);
            d->c = d->g * chance(state, 1, 40);
            d->k = d->g * chance(state, 1, 80);
            for (int axis = 0; axis < 3; axis++) {
                bool used = axis >= 3 - problem.ndim;
                d->in[axis] = used ? chance(state, 1, 40) : 1;
                d->filter[axis] = used && chance(state, 0, 2) ? chance(state, 1, 5) : 1;
                d->stride[axis] = used ? chance(state, 1, 3) : 1;
                d->dilation[axis] = used ? chance(state, 1, 3) : 1;
                d->pad[axis] = used ? chance(state, 0, 3) : 0;
                d->pad_back[axis] = used ? chance(state, -2, 4) : 0;
            }
        }
        if (kw_problem_check(&problem, NULL) == KW_OK) {
            return problem;
        }
    }
}

/* A random point of the family's axes; mostly not a valid one. */
static kw_config random_config(uint32_t *state, const kw_family *family, kw_op op, kw_dtype dtype) {
    kw_config config = {.family = family, .op = op, .dtype = dtype};
    for (int i = 0; i < family->axis_count; i++) {
        const kw_axis *axis = &family->axes[i];
        config.axis[i] = (int32_t)chance(state, axis->low, kw_min(axis->high, 30));
    }
    return config;
}

/* What the launch of any fitting config must hold, whatever the threads. */
static void check_launch(const kw_config *config, const kw_problem *problem, const kw_target *target) {
    char text[KW_CONFIG_TEXT_MAX + KW_PROBLEM_TEXT_MAX];
    size_t length = kw_config_print(text, sizeof text, config);
    text[length++] = '\n';
    kw_problem_print(text + length, sizeof text - length, problem);
    kw_launch launch = {0};
    config->family->launch(config, problem, target, &launch);
    int64_t lanes = kw_config_isa(config)->lanes;
    int64_t pair = kw_config_multiply(config)->pair;
    int64_t weights = kw_problem_elements(problem, KW_W) * 4 / pair;
    double done = launch.multiply_adds * (double)(lanes * pair * 2);
    bool good = launch.stages == 2 && launch.stage[0].packs && !launch.stage[1].packs;
    good = good && launch.stage[0].units > 0 && launch.stage[1].units > 0 && launch.thread_bytes > 0;
    good = good && launch.packed_bytes >= weights && launch.copied_bytes >= 0 && launch.loads > 0;
    if (!good) {
        fail_msg("a stage, a size or a count is wrong: %s", text);
    }
    if (done < (double)kw_problem_flops(problem)) {
        fail_msg("%.0f operations cannot be %lld: %s", done, (long long)kw_problem_flops(problem), text);
    }
}

static void a_launch_counts_all_the_work_and_packs_all_the_weights(void **state) {
    (void)state;
    static const char *const names[] = {"conv.direct", "conv.direct_1st", "conv.gemm_col2im", "conv.pointwise", "gemm.tiled"};
    uint32_t chances = 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const kw_family *family = kw_family_find((kw_word){names[i], strlen(names[i])});
        assert_non_null(family);
        int checked = 0;
        for (int tries = 0; checked < 500; tries++) {
            assert_true(tries < 10000000);
            kw_op op = (kw_op)chance(&chances, KW_GEMM, KW_CONV_BWD_DATA);
            kw_dtype dtype = chance(&chances, 0, 3) ? (kw_dtype)chance(&chances, KW_FP32, KW_FP16) : KW_INT8;
            kw_target target = target_with(chance(&chances, 0, 1) ? 1 : chance(&chances, 2, 64));
            kw_config config = random_config(&chances, family, op, dtype);
            if (kw_config_check(&config, NULL) == KW_OK) {
                kw_problem problem = random_problem(&chances, op, dtype);
                if (kw_config_serves(&config, &config, &problem, &target, NULL) == KW_OK && kw_problem_flops(&problem) > 0) {
                    check_launch(&config, &problem, &target);
                    checked++;
                }
            }
        }
    }
}

/* Each tile of rows goes through all packed weights: 128 rows in tiles of 1, 2, 4 are 127, 63, 31 times again. */
static void small_tiles_go_through_the_weights_more_often(void **state) {
    (void)state;
    kw_problem problem = {.op = KW_GEMM, .dtype = KW_FP32, .layout = KW_RCR, .gemm = {1, 128, 512, 7168}};
    kw_target target = target_with(1);
    for (int rows = 1; rows <= 4; rows *= 2) {
        char text[128];
        kw_config config;
        kw_launch launch = {0};
        snprintf(text, sizeof text, "gemm.tiled gemm fp32 isa=avx512 math=fma tile_m=%d vecs=4 band=0 ahead=1", rows);
        assert_int_equal(kw_config_parse(&config, text, NULL), KW_OK);
        config.family->launch(&config, &problem, &target, &launch);
        assert_true(launch.rereads[0].bytes == (128.0 / rows - 1) * (double)launch.packed_bytes);
        assert_true(launch.rereads[0].between > 7168 * 64 * 4 && launch.rereads[0].between < 7168 * 80 * 4);
    }
}

static void parts_leave_threads_idle_for_a_twentieth_at_most_where_blocks_allow(void **state) {
    (void)state;
    for (int64_t units = 1; units < 40; units++) {
        for (int64_t blocks = 1; blocks < 20; blocks++) {
            for (int64_t threads = 1; threads < 20; threads++) {
                for (int64_t each = 1; each <= KW_TEAM_UNITS; each += KW_TEAM_UNITS - 1) {
                    int64_t parts = kw_tile_parts(units, blocks, threads, each), all = units * parts,
                            idle = kw_round_up(all, threads) - all;
                    assert_in_range(parts, 1, blocks);
                    assert_true((20 * idle <= all && (threads == 1 || all >= each * threads)) || parts == blocks);
                    assert_true(threads > 1 || parts == 1);
                    assert_in_range(kw_tile_sharers(units, parts, threads), 1, parts);
                    assert_true(units < threads || kw_tile_sharers(units, parts, threads) == 1);
                }
            }
        }
    }
}

static void weights_are_asked_for_ahead_where_the_last_level_is_far(void **state) {
    (void)state;
    kw_target target = {.backend = KW_BACKEND_CPU, .l3 = 32 << 20};
    assert_int_equal(kw_tile_far(&target), 0);
    target.l3 = 300 << 20; /* not measured, and large */
    assert_int_equal(kw_tile_far(&target), 4096);
    target.rates.l2 = 118, target.rates.l3 = 101;
    assert_int_equal(kw_tile_far(&target), 0);
    target.rates.l2 = 114, target.rates.l3 = 25;
    assert_int_equal(kw_tile_far(&target), 4096);
    target.l1 = 48 << 10; /* weights that stay in the first level are asked for once */
    assert_int_equal(kw_tile_far_of_block(&target, 24 << 10), -4096);
    assert_int_equal(kw_tile_far_of_block(&target, (24 << 10) + 64), 4096);
}

/* Where the last level is far: whether products meet the depth in parts, copy columns of A, and with which blocks they ask for rows and weights. */
static void products_go_by_how_far_the_last_level_is(void **state) {
    (void)state;
    static const struct {
        const char *isa;
        kw_layout layout;
        int64_t m, n, k;
        bool far;
        bool parts, copies;
        int ahead;
        bool soon;
    } cases[] = {
        {"avx512", KW_RCR, 54, 187, 17232, false, false, false, KW_GEMM_AHEAD_EACH, false},
        {"avx512", KW_RCR, 54, 187, 17232, true, true, false, KW_GEMM_AHEAD_NEVER, true},
        {"avx2", KW_RCR, 54, 187, 17232, false, true, false, KW_GEMM_AHEAD_EACH, true},
        {"avx512", KW_RCR, 97, 12, 8000, true, false, false, KW_GEMM_AHEAD_NEVER, false}, /* a tile's rows are 375 KB */
        {"avx512", KW_RCR, 97, 100, 300, true, false, false, KW_GEMM_AHEAD_FIRST, false},
        {"avx512", KW_CRR, 103, 45, 475, false, false, true, KW_GEMM_AHEAD_EACH, false},
        {"avx512", KW_CRR, 103, 45, 475, true, true, false, KW_GEMM_AHEAD_FIRST, false},
        {"avx2", KW_CRR, 103, 30, 475, false, true, false, KW_GEMM_AHEAD_EACH, false},
        {"avx2", KW_CRR, 103, 45, 475, false, false, true, KW_GEMM_AHEAD_EACH, false},
        {"avx512", KW_CRR, 103, 90, 475, true, false, true, KW_GEMM_AHEAD_FIRST, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem = {.op = KW_GEMM, .dtype = KW_FP32, .layout = cases[i].layout, .gemm = {1, cases[i].m, cases[i].n, cases[i].k}};
        kw_target target = target_with(1);
        target.l1 = 48 << 10, target.l2 = 2 << 20, target.rates.l2 = 110, target.rates.l3 = cases[i].far ? 25 : 100;
        char text[128];
        kw_config config;
        kw_launch launch = {0};
        snprintf(text, sizeof text, "gemm.tiled gemm fp32 isa=%s math=fma tile_m=%s band=0 ahead=1", cases[i].isa,
                 strcmp(cases[i].isa, "avx2") == 0 ? "6 vecs=2" : "12 vecs=2");
        assert_int_equal(kw_config_parse(&config, text, NULL), KW_OK);
        config.family->launch(&config, &problem, &target, &launch);
        const kw_gemm_params *params = kw_launch_params_of(&launch, kw_gemm_params);
        assert_int_equal(params->deep < cases[i].k, cases[i].parts);
        assert_int_equal(params->copy, cases[i].copies);
        assert_int_equal(params->ahead, cases[i].ahead);
        assert_int_equal(params->soon, cases[i].soon);
    }
}

/* Pixels so far apart that they meet in few sets of a cache of 8 ways of 4 KiB would evict each other. */
static void a_tiles_pixels_have_room_in_the_first_level_cache(void **state) {
    (void)state;
    for (int64_t pitch = 64; pitch <= 16384; pitch += 64) {
        for (int64_t step = 1; step <= 2; step++) {
            for (int64_t count = 1; count <= 28; count++) {
                int64_t chosen = kw_tile_pitch(pitch, step, count);
                assert_in_range(chosen, pitch, pitch + 64);
                assert_true(count <= 8 * (4096 / kw_gcd(4096, chosen * step)));
            }
        }
    }
}

/* Of conv.direct by a tile of 12 pixels and one vector. */
static kw_launch direct_launch(const char *problem_text, const char *edge) {
    kw_problem problem;
    kw_target target = target_with(1);
    char text[128];
    kw_config config;
    kw_launch launch = {0};
    assert_int_equal(kw_problem_parse(&problem, problem_text, NULL), KW_OK);
    snprintf(text, sizeof text, "conv.direct %s fp32 isa=avx512 math=fma tile_h=1 tile_w=12 vecs=1 band=0 edge=%s", kw_op_name(problem.op),
             edge);
    assert_int_equal(kw_config_parse(&config, text, NULL), KW_OK);
    config = kw_config_special(&config, &problem);
    config.family->launch(&config, &problem, &target, &launch);
    return launch;
}

/* Where much of a tile reads padding: lines of its pixels, and how many have their sums in memory where weights have no room in a cache. */
static void tiles_sum_intervals_where_padding_is_much(void **state) {
    (void)state;
    static const struct {
        const char *problem;
        int flow, tall, lines;
    } cases[] = {
        {"conv_fwd fp32 nhwgc c64 k16 i12x13 f7x7 p11x8", KW_DIRECT_STANDS, 28, 1},
        {"conv_fwd fp32 nhwgc c64 k16 i12x13 f7x7 p5x8 d1x2", KW_DIRECT_LIES, 17, 1},
        {"conv_fwd fp32 nhwgc c90 k12 i34x17 f27x27 p13x13", KW_DIRECT_STANDS, 34, 17},
        {"conv_bwd_data fp32 nhwgc c12 k90 i34x17 f27x27 p13x13", KW_DIRECT_STANDS, 34, 17},
        {"conv_bwd_data fp32 nhwgc c12 k90 i34x17 f27x27 s2x2 p13x13", 0, 0, 0},
        {"conv_fwd fp32 nhwgc c64 k16 i56x56 f3x3", 0, 0, 0},
        {"conv_fwd fp32 nhwgc c64 k16 i49x49 f3x3 p1x1", 0, 0, 0},                           /* too little of it for a text of its own */
        {"conv_fwd fp32 nhwgc c2048 k16 i33x33 f3x3 p12x12 d12x12", KW_DIRECT_LIES, 11, 33}, /* weights are far: all rows together */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_launch launch = direct_launch(cases[i].problem, "skip");
        const kw_direct_params *params = kw_launch_params_of(&launch, kw_direct_params);
        assert_int_equal(params->flow, cases[i].flow);
        assert_int_equal(params->tall, cases[i].tall);
        assert_int_equal(params->lines, cases[i].lines);
    }
}

/* Unless a tile reads padding, or its pixels lie by few sets of the first-level cache. */
static void groups_are_read_where_they_lie(void **state) {
    (void)state;
    static const struct {
        const char *problem, *edge;
        bool copied;
    } cases[] = {
        {"conv_fwd fp32 nhwgc g4 c60 k52 i28x28 f3x3 p1x1", "skip", false},
        {"conv_bwd_data fp32 nhwgc g4 c60 k52 i28x28 f3x3 s2x2 p1x1", "skip", false},
        {"conv_fwd fp32 nhwgc g4 c60 k52 i28x28 f3x3 p1x1", "pad", true},
        {"conv_fwd fp32 nhwgc g4 c60 k52 i28x28 f3x3", "pad", false},
        {"conv_fwd fp32 nhwgc g64 c1024 k512 i28x28 f3x3 p1x1", "skip", true},
        {"conv_fwd fp32 nhwgc g4 c60 k52 i28x28 f3x3 p1x1 ldxw1024", "skip", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_launch launch = direct_launch(cases[i].problem, cases[i].edge);
        assert_int_equal(kw_launch_params_of(&launch, kw_direct_params)->copy_at > 0, cases[i].copied);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tile_beyond_the_registers_is_refused),
        cmocka_unit_test(a_problem_that_a_family_does_not_serve_is_refused_in_words),
        cmocka_unit_test(a_launch_counts_all_the_work_and_packs_all_the_weights),
        cmocka_unit_test(small_tiles_go_through_the_weights_more_often),
        cmocka_unit_test(weights_are_asked_for_ahead_where_the_last_level_is_far),
        cmocka_unit_test(products_go_by_how_far_the_last_level_is),
        cmocka_unit_test(parts_leave_threads_idle_for_a_twentieth_at_most_where_blocks_allow),
        cmocka_unit_test(a_tiles_pixels_have_room_in_the_first_level_cache),
        cmocka_unit_test(tiles_sum_intervals_where_padding_is_much),
        cmocka_unit_test(groups_are_read_where_they_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
