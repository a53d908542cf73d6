/* plan_cache.c: a hash table of cores, chained. */
#include "dispatch/cache/plan_cache.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

void kw_plan_cache_open(kw_plan_cache *memo) {
    *memo = (kw_plan_cache){0};
    pthread_mutex_init(&memo->lock, NULL);
}

void kw_plan_impl_drop(kw_plan_impl *core, kw_kernel_cache *shelf) {
    if (core->bound) {
        shelf->backend->unbind(&core->bound);
    }
    kw_kernel_cache_release(shelf, &core->loaded);
    free(core->records);
    free(core->explanation);
    free(core->explain);
    free(core);
}

static void drop_list(kw_plan_impl *list, kw_kernel_cache *shelf) {
    while (list) {
        kw_plan_impl *next = list->next;
        kw_plan_impl_drop(list, shelf);
        list = next;
    }
}

void kw_plan_cache_close(kw_plan_cache *memo, kw_kernel_cache *shelf) {
    for (int i = 0; i < KW_PLAN_CACHE_BUCKETS; i++) {
        drop_list(memo->rows[i], shelf);
    }
    pthread_mutex_destroy(&memo->lock);
    *memo = (kw_plan_cache){0};
}

void kw_plan_key_make(kw_plan_key *key, const kw_problem *problem) {
    memset(key, 0, sizeof *key);
    key->problem.op = problem->op;
    key->problem.dtype = problem->dtype;
    key->problem.layout = problem->layout;
    key->problem.ndim = problem->ndim;
    if (problem->op == KW_GEMM) {
        key->problem.gemm = problem->gemm;
    } else {
        key->problem.conv = problem->conv;
    }
}

static kw_plan_impl **plan_bucket(kw_plan_cache *memo, uint64_t hash) {
    return &memo->rows[hash % KW_PLAN_CACHE_BUCKETS];
}

/* With the lock held. */
static kw_plan_impl **plan_slot(kw_plan_cache *memo, const kw_plan_key *key, uint64_t hash) {
    kw_plan_impl **at = plan_bucket(memo, hash);
    while (*at && ((*at)->hash != hash || memcmp(&(*at)->key, key, sizeof *key))) {
        at = &(*at)->next;
    }
    return at;
}

kw_plan_impl *kw_plan_cache_acquire(kw_plan_cache *memo, const kw_plan_key *key) {
    uint64_t hash = kw_hash64(key, sizeof *key);
    pthread_mutex_lock(&memo->lock);
    kw_plan_impl *found = *plan_slot(memo, key, hash);
    if (found) {
        found->users++;
    }
    pthread_mutex_unlock(&memo->lock);
    return found;
}

/* Takes a core out of the table; those that nobody uses then are linked to the list. With the lock held. */
static void take_out(kw_plan_cache *memo, kw_plan_impl **at, kw_plan_impl **unused) {
    kw_plan_impl *gone = *at;
    *at = gone->next;
    gone->next = NULL;
    memo->count--;
    if (!--gone->users) {
        gone->next = *unused;
        *unused = gone;
    }
}

/* Which cores leave the table. NULL members match all. */
typedef struct pattern {
    const kw_problem *problem;
    const uint64_t *registry;
    bool idle; /* only those that no plan uses */
} pattern;

static bool matches_pattern(const kw_plan_impl *core, const pattern *p) {
    return (!p->problem || !memcmp(&core->key.problem, p->problem, sizeof *p->problem)) &&
           (!p->registry || core->key.registry == *p->registry) && (!p->idle || core->users == 1);
}

/* With the lock held. */
static kw_plan_impl *drop_unused(kw_plan_cache *memo, const pattern *p) {
    kw_plan_impl *unused = NULL;
    for (int i = 0; i < KW_PLAN_CACHE_BUCKETS && memo->count; i++) {
        for (kw_plan_impl **at = &memo->rows[i]; *at;) {
            if (matches_pattern(*at, p)) {
                take_out(memo, at, &unused);
            } else {
                at = &(*at)->next;
            }
        }
    }
    return unused;
}

void kw_plan_cache_insert(kw_plan_cache *memo, kw_kernel_cache *shelf, kw_plan_impl *core) {
    core->hash = kw_hash64(&core->key, sizeof core->key);
    pthread_mutex_lock(&memo->lock);
    kw_plan_impl *unused = memo->count < KW_PLAN_CACHE_MAX ? NULL : drop_unused(memo, &(pattern){.idle = true});
    kw_plan_impl **at = plan_slot(memo, &core->key, core->hash);
    if (*at) {
        take_out(memo, at, &unused);
    }
    core->users++;
    memo->count++;
    kw_plan_impl **row = plan_bucket(memo, core->hash);
    core->next = *row;
    *row = core;
    pthread_mutex_unlock(&memo->lock);
    drop_list(unused, shelf);
}

void kw_plan_cache_release(kw_plan_cache *memo, kw_kernel_cache *shelf, kw_plan_impl **core) {
    kw_plan_impl *gone = *core;
    *core = NULL;
    pthread_mutex_lock(&memo->lock);
    bool last = !--gone->users;
    pthread_mutex_unlock(&memo->lock);
    if (last) {
        kw_plan_impl_drop(gone, shelf);
    }
}

void kw_plan_cache_invalidate_registry(kw_plan_cache *memo, kw_kernel_cache *shelf, uint64_t serial) {
    pthread_mutex_lock(&memo->lock);
    kw_plan_impl *unused = drop_unused(memo, &(pattern){.registry = &serial});
    pthread_mutex_unlock(&memo->lock);
    drop_list(unused, shelf);
}

void kw_plan_cache_invalidate_problem(kw_plan_cache *memo, kw_kernel_cache *shelf, const kw_problem *problem) {
    kw_plan_key key;
    kw_plan_key_make(&key, problem);
    pthread_mutex_lock(&memo->lock);
    kw_plan_impl *unused = drop_unused(memo, &(pattern){.problem = &key.problem});
    pthread_mutex_unlock(&memo->lock);
    drop_list(unused, shelf);
}
