/* folds.c: groups of problem groups dealt to folds. The order is that of seeded hashes, so it depends on what the data set holds and on
 * the seed alone. */
#include "learn/data/split/folds.h"

#include "base/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS_MAX = 64 };

const char *kw_grouping_name(kw_grouping grouping) {
    return grouping == KW_BY_FAMILY ? "family" : "shape";
}

uint64_t kw_fold_group(const kw_problem_group *problem_group, kw_grouping grouping) {
    if (grouping == KW_BY_FAMILY) {
        return kw_hash64(problem_group->bucket, strlen(problem_group->bucket));
    }
    char text[KW_PROBLEM_TEXT_MAX];
    kw_problem plain = problem_group->problem;
    bool gemm = plain.op == KW_GEMM;
    plain.dtype = KW_FP32;
    plain.op = gemm ? KW_GEMM : KW_CONV_FWD;
    plain.layout = gemm ? KW_RCR : KW_CHANNELS_LAST;
    kw_problem_print(text, sizeof text, &plain);
    return kw_hash64(text, strlen(text));
}

typedef struct member {
    uint64_t order, group;
    size_t problem_group;
} member;

static int by_fold_order(const void *left, const void *right) {
    const member *a = left, *b = right;
    if (a->order != b->order) {
        return a->order < b->order ? -1 : 1;
    }
    if (a->group != b->group) {
        return a->group < b->group ? -1 : 1;
    }
    return (a->problem_group > b->problem_group) - (a->problem_group < b->problem_group);
}

kw_status kw_folds_draw(int32_t *fold, int32_t *used, const kw_dataset *dataset, kw_grouping grouping, int32_t folds, uint64_t seed,
                        kw_error *err) {
    if (folds < 2 || folds > FOLDS_MAX) {
        return kw_fail(err, KW_ILLEGAL, "%d folds; there must be 2 to %d", (int)folds, FOLDS_MAX);
    }
    size_t count = dataset->problem_group_count, load[FOLDS_MAX] = {0};
    member *members = calloc(count + 1, sizeof *members);
    if (!members) {
        return kw_fail_memory(err, "the folds");
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t group = kw_fold_group(&dataset->problem_groups[i], grouping), key[2] = {seed, group};
        members[i] = (member){.order = kw_hash64(key, sizeof key), .group = group, .problem_group = i};
    }
    qsort(members, count, sizeof *members, by_fold_order);
    *used = 0;
    for (size_t i = 0; i < count;) {
        int32_t least = 0;
        for (int32_t f = 1; f < folds; f++) {
            least = load[f] < load[least] ? f : least;
        }
        *used += !load[least];
        for (uint64_t group = members[i].group; i < count && members[i].group == group; i++) {
            fold[members[i].problem_group] = least;
            load[least]++;
        }
    }
    assert(*used <= folds && (*used > 0 || !count));
    free(members);
    return KW_OK;
}
