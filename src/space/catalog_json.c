/* catalog_json.c: configs from and to JSON, through jansson. Depth is bounded by jansson (2048, then an error) and in effect by the form, which
 * has three levels; the size of a file is bounded by the caller. */
#include "space/catalog_json.h"

#include "json/json_read.h"
#include "space/ck/instances.h"

#include <stdio.h>
#include <string.h>

enum { FORMAT = 1 };

/* Where in the file a fault is. */
typedef struct json_place {
    const char *name;
    size_t index;
} json_place;

static const char *type_name(const json_t *value) {
    static const char *const names[] = {"an object", "an array", "a string", "an integer", "a real number", "true", "false", "null"};
    return names[json_typeof(value)];
}

static kw_status read_string(kw_word *out, const json_t *object, const char *key, json_place at, kw_error *err) {
    const json_t *value = json_object_get(object, key);
    if (!value) {
        return kw_fail(err, KW_MALFORMED, "%s: configs[%zu] has no \"%s\"", at.name, at.index, key);
    }
    if (!json_is_string(value)) {
        return kw_fail(err, KW_MALFORMED, "%s: configs[%zu]: \"%s\" is %s; it must be a string", at.name, at.index, key, type_name(value));
    }
    *out = (kw_word){json_string_value(value), json_string_length(value)};
    return KW_OK;
}

/* Position of the value among the axis's words; -1 when it is none of them. */
static int32_t find_axis_word(const char *words, kw_word wanted) {
    kw_scan scan = kw_scan_string(words);
    kw_word word;
    for (int32_t i = 0; kw_scan_word(&scan, &word); i++) {
        if (word.size == wanted.size && !memcmp(word.at, wanted.at, word.size)) {
            return i;
        }
    }
    return -1;
}

static kw_status read_json_axis(int32_t *out, const json_t *object, const kw_axis *axis, json_place at, kw_error *err) {
    if (axis->words) {
        kw_word word = {0};
        kw_status status = read_string(&word, object, axis->name, at, err);
        *out = status ? -1 : find_axis_word(axis->words, word);
        if (!status && *out < 0) {
            status = kw_fail(err, KW_ILLEGAL, "%s: configs[%zu]: %s \"%.*s\" is not one of: %s", at.name, at.index, axis->name,
                             KW_WORD(word), axis->words);
        }
        return status;
    }
    const json_t *value = json_object_get(object, axis->name);
    if (!value) {
        return kw_fail(err, KW_MALFORMED, "%s: configs[%zu] has no \"%s\"; a config names every axis", at.name, at.index, axis->name);
    }
    if (!json_is_integer(value)) {
        return kw_fail(err, KW_MALFORMED, "%s: configs[%zu]: \"%s\" is %s; it must be an integer", at.name, at.index, axis->name,
                       type_name(value));
    }
    json_int_t number = json_integer_value(value);
    if (number < axis->low || number > axis->high) {
        return kw_fail(err, KW_ILLEGAL, "%s: configs[%zu]: %s %lld is outside %d..%d", at.name, at.index, axis->name, (long long)number,
                       axis->low, axis->high);
    }
    *out = (int32_t)number;
    return KW_OK;
}

static kw_status check_keys(const json_t *object, const kw_family *family, json_place at, kw_error *err) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        bool known = !strcmp(key, "family") || !strcmp(key, "op") || !strcmp(key, "dtype");
        if (!known && kw_family_axis(family, (kw_word){key, strlen(key)}) < 0) {
            return kw_fail(err, KW_MISSING, "%s: configs[%zu]: %s has no axis \"%.80s\"", at.name, at.index, family->name, key);
        }
    }
    return KW_OK;
}

static kw_status read_json_names(kw_config *config, const json_t *object, json_place at, kw_error *err) {
    kw_word family, op, dtype;
    kw_status status = read_string(&family, object, "family", at, err);
    status = status ? status : read_string(&op, object, "op", at, err);
    status = status ? status : read_string(&dtype, object, "dtype", at, err);
    if (status) {
        return status;
    }
    config->family = kw_family_find(family);
    if (!config->family) {
        return kw_fail(err, KW_MISSING, "%s: configs[%zu]: family \"%.*s\" is not known", at.name, at.index, KW_WORD(family));
    }
    while (config->op < KW_OP_COUNT && !kw_word_is(op, kw_op_name(config->op))) {
        config->op++;
    }
    while (config->dtype < KW_DTYPE_COUNT && !kw_word_is(dtype, kw_dtype_name(config->dtype))) {
        config->dtype++;
    }
    if (config->op == KW_OP_COUNT || config->dtype == KW_DTYPE_COUNT) {
        kw_word wrong = config->op == KW_OP_COUNT ? op : dtype;
        return kw_fail(err, KW_MISSING, "%s: configs[%zu]: %s \"%.*s\" is not known", at.name, at.index,
                       config->op == KW_OP_COUNT ? "op" : "dtype", KW_WORD(wrong));
    }
    return KW_OK;
}

