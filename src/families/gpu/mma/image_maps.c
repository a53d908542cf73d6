/* image_maps.c: a convolution as kernels/gpu/igemm/feed.h goes through it (pipe=cooperative, pingpong): tiles and steps, and the tensor
 * maps. Axes of a map are counted from the innermost on, those of a problem from the outermost. */
#include "families/gpu/mma/mma.h"

#include "base/math.h"
#include "gpu/igemm/args.h"
#include "problem/tensors/pitch.h"
#define KW_CEIL kw_ceil_div
#include "gpu/lib/resources.h"

#include <math.h>

enum { STEP_MAX = 8 }; /* from pixel to pixel */

/* Channels of a step. */
static int32_t step_channels(const kw_mma *mma) {
    return KW_SLAB_ROW_BYTES / mma->bytes;
}

/* An axis of the image that copies walk over: of y for backward data, else of x. */
typedef struct walk {
    int64_t extent, low, count, step, reach; /* reach: offset of the farthest tap */
} walk;

/* each: of backward data, pixels of x from one row of the product to the next, a multiple of the stride. */
static walk image_walk(const kw_problem *problem, int axis, int64_t each) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3], reach = (d->filter[axis] - 1) * d->dilation[axis], pad = d->pad[axis], stride = d->stride[axis];
    kw_problem_output(out, problem);
    if (problem->op == KW_CONV_BWD_DATA) {
        return (walk){out[axis], KW_MEETS_FROM(pad, reach, stride), kw_ceil_div(d->in[axis], each), each / stride,
                      KW_MEETS_TO(pad, reach, stride, each)};
    }
    return (walk){d->in[axis], -pad, out[axis], stride, reach};
}

static bool axis_is_walked(const kw_mma *mma, const kw_problem *problem, int axis, int64_t each) {
    enum { BITS = 16 };
    if (each > INT32_MAX) { /* sums of it and the padding must be such as 63 bits hold */
        return false;
    }
    walk w = image_walk(problem, axis, each);
    int64_t limit = (int64_t)1 << (BITS / mma->ndim - 1), high = w.low + (w.count - 1) * w.step + 1 - w.extent;
    return w.step <= STEP_MAX && w.low >= -limit && w.low < limit && high >= -limit && high < limit && w.reach < 2 * limit;
}

/* Residues of pixels of x modulo the stride: few_phases bounds them. */
static int64_t count_phases(const kw_conv_dims *d) {
    int64_t phases = 1;
    for (int axis = 0; axis < 3; axis++) {
        phases *= kw_min(d->stride[axis], d->in[axis]);
    }
    return phases;
}

/* Each product is of one group, of whole blocks of 64 channels where there are several, or of merged groups of 64 channels together. */
static bool groups_are_walked(const kw_mma *mma, const kw_conv_dims *d) {
    int64_t c = d->c / d->g, k = d->k / d->g;
    if (mma->merge > 1) {
        return c * mma->merge == KW_SLAB_ELEMENTS && k == c;
    }
    return d->g == 1 || (c % KW_SLAB_ELEMENTS == 0 && k % KW_SLAB_ELEMENTS == 0 && (!kw_mma_aligns(mma) || kw_mma_copies_turn(mma)));
}

/* Output channels of filters that a copy moves: of merged groups those of one, whose filters lie beside the next one's. */
static int32_t filter_rows(const kw_mma *mma, int32_t rows) {
    return mma->merge > 1 ? KW_SLAB_ELEMENTS / mma->merge : rows;
}

bool kw_mma_walks_image(const kw_mma *mma, const kw_problem *problem) {
    enum { WEIGHT_CHANNELS = 1 << 21 };
    const kw_conv_dims *d = &problem->conv;
    bool good = groups_are_walked(mma, d) && (problem->op != KW_CONV_BWD_WEIGHT || d->c < WEIGHT_CHANNELS);
    for (int axis = 3 - mma->ndim; axis < 3; axis++) {
        good &= axis_is_walked(mma, problem, axis, d->stride[axis]);
    }
    return good && (problem->op != KW_CONV_BWD_DATA || kw_mma_has_spots(mma) || count_phases(d) <= KW_PHASES_MAX);
}

