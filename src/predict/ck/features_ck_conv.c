/* features_ck_conv.c: the 97 columns of grouped convolution. One list holds name, unit, group and formula; the formula is the code. */
#include "predict/ck/features_ck_columns.h"

#include "base/math.h"

#include <math.h>

const kw_ck_features_conv kw_ck_features_conv_defaults = {
    .n = 1,
    .c = 64,
    .k = 64,
    .g = 1,
    .di = 1,
    .hi = 32,
    .wi = 32,
    .z = 1,
    .y = 1,
    .x = 1,
    .stride_d = 1,
    .stride_h = 1,
    .stride_w = 1,
    .dilation_d = 1,
    .dilation_h = 1,
    .dilation_w = 1,
    .bytes_per_element = 2,
    .block_size = 16,
    .tile_m = 64,
    .tile_n = 64,
};

static const kw_ck_features_hardware profiles[] = {
    {"gfx950", 256, 4, 32, 2400, 32, 64, 65536, 32, 4096, 262144, 8},
    {"gfx942", 228, 4, 28, 2100, 32, 64, 65536, 32, 4096, 262144, 8},
    {"gfx90a", 110, 4, 8, 1700, 32, 64, 65536, 16, 8192, 131072, 1},
};

const kw_ck_features_hardware *kw_ck_features_hardware_of(const char *arch) {
    for (size_t i = 1; i < sizeof profiles / sizeof *profiles; i++) {
        const char *a = profiles[i].arch, *b = arch;
        while (*a && *a == *b) {
            a++;
            b++;
        }
        if (!*a && !*b) {
            return &profiles[i];
        }
    }
    return &profiles[0];
}

/* What several columns share; letters as in the source's formulas. All are doubles: their engine works in float64. */
typedef struct terms {
    double N, C, K, G, Hi, Wi, Di, Y, X, Z, Ho, Wo, Do;
    double Sv, Fv, Ov, g, flops, bytes; /* input, filter and output volume */
    double B, TM, TN, GM, GN, GK;       /* the kernel's three numbers, the forward GEMM */
    double tiles_m, tiles_n, tiles_k, eff_m, eff_n, eff_k, lds;
    bool is3;
} terms;

static double ck_log2(double value) {
    return log2(fmax(value, 1));
}

static double conv_output_extent(int64_t in, int64_t pad, int64_t dilation, int64_t filter, int64_t stride) {
    return (double)(kw_floor_div(in + 2 * pad - ((filter - 1) * dilation + 1), kw_max(stride, 1)) + 1);
}

static terms conv_terms(const kw_ck_features_conv *c) {
    terms t = {
        .N = (double)c->n,
        .C = (double)c->c,
        .K = (double)c->k,
        .G = (double)c->g,
        .Hi = (double)c->hi,
        .Wi = (double)c->wi,
        .Di = (double)c->di,
        .Y = (double)c->y,
        .X = (double)c->x,
        .Z = (double)c->z,
        .g = (double)kw_max(c->g, 1),
        .is3 = c->di > 1 || c->z > 1 || c->pad_d > 0,
        .B = (double)c->block_size,
        .TM = (double)c->tile_m,
        .TN = (double)c->tile_n,
    };
    t.Ho = conv_output_extent(c->hi, c->pad_h, c->dilation_h, c->y, c->stride_h);
    t.Wo = conv_output_extent(c->wi, c->pad_w, c->dilation_w, c->x, c->stride_w);
    t.Do = t.is3 ? conv_output_extent(c->di, c->pad_d, c->dilation_d, c->z, c->stride_d) : 1;
    t.Sv = (t.is3 ? t.Di : 1) * t.Hi * t.Wi;
    t.Fv = (t.is3 ? t.Z : 1) * t.Y * t.X;
    t.Ov = t.Do * t.Ho * t.Wo;
    t.flops = 2 * t.N * t.K * t.Ov * (t.C / t.g) * t.Fv;
    t.bytes = (t.N * t.C * t.Sv + t.K * (t.C / t.g) * t.Fv + t.N * t.K * t.Ov) * c->bytes_per_element;
    t.GM = t.N * t.Ov;
    t.GN = t.K;
    t.GK = trunc(t.C / t.g * t.Fv);
    t.tiles_m = ceil(t.GM / fmax(t.TM, 1));
    t.tiles_n = ceil(t.GN / fmax(t.TN, 1));
    t.tiles_k = ceil(t.GK / fmax(t.B, 1));
    t.eff_m = kw_ck_features_remainder(t.GM, t.TM);
    t.eff_n = kw_ck_features_remainder(t.GN, t.TN);
    t.eff_k = kw_ck_features_remainder(t.GK, t.B);
    t.lds = (t.TM * t.B + t.TN * t.B) * c->bytes_per_element;
    return t;
}

