/* test_config.c: configs as text, catalogs, the instruction-set rules. The families here are the test's own, so that the rules of text
 * are tested apart from any kernel. */

#include "config/catalog.h"
#include "config/arch/isa.h"
#include "config/launch/team.h"
#include "problem/names/names.h"
#include "problem/wants.h"
#include "support/kw_test.h"

static const kw_axis wide_axes[] = {
    KW_ISA_AXES,
    {"tile_w", NULL, 1, 28, "pixels"},
    {"order", "inner outer", 0, 1, "loop order"},
};

static bool tile_is_not_13(const kw_rule_case *c) {
    return c->config->axis[2] != 13;
}

static bool has_one_group(const kw_rule_case *c) {
    return c->problem->conv.g == 1;
}

static const kw_rule wide_valid[] = {{"thirteen", "tile_w=13 is refused by this test", tile_is_not_13}, {0}};
static const kw_rule wide_fits[] = {{"one_group", "test.wide needs g1", has_one_group}, {0}};

static void no_emit(const kw_config *config, kw_text *text) {
    (void)config;
    (void)text;
}

static const kw_family wide = {
    .name = "test.wide",
    .summary = "a family with axes",
    .kind = KW_KIND_CPU,
    .ops = 1u << KW_CONV_FWD | 1u << KW_CONV_BWD_DATA,
    .dtypes = 1u << KW_FP32 | 1u << KW_BF16,
    .axes = wide_axes,
    .axis_count = 4,
    .rules = {[KW_VALID] = {kw_isa_valid_rules, wide_valid}, [KW_RUNS] = {kw_isa_runs_rules}, [KW_FITS] = {wide_fits}},
    .emit = no_emit,
    .kernel = "cpu/none.c",
};

static const kw_family plain = {.name = "test.plain",
                                .summary = "a family without axes",
                                .kind = KW_KIND_CPU,
                                .pitched = true,
                                .pitched_text = true,
                                .row_groups = true,
                                .fuses = true,
                                .quantized = true,
                                .ops = 1u << KW_GEMM,
                                .dtypes = 1u << KW_FP32 | 1u << KW_INT8,
                                .kernel = "none"};

static const kw_axis layout_axes[] = {{"layout", "last first", 0, 1, "an axis that has the name of a want"}};

static bool pads(const kw_config *config) {
    return config->dtype == KW_FP32;
}

static const kw_family turning = {.name = "test.turning",
                                  .summary = "a family that turns tensors",
                                  .kind = KW_KIND_CPU,
                                  .first_text = true,
                                  .filter_text = true,
                                  .rounds = true,
                                  .padded_text = pads,
                                  .ops = 1u << KW_CONV_FWD,
                                  .dtypes = 1u << KW_FP32 | 1u << KW_BF16,
                                  .kernel = "none"};

static const kw_family laid = {.name = "test.laid",
                               .summary = "a family with an axis of its own for the layout",
                               .kind = KW_KIND_CPU,
                               .ops = 1u << KW_CONV_FWD,
                               .dtypes = 1u << KW_FP32,
                               .axes = layout_axes,
                               .axis_count = 1,
                               .kernel = "none"};

static const kw_axis grown_axes[] = {
    {"edge", "whole part", 0, 1, "an axis that came later"},
    {"tile_w", NULL, 1, 28, "pixels"},
    {"ahead", NULL, 0, 9, "another that came later"},
};

static const kw_family grown = {.name = "test.grown",
                                .summary = "a family that had one axis when its first rows were stored",
                                .kind = KW_KIND_CPU,
                                .ops = 1u << KW_CONV_FWD,
                                .dtypes = 1u << KW_FP32,
                                .axes = grown_axes,
                                .axis_count = 3,
                                .added = "edge=part ahead=2",
                                .kernel = "none"};

const kw_family *const kw_family_table[] = {&wide, &plain, &turning, &laid, &grown, NULL};

#define GOOD "test.wide conv_fwd bf16 isa=avx512 math=dp tile_w=7 order=outer"

