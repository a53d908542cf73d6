/* fault_vfs.c: see fault_vfs.h. The power model: a file's durable image is its content at its last sync; the sectors written since then are each
 * on the disk or not. Deleting and truncating count as done at once. Shared memory is gone. */
#include "base/statistics/random.h"
#include "support/rows/fault_vfs.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 16, SECTOR = 512 };

typedef struct durable {
    char path[512];
    char *bytes;
    size_t size;
    bool there;
} durable;

typedef struct shim_file {
    sqlite3_file base;
    durable *image; /* NULL for a file without a name */
    sqlite3_file *real;
} shim_file;

static struct {
    fault_plan plan;
    int64_t count;
    bool happened, dead;
    sqlite3_vfs vfs, *real;
    durable images[FILES_MAX];
    int image_count;
} shim;

static sqlite3_file *real_of(sqlite3_file *file) {
    return ((shim_file *)file)->real;
}

/* Counts an operation; the code that it fails with, or SQLITE_OK. */
static int step(int error) {
    shim.count++;
    bool now = shim.plan.kind && (shim.count == shim.plan.at || (shim.happened && shim.plan.stays));
    if (shim.dead) {
        return SQLITE_IOERR;
    }
    if (!now) {
        return SQLITE_OK;
    }
    shim.happened = true;
    shim.dead = shim.plan.kind == FAULT_POWER;
    return shim.plan.kind == FAULT_FULL || shim.plan.kind == FAULT_SHORT ? SQLITE_FULL : error;
}

static char *read_file(const char *path, size_t *size, bool *there) {
    struct stat info;
    int fd = open(path, O_RDONLY);
    *there = fd >= 0 && !fstat(fd, &info);
    *size = *there ? (size_t)info.st_size : 0;
    char *bytes = malloc(*size + 1);
    for (size_t done = 0; bytes && done < *size;) {
        ssize_t got = read(fd, bytes + done, *size - done);
        if (got <= 0) {
            abort();
        }
        done += (size_t)got;
    }
    if (fd >= 0) {
        close(fd);
    }
    return bytes;
}

static void take_image(durable *image) {
    if (image && shim.plan.kind == FAULT_POWER) {
        free(image->bytes);
        image->bytes = read_file(image->path, &image->size, &image->there);
    }
}

static durable *image_of(const char *path) {
    for (int i = 0; path && i < shim.image_count; i++) {
        if (!strcmp(shim.images[i].path, path)) {
            return &shim.images[i];
        }
    }
    if (!path || shim.image_count == FILES_MAX || shim.plan.kind != FAULT_POWER) {
        return NULL;
    }
    durable *fresh = &shim.images[shim.image_count++];
    snprintf(fresh->path, sizeof fresh->path, "%s", path);
    take_image(fresh); /* what is there before we touch it is on the disk */
    return fresh;
}

static int shim_close(sqlite3_file *file) {
    int code = real_of(file)->pMethods ? real_of(file)->pMethods->xClose(real_of(file)) : SQLITE_OK;
    file->pMethods = NULL;
    return code;
}

static int shim_read(sqlite3_file *file, void *data, int size, sqlite3_int64 at) {
    return real_of(file)->pMethods->xRead(real_of(file), data, size, at);
}

static int shim_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 at) {
    int code = step(SQLITE_IOERR_WRITE);
    if (code && shim.plan.kind == FAULT_SHORT) {
        real_of(file)->pMethods->xWrite(real_of(file), data, size / 2, at);
    }
    return code ? code : real_of(file)->pMethods->xWrite(real_of(file), data, size, at);
}

static int shim_truncate(sqlite3_file *file, sqlite3_int64 size) {
    int code = step(SQLITE_IOERR_TRUNCATE);
    return code ? code : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int shim_sync(sqlite3_file *file, int flags) {
    int code = step(SQLITE_IOERR_FSYNC);
    (void)flags;
    if (!code) {
        take_image(((shim_file *)file)->image); /* the real sync is left out: it costs time and shows nothing here */
    }
    return code;
}

static int shim_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int shim_lock(sqlite3_file *file, int level) {
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int shim_unlock(sqlite3_file *file, int level) {
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int shim_reserved(sqlite3_file *file, int *out) {
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), out);
}

static int shim_control(sqlite3_file *file, int op, void *data) {
    return real_of(file)->pMethods->xFileControl(real_of(file), op, data);
}

static int shim_sector(sqlite3_file *file) {
    (void)file;
    return SECTOR;
}

static int shim_characteristics(sqlite3_file *file) {
    (void)file;
    return 0; /* promises nothing, so SQLite is as careful as it can be */
}

static int shim_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **memory) {
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, memory);
}

