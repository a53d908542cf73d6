/* rules.h: the rule files (rules/arch, rules/families, rules/sets, rules/tables), read and checked against the families that C knows.
 * docs/kernels/rules.md is the reference for their form. They come from a folder, or from the copies compiled in.
 *
 * A rule file cannot widen what C allows: each axis of the family must be named, each value must lie in the axis, and kw_config_check
 * has the last word on every point. */
#ifndef KW_SPACE_RULES_RULES_H
#define KW_SPACE_RULES_RULES_H

#include "base/container/arena.h"
#include "base/embedded.h"
#include "config/catalog.h"
#include "config/arch/gpu_arch.h"
#include "space/axis_values.h"
#include "space/rules/config_view.h"

#include <kernelwright_tune.h>

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
    int arch_ref, set_ref, view_ref, tables_ref;          /* Lua registry: the arch table, the set's families, c, tables included so far */
    kw_device_kind kind;                                  /* of the families that serve the architecture */
    const kw_gpu_arch *gpu;                               /* NULL for a CPU; its typical target judges what configs run */
    const char *builder_folder;                           /* lists of CK Builder; NULL: none are named */
    void (*refused)(void *user, const kw_config *config); /* told of points that C does not allow; may be NULL */
    void *refused_user;
} kw_rules;

/* What to open. folder NULL: the rules compiled in. builder_folder: see kw_rules; may be NULL. */
typedef struct kw_rules_options {
    const char *folder, *arch, *set, *builder_folder;
} kw_rules_options;

/* What options ask for. */
kw_rules_options kw_rules_options_of(const kw_space_options *options);
/* rules must be zeroed or dropped before; after a failure it is empty. The choice's texts must live as long as the rules. */
kw_status kw_rules_open(kw_rules *rules, const kw_rules_options *choice, kw_error *err);
void kw_rules_close(kw_rules *rules);

/* What the rules say of one family. */
typedef struct kw_family_rules {
    const kw_family *family;
    uint32_t ops, dtypes; /* those wanted, a part of the family's */
    const char *file;     /* "families/NAME.lua", for messages */
    int axes_ref, rules_ref, member_ref, defaults_ref;
    bool takes_all;      /* neither the family nor the set has a predicate */
    bool lists_points;   /* the set gives configs one by one, not a choice of the product of axes */
    uint32_t keeps;      /* such a set: axes whose values its points keep, whatever a kw_axis_choice says */
    const char *builder; /* such a set takes them from the lists of CK Builder that are in subsets of this name; NULL: from its function */
} kw_family_rules;

/* present is false when the set does not name the family or its backend is another than the architecture's. */
kw_status kw_family_rules_open(kw_family_rules *out, kw_rules *rules, const kw_family *family, bool *present, kw_error *err);

/* The values of each axis for an op and a dtype, in the order that the rules give. */
kw_status kw_family_rules_values(kw_axis_values *out, const kw_family_rules *of, kw_rules *rules, kw_op op, kw_dtype dtype, kw_error *err);
/* Values that take the place of a point's own; an axis without a value keeps the point's. */
typedef struct kw_axis_choice {
    kw_axis_values values;
    uint32_t every; /* these have all that the family's axes() gives */
} kw_axis_choice;

/* Adds the configs that a set which lists points gives for an op and a dtype, as far as C allows them. choice may be NULL. */
kw_status kw_family_rules_points(kw_catalog *out, const kw_family_rules *of, kw_rules *rules, kw_op op, kw_dtype dtype,
                                 const kw_axis_choice *choice, kw_error *err);
/* KW_OK when C can generate the config and the architecture runs it. */
kw_status kw_rules_legal(const kw_rules *rules, const kw_config *config, kw_error *err);
/* Whether the rules and the set want a config. */
kw_status kw_family_rules_accept(bool *wanted, const kw_family_rules *of, kw_rules *rules, const kw_config *config, kw_error *err);

#endif
