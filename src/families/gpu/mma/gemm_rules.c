/* gemm_rules.c: the rules of gemm.mma alone; those it shares with conv.igemm are in mma_rules.c. */
#include "families/gpu/mma/rules.h"

/* Bytes of a lane's load from weights that lie in the kernel's own order. */
enum { SHUFFLED_BYTES = 16 };

static bool preshuffle_pipe(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return !mma->preshuffle || mma->pipe == KW_PIPE_BASIC_V1 || mma->pipe == KW_PIPE_COMPV4;
}

static bool preshuffle_sched(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return !mma->preshuffle || (mma->sched == KW_SCHED_INTRAWAVE && mma->streamk == KW_STREAMK_OFF && mma->wave[2] == 1);
}

/* Copies along the depth alone, and the simplest roles of waves. */
static bool bulk_plain(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return mma->pipe != KW_PIPE_TMA || (mma->layout == KW_RCR && mma->sched == KW_SCHED_INTRAWAVE && !mma->preshuffle);
}

/* Each tile has one group's rows, and is summed by one block. */
static bool groups_plain(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    bool plain = mma->split_k <= 1 && mma->streamk == KW_STREAMK_OFF && !mma->preshuffle;
    return !mma->row_groups || (mma->pad[0] && plain && !c->config->wants.pitched);
}

/* A map is of one product; a unit is a tile. */
static bool joined_plain(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    bool maps = mma->pipe == KW_PIPE_TMA || kw_mma_overlaps(mma);
    bool plain = mma->split_k == 1 && mma->streamk == KW_STREAMK_OFF && !mma->preshuffle && !mma->persistent && !mma->row_groups;
    return !c->config->wants.joined || (plain && !maps);
}

const kw_rule kw_gemm_mma_valid_rules[] = {
    {"joined_plain",
     "joined products need a pipe without tensor maps (none of tma, cooperative, pingpong), split_k=1, streamk=off, preshuffle=0, "
     "persistent=0 and no groups of rows",
     joined_plain},
    {"groups_plain", "grouped products need pad_m=1, split_k at most 1, streamk=off, preshuffle=0 and dense tensors", groups_plain},
    {"bulk_plain", "pipe=tma is for layout=rcr, sched=intrawave, preshuffle=0", bulk_plain},
    {"preshuffle_pipe", "preshuffle=1 keeps only the first operand in shared memory, one tile (basic_v1) or two (compv4)", preshuffle_pipe},
    {"preshuffle_plain", "preshuffle=1 has no interwave steps, no stream-K and wave_k=1", preshuffle_sched},
    {0},
};

static bool preshuffle_instruction(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    for (int32_t i = 0; mma->preshuffle && i < mma->arch->preshuffle_count; i++) {
        const kw_gpu_tile *tile = &mma->arch->preshuffle[i];
        if (tile->a == mma->dtype && tile->b == mma->dtype && tile->m == mma->inst[0] && tile->n == mma->inst[1] &&
            tile->k == mma->inst[2]) {
            return true;
        }
    }
    return !mma->preshuffle;
}

static bool preshuffle_loads_whole(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    int64_t bytes = (int64_t)mma->inst[1] * mma->inst[2] * (int64_t)kw_dtype_size(mma->dtype) / mma->lanes;
    int64_t repeats = mma->tile[2] / mma->inst[2];
    return !mma->preshuffle || bytes * repeats % SHUFFLED_BYTES == 0;
}

const kw_rule kw_gemm_mma_runs_rules[] = {
    {"preshuffle_instruction", "the architecture's rule file does not list this instruction under preshuffle", preshuffle_instruction},
    {"preshuffle_loads", "a lane's fragments of a step must be whole loads of 16 bytes", preshuffle_loads_whole},
    {0},
};