static kw_status read_json_config(kw_config *config, const json_t *object, json_place at, kw_error *err) {
    *config = (kw_config){0};
    if (!json_is_object(object)) {
        return kw_fail(err, KW_MALFORMED, "%s: configs[%zu] is %s; it must be an object", at.name, at.index, type_name(object));
    }
    kw_status status = read_json_names(config, object, at, err);
    status = status ? status : check_keys(object, config->family, at, err);
    for (int i = 0; !status && i < config->family->axis_count; i++) {
        status = read_json_axis(&config->axis[i], object, &config->family->axes[i], at, err);
    }
    if (!status) {
        kw_error why = {0};
        status = kw_config_check(config, &why);
        if (status) {
            kw_fail(err, status, "%s: configs[%zu]: %s", at.name, at.index, why.text);
        }
    }
    return status;
}

static kw_status read_json_configs(kw_catalog *catalog, const char *name, const json_t *root, kw_error *err) {
    const char *key;
    json_t *value;
    if (!json_is_object(root)) {
        return kw_fail(err, KW_MALFORMED, "%s: is %s; a registry is {\"kernelwright\": 1, \"configs\": [...]}", name, type_name(root));
    }
    json_object_foreach((json_t *)root, key, value) {
        if (strcmp(key, "kernelwright") && strcmp(key, "configs")) {
            return kw_fail(err, KW_MISSING, "%s: unknown key \"%.80s\"; known: kernelwright configs", name, key);
        }
    }
    const json_t *format = json_object_get(root, "kernelwright"), *configs = json_object_get(root, "configs");
    if (!json_is_integer(format) || json_integer_value(format) != FORMAT) {
        return kw_fail(err, KW_MALFORMED, "%s: \"kernelwright\" must be %d, the version of the form", name, FORMAT);
    }
    if (!json_is_array(configs)) {
        return kw_fail(err, KW_MALFORMED, "%s: \"configs\" must be an array", name);
    }
    kw_status status = KW_OK;
    for (size_t i = 0; !status && i < json_array_size(configs); i++) {
        kw_config config;
        status = read_json_config(&config, json_array_get(configs, i), (json_place){name, i}, err);
        status = status ? status : kw_catalog_add(catalog, &config, NULL, err);
    }
    return status;
}

static kw_status read_instances(kw_catalog *catalog, char *remark, const char *name, const json_t *root, kw_error *err) {
    kw_instance_count count;
    kw_status status = kw_instances_read(catalog, &count, name, root, err);
    if (!status && count.refused && remark) {
        snprintf(remark, KW_CATALOG_REMARK_MAX, "%.80s: %zu of %zu instances cannot be made here and are left out; %.200s", name,
                 count.refused, count.all, count.first);
    }
    return status;
}

kw_status kw_catalog_json_read(kw_catalog *catalog, char remark[KW_CATALOG_REMARK_MAX], const char *name, const char *text, size_t size,
                               kw_error *err) {
    json_t *root;
    kw_status status = kw_json_read(&root, name, text, size, err);
    if (remark) {
        *remark = 0;
    }
    if (!status) {
        status = kw_instances_are(root) ? read_instances(catalog, remark, name, root, err) : read_json_configs(catalog, name, root, err);
    }
    json_decref(root);
    return status;
}

static bool set_axis(json_t *object, const kw_config *config, const kw_axis *axis, int32_t value) {
    if (!axis->words) {
        return !json_object_set_new(object, axis->name, json_integer(value));
    }
    kw_word word = kw_config_axis_word(config, axis->name);
    return !json_object_set_new(object, axis->name, json_stringn(word.at, word.size));
}

static bool print_config(kw_text *out, const kw_config *config) {
    json_t *object = json_object();
    bool good = object && !json_object_set_new(object, "family", json_string(config->family->name)) &&
                !json_object_set_new(object, "op", json_string(kw_op_name(config->op))) &&
                !json_object_set_new(object, "dtype", json_string(kw_dtype_name(config->dtype)));
    for (int i = 0; good && i < config->family->axis_count; i++) {
        good = set_axis(object, config, &config->family->axes[i], config->axis[i]);
    }
    char line[4 * KW_CONFIG_TEXT_MAX];
    size_t size = good ? json_dumpb(object, line, sizeof line, 0) : 0;
    json_decref(object);
    if (!size || size > sizeof line) {
        return false;
    }
    kw_text_add_bytes(out, line, size);
    return true;
}

kw_status kw_catalog_json_print(kw_text *out, const kw_catalog *catalog, kw_error *err) {
    bool good = true;
    kw_text_addf(out, "{\"kernelwright\": %d, \"configs\": [", FORMAT);
    for (size_t i = 0; good && i < catalog->count; i++) {
        kw_text_add(out, i ? ",\n  " : "\n  ");
        good = print_config(out, &catalog->configs[i]);
    }
    kw_text_add(out, "\n]}\n");
    return good && !out->failed ? KW_OK : kw_fail_memory(err, "a registry's JSON");
}
