/* compare.c: the verbs compare and quality: two models, or other selectors, on the same measured problems. */
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
        code = cli_usage("say by --stores what was measured, e.g. --stores results.db; it is models that are compared here (`kwright diff "
                         "NEW BASELINE` compares stores)");
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

static void add_figure(cli_json *json, const char *name, const kw_metric *figure) {
    cli_json_list(json, name);
    cli_json_real(json, NULL, figure->value);
    cli_json_real(json, NULL, figure->low);
    cli_json_real(json, NULL, figure->high);
    cli_json_end(json);
}

static void add_side(cli_json *json, const char *name, const kw_evaluation_metrics *f) {
    cli_json_object(json, name);
    add_figure(json, "mean", &f->mean);
    add_figure(json, "median", &f->median);
    add_figure(json, "p10", &f->p10);
    add_figure(json, "regret", &f->regret);
    add_figure(json, "coverage", &f->coverage);
    cli_json_end(json);
}

static void print_comparison_json(const kw_comparison *c, const char *violation) {
    cli_json json;
    cli_json_start(&json);
    cli_json_int(&json, "problem_groups", c->problem_groups);
    cli_json_int(&json, "agreed", c->agreed);
    cli_json_int(&json, "better", c->better);
    cli_json_int(&json, "same", c->same);
    cli_json_int(&json, "worse", c->worse);
    add_side(&json, "a", &c->a);
    add_side(&json, "b", &c->b);
    add_figure(&json, "mean_delta", &c->mean_delta);
    cli_json_real(&json, "worst_loss", c->worst_loss);
    cli_json_text(&json, "worst", c->worst);
    if (violation) {
        cli_json_bool(&json, "accepted", !*violation);
        cli_json_text(&json, "violation", violation);
    }
    cli_json_print(&json, stdout);
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
