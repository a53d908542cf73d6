/* points.c: rules kept open. The order of questions is that of enumerate.c: the cheapest first. */
#include "space/rules/points.h"

#include "space/filter/filter.h"
#include "space/rules/rule_files.h"
#include "space/rules/rules.h"
#include "space/ck/traits.h"

#include <stdlib.h>

enum { FAMILIES_MAX = 64 };

typedef struct part {
    kw_family_rules rules;
    kw_axis_values axes;
    kw_catalog listed; /* of a set that lists points */
} part;

struct kw_points {
    kw_rules rules;
    kw_filter *filter; /* NULL: all */
    kw_traits traits;
    bool has_traits;
    part parts[FAMILIES_MAX];
    size_t count;
};

static bool has_values(const part *p) {
    for (int i = 0; i < p->rules.family->axis_count; i++) {
        if (!p->axes.count[i]) {
            return false;
        }
    }
    return true;
}

/* Whether there is anything to draw from. */
static kw_status open_family(bool *any, part *p, kw_points *points, kw_op op, kw_dtype dtype, kw_error *err) {
    kw_status status = kw_family_rules_values(&p->axes, &p->rules, &points->rules, op, dtype, err);
    *any = !status && has_values(p);
    if (*any && p->rules.lists_points) {
        status = kw_family_rules_points(&p->listed, &p->rules, &points->rules, op, dtype, NULL, err);
    }
    return status;
}

static kw_status open_families(kw_points *points, kw_op op, kw_dtype dtype, kw_error *err) {
    kw_status status = KW_OK;
    for (const kw_family *const *family = kw_family_table; *family && points->count < FAMILIES_MAX && !status; family++) {
        part *p = &points->parts[points->count];
        bool present = false;
        status = (*family)->emit ? kw_family_rules_open(&p->rules, &points->rules, *family, &present, err) : KW_OK;
        if (!status && present && p->rules.ops >> op & 1 && p->rules.dtypes >> dtype & 1) {
            bool any;
            status = open_family(&any, p, points, op, dtype, err);
            points->count += any;
        }
    }
    return status;
}

kw_status kw_points_open(kw_points **points, const kw_space_options *options, kw_op op, kw_dtype dtype, kw_error *err) {
    kw_points *made = calloc(1, sizeof *made);
    *points = made;
    if (!made) {
        return kw_fail_memory(err, "a space");
    }
    kw_status status = options->filter ? kw_filter_open(&made->filter, options->filter, options->arch, err) : KW_OK;
    if (!status) {
        kw_rules_options choice = kw_rules_options_of(options);
        status = kw_rules_open(&made->rules, &choice, err);
    }
    if (!status && options->traits) {
        made->has_traits = true;
        status = kw_traits_load(&made->traits, options->traits, err);
        if (!status) {
            kw_traits_warn(&made->traits, made->rules.kind, options->arch, options->log, options->user);
        }
    }
    status = status ? status : open_families(made, op, dtype, err);
    if (status) {
        kw_points_close(points);
    }
    return status;
}

void kw_points_close(kw_points **points) {
    if (*points) {
        for (size_t i = 0; i < (*points)->count; i++) {
            kw_catalog_drop(&(*points)->parts[i].listed);
        }
        kw_traits_drop(&(*points)->traits);
        kw_rules_close(&(*points)->rules);
        kw_filter_close(&(*points)->filter);
        free(*points);
        *points = NULL;
    }
}

size_t kw_points_families(const kw_points *points) {
    return points->count;
}

kw_point_family kw_points_family(const kw_points *points, size_t number) {
    const part *p = &points->parts[number];
    return (kw_point_family){p->rules.family, (const int32_t *const *)p->axes.values, p->axes.count,
                             p->rules.lists_points ? &p->listed : NULL};
}

kw_status kw_points_contains(bool *wanted, kw_points *points, size_t number, const kw_config *config, kw_error *err) {
    *wanted = false;
    if ((points->has_traits && !kw_traits_allow(&points->traits, config)) || kw_rules_legal(&points->rules, config, NULL)) {
        return KW_OK;
    }
    kw_status status = kw_family_rules_accept(wanted, &points->parts[number].rules, &points->rules, config, err);
    return !status && *wanted && points->filter ? kw_filter_test(points->filter, config, wanted, err) : status;
}
