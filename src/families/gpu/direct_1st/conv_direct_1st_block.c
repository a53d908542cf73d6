/* conv_direct_1st_block.c: forward convolution and backward weight of few channels by matrix instructions that take all taps of all
 * channels in one, gathered from source pixels in shared memory: first layers, and others whose channels no wide access divides. The kernel
 * text is kernels/gpu/direct_1st/direct_1st.c, and the counts of a block are those of its args.h. */
#include "base/math.h"
#include "config/arch/gpu_arch.h"
#include "families/epilogue_text.h"
#include "families/gpu/defines.h"
#include "families/gpu/turned.h"
#include "problem/view.h"

#define AXES(X)                                                                                                                            \
    X(tile_h, NULL, 1, 128, "rows of the result that a block computes")                                                                    \
    X(tile_w, NULL, 1, 128, "columns of the result that a block computes")                                                                 \
    X(waves, NULL, 1, 16, "waves of a block, which share its pixels")                                                                      \
    X(cols, NULL, 8, 128, "channels of the result that a block computes")                                                                  \
    X(inst_k, NULL, 8, 32, "depth of the matrix instruction, which has 16 pixels and 16 channels (NVIDIA: 8)")                             \
    X(patch, NULL, 4, 128, "KiB of shared memory for what a tile reads of the source")                                                     \
    X(vec_in, NULL, 1, 16, "elements of a source row, over columns and channels, that a thread moves together")                            \
    X(vec, NULL, 1, 16, "channels of the result that a thread stores together; conv_bwd_weight: of y that it loads together")              \
    X(span, NULL, 8, 512, "conv_bwd_weight: elements of the filter, over taps and channels, that a block computes; else 8")                \
    X(waves_d, NULL, 1, 16, "conv_bwd_weight: waves that share these elements, where others have other pixels; else 1")

enum {
#define PLACE(name, words, low, high, meaning) AXIS_##name,
    AXES(PLACE)
#undef PLACE
};

#define ROW(name, words, low, high, meaning) {#name, words, low, high, meaning},
static const kw_axis direct_1st_axes[] = {AXES(ROW)};
#undef ROW

/* A config read, and what an architecture makes of it. */
typedef struct direct_1st_block {
    kw_op op;
    kw_dtype dtype;
    bool first; /* of channels-first problems */
    int64_t tile_h, tile_w, waves, cols, inst_k, patch, vec_in, vec, span, waves_d;
    const kw_gpu_arch *arch;          /* NULL where none is asked; then the rest is 0 */
    int64_t lanes, lds;               /* of the target, */
    int64_t unit_lds, unit_registers; /* and of its multiprocessors */
    int64_t inst_n, threads;          /* columns of the instruction; of a block */
    int64_t repeat_m, repeat_n;       /* of conv_fwd: instructions of a wave along the pixels and along the channels */
    int64_t words, sums;              /* words of weights of an instruction and lane; sums of a lane */
    int64_t patch_bytes, lds_bytes;
} direct_1st_block;

/* The names that the counts of the kernel's text are made of; b is a direct_1st_block. */
#define KW_OP b->op
#define KW_OP_CONV_BWD_WEIGHT KW_CONV_BWD_WEIGHT
#define KW_CHANNELS_FIRST b->first
#define KW_IN b->dtype
#define KW_BYTES ((int64_t)2)
#define KW_TILE_H b->tile_h
#define KW_TILE_W b->tile_w
#define KW_WAVES b->waves
#define KW_COLS b->cols
#define KW_INST_K b->inst_k
#define KW_PATCH b->patch
#define KW_SPAN b->span
#define KW_WAVES_D b->waves_d
#define KW_WAVE b->lanes
#define KW_NVIDIA kw_gpu_arch_has(b->arch, KW_GPU_mma)
#define KW_HAS_MMA kw_gpu_arch_has(b->arch, KW_GPU_mma)
#define KW_HAS_MFMA kw_gpu_arch_has(b->arch, KW_GPU_mfma)
#define KW_HAS_WMMA11 kw_gpu_arch_has(b->arch, KW_GPU_wmma11)
#define KW_CEIL kw_ceil_div
#include "gpu/direct_1st/args.h"
#define KW_TF32 0
#include "gpu/lib/resources.h"

