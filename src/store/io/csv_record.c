/* csv_record.c: records over the lines of a reader. */
#include "store/io/csv_record.h"

#include "base/format/csv.h"
#include "store/line.h"

#include <string.h>

/* Lines up to one at whose end no quote is open. */
static kw_status join_lines(kw_csv_record *cells, kw_reader *reader, bool *more, kw_error *err) {
    bool open = false;
    cells->text.size = 0;
    for (bool first = true; first || open; first = false) {
        kw_reader_line line;
        kw_status status = kw_reader_next(reader, &line, more, err);
        if (status) {
            return status;
        }
        if (!*more) {
            return first ? KW_OK : kw_fail(err, KW_MALFORMED, "line %lld: a quote has no end", (long long)cells->line);
        }
        cells->line = first ? line.number : cells->line;
        open ^= kw_csv_is_open(line.text);
        kw_text_add(&cells->text, first ? "" : "\n");
        kw_text_add_bytes(&cells->text, line.text.at, line.text.size);
        if (cells->text.size > KW_LINE_MAX || (!line.whole && !line.text.size)) {
            return kw_fail(err, KW_MALFORMED, "line %lld: it has more than %d bytes", (long long)line.number, KW_LINE_MAX);
        }
    }
    return cells->text.failed ? kw_fail_memory(err, "a line") : KW_OK;
}

static kw_status split_cells(kw_csv_record *cells, kw_error *err) {
    kw_error why = {0};
    size_t size = cells->text.size;
    size -= size && cells->text.data[size - 1] == '\r';
    kw_status status = kw_csv_split(cells->cell, KW_CSV_RECORD_MAX, &cells->count, cells->text.data, size, &why);
    return status ? kw_fail(err, status, "line %lld: %s", (long long)cells->line, why.text) : KW_OK;
}

kw_status kw_csv_record_read(kw_csv_record *cells, kw_reader *reader, bool *more, kw_error *err) {
    for (;;) {
        kw_status status = join_lines(cells, reader, more, err);
        if (status || !*more) {
            return status;
        }
        bool blank = cells->text.size == 0 || (cells->text.size == 1 && cells->text.data[0] == '\r');
        if (!blank) {
            return split_cells(cells, err);
        }
    }
}

void kw_csv_record_drop(kw_csv_record *cells) {
    kw_text_drop(&cells->text);
    cells->count = 0;
}
