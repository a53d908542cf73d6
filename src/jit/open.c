/* open.c: see open.h. */
#include "jit/open.h"

#include "base/os/temp_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The settings' own word, else KW_CC where kernels are compiled for this host; NULL: the usual ones. */
static const char *wanted_compiler(kw_code code, const kw_jit_settings *settings) {
    const char *cc = kw_code_is_for_host(code) && settings->cc && *settings->cc ? settings->cc : NULL;
    return settings->compiler ? settings->compiler : cc;
}

bool kw_jit_find_compiler(kw_jit_handle *handle, const kw_jit_settings *settings) {
    const char *wanted = wanted_compiler(handle->jit.code, settings);
    kw_error why = {0};
    if (wanted && !*wanted) {
        snprintf(handle->compiler_note, sizeof handle->compiler_note, "the options ask for none");
        return false;
    }
    kw_temp_folder_sweep(); /* of compiles whose processes were killed */
    if (kw_compiler_find(&handle->compiler, wanted, handle->jit.code, &why)) {
        snprintf(handle->compiler_note, sizeof handle->compiler_note, "%.250s", why.text);
        return false;
    }
    handle->compiler.stop = settings->stop;
    handle->jit.compiler = &handle->compiler;
    if (settings->data && *settings->data && !handle->log_folder) {
        size_t size = strlen(settings->data) + sizeof "/logs";
        handle->log_folder = malloc(size);
        if (handle->log_folder) { /* else logs are not kept */
            snprintf(handle->log_folder, size, "%s/logs", settings->data);
        }
        handle->jit.log_folder = handle->log_folder;
    }
    return true;
}

bool kw_jit_open_cache(kw_jit_handle *handle, const char *folder) {
    kw_error why = {0};
    if (!folder || !*folder) {
        snprintf(handle->cache_note, sizeof handle->cache_note, "no cache folder is set (KW_CACHE_DIR, XDG_CACHE_HOME, HOME)");
        return false;
    }
    if (kw_cache_open(&handle->jit.cache, folder, handle->cache_note, &why)) {
        snprintf(handle->cache_note, sizeof handle->cache_note, "%.250s", why.text);
        handle->jit.cache = NULL;
    }
    return handle->jit.cache != NULL;
}

void kw_jit_open(kw_jit_handle *handle, kw_code code, const kw_jit_settings *settings) {
    *handle = (kw_jit_handle){.jit = {.code = code}};
    kw_jit_find_compiler(handle, settings);
    kw_jit_open_cache(handle, settings->cache);
}

void kw_jit_close(kw_jit_handle *handle) {
    kw_cache_close(&handle->jit.cache);
    free(handle->log_folder);
    *handle = (kw_jit_handle){0};
}
