/* extras.c: the tensors that an epilogue reads, and the bytes that move with them. */
#include "problem/epilogue/epilogue.h"
#include "problem/tensors/pitch.h"

int kw_problem_extras(kw_extra extras[KW_EXTRA_MAX], const kw_problem *problem) {
    const kw_epilogue *epilogue = &problem->epilogue;
    kw_tensor result = kw_problem_result(problem);
    int64_t elements = kw_problem_elements(problem, result), channels = problem->gemm.n;
    int64_t times = 1; /* channels of each group of rows are its own */
    int count = 0;
    if (problem->op != KW_GEMM) {
        channels = problem->op == KW_CONV_BWD_DATA ? problem->conv.c : problem->conv.k;
    } else if (problem->gemm.groups) {
        times = problem->gemm.groups;
    }
    for (int32_t i = 0; i < epilogue->count && count < KW_EXTRA_MAX; i++) {
        const kw_epilogue_info *info = kw_epilogue_info_of(epilogue->step[i].op);
        const int64_t sizes[] = {[KW_EXTRA_NONE] = 0,
                                 [KW_EXTRA_ONE] = 1,
                                 [KW_EXTRA_CHANNEL] = channels * times,
                                 [KW_EXTRA_ROW] = kw_problem_values(problem, result) / channels,
                                 [KW_EXTRA_ALL] = elements};
        if (info->shape) {
            extras[count++] = (kw_extra){info->name, epilogue->step[i].dtype, sizes[info->shape]};
        }
    }
    return count;
}

int64_t kw_problem_bytes(const kw_problem *problem) {
    int64_t bytes = 0;
    for (kw_tensor tensor = 0; tensor < KW_TENSOR_COUNT; tensor++) {
        bytes += kw_problem_values(problem, tensor) * (int64_t)kw_dtype_size(kw_problem_dtype(problem, tensor));
    }
    kw_extra extras[KW_EXTRA_MAX];
    for (int i = kw_problem_extras(extras, problem) - 1; i >= 0; i--) {
        bytes += extras[i].elements * (int64_t)kw_dtype_size(extras[i].dtype);
    }
    return bytes;
}
