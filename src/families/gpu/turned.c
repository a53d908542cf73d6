/* turned.c: which tensors of a channels-first problem, or of one whose filter lies in another order than its layout's, are turned
 * (kernels/gpu/lib/turn.h), and where the copies lie that the kernel's own stages see: of weights that are read behind the packed ones, so
 * that a plan turns them once; of all else behind the kernel's own workspace. What is the same in both orders (1x1 filters, one channel, one
 * pixel) is not copied: a channels-first problem with filter=krsc has its images turned alone. */
#include "families/gpu/turned.h"

#include "base/math.h"
#include "config/arch/gpu_arch.h"
#include "families/gpu/defines.h"
#include "problem/epilogue/epilogue.h"
#include "problem/tensors/filter.h"
#define KW_CEIL kw_ceil_div
#include "gpu/lib/resources.h"

#include <assert.h>
#include <string.h>

enum { COPY_ALIGN = 128 };

enum { EXTRAS_MOST = 2 }; /* their stages, those of x, w, y, three of the kernel and two of the bias are KW_STAGE_MAX at most */

static bool extras_are_few(const kw_rule_case *c) {
    const kw_problem *problem = c->problem;
    bool turned = (problem->layout == KW_CHANNELS_FIRST && c->config->family->turns) ||
                  (kw_filter_order_normal(problem) && kw_problem_result(problem) == KW_W);
    int number = 0;
    for (int32_t i = 0; i < problem->epilogue.count; i++) {
        number += kw_epilogue_info_of(problem->epilogue.step[i].op)->shape == KW_EXTRA_ALL;
    }
    return !turned || number <= EXTRAS_MOST;
}

const kw_rule kw_turned_rules[] = {
    {"turned_extras",
     "of channels-first problems, and of gradients of filters in another order, at most two steps of the epilogue read tensors of the "
     "result's shape",
     extras_are_few},
    {0},
};

/* An axis of a filter, or several that follow each other in both orders. */
typedef struct filter_axis {
    int64_t extent, step[2];
} filter_axis;

/* Axes of more than one element. */
static int filter_axes(filter_axis axes[KW_FILTER_STEPS], const kw_problem *problem, const kw_problem *seen) {
    const kw_conv_dims *d = &problem->conv;
    const int64_t extent[KW_FILTER_STEPS] = {
        [KW_FILTER_STEP_K] = d->k, [KW_FILTER_STEP_C] = d->c / d->g, [KW_FILTER_STEP_TAP] = d->filter[0] * d->filter[1] * d->filter[2]};
    int64_t from[KW_FILTER_STEPS], to[KW_FILTER_STEPS];
    int count = 0;
    kw_filter_steps(from, problem, problem->filter_order);
    kw_filter_steps(to, seen, seen->filter_order);
    for (int i = 0; i < KW_FILTER_STEPS; i++) {
        if (extent[i] > 1) {
            axes[count++] = (filter_axis){extent[i], {from[i], to[i]}};
        }
    }
    return count;
}

static bool is_around(const filter_axis *outer, const filter_axis *inner) {
    return outer->step[0] == inner->step[0] * inner->extent && outer->step[1] == inner->step[1] * inner->extent;
}

static int merge_axes(filter_axis axes[KW_FILTER_STEPS], int count) {
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) {
            if (i != j && is_around(&axes[i], &axes[j])) {
                axes[j].extent *= axes[i].extent;
                axes[i] = axes[count - 1];
                return merge_axes(axes, count - 1);
            }
        }
    }
    return count;
}

/* From the problem's order to that which the kernel's own stages see. Its rows become the innermost axis, as its columns were; what axis is
 * left counts the matrices. */
static kw_turn turn_of_filter(const kw_problem *problem, const kw_problem *seen) {
    filter_axis axes[KW_FILTER_STEPS], rows = {0}, cols = {0}, other = {1, {0, 0}};
    int count = merge_axes(axes, filter_axes(axes, problem, seen));
    for (int i = 0; i < count; i++) {
        *(axes[i].step[1] == 1 ? &rows : axes[i].step[0] == 1 ? &cols : &other) = axes[i];
    }
    if (count < 2) {
        return (kw_turn){0};
    }
    assert(rows.extent && cols.extent); /* what is innermost in the kernels' orders is so in none of a problem's others */
    return (kw_turn){.images = other.extent,
                     .rows = rows.extent,
                     .cols = cols.extent,
                     .line = {rows.step[0], cols.step[1]},
                     .image = {other.step[0], other.step[1]},
                     .tensor = KW_W};
}

