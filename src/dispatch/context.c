/* context.c: opening and closing. Opening reads the environment and the device's facts and nothing else: compiler, cache, wisdom and the
 * default registry are looked up on first need. The machine's rates are read where they are kept, and measured by the first choice else. */
#include "dispatch/context.h"

#include "measure/rates/rates.h"

#include <stdlib.h>

static kw_status open_context_device(kw_context *context, const char *device, kw_error *err) {
    int index = 0;
    kw_status status = kw_backend_find(&context->backend, &index, device, err);
    status = status ? status : context->backend->open(&context->device, index, context->settings.threads, err);
    if (!status && context->settings.host_threads.parallel_for && context->backend->use_threads) {
        context->backend->use_threads(context->device, &context->settings.host_threads);
    }
    if (!status) {
        context->facts = *context->backend->target(context->device);
        bool kept = kw_rates_recall(&context->facts, &context->settings) >= KW_RATES_LOOKS;
        atomic_init(&context->rates_known, kept || context->settings.usual_rates || kw_target_is_gpu(&context->facts));
        atomic_init(&context->target, &context->facts);
        kw_target_print(context->target_text, sizeof context->target_text, context->target);
        kw_cpu_brand(context->brand);
    }
    return status;
}

kw_status kw_context_open(kw_context **context, const char *device, const kw_context_options *options, kw_error *err) {
    if (!context || !device) {
        return kw_fail(err, KW_ILLEGAL, "kw_context_open: %s is NULL; pass a place for the handle and a device such as \"cpu\"",
                       context ? "device" : "context");
    }
    *context = NULL;
    kw_context *opened = calloc(1, sizeof *opened);
    if (!opened) {
        return kw_fail_memory(err, "a context");
    }
    kw_fork_mark_open(&opened->mark);
    pthread_mutex_init(&opened->measuring, NULL);
    pthread_mutex_init(&opened->lock, NULL);
    kw_plan_cache_open(&opened->plan_cache);
    kw_status status = kw_settings_read(&opened->settings, options, err);
    status = status ? status : open_context_device(opened, device, err);
    status = status ? status : kw_build_tools_open(&opened->build_tools, &opened->settings, &opened->facts, err);
    status = status ? status : kw_wisdom_open(&opened->wisdom, &opened->settings, opened->target_text, err);
    status = status ? status : kw_model_selector_open(&opened->selector, &opened->settings, &opened->facts, err);
    if (status) {
        kw_context_close(&opened);
        return status;
    }
    kw_kernel_cache_open(&opened->kernel_cache, opened->backend, opened->device, opened->build_tools);
    *context = opened;
    return KW_OK;
}

void kw_context_close(kw_context **context) {
    if (!context || !*context) {
        return;
    }
    kw_context *closing = *context;
    if (kw_context_lost(closing)) {
        *context = NULL; /* what it has is the parent's */
        return;
    }
    kw_plan_cache_close(&closing->plan_cache, &closing->kernel_cache);
    kw_registry_destroy(&closing->registry);
    kw_kernel_cache_close(&closing->kernel_cache);
    kw_model_selector_close(&closing->selector);
    kw_wisdom_close(&closing->wisdom);
    kw_build_tools_close(&closing->build_tools);
    if (closing->device) {
        closing->backend->close(&closing->device);
    }
    kw_settings_drop(&closing->settings);
    kw_fork_mark_close(&closing->mark);
    pthread_mutex_destroy(&closing->lock);
    pthread_mutex_destroy(&closing->measuring);
    free(closing);
    *context = NULL;
}

kw_status kw_context_allocate(kw_context *context, size_t bytes, void **memory, kw_error *err) {
    const kw_host_memory *host = &context->settings.host_memory;
    if (!host->allocate) {
        return context->backend->alloc(context->device, bytes, memory, err);
    }
    *memory = host->allocate(host->heap, bytes, KW_WORKSPACE_ALIGN);
    if (!*memory) {
        return kw_fail(err, KW_NO_MEMORY, "%zu bytes for a plan cannot be had: the context's allocate gave none", bytes);
    }
    if ((uintptr_t)*memory & (KW_WORKSPACE_ALIGN - 1)) {
        kw_fail(err, KW_ILLEGAL, "the context's allocate gave memory at %p, which is not aligned to the %d bytes that were asked for",
                *memory, KW_WORKSPACE_ALIGN);
        host->release(host->heap, *memory, bytes);
        *memory = NULL;
        return KW_ILLEGAL;
    }
    return KW_OK;
}

