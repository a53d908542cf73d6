/* test_output_faults.c: a file that is written whole (wisdom, reports, exports, models, catalogs, manifests) when each of the calls that write it
 * fails, is interrupted, or is the last thing that the process does. What was there stays until the new file is whole and on the disk. */
#include "base/os/file.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int __real_fsync(int fd);
int __real_linkat(int from, const char *old, int to, const char *name, int flags);
int __real_rename(const char *old, const char *name);
ssize_t __real_write(int fd, const void *data, size_t size);
int __wrap_fsync(int fd);
int __wrap_linkat(int from, const char *old, int to, const char *name, int flags);
int __wrap_rename(const char *old, const char *name);
ssize_t __wrap_write(int fd, const void *data, size_t size);

typedef enum fault { NOTHING, FULL, BROKEN, PART, INTERRUPTED, KILLED, FAULTS } fault;

/* The test's own state: what happens at which call, and the calls so far. */
static fault planned;
static int planned_at, calls, named_too_early;
static bool watching, unsynced;

/* 0: the call goes on; else the errno that it fails with. */
static int meet(void) {
    if (!watching || ++calls != planned_at) {
        return 0;
    }
    if (planned == KILLED) {
        raise(SIGKILL);
    }
    return planned == FULL || planned == PART ? ENOSPC : planned == BROKEN ? EIO : planned == INTERRUPTED ? EINTR : 0;
}

static int fail_with(int code) {
    errno = code;
    return -1;
}

ssize_t __wrap_write(int fd, const void *data, size_t size) {
    int code = meet();
    unsynced = true;
    if (code == ENOSPC && planned == PART && size > 1) {
        planned_at++; /* half of it arrives; what comes next does not */
        return __real_write(fd, data, size / 2);
    }
    return code ? fail_with(code) : __real_write(fd, data, size);
}

int __wrap_fsync(int fd) {
    int code = meet();
    unsynced = unsynced && code;
    return code ? fail_with(code) : __real_fsync(fd);
}

int __wrap_linkat(int from, const char *old, int to, const char *name, int flags) {
    int code = meet();
    named_too_early += watching && unsynced;
    return code ? fail_with(code) : __real_linkat(from, old, to, name, flags);
}

int __wrap_rename(const char *old, const char *name) {
    int code = meet();
    named_too_early += watching && unsynced;
    return code ? fail_with(code) : __real_rename(old, name);
}

static const char before[] = "what was there", after[] = "what is written now, and is longer than what was there";
static char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX];

static kw_status replace(fault kind, int at, kw_error *err) {
    planned = kind;
    planned_at = at;
    calls = 0;
    watching = true;
    kw_status status = kw_file_replace(path, after, sizeof after - 1, 0644, err);
    watching = false;
    return status;
}

/* Whether the new file is there; else what was there is, or nothing. */
static bool is_new(bool was_there) {
    size_t size = 0;
    if (access(path, F_OK)) {
        assert_false(was_there);
        return false;
    }
    char *bytes = scratch_read(path, &size);
    bool found = size == sizeof after - 1 && !memcmp(bytes, after, size);
    assert_true(found || (was_there && size == sizeof before - 1 && !memcmp(bytes, before, size)));
    free(bytes);
    return found;
}

static void prepare(bool was_there) {
    unlink(path);
    if (was_there) {
        scratch_write(path, before, sizeof before - 1, 0644);
    }
}

static void every_failing_call_is_told_and_leaves_what_was_there(void **state) {
    (void)state;
    int cases = 0;
    for (int kind = FULL; kind < KILLED; kind++) {
        for (int there = 0; there < 2; there++) {
            prepare(there);
            assert_int_equal(replace(NOTHING, 0, NULL), KW_OK);
            int all = calls;
            assert_true(all >= 3); /* write, sync, name */
            for (int at = 1; at <= all; at++, cases++) {
                kw_error err = {0};
                prepare(there);
                kw_status status = replace((fault)kind, at, &err);
                if (is_new(there) != (status == KW_OK)) {
                    fail_msg("fault %d at call %d of %d: %s", kind, at, all, err.text);
                }
                if (status) {
                    assert_int_equal(status, KW_IO);
                    assert_non_null(strstr(err.text, path));
                }
                assert_true(kind != INTERRUPTED || at > 1 || !status); /* an interrupted write goes on */
                assert_int_equal(scratch_count(folder, "file"), access(path, F_OK) ? 0 : 1);
            }
        }
    }
    assert_true(cases >= 24);
}

static void a_kill_at_any_call_leaves_the_old_file_or_the_new(void **state) {
    (void)state;
    for (int there = 0; there < 2; there++) {
        bool killed = true;
        for (int at = 1; killed; at++) {
            int how = 0;
            prepare(there);
            pid_t child = fork();
            if (!child) {
                _exit(replace(KILLED, at, NULL) != KW_OK);
            }
            assert_true(child > 0);
            assert_int_equal(waitpid(child, &how, 0), child);
            killed = WIFSIGNALED(how);
            assert_true(killed || !WEXITSTATUS(how));
            assert_int_equal(is_new(there), !killed);
            int stray = scratch_count(folder, "file") - (access(path, F_OK) ? 0 : 1);
            assert_true(stray == 0 || (there && stray == 1)); /* between the two steps that take the place of a file */
            scratch_remove(folder);
            scratch_make(folder);
            scratch_path(path, folder, "file");
        }
    }
}

static void a_file_is_on_the_disk_before_it_has_its_name(void **state) {
    (void)state;
    for (int there = 0; there < 2; there++) {
        prepare(there);
        named_too_early = 0;
        assert_int_equal(replace(NOTHING, 0, NULL), KW_OK);
        assert_int_equal(named_too_early, 0);
    }
}

static int set_up(void **state) {
    (void)state;
    scratch_path(path, scratch_make(folder), "file");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_failing_call_is_told_and_leaves_what_was_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_kill_at_any_call_leaves_the_old_file_or_the_new, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_is_on_the_disk_before_it_has_its_name, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
