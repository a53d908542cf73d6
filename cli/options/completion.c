/* completion.c: the verb completion: a script for bash, from the two tables and from what the rules and problem lists are called. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_names(const char *names) {
    for (; *names; names += strcspn(names, "\n ")) {
        names += strspn(names, "\n ");
        printf("%.*s ", (int)strcspn(names, "\n "), names);
    }
}

/* Names that the library gives; what cannot be read completes to nothing, but want of memory ends it. */
static void print_known(const char *kind) {
    kw_error err = {0};
    char *names = NULL;
    kw_status status = !strcmp(kind, "problems") ? kw_problems_names(&names, &err) : kw_space_names(&names, kind, NULL, &err);
    if (!status) {
        print_names(names);
    }
    kw_free(names);
    if (status == KW_NO_MEMORY) {
        exit(cli_fail(&err));
    }
}

static void print_outcomes(void) {
    for (int i = KW_GOOD; i < KW_OUTCOME_COUNT; i++) {
        printf("%s ", kw_outcome_name((kw_outcome)i));
    }
}

/* Values that are words of a list. */
static const struct {
    cli_option_id option;
    const char *words;
} choices[] = {
    {OPT_MODE, "frozen predict shortlist exhaustive"},
    {OPT_PART, "train test"},
    {OPT_METHOD, "random de all"},
    {OPT_FORMAT, "jsonl csv seed-csv ck-json ck-log"},
    {OPT_FEATURES, "native ck"},
    {OPT_QUANTITY, "ratio relative tflops time rank latency bandwidth choose"},
    {OPT_SELECTOR, "estimate random single"},
    {OPT_LEFT_OUT, "shape family"},
    {OPT_DEVICE, "cpu cuda:0 hip:0"},
};

static void print_value_words(cli_option_id option) {
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        if (choices[i].option == option) {
            print_names(choices[i].words);
        }
    }
    switch ((int)option) {
    case OPT_SET:
        print_known("set");
        break;
    case OPT_ARCH:
        print_known("arch");
        break;
    case OPT_PROBLEMS:
    case OPT_HOLDOUT:
        print_known("problems");
        break;
    case OPT_DTYPE:
        print_names(kw_dtype_names());
        break;
    case OPT_OP:
        print_names(kw_op_names());
        break;
    case OPT_DIR:
        printf("conv_fwd conv_bwd_data conv_bwd_weight all ");
        break;
    case OPT_OUTCOME:
        print_outcomes();
        break;
    }
}

static bool is_file(const char *value) {
    static const char *const files[] = {"FILE", "DIR", "STORE", "MANIFEST", "MODEL", "LIST", "A,B", "COMPILER", "WHO"};
    for (size_t i = 0; value && i < sizeof files / sizeof *files; i++) {
        if (!strcmp(value, files[i])) {
            return true;
        }
    }
    return false;
}

static void print_reply(bool files, const char *indent) {
    printf("%sCOMPREPLY=($(compgen %s-W \"", indent, files ? "-f " : "");
}

/* The verbs that have an operand of which there is a list. */
static void print_operand_words(const cli_verb *verb) {
    if (!strcmp(verb->name, "help")) {
        for (const cli_verb *each = cli_verbs; each->name; each++) {
            printf("%s ", each->name);
        }
    } else if (!strcmp(verb->name, "db")) {
        printf("list count check export import drop recover ");
    } else if (!strcmp(verb->name, "show")) {
        print_known("family");
    } else if (!strcmp(verb->name, "problems")) {
        printf("extract overlap ");
        print_known("problems");
    }
    if (strstr(verb->operands, "PROBLEM")) {
        print_names(kw_op_names());
    }
}

static void print_verb_case(const cli_verb *verb) {
    printf("    %s)\n        if [[ $word == -* ]]; then\n", verb->name);
    print_reply(false, "            ");
    for (int i = 0; i < OPT_COUNT; i++) {
        if (cli_takes(verb, i)) {
            printf("--%s ", cli_options[i].name);
        }
    }
    printf("\" -- \"$word\"))\n        else\n");
    print_reply(*verb->operands && strcmp(verb->name, "help"), "            ");
    print_operand_words(verb);
    printf("\" -- \"$word\"))\n        fi ;;\n");
}

int verb_completion(const cli_args *args) {
    (void)args;
    printf("# bash completion for kwright; made by `kwright completion`. In zsh: autoload -U bashcompinit; bashcompinit\n_kwright() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n    if [ \"$COMP_CWORD\" -eq 1 ]; then\n");
    print_reply(false, "        ");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        printf("%s ", verb->name);
    }
    printf("\" -- \"$word\"))\n        return\n    fi\n    case $before in\n");
    for (int i = 0; i < OPT_COUNT; i++) {
        if (cli_options[i].value) {
            printf("    --%s)\n", cli_options[i].name);
            print_reply(is_file(cli_options[i].value) && i != OPT_DIR, "        ");
            print_value_words((cli_option_id)i);
            printf("\" -- \"$word\"))\n        return ;;\n");
        }
    }
    printf("    esac\n    case ${COMP_WORDS[1]} in\n");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        print_verb_case(verb);
    }
    printf("    esac\n}\ncomplete -o filenames -F _kwright kwright\n");
    return CLI_DONE;
}
