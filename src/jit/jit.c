/* jit.c: config -> blob. The cache answers first, else the compiler.
 *
 * A blob's key is SOURCE-COMPILER: 32 digits that hash the source text, the machine options, the kernel ABI and the entry format, then 16
 * that hash the compiler's identity and the options it is always given. With a compiler, only a blob of that very compiler answers, so
 * that a measurement is of what would be compiled today. Without one, any blob of that source will do, the youngest first: the same text
 * compiled by another compiler is still the same kernel. */
#include "jit/cache/cache.h"
#include "jit/toolchain/toolchain.h"

#include "base/container/arena.h"
#include "base/os/file.h"
#include "base/hash.h"

#include "prelude/kernel_abi.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_DIGITS = 32 };

/* SOURCE-, which every key of the source begins with. */
static kw_status source_key(char key[KW_CACHE_KEY_MAX + 1], const kw_text *source, const char *machine, kw_error *err) {
    kw_text all = {0};
    kw_text_addf(&all, "abi %d\nformat %d\nmachine %s\nsource %zu\n", KW_KERNEL_ABI, KW_CACHE_FORMAT, machine, source->size);
    kw_text_add_bytes(&all, source->data, source->size);
    kw_status status = all.failed ? kw_fail_memory(err, "a cache key") : KW_OK;
    if (!status) {
        kw_hash_text(key, all.data, all.size);
        key[SOURCE_DIGITS] = '-';
        key[SOURCE_DIGITS + 1] = 0;
    }
    kw_text_drop(&all);
    return status;
}

/* Appends COMPILER. */
static kw_status compiler_key(char key[KW_CACHE_KEY_MAX + 1], const kw_compiler *compiler, kw_error *err) {
    kw_text all = {0};
    char digits[KW_HASH_TEXT];
    kw_text_add(&all, compiler->identity);
    for (const char *const *option = compiler->toolchain->options(compiler); *option; option++) {
        kw_text_addf(&all, "\n%s", *option);
    }
    kw_status status = all.failed ? kw_fail_memory(err, "a cache key") : KW_OK;
    if (!status) {
        kw_hash_text(digits, all.data, all.size);
        memcpy(key + SOURCE_DIGITS + 1, digits, KW_BUILDER_DIGITS);
        key[SOURCE_DIGITS + 1 + KW_BUILDER_DIGITS] = 0;
    }
    kw_text_drop(&all);
    return status;
}

/* The source of a config and its key; without a compiler the key is the prefix. */
static kw_status make_key(const kw_jit *jit, const kw_config *config, kw_text *source, char key[KW_CACHE_KEY_MAX + 1], kw_error *err) {
    kw_status status = kw_source_make(source, config, jit->code, err);
    if (!status) {
        status = source_key(key, source, kw_source_options(config, jit->code), err);
    }
    if (!status && jit->compiler) {
        status = compiler_key(key, jit->compiler, err);
    }
    return status;
}

/* A whole shared object or nothing. */
static kw_status get_checked(const kw_jit *jit, const char *key, kw_blob *blob, kw_error *err) {
    const kw_toolchain *toolchain = kw_toolchain_of(jit->code.dialect);
    kw_status status = kw_cache_get(jit->cache, key, blob, err);
    if (!status && blob->data && (!toolchain || toolchain->check(blob, NULL))) {
        kw_blob_drop(blob);
    }
    return status;
}

/* Without a compiler: the builder's entry of the source, else the youngest one that is whole; key, the prefix of them all, becomes its own.
 * A bad one is out of the way after it was read, unless the folder cannot be written; then the search ends. */
static kw_status get_any(const kw_jit *jit, const char *builder, char key[KW_CACHE_KEY_MAX + 1], kw_blob *blob, kw_error *err) {
    char prefix[KW_CACHE_KEY_MAX + 1], last[KW_CACHE_KEY_MAX + 1] = "";
    kw_status status = KW_OK;
    memcpy(prefix, key, sizeof prefix);
    if (builder && strlen(builder) == KW_BUILDER_DIGITS) {
        snprintf(key, KW_CACHE_KEY_MAX + 1, "%.*s%s", SOURCE_DIGITS + 1, prefix, builder);
        status = kw_cache_has(jit->cache, key) ? get_checked(jit, key, blob, err) : KW_OK; /* asking refuses what is no key */
    }
    while (!status && !blob->data && kw_cache_youngest(jit->cache, prefix, key) && strcmp(key, last)) {
        status = get_checked(jit, key, blob, err);
        memcpy(last, key, sizeof last);
    }
    return status;
}

