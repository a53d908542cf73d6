/* split.c: lists against each other: repeats within one, what two share, and which part of all problems a problem belongs to. */
#include "base/hash.h"
#include "space/problems/distinct.h"

#include <kernelwright_tune.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

kw_status kw_problems_deduplicate(size_t *first, size_t *distinct, const kw_problem *problems, size_t count, kw_error *err) {
    if (count && (!first || !problems)) {
        return kw_fail(err, KW_ILLEGAL, "kw_problems_deduplicate: %s is NULL", first ? "problems" : "first");
    }
    kw_distinct set = {0};
    size_t *origin = calloc(count ? count : 1, sizeof *origin); /* of the different problems: where the list has them first */
    kw_status status = origin ? KW_OK : kw_fail_memory(err, "the repeats of a problem list");
    for (size_t i = 0; i < count && !status; i++) {
        size_t before = set.count, position;
        if (!kw_distinct_add(&set, &problems[i], &position)) {
            status = kw_fail_memory(err, "the repeats of a problem list");
        } else {
            origin[position] = position == before ? i : origin[position];
            first[i] = origin[position];
        }
    }
    if (!status && distinct) {
        *distinct = set.count;
    }
    free(origin);
    kw_distinct_drop(&set);
    return status;
}

bool kw_problem_in_test(const kw_problem *problem, double share) {
    char text[KW_PROBLEM_TEXT_MAX];
    size_t size = kw_problem_print(text, sizeof text, problem);
    uint64_t hash = kw_hash64(text, size);
    return ldexp((double)(hash >> 11), -53) < share;
}

kw_status kw_problems_disjoint(const kw_problem *a, size_t a_count, const kw_problem *b, size_t b_count, kw_error *err) {
    if ((a_count && !a) || (b_count && !b)) {
        return kw_fail(err, KW_ILLEGAL, "kw_problems_disjoint: a list is NULL, but its count is not 0");
    }
    kw_distinct others = {0}, shared = {0};
    kw_status status = KW_OK;
    size_t position;
    for (size_t i = 0; i < b_count && !status; i++) {
        status = kw_distinct_add(&others, &b[i], &position) ? KW_OK : kw_fail_memory(err, "what two problem lists share");
    }
    for (size_t i = 0; i < a_count && !status; i++) {
        bool both = kw_distinct_find(&others, &a[i]) != SIZE_MAX;
        status = !both || kw_distinct_add(&shared, &a[i], &position) ? KW_OK : kw_fail_memory(err, "what two problem lists share");
    }
    if (!status && shared.count) {
        char text[KW_PROBLEM_TEXT_MAX];
        kw_problem_print(text, sizeof text, &shared.problems[0]);
        status = kw_fail(err, KW_FAILED, "the lists share %zu %s, the first is \"%.300s\"; take it out of one, or split by --part",
                         shared.count, shared.count == 1 ? "problem" : "different problems", text);
    }
    kw_distinct_drop(&others);
    kw_distinct_drop(&shared);
    return status;
}
