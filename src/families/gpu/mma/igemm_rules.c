/* igemm_rules.c: the rules of conv.igemm alone; those it shares with gemm.mma are in mma_rules.c. Which problem a feature serves (a filter
 * of 1x1, one channel a group) is asked of the problem by the rules of conv_igemm.c. */
#include "families/gpu/mma/rules.h"

static bool is_bwd_weight(const kw_mma *mma) {
    return mma->op == KW_CONV_BWD_WEIGHT;
}

static bool backward_pipe(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return mma->op == KW_CONV_FWD || mma->pipe != KW_PIPE_COMPV5;
}

static bool streamk_direction(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return !kw_mma_streams(mma) || is_bwd_weight(mma);
}

static bool persistent_streams(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return !mma->persistent || mma->streamk != KW_STREAMK_OFF || kw_mma_overlaps(mma);
}

static bool two_stage_direction(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return !mma->two_stage || (is_bwd_weight(mma) && mma->streamk == KW_STREAMK_OFF);
}

static bool split_direction(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return mma->split_k == 1 || is_bwd_weight(mma) || kw_mma_overlaps(mma);
}

static bool explicit_is_plain(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    bool plain = mma->spec == KW_SPEC_FILTER1X1_STRIDE1_PAD0 && mma->op != KW_CONV_BWD_DATA && mma->pipe != KW_PIPE_WAVELET;
    return !mma->explicit_gemm || plain;
}

static bool merge_count(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return !(mma->merge & (mma->merge - 1)) && (mma->merge == 1 || mma->op != KW_CONV_BWD_DATA || kw_mma_overlaps(mma));
}

static bool merge_is_grouped(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return mma->merge == 1 || (!mma->explicit_gemm && !mma->split_image);
}

/* Their weights, and the one channel of filter3x3, are loaded element by element. */
static bool async_channels(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    bool async = mma->pipe == KW_PIPE_COMP_ASYNC || mma->pipe == KW_PIPE_BASIC_ASYNC_V1 || mma->pipe == KW_PIPE_GATHER;
    return !async || mma->op != KW_CONV_FWD || (mma->merge == 1 && mma->spec != KW_SPEC_FILTER3X3);
}

static bool filter3x3_direction(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return mma->spec != KW_SPEC_FILTER3X3 || mma->op == KW_CONV_FWD;
}

static bool split_image_direction(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return !mma->split_image || (mma->op == KW_CONV_FWD && mma->index == 32);
}

/* Copies by the hardware know one image and any filter. */
static bool overlap_image(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    bool spec = mma->spec == KW_SPEC_DEFAULT || kw_mma_has_border(mma) || (kw_mma_planes(mma) && !kw_mma_aligns(mma));
    return !kw_mma_overlaps(mma) || (spec && !mma->explicit_gemm && !mma->split_image && !mma->two_stage);
}

/* Merged groups have 64 channels together, which is the side of a tile that has the result's. */
static bool overlap_merge(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    enum { SIDE = 64, MERGE_MAX = 8 };
    bool plain = mma->bytes == 2 && mma->vec[0] == 8 && mma->spec == KW_SPEC_DEFAULT && mma->streamk == KW_STREAMK_OFF;
    return !kw_mma_overlaps(mma) || mma->merge == 1 || (plain && mma->merge <= MERGE_MAX && mma->tile[is_bwd_weight(mma) ? 0 : 1] == SIDE);
}

static bool border_pipe(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    bool plain = mma->bytes == 2 && mma->epi == KW_EPI_CSHUFFLE && mma->merge == 1 && mma->streamk == KW_STREAMK_OFF;
    return mma->spec != KW_SPEC_STRIDE1 || (kw_mma_overlaps(mma) && !is_bwd_weight(mma) && plain);
}

/* Some more than the tile itself; and two steps are under way while a third is waited for. */
static bool border_rows(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    enum { LEAST = 16, STAGES_MIN = 3 };
    return !kw_mma_has_border(mma) || (kw_mma_border_rows(mma) >= mma->tile[0] + LEAST && mma->stages >= STAGES_MIN);
}

const kw_rule kw_igemm_valid_rules[] = {
    {"backward_pipe", "pipe=compv5 is generated for conv_fwd only", backward_pipe},
    {"streamk_direction", "stream-K is for conv_bwd_weight, whose depth is the whole image", streamk_direction},
    {"persistent", "persistent=1 is for stream-K (streamk must be tree or linear) and for pipe=cooperative and pingpong",
     persistent_streams},
    {"two_stage", "two_stage is for conv_bwd_weight without stream-K, which adds in a stage of its own anyway", two_stage_direction},
    {"split_direction",
     "conv_fwd and conv_bwd_data are split along the depth by pipe=cooperative and pingpong alone; else split_k must be 1",
     split_direction},
    {"explicit", "explicit=1 is a plain product: spec=filter1x1_stride1_pad0, conv_fwd or conv_bwd_weight, not pipe=wavelet",
     explicit_is_plain},
    {"merge_count", "merge is a power of two; conv_bwd_data merges groups with pipe=cooperative and pingpong alone", merge_count},
    {"merge_grouped", "groups are not merged where the image is split or the product is explicit", merge_is_grouped},
    {"async_channels",
     "conv_fwd with merged groups or spec=filter3x3 loads single elements, which pipe=comp_async, basic_async_v1 and gather cannot",
     async_channels},
    {"filter3x3", "spec=filter3x3 is for conv_fwd", filter3x3_direction},
    {"overlap_image",
     "pipe=cooperative and pingpong are for explicit=0, split_image=0, two_stage=0 and spec=default, or with vectors of 8 "
     "spec=filter1x1_stride1_pad0, or spec=stride1",
     overlap_image},
    {"border_pipe",
     "spec=stride1 is for conv_fwd and conv_bwd_data of 16-bit types with pipe=cooperative or pingpong, epi=cshuffle and "
     "merge=1",
     border_pipe},
    {"border_rows", "with spec=stride1 there are 3 stages or more, which leave room for twice the tile's rows of 128 bytes, and 16 more",
     border_rows},
    {"overlap_merge",
     "pipe=cooperative and pingpong merge 2, 4 or 8 groups, of 64 channels together: with 16-bit types, vectors of 8, spec=default and "
     "streamk=off, tile_n=64 (conv_bwd_weight: tile_m=64)",
     overlap_merge},
    {"split_image", "split_image is for conv_fwd with 32-bit offsets; other directions reach large tensors by index=64",
     split_image_direction},
    {0},
};
