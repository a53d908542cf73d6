/* test_cli.c: the command line from the outside: exit codes, one line an error, answers on standard output alone. */

#include "base/container/arena.h"
#include "base/os/file.h"
#include "base/text.h"
#include "support/kw_test.h"
#include "support/stumps.h"

#include <fcntl.h>
#include <jansson.h>
#include <kernelwright.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/kw-cli-XXXXXX";

typedef struct outcome {
    int code; /* exit code, or 128 + signal */
    char out[65536], err[65536];
} outcome;

static void slurp(char *to, size_t capacity, const char *path) {
    FILE *file = fopen(path, "rb");
    size_t got = file ? fread(to, 1, capacity - 1, file) : 0;
    to[got] = 0;
    if (file) {
        fclose(file);
    }
}

/* Runs kwright with these words; input is a file for standard input, or NULL. */
static void run(outcome *result, const char *const words[], const char *input) {
    char out[256], err[256];
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(err, sizeof err, "%s/err", folder);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        int in_fd = open(input ? input : "/dev/null", O_RDONLY);
        int out_fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600), err_fd = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(in_fd, 0);
        dup2(out_fd, 1);
        dup2(err_fd, 2);
        execv(KW_KWRIGHT, (char *const *)(uintptr_t)words);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    result->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    slurp(result->out, sizeof result->out, out);
    slurp(result->err, sizeof result->err, err);
}

static size_t lines(const char *text) {
    size_t count = 0;
    for (; *text; text++) {
        count += *text == '\n';
    }
    return count;
}

#define WORDS(...) ((const char *const[]){"kwright", __VA_ARGS__, NULL})

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
        {{"kwright", "-v"}, "verb -v is not known; `"},
        {{"kwright", "run"}, "needs a problem"},
        {{"kwright", "sweep", "--problems", "resnet50", "--max-gflop", "0.000001", "--out", "x.db"}, "resnet50: --part, --max-gflop"},
        {{"kwright", "tune", "--problems", "resnet50", "--max-mb", "0.000001"}, "leave no problem"},
        {{"kwright", "run", "--problems", "resnet50", "--max-mb", "0.000001"}, "leave no problem"},
        {{"kwright", "check", "gemm fp32 m1 n1 k1", "--max-mb", "0.0000001"}, "leave no problem"},
        {{"kwright", "sweep"}, "needs --problems or a problem"},
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
        {{"kwright", "run", "--dtype", "fp31", "gemm fp32 m1 n1 k1"}, "did you mean fp32"},
        {{"kwright", "show", "conv.direc"}, "did you mean conv.direct"},
        {{"kwright", "show", "--source", "conv.drect conv_fwd fp32"}, "did you mean conv.direct"},
        {{"kwright", "problems", "overlap", "resnet5", "bert"}, "did you mean resnet50"},
        {{"kwright", "db", "exprt", "x.db"}, "did you mean db export"},
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

static void the_last_line_of_count_is_the_number_of_lines_of_list(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("count", "--set", "tiny", "--arch", "x86-64-v3"), NULL);
    assert_int_equal(result->code, 0);
    result->out[strlen(result->out) - 1] = 0;
    const char *last = strrchr(result->out, '\n');
    size_t number = strtoul(last ? last + 1 : result->out, NULL, 10);
    assert_true(number > 0);
    run(result, WORDS("list", "--set", "tiny", "--arch", "x86-64-v3"), NULL);
    assert_int_equal(lines(result->out), number);
    assert_string_equal(result->err, "");
    free(result);
}

