/* manual.c: the manual page in roff, from the two tables. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

/* Text as it is: a backslash and a line's first dot or quote would be commands of roff, a hyphen would not be one when it is copied. */
static void print_roff(const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if ((!i || text[i - 1] == '\n') && (text[i] == '.' || text[i] == '\'')) {
            printf("\\&");
        }
        if (text[i] == '\\') {
            printf("\\e");
        } else if (text[i] == '-') {
            printf("\\-");
        } else {
            putchar(text[i]);
        }
    }
}

static void print_code(const char *line, size_t size) {
    printf(".nf\n");
    print_roff(line, size);
    printf("\n.fi\n");
}

/* Lines that begin with blanks are commands; the others flow. */
static void print_paragraphs(const char *text) {
    while (*text) {
        size_t size = strcspn(text, "\n");
        if (*text == ' ') {
            print_code(text, size);
        } else {
            print_roff(text, size);
            printf("\n");
        }
        text += size + (text[size] != 0);
    }
}

static void print_verb(const cli_verb *verb) {
    printf(".TP\n.B %s %s\n%s.\n", verb->name, verb->operands, verb->summary);
    if (verb->more) {
        print_paragraphs(verb->more);
    }
    printf(".nf\n  ");
    print_roff(verb->example, strlen(verb->example));
    printf("\n.fi\n");
}

static void print_option(int option) {
    printf(".TP\n.B \\-\\-");
    print_roff(cli_options[option].name, strlen(cli_options[option].name));
    printf(" %s\n", cli_options[option].value ? cli_options[option].value : "");
    print_roff(cli_options[option].meaning, strlen(cli_options[option].meaning));
    printf(".\nVerbs:");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        if (cli_takes(verb, option)) {
            printf(" %s", verb->name);
        }
    }
    printf(".\n");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        if (cli_takes(verb, option) && strcmp(cli_meaning(verb, option), cli_options[option].meaning)) {
            printf("Of %s: ", verb->name);
            print_roff(cli_meaning(verb, option), strlen(cli_meaning(verb, option)));
            printf(".\n");
        }
    }
}

void cli_print_manual(void) {
    printf(".TH KWRIGHT 1 \"\" \"kwright %s\" \"User Commands\"\n", kw_version());
    printf(".SH NAME\nkwright \\- find, build, check and run the fastest kernel for a GEMM or a grouped convolution\n");
    printf(".SH SYNOPSIS\n.B kwright\n.I VERB\n[\\fIoptions\\fR] [\\fIoperands\\fR]\n.SH VERBS\n");
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        print_verb(verb);
    }
    printf(".SH OPTIONS\n");
    for (int i = 0; i < OPT_COUNT; i++) {
        print_option(i);
    }
    printf(".SH EXIT STATUS\n0 done; 1 the work failed; 2 the request was wrong; 3 the environment was wrong; 130 interrupted.\n");
    printf(".SH ENVIRONMENT\nKW_CACHE_DIR, KW_DATA_DIR, KW_WISDOM, KW_CC, KW_MODEL, KW_MODE, KW_THREADS, KW_SPREAD_MAX, KW_RATES, "
           "KW_RULES, KW_KERNELS, "
           "KW_LOG: see the public headers.\n");
}
