/* traits.c: trait files, through jansson. Reading is strict about form, names and values; what a file means for one config is a walk over its
 * few traits. */
#include "space/ck/traits.h"

#include "base/os/file.h"
#include "json/json_read.h"

#include <stdio.h>
#include <string.h>

enum { FILE_LIMIT = 1 << 20, NAMES_MAX = 1024 };

/* Words that files of the system this one re-creates use, besides the names of our axes. alias is another name of the same trait. */
static const struct known_name {
    const char *name, *alias;
} known_names[] = {
    {"pipeline", NULL},           {"scheduler", "wave_mode"}, {"wave_mode", "scheduler"}, {"num_groups_to_merge", NULL},
    {"double_smem_buffer", NULL}, {"split_image", NULL},      {"explicit_gemm", NULL},    {"two_stage", NULL},
    {"epilogue", NULL},           {"layout", NULL},           {"block_per_cu", NULL},     {"num_wave_groups", NULL},
};
enum { KNOWN_COUNT = sizeof known_names / sizeof *known_names };

static const struct variant {
    const char *name;
    kw_op op;
} variants[] = {
    {"forward", KW_CONV_FWD},
    {"fwd", KW_CONV_FWD},
    {"conv_fwd", KW_CONV_FWD},
    {"bwd_data", KW_CONV_BWD_DATA},
    {"backward_data", KW_CONV_BWD_DATA},
    {"conv_bwd_data", KW_CONV_BWD_DATA},
    {"bwd_weight", KW_CONV_BWD_WEIGHT},
    {"backward_weight", KW_CONV_BWD_WEIGHT},
    {"conv_bwd_weight", KW_CONV_BWD_WEIGHT},
    {"gemm", KW_GEMM},
};

/* --- names ------------------------------------------------------------------------------------------------------ */

static const char *alias_of(const char *name) {
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        if (!strcmp(known_names[i].name, name)) {
            return known_names[i].alias;
        }
    }
    return NULL;
}

/* The family's axis that a trait speaks of; NULL when it has none. */
static const kw_axis *find_trait_axis(const kw_family *family, const char *trait) {
    const char *alias = alias_of(trait);
    int position = kw_family_axis(family, (kw_word){trait, strlen(trait)});
    if (position < 0 && alias) {
        position = kw_family_axis(family, (kw_word){alias, strlen(alias)});
    }
    return position < 0 ? NULL : &family->axes[position];
}

static bool is_known(const char *trait) {
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        if (!strcmp(known_names[i].name, trait)) {
            return true;
        }
    }
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        if (find_trait_axis(*family, trait)) {
            return true;
        }
    }
    return false;
}

static bool is_listed_trait(const kw_line *names, const char *name) {
    size_t size = strlen(name);
    for (const char *at = names->data; (at = strstr(at, name)); at += size) {
        if ((at == names->data || at[-1] == ' ') && (!at[size] || at[size] == ' ')) {
            return true;
        }
    }
    return false;
}

static void add_trait_name(kw_line *names, const char *name) {
    if (!is_listed_trait(names, name)) {
        kw_line_addf(names, "%s%s", names->size ? " " : "", name);
    }
}

static kw_status fail_unknown_trait(const char *file, const char *trait, kw_error *err) {
    char text[NAMES_MAX] = "";
    kw_line names = {text, sizeof text, 0};
    add_trait_name(&names, "data_type");
    add_trait_name(&names, "ndim_spatial");
    add_trait_name(&names, "family");
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        for (int i = 0; i < (*family)->axis_count; i++) {
            add_trait_name(&names, (*family)->axes[i].name);
        }
    }
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        add_trait_name(&names, known_names[i].name);
    }
    return kw_fail(err, KW_MISSING, "%s: trait \"%.60s\" is not known; known: %s", file, trait, text);
}

/* --- values ----------------------------------------------------------------------------------------------------- */

static kw_status fail_value(const kw_traits *traits, const char *trait, const kw_trait_value *value, const char *known, kw_error *err) {
    return kw_fail(err, KW_ILLEGAL, "%s: %s: %.60s is no value of it; known: %s", traits->name, trait, value->text, known);
}

/* Whether the axis takes the value; *number gets it as a config has it. */
static bool axis_value(const kw_axis *axis, const kw_trait_value *value, int32_t *number) {
    if (!axis->words) {
        *number = (int32_t)value->number;
        return value->is_number && value->number >= axis->low && value->number <= axis->high;
    }
    kw_scan scan = kw_scan_string(axis->words);
    kw_word word;
    for (*number = 0; kw_scan_word(&scan, &word); ++*number) {
        if (kw_word_is(word, value->text)) {
            return true;
        }
    }
    return false;
}

