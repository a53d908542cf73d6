/* validate.c: the verb validate: whether what an evaluation claims holds when selections and best kernels are measured again. */
#include "evaluation_options.h"

#include <stdio.h>
#include <stdlib.h>

static void print_validation_progress(void *user, const kw_sweep_progress *now) {
    cli_bar_draw(user, now->phase, now->done, now->total, now->eta_s, "");
}

static void print_validation_text(const kw_validate_report *r) {
    printf("%lld problem groups measured again", (long long)r->problem_groups);
    if (r->failed) {
        printf(", %lld could not be", (long long)r->failed);
    }
    printf("\n%-22s %8s %19s\n", "mean efficiency", "%", "95 % interval");
    printf("%-22s %8.2f %9.2f %9.2f\n", "  by the old rows", 100 * r->old_efficiency.value, 100 * r->old_efficiency.low,
           100 * r->old_efficiency.high);
    printf("%-22s %8.2f %9.2f %9.2f\n", "  by the new rows", 100 * r->new_efficiency.value, 100 * r->new_efficiency.low,
           100 * r->new_efficiency.high);
    printf("%-22s %8.2f\n", "  P10, new rows", 100 * r->new_p10);
    printf("times of the best kernels: %+.2f %% (median)\n", 100 * (r->drift - 1));
    if (r->worst_loss > 0) {
        printf("falls short of its claim most, by %.2f, on %s\n", 100 * r->worst_loss, r->worst);
    }
}

static void add_figure(cli_json *json, const char *name, const kw_metric *figure) {
    cli_json_list(json, name);
    cli_json_real(json, NULL, figure->value);
    cli_json_real(json, NULL, figure->low);
    cli_json_real(json, NULL, figure->high);
    cli_json_end(json);
}

static void print_validation_json(const kw_validate_report *r) {
    cli_json json;
    cli_json_start(&json);
    cli_json_int(&json, "problem_groups", r->problem_groups);
    cli_json_int(&json, "failed", r->failed);
    add_figure(&json, "old_efficiency", &r->old_efficiency);
    add_figure(&json, "new_efficiency", &r->new_efficiency);
    cli_json_real(&json, "new_p10", r->new_p10);
    cli_json_real(&json, "drift", r->drift);
    cli_json_real(&json, "worst_loss", r->worst_loss);
    cli_json_text(&json, "worst", r->worst);
    cli_json_print(&json, stdout);
}

static int validate(const kw_evaluation *evaluation, const cli_args *args) {
    kw_error err = {0};
    kw_validate_report report;
    int64_t limit, batches, seed;
    char command[1024];
    cli_bar bar;
    if (!cli_number(args, OPT_LIMIT, 1, 1000000, 0, &limit) || !cli_number(args, OPT_BATCHES, 1, 100000, 0, &batches) ||
        !cli_number(args, OPT_SEED, 0, INT64_MAX, 0, &seed)) {
        return CLI_USAGE;
    }
    cli_command(command, sizeof command);
    kw_validate_options options = {.size = sizeof(kw_validate_options),
                                   .limit = (size_t)limit,
                                   .out = args->value[OPT_OUT],
                                   .seed = (uint64_t)seed,
                                   .batches = (int32_t)batches,
                                   .workers.devices = args->value[OPT_DEVICE],
                                   .command = command,
                                   .build.cache_dir = args->value[OPT_CACHE_DIR],
                                   .build.compiler = args->value[OPT_CC],
                                   .stop = cli_stop_in_order(),
                                   .progress = print_validation_progress,
                                   .user = &bar};
    cli_bar_start(&bar, args);
    kw_status status = kw_validate(evaluation, &options, &report, &err);
    cli_bar_end(&bar);
    if (status) {
        return cli_fail(&err);
    }
    (args->value[OPT_JSON] ? print_validation_json : print_validation_text)(&report);
    return kw_stop_requested(options.stop) ? CLI_STOPPED : CLI_DONE;
}

int verb_validate(const cli_args *args) {
    if (!cli_names_store("validate", args->value[OPT_OUT], true)) {
        return CLI_USAGE;
    }
    kw_error err = {0};
    kw_evaluation_options options;
    kw_evaluation *evaluation = NULL;
    cli_words holdout = {0};
    int code = cli_selector_options(&options, &holdout, args);
    if (!code) {
        code = kw_evaluation_open(&evaluation, &options, &err) ? cli_fail(&err) : validate(evaluation, args);
    }
    kw_evaluation_close(&evaluation);
    cli_words_drop(&holdout);
    return code;
}
