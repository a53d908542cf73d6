/* mma.c: a config of conv.igemm or gemm.mma as a kw_mma. The places of axes come from the same lists as the families' tables. */
#include "families/gpu/mma/mma.h"

#include "families/epilogue_text.h"
#include "problem/epilogue/epilogue.h"

#define PLACE(name, words, low, high, meaning) IGEMM_##name,
enum { KW_IGEMM_AXES(PLACE) };
#undef PLACE
#define PLACE(name, words, low, high, meaning) GEMM_##name,
enum { KW_GEMM_AXES(PLACE) };
#undef PLACE

static void triple(int32_t to[3], const int32_t *axes) {
    for (int i = 0; i < 3; i++) {
        to[i] = axes[i];
    }
}

/* tile_m .. epi stand together in both families, and so do vec_a .. stages. */
static void read_shared_axes(kw_mma *mma, const int32_t *tile, const int32_t *vectors) {
    triple(mma->tile, tile);
    triple(mma->wave, tile + 3);
    triple(mma->inst, tile + 6);
    mma->pipe = (kw_pipe)tile[9];
    mma->sched = (kw_sched)tile[10];
    mma->epi = (kw_epi)tile[11];
    triple(mma->vec, vectors);
    mma->stages = vectors[3];
}

static kw_mma read_gemm_axes(const int32_t *axis) {
    kw_mma mma = {.layout = axis[GEMM_layout],
                  .pad = {axis[GEMM_pad_m], axis[GEMM_pad_n], axis[GEMM_pad_k]},
                  .merge = 1,
                  .wave_groups = axis[GEMM_wave_groups],
                  .preshuffle = axis[GEMM_preshuffle],
                  .persistent = axis[GEMM_persistent],
                  .split_k = axis[GEMM_split_k],
                  .index = axis[GEMM_index],
                  .streamk = (kw_streamk)axis[GEMM_streamk]};
    read_shared_axes(&mma, axis + GEMM_tile_m, axis + GEMM_vec_a);
    return mma;
}

static kw_mma read_igemm(const int32_t *axis) {
    kw_mma mma = {.ndim = axis[IGEMM_ndim],
                  .pad = {1, 1, 1},
                  .merge = axis[IGEMM_merge],
                  .wave_groups = axis[IGEMM_wave_groups],
                  .split_image = axis[IGEMM_split_image],
                  .explicit_gemm = axis[IGEMM_explicit],
                  .two_stage = axis[IGEMM_two_stage],
                  .persistent = axis[IGEMM_persistent],
                  .split_k = axis[IGEMM_split_k],
                  .index = axis[IGEMM_index],
                  .spec = (kw_spec)axis[IGEMM_spec],
                  .streamk = (kw_streamk)axis[IGEMM_streamk]};
    read_shared_axes(&mma, axis + IGEMM_tile_m, axis + IGEMM_vec_a);
    return mma;
}

static void write_shared_axes(const kw_mma *mma, int32_t *tile, int32_t *vectors) {
    triple(tile, mma->tile);
    triple(tile + 3, mma->wave);
    triple(tile + 6, mma->inst);
    tile[9] = (int32_t)mma->pipe;
    tile[10] = (int32_t)mma->sched;
    tile[11] = (int32_t)mma->epi;
    triple(vectors, mma->vec);
    vectors[3] = mma->stages;
    if (mma->epi == KW_EPI_TURNED) {
        tile[0] = mma->tile[1];
        tile[1] = mma->tile[0];
    }
}

static void write_gemm_axes(const kw_mma *mma, int32_t *axis) {
    axis[GEMM_layout] = mma->layout;
    triple(axis + GEMM_pad_m, mma->pad);
    axis[GEMM_preshuffle] = mma->preshuffle;
    axis[GEMM_wave_groups] = mma->wave_groups;
    axis[GEMM_persistent] = mma->persistent;
    axis[GEMM_split_k] = mma->split_k;
    axis[GEMM_streamk] = (int32_t)mma->streamk;
    axis[GEMM_index] = mma->index;
    write_shared_axes(mma, axis + GEMM_tile_m, axis + GEMM_vec_a);
}

static void write_igemm_axes(const kw_mma *mma, int32_t *axis) {
    axis[IGEMM_ndim] = mma->ndim;
    axis[IGEMM_merge] = mma->merge;
    axis[IGEMM_wave_groups] = mma->wave_groups;
    axis[IGEMM_split_image] = mma->split_image;
    axis[IGEMM_explicit] = mma->explicit_gemm;
    axis[IGEMM_two_stage] = mma->two_stage;
    axis[IGEMM_spec] = (int32_t)mma->spec;
    axis[IGEMM_streamk] = (int32_t)mma->streamk;
    axis[IGEMM_persistent] = mma->persistent;
    axis[IGEMM_split_k] = mma->split_k;
    axis[IGEMM_index] = mma->index;
    write_shared_axes(mma, axis + IGEMM_tile_m, axis + IGEMM_vec_a);
}

