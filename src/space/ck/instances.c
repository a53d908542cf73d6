/* instances.c: the members of an instance, of what stands around the list and of the objects in it are one flat list of names and values; the
 * family is the first one for GPUs that has all of them. */
#include "space/ck/instances.h"

#include "problem/names/names.h"
#include "space/ck/builder_igemm.h"
#include "space/ck/fields.h"

#include <stdio.h>
#include <string.h>

enum { MEMBERS = 64, TEXT = 32 };

typedef struct member {
    char name[TEXT], text[TEXT];
    kw_field_value value; /* its text is the member's */
} member;

typedef struct instance {
    const char *file;
    size_t index;
    member members[MEMBERS];
    int count;
    kw_op op;
    kw_dtype dtype;
    kw_error *err;
} instance;

/* --- members ------------------------------------------------------------------------------------------------------------------ */

static kw_status fail_instance(instance *in, kw_status status, const char *what, const char *value) {
    return kw_fail(in->err, status, "%.200s: instance %zu: %.60s %.100s", in->file, in->index, what, value);
}

/* Of neither which kernel it is: numbers and names in the list, launch bounds, which follow from the kernel here, and the architecture, which
 * --arch and the device say. */
static bool says_no_kernel(const char *name) {
    static const char *const names[] = {"id", "name", "arch", "metadata", "block_per_cu", "k_block_per_cu", "instances", "kernels"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(name, names[i])) {
            return true;
        }
    }
    return *name == '_';
}

static kw_status add_member(instance *in, const char *name, const char *text, int64_t number, bool is_number) {
    if (in->count == MEMBERS) {
        return fail_instance(in, KW_MALFORMED, name, "is one member too many");
    }
    member *m = &in->members[in->count];
    bool whole = snprintf(m->name, TEXT, "%s", name) < TEXT && snprintf(m->text, TEXT, "%s", text) < TEXT;
    if (!whole) {
        return fail_instance(in, KW_MISSING, name, "is not known, or its value is not");
    }
    m->value = (kw_field_value){m->text, number, is_number};
    in->count++;
    return KW_OK;
}

static kw_status add_number(instance *in, const char *name, int64_t number) {
    char text[TEXT];
    snprintf(text, sizeof text, "%lld", (long long)number);
    return add_member(in, name, text, number, true);
}

/* Three numbers that are one member. */
typedef struct triple {
    const char *name, *axes[3];
} triple;

static const triple triples[] = {
    {"wave", {"warp_m", "warp_n", "warp_k"}}, /* "2x2x1" */
    {"warp", {"warp_tile_m", "warp_tile_n", "warp_tile_k"}},
    {"vector_sizes", {"vector_size_a", "vector_size_b", "vector_size_c"}}, /* [4, 8, 8] */
};

static const triple *find_triple(const char *name) {
    for (size_t i = 0; i < sizeof triples / sizeof *triples; i++) {
        if (!strcmp(name, triples[i].name)) {
            return &triples[i];
        }
    }
    return NULL;
}

static kw_status add_triple(instance *in, const triple *of, const json_t *json) {
    int64_t number[3] = {0};
    bool good = json_is_string(json) || json_array_size(json) == 3;
    kw_scan scan = kw_scan_string(json_is_string(json) ? json_string_value(json) : "");
    for (int i = 0; good && i < 3; i++) {
        const json_t *element = json_array_get(json, (size_t)i);
        number[i] = json_integer_value(element);
        good =
            json_is_string(json) ? (!i || kw_scan_char(&scan, 'x')) && kw_scan_int(&scan, 1, 1024, &number[i]) : json_is_integer(element);
    }
    if (!good || scan.at != scan.end) {
        return fail_instance(in, KW_MALFORMED, of->name, "is neither AxBxC nor three whole numbers");
    }
    kw_status status = KW_OK;
    for (int i = 0; !status && i < 3; i++) {
        status = add_number(in, of->axes[i], number[i]);
    }
    return status;
}

/* Depthwise lists have a variant of their own. */
static bool take_variant(instance *in, const char *text) {
    static const char depthwise[] = "_depthwise";
    char variant[TEXT];
    size_t size = strlen(text), tail = sizeof depthwise - 1;
    snprintf(variant, sizeof variant, "%.*s", (int)(size > tail && !strcmp(text + size - tail, depthwise) ? size - tail : size), text);
    return kw_variant_find(&in->op, variant);
}