/* Keeps source and messages of a failed compile as NAME and NAME with .log; path gets the log's. false when it cannot. */
static bool keep_log(const kw_jit *jit, const kw_compile *compile, const kw_compile_result *result, const char *reason, kw_text *path) {
    kw_text log = {0};
    kw_text_addf(path, "%s/%s", jit->log_folder, compile->name);
    kw_text_addf(&log, "%s\n%s\n%s", reason, kw_text_string(&result->command), kw_text_string(&result->messages));
    bool good = !path->failed && !log.failed && !kw_folder_make(jit->log_folder, NULL) &&
                !kw_file_replace(path->data, compile->source, compile->size, 0600, NULL);
    if (good) {
        path->size -= 2; /* ".c" */
        kw_text_add(path, ".log");
        good = !path->failed && !kw_file_replace(path->data, log.data, log.size, 0600, NULL);
    }
    kw_text_drop(&log);
    return good;
}

static kw_status compile_source(const kw_jit *jit, const kw_config *config, const kw_text *source, const char *key,
                                kw_compile_result *result, kw_error *err) {
    char name[SOURCE_DIGITS + 3];
    kw_error why = {0};
    snprintf(name, sizeof name, "%.*s.c", SOURCE_DIGITS, key);
    kw_compile compile = {.compiler = jit->compiler,
                          .source = source->data,
                          .size = source->size,
                          .machine = kw_source_options(config, jit->code),
                          .name = name};
    kw_status status = jit->compiler->toolchain->compile(&compile, result, &why);
    if (!status) {
        return KW_OK;
    }
    kw_text path = {0};
    bool stopped = kw_stop_requested(jit->compiler->stop); /* then the source is not at fault */
    bool kept = status == KW_FAILED && !stopped && jit->log_folder && *jit->log_folder && keep_log(jit, &compile, result, why.text, &path);
    kw_fail(err, status, "%.*s%s%s", kept ? 320 : 500, why.text, kept ? "; see " : "", kept ? path.data : "");
    kw_text_drop(&path);
    return status;
}

static kw_status not_cached(const kw_config *config, kw_error *err) {
    char text[KW_CONFIG_TEXT_MAX];
    kw_config_print(text, sizeof text, config);
    return kw_fail(err, KW_MISSING, "no compiler, and the cache does not hold %s; install gcc or clang", text);
}

/* builder: whose blob is preferred where there is no compiler; may be NULL. */
static kw_status take_blob(const kw_jit *jit, const kw_config *config, const char *builder, kw_blob *blob, kw_jit_result *result,
                           kw_error *err) {
    kw_text source = {0};
    kw_compile_result compiled = {0};
    char key[KW_CACHE_KEY_MAX + 1];
    *blob = (kw_blob){0};
    *result = (kw_jit_result){.cached = true};
    if (config->family->builtin) {
        return KW_OK;
    }
    kw_status status = make_key(jit, config, &source, key, err);
    if (!status && jit->cache) {
        status = jit->compiler ? get_checked(jit, key, blob, err) : get_any(jit, builder, key, blob, err);
    }
    if (status || blob->data) {
        goto out;
    }
    result->cached = false;
    if (!jit->compiler) {
        status = not_cached(config, err);
        goto out;
    }
    status = compile_source(jit, config, &source, key, &compiled, err);
    result->cpu_ns = compiled.cpu_ns;
    if (status) {
        goto out;
    }
    *blob = compiled.blob;
    compiled.blob = (kw_blob){0};
    if (jit->cache) {
        kw_cache_put(jit->cache, key, blob, NULL); /* a full disk costs the next process a compile, and this one nothing */
    }
out:
    if (!status) {
        memcpy(result->key, key, sizeof result->key);
        snprintf(result->builder, sizeof result->builder, "%.*s", KW_BUILDER_DIGITS, key + SOURCE_DIGITS + 1);
    }
    kw_compile_result_drop(&compiled);
    kw_text_drop(&source);
    return status;
}

kw_status kw_jit_blob(const kw_jit *jit, const kw_config *config, kw_blob *blob, kw_jit_result *result, kw_error *err) {
    return take_blob(jit, config, NULL, blob, result, err);
}

kw_status kw_jit_known(const kw_jit *jit, const kw_config *config, const char *builder, kw_blob *blob, kw_jit_result *result,
                       kw_error *err) {
    kw_jit alone = {.code = jit->code, .cache = jit->cache};
    return take_blob(&alone, config, builder, blob, result, err);
}
