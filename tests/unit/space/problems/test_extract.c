/* test_extract.c: problems are found in logs wherever they stand, what is no problem is counted, and options of a benchdnn batch hold for the
 * lines below them. */
#include "space/logs/extract.h"
#include "support/kw_test.h"

/* "NAME|CANONICAL TEXT\n" for each problem. */
static bool collect(void *user, const char *name, const kw_problem *problem) {
    char text[KW_PROBLEM_TEXT_MAX];
    kw_problem_print(text, sizeof text, problem);
    kw_text_addf(user, "%s|%s\n", name, text);
    return true;
}

static kw_extract_count extract(kw_text *found, const char *text) {
    kw_extract_count count;
    kw_error err = {0};
    if (kw_extract_text((kw_word){text, strlen(text)}, collect, found, &count, &err)) {
        fail_msg("%s", err.text);
    }
    return count;
}

#define P "conv_fwd fp32 nhwgc n1 g1 c8 k16 i9x9 f3x3 s1x1 p1x1 d1x1"
#define MIOPEN "-n 1 -c 8 -H 9 -W 9 -k 16 -y 3 -x 3 -p 1 -q 1 -u 1 -v 1 -l 1 -j 1 -g 1 -F 1"
#define MIOPEN_P "conv_fwd fp32 ngchw n1 g1 c8 k16 i9x9 f3x3 s1x1 p1x1 d1x1"

