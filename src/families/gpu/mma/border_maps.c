/* border_maps.c: a convolution with strides of 1 as kernels/gpu/igemm/border.h goes through it (spec=stride1): rows are positions of images
 * that are padded along the axes whose taps share their pixels, which lie in shared memory once for these taps. Axes of a map are counted from
 * the innermost on, those of a problem from the outermost. */
#include "families/gpu/mma/mma.h"

#include "base/math.h"
#include "gpu/igemm/args.h"
#define KW_CEIL kw_ceil_div
#include "gpu/lib/resources.h"

#include <math.h>

/* An axis: extents of what is read and of the result, where the first result's first tap reads, and how far on the last one does; positions
 * from line to line. */
typedef struct line {
    int64_t source, low, reach, result, pitch;
} line;

/* shared: its taps share their pixels; else copies of each move by the tap's offset. */
static line line_of(const kw_problem *problem, int axis, bool shared) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3], reach = (d->filter[axis] - 1) * d->dilation[axis];
    bool data = problem->op == KW_CONV_BWD_DATA;
    kw_problem_output(out, problem);
    line l = {.source = data ? out[axis] : d->in[axis],
              .low = data ? d->pad[axis] - reach : -d->pad[axis],
              .reach = reach,
              .result = data ? d->in[axis] : out[axis]};
    l.pitch = shared ? KW_BORDER_PITCH(l.source, l.result, l.low, reach) : l.result;
    return l;
}

/* What tiles read where taps along the axes from `shared` on share their pixels. */
typedef struct border {
    int shared;
    int64_t taps, outer; /* that share them; others */
    int64_t joined;      /* taps of a step */
    int64_t positions;   /* of all images */
    int64_t boxes, box;  /* copies that bring what a tile reads, and positions of one, a multiple of 8 */
} border;

/* Channels of the depth. */
static int64_t depth_channels(const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    return (problem->op == KW_CONV_FWD ? d->c : d->k) / d->g;
}

/* Whether a step has two taps, of half a step's channels each: backward data's filters come tap by tap, forward's lie one behind the other. */
static bool joins_taps(const kw_mma *mma, const kw_problem *problem) {
    enum { HALF_BYTES = KW_SLAB_ROW_BYTES / 2 };
    int64_t channels = depth_channels(problem), bytes = kw_mma_row_bytes(mma, channels);
    return problem->conv.g == 1 && (problem->op == KW_CONV_FWD ? bytes == HALF_BYTES : channels * mma->bytes <= HALF_BYTES);
}

static border border_of(const kw_mma *mma, const kw_problem *problem, int shared) {
    const kw_conv_dims *d = &problem->conv;
    border b = {.shared = shared, .taps = 1, .outer = 1, .joined = joins_taps(mma, problem) ? 2 : 1, .positions = d->n};
    int64_t reach = 0, distance = 1; /* from a row's own position to the one that its last tap reads */
    for (int axis = 2; axis >= 0; axis--) {
        line l = line_of(problem, axis, axis >= shared);
        b.positions *= l.pitch;
        *(axis >= shared ? &b.taps : &b.outer) *= d->filter[axis];
        reach += axis >= shared ? l.reach * distance : 0;
        distance *= l.pitch;
    }
    int64_t rows = mma->tile[0] + reach;
    b.boxes = kw_ceil_div(rows, KW_BOX_ROWS);
    b.box = kw_round_up(kw_ceil_div(rows, b.boxes), 8);
    return b;
}

static bool groups_fit(const kw_mma *mma, const kw_conv_dims *d) {
    bool whole = d->c / d->g % KW_SLAB_ELEMENTS == 0 && d->k / d->g % KW_SLAB_ELEMENTS == 0;
    return d->g == 1 || (whole && !kw_mma_aligns(mma));
}

/* Of one tap the two borders under way would be given back by a third, which waits for them. */
static bool border_fits(const kw_mma *mma, const kw_problem *problem, int shared) {
    enum { BITS = 16, EXTENT_MAX = 1 << 10 };
    int64_t limit = (int64_t)1 << (BITS / mma->ndim - 1), positions = problem->conv.n, taps = 1;
    bool good = true, few = true;
    for (int axis = 3 - mma->ndim; axis < 3; axis++) {
        line l = line_of(problem, axis, axis >= shared);
        int64_t high = l.low + l.pitch - l.source;
        few &= axis < shared || (l.pitch <= EXTENT_MAX && l.reach <= EXTENT_MAX); /* their products are small then */
        positions = kw_mul(positions, l.pitch, &good);
        taps = kw_mul(taps, axis < shared ? 1 : problem->conv.filter[axis], &good);
        good &= l.low >= -limit && l.low < limit && high >= -limit && high < limit && (axis >= shared || l.reach < 2 * limit);
    }
    if (!good || !few || positions > INT32_MAX / 2 || taps < 2 || taps > KW_BORDER_TAPS_MAX) {
        return false;
    }
    border b = border_of(mma, problem, shared);
    return b.boxes * b.box <= kw_mma_border_rows(mma);
}

/* What a tile draws from the second-level cache for a border. Rows of 128 bytes, whatever part of their channels are there: copies were seen to
 * take no less time for 32 of 64 (docs/results/2026-11-27/nvidia-convolutions.md). */
