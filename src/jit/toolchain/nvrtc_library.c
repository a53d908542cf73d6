/* nvrtc_library.c: finds libnvrtc and binds what is needed of it. Nothing is linked, so that one binary runs with it and without it. */
#include "jit/toolchain/nvrtc_library.h"

#include "base/os/process/fork.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t place;
} functions[] = {
    {"nvrtcVersion", offsetof(kw_nvrtc, version)},         {"nvrtcGetNumSupportedArchs", offsetof(kw_nvrtc, arch_count)},
    {"nvrtcGetSupportedArchs", offsetof(kw_nvrtc, archs)}, {"nvrtcGetErrorString", offsetof(kw_nvrtc, error_name)},
    {"nvrtcCreateProgram", offsetof(kw_nvrtc, create)},    {"nvrtcCompileProgram", offsetof(kw_nvrtc, compile)},
    {"nvrtcDestroyProgram", offsetof(kw_nvrtc, destroy)},  {"nvrtcGetProgramLogSize", offsetof(kw_nvrtc, log_size)},
    {"nvrtcGetProgramLog", offsetof(kw_nvrtc, log)},       {"nvrtcGetCUBINSize", offsetof(kw_nvrtc, cubin_size)},
    {"nvrtcGetCUBIN", offsetof(kw_nvrtc, cubin)},
};

static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

/* Below CUDA_HOME or CUDA_PATH, else here. */
static const char *const roots[] = {"/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"};
static const char *const folders[] = {"lib64", "targets/x86_64-linux/lib", "lib"};

static void *try_library(const char *name) {
    return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static void *try_folder(const char *folder) {
    char path[PATH_MAX];
    void *handle = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !handle; i++) {
        if (snprintf(path, sizeof path, "%s/%s", folder, names[i]) < (int)sizeof path) {
            handle = try_library(path);
        }
    }
    return handle;
}

static void *try_root(const char *root) {
    char path[PATH_MAX];
    void *handle = NULL;
    for (size_t i = 0; root && *root && i < sizeof folders / sizeof *folders && !handle; i++) {
        if (snprintf(path, sizeof path, "%s/%s", root, folders[i]) < (int)sizeof path) {
            handle = try_folder(path);
        }
    }
    return handle;
}

static void *try_usual(void) {
    void *handle = try_root(secure_getenv("CUDA_HOME"));
    handle = handle ? handle : try_root(secure_getenv("CUDA_PATH"));
    for (size_t i = 0; i < sizeof names / sizeof *names && !handle; i++) {
        handle = try_library(names[i]);
    }
    for (size_t i = 0; i < sizeof roots / sizeof *roots && !handle; i++) {
        handle = try_root(roots[i]);
    }
    return handle;
}

static bool read_path(kw_nvrtc *library, void *handle) {
    char path[PATH_MAX];
    struct link_map *map = NULL;
    bool found = !dlinfo(handle, RTLD_DI_LINKMAP, &map) && map && realpath(map->l_name, path) && strlen(path) < sizeof library->path;
    if (found) {
        memcpy(library->path, path, strlen(path) + 1);
    }
    return found;
}

static kw_status bind_nvrtc_symbols(kw_nvrtc *library, void *handle, kw_error *err) {
    if (!read_path(library, handle)) {
        return kw_fail(err, KW_ENVIRONMENT, "libnvrtc was loaded from a file whose path cannot be had, or is longer than 511 bytes");
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(handle, functions[i].name);
        if (!found) {
            return kw_fail(err, KW_ENVIRONMENT, "%.300s has no %s; CUDA 11.3 or newer is needed", library->path, functions[i].name);
        }
        memcpy((char *)library + functions[i].place, &found, sizeof found); /* C has no cast from object to function pointers */
    }
    int result = library->version(&library->major, &library->minor);
    return result ? kw_fail(err, KW_ENVIRONMENT, "%.300s does not say its version: %s", library->path, library->error_name(result)) : KW_OK;
}

