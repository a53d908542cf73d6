/* conv_igemm.c: convolution as a matrix product whose operands are gathered on the way into shared memory, all three directions, any
 * filter, stride, dilation, padding and grouping in 1, 2 and 3 dimensions. The kernel text is kernels/gpu/igemm/igemm.c; here is which
 * problems a config serves and how they are cut into blocks. */
#include "base/math.h"
#include "families/gpu/defines.h"
#include "families/gpu/mma/image_split.h"
#include "families/gpu/mma/rules.h"
#include "families/gpu/mma/tailor.h"
#include "families/gpu/turned.h"
#include "gpu/igemm/args.h"
#include "problem/tensors/pitch.h"
#include "problem/view.h"

#define ROW(name, words, low, high, meaning) {#name, words, low, high, meaning},
static const kw_axis igemm_axes[] = {KW_IGEMM_AXES(ROW)};
#undef ROW

extern const kw_family kw_family_conv_igemm;

/* Small images are cut as well, so that the cut is the same for all and can be verified on any. */
enum { PIECES_MIN = 2 };

/* Elements of x and y that an output position of the first axis moves, whole rows of the inner axes: what a piece of the image is cut
 * by. */
int64_t kw_image_split_rows(const kw_problem *problem, int64_t piece_bytes) {
    const kw_conv_dims *d = &problem->conv;
    int axis = 3 - problem->ndim;
    int64_t out[3], in_row = d->c, out_row = d->k, size = (int64_t)kw_dtype_size(problem->dtype);
    kw_problem_output(out, problem);
    for (int inner = axis + 1; inner < 3; inner++) {
        in_row *= d->in[inner];
        out_row *= out[inner];
    }
    int64_t reach = d->dilation[axis] * (d->filter[axis] - 1) + 1, most = kw_min(piece_bytes / size, KW_OFFSET_MAX);
    int64_t by_in = (most / in_row - reach) / d->stride[axis], by_out = most / out_row;
    return kw_min(kw_min(by_in, by_out), kw_ceil_div(out[axis], PIECES_MIN));
}

/* Tiles of the rows of all phases. */
static int64_t phase_tiles(const kw_mma *mma, const kw_problem *problem) {
    int64_t tiles = 0, walks[3] = {kw_problem_walks(problem, 0), kw_problem_walks(problem, 1), kw_problem_walks(problem, 2)};
    for (int64_t i = 0; i < walks[0] * walks[1] * walks[2]; i++) {
        const int64_t phase[3] = {i / walks[2] / walks[1], i / walks[2] % walks[1], i % walks[2]};
        int64_t pixels = problem->conv.n;
        for (int axis = 0; axis < 3; axis++) {
            pixels *= kw_ceil_div(problem->conv.in[axis] - phase[axis], problem->conv.stride[axis]);
        }
        tiles += kw_ceil_div(pixels, mma->tile[0]);
    }
    return tiles;
}

static int64_t piece_tiles(const kw_mma *mma, const kw_problem *problem, int64_t piece_bytes) {
    int64_t out[3], rows = kw_image_split_rows(problem, piece_bytes), pixels = rows;
    kw_problem_output(out, problem);
    int axis = 3 - problem->ndim;
    for (int inner = axis + 1; inner < 3; inner++) {
        pixels *= out[inner];
    }
    return problem->conv.n * kw_ceil_div(out[axis], rows) * kw_ceil_div(pixels, mma->tile[0]);
}

/* Of a problem whose rows, columns and depth are counted in 31 bits and whose image has pieces. */
static kw_mma_grid igemm_grid(const kw_mma *mma, const kw_problem *problem, int64_t piece_bytes) {
    const kw_conv_dims *d = &problem->conv;
    if (kw_mma_overlaps(mma)) {
        return kw_mma_planes(mma)       ? kw_mma_plane_grid(mma, problem)
               : kw_mma_has_border(mma) ? kw_mma_border_grid(mma, problem)
                                        : kw_mma_image_grid(mma, problem);
    }
    int64_t c = d->c / d->g * mma->merge, k = d->k / d->g * mma->merge, taps = d->filter[0] * d->filter[1] * d->filter[2], out[3];
    kw_problem_output(out, problem);
    int64_t pixels = d->n * out[0] * out[1] * out[2];
    kw_mma_grid grid = {.batches = d->g / mma->merge, .elements = kw_problem_elements(problem, kw_problem_result(problem))};
    if (problem->op == KW_CONV_BWD_WEIGHT) {
        grid.tile_rows = kw_ceil_div(k, mma->tile[0]);
        grid.tile_cols = kw_ceil_div(taps * c, mma->tile[1]);
        grid.steps = kw_ceil_div(pixels, mma->tile[2]);
        return grid;
    }
    kw_gemm_view view = kw_problem_view(problem);
    grid.tile_cols = kw_ceil_div(problem->op == KW_CONV_FWD ? k : c, mma->tile[1]);
    grid.steps = kw_ceil_div(view.gk * mma->merge, mma->tile[2]);
    grid.tile_rows = problem->op == KW_CONV_BWD_DATA ? phase_tiles(mma, problem)
                     : mma->split_image              ? piece_tiles(mma, problem, piece_bytes)
                                                     : kw_ceil_div(pixels, mma->tile[0]);
    return grid;
}

