/* ck_kernels.c: names of CK Tile's kernels taken apart. Pipelines and variants hold underscores, so a name is read from the front with the
 * longest match. */
#include "predict/ck/ck_kernels.h"

#include "base/math.h"
#include "problem/names/names.h"
#include "problem/view.h"

#include <string.h>

#define PIPELINES "compv3 compv4 compv5 compv6 preshufflev2 mem basic_v1 comp_async basic_async_v1 wavelet"
#define SIZE_MOST 65536

/* --- the families ------------------------------------------------------------------------------------------------------ */

enum {
    G_LAYOUT,
    G_TILE,
    G_WAVE = G_TILE + 3,
    G_INST = G_WAVE + 3,
    G_PIPE = G_INST + 3,
    G_SCHED,
    G_EPI,
    G_PAD,
    G_PERSISTENT = G_PAD + 3,
    G_VEC,
    G_SPLIT = G_VEC + 3,
    G_AXES
};
enum { C_NDIM, C_TILE, C_PIPE = C_TILE + 3, C_SCHED, C_DSB, C_SPLIT_IMAGE, C_MERGE, C_TWO_STAGE, C_AXES };

static const kw_axis gemm_axes[] = {
    {"layout", "rcr rrr crr ccr", 0, 0, "order of the matrices in memory"},
    {"tile_m", NULL, 1, SIZE_MOST, "rows of a block"},
    {"tile_n", NULL, 1, SIZE_MOST, "columns of a block"},
    {"tile_k", NULL, 1, SIZE_MOST, "depth of a step"},
    {"wave_m", NULL, 1, SIZE_MOST, "waves along the rows"},
    {"wave_n", NULL, 1, SIZE_MOST, "waves along the columns"},
    {"wave_k", NULL, 1, SIZE_MOST, "waves along the depth"},
    {"inst_m", NULL, 1, SIZE_MOST, "rows of a wave's instruction"},
    {"inst_n", NULL, 1, SIZE_MOST, "columns of a wave's instruction"},
    {"inst_k", NULL, 1, SIZE_MOST, "depth of a wave's instruction"},
    {"pipe", PIPELINES, 0, 0, "pipeline"},
    {"sched", "intrawave interwave", 0, 0, "scheduler"},
    {"epi", "default cshuffle", 0, 0, "epilogue"},
    {"pad_m", NULL, 0, 1, "serves any count of rows"},
    {"pad_n", NULL, 0, 1, "serves any count of columns"},
    {"pad_k", NULL, 0, 1, "serves any depth"},
    {"persistent", NULL, 0, 1, "each block takes tile after tile"},
    {"vec_a", NULL, 0, SIZE_MOST, "elements of A loaded together; 0: native"},
    {"vec_b", NULL, 0, SIZE_MOST, "elements of B loaded together; 0: native"},
    {"vec_c", NULL, 0, SIZE_MOST, "elements of C stored together; 0: native"},
    {"split_k", NULL, 1, SIZE_MOST, "parts that the depth is cut into"},
};
_Static_assert(sizeof gemm_axes / sizeof *gemm_axes == G_AXES, "an axis has its place");

static const kw_axis conv_axes[] = {
    {"ndim", NULL, 1, 3, "spatial axes"},
    {"tile_m", NULL, 1, SIZE_MOST, "rows of a block"},
    {"tile_n", NULL, 1, SIZE_MOST, "columns of a block"},
    {"tile_k", NULL, 1, SIZE_MOST, "depth of a step"},
    {"pipe", PIPELINES, 0, 0, "pipeline"},
    {"sched", "intrawave interwave", 0, 0, "scheduler"},
    {"dsb", NULL, 0, 1, "two tiles in shared memory"},
    {"split_image", NULL, 0, 1, "the image is cut into pieces"},
    {"merge", NULL, 1, SIZE_MOST, "groups that one product computes together"},
    {"two_stage", NULL, 0, 1, "sums go to an fp32 workspace"},
};
_Static_assert(sizeof conv_axes / sizeof *conv_axes == C_AXES, "an axis has its place");

