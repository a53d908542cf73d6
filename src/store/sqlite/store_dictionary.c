/* store_dictionary.c: the texts that rows share, each once, with what they say as columns. */
#include "store/sizes.h"
#include "store/sqlite/store.h"

#include <string.h>

static const char *const find_sql[KW_DICTIONARY_COUNT] = {
    [KW_DICTIONARY_RUN] = "SELECT number FROM run WHERE id = ?1",       [KW_DICTIONARY_TARGET] = "SELECT id FROM target WHERE text = ?1",
    [KW_DICTIONARY_PROBLEM] = "SELECT id FROM problem WHERE text = ?1", [KW_DICTIONARY_CONFIG] = "SELECT id FROM config WHERE text = ?1",
    [KW_DICTIONARY_DETAIL] = "SELECT id FROM detail WHERE text = ?1",
};

static const char *const make_sql[KW_DICTIONARY_COUNT] = {
    [KW_DICTIONARY_RUN] = "INSERT INTO run VALUES(NULL, ?1, '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '')",
    [KW_DICTIONARY_TARGET] = "INSERT INTO target VALUES(NULL, ?1, ?2, ?3)",
    [KW_DICTIONARY_PROBLEM] =
        ("INSERT INTO problem VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,"
         " ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34)"),
    [KW_DICTIONARY_CONFIG] = "INSERT INTO config VALUES(NULL, ?1, ?2, ?3, ?4, ?5)",
    [KW_DICTIONARY_DETAIL] = "INSERT INTO detail VALUES(NULL, ?1)",
};

/* Parameters of problem from ?5 on. */
static void bind_sizes(int *code, sqlite3_stmt *statement, const kw_problem *problem) {
    int64_t sizes[KW_SIZE_COUNT];
    kw_sizes(sizes, problem);
    for (int i = 0; i < KW_SIZE_COUNT; i++) {
        if (sizes[i] != KW_SIZE_NONE) {
            kw_store_bind_int(code, statement, 5 + i, sizes[i]);
        }
    }
}

static kw_status bind_problem(int *code, sqlite3_stmt *statement, const char *text, kw_error *err) {
    kw_problem problem;
    kw_status status = kw_row_problem(&problem, text, err);
    if (status) {
        return status;
    }
    kw_scan scan = kw_scan_string(text);
    kw_word op, dtype, layout;
    kw_scan_word(&scan, &op);
    kw_scan_word(&scan, &dtype);
    kw_scan_word(&scan, &layout);
    kw_store_bind_word(code, statement, 2, op);
    kw_store_bind_word(code, statement, 3, dtype);
    kw_store_bind_word(code, statement, 4, layout);
    bind_sizes(code, statement, &problem);
    return KW_OK;
}

static void bind_target(int *code, sqlite3_stmt *statement, const char *text) {
    kw_scan scan = kw_scan_string(text), head;
    kw_word word = {text, 0}, backend = {text, 0}, arch = {text, 0};
    kw_scan_word(&scan, &word);
    head = (kw_scan){word.at, word.at + word.size};
    kw_scan_field(&head, ':', &backend);
    if (head.at) {
        arch = (kw_word){head.at, (size_t)(head.end - head.at)};
    }
    kw_store_bind_word(code, statement, 2, backend);
    kw_store_bind_word(code, statement, 3, arch);
}

static void bind_config(int *code, sqlite3_stmt *statement, const char *text) {
    kw_op op = KW_GEMM;
    kw_dtype dtype = KW_FP32;
    bool foreign = kw_config_is_foreign(text, &op, &dtype);
    kw_store_bind_int(code, statement, 2, foreign);
    if (!foreign) {
        kw_scan scan = kw_scan_string(text);
        kw_word family;
        kw_scan_word(&scan, &family);
        kw_store_bind_word(code, statement, 3, family);
        kw_store_bind_text(code, statement, 4, kw_op_name(op));
        kw_store_bind_text(code, statement, 5, kw_dtype_name(dtype));
    }
}

