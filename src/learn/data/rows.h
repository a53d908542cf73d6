/* rows.h: the answers of several stores and exports as if they were one store's. */
#ifndef KW_LEARN_DATA_ROWS_H
#define KW_LEARN_DATA_ROWS_H

#include <kernelwright_tune.h>

/* Who is told of rows and, before them, of their runs; each returns false to stop. */
typedef struct kw_rows_visitor {
    bool (*run)(void *user, const kw_run *run); /* may be NULL */
    bool (*row)(void *user, const kw_row *row);
    void *user;
} kw_rows_visitor;

/* Visits in the order of kw_store_visit. One store is read as it stands; several, and exports (.jsonl, .csv, .gz), are first brought
 * together in a store of its own in TMPDIR, so that the answer for a pair is chosen among the rows of all of them. */
kw_status kw_rows_visit(const char *const *paths, size_t count, const kw_row_filter *filter, const kw_rows_visitor *visitor, kw_error *err);

#endif