static void a_trait_file_narrows_every_way_of_listing_alike(void **state) {
    (void)state;
    static const char traits[] = "{\"variant\": \"fwd\", \"trait_config\": {\"data_type\": {\"values\": [\"bf16\"]}, "
                                 "\"pipeline\": {\"values\": [\"mem\"]}, \"ndim_spatial\": {\"values\": [2]}}}";
    char file[256], pool[256];
    outcome *all = malloc(sizeof *all), *result = malloc(sizeof *result);
    snprintf(file, sizeof file, "%s/traits.json", folder);
    snprintf(pool, sizeof pool, "%s/pool.json", folder);
    assert_int_equal(kw_file_replace(file, traits, strlen(traits), 0600, NULL), KW_OK);
    run(all, WORDS("list", "--set", "tiny", "--traits", file, "--quiet"), NULL);
    assert_int_equal(all->code, 0);
    assert_string_equal(all->err, "");
    assert_non_null(strstr(all->out, " conv_fwd bf16"));
    assert_null(strstr(all->out, "fp32"));
    assert_null(strstr(all->out, "bwd"));
    run(result, WORDS("list", "--set", "tiny", "--traits", file, "--count-only"), NULL);
    assert_int_equal(strtoul(result->out, NULL, 10), lines(all->out));
    assert_int_equal(lines(result->out), 1);
    assert_int_equal(lines(result->err), 1);
    assert_non_null(strstr(result->err, "pipeline is passed over"));
    run(result, WORDS("list", "--set", "tiny", "--traits", file, "--export-json", pool, "--quiet"), NULL);
    assert_int_equal(result->code, 0);
    assert_string_equal(result->out, "");
    run(result, WORDS("list", "--kernels", pool), NULL);
    assert_string_equal(result->out, all->out);
    run(result, WORDS("list", "--kernels", pool, "--traits", file, "--quiet", "--filter", "c.family == 'conv.reference'"), NULL);
    assert_int_equal(lines(result->out), 1);
    free(all);
    free(result);
}

static void a_config_with_gaps_is_all_kernels_that_it_stands_for(void **state) {
    (void)state;
    static const char gaps[] = "conv.direct conv_fwd fp32 isa=avx2 tile_h=1 tile_w=* vecs=1";
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("list", "--config", gaps, "--arch", "x86-64-v3", "--count-only"), NULL);
    assert_true(atoi(result->out) > 4);
    run(result, WORDS("run", "--mode", "predict", "--config", gaps, "conv_fwd fp32 n1 c16 k16 i8x8 f3x3 p1x1"), NULL);
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->out, "conv.direct conv_fwd fp32 isa=avx2"));
    run(result, WORDS("run", "--config", gaps, "gemm fp32 m8 n8 k8"), NULL);
    assert_int_equal(result->code, 2);
    assert_non_null(strstr(result->err, "kernels of --config serves the problem; the first: conv.direct: the config is for conv_fwd"));
    free(result);
}

/* What select prints for a problem with an epilogue can be handed back, for such problems alone. */
static void a_config_with_the_words_of_a_problem_is_for_such_problems(void **state) {
    (void)state;
    static const char config[] = "gemm.tiled gemm fp32 isa=avx2 math=fma tile_m=2 vecs=2 band=0 ahead=1 epilogue=bias:fp32+relu";
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("list", "--arch", "x86-64-v3", "--config", config), NULL);
    assert_non_null(strstr(result->out, config));
    run(result, WORDS("check", "--quiet", "--config", config, "gemm fp32 m8 n8 k8 epilogue=bias+relu"), NULL);
    assert_int_equal(result->code, 0);
    run(result, WORDS("run", "--config", config, "gemm fp32 m8 n8 k8"), NULL);
    assert_int_equal(result->code, 2);
    assert_non_null(strstr(result->err, "the config has epilogue=bias:fp32+relu, the problem no epilogue"));
    free(result);
}

static void a_trait_file_for_one_type_and_two_axes_means_the_problems_so(void **state) {
    (void)state;
    static const char traits[] = "{\"variant\": \"bwd_data\", \"trait_config\": {\"data_type\": {\"values\": [\"bf16\"]}, "
                                 "\"family\": {\"values\": [\"conv.reference\"]}, \"ndim_spatial\": {\"values\": [2]}}}";
    static const char list[] =
        "conv_fwd fp32 c1 k1 i4x4 f1\nconv_fwd fp32 c1 k1 i4 f1\nconv_fwd fp32 c1 k1 i5x5 f1\nconv_fwd fp32 c1 k1 i4x4x4 f1\n";
    char file[256], problems[256];
    outcome *result = malloc(sizeof *result);
    snprintf(file, sizeof file, "%s/traits.json", folder);
    snprintf(problems, sizeof problems, "%s/problems", folder);
    assert_int_equal(kw_file_replace(file, traits, strlen(traits), 0600, NULL), KW_OK);
    assert_int_equal(kw_file_replace(problems, list, strlen(list), 0600, NULL), KW_OK);
    run(result, WORDS("sweep", "--traits", file, "--set", "tiny", "--problems", problems, "--count-only", "--json", "--quiet"), NULL);
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->out, "\"kernels\": 1, \"problems\": 2, \"pairs\": 2"));
    free(result);
}

