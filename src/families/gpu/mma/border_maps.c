/* border_maps.c: a convolution with strides of 1 as kernels/gpu/igemm/border.h goes through it (spec=stride1): rows are positions of padded
 * images, of which a tile's lie in shared memory once for all taps. Axes of a map are counted from the innermost on, those of a problem
 * from the outermost. */
#include "families/gpu/mma/mma.h"

#include "base/math.h"
#include "gpu/igemm/args.h"
#define KW_CEIL kw_ceil_div
#include "gpu/lib/resources.h"

/* An axis: extents of what is read and of the result, where the first result's first tap reads, and how far on the last one does. */
typedef struct line {
    int64_t source, low, reach, pitch;
} line;

static line line_of(const kw_problem *problem, int axis) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3], reach = (d->filter[axis] - 1) * d->dilation[axis];
    bool data = problem->op == KW_CONV_BWD_DATA;
    kw_problem_output(out, problem);
    line l = {.source = data ? out[axis] : d->in[axis], .low = data ? d->pad[axis] - reach : -d->pad[axis], .reach = reach};
    int64_t result = data ? d->in[axis] : out[axis];
    l.pitch = KW_BORDER_PITCH(l.source, result, l.low, reach);
    return l;
}

/* Positions from a row's own to the one that its last tap reads. */
static int64_t reach_of(const kw_problem *problem) {
    int64_t reach = 0, distance = 1;
    for (int axis = 2; axis >= 0; axis--) {
        line l = line_of(problem, axis);
        reach += l.reach * distance;
        distance *= l.pitch;
    }
    return reach;
}

/* Copies that bring what a tile reads, and positions of one, a multiple of 8. */
static int64_t boxes_of(const kw_mma *mma, const kw_problem *problem, int64_t *box) {
    int64_t rows = mma->tile[0] + reach_of(problem), boxes = kw_ceil_div(rows, KW_BOX_ROWS);
    *box = kw_round_up(kw_ceil_div(rows, boxes), 8);
    return boxes;
}

bool kw_mma_border_fits(const kw_mma *mma, const kw_problem *problem) {
    enum { BITS = 16, EXTENT_MAX = 1 << 10 };
    const kw_conv_dims *d = &problem->conv;
    int64_t limit = (int64_t)1 << (BITS / mma->ndim - 1), c = d->c / d->g, k = d->k / d->g, positions = d->n, box;
    bool good = d->g == 1 || (c % KW_SLAB_ELEMENTS == 0 && k % KW_SLAB_ELEMENTS == 0), few = true;
    for (int axis = 3 - mma->ndim; axis < 3; axis++) {
        line l = line_of(problem, axis);
        int64_t high = l.low + l.pitch - l.source;
        few &= l.pitch <= EXTENT_MAX && l.reach <= EXTENT_MAX; /* their products are small then */
        positions = kw_mul(positions, l.pitch, &good);
        good &= l.low >= -limit && l.low < limit && high >= -limit && high < limit;
    }
    int64_t taps = d->filter[0] * d->filter[1] * d->filter[2];
    few &= taps <= KW_BORDER_TAPS_MAX;
    good &= taps >= 2; /* of one tap the two blocks of channels under way would be given back by a third, which waits for them */
    return good && few && positions <= INT32_MAX / 2 && boxes_of(mma, problem, &box) * box <= kw_mma_border_rows(mma);
}

kw_mma_grid kw_mma_border_grid(const kw_mma *mma, const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    bool forward = problem->op == KW_CONV_FWD;
    int64_t positions = d->n, taps = d->filter[0] * d->filter[1] * d->filter[2], c = d->c / d->g, k = d->k / d->g, box;
    for (int axis = 0; axis < 3; axis++) {
        positions *= line_of(problem, axis).pitch;
    }
    kw_mma_grid grid = {.tile_rows = kw_ceil_div(positions, mma->tile[0]),
                        .tile_cols = kw_ceil_div(forward ? k : c, mma->tile[1]),
                        .batches = d->g,
                        .steps = taps * kw_ceil_div(forward ? c : k, KW_SLAB_ELEMENTS),
                        .elements = kw_problem_elements(problem, kw_problem_result(problem))};
    double pixels = (double)(boxes_of(mma, problem, &box) * box) / (double)taps;
    grid.drawn = (pixels + (double)mma->tile[1]) * KW_SLAB_ROW_BYTES;
    return grid;
}

void kw_mma_border_maps(const kw_mma *mma, const kw_problem *problem, kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    bool forward = problem->op == KW_CONV_FWD;
    int64_t box, boxes = boxes_of(mma, problem, &box), channels = forward ? d->c : d->k, stride = channels * mma->bytes;
    int64_t taps = d->filter[0] * d->filter[1] * d->filter[2], c = d->c / d->g, tap = c * mma->bytes;
    kw_map map = {.tensor = forward ? KW_X : KW_Y,
                  .dtype = mma->dtype,
                  .rank = mma->ndim + 2,
                  .extent = {channels},
                  .box = {KW_SLAB_ELEMENTS, (int32_t)box, 1, 1, 1},
                  .swizzle = true,
                  .pixels = true};
    for (int i = 0; i < mma->ndim; i++) {
        line l = line_of(problem, 2 - i);
        map.extent[i + 1] = l.source;
        map.stride[i] = stride;
        map.low[i] = (int32_t)l.low;
        map.count[i] = (int32_t)l.pitch;
        map.step[i] = 1;
        stride *= l.source;
    }
    map.extent[mma->ndim + 1] = d->n;
    map.stride[mma->ndim] = stride;
    launch->map[0] = map;
    const int64_t extent[3] = {c, taps, d->k}, strides[2] = {tap, taps * tap};
    launch->map[1] = kw_mma_box_map(KW_W, mma->dtype, extent, strides,
                                    (const int32_t[3]){KW_SLAB_ELEMENTS, 1, forward ? mma->tile[1] : KW_SLAB_ELEMENTS});
    kw_launch_params(launch, kw_igemm_params)->pixels = boxes << KW_BORDER_BITS | box;
}