static double drawn_bytes(const kw_mma *mma, const border *b) {
    return (double)(b->boxes * b->box + kw_ceil_div(b->taps, b->joined) * mma->tile[1]) * KW_SLAB_ROW_BYTES;
}

/* Which axes share: with more of them a step draws less, and more positions have no result. Those whose tiles are done first; shared -1: none fit. */
static border best_border(const kw_mma *mma, const kw_problem *problem) {
    const double products_cycle = 2048, drawn_cycle = 35;
    border best = {.shared = -1};
    double least = INFINITY, units = mma->arch ? (double)kw_max(1, mma->arch->typical.units) : 1;
    double products = (double)mma->tile[0] * mma->tile[1] * (double)kw_min(depth_channels(problem), mma->tile[2]) / products_cycle;
    for (int shared = 3 - mma->ndim; shared < 3; shared++) {
        if (!border_fits(mma, problem, shared)) {
            continue;
        }
        border b = border_of(mma, problem, shared);
        double rounds = ceil((double)kw_ceil_div(b.positions, mma->tile[0]) / units);
        double cycles = rounds * (double)b.outer * fmax((double)b.taps * products, drawn_bytes(mma, &b) / drawn_cycle);
        if (cycles < least) {
            least = cycles;
            best = b;
        }
    }
    return best;
}

bool kw_mma_border_fits(const kw_mma *mma, const kw_problem *problem) {
    return groups_fit(mma, &problem->conv) && best_border(mma, problem).shared >= 0;
}

kw_mma_grid kw_mma_border_grid(const kw_mma *mma, const kw_problem *problem) {
    enum { HALF = KW_SLAB_ELEMENTS / 2 };
    const kw_conv_dims *d = &problem->conv;
    bool forward = problem->op == KW_CONV_FWD;
    const border b = best_border(mma, problem);
    int64_t depth = depth_channels(problem), steps = kw_ceil_div(b.taps, b.joined); /* of a border */
    kw_mma_grid grid = {.tile_rows = kw_ceil_div(b.positions, mma->tile[0]),
                        .tile_cols = kw_ceil_div((forward ? d->k : d->c) / d->g, mma->tile[1]),
                        .batches = d->g,
                        .steps = steps * b.outer * kw_ceil_div(depth, KW_SLAB_ELEMENTS),
                        .elements = kw_problem_elements(problem, kw_problem_result(problem))};
    grid.drawn = drawn_bytes(mma, &b) / (double)steps;
    grid.multiplied = (double)(b.taps * kw_round_up(depth, HALF)) / (double)(steps * kw_round_up(depth, KW_SLAB_ELEMENTS));
    return grid;
}

void kw_mma_border_maps(const kw_mma *mma, const kw_problem *problem, kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    bool forward = problem->op == KW_CONV_FWD;
    const border b = best_border(mma, problem);
    int64_t channels = forward ? d->c : d->k, stride = kw_mma_row_bytes(mma, channels), pixels = d->n;
    int64_t taps = b.taps * b.outer, c = d->c / d->g, tap = kw_mma_row_bytes(mma, c);
    kw_map map = {.tensor = forward ? KW_X : KW_Y,
                  .dtype = mma->dtype,
                  .rank = mma->ndim + 2,
                  .extent = {channels},
                  .box = {KW_SLAB_ELEMENTS, (int32_t)b.box, 1, 1, 1},
                  .swizzle = true,
                  .pixels = true};
    for (int i = 0; i < mma->ndim; i++) {
        line l = line_of(problem, 2 - i, 2 - i >= b.shared);
        map.extent[i + 1] = l.source;
        map.stride[i] = stride;
        map.low[i] = (int32_t)l.low;
        map.count[i] = (int32_t)l.pitch;
        map.step[i] = 1;
        stride *= l.source;
        pixels *= l.source;
    }
    map.extent[mma->ndim + 1] = d->n;
    map.stride[mma->ndim] = stride;
    launch->map[0] = map;
    const int64_t extent[3] = {c, taps, d->k}, strides[2] = {tap, taps * tap};
    const int32_t rows = forward ? mma->tile[1] : KW_SLAB_ELEMENTS / (int32_t)b.joined;
    const int64_t places = kw_min(kw_mma_borders(mma), 2 * kw_mma_border_rows(mma) / (b.boxes * b.box));
    launch->map[1] = kw_mma_box_map(KW_W, mma->dtype, extent, strides, (const int32_t[3]){KW_SLAB_ELEMENTS, 1, rows});
    kw_launch_params(launch, kw_igemm_params)->pixels = (places << KW_BORDER_JOINED_BITS | b.joined) << 3 * KW_BORDER_BITS |
                                                        (int64_t)b.shared << 2 * KW_BORDER_BITS | b.boxes << KW_BORDER_BITS | b.box;
    if (kw_mma_aligns(mma)) {
        kw_mma_align_operands(mma, pixels, d->k * taps, launch);
    }
    if (forward && b.joined > 1) { /* all taps of an output channel are one line */
        launch->map[1].extent[0] = taps * tap / mma->bytes;
        launch->map[1].extent[1] = 1;
        launch->map[1].stride[0] = taps * tap;
    }
}
