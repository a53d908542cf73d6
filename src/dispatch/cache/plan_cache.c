/* plan_cache.c: a map of plan_impls by key. */
#include "dispatch/cache/plan_cache.h"

#include "base/hash.h"
#include "problem/identity.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void kw_plan_cache_open(kw_plan_cache *cache) {
    *cache = (kw_plan_cache){0};
    pthread_mutex_init(&cache->lock, NULL);
}

void kw_joint_drop(kw_joint *joint, kw_kernel_cache *kernels) {
    if (joint) {
        kernels->backend->unbind(&joint->bound);
        kw_kernel_cache_release(kernels, &joint->loaded);
    }
    free(joint);
}

void kw_plan_impl_note(kw_plan_cache *cache, kw_plan_impl *impl, const char *text) {
    kw_join_note *note = calloc(1, sizeof *note);
    if (note) {
        kw_explain(&note->line, KW_EXPLAIN_JOINED, "%s", text);
    }
    pthread_mutex_lock(&cache->lock);
    bool news = note && note->line.count && (!impl->notes || strcmp(kw_explanation_at(&impl->notes->line, 0).text, text) != 0);
    if (news) {
        note->older = impl->notes;
        impl->notes = note;
    }
    pthread_mutex_unlock(&cache->lock);
    if (note && !news) {
        kw_explanation_list_drop(&note->line);
        free(note);
    }
}

static void drop_notes(kw_join_note *note) {
    while (note) {
        kw_join_note *older = note->older;
        kw_explanation_list_drop(&note->line);
        free(note->explain);
        free(note);
        note = older;
    }
}

void kw_plan_impl_drop(kw_plan_impl *impl, kw_kernel_cache *kernels) {
    drop_notes(impl->notes);
    kw_joint_drop(impl->joint, kernels);
    if (impl->bound) {
        kernels->backend->unbind(&impl->bound);
    }
    kw_kernel_cache_release(kernels, &impl->loaded);
    free(impl->records);
    kw_explanation_list_drop(&impl->explanation);
    kw_explanation_list_drop(&impl->rejections);
    free(impl->explain);
    free(impl);
}

static void drop_list(kw_plan_impl *list, kw_kernel_cache *kernels) {
    while (list) {
        kw_plan_impl *next = list->next_unused;
        kw_plan_impl_drop(list, kernels);
        list = next;
    }
}

void kw_plan_cache_close(kw_plan_cache *cache, kw_kernel_cache *kernels) {
    uintptr_t value;
    for (size_t at = 0; kw_hash_map_next(&cache->plans, &at, &value);) {
        kw_plan_impl_drop((kw_plan_impl *)value, kernels);
    }
    kw_hash_map_drop(&cache->plans);
    pthread_mutex_destroy(&cache->lock);
    *cache = (kw_plan_cache){0};
}

void kw_plan_key_make(kw_plan_key *key, const kw_problem *problem) {
    _Static_assert(offsetof(kw_plan_key, problem) == 0, "what follows the problem is cleared");
    memset((char *)key + sizeof key->problem, 0, sizeof *key - sizeof key->problem);
    kw_problem_normalize(&key->problem, problem);
}

static bool plan_has_key(const kw_hash_map_key *key, uintptr_t value) {
    return !memcmp(&((const kw_plan_impl *)value)->key, key->key, sizeof(kw_plan_key));
}

/* With the lock held. */
static kw_plan_impl *find_plan(const kw_plan_cache *cache, const kw_plan_key *key, uint64_t hash) {
    const uintptr_t *found = kw_hash_map_find(&cache->plans, &(kw_hash_map_key){hash, plan_has_key, NULL, key});
    return found ? (kw_plan_impl *)*found : NULL;
}

kw_plan_impl *kw_plan_cache_acquire(kw_plan_cache *cache, const kw_plan_key *key) {
    uint64_t hash = kw_hash64(key, sizeof *key);
    pthread_mutex_lock(&cache->lock);
    kw_plan_impl *found = find_plan(cache, key, hash);
    if (found) {
        found->users++;
    }
    pthread_mutex_unlock(&cache->lock);
    return found;
}

/* Takes an impl out of the table; those that nobody uses then are linked to the list. With the lock held. */
static void take_out(kw_plan_cache *cache, kw_plan_impl *gone, kw_plan_impl **unused) {
    kw_hash_map_remove(&cache->plans, gone->hash, (uintptr_t)gone);
    assert(gone->users);
    if (!--gone->users) {
        gone->next_unused = *unused;
        *unused = gone;
    }
}

/* Which plan_impls leave the table. NULL members match all. */
typedef struct pattern {
    const kw_problem *problem;
    const uint64_t *registry;
    bool idle; /* only those that no plan uses */
} pattern;

static bool matches_pattern(const kw_plan_impl *impl, const pattern *p) {
    return (!p->problem || !memcmp(&impl->key.problem, p->problem, sizeof *p->problem)) &&
           (!p->registry || impl->key.registry == *p->registry) && (!p->idle || impl->users == 1);
}

/* With the lock held. */
static kw_plan_impl *drop_unused(kw_plan_cache *cache, const pattern *p) {
    kw_plan_impl *unused = NULL;
    uintptr_t value;
    for (size_t at = 0; kw_hash_map_next(&cache->plans, &at, &value);) {
        if (matches_pattern((const kw_plan_impl *)value, p)) {
            take_out(cache, (kw_plan_impl *)value, &unused);
            at--;
        }
    }
    return unused;
}

void kw_plan_cache_insert(kw_plan_cache *cache, kw_kernel_cache *kernels, kw_plan_impl *impl) {
    impl->hash = kw_hash64(&impl->key, sizeof impl->key);
    pthread_mutex_lock(&cache->lock);
    kw_plan_impl *unused = cache->plans.count < KW_PLAN_CACHE_MAX ? NULL : drop_unused(cache, &(pattern){.idle = true});
    kw_plan_impl *before = find_plan(cache, &impl->key, impl->hash);
    if (before) {
        take_out(cache, before, &unused);
    }
    if (kw_hash_map_reserve(&cache->plans, cache->plans.count + 1)) {
        kw_hash_map_put(&cache->plans, impl->hash, (uintptr_t)impl);
        impl->users++;
    }
    pthread_mutex_unlock(&cache->lock);
    drop_list(unused, kernels);
}

void kw_plan_cache_release(kw_plan_cache *cache, kw_kernel_cache *kernels, kw_plan_impl **impl) {
    kw_plan_impl *gone = *impl;
    *impl = NULL;
    pthread_mutex_lock(&cache->lock);
    assert(gone->users);
    bool last = !--gone->users;
    pthread_mutex_unlock(&cache->lock);
    if (last) {
        kw_plan_impl_drop(gone, kernels);
    }
}

void kw_plan_cache_invalidate_registry(kw_plan_cache *cache, kw_kernel_cache *kernels, uint64_t serial) {
    pthread_mutex_lock(&cache->lock);
    kw_plan_impl *unused = drop_unused(cache, &(pattern){.registry = &serial});
    pthread_mutex_unlock(&cache->lock);
    drop_list(unused, kernels);
}

void kw_plan_cache_invalidate_problem(kw_plan_cache *cache, kw_kernel_cache *kernels, const kw_problem *problem) {
    kw_plan_key key;
    kw_plan_key_make(&key, problem);
    pthread_mutex_lock(&cache->lock);
    kw_plan_impl *unused = drop_unused(cache, &(pattern){.problem = &key.problem});
    pthread_mutex_unlock(&cache->lock);
    drop_list(unused, kernels);
}
