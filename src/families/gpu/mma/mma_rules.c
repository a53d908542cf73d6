/* mma_rules.c: rules that conv.igemm and gemm.mma share. docs/kernels/gpu-spaces.md has all of them in words and says where published rule books
 * disagree and what is held here.
 *
 * Shared memory is counted as the kernel text lays it out: the tiles of both operands, as many times as `stages` says, without padding; the
 * epilogue takes the same bytes again. */
#include "families/gpu/mma/rules.h"

#include "base/math.h"
#include "gpu/gemm/args.h"
#include "gpu/lib/resources.h"

enum { BLOCK_THREADS = 1024, VECTOR_BYTES = 32, VECTOR_ELEMENTS = 16 };

/* --- whatever the architecture --- */

/* Waves of a wgmma share it, so along the rows four of them count once. */
static bool tile_holds_waves(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    for (int i = 0; i < 3; i++) {
        int64_t waves = i == 0 && kw_mma_shares_instruction(mma) ? kw_ceil_div(mma->wave[0], KW_GROUP_WAVES) : mma->wave[i];
        if (mma->tile[i] % (waves * mma->inst[i])) {
            return false;
        }
    }
    return true;
}

static bool instruction_is_used(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    if (kw_mma_shares_instruction(mma)) {
        bool registers = kw_mma_overlaps(mma) && (mma->epi != KW_EPI_CSHUFFLE || (mma->op == KW_GEMM && mma->bytes == 4));
        int32_t least = mma->op == KW_GEMM ? 8 : 16;
        bool any = (registers || kw_mma_cuts_piece(mma)) && mma->inst[1] >= least && mma->inst[1] <= 256 && mma->inst[1] % least == 0;
        bool columns =
            mma->inst[1] == 64 || mma->inst[1] == 128 || mma->inst[1] == 256 || (mma->inst[1] == 192 && kw_mma_overlaps(mma)) || any;
        return mma->inst[0] == 64 && mma->inst[2] * mma->bytes == 32 && columns;
    }
    return mma->inst[0] >= 16 && mma->inst[0] <= 32 && mma->inst[1] >= 8 && mma->inst[1] <= 32;
}

static bool interwave_pipe(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return mma->sched == KW_SCHED_INTRAWAVE || mma->pipe == KW_PIPE_BASIC_V1 || mma->pipe == KW_PIPE_MEM;
}

static bool two_stages_given(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return mma->stages == 2 || (mma->pipe != KW_PIPE_COMPV4 && mma->pipe != KW_PIPE_COMP_ASYNC);
}

static bool one_stage_given(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    bool single = mma->pipe == KW_PIPE_BASIC_V1 || mma->pipe == KW_PIPE_BASIC_ASYNC_V1 || mma->pipe == KW_PIPE_WAVELET;
    return mma->stages == 1 || !single;
}

static bool stages_of_pipe(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return mma->pipe == KW_PIPE_TMA || kw_mma_overlaps(mma) ? mma->stages >= 2
           : mma->pipe == KW_PIPE_GATHER                    ? mma->stages >= KW_GATHER_STAGES
                                                            : mma->stages <= 2;
}

static bool bulk_waves(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    int32_t rows = mma->wave[0], cols = mma->wave[1];
    return !kw_mma_shares_instruction(mma) ||
           ((rows == KW_GROUP_WAVES || rows == 2 * KW_GROUP_WAVES) && rows * cols <= 2 * KW_GROUP_WAVES && mma->wave[2] == 1);
}

static bool bulk_boxes(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return mma->pipe != KW_PIPE_TMA ||
           (mma->tile[0] <= KW_BOX_ROWS && mma->tile[1] <= KW_BOX_ROWS && mma->tile[2] * mma->bytes % KW_SLAB_ROW_BYTES == 0);
}

/* Rows of a matrix whose depth is contiguous; a convolution has such ones where pixels are rows. */
static bool bulk_operands(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    bool types = mma->dtype == KW_BF16 || mma->dtype == KW_FP16 || mma->dtype == KW_FP32,
         rows = mma->op == KW_GEMM || (mma->op == KW_CONV_FWD && mma->explicit_gemm);
    return mma->pipe != KW_PIPE_TMA ||
           (rows && types && mma->vec[0] * mma->bytes == KW_ACCESS_BYTES && mma->vec[1] * mma->bytes == KW_ACCESS_BYTES);
}

