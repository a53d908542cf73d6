/* fields.c: the table of published names, and what a value of a field is on an axis of ours. Published words are read whatever their case:
 * the lists write "intrawave", "Intrawave" and "INTRAWAVE". */
#include "space/ck/fields.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* --- the table ---------------------------------------------------------------------------------------------------------------- */

/* The pipelines of lists and enumerators, besides the axis's own words. */
static const kw_field_word pipelines[] = {{"compv1", "basic_v1"},
                                          {"compute_v1", "basic_v1"},
                                          {"memory", "mem"},
                                          {"compute_v3", "compv3"},
                                          {"compute_v4", "compv4"},
                                          {"compute_v5", "compv5"},
                                          {"compute_v6", "compv6"},
                                          {"async_v4", "comp_async"},
                                          {"compute_async", "comp_async"},
                                          {"async_v1", "basic_async_v1"},
                                          {0}};
static const kw_field_word schedulers[] = {{"default", "intrawave"}, {"auto", "intrawave"}, {0}};
static const kw_field_word specializations[] = {
    {"oddc", "default"}, {"filter1x1pad0", "filter1x1_pad0"}, {"filter1x1stride1pad0", "filter1x1_stride1_pad0"}, {0}};
static const kw_field_word buffers[] = {{"false", "1"}, {"true", "2 3 4 5 6 7 8"}, {0}};
static const kw_field_word blocks_per_cu[] = {{"1", "2 3 4 5 6 7 8"}, {"2", "1"}, {0}};
static const kw_field_word streams[] = {{"false", "off"}, {"true", "tree linear"}, {0}};
static const kw_field_word orders[] = {
    {"ngchw", "first"}, {"ngcw", "first"}, {"ngcdhw", "first"}, {"nhwgc", "last"}, {"nwgc", "last"}, {"ndhwgc", "last"}, {0}};
static const kw_field_word swizzles[] = {{"CyclicShift", "cyclic"}, {0}};
static const kw_field_word impls[] = {{"tile_grouped", "grouped"}, {"tile_dense", "dense"}, {0}};
static const kw_field_word stores[] = {{"RegistersToGlobalMemory", "registers"}, {"RegistersToLdsToGlobalMemory", "lds"}, {0}};
static const kw_field_word flags[] = {{"false", "0"}, {"true", "1"}, {0}};

