/* groups.c: see groups.h. */
#include "problem/groups/groups.h"

#include "base/math.h"
#include "base/statistics/random.h"
#include "problem/epilogue/epilogue.h"
#include "problem/tensors/pitch.h"

#include <inttypes.h>

static int64_t begin_of(const int32_t *ends, int64_t group) {
    return group ? ends[group - 1] : 0;
}

kw_status kw_group_ends_check(const kw_problem *problem, const int32_t *ends, kw_error *err) {
    const kw_gemm_dims *d = &problem->gemm;
    for (int64_t g = 0; g < d->groups; g++) {
        if (ends[g] < begin_of(ends, g)) {
            return kw_fail(err, KW_ILLEGAL, "ends[%" PRId64 "]=%" PRId32 " is below %" PRId64 ", where its group begins; ends ascend", g,
                           ends[g], begin_of(ends, g));
        }
        if (ends[g] > d->m) {
            return kw_fail(err, KW_ILLEGAL, "ends[%" PRId64 "]=%" PRId32 " is above the %" PRId64 " rows of the problem; plan a larger m",
                           g, ends[g], d->m);
        }
    }
    return KW_OK;
}

/* Shares of the rows that go with the square of a random number: the largest is some three times the mean. Every fifth group has none. */
void kw_group_ends_draw(int32_t *ends, const kw_problem *problem, uint64_t seed, bool all) {
    const kw_gemm_dims *d = &problem->gemm;
    uint64_t again = seed, state = seed;
    double sum = 0, at = 0;
    for (int64_t g = 0; g < d->groups; g++) {
        double share = (double)kw_random_below(&again, 1000) + 1;
        sum += d->groups > 1 && kw_random_below(&again, 5) == 0 ? 0 : share * share;
    }
    double rows = (double)(all ? d->m : d->m - d->m / 16);
    for (int64_t g = 0; g < d->groups; g++) {
        double share = (double)kw_random_below(&state, 1000) + 1;
        at += d->groups > 1 && kw_random_below(&state, 5) == 0 ? 0 : share * share;
        ends[g] = sum > 0 ? (int32_t)(rows * (at / sum) + 0.5) : 0;
    }
    if (all || sum <= 0) {
        ends[d->groups - 1] = (int32_t)rows;
    }
}

int64_t kw_group_of(const kw_problem *problem, const int32_t *ends, int64_t place) {
    int64_t row = place / kw_problem_matrix(problem, KW_Y).line_step, low = 0, high = problem->gemm.groups;
    while (low < high) { /* the first group whose end is above the row */
        int64_t middle = (low + high) / 2;
        if (ends[middle] > row) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low < problem->gemm.groups ? low : -1;
}

static const void *further(const void *memory, kw_dtype dtype, int64_t elements) {
    return memory ? (const char *)memory + elements * (int64_t)kw_dtype_size(dtype) : NULL;
}

int64_t kw_group_product(kw_problem *one, kw_group_memory *own, const kw_problem *problem, const int32_t *ends, int64_t group,
                         const kw_group_memory *whole) {
    const kw_epilogue *epilogue = &problem->epilogue;
    kw_matrix matrix[KW_TENSOR_COUNT];
    int64_t begin = begin_of(ends, group);
    *one = *problem;
    one->gemm.groups = 0;
    one->gemm.m = ends[group] - begin;
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        matrix[t] = kw_problem_matrix(problem, (kw_tensor)t);
        int64_t first = t == KW_W ? group * matrix[t].batch_step : begin * matrix[t].line_step;
        own->tensor[t] = further(whole->tensor[t], kw_problem_dtype(problem, (kw_tensor)t), first);
        one->pitch[t][1] = 0;
    }
    int64_t place = begin * matrix[KW_Y].line_step;
    for (int32_t i = 0, next = 0; i < epilogue->count; i++) {
        const kw_epilogue_step *step = &epilogue->step[i];
        const int64_t firsts[] = {[KW_EXTRA_NONE] = 0,
                                  [KW_EXTRA_ONE] = 0,
                                  [KW_EXTRA_CHANNEL] = group * problem->gemm.n,
                                  [KW_EXTRA_ROW] = begin,
                                  [KW_EXTRA_ALL] = place};
        kw_extra_shape shape = kw_epilogue_info_of(step->op)->shape;
        if (shape) {
            own->extra[next] = further(whole->extra[next], step->dtype, firsts[shape]);
            next++;
        }
    }
    return place;
}
