/* import_miopen.c: lines of MIOpenDriver, "conv -n 32 -c 64 -H 56 -W 56 -k 64 -y 3 -x 3 -p 1 -q 1 -F 1", as its log prints them. One
 * table says what each option is to us: a number of the problem, a layout, a setting that must keep its neutral value because we have
 * nothing like it, or a matter of running and timing that does not touch the problem. What a line leaves out has MIOpenDriver's default. */
#include "problem/import/import.h"

#include <string.h>

typedef struct settings {
    int64_t forward, spatial, n, g, c, k, in[3], filter[3], stride[3], pad[3], dilation[3]; /* convolution */
    int64_t batch, m, columns, depth, transpose_a, transpose_b, column_major;               /* GEMM: n is columns, k is depth */
    kw_word layout[KW_TENSOR_COUNT];
    uint64_t seen; /* bits of the options table */
} settings;

typedef enum kind { NUMBER, LAYOUT, NEUTRAL, OTHER } kind;

typedef struct option {
    const char *name;
    char letter;
    kind kind;
    size_t offset;        /* of the field in settings */
    int64_t low;          /* of a number */
    const char *neutrals; /* words that change nothing, the first being the default */
} option;

static const option conv_options[] = {
    {"forw", 'F', NUMBER, offsetof(settings, forward), 0, NULL},
    {"spatial_dim", '_', NUMBER, offsetof(settings, spatial), 2, NULL},
    {"batchsize", 'n', NUMBER, offsetof(settings, n), 1, NULL},
    {"group_count", 'g', NUMBER, offsetof(settings, g), 1, NULL},
    {"in_channels", 'c', NUMBER, offsetof(settings, c), 1, NULL},
    {"out_channels", 'k', NUMBER, offsetof(settings, k), 1, NULL},
    {"in_d", '!', NUMBER, offsetof(settings, in[0]), 1, NULL},
    {"in_h", 'H', NUMBER, offsetof(settings, in[1]), 1, NULL},
    {"in_w", 'W', NUMBER, offsetof(settings, in[2]), 1, NULL},
    {"fil_d", '@', NUMBER, offsetof(settings, filter[0]), 1, NULL},
    {"fil_h", 'y', NUMBER, offsetof(settings, filter[1]), 1, NULL},
    {"fil_w", 'x', NUMBER, offsetof(settings, filter[2]), 1, NULL},
    {"conv_stride_d", '#', NUMBER, offsetof(settings, stride[0]), 1, NULL},
    {"conv_stride_h", 'u', NUMBER, offsetof(settings, stride[1]), 1, NULL},
    {"conv_stride_w", 'v', NUMBER, offsetof(settings, stride[2]), 1, NULL},
    {"conv_stride_0", 0, NUMBER, offsetof(settings, stride[1]), 1, NULL}, /* names of older versions */
    {"conv_stride_1", 0, NUMBER, offsetof(settings, stride[2]), 1, NULL},
    {"pad_d", '$', NUMBER, offsetof(settings, pad[0]), 0, NULL},
    {"pad_h", 'p', NUMBER, offsetof(settings, pad[1]), 0, NULL},
    {"pad_w", 'q', NUMBER, offsetof(settings, pad[2]), 0, NULL},
    {"dilation_d", '^', NUMBER, offsetof(settings, dilation[0]), 1, NULL},
    {"dilation_h", 'l', NUMBER, offsetof(settings, dilation[1]), 1, NULL},
    {"dilation_w", 'j', NUMBER, offsetof(settings, dilation[2]), 1, NULL},
    {"in_layout", 'I', LAYOUT, offsetof(settings, layout[KW_X]), 0, NULL},
    {"fil_layout", 'f', LAYOUT, offsetof(settings, layout[KW_W]), 0, NULL},
    {"out_layout", 'O', LAYOUT, offsetof(settings, layout[KW_Y]), 0, NULL},
    {"mode", 'm', NEUTRAL, 0, 0, "conv"},
    {"pad_mode", 'z', NEUTRAL, 0, 0, "default"},
    {"pad_val", 'r', NEUTRAL, 0, 0, "0"},
    {"bias", 'b', NEUTRAL, 0, 0, "0"},
    {"tensor_vect", 'Z', NEUTRAL, 0, 0, "0"},
    {"vector_length", 'L', NEUTRAL, 0, 0, "1"},
    {"trans_output_pad_d", '%', NEUTRAL, 0, 0, "0"},
    {"trans_output_pad_h", 'Y', NEUTRAL, 0, 0, "0"},
    {"trans_output_pad_w", 'X', NEUTRAL, 0, 0, "0"},
    {"iter", 'i', OTHER, 0, 0, NULL},
    {"verify", 'V', OTHER, 0, 0, NULL},
    {"verification_cache", 'C', OTHER, 0, 0, NULL},
    {"time", 't', OTHER, 0, 0, NULL},
    {"wall", 'w', OTHER, 0, 0, NULL},
    {"search", 's', OTHER, 0, 0, NULL},
    {"printconv", 'P', OTHER, 0, 0, NULL},
    {"dump_output", 'o', OTHER, 0, 0, NULL},
    {"in_data", 'd', OTHER, 0, 0, NULL},
    {"weights", 'e', OTHER, 0, 0, NULL},
    {"in_bias", 'a', OTHER, 0, 0, NULL},
    {"dout_data", 'D', OTHER, 0, 0, NULL},
    {"solution", 'S', OTHER, 0, 0, NULL},
    {0},
};

