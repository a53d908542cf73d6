/* traits.c: what lists of allowed values mean: which names and values there are, and whether a config is allowed. What a name is for a
 * family is looked up once, when a trait is added. */
#include "space/ck/traits_internal.h"

#include <stdio.h>
#include <string.h>

static size_t family_count(void) {
    size_t count = 0;
    while (kw_family_table[count]) {
        count++;
    }
    return count;
}

/* --- fixed traits --------------------------------------------------------------------------------------------------------------- */

static kw_status fail_value(const kw_traits *traits, const kw_trait *trait, const kw_field_value *value, const char *known, kw_error *err) {
    const char *instead = kw_field_instead(value->text);
    return instead ? kw_fail(err, KW_ILLEGAL, "%s: %s: %.60s is no value of it; write %s", traits->name, trait->name, value->text, instead)
                   : kw_fail(err, KW_ILLEGAL, "%s: %s: %.60s is no value of it; known: %s", traits->name, trait->name, value->text, known);
}

static kw_status set_dtypes(kw_traits *traits, const kw_trait *trait, kw_error *err) {
    uint32_t bits = 0;
    for (size_t i = 0; i < trait->count; i++) {
        kw_dtype dtype;
        if (!kw_dtype_find(&dtype, trait->values[i].text)) {
            return fail_value(traits, trait, &trait->values[i], kw_dtype_names(), err);
        }
        bits |= 1u << dtype;
    }
    traits->dtypes &= bits;
    return KW_OK;
}

static kw_status set_variants(kw_traits *traits, const kw_trait *trait, kw_error *err) {
    uint32_t bits = 0;
    for (size_t i = 0; i < trait->count; i++) {
        kw_op op;
        if (!kw_variant_find(&op, trait->values[i].text)) {
            return kw_fail(err, KW_MISSING, "%s: variant \"%.60s\" is not known; known: forward (fwd), bwd_data, bwd_weight, gemm",
                           traits->name, trait->values[i].text);
        }
        bits |= 1u << op;
    }
    traits->ops &= bits;
    return KW_OK;
}

static kw_status set_ndim(kw_traits *traits, const kw_trait *trait, kw_error *err) {
    uint32_t bits = 0;
    for (size_t i = 0; i < trait->count; i++) {
        const kw_field_value *value = &trait->values[i];
        if (!value->is_number || value->number < 1 || value->number > 3) {
            return fail_value(traits, trait, value, "1 2 3", err);
        }
        bits |= 1u << value->number;
    }
    traits->ndim &= bits;
    return KW_OK;
}

/* Groups before images, which no kernel here has. */
static bool is_foreign_layout(const char *text) {
    static const char *const names[] = {"gnwc", "gnhwc", "gndhwc"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(text, names[i])) {
            return true;
        }
    }
    return false;
}

static kw_status set_layouts(kw_traits *traits, const kw_trait *trait, kw_error *err) {
    uint32_t bits = 0;
    for (size_t i = 0; i < trait->count; i++) {
        const char *text = trait->values[i].text;
        kw_layout layout;
        int32_t ndim;
        if (kw_layout_of_word(&layout, &ndim, (kw_word){text, strlen(text)})) {
            bits |= 1u << layout;
        } else if (is_foreign_layout(text)) {
            return kw_fail(err, KW_ILLEGAL,
                           "%s: layout: no kernel here has %s, whose groups come before the images; with one group it is %s", traits->name,
                           text,
                           strlen(text) == 6   ? "ndhwgc"
                           : strlen(text) == 5 ? "nhwgc"
                                               : "nwgc");
        } else {
            return fail_value(traits, trait, &trait->values[i], "nwgc nhwgc ndhwgc ngcw ngchw ngcdhw rcr rrr crr ccr", err);
        }
    }
    traits->layouts &= bits;
    return KW_OK;
}

