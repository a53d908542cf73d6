/* test_segment_faults.c: segments that were cut off, altered, or written to a full disk. Only whole good lines are read, and adding goes on
 * behind whatever is there. The C library's write and fdatasync are wrapped (linker option --wrap) to fail at will. */
#include "store/io/reader.h"
#include "store/segment.h"
#include "store/sink.h"
#include "support/kw_test.h"
#include "support/rows/rows.h"
#include "support/scratch.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KERNELS = 7, ROWS = 6 };

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);

/* What the wrapped calls do: nothing special where at is 0. */
static struct {
    int at, count;     /* which call, from 1, and how many there were */
    int error;         /* its errno */
    size_t arrives;    /* bytes of that write that are written all the same */
    bool stays, syncs; /* stays: all later ones fail too; syncs: it is about fdatasync */
} fault;

ssize_t __wrap_write(int fd, const void *data, size_t size) {
    bool now = !fault.syncs && fault.at && (++fault.count == fault.at || (fault.stays && fault.count > fault.at));
    if (!now) {
        return __real_write(fd, data, size);
    }
    size_t part = fault.count == fault.at && fault.arrives < size ? fault.arrives : 0;
    if (part) {
        return __real_write(fd, data, part);
    }
    errno = fault.error;
    return -1;
}

int __wrap_fdatasync(int fd) {
    if (fault.syncs && fault.at && ++fault.count == fault.at) {
        errno = fault.error;
        return -1;
    }
    (void)fd;
    return 0; /* a real one shows nothing here */
}

static char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX];

