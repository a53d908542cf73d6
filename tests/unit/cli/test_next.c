/* test_next.c: the commands that verbs print to go on with are pasted into a shell, and answer for the target that they were printed for. */
#include "support/kw_test.h"
#include "support/shell.h"

#include <jansson.h>

#define GEMM "'gemm fp32 rcr m32 n32 k64'"

/* The member "target" of the first line of JSON. */
static void read_target(char target[512], const char *text) {
    json_t *json = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
    const char *value = json_string_value(json_object_get(json, "target"));
    snprintf(target, 512, "%s", value ? value : "");
    json_decref(json);
}

/* Runs what was printed for a verb that says its target as JSON; it must be the one of `explain` under the options that were in force. */
static void assert_same_target(const char *command, const char *options) {
    char line[9000], wanted[512], got[512];
    shell_answer *a = malloc(sizeof *a);
    snprintf(line, sizeof line, "kwright explain --json %s " GEMM, options);
    shell_run(a, line);
    read_target(wanted, a->text);
    snprintf(line, sizeof line, "%s --json", command);
    shell_run(a, line);
    read_target(got, a->text);
    if (!*wanted || strcmp(got, wanted)) {
        fail_msg("%s: answers for '%s' instead of '%s': %s", command, got, wanted, a->text);
    }
    free(a);
}

static void what_tune_prints_explains_the_same_tuning(void **state) {
    (void)state;
    static const char *const options[] = {
        "--threads 1",
        "--threads 2 --wisdom 'my wisdom'",
        "--device emu:gfx942",
        "--threads 1 --fresh-weights --model ''",
        "--threads 1 --cc cc --cache-dir 'my cache'",
    };
    shell_answer *a = malloc(sizeof *a), *b = malloc(sizeof *b);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char line[2048], command[8192];
        const char *at;
        size_t commands = 0;
        snprintf(line, sizeof line, "kwright tune --quiet --remeasure --shortlist 2 %s " GEMM, options[i]);
        shell_run(a, line);
        assert_int_equal(a->code, 0);
        for (at = a->text; shell_next_command(&at, command); commands++) {
            shell_run(b, command);
            if (b->code || !strstr(b->text, "from wisdom")) {
                fail_msg("%s: exit %d: %s", command, b->code, b->text);
            }
            assert_same_target(command, options[i]);
        }
        if (!commands && !strstr(a->text, "nothing was measured")) { /* a kernel that is compiled in is not tuned */
            fail_msg("tune %s printed no command: %s", options[i], a->text);
        }
    }
    shell_run(
        a,
        "kwright tune --remeasure --shortlist 2 --threads 1 --filter \"c.family == 'gemm.tiled' and c.tile_m == 8\" --wisdom other " GEMM);
    if (a->code == 0) {                                             /* a processor with generated kernels */
        assert_non_null(strstr(a->text, "the winner is not kept")); /* so no command can say why it was chosen */
    }
    assert_null(strstr(a->text, "the winners are in"));
    free(a);
    free(b);
}

/* --- stores --- */

static void what_sweep_and_report_print_measures_where_the_store_did(void **state) {
    (void)state;
    static const char *const targets[] = {"--threads 2", "--device emu:gfx942"};
    shell_answer *a = malloc(sizeof *a), *b = malloc(sizeof *b);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        char line[1024], command[8192], *exhaustive;
        const char *at;
        size_t commands = 0;
        const char *config = i ? "gemm.reference_gpu gemm fp32" : "gemm.reference gemm fp32";
        snprintf(line, sizeof line, "kwright sweep --quiet %s --config '%s' --out 'a store %zu.db' " GEMM, targets[i], config, i);
        shell_run(a, line);
        assert_int_equal(a->code, 0);
        at = a->text;
        assert_true(shell_next_command(&at, command));
        shell_run(a, command); /* kwright report 'a store' */
        assert_int_equal(a->code, 0);
        for (at = a->text; shell_next_command(&at, command); commands++) {
            /* Of a whole set it would take minutes; the target is what counts here. */
            if ((exhaustive = strstr(command, "--exhaustive --set full"))) {
                memcpy(exhaustive, "--shortlist 1          ", strlen("--exhaustive --set full"));
            }
            assert_same_target(command, targets[i]);
        }
        if (!commands && !strstr(a->text, "no good kernel") && strstr(a->text, "worst")) {
            fail_msg("report printed no command: %s", a->text);
        }
    }
    free(a);
    free(b);
}

