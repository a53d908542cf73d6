/* test_weight.c: conv.direct_bwd_weight's rules and how it cuts a problem into boxes. Its results are test_check's. */

#include "base/math.h"
#include "config/config.h"
#include "cpu/bwd_weight/args.h"
#include "support/kw_test.h"

#define FP32 "conv.direct_bwd_weight conv_bwd_weight fp32 "
#define BF16 "conv.direct_bwd_weight conv_bwd_weight bf16 "

static void configs_that_cannot_be_generated_are_refused_by_their_rule(void **state) {
    (void)state;
    static const struct {
        const char *config, *rule;
    } table[] = {
        {FP32 "isa=avx512 math=fma lanes=c tile=15 vecs=2 copy=1 merge=0 box=0", "rule tile_registers: "},
        {FP32 "isa=avx2 math=fma lanes=k tile=7 vecs=2 copy=1 merge=0 box=0", "rule tile_registers: "},
        {BF16 "isa=avx512 math=dp lanes=c tile=8 vecs=2 copy=0 merge=0 box=0", "rule copy: "},
        {FP32 "isa=avx512 math=dp lanes=c tile=8 vecs=2 copy=1 merge=0 box=0", "math=fma"},
        {FP32 "isa=avx512 math=fma lanes=n tile=8 vecs=2 copy=1 merge=0 box=0", "lanes=n"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        kw_error err = {0};
        kw_config config;
        assert_int_equal(kw_config_parse(&config, table[i].config, &err), KW_ILLEGAL);
        if (!strstr(err.text, table[i].rule)) {
            fail_msg("%s: \"%s\" does not say \"%s\"", table[i].config, err.text, table[i].rule);
        }
    }
}

static const kw_target target = {
    .backend = KW_BACKEND_CPU, .arch = "x86-64-v4-bf16", .units = 2, .l1 = 32768, .l2 = 1 << 20, .l3 = 32 << 20};

static kw_config parse_config(const char *text) {
    kw_error err = {0};
    kw_config config;
    if (kw_config_parse(&config, text, &err)) {
        fail_msg("%s", err.text);
    }
    return config;
}

static kw_problem parse_problem(const char *text) {
    kw_error err = {0};
    kw_problem problem;
    if (kw_problem_parse(&problem, text, &err)) {
        fail_msg("%s", err.text);
    }
    return problem;
}

static void problems_are_refused_by_their_rule(void **state) {
    (void)state;
    static const char direct[] = FP32 "isa=avx512 math=fma lanes=c tile=8 vecs=2 copy=0 merge=0 box=0";
    static const char merged[] = FP32 "isa=avx512 math=fma lanes=k tile=7 vecs=2 copy=1 merge=1 box=0";
    static const struct {
        const char *config, *problem, *rule;
    } table[] = {
        {direct, "conv_bwd_weight fp32 ngchw c64 k64 i8x8 f3x3", NULL},
        {direct, "conv_bwd_weight fp32 nhwgc c16 k64 i8x8 f3x3", "rule whole_tile: "},
        {direct, "conv_bwd_weight fp32 nhwgc c31 k64 i8x8 f3x3", NULL},
        {direct, "conv_bwd_weight fp32 nhwgc c64 k7 i8x8 f3x3", "rule whole_tile: "},
        {direct, "conv_bwd_weight fp32 nhwgc c32 k8 i8x8 f3x3", NULL},
        {direct, "conv_bwd_weight fp32 nhwgc g4 c32 k8 i8x8 f3x3", NULL},
        {merged, "conv_bwd_weight fp32 nhwgc g2 c4 k64 i8x8 f3x3", NULL},
        {merged, "conv_bwd_weight fp32 nhwgc c3 k64 i8x8 f3x3 d1x2", "rule merged_row: "},
        {merged, "conv_bwd_weight fp32 nhwgc c3 k1 i8x8 f3x3 d2x1", NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        kw_error err = {0};
        kw_config config = parse_config(table[i].config);
        kw_problem problem = parse_problem(table[i].problem);
        kw_status status = kw_config_serves(&config, &config, &problem, &target, &err);
        assert_int_equal(status, table[i].rule ? KW_NO_KERNEL : KW_OK);
        if (table[i].rule && !strstr(err.text, table[i].rule)) {
            fail_msg("%s: \"%s\" does not say \"%s\"", table[i].problem, err.text, table[i].rule);
        }
    }
}

static void boxes_keep_pairs_together_and_to_their_budget(void **state) {
    (void)state;
    static const char *const problems[] = {
        "conv_bwd_weight bf16 nhwgc n8 c64 k64 i56x56 f3x3 p1x1",
        "conv_bwd_weight bf16 nwgc n1 c64 k128 i16001 f2 d4",
        "conv_bwd_weight bf16 nhwgc n1 c512 k512 i7x7 f3x3 p1x1",
        "conv_bwd_weight bf16 ndhwgc n2 g4 c128 k64 i9x31x33 f3x3x3 s1x2x2 p1x1x1",
        "conv_bwd_weight bf16 nhwgc n16 c2048 k1000 i1x1 f1x1",
        "conv_bwd_weight bf16 nhwgc n1 g23 c299 k299 i20x20 f3x3 p1x1",
        "conv_bwd_weight bf16 nhwgc n1 c208 k48 i37x40 f3x3 p6x6 d6x6",
    };
    static const char *const configs[] = {
        BF16 "isa=avx512 math=dp lanes=c tile=8 vecs=2 copy=1 merge=0 box=0",
        BF16 "isa=avx512 math=dp lanes=k tile=7 vecs=2 copy=1 merge=0 box=128",
        BF16 "isa=avx2 math=fma lanes=c tile=6 vecs=2 copy=1 merge=0 box=1024",
    };
    for (size_t p = 0; p < sizeof problems / sizeof *problems; p++) {
        for (size_t c = 0; c < sizeof configs / sizeof *configs; c++) {
            kw_problem problem = parse_problem(problems[p]);
            kw_config config = parse_config(configs[c]);
            kw_launch launch = {0};
            const kw_bwd_weight_params *params = kw_launch_params_of(&launch, kw_bwd_weight_params);
            /* Of filters that reach far boxes are larger than the second level. */
            int64_t far = kw_max(kw_min(8 * target.l2, target.l3 / 4), target.l2);
            int64_t out[3], boxes = 1, kib = kw_config_axis(&config, "box", 0), budget = kib ? kib * 1024 : far;
            config.family->launch(&config, &problem, &target, &launch);
            kw_problem_output(out, &problem);
            int64_t extent[4] = {problem.conv.n, out[0], out[1], out[2]};
            if (params->flat) { /* all pixels are one row */
                extent[KW_BOX_W] *= extent[KW_BOX_N] * extent[KW_BOX_D] * extent[KW_BOX_H];
                extent[KW_BOX_N] = extent[KW_BOX_D] = extent[KW_BOX_H] = 1;
            }
            bool smallest = true;
            for (int axis = 0; axis < 4; axis++) {
                int64_t least = axis == KW_BOX_W ? kw_min(extent[axis], 32) : 1;
                assert_true(params->box[axis] >= 1);
                boxes *= kw_ceil_div(extent[axis], params->box[axis]);
                smallest = smallest && params->box[axis] <= least;
            }
            if (config.axis[1] && params->box[KW_BOX_W] < extent[KW_BOX_W]) {
                assert_int_equal(params->box[KW_BOX_W] % 2, 0);
            }
            if (!kib && problem.conv.dilation[1] > 1) {
                assert_int_equal(boxes, 1);
            }
            assert_int_equal(params->x_bytes % 64, 0);
            assert_int_equal(params->y_bytes % 64, 0);
            assert_int_equal(launch.shared_bytes > 0, boxes > 1);
            /* Room for a vector behind each block comes on top. */
            int64_t spare = 64 * (problem.conv.c + problem.conv.k + 64), copies = params->together * (params->x_bytes + params->y_bytes);
            if (!smallest && copies > budget + params->together * spare) {
                fail_msg("%s, %s: a box of %lld bytes", problems[p], configs[c], (long long)copies);
            }
            assert_true(params->together >= 1 && params->together <= problem.conv.g);
            assert_int_equal(params->together > 1, problem.conv.c / problem.conv.g < 32);
        }
    }
}

/* Three quarters of the second level are two boxes, unless there are more sums than it holds; a stride over one tap leaves nothing in between. */
static void boxes_have_half_of_the_second_level(void **state) {
    (void)state;
    static const struct {
        const char *problem;
        int64_t rows;
    } table[] = {
        {"conv_bwd_weight fp32 nhwgc n1 c80 k80 i36x36 f3x3 p1x1", 18},
        {"conv_bwd_weight fp32 nhwgc n1 c240 k240 i20x20 f3x3 p1x1", 20},
        {"conv_bwd_weight fp32 nhwgc n1 c240 k16 i40x40 f1x3 s2x1 p0x1", 10},
    };
    kw_config config = parse_config(FP32 "isa=avx512 math=fma lanes=c tile=8 vecs=3 copy=0 merge=0 box=0");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        kw_problem problem = parse_problem(table[i].problem);
        kw_launch launch = {0};
        const kw_bwd_weight_params *params = kw_launch_params_of(&launch, kw_bwd_weight_params);
        config.family->launch(&config, &problem, &target, &launch);
        assert_int_equal(params->box[KW_BOX_H], table[i].rows);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configs_that_cannot_be_generated_are_refused_by_their_rule),
        cmocka_unit_test(problems_are_refused_by_their_rule),
        cmocka_unit_test(boxes_keep_pairs_together_and_to_their_budget),
        cmocka_unit_test(boxes_have_half_of_the_second_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
