/* hash_map.h: the hash table of this project: from keys to numbers. The keys stay with their owner. A value is a position in the owner's array, or
 * the address of an item that does not move; the table keeps it beside the key's 64-bit hash, so growing asks the owner nothing.
 *
 * Invariants, M1 to M4 kept by hash_map.c:
 *  M1  slot_count is 0 or a power of two, and at least a quarter of the slots is free, so each search ends;
 *  M2  a slot is free exactly when its hash is 0; a key whose hash is 0 is kept under 1;
 *  M3  from the home of a key (its hash modulo slot_count) to the slot that holds it no slot is free: removal moves later keys back;
 *  M4  no key is there twice. Whether two keys are one the owner says (same); without same the hash is the key.
 * Why none of Debian's: uthash puts 56 bytes into each item and cannot refer to positions of an array that moves; stb_ds ends the program
 * when memory is short. Readers may share a map that nobody changes. */
#ifndef KW_BASE_CONTAINER_HASH_MAP_H
#define KW_BASE_CONTAINER_HASH_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kw_hash_map_slot {
    uint64_t hash;
    uintptr_t value;
} kw_hash_map_slot;

/* A zeroed kw_hash_map is empty. */
typedef struct kw_hash_map {
    kw_hash_map_slot *slots;
    size_t count, slot_count;
} kw_hash_map;

/* What is looked for. same says whether the item that value stands for has this key, and is only asked where the hashes are equal. */
typedef struct kw_hash_map_key {
    uint64_t hash;
    bool (*same)(const struct kw_hash_map_key *key, uintptr_t value);
    const void *owner, *key; /* for same */
} kw_hash_map_key;

/* Room for count keys in all. false: no memory, and nothing has changed. */
bool kw_hash_map_reserve(kw_hash_map *map, size_t count);
/* Adds a key that is not there, for which there is room. */
void kw_hash_map_put(kw_hash_map *map, uint64_t hash, uintptr_t value);
/* Takes the entry out that was put with this hash and value. */
void kw_hash_map_remove(kw_hash_map *map, uint64_t hash, uintptr_t value);
/* Walks over all entries in no order: start with *at 0; false at the end. Whoever takes out the entry just given goes one back (--*at), since
 * a later one may have moved into its slot; then an entry may come twice, but none is left out. */
bool kw_hash_map_next(const kw_hash_map *map, size_t *at, uintptr_t *value);
void kw_hash_map_drop(kw_hash_map *map);

/* --- finding: here, so that a compiler can see same --- */

static inline uint64_t kw_hash_map_hash(uint64_t hash) {
    return hash ? hash : 1; /* M2 */
}

static inline size_t kw_hash_map_home(const kw_hash_map *map, uint64_t hash) {
    return (size_t)hash & (map->slot_count - 1);
}

static inline size_t kw_hash_map_behind(const kw_hash_map *map, size_t slot) {
    return (slot + 1) & (map->slot_count - 1);
}

/* The place of a key's value, which the caller may set; NULL when the key is not there. Valid until the next addition or removal. */
static inline uintptr_t *kw_hash_map_find(const kw_hash_map *map, const kw_hash_map_key *key) {
    uint64_t hash = kw_hash_map_hash(key->hash);
    size_t slot = kw_hash_map_home(map, hash);
    for (; map->slot_count && map->slots[slot].hash; slot = kw_hash_map_behind(map, slot)) {
        kw_hash_map_slot *at = &map->slots[slot];
        if (at->hash == hash && (!key->same || key->same(key, at->value))) {
            return &at->value;
        }
    }
    return NULL;
}

#endif
