/* test_verbs.c: evaluate, compare, quality, prune, search and validate as a user calls them: exit codes, what stands on which stream,
 * JSON. */
#include "support/rows/made_rows.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <jansson.h>
#include <sys/wait.h>

enum { PROBLEMS = 40, OUTPUT_MAX = 1 << 22 };

static char folder[SCRATCH_MAX], store[2 * SCRATCH_MAX];

static int set_up(void **state) {
    (void)state;
    made_rows made;
    scratch_make(folder);
    scratch_path(store, folder, "all.db");
    made_rows_make(&made, PROBLEMS);
    made_rows_save(&made, store, 0, 1);
    made_rows_free(&made);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

/* Runs "kwright WORDS" where @ stands for the store and % for the folder; output gets standard output, or with both the other stream as
 * well. Returns the exit code. */
static int run(char *output, const char *words, bool both) {
    char command[8 * SCRATCH_MAX];
    size_t used = (size_t)snprintf(command, sizeof command, "'%s' ", KW_KWRIGHT);
    for (; *words; words++) {
        const char *put = *words == '@' ? store : *words == '%' ? folder : (const char[]){*words, 0};
        used += (size_t)snprintf(command + used, sizeof command - used, "%s", put);
    }
    snprintf(command + used, sizeof command - used, " %s", both ? "2>&1" : "2>/dev/null");
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    output[fread(output, 1, OUTPUT_MAX - 1, pipe)] = 0;
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void bad_requests_get_one_line_and_their_exit_code(void **state) {
    (void)state;
    static const struct {
        const char *words;
        int code;
        const char *names;
    } cases[] = {
        {"evaluate", 2, "STORE"},
        {"evaluate /no/such.db", 2, "/no/such.db"},
        {"evaluate @ --selector luck", 2, "luck"},
        {"evaluate @ --selector random --model x", 2, "one of them"},
        {"evaluate @ --op conv_up", 2, "conv_up"},
        {"evaluate @ --dtype fp33", 2, "fp33"},
        {"evaluate @ --left-out colour", 2, "colour"},
        {"evaluate @ --oof /no/oof.csv.gz", 2, "/no/oof.csv.gz"},
        {"evaluate @ --holdout no-such-list", 2, "no-such-list"},
        {"evaluate @ --dtype int8", 1, "no problem group"},
        {"evaluate @ --out /no/such/folder.csv", 2, "/no/such/folder.csv"},
        {"compare estimate --stores @", 2, "A B"},
        {"compare estimate random", 2, "--stores"},
        {"quality random estimate --stores /no/such.db", 2, "/no/such.db"},
        {"prune @ --keep 2", 2, "--keep 2"},
        {"prune @ --keep much", 2, "much"},
        {"prune @ --worst -1", 2, "--worst -1"},
        {"prune @ --dtype int8", 1, "no good"},
        {"search", 2, "PROBLEM"},
        {"search 'gemm fp32 m0 n1 k1'", 2, "m0"},
        {"search 'gemm fp32 m8 n8 k8' --method luck", 2, "luck"},
        {"search 'gemm fp32 m8 n8 k8' --budget 0", 2, "--budget 0"},
        {"search 'gemm fp32 m8 n8 k8' --model /no/model", 2, "/no/model"},
        {"validate @ --limit 0", 2, "--limit 0"},
        {"validate @ --selector estimate", 1, "on this machine"},
        {"sweep --regret 0.1 --problems demo", 2, "--regret is for --where-model-errs"},
        {"sweep --where-model-errs estimate --stores @ --pairs x", 2, "leave --pairs away"},
        {"sweep --where-model-errs estimate --stores @ --regret 2", 2, "--regret 2"},
        {"sweep --where-model-errs estimate --stores @ --budget 5y", 2, "--budget 5y"},
        {"sweep --where-model-errs estimate --stores /no/such.db", 2, "/no/such.db"},
        {"sweep --where-model-errs /no/model --stores @", 2, "/no/model"},
        {"sweep --where-model-errs estimate --stores @", 1, "no row is of"},
        {"sweep --where-model-errs estimate --problems demo", 2, "needs a place"},
    };
    char *output = malloc(OUTPUT_MAX);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = run(output, cases[i].words, true);
        if (code != cases[i].code || !strstr(output, cases[i].names) || strncmp(output, "kwright: ", 9) != 0 ||
            strchr(output, '\n') != output + strlen(output) - 1) {
            fail_msg("%s: exit code %d, \"%s\"", cases[i].words, code, output);
        }
    }
    free(output);
}

static json_t *run_json(const char *words, int wanted) {
    char *output = malloc(OUTPUT_MAX);
    json_error_t why;
    int code = run(output, words, false);
    json_t *root = json_loads(output, JSON_REJECT_DUPLICATES, &why);
    if (code != wanted || json_integer_value(json_object_get(root, "schema")) != 1) {
        fail_msg("%s: exit code %d, \"%.300s\"", words, code, output);
    }
    free(output);
    return root;
}

static double number_at(json_t *root, const char *name, size_t index) {
    return json_number_value(json_array_get(json_object_get(root, name), index));
}

static void quality_is_an_exit_code(void **state) {
    (void)state;
    json_t *worse = run_json("quality random estimate --stores @ --json", 1);
    json_t *same = run_json("quality estimate estimate --stores @ --json", 0);
    assert_true(json_is_false(json_object_get(worse, "accepted")));
    assert_int_equal(strncmp(json_string_value(json_object_get(worse, "violation")), "mean efficiency", 15), 0);
    assert_true(json_is_true(json_object_get(same, "accepted")));
    assert_string_equal(json_string_value(json_object_get(same, "violation")), "");
    assert_true(number_at(worse, "mean_delta", 0) < 0);
    json_decref(worse);
    json_decref(same);
    char *output = malloc(OUTPUT_MAX);
    assert_int_equal(run(output, "quality random estimate --stores @", false), 1);
    assert_non_null(strstr(output, "\nrefused\n"));
    assert_int_equal(run(output, "quality estimate estimate --stores @", false), 0);
    assert_non_null(strstr(output, "\naccepted: "));
    free(output);
}

static void evaluate_compare_and_prune_speak_json_and_text(void **state) {
    (void)state;
    json_t *evaluation = run_json("evaluate @ --selector single --json --out %/selections.csv.gz", 0);
    json_t *comparison = run_json("compare estimate single --stores @,@ --op conv_fwd --json", 0);
    json_t *pruning = run_json("prune @ --json --out %/kernels.txt", 0);
    assert_true(number_at(json_object_get(evaluation, "all"), "coverage", 0) > 0);
    assert_int_equal(scratch_count(folder, "selections.csv.gz"), 1);
    assert_true(json_integer_value(json_object_get(comparison, "problem_groups")) > 0);
    assert_true(json_integer_value(json_object_get(pruning, "chosen")) > 0);
    json_decref(evaluation);
    json_decref(comparison);
    json_decref(pruning);
    static const struct {
        const char *words, *has;
    } cases[] = {
        {"evaluate @", "mean"},
        {"compare estimate random --stores @", "B loses most"},
        {"prune @ --keep 1", "of the best with"},
        {"evaluate @ --kernels %/kernels.txt", "mean"},
    };
    char *output = malloc(OUTPUT_MAX);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = run(output, cases[i].words, false);
        if (code || !strstr(output, cases[i].has)) {
            fail_msg("%s: exit code %d, \"%.300s\"", cases[i].words, code, output);
        }
    }
    free(output);
}