/* Name, axis, words, further, without, instead. */
const kw_field kw_fields[] = {
    {"pipeline", "pipe", pipelines, true, NULL, NULL},
    {"scheduler", "sched", schedulers, true, NULL, NULL},
    {"wave_mode", "sched", schedulers, true, NULL, NULL},
    {"epilogue", "epi", NULL, false, NULL, NULL},
    {"epilogue", "store", stores, true, NULL, NULL},
    {"double_smem_buffer", "stages", buffers, false, NULL, NULL},
    {"double_buffer", "stages", buffers, false, NULL, NULL},
    {"block_per_cu", "stages", blocks_per_cu, false, NULL, NULL},
    {"k_block_per_cu", "stages", blocks_per_cu, false, NULL, NULL},
    {"num_wave_groups", "wave_groups", NULL, false, "1", NULL},
    {"num_groups_to_merge", "merge", NULL, false, "1", NULL},
    {"split_image", "split_image", flags, true, "false", NULL},
    {"large_tensor", "split_image", flags, false, "false", NULL},
    {"explicit_gemm", "explicit", flags, false, "false", NULL},
    {"two_stage", "two_stage", flags, true, "false", NULL},
    {"specialization", "spec", specializations, true, NULL, NULL},
    {"streamk_enabled", "streamk", streams, false, "false", NULL},
    {"streamk_reduction_strategy", "streamk", NULL, false, "off", NULL},
    {"streamk_persistent", "persistent", flags, false, "false", NULL},
    {"persistent", "persistent", flags, true, "false", NULL},
    {"preshuffle", "preshuffle", flags, true, "false", NULL},
    {"ndim_spatial", "ndim", NULL, false, NULL, NULL},
    {"layout", "order", orders, false, NULL, NULL},
    {"warp_m", "wave_m", NULL, false, NULL, NULL},
    {"warp_n", "wave_n", NULL, false, NULL, NULL},
    {"warp_k", "wave_k", NULL, false, NULL, NULL},
    {"warp_tile_m", "inst_m", NULL, false, NULL, NULL},
    {"warp_tile_n", "inst_n", NULL, false, NULL, NULL},
    {"warp_tile_k", "inst_k", NULL, false, NULL, NULL},
    {"vector_size_a", "vec_a", NULL, false, NULL, NULL},
    {"vector_size_b", "vec_b", NULL, false, NULL, NULL},
    {"vector_size_c", "vec_c", NULL, false, NULL, NULL},
    {"pad_m", "pad_m", flags, true, "true", NULL},
    {"pad_n", "pad_n", flags, true, "true", NULL},
    {"pad_k", "pad_k", flags, true, "true", NULL},
    /* depthwise */
    {"filt", "filter", NULL, false, NULL, NULL},
    {"str_h", "stride", NULL, false, NULL, NULL},
    {"str_w", "stride", NULL, false, NULL, NULL},
    {"pad_h", "pad", NULL, false, NULL, NULL},
    {"pad_w", "pad", NULL, false, NULL, NULL},
    {"nbatch", "batch", NULL, false, NULL, NULL},
    {"in_vec", "vec_in", NULL, false, NULL, NULL},
    {"out_vec", "vec_out", NULL, false, NULL, NULL},
    /* direct */
    {"channel_family", "channels", NULL, false, NULL, NULL},
    {"impl", "impl", impls, true, NULL, NULL},
    {"waves_c64", "waves_c", NULL, false, NULL, NULL},
    {"waves_q4", "waves_q", NULL, false, NULL, NULL},
    {"c_slices_per_wave", "slices", NULL, false, NULL, NULL},
    {"swizzle_type", "swizzle", swizzles, true, NULL, NULL},
    {"vector_size", "vec", NULL, false, NULL, NULL},
    /* products with further tensors, which are not made here: all kernels have these */
    {"elementwise_op", NULL, NULL, false, "PassThrough", NULL},
    {"num_d_tensors", NULL, NULL, false, "0", NULL},
    {"d_layout", NULL, NULL, false, "r", NULL},
    /* a pipeline that is another with weights in the order of its registers */
    {"preshufflev2", NULL, NULL, false, NULL, "preshuffle true beside pipeline basic_v1 or compv4"},
    /* structures */
    {"vector_sizes", NULL, NULL, false, NULL, "vector_size_a, vector_size_b and vector_size_c"},
    {"streamk_config", NULL, NULL, false, NULL, "streamk_enabled, streamk_reduction_strategy and streamk_persistent"},
    {"block_size", NULL, NULL, false, NULL, "warp_m, warp_n and warp_k, whose product it counts the threads of"},
    {0},
};

