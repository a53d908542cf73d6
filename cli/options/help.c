/* help.c: help for people, all from the two tables; as wide as the terminal, and no wider than is read with ease. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- wrapped text ------------------------------------------------------------------------------------------------------ */

static void print_flowing(size_t column, size_t hang, const char *text, size_t size) {
    size_t columns = cli_columns();
    cli_print_wrapped(column, hang, !columns ? 100 : columns < 60 ? 60 : columns > 120 ? 120 : columns, text, size);
}

/* Lines that begin with blanks are commands and stand as they are; what is between them flows. */
static void print_more(const char *text) {
    while (*text) {
        size_t size = strcspn(text, "\n");
        if (*text == ' ') {
            printf("%.*s\n", (int)size, text);
        } else {
            while (text[size] && text[size + 1] != ' ') {
                size += 1 + strcspn(text + size + 1, "\n");
            }
            print_flowing(0, 0, text, size);
        }
        text += size + (text[size] != 0);
    }
}

/* --- all verbs --------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *title, *verbs;
} groups[] = {
    {"every day", " tune run explain select wisdom cache doctor "},
    {"kernels and problems", " list count show coverage search check build problems "},
    {"measurements", " sweep merge db report diff "},
    {"models that choose", " predict train adopt evaluate validate compare quality prune "},
};
enum { GROUPS = sizeof groups / sizeof *groups };

static size_t group_of(const char *verb) {
    char word[32];
    size_t i = 0;
    snprintf(word, sizeof word, " %s ", verb);
    while (i < GROUPS && !strstr(groups[i].verbs, word)) {
        i++;
    }
    return i;
}

static void list_verbs(void) {
    printf("kwright %s: the fastest checked kernel for a GEMM or a grouped convolution on this machine\n", kw_version());
    printf("  kwright tune 'conv_fwd fp32 nhwgc n1 c64 k64 i56x56 f3x3 p1x1'\n");
    for (size_t group = 0; group <= GROUPS; group++) {
        printf("%s\n", group < GROUPS ? groups[group].title : "besides");
        for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
            if (group_of(verb->name) == group) {
                printf("  %-11s ", verb->name);
                print_flowing(14, 14, verb->summary, strlen(verb->summary));
            }
        }
    }
    printf("\n`kwright help VERB` tells more. Exit codes: 0 done, 1 failed, 2 wrong request, 3 wrong environment, 130 interrupted.\n");
}

/* --- one verb ---------------------------------------------------------------------------------------------------------- */

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
    {"how it is chosen and measured",
     {OPT_MODE, OPT_FROZEN, OPT_MODEL, OPT_SHORTLIST, OPT_EXHAUSTIVE, OPT_BATCHES, OPT_COLD, OPT_FRESH, OPT_VERIFY_ONLY, OPT_REMEASURE,
      OPT_CHECK, OPT_TOGETHER, OPT_BUDGET, OPT_SEED, OPT_COUNT}},
    {"where a model errs: docs/selection/active-data.md",
     {OPT_WHERE, OPT_STORES, OPT_REGRET, OPT_MIN_SHAPES, OPT_LEFT_OUT, OPT_EXPLOIT, OPT_EXPLORE, OPT_HOLDOUT, OPT_NEXT, OPT_COUNT}},
    {"what is written", {OPT_OUT, OPT_OVERWRITE, OPT_YES, OPT_JSON, OPT_LIST, OPT_COUNT_ONLY, OPT_QUIET, OPT_COUNT}},
};

/* What an option means to one verb, where that is not what it means to the others. */
static const struct {
    const char *verb;
    cli_option_id option;
    const char *meaning;
} own_meanings[] = {
    {"sweep", OPT_THREADS, "threads of a kernel (1)"},
    {"train", OPT_THREADS, "threads of the training (1)"},
    {"adopt", OPT_OP, "the direction, where the folder's name does not say it"},
    {"adopt", OPT_OUT, "a folder for specs and copies of the forests"},
    {"adopt", OPT_QUANTITY, "tflops or bandwidth: its scores are logarithms"},
    {"sweep", OPT_BUDGET, "time to spend: 90s, 20m, 2h"},
    {"search", OPT_BUDGET, "kernels to look at (500)"},
    {"sweep", OPT_SEED, "of the data, of the order and of --sample (0)"},
    {"train", OPT_SEED, "of folds and trees (0)"},
    {"list", OPT_LIMIT, "at most N kernels"},
    {"predict", OPT_LIMIT, "at most N kernels"},
    {"build", OPT_LIMIT, "at most N kernels"},
    {"tune", OPT_LIMIT, "at most N problems"},
    {"run", OPT_LIMIT, "at most N problems"},
    {"explain", OPT_LIMIT, "at most N problems"},
    {"select", OPT_LIMIT, "at most N problems"},
    {"check", OPT_LIMIT, "at most N problems"},
    {"sweep", OPT_LIMIT, "at most N problems"},
    {"problems", OPT_LIMIT, "at most N problems"},
    {"problems", OPT_SEED, "of --sample (0)"},
    {"db", OPT_LIMIT, "at most N rows"},
    {"db", OPT_OP, "only rows of this operation"},
    {"db", OPT_DTYPE, "only rows of this type"},
    {"db", OPT_CONFIG, "only rows of this kernel"},
    {"db", OPT_COLD, "import: the rows were measured with cold caches"},
    {"db", OPT_FRESH, "import: the rows were measured with fresh weights"},
    {"db", OPT_FORMAT, "export: jsonl, csv or seed-csv; import: ck-json, ck-log or seed-csv"},
};

const char *cli_meaning(const cli_verb *verb, int option) {
    for (size_t i = 0; i < sizeof own_meanings / sizeof *own_meanings; i++) {
        if ((int)own_meanings[i].option == option && !strcmp(own_meanings[i].verb, verb->name)) {
            return own_meanings[i].meaning;
        }
    }
    return cli_options[option].meaning;
}

static void show_option(const cli_verb *verb, int option) {
    char usage[64];
    const char *meaning = cli_meaning(verb, option);
    snprintf(usage, sizeof usage, "--%s %s", cli_options[option].name, cli_options[option].value ? cli_options[option].value : "");
    printf("  %-24s ", usage);
    print_flowing(27, 27, meaning, strlen(meaning));
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
                show_option(verb, (int)*option);
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
            show_option(verb, i);
        }
    }
}

static void show_verb(const cli_verb *verb) {
    enum { MANY = 24 };
    int count = 0;
    printf("  %s\n\n", verb->example);
    size_t head = (size_t)printf("kwright %s%s%s: ", verb->name, *verb->operands ? " " : "", verb->operands);
    char summary[160];
    snprintf(summary, sizeof summary, "%s.", verb->summary);
    print_flowing(head, 2, summary, strlen(summary));
    if (verb->more) {
        print_more(verb->more);
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
            show_option(verb, i);
        }
    }
}

int verb_help(const cli_args *args) {
    if (args->value[OPT_MAN]) {
        cli_print_manual();
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
