/* schema.h: the tables of a store and how an older file becomes one of today. */
#ifndef KW_STORE_SQLITE_SCHEMA_H
#define KW_STORE_SQLITE_SCHEMA_H

#include "base/status.h"

#include <sqlite3.h>

/* Says "KWst" at byte 68 of the file, where file(1) looks. */
enum { KW_STORE_APPLICATION = 0x4b577374 };

/* One step: the SQL that makes version i + 1 of version i. Texts never change once they were released; a change is a new step. */
typedef struct kw_schema {
    const char *const *steps;
    int version; /* how many */
} kw_schema;

extern const kw_schema kw_schema_today;

/* KW_MALFORMED: not a store. KW_ILLEGAL: made by a newer version. *version: of the file, 0 for an empty one. */
kw_status kw_schema_version(sqlite3 *db, const char *path, const kw_schema *schema, int *version, kw_error *err);
/* Brings a file of a version from 0 (empty) up to schema->version in one transaction. A file of an older version is copied to PATH.vN
 * first. */
kw_status kw_schema_upgrade(sqlite3 *db, const char *path, const kw_schema *schema, int version, kw_error *err);
/* Compares the tables and indexes of the file with those that the steps make: a file that claims to be a store and has others is not
 * worked with. */
kw_status kw_schema_check(sqlite3 *db, const char *path, const kw_schema *schema, kw_error *err);

/* What SQLite says in our words: code is its result. */
kw_status kw_sql_fail(kw_error *err, sqlite3 *db, int code, const char *path, const char *doing);
kw_status kw_sql_run(sqlite3 *db, const char *path, const char *sql, kw_error *err);

/* Of the library that is loaded. */
const char *kw_sqlite_version(void);

#endif
