/* image_maps.c: a convolution as kernels/gpu/igemm/feed.h goes through it (pipe=cooperative, pingpong): tiles and steps, and the tensor
 * maps. Axes of a map are counted from the innermost on, those of a problem from the outermost. */
#include "families/gpu/mma/mma.h"

#include "base/math.h"
#include "gpu/lib/resources.h"

/* An axis of the image that copies walk over: of y for backward data, else of x. */
typedef struct walk {
    int64_t extent, low, count, step, reach; /* reach: offset of the farthest tap */
} walk;

static walk image_walk(const kw_problem *problem, int axis) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3], reach = (d->filter[axis] - 1) * d->dilation[axis];
    kw_problem_output(out, problem);
    if (problem->op == KW_CONV_BWD_DATA) {
        return (walk){out[axis], d->pad[axis] - reach, d->in[axis], 1, reach};
    }
    return (walk){d->in[axis], -d->pad[axis], out[axis], d->stride[axis], reach};
}

bool kw_mma_walks_image(const kw_mma *mma, const kw_problem *problem) {
    enum { BITS = 16, STEP_MAX = 8, WEIGHT_CHANNELS = 1 << 21 };
    const kw_conv_dims *d = &problem->conv;
    int64_t limit = (int64_t)1 << (BITS / mma->ndim - 1);
    bool good = d->g == 1 && (problem->op != KW_CONV_BWD_WEIGHT || d->c < WEIGHT_CHANNELS);
    for (int axis = 3 - mma->ndim; axis < 3; axis++) {
        walk w = image_walk(problem, axis);
        int64_t high = w.low + (w.count - 1) * w.step + 1 - w.extent;
        good &= w.step <= STEP_MAX && w.low >= -limit && w.low < limit && high >= -limit && high < limit && w.reach < 2 * limit;
        good &= problem->op != KW_CONV_BWD_DATA || d->stride[axis] == 1;
    }
    return good;
}

static int64_t volume(const int64_t extent[3]) {
    return extent[0] * extent[1] * extent[2];
}

kw_mma_grid kw_mma_image_grid(const kw_mma *mma, const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3], taps = volume(d->filter);
    kw_problem_output(out, problem);
    kw_mma_grid grid = {.batches = 1, .elements = kw_problem_elements(problem, kw_problem_result(problem))};
    int64_t pixels = d->n * volume(problem->op == KW_CONV_BWD_DATA ? d->in : out);
    if (problem->op == KW_CONV_BWD_WEIGHT) {
        grid.tile_rows = kw_ceil_div(d->k, mma->tile[0]);
        grid.tile_cols = kw_ceil_div(taps * kw_ceil_div(d->c, KW_SLAB_ELEMENTS) * KW_SLAB_ELEMENTS, mma->tile[1]);
        grid.steps = kw_ceil_div(pixels, mma->tile[2]);
        return grid;
    }
    bool forward = problem->op == KW_CONV_FWD;
    grid.tile_rows = kw_ceil_div(pixels, mma->tile[0]);
    grid.tile_cols = kw_ceil_div(forward ? d->k : d->c, mma->tile[1]);
    grid.steps = taps * kw_ceil_div(forward ? d->c : d->k, KW_SLAB_ELEMENTS);
    return grid;
}

/* Runs of `pixels` pixels, 64 channels of each. */
static kw_map image_map(const kw_mma *mma, const kw_problem *problem, kw_tensor tensor, int32_t pixels) {
    const kw_conv_dims *d = &problem->conv;
    int64_t stride = kw_mma_row_bytes(mma, tensor == KW_X ? d->c : d->k);
    kw_map map = {.tensor = tensor,
                  .dtype = mma->dtype,
                  .rank = mma->ndim + 2,
                  .extent = {tensor == KW_X ? d->c : d->k},
                  .box = {KW_SLAB_ELEMENTS, pixels, 1, 1, 1},
                  .swizzle = true,
                  .pixels = true};
    for (int i = 0; i < mma->ndim; i++) {
        walk w = image_walk(problem, 2 - i);
        map.extent[i + 1] = w.extent;
        map.stride[i] = stride;
        map.low[i] = (int32_t)w.low;
        map.count[i] = (int32_t)w.count;
        map.step[i] = (int32_t)w.step;
        stride *= w.extent;
    }
    map.extent[mma->ndim + 1] = d->n;
    map.stride[mma->ndim] = stride;
    return map;
}

/* A tensor with pixels as rows. */
static kw_map pixel_rows(const kw_mma *mma, kw_tensor tensor, int64_t channels, int64_t pixels) {
    const int64_t extent[3] = {channels, pixels, 1}, row = kw_mma_row_bytes(mma, channels), stride[2] = {row, pixels * row};
    return kw_mma_box_map(tensor, mma->dtype, extent, stride, (const int32_t[3]){KW_SLAB_ELEMENTS, KW_SLAB_ELEMENTS, 1});
}

/* Channel, tap, output channel; rows: output channels of a copy. */
static kw_map filter_map(const kw_mma *mma, const kw_conv_dims *d, int32_t rows) {
    const int64_t taps = volume(d->filter), extent[3] = {d->c, taps, d->k}, tap = kw_mma_row_bytes(mma, d->c),
                  stride[2] = {tap, taps * tap};
    return kw_mma_box_map(KW_W, mma->dtype, extent, stride, (const int32_t[3]){KW_SLAB_ELEMENTS, 1, rows});
}

void kw_mma_image_maps(const kw_mma *mma, const kw_problem *problem, kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3];
    kw_problem_output(out, problem);
    switch (problem->op) {
    case KW_CONV_BWD_WEIGHT:
        launch->map[0] = pixel_rows(mma, KW_Y, d->k, d->n * volume(out));
        launch->map[1] = image_map(mma, problem, KW_X, mma->tile[2]);
        launch->map[2] = filter_map(mma, d, KW_SLAB_ELEMENTS);
        break;
    case KW_CONV_BWD_DATA:
        launch->map[0] = image_map(mma, problem, KW_Y, mma->tile[0]);
        launch->map[1] = filter_map(mma, d, KW_SLAB_ELEMENTS);
        launch->map[2] = pixel_rows(mma, KW_X, d->c, d->n * volume(d->in));
        break;
    default:
        launch->map[0] = image_map(mma, problem, KW_X, mma->tile[0]);
        launch->map[1] = filter_map(mma, d, mma->tile[1]);
        launch->map[2] = pixel_rows(mma, KW_Y, d->k, d->n * volume(out));
        break;
    }
    if (kw_mma_aligns(mma)) {
        int64_t y_rows = d->n * volume(out), x_rows = d->n * volume(d->in), w_rows = d->k * volume(d->filter);
        launch->map[2] = (kw_map){0};
        kw_mma_align_operands(mma, problem->op == KW_CONV_FWD ? x_rows : y_rows, problem->op == KW_CONV_BWD_WEIGHT ? x_rows : w_rows,
                              launch);
    }
}
