/* builder_conf.c: where a form of line keeps which value is a table; what follows from the values (waves, depth of the instruction) is
 * computed as the lists' own tools do. Lines that differ only in what the generator decides itself (how threads are laid out for a copy)
 * become one config. */
#include "space/builder_conf.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/math.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { VALUES_MAX = 64, LIST_LIMIT = 16 << 20, NONE = -1 };

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

/* A line taken apart. place: "FILE:LINE", for messages. */
typedef struct instance {
    const char *place;
    kw_word name, value[VALUES_MAX];
    int count;
    kw_config config;
    kw_error *err;
} instance;

static kw_word trimmed(const char *from, const char *end) {
    while (from < end && (*from == ' ' || *from == '\t')) {
        from++;
    }
    while (end > from && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) {
        end--;
    }
    return (kw_word){from, (size_t)(end - from)};
}

/* NAME<VALUE, ...>, where a value may have brackets with commas of its own. */
static kw_status take_apart(instance *in, kw_word line) {
    const char *open = memchr(line.at, '<', line.size), *end = line.at + line.size;
    if (!open) {
        return kw_fail(in->err, KW_MALFORMED, "%s: an instance is NAME<VALUE, VALUE, ...>", in->place);
    }
    in->name = trimmed(line.at, open);
    int depth = 0;
    const char *from = open + 1, *c = from;
    for (; c < end; c++) {
        bool closing = *c == '>' || *c == ')' || *c == ']';
        depth += (*c == '<' || *c == '(' || *c == '[') - closing;
        bool last = depth < 0;
        if (last || (*c == ',' && !depth)) {
            if (in->count == VALUES_MAX) {
                return kw_fail(in->err, KW_MALFORMED, "%s: more than %d values", in->place, VALUES_MAX);
            }
            in->value[in->count++] = trimmed(from, c);
            from = c + 1;
        }
        if (last) {
            break;
        }
    }
    if (c >= end) {
        return kw_fail(in->err, KW_MALFORMED, "%s: the list of values has no end", in->place);
    }
    return KW_OK;
}

/* What follows the last "::" of a value. */
static kw_word bare(kw_word value) {
    for (size_t i = value.size; i-- > 1;) {
        if (value.at[i] == ':' && value.at[i - 1] == ':') {
            return (kw_word){value.at + i + 1, value.size - i - 1};
        }
    }
    return value;
}

static bool same(kw_word word, const char *text) {
    return word.size == strlen(text) && !strncasecmp(word.at, text, word.size);
}

static bool contains(kw_word word, const char *text) {
    return !*text || memmem(word.at, word.size, text, strlen(text));
}

static kw_status number_at(const instance *in, int place, int64_t *value) {
    if (place >= in->count) {
        return kw_fail(in->err, KW_MALFORMED, "%s: value %d is wanted, the line has %d", in->place, place, in->count);
    }
    if (!kw_word_int(in->value[place], 0, 65536, value)) {
        return kw_fail(in->err, KW_MALFORMED, "%s: value %d, '%.*s', is not a whole number from 0 to 65536", in->place, place,
                       KW_WORD(in->value[place]));
    }
    return KW_OK;
}

static kw_status set_number(instance *in, const char *name, int64_t value) {
    const kw_axis *axis = &in->config.family->axes[kw_family_axis(in->config.family, (kw_word){name, strlen(name)})];
    if (value < axis->low || value > axis->high) {
        return kw_fail(in->err, KW_ILLEGAL, "%s: %s is %lld, outside %d..%d", in->place, name, (long long)value, axis->low, axis->high);
    }
    in->config.axis[axis - in->config.family->axes] = (int32_t)value;
    return KW_OK;
}

static kw_status take_number(instance *in, const char *name, int place) {
    int64_t value;
    kw_status status = number_at(in, place, &value);
    return status ? status : set_number(in, name, value);
}

/* A word of a list and the word of the axis that it stands for. */
typedef struct meaning {
    const char *word, *value;
} meaning;

static kw_status set_word(instance *in, const char *name, kw_word wanted, const meaning *meanings) {
    const kw_axis *axis = &in->config.family->axes[kw_family_axis(in->config.family, (kw_word){name, strlen(name)})];
    for (; meanings->word; meanings++) {
        if (same(wanted, meanings->word)) {
            kw_scan scan = kw_scan_string(axis->words);
            kw_word word;
            for (int32_t i = 0; kw_scan_word(&scan, &word); i++) {
                if (kw_word_is(word, meanings->value)) {
                    in->config.axis[axis - in->config.family->axes] = i;
                    return KW_OK;
                }
            }
        }
    }
    return kw_fail(in->err, KW_MALFORMED, "%s: '%.*s' is not known as %s", in->place, KW_WORD(wanted), name);
}

