/* reference_gpu.c: families conv.reference_gpu and gemm.reference_gpu: one thread an element of the result. They have no axes and no rules:
 * they serve every legal problem on every GPU, so that each request has an answer. The kernel text is kernels/gpu/reference/reference.c. */
#include "base/math.h"
#include "config/arch/gpu_arch.h"
#include "families/gpu/defines.h"
#include "gpu/reference/args.h"
#include "problem/tensors/filter.h"
#include "problem/tensors/pitch.h"
#include "problem/view.h"

/* Of a launch at most so many blocks, whatever a device allows: a thread goes on with the element that is a launch further. */
enum { BLOCKS_MAX = 1 << 22 };

static void launch_reference(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    (void)config;
    int64_t elements = kw_problem_values(problem, kw_problem_result(problem));
    *launch =
        (kw_launch){.stages = 1, .stage = {{kw_min(kw_ceil_div(elements, KW_REFERENCE_THREADS), BLOCKS_MAX), false, KW_REFERENCE_THREADS}}};
    launch->early[0] = kw_gpu_arch_has(kw_gpu_arch_find(target->arch), KW_GPU_tma);
    *kw_launch_params(launch, kw_reference_gpu_params) = (kw_reference_gpu_params){
        .layout = problem->op == KW_GEMM ? (int64_t)problem->layout : problem->layout == KW_CHANNELS_FIRST,
        .elements = elements,
    };
    if (problem->op != KW_GEMM) {
        int64_t step[KW_FILTER_STEPS];
        kw_filter_steps(step, problem, problem->filter_order);
        for (int i = 0; i < KW_FILTER_STEPS; i++) {
            kw_launch_params(launch, kw_reference_gpu_params)->w_step[i] = step[i];
        }
    }
    /* Each product is an instruction of its own lane, with two loads that nobody shares. */
    double products = (double)kw_problem_flops(problem) / 2;
    launch->multiply_adds = products / (double)kw_max(1, target->lanes);
    launch->loads = 2 * launch->multiply_adds;
}

enum { ALL_DTYPES = 1 << KW_FP32 | 1 << KW_BF16 | 1 << KW_FP16 | 1 << KW_FP8 | 1 << KW_BF8 | 1 << KW_INT8 };

const kw_family kw_family_gemm_reference_gpu = {
    .name = "gemm.reference_gpu",
    .summary = "a GPU thread for each element; any type and layout",
    .kind = KW_KIND_GPU,
    .is_reference = true,
    .fuses = true,
    .quantized = true,
    .zero_w = true,
    .pitched = true,
    .row_groups = true,
    .ops = 1 << KW_GEMM,
    .dtypes = ALL_DTYPES,
    .launch = launch_reference,
    .emit = kw_gpu_emit_nothing,
    .kernel = "gpu/reference/reference.c",
};

const kw_family kw_family_conv_reference_gpu = {
    .name = "conv.reference_gpu",
    .summary = "a GPU thread for each element; any direction, type, layout, grouping and geometry",
    .kind = KW_KIND_GPU,
    .is_reference = true,
    .fuses = true,
    .quantized = true,
    .zero_w = true,
    .pitched = true,
    .filters = true,
    .ops = 1 << KW_CONV_FWD | 1 << KW_CONV_BWD_DATA | 1 << KW_CONV_BWD_WEIGHT,
    .dtypes = ALL_DTYPES,
    .launch = launch_reference,
    .emit = kw_gpu_emit_nothing,
    .kernel = "gpu/reference/reference.c",
};
