/* plan_cache.h: the choices a context has made, ready to run. A plan is a small handle on such a core; asking again for the same problem under
 * the same conditions costs one look-up. Many threads may use one memo. */
#ifndef KW_DISPATCH_CACHE_PLAN_CACHE_H
#define KW_DISPATCH_CACHE_PLAN_CACHE_H

#include "config/workspace.h"
#include "dispatch/cache/kernel_cache.h"

/* Compared byte by byte: fill it with kw_core_key_make only. */
typedef struct kw_core_key {
    kw_problem problem;
    uint64_t registry; /* its serial */
    int64_t workspace_max;
    int32_t mode, shortlist;
    int32_t frozen_is_error, fresh_weights;
} kw_core_key;

/* A problem bound to its kernel; read only but for explain. */
typedef struct kw_core {
    struct kw_core *next;
    kw_core_key key;
    uint64_t hash;
    size_t users; /* plans, and the memo itself while the core is in its table; guarded by the memo's lock */
    kw_context *context;
    kw_loaded *loaded;
    kw_bound *bound;
    kw_launch launch;
    kw_room room, room_packed;        /* with weights in the workspace, and with weights packed beforehand */
    uintptr_t align[KW_TENSOR_COUNT]; /* of each tensor, minus 1 */
    kw_record *records;
    size_t record_count;
    char *story;   /* where the choice came from */
    char *explain; /* the whole explanation, made when it is first asked for; guarded by the memo's lock */
} kw_core;

enum { KW_MEMO_ROWS = 1024, KW_MEMO_MAX = 8192 };

typedef struct kw_memo {
    pthread_mutex_t lock;
    size_t count;
    kw_core *rows[KW_MEMO_ROWS];
} kw_memo;

void kw_memo_open(kw_memo *memo);
void kw_memo_close(kw_memo *memo, kw_shelf *shelf);

/* Copies the fields of the problem that mean something; the rest is zero. */
void kw_core_key_make(kw_core_key *key, const kw_problem *problem);
/* NULL when the choice was not made yet; else the caller is one more user. */
kw_core *kw_memo_find(kw_memo *memo, const kw_core_key *key);
/* Takes the core, whose user the caller is, into the table in place of one with the same key. Where the table is full, cores that no
 * plan uses are dropped. */
void kw_memo_add(kw_memo *memo, kw_shelf *shelf, kw_core *core);
/* The caller uses the core no more. */
void kw_memo_put(kw_memo *memo, kw_shelf *shelf, kw_core **core);
/* Later requests are answered anew; plans keep what they have. */
void kw_memo_forget_registry(kw_memo *memo, kw_shelf *shelf, uint64_t serial);
void kw_memo_forget_problem(kw_memo *memo, kw_shelf *shelf, const kw_problem *problem);

/* Drops a core that nobody uses. */
void kw_core_drop(kw_core *core, kw_shelf *shelf);

#endif
