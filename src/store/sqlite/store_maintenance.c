/* store_maintenance.c: counting, dropping and checking rows. */
#include "base/sized.h"
#include "store/line.h"
#include "store/sqlite/store.h"

#include <string.h>
#include <sys/stat.h>

/* The rows of a filter by id. Parameters are those of kw_store_bind_filter, and ?7 the outcome. */
static void add_chosen(kw_text *sql, const kw_row_filter *filter) {
    kw_text_add(sql, "SELECT row_id FROM (SELECT record.id AS row_id, outcome");
    if (filter->answers) {
        kw_text_addf(sql, ", row_number() OVER (PARTITION BY target, problem, config, packed, cold ORDER BY %s) AS place",
                     kw_store_answer_order);
    }
    kw_text_add(sql, " FROM record WHERE 1");
    kw_text_add(sql, filter->target ? " AND target = (SELECT id FROM target WHERE text = ?1)" : "");
    kw_text_add(sql, filter->problem ? " AND problem = (SELECT id FROM problem WHERE text = ?2)" : "");
    kw_text_add(sql, filter->config ? " AND config = (SELECT id FROM config WHERE text = ?3)" : "");
    kw_text_add(sql, filter->run ? " AND run = (SELECT number FROM run WHERE id = ?4)" : "");
    kw_text_add(sql, filter->by_op ? " AND problem IN (SELECT id FROM problem WHERE op = ?5)" : "");
    kw_text_add(sql, filter->by_dtype ? " AND problem IN (SELECT id FROM problem WHERE dtype = ?6)" : "");
    if (filter->by_timing) {
        kw_text_addf(sql, " AND packed = %d AND cold = %d", filter->packed, filter->cold);
    }
    kw_text_add(sql, ") WHERE 1");
    kw_text_add(sql, filter->answers ? " AND place = 1" : "");
    kw_text_add(sql, filter->by_outcome ? " AND outcome = ?7" : "");
}

static kw_status drop_filtered_rows(kw_store *store, const kw_row_filter *filter, kw_error *err) {
    kw_text sql = {0};
    sqlite3_stmt *statement = NULL;
    kw_text_add(&sql, "DELETE FROM record WHERE id IN (");
    add_chosen(&sql, filter);
    kw_text_add(&sql, ")");
    kw_status status = kw_store_prepare(&statement, store, &sql, err);
    if (!status) {
        int code = kw_store_bind_filter(statement, filter);
        if (filter->by_outcome) {
            kw_store_bind_text(&code, statement, 7, kw_outcome_name(filter->outcome));
        }
        status = kw_store_run(store, statement, code, err);
    }
    sqlite3_finalize(statement);
    return status;
}

kw_status kw_store_drop(kw_store *store, const kw_row_filter *filter, int64_t *dropped, kw_error *err) {
    kw_row_filter own;
    kw_status status = KW_SIZED_READ(&own, kw_row_filter, run, filter, err);
    if (status) {
        return status;
    }
    filter = &own;
    int64_t before = sqlite3_total_changes64(store->db);
    status = kw_store_begin(store, err);
    if (!status) {
        status = kw_store_end(store, drop_filtered_rows(store, filter, err), err);
    }
    int64_t count = status ? 0 : sqlite3_total_changes64(store->db) - before;
    store->dropped = store->dropped || count;
    if (dropped) {
        *dropped = count;
    }
    return status;
}

static kw_status count_outcomes(kw_store *store, kw_store_counts *counts, kw_error *err) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->db, "SELECT outcome, count(*) FROM record GROUP BY outcome", -1, &statement, NULL);
    while (!code && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        if (!name && kw_store_is_short(statement)) {
            code = SQLITE_NOMEM;
            break;
        }
        int64_t count = sqlite3_column_int64(statement, 1);
        counts->rows += count;
        for (int i = 0; name && i < KW_OUTCOME_COUNT; i++) {
            counts->outcome[i] += strcmp(name, kw_outcome_name((kw_outcome)i)) ? 0 : count;
        }
        code = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    return code == SQLITE_DONE ? KW_OK : kw_store_fail(store, code, "read", err);
}

kw_status kw_store_count(kw_store *store, kw_store_counts *counts, kw_error *err) {
    *counts = (kw_store_counts){0};
    const struct {
        const char *sql;
        int64_t *count;
    } tables[] = {
        {"SELECT count(*) FROM target WHERE EXISTS (SELECT 1 FROM record WHERE target = target.id)", &counts->targets},
        {"SELECT count(DISTINCT problem) FROM record", &counts->problems},
        {"SELECT count(*) FROM config WHERE EXISTS (SELECT 1 FROM record WHERE config = config.id)", &counts->configs},
        {"SELECT count(*) FROM run", &counts->runs},
        {"SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", &counts->bytes},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        sqlite3_stmt *statement = NULL;
        int code = sqlite3_prepare_v2(store->db, tables[i].sql, -1, &statement, NULL);
        code = code ? code : sqlite3_step(statement);
        *tables[i].count = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
        sqlite3_finalize(statement);
        if (code != SQLITE_ROW) {
            return kw_store_fail(store, code, "read", err);
        }
    }
    return count_outcomes(store, counts, err);
}

/* SQLite's own look at every page and index: its first complaint. */
static kw_status check_pages(kw_store *store, kw_error *err) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->db, "PRAGMA integrity_check(1)", -1, &statement, NULL);
    code = code ? code : sqlite3_step(statement);
    const char *said = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    kw_status status = KW_OK;
    code = code == SQLITE_ROW && !said && kw_store_is_short(statement) ? SQLITE_NOMEM : code;
    if (code != SQLITE_ROW) {
        status = kw_store_fail(store, code, "read", err);
    } else if (!said || strcmp(said, "ok") != 0) {
        status = kw_fail(err, KW_MALFORMED, "%s is damaged: %s; `kwright db recover` copies what can still be read", store->path,
                         said ? said : "no answer");
    }
    sqlite3_finalize(statement);
    return status;
}

/* Every row must still be what its digest says: a flipped bit within a number is no fault of pages. */
static kw_status check_rows(kw_store *store, kw_error *err) {
    kw_text sql = {0};
    sqlite3_stmt *statement = NULL;
    int64_t joined = 0, bad = 0;
    int code = SQLITE_DONE;
    kw_store_add_select(&sql);
    kw_status status = kw_store_prepare(&statement, store, &sql, err);
    while (!status && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        kw_row row;
        char stored[KW_HASH_TEXT], digest[KW_HASH_TEXT];
        kw_error why = {0};
        joined++;
        kw_status read = kw_store_read_row(&row, stored, statement, store->path, &why);
        read = read ? read : kw_row_digest(digest, &row, &why);
        status = read == KW_NO_MEMORY ? kw_fail_memory(err, store->path) : KW_OK;
        bad += read || strcmp(stored, digest) != 0;
    }
    if (!status && code != SQLITE_DONE) {
        status = kw_store_fail(store, code, "read", err);
    }
    sqlite3_finalize(statement);
    kw_store_counts counts;
    status = status ? status : kw_store_count(store, &counts, err);
    if (!status && (bad || joined != counts.rows)) {
        status = kw_fail(
            err, KW_MALFORMED,
            "%s is damaged: of %lld rows %lld are not what they were and %lld have lost a text; `kwright db recover` copies the others",
            store->path, (long long)counts.rows, (long long)bad, (long long)(counts.rows - joined));
    }
    return status;
}

kw_status kw_store_check(kw_store *store, kw_error *err) {
    kw_status status = check_pages(store, err);
    return status ? status : check_rows(store, err);
}
