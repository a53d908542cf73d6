/* enumerate.c: the product of the axes, or the points that a set lists, thinned by C's validity and the traits, then by the family's rules,
 * the set and the filter. C comes first because it is the cheapest and because rules then see only configs that can exist. Axis values
 * differ from each other (rules.c checks that) and points come through a catalog, so no config comes twice. */
#include "space/enumerate.h"

#include "space/rules/filter.h"
#include "space/rules/rule_files.h"
#include "space/rules/rules.h"
#include "space/ck/traits.h"

#include <stdio.h>

/* Points of one family, op and dtype before any rule: a million take about a second. */
enum { POINTS_MAX = 4000000 };

typedef struct walk {
    kw_rules *rules;
    kw_filter *filter; /* NULL: all */
    kw_traits traits;
    bool has_traits;
    kw_family_rules family;
    bool (*visit)(void *user, const kw_config *config);
    void *user;
    bool stopped;
} walk;

/* A config that C allows. */
static kw_status offer(walk *w, const kw_config *config, kw_error *err) {
    if (w->has_traits && !kw_traits_allow(&w->traits, config)) {
        return KW_OK;
    }
    bool wanted;
    kw_status status = kw_family_rules_accept(&wanted, &w->family, w->rules, config, err);
    if (!status && wanted && w->filter) {
        status = kw_filter_test(w->filter, config, &wanted, err);
    }
    if (!status && wanted) {
        w->stopped = !w->visit(w->user, config);
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
        status = kw_rules_legal(w->rules, &config, NULL) ? KW_OK : offer(w, &config, err);
    }
    return status;
}

static kw_status walk_points(walk *w, kw_op op, kw_dtype dtype, kw_error *err) {
    kw_catalog points = {0};
    kw_status status = kw_family_rules_points(&points, &w->family, w->rules, op, dtype, err);
    for (size_t i = 0; !status && !w->stopped && i < points.count; i++) {
        status = offer(w, &points.configs[i], err);
    }
    kw_catalog_drop(&points);
    return status;
}

static kw_status walk_family(walk *w, const kw_family *family, kw_error *err) {
    bool present;
    kw_status status = kw_family_rules_open(&w->family, w->rules, family, &present, err);
    if (status || !present) {
        return status;
    }
    for (int op = 0; op < KW_OP_COUNT; op++) {
        for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
            if (!status && !w->stopped && w->family.ops >> op & 1 && w->family.dtypes >> dtype & 1) {
                status = w->family.lists_points ? walk_points(w, (kw_op)op, (kw_dtype)dtype, err)
                                                : walk_product(w, (kw_op)op, (kw_dtype)dtype, err);
            }
        }
    }
    return status;
}

kw_status kw_enumerate(const kw_space_options *options, bool (*visit)(void *user, const kw_config *config), void *user, kw_error *err) {
    kw_rules rules = {0};
    walk w = {.rules = &rules, .visit = visit, .user = user};
    kw_status status =
        options->arch ? KW_OK : kw_fail(err, KW_ILLEGAL, "no architecture is named whose kernels are to be listed; name one");
    if (!status && options->filter) {
        status = kw_filter_open(&w.filter, options->filter, err);
    }
    if (!status) {
        kw_rules_options choice = kw_rules_options_of(options);
        status = kw_rules_open(&rules, &choice, err);
    }
    if (!status && options->traits) {
        w.has_traits = true;
        status = kw_traits_load(&w.traits, options->traits, err);
        if (!status) {
            kw_traits_warn(&w.traits, rules.kind, options->log, options->user);
        }
    }
    for (const kw_family *const *family = kw_family_table; !status && !w.stopped && *family; family++) {
        status = walk_family(&w, *family, err);
    }
    kw_traits_drop(&w.traits);
    kw_rules_close(&rules);
    kw_filter_close(&w.filter);
    return status;
}
