/* test_problems.c: the lists that are compiled in are legal and add up to the networks they are named after; lists in files are read line by
 * line and a fault names its line. */
#include "base/os/file.h"
#include "base/text.h"
#include "space/problems/problems.h"
#include "support/kw_test.h"

#include <kernelwright_tune.h>

#include <unistd.h>

/* What a list adds up to. */
typedef struct totals {
    const char *prefix; /* names that count begin with it */
    double flops;
    int lines, layers;
    char names[200][64];
    kw_problem problems[200];
} totals;

/* N of a name that ends in "*N", else 1. */
static int multiplicity(const char *name) {
    const char *star = strrchr(name, '*');
    return star ? atoi(star + 1) : 1;
}

static bool add_up(void *user, const char *name, const kw_problem *problem) {
    totals *t = user;
    assert_true(t->lines < 200);
    assert_true(*name && strlen(name) < sizeof *t->names);
    assert_int_equal(kw_problem_check(problem, NULL), KW_OK);
    for (int i = 0; i < t->lines; i++) {
        assert_string_not_equal(t->names[i], name);
        assert_memory_not_equal(&t->problems[i], problem, sizeof *problem);
    }
    strcpy(t->names[t->lines], name);
    t->problems[t->lines++] = *problem;
    if (!strncmp(name, t->prefix, strlen(t->prefix))) {
        t->flops += (double)kw_problem_flops(problem) * multiplicity(name);
        t->layers += multiplicity(name);
    }
    return true;
}

/* flops: of a forward pass of one image or sequence; published counts of multiply-adds times 2 (torchvision's model tables; BERT and the
 * 3D U-Net, which have no padding, from their dimensions). Published counts include products with padding (up to 4 % of these networks)
 * and the classifier, ours neither. layers counts convolutions or products. */
static void lists_add_up_to_their_networks(void **state) {
    (void)state;
    static const struct {
        const char *list, *prefix;
        double gflops;
        int layers;
    } rows[] = {
        {"resnet50", "", 2 * 4.09, 53},
        {"resnext50", "", 2 * 4.23, 53},
        {"mobilenetv2", "", 2 * 0.30, 52},
        {"convnext", "", 2 * 4.46, 1 + 3 + 3 * 18},
        {"unet3d", "", 397.2, 8},
        {"bert", "s128", 12 * 2e-9 * 128 * (4 * 768.0 * 768 + 2 * 768 * 3072.0 + 2 * 128 * 768.0), 12 * 8},
        {"bert", "s384", 12 * 2e-9 * 384 * (4 * 768.0 * 768 + 2 * 768 * 3072.0 + 2 * 384 * 768.0), 12 * 8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        totals *t = calloc(1, sizeof *t);
        assert_non_null(t);
        t->prefix = rows[i].prefix;
        kw_error err = {0};
        if (kw_problems_visit(rows[i].list, KW_OP_COUNT, KW_DTYPE_COUNT, add_up, t, &err)) {
            fail_msg("%s", err.text);
        }
        print_message("%s %s: %d lines, %d layers, %.3f GFLOP (%.3f)\n", rows[i].list, rows[i].prefix, t->lines, t->layers, t->flops * 1e-9,
                      rows[i].gflops);
        assert_int_equal(t->layers, rows[i].layers);
        assert_true(t->flops * 1e-9 > 0.94 * rows[i].gflops && t->flops * 1e-9 < 1.01 * rows[i].gflops);
        free(t);
    }
}

static void the_demo_has_each_layer_once(void **state) {
    (void)state;
    totals *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->prefix = "";
    kw_error err = {0};
    if (kw_problems_visit("demo", KW_OP_COUNT, KW_DTYPE_COUNT, add_up, t, &err)) {
        fail_msg("%s", err.text);
    }
    assert_in_range(t->lines, 90, 110);
    free(t);
}

static void the_networks_come_first(void **state) {
    (void)state;
    char *names = NULL;
    assert_int_equal(kw_problems_names(&names, NULL), KW_OK);
    static const char *const networks[] = {"bert", "convnext", "demo", "mobilenetv2", "resnet50", "resnext50", "unet3d"};
    char *save = NULL;
    const char *name = strtok_r(names, "\n", &save);
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++, name = strtok_r(NULL, "\n", &save)) {
        assert_non_null(name);
        assert_string_equal(name, networks[i]);
    }
    free(names);
}

/* "NAME|CANONICAL TEXT\n" for each problem. */
static bool collect(void *user, const char *name, const kw_problem *problem) {
    char text[KW_PROBLEM_TEXT_MAX];
    kw_problem_print(text, sizeof text, problem);
    kw_text_addf(user, "%s|%s\n", name, text);
    return true;
}

