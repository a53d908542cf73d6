/* store_read.c: asking a store. Rows come sorted by text, whatever ids the file gave them: targets and problems are walked in the order
 * of their texts, and only the rows of one pair of them are sorted at a time, so memory stays small however many rows there are. */
#include "base/sized.h"
#include "store/sqlite/store.h"

#include <math.h>
#include <string.h>

const char kw_store_answer_order[] = "CASE outcome WHEN 'good' THEN 0 WHEN 'slow' THEN 1 WHEN 'untried' THEN 3 ELSE 2 END, samples DESC,"
                                     " CASE WHEN time_ns > 0 THEN spread_ns / time_ns ELSE 0 END, digest";

void kw_store_add_select(kw_text *sql) {
    kw_text_add(sql, "SELECT digest, record.config");
    for (const kw_row_field *field = kw_row_fields; field->name; field++) {
        if (field->flags & KW_FIELD_SHARED) {
            kw_text_addf(sql, ", %s.%s", field->name, strcmp(field->name, "run") ? "text" : "id");
        } else {
            kw_text_addf(sql, ", record.%s", field->name);
        }
    }
    kw_text_add(sql, " FROM record JOIN run ON run.number = record.run JOIN target ON target.id = record.target"
                     " JOIN problem ON problem.id = record.problem JOIN config ON config.id = record.config"
                     " JOIN detail ON detail.id = record.detail");
}

static bool read_column(kw_row *row, const kw_row_field *field, sqlite3_stmt *statement, int at) {
    int type = sqlite3_column_type(statement, at);
    if (field->kind == KW_FIELD_TEXT || field->kind == KW_FIELD_OUTCOME) {
        const char *text = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(statement, at) : NULL;
        return text && kw_row_field_set_text(field, row, (kw_word){text, (size_t)sqlite3_column_bytes(statement, at)});
    }
    if (field->kind == KW_FIELD_REAL) {
        bool null = type == SQLITE_NULL && field->flags & KW_FIELD_LOOSE;
        return (null || type == SQLITE_FLOAT) &&
               kw_row_field_set_real(field, row, null ? (double)NAN : sqlite3_column_double(statement, at));
    }
    return type == SQLITE_INTEGER && kw_row_field_set_int(field, row, sqlite3_column_int64(statement, at));
}

bool kw_store_is_short(sqlite3_stmt *statement) {
    return (sqlite3_errcode(sqlite3_db_handle(statement)) & 0xff) == SQLITE_NOMEM;
}

kw_status kw_store_read_row(kw_row *row, char digest[KW_HASH_TEXT], sqlite3_stmt *statement, const char *path, kw_error *err) {
    static const char digits[] = "0123456789abcdef";
    kw_row raw = {0};
    int at = 2;
    for (const kw_row_field *field = kw_row_fields; field->name; field++, at++) {
        if (!read_column(&raw, field, statement, at)) {
            if (kw_store_is_short(statement)) {
                return kw_fail_memory(err, path);
            }
            return kw_fail(err, KW_MALFORMED, "%s is damaged: a row has a %s that cannot be; `kwright db recover` copies the others", path,
                           field->name);
        }
    }
    if (digest) {
        const unsigned char *bytes = sqlite3_column_blob(statement, 0);
        if (!bytes && kw_store_is_short(statement)) {
            return kw_fail_memory(err, path);
        }
        bool good = bytes && sqlite3_column_bytes(statement, 0) == (KW_HASH_TEXT - 1) / 2;
        for (size_t i = 0; i < (KW_HASH_TEXT - 1) / 2; i++) {
            digest[2 * i] = good ? digits[bytes[i] >> 4] : '?';
            digest[2 * i + 1] = good ? digits[bytes[i] & 15] : '?';
        }
        digest[KW_HASH_TEXT - 1] = 0;
    }
    kw_status status = kw_row_normalize(row, &raw, err);
    return status ? kw_fail(err, KW_MALFORMED, "%s is damaged: a row has a value that cannot be", path) : KW_OK;
}

int kw_store_bind_filter(sqlite3_stmt *statement, const kw_row_filter *filter) {
    const char *values[] = {filter->target,
                            filter->problem,
                            filter->config,
                            filter->run,
                            filter->by_op ? kw_op_name(filter->op) : NULL,
                            filter->by_dtype ? kw_dtype_name(filter->dtype) : NULL};
    int code = SQLITE_OK;
    for (int i = 0; i < 6 && i < sqlite3_bind_parameter_count(statement); i++) {
        if (values[i]) {
            kw_store_bind_text(&code, statement, i + 1, values[i]);
        }
    }
    return code;
}

