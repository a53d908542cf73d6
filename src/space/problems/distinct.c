/* distinct.c: a hash table of problems, open addressing, at most half full. */
#include "space/problems/distinct.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static kw_problem plain(const kw_problem *problem) {
    kw_problem copy;
    memset(&copy, 0, sizeof copy);
    copy.op = problem->op;
    copy.dtype = problem->dtype;
    copy.layout = problem->layout;
    copy.ndim = problem->ndim;
    if (problem->op == KW_GEMM) {
        copy.gemm = problem->gemm;
    } else {
        copy.conv = problem->conv;
    }
    return copy;
}

/* The slot that holds the problem, or the free one where it belongs. */
static size_t find_problem_slot(const kw_distinct *set, const kw_problem *key) {
    size_t mask = set->slot_count - 1, slot = (size_t)kw_hash64(key, sizeof *key) & mask;
    while (set->slots[slot] && memcmp(&set->problems[set->slots[slot] - 1], key, sizeof *key)) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

static bool grow_slots_table(kw_distinct *set) {
    size_t capacity = set->capacity ? 2 * set->capacity : 256;
    kw_problem *problems = reallocarray(set->problems, capacity, sizeof *problems);
    if (!problems) {
        return false;
    }
    set->problems = problems;
    size_t *slots = calloc(2 * capacity, sizeof *slots);
    if (!slots) {
        return false;
    }
    free(set->slots);
    set->slots = slots;
    set->slot_count = 2 * capacity;
    set->capacity = capacity;
    for (size_t i = 0; i < set->count; i++) {
        slots[find_problem_slot(set, &problems[i])] = i + 1;
    }
    return true;
}

bool kw_distinct_add(kw_distinct *set, const kw_problem *problem, size_t *position) {
    if (set->count == set->capacity && !grow_slots_table(set)) {
        return false;
    }
    kw_problem key = plain(problem);
    size_t slot = find_problem_slot(set, &key);
    if (!set->slots[slot]) {
        set->problems[set->count++] = key;
        set->slots[slot] = set->count;
    }
    *position = set->slots[slot] - 1;
    return true;
}

size_t kw_distinct_find(const kw_distinct *set, const kw_problem *problem) {
    if (!set->count) {
        return SIZE_MAX;
    }
    kw_problem key = plain(problem);
    return set->slots[find_problem_slot(set, &key)] - 1; /* 0 for none wraps to SIZE_MAX */
}

void kw_distinct_drop(kw_distinct *set) {
    free(set->problems);
    free(set->slots);
    *set = (kw_distinct){0};
}
