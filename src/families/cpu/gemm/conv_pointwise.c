/* conv_pointwise.c: convolution with filter 1 and no padding, forward and backward data, as the matrix product of gemm.tiled: pixels of all
 * images are the rows of A, or of channels-first tensors the columns of B. A strided forward gathers its pixels. Strided backward data leaves most pixels zero and is conv.direct's. */
#include "families/cpu/gemm/gemm.h"
#include "families/cpu/reorder.h"

#include "base/math.h"
#include "config/launch/team.h"
#include "cpu/gemm/args.h"
#include "problem/epilogue/epilogue.h"
#include "problem/tensors/pitch.h"

static const kw_axis axes[KW_GEMM_AXIS_COUNT] = {KW_ISA_AXES, KW_GEMM_AXES};

static bool strided(const kw_conv_dims *d) {
    return d->stride[0] != 1 || d->stride[1] != 1 || d->stride[2] != 1;
}

static bool filter_is_one(const kw_rule_case *c) {
    const int64_t *filter = c->problem->conv.filter;
    return filter[0] == 1 && filter[1] == 1 && filter[2] == 1;
}

static bool nothing_is_padded(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    int64_t out[3];
    bool good = true;
    kw_problem_output(out, c->problem);
    for (int axis = 0; axis < 3; axis++) {
        good = good && d->pad[axis] == 0 && (out[axis] - 1) * d->stride[axis] < d->in[axis];
    }
    return good;
}

static bool bwd_data_is_whole(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    int64_t out[3];
    kw_problem_output(out, c->problem);
    bool same = out[0] == d->in[0] && out[1] == d->in[1] && out[2] == d->in[2];
    return c->problem->op != KW_CONV_BWD_DATA || (!strided(d) && same);
}

static kw_tensor source_of(const kw_problem *problem) {
    return problem->op == KW_CONV_FWD ? KW_X : KW_Y;
}

/* Whether the lanes are pixels: of channels-first tensors, but for int8 and tile registers, which have turns. */
static bool has_planes(const kw_config *config, const kw_problem *problem) {
    return problem->layout == KW_CHANNELS_FIRST && problem->dtype != KW_INT8 && config->axis[KW_AXIS_MATH] != KW_MATH_AMX;
}

static bool pitches_are_read(const kw_rule_case *c) {
    const kw_problem *p = c->problem;
    bool turns = p->layout == KW_CHANNELS_FIRST && !has_planes(c->config, p);
    return kw_problem_is_dense(p) || turns || kw_problem_pixels_are_even(p, kw_problem_result(p));
}

/* A tile that is not one whole run of pixels waits beside them, with one tensor like it, and is as wide as ever. */
static bool planes_have_few_steps(const kw_rule_case *c) {
    int likes = 0, rows = 0;
    for (int32_t i = 0; i < c->problem->epilogue.count; i++) {
        kw_extra_shape shape = kw_epilogue_info_of(c->problem->epilogue.step[i].op)->shape;
        likes += shape == KW_EXTRA_ALL;
        rows += shape == KW_EXTRA_ROW;
    }
    return !has_planes(c->config, c->problem) || (likes <= 1 && !rows);
}

static const kw_rule fits_rules[] = {
    {"plane_steps", "of channels-first tensors a step has values of channels or one, and one the result's shape; others turn them",
     planes_have_few_steps},
    {"pitches",
     "of a result with pitches all pixels are one distance apart, of channels first those of each channel of an image lie together; for "
     "images cut out of larger ones take conv.direct",
     pitches_are_read},
    {"filter_1", "the filter must be 1 on all axes", filter_is_one},
    {"no_padding", "padding must be 0 on both sides", nothing_is_padded},
    {"bwd_data_whole", "backward data needs stride 1 and an output as large as the input", bwd_data_is_whole},
    {0},
};

/* Channels last: pixels of all images are rows, a group is a batch. */
static void launch_rows(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *result) {
    const kw_conv_dims *d = &problem->conv;
    bool forward = problem->op == KW_CONV_FWD, cropped = false;
    int64_t out[3], src = forward ? d->c : d->k;
    bool dense = kw_problem_is_dense(problem);
    kw_problem_output(out, problem);
    for (int axis = 0; axis < 3; axis++) {
        cropped |= out[axis] != d->in[axis];
    }
    kw_product product = {
        .batches = d->g,
        .rows = d->n * out[0] * out[1] * out[2],
        .columns = (forward ? d->k : d->c) / d->g,
        .depth = src / d->g,
        .a_row = (dense ? src : kw_problem_image(problem, source_of(problem)).step[0]) * (int64_t)kw_dtype_size(problem->dtype),
        .copies = strided(d) || cropped || !(dense || kw_problem_pixels_are_even(problem, source_of(problem))),
    };
    kw_gemm_launch(&product, config, target, result);
}

