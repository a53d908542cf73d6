/* features_ck_gemm.c: the 72 columns of GEMM. One list holds name, unit, group and formula; the formula is the code. */
#include "predict/ck/features_ck_columns.h"

#include <math.h>

const kw_ck_features_gemm kw_ck_features_gemm_defaults = {
    .m = 1,
    .n = 1,
    .k = 1,
    .split_k = 1,
    .bytes_per_element = 1,
    .tile_m = 128,
    .tile_n = 128,
    .tile_k = 64,
    .warp_m = 2,
    .warp_n = 2,
    .warp_k = 1,
    .warp_tile_m = 32,
    .warp_tile_n = 32,
    .warp_tile_k = 16,
    .pipeline = KW_COMPV4,
    .epilogue = 1,
};

typedef struct terms {
    double M, N, K, bytes, lds, TM, TN, TK, tiles_m, tiles_n, tiles_k, eff_m, eff_n, eff_k;
    bool need_m, need_n, need_k; /* extent is no multiple of the tile */
} terms;

static terms gemm_terms(const kw_ck_features_gemm *c) {
    terms t = {
        .M = (double)c->m,
        .N = (double)c->n,
        .K = (double)c->k,
        .TM = (double)c->tile_m,
        .TN = (double)c->tile_n,
        .TK = (double)c->tile_k,
    };
    t.bytes = (t.M * t.K + t.K * t.N + t.M * t.N) * c->bytes_per_element;
    t.lds = (t.TM * t.TK + t.TN * t.TK) * c->bytes_per_element;
    t.tiles_m = ceil(t.M / fmax(t.TM, 1));
    t.tiles_n = ceil(t.N / fmax(t.TN, 1));
    t.tiles_k = ceil(t.K / fmax(t.TK, 1));
    t.eff_m = kw_ck_features_remainder(t.M, t.TM);
    t.eff_n = kw_ck_features_remainder(t.N, t.TN);
    t.eff_k = kw_ck_features_remainder(t.K, t.TK);
    t.need_m = c->tile_m > 0 && c->m % c->tile_m;
    t.need_n = c->tile_n > 0 && c->n % c->tile_n;
    t.need_k = c->tile_k > 0 && c->k % c->tile_k;
    return t;
}

