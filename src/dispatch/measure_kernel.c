/* measure_kernel.c: one kernel tried on request (kw_measure), and a kernel's source. */
#include "dispatch/choose/choose.h"
#include "dispatch/context.h"

#include <stdio.h>
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

static kw_status measure_loaded(kw_record *record, kw_registry *registry, const kw_loaded_kernel *loaded, const kw_problem *problem,
                                const kw_measure_options *options, kw_error *err) {
    kw_context *context = registry->context;
    const kw_kernel *kernel = loaded->kernel;
    const kw_config *config = &loaded->config;
    pthread_mutex_lock(&context->measuring);
    kw_status status = acquire_bench(registry, problem, options->seed, err);
    status = status ? status : kw_bench_verify(registry->bench, kernel, config, record, err);
    if (!status && options->time && record->outcome == KW_GOOD) {
        kw_timing_options timing = {.pack_weights = options->pack_weights};
        status = kw_bench_time(registry->bench, &kernel, &config, 1, &timing, record, err);
    }
    if (kw_problem_bytes(problem) > keep_bytes) {
        kw_bench_close(&registry->bench);
    }
    pthread_mutex_unlock(&context->measuring);
    return status;
}

kw_status kw_measure(kw_record *record, kw_registry *registry, size_t index, const kw_problem *problem, const kw_measure_options *options,
                     kw_error *err) {
    static const kw_measure_options defaults = {0};
    options = options ? options : &defaults;
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
    const kw_config *config = &registry->catalog.configs[index];
    kw_status status = kw_problem_check(problem, err);
    if (status) {
        return status;
    }
    kw_config_print(record->config, sizeof record->config, config);
    if (kw_config_fits(config, problem, context->target, &why)) {
        record->outcome = KW_UNFIT;
    } else {
        status = kw_kernel_cache_acquire(&loaded, &context->kernel_cache, config, true, &why);
        record->outcome = status ? kw_load_outcome(status) : KW_UNTRIED;
    }
    if (record->outcome != KW_UNTRIED) {
        snprintf(record->detail, sizeof record->detail, "%.*s", (int)sizeof record->detail - 1, why.text);
        bool environment = status == KW_MISSING || status == KW_ENVIRONMENT || status == KW_NO_MEMORY;
        return environment ? kw_fail(err, status == KW_MISSING ? KW_ENVIRONMENT : status, "%s", why.text) : KW_OK;
    }
    status = measure_loaded(record, registry, loaded, problem, options, err);
    kw_kernel_cache_release(&context->kernel_cache, &loaded);
    return status;
}

/* The toolchain's own source for a GPU architecture; "emu:gfx942" is what plays it on a CPU. */
static kw_status code_of_arch(kw_code *code, const char *arch, kw_error *err) {
    static const char emulated[] = "emu:";
    bool played = !strncmp(arch, emulated, sizeof emulated - 1);
    const char *name = played ? arch + sizeof emulated - 1 : arch;
    const kw_gpu_arch *found = kw_gpu_arch_find(name);
    return kw_code_for(code, played || !found ? "emu" : found->backend, name, err);
}

kw_status kw_config_source(char **source, const char *config, const char *arch, kw_error *err) {
    if (!source || !config) {
        return kw_fail(err, KW_ILLEGAL, "kw_config_source: %s is NULL", source ? "config" : "source");
    }
    kw_config parsed;
    kw_text text = {0};
    kw_code code = {0};
    *source = NULL;
    kw_status status = kw_config_parse(&parsed, config, err);
    if (!status && arch && strcmp(parsed.family->backend, "cpu")) {
        status = code_of_arch(&code, arch, err);
    }
    status = status ? status : kw_codegen_source(&text, &parsed, code, err);
    if (!status) {
        *source = kw_text_take(&text);
        status = *source ? KW_OK : kw_fail_memory(err, "a kernel's source");
    }
    kw_text_drop(&text);
    return status;
}
