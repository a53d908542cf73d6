/* mma_registers.c: how many registers a thread of conv.igemm or gemm.mma cannot do without, counted from the axes as the kernel text lays them
 * out (kernels/gpu/lib/tile.h, fragment.h, pipeline.h): its sums, the tiles that are on their way through registers, the fragments that are read
 * before they are multiplied, and what it knows of the rows that it loads. Addresses and counters come on top. Only for NVIDIA's mma.sync,
 * where a thread has at most 255. */
#include "families/gpu/mma/rules.h"

#include "base/math.h"

enum { LOAD_WAVES = 4, ACCESS_BYTES = 16, WORD = 4 };
/* Words for each that is loaded, where the bytes of four rows change places: as loaded, half way, as stored. And for each of a fragment that is
 * widened: its own, and two of 16-bit elements. */
enum { EXCHANGED = 3, WIDENED = 3 };
/* Registers of a gathered row along each axis in backward data of fp32, whose walks differ from phase to phase: as ptxas was seen to take
 * them. */
enum { PHASED = 4 };

/* A thread's share of one operand's tile. */
typedef struct share {
    int64_t words, chunks; /* registers; pieces that have a row of their own */
} share;

static bool is_async(const kw_mma *mma) {
    return mma->pipe == KW_PIPE_COMP_ASYNC || mma->pipe == KW_PIPE_BASIC_ASYNC_V1;
}

/* Whether the operand's rows, not its depths, follow each other in memory. */
static bool lies_by_rows(const kw_mma *mma, int which) {
    enum { RCR, RRR, CRR, CCR };
    if (mma->op != KW_GEMM) {
        return which == 0 ? mma->op == KW_CONV_BWD_WEIGHT : mma->op != KW_CONV_FWD;
    }
    return which == 0 ? mma->layout == CRR || mma->layout == CCR : mma->layout == RRR || mma->layout == CRR;
}

static int64_t vector_of(const kw_mma *mma, int which) {
    bool filter3x3 = mma->spec == KW_SPEC_FILTER3X3;
    if (mma->op == KW_CONV_FWD && which == 1 && (filter3x3 || mma->merge > 1)) {
        return 1;
    }
    return filter3x3 && which == 0 ? kw_min(mma->vec[0], mma->merge) : mma->vec[which];
}

static share operand_share(const kw_mma *mma, int which) {
    int64_t threads = (mma->pipe == KW_PIPE_WAVELET ? LOAD_WAVES : kw_mma_math_waves(mma)) * mma->lanes;
    int64_t elements = kw_ceil_div((int64_t)mma->tile[which] * mma->tile[2], threads);
    int64_t bytes = kw_min(vector_of(mma, which) * mma->bytes, ACCESS_BYTES);
    if (is_async(mma)) {
        bytes = bytes < ACCESS_BYTES ? WORD : ACCESS_BYTES;
        return (share){0, kw_ceil_div(elements * mma->bytes, bytes)};
    }
    int64_t runs = kw_ceil_div(elements * mma->bytes, bytes), whole = WORD / mma->bytes;
    int64_t together = lies_by_rows(mma, which) ? whole : bytes < WORD ? WORD / bytes : 1;
    int64_t exchanged = mma->bytes == 1 && lies_by_rows(mma, which) && bytes >= WORD ? EXCHANGED : 1;
    return (share){runs * kw_ceil_div(bytes, WORD) * exchanged, kw_ceil_div(runs, together)};
}

/* Tiles on their way through registers at a time: KW_MEM_STEPS, KW_V6_STEPS. */
static int64_t steps_under_way(const kw_mma *mma, int64_t words) {
    enum { MEM_BYTES = 32768, MEM_WORDS = 64, MEM_LEAST = 2, MEM_MOST = 8, V6_STEPS = 3 };
    if (mma->pipe == KW_PIPE_MEM) {
        int64_t blocks = kw_max(4 / kw_mma_waves(mma), 1);
        int64_t stage = (int64_t)(mma->tile[0] + mma->tile[1]) * mma->tile[2] * mma->bytes;
        int64_t wanted = kw_min(kw_ceil_div(MEM_BYTES / blocks, stage), MEM_WORDS / words);
        return kw_min(kw_max(wanted, MEM_LEAST), MEM_MOST);
    }
    return mma->pipe == KW_PIPE_COMPV6 ? V6_STEPS : 1;
}

/* Instructions' depths whose fragments a thread holds at a time. */
static int64_t depths_held(const kw_mma *mma) {
    int64_t depths = mma->tile[2] / (mma->wave[2] * mma->inst[2]);
    switch (mma->pipe) {
    case KW_PIPE_COMPV3:
    case KW_PIPE_COMPV5:
    case KW_PIPE_BASIC_ASYNC_V1:
        return depths;
    case KW_PIPE_COMPV6:
        return kw_min(depths, 2);
    default:
        return mma->sched == KW_SCHED_INTRAWAVE ? 1 : depths % 4 == 0 ? depths / 4 : depths % 2 == 0 ? depths / 2 : depths;
    }
}

/* Where bytes of floating point are multiplied by wgmma, mma.sync makes 16-bit elements of them first. */
static bool widens(const kw_mma *mma) {
    return (mma->dtype == KW_FP8 || mma->dtype == KW_BF8) && kw_gpu_arch_has(mma->arch, KW_GPU_wgmma);
}

/* Words of both operands' fragments of one depth. fp32 has no tensor core: a thread has two rows by two columns of each instruction. */
static int64_t fragment_words(const kw_mma *mma) {
    int64_t rows = mma->tile[0] / (mma->wave[0] * mma->inst[0]), cols = mma->tile[1] / (mma->wave[1] * mma->inst[1]);
    int64_t depth = mma->bytes == WORD ? mma->inst[2] : mma->inst[2] * mma->bytes / 16;
    return mma->bytes == WORD ? 2 * depth * (rows + cols) : depth * (2 * rows + cols);
}

int64_t kw_mma_thread_registers(const kw_mma *mma) {
    int64_t sums = (int64_t)mma->tile[0] * mma->tile[1] / (mma->wave[0] * mma->wave[1] * mma->lanes);
    share a = operand_share(mma, 0), b = operand_share(mma, 1);
    int gathered = mma->op == KW_GEMM ? -1 : mma->op == KW_CONV_BWD_WEIGHT ? 1 : 0;
    int64_t of_axis = mma->op == KW_CONV_BWD_DATA && mma->bytes == WORD ? PHASED : 1;
    int64_t rows = 2 * (a.chunks + b.chunks) + (gathered < 0 ? 0 : of_axis * mma->ndim * (gathered == 0 ? a.chunks : b.chunks));
    int64_t words = kw_max(a.words + b.words, 1); /* of a step; the copies without registers have none */
    int64_t fragments = depths_held(mma) * fragment_words(mma) * (widens(mma) ? WIDENED : 1);
    return sums + steps_under_way(mma, words) * (a.words + b.words) + fragments + rows;
}
