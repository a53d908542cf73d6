/* gemm_stream.c: products with few rows or few columns: the long operand goes once, from memory, through the registers of matrix
 * instructions. The kernel text is kernels/gpu/stream/stream.c. */
#include "base/math.h"
#include "config/arch/gpu_arch.h"
#include "families/gpu/defines.h"
#include "gpu/stream/args.h"

#define KW_STREAM_AXES(X)                                                                                                                  \
    X(layout, "rcr rrr crr ccr", 0, 3, "which of A, B, C lie by rows (r), which by columns (c)")                                           \
    X(few, "m n", 0, 1, "which side of the result is few: its rows or its columns; a block has all of them")                               \
    X(tile_m, NULL, 8, 128, "rows of the result that a block computes")                                                                    \
    X(tile_n, NULL, 8, 128, "columns of the result that a block computes")                                                                 \
    X(waves, NULL, 1, 16, "waves of a block, which share the depth")                                                                       \
    X(ahead, NULL, 1, 8, "runs of 32 depths that a wave asks for together")

#define ROW(name, words, low, high, meaning) {#name, words, low, high, meaning},
static const kw_axis stream_axes[] = {KW_STREAM_AXES(ROW)};
#undef ROW

#define INDEX(name, words, low, high, meaning) AXIS_##name,
enum { KW_STREAM_AXES(INDEX) AXIS_COUNT };
#undef INDEX

typedef struct stream {
    int64_t long_tile, few_tile, waves;
    int64_t registers, thread_registers; /* of a thread: what it needs; what those of such a block may have */
    bool few_rows, multiplies;
    int32_t layout;
} stream;

/* --- a config read, by the counts of the kernel's own text --- */

#define KW_FEW axis[AXIS_few]
#define KW_FEW_M 0
#define KW_TILE_M (int64_t) axis[AXIS_tile_m]
#define KW_TILE_N (int64_t) axis[AXIS_tile_n]
#define KW_WAVES (int64_t) axis[AXIS_waves]
#define KW_AHEAD (int64_t) axis[AXIS_ahead]
#define KW_WAVE 32 /* of all architectures that have mma.sync */

enum { ADDRESSES = 40, REGISTERS_MOST = 255, UNIT_REGISTERS = 65536 };

static void decode_stream(const kw_config *config, const kw_target *target, void *decoded) {
    const int32_t *axis = config->axis;
    const kw_gpu_arch *arch = target ? kw_gpu_arch_find(target->arch) : NULL;
    *(stream *)decoded = (stream){
        .long_tile = KW_LONG_TILE,
        .few_tile = KW_FEW_TILE,
        .waves = KW_WAVES,
        .registers = KW_AHEAD_WORDS + KW_SUM_WORDS + ADDRESSES + 2 * (2 * KW_LONG_FRAGS + KW_FEW_FRAGS),
        .thread_registers = kw_min(REGISTERS_MOST, UNIT_REGISTERS / KW_BLOCK_THREADS),
        .few_rows = KW_FEW_ROWS,
        .layout = axis[AXIS_layout],
        .multiplies = arch && kw_gpu_arch_has(arch, KW_GPU_mma),
    };
}

_Static_assert(sizeof(stream) <= KW_DECODED_BYTES, "kw_rule_broken() keeps a stream");

static bool whole_instructions(const kw_rule_case *c) {
    const stream *s = c->decoded;
    return s->long_tile % KW_INST_M == 0 && s->few_tile % KW_INST_N == 0;
}

/* Depths of the long operand are contiguous. */
static bool long_by_depth(const kw_rule_case *c) {
    const stream *s = c->decoded;
    return s->layout == KW_RCR || s->layout == (s->few_rows ? KW_CCR : KW_RRR);
}

static bool thread_has_room(const kw_rule_case *c) {
    const stream *s = c->decoded;
    return s->registers <= s->thread_registers;
}

static const kw_rule stream_valid_rules[] = {
    {"stream_tile", "an instruction has 16 rows of the long side and 8 of the few, and the tile is a multiple of both", whole_instructions},
    {"stream_layout", "the long operand is read along the depth: layout is rcr, or ccr with few=m, rrr with few=n", long_by_depth},
    {"registers", "what a thread asks for ahead, its sums and addresses are more registers than the threads of such a block have",
     thread_has_room},
    {0},
};

