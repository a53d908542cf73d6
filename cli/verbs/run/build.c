/* build.c: the verb build: into the cache, or code objects into a folder. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

static void show_report(const kw_build_report *report, int64_t wall_ns, const cli_args *args) {
    double each_ms = report->built ? report->cpu.total_ns / 1e6 / (double)report->built : 0, wall_s = (double)wall_ns / 1e9;
    double median_ms = report->cpu.median_ns / 1e6, most_ms = report->cpu.most_ns / 1e6;
    if (args->value[OPT_JSON]) {
        cli_json json;
        cli_json_start(&json);
        cli_json_int(&json, "built", (int64_t)report->built);
        cli_json_int(&json, "cached", (int64_t)report->cached);
        cli_json_int(&json, "failed", (int64_t)report->failed);
        cli_json_real(&json, "cpu_ms_each", each_ms);
        cli_json_real(&json, "cpu_ms_median", median_ms);
        cli_json_real(&json, "cpu_ms_most", most_ms);
        cli_json_real(&json, "wall_s", wall_s);
        cli_json_print(&json, stdout);
        return;
    }
    printf("compiled %zu in %.1f s", report->built, wall_s);
    if (report->built) {
        printf(" (processor time: median %.0f ms, mean %.0f ms, most %.0f ms)", median_ms, each_ms, most_ms);
    }
    printf(", %zu were cached, %zu failed\n", report->cached, report->failed);
}

/* Code objects in a folder, for an architecture that need not be here. */
static int build_objects(const cli_args *args, int64_t jobs) {
    kw_error err = {0};
    kw_object_report report = {0};
    cli_progress progress;
    const kw_space_options space = cli_space(args);
    kw_object_options options = {
        .size = sizeof(kw_object_options),
        .space = &space,
        .folder = args->value[OPT_OUT],
        .device = args->value[OPT_DEVICE],
        .compiler = args->value[OPT_CC],
        .cache_dir = args->value[OPT_CACHE_DIR],
        .jobs = (int32_t)jobs,
        .progress = cli_progress_show,
        .user = &progress,
    };
    if (!space.arch || args->operand_count || args->value[OPT_PROBLEMS] || args->value[OPT_KERNELS] || args->value[OPT_CONFIG] ||
        args->value[OPT_LIMIT]) {
        return cli_usage("--out needs --arch, and takes the kernels of --set and --filter; no problems, --kernels, --config or --limit");
    }
    cli_progress_start(&progress, args, NULL);
    kw_status status = kw_objects_build(&report, &options, &err);
    cli_progress_end(&progress);
    if (status) {
        return cli_fail(&err);
    }
    show_report(&(kw_build_report){report.built, report.cached, report.failed, report.cpu}, cli_now_ns() - progress.bar.start_ns, args);
    if (report.refused && !args->value[OPT_QUIET]) {
        fprintf(stderr, "kwright: %zu of them spill registers or want too much shared memory; %s/catalog.txt says which\n", report.refused,
                options.folder);
    }
    return report.failed ? CLI_FAILED : CLI_DONE;
}

/* Which kernels of a registry serve any of some problems: the first so many of them. */
typedef struct servers {
    const kw_registry *registry;
    const cli_problem_list *problems; /* none: every kernel does */
    size_t next;                      /* kernels are asked about in their order */
    int64_t left;
} servers;

static bool serves_any(void *user, const char *config) {
    servers *s = user;
    size_t index = s->next++;
    bool serves = !s->problems->count;
    (void)config;
    if (!s->left) {
        return false;
    }
    for (size_t i = 0; i < s->problems->count && !serves; i++) {
        serves = !kw_registry_fits(s->registry, index, &s->problems->items[i].problem, NULL);
    }
    s->left -= serves;
    return serves;
}

/* What is of problems and would be passed over in silence where none is named. */
static int check_problem_options(const cli_args *args) {
    static const cli_option_id of_problems[] = {OPT_DIR,       OPT_DTYPE,  OPT_SAMPLE, OPT_PER_BUCKET,
                                                OPT_MAX_GFLOP, OPT_MAX_MB, OPT_PART,   OPT_TEST_SHARE};
    for (size_t i = 0; i < sizeof of_problems / sizeof *of_problems; i++) {
        if (args->value[of_problems[i]] && !args->operand_count && !args->value[OPT_PROBLEMS]) {
            return cli_usage("--%s is of problems, and none is named; --filter chooses kernels, e.g. --filter \"c.dtype == 'bf16'\"",
                             cli_options[of_problems[i]].name);
        }
    }
    return CLI_DONE;
}

/* Minutes of compiling are told before they begin. */
static void announce(const kw_registry *registry, const cli_args *args) {
    enum { MANY = 100 };
    size_t count = kw_registry_count(registry);
    if (count > MANY && !args->value[OPT_QUIET]) {
        fprintf(
            stderr,
            "kwright: %zu kernels, each compiled unless the cache has it; --limit N, --filter, --set tiny or a problem takes fewer, and "
            "what Ctrl-C leaves is kept\n",
            count);
    }
}

static int build_kernels(kw_registry *registry, const cli_args *args, int64_t jobs) {
    kw_error err = {0};
    cli_progress progress;
    kw_build_report report = {0};
    announce(registry, args);
    cli_progress_start(&progress, args, NULL);
    const kw_build_options options = {
        .size = sizeof(kw_build_options), .jobs = (int32_t)jobs, .progress = cli_progress_show, .user = &progress};
    kw_status status = kw_registry_build(registry, &options, &report, &err);
    cli_progress_end(&progress);
    if (status) {
        return cli_fail(&err);
    }
    show_report(&report, cli_now_ns() - progress.bar.start_ns, args);
    if (report.failed) {
        cli_next next;
        cli_next_start(&next, "doctor", args);
        fprintf(stderr, "kwright: %zu kernels did not compile; `%s` shows where their logs are\n", report.failed, next.text);
    }
    return report.failed ? CLI_FAILED : CLI_DONE;
}

int verb_build(const cli_args *args) {
    kw_context *context = NULL;
    kw_registry *registry = NULL;
    cli_problem_list list = {0};
    kw_error err = {0};
    int64_t jobs, limit;
    cli_args all = *args;
    all.value[OPT_LIMIT] = NULL; /* it counts kernels here */
    if (!cli_number(args, OPT_JOBS, 1, 1024, 0, &jobs) || !cli_number(args, OPT_LIMIT, 1, INT64_MAX, INT64_MAX, &limit) ||
        check_problem_options(args)) {
        return CLI_USAGE;
    }
    if (args->value[OPT_OUT]) {
        return build_objects(args, jobs);
    }
    int code = cli_context(&context, args);
    code = code ? code : cli_problems(&list, &all);
    code = code ? code : cli_registry_for(&registry, context, args, &list);
    if (!code && (list.count || args->value[OPT_LIMIT]) &&
        kw_registry_keep(registry, serves_any, &(servers){registry, &list, 0, limit}, &err)) {
        code = cli_fail(&err);
    }
    code = code ? code : build_kernels(registry, args, jobs);
    cli_problems_free(&list);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
    return code;
}
