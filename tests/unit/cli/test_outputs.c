/* test_outputs.c: every verb that writes a file, with a link, a pipe and a full device in its place: links lead on, what is no file stays what
 * it is, and what could not be written is told. */
#include "base/os/process/process.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <sys/stat.h>
#include <unistd.h>

static const char *const verbs[] = {
    "report a.db --html",
    "db export a.db --out",
    "db export a.db --format jsonl --out",
    "prune a.db --out",
    "evaluate a.db --selector estimate --html",
    "evaluate a.db --selector estimate --out",
    "list --set tiny --export-json",
};
enum { VERBS = sizeof verbs / sizeof *verbs };

static char folder[SCRATCH_MAX], home[1024];

static int shell(const char *line) {
    kw_text text = {0};
    kw_process_result result;
    kw_error err = {0};
    assert_ok(kw_process_run((const char *[]){"sh", "-c", line, NULL}, (int64_t)60 * 1000000000, &text, &result, &err), &err);
    if (result.exit_code) {
        print_message("%s: exit code %d: %s\n", line, result.exit_code, kw_text_string(&text));
    }
    kw_text_drop(&text);
    return result.exit_code;
}

static int set_up(void **state) {
    (void)state;
    scratch_make(folder);
    return getcwd(home, sizeof home) && !chdir(folder) ? shell(KW_KWRIGHT " db import a.db " KW_ROWS " >/dev/null") : -1;
}

static int tear_down(void **state) {
    (void)state;
    int failed = chdir(home);
    scratch_remove(folder);
    return failed;
}

static char kind_of(const char *path) {
    struct stat info;
    if (lstat(path, &info)) {
        return '-';
    }
    return S_ISLNK(info.st_mode) ? 'l' : S_ISFIFO(info.st_mode) ? 'p' : S_ISREG(info.st_mode) ? 'f' : '?';
}

static int64_t size_of(const char *path) {
    struct stat info;
    return stat(path, &info) ? -1 : (int64_t)info.st_size;
}

static void outputs_replace_nothing_but_files(void **state) {
    (void)state;
    char line[1024];
    for (int i = 0; i < VERBS; i++) {
        scratch_write("target", "old", 3, 0600);
        assert_int_equal(symlink("target", "link"), 0);
        snprintf(line, sizeof line, KW_KWRIGHT " %s link >/dev/null", verbs[i]);
        assert_int_equal(shell(line), 0);
        assert_int_equal(kind_of("link"), 'l');
        assert_true(size_of("target") > 300);
        assert_int_equal(mkfifo("pipe", 0600), 0);
        snprintf(line, sizeof line, "cat pipe >read & " KW_KWRIGHT " %s pipe >/dev/null && wait", verbs[i]);
        assert_int_equal(shell(line), 0);
        assert_int_equal(kind_of("pipe"), 'p');
        assert_int_equal(size_of("read"), size_of("target"));
        assert_int_equal(symlink("/dev/full", "full"), 0);
        snprintf(line, sizeof line, KW_KWRIGHT " %s full 2>told >/dev/null; test $? = 3 && grep -q 'No space' told", verbs[i]);
        assert_int_equal(shell(line), 0);
        snprintf(line, sizeof line, "(ulimit -f 0; " KW_KWRIGHT " %s file) >/dev/null 2>&1; test $? = 3 && ! ls | grep file", verbs[i]);
        assert_int_equal(shell(line), 0); /* told, and nothing is left of what was too large */
        assert_int_equal(unlink("link") | unlink("pipe") | unlink("full"), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(outputs_replace_nothing_but_files, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
