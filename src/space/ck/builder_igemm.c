/* builder_igemm.c: where a form of line keeps which value is a table; what follows from the values (waves, depth of the instruction) is
 * computed as the lists' own tools do. Lines that differ only in what the generator decides itself (how threads are laid out for a copy)
 * become one config. */
#include "space/ck/builder_igemm.h"

#include "base/math.h"

#include <string.h>

enum { NONE = -1 };

/* Places of values in a line, counted from 0; NONE where the form has no such value. */
typedef struct form {
    const char *name; /* for messages */
    kw_op op;
    const char *mark; /* the instance's name has it; "" for any */
    int least, most;  /* values */
    int spec, block, tile, k1, xdl, repeats;
    int vec_a, vec_b, vec_c;
    int sched, version, direct, merge;
    bool k_in_k1, split_image, two_stage; /* k_in_k1: the depth is counted in vectors of k1 */
} form;

/* The first that matches is taken: more special names stand before less special ones. */
static const form forms[] = {
    {"forward, large tensors",
     KW_CONV_FWD,
     "Large_Tensor",
     45,
     64,
     14,
     17,
     18,
     21,
     23,
     25,
     31,
     38,
     44,
     NONE,
     NONE,
     NONE,
     NONE,
     false,
     true,
     false},
    {"forward V3", KW_CONV_FWD, "V3", 46, 64, 14, 16, 17, 20, 22, 24, 30, 37, 43, 44, 45, 48, 49, false, false, false},
    {"forward, short", KW_CONV_FWD, "", 14, 16, 4, 0, 1, NONE, 5, 7, 9, 10, 11, 14, 15, NONE, 14, false, false, false},
    {"forward V1", KW_CONV_FWD, "", 45, 64, 14, 17, 18, 21, 23, 25, 31, 38, 44, NONE, NONE, NONE, 48, false, false, false},
    {"backward weight, two stages",
     KW_CONV_BWD_WEIGHT,
     "TwoStage",
     41,
     64,
     11,
     12,
     13,
     16,
     17,
     19,
     25,
     32,
     38,
     39,
     40,
     NONE,
     41,
     false,
     false,
     true},
    {"backward weight V3", KW_CONV_BWD_WEIGHT, "V3", 41, 64, 11, 12, 13, 16, 17, 19, 25, 32, 38, 39, 40, 43, 44, false, false, false},
    {"backward weight V1", KW_CONV_BWD_WEIGHT, "", 39, 64, 11, 12, 13, 16, 17, 19, 25, 32, 38, NONE, NONE, NONE, NONE, true, false, false},
    {"backward data V1", KW_CONV_BWD_DATA, "", 47, 64, 13, 17, 18, 21, 23, 25, 31, 38, 44, 46, NONE, NONE, NONE, false, false, false},
};

static const kw_builder_word specs[] = {{"default", "default"},
                                        {"oddc", "default"},
                                        {"filter1x1pad0", "filter1x1_pad0"},
                                        {"filter1x1_pad0", "filter1x1_pad0"},
                                        {"filter1x1stride1pad0", "filter1x1_stride1_pad0"},
                                        {"filter1x1_stride1_pad0", "filter1x1_stride1_pad0"},
                                        {"filter3x3", "filter3x3"},
                                        {0}};
static const kw_builder_word scheds[] = {{"intrawave", "intrawave"}, {"interwave", "interwave"}, {"default", "intrawave"}, {0}};
static const kw_builder_word versions[] = {{"v1", "basic_v1"}, {"v2", "mem"}, {"v3", "compv3"}, {"v4", "compv4"}, {"v5", "compv6"}, {0}};
/* Instances that copy without registers. */
static const kw_builder_word direct_versions[] = {{"v1", "basic_async_v1"}, {"v4", "mem"}, {0}};
static const kw_builder_word pipelines[] = {{"basic_v1", "basic_v1"},
                                            {"compv1", "basic_v1"},
                                            {"compute_v1", "basic_v1"},
                                            {"mem", "mem"},
                                            {"memory", "mem"},
                                            {"compv3", "compv3"},
                                            {"compute_v3", "compv3"},
                                            {"compv4", "compv4"},
                                            {"compute_v4", "compv4"},
                                            {"compv5", "compv5"},
                                            {"compute_v5", "compv5"},
                                            {"compv6", "compv6"},
                                            {"compute_v6", "compv6"},
                                            {"compute_async", "mem"},
                                            {"basic_async_v1", "basic_async_v1"},
                                            {"wavelet", "wavelet"},
                                            {0}};