#define GEMM_COLUMNS(F)                                                                                                                    \
    F(M, "problem", "rows", t.M)                                                                                                           \
    F(N, "problem", "columns", t.N)                                                                                                        \
    F(K, "problem", "", t.K)                                                                                                               \
    F(split_k, "problem", "", (double)(c->split_k > 0 ? c->split_k : 1))                                                                   \
    F(log2_M, "problem", "bits", log2(fmax(t.M, 1)))                                                                                       \
    F(log2_N, "problem", "bits", log2(fmax(t.N, 1)))                                                                                       \
    F(log2_K, "problem", "bits", log2(fmax(t.K, 1)))                                                                                       \
    F(log2_MNK, "problem", "bits", log2(fmax(t.M *t.N *t.K, 1)))                                                                           \
    F(arithmetic_intensity, "problem", "FLOP/B", 2 * t.M * t.N * t.K / fmax(t.bytes, 1))                                                   \
    F(aspect_ratio_mn, "problem", "", t.M / fmax(t.N, 1))                                                                                  \
    F(aspect_ratio_mk, "problem", "", t.M / fmax(t.K, 1))                                                                                  \
    F(aspect_ratio_nk, "problem", "", t.N / fmax(t.K, 1))                                                                                  \
    F(layout, "problem", "code", (double)c->layout)                                                                                        \
    F(tile_m, "kernel", "", t.TM)                                                                                                          \
    F(tile_n, "kernel", "", t.TN)                                                                                                          \
    F(tile_k, "kernel", "", t.TK)                                                                                                          \
    F(warp_m, "kernel", "", (double)c->warp_m)                                                                                             \
    F(warp_n, "kernel", "", (double)c->warp_n)                                                                                             \
    F(warp_k, "kernel", "", (double)c->warp_k)                                                                                             \
    F(warp_tile_m, "kernel", "", (double)c->warp_tile_m)                                                                                   \
    F(warp_tile_n, "kernel", "", (double)c->warp_tile_n)                                                                                   \
    F(warp_tile_k, "kernel", "", (double)c->warp_tile_k)                                                                                   \
    F(pipeline, "kernel", "code", (double)c->pipeline)                                                                                     \
    F(scheduler, "kernel", "code", (double)c->scheduler)                                                                                   \
    F(epilogue, "kernel", "code", (double)c->epilogue)                                                                                     \
    F(pad_m, "kernel", "", c->pad_m)                                                                                                       \
    F(pad_n, "kernel", "", c->pad_n)                                                                                                       \
    F(pad_k, "kernel", "", c->pad_k)                                                                                                       \
    F(persistent, "kernel", "", c->persistent)                                                                                             \
    F(num_warps, "kernel", "", (double)(c->warp_m * c->warp_n * c->warp_k))                                                                \
    F(tile_volume, "kernel", "", t.TM *t.TN *t.TK)                                                                                         \
    F(tile_mn, "kernel", "", t.TM *t.TN)                                                                                                   \
    F(lds_usage_estimate, "kernel", "bytes", t.lds)                                                                                        \
    F(lds_usage_ratio, "kernel", "", t.lds / fmax(c->pipeline == KW_COMPV4 ? 32768 : (double)h->lds_bytes, 1))                             \
    F(num_tiles_m, "interaction", "tiles", t.tiles_m)                                                                                      \
    F(num_tiles_n, "interaction", "tiles", t.tiles_n)                                                                                      \
    F(num_tiles_k, "interaction", "steps", t.tiles_k)                                                                                      \
    F(total_output_tiles, "interaction", "tiles", t.tiles_m *t.tiles_n)                                                                    \
    F(tile_eff_m, "interaction", "", t.eff_m)                                                                                              \
    F(tile_eff_n, "interaction", "", t.eff_n)                                                                                              \
    F(tile_eff_k, "interaction", "", t.eff_k)                                                                                              \
    F(overall_tile_efficiency, "interaction", "", t.eff_m *t.eff_n *t.eff_k)                                                               \
    F(cu_utilization, "interaction", "", t.tiles_m *t.tiles_n / fmax((double)h->cus, 1))                                                   \
    F(ratio_M_to_tile_m, "later", "", t.M / fmax(t.TM, 1))                                                                                 \
    F(ratio_N_to_tile_n, "later", "", t.N / fmax(t.TN, 1))                                                                                 \
    F(ratio_K_to_tile_k, "later", "", t.K / fmax(t.TK, 1))                                                                                 \
    F(problem_smaller_than_tile_m, "later", "", t.M < t.TM)                                                                                \
    F(problem_smaller_than_tile_n, "later", "", t.N < t.TN)                                                                                \
    F(problem_smaller_than_tile_k, "later", "", t.K < t.TK)                                                                                \
    F(any_dim_too_small, "later", "", t.M < t.TM || t.N < t.TN || t.K < t.TK)                                                              \
    F(needs_padding_m, "later", "", t.need_m)                                                                                              \
    F(needs_padding_n, "later", "", t.need_n)                                                                                              \
    F(needs_padding_k, "later", "", t.need_k)                                                                                              \
    F(has_padding_when_needed_m, "later", "", t.need_m && c->pad_m)                                                                        \
    F(has_padding_when_needed_n, "later", "", t.need_n && c->pad_n)                                                                        \
    F(has_padding_when_needed_k, "later", "", t.need_k && c->pad_k)                                                                        \
    F(missing_required_padding_m, "later", "", t.need_m && !c->pad_m)                                                                      \
    F(missing_required_padding_n, "later", "", t.need_n && !c->pad_n)                                                                      \
    F(missing_required_padding_k, "later", "", t.need_k && !c->pad_k)                                                                      \
    F(missing_any_required_padding, "later", "", (t.need_m && !c->pad_m) || (t.need_n && !c->pad_n) || (t.need_k && !c->pad_k))            \
    KW_CK_FEATURES_HARDWARE_COLUMNS(F)

static const kw_feature columns[] = {
#define COLUMN(name, group, unit, formula) {#name, group, unit, #formula, NULL},
    GEMM_COLUMNS(COLUMN)
#undef COLUMN
};
_Static_assert(sizeof columns / sizeof *columns == KW_CK_FEATURES_GEMM, "the published count");

const kw_feature_table kw_ck_features_gemm_table = {"ck-gemm-72", columns, KW_CK_FEATURES_GEMM};

void kw_ck_features_gemm_row(double row[KW_CK_FEATURES_GEMM], const kw_ck_features_gemm *c, const kw_ck_features_hardware *h) {
    terms t = gemm_terms(c);
    size_t i = 0;
#define COLUMN(name, group, unit, formula) row[i++] = formula;
    GEMM_COLUMNS(COLUMN)
#undef COLUMN
}
