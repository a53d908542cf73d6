/* cells.h: CSV as RFC 4180 has it: cells with a comma, a quote or a line end stand in quotes, a quote within them is doubled. Internal to
 * this folder. */
#ifndef KW_STORE_IO_CELLS_H
#define KW_STORE_IO_CELLS_H

#include "store/io/reader.h"

enum { KW_CELLS_MAX = 256 };

/* A record: so many cells, which live in text. */
typedef struct kw_cells {
    kw_text text;
    kw_word cell[KW_CELLS_MAX];
    int count;
    int64_t line; /* its first line's number */
} kw_cells;

/* The next record that is not blank; one may go over several lines. *more is false at the end. KW_MALFORMED: quotes without an end, text behind
 * a closing quote, too many cells, too long; reading may go on behind it. */
kw_status kw_cells_read(kw_cells *cells, kw_reader *reader, bool *more, kw_error *err);
void kw_cells_drop(kw_cells *cells);
/* Appends a cell, with a comma before it unless it is the record's first. */
void kw_cells_add(kw_text *text, const char *value, bool first);

#endif
