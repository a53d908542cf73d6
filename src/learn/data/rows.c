/* rows.c: many sources of rows as one. Which row is a pair's answer is the store's rule and is asked of a store; so what does not come
 * from a single one is added to a temporary one first. A union: the same file given twice changes nothing. */
#include "learn/data/rows.h"

#include "base/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH = 256, PATH_SIZE = 4096 };

/* Whether a file begins as SQLite's do. */
static bool is_store_path(const char *path) {
    char head[16] = "";
    FILE *file = fopen(path, "rbe");
    bool is = file && fread(head, 1, sizeof head, file) == sizeof head && !memcmp(head, "SQLite format 3", sizeof head);
    if (file) {
        fclose(file);
    }
    return is;
}

typedef struct copying {
    kw_store *to;
    kw_row *rows;
    size_t count;
    kw_status status;
    kw_error *err;
} copying;

static kw_status flush_copied(copying *c) {
    kw_status status = c->count ? kw_store_add(c->to, c->rows, c->count, NULL, c->err) : KW_OK;
    c->count = 0;
    return status;
}

static bool copy_row(void *user, const kw_row *row) {
    copying *c = user;
    c->rows[c->count++] = *row;
    if (c->count == BATCH) {
        c->status = flush_copied(c);
    }
    return !c->status;
}

static bool copy_run(void *user, const kw_run *run) {
    copying *c = user;
    c->status = kw_store_add_run(c->to, run, c->err);
    return !c->status;
}

static kw_status copy_store(kw_store *to, const char *path, const kw_row_filter *filter, kw_error *err) {
    kw_store *from = NULL;
    copying c = {.to = to, .rows = calloc(BATCH, sizeof *c.rows), .err = err};
    kw_status status = c.rows ? kw_store_open(&from, path, KW_STORE_READ, err) : kw_fail_memory(err, path);
    kw_row_filter all = *filter;
    all.answers = false;
    status = status ? status : kw_store_visit_runs(from, copy_run, &c, err);
    status = status ? status : c.status;
    status = status ? status : kw_store_visit(from, &all, copy_row, &c, err);
    status = status ? status : c.status;
    status = status ? status : flush_copied(&c);
    kw_store_close(&from);
    free(c.rows);
    return status;
}

static kw_status add_source(kw_store *to, const char *path, const kw_row_filter *filter, kw_error *err) {
    if (is_store_path(path)) {
        return copy_store(to, path, filter, err);
    }
    kw_import_report report;
    kw_status status = kw_store_import(to, NULL, path, NULL, &report, err);
    if (!status && report.refused && !(report.added + report.known)) {
        return kw_fail(err, KW_MALFORMED, "%.200s: no row of it can be read; %.200s", path, report.first_refusal);
    }
    return status;
}

/* The files that SQLite may leave beside a store. */
static void remove_store(const char *folder, const char *path) {
    static const char *const ends[] = {"", "-wal", "-shm", "-journal", ".lock"};
    char name[PATH_SIZE + 16];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
    rmdir(folder);
}

static kw_status visit_store(kw_store *store, const kw_row_filter *filter, const kw_rows_visitor *visitor, kw_error *err) {
    kw_status status = visitor->run ? kw_store_visit_runs(store, visitor->run, visitor->user, err) : KW_OK;
    return status ? status : kw_store_visit(store, filter, visitor->row, visitor->user, err);
}

static kw_status visit_stores(const char *const *paths, size_t count, const kw_row_filter *filter, const kw_rows_visitor *visitor,
                              kw_error *err) {
    const char *place = getenv("TMPDIR");
    char folder[PATH_SIZE - 16], path[PATH_SIZE];
    int size = snprintf(folder, sizeof folder, "%s/kwright-rows-XXXXXX", place && *place ? place : "/tmp");
    if (size < 0 || (size_t)size >= sizeof folder || !mkdtemp(folder)) {
        return kw_fail(err, KW_IO, "cannot make a folder for rows in %.200s: %s; set TMPDIR", place && *place ? place : "/tmp",
                       strerror(errno));
    }
    snprintf(path, sizeof path, "%s/rows.db", folder);
    kw_store *store = NULL;
    kw_status status = kw_store_open(&store, path, KW_STORE_WRITE, err);
    for (size_t i = 0; i < count && !status; i++) {
        status = add_source(store, paths[i], filter, err);
    }
    status = status ? status : visit_store(store, filter, visitor, err);
    kw_store_close(&store);
    remove_store(folder, path);
    return status;
}

kw_status kw_rows_visit(const char *const *paths, size_t count, const kw_row_filter *filter, const kw_rows_visitor *visitor,
                        kw_error *err) {
    if (!count) {
        return kw_fail(err, KW_ILLEGAL, "no store is given; for example results.db");
    }
    for (size_t i = 0; i < count; i++) {
        if (access(paths[i], R_OK)) {
            return kw_fail(err, KW_MISSING, "%.300s cannot be read: %s", paths[i], strerror(errno));
        }
    }
    if (count > 1 || !is_store_path(paths[0])) {
        return visit_stores(paths, count, filter, visitor, err);
    }
    kw_store *store = NULL;
    kw_status status = kw_store_open(&store, paths[0], KW_STORE_READ, err);
    status = status ? status : visit_store(store, filter, visitor, err);
    kw_store_close(&store);
    return status;
}