/* 128 bytes of a row's depth lie together, and copies are pieces of 16 bytes. */
static bool gather_operands(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    bool types = mma->dtype == KW_BF16 || mma->dtype == KW_FP16;
    return mma->pipe != KW_PIPE_GATHER || (types && mma->tile[2] == KW_SLAB_ELEMENTS && mma->vec[0] * mma->bytes == KW_ACCESS_BYTES &&
                                           mma->vec[1] * mma->bytes == KW_ACCESS_BYTES);
}

/* Boxes of 128 bytes, results of 16 bits in pieces of 64 columns. Bytes, and fp32 as tf32, are multiplied where the depth is contiguous, or copied so. */
static bool overlap_operands(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    int32_t run = KW_ACCESS_BYTES / mma->bytes, result = KW_ACCESS_BYTES / (int32_t)kw_dtype_size(kw_dtype_output(mma->dtype));
    bool passes = kw_mma_passes(mma), ones = mma->epi == KW_EPI_CSHUFFLE && mma->vec[0] == 1 && mma->vec[1] == 1 && mma->vec[2] == 1;
    bool copies = mma->bytes == 4 && mma->op != KW_GEMM;
    bool any = ones && (mma->bytes == 2 || (mma->op == KW_GEMM && !mma->row_groups) || copies); /* kw_mma_copies_turn() */
    bool narrow = mma->dtype == KW_FP8 || mma->dtype == KW_BF8, rows = mma->op == KW_GEMM && (mma->layout == KW_RCR || any);
    bool tf32 = mma->dtype == KW_FP32 && (rows || (copies && !kw_mma_planes(mma)));
    int32_t second = mma->dtype == KW_FP32 && mma->op == KW_CONV_BWD_DATA ? 1 : run; /* filters are turned as they are copied */
    bool types = mma->dtype == KW_BF16 || mma->dtype == KW_FP16 || (narrow && rows) || tf32;
    bool runs = any || (!(copies && mma->op == KW_CONV_BWD_WEIGHT) && mma->vec[0] == run && mma->vec[1] == second &&
                        mma->vec[2] == (passes ? result : 1));
    return !kw_mma_overlaps(mma) ||
           (types && runs && mma->tile[2] * mma->bytes == KW_SLAB_ROW_BYTES && mma->tile[0] <= (mma->op == KW_GEMM ? 2 : 1) * KW_BOX_ROWS);
}

/* Eight waves multiply, each four of them all columns of their rows. */
static bool overlap_waves(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    int32_t rows = mma->pipe == KW_PIPE_COOPERATIVE ? 2 * KW_GROUP_WAVES : KW_GROUP_WAVES;
    return !kw_mma_overlaps(mma) || (mma->wave[0] == rows && mma->wave[1] == 1 && mma->wave[2] == 1 && mma->inst[1] == mma->tile[1]);
}

/* Each brings whole groups of 8 rows, or depths. */
static bool pair_blocks(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    int32_t blocks = kw_mma_pair(mma);
    return blocks == 1 || (kw_mma_overlaps(mma) && mma->op == KW_GEMM && mma->vec[0] > 1 && mma->tile[1] % (8 * blocks) == 0);
}

/* Two tiles of the first operand at least are on their way, and a step of the second has room. */
static bool stationary_plain(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    bool plain = kw_mma_overlaps(mma) && mma->op == KW_GEMM && mma->bytes == 2 && mma->vec[0] > 1 && mma->split_k == 1 && !mma->row_groups;
    return !kw_mma_is_stationary(mma) || (plain && kw_mma_passes(mma) && kw_mma_stationary_steps(mma) >= 1);
}

static bool overlap_blocks(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    bool stays = mma->persistent && (mma->streamk == KW_STREAMK_OFF || kw_mma_pair(mma) > 1 || kw_mma_is_stationary(mma)),
         meets = !mma->persistent && mma->streamk == KW_STREAMK_CLUSTER;
    return !kw_mma_overlaps(mma) || ((stays || meets) && mma->sched == KW_SCHED_INTRAWAVE && !mma->preshuffle);
}

/* Sums are dealt out in fours of a thread's, that is in runs of 8 columns; which group of waves has what step must not change from round to
 * round of the stages, as a group that missed a phase would take the one before for it; and a group gives a stage back when its next step is
 * there, so it needs two of its own. */
