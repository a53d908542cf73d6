/* enumerate.c: the product of the axes, or the points that a set lists, thinned by C's validity and the traits, then by the family's rules,
 * the set and the filter. C comes first because it is the cheapest and because rules then see only configs that can exist. Axis values
 * differ from each other (rules.c checks that) and points come through a catalog, so no config comes twice. */
#include "space/enumerate.h"

#include "space/filter/filter.h"
#include "space/rules/rule_files.h"
#include "space/rules/rules.h"
#include "space/ck/traits.h"

#include <stdio.h>

/* Points of one family, op and dtype before any rule: a million take about a second. */
enum { POINTS_MAX = 4000000 };

typedef struct walk {
    kw_rules *rules;
    kw_filter *filter;   /* NULL: all */
    kw_traits traits[2]; /* a file's, and those of a config with gaps */
    int trait_count;
    kw_config exact;              /* .family is NULL: no config with words of a problem is asked for */
    bool chooses;                 /* values that traits name take the place of the points' own */
    uint32_t dtypes[KW_OP_COUNT]; /* what is asked for of each operation: bits 1 << kw_dtype */
    kw_family_rules family;
    bool (*visit)(void *user, const kw_config *config);
    void *user;
    bool stopped;
    size_t offered, refused; /* of what the traits allow, by C */
    kw_config first_refused;
} walk;

static bool traits_allow(const walk *w, const kw_config *config) {
    bool allowed = true;
    for (int i = 0; allowed && i < w->trait_count; i++) {
        allowed = kw_traits_allow(&w->traits[i], config);
    }
    return allowed;
}

static void note_refused(void *user, const kw_config *config) {
    walk *w = user;
    if (!w->offered && traits_allow(w, config)) {
        w->first_refused = w->refused++ ? w->first_refused : *config;
    }
}

/* A config that C allows. */
static kw_status offer(walk *w, const kw_config *config, kw_error *err) {
    if (!traits_allow(w, config)) {
        return KW_OK;
    }
    w->offered++;
    bool wanted;
    kw_status status = kw_family_rules_accept(&wanted, &w->family, w->rules, config, err);
    if (!status && wanted && w->filter) {
        status = kw_filter_test(w->filter, config, &wanted, err);
    }
    if (!status && wanted) {
        w->stopped = !w->visit(w->user, w->exact.family ? &w->exact : config);
    }
    return status;
}

/* Puts point number index into the config: mixed-radix digits, the last axis fastest. */
static void set_point(kw_config *config, const kw_axis_values *axes, int64_t index) {
    for (int i = config->family->axis_count - 1; i >= 0; i--) {
        config->axis[i] = axes->values[i][index % axes->count[i]];
        index /= axes->count[i];
    }
}

static kw_status walk_product(walk *w, kw_op op, kw_dtype dtype, kw_error *err) {
    kw_config config = {.family = w->family.family, .op = op, .dtype = dtype};
    kw_axis_values axes;
    kw_status status = kw_family_rules_values(&axes, &w->family, w->rules, op, dtype, err);
    int64_t points = 1;
    for (int i = 0; !status && i < config.family->axis_count; i++) {
        points *= axes.count[i];
        if (points > POINTS_MAX) {
            return kw_fail(err, KW_ILLEGAL, "%s: %s %s: the axes have more than %d points; list fewer values", w->family.file,
                           kw_op_name(op), kw_dtype_name(dtype), POINTS_MAX);
        }
    }
    for (int64_t i = 0; !status && !w->stopped && i < points; i++) {
        set_point(&config, &axes, i);
        if (kw_rules_legal(w->rules, &config, NULL)) {
            if (w->trait_count) {
                note_refused(w, &config);
            }
        } else {
            status = offer(w, &config, err);
        }
    }
    return status;
}

/* The values that traits name. What two of them say of one axis is the second's here, and both are asked again in offer(). */
static kw_status choose_values(kw_axis_choice *choice, walk *w, kw_error *err) {
    kw_status status = KW_OK;
    *choice = (kw_axis_choice){0};
    for (int i = 0; !status && w->chooses && i < w->trait_count; i++) {
        kw_axis_choice one = {0};
        status = kw_traits_axes(&one.values, &one.every, &w->traits[i], w->family.family, &w->rules->arena, err);
        for (int axis = 0; !status && axis < w->family.family->axis_count; axis++) {
            if (one.values.count[axis]) {
                choice->values.values[axis] = one.values.values[axis];
                choice->values.count[axis] = one.values.count[axis];
            }
        }
        choice->every |= one.every;
    }
    return status;
}

static kw_status walk_points(walk *w, kw_op op, kw_dtype dtype, kw_error *err) {
    kw_catalog points = {0};
    kw_axis_choice choice;
    kw_status status = choose_values(&choice, w, err);
    status = status ? status : kw_family_rules_points(&points, &w->family, w->rules, op, dtype, &choice, err);
    for (size_t i = 0; !status && !w->stopped && i < points.count; i++) {
        status = offer(w, &points.configs[i], err);
    }
    kw_catalog_drop(&points);
    return status;
}

