/* ck_rows.c: problems and configs into the structs that the published columns are made of. */
#include "predict/ck/ck_rows.h"

#include "problem/names/names.h"

#include <string.h>

const kw_feature_table *kw_ck_table(kw_op op) {
    return op == KW_GEMM ? &kw_ck_features_gemm_table : &kw_ck_features_conv_table;
}

bool kw_ck_describes(const kw_config *config) {
    return kw_config_axis(config, "tile_m", 0) > 0 && kw_config_axis(config, "tile_k", 0) > 0 && kw_config_axis_word(config, "pipe").size;
}

/* An unknown pipeline counts as the first, as they have it. */
static kw_ck_features_pipeline pipeline_of(const kw_config *config) {
    static const struct {
        const char *word;
        kw_ck_features_pipeline code;
    } codes[] = {{"compv4", KW_COMPV4}, {"compv5", KW_COMPV5},    {"mem", KW_MEM}, {"preshufflev2", KW_PRESHUFFLEV2},
                 {"compv6", KW_COMPV6}, {"basic_v1", KW_BASIC_V1}};
    kw_word pipe = kw_config_axis_word(config, "pipe");
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (kw_word_is(pipe, codes[i].word)) {
            return codes[i].code;
        }
    }
    return KW_COMPV3;
}

static bool is_word(const kw_config *config, const char *axis, const char *word) {
    return kw_word_is(kw_config_axis_word(config, axis), word);
}

static void fill_conv_kernel(kw_ck_features_conv *conv, const kw_config *config) {
    conv->bytes_per_element = (double)kw_dtype_size(config->dtype);
    conv->block_size = kw_config_axis(config, "tile_m", 16);
    conv->tile_m = kw_config_axis(config, "tile_n", 64);
    conv->tile_n = kw_config_axis(config, "tile_k", 64);
    conv->pipeline = pipeline_of(config);
    conv->basic = kw_word_starts(kw_config_axis_word(config, "pipe"), "basic_v");
    conv->interwave = is_word(config, "sched", "interwave");
    conv->double_buffer = kw_config_axis(config, "dsb", kw_config_axis(config, "stages", 1) == 2);
    conv->split_image = kw_config_axis(config, "split_image", 0) != 0;
}

/* Kernels with pipeline mem pad whatever their name says; their converter sets the flags so. */
static void fill_gemm_kernel(kw_ck_features_gemm *gemm, const kw_config *config) {
    gemm->bytes_per_element = (double)kw_dtype_size(config->dtype);
    gemm->tile_m = kw_config_axis(config, "tile_m", 128);
    gemm->tile_n = kw_config_axis(config, "tile_n", 128);
    gemm->tile_k = kw_config_axis(config, "tile_k", 64);
    gemm->warp_m = kw_config_axis(config, "wave_m", 2);
    gemm->warp_n = kw_config_axis(config, "wave_n", 2);
    gemm->warp_k = kw_config_axis(config, "wave_k", 1);
    gemm->warp_tile_m = kw_config_axis(config, "inst_m", 32);
    gemm->warp_tile_n = kw_config_axis(config, "inst_n", 32);
    gemm->warp_tile_k = kw_config_axis(config, "inst_k", 16);
    gemm->pipeline = kw_config_axis(config, "preshuffle", 0) ? KW_PRESHUFFLEV2 : pipeline_of(config);
    gemm->scheduler = is_word(config, "sched", "interwave");
    gemm->epilogue = is_word(config, "epi", "cshuffle");
    bool pads = gemm->pipeline == KW_MEM;
    gemm->pad_m = pads || kw_config_axis(config, "pad_m", 0) != 0;
    gemm->pad_n = pads || kw_config_axis(config, "pad_n", 0) != 0;
    gemm->pad_k = pads || kw_config_axis(config, "pad_k", 0) != 0;
    gemm->persistent = kw_config_axis(config, "persistent", 0) != 0;
    gemm->split_k = kw_config_axis(config, "split_k", 1);
}

static void fill_conv_problem(kw_ck_features_conv *conv, const kw_problem *problem) {
    const kw_conv_dims *c = &problem->conv;
    conv->n = c->n;
    conv->c = c->c;
    conv->k = c->k;
    conv->g = c->g;
    conv->di = c->in[0];
    conv->hi = c->in[1];
    conv->wi = c->in[2];
    conv->z = c->filter[0];
    conv->y = c->filter[1];
    conv->x = c->filter[2];
    conv->stride_d = c->stride[0];
    conv->stride_h = c->stride[1];
    conv->stride_w = c->stride[2];
    conv->pad_d = c->pad[0];
    conv->pad_h = c->pad[1];
    conv->pad_w = c->pad[2];
    conv->dilation_d = c->dilation[0];
    conv->dilation_h = c->dilation[1];
    conv->dilation_w = c->dilation[2];
}

static void fill_gemm_problem(kw_ck_features_gemm *gemm, const kw_problem *problem) {
    gemm->m = problem->gemm.m;
    gemm->n = problem->gemm.n;
    gemm->k = problem->gemm.k;
    gemm->layout = problem->layout == KW_RRR ? 1 : problem->layout == KW_CRR ? 2 : problem->layout == KW_CCR ? 3 : 0;
}

void kw_ck_row(double *row, const kw_config *config, const kw_problem *problem, const kw_ck_features_hardware *hardware) {
    if (problem->op == KW_GEMM) {
        kw_ck_features_gemm gemm = kw_ck_features_gemm_defaults;
        fill_gemm_problem(&gemm, problem);
        fill_gemm_kernel(&gemm, config);
        kw_ck_features_gemm_row(row, &gemm, hardware);
    } else {
        kw_ck_features_conv conv = kw_ck_features_conv_defaults;
        fill_conv_problem(&conv, problem);
        fill_conv_kernel(&conv, config);
        kw_ck_features_conv_row(row, &conv, hardware);
    }
}

/* Of the kernel's columns one asks about the hardware, and one of the GEMM's problem is the kernel's. */
kw_forest_role kw_ck_role(const kw_feature_table *table, size_t column) {
    static const char *const problem_groups[] = {"problem", "depth", "group", "hardware"};
    const kw_feature *feature = &table->features[column];
    if (!strcmp(feature->name, "lds_usage_ratio")) {
        return KW_FOREST_PAIR;
    }
    if (!strcmp(feature->group, "kernel") || !strcmp(feature->group, "suffix") || !strcmp(feature->name, "split_k")) {
        return KW_FOREST_KERNEL;
    }
    for (size_t i = 0; i < sizeof problem_groups / sizeof *problem_groups; i++) {
        if (!strcmp(feature->group, problem_groups[i])) {
            return KW_FOREST_PROBLEM;
        }
    }
    return KW_FOREST_PAIR;
}
