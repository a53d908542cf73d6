/* build.c: compiles a registry's kernels side by side, into the cache. Each compile is a child process; the threads here only wait for
 * them, and the caller's thread alone calls progress. */
#include "base/sized.h"
#include "jit/build_cost.h"
#include "dispatch/context.h"
#include "base/os/parallel.h"

#include <stdlib.h>

typedef struct job {
    size_t index; /* in the registry */
    kw_status status;
    kw_jit_result result;
    kw_error why;
} job;

typedef struct site {
    kw_registry *registry;
    const kw_build_options *options;
    kw_jit jit;
    job *jobs;
    double *cpu_ns; /* of those compiled now */
    kw_progress progress;
} site;

static void build_kernel(void *user, size_t number) {
    site *s = user;
    job *j = &s->jobs[number];
    kw_blob blob = {0};
    if (kw_stop_requested(s->registry->context->settings.stop)) {
        return;
    }
    kw_config config = s->registry->catalog.configs[j->index];
    if (s->options->problem) {
        j->status = kw_config_serves(&config, &config, s->options->problem, s->registry->context->target, &j->why);
    }
    j->status = j->status ? j->status : kw_jit_blob(&s->jit, &config, &blob, &j->result, &j->why);
    kw_blob_drop(&blob);
}

static void report_build(void *user, size_t number) {
    site *s = user;
    const job *j = &s->jobs[number];
    s->progress.done++;
    s->progress.current = s->registry->texts[j->index];
    if (j->status) {
        s->progress.failed++;
        kw_log_line(&s->registry->context->settings, "%s: %s", s->progress.current, j->why.text);
    }
    if (s->options->progress) {
        s->options->progress(s->options->user, &s->progress);
    }
}

static bool is_build_wanted(const kw_registry *registry, const kw_config *config, const kw_problem *problem) {
    const kw_target *target = registry->context->target;
    kw_config special;
    return config->family->emit && !kw_config_runs(config, target, NULL) &&
           (!problem || !kw_config_serves(&special, config, problem, target, NULL));
}

static kw_status sum_up_build(site *s, size_t count, kw_build_report *report, kw_error *err) {
    bool no_compiler = false, no_memory = false;
    if (kw_stop_requested(s->registry->context->settings.stop)) {
        return kw_fail_stopped(err);
    }
    for (size_t i = 0; i < count; i++) {
        const job *j = &s->jobs[i];
        report->cached += !j->status && j->result.cached;
        if (!j->status && !j->result.cached) {
            s->cpu_ns[report->built++] = (double)j->result.cpu_ns;
        }
        report->failed += j->status != KW_OK;
        no_compiler |= j->status == KW_MISSING;
        no_memory |= j->status == KW_NO_MEMORY;
    }
    report->cpu = kw_build_cost_of(s->cpu_ns, report->built);
    if (no_compiler && !s->jit.compiler) {
        const char *note;
        kw_build_tools_compiler(s->registry->context->build_tools, &note);
        return kw_fail(err, KW_ENVIRONMENT, "%zu kernels are not cached and there is no compiler: %.300s", report->failed, note);
    }
    return no_memory ? kw_fail_memory(err, "compiling kernels") : KW_OK;
}

kw_status kw_registry_build(kw_registry *registry, const kw_build_options *options, kw_build_report *report, kw_error *err) {
    kw_build_options own;
    kw_status status = KW_SIZED_READ(&own, kw_build_options, user, options, err);
    if (status) {
        return status;
    }
    options = &own;
    kw_build_report unasked;
    report = report ? report : &unasked;
    *report = (kw_build_report){0};
    if (!registry) {
        return kw_fail(err, KW_ILLEGAL, "kw_registry_build: registry is NULL");
    }
    status = kw_context_check(registry->context, err);
    status = status || !options->problem ? status : kw_problem_check(options->problem, err);
    if (status) {
        return status;
    }
    size_t most = registry->catalog.count + 1, count = 0;
    site s = {.registry = registry, .options = options, .jobs = calloc(most, sizeof *s.jobs), .cpu_ns = calloc(most, sizeof *s.cpu_ns)};
    if (!s.jobs || !s.cpu_ns) {
        status = kw_fail_memory(err, "a list of kernels to build");
        goto out;
    }
    for (size_t i = 0; i < registry->catalog.count; i++) {
        if (is_build_wanted(registry, &registry->catalog.configs[i], options->problem)) {
            s.jobs[count++].index = i;
        }
    }
    s.jit = kw_build_tools_jit(registry->context->build_tools, true);
    s.progress = (kw_progress){.total = count, .what = "build"};
    kw_parallel_run(&(kw_parallel){.count = count, .workers = options->jobs, .work = build_kernel, .done = report_build, .user = &s});
    status = sum_up_build(&s, count, report, err);
out:
    free(s.jobs);
    free(s.cpu_ns);
    return status;
}