/* Of backward data the largest phase's, whether a tap reaches it or not: it writes zeros then. */
static int64_t igemm_rows(const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    int64_t pixels = d->n;
    for (int axis = 0; axis < 3; axis++) {
        pixels *= kw_ceil_div(d->in[axis], d->stride[axis]);
    }
    return problem->op == KW_CONV_BWD_DATA ? pixels : 0;
}

/* --- which problems a config serves --- */

static bool igemm_ndim(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return c->problem->ndim == mma->ndim;
}

static bool few_phases(const kw_rule_case *c) {
    return kw_problem_walks_are_few(c->problem);
}

static bool extents_counted(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    int64_t extent = 1;
    bool good = true;
    for (int axis = 0; axis < 3; axis++) {
        int64_t span = kw_mul(d->dilation[axis], d->filter[axis], &good);
        extent = kw_max(extent, kw_add(d->in[axis] + d->pad[axis], span, &good));
    }
    return good && extent <= INT32_MAX / 2;
}

static bool igemm_sizes_counted(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    kw_gemm_view view = kw_problem_view(c->problem);
    return kw_max(kw_max(igemm_rows(c->problem), view.gm), kw_max(view.gn, view.gk)) <= INT32_MAX / 4 / mma->merge;
}

/* Operands are loaded, and the result is stored, in runs of channels: of the merged groups together or of one. Forward, the text knows
 * itself where runs are shorter than the axes say (KW_A_VEC, KW_B_VEC of kernels/gpu/igemm/igemm.c). */
static bool igemm_vectors_divide(const kw_rule_case *r) {
    const kw_mma *mma = r->decoded;
    const kw_conv_dims *d = &r->problem->conv;
    int64_t c = d->c / d->g, k = d->k / d->g, merged_c = c * mma->merge, merged_k = k * mma->merge;
    bool forward = mma->op == KW_CONV_FWD, data = mma->op == KW_CONV_BWD_DATA, single = mma->spec == KW_SPEC_FILTER3X3;
    const int64_t channels[3] = {forward ? merged_c : merged_k, forward || data ? c : merged_c, forward ? merged_k : data ? merged_c : c};
    const bool narrows[3] = {single, single || (forward && mma->merge > 1), false};
    bool divide = true;
    for (int i = 0; i < 3; i++) {
        divide &= narrows[i] || channels[i] % mma->vec[i] == 0;
    }
    return divide;
}

static bool merge_divides(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return c->problem->conv.g % mma->merge == 0;
}

/* Whether every filter extent, stride and padding is what the text is cut down to. */
static bool spec_matches(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    const kw_conv_dims *d = &c->problem->conv;
    bool good = mma->spec != KW_SPEC_FILTER3X3 || d->c == d->g;
    for (int axis = 3 - c->problem->ndim; axis < 3; axis++) {
        bool point = d->filter[axis] == 1 && d->pad[axis] == 0 && d->pad_back[axis] == 0;
        switch (mma->spec) {
        case KW_SPEC_FILTER1X1_STRIDE1_PAD0:
            good &= point && d->stride[axis] == 1;
            break;
        case KW_SPEC_FILTER1X1_PAD0:
            good &= point;
            break;
        case KW_SPEC_FILTER3X3:
            good &= d->filter[axis] == 3;
            break;
        case KW_SPEC_STRIDE1:
            good &= d->stride[axis] == 1;
            break;
        case KW_SPEC_DEFAULT:
            break;
        }
    }
    return good;
}

/* Offsets in a tensor have as many bits as the index axis says; with split_image those in a piece of x and y. */
static bool igemm_index_reaches(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    bool reaches = true;
    for (int i = 0; mma->index == 32 && i < KW_TENSOR_COUNT; i++) {
        int64_t elements = kw_problem_elements(c->problem, (kw_tensor)i);
        int64_t bytes = elements * (int64_t)kw_dtype_size(kw_problem_dtype(c->problem, (kw_tensor)i));
        reaches &= (mma->split_image && i != KW_W) || (bytes <= INT32_MAX && elements <= KW_OFFSET_MAX);
    }
    return reaches;
}

static bool image_has_pieces(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return mma->index == 64 || !mma->split_image || kw_image_split_rows(c->problem, KW_IMAGE_SPLIT_MAX_BYTES) >= 1;
}