/* All steps are whole runs of 16 bytes, and below what a map holds. */
static bool steps_are_aligned(const kw_problem *problem, kw_tensor tensor) {
    kw_image image = kw_problem_image(problem, tensor);
    bool good = true;
    for (int i = problem->layout == KW_CHANNELS_FIRST ? 2 : 0; i < KW_PITCHES; i++) {
        good &= image.extent[i] == 1 || (image.step[i] % 8 == 0 && image.step[i] < KW_BULK_STEP_MAX / 4);
    }
    return good;
}

bool kw_mma_image_pitches(const kw_mma *mma, const kw_problem *problem) {
    bool data = problem->op == KW_CONV_BWD_DATA, weight = problem->op == KW_CONV_BWD_WEIGHT, planes = kw_mma_planes(mma);
    bool text = kw_mma_overlaps(mma) && !kw_mma_aligns(mma) && !kw_mma_has_border(mma) && (problem->layout == KW_CHANNELS_LAST || planes);
    bool parts = mma->split_k <= 1 || weight, moves = !data || count_phases(&problem->conv) == 1;
    bool x = kw_problem_pixels_are_even(problem, KW_X) || !(data || planes),
         y = kw_problem_pixels_are_even(problem, KW_Y) || (data && !planes);
    return text && parts && moves && x && y && steps_are_aligned(problem, KW_X) && steps_are_aligned(problem, KW_Y);
}

static int64_t volume(const int64_t extent[3]) {
    return extent[0] * extent[1] * extent[2];
}

/* One tap and no padding: pixels of y are rows of a matrix, with stride 1, and backward data with KW_STORES_CELLS of
 * kernels/gpu/igemm/backward.h. */
static bool taps_are_points(const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3];
    bool points = true;
    kw_problem_output(out, problem);
    for (int axis = 0; axis < 3; axis++) {
        points &= d->filter[axis] == 1 && d->pad[axis] == 0 && out[axis] == kw_ceil_div(d->in[axis], d->stride[axis]);
    }
    return points;
}

/* Where tiles of cells are as many as half the multiprocessors: fewer would store all that the others could. */
static bool stores_cells(const kw_mma *mma, const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    if (problem->op != KW_CONV_BWD_DATA || !mma->arch || !kw_mma_stores_cells(mma) || count_phases(d) == 1 || !taps_are_points(problem)) {
        return false;
    }
    int64_t out[3], tiles = kw_ceil_div(d->c / d->g, mma->tile[1]) * d->g;
    kw_problem_output(out, problem);
    tiles *= kw_ceil_div(d->n * volume(out), mma->tile[0]);
    return 2 * tiles >= mma->arch->typical.units && kw_problem_is_dense(problem);
}

/* --- spots of backward data (KW_SPOTS of kernels/gpu/igemm/feed.h) --- */

/* Positions of y that a spot of `each` pixels meets along an axis; one pixel meets only those of taps. */
static int64_t spot_positions(const kw_problem *problem, int axis, int64_t each) {
    return each == 1 ? problem->conv.filter[axis] : image_walk(problem, axis, each).reach + 1;
}

/* Pixels of a spot along an axis; positions that it meets, and spots that the axis takes. */
typedef struct spot_side {
    int64_t pixels, positions, spots;
} spot_side;

/* The sides that a spot may have along an axis, the stride first; how many. */
static int spot_sides(spot_side sides[STEP_MAX], const kw_mma *mma, const kw_problem *problem, int axis) {
    int64_t stride = problem->conv.stride[axis], extent = problem->conv.in[axis];
    int count = 0;
    for (int64_t pixels = stride; pixels <= STEP_MAX * stride; pixels += stride) {
        bool walked = axis >= 3 - mma->ndim && pixels < extent + stride && axis_is_walked(mma, problem, axis, pixels);
        if (pixels == stride || walked) {
            sides[count++] = (spot_side){pixels, spot_positions(problem, axis, pixels), kw_ceil_div(extent, pixels)};
        }
    }
    return count;
}

static kw_mma_grid spot_grid(const kw_mma *mma, const kw_conv_dims *d, const spot_side *const side[3], int64_t pixels) {
    int64_t rows = d->n, cols = d->c * pixels, positions = 1;
    for (int axis = 0; axis < 3; axis++) {
        rows *= side[axis]->spots;
        positions *= side[axis]->positions;
    }
    return (kw_mma_grid){.batches = 1,
                         .tile_rows = kw_ceil_div(rows, mma->tile[0]),
                         .tile_cols = kw_ceil_div(cols, mma->tile[1]),
                         .steps = positions * kw_ceil_div(d->k, KW_SLAB_ELEMENTS),
                         .elements = rows * cols};
}

