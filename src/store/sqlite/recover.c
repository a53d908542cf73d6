/* recover.c: rows out of a damaged file. Each row is asked for alone, by its number in the table, so that a page that cannot be read costs
 * the rows on it and no others; indexes, which may be damaged too, are not used. A row counts as recovered when it still is what its
 * digest says. */
#include "store/line.h"
#include "store/sqlite/store.h"

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
static kw_status last_number(int64_t *number, const recovery *r, const char *sql, kw_error *err) {
    sqlite3_stmt *statement = NULL;
    struct stat info;
    int64_t last = stat(r->path, &info) ? 0 : info.st_size / ROW_BYTES;
    int code = sqlite3_prepare_v2(r->db, sql, -1, &statement, NULL);
    code = code ? code : sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        int64_t said = sqlite3_column_int64(statement, 0);
        last = said > GAPS * last ? GAPS * last : said > last ? said : last;
    }
    sqlite3_finalize(statement);
    *number = last;
    return (code & 0xff) == SQLITE_NOMEM ? kw_fail_memory(err, r->path) : KW_OK;
}

static kw_status recover_runs(recovery *r, kw_error *err) {
    sqlite3_stmt *statement = NULL;
    int prepared = sqlite3_prepare_v2(r->db, "SELECT * FROM run WHERE number = ?1", -1, &statement, NULL);
    if ((prepared & 0xff) == SQLITE_NOMEM) {
        return kw_fail_memory(err, r->path);
    }
    if (prepared) {
        return KW_OK; /* rows name their run all the same */
    }
    int64_t last = 0;
    kw_status status = last_number(&last, r, "SELECT max(number) FROM run", err);
    for (int64_t number = 1; !status && number <= last; number++) {
        kw_run run;
        kw_error why = {0};
        sqlite3_reset(statement);
        int code = sqlite3_bind_int64(statement, 1, number);
        code = code ? code : sqlite3_step(statement);
        kw_status read = code == SQLITE_ROW ? kw_store_column_run(&run, statement, r->path, &why) : KW_MISSING;
        if ((code & 0xff) == SQLITE_NOMEM || read == KW_NO_MEMORY) {
            status = kw_fail_memory(err, r->path);
        } else if (!read) {
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
    if ((code & 0xff) == SQLITE_NOMEM) {
        return kw_fail_memory(err, r->path);
    }
    if (code) {
        return kw_fail(err, KW_MALFORMED, "%s: not even the list of its tables can be read, so no row can be recovered", r->path);
    }
    int64_t last = 0;
    kw_status status = last_number(&last, r, "SELECT max(id) FROM record", err);
    for (int64_t number = 1; !status && number <= last; number++) {
        char stored[KW_HASH_TEXT], digest[KW_HASH_TEXT];
        kw_error why = {0};
        kw_row *row = &r->rows[r->count];
        sqlite3_reset(statement);
        code = sqlite3_bind_int64(statement, 1, number);
        code = code ? code : sqlite3_step(statement);
        kw_status read = code == SQLITE_ROW ? kw_store_read_row(row, stored, statement, r->path, &why) : KW_MISSING;
        read = read ? read : kw_row_digest(digest, row, &why);
        if ((code & 0xff) == SQLITE_NOMEM || read == KW_NO_MEMORY) {
            status = kw_fail_memory(err, r->path);
        }
        if (status || read || strcmp(stored, digest) != 0) {
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
    if (status && r.db) {
        unlink(path); /* half of the rows would pass for all */
    }
    sqlite3_close(r.db);
    if (recovered) {
        *recovered = r.recovered;
    }
    return status;
}
