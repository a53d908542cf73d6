/* set_cover.h: a small set of kernels that is nearly as good as all of them, for the problem groups of one operation and type. Greedy:
 * each step takes the kernel that adds most; what it gains falls with every step, so the greedy set keeps at least 1 - 1/e of what the
 * best set of its size adds, and in practice nearly all. */
#ifndef KW_PRUNE_SET_COVER_H
#define KW_PRUNE_SET_COVER_H

#include "config/catalog.h"
#include "learn/data/selection.h"

typedef struct kw_set_cover kw_set_cover;

/* data set and marks outlive it. KW_FAILED when the operation and type have no problem group with a good kernel. */
kw_status kw_set_cover_open(kw_set_cover **cover, const kw_dataset *dataset, const kw_group_oracle *oracles, kw_op op, kw_dtype dtype,
                            kw_error *err);
void kw_set_cover_close(kw_set_cover **cover);
/* Kernels that are good in some problem group, compiled-in ones left out. */
const kw_catalog *kw_set_cover_kernels(const kw_set_cover *cover);
size_t kw_set_cover_problem_groups(const kw_set_cover *cover);

/* Which problem groups count: those whose fold is (or is not) the given one; fold NULL: all. */
typedef struct kw_set_cover_subset {
    const int32_t *fold;
    int32_t which;
    bool others;
} kw_set_cover_subset;

/* Chooses kernels, the most useful first, until both shares are kept on the part or nothing more helps; then drops those that turned out
 * not to be needed. order has room for all kernels. */
kw_status kw_set_cover_select(size_t *order, size_t *count, const kw_set_cover *cover, const kw_set_cover_subset *part, double keep,
                              double worst, kw_error *err);

/* What a set keeps of a part: the sum over its problem groups, how many they are, and the least. */
typedef struct kw_set_cover_score {
    double sum, worst;
    size_t problem_groups;
} kw_set_cover_score;
kw_status kw_set_cover_evaluate(kw_set_cover_score *score, const kw_set_cover *cover, const kw_set_cover_subset *part, const size_t *order,
                                size_t count, kw_error *err);

#endif
