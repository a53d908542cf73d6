/* test_mma_tailor.c: tiles that gemm.mma and conv.igemm make to a problem's measure: which columns, that every rule takes them, and for
 * which problems there are none. */
#include "config/config.h"
#include "support/parsed.h"

#define H200 ON("cuda:sm_90")
#define ON(arch)                                                                                                                           \
    arch " model=any units=132 lanes=32 registers=255 l2=62914560 lds=232448 unit_lds=233472 unit_registers=65536 "                        \
         "unit_waves=64 clock=1980 bandwidth=4814"

/* Of all families. */
static size_t made_for(kw_config configs[KW_TAILORED_MAX], const char *problem_text, const char *target_text) {
    kw_problem problem = problem_of(problem_text);
    kw_target target = target_of(target_text);
    size_t count = 0;
    for (const kw_family *const *family = kw_family_table; *family && !count; family++) {
        bool does = (*family)->tailor && (*family)->ops >> problem.op & 1 && (*family)->dtypes >> problem.dtype & 1;
        count = does ? (*family)->tailor(&problem, &target, configs) : 0;
        assert_true(count <= KW_TAILORED_MAX);
    }
    return count;
}

static bool has_tile(const kw_config configs[], size_t count, int32_t rows, int32_t cols, const char *pipe, const char *epi) {
    bool has = false;
    for (size_t i = 0; i < count; i++) {
        kw_word of_pipe = kw_config_axis_word(&configs[i], "pipe"), of_epi = kw_config_axis_word(&configs[i], "epi");
        has |= kw_config_axis(&configs[i], "tile_m", 0) == rows && kw_config_axis(&configs[i], "tile_n", 0) == cols &&
               kw_word_is(of_pipe, pipe) && kw_word_is(of_epi, epi);
    }
    return has;
}

/* Tiles that fill the rounds of 132 multiprocessors. */
static void columns_fill_the_rounds(void **state) {
    static const struct {
        const char *problem;
        int32_t rows, cols;
        const char *pipe, *epi;
    } cases[] = {
        {"gemm bf16 crr m36968 n112 k736", 144, 128, "pingpong", "turned"},                       /* 257 tiles: two rounds, less seven */
        {"gemm bf16 rrr m1536 n960 k2304", 128, 88, "cooperative", "cshuffle"},                   /* 132 */
        {"gemm fp16 rcr m1001 n1111 k1003", 128, 72, "cooperative", "cshuffle"},                  /* 128, of odd sizes */
        {"conv_bwd_weight bf16 nhwgc n4 c1216 k528 i12x73 f1x1", 64, 96, "pingpong", "cshuffle"}, /* 117 */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_config configs[KW_TAILORED_MAX];
        size_t count = made_for(configs, cases[i].problem, H200);
        if (!has_tile(configs, count, cases[i].rows, cases[i].cols, cases[i].pipe, cases[i].epi)) {
            for (size_t j = 0; j < count; j++) {
                char text[KW_CONFIG_TEXT_MAX];
                kw_config_print(text, sizeof text, &configs[j]);
                print_message("%s\n", text);
            }
            fail_msg("%s: no tile of %dx%d among %zu", cases[i].problem, cases[i].rows, cases[i].cols, count);
        }
    }
}

/* Of thin products: blocks of a cluster share a tile's depth, four bring the few together, and two shallow blocks share a
 * multiprocessor. */
