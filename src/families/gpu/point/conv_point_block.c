/* conv_point_block.c: 1x1 layers of few channels, or few on one side, forward and backward data: a block keeps all weights, and strips of
 * pixels are copied as one range of bytes, so that it does not matter where rows begin. The kernel text is kernels/gpu/point/point.c. */
#include "base/math.h"
#include "config/arch/gpu_arch.h"
#include "families/epilogue_text.h"
#include "families/gpu/defines.h"
#include "families/gpu/resident.h"
#include "gpu/point/args.h"
#include "problem/view.h"

#include <math.h>

#define KW_POINT_AXES(X)                                                                                                                   \
    X(waves, NULL, 1, 16, "waves of a block, which share its weights and go from strip to strip each")                                     \
    X(rows, NULL, 16, 64, "pixels of a strip")                                                                                             \
    X(cols, NULL, 16, 256, "channels of the result that a wave sums at a time")                                                            \
    X(room, NULL, 1, 224, "KiB of shared memory, for all weights and each wave's strip of source and result")

#define ROW(name, words, low, high, meaning) {#name, words, low, high, meaning},
static const kw_axis point_axes[] = {KW_POINT_AXES(ROW)};
#undef ROW

#define INDEX(name, words, low, high, meaning) AXIS_##name,
enum { KW_POINT_AXES(INDEX) AXIS_COUNT };
#undef INDEX

/* A config read, and what a target makes of it. */
typedef struct point_block {
    kw_op op;
    kw_dtype output;
    int64_t waves, rows, cols, room;
    int64_t sums;          /* of a thread */
    bool multiplies;       /* the architecture has mma.sync and copies of 16 bytes */
    int64_t lds, unit_lds; /* bytes of shared memory: of a block at most, and of a multiprocessor */
    int64_t threads, held; /* of a block; blocks that a multiprocessor holds */
} point_block;

/* The names that the counts of the kernel's text are made of; b is a point_block. */
#define KW_OP b->op
#define KW_OP_CONV_BWD_DATA KW_CONV_BWD_DATA
#define KW_BYTES ((int64_t)2)
#define KW_WAVES b->waves
#define KW_ROWS b->rows
#define KW_COLS b->cols
#define KW_ROOM b->room
#define KW_WAVE 32 /* of all architectures that have mma.sync */
#define KW_CEIL kw_ceil_div

enum { SUMS_MOST = 128, OTHER_REGISTERS = 56, UNIT_REGISTERS = 65536 }; /* of a multiprocessor of all such architectures */

static void decode_point(const kw_config *config, const kw_target *target, void *decoded) {
    const int32_t *axis = config->axis;
    const kw_gpu_arch *arch = target ? kw_gpu_arch_find(target->arch) : NULL;
    point_block *b = decoded;
    *b = (point_block){
        .op = config->op,
        .output = kw_config_output(config),
        .waves = axis[AXIS_waves],
        .rows = axis[AXIS_rows],
        .cols = axis[AXIS_cols],
        .room = axis[AXIS_room],
    };
    b->sums = b->rows * b->cols / KW_WAVE;
    b->threads = KW_BLOCK_THREADS;
    b->multiplies = arch && kw_gpu_arch_has(arch, KW_GPU_mma) && kw_gpu_arch_has(arch, KW_GPU_async16);
    if (arch) {
        b->lds = target->lds ? target->lds : arch->typical.lds;
        b->unit_lds = target->unit_lds ? target->unit_lds : b->lds;
        b->held = kw_gpu_resident_blocks(b->unit_lds, KW_ROOM_BYTES, UNIT_REGISTERS, b->threads * (b->sums + OTHER_REGISTERS));
    }
}

_Static_assert(sizeof(point_block) <= KW_DECODED_BYTES, "kw_rule_broken() keeps a point_block");

static bool whole_instructions(const kw_rule_case *c) {
    const point_block *b = c->decoded;
    return b->rows % KW_INST_M == 0 && b->cols % (2 * KW_INST_N) == 0;
}

static bool thread_has_room(const kw_rule_case *c) {
    const point_block *b = c->decoded;
    return b->sums <= SUMS_MOST && b->threads * (b->sums + OTHER_REGISTERS) <= UNIT_REGISTERS;
}

static bool results_of_two_bytes(const kw_rule_case *c) {
    const point_block *b = c->decoded;
    return (int64_t)kw_dtype_size(b->output) == KW_BYTES;
}

static const kw_rule point_valid_rules[] = {
    {"strip", "rows must be a multiple of an instruction's 16, and cols of the 16 of two", whole_instructions},
    {"registers", "a thread would have more than 128 sums, or a block's threads more registers than there are", thread_has_room},
    {"lds_result", "strips of results of 16 bits pass shared memory", results_of_two_bytes},
    {0},
};

static bool arch_multiplies(const kw_rule_case *c) {
    const point_block *b = c->decoded;
    return b->multiplies;
}

static bool fits_lds(const kw_rule_case *c) {
    const point_block *b = c->decoded;
    return KW_ROOM_BYTES <= b->lds;
}

static const kw_rule point_runs_rules[] = {
    {"arch_mma", "the lanes' shares are those of mma.sync, which the architecture has not", arch_multiplies},
    {"lds", "room is more shared memory than a block may have", fits_lds},
    {0},
};