static bool cluster_blocks(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    int32_t blocks = kw_mma_cluster(mma);
    bool count = blocks >= 2 && blocks <= KW_MMA_CLUSTER_MAX;
    bool plain = kw_mma_overlaps(mma) && !kw_mma_passes(mma) && mma->vec[0] > 1 && mma->spec == KW_SPEC_DEFAULT;
    bool in_turns = mma->pipe != KW_PIPE_PINGPONG || (mma->stages % 2 == 0 && mma->stages >= 4);
    return mma->streamk != KW_STREAMK_CLUSTER || (count && plain && in_turns && (mma->op == KW_GEMM || mma->tile[1] % (8 * blocks) == 0));
}

/* They meet where the operands were. A share of a convolution's columns lies in one of its runs of 64. */
static bool cluster_shares(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    if (mma->streamk != KW_STREAMK_CLUSTER) {
        return true;
    }
    int64_t share = kw_mma_cluster_share(mma);
    bool run = mma->op == KW_GEMM || (share <= KW_SLAB_ELEMENTS && KW_SLAB_ELEMENTS % share == 0);
    return kw_mma_cluster_bytes(mma) <= kw_mma_tile_bytes(mma) * mma->stages && run;
}

/* From the registers: products whose second operand's columns are few. Where these are contiguous, 64 lie together. Turned runs: no part of the
 * depth, nor a group's last rows, leaves so. */
static bool overlap_results(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    bool turned = mma->epi == KW_EPI_TURNED, padded = mma->pad[0] && mma->pad[1] && mma->pad[2];
    if (!kw_mma_overlaps(mma)) {
        return !turned;
    }
    if (kw_mma_passes(mma)) {
        return !turned || (mma->op == KW_GEMM && padded && mma->bytes == 2 && mma->split_k == 1 && !mma->row_groups);
    }
    bool gemm = mma->op == KW_GEMM && padded;
    bool meets = mma->op != KW_GEMM && !turned && mma->streamk == KW_STREAMK_CLUSTER && mma->tile[1] % KW_SLAB_ELEMENTS == 0;
    return mma->bytes == 2 && (gemm || meets);
}

/* What NaNs a spot's zeros make is mended in the result, from sums that no step has changed. Beside more sums of turned runs ptxas spills what an
 * epilogue reads. */
static bool overlap_epilogue(const kw_rule_case *c) {
    enum { SUMS = 128 * 2 * KW_GROUP_WAVES * 32 };
    const kw_mma *mma = c->decoded;
    bool mended = kw_mma_has_spots(mma), shares = mma->op != KW_GEMM && mma->streamk == KW_STREAMK_CLUSTER;
    bool turned =
        mma->epi == KW_EPI_TURNED && kw_mma_passes(mma) && (kw_dtype_size(mma->output) != 2 || (int64_t)mma->tile[0] * mma->tile[1] > SUMS);
    bool between = mma->op == KW_CONV_BWD_WEIGHT && (mma->merge > 1 || kw_mma_picks(mma)); /* sums that have no place in other tensors */
    return !mma->fused || !kw_mma_overlaps(mma) || !(mended || shares || between || turned || kw_mma_cuts_piece(mma));
}

static bool compv6_is_deep(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return mma->pipe != KW_PIPE_COMPV6 || mma->tile[2] >= 64;
}

static bool wave_groups_match(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return (mma->wave_groups == 2) == (mma->pipe == KW_PIPE_COMPV5 || mma->pipe == KW_PIPE_PINGPONG);
}

static bool power_of_two(int32_t value) {
    return value > 0 && !(value & (value - 1));
}

static bool mma_vector_width(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    int64_t most = VECTOR_BYTES / (int64_t)kw_dtype_size(mma->dtype);
    for (int i = 0; i < 3; i++) {
        if (!power_of_two(mma->vec[i]) || mma->vec[i] > kw_min(most, VECTOR_ELEMENTS)) {
            return false;
        }
    }
    return true;
}

static bool vector_of_result(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return mma->tile[1] % mma->vec[2] == 0;
}

static bool streamk_splits_alone(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return !kw_mma_streams(mma) || mma->split_k == 1;
}

/* Copies that pass no registers are 4 bytes at least. */
static bool async_vectors(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    enum { COPY_BYTES = 4 };
    bool async = mma->pipe == KW_PIPE_COMP_ASYNC || mma->pipe == KW_PIPE_BASIC_ASYNC_V1;
    return !async || (int32_t)kw_min(mma->vec[0], mma->vec[1]) * mma->bytes >= COPY_BYTES;
}