static kw_status add_word_member(instance *in, const char *name, const char *text) {
    if (!strcmp(name, "variant")) {
        return take_variant(in, text) ? KW_OK
                                      : fail_instance(in, KW_MISSING, text, "is no variant; known: forward bwd_data bwd_weight gemm");
    }
    if (!strcmp(name, "dtype") || !strcmp(name, "datatype") || !strcmp(name, "data_type")) {
        return kw_dtype_of_word(&in->dtype, (kw_word){text, strlen(text)})
                   ? KW_OK
                   : fail_instance(in, KW_MISSING, text, "is no type; known: " KW_DTYPE_WORDS(" "));
    }
    return add_member(in, name, text, 0, false);
}

static kw_status add_members(instance *in, const json_t *object);

static kw_status add_json_member(instance *in, const char *name, const json_t *json) {
    const triple *of = find_triple(name);
    if (of) {
        return add_triple(in, of, json);
    }
    if (json_is_object(json)) { /* signature, algorithm */
        return add_members(in, json);
    }
    if (json_is_string(json)) {
        return add_word_member(in, name, json_string_value(json));
    }
    if (json_is_boolean(json)) {
        return add_member(in, name, json_is_true(json) ? "true" : "false", json_is_true(json), true);
    }
    return json_is_integer(json) ? add_number(in, name, json_integer_value(json))
                                 : fail_instance(in, KW_MALFORMED, name, "is no word, whole number, true or false");
}

static kw_status add_members(instance *in, const json_t *object) {
    const char *key;
    json_t *value;
    kw_status status = KW_OK;
    json_object_foreach((json_t *)object, key, value) {
        if (!status && !says_no_kernel(key) && !json_is_null(value)) {
            status = add_json_member(in, key, value);
        }
    }
    return status;
}

/* What the builder's own list says by the end of a kernel's name alone: grouped_conv_..._dsb_si_2stage. */
static kw_status add_suffixes(instance *in, const char *name) {
    static const struct {
        const char *suffix, *field;
    } all[] = {{"_dsb", "double_smem_buffer"}, {"_si", "split_image"}, {"_2stage", "two_stage"}};
    kw_status status = KW_OK;
    for (size_t i = 0; name && !status && i < sizeof all / sizeof *all; i++) {
        const char *at = strstr(name, all[i].suffix);
        char after = at ? at[strlen(all[i].suffix)] : 'x';
        status = !after || after == '_' ? add_member(in, all[i].field, "true", 1, true) : KW_OK;
    }
    return status;
}

/* --- the config --------------------------------------------------------------------------------------------------------------- */

/* Layout and count of axes where the family has no axis for them: what its rules leave. */
static bool fits_family(const kw_family *family, const member *m) {
    kw_layout layout;
    int32_t ndim;
    if (!strcmp(m->name, "layout")) {
        return kw_layout_of_word(&layout, &ndim, (kw_word){m->text, strlen(m->text)}) && kw_family_layouts(family) >> layout & 1;
    }
    return !strcmp(m->name, "ndim_spatial") && m->value.number >= 1 && m->value.number <= 3 &&
           kw_family_ndims(family) >> m->value.number & 1;
}

/* Whether an axis value is what all members of the axis say; *named: some does. */
static bool is_wanted(const instance *in, const kw_family *family, int axis, int32_t value, bool *named) {
    bool good = true;
    *named = false;
    for (int i = 0; i < in->count; i++) {
        kw_field_place place;
        if (kw_field_find(&place, family, in->members[i].name) && place.axis == axis) {
            *named = true;
            good = good && kw_field_matches(family, &place, &in->members[i].value, value);
        }
    }
    return good;
}

/* The member that the family cannot have as it is said; NULL: it can have all. */
static const member *first_strange(const instance *in, const kw_family *family) {
    for (int i = 0; i < in->count; i++) {
        const member *m = &in->members[i];
        kw_field_place place;
        bool has = kw_field_find(&place, family, m->name);
        if (has ? !kw_field_takes(family, &place, &m->value) : !fits_family(family, m)) {
            return m;
        }
    }
    return NULL;
}

/* The config of a family that can have all members. What none names is what no list names, then the axis's first value. */
static bool set_axes(const instance *in, kw_config *config) {
    const kw_family *family = config->family;
    kw_config said = *config;
    bool named[KW_AXIS_MAX] = {false};
    for (int i = 0; i < family->axis_count; i++) {
        const kw_axis *axis = &family->axes[i];
        int32_t value = kw_axis_low(axis);
        while (!is_wanted(in, family, i, value, &named[i])) {
            if (value++ == kw_axis_high(axis)) {
                return false;
            }
        }
        config->axis[i] = said.axis[i] = value;
    }
    kw_igemm_complete(config);
    for (int i = 0; i < family->axis_count; i++) {
        config->axis[i] = named[i] ? said.axis[i] : config->axis[i];
    }
    return true;
}