/* Name, group, unit, formula: t are the terms, c is the struct, h the hardware. */
#define CONV_COLUMNS(F)                                                                                                                    \
    F(N, "problem", "images", t.N)                                                                                                         \
    F(C, "problem", "channels", t.C)                                                                                                       \
    F(K, "problem", "channels", t.K)                                                                                                       \
    F(G, "problem", "groups", t.G)                                                                                                         \
    F(Hi, "problem", "pixels", t.Hi)                                                                                                       \
    F(Wi, "problem", "pixels", t.Wi)                                                                                                       \
    F(Y, "problem", "taps", t.Y)                                                                                                           \
    F(X, "problem", "taps", t.X)                                                                                                           \
    F(stride_h, "problem", "pixels", (double)c->stride_h)                                                                                  \
    F(stride_w, "problem", "pixels", (double)c->stride_w)                                                                                  \
    F(pad_h, "problem", "pixels", (double)c->pad_h)                                                                                        \
    F(pad_w, "problem", "pixels", (double)c->pad_w)                                                                                        \
    F(Ho, "problem", "pixels", t.Ho)                                                                                                       \
    F(Wo, "problem", "pixels", t.Wo)                                                                                                       \
    F(log2_N, "problem", "bits", ck_log2(t.N))                                                                                             \
    F(log2_C, "problem", "bits", ck_log2(t.C))                                                                                             \
    F(log2_K, "problem", "bits", ck_log2(t.K))                                                                                             \
    F(log2_G, "problem", "bits", ck_log2(t.G))                                                                                             \
    F(log2_Hi, "problem", "bits", ck_log2(t.Hi))                                                                                           \
    F(log2_Wi, "problem", "bits", ck_log2(t.Wi))                                                                                           \
    F(log2_spatial, "problem", "bits", ck_log2(t.Sv))                                                                                      \
    F(log2_filter, "problem", "bits", ck_log2(t.Fv))                                                                                       \
    F(log2_output, "problem", "bits", ck_log2(t.Ov))                                                                                       \
    F(arithmetic_intensity, "problem", "FLOP/B", t.flops / fmax(t.bytes, 1))                                                               \
    F(filter_area, "problem", "taps", t.Fv)                                                                                                \
    F(is_1x1_conv, "problem", "", t.Y == 1 && t.X == 1 && t.Z == 1)                                                                        \
    F(is_3x3_conv, "problem", "", t.Y == 3 && t.X == 3 && (!t.is3 || t.Z == 3))                                                            \
    F(channels_per_group, "problem", "channels", t.C / t.g)                                                                                \
    F(aspect_ratio_hw, "problem", "", t.Hi / fmax(t.Wi, 1))                                                                                \
    F(aspect_ratio_filter, "problem", "", t.Y / fmax(t.X, 1))                                                                              \
    F(is_3d, "depth", "", t.is3)                                                                                                           \
    F(Di, "depth", "pixels", t.Di)                                                                                                         \
    F(Z, "depth", "taps", t.Z)                                                                                                             \
    F(Do, "depth", "pixels", t.Do)                                                                                                         \
    F(stride_d, "depth", "pixels", (double)c->stride_d)                                                                                    \
    F(pad_d, "depth", "pixels", (double)c->pad_d)                                                                                          \
    F(dilation_h, "depth", "pixels", (double)c->dilation_h)                                                                                \
    F(dilation_w, "depth", "pixels", (double)c->dilation_w)                                                                                \
    F(log2_channels_per_group, "group", "bits", ck_log2(t.C / t.g))                                                                        \
    F(log2_output_channels_per_group, "group", "bits", ck_log2(t.K / t.g))                                                                 \
    F(is_depthwise, "group", "", t.G == t.C && t.G == t.K)                                                                                 \
    F(group_density, "group", "", t.G / fmax(t.C, 1))                                                                                      \
    F(is_small_group, "group", "", t.C / t.g < 16 || t.K / t.g < 16)                                                                       \
    F(channels_product_per_group, "group", "", t.C / t.g * (t.K / t.g))                                                                    \
    F(batch_group_product, "group", "", t.N *t.G)                                                                                          \
    F(is_small_batch_grouped, "group", "", t.N<8 && t.G> 1)                                                                                \
    F(block_size, "kernel", "", t.B)                                                                                                       \
    F(gemm_m_per_block, "kernel", "", t.TM)                                                                                                \
    F(gemm_n_per_block, "kernel", "", t.TN)                                                                                                \
    F(pipeline, "kernel", "code", (double)c->pipeline)                                                                                     \
    F(num_warps, "kernel", "", t.B / 4)                                                                                                    \
    F(tile_volume, "kernel", "", t.TM *t.TN *t.B)                                                                                          \
    F(tile_mn, "kernel", "", t.TM *t.TN)                                                                                                   \
    F(lds_usage_estimate, "kernel", "bytes", t.lds)                                                                                        \
    F(lds_usage_ratio, "kernel", "", t.lds / fmax(c->pipeline == KW_COMPV4 ? 32768 : (double)h->lds_bytes, 1))                             \
    F(block_tile_ratio_m, "kernel", "", t.TM / fmax(t.B, 1))                                                                               \
    F(block_tile_ratio_n, "kernel", "", t.TN / fmax(t.B, 1))                                                                               \
    F(block_efficiency, "kernel", "", fmin(t.TM, t.TN) / fmax(fmax(t.TM, t.TN), 1))                                                        \
    F(is_compv3, "kernel", "", c->pipeline == KW_COMPV3)                                                                                   \
    F(is_compv4, "kernel", "", c->pipeline == KW_COMPV4)                                                                                   \
    F(is_compv5, "kernel", "", c->pipeline == KW_COMPV5)                                                                                   \
    F(is_intrawave, "suffix", "", !c->interwave)                                                                                           \
    F(has_dsb, "suffix", "", c->double_buffer)                                                                                             \
    F(has_si, "suffix", "", c->split_image)                                                                                                \
    F(is_basic, "suffix", "", c->basic)                                                                                                    \
    F(is_compv6, "suffix", "", c->pipeline == KW_COMPV6)                                                                                   \
    F(is_mem, "suffix", "", c->pipeline == KW_MEM)                                                                                         \
    F(gemm_m_output, "interaction", "rows", t.GM)                                                                                          \
    F(gemm_n_output, "interaction", "columns", t.GN)                                                                                       \
    F(gemm_k_output, "interaction", "", t.GK)                                                                                              \
    F(num_tiles_m, "interaction", "tiles", t.tiles_m)                                                                                      \
    F(num_tiles_n, "interaction", "tiles", t.tiles_n)                                                                                      \
    F(num_tiles_k, "interaction", "steps", t.tiles_k)                                                                                      \
    F(total_output_tiles, "interaction", "tiles", t.tiles_m *t.tiles_n)                                                                    \
    F(tile_eff_m, "interaction", "", t.eff_m)                                                                                              \
    F(tile_eff_n, "interaction", "", t.eff_n)                                                                                              \
    F(tile_eff_k, "interaction", "", t.eff_k)                                                                                              \
    F(overall_tile_efficiency, "interaction", "", t.eff_m *t.eff_n *t.eff_k)                                                               \
    F(cu_utilization, "interaction", "", t.tiles_m *t.tiles_n / fmax((double)h->cus, 1))                                                   \
    F(ratio_gemm_m_to_tile_m, "interaction", "", t.GM / fmax(t.TM, 1))                                                                     \
    F(ratio_gemm_n_to_tile_n, "interaction", "", t.GN / fmax(t.TN, 1))                                                                     \
    F(ratio_gemm_k_to_tile_k, "interaction", "", t.GK / fmax(t.B, 1))                                                                      \
    F(problem_smaller_than_tile_m, "interaction", "", t.GM < t.TM)                                                                         \
    F(problem_smaller_than_tile_n, "interaction", "", t.GN < t.TN)                                                                         \
    F(problem_smaller_than_tile_k, "interaction", "", t.GK < t.B)                                                                          \
    KW_CK_FEATURES_HARDWARE_COLUMNS(F)

static const kw_feature columns[] = {
#define COLUMN(name, group, unit, formula) {#name, group, unit, #formula, NULL},
    CONV_COLUMNS(COLUMN)
#undef COLUMN
};
_Static_assert(sizeof columns / sizeof *columns == KW_CK_FEATURES_CONV, "the published count");

const kw_feature_table kw_ck_features_conv_table = {"ck-conv-97", columns, KW_CK_FEATURES_CONV};

void kw_ck_features_conv_row(double row[KW_CK_FEATURES_CONV], const kw_ck_features_conv *c, const kw_ck_features_hardware *h) {
    terms t = conv_terms(c);
    size_t i = 0;
#define COLUMN(name, group, unit, formula) row[i++] = formula;
    CONV_COLUMNS(COLUMN)
#undef COLUMN
}
