/* prune.c: the verb prune: the fewest kernels that keep a share of the best, as a catalog or a rule set. */
#include "evaluation_options.h"

#include <math.h>
#include <stdio.h>

static void print_curve(const kw_prune_group *g) {
    for (int i = 0; i < KW_PRUNE_CURVE && !isnan(g->curve[i]); i++) {
        printf(" %7.2f", 100 * g->curve[i]);
    }
}

static void print_share(double share) {
    if (isnan(share)) {
        printf(" %7s", "-");
    } else {
        printf(" %7.2f", 100 * share);
    }
}

static void print_group(const char *name, const kw_prune_group *g) {
    printf("%-22s %8lld %7lld %6lld", name, (long long)g->problem_groups, (long long)g->kernels, (long long)g->chosen);
    print_share(g->share);
    print_share(g->worst);
    print_share(g->held_out);
    print_share(g->held_out_worst);
    printf("\n");
}

static void print_prune_text(const kw_prune_report *r) {
    char name[64];
    printf("%.2f %% of the best with %lld kernels instead of %lld\n\n", 100 * r->all.share, (long long)r->all.chosen,
           (long long)r->all.kernels);
    printf("%-22s %8s %7s %6s %7s %7s %7s %7s   (held out: problems that did not choose)\n", "", "problem_groups", "kernels", "chosen",
           "share %", "worst %", "held out", "worst");
    for (int32_t i = 0; i < r->groups; i++) {
        snprintf(name, sizeof name, "%s %s", kw_op_name(r->group[i].op), kw_dtype_name(r->group[i].dtype));
        print_group(name, &r->group[i]);
    }
    if (r->groups > 1) {
        print_group("all", &r->all);
    }
    printf("\n%-22s", "kept % by the first");
    for (int i = 0; i < KW_PRUNE_CURVE && !isnan(r->all.curve[i]); i++) {
        printf(" %7d", 1 << i);
    }
    printf("\n");
    for (int32_t i = 0; i < r->groups; i++) {
        snprintf(name, sizeof name, "%s %s", kw_op_name(r->group[i].op), kw_dtype_name(r->group[i].dtype));
        printf("%-22s", name);
        print_curve(&r->group[i]);
        printf("\n");
    }
}

static void add_group(cli_json *json, const kw_prune_group *g) {
    cli_json_int(json, "problem_groups", g->problem_groups);
    cli_json_int(json, "kernels", g->kernels);
    cli_json_int(json, "chosen", g->chosen);
    cli_json_real(json, "share", g->share);
    cli_json_real(json, "worst", g->worst);
    cli_json_real(json, "held_out", g->held_out);
    cli_json_real(json, "held_out_worst", g->held_out_worst);
    cli_json_list(json, "curve");
    for (int i = 0; i < KW_PRUNE_CURVE && !isnan(g->curve[i]); i++) {
        cli_json_real(json, NULL, g->curve[i]);
    }
    cli_json_end(json);
}

static void print_prune_json(const kw_prune_report *r) {
    cli_json json;
    cli_json_start(&json);
    add_group(&json, &r->all);
    cli_json_list(&json, "groups");
    for (int32_t i = 0; i < r->groups; i++) {
        cli_json_object(&json, NULL);
        cli_json_text(&json, "op", kw_op_name(r->group[i].op));
        cli_json_text(&json, "dtype", kw_dtype_name(r->group[i].dtype));
        add_group(&json, &r->group[i]);
        cli_json_end(&json);
    }
    cli_json_end(&json);
    cli_json_print(&json, stdout);
}

int verb_prune(const cli_args *args) {
    kw_error err = {0};
    kw_evaluation_options rows;
    kw_prune_report report;
    cli_words holdout = {0};
    double keep, worst;
    char command[1024];
    int code = cli_evaluation_options(&rows, &holdout, args);
    cli_words_drop(&holdout);
    if (code || !cli_share(args, OPT_KEEP, 0.99, &keep) || !cli_share(args, OPT_WORST, 0.9, &worst)) {
        return code ? code : CLI_USAGE;
    }
    cli_command(command, sizeof command);
    kw_prune_options options = {.size = sizeof(kw_prune_options),
                                .stores = args->operands,
                                .store_count = (size_t)args->operand_count,
                                .by_op = rows.by_op,
                                .by_dtype = rows.by_dtype,
                                .op = rows.op,
                                .dtype = rows.dtype,
                                .keep = keep,
                                .worst = worst > 0 ? worst : -1,
                                .out = args->value[OPT_OUT],
                                .command = command,
                                .seed = rows.seed};
    if (kw_prune(&options, &report, &err)) {
        return cli_fail(&err);
    }
    (args->value[OPT_JSON] ? print_prune_json : print_prune_text)(&report);
    return CLI_DONE;
}
