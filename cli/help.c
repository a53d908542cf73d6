/* help.c: help, manual page and bash completion, all from the two tables. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

static void list_verbs(void) {
    printf("kwright %s: the fastest checked kernel for a GEMM or a grouped convolution on this machine\n", kw_version());
    printf("  kwright tune 'conv_fwd fp32 nhwgc n1 c64 k64 i56x56 f3x3 p1x1'\n\n");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        printf("  %-11s %s\n", verb->name, verb->summary);
    }
    printf("\n`kwright help VERB` tells more. Exit codes: 0 done, 1 failed, 2 wrong request, 3 wrong environment, 130 interrupted.\n");
}

/* Of verbs with many options, so that a newcomer finds those of one kind together; what is in none stands last. Each list ends with
 * OPT_COUNT. */
static const struct {
    const char *title;
    cli_option_id options[16];
} topics[] = {
    {"which problems",
     {OPT_PROBLEMS, OPT_PROBLEM, OPT_OP, OPT_DIR, OPT_DTYPE, OPT_SAMPLE, OPT_PER_BUCKET, OPT_PART, OPT_TEST_SHARE, OPT_MAX_GFLOP,
      OPT_MAX_MB, OPT_LIMIT, OPT_PAIRS, OPT_COUNT}},
    {"which kernels",
     {OPT_SET, OPT_CONFIG, OPT_KERNELS, OPT_FILTER, OPT_TRAITS, OPT_ARCH, OPT_RULES, OPT_BUILDER_CONF, OPT_WORKSPACE, OPT_COUNT}},
    {"where", {OPT_DEVICE, OPT_THREADS, OPT_SHARD, OPT_CC, OPT_JOBS, OPT_CACHE_DIR, OPT_WISDOM, OPT_BATCH, OPT_KERNEL_TIMEOUT, OPT_COUNT}},
    {"how it is measured",
     {OPT_MODE, OPT_SHORTLIST, OPT_EXHAUSTIVE, OPT_BATCHES, OPT_COLD, OPT_FRESH, OPT_VERIFY_ONLY, OPT_REMEASURE, OPT_BUDGET, OPT_SEED,
      OPT_COUNT}},
    {"where a model errs: docs/training.md",
     {OPT_WHERE, OPT_STORES, OPT_REGRET, OPT_MIN_SHAPES, OPT_LEFT_OUT, OPT_EXPLOIT, OPT_EXPLORE, OPT_HOLDOUT, OPT_NEXT, OPT_COUNT}},
    {"what is written", {OPT_OUT, OPT_OVERWRITE, OPT_JSON, OPT_LIST, OPT_COUNT_ONLY, OPT_QUIET, OPT_COUNT}},
};

static void show_option(int option) {
    char usage[64];
    snprintf(usage, sizeof usage, "--%s %s", cli_options[option].name, cli_options[option].value ? cli_options[option].value : "");
    printf("  %-24s %s\n", usage, cli_options[option].meaning);
}

/* The options of --where-model-errs by name alone: whoever wants them reads the page that is named, and the rest fits a screen. */
static void show_names(const cli_verb *verb, const char *title, const cli_option_id *options, bool shown[OPT_COUNT]) {
    size_t column = 0;
    printf("%s", title);
    for (; *options != OPT_COUNT; options++) {
        const cli_option *option = &cli_options[*options];
        if (cli_takes(verb, (int)*options)) {
            printf(column ? " --%s%s%s" : "\n  --%s%s%s", option->name, option->value ? " " : "", option->value ? option->value : "");
            column = column > 60 ? 0 : column + strlen(option->name) + 8;
            shown[*options] = true;
        }
    }
    printf("\n");
}