void kw_context_release(kw_context *context, void *memory, size_t bytes) {
    const kw_host_memory *host = &context->settings.host_memory;
    if (!host->allocate) {
        context->backend->release(context->device, memory);
    } else if (memory) {
        host->release(host->heap, memory, bytes);
    }
}

kw_status kw_device_alloc(kw_context *context, int64_t bytes, void **memory, kw_error *err) {
    if (!context || !memory || bytes < 0) {
        return kw_fail(err, KW_ILLEGAL, "kw_device_alloc: %s",
                       !context  ? "context is NULL"
                       : !memory ? "memory is NULL"
                                 : "bytes is negative");
    }
    return context->backend->alloc(context->device, (size_t)bytes, memory, err);
}

void kw_device_free(kw_context *context, void *memory) {
    if (context && memory) {
        context->backend->release(context->device, memory);
    }
}

kw_status kw_device_copy(kw_context *context, void *to, const void *from, int64_t bytes, kw_error *err) {
    if (!context || bytes < 0 || (bytes && (!to || !from))) {
        return kw_fail(err, KW_ILLEGAL, "kw_device_copy: %s",
                       !context    ? "context is NULL"
                       : bytes < 0 ? "bytes is negative"
                                   : "an address is NULL");
    }
    return context->backend->copy(context->device, to, from, (size_t)bytes, err);
}

const char *kw_context_device(const kw_context *context) {
    return context ? kw_context_about(context) : "";
}

bool kw_context_is_gpu(const kw_context *context) {
    return context && kw_target_is_gpu(context->target);
}

const char *kw_context_clock(const kw_context *context) {
    return context && context->backend->time ? "device" : "host";
}

const char *kw_context_target(const kw_context *context) {
    return context ? context->target_text : "";
}

const char *kw_context_compiler(const kw_context *context) {
    return context && !kw_context_lost(context) ? kw_build_tools_compiler(context->build_tools, NULL) : "";
}

kw_status kw_context_paths(kw_paths *places, kw_context *context, kw_error *err) {
    if (!places || !context) {
        return kw_fail(err, KW_ILLEGAL, "kw_context_paths: %s is NULL", places ? "context" : "places");
    }
    if (kw_context_check(context, err)) {
        return KW_FAILED;
    }
    const kw_settings *settings = &context->settings;
    const char *note;
    kw_cache *cache = kw_build_tools_cache(context->build_tools, &note);
    *places = (kw_paths){
        .cache = settings->cache,
        .data = settings->data,
        .wisdom = settings->wisdom,
        .system_wisdom = settings->system_wisdom,
        .cache_note = cache ? "" : note,
    };
    kw_cache_stats stats = {0};
    kw_status status = cache ? kw_cache_scan(cache, &stats, err) : KW_OK;
    places->cache_entries = stats.entries;
    places->cache_bytes = stats.bytes;
    return status;
}

const char *kw_context_cache_note(kw_context *context) {
    const char *note = "";
    if (context && !kw_context_lost(context)) {
        kw_build_tools_cache(context->build_tools, &note);
    }
    return note;
}

kw_status kw_cache_clear(kw_context *context, int64_t *removed, kw_error *err) {
    int64_t count = 0;
    if (!context) {
        return kw_fail(err, KW_ILLEGAL, "kw_cache_clear: context is NULL");
    }
    if (kw_context_check(context, err)) {
        return KW_FAILED;
    }
    kw_cache *cache = kw_build_tools_cache(context->build_tools, NULL);
    kw_status status = cache ? kw_cache_remove_all(cache, &count, err) : KW_OK;
    if (removed) {
        *removed = count;
    }
    return status;
}