/* Spots whose tiles are done first: rounds of tiles by their steps, a tile's end counted as some, more of them where a row of the result is
 * stored pixel by pixel. */
static kw_mma_grid best_spot(const kw_mma *mma, const kw_problem *problem, int64_t spot[3]) {
    enum { TILE_END = 4, PIXELS_END = 6 };
    int64_t resident = mma->arch ? kw_max(1, mma->arch->typical.units) * kw_mma_blocks_held(mma) : 1;
    const kw_conv_dims *d = &problem->conv;
    spot_side sides[3][STEP_MAX];
    int count[3];
    for (int axis = 0; axis < 3; axis++) {
        count[axis] = spot_sides(sides[axis], mma, problem, axis);
    }
    kw_mma_grid best = {0};
    double least = INFINITY;
    for (int i = 0; i < count[0] * count[1] * count[2]; i++) {
        const spot_side *const side[3] = {&sides[0][i / (count[1] * count[2])], &sides[1][i / count[2] % count[1]],
                                          &sides[2][i % count[2]]};
        int64_t pixels = side[0]->pixels * side[1]->pixels * side[2]->pixels;
        if (i && d->c * pixels > mma->tile[1]) {
            continue;
        }
        kw_mma_grid grid = spot_grid(mma, d, side, pixels);
        double rounds = fmax(1, (double)grid.tile_rows * (double)grid.tile_cols / (double)resident);
        double steps = rounds * (double)(grid.steps + TILE_END + (pixels > 1 ? PIXELS_END : 0));
        if (!i || steps < least) {
            least = steps;
            best = grid;
            spot[0] = side[0]->pixels, spot[1] = side[1]->pixels, spot[2] = side[2]->pixels;
        }
    }
    return best;
}

kw_mma_grid kw_mma_image_grid(const kw_mma *mma, const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3], taps = volume(d->filter);
    kw_problem_output(out, problem);
    const int64_t c = d->c / d->g * mma->merge, k = d->k / d->g * mma->merge;
    kw_mma_grid grid = {.batches = d->g / mma->merge, .elements = kw_problem_elements(problem, kw_problem_result(problem))};
    int64_t pixels = d->n * volume(problem->op == KW_CONV_BWD_DATA ? d->in : out);
    if (problem->op == KW_CONV_BWD_WEIGHT) {
        bool picks = kw_mma_picks(mma);
        int64_t spots = kw_mma_cuts_piece(mma) ? c : taps * kw_round_up(c, step_channels(mma));
        grid.tile_rows = kw_ceil_div(picks ? spots : k, mma->tile[0]);
        grid.tile_cols = kw_ceil_div(picks ? k : spots, mma->tile[1]);
        grid.steps = kw_ceil_div(pixels, mma->tile[2]);
        return grid;
    }
    if (kw_mma_has_spots(mma)) {
        int64_t spot[3];
        return best_spot(mma, problem, spot);
    }
    bool forward = problem->op == KW_CONV_FWD;
    grid.tile_rows = kw_ceil_div(pixels, mma->tile[0]);
    if (!forward) {
        pixels = d->n;
        taps = 1;
        for (int axis = 0; axis < 3; axis++) {
            pixels *= kw_ceil_div(d->in[axis], d->stride[axis]);
            taps *= kw_ceil_div(d->filter[axis], d->stride[axis] / kw_gcd(d->stride[axis], d->dilation[axis]));
        }
        int64_t phases = stores_cells(mma, problem) ? 1 : count_phases(d);
        grid.tile_rows = phases * kw_ceil_div(pixels, mma->tile[0]);
        grid.uneven = phases > 1;
    }
    grid.tile_cols = kw_ceil_div(forward ? k : c, mma->tile[1]);
    grid.steps = taps * kw_ceil_div(forward ? c : k, step_channels(mma));
    if (grid.batches == 1 && (forward || count_phases(d) == 1)) {
        grid.row = forward ? d->k : d->c;
    }
    return grid;
}

