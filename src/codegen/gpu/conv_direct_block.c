/* conv_direct_block.c: grouped convolution with 3x3 filters and few channels a group, forward and backward data, whole groups side by side
 * in matrix instructions that read the source tile in shared memory for all taps. The kernel text is kernels/gpu/direct.c. A wave has 64
 * channels, slab by slab; a slab is one group, or as many as fill the columns of an instruction. */
#include "base/math.h"
#include "codegen/gpu/defines.h"
#include "config/gpu_arch.h"
#include "problem/view.h"

#define AXES(X)                                                                                                                            \
    X(channels, NULL, 4, 32, "channels of a group, in and out")                                                                            \
    X(impl, "grouped dense", 0, 1, "grouped: whole groups side by side; dense: one group, its channels in slices")                         \
    X(tile_h, NULL, 1, 64, "rows of the result that a block computes")                                                                     \
    X(tile_w, NULL, 1, 64, "columns of the result that a block computes")                                                                  \
    X(stride, NULL, 1, 2, "stride along both axes")                                                                                        \
    X(waves_c, NULL, 1, 16, "waves of a block along the channels, 64 each")                                                                \
    X(waves_q, NULL, 1, 16, "waves of a block that share its pixels")                                                                      \
    X(inst_k, NULL, 8, 32, "depth of the matrix instruction, which has 16 pixels and 16 channels (NVIDIA: 8)")                             \
    X(swizzle, "none xor cyclic", 0, 2, "how pieces of a pixel change places in shared memory, so that pixels meet different banks")       \
    X(store, "registers lds", 0, 1, "lds: results pass shared memory and are stored in vectors; registers: each thread stores its own")    \
    X(vec, NULL, 1, 16, "channels that a thread moves together")

enum {
#define PLACE(name, words, low, high, meaning) AXIS_##name,
    AXES(PLACE)
#undef PLACE
};

#define ROW(name, words, low, high, meaning) {#name, words, low, high, meaning},
static const kw_axis axes[] = {AXES(ROW)};
#undef ROW

enum { WAVE_CHANNELS = 64, INST_PIXELS = 16, EXTENT = 3, TAPS = EXTENT * EXTENT, ELEMENT_BYTES = 2, BLOCK_THREADS = 1024 };

/* A config read, and what an architecture makes of it. */
typedef struct block {
    kw_op op;
    kw_dtype dtype;
    int64_t channels, tile_h, tile_w, stride, waves_c, waves_q, inst_k, vec;
    bool dense, through_lds;
    const kw_gpu_arch *arch;            /* NULL where none is asked; then the rest is 0 */
    int64_t lanes, lds;                 /* of the target */
    int64_t inst_n, slab, steps;        /* columns of the instruction; channels of a slab; instructions of its depth */
    int64_t words, shares, sums;        /* a lane's words of weights of an instruction; its instructions of a slab; its sums */
    int64_t source_bytes, result_bytes; /* of shared memory */
} block;

static block read_config(const kw_config *config, const kw_target *target) {
    const int32_t *axis = config->axis;
    block b = {.op = config->op,
               .dtype = config->dtype,
               .channels = axis[AXIS_channels],
               .dense = axis[AXIS_impl] != 0,
               .tile_h = axis[AXIS_tile_h],
               .tile_w = axis[AXIS_tile_w],
               .stride = axis[AXIS_stride],
               .waves_c = axis[AXIS_waves_c],
               .waves_q = axis[AXIS_waves_q],
               .inst_k = axis[AXIS_inst_k],
               .through_lds = axis[AXIS_store] != 0,
               .vec = axis[AXIS_vec]};
    int64_t pixel_bytes = b.waves_c * WAVE_CHANNELS * ELEMENT_BYTES, height = (b.tile_h - 1) * b.stride + EXTENT;
    b.source_bytes = height * ((b.tile_w - 1) * b.stride + EXTENT) * pixel_bytes;
    b.result_bytes = b.through_lds ? b.tile_h * b.tile_w * pixel_bytes : 0;
    b.arch = target ? kw_gpu_arch_find(target->arch) : NULL;
    if (!b.arch) {
        return b;
    }
    b.lanes = target->lanes ? target->lanes : b.arch->typical.lanes;
    b.lds = target->lds ? target->lds : b.arch->typical.lds;
    b.inst_n = kw_gpu_arch_has(b.arch, KW_GPU_mma) ? 8 : 16;
    b.slab = kw_max(b.channels, b.inst_n);
    b.steps = kw_ceil_div(TAPS * b.slab, b.inst_k);
    b.shares = b.steps * b.slab / b.inst_n;
    int64_t copies = kw_gpu_arch_has(b.arch, KW_GPU_wmma11) ? 2 : 1; /* both halves of a wave hold the same */
    b.words = b.inst_n * b.inst_k * ELEMENT_BYTES * copies / (b.lanes * (int64_t)sizeof(uint32_t));
    b.sums = b.tile_h * b.tile_w / b.waves_q * b.slab / b.lanes;
    return b;
}

