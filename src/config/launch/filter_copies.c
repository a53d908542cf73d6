/* filter_copies.c: where the copies lie and which stages make them. Weights that are read are copied when they are packed, so once for a plan
 * that packs them beforehand; the copy stands behind the kernel's own packed weights, since a kernel may read w in any stage. A gradient is
 * written into a copy in the workspace, whose elements a last stage brings to their places; tensors that its epilogue reads are brought in
 * front of it, so that one of them may be the result itself. */
#include "config/launch/filter_copies.h"

#include "base/math.h"
#include "config/launch/workspace.h"
#include "problem/epilogue/epilogue.h"

#include <assert.h>

int kw_filter_tensors_in(kw_filter_tensor tensors[KW_EXTRA_MAX], const kw_problem *problem) {
    int count = 0, number = 0;
    if (kw_problem_result(problem) != KW_W) {
        tensors[count++] = (kw_filter_tensor){KW_W, (int32_t)kw_dtype_size(kw_problem_dtype(problem, KW_W))};
        return count;
    }
    for (int32_t i = 0; i < problem->epilogue.count; i++) {
        const kw_epilogue_step *step = &problem->epilogue.step[i];
        if (kw_epilogue_info_of(step->op)->shape == KW_EXTRA_ALL) {
            tensors[count++] = (kw_filter_tensor){KW_TENSOR_COUNT + number, (int32_t)kw_dtype_size(step->dtype)};
        }
        number += kw_epilogue_step_has_tensor(step);
    }
    return count;
}

static void place_copy(kw_launch *launch, const kw_problem *problem, kw_filter_tensor tensor, bool packed) {
    int64_t *end = packed ? &launch->packed_bytes : &launch->shared_bytes, before = *end;
    kw_copy *copy = &launch->turning.copy[tensor.tensor];
    *copy = (kw_copy){.made = true, .packed = packed, .at = kw_round_up(*end, packed ? tensor.bytes : KW_WORKSPACE_ALIGN)};
    *end = copy->at + kw_problem_elements(problem, KW_W) * tensor.bytes;
    launch->copied_bytes += 2 * (double)(*end - before);
}

static void insert_stage(kw_launch *launch, int at, const kw_problem *problem, bool packs) {
    assert(launch->stages < KW_STAGE_MAX);
    for (int i = launch->stages++; i > at; i--) {
        launch->stage[i] = launch->stage[i - 1];
    }
    launch->stage[at] = (kw_stage){.units = kw_ceil_div(problem->conv.k, KW_FILTER_COPY_ROWS), .packs = packs};
}

void kw_filter_copies_add(kw_launch *launch, const kw_problem *problem) {
    kw_filter_tensor tensors[KW_EXTRA_MAX];
    bool gradient = kw_problem_result(problem) == KW_W;
    int count = kw_filter_tensors_in(tensors, problem);
    for (int i = 0; i < count; i++) {
        place_copy(launch, problem, tensors[i], !gradient);
    }
    if (count) {
        insert_stage(launch, 0, problem, !gradient);
        launch->turning.filter_in = 1;
    }
    if (gradient) {
        place_copy(launch, problem, (kw_filter_tensor){KW_W, (int32_t)kw_dtype_size(kw_problem_dtype(problem, KW_W))}, false);
        insert_stage(launch, launch->stages, problem, false);
        launch->turning.filter_back = launch->stages;
    }
}