/* Runs of `pixels` pixels, a step's channels of each. each: as image_walk() has it. */
static kw_map image_map(const kw_mma *mma, const kw_problem *problem, kw_tensor tensor, int32_t pixels, const int64_t each[3]) {
    const kw_conv_dims *d = &problem->conv;
    kw_image image = kw_problem_image(problem, tensor);
    bool dense = kw_problem_is_dense(problem); /* then rows may be those of a copy */
    int64_t stride = kw_mma_row_bytes(mma, tensor == KW_X ? d->c : d->k);
    kw_map map = {.tensor = tensor,
                  .dtype = mma->dtype,
                  .rank = mma->ndim + 2,
                  .extent = {tensor == KW_X ? d->c : d->k},
                  .box = {step_channels(mma), pixels, 1, 1, 1},
                  .swizzle = true,
                  .tf32 = mma->dtype == KW_FP32,
                  .pixels = true};
    for (int i = 0; i < mma->ndim; i++) {
        walk w = image_walk(problem, 2 - i, each[2 - i]);
        map.extent[i + 1] = w.extent;
        map.stride[i] = dense ? stride : image.step[i] * mma->bytes;
        map.low[i] = (int32_t)w.low;
        map.count[i] = (int32_t)w.count;
        map.step[i] = (int32_t)w.step;
        stride *= w.extent;
    }
    map.extent[mma->ndim + 1] = d->n;
    map.stride[mma->ndim] = dense ? stride : image.step[3] * mma->bytes;
    return map;
}

/* Whether pixels that copies would walk over are those of a matrix's rows, which boxes bring at twice the rate. */
static bool walks_rows(const kw_mma *mma, const kw_problem *problem) {
    bool even = volume(problem->conv.stride) == 1 || stores_cells(mma, problem);
    return even && !kw_mma_has_spots(mma) && kw_problem_is_dense(problem) && taps_are_points(problem);
}

/* The map of an image as one of these rows. */
static void take_rows(kw_map *map, const kw_mma *mma, const kw_problem *problem) {
    int64_t out[3], row = map->stride[0];
    kw_problem_output(out, problem);
    int64_t pixels = problem->conv.n * volume(out);
    bool tf32 = map->tf32;
    *map = kw_mma_box_map(map->tensor, mma->dtype, (const int64_t[3]){map->extent[0], pixels, 1}, (const int64_t[2]){row, pixels * row},
                          (const int32_t[3]){map->box[0], map->box[1], 1});
    map->tf32 = tf32;
}

/* A tensor with pixels as rows. */
static kw_map pixel_rows(const kw_mma *mma, const kw_problem *problem, kw_tensor tensor, kw_dtype dtype, int64_t pixels) {
    int64_t channels = tensor == KW_X ? problem->conv.c : problem->conv.k, bytes = (int64_t)kw_dtype_size(dtype);
    int64_t row = tensor == kw_problem_result(problem) ? channels * bytes : kw_mma_row_bytes(mma, channels); /* of a copy, it may be */
    row = kw_problem_is_dense(problem) ? row : kw_problem_image(problem, tensor).step[0] * bytes;
    const int64_t extent[3] = {channels, pixels, 1}, stride[2] = {row, pixels * row};
    return kw_mma_box_map(tensor, dtype, extent, stride, (const int32_t[3]){KW_SLAB_ELEMENTS, KW_SLAB_ELEMENTS, 1});
}

/* Channel of a group, tap, output channel; rows: output channels of a copy. */
static kw_map filter_map(const kw_mma *mma, kw_dtype dtype, const kw_conv_dims *d, int32_t rows) {
    const int64_t taps = volume(d->filter), c = d->c / d->g, extent[3] = {c, taps, d->k}, tap = kw_mma_row_bytes(mma, c),
                  stride[2] = {tap, taps * tap};
    kw_map map = kw_mma_box_map(KW_W, dtype, extent, stride, (const int32_t[3]){step_channels(mma), 1, filter_rows(mma, rows)});
    map.tf32 = dtype == KW_FP32;
    return map;
}

/* The same turned by a first stage: k, channel of a group, tap. */
static kw_map turned_filter_map(const kw_mma *mma, const kw_conv_dims *d) {
    const int64_t c = d->c / d->g, extent[3] = {d->k, c, volume(d->filter)}, row = kw_mma_row_bytes(mma, d->k), stride[2] = {row, c * row};
    kw_map map = kw_mma_box_map(KW_W, mma->dtype, extent, stride, (const int32_t[3]){step_channels(mma), mma->tile[1], 1});
    map.tf32 = mma->dtype == KW_FP32;
    map.copied = true;
    return map;
}

