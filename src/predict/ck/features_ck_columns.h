/* features_ck_columns.h: what the published tables of convolution and GEMM share. */
#ifndef KW_PREDICT_CK_FEATURES_CK_COLUMNS_H
#define KW_PREDICT_CK_FEATURES_CK_COLUMNS_H

#include "predict/ck/features_ck.h"

#include <math.h>

/* The last columns of both; h is the kw_ck_features_hardware. */
#define KW_CK_FEATURES_HARDWARE_COLUMNS(F)                                                                                                 \
    F(hw_num_cus, "hardware", "", (double)h->cus)                                                                                          \
    F(hw_simds_per_cu, "hardware", "", (double)h->simds_per_cu)                                                                            \
    F(hw_total_simds, "hardware", "", (double)(h->cus * h->simds_per_cu))                                                                  \
    F(hw_shader_engines, "hardware", "", (double)h->shader_engines)                                                                        \
    F(hw_max_clock_mhz, "hardware", "MHz", (double)h->clock_mhz)                                                                           \
    F(hw_max_waves_per_cu, "hardware", "waves", (double)h->waves_per_cu)                                                                   \
    F(hw_wavefront_size, "hardware", "lanes", (double)h->wave_size)                                                                        \
    F(hw_lds_capacity, "hardware", "bytes", (double)h->lds_bytes)                                                                          \
    F(hw_l1_cache_kb, "hardware", "KiB", (double)h->l1_kb)                                                                                 \
    F(hw_l2_cache_kb, "hardware", "KiB", (double)h->l2_kb)                                                                                 \
    F(hw_l3_cache_kb, "hardware", "KiB", (double)h->l3_kb)                                                                                 \
    F(hw_num_xcd, "hardware", "dies", (double)h->dies)

/* Their "tile efficiency": what is left of the extent beyond whole tiles, over the tile; 1 where nothing is left. */
static inline double kw_ck_features_remainder(double extent, double tile) {
    double rest = tile > 0 ? fmod(extent, tile) : 0;
    return rest > 0 ? rest / tile : 1;
}

#endif
