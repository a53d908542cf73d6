/* sweep_build.c: compiler, cache and the build of a sweep. Workers load kernels from the cache by key, so a kernel counts as built once it
 * is there. */
#include "sweep/sweep_build.h"

#include "base/os/clock.h"
#include "base/os/file.h"
#include "base/os/parallel.h"
#include "base/os/settings.h"
#include "jit/cache/cache.h"
#include "measure/resources.h"
#include "space/enumerate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- toolchain -------------------------------------------------------------------------------------------------------- */

static void log_remark(const kw_sweep_options *options, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void log_remark(const kw_sweep_options *options, const char *format, ...) {
    char line[1024];
    va_list arguments;
    if (options->log) {
        va_start(arguments, format);
        vsnprintf(line, sizeof line, format, arguments);
        va_end(arguments);
        options->log(options->user, line);
    }
}

/* A cache in which kernels can be put and found; one that can only be read will not do. */
static bool open_writable_cache(kw_sweep_toolchain *toolchain, const char *folder) {
    kw_jit_handle *handle = &toolchain->handle;
    toolchain->cache_folder = folder;
    if (kw_jit_open_cache(handle, folder) && *handle->cache_note) {
        kw_cache_close(&handle->jit.cache);
    }
    return handle->jit.cache != NULL;
}

static kw_status choose_cache(kw_sweep_toolchain *toolchain, const kw_sweep_options *options, kw_error *err) {
    const char *note = toolchain->handle.cache_note;
    const char *folder =
        options->build.cache_dir ? options->build.cache_dir : kw_folder_user(&toolchain->arena, "KW_CACHE_DIR", "XDG_CACHE_HOME", ".cache");
    if (!folder) {
        return kw_fail_memory(err, "the name of a cache folder");
    }
    if (open_writable_cache(toolchain, folder)) {
        return KW_OK;
    }
    folder = kw_arena_format(&toolchain->arena, "%s.kernels", options->out ? options->out : "sweep");
    if (!folder) {
        return kw_fail_memory(err, "the name of a cache folder");
    }
    log_remark(options, "the kernel cache cannot be used (%s); kernels are kept in %s", note, folder);
    return open_writable_cache(toolchain, folder)
               ? KW_OK
               : kw_fail(err, KW_IO, "kernels can be kept nowhere: %s; give a folder of your own as the cache", note);
}

kw_status kw_sweep_toolchain_open(kw_sweep_toolchain *toolchain, const kw_sweep_options *options, kw_error *err) {
    kw_status status = choose_cache(toolchain, options, err);
    return status ? status : kw_spill_limit_read(&toolchain->spill_limit, options->build.spill_limit, err);
}

kw_status kw_sweep_toolchain_find(kw_sweep_toolchain *toolchain, const kw_sweep_options *options, const kw_target *target, kw_error *err) {
    kw_status status = kw_code_for(&toolchain->handle.jit.code, target->backend, target->arch, err);
    if (!status) {
        kw_jit_find_compiler(&toolchain->handle,
                             &(kw_jit_settings){
                                 .compiler = options->build.compiler,
                                 .cc = secure_getenv("KW_CC"),
                                 .data = kw_folder_user(&toolchain->arena, "KW_DATA_DIR", "XDG_DATA_HOME", ".local/share"),
                                 .stop = options->stop,
                             });
    }
    return status;
}

void kw_sweep_toolchain_close(kw_sweep_toolchain *toolchain) {
    kw_jit_close(&toolchain->handle);
    kw_arena_drop(&toolchain->arena);
    *toolchain = (kw_sweep_toolchain){0};
}

/* --- control ------------------------------------------------------------------------------------------------------ */

typedef struct search {
    kw_config *config;
    const kw_problem *problem;
    const kw_target *target;
    bool found;
} search;

static bool try_config(void *user, const kw_config *config) {
    search *s = user;
    s->found = !kw_config_fits(config, s->problem, s->target, NULL);
    if (s->found) {
        *s->config = *config;
    }
    return !s->found;
}

bool kw_sweep_control_find(kw_config *config, kw_problem *problem, const kw_target *target) {
    search s = {.config = config, .problem = problem, .target = target};
    if (kw_backends[target->backend].emulated) {
        return false; /* times of a GPU that is played mean nothing */
    }
    kw_space_options tiny = {
        .size = sizeof(kw_space_options), .set = "tiny", .arch = target->arch, .problems = problem, .problem_count = 1};
    return !kw_problem_parse(problem, "conv_fwd fp32 nhwgc n1 c64 k64 i28x28 f3x3 p1x1", NULL) &&
           !kw_enumerate(&tiny, try_config, &s, NULL) && s.found;
}

/* --- build -------------------------------------------------------------------------------------------------------- */

typedef struct job {
    kw_sweep_kernel *kernel;
    kw_status status;
    bool begun, cached;
    kw_error why;
} job;

typedef struct build_site {
    const kw_sweep_plan *plan;
    const kw_sweep_toolchain *toolchain;
    const kw_sweep_options *options;
    job *jobs;
    int64_t start_ns;
    kw_sweep_progress progress;
} build_site;

static void build_sweep_kernel(void *user, size_t number) {
    build_site *s = user;
    job *j = &s->jobs[number];
    kw_sweep_kernel *kernel = j->kernel;
    const kw_jit *jit = &s->toolchain->handle.jit;
    kw_blob blob = {0};
    kw_jit_result result = {0};
    if (kw_sweep_should_stop(s->plan, s->options)) {
        return;
    }
    j->begun = true;
    j->status = kw_jit_blob(jit, kernel->config, &blob, &result, &j->why);
    kernel->compile_ns = (double)result.cpu_ns;
    j->cached = result.cached;
    if (!j->status) {
        kernel->code_bytes = (int64_t)blob.size;
        kw_blob_facts_read(&kernel->facts, &blob, jit->code, NULL); /* a blob that was just checked */
        kernel->refused = kw_resources_check(&kernel->facts, &s->plan->target, s->toolchain->spill_limit, kernel->detail);
        kw_hash_text(kernel->code_hash, blob.data, blob.size);
        memcpy(kernel->key, result.key, sizeof kernel->key);
        if (!kw_cache_has(jit->cache, kernel->key)) {
            j->status = kw_fail(&j->why, KW_IO, "a kernel could not be kept in %.300s; is the disk full?", s->toolchain->cache_folder);
        }
    }
    kw_blob_drop(&blob);
}

/* A compiler that was stopped has refused nothing. */
static void report_build_progress(void *user, size_t number) {
    build_site *s = user;
    job *j = &s->jobs[number];
    if (!j->begun) {
        return; /* the sweep stops */
    }
    if (j->status == KW_FAILED && !kw_sweep_is_stopped(s->options)) {
        j->kernel->refused = KW_UNCOMPILED;
        snprintf(j->kernel->detail, sizeof j->kernel->detail, "%.*s", (int)sizeof j->kernel->detail - 1, j->why.text);
    }
    if (j->kernel->refused != KW_UNTRIED) {
        s->progress.failed++;
        log_remark(s->options, "%s: %s: %s", j->kernel->text, kw_outcome_name(j->kernel->refused), j->kernel->detail);
    }
    s->progress.done++;
    double elapsed_s = (double)(kw_clock_ns() - s->start_ns) / 1e9;
    s->progress.eta_s = elapsed_s * (double)(s->progress.total - s->progress.done) / (double)s->progress.done;
    if (s->options->progress) {
        s->options->progress(s->options->user, &s->progress);
    }
}

/* The first failure that is none of the kernel's. */
static kw_status sum_up_builds(const build_site *s, size_t count, kw_sweep_report *report, kw_error *err) {
    size_t missing = 0;
    const job *first = NULL;
    for (size_t i = 0; i < count; i++) {
        const job *j = &s->jobs[i];
        report->built += j->begun && !j->status && !j->cached;
        report->cached += !j->status && j->cached;
        missing += j->status == KW_MISSING;
        if (!first && j->status && j->status != KW_FAILED) {
            first = j;
        }
    }
    if (missing && !s->toolchain->handle.jit.compiler) {
        return kw_fail(err, KW_ENVIRONMENT, "%zu kernels are not cached and there is no compiler: %.300s", missing,
                       s->toolchain->handle.compiler_note);
    }
    return first ? kw_fail(err, first->status, "%s", first->why.text) : KW_OK;
}

kw_status kw_sweep_build(kw_sweep_plan *plan, const kw_sweep_toolchain *toolchain, kw_sweep_kernel *control,
                         const kw_sweep_options *options, kw_sweep_report *report, kw_error *err) {
    size_t count = 0;
    build_site s = {.plan = plan, .toolchain = toolchain, .options = options, .start_ns = kw_clock_ns()};
    s.jobs = calloc(plan->manifest.configs.count + 1, sizeof *s.jobs);
    if (!s.jobs) {
        return kw_fail_memory(err, "a list of kernels to build");
    }
    for (size_t i = 0; i < plan->manifest.configs.count; i++) {
        if (plan->kernels[i].wanted && !plan->kernels[i].config->family->builtin) {
            s.jobs[count++].kernel = &plan->kernels[i];
        }
    }
    if (control && !control->config->family->builtin) {
        s.jobs[count++].kernel = control;
    }
    s.progress = (kw_sweep_progress){.phase = "build", .total = (int64_t)count, .skipped = plan->skipped, .eta_s = -1};
    kw_parallel_run(&(kw_parallel){
        .count = count, .workers = options->build.jobs, .work = build_sweep_kernel, .done = report_build_progress, .user = &s});
    kw_status status = kw_sweep_is_stopped(options) ? KW_OK : sum_up_builds(&s, count, report, err);
    report->build_s = (double)(kw_clock_ns() - s.start_ns) / 1e9;
    free(s.jobs);
    return status;
}

kw_status kw_sweep_rebuild_missing(const kw_sweep_toolchain *toolchain, const kw_sweep_kernel *kernel, kw_error *err) {
    kw_blob blob = {0};
    kw_jit_result result;
    if (!*kernel->key || kw_cache_has(toolchain->handle.jit.cache, kernel->key)) {
        return KW_OK;
    }
    kw_error why = {0};
    kw_status status = kw_jit_blob(&toolchain->handle.jit, kernel->config, &blob, &result, &why);
    kw_blob_drop(&blob);
    if (status || !kw_cache_has(toolchain->handle.jit.cache, kernel->key)) {
        return kw_fail(err, status ? status : KW_IO, "a kernel has gone from the cache %.200s and cannot be made again: %.200s",
                       toolchain->cache_folder, *why.text ? why.text : "it cannot be kept there");
    }
    return KW_OK;
}