/* What the problems can use and the traits leave, so that nothing is made of what would be thrown away. */
static kw_status read_wanted(walk *w, const kw_space_options *options, kw_error *err) {
    size_t problems = options->problems ? options->problem_count : 0;
    for (int op = 0; op < KW_OP_COUNT; op++) {
        w->dtypes[op] = problems ? 0 : UINT32_MAX;
    }
    for (size_t i = 0; i < problems; i++) {
        const kw_problem *problem = &options->problems[i];
        if ((unsigned)problem->op >= KW_OP_COUNT || (unsigned)problem->dtype >= KW_DTYPE_COUNT) {
            return kw_fail(err, KW_ILLEGAL, "problem number %zu of those whose kernels are to be listed: no such operation or type", i);
        }
        w->dtypes[problem->op] |= 1u << problem->dtype;
    }
    for (int i = 0; i < w->trait_count; i++) {
        for (int op = 0; op < KW_OP_COUNT; op++) {
            w->dtypes[op] &= w->traits[i].ops >> op & 1 ? w->traits[i].dtypes : 0;
        }
    }
    return KW_OK;
}

static bool has_wanted(const walk *w, const kw_family *family) {
    bool has = false;
    for (int op = 0; op < KW_OP_COUNT; op++) {
        has = has || (family->ops >> op & 1 && family->dtypes & w->dtypes[op]);
    }
    return has;
}

static kw_status walk_family(walk *w, const kw_family *family, kw_error *err) {
    bool present;
    if (!has_wanted(w, family)) {
        return KW_OK;
    }
    kw_status status = kw_family_rules_open(&w->family, w->rules, family, &present, err);
    if (status || !present) {
        return status;
    }
    for (int op = 0; op < KW_OP_COUNT; op++) {
        for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
            if (!status && !w->stopped && w->family.ops >> op & 1 && (w->family.dtypes & w->dtypes[op]) >> dtype & 1) {
                status = w->family.lists_points ? walk_points(w, (kw_op)op, (kw_dtype)dtype, err)
                                                : walk_product(w, (kw_op)op, (kw_dtype)dtype, err);
            }
        }
    }
    return status;
}

/* A config with the words of a problem, as plans print it, is looked for without them. */
static kw_status open_config(walk *w, const char *text, kw_error *err) {
    kw_config exact;
    char plain[KW_CONFIG_TEXT_MAX];
    kw_status status = kw_config_is_pattern(text) ? KW_OK : kw_config_parse(&exact, text, err);
    if (!status && !kw_config_is_pattern(text) && !kw_config_is_plain(&exact)) {
        kw_config bare = kw_config_plain(&exact);
        kw_config_print(plain, sizeof plain, &bare);
        w->exact = exact;
        text = plain;
    }
    return status ? status : kw_traits_of_config(&w->traits[w->trait_count++], text, err);
}

static kw_status open_traits(walk *w, const kw_space_options *options, kw_error *err) {
    kw_status status = KW_OK;
    if (options->traits) {
        status = kw_traits_load(&w->traits[w->trait_count++], options->traits, err);
    }
    if (!status && options->config) {
        status = open_config(w, options->config, err);
    }
    for (int i = 0; !status && i < w->trait_count; i++) {
        status = kw_traits_check_kind(&w->traits[i], w->rules->kind, options->arch, err);
    }
    for (int i = 0; !status && i < w->trait_count; i++) {
        kw_traits_warn(&w->traits[i], w->rules->kind, options->arch, options->log, options->user);
        w->stopped = w->stopped || !kw_traits_allow_arch(&w->traits[i], options->arch);
    }
    w->chooses = !options->set;
    return status;
}

/* What traits stand for and no kernel can be gets a remark with the first reason. */
static void say_why_none(const walk *w, const kw_space_options *options) {
    kw_error why = {0};
    char line[sizeof why.text + 160];
    if (!w->offered && w->refused && options->log && kw_rules_legal(w->rules, &w->first_refused, &why)) {
        snprintf(line, sizeof line, "%.80s: no kernel can be as it says; %zu were tried, the first: %s",
                 options->config ? "config" : options->traits, w->refused, why.text);
        options->log(options->user, line);
    }
}

kw_status kw_enumerate(const kw_space_options *options, bool (*visit)(void *user, const kw_config *config), void *user, kw_error *err) {
    kw_rules rules = {0};
    walk w = {.rules = &rules, .visit = visit, .user = user};
    kw_status status =
        options->arch ? KW_OK : kw_fail(err, KW_ILLEGAL, "no architecture is named whose kernels are to be listed; name one");
    if (!status && options->filter) {
        status = kw_filter_open(&w.filter, options->filter, options->arch, err);
    }
    if (!status) {
        kw_rules_options choice = kw_rules_options_of(options);
        status = kw_rules_open(&rules, &choice, err);
    }
    status = status ? status : open_traits(&w, options, err);
    status = status ? status : read_wanted(&w, options, err);
    if (!status && w.trait_count) {
        rules.refused = note_refused;
        rules.refused_user = &w;
    }
    for (const kw_family *const *family = kw_family_table; !status && !w.stopped && *family; family++) {
        status = walk_family(&w, *family, err);
    }
    if (!status) {
        say_why_none(&w, options);
    }
    kw_traits_drop(&w.traits[0]);
    kw_traits_drop(&w.traits[1]);
    kw_rules_close(&rules);
    kw_filter_close(&w.filter);
    return status;
}
