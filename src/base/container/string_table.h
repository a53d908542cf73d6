/* string_table.h: texts, each once, numbered in the order of their coming: a map from strings to numbers and back. The texts live in the
 * arena that is given with each addition, the table on the heap. */
#ifndef KW_BASE_CONTAINER_STRING_TABLE_H
#define KW_BASE_CONTAINER_STRING_TABLE_H

#include "base/container/arena.h"
#include "base/container/hash_map.h"

/* A zeroed one is empty. text[i] is that of number i, for i below count. */
typedef struct kw_string_table {
    const char **text;
    size_t count, capacity;
    kw_hash_map map;
} kw_string_table;

/* The number of a text; UINT32_MAX when there is no memory. added (may be NULL) says whether it was new. */
uint32_t kw_string_table_add(kw_string_table *table, kw_arena *arena, const char *text, bool *added);
/* The number of a text; UINT32_MAX when it was never added. */
uint32_t kw_string_table_find(const kw_string_table *table, const char *text);
void kw_string_table_drop(kw_string_table *table);

#endif