kw_status kw_store_prepare(sqlite3_stmt **statement, kw_store *store, kw_text *sql, kw_error *err) {
    int code = sql->failed ? SQLITE_NOMEM : sqlite3_prepare_v2(store->db, sql->data, -1, statement, NULL);
    kw_text_drop(sql);
    return code ? kw_store_fail(store, code, "read", err) : KW_OK;
}

/* The pairs of target and problem that have rows, sorted. */
static kw_status prepare_pairs(sqlite3_stmt **statement, kw_store *store, const kw_row_filter *filter, kw_error *err) {
    kw_text sql = {0};
    kw_text_add(&sql, "SELECT target.id, problem.id FROM target CROSS JOIN problem WHERE EXISTS"
                      " (SELECT 1 FROM record WHERE record.target = target.id AND record.problem = problem.id)");
    kw_text_add(&sql, filter->target ? " AND target.text = ?1" : "");
    kw_text_add(&sql, filter->problem ? " AND problem.text = ?2" : "");
    kw_text_add(&sql, filter->by_op ? " AND problem.op = ?5" : "");
    kw_text_add(&sql, filter->by_dtype ? " AND problem.dtype = ?6" : "");
    kw_text_add(&sql, " ORDER BY target.text, problem.text");
    kw_status status = kw_store_prepare(statement, store, &sql, err);
    int code = status ? SQLITE_OK : kw_store_bind_filter(*statement, filter);
    return code ? kw_store_fail(store, code, "read", err) : status;
}

/* The rows of one pair; ?7 and ?8 are its ids. */
static kw_status prepare_rows(sqlite3_stmt **statement, kw_store *store, const kw_row_filter *filter, kw_error *err) {
    kw_text sql = {0};
    kw_store_add_select(&sql);
    kw_text_add(&sql, " WHERE record.target = ?7 AND record.problem = ?8");
    kw_text_add(&sql, filter->config ? " AND record.config = (SELECT id FROM config WHERE text = ?3)" : "");
    kw_text_add(&sql, filter->run ? " AND record.run = (SELECT number FROM run WHERE id = ?4)" : "");
    if (filter->by_timing) {
        kw_text_addf(&sql, " AND record.packed = %d AND record.cold = %d", filter->packed, filter->cold);
    }
    kw_text_addf(&sql, " ORDER BY config.text, packed, cold, %s", filter->answers ? kw_store_answer_order : "digest");
    kw_status status = kw_store_prepare(statement, store, &sql, err);
    int code = status ? SQLITE_OK : kw_store_bind_filter(*statement, filter);
    return code ? kw_store_fail(store, code, "read", err) : status;
}

typedef struct visit {
    kw_store *store;
    const kw_row_filter *filter;
    bool (*call)(void *user, const kw_row *row);
    void *user;
    bool stopped;
} visit;

static kw_status visit_rows(visit *v, sqlite3_stmt *rows, kw_error *err) {
    int64_t config = -1;
    bool packed = false, cold = false;
    int code;
    while (!v->stopped && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        kw_row row;
        kw_status status = kw_store_read_row(&row, NULL, rows, v->store->path, err);
        if (status) {
            return status;
        }
        int64_t this_config = sqlite3_column_int64(rows, 1);
        bool repeats = v->filter->answers && config == this_config && packed == row.packed && cold == row.record.cold;
        config = this_config;
        packed = row.packed;
        cold = row.record.cold;
        if (!repeats && (!v->filter->by_outcome || v->filter->outcome == row.record.outcome)) {
            v->stopped = !v->call(v->user, &row);
        }
    }
    return v->stopped || code == SQLITE_DONE ? KW_OK : kw_store_fail(v->store, code, "read", err);
}

kw_status kw_store_visit(kw_store *store, const kw_row_filter *filter, bool (*call)(void *user, const kw_row *row), void *user,
                         kw_error *err) {
    kw_row_filter own;
    kw_status status = KW_SIZED_READ(&own, kw_row_filter, run, filter, err);
    if (status) {
        return status;
    }
    filter = &own;
    sqlite3_stmt *pairs = NULL, *rows = NULL;
    visit v = {store, filter, call, user, false};
    status = prepare_pairs(&pairs, store, v.filter, err);
    status = status ? status : prepare_rows(&rows, store, v.filter, err);
    int code = SQLITE_DONE;
    while (!status && !v.stopped && (code = sqlite3_step(pairs)) == SQLITE_ROW) {
        sqlite3_reset(rows);
        int bound = SQLITE_OK;
        kw_store_bind_int(&bound, rows, 7, sqlite3_column_int64(pairs, 0));
        kw_store_bind_int(&bound, rows, 8, sqlite3_column_int64(pairs, 1));
        status = bound ? kw_store_fail(store, bound, "read", err) : visit_rows(&v, rows, err);
    }
    if (!status && !v.stopped && code != SQLITE_DONE) {
        status = kw_store_fail(store, code, "read", err);
    }
    sqlite3_finalize(pairs);
    sqlite3_finalize(rows);
    return status;
}

