/* test_literals.c: problem lists of CK's tile engine in JSON and as Python modules of literals, and rows of our own JSON: read as they
 * are, or refused in one line. */
#include "base/text.h"
#include "space/problems/formats/json_rows.h"
#include "space/problems/formats/literals.h"
#include "support/kw_test.h"

static bool collect(void *user, const char *name, const kw_problem *problem) {
    char text[KW_PROBLEM_TEXT_MAX];
    kw_problem_print(text, sizeof text, problem);
    kw_text_addf(user, "%s|%s\n", name, text);
    return true;
}

typedef kw_status reader(const kw_list_reader *how, const char *source, const char *text, size_t size, kw_error *err);

static void expect_lines(reader *read, const char *text, const char *expected) {
    kw_text lines = {0};
    kw_error err = {0};
    kw_list_reader how = {KW_OP_COUNT, KW_DTYPE_COUNT, collect, &lines};
    if (read(&how, "list", text, strlen(text), &err)) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(kw_text_string(&lines), expected);
    kw_text_drop(&lines);
}

static void json_is_read(void **state) {
    (void)state;
    expect_lines(kw_json_problems_read,
                 "{\n \"problems\": [\n {\"M\": 512, \"N\": 512, \"K\": 512},\n {\"M\": 1024, \"N\": 512, \"K\": 256}\n ]\n}\n",
                 "|gemm fp32 rcr b1 m512 n512 k512\n|gemm fp32 rcr b1 m1024 n512 k256\n");
    expect_lines(kw_json_problems_read,
                 "{\"_comment\": \"of two kinds\", \"dtype\": \"bf16\", \"problems\": [{\"name\": \"a, b\", \"M\": 1, \"N\": 2, \"K\": 3, "
                 "\"layout\": "
                 "\"rrr\", \"split_k\": 4}, {\"C\": 4, \"K\": 8, \"Hi\": 9, \"Wi\": 8, \"Y\": 3, \"X\": 3, \"pad_w\": 1, \"direction\": "
                 "\"bwd_weight\", \"dtype\": \"fp16\", \"layout\": \"ngchw\", \"pad_d\": null}]}",
                 "a, b|gemm bf16 rrr b1 m1 n2 k3\n|conv_bwd_weight fp16 ngchw n1 g1 c4 k8 i9x8 f3x3 s1x1 p0x1 d1x1\n");
    expect_lines(kw_json_problems_read, " [{\"M\": 1, \"N\": 2, \"K\": 3}, \"x: gemm fp8 m1 n2 k3\"]",
                 "|gemm fp32 rcr b1 m1 n2 k3\nx|gemm fp8 rcr b1 m1 n2 k3\n");
}

static void rows_of_our_own_are_read(void **state) {
    (void)state;
    static const char rows[] = "{\"schema\": 1, \"line\": \"run\", \"id\": \"7\"}\n\n"
                               "{\"schema\": 1, \"name\": \"conv1\", \"problem\": \"gemm fp32 rcr m1 n2 k3\", \"flops\": 12}\n"
                               "{\"schema\": 1, \"name\": \"a\\nb\", \"problem\": \"gemm fp8 rcr m1 n2 k3\"}";
    assert_true(kw_json_rows_are(rows, strlen(rows)));
    static const char list[] = "{\"problems\": [\"gemm fp32 m1 n2 k3\"]}";
    assert_false(kw_json_rows_are(list, strlen(list)));
    assert_false(kw_json_rows_are("[\n", 2));
    expect_lines(kw_json_rows_read, rows, "conv1|gemm fp32 rcr b1 m1 n2 k3\n|gemm fp8 rcr b1 m1 n2 k3\n");
}

static void python_is_read(void **state) {
    (void)state;
    static const char text[] = "#!/usr/bin/env python3\n"
                               "\"\"\"\nGroupedConvProblem(N=bad) of a comment's\n\"\"\"\n"
                               "from grouped_conv_utils import GroupedConvProblem  # Problem(N=1\n"
                               "class OwnProblem(GroupedConvProblem):\n    note = 'Problem(N=2'\n"
                               "PROBLEMS = [\n"
                               "    # first\n"
                               "    GroupedConvProblem(\n        N=4, C=256, K=256, G=4,\n        Di=1, Hi=28, Wi=28,\n"
                               "        Z=1, Y=1, X=1,\n        stride_d=1, stride_h=1, stride_w=1,\n        pad_d=0, pad_h=0, pad_w=0,\n"
                               "        dilation_d=1, dilation_h=1, dilation_w=1\n    ),\n"
                               "    GroupedConvProblem(C=64, K=128, Hi=8, Wi=8, Y=3, X=3,\n        pad_h=1, pad_w=1, # comment\n"
                               "        direction=\"bwd_data\",\n    ),\n"
                               "    GroupedConvProblem(N=1, C=4, K=4, Di=4, Hi=8, Wi=8, Z=3, Y=3, X=3, pad_d=1, pad_h=1, pad_w=1),\n]\n"
                               "if __name__ == '__main__':\n    print(f\"{len(PROBLEMS)} problems\")\n";
    expect_lines(kw_python_problems_read, text,
                 "|conv_fwd fp32 nhwgc n4 g4 c256 k256 i28x28 f1x1 s1x1 p0x0 d1x1\n"
                 "|conv_bwd_data fp32 nhwgc n1 g1 c64 k128 i8x8 f3x3 s1x1 p1x1 d1x1\n"
                 "|conv_fwd fp32 ndhwgc n1 g1 c4 k4 i4x8x8 f3x3x3 s1x1x1 p1x1x1 d1x1x1\n");
}

