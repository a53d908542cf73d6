/* plan_cache.h: the choices a context has made, ready to run. A plan is a small handle on such a kw_plan_impl; asking again for the same
 * problem under the same conditions costs one look-up. Many threads may use one cache. What a kw_plan_impl goes through:
 *
 *     (made, 1 user)   [make_plan_impl]                      the plan that asked; not in the table yet
 *     -> in the table  [kw_plan_cache_insert]                the table is a user; one of the same key leaves the table
 *     -> shared        [kw_plan_cache_acquire]               each plan of the same key is a user
 *     -> out of it     [kw_plan_cache_invalidate_*, insert]  another registry, wisdom forgotten or made anew, a full table
 *     -> dropped       [the last kw_plan_cache_release]      or by whatever took it out of the table, when no plan uses it
 *
 * Invariants: (1) users counts the plans, and the table while it is in it; (2) two in the table have different keys; (3) all but users,
 * next, explain, rejections, rejected, joint and notes is read only once it is in the table; (4) a plan keeps its own to the end, whatever
 * leaves the table. */
#ifndef KW_DISPATCH_CACHE_PLAN_CACHE_H
#define KW_DISPATCH_CACHE_PLAN_CACHE_H

#include "config/launch/workspace.h"
#include "dispatch/cache/kernel_cache.h"
#include "dispatch/explanation.h"

/* Compared byte by byte: fill it with kw_plan_key_make only. */
typedef struct kw_plan_key {
    kw_problem problem;
    uint64_t registry; /* its serial */
    int64_t workspace_max;
    int32_t mode, shortlist;
    int32_t frozen_is_error, fresh_weights;
} kw_plan_key;

/* The problem bound to a kernel that runs it in a launch with others (dispatch/together/join.c). */
typedef struct kw_joint {
    kw_loaded_kernel *loaded;
    kw_bound *bound;
} kw_joint;

/* What kw_plans_join had to say of the plan, once; older ones stay for those who hold their texts. */
typedef struct kw_join_note {
    struct kw_join_note *older;
    kw_explanation_list line; /* one record */
    char *explain;            /* the whole explanation with it, as kw_plan_impl's */
} kw_join_note;

/* A problem bound to its kernel; read only but for explain, joint and notes. */
typedef struct kw_plan_impl {
    struct kw_plan_impl *next_unused; /* of a list that is about to be dropped */
    kw_plan_key key;
    uint64_t hash;
    size_t users; /* plans, and the cache itself while the impl is in its table; guarded by the cache's lock */
    kw_context *context;
    kw_loaded_kernel *loaded;
    kw_bound *bound;
    kw_launch launch;
    kw_workspace_layout layout, layout_packed; /* with weights in the workspace, and with weights packed beforehand */
    uintptr_t align[KW_TENSOR_COUNT];          /* of each tensor, minus 1 */
    kw_record *records;
    size_t record_count;
    kw_explanation_list explanation; /* where the choice came from */
    kw_explanation_list rejections;  /* of the default registry: made with the first explanation; guarded until then by the cache's lock */
    bool rejected;                   /* they are there; guarded by the cache's lock */
    _Atomic(kw_joint *) joint;       /* NULL: none yet; once there it stays */
    char *explain;                   /* both as prose, made when it is first asked for; guarded by the cache's lock */
    kw_join_note *notes;             /* the newest; guarded by the cache's lock */
} kw_plan_impl;

enum { KW_PLAN_CACHE_MAX = 8192 };

typedef struct kw_plan_cache {
    pthread_mutex_t lock;
    kw_hash_map plans; /* by key; the cache is a user of each */
} kw_plan_cache;

void kw_plan_cache_open(kw_plan_cache *cache);
void kw_plan_cache_close(kw_plan_cache *cache, kw_kernel_cache *kernels);

/* Copies the fields of the problem that mean something; the rest is zero. */
void kw_plan_key_make(kw_plan_key *key, const kw_problem *problem);
/* NULL when the choice was not made yet; else the caller is one more user. */
kw_plan_impl *kw_plan_cache_acquire(kw_plan_cache *cache, const kw_plan_key *key);
/* Takes the impl, whose user the caller is, into the table in place of one with the same key. Where the table is full, plan_impls that no
 * plan uses are dropped. Where memory is short the impl is not remembered, and the next request is answered anew. */
void kw_plan_cache_insert(kw_plan_cache *cache, kw_kernel_cache *kernels, kw_plan_impl *impl);
/* The caller uses the impl no more. */
void kw_plan_cache_release(kw_plan_cache *cache, kw_kernel_cache *kernels, kw_plan_impl **impl);
/* Later requests are answered anew; plans keep what they have. */
void kw_plan_cache_invalidate_registry(kw_plan_cache *cache, kw_kernel_cache *kernels, uint64_t serial);
void kw_plan_cache_invalidate_problem(kw_plan_cache *cache, kw_kernel_cache *kernels, const kw_problem *problem);

void kw_joint_drop(kw_joint *joint, kw_kernel_cache *kernels);
/* Says so of the impl from now on. Where memory is short nothing is said. */
void kw_plan_impl_note(kw_plan_cache *cache, kw_plan_impl *impl, const char *text);
/* Drops an impl that nobody uses. */
void kw_plan_impl_drop(kw_plan_impl *impl, kw_kernel_cache *kernels);

#endif
