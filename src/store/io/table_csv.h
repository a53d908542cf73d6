/* table_csv.h: rows as CSV with everything: the row's fields by name, the problem's operation, type, layout and sizes, and the facts of its run as
 * run_NAME. Internal to this folder. */
#ifndef KW_STORE_IO_TABLE_CSV_H
#define KW_STORE_IO_TABLE_CSV_H

#include "store/io/csv_record.h"
#include "store/row.h"

/* Where each cell of a record goes: to a field of the row or the run, or nowhere, when it only follows from others. */
typedef struct kw_table_header {
    const kw_row_field *row[KW_CSV_RECORD_MAX], *run[KW_CSV_RECORD_MAX];
    int count;
    bool has_run;
} kw_table_header;

void kw_table_add_header(kw_text *text);
void kw_table_add_row(kw_text *text, const kw_row *row, const kw_problem *problem, const kw_run *run);

/* KW_MALFORMED names a column that is not known, is there twice, or is missing: those without which a row is none. */
kw_status kw_table_header_read(kw_table_header *header, const kw_csv_record *cells, kw_error *err);
/* run->id is that of the row; the rest of the run is empty where the file has no columns for it. */
kw_status kw_table_row_read(kw_row *row, kw_run *run, const kw_table_header *header, const kw_csv_record *cells, kw_error *err);

#endif