/* A value must belong to the axis of some family; without such a family it is not looked at. */
static kw_status check_value(const kw_traits *traits, const char *trait, const kw_trait_value *value, kw_error *err) {
    char known[256] = "";
    kw_line line = {known, sizeof known, 0};
    bool has_axis = false;
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        const kw_axis *axis = find_trait_axis(*family, trait);
        int32_t number;
        if (axis && axis_value(axis, value, &number)) {
            return KW_OK;
        }
        if (axis) {
            has_axis = true;
            kw_line_addf(&line, "%s%s: ", line.size ? "; " : "", (*family)->name);
            if (axis->words) {
                kw_line_addf(&line, "%s", axis->words);
            } else {
                kw_line_addf(&line, "%d to %d", axis->low, axis->high);
            }
        }
    }
    return has_axis ? fail_value(traits, trait, value, known, err) : KW_OK;
}

static kw_status set_dtypes(kw_traits *traits, const kw_trait *trait, kw_error *err) {
    traits->dtypes = 0;
    for (size_t i = 0; i < trait->count; i++) {
        kw_dtype dtype;
        if (!kw_dtype_find(&dtype, trait->values[i].text)) {
            return fail_value(traits, trait->name, &trait->values[i], kw_dtype_names(), err);
        }
        traits->dtypes |= 1u << dtype;
    }
    return KW_OK;
}

static kw_status set_ndim(kw_traits *traits, const kw_trait *trait, kw_error *err) {
    traits->ndim = 0;
    for (size_t i = 0; i < trait->count; i++) {
        const kw_trait_value *value = &trait->values[i];
        if (!value->is_number || value->number < 1 || value->number > 3) {
            return fail_value(traits, trait->name, value, "1 2 3", err);
        }
        traits->ndim |= 1u << value->number;
    }
    return KW_OK;
}

static kw_status set_families(kw_traits *traits, const kw_trait *trait, kw_error *err) {
    traits->families = 0;
    for (size_t i = 0; i < trait->count; i++) {
        const kw_trait_value *value = &trait->values[i];
        const kw_family *wanted = kw_family_find((kw_word){value->text, strlen(value->text)});
        if (!wanted) {
            return fail_value(traits, trait->name, value, "what `kwright show` lists", err);
        }
        for (int position = 0; kw_family_table[position]; position++) {
            traits->families |= kw_family_table[position] == wanted ? 1u << position : 0;
        }
    }
    return KW_OK;
}

/* --- the file --------------------------------------------------------------------------------------------------- */

static kw_status read_trait_value(kw_traits *traits, kw_trait_value *out, const json_t *json, const char *trait, kw_error *err) {
    *out = (kw_trait_value){0};
    if (json_is_string(json)) {
        /* No zero byte is inside: the reader refuses them. */
        out->text = kw_arena_copy(&traits->arena, json_string_value(json), json_string_length(json));
    } else if (json_is_integer(json)) {
        *out = (kw_trait_value){NULL, json_integer_value(json), true};
        out->text = kw_arena_format(&traits->arena, "%lld", (long long)out->number);
    } else if (json_is_boolean(json)) {
        *out = (kw_trait_value){json_is_true(json) ? "true" : "false", json_is_true(json), true};
    } else {
        return kw_fail(err, KW_MALFORMED, "%s: %s: a value is a string, an integer, true or false", traits->name, trait);
    }
    return out->text ? KW_OK : kw_fail_memory(err, traits->name);
}

/* {"values": [...]} */
static kw_status read_trait_values(kw_traits *traits, kw_trait *out, const json_t *json, kw_error *err) {
    const json_t *list = json_object_get(json, "values");
    if (!json_is_object(json) || json_object_size(json) != 1 || !json_is_array(list) || !json_array_size(list)) {
        return kw_fail(err, KW_MALFORMED, "%s: %.60s must be {\"values\": [...]} with one value or more", traits->name, out->name);
    }
    out->count = json_array_size(list);
    kw_trait_value *values = kw_arena_array(&traits->arena, out->count, sizeof *values);
    out->values = values;
    kw_status status = values ? KW_OK : kw_fail_memory(err, traits->name);
    for (size_t i = 0; !status && i < out->count; i++) {
        status = read_trait_value(traits, &values[i], json_array_get(list, i), out->name, err);
    }
    return status;
}

static kw_status read_trait(kw_traits *traits, kw_trait *trait, const json_t *json, bool *fixed, kw_error *err) {
    static const struct {
        const char *name;
        kw_status (*set)(kw_traits *traits, const kw_trait *trait, kw_error *err);
    } fixed_names[] = {{"data_type", set_dtypes}, {"dtype", set_dtypes}, {"ndim_spatial", set_ndim}, {"family", set_families}};
    kw_status status = read_trait_values(traits, trait, json, err);
    *fixed = false;
    for (size_t i = 0; !status && i < sizeof fixed_names / sizeof *fixed_names; i++) {
        if (!strcmp(trait->name, fixed_names[i].name)) {
            *fixed = true;
            return fixed_names[i].set(traits, trait, err);
        }
    }
    if (!status && !is_known(trait->name)) {
        return fail_unknown_trait(traits->name, trait->name, err);
    }
    for (size_t i = 0; !status && i < trait->count; i++) {
        status = check_value(traits, trait->name, &trait->values[i], err);
    }
    return status;
}

