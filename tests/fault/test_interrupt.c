/* test_interrupt.c: Ctrl-C, SIGTERM and kill -9 while kwright compiles. Afterwards no compiler runs, whatever it has started, no file is left
 * (after kill -9: the next start removes it), and a person is told what happened. */

#include "base/os/clock.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pty.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined __x86_64__
#define MACHINE "x86_64"
#else
#define MACHINE "aarch64"
#endif

enum { WAIT_MS = 20000 }; /* for what has to come: patience, not a claim */

/* A compiler that is a script with a child of its own, and leaves a file where compilers leave theirs. */
static const char slow[] = "#!/bin/sh\n"
                           "if [ \"$1\" = -v ]; then echo 'Target: " MACHINE "-linux-gnu'; echo 'gcc version 9.9.9 (fake)'; exit 0; fi\n"
                           ": > ${TMPDIR:-/tmp}/cc$$.o\n"
                           "sleep 1000 & sleep 1001; true\n";
static const char quick[] = "#!/bin/sh\n"
                            "if [ \"$1\" = -v ]; then echo 'Target: " MACHINE "-linux-gnu'; echo 'gcc version 9.9.8 (fake)'; exit 0; fi\n"
                            "exit 1\n";

typedef struct site {
    char folder[SCRATCH_MAX], cc[2 * SCRATCH_MAX], temporary[2 * SCRATCH_MAX], out[2 * SCRATCH_MAX], err[2 * SCRATCH_MAX];
} site;

static int open_site(void **state) {
    site *s = calloc(1, sizeof *s);
    char path[2 * SCRATCH_MAX];
    assert_non_null(s);
    scratch_make(s->folder);
    scratch_path(s->cc, s->folder, "cc");
    scratch_path(s->temporary, s->folder, "tmp");
    scratch_path(s->out, s->folder, "out");
    scratch_path(s->err, s->folder, "err");
    assert_int_equal(mkdir(s->temporary, 0700), 0);
    setenv("TMPDIR", s->temporary, 1);
    setenv("KW_CACHE_DIR", scratch_path(path, s->folder, "cache"), 1);
    setenv("KW_DATA_DIR", scratch_path(path, s->folder, "data"), 1);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* who loses its parent becomes ours, and can be counted */
    *state = s;
    return 0;
}

static int close_site(void **state) {
    site *s = *state;
    unsetenv("TMPDIR");
    scratch_remove(s->folder);
    free(s);
    return 0;
}

