/* features_ck.h: the features of the CK Tile heuristics, by name, order and formula as published, so that models trained there load and
 * score here. Their known mistakes are part of them: kernel names carry tile_m x tile_n x tile_k, but their reader stores these as
 * block_size, gemm_m_per_block and gemm_n_per_block; tile_eff is remainder over tile; all directions use the forward mapping; an unknown
 * pipeline counts as compv3. The native table (predict/features/features_native.h) has none of that.
 *
 * Conv: 97 columns; 91 are those without the six flags of suffix and pipeline, 83 besides without depth and dilation. GEMM: 72 columns;
 * 55 are the first 43 and the 12 of the hardware. */
#ifndef KW_PREDICT_CK_FEATURES_CK_H
#define KW_PREDICT_CK_FEATURES_CK_H

#include "predict/features/features.h"

enum { KW_CK_FEATURES_CONV = 97, KW_CK_FEATURES_GEMM = 72 };

/* Constants that their models have as columns. */
typedef struct kw_ck_features_hardware {
    const char *arch;
    int64_t cus, simds_per_cu, shader_engines, clock_mhz, waves_per_cu, wave_size, lds_bytes, l1_kb, l2_kb, l3_kb, dies;
} kw_ck_features_hardware;

/* gfx950, gfx942, gfx90a; gfx950's for any other name, as they do. */
const kw_ck_features_hardware *kw_ck_features_hardware_of(const char *arch);

/* Codes by table; the first of each for an unknown word, as they do. */
typedef enum kw_ck_features_pipeline {
    KW_COMPV3 = 0,
    KW_COMPV4,
    KW_COMPV5,
    KW_MEM,
    KW_PRESHUFFLEV2,
    KW_BASIC_V1,
    KW_COMPV6
} kw_ck_features_pipeline;

typedef struct kw_ck_features_conv {
    int64_t n, c, k, g, di, hi, wi, z, y, x;
    int64_t stride_d, stride_h, stride_w, pad_d, pad_h, pad_w, dilation_d, dilation_h, dilation_w;
    double bytes_per_element;
    int64_t block_size, tile_m, tile_n; /* as their reader stores them: first, second and third number of the name's tile */
    kw_ck_features_pipeline pipeline;
    bool basic; /* a pipeline basic_v*, whichever */
    bool interwave, double_buffer, split_image;
} kw_ck_features_conv;

typedef struct kw_ck_features_gemm {
    int64_t m, n, k, split_k;
    double bytes_per_element;
    int64_t layout, tile_m, tile_n, tile_k, warp_m, warp_n, warp_k, warp_tile_m, warp_tile_n, warp_tile_k;
    kw_ck_features_pipeline pipeline;
    int64_t scheduler, epilogue;
    bool pad_m, pad_n, pad_k, persistent;
} kw_ck_features_gemm;

/* What they assume for what is not said. */
extern const kw_ck_features_conv kw_ck_features_conv_defaults;
extern const kw_ck_features_gemm kw_ck_features_gemm_defaults;

void kw_ck_features_conv_row(double row[KW_CK_FEATURES_CONV], const kw_ck_features_conv *conv, const kw_ck_features_hardware *hardware);
void kw_ck_features_gemm_row(double row[KW_CK_FEATURES_GEMM], const kw_ck_features_gemm *gemm, const kw_ck_features_hardware *hardware);

/* The full tables. */
extern const kw_feature_table kw_ck_features_conv_table, kw_ck_features_gemm_table;

#endif