static void ck_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    const kw_gemm_view view = kw_problem_view(problem);
    int64_t waves = kw_config_axis(config, "wave_m", 2) * kw_config_axis(config, "wave_n", 2) * kw_config_axis(config, "wave_k", 1);
    int64_t across = kw_ceil_div(kw_max(1, view.gn), kw_config_axis(config, "tile_n", 1));
    *launch = (kw_launch){.stages = 1};
    launch->stage[0].units =
        kw_ceil_div(kw_max(1, view.gm), kw_config_axis(config, "tile_m", 1)) * across * kw_max(1, view.batch) * kw_max(1, view.phases);
    launch->stage[0].threads = (int32_t)kw_min(1024, waves * kw_max(1, target->lanes));
}

#define CONVS (1u << KW_CONV_FWD | 1u << KW_CONV_BWD_DATA | 1u << KW_CONV_BWD_WEIGHT)
#define DTYPES ((1u << KW_INT32) - 1)

static const kw_family ck_gemm = {
    .name = "ck.gemm",
    .summary = "a GEMM kernel of CK Tile",
    .kind = KW_KIND_GPU,
    .ops = 1u << KW_GEMM,
    .dtypes = DTYPES,
    .axes = gemm_axes,
    .axis_count = G_AXES,
    .launch = ck_launch,
};

static const kw_family ck_conv = {
    .name = "ck.conv",
    .summary = "a grouped convolution kernel of CK Tile",
    .kind = KW_KIND_GPU,
    .ops = CONVS,
    .dtypes = DTYPES,
    .axes = conv_axes,
    .axis_count = C_AXES,
    .launch = ck_launch,
};

kw_status kw_ck_config_fits(const kw_config *config, const kw_problem *problem, kw_error *err) {
    bool same = config->op == problem->op && config->dtype == problem->dtype;
    if (same && problem->op == KW_GEMM) {
        same = kw_word_is(kw_config_axis_word(config, "layout"), kw_layout_name(problem->layout, 0));
    } else if (same) {
        same = config->axis[C_NDIM] == problem->ndim;
    }
    return same ? KW_OK : kw_fail(err, KW_NO_KERNEL, "the kernel is of another operation, type, layout or number of axes");
}

/* --- names ------------------------------------------------------------------------------------------------------------- */

typedef struct word_code {
    const char *word;
    int code;
} word_code;

static const word_code variants[] = {
    {"forward", KW_CONV_FWD}, {"bwd_data", KW_CONV_BWD_DATA}, {"bwd_weight", KW_CONV_BWD_WEIGHT}, {NULL, 0}};
static const word_code booleans[] = {{"True", 1}, {"False", 0}, {NULL, 0}};