static kw_status read_list(const char *text, kw_text *lines, kw_error *err) {
    kw_text copy = {0};
    kw_text_add(&copy, text);
    kw_list_reader how = {KW_OP_COUNT, KW_DTYPE_COUNT, collect, lines};
    kw_status status = kw_list_read(&how, "list", copy.data, copy.size, err);
    kw_text_drop(&copy);
    return status;
}

static void lines_of_every_kind_are_read(void **state) {
    (void)state;
    static const char text[] = "# a comment\n"
                               "\n"
                               "  \t\r\n"
                               "first*2: gemm fp32 rcr m2 n3 k4   # of two\n"
                               "gemm fp32 rcr m2 n3 k5\r\n"
                               "a#b: gemm bf16 rrr m1 n1 k1\n"
                               "./bin/MIOpenDriver conv -n 1 -c 3 -H 8 -W 8 -k 4 -y 3 -x 3 -p 1 -q 1 -u 1 -v 1 -l 1 -j 1 -g 1 -F 1\n"
                               "named: --dir=BWD_D --dt=bf16 mb1ic4ih5oc6kh3ph1\n"
                               "gemm fp32 rcr m9 n9 k9";
    kw_text lines = {0};
    kw_error err = {0};
    if (read_list(text, &lines, &err)) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(lines.data, "first*2|gemm fp32 rcr b1 m2 n3 k4\n"
                                    "|gemm fp32 rcr b1 m2 n3 k5\n"
                                    "a#b|gemm bf16 rrr b1 m1 n1 k1\n"
                                    "|conv_fwd fp32 ngchw n1 g1 c3 k4 i8x8 f3x3 s1x1 p1x1 d1x1\n"
                                    "named|conv_bwd_data bf16 nhwgc n1 g1 c4 k6 i5x5 f3x3 s1x1 p1x1 d1x1\n"
                                    "|gemm fp32 rcr b1 m9 n9 k9\n");
    kw_text_drop(&lines);
}

static void csv_files_are_read_by_their_header(void **state) {
    (void)state;
    static const char convs[] = "# from somewhere\n"
                                "name,ndim,G,N,C,K,Di,Hi,Wi,Z,Y,X,stride_d,stride_h,stride_w,pad_d,pad_h,pad_w,dil_d,dil_h,dil_w\n"
                                "net:conv1*3,2,1,2,3,64,1,224,224,1,7,7,1,2,2,0,3,3,1,1,1\n";
    static const char gemms[] = "M,N,K\n16,32,64\n";
    kw_text lines = {0};
    kw_error err = {0};
    if (read_list(convs, &lines, &err) || read_list(gemms, &lines, &err)) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(lines.data, "net:conv1*3|conv_fwd fp32 nhwgc n2 g1 c3 k64 i224x224 f7x7 s2x2 p3x3 d1x1\n"
                                    "|gemm fp32 rcr b1 m16 n32 k64\n");
    kw_text_drop(&lines);
    char copy[sizeof convs];
    strcpy(copy, convs);
    kw_list_reader how = {KW_CONV_BWD_WEIGHT, KW_BF16, collect, &lines};
    assert_int_equal(kw_list_read(&how, "list", copy, sizeof copy - 1, &err), KW_OK);
    assert_string_equal(lines.data, "net:conv1*3|conv_bwd_weight bf16 nhwgc n2 g1 c3 k64 i224x224 f7x7 s2x2 p3x3 d1x1\n");
    kw_text_drop(&lines);
}

/* Its first line has commas, but no header. */
static void a_list_may_begin_with_an_epilogue(void **state) {
    (void)state;
    kw_text lines = {0};
    kw_error err = {0};
    if (read_list("gemm fp32 rcr m2 n3 k4 epilogue=bias,relu\ngemm fp32 rcr m9 n9 k9\n", &lines, &err)) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(lines.data, "|gemm fp32 rcr b1 m2 n3 k4 epilogue=bias:fp32+relu\n|gemm fp32 rcr b1 m9 n9 k9\n");
    kw_text_drop(&lines);
}

/* A file of TunableOp begins like a CSV file, and a line of MIOpenDriver without -F is three problems. */
static void lines_of_other_tools_make_a_list(void **state) {
    (void)state;
    static const char text[] = "Validator,PT_VERSION,2.6.0\n"
                               "GemmTunableOp_Half_TN,tn_5_4_6_ld_6_6_5,Gemm_Rocblas_3,0.01\n"
                               "--matmul 4x6:6x5\n"
                               "layer: conv -n 1 -c 8 -k 8\n";
    kw_text lines = {0};
    kw_error err = {0};
    assert_int_equal(read_list(text, &lines, &err), KW_OK);
    assert_string_equal(lines.data, "|gemm fp16 rcr b1 m4 n5 k6\n|gemm fp32 rrr b1 m4 n5 k6\n"
                                    "layer|conv_fwd fp32 ngchw n1 g1 c8 k8 i32x32 f3x3 s1x1 p0x0 d1x1\n"
                                    "layer|conv_bwd_data fp32 ngchw n1 g1 c8 k8 i32x32 f3x3 s1x1 p0x0 d1x1\n"
                                    "layer|conv_bwd_weight fp32 ngchw n1 g1 c8 k8 i32x32 f3x3 s1x1 p0x0 d1x1\n");
    kw_text_drop(&lines);
    assert_int_not_equal(read_list("Validator,PT_VERSION,2.6.0\nScaledGemmTunableOp_Half_TN,tn_5_4_6,Default,1\n", &lines, &err), KW_OK);
    assert_non_null(strstr(err.text, ":2: TunableOp line: "));
    kw_text_drop(&lines);
}