static int32_t form_axis(const kw_builder_line *in, const char *name) {
    return kw_config_axis(&in->config, name, 0);
}

static bool is_pipe(const kw_builder_line *in, const char *name) {
    return kw_word_is(kw_config_axis_word(&in->config, "pipe"), name);
}

static void set_axis_value(kw_config *config, const char *name, int32_t value) {
    int axis = kw_family_axis(config->family, (kw_word){name, strlen(name)});
    if (axis >= 0) {
        config->axis[axis] = value;
    }
}

void kw_igemm_complete(kw_config *config) {
    kw_word pipe = kw_config_axis_word(config, "pipe");
    if (kw_word_is(pipe, "compv4") || kw_word_is(pipe, "comp_async")) {
        set_axis_value(config, "stages", 2);
    }
    bool parts = config->op == KW_CONV_BWD_WEIGHT && kw_word_is(kw_config_axis_word(config, "streamk"), "off");
    set_axis_value(config, "split_k", parts ? 0 : 1);
}

/* The depth of the instruction: as deep as a lane's 16 bytes or the vectors of the list, within the tile. */
static int64_t instruction_depth(const kw_builder_line *in, int64_t side, int64_t k1, int64_t k) {
    bool half = kw_dtype_size(in->config.dtype) == 2;
    int64_t own = half ? (side == 32 ? 16 : 32) : side == 32 ? 2 : 4;
    return kw_min(kw_max(k1, own), k);
}

/* What decides a tile: each pair is along m and n. */
typedef struct layout {
    int64_t block, tile[3], xdl[2], repeats[2], k1;
} layout;

/* Waves follow from tile, instruction and repeats; what is left of the block divides the depth. */
static kw_status set_tile(kw_builder_line *in, const layout *l, int64_t wave) {
    const int64_t *tile = l->tile, part[2] = {l->xdl[0] * l->repeats[0], l->xdl[1] * l->repeats[1]};
    if (!part[0] || !part[1] || tile[0] % part[0] || tile[1] % part[1] || !tile[0] || !tile[1]) {
        return kw_fail(in->err, KW_ILLEGAL, "%s: a tile of %lldx%lld is no whole number of waves of %lldx%lld", in->place,
                       (long long)tile[0], (long long)tile[1], (long long)part[0], (long long)part[1]);
    }
    int64_t waves[2] = {tile[0] / part[0], tile[1] / part[1]}, threads = wave * waves[0] * waves[1];
    if (l->block % threads || !l->block) {
        return kw_fail(in->err, KW_ILLEGAL, "%s: a block of %lld threads is no multiple of the %lld of %lldx%lld waves", in->place,
                       (long long)l->block, (long long)threads, (long long)waves[0], (long long)waves[1]);
    }
    const struct {
        const char *axis;
        int64_t value;
    } all[] = {{"tile_m", tile[0]},   {"tile_n", tile[1]},   {"tile_k", tile[2]},
               {"wave_m", waves[0]},  {"wave_n", waves[1]},  {"wave_k", l->block / threads},
               {"inst_m", l->xdl[0]}, {"inst_n", l->xdl[1]}, {"inst_k", instruction_depth(in, l->xdl[0], l->k1, tile[2])}};
    kw_status status = KW_OK;
    for (size_t i = 0; !status && i < sizeof all / sizeof *all; i++) {
        status = kw_builder_set(in, all[i].axis, all[i].value);
    }
    return status;
}

static kw_status take_tile(kw_builder_line *in, const form *f, int64_t wave) {
    layout l = {0};
    kw_status status = kw_builder_number(in, f->block, &l.block);
    for (int i = 0; i < 3; i++) {
        status = status ? status : kw_builder_number(in, f->tile + i, &l.tile[i]);
    }
    for (int i = 0; i < 2; i++) {
        status = status ? status : kw_builder_number(in, f->xdl + i, &l.xdl[i]);
        status = status ? status : kw_builder_number(in, f->repeats + i, &l.repeats[i]);
    }
    if (!status && f->k1 != NONE) {
        status = kw_builder_number(in, f->k1, &l.k1);
        l.tile[2] *= f->k_in_k1 ? l.k1 : 1;
    } else {
        l.k1 = !status && l.tile[2] <= 16 ? 4 : 8;
    }
    return status ? status : set_tile(in, &l, wave);
}

