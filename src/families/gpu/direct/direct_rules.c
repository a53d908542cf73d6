/* direct_rules.c: the rules of conv.direct_block, each once, by name and with its reason: those that hold whatever the architecture and
 * those that ask it. */
#include "families/gpu/direct/direct.h"

#include "base/math.h"
#include "families/epilogue_text.h"

enum {
#define PLACE(name, words, low, high, meaning) AXIS_##name,
    KW_DIRECT_AXES(PLACE)
#undef PLACE
};

enum { WORD = 4, BLOCK_THREADS = 1024, DENSE_CHANNELS = 32, GROUPED_COLS = 64, INST_COLS_MAX = 16 };

/* The names that the counts of the kernel's text are made of; b is a kw_direct_block. */
#define KW_OP b->op
#define KW_OP_CONV_BWD_DATA KW_CONV_BWD_DATA
#define KW_OP_CONV_BWD_WEIGHT KW_CONV_BWD_WEIGHT
#define KW_IN b->dtype
#define KW_BYTES ((int64_t)2)
#define KW_CHANNELS b->channels
#define KW_IMPL b->dense
#define KW_IMPL_DENSE true
#define KW_STORE b->through_lds
#define KW_STORE_LDS true
#define KW_TILE_H b->tile_h
#define KW_TILE_W b->tile_w
#define KW_STRIDE b->stride
#define KW_WAVES_C b->waves_c
#define KW_WAVES_Q b->waves_q
#define KW_SLICES b->slices
#define KW_COLS b->cols
#define KW_INST_K b->inst_k
#define KW_VEC b->vec
#define KW_PACK b->brings
#define KW_PEERS b->peers
#define KW_SWIZZLE b->swizzle
#define KW_SWIZZLE_XOR 1
#define KW_PACK_LDS true
#define KW_WAVE b->lanes
#define KW_NVIDIA kw_gpu_arch_has(b->arch, KW_GPU_mma)
#define KW_HAS_MMA kw_gpu_arch_has(b->arch, KW_GPU_mma)
#define KW_HAS_ASYNC16 kw_gpu_arch_has(b->arch, KW_GPU_async16)
#define KW_HAS_MFMA kw_gpu_arch_has(b->arch, KW_GPU_mfma)
#define KW_HAS_WMMA11 kw_gpu_arch_has(b->arch, KW_GPU_wmma11)
#define KW_CEIL kw_ceil_div
#include "gpu/direct/args.h"
#define KW_TF32 0
#include "gpu/lib/resources.h"

static void ask_arch(kw_direct_block *b, const kw_target *target) {
    b->lanes = target->lanes ? target->lanes : b->arch->typical.lanes;
    b->lds = target->lds ? target->lds : b->arch->typical.lds;
    b->inst_n = KW_INST_N;
    b->words = KW_B_WORDS;
    b->threads = KW_BLOCK_THREADS;
    b->stay_registers = KW_STAY_REGISTERS;
    b->stays = !KW_WEIGHT && !KW_DENSE && KW_STAYS;
    b->lds_bytes = KW_WEIGHT ? KW_WEIGHT_LDS_BYTES : KW_DENSE ? KW_DENSE_LDS_BYTES : KW_GROUPED_LDS_BYTES;
    b->thread_registers = kw_min(b->arch->typical.registers, b->arch->typical.unit_registers / b->threads);
    if (b->dense) {
        /* A phase has as many open rows as taps along the height: three in all. */
        int64_t rows = KW_DATA ? KW_EXTENT : KW_OPEN;
        b->shares = KW_DENSE_SHARES;
        b->sums = rows * KW_SIDE * KW_COORDS_W / KW_WAVES_Q * KW_COLS / KW_WAVE;
    } else {
        b->slab = KW_SLAB;
        b->steps = KW_STEPS;
        b->shares = KW_STEPS * KW_SLAB / KW_INST_N;
        b->sums = KW_CEIL(KW_COORDS_H * KW_COORDS_W, KW_WAVES_Q * KW_INST_M) * KW_INST_M * KW_SLAB / KW_WAVE;
    }
}

static void count_direct_block(kw_direct_block *b) {
    b->side = KW_SIDE;
    b->lies = KW_WEIGHT && KW_LIES;
    b->step = KW_STEP;
    b->open = KW_OPEN;
    b->reach = KW_REACH;
    b->coords_h = KW_COORDS_H;
    b->coords_w = KW_COORDS_W;
    b->source_channels = KW_SRC_CHANNELS;
    b->block_cols = KW_DST_CHANNELS;
}

