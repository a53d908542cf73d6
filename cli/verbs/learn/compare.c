/* compare.c: the verbs compare and quality: two models, or other ways to pick, on the same measured problems. */
#include "evaluation_options.h"

#include <stdio.h>

/* Both evaluations and what became of them. */
typedef struct session {
    cli_words stores, holdout;
    kw_evaluation *a, *b;
    kw_comparison comparison;
} session;

static void close_comparison(session *s) {
    kw_evaluation_close(&s->a);
    kw_evaluation_close(&s->b);
    cli_words_drop(&s->stores);
    cli_words_drop(&s->holdout);
}

static int open_comparison(session *s, const cli_args *args, const char *a, const char *b) {
    kw_error err = {0};
    kw_evaluation_options options;
    *s = (session){0};
    int code = cli_words_read(&s->stores, args, OPT_STORES);
    code = code ? code : cli_evaluation_options(&options, &s->holdout, args);
    if (!code && !s->stores.count) {
        code = cli_usage("say what was measured: --stores results.db");
    }
    if (code) {
        return code;
    }
    options.stores = s->stores.items;
    options.store_count = s->stores.count;
    options.by = a;
    kw_status status = kw_evaluation_open(&s->a, &options, &err);
    options.by = b;
    status = status ? status : kw_evaluation_open(&s->b, &options, &err);
    status = status ? status : kw_evaluations_compare(&s->comparison, s->a, s->b, &err);
    return status ? cli_fail(&err) : CLI_DONE;
}

static int print_comparison_text(const session *s) {
    kw_error err = {0};
    char *text = NULL;
    if (kw_comparison_text(&text, &s->comparison, s->a, s->b, &err)) {
        return cli_fail(&err);
    }
    fputs(text, stdout);
    kw_free(text);
    return CLI_DONE;
}

static void print_figure(const char *name, const kw_metric *figure, const char *end) {
    printf("\"%s\": [%.6f, %.6f, %.6f]%s", name, figure->value, figure->low, figure->high, end);
}

static void print_side(const char *name, const kw_evaluation_metrics *f) {
    printf("\"%s\": {", name);
    print_figure("mean", &f->mean, ", ");
    print_figure("median", &f->median, ", ");
    print_figure("p10", &f->p10, ", ");
    print_figure("regret", &f->regret, ", ");
    print_figure("coverage", &f->coverage, "}, ");
}

static void print_comparison_json(const kw_comparison *c, const char *verdict) {
    printf("{\"contests\": %lld, \"agreed\": %lld, \"better\": %lld, \"same\": %lld, \"worse\": %lld, ", (long long)c->problem_groups,
           (long long)c->agreed, (long long)c->better, (long long)c->same, (long long)c->worse);
    print_side("a", &c->a);
    print_side("b", &c->b);
    print_figure("mean_delta", &c->mean_delta, ", ");
    printf("\"worst_loss\": %.6f, \"worst\": ", c->worst_loss);
    cli_json_string(c->worst);
    if (verdict) {
        printf(", \"accepted\": %s, \"violation\": ", *verdict ? "false" : "true");
        cli_json_string(verdict);
    }
    printf("}\n");
}

int verb_compare(const cli_args *args) {
    session s;
    int code = open_comparison(&s, args, args->operands[0], args->operands[1]);
    if (!code && args->value[OPT_JSON]) {
        print_comparison_json(&s.comparison, NULL);
    } else if (!code) {
        code = print_comparison_text(&s);
    }
    close_comparison(&s);
    return code;
}

int verb_quality(const cli_args *args) {
    session s;
    kw_error err = {0};
    int code = open_comparison(&s, args, args->operands[1], args->operands[0]);
    if (!code) {
        kw_status status = kw_comparison_accept(&s.comparison, NULL, &err);
        if (args->value[OPT_JSON]) {
            print_comparison_json(&s.comparison, err.text);
        } else {
            code = print_comparison_text(&s);
            printf("%s\n", status ? "refused" : "accepted: mean and median within 0.5 %, P10 within 2 %, no problem more than 10 % worse");
        }
        code = status ? cli_fail(&err) : code;
    }
    close_comparison(&s);
    return code;
}
