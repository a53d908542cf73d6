/* csv.c: see csv.h. */
#include "base/format/csv.h"

#include "base/format/number.h"

#include <math.h>
#include <string.h>

void kw_csv_add(kw_text *text, const char *value, bool first) {
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

/* Whether the cell is a formula, behind any number of guards. */
static bool is_formula(kw_word cell) {
    size_t guards = 0;
    while (guards < cell.size && cell.at[guards] == '\'') {
        guards++;
    }
    return guards < cell.size && memchr("=+-@\t\r", cell.at[guards], 6);
}

void kw_csv_add_guarded(kw_text *text, const char *value, bool first) {
    kw_text guarded = {0};
    if (!is_formula((kw_word){value, strlen(value)})) {
        kw_csv_add(text, value, first);
        return;
    }
    kw_text_addf(&guarded, "'%s", value);
    kw_csv_add(text, kw_text_string(&guarded), first);
    text->failed = text->failed || guarded.failed;
    kw_text_drop(&guarded);
}

kw_word kw_csv_unguard(kw_word cell) {
    bool guarded = cell.size && *cell.at == '\'' && is_formula(cell);
    return guarded ? (kw_word){cell.at + 1, cell.size - 1} : cell;
}

void kw_csv_add_number(kw_text *text, double value, bool first) {
    char number[KW_NUMBER_TEXT] = "";
    if (isfinite(value)) {
        kw_number_print(number, value);
    }
    kw_text_add(text, first ? "" : ",");
    kw_text_add(text, number);
}

bool kw_csv_is_open(kw_word text) {
    size_t quotes = 0;
    for (size_t i = 0; i < text.size; i++) {
        quotes += text.at[i] == '"';
    }
    return quotes % 2;
}

/* Takes the quotes off the cell at the front; returns where it ends, or NULL when what follows the closing quote is no comma. */
static char *unquote(kw_word *cell, char *at, char *end) {
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

kw_status kw_csv_split(kw_word cells[], int most, int *count, char *record, size_t size, kw_error *err) {
    char *at = record, *end = record + size;
    for (*count = 0;; at++) {
        if (*count == most) {
            return kw_fail(err, KW_MALFORMED, "it has more than %d cells", most);
        }
        kw_word *cell = &cells[(*count)++];
        char *stop;
        if (at < end && *at == '"') {
            stop = unquote(cell, at, end);
            if (!stop) {
                return kw_fail(err, KW_MALFORMED, "cell %d goes on behind its closing quote", *count);
            }
        } else {
            stop = at < end ? memchr(at, ',', (size_t)(end - at)) : NULL;
            stop = stop ? stop : end;
            *cell = (kw_word){at, (size_t)(stop - at)};
        }
        if (stop == end) {
            return KW_OK;
        }
        at = stop;
    }
}

kw_word kw_csv_trim(kw_word cell) {
    while (cell.size && (cell.at[0] == ' ' || cell.at[0] == '\t')) {
        cell.at++;
        cell.size--;
    }
    while (cell.size && (cell.at[cell.size - 1] == ' ' || cell.at[cell.size - 1] == '\t' || cell.at[cell.size - 1] == '\r')) {
        cell.size--;
    }
    return cell;
}
