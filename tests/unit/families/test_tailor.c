/* test_tailor.c: tiles that dense families of CPUs make to a problem's measure (families/cpu/tailor.h): which, that every rule takes them, and for
 * which problems there are none. */
#include "config/config.h"
#include "support/parsed.h"

#define V4 "cpu:x86-64-v4 model=any units=1 lanes=16 registers=32 l1=49152 l2=2097152 l3=314572800"
#define V3 "cpu:x86-64-v3 model=any units=1 lanes=8 registers=16 l1=32768 l2=524288 l3=33554432"

enum { MADE_MAX = 4 * KW_TAILORED_MAX };

/* By families of CPUs, those that fit. All can be generated. */
static size_t made_for(kw_config fit[MADE_MAX], const char *problem_text, const char *target_text) {
    kw_problem problem = problem_of(problem_text);
    kw_target target = target_of(target_text);
    size_t count = 0;
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        bool does = (*family)->tailor && (*family)->kind == KW_KIND_CPU && (*family)->ops >> problem.op & 1 &&
                    (*family)->dtypes >> problem.dtype & 1;
        kw_config configs[KW_TAILORED_MAX], special;
        size_t of_family = does ? (*family)->tailor(&problem, &target, configs) : 0;
        assert_true(count + of_family <= MADE_MAX);
        for (size_t i = 0; i < of_family; i++) {
            assert_int_equal(kw_config_check(&configs[i], NULL), KW_OK);
            if (!kw_config_serves(&special, &configs[i], &problem, &target, NULL)) {
                fit[count++] = configs[i];
            }
        }
    }
    return count;
}

/* "14x2": pixels and vectors, of gemm.dot rows and columns. */
static void print_tile(char text[32], const kw_config *config) {
    int32_t width = kw_config_axis(config, "tile_w", 0), columns = kw_config_axis(config, "tile_n", 0);
    snprintf(text, 32, "%dx%d", width ? width : kw_config_axis(config, "tile_m", 0), columns ? columns : kw_config_axis(config, "vecs", 0));
}

/* All tiles that a family made for a problem, in order. */
static void check_tiles(const char *problem, const char *target, const char *family, const char *isa, const char *expected) {
    kw_config fit[MADE_MAX];
    size_t count = made_for(fit, problem, target);
    char all[256] = "";
    for (size_t i = 0; i < count; i++) {
        char tile[32];
        print_tile(tile, &fit[i]);
        if (!strcmp(fit[i].family->name, family) && kw_word_is(kw_config_axis_word(&fit[i], "isa"), isa)) {
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", *all ? " " : "", tile);
        }
    }
    if (strcmp(all, expected)) {
        fail_msg("%s, %s %s: \"%s\" were made, not \"%s\"", problem, family, isa, all, expected);
    }
}