static void problems_print_canonically(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("problems", "conv_fwd f3 fp32 p1 c64 i56x56 k64"), NULL);
    assert_int_equal(result->code, 0);
    assert_int_equal(strncmp(result->out, "conv_fwd fp32 nhwgc n1 g1 c64 k64 i56x56 f3x3 s1x1 p1x1 d1x1  # ", 64), 0);
    run(result, WORDS("problems", "--dir", "all", "conv_fwd f3 fp32 p1 c64 i56x56 k64"), NULL);
    assert_non_null(strstr(result->out, "conv_bwd_weight fp32"));
    run(result, WORDS("problems", "--problems", "bert", "--dtype", "bf16"), NULL);
    assert_non_null(strstr(result->out, "gemm bf16"));
    assert_null(strstr(result->out, "fp32"));
    free(result);
}

static void what_problems_prints_is_a_problem_list(void **state) {
    (void)state;
    char path[256];
    outcome *first = malloc(sizeof *first), *again = malloc(sizeof *again);
    snprintf(path, sizeof path, "%s/list", folder);
    run(first, WORDS("problems", "--problems", "mobilenetv2", "--dir", "all"), NULL);
    assert_int_equal(first->code, 0);
    assert_true(lines(first->out) > 60);
    assert_int_equal(kw_file_replace(path, first->out, strlen(first->out), 0600, NULL), KW_OK);
    run(again, WORDS("problems", "-"), path);
    assert_string_equal(again->out, first->out);
    free(first);
    free(again);
}

static void every_set_is_listed_with_its_counts(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("problems"), NULL);
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->out, "\nforward_2d                      1718      1614  Forward training grid"));
    assert_non_null(strstr(result->out, "\ngemm_wide                        706       706  GEMM"));
    assert_true(lines(result->out) >= 26);
    run(result, WORDS("problems", "--json"), NULL);
    assert_int_equal(result->out[0], '{');
    assert_non_null(
        strstr(result->out, "{\"schema\": 1, \"set\": \"validation_holdout\", \"problems\": 300, \"distinct\": 298, \"about\": \""));
    free(result);
}

static void options_choose_from_a_list(void **state) {
    (void)state;
    static const struct {
        const char *words[14];
        size_t count;
    } cases[] = {
        {{"kwright", "problems", "--problems", "bwd_data_2d", "--sample", "40", "--max-gflop", "1", "--seed", "1"}, 40},
        {{"kwright", "problems", "--problems", "bwd_data_2d", "--sample", "40", "--limit", "7"}, 7},
        {{"kwright", "problems", "--problems", "resnet50", "--sample", "1000"}, 23},
        {{"kwright", "problems", "--problems", "resnet50", "--dir", "all", "--sample", "1000"}, 69},
        {{"kwright", "problems", "--problems", "resnet50", "--max-gflop", "0.2"}, 10},
        {{"kwright", "problems", "--problems", "resnet50", "--max-mb", "2"}, 3},
        {{"kwright", "problems", "--problems", "resnet50", "--limit", "4"}, 4},
        {{"kwright", "problems", "--problems", "demo", "--part", "train", "--test-share", "1"}, 0},
        {{"kwright", "problems", "--problems", "demo", "--part", "test", "--test-share", "1"}, 99},
    };
    outcome *result = malloc(sizeof *result), *again = malloc(sizeof *again);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run(result, cases[i].words, NULL);
        if (result->code || lines(result->out) != cases[i].count) {
            fail_msg("case %zu: exit %d, %zu lines: %s", i, result->code, lines(result->out), result->err);
        }
        run(again, cases[i].words, NULL);
        assert_string_equal(again->out, result->out);
    }
    run(result, WORDS("problems", "--problems", "demo", "--part", "test"), NULL);
    run(again, WORDS("problems", "--problems", "demo", "--part", "train"), NULL);
    assert_int_equal(lines(result->out) + lines(again->out), 99);
    assert_true(lines(result->out) > 5 && lines(again->out) > 50);
    free(result);
    free(again);
}

