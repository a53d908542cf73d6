/* args.c: a problem and a launch as the arguments of a kernel. */
#include "backend/backend.h"

#include "prelude/bias_gradient.h"
#include "problem/tensors/pitch.h"

#include <stdint.h>

void kw_args_fill(kw_kernel_args *args, const kw_problem *problem, const kw_launch *launch) {
    *args = (kw_kernel_args){.n = 1, .groups = 1, .c = 1, .k = 1, .batch = 1, .gm = 1, .gn = 1, .gk = 1};
    for (int axis = 0; axis < 3; axis++) {
        args->in[axis] = args->out[axis] = args->filter[axis] = args->stride[axis] = args->dilation[axis] = 1;
    }
    args->params = launch->params;
    args->reorder = launch->reorder;
    KW_BIAS_WORD(args) = launch->bias_word;
    if (problem->op == KW_GEMM) {
        args->batch = problem->gemm.batch;
        args->groups = problem->gemm.groups ? problem->gemm.groups : 1;
        args->gm = problem->gemm.m;
        args->gn = problem->gemm.n;
        args->gk = problem->gemm.k;
        for (int t = 0; t < KW_TENSOR_COUNT; t++) {
            kw_matrix m = kw_problem_matrix(problem, (kw_tensor)t);
            args->line_step[t] = m.line_step;
            args->batch_step[t] = m.batch_step;
        }
        return;
    }
    const kw_conv_dims *conv = &problem->conv;
    int64_t out[3], x_step[KW_STEP_COUNT], y_step[KW_STEP_COUNT];
    kw_problem_steps(x_step, problem, KW_X);
    kw_problem_steps(y_step, problem, KW_Y);
    for (int i = 0; i < KW_STEP_COUNT; i++) {
        args->x_step[i] = x_step[i];
        args->y_step[i] = y_step[i];
    }
    kw_problem_output(out, problem);
    args->n = conv->n;
    args->groups = conv->g;
    args->c = conv->c / conv->g;
    args->k = conv->k / conv->g;
    for (int axis = 0; axis < 3; axis++) {
        args->in[axis] = conv->in[axis];
        args->out[axis] = out[axis];
        args->filter[axis] = conv->filter[axis];
        args->stride[axis] = conv->stride[axis];
        args->pad[axis] = conv->pad[axis];
        args->dilation[axis] = conv->dilation[axis];
    }
}

void kw_args_point(kw_kernel_args *args, const kw_launch_memory *memory) {
    _Static_assert(KW_EXTRAS == KW_EXTRA_MAX, "kernels and problems have as many tensors of an epilogue");
    args->x = memory->tensor[KW_X];
    args->w = memory->tensor[KW_W];
    args->y = memory->tensor[KW_Y];
    args->ends = memory->ends;
    args->packed = memory->packed;
    args->shared = memory->shared;
    for (int i = 0; i < KW_EXTRAS; i++) {
        args->extra[i] = memory->extra[i];
    }
}

int kw_stage_entry(const kw_turning *turning, int stage) {
    int turns = 0, before = turning->bias_at ? KW_BIAS_STAGES : 0;
    if (before && stage >= turning->bias_at) {
        return stage - turning->bias_at;
    }
    for (int i = 0; i < stage; i++) {
        turns += turning->stage[i].images > 0;
    }
    return before + (!turning->is ? stage : turning->stage[stage].images > 0 ? 0 : stage - turns + 1);
}

static void *copy_at(const kw_copy *copy, const kw_launch_memory *memory) {
    return (char *)(copy->packed ? memory->packed : memory->shared) + copy->at;
}

/* Where only weights are packed there is no workspace, and who reads a copy in it does not run. */
static bool is_there(const kw_copy *copy, const kw_launch_memory *memory) {
    return copy->made && (copy->packed ? memory->packed : memory->shared);
}

static void *turned_tensor(int tensor, const kw_launch_memory *memory) {
    return tensor < KW_TENSOR_COUNT ? memory->tensor[tensor] : (void *)(uintptr_t)memory->extra[tensor - KW_TENSOR_COUNT];
}

void kw_stage_memory(kw_launch_memory *seen, const kw_turning *turning, const kw_launch_memory *memory) {
    *seen = *memory;
    for (int i = 0; i < KW_TENSOR_COUNT; i++) {
        if (is_there(&turning->copy[i], memory)) {
            seen->tensor[i] = copy_at(&turning->copy[i], memory);
        }
    }
    for (int i = 0; i < KW_EXTRA_MAX; i++) {
        if (is_there(&turning->copy[KW_TENSOR_COUNT + i], memory)) {
            seen->extra[i] = copy_at(&turning->copy[KW_TENSOR_COUNT + i], memory);
        }
    }
}

void kw_turn_args(kw_kernel_args *args, const kw_turn *turn, const kw_turning *turning, const kw_launch_memory *memory) {
    void *tensor = turned_tensor(turn->tensor, memory), *copy = copy_at(&turning->copy[turn->tensor], memory);
    *args = (kw_kernel_args){.x = turn->back ? copy : tensor,
                             .y = turn->back ? tensor : copy,
                             .n = turn->images,
                             .gm = turn->rows,
                             .gn = turn->cols,
                             .gk = turn->bytes,
                             .line_step = {turn->line[0], 0, turn->line[1]},
                             .batch_step = {turn->image[0], 0, turn->image[1]}};
}
