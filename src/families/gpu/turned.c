/* turned.c: which tensors of a channels-first problem are turned (kernels/gpu/lib/turn.h), and where their channels-last copies lie: of
 * weights that are read behind the packed ones, so that a plan turns them once; of all else behind the kernel's own workspace. What is the same
 * in both orders (1x1 filters, one channel, one pixel) is not copied. */
#include "families/gpu/turned.h"

#include "base/math.h"
#include "config/gpu_arch.h"
#include "problem/epilogue/epilogue.h"
#define KW_CEIL kw_ceil_div
#include "gpu/lib/resources.h"

#include <assert.h>
#include <string.h>

enum { COPY_ALIGN = 128 };

enum { EXTRAS_MOST = 2 }; /* their stages, and those of x, w, y and the kernel, are KW_STAGE_MAX at most */

static bool extras_are_few(const kw_rule_case *c) {
    int number = 0;
    for (int32_t i = 0; i < c->problem->epilogue.count; i++) {
        number += kw_epilogue_info_of(c->problem->epilogue.step[i].op)->shape == KW_EXTRA_ALL;
    }
    return c->problem->layout != KW_CHANNELS_FIRST || number <= EXTRAS_MOST;
}

const kw_rule kw_turned_rules[] = {
    {"turned_extras", "of channels-first problems at most two steps of the epilogue read tensors of the result's shape", extras_are_few},
    {0},
};

/* A tensor as it is turned: images, channels, positions. */
static kw_turn turn_of(const kw_problem *problem, kw_tensor tensor) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3];
    kw_problem_output(out, problem);
    kw_turn t = {.tensor = (int32_t)tensor, .bytes = (int32_t)kw_dtype_size(kw_problem_dtype(problem, tensor))};
    switch (tensor) {
    case KW_W:
        t.images = d->k, t.rows = d->c / d->g, t.cols = d->filter[0] * d->filter[1] * d->filter[2];
        break;
    case KW_Y:
        t.images = d->n, t.rows = d->k, t.cols = out[0] * out[1] * out[2];
        break;
    default:
        t.images = d->n, t.rows = d->c, t.cols = d->in[0] * d->in[1] * d->in[2];
        break;
    }
    return t;
}

static bool is_same_turned(const kw_turn *turn) {
    return turn->rows == 1 || turn->cols == 1;
}

static void place_copy(const kw_turn *turn, bool packed, kw_launch *launch) {
    int64_t *end = packed ? &launch->packed_bytes : &launch->shared_bytes, bytes = turn->images * turn->rows * turn->cols * turn->bytes;
    launch->turning.copy[turn->tensor] = (kw_copy){.made = true, .packed = packed, .at = kw_round_up(*end, COPY_ALIGN)};
    *end = launch->turning.copy[turn->tensor].at + bytes;
    launch->turning.copies_bytes += packed ? 0 : bytes;
    launch->copied_bytes += 2 * (double)bytes;
}

/* A stage at a place among the others. */
static void insert_turn(const kw_turn *turn, int at, bool packs, const kw_target *target, kw_launch *launch) {
    assert(launch->stages < KW_STAGE_MAX);
    for (int i = launch->stages++; i > at; i--) {
        launch->stage[i] = launch->stage[i - 1];
        launch->early[i] = launch->early[i - 1];
        launch->cluster[i] = launch->cluster[i - 1];
        launch->turning.stage[i] = launch->turning.stage[i - 1];
    }
    launch->turning.stage[at] = *turn;
    launch->stage[at] = (kw_stage){turn->images * KW_TURN_UNITS(turn->rows, turn->cols, turn->bytes), packs, KW_TURN_THREADS};
    launch->cluster[at] = 0;
    launch->early[at] = kw_gpu_arch_has(kw_gpu_arch_find(target->arch), KW_GPU_tma);
}

/* Behind the stages that pack. */
static int first_of_rest(const kw_launch *launch) {
    int at = 0;
    while (at < launch->stages && launch->stage[at].packs) {
        at++;
    }
    return at;
}

/* The epilogue's tensors of the result's shape are in its order. */
static void turn_extras(const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    int number = 0;
    for (int32_t i = 0; i < problem->epilogue.count; i++) {
        const kw_epilogue_step *step = &problem->epilogue.step[i];
        kw_extra_shape shape = kw_epilogue_info_of(step->op)->shape;
        kw_turn turn = turn_of(problem, kw_problem_result(problem));
        turn.tensor = KW_TENSOR_COUNT + number;
        turn.bytes = (int32_t)kw_dtype_size(step->dtype);
        number += shape != KW_EXTRA_NONE;
        if (shape == KW_EXTRA_ALL && !is_same_turned(&turn)) {
            place_copy(&turn, false, launch);
            insert_turn(&turn, first_of_rest(launch), false, target, launch);
        }
    }
}

void kw_turned_launch(kw_launch_own *own, const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    if (!config->wants.first) {
        own(config, problem, target, launch);
        return;
    }
    kw_problem last = *problem;
    last.layout = KW_CHANNELS_LAST;
    own(config, &last, target, launch);
    launch->turning.is = true; /* own() may have said more of it */
    if (launch->turning.none) {
        return;
    }
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        kw_turn turn = turn_of(problem, (kw_tensor)t);
        bool result = t == (int)kw_problem_result(problem), packs = t == KW_W && !result;
        if (is_same_turned(&turn) || (result && launch->turning.result_first)) {
            continue;
        }
        place_copy(&turn, packs, launch);
        if (result) { /* the copy has columns of channels */
            turn = (kw_turn){turn.images, turn.cols, turn.rows, turn.tensor, turn.bytes, true};
        }
        insert_turn(&turn, result ? launch->stages : packs ? 0 : first_of_rest(launch), packs, target, launch);
    }
    turn_extras(problem, target, launch);
}