/* Where the image ends a zero point stands in x's place. */
static bool zero_fill(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    bool async = mma->pipe == KW_PIPE_COMP_ASYNC || mma->pipe == KW_PIPE_BASIC_ASYNC_V1;
    return !mma->shifted || mma->op == KW_GEMM || !async;
}

/* A row's sum is of the channels of one group. */
static bool zero_w_merge(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return !mma->weights_shifted || mma->merge == 1;
}

static bool index_width(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return mma->index == 32 || mma->index == 64;
}

const kw_rule kw_mma_valid_rules[] = {
    {"tile_by_waves", "on each axis the tile must be a multiple of waves times instruction", tile_holds_waves},
    {"instruction_shape",
     "instructions of 16 or 32 rows by 8, 16 or 32 columns are generated, no 4x64 or 64x4; with pipe=tma and gather 64xN of "
     "64, 128 or 256 columns, 32 bytes deep, with cooperative and pingpong also of 192, and of any multiple of 16 (gemm: 8) up to 256 with "
     "results from the registers, with spec=stride1 and merge=1, in conv_fwd and conv_bwd_weight of 16-bit types with vectors of 8, "
     "merge=1 and spec=default, in conv_bwd_data of such from 80 on, and in gemm of such, of 16-bit types with vectors of 1, of bytes and "
     "of fp32",
     instruction_is_used},
    {"bulk_operands",
     "pipe=tma is for GEMM and conv_fwd with explicit=1, of bf16, fp16 or fp32 (as tf32), in runs of 16 bytes: vec_a and vec_b must be 8, "
     "of fp32 4",
     bulk_operands},
    {"gather_operands", "pipe=gather is for bf16 or fp16, a depth of 64, in runs of 16 bytes: vec_a and vec_b must be 8", gather_operands},
    {"bulk_waves",
     "with pipe=tma and gather four waves along the rows share an instruction: wave_m is 4 or 8, and at most 8 waves multiply", bulk_waves},
    {"bulk_boxes", "pipe=tma copies boxes of at most 256 rows and 128 bytes of the depth; tile_k must be a multiple of 64, of fp32 of 32",
     bulk_boxes},
    {"overlap_operands",
     "pipe=cooperative and pingpong are for bf16 or fp16, for fp8 or bf8 in products of layout=rcr, and for fp32 (as tf32) in these and in "
     "convolutions with spec=default; a step is 128 bytes deep, tile_m "
     "at most 256, of gemm 512, and vec_a, vec_b and vec_c are 16 bytes, or all 1 for bf16, fp16 and convolutions of fp32 of any size and "
     "for products of fp8, bf8 "
     "and fp32 in any layout but grouped ones, whose operands are copied; conv_bwd_data of fp32 has vec_b=1, conv_bwd_weight all 1; with "
     "epi=default vec_c is 1, "
     "with epi=turned 1 or 8",
     overlap_operands},
    {"overlap_waves",
     "pipe=cooperative has 8x1x1 waves on a tile, pingpong twice 4x1x1 (wave_groups=2); their instruction has all columns: inst_n is "
     "tile_n",
     overlap_waves},
    {"overlap_blocks",
     "with pipe=cooperative and pingpong blocks stay (persistent=1, streamk=off, pair, quad or stationary) or meet in clusters "
     "(persistent=0, streamk=cluster); "
     "sched=intrawave, preshuffle=0",
     overlap_blocks},
    {"pair_blocks",
     "streamk=pair and quad are for gemm with pipe=cooperative and pingpong and runs of 16 bytes; 8 rows times the blocks, 2 or 4, divide "
     "the "
     "columns of the instruction",
     pair_blocks},
    {"stationary_plain",
     "streamk=stationary is for gemm of bf16 and fp16 with pipe=cooperative and pingpong, runs of 16 bytes, results through shared memory "
     "and "
     "split_k=1, not for grouped products; a step of the second operand needs room beside the stages",
     stationary_plain},
    {"cluster_blocks",
     "streamk=cluster is for pipe=cooperative and pingpong with results from the registers (epi=default or turned), runs of 16 bytes and "
     "spec=default; split_k is 2 to 8, of a convolution eight columns times split_k divide the instruction's, and with pingpong stages is "
     "even and at least 4",
     cluster_blocks},
    {"cluster_shares",
     "with streamk=cluster the tile's sums, twice with pingpong, must fit where the stages are, and for a convolution a block's share of "
     "the "
     "columns must divide 64",
     cluster_shares},
    {"overlap_results",
     "epi=turned is for pipe=cooperative and pingpong; it and epi=default are there for GEMM of bf16 and fp16 with pad_m=pad_n=pad_k=1, "
     "with vec_c=1; epi=default also for convolutions with streamk=cluster; epi=turned with vec_c=8 has split_k=1 and no grouped products",
     overlap_results},
    {"overlap_epilogue",
     "conv_bwd_data of 16-bit types with pipe=cooperative or pingpong and vectors of 1 has no epilogue, vectors of 8 and spec=stride1 have "
     "any; with "
     "streamk=cluster convolutions have none, nor has epi=turned with vec_c=8 and results of other than 16 bits or more than 128 sums a "
     "thread, nor have conv_bwd_weight "
     "of merged groups or of fp32 and tiles whose "
     "columns are no multiple of 64",
     overlap_epilogue},
    {"lds_stages",
     "pipe=tma, cooperative and pingpong need at least two tiles in shared memory, pipe=gather three; the others have one or two",
     stages_of_pipe},
    {"interwave", "only pipe=basic_v1 and pipe=mem have steps that waves can take turns in", interwave_pipe},
    {"two_lds_stages", "pipe=compv4 and pipe=comp_async fill one tile while they multiply the other; stages must be 2", two_stages_given},
    {"one_lds_stage", "pipe=basic_v1, basic_async_v1 and wavelet know one tile; stages must be 1", one_stage_given},
    {"compv6_depth", "pipe=compv6 reads a step in parts; tile_k must be at least 64", compv6_is_deep},
    {"wave_groups", "two groups of waves in turns are what pipe=compv5 and pingpong are, and no other pipe has them", wave_groups_match},
    {"vector_width", "vectors are 1, 2, 4, 8 or 16 elements and at most 32 bytes of the operands' type", mma_vector_width},
    {"vector_of_result", "vec_c must divide tile_n", vector_of_result},
    {"streamk_split", "stream-K divides the depth itself; split_k must be 1", streamk_splits_alone},
    {"async_vectors", "pipe=comp_async and basic_async_v1 copy 4 bytes or more at a time; vec_a and vec_b must be as long", async_vectors},
    {"zero_fill",
     "pipe=comp_async and basic_async_v1 bring zeros where the image ends, a convolution with zero_x wants the zero point there",
     zero_fill},
    {"zero_w_merge", "with zero points of w sums of x's channels are those of one group: merge=1", zero_w_merge},
    {"index_width", "offsets have 32 or 64 bits", index_width},
    {0},
};

