/* run_together.c: run --together: plans of problems that have nothing to do with each other in one call (kw_plans_run), timed in turns with one
 * call each. */
#include "run.h"
#include "tensors.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 15, LEAST_NS = 200000 };

typedef struct batch {
    char *joined; /* what kw_plans_join says */
    size_t count;
    kw_plan **plans;
    kw_tensors *tensors;
    const kw_tensors **each;
} batch;

static int run_batch(const batch *b, bool together) {
    kw_error err = {0};
    kw_status status = KW_OK;
    if (together) {
        status = kw_plans_run((const kw_plan *const *)b->plans, b->each, b->count, NULL, &err);
    }
    for (size_t i = 0; i < b->count && !together && !status; i++) {
        status = kw_plan_run(b->plans[i], &b->tensors[i], NULL, &err);
    }
    return status ? cli_fail(&err) : CLI_DONE;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Medians of both ways: ns[1] together. Each sample is long enough for a clock. */
static int time_batch(double ns[2], const batch *b) {
    double samples[2][ROUNDS];
    int calls = 1, code = CLI_DONE;
    for (int round = -1; round < ROUNDS && !code; round++) {
        for (int way = 0; way < 2 && !code; way++) {
            int64_t start = cli_now_ns();
            for (int i = 0; i < calls && !code; i++) {
                code = run_batch(b, way);
            }
            double took = (double)(cli_now_ns() - start);
            if (round < 0 && way && took < LEAST_NS) {
                calls = (int)(LEAST_NS / (took + 1)) + 1;
            } else if (round >= 0) {
                samples[way][round] = took / calls;
            }
        }
    }
    for (int way = 0; way < 2 && !code; way++) {
        qsort(samples[way], ROUNDS, sizeof(double), ascending);
        ns[way] = samples[way][ROUNDS / 2];
    }
    return code;
}

static void show_batch(const batch *b, const cli_problem_list *list, const double ns[2], const cli_args *args) {
    char text[KW_PROBLEM_TEXT_MAX], apart[32], together[32];
    cli_json json;
    if (args->value[OPT_JSON]) {
        cli_json_start(&json);
        cli_json_list(&json, "plans");
    }
    for (size_t i = 0; i < b->count; i++) {
        kw_problem_print(text, sizeof text, &list->items[i].problem);
        if (args->value[OPT_JSON]) {
            cli_json_object(&json, NULL);
            cli_json_text(&json, "problem", text);
            cli_json_text(&json, "config", kw_plan_config(b->plans[i]));
            cli_json_end(&json);
        } else {
            printf("%s%s%s\n  %s\n", list->items[i].name, *list->items[i].name ? ": " : "", text, kw_plan_config(b->plans[i]));
        }
    }
    if (args->value[OPT_JSON]) {
        cli_json_end(&json);
        cli_json_text(&json, "joined", b->joined);
        cli_json_real(&json, "together_ns", ns[1]);
        cli_json_real(&json, "apart_ns", ns[0]);
        cli_json_print(&json, stdout);
    } else {
        printf("%stogether %s, in %zu call%s %s: %.2f times as fast\n", b->joined, cli_time(together, ns[1]), b->count,
               b->count == 1 ? "" : "s", cli_time(apart, ns[0]), ns[0] / ns[1]);
    }
}

int cli_run_together(kw_context *context, kw_registry *registry, const cli_problem_list *list, const cli_args *args) {
    batch b = {.plans = calloc(list->count, sizeof(kw_plan *)),
               .tensors = calloc(list->count, sizeof(kw_tensors)),
               .each = calloc(list->count, sizeof(kw_tensors *))};
    kw_error err = {.status = KW_NO_MEMORY, .text = "there is no memory for the list of plans"};
    int code = b.plans && b.tensors && b.each ? CLI_DONE : cli_fail(&err);
    int64_t seed;
    if (!code && args->value[OPT_CHECK]) {
        fprintf(stderr, "kwright: --check is of one problem at a time; run them without --together\n");
        code = CLI_USAGE;
    }
    if (!cli_number(args, OPT_SEED, 0, INT64_MAX, 0, &seed)) {
        code = CLI_USAGE;
    }
    for (size_t i = 0; i < list->count && !code; i++) {
        const kw_problem *problem = &list->items[i].problem;
        b.tensors[i].size = sizeof(kw_tensors);
        b.each[i] = &b.tensors[i];
        b.count++;
        code = cli_tensors_room(context, problem);
        code = code ? code : cli_make_plan(&b.plans[i], context, registry, problem, args);
        code = code ? code : cli_tensors(&b.tensors[i], context, problem, kw_plan_workspace(b.plans[i]), (uint64_t)seed);
        if (!code && !args->value[OPT_FRESH] && kw_plan_pack_weights(b.plans[i], b.tensors[i].w, &err)) {
            code = cli_fail(&err);
        }
    }
    if (!code && kw_plans_join(&b.joined, (const kw_plan *const *)b.plans, b.count, &err)) {
        code = cli_fail(&err);
    }
    double ns[2];
    code = code ? code : time_batch(ns, &b);
    if (!code) {
        show_batch(&b, list, ns, args);
    }
    for (size_t i = 0; i < b.count; i++) {
        cli_tensors_free(&b.tensors[i], context);
        kw_plan_destroy(&b.plans[i]);
    }
    kw_free(b.joined);
    free(b.plans);
    free(b.tensors);
    free(b.each);
    return code;
}