static bool arch_multiplies(const kw_rule_case *c) {
    const stream *s = c->decoded;
    return s->multiplies;
}

/* Shared memory has a block's sums alone, which its registers held: there is room for them wherever there is mma.sync. */
static const kw_rule stream_runs_rules[] = {
    {"arch_mma", "the lanes' shares are those of mma.sync, which the architecture has not", arch_multiplies},
    {0},
};

/* --- which problems a config serves --- */

static bool stream_layout(const kw_rule_case *c) {
    const stream *s = c->decoded;
    return (int32_t)c->problem->layout == s->layout;
}

static bool few_in_a_tile(const kw_rule_case *c) {
    const stream *s = c->decoded;
    const kw_gemm_dims *d = &c->problem->gemm;
    return (s->few_rows ? d->m : d->n) <= s->few_tile;
}

static bool depth_of_vectors(const kw_rule_case *c) {
    enum { VECTOR = 8 };
    return c->problem->gemm.k % VECTOR == 0;
}

static bool blocks_counted(const kw_rule_case *c) {
    const stream *s = c->decoded;
    const kw_gemm_dims *d = &c->problem->gemm;
    bool good = kw_max(d->m, kw_max(d->n, d->k)) <= INT32_MAX / 4;
    int64_t tiles = kw_ceil_div(s->few_rows ? d->n : d->m, s->long_tile);
    return good && kw_mul(tiles, d->batch, &good) <= INT32_MAX && good;
}

static const kw_rule stream_takes_rules[] = {
    {"vectors_divide", "k must be a multiple of 8, as lines are read 16 bytes at a time", depth_of_vectors},
    {0},
};

static const kw_rule stream_fits_rules[] = {
    {"layout", "the config is for another layout than the problem's", stream_layout},
    {"few", "tile_m (few=m) or tile_n (few=n) must hold all rows or columns of the result", few_in_a_tile},
    {"blocks_counted", "rows, columns and depth are counted in 31 bits, and so are blocks", blocks_counted},
    {0},
};

/* --- launch --- */

static void launch_stream(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    stream s;
    decode_stream(config, target, &s);
    const kw_gemm_dims *d = &problem->gemm;
    int64_t tiles = kw_ceil_div(s.few_rows ? d->n : d->m, s.long_tile), blocks = tiles * d->batch;
    *launch = (kw_launch){.stages = 1, .stage = {{blocks, false, (int32_t)(s.waves * KW_WAVE)}}};
    launch->early[0] = kw_gpu_arch_has(kw_gpu_arch_find(target->arch), KW_GPU_tma);
    *kw_launch_params(launch, kw_stream_params) = (kw_stream_params){.tiles = tiles};
    double runs = (double)kw_ceil_div(d->k, KW_RUN_DEPTH) * (double)blocks;
    double lines = (double)(s.long_tile / KW_INST_M), few = (double)(s.few_tile / KW_INST_N);
    launch->multiply_adds = 2 * runs * lines * few;
    launch->loads = runs * (2 * lines + few);
}

const kw_family kw_family_gemm_stream = {
    .name = "gemm.stream",
    .summary = "products with few rows or columns: the other operand goes once through the registers of matrix instructions",
    .kind = KW_KIND_GPU,
    .fuses = true,
    .ops = 1 << KW_GEMM,
    .dtypes = 1 << KW_BF16 | 1 << KW_FP16,
    .axes = stream_axes,
    .axis_count = sizeof stream_axes / sizeof *stream_axes,
    .rules = {[KW_VALID] = {stream_valid_rules},
              [KW_RUNS] = {stream_runs_rules},
              [KW_TAKES] = {stream_takes_rules},
              [KW_FITS] = {stream_fits_rules}},
    .decode = decode_stream,
    .launch = launch_stream,
    .emit = kw_gpu_emit_nothing,
    .kernel = "gpu/stream/stream.c",
};