static void search_prints_kernels_that_list_knows(void **state) {
    (void)state;
    static const char target[] = "--target 'cpu:x86-64-v4-bf16 model=x units=1 lanes=16 registers=32 l1=32768 l2=1048576 l3=33554432'";
    char words[512], *output = malloc(OUTPUT_MAX);
    snprintf(words, sizeof words, "search 'conv_fwd fp32 n1 c64 k64 i28x28 f3 p1' --top 3 %s", target);
    assert_int_equal(run(output, words, false), 0);
    size_t lines = 0;
    for (char *line = strtok(output, "\n"); line; line = strtok(NULL, "\n")) {
        assert_non_null(strstr(line, " conv."));
        lines++;
    }
    assert_int_equal(lines, 3);
    free(output);
    snprintf(words, sizeof words, "search 'conv_fwd fp32 n1 c64 k64 i28x28 f3 p1' --method all --json %s", target);
    json_t *root = run_json(words, 0);
    assert_int_equal(json_array_size(json_object_get(root, "results")), 10);
    assert_true(json_integer_value(json_object_get(root, "evaluated")) >= 10);
    json_decref(root);
}

static void a_sweep_by_errors_tells_what_it_would_measure(void **state) {
    (void)state;
    static const char words[] = "sweep --where-model-errs estimate --problems demo --dtype fp32 --limit 5 --set tiny --count-only";
    char line[512], *output = malloc(OUTPUT_MAX);
    snprintf(line, sizeof line, "%s --json --next %%/next.manifest", words);
    json_t *root = run_json(line, 0);
    assert_true(json_is_false(json_object_get(root, "met")));
    assert_int_equal(json_integer_value(json_object_get(root, "proposed_problems")), 5);
    assert_true(json_array_size(json_object_get(root, "families")) > 5);
    json_decref(root);
    assert_int_equal(scratch_count(folder, "next.manifest"), 1);
    assert_int_equal(run(output, words, false), 0);
    assert_non_null(strstr(output, "5 of them from the lists"));
    assert_non_null(strstr(output, "not known yet"));
    free(output);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_requests_get_one_line_and_their_exit_code),  cmocka_unit_test(quality_is_an_exit_code),
        cmocka_unit_test(evaluate_compare_and_prune_speak_json_and_text), cmocka_unit_test(search_prints_kernels_that_list_knows),
        cmocka_unit_test(a_sweep_by_errors_tells_what_it_would_measure),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
