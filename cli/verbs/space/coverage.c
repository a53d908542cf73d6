/* coverage.c: the verb coverage: whether a set has every kernel of a reference list. */
#include "cli.h"

#include <stdio.h>

typedef struct listing {
    int64_t left; /* lines that may still be printed */
    bool quiet;
} listing;

static void show_missing(void *user, const char *config, const char *why) {
    listing *l = user;
    if (!l->quiet && l->left-- > 0) {
        printf("missing: %s (%s)\n", cli_shown(config), why);
    }
}

int verb_coverage(const cli_args *args) {
    kw_error err = {0};
    kw_coverage_count count;
    listing l = {.quiet = args->value[OPT_QUIET] || args->value[OPT_JSON]};
    if (!cli_number(args, OPT_LIMIT, 1, INT32_MAX, 20, &l.left)) {
        return CLI_USAGE;
    }
    kw_space_options space = cli_space(args);
    kw_coverage_options options = {
        .size = sizeof(kw_coverage_options), .reference = args->operands[0], .missing = show_missing, .user = &l};
    if (kw_space_coverage(&count, &space, &options, &err)) {
        return cli_fail(&err);
    }
    if (args->value[OPT_JSON]) {
        cli_json json;
        cli_json_start(&json);
        cli_json_int(&json, "reference", (int64_t)count.reference);
        cli_json_int(&json, "set", (int64_t)count.set);
        cli_json_int(&json, "missing", (int64_t)count.missing);
        cli_json_int(&json, "more", (int64_t)count.more);
        cli_json_print(&json, stdout);
    } else {
        printf("%zu of the list's %zu are missing; the set has %zu, %zu of them beyond the list\n", count.missing, count.reference,
               count.set, count.more);
    }
    return count.missing ? CLI_FAILED : CLI_DONE;
}
