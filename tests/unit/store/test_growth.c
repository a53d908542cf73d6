/* test_growth.c: what a store is asked while a sweep runs takes no more work when it has many times the rows, and a row takes so much room and no
 * more. Work is counted in steps of SQLite's machine, so a slow machine makes no difference; store_scale gives times. `make check-growth`
 * asks it of a million rows (KW_GROWTH_ROWS). */
#include "store/sqlite/store.h"
#include "support/kw_test.h"
#include "support/rows/rows.h"
#include "support/scratch.h"

#include <sys/resource.h>
#include <sys/stat.h>

/* A sanitizer keeps what was freed for a while. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
enum { KERNELS = 10, FEW = 500, MANY = 16 * FEW, BATCH = 100, QUESTIONS = 50, ROW_BYTES = 600, VISIT_KIB = 32 << 10 };

static int count_step(void *steps) {
    ++*(int64_t *)steps;
    return 0;
}

static bool count_row(void *user, const kw_row *row) {
    (void)row;
    ++*(int64_t *)user;
    return true;
}

static void add_rows(kw_store *store, int64_t from, int64_t to) {
    kw_row *rows = calloc(BATCH, sizeof *rows);
    kw_error err = {0};
    assert_non_null(rows);
    for (int64_t at = from; at < to; at += BATCH) {
        for (int64_t i = 0; i < BATCH; i++) {
            rows_make(&rows[i], at + i, KERNELS);
        }
        assert_ok(kw_store_add(store, rows, BATCH, NULL, &err), &err);
    }
    free(rows);
}

/* Steps that a store of so many rows needs: whether pairs have rows, the answers of a problem, and a batch more. */
typedef struct work {
    int64_t has, answers, add;
} work;

static work measure_work(kw_store *store, int64_t rows) {
    work w = {0};
    kw_error err = {0};
    kw_row row;
    int64_t found = 0;
    sqlite3_progress_handler(store->db, 1, count_step, &w.has);
    for (int64_t i = 0; i < QUESTIONS; i++) {
        bool has = false;
        rows_make(&row, i * 7919 % rows, KERNELS);
        assert_ok(kw_store_has(store, &has, row.target, row.problem, row.record.config, row.packed, row.record.cold, &err), &err);
        found += has;
    }
    assert_true(found > 0);
    sqlite3_progress_handler(store->db, 1, count_step, &w.answers);
    for (int64_t i = 0; i < QUESTIONS; i++) {
        rows_make(&row, i * 7919 % rows, KERNELS);
        kw_row_filter filter = {.size = sizeof(kw_row_filter), .target = row.target, .problem = row.problem, .answers = true};
        found = 0;
        assert_ok(kw_store_visit(store, &filter, count_row, &found, &err), &err);
        assert_true(found > 0 && found <= KERNELS);
    }
    sqlite3_progress_handler(store->db, 1, count_step, &w.add);
    add_rows(store, rows, rows + BATCH);
    sqlite3_progress_handler(store->db, 0, NULL, NULL);
    return w;
}

/* The rows of the larger store. */
static int64_t many_rows(void) {
    const char *text = getenv("KW_GROWTH_ROWS");
    int64_t rows = text ? strtoll(text, NULL, 10) / BATCH * BATCH : MANY;
    assert_true(rows >= MANY);
    return rows;
}

/* The most memory that this process has had, in KiB. */
static int64_t most_memory(void) {
    struct rusage used;
    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    return used.ru_maxrss;
}

/* Every row is visited once, the answers as well, in memory that does not grow with them. */
static void visit_all(kw_store *store, int64_t rows) {
    kw_error err = {0};
    kw_store_counts counts = {0};
    int64_t visited = 0, answers = 0, before = most_memory();
    kw_row_filter filter = {.size = sizeof(kw_row_filter)};
    assert_ok(kw_store_visit(store, &filter, count_row, &visited, &err), &err);
    filter.answers = true;
    assert_ok(kw_store_visit(store, &filter, count_row, &answers, &err), &err);
    assert_ok(kw_store_count(store, &counts, &err), &err);
    assert_int_equal(visited, rows);
    assert_int_equal(answers, rows);
    assert_int_equal(counts.rows, rows);
    print_message("%lld rows and as many answers visited, %lld KiB more than before\n", (long long)rows,
                  (long long)(most_memory() - before));
    assert_true(SANITIZED || most_memory() - before <= VISIT_KIB);
    assert_ok(kw_store_check(store, &err), &err);
}

static void work_and_room_do_not_grow_with_the_rows(void **state) {
    (void)state;
    char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX];
    kw_store *store = NULL;
    kw_error err = {0};
    struct stat info;
    int64_t rows = many_rows();
    scratch_path(path, scratch_make(folder), "results.db");
    assert_ok(kw_store_open(&store, path, KW_STORE_WRITE, &err), &err);
    add_rows(store, 0, FEW);
    work few = measure_work(store, FEW);
    add_rows(store, FEW + BATCH, rows);
    work many = measure_work(store, rows);
    visit_all(store, rows + BATCH);
    kw_store_close(&store);
    assert_int_equal(stat(path, &info), 0);
    print_message("steps with %d and %lld rows: has %lld and %lld, answers %lld and %lld, adding %lld and %lld; %lld bytes a row\n", FEW,
                  (long long)rows, (long long)few.has, (long long)many.has, (long long)few.answers, (long long)many.answers,
                  (long long)few.add, (long long)many.add, (long long)info.st_size / (rows + BATCH));
    assert_true(few.has > 0 && few.answers > 0 && few.add > 0);
    assert_true(many.has <= 2 * few.has && many.answers <= 2 * few.answers && many.add <= 2 * few.add);
    assert_true(info.st_size <= (off_t)(ROW_BYTES * (rows + BATCH)));
    scratch_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(work_and_room_do_not_grow_with_the_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