/* Channels first: the filters are packed as rows, pixels are columns and are copied by panels (kernels/cpu/gemm/planes.h). int8, whose
 * instruction wants unsigned values to spread, and tile registers have turns instead. A unit's panels
 * take a quarter of the second-level cache; more than 8 save nothing (docs/results/2026-11-23/layouts.md). */
static void launch_planes(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *result) {
    enum { PANELS_MIN = 2, PANELS_MAX = 8 };
    const kw_conv_dims *d = &problem->conv;
    kw_tile tile = kw_gemm_tile(config);
    kw_tile_work work = kw_tile_work_of(config, &tile);
    bool forward = problem->op == KW_CONV_FWD;
    int64_t out[3], depth = (forward ? d->c : d->k) / d->g, rows = (forward ? d->k : d->c) / d->g;
    kw_problem_output(out, problem);
    int64_t steps = kw_ceil_div(depth, work.pair), tiles = kw_ceil_div(rows, tile.cols), pixels = out[0] * out[1] * out[2];
    int64_t blocks = kw_ceil_div(d->n * pixels, work.block);
    int64_t pitch = kw_tile_pitch(kw_round_up(depth, work.pair) * work.word, 1, tile.cols), panel = KW_PLANE_PANEL_BYTES(steps, work.block);
    int64_t panels = kw_min(blocks, kw_min(PANELS_MAX, kw_max(target->l2 / 4 / panel, PANELS_MIN)));
    int64_t chunks = kw_max(kw_ceil_div(blocks, panels), kw_min(blocks, kw_ceil_div(target->units, d->g)));
    panels = kw_ceil_div(blocks, chunks);
    chunks = kw_ceil_div(blocks, panels);
    int64_t units = d->g * chunks, parts = kw_tile_parts(units, tiles, target->units, KW_TEAM_UNITS);

    *result = (kw_launch){.stages = 2, .stage = {{.units = d->g * tiles, .packs = true}, {.units = units * parts}}};
    result->packed_bytes = d->g * tiles * tile.cols * pitch;
    int64_t runs = panels * KW_PLANE_RUNS(work.block, pixels) * KW_PLANE_RUN_BYTES + 8 * (panels + 1);
    int64_t copies_at = kw_round_up(2 * KW_TILE_SPILL_BYTES(tile.cols, work.block) + runs, KW_LINE);
    result->thread_bytes = copies_at + panels * panel + 2 * KW_LINE;
    *kw_launch_params(result, kw_gemm_params) = (kw_gemm_params){
        .parts = parts,
        .far = (short)kw_tile_far(target),
        .pitch = pitch,
        .chunk_rows = panels,
        .copy_at = copies_at,
    };

    double met = (double)(d->g * blocks * tiles), copies = (double)(d->g * blocks * kw_tile_sharers(units, parts, target->units));
    result->multiply_adds = met * (double)(tile.cols * tile.vecs * steps * work.instructions);
    result->loads = met * (double)((tile.cols + tile.vecs) * steps);
    result->copied_bytes = 2.0 * (double)result->packed_bytes + 2.0 * copies * (double)panel;
    result->rereads[0] = (kw_cache_reuse){
        .bytes = (double)(chunks - 1) * (double)result->packed_bytes,
        .between = result->packed_bytes / d->g,
    };
}

static void conv_pointwise_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *result) {
    if (problem->layout == KW_CHANNELS_LAST) {
        launch_rows(config, problem, target, result);
    } else if (!has_planes(config, problem)) {
        kw_reorder_launch(launch_rows, config, problem, target, result);
    } else {
        launch_planes(config, problem, target, result);
    }
}

static void conv_pointwise_emit(const kw_config *config, kw_text *text) {
    kw_gemm_emit(config, true, text);
}

const kw_family kw_family_conv_pointwise = {
    .name = "conv.pointwise",
    .summary = "convolution with filter 1 as a matrix product; forward and backward data",
    .kind = KW_KIND_CPU,
    .fuses = true,
    .first_text = true,
    .quantized = true,
    .zero_w = true,
    .tiles = true,
    .pitched = true,
    .pitched_text = true,
    .ops = 1u << KW_CONV_FWD | 1u << KW_CONV_BWD_DATA,
    .dtypes = 1u << KW_FP32 | 1u << KW_BF16 | 1u << KW_FP16 | 1u << KW_INT8 | 1u << KW_FP8 | 1u << KW_BF8,
    .axes = axes,
    .axis_count = KW_GEMM_AXIS_COUNT,
    .rules = {[KW_VALID] = {kw_isa_valid_rules, kw_tile_valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_FITS] = {kw_cpu_conv_rules, fits_rules}},
    .decode = kw_gemm_decode,
    .launch = conv_pointwise_launch,
    .emit = conv_pointwise_emit,
    .kernel = "cpu/gemm/gemm.c",
};