static void blocks_share_thin_products(void **state) {
    static const struct {
        const char *problem;
        int32_t rows, cols, parts;
        const char *pipe, *epi, *streamk;
    } cases[] = {
        {"gemm bf16 rcr m80 n4656 k3488", 80, 128, 3, "cooperative", "turned", "cluster"}, /* 37 tiles: 111 blocks */
        {"gemm bf16 rcr m2800 n88 k2656", 128, 88, 5, "cooperative", "default", "cluster"},
        {"gemm fp16 crr m11432 n120 k2968", 128, 128, 1, "cooperative", "cshuffle", "quad"},
        {"gemm bf16 rcr m16 n13192 k1072", 16, 128, 1, "pingpong", "turned", "off"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_config configs[KW_TAILORED_MAX];
        size_t count = made_for(configs, cases[i].problem, H200), found = 0;
        for (size_t j = 0; j < count; j++) {
            found += has_tile(&configs[j], 1, cases[i].rows, cases[i].cols, cases[i].pipe, cases[i].epi) &&
                     kw_config_axis(&configs[j], "split_k", 0) == cases[i].parts &&
                     kw_word_is(kw_config_axis_word(&configs[j], "streamk"), cases[i].streamk);
        }
        if (!found) {
            fail_msg("%s: no %s of %dx%d among %zu", cases[i].problem, cases[i].streamk, cases[i].rows, cases[i].cols, count);
        }
    }
}

/* Rules take all that is made, but those that ask how a problem lies; the same every time; and their texts are read back. */
static void rules_take_what_is_made(void **state) {
    static const char *const problems[] = {
        "gemm bf16 rcr m4096 n4096 k4096",
        "gemm fp16 rrr m152 n216 k39232",
        "gemm bf16 crr m8 n65536 k64",
        "gemm bf16 ccr b3 m300 n40 k128",
        "gemm bf16 rcr m80 n4656 k3488",
        "gemm fp16 rrr m2800 n88 k2656",
        "gemm bf16 ccr m24 n41952 k680",
        "gemm fp32 rcr m2304 n1440 k960 fpmath=tf32",
        "gemm fp32 crr m2301 n1441 k961 fpmath=tf32",
        "gemm bf16 crr m233 n619 k95",
        "gemm fp8 rcr m2944 n6592 k3136 fpmath=fast_accum",
        "gemm bf8 rcr m2944 n6592 k3136",
        "conv_fwd bf16 nhwgc n32 c256 k312 i28x28 f3x3 p1x1",
        "conv_bwd_data fp16 nhwgc n32 c200 k512 i28x28 f3x3 p1x1 s2x2",
        "conv_bwd_weight bf16 nhwgc n8 c1000 k72 i9x11 f1x1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        kw_config configs[KW_TAILORED_MAX], again[KW_TAILORED_MAX];
        kw_problem problem = problem_of(problems[i]);
        kw_target target = target_of(H200);
        size_t count = made_for(configs, problems[i], H200), fit = 0;
        assert_int_equal(made_for(again, problems[i], H200), count);
        for (size_t j = 0; j < count; j++) {
            kw_config special, read;
            char text[KW_CONFIG_TEXT_MAX];
            kw_error err = {0};
            kw_config_print(text, sizeof text, &configs[j]);
            if (kw_config_check(&configs[j], &err)) {
                fail_msg("%s: %s", text, err.text);
            }
            assert_true(kw_config_equal(&configs[j], &again[j]));
            assert_int_equal(kw_config_read(&read, text, NULL), KW_OK);
            assert_true(kw_config_equal(&configs[j], &read));
            fit += !kw_config_serves(&special, &configs[j], &problem, &target, NULL);
        }
        if (2 * fit < count || !count) {
            fail_msg("%s: %zu of %zu fit", problems[i], fit, count);
        }
    }
}

/* Another device has other rounds. */
static void rounds_are_those_of_the_target(void **state) {
    kw_config configs[KW_TAILORED_MAX], fewer[KW_TAILORED_MAX];
    char text[KW_TARGET_TEXT_MAX], *units;
    (void)state;
    snprintf(text, sizeof text, "%s", H200);
    units = strstr(text, "units=132");
    memcpy(units, "units=114", 9);
    made_for(configs, "gemm bf16 rcr m4992 n2048 k512", H200);
    made_for(fewer, "gemm bf16 rcr m4992 n2048 k512", text);
    assert_false(kw_config_equal(&configs[0], &fewer[0]));
}

static void others_have_none(void **state) {
    static const struct {
        const char *problem, *target;
    } cases[] = {
        {"gemm bf16 rcr m512 n512 k512", ON("cuda:sm_80")},
        {"gemm bf16 rcr m512 n512 k512", ON("hip:gfx942")},
        {"gemm bf16 rcr m512 n512 k512", ON("cuda:sm_unheard_of")},
        {"gemm int8 rcr m512 n512 k512", H200},
        {"gemm fp32 rcr m512 n512 k512", H200},
        {"gemm bf16 rcr m512 n512 k512 epilogue=bias", H200},
        {"conv_fwd bf16 nhwgc g2 c128 k128 i8x8 f3x3", H200},
        {"conv_fwd bf16 nhwgc c3 k64 i80x80 f3x3", H200},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_config configs[KW_TAILORED_MAX];
        if (made_for(configs, cases[i].problem, cases[i].target)) {
            fail_msg("%s on %s", cases[i].problem, cases[i].target);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_fill_the_rounds), cmocka_unit_test(blocks_share_thin_products),
        cmocka_unit_test(rules_take_what_is_made), cmocka_unit_test(rounds_are_those_of_the_target),
        cmocka_unit_test(others_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
