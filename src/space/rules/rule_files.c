/* rule_files.c: names, paths and texts of rule files. A name is letters, digits, '.', '_' and '-' and does not begin with '.', so that
 * no name can lead out of the folder. */
#include "space/rules/rule_files.h"

#include "base/nearest.h"
#include "base/os/file.h"
#include "space/rules/rules.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 1 << 20 };

static const char suffix[] = ".lua";

const char *kw_rule_folder(const char *wanted) {
    const char *folder = wanted ? wanted : secure_getenv("KW_RULES");
    return folder && *folder ? folder : NULL;
}

static bool good_name(const char *name, size_t size) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return size && *name != '.' && strspn(name, letters) >= size;
}

/* The name in FILE when it is NAME.lua; size 0 otherwise. */
static kw_word file_stem(const char *file) {
    size_t size = strlen(file), tail = sizeof suffix - 1;
    bool good = size > tail && !strcmp(file + size - tail, suffix) && good_name(file, size - tail);
    return (kw_word){file, good ? size - tail : 0};
}

static int compare_words(const void *left, const void *right) {
    const kw_word *a = left, *b = right;
    int order = memcmp(a->at, b->at, a->size < b->size ? a->size : b->size);
    return order ? order : (a->size > b->size) - (a->size < b->size);
}

typedef struct word_list {
    kw_word *words;
    size_t count, capacity;
} word_list;

static bool add_list_word(word_list *list, kw_word word) {
    if (!word.size) {
        return true;
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 16;
        kw_word *words = reallocarray(list->words, capacity, sizeof *words);
        if (!words) {
            return false;
        }
        list->words = words;
        list->capacity = capacity;
    }
    list->words[list->count++] = word;
    return true;
}

static bool list_embedded(word_list *list, const char *kind) {
    size_t size = strlen(kind);
    for (const kw_embedded *file = kw_embedded_rules; file->name; file++) {
        if (!strncmp(file->name, kind, size) && file->name[size] == '/' && !add_list_word(list, file_stem(file->name + size + 1))) {
            return false;
        }
    }
    return true;
}

static kw_status list_folder(word_list *list, kw_arena *arena, const char *folder, const char *kind, kw_error *err) {
    char *path = kw_arena_format(arena, "%s/%s", folder, kind);
    if (!path) {
        return kw_fail_memory(err, "a path");
    }
    DIR *stream = opendir(path);
    if (!stream) {
        return kw_fail(err, KW_IO, "%s: %s; a rules folder has arch/, families/ and sets/", path, strerror(errno));
    }
    bool good = true;
    for (struct dirent *entry; good && (entry = readdir(stream));) {
        kw_word word = file_stem(entry->d_name);
        if (word.size) {
            word.at = kw_arena_copy(arena, word.at, word.size);
            good = word.at && add_list_word(list, word);
        }
    }
    closedir(stream);
    return good ? KW_OK : kw_fail_memory(err, "names of rule files");
}

kw_status kw_rule_names(kw_text *names, const char *folder, const char *kind, char separator, kw_error *err) {
    kw_arena arena = {0};
    word_list list = {0};
    kw_status status = KW_OK;
    if (folder) {
        status = list_folder(&list, &arena, folder, kind, err);
    } else if (!list_embedded(&list, kind)) {
        status = kw_fail_memory(err, "names of rule files");
    }
    if (!status && list.count) {
        qsort(list.words, list.count, sizeof *list.words, compare_words);
    }
    for (size_t i = 0; !status && i < list.count; i++) {
        kw_text_add_bytes(names, list.words[i].at, list.words[i].size);
        kw_text_add_bytes(names, &separator, 1);
    }
    free(list.words);
    kw_arena_drop(&arena);
    return status;
}

static kw_status fail_unknown_rule(const char *folder, kw_rule_name name, kw_error *err) {
    kw_text known = {0};
    kw_status status = kw_rule_names(&known, folder, name.kind, ' ', err);
    if (!status) {
        const char *what = !strcmp(name.kind, "arch") ? "architecture" : !strcmp(name.kind, "sets") ? "set" : "family";
        char hint[KW_HINT_MAX];
        kw_fail(err, KW_MISSING, "%s '%.60s' is not known%s; known: %s(one file each in %s/%s)", what, name.name,
                kw_nearest_hint(hint, name.name, kw_text_string(&known)), kw_text_string(&known), folder ? folder : "rules", name.kind);
        status = KW_MISSING;
    }
    kw_text_drop(&known);
    return status;
}

/* KW_MISSING names what there is. */
static kw_status check_known(const char *folder, kw_rule_name name, kw_error *err) {
    kw_text known = {0};
    bool found = false;
    kw_status status = kw_rule_names(&known, folder, name.kind, '\n', err);
    if (!status && known.failed) {
        status = kw_fail_memory(err, "names of rule files");
    }
    if (!status) {
        kw_scan scan = kw_scan_string(kw_text_string(&known));
        kw_word word;
        while (!found && kw_scan_word(&scan, &word)) {
            found = kw_word_is(word, name.name);
        }
    }
    kw_text_drop(&known);
    return status || found ? status : fail_unknown_rule(folder, name, err);
}

bool kw_rule_exists(const char *folder, kw_rule_name name) {
    return !check_known(folder, name, NULL);
}

kw_status kw_rule_file(kw_arena *arena, const char *folder, kw_rule_name name, kw_rule_text *out, kw_error *err) {
    kw_status found = check_known(folder, name, err);
    if (found) {
        return found;
    }
    char *file = kw_arena_format(arena, "%s/%s%s", name.kind, name.name, suffix);
    if (!file) {
        return kw_fail_memory(err, "a path");
    }
    out->file = file;
    if (folder) {
        char *path = kw_arena_format(arena, "%s/%s", folder, file), *data;
        kw_status status = path ? kw_file_read(arena, path, FILE_LIMIT, &data, &out->size, err) : kw_fail_memory(err, "a path");
        out->text = status ? NULL : data;
        return status;
    }
    const kw_embedded *embedded = kw_embedded_find(kw_embedded_rules, file);
    if (embedded) {
        out->text = embedded->text;
        out->size = kw_embedded_size(embedded);
    }
    return KW_OK;
}
