/* reorder.c: how the work on channels-first tensors is cut into turns, of which each makes channels-last copies of what it reads
 * (kernels/cpu/lib/reorder.h). A turn is one image, of a weight gradient all images, of as many groups as the cache holds copies of. Too few turns for the threads: all of each tensor is copied, in stages of their own. */
#include "families/cpu/reorder.h"

#include "base/math.h"
#include "problem/epilogue/epilogue.h"
#include "problem/tensors/pitch.h"
#include "cpu/lib/sizes.h"

#include <string.h>

/* What a turn, or the whole problem where it is copied in one go, has; bytes of its copies. */
typedef struct turn {
    kw_problem problem;
    bool whole, weights; /* filters are turned as well: they have taps and channels */
    int64_t turns, blocks;
    int64_t x, w, y;
} turn;

static int64_t tensor_bytes(const kw_problem *problem, kw_tensor tensor) {
    return kw_problem_values(problem, tensor) * (int64_t)kw_dtype_size(kw_problem_dtype(problem, tensor));
}

/* Whether so many groups of so many bytes are still near, and leave turns for all threads. */
static bool more_are_better(double group, int64_t groups, double turns, const kw_target *target) {
    return group * (double)groups <= (double)target->l2 / 4 && (target->units == 1 || turns >= 2.0 * (double)target->units);
}

/* Groups that divide all and fill vectors: as many as have copies of a quarter of the second-level cache, for what a kernel works out
 * before it begins is the same for any number; else the fewest. All of them where none fill vectors. */
static int64_t groups_of_turn(const kw_problem *problem, const kw_target *target) {
    enum { MOST = 1024 };
    const kw_conv_dims *d = &problem->conv;
    int64_t least = kw_min(d->c, d->k) / d->g, full = problem->dtype == KW_FP32 ? 16 : 32, chosen = 0;
    double group = (double)(tensor_bytes(problem, KW_X) + tensor_bytes(problem, KW_Y)) / (double)d->g;
    double images = problem->op == KW_CONV_BWD_WEIGHT ? 1 : (double)d->n; /* turns of a group */
    group /= images;
    for (int64_t groups = 1; groups < kw_min(d->g, MOST); groups++) {
        int64_t channels = groups * least;
        bool fills = least >= full || (channels >= full && channels % (full / 2) == 0);
        if (d->g % groups == 0 && fills && (!chosen || more_are_better(group, groups, images * (double)(d->g / groups), target))) {
            chosen = groups;
        }
    }
    return chosen && !more_are_better(group, d->g, images, target) ? chosen : d->g;
}

/* Tensors of the epilogue that have the result's shape and stand in copies, the first in the result's own. */
static int64_t copies_of_result(const kw_problem *problem) {
    int64_t likes = 0;
    for (int32_t i = 0; i < problem->epilogue.count; i++) {
        likes += kw_epilogue_info_of(problem->epilogue.step[i].op)->shape == KW_EXTRA_ALL;
    }
    return kw_max(1, likes);
}

static turn turn_of(const kw_problem *problem, const kw_target *target) {
    const kw_conv_dims *d = &problem->conv;
    turn t = {.problem = *problem};
    kw_conv_dims *part = &t.problem.conv;
    int64_t images = problem->op == KW_CONV_BWD_WEIGHT ? d->n : 1, groups = groups_of_turn(problem, target);
    t.turns = d->n / images * (d->g / groups);
    /* More than a fifth of the time would be spent with idle threads. */
    t.whole = 5 * (kw_round_up(t.turns, target->units) - t.turns) > t.turns;
    t.turns = t.whole ? 1 : t.turns;
    t.blocks = t.whole ? 1 : d->g / groups;
    t.problem.layout = KW_CHANNELS_LAST;
    memset(t.problem.pitch, 0, sizeof t.problem.pitch);
    if (!t.whole) {
        part->n = images;
        part->g = groups;
        part->c = d->c / d->g * groups;
        part->k = d->k / d->g * groups;
    }
    t.weights = d->c > d->g && d->filter[0] * d->filter[1] * d->filter[2] > 1;
    t.x = kw_round_up(tensor_bytes(&t.problem, KW_X), KW_LINE);
    t.w = t.weights ? kw_round_up(tensor_bytes(&t.problem, KW_W), KW_LINE) : 0;
    t.y = kw_round_up(tensor_bytes(&t.problem, KW_Y), KW_LINE);
    *(problem->op == KW_CONV_BWD_DATA ? &t.x : &t.y) *= problem->op == KW_CONV_BWD_WEIGHT ? 1 : copies_of_result(problem);
    return t;
}

/* Result rows of which the copy takes an eighth of the second-level cache, where that of all takes more than a quarter. */
static int64_t rows_of_band(const kw_problem *problem, const turn *t, const kw_target *target) {
    int64_t out[3];
    kw_problem_output(out, problem);
    if (problem->op != KW_CONV_FWD || t->whole || out[0] > 1 || 4 * t->y <= target->l2) {
        return 0;
    }
    for (int32_t i = 0; i < problem->epilogue.count; i++) {
        if (kw_epilogue_info_of(problem->epilogue.step[i].op)->shape == KW_EXTRA_ALL) {
            return 0; /* those stand in copies of all rows */
        }
    }
    return kw_max(1, target->l2 / 8 * out[1] / t->y);
}

