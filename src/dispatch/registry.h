/* registry.h: the kernels to choose from: a catalog with the configs' texts, and the data of the problem that was measured last. */
#ifndef KW_DISPATCH_REGISTRY_H
#define KW_DISPATCH_REGISTRY_H

#include "base/container/arena.h"
#include "config/pool.h"
#include "measure/measure.h"

struct kw_registry {
    kw_context *context;
    kw_catalog catalog;
    kw_arena arena;     /* of the texts; they live as long as the registry, also those that kw_registry_keep left out */
    const char **texts; /* of catalog.configs */
    size_t text_capacity;
    bool tailors;                      /* kernels made for a problem join it (tailored/tailored.h) */
    uint64_t serial;                   /* another after each change: the key of what was chosen from it. 0: the default registry */
    kw_pool *(*pools)[KW_DTYPE_COUNT]; /* of each operation; NULL: not asked for yet. The context's lock guards them */
    kw_bench *bench;                   /* of kw_measure, guarded by the context's measuring lock; NULL: none is kept */
    kw_problem bench_problem;
    uint64_t bench_seed;
};

/* The context's default registry, made on first need. */
kw_status kw_registry_default(const kw_registry **registry, kw_context *context, kw_error *err);

/* Its generated kernels of an operation and type, until the registry changes. */
kw_status kw_registry_pool(const kw_pool **pool, const kw_registry *registry, kw_op op, kw_dtype dtype, kw_error *err);

/* The reference kernel that serves the problem. KW_NO_KERNEL when there is none. */
kw_status kw_reference_find(kw_config *config, const kw_problem *problem, const kw_target *target, kw_error *err);

#endif
