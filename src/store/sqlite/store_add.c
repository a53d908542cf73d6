/* store_add.c: adding runs and rows. A row is found again by the digest of its canonical text, so adding is a union of sets. */
#include "store/line.h"
#include "store/sqlite/store.h"

#include <math.h>
#include <string.h>

static int64_t digit_of(char c) {
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static void bind_digest(int *code, sqlite3_stmt *statement, const char digest[KW_HASH_TEXT]) {
    unsigned char bytes[(KW_HASH_TEXT - 1) / 2];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(digit_of(digest[2 * i]) << 4 | digit_of(digest[2 * i + 1]));
    }
    *code = *code ? *code : sqlite3_bind_blob(statement, 1, bytes, sizeof bytes, SQLITE_TRANSIENT);
}

/* Parameter 1 is the digest, the others the fields in their order; a shared text is the id of its row. */
static void bind_row(int *code, sqlite3_stmt *statement, const kw_row *row, const int64_t shared[KW_DICTIONARY_COUNT]) {
    int at = 2, next = 0;
    for (const kw_row_field *field = kw_row_fields; field->name; field++, at++) {
        if (field->flags & KW_FIELD_SHARED) {
            kw_store_bind_int(code, statement, at, shared[next++]);
        } else if (field->kind == KW_FIELD_TEXT) {
            kw_store_bind_text(code, statement, at, kw_row_field_text(field, row));
        } else if (field->kind == KW_FIELD_OUTCOME) {
            kw_store_bind_text(code, statement, at, kw_outcome_name(row->record.outcome));
        } else if (field->kind == KW_FIELD_REAL) {
            *code = *code ? *code : sqlite3_bind_double(statement, at, kw_row_field_real(field, row)); /* NaN becomes NULL */
        } else {
            kw_store_bind_int(code, statement, at, kw_row_field_int(field, row));
        }
    }
}

static kw_status insert_statement(sqlite3_stmt **statement, kw_store *store, kw_error *err) {
    if (store->statement[KW_ADD_RECORD]) {
        return kw_store_statement(statement, store, KW_ADD_RECORD, NULL, err);
    }
    kw_text sql = {0};
    kw_text_add(&sql, "INSERT INTO record(digest");
    for (const kw_row_field *field = kw_row_fields; field->name; field++) {
        kw_text_addf(&sql, ", %s", field->name);
    }
    kw_text_add(&sql, ") VALUES(?1");
    for (int i = 0; i < KW_ROW_FIELD_COUNT; i++) {
        kw_text_addf(&sql, ", ?%d", i + 2);
    }
    kw_text_add(&sql, ") ON CONFLICT(digest) DO NOTHING"); /* nothing else is passed over: a value that is missing is a fault */
    kw_status status = sql.failed ? kw_fail_memory(err, "a statement") : kw_store_statement(statement, store, KW_ADD_RECORD, sql.data, err);
    kw_text_drop(&sql);
    return status;
}

static kw_status insert_row(kw_store *store, const kw_row *given, size_t *added, kw_error *err) {
    kw_row row;
    char digest[KW_HASH_TEXT];
    int64_t ids[KW_DICTIONARY_COUNT];
    int next = 0;
    sqlite3_stmt *statement;
    kw_status status = kw_row_normalize(&row, given, err);
    status = status ? status : kw_row_digest(digest, &row, err);
    for (const kw_row_field *field = kw_row_fields; !status && field->name; field++) {
        if (field->flags & KW_FIELD_SHARED) {
            status = kw_store_intern(&ids[next], store, (kw_dictionary)next, kw_row_field_text(field, &row), err);
            next++;
        }
    }
    status = status ? status : insert_statement(&statement, store, err);
    if (status) {
        return status;
    }
    int code = SQLITE_OK;
    bind_digest(&code, statement, digest);
    bind_row(&code, statement, &row, ids);
    status = kw_store_run(store, statement, code, err);
    *added += status ? 0 : (size_t)sqlite3_changes(store->db);
    return status;
}

kw_status kw_store_add(kw_store *store, const kw_row rows[], size_t count, size_t *added, kw_error *err) {
    size_t fresh = 0;
    if (added) {
        *added = 0;
    }
    kw_status status = kw_store_begin(store, err);
    if (status) {
        return status;
    }
    for (size_t i = 0; !status && i < count; i++) {
        status = insert_row(store, &rows[i], &fresh, err);
    }
    status = kw_store_end(store, status, err);
    if (!status && added) {
        *added = fresh;
    }
    return status;
}

/* Compares with what the store says of the run; blank: it says nothing but the id, which a row named before the run was told. */
static kw_status compare_run(kw_store *store, const kw_run *run, bool *blank, kw_error *err) {
    sqlite3_stmt *statement;
    kw_status status = kw_store_statement(&statement, store, KW_COMPARE_RUN, "SELECT * FROM run WHERE id = ?1", err);
    if (status) {
        return status;
    }
    int code = SQLITE_OK;
    kw_store_bind_text(&code, statement, 1, run->id);
    code = code ? code : sqlite3_step(statement);
    const char *different = NULL;
    *blank = true;
    for (int i = 0; code == SQLITE_ROW && kw_run_fields[i].name; i++) {
        const char *stored = (const char *)sqlite3_column_text(statement, i + 1);
        if (!stored && kw_store_is_short(statement)) {
            code = SQLITE_NOMEM;
            break;
        }
        if (!stored || strcmp(stored, kw_row_field_text(&kw_run_fields[i], run)) != 0) {
            different = kw_run_fields[i].name;
        }
        *blank = *blank && (i == 0 || !stored || !*stored);
    }
    status = code == SQLITE_ROW || code == SQLITE_DONE ? KW_OK : kw_store_fail(store, code, "read", err);
    sqlite3_reset(statement);
    if (status) {
        return status;
    }
    if (different && !*blank) {
        return kw_fail(err, KW_ILLEGAL, "run %s is there already with another %s; a run's id is its own", run->id, different);
    }
    return KW_OK;
}

static kw_status write_run(kw_store *store, const kw_run *run, kw_error *err) {
    bool blank = false;
    int64_t number = 0;
    sqlite3_stmt *statement;
    kw_text sql = {0};
    kw_status status = kw_store_intern(&number, store, KW_DICTIONARY_RUN, run->id, err);
    status = status ? status : compare_run(store, run, &blank, err);
    if (status || !blank) {
        return status;
    }
    kw_text_add(&sql, "UPDATE run SET id = ?1");
    for (int i = 1; kw_run_fields[i].name; i++) {
        kw_text_addf(&sql, ", %s = ?%d", kw_run_fields[i].name, i + 1);
    }
    kw_text_add(&sql, " WHERE id = ?1");
    status = sql.failed ? kw_fail_memory(err, "a statement") : kw_store_statement(&statement, store, KW_ADD_RUN, sql.data, err);
    kw_text_drop(&sql);
    if (status) {
        return status;
    }
    int code = SQLITE_OK;
    for (int i = 0; kw_run_fields[i].name; i++) {
        kw_store_bind_text(&code, statement, i + 1, kw_row_field_text(&kw_run_fields[i], run));
    }
    return kw_store_run(store, statement, code, err);
}

kw_status kw_store_add_run(kw_store *store, const kw_run *given, kw_error *err) {
    kw_run run;
    kw_status status = kw_run_normalize(&run, given, err);
    status = status ? status : kw_store_begin(store, err);
    return status ? status : kw_store_end(store, write_run(store, &run, err), err);
}