static const option gemm_options[] = {
    {"batch_count", 'b', NUMBER, offsetof(settings, batch), 1, NULL},
    {"a_h", 'm', NUMBER, offsetof(settings, m), 1, NULL},
    {"a_w", 'k', NUMBER, offsetof(settings, depth), 1, NULL},
    {"b_w", 'n', NUMBER, offsetof(settings, columns), 1, NULL},
    {"transA", 'u', NUMBER, offsetof(settings, transpose_a), 0, NULL},
    {"transB", 'v', NUMBER, offsetof(settings, transpose_b), 0, NULL},
    {"isColMajor", 'C', NUMBER, offsetof(settings, column_major), 0, NULL},
    {"alpha", 'A', NEUTRAL, 0, 0, "1 1.0"},
    {"beta", 'B', NEUTRAL, 0, 0, "0 0.0"},
    {"forw", 'F', NEUTRAL, 0, 0, "1"},
    {"iter", 'i', OTHER, 0, 0, NULL},
    {"verify", 'V', OTHER, 0, 0, NULL},
    {"time", 't', OTHER, 0, 0, NULL},
    {0},
};

_Static_assert(sizeof conv_options / sizeof *conv_options <= 64, "settings.seen has a bit for each option");

static const settings defaults = {
    .spatial = 2,
    .n = 100,
    .g = 1,
    .c = 3,
    .k = 32,
    .in = {32, 32, 32},
    .filter = {3, 3, 3},
    .stride = {1, 1, 1},
    .dilation = {1, 1, 1},
    .batch = 1,
    .m = 256,
    .columns = 256,
    .depth = 256,
};

static const struct {
    const char *name;
    bool gemm;
    kw_dtype dtype;
} drivers[] = {
    {"conv", false, KW_FP32},   {"convfp16", false, KW_FP16}, {"convbfp16", false, KW_BF16}, {"convint8", false, KW_INT8},
    {"convfp8", false, KW_FP8}, {"convbfp8", false, KW_BF8},  {"gemm", true, KW_FP32},       {"gemmfp16", true, KW_FP16},
};

enum { DRIVERS = sizeof drivers / sizeof *drivers };

static int find_driver(kw_word word) {
    int i = 0;
    while (i < DRIVERS && !kw_word_is(word, drivers[i].name)) {
        i++;
    }
    return i;
}

