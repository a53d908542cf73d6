/* cpu_load.c: bytes -> mapped code. The bytes that were checked are the bytes that are mapped: they go into a sealed memory file, which
 * nobody can write again, and the loader is given that file. Where there are no memory files (old kernels, some sandboxes) a file
 * in a private folder (base/os/temp_folder.h) stands in, removed as soon as it is mapped.
 *
 * The loader knows a library by the path it was given, and gives back the one it has when the path is the same. /proc/self/fd/N is the
 * same path for another kernel once N was closed and used again; so the path is made different by writing the memory file's inode into it,
 * one "/." or "//." for each bit, which changes the text and not the file. Two files that are open or mapped never share an inode. */
#include "backend/cpu/cpu.h"

#include "base/os/file.h"
#include "base/os/process/fork.h"
#include "base/os/temp_folder.h"
#include "jit/toolchain/cc.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 320 };

/* A sealed memory file with the blob's bytes; -1 when this machine makes none. */
static int memory_file(const kw_blob *blob) {
    int fd = memfd_create("kernelwright", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) {
        return -1;
    }
    if (!kw_file_write(fd, blob->data, blob->size) || fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool own_path(char path[PATH_BYTES], int fd) {
    struct stat info;
    if (fstat(fd, &info)) {
        return false;
    }
    size_t used = (size_t)snprintf(path, PATH_BYTES, "/proc/self/fd");
    for (uint64_t bits = info.st_ino; bits; bits >>= 1) {
        const char *step = bits & 1 ? "//." : "/.";
        size_t length = strlen(step);
        memcpy(path + used, step, length);
        used += length;
    }
    return snprintf(path + used, PATH_BYTES - used, "/%d", fd) > 0;
}

static void *open_memory(const kw_blob *blob, char why[256]) {
    char path[PATH_BYTES];
    void *handle = NULL;
    int fd = memory_file(blob);
    if (fd < 0) {
        snprintf(why, 256, "no memory file");
        return NULL;
    }
    if (own_path(path, fd)) {
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        snprintf(why, 256, "%.250s", handle ? "" : dlerror());
    }
    close(fd); /* what is mapped stays */
    return handle;
}

/* *full: the bytes could be written nowhere. */
static void *open_private_file(const kw_blob *blob, char why[256], bool *full) {
    char path[KW_TEMP_FOLDER_MAX + 16];
    kw_temp_folder folder;
    kw_error failed = {0};
    void *handle = NULL;
    *full = true;
    if (kw_temp_folder_make(&folder, &failed)) {
        snprintf(why, 256, "%.250s", failed.text);
        return NULL;
    }
    snprintf(path, sizeof path, "%s/kernel.so", folder.path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool written = fd >= 0 && kw_file_write(fd, blob->data, blob->size);
    if (fd >= 0 && close(fd)) {
        written = false;
    }
    if (written) {
        *full = false;
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        snprintf(why, 256, "%.250s", handle ? "" : dlerror());
    } else {
        snprintf(why, 256, "%.200s is full or cannot be written", folder.path);
    }
    kw_temp_folder_remove(&folder);
    return handle;
}

kw_status kw_cpu_load(void **handle, kw_kernel_stage *stage[KW_STAGE_MAX], const kw_blob *blob, kw_error *err) {
    kw_error bad = {0};
    char why[256] = "unknown reason";
    bool full = false;
    *handle = NULL;
    if (kw_blob_check(blob, &bad)) {
        return kw_fail(err, KW_FAILED, "cannot load a kernel: %s", bad.text);
    }
    kw_loader_lock();
    *handle = open_memory(blob, why);
    if (!*handle) {
        *handle = open_private_file(blob, why, &full);
    }
    for (int i = 0; *handle && i < KW_STAGE_MAX; i++) {
        char name[16];
        snprintf(name, sizeof name, "kw_stage%d", i);
        void *found = dlsym(*handle, name);
        memcpy(&stage[i], &found, sizeof found); /* C has no cast from object to function pointers */
        if (!found) {
            break;
        }
    }
    kw_loader_unlock();
    if (!*handle) {
        return kw_fail(err, full ? KW_IO : KW_ENVIRONMENT, "cannot load a kernel: %s", why);
    }
    if (!stage[0]) {
        kw_cpu_unload(handle);
        return kw_fail(err, KW_FAILED, "cannot load a kernel: it exports no kw_stage0 (void KW_EXPORT kw_stage0)");
    }
    return KW_OK;
}

void kw_cpu_unload(void **handle) {
    if (*handle) {
        kw_loader_lock();
        dlclose(*handle);
        kw_loader_unlock();
    }
    *handle = NULL;
}
