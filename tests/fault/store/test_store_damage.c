/* test_store_damage.c: files that are not, or no longer, a store: flipped bytes, lost pages, hostile schemas, other programs' files, other
 * versions. Nothing of it may crash or be taken for good; recovering brings back what can still be read. */
#include "base/statistics/random.h"
#include "store/sqlite/schema.h"
#include "support/kw_test.h"
#include "support/rows/fault_vfs.h"
#include "support/rows/rows.h"
#include "support/scratch.h"

#include <unistd.h>

enum { KERNELS = 20, ROWS = 400, PAGE = 4096 };

static char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX];

/* Without real syncs, which show nothing here and are most of the time. */
static int set_up(void **state) {
    static const fault_plan none = {0};
    (void)state;
    fault_vfs_start(&none);
    scratch_make(folder);
    scratch_path(path, folder, "results.db");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    scratch_remove(folder);
    fault_vfs_stop();
    return 0;
}

static char *make_store(size_t *size) {
    static kw_row rows[ROWS];
    kw_store *store = NULL;
    kw_run run;
    kw_error err = {0};
    rows_run(&run);
    for (int64_t i = 0; i < ROWS; i++) {
        rows_make(&rows[i], i, KERNELS);
    }
    if (kw_store_open(&store, path, KW_STORE_WRITE, &err) || kw_store_add_run(store, &run, &err) ||
        kw_store_add(store, rows, ROWS, NULL, &err)) {
        fail_msg("%s", err.text);
    }
    kw_store_close(&store);
    return scratch_read(path, size);
}

typedef struct tally {
    int64_t rows, wrong;
} tally;

static bool compare(void *user, const kw_row *row) {
    tally *t = user;
    kw_row made;
    rows_make(&made, row->sequence, KERNELS);
    t->rows++;
    t->wrong += !rows_equal(&made, row);
    return true;
}

/* Rows that recovering brings back out of the file at path: all of them as they were. */
static int64_t recover_rows(void) {
    char to[2 * SCRATCH_MAX];
    int64_t recovered = 0;
    tally t = {0};
    kw_store *store = NULL;
    kw_error err = {0};
    scratch_path(to, folder, "recovered.db");
    unlink(to);
    if (kw_store_recover(path, to, &recovered, &err)) {
        assert_int_equal(recovered, 0);
        assert_int_not_equal(err.text[0], 0);
        return 0;
    }
    assert_int_equal(kw_store_open(&store, to, KW_STORE_READ, &err), KW_OK);
    assert_int_equal(kw_store_check(store, &err), KW_OK);
    assert_int_equal(kw_store_visit(store, NULL, compare, &t, &err), KW_OK);
    kw_store_close(&store);
    assert_int_equal(t.rows, recovered);
    assert_int_equal(t.wrong, 0);
    return recovered;
}

/* What a damaged file does: true when it is found out by opening or checking; else all its rows must be what they were. */
static bool is_found_out(void) {
    kw_store *store = NULL;
    kw_error err = {0};
    tally t = {0};
    kw_status status = kw_store_open(&store, path, KW_STORE_READ, &err);
    status = status ? status : kw_store_check(store, &err);
    if (!status) {
        assert_int_equal(kw_store_visit(store, NULL, compare, &t, &err), KW_OK);
        assert_int_equal(t.rows, ROWS);
        assert_int_equal(t.wrong, 0);
    } else {
        assert_int_not_equal(err.text[0], 0);
        if (store) { /* visiting all the same must not crash */
            kw_store_visit(store, NULL, compare, &t, NULL);
        }
    }
    kw_store_close(&store);
    return status != KW_OK;
}

static void flipped_bytes_are_found_and_the_other_rows_recovered(void **state) {
    (void)state;
    enum { FLIPS = 150 };
    size_t size;
    char *good = make_store(&size);
    int64_t found = 0, recovered = 0;
    uint64_t random = 5;
    for (int i = 0; i < FLIPS; i++) {
        size_t at = (size_t)kw_random_below(&random, size);
        good[at] = (char)(good[at] ^ (1 << i % 8));
        scratch_write(path, good, size, 0644);
        good[at] = (char)(good[at] ^ (1 << i % 8));
        if (is_found_out()) {
            found++;
            recovered += recover_rows();
        }
    }
    free(good);
    print_message("%d flipped bits in %zu bytes: %lld found, the others in unused space; of their rows %.1f %% recovered\n", FLIPS, size,
                  (long long)found, 100 * (double)recovered / (double)(found * ROWS));
    assert_true(found > FLIPS / 2);
    assert_true(recovered > found * ROWS * 9 / 10);
}