static kw_status take_pipeline(kw_builder_line *in, const form *f) {
    static const char wavelet[] = "WAVELET";
    bool versioned = f->version != NONE && f->version < in->count;
    kw_status status = KW_OK;
    if (f->sched != NONE && (versioned || f->version == NONE)) {
        status = f->sched < in->count ? kw_builder_set_word(in, "sched", kw_builder_unqualified(in->value[f->sched]), scheds) : KW_OK;
    } else {
        status = kw_builder_set_word(in, "sched", (kw_word){"default", 7}, scheds);
    }
    kw_word version = versioned ? kw_builder_unqualified(in->value[f->version]) : (kw_word){"v1", 2};
    bool direct = f->direct != NONE && f->direct < in->count &&
                  (kw_builder_equals(in->value[f->direct], "true") || kw_builder_equals(in->value[f->direct], "1"));
    if (status) {
        return status;
    }
    if (kw_builder_contains(in->name, wavelet) || kw_builder_equals(version, wavelet)) {
        return kw_builder_set_word(in, "pipe", (kw_word){"wavelet", 7}, pipelines);
    }
    return kw_builder_set_word(in, "pipe", version, direct ? direct_versions : versions);
}

static kw_status take_form(kw_builder_line *in, const form *f, int64_t wave) {
    kw_status status = take_tile(in, f, wave);
    status = status ? status : kw_builder_set_word(in, "spec", kw_builder_unqualified(in->value[f->spec]), specs);
    status = status ? status : kw_builder_set_number(in, "vec_a", f->vec_a);
    status = status ? status : kw_builder_set_number(in, "vec_b", f->vec_b);
    status = status ? status : kw_builder_set_number(in, "vec_c", f->vec_c);
    status = status ? status : take_pipeline(in, f);
    /* A short line of 16 values has a schedule where one of 15 has the count of groups. */
    bool merged = f->merge != NONE && f->merge < in->count && (f->merge != f->sched || in->count == f->merge + 1);
    status = status || !merged ? status : kw_builder_set_number(in, "merge", f->merge);
    status = status ? status : kw_builder_set(in, "split_image", f->split_image);
    return status ? status : kw_builder_set(in, "two_stage", f->two_stage);
}

/* A kernel of CK Tile by its own name: all values stand in the order of its template. */
static kw_status take_native(kw_builder_line *in) {
    static const struct {
        const char *axis;
        int place;
    } whole[] = {{"ndim", 0},    {"vec_a", 6},   {"vec_b", 7},   {"vec_c", 8},   {"merge", 9},
                 {"tile_m", 12}, {"tile_n", 13}, {"tile_k", 14}, {"wave_m", 15}, {"wave_n", 16},
                 {"wave_k", 17}, {"inst_m", 18}, {"inst_n", 19}, {"inst_k", 20}, {"wave_groups", 26}};
    static const kw_builder_word reductions[] = {{"1", "linear"}, {"2", "tree"}, {"linear", "linear"}, {"tree", "tree"}, {0}};
    enum {
        SPEC = 1,
        SPLIT = 10,
        EXPLICIT = 11,
        PIPE = 23,
        SCHED = 24,
        STAGES = 25,
        STREAMK = 31,
        REDUCTION = 32,
        PERSISTENT = 33,
        LEAST = 27
    };
    kw_status status =
        in->count < LEAST ? kw_fail(in->err, KW_MALFORMED, "%s: %d values, %d are wanted", in->place, in->count, LEAST) : KW_OK;
    for (size_t i = 0; !status && i < sizeof whole / sizeof *whole; i++) {
        status = kw_builder_set_number(in, whole[i].axis, whole[i].place);
    }
    status = status ? status : kw_builder_set_word(in, "spec", kw_builder_unqualified(in->value[SPEC]), specs);
    status = status ? status : kw_builder_set_flag(in, "split_image", SPLIT);
    status = status ? status : kw_builder_set_flag(in, "explicit", EXPLICIT);
    status = status ? status : kw_builder_set_word(in, "pipe", kw_builder_unqualified(in->value[PIPE]), pipelines);
    status = status ? status : kw_builder_set_word(in, "sched", kw_builder_unqualified(in->value[SCHED]), scheds);
    if (!status && (kw_builder_equals(in->value[STAGES], "true") || kw_builder_equals(in->value[STAGES], "1"))) {
        status = kw_builder_set(in, "stages", 2);
    }
    bool streams = in->count > PERSISTENT && (kw_builder_equals(in->value[STREAMK], "true") || kw_builder_equals(in->value[STREAMK], "1"));
    if (!status && streams) {
        status = kw_builder_set_word(in, "streamk", kw_builder_unqualified(in->value[REDUCTION]), reductions);
        status = status ? status : kw_builder_set_flag(in, "persistent", PERSISTENT);
    } else if (!status && in->config.op == KW_CONV_BWD_WEIGHT && kw_dtype_size(in->config.dtype) == 2 && form_axis(in, "vec_c") == 1) {
        status = kw_builder_set(in, "two_stage", 1);
    }
    return status;
}

