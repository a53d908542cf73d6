/* cache.c: compiled kernels on disk.
 *
 * Key: text that jit.c makes by hashing all that made the blob. Layout: FOLDER/XX/KEY, XX being the key's first two digits; one entry is
 * one file (entry.c). Beside entries there may be KEY.bad (an entry that was doubted) and, where a file cannot be written without a name,
 * tmp-* (a write that never ended); both are removed by kw_cache_remove_all and otherwise left alone.
 *
 * Concurrency: any number of processes and threads, no locks. A writer writes a file without a name, syncs it and links it as the entry; two writers of
 * one key write the same thing, and either may win. A reader reads the whole file once and checks what it read; any doubt (size,
 * format, key, digest) is a miss, the file is renamed to KEY.bad, and the kernel is compiled again.
 *
 * Trust: entries are native code that this process will run, so the folder must belong to the effective user and nobody else may write
 * it, and each entry as well; it must not be a symbolic link; everything is done relative to the opened folder, so a folder that is swapped later changes
 * nothing. There is no fall-back to a temporary folder.
 *
 * Off switch: an empty folder name (cache_dir "" in kw_context_options, --cache-dir ""). A folder that cannot be trusted or made switches
 * it off as well, with a note; one that can only be read is used for reading. */
#include "jit/cache/cache.h"

#include "base/os/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHARD_TEXT = 3, NAME_TEXT = KW_CACHE_KEY_MAX + 8 };
static const int64_t entry_limit = (int64_t)80 << 20;

struct kw_cache {
    int folder;
};

/* What is wrong with an opened folder; NULL when it can be trusted. */
static const char *folder_fault(int fd) {
    struct stat info;
    if (fstat(fd, &info)) {
        return "it cannot be examined";
    }
    if (info.st_uid != geteuid()) {
        return "it belongs to another user";
    }
    if (info.st_mode & (S_IWGRP | S_IWOTH)) {
        return "others may write it (chmod go-w makes it usable)";
    }
    return NULL;
}

