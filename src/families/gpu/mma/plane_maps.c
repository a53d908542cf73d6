/* plane_maps.c: a 1x1 convolution of channels-first tensors as kernels/gpu/igemm/planes.h goes through it: tiles and steps, the tensor maps,
 * and the order of the weights. */
#include "families/gpu/mma/mma.h"

#include "base/math.h"
#include "families/gpu/turned.h"
#include "gpu/igemm/args.h"
#define KW_CEIL kw_ceil_div
#include "gpu/lib/resources.h"

static int64_t pixels_of(const kw_conv_dims *d) {
    return d->in[0] * d->in[1] * d->in[2];
}

/* Channels of a group whose pixels a map has together in a line. */
static int64_t channels_apart(const kw_conv_dims *d) {
    return KW_PLANES_APART(pixels_of(d));
}

bool kw_mma_planes_have_groups(const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    return d->g == 1 || (d->c / d->g % KW_SLAB_ELEMENTS == 0 && d->k / d->g % KW_SLAB_ELEMENTS == 0);
}

bool kw_mma_planes_are_aligned(const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    return channels_apart(d) == 1 || problem->op == KW_CONV_BWD_DATA || (problem->op == KW_CONV_FWD && d->c / d->g % KW_SLAB_ELEMENTS == 0);
}

kw_mma_grid kw_mma_plane_grid(const kw_mma *mma, const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    int64_t c = d->c / d->g, k = d->k / d->g, pixels = pixels_of(d);
    bool weight = problem->op == KW_CONV_BWD_WEIGHT, forward = problem->op == KW_CONV_FWD;
    return (kw_mma_grid){.tile_rows = kw_ceil_div(problem->op == KW_CONV_BWD_DATA ? c : k, mma->tile[0]),
                         .tile_cols = kw_ceil_div(weight ? c : pixels, mma->tile[1]),
                         .batches = weight ? d->g : d->n * d->g,
                         .steps = weight ? d->n * kw_ceil_div(pixels, mma->tile[2]) : kw_ceil_div(forward ? c : k, mma->tile[2]),
                         .elements = kw_problem_elements(problem, kw_problem_result(problem))};
}

/* x or y: pixels of so many channels that lie together, such channels, images. */
static kw_map planes(kw_tensor tensor, kw_dtype dtype, const kw_problem *problem, int64_t apart, int32_t lines) {
    const kw_conv_dims *d = &problem->conv;
    int64_t channels = tensor == KW_X ? d->c : d->k, pixels = pixels_of(d), bytes = (int64_t)kw_dtype_size(dtype);
    const int64_t extent[3] = {apart * pixels, channels / apart, d->n}, stride[2] = {apart * pixels * bytes, channels * pixels * bytes};
    return kw_mma_box_map(tensor, dtype, extent, stride, (const int32_t[3]){KW_SLAB_ELEMENTS, lines, 1});
}

/* Weights: channel of a group, k modulo `apart`, the rest of k. */
static kw_map points(kw_dtype dtype, const kw_conv_dims *d, int64_t apart, int32_t lines) {
    const int64_t c = d->c / d->g, row = c * (int64_t)kw_dtype_size(dtype), extent[3] = {c, apart, d->k / apart},
                  stride[2] = {row, apart * row};
    return kw_mma_box_map(KW_W, dtype, extent, stride, (const int32_t[3]){KW_SLAB_ELEMENTS, 1, lines});
}

/* Of forward's weights, in each 64 depths those of one remainder together. */
static void order_weights(const kw_conv_dims *d, int32_t bytes, int64_t apart, const kw_target *target, kw_launch *launch) {
    const kw_turn turn = {
        .tensor = KW_W, .images = d->k * (d->c / d->g) / KW_SLAB_ELEMENTS, .rows = KW_SLAB_ELEMENTS / apart, .cols = apart, .bytes = bytes};
    kw_turned_weights(&turn, target, launch);
}

void kw_mma_plane_maps(const kw_mma *mma, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    int64_t apart = channels_apart(d);
    int32_t lines = KW_SLAB_ELEMENTS / (int32_t)apart;
    launch->turning.none = true;
    switch (problem->op) {
    case KW_CONV_BWD_WEIGHT:
        launch->map[0] = planes(KW_Y, mma->dtype, problem, 1, mma->tile[0]);
        launch->map[1] = planes(KW_X, mma->dtype, problem, 1, mma->tile[1]);
        launch->map[2] = points(mma->output, d, 1, KW_SLAB_ELEMENTS);
        break;
    case KW_CONV_BWD_DATA:
        launch->map[0] = points(mma->dtype, d, apart, lines);
        launch->map[1] = planes(KW_Y, mma->dtype, problem, apart, lines);
        launch->map[2] = planes(KW_X, mma->output, problem, 1, KW_SLAB_ELEMENTS);
        break;
    default:
        launch->map[0] = kw_mma_bulk_map(KW_W, mma->dtype, (const int64_t[3]){d->c / d->g, d->k, 1}, d->c / d->g * mma->bytes,
                                         d->k * (d->c / d->g) * mma->bytes, mma->tile[0]);
        launch->map[1] = planes(KW_X, mma->dtype, problem, apart, lines);
        launch->map[2] = planes(KW_Y, mma->output, problem, 1, KW_SLAB_ELEMENTS);
        if (apart > 1) {
            order_weights(d, mma->bytes, apart, target, launch);
        }
        break;
    }
    if (!kw_mma_stores_boxes(mma) || (problem->op != KW_CONV_BWD_WEIGHT && apart > 1)) {
        launch->map[2] = (kw_map){0};
    }
}