static direct_1st_block read_direct_1st_config(const kw_config *config, const kw_target *target) {
    const int32_t *axis = config->axis;
    direct_1st_block block = {.op = config->op,
                              .dtype = config->dtype,
                              .first = config->wants.first,
                              .tile_h = axis[AXIS_tile_h],
                              .tile_w = axis[AXIS_tile_w],
                              .waves = axis[AXIS_waves],
                              .cols = axis[AXIS_cols],
                              .inst_k = axis[AXIS_inst_k],
                              .patch = axis[AXIS_patch],
                              .vec_in = axis[AXIS_vec_in],
                              .vec = axis[AXIS_vec],
                              .span = axis[AXIS_span],
                              .waves_d = axis[AXIS_waves_d]},
                     *b = &block;
    b->patch_bytes = KW_PATCH_BYTES;
    b->lds_bytes = KW_DIRECT_1ST_LDS_BYTES;
    b->arch = target ? kw_gpu_arch_find(target->arch) : NULL;
    if (b->arch) {
        b->lanes = target->lanes ? target->lanes : b->arch->typical.lanes;
        b->lds = target->lds ? target->lds : b->arch->typical.lds;
        b->unit_lds = target->unit_lds ? target->unit_lds : b->lds;
        b->unit_registers = target->unit_registers ? target->unit_registers : b->arch->typical.unit_registers;
        b->inst_n = KW_INST_N;
        b->threads = KW_BLOCK_THREADS;
        b->repeat_m = KW_REPEAT_M;
        b->repeat_n = KW_REPEAT_N;
        b->words = KW_B_WORDS;
        b->sums = KW_WEIGHT ? b->cols * b->span / (b->waves_d * b->lanes) : b->tile_h * b->tile_w * b->cols / b->threads;
    }
    return block;
}

_Static_assert(sizeof(direct_1st_block) <= KW_DECODED_BYTES, "kw_rule_broken() keeps a direct_1st_block");

static void decode_direct_1st_config(const kw_config *config, const kw_target *target, void *decoded) {
    *(direct_1st_block *)decoded = read_direct_1st_config(config, target);
}

/* --- rules of a config --- */

static bool pixels_by_waves(const kw_rule_case *c) {
    const direct_1st_block *b = c->decoded;
    return KW_WEIGHT || b->tile_h * b->tile_w % (b->waves * KW_INST_M) == 0;
}

static bool first_vectors(const kw_rule_case *c) {
    const direct_1st_block *b = c->decoded;
    enum { VECTOR = 8 };
    return !(b->vec & (b->vec - 1)) && !(b->vec_in & (b->vec_in - 1)) && b->vec <= VECTOR && b->vec_in <= VECTOR;
}

static bool whole_columns(const kw_rule_case *c) {
    const direct_1st_block *b = c->decoded;
    enum { UNIT = 8 };
    return b->cols % UNIT == 0;
}

static bool first_weight_form(const kw_rule_case *c) {
    const direct_1st_block *b = c->decoded;
    enum { UNIT = 8 };
    if (!KW_WEIGHT) {
        return b->span == UNIT && b->waves_d == 1;
    }
    return b->waves % b->waves_d == 0 && b->span % (b->waves_d * UNIT) == 0 && b->cols % KW_INST_M == 0 && b->tile_w % b->inst_k == 0;
}

static const kw_rule direct_1st_valid_rules[] = {
    {"pixels_by_waves", "tile_h x tile_w must be a multiple of waves x 16 pixels of an instruction", pixels_by_waves},
    {"vector_width", "vec and vec_in are 1, 2, 4 or 8: threads move up to 16 bytes", first_vectors},
    {"whole_columns", "cols must be a multiple of 8, so that threads store whole vectors", whole_columns},
    {"weight_form",
     "of conv_bwd_weight waves_d divides waves, 8 waves_d span, 16 cols, and inst_k tile_w; of conv_fwd span is 8 and waves_d 1",
     first_weight_form},
    {0},
};

static bool known_arch(const kw_rule_case *c) {
    const direct_1st_block *b = c->decoded;
    return b->arch != NULL;
}

