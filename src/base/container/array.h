/* array.h: growing arrays. An array is three members of its owner: items (a pointer), count, and capacity; the owner adds with
 *
 *     if (!KW_ARRAY_RESERVE(list->items, list->capacity, list->count + 1)) { return kw_fail_memory(err, "a list"); }
 *     list->items[list->count++] = item;
 *
 * Invariants: items is NULL exactly while capacity is 0; capacity never shrinks but by kw_array_trim; when there is no memory nothing has
 * changed. The owner frees items. An array that lives in an arena grows by kw_arena_reserve instead, and what it grows out of stays behind. */
#ifndef KW_BASE_CONTAINER_ARRAY_H
#define KW_BASE_CONTAINER_ARRAY_H

#include "base/container/arena.h"

#include <stdbool.h>

/* Room for at least count items: true at once where there is, else half as much again is allocated. false: no memory. */
#define KW_ARRAY_RESERVE(items, capacity, count) kw_array_reserve(&(items), &(capacity), count, sizeof *(items))
#define KW_ARENA_RESERVE(arena, items, capacity, count) kw_arena_reserve(arena, &(items), &(capacity), count, sizeof *(items))

/* items: the address of the pointer; size: of an item. For arrays whose pointer is not at hand by name; else use the macros. */
bool kw_array_reserve(void *items, size_t *capacity, size_t count, size_t size);
bool kw_arena_reserve(kw_arena *arena, void *items, size_t *capacity, size_t count, size_t size);
/* Gives back what is not used. Where a smaller block cannot be had the old one serves. */
void kw_array_trim(void *items, size_t *capacity, size_t count, size_t size);

#endif