static const meaning specs[] = {{"default", "default"},
                                {"oddc", "default"},
                                {"filter1x1pad0", "filter1x1_pad0"},
                                {"filter1x1_pad0", "filter1x1_pad0"},
                                {"filter1x1stride1pad0", "filter1x1_stride1_pad0"},
                                {"filter1x1_stride1_pad0", "filter1x1_stride1_pad0"},
                                {"filter3x3", "filter3x3"},
                                {0}};
static const meaning scheds[] = {{"intrawave", "intrawave"}, {"interwave", "interwave"}, {"default", "intrawave"}, {0}};
static const meaning versions[] = {{"v1", "basic_v1"}, {"v2", "mem"}, {"v3", "compv3"}, {"v4", "compv4"}, {"v5", "compv6"}, {0}};
/* Instances that copy without registers. */
static const meaning direct_versions[] = {{"v1", "basic_async_v1"}, {"v4", "mem"}, {0}};
static const meaning pipelines[] = {{"basic_v1", "basic_v1"},
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

static int32_t axis_of(const instance *in, const char *name) {
    return kw_config_axis(&in->config, name, 0);
}

static bool is_pipe(const instance *in, const char *name) {
    return kw_word_is(kw_config_axis_word(&in->config, "pipe"), name);
}

static kw_status finish(instance *in) {
    bool two = is_pipe(in, "compv4") || is_pipe(in, "comp_async");
    kw_status status = two ? set_number(in, "stages", 2) : KW_OK;
    return status || in->config.op != KW_CONV_BWD_WEIGHT || !kw_word_is(kw_config_axis_word(&in->config, "streamk"), "off")
               ? status
               : set_number(in, "split_k", 0);
}

/* The depth of the instruction: as deep as a lane's 16 bytes or the vectors of the list, within the tile. */
static int64_t instruction_depth(const instance *in, int64_t side, int64_t k1, int64_t k) {
    bool half = kw_dtype_size(in->config.dtype) == 2;
    int64_t own = half ? (side == 32 ? 16 : 32) : side == 32 ? 2 : 4;
    return kw_min(kw_max(k1, own), k);
}

/* Waves follow from tile, instruction and repeats; what is left of the block divides the depth. */
static kw_status take_tile(instance *in, const form *f, int64_t wave) {
    int64_t tile[3], xdl[2], repeats[2], block, k1 = 0;
    kw_status status = number_at(in, f->block, &block);
    for (int i = 0; i < 3; i++) {
        status = status ? status : number_at(in, f->tile + i, &tile[i]);
    }
    for (int i = 0; i < 2; i++) {
        status = status ? status : number_at(in, f->xdl + i, &xdl[i]);
        status = status ? status : number_at(in, f->repeats + i, &repeats[i]);
    }
    if (!status && f->k1 != NONE) {
        status = number_at(in, f->k1, &k1);
        tile[2] *= f->k_in_k1 ? k1 : 1;
    } else {
        k1 = !status && tile[2] <= 16 ? 4 : 8;
    }
    if (status) {
        return status;
    }
    int64_t part[2] = {xdl[0] * repeats[0], xdl[1] * repeats[1]};
    if (!part[0] || !part[1] || tile[0] % part[0] || tile[1] % part[1] || !tile[0] || !tile[1]) {
        return kw_fail(in->err, KW_ILLEGAL, "%s: a tile of %lldx%lld is no whole number of waves of %lldx%lld", in->place,
                       (long long)tile[0], (long long)tile[1], (long long)part[0], (long long)part[1]);
    }
    int64_t waves[2] = {tile[0] / part[0], tile[1] / part[1]}, threads = wave * waves[0] * waves[1];
    if (block % threads || !block) {
        return kw_fail(in->err, KW_ILLEGAL, "%s: a block of %lld threads is no multiple of the %lld of %lldx%lld waves", in->place,
                       (long long)block, (long long)threads, (long long)waves[0], (long long)waves[1]);
    }
    const struct {
        const char *axis;
        int64_t value;
    } all[] = {{"tile_m", tile[0]},  {"tile_n", tile[1]},  {"tile_k", tile[2]},
               {"wave_m", waves[0]}, {"wave_n", waves[1]}, {"wave_k", block / threads},
               {"inst_m", xdl[0]},   {"inst_n", xdl[1]},   {"inst_k", instruction_depth(in, xdl[0], k1, tile[2])}};
    for (size_t i = 0; !status && i < sizeof all / sizeof *all; i++) {
        status = set_number(in, all[i].axis, all[i].value);
    }
    return status;
}

static kw_status take_pipeline(instance *in, const form *f) {
    static const char wavelet[] = "WAVELET";
    bool versioned = f->version != NONE && f->version < in->count;
    kw_status status = KW_OK;
    if (f->sched != NONE && (versioned || f->version == NONE)) {
        status = f->sched < in->count ? set_word(in, "sched", bare(in->value[f->sched]), scheds) : KW_OK;
    } else {
        status = set_word(in, "sched", (kw_word){"default", 7}, scheds);
    }
    kw_word version = versioned ? bare(in->value[f->version]) : (kw_word){"v1", 2};
    bool direct = f->direct != NONE && f->direct < in->count && (same(in->value[f->direct], "true") || same(in->value[f->direct], "1"));
    if (status) {
        return status;
    }
    if (contains(in->name, wavelet) || same(version, wavelet)) {
        return set_word(in, "pipe", (kw_word){"wavelet", 7}, pipelines);
    }
    return set_word(in, "pipe", version, direct ? direct_versions : versions);
}

static kw_status take_form(instance *in, const form *f, int64_t wave) {
    kw_status status = take_tile(in, f, wave);
    status = status ? status : set_word(in, "spec", bare(in->value[f->spec]), specs);
    status = status ? status : take_number(in, "vec_a", f->vec_a);
    status = status ? status : take_number(in, "vec_b", f->vec_b);
    status = status ? status : take_number(in, "vec_c", f->vec_c);
    status = status ? status : take_pipeline(in, f);
    /* A short line of 16 values has a schedule where one of 15 has the count of groups. */
    bool merged = f->merge != NONE && f->merge < in->count && (f->merge != f->sched || in->count == f->merge + 1);
    status = status || !merged ? status : take_number(in, "merge", f->merge);
    status = status ? status : set_number(in, "split_image", f->split_image);
    return status ? status : set_number(in, "two_stage", f->two_stage);
}

static kw_status take_flag(instance *in, const char *axis, int place) {
    kw_word value = place < in->count ? bare(in->value[place]) : (kw_word){"?", 1};
    bool yes = same(value, "true") || same(value, "1"), no = same(value, "false") || same(value, "0");
    return yes || no ? set_number(in, axis, yes)
                     : kw_fail(in->err, KW_MALFORMED, "%s: value %d is neither true nor false", in->place, place);
}

/* A kernel of CK Tile by its own name: all values stand in the order of its template. */
static kw_status take_native(instance *in) {
    static const struct {
        const char *axis;
        int place;
    } whole[] = {{"ndim", 0},    {"vec_a", 6},   {"vec_b", 7},   {"vec_c", 8},   {"merge", 9},
                 {"tile_m", 12}, {"tile_n", 13}, {"tile_k", 14}, {"wave_m", 15}, {"wave_n", 16},
                 {"wave_k", 17}, {"inst_m", 18}, {"inst_n", 19}, {"inst_k", 20}, {"wave_groups", 26}};
    static const meaning reductions[] = {{"1", "linear"}, {"2", "tree"}, {"linear", "linear"}, {"tree", "tree"}, {0}};
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
        status = take_number(in, whole[i].axis, whole[i].place);
    }
    status = status ? status : set_word(in, "spec", bare(in->value[SPEC]), specs);
    status = status ? status : take_flag(in, "split_image", SPLIT);
    status = status ? status : take_flag(in, "explicit", EXPLICIT);
    status = status ? status : set_word(in, "pipe", bare(in->value[PIPE]), pipelines);
    status = status ? status : set_word(in, "sched", bare(in->value[SCHED]), scheds);
    if (!status && (same(in->value[STAGES], "true") || same(in->value[STAGES], "1"))) {
        status = set_number(in, "stages", 2);
    }
    bool streams = in->count > PERSISTENT && (same(in->value[STREAMK], "true") || same(in->value[STREAMK], "1"));
    if (!status && streams) {
        status = set_word(in, "streamk", bare(in->value[REDUCTION]), reductions);
        status = status ? status : take_flag(in, "persistent", PERSISTENT);
    } else if (!status && in->config.op == KW_CONV_BWD_WEIGHT && kw_dtype_size(in->config.dtype) == 2 && axis_of(in, "vec_c") == 1) {
        status = set_number(in, "two_stage", 1);
    }
    return status;
}

