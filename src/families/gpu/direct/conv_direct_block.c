/* conv_direct_block.c: convolution with 3x3 filters, all directions, by matrix instructions that read the source in shared memory for all
 * taps. impl=grouped has few channels a group, whole groups side by side: a wave has 64 channels, slab by slab, and a slab is one group or
 * as many as fill the columns of an instruction. impl=dense has one group, whose source channels waves share, each with its part of the
 * filter in registers. Backward weight has groups alone, 16 x 16 channels a wave. The kernel text is kernels/gpu/direct/direct.c; the rules
 * of a config alone are in direct_rules.c. */
#include "base/math.h"
#include "families/gpu/defines.h"
#include "families/gpu/direct/direct.h"
#include "families/gpu/resident.h"
#include "families/gpu/turned.h"
#include "gpu/direct/args.h"
#include "gpu/lib/resources.h"
#include "problem/view.h"

#define ROW(name, words, low, high, meaning) {#name, words, low, high, meaning},
static const kw_axis direct_block_axes[] = {KW_DIRECT_AXES(ROW)};
#undef ROW

/* --- which problems a config serves --- */

static bool direct_axes(const kw_rule_case *c) {
    return c->problem->ndim == 2;
}

static bool direct_filter(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    const kw_conv_dims *d = &c->problem->conv;
    bool good = true;
    for (int axis = 1; axis < 3; axis++) {
        good &= d->filter[axis] == KW_EXTENT && d->stride[axis] == b->stride && d->dilation[axis] == 1;
    }
    return good;
}

static bool dense_channels(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    const kw_conv_dims *d = &c->problem->conv;
    return !b->dense || (d->g == 1 && (b->op == KW_CONV_BWD_DATA ? d->k : d->c) <= b->source_channels);
}

static bool group_channels(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    const kw_conv_dims *d = &c->problem->conv;
    return b->dense || (d->c / d->g == b->channels && d->k == d->c);
}

static bool direct_vectors_divide(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    return c->problem->conv.c % b->vec == 0 && c->problem->conv.k % b->vec == 0;
}

static bool direct_image_counted(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    const kw_conv_dims *d = &c->problem->conv;
    int64_t out[3], most = INT32_MAX / 2, channels = kw_max(d->c, d->k);
    bool good = true;
    kw_problem_output(out, c->problem);
    int64_t pixels = kw_max(kw_mul(d->in[1], d->in[2], &good), kw_mul(out[1], out[2], &good));
    int64_t blocks = kw_mul(kw_mul(pixels, d->n, &good), kw_ceil_div(channels, b->block_cols), &good);
    return kw_mul(pixels, channels, &good) <= most && kw_max(d->pad[1], d->pad[2]) <= most / 4 && blocks <= INT32_MAX && good;
}

static const kw_rule direct_block_takes_rules[] = {
    {"two_axes", "the problem must have 2 spatial axes", direct_axes},
    {0},
};

static const kw_rule direct_block_fits_rules[] = {
    {"filter", "only 3x3 filters are served, with the axis stride on both axes, undilated", direct_filter},
    {"dense_channels", "impl=dense is for one group of at most waves_c x slices x channels source channels", dense_channels},
    {"group_channels", "impl=grouped is for groups of as many channels as the axis says, in and out", group_channels},
    {"vectors_divide", "vec must divide the channels of x and of y; 1 serves any", direct_vectors_divide},
    {"image_counted", "an image has at most 2^30 elements, and blocks are counted in 31 bits", direct_image_counted},
    {0},
};

/* --- launch --- */

