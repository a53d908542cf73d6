/* kernel_cache.c: a hash table of loaded kernels. Loading happens outside the lock; of two threads that load the same kernel at the same time the
 * second drops its own. */
#include "dispatch/cache/kernel_cache.h"

#include "base/hash.h"
#include "measure/resources.h"

#include <stdlib.h>
#include <string.h>

void kw_shelf_open(kw_shelf *shelf, const kw_backend *backend, kw_device *device, kw_tools *tools) {
    *shelf = (kw_shelf){.backend = backend, .device = device, .tools = tools};
    pthread_mutex_init(&shelf->lock, NULL);
}

static void drop(kw_shelf *shelf, kw_loaded *loaded) {
    shelf->backend->unload(shelf->device, &loaded->kernel);
    free(loaded);
}

void kw_shelf_close(kw_shelf *shelf) {
    if (!shelf->backend) {
        return;
    }
    for (int i = 0; i < KW_SHELF_ROWS; i++) {
        while (shelf->rows[i]) {
            kw_loaded *first = shelf->rows[i];
            shelf->rows[i] = first->next;
            drop(shelf, first);
        }
    }
    pthread_mutex_destroy(&shelf->lock);
    *shelf = (kw_shelf){0};
}

static kw_loaded **row_of(kw_shelf *shelf, const char *text) {
    return &shelf->rows[kw_hash64(text, strlen(text)) % KW_SHELF_ROWS];
}

/* With the lock held. */
static kw_loaded *find(kw_shelf *shelf, const char *text) {
    kw_loaded *at = *row_of(shelf, text);
    while (at && strcmp(at->text, text)) {
        at = at->next;
    }
    if (at) {
        at->users++;
    }
    return at;
}

static kw_status load(kw_loaded *loaded, kw_shelf *shelf, bool compile, const char *builder, kw_error *err) {
    kw_blob blob = {0};
    kw_status status = KW_OK;
    loaded->facts.spill_bytes = -1;
    if (loaded->config.family->emit) {
        kw_jit jit = kw_tools_jit(shelf->tools, compile);
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

static kw_status take(kw_loaded **loaded, kw_shelf *shelf, const kw_config *config, bool compile, const char *builder, kw_error *err) {
    kw_loaded *own = calloc(1, sizeof *own);
    if (!own) {
        return kw_fail_memory(err, "a kernel");
    }
    own->config = *config;
    own->users = 1;
    kw_config_print(own->text, sizeof own->text, config);
    pthread_mutex_lock(&shelf->lock);
    *loaded = find(shelf, own->text);
    pthread_mutex_unlock(&shelf->lock);
    if (*loaded) {
        free(own);
        return KW_OK;
    }
    kw_status status = load(own, shelf, compile, builder, err);
    if (status) {
        free(own);
        return status;
    }
    pthread_mutex_lock(&shelf->lock);
    *loaded = find(shelf, own->text);
    if (!*loaded) {
        kw_loaded **row = row_of(shelf, own->text);
        own->next = *row;
        *row = own;
        *loaded = own;
    }
    pthread_mutex_unlock(&shelf->lock);
    if (*loaded != own) {
        drop(shelf, own);
    }
    return KW_OK;
}

kw_status kw_shelf_take(kw_loaded **loaded, kw_shelf *shelf, const kw_config *config, bool compile, kw_error *err) {
    return take(loaded, shelf, config, compile, NULL, err);
}

kw_status kw_shelf_take_known(kw_loaded **loaded, kw_shelf *shelf, const kw_config *config, const char *builder, kw_error *err) {
    return take(loaded, shelf, config, false, builder, err);
}

kw_outcome kw_loaded_judge(const kw_loaded *loaded, const kw_shelf *shelf, char detail[256]) {
    return kw_resources_judge(&loaded->facts, shelf->backend->target(shelf->device), shelf->tools->settings->spill_limit, detail);
}

/* Whether the target runs the config was asked before, so that a device which has no room for the kernel is left. */
kw_outcome kw_outcome_of_load(kw_status status) {
    return status == KW_NO_KERNEL ? KW_TOO_MUCH_LDS : KW_UNCOMPILED;
}

void kw_shelf_put(kw_shelf *shelf, kw_loaded **loaded) {
    kw_loaded *gone = *loaded;
    *loaded = NULL;
    if (!gone) {
        return;
    }
    pthread_mutex_lock(&shelf->lock);
    bool last = !--gone->users;
    if (last) {
        kw_loaded **at = row_of(shelf, gone->text);
        while (*at != gone) {
            at = &(*at)->next;
        }
        *at = gone->next;
    }
    pthread_mutex_unlock(&shelf->lock);
    if (last) {
        drop(shelf, gone);
    }
}
