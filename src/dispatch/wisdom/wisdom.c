/* wisdom.c: the layers, and the file that lasts. The format, its key and its versions stand in wisdom_text.h.
 *
 * Layout: one text file a layer; the user's (settings.wisdom) is written, the system's (settings.system_wisdom) only read. Trust: a file
 * is believed when its owner is this user or root and nobody else may write it. Concurrency: a writer takes flock on the file's folder (no
 * lock file is left behind), reads the file as it is now, changes the lines of its own problem and replaces the file whole; writers of
 * other problems lose nothing, readers need no lock. Of two processes that measured the same problem the first to write decides, and the
 * other follows it. States of a file's layer, between which only the holder of the lock moves it:
 *
 *     unread -> read     [layer_load]                 on first need; a file that is not there is read, too, and empty
 *     read   -> read     [refresh_layers]             the stamp (device, inode, size, time) is another: read whole again, generation grows
 *     read   -> empty    [layer_load]                 not trusted, not readable, another version: the log says why; never rewritten
 *     any    -> replaced [kw_wisdom_record, _drop]    on disk, under flock, then refreshed; failing that, in the memory layer
 *
 * Invariants: (1) lines that are not understood stay in the file; (2) of two lines with one key the later counts; (3) generation grows
 * with every change of what kw_wisdom_find may say. Off switch: an empty path (wisdom_file = "" or no data folder) keeps wisdom in memory.
 * Deleting the file forgets all. */
#include "dispatch/wisdom/wisdom.h"

#include "base/os/clock.h"
#include "base/os/file.h"
#include "base/hash.h"
#include "base/container/hash_map.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILE_LIMIT = 256 << 20, LOCK_WAIT_MS = 5000 };

/* A file as it was when it was read. */
typedef struct stamp {
    bool there;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
} stamp;

typedef struct layer {
    kw_arena arena; /* text, lines */
    stamp stamp;
    bool loaded;
    kw_word text;
    kw_wisdom_line *lines;
    size_t count;
    kw_hash_map positions; /* of lines by target and key; of two lines with one key the later */
} layer;

struct kw_wisdom {
    const kw_settings *settings;
    pthread_mutex_t lock;
    uint64_t generation;
    char target[KW_TARGET_TEXT_MAX];
    char oldest[11]; /* date; what was checked before it is old */
    layer layers[KW_LAYER_COUNT];
};

/* --- layers ----------------------------------------------------------------------------------------------------- */

static uint64_t key_hash(kw_word target, kw_word key) {
    return kw_hash64(target.at, target.size) * 31 + kw_hash64(key.at, key.size);
}

typedef struct line_key {
    kw_word target, key;
} line_key;

static bool line_has_key(const kw_hash_map_key *key, uintptr_t value) {
    const layer *l = key->owner;
    const line_key *wanted = key->key;
    const kw_wisdom_line *line = &l->lines[value];
    return line->key.size == wanted->key.size && line->target.size == wanted->target.size &&
           !memcmp(line->key.at, wanted->key.at, wanted->key.size) && !memcmp(line->target.at, wanted->target.at, wanted->target.size);
}

static kw_hash_map_key map_key(const layer *l, const line_key *key) {
    return (kw_hash_map_key){key_hash(key->target, key->key), line_has_key, l, key};
}

static void layer_drop(layer *l) {
    kw_arena_drop(&l->arena);
    kw_hash_map_drop(&l->positions);
    *l = (layer){0};
}

/* Reads l->text, which lies in the arena. name is for remarks; bad counts the lines that are not wisdom, first keeps the first fault. */
static kw_status layer_index(layer *l, const char *name, int64_t *bad, kw_error *first) {
    size_t most = 1;
    for (const char *at = l->text.at, *end = at + l->text.size; at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++) {
        most++;
    }
    l->lines = kw_arena_array(&l->arena, most, sizeof *l->lines);
    if (!l->lines || !kw_hash_map_reserve(&l->positions, most)) {
        return kw_fail_memory(first, name);
    }
    kw_scan scan = {l->text.at, l->text.at + l->text.size};
    kw_word raw;
    for (int64_t number = 1; l->text.size && kw_scan_line(&scan, &raw); number++) {
        kw_error why;
        kw_wisdom_line *line = &l->lines[l->count];
        if (!kw_wisdom_line_read(line, raw, &why)) {
            if (why.status && !(*bad)++) {
                kw_fail(first, KW_MALFORMED, "%s:%lld: not wisdom: %.300s", name, (long long)number, why.text);
            }
            continue;
        }
        assert(l->count < most);
        line_key words = {line->target, line->key};
        kw_hash_map_key key = map_key(l, &words);
        uintptr_t *position = kw_hash_map_find(&l->positions, &key);
        if (position) {
            *position = l->count;
        } else {
            kw_hash_map_put(&l->positions, key.hash, l->count);
        }
        l->count++;
    }
    return KW_OK;
}

