/* test_features.c: properties of the native features; the published ones have learn/test_features_ck.c. */

#include "predict/features/features_native.h"
#include "predict/predict.h"
#include "support/kw_test.h"

#include <math.h>

static void names_are_unique_and_codes_are_marked(void **state) {
    (void)state;
    kw_native_features *own = NULL;
    assert_int_equal(kw_native_features_open(&own, NULL), KW_OK);
    const kw_feature_table *table = kw_native_features_table(own);
    for (size_t i = 0; i < table->count; i++) {
        assert_int_equal(kw_feature_find(table, table->features[i].name), (int)i);
        assert_true(table->features[i].formula[0] != 0);
    }
    static const char *const codes[] = {"op", "dtype", "family", "isa", "math"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        int at = kw_feature_find(kw_native_features_table(own), codes[i]);
        assert_true(at >= 0 && kw_feature_is_code(&kw_native_features_table(own)->features[at]));
    }
    int32_t column[2];
    kw_error err = {0};
    assert_int_equal(kw_feature_match(column, kw_native_features_table(own), (const char *const[]){"op", "no_such"}, 2, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "no_such"));
    kw_native_features_close(&own);
}

/* One column holds an axis of several families, so its codes must mean the same in all. */
static void an_axis_has_the_same_words_in_every_family(void **state) {
    (void)state;
    for (const kw_family *const *a = kw_family_table; *a; a++) {
        for (const kw_family *const *b = kw_family_table; *b; b++) {
            for (int32_t i = 0; i < (*a)->axis_count; i++) {
                const kw_axis *axis = &(*a)->axes[i];
                int j = kw_family_axis(*b, (kw_word){axis->name, strlen(axis->name)});
                const char *other = j < 0 ? axis->words : (*b)->axes[j].words;
                if (!axis->words != !other || (other && strcmp(axis->words, other))) {
                    fail_msg("axis %s of %s and %s", axis->name, (*a)->name, (*b)->name);
                }
            }
        }
    }
}

static const char *const problems[] = {
    "conv_fwd fp32 nhwgc n8 c64 k64 i56x56 f3x3 p1x1",
    "conv_bwd_data fp32 nhwgc n1 g32 c128 k256 i57x31 f3x5 s2x1 p1x2 d1x2",
    "conv_bwd_weight fp32 nhwgc n2 g64 c64 k64 i14x14 f3x3 p1x1",
    "conv_fwd fp32 nhwgc n1 c3 k7 i1x1 f1x1",
    "conv_fwd fp32 nwgc n1 c1 k1 i5 f9 p20",
    "gemm fp32 rcr m1 n4096 k1",
};

/* Every column of a row is a number, but for axes that the family does not have; shares lie in 0..1. */
static void our_rows_are_finite_and_fills_are_shares(void **state) {
    (void)state;
    static const char *const configs[] = {
        "conv.direct conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=14 vecs=2 band=0 edge=pad",
        "conv.reference conv_fwd fp32",
        "conv.reference conv_bwd_data fp32",
        "conv.reference conv_bwd_weight fp32",
        "gemm.reference gemm fp32",
    };
    kw_target target;
    const char *text = "cpu:x86-64-v4-bf16 model=test units=2 lanes=16 registers=32 l1=32768 l2=1048576 l3=33554432";
    assert_int_equal(kw_target_parse(&target, text, NULL), KW_OK);
    kw_native_features *own = NULL;
    assert_int_equal(kw_native_features_open(&own, NULL), KW_OK);
    const kw_feature_table *table = kw_native_features_table(own);
    double *row = calloc(table->count, sizeof *row);
    assert_non_null(row);
    size_t rows = 0;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        kw_problem problem;
        assert_int_equal(kw_problem_parse(&problem, problems[i], NULL), KW_OK);
        kw_native_features_problem sight;
        kw_native_problem_read(&sight, &problem, &target);
        for (size_t j = 0; j < sizeof configs / sizeof *configs; j++) {
            kw_config config;
            assert_int_equal(kw_config_parse(&config, configs[j], NULL), KW_OK);
            if (config.op != problem.op || kw_config_fits(&config, &problem, &target, NULL)) {
                continue;
            }
            kw_launch launch = {0};
            config.family->launch(&config, &problem, &target, &launch);
            kw_native_features_fill_problem(own, row, &sight);
            kw_native_features_fill_config(own, row, &config);
            kw_native_features_tiles tiles = kw_native_features_tiles_of(&config);
            kw_native_features_fill_tiled(own, row, &sight, &tiles, &launch, kw_predict_ns(&config, &problem, &target, &launch));
            for (size_t f = 0; f < table->count; f++) {
                bool axis = f > kw_native_features_config_start(own) && f < kw_native_features_pair_start(own);
                bool share = strstr(table->features[f].name, "_fill") != NULL;
                if ((!axis && !isfinite(row[f])) || (share && (row[f] <= 0 || row[f] > 1))) {
                    fail_msg("%s of %s on %s is %g", table->features[f].name, configs[j], problems[i], row[f]);
                }
            }
            rows++;
        }
    }
    assert_int_equal(rows, 9);
    free(row);
    kw_native_features_close(&own);
}

