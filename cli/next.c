/* next.c: commands that a verb proposes to go on with. One function makes them all from the options in force, so that what is pasted answers for
 * the same target, kernels, wisdom and model as what was run. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

/* What an answer depends on. What only says how much is measured (--mode, --exhaustive, --remeasure) or printed (--json) is not carried on. */
static const cli_option_id carried[] = {
    OPT_DEVICE, OPT_THREADS, OPT_CACHE_DIR,    OPT_CC,      OPT_WISDOM, OPT_MODEL, OPT_SET,       OPT_ARCH,      OPT_FILTER,
    OPT_TRAITS, OPT_RULES,   OPT_BUILDER_CONF, OPT_KERNELS, OPT_CONFIG, OPT_FRESH, OPT_SHORTLIST, OPT_WORKSPACE, OPT_SEED,
};

static void add(cli_next *next, const char *text) {
    if (next->used < sizeof next->text) {
        next->used += (size_t)snprintf(next->text + next->used, sizeof next->text - next->used, "%s", text);
    }
}

void cli_next_word(cli_next *next, const char *word) {
    char quoted[KW_CONFIG_TEXT_MAX + 64];
    cli_shell_word(quoted, sizeof quoted, word);
    add(next, " ");
    add(next, quoted);
}

void cli_next_option(cli_next *next, cli_option_id option, const char *value) {
    add(next, " --");
    add(next, cli_options[option].name);
    if (cli_options[option].value) {
        cli_next_word(next, value);
    }
}

void cli_next_start(cli_next *next, const char *verb, const cli_args *args) {
    *next = (cli_next){.used = 0};
    add(next, "kwright ");
    add(next, verb);
    for (const cli_verb *found = cli_verbs; found->name; found++) {
        for (size_t i = 0; !strcmp(found->name, verb) && i < sizeof carried / sizeof *carried; i++) {
            if (args->value[carried[i]] && cli_takes(found, (int)carried[i])) {
                cli_next_option(next, carried[i], args->value[carried[i]]);
            }
        }
    }
}

const char *cli_next_check(cli_next *next, const cli_args *args, const char *config, const char *problem) {
    cli_args only = *args;
    only.value[OPT_SET] = only.value[OPT_ARCH] = only.value[OPT_FILTER] = only.value[OPT_TRAITS] = only.value[OPT_KERNELS] = NULL;
    only.value[OPT_BUILDER_CONF] = NULL;
    only.value[OPT_CONFIG] = config;
    cli_next_start(next, "check", &only);
    cli_next_word(next, problem);
    return next->text;
}