/* --- rules --- */

typedef struct rule {
    const char *name, *reason;
    bool (*holds)(const block *b);
} rule;

static bool group_width(const block *b) {
    return b->channels == 4 || b->channels == 8 || b->channels == 16 || b->channels == 32;
}

static bool grouped(const block *b) {
    return !b->dense;
}

static bool tile_by_waves(const block *b) {
    return b->tile_h * b->tile_w % (INST_PIXELS * b->waves_q) == 0;
}

static bool vector_width(const block *b) {
    return !(b->vec & (b->vec - 1)) && b->vec * ELEMENT_BYTES <= 16;
}

static bool data_stride(const block *b) {
    return b->op == KW_CONV_FWD || b->stride == 1;
}

static const rule valid_rules[] = {
    {"group_width", "groups of 4, 8, 16 and 32 channels are generated", group_width},
    {"impl", "impl=dense is not generated: one group of many channels is what conv.igemm is for", grouped},
    {"tile_by_waves", "tile_h x tile_w must be a multiple of waves_q x 16 pixels of an instruction", tile_by_waves},
    {"vector_width", "vec is 1, 2, 4 or 8: shared memory is divided into pieces of 16 bytes", vector_width},
    {"data_stride", "conv_bwd_data is generated for stride 1, where it is forward with the filter turned round", data_stride},
    {0},
};

static bool known_arch(const block *b) {
    return b->arch != NULL;
}

static bool arch_instruction(const block *b) {
    const int32_t shape[3] = {INST_PIXELS, (int32_t)b->inst_n, (int32_t)b->inst_k};
    return kw_gpu_arch_has_tile(b->arch, b->dtype, b->dtype, shape);
}

static bool block_threads(const block *b) {
    return b->waves_c * b->waves_q * b->lanes <= BLOCK_THREADS;
}

static bool sums_fit_registers(const block *b) {
    enum { SUMS = 64 };
    return b->sums <= SUMS;
}

static bool fits_lds(const block *b) {
    return b->source_bytes + b->result_bytes <= b->lds;
}

static const rule runs_rules[] = {
    {"known_arch", "the architecture has no file in rules/arch", known_arch},
    {"arch_instruction", "the architecture has no matrix instruction of 16 pixels, inst_k deep, for this type", arch_instruction},
    {"block_threads", "a block has at most 1024 threads", block_threads},
    {"registers", "a thread would have more than 64 sums; more waves_q or a smaller tile", sums_fit_registers},
    {"lds", "what a tile reads, and with store=lds its result, need more shared memory than a block may have", fits_lds},
    {0},
};

static const rule *broken(const rule *rules, const block *b) {
    while (rules->name && rules->holds(b)) {
        rules++;
    }
    return rules->name ? rules : NULL;
}

static kw_status valid(const kw_config *config, kw_error *why) {
    block b = read_config(config, NULL);
    const rule *bad = broken(valid_rules, &b);
    return bad ? kw_fail(why, KW_ILLEGAL, "%s: rule %s: %s", config->family->name, bad->name, bad->reason) : KW_OK;
}

static kw_status runs(const kw_config *config, const kw_target *target, kw_error *why) {
    block b = read_config(config, target);
    const rule *bad = broken(runs_rules, &b);
    return bad ? kw_fail(why, KW_NO_KERNEL, "%s on %s: rule %s: %s", config->family->name, target->arch, bad->name, bad->reason) : KW_OK;
}

/* --- problems --- */

