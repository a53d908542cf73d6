/* measure_kernel.c: one kernel of a registry measured on request (kw_measure). */
#include "base/sized.h"
#include "dispatch/context.h"
#include "measure/evaluate_kernel.h"

#include <string.h>

/* Data of larger problems are not kept between two calls of kw_measure. */
static const int64_t keep_bytes = 256 << 20;

/* The registry's data for the problem: those of the call before where they are the same. */
static kw_status acquire_bench(kw_registry *registry, const kw_problem *problem, uint64_t seed, kw_error *err) {
    const kw_context *context = registry->context;
    kw_plan_key key;
    kw_plan_key_make(&key, problem);
    if (registry->bench && registry->bench_seed == seed && !memcmp(&registry->bench_problem, &key.problem, sizeof key.problem)) {
        return KW_OK;
    }
    kw_bench_close(&registry->bench);
    registry->bench_problem = key.problem;
    registry->bench_seed = seed;
    return kw_bench_open(&registry->bench, context->backend, context->device, problem, seed, err);
}

/* Under the measuring lock: kernels that are measured do not disturb one another. */
static kw_status measure_loaded(kw_record *record, kw_registry *registry, const kw_loaded_kernel *loaded, const kw_problem *problem,
                                const kw_measure_options *options, kw_error *err) {
    kw_context *context = registry->context;
    kw_timing_options timing = {.pack_weights = options->pack_weights};
    kw_context_measuring_begin(context);
    kw_status status = acquire_bench(registry, problem, options->seed, err);
    if (!status) {
        status = kw_evaluate_run(registry->bench, loaded->kernel, &loaded->config, options->time ? &timing : NULL, record, err);
    }
    if (kw_problem_bytes(problem) > keep_bytes) {
        kw_bench_close(&registry->bench);
    }
    kw_context_measuring_end(context);
    return status;
}

kw_status kw_measure(kw_record *record, kw_registry *registry, size_t index, const kw_problem *problem, const kw_measure_options *options,
                     kw_error *err) {
    kw_measure_options own;
    kw_status status = KW_SIZED_READ(&own, kw_measure_options, seed, options, err);
    if (status) {
        return status;
    }
    options = &own;
    if (!record || !registry || !problem) {
        return kw_fail(err, KW_ILLEGAL, "kw_measure: %s is NULL", !record ? "record" : !registry ? "registry" : "problem");
    }
    *record = (kw_record){0};
    if (index >= registry->catalog.count) {
        return kw_fail(err, KW_ILLEGAL, "kw_measure: config number %zu; the registry has %zu", index, registry->catalog.count);
    }
    kw_error why = {0};
    kw_loaded_kernel *loaded = NULL;
    kw_context *context = registry->context;
    kw_config config = registry->catalog.configs[index];
    status = kw_context_check(context, err);
    status = status ? status : kw_problem_check(problem, err);
    if (status) {
        return status;
    }
    kw_context_learn_rates(context);                                    /* launches of plans go by them, too */
    kw_config_serves(&config, &config, problem, context->target, NULL); /* whether it does, kw_evaluate_load says */
    kw_config_print(record->config, sizeof record->config, &config);
    kw_kernel_cache_user from = {&context->kernel_cache, &loaded};
    kw_kernel_load kernel = {.config = &config, .problem = problem, .target = context->target, .load = kw_kernel_cache_load, .user = &from};
    status = kw_evaluate_load(&kernel, record, &why);
    if (status) {
        bool environment = status == KW_MISSING || status == KW_ENVIRONMENT || status == KW_NO_MEMORY || status == KW_IO;
        return environment ? kw_fail(err, status == KW_MISSING ? KW_ENVIRONMENT : status, "%s", why.text) : KW_OK;
    }
    status = measure_loaded(record, registry, loaded, problem, options, err);
    kw_kernel_cache_release(&context->kernel_cache, &loaded);
    return status;
}
