/* test_csv.c: problems from CSV files: the committed samples of each form, bad headers and rows, and, where KW_SHAPES names a folder, all its
 * files. */

#include "base/os/file.h"
#include "problem/import/csv.h"
#include "support/kw_test.h"

#include <dirent.h>

/* Reads a file; every row must be a problem whose text is read back. Rows beyond expected's count are only checked for that. */
static int read_csv(const char *path, const char *const (*expected)[2], int count) {
    kw_arena arena = {0};
    kw_error err = {0};
    char *data = NULL;
    size_t size = 0;
    if (kw_file_read(&arena, path, 1u << 26, &data, &size, &err)) {
        fail_msg("%s", err.text);
    }
    kw_scan scan = {data, data + size};
    kw_word line, name;
    kw_csv csv;
    int rows = 0;
    assert_true(kw_scan_line(&scan, &line));
    if (kw_csv_header(&csv, line, KW_OP_COUNT, KW_DTYPE_COUNT, &err)) {
        fail_msg("%s: %s", path, err.text);
    }
    for (; kw_scan_line(&scan, &line); rows++) {
        kw_problem problem, again;
        char text[KW_PROBLEM_TEXT_MAX];
        if (kw_csv_row(&problem, &name, &csv, line, &err)) {
            fail_msg("%s:%d: %s", path, rows + 2, err.text);
        }
        kw_problem_print(text, sizeof text, &problem);
        assert_int_equal(kw_problem_parse(&again, text, &err), KW_OK);
        assert_memory_equal(&again, &problem, sizeof problem);
        if (rows < count) {
            assert_true(kw_word_is(name, expected[rows][0]));
            assert_string_equal(text, expected[rows][1]);
        }
    }
    kw_arena_drop(&arena);
    return rows;
}

static void samples_of_each_form_are_read(void **state) {
    (void)state;
    static const char *const conv[][2] = {
        {"fwd_small_sp_0000", "conv_fwd fp32 nhwgc n1 g1 c64 k64 i8x8 f1x1 s1x1 p0x0 d1x1"},
        {"fwd_grouped_1198", "conv_fwd fp32 nhwgc n8 g2 c32 k32 i28x28 f3x3 s1x1 p1x1 d1x1"},
        {"3d_i3d:4", "conv_fwd fp32 ndhwgc n2 g1 c64 k192 i32x56x56 f3x3x3 s1x1x1 p1x1x1 d1x1x1"},
        {"conv_dw", "conv_fwd fp32 nwgc n2 g128 c128 k128 i16 f3 s1 p1 d1"},
        {"dilated_conv:3", "conv_fwd fp32 nhwgc n20 g1 c4 k6 i8x8 f3x3 s3x3 p1x1 d3x3"},
        {"large_padding:6", "conv_fwd fp32 ndhwgc n2 g1 c3 k64 i28x28x28 f3x3x3 s1x1x1 p5x5x5 d1x1x1"},
    };
    static const char *const pads[][2] = {
        {"movinet:conv_4", "conv_fwd fp32 ndhwgc n1 g184 c184 k184 i8x28x28 f5x3x3 s1x2x2 p2x0x0:2x1x1 d1x1x1"},
        {"dw-conv_2d_1d_strided_padding_5_ph-bottom(-1)_pw-right(-1)", "conv_fwd fp32 nhwgc n1 g16 c16 k16 i2x2 f2x2 s2x2 p1x1:-1x-1 d1x1"},
        {"dw_3d_strided_padding_456_pd-back(-2)", "conv_fwd fp32 ndhwgc n1 g8 c8 k8 i4x1x1 f7x1x1 s5x1x1 p5x0x0:-2x0x0 d1x1x1"},
    };
    static const char *const gemm[][2] = {
        {"n1_0000", "gemm fp32 rcr b1 m1 n1 k1"},
        {"m1_0000", "gemm fp32 rcr b1 m1 n512 k256"},
        {"m1_0001", "gemm fp32 rcr b1 m1 n512 k512"},
    };
    assert_int_equal(read_csv(KW_TEST_DATA "/conv.csv", conv, 6), 6);
    assert_int_equal(read_csv(KW_TEST_DATA "/conv_pads.csv", pads, 3), 3);
    assert_int_equal(read_csv(KW_TEST_DATA "/gemm.csv", gemm, 3), 3);
}

static void all_files_of_kw_shapes_are_read(void **state) {
    (void)state;
    const char *folder = getenv("KW_SHAPES");
    if (!folder) {
        print_message("skipped: KW_SHAPES names no folder of CSV files\n");
        skip();
    }
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    int files = 0, rows = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && !strcmp(dot, ".csv")) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            rows += read_csv(path, NULL, 0);
            files++;
        }
    }
    closedir(dir);
    print_message("%d files, %d rows\n", files, rows);
    assert_true(files > 0);
}

