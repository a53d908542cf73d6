/* gemm_rules.c: the rules of gemm.mma alone; those it shares with conv.igemm are in mma_valid.c. */
#include "families/gpu/mma/rules.h"

/* Bytes of a lane's load from weights that lie in the kernel's own order. */
enum { SHUFFLED_BYTES = 16 };

static bool preshuffle_pipe(const kw_mma_case *c) {
    return !c->mma.preshuffle || c->mma.pipe == KW_PIPE_BASIC_V1 || c->mma.pipe == KW_PIPE_COMPV4;
}

static bool preshuffle_sched(const kw_mma_case *c) {
    return !c->mma.preshuffle || (c->mma.sched == KW_SCHED_INTRAWAVE && c->mma.streamk == KW_STREAMK_OFF && c->mma.wave[2] == 1);
}

/* Copies along the depth alone, and the simplest roles of waves. */
static bool bulk_plain(const kw_mma_case *c) {
    return c->mma.pipe != KW_PIPE_TMA || (c->mma.layout == KW_RCR && c->mma.sched == KW_SCHED_INTRAWAVE && !c->mma.preshuffle);
}

static const kw_mma_rule valid_rules[] = {
    {"bulk_plain", "pipe=tma is for layout=rcr, sched=intrawave, preshuffle=0", bulk_plain},
    {"preshuffle_pipe", "preshuffle=1 keeps only the first operand in shared memory, one tile (basic_v1) or two (compv4)", preshuffle_pipe},
    {"preshuffle_plain", "preshuffle=1 has no interwave steps, no stream-K and wave_k=1", preshuffle_sched},
    {0},
};

static bool preshuffle_instruction(const kw_mma_case *c) {
    for (int32_t i = 0; c->mma.preshuffle && i < c->arch->preshuffle_count; i++) {
        const kw_gpu_tile *tile = &c->arch->preshuffle[i];
        if (tile->a == c->dtype && tile->b == c->dtype && tile->m == c->mma.inst[0] && tile->n == c->mma.inst[1] &&
            tile->k == c->mma.inst[2]) {
            return true;
        }
    }
    return !c->mma.preshuffle;
}

static bool preshuffle_loads_whole(const kw_mma_case *c) {
    int64_t bytes = (int64_t)c->mma.inst[1] * c->mma.inst[2] * (int64_t)kw_dtype_size(c->dtype) / c->lanes;
    int64_t repeats = c->mma.tile[2] / c->mma.inst[2];
    return !c->mma.preshuffle || bytes * repeats % SHUFFLED_BYTES == 0;
}

static const kw_mma_rule runs_rules[] = {
    {"preshuffle_instruction", "the architecture's rule file does not list this instruction under preshuffle", preshuffle_instruction},
    {"preshuffle_loads", "a lane's fragments of a step must be whole loads of 16 bytes", preshuffle_loads_whole},
    {0},
};

kw_status kw_gemm_mma_valid(const kw_config *config, kw_error *why) {
    return kw_mma_check_valid(config, valid_rules, why);
}

kw_status kw_gemm_mma_runs(const kw_config *config, const kw_target *target, kw_error *why) {
    return kw_mma_check_runs(config, target, runs_rules, why);
}
