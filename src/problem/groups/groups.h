/* groups.h: grouped products (kw_gemm_dims.groups): many products of one n and k in one launch, whose rows lie behind each other and are
 * known only when it runs. What one means is said by what each of its groups is: a product of its own. */
#ifndef KW_PROBLEM_GROUPS_GROUPS_H
#define KW_PROBLEM_GROUPS_GROUPS_H

#include "base/status.h"

static inline bool kw_problem_is_grouped(const kw_problem *problem) {
    return problem->op == KW_GEMM && problem->gemm.groups > 0;
}

/* KW_ILLEGAL where ends descend, begin below 0 or are above m. */
kw_status kw_group_ends_check(const kw_problem *problem, const int32_t *ends, kw_error *err);
/* Ends for trying and timing a problem on, drawn from the seed: groups are unequal, and where there are several some have no rows. all: the
 * groups have all rows; else there may be rows behind the last one. */
void kw_group_ends_draw(int32_t *ends, const kw_problem *problem, uint64_t seed, bool all);

/* Pointers to the memory of a product: x, w, y and what its epilogue reads. */
typedef struct kw_group_memory {
    const void *tensor[KW_TENSOR_COUNT];
    const void *extra[KW_EXTRA_MAX];
} kw_group_memory;

/* The group of an element of the result, by its place in memory (problem/tensors/pitch.h); -1: it lies behind the last one. */
int64_t kw_group_of(const kw_problem *problem, const int32_t *ends, int64_t place);
/* The product that a group is, and its memory. Returns where it begins in the result: elements of memory. The group has rows. */
int64_t kw_group_product(kw_problem *one, kw_group_memory *own, const kw_problem *problem, const int32_t *ends, int64_t group,
                         const kw_group_memory *whole);

#endif