static kw_status set_archs(kw_traits *traits, const kw_trait *trait, kw_error *err) {
    (void)err;
    traits->archs = trait->values;
    traits->arch_count = trait->count;
    return KW_OK;
}

static kw_status set_families(kw_traits *traits, const kw_trait *trait, kw_error *err) {
    uint64_t bits = 0;
    for (size_t i = 0; i < trait->count; i++) {
        const kw_field_value *value = &trait->values[i];
        const kw_family *wanted = kw_family_find((kw_word){value->text, strlen(value->text)});
        if (!wanted) {
            return fail_value(traits, trait, value, "what `kwright show` lists", err);
        }
        for (int position = 0; kw_family_table[position]; position++) {
            bits |= kw_family_table[position] == wanted ? (uint64_t)1 << position : 0;
        }
    }
    traits->families &= bits;
    return KW_OK;
}

static const struct fixed_trait {
    const char *name;
    kw_status (*set)(kw_traits *traits, const kw_trait *trait, kw_error *err);
} fixed_traits[] = {
    {"data_type", set_dtypes},  {"dtype", set_dtypes},   {"datatype", set_dtypes}, {"variant", set_variants}, {"op", set_variants},
    {"ndim_spatial", set_ndim}, {"layout", set_layouts}, {"arch", set_archs},      {"family", set_families},
};
enum { FIXED = sizeof fixed_traits / sizeof *fixed_traits };

bool kw_trait_is_fixed(const char *name) {
    bool found = false;
    for (size_t i = 0; i < FIXED; i++) {
        found = found || !strcmp(name, fixed_traits[i].name);
    }
    return found;
}

/* --- the others ----------------------------------------------------------------------------------------------------------------- */

static kw_status fail_unknown_trait(const char *file, const char *trait, kw_error *err) {
    const char *instead = kw_field_instead(trait);
    if (instead) {
        return kw_fail(err, KW_MISSING, "%s: trait \"%.60s\" is a structure; name %s", file, trait, instead);
    }
    char hint[KW_HINT_MAX];
    char fixed[256] = "";
    kw_line line = {fixed, sizeof fixed, 0};
    for (size_t i = 0; i < FIXED; i++) {
        kw_line_addf(&line, " %s", fixed_traits[i].name);
    }
    kw_field_hint(hint, trait, fixed);
    return kw_fail(err, KW_MISSING, "%s: trait \"%.60s\" is not known%s; docs/selection/traits.md has the names, `kwright show` the axes",
                   file, trait, hint);
}

/* A value must be one for some family; where none has the trait it is not looked at. */
static kw_status check_value(const kw_traits *traits, const kw_trait *trait, const kw_field_value *value, kw_error *err) {
    char known[512] = "";
    kw_line line = {known, sizeof known, 0};
    for (size_t i = 0; kw_family_table[i]; i++) {
        if (trait->use[i].present && kw_field_takes(kw_family_table[i], &trait->use[i].place, value)) {
            return KW_OK;
        }
        if (trait->use[i].present) {
            kw_field_add_further(&line, kw_family_table[i], &trait->use[i].place);
        }
    }
    return line.size ? fail_value(traits, trait, value, known, err) : KW_OK;
}

/* What the trait is for each family. */
static void look_up_uses(const kw_traits *traits, kw_trait *trait, kw_trait_use *use) {
    bool of_kind[KW_KIND_COUNT];
    for (int kind = 0; kind < KW_KIND_COUNT; kind++) {
        of_kind[kind] = kw_field_of_kind(trait->name, (kw_device_kind)kind);
    }
    trait->use = use;
    for (size_t i = 0; kw_family_table[i]; i++) {
        use[i] = (kw_trait_use){.passed_over = !traits->of_config && !of_kind[kw_family_table[i]->kind]};
        use[i].present = kw_field_find(&use[i].place, kw_family_table[i], trait->name);
        for (size_t j = 0; j < trait->count && use[i].present; j++) {
            use[i].allows_without = use[i].allows_without || kw_field_is_without(&use[i].place, &trait->values[j]);
        }
    }
}

