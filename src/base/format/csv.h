/* csv.h: comma-separated values as RFC 4180 has them: a cell with a comma, a quote or a line end stands in quotes, a quote within is doubled.
 * libcsv is not used: the run-time library reads lists of problems and links nothing for it. */
#ifndef KW_BASE_FORMAT_CSV_H
#define KW_BASE_FORMAT_CSV_H

#include "base/status.h"
#include "base/text.h"

/* Appends a cell, with a comma before it unless it is the record's first. */
void kw_csv_add(kw_text *text, const char *value, bool first);
/* A name from outside may begin like a formula of a spreadsheet (= + - @, a tab, a carriage return); it is written with a ' before it, and so
 * is one that begins with ' and then so, so that kw_csv_unguard gives exactly what was there. */
void kw_csv_add_guarded(kw_text *text, const char *value, bool first);
kw_word kw_csv_unguard(kw_word cell);
/* The same of a number, by kw_number_print; an empty cell for one that is not finite. */
void kw_csv_add_number(kw_text *text, double value, bool first);

/* Whether a quote that was opened in the text has not been closed: the record goes on in the next line. */
bool kw_csv_is_open(kw_word text);
/* Splits a record, without its line end, into at most most cells. A quoted cell is unquoted in place, so the text is changed and the cells
 * point into it. KW_MALFORMED: too many cells, or text behind a closing quote. */
kw_status kw_csv_split(kw_word cells[], int most, int *count, char *record, size_t size, kw_error *err);
/* A cell without the blanks and tabs around it. */
kw_word kw_csv_trim(kw_word cell);

#endif