static void logs_become_sets_with_their_counts(void **state) {
    (void)state;
    static const char log[] = "started\n"
                              "tuning 'conv_fwd fp32 n1 c8 k16 i9x9 f3 p1'\n"
                              "a*3: conv_fwd fp32 n1 c8 k16 i9x9 f3 p1\n"
                              "./bin/MIOpenDriver conv -n 1 -c 8 -H 9 -W 9 -k 16 -y 3 -x 3 -p 1 -q 1 -F 2\n"
                              "--dir=BWD_W\nmb1ic8ih9oc16oh9kh3ph1\n"
                              "ended, exit 0\n";
    char path[256];
    outcome *result = malloc(sizeof *result), *again = malloc(sizeof *again);
    snprintf(path, sizeof path, "%s/my run.log", folder);
    assert_int_equal(kw_file_replace(path, log, strlen(log), 0600, NULL), KW_OK);
    run(result, WORDS("problems", "extract", path), NULL);
    assert_int_equal(result->code, 0);
    assert_int_equal(lines(result->out), 3);
    assert_int_equal(strncmp(result->out, "my_run_0000*4: conv_fwd fp32 nhwgc n1 g1 c8 k16 i9x9 f3x3", 56), 0);
    assert_non_null(strstr(result->out, "\nmy_run_0001: conv_bwd_data fp32 ngchw "));
    assert_non_null(strstr(result->out, "\nmy_run_0002: conv_bwd_weight fp32 nhwgc "));
    assert_non_null(strstr(result->err, "7 lines: 4 problems, 3 different, 3 kept; 2 lines skipped"));
    /* What it prints is a list, and extracting from that counts on. */
    snprintf(path, sizeof path, "%s/list", folder);
    assert_int_equal(kw_file_replace(path, result->out, strlen(result->out), 0600, NULL), KW_OK);
    run(again, WORDS("problems", "--problems", path), NULL);
    assert_string_equal(again->out, result->out);
    run(again, WORDS("problems", "extract", "-", path, "--quiet"), path);
    assert_int_equal(strncmp(again->out, "log_0000*8: ", 12), 0);
    assert_string_equal(again->err, "");
    run(again, WORDS("problems", "extract", path, "--sample", "1"), NULL);
    assert_int_equal(lines(again->out), 1);
    free(result);
    free(again);
}

static void lists_that_share_a_problem_are_refused(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("problems", "overlap", "forward_2d", "validation_holdout"), NULL);
    assert_int_equal(result->code, 1);
    assert_int_equal(lines(result->err), 1);
    assert_non_null(strstr(result->err, "share 248 different problems"));
    run(result, WORDS("problems", "overlap", "forward_2d", "bwd_data_2d"), NULL);
    assert_int_equal(result->code, 0);
    run(result, WORDS("problems", "overlap", "--dir", "conv_fwd", "forward_2d", "bwd_data_2d"), NULL);
    assert_int_equal(result->code, 1);
    free(result);
}

static void a_problem_runs_without_compiler_cache_or_wisdom(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("run", "--check", "--cc", "", "--cache-dir", "", "--wisdom", "", "conv_fwd fp32 n1 c5 k7 i9x11 f3x3 p1"), NULL);
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->out, "conv.reference"));
    assert_non_null(strstr(result->out, "verified"));
    free(result);
}

/* --- words that others use, and words in odd places --- */

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

static void building_stops_at_its_limit(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("build", "--set", "default", "--filter", "c.family == 'gemm.tiled'", "--limit", "2", "--json", "--quiet"), NULL);
    if (result->code == 0) {
        json_t *json = json_loads(result->out, 0, NULL);
        assert_non_null(json);
        assert_int_equal(json_integer_value(json_object_get(json, "built")) + json_integer_value(json_object_get(json, "cached")), 2);
        json_decref(json);
    }
    free(result);
}

/* --- prediction --------------------------------------------------------------------------------------------------------- */

#define SERVED "gemm fp32 rcr m128 n256 k256"
#define SERVED_TEXT "gemm fp32 rcr b1 m128 n256 k256\n"

/* A model that thinks the opposite of the estimate, by so much that half of it decides: what is estimated to be fast takes a millisecond. */
static const char *save_contrary_model(void) {
    static const char *const targets[] = {"cpu:none model=x units=1 lanes=1 registers=1 l1=1 l2=1 l3=1", NULL};
    static const char *const served[] = {"gemm fp32", NULL}, *const families[] = {NULL};
    static const stump trees[] = {{"tile_m", 4.5, 13.8, 9.2, false}, {NULL, 0, 0, 0, false}};
    static char path[64];
    snprintf(path, sizeof path, "%s/contrary", folder);
    stumps_save(&(stumps){"time", targets, served, families, trees}, path);
    return path;
}