static void text_round_trips(void **state) {
    (void)state;
    kw_error err = {0};
    for (int i = 0; i < 3000; i++) {
        kw_config config = {.family = &wide, .op = i % 2 ? KW_CONV_FWD : KW_CONV_BWD_DATA, .dtype = i % 3 ? KW_FP32 : KW_BF16};
        config.axis[0] = i % 5 != 0;
        config.axis[1] = config.dtype == KW_BF16 && config.axis[0];
        config.axis[2] = 1 + i % 12;
        config.axis[3] = i / 2 % 2;
        char text[KW_CONFIG_TEXT_MAX], again[KW_CONFIG_TEXT_MAX];
        assert_true(kw_config_print(text, sizeof text, &config) < sizeof text);
        kw_config parsed;
        assert_int_equal(kw_config_parse(&parsed, text, &err), KW_OK);
        assert_memory_equal(&parsed, &config, sizeof config);
        kw_config_print(again, sizeof again, &parsed);
        assert_string_equal(text, again);
    }
    kw_config config;
    assert_int_equal(kw_config_parse(&config, "test.plain gemm fp32", &err), KW_OK);
    char small[8];
    assert_int_equal(kw_config_print(small, sizeof small, &config), strlen("test.plain gemm fp32"));
    assert_string_equal(small, "test.pl");
}

static void axes_may_stand_in_any_order(void **state) {
    (void)state;
    kw_config a, b;
    assert_int_equal(kw_config_parse(&a, GOOD, NULL), KW_OK);
    assert_int_equal(kw_config_parse(&b, "  test.wide conv_fwd bf16 order=outer tile_w=7  math=dp isa=avx512 ", NULL), KW_OK);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(kw_config_axis(&a, "tile_w", -1), 7);
    assert_int_equal(kw_config_axis(&a, "nothing", -1), -1);
    assert_true(kw_word_is(kw_config_axis_word(&a, "order"), "outer"));
    assert_int_equal(kw_config_axis_word(&a, "tile_w").size, 0);
}

