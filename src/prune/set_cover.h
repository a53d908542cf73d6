/* set_cover.h: a small set of kernels that is nearly as good as all of them, for the contests of one operation and type. Greedy: each step
 * takes the kernel that adds most; what it gains falls with every step, so the greedy set keeps at least 1 - 1/e of what the best set of
 * its size adds, and in practice nearly all. */
#ifndef KW_PRUNE_SET_COVER_H
#define KW_PRUNE_SET_COVER_H

#include "config/catalog.h"
#include "learn/data/oracle.h"

typedef struct kw_cover kw_cover;

/* data set and marks outlive it. KW_FAILED when the operation and type have no contest with a good kernel. */
kw_status kw_cover_open(kw_cover **cover, const kw_dataset *dataset, const kw_mark *marks, kw_op op, kw_dtype dtype, kw_error *err);
void kw_cover_close(kw_cover **cover);
/* Kernels that are good in some contest, compiled-in ones left out. */
const kw_catalog *kw_cover_kernels(const kw_cover *cover);
size_t kw_cover_contests(const kw_cover *cover);

/* Which contests count: those whose fold is (or is not) the given one; fold NULL: all. */
typedef struct kw_cover_part {
    const int32_t *fold;
    int32_t which;
    bool others;
} kw_cover_part;

/* Chooses kernels, the most useful first, until both shares are kept on the part or nothing more helps; then drops those that turned out
 * not to be needed. order has room for all kernels. */
kw_status kw_cover_choose(size_t *order, size_t *count, const kw_cover *cover, const kw_cover_part *part, double keep, double worst,
                          kw_error *err);

/* What a set keeps of a part: the sum over its contests, how many they are, and the least. */
typedef struct kw_cover_worth {
    double sum, worst;
    size_t contests;
} kw_cover_worth;
kw_status kw_cover_judge(kw_cover_worth *worth, const kw_cover *cover, const kw_cover_part *part, const size_t *order, size_t count,
                         kw_error *err);

#endif