static void a_problem_is_found_wherever_it_stands_in_a_line(void **state) {
    (void)state;
    static const struct {
        const char *line, *found;
    } rows[] = {
        {P, "|" P "\n"},
        {"  " P "  # 0.1 GFLOP, 3 MB, output 1x9x9", "|" P "\n"},
        {"layer_3*4: " P " # 0.1 GFLOP", "layer_3*4|" P "\n"},
        {"2026-01-02 12:00:00 info: tuning '" P "' took 3.2 ms", "|" P "\n"},
        {"{\"problem\": \"" P "\", \"config\": \"conv.direct conv_fwd fp32 isa=avx512 tile_h=1\", \"ns\": 12}", "|" P "\n"},
        {"{\"config\": \"conv.direct conv_fwd fp32 isa=avx512 tile_h=1\", \"problem\":\"" P "\"}", "|" P "\n"},
        {"17," P ",conv.direct conv_fwd fp32 isa=avx2,0.3", "|" P "\n"},
        {"time of " P ": 3 ms", "|" P "\n"},
        {"(" P ")", "|" P "\n"},
        {"conv_fwd fp32 c8 k16 i9x9 f3 p1 took 4 ms", "|" P "\n"},
        {"from gemm fp32 m2 n3 k4 to gemm bf16 m2 n3 k4.", "|gemm fp32 rcr b1 m2 n3 k4\n|gemm bf16 rcr b1 m2 n3 k4\n"},
        {"gemm fp32 m2 n3 k4 k5", ""},     /* refused, not shortened */
        {"conv_fwd fp32 c4 k4 i2 f5", ""}, /* impossible */
        {"conv_fwd fp32 g3 c4 k4 i8 f3", ""},
        {"my_gemm fp32 m2 n3 k4", ""},
        {"the gemm of the day", ""},
        {"gemm", ""},
        {"MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv " MIOPEN, "|" MIOPEN_P "\n"},
        {"run \"/opt/rocm/bin/MIOpenDriver conv " MIOPEN "\" twice", "|" MIOPEN_P "\n"},
        {"MIOpenDriver conv " MIOPEN " | tee log", "|" MIOPEN_P "\n"},
        {"     12 ./bin/MIOpenDriver conv " MIOPEN, "*12|" MIOPEN_P "\n"},
        {"{\"cmd\":\"/bin/MIOpenDriver conv " MIOPEN "\"}", "|" MIOPEN_P "\n"},
        {"conv " MIOPEN, "|" MIOPEN_P "\n"},
        {" 3 conv " MIOPEN, "*3|" MIOPEN_P "\n"},
        {"3 " P, "*3|" P "\n"},
        {"0 " P, "|" P "\n"},
        {"./bin/MIOpenDriver conv -n 1 -c 8 -H 9 -W 9 -k 16 -y 3 \\\n   -x 3 -p 1 -q 1 \\\n -F 1", "|" MIOPEN_P "\n"},
        {"convincing -n 1", ""},
        {"MIOpenDriver pool " MIOPEN, ""},
        {"MIOpenDrivers conv " MIOPEN, ""},
        {"./benchdnn --conv --dir=FWD_D mb1ic8ih9oc16oh9kh3ph1", "|" P "\n"},
        {"./benchdnn --mode=P --conv --dir=FWD_D,BWD_D --dt=f32 mb1ic8ih9oc16oh9kh3ph1n\"net:conv1\"",
         "|" P "\n|conv_bwd_data fp32 nhwgc n1 g1 c8 k16 i9x9 f3x3 s1x1 p1x1 d1x1\n"},
        {"0:PASSED (2 ms) __REPRO: --conv --dir=FWD_D mb1ic8ih9oc16oh9kh3ph1", "|" P "\n"},
        {"0:PASSED __REPRO: mb1ic8ih9oc16oh9kh3ph1nwip", "|" P "\n"},
        {"perf,cpu,jit:avx512_core,,--mode=P --conv --dir=FWD_D mb1ic8ih9oc16oh9kh3ph1,0.1,0,0.2,3.4", "|" P "\n"},
        {"./benchdnn --deconv --dir=FWD_D mb1ic8ih9oc16oh9kh3ph1", ""},
        {"./benchdnn --conv --attr-post-ops=relu --dir=FWD_D mb1ic8ih9oc16oh9kh3ph1", "|" P " epilogue=relu\n"},
        {"./benchdnn --conv --attr-post-ops=prelu --dir=FWD_D mb1ic8ih9oc16oh9kh3ph1", ""},
        {"mb1ic8ih9oc16oh9kh3ph1", "|" P "\n"},
        {"./benchdnn --matmul --dt=f32,bf16 --wtag=ba 4x6:6x5_nfc", "|gemm fp32 rcr b1 m4 n5 k6\n|gemm bf16 rcr b1 m4 n5 k6\n"},
        {"0:PASSED __REPRO: --matmul 4x6:6x5", "|gemm fp32 rrr b1 m4 n5 k6\n"},
        {"perf,cpu,brgemm:avx2,,--mode=P --matmul --dt=f16 4x6:6x5,0.1", "|gemm fp16 rrr b1 m4 n5 k6\n"},
        {"[0] 17 hipblaslt-bench -m 5 -n 4 -k 6 --transB T -r bf16_r", "|gemm bf16 crr b1 m4 n5 k6\n"},
        {"   17 hipblaslt-bench -m 5 -n 4 -k 6", "*17|gemm fp16 rrr b1 m4 n5 k6\n"},
        {"hipblaslt-benchmark -m 5 -n 4 -k 6", ""},
        {"GemmTunableOp_Half_TN,tn_5_4_6_ld_6_6_5,Gemm_Rocblas_3,0.01", "|gemm fp16 rcr b1 m4 n5 k6\n"},
        {"GemmTunableOp_double_TN,tn_5_4_6,Default,0.01", ""},
        {"Validator,ROCM_VERSION,6.3.0", ""},
        {"MIOpenDriver conv -n 1 -c 8 -H 9 -W 9 -k 16 -p 1 -q 1",
         "|conv_fwd fp32 ngchw n1 g1 c8 k16 i9x9 f3x3 s1x1 p1x1 d1x1\n|conv_bwd_data fp32 ngchw n1 g1 c8 k16 i9x9 f3x3 s1x1 p1x1 d1x1\n"
         "|conv_bwd_weight fp32 ngchw n1 g1 c8 k16 i9x9 f3x3 s1x1 p1x1 d1x1\n"},
        {"cmake --build build --target all", ""},
        {"--convincing", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_text found = {0};
        extract(&found, rows[i].line);
        if (strcmp(kw_text_string(&found), rows[i].found)) {
            fail_msg("%s:\nfound    %s\nexpected %s", rows[i].line, kw_text_string(&found), rows[i].found);
        }
        kw_text_drop(&found);
    }
}

static void options_of_a_batch_hold_until_they_change(void **state) {
    (void)state;
    static const char text[] = "# a batch\n"
                               "--reset\n"
                               "--dir=FWD_D,BWD_W --mb=2\n"
                               "\n"
                               "--dt=f32, \\\n"
                               "     bf16  # and no other\n"
                               "ic8ih9oc16oh9kh3ph1n\"a\"\n"
                               "--dir=BWD_D --dt=f32 ic8ih9oc16oh9kh3ph1\r\n"
                               "ic4ih5oc4oh5kh1\n"
                               "--batch=other_file\n"
                               "--reset --dt=bf16\n"
                               "mb3ic4ih5oc4oh5kh1\n"
                               "--attr-scales=src:common:2\n"
                               "mb3ic4ih5oc4oh5kh1\n"
                               "-------\n"
                               "--attr-scales=\n"
                               "mb4ic4ih5oc4oh5kh1 mb5ic4ih5oc4oh5kh1 # two\n"
                               "--dir=BWD_D \\";
    kw_text found = {0};
    kw_extract_count count = extract(&found, text);
    assert_string_equal(kw_text_string(&found), "|conv_fwd fp32 nhwgc n2 g1 c8 k16 i9x9 f3x3 s1x1 p1x1 d1x1\n"
                                                "|conv_bwd_weight fp32 nhwgc n2 g1 c8 k16 i9x9 f3x3 s1x1 p1x1 d1x1\n"
                                                "|conv_fwd bf16 nhwgc n2 g1 c8 k16 i9x9 f3x3 s1x1 p1x1 d1x1\n"
                                                "|conv_bwd_weight bf16 nhwgc n2 g1 c8 k16 i9x9 f3x3 s1x1 p1x1 d1x1\n"
                                                "|conv_bwd_data fp32 nhwgc n2 g1 c8 k16 i9x9 f3x3 s1x1 p1x1 d1x1\n"
                                                "|conv_bwd_data fp32 nhwgc n2 g1 c4 k4 i5x5 f1x1 s1x1 p0x0 d1x1\n"
                                                "|conv_fwd bf16 nhwgc n3 g1 c4 k4 i5x5 f1x1 s1x1 p0x0 d1x1\n"
                                                "|conv_fwd bf16 nhwgc n3 g1 c4 k4 i5x5 f1x1 s1x1 p0x0 d1x1 epilogue=scale:fp32\n"
                                                "|conv_fwd bf16 nhwgc n4 g1 c4 k4 i5x5 f1x1 s1x1 p0x0 d1x1\n"
                                                "|conv_fwd bf16 nhwgc n5 g1 c4 k4 i5x5 f1x1 s1x1 p0x0 d1x1\n");
    assert_int_equal(count.lines, 17);
    assert_int_equal(count.problems, 10);
    assert_int_equal(count.options, 9);
    assert_int_equal(count.skipped, 2); /* the file that is not followed, the ruler */
    kw_text_drop(&found);
}

static void lists_of_types_and_attributes_are_taken_apart(void **state) {
    (void)state;
    kw_text found = {0};
    kw_extract_count count =
        extract(&found, "--reset --cfg=f32,bf16bf16f32\n--attr-post-ops=relu, \\\n     sum:0.5\n--bia_dt=f32\n--bia_mask=2,3  8x7:7x9\n");
    assert_string_equal(kw_text_string(&found), "|gemm fp32 rrr b1 m8 n9 k7 epilogue=bias:fp32+relu\n"
                                                "|gemm bf16 rrr b1 m8 n9 k7 out=fp32 epilogue=bias:fp32+relu\n"
                                                "|gemm fp32 rrr b1 m8 n9 k7 epilogue=bias:fp32+add:fp32:0.5\n"
                                                "|gemm bf16 rrr b1 m8 n9 k7 out=fp32 epilogue=bias:fp32+add:fp32:0.5\n"
                                                "|gemm fp32 rrr b1 m8 n9 k7 epilogue=add:fp32+relu\n"
                                                "|gemm bf16 rrr b1 m8 n9 k7 out=fp32 epilogue=add:fp32+relu\n"
                                                "|gemm fp32 rrr b1 m8 n9 k7 epilogue=add:fp32+add:fp32:0.5\n"
                                                "|gemm bf16 rrr b1 m8 n9 k7 out=fp32 epilogue=add:fp32+add:fp32:0.5\n");
    assert_int_equal(count.problems, 8);
    kw_text_drop(&found);
}

static void every_line_is_counted_once(void **state) {
    (void)state;
    kw_text found = {0};
    kw_extract_count count = extract(&found, "hello\n" P "\n\n# note\nworld\n" P "\nlast line without an end " P);
    assert_int_equal(count.lines, 7);
    assert_int_equal(count.problems, 3);
    assert_int_equal(count.options, 2);
    assert_int_equal(count.skipped, 2);
    kw_text_drop(&found);
}

static void a_refusal_is_told_with_line_and_reason(void **state) {
    (void)state;
    kw_text found = {0};
    kw_extract_count count = extract(&found, "hello\n" P "\nhipblaslt-bench -m 8 --scaleA 9\nMIOpenDriver conv -F 9\n");
    assert_int_equal(count.skipped, 3);
    assert_non_null(strstr(count.first_refusal, "line 3: hipblaslt-bench line: scale mode 9"));
    kw_text_drop(&found);
    count = extract(&found, "hello\n" P "\nValidator,PT_VERSION,2.6.0\n");
    assert_string_equal(count.first_refusal, "");
    assert_int_equal(count.options, 1);
    kw_text_drop(&found);
}

static void hostile_text_costs_time_in_proportion(void **state) {
    (void)state;
    static const char *const units[] = {"gemm ",
                                        "--a ",
                                        "--dir=,,,,,,,,",
                                        "conv_fwd fp32 n1 ",
                                        "MIOpenDriver ",
                                        "x",
                                        "\\\n",
                                        "a, \\\n",
                                        "{\"context\"",
                                        "{\"context\": [",
                                        "--conv --dir=a,b,c,d --dt=a,b,c,d i"};
    size_t size = 1 << 20;
    char *text = malloc(size + 1);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        kw_text found = {0};
        for (size_t at = 0; at < size; at++) {
            text[at] = units[i][at % strlen(units[i])];
        }
        text[size] = 0;
        kw_extract_count count = extract(&found, text);
        assert_in_range(count.lines, 0, 1);
        assert_int_equal(count.problems, 0);
        kw_text_drop(&found);
    }
    memset(text, 0, size);
    kw_text found = {0};
    kw_extract_count count;
    assert_int_equal(kw_extract_text((kw_word){text, size}, collect, &found, &count, NULL), KW_OK);
    assert_int_equal(count.skipped, 1);
    kw_text_drop(&found);
    free(text);
}