/* The words name=value of a target or config, as rows of their own: whole numbers as numbers. */
static kw_status add_pairs(kw_store *store, kw_statement which, int64_t owner, const char *text, kw_error *err) {
    kw_scan scan = kw_scan_string(text);
    kw_word word, name;
    sqlite3_stmt *statement;
    while (kw_scan_word(&scan, &word)) {
        kw_scan pair = {word.at, word.at + word.size};
        kw_scan_field(&pair, '=', &name);
        if (!pair.at || !name.size) {
            continue;
        }
        kw_word value = {pair.at, (size_t)(pair.end - pair.at)};
        int64_t number;
        kw_status status = kw_store_statement(&statement, store, which,
                                              which == KW_ADD_FACT ? "INSERT INTO fact VALUES(?1, ?2, ?3) ON CONFLICT DO NOTHING"
                                                                   : "INSERT INTO axis VALUES(?1, ?2, ?3) ON CONFLICT DO NOTHING",
                                              err);
        if (status) {
            return status;
        }
        int code = SQLITE_OK;
        kw_store_bind_int(&code, statement, 1, owner);
        kw_store_bind_word(&code, statement, 2, name);
        if (kw_word_int(value, INT64_MIN, INT64_MAX, &number)) {
            kw_store_bind_int(&code, statement, 3, number);
        } else {
            kw_store_bind_word(&code, statement, 3, value);
        }
        status = kw_store_run(store, statement, code, err);
        if (status) {
            return status;
        }
    }
    return KW_OK;
}

static kw_status insert_word(int64_t *id, kw_store *store, kw_dictionary shared, const char *text, kw_error *err) {
    sqlite3_stmt *statement;
    kw_status status = kw_store_statement(&statement, store, KW_MAKE_DICTIONARY + (kw_statement)shared, make_sql[shared], err);
    if (status) {
        return status;
    }
    int code = SQLITE_OK;
    kw_store_bind_text(&code, statement, 1, text);
    if (shared == KW_DICTIONARY_PROBLEM) {
        status = bind_problem(&code, statement, text, err);
    } else if (shared == KW_DICTIONARY_TARGET) {
        bind_target(&code, statement, text);
    } else if (shared == KW_DICTIONARY_CONFIG) {
        bind_config(&code, statement, text);
    }
    status = status ? status : kw_store_run(store, statement, code, err);
    if (status) {
        return status;
    }
    *id = sqlite3_last_insert_rowid(store->db);
    if (shared == KW_DICTIONARY_TARGET) {
        return add_pairs(store, KW_ADD_FACT, *id, text, err);
    }
    return shared == KW_DICTIONARY_CONFIG && !kw_config_is_foreign(text, NULL, NULL) ? add_pairs(store, KW_ADD_AXIS, *id, text, err)
                                                                                     : KW_OK;
}

kw_status kw_store_intern(int64_t *id, kw_store *store, kw_dictionary shared, const char *text, kw_error *err) {
    if (store->memo_id[shared] && !strcmp(store->memo[shared], text)) {
        *id = store->memo_id[shared];
        return KW_OK;
    }
    sqlite3_stmt *statement;
    kw_status status = kw_store_statement(&statement, store, KW_FIND_DICTIONARY + (kw_statement)shared, find_sql[shared], err);
    if (status) {
        return status;
    }
    int code = SQLITE_OK;
    kw_store_bind_text(&code, statement, 1, text);
    code = code ? code : sqlite3_step(statement);
    *id = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        status = kw_store_fail(store, code, "read", err);
    }
    sqlite3_reset(statement);
    if (!status && code == SQLITE_DONE) {
        status = insert_word(id, store, shared, text, err);
    }
    if (!status) {
        size_t size = strlen(text) + 1;
        memcpy(store->memo[shared], text, size);
        store->memo_id[shared] = *id;
    }
    return status;
}
