/* distinct.h: which problems of a list are the same. Problems are compared by value, whatever bytes a caller left in the part of the union
 * that is not used. */
#ifndef KW_SPACE_PROBLEMS_DISTINCT_H
#define KW_SPACE_PROBLEMS_DISTINCT_H

#include "base/container/hash_map.h"
#include "base/status.h"

/* A set of problems; a zeroed one is empty. */
typedef struct kw_distinct {
    kw_problem *problems; /* in order of first appearance */
    size_t count, capacity;
    kw_hash_map positions; /* of each in problems */
} kw_distinct;

/* Adds a problem where it is not there yet; *position gets its place in problems: the old count for a new one. false for want of memory. */
bool kw_distinct_add(kw_distinct *set, const kw_problem *problem, size_t *position);
/* The position of a problem, or SIZE_MAX. */
size_t kw_distinct_find(const kw_distinct *set, const kw_problem *problem);
void kw_distinct_drop(kw_distinct *set);

#endif
