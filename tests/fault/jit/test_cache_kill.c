/* test_cache_kill.c: a process that is killed while it keeps a kernel in the cache leaves nothing there, and an entry has its name only when its
 * bytes are on the disk: a power cut leaves it whole or absent. */
#include "jit/cache/cache.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int __real_fsync(int fd);
int __real_linkat(int from, const char *old, int to, const char *name, int flags);
int __real_renameat(int from, const char *old, int to, const char *name);
ssize_t __real_write(int fd, const void *data, size_t size);
int __wrap_fsync(int fd);
int __wrap_linkat(int from, const char *old, int to, const char *name, int flags);
int __wrap_renameat(int from, const char *old, int to, const char *name);
ssize_t __wrap_write(int fd, const void *data, size_t size);

static const char key[] = "ab12cd-34";

/* The test's own state: the call at which this process is killed (0: none), calls so far, what is not yet on the disk. */
static int kill_at, calls, named_too_early;
static bool watching, unsynced;

static void step(void) {
    if (watching && ++calls == kill_at) {
        raise(SIGKILL);
    }
}

ssize_t __wrap_write(int fd, const void *data, size_t size) {
    step();
    unsynced = true;
    return __real_write(fd, data, size);
}

int __wrap_fsync(int fd) {
    step();
    int code = __real_fsync(fd);
    unsynced = false;
    return code;
}

int __wrap_linkat(int from, const char *old, int to, const char *name, int flags) {
    step();
    named_too_early += watching && unsynced;
    return __real_linkat(from, old, to, name, flags);
}

int __wrap_renameat(int from, const char *old, int to, const char *name) {
    step();
    named_too_early += watching && unsynced;
    return __real_renameat(from, old, to, name);
}

static kw_status put(const char *folder) {
    char data[] = "the bytes of a kernel, as good as any others for this", note[256];
    kw_blob blob = {data, sizeof data};
    kw_cache *cache = NULL;
    kw_error err = {0};
    assert_int_equal(kw_cache_open(&cache, folder, note, &err), KW_OK);
    watching = true;
    calls = 0;
    kw_status status = kw_cache_put(cache, key, &blob, &err);
    watching = false;
    kw_cache_close(&cache);
    return status;
}

static bool put_and_be_killed(const char *folder, int at) {
    int how = 0;
    pid_t child = fork();
    if (!child) {
        kill_at = at;
        _exit(put(folder) != KW_OK);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) || !WEXITSTATUS(how));
    return WIFSIGNALED(how);
}

static bool holds_entry(const char *folder) {
    char note[256];
    kw_cache *cache = NULL;
    kw_blob blob = {0};
    kw_error err = {0};
    assert_int_equal(kw_cache_open(&cache, folder, note, &err), KW_OK);
    assert_int_equal(kw_cache_get(cache, key, &blob, &err), KW_OK);
    bool found = blob.data;
    kw_blob_drop(&blob);
    kw_cache_close(&cache);
    return found;
}

static void a_kill_leaves_no_file(void **state) {
    (void)state;
    char folder[SCRATCH_MAX];
    scratch_make(folder);
    int at = 1;
    while (put_and_be_killed(folder, at)) {
        assert_int_equal(scratch_count(folder, "tmp-"), 0);
        assert_false(holds_entry(folder));
        at++;
    }
    assert_true(at >= 3); /* before the write, the sync and the name at least */
    assert_true(holds_entry(folder));
    assert_int_equal(scratch_count(folder, ".bad"), 0);
    scratch_remove(folder);
}

static void an_entry_is_on_the_disk_before_it_has_its_name(void **state) {
    (void)state;
    char folder[SCRATCH_MAX];
    scratch_make(folder);
    named_too_early = 0;
    assert_int_equal(put(folder), KW_OK);
    assert_int_equal(put(folder), KW_OK); /* over one that is there */
    assert_true(calls >= 3);
    assert_int_equal(named_too_early, 0);
    assert_true(holds_entry(folder));
    assert_int_equal(scratch_count(folder, "tmp-"), 0);
    scratch_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kill_leaves_no_file),
        cmocka_unit_test(an_entry_is_on_the_disk_before_it_has_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