kw_direct_block kw_direct_block_read(const kw_config *config, const kw_target *target) {
    const int32_t *axis = config->axis;
    kw_direct_block b = {.op = config->op,
                         .dtype = config->dtype,
                         .output = kw_config_output(config),
                         .channels = axis[AXIS_channels],
                         .dense = axis[AXIS_impl] != 0,
                         .swizzle = axis[AXIS_swizzle],
                         .tile_h = axis[AXIS_tile_h],
                         .tile_w = axis[AXIS_tile_w],
                         .stride = axis[AXIS_stride],
                         .waves_c = axis[AXIS_waves_c],
                         .waves_q = axis[AXIS_waves_q],
                         .slices = axis[AXIS_slices],
                         .cols = axis[AXIS_cols],
                         .inst_k = axis[AXIS_inst_k],
                         .through_lds = axis[AXIS_store] != 0,
                         .vec = axis[AXIS_vec],
                         .brings = axis[AXIS_pack] != 0,
                         .peers = axis[AXIS_peers]};
    count_direct_block(&b);
    b.arch = target ? kw_gpu_arch_find(target->arch) : NULL;
    if (b.arch) {
        ask_arch(&b, target);
    }
    return b;
}

_Static_assert(sizeof(kw_direct_block) <= KW_DECODED_BYTES, "kw_rule_broken() keeps a kw_direct_block");

void kw_direct_block_decode(const kw_config *config, const kw_target *target, void *decoded) {
    *(kw_direct_block *)decoded = kw_direct_block_read(config, target);
}

/* --- rules --- */

static bool group_width(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    return b->channels == 4 || b->channels == 8 || b->channels == 16 || b->channels == 32;
}

static bool weight_form(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    bool lies = KW_LIES;
    return b->op != KW_CONV_BWD_WEIGHT ||
           (!b->dense && !b->through_lds && b->swizzle != 2 && b->waves_q % b->slices == 0 && b->cols == KW_WEIGHT_COLS &&
            (lies || b->tile_w % 2 == 0) && (!lies || (b->vec == 8 && !(b->waves_c & (b->waves_c - 1)))) &&
            (b->channels != DENSE_CHANNELS || b->waves_c % 4 == 0));
}

static bool grouped_wave(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    int64_t least = kw_max(b->channels, INST_COLS_MAX); /* whole groups, and whole instructions of any architecture */
    bool cols = b->cols == GROUPED_COLS || (b->brings && b->cols % least == 0);
    return b->dense || b->op == KW_CONV_BWD_WEIGHT || (b->slices == 1 && cols);
}

static bool brought_weights(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    return !b->brings || (!b->dense && b->op != KW_CONV_BWD_WEIGHT);
}

static bool peers_count(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    return b->peers == 1 || (b->op == KW_CONV_BWD_WEIGHT && !(b->peers & (b->peers - 1)));
}

static bool dense_slices(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    return !b->dense || b->channels == DENSE_CHANNELS;
}

static bool dense_columns(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    return !b->dense || b->cols == 8 || b->cols == 16 || b->cols == 32;
}

static bool whole_phases(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    return b->tile_h % b->side == 0 && b->tile_w % b->side == 0;
}

static bool tile_by_waves(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    if (b->op == KW_CONV_BWD_WEIGHT) {
        return b->tile_h * b->tile_w % (b->inst_k * (b->waves_q / b->slices)) == 0;
    }
    int64_t coords = b->dense ? b->coords_w : b->coords_h * b->coords_w;
    return b->brings || (coords >= KW_INST_M * b->waves_q && coords % (KW_INST_M * b->waves_q) == 0);
}

static bool direct_vector_width(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    return !(b->vec & (b->vec - 1)) && b->vec * KW_BYTES <= 16;
}

/* kw_lds_at() of gpu/direct/direct.c and the copies of gpu/direct/staying.h swap pieces among four or eight of a pixel. */
static bool whole_swizzles(const kw_rule_case *c) {
    enum { XOR = 1, PIECE = 16, SWAPPED = 4 };
    const kw_direct_block *b = c->decoded;
    return b->swizzle != XOR || b->op == KW_CONV_BWD_WEIGHT || b->source_channels * KW_BYTES % (SWAPPED * PIECE) == 0;
}

/* Where they pass shared memory as elements, in the room of the source's. */
static bool lds_result(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    return b->dense || !b->through_lds || kw_dtype_size(b->output) == KW_BYTES;
}

