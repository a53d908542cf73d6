/* kernel_cache.c: a hash table of loaded kernels. Loading happens outside the lock; of two threads that load the same kernel at the same time the
 * second drops its own. */
#include "dispatch/cache/kernel_cache.h"

#include "base/hash.h"
#include "measure/resources.h"

#include <stdlib.h>
#include <string.h>

void kw_kernel_cache_open(kw_kernel_cache *shelf, const kw_backend *backend, kw_device *device, kw_build_tools *tools) {
    *shelf = (kw_kernel_cache){.backend = backend, .device = device, .tools = tools};
    pthread_mutex_init(&shelf->lock, NULL);
}

static void drop_kernel(kw_kernel_cache *shelf, kw_loaded_kernel *loaded) {
    shelf->backend->unload(shelf->device, &loaded->kernel);
    free(loaded);
}

void kw_kernel_cache_close(kw_kernel_cache *shelf) {
    if (!shelf->backend) {
        return;
    }
    for (int i = 0; i < KW_KERNEL_CACHE_BUCKETS; i++) {
        while (shelf->rows[i]) {
            kw_loaded_kernel *first = shelf->rows[i];
            shelf->rows[i] = first->next;
            drop_kernel(shelf, first);
        }
    }
    pthread_mutex_destroy(&shelf->lock);
    *shelf = (kw_kernel_cache){0};
}

static kw_loaded_kernel **kernel_bucket(kw_kernel_cache *shelf, const char *text) {
    return &shelf->rows[kw_hash64(text, strlen(text)) % KW_KERNEL_CACHE_BUCKETS];
}

/* With the lock held. */
static kw_loaded_kernel *find_kernel(kw_kernel_cache *shelf, const char *text) {
    kw_loaded_kernel *at = *kernel_bucket(shelf, text);
    while (at && strcmp(at->text, text)) {
        at = at->next;
    }
    if (at) {
        at->users++;
    }
    return at;
}

static kw_status load_kernel_blob(kw_loaded_kernel *loaded, kw_kernel_cache *shelf, bool compile, const char *builder, kw_error *err) {
    kw_blob blob = {0};
    kw_status status = KW_OK;
    loaded->facts.spill_bytes = -1;
    if (loaded->config.family->emit) {
        kw_jit jit = kw_build_tools_jit(shelf->tools, compile);
        kw_jit_result result;
        status = builder ? kw_jit_known(&jit, &loaded->config, builder, &blob, &result, err)
                         : kw_jit_blob(&jit, &loaded->config, &blob, &result, err);
        memcpy(loaded->builder, result.builder, sizeof loaded->builder);
        if (!status && kw_blob_facts_read(&loaded->facts, &blob, jit.code, NULL)) {
            loaded->facts = (kw_blob_facts){.spill_bytes = -1}; /* what is wrong with it the device will say */
        }
    }
    status = status ? status : shelf->backend->load(shelf->device, &loaded->config, &blob, &loaded->kernel, err);
    kw_blob_drop(&blob);
    return status;
}

static kw_status acquire_kernel(kw_loaded_kernel **loaded, kw_kernel_cache *shelf, const kw_config *config, bool compile,
                                const char *builder, kw_error *err) {
    kw_loaded_kernel *own = calloc(1, sizeof *own);
    if (!own) {
        return kw_fail_memory(err, "a kernel");
    }
    own->config = *config;
    own->users = 1;
    kw_config_print(own->text, sizeof own->text, config);
    pthread_mutex_lock(&shelf->lock);
    *loaded = find_kernel(shelf, own->text);
    pthread_mutex_unlock(&shelf->lock);
    if (*loaded) {
        free(own);
        return KW_OK;
    }
    kw_status status = load_kernel_blob(own, shelf, compile, builder, err);
    if (status) {
        free(own);
        return status;
    }
    pthread_mutex_lock(&shelf->lock);
    *loaded = find_kernel(shelf, own->text);
    if (!*loaded) {
        kw_loaded_kernel **row = kernel_bucket(shelf, own->text);
        own->next = *row;
        *row = own;
        *loaded = own;
    }
    pthread_mutex_unlock(&shelf->lock);
    if (*loaded != own) {
        drop_kernel(shelf, own);
    }
    return KW_OK;
}

kw_status kw_kernel_cache_acquire(kw_loaded_kernel **loaded, kw_kernel_cache *shelf, const kw_config *config, bool compile, kw_error *err) {
    return acquire_kernel(loaded, shelf, config, compile, NULL, err);
}

kw_status kw_kernel_cache_acquire_cached(kw_loaded_kernel **loaded, kw_kernel_cache *shelf, const kw_config *config, const char *builder,
                                         kw_error *err) {
    return acquire_kernel(loaded, shelf, config, false, builder, err);
}

kw_outcome kw_loaded_kernel_check(const kw_loaded_kernel *loaded, const kw_kernel_cache *shelf, char detail[256]) {
    return kw_resources_check(&loaded->facts, shelf->backend->target(shelf->device), shelf->tools->settings->spill_limit, detail);
}

/* Whether the target runs the config was asked before, so that a device which has no room for the kernel is left. */
kw_outcome kw_load_outcome(kw_status status) {
    return status == KW_NO_KERNEL ? KW_TOO_MUCH_LDS : KW_UNCOMPILED;
}

void kw_kernel_cache_release(kw_kernel_cache *shelf, kw_loaded_kernel **loaded) {
    kw_loaded_kernel *gone = *loaded;
    *loaded = NULL;
    if (!gone) {
        return;
    }
    pthread_mutex_lock(&shelf->lock);
    bool last = !--gone->users;
    if (last) {
        kw_loaded_kernel **at = kernel_bucket(shelf, gone->text);
        while (*at != gone) {
            at = &(*at)->next;
        }
        *at = gone->next;
    }
    pthread_mutex_unlock(&shelf->lock);
    if (last) {
        drop_kernel(shelf, gone);
    }
}