bool kw_import_miopen_names(kw_word word) {
    return find_driver(word) < DRIVERS && !kw_word_is(word, kw_op_name(KW_GEMM));
}

/* "-n" or "--batchsize". */
static const option *find_miopen_option(const option *options, kw_word word) {
    bool whole = kw_word_starts(word, "--");
    kw_word name = {word.at + 2, word.size > 2 ? word.size - 2 : 0};
    for (; options->name; options++) {
        if (whole ? kw_word_is(name, options->name)
                  : word.size == 2 && word.at[0] == '-' && options->letter && word.at[1] == options->letter) {
            return options;
        }
    }
    return NULL;
}

static bool is_one_of(kw_word word, const char *list) {
    kw_scan scan = kw_scan_string(list);
    kw_word each;
    while (kw_scan_word(&scan, &each)) {
        if (each.size == word.size && !memcmp(each.at, word.at, word.size)) {
            return true;
        }
    }
    return false;
}

static kw_status take_miopen_option(settings *all, const option *of, kw_word value, kw_error *err) {
    char *field = (char *)all + of->offset;
    int64_t number = 0;
    switch (of->kind) {
    case NUMBER:
        if (!kw_word_int(value, of->low, INT64_MAX, &number)) {
            return kw_fail(err, KW_MALFORMED, "MIOpenDriver line: --%s \"%.*s\" is not a whole number of at least %d", of->name,
                           KW_WORD(value), (int)of->low);
        }
        memcpy(field, &number, sizeof number);
        return KW_OK;
    case LAYOUT:
        memcpy(field, &value, sizeof value);
        return KW_OK;
    case NEUTRAL:
        if (!is_one_of(value, of->neutrals)) {
            return kw_fail(err, KW_ILLEGAL, "MIOpenDriver line: --%s %.*s has no counterpart here; only --%s %.*s can be read", of->name,
                           KW_WORD(value), of->name, (int)strcspn(of->neutrals, " "), of->neutrals);
        }
        return KW_OK;
    case OTHER:
        break;
    }
    return KW_OK;
}

static kw_status read_miopen_options(settings *all, const option *options, kw_scan scan, kw_error *err) {
    kw_word word, value;
    *all = defaults;
    while (kw_scan_word(&scan, &word)) {
        const option *found = find_miopen_option(options, word);
        if (!found) {
            return kw_fail(err, KW_MALFORMED,
                           "MIOpenDriver line: \"%.*s\" is not an option of its %s driver; options come as -n 32 or --batchsize 32",
                           KW_WORD(word), options == conv_options ? "conv" : "gemm");
        }
        uint64_t bit = (uint64_t)1 << (found - options);
        if (all->seen & bit) {
            return kw_fail(err, KW_MALFORMED, "MIOpenDriver line: \"%.*s\" comes a second time; keep one", KW_WORD(word));
        }
        all->seen |= bit;
        if (!kw_scan_word(&scan, &value)) {
            return kw_fail(err, KW_MALFORMED, "MIOpenDriver line: \"%.*s\" is last and has no value; add it", KW_WORD(word));
        }
        kw_status status = take_miopen_option(all, found, value, err);
        if (status) {
            return status;
        }
    }
    return KW_OK;
}

