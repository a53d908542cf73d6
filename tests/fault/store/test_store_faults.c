/* test_store_faults.c: disks that are full, lie or lose power, and processes that die, under a store. What must hold each time: a failure is
 * said, no batch is there in part, what was confirmed is there, and the file can be opened and written again. */
#include "support/kw_test.h"
#include "support/rows/fault_vfs.h"
#include "support/rows/rows.h"
#include "support/scratch.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KERNELS = 7, BATCH = 10, BEFORE = 3, BATCHES = 6 };

static char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX];

static int set_up(void **state) {
    (void)state;
    scratch_make(folder);
    scratch_path(path, folder, "results.db");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

static void remove_store(void) {
    static const char *const endings[] = {"", "-wal", "-shm", "-journal", "-lock"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char name[2 * SCRATCH_MAX + 16];
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}

static kw_status add_batch(kw_store *store, int64_t batch, kw_error *err) {
    static kw_row rows[BATCH];
    for (int64_t i = 0; i < BATCH; i++) {
        rows_make(&rows[i], batch * BATCH + i, KERNELS);
    }
    return kw_store_add(store, rows, BATCH, NULL, err);
}

static bool match(void *user, const kw_row *row) {
    kw_row made;
    rows_make(&made, row->sequence, KERNELS);
    assert_true(rows_equal(&made, row));
    ++*(int64_t *)user;
    return true;
}

/* Opens the store, looks at all of it, and returns how many batches it has: none in part. */
static int64_t whole_batches(kw_store_access access) {
    kw_store *store = NULL;
    kw_error err = {0};
    int64_t rows = 0;
    if (kw_store_open(&store, path, access, &err) || kw_store_check(store, &err) || kw_store_visit(store, NULL, match, &rows, &err)) {
        fail_msg("%s", err.text);
    }
    kw_store_close(&store);
    assert_int_equal(rows % BATCH, 0);
    return rows / BATCH;
}

static void make_store(int64_t batches) {
    kw_store *store = NULL;
    kw_error err = {0};
    remove_store();
    assert_int_equal(kw_store_open(&store, path, KW_STORE_WRITE, &err), KW_OK);
    for (int64_t i = 0; i < batches; i++) {
        assert_int_equal(add_batch(store, i, &err), KW_OK);
    }
    kw_store_close(&store);
}

/* The first store of each case, made once; looking at one afterwards. Both without real syncs, which are most of the time. */
static char *first_bytes;
static size_t first_size;

static void restore_first_store(void) {
    static const fault_plan none = {0};
    if (!first_bytes) {
        fault_vfs_start(&none);
        make_store(BEFORE);
        fault_vfs_stop();
        first_bytes = scratch_read(path, &first_size);
    }
    remove_store();
    scratch_write(path, first_bytes, first_size, 0644);
}

static int64_t whole_batches_quickly(void) {
    static const fault_plan none = {0};
    fault_vfs_start(&none);
    int64_t batches = whole_batches(KW_STORE_WRITE);
    fault_vfs_stop();
    return batches;
}

/* Adds the batches behind the first ones; returns how many were confirmed, and says of each failure that it is one of the disk's. */
static int64_t work(void) {
    kw_store *store = NULL;
    kw_error err = {0};
    int64_t confirmed = 0;
    kw_status status = kw_store_open(&store, path, KW_STORE_WRITE, &err);
    for (int64_t i = 0; !status && i < BATCHES; i++) {
        err = (kw_error){0};
        if (add_batch(store, BEFORE + i, &err) == KW_OK) {
            confirmed++;
        } else {
            assert_int_equal(err.status, KW_IO);
            assert_non_null(strstr(err.text, path));
        }
    }
    kw_store_close(&store);
    return confirmed;
}

static int64_t count_operations(bool no_wal) {
    fault_plan none = {.no_wal = no_wal};
    restore_first_store();
    fault_vfs_start(&none);
    assert_int_equal(work(), BATCHES);
    return fault_vfs_stop();
}

static void every_failing_write_or_sync_is_told_and_loses_nothing(void **state) {
    (void)state;
    int64_t cases = 0, lost_batches = 0, returned = 0;
    for (int no_wal = 0; no_wal < 2; no_wal++) {
        int64_t operations = count_operations(no_wal);
        for (int64_t at = 1; at <= operations; at++) {
            /* Kinds take turns, also among the operations of one sort. */
            fault_plan plan = {.kind = (fault_kind)(FAULT_FULL + (at + at / 3) % 3), .at = at, .stays = at / 2 % 2, .no_wal = no_wal};
            restore_first_store();
            fault_vfs_start(&plan);
            int64_t confirmed = work();
            fault_vfs_stop();
            assert_true(fault_vfs_happened());
            int64_t found = whole_batches_quickly() - BEFORE;
            /* A commit that failed at its very end may turn out to be on the disk: no harm, its rows are known when they come again. */
            assert_true(found >= confirmed && found <= BATCHES);
            lost_batches += BATCHES - confirmed;
            returned += found - confirmed;
            cases++;
        }
    }
    print_message("%lld faults: %lld batches refused, of which %lld were on the disk all the same, none lost\n", (long long)cases,
                  (long long)lost_batches, (long long)returned);
    assert_true(cases > 200 && lost_batches > cases / 4);
}

static void power_cuts_lose_no_confirmed_row(void **state) {
    (void)state;
    int64_t cases = 0, confirmed_total = 0;
    for (int no_wal = 0; no_wal < 2; no_wal++) {
        int64_t operations = count_operations(no_wal);
        for (int64_t at = 1; at <= operations; at++) {
            fault_plan plan = {.kind = FAULT_POWER, .at = at, .no_wal = no_wal, .seed = at % 3 ? (uint64_t)at : 0};
            restore_first_store();
            fault_vfs_start(&plan);
            int64_t confirmed = work();
            fault_vfs_stop();
            fault_vfs_restore();
            int64_t found = whole_batches_quickly() - BEFORE;
            assert_true(found >= confirmed);
            confirmed_total += confirmed;
            cases++;
        }
    }
    print_message("%lld power cuts: %lld confirmed batches, none lost\n", (long long)cases, (long long)confirmed_total);
    assert_true(cases > 100 && confirmed_total > cases);
}

/* Makes a store and is stopped at an operation; what a reader then says of it, and that a writer makes it. */
static bool read_half_made(const fault_plan *plan, bool power) {
    static const fault_plan none = {0};
    kw_store *store = NULL;
    kw_error err = {0};
    remove_store();
    fault_vfs_start(plan);
    kw_store_open(&store, path, KW_STORE_WRITE, NULL);
    kw_store_close(&store);
    fault_vfs_stop();
    if (power) {
        fault_vfs_restore();
    }
    fault_vfs_start(&none);
    kw_status status = kw_store_open(&store, path, KW_STORE_READ, &err);
    kw_store_close(&store);
    if (status && (status != KW_MISSING || strstr(err.text, "version"))) {
        fail_msg("stopped at operation %lld: %s", (long long)plan->at, err.text);
    }
    assert_int_equal(kw_store_open(&store, path, KW_STORE_WRITE, NULL), KW_OK);
    kw_store_close(&store);
    fault_vfs_stop();
    return !status;
}

static void a_store_stopped_while_it_was_made_is_none_yet_or_whole(void **state) {
    (void)state;
    int64_t cases = 0, whole = 0;
    for (int kind = 0; kind < 4; kind++) { /* with a log or without; nothing is written any more, or no power */
        fault_plan plan = {.no_wal = kind % 2};
        remove_store();
        fault_vfs_start(&plan);
        make_store(0);
        int64_t operations = fault_vfs_stop();
        for (int64_t at = 1; at <= operations; at++) {
            plan = (fault_plan){.kind = FAULT_ERROR, .at = at, .stays = true, .no_wal = kind % 2};
            if (kind >= 2) {
                plan = (fault_plan){.kind = FAULT_POWER, .at = at, .no_wal = kind % 2, .seed = at % 3 ? (uint64_t)at : 0};
            }
            whole += read_half_made(&plan, kind >= 2);
            cases++;
        }
    }
    print_message("stopped %lld times while it was made: %lld stores, none of them half\n", (long long)cases, (long long)whole);
    assert_true(cases > 40 && whole > 0 && whole < cases);
}

/* A child that adds batches and writes a byte to the pipe for each that was confirmed. */
static pid_t start_writer(int *confirmations, int64_t first) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        kw_store *store = NULL;
        if (kw_store_open(&store, path, KW_STORE_WRITE, NULL)) {
            _exit(1);
        }
        for (int64_t i = first;; i++) {
            if (add_batch(store, i, NULL) || write(ends[1], "x", 1) != 1) {
                _exit(2);
            }
        }
    }
    close(ends[1]);
    *confirmations = ends[0];
    return child;
}

