/* train.c: the verb train: stores in, a model's folder out, and what its selections are worth. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTS_MAX = 64 };

static void print_training_progress(void *user, const kw_train_progress *now) {
    char mean[40] = "";
    if (now->mean > 0) {
        snprintf(mean, sizeof mean, "  mean %.2f %%", 100 * now->mean);
    }
    cli_bar_draw(user, now->phase, now->done, now->total, -1, mean);
}

static void print_log_line(void *user, const char *line) {
    cli_bar *bar = user;
    if (!bar->quiet) {
        cli_bar_end(bar);
        fprintf(stderr, "%s\n", line);
    }
}

/* --- options ------------------------------------------------------------------------------------------------------ */

static int read_training_numbers(kw_train_options *o, const cli_args *args) {
    int64_t folds, trees, leaves, rounds, threads, seed;
    if (!cli_number(args, OPT_FOLDS, 1, 64, 0, &folds) || !cli_number(args, OPT_TREES, 1, 65536, 0, &trees) ||
        !cli_number(args, OPT_LEAVES, 2, 4096, 0, &leaves) || !cli_number(args, OPT_ROUNDS, 0, 20, -1, &rounds) ||
        !cli_number(args, OPT_THREADS, 1, 1024, 0, &threads) || !cli_number(args, OPT_SEED, 0, INT64_MAX, 0, &seed) ||
        !cli_number(args, OPT_MAX_BYTES, 1000, INT64_MAX, 0, &o->max_bytes)) {
        return CLI_USAGE;
    }
    o->folds = (int32_t)folds;
    o->trees = (int32_t)trees;
    o->leaves = (int32_t)leaves;
    o->rounds = rounds < 0 ? 0 : rounds ? (int32_t)rounds : -1;
    o->threads = (int32_t)threads;
    o->seed = (uint64_t)seed;
    const char *rate = args->value[OPT_LEARNING_RATE];
    char *end = NULL;
    o->learning_rate = rate ? strtod(rate, &end) : 0;
    if (rate && (!*rate || *end || !(o->learning_rate > 0) || o->learning_rate > 1)) {
        return cli_usage("--learning-rate %.60s is not a number above 0 and at most 1", rate);
    }
    return CLI_DONE;
}

static int read_model_kind(kw_train_options *o, const cli_args *args) {
    return cli_op(args, OPT_OP, &o->by_op, &o->op) && cli_dtype(args, &o->by_dtype, &o->dtype) ? CLI_DONE : CLI_USAGE;
}

/* Cuts "a,b" into its parts; words must be freed, the parts point into it. */
static int read_lists(const char *lists[LISTS_MAX], size_t *count, char **words, const char *text) {
    *count = 0;
    *words = text ? strdup(text) : NULL;
    if (text && !*words) {
        return cli_no_memory("the request");
    }
    char *rest = NULL;
    for (char *part = *words ? strtok_r(*words, ",", &rest) : NULL; part; part = strtok_r(NULL, ",", &rest)) {
        if (*count == LISTS_MAX) {
            return cli_usage("--holdout names more than %d lists; join them in one file", LISTS_MAX);
        }
        lists[(*count)++] = part;
    }
    return CLI_DONE;
}

/* --- what came of it ---------------------------------------------------------------------------------------------- */

static void print_figures(const char *what, const kw_train_metrics *f) {
    if (f->problem_groups) {
        printf("%-28s %8lld %8.2f %8.2f %8.2f %8.2f %8.1f\n", what, (long long)f->problem_groups, 100 * f->mean, 100 * f->p10,
               100 * f->worst, 100 * f->regret, 100 * f->top1);
    }
}

static void print_training_text(const kw_train_report *r, const char *out) {
    printf("%lld rows (%lld good, %lld slow, %lld failed) of %lld problems in %lld families; left out: %lld foreign, %lld untimed\n",
           (long long)r->pairs, (long long)r->good, (long long)r->slow, (long long)r->failed, (long long)r->problems,
           (long long)r->families, (long long)r->foreign, (long long)r->untimed);
    printf("%-28s %8s %8s %8s %8s %8s %8s\n", "left out", "problems", "mean %", "P10 %", "worst %", "regret %", "top-1 %");
    print_figures("shapes", &r->shapes);
    print_figures("families", &r->unseen_families);
    print_figures("(estimate without a model)", &r->estimate);
    printf("%s: predicts %s, %lld trees, %lld leaves, %lld bytes, %lld in memory\n", out, r->quantity, (long long)r->trees,
           (long long)r->leaves, (long long)r->bytes, (long long)r->memory_bytes);
}

