/* test_requests.c: what kwright understands and what it refuses: exit codes, one line an error, help wherever it is asked for. */

#include "base/os/file.h"
#include "cli_outcome.h"

/* A legal filter that no kernel passes. */
#define NO_KERNEL "c.family == 'conv.direct' and c.family == 'gemm.tiled'"

static void bad_requests_get_one_line_and_exit_2(void **state) {
    (void)state;
    static const struct {
        const char *words[12];
        const char *named;
    } cases[] = {
        {{"kwright", "frobnicate"}, "frobnicate"},
        {{"kwright", "tun"}, "did you mean tune"},
        {{"kwright", "-v"}, "verb '-v' is not known; `"},
        {{"kwright", "run"}, "needs a problem"},
        {{"kwright", "sweep", "--problems", "resnet50", "--max-gflop", "0.000001", "--out", "x.db"}, "resnet50: --part, --max-gflop"},
        {{"kwright", "tune", "--problems", "resnet50", "--max-mb", "0.000001"}, "leave no problem"},
        {{"kwright", "run", "--problems", "resnet50", "--max-mb", "0.000001"}, "leave no problem"},
        {{"kwright", "check", "gemm fp32 m1 n1 k1", "--max-mb", "0.0000001"}, "leave no problem"},
        {{"kwright", "sweep"}, "needs --problems or a problem"},
        {{"kwright", "run", "resnet50"}, "--problems resnet50 reads it"},
        {{"kwright", "explain", "--remeasure", "gemm fp32 m1 n1 k1"}, "mode predict measures nothing"},
        {{"kwright", "tune", "--frozen", "--remeasure", "gemm fp32 m1 n1 k1"}, "mode frozen measures nothing"},
        {{"kwright", "run", "conv_fwd f32 c4 k4 i2 f1"}, "did you mean fp32 by f32"},
        {{"kwright", "run", "gemm s8 m4 n4 k4"}, "did you mean int8 by s8"},
        {{"kwright", "run", "gemm fp64 m4 n4 k4"}, "fp64 is a type of no kernel"},
        {{"kwright", "run", "gemm fp33 m4 n4 k4"}, "did you mean fp32 by fp33"},
        {{"kwright", "run", "conv_fw fp32 c4 k4 i2 f1"}, "did you mean conv_fwd by conv_fw"},
        {{"kwright", "run", "gemm fp32 rcc m4 n4 k4"}, "did you mean rcr"},
        {{"kwright", "run", "gemm fp32 nhwc m4 n4 k4"}, "layout nhwgc does not belong to gemm"},
        {{"kwright", "run", "conv_fwd fp32 nchwc c4 k4 i2x2 f1"}, "layouts nwgc, nhwgc"},
        {{"kwright", "run", "gemm", "fp32", "m4", "n4"}, "k (columns"},
        {{"kwright", "count", "--set", "deflt"}, "did you mean default"},
        {{"kwright", "count", "--arch", "gfx94"}, "did you mean gfx942"},
        {{"kwright", "count", "--dtyp", "bf16"}, "no option --dtyp;"},
        {{"kwright", "run", "MIOpenDriver", "conv", "-n", "2", "-c", "3"}, "needs quotes around it"},
        {{"kwright", "problems", "--cfg=u8s8f32", "ic16ih8oc16oh8kh3ph1"}, "needs quotes around it"},
        {{"kwright", "run", "--dtype", "fp31", "gemm fp32 m1 n1 k1"}, "did you mean fp32"},
        {{"kwright", "show", "conv.direc"}, "did you mean conv.direct"},
        {{"kwright", "show", "--source", "conv.drect conv_fwd fp32"}, "did you mean conv.direct"},
        {{"kwright", "problems", "overlap", "resnet5", "bert"}, "did you mean resnet50"},
        {{"kwright", "db", "exprt", "x.db"}, "did you mean db export"},
        {{"kwright", "problems", "extrct", "x.txt"}, "did you mean problems extract"},
        {{"kwright", "problems", "show", "resnet50"}, "no command show: it has extract and overlap; --problems NAME"},
        {{"kwright", "problems", "gem"}, "did you mean gemm"},
        {{"kwright", "problems", "bert"}, "--problems bert reads it"},
        {{"kwright", "wisdom", "list"}, "there is no wisdom file list; `kwright wisdom` alone lists"},
        {{"kwright", "wisdom", "forget", "gemm fp32 m1 n1 k1"}, "did you mean --forget"},
        {{"kwright", "cache", "clear"}, "did you mean --clear"},
        {{"kwright", "sweep", "--problems", "resnet50"}, "a place for its rows"},
        {{"kwright", "sweep", "--out", "x.csv", "gemm fp32 m1 n1 k1"}, "name it x.db, and `kwright db export`"},
        {{"kwright", "merge", "--out", "x.jsonl.gz", "y"}, "name it x.db"},
        {{"kwright", "db", "recover", "y.db", "--out", "x.csv"}, "name it x.db"},
        {{"kwright", "validate", "y.db", "--model", "m", "--out", "x.json"}, "name it x.db"},
        {{"kwright", "build", "--set", "tiny", "--dtype", "bf16"}, "--dtype is of problems"},
        {{"kwright", "build", "--set", "tiny", "--arch", "gfx942", "--out", "o", "--limit", "3"}, "or --limit"},
        {{"kwright", "run", "--frozn", "gemm fp32 m1 n1 k1"}, "did you mean --frozen"},
        {{"kwright", "run", "conv_fwd fp32 n32 g2 c65 k64 i56 f3"}, "c=65"},
        {{"kwright", "run", "conv_fwd fp32 c4 k4 i2 f5"}, "output"},
        {{"kwright", "run", "gemm fp32 m0 n4 k4"}, "m0"},
        {{"kwright", "run", "gemm fp32 m-3 n4 k4"}, "m-3"},
        {{"kwright", "run", "gemm fp32 m4 n4"}, "k"},
        {{"kwright", "run", "gemm fp32 m4 n4 k4 q7"}, "q7"},
        {{"kwright", "run", "gemm fp32 m4 n4 k99999999999999999999"}, "k9999"},
        {{"kwright", "run", "gemm fp32 m4000000000 n4000000000 k4"}, "m4000000000"},
        {{"kwright", "run", "--problems", "/nonexistent/list"}, "/nonexistent/list"},
        {{"kwright", "run", "--device", "tpu:0", "gemm fp32 m1 n1 k1"}, "tpu"},
        {{"kwright", "run", "--threads", "0", "gemm fp32 m1 n1 k1"}, "--threads"},
        {{"kwright", "run", "--threads", "many", "gemm fp32 m1 n1 k1"}, "many"},
        {{"kwright", "run", "--mode", "hasty", "gemm fp32 m1 n1 k1"}, "hasty"},
        {{"kwright", "run", "--config", "conv.direct conv_fwd fp32 speed=9", "gemm fp32 m1 n1 k1"}, "speed"},
        {{"kwright", "run", "--kernels", "/nonexistent/catalog", "gemm fp32 m1 n1 k1"}, "/nonexistent/catalog"},
        {{"kwright", "run", "--filter", NO_KERNEL, "gemm fp32 m1 n1 k1"}, "no kernel is left"}, /* nothing to do is no success */
        {{"kwright", "tune", "--filter", NO_KERNEL, "gemm fp32 m1 n1 k1"}, "no kernel is left"},
        {{"kwright", "check", "--filter", NO_KERNEL, "gemm fp32 m1 n1 k1"}, "no kernel is left"},
        {{"kwright", "predict", "--filter", NO_KERNEL, "gemm fp32 m1 n1 k1"}, "no kernel is left"},
        {{"kwright", "build", "--filter", NO_KERNEL}, "no kernel is left"},
        {{"kwright", "select", "--arch", "sm_90", "gemm fp32 m1 n1 k1"}, "is for this device"}, /* a reference kernel would be no answer */
        {{"kwright", "tune", "--arch", "sm_90", "gemm fp32 m1 n1 k1"}, "is for this device"},
        {{"kwright", "build", "--set", "tiny", "--arch", "gfx942"}, "--out DIR"},
        {{"kwright", "sweep", "--filter", NO_KERNEL, "--problems", "resnet50", "--out", "/nonexistent/a.db"}, "no kernel is left"},
        {{"kwright", "count", "--set", "huge"}, "huge"},
        {{"kwright", "count", "--arch", "gfx9999"}, "gfx9999"},
        {{"kwright", "count", "--filter", "c.tilen == 3"}, "tilen"},
        {{"kwright", "count", "--filter", "c.tile_w >="}, "filter"},
        {{"kwright", "count", "--filter", "os.execute('true')"}, "os"},
        {{"kwright", "count", "--limit", "3"}, "--limit"},
        {{"kwright", "count", "--traits", "/nonexistent/traits"}, "/nonexistent/traits"},
        {{"kwright", "merge"}, "--out"},
        {{"kwright", "merge", "--out", "/nonexistent/out.db"}, "/nonexistent/out.db"},
        {{"kwright", "merge", "--out", "/nonexistent/out.db", "/nonexistent/part.jsonl"}, "/nonexistent/part.jsonl"},
        {{"kwright", "count", "extra"}, "extra"},
        {{"kwright", "show", "conv.nothing"}, "conv.nothing"},
        {{"kwright", "show", "--source", "conv.direct conv_fwd fp33"}, "fp33"},
        {{"kwright", "show", "--source"}, "config"},
        {{"kwright", "wisdom", "/nonexistent/wisdom"}, "/nonexistent/wisdom"},
        {{"kwright", "wisdom", "--forget", "nonsense"}, "nonsense"},
        {{"kwright", "problems", "--dtype", "fp64", "--problems", "resnet50"}, "fp64"},
        {{"kwright", "problems", "--problems", "resnet5"}, "resnet5"},
        {{"kwright", "problems", "--problems", "resnet50", "--sample", "0"}, "--sample 0"},
        {{"kwright", "problems", "--problems", "resnet50", "--max-gflop", "-1"}, "--max-gflop -1"},
        {{"kwright", "problems", "--problems", "resnet50", "--part", "tests"}, "--part tests"},
        {{"kwright", "problems", "--problems", "resnet50", "--test-share", "0.5"}, "--part train"},
        {{"kwright", "problems", "--problems", "resnet50", "--part", "test", "--test-share", "2"}, "--test-share 2"},
        {{"kwright", "problems", "extract"}, "extract needs a file"},
        {{"kwright", "problems", "extract", "/nonexistent/log"}, "/nonexistent/log"},
        {{"kwright", "problems", "overlap", "resnet50"}, "overlap needs two lists"},
        {{"kwright", "problems", "overlap", "resnet50", "resnet5"}, "resnet5"},
        {{"kwright", "predict"}, "PROBLEM"},
        {{"kwright", "predict", "gemm fp32 m4 n4"}, "k"},
        {{"kwright", "predict", "--limit", "0", "gemm fp32 m4 n4 k4"}, "--limit"},
        {{"kwright", "predict", "--store", "/nonexistent/store.db", "gemm fp32 m4 n4 k4"}, "/nonexistent/store.db"},
        {{"kwright", "predict", "gemm fp32 m4 n4 k4", "gemm fp32 m4 n4 k5"}, "takes no operand"},
        {{"kwright", "select"}, "needs a problem"},
        {{"kwright", "select", "--model"}, "--model DIR"},
        {{"kwright", "help", "nothing"}, "nothing"},
        {{"kwright", "check", "--set", "tiny"}, "problem"},
        {{"kwright", "tune", "-x", "gemm fp32 m1 n1 k1"}, "-x"},
    };
    outcome *result = malloc(sizeof *result);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run(result, cases[i].words, NULL);
        if (result->code != 2 || lines(result->err) != 1 || !strstr(result->err, cases[i].named)) {
            print_message("case %zu (%s): exit %d: %s\n", i, cases[i].words[cases[i].words[2] ? 2 : 1], result->code, result->err);
        }
        assert_int_equal(result->code, 2);
        assert_int_equal(lines(result->err), 1);
        assert_non_null(strstr(result->err, cases[i].named));
        assert_int_equal(strncmp(result->err, "kwright: ", 9), 0);
        assert_string_equal(result->out, "");
    }
    free(result);
}