kw_status kw_traits_add(kw_traits *traits, kw_trait *trait, bool *listed, kw_error *err) {
    *listed = false;
    for (size_t i = 0; i < trait->count; i++) {
        trait->any = trait->any || kw_field_is_any(&trait->values[i]);
    }
    for (size_t i = 0; i < FIXED; i++) {
        if (!strcmp(trait->name, fixed_traits[i].name)) {
            return trait->any ? KW_OK : fixed_traits[i].set(traits, trait, err);
        }
    }
    if (!kw_field_known(trait->name) || kw_field_instead(trait->name)) {
        return fail_unknown_trait(traits->name, trait->name, err);
    }
    kw_trait_use *use = kw_arena_array(&traits->arena, family_count() + 1, sizeof *use);
    if (!use) {
        return kw_fail_memory(err, traits->name);
    }
    look_up_uses(traits, trait, use);
    kw_status status = KW_OK;
    for (size_t i = 0; !status && i < trait->count; i++) {
        status = kw_field_is_any(&trait->values[i]) ? KW_OK : check_value(traits, trait, &trait->values[i], err);
    }
    *listed = true;
    return status;
}

/* --- use ------------------------------------------------------------------------------------------------------------------------ */

static size_t family_position(const kw_family *family) {
    size_t position = 0;
    while (kw_family_table[position] && kw_family_table[position] != family) {
        position++;
    }
    return position;
}

static bool trait_has(const kw_trait *trait, const kw_family *family, const kw_field_place *place, int32_t axis_value) {
    for (size_t i = 0; i < trait->count; i++) {
        if (kw_field_matches(family, place, &trait->values[i], axis_value)) {
            return true;
        }
    }
    return trait->any;
}

static bool trait_allows(const kw_trait *trait, const kw_config *config, size_t position) {
    const kw_trait_use *use = &trait->use[position];
    if (use->passed_over || !use->present) {
        return use->passed_over;
    }
    return use->place.axis < 0 ? trait->any || use->allows_without
                               : trait_has(trait, config->family, &use->place, config->axis[use->place.axis]);
}

static bool ndim_allowed(const kw_traits *traits, const kw_config *config) {
    kw_field_place place;
    bool axis = kw_field_find(&place, config->family, "ndim_spatial");
    uint32_t has = axis ? 1u << config->axis[place.axis] : kw_family_ndims(config->family);
    return config->op == KW_GEMM || has & traits->ndim;
}

/* Words of layouts that are an axis: those of products, and whether channels come first. */
static bool layout_allowed(const kw_traits *traits, const kw_config *config) {
    kw_field_place place;
    kw_layout layout;
    int32_t ndim;
    if (traits->layouts == UINT32_MAX || !kw_field_find(&place, config->family, "layout")) {
        return traits->layouts & kw_family_layouts(config->family);
    }
    const char *word = kw_field_published(config->family, &place, config->axis[place.axis]);
    kw_word own = word ? (kw_word){word, strlen(word)} : kw_config_axis_word(config, "layout");
    return !kw_layout_of_word(&layout, &ndim, own) || traits->layouts >> layout & 1;
}

bool kw_traits_allow(const kw_traits *traits, const kw_config *config) {
    size_t position = family_position(config->family);
    bool allowed = traits->ops >> config->op & 1 && traits->dtypes >> config->dtype & 1 && traits->families >> position & 1;
    allowed = allowed && (traits->ndim == UINT32_MAX || ndim_allowed(traits, config)) && layout_allowed(traits, config);
    for (size_t i = 0; allowed && i < traits->count; i++) {
        allowed = trait_allows(&traits->traits[i], config, position);
    }
    return allowed;
}