static int64_t kill_writer(pid_t child, int confirmations) {
    char bytes[256];
    int64_t count = 0;
    int how;
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    for (ssize_t got; (got = read(confirmations, bytes, sizeof bytes)) > 0;) {
        count += got;
    }
    close(confirmations);
    return count;
}

static void wait_ms(int64_t ms) {
    struct timespec span = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&span, NULL);
}

static char wait_for_first(int confirmations) {
    char byte = 0;
    assert_int_equal(read(confirmations, &byte, 1), 1);
    return byte;
}

static void killed_writers_lose_no_confirmed_row_and_leave_no_lock(void **state) {
    (void)state;
    enum { KILLS = 40 };
    int64_t batches = 0, confirmed_total = 0;
    make_store(0);
    for (int i = 0; i < KILLS; i++) {
        int confirmations;
        pid_t child = start_writer(&confirmations, batches);
        int64_t first = i % 2 && wait_for_first(confirmations) == 'x'; /* however slow the machine, half of them have begun */
        wait_ms(3 + i * 7 % 40);
        int64_t confirmed = first + kill_writer(child, confirmations);
        int64_t found = whole_batches(i % 2 ? KW_STORE_READ : KW_STORE_WRITE);
        assert_true(found >= batches + confirmed && found <= batches + confirmed + 1);
        batches = found;
        confirmed_total += confirmed;
    }
    print_message("%d kills: %lld confirmed batches, none lost\n", KILLS, (long long)confirmed_total);
    assert_true(confirmed_total > 0);
}