static int shim_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}

static void shim_shm_barrier(sqlite3_file *file) {
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int shim_shm_unmap(sqlite3_file *file, int erase) {
    return real_of(file)->pMethods->xShmUnmap(real_of(file), erase);
}

static const sqlite3_io_methods with_wal = {2,
                                            shim_close,
                                            shim_read,
                                            shim_write,
                                            shim_truncate,
                                            shim_sync,
                                            shim_size,
                                            shim_lock,
                                            shim_unlock,
                                            shim_reserved,
                                            shim_control,
                                            shim_sector,
                                            shim_characteristics,
                                            shim_shm_map,
                                            shim_shm_lock,
                                            shim_shm_barrier,
                                            shim_shm_unmap,
                                            NULL,
                                            NULL};
static const sqlite3_io_methods without_wal = {
    1,           shim_close,    shim_read,    shim_write,  shim_truncate,        shim_sync, shim_size, shim_lock,
    shim_unlock, shim_reserved, shim_control, shim_sector, shim_characteristics, NULL,      NULL,      NULL,
    NULL,        NULL,          NULL};

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    shim_file *mine = (shim_file *)file;
    (void)vfs;
    mine->real = (sqlite3_file *)(mine + 1);
    mine->image = image_of(name);
    int code = shim.real->xOpen(shim.real, name, mine->real, flags, out_flags);
    mine->base.pMethods = code ? NULL : shim.plan.no_wal ? &without_wal : &with_wal;
    return code;
}

static int shim_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    (void)vfs;
    int code = step(SQLITE_IOERR_DELETE);
    code = code ? code : shim.real->xDelete(shim.real, name, sync);
    if (!code) {
        take_image(image_of(name));
    }
    return code;
}

static int shim_access(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
    (void)vfs;
    return shim.real->xAccess(shim.real, name, flags, out);
}

static int shim_path(sqlite3_vfs *vfs, const char *name, int size, char *out) {
    (void)vfs;
    return shim.real->xFullPathname(shim.real, name, size, out);
}

void fault_vfs_start(const fault_plan *plan) {
    sqlite3_vfs *real = sqlite3_vfs_find("unix");
    memset(&shim, 0, sizeof shim);
    shim.plan = *plan;
    shim.real = real;
    shim.vfs = *real;
    shim.vfs.zName = "fault";
    shim.vfs.szOsFile = (int)sizeof(shim_file) + real->szOsFile;
    shim.vfs.pNext = NULL;
    shim.vfs.xOpen = shim_open;
    shim.vfs.xDelete = shim_delete;
    shim.vfs.xAccess = shim_access;
    shim.vfs.xFullPathname = shim_path;
    if (sqlite3_vfs_register(&shim.vfs, 1)) {
        abort();
    }
}

int64_t fault_vfs_stop(void) {
    sqlite3_vfs_unregister(&shim.vfs);
    sqlite3_vfs_register(shim.real, 1);
    return shim.count;
}

bool fault_vfs_happened(void) {
    return shim.happened;
}

static bool arrived(uint64_t *state) {
    return kw_random(state) >> 63;
}

static void restore_image(durable *image, uint64_t *state) {
    size_t size = 0;
    bool there = false;
    char *now = read_file(image->path, &size, &there);
    if (there && shim.plan.seed) {
        size_t room = size > image->size ? size : image->size;
        char *mixed = calloc(room + 1, 1);
        memcpy(mixed, image->bytes, image->size);
        for (size_t at = 0; at < size; at += SECTOR) {
            size_t part = size - at < SECTOR ? size - at : SECTOR;
            if (arrived(state)) {
                memcpy(mixed + at, now + at, part);
                image->size = image->size < at + part ? at + part : image->size;
                image->there = true;
            }
        }
        free(image->bytes);
        image->bytes = mixed;
    }
    free(now);
    unlink(image->path);
    if (image->there && !strstr(image->path, "-shm")) {
        int fd = open(image->path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (fd < 0 || write(fd, image->bytes, image->size) != (ssize_t)image->size) {
            abort();
        }
        close(fd);
    }
}

void fault_vfs_restore(void) {
    uint64_t state = shim.plan.seed;
    for (int i = 0; i < shim.image_count; i++) {
        restore_image(&shim.images[i], &state);
        free(shim.images[i].bytes);
        char shared[600];
        snprintf(shared, sizeof shared, "%s-shm", shim.images[i].path);
        unlink(shared);
    }
    shim.image_count = 0;
}
