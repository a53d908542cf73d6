/* test_features_ck.c: the published columns of the CK Tile heuristics against rows worked out by hand from the published formulas. */

#include "predict/ck/ck_kernels.h"
#include "predict/ck/ck_rows.h"
#include "support/kw_test.h"

#include <math.h>

static double conv_value(const double *row, const char *name) {
    int at = kw_feature_find(&kw_ck_features_conv_table, name);
    assert_true(at >= 0);
    return row[at];
}

static double gemm_value(const double *row, const char *name) {
    int at = kw_feature_find(&kw_ck_features_gemm_table, name);
    assert_true(at >= 0);
    return row[at];
}

typedef struct expectation {
    const char *name;
    double value;
} expectation;

/* A row of a kernel of theirs on a problem. */
static void named_row(double *row, const char *kernel, const char *text, const char *arch) {
    kw_config config;
    kw_problem problem;
    kw_error err = {0};
    kw_target target = {.lanes = 64, .units = 1};
    strcpy(target.arch, arch);
    if (kw_ck_config_read(&config, kernel, &err) || kw_problem_parse(&problem, text, &err) || kw_ck_config_fits(&config, &problem, &err)) {
        fail_msg("%s", err.text);
    }
    assert_true(kw_ck_describes(&config));
    kw_ck_row(row, &config, &problem, kw_ck_features_hardware_of(arch));
}

static void conv_rows_follow_the_published_formulas(void **state) {
    (void)state;
    /* Ho = (56 + 2 - 3) / 2 + 1 = 28; GM = 8 28 28 = 6272; GK = 32 9 = 288; B, TM, TN = 16, 64, 128. */
    const expectation expected[] = {
        {"Ho", 28},
        {"log2_output", log2(784)},
        {"filter_area", 9},
        {"is_3x3_conv", 1},
        {"is_1x1_conv", 0},
        {"channels_per_group", 32},
        {"arithmetic_intensity", 2.0 * 8 * 128 * 784 * 32 * 9 / ((8.0 * 64 * 3136 + 128.0 * 32 * 9 + 8.0 * 128 * 784) * 2)},
        {"is_3d", 0},
        {"is_depthwise", 0},
        {"batch_group_product", 16},
        {"is_small_batch_grouped", 0},
        {"block_size", 16},
        {"gemm_m_per_block", 64},
        {"gemm_n_per_block", 128},
        {"pipeline", 1},
        {"num_warps", 4},
        {"lds_usage_estimate", (64 * 16 + 128 * 16) * 2},
        {"lds_usage_ratio", (64 * 16 + 128 * 16) * 2 / 32768.0},
        {"block_efficiency", 0.5},
        {"is_intrawave", 1},
        {"has_dsb", 1},
        {"has_si", 0},
        {"is_basic", 0},
        {"gemm_m_output", 6272},
        {"gemm_n_output", 128},
        {"gemm_k_output", 288},
        {"num_tiles_m", 98},
        {"num_tiles_n", 1},
        {"num_tiles_k", 18},
        {"tile_eff_m", 1},
        {"tile_eff_k", 1},
        {"cu_utilization", 98 / 256.0},
        {"problem_smaller_than_tile_n", 0},
        {"hw_total_simds", 1024},
        {"hw_num_xcd", 8},
    };
    double row[KW_CK_FEATURES_CONV];
    named_row(row, "grouped_conv_forward_bf16_2d_16x64x128_compv4_intrawave_dsb", "conv_fwd bf16 n8 g2 c64 k128 i56x56 f3x3 s2x2 p1x1",
              "gfx950");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        if (conv_value(row, expected[i].name) != expected[i].value) {
            fail_msg("%s is %.17g, not %.17g", expected[i].name, conv_value(row, expected[i].name), expected[i].value);
        }
    }
    named_row(row, "grouped_conv_forward_bf16_2d_16x128x128_compv4", "conv_fwd bf16 n1 g2 c64 k128 i129x1 f1x1", "gfx942");
    assert_true(conv_value(row, "tile_eff_m") == 1.0 / 128); /* the remainder over the tile, as published */
    assert_true(conv_value(row, "hw_num_cus") == 228);
}

