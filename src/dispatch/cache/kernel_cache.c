/* kernel_cache.c: a map of loaded kernels by their configs' texts. Loading happens outside the lock; of two threads that load the same
 * kernel at the same time the second drops its own. */
#include "dispatch/cache/kernel_cache.h"

#include "base/hash.h"
#include "measure/resources.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void kw_kernel_cache_open(kw_kernel_cache *cache, const kw_backend *backend, kw_device *device, kw_build_tools *build_tools) {
    *cache = (kw_kernel_cache){.backend = backend, .device = device, .build_tools = build_tools};
    pthread_mutex_init(&cache->lock, NULL);
}

static void drop_kernel(kw_kernel_cache *cache, kw_loaded_kernel *loaded) {
    cache->backend->unload(cache->device, &loaded->kernel);
    free(loaded);
}

void kw_kernel_cache_close(kw_kernel_cache *cache) {
    if (!cache->backend) {
        return;
    }
    uintptr_t value;
    for (size_t at = 0; kw_hash_map_next(&cache->kernels, &at, &value);) {
        drop_kernel(cache, (kw_loaded_kernel *)value);
    }
    kw_hash_map_drop(&cache->kernels);
    pthread_mutex_destroy(&cache->lock);
    *cache = (kw_kernel_cache){0};
}

static bool kernel_has_text(const kw_hash_map_key *key, uintptr_t value) {
    return !strcmp(((const kw_loaded_kernel *)value)->text, key->key);
}

static uint64_t kernel_hash(const char *text) {
    return kw_hash64(text, strlen(text));
}

/* With the lock held. */
static kw_loaded_kernel *find_loaded(kw_kernel_cache *cache, const char *text) {
    const uintptr_t *found = kw_hash_map_find(&cache->kernels, &(kw_hash_map_key){kernel_hash(text), kernel_has_text, NULL, text});
    kw_loaded_kernel *loaded = found ? (kw_loaded_kernel *)*found : NULL;
    if (loaded) {
        assert(loaded->users); /* the last user takes it out */
        loaded->users++;
    }
    return loaded;
}

static kw_status load_kernel_blob(kw_loaded_kernel *loaded, kw_kernel_cache *cache, bool compile, const char *builder, kw_error *err) {
    kw_blob blob = {0};
    kw_status status = KW_OK;
    loaded->facts.spill_bytes = -1;
    if (loaded->config.family->emit) {
        kw_jit jit = kw_build_tools_jit(cache->build_tools, compile);
        kw_jit_result result;
        status = builder ? kw_jit_known(&jit, &loaded->config, builder, &blob, &result, err)
                         : kw_jit_blob(&jit, &loaded->config, &blob, &result, err);
        memcpy(loaded->builder, result.builder, sizeof loaded->builder);
        if (!status && kw_blob_facts_read(&loaded->facts, &blob, jit.code, NULL)) {
            loaded->facts = (kw_blob_facts){.spill_bytes = -1}; /* what is wrong with it the device will say */
        }
    }
    status = status ? status : cache->backend->load(cache->device, &loaded->config, &blob, &loaded->kernel, err);
    kw_blob_drop(&blob);
    return status;
}

static kw_status acquire_kernel(kw_loaded_kernel **loaded, kw_kernel_cache *cache, const kw_config *config, bool compile,
                                const char *builder, kw_error *err) {
    kw_loaded_kernel *own = calloc(1, sizeof *own);
    if (!own) {
        return kw_fail_memory(err, "a kernel");
    }
    own->config = *config;
    own->users = 1;
    kw_config_print(own->text, sizeof own->text, config);
    pthread_mutex_lock(&cache->lock);
    *loaded = find_loaded(cache, own->text);
    pthread_mutex_unlock(&cache->lock);
    if (*loaded) {
        free(own);
        return KW_OK;
    }
    kw_status status = load_kernel_blob(own, cache, compile, builder, err);
    if (status) {
        free(own);
        return status;
    }
    pthread_mutex_lock(&cache->lock);
    *loaded = find_loaded(cache, own->text);
    if (!*loaded && kw_hash_map_reserve(&cache->kernels, cache->kernels.count + 1)) {
        kw_hash_map_put(&cache->kernels, kernel_hash(own->text), (uintptr_t)own);
        *loaded = own;
    }
    pthread_mutex_unlock(&cache->lock);
    if (*loaded != own) {
        drop_kernel(cache, own);
    }
    return *loaded ? KW_OK : kw_fail_memory(err, "a kernel");
}

kw_status kw_kernel_cache_acquire(kw_loaded_kernel **loaded, kw_kernel_cache *cache, const kw_config *config, bool compile, kw_error *err) {
    return acquire_kernel(loaded, cache, config, compile, NULL, err);
}

kw_status kw_kernel_cache_load(void *user, const kw_config *config, kw_error *err) {
    const kw_kernel_cache_user *caller = user;
    return acquire_kernel(caller->loaded, caller->cache, config, true, NULL, err);
}

kw_status kw_kernel_cache_acquire_cached(kw_loaded_kernel **loaded, kw_kernel_cache *cache, const kw_config *config, const char *builder,
                                         kw_error *err) {
    return acquire_kernel(loaded, cache, config, false, builder, err);
}

kw_outcome kw_loaded_kernel_check(const kw_loaded_kernel *loaded, const kw_kernel_cache *cache, char detail[256]) {
    return kw_resources_check(&loaded->facts, cache->backend->target(cache->device), cache->build_tools->settings->spill_limit, detail);
}

void kw_kernel_cache_release(kw_kernel_cache *cache, kw_loaded_kernel **loaded) {
    kw_loaded_kernel *gone = *loaded;
    *loaded = NULL;
    if (!gone) {
        return;
    }
    pthread_mutex_lock(&cache->lock);
    assert(gone->users);
    bool last = !--gone->users;
    if (last) {
        kw_hash_map_remove(&cache->kernels, kernel_hash(gone->text), (uintptr_t)gone);
    }
    pthread_mutex_unlock(&cache->lock);
    if (last) {
        drop_kernel(cache, gone);
    }
}
