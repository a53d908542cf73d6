/* plan_cache.c: a hash table of cores, chained. */
#include "dispatch/cache/plan_cache.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

void kw_memo_open(kw_memo *memo) {
    *memo = (kw_memo){0};
    pthread_mutex_init(&memo->lock, NULL);
}

void kw_core_drop(kw_core *core, kw_shelf *shelf) {
    if (core->bound) {
        shelf->backend->unbind(&core->bound);
    }
    kw_shelf_put(shelf, &core->loaded);
    free(core->records);
    free(core->story);
    free(core->explain);
    free(core);
}

static void drop_list(kw_core *list, kw_shelf *shelf) {
    while (list) {
        kw_core *next = list->next;
        kw_core_drop(list, shelf);
        list = next;
    }
}

void kw_memo_close(kw_memo *memo, kw_shelf *shelf) {
    for (int i = 0; i < KW_MEMO_ROWS; i++) {
        drop_list(memo->rows[i], shelf);
    }
    pthread_mutex_destroy(&memo->lock);
    *memo = (kw_memo){0};
}

void kw_core_key_make(kw_core_key *key, const kw_problem *problem) {
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

static kw_core **row_of(kw_memo *memo, uint64_t hash) {
    return &memo->rows[hash % KW_MEMO_ROWS];
}

/* With the lock held. */
static kw_core **place_of(kw_memo *memo, const kw_core_key *key, uint64_t hash) {
    kw_core **at = row_of(memo, hash);
    while (*at && ((*at)->hash != hash || memcmp(&(*at)->key, key, sizeof *key))) {
        at = &(*at)->next;
    }
    return at;
}

kw_core *kw_memo_find(kw_memo *memo, const kw_core_key *key) {
    uint64_t hash = kw_hash64(key, sizeof *key);
    pthread_mutex_lock(&memo->lock);
    kw_core *found = *place_of(memo, key, hash);
    if (found) {
        found->users++;
    }
    pthread_mutex_unlock(&memo->lock);
    return found;
}

/* Takes a core out of the table; those that nobody uses then are linked to the list. With the lock held. */
static void take_out(kw_memo *memo, kw_core **at, kw_core **unused) {
    kw_core *gone = *at;
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

static bool matches(const kw_core *core, const pattern *p) {
    return (!p->problem || !memcmp(&core->key.problem, p->problem, sizeof *p->problem)) &&
           (!p->registry || core->key.registry == *p->registry) && (!p->idle || core->users == 1);
}

/* With the lock held. */
static kw_core *sweep(kw_memo *memo, const pattern *p) {
    kw_core *unused = NULL;
    for (int i = 0; i < KW_MEMO_ROWS && memo->count; i++) {
        for (kw_core **at = &memo->rows[i]; *at;) {
            if (matches(*at, p)) {
                take_out(memo, at, &unused);
            } else {
                at = &(*at)->next;
            }
        }
    }
    return unused;
}

void kw_memo_add(kw_memo *memo, kw_shelf *shelf, kw_core *core) {
    core->hash = kw_hash64(&core->key, sizeof core->key);
    pthread_mutex_lock(&memo->lock);
    kw_core *unused = memo->count < KW_MEMO_MAX ? NULL : sweep(memo, &(pattern){.idle = true});
    kw_core **at = place_of(memo, &core->key, core->hash);
    if (*at) {
        take_out(memo, at, &unused);
    }
    core->users++;
    memo->count++;
    kw_core **row = row_of(memo, core->hash);
    core->next = *row;
    *row = core;
    pthread_mutex_unlock(&memo->lock);
    drop_list(unused, shelf);
}

void kw_memo_put(kw_memo *memo, kw_shelf *shelf, kw_core **core) {
    kw_core *gone = *core;
    *core = NULL;
    pthread_mutex_lock(&memo->lock);
    bool last = !--gone->users;
    pthread_mutex_unlock(&memo->lock);
    if (last) {
        kw_core_drop(gone, shelf);
    }
}

void kw_memo_forget_registry(kw_memo *memo, kw_shelf *shelf, uint64_t serial) {
    pthread_mutex_lock(&memo->lock);
    kw_core *unused = sweep(memo, &(pattern){.registry = &serial});
    pthread_mutex_unlock(&memo->lock);
    drop_list(unused, shelf);
}

void kw_memo_forget_problem(kw_memo *memo, kw_shelf *shelf, const kw_problem *problem) {
    kw_core_key key;
    kw_core_key_make(&key, problem);
    pthread_mutex_lock(&memo->lock);
    kw_core *unused = sweep(memo, &(pattern){.problem = &key.problem});
    pthread_mutex_unlock(&memo->lock);
    drop_list(unused, shelf);
}