static void texts_from_before_an_axis_mean_what_they_meant(void **state) {
    (void)state;
    static const struct {
        const char *text, *canonical;
    } cases[] = {
        {"test.grown conv_fwd fp32 tile_w=7", "test.grown conv_fwd fp32 edge=part tile_w=7 ahead=2"},
        {"test.grown conv_fwd fp32 tile_w=7 edge=whole", "test.grown conv_fwd fp32 edge=whole tile_w=7 ahead=2"},
        {"test.grown conv_fwd fp32 ahead=0 tile_w=7", "test.grown conv_fwd fp32 edge=part tile_w=7 ahead=0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_error err = {0};
        kw_config config;
        char text[KW_CONFIG_TEXT_MAX];
        assert_ok(kw_config_parse(&config, cases[i].text, &err), &err);
        kw_config_print(text, sizeof text, &config);
        assert_string_equal(text, cases[i].canonical);
    }
}

static void bad_text_is_refused_by_name(void **state) {
    (void)state;
    static const struct {
        const char *text, *named;
        kw_status status;
    } cases[] = {
        {"", "empty", KW_MALFORMED},
        {"test.wid conv_fwd fp32", "test.wid", KW_MISSING},
        {"test.wide", "no operation", KW_MALFORMED},
        {"test.wide conv_fdw fp32", "conv_fdw", KW_MALFORMED},
        {"test.wide conv_fwd fp31", "fp31", KW_MALFORMED},
        {"test.wide conv_fwd fp32 isa=avx512 math=fma tile_w=7", "order", KW_MALFORMED},
        {"test.wide conv_fwd fp32 isa=avx512 math=fma tile_w=7 order=outer order=inner", "twice", KW_MALFORMED},
        {"test.wide conv_fwd fp32 isa=avx512 math=fma tile_w=29 order=outer", "1 to 28", KW_ILLEGAL},
        {"test.wide conv_fwd fp32 isa=avx512 math=fma tile_w=7x order=outer", "7x", KW_ILLEGAL},
        {"test.wide conv_fwd fp32 isa=sse math=fma tile_w=7 order=outer", "avx2 avx512 avx512vl", KW_ILLEGAL},
        {"test.wide conv_fwd fp32 isa=avx512 math=fma tile=7 order=outer", "no axis tile", KW_MISSING},
        {"test.wide conv_fwd fp32 isa=avx512 math=fma tile_w", "axis=value", KW_MALFORMED},
        {"test.wide conv_bwd_weight fp32 isa=avx512 math=fma tile_w=7 order=outer", "conv_bwd_weight", KW_ILLEGAL},
        {"test.wide conv_fwd fp16 isa=avx512 math=fma tile_w=7 order=outer", "fp16", KW_ILLEGAL},
        {"test.wide conv_fwd fp32 isa=avx512 math=dp tile_w=7 order=outer", "math=fma", KW_ILLEGAL},
        {"test.wide conv_fwd bf16 isa=avx2 math=dp tile_w=7 order=outer", "isa=avx512", KW_ILLEGAL},
        {"test.wide conv_fwd fp32 isa=avx512 math=fma tile_w=13 order=outer", "tile_w=13", KW_ILLEGAL},
        {"test.grown conv_fwd fp32 edge=part", "needs axis tile_w", KW_MALFORMED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_error err = {0};
        kw_config config;
        assert_int_equal(kw_config_parse(&config, cases[i].text, &err), cases[i].status);
        assert_non_null(strstr(err.text, cases[i].named));
    }
}

static void catalogs_keep_each_config_once_and_in_order(void **state) {
    (void)state;
    kw_catalog catalog = {0};
    kw_error err = {0};
    kw_text text = {0};
    for (int i = 0; i < 400; i++) {
        kw_text_addf(&text, "test.wide conv_fwd fp32 isa=avx512 math=fma tile_w=%d order=inner # again\r\n\n", 1 + i % 12);
    }
    assert_int_equal(kw_catalog_read(&catalog, "list", text.data, text.size, &err), KW_OK);
    assert_int_equal(catalog.count, 12);
    for (int i = 0; i < 12; i++) {
        assert_int_equal(catalog.configs[i].axis[2], 1 + i);
    }
    static const char bad[] = "\n# fine\ntest.wide conv_fwd fp32 isa=avx512";
    assert_int_equal(kw_catalog_read(&catalog, "list", bad, sizeof bad - 1, &err), KW_MALFORMED);
    assert_non_null(strstr(err.text, "list:3:"));
    static const char zero[] = "test.plain gemm fp32\0x";
    assert_int_equal(kw_catalog_read(&catalog, "list", zero, sizeof zero - 1, &err), KW_MALFORMED);
    kw_catalog_drop(&catalog);
    kw_text_drop(&text);
}

static void configs_run_only_where_the_machine_can(void **state) {
    (void)state;
    static const struct {
        const char *config, *arch;
        bool runs;
    } cases[] = {
        {GOOD, "x86-64-v4-bf16", true},
        {GOOD, "x86-64-v4", false},
        {GOOD, "x86-64-v3", false},
        {"test.wide conv_fwd fp32 isa=avx512 math=fma tile_w=7 order=outer", "x86-64-v4", true},
        {"test.wide conv_fwd fp32 isa=avx2 math=fma tile_w=7 order=outer", "x86-64-v3", true},
        {"test.wide conv_fwd fp32 isa=avx2 math=fma tile_w=7 order=outer", "generic", false},
        {"test.plain gemm fp32", "generic", true},
        {"test.plain gemm fp32", "unheard-of", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_target target = {.backend = KW_BACKEND_CPU};
        snprintf(target.arch, sizeof target.arch, "%s", cases[i].arch);
        kw_config config;
        assert_int_equal(kw_config_parse(&config, cases[i].config, NULL), KW_OK);
        assert_int_equal(kw_config_runs(&config, &target, NULL) == KW_OK, cases[i].runs);
    }
    kw_target other = {.backend = KW_BACKEND_CUDA, .arch = "sm_90"};
    kw_config config;
    assert_int_equal(kw_config_parse(&config, "test.plain gemm fp32", NULL), KW_OK);
    assert_int_equal(kw_config_runs(&config, &other, NULL), KW_NO_KERNEL);
}

/* Of each way to multiply the types that it has, by instruction set. */
static void types_are_multiplied_as_the_table_says(void **state) {
    (void)state;
    static const char *const floats = "fp32 bf16 fp16 fp8 bf8";
    const struct {
        int math, isa;
        const char *types;
    } rows[] = {
        {KW_MATH_FMA, KW_ISA_AVX2, floats},       {KW_MATH_FMA, KW_ISA_AVX512, floats},      {KW_MATH_DP, KW_ISA_AVX2, "int8"},
        {KW_MATH_DP, KW_ISA_AVX512, "bf16 int8"}, {KW_MATH_WIDE, KW_ISA_AVX2, "int8"},       {KW_MATH_WIDE, KW_ISA_AVX512, "int8"},
        {KW_MATH_AMX, KW_ISA_AVX2, ""},           {KW_MATH_AMX, KW_ISA_AVX512, "bf16 int8"},
    };
    kw_family short_sums = wide;
    short_sums.short_sums = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_config config = {.family = &wide, .op = KW_CONV_FWD, .axis = {rows[i].isa, rows[i].math}};
        kw_text types = {0};
        for (int type = 0; type < KW_DTYPE_COUNT; type++) {
            config.dtype = (kw_dtype)type;
            config.family = &wide;
            const kw_multiply *multiply = kw_config_multiply(&config);
            if (multiply) {
                assert_true(multiply->math == rows[i].math && multiply->isa == rows[i].isa && multiply->pair >= 1);
                kw_text_addf(&types, "%s%s", types.size ? " " : "", kw_dtype_name(config.dtype));
            }
            config.family = &short_sums; /* has int8 by fma, too */
            bool more = type == KW_INT8 && rows[i].math == KW_MATH_FMA;
            assert_int_equal(kw_config_multiply(&config) != NULL, multiply || more);
        }
        assert_string_equal(kw_text_string(&types), rows[i].types);
        kw_text_drop(&types);
    }
}

static void a_config_serves_only_its_own_problems(void **state) {
    (void)state;
    kw_target target = {.backend = KW_BACKEND_CPU, .arch = "x86-64-v4-bf16"};
    kw_error err = {0};
    kw_config config;
    kw_problem problem;
    assert_int_equal(kw_config_parse(&config, GOOD, NULL), KW_OK);
    assert_int_equal(kw_problem_parse(&problem, "conv_fwd bf16 c4 k4 i8 f3", NULL), KW_OK);
    assert_int_equal(kw_config_fits(&config, &problem, &target, &err), KW_OK);
    problem.conv.g = 2;
    assert_int_equal(kw_config_fits(&config, &problem, &target, &err), KW_NO_KERNEL);
    assert_non_null(strstr(err.text, "g1"));
    problem.dtype = KW_FP32;
    assert_int_equal(kw_config_fits(&config, &problem, &target, &err), KW_NO_KERNEL);
    assert_non_null(strstr(err.text, "fp32"));
}

/* A text of its own is for pitches alone, and is made of a catalog's config. */
static void pitches_have_kernels_of_their_own(void **state) {
    (void)state;
    kw_target target = {.backend = KW_BACKEND_CPU, .arch = "generic"};
    kw_error err = {0};
    kw_config config, special, same;
    kw_problem dense, pitched;
    char text[KW_CONFIG_TEXT_MAX];
    assert_int_equal(kw_problem_parse(&dense, "gemm fp32 m4 n8 k8", NULL), KW_OK);
    assert_int_equal(kw_problem_parse(&pitched, "gemm fp32 m4 n8 k8 lda9", NULL), KW_OK);
    assert_true(!kw_problem_is_plain(&pitched) && kw_problem_is_plain(&dense));
    assert_int_equal(kw_config_parse(&config, "test.plain gemm fp32", NULL), KW_OK);
    assert_int_equal(kw_config_fits(&config, &pitched, &target, &err), KW_NO_KERNEL);
    assert_non_null(strstr(err.text, "the config has no pitched, the problem pitched=1"));
    assert_int_equal(kw_config_serves(&special, &config, &pitched, &target, &err), KW_OK);
    kw_config_print(text, sizeof text, &special);
    assert_string_equal(text, "test.plain gemm fp32 pitched=1");
    assert_int_equal(kw_config_parse(&same, text, NULL), KW_OK);
    assert_true(kw_config_equal(&same, &special) && !kw_config_equal(&same, &config));
    assert_true(kw_config_is_plain(&config) && !kw_config_is_plain(&same));
    same = kw_config_special(&same, &dense);
    assert_true(kw_config_equal(&same, &config));
    assert_int_equal(kw_config_fits(&special, &dense, &target, &err), KW_NO_KERNEL);
    assert_non_null(strstr(err.text, "the config has pitched=1, the problem no pitched"));
}

/* Every word of a config that its problem does not want, or wants otherwise, is named with both values. */
static void words_that_the_problem_does_not_want_are_named(void **state) {
    (void)state;
    static const struct {
        const char *config, *problem, *named;
    } cases[] = {
        {"test.plain int8 x=uint8", "gemm int8 m4 n8 k8", "the config has x=uint8, the problem no x;"},
        {"test.plain int8", "gemm int8 m4 n8 k8 x=uint8", "the config has no x, the problem x=uint8;"},
        {"test.turning fp32 fpmath=tf32", "conv_fwd fp32 c4 k4 i8 f3", "the config has fpmath=tf32, the problem no fpmath;"},
        {"test.turning fp32", "conv_fwd fp32 c4 k4 i8 f3 fpmath=tf32", "the config has no fpmath, the problem fpmath=tf32;"},
        {"test.turning fp32 layout=first", "conv_fwd fp32 nhwgc c4 k4 i8 f3", "the config has layout=first, the problem no layout;"},
        {"test.turning fp32", "conv_fwd fp32 ngchw c4 k4 i8 f3", "the config has no layout, the problem layout=first;"},
        {"test.turning fp32 filter_order=any", "conv_fwd fp32 nhwgc c4 k4 i8x8 f3x3",
         "the config has filter_order=any, the problem no filter_order;"},
        {"test.plain fp32 grouped=1", "gemm fp32 m4 n8 k8", "the config has grouped=1, the problem no grouped;"},
        {"test.plain fp32", "gemm fp32 g2 m4 n8 k8", "the config has no grouped, the problem grouped=1;"},
        {"test.plain fp32 out=bf16", "gemm fp32 m4 n8 k8 out=fp16", "the config has out=bf16, the problem out=fp16;"},
        {"test.plain fp32 epilogue=relu", "gemm fp32 m4 n8 k8", "the config has epilogue=relu, the problem no epilogue;"},
        {"test.plain fp32 epilogue=bias+relu", "gemm fp32 m4 n8 k8 epilogue=bias:bf16+relu",
         "the config has epilogue=bias:fp32+relu, the problem epilogue=bias:bf16+relu;"},
        {"test.plain fp32 pitched=1", "gemm fp32 m4 n8 k8", "the config has pitched=1, the problem no pitched;"},
        {"test.turning fp32 padded=1", "conv_fwd fp32 c4 k4 i8 f1", "the config has padded=1, the problem no padded;"},
        {"test.turning fp32", "conv_fwd fp32 c4 k4 i8 f3 p1", "the config has no padded, the problem padded=1;"},
    };
    kw_target target = {.backend = KW_BACKEND_CPU, .arch = "generic"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_error err = {0};
        kw_config config, special, bare;
        kw_problem problem;
        char text[KW_CONFIG_TEXT_MAX];
        const char *dtype = strchr(cases[i].config, ' ');
        assert_int_equal(kw_problem_parse(&problem, cases[i].problem, &err), KW_OK);
        snprintf(text, sizeof text, "%.*s %s%s", (int)(dtype - cases[i].config), cases[i].config, kw_op_name(problem.op), dtype);
        assert_int_equal(kw_config_parse(&config, text, &err), KW_OK);
        assert_int_equal(kw_config_fits(&config, &problem, &target, &err), KW_NO_KERNEL);
        assert_non_null(strstr(err.text, "rule wants: "));
        assert_non_null(strstr(err.text, cases[i].named));
        if (!kw_config_is_plain(&config)) {
            assert_int_equal(kw_config_serves(&special, &config, &problem, &target, &err), KW_NO_KERNEL);
            assert_non_null(strstr(err.text, cases[i].named));
        }
        bare = kw_config_plain(&config);
        assert_int_equal(kw_config_serves(&special, &bare, &problem, &target, &err), KW_OK);
        assert_true(kw_config_suits(&special, &problem));
        kw_config_print(text, sizeof text, &special);
        assert_int_equal(kw_config_parse(&config, text, &err), KW_OK);
        assert_true(kw_config_equal(&config, &special));
    }
}

/* A word that the family has no text for, by the rule's name; one that is none. */
static void words_of_a_problem_are_checked(void **state) {
    (void)state;
    static const struct {
        const char *text, *named;
        kw_status status;
    } cases[] = {
        {GOOD " x=uint8", "rule x_type: its kernels read x and w in one type", KW_ILLEGAL},
        {GOOD " fpmath=fast_accum", "rule fpmath: its kernels of bf16 have no coarser sums", KW_ILLEGAL},
        {GOOD " fpmath=tf32", "rule fpmath: its kernels of bf16 multiply elements as they are", KW_ILLEGAL},
        {"test.plain gemm fp32 x=uint8", "rule x_type: x=uint8 of fp32", KW_ILLEGAL},
        {"test.plain gemm int8 x=fp16", "rule x_type: x=fp16 of int8", KW_ILLEGAL},
        {GOOD " layout=first", "rule layout:", KW_ILLEGAL},
        {GOOD " filter_order=any", "rule filter:", KW_ILLEGAL},
        {"test.turning conv_fwd fp32 filter_order=kcrs", "filter_order takes any", KW_MALFORMED},
        {GOOD " grouped=1", "rule row_groups:", KW_ILLEGAL},
        {GOOD " joined=1", "rule joined:", KW_ILLEGAL},
        {GOOD " epilogue=relu", "rule epilogue:", KW_ILLEGAL},
        {GOOD " out=fp16", "rule epilogue:", KW_ILLEGAL},
        {GOOD " epilogue=zero_x", "rule zero_x:", KW_ILLEGAL},
        {"test.plain gemm int8 epilogue=zero_w", "rule zero_w:", KW_ILLEGAL},
        {GOOD " pitched=1", "rule pitched:", KW_ILLEGAL},
        {GOOD " padded=1", "rule padded:", KW_ILLEGAL},
        {"test.turning conv_fwd bf16 fpmath=tf32", "rule fpmath: its kernels of bf16", KW_ILLEGAL},
        {"test.turning conv_fwd fp32 fpmath=bf16", "fpmath takes tf32", KW_MALFORMED},
        {"test.turning conv_fwd fp32 fpmath=tf32 fpmath=tf32", "says fpmath a second time", KW_MALFORMED},
        {"test.plain gemm fp32 epilogue=zero_x", "zero_x is for gemm and conv_fwd of int8", KW_ILLEGAL},
        {"test.plain gemm fp32 pitched=2", "pitched=2 is not known; pitched takes 1", KW_MALFORMED},
        {"test.plain gemm fp32 grouped=0", "grouped takes 1", KW_MALFORMED},
        {"test.turning conv_fwd fp32 layout=last", "layout takes first", KW_MALFORMED},
        {"test.plain gemm fp32 grouped", "axis=value", KW_MALFORMED},
        {"test.plain gemm int8 x=int9", "x=int9 names no type", KW_MALFORMED},
        {"test.plain gemm fp32 out=", "out= names no type", KW_MALFORMED},
        {"test.plain gemm fp32 epilogue=rely", "did you mean relu", KW_MALFORMED},
        {"test.plain gemm int8 x=uint8 x=uint8", "x=uint8 says x a second time", KW_MALFORMED},
        {"test.turning conv_fwd fp32 layout=first layout=first", "a second time", KW_MALFORMED},
        {"test.plain gemm fp32 grouped=1 grouped=1", "a second time", KW_MALFORMED},
        {"test.plain gemm fp32 out=bf16 out=fp16", "out=fp16 says out a second time", KW_MALFORMED},
        {"test.plain gemm fp32 epilogue=relu epilogue=relu", "a second time", KW_MALFORMED},
        {"test.plain gemm fp32 pitched=1 pitched=1", "a second time", KW_MALFORMED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_error err = {0};
        kw_config config;
        assert_int_equal(kw_config_parse(&config, cases[i].text, &err), cases[i].status);
        assert_non_null(strstr(err.text, cases[i].named));
    }
    kw_config config;
    static const char all[] = "test.plain gemm int8 x=uint8 grouped=1 out=bf16 epilogue=bias:fp32+relu pitched=1";
    char text[KW_CONFIG_TEXT_MAX];
    assert_int_equal(kw_config_parse(&config, all, NULL), KW_OK);
    kw_config_print(text, sizeof text, &config);
    assert_string_equal(text, all);
    assert_int_equal(kw_config_parse(&config, "test.laid conv_fwd fp32 layout=first", NULL), KW_OK);
    assert_true(kw_config_is_plain(&config) && config.axis[0] == 1); /* an axis comes first */
}

static void families_describe_themselves(void **state) {
    (void)state;
    kw_error err = {0};
    char *text = NULL;
    assert_int_equal(kw_family_describe(&text, "test.wide", &err), KW_OK);
    assert_non_null(strstr(text, "tile_w"));
    assert_non_null(strstr(text, "1..28"));
    assert_non_null(strstr(text, "\noperations: conv_fwd conv_bwd_data\n"));
    assert_non_null(strstr(text, "\ntypes: fp32 bf16\n"));
    kw_free(text);
    assert_int_equal(kw_family_describe(&text, NULL, &err), KW_OK);
    assert_non_null(strstr(text, "test.plain"));
    kw_free(text);
    assert_int_equal(kw_family_describe(&text, "nothing", &err), KW_MISSING);
}

static void the_first_three_words_are_read_whatever_the_family(void **state) {
    (void)state;
    kw_error err = {0};
    kw_config_info info;
    assert_int_equal(kw_config_info_read(&info, "some.family conv_bwd_data bf16 tile=3", &err), KW_OK);
    assert_string_equal(info.family, "some.family");
    assert_true(info.op == KW_CONV_BWD_DATA && info.dtype == KW_BF16);
    static const char *const bad[] = {"", "some.family", "some.family gemm", "some.family gems fp32", "some.family gemm fp33"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(kw_config_info_read(&info, bad[i], &err), KW_MALFORMED);
    }
    /* A name of 63 letters fits, one of 64 does not. */
    for (int size = 63; size <= 64; size++) {
        char text[96];
        memset(text, 'a', 64);
        snprintf(text + size, sizeof text - 64, " gemm fp32");
        assert_int_equal(kw_config_info_read(&info, text, &err), size < 64 ? KW_OK : KW_MALFORMED);
    }
}

static void small_work_gets_few_threads(void **state) {
    (void)state;
    static const struct {
        double multiply_adds, loads, copied;
        int64_t bytes, threads, team;
    } cases[] = {
        {65536.0 / 2, 65536.0 / 2, 0, 49152, 2, 1}, /* a product of 64 by 512-bit vectors */
        {2 * 65536.0 - 1, 0, 0, 0, 16, 1},          /* not enough for a second one */
        {2 * 65536.0, 0, 0, 0, 16, 2},              /* exactly enough */
        {5.5 * 65536.0, 0, 0, 0, 16, 5},            /* as many as have enough */
        {5.5 * 65536.0, 0, 0, 0, 4, 4},             /* and never more than there are */
        {1e18, 1e18, 1e18, (int64_t)1 << 50, 1024, 1024},
        {1, 0, 0, 262144 * 3, 16, 3},        /* bytes are work too */
        {1, 0, 262144.0 * 3, 262144, 16, 4}, /* and copies */
        {1, 65536.0 * 6, 0, 0, 16, 3},       /* a load is half a multiply-add */
        {0, 0, 0, 0, 16, 16},                /* nothing is said of the work */
        {1, 1, 0, 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_launch launch = {.multiply_adds = cases[i].multiply_adds, .loads = cases[i].loads, .copied_bytes = cases[i].copied};
        assert_int_equal(kw_team_threads(&launch, cases[i].bytes, cases[i].threads), cases[i].team);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_round_trips),
        cmocka_unit_test(axes_may_stand_in_any_order),
        cmocka_unit_test(texts_from_before_an_axis_mean_what_they_meant),
        cmocka_unit_test(bad_text_is_refused_by_name),
        cmocka_unit_test(catalogs_keep_each_config_once_and_in_order),
        cmocka_unit_test(configs_run_only_where_the_machine_can),
        cmocka_unit_test(types_are_multiplied_as_the_table_says),
        cmocka_unit_test(a_config_serves_only_its_own_problems),
        cmocka_unit_test(pitches_have_kernels_of_their_own),
        cmocka_unit_test(words_that_the_problem_does_not_want_are_named),
        cmocka_unit_test(words_of_a_problem_are_checked),
        cmocka_unit_test(families_describe_themselves),
        cmocka_unit_test(the_first_three_words_are_read_whatever_the_family),
        cmocka_unit_test(small_work_gets_few_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
