/* reader.h: lines of a file, of standard input or of memory, compressed (gzip) or not, with memory that does not grow with the file. Internal
 * to this folder. */
#ifndef KW_STORE_IO_READER_H
#define KW_STORE_IO_READER_H

#include "base/status.h"
#include "base/text.h"

typedef struct kw_reader kw_reader;

/* path "-": standard input. */
kw_status kw_reader_open(kw_reader **reader, const char *path, kw_error *err);
kw_status kw_reader_open_bytes(kw_reader **reader, const void *bytes, size_t size, kw_error *err);
void kw_reader_close(kw_reader **reader);

typedef struct kw_reader_line {
    kw_word text;   /* without its end ("\n"); valid until the next call */
    int64_t number; /* from 1 */
    bool whole;     /* false: it has no end, as a last line may, or is longer than KW_LINE_MAX and was cut */
} kw_reader_line;

/* *more is false at the end. KW_MALFORMED: what is compressed is damaged or cut off. KW_ILLEGAL: it grows out of all proportion. */
kw_status kw_reader_next(kw_reader *reader, kw_reader_line *line, bool *more, kw_error *err);
/* Passes over blank lines; the first byte of the next one, which stays there, or 0 at the end. */
kw_status kw_reader_peek(kw_reader *reader, char *first, kw_error *err);

#endif