static void a_second_writer_is_told_at_once_who_the_first_is(void **state) {
    (void)state;
    int confirmations;
    char who[64];
    kw_store *store = NULL;
    kw_error err = {0};
    make_store(0);
    pid_t child = start_writer(&confirmations, 0);
    wait_for_first(confirmations);
    time_t start = time(NULL);
    assert_int_equal(kw_store_open(&store, path, KW_STORE_WRITE, &err), KW_IO);
    assert_true(time(NULL) - start < 3);
    snprintf(who, sizeof who, "process %lld on ", (long long)child);
    assert_non_null(strstr(err.text, who));
    assert_int_equal(kw_store_open(&store, path, KW_STORE_READ, &err), KW_OK); /* reading goes on beside it */
    int64_t rows = 0;
    assert_int_equal(kw_store_visit(store, NULL, match, &rows, &err), KW_OK);
    assert_true(rows >= BATCH);
    kw_store_close(&store);
    kill_writer(child, confirmations);
    assert_int_equal(kw_store_open(&store, path, KW_STORE_WRITE, &err), KW_OK);
    kw_store_close(&store);
}

static void a_log_that_somebody_deleted_costs_rows_but_not_the_store(void **state) {
    (void)state;
    int confirmations;
    char log[2 * SCRATCH_MAX + 8];
    make_store(BEFORE);
    pid_t child = start_writer(&confirmations, BEFORE);
    wait_for_first(confirmations);
    kill_writer(child, confirmations);
    snprintf(log, sizeof log, "%s-wal", path);
    unlink(log);
    assert_true(whole_batches(KW_STORE_WRITE) >= BEFORE);
}

static void a_store_in_a_folder_that_cannot_be_written_is_read(void **state) {
    (void)state;
    make_store(BEFORE);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    bool root = geteuid() == 0;
    if (root) {
        assert_int_equal(seteuid(65534), 0);
    }
    kw_store *store = NULL;
    kw_error err = {0};
    int64_t rows = 0;
    kw_status reading = kw_store_open(&store, path, KW_STORE_READ, &err);
    reading = reading ? reading : kw_store_visit(store, NULL, match, &rows, &err);
    kw_store_close(&store);
    kw_status writing = kw_store_open(&store, path, KW_STORE_WRITE, &err);
    if (root) {
        assert_int_equal(seteuid(0), 0);
    }
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(reading, KW_OK);
    assert_int_equal(rows, BEFORE * BATCH);
    assert_int_equal(writing, KW_IO);
    assert_non_null(strstr(err.text, "cannot write"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_failing_write_or_sync_is_told_and_loses_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(power_cuts_lose_no_confirmed_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_store_stopped_while_it_was_made_is_none_yet_or_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(killed_writers_lose_no_confirmed_row_and_leave_no_lock, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_second_writer_is_told_at_once_who_the_first_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_log_that_somebody_deleted_costs_rows_but_not_the_store, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_store_in_a_folder_that_cannot_be_written_is_read, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
