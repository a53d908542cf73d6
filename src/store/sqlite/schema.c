/* schema.c: the tables. Texts that many rows share stand once, in tables that also take them apart into columns, so that a query never
 * has to read a name: problem has its sizes, target its facts, config its axes. The views are for people: `result` joins everything,
 * `answer` has the row of `result` that counts for each target, problem, config, packed and cold, in the order that kw_store_visit
 * uses as well (tag: answer order). */
#include "store/sqlite/schema.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const char version_1[] =
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "INSERT INTO meta VALUES('id', lower(hex(randomblob(16))));"
    "CREATE TABLE target(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, backend TEXT NOT NULL, arch TEXT NOT NULL) STRICT;"
    "CREATE TABLE fact(target INTEGER NOT NULL REFERENCES target, name TEXT NOT NULL, value ANY NOT NULL, PRIMARY KEY(target, name))"
    " STRICT, WITHOUT ROWID;"
    "CREATE TABLE problem(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, op TEXT NOT NULL, dtype TEXT NOT NULL, layout TEXT NOT NULL,"
    " ndim INTEGER NOT NULL, b INTEGER, m INTEGER, n INTEGER NOT NULL, g INTEGER, c INTEGER, k INTEGER NOT NULL,"
    " in_d INTEGER, in_h INTEGER, in_w INTEGER, filter_d INTEGER, filter_h INTEGER, filter_w INTEGER,"
    " stride_d INTEGER, stride_h INTEGER, stride_w INTEGER, pad_d INTEGER, pad_h INTEGER, pad_w INTEGER,"
    " pad_back_d INTEGER, pad_back_h INTEGER, pad_back_w INTEGER, dilation_d INTEGER, dilation_h INTEGER, dilation_w INTEGER,"
    " out_d INTEGER, out_h INTEGER, out_w INTEGER, flops INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT;"
    "CREATE TABLE config(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, \"foreign\" INTEGER NOT NULL, family TEXT, op TEXT, dtype TEXT)"
    " STRICT;"
    "CREATE TABLE axis(config INTEGER NOT NULL REFERENCES config, name TEXT NOT NULL, value ANY NOT NULL, PRIMARY KEY(config, name))"
    " STRICT, WITHOUT ROWID;"
    "CREATE TABLE detail(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;"
    "CREATE TABLE run(number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, started TEXT NOT NULL, version TEXT NOT NULL,"
    " command TEXT NOT NULL, host TEXT NOT NULL, kernel TEXT NOT NULL, device TEXT NOT NULL, target TEXT NOT NULL, compiler TEXT NOT NULL,"
    " pool TEXT NOT NULL, pool_hash TEXT NOT NULL, problems TEXT NOT NULL, problems_hash TEXT NOT NULL, shard TEXT NOT NULL,"
    " options TEXT NOT NULL, clocks TEXT NOT NULL, roofs TEXT NOT NULL) STRICT;"
    "CREATE TABLE record(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, run INTEGER NOT NULL REFERENCES run,"
    " sequence INTEGER NOT NULL, time TEXT NOT NULL, target INTEGER NOT NULL REFERENCES target,"
    " problem INTEGER NOT NULL REFERENCES problem, config INTEGER NOT NULL REFERENCES config, packed INTEGER NOT NULL,"
    " cold INTEGER NOT NULL, outcome TEXT NOT NULL, detail INTEGER NOT NULL REFERENCES detail, time_ns REAL NOT NULL,"
    " spread_ns REAL NOT NULL, median_ns REAL NOT NULL, mad_ns REAL NOT NULL, least_ns REAL NOT NULL, half0_ns REAL NOT NULL,"
    " half1_ns REAL NOT NULL, samples INTEGER NOT NULL, dropped INTEGER NOT NULL, calls INTEGER NOT NULL, warmups INTEGER NOT NULL,"
    " workspace INTEGER NOT NULL, error REAL, ulp REAL, seed INTEGER NOT NULL, compile_ns REAL NOT NULL, code_bytes INTEGER NOT NULL,"
    " code_hash TEXT NOT NULL, registers INTEGER NOT NULL, spilled_bytes INTEGER NOT NULL, shared_bytes INTEGER NOT NULL,"
    " control_ns REAL NOT NULL, drift REAL NOT NULL, clock_mhz REAL NOT NULL, memory_mhz REAL NOT NULL, temperature_c REAL NOT NULL,"
    " power_w REAL NOT NULL, pid INTEGER NOT NULL) STRICT;"
    "CREATE INDEX record_of_pair ON record(target, problem, config, packed, cold);"
    "CREATE INDEX record_of_config ON record(config);"
    "CREATE INDEX record_of_run ON record(run);"
    "CREATE VIEW result AS SELECT record.id, target.text AS target, problem.text AS problem, config.text AS config, packed, cold,"
    " outcome, detail.text AS detail, time_ns, CASE WHEN time_ns > 0 THEN flops / time_ns END AS gflops, spread_ns, median_ns, mad_ns,"
    " least_ns, half0_ns, half1_ns, samples, record.dropped, calls, warmups, workspace, error, ulp, seed, compile_ns, code_bytes, code_hash,"
    " registers, spilled_bytes, shared_bytes, control_ns, drift, clock_mhz, memory_mhz, temperature_c, power_w, sequence, time, pid,"
    " problem.op, problem.dtype, layout, ndim, b, m, n, g, c, k, in_d, in_h, in_w, filter_d, filter_h, filter_w, stride_d, stride_h,"
    " stride_w, pad_d, pad_h, pad_w, pad_back_d, pad_back_h, pad_back_w, dilation_d, dilation_h, dilation_w, out_d, out_h, out_w, flops,"
    " bytes, \"foreign\", family, record.config AS config_id, record.problem AS problem_id, record.target AS target_id, run.id AS run,"
    " run.host, run.device, run.compiler, lower(hex(digest)) AS digest"
    " FROM record JOIN target ON target.id = record.target JOIN problem ON problem.id = record.problem"
    " JOIN config ON config.id = record.config JOIN detail ON detail.id = record.detail JOIN run ON run.number = record.run;"
    "CREATE VIEW answer AS SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY target_id, problem_id, config_id, packed, cold"
    " ORDER BY CASE outcome WHEN 'good' THEN 0 WHEN 'slow' THEN 1 WHEN 'untried' THEN 3 ELSE 2 END, samples DESC,"
    " CASE WHEN time_ns > 0 THEN spread_ns / time_ns ELSE 0 END, digest) AS place FROM result) WHERE place = 1;";