static void a_line_of_ten_megabytes_is_refused(void **state) {
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/long", folder);
    size_t size = 10u << 20;
    char *line = malloc(size + 1);
    memset(line, 'x', size);
    line[size] = '\n';
    assert_int_equal(kw_file_replace(path, line, size + 1, 0600, NULL), KW_OK);
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("problems", "--problems", path), NULL);
    assert_int_equal(result->code, 2);
    assert_int_equal(lines(result->err), 1);
    run(result, WORDS("problems", "-"), path);
    assert_int_equal(result->code, 2);
    assert_int_equal(lines(result->err), 1);
    run(result, WORDS("wisdom", path), NULL);
    assert_in_range(result->code, 0, 3);
    run(result, WORDS("list", "--kernels", path), NULL);
    assert_int_equal(result->code, 2);
    assert_int_equal(lines(result->err), 1);
    free(line);
    free(result);
}

static void help_covers_every_verb_and_fits_a_screen(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("help"), NULL);
    assert_int_equal(result->code, 0);
    assert_true(lines(result->out) <= 40);
    char *list = strdup(result->out);
    char *save = NULL;
    int verbs = 0;
    for (char *line = strtok_r(list, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char verb[32];
        if (line[0] == ' ' && sscanf(line, "  %31[a-z] ", verb) == 1 && strcmp(verb, "kwright")) {
            run(result, WORDS("help", verb), NULL);
            assert_int_equal(result->code, 0);
            assert_int_equal(strncmp(result->out, "  ", 2), 0);
            assert_true(lines(result->out) <= 60); /* a tall screen: a sweep has many options */
            verbs++;
        }
    }
    assert_true(verbs >= 14);
    free(list);
    run(result, WORDS("help", "--man"), NULL);
    assert_int_equal(strncmp(result->out, ".TH KWRIGHT 1", 13), 0);
    free(result);
}

