/* test_output.c: what a program writes is there whole or not at all, replaces nothing that is no file, follows links, and tells a limit on
 * the size of files like a full disk. */
#include "base/os/file.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[SCRATCH_MAX];

static int set_up(void **state) {
    (void)state;
    scratch_make(folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

static const char *at(const char *name) {
    static char path[4][2 * SCRATCH_MAX];
    static int next;
    next = (next + 1) % 4;
    return scratch_path(path[next], folder, name);
}

static void put(const char *name, const char *text) {
    kw_error err = {0};
    assert_ok(kw_file_replace(at(name), text, strlen(text), 0644, &err), &err);
}

static void expect_file(const char *name, const char *text) {
    size_t size;
    char *bytes = scratch_read(at(name), &size);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(bytes, text, size);
    free(bytes);
}

static void links_are_followed(void **state) {
    (void)state;
    struct stat info;
    scratch_write(at("target"), "old", 3, 0640);
    assert_int_equal(symlink("target", at("link")), 0);
    assert_int_equal(symlink("link", at("longer")), 0);
    assert_int_equal(symlink("later", at("ahead")), 0); /* leads nowhere yet */
    put("longer", "new");
    put("ahead", "first");
    expect_file("target", "new");
    expect_file("later", "first");
    assert_true(!lstat(at("link"), &info) && S_ISLNK(info.st_mode));
    assert_true(!lstat(at("longer"), &info) && S_ISLNK(info.st_mode));
    assert_true(!lstat(at("ahead"), &info) && S_ISLNK(info.st_mode));
    assert_true(!stat(at("target"), &info) && (info.st_mode & 0777) == 0640); /* a file keeps its mode */
    assert_int_equal(scratch_count(folder, ""), 5);
    assert_int_equal(symlink("round", at("round")), 0);
    assert_int_equal(kw_file_replace(at("round"), "x", 1, 0644, NULL), KW_IO);
}

static void what_is_no_file_is_written_through(void **state) {
    (void)state;
    char got[8] = "";
    struct stat info;
    kw_error err = {0};
    assert_int_equal(mkfifo(at("pipe"), 0600), 0);
    int fd = open(at("pipe"), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    assert_true(fd >= 0);
    put("pipe", "through");
    assert_int_equal(read(fd, got, 7), 7);
    assert_string_equal(got, "through");
    assert_true(!lstat(at("pipe"), &info) && S_ISFIFO(info.st_mode));
    close(fd);
    assert_int_equal(symlink("/dev/full", at("full")), 0);
    assert_int_equal(kw_file_replace(at("full"), "x", 1, 0644, &err), KW_IO);
    assert_non_null(strstr(err.text, "No space"));
    assert_true(!stat("/dev/full", &info) && S_ISCHR(info.st_mode));
    assert_int_equal(kw_file_replace(folder, "x", 1, 0644, &err), KW_IO);
    assert_int_equal(kw_file_replace(at("none/such"), "x", 1, 0644, &err), KW_MISSING);
}

static void a_failure_leaves_what_was_there(void **state) {
    (void)state;
    kw_output output;
    kw_error err = {0};
    put("file", "before");
    assert_ok(kw_output_open(&output, at("file"), 0644, &err), &err);
    assert_true(kw_file_write(output.fd, "after", 5));
    expect_file("file", "before");
    assert_int_equal(kw_output_close(&output, KW_FAILED, &err), KW_FAILED);
    expect_file("file", "before");
    assert_int_equal(scratch_count(folder, "file"), 1);
}

/* In a child: the limit would hold for all that follows. */
static int write_beyond_limit(void) {
    static char large[65536];
    kw_error err = {0};
    struct rlimit limit = {4096, 4096};
    if (setrlimit(RLIMIT_FSIZE, &limit)) {
        return 1;
    }
    kw_status status = kw_file_replace(at("limited"), large, sizeof large, 0644, &err);
    return status == KW_IO && strstr(err.text, "too large") && signal(SIGXFSZ, SIG_IGN) == SIG_DFL ? 0 : 2;
}

static void a_limit_on_the_size_of_files_is_told(void **state) {
    (void)state;
    int status = 0;
    pid_t child = fork();
    if (!child) {
        _exit(write_beyond_limit());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(scratch_count(folder, "limited"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(links_are_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_file_is_written_through, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_failure_leaves_what_was_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_limit_on_the_size_of_files_is_told, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