/* --- as the architecture allows --- */

static bool arch_has_waves(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return kw_mma_shares_instruction(mma) || kw_gpu_arch_has_waves(mma->arch, mma->wave);
}

static bool arch_has_instruction(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return kw_gpu_arch_has_tile(mma->arch, mma->dtype, mma->dtype, mma->inst);
}

static bool arch_multiplies_unsigned(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return !mma->mixed || !kw_gpu_arch_has(mma->arch, KW_GPU_mfma);
}

static bool block_is_launchable(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return kw_mma_waves(mma) * mma->lanes <= BLOCK_THREADS;
}

/* Elements of an operand's tile that a thread loads. */
static bool loads_evenly(int64_t elements, int64_t threads, int32_t vector) {
    int64_t share = elements / threads;
    return elements % threads == 0 && (share % vector == 0 || vector % share == 0);
}

static bool threads_share_tiles(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    if (mma->pipe == KW_PIPE_TMA || kw_mma_overlaps(mma)) {
        return true; /* no thread loads */
    }
    int64_t threads = kw_mma_math_waves(mma) * mma->lanes;
    return loads_evenly((int64_t)mma->tile[0] * mma->tile[2], threads, mma->vec[0]) &&
           loads_evenly((int64_t)mma->tile[1] * mma->tile[2], threads, mma->vec[1]);
}

static bool tiles_fit_lds(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return kw_mma_stages_bytes(mma) <= mma->lds;
}

static bool compv6_has_room(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return mma->pipe != KW_PIPE_COMPV6 || 2 * kw_mma_tile_bytes(mma) <= mma->lds;
}

static bool compv6_fills_vectors(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    int64_t threads = kw_mma_math_waves(mma) * mma->lanes;
    return mma->pipe != KW_PIPE_COMPV6 ||
           ((int64_t)mma->tile[0] * mma->tile[2] >= threads * mma->vec[0] && (int64_t)mma->tile[1] * mma->tile[2] >= threads * mma->vec[1]);
}