static void lost_pages_cost_their_own_rows(void **state) {
    (void)state;
    size_t size;
    char *good = make_store(&size), kept[PAGE];
    int64_t pages = (int64_t)(size / PAGE), found = 0, most = 0;
    for (int64_t page = 0; page < pages; page++) {
        memcpy(kept, good + page * PAGE, PAGE);
        memset(good + page * PAGE, 0, PAGE);
        scratch_write(path, good, size, 0644);
        memcpy(good + page * PAGE, kept, PAGE);
        assert_true(is_found_out());
        found++;
        most += recover_rows() >= ROWS * 9 / 10;
    }
    free(good);
    print_message("%lld pages lost one by one: all found, nine tenths of the rows recovered in %lld cases\n", (long long)found,
                  (long long)most);
    assert_true(most > pages * 3 / 4); /* else it was the page of a list of pages or of tables */
}

/* Rows that were dropped leave gaps in the numbers: of rows 40 numbers apart all are brought back. */
static void rows_with_gaps_between_them_are_recovered(void **state) {
    (void)state;
    size_t size;
    sqlite3 *db = NULL;
    free(make_store(&size));
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "PRAGMA foreign_keys = OFF; UPDATE record SET id = -40 * id; UPDATE record SET id = -id", NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(recover_rows(), ROWS);
}

static void files_cut_off_are_found_at_every_page(void **state) {
    (void)state;
    size_t size;
    char *good = make_store(&size);
    for (size_t left = 0; left < size; left += 5 * PAGE / 2) {
        scratch_write(path, good, left, 0644);
        assert_true(is_found_out());
        recover_rows();
    }
    free(good);
}

static void other_files_are_refused_with_the_reason(void **state) {
    (void)state;
    static const struct {
        const char *sql, *reason; /* sql NULL: the bytes of reason are the file */
        kw_status status;
    } cases[] = {
        {"CREATE TABLE t(x)", "of another program", KW_MALFORMED},
        {"PRAGMA application_id = 1", "of another program", KW_MALFORMED},
        {"PRAGMA application_id = 0x4b577374; PRAGMA user_version = 99; CREATE TABLE t(x)", "newer kwright", KW_ILLEGAL},
        {"PRAGMA application_id = 0x4b577374; PRAGMA user_version = -1; CREATE TABLE t(x)", "never was", KW_MALFORMED},
        {"PRAGMA application_id = 0x4b577374; PRAGMA user_version = 1; CREATE TABLE record(id)", "is another", KW_MALFORMED},
        {"PRAGMA application_id = 0x4b577374; PRAGMA user_version = 1; CREATE VIEW record AS SELECT load_extension('x') AS id",
         "is another", KW_MALFORMED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int access = KW_STORE_READ; access <= KW_STORE_WRITE; access++) {
            sqlite3 *db = NULL;
            kw_store *store = NULL;
            kw_error err = {0};
            unlink(path);
            assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
            assert_int_equal(sqlite3_exec(db, cases[i].sql, NULL, NULL, NULL), SQLITE_OK);
            sqlite3_close(db);
            size_t size, size_after;
            char *before = scratch_read(path, &size);
            assert_int_equal(kw_store_open(&store, path, (kw_store_access)access, &err), cases[i].status);
            if (!strstr(err.text, cases[i].reason)) {
                fail_msg("%s: %s", cases[i].sql, err.text);
            }
            char *after = scratch_read(path, &size_after);
            assert_int_equal(size, size_after); /* and left alone */
            assert_memory_equal(before, after, size);
            free(before);
            free(after);
        }
    }
}

/* A file that is not there is no store to recover, and nothing is made in its place. */
static void what_is_not_there_is_not_recovered(void **state) {
    (void)state;
    char to[2 * SCRATCH_MAX];
    int64_t recovered = 7;
    kw_error err = {0};
    scratch_path(to, folder, "recovered.db");
    unlink(path);
    assert_int_not_equal(kw_store_recover(path, to, &recovered, &err), KW_OK);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(recovered, 0);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_not_equal(access(to, F_OK), 0);
}

static void garbage_and_empty_files_are_refused(void **state) {
    (void)state;
    char garbage[3 * PAGE];
    kw_store *store = NULL;
    kw_error err = {0};
    for (size_t i = 0; i < sizeof garbage; i++) {
        garbage[i] = (char)(i * 131 + i / 7);
    }
    scratch_write(path, garbage, sizeof garbage, 0644);
    assert_int_equal(kw_store_open(&store, path, KW_STORE_READ, &err), KW_MALFORMED);
    assert_int_equal(kw_store_open(&store, path, KW_STORE_WRITE, &err), KW_MALFORMED);
    assert_non_null(strstr(err.text, "not a store"));
    scratch_write(path, "", 0, 0644);
    assert_int_equal(kw_store_open(&store, path, KW_STORE_READ, &err), KW_MISSING);
    assert_int_equal(kw_store_open(&store, path, KW_STORE_WRITE, &err), KW_OK); /* as mktemp leaves it */
    kw_store_close(&store);
}