/* clang-format on */

static const char *const steps[] = {version_1};
const kw_schema kw_schema_today = {steps, sizeof steps / sizeof *steps};

kw_status kw_sql_fail(kw_error *err, sqlite3 *db, int code, const char *path, const char *doing) {
    const char *why = db ? sqlite3_errmsg(db) : sqlite3_errstr(code);
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return kw_fail_memory(err, path);
    case SQLITE_NOTADB:
        return kw_fail(err, KW_MALFORMED, "%s is not a store: %s", path, why);
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
        return kw_fail(err, KW_MALFORMED, "%s is damaged (%s: %s); `kwright db recover` copies what can still be read", path, doing, why);
    case SQLITE_FULL:
        return kw_fail(err, KW_IO, "cannot %s %s: no space is left; what was committed before is safe", doing, path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return kw_fail(err, KW_IO, "cannot %s %s: another process has been using it for too long; try again", doing, path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return kw_fail(err, KW_IO, "cannot %s %s: the file or its folder cannot be written", doing, path);
    default:
        return kw_fail(err, KW_IO, "cannot %s %s: %s", doing, path, why);
    }
}

kw_status kw_sql_run(sqlite3 *db, const char *path, const char *sql, kw_error *err) {
    int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    return code ? kw_sql_fail(err, db, code, path, "write") : KW_OK;
}

static int read_number(sqlite3 *db, const char *sql, int64_t *number) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (!code) {
        code = sqlite3_step(statement);
        *number = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
        code = code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
    }
    sqlite3_finalize(statement);
    return code;
}

kw_status kw_schema_version(sqlite3 *db, const char *path, const kw_schema *schema, int *version, kw_error *err) {
    int64_t application = 0, user = 0, objects = 0;
    int code = read_number(db, "SELECT count(*) FROM sqlite_schema", &objects);
    code = code ? code : read_number(db, "PRAGMA application_id", &application);
    code = code ? code : read_number(db, "PRAGMA user_version", &user);
    *version = 0;
    if (code) {
        return kw_sql_fail(err, db, code, path, "read");
    }
    if (!objects && !application && !user) {
        return KW_OK;
    }
    if (application != KW_STORE_APPLICATION) {
        return kw_fail(err, KW_MALFORMED, "%s is an SQLite file of another program (application id %" PRId64 "), not a store", path,
                       application);
    }
    if (user > schema->version) {
        return kw_fail(err, KW_ILLEGAL, "%s has version %" PRId64 " of the store, this is kwright %s, which knows %d; use a newer kwright",
                       path, user, kw_version(), schema->version);
    }
    if (user < 1) {
        return kw_fail(err, KW_MALFORMED, "%s says it is a store of version %" PRId64 ", which there never was", path, user);
    }
    *version = (int)user;
    return KW_OK;
}