#define SIZES "C=4, K=4, Hi=8, Wi=8, Y=3, X=3"

static void what_is_neither_is_refused_in_one_line(void **state) {
    (void)state;
    static const struct {
        reader *read;
        const char *text, *named;
    } rows[] = {
        {kw_json_problems_read, "{", "list:1:"},
        {kw_json_problems_read, "{}", "a problem list in JSON is"},
        {kw_json_problems_read, "{\"instances\": []}", "it holds kernels, which --kernels FILE reads"},
        {kw_json_problems_read, "{\"tile_config\": {}}", "which --traits FILE reads"},
        {kw_json_problems_read, "{\"context\": {}, \"nodes\": []}", "problems extract FILE"},
        {kw_json_problems_read, "[7]", "problem 0: a problem is an object"},
        {kw_json_problems_read, "[\"gemm fp32\"]", "list: problem 0: line:1: "},
        {kw_json_problems_read, "[\"[[[\"]", "problem 0: a problem is an object"},
        {kw_json_problems_read, "[{\"M\": 1, \"N\": 1, \"K\": 1}, {\"M\": 1, \"K\": 1}]", "problem 1: the header \"M,K\" lacks column N"},
        {kw_json_problems_read, "[{\"M\": 1, \"N\": 1, \"K\": 1, \"quant_group_k\": 128}]", "\"quant_group_k\" is not known"},
        {kw_json_problems_read, "[{\"M\": 1, \"N\": 1, \"K,batch\": 1}]", "\"K,batch\" is not known"},
        {kw_json_problems_read, "[{\"M\": 1, \"N\": 1, \"K\": 1.5}]", "\"K\" is neither a whole number nor a word"},
        {kw_json_problems_read, "[{\"M\": 1, \"N\": 1, \"K\": \"1\"}]", "K is \"1\"; a size is a whole number"},
        {kw_json_problems_read, "[{\"M\": 1, \"N\": 1, \"K\": 0}]", "K is \"0\", not a whole number of at least 1"},
        {kw_json_problems_read, "[{\"M\": 1, \"N\": 1, \"K\": 1, \"dtype\": \"fp64\"}]", "dtype \"fp64\" is not known"},
        {kw_json_problems_read, "[{\"M\": 1, \"N\": 1, \"K\": 1, \"layout\": \"nhwgc\"}]", "layout nhwgc is not one of gemm"},
        {kw_json_problems_read, "[{\"M\": 1, \"N\": 1, \"K\": 1, \"direction\": \"bwd_data\"}]", "ask for gemm"},
        {kw_json_rows_read, "{\"schema\": 1}\n", "no row has a \"problem\""},
        {kw_json_rows_read, "{\"schema\": 1, \"problem\": 7}\n", "list:1: \"problem\" is no text"},
        {kw_json_rows_read, "{\"schema\": 1, \"problem\": \"gemm fp32 m0 n1 k1\"}\n", "list:1: "},
        {kw_json_rows_read, "{\"schema\": 1}\n{\"problem\":\n", "list:2: "},
        {kw_python_problems_read, "x = 1\n", "holds no call"},
        {kw_python_problems_read, "class AProblem(Base):\n    pass\n", "holds no call"},
        {kw_python_problems_read, "P(AProblem(N=n, " SIZES "))", "N is no literal number"},
        {kw_python_problems_read, "AProblem(4, 64)", "an argument is NAME=VALUE"},
        {kw_python_problems_read, "AProblem(" SIZES, "its bracket is not closed"},
        {kw_python_problems_read, "AProblem(N=2 * 2, " SIZES ")", "a comma or a bracket is wanted"},
        {kw_python_problems_read, "AProblem(" SIZES ", direction=\"up\")", "direction \"up\" is not known"},
        {kw_python_problems_read, "AProblem(" SIZES ", pad_x=1)", "pad_x"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_text lines = {0};
        kw_error err = {0};
        kw_list_reader how = {KW_OP_COUNT, KW_DTYPE_COUNT, collect, &lines};
        kw_status status = rows[i].read(&how, "list", rows[i].text, strlen(rows[i].text), &err);
        if (!status || strncmp(err.text, "list:", 5) || !strstr(err.text, rows[i].named)) {
            fail_msg("%s: %s", rows[i].text, err.text);
        }
        kw_text_drop(&lines);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_read),
        cmocka_unit_test(rows_of_our_own_are_read),
        cmocka_unit_test(python_is_read),
        cmocka_unit_test(what_is_neither_is_refused_in_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