static bool arch_copies_async(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    bool async = mma->pipe == KW_PIPE_COMP_ASYNC || mma->pipe == KW_PIPE_BASIC_ASYNC_V1;
    return !async || kw_gpu_arch_has(mma->arch, KW_GPU_async4) || kw_gpu_arch_has(mma->arch, KW_GPU_async16);
}

/* With bulk copies come the fences that pipe=gather asks for. */
static bool arch_copies_bulk(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    bool tma = kw_gpu_arch_has(mma->arch, KW_GPU_tma) && kw_gpu_arch_has(mma->arch, KW_GPU_wgmma);
    return !kw_mma_shares_instruction(mma) ||
           (tma && (mma->pipe == KW_PIPE_TMA || kw_mma_overlaps(mma) || kw_gpu_arch_has(mma->arch, KW_GPU_async16)));
}

static bool arch_streams(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return !kw_mma_streams(mma) || kw_gpu_arch_has(mma->arch, KW_GPU_streamk);
}

/* A thread keeps its share of the sums in registers, with room for the operands besides. Of the 255 registers of NVIDIA's a sixth is left
 * for addresses and counters, of fp32, which has no tensor core, a quarter: with more than the rest counted here, ptxas spills. */
static bool mma_sums_fit_registers(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    if (kw_gpu_arch_has(mma->arch, KW_GPU_mma) && mma->inst[0] == 16) {
        int64_t all = mma->arch->typical.registers;
        return kw_mma_thread_registers(mma) <= (mma->dtype == KW_FP32 && !mma->tf32 ? all * 3 / 4 : all * 5 / 6);
    }
    int64_t threads = (int64_t)mma->wave[0] * mma->wave[1] * mma->lanes;
    if (kw_mma_overlaps(mma)) {
        enum { OTHERS = 40 }; /* addresses, what is on its way to shared memory */
        enum {
            LAUNCHED = 80,
            BESIDE = 26
        }; /* of two blocks that share a multiprocessor: ptxas wants an instruction's sums and so many more */
        bool named = kw_mma_blocks_held(mma) == 1 || mma->inst[1] / 2 + BESIDE <= LAUNCHED;
        enum { PLACES = 8 }; /* of what is picked, of two steps */
        int64_t picked = kw_mma_picks(mma) ? 2 * (int64_t)mma->tile[0] * mma->tile[2] / threads + PLACES : 0;
        return named &&
               kw_mma_sum_sets(mma) * (int64_t)mma->tile[0] * mma->tile[1] / threads + picked <= kw_mma_multiply_registers(mma) - OTHERS;
    }
    return (int64_t)mma->tile[0] * mma->tile[1] / threads < mma->arch->typical.registers;
}

static bool arch_is_known(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return mma->arch;
}

const kw_rule kw_mma_runs_rules[] = {
    {"known_arch", "the architecture has no file in rules/arch", arch_is_known},
    {"arch_bulk", "the architecture has no bulk tensor copies, or no matrix instruction of four waves that reads what they bring",
     arch_copies_bulk},
    {"arch_waves", "the architecture's rule file does not list wave_m x wave_n x wave_k", arch_has_waves},
    {"arch_instruction", "the architecture has no matrix instruction of this shape and type", arch_has_instruction},
    {"arch_unsigned", "the architecture's matrix instructions (MFMA) multiply signed bytes alone; x=uint8 has the reference kernel there",
     arch_multiplies_unsigned},
    {"block_threads", "a block has at most 1024 threads, those that only load counted", block_is_launchable},
    {"threads_share_tiles", "each thread must load the same whole number of elements, and vec_a, vec_b divide it or are multiples of it",
     threads_share_tiles},
    {"lds", "the tiles of both operands, stages times, need more shared memory than a block may have", tiles_fit_lds},
    {"compv6_lds", "pipe=compv6 takes at most half of the shared memory, so that two blocks share a multiprocessor", compv6_has_room},
    {"compv6_vectors", "pipe=compv6 gives each thread at least one whole vector of each operand", compv6_fills_vectors},
    {"arch_async", "the architecture has no copies from memory to shared memory that pass no registers", arch_copies_async},
    {"arch_streamk", "stream-K kernels are not generated for the architecture", arch_streams},
    {"registers", "a thread's sums, and what it loads and multiplies at a time, would fill its registers", mma_sums_fit_registers},
    {0},
};
