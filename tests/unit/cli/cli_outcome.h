/* cli_outcome.h: kwright run from outside: its exit code and what it printed. For the test programs of the command line. */
#ifndef KW_CLI_OUTCOME_H
#define KW_CLI_OUTCOME_H

#include "support/kw_test.h"

#define WORDS(...) ((const char *const[]){"kwright", __VA_ARGS__, NULL})

typedef struct outcome {
    int code; /* exit code, or 128 + signal */
    char out[65536], err[65536];
} outcome;

/* Group fixtures: a folder of the program's own, which is also where kwright keeps kernels and data. */
extern char folder[];
int make_folder(void **state);
int remove_folder(void **state);

/* Runs kwright with these words; input is a file for standard input, or NULL. */
void run(outcome *result, const char *const words[], const char *input);
size_t lines(const char *text);
/* What a file begins with, as a string. */
void slurp(char *to, size_t capacity, const char *path);

#endif