/* Copies of the backward directions must not leave threads idle; lines that would are left out of the lists' own import, too. */
static bool covers_wave(const instance *in, int64_t wave) {
    if (in->config.op == KW_CONV_FWD) {
        return true;
    }
    int32_t a = axis_of(in, in->config.op == KW_CONV_BWD_DATA ? "tile_k" : "tile_m");
    return a <= wave * axis_of(in, "vec_a") && axis_of(in, "tile_n") <= wave * axis_of(in, "vec_b");
}

static bool skipped(const instance *in, int64_t wave) {
    bool streams = !kw_word_is(kw_config_axis_word(&in->config, "streamk"), "off");
    return (in->config.dtype == KW_FP32 && streams && is_pipe(in, "basic_async_v1")) || !covers_wave(in, wave);
}

static kw_status read_instance(instance *in, kw_word line, int64_t wave) {
    static const char native[] = "GroupedConvolution";
    kw_status status = take_apart(in, line);
    if (status) {
        return status;
    }
    if (contains(in->name, native)) {
        status = take_native(in);
        return status ? status : finish(in);
    }
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const form *f = &forms[i];
        if (f->op == in->config.op && contains(in->name, f->mark) && in->count >= f->least && in->count <= f->most) {
            status = take_form(in, f, wave);
            return status ? status : finish(in);
        }
    }
    return kw_fail(in->err, KW_MALFORMED, "%s: '%.*s' with %d values is no form of %s that is known", in->place, KW_WORD(in->name),
                   in->count, kw_op_name(in->config.op));
}