/* The config in a row of predict: what follows its four columns. */
static const char *config_of(const char *out, int row) {
    static char config[KW_CONFIG_TEXT_MAX];
    for (int i = 0; i < row; i++) {
        out = strchr(out, '\n');
        assert_non_null(out);
        out++;
    }
    const char *at = strstr(out, "gemm.");
    assert_true(at && at < out + strcspn(out, "\n"));
    snprintf(config, sizeof config, "%.*s", (int)strcspn(at, "\n"), at);
    return config;
}

static void predict_lists_by_rank_and_select_prints_the_first(void **state) {
    static const char by_estimate[] = SERVED_TEXT "by the analytic estimate: no model serves it\n"
                                                  " rank  predicted   estimate   measured\n    1          - ";
    static const char by_model[] =
        SERVED_TEXT "by model contrary, trained on another architecture\n"
                    "  model contrary was trained on another architecture of this kind: half of what it says against the estimate counts\n"
                    " rank  predicted   estimate   measured\n    1 ";
    static const char as_json[] = "{\"schema\": 1, \"problem\": \"gemm fp32 rcr b1 m128 n256 k256\", \"target\": \"cpu:";
    (void)state;
    outcome *result = malloc(sizeof *result);
    const char *model = save_contrary_model();
    run(result, WORDS("predict", "--threads", "1", "--model", "", SERVED), NULL);
    if (result->code == 1) { /* a processor without generated kernels */
        assert_non_null(strstr(result->err, "no kernel but the compiled-in one"));
        free(result);
        return;
    }
    assert_int_equal(result->code, 0);
    assert_int_equal(strncmp(result->out, by_estimate, sizeof by_estimate - 1), 0);
    run(result, WORDS("predict", "--threads", "1", "--model", model, "--limit", "3", SERVED), NULL);
    assert_int_equal(lines(result->out), 7);
    assert_int_equal(strncmp(result->out, by_model, sizeof by_model - 1), 0);
    char *first = strdup(config_of(result->out, 4));
    run(result, WORDS("select", "--threads", "1", "--model", model, "--wisdom", "", SERVED), NULL);
    assert_int_equal(result->code, 0);
    assert_int_equal(strncmp(result->out, first, strlen(first)), 0);
    assert_non_null(strstr(result->out, "\n  by model contrary ("));
    assert_null(strstr(result->out, "refused"));
    run(result, WORDS("select", "--json", "--threads", "1", "--model", "/nonexistent/m", "--wisdom", "", SERVED), NULL);
    assert_int_equal(result->code, 2);
    assert_non_null(strstr(result->err, "/nonexistent/m"));
    run(result, WORDS("select", "--json", "--threads", "1", "--model", "", "--wisdom", "", SERVED), NULL);
    assert_int_equal(lines(result->out), 1);
    assert_int_equal(strncmp(result->out, as_json, sizeof as_json - 1), 0);
    free(first);
    free(result);
}

/* Tuning leaves wisdom, a sweep leaves a store; both show up beside what is expected. */
static void measured_times_stand_beside_predicted_ones(void **state) {
    char store[64];
    (void)state;
    outcome *result = malloc(sizeof *result);
    snprintf(store, sizeof store, "%s/times.db", folder);
    run(result, WORDS("predict", "--threads", "1", "--model", "", "--limit", "1", SERVED), NULL);
    if (result->code == 1) {
        free(result);
        return;
    }
    char *config = strdup(config_of(result->out, 3));
    assert_non_null(strstr(result->out, "-  gemm."));
    run(result, WORDS("sweep", "--threads", "1", "--config", config, "--out", store, "--quiet", SERVED), NULL);
    assert_int_equal(result->code, 0);
    run(result, WORDS("predict", "--threads", "1", "--model", "", "--limit", "1", "--store", store, SERVED), NULL);
    assert_int_equal(result->code, 0);
    assert_null(strstr(result->out, "-  gemm."));
    run(result, WORDS("predict", "--threads", "1", "--model", "", "--limit", "1", "--json", "--store", store, SERVED), NULL);
    assert_non_null(strstr(result->out, "\"from\": \"store\""));
    assert_non_null(strstr(result->out, "\"predicted_ns\": null"));
    free(config);
    free(result);
}

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder)) {
        return -1;
    }
    char path[64];
    snprintf(path, sizeof path, "%s/cache", folder);
    setenv("KW_CACHE_DIR", path, 1);
    snprintf(path, sizeof path, "%s/data", folder);
    setenv("KW_DATA_DIR", path, 1);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* --- JSON --- */

