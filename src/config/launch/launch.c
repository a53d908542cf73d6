/* launch.c: how a config runs on a problem: as its family says, and beside that the sums of y for the gradient of the bias, which all kernels
 * of weight gradients have in the same way: on a CPU as units more of the first stage, on a GPU as two stages of their own behind the others
 * (kernels/prelude/bias_gradient.h). */
#include "base/math.h"
#include "config/config.h"
#include "config/launch/filter_copies.h"
#include "config/launch/workspace.h"
#include "config/launch/x_sums.h"
#include "problem/tensors/pitch.h"

#include "prelude/bias_gradient.h"

#include <assert.h>

static void add_bias_units(const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_stage *first = &launch->stage[0];
    launch->bias_word = first->units;
    first->units += kw_ceil_div(problem->conv.k, KW_BIAS_CHANNELS);
    launch->loads += (double)kw_problem_values(problem, KW_Y) / (double)target->lanes;
}

static void add_stage(kw_launch *launch, int64_t units) {
    assert(launch->stages < KW_STAGE_MAX);
    launch->stage[launch->stages] = (kw_stage){kw_min(units, KW_BIAS_BLOCKS_MOST), false, KW_BIAS_THREADS};
    launch->early[launch->stages] = false; /* a family may have said it of stages that this launch has not */
    launch->cluster[launch->stages++] = 0;
}

static void add_bias_stages(const kw_problem *problem, kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3];
    kw_problem_output(out, problem);
    int64_t pixels = d->n * out[0] * out[1] * out[2], chunks = KW_BIAS_CHUNKS(pixels, d->k);
    bool side_by_side = problem->layout == KW_CHANNELS_LAST || pixels == d->n; /* as y_step says */
    launch->turning.bias_at = launch->stages;
    add_stage(launch, chunks * kw_ceil_div(d->k, side_by_side ? KW_BIAS_CHANNELS : 1));
    add_stage(launch, kw_ceil_div(d->k, KW_BIAS_CHANNELS));
    launch->bias_word = kw_round_up(launch->shared_bytes, KW_WORKSPACE_ALIGN);
    launch->shared_bytes = launch->bias_word + chunks * d->k * (int64_t)sizeof(float);
    launch->copied_bytes += (double)kw_problem_values(problem, KW_Y) * (double)kw_dtype_size(problem->dtype);
}

void kw_config_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    *launch = (kw_launch){0};
    config->family->launch(config, problem, target, launch);
    bool sums_bias = kw_epilogue_bias_gradient(&problem->epilogue) != NULL;
    if (sums_bias && kw_target_is_gpu(target)) {
        add_bias_stages(problem, launch);
    } else if (sums_bias) {
        add_bias_units(problem, target, launch);
    }
    if (!kw_target_is_gpu(target) && kw_filter_order_normal(problem)) {
        kw_filter_copies_add(launch, problem);
    }
    bool zero_w = kw_epilogue_zero_w(&problem->epilogue) >= 0 && !config->family->builtin && !config->family->zero_w_loaded;
    if (!kw_target_is_gpu(target) && zero_w) {
        kw_x_sums_add(launch, problem);
    }
}
