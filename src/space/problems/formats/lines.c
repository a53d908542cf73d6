/* lines.c: problem lists line by line. */
#include "space/problems/formats/lines.h"

#include "base/text.h"
#include "problem/import/csv.h"
#include "problem/import/import.h"

#include <string.h>

enum { NAME_MAX_SIZE = 200 };

/* Cuts a comment off: '#' at the start or after a blank, since names of layers may contain one. */
static kw_word without_comment(kw_word line) {
    for (const char *at = line.at, *end = at + line.size; (at = memchr(at, '#', (size_t)(end - at))); at++) {
        if (at == line.at || at[-1] == ' ' || at[-1] == '\t') {
            line.size = (size_t)(at - line.at);
            break;
        }
    }
    return line;
}

/* Splits "NAME: rest": the name is a first word that ends in a colon. */
static kw_word take_line_name(kw_word *line) {
    kw_scan scan = {line->at, line->at + line->size};
    kw_word first = {line->at, 0};
    if (kw_scan_word(&scan, &first) && first.at[first.size - 1] == ':' && first.size <= NAME_MAX_SIZE) {
        *line = (kw_word){scan.at, (size_t)(scan.end - scan.at)};
        first.size--;
        return first;
    }
    return (kw_word){line->at, 0};
}

static bool is_blank_line(kw_word line) {
    kw_scan scan = {line.at, line.at + line.size};
    kw_word word;
    return !kw_scan_word(&scan, &word);
}

/* The word's bytes become a terminated string in place: what follows a word of a line is a blank, a colon or the line's end. */
static char *terminate(char *text, kw_word word) {
    char *start = text + (word.at - text);
    start[word.size] = 0;
    return start;
}

/* Where the reading of a list stands. */
typedef struct list_state {
    const kw_list_reader *how;
    char *text;
    kw_csv csv;
    bool started, is_csv, stopped;
} list_state;

static kw_status read_row(list_state *list, kw_word line, kw_error *err) {
    kw_word name = {0};
    kw_problem problem;
    kw_status status = kw_csv_row(&problem, &name, &list->csv, line, err);
    if (!status) {
        list->stopped = !list->how->visit(list->how->user, name.size ? terminate(list->text, name) : "", &problem);
    }
    return status;
}

/* A header is names with commas between; steps of an epilogue stand behind other words. */
static bool is_csv_header(kw_word line) {
    kw_scan scan = {line.at, line.at + line.size};
    kw_word first;
    return kw_scan_word(&scan, &first) && memchr(first.at, ',', first.size) && !kw_import_tunable_names(line);
}

static kw_status read_list_line(list_state *list, kw_word line, kw_error *err) {
    line = without_comment(line);
    if (is_blank_line(line)) {
        return KW_OK;
    }
    if (kw_import_tunable_validator(line)) { /* which versions the results of TunableOp hold for */
        return KW_OK;
    }
    bool first = !list->started;
    list->started = true;
    if (first && is_csv_header(line)) {
        list->is_csv = true;
        return kw_csv_header(&list->csv, line, list->how->op, list->how->dtype, err);
    }
    if (list->is_csv) {
        return read_row(list, line, err);
    }
    kw_word name = take_line_name(&line);
    kw_problem problems[KW_IMPORT_MAX];
    int count;
    kw_status status = kw_problem_import_all(problems, &count, terminate(list->text, line), err);
    for (int i = 0; i < count && !list->stopped; i++) {
        list->stopped = !list->how->visit(list->how->user, name.size ? terminate(list->text, name) : "", &problems[i]);
    }
    return status;
}

kw_status kw_list_read_lines(const kw_list_reader *how, const char *source, char *text, size_t size, kw_error *err) {
    list_state list = {.how = how, .text = text};
    kw_scan scan = {text, text + size};
    kw_word line;
    kw_status status = KW_OK;
    if (memchr(text, 0, size)) {
        return kw_fail(err, KW_MALFORMED, "%s: holds a zero byte; a problem list is text", source);
    }
    for (int64_t number = 1; !status && !list.stopped && kw_scan_line(&scan, &line); number++) {
        kw_error why = {0};
        status = read_list_line(&list, line, &why);
        if (status) {
            kw_fail(err, status, "%s:%lld: %s", source, (long long)number, why.text);
        }
    }
    return status;
}