typedef struct reader {
    const char *name, *at;
    kw_config *config;
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

static bool skip_part(reader *r, const char *word, size_t size) {
    if (r->status || strncmp(r->at, word, size) || !at_end_of_part(r->at[size])) {
        return false;
    }
    r->at += size + (r->at[size] == '_');
    return true;
}

static bool skip_name_part(reader *r, const char *word) {
    return skip_part(r, word, strlen(word));
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

/* One of the words of an axis. */
static void read_axis_word(reader *r, int axis, const char *what) {
    kw_scan scan = kw_scan_string(r->config->family->axes[axis].words);
    kw_word word;
    for (int i = 0; kw_scan_word(&scan, &word); i++) {
        if (skip_part(r, word.at, word.size)) {
            r->config->axis[axis] = i;
            return;
        }
    }
    fail_name(r, what);
}

static void read_name_dtype(reader *r) {
    for (kw_dtype dtype = 0; dtype < KW_INT32; dtype++) {
        if (skip_name_part(r, kw_dtype_name(dtype))) {
            r->config->dtype = dtype;
            return;
        }
    }
    fail_name(r, "one of " KW_DTYPE_WORDS(", "));
}

/* "64x128x32" into an axis and the two behind it; separator is 'x' or, of vectors, '_'. */
static void read_triple(reader *r, int axis, char separator, int64_t low, const char *what) {
    kw_scan scan = kw_scan_string(r->at);
    int64_t value[3] = {0};
    bool good = true;
    for (int i = 0; i < 3 && good; i++) {
        good = (!i || kw_scan_char(&scan, separator)) && kw_scan_int(&scan, low, SIZE_MOST, &value[i]);
        r->config->axis[axis + i] = (int32_t)value[i];
    }
    if (r->status || !good || !at_end_of_part(scan.at == scan.end ? 0 : *scan.at)) {
        fail_name(r, what);
        return;
    }
    r->at = scan.at + (scan.at != scan.end);
}

static void expect_name_end(reader *r) {
    if (*r->at) {
        fail_name(r, "the end");
    }
}

/* dsb, si, gmN and 2stage in any order, each once. */
static void read_conv_suffixes(reader *r) {
    int32_t *axis = r->config->axis;
    axis[C_MERGE] = 1;
    for (bool more = true; more && !r->status && *r->at;) {
        int64_t merge = 0;
        kw_scan scan = kw_scan_string(r->at);
        more = false;
        if (!axis[C_DSB] && skip_name_part(r, "dsb")) {
            axis[C_DSB] = more = true;
        } else if (!axis[C_SPLIT_IMAGE] && skip_name_part(r, "si")) {
            axis[C_SPLIT_IMAGE] = more = true;
        } else if (!axis[C_TWO_STAGE] && skip_name_part(r, "2stage")) {
            axis[C_TWO_STAGE] = more = true;
        } else if (axis[C_MERGE] == 1 && kw_scan_char(&scan, 'g') && kw_scan_char(&scan, 'm') && kw_scan_int(&scan, 2, SIZE_MOST, &merge) &&
                   at_end_of_part(scan.at == scan.end ? 0 : *scan.at)) {
            axis[C_MERGE] = (int32_t)merge;
            r->at = scan.at + (scan.at != scan.end);
            more = true;
        }
    }
}

static void read_conv_name(reader *r) {
    static const char *const dims[] = {"1d", "2d", "3d"};
    r->config->family = &ck_conv;
    r->config->op = (kw_op)read_code(r, variants, "forward, bwd_data or bwd_weight");
    read_name_dtype(r);
    for (int i = 0; i < 3; i++) {
        r->config->axis[C_NDIM] = r->config->axis[C_NDIM] ? r->config->axis[C_NDIM] : skip_name_part(r, dims[i]) ? i + 1 : 0;
    }
    if (!r->config->axis[C_NDIM]) {
        fail_name(r, "1d, 2d or 3d");
    }
    read_triple(r, C_TILE, 'x', 1, "a tile AxBxC");
    read_axis_word(r, C_PIPE, "a pipeline");
    r->config->axis[C_SCHED] = skip_name_part(r, "interwave");
    if (!r->config->axis[C_SCHED]) {
        skip_name_part(r, "intrawave");
    }
    read_conv_suffixes(r);
    expect_name_end(r);
}

static void read_gemm_name(reader *r) {
    r->config->family = &ck_gemm;
    r->config->op = KW_GEMM;
    skip_name_part(r, "universal");
    read_name_dtype(r);
    read_axis_word(r, G_LAYOUT, "a layout");
    read_axis_word(r, G_PIPE, "a pipeline");
    read_axis_word(r, G_EPI, "an epilogue");
    read_axis_word(r, G_SCHED, "a scheduler");
    for (int i = G_PAD; i <= G_PERSISTENT; i++) {
        r->config->axis[i] = read_code(r, booleans, "True or False");
    }
    read_triple(r, G_TILE, 'x', 1, "a tile AxBxC");
    read_triple(r, G_WAVE, 'x', 1, "warps AxBxC");
    read_triple(r, G_INST, 'x', 1, "a warp tile AxBxC");
    if (!r->status && !strncmp(r->at, "vec", 3)) {
        r->at += 3;
        read_triple(r, G_VEC, '_', 0, "vector widths A_B_C");
    }
    r->config->axis[G_SPLIT] = 1;
    if (!r->status && !strncmp(r->at, "splitk", 6)) {
        int64_t parts = 0;
        kw_word rest = {r->at + 6, strlen(r->at + 6)};
        if (kw_word_int(rest, 2, SIZE_MOST, &parts)) {
            r->at += strlen(r->at);
            r->config->axis[G_SPLIT] = (int32_t)parts;
        }
    }
    expect_name_end(r);
}

kw_status kw_ck_config_read(kw_config *config, const char *name, kw_error *err) {
    reader r = {.name = name, .at = name, .config = config, .err = err};
    memset(config, 0, sizeof *config);
    skip_name_part(&r, "benchmark");
    if (skip_name_part(&r, "grouped") && skip_name_part(&r, "conv")) {
        read_conv_name(&r);
    } else if (skip_name_part(&r, "gemm")) {
        read_gemm_name(&r);
    } else {
        fail_name(&r, "grouped_conv or gemm");
    }
    return r.status;
}
