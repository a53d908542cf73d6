/* problems.c: the verb problems: names of the sets, or problems with what follows from them behind a '#', so that what is printed is a
 * problem list again. */
#include "cli.h"

#include <stdio.h>

static void show_problem(const cli_problem *item, bool json) {
    const kw_problem *problem = &item->problem;
    char text[KW_PROBLEM_TEXT_MAX];
    int64_t out[3] = {0};
    kw_problem_print(text, sizeof text, problem);
    if (problem->op != KW_GEMM) {
        kw_problem_output(out, problem);
    }
    double gflop = (double)kw_problem_flops(problem) / 1e9, megabytes = (double)kw_problem_bytes(problem) / 1e6;
    if (json) {
        printf("{\"name\": ");
        cli_json_string(item->name);
        printf(", \"problem\": ");
        cli_json_string(text);
        printf(", \"flops\": %lld, \"bytes\": %lld, \"output\": [%lld, %lld, %lld]}\n", (long long)kw_problem_flops(problem),
               (long long)kw_problem_bytes(problem), (long long)out[0], (long long)out[1], (long long)out[2]);
        return;
    }
    printf("%s%s%s  # %.3f GFLOP, %.2f MB", item->name, *item->name ? ": " : "", text, gflop, megabytes);
    if (problem->op != KW_GEMM) {
        printf(", output %lldx%lldx%lld", (long long)out[0], (long long)out[1], (long long)out[2]);
    }
    printf("\n");
}

int verb_problems(const cli_args *args) {
    kw_error err = {0};
    if (!args->operand_count && !args->value[OPT_PROBLEMS]) {
        char *names = NULL;
        if (kw_problems_names(&names, &err)) {
            return cli_fail(&err);
        }
        fputs(names, stdout);
        kw_free(names);
        return CLI_DONE;
    }
    cli_problem_list list;
    int code = cli_problems(&list, args);
    for (size_t i = 0; !code && i < list.count; i++) {
        show_problem(&list.items[i], args->value[OPT_JSON] != NULL);
    }
    cli_problems_free(&list);
    return code;
}
