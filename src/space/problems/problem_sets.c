/* problem_sets.c: where lists come from: the sets compiled in (problems/: NAME.txt as text, NAME.lua as grids, NAME.sets as the names of other
 * sets, one a line), files, standard input. */
#include "base/embedded.h"
#include "space/problems/grids.h"
#include "space/problems/formats/literals.h"
#include "space/problems/problem_sets.h"
#include "space/problems/problems.h"

#include "base/nearest.h"
#include "base/os/file.h"

#include <kernelwright_tune.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const kw_embedded kw_embedded_problems[];

enum { LIST_LIMIT = 256 << 20 };

/* --- the sets compiled in --- */

/* Length of a file's name without its suffix. */
static size_t stem_size(const char *file) {
    return (size_t)(strrchr(file, '.') - file);
}

static const kw_embedded *find_embedded(const char *name) {
    for (const kw_embedded *file = kw_embedded_problems; file->name; file++) {
        if (stem_size(file->name) == strlen(name) && !strncmp(file->name, name, strlen(name))) {
            return file;
        }
    }
    return NULL;
}

/* "; did you mean resnet50" */
static const char *hint_list(char hint[KW_HINT_MAX], const char *name) {
    kw_text names = {0};
    for (const kw_embedded *file = kw_embedded_problems; file->name; file++) {
        kw_text_addf(&names, "%.*s ", (int)stem_size(file->name), file->name);
    }
    kw_nearest_hint(hint, name, kw_text_string(&names));
    kw_text_drop(&names);
    return hint;
}

kw_status kw_problems_names(char **names, kw_error *err) {
    if (!names) {
        return kw_fail(err, KW_ILLEGAL, "kw_problems_names: names is NULL");
    }
    kw_text text = {0};
    for (const kw_embedded *file = kw_embedded_problems; file->name; file++) {
        kw_text_addf(&text, "%.*s\n", (int)stem_size(file->name), file->name);
    }
    *names = kw_text_take(&text);
    return *names ? KW_OK : kw_fail_memory(err, "names of problem lists");
}

kw_status kw_problems_description(char **about, const char *name, kw_error *err) {
    if (!about || !name) {
        return kw_fail(err, KW_ILLEGAL, "kw_problems_description: %s is NULL", about ? "name" : "about");
    }
    const kw_embedded *file = find_embedded(name);
    if (!file) {
        char hint[KW_HINT_MAX];
        return kw_fail(err, KW_MISSING, "'%.80s' is not a list that is compiled in%s; `kwright problems` shows them", name,
                       hint_list(hint, name));
    }
    const char *mark = strcmp(strrchr(file->name, '.'), ".lua") ? "# " : "-- ";
    kw_text text = {0};
    kw_scan scan = {file->text, file->end};
    kw_word line;
    kw_text_add(&text, "");
    while (kw_scan_line(&scan, &line) && kw_word_starts(line, mark)) {
        kw_text_add_bytes(&text, line.at + strlen(mark), line.size - strlen(mark));
        kw_text_add(&text, "\n");
    }
    *about = kw_text_take(&text);
    return *about ? KW_OK : kw_fail_memory(err, "the head of a problem list");
}

/* --- reading --- */

static bool ends_in(const char *name, const char *suffix) {
    size_t size = strlen(name), length = strlen(suffix);
    return size > length && !strcmp(name + size - length, suffix);
}

/* A visit that remembers whether it was the last that was wanted. */
typedef struct kept_visit {
    bool (*visit)(void *user, const char *name, const kw_problem *problem);
    void *user;
    bool stopped;
} kept_visit;

static bool visit_and_keep(void *user, const char *name, const kw_problem *problem) {
    kept_visit *kept = user;
    kept->stopped = !kept->visit(kept->user, name, problem);
    return !kept->stopped;
}

static kw_status read_grids(const kw_list_reader *how, const char *source, kw_word text, kw_error *err) {
    kw_grid_list list = {0};
    kw_status status = kw_grids_read(&list, source, text, how->dtype, err);
    for (size_t i = 0; i < list.count && how->visit(how->user, list.points[i].name, &list.points[i].problem); i++) {
    }
    kw_grids_drop(&list);
    return status;
}

