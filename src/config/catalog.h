/* catalog.h: a list of configs, each once, in order of addition. File form: text, one config a line, '#' to the line's end is a comment. */
#ifndef KW_CONFIG_CATALOG_H
#define KW_CONFIG_CATALOG_H

#include "base/container/hash_map.h"
#include "config/config.h"

/* A zeroed kw_catalog is empty. */
typedef struct kw_catalog {
    kw_config *configs;
    size_t count, capacity;
    kw_hash_map positions; /* of each config in configs; internal */
} kw_catalog;

/* added (may be NULL) says whether it was new. */
kw_status kw_catalog_add(kw_catalog *catalog, const kw_config *config, bool *added, kw_error *err);
bool kw_catalog_has(const kw_catalog *catalog, const kw_config *config);
/* The position of a config, or SIZE_MAX. */
size_t kw_catalog_find(const kw_catalog *catalog, const kw_config *config);
/* Reads catalog text; name is used in error messages together with the line's number. */
kw_status kw_catalog_read(kw_catalog *catalog, const char *name, const char *text, size_t size, kw_error *err);
void kw_catalog_drop(kw_catalog *catalog);

#endif
