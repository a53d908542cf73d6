/* catalog.c: configs in order of addition, with a map of their positions so that each is there once. */
#include "config/catalog.h"

#include "config/config.h"

#include "base/container/array.h"
#include "base/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static uint64_t config_hash(const kw_config *config) {
    uint64_t key[2] = {kw_hash64(config->family->name, strlen(config->family->name)), (uint64_t)config->op << 32 | (uint64_t)config->dtype};
    return kw_hash64(key, sizeof key) ^ kw_hash64(config->axis, sizeof *config->axis * (size_t)config->family->axis_count);
}

static bool is_config(const kw_hash_map_key *key, uintptr_t value) {
    const kw_catalog *catalog = key->owner;
    return kw_config_equal(&catalog->configs[value], key->key);
}

static kw_hash_map_key config_key(const kw_catalog *catalog, const kw_config *config) {
    return (kw_hash_map_key){config_hash(config), is_config, catalog, config};
}

kw_status kw_catalog_add(kw_catalog *catalog, const kw_config *config, bool *added, kw_error *err) {
    kw_hash_map_key key = config_key(catalog, config);
    bool is_new = !kw_hash_map_find(&catalog->positions, &key);
    assert(catalog->count == catalog->positions.count);
    if (is_new) {
        if (!KW_ARRAY_RESERVE(catalog->configs, catalog->capacity, catalog->count + 1) ||
            !kw_hash_map_reserve(&catalog->positions, catalog->count + 1)) {
            return kw_fail_memory(err, "a catalog of configs");
        }
        kw_hash_map_put(&catalog->positions, key.hash, catalog->count);
        catalog->configs[catalog->count++] = *config;
    }
    if (added) {
        *added = is_new;
    }
    return KW_OK;
}

size_t kw_catalog_find(const kw_catalog *catalog, const kw_config *config) {
    kw_hash_map_key key = config_key(catalog, config);
    const uintptr_t *position = kw_hash_map_find(&catalog->positions, &key);
    return position ? *position : SIZE_MAX;
}

bool kw_catalog_has(const kw_catalog *catalog, const kw_config *config) {
    return kw_catalog_find(catalog, config) != SIZE_MAX;
}

kw_status kw_catalog_read(kw_catalog *catalog, const char *name, const char *text, size_t size, kw_error *err) {
    kw_scan scan = {text, text + size};
    kw_word line;
    for (int number = 1; kw_scan_line(&scan, &line); number++) {
        const char *comment = memchr(line.at, '#', line.size);
        size_t length = comment ? (size_t)(comment - line.at) : line.size;
        kw_scan words = {line.at, line.at + length};
        kw_word word;
        if (!kw_scan_word(&words, &word)) {
            continue;
        }
        char copy[KW_CONFIG_TEXT_MAX];
        if (length >= sizeof copy || memchr(line.at, 0, length)) {
            return kw_fail(err, KW_MALFORMED, "%s:%d: not a config: %s", name, number,
                           length >= sizeof copy ? "the line is too long" : "it has a zero byte");
        }
        memcpy(copy, line.at, length);
        copy[length] = 0;
        kw_config config;
        kw_error inner = {0};
        kw_status status = kw_config_parse(&config, copy, &inner);
        if (status) {
            return kw_fail(err, status, "%s:%d: %s", name, number, inner.text);
        }
        status = kw_catalog_add(catalog, &config, NULL, err);
        if (status) {
            return status;
        }
    }
    return KW_OK;
}

void kw_catalog_drop(kw_catalog *catalog) {
    free(catalog->configs);
    kw_hash_map_drop(&catalog->positions);
    *catalog = (kw_catalog){0};
}
