/* kernel_cache.h: the loaded kernels of a context. A kernel is loaded once and shared by all who use it; the last one to put it back
 * unloads it. Many threads may use one cache. */
#ifndef KW_DISPATCH_CACHE_KERNEL_CACHE_H
#define KW_DISPATCH_CACHE_KERNEL_CACHE_H

#include "backend/backend.h"
#include "base/container/hash_map.h"
#include "jit/build_tools.h"

/* A loaded kernel; read only. text is its config's and its name on the cache: within one context it says all of a kernel. */
typedef struct kw_loaded_kernel {
    size_t users;
    kw_kernel *kernel;
    kw_config config;
    kw_blob_facts facts; /* what it needs; spill_bytes -1 where its blob does not say */
    char text[KW_CONFIG_TEXT_MAX];
    char builder[KW_BUILDER_DIGITS + 1]; /* as in kw_jit_result */
} kw_loaded_kernel;

typedef struct kw_kernel_cache {
    const kw_backend *backend;
    kw_device *device;
    kw_build_tools *build_tools;
    pthread_mutex_t lock;
    kw_hash_map kernels; /* kw_loaded_kernel by text, each with at least one user */
} kw_kernel_cache;

void kw_kernel_cache_open(kw_kernel_cache *cache, const kw_backend *backend, kw_device *device, kw_build_tools *build_tools);
/* Unloads all; nobody may use a kernel any more. */
void kw_kernel_cache_close(kw_kernel_cache *cache);

/* From memory, from the cache or, if compile is set, from the compiler. KW_MISSING: not cached, and no compiler or compile not set. */
kw_status kw_kernel_cache_acquire(kw_loaded_kernel **loaded, kw_kernel_cache *cache, const kw_config *config, bool compile, kw_error *err);
/* The same as what kw_evaluate_load has a kernel loaded by; user is a kw_kernel_cache_user. */
typedef struct kw_kernel_cache_user {
    kw_kernel_cache *cache;
    kw_loaded_kernel **loaded;
} kw_kernel_cache_user;
kw_status kw_kernel_cache_load(void *user, const kw_config *config, kw_error *err);
/* From memory or from the cache, where the blob of this builder comes before younger ones. */
kw_status kw_kernel_cache_acquire_cached(kw_loaded_kernel **loaded, kw_kernel_cache *cache, const kw_config *config, const char *builder,
                                         kw_error *err);
/* Whether the loaded kernel may be picked for its time: KW_UNTRIED, or the outcome with its reason in detail (measure/resources.h). */
kw_outcome kw_loaded_kernel_check(const kw_loaded_kernel *loaded, const kw_kernel_cache *cache, char detail[256]);
/* *loaded may be NULL. */
void kw_kernel_cache_release(kw_kernel_cache *cache, kw_loaded_kernel **loaded);

#endif
