/* mma_resources.c: waves, shared memory and registers of conv.igemm and gemm.mma, by the counts of the kernels' own text
 * (kernels/gpu/lib/resources.h): here the names that a text has as #defines are expressions over a config. */
#include "base/math.h"
#include "families/gpu/mma/mma.h"
#include "gpu/gemm/args.h"
#include "gpu/igemm/args.h"

#include <assert.h>

#define KW_OP mma->op
#define KW_EPI mma->epi
#define KW_EPILOGUE mma->fused
#define KW_MERGE mma->merge
#define KW_IN mma->dtype
#define KW_TF32 mma->tf32
#define KW_FAST_ACCUM mma->fast
#define KW_BYTES ((int64_t)mma->bytes)
#define KW_OUT_BYTES kw_dtype_size(mma->output)
#define KW_CHANNELS_FIRST 1 /* only asked of such problems */
#define KW_PLANES kw_mma_planes(mma)
#define KW_BORDER kw_mma_has_border(mma)
#define KW_TILE_M ((int64_t)mma->tile[0])
#define KW_TILE_N ((int64_t)mma->tile[1])
#define KW_TILE_K ((int64_t)mma->tile[2])
#define KW_WAVE_M mma->wave[0]
#define KW_WAVE_N mma->wave[1]
#define KW_WAVE_K mma->wave[2]
#define KW_INST_M mma->inst[0]
#define KW_INST_N mma->inst[1]
#define KW_INST_K mma->inst[2]
#define KW_PIPE mma->pipe
#define KW_VEC_A mma->vec[0]
#define KW_VEC_B mma->vec[1]
#define KW_VEC_C mma->vec[2]
#define KW_SCHED mma->sched
#define KW_SPLIT_K mma->split_k
#define KW_STAGES mma->stages
#define KW_STREAMK mma->streamk
#define KW_WAVE_GROUPS mma->wave_groups
#define KW_WAVE mma->lanes
#define KW_NVIDIA kw_gpu_arch_has(mma->arch, KW_GPU_mma)
#define KW_HAS_MMA kw_gpu_arch_has(mma->arch, KW_GPU_mma)
#define KW_HAS_MFMA kw_gpu_arch_has(mma->arch, KW_GPU_mfma)
#define KW_HAS_WMMA11 kw_gpu_arch_has(mma->arch, KW_GPU_wmma11)
#define KW_HAS_ASYNC16 kw_gpu_arch_has(mma->arch, KW_GPU_async16)
#define KW_OP_CONV_FWD KW_CONV_FWD
#define KW_OP_CONV_BWD_DATA KW_CONV_BWD_DATA
#define KW_OP_CONV_BWD_WEIGHT KW_CONV_BWD_WEIGHT
#define KW_CEIL kw_ceil_div
#define KW_B_BY_ROWS operand_lies_by_rows(mma, 1)
#include "gpu/lib/resources.h"

_Static_assert((int)KW_LAYOUT_RCR == (int)KW_RCR && (int)KW_LAYOUT_CRR == (int)KW_CRR && (int)KW_LAYOUT_CCR == (int)KW_CCR,
               "a layout's word is at its number");

static bool operand_lies_by_rows(const kw_mma *mma, int which) {
    if (mma->op == KW_GEMM) {
        which ^= mma->epi == KW_EPI_TURNED;
        return which == 0 ? KW_GEMM_A_BY_ROWS(mma->layout) : KW_GEMM_B_BY_ROWS(mma->layout);
    }
    return which == 0 ? KW_IGEMM_A_BY_ROWS(mma->op) : KW_IGEMM_B_BY_ROWS(mma->op);
}

int32_t kw_mma_math_waves(const kw_mma *mma) {
    return KW_MATH_WAVES;
}

int32_t kw_mma_waves(const kw_mma *mma) {
    return KW_BLOCK_WAVES;
}

int64_t kw_mma_tile_bytes(const kw_mma *mma) {
    return KW_TILE_BYTES(KW_TILE_M) + KW_TILE_BYTES(KW_OVERLAP ? KW_HELD_N : KW_TILE_N);
}

int64_t kw_mma_stages_bytes(const kw_mma *mma) {
    return KW_OVERLAP ? KW_OVERLAP_BYTES(KW_PIECES) : (kw_mma_tile_bytes(mma) + KW_STAGE_BARRIER_BYTES) * KW_STAGES;
}

int64_t kw_mma_border_rows(const kw_mma *mma) {
    return KW_BORDER_ROWS;
}

int64_t kw_mma_borders(const kw_mma *mma) {
    return KW_BORDERS;
}

int32_t kw_mma_blocks_held(const kw_mma *mma) {
    return KW_BLOCKS_HELD;
}