/* A copy of the whole file as it is, made by SQLite itself so that what is still in a log is in it; never over an existing one. */
static kw_status back_up(sqlite3 *db, const char *path, int version, kw_error *err) {
    kw_text copy = {0};
    sqlite3 *to = NULL;
    kw_text_addf(&copy, "%s.v%d", path, version);
    if (copy.failed) {
        return kw_fail_memory(err, path);
    }
    kw_status status = KW_OK;
    int code = sqlite3_open_v2(copy.data, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    int64_t objects = 0;
    code = code ? code : read_number(to, "SELECT count(*) FROM sqlite_schema", &objects);
    if (!code && objects) {
        status = kw_fail(err, KW_IO, "cannot copy %s before its version changes: %s is there already; move it away", path, copy.data);
        goto out;
    }
    sqlite3_backup *backup = code ? NULL : sqlite3_backup_init(to, "main", db, "main");
    if (backup) {
        sqlite3_backup_step(backup, -1);
        code = sqlite3_backup_finish(backup);
    } else if (!code) {
        code = sqlite3_errcode(to);
    }
    if (code) {
        status = kw_sql_fail(err, to, code, copy.data, "write");
    }
out:
    sqlite3_close(to);
    kw_text_drop(&copy);
    return status;
}

kw_status kw_schema_upgrade(sqlite3 *db, const char *path, const kw_schema *schema, int version, kw_error *err) {
    kw_status status = version && version < schema->version ? back_up(db, path, version, err) : KW_OK;
    if (status || version == schema->version) {
        return status;
    }
    char stamp[96];
    snprintf(stamp, sizeof stamp, "PRAGMA application_id = %d; PRAGMA user_version = %d", KW_STORE_APPLICATION, schema->version);
    status = kw_sql_run(db, path, "BEGIN IMMEDIATE", err);
    if (status) {
        return status;
    }
    for (int i = version; !status && i < schema->version; i++) {
        status = kw_sql_run(db, path, schema->steps[i], err);
    }
    status = status ? status : kw_sql_run(db, path, stamp, err);
    status = status ? status : kw_sql_run(db, path, "COMMIT", err);
    if (status) {
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    }
    return status;
}

kw_status kw_schema_check(sqlite3 *db, const char *path, const kw_schema *schema, kw_error *err) {
    static const char all[] = "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('table', 'index') ORDER BY name";
    static const char one[] = "SELECT sql FROM sqlite_schema WHERE type = ?1 AND name = ?2";
    sqlite3 *model = NULL;
    sqlite3_stmt *wanted = NULL, *found = NULL;
    kw_status status = KW_OK;
    int code = sqlite3_open_v2(":memory:", &model, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY, NULL);
    for (int i = 0; !code && i < schema->version; i++) {
        code = sqlite3_exec(model, schema->steps[i], NULL, NULL, NULL);
    }
    code = code ? code : sqlite3_prepare_v2(model, all, -1, &wanted, NULL);
    if (code) {
        status = kw_sql_fail(err, model, code, path, "read");
        goto out;
    }
    code = sqlite3_prepare_v2(db, one, -1, &found, NULL);
    while (!code && sqlite3_step(wanted) == SQLITE_ROW) {
        code = sqlite3_bind_text(found, 1, (const char *)sqlite3_column_text(wanted, 0), -1, SQLITE_TRANSIENT);
        code = code ? code : sqlite3_bind_text(found, 2, (const char *)sqlite3_column_text(wanted, 1), -1, SQLITE_TRANSIENT);
        const char *should = (const char *)sqlite3_column_text(wanted, 2);
        int step = code ? code : sqlite3_step(found);
        const char *is = step == SQLITE_ROW ? (const char *)sqlite3_column_text(found, 0) : NULL;
        if (sqlite3_errcode(model) == SQLITE_NOMEM || (step == SQLITE_ROW && !is && sqlite3_errcode(db) == SQLITE_NOMEM)) {
            status = kw_fail_memory(err, path);
            break;
        }
        if (step != SQLITE_ROW || (should && (!is || strcmp(is, should) != 0))) {
            code = step == SQLITE_ROW || step == SQLITE_DONE ? SQLITE_OK : step;
            status = code ? KW_OK
                          : kw_fail(err, KW_MALFORMED, "%s says it is a store, but its %s %s is another; it is not worked with", path,
                                    (const char *)sqlite3_column_text(wanted, 0), (const char *)sqlite3_column_text(wanted, 1));
            break;
        }
        code = sqlite3_reset(found);
    }
    if (code) {
        status = kw_sql_fail(err, db, code, path, "read");
    }
out:
    sqlite3_finalize(wanted);
    sqlite3_finalize(found);
    sqlite3_close(model);
    return status;
}

const char *kw_sqlite_version(void) {
    return sqlite3_libversion();
}
