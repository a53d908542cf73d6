/* json_rows.c: problems out of rows of JSON. */
#include "space/problems/formats/json_rows.h"

#include "base/text.h"
#include "json/json_read.h"
#include "problem/import/import.h"

#include <string.h>

/* The first line that is not blank. */
static bool next_row(kw_scan *scan, kw_word *line, int64_t *number) {
    while (kw_scan_line(scan, line)) {
        kw_scan words = {line->at, line->at + line->size};
        kw_word word;
        (*number)++;
        if (kw_scan_word(&words, &word)) {
            return true;
        }
    }
    return false;
}

bool kw_json_rows_are(const char *text, size_t size) {
    kw_scan scan = {text, text + size};
    kw_word line;
    json_t *row = NULL;
    int64_t number = 0;
    bool rows = next_row(&scan, &line, &number) && !kw_json_read(&row, "", line.at, line.size, NULL) && json_object_get(row, "schema");
    json_decref(row);
    return rows;
}

/* A layer's name; none where it would not print as one line. */
static const char *name_of(const json_t *row) {
    const char *name = json_string_value(json_object_get(row, "name"));
    for (const char *c = name; c && *c; c++) {
        if ((unsigned char)*c < ' ') {
            return "";
        }
    }
    return name ? name : "";
}

/* Whether to go on: *more. *count grows by the problems that were read. */
static kw_status take_row(const kw_list_reader *how, const json_t *row, size_t *count, bool *more, kw_error *err) {
    const json_t *text = json_object_get(row, "problem");
    kw_problem problems[KW_IMPORT_MAX];
    int found = 0;
    if (!text) {
        return KW_OK;
    }
    if (!json_is_string(text)) {
        return kw_fail(err, KW_MALFORMED, "\"problem\" is no text");
    }
    kw_status status = kw_problem_import_all(problems, &found, json_string_value(text), err);
    for (int i = 0; i < found && *more; i++, (*count)++) {
        *more = how->visit(how->user, name_of(row), &problems[i]);
    }
    return status;
}

kw_status kw_json_rows_read(const kw_list_reader *how, const char *source, const char *text, size_t size, kw_error *err) {
    kw_scan scan = {text, text + size};
    kw_word line;
    kw_status status = KW_OK;
    size_t count = 0;
    bool more = true;
    for (int64_t number = 0; !status && more && next_row(&scan, &line, &number);) {
        json_t *row = NULL;
        kw_error why = {0};
        status = kw_json_read(&row, "row", line.at, line.size, &why);
        status = status ? status : take_row(how, row, &count, &more, &why);
        if (status) {
            kw_fail(err, status, "%.200s:%lld: %s", source, (long long)number, why.text);
        }
        json_decref(row);
    }
    return status || count ? status : kw_fail(err, KW_MALFORMED, "%.200s: no row has a \"problem\"", source);
}