static bool arch_instruction(const kw_rule_case *c) {
    const direct_1st_block *b = c->decoded;
    const int32_t shape[3] = {KW_INST_M, (int32_t)b->inst_n, (int32_t)b->inst_k};
    return kw_gpu_arch_has_tile(b->arch, b->dtype, b->dtype, shape);
}

static bool block_columns(const kw_rule_case *c) {
    const direct_1st_block *b = c->decoded;
    return (KW_WEIGHT ? KW_WAVE_SPAN : b->cols) % b->inst_n == 0;
}

static bool direct_1st_registers(const kw_rule_case *c) {
    const direct_1st_block *b = c->decoded;
    enum { SUMS = 128, THREADS = 512 };
    return b->sums <= SUMS && b->sums * b->threads <= SUMS * THREADS / 2;
}

static bool direct_1st_fits_lds(const kw_rule_case *c) {
    const direct_1st_block *b = c->decoded;
    return b->lds_bytes <= b->lds;
}

static const kw_rule direct_1st_runs_rules[] = {
    {"known_arch", "the architecture has no file in rules/arch", known_arch},
    {"arch_instruction", "the architecture has no matrix instruction of 16 pixels, inst_k deep, for this type", arch_instruction},
    {"wave_columns", "cols must be a multiple of the instruction's columns, of conv_bwd_weight span of waves_d times these", block_columns},
    {"registers", "a thread would have more than 128 sums, or a block's threads more than 32768; a smaller tile, or fewer cols",
     direct_1st_registers},
    {"lds",
     "the patch, the offsets of the depth and the sums on their way out, of conv_bwd_weight two patches and tiles of y, need more shared "
     "memory than a block may have",
     direct_1st_fits_lds},
    {0},
};

/* --- which problems a config serves --- */

/* Source rows of a patch, and elements of one, which may begin before what is needed. */
static int64_t patch_rows(const direct_1st_block *b, const kw_conv_dims *d) {
    return (b->tile_h - 1) * d->stride[1] + (d->filter[1] - 1) * d->dilation[1] + 1;
}

static int64_t patch_pitch(const direct_1st_block *b, const kw_conv_dims *d) {
    int64_t columns = (b->tile_w - 1) * d->stride[2] + (d->filter[2] - 1) * d->dilation[2] + 1;
    return kw_ceil_div(columns * (KW_IN_PLANES ? 1 : d->c) + b->vec_in - 1, b->vec_in) * b->vec_in;
}

static bool direct_1st_two_axes(const kw_rule_case *c) {
    return c->problem->ndim == 2;
}

static bool one_group(const kw_rule_case *c) {
    return c->problem->conv.g == 1;
}

static bool depth_listed(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    return d->c <= KW_DEPTH_MOST && d->filter[1] <= KW_DEPTH_MOST && d->filter[2] <= KW_DEPTH_MOST &&
           d->filter[1] * d->filter[2] * d->c <= KW_DEPTH_MOST;
}

static bool patch_fits(const kw_rule_case *c) {
    const direct_1st_block *b = c->decoded;
    const kw_conv_dims *d = &c->problem->conv;
    bool good = true;
    for (int axis = 1; axis < 3; axis++) {
        good &= d->stride[axis] <= b->patch_bytes && d->dilation[axis] <= b->patch_bytes;
    }
    if (!good) {
        return false; /* sums of such strides may pass 64 bits */
    }
    int64_t lines = kw_mul(patch_rows(b, d), KW_IN_PLANES ? d->c : 1, &good);
    return kw_mul(kw_mul(lines, patch_pitch(b, d), &good), KW_BYTES, &good) <= b->patch_bytes && good;
}

static bool direct_1st_vectors_divide(const kw_rule_case *c) {
    const direct_1st_block *b = c->decoded;
    const kw_conv_dims *d = &c->problem->conv;
    if (KW_IN_PLANES) {
        int64_t out[3];
        kw_problem_output(out, c->problem);
        return d->in[2] % b->vec_in == 0 && out[2] % b->vec == 0 && b->tile_w % b->vec == 0;
    }
    return d->in[2] % b->vec_in * (d->c % b->vec_in) % b->vec_in == 0 && d->k % b->vec == 0;
}