/* --- explicit products ------------------------------------------------------------------------------------------------ */

/* The value of the pair "NAME: VALUE"; the first pair follows the name of the product, which has brackets of its own. */
static kw_status pair(const kw_builder_line *in, const char *name, kw_word *value) {
    for (int i = 0; i < in->count; i++) {
        kw_word text = in->value[i];
        const char *from = text.at, *end = text.at + text.size;
        for (const char *c = from; c < end; c++) {
            from = *c == '>' ? c + 1 : from;
        }
        const char *colon = memchr(from, ':', (size_t)(end - from));
        if (colon && kw_builder_equals(kw_builder_trimmed((kw_word){from, (size_t)(colon - from)}), name)) {
            *value = kw_builder_trimmed((kw_word){colon + 1, (size_t)(end - colon - 1)});
            return KW_OK;
        }
    }
    return kw_fail(in->err, KW_MALFORMED, "%s: no pair '%s: ...', which an explicit product has", in->place, name);
}

/* Numbers with an x between them, "128x64x32". */
static kw_status pair_numbers(const kw_builder_line *in, const char *name, int64_t values[], int count) {
    kw_word text, field;
    kw_status status = pair(in, name, &text);
    if (status) {
        return status;
    }
    kw_scan scan = {text.at, text.at + text.size};
    for (int i = 0; i < count && !status; i++) {
        if (!kw_scan_field(&scan, 'x', &field) || !kw_word_int(field, 0, 65536, &values[i]) || (i == count - 1 && scan.at)) {
            status = kw_fail(in->err, KW_MALFORMED, "%s: %s: '%.*s' is not %d whole numbers with an x between them", in->place, name,
                             KW_WORD(text), count);
        }
    }
    return status;
}

/* "8x8xSeq(4,4)": of both operands, and of the result for each of its stores, which must be alike. */
static kw_status set_explicit_vectors(kw_builder_line *in) {
    static const char name[] = "VmemReadVec";
    kw_word text, field;
    int64_t widths[3] = {0};
    kw_status status = pair(in, name, &text);
    if (status) {
        return status;
    }
    kw_scan scan = {text.at, text.at + text.size};
    bool good = true;
    for (int i = 0; i < 2 && good; i++) {
        good = kw_scan_field(&scan, 'x', &field) && kw_word_int(field, 0, 65536, &widths[i]);
    }
    good = good && scan.at;
    kw_word rest = good ? (kw_word){scan.at, (size_t)(scan.end - scan.at)} : (kw_word){text.at, 0};
    good = kw_word_starts(rest, "Seq(") && rest.at[rest.size - 1] == ')';
    scan = good ? (kw_scan){rest.at + 4, rest.at + rest.size - 1} : (kw_scan){0};
    for (int64_t width; good && kw_scan_field(&scan, ',', &field);) {
        good = kw_word_int(kw_builder_trimmed(field), 1, 65536, &width) && (!widths[2] || widths[2] == width);
        widths[2] = good ? width : 0;
    }
    if (!good || !widths[2]) {
        return kw_fail(in->err, KW_MALFORMED, "%s: %s: '%.*s' is not AxBxSeq(C), C the same throughout", in->place, name, KW_WORD(text));
    }
    status = kw_builder_set(in, "vec_a", widths[0]);
    status = status ? status : kw_builder_set(in, "vec_b", widths[1]);
    return status ? status : kw_builder_set(in, "vec_c", widths[2]);
}