/* Their floor division rounds down also below zero, and a 1x1 input under a 3x3 filter gives -1 pixels. */
static void impossible_shapes_count_as_published(void **state) {
    (void)state;
    kw_ck_features_conv conv = kw_ck_features_conv_defaults;
    conv.hi = conv.wi = 1;
    conv.y = conv.x = 3;
    double row[KW_CK_FEATURES_CONV];
    kw_ck_features_conv_row(row, &conv, kw_ck_features_hardware_of("gfx950"));
    assert_true(conv_value(row, "Ho") == -1);
    assert_true(conv_value(row, "log2_output") == 0);
}

static void gemm_rows_follow_the_published_formulas(void **state) {
    (void)state;
    const expectation expected[] = {
        {"log2_MNK", log2(100.0 * 1536 * 7168)},
        {"layout", 0},
        {"pipeline", 3},
        {"scheduler", 1},
        {"epilogue", 1},
        {"pad_m", 1}, /* of pipeline mem, whatever the name says */
        {"pad_k", 1},
        {"persistent", 1},
        {"num_warps", 4},
        {"lds_usage_ratio", (128 * 64 + 256 * 64) / 65536.0},
        {"num_tiles_m", 1},
        {"num_tiles_n", 6},
        {"num_tiles_k", 112},
        {"tile_eff_m", 100 / 128.0},
        {"overall_tile_efficiency", 100 / 128.0},
        {"problem_smaller_than_tile_m", 1},
        {"any_dim_too_small", 1},
        {"needs_padding_m", 1},
        {"needs_padding_n", 0},
        {"has_padding_when_needed_m", 1},
        {"missing_required_padding_m", 0},
        {"missing_any_required_padding", 0},
        {"hw_l2_cache_kb", 8192},
    };
    double row[KW_CK_FEATURES_GEMM];
    named_row(row, "gemm_universal_fp8_rcr_mem_cshuffle_interwave_False_False_True_True_128x256x64_2x2x1_32x32x16",
              "gemm fp8 rcr m100 n1536 k7168", "gfx90a");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        if (gemm_value(row, expected[i].name) != expected[i].value) {
            fail_msg("%s is %.17g, not %.17g", expected[i].name, gemm_value(row, expected[i].name), expected[i].value);
        }
    }
    named_row(row, "gemm_fp8_rcr_compv3_cshuffle_intrawave_False_False_True_False_128x256x64_2x2x1_32x32x16",
              "gemm fp8 rcr m100 n1536 k7168", "gfx90a");
    assert_true(gemm_value(row, "missing_required_padding_m") == 1 && gemm_value(row, "missing_any_required_padding") == 1);
    assert_true(gemm_value(row, "has_padding_when_needed_m") == 0 && gemm_value(row, "pad_m") == 0);
}

/* The columns of the full table that a smaller published set has, in its order: all but those of the groups that it lacks. */
static size_t columns_without(int32_t column[], const kw_feature_table *table, const char *lacks) {
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (!strchr(lacks, table->features[i].group[0])) {
            column[kept++] = (int32_t)i;
        }
    }
    return kept;
}

/* Places from the published lists: first, last and those around each cut. */
static void smaller_sets_keep_the_published_order(void **state) {
    (void)state;
    static const struct {
        size_t set, at;
        const char *name;
    } places[] = {
        {83, 0, "N"},
        {83, 29, "aspect_ratio_filter"},
        {83, 30, "log2_channels_per_group"},
        {83, 38, "block_size"},
        {83, 52, "is_compv5"},
        {83, 53, "gemm_m_output"},
        {83, 71, "hw_num_cus"},
        {83, 82, "hw_num_xcd"},
        {91, 30, "is_3d"},
        {91, 60, "is_compv5"},
        {91, 61, "gemm_m_output"},
        {91, 90, "hw_num_xcd"},
        {97, 61, "is_intrawave"},
        {97, 66, "is_mem"},
        {97, 84, "problem_smaller_than_tile_k"},
        {97, 96, "hw_num_xcd"},
    };
    int32_t column[KW_CK_FEATURES_CONV];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *lacks = places[i].set == 83 ? "sd" : places[i].set == 91 ? "s" : "";
        assert_int_equal(columns_without(column, &kw_ck_features_conv_table, lacks), places[i].set);
        assert_string_equal(kw_ck_features_conv_table.features[column[places[i].at]].name, places[i].name);
    }
    assert_int_equal(columns_without(column, &kw_ck_features_gemm_table, ""), 72);
    assert_string_equal(kw_ck_features_gemm_table.features[column[43]].name, "ratio_M_to_tile_m");
    assert_int_equal(columns_without(column, &kw_ck_features_gemm_table, "l"), 55);
    assert_string_equal(kw_ck_features_gemm_table.features[column[42]].name, "cu_utilization");
    assert_string_equal(kw_ck_features_gemm_table.features[column[43]].name, "hw_num_cus");
}

