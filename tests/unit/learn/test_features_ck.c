/* test_features_ck.c: the published columns of the CK Tile heuristics against rows worked out by hand from the published formulas. */

#include "learn/ck/features_ck.h"
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

static void conv_rows_follow_the_published_formulas(void **state) {
    (void)state;
    kw_ck_features_conv conv = kw_ck_features_conv_defaults;
    conv.n = 8;
    conv.c = 64;
    conv.k = 128;
    conv.g = 2;
    conv.hi = conv.wi = 56;
    conv.y = conv.x = 3;
    conv.stride_h = conv.stride_w = 2;
    conv.pad_h = conv.pad_w = 1;
    assert_int_equal(kw_ck_features_conv_name(&conv, "grouped_conv_forward_bf16_2d_16x64x128_compv4_intrawave_dsb", NULL), KW_OK);
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
    kw_ck_features_conv_row(row, &conv, kw_ck_features_hardware_of("gfx950"));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        if (conv_value(row, expected[i].name) != expected[i].value) {
            fail_msg("%s is %.17g, not %.17g", expected[i].name, conv_value(row, expected[i].name), expected[i].value);
        }
    }
    conv.n = 1;
    conv.hi = 129;
    conv.wi = 1;
    conv.y = conv.x = conv.stride_h = conv.stride_w = 1;
    conv.pad_h = conv.pad_w = 0;
    conv.tile_m = 128;
    kw_ck_features_conv_row(row, &conv, kw_ck_features_hardware_of("gfx942"));
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
    kw_ck_features_gemm gemm = kw_ck_features_gemm_defaults;
    const char *name = "gemm_universal_fp8_rcr_mem_cshuffle_interwave_False_False_True_True_128x256x64_2x2x1_32x32x16";
    assert_int_equal(kw_ck_features_gemm_name(&gemm, name, NULL), KW_OK);
    gemm.m = 100;
    gemm.n = 1536;
    gemm.k = 7168;
    const expectation expected[] = {
        {"log2_MNK", log2(100.0 * 1536 * 7168)},
        {"layout", 0},
        {"pipeline", 3},
        {"scheduler", 1},
        {"epilogue", 1},
        {"pad_m", 0},
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
        {"has_padding_when_needed_m", 0},
        {"missing_required_padding_m", 1},
        {"missing_any_required_padding", 1},
        {"hw_l2_cache_kb", 8192},
    };
    double row[KW_CK_FEATURES_GEMM];
    kw_ck_features_gemm_row(row, &gemm, kw_ck_features_hardware_of("gfx90a"));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        if (gemm_value(row, expected[i].name) != expected[i].value) {
            fail_msg("%s is %.17g, not %.17g", expected[i].name, gemm_value(row, expected[i].name), expected[i].value);
        }
    }
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
        assert_int_equal(kw_ck_features_conv_columns(column, places[i].set), places[i].set);
        assert_string_equal(kw_ck_features_conv_table.features[column[places[i].at]].name, places[i].name);
    }
    assert_int_equal(kw_ck_features_conv_columns(column, 90), 0);
    assert_int_equal(kw_ck_features_gemm_columns(column, 72), 72);
    assert_string_equal(kw_ck_features_gemm_table.features[column[43]].name, "ratio_M_to_tile_m");
    assert_int_equal(kw_ck_features_gemm_columns(column, 55), 55);
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
        "grouped_conv_forward_bf16_2d_64x64x64_compv3_intrawave_gm2",
        "grouped_conv_sideways_bf16_2d_64x64x64_compv3",
        "grouped_conv_forward_bf16_2d_64x64x99999999_compv3",
        "grouped_conv_forward_bf16_2d_64x64x64_compv9",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kw_ck_features_conv conv = kw_ck_features_conv_defaults;
        kw_error err = {0};
        assert_int_equal(kw_ck_features_conv_name(&conv, names[i], &err), KW_MALFORMED);
        assert_true(err.text[0] != 0);
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
        cmocka_unit_test(conv_rows_follow_the_published_formulas),         cmocka_unit_test(impossible_shapes_count_as_published),
        cmocka_unit_test(gemm_rows_follow_the_published_formulas),         cmocka_unit_test(smaller_sets_keep_the_published_order),
        cmocka_unit_test(kernel_names_that_follow_no_grammar_are_refused), cmocka_unit_test(names_are_unique_and_have_formulas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