/* terminal: -1, or what standard error shall be. */
static pid_t start_kwright(const site *s, const char *verb, int terminal) {
    static const char problem[] = "conv_fwd fp32 n1 c16 k16 i6x6 f3x3 p1x1";
    pid_t child = fork();
    if (!child) {
        int nowhere = open("/dev/null", O_RDWR), out = open(s->out, O_WRONLY | O_CREAT | O_TRUNC, 0600),
            err = terminal >= 0 ? terminal : open(s->err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(nowhere, 0);
        dup2(out, 1);
        dup2(err, 2);
        execl(KW_KWRIGHT, "kwright", verb, "--set", "tiny", "--cc", s->cc, problem, (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    return child;
}

/* Until files whose names contain part are there; a compiler is at work then. */
static void wait_for_file(const site *s, const char *part) {
    int64_t end = kw_clock_ns() + (int64_t)WAIT_MS * 1000000;
    while (!scratch_count(s->temporary, part)) {
        assert_true(kw_clock_ns() < end);
        usleep(2000);
    }
}

static void expect_no_process(void) {
    int64_t end = kw_clock_ns() + (int64_t)WAIT_MS * 1000000;
    for (pid_t gone = 0; gone >= 0 || errno != ECHILD; gone = waitpid(-1, NULL, WNOHANG)) {
        assert_true(kw_clock_ns() < end);
        usleep(2000);
    }
}

static void a_signal_leaves_no_compiler_and_no_file(void **state) {
    site *s = *state;
    static const char *const verbs[] = {"tune", "build", "check", "run"};
    static const struct { int number, times; } signals[] = {{SIGINT, 1}, {SIGINT, 2}, {SIGTERM, 1}};
    scratch_write(s->cc, slow, strlen(slow), 0700);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs * 3; i++) {
        int status = 0, number = signals[i % 3].number;
        pid_t child = start_kwright(s, verbs[i / 3], -1);
        wait_for_file(s, ".o");
        for (int k = 0; k < signals[i % 3].times; k++) {
            kill(child, number);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        char *told = scratch_read(s->err, &(size_t){0});
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 130 || !strstr(told, "interrupted\n") || strstr(told, "compile")) {
            fail_msg("%s, %d times %d: status %x, %s", verbs[i / 3], signals[i % 3].times, number, status, told);
        }
        free(told);
        expect_no_process();
        assert_int_equal(scratch_count(s->temporary, ""), 0);
    }
}

/* It has a second to say so: a machine at full load may take longer, but not each time. */
static void an_interrupted_check_says_how_far_it_got(void **state) {
    site *s = *state;
    bool told = false;
    scratch_write(s->cc, slow, strlen(slow), 0700);
    for (int turn = 0; turn < 5 && !told; turn++) {
        int status = 0;
        pid_t child = start_kwright(s, "check", -1);
        wait_for_file(s, ".o");
        kill(child, SIGINT);
        assert_int_equal(waitpid(child, &status, 0), child);
        char *out = scratch_read(s->out, &(size_t){0});
        told = strstr(out, "0 of 1 problems: 0 verified, 0 failed") != NULL;
        free(out);
        expect_no_process();
    }
    assert_true(told);
}

static void what_kill_9_leaves_the_next_start_removes(void **state) {
    site *s = *state;
    static const char *const verbs[] = {"tune", "build"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        int status = 0;
        scratch_write(s->cc, slow, strlen(slow), 0700);
        pid_t child = start_kwright(s, verbs[i], -1);
        wait_for_file(s, ".o");
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &status, 0), child);
        expect_no_process(); /* though nobody was left to end them */
        assert_true(scratch_count(s->temporary, "") > 0);
        scratch_write(s->cc, quick, strlen(quick), 0700);
        child = start_kwright(s, verbs[i], -1);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(scratch_count(s->temporary, ""), 0);
    }
}

/* A start that sweeps must not take the folder of a compile that goes on in another process. */
static void a_folder_in_use_is_not_swept(void **state) {
    site *s = *state;
    int status = 0;
    scratch_write(s->cc, slow, strlen(slow), 0700);
    pid_t first = start_kwright(s, "build", -1);
    wait_for_file(s, ".o");
    glob_t folders;
    char pattern[3 * SCRATCH_MAX];
    snprintf(pattern, sizeof pattern, "%s/*", s->temporary);
    assert_int_equal(glob(pattern, 0, NULL, &folders), 0);
    scratch_path(s->cc, s->folder, "quick");
    scratch_write(s->cc, quick, strlen(quick), 0700);
    pid_t second = start_kwright(s, "build", -1);
    scratch_path(s->cc, s->folder, "cc");
    assert_int_equal(waitpid(second, &status, 0), second);
    for (size_t i = 0; i < folders.gl_pathc; i++) {
        assert_int_equal(access(folders.gl_pathv[i], F_OK), 0);
    }
    globfree(&folders);
    kill(first, SIGTERM);
    assert_int_equal(waitpid(first, &status, 0), first);
    expect_no_process();
    assert_int_equal(scratch_count(s->temporary, ""), 0);
}

/* The first compiler ends at once, so that a bar is drawn; the others do not. */
static void the_bar_is_erased_on_a_terminal(void **state) {
    site *s = *state;
    char script[1024], seen[65536];
    size_t used = 0;
    int master, slave, status = 0;
    snprintf(script, sizeof script,
             "#!/bin/sh\nif [ \"$1\" = -v ]; then echo 'Target: " MACHINE "-linux-gnu'; echo 'gcc version 9.9.9 (fake)'; exit 0; fi\n"
             "if mkdir %s/first 2>/dev/null; then sleep 0.2; exit 1; fi\n: > $TMPDIR/cc.o\nsleep 1000\n",
             s->folder);
    scratch_write(s->cc, script, strlen(script), 0700);
    assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
    pid_t child = start_kwright(s, "build", slave);
    close(slave);
    while (used < sizeof seen - 1) {
        ssize_t got = read(master, seen + used, sizeof seen - 1 - used);
        if (got <= 0) {
            break; /* nobody holds the other end any more */
        }
        used += (size_t)got;
        seen[used] = 0;
        if (strchr(seen, ']')) {
            kill(child, SIGINT);
        }
    }
    seen[used] = 0;
    close(master);
    assert_int_equal(waitpid(child, &status, 0), child);
    expect_no_process();
    const char *erased = strstr(seen, "\r\033[Kkwright: interrupted");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    assert_non_null(strchr(seen, '['));
    assert_non_null(erased);
    assert_null(strchr(erased + 3, ']'));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_leaves_no_compiler_and_no_file),   cmocka_unit_test(an_interrupted_check_says_how_far_it_got),
        cmocka_unit_test(what_kill_9_leaves_the_next_start_removes), cmocka_unit_test(a_folder_in_use_is_not_swept),
        cmocka_unit_test(the_bar_is_erased_on_a_terminal),
    };
    return cmocka_run_group_tests(tests, open_site, close_site);
}
