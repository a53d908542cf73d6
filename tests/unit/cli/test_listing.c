/* test_listing.c: lists of kernels, sets and problems: canonical words, counts that agree, choices among them. */

#include "base/os/file.h"
#include "cli_outcome.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
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
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
