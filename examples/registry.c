/* registry.c: the workshop's way by hand: declare kernels, build them side by side, measure each, keep the good ones, select and run.
 *
 *   registry [PROBLEM]      default: conv_fwd fp32 nhwgc n1 c64 k64 i28x28 f3x3 p1x1 */
#include <kernelwright.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIED_MAX = 6 };

static void show_progress(void *user, const kw_progress *progress) {
    (void)user;
    fprintf(stderr, "\r%s %zu of %zu, %zu failed ", progress->what, progress->done, progress->total, progress->failed);
    if (progress->done == progress->total) {
        fprintf(stderr, "\n");
    }
}

/* Keeps what is generated; the reference kernels are always there in any case. */
static bool is_generated(void *user, const char *config) {
    (void)user;
    return !strstr(config, ".reference");
}

/* Measures the first few kernels that fit, each by itself. */
static kw_status try_some(kw_registry *registry, const kw_problem *problem, kw_error *err) {
    int tried = 0;
    for (size_t i = 0; i < kw_registry_count(registry) && tried < TRIED_MAX; i++) {
        if (kw_registry_fits(registry, i, problem, NULL)) {
            continue;
        }
        kw_record record;
        kw_status status =
            kw_measure(&record, registry, i, problem, &(kw_measure_options){.size = sizeof(kw_measure_options), .time = true}, err);
        if (status) {
            return status;
        }
        tried++;
        printf("%10.1f us  %-10s %s\n", record.time_ns / 1e3, kw_outcome_name(record.outcome), record.config);
    }
    return KW_OK;
}

static kw_status workflow(kw_context *context, const kw_problem *problem, kw_error *err) {
    kw_registry *registry = NULL;
    kw_plan *plan = NULL;
    kw_build_report report = {0};
    /* Declare: the default set, or kw_registry_load for a catalog file, or kw_registry_add for one config's text. */
    kw_status status = kw_registry_create(&registry, context, err);
    status = status ? status : kw_registry_add_default(registry, err);
    status = status ? status : kw_registry_keep(registry, is_generated, NULL, err);
    if (status) {
        goto out;
    }
    /* Build what serves the problem. */
    status = kw_registry_build(
        registry, &(kw_build_options){.size = sizeof(kw_build_options), .problem = problem, .progress = show_progress}, &report, err);
    if (status) {
        goto out;
    }
    printf("%zu kernels in the registry; for this problem %zu compiled now, %zu from the cache, %zu refused\n", kw_registry_count(registry),
           report.built, report.cached, report.failed);
    status = try_some(registry, problem, err);
    /* Select: measure all that fit and remember the winner. Running it is as in six_calls.c. */
    const kw_plan_options options = {
        .size = sizeof(kw_plan_options), .mode = KW_EXHAUSTIVE, .registry = registry, .progress = show_progress};
    status = status ? status : kw_plan_create(&plan, context, problem, &options, err);
    if (!status) {
        printf("selected:\n%s", kw_plan_explain(plan));
    }
out:
    kw_plan_destroy(&plan);
    kw_registry_destroy(&registry);
    return status;
}

int main(int argc, char **argv) {
    kw_error err = {0};
    kw_problem problem;
    kw_context *context = NULL;
    kw_status status = kw_problem_parse(&problem, argc > 1 ? argv[1] : "conv_fwd fp32 nhwgc n1 c64 k64 i28x28 f3x3 p1x1", &err);
    status = status ? status : kw_context_open(&context, "cpu", NULL, &err);
    status = status ? status : workflow(context, &problem, &err);
    if (status) {
        fprintf(stderr, "registry: %s\n", err.text);
    }
    kw_context_close(&context);
    return status ? EXIT_FAILURE : EXIT_SUCCESS;
}
