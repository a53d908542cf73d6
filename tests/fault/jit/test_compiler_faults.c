/* test_compiler_faults.c: compilers that hang, die, lie, or disappear. Each is a status with a reason, within the time limit, with
 * no file and no process left behind. */

#include "base/os/clock.h"
#include "jit/toolchain/cc.h"
#include "support/kw_test.h"
#include "support/device/fake_family.h"
#include "support/scratch.h"

#include <sys/stat.h>
#include <unistd.h>

#if defined __x86_64__
#define MACHINE "x86_64"
#else
#define MACHINE "aarch64"
#endif

/* Answers -v like gcc; otherwise does what follows. $out is the object it should write. */
static const char head[] = "#!/bin/sh\n"
                           "if [ \"$1\" = -v ]; then echo 'Target: " MACHINE "-linux-gnu'; echo 'gcc version 9.9.9 (fake)'; exit 0; fi\n"
                           "while [ \"$1\" != -o ]; do shift; done\nout=$2\n";

typedef struct fault_setup {
    char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX], temporary[2 * SCRATCH_MAX], pids[2 * SCRATCH_MAX];
    kw_compiler compiler;
} fault_setup;

static void write_script(const fault_setup *fault, const char *body) {
    char text[2048];
    int length = snprintf(text, sizeof text, "%s%s\n", head, body);
    scratch_write(fault->path, text, (size_t)length, 0700);
}

static void open_fault(fault_setup *fault, const char *body) {
    kw_error err = {0};
    scratch_make(fault->folder);
    scratch_path(fault->path, fault->folder, "fakecc");
    scratch_path(fault->temporary, fault->folder, "tmp");
    scratch_path(fault->pids, fault->folder, "pids");
    assert_int_equal(mkdir(fault->temporary, 0700), 0);
    setenv("TMPDIR", fault->temporary, 1);
    setenv("PIDS", fault->pids, 1);
    write_script(fault, body);
    assert_int_equal(kw_compiler_find(&fault->compiler, fault->path, (kw_code){0}, &err), KW_OK);
    assert_string_equal(fault->compiler.kind, "gcc");
    assert_string_equal(fault->compiler.version, "9.9.9");
    fault->compiler.limit_ns = 400000000;
}

static void close_fault(fault_setup *fault) {
    unsetenv("TMPDIR");
    unsetenv("PIDS");
    scratch_remove(fault->folder);
}

static kw_status run_compiler(const fault_setup *fault, kw_error *err) {
    static const char source[] = "int x;\n";
    kw_compile compile = {&fault->compiler, source, strlen(source), "", "abc.c"};
    kw_compile_result result;
    kw_status status = kw_compile_run(&compile, &result, err);
    assert_null(result.blob.data);
    kw_compile_result_drop(&result);
    return status;
}

/* Gone, or ended and waiting for whoever inherited it. */
static bool has_ended(int pid) {
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file) {
        return true;
    }
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    const char *name_end = strrchr(text, ')');
    return !name_end || name_end[2] == 'Z' || name_end[2] == 'X';
}

/* Whether the process whose number the script wrote down ends within two seconds. */
static bool script_is_gone(const fault_setup *fault) {
    FILE *file = fopen(fault->pids, "r");
    int pid = 0;
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d", &pid), 1);
    fclose(file);
    for (int i = 0; i < 200 && !has_ended(pid); i++) {
        usleep(10000);
    }
    return has_ended(pid);
}

