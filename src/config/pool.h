/* pool.h: the generated configs of one operation and type in a catalog, made ready to be asked which of them serve a problem: what
 * depends on a config and the target alone is worked out once. */
#ifndef KW_CONFIG_POOL_H
#define KW_CONFIG_POOL_H

#include "base/container/arena.h"
#include "config/catalog.h"

/* Constant once opened: any number of threads may ask it. The catalog and the target outlive it. */
typedef struct kw_pool {
    const kw_target *target;
    size_t count;
    const kw_config **configs; /* in the catalog's order */
    bool *plain, *runs;        /* as the catalog lists it, nothing wanted; the target can run it */
    unsigned char *decoded;    /* for each KW_DECODED_BYTES: as its family's decode() reads it on the target */
    kw_arena arena;
} kw_pool;

kw_status kw_pool_open(kw_pool **pool, const kw_catalog *catalog, kw_op op, kw_dtype dtype, const kw_target *target, kw_error *err);
void kw_pool_close(kw_pool **pool);

/* Whether a plain config serves a plain problem of its operation and type that its family takes (kw_family_takes). Of a GPU what its launch
 * counts is not asked (kw_launch_is_counted). */
bool kw_pool_serves(const kw_pool *pool, size_t i, const kw_problem *problem);

#endif