#define CONV_HEADER "name,ndim,G,N,C,K,Di,Hi,Wi,Z,Y,X,stride_d,stride_h,stride_w,pad_d,pad_h,pad_w,dil_d,dil_h,dil_w"

static kw_word word_of(const char *text) {
    return (kw_word){text, strlen(text)};
}

static void columns_are_found_by_name_in_any_order(void **state) {
    (void)state;
    kw_csv csv;
    kw_problem problem;
    kw_word name;
    kw_error err = {0};
    char text[KW_PROBLEM_TEXT_MAX];
    assert_int_equal(kw_csv_header(&csv, word_of("K , comment,N, M,batch"), KW_OP_COUNT, KW_BF16, &err), KW_OK);
    assert_int_equal(kw_csv_row(&problem, &name, &csv, word_of("5,any thing, 4,3 ,2"), &err), KW_OK);
    kw_problem_print(text, sizeof text, &problem);
    assert_string_equal(text, "gemm bf16 rcr b2 m3 n4 k5");
    assert_int_equal(name.size, 0);
    assert_int_equal(kw_csv_header(&csv, word_of(CONV_HEADER ",padr_w,Wo"), KW_CONV_BWD_DATA, KW_FP16, &err), KW_OK);
    assert_int_equal(kw_csv_row(&problem, NULL, &csv, word_of("x,1,1,1,2,3,,,8,,,3,,,2,,,1,,,1,0,4"), &err), KW_OK);
    kw_problem_print(text, sizeof text, &problem);
    assert_string_equal(text, "conv_bwd_data fp16 nwgc n1 g1 c2 k3 i8 f3 s2 p1:0 d1");
}

#define TILE_ENGINE_HEADER "kernel,problem_idx,N,C,K,G,Hi,Wi,Y,X,stride_h,stride_w,pad_h,pad_w"

