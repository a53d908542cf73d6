/* name_table.c: an open-addressed table over an array of texts. */
#include "report/data/name_table.h"

#include "base/hash.h"

#include <string.h>

bool kw_arena_array_grow(kw_arena *arena, void **items, size_t *capacity, size_t count, size_t size) {
    if (count < *capacity) {
        return true;
    }
    size_t wanted = *capacity ? *capacity * 2 : 64;
    void *grown = kw_arena_array(arena, wanted, size);
    if (!grown) {
        return false;
    }
    if (count) {
        memcpy(grown, *items, count * size);
    }
    *items = grown;
    *capacity = wanted;
    return true;
}

/* The slot that holds the text, or the free one where it belongs. */
static uint32_t *slot_of(const kw_name_table *names, const char *text) {
    size_t at = (size_t)kw_hash64(text, strlen(text)) & (names->slot_count - 1);
    while (names->slots[at] && strcmp(names->text[names->slots[at] - 1], text) != 0) {
        at = (at + 1) & (names->slot_count - 1);
    }
    return &names->slots[at];
}

static bool grow_slots(kw_name_table *names, kw_arena *arena) {
    if (names->count * 2 < names->slot_count) {
        return true;
    }
    size_t wanted = names->slot_count ? names->slot_count * 2 : 128;
    uint32_t *slots = kw_arena_array(arena, wanted, sizeof *slots);
    if (!slots) {
        return false;
    }
    names->slots = slots;
    names->slot_count = wanted;
    for (size_t i = 0; i < names->count; i++) {
        *slot_of(names, names->text[i]) = (uint32_t)i + 1;
    }
    return true;
}

uint32_t kw_name_table_find(const kw_name_table *names, const char *text) {
    return names->slot_count ? *slot_of(names, text) - 1 : UINT32_MAX;
}

uint32_t kw_name_table_add(kw_name_table *names, kw_arena *arena, const char *text, bool *added) {
    if (added) {
        *added = false;
    }
    void *items = names->text;
    if (!grow_slots(names, arena) || names->count >= UINT32_MAX - 1 ||
        !kw_arena_array_grow(arena, &items, &names->capacity, names->count, sizeof *names->text)) {
        return UINT32_MAX;
    }
    names->text = items;
    uint32_t *slot = slot_of(names, text);
    if (!*slot) {
        char *copy = kw_arena_copy(arena, text, strlen(text));
        if (!copy) {
            return UINT32_MAX;
        }
        names->text[names->count++] = copy;
        *slot = (uint32_t)names->count;
        if (added) {
            *added = true;
        }
    }
    return *slot - 1;
}