static bool direct_1st_image_counted(const kw_rule_case *c) {
    const direct_1st_block *b = c->decoded;
    const kw_conv_dims *d = &c->problem->conv;
    int64_t out[3], most = INT32_MAX / 2, channels = kw_max(d->c, d->k);
    bool good = true;
    kw_problem_output(out, c->problem);
    int64_t pixels = kw_max(kw_mul(d->in[1], d->in[2], &good), kw_mul(out[1], out[2], &good));
    int64_t tiles = kw_mul(kw_ceil_div(out[1], b->tile_h), kw_ceil_div(out[2], b->tile_w), &good);
    int64_t blocks = kw_mul(kw_mul(tiles, d->n, &good), kw_ceil_div(d->k, b->cols), &good);
    int64_t depth = kw_mul(kw_max(d->filter[1] * d->filter[2] * d->c, 1), d->k, &good);
    return kw_mul(pixels, channels, &good) <= most && kw_max(d->pad[1], d->pad[2]) <= most / 4 && blocks <= INT32_MAX && depth <= most &&
           good;
}

static const kw_rule direct_1st_takes_rules[] = {
    {"two_axes", "the problem must have 2 spatial axes", direct_1st_two_axes},
    {"one_group", "only one group is served", one_group},
    {"depth_listed", "filters of at most 1024 taps and channels together are served", depth_listed},
    {0},
};

static const kw_rule direct_1st_fits_rules[] = {
    {"patch", "what a tile reads of the source must fit the axis patch; a smaller tile, or a larger patch", patch_fits},
    {"vectors_divide",
     "vec_in must divide the elements of a row of x, columns times channels, and vec the channels of y; of conv_fwd with channels first "
     "vec_in "
     "columns of x, and vec those of y and tile_w; 1 serves any",
     direct_1st_vectors_divide},
    {"image_counted", "an image has at most 2^30 elements, and blocks are counted in 31 bits", direct_1st_image_counted},
    {0},
};

/* --- launch --- */

/* Sums are shared by as many blocks as a multiprocessor holds of those that its shared memory and registers seem to allow. */
static void launch_first_weight(const direct_1st_block *b, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    enum { HELD_MOST = 4, OTHER_REGISTERS = 48, SLICES_MOST = 1024 };
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3], depth = d->filter[1] * d->filter[2] * d->c, elements = d->k * depth;
    kw_problem_output(out, problem);
    int64_t tiles_h = kw_ceil_div(out[1], b->tile_h), tiles_w = kw_ceil_div(out[2], b->tile_w), units = tiles_h * tiles_w * d->n;
    int64_t cols = kw_ceil_div(d->k, b->cols), blocks = cols * kw_ceil_div(depth, b->span);
    int64_t held = kw_min(b->unit_lds / b->lds_bytes, b->unit_registers / (b->threads * (b->sums + OTHER_REGISTERS)));
    int64_t wanted = kw_max(1, kw_max(1, kw_min(held, HELD_MOST)) * kw_max(1, target->units) / blocks);
    int64_t parts = kw_min(kw_min(wanted, units), SLICES_MOST);
    *launch = (kw_launch){
        .stages = 2,
        .stage = {{blocks * parts, false, (int32_t)b->threads}, {kw_ceil_div(elements, KW_PARTS_SUMS(parts)), false, KW_ADD_THREADS}}};
    launch->early[0] = launch->early[1] = kw_gpu_arch_has(kw_gpu_arch_find(target->arch), KW_GPU_tma);
    *kw_launch_params(launch, kw_direct_1st_block_params) = (kw_direct_1st_block_params){.tiles_h = tiles_h,
                                                                                         .tiles_w = tiles_w,
                                                                                         .block_cols = cols,
                                                                                         .rows = patch_rows(b, d),
                                                                                         .pitch = patch_pitch(b, d),
                                                                                         .parts = parts,
                                                                                         .elements = elements};
    launch->shared_bytes = parts * elements * (int64_t)sizeof(float);
    launch->copied_bytes = 2 * (double)launch->shared_bytes;
    double steps = (double)(units * blocks) * (double)(b->tile_h * b->tile_w / b->inst_k), columns = (double)(b->span / b->inst_n);
    launch->multiply_adds = steps * columns * (double)(b->cols / KW_INST_M);
    launch->loads = steps * (double)(b->cols / KW_INST_M * b->waves_d);
    /* A lane's read of one element costs about two of the instructions that tiles are copied by, a vector each. */
    enum { READ = 2, VECTOR = 8, ACCESSES = 64 };
    double tile =
        (double)(b->tile_h * b->tile_w * KW_Y_PITCH * VECTOR / b->vec + patch_rows(b, d) * patch_pitch(b, d) * VECTOR / b->vec_in);
    launch->lane_copies = (READ * steps * (double)(b->span * b->inst_k) + (double)(units * blocks) * tile) / ACCESSES;
    launch->products = launch->multiply_adds * (double)(KW_INST_M * b->inst_n * b->inst_k);
}