static void kernel_names_that_follow_no_grammar_are_refused(void **state) {
    (void)state;
    static const char *const names[] = {
        "",
        "gemm",
        "grouped_conv",
        "grouped_conv_forward_bf16_2d_64x64_compv3",
        "grouped_conv_forward_bf17_2d_64x64x64_compv3",
        "grouped_conv_forward_bf16_2d_64x64x64_compv3_intrawave_gm",
        "grouped_conv_forward_bf16_2d_64x64x64_compv3_dsb_dsb",
        "grouped_conv_forward_bf16_4d_64x64x64_compv3",
        "gemm_fp8_rcr_compv3_cshuffle_intrawave_False_False_True_False_128x256x64_2x2x1_32x32x16_vec8_8",
        "gemm_fp8_rcr_compv3_cshuffle_intrawave_False_False_True_False_128x256x64_2x2x1",
        "grouped_conv_sideways_bf16_2d_64x64x64_compv3",
        "grouped_conv_forward_bf16_2d_64x64x99999999_compv3",
        "grouped_conv_forward_bf16_2d_64x64x64_compv9",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kw_config config;
        kw_error err = {0};
        assert_int_equal(kw_ck_config_read(&config, names[i], &err), KW_MALFORMED);
        assert_true(err.text[0] != 0);
    }
}

/* Kernels that differ in any part of their names are different configs. */
static void each_name_is_its_own_config(void **state) {
    (void)state;
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"grouped_conv_bwd_weight_bf16_2d_64x128x32_basic_async_v1_interwave_dsb_si_gm4_2stage",
         "ck.conv conv_bwd_weight bf16 ndim=2 tile_m=64 tile_n=128 tile_k=32 pipe=basic_async_v1 sched=interwave dsb=1 split_image=1 "
         "merge=4 "
         "two_stage=1"},
        {"grouped_conv_bwd_data_fp16_3d_64x128x32_comp_async_2stage_gm4",
         "ck.conv conv_bwd_data fp16 ndim=3 tile_m=64 tile_n=128 tile_k=32 pipe=comp_async sched=intrawave dsb=0 split_image=0 merge=4 "
         "two_stage=1"},
        {"benchmark_gemm_universal_fp8_rcr_preshufflev2_default_intrawave_False_True_False_True_128x256x64_1x4x1_16x16x128_vec8_0_4_"
         "splitk4",
         "ck.gemm gemm fp8 layout=rcr tile_m=128 tile_n=256 tile_k=64 wave_m=1 wave_n=4 wave_k=1 inst_m=16 inst_n=16 inst_k=128 "
         "pipe=preshufflev2 sched=intrawave epi=default pad_m=0 pad_n=1 pad_k=0 persistent=1 vec_a=8 vec_b=0 vec_c=4 split_k=4"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_config config;
        kw_error err = {0};
        char text[KW_CONFIG_TEXT_MAX];
        assert_int_equal(kw_ck_config_read(&config, rows[i].name, &err), KW_OK);
        kw_config_print(text, sizeof text, &config);
        assert_string_equal(text, rows[i].text);
        assert_int_equal(kw_config_parse(&config, text, &err), KW_MISSING); /* no family of ours: nothing can ask for it */
    }
}

static void names_are_unique_and_have_formulas(void **state) {
    (void)state;
    const kw_feature_table *tables[] = {&kw_ck_features_conv_table, &kw_ck_features_gemm_table};
    for (size_t t = 0; t < 2; t++) {
        for (size_t i = 0; i < tables[t]->count; i++) {
            assert_int_equal(kw_feature_find(tables[t], tables[t]->features[i].name), (int)i);
            assert_true(tables[t]->features[i].formula[0] != 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conv_rows_follow_the_published_formulas),
        cmocka_unit_test(impossible_shapes_count_as_published),
        cmocka_unit_test(gemm_rows_follow_the_published_formulas),
        cmocka_unit_test(smaller_sets_keep_the_published_order),
        cmocka_unit_test(kernel_names_that_follow_no_grammar_are_refused),
        cmocka_unit_test(each_name_is_its_own_config),
        cmocka_unit_test(names_are_unique_and_have_formulas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