static void what_is_printed_as_json_is_json_and_says_its_schema(void **state) {
    (void)state;
    static const char *const commands[][12] = {
        {"version"},
        {"show"},
        {"show", "conv.direct"},
        {"show", "--source", "--arch", "sm_90", "gemm.reference_gpu gemm fp16"},
        {"show", "--why-not", "gemm.reference_gpu gemm fp16", "--arch", "gfx942"},
        {"show", "gemm.reference gemm fp32", "--why-not", SERVED},
        {"explain", "--threads", "1", "--model", "", SERVED},
        {"doctor"},
        {"cache"},
        {"wisdom"},
        {"count", "--set", "tiny"},
        {"problems"},
        {"problems", SERVED},
        {"select", "--threads", "1", "--model", "", SERVED},
        {"run", "--threads", "1", "--mode", "predict", "--model", "", SERVED},
        {"run", "--check", "--threads", "1", "--mode", "predict", "--model", "", SERVED},
        {"check", "--config", "gemm.reference gemm fp32", SERVED},
        {"predict", "--threads", "1", "--model", "", SERVED},
        {"search", "--budget", "20", SERVED},
        {"build", "--set", "tiny", "--filter", "c.family == 'gemm.reference'"},
    };
    outcome *result = malloc(sizeof *result);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const char *words[14] = {"kwright"};
        size_t count = 1;
        for (; commands[i][count - 1]; count++) {
            words[count] = commands[i][count - 1];
        }
        words[count] = "--json";
        run(result, words, NULL);
        char *save = NULL;
        bool any = false;
        for (char *line = strtok_r(result->out, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
            json_t *json = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
            if (!json_is_object(json) || json_integer_value(json_object_get(json, "schema")) != 1) {
                fail_msg("%s: not JSON with a schema: %s", words[1], line);
            }
            json_decref(json);
            any = true;
        }
        if (!any) {
            fail_msg("%s --json: exit code %d: %s", words[1], result->code, result->err);
        }
    }
    free(result);
}

/* --- GPUs that are not here --- */

static void objects_are_built_without_a_device_and_come_from_the_cache_the_second_time(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    char objects[64], cache[64], catalog[96], text[4096];
    snprintf(objects, sizeof objects, "%s/objects", folder);
    snprintf(cache, sizeof cache, "%s/objects-cache", folder);
    snprintf(catalog, sizeof catalog, "%s/catalog.txt", objects);
    const char *filter = "c.family == 'gemm.reference_gpu' and (c.dtype == 'fp32' or c.dtype == 'bf16')";
    for (int round = 0; round < 2; round++) {
        run(result,
            WORDS("build", "--set", "tiny", "--arch", "gfx942", "--device", "emu", "--filter", filter, "--out", objects, "--cache-dir",
                  cache, "--json"),
            NULL);
        if (result->code ||
            !strstr(result->out, round ? "\"built\": 0, \"cached\": 2, \"failed\": 0" : "\"built\": 2, \"cached\": 0, \"failed\": 0")) {
            fail_msg("round %d: exit %d: %s%s", round, result->code, result->out, result->err);
        }
    }
    slurp(text, sizeof text, catalog);
    assert_int_equal(lines(text), 3);
    assert_non_null(strstr(text, "\ngemm.reference_gpu gemm fp32 # file=gemm.reference_gpu-gemm-fp32-"));
    run(result, WORDS("coverage", catalog, "--set", "tiny", "--arch", "gfx942"), NULL);
    assert_int_equal(result->code, 0);
    run(result, WORDS("coverage", catalog, "--set", "tiny"), NULL); /* the architecture of this machine */
    assert_int_equal(result->code, 1);
    run(result, WORDS("coverage", catalog, "--set", "tiny", "--arch", "x86-64-v3"), NULL);
    assert_int_equal(result->code, 1);
    assert_non_null(strstr(result->out, "missing: gemm.reference_gpu gemm fp32 (the set does not have it)"));
    run(result, WORDS("build", "--set", "tiny", "--out", objects), NULL);
    assert_int_equal(result->code, 2);
    assert_non_null(strstr(result->err, "--arch"));
    free(result);
}

