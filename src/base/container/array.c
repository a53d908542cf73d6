/* array.c: growth by half, so that adding n items one by one copies fewer than 3 n, and a block that grew fits in what smaller ones left. */
#include "base/container/array.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 16 };

/* The next capacity; 0 when the array would not fit in memory. */
static size_t larger_capacity(size_t capacity, size_t count, size_t size) {
    size_t wanted = capacity > SIZE_MAX - capacity / 2 ? SIZE_MAX : capacity + capacity / 2;
    wanted = wanted < FIRST_CAPACITY ? FIRST_CAPACITY : wanted;
    wanted = wanted < count ? count : wanted;
    return wanted > PTRDIFF_MAX / size ? 0 : wanted;
}

bool kw_array_reserve(void *items, size_t *capacity, size_t count, size_t size) {
    void *old, *grown;
    if (count <= *capacity) {
        return true;
    }
    memcpy(&old, items, sizeof old);
    assert(!old == !*capacity && size);
    size_t wanted = larger_capacity(*capacity, count, size);
    grown = wanted ? realloc(old, wanted * size) : NULL;
    if (!grown) {
        return false;
    }
    memcpy(items, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}

bool kw_arena_reserve(kw_arena *arena, void *items, size_t *capacity, size_t count, size_t size) {
    void *old, *grown;
    if (count <= *capacity) {
        return true;
    }
    memcpy(&old, items, sizeof old);
    assert(!old == !*capacity && size);
    size_t wanted = larger_capacity(*capacity, count, size);
    grown = wanted ? kw_arena_array(arena, wanted, size) : NULL;
    if (!grown) {
        return false;
    }
    if (old) {
        memcpy(grown, old, *capacity * size);
    }
    memcpy(items, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}

void kw_array_trim(void *items, size_t *capacity, size_t count, size_t size) {
    void *old, *smaller;
    assert(count <= *capacity);
    memcpy(&old, items, sizeof old);
    smaller = count && count < *capacity ? realloc(old, count * size) : NULL;
    if (smaller) {
        memcpy(items, &smaller, sizeof smaller);
        *capacity = count;
    }
}
