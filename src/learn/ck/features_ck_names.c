/* features_ck_names.c: the kernel's part of a feature row, read from a kernel's name as their reader does.
 *
 *   grouped_conv_VARIANT_DTYPE_Nd_AxBxC_PIPELINE[_intrawave|_interwave][_dsb][_si]
 *   gemm[_universal]_DTYPE_LAYOUT_PIPELINE_EPILOGUE_SCHEDULER_PADM_PADN_PADK_PERSISTENT_TILE_WARPS_WARPTILE[_vecA_B_C]
 *
 * Pipelines and variants hold underscores, so the name is taken apart from the front with the longest match. */
#include "learn/ck/features_ck.h"

#include "base/text.h"

#include <string.h>

typedef struct word_code {
    const char *word;
    int code;
} word_code;

/* The longer of two that begin alike comes first. */
static const word_code pipelines[] = {
    {"compv3", KW_COMPV3},
    {"compv4", KW_COMPV4},
    {"compv5", KW_COMPV5},
    {"compv6", KW_COMPV6},
    {"preshufflev2", KW_PRESHUFFLEV2},
    {"mem", KW_MEM},
    {"basic_v1", KW_BASIC_V1},
    {NULL, 0},
};
static const word_code layouts[] = {{"rcr", 0}, {"rrr", 1}, {"crr", 2}, {"ccr", 3}, {NULL, 0}};
static const word_code epilogues[] = {{"default", 0}, {"cshuffle", 1}, {NULL, 0}};
static const word_code schedulers[] = {{"intrawave", 0}, {"interwave", 1}, {NULL, 0}};
static const word_code booleans[] = {{"True", 1}, {"False", 0}, {NULL, 0}};
/* Twice the bytes of an element: int4 has half a byte. */
static const word_code sizes[] = {{"fp32", 8}, {"fp16", 4}, {"bf16", 4}, {"fp8", 2}, {"bf8", 2}, {"int8", 2}, {"int4", 1}, {NULL, 0}};
static const word_code variants[] = {{"forward", 0}, {"bwd_data", 1}, {"bwd_weight", 2}, {NULL, 0}};

typedef struct reader {
    const char *name, *at;
    kw_error *err;
    kw_status status;
} reader;

static bool at_end_of_part(char c) {
    return !c || c == '_';
}

static void fail_name(reader *r, const char *what) {
    if (!r->status) {
        r->status = kw_fail(r->err, KW_MALFORMED, "kernel name %.120s: %s expected at \"%.40s\"", r->name, what, r->at);
    }
}

static bool skip_name_part(reader *r, const char *word) {
    size_t size = strlen(word);
    if (r->status || strncmp(r->at, word, size) || !at_end_of_part(r->at[size])) {
        return false;
    }
    r->at += size + (r->at[size] == '_');
    return true;
}

static int read_code(reader *r, const word_code *codes, const char *what) {
    for (; codes->word; codes++) {
        if (skip_name_part(r, codes->word)) {
            return codes->code;
        }
    }
    fail_name(r, what);
    return 0;
}

static void read_tile_sizes(reader *r, int64_t *a, int64_t *b, int64_t *c, const char *what) {
    kw_scan scan = kw_scan_string(r->at);
    if (kw_scan_int(&scan, 1, 65536, a) && kw_scan_char(&scan, 'x') && kw_scan_int(&scan, 1, 65536, b) && kw_scan_char(&scan, 'x') &&
        kw_scan_int(&scan, 1, 65536, c) && at_end_of_part(scan.at == scan.end ? 0 : *scan.at)) {
        r->at = scan.at + (scan.at != scan.end);
    } else {
        fail_name(r, what);
    }
}

static void expect_name_end(reader *r) {
    if (*r->at) {
        fail_name(r, "the end");
    }
}

kw_status kw_ck_features_conv_name(kw_ck_features_conv *conv, const char *name, kw_error *err) {
    reader r = {.name = name, .at = name, .err = err};
    if (!skip_name_part(&r, "grouped") || !skip_name_part(&r, "conv")) {
        fail_name(&r, "grouped_conv");
    }
    read_code(&r, variants, "forward, bwd_data or bwd_weight");
    conv->bytes_per_element = read_code(&r, sizes, "a data type") / 2.0;
    if (!skip_name_part(&r, "1d") && !skip_name_part(&r, "2d") && !skip_name_part(&r, "3d")) {
        fail_name(&r, "1d, 2d or 3d");
    }
    read_tile_sizes(&r, &conv->block_size, &conv->tile_m, &conv->tile_n, "a tile AxBxC");
    conv->basic = !strncmp(r.at, "basic_v", 7);
    if (skip_name_part(&r, "comp_async") || skip_name_part(&r, "basic_async_v1")) {
        conv->pipeline = KW_COMPV3; /* not in their table */
    } else {
        conv->pipeline = (kw_ck_features_pipeline)read_code(&r, pipelines, "a pipeline");
    }
    conv->interwave = skip_name_part(&r, "interwave");
    if (!conv->interwave) {
        skip_name_part(&r, "intrawave");
    }
    conv->double_buffer = skip_name_part(&r, "dsb");
    conv->split_image = skip_name_part(&r, "si");
    expect_name_end(&r);
    return r.status;
}

kw_status kw_ck_features_gemm_name(kw_ck_features_gemm *gemm, const char *name, kw_error *err) {
    reader r = {.name = name, .at = name, .err = err};
    if (!skip_name_part(&r, "gemm")) {
        fail_name(&r, "gemm");
    }
    skip_name_part(&r, "universal");
    gemm->bytes_per_element = read_code(&r, sizes, "a data type") / 2.0;
    gemm->layout = read_code(&r, layouts, "a layout");
    gemm->pipeline = (kw_ck_features_pipeline)read_code(&r, pipelines, "a pipeline");
    gemm->epilogue = read_code(&r, epilogues, "an epilogue");
    gemm->scheduler = read_code(&r, schedulers, "a scheduler");
    gemm->pad_m = read_code(&r, booleans, "True or False");
    gemm->pad_n = read_code(&r, booleans, "True or False");
    gemm->pad_k = read_code(&r, booleans, "True or False");
    gemm->persistent = read_code(&r, booleans, "True or False");
    read_tile_sizes(&r, &gemm->tile_m, &gemm->tile_n, &gemm->tile_k, "a tile AxBxC");
    read_tile_sizes(&r, &gemm->warp_m, &gemm->warp_n, &gemm->warp_k, "warps AxBxC");
    read_tile_sizes(&r, &gemm->warp_tile_m, &gemm->warp_tile_n, &gemm->warp_tile_k, "a warp tile AxBxC");
    if (strncmp(r.at, "vec", 3)) {
        expect_name_end(&r); /* fixed vector widths are no column of the 72 */
    }
    return r.status;
}
