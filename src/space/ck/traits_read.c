/* traits_read.c: traits out of a JSON file, through jansson, and out of the text of a config with gaps. Reading is strict about form, names
 * and values. */
#include "space/ck/traits_internal.h"

#include "base/os/file.h"
#include "json/json_read.h"
#include "space/ck/instances.h"

#include <string.h>

enum { FILE_LIMIT = 1 << 20, NUMBER_MOST = 1 << 30, WORDS_MAX = 64, RANGE_MAX = 4096 };

/* --- a file --------------------------------------------------------------------------------------------------------------------- */

static kw_status read_trait_value(kw_traits *traits, kw_field_value *out, const json_t *json, const char *trait, kw_error *err) {
    *out = (kw_field_value){0};
    if (json_is_string(json)) {
        /* No zero byte is inside: the reader refuses them. */
        out->text = kw_arena_copy(&traits->arena, json_string_value(json), json_string_length(json));
    } else if (json_is_integer(json)) {
        *out = (kw_field_value){NULL, json_integer_value(json), true};
        out->text = kw_arena_format(&traits->arena, "%lld", (long long)out->number);
    } else if (json_is_boolean(json)) {
        *out = (kw_field_value){json_is_true(json) ? "true" : "false", json_is_true(json), true};
    } else {
        return kw_fail(err, KW_MALFORMED, "%s: %s: a value is a string, an integer, true or false", traits->name, trait);
    }
    return out->text ? KW_OK : kw_fail_memory(err, traits->name);
}

/* {"min": 32, "max": 256, "step": 32} */
static kw_status read_trait_range(kw_traits *traits, kw_trait *out, const json_t *json, kw_error *err) {
    const json_t *min = json_object_get(json, "min"), *max = json_object_get(json, "max"), *step = json_object_get(json, "step");
    int64_t low = json_integer_value(min), high = json_integer_value(max), by = json_integer_value(step);
    if (json_object_size(json) != 3 || !json_is_integer(min) || !json_is_integer(max) || !json_is_integer(step) || low < 0 || by < 1 ||
        high < low || high > NUMBER_MOST || (high - low) / by >= RANGE_MAX) {
        return kw_fail(err, KW_MALFORMED,
                       "%s: the range of %.60s must be {\"min\": A, \"max\": B, \"step\": S} with 0 <= A <= B, S at "
                       "least 1 and at most %d values",
                       traits->name, out->name, RANGE_MAX);
    }
    out->count = (size_t)((high - low) / by + 1);
    kw_field_value *values = kw_arena_array(&traits->arena, out->count, sizeof *values);
    out->values = values;
    for (size_t i = 0; values && i < out->count; i++) {
        int64_t number = low + (int64_t)i * by;
        values[i] = (kw_field_value){kw_arena_format(&traits->arena, "%lld", (long long)number), number, true};
        values = values[i].text ? values : NULL;
    }
    return values ? KW_OK : kw_fail_memory(err, traits->name);
}

static kw_status read_trait_list(kw_traits *traits, kw_trait *out, const json_t *list, kw_error *err) {
    out->count = json_array_size(list);
    kw_field_value *values = kw_arena_array(&traits->arena, out->count, sizeof *values);
    out->values = values;
    kw_status status = values ? KW_OK : kw_fail_memory(err, traits->name);
    for (size_t i = 0; !status && i < out->count; i++) {
        status = read_trait_value(traits, &values[i], json_array_get(list, i), out->name, err);
    }
    return status;
}

/* {"values": [...]}, or a range. */
static kw_status read_trait_values(kw_traits *traits, kw_trait *out, const json_t *json, kw_error *err) {
    const json_t *list = json_object_get(json, "values");
    if (json_object_get(json, "min")) {
        return read_trait_range(traits, out, json, err);
    }
    if (!json_is_object(json) || json_object_size(json) != 1 || !json_is_array(list) || !json_array_size(list)) {
        return kw_fail(err, KW_MALFORMED, "%s: %.60s must be {\"values\": [...]} with one value or more", traits->name, out->name);
    }
    return read_trait_list(traits, out, list, err);
}