/* Result pixels of an output channel, y turned by a first stage. */
static kw_map turned_pixels_map(const kw_mma *mma, const kw_conv_dims *d, int64_t pixels) {
    const int64_t row = kw_mma_row_bytes(mma, pixels), extent[3] = {pixels, d->k, 1};
    kw_map map = kw_mma_bulk_map(KW_Y, mma->dtype, extent, row, d->k * row, mma->tile[1]);
    map.copied = true;
    return map;
}

/* The second operand of spots as the first stage makes it: k, position, column. Returns its rows. */
static int64_t describe_spots(const kw_mma *mma, const kw_problem *problem, const int64_t spot[3], kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    int64_t cols = d->c * volume(spot), positions = 1, row = kw_mma_row_bytes(mma, d->k);
    for (int axis = 0; axis < 3; axis++) {
        positions *= spot_positions(problem, axis, spot[axis]);
    }
    const int64_t extent[3] = {d->k, positions, cols}, stride[2] = {row, positions * row};
    launch->map[1] = kw_mma_box_map(KW_W, mma->dtype, extent, stride, (const int32_t[3]){KW_SLAB_ELEMENTS, 1, mma->tile[1]});
    launch->map[1].copied = true;
    kw_launch_params(launch, kw_igemm_params)->pixels = spot[0] << 2 * KW_SPOT_BITS | spot[1] << KW_SPOT_BITS | spot[2];
    return cols * positions;
}

void kw_mma_image_maps(const kw_mma *mma, const kw_problem *problem, kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3], spot[3] = {d->stride[0], d->stride[1], d->stride[2]}, w_rows = d->k * volume(d->filter);
    kw_problem_output(out, problem);
    switch (problem->op) {
    case KW_CONV_BWD_WEIGHT:
        if (kw_mma_picks(mma)) {
            launch->map[0] = image_map(mma, problem, KW_X, mma->tile[2], spot);
            launch->map[1] = turned_pixels_map(mma, d, d->n * volume(out));
            w_rows = d->k;
            break;
        }
        launch->map[0] = pixel_rows(mma, problem, KW_Y, mma->dtype, d->n * volume(out));
        launch->map[1] = image_map(mma, problem, KW_X, mma->tile[2], spot);
        launch->map[2] = filter_map(mma, mma->output, d, KW_SLAB_ELEMENTS);
        break;
    case KW_CONV_BWD_DATA:
        if (kw_mma_has_spots(mma)) {
            best_spot(mma, problem, spot);
            w_rows = describe_spots(mma, problem, spot, launch);
        } else if (kw_mma_copies_turn(mma)) {
            launch->map[1] = turned_filter_map(mma, d);
            w_rows = d->c / d->g * volume(d->filter);
        } else {
            launch->map[1] = filter_map(mma, mma->dtype, d, KW_SLAB_ELEMENTS);
        }
        launch->map[0] = image_map(mma, problem, KW_Y, mma->tile[0], spot);
        launch->map[2] = pixel_rows(mma, problem, KW_X, mma->output, d->n * volume(d->in));
        break;
    default:
        launch->map[0] = image_map(mma, problem, KW_X, mma->tile[0], spot);
        launch->map[1] = filter_map(mma, mma->dtype, d, mma->tile[1]);
        launch->map[2] = pixel_rows(mma, problem, KW_Y, mma->output, d->n * volume(out));
        break;
    }
    if (walks_rows(mma, problem)) {
        take_rows(&launch->map[problem->op == KW_CONV_BWD_WEIGHT && !kw_mma_picks(mma)], mma, problem);
        kw_launch_params(launch, kw_igemm_params)->pixels = 1;
    }
    if (!kw_mma_stores_boxes(mma)) {
        launch->map[2] = (kw_map){0};
    }
    if (kw_mma_aligns(mma)) {
        int64_t y_rows = d->n * volume(out), x_rows = d->n * volume(d->in);
        bool picks = kw_mma_picks(mma);
        kw_mma_align_operands(mma, problem->op == KW_CONV_FWD || picks ? x_rows : y_rows,
                              problem->op == KW_CONV_BWD_WEIGHT && !picks ? x_rows : w_rows, launch);
    }
}