static kw_status read_lines_or_grids(const kw_list_reader *how, const kw_embedded *file, kw_error *err) {
    if (ends_in(file->name, ".lua")) {
        return read_grids(how, file->name, (kw_word){file->text, kw_embedded_size(file)}, err);
    }
    kw_text text = {0}; /* reading a list ends its lines in place */
    kw_text_add_bytes(&text, file->text, kw_embedded_size(file));
    kw_status status = text.failed ? kw_fail_memory(err, "a problem list") : kw_list_read(how, file->name, text.data, text.size, err);
    kw_text_drop(&text);
    return status;
}

/* The sets that the lines name, one after the other; a set of sets holds no further one. */
static kw_status read_embedded(const kw_list_reader *how, const kw_embedded *file, kw_error *err) {
    if (!ends_in(file->name, ".sets")) {
        return read_lines_or_grids(how, file, err);
    }
    kept_visit kept = {how->visit, how->user, false};
    const kw_list_reader part = {how->op, how->dtype, visit_and_keep, &kept};
    kw_scan scan = {file->text, file->end};
    kw_status status = KW_OK;
    for (kw_word line; !status && !kept.stopped && kw_scan_line(&scan, &line);) {
        char name[80] = "";
        bool named = line.size && *line.at != '#';
        const kw_embedded *set = named && kw_word_copy(name, sizeof name, line) ? find_embedded(name) : NULL;
        if (set && !ends_in(set->name, ".sets")) {
            status = read_lines_or_grids(&part, set, err);
        } else if (named) {
            status = kw_fail(err, KW_MISSING, "%s: '%.*s' is no list or grid that is compiled in", file->name, (int)line.size, line.at);
        }
    }
    return status;
}

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

kw_status kw_source_text_read(kw_source_text *source, const char *path, kw_error *err) {
    *source = (kw_source_text){.name = path};
    if (!strcmp(path, "-")) {
        source->name = "standard input";
        kw_text text = {0};
        kw_status status = read_stdin(&text, err);
        source->size = text.size;
        source->data = status ? NULL : kw_arena_copy(&source->arena, text.data, text.size);
        kw_text_drop(&text);
        return status || source->data ? status : kw_fail_memory(err, "a problem list");
    }
    kw_error why = {0};
    kw_status status = kw_file_read(&source->arena, path, LIST_LIMIT, &source->data, &source->size, &why);
    if (status && !strchr(path, '/') && !strchr(path, '.')) {
        char hint[KW_HINT_MAX];
        return kw_fail(err, KW_MISSING,
                       "'%.80s' is neither a list that is compiled in (`kwright problems` shows them%s) nor a file that can be read: %s",
                       path, hint_list(hint, path), why.text);
    }
    return status ? kw_fail(err, status, "%s", why.text) : KW_OK;
}

void kw_source_text_drop(kw_source_text *source) {
    kw_arena_drop(&source->arena);
    *source = (kw_source_text){0};
}

kw_status kw_problems_visit(const char *name_or_path, kw_op op, kw_dtype dtype,
                            bool (*visit)(void *user, const char *name, const kw_problem *problem), void *user, kw_error *err) {
    if (!name_or_path || !visit) {
        return kw_fail(err, KW_ILLEGAL, "kw_problems_visit: %s is NULL", visit ? "name_or_path" : "visit");
    }
    kw_list_reader how = {op, dtype, visit, user};
    const kw_embedded *embedded = find_embedded(name_or_path);
    if (embedded) {
        return read_embedded(&how, embedded, err);
    }
    kw_source_text source;
    kw_status status = kw_source_text_read(&source, name_or_path, err);
    if (!status && ends_in(name_or_path, ".lua")) {
        status = read_grids(&how, source.name, (kw_word){source.data, source.size}, err);
    } else if (!status && ends_in(name_or_path, ".py")) {
        status = kw_python_problems_read(&how, source.name, source.data, source.size, err);
    } else if (!status) {
        status = kw_list_read(&how, source.name, source.data, source.size, err);
    }
    kw_source_text_drop(&source);
    return status;
}