/* The reader of a member's value. */
typedef kw_status (*read_values)(kw_traits *traits, kw_trait *out, const json_t *json, kw_error *err);

/* The list of traits has room for one more. */
static kw_status read_trait(kw_traits *traits, const char *name, const json_t *json, read_values read, kw_error *err) {
    bool listed = false;
    kw_trait *trait = &traits->traits[traits->count];
    *trait = (kw_trait){.name = kw_arena_copy(&traits->arena, name, strlen(name))};
    kw_status status = trait->name ? read(traits, trait, json, err) : kw_fail_memory(err, traits->name);
    status = status ? status : kw_traits_add(traits, trait, &listed, err);
    traits->count += !status && listed;
    return status;
}

/* Members that say nothing of which kernels are meant: what begins with _ is a comment, how many blocks share a unit was the launch bounds
 * of all kernels of a file, and a block has as many threads as its waves. */
static bool says_nothing(const char *section, const char *name) {
    return name[0] == '_' ||
           (!section && (!strcmp(name, "kernel_set_name") || !strcmp(name, "k_block_per_cu") || !strcmp(name, "block_size"))) ||
           (section && !strcmp(section, "occupancy_config") && !strcmp(name, "block_per_cu"));
}

static kw_status read_section(kw_traits *traits, const char *section, const json_t *json, kw_error *err) {
    const char *key;
    json_t *value;
    kw_status status = KW_OK;
    if (!json_is_object(json)) {
        return kw_fail(err, KW_MALFORMED, "%s: \"%s\" must be an object, {\"tile_w\": {\"values\": [...]}, ...}", traits->name, section);
    }
    json_object_foreach((json_t *)json, key, value) {
        status = status || says_nothing(section, key) ? status : read_trait(traits, key, value, read_trait_values, err);
    }
    return status;
}

/* {"a": "fp16", "b": "fp16", "c": "fp16", "acc": "fp32"}: all but the accumulator's is the type of a kernel. */
static kw_status read_datatypes(kw_traits *traits, kw_trait *out, const json_t *json, kw_error *err) {
    const char *key;
    json_t *value;
    json_t *type = NULL;
    json_object_foreach((json_t *)json, key, value) {
        if (!strcmp(key, "acc")) {
            continue;
        }
        if (type && !json_equal(type, value)) {
            return kw_fail(err, KW_ILLEGAL,
                           "%s: %s: a kernel here has one type for its operands; name one, or take the result's as out: of a "
                           "problem",
                           traits->name, out->name);
        }
        type = value;
    }
    json_t *list = json_array();
    kw_status status = !list || (type && json_array_append(list, type)) ? kw_fail_memory(err, traits->name) : KW_OK;
    if (!status && !type) {
        status = kw_fail(err, KW_MALFORMED, "%s: %s is an empty object; write \"%s\": \"bf16\"", traits->name, out->name, out->name);
    }
    status = status ? status : read_trait_list(traits, out, list, err);
    json_decref(list);
    return status;
}

/* A member beside the sections: "layout": "rcr", "gpu_targets": ["gfx942", "gfx90a"]. */
static kw_status read_member_values(kw_traits *traits, kw_trait *out, const json_t *json, kw_error *err) {
    if (json_is_object(json)) {
        return read_datatypes(traits, out, json, err);
    }
    if (json_is_array(json) && json_array_size(json)) {
        return read_trait_list(traits, out, json, err);
    }
    kw_field_value *value = kw_arena_array(&traits->arena, 1, sizeof *value);
    out->values = value;
    out->count = 1;
    return value ? read_trait_value(traits, value, json, out->name, err) : kw_fail_memory(err, traits->name);
}

static bool is_section(const char *name) {
    static const char *const sections[] = {"trait_config", "tile_config", "vector_config", "occupancy_config"};
    bool found = false;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        found = found || !strcmp(name, sections[i]);
    }
    return found;
}