const kw_rule kw_direct_block_valid_rules[] = {
    {"group_width", "groups of 4, 8, 16 and 32 channels are generated", group_width},
    {"weight_form",
     "conv_bwd_weight is for impl=grouped with cols=16 and store=registers, swizzle=none with an even tile_w, or xor with vec=8 and "
     "waves_c a power of two; of 32 channels with waves_c in fours; slices must divide waves_q",
     weight_form},
    {"grouped_wave", "a wave of impl=grouped has slices=1 and cols=64, whole groups side by side; with pack=lds cols=16 or 32 too",
     grouped_wave},
    {"brought_weights", "pack=lds is for impl=grouped, in conv_fwd and conv_bwd_data", brought_weights},
    {"peers", "clusters of 2, 4 or 8 blocks (peers) are for conv_bwd_weight", peers_count},
    {"dense_slices", "the slices of impl=dense have channels=32", dense_slices},
    {"dense_columns", "a wave of impl=dense computes cols=8, 16 or 32 channels", dense_columns},
    {"whole_phases", "conv_bwd_data with stride 2 needs an even tile_h and tile_w: each of the phases has the same pixels of a tile",
     whole_phases},
    {"tile_by_waves",
     "tile_h x tile_w (impl=dense: tile_w alone), in conv_bwd_data a quarter of it (half) with stride 2, must be a multiple of waves_q x "
     "16 pixels of an instruction, but with pack=lds; in conv_bwd_weight tile_h x tile_w of waves_q / slices x inst_k",
     tile_by_waves},
    {"vector_width", "vec is 1, 2, 4 or 8: shared memory is divided into pieces of 16 bytes", direct_vector_width},
    {"swizzle_pieces", "swizzle=xor needs waves_c x cols in multiples of 32 channels: pieces of 16 bytes swap places in fours",
     whole_swizzles},
    {"lds_result", "with impl=grouped store=lds results of 16 bits pass shared memory; store=registers writes any type", lds_result},
    {0},
};

static bool known_arch(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    return b->arch != NULL;
}

static bool arch_instruction(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    const int32_t shape[3] = {KW_INST_M, (int32_t)b->inst_n, (int32_t)b->inst_k};
    return kw_gpu_arch_has_tile(b->arch, b->dtype, b->dtype, shape);
}

static bool wave_columns(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    return b->cols % b->inst_n == 0;
}

/* A lane takes pixels that follow each other in a row. */
static bool weight_pixels(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    int64_t together = b->words * WORD / KW_BYTES; /* of a lane: the second operand has one row of it */
    return b->op != KW_CONV_BWD_WEIGHT || KW_LIES || b->tile_w % together == 0;
}

static bool matrix_reads(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    bool can = kw_gpu_arch_has(b->arch, KW_GPU_mma) && kw_gpu_arch_has(b->arch, KW_GPU_async16);
    return b->op != KW_CONV_BWD_WEIGHT || !KW_LIES || (can && b->inst_k == 16);
}

static bool cluster_arch(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    return b->peers == 1 || kw_gpu_arch_has(b->arch, KW_GPU_tma);
}

static bool direct_block_threads(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    return b->threads <= BLOCK_THREADS;
}

static bool direct_sums_fit_registers(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    enum { SUMS = 64 };
    return b->dense || b->op == KW_CONV_BWD_WEIGHT || b->sums <= SUMS;
}

/* Besides the filter and the sums: source rows on their way, a fragment, where each fragment of a step lies, which the compiler keeps from
 * step to step, and the walk's own. NVIDIA's fragments have two rows a lane. */
static bool filter_fits_registers(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    enum { ADDRESSES = 32 };
    int64_t prefetch = KW_PREFETCH_MOST * kw_ceil_div(b->vec * KW_BYTES, WORD), fragment = 2 * b->words;
    int64_t places = b->step * b->reach * b->slices * (b->channels / b->inst_k) * (INST_COLS_MAX / b->inst_n);
    return !b->dense || b->shares * b->words + b->sums + prefetch + fragment + places + ADDRESSES <= b->thread_registers;
}

static bool direct_fits_lds(const kw_rule_case *c) {
    const kw_direct_block *b = c->decoded;
    return b->lds_bytes <= b->lds;
}

const kw_rule kw_direct_block_runs_rules[] = {
    {"known_arch", "the architecture has no file in rules/arch", known_arch},
    {"arch_instruction", "the architecture has no matrix instruction of 16 pixels, inst_k deep, for this type", arch_instruction},
    {"wave_columns", "cols must be a multiple of the instruction's channels", wave_columns},
    {"weight_pixels", "in conv_bwd_weight a lane multiplies pixels that follow each other in a row: tile_w must be a multiple of them",
     weight_pixels},
    {"matrix_reads", "the architecture has no copies of 16 bytes and reads of turned matrices, as conv_bwd_weight with swizzle=xor asks",
     matrix_reads},
    {"cluster_arch", "the architecture has no clusters of blocks, as peers asks", cluster_arch},
    {"block_threads", "a block has at most 1024 threads", direct_block_threads},
    {"registers", "a thread would have more than 64 sums; more waves_q or a smaller tile", direct_sums_fit_registers},
    {"filter_registers",
     "the filters of a wave's slices and its open sums need more registers than a thread of such a block may have; fewer slices, "
     "cols or waves",
     filter_fits_registers},
    {"lds",
     "what a tile reads (impl=dense: two source rows), and its result where that passes shared memory, need more of it than a block "
     "may have",
     direct_fits_lds},
    {0},
};