static bool stop(void *user, const char *name, const kw_problem *problem) {
    (void)name;
    (void)problem;
    return ++*(int *)user < 2;
}

static void the_visitor_may_stop_and_a_missing_file_is_named(void **state) {
    (void)state;
    static const char text[] = P "\n" P "\n" P "\n";
    int visits = 0;
    kw_extract_count count;
    kw_error err = {0};
    assert_int_equal(kw_extract_text((kw_word){text, strlen(text)}, stop, &visits, &count, &err), KW_OK);
    assert_int_equal(visits, 2);
    assert_int_equal(count.problems, 2);
    assert_int_not_equal(kw_problems_extract("/nonexistent/log", stop, &visits, &count, &err), KW_OK);
    assert_non_null(strstr(err.text, "/nonexistent/log"));
    assert_int_equal(kw_problems_extract(NULL, stop, &visits, &count, &err), KW_ILLEGAL);
}

#define IMAGE "{'dim':[8,64,28,28],'stride':[50176,1,1792,64],'data_type':'HALF'}"
#define IMAGE_2 "{'dim':[8,32,14,14],'stride':[6272,1,448,32],'data_type':'HALF'}"
#define FILTER "{'dim':[32,16,3,3],'stride':[144,1,48,16],'data_type':'HALF'}"
#define CONV(tag, inputs, outputs)                                                                                                         \
    "{'tag':'" tag "','inputs':{" inputs "},'outputs':{" outputs                                                                           \
    "},'stride':[2,2],'dilation':[1,1],'pre_padding':[1,1],'post_padding':[0,0],'compute_data_type':'FLOAT'}"