bool kw_mma_aligns(const kw_mma *mma) {
    return KW_ALIGNS;
}

bool kw_mma_copies_turn(const kw_mma *mma) {
    return KW_COPIES_TURN;
}

int64_t kw_mma_turning_blocks(const kw_mma *mma, int64_t rows, int64_t pieces) {
    return KW_COPY_BLOCKS(rows, pieces);
}

bool kw_mma_picks(const kw_mma *mma) {
    return KW_PICKS;
}

bool kw_mma_passes(const kw_mma *mma) {
    return KW_PASSES;
}

bool kw_mma_is_stationary(const kw_mma *mma) {
    return KW_STATIONARY;
}

int64_t kw_mma_stationary_steps(const kw_mma *mma) {
    return KW_STATIONARY_STEPS;
}

int64_t kw_mma_cluster_share(const kw_mma *mma) {
    enum { RUN = 8 };
    return kw_ceil_div(mma->tile[1] / RUN, kw_mma_cluster(mma)) * RUN;
}

int64_t kw_mma_cluster_bytes(const kw_mma *mma) {
    int32_t blocks = kw_mma_cluster(mma);
    return blocks > 1 ? mma->tile[0] * kw_mma_cluster_share(mma) * blocks * KW_SUM_BYTES * mma->wave_groups : 0;
}

/* Groups of 16 and 18 multiprocessors leave some over, by the driver of an H200 (docs/results/2026-11-28/nvidia-products.md). */
int64_t kw_mma_clusters_held(int32_t size, int64_t blocks) {
    enum { UNITS = 132 };
    static const int32_t held[KW_MMA_CLUSTER_MAX + 1] = {0, UNITS, 66, 39, 30, 22, 17, 15, 15};
    assert(size > 0 && size <= KW_MMA_CLUSTER_MAX); /* rules cluster_blocks and, of pairs and quads, what there are */
    return kw_max(1, held[size] * blocks / UNITS);
}

bool kw_mma_stores_boxes(const kw_mma *mma) {
    bool joined = mma->merge > 1 && mma->op == KW_CONV_BWD_WEIGHT; /* what is between groups has no place */
    return kw_mma_overlaps(mma) && kw_mma_passes(mma) && !kw_mma_aligns(mma) && !joined && kw_dtype_size(mma->output) == 2;
}

bool kw_mma_stores_cells(const kw_mma *mma) {
    return kw_mma_stores_boxes(mma) && !kw_mma_has_border(mma) && !kw_mma_planes(mma) && KW_CELLS_STORED;
}

bool kw_mma_has_spots(const kw_mma *mma) {
    return KW_SPOTS;
}

bool kw_mma_has_tails(const kw_mma *mma) {
    return KW_TAILS && mma->persistent && mma->in_order;
}

bool kw_mma_stores_first(const kw_mma *mma) {
    return KW_STORES_FIRST;
}

int64_t kw_mma_row_bytes(const kw_mma *mma, int64_t row) {
    return kw_mma_aligns(mma) ? KW_CEIL(row, KW_COPY_RUN) * KW_ACCESS_BYTES : row * KW_BYTES;
}

int32_t kw_mma_sum_sets(const kw_mma *mma) {
    return KW_SUM_SETS;
}

int32_t kw_mma_multiply_registers(const kw_mma *mma) {
    return KW_MULTIPLY_REGISTERS;
}

/* --- registers. A thread has its sums, the tiles that are on their way through registers, the fragments that are read before they are
 * multiplied, and what it knows of the rows that it loads. Addresses and counters come on top. --- */

/* Words for each that is loaded, where the bytes of four rows change places: as loaded, half way, as stored. And for each of a fragment
 * that is widened: its own, and two of 16-bit elements. */
enum { EXCHANGED = 3, WIDENED = 3 };
/* Registers of a gathered row along each axis in backward data of fp32, whose walks differ from phase to phase: as ptxas was seen to take
 * them. */
enum { PHASED = 4 };

/* A thread's share of one operand's tile. */
typedef struct operand_share {
    int64_t words, chunks; /* registers; pieces that have a row of their own */
} operand_share;

static int64_t operand_vector(const kw_mma *mma, int which) {
    if (mma->op == KW_GEMM) {
        return mma->vec[which];
    }
    return which == 0 ? KW_IGEMM_A_VEC(mma->spec, mma->merge, mma->vec[0]) : KW_IGEMM_B_VEC(mma->op, mma->spec, mma->merge, mma->vec[1]);
}

