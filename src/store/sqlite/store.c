/* store.c: opening and closing a store, and its transactions. A store is one SQLite file. While it is written it has a log beside it (WAL)
 * where the file system can do that, which a real write finds out; closing it puts all into the one file again. A transaction that
 * has returned is on the disk (synchronous), so that a killed process or a power cut loses none. */
#include "store/sqlite/store.h"

#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum { BUSY_MS = 10000, LENGTH_MAX = 1 << 20 };

kw_status kw_store_fail(kw_store *store, int code, const char *doing, kw_error *err) {
    return kw_sql_fail(err, store->db, code, store->path, doing);
}

kw_status kw_store_statement(sqlite3_stmt **statement, kw_store *store, kw_statement which, const char *sql, kw_error *err) {
    sqlite3_stmt **slot = &store->statement[which];
    if (*slot) {
        sqlite3_reset(*slot);
        sqlite3_clear_bindings(*slot);
    } else {
        int code = sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, slot, NULL);
        if (code) {
            return kw_store_fail(store, code, "read", err);
        }
    }
    *statement = *slot;
    return KW_OK;
}

void kw_store_bind_int(int *code, sqlite3_stmt *statement, int at, int64_t value) {
    *code = *code ? *code : sqlite3_bind_int64(statement, at, value);
}

void kw_store_bind_text(int *code, sqlite3_stmt *statement, int at, const char *text) {
    *code = *code ? *code : sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

void kw_store_bind_word(int *code, sqlite3_stmt *statement, int at, kw_word word) {
    *code = *code ? *code : sqlite3_bind_text(statement, at, word.at, (int)word.size, SQLITE_TRANSIENT);
}

kw_status kw_store_run(kw_store *store, sqlite3_stmt *statement, int code, kw_error *err) {
    code = code ? code : sqlite3_step(statement);
    kw_status status = code == SQLITE_DONE ? KW_OK : kw_store_fail(store, code, "write", err);
    sqlite3_reset(statement);
    return status;
}

kw_status kw_store_begin(kw_store *store, kw_error *err) {
    if (!store->writes) {
        return kw_fail(err, KW_ILLEGAL, "%s is open for reading only; open it with KW_STORE_WRITE to change it", store->path);
    }
    return kw_sql_run(store->db, store->path, "BEGIN IMMEDIATE", err);
}

kw_status kw_store_end(kw_store *store, kw_status status, kw_error *err) {
    status = status ? status : kw_sql_run(store->db, store->path, "COMMIT", err);
    if (status) {
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
        memset(store->memo_id, 0, sizeof store->memo_id); /* what was made for these rows is gone with them */
    }
    return status;
}

/* SQLite takes ":memory:", "file:..." and "" for something else than names of files. */
static char *plain_path(const char *path) {
    kw_text text = {0};
    kw_text_addf(&text, "%s%s", *path == '/' ? "" : "./", path);
    return kw_text_take(&text);
}

/* File systems on which several hosts may have the file: shared memory beside it would not be shared. */
static bool is_remote(const char *path) {
    static const unsigned long remote[] = {NFS_SUPER_MAGIC,         SMB_SUPER_MAGIC,       CIFS_SUPER_MAGIC, SMB2_SUPER_MAGIC,
                                           AFS_SUPER_MAGIC,         CEPH_SUPER_MAGIC,      V9FS_MAGIC,       FUSE_SUPER_MAGIC,
                                           0x0bd00bd0 /* Lustre */, 0x47504653 /* GPFS */, 0x19830326 /* BeeGFS */};
    struct statfs info;
    if (statfs(path, &info)) {
        return true;
    }
    for (size_t i = 0; i < sizeof remote / sizeof *remote; i++) {
        if ((unsigned long)info.f_type == remote[i]) {
            return true;
        }
    }
    return false;
}

static int note_mode(void *is_wal, int count, char **values, char **names) {
    (void)names;
    *(bool *)is_wal = count == 1 && values[0] && !strcmp(values[0], "wal");
    return 0;
}

static void choose_journal(kw_store *store) {
    static const char probe[] = "BEGIN IMMEDIATE; UPDATE meta SET value = value WHERE name = 'id'; COMMIT";
    bool wanted = !is_remote(store->path);
    if (wanted) {
        sqlite3_exec(store->db, "PRAGMA journal_mode = WAL", note_mode, &store->logged, NULL);
    }
    if (!wanted || !store->logged || sqlite3_exec(store->db, probe, NULL, NULL, NULL)) {
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
        sqlite3_exec(store->db, "PRAGMA journal_mode = DELETE", note_mode, &store->logged, NULL);
    }
}

/* The file may come from anyone: its schema is data, not program. */
static int harden(sqlite3 *db) {
    static const struct {
        int option, on;
    } settings[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},    {SQLITE_DBCONFIG_DQS_DDL, 0},
                    {SQLITE_DBCONFIG_DQS_DML, 0}};
    int code = SQLITE_OK;
    for (size_t i = 0; !code && i < sizeof settings / sizeof *settings; i++) {
        code = sqlite3_db_config(db, settings[i].option, settings[i].on, NULL);
    }
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LENGTH_MAX);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_busy_timeout(db, BUSY_MS);
    sqlite3_extended_result_codes(db, 1);
    return code;
}

/* What a writer leaves that was killed before its first transaction. */
static kw_status say_unmade(const char *path, kw_error *err) {
    return kw_fail(err, KW_MISSING,
                   "there is no store in %s yet: whoever began to make it was stopped, or is at it; what writes to it makes it", path);
}

