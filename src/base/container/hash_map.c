/* hash_map.c: open addressing with linear probing; the invariants M1 to M4 stand in hash_map.h. */
#include "base/container/hash_map.h"

#include <assert.h>
#include <stdlib.h>

enum { FIRST_SLOTS = 32 };

static void put_slot(kw_hash_map *map, kw_hash_map_slot entry) {
    size_t slot = kw_hash_map_home(map, entry.hash);
    while (map->slots[slot].hash) {
        slot = kw_hash_map_behind(map, slot);
    }
    map->slots[slot] = entry;
    map->count++;
}

bool kw_hash_map_reserve(kw_hash_map *map, size_t count) {
    size_t wanted = map->slot_count ? map->slot_count : FIRST_SLOTS;
    if (count > SIZE_MAX / (4 * sizeof *map->slots)) {
        return false;
    }
    while (wanted - wanted / 4 < count) { /* M1 */
        wanted *= 2;
    }
    if (wanted == map->slot_count) {
        return true;
    }
    kw_hash_map larger = {calloc(wanted, sizeof *larger.slots), 0, wanted};
    if (!larger.slots) {
        return false;
    }
    for (size_t i = 0; i < map->slot_count; i++) {
        if (map->slots[i].hash) {
            put_slot(&larger, map->slots[i]);
        }
    }
    assert(larger.count == map->count);
    free(map->slots);
    *map = larger;
    return true;
}

void kw_hash_map_put(kw_hash_map *map, uint64_t hash, uintptr_t value) {
    assert(map->count < map->slot_count - map->slot_count / 4); /* M1: room was reserved */
    put_slot(map, (kw_hash_map_slot){kw_hash_map_hash(hash), value});
}

void kw_hash_map_remove(kw_hash_map *map, uint64_t hash, uintptr_t value) {
    hash = kw_hash_map_hash(hash);
    size_t hole = kw_hash_map_home(map, hash);
    while (map->slots[hole].hash != hash || map->slots[hole].value != value) {
        assert(map->slots[hole].hash); /* it was put */
        hole = kw_hash_map_behind(map, hole);
    }
    /* M3: a later key moves into the hole unless its home lies behind the hole. */
    for (size_t slot = kw_hash_map_behind(map, hole); map->slots[slot].hash; slot = kw_hash_map_behind(map, slot)) {
        size_t home = kw_hash_map_home(map, map->slots[slot].hash), mask = map->slot_count - 1;
        if (((slot - home) & mask) >= ((slot - hole) & mask)) {
            map->slots[hole] = map->slots[slot];
            hole = slot;
        }
    }
    map->slots[hole] = (kw_hash_map_slot){0};
    map->count--;
}

bool kw_hash_map_next(const kw_hash_map *map, size_t *at, uintptr_t *value) {
    while (*at < map->slot_count) {
        const kw_hash_map_slot *slot = &map->slots[(*at)++];
        if (slot->hash) {
            *value = slot->value;
            return true;
        }
    }
    return false;
}

void kw_hash_map_drop(kw_hash_map *map) {
    free(map->slots);
    *map = (kw_hash_map){0};
}
