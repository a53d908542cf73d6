/* csv_record.c: see cells.h. */
#include "store/io/csv_record.h"

#include "store/line.h"

#include <string.h>

void kw_csv_record_add(kw_text *text, const char *value, bool first) {
    kw_text_add(text, first ? "" : ",");
    if (!value[strcspn(value, ",\"\r\n")]) {
        kw_text_add(text, value);
        return;
    }
    kw_text_add(text, "\"");
    for (const char *at = value; *at;) {
        size_t plain = strcspn(at, "\"");
        kw_text_add_bytes(text, at, plain);
        at += plain;
        if (*at) {
            kw_text_add(text, "\"\"");
            at++;
        }
    }
    kw_text_add(text, "\"");
}

static size_t count_quotes(kw_word word) {
    size_t count = 0;
    for (size_t i = 0; i < word.size; i++) {
        count += word.at[i] == '"';
    }
    return count;
}

/* Lines up to one at whose end no quote is open. */
static kw_status join_lines(kw_csv_record *cells, kw_reader *reader, bool *more, kw_error *err) {
    size_t quotes = 0;
    cells->text.size = 0;
    for (bool first = true; first || quotes % 2; first = false) {
        kw_reader_line line;
        kw_status status = kw_reader_next(reader, &line, more, err);
        if (status) {
            return status;
        }
        if (!*more) {
            return first ? KW_OK : kw_fail(err, KW_MALFORMED, "line %lld: a quote has no end", (long long)cells->line);
        }
        cells->line = first ? line.number : cells->line;
        quotes += count_quotes(line.text);
        kw_text_add(&cells->text, first ? "" : "\n");
        kw_text_add_bytes(&cells->text, line.text.at, line.text.size);
        if (cells->text.size > KW_LINE_MAX || (!line.whole && !line.text.size)) {
            return kw_fail(err, KW_MALFORMED, "line %lld: it has more than %d bytes", (long long)line.number, KW_LINE_MAX);
        }
    }
    return cells->text.failed ? kw_fail_memory(err, "a line") : KW_OK;
}

/* Takes the quotes off a cell in place; returns where the cell ends, or NULL when what follows the closing quote is no comma. */
static char *unquote_cell(kw_word *cell, char *at, char *end) {
    char *to = at;
    cell->at = to;
    for (at++; at < end && !(at[0] == '"' && (at + 1 == end || at[1] != '"')); at++) {
        at += *at == '"';
        *to++ = *at;
    }
    cell->size = (size_t)(to - cell->at);
    at++;
    return at >= end ? end : *at == ',' ? at : NULL;
}

static kw_status split_cells(kw_csv_record *cells, kw_error *err) {
    char *at = cells->text.data, *end = at + cells->text.size;
    end -= end > at && end[-1] == '\r';
    cells->count = 0;
    for (;;) {
        if (cells->count == KW_CSV_RECORD_MAX) {
            return kw_fail(err, KW_MALFORMED, "line %lld: it has more than %d cells", (long long)cells->line, KW_CSV_RECORD_MAX);
        }
        kw_word *cell = &cells->cell[cells->count++];
        char *stop;
        if (at < end && *at == '"') {
            stop = unquote_cell(cell, at, end);
            if (!stop) {
                return kw_fail(err, KW_MALFORMED, "line %lld: cell %d goes on behind its closing quote", (long long)cells->line,
                               cells->count);
            }
        } else {
            stop = at < end ? memchr(at, ',', (size_t)(end - at)) : NULL;
            stop = stop ? stop : end;
            *cell = (kw_word){at, (size_t)(stop - at)};
        }
        if (stop == end) {
            return KW_OK;
        }
        at = stop + 1;
    }
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