kw_config kw_mma_write(const kw_mma *mma, const kw_family *family) {
    kw_config config = {.family = family, .op = mma->op, .dtype = mma->dtype};
    (mma->op == KW_GEMM ? write_gemm_axes : write_igemm_axes)(mma, config.axis);
    return config;
}

kw_mma kw_mma_read(const kw_config *config, const kw_target *target) {
    kw_mma mma = config->op == KW_GEMM ? read_gemm_axes(config->axis) : read_igemm(config->axis);
    if (mma.epi == KW_EPI_TURNED) {
        int32_t rows = mma.tile[1];
        mma.tile[1] = mma.tile[0];
        mma.tile[0] = rows;
    }
    mma.op = config->op;
    mma.dtype = config->dtype;
    mma.output = kw_config_output(config);
    mma.mixed = config->wants.mixed;
    mma.shifted = kw_epilogue_zero_x(&config->wants.epilogue) != NULL;
    mma.weights_shifted = kw_epilogue_zero_w(&config->wants.epilogue) >= 0;
    mma.tf32 = config->wants.tf32;
    mma.fast = config->wants.fast;
    mma.row_groups = config->wants.grouped;
    mma.one_part = config->wants.grouped || config->wants.joined ||
                   (config->wants.pitched && (config->op == KW_CONV_FWD || config->op == KW_CONV_BWD_DATA));
    mma.in_order = !(config->wants.first || config->wants.pitched || config->wants.grouped);
    mma.fused = !kw_epilogue_is_bare(&config->wants.epilogue);
    mma.bytes = (int32_t)kw_dtype_size(config->dtype);
    mma.arch = target ? kw_gpu_arch_find(target->arch) : NULL;
    if (mma.arch) {
        mma.lanes = target->lanes ? target->lanes : mma.arch->typical.lanes;
        mma.lds = target->lds ? target->lds : mma.arch->typical.lds;
    }
    return mma;
}

_Static_assert(sizeof(kw_mma) <= KW_DECODED_BYTES, "kw_rule_broken() keeps a kw_mma");

void kw_mma_decode(const kw_config *config, const kw_target *target, void *decoded) {
    *(kw_mma *)decoded = kw_mma_read(config, target);
}

double kw_mma_sum_error(const kw_config *config) {
    kw_mma mma = kw_mma_read(config, NULL);
    return kw_mma_cuts_to_tf32(&mma) ? 0x1.01p-9 : mma.tf32 ? 0x1.01p-10 : 0;
}

bool kw_mma_cuts_to_tf32(const kw_mma *mma) {
    return mma->dtype == KW_FP32 && kw_mma_shares_instruction(mma);
}

bool kw_mma_permits(const kw_rule_case *c) {
    return !kw_mma_cuts_to_tf32(c->decoded) || c->problem->fpmath == KW_FPMATH_TF32;
}

bool kw_mma_shares_instruction(const kw_mma *mma) {
    return mma->pipe == KW_PIPE_TMA || mma->pipe == KW_PIPE_GATHER || kw_mma_overlaps(mma);
}

int32_t kw_mma_cluster(const kw_mma *mma) {
    return mma->streamk == KW_STREAMK_CLUSTER ? mma->split_k : 1;
}

int32_t kw_mma_pair(const kw_mma *mma) {
    return mma->streamk == KW_STREAMK_PAIR ? 2 : mma->streamk == KW_STREAMK_QUAD ? 4 : 1;
}

bool kw_mma_cuts_piece(const kw_mma *mma) {
    enum { PIECE = 64 };
    bool gemm = mma->op == KW_GEMM;
    bool runs = mma->bytes * mma->vec[0] == 16 && (mma->bytes == 2 || (gemm && mma->bytes == 1)), border = kw_mma_has_border(mma);
    runs |= gemm && mma->bytes == 2 && mma->vec[0] == 1;
    bool image = mma->op == KW_CONV_FWD || mma->op == KW_CONV_BWD_WEIGHT || border || mma->tile[1] > PIECE;
    bool plain = (runs || border) && mma->epi == KW_EPI_CSHUFFLE && mma->merge == 1 && (border || mma->spec == KW_SPEC_DEFAULT);
    return plain && (gemm || image) && kw_mma_overlaps(mma) && mma->tile[1] % PIECE != 0;
}

bool kw_mma_streams(const kw_mma *mma) {
    return mma->streamk == KW_STREAMK_TREE || mma->streamk == KW_STREAMK_LINEAR;
}

bool kw_mma_overlaps(const kw_mma *mma) {
    return mma->pipe == KW_PIPE_COOPERATIVE || mma->pipe == KW_PIPE_PINGPONG;
}

bool kw_mma_has_border(const kw_mma *mma) {
    return kw_mma_overlaps(mma) && mma->spec == KW_SPEC_STRIDE1;
}

bool kw_mma_planes(const kw_mma *mma) {
    return kw_mma_overlaps(mma) && mma->spec == KW_SPEC_FILTER1X1_STRIDE1_PAD0;
}
