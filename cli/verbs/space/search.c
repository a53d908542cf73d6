/* search.c: the verb search: good kernels of a whole space by prediction, and what they really take. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TARGET_MAX = 512 }; /* characters of a target's text, more than any has */

static int read_search_options(kw_search_options *options, kw_space_options *space, kw_problem *problem, const cli_args *args) {
    static const struct {
        const char *name;
        kw_search_method method;
    } methods[] = {{"de", KW_SEARCH_EVOLVE}, {"random", KW_SEARCH_RANDOM}, {"all", KW_SEARCH_ALL}};
    kw_error err = {0};
    int64_t budget, top, seed, threads;
    const char *method = args->value[OPT_METHOD], *model = args->value[OPT_MODEL];
    bool known = !method;
    if (kw_problem_import(problem, args->operands[0], &err)) {
        return cli_fail(&err);
    }
    if (!cli_number(args, OPT_BUDGET, 1, 1000000, 0, &budget) || !cli_number(args, OPT_TOP, 1, 10000, 0, &top) ||
        !cli_number(args, OPT_SEED, 0, INT64_MAX, 0, &seed) || !cli_number(args, OPT_THREADS, 1, 1024, 1, &threads)) {
        return CLI_USAGE;
    }
    *space = cli_space(args);
    *options = (kw_search_options){.size = sizeof(kw_search_options),
                                   .problem = problem,
                                   .model = model && *model ? model : NULL,
                                   .space = space,
                                   .target = args->value[OPT_TARGET],
                                   .threads = (int32_t)threads,
                                   .budget = (int32_t)budget,
                                   .top = (int32_t)top,
                                   .seed = (uint64_t)seed};
    for (size_t i = 0; method && i < sizeof methods / sizeof *methods; i++) {
        if (!strcmp(method, methods[i].name)) {
            options->method = methods[i].method;
            known = true;
        }
    }
    return known ? CLI_DONE : cli_usage("--method %.60s is not known; known: de random all", method);
}

/* Verifies and times each find, one after the other. */
static int measure_results(kw_record *records, const kw_search_report *report, const kw_problem *problem, const cli_args *args) {
    kw_error err = {0};
    kw_context *context = NULL;
    kw_registry *registry = NULL;
    cli_args plain = *args;
    plain.value[OPT_MODEL] = NULL; /* nothing is predicted here */
    if (!plain.value[OPT_THREADS]) {
        plain.value[OPT_THREADS] = "1"; /* what the search was for */
    }
    int code = cli_context(&context, &plain);
    if (code) {
        return code;
    }
    kw_measure_options how = {.size = sizeof(kw_measure_options), .time = true, .pack_weights = !args->value[OPT_FRESH]};
    kw_status status = kw_registry_create(&registry, context, &err);
    for (size_t i = 0; i < report->count && !status; i++) {
        status = kw_registry_add(registry, report->results[i].config, &err);
        status = status ? status : kw_measure(&records[i], registry, i, problem, &how, &err);
    }
    kw_registry_destroy(&registry);
    kw_context_close(&context);
    return status ? cli_fail(&err) : CLI_DONE;
}

static void print_search_text(const kw_search_report *report, const kw_record *records, const kw_problem *problem) {
    char time[32];
    for (size_t i = 0; i < report->count; i++) {
        printf("%12s", cli_time(time, report->results[i].predicted_ns));
        if (records && records[i].outcome == KW_GOOD) {
            printf(" %12s %9.1f", cli_time(time, records[i].time_ns), cli_gflops(problem, records[i].time_ns));
        } else if (records) {
            printf(" %22s", kw_outcome_name(records[i].outcome));
        }
        printf("  %s\n", report->results[i].config);
    }
}

static void print_search_json(const kw_search_report *report, const kw_record *records) {
    cli_json json;
    cli_json_start(&json);
    cli_json_int(&json, "evaluated", report->evaluated);
    cli_json_int(&json, "drawn", report->drawn);
    cli_json_int(&json, "refused", report->refused);
    cli_json_int(&json, "unfit", report->unfit);
    cli_json_list(&json, "results");
    for (size_t i = 0; i < report->count; i++) {
        cli_json_object(&json, NULL);
        cli_json_text(&json, "config", report->results[i].config);
        if (isfinite(report->results[i].predicted_ns)) {
            cli_json_real(&json, "predicted_ns", report->results[i].predicted_ns);
        }
        cli_json_real(&json, "estimate_ns", report->results[i].estimate_ns);
        if (records) {
            cli_json_text(&json, "outcome", kw_outcome_name(records[i].outcome));
            cli_json_real(&json, "time_ns", records[i].time_ns);
        }
        cli_json_end(&json);
    }
    cli_json_end(&json);
    cli_json_print(&json, stdout);
}

/* --device names what the search is for, as --target does by its text, which is kept in text. */
static int take_device(kw_search_options *options, char text[], size_t size, const cli_args *args) {
    kw_context *context = NULL;
    if (!args->value[OPT_DEVICE] || options->target) {
        return CLI_DONE;
    }
    cli_args plain = *args;
    plain.value[OPT_MODEL] = NULL;
    plain.value[OPT_THREADS] = plain.value[OPT_THREADS] ? plain.value[OPT_THREADS] : "1";
    int code = cli_context(&context, &plain);
    if (!code) {
        snprintf(text, size, "%s", kw_context_target(context));
        options->target = text;
    }
    kw_context_close(&context);
    return code;
}

int verb_search(const cli_args *args) {
    kw_error err = {0};
    kw_problem problem;
    kw_search_options options;
    kw_space_options space;
    kw_search_report report = {0};
    kw_record *records = NULL;
    char target[TARGET_MAX];
    int code = read_search_options(&options, &space, &problem, args);
    code = code ? code : take_device(&options, target, sizeof target, args);
    if (code) {
        return code;
    }
    if (kw_search(&options, &report, &err)) {
        return cli_fail(&err);
    }
    if (args->value[OPT_MEASURE]) {
        records = calloc(report.count, sizeof *records);
        code = records ? measure_results(records, &report, &problem, args) : cli_no_memory("the request");
    }
    if (!code && args->value[OPT_JSON]) {
        print_search_json(&report, records);
    } else if (!code) {
        print_search_text(&report, records, &problem);
        if (!args->value[OPT_QUIET]) {
            fprintf(stderr, "%lld kernels looked at; of %lld points drawn %lld are not in the space, %lld do not serve the problem\n",
                    (long long)report.evaluated, (long long)report.drawn, (long long)report.refused, (long long)report.unfit);
        }
    }
    free(records);
    kw_free(report.results);
    return code;
}