/* A writer that was killed before its first transaction leaves a file of SQLite without a table. */
static void a_store_that_was_never_made_is_told_and_made(void **state) {
    (void)state;
    kw_store *store = NULL;
    kw_error err = {0};
    sqlite3 *db = NULL;
    unlink(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode = WAL; CREATE TABLE t(a); DROP TABLE t", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(kw_store_open(&store, path, KW_STORE_READ, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "there is no store in"));
    assert_null(strstr(err.text, "version"));
    assert_ok(kw_store_open(&store, path, KW_STORE_WRITE, &err), &err);
    kw_store_close(&store);
    assert_ok(kw_store_open(&store, path, KW_STORE_READ, &err), &err);
    kw_store_close(&store);
}

/* Triggers and views that somebody put into a store do nothing while we use it. */
static void what_a_stranger_added_is_not_run(void **state) {
    (void)state;
    size_t size;
    free(make_store(&size));
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "CREATE TRIGGER evil AFTER INSERT ON record BEGIN DELETE FROM record; END;"
                                  "CREATE VIEW mine AS SELECT 1",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    kw_store *store = NULL;
    kw_error err = {0};
    kw_row row;
    kw_store_counts counts;
    rows_make(&row, ROWS, KERNELS);
    assert_int_equal(kw_store_open(&store, path, KW_STORE_WRITE, &err), KW_OK);
    assert_int_equal(kw_store_add(store, &row, 1, NULL, &err), KW_OK);
    assert_int_equal(kw_store_count(store, &counts, &err), KW_OK);
    assert_int_equal(counts.rows, ROWS + 1);
    kw_store_close(&store);
}

/* The machinery of versions with steps of its own, since there is one version only. */
static void an_older_file_is_copied_and_brought_up_to_date(void **state) {
    (void)state;
    static const char *const steps[] = {"CREATE TABLE a(x INTEGER) STRICT", "ALTER TABLE a ADD COLUMN y INTEGER NOT NULL DEFAULT 7",
                                        "CREATE INDEX a_y ON a(y)"};
    const kw_schema first = {steps, 1}, third = {steps, 3}, broken = {(const char *const[]){steps[0], steps[1], "CREATE NONSENSE"}, 3};
    char copy[2 * SCRATCH_MAX + 8];
    sqlite3 *db = NULL;
    kw_error err = {0};
    int version = -1;
    snprintf(copy, sizeof copy, "%s.v1", path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(kw_schema_version(db, path, &first, &version, &err), KW_OK);
    assert_int_equal(version, 0);
    assert_int_equal(kw_schema_upgrade(db, path, &first, 0, &err), KW_OK);
    assert_int_equal(access(copy, F_OK), -1); /* a new file has no older self to copy */
    assert_int_equal(sqlite3_exec(db, "INSERT INTO a VALUES(42)", NULL, NULL, NULL), SQLITE_OK);

    assert_int_not_equal(kw_schema_upgrade(db, path, &broken, 1, &err), KW_OK);
    assert_int_equal(kw_schema_version(db, path, &third, &version, &err), KW_OK);
    assert_int_equal(version, 1); /* a step that fails undoes those before it */
    assert_int_equal(kw_schema_check(db, path, &first, &err), KW_OK);
    assert_int_equal(kw_schema_upgrade(db, path, &third, 1, &err), KW_IO); /* the copy of before is not written over */
    assert_non_null(strstr(err.text, ".v1"));
    assert_int_equal(unlink(copy), 0);

    assert_int_equal(kw_schema_upgrade(db, path, &third, 1, &err), KW_OK);
    assert_int_equal(kw_schema_version(db, path, &third, &version, &err), KW_OK);
    assert_int_equal(version, 3);
    assert_int_equal(kw_schema_check(db, path, &third, &err), KW_OK);
    assert_int_equal(sqlite3_exec(db, "SELECT 1 / (x = 42 AND y = 7) FROM a", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(kw_schema_version(db, path, &first, &version, &err), KW_ILLEGAL); /* an older program refuses */
    sqlite3_close(db);

    assert_int_equal(sqlite3_open(copy, &db), SQLITE_OK);
    assert_int_equal(kw_schema_version(db, copy, &third, &version, &err), KW_OK);
    assert_int_equal(version, 1);
    assert_int_equal(kw_schema_check(db, copy, &first, &err), KW_OK);
    sqlite3_close(db);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_with_gaps_between_them_are_recovered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(flipped_bytes_are_found_and_the_other_rows_recovered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lost_pages_cost_their_own_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_cut_off_are_found_at_every_page, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_files_are_refused_with_the_reason, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_not_recovered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(garbage_and_empty_files_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_store_that_was_never_made_is_told_and_made, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_stranger_added_is_not_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_older_file_is_copied_and_brought_up_to_date, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