/* As if the tile were divided evenly: where it has fewer chunks than threads, the compiler was seen to need no more than that. */
static operand_share share_of_operand(const kw_mma *mma, int which) {
    bool by_rows = operand_lies_by_rows(mma, which);
    int64_t rows = mma->tile[which], run = KW_RUN(rows, operand_vector(mma, which));
    int64_t runs = kw_ceil_div(kw_ceil_div(rows * KW_TILE_K, KW_TILE_THREADS), run);
    int64_t exchanged = mma->bytes == 1 && by_rows && run * mma->bytes >= 4 ? EXCHANGED : 1;
    return (operand_share){.words = KW_ASYNC ? 0 : runs * KW_WORDS_OF_RUN(run) * exchanged,
                           .chunks = kw_ceil_div(runs, KW_RUNS(by_rows, run))};
}

/* Tiles on their way through registers at a time. words: of both operands' tiles. */
static int64_t steps_under_way(const kw_mma *mma, int64_t words) {
    if (mma->pipe == KW_PIPE_MEM) {
        int64_t fill = kw_ceil_div(KW_MEM_BYTES / KW_MEM_SHARERS(KW_BLOCK_WAVES * KW_WAVE), kw_mma_tile_bytes(mma));
        return KW_MEM_STEPS_OF(kw_min(fill, KW_MEM_WORDS / words));
    }
    return mma->pipe == KW_PIPE_COMPV6 ? KW_V6_STEPS : 1;
}

/* Instructions' depths whose fragments a thread holds at a time. */
static int64_t depths_held(const kw_mma *mma) {
    int64_t depths = KW_WAVE_REPEATS_K;
    switch (mma->pipe) {
    case KW_PIPE_COMPV3:
    case KW_PIPE_COMPV5:
    case KW_PIPE_BASIC_ASYNC_V1:
        return depths;
    case KW_PIPE_COMPV6:
        return kw_min(depths, 2);
    default:
        return mma->sched == KW_SCHED_INTRAWAVE ? 1 : depths / KW_STEP_CLUSTERS(depths);
    }
}

/* Where bytes of floating point are multiplied by wgmma, mma.sync makes 16-bit elements of them first. */
static bool widens_bytes(const kw_mma *mma) {
    return (mma->dtype == KW_FP8 || mma->dtype == KW_BF8) && kw_gpu_arch_has(mma->arch, KW_GPU_wgmma);
}

int64_t kw_mma_thread_registers(const kw_mma *mma) {
    assert(mma->arch && mma->lanes > 0);
    int64_t sums = ((KW_WAVE_REPEATS_M + mma->shifted) * KW_WAVE_REPEATS_N + mma->weights_shifted * KW_WAVE_REPEATS_M) * KW_ACC_N;
    operand_share a = share_of_operand(mma, 0), b = share_of_operand(mma, 1);
    int gathered = mma->op == KW_GEMM ? -1 : mma->op == KW_CONV_BWD_WEIGHT ? 1 : 0;
    int64_t of_axis = mma->op == KW_CONV_BWD_DATA && mma->bytes == 4 ? PHASED : 1;
    int64_t rows = 2 * (a.chunks + b.chunks) + (gathered < 0 ? 0 : of_axis * mma->ndim * (gathered == 0 ? a.chunks : b.chunks));
    int64_t words = kw_max(a.words + b.words, 1); /* of a step; the copies without registers have none */
    int64_t fragment = KW_WAVE_REPEATS_M * KW_A_WORDS + KW_WAVE_REPEATS_N * KW_B_WORDS; /* of one depth */
    return sums + steps_under_way(mma, words) * (a.words + b.words) + depths_held(mma) * fragment * (widens_bytes(mma) ? WIDENED : 1) +
           rows;
}

/* A thread has its sums, its share of the tiles on their way, the fragments of one instruction's depth, and addresses. */
kw_resource_estimate kw_mma_estimate_resources(const kw_config *config, const kw_target *target, double threads) {
    enum { ADDRESSES = 40, WORD = 4 };
    kw_mma of = kw_mma_read(config, NULL), *mma = &of;
    double lanes = (double)kw_max(1, target->lanes), tile = (double)kw_mma_tile_bytes(mma);
    kw_resource_estimate r = {.sums = (double)(KW_TILE_M * KW_TILE_N) / (KW_WAVE_M * KW_WAVE_N * lanes),
                              .shared_bytes = KW_BORDER || KW_STATIONARY ? (double)kw_mma_stages_bytes(mma) : tile * KW_STAGES};
    double rows = (double)KW_TILE_M / KW_WAVE_M + (double)KW_TILE_N / KW_WAVE_N, fragments = rows * KW_INST_K * mma->bytes / lanes;
    r.registers = r.sums + tile / WORD / threads + fragments / WORD + ADDRESSES;
    if (target->registers > 0 && r.registers > (double)target->registers) {
        r.registers = (double)target->registers;
    }
    return r;
}
