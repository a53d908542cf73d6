/* build_tools.c: finds the compiler and opens the cache, each once, under one lock. Failing to have either is no error: the note says why and
 * the choice of kernels makes do. */
#include "jit/build_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

kw_status kw_build_tools_open(kw_build_tools **tools, const kw_settings *settings, const kw_target *target, kw_error *err) {
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
    *tools = opened;
    return KW_OK;
}

void kw_build_tools_close(kw_build_tools **tools) {
    if (!*tools) {
        return;
    }
    kw_cache_close(&(*tools)->cache);
    pthread_mutex_destroy(&(*tools)->lock);
    free((*tools)->log_folder);
    free(*tools);
    *tools = NULL;
}

/* Logs of failed compiles go to data/logs; whoever writes the first one makes the folder. */
static void name_log_folder(kw_build_tools *tools) {
    const char *data = tools->settings->data;
    size_t size = strlen(data) + sizeof "/logs";
    tools->log_folder = *data ? malloc(size) : NULL;
    if (tools->log_folder) {
        snprintf(tools->log_folder, size, "%s/logs", data);
    }
}

static void find_compiler(kw_build_tools *tools) {
    bool host = kw_code_is_for_host(tools->code);
    const char *wanted = tools->settings->compiler ? tools->settings->compiler : host ? tools->settings->cc : NULL;
    tools->compiler_sought = true;
    if (wanted && !*wanted) {
        snprintf(tools->compiler_note, sizeof tools->compiler_note, "the options ask for none");
        return;
    }
    kw_error why = {0};
    if (kw_compiler_find(&tools->compiler, wanted, tools->code, &why)) {
        snprintf(tools->compiler_note, sizeof tools->compiler_note, "%.250s", why.text);
        kw_log_line(tools->settings, "no compiler: %s; only compiled-in and cached kernels are used", why.text);
        return;
    }
    tools->compiler_found = true;
    snprintf(tools->compiler_name, sizeof tools->compiler_name, "%s %s", tools->compiler.kind, tools->compiler.version);
    name_log_folder(tools);
}

static void open_blob_cache(kw_build_tools *tools) {
    tools->cache_opened = true;
    if (!*tools->settings->cache) {
        snprintf(tools->cache_note, sizeof tools->cache_note, "no cache folder is set (KW_CACHE_DIR, XDG_CACHE_HOME, HOME)");
        return;
    }
    kw_error why = {0};
    if (kw_cache_open(&tools->cache, tools->settings->cache, tools->cache_note, &why)) {
        snprintf(tools->cache_note, sizeof tools->cache_note, "%.250s", why.text);
        tools->cache = NULL;
    }
    if (!tools->cache) {
        kw_log_line(tools->settings, "the kernel cache is off: %s", tools->cache_note);
    }
}

kw_jit kw_build_tools_jit(kw_build_tools *tools, bool compile) {
    pthread_mutex_lock(&tools->lock);
    if (compile && !tools->compiler_sought) {
        find_compiler(tools);
    }
    if (!tools->cache_opened) {
        open_blob_cache(tools);
    }
    kw_jit jit = {
        .code = tools->code,
        .compiler = compile && tools->compiler_found ? &tools->compiler : NULL,
        .cache = tools->cache,
        .log_folder = tools->log_folder,
    };
    pthread_mutex_unlock(&tools->lock);
    return jit;
}

const char *kw_build_tools_compiler(kw_build_tools *tools, const char **note) {
    pthread_mutex_lock(&tools->lock);
    if (!tools->compiler_sought) {
        find_compiler(tools);
    }
    pthread_mutex_unlock(&tools->lock);
    if (note) {
        *note = tools->compiler_note;
    }
    return tools->compiler_name;
}

kw_cache *kw_build_tools_cache(kw_build_tools *tools, const char **note) {
    pthread_mutex_lock(&tools->lock);
    if (!tools->cache_opened) {
        open_blob_cache(tools);
    }
    pthread_mutex_unlock(&tools->lock);
    if (note) {
        *note = tools->cache_note;
    }
    return tools->cache;
}