static kw_status read_member(kw_traits *traits, const char *name, const json_t *json, kw_error *err) {
    bool is_arch = !strcmp(name, "gpu_targets") || !strcmp(name, "gpu_target");
    name = !strcmp(name, "ndim") ? "ndim_spatial" : is_arch ? "arch" : name;
    if (is_section(name)) {
        return read_section(traits, name, json, err);
    }
    if (!kw_trait_is_fixed(name) && !kw_field_known(name)) {
        return kw_fail(err, KW_MISSING,
                       "%s: unknown key \"%.60s\"; known: variant trait_config tile_config vector_config occupancy_config "
                       "datatype layout ndim gpu_targets and names of traits",
                       traits->name, name);
    }
    return read_trait(traits, name, json, read_member_values, err);
}

/* What a file that is none of traits may be. */
static const char *other_list(const json_t *root) {
    return json_object_get(root, "problems") ? "; it holds problems, which --problems FILE reads"
           : kw_instances_are(root)          ? "; it holds kernels, which --kernels FILE reads"
                                             : "";
}

static kw_status read_root(kw_traits *traits, const json_t *root, kw_error *err) {
    const char *key;
    json_t *value;
    size_t count = 1;
    bool tiles = json_object_get(root, "tile_config");
    kw_status status = KW_OK;
    if (!json_is_object(root)) {
        return kw_fail(err, KW_MALFORMED, "%s: a trait file is {\"variant\": ..., \"trait_config\": {...}}", traits->name);
    }
    json_object_foreach((json_t *)root, key, value) {
        count += 1 + json_object_size(value);
    }
    traits->traits = kw_arena_array(&traits->arena, count, sizeof *traits->traits);
    if (!traits->traits) {
        return kw_fail_memory(err, traits->name);
    }
    if (!tiles && !json_object_get(root, "trait_config")) {
        status = kw_fail(err, KW_MALFORMED, "%s: has no \"trait_config\"%s", traits->name, other_list(root));
    }
    json_object_foreach((json_t *)root, key, value) {
        status = status || says_nothing(NULL, key) ? status : read_member(traits, key, value, err);
    }
    if (!status && tiles && !json_object_get(root, "variant")) {
        traits->ops &= 1u << KW_GEMM; /* the published files of convolutions name it, those of products do not */
    }
    return status;
}

/* Allows everything. */
static kw_status start_traits(kw_traits *traits, const char *name, kw_error *err) {
    *traits = (kw_traits){.ops = UINT32_MAX, .dtypes = UINT32_MAX, .ndim = UINT32_MAX, .layouts = UINT32_MAX, .families = UINT64_MAX};
    traits->name = kw_arena_copy(&traits->arena, name, strlen(name));
    return traits->name ? KW_OK : kw_fail_memory(err, name);
}

kw_status kw_traits_read(kw_traits *traits, const char *name, const char *text, size_t size, kw_error *err) {
    json_t *root = NULL;
    kw_status status = start_traits(traits, name, err);
    status = status ? status : kw_json_read(&root, name, text, size, err);
    status = status ? status : read_root(traits, root, err);
    json_decref(root);
    if (status) {
        kw_traits_drop(traits);
    }
    return status;
}

kw_status kw_traits_load(kw_traits *traits, const char *path, kw_error *err) {
    kw_arena arena = {0};
    char *text = NULL;
    size_t size = 0;
    kw_status status = kw_file_read(&arena, path, FILE_LIMIT, &text, &size, err);
    status = status ? status : kw_traits_read(traits, path, text, size, err);
    kw_arena_drop(&arena);
    return status;
}

void kw_traits_drop(kw_traits *traits) {
    kw_arena_drop(&traits->arena);
    *traits = (kw_traits){0};
}

/* --- the text of a config --------------------------------------------------------------------------------------------------------- */

static bool split_axis_word(kw_word word, kw_word *name, kw_word *value) {
    const char *equals = memchr(word.at, '=', word.size);
    if (!equals) {
        return false;
    }
    *name = (kw_word){word.at, (size_t)(equals - word.at)};
    *value = (kw_word){equals + 1, word.size - name->size - 1};
    return true;
}