#define FORWARD CONV("CONV_FPROP", "'X':'x','W':'w'", "'Y':'a'")
#define POINTWISE(mode, inputs, output) ",{'tag':'POINTWISE','mode':'" mode "','inputs':{" inputs "},'outputs':{'OUT_0':'" output "'}}"
#define GRAPH(nodes, tensors) "log: {\n  'context': {'io_data_type':'BFLOAT16'},'nodes':[" nodes "],'tensors':{" tensors "}} behind\n"
#define TENSORS "'x':" IMAGE ",'w':" FILTER ",'y':" IMAGE_2
#define TEXT_OF_GRAPH "conv_fwd fp16 nhwgc n8 g4 c64 k32 i28x28 f3x3 s2x2 p1x1:0x0 d1x1"

/* JSON in single quotes. */
static void check_graph(const char *quoted, const char *expected, const char *refusal) {
    char *text = strdup(quoted);
    kw_text found = {0}, want = {0};
    for (char *c = text; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    kw_extract_count count = extract(&found, text);
    kw_text_addf(&want, expected ? "|%s\n" : "", expected ? expected : "");
    assert_string_equal(kw_text_string(&found), kw_text_string(&want));
    assert_int_equal(count.lines, 1);
    assert_int_equal(count.skipped, !expected);
    if (!strstr(count.first_refusal, refusal)) {
        fail_msg("\"%s\" does not say \"%s\"", count.first_refusal, refusal);
    }
    kw_text_drop(&found);
    kw_text_drop(&want);
    free(text);
}

static void graphs_of_cudnn_are_problems(void **state) {
    (void)state;
    check_graph(GRAPH(CONV("CONV_FPROP", "'X':'x','W':'w'", "'Y':'y'"), TENSORS), TEXT_OF_GRAPH, "");
    check_graph(GRAPH(CONV("CONV_DGRAD", "'DY':'y','W':'w'", "'DX':'x'"), TENSORS),
                "conv_bwd_data fp16 nhwgc n8 g4 c64 k32 i28x28 f3x3 s2x2 p1x1:0x0 d1x1", "");
    check_graph(GRAPH(CONV("CONV_WGRAD", "'DY':'y','X':'x'", "'DW':'w'"), TENSORS),
                "conv_bwd_weight fp16 nhwgc n8 g4 c64 k32 i28x28 f3x3 s2x2 p1x1:0x0 d1x1", "");
    check_graph(GRAPH(FORWARD POINTWISE("MUL", "'IN_0':'a','IN_1':'s'", "b") POINTWISE("ADD", "'IN_0':'c','IN_1':'b'", "d")
                          POINTWISE("ADD", "'IN_0':'d','IN_1':'r'", "e") POINTWISE("SWISH_FWD", "'IN_0':'e'", "y"),
                      TENSORS ",'s':{'dim':[1,1,1,1],'stride':[1,1,1,1],'data_type':'FLOAT'},'r':" IMAGE_2
                              ",'c':{'dim':[1,32,1,1],'stride':[32,1,32,32]}"),
                TEXT_OF_GRAPH " epilogue=scale:fp32+bias:bf16+add:fp16+silu", "");
    check_graph(
        GRAPH("{'tag':'MATMUL','inputs':{'A':1,'B':2},'outputs':{'C':3}}",
              "'1':{'dim':[2,8,16],'stride':[160,20,1]},'2':{'dim':[2,16,24],'stride':[384,1,16]},'3':{'dim':[2,8,24],'stride':[192,24,1],"
              "'data_type':'FLOAT'}"),
        "gemm bf16 rcr b2 m8 n24 k16 lda20 out=fp32", "");
    check_graph(GRAPH(FORWARD POINTWISE("CMP_GT", "'IN_0':'a','IN_1':'x'", "y"), TENSORS), NULL, "not a pointwise one");
    check_graph(GRAPH(FORWARD POINTWISE("EXP", "'IN_0':'a'", "y"), TENSORS), NULL, "pointwise mode EXP has no counterpart");
    check_graph(GRAPH(FORWARD POINTWISE("ADD", "'IN_0':'a','IN_1':'x'", "y"), TENSORS), NULL, "goes over the result as no step does");
    check_graph(GRAPH(FORWARD POINTWISE("RELU_FWD", "'IN_0':'b'", "y"), TENSORS), NULL, "what the node before it made");
    check_graph(GRAPH(FORWARD POINTWISE("RELU_FWD", "'IN_0':'a'", "y"), "'x':" IMAGE ",'w':" FILTER ",'y':" IMAGE), NULL,
                "has not the extents");
    check_graph(GRAPH(FORWARD, TENSORS), NULL, "tensor \"a\" is not listed");
    check_graph(GRAPH("{'tag':'SDPA_FWD'}", TENSORS), NULL, "CONV_FPROP, CONV_DGRAD, CONV_WGRAD and MATMUL are read");
    check_graph(GRAPH("", TENSORS), NULL, "no nodes");
    check_graph("{'context':{},'context':{}}\n", NULL, "duplicate object key");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_is_found_wherever_it_stands_in_a_line),
        cmocka_unit_test(options_of_a_batch_hold_until_they_change),
        cmocka_unit_test(lists_of_types_and_attributes_are_taken_apart),
        cmocka_unit_test(every_line_is_counted_once),
        cmocka_unit_test(a_refusal_is_told_with_line_and_reason),
        cmocka_unit_test(hostile_text_costs_time_in_proportion),
        cmocka_unit_test(graphs_of_cudnn_are_problems),
        cmocka_unit_test(the_visitor_may_stop_and_a_missing_file_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
