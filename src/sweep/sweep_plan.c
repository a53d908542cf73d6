/* sweep_plan.c: pairs from options, and their order. The order comes from hashes of texts and the seed alone: the same pairs come in the
 * same order from a list that is sorted otherwise, and what is left of a sweep comes in the order that it had. */
#include "sweep/sweep_plan.h"

#include "base/container/array.h"
#include "base/os/clock.h"
#include "sweep/shards/shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds, roughly, that one kernel takes on a problem: what does not depend on its size, and per operation (25 launches at 100 GFLOP/s and
 * a share of the reference). Only proportions matter. */
static const double pair_s = 8e-3;
static const double operation_s = 0.3e-9;

enum { PLACE_TEXT = KW_PROBLEM_TEXT_MAX + KW_CONFIG_TEXT_MAX + 32 };

bool kw_sweep_is_stopped(const kw_sweep_options *options) {
    return kw_stop_requested(options->stop);
}

bool kw_sweep_is_out_of_budget(const kw_sweep_plan *plan) {
    return plan->until_ns && kw_clock_ns() >= plan->until_ns;
}

bool kw_sweep_should_stop(const kw_sweep_plan *plan, const kw_sweep_options *options) {
    return kw_sweep_is_stopped(options) || kw_sweep_is_out_of_budget(plan);
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static kw_status check_sweep_options(const kw_sweep_options *o, kw_error *err) {
    if (!o->pairs && (!o->config_count || !o->problem_count)) {
        return kw_fail(err, KW_ILLEGAL, "a sweep of %zu kernels and %zu problems has nothing to do; give at least one of each",
                       o->config_count, o->problem_count);
    }
    if (o->shard.count < 0 || o->shard.index < 0 || (o->shard.count ? o->shard.index >= o->shard.count : o->shard.index)) {
        return kw_fail(err, KW_ILLEGAL, "shard %d of %d is not there; shards count from 0", o->shard.index, o->shard.count);
    }
    if (o->workers.threads < 0 || o->build.jobs < 0 || o->workers.batch < 0 || o->timing.batches < 0 || !(o->limits.kernel_s >= 0) ||
        !(o->limits.batch_s >= 0) || !(o->limits.budget_s >= 0)) {
        return kw_fail(err, KW_ILLEGAL,
                       "threads, jobs, batch, batches, limits and budget of a sweep are not negative; 0 asks for the default");
    }
    return KW_OK;
}

static kw_status read_manifest(kw_manifest *manifest, const kw_sweep_options *o, kw_error *err) {
    kw_status status = kw_manifest_read(manifest, o->pairs, err);
    if (!status && ((o->timing.cold && !manifest->cold) || (o->timing.fresh_weights && !manifest->fresh_weights))) {
        return kw_fail(err, KW_ILLEGAL, "%.300s asks for times %s, %s weights; leave away what the options say of it", o->pairs,
                       manifest->cold ? "cold" : "hot", manifest->fresh_weights ? "with fresh" : "with packed");
    }
    return status;
}

static kw_status list_plan_kernels(kw_sweep_plan *plan, kw_error *err) {
    const kw_catalog *configs = &plan->manifest.configs;
    char text[KW_CONFIG_TEXT_MAX];
    plan->kernels = kw_arena_array(&plan->arena, configs->count + 1, sizeof *plan->kernels);
    for (size_t i = 0; plan->kernels && i < configs->count; i++) {
        size_t size = kw_config_print(text, sizeof text, &configs->configs[i]);
        plan->kernels[i] = (kw_sweep_kernel){.config = &configs->configs[i], .text = kw_arena_copy(&plan->arena, text, size)};
        if (!plan->kernels[i].text) {
            plan->kernels = NULL;
        }
    }
    return plan->kernels ? KW_OK : kw_fail_memory(err, "the kernels of a sweep");
}

kw_status kw_sweep_plan_read(kw_sweep_plan *plan, const kw_sweep_options *options, kw_error *err) {
    kw_manifest *manifest = &plan->manifest;
    kw_status status = check_sweep_options(options, err);
    if (status) {
        return status;
    }
    if (options->pairs) {
        status = read_manifest(manifest, options, err);
    } else {
        status = kw_manifest_create(manifest, options->configs, options->config_count, options->problems, options->problem_count, err);
        manifest->cold = options->timing.cold;
        manifest->fresh_weights = options->timing.fresh_weights;
    }
    return status ? status : list_plan_kernels(plan, err);
}

void kw_sweep_plan_drop(kw_sweep_plan *plan) {
    free(plan->pairs);
    kw_manifest_drop(&plan->manifest);
    kw_arena_drop(&plan->arena);
    *plan = (kw_sweep_plan){0};
}

/* --- sorting ------------------------------------------------------------------------------------------------------ */

static uint64_t task_order(uint64_t seed, const char *problem, const char *config) {
    char text[PLACE_TEXT];
    int size = snprintf(text, sizeof text, "%llu\n%s\n%s", (unsigned long long)seed, problem, config);
    return kw_hash64(text, size > 0 && (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
}

static int by_task_order(const void *a, const void *b) {
    const kw_sweep_task *left = a, *right = b;
    return left->place != right->place ? (left->place < right->place ? -1 : 1) : strcmp(left->text, right->text);
}

static kw_status list_tasks(kw_sweep_plan *plan, const kw_sweep_options *options, kw_error *err) {
    const kw_distinct *problems = &plan->manifest.problems;
    char text[KW_PROBLEM_TEXT_MAX];
    plan->tasks = kw_arena_array(&plan->arena, problems->count + 1, sizeof *plan->tasks);
    if (!plan->tasks) {
        return kw_fail_memory(err, "the problems of a sweep");
    }
    const uint64_t salt = options->pairs ? kw_manifest_salt(&plan->manifest) : 0;
    for (size_t i = 0; i < problems->count; i++) {
        const kw_problem *problem = &problems->problems[i];
        if (options->shard.count && kw_shard_of(problem, options->shard.count, salt) != options->shard.index) {
            continue;
        }
        size_t size = kw_problem_print(text, sizeof text, problem);
        kw_sweep_task *task = &plan->tasks[plan->task_count++];
        *task = (kw_sweep_task){
            .problem = problem, .text = kw_arena_copy(&plan->arena, text, size), .place = task_order(options->timing.seed, text, "")};
        task->weight = pair_s + operation_s * (double)kw_problem_flops(problem);
        if (!task->text) {
            return kw_fail_memory(err, "the problems of a sweep");
        }
    }
    return KW_OK;
}

/* Whether the pair has a row that stays. */
static kw_status look_up(const kw_sweep_plan *plan, const kw_sweep_task *task, uint32_t kernel, const kw_sweep_existing *known, bool drop,
                         bool *has, kw_error *err) {
    *has = false;
    if (!known) {
        return KW_OK;
    }
    kw_status status = known->has(known->user, has, task->text, plan->kernels[kernel].text, err);
    if (!status && *has && drop) {
        *has = false;
        status = known->drop(known->user, task->text, plan->kernels[kernel].text, err);
    }
    return status;
}

/* Sorts the positions of one task in place: those without a row move to the front, the ones that fit first. */
static kw_status sort_task(kw_sweep_plan *plan, kw_sweep_task *task, size_t count, const kw_sweep_existing *known, bool drop,
                           kw_error *err) {
    uint32_t *pairs = plan->pairs + task->first;
    plan->total += (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        bool has;
        uint32_t kernel = pairs[i];
        kw_status status = look_up(plan, task, kernel, known, drop, &has, err);
        if (status) {
            return status;
        }
        if (has) {
            plan->skipped++;
            continue;
        }
        pairs[task->fit + task->unfit] = kernel; /* never beyond i */
        if (kw_config_fits(plan->kernels[kernel].config, task->problem, &plan->target, NULL)) {
            task->unfit++;
        } else {
            plan->kernels[kernel].wanted = true;
            pairs[task->fit + task->unfit] = pairs[task->fit];
            pairs[task->fit++] = kernel;
        }
    }
    plan->fit += task->fit;
    plan->unfit += task->unfit;
    return KW_OK;
}

kw_status kw_sweep_plan_sort(kw_sweep_plan *plan, const kw_sweep_options *options, const kw_target *target, const kw_sweep_existing *known,
                             kw_error *err) {
    size_t used = 0, capacity = 0, kernels = plan->manifest.configs.count;
    plan->target = *target;
    kw_target_print(plan->target_text, sizeof plan->target_text, target);
    kw_status status = list_tasks(plan, options, err);
    for (size_t i = 0; !status && i < plan->task_count && !kw_sweep_is_stopped(options); i++) {
        kw_sweep_task *task = &plan->tasks[i];
        if (!KW_ARRAY_RESERVE(plan->pairs, capacity, used + kernels)) {
            return kw_fail_memory(err, "the pairs of a sweep");
        }
        task->first = used;
        size_t position = (size_t)(task->problem - plan->manifest.problems.problems);
        size_t count = kw_manifest_configs(plan->pairs + used, &plan->manifest, position);
        status = sort_task(plan, task, count, known, options->overwrite && !options->count_only, err);
        used += task->fit + task->unfit;
    }
    if (!status) {
        qsort(plan->tasks, plan->task_count, sizeof *plan->tasks, by_task_order);
    }
    return status;
}

/* --- order within a problem --------------------------------------------------------------------------------------- */

typedef struct ticket {
    uint64_t place;
    uint32_t position;
} ticket;

static int by_ticket(const void *a, const void *b) {
    const ticket *left = a, *right = b;
    if (left->place != right->place) {
        return left->place < right->place ? -1 : 1;
    }
    return left->position < right->position ? -1 : left->position > right->position;
}

kw_status kw_sweep_shuffle(const kw_sweep_plan *plan, const kw_sweep_task *task, uint64_t seed, uint32_t positions[], size_t count,
                           kw_error *err) {
    ticket *tickets = calloc(count + 1, sizeof *tickets);
    if (!tickets) {
        return kw_fail_memory(err, "the order of a problem's kernels");
    }
    for (size_t i = 0; i < count; i++) {
        tickets[i] = (ticket){task_order(seed, task->text, plan->kernels[positions[i]].text), positions[i]};
    }
    qsort(tickets, count, sizeof *tickets, by_ticket);
    for (size_t i = 0; i < count; i++) {
        positions[i] = tickets[i].position;
    }
    free(tickets);
    return KW_OK;
}
