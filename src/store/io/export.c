/* export.c: a store's rows as files. One writer and one loop over the rows; the formats differ in what they add to the text. */
#include "base/container/string_table.h"
#include "store/line.h"
#include "store/io/seed_csv.h"
#include "store/sqlite/store.h"
#include "store/io/table_csv.h"
#include "store/io/writer.h"

#include <stdlib.h>
#include <string.h>

enum { FLUSH = 1 << 16 };

typedef struct export export;

typedef struct format {
    const char *name;
    void (*head)(kw_text *text);
    kw_status (*row)(export *e, const kw_row *row, kw_error *err);
} format;

struct export {
    kw_store *store;
    const format *format;
    kw_writer *writer;
    kw_text text;
    kw_export_report report;
    kw_run run; /* of the last row */
    kw_arena arena;
    kw_string_table told;                   /* ids of the runs that were written */
    char problem_text[KW_PROBLEM_TEXT_MAX]; /* of the last row, and what it says */
    kw_problem problem;
    int64_t problem_index;
    kw_problem first; /* seed-csv: gives operation and type */
    kw_status status;
    kw_error *err;
};

/* The row's problem; rows come sorted by it. */
static kw_status see_problem(export *e, const kw_row *row, kw_error *err) {
    if (!strcmp(e->problem_text, row->problem)) {
        return KW_OK;
    }
    memcpy(e->problem_text, row->problem, sizeof e->problem_text);
    e->problem_index++;
    return kw_problem_parse(&e->problem, row->problem, err);
}

static kw_status see_run(export *e, const kw_row *row, kw_error *err) {
    return !strcmp(e->run.id, row->run) ? KW_OK : kw_store_read_run(&e->run, e->store, row->run, err);
}

static kw_status add_json(export *e, const kw_row *row, kw_error *err) {
    bool added;
    if (kw_string_table_add(&e->told, &e->arena, row->run, &added) == UINT32_MAX) {
        return kw_fail_memory(err, "the ids of the runs");
    }
    if (added) {
        kw_status status = see_run(e, row, err);
        if (status) {
            return status;
        }
        kw_line_add_run(&e->text, &e->run);
    }
    kw_line_add_row(&e->text, row);
    e->report.rows++;
    return KW_OK;
}

static kw_status add_export_csv(export *e, const kw_row *row, kw_error *err) {
    kw_status status = see_problem(e, row, err);
    status = status ? status : see_run(e, row, err);
    if (!status) {
        kw_table_add_row(&e->text, row, &e->problem, &e->run);
        e->report.rows++;
    }
    return status;
}

static kw_status add_seed(export *e, const kw_row *row, kw_error *err) {
    kw_status status = see_problem(e, row, err);
    if (status) {
        return status;
    }
    if (!kw_seed_holds(&e->problem)) {
        e->report.left_out++;
        return KW_OK;
    }
    if (!e->report.rows++) {
        e->first = e->problem;
    }
    if (e->first.op != e->problem.op || e->first.dtype != e->problem.dtype) {
        return kw_fail(
            err, KW_ILLEGAL,
            "seed-csv does not say the operation and type of a row, so a file has one of each; here are %s %s and %s %s: filter by them",
            kw_op_name(e->first.op), kw_dtype_name(e->first.dtype), kw_op_name(e->problem.op), kw_dtype_name(e->problem.dtype));
    }
    kw_seed_add_row(&e->text, row, &e->problem, e->problem_index);
    return KW_OK;
}

static const format formats[] = {
    {"jsonl", NULL, add_json}, {"csv", kw_table_add_header, add_export_csv}, {"seed-csv", kw_seed_add_header, add_seed}};

static const format *find_format(const char *name) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (!strcmp(formats[i].name, name)) {
            return &formats[i];
        }
    }
    return NULL;
}

static bool export_row(void *user, const kw_row *row) {
    export *e = user;
    e->status = e->format->row(e, row, e->err);
    if (!e->status && (e->text.size >= FLUSH || e->text.failed)) {
        e->status = kw_writer_put(e->writer, &e->text, e->err);
    }
    return !e->status;
}

kw_status kw_store_export(kw_store *store, const kw_row_filter *filter, const char *name, const char *path, kw_export_report *report,
                          kw_error *err) {
    const format *found = find_format(name);
    if (!found) {
        return kw_fail(err, KW_MISSING, "format %.40s is not known; there are jsonl, csv and seed-csv", name);
    }
    export *e = calloc(1, sizeof *e);
    if (!e) {
        return kw_fail_memory(err, path);
    }
    *e = (export){.store = store, .format = found, .problem_index = -1, .err = err};
    kw_status status = kw_writer_open(&e->writer, path, err);
    if (!status && found->head) {
        found->head(&e->text);
    }
    status = status ? status : kw_store_visit(store, filter, export_row, e, err);
    status = status ? status : e->status;
    status = status ? status : kw_writer_put(e->writer, &e->text, err);
    status = kw_writer_close(&e->writer, status, err);
    if (report) {
        *report = e->report;
    }
    kw_text_drop(&e->text);
    kw_string_table_drop(&e->told);
    kw_arena_drop(&e->arena);
    free(e);
    return status;
}
