/* test_cli_sweep.c: the verb sweep from the outside: what it refuses, what it prints where, and its exit codes. Only the kernel that is
 * compiled in is swept, so no compiler is needed. */

#include "base/os/process/process.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <unistd.h>

enum { WORDS_MAX = 40 };

typedef struct fixture {
    char folder[SCRATCH_MAX], out[2 * SCRATCH_MAX];
    kw_text printed; /* standard output and standard error as they came */
} fixture;

static int open_fixture(void **state) {
    fixture *f = calloc(1, sizeof *f);
    char cache[2 * SCRATCH_MAX];
    assert_non_null(f);
    scratch_make(f->folder);
    scratch_path(f->out, f->folder, "results.db");
    setenv("KW_CACHE_DIR", scratch_path(cache, f->folder, "cache"), 1);
    *state = f;
    return 0;
}

static int close_fixture(void **state) {
    fixture *f = *state;
    kw_text_drop(&f->printed);
    unsetenv("KW_CACHE_DIR");
    scratch_remove(f->folder);
    free(f);
    return 0;
}

#define GENERIC "--filter", "c.family == 'conv.reference'"
#define PROBLEM "conv_fwd fp32 n1 c4 k4 i5x5 f3x3 p1x1"

/* Runs kwright sweep with these words behind it; returns its exit code. */
static int run(fixture *f, const char *const words[]) {
    const char *argv[WORDS_MAX] = {KW_KWRIGHT, "sweep"};
    kw_process_result result;
    size_t used = 2;
    for (size_t i = 0; words[i] && used < WORDS_MAX - 1; i++) {
        argv[used++] = words[i];
    }
    kw_text_drop(&f->printed);
    assert_int_equal(kw_process_run(argv, 60000000000, &f->printed, &result, NULL), KW_OK);
    return result.exit_code;
}

#define RUN(f, ...) run(f, (const char *const[]){__VA_ARGS__, NULL})

static void expect_words(const fixture *f, const char *words) {
    if (!strstr(kw_text_string(&f->printed), words)) {
        fail_msg("'%s' is not in: %s", words, kw_text_string(&f->printed));
    }
}

static void requests_without_sense_are_refused_in_one_line(void **state) {
    fixture *f = *state;
    static const struct {
        const char *words[8], *named;
    } cases[] = {
        {{"--problems", "resnet50"}, "--out"},
        {{"--out", "x.db"}, "--problems"},
        {{PROBLEM, "--op", "conv_forward", "--out", "x.db"}, "conv_forward"},
        {{PROBLEM, "--op", "gemm", "--out", "x.db"}, "--op gemm"},
        {{PROBLEM, "--dtype", "fp32", "--kernel-timeout", "0", "--out", "x.db"}, "kernel-timeout"},
        {{PROBLEM, "--batch", "0", "--out", "x.db"}, "--batch"},
        {{PROBLEM, "--shard", "3/2", "--out", "x.db"}, "3/2"},
        {{PROBLEM, "--filter", "c.op == 'gemm'", "--out", "x.db"}, "kernels"},
        {{"--pairs", "x.manifest", "--problems", "resnet50", "--out", "x.db"}, "--pairs"},
        {{"--pairs", "/nonexistent", "--out", "x.db"}, "/nonexistent"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int code = run(f, cases[i].words);
        if (code != 2 && !(code == 3 && strstr(cases[i].named, "/nonexistent"))) {
            fail_msg("case %zu: exit code %d: %s", i, code, kw_text_string(&f->printed));
        }
        expect_words(f, cases[i].named);
        expect_words(f, "kwright: ");
        assert_int_equal(access("x.db", F_OK), -1);
    }
}

static void looking_first_writes_nothing(void **state) {
    fixture *f = *state;
    assert_int_equal(RUN(f, PROBLEM, PROBLEM, GENERIC, "--count-only", "--json", "--out", f->out), 0);
    expect_words(f, "{\"schema\": 1, \"kernels\": 1, \"problems\": 1, \"pairs\": 1, \"skipped\": 0, \"unfit\": 0, \"left\": 1");
    assert_int_equal(RUN(f, PROBLEM, GENERIC, "--list"), 0);
    assert_string_equal(kw_text_string(&f->printed), "conv.reference conv_fwd fp32\n");
    assert_int_equal(access(f->out, F_OK), -1);
}

static void a_sweep_tells_progress_and_result_and_is_not_done_twice(void **state) {
    fixture *f = *state;
    assert_int_equal(RUN(f, PROBLEM, GENERIC, "--verify-only", "--json", "--out", f->out), 0);
    expect_words(f, "{\"schema\": 1, \"phase\": \"measure\", \"done\": 1, \"total\": 1, \"skipped\": 0, \"failed\": 0");
    expect_words(f, "{\"schema\": 1, \"phase\": \"end\", \"rows\": 1, \"skipped\": 0, \"left\": 0, \"stopped\": false");
    expect_words(f, "\"good\": 1");
    assert_int_equal(RUN(f, PROBLEM, GENERIC, "--verify-only", "--quiet", "--out", f->out), 0);
    expect_words(f, "1  had a row already\n");
    expect_words(f, "kwright report ");
    assert_null(strstr(kw_text_string(&f->printed), "phase"));
}

static void overwriting_wants_to_be_asked(void **state) {
    fixture *f = *state;
    assert_int_equal(RUN(f, PROBLEM, GENERIC, "--verify-only", "--overwrite", "--out", f->out), 0); /* nothing to drop */
    assert_int_equal(RUN(f, PROBLEM, GENERIC, "--verify-only", "--overwrite", "--out", f->out), 2);
    expect_words(f, "the rows of 1 pairs; add --yes");
    assert_int_equal(RUN(f, PROBLEM, GENERIC, "--verify-only", "--overwrite", "--yes", "--json", "--quiet", "--out", f->out), 0);
    expect_words(f, "\"skipped\": 0, \"good\": 1");
}

static void what_is_wrong_is_told_by_the_exit_code(void **state) {
    fixture *f = *state;
    setenv("KW_WORKER", "/nonexistent/worker", 1);
    int code = RUN(f, PROBLEM, GENERIC, "--verify-only", "--out", f->out);
    unsetenv("KW_WORKER");
    assert_int_equal(code, 3);
    expect_words(f, "/nonexistent/worker");
    assert_int_equal(RUN(f, PROBLEM, GENERIC, "--verify-only", "--out", "/nonexistent/folder/results.db"), 2);
    expect_words(f, "/nonexistent/folder");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(requests_without_sense_are_refused_in_one_line, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(looking_first_writes_nothing, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(a_sweep_tells_progress_and_result_and_is_not_done_twice, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(overwriting_wants_to_be_asked, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_told_by_the_exit_code, open_fixture, close_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