bool kw_config_is_pattern(const char *text) {
    kw_config exact;
    kw_scan scan = kw_scan_string(text);
    kw_word word, name, value;
    if (!kw_config_read(&exact, text, NULL)) {
        return false; /* with the words that a config has of its problem, too, which are no axes */
    }
    const kw_family *family = kw_scan_word(&scan, &word) ? kw_family_find(word) : NULL;
    if (!family) {
        return strchr(text, '*') || strstr(text, "=-1");
    }
    int named = 0;
    while (kw_scan_word(&scan, &word)) {
        if (!split_axis_word(word, &name, &value)) {
            if (kw_word_is(word, "*")) {
                return true;
            }
        } else if (kw_word_is(value, "*") || kw_word_is(value, "-1") || kw_family_axis(family, name) < 0) {
            return true;
        } else {
            named++;
        }
    }
    return named < family->axis_count;
}

/* A trait of one value; value may be any text. */
static kw_status add_word(kw_traits *traits, kw_trait *trait, kw_word name, kw_word text, bool *listed, kw_error *err) {
    kw_field_value *value = kw_arena_array(&traits->arena, 1, sizeof *value);
    char *name_copy = kw_arena_copy(&traits->arena, name.at, name.size);
    char *text_copy = kw_arena_copy(&traits->arena, text.at, text.size);
    if (!value || !name_copy || !text_copy) {
        return kw_fail_memory(err, traits->name);
    }
    *value = (kw_field_value){.text = text_copy};
    value->is_number = kw_word_int(text, -1, NUMBER_MOST, &value->number);
    *trait = (kw_trait){.name = name_copy, .values = value, .count = 1};
    return kw_traits_add(traits, trait, listed, err);
}

/* FAMILY OP DTYPE. */
static kw_status read_head(kw_traits *traits, kw_scan *scan, kw_error *err) {
    static const char *const names[] = {"family", "op", "dtype"};
    kw_word word;
    for (int i = 0; i < 3; i++) {
        kw_trait trait;
        bool listed;
        if (!kw_scan_word(scan, &word) || memchr(word.at, '=', word.size)) {
            return kw_fail(err, KW_MALFORMED, "%s: a config begins with FAMILY OP DTYPE, each of which may be *", traits->name);
        }
        kw_status status = add_word(traits, &trait, (kw_word){names[i], strlen(names[i])}, word, &listed, err);
        if (status) {
            return status;
        }
    }
    return KW_OK;
}

/* A family that the text names must have what it names. */
static kw_status check_family_has(const kw_traits *traits, const kw_trait *trait, kw_error *err) {
    for (size_t i = 0; kw_family_table[i]; i++) {
        if (traits->families == (uint64_t)1 << i && !trait->use[i].present) {
            return kw_fail(err, KW_MISSING, "%s: %s has no %s; `kwright show %s` lists its axes", traits->name, kw_family_table[i]->name,
                           trait->name, kw_family_table[i]->name);
        }
    }
    return KW_OK;
}

static kw_status read_config_traits(kw_traits *traits, const char *text, kw_error *err) {
    kw_scan scan = kw_scan_string(text);
    kw_word word, name, value;
    kw_trait *list = kw_arena_array(&traits->arena, WORDS_MAX, sizeof *list);
    kw_status status = list ? read_head(traits, &scan, err) : kw_fail_memory(err, traits->name);
    traits->traits = list;
    while (!status && kw_scan_word(&scan, &word)) {
        bool listed = false;
        if (!split_axis_word(word, &name, &value) || !value.size) {
            return kw_fail(err, KW_MALFORMED, "%s: %.*s is not of the form axis=value", traits->name, KW_WORD(word));
        }
        if (traits->count == WORDS_MAX) {
            return kw_fail(err, KW_MALFORMED, "%s: more than %d values are given", traits->name, WORDS_MAX);
        }
        status = add_word(traits, &list[traits->count], name, value, &listed, err);
        status = status || !listed ? status : check_family_has(traits, &list[traits->count], err);
        traits->count += listed;
    }
    return status;
}

kw_status kw_traits_of_config(kw_traits *traits, const char *text, kw_error *err) {
    kw_status status = start_traits(traits, "config", err);
    traits->of_config = true;
    status = status ? status : read_config_traits(traits, text, err);
    if (status) {
        kw_traits_drop(traits);
    }
    return status;
}
