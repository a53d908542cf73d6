/* name_table.h: texts, each once, numbered in the order of their coming. Internal to this folder. */
#ifndef KW_REPORT_DATA_NAME_TABLE_H
#define KW_REPORT_DATA_NAME_TABLE_H

#include "base/container/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* A zeroed kw_name_table is empty. Everything lives in the arena that is given with each addition. */
typedef struct kw_name_table {
    const char **text;
    uint32_t *slots; /* hash table of numbers + 1 */
    size_t count, capacity, slot_count;
} kw_name_table;

/* The number of a text; UINT32_MAX when there is no memory. added (may be NULL) says whether it was new. */
uint32_t kw_name_table_add(kw_name_table *names, kw_arena *arena, const char *text, bool *added);
/* The number of a text, UINT32_MAX when it was never added. */
uint32_t kw_name_table_find(const kw_name_table *names, const char *text);

/* Makes room for one element more of an array in an arena; what it grows out of stays behind in the arena. false: no memory. */
bool kw_arena_array_grow(kw_arena *arena, void **items, size_t *capacity, size_t count, size_t size);

#endif