static stamp take_stamp(const char *path) {
    struct stat info;
    stamp s = {0};
    if (*path && !stat(path, &info)) {
        s = (stamp){true, info.st_dev, info.st_ino, info.st_size, info.st_mtim};
    }
    return s;
}

static bool same_stamp(const stamp *a, const stamp *b) {
    return a->there == b->there && a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

static kw_status check_trust(const char *path, kw_error *err) {
    struct stat info;
    if (!stat(path, &info) && ((info.st_uid != geteuid() && info.st_uid) || (info.st_mode & (S_IWGRP | S_IWOTH)))) {
        return kw_fail(err, KW_IO, "%s is not used: its owner or others who may write it are not this user; `chmod go-w` it or copy it",
                       path);
    }
    return KW_OK;
}

/* The file's text into the layer's arena; a file that is not there is empty. */
static kw_status layer_read(layer *l, const char *path, kw_error *err) {
    char *data = NULL;
    size_t size = 0;
    kw_status status = kw_file_read(&l->arena, path, FILE_LIMIT, &data, &size, err);
    if (status == KW_MISSING) {
        if (err) {
            *err = (kw_error){0};
        }
        return KW_OK;
    }
    l->text = (kw_word){data, size};
    return status ? status : kw_wisdom_text_check(path, l->text, err);
}

/* Loads a file's layer again if it is another file than before. What cannot be used leaves the layer empty, and the log says why. */
static void layer_load(kw_wisdom *w, int number, const char *path) {
    layer *l = &w->layers[number];
    stamp now = take_stamp(path);
    if (l->loaded && same_stamp(&now, &l->stamp)) {
        return;
    }
    layer_drop(l);
    w->generation++;
    l->loaded = true;
    l->stamp = now;
    if (!now.there) {
        return;
    }
    kw_error err = {0};
    int64_t bad = 0;
    kw_status status = check_trust(path, &err);
    status = status ? status : layer_read(l, path, &err);
    status = status ? status : layer_index(l, path, &bad, &err);
    if (status) {
        layer_drop(l);
        *l = (layer){.loaded = status != KW_NO_MEMORY, .stamp = now}; /* memory may be there the next time */
        kw_log_line(w->settings, "wisdom: %s", err.text);
    } else if (bad) {
        kw_log_line(w->settings, "wisdom: %s (%lld such lines; they are skipped and kept)", err.text, (long long)bad);
    }
}

static void refresh_layers(kw_wisdom *w) {
    layer_load(w, KW_LAYER_USER, w->settings->wisdom);
    layer_load(w, KW_LAYER_SYSTEM, w->settings->system_wisdom);
}

kw_status kw_wisdom_open(kw_wisdom **wisdom, const kw_settings *settings, const char *target, kw_error *err) {
    kw_wisdom *w = calloc(1, sizeof *w);
    if (!w) {
        return kw_fail_memory(err, "a context");
    }
    w->settings = settings;
    strncpy(w->target, target, sizeof w->target - 1);
    kw_clock_date_before(w->oldest, KW_WISDOM_DAYS);
    pthread_mutex_init(&w->lock, NULL);
    *wisdom = w;
    return KW_OK;
}

void kw_wisdom_close(kw_wisdom **wisdom) {
    if (!*wisdom) {
        return;
    }
    for (int i = 0; i < KW_LAYER_COUNT; i++) {
        layer_drop(&(*wisdom)->layers[i]);
    }
    pthread_mutex_destroy(&(*wisdom)->lock);
    free(*wisdom);
    *wisdom = NULL;
}

uint64_t kw_wisdom_generation(kw_wisdom *w) {
    pthread_mutex_lock(&w->lock);
    if (!w->layers[KW_LAYER_USER].loaded) {
        refresh_layers(w);
    }
    uint64_t generation = w->generation;
    pthread_mutex_unlock(&w->lock);
    return generation;
}

uint64_t kw_wisdom_refresh(kw_wisdom *w) {
    pthread_mutex_lock(&w->lock);
    refresh_layers(w);
    uint64_t generation = w->generation;
    pthread_mutex_unlock(&w->lock);
    return generation;
}

const char *kw_wisdom_location(const kw_wisdom *w, int number) {
    return number == KW_LAYER_USER ? w->settings->wisdom : number == KW_LAYER_SYSTEM ? w->settings->system_wisdom : "memory";
}

bool kw_wisdom_needs_verification(const kw_wisdom *w, const kw_wisdom_value *value, const char *builder) {
    const char *checked = *value->checked ? value->checked : value->date;
    return !*value->builder || strcmp(value->builder, builder) || strcmp(checked, w->oldest) < 0;
}

/* --- asking ----------------------------------------------------------------------------------------------------- */

bool kw_wisdom_find(kw_wisdom *w, int number, const char *key, kw_wisdom_value *value) {
    pthread_mutex_lock(&w->lock);
    if (!w->layers[KW_LAYER_USER].loaded) {
        refresh_layers(w);
    }
    const layer *l = &w->layers[number];
    line_key wanted = {{w->target, strlen(w->target)}, {key, strlen(key)}};
    kw_hash_map_key wanted_key = map_key(l, &wanted);
    const uintptr_t *position = kw_hash_map_find(&l->positions, &wanted_key);
    bool found = position;
    if (found) {
        const kw_wisdom_line *line = &l->lines[*position];
        value->mode = line->mode;
        value->candidates = line->candidates;
        value->threads = line->threads;
        value->time_ns = line->time_ns;
        value->spread_ns = line->spread_ns;
        value->next_ns = line->next_ns;
        /* all fit: sizes were checked when the line was read */
        kw_word_copy(value->date, sizeof value->date, line->date);
        kw_word_copy(value->checked, sizeof value->checked, line->checked);
        kw_word_copy(value->builder, sizeof value->builder, line->builder);
        kw_word_copy(value->config, sizeof value->config, line->config);
        kw_word_copy(value->next, sizeof value->next, line->next);
    }
    pthread_mutex_unlock(&w->lock);
    return found;
}

static kw_status each_line(layer *l, const char *name, const kw_wisdom_visitor *visitor, kw_error *err) {
    int64_t bad = 0;
    kw_error first = {0};
    kw_status status = layer_index(l, name, &bad, &first);
    if (status || (bad && !l->count)) {
        return kw_fail(err, first.status, "%s", first.text);
    }
    for (size_t i = 0; i < l->count; i++) {
        visitor->visit(visitor->user, &l->lines[i]);
    }
    return KW_OK;
}

/* The memory layer's text, so that it can be visited without the lock. */
static kw_status copy_layer(kw_wisdom *w, layer *copy, kw_error *err) {
    pthread_mutex_lock(&w->lock);
    kw_word text = w->layers[KW_LAYER_MEMORY].text;
    char *data = kw_arena_copy(&copy->arena, text.at ? text.at : "", text.size);
    copy->text = (kw_word){data, text.size};
    pthread_mutex_unlock(&w->lock);
    return data ? KW_OK : kw_fail_memory(err, "wisdom");
}

kw_status kw_wisdom_each(kw_wisdom *w, const char *path, const kw_wisdom_visitor *visitor, kw_error *err) {
    layer one = {0};
    kw_status status = KW_OK;
    if (path) {
        char *data = NULL;
        status = kw_file_read(&one.arena, path, FILE_LIMIT, &data, &one.text.size, err);
        one.text.at = data;
        status = status ? status : kw_wisdom_text_check(path, one.text, err);
        status = status ? status : each_line(&one, path, visitor, err);
        layer_drop(&one);
        return status;
    }
    for (int i = 0; !status && i < KW_LAYER_COUNT; i++) {
        const char *place = kw_wisdom_location(w, i);
        kw_error why = {0};
        kw_status read = KW_OK;
        if (i == KW_LAYER_MEMORY) {
            status = copy_layer(w, &one, err);
        } else if (!*place || (read = check_trust(place, &why)) || (read = layer_read(&one, place, &why))) {
            layer_drop(&one);
            if (read == KW_NO_MEMORY) {
                return kw_fail_memory(err, place);
            }
            continue; /* not in use; the log said so when the layer was loaded */
        }
        read = status ? KW_OK : each_line(&one, place, visitor, &why);
        layer_drop(&one);
        if (read == KW_NO_MEMORY) {
            return kw_fail_memory(err, place);
        }
        if (read) {
            kw_log_line(w->settings, "wisdom: %s", why.text);
        }
    }
    return status;
}

/* --- changing --------------------------------------------------------------------------------------------------- */

/* Takes the folder's lock; -1 with err filled when it cannot be had in time. A file system without locks is no obstacle. */
static int lock_folder(const char *folder, kw_error *err) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        kw_fail(err, KW_IO, "cannot open folder %s", folder);
        return -1;
    }
    for (int waited = 0; flock(fd, LOCK_EX | LOCK_NB); waited++) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            break;
        }
        if (waited == LOCK_WAIT_MS) {
            kw_fail(err, KW_IO, "folder %s has been locked by another process for %d s", folder, LOCK_WAIT_MS / 1000);
            close(fd);
            return -1;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return fd;
}