static void what_merge_prints_measures_the_holes(void **state) {
    (void)state;
    shell_answer *a = malloc(sizeof *a);
    char command[8192];
    const char *at;
    shell_run(a, "printf '%s\\n%s\\n' 'gemm fp32 m8 n8 k8' 'gemm fp32 m9 n8 k8' >list && "
                 "kwright sweep --quiet --threads 2 --config 'gemm.reference gemm fp32' --problems list --shard 1/2 --out 'some rows.db'");
    assert_int_equal(a->code, 0);
    at = a->text;
    assert_true(shell_next_command(&at, command)); /* merge --out ... *.jsonl */
    shell_run(a, command);
    if (a->code == 0) { /* both problems are of shard 1 */
        free(a);
        return;
    }
    assert_int_equal(a->code, 1);
    at = a->text;
    assert_true(shell_next_command(&at, command)); /* merge --next holes.manifest */
    shell_run(a, command);
    assert_int_equal(a->code, 1);
    at = a->text;
    assert_true(shell_next_command(&at, command)); /* sweep --pairs holes.manifest --threads 2 */
    assert_non_null(strstr(command, "--threads 2"));
    shell_run(a, command);
    assert_int_equal(a->code, 0);
    shell_run(a, "kwright merge --quiet --out 'some rows.db'");
    if (a->code) {
        fail_msg("holes are left: %s", a->text);
    }
    free(a);
}

/* --- gates --- */

static void a_store_that_is_slower_than_its_baseline_fails_the_gate(void **state) {
    (void)state;
    shell_answer *a = malloc(sizeof *a);
    shell_run(a, "kwright sweep --quiet --threads 1 --config 'gemm.reference gemm fp32' --out base.db 'gemm fp32 m64 n64 k64' && "
                 "kwright diff base.db base.db");
    assert_int_equal(a->code, 0);
    assert_non_null(strstr(a->text, "\nSAME "));
    assert_non_null(strstr(a->text, "1 same, 0 fast, 0 slow, 0 lost; 0 are not"));
    assert_non_null(strstr(a->text, "+0.0 %"));
    shell_run(a, "kwright diff base.db gone.db");
    assert_int_equal(a->code, 2);
    assert_null(strstr(a->text, "baseline  "));
    /* The same rows with ten times the time, made by way of CSV. */
    shell_run(a, "kwright db export base.db --out base.csv --quiet && "
                 "awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^(time|median|least|half0|half1)_ns$/) c[i] = 1 } "
                 "NR > 1 { for (i in c) $i *= 10; } 1' base.csv >slow.csv && kwright db import slow.db slow.csv");
    assert_int_equal(a->code, 0);
    shell_run(a, "kwright diff slow.db base.db");
    assert_int_equal(a->code, 1);
    assert_non_null(strstr(a->text, "\nSLOW "));
    shell_run(a, "kwright diff base.db slow.db --json");
    assert_int_equal(a->code, 0);
    assert_non_null(strstr(a->text, "\"verdict\": \"FAST\""));
    shell_run(a, "kwright diff slow.db base.db --slack 9.9");
    assert_int_equal(a->code, 0);
    shell_run(a, "kwright report slow.db --json --baseline base.db");
    assert_non_null(strstr(a->text, "\"verdict\": \"SLOW\""));
    shell_run(a, "kwright sweep --quiet --threads 1 --config 'gemm.reference gemm fp32' --out other.db 'gemm fp32 m8 n8 k8' && "
                 "kwright diff other.db base.db");
    assert_int_equal(a->code, 2);
    shell_run(a, "kwright diff slow.db base.db --slack x");
    assert_int_equal(a->code, 2);
    free(a);
}

static int make_folder(void **state) {
    (void)state;
    return shell_open(KW_KWRIGHT) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return shell_close();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_tune_prints_explains_the_same_tuning),
        cmocka_unit_test(what_sweep_and_report_print_measures_where_the_store_did),
        cmocka_unit_test(what_merge_prints_measures_the_holes),
        cmocka_unit_test(a_store_that_is_slower_than_its_baseline_fails_the_gate),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