/* Instructions and reads of the source of a block. */
static void count_direct_work(const kw_direct_block *b, int64_t blocks, kw_launch *launch) {
    double waves = (double)(blocks * b->waves_c * b->waves_q), instructions, reads;
    if (b->dense) {
        double rows = (double)(b->coords_h + b->open - 1), coords = (double)(b->coords_w / b->waves_q / KW_INST_M);
        instructions = rows * coords * (double)b->shares;
        reads = rows * coords * (double)(b->step * b->reach * b->slices * (b->channels / b->inst_k));
    } else {
        double slabs = (double)b->cols / (double)b->slab;
        double coords = (double)kw_ceil_div(b->coords_h * b->coords_w, b->waves_q * KW_INST_M);
        instructions = slabs * coords * (double)b->shares;
        reads = slabs * coords * (double)b->steps;
    }
    launch->multiply_adds = waves * instructions;
    launch->loads = waves * reads;
    launch->products = launch->multiply_adds * (double)(KW_INST_M * b->inst_n * b->inst_k);
}

/* Blocks of a multiprocessor, four at most: of swizzle=xor as many as there is room for. */
static int64_t blocks_for_weight(const kw_direct_block *b) {
    enum { BLOCKS_WANTED = 4, THREAD_REGISTERS = 128 };
    int64_t unit_registers = b->arch->typical.unit_registers;
    int64_t room = kw_gpu_resident_blocks(b->lds, b->lds_bytes, unit_registers, b->threads * THREAD_REGISTERS);
    return b->lies ? kw_min(room, BLOCKS_WANTED) : BLOCKS_WANTED;
}

/* Sums of a channel are shared by as many blocks as there are at a time, which all have as many rounds of tiles to go over. */
static void launch_direct_weight(const kw_direct_block *b, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    enum { SLICES_MAX = 256 };
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3];
    kw_problem_output(out, problem);
    int64_t tiles_h = kw_ceil_div(out[1], b->tile_h), tiles_w = kw_ceil_div(out[2], b->tile_w), units = tiles_h * tiles_w * d->n;
    int64_t cols = kw_ceil_div(d->c, b->block_cols), wanted = blocks_for_weight(b) * kw_max(1, target->units) / cols;
    int64_t most = kw_max(1, kw_min(wanted, SLICES_MAX / b->waves_q)), rounds = kw_ceil_div(units, most * b->slices);
    int64_t parts = kw_ceil_div(units, rounds * b->slices), elements = d->k * KW_TAPS * b->channels;
    bool joins = b->peers > 1;
    parts = joins ? b->peers : parts;
    *launch = (kw_launch){.stages = 2,
                          .stage = {{cols * parts, false, (int32_t)b->threads},
                                    {kw_ceil_div(elements, KW_PARTS_SUMS(parts * b->waves_q)), false, KW_ADD_THREADS}}};
    launch->early[0] = launch->early[1] = kw_gpu_arch_has(kw_gpu_arch_find(target->arch), KW_GPU_tma);
    *kw_launch_params(launch, kw_direct_block_params) =
        (kw_direct_block_params){.tiles_h = tiles_h, .tiles_w = tiles_w, .parts = parts, .units = units, .elements = elements};
    if (joins) {
        launch->stages = 1;
        launch->stage[1] = (kw_stage){0};
        launch->cluster[0] = (int32_t)b->peers;
    }
    launch->shared_bytes = joins ? 0 : parts * b->waves_q * elements * (int64_t)sizeof(float);
    launch->copied_bytes = 2 * (double)launch->shared_bytes;
    double steps = (double)(units * cols * b->waves_c) * (double)(b->tile_h * b->tile_w) / (double)b->inst_k;
    launch->multiply_adds = steps * KW_TAPS * (double)b->cols / (double)kw_max(1, b->inst_n);
    launch->loads = steps * (1 + (double)(KW_EXTENT * b->stride) * (double)b->cols / (double)kw_max(1, b->inst_n));
    launch->products = launch->multiply_adds * (double)(KW_INST_M * b->inst_n * b->inst_k);
}

/* Blocks that stay: as many as there are at a time, whose tiles are done in as many rounds; of few rounds one tile each, since blocks that stay leave
 * places of the last round empty. cols: blocks side by side, tiles: of each. */