static void faults_name_the_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *fragment;
    } rows[] = {
        {"gemm fp32 rcr m2 n3 k4\ngemm fp32 rcr m0 n3 k4\n", "list:2: "},
        {"nonsense", "list:1: "},
        {"M,N\n1,2\n", "list:1: "},
        {"M,N,K\n1,2,3\n1,2,x\n", "list:3: "},
        {"\n\nname:\n", "list:3: "},
        {"name: other: gemm fp32 rcr m2 n3 k4\n", "list:1: "},
        {"a: conv_fwd fp32 nhwgc n1 g2 c3 k4 i8x8 f3x3\n", "list:1: "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_text lines = {0};
        kw_error err = {0};
        assert_int_not_equal(read_list(rows[i].text, &lines, &err), KW_OK);
        print_message("%s\n", err.text);
        assert_ptr_equal(strstr(err.text, rows[i].fragment), err.text);
        kw_text_drop(&lines);
    }
    char zero[] = "gemm fp32 rcr m2 n3 k4\0 and more\n";
    kw_error err = {0};
    kw_list_reader how = {KW_OP_COUNT, KW_DTYPE_COUNT, collect, NULL};
    assert_int_equal(kw_list_read(&how, "list", zero, sizeof zero - 1, &err), KW_MALFORMED);
    assert_non_null(strstr(err.text, "zero byte"));
}

static void a_long_line_is_one_error(void **state) {
    (void)state;
    size_t size = 10 << 20;
    char *text = malloc(size + 1);
    assert_non_null(text);
    memset(text, 'x', size);
    text[size] = 0;
    kw_error err = {0};
    kw_list_reader how = {KW_OP_COUNT, KW_DTYPE_COUNT, collect, NULL};
    assert_int_not_equal(kw_list_read(&how, "list", text, size, &err), KW_OK);
    assert_ptr_equal(strstr(err.text, "list:1: "), err.text);
    free(text);
}

static void files_are_read_and_missing_ones_named(void **state) {
    (void)state;
    char path[] = "/tmp/kw-list-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    static const char text[] = "one: gemm fp32 rcr m2 n3 k4\n";
    kw_text lines = {0};
    kw_error err = {0};
    assert_int_equal(kw_file_replace(path, text, sizeof text - 1, 0600, NULL), KW_OK);
    assert_int_equal(kw_problems_visit(path, KW_OP_COUNT, KW_DTYPE_COUNT, collect, &lines, &err), KW_OK);
    assert_string_equal(lines.data, "one|gemm fp32 rcr b1 m2 n3 k4\n");
    unlink(path);
    assert_int_not_equal(kw_problems_visit(path, KW_OP_COUNT, KW_DTYPE_COUNT, collect, &lines, &err), KW_OK);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(kw_problems_visit("resnet5", KW_OP_COUNT, KW_DTYPE_COUNT, collect, &lines, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "'resnet5' is neither"));
    kw_text_drop(&lines);
}

static bool stop(void *user, const char *name, const kw_problem *problem) {
    (void)name;
    (void)problem;
    return ++*(int *)user < 2;
}

static void the_visitor_may_stop(void **state) {
    (void)state;
    int count = 0;
    assert_int_equal(kw_problems_visit("resnet50", KW_OP_COUNT, KW_DTYPE_COUNT, stop, &count, NULL), KW_OK);
    assert_int_equal(count, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_add_up_to_their_networks),
        cmocka_unit_test(the_demo_has_each_layer_once),
        cmocka_unit_test(the_networks_come_first),
        cmocka_unit_test(lines_of_every_kind_are_read),
        cmocka_unit_test(csv_files_are_read_by_their_header),
        cmocka_unit_test(a_list_may_begin_with_an_epilogue),
        cmocka_unit_test(lines_of_other_tools_make_a_list),
        cmocka_unit_test(faults_name_the_line),
        cmocka_unit_test(a_long_line_is_one_error),
        cmocka_unit_test(files_are_read_and_missing_ones_named),
        cmocka_unit_test(the_visitor_may_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
