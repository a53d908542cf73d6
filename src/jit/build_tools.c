/* build_tools.c: the two halves of kw_jit_open, each once, under one lock. What is missing is noted and logged; the choice of kernels
 * makes do. */
#include "jit/build_tools.h"

#include <stdio.h>
#include <stdlib.h>

kw_status kw_build_tools_open(kw_build_tools **build_tools, const kw_settings *settings, const kw_target *target, kw_error *err) {
    kw_code code;
    kw_status status = kw_code_for(&code, target->backend, target->arch, err);
    if (status) {
        return status;
    }
    kw_build_tools *opened = calloc(1, sizeof *opened);
    if (!opened) {
        return kw_fail_memory(err, "a context");
    }
    opened->settings = settings;
    opened->handle.jit.code = code;
    pthread_mutex_init(&opened->lock, NULL);
    *build_tools = opened;
    return KW_OK;
}

void kw_build_tools_close(kw_build_tools **build_tools) {
    if (!*build_tools) {
        return;
    }
    kw_jit_close(&(*build_tools)->handle);
    pthread_mutex_destroy(&(*build_tools)->lock);
    free(*build_tools);
    *build_tools = NULL;
}

/* With the lock held. */
static void need_compiler(kw_build_tools *build_tools) {
    const kw_settings *settings = build_tools->settings;
    kw_jit_handle *handle = &build_tools->handle;
    if (build_tools->compiler_sought) {
        return;
    }
    build_tools->compiler_sought = true;
    if (kw_jit_find_compiler(
            handle,
            &(kw_jit_settings){.compiler = settings->compiler, .cc = settings->cc, .data = settings->data, .stop = settings->stop})) {
        snprintf(build_tools->compiler_name, sizeof build_tools->compiler_name, "%s %s", handle->compiler.kind, handle->compiler.version);
    } else if (!settings->compiler || *settings->compiler) {
        kw_log_line(settings, "no compiler: %s; only compiled-in and cached kernels are used", handle->compiler_note);
    }
}

/* With the lock held. */
static void need_cache(kw_build_tools *build_tools) {
    const kw_settings *settings = build_tools->settings;
    if (build_tools->cache_opened) {
        return;
    }
    build_tools->cache_opened = true;
    if (!kw_jit_open_cache(&build_tools->handle, settings->cache) && *settings->cache) {
        kw_log_line(settings, "the kernel cache is off: %s", build_tools->handle.cache_note);
    }
}

kw_jit kw_build_tools_jit(kw_build_tools *build_tools, bool compile) {
    pthread_mutex_lock(&build_tools->lock);
    if (compile) {
        need_compiler(build_tools);
    }
    need_cache(build_tools);
    kw_jit jit = build_tools->handle.jit;
    pthread_mutex_unlock(&build_tools->lock);
    jit.compiler = compile ? jit.compiler : NULL;
    return jit;
}

const char *kw_build_tools_compiler(kw_build_tools *build_tools, const char **note) {
    pthread_mutex_lock(&build_tools->lock);
    need_compiler(build_tools);
    pthread_mutex_unlock(&build_tools->lock);
    if (note) {
        *note = build_tools->handle.compiler_note;
    }
    return build_tools->compiler_name;
}

kw_cache *kw_build_tools_cache(kw_build_tools *build_tools, const char **note) {
    pthread_mutex_lock(&build_tools->lock);
    need_cache(build_tools);
    pthread_mutex_unlock(&build_tools->lock);
    if (note) {
        *note = build_tools->handle.cache_note;
    }
    return build_tools->handle.jit.cache;
}