static double column_of(const kw_native_features *own, const double *row, const char *name) {
    int column = kw_feature_find(kw_native_features_table(own), name);
    if (column < 0) {
        fail_msg("no feature %s", name);
    }
    return row[column];
}

static const char gpu_text[] = "emu:gfx942 model=test units=304 lanes=64 registers=512 l2=4194304 lds=65536 unit_lds=65536 "
                               "unit_registers=131072 unit_waves=32 clock=2100 bandwidth=5300";
static const char cpu_text[] = "cpu:x86-64-v4-bf16 model=test units=2 lanes=16 registers=32 l1=32768 l2=1048576 l3=33554432";
static const char tiled[] = "gemm.mma gemm bf16 layout=rcr tile_m=128 tile_n=128 tile_k=64 wave_m=2 wave_n=2 wave_k=1 inst_m=32 inst_n=32 "
                            "inst_k=16 pipe=basic_v1 sched=intrawave epi=cshuffle pad_m=1 pad_n=1 pad_k=1 vec_a=8 vec_b=8 vec_c=8 "
                            "stages=1 preshuffle=0 wave_groups=1 persistent=0 split_k=1 streamk=off index=32";

/* What a kernel takes of a multiprocessor, before it is compiled and when a row says it, worked out by hand; of a CPU nothing. */
static void a_gpu_kernel_s_resources_are_features(void **state) {
    (void)state;
    enum { COLUMNS = 8 };
    static const char *const names[COLUMNS] = {"thread_registers",    "thread_sums",      "spilled_bytes",     "block_shared_bytes",
                                               "blocks_by_registers", "blocks_by_shared", "blocks_by_threads", "occupancy"};
    static const struct {
        const char *target, *problem, *config;
        kw_native_resources need;
        double values[COLUMNS];
    } cases[] = {
        /* 64 sums, 32 words of two tiles by 256 threads, 16 of fragments, 40 of addresses */
        {gpu_text, "gemm bf16 rcr m256 n256 k256", tiled, {0, 0, 0}, {152, 64, 0, 32768, 3, 2, 8, 0.25}},
        {gpu_text, "gemm bf16 rcr m256 n256 k256", tiled, {.registers = 100, .shared_bytes = 16384}, {100, 64, 0, 16384, 5, 4, 8, 0.5}},
        {gpu_text,
         "gemm bf16 rcr m256 n256 k256",
         tiled,
         {.registers = 512, .spilled_bytes = 28, .shared_bytes = 1024},
         {512, 64, 28, 1024, 1, 32, 8, 0.125}},
        {gpu_text, "gemm fp32 rcr m64 n64 k64", "gemm.reference_gpu gemm fp32", {0, 0, 0}, {64, 0, 0, 0, 8, 32, 8, 1}},
        {cpu_text, "gemm fp32 rcr m64 n64 k64", "gemm.reference gemm fp32", {.registers = 100}, {0}},
    };
    kw_native_features *own = NULL;
    assert_int_equal(kw_native_features_open(&own, NULL), KW_OK);
    double *row = calloc(kw_native_features_table(own)->count, sizeof *row);
    assert_non_null(row);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_target target;
        kw_problem problem;
        kw_config config;
        kw_native_features_problem sight;
        kw_launch launch = {0};
        assert_int_equal(kw_target_parse(&target, cases[i].target, NULL), KW_OK);
        assert_int_equal(kw_problem_parse(&problem, cases[i].problem, NULL), KW_OK);
        assert_int_equal(kw_config_parse(&config, cases[i].config, NULL), KW_OK);
        assert_int_equal(kw_config_fits(&config, &problem, &target, NULL), KW_OK);
        kw_native_problem_read(&sight, &problem, &target);
        config.family->launch(&config, &problem, &target, &launch);
        kw_native_features_tiles tiles = kw_native_features_tiles_of(&config);
        tiles.need = cases[i].need;
        kw_native_features_fill_tiled(own, row, &sight, &tiles, &launch, 1000);
        for (int c = 0; c < COLUMNS; c++) {
            double value = column_of(own, row, names[c]);
            if (value != cases[i].values[c]) {
                fail_msg("%s of case %zu is %g, not %g", names[c], i, value, cases[i].values[c]);
            }
        }
    }
    free(row);
    kw_native_features_close(&own);
}

