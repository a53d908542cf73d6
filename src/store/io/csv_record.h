/* csv_record.h: records of CSV (base/format/csv.h) from a reader. Internal to this folder. */
#ifndef KW_STORE_IO_CSV_RECORD_H
#define KW_STORE_IO_CSV_RECORD_H

#include "store/io/reader.h"

enum { KW_CSV_RECORD_MAX = 256 };

/* A record: so many cells, which live in text. */
typedef struct kw_csv_record {
    kw_text text;
    kw_word cell[KW_CSV_RECORD_MAX];
    int count;
    int64_t line; /* its first line's number */
} kw_csv_record;

/* The next record that is not blank; one may go over several lines. *more is false at the end. KW_MALFORMED: quotes without an end, text behind
 * a closing quote, too many cells, too long; reading may go on behind it. */
kw_status kw_csv_record_read(kw_csv_record *cells, kw_reader *reader, bool *more, kw_error *err);
void kw_csv_record_drop(kw_csv_record *cells);

#endif