static int64_t blocks_that_stay(const kw_direct_block *b, const kw_target *target, int64_t cols, int64_t tiles) {
    enum { FEW_ROUNDS = 2 };
    int64_t room = kw_gpu_resident_blocks(b->lds, b->lds_bytes, b->arch->typical.unit_registers, b->threads * b->stay_registers);
    int64_t most = kw_max(1, room * kw_max(1, target->units) / cols), rounds = kw_ceil_div(tiles, most);
    return cols * (rounds > FEW_ROUNDS ? kw_ceil_div(tiles, rounds) : tiles);
}

static void launch_last(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_direct_block b = kw_direct_block_read(config, target);
    if (b.op == KW_CONV_BWD_WEIGHT) {
        launch_direct_weight(&b, problem, target, launch);
        return;
    }
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3];
    kw_problem_output(out, problem);
    bool data = b.op == KW_CONV_BWD_DATA;
    const int64_t *pixels = data ? d->in : out;
    int64_t result_c = data ? d->c : d->k;
    /* Tiles of backward data begin where a phase does, which may be in the padding. */
    int64_t tiles_h = kw_ceil_div(pixels[1] + d->pad[1] % b.side, b.tile_h),
            tiles_w = kw_ceil_div(pixels[2] + d->pad[2] % b.side, b.tile_w);
    int64_t cols = kw_ceil_div(result_c, b.block_cols), sets = b.dense ? cols * b.waves_c : kw_ceil_div(result_c, b.slab);
    int64_t packed = sets * b.shares * b.lanes, blocks = tiles_h * tiles_w * cols * d->n;
    *launch = (kw_launch){.stages = 2,
                          .stage = {{kw_ceil_div(packed, KW_PACK_THREADS), true, KW_PACK_THREADS}, {blocks, false, (int32_t)b.threads}}};
    launch->packed_bytes = packed * b.words * (int64_t)sizeof(uint32_t);
    if (b.brings) {
        int64_t stay = b.stays ? blocks_that_stay(&b, target, cols, tiles_h * tiles_w * d->n) : blocks;
        *launch = (kw_launch){.stages = 1, .stage = {{stay, false, (int32_t)b.threads}}};
    }
    launch->early[0] = launch->early[1] = kw_gpu_arch_has(kw_gpu_arch_find(target->arch), KW_GPU_tma);
    *kw_launch_params(launch, kw_direct_block_params) = (kw_direct_block_params){
        .tiles_h = tiles_h, .tiles_w = tiles_w, .block_cols = cols, .packed = packed, .units = b.stays ? blocks : 0};
    launch->copied_bytes = 2 * (double)launch->packed_bytes;
    count_direct_work(&b, blocks, launch);
}

static void launch_direct_block(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_turned_launch(launch_last, config, problem, target, launch);
}

const kw_family kw_family_conv_direct_block = {
    .name = "conv.direct_block",
    .summary =
        "3x3 filters on source pixels in shared memory: groups of 4 to 32 channels side by side, or one group with its filter in registers",
    .kind = KW_KIND_GPU,
    .fuses = true,
    .turns = true,
    .first_text = true,
    .filter_text = true,
    .ops = 1 << KW_CONV_FWD | 1 << KW_CONV_BWD_DATA | 1 << KW_CONV_BWD_WEIGHT,
    .dtypes = 1 << KW_BF16 | 1 << KW_FP16,
    .axes = direct_block_axes,
    .axis_count = sizeof direct_block_axes / sizeof *direct_block_axes,
    .added = "pack=stage peers=1",
    .rules = {[KW_VALID] = {kw_direct_block_valid_rules},
              [KW_RUNS] = {kw_direct_block_runs_rules},
              [KW_TAKES] = {direct_block_takes_rules},
              [KW_FITS] = {kw_turned_rules, direct_block_fits_rules}},
    .decode = kw_direct_block_decode,
    .launch = launch_direct_block,
    .emit = kw_gpu_emit_nothing,
    .kernel = "gpu/direct/direct.c",
};