kw_status kw_store_column_run(kw_run *run, sqlite3_stmt *statement, const char *path, kw_error *err) {
    memset(run, 0, sizeof *run);
    for (int i = 0; kw_run_fields[i].name; i++) {
        const char *text = (const char *)sqlite3_column_text(statement, i + 1);
        if (!text && kw_store_is_short(statement)) {
            return kw_fail_memory(err, path);
        }
        if (!text || !kw_row_field_set_text(&kw_run_fields[i], run, (kw_word){text, (size_t)sqlite3_column_bytes(statement, i + 1)})) {
            return kw_fail(err, KW_MALFORMED, "%s is damaged: a run has a %s that cannot be", path, kw_run_fields[i].name);
        }
    }
    return KW_OK;
}

kw_status kw_store_read_run(kw_run *run, kw_store *store, const char *id, kw_error *err) {
    sqlite3_stmt *statement;
    kw_status status = kw_store_statement(&statement, store, KW_READ_RUN, "SELECT * FROM run WHERE id = ?1", err);
    if (status) {
        return status;
    }
    int code = SQLITE_OK;
    kw_store_bind_text(&code, statement, 1, id);
    code = code ? code : sqlite3_step(statement);
    memset(run, 0, sizeof *run);
    if (code == SQLITE_ROW) {
        status = kw_store_column_run(run, statement, store->path, err);
    } else if (code != SQLITE_DONE) {
        status = kw_store_fail(store, code, "read", err);
    }
    sqlite3_reset(statement);
    if (!status && code == SQLITE_DONE) {
        kw_row_field_set_text(&kw_run_fields[0], run, (kw_word){id, strlen(id)});
    }
    return status;
}

kw_status kw_store_visit_runs(kw_store *store, bool (*call)(void *user, const kw_run *run), void *user, kw_error *err) {
    kw_text sql = {0};
    sqlite3_stmt *runs = NULL;
    kw_text_add(&sql, "SELECT * FROM run ORDER BY id");
    kw_status status = kw_store_prepare(&runs, store, &sql, err);
    int code = SQLITE_DONE;
    bool stopped = false;
    while (!status && !stopped && (code = sqlite3_step(runs)) == SQLITE_ROW) {
        kw_run run;
        status = kw_store_column_run(&run, runs, store->path, err);
        stopped = !status && !call(user, &run);
    }
    if (!status && !stopped && code != SQLITE_DONE) {
        status = kw_store_fail(store, code, "read", err);
    }
    sqlite3_finalize(runs);
    return status;
}

kw_status kw_store_has(kw_store *store, bool *has, const char *target, const char *problem, const char *config, bool packed, bool cold,
                       kw_error *err) {
    static const char sql[] = "SELECT 1 FROM record WHERE target = (SELECT id FROM target WHERE text = ?1)"
                              " AND problem = (SELECT id FROM problem WHERE text = ?2) AND config = (SELECT id FROM config WHERE text = ?3)"
                              " AND packed = ?4 AND cold = ?5 AND outcome <> 'untried' LIMIT 1";
    sqlite3_stmt *statement;
    *has = false;
    kw_status status = kw_store_statement(&statement, store, KW_HAS_RECORD, sql, err);
    if (status) {
        return status;
    }
    int code = SQLITE_OK;
    kw_store_bind_text(&code, statement, 1, target);
    kw_store_bind_text(&code, statement, 2, problem);
    kw_store_bind_text(&code, statement, 3, config);
    kw_store_bind_int(&code, statement, 4, packed);
    kw_store_bind_int(&code, statement, 5, cold);
    code = code ? code : sqlite3_step(statement);
    *has = code == SQLITE_ROW;
    status = code == SQLITE_ROW || code == SQLITE_DONE ? KW_OK : kw_store_fail(store, code, "read", err);
    sqlite3_reset(statement);
    return status;
}