static kw_status check_there(const char *path, kw_store_access access, kw_error *err) {
    struct stat info;
    if (stat(path, &info)) {
        return access == KW_STORE_WRITE ? KW_OK : kw_fail(err, KW_MISSING, "there is no store %s", path);
    }
    if (!S_ISREG(info.st_mode)) {
        return kw_fail(err, KW_IO, "%s is not a regular file", path);
    }
    if (!info.st_size && access == KW_STORE_READ) {
        return say_unmade(path, err);
    }
    return KW_OK;
}

/* Opens, and reads the first page: a reader learns there that a writer that was killed left a log or journal, which only one that may write
 * can settle. What is wrong besides is told by later steps. */
static int open_file(sqlite3 **db, const char *path, int flags) {
    int code = sqlite3_open_v2(path, db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    code = code ? code : harden(*db);
    int first = code ? code : sqlite3_exec(*db, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL);
    return (first & 0xff) == SQLITE_READONLY ? first : code;
}

static int open_to_read(sqlite3 **db, const char *path) {
    int code = open_file(db, path, SQLITE_OPEN_READONLY);
    if ((code & 0xff) == SQLITE_READONLY) {
        sqlite3_close(*db);
        code = open_file(db, path, SQLITE_OPEN_READWRITE);
        code = code ? code : sqlite3_exec(*db, "PRAGMA query_only = 1", NULL, NULL, NULL);
    }
    return code;
}

kw_status kw_store_open_raw(sqlite3 **db, const char *path, kw_error *err) {
    *db = NULL;
    kw_status status = check_there(path, KW_STORE_READ, err);
    char *plain = status ? NULL : plain_path(path);
    if (!plain) {
        return status ? status : kw_fail_memory(err, path);
    }
    int code = open_to_read(db, plain);
    status = code ? kw_sql_fail(err, *db, code, path, "open") : KW_OK;
    free(plain);
    return status;
}

static kw_status read_id(kw_store *store, kw_error *err) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->db, "SELECT value FROM meta WHERE name = 'id'", -1, &statement, NULL);
    int step = code ? code : sqlite3_step(statement);
    const char *id = step == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    kw_status status = KW_OK;
    if (id && strlen(id) == sizeof store->id - 1) {
        memcpy(store->id, id, sizeof store->id);
    } else if (step == SQLITE_ROW || step == SQLITE_DONE) {
        status =
            kw_fail(err, KW_MALFORMED, "%s has no id of 32 digits, so it is damaged; `kwright db recover` copies its rows", store->path);
    } else {
        status = kw_store_fail(store, step, "read", err);
    }
    sqlite3_finalize(statement);
    return status;
}

static kw_status open_database(kw_store *store, kw_error *err) {
    int version = 0;
    int code = store->writes ? open_file(&store->db, store->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
                             : open_to_read(&store->db, store->path);
    if (code) {
        return kw_store_fail(store, code, "open", err);
    }
    kw_status status = kw_schema_version(store->db, store->path, &kw_schema_today, &version, err);
    if (!status && !store->writes && !version) {
        status = say_unmade(store->path, err);
    }
    if (!status && !store->writes && version < kw_schema_today.version) {
        status = kw_fail(err, KW_ILLEGAL,
                         "%s has version %d of the store, this kwright reads %d; open it for writing once to bring it up to date",
                         store->path, version, kw_schema_today.version);
    }
    if (!status && store->writes) {
        status = kw_sql_run(store->db, store->path,
                            "PRAGMA synchronous = EXTRA; PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 4000", err);
        status = status ? status : kw_schema_upgrade(store->db, store->path, &kw_schema_today, version, err);
    }
    return status ? status : kw_schema_check(store->db, store->path, &kw_schema_today, err);
}

kw_status kw_store_open(kw_store **out, const char *path, kw_store_access access, kw_error *err) {
    *out = NULL;
    kw_status status = check_there(path, access, err);
    kw_store *store = status ? NULL : calloc(1, sizeof *store);
    if (!store) {
        return status ? status : kw_fail_memory(err, path);
    }
    store->lock = -1;
    store->writes = access == KW_STORE_WRITE;
    store->path = plain_path(path);
    if (!store->path) {
        status = kw_fail_memory(err, path);
        goto out;
    }
    if (store->writes) {
        status = kw_store_lock(store, store->path, err);
    }
    status = status ? status : open_database(store, err);
    status = status ? status : read_id(store, err);
    if (!status && store->writes) {
        choose_journal(store);
    }
out:
    if (status) {
        kw_store_close(&store);
    }
    *out = store;
    return status;
}

/* Texts that no row uses any more. */
static void prune(kw_store *store) {
    sqlite3_exec(store->db,
                 "BEGIN IMMEDIATE;"
                 "DELETE FROM axis WHERE config NOT IN (SELECT config FROM record);"
                 "DELETE FROM config WHERE id NOT IN (SELECT config FROM record);"
                 "DELETE FROM problem WHERE id NOT IN (SELECT problem FROM record);"
                 "DELETE FROM fact WHERE target NOT IN (SELECT target FROM record);"
                 "DELETE FROM target WHERE id NOT IN (SELECT target FROM record);"
                 "DELETE FROM detail WHERE id NOT IN (SELECT detail FROM record);"
                 "COMMIT",
                 NULL, NULL, NULL);
}

void kw_store_close(kw_store **handle) {
    kw_store *store = *handle;
    *handle = NULL;
    if (!store) {
        return;
    }
    for (int i = 0; i < KW_STATEMENT_COUNT; i++) {
        sqlite3_finalize(store->statement[i]);
    }
    if (store->dropped) {
        prune(store);
    }
    if (store->logged) {
        sqlite3_exec(store->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL); /* refused while others read; then the log stays */
    }
    sqlite3_close(store->db);
    kw_store_unlock(store);
    free(store->path);
    free(store);
}

const char *kw_store_id(const kw_store *store) {
    return store->id;
}