static const struct variant {
    const char *name;
    kw_op op;
} variants[] = {
    {"forward", KW_CONV_FWD},
    {"bwd_data", KW_CONV_BWD_DATA},
    {"bwd_weight", KW_CONV_BWD_WEIGHT},
    {"gemm", KW_GEMM},
    {"fwd", KW_CONV_FWD},
    {"conv_fwd", KW_CONV_FWD},
    {"backward_data", KW_CONV_BWD_DATA},
    {"conv_bwd_data", KW_CONV_BWD_DATA},
    {"backward_weight", KW_CONV_BWD_WEIGHT},
    {"conv_bwd_weight", KW_CONV_BWD_WEIGHT},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

bool kw_variant_find(kw_op *op, const char *text) {
    for (size_t i = 0; i < VARIANTS; i++) {
        if (!strcmp(text, variants[i].name)) {
            *op = variants[i].op;
            return true;
        }
    }
    return false;
}

const char *kw_variant_name(kw_op op) {
    size_t i = 0;
    while (variants[i].op != op) {
        i++;
    }
    return variants[i].name;
}

/* --- names -------------------------------------------------------------------------------------------------------------------- */

static int axis_named(const kw_family *family, const char *name) {
    return kw_family_axis(family, (kw_word){name, strlen(name)});
}

/* The row of the name that is an axis of the family, else one that says what is without it. The published kernels are GPUs': an axis of a CPU's
 * family that happens to have the same name is another thing. */
static const kw_field *row_for(const kw_family *family, const char *name, int *axis) {
    const kw_field *without = NULL;
    *axis = -1;
    for (const kw_field *field = kw_fields; family->kind == KW_KIND_GPU && field->name; field++) {
        if (!strcmp(field->name, name)) {
            *axis = field->axis ? axis_named(family, field->axis) : -1;
            if (*axis >= 0) {
                return field;
            }
            without = field->without ? field : without;
        }
    }
    return without;
}

bool kw_field_find(kw_field_place *place, const kw_family *family, const char *name) {
    place->field = row_for(family, name, &place->axis);
    if (place->axis < 0 && axis_named(family, name) >= 0) {
        *place = (kw_field_place){NULL, axis_named(family, name)};
    }
    return place->field || place->axis >= 0;
}

bool kw_field_of_kind(const char *name, kw_device_kind kind) {
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        kw_field_place place;
        if ((*family)->kind == kind && kw_field_find(&place, *family, name) && (place.axis >= 0 || !place.field->axis)) {
            return true;
        }
    }
    return false;
}

bool kw_field_known(const char *name) {
    for (const kw_field *field = kw_fields; field->name; field++) {
        if (!strcmp(field->name, name)) {
            return true;
        }
    }
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        if (axis_named(*family, name) >= 0) {
            return true;
        }
    }
    return false;
}

const char *kw_field_instead(const char *name) {
    for (const kw_field *field = kw_fields; field->name; field++) {
        if (field->instead && !strcmp(field->name, name)) {
            return field->instead;
        }
    }
    return NULL;
}

const char *kw_field_hint(char hint[KW_HINT_MAX], const char *wrong, const char *further) {
    kw_text names = {0};
    kw_text_add(&names, further);
    for (const kw_field *field = kw_fields; field->name; field++) {
        kw_text_addf(&names, " %s", field->name);
    }
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        for (int i = 0; i < (*family)->axis_count; i++) {
            kw_text_addf(&names, " %s", (*family)->axes[i].name);
        }
    }
    kw_nearest_hint(hint, wrong, kw_text_string(&names));
    kw_text_drop(&names);
    return hint;
}

/* --- values ------------------------------------------------------------------------------------------------------------------- */

int32_t kw_axis_low(const kw_axis *axis) {
    return axis->words ? 0 : axis->low;
}

int32_t kw_axis_high(const kw_axis *axis) {
    kw_scan scan = kw_scan_string(axis->words ? axis->words : "");
    kw_word word;
    int32_t count = 0;
    while (kw_scan_word(&scan, &word)) {
        count++;
    }
    return axis->words ? count - 1 : axis->high;
}

static bool same_word(kw_word word, const char *text) {
    return strlen(text) == word.size && !strncasecmp(word.at, text, word.size);
}

/* Whether text, a list of values of the axis, has the value. */
static bool lists_value(const kw_axis *axis, const char *text, int32_t value) {
    kw_scan scan = kw_scan_string(text);
    kw_word word, own;
    while (kw_scan_word(&scan, &word)) {
        int64_t number;
        if (!axis->words) {
            if (kw_word_int(word, axis->low, axis->high, &number) && number == value) {
                return true;
            }
            continue;
        }
        kw_scan words = kw_scan_string(axis->words);
        for (int32_t i = 0; kw_scan_word(&words, &own); i++) {
            if (i == value && own.size == word.size && !memcmp(own.at, word.at, own.size)) {
                return true;
            }
        }
    }
    return false;
}

bool kw_field_is_any(const kw_field_value *value) {
    return !strcmp(value->text, "*") || (value->is_number && value->number == -1);
}