static void a_compiler_that_fails_in_any_way_is_a_status(void **state) {
    (void)state;
    static const struct {
        const char *body, *why;
    } cases[] = {
        {"exit 4", "no message"},
        {"echo 'abc.c: note: x'; echo 'abc.c:1: fatal error: y' >&2; exit 1", "fatal error: y"},
        {"echo 'internal compiler error: Segmentation fault'; exit 4", "internal compiler error"},
        {"kill -SEGV $$", "signal 11"},
        {"kill -KILL $$", "signal 9"},
        {"exit 0", "left no object"},
        {": > $out; exit 0", "0 bytes"},
        {"echo this is no object, however long the line may be made, it stays one and is none > $out", "not a 64-bit"},
        {"mkdir $out", "left no object"},
        {"ln -s /dev/zero $out", "left no object"},
        {"head -c 3000000 /dev/zero | tr '\\0' 'a'; exit 1", "refused"},
        {"touch $(dirname $out)/more $(dirname $out)/and_more; exit 1", "refused"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fault_setup fault;
        kw_error err = {0};
        open_fault(&fault, cases[i].body);
        fault.compiler.limit_ns = 10000000000;
        assert_int_equal(run_compiler(&fault, &err), KW_FAILED);
        if (!strstr(err.text, cases[i].why) || !strstr(err.text, fault.path)) {
            print_error("%s\n-> %s\n", cases[i].body, err.text);
            fail();
        }
        assert_int_equal(scratch_count(fault.temporary, ""), 0);
        close_fault(&fault);
    }
}

static void a_compiler_that_never_ends_is_ended_with_its_children(void **state) {
    (void)state;
    static const char *const bodies[] = {"echo $$ > $PIDS; sleep 1000", "echo $$ > $PIDS; while :; do :; done",
                                         "sleep 1000 & echo $! > $PIDS; wait", "sleep 1000 & echo $! > $PIDS; exit 0",
                                         "trap '' TERM INT HUP; echo $$ > $PIDS; while :; do sleep 1; done"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        fault_setup fault;
        kw_error err = {0};
        open_fault(&fault, bodies[i]);
        int64_t start = kw_clock_ns();
        assert_int_equal(run_compiler(&fault, &err), KW_FAILED);
        assert_in_range(kw_clock_ns() - start, 300000000, 5000000000);
        assert_non_null(strstr(err.text, "0.4 s"));
        assert_true(script_is_gone(&fault));
        assert_int_equal(scratch_count(fault.temporary, ""), 0);
        close_fault(&fault);
    }
}

static void a_compiler_that_is_removed_or_replaced_is_not_run(void **state) {
    (void)state;
    fault_setup fault;
    kw_error err = {0};
    open_fault(&fault, "exit 0");
    write_script(&fault, "echo replaced by this; exit 0");
    assert_int_equal(run_compiler(&fault, &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, "was replaced"));
    assert_int_equal(unlink(fault.path), 0);
    assert_int_equal(run_compiler(&fault, &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, fault.path));
    assert_int_equal(scratch_count(fault.temporary, ""), 0);
    close_fault(&fault);
}

static void one_that_replaces_itself_while_it_runs_gives_no_blob(void **state) {
    (void)state;
    fault_setup fault;
    kw_error err = {0};
    open_fault(&fault, "echo '# more' >> $0; gcc -shared -o $out -x c /dev/null");
    fault.compiler.limit_ns = 10000000000;
    assert_int_equal(run_compiler(&fault, &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, "was replaced"));
    close_fault(&fault);
}

static void what_is_cached_outlives_its_compiler(void **state) {
    (void)state;
    fault_setup fault;
    char cache_folder[2 * SCRATCH_MAX], note[256];
    kw_cache *cache = NULL;
    kw_compiler real;
    kw_blob blob;
    kw_jit_result result;
    kw_error err = {0};
    if (kw_compiler_find(&real, NULL, (kw_code){0}, &err)) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    char body[SCRATCH_MAX];
    snprintf(body, sizeof body, "exec %.200s -shared -w -o $out -x c $3", real.path);
    open_fault(&fault, body);
    fault.compiler.limit_ns = 0;
    assert_int_equal(kw_cache_open(&cache, scratch_path(cache_folder, fault.folder, "cache"), note, &err), KW_OK);
    kw_jit jit = {.compiler = &fault.compiler, .cache = cache};
    kw_config config = fake_config(1, FAKE_NO_STAGE), other = fake_config(2, FAKE_NO_STAGE);
    assert_int_equal(kw_jit_blob(&jit, &config, &blob, &result, &err), KW_OK);
    kw_blob_drop(&blob);
    assert_int_equal(unlink(fault.path), 0);
    assert_int_equal(kw_jit_blob(&jit, &config, &blob, &result, &err), KW_OK);
    assert_true(result.cached);
    kw_blob_drop(&blob);
    assert_int_equal(kw_jit_blob(&jit, &other, &blob, &result, &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, fault.path));
    kw_cache_close(&cache);
    close_fault(&fault);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_compiler_that_fails_in_any_way_is_a_status),
        cmocka_unit_test(a_compiler_that_never_ends_is_ended_with_its_children),
        cmocka_unit_test(a_compiler_that_is_removed_or_replaced_is_not_run),
        cmocka_unit_test(one_that_replaces_itself_while_it_runs_gives_no_blob),
        cmocka_unit_test(what_is_cached_outlives_its_compiler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
