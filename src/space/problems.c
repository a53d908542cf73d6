/* problems.c: the lists compiled in, and lists in files. */
#include "space/problems.h"

#include "base/embedded.h"
#include "base/file.h"
#include "problem/csv.h"

#include <kernelwright_tune.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const kw_embedded kw_embedded_problems[];

enum { LIST_LIMIT = 256 << 20, NAME_MAX_SIZE = 200 };

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
static kw_word take_name(kw_word *line) {
    kw_scan scan = {line->at, line->at + line->size};
    kw_word first = {line->at, 0};
    if (kw_scan_word(&scan, &first) && first.at[first.size - 1] == ':' && first.size <= NAME_MAX_SIZE) {
        *line = (kw_word){scan.at, (size_t)(scan.end - scan.at)};
        first.size--;
        return first;
    }
    return (kw_word){line->at, 0};
}

static bool is_blank(kw_word line) {
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
    const kw_list_reading *how;
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

static kw_status read_line(list_state *list, kw_word line, kw_error *err) {
    line = without_comment(line);
    if (is_blank(line)) {
        return KW_OK;
    }
    bool first = !list->started;
    list->started = true;
    if (first && memchr(line.at, ',', line.size)) {
        list->is_csv = true;
        return kw_csv_header(&list->csv, line, list->how->op, list->how->dtype, err);
    }
    if (list->is_csv) {
        return read_row(list, line, err);
    }
    kw_word name = take_name(&line);
    kw_problem problem;
    kw_status status = kw_problem_import(&problem, terminate(list->text, line), err);
    if (!status) {
        list->stopped = !list->how->visit(list->how->user, name.size ? terminate(list->text, name) : "", &problem);
    }
    return status;
}

kw_status kw_list_read(const kw_list_reading *how, const char *source, char *text, size_t size, kw_error *err) {
    list_state list = {.how = how, .text = text};
    kw_scan scan = {text, text + size};
    kw_word line;
    kw_status status = KW_OK;
    if (memchr(text, 0, size)) {
        return kw_fail(err, KW_MALFORMED, "%s: holds a zero byte; a problem list is text", source);
    }
    for (int64_t number = 1; !status && !list.stopped && kw_scan_line(&scan, &line); number++) {
        kw_error why = {0};
        status = read_line(&list, line, &why);
        if (status) {
            kw_fail(err, status, "%s:%lld: %s", source, (long long)number, why.text);
        }
    }
    return status;
}

/* Standard input is read whole, as a file would be. */
static kw_status read_stdin(kw_text *text, kw_error *err) {
    char buffer[1 << 16];
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, stdin)) > 0;) {
        if (text->size + got > LIST_LIMIT) {
            return kw_fail(err, KW_ILLEGAL, "standard input: longer than %d bytes; split the list", LIST_LIMIT);
        }
        kw_text_add_bytes(text, buffer, got);
    }
    if (ferror(stdin)) {
        return kw_fail(err, KW_IO, "standard input: %s", strerror(errno));
    }
    kw_text_add(text, "");
    return text->failed ? kw_fail_memory(err, "a problem list") : KW_OK;
}

static const kw_embedded *find_embedded(const char *name) {
    size_t length = strlen(name);
    for (const kw_embedded *file = kw_embedded_problems; file->name; file++) {
        if (!strncmp(file->name, name, length) && !strcmp(file->name + length, ".txt")) {
            return file;
        }
    }
    return NULL;
}

static kw_status read_file(const kw_list_reading *how, const char *path, kw_error *err) {
    kw_arena arena = {0};
    char *data = NULL;
    size_t size = 0;
    kw_error why = {0};
    kw_status status = kw_file_read(&arena, path, LIST_LIMIT, &data, &size, &why);
    if (!status) {
        status = kw_list_read(how, path, data, size, err);
    } else if (strchr(path, '/') || strchr(path, '.')) {
        kw_fail(err, status, "%s", why.text);
    } else {
        kw_fail(err, KW_MISSING,
                "'%.80s' is neither a list that is compiled in (`kwright problems` shows them) nor a file that can be read: %s", path,
                why.text);
        status = KW_MISSING;
    }
    kw_arena_drop(&arena);
    return status;
}

kw_status kw_problems_visit(const char *name_or_path, kw_op op, kw_dtype dtype,
                            bool (*visit)(void *user, const char *name, const kw_problem *problem), void *user, kw_error *err) {
    if (!name_or_path || !visit) {
        return kw_fail(err, KW_ILLEGAL, "kw_problems_visit: %s is NULL", visit ? "name_or_path" : "visit");
    }
    kw_list_reading how = {op, dtype, visit, user};
    const kw_embedded *embedded = find_embedded(name_or_path);
    bool from_stdin = !strcmp(name_or_path, "-");
    if (!embedded && !from_stdin) {
        return read_file(&how, name_or_path, err);
    }
    kw_text text = {0};
    kw_status status = KW_OK;
    if (from_stdin) {
        status = read_stdin(&text, err);
    } else {
        kw_text_add_bytes(&text, embedded->text, embedded->size);
        status = text.failed ? kw_fail_memory(err, "a problem list") : KW_OK;
    }
    status = status ? status : kw_list_read(&how, from_stdin ? "standard input" : embedded->name, text.data, text.size, err);
    kw_text_drop(&text);
    return status;
}

kw_status kw_problems_names(char **names, kw_error *err) {
    if (!names) {
        return kw_fail(err, KW_ILLEGAL, "kw_problems_names: names is NULL");
    }
    kw_text text = {0};
    for (const kw_embedded *file = kw_embedded_problems; file->name; file++) {
        kw_text_addf(&text, "%.*s\n", (int)(strlen(file->name) - strlen(".txt")), file->name);
    }
    *names = kw_text_take(&text);
    return *names ? KW_OK : kw_fail_memory(err, "names of problem lists");
}
