/* recover.c: rows out of a damaged file. Each row is asked for alone, by its number in the table, so that a page that cannot be read costs
 * the rows on it and no others; indexes, which may be damaged too, are not used. A row counts as recovered when it still is what its
 * digest says. */
#include "store/line.h"
#include "store/sqlite/store.h"
#include "store/line.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A row takes more bytes of a file than this, so a file cannot have more rows. */
enum { ROW_BYTES = 64, GAPS = 16, BATCH = 64 };

typedef struct recovery {
    sqlite3 *db;
    const char *path;
    kw_store *to;
    kw_row rows[BATCH];
    size_t count;
    int64_t recovered;
} recovery;

static kw_status flush_recovered(recovery *r, kw_error *err) {
    size_t added = 0;
    kw_status status = r->count ? kw_store_add(r->to, r->rows, r->count, &added, err) : KW_OK;
    r->recovered += (int64_t)added;
    r->count = 0;
    return status;
}

/* The highest number of the table's rows, as far as it can be believed: a damaged file may say too little or too much. Dropped rows leave
 * gaps in the numbers. */
static int64_t last_number(const recovery *r, const char *sql) {
    sqlite3_stmt *statement = NULL;
    struct stat info;
    int64_t last = stat(r->path, &info) ? 0 : info.st_size / ROW_BYTES;
    if (!sqlite3_prepare_v2(r->db, sql, -1, &statement, NULL) && sqlite3_step(statement) == SQLITE_ROW) {
        int64_t said = sqlite3_column_int64(statement, 0);
        last = said > GAPS * last ? GAPS * last : said > last ? said : last;
    }
    sqlite3_finalize(statement);
    return last;
}

static kw_status recover_runs(recovery *r, kw_error *err) {
    sqlite3_stmt *statement = NULL;
    kw_status status = KW_OK;
    if (sqlite3_prepare_v2(r->db, "SELECT * FROM run WHERE number = ?1", -1, &statement, NULL)) {
        return KW_OK; /* rows name their run all the same */
    }
    int64_t last = last_number(r, "SELECT max(number) FROM run");
    for (int64_t number = 1; !status && number <= last; number++) {
        kw_run run;
        kw_error why = {0};
        sqlite3_reset(statement);
        sqlite3_bind_int64(statement, 1, number);
        if (sqlite3_step(statement) == SQLITE_ROW && !kw_store_column_run(&run, statement, r->path, NULL)) {
            status = kw_store_add_run(r->to, &run, &why);
            status = status == KW_IO || status == KW_NO_MEMORY ? kw_fail(err, status, "%s", why.text) : KW_OK;
        }
    }
    sqlite3_finalize(statement);
    return status;
}

static kw_status recover_rows(recovery *r, kw_error *err) {
    kw_text sql = {0};
    sqlite3_stmt *statement = NULL;
    kw_store_add_select(&sql);
    kw_text_add(&sql, " WHERE record.id = ?1");
    int code = sql.failed ? SQLITE_NOMEM : sqlite3_prepare_v2(r->db, sql.data, -1, &statement, NULL);
    kw_text_drop(&sql);
    if (code) {
        return kw_fail(err, KW_MALFORMED, "%s: not even the list of its tables can be read, so no row can be recovered", r->path);
    }
    kw_status status = KW_OK;
    int64_t last = last_number(r, "SELECT max(id) FROM record");
    for (int64_t number = 1; !status && number <= last; number++) {
        char stored[KW_HASH_TEXT], digest[KW_HASH_TEXT];
        kw_row *row = &r->rows[r->count];
        sqlite3_reset(statement);
        sqlite3_bind_int64(statement, 1, number);
        if (sqlite3_step(statement) != SQLITE_ROW || kw_store_read_row(row, stored, statement, r->path, NULL) ||
            kw_row_digest(digest, row, NULL) || strcmp(stored, digest) != 0) {
            continue;
        }
        status = ++r->count == BATCH ? flush_recovered(r, err) : KW_OK;
    }
    sqlite3_finalize(statement);
    return status ? status : flush_recovered(r, err);
}

kw_status kw_store_recover(const char *damaged, const char *path, int64_t *recovered, kw_error *err) {
    recovery r = {.path = damaged};
    if (recovered) {
        *recovered = 0;
    }
    if (!access(path, F_OK)) {
        return kw_fail(err, KW_IO, "%s is there already; recovered rows go to a new file", path);
    }
    kw_status status = kw_store_open_raw(&r.db, damaged, err);
    status = status ? status : kw_store_open(&r.to, path, KW_STORE_WRITE, err);
    if (!status) {
        sqlite3_exec(r.db, "BEGIN", NULL, NULL, NULL); /* one lock for all questions; without it each takes its own */
    }
    status = status ? status : recover_runs(&r, err);
    status = status ? status : recover_rows(&r, err);
    kw_store_close(&r.to);
    sqlite3_close(r.db);
    if (recovered) {
        *recovered = r.recovered;
    }
    return status;
}