static void show_by_topic(const cli_verb *verb) {
    bool shown[OPT_COUNT] = {false};
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++) {
        bool begun = false;
        if (topics[i].options[0] == OPT_WHERE) {
            if (cli_takes(verb, OPT_WHERE)) {
                show_names(verb, topics[i].title, topics[i].options, shown);
            }
            continue;
        }
        for (const cli_option_id *option = topics[i].options; *option != OPT_COUNT; option++) {
            if (cli_takes(verb, (int)*option)) {
                if (!begun) {
                    printf("%s\n", topics[i].title);
                }
                begun = shown[*option] = true;
                show_option((int)*option);
            }
        }
    }
    bool begun = false;
    for (int i = 0; i < OPT_COUNT; i++) {
        if (cli_takes(verb, i) && !shown[i]) {
            if (!begun) {
                printf("besides\n");
            }
            begun = true;
            show_option(i);
        }
    }
}

static void show_verb(const cli_verb *verb) {
    enum { MANY = 24 };
    int count = 0;
    printf("  %s\n\n%s %s%s%s: %s.\n", verb->example, "kwright", verb->name, *verb->operands ? " " : "", verb->operands, verb->summary);
    if (verb->more) {
        printf("%s\n", verb->more);
    }
    printf("\n");
    for (int i = 0; i < OPT_COUNT; i++) {
        count += cli_takes(verb, i);
    }
    if (count > MANY) {
        show_by_topic(verb);
        return;
    }
    for (int i = 0; i < OPT_COUNT; i++) {
        if (cli_takes(verb, i)) {
            show_option(i);
        }
    }
}

static void print_manual(void) {
    printf(".TH KWRIGHT 1 \"\" \"kwright %s\" \"User Commands\"\n", kw_version());
    printf(".SH NAME\nkwright \\- find, build, check and run the fastest kernel for a GEMM or a grouped convolution\n");
    printf(".SH SYNOPSIS\n.B kwright\n.I VERB\n[\\fIoptions\\fR] [\\fIoperands\\fR]\n.SH VERBS\n");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        printf(".TP\n.B %s %s\n%s.\n", verb->name, verb->operands, verb->summary);
        if (verb->more) {
            printf("%s\n", verb->more);
        }
        printf(".br\nExample: %s\n", verb->example);
    }
    printf(".SH OPTIONS\n");
    for (int i = 0; i < OPT_COUNT; i++) {
        printf(".TP\n.B \\-\\-%s %s\n%s.\nVerbs:", cli_options[i].name, cli_options[i].value ? cli_options[i].value : "",
               cli_options[i].meaning);
        for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
            if (cli_takes(verb, i)) {
                printf(" %s", verb->name);
            }
        }
        printf(".\n");
    }
    printf(".SH EXIT STATUS\n0 done; 1 the work failed; 2 the request was wrong; 3 the environment was wrong; 130 interrupted.\n");
    printf(".SH ENVIRONMENT\nKW_CACHE_DIR, KW_DATA_DIR, KW_WISDOM, KW_CC, KW_MODEL, KW_MODE, KW_THREADS, KW_SPREAD_MAX, KW_RULES, "
           "KW_KERNELS, KW_LOG: see "
           "the public "
           "headers.\n");
}

int verb_help(const cli_args *args) {
    if (args->value[OPT_MAN]) {
        print_manual();
        return CLI_DONE;
    }
    if (!args->operand_count) {
        list_verbs();
        return CLI_DONE;
    }
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        if (!strcmp(verb->name, args->operands[0])) {
            show_verb(verb);
            return CLI_DONE;
        }
    }
    return cli_unknown_verb(args->operands[0]);
}

int verb_completion(const cli_args *args) {
    (void)args;
    printf("# bash completion for kwright; made by `kwright completion`\n_kwright() {\n    local word=${COMP_WORDS[COMP_CWORD]}\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W \"");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        printf("%s ", verb->name);
    }
    printf("\" -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        printf("    %s) COMPREPLY=($(compgen -f -W \"", verb->name);
        for (int i = 0; i < OPT_COUNT; i++) {
            if (cli_takes(verb, i)) {
                printf("--%s ", cli_options[i].name);
            }
        }
        printf("\" -- \"$word\")) ;;\n");
    }
    printf("    esac\n}\ncomplete -o filenames -F _kwright kwright\n");
    return CLI_DONE;
}
