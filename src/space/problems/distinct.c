/* distinct.c: problems in order of first appearance, with a map of their positions. */
#include "space/problems/distinct.h"

#include "base/container/array.h"
#include "base/hash.h"
#include "problem/identity.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool is_problem(const kw_hash_map_key *key, uintptr_t value) {
    const kw_distinct *set = key->owner;
    return !memcmp(&set->problems[value], key->key, sizeof *set->problems);
}

static kw_hash_map_key problem_key(const kw_distinct *set, const kw_problem *plain) {
    return (kw_hash_map_key){kw_hash64(plain, sizeof *plain), is_problem, set, plain};
}

bool kw_distinct_add(kw_distinct *set, const kw_problem *problem, size_t *position) {
    kw_problem copy;
    kw_problem_normalize(&copy, problem);
    kw_hash_map_key key = problem_key(set, &copy);
    const uintptr_t *found = kw_hash_map_find(&set->positions, &key);
    assert(set->count == set->positions.count);
    if (found) {
        *position = *found;
        return true;
    }
    if (!KW_ARRAY_RESERVE(set->problems, set->capacity, set->count + 1) || !kw_hash_map_reserve(&set->positions, set->count + 1)) {
        return false;
    }
    *position = set->count;
    kw_hash_map_put(&set->positions, key.hash, set->count);
    set->problems[set->count++] = copy;
    return true;
}

size_t kw_distinct_find(const kw_distinct *set, const kw_problem *problem) {
    kw_problem copy;
    kw_problem_normalize(&copy, problem);
    kw_hash_map_key key = problem_key(set, &copy);
    const uintptr_t *found = kw_hash_map_find(&set->positions, &key);
    return found ? *found : SIZE_MAX;
}

void kw_distinct_drop(kw_distinct *set) {
    free(set->problems);
    kw_hash_map_drop(&set->positions);
    *set = (kw_distinct){0};
}