/* A product of matrices that stands for a convolution of points. A half type whose results are stored one by one goes through fp32. */
static kw_status take_explicit(kw_builder_line *in, int64_t wave) {
    layout l = {0};
    int64_t k1[2] = {0};
    kw_word version = {0}, sched = {0};
    if (in->config.op != KW_CONV_BWD_WEIGHT) {
        return kw_fail(in->err, KW_MALFORMED, "%s: explicit products are conv_bwd_weight, not %s", in->place, kw_op_name(in->config.op));
    }
    kw_status status = pair_numbers(in, "BlkSize", &l.block, 1);
    status = status ? status : pair_numbers(in, "BlkTile", l.tile, 3);
    status = status ? status : pair_numbers(in, "WaveTile", l.xdl, 2);
    status = status ? status : pair_numbers(in, "WaveMap", l.repeats, 2);
    status = status ? status : pair_numbers(in, "K1", k1, 2);
    l.k1 = kw_min(k1[0], k1[1]);
    status = status ? status : set_tile(in, &l, wave);
    status = status ? status : set_explicit_vectors(in);
    status = status ? status : pair(in, "BlkGemmPipelineScheduler", &sched);
    status = status ? status : pair(in, "BlkGemmPipelineVersion", &version);
    status = status ? status : kw_builder_set_word(in, "sched", sched, scheds);
    status = status ? status : kw_builder_set_word(in, "pipe", version, versions);
    status = status ? status : kw_builder_set_word(in, "spec", (kw_word){"filter1x1_stride1_pad0", 22}, specs);
    status = status ? status : kw_builder_set(in, "explicit", 1);
    return status ? status : kw_builder_set(in, "two_stage", kw_dtype_size(in->config.dtype) == 2 && form_axis(in, "vec_c") % 2);
}

/* --- any line --------------------------------------------------------------------------------------------------------- */

/* Copies of the backward directions must leave no thread idle; the lists' own tools leave out lines that would, too. */
static bool covers_threads(const kw_builder_line *in, int64_t wave) {
    int64_t a = form_axis(in, "vec_a"), b = form_axis(in, "vec_b"), m = form_axis(in, "tile_m"), n = form_axis(in, "tile_n"),
            k = form_axis(in, "tile_k");
    int64_t threads = wave * form_axis(in, "wave_m") * form_axis(in, "wave_n") * form_axis(in, "wave_k");
    bool data = in->config.op == KW_CONV_BWD_DATA;
    return in->config.op == KW_CONV_FWD ||
           ((data ? k : m) <= wave * a && n <= wave * b && (!data || (a <= m * k / threads && b <= n * k / threads)));
}

static kw_status read_igemm_line(kw_builder_line *in, int64_t wave, bool *taken) {
    static const char native[] = "GroupedConvolution";
    if (kw_builder_contains(in->name, native) && !kw_builder_contains(in->name, "Device")) {
        bool async = false;
        kw_status status = take_native(in);
        async = !status && is_pipe(in, "basic_async_v1") && !kw_word_is(kw_config_axis_word(&in->config, "streamk"), "off");
        *taken = !status && !(in->config.dtype == KW_FP32 && async);
        return status;
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const form *f = &forms[i];
        if (f->op == in->config.op && kw_builder_contains(in->name, f->mark) && in->count >= f->least && in->count <= f->most) {
            kw_status status = take_form(in, f, wave);
            *taken = !status && covers_threads(in, wave);
            return status;
        }
    }
    return kw_fail(in->err, KW_MALFORMED, "%s: '%.*s' with %d values is no form of %s that is known", in->place, KW_WORD(in->name),
                   in->count, kw_op_name(in->config.op));
}

kw_status kw_builder_igemm(kw_builder_line *in, int64_t wave, bool *taken) {
    *taken = false;
    kw_status status = KW_OK;
    if (!in->name.size) {
        return kw_fail(in->err, KW_MALFORMED, "%s: an instance is NAME<VALUE, VALUE, ...>", in->place);
    }
    if (kw_builder_contains(in->name, "Explicit")) {
        status = take_explicit(in, wave);
        *taken = !status && covers_threads(in, wave);
    } else {
        status = read_igemm_line(in, wave, taken);
    }
    kw_igemm_complete(&in->config);
    return status;
}
