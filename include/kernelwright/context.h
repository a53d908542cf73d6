/* context.h: one device and all state; which devices there are, their memory, the places in use.
 * Conventions are those of kernelwright.h, which includes this. */
#ifndef KERNELWRIGHT_CONTEXT_H
#define KERNELWRIGHT_CONTEXT_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Many threads may use one context. A child that was forked since may open one of its own; with an inherited one it can run the plans made
 * before, on one thread, and close it, which frees nothing; whatever else takes the context fails with KW_FAILED or says nothing. */
typedef struct kw_context kw_context;

/* A zeroed member asks for its default; strings are copied. An option that is given beats its environment variable. log may be called
 * from any thread that uses the context; neither it nor a progress function may call back into the library. */
typedef struct kw_context_options {
    size_t size;             /* sizeof(kw_context_options) */
    int32_t threads;         /* that a kernel may use; 0: KW_THREADS, else all cores of the process */
    const char *cache_dir;   /* KW_CACHE_DIR, else $XDG_CACHE_HOME/kernelwright, else ~/.cache/kernelwright */
    const char *data_dir;    /* KW_DATA_DIR, else $XDG_DATA_HOME/kernelwright, else ~/.local/share/kernelwright */
    const char *wisdom_file; /* KW_WISDOM, else wisdom.txt in data_dir; "" keeps wisdom in memory only */
    const char *compiler;    /* KW_CC, else gcc, else clang, else cc, found on PATH; "" uses no compiler. For GPUs see
                                                  docs/devices/gpu-toolchains.md */
    const char *model;       /* KW_MODEL: the folder of a model to predict by; "" for none; else the nearest there is */
    int32_t spill_limit;     /* bytes of registers that a thread of a GPU kernel may keep in memory for the kernel to be a
                                                  candidate; 0: KW_SPILL_LIMIT, else none; below 0: any number */
    const kw_stop *stop;     /* when it is requested, compiles and measurings under way end soon and leave nothing behind, and
                                                  what waits for them fails with KW_FAILED; may be NULL, outlives the context */
    void (*log)(void *user, const char *line); /* remarks; NULL: to standard error when KW_LOG is set */
    void *user;
    /* A caller's thread pool, on which a CPU's kernels run in place of threads of the library's own (NULL). It calls task(work, i) for each i
     * below count, which is threads at most, on any threads and in any order, all of them by the caller if it likes, and returns when they
     * are done. Who runs or measures a plan calls it, so many may at once. It does not call back into the library, nor leave by a jump. */
    void (*parallel_for)(void *pool, int32_t count, void (*task)(void *work, int32_t index), void *work);
    void *pool;
    /* Memory of the context's device that plans keep, or need while they pack weights, in place of the library's own (both NULL): bytes at a
     * multiple of alignment, a power of two, or NULL, which is KW_NO_MEMORY. What is measured with is not asked for here. */
    void *(*allocate)(void *heap, size_t bytes, size_t alignment);
    void (*release)(void *heap, void *memory, size_t bytes);
    void *heap;
} kw_context_options;

/* The device of those who name none. */
#define KW_DEFAULT_DEVICE "cpu"

/* device: "cpu", "cuda:0", "hip:0", or a GPU that the CPU plays, "emu:gfx942"; without a number or name the first one. options may be
 * NULL. */
KW_API kw_status kw_context_open(kw_context **context, const char *device, const kw_context_options *options, kw_error *err);
/* All plans and registries of the context must be gone before. */
KW_API void kw_context_close(kw_context **context);
/* The device's facts in one line of text, e.g. "cpu:x86-64-v4-bf16 model=amd-25-17-1 units=2 lanes=16 ...". */
KW_API const char *kw_context_target(const kw_context *context);
/* The device for people: its product and driver, e.g. "NVIDIA H200, driver for CUDA 13.0, GPU-6f3c1a52-..." */
KW_API const char *kw_context_device(const kw_context *context);
/* Whether its kernels are those of a GPU, its own or one that is played. */
KW_API bool kw_context_is_gpu(const kw_context *context);
/* Whose clock times of the context are by: "device" (its events, so that launching is no part of them) or "host". */
KW_API const char *kw_context_clock(const kw_context *context);
/* A device that is there, or a backend that has none. Texts are "" where there is nothing to say. */
typedef struct kw_device_entry {
    bool gpu;                   /* has a GPU's kernels, its own or played */
    const char *device;         /* "cuda:0"; the backend's name alone when it has no device */
    const char *target, *about; /* its facts; its product and driver */
    const char *none;           /* why there is no device */
    const char *compiler;       /* what compiles its kernels, "nvrtc 13.0, /usr/local/cuda/lib64/libnvrtc.so.13" */
    const char *no_compiler;    /* why nothing does */
} kw_device_entry;
/* Visits every device of every backend, GPUs that are played once for all. Returns the count of devices. */
KW_API int kw_devices_visit(void (*visit)(void *user, const kw_device_entry *entry), void *user);
/* The whole text of a target that is given so or as an architecture: "gfx950" and "hip:gfx950" are a usual product of it, "emu:gfx950" one that is
 * played. At most capacity bytes with the end. KW_MISSING, KW_MALFORMED: it is neither. */
KW_API kw_status kw_target_text(char *text, size_t capacity, const char *target, kw_error *err);
/* Memory of the context's device, for programs that have no other way to it; a framework gives its own. Copies go in any direction between
 * device and host, and are done when the call returns. */
KW_API kw_status kw_device_alloc(kw_context *context, int64_t bytes, void **memory, kw_error *err);
KW_API void kw_device_free(kw_context *context, void *memory);
KW_API kw_status kw_device_copy(kw_context *context, void *to, const void *from, int64_t bytes, kw_error *err);
/* "gcc 12.2.0", or "" when there is none; then plans use the kernels that are compiled in or cached. */
KW_API const char *kw_context_compiler(const kw_context *context);
/* The places in use; "" where there is none. Owned by the context. */
typedef struct kw_paths {
    const char *cache, *data, *wisdom, *system_wisdom;
    const char *cache_note; /* why the cache is not used, or "" */
    int64_t cache_entries, cache_bytes;
} kw_paths;
KW_API kw_status kw_context_paths(kw_paths *places, kw_context *context, kw_error *err);
/* Why kernels are not kept, or only read, in the cache; "" when all is well. It asks for no more than opening it. */
KW_API const char *kw_context_cache_note(kw_context *context);
/* Deletes every cached kernel; removed (may be NULL) gets the count. */
KW_API kw_status kw_cache_clear(kw_context *context, int64_t *removed, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