static bool image_is_walked(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return !kw_mma_overlaps(mma) || kw_mma_planes(mma) || kw_mma_has_border(mma) || kw_mma_walks_image(mma, c->problem);
}

static bool border_fits(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return !kw_mma_has_border(mma) || kw_mma_border_fits(mma, c->problem);
}

static bool columns_are_whole(const kw_rule_case *c) {
    return !kw_mma_cuts_piece(c->decoded) || c->problem->conv.g == 1;
}

/* Taps have whole pieces of channels. */
static bool tap_is_one(const kw_rule_case *c) {
    const int64_t *filter = c->problem->conv.filter;
    return !kw_mma_cuts_piece(c->decoded) || c->problem->op != KW_CONV_BWD_WEIGHT || filter[0] * filter[1] * filter[2] == 1;
}

static bool planes_first(const kw_rule_case *c) {
    return !kw_mma_planes(c->decoded) || c->problem->layout == KW_CHANNELS_FIRST;
}

static bool igemm_pitches(const kw_rule_case *c) {
    return kw_problem_is_dense(c->problem) || kw_mma_image_pitches(c->decoded, c->problem);
}

static bool planes_groups(const kw_rule_case *c) {
    return !kw_mma_planes(c->decoded) || kw_mma_planes_have_groups(c->problem);
}

static bool planes_aligned(const kw_rule_case *c) {
    return !kw_mma_planes(c->decoded) || kw_mma_planes_are_aligned(c->problem);
}

static bool igemm_tiles_counted(const kw_rule_case *c) {
    kw_mma_grid grid = igemm_grid(c->decoded, c->problem, KW_IMAGE_SPLIT_MAX_BYTES);
    return kw_mma_grid_is_counted(&grid);
}

static const kw_rule igemm_takes_rules[] = {
    {"few_phases", "a stride has more than 4096 phases, or with the filter's taps more than 2^20", few_phases},
    {"extents_counted", "extents, padding and dilated filter included, are at most 2^30", extents_counted},
    {0},
};

static const kw_rule igemm_fits_rules[] = {
    KW_MMA_PERMITS_RULE,
    {"ndim", "the problem has another number of spatial axes than ndim", igemm_ndim},
    {"sizes_counted", "rows, columns and depth of the product are counted in 31 bits", igemm_sizes_counted},
    {"vectors_divide", "vec_a, vec_b and vec_c must divide the channels of a group; 1 serves any", igemm_vectors_divide},
    {"merge_divides", "merge must divide the groups; 1 serves any", merge_divides},
    {"spec", "spec is for another filter, stride, padding or channel count; spec=default serves any", spec_matches},
    {"index_reaches", "index=32 reaches tensors of 2 GiB and 2^30 elements, index=64 any", igemm_index_reaches},
    {"image_pieces", "the rows that one row of the result reads exceed 2 GiB; index=64 reaches any", image_has_pieces},
    {"image_walk",
     "pipe=cooperative and pingpong walk over an image by bulk copies: one group, or with vec_a=8 groups of whole blocks of 64 channels "
     "(merge above 1: as many channels out as in, merged 64), "
     "strides of at most 8 (conv_bwd_data: any, with vec_a=8 of at most 16 phases), padding and dilated filter in 16, 8 or 5 bits along "
     "each of 1, 2 or 3 axes; conv_bwd_weight: fewer "
     "than 2^21 channels",
     image_is_walked},
    {"border",
     "spec=stride1 has room for the pixels that a tile's taps along a line reach, 2 to 128 of them, on lines of some hundred pixels, "
     "walked "
     "over as image_walk says; fewer stages leave more; with vectors of 1 one group",
     border_fits},
    {"whole_columns", "pipe=cooperative and pingpong whose tile_n is no multiple of 64 serve one group", columns_are_whole},
    {"one_tap", "conv_bwd_weight with pipe=cooperative and pingpong whose tile_n is no multiple of 64 serves filters of 1x1", tap_is_one},
    {"planes_first",
     "pipe=cooperative and pingpong with spec=filter1x1_stride1_pad0 read channels-first tensors as they are, and no others; "
     "spec=default serves both layouts",
     planes_first},
    {"planes_groups",
     "spec=filter1x1_stride1_pad0 of pipe=cooperative and pingpong has one group, or groups of whole blocks of 64 channels", planes_groups},
    {"planes_aligned",
     "spec=filter1x1_stride1_pad0 of pipe=cooperative and pingpong has images of whole 8 pixels, as bulk copies want channels at multiples "
     "of "
     "16 bytes; spec=default serves any, by turned copies",
     planes_aligned},
    {"pitches",
     "tensors with pitches are for pipe=cooperative and pingpong with vectors of 8: channels last, or first with "
     "spec=filter1x1_stride1_pad0; steps of whole 8 elements; pixels one distance apart in results, in y of conv_bwd_weight, and channels "
     "first; conv_bwd_data with stride 1; parts of the depth in conv_bwd_weight alone",
     igemm_pitches},
    {"tiles_counted", KW_TILES_COUNTED_WHY, igemm_tiles_counted},
    {0},
};