/* --- which problems a config serves --- */

static int64_t depth_of(const kw_problem *problem) {
    return problem->op == KW_CONV_BWD_DATA ? problem->conv.k : problem->conv.c;
}

static int64_t cols_of(const kw_problem *problem) {
    return problem->op == KW_CONV_BWD_DATA ? problem->conv.c : problem->conv.k;
}

static bool pixels_are_rows(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    bool good = d->g == 1;
    for (int axis = 0; axis < 3; axis++) {
        good = good && d->filter[axis] == 1 && d->stride[axis] == 1 && d->pad[axis] == 0 && d->pad_back[axis] == 0;
    }
    return good;
}

static bool weights_fit(const kw_rule_case *c) {
    const point_block *b = c->decoded;
    int64_t depth = depth_of(c->problem), cols = cols_of(c->problem);
    return depth <= KW_ROOM_BYTES && cols <= KW_ROOM_BYTES && KW_POINT_LDS_BYTES(depth, cols) <= KW_ROOM_BYTES;
}

static bool pixels_counted(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    bool good = true;
    int64_t pixels = kw_mul(kw_mul(d->n, d->in[0], &good), kw_mul(d->in[1], d->in[2], &good), &good);
    return pixels <= INT32_MAX / 4 && good;
}

static const kw_rule point_takes_rules[] = {
    {"point", "only 1x1 filters of one group are served, with strides of 1 and no padding: pixels are rows of both tensors",
     pixels_are_rows},
    {"pixels_counted", "pixels are counted in 31 bits", pixels_counted},
    {0},
};

static const kw_rule point_fits_rules[] = {
    {"room", "all weights and each wave's strip of source and result must fit the axis room; more of it, or fewer waves or rows",
     weights_fit},
    {0},
};

/* --- launch --- */

/* Accesses of a wave's lanes: to its fragments, sums to their place, and ranges of bytes on their way in and out. */
static double strip_accesses(const point_block *b, int64_t depth, int64_t cols) {
    enum { COPIED = 512, PAIR = 2 };
    double steps = (double)(kw_ceil_div(cols, b->cols) * kw_ceil_div(depth, KW_INST_K)), rows = (double)(b->rows / KW_INST_M);
    double source = steps * rows * (depth % 2 ? 8 : 4);
    double products = (double)(kw_ceil_div(depth, KW_INST_K) * kw_ceil_div(cols, 2 * KW_INST_N)) * (1 + 2 * rows);
    double sums = rows * (double)kw_ceil_div(cols, KW_INST_N) * (cols % 2 ? 4 : 2);
    return source + products + sums + (double)(b->rows * (depth + PAIR * cols) * KW_BYTES) / COPIED;
}

static void launch_point(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    enum { PIECE_ACCESSES = 6, PIECE = 8, LONE = 15 }; /* LONE: cycles of an access of a wave that is alone */
    point_block block, *b = &block;
    decode_point(config, target, b);
    const kw_conv_dims *d = &problem->conv;
    int64_t depth = depth_of(problem), cols = cols_of(problem), pixels = d->n * d->in[0] * d->in[1] * d->in[2];
    int64_t strips = kw_ceil_div(pixels, b->rows), units = kw_max(1, target->units);
    /* As many as the device holds, or as give each wave a strip; of few strips each multiprocessor has some. */
    int64_t blocks = kw_min(units * b->held, kw_max(kw_ceil_div(strips, b->waves), kw_min(strips, units)));
    *launch = (kw_launch){.stages = 1, .stage = {{blocks, false, (int32_t)b->threads}}};
    launch->early[0] = kw_gpu_arch_has(kw_gpu_arch_find(target->arch), KW_GPU_tma);
    *kw_launch_params(launch, kw_point_params) = (kw_point_params){.pixels = pixels, .strips = strips, .depth = depth, .cols = cols};
    double weights = (double)(KW_POINT_WEIGHT_BYTES(depth, cols) / KW_BYTES) / (PIECE * KW_WAVE) * PIECE_ACCESSES;
    double strip = strip_accesses(b, depth, cols), all = (double)strips * strip + (double)blocks * weights;
    double lone = (double)kw_ceil_div(strips, blocks * b->waves) * strip + weights / (double)b->waves;
    launch->lane_copies = fmax(all, LONE * lone * (double)units);
}

const kw_family kw_family_conv_point_block = {
    .name = "conv.point_block",
    .summary = "1x1 layers whose weights a block keeps: strips of pixels are ranges of bytes, so channels may be any",
    .kind = KW_KIND_GPU,
    .fuses = true,
    .ops = 1 << KW_CONV_FWD | 1 << KW_CONV_BWD_DATA,
    .dtypes = 1 << KW_BF16 | 1 << KW_FP16,
    .axes = point_axes,
    .axis_count = sizeof point_axes / sizeof *point_axes,
    .rules = {[KW_VALID] = {point_valid_rules},
              [KW_RUNS] = {point_runs_rules},
              [KW_TAKES] = {point_takes_rules},
              [KW_FITS] = {point_fits_rules}},
    .decode = decode_point,
    .launch = launch_point,
    .emit = kw_gpu_emit_nothing,
    .kernel = "gpu/point/point.c",
};