static void problems_are_read_in_other_words_and_without_quotes(void **state) {
    (void)state;
    static const struct {
        const char *words[14];
        const char *text;
    } cases[] = {
        {{"kwright", "problems", "conv_fwd float32 nhwc c4 k8 i5x6 f3"}, "conv_fwd fp32 nhwgc n1 g1 c4 k8 i5x6 f3x3 "},
        {{"kwright", "problems", "conv_fwd half nchw c4 k8 i5x6 f3"}, "conv_fwd fp16 ngchw n1 g1 c4 k8 i5x6 f3x3 "},
        {{"kwright", "problems", "conv_fwd bfloat16 ncdhw c4 k8 i5 f3"}, "conv_fwd bf16 ngcdhw n1 g1 c4 k8 i5x5x5 f3x3x3 "},
        {{"kwright", "problems", "conv_fwd fp32 nwc s8 c4 k8 i50 f3"}, "conv_fwd fp32 nwgc n1 g1 c4 k8 i50 f3 s8 "},
        {{"kwright", "problems", "--dtype", "s8", "gemm fp32 m4 n5 k6"}, "gemm int8 rcr b1 m4 n5 k6"},
        {{"kwright", "problems", "gemm", "fp32", "m4", "n5", "k6"}, "gemm fp32 rcr b1 m4 n5 k6  #"},
        {{"kwright", "problems", "gemm", "fp32", "m4", "--quiet", "n5", "k6", "gemm", "bf16", "m1", "n1", "k1"},
         "gemm bf16 rcr b1 m1 n1 k1  #"},
    };
    outcome *result = malloc(sizeof *result);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run(result, cases[i].words, NULL);
        if (result->code || !strstr(result->out, cases[i].text)) {
            fail_msg("case %zu: exit %d: %s%s", i, result->code, result->out, result->err);
        }
    }
    run(result, WORDS("predict", "--limit", "1", "--model", "", "gemm", "fp32", "m4", "n5", "k6"), NULL);
    assert_true(result->code < 2);
    free(result);
}

static void help_is_given_wherever_it_is_asked_for(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("problems", "extract", "--help"), NULL);
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->out, "--sample"));
    run(result, WORDS("tune", "--set", "tiny", "-h"), NULL);
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->out, "--exhaustive"));
    run(result, WORDS("problems", "--", "--help"), NULL);
    assert_int_equal(result->code, 2);
    run(result, WORDS("-V"), NULL);
    assert_int_equal(result->code, 0);
    assert_int_equal(strncmp(result->out, "kwright ", 8), 0);
    free(result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_requests_get_one_line_and_exit_2),     cmocka_unit_test(a_line_of_ten_megabytes_is_refused),
        cmocka_unit_test(help_covers_every_verb_and_fits_a_screen), cmocka_unit_test(problems_are_read_in_other_words_and_without_quotes),
        cmocka_unit_test(help_is_given_wherever_it_is_asked_for),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