/* From channels first to channels last: images, channels, positions. */
static kw_turn turn_of_image(const kw_problem *problem, kw_tensor tensor) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3];
    kw_problem_output(out, problem);
    const int64_t *pixels = tensor == KW_Y ? out : d->in;
    kw_turn t = {
        .images = d->n, .rows = tensor == KW_Y ? d->k : d->c, .cols = pixels[0] * pixels[1] * pixels[2], .tensor = (int32_t)tensor};
    t.line[0] = t.cols, t.line[1] = t.rows;
    t.image[0] = t.image[1] = t.rows * t.cols;
    t.images = t.rows == 1 || t.cols == 1 ? 0 : t.images;
    return t;
}

/* images is 0 where the kernel's own stages see a tensor as it is. */
static kw_turn turn_of(const kw_problem *problem, const kw_problem *seen, kw_tensor tensor) {
    kw_turn t = {0};
    if (tensor == KW_W) {
        t = turn_of_filter(problem, seen);
    } else if (problem->layout != seen->layout) {
        t = turn_of_image(problem, tensor);
    }
    t.bytes = (int32_t)kw_dtype_size(kw_problem_dtype(problem, tensor));
    return t;
}

static kw_turn turn_back(const kw_turn *turn) {
    return (kw_turn){.images = turn->images,
                     .rows = turn->cols,
                     .cols = turn->rows,
                     .line = {turn->line[1], turn->line[0]},
                     .image = {turn->image[1], turn->image[0]},
                     .tensor = turn->tensor,
                     .bytes = turn->bytes,
                     .back = true};
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
    bool few = KW_TURN_IS_FEW(turn->rows, turn->cols, turn->line[0], turn->line[1]);
    launch->stage[at] = (kw_stage){turn->images * KW_TURN_UNITS(turn->rows, turn->cols, turn->bytes, few), packs, KW_TURN_THREADS};
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
static void turn_extras(const kw_problem *problem, const kw_turn *as_result, const kw_target *target, kw_launch *launch) {
    int number = 0;
    for (int32_t i = 0; i < problem->epilogue.count; i++) {
        const kw_epilogue_step *step = &problem->epilogue.step[i];
        kw_extra_shape shape = kw_epilogue_info_of(step->op)->shape;
        kw_turn turn = *as_result;
        turn.tensor = KW_TENSOR_COUNT + number;
        turn.bytes = (int32_t)kw_dtype_size(step->dtype);
        number += shape != KW_EXTRA_NONE;
        if (shape == KW_EXTRA_ALL && turn.images) {
            place_copy(&turn, false, launch);
            insert_turn(&turn, first_of_rest(launch), false, target, launch);
        }
    }
}

void kw_turned_launch(kw_launch_own *own, const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_problem seen = *problem;
    seen.layout = config->wants.first ? KW_CHANNELS_LAST : problem->layout;
    seen.filter_order = KW_FILTER_OF_LAYOUT;
    own(config, &seen, target, launch);
    if (!kw_gpu_turns(config)) {
        return;
    }
    launch->turning.is = true; /* own() may have said more of it */
    if (launch->turning.none) {
        seen.layout = problem->layout;
    }
    kw_tensor result = kw_problem_result(problem);
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        kw_turn turn = turn_of(problem, &seen, (kw_tensor)t);
        bool packs = t == KW_W && result != KW_W;
        if (!turn.images || (t == (int)result && launch->turning.result_first)) {
            continue;
        }
        place_copy(&turn, packs, launch);
        if (t == (int)result) {
            turn = turn_back(&turn);
        }
        insert_turn(&turn, t == (int)result ? launch->stages : packs ? 0 : first_of_rest(launch), packs, target, launch);
    }
    kw_turn as_result = turn_of(problem, &seen, result);
    turn_extras(problem, &as_result, target, launch);
}
