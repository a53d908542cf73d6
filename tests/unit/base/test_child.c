/* test_child.c: a child that one talks to in lines: what it says arrives, what it does to its pipes harms nobody, and it is gone afterwards. */

#include "base/os/process/child.h"
#include "base/os/clock.h"
#include "support/kw_test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const int64_t second = 1000000000;

static void start(kw_child *child, const char *script) {
    kw_error err = {0};
    const char *const argv[] = {"sh", "-c", script, NULL};
    assert_int_equal(kw_child_start(child, argv, -1, &err), KW_OK);
}

static kw_child_event next(kw_child *child, kw_word *line) {
    kw_child_event event;
    int64_t until = kw_clock_ns() + 20 * second;
    do {
        event = kw_child_read(child, until, line);
    } while (event == KW_CHILD_QUIET && kw_clock_ns() < until);
    return event;
}

/* No child of this program, alive or waiting to be asked for. */
static void assert_no_children(void) {
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void lines_come_as_they_were_written(void **state) {
    (void)state;
    kw_child child;
    kw_word line;
    start(&child, "read a; read b; printf 'one %s\\n\\nthree %s\\nno end' \"$a\" \"$b\"; exit 7");
    assert_true(kw_child_send(&child, "x y\nz\n", 6, second));
    assert_int_equal(next(&child, &line), KW_CHILD_LINE);
    assert_true(kw_word_is(line, "one x y"));
    assert_int_equal(next(&child, &line), KW_CHILD_LINE);
    assert_int_equal(line.size, 0);
    assert_int_equal(next(&child, &line), KW_CHILD_LINE);
    assert_true(kw_word_is(line, "three z"));
    assert_int_equal(next(&child, &line), KW_CHILD_ENDED);
    kw_child_end end = kw_child_stop(&child, second);
    assert_true(end.known && !end.killed && end.exit_code == 7 && end.signal == 0);
    assert_no_children();
}

static void the_end_of_input_ends_a_patient_child(void **state) {
    (void)state;
    kw_child child;
    start(&child, "cat >/dev/null; exit 0");
    kw_child_end end = kw_child_stop(&child, 10 * second);
    assert_true(end.known && !end.killed && end.exit_code == 0);
    assert_int_equal(child.pid, 0);
    end = kw_child_stop(&child, second);
    assert_false(end.known || end.killed);
    assert_no_children();
}

static void a_child_that_stays_is_killed_with_its_own(void **state) {
    (void)state;
    kw_child child;
    kw_word line;
    int grandchild = 0;
    start(&child, "trap '' TERM INT; sleep 1000 & echo $!; while :; do sleep 1000; done");
    assert_int_equal(next(&child, &line), KW_CHILD_LINE);
    assert_int_equal(sscanf(line.at, "%d", &grandchild), 1);
    kw_child_end end = kw_child_stop(&child, 0);
    assert_true(end.killed && end.known && end.signal == SIGKILL);
    for (int i = 0; i < 200 && !kill(grandchild, 0); i++) {
        char path[64], text[256] = "";
        snprintf(path, sizeof path, "/proc/%d/stat", grandchild);
        int fd = open(path, O_RDONLY);
        if (fd < 0 || read(fd, text, sizeof text - 1) <= 0 || strstr(text, ") Z")) {
            grandchild = 0x3fffffff; /* gone, or waiting for whoever inherited it */
        }
        close(fd);
        usleep(10000);
    }
    assert_int_equal(kill(grandchild, 0), -1);
    assert_no_children();
}

static void an_end_is_seen_though_others_hold_the_line(void **state) {
    (void)state;
    kw_child child;
    kw_word line;
    start(&child, "sleep 1000 & exit 4");
    int64_t begin = kw_clock_ns();
    kw_child_event event;
    do {
        event = kw_child_read(&child, kw_clock_ns() + second / 20, &line);
    } while (event == KW_CHILD_QUIET);
    assert_int_equal(event, KW_CHILD_ENDED);
    assert_true(kw_clock_ns() - begin < 10 * second);
    assert_int_equal(kw_child_stop(&child, second).exit_code, 4);
    assert_no_children();
}

static void the_last_words_are_kept_and_the_rest_is_dropped(void **state) {
    (void)state;
    kw_child child;
    kw_word line;
    start(&child, "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo last words >&2; echo >&2; echo done");
    assert_int_equal(next(&child, &line), KW_CHILD_LINE);
    assert_true(kw_word_is(line, "done"));
    kw_child_stop(&child, second);
    assert_true(kw_word_is(kw_child_error_tail(&child), "last words"));
    start(&child, "exit 0");
    kw_child_stop(&child, second);
    assert_int_equal(kw_child_error_tail(&child).size, 0);
}

static void a_line_without_end_is_told(void **state) {
    (void)state;
    kw_child child;
    kw_word line;
    start(&child, "head -c 5000 /dev/zero | tr '\\0' x; sleep 1000");
    assert_int_equal(next(&child, &line), KW_CHILD_LONG);
    kw_child_stop(&child, 0);
    start(&child, "head -c 4096 /dev/zero | tr '\\0' x; echo; sleep 1000");
    assert_int_equal(next(&child, &line), KW_CHILD_LINE);
    assert_int_equal(line.size, 4096);
    kw_child_stop(&child, 0);
    assert_no_children();
}

static void sending_to_one_that_does_not_take_it_fails(void **state) {
    (void)state;
    static char much[8 << 20];
    kw_child child;
    kw_word line;
    start(&child, "exec 0<&- 1<&-; echo closed >&2; exit 0");
    while (!kw_child_has_exited(&child)) {
        usleep(1000);
    }
    assert_false(kw_child_send(&child, much, sizeof much, second));
    assert_int_equal(next(&child, &line), KW_CHILD_ENDED);
    kw_child_stop(&child, 0);
    start(&child, "sleep 1000");
    int64_t begin = kw_clock_ns();
    assert_false(kw_child_send(&child, much, sizeof much, second / 5));
    assert_in_range(kw_clock_ns() - begin, second / 10, 5 * second);
    kw_child_stop(&child, 0);
    assert_no_children();
}

static void waiting_ends_in_time(void **state) {
    (void)state;
    kw_child child;
    kw_word line;
    start(&child, "exec 2>&-; sleep 1000"); /* a closed standard error is no reason to hurry */
    int64_t begin = kw_clock_ns();
    while (kw_clock_ns() < begin + second / 5) {
        assert_int_equal(kw_child_read(&child, begin + second / 5, &line), KW_CHILD_QUIET);
    }
    assert_in_range(kw_clock_ns() - begin, second / 5, 2 * second);
    kw_child_stop(&child, 0);
}

static void a_descriptor_is_handed_over_and_no_other(void **state) {
    (void)state;
    kw_child child;
    kw_word line;
    kw_error err = {0};
    int ends[2];
    const char *const argv[] = {"sh", "-c", "echo handed >&3; ls /proc/self/fd | tr '\\n' ' '; echo", NULL};
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(kw_child_start(&child, argv, ends[1], &err), KW_OK);
    assert_int_equal(next(&child, &line), KW_CHILD_LINE);
    if (!kw_word_is(line, "0 1 2 3 4 ")) { /* 4 is the folder that ls looks at */
        print_error("open: %.*s\n", KW_WORD(line));
        fail();
    }
    kw_child_stop(&child, second);
    char text[16] = "";
    assert_int_equal(read(ends[0], text, sizeof text - 1), 7);
    assert_string_equal(text, "handed\n");
    close(ends[0]);
    close(ends[1]);
}

static void what_cannot_be_started_is_a_status(void **state) {
    (void)state;
    kw_child child;
    kw_error err = {0};
    const char *const argv[] = {"/nonexistent/program", NULL};
    skip_under_valgrind("a child that shares no memory with its parent cannot say why it was not started");
    assert_int_equal(kw_child_start(&child, argv, -1, &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, "/nonexistent/program"));
    assert_int_equal(child.pid, 0);
    assert_true(kw_child_has_exited(&child));
    const char *const shell[] = {"sh", NULL};
    assert_int_equal(kw_child_start(&child, shell, 0x7fffff, &err), KW_ENVIRONMENT);
    assert_no_children();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_as_they_were_written),
        cmocka_unit_test(the_end_of_input_ends_a_patient_child),
        cmocka_unit_test(a_child_that_stays_is_killed_with_its_own),
        cmocka_unit_test(an_end_is_seen_though_others_hold_the_line),
        cmocka_unit_test(the_last_words_are_kept_and_the_rest_is_dropped),
        cmocka_unit_test(a_line_without_end_is_told),
        cmocka_unit_test(sending_to_one_that_does_not_take_it_fails),
        cmocka_unit_test(waiting_ends_in_time),
        cmocka_unit_test(a_descriptor_is_handed_over_and_no_other),
        cmocka_unit_test(what_cannot_be_started_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
