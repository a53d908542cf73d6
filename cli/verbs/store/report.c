/* report.c: the verbs report and diff: a store in short on standard output, as JSON or as one HTML file; and held against a baseline, problem by
 * problem, with a verdict each and an exit code for a gate. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- report --- */

static void print_line(void *user, const kw_report_line *line) {
    cli_json json;
    (void)user;
    cli_json_start(&json);
    cli_json_text(&json, "target", line->target);
    cli_json_text(&json, "problem", line->problem);
    cli_json_bool(&json, "packed", line->packed);
    cli_json_bool(&json, "cold", line->cold);
    cli_json_int(&json, "good", (int64_t)line->good);
    cli_json_int(&json, "failed", (int64_t)line->failed);
    cli_json_int(&json, "unfit", (int64_t)line->unfit);
    if (*line->config) {
        cli_json_text(&json, "config", line->config);
        cli_json_real(&json, "time_ns", line->best_ns);
    }
    if (line->efficiency > 0) {
        cli_json_real(&json, "efficiency", line->efficiency);
    }
    if (line->verdict != KW_VERDICT_NONE) {
        cli_json_text(&json, "verdict", kw_verdict_name(line->verdict));
        cli_json_text(&json, "baseline_config", line->baseline_config);
        cli_json_real(&json, "baseline_ns", line->baseline_ns);
    }
    if (line->ratio > 0) {
        cli_json_real(&json, "ratio", line->ratio);
    }
    cli_json_print(&json, stdout);
}

int verb_report(const cli_args *args) {
    kw_error err = {0};
    char *text = NULL;
    const char *store = args->operands[0], *html = args->value[OPT_HTML];
    kw_report_options options = {.size = sizeof(kw_report_options), .baseline = args->value[OPT_BASELINE], .title = args->value[OPT_TITLE]};
    if (html && args->value[OPT_JSON]) {
        return cli_usage("--json and --html are two ways to print a report; leave one away");
    }
    if (html) {
        if (kw_report_html(store, html, &options, &err)) {
            return cli_fail(&err);
        }
        printf("%s\n", html);
        return CLI_DONE;
    }
    if (args->value[OPT_TITLE]) {
        return cli_usage("--title is of the HTML report; give --html FILE as well");
    }
    if (args->value[OPT_JSON]) {
        return kw_report_visit(store, &options, print_line, NULL, &err) ? cli_fail(&err) : CLI_DONE;
    }
    if (kw_report_text(&text, store, &options, &err)) {
        return cli_fail(&err);
    }
    fputs(text, stdout);
    kw_free(text);
    return CLI_DONE;
}

/* --- diff --- */

typedef struct diff {
    bool json, headed;
    int64_t count[KW_VERDICT_COUNT];
} diff;

static void print_verdict(void *user, const kw_report_line *line) {
    diff *d = user;
    char times[2][32];
    d->count[line->verdict]++;
    if (line->verdict == KW_VERDICT_NONE) {
        return;
    }
    if (d->json) {
        print_line(NULL, line);
        return;
    }
    if (!d->headed) {
        printf("%-4s %10s %10s %9s  problem\n", "", "time", "baseline", "change");
        d->headed = true;
    }
    printf("%s %10s %10s ", kw_verdict_name(line->verdict), line->best_ns > 0 ? cli_time(times[0], line->best_ns) : "-",
           cli_time(times[1], line->baseline_ns));
    if (line->ratio > 0) {
        double change = 100 * (1 / line->ratio - 1);
        printf("%+7.1f %%", fabs(change) < 0.05 ? 0 : change); /* no -0.0 */
    } else {
        printf("%9s", "-");
    }
    printf("  %s%s%s\n", line->problem, line->cold ? " (cold)" : "", line->packed ? "" : " (fresh weights)");
}

int verb_diff(const cli_args *args) {
    kw_error err = {0};
    diff d = {.json = args->value[OPT_JSON] != NULL};
    kw_report_options options = {.size = sizeof(kw_report_options), .baseline = args->operands[1]};
    const char *slack = args->value[OPT_SLACK];
    char *end = NULL;
    options.slack = slack ? strtod(slack, &end) : 0;
    if (slack && (!*slack || *end || !(options.slack >= 0 && options.slack < 10))) {
        return cli_usage("--slack %.60s is no share; for example 0.05", slack);
    }
    if (kw_report_visit(args->operands[0], &options, print_verdict, &d, &err)) {
        return cli_fail(&err);
    }
    int64_t compared = 0;
    for (int i = KW_VERDICT_SAME; i < KW_VERDICT_COUNT; i++) {
        compared += d.count[i];
    }
    if (!args->value[OPT_QUIET]) {
        fprintf(d.json ? stderr : stdout,
                "%lld problems compared: %lld same, %lld fast, %lld slow, %lld lost; %lld are not in the baseline\n", (long long)compared,
                (long long)d.count[KW_VERDICT_SAME], (long long)d.count[KW_VERDICT_FAST], (long long)d.count[KW_VERDICT_SLOW],
                (long long)d.count[KW_VERDICT_LOST], (long long)d.count[KW_VERDICT_NONE]);
    }
    if (!compared) {
        return cli_usage("the stores share no problem that was timed the same way, so nothing is compared");
    }
    return d.count[KW_VERDICT_SLOW] + d.count[KW_VERDICT_LOST] ? CLI_FAILED : CLI_DONE;
}
