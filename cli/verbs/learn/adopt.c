/* adopt.c: the verb adopt: a folder of CK Tile's heuristics becomes one that the other verbs ask. */
#include "cli.h"

#include <stdio.h>

static void print_adoption_line(void *user, const char *line) {
    (void)user;
    fprintf(stderr, "kwright: %s\n", line);
}

int verb_adopt(const cli_args *args) {
    kw_error err = {0};
    kw_adopt_report report;
    kw_adopt_options options = {.size = sizeof(kw_adopt_options),
                                .folder = args->operands[0],
                                .out = args->value[OPT_OUT],
                                .quantity = args->value[OPT_QUANTITY],
                                .log = args->value[OPT_QUIET] ? NULL : print_adoption_line};
    if (!cli_op(args, OPT_OP, &options.by_op, &options.op)) {
        return CLI_USAGE;
    }
    if (kw_model_adopt(&options, &report, &err)) {
        return cli_fail(&err);
    }
    printf("%s: %s %s on %s, %lld features, %lld trees; predicts %s\n", options.out ? options.out : options.folder, kw_op_name(report.op),
           kw_dtype_name(report.dtype), report.arch, (long long)report.features, (long long)report.trees, report.quantities);
    return CLI_DONE;
}
