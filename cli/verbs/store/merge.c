/* merge.c: the verb merge: stores and segments of shards become one store, and what is missing becomes the next manifest. Exit code 1 says
 * that pairs are missing, so a job script can go on until there are none. */
#include "cli.h"

#include <stdio.h>

static void print_merge_json(const kw_merge_report *report) {
    cli_json json;
    cli_json_start(&json);
    cli_json_int(&json, "inputs", report->inputs);
    cli_json_int(&json, "rows", report->rows);
    cli_json_int(&json, "added", report->added);
    cli_json_int(&json, "known", report->known);
    cli_json_int(&json, "damaged", report->damaged);
    cli_json_int(&json, "refused", report->refused);
    cli_json_int(&json, "pairs", report->pairs);
    cli_json_int(&json, "holes", report->holes);
    cli_json_print(&json, stdout);
}

static void print_merge_text(const kw_merge_report *report) {
    printf("%lld inputs with %lld rows: %lld new, %lld known; %lld damaged lines passed over, %lld refused\n", (long long)report->inputs,
           (long long)report->rows, (long long)report->added, (long long)report->known, (long long)report->damaged,
           (long long)report->refused);
    if (report->pairs) {
        printf("%lld pairs asked for, %lld without a row\n", (long long)report->pairs, (long long)report->holes);
    }
}

/* What to do about holes, as a line to paste. */
static void print_advice(const cli_args *args, const kw_merge_report *report) {
    cli_next next;
    if (!report->pairs) {
        fprintf(stderr, "kwright: no manifest lies beside the inputs, so whether a pair is missing is not known; --manifest names one\n");
    } else if (report->holes && args->value[OPT_NEXT]) {
        cli_next_start(&next, "sweep", args);
        cli_next_option(&next, OPT_PAIRS, args->value[OPT_NEXT]);
        cli_next_option(&next, OPT_OUT, args->value[OPT_OUT]);
        fprintf(stderr, "kwright: %lld pairs have no row; measure them: %s%s\n", (long long)report->holes, next.text, report->where);
    } else if (report->holes) {
        cli_next_start(&next, "merge", args);
        cli_next_option(&next, OPT_OUT, args->value[OPT_OUT]);
        cli_next_option(&next, OPT_NEXT, "holes.manifest");
        if (args->value[OPT_MANIFEST]) {
            cli_next_option(&next, OPT_MANIFEST, args->value[OPT_MANIFEST]);
        }
        for (int i = 0; i < args->operand_count; i++) {
            cli_next_word(&next, args->operands[i]); /* the manifest lies beside them */
        }
        fprintf(stderr, "kwright: %lld pairs have no row; write them down: %s\n", (long long)report->holes, next.text);
    }
}

int verb_merge(const cli_args *args) {
    kw_error err = {0};
    kw_merge_report report;
    if (!args->value[OPT_OUT]) {
        return cli_usage("merge needs a store to merge into; for example --out results.db");
    }
    if (!cli_names_store("merge", args->value[OPT_OUT], false)) {
        return CLI_USAGE;
    }
    if (kw_merge(args->value[OPT_OUT], args->operands, (size_t)args->operand_count, args->value[OPT_MANIFEST], args->value[OPT_NEXT],
                 &report, &err)) {
        return cli_fail(&err);
    }
    if (args->value[OPT_JSON]) {
        print_merge_json(&report);
    } else {
        print_merge_text(&report);
    }
    if (!args->value[OPT_QUIET]) {
        print_advice(args, &report);
    }
    if (*report.first_fault) {
        fprintf(stderr, "kwright: the first passed over: %s\n", cli_shown(report.first_fault));
    }
    return report.holes || report.refused ? CLI_FAILED : CLI_DONE;
}