static void add_stage(kw_launch *launch, int role, int64_t units, bool packs) {
    launch->reorder.roles |= (kw_i64)role << (4 * launch->stages);
    launch->stage[launch->stages++] = (kw_stage){.units = units, .packs = packs};
}

/* The stages that pack, of forward and backward data. */
static void add_packing(kw_launch *launch, const kw_problem *problem, const turn *t) {
    const kw_conv_dims *d = &problem->conv;
    int64_t each = kw_round_up(launch->packed_bytes, KW_LINE);
    launch->reorder.packed = each;
    launch->reorder.w_at = -1;
    launch->packed_bytes = each * t->blocks;
    if (t->weights) {
        launch->reorder.w_at = launch->packed_bytes;
        launch->packed_bytes += tensor_bytes(problem, KW_W);
        add_stage(launch, KW_ROLE_WEIGHTS, d->k, true);
    }
    add_stage(launch, KW_ROLE_PACK, t->blocks * launch->reorder.units[0], true);
}

/* Behind what the kernel itself has there. */
static void place_copies(kw_launch *launch, const turn *t, bool gradient) {
    kw_reorder *r = &launch->reorder;
    int64_t own = kw_round_up(t->whole ? launch->shared_bytes : launch->thread_bytes, KW_LINE);
    r->x_at = own;
    r->y_at = r->x_at + t->x;
    r->shared_at = r->y_at + t->y;
    int64_t end = r->shared_at + (t->whole ? 0 : kw_round_up(launch->shared_bytes, KW_LINE));
    if (gradient) {
        r->w_at = t->weights ? end : -1;
        end += t->w;
    }
    if (t->whole) {
        launch->shared_bytes = end;
    } else {
        launch->thread_bytes = end;
        launch->shared_bytes = 0;
    }
}

static void count_reordering(kw_launch *launch, const kw_problem *problem, const turn *t, int64_t packed) {
    double turns = (double)t->turns;
    launch->multiply_adds *= turns;
    launch->loads *= turns;
    launch->copied_bytes = (launch->copied_bytes - 2.0 * (double)packed) * turns + 2.0 * (double)launch->packed_bytes;
    for (int i = 0; i < KW_CACHE_REUSE_MAX; i++) {
        launch->rereads[i].bytes *= turns;
    }
    launch->copied_bytes +=
        2.0 * (double)(kw_problem_values(problem, KW_X) + kw_problem_values(problem, KW_Y)) * (double)kw_dtype_size(problem->dtype);
}

void kw_reorder_launch(kw_launch_last *last, const kw_config *config, const kw_problem *problem, const kw_target *target,
                       kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    *launch = (kw_launch){0};
    if (problem->layout == KW_CHANNELS_LAST) {
        last(config, problem, target, launch);
        return;
    }
    bool gradient = problem->op == KW_CONV_BWD_WEIGHT;
    turn t = turn_of(problem, target);
    kw_target alone = *target;
    alone.units = t.whole ? target->units : 1;
    launch->reorder.band_rows = rows_of_band(problem, &t, target);
    launch->reorder.groups = d->g;
    last(config, &t.problem, &alone, launch);
    int64_t packed = launch->packed_bytes, out[3];
    kw_problem_output(out, problem);
    const kw_reorder bands = launch->reorder;
    bool banded = bands.band_units > 0 && bands.band_rows < out[1];
    if (banded) {
        t.y = kw_round_up(kw_ceil_div(t.y, out[1]) * bands.band_rows, KW_LINE);
    }
    int64_t in_pixels = d->in[0] * d->in[1] * d->in[2], out_pixels = out[0] * out[1] * out[2];
    int64_t pieces = d->n * kw_ceil_div(kw_max(in_pixels, out_pixels), KW_REORDER_PIXELS);
    launch->reorder = (kw_reorder){
        .images = t.problem.conv.n,
        .groups = t.problem.conv.g,
        .units = {launch->stage[0].units, gradient ? 0 : launch->stage[1].units},
        .band_rows = banded ? bands.band_rows : 0,
        .band_units = banded ? bands.band_units : 0,
    };
    int64_t computed = launch->reorder.units[!gradient];
    launch->stages = 0;
    if (!gradient) {
        add_packing(launch, problem, &t);
    }
    place_copies(launch, &t, gradient);
    if (t.whole) {
        add_stage(launch, KW_ROLE_IN, pieces, false);
        add_stage(launch, KW_ROLE_COPIES, computed, false);
        if (!gradient) {
            add_stage(launch, KW_ROLE_OUT, pieces, false);
        } else if (t.weights) {
            add_stage(launch, KW_ROLE_GRADIENT, d->k, false);
        }
    } else {
        add_stage(launch, KW_ROLE_TURNS, t.turns, false);
    }
    count_reordering(launch, problem, &t, packed);
}
