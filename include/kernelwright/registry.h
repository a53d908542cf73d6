/* registry.h: the kernels to choose from; what families and configs are.
 * Conventions are those of kernelwright.h, which includes this. */
#ifndef KERNELWRIGHT_REGISTRY_H
#define KERNELWRIGHT_REGISTRY_H

#include "context.h"
#include "problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A registry belongs to one thread at a time while it is changed; once it no longer changes, many may use it. */
typedef struct kw_registry kw_registry;

/* Empty. Every context also has a default registry: set "default" for its architecture plus the reference kernels; and where families make kernels
 * to a problem's measure (docs/kernels/gpu-tailored.md, cpu-tailored.md), these, as problems are met. They are not counted here. */
KW_API kw_status kw_registry_create(kw_registry **registry, kw_context *context, kw_error *err);
KW_API void kw_registry_destroy(kw_registry **registry);
/* Adds the kernels of the default registry, those included that are made for a problem. */
KW_API kw_status kw_registry_add_default(kw_registry *registry, kw_error *err);
/* Adds one config by its text, e.g. "gemm.tiled gemm fp32 isa=avx512 tile_m=8 ...". A config that is there already is no error. */
KW_API kw_status kw_registry_add(kw_registry *registry, const char *config, kw_error *err);
/* Adds the reference kernel for the problem: on a CPU compiled in, on a GPU one kernel without axes. */
KW_API kw_status kw_registry_add_reference(kw_registry *registry, const kw_problem *problem, kw_error *err);
/* Adds the configs of a catalog file: one a line, '#' starts a comment. */
KW_API kw_status kw_registry_load(kw_registry *registry, const char *path, kw_error *err);
/* The architecture of its context's device, e.g. "x86-64-v4", "sm_90". */
KW_API const char *kw_registry_arch(const kw_registry *registry);
KW_API size_t kw_registry_count(const kw_registry *registry);
/* The canonical text of config number index (in order of addition). NULL beyond the count. */
KW_API const char *kw_registry_config(const kw_registry *registry, size_t index);
/* Keeps the configs for which keep, which is asked about each once and in their order, returns true. From now on no others are made for a problem. */
KW_API kw_status kw_registry_keep(kw_registry *registry, bool (*keep)(void *user, const char *config), void *user, kw_error *err);
/* KW_OK when config number index serves the problem; else KW_NO_KERNEL and the rule that refuses it. */
KW_API kw_status kw_registry_fits(const kw_registry *registry, size_t index, const kw_problem *problem, kw_error *err);

typedef struct kw_progress {
    size_t done, total, failed;
    const char *what;    /* "build" or "measure" */
    const char *current; /* the config just done */
    double best_ns;      /* of the best kernel so far, 0: none yet */
} kw_progress;

typedef struct kw_build_options {
    size_t size;                                               /* sizeof(kw_build_options) */
    const kw_problem *problem;                                 /* only the kernels that serve this problem; NULL: all */
    int32_t jobs;                                              /* compilers at a time; 0: one a core */
    void (*progress)(void *user, const kw_progress *progress); /* called from one thread */
    void *user;
} kw_build_options;

/* Processor time of the compilers for the kernels that were compiled now: of all together, of the middle one, of the dearest. */
typedef struct kw_build_cost {
    double total_ns, median_ns, most_ns;
} kw_build_cost;

typedef struct kw_build_report {
    size_t built, cached, failed; /* compiled now, found in the cache, refused by the compiler */
    kw_build_cost cpu;
} kw_build_report;

/* Compiles in parallel what is not in the cache yet. A kernel that does not compile is counted, not an error. */
KW_API kw_status kw_registry_build(kw_registry *registry, const kw_build_options *options, kw_build_report *report, kw_error *err);

/* What a family is, in several lines: summary, operations, types, and each axis with its values and meaning. family NULL: one line
 * for each family. The caller frees *text with kw_free. */
KW_API kw_status kw_family_describe(char **text, const char *family, kw_error *err);
/* What a config's text says before its axes. */
typedef struct kw_config_info {
    char family[64];
    kw_op op;
    kw_dtype dtype;
} kw_config_info;
/* Reads the first three words; the family need not be known here, and axes are not looked at. KW_MALFORMED: no operation or type there. */
KW_API kw_status kw_config_info_read(kw_config_info *info, const char *config, kw_error *err);
/* The generated source of a config, complete in itself. arch: for a GPU kernel the architecture it is made for, e.g. "gfx942", or
 * "emu:gfx942" for the text that plays it on a CPU; CPU kernels ignore it. The caller frees *source with kw_free. */
KW_API kw_status kw_config_source(char **source, const char *config, const char *arch, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
