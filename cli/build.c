/* build.c: the verb build: into the cache, or code objects into a folder. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

typedef struct build_sum {
    kw_build_report report;
    int64_t wall_ns;
} build_sum;

static int build_for(build_sum *sum, kw_registry *registry, const kw_problem *problem, const cli_args *args, int64_t jobs) {
    kw_error err = {0};
    cli_progress progress;
    kw_build_report report = {0};
    cli_progress_start(&progress, args, NULL);
    kw_build_options options = {.problem = problem, .jobs = (int32_t)jobs, .progress = cli_progress_show, .user = &progress};
    kw_status status = kw_registry_build(registry, &options, &report, &err);
    cli_progress_end(&progress);
    sum->wall_ns += cli_now_ns() - progress.start_ns;
    sum->report.built += report.built;
    sum->report.cached += report.cached;
    sum->report.failed += report.failed;
    sum->report.cpu_ns += report.cpu_ns;
    return status ? cli_fail(&err) : CLI_DONE;
}

static void show_report(const build_sum *sum, bool json) {
    const kw_build_report *report = &sum->report;
    double each_ms = report->built ? report->cpu_ns / 1e6 / (double)report->built : 0;
    if (json) {
        printf("{\"built\": %zu, \"cached\": %zu, \"failed\": %zu, \"cpu_ms_each\": %.1f, \"wall_s\": %.2f}\n", report->built,
               report->cached, report->failed, each_ms, (double)sum->wall_ns / 1e9);
        return;
    }
    printf("compiled %zu in %.1f s (%.0f ms of processor time each), %zu were cached, %zu failed\n", report->built,
           (double)sum->wall_ns / 1e9, each_ms, report->cached, report->failed);
}

/* Code objects in a folder, for an architecture that need not be here. */
static int build_objects(const cli_args *args, int64_t jobs) {
    kw_error err = {0};
    kw_object_report report = {0};
    cli_progress progress;
    const char *device = args->value[OPT_DEVICE];
    kw_object_options options = {
        .space = cli_space(args),
        .folder = args->value[OPT_OUT],
        .emulate = device && !strncmp(device, "emu", 3),
        .compiler = args->value[OPT_CC],
        .cache_dir = args->value[OPT_CACHE_DIR],
        .jobs = (int32_t)jobs,
        .progress = cli_progress_show,
        .user = &progress,
    };
    if (!options.space.arch || args->operand_count || args->value[OPT_PROBLEMS] || args->value[OPT_KERNELS] || args->value[OPT_CONFIG]) {
        return cli_usage("--out needs --arch, and takes the kernels of --set and --filter; no problems, --kernels or --config");
    }
    cli_progress_start(&progress, args, NULL);
    kw_status status = kw_objects_build(&report, &options, &err);
    cli_progress_end(&progress);
    if (status) {
        return cli_fail(&err);
    }
    build_sum sum = {.report = {report.built, report.cached, report.failed, report.cpu_ns}, .wall_ns = cli_now_ns() - progress.start_ns};
    show_report(&sum, args->value[OPT_JSON] != NULL);
    if (report.refused && !args->value[OPT_QUIET]) {
        fprintf(stderr, "kwright: %zu of them spill registers or want too much shared memory; %s/catalog.txt says which\n", report.refused,
                options.folder);
    }
    return report.failed ? CLI_FAILED : CLI_DONE;
}

int verb_build(const cli_args *args) {
    kw_context *context = NULL;
    kw_registry *registry = NULL;
    cli_problem_list list = {0};
    build_sum sum = {0};
    int64_t jobs;
    if (!cli_number(args, OPT_JOBS, 1, 1024, 0, &jobs)) {
        return CLI_USAGE;
    }
    if (args->value[OPT_OUT]) {
        return build_objects(args, jobs);
    }
    int code = cli_context(&context, args);
    code = code ? code : cli_registry(&registry, context, args);
    code = code ? code : cli_problems(&list, args);
    if (!code && !list.count) {
        code = build_for(&sum, registry, NULL, args, jobs);
    }
    for (size_t i = 0; !code && i < list.count; i++) {
        code = build_for(&sum, registry, &list.items[i].problem, args, jobs);
    }
    if (!code) {
        show_report(&sum, args->value[OPT_JSON] != NULL);
        code = sum.report.failed ? CLI_FAILED : CLI_DONE;
        if (sum.report.failed) {
            fprintf(stderr, "kwright: %zu kernels did not compile; `kwright doctor` shows where their logs are\n", sum.report.failed);
        }
    }
    cli_problems_free(&list);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
    return code;
}