kw_status kw_builder_text(kw_catalog *out, const char *name, kw_word text, int64_t wave, const kw_config *base, kw_error *err) {
    kw_scan scan = {text.at, text.at + text.size};
    kw_word line;
    kw_status status = KW_OK;
    for (int number = 1; !status && kw_scan_line(&scan, &line); number++) {
        line = trimmed(line.at, line.at + line.size);
        if (!line.size || memchr(line.at, '#', line.size) || memchr(line.at, ';', line.size)) {
            continue;
        }
        char place[512];
        snprintf(place, sizeof place, "%.400s:%d", name, number);
        instance in = {.place = place, .config = *base, .err = err};
        status = read_instance(&in, line, wave);
        if (!status && !skipped(&in, wave)) {
            status = kw_catalog_add(out, &in.config, NULL, err);
        }
    }
    return status;
}

static const char *direction(kw_op op) {
    return op == KW_CONV_FWD ? "forward" : op == KW_CONV_BWD_DATA ? "backward_data" : "backward_weight";
}

static const char *const layouts[] = {"nhwgc", "ndhwgc"}; /* of 2 and of 3 axes */

static char *list_path(kw_arena *arena, const kw_builder_lists *lists, const kw_config *config, int layout, bool streams) {
    return kw_arena_format(arena, "%s/%s/%s/%s_%s%s.conf", lists->folder, direction(config->op), lists->subset, layouts[layout],
                           kw_dtype_name(config->dtype), streams ? "_streamk" : "");
}

/* Whether the subset has any list. */
static bool has_lists(kw_arena *arena, const kw_builder_lists *lists) {
    static const kw_op ops[] = {KW_CONV_FWD, KW_CONV_BWD_DATA, KW_CONV_BWD_WEIGHT};
    for (int i = 0; i < 3 * 3 * 2 * 2; i++) {
        kw_config config = {.op = ops[i % 3], .dtype = (kw_dtype)(i / 3 % 3)};
        char *path = list_path(arena, lists, &config, i / 9 % 2, i / 18);
        if (path && !access(path, F_OK)) {
            return true;
        }
    }
    return false;
}

kw_status kw_builder_read(kw_catalog *out, const kw_builder_lists *lists, const kw_config *base, kw_error *err) {
    kw_arena arena = {0};
    int ndim = kw_family_axis(base->family, (kw_word){"ndim", 4});
    kw_status status = KW_OK;
    if (!has_lists(&arena, lists)) {
        status = kw_fail(err, KW_MISSING, "%s: no lists such as forward/%s/nhwgc_fp16.conf; --builder-conf names the folder above",
                         lists->folder, lists->subset);
    }
    for (int i = 0; !status && i < 4; i++) {
        kw_config config = *base;
        char *path = list_path(&arena, lists, base, i % 2, i / 2), *data;
        size_t size;
        config.axis[ndim] = 2 + i % 2;
        if (!path) {
            status = kw_fail_memory(err, "a path");
        } else if (!access(path, F_OK)) {
            status = kw_file_read(&arena, path, LIST_LIMIT, &data, &size, err);
            status = status ? status : kw_builder_text(out, path, (kw_word){data, size}, lists->wave, &config, err);
        }
    }
    kw_arena_drop(&arena);
    return status;
}