static void the_rule_that_refuses_a_config_is_named(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("list", "--set", "tiny", "--arch", "gfx942", "--filter", "c.family == 'conv.igemm'", "--limit", "1"), NULL);
    assert_int_equal(result->code, 0);
    char config[1024];
    snprintf(config, sizeof config, "%.*s", (int)strcspn(result->out, "\n"), result->out);
    run(result, WORDS("show", "--why-not", config, "--arch", "gfx942"), NULL);
    assert_string_equal(result->out, "no rule refuses it on gfx942\n");
    run(result, WORDS("show", "--why-not", config, "--arch", "gfx1100"), NULL);
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->out, "refused: conv.igemm on gfx1100: rule arch_waves: "));
    run(result, WORDS("show", "--why-not", config, "--arch", "gfx9999"), NULL);
    assert_int_equal(result->code, 2);
    assert_non_null(strstr(result->err, "known: generic x86-64-v3"));
    run(result, WORDS("show", "--source", "--arch", "sm_90", "gemm.reference_gpu gemm fp16"), NULL);
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->out, "#define KW_SM 90"));
    assert_null(strstr(result->out, "prelude/gpu_emu.h"));
    run(result, WORDS("show", "--source", "--arch", "emu:sm_90", "gemm.reference_gpu gemm fp16"), NULL);
    assert_non_null(strstr(result->out, "prelude/gpu_emu.h"));
    free(result);
}

/* The yardstick of `tune` is a kernel of the device, not a CPU's. */
static void tuning_a_gpu_times_its_reference_kernel(void **state) {
    (void)state;
    outcome *result = malloc(sizeof *result);
    run(result, WORDS("tune", "--device", "emu:gfx942", "--shortlist", "1", "--json", "gemm fp16 rcr m32 n32 k32"), NULL);
    assert_int_equal(result->code, 0);
    const char *reference = strstr(result->out, "\"reference_ns\":");
    assert_non_null(reference);
    assert_true(strtod(reference + strlen("\"reference_ns\":"), NULL) > 0);
    free(result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_requests_get_one_line_and_exit_2),
        cmocka_unit_test(a_line_of_ten_megabytes_is_refused),
        cmocka_unit_test(help_covers_every_verb_and_fits_a_screen),
        cmocka_unit_test(the_last_line_of_count_is_the_number_of_lines_of_list),
        cmocka_unit_test(a_trait_file_narrows_every_way_of_listing_alike),
        cmocka_unit_test(a_config_with_gaps_is_all_kernels_that_it_stands_for),
        cmocka_unit_test(a_config_with_the_words_of_a_problem_is_for_such_problems),
        cmocka_unit_test(a_trait_file_for_one_type_and_two_axes_means_the_problems_so),
        cmocka_unit_test(problems_print_canonically),
        cmocka_unit_test(what_problems_prints_is_a_problem_list),
        cmocka_unit_test(every_set_is_listed_with_its_counts),
        cmocka_unit_test(options_choose_from_a_list),
        cmocka_unit_test(logs_become_sets_with_their_counts),
        cmocka_unit_test(lists_that_share_a_problem_are_refused),
        cmocka_unit_test(a_problem_runs_without_compiler_cache_or_wisdom),
        cmocka_unit_test(problems_are_read_in_other_words_and_without_quotes),
        cmocka_unit_test(help_is_given_wherever_it_is_asked_for),
        cmocka_unit_test(building_stops_at_its_limit),
        cmocka_unit_test(predict_lists_by_rank_and_select_prints_the_first),
        cmocka_unit_test(measured_times_stand_beside_predicted_ones),
        cmocka_unit_test(what_is_printed_as_json_is_json_and_says_its_schema),
        cmocka_unit_test(objects_are_built_without_a_device_and_come_from_the_cache_the_second_time),
        cmocka_unit_test(the_rule_that_refuses_a_config_is_named),
        cmocka_unit_test(tuning_a_gpu_times_its_reference_kernel),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
