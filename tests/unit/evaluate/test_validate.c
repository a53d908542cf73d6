/* test_validate.c: what is measured again, on this machine, with kernels that take microseconds. */
#include "support/kw_test.h"
#include "support/scratch.h"

#include <kernelwright_tune.h>

#include <math.h>

/* Both run on any machine. */
static const char *const kernels[] = {"conv.reference conv_fwd fp32", "conv.reference conv_fwd bf16"};
static const char *const lines[] = {"conv_fwd fp32 n1 c4 k4 i6x6 f3 p1", "conv_fwd fp32 n1 c8 k4 i5x5 f1",
                                    "conv_fwd bf16 n1 c4 k4 i6x6 f3 p1"};
enum { PROBLEMS = sizeof lines / sizeof *lines };

static char folder[SCRATCH_MAX], store[2 * SCRATCH_MAX];

static int set_up(void **state) {
    (void)state;
    kw_problem problems[PROBLEMS];
    kw_sweep_report report;
    kw_error err = {0};
    scratch_make(folder);
    scratch_path(store, folder, "old.db");
    for (size_t i = 0; i < PROBLEMS; i++) {
        assert_ok(kw_problem_parse(&problems[i], lines[i], &err), &err);
    }
    kw_sweep_options options = {.size = sizeof(kw_sweep_options),
                                .configs = kernels,
                                .config_count = 2,
                                .problems = problems,
                                .problem_count = PROBLEMS,
                                .out = store,
                                .workers.program = KW_KWRIGHT,
                                .timing.batches = 5,
                                .build.cache_dir = ""};
    assert_ok(kw_sweep(&options, &report, &err), &err);
    return report.outcome[KW_GOOD] == PROBLEMS ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

static kw_evaluation *evaluate(const char *path) {
    const char *const paths[] = {path};
    kw_evaluation_options options = {.size = sizeof(kw_evaluation_options), .stores = paths, .store_count = 1};
    kw_evaluation *e = NULL;
    kw_error err = {0};
    assert_ok(kw_evaluation_open(&e, &options, &err), &err);
    return e;
}

static void picks_and_best_kernels_are_measured_again(void **state) {
    (void)state;
    char out[2 * SCRATCH_MAX];
    kw_evaluation *e = evaluate(store);
    kw_validate_options options = {.size = sizeof(kw_validate_options),
                                   .workers.program = KW_KWRIGHT,
                                   .batches = 5,
                                   .build.cache_dir = "",
                                   .out = scratch_path(out, folder, "new.db")};
    kw_validate_report r;
    kw_error err = {0};
    assert_ok(kw_validate(e, &options, &r, &err), &err);
    assert_int_equal(r.problem_groups, PROBLEMS);
    assert_int_equal(r.failed, 0);
    /* Each problem has one kernel, which is the selection and the best. */
    assert_true(r.old_efficiency.value == 1 && r.new_efficiency.value == 1 && r.new_p10 == 1);
    assert_true(r.worst_loss == 0 && !*r.worst);
    assert_true(r.drift > 0.01 && r.drift < 100);
    kw_evaluation *again = evaluate(out);
    assert_int_equal(kw_evaluation_all(again)->problem_groups, PROBLEMS);
    kw_evaluation_close(&again);
    assert_int_equal(kw_validate(e, &options, &r, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "there already"));
    char longest[4097]; /* by one character */
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    options.out = longest;
    assert_int_equal(kw_validate(e, &options, &r, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "longer than 4095 characters"));
    options.out = NULL;
    options.limit = 1;
    setenv("TMPDIR", folder, 1);
    assert_ok(kw_validate(e, &options, &r, &err), &err);
    assert_int_equal(r.problem_groups, 1);
    assert_int_equal(scratch_count(folder, "kwright-validate"), 0);
    setenv("TMPDIR", "/no/such", 1);
    assert_int_equal(kw_validate(e, &options, &r, &err), KW_IO);
    unsetenv("TMPDIR");
    kw_evaluation_close(&e);
}

/* The rows as if they were another machine's. */
static void move_rows(char path[2 * SCRATCH_MAX]) {
    char lines_path[2 * SCRATCH_MAX];
    kw_store *from = NULL;
    kw_error err = {0};
    size_t size;
    assert_ok(kw_store_open(&from, store, KW_STORE_READ, &err), &err);
    assert_ok(kw_store_export(from, NULL, "csv", scratch_path(lines_path, folder, "rows.csv"), NULL, &err), &err);
    kw_store_close(&from);
    char *text = scratch_read(lines_path, &size), *at = text;
    text = realloc(text, size + 1);
    assert_non_null(text);
    text[size] = 0;
    for (at = text; (at = strstr(at, " l1=")); at += 4) {
        at[4] = at[4] == '7' ? '8' : '7'; /* another cache size, as long as before */
    }
    scratch_write(scratch_path(path, folder, "moved.csv"), text, size, 0644);
    free(text);
}

static void rows_of_another_machine_cannot_be_validated(void **state) {
    (void)state;
    char path[2 * SCRATCH_MAX];
    kw_validate_report r;
    kw_error err = {0};
    move_rows(path);
    kw_evaluation *e = evaluate(path);
    assert_int_equal(kw_validate(e, &(kw_validate_options){.size = sizeof(kw_validate_options), .workers.program = KW_KWRIGHT}, &r, &err),
                     KW_FAILED);
    assert_non_null(strstr(err.text, "on this machine"));
    assert_int_equal(kw_validate(NULL, NULL, &r, &err), KW_ILLEGAL);
    kw_evaluation_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(picks_and_best_kernels_are_measured_again),
        cmocka_unit_test(rows_of_another_machine_cannot_be_validated),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