/* What a problem is to the models, worked out by hand: bits, powers of two, shares, and what a product has in place of a convolution's. */
static void a_problem_s_features_are_those_worked_out_by_hand(void **state) {
    (void)state;
    enum { COLUMNS = 14 };
    static const struct {
        const char *problem;
        struct {
            const char *name;
            double value;
        } columns[COLUMNS];
    } cases[] = {
        {"conv_fwd fp32 nhwgc n1 c64 k128 i32x16 f1x1",
         {{"x_pixel_twos", 8},
          {"y_pixel_twos", 9},
          {"x_row_twos", 12},
          {"y_row_twos", 13},
          {"log2_flops", 23},
          {"log2_x_over_l2", -3},
          {"log2_w_over_l2", -5},
          {"log2_y_over_l2", -2},
          {"log2_gm", 9},
          {"log2_gn", 7},
          {"log2_gk", 6},
          {"log2_in_pixels", 9},
          {"log2_k_over_c", 1},
          {"c_fill", 1}}},
        {"conv_bwd_data bf16 nhwgc n2 g32 c96 k64 i14x7 f3x3 s2x2 p1x1",
         {{"x_pixel_twos", 6},
          {"y_pixel_twos", 7},
          {"x_row_twos", 6},
          {"y_row_twos", 9},
          {"phases", 4},
          {"c_fill", 0.1875},
          {"k_fill", 0.125},
          {"all_c_fill", 1},
          {"out_w", 4},
          {"out_h", 7},
          {"pad_w", 2},
          {"stride_w", 2},
          {"taps", 9},
          {"log2_g", 5}}},
        {"gemm int8 rcr m4096 n3 k1",
         {{"x_pixel_twos", 0},
          {"y_pixel_twos", 0},
          {"x_row_twos", 12},
          {"y_row_twos", 12},
          {"in_w", 4096},
          {"stride_w", 1},
          {"pad_w", 0},
          {"taps", 1},
          {"phases", 1},
          {"log2_gm", 12},
          {"log2_gk", 0},
          {"c_fill", 0.0625},
          {"k_fill", 0.1875},
          {"log2_batch", 0}}},
        /* more twos than are counted */
        {"conv_fwd fp32 nhwgc n1 c4096 k8 i64x64 f1x1", {{"x_pixel_twos", 14}, {"x_row_twos", 16}, {"y_row_twos", 11}}},
    };
    kw_native_features *own = NULL;
    kw_target target;
    assert_int_equal(kw_native_features_open(&own, NULL), KW_OK);
    assert_int_equal(kw_target_parse(&target, cpu_text, NULL), KW_OK);
    double *row = calloc(kw_native_features_table(own)->count, sizeof *row);
    assert_non_null(row);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem;
        kw_native_features_problem sight;
        assert_int_equal(kw_problem_parse(&problem, cases[i].problem, NULL), KW_OK);
        kw_native_problem_read(&sight, &problem, &target);
        kw_native_features_fill_problem(own, row, &sight);
        for (int c = 0; c < COLUMNS && cases[i].columns[c].name; c++) {
            double value = column_of(own, row, cases[i].columns[c].name);
            if (value != cases[i].columns[c].value) {
                fail_msg("%s of %s is %g, not %g", cases[i].columns[c].name, cases[i].problem, value, cases[i].columns[c].value);
            }
        }
    }
    free(row);
    kw_native_features_close(&own);
}

/* One column more, another order, another name and another unit: each is another hash. */
static void units_and_order_are_in_the_hash(void **state) {
    (void)state;
    static const kw_feature a[] = {{"m", "problem", "rows", "", NULL}, {"t", "target", "KiB", "", NULL}},
                            b[] = {{"m", "problem", "rows", "", NULL}, {"t", "target", "bytes", "", NULL}};
    const kw_feature_table ones = {"a", a, 2}, others = {"b", b, 2};
    const struct {
        const kw_feature_table *table;
        const char *names[3];
        size_t count;
    } cases[] = {{&ones, {"m", "t"}, 2}, {&others, {"m", "t"}, 2},    {&ones, {"t", "m"}, 2},
                 {&ones, {"m"}, 1},      {&ones, {"m", "t", "u"}, 3}, {&others, {"m", "u"}, 2}};
    enum { CASES = sizeof cases / sizeof *cases };
    char hash[CASES][KW_HASH_TEXT];
    for (size_t i = 0; i < CASES; i++) {
        kw_feature_units_hash(hash[i], cases[i].table, cases[i].names, cases[i].count);
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(hash[i], hash[k]);
        }
    }
    kw_feature_units_hash(hash[1], &ones, cases[0].names, 2);
    assert_string_equal(hash[1], hash[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_and_order_are_in_the_hash),          cmocka_unit_test(a_gpu_kernel_s_resources_are_features),
        cmocka_unit_test(names_are_unique_and_codes_are_marked),    cmocka_unit_test(an_axis_has_the_same_words_in_every_family),
        cmocka_unit_test(our_rows_are_finite_and_fills_are_shares), cmocka_unit_test(a_problem_s_features_are_those_worked_out_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
