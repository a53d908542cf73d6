/* catalog.c: configs in order of addition, with an open-addressed hash table of positions so that each is there once. */
#include "config/catalog.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static uint64_t config_hash(const kw_config *config) {
    uint64_t key[2] = {kw_hash64(config->family->name, strlen(config->family->name)), (uint64_t)config->op << 32 | (uint64_t)config->dtype};
    return kw_hash64(key, sizeof key) ^ kw_hash64(config->axis, sizeof *config->axis * (size_t)config->family->axis_count);
}

static bool same_config(const kw_config *a, const kw_config *b) {
    return a->family == b->family && a->op == b->op && a->dtype == b->dtype &&
           !memcmp(a->axis, b->axis, sizeof *a->axis * (size_t)a->family->axis_count);
}

/* The slot that holds the config, or the free one where it belongs. */
static size_t find_config_slot(const kw_catalog *catalog, const kw_config *config) {
    size_t slot = config_hash(config) & (catalog->slot_count - 1);
    while (catalog->slots[slot] && !same_config(&catalog->configs[catalog->slots[slot] - 1], config)) {
        slot = (slot + 1) & (catalog->slot_count - 1);
    }
    return slot;
}

static bool grow_catalog(kw_catalog *catalog) {
    size_t capacity = catalog->capacity ? 2 * catalog->capacity : 64;
    kw_config *configs = realloc(catalog->configs, capacity * sizeof *configs);
    if (!configs) {
        return false;
    }
    catalog->configs = configs;
    uint32_t *slots = calloc(2 * capacity, sizeof *slots);
    if (!slots) {
        return false;
    }
    free(catalog->slots);
    catalog->slots = slots;
    catalog->slot_count = 2 * capacity;
    catalog->capacity = capacity;
    for (size_t i = 0; i < catalog->count; i++) {
        catalog->slots[find_config_slot(catalog, &catalog->configs[i])] = (uint32_t)i + 1;
    }
    return true;
}

kw_status kw_catalog_add(kw_catalog *catalog, const kw_config *config, bool *added, kw_error *err) {
    if (catalog->count == catalog->capacity && (catalog->capacity > UINT32_MAX / 4 || !grow_catalog(catalog))) {
        return kw_fail_memory(err, "a catalog of configs");
    }
    size_t slot = find_config_slot(catalog, config);
    bool is_new = !catalog->slots[slot];
    if (is_new) {
        catalog->configs[catalog->count++] = *config;
        catalog->slots[slot] = (uint32_t)catalog->count;
    }
    if (added) {
        *added = is_new;
    }
    return KW_OK;
}

size_t kw_catalog_find(const kw_catalog *catalog, const kw_config *config) {
    uint32_t slot = catalog->slot_count ? catalog->slots[find_config_slot(catalog, config)] : 0;
    return slot ? slot - 1 : SIZE_MAX;
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
    free(catalog->slots);
    *catalog = (kw_catalog){0};
}
