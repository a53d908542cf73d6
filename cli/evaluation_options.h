/* evaluation_options.h: what the verbs that evaluate selections share: their options as a struct. */
#ifndef KW_CLI_EVALUATION_OPTIONS_H
#define KW_CLI_EVALUATION_OPTIONS_H

#include "cli.h"

enum { CLI_LISTS_MAX = 64 };

/* A list "a,b,c" of an option, cut into its parts. A zeroed one is empty. */
typedef struct cli_words {
    const char *items[CLI_LISTS_MAX];
    size_t count;
    char *memory;
} cli_words;

int cli_words_read(cli_words *words, const cli_args *args, cli_option_id option);
void cli_words_drop(cli_words *words);

/* --op, --dtype, --holdout, --kernels, --in-sample, --left-out, --seed; holdout must outlive the options. */
int cli_evaluation_options(kw_evaluation_options *options, cli_words *holdout, const cli_args *args);
/* The same with the operands as stores, and --model, --oof or --selector as the selector. */
int cli_selector_options(kw_evaluation_options *options, cli_words *holdout, const cli_args *args);
/* A share from 0 to 1 as a decimal number; fallback when it was not given. */
bool cli_share(const cli_args *args, cli_option_id option, double fallback, double *value);

#endif
