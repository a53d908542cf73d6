/* plane_maps.c: a 1x1 convolution of channels-first tensors as kernels/gpu/igemm/planes.h goes through it: tiles and steps, and
 * the tensor maps. */
#include "families/gpu/mma/mma.h"

#include "base/math.h"
#include "gpu/igemm/args.h"
#include "problem/tensors/pitch.h"
#define KW_CEIL kw_ceil_div
#include "gpu/lib/resources.h"

static int64_t pixels_of(const kw_conv_dims *d) {
    return d->in[0] * d->in[1] * d->in[2];
}

bool kw_mma_planes_have_groups(const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    return d->g == 1 || (d->c / d->g % KW_SLAB_ELEMENTS == 0 && d->k / d->g % KW_SLAB_ELEMENTS == 0);
}

bool kw_mma_planes_are_aligned(const kw_problem *problem) {
    return pixels_of(&problem->conv) % 8 == 0; /* with pitches too: an H200 was seen to store whole 16 bytes behind the last pixel */
}

kw_mma_grid kw_mma_plane_grid(const kw_mma *mma, const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    int64_t c = d->c / d->g, k = d->k / d->g, pixels = pixels_of(d);
    bool weight = problem->op == KW_CONV_BWD_WEIGHT, forward = problem->op == KW_CONV_FWD;
    return (kw_mma_grid){.tile_rows = kw_ceil_div(problem->op == KW_CONV_BWD_DATA ? c : k, mma->tile[0]),
                         .tile_cols = kw_ceil_div(weight ? c : pixels, mma->tile[1]),
                         .batches = weight ? d->g : d->n * d->g,
                         .steps = weight ? d->n * kw_ceil_div(pixels, mma->tile[2]) : kw_ceil_div(forward ? c : k, mma->tile[2]),
                         .elements = kw_problem_elements(problem, kw_problem_result(problem)),
                         .uneven = d->g > 1};
}

/* x or y: pixels, channels, images. */
static kw_map planes(kw_tensor tensor, kw_dtype dtype, const kw_problem *problem, int32_t lines) {
    const kw_conv_dims *d = &problem->conv;
    int64_t bytes = (int64_t)kw_dtype_size(dtype);
    kw_problem first = *problem; /* launch() is told of channels-last tensors (turned.c) */
    first.layout = KW_CHANNELS_FIRST;
    kw_image image = kw_problem_image(&first, tensor);
    const int64_t extent[3] = {pixels_of(d), tensor == KW_X ? d->c : d->k, d->n},
                  stride[2] = {image.step[2] * bytes, image.step[3] * bytes};
    return kw_mma_box_map(tensor, dtype, extent, stride, (const int32_t[3]){KW_SLAB_ELEMENTS, lines, 1});
}

/* Weights: channel of a group, -, k. */
static kw_map points(kw_dtype dtype, const kw_conv_dims *d, int32_t lines) {
    const int64_t c = d->c / d->g, row = c * (int64_t)kw_dtype_size(dtype), extent[3] = {c, 1, d->k}, stride[2] = {row, row};
    return kw_mma_box_map(KW_W, dtype, extent, stride, (const int32_t[3]){KW_SLAB_ELEMENTS, 1, lines});
}

void kw_mma_plane_maps(const kw_mma *mma, const kw_problem *problem, kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    int64_t filter = d->c / d->g * mma->bytes;
    launch->turning.none = true;
    switch (problem->op) {
    case KW_CONV_BWD_WEIGHT:
        launch->map[0] = planes(KW_Y, mma->dtype, problem, mma->tile[0]);
        launch->map[1] = planes(KW_X, mma->dtype, problem, mma->tile[1]);
        launch->map[2] = points(mma->output, d, KW_SLAB_ELEMENTS);
        break;
    case KW_CONV_BWD_DATA:
        launch->map[0] = points(mma->dtype, d, mma->tile[2]);
        launch->map[1] = planes(KW_Y, mma->dtype, problem, mma->tile[2]);
        launch->map[2] = planes(KW_X, mma->output, problem, KW_SLAB_ELEMENTS);
        break;
    default:
        launch->map[0] = kw_mma_bulk_map(KW_W, mma->dtype, (const int64_t[3]){d->c / d->g, d->k, 1}, filter, d->k * filter, mma->tile[0]);
        launch->map[1] = planes(KW_X, mma->dtype, problem, mma->tile[2]);
        launch->map[2] = planes(KW_Y, mma->output, problem, KW_SLAB_ELEMENTS);
        break;
    }
    if (!kw_mma_stores_boxes(mma)) {
        launch->map[2] = (kw_map){0};
    }
}