static kw_status read_traits(kw_traits *traits, const json_t *json, kw_error *err) {
    if (!json_is_object(json)) {
        return kw_fail(err, KW_MALFORMED, "%s: \"trait_config\" must be an object, {\"tile_w\": {\"values\": [...]}, ...}", traits->name);
    }
    kw_trait *list = kw_arena_array(&traits->arena, json_object_size(json) + 1, sizeof *list);
    if (!list) {
        return kw_fail_memory(err, traits->name);
    }
    traits->traits = list;
    const char *key;
    json_t *value;
    kw_status status = KW_OK;
    json_object_foreach((json_t *)json, key, value) {
        bool fixed = false;
        kw_trait *trait = &list[traits->count];
        *trait = (kw_trait){.name = kw_arena_copy(&traits->arena, key, strlen(key))};
        status = trait->name ? read_trait(traits, trait, value, &fixed, err) : kw_fail_memory(err, traits->name);
        if (status) {
            return status;
        }
        traits->count += !fixed;
    }
    return status;
}

static kw_status read_variant(kw_traits *traits, const json_t *json, kw_error *err) {
    const char *text = json_string_value(json);
    for (size_t i = 0; text && i < sizeof variants / sizeof *variants; i++) {
        if (!strcmp(text, variants[i].name)) {
            traits->ops = 1u << variants[i].op;
            return KW_OK;
        }
    }
    return kw_fail(err, KW_MISSING, "%s: variant \"%.60s\" is not known; known: forward (fwd), bwd_data, bwd_weight, gemm", traits->name,
                   text ? text : "");
}

static kw_status read_root(kw_traits *traits, const json_t *root, kw_error *err) {
    const char *key;
    json_t *value;
    if (!json_is_object(root)) {
        return kw_fail(err, KW_MALFORMED, "%s: a trait file is {\"variant\": ..., \"trait_config\": {...}}", traits->name);
    }
    json_object_foreach((json_t *)root, key, value) {
        if (strcmp(key, "variant") && strcmp(key, "trait_config")) {
            return kw_fail(err, KW_MISSING, "%s: unknown key \"%.60s\"; known: variant trait_config", traits->name, key);
        }
    }
    const json_t *variant = json_object_get(root, "variant"), *config = json_object_get(root, "trait_config");
    kw_status status = variant ? read_variant(traits, variant, err) : KW_OK;
    if (!status && !config) {
        status = kw_fail(err, KW_MALFORMED, "%s: has no \"trait_config\"", traits->name);
    }
    return status ? status : read_traits(traits, config, err);
}

kw_status kw_traits_read(kw_traits *traits, const char *name, const char *text, size_t size, kw_error *err) {
    *traits = (kw_traits){.ops = UINT32_MAX, .dtypes = UINT32_MAX, .ndim = UINT32_MAX, .families = UINT32_MAX};
    json_t *root;
    kw_status status = kw_json_read(&root, name, text, size, err);
    traits->name = status ? NULL : kw_arena_copy(&traits->arena, name, strlen(name));
    if (!status && !traits->name) {
        status = kw_fail_memory(err, name);
    }
    if (!status) {
        status = read_root(traits, root, err);
    }
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

/* --- use -------------------------------------------------------------------------------------------------------- */

static bool trait_allows(const kw_trait *trait, const kw_config *config) {
    const kw_axis *axis = find_trait_axis(config->family, trait->name);
    if (!axis) {
        return true;
    }
    int32_t has = config->axis[axis - config->family->axes], number;
    for (size_t i = 0; i < trait->count; i++) {
        if (axis_value(axis, &trait->values[i], &number) && number == has) {
            return true;
        }
    }
    return false;
}

static bool family_allowed(const kw_traits *traits, const kw_family *wanted) {
    int position = 0;
    while (kw_family_table[position] && kw_family_table[position] != wanted) {
        position++;
    }
    return traits->families >> position & 1;
}

bool kw_traits_allow(const kw_traits *traits, const kw_config *config) {
    bool allowed = traits->ops >> config->op & 1 && traits->dtypes >> config->dtype & 1 && family_allowed(traits, config->family);
    for (size_t i = 0; allowed && i < traits->count; i++) {
        allowed = trait_allows(&traits->traits[i], config);
    }
    return allowed;
}

void kw_traits_warn(const kw_traits *traits, kw_device_kind kind, void (*log)(void *user, const char *line), void *user) {
    for (size_t i = 0; log && i < traits->count; i++) {
        bool has = false;
        for (const kw_family *const *family = kw_family_table; *family; family++) {
            has = has || ((*family)->kind == kind && find_trait_axis(*family, traits->traits[i].name));
        }
        if (!has) {
            char line[256];
            snprintf(line, sizeof line, "%.120s: trait %.60s is passed over: no kernel family for %s has it", traits->name,
                     traits->traits[i].name, kw_device_kind_name(kind));
            log(user, line);
        }
    }
}