static kw_status open_nvrtc(kw_nvrtc *library, const char *wanted, kw_error *err) {
    *library = (kw_nvrtc){0};
    wanted = wanted ? wanted : secure_getenv("KW_NVRTC");
    bool named = wanted && *wanted;
    void *handle = named ? try_library(wanted) : try_usual();
    handle = handle || !named ? handle : try_folder(wanted);
    if (!handle && named) {
        return kw_fail(err, KW_ENVIRONMENT, "NVRTC %.200s cannot be loaded (%.160s); give the path of libnvrtc.so or of its folder", wanted,
                       dlerror());
    }
    if (!handle) {
        return kw_fail(
            err, KW_ENVIRONMENT,
            "no compiler for NVIDIA GPUs: libnvrtc.so of CUDA 12 or 13 is not found (LD_LIBRARY_PATH, CUDA_HOME, /usr/local/cuda); "
            "install it (apt install cuda-nvrtc-13-0, pip install nvidia-cuda-nvrtc) or name it in KW_NVRTC");
    }
    return bind_nvrtc_symbols(library, handle, err);
}

kw_status kw_nvrtc_open(kw_nvrtc *library, const char *wanted, kw_error *err) {
    kw_loader_lock();
    kw_status status = open_nvrtc(library, wanted, err);
    kw_loader_unlock();
    return status;
}

/* --- one program -------------------------------------------------------------------------------------------------- */

/* The first line of the log that says error, else what the result is called. */
static kw_status fail_nvrtc(const kw_nvrtc *library, int result, const char *messages, kw_error *err) {
    kw_scan scan = kw_scan_string(messages);
    kw_word line = {0};
    while (kw_scan_line(&scan, &line) && !memmem(line.at, line.size, "error", 5)) {
        line.size = 0;
    }
    if (!line.size) {
        const char *name = library->error_name(result);
        line = (kw_word){name, strlen(name)};
    }
    return kw_fail(err, KW_FAILED, "NVRTC %d.%d refused the source: %.*s", library->major, library->minor,
                   (int)(line.size < 300 ? line.size : 300), line.at);
}

static kw_status take_log(const kw_nvrtc *library, kw_nvrtc_program program, kw_text *messages, kw_error *err) {
    size_t size = 0;
    if (library->log_size(program, &size) || size < 2) {
        return KW_OK;
    }
    char *text = malloc(size + 1);
    if (!text) {
        return kw_fail_memory(err, "a compiler's messages");
    }
    text[size] = 0;
    if (!library->log(program, text)) {
        kw_text_add(messages, text);
    }
    free(text);
    return KW_OK;
}

static kw_status take_cubin(const kw_nvrtc *library, kw_nvrtc_program program, kw_blob *blob, kw_error *err) {
    size_t size = 0;
    int result = library->cubin_size(program, &size);
    if (result || !size) {
        return kw_fail(err, KW_FAILED, "NVRTC said nothing was wrong but made no CUBIN; an architecture such as sm_90 makes one");
    }
    blob->data = malloc(size);
    if (!blob->data) {
        return kw_fail_memory(err, "a compiled kernel");
    }
    blob->size = size;
    result = library->cubin(program, blob->data);
    return result ? kw_fail(err, KW_FAILED, "NVRTC does not hand out its CUBIN: %s", library->error_name(result)) : KW_OK;
}

kw_status kw_nvrtc_compile(const kw_nvrtc *library, const kw_nvrtc_job *job, kw_blob *blob, kw_text *messages, kw_error *err) {
    kw_nvrtc_program program = NULL;
    *blob = (kw_blob){0};
    int result = library->create(&program, job->source, job->name, 0, NULL, NULL);
    if (result) {
        return kw_fail(err, KW_ENVIRONMENT, "NVRTC makes no program: %s", library->error_name(result));
    }
    result = library->compile(program, (int)job->option_count, job->options);
    kw_status status = take_log(library, program, messages, err);
    if (!status && result) {
        status = fail_nvrtc(library, result, kw_text_string(messages), err);
    }
    status = status ? status : take_cubin(library, program, blob, err);
    if (status) {
        kw_blob_drop(blob);
    }
    library->destroy(&program);
    return status;
}