static int set_up(void **state) {
    (void)state;
    memset(&fault, 0, sizeof fault);
    scratch_make(folder);
    scratch_path(path, folder, "part.jsonl");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

static kw_segment *open_segment(void) {
    kw_segment *segment = NULL;
    kw_error err = {0};
    if (kw_segment_open(&segment, path, &err)) {
        fail_msg("%s", err.text);
    }
    return segment;
}

static kw_status add(kw_segment *segment, int64_t from, int64_t count, kw_error *err) {
    static kw_row rows[64];
    for (int64_t i = 0; i < count; i++) {
        rows_make(&rows[i], from + i, KERNELS);
    }
    return kw_segment_add(segment, rows, (size_t)count, err);
}

static char *make_segment(size_t *size) {
    kw_segment *segment = open_segment();
    kw_run run;
    rows_run(&run);
    assert_int_equal(kw_segment_add_run(segment, &run, NULL), KW_OK);
    assert_int_equal(kw_segment_add_run(segment, &run, NULL), KW_OK); /* written once */
    assert_int_equal(add(segment, 0, ROWS, NULL), KW_OK);
    kw_segment_close(&segment);
    return scratch_read(path, size);
}

static kw_status take_row(void *user, const kw_row *row, kw_error *err) {
    kw_row made;
    (void)err;
    rows_make(&made, row->sequence, KERNELS);
    assert_true(rows_equal(&made, row));
    *(uint64_t *)user |= (uint64_t)1 << row->sequence % 64;
    return KW_OK;
}

static kw_segment_counts read_file(uint64_t *seen) {
    kw_segment_visitor visitor = {NULL, take_row, seen};
    kw_segment_counts counts;
    kw_error err = {0};
    *seen = 0;
    if (kw_segment_read(path, &visitor, &counts, &err)) {
        fail_msg("%s", err.text);
    }
    return counts;
}

static kw_segment_counts read_bytes(const char *bytes, size_t size, uint64_t *seen) {
    kw_segment_visitor visitor = {NULL, take_row, seen};
    kw_segment_counts counts;
    kw_reader *reader;
    *seen = 0;
    assert_int_equal(kw_reader_open_bytes(&reader, bytes, size, NULL), KW_OK);
    assert_int_equal(kw_segment_read_lines(reader, &visitor, &counts, NULL), KW_OK);
    kw_reader_close(&reader);
    return counts;
}

static void each_run_is_counted(void **state) {
    (void)state;
    size_t size;
    uint64_t seen;
    kw_run run;
    free(make_segment(&size));
    kw_segment *segment = open_segment();
    rows_run(&run);
    run.id[0] = run.id[0] == 'a' ? 'b' : 'a';
    assert_int_equal(kw_segment_add_run(segment, &run, NULL), KW_OK);
    kw_segment_close(&segment);
    assert_int_equal(read_file(&seen).runs, 2);
}

static void what_was_added_is_read_and_known_again(void **state) {
    (void)state;
    size_t size;
    uint64_t seen;
    free(make_segment(&size));
    kw_segment_counts counts = read_file(&seen);
    assert_int_equal(counts.rows, ROWS);
    assert_int_equal(counts.runs, 1);
    assert_int_equal(counts.damaged, 0);
    kw_segment *segment = open_segment();
    for (int64_t i = 0; i < 2 * ROWS; i++) {
        kw_row row;
        rows_make(&row, i, KERNELS);
        assert_int_equal(kw_segment_has(segment, row.target, row.problem, row.record.config, true, false), i < ROWS);
        assert_false(kw_segment_has(segment, row.target, row.problem, row.record.config, false, false));
    }
    kw_segment_close(&segment);
}

static void every_cut_leaves_exactly_the_whole_lines(void **state) {
    (void)state;
    size_t size;
    char *bytes = make_segment(&size);
    for (size_t left = 0; left <= size; left++) {
        uint64_t seen;
        kw_segment_counts counts = read_bytes(bytes, left, &seen);
        int64_t lines = 0, rest = 0;
        for (size_t i = 0; i < left; i++) {
            rest = bytes[i] == '\n' ? 0 : rest + 1;
            lines += bytes[i] == '\n';
        }
        bool whole_without_end = rest > 0 && bytes[left] == '\n';
        assert_int_equal(counts.rows + counts.runs, lines + whole_without_end);
        assert_int_equal(counts.damaged, rest > 0 && !whole_without_end);
    }
    print_message("%zu cuts\n", size + 1);
    free(bytes);
}

static void a_changed_byte_costs_its_own_line_and_at_most_the_next(void **state) {
    (void)state;
    size_t size;
    char *bytes = make_segment(&size);
    for (size_t at = 0; at < size; at++) {
        uint64_t seen;
        char kept = bytes[at];
        bytes[at] = (char)(kept ^ (1 << at % 8));
        kw_segment_counts counts = read_bytes(bytes, size, &seen);
        bytes[at] = kept;
        assert_true(counts.damaged >= 1);
        assert_true(counts.rows + counts.runs >= ROWS + 1 - (kept == '\n' ? 2 : 1));
        assert_true(counts.rows + counts.runs <= ROWS);
    }
    print_message("%zu bytes changed\n", size);
    free(bytes);
}

static void adding_goes_on_behind_a_line_that_was_cut_off(void **state) {
    (void)state;
    size_t size;
    char *bytes = make_segment(&size);
    int64_t cases = 0;
    for (size_t left = 0; left <= size; left += 97) {
        uint64_t before, after;
        scratch_write(path, bytes, left, 0644);
        kw_segment_counts old = read_file(&before);
        kw_segment *segment = open_segment();
        assert_int_equal(add(segment, 20, 2, NULL), KW_OK);
        kw_segment_close(&segment);
        kw_segment_counts now = read_file(&after);
        assert_int_equal(now.rows, old.rows + 2);
        assert_int_equal(now.damaged, old.damaged);
        assert_true(after == (before | (uint64_t)3 << 20));
        size_t size_now;
        char *text = scratch_read(path, &size_now);
        assert_memory_equal(text, bytes, left); /* what is there is never changed */
        free(text);
        cases++;
    }
    print_message("%lld repairs\n", (long long)cases);
    free(bytes);
}

static void a_write_that_fails_is_told_and_what_was_there_stays(void **state) {
    (void)state;
    static const struct {
        int error;
        size_t arrives;
        bool stays, syncs, told;
    } cases[] = {
        {ENOSPC, 0, true, false, true}, {ENOSPC, 100, true, false, true}, {EIO, 0, true, false, true},
        {EIO, 2000, true, false, true}, {EINTR, 0, false, false, false},  {EINTR, 1, false, false, false},
        {0, 777, false, false, false},  {EIO, 0, false, true, true},      {ENOSPC, 0, false, true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size;
        uint64_t seen;
        kw_error err = {0};
        unlink(path);
        free(make_segment(&size));
        kw_segment *segment = open_segment();
        memset(&fault, 0, sizeof fault);
        fault.at = 1;
        fault.error = cases[i].error;
        fault.arrives = cases[i].arrives;
        fault.stays = cases[i].stays;
        fault.syncs = cases[i].syncs;
        kw_status status = add(segment, 20, 4, &err);
        memset(&fault, 0, sizeof fault);
        assert_int_equal(status, cases[i].told ? KW_IO : KW_OK);
        kw_segment_counts counts = read_file(&seen);
        assert_true(counts.rows >= ROWS && (cases[i].told || counts.rows == ROWS + 4));
        assert_true((seen & 63) == 63);
        assert_int_equal(add(segment, 20, 4, &err), KW_OK); /* once there is room again */
        kw_segment_close(&segment);
        counts = read_file(&seen);
        assert_true((seen >> 20 & 15) == 15);
        assert_true(counts.damaged <= 1);
    }
}

static void killed_processes_leave_whole_lines(void **state) {
    (void)state;
    enum { KILLS = 40 };
    int64_t next = 0, confirmed_total = 0;
    kw_segment *first = NULL; /* the file is there, however early the first child ends */
    assert_int_equal(kw_segment_open(&first, path, NULL), KW_OK);
    kw_segment_close(&first);
    for (int i = 0; i < KILLS; i++) {
        int ends[2], how;
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            kw_segment *segment = NULL;
            for (int64_t at = kw_segment_open(&segment, path, NULL) ? -1 : next; at >= 0; at += 8) {
                if (add(segment, at, 8, NULL) || __real_write(ends[1], "x", 1) != 1) {
                    break;
                }
            }
            _exit(1);
        }
        close(ends[1]);
        struct timespec span = {0, (2 + i * 5 % 23) * 1000000};
        nanosleep(&span, NULL);
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, &how, 0), child);
        int64_t confirmed = 0;
        char bytes[64];
        for (ssize_t got; (got = read(ends[0], bytes, sizeof bytes)) > 0;) {
            confirmed += got * 8;
        }
        close(ends[0]);
        uint64_t seen;
        kw_segment_counts counts = read_file(&seen);
        assert_true(counts.rows >= next + confirmed);
        assert_true(counts.damaged <= i + 1);
        next = counts.rows;
        confirmed_total += confirmed;
    }
    print_message("%d kills: %lld confirmed rows, none lost\n", KILLS, (long long)confirmed_total);
    assert_true(confirmed_total > 0);
}

