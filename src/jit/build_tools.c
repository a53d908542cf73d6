/* build_tools.c: finds the compiler and opens the cache, each once, under one lock. Failing to have either is no error: the note says why and
 * the choice of kernels makes do. */
#include "jit/build_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    opened->code = code;
    pthread_mutex_init(&opened->lock, NULL);
    *build_tools = opened;
    return KW_OK;
}

void kw_build_tools_close(kw_build_tools **build_tools) {
    if (!*build_tools) {
        return;
    }
    kw_cache_close(&(*build_tools)->cache);
    pthread_mutex_destroy(&(*build_tools)->lock);
    free((*build_tools)->log_folder);
    free(*build_tools);
    *build_tools = NULL;
}

/* Logs of failed compiles go to data/logs; whoever writes the first one makes the folder. */
static void name_log_folder(kw_build_tools *build_tools) {
    const char *data = build_tools->settings->data;
    size_t size = strlen(data) + sizeof "/logs";
    build_tools->log_folder = *data ? malloc(size) : NULL;
    if (build_tools->log_folder) {
        snprintf(build_tools->log_folder, size, "%s/logs", data);
    }
}

static void find_compiler(kw_build_tools *build_tools) {
    bool host = kw_code_is_for_host(build_tools->code);
    const char *wanted = build_tools->settings->compiler ? build_tools->settings->compiler : host ? build_tools->settings->cc : NULL;
    build_tools->compiler_sought = true;
    if (wanted && !*wanted) {
        snprintf(build_tools->compiler_note, sizeof build_tools->compiler_note, "the options ask for none");
        return;
    }
    kw_error why = {0};
    if (kw_compiler_find(&build_tools->compiler, wanted, build_tools->code, &why)) {
        snprintf(build_tools->compiler_note, sizeof build_tools->compiler_note, "%.250s", why.text);
        kw_log_line(build_tools->settings, "no compiler: %s; only compiled-in and cached kernels are used", why.text);
        return;
    }
    build_tools->compiler_found = true;
    snprintf(build_tools->compiler_name, sizeof build_tools->compiler_name, "%s %s", build_tools->compiler.kind,
             build_tools->compiler.version);
    name_log_folder(build_tools);
}

static void open_blob_cache(kw_build_tools *build_tools) {
    build_tools->cache_opened = true;
    if (!*build_tools->settings->cache) {
        snprintf(build_tools->cache_note, sizeof build_tools->cache_note, "no cache folder is set (KW_CACHE_DIR, XDG_CACHE_HOME, HOME)");
        return;
    }
    kw_error why = {0};
    if (kw_cache_open(&build_tools->cache, build_tools->settings->cache, build_tools->cache_note, &why)) {
        snprintf(build_tools->cache_note, sizeof build_tools->cache_note, "%.250s", why.text);
        build_tools->cache = NULL;
    }
    if (!build_tools->cache) {
        kw_log_line(build_tools->settings, "the kernel cache is off: %s", build_tools->cache_note);
    }
}

kw_jit kw_build_tools_jit(kw_build_tools *build_tools, bool compile) {
    pthread_mutex_lock(&build_tools->lock);
    if (compile && !build_tools->compiler_sought) {
        find_compiler(build_tools);
    }
    if (!build_tools->cache_opened) {
        open_blob_cache(build_tools);
    }
    kw_jit jit = {
        .code = build_tools->code,
        .compiler = compile && build_tools->compiler_found ? &build_tools->compiler : NULL,
        .cache = build_tools->cache,
        .log_folder = build_tools->log_folder,
    };
    pthread_mutex_unlock(&build_tools->lock);
    return jit;
}

const char *kw_build_tools_compiler(kw_build_tools *build_tools, const char **note) {
    pthread_mutex_lock(&build_tools->lock);
    if (!build_tools->compiler_sought) {
        find_compiler(build_tools);
    }
    pthread_mutex_unlock(&build_tools->lock);
    if (note) {
        *note = build_tools->compiler_note;
    }
    return build_tools->compiler_name;
}

kw_cache *kw_build_tools_cache(kw_build_tools *build_tools, const char **note) {
    pthread_mutex_lock(&build_tools->lock);
    if (!build_tools->cache_opened) {
        open_blob_cache(build_tools);
    }
    pthread_mutex_unlock(&build_tools->lock);
    if (note) {
        *note = build_tools->cache_note;
    }
    return build_tools->cache;
}
