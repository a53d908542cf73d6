/* line.h: rows and runs as lines of JSON: {"schema":1,"line":"row","run":"...", ... ,"sum":"0123456789abcdef"}. Members stand in the order of
 * the tables of row.h; one that says nothing is left out. sum is the XXH3-64 of all bytes before its comma. */
#ifndef KW_STORE_LINE_H
#define KW_STORE_LINE_H

#include "base/text.h"
#include "store/row.h"

/* Longest line that is read; the longest that is written is shorter. */
enum { KW_LINE_MAX = 65536 };

typedef enum kw_line_kind { KW_LINE_DAMAGED = 0, KW_LINE_ROW, KW_LINE_RUN } kw_line_kind;

/* What a line says it is. Its sum is not looked at. */
kw_line_kind kw_line_kind_of(kw_word line);
/* KW_MALFORMED: the line is too long, cut off, or not what its sum says. */
kw_status kw_line_check_sum(const char *line, size_t size, kw_error *err);
/* Appends a settled row or run as a line, with its end. */
void kw_line_add_row(kw_text *text, const kw_row *row);
void kw_line_add_run(kw_text *text, const kw_run *run);
/* A row's identity: the hash of the members of its line, of a settled row. */
kw_status kw_row_digest(char digest[KW_HASH_TEXT], const kw_row *row, kw_error *err);

#endif