/* The folder part of a path, on the heap; "." when it has none. */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return !slash ? strdup(".") : slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static kw_status edit_file(kw_wisdom *w, const kw_wisdom_edit *edit, int64_t *changes, kw_error *err) {
    const char *path = w->settings->wisdom;
    kw_status status = KW_OK;
    layer now = {0};
    kw_text changed = {0};
    int lock = -1;
    char *folder = folder_of(path);
    if (!folder) {
        return kw_fail_memory(err, "wisdom");
    }
    if (!edit->put && !take_stamp(path).there) {
        goto out; /* nothing to forget */
    }
    status = kw_folder_make(folder, err);
    if (status) {
        goto out;
    }
    lock = lock_folder(folder, err);
    status = lock < 0 ? KW_IO : check_trust(path, err);
    status = status ? status : layer_read(&now, path, err);
    if (status) {
        goto out;
    }
    *changes = kw_wisdom_text_edit(&changed, now.text, edit);
    if (changed.failed) {
        status = kw_fail_memory(err, "wisdom");
    } else if (*changes) {
        status = kw_file_replace(path, changed.data, changed.size, 0644, err);
    }
out:
    if (lock >= 0) {
        close(lock);
    }
    kw_text_drop(&changed);
    layer_drop(&now);
    free(folder);
    return status;
}