static void add_figures(cli_json *json, const char *what, const kw_train_metrics *f) {
    cli_json_object(json, what);
    cli_json_int(json, "problem_groups", f->problem_groups);
    cli_json_real(json, "mean", f->mean);
    cli_json_real(json, "median", f->median);
    cli_json_real(json, "p10", f->p10);
    cli_json_real(json, "worst", f->worst);
    cli_json_real(json, "regret", f->regret);
    cli_json_real(json, "top1", f->top1);
    cli_json_int(json, "failed", f->failed);
    cli_json_real(json, "r2", f->r2);
    cli_json_real(json, "rmse", f->rmse);
    cli_json_real(json, "mae", f->mae);
    cli_json_end(json);
}

static void print_training_json(const kw_train_report *r, const char *out) {
    cli_json json;
    cli_json_start(&json);
    cli_json_text(&json, "model", out);
    cli_json_int(&json, "pairs", r->pairs);
    cli_json_int(&json, "good", r->good);
    cli_json_int(&json, "slow", r->slow);
    cli_json_int(&json, "failed", r->failed);
    cli_json_int(&json, "foreign", r->foreign);
    cli_json_int(&json, "untimed", r->untimed);
    cli_json_int(&json, "problem_groups", r->problem_groups);
    cli_json_int(&json, "problems", r->problems);
    cli_json_int(&json, "families", r->families);
    add_figures(&json, "shapes", &r->shapes);
    add_figures(&json, "unseen_families", &r->unseen_families);
    add_figures(&json, "estimate", &r->estimate);
    cli_json_text(&json, "quantity", r->quantity);
    cli_json_int(&json, "rounds", r->rounds);
    cli_json_int(&json, "trees", r->trees);
    cli_json_int(&json, "leaves", r->leaves);
    cli_json_int(&json, "bytes", r->bytes);
    cli_json_int(&json, "memory_bytes", r->memory_bytes);
    cli_json_text(&json, "digest", r->digest);
    cli_json_print(&json, stdout);
}

static int run_training(kw_train_options *options, const cli_args *args) {
    kw_error err = {0};
    kw_train_report report;
    options->stop = cli_stop_in_order();
    kw_status status = kw_train(options, &report, &err);
    cli_bar_end(options->user);
    if (status) {
        int code = cli_fail(&err);
        return kw_stop_requested(options->stop) ? CLI_STOPPED : code;
    }
    (args->value[OPT_JSON] ? print_training_json : print_training_text)(&report, options->out);
    return CLI_DONE;
}

int verb_train(const cli_args *args) {
    char command[1024], *words = NULL;
    const char *holdout[LISTS_MAX];
    cli_bar bar;
    kw_train_options options = {.size = sizeof(kw_train_options),
                                .stores = args->operands,
                                .store_count = (size_t)args->operand_count,
                                .out = args->value[OPT_OUT],
                                .quantity = args->value[OPT_QUANTITY],
                                .features = args->value[OPT_FEATURES],
                                .holdout = holdout,
                                .warm_start = args->value[OPT_WARM_START],
                                .lightgbm = args->value[OPT_LIGHTGBM],
                                .command = command,
                                .progress = print_training_progress,
                                .log = print_log_line,
                                .user = &bar};
    cli_bar_start(&bar, args);
    if (!options.out) {
        return cli_usage("train needs a folder for the model; for example --out models/mine");
    }
    cli_command(command, sizeof command);
    int code = read_training_numbers(&options, args);
    code = code ? code : read_model_kind(&options, args);
    code = code ? code : read_lists(holdout, &options.holdout_count, &words, args->value[OPT_HOLDOUT]);
    code = code ? code : run_training(&options, args);
    free(words);
    return code;
}
