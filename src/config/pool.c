/* pool.c: see pool.h. Most of what rules cost is reading a config's axes into what its family thinks in. */
#include "config/pool.h"

#include <stdlib.h>

static bool is_listed(const kw_config *config, kw_op op, kw_dtype dtype) {
    return config->op == op && config->dtype == dtype && config->family->emit;
}

static kw_status fill_pool(kw_pool *p, const kw_catalog *catalog, kw_op op, kw_dtype dtype, kw_error *err) {
    size_t count = 0;
    for (size_t i = 0; i < catalog->count; i++) {
        count += is_listed(&catalog->configs[i], op, dtype);
    }
    p->configs = kw_arena_array(&p->arena, count + 1, sizeof *p->configs);
    p->plain = kw_arena_array(&p->arena, count + 1, sizeof *p->plain);
    p->runs = kw_arena_array(&p->arena, count + 1, sizeof *p->runs);
    p->decoded = kw_arena_array(&p->arena, count + 1, KW_DECODED_BYTES);
    if (!p->configs || !p->plain || !p->runs || !p->decoded) {
        return kw_fail_memory(err, "a list of kernels");
    }
    for (size_t i = 0; i < catalog->count; i++) {
        const kw_config *config = &catalog->configs[i];
        if (!is_listed(config, op, dtype)) {
            continue;
        }
        p->plain[p->count] = kw_config_is_plain(config);
        p->runs[p->count] = !kw_config_runs(config, p->target, NULL);
        if (config->family->decode && p->runs[p->count]) {
            config->family->decode(config, p->target, p->decoded + p->count * KW_DECODED_BYTES);
        }
        p->configs[p->count++] = config;
    }
    return KW_OK;
}

kw_status kw_pool_open(kw_pool **pool, const kw_catalog *catalog, kw_op op, kw_dtype dtype, const kw_target *target, kw_error *err) {
    kw_pool *p = calloc(1, sizeof *p);
    *pool = p;
    if (!p) {
        return kw_fail_memory(err, "a list of kernels");
    }
    p->target = target;
    kw_status status = fill_pool(p, catalog, op, dtype, err);
    if (status) {
        kw_pool_close(pool);
    }
    return status;
}

void kw_pool_close(kw_pool **pool) {
    if (*pool) {
        kw_arena_drop(&(*pool)->arena);
        free(*pool);
        *pool = NULL;
    }
}

bool kw_pool_serves(const kw_pool *pool, size_t i, const kw_problem *problem) {
    const kw_config *config = pool->configs[i];
    kw_rule_case c = {.config = config,
                      .target = pool->target,
                      .problem = problem,
                      .decoded = config->family->decode ? pool->decoded + i * KW_DECODED_BYTES : NULL};
    return pool->runs[i] && !kw_rule_broken_in(KW_FITS, config->family, &c);
}
