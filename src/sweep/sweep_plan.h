/* sweep_plan.h: what a sweep has to do: pairs of a kernel and a problem, sorted into those that have a row, those that cannot run, and
 * those to measure. Made once, before anything runs; then only read, by all threads. */
#ifndef KW_SWEEP_SWEEP_PLAN_H
#define KW_SWEEP_SWEEP_PLAN_H

#include "base/container/arena.h"
#include "base/hash.h"
#include "sweep/shards/manifest.h"
#include "jit/jit.h"

#include <kernelwright_tune.h>

/* One kernel and what its build came to. */
typedef struct kw_sweep_kernel {
    const kw_config *config;
    const char *text;
    bool wanted;        /* serves a problem that is to be measured */
    kw_outcome refused; /* KW_UNTRIED: it may be run; else what its build came to, with the reason in detail */
    char detail[256];
    char key[KW_CACHE_KEY_MAX + 1]; /* of its blob; "" when compiled in */
    char code_hash[KW_HASH_TEXT];
    double compile_ns;
    int64_t code_bytes;
    kw_blob_facts facts; /* all 0, and spill_bytes -1, where the blob says nothing */
} kw_sweep_kernel;

/* A problem and its pairs without a row: positions of kernels in plan->pairs. From first, fit of them are to be measured; the unfit ones
 * follow. */
typedef struct kw_sweep_task {
    const kw_problem *problem;
    const char *text;
    size_t first;
    uint32_t fit, unfit;
    double weight;  /* of measuring one kernel, in proportion to the time expected */
    uint64_t place; /* tasks are done in ascending order of it */
} kw_sweep_task;

typedef struct kw_sweep_plan {
    kw_arena arena;
    kw_manifest manifest;
    kw_target target;
    char target_text[KW_TARGET_TEXT_MAX];
    kw_sweep_kernel *kernels; /* in the order of manifest.configs */
    kw_sweep_task *tasks;     /* of this shard, in the order they are done */
    size_t task_count;
    uint32_t *pairs;
    int64_t total, skipped, unfit, fit; /* pairs of this shard */
    int64_t until_ns;                   /* of kw_clock_ns: when the budget is spent; 0: never */
} kw_sweep_plan;

/* Which pairs have a row; and, for a sweep that starts over, the drop of these rows. Both may be NULL: none has. */
typedef struct kw_sweep_existing {
    kw_status (*has)(void *user, bool *has, const char *problem, const char *config, kw_error *err);
    kw_status (*drop)(void *user, const char *problem, const char *config, kw_error *err);
    void *user;
} kw_sweep_existing;

/* The pairs that the options name, all shards'. plan must be zeroed; drop it also after a failure. */
kw_status kw_sweep_plan_read(kw_sweep_plan *plan, const kw_sweep_options *options, kw_error *err);
/* Sorts this shard's pairs. known->drop is called for pairs that have a row when options->overwrite is set. */
kw_status kw_sweep_plan_sort(kw_sweep_plan *plan, const kw_sweep_options *options, const kw_target *target, const kw_sweep_existing *known,
                             kw_error *err);
void kw_sweep_plan_drop(kw_sweep_plan *plan);

/* Whether the caller wants to end. */
bool kw_sweep_is_stopped(const kw_sweep_options *options);
/* Whether the budget is spent. */
bool kw_sweep_is_out_of_budget(const kw_sweep_plan *plan);
/* Either of them: nothing new is begun. */
bool kw_sweep_should_stop(const kw_sweep_plan *plan, const kw_sweep_options *options);
/* Puts positions of kernels into an order that seed, problem and the kernels' texts alone decide. */
kw_status kw_sweep_shuffle(const kw_sweep_plan *plan, const kw_sweep_task *task, uint64_t seed, uint32_t positions[], size_t count,
                           kw_error *err);

#endif