bool kw_traits_allow_arch(const kw_traits *traits, const char *arch) {
    bool allowed = !traits->archs;
    for (size_t i = 0; i < traits->arch_count; i++) {
        allowed = allowed || !strcmp(traits->archs[i].text, arch);
    }
    return allowed;
}

/* Whether a trait names the axis, and all that do allow the value. */
static bool axis_has_value(const kw_traits *traits, const kw_family *family, size_t position, int axis, int32_t value) {
    bool named = false;
    for (size_t i = 0; i < traits->count; i++) {
        const kw_trait_use *use = &traits->traits[i].use[position];
        if (!use->passed_over && use->present && use->place.axis == axis) {
            named = true;
            if (!trait_has(&traits->traits[i], family, &use->place, value)) {
                return false;
            }
        }
    }
    return named;
}

static bool is_every(const kw_traits *traits, size_t position, int axis) {
    bool named = false, every = true;
    for (size_t i = 0; i < traits->count; i++) {
        const kw_trait_use *use = &traits->traits[i].use[position];
        if (!use->passed_over && use->present && use->place.axis == axis) {
            named = true;
            every = every && traits->traits[i].any;
        }
    }
    return named && every;
}

kw_status kw_traits_axes(kw_axis_values *values, uint32_t *every, const kw_traits *traits, const kw_family *family, kw_arena *arena,
                         kw_error *err) {
    size_t position = family_position(family);
    *values = (kw_axis_values){0};
    *every = 0;
    for (int axis = 0; axis < family->axis_count; axis++) {
        int32_t low = kw_axis_low(&family->axes[axis]), high = kw_axis_high(&family->axes[axis]), count = 0;
        if (is_every(traits, position, axis)) {
            *every |= 1u << axis;
            continue;
        }
        for (int32_t value = low; value <= high; value++) {
            count += axis_has_value(traits, family, position, axis, value);
        }
        int32_t *list = count ? kw_arena_array(arena, (size_t)count, sizeof *list) : NULL;
        if (count && !list) {
            return kw_fail_memory(err, "the values of an axis");
        }
        values->values[axis] = list;
        for (int32_t value = low; list && value <= high; value++) {
            if (axis_has_value(traits, family, position, axis, value)) {
                list[values->count[axis]++] = value;
            }
        }
    }
    return KW_OK;
}

kw_status kw_traits_check_kind(const kw_traits *traits, kw_device_kind kind, const char *arch, kw_error *err) {
    const kw_family *only = NULL;
    for (size_t i = 0; kw_family_table[i]; i++) {
        only = traits->families == (uint64_t)1 << i ? kw_family_table[i] : only;
    }
    if (traits->of_config && only && only->kind != kind) {
        return kw_fail(err, KW_ILLEGAL, "config: %s has kernels for %s, and %s is no such; --arch or --device names another", only->name,
                       kw_device_kind_name(only->kind), arch);
    }
    for (size_t i = 0; traits->of_config && i < traits->count; i++) {
        if (!kw_field_of_kind(traits->traits[i].name, kind)) {
            return kw_fail(err, KW_ILLEGAL, "config: no kernel family for %s, which %s is, has %s", kw_device_kind_name(kind), arch,
                           traits->traits[i].name);
        }
    }
    return KW_OK;
}

void kw_traits_warn(const kw_traits *traits, kw_device_kind kind, const char *arch, void (*log)(void *user, const char *line), void *user) {
    char line[256];
    for (size_t i = 0; log && i < traits->count; i++) {
        if (!kw_field_of_kind(traits->traits[i].name, kind)) {
            snprintf(line, sizeof line, "%.120s: trait %.60s is passed over: no kernel family for %s has it", traits->name,
                     traits->traits[i].name, kw_device_kind_name(kind));
            log(user, line);
        }
    }
    if (log && arch && !kw_traits_allow_arch(traits, arch)) {
        snprintf(line, sizeof line, "%.120s: trait arch: it is meant for other architectures than %.60s", traits->name, arch);
        log(user, line);
    }
}