static kw_status fits(const kw_config *config, const kw_problem *problem, kw_error *why) {
    block b = read_config(config, NULL);
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3];
    if (problem->ndim != 2 || problem->layout != KW_CHANNELS_LAST) {
        return kw_fail(why, KW_NO_KERNEL, "conv.direct_block needs 2 spatial axes and a channels-last layout");
    }
    if (d->c != d->g * b.channels || d->k != d->c) {
        return kw_fail(why, KW_NO_KERNEL, "channels=%d is for groups of as many channels, in and out", (int)b.channels);
    }
    for (int axis = 1; axis < 3; axis++) {
        if (d->filter[axis] != EXTENT || d->stride[axis] != b.stride || d->dilation[axis] != 1) {
            return kw_fail(why, KW_NO_KERNEL, "conv.direct_block is for 3x3 filters, stride=%d on both axes, undilated", (int)b.stride);
        }
    }
    if (d->c % b.vec) {
        return kw_fail(why, KW_NO_KERNEL, "vec=%d does not divide %lld channels", (int)b.vec, (long long)d->c);
    }
    kw_problem_output(out, problem);
    bool good = true;
    int64_t pixels = kw_max(kw_mul(d->in[1], d->in[2], &good), kw_mul(out[1], out[2], &good)), most = INT32_MAX / 2;
    int64_t blocks = kw_mul(kw_mul(pixels, d->n, &good), kw_ceil_div(d->c, WAVE_CHANNELS), &good);
    if (kw_mul(pixels, d->c, &good) > most || kw_max(d->pad[1], d->pad[2]) > most / 4 || blocks > INT32_MAX || !good) {
        return kw_fail(why, KW_NO_KERNEL, "an image of more than 2^30 elements, or too many blocks to be counted in 31 bits");
    }
    return KW_OK;
}

static void launch_block(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    enum { TILES_H, TILES_W, BLOCK_COLS, PACKED, PACK_THREADS = 256 }; /* of launch.value: kernels/gpu/direct.c */
    block b = read_config(config, target);
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3];
    kw_problem_output(out, problem);
    const int64_t *pixels = b.op == KW_CONV_BWD_DATA ? d->in : out;
    int64_t tiles_h = kw_ceil_div(pixels[1], b.tile_h), tiles_w = kw_ceil_div(pixels[2], b.tile_w);
    int64_t cols = kw_ceil_div(d->c, b.waves_c * WAVE_CHANNELS), packed = kw_ceil_div(d->c, b.slab) * b.shares * b.lanes;
    int64_t blocks = tiles_h * tiles_w * cols * d->n;
    *launch = (kw_launch){
        .stages = 2,
        .stage = {{kw_ceil_div(packed, PACK_THREADS), true, PACK_THREADS}, {blocks, false, (int32_t)(b.waves_c * b.waves_q * b.lanes)}}};
    launch->packed_bytes = packed * b.words * (int64_t)sizeof(uint32_t);
    launch->value[TILES_H] = tiles_h;
    launch->value[TILES_W] = tiles_w;
    launch->value[BLOCK_COLS] = cols;
    launch->value[PACKED] = packed;
    double slabs = (double)(blocks * b.waves_c * WAVE_CHANNELS) / (double)b.slab;
    launch->multiply_adds = slabs * (double)b.shares * (double)(b.tile_h * b.tile_w / INST_PIXELS);
    launch->loads = slabs * (double)b.steps * (double)(b.tile_h * b.tile_w / INST_PIXELS);
    launch->copied_bytes = 2 * (double)launch->packed_bytes;
}

const kw_family kw_family_conv_direct_block = {
    .name = "conv.direct_block",
    .summary = "whole groups of 4 to 32 channels side by side in matrix instructions, 3x3 filters on a tile in shared memory",
    .backend = "gpu",
    .ops = 1 << KW_CONV_FWD | 1 << KW_CONV_BWD_DATA,
    .dtypes = 1 << KW_BF16 | 1 << KW_FP16,
    .axes = axes,
    .axis_count = sizeof axes / sizeof *axes,
    .valid = valid,
    .runs = runs,
    .fits = fits,
    .launch = launch_block,
    .emit = kw_gpu_emit_nothing,
    .kernel = "gpu/direct.c",
};
