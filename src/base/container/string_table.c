/* string_table.c: a map of positions over an array of texts. */
#include "base/container/string_table.h"

#include "base/container/array.h"
#include "base/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool same_text(const kw_hash_map_key *key, uintptr_t value) {
    const kw_string_table *table = key->owner;
    return !strcmp(table->text[value], key->key);
}

static kw_hash_map_key text_key(const kw_string_table *table, const char *text) {
    return (kw_hash_map_key){kw_hash64(text, strlen(text)), same_text, table, text};
}

uint32_t kw_string_table_find(const kw_string_table *table, const char *text) {
    kw_hash_map_key key = text_key(table, text);
    const uintptr_t *found = kw_hash_map_find(&table->map, &key);
    return found ? (uint32_t)*found : UINT32_MAX;
}

uint32_t kw_string_table_add(kw_string_table *table, kw_arena *arena, const char *text, bool *added) {
    kw_hash_map_key key = text_key(table, text);
    const uintptr_t *found = kw_hash_map_find(&table->map, &key);
    assert(table->count == table->map.count);
    if (added) {
        *added = false;
    }
    if (found) {
        return (uint32_t)*found;
    }
    if (table->count >= UINT32_MAX - 1 || !KW_ARRAY_RESERVE(table->text, table->capacity, table->count + 1) ||
        !kw_hash_map_reserve(&table->map, table->count + 1)) {
        return UINT32_MAX;
    }
    const char *copy = kw_arena_copy(arena, text, strlen(text));
    if (!copy) {
        return UINT32_MAX;
    }
    kw_hash_map_put(&table->map, key.hash, table->count);
    table->text[table->count++] = copy;
    if (added) {
        *added = true;
    }
    return (uint32_t)table->count - 1;
}

void kw_string_table_drop(kw_string_table *table) {
    free(table->text);
    kw_hash_map_drop(&table->map);
    *table = (kw_string_table){0};
}