static const kw_family *find_instance_family(const instance *in, const member **strange) {
    const kw_family *last = NULL;
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        const kw_family *f = *family;
        if (f->kind != KW_KIND_GPU || !f->axis_count || !(f->ops >> in->op & 1) || !(f->dtypes >> in->dtype & 1)) {
            continue;
        }
        const member *here = first_strange(in, f);
        if (!here) {
            return f;
        }
        /* The message is of the family that gets farthest. */
        if (!last || here > *strange) {
            last = f;
            *strange = here;
        }
    }
    return NULL;
}

static kw_status refuse_member(instance *in, const member *strange) {
    if (!strange) {
        return fail_instance(in, KW_MISSING, kw_op_name(in->op), "has no generated kernels for GPUs in its type");
    }
    char hint[KW_HINT_MAX] = "";
    bool known = kw_field_known(strange->name) || !strcmp(strange->name, "layout") || !strcmp(strange->name, "ndim_spatial");
    if (!known) {
        kw_field_hint(hint, strange->name, "");
    }
    return kw_fail(in->err, KW_MISSING, "%.200s: instance %zu: %s%s%.40s is %s%s", in->file, in->index, strange->name, known ? " " : "",
                   known ? strange->text : "", known ? "what no kernel beside its other values has" : "not known", hint);
}

/* The published depthwise lists say three axes beside a layout of two (ngchw); their kernels have two. Beside channels last the axes count:
 * the builder writes nhwgc for any number of them. */
static void settle_axes(instance *in) {
    kw_layout layout = KW_LAYOUT_COUNT;
    int32_t ndim = 0;
    for (int i = 0; i < in->count; i++) {
        if (!strcmp(in->members[i].name, "layout")) {
            kw_layout_of_word(&layout, &ndim, (kw_word){in->members[i].text, strlen(in->members[i].text)});
        }
    }
    for (int i = 0; layout == KW_CHANNELS_FIRST && i < in->count; i++) {
        if (!strcmp(in->members[i].name, "ndim_spatial")) {
            in->members[i].value.number = ndim;
            snprintf(in->members[i].text, TEXT, "%d", (int)ndim);
        }
    }
}

static kw_status add_instance(kw_catalog *out, kw_instance_count *count, instance *in) {
    const member *strange = NULL;
    if (in->op == KW_OP_COUNT || in->dtype == KW_DTYPE_COUNT) {
        return fail_instance(in, KW_MALFORMED, in->op == KW_OP_COUNT ? "variant" : "datatype", "is not said, beside it or beside the list");
    }
    settle_axes(in);
    kw_config config = {.family = find_instance_family(in, &strange), .op = in->op, .dtype = in->dtype};
    if (!config.family) {
        return refuse_member(in, strange);
    }
    kw_error why = {0};
    if (!set_axes(in, &config)) {
        kw_fail(&why, KW_ILLEGAL, "its members contradict each other");
    } else if (!kw_config_check(&config, &why)) {
        return kw_catalog_add(out, &config, NULL, in->err);
    }
    if (!count->refused++) {
        snprintf(count->first, sizeof count->first, "instance %zu: %.220s", in->index, why.text);
    }
    return KW_OK;
}

bool kw_instances_are(const json_t *root) {
    return json_is_array(json_object_get(root, "instances")) || json_is_array(json_object_get(root, "kernels"));
}

kw_status kw_instances_read(kw_catalog *out, kw_instance_count *count, const char *name, const json_t *root, kw_error *err) {
    const json_t *instances = json_object_get(root, "instances"), *list = instances ? instances : json_object_get(root, "kernels");
    kw_status status = KW_OK;
    *count = (kw_instance_count){0};
    for (size_t i = 0; !status && i < json_array_size(list); i++) {
        const json_t *object = json_array_get(list, i);
        instance in = {.file = name, .index = i, .op = KW_OP_COUNT, .dtype = KW_DTYPE_COUNT, .err = err};
        status = json_is_object(object) ? add_members(&in, root) : fail_instance(&in, KW_MALFORMED, "is no object", "");
        status = status ? status : add_members(&in, object);
        status = status ? status : add_suffixes(&in, instances ? NULL : json_string_value(json_object_get(object, "name")));
        status = status ? status : add_instance(out, count, &in);
        count->all++;
    }
    if (!status && count->all && count->refused == count->all) {
        status = kw_fail(err, KW_ILLEGAL, "%.200s: none of its %zu instances can be made here; %s", name, count->all, count->first);
    }
    return status;
}
