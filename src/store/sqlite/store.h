/* store.h: what the files of the store share: the handle, its statements and how failures are told. Internal to this folder. */
#ifndef KW_STORE_SQLITE_STORE_H
#define KW_STORE_SQLITE_STORE_H

#include "base/text.h"
#include "store/row.h"
#include "store/sqlite/schema.h"

#include <sqlite3.h>

/* Tables of texts that rows share, in the order of their fields in a row. */
typedef enum kw_dictionary {
    KW_DICTIONARY_RUN = 0,
    KW_DICTIONARY_TARGET,
    KW_DICTIONARY_PROBLEM,
    KW_DICTIONARY_CONFIG,
    KW_DICTIONARY_DETAIL,
    KW_DICTIONARY_COUNT
} kw_dictionary;

/* Statements that are prepared once; their SQL stands beside their use. */
typedef enum kw_statement {
    KW_FIND_DICTIONARY = 0, /* one for each kw_dictionary */
    KW_MAKE_DICTIONARY = KW_FIND_DICTIONARY + KW_DICTIONARY_COUNT,
    KW_ADD_RECORD = KW_MAKE_DICTIONARY + KW_DICTIONARY_COUNT,
    KW_ADD_FACT,
    KW_ADD_AXIS,
    KW_ADD_RUN,
    KW_COMPARE_RUN,
    KW_READ_RUN,
    KW_HAS_RECORD,
    KW_STATEMENT_COUNT
} kw_statement;

struct kw_store {
    sqlite3 *db;
    char *path; /* as SQLite got it: never a word that it takes for something else */
    char id[33];
    bool writes, logged; /* logged: WAL is on */
    bool dropped;        /* rows went, so shared texts may have no row any more */
    int lock;            /* descriptor of the writer's lock; -1 for a reader */
    char *lock_path;
    sqlite3_stmt *statement[KW_STATEMENT_COUNT];
    /* The last text looked up in each table, and its id: rows come in runs of equal ones. */
    char memo[KW_DICTIONARY_COUNT][KW_FIELD_TEXT_MAX];
    int64_t memo_id[KW_DICTIONARY_COUNT];
};

/* The statement, reset and ready to be bound. */
kw_status kw_store_statement(sqlite3_stmt **statement, kw_store *store, kw_statement which, const char *sql, kw_error *err);
kw_status kw_store_fail(kw_store *store, int code, const char *doing, kw_error *err);
kw_status kw_store_begin(kw_store *store, kw_error *err);
/* Commits when status is KW_OK, else rolls back; returns what came of it. */
kw_status kw_store_end(kw_store *store, kw_status status, kw_error *err);

/* What binding its parameters came to: the first failure, else its result. Each is a no-op after a failure, so that a statement that did not
 * get all its values never runs: it would find nothing, or keep a row with holes. */
void kw_store_bind_int(int *code, sqlite3_stmt *statement, int at, int64_t value);
void kw_store_bind_text(int *code, sqlite3_stmt *statement, int at, const char *text);
void kw_store_bind_word(int *code, sqlite3_stmt *statement, int at, kw_word word);
/* Runs a statement that gives no rows, unless code is a failure, and resets it. */
kw_status kw_store_run(kw_store *store, sqlite3_stmt *statement, int code, kw_error *err);

/* Opens a file for reading without looking at what it holds. */
kw_status kw_store_open_raw(sqlite3 **db, const char *path, kw_error *err);

/* --- store_dictionary.c --- */

/* The id of a shared text, which is made with its columns where it is new. */
kw_status kw_store_intern(int64_t *id, kw_store *store, kw_dictionary shared, const char *text, kw_error *err);

/* --- store_read.c --- */

/* Column list and joins of a query that kw_store_read_row reads: "SELECT ... FROM record JOIN ...". Column 0 is the digest, 1 the config's id. */
void kw_store_add_select(kw_text *sql);
/* KW_MALFORMED where a value cannot be, KW_NO_MEMORY where it could not be fetched. digest (may be NULL) is set to the stored one. */
kw_status kw_store_read_row(kw_row *row, char digest[KW_HASH_TEXT], sqlite3_stmt *statement, const char *path, kw_error *err);

/* The order in which rows of one pair answer for it, best first; tag: answer order (the view in schema.c has it as well). */
extern const char kw_store_answer_order[];
/* Prepares and drops the text. */
kw_status kw_store_prepare(sqlite3_stmt **statement, kw_store *store, kw_text *sql, kw_error *err);
/* Parameters ?1 to ?6: target, problem, config, run, op, dtype; the text leaves out the conditions that are not asked for. */
int kw_store_bind_filter(sqlite3_stmt *statement, const kw_row_filter *filter);
/* Whether what a column gave (NULL) is want of memory and not what is stored. */
bool kw_store_is_short(sqlite3_stmt *statement);

/* The run in the columns of "SELECT * FROM run". */
kw_status kw_store_column_run(kw_run *run, sqlite3_stmt *statement, const char *path, kw_error *err);
/* The run of that id; empty but for its id where the store does not have it. */
kw_status kw_store_read_run(kw_run *run, kw_store *store, const char *id, kw_error *err);

/* --- store_lock.c --- */

/* One writer a file: a lock on PATH-lock that ends with the process that holds it, however that ends. A file that is left behind is
 * of no harm: the lock counts, not the file. */
kw_status kw_store_lock(kw_store *store, const char *path, kw_error *err);
void kw_store_unlock(kw_store *store);

#endif