static void tiles_end_with_rows(void **state) {
    static const struct {
        const char *problem, *target, *family, *isa, *tiles;
    } cases[] = {
        {"conv_fwd fp32 nhwgc c64 k16 i19x19 f3x3 p1x1", V4, "conv.direct", "avx512", "19x1"},
        {"conv_fwd fp32 nhwgc c64 k9 i38x38 f3x3 p1x1", V4, "conv.direct", "avx512", "19x1"},
        {"conv_fwd fp32 nhwgc c64 k12 i57x57 f3x3 p1x1", V4, "conv.direct", "avx512", "19x1 29x1"},
        {"conv_fwd fp32 nwgc c64 k12 i121 f3 p1", V4, "conv.direct", "avx512", "25x1 21x1"},             /* five and six */
        {"conv_bwd_data fp32 nhwgc c16 k32 i46x46 f3x3 p1x1 s2x2", V4, "conv.direct", "avx512", "23x1"}, /* of each phase */
        {"conv_fwd fp32 ndhwgc g2 c64 k24 i4x19x19 f3x3x3 p1x1x1", V4, "conv.direct", "avx512", "19x1"}, /* of a group */
        {"conv_fwd fp32 nhwgc c3 k16 i88x88 f16x16 s2x2 p7x7", V4, "conv.direct_1st", "avx512", "18x1"}, /* 36 that read no padding */
        {"conv_fwd fp32 nhwgc c3 k16 i40x88 f16x16 s2x2 p7x7", V4, "conv.direct_1st", "avx512", "22x1 15x1"},
        {"conv_fwd fp32 nhwgc c64 k8 i11x11 f3x3 p1x1", V3, "conv.direct", "avx2", "11x1"},
        {"conv_fwd fp32 nhwgc c64 k8 i19x19 f3x3 p1x1", V4, "conv.direct", "avx512vl", "19x1"}, /* half of wide vectors would be idle */
        {"conv_fwd fp32 nhwgc c64 k16 i19x19 f3x3 p1x1", V4, "conv.direct", "avx512vl", ""},
        {"conv_fwd fp32 nhwgc c64 k8 i19x19 f3x3 p1x1", V4, "conv.direct", "avx2", ""}, /* fewer registers */
        {"gemm fp32 rcr m21 n12 k300", V4, "gemm.tiled", "avx512", "21x1"},
        {"conv_fwd fp32 nhwgc c64 k12 i5x5 f1x1", V4, "conv.pointwise", "avx512", "25x1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_tiles(cases[i].problem, cases[i].target, cases[i].family, cases[i].isa, cases[i].tiles);
    }
}

static void five_vectors_are_one_tile(void **state) {
    static const struct {
        const char *problem, *family;
    } cases[] = {
        {"conv_fwd fp32 nhwgc c64 k72 i34x34 f3x3 p1x1", "conv.direct"},
        {"conv_bwd_data fp32 nhwgc c150 k64 i34x34 f3x3 p1x1", "conv.direct"}, /* ten: two blocks */
        {"conv_fwd fp32 nhwgc c3 k80 i103x103 f4x4", "conv.direct_1st"},
        {"conv_bwd_data fp32 nhwgc c80 k64 i34x34 f1x1", "conv.pointwise"},
        {"gemm fp32 crr m400 n77 k64", "gemm.tiled"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_tiles(cases[i].problem, V4, cases[i].family, "avx512", "5x5 4x5");
    }
}

static void few_columns_have_a_tile(void **state) {
    static const struct {
        const char *problem, *target, *isa, *tiles;
    } cases[] = {
        {"gemm fp32 rcr m600 n5 k3000", V4, "avx512", "5x5"},  {"gemm fp32 rcr m600 n7 k3000", V4, "avx512", "3x7"},
        {"gemm fp32 rcr m600 n10 k3000", V4, "avx512", "5x5"}, {"gemm fp32 rcr m600 n10 k3000", V3, "avx2", "2x5"},
        {"gemm fp32 rcr m600 n6 k3000", V3, "avx2", "2x6"},    {"gemm fp32 rcr m600 n17 k3000", V4, "avx512", ""}, /* many columns */
        {"gemm fp32 rcr m4 n10 k3000", V4, "avx512", ""},                                                          /* few rows */
        {"gemm fp32 rrr m600 n10 k3000", V4, "avx512", ""}, /* B does not lie along the depth */
        {"gemm bf16 rcr m600 n10 k3000", V4, "avx512", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_tiles(cases[i].problem, cases[i].target, "gemm.dot", cases[i].isa, cases[i].tiles);
    }
}

/* Whatever the row; and their texts are read back. */
static void texts_are_read_back(void **state) {
    (void)state;
    for (int row = 7; row < 64; row++) {
        kw_config fit[MADE_MAX];
        char text[128];
        snprintf(text, sizeof text, "conv_fwd fp32 nhwgc c4 k7 i%dx%d f3x3 p1x1", row, row);
        size_t count = made_for(fit, text, row % 2 ? V4 : V3);
        for (size_t i = 0; i < count; i++) {
            kw_config read;
            char name[KW_CONFIG_TEXT_MAX];
            kw_config_print(name, sizeof name, &fit[i]);
            assert_int_equal(kw_config_read(&read, name, NULL), KW_OK);
            assert_true(kw_config_equal(&fit[i], &read));
        }
    }
}

static void others_have_none(void **state) {
    static const struct {
        const char *problem, *target;
    } cases[] = {
        {"conv_fwd bf16 nhwgc c64 k16 i19x19 f3x3 p1x1", V4},
        {"conv_fwd fp32 nhwgc c64 k32 i19x19 f3x3 p1x1", V4},   /* lists have all of two vectors */
        {"conv_fwd fp32 nhwgc c64 k96 i19x19 f3x3 p1x1", V4},   /* six */
        {"conv_fwd fp32 nhwgc c64 k240 i19x19 f3x3 p1x1", V4},  /* fifteen */
        {"conv_fwd fp32 nhwgc c64 k40 i19x19 f3x3 p1x1", V3},   /* too few registers for five */
        {"conv_fwd fp32 nwgc c64 k16 i1000 f3 p1", V4},         /* a long row */
        {"conv_fwd fp32 nhwgc c64 k16 i9x9 f3x3 p1x1", V4},     /* a short one */
        {"conv_bwd_weight fp32 nhwgc c64 k16 i19x19 f3x3", V4}, /* no rows of results */
        {"conv_fwd fp32 nhwgc c64 k16 i19x19 f3x3 p1x1",
         "cpu:x86-64-unheard-of model=any units=1 lanes=8 registers=16 l1=32768 l2=524288 l3=33554432"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_config fit[MADE_MAX];
        size_t made = made_for(fit, cases[i].problem, cases[i].target);
        if (made) {
            fail_msg("%s on %s: %zu", cases[i].problem, cases[i].target, made);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_end_with_rows), cmocka_unit_test(five_vectors_are_one_tile), cmocka_unit_test(few_columns_have_a_tile),
        cmocka_unit_test(texts_are_read_back), cmocka_unit_test(others_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