static void lines_too_long_and_files_that_are_none_are_counted(void **state) {
    (void)state;
    static char text[300000];
    uint64_t seen;
    memset(text, 'x', sizeof text);
    text[200000] = '\n';
    kw_segment_counts counts = read_bytes(text, sizeof text, &seen);
    assert_int_equal(counts.damaged, 2);
    counts = read_bytes("\n\n\r\n", 4, &seen);
    assert_int_equal(counts.damaged, 0);
    memset(text, 0, 1000);
    counts = read_bytes(text, 1000, &seen); /* as some file systems leave a file after a power cut */
    assert_int_equal(counts.damaged, 1);
    kw_segment *segment = NULL;
    kw_error err = {0};
    assert_int_equal(kw_segment_open(&segment, folder, &err), KW_IO);
    assert_int_equal(kw_segment_open(&segment, "/dev/null", &err), KW_IO);
    assert_null(segment);
}

static void a_second_writer_of_a_segment_is_refused_and_a_reader_is_not(void **state) {
    (void)state;
    kw_segment *first = NULL, *second = NULL;
    kw_error err = {0};
    uint64_t seen;
    assert_ok(kw_segment_open(&first, path, &err), &err);
    assert_int_equal(kw_segment_open(&second, path, &err), KW_IO);
    assert_non_null(strstr(err.text, "another process"));
    read_file(&seen);
    kw_segment_close(&first);
    assert_ok(kw_segment_open(&second, path, &err), &err);
    kw_segment_close(&second);
}

static void both_kinds_of_sink_take_and_know_rows(void **state) {
    (void)state;
    static const char *const names[] = {"a.jsonl", "a.db"};
    for (size_t i = 0; i < 2; i++) {
        kw_sink sink;
        kw_row row, other;
        kw_run run;
        kw_error err = {0};
        bool has = false;
        char name[2 * SCRATCH_MAX];
        rows_run(&run);
        rows_make(&row, 3, KERNELS);
        rows_make(&other, 4, KERNELS);
        for (int opened = 0; opened < 2; opened++) { /* the second time finds what the first one wrote */
            assert_int_equal(kw_sink_open(&sink, scratch_path(name, folder, names[i]), &err), KW_OK);
            assert_int_equal(kw_sink_add_run(&sink, &run, &err), KW_OK);
            if (!opened) {
                assert_int_equal(kw_sink_add(&sink, &row, 1, &err), KW_OK);
            }
            assert_int_equal(kw_sink_has(&sink, &has, &row, &err), KW_OK);
            assert_true(has);
            assert_int_equal(kw_sink_has(&sink, &has, &other, &err), KW_OK);
            assert_false(has);
            kw_sink_close(&sink);
        }
        assert_int_equal(kw_sink_open(&sink, name, &err), KW_OK);
        assert_int_equal(kw_sink_drop(&sink, &row, &err), i ? KW_OK : KW_ILLEGAL);
        assert_int_equal(kw_sink_has(&sink, &has, &row, &err), KW_OK);
        assert_int_equal(has, !i);
        kw_sink_close(&sink);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_added_is_read_and_known_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_run_is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_cut_leaves_exactly_the_whole_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_changed_byte_costs_its_own_line_and_at_most_the_next, set_up, tear_down),
        cmocka_unit_test_setup_teardown(adding_goes_on_behind_a_line_that_was_cut_off, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_write_that_fails_is_told_and_what_was_there_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(killed_processes_leave_whole_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lines_too_long_and_files_that_are_none_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_second_writer_of_a_segment_is_refused_and_a_reader_is_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(both_kinds_of_sink_take_and_know_rows, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
