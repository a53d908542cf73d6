/* space.h: which kernels the rules declare for an architecture: enumerated, filtered, held against lists, built into a folder; registries as JSON.
 * Needs libkernelwright_tune. Conventions are those of kernelwright.h. */
#ifndef KERNELWRIGHT_TUNE_SPACE_H
#define KERNELWRIGHT_TUNE_SPACE_H

#include "../kernelwright.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kw_space_options {
    size_t size;              /* sizeof(kw_space_options) */
    const char *set;          /* a rule set: "tiny", "tests", "default", "full", ...; NULL: what the library was built for, "default" */
    const char *arch;         /* an architecture of rules/arch; NULL: the one of this machine's CPU */
    const char *config;       /* a config; values may be "*" or -1, what it does not name is open (docs/selection/traits.md); NULL: all */
    const char *filter;       /* a Lua expression over c, e.g. "c.tile_w >= 7 and c.family == 'conv.direct'"; NULL: all */
    const char *rules_dir;    /* a folder with arch/, families/ and sets/; NULL: KW_RULES, else the rules compiled in */
    const char *traits;       /* a trait file (docs/selection/traits.md); without a set it chooses of all that is legal; NULL: all */
    const char *builder_conf; /* a folder with lists of CK Builder, for sets that come from there; NULL: the build's */
    void (*log)(void *user, const char *line); /* remarks: traits that no family has; may be NULL */
    void *user;
    const kw_problem *problems; /* only kernels of the operation and type of one of them, the others are not even listed; NULL: all */
    size_t problem_count;       /* 0: all */
} kw_space_options;

/* Calls visit with the canonical text of each config, in a fixed order, each config once; visit returns false to stop. */
KW_API kw_status kw_space_visit(const kw_space_options *options, bool (*visit)(void *user, const char *config), void *user, kw_error *err);
/* KW_OK when a kernel can be generated for the architecture and runs there; else KW_ILLEGAL or KW_NO_KERNEL and the rule that refuses it, by
 * name with its reason (docs/kernels/gpu-spaces.md). KW_MISSING: no such architecture, family or axis. */
KW_API kw_status kw_config_supported(const char *config, const char *arch, kw_error *why);

/* Holding a set against a list of configs that it must have: a catalog file, which may be gzip. */
typedef struct kw_coverage_options {
    size_t size;                                                      /* sizeof(kw_coverage_options) */
    const char *reference;                                            /* the list */
    void (*missing)(void *user, const char *config, const char *why); /* called for each that the set lacks; may be NULL */
    void *user;
} kw_coverage_options;
typedef struct kw_coverage_count {
    size_t reference, set; /* configs of each */
    size_t missing, more;  /* those of the reference that the set lacks; those of the set that the reference lacks */
} kw_coverage_count;
/* All axes are compared. KW_OK also where some are missing: count says so. */
KW_API kw_status kw_space_coverage(kw_coverage_count *count, const kw_space_options *space, const kw_coverage_options *options,
                                   kw_error *err);

/* Kernels as files, made without a device: each kernel's code object, and catalog.txt with config, file and resources of each. */
typedef struct kw_object_options {
    size_t size;                   /* sizeof(kw_object_options) */
    const kw_space_options *space; /* its arch must be given */
    const char *folder;            /* made where it is not there */
    const char *device;            /* "emu": code that plays the GPU on this machine, instead of its own; NULL: the architecture's own */
    const char *compiler;          /* a path or a name; NULL: the usual ones */
    const char *cache_dir;         /* NULL: as kw_context_open */
    int32_t jobs;                  /* compilers at a time; 0: one a core */
    void (*progress)(void *user, const kw_progress *progress);
    void *user;
} kw_object_options;
typedef struct kw_object_report {
    size_t built, cached, failed; /* compiled, taken from the cache, and what no compiler takes */
    size_t refused;               /* of those compiled or cached, what spills registers or wants more shared memory than there is */
    kw_build_cost cpu;
} kw_object_report;
/* KW_OK also where kernels failed: report and catalog.txt say so. */
KW_API kw_status kw_objects_build(kw_object_report *report, const kw_object_options *options, kw_error *err);

/* Adds the configs of a space to a registry. */
KW_API kw_status kw_registry_add_space(kw_registry *registry, const kw_space_options *options, kw_error *err);
/* Keeps the configs for which the Lua expression holds. */
KW_API kw_status kw_registry_filter(kw_registry *registry, const char *expression, kw_error *err);
/* Keeps the configs that a trait file allows. log (may be NULL) hears of traits that no family has. */
KW_API kw_status kw_registry_keep_traits(kw_registry *registry, const char *path, void (*log)(void *user, const char *line), void *user,
                                         kw_error *err);
/* What a trait file says of problems, as bits: 1 << kw_op by its variant, 1 << kw_dtype by data_type, 1 << spatial axes by ndim_spatial; all
 * bits where it says nothing. */
KW_API kw_status kw_traits_problems(uint32_t *ops, uint32_t *dtypes, uint32_t *ndim, const char *path, kw_error *err);
/* Names of what the rules know, one a line; kind: "arch", "set" or "family". The caller frees with kw_free. */
KW_API kw_status kw_space_names(char **names, const char *kind, const char *rules_dir, kw_error *err);

/* The one of names (words with blanks, commas or line ends between) that a mistyped one was meant to be: it begins so, or a letter or two
 * differ. false where none is near. */
enum { KW_NAME_MAX = 32 };
KW_API bool kw_name_nearest(char name[KW_NAME_MAX], const char *wrong, const char *names);

/* Registries as JSON. */

/* {"kernelwright": 1, "configs": [{"family": "conv.direct", "op": "conv_fwd", "dtype": "fp32", "tile_w": 14, ...}, ...]}.
 * Unknown keys, duplicate keys and wrong types are errors. The caller frees *json with kw_free. */
KW_API kw_status kw_registry_print_json(char **json, const kw_registry *registry, kw_error *err);
/* The same into a file, which is there whole or not at all. */
KW_API kw_status kw_registry_save_json(const kw_registry *registry, const char *path, kw_error *err);
KW_API kw_status kw_registry_load_json(kw_registry *registry, const char *path, kw_error *err);
/* kw_registry_load_json() of a file whose name ends in .json, else kw_registry_load(). JSON may also be a list of kernels of CK's dispatcher
 * ({"instances": [...]}, {"kernels": [...]}; docs/kernels/ck-builder.md). Of such a list kernels that cannot be made here are left out, which
 * log (may be NULL) is told in one line. */
KW_API kw_status kw_registry_load_any(kw_registry *registry, const char *path, void (*log)(void *user, const char *line), void *user,
                                      kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