bool kw_field_matches(const kw_family *family, const kw_field_place *place, const kw_field_value *value, int32_t axis_value) {
    const kw_axis *axis = &family->axes[place->axis];
    for (const kw_field_word *word = place->field ? place->field->words : NULL; word && word->word; word++) {
        if (!strcasecmp(word->word, value->text) && lists_value(axis, word->values, axis_value)) {
            return true;
        }
    }
    if (place->field && place->field->words && !place->field->further) {
        return false;
    }
    if (!axis->words) {
        return value->is_number && value->number == axis_value;
    }
    kw_scan scan = kw_scan_string(axis->words);
    kw_word word;
    for (int32_t i = 0; kw_scan_word(&scan, &word); i++) {
        if (i == axis_value) {
            return place->field ? same_word(word, value->text) : kw_word_is(word, value->text);
        }
    }
    return false;
}

bool kw_field_is_without(const kw_field_place *place, const kw_field_value *value) {
    return place->axis < 0 && !strcasecmp(place->field->without, value->text);
}

bool kw_field_takes(const kw_family *family, const kw_field_place *place, const kw_field_value *value) {
    if (place->axis < 0) {
        return kw_field_is_without(place, value);
    }
    const kw_axis *axis = &family->axes[place->axis];
    for (int32_t i = kw_axis_low(axis); i <= kw_axis_high(axis); i++) {
        if (kw_field_matches(family, place, value, i)) {
            return true;
        }
    }
    return false;
}

const char *kw_field_published(const kw_family *family, const kw_field_place *place, int32_t axis_value) {
    if (place->axis < 0) {
        return place->field->without;
    }
    for (const kw_field_word *word = place->field && !place->field->further ? place->field->words : NULL; word && word->word; word++) {
        if (lists_value(&family->axes[place->axis], word->values, axis_value)) {
            return word->word;
        }
    }
    return NULL;
}

void kw_field_add_values(kw_line *line, const kw_family *family, const kw_field_place *place) {
    if (place->axis < 0) {
        kw_line_addf(line, "%s", place->field->without);
        return;
    }
    const kw_axis *axis = &family->axes[place->axis];
    if (!place->field || !place->field->words || place->field->further) {
        if (axis->words) {
            kw_line_addf(line, "%s", axis->words);
        } else {
            kw_line_addf(line, "%d to %d", axis->low, axis->high);
        }
        return;
    }
    for (const kw_field_word *word = place->field->words; word->word; word++) {
        kw_line_addf(line, "%s%s", word == place->field->words ? "" : " ", word->word);
    }
}

void kw_field_add_further(kw_line *line, const kw_family *family, const kw_field_place *place) {
    char values[256] = "";
    kw_line here = {values, sizeof values, 0};
    kw_field_add_values(&here, family, place);
    if (!strstr(line->data, values)) {
        kw_line_addf(line, "%s%s", line->size ? "; " : "", values);
    }
}

/* --- what a family's rules leave of problems ------------------------------------------------------------------------------------ */

/* Of those that ask about problems. */
static bool has_rule(const kw_family *family, const char *name) {
    bool has = false;
    for (kw_rule_kind kind = KW_TAKES; kind <= KW_FITS; kind++) {
        for (int i = 0; i < KW_RULE_TABLES && family->rules[kind][i]; i++) {
            for (const kw_rule *rule = family->rules[kind][i]; rule->name; rule++) {
                has |= !strcmp(rule->name, name);
            }
        }
    }
    return has;
}

uint32_t kw_family_ndims(const kw_family *family) {
    return has_rule(family, "two_axes") ? 1u << 2 : UINT32_MAX;
}

uint32_t kw_family_layouts(const kw_family *family) {
    uint32_t images = 1u << KW_CHANNELS_LAST | 1u << KW_CHANNELS_FIRST;
    if (family->ops & 1u << KW_GEMM) {
        return ~images;
    }
    return family->turns || has_rule(family, "channels_last") ? 1u << KW_CHANNELS_LAST : images;
}