/* The tile engine's files have no ndim: a row has three axes where its depth says something. */
static void files_of_the_tile_engine_need_no_ndim(void **state) {
    (void)state;
    static const char deep[] = "kernel,problem_idx,N,C,K,G,Di,Hi,Wi,Z,Y,X,stride_d,stride_h,stride_w,pad_d,pad_h,pad_w,"
                               "dilation_d,dilation_h,dilation_w,latency_ms,tflops,non_zero";
    static const struct {
        const char *header, *row, *problem;
    } cases[] = {
        {TILE_ENGINE_HEADER ",latency_ms,tflops,non_zero", "a,0,16,64,32,2,28,30,3,1,2,1,1,0,N/A,0,0",
         "conv_fwd bf16 nhwgc n16 g2 c64 k32 i28x30 f3x1 s2x1 p1x0 d1x1"},
        {TILE_ENGINE_HEADER ",dilation_h,dilation_w", "a,0,1,4,4,1,28,30,3,3,1,1,1,1,2,1",
         "conv_fwd bf16 nhwgc n1 g1 c4 k4 i28x30 f3x3 s1x1 p1x1 d2x1"},
        {deep, "a,0,1,4,4,1,5,8,8,3,3,3,1,1,1,1,1,1,1,1,1,0.1,2,1", "conv_fwd bf16 ndhwgc n1 g1 c4 k4 i5x8x8 f3x3x3 s1x1x1 p1x1x1 d1x1x1"},
        {deep, "a,0,1,4,4,1,1,8,8,1,3,3,1,1,1,0,1,1,1,1,1,0.1,2,1", "conv_fwd bf16 nhwgc n1 g1 c4 k4 i8x8 f3x3 s1x1 p1x1 d1x1"},
        {deep, "a,0,1,4,4,1,,8,8,,3,3,,1,1,,1,1,,1,1,0.1,2,1", "conv_fwd bf16 nhwgc n1 g1 c4 k4 i8x8 f3x3 s1x1 p1x1 d1x1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_csv csv;
        kw_problem problem;
        kw_error err = {0};
        char text[KW_PROBLEM_TEXT_MAX];
        if (kw_csv_header(&csv, word_of(cases[i].header), KW_OP_COUNT, KW_BF16, &err) ||
            kw_csv_row(&problem, NULL, &csv, word_of(cases[i].row), &err)) {
            fail_msg("%s: %s", cases[i].row, err.text);
        }
        kw_problem_print(text, sizeof text, &problem);
        assert_string_equal(text, cases[i].problem);
    }
}

static void bad_headers_name_the_column(void **state) {
    (void)state;
    static const struct {
        const char *header;
        kw_op op;
        const char *fragment;
    } cases[] = {
        {"", KW_OP_COUNT, "lacks column G"},
        {CONV_HEADER ",padr_x", KW_OP_COUNT, "column padr_x is not known; did you mean padr_"},
        {TILE_ENGINE_HEADER ",dilaton_h", KW_OP_COUNT, "did you mean dilation_h"},
        {"N,C,K,G,Hi,Wi,Y,X,stride_h,stride_w,pad_h", KW_OP_COUNT, "lacks column pad_w"},
        {"name,ndim,G,N,C,K,Hi,Wi,Y,X,stride_h,stride_w,pad_h,pad_w", KW_OP_COUNT, "lacks column Di"},
        {"name,M,N", KW_OP_COUNT, "lacks column K of a GEMM"},
        {"M,N,K,M", KW_OP_COUNT, "column M is there twice"},
        {"M,N,K", KW_CONV_FWD, "columns are of a GEMM (M,N,K), not of conv_fwd"},
        {CONV_HEADER, KW_GEMM, "columns are of a convolution, not of gemm"},
        {"name,ndim,G,C,K", KW_OP_COUNT, "lacks column N of a convolution"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_csv csv;
        kw_error err = {0};
        assert_int_not_equal(kw_csv_header(&csv, word_of(cases[i].header), cases[i].op, KW_FP32, &err), KW_OK);
        if (!strstr(err.text, cases[i].fragment)) {
            fail_msg("%s: %s", cases[i].header, err.text);
        }
    }
    char wide[400] = "M,N,K";
    for (int i = 0; i < 70; i++) {
        strcat(wide, ",x");
    }
    kw_error err = {0};
    kw_csv csv;
    assert_int_equal(kw_csv_header(&csv, word_of(wide), KW_OP_COUNT, KW_FP32, &err), KW_MALFORMED);
    assert_non_null(strstr(err.text, "more than 64 columns"));
}

static void bad_rows_name_the_column(void **state) {
    (void)state;
    static const struct {
        const char *row, *fragment;
    } cases[] = {
        {"x,2,1,0,4,4,1,8,8,1,3,3,1,1,1,0,1,1,1,1,1", "column N is \"0\""},
        {"x,2,1,,4,4,1,8,8,1,3,3,1,1,1,0,1,1,1,1,1", "column N is empty; every row needs it"},
        {"x,2,1,1,4,4,1,,8,1,3,3,1,1,1,0,1,1,1,1,1", "column Hi is empty"},
        {"x,2,1,1,4,4,1,8,8,1,3,3,1,1,1,0,-1,1,1,1,1", "column pad_h is \"-1\", not a whole number of at least 0"},
        {"x,2,1,1,4,4,1,8,8,1,3,3,1,1,q,0,1,1,1,1,1", "column stride_w is \"q\""},
        {"x,4,1,1,4,4,1,8,8,1,3,3,1,1,1,0,1,1,1,1,1", "column ndim is \"4\", not 1, 2 or 3"},
        {"x,,1,1,4,4,1,8,8,1,3,3,1,1,1,0,1,1,1,1,1", "column ndim is \"\""},
        {"x,2,1,1,4,4,5,8,8,1,3,3,1,1,1,0,1,1,1,1,1", "column Di is 5, but with ndim=2"},
        {"x,2,1,1,4,4,1,8,8,1,3,3,1,1,1,0,1,1,1,1", "the row has 20 cells, the header 21"},
        {"x,2,1,1,4,4,1,8,8,1,3,3,1,1,1,0,1,1,1,1,1,", "the row has 22 cells, the header 21"},
        {"", "the row has 1 cells"},
        {"x,2,3,1,4,4,1,8,8,1,3,3,1,1,1,0,1,1,1,1,1", "c=4 is not a multiple of g=3"},
        {"x,2,1,1,4,4,1,1,8,1,3,3,1,1,1,0,0,1,1,1,1", "output height is below 1"},
    };
    kw_csv csv;
    assert_int_equal(kw_csv_header(&csv, word_of(CONV_HEADER), KW_CONV_FWD, KW_FP32, NULL), KW_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem;
        kw_error err = {0};
        assert_int_not_equal(kw_csv_row(&problem, NULL, &csv, word_of(cases[i].row), &err), KW_OK);
        if (!strstr(err.text, cases[i].fragment)) {
            fail_msg("%s: %s", cases[i].row, err.text);
        }
    }
    assert_int_equal(kw_csv_header(&csv, word_of(CONV_HEADER ",Ho"), KW_CONV_FWD, KW_FP32, NULL), KW_OK);
    kw_problem problem;
    kw_error err = {0};
    assert_int_equal(kw_csv_row(&problem, NULL, &csv, word_of("x,2,1,1,4,4,1,8,8,1,3,3,1,1,1,0,1,1,1,1,1,7"), &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "column Ho is 7, but the other columns make it 8"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_of_each_form_are_read),
        cmocka_unit_test(all_files_of_kw_shapes_are_read),
        cmocka_unit_test(columns_are_found_by_name_in_any_order),
        cmocka_unit_test(files_of_the_tile_engine_need_no_ndim),
        cmocka_unit_test(bad_headers_name_the_column),
        cmocka_unit_test(bad_rows_name_the_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
