/* rules.h: the rule files (rules/arch, rules/families, rules/sets), read and checked against the families that C knows. docs/rules.md is the
 * reference for their form. They come from a folder, or from the copies compiled in.
 *
 * A rule file cannot widen what C allows: each axis of the family must be named, each value must lie in the axis, and kw_config_check
 * has the last word on every point. */
#ifndef KW_SPACE_RULES_H
#define KW_SPACE_RULES_H

#include "base/arena.h"
#include "base/embedded.h"
#include "config/catalog.h"
#include "space/config_view.h"

/* The rules compiled in: "arch/x86-64-v4.lua", ... */
extern const kw_embedded kw_embedded_rules[];

/* Open rules of one architecture and one set. */
typedef struct kw_rules {
    kw_lua *lua;
    kw_arena arena;     /* file texts, names */
    kw_catalog catalog; /* of a set that has one: no other config is wanted */
    bool has_catalog;
    const char *folder;               /* NULL: compiled in */
    const char *arch_file, *set_file; /* "arch/x86-64-v4.lua", for messages */
    kw_config_view *view;
    int arch_ref, set_ref, view_ref; /* Lua registry: the arch table, the set's families, c */
    char backend[8];
} kw_rules;

/* folder NULL: compiled in. rules must be zeroed or dropped before; after a failure it is empty. */
kw_status kw_rules_open(kw_rules *rules, const char *folder, const char *arch, const char *set, kw_error *err);
void kw_rules_close(kw_rules *rules);

/* What the rules say of one family. */
typedef struct kw_family_rules {
    const kw_family *family;
    uint32_t ops, dtypes; /* those wanted, a part of the family's */
    const char *file;     /* "families/NAME.lua", for messages */
    int axes_ref, rules_ref, member_ref;
} kw_family_rules;

/* present is false when the set does not name the family or its backend is another than the architecture's. */
kw_status kw_family_rules_open(kw_family_rules *out, kw_rules *rules, const kw_family *family, bool *present, kw_error *err);

/* The values of each axis for an op and a dtype, in the order that the rules give. */
typedef struct kw_axis_values {
    int32_t *values[KW_AXIS_MAX];
    int32_t count[KW_AXIS_MAX];
} kw_axis_values;

kw_status kw_family_rules_values(kw_axis_values *out, const kw_family_rules *of, kw_rules *rules, kw_op op, kw_dtype dtype, kw_error *err);
/* Whether the rules and the set want a config. */
kw_status kw_family_rules_want(bool *wanted, const kw_family_rules *of, kw_rules *rules, const kw_config *config, kw_error *err);

#endif
