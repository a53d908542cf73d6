/* evaluate.c: the verb evaluate: what the selections of a model, of the estimate or of chance are worth on measured problems. */
#include "evaluation_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cli_words_read(cli_words *words, const cli_args *args, cli_option_id option) {
    const char *text = args->value[option];
    *words = (cli_words){.memory = text ? strdup(text) : NULL};
    if (text && !words->memory) {
        return cli_no_memory("the request");
    }
    char *rest = NULL;
    for (char *part = text ? strtok_r(words->memory, ",", &rest) : NULL; part; part = strtok_r(NULL, ",", &rest)) {
        if (words->count == CLI_LISTS_MAX) {
            return cli_usage("--%s names more than %d files", cli_options[option].name, CLI_LISTS_MAX);
        }
        words->items[words->count++] = part;
    }
    return CLI_DONE;
}

void cli_words_drop(cli_words *words) {
    free(words->memory);
    *words = (cli_words){0};
}

bool cli_share(const cli_args *args, cli_option_id option, double fallback, double *value) {
    const char *text = args->value[option];
    char *end = NULL;
    *value = text ? strtod(text, &end) : fallback;
    if (text && (!*text || *end || !(*value >= 0 && *value <= 1))) {
        cli_usage("--%s %.60s is not a number from 0 to 1", cli_options[option].name, text);
        return false;
    }
    return true;
}

static void log_evaluation_line(void *user, const char *line) {
    (void)user;
    fprintf(stderr, "kwright: %s\n", line);
}

int cli_evaluation_options(kw_evaluation_options *options, cli_words *holdout, const cli_args *args) {
    const char *folds = args->value[OPT_LEFT_OUT];
    int64_t seed;
    int code = cli_words_read(holdout, args, OPT_HOLDOUT);
    if (code || !cli_number(args, OPT_SEED, 0, INT64_MAX, 0, &seed)) {
        return code ? code : CLI_USAGE;
    }
    *options = (kw_evaluation_options){.size = sizeof(kw_evaluation_options),
                                       .folds = folds,
                                       .candidates = args->value[OPT_KERNELS],
                                       .holdout = holdout->items,
                                       .holdout_count = holdout->count,
                                       .in_sample = args->value[OPT_IN_SAMPLE],
                                       .seed = (uint64_t)seed,
                                       .log = args->value[OPT_QUIET] ? NULL : log_evaluation_line};
    if (!cli_op(args, OPT_OP, &options->by_op, &options->op) || !cli_dtype(args, &options->by_dtype, &options->dtype)) {
        return CLI_USAGE;
    }
    if (folds && strcmp(folds, "shape") != 0 && strcmp(folds, "family") != 0) {
        return cli_usage("--left-out %.60s is not known; known: shape family", folds);
    }
    return CLI_DONE;
}

static int print_evaluation(const kw_evaluation *evaluation, const cli_args *args) {
    kw_error err = {0};
    char *text = NULL;
    const char *csv = args->value[OPT_OUT];
    bool json = args->value[OPT_JSON];
    kw_status status = json ? kw_evaluation_json(&text, evaluation, &err) : kw_evaluation_text(&text, evaluation, &err);
    if (!status && csv) {
        status = kw_evaluation_csv(csv, evaluation, &err);
    }
    if (!status) {
        fputs(text, stdout);
    }
    kw_free(text);
    return status ? cli_fail(&err) : CLI_DONE;
}

int cli_selector_options(kw_evaluation_options *options, cli_words *holdout, const cli_args *args) {
    static const cli_option_id selectors[] = {OPT_MODEL, OPT_OOF, OPT_SELECTOR};
    const char *by = args->value[OPT_SELECTOR];
    int given = 0, code = cli_evaluation_options(options, holdout, args);
    if (code) {
        return code;
    }
    for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++) {
        options->by = args->value[selectors[i]] ? args->value[selectors[i]] : options->by;
        given += args->value[selectors[i]] != NULL;
    }
    if (given > 1) {
        return cli_usage("--model, --oof and --selector each say the selector; give one of them");
    }
    if (by && strcmp(by, "estimate") != 0 && strcmp(by, "random") != 0 && strcmp(by, "single") != 0) {
        return cli_usage("--selector %.60s is not known; known: estimate random single", by);
    }
    options->stores = args->operands;
    options->store_count = (size_t)args->operand_count;
    return CLI_DONE;
}

/* Beside the evaluation, those who need no model; the same problem groups. */
static int write_page(const kw_evaluation *evaluation, const kw_evaluation_options *options, const cli_args *args) {
    static const char *const others[] = {"estimate", "single", "random"};
    enum { OTHERS = sizeof others / sizeof *others };
    const char *html = args->value[OPT_HTML];
    const kw_evaluation *shown[1 + OTHERS] = {evaluation};
    kw_evaluation *opened[OTHERS] = {NULL};
    kw_report_options page = {.size = sizeof(kw_report_options), .title = args->value[OPT_TITLE]};
    kw_error err = {0};
    kw_status status = KW_OK;
    size_t count = 1;
    for (int i = 0; i < OTHERS && !status; i++) {
        kw_evaluation_options other = *options;
        other.by = others[i];
        if (strcmp(options->by ? options->by : "estimate", others[i]) != 0) {
            status = kw_evaluation_open(&opened[i], &other, &err);
            shown[count++] = opened[i];
        }
    }
    status = status ? status : kw_evaluations_html(html, shown, count, &page, &err);
    for (int i = 0; i < OTHERS; i++) {
        kw_evaluation_close(&opened[i]);
    }
    return status ? cli_fail(&err) : CLI_DONE;
}

int verb_evaluate(const cli_args *args) {
    kw_error err = {0};
    kw_evaluation_options options;
    kw_evaluation *evaluation = NULL;
    cli_words holdout = {0};
    int code = cli_selector_options(&options, &holdout, args);
    if (!code) {
        code = kw_evaluation_open(&evaluation, &options, &err) ? cli_fail(&err) : print_evaluation(evaluation, args);
    }
    if (!code && args->value[OPT_HTML]) {
        code = write_page(evaluation, &options, args);
    }
    kw_evaluation_close(&evaluation);
    cli_words_drop(&holdout);
    return code;
}