static void launch_last(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    const direct_1st_block b = read_direct_1st_config(config, target);
    if (b.op == KW_CONV_BWD_WEIGHT) {
        launch_first_weight(&b, problem, target, launch);
        return;
    }
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3], depth = d->filter[1] * d->filter[2] * d->c;
    kw_problem_output(out, problem);
    int64_t tiles_h = kw_ceil_div(out[1], b.tile_h), tiles_w = kw_ceil_div(out[2], b.tile_w), cols = kw_ceil_div(d->k, b.cols);
    int64_t steps = kw_ceil_div(depth, b.inst_k), packed = cols * steps * b.repeat_n * b.lanes, blocks = tiles_h * tiles_w * cols * d->n;
    *launch = (kw_launch){.stages = 2,
                          .stage = {{kw_ceil_div(packed, KW_PACK_THREADS), true, KW_PACK_THREADS}, {blocks, false, (int32_t)b.threads}}};
    launch->packed_bytes = packed * b.words * (int64_t)sizeof(uint32_t);
    launch->turning.none = b.first;
    launch->early[0] = launch->early[1] = kw_gpu_arch_has(kw_gpu_arch_find(target->arch), KW_GPU_tma);
    *kw_launch_params(launch, kw_direct_1st_block_params) = (kw_direct_1st_block_params){.tiles_h = tiles_h,
                                                                                         .tiles_w = tiles_w,
                                                                                         .block_cols = cols,
                                                                                         .packed = packed,
                                                                                         .rows = patch_rows(&b, d),
                                                                                         .pitch = patch_pitch(&b, d)};
    launch->copied_bytes = 2 * (double)launch->packed_bytes;
    double repeats = (double)(blocks * b.waves * steps) * (double)b.repeat_m;
    launch->multiply_adds = repeats * (double)b.repeat_n;
    launch->loads = repeats;
    enum { STORES_A_FETCH = 2 }; /* a result leaves in half the time of a pixel's channels coming in */
    launch->lane_copies = (double)(kw_problem_elements(problem, KW_X) * cols) / (double)b.vec_in +
                          (double)kw_problem_elements(problem, KW_Y) / (double)(b.vec * STORES_A_FETCH);
    launch->products = launch->multiply_adds * (double)(KW_INST_M * b.inst_n * b.inst_k);
}

static void launch_direct_1st_block(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_turned_launch(launch_last, config, problem, target, launch);
}

const kw_family kw_family_conv_direct_1st_block = {
    .name = "conv.direct_1st_block",
    .summary =
        "few channels, forward and backward weight: all taps and channels are one depth, gathered from source pixels in shared memory",
    .kind = KW_KIND_GPU,
    .fuses = true,
    .turns = true,
    .first_text = true,
    .filter_text = true,
    .ops = 1 << KW_CONV_FWD | 1 << KW_CONV_BWD_WEIGHT,
    .dtypes = 1 << KW_BF16 | 1 << KW_FP16,
    .axes = direct_1st_axes,
    .axis_count = sizeof direct_1st_axes / sizeof *direct_1st_axes,
    .rules = {[KW_VALID] = {direct_1st_valid_rules},
              [KW_RUNS] = {direct_1st_runs_rules},
              [KW_TAKES] = {direct_1st_takes_rules},
              [KW_FITS] = {kw_turned_rules, direct_1st_fits_rules}},
    .decode = decode_direct_1st_config,
    .launch = launch_direct_1st_block,
    .emit = kw_gpu_emit_nothing,
    .kernel = "gpu/direct_1st/direct_1st.c",
};