/* The filter may lie in another order than the images' layout has it. */
static kw_status take_layout(kw_problem *problem, const settings *all, kw_error *err) {
    static const char *const names[KW_TENSOR_COUNT] = {"--in_layout", "--fil_layout", "--out_layout"};
    bool flat = all->spatial == 2, last[KW_TENSOR_COUNT] = {false}, turned = false;
    for (kw_tensor tensor = 0; tensor < KW_TENSOR_COUNT; tensor++) {
        kw_word word = all->layout[tensor];
        last[tensor] = kw_word_is(word, flat ? "NHWC" : "NDHWC");
        bool filter = tensor == KW_W && kw_word_is(word, flat ? "CHWN" : "CDHWN");
        turned |= filter;
        if (word.size && !last[tensor] && !filter && !kw_word_is(word, flat ? "NCHW" : "NCDHW")) {
            return kw_fail(err, KW_ILLEGAL, "MIOpenDriver line: %s %.*s is not possible here; use %s%s", names[tensor], KW_WORD(word),
                           flat ? "NCHW or NHWC" : "NCDHW or NDHWC",
                           tensor != KW_W ? ""
                           : flat         ? ", or CHWN"
                                          : ", or CDHWN");
        }
    }
    if (last[KW_X] != last[KW_Y]) {
        return kw_fail(err, KW_ILLEGAL,
                       "MIOpenDriver line: input and output have different layouts (what is not said is %s); give -I and -O the same",
                       flat ? "NCHW" : "NCDHW");
    }
    problem->layout = last[KW_X] ? KW_CHANNELS_LAST : KW_CHANNELS_FIRST;
    problem->filter_order = turned ? KW_FILTER_CRSK : last[KW_W] ? KW_FILTER_KRSC : KW_FILTER_KCRS;
    return KW_OK;
}

static kw_status make_miopen_conv(kw_problem *problem, uint32_t *ops, const settings *all, kw_error *err) {
    static const kw_op bits[] = {KW_CONV_FWD, KW_CONV_BWD_DATA, KW_CONV_BWD_WEIGHT};
    if (all->forward > 7) {
        return kw_fail(err, KW_ILLEGAL,
                       "MIOpenDriver line: -F %lld is not a sum of directions: 1 is conv_fwd, 2 conv_bwd_data, 4 conv_bwd_weight, 0 all",
                       (long long)all->forward);
    }
    for (int i = 2; i >= 0; i--) {
        if (!all->forward || all->forward >> i & 1) {
            *ops |= 1u << bits[i];
            problem->op = bits[i];
        }
    }
    if (all->spatial != 2 && all->spatial != 3) {
        return kw_fail(err, KW_ILLEGAL, "MIOpenDriver line: --spatial_dim %lld is not 2 or 3", (long long)all->spatial);
    }
    problem->ndim = (int32_t)all->spatial;
    kw_conv_dims *conv = &problem->conv;
    *conv = (kw_conv_dims){.n = all->n, .g = all->g, .c = all->c, .k = all->k};
    for (int axis = 0; axis < 3; axis++) {
        bool used = axis >= 3 - problem->ndim;
        conv->in[axis] = used ? all->in[axis] : 1;
        conv->filter[axis] = used ? all->filter[axis] : 1;
        conv->stride[axis] = used ? all->stride[axis] : 1;
        conv->dilation[axis] = used ? all->dilation[axis] : 1;
        conv->pad[axis] = conv->pad_back[axis] = used ? all->pad[axis] : 0;
    }
    return take_layout(problem, all, err);
}

kw_status kw_import_miopen(kw_problem *problem, uint32_t *ops, kw_scan scan, kw_error *err) {
    kw_word word = {"", 0};
    kw_scan_word(&scan, &word);
    int driver = find_driver(word);
    if (driver == DRIVERS) {
        return kw_fail(err, KW_ILLEGAL,
                       "MIOpenDriver line: \"%.*s\" is no driver that can be read; use conv, convfp16, convbfp16, convint8, convfp8, "
                       "convbfp8, gemm or gemmfp16",
                       KW_WORD(word));
    }
    settings all;
    kw_status status = read_miopen_options(&all, drivers[driver].gemm ? gemm_options : conv_options, scan, err);
    if (status) {
        return status;
    }
    memset(problem, 0, sizeof *problem);
    problem->dtype = drivers[driver].dtype;
    if (drivers[driver].gemm) {
        kw_import_product(problem, all.batch, (int64_t[]){all.m, all.columns, all.depth}, all.transpose_a != 0, all.transpose_b != 0,
                          all.column_major != 0);
        return KW_OK;
    }
    return make_miopen_conv(problem, ops, &all, err);
}