/* The same for the memory layer; the lock is held. */
static kw_status edit_memory(kw_wisdom *w, const kw_wisdom_edit *edit, int64_t *changes, kw_error *err) {
    kw_text changed = {0};
    layer next = {.loaded = true};
    layer *l = &w->layers[KW_LAYER_MEMORY];
    kw_error why = {0};
    int64_t bad = 0;
    *changes = kw_wisdom_text_edit(&changed, l->text, edit);
    char *data = changed.failed ? NULL : kw_arena_copy(&next.arena, changed.data, changed.size);
    next.text = (kw_word){data, changed.size};
    kw_text_drop(&changed);
    if (!data || layer_index(&next, "memory", &bad, &why)) {
        layer_drop(&next);
        return kw_fail_memory(err, "wisdom");
    }
    if (*changes) {
        layer_drop(l);
        *l = next;
        w->generation++;
    } else {
        layer_drop(&next);
    }
    return KW_OK;
}

static kw_word word_of(const char *string) {
    return (kw_word){string, strlen(string)};
}

kw_status kw_wisdom_record(kw_wisdom *w, const char *key, const kw_wisdom_value *value, bool replace, kw_error *unsaved, kw_error *err) {
    kw_wisdom_line line = {
        .mode = value->mode,
        .target = word_of(w->target),
        .key = word_of(key),
        .config = word_of(value->config),
        .date = word_of(value->date),
        .next = word_of(value->next),
        .builder = word_of(value->builder),
        .checked = word_of(*value->checked ? value->checked : value->date),
        .time_ns = value->time_ns,
        .spread_ns = value->spread_ns,
        .next_ns = value->next_ns,
        .candidates = value->candidates,
        .threads = value->threads,
    };
    kw_wisdom_edit edit = {.put = &line, .replace = replace};
    int64_t changes = 0;
    kw_error why = {0};
    bool saved = *w->settings->wisdom && !edit_file(w, &edit, &changes, &why);
    if (why.status) {
        kw_log_line(w->settings, "wisdom is kept in memory only: %s", why.text);
    }
    if (unsaved) {
        *unsaved = why;
    }
    pthread_mutex_lock(&w->lock);
    kw_status status = KW_OK;
    if (saved) {
        refresh_layers(w);
    } else {
        status = edit_memory(w, &edit, &changes, err);
    }
    pthread_mutex_unlock(&w->lock);
    return status;
}

kw_status kw_wisdom_drop(kw_wisdom *w, const char *problem, int64_t *dropped, kw_error *err) {
    kw_wisdom_edit edit = {.problem = word_of(problem)};
    int64_t in_file = 0, in_memory = 0;
    kw_status status = *w->settings->wisdom ? edit_file(w, &edit, &in_file, err) : KW_OK;
    pthread_mutex_lock(&w->lock);
    refresh_layers(w);
    status = status ? status : edit_memory(w, &edit, &in_memory, err);
    pthread_mutex_unlock(&w->lock);
    *dropped = in_file + in_memory;
    return status;
}