static int open_folder(int at, const char *name) {
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

kw_status kw_cache_open(kw_cache **cache, const char *folder, char note[256], kw_error *err) {
    kw_error why = {0};
    *cache = NULL;
    *note = 0;
    if (!folder || !*folder) {
        snprintf(note, 256, "%s", folder ? "switched off" : "no folder is known for it; set KW_CACHE_DIR or HOME");
        return KW_OK;
    }
    char *path = strdup(folder);
    kw_cache *made = calloc(1, sizeof *made);
    if (!path || !made) {
        free(path);
        free(made);
        return kw_fail_memory(err, "a cache");
    }
    for (size_t end = strlen(path); end > 1 && path[end - 1] == '/'; end--) {
        path[end - 1] = 0; /* a link followed by a slash would be followed in spite of O_NOFOLLOW */
    }
    const char *reason = NULL;
    made->folder = open_folder(AT_FDCWD, path);
    if (made->folder < 0 && errno == ENOENT && !kw_folder_make(path, &why)) {
        made->folder = open_folder(AT_FDCWD, path);
    }
    if (made->folder < 0) {
        reason = why.status ? why.text : errno == ENOTDIR || errno == ELOOP ? "it is a link or no folder" : strerrordesc_np(errno);
    } else {
        reason = folder_fault(made->folder);
    }
    if (reason) {
        snprintf(note, 256, "%.100s is not used: %.130s", path, reason);
        kw_cache_close(&made);
    } else if (faccessat(made->folder, ".", W_OK, AT_EACCESS)) {
        snprintf(note, 256, "%.100s cannot be written: what is there is used, nothing is added", path);
    }
    free(path);
    *cache = made;
    return KW_OK;
}

void kw_cache_close(kw_cache **cache) {
    if (*cache && (*cache)->folder >= 0) {
        close((*cache)->folder);
    }
    free(*cache);
    *cache = NULL;
}

static bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Length of the key that a name begins with; 0 when it begins with none. */
static size_t key_length(const char *name) {
    size_t length = 0;
    while (is_hex(name[length]) || (length >= 2 && name[length] == '-')) {
        length++;
    }
    return length >= KW_CACHE_KEY_MIN && length <= KW_CACHE_KEY_MAX ? length : 0;
}

static bool is_key(const char *name) {
    size_t length = key_length(name);
    return length && !name[length];
}

static kw_status check_key(const char *key, kw_error *err) {
    return is_key(key) ? KW_OK : kw_fail(err, KW_ILLEGAL, "cache key %.40s is not made of hexadecimal digits and '-'", key);
}

/* The folder of a key; -1 when there is none or it is not trusted. */
static int open_shard(const kw_cache *cache, const char *key, bool make) {
    char name[SHARD_TEXT] = {key[0], key[1], 0};
    int fd = open_folder(cache->folder, name);
    if (fd < 0 && make && errno == ENOENT) {
        mkdirat(cache->folder, name, 0700);
        fd = open_folder(cache->folder, name);
    }
    if (fd >= 0 && folder_fault(fd)) {
        close(fd);
        fd = -1;
        errno = EPERM;
    }
    return fd;
}

/* All bytes of an entry on the heap; NULL when there is none. doubt: there is something, but it cannot be an entry. */
static void *read_entry(int shard, const char *key, size_t *size, bool *doubt) {
    struct stat info;
    char *bytes = NULL;
    int fd = openat(shard, key, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        *doubt = errno == ELOOP;
        return NULL;
    }
    *doubt = true;
    bool known = !fstat(fd, &info);
    if (known && (info.st_uid != geteuid() || info.st_mode & (S_IWGRP | S_IWOTH))) {
        close(fd); /* whoever could write it may have written code of his own */
        return NULL;
    }
    if (known && S_ISREG(info.st_mode) && info.st_size > 0 && info.st_size <= entry_limit) {
        bytes = malloc((size_t)info.st_size);
        *doubt = bytes != NULL;
        if (bytes && kw_file_fill(fd, bytes, (size_t)info.st_size) != (ptrdiff_t)info.st_size) {
            free(bytes);
            bytes = NULL;
        }
        *size = (size_t)info.st_size;
    }
    close(fd);
    return bytes;
}

static void quarantine_entry(int shard, const char *key) {
    char name[NAME_TEXT];
    snprintf(name, sizeof name, "%s.bad", key);
    renameat(shard, key, shard, name); /* in a folder that cannot be written the entry stays and stays a miss */
}

kw_status kw_cache_get(kw_cache *cache, const char *key, kw_blob *blob, kw_error *err) {
    *blob = (kw_blob){0};
    kw_status status = check_key(key, err);
    if (status) {
        return status;
    }
    const char *payload = NULL;
    size_t count = 0, size = 0;
    bool doubt = false;
    int shard = open_shard(cache, key, false);
    char *bytes = shard >= 0 ? read_entry(shard, key, &count, &doubt) : NULL;
    if (bytes && !kw_entry_read(&payload, &size, bytes, count, key, NULL)) {
        memmove(bytes, payload, size);
        *blob = (kw_blob){bytes, size};
        bytes = NULL;
        doubt = false;
    }
    if (doubt) {
        quarantine_entry(shard, key);
    }
    free(bytes);
    if (shard >= 0) {
        close(shard);
    }
    return KW_OK;
}

/* A file being written: without a name where the file system can make one, so that a kill leaves nothing; else one of a name that nobody
 * else has. */
typedef struct entry_file {
    int fd;
    char name[NAME_TEXT]; /* "": none */
} entry_file;

static bool draw_name(char name[NAME_TEXT]) {
    uint64_t random = 0;
    bool drawn = getrandom(&random, sizeof random, 0) == sizeof random;
    snprintf(name, NAME_TEXT, "tmp-%016llx", (unsigned long long)random);
    return drawn;
}

static int open_entry_file(entry_file *file, int shard) {
    file->fd = openat(shard, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    for (int i = 0; file->fd < 0 && i < 16 && draw_name(file->name); i++) {
        file->fd = openat(shard, file->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file->fd < 0 && errno != EEXIST) {
            break;
        }
    }
    if (file->fd < 0) {
        *file->name = 0;
    }
    return file->fd;
}

/* A link is never made over an entry that is there, so where there is one it takes two steps. */
static bool place_entry(entry_file *file, int shard, const char *key) {
    char self[64];
    if (!*file->name) {
        snprintf(self, sizeof self, "/proc/self/fd/%d", file->fd);
        if (!linkat(AT_FDCWD, self, shard, key, AT_SYMLINK_FOLLOW)) {
            return true;
        }
        bool named = errno == EEXIST && draw_name(file->name) && !linkat(AT_FDCWD, self, shard, file->name, AT_SYMLINK_FOLLOW);
        if (!named) {
            *file->name = 0;
            return false;
        }
    }
    return !renameat(shard, file->name, shard, key);
}

kw_status kw_cache_put(kw_cache *cache, const char *key, const kw_blob *blob, kw_error *err) {
    char why[128];
    kw_text bytes = {0};
    int shard = -1;
    entry_file file = {.fd = -1};
    kw_status status = check_key(key, err);
    if (status || (status = kw_entry_write(&bytes, key, blob, err))) {
        goto out;
    }
    shard = open_shard(cache, key, true);
    if (shard < 0 || open_entry_file(&file, shard) < 0 || !kw_file_write(file.fd, bytes.data, bytes.size) || fsync(file.fd) ||
        !place_entry(&file, shard, key)) {
        status = kw_fail(err, KW_IO, "cannot keep a kernel in the cache: %s", strerror_r(errno, why, sizeof why));
    }
out:
    if (file.fd >= 0) {
        close(file.fd);
    }
    if (status && *file.name) {
        unlinkat(shard, file.name, 0);
    }
    if (shard >= 0) {
        close(shard);
    }
    kw_text_drop(&bytes);
    return status;
}

bool kw_cache_has(kw_cache *cache, const char *key) {
    struct stat info;
    char path[SHARD_TEXT + 1 + KW_CACHE_KEY_MAX];
    if (!is_key(key)) {
        return false;
    }
    snprintf(path, sizeof path, "%.2s/%s", key, key);
    return !fstatat(cache->folder, path, &info, AT_SYMLINK_NOFOLLOW) && S_ISREG(info.st_mode);
}

/* Visits the files of one shard; at is its descriptor, which this closes; -1: there is none. */
static kw_status visit_files(int at, void (*visit)(void *user, int at, const char *name), void *user, kw_error *err) {
    DIR *list = at >= 0 ? fdopendir(at) : NULL;
    if (!list && at >= 0) {
        close(at);
        return kw_fail_memory(err, "the list of a cache's files");
    }
    if (!list) {
        return KW_OK;
    }
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        if (*entry->d_name != '.') {
            visit(user, at, entry->d_name);
        }
    }
    closedir(list);
    return KW_OK;
}

static kw_status visit_shards(kw_cache *cache, void (*visit)(void *user, int at, const char *name), void *user, kw_error *err) {
    static const char digits[] = "0123456789abcdef";
    kw_status status = KW_OK;
    for (int i = 0; i < 256 && !status; i++) {
        char name[SHARD_TEXT] = {digits[i >> 4], digits[i & 15], 0};
        status = visit_files(open_shard(cache, name, false), visit, user, err);
    }
    return status;
}

typedef struct youngest {
    const char *prefix;
    char *key;
    struct timespec time;
} youngest;

static void compare_age(void *user, int at, const char *name) {
    youngest *found = user;
    struct stat info;
    if (!is_key(name) || strncmp(name, found->prefix, strlen(found->prefix)) || fstatat(at, name, &info, AT_SYMLINK_NOFOLLOW) ||
        !S_ISREG(info.st_mode)) {
        return;
    }
    bool later =
        info.st_mtim.tv_sec != found->time.tv_sec ? info.st_mtim.tv_sec > found->time.tv_sec : info.st_mtim.tv_nsec > found->time.tv_nsec;
    bool same = info.st_mtim.tv_sec == found->time.tv_sec && info.st_mtim.tv_nsec == found->time.tv_nsec;
    if (!*found->key || later || (same && strcmp(name, found->key) < 0)) { /* the order of a folder's names is nobody's business */
        memcpy(found->key, name, strlen(name) + 1);                        /* fits: it is a key */
        found->time = info.st_mtim;
    }
}

bool kw_cache_youngest(kw_cache *cache, const char *prefix, char key[KW_CACHE_KEY_MAX + 1]) {
    youngest found = {.prefix = prefix, .key = key};
    *key = 0;
    if (is_hex(prefix[0]) && is_hex(prefix[1])) {
        visit_files(open_shard(cache, prefix, false), compare_age, &found, NULL); /* none known is an answer */
    }
    return *key;
}

static void count_file(void *user, int at, const char *name) {
    kw_cache_stats *stats = user;
    struct stat info;
    if (is_key(name) && !fstatat(at, name, &info, AT_SYMLINK_NOFOLLOW) && S_ISREG(info.st_mode)) {
        stats->entries++;
        stats->bytes += (int64_t)info.st_size;
    }
}

kw_status kw_cache_scan(kw_cache *cache, kw_cache_stats *stats, kw_error *err) {
    *stats = (kw_cache_stats){0};
    return visit_shards(cache, count_file, stats, err);
}

typedef struct removal {
    int64_t removed;
    int code;
} removal;

/* Removes what this program puts there and nothing else. */
static void remove_file(void *user, int at, const char *name) {
    removal *state = user;
    size_t length = key_length(name);
    bool ours = (length && (!name[length] || !strcmp(name + length, ".bad"))) || !strncmp(name, "tmp-", 4);
    if (ours && unlinkat(at, name, 0)) {
        state->code = errno == ENOENT ? state->code : errno; /* someone else may have been faster */
    } else if (ours) {
        state->removed += is_key(name);
    }
}

kw_status kw_cache_remove_all(kw_cache *cache, int64_t *removed, kw_error *err) {
    removal state = {0};
    char why[128];
    kw_status status = visit_shards(cache, remove_file, &state, err);
    if (removed) {
        *removed = state.removed;
    }
    if (!status && state.code) {
        return kw_fail(err, KW_IO, "cannot empty the cache: %s", strerror_r(state.code, why, sizeof why));
    }
    return status;
}