/* --- launch --- */

/* Pixels are rows of a product of each group's channels. */
static void describe_igemm_operands(const kw_config *config, const kw_mma *mma, const kw_problem *problem, kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    int64_t c = d->c / d->g, k = d->k / d->g, bytes = mma->bytes;
    const int64_t x[3] = {c, d->n * d->in[0] * d->in[1] * d->in[2], d->g}, w[3] = {c, k, d->g};
    launch->map[0] = kw_mma_bulk_map(KW_X, config->dtype, x, d->c * bytes, c * bytes, mma->tile[0]);
    launch->map[1] = kw_mma_bulk_map(KW_W, config->dtype, w, c * bytes, k * c * bytes, mma->tile[1]);
}

/* From row to row of the product, in the result. */
static int64_t strides_of_result(const kw_problem *problem) {
    const int64_t *stride = problem->conv.stride;
    return problem->op == KW_CONV_BWD_DATA ? stride[0] * stride[1] * stride[2] : 1;
}

void kw_igemm_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, int64_t piece_bytes, kw_launch *launch) {
    kw_mma mma = kw_mma_read(config, target);
    kw_mma_grid grid = igemm_grid(&mma, problem, piece_bytes);
    kw_mma_launch(&mma, &grid, target, launch);
    kw_launch_params(launch, kw_igemm_params)->pixels = mma.split_image ? kw_image_split_rows(problem, piece_bytes) : 0;
    if (mma.pipe == KW_PIPE_TMA) {
        describe_igemm_operands(config, &mma, problem, launch);
    }
    if (kw_mma_planes(&mma)) {
        kw_mma_plane_maps(&mma, problem, launch);
    } else if (kw_mma_has_border(&mma)) {
        kw_mma_border_maps(&mma, problem, launch);
    } else if (kw_mma_overlaps(&mma)) {
        kw_mma_image_maps(&mma, problem, launch);
    }
    if (config->wants.first && kw_mma_stores_first(&mma) && strides_of_result(problem) == 1 &&
        !kw_launch_params(launch, kw_igemm_params)->to_workspace) {
        launch->turning.result_first = true;
        launch->map[2] = (kw_map){0};
    }
}

static void launch_last(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_igemm_launch(config, problem, target, KW_IMAGE_SPLIT_MAX_BYTES, launch);
}

static void launch_igemm(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_turned_launch(launch_last, config, problem, target, launch);
}

/* Of one group, in runs of 16 bytes. */
static size_t tailor_igemm(const kw_problem *problem, const kw_target *target, kw_config configs[KW_TAILORED_MAX]) {
    const kw_conv_dims *d = &problem->conv;
    const kw_tailor_problem of = {
        .problem = problem, .target = target, .grid = kw_mma_image_grid, .cols = {problem->op == KW_CONV_FWD ? d->k : d->c}};
    bool served = kw_dtype_size(problem->dtype) == 2 && d->g == 1 && d->c % 8 == 0 && d->k % 8 == 0;
    return served ? kw_mma_tailor(&kw_family_conv_igemm, &of, configs) : 0;
}

const kw_family kw_family_conv_igemm = {
    .name = "conv.igemm",
    .summary = "a GPU block for each tile of an implicit matrix product, by matrix instructions; any direction and geometry",
    .kind = KW_KIND_GPU,
    .fuses = true,
    .quantized = true,
    .zero_w = true,
    .rounds = true,
    .turns = true,
    .first_text = true,
    .filter_text = true,
    .pitched = true,
    .pitched_text = true,
    .ops = 1 << KW_CONV_FWD | 1 << KW_CONV_BWD_DATA | 1 << KW_CONV_BWD_WEIGHT,
    .dtypes = 1 << KW_FP32 | 1 << KW_BF16 | 1 << KW_FP16 | 1 << KW_FP8 | 1 << KW_BF8 | 1 << KW_INT8,
    .axes = igemm_axes,
    .axis_count = sizeof igemm_axes / sizeof *igemm_axes,
    .rules = {[KW_VALID] = {kw_mma_valid_rules, kw_igemm_valid_rules},
              [KW_RUNS] = {kw_mma_runs_rules},
              [KW_TAKES] = {igemm_takes_rules},
              [KW_FITS] = {kw_turned_rules, igemm_fits_rules}},
    .decode = kw_mma_decode,
    .launch = launch_igemm,
    .estimate_resources = kw_mma_estimate_resources,
    .tailor = tailor_igemm,
    .sum_error = kw_mma_sum_error,
    .emit = kw_gpu_emit_nothing,
    .kernel = "gpu/igemm/igemm.c",
};
