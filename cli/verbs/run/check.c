/* check.c: the verb check: verify kernels on problems; every failing line ends with the command that reproduces it. */
#include "cli.h"
#include "tensors.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct check_sum {
    const cli_args *args;
    kw_context *context;
    size_t problems, good, unfit, mistrusted, failed;
    bool json;
    uint64_t seed;
} check_sum;

static void show_record(const check_sum *sum, const kw_record *record, const char *problem) {
    if (sum->json) {
        cli_json json;
        cli_json_start(&json);
        cli_json_text(&json, "outcome", kw_outcome_name(record->outcome));
        cli_json_text(&json, "problem", problem);
        cli_json_text(&json, "config", record->config);
        cli_json_text(&json, "detail", record->detail);
        cli_json_print(&json, stdout);
    } else if (record->outcome != KW_GOOD) {
        cli_next next;
        printf("%s: %s\n  %s\n", kw_outcome_name(record->outcome), record->detail,
               cli_next_check(&next, sum->args, record->config, problem));
    }
    fflush(stdout); /* an interrupted check may end at any moment, and what it has found is what it is for */
}

static int check_kernel(check_sum *sum, kw_registry *registry, size_t index, const kw_problem *problem) {
    kw_error err = {0};
    kw_record record = {0};
    char text[KW_PROBLEM_TEXT_MAX];
    if (kw_registry_fits(registry, index, problem, &err)) {
        sum->unfit++;
        return CLI_DONE;
    }
    kw_measure_options options = {.size = sizeof(kw_measure_options), .seed = sum->seed};
    if (kw_measure(&record, registry, index, problem, &options, &err)) {
        return cli_fail(&err);
    }
    if (record.outcome == KW_GOOD) {
        sum->good++;
    } else if (record.outcome == KW_MISTRUSTED) {
        sum->mistrusted++;
    } else {
        sum->failed++;
    }
    kw_problem_print(text, sizeof text, problem);
    show_record(sum, &record, text);
    return CLI_DONE;
}

static int check_problem(check_sum *sum, kw_registry *registry, const cli_problem *item, const cli_args *args, int64_t jobs) {
    kw_error err = {0};
    cli_progress progress;
    kw_build_report report;
    cli_progress_start(&progress, args, NULL);
    kw_build_options build = {.size = sizeof(kw_build_options),
                              .problem = &item->problem,
                              .jobs = (int32_t)jobs,
                              .progress = cli_progress_show,
                              .user = &progress};
    int code = cli_tensors_room(sum->context, &item->problem);
    if (!code && kw_registry_build(registry, &build, &report, &err)) {
        code = cli_fail(&err);
    }
    kw_progress now = {.total = kw_registry_count(registry), .what = "check", .current = ""};
    for (size_t i = 0; !code && i < now.total; i++) {
        code = check_kernel(sum, registry, i, &item->problem);
        now.done = i + 1;
        now.failed = sum->failed;
        cli_progress_show(&progress, &now);
    }
    cli_progress_end(&progress);
    return code;
}

static void show_sum(const check_sum *sum, size_t problems) {
    FILE *out = sum->json ? stderr : stdout;
    if (sum->problems < problems) {
        fprintf(out, "%zu of %zu problems: ", sum->problems, problems);
    }
    fprintf(out, "%zu verified, %zu failed, %zu mistrusted; %zu pairs do not fit\n", sum->good, sum->failed, sum->mistrusted, sum->unfit);
}

int verb_check(const cli_args *args) {
    kw_context *context = NULL;
    kw_registry *registry = NULL;
    cli_problem_list list = {0};
    check_sum sum = {.args = args, .json = args->value[OPT_JSON] != NULL};
    int64_t jobs, seed;
    if (!cli_number(args, OPT_JOBS, 1, 1024, 0, &jobs) || !cli_number(args, OPT_SEED, 0, INT64_MAX, 0, &seed)) {
        return CLI_USAGE;
    }
    sum.seed = (uint64_t)seed;
    int code = cli_problems(&list, args);
    if (!code && !list.count) {
        code = cli_problems_none(
            args, "check needs a problem or --problems; for example: kwright check --set tests 'conv_fwd fp32 n1 c16 k16 i8x8 f3 p1'");
    }
    code = code ? code : cli_context(&context, args);
    if (!code) {
        cli_warn_of_cache(context, args);
    }
    sum.context = context;
    code = code ? code : cli_registry_for(&registry, context, args, &list);
    for (size_t i = 0; !code && i < list.count; i++) {
        code = check_problem(&sum, registry, &list.items[i], args, jobs);
        sum.problems += !code;
    }
    if (!code || cli_is_interrupted()) {
        show_sum(&sum, list.count);
    }
    if (!code) {
        code = sum.failed ? CLI_FAILED : CLI_DONE;
        if (!code && !sum.good && !sum.mistrusted) {
            code = CLI_FAILED;
            char text[KW_PROBLEM_TEXT_MAX];
            cli_next next;
            kw_problem_print(text, sizeof text, &list.items[0].problem);
            cli_next_start(&next, "explain", args);
            cli_next_word(&next, text);
            fprintf(stderr, "kwright: no kernel of the set serves these problems; `%s` names the rules\n", next.text);
        }
    }
    cli_problems_free(&list);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
    return code;
}
