/* estimate.c: how good is the analytic estimate's order?
 *
 *   bench_estimate [LIST] [--only TEXT] [--threads N]
 *
 * LIST is a problem list (a set's name or a file; resnet50). Measures every kernel of the default registry that serves a problem
 * (exhaustive choice) and asks: how much slower than the best is the estimate's first, the best of its first three, and the best of its
 * first eight (what a shortlist measures)? Prints Markdown. */
#include "predict/predict.h"

#include "backend/backend.h"

#include <kernelwright_tune.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTHS = 3 };
static const size_t depths[DEPTHS] = {1, 3, 8};

typedef struct session {
    kw_context *context;
    kw_target target;
    const char *only;
    double log_loss[DEPTHS], worst[DEPTHS];
    int problems;
} session;

typedef struct candidate {
    double estimate_ns, time_ns;
    const char *config;
} candidate;

static int compare_estimates(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    return (x->estimate_ns > y->estimate_ns) - (x->estimate_ns < y->estimate_ns);
}

/* Candidates that gave up while timing have the time at which they did, which is right enough: they are far from the best. */
static size_t collect(candidate *list, const session *s, const kw_problem *problem, const kw_record *records, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        kw_config config;
        kw_launch launch = {0};
        if (records[i].time_ns > 0 && !kw_config_parse(&config, records[i].config, NULL)) {
            config.family->launch(&config, problem, &s->target, &launch);
            list[kept].estimate_ns = kw_predict_ns(&config, problem, &s->target, &launch);
            list[kept].config = records[i].config;
            list[kept++].time_ns = records[i].time_ns;
        }
    }
    qsort(list, kept, sizeof *list, compare_estimates);
    return kept;
}

static void judge(session *s, const char *name, const candidate *list, size_t count) {
    double best = INFINITY, seen = INFINITY;
    size_t winner = 0;
    for (size_t i = 0; i < count; i++) {
        if (list[i].time_ns < best) {
            best = list[i].time_ns;
            winner = i;
        }
    }
    printf("| %s | %zu | %zu | %.1f | %.1f ", name, count, winner + 1, best / 1e3, list[winner].estimate_ns / 1e3);
    for (size_t i = 0, depth = 0; depth < DEPTHS; i++) {
        if (i < count) {
            seen = fmin(seen, list[i].time_ns);
        }
        if (i + 1 == depths[depth]) {
            double loss = seen / best;
            printf("| %.2f ", loss);
            s->log_loss[depth] += log(loss);
            s->worst[depth] = fmax(s->worst[depth], loss);
            depth++;
        }
    }
    printf("| %s | %s |\n", list[winner].config, list[0].config);
    s->problems++;
    fflush(stdout);
}

static bool visit(void *user, const char *name, const kw_problem *problem) {
    session *s = user;
    if (s->only && !strstr(name, s->only)) {
        return true;
    }
    kw_plan *plan = NULL;
    kw_error err = {0};
    size_t count = 0;
    if (kw_plan_create(&plan, s->context, problem,
                       &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_EXHAUSTIVE, .remeasure = true}, &err)) {
        printf("| %s | %s |\n", name, err.text);
        return true;
    }
    const kw_record *records = kw_plan_records(plan, &count);
    candidate *list = calloc(count + 1, sizeof *list);
    size_t kept = list ? collect(list, s, problem, records, count) : 0;
    if (kept) {
        judge(s, name, list, kept);
    }
    free(list);
    kw_plan_destroy(&plan);
    return true;
}

int main(int count, char **words) {
    session s = {0};
    int threads = 1;
    kw_error err = {0};
    for (int i = 2; i + 1 < count; i += 2) {
        if (!strcmp(words[i], "--only")) {
            s.only = words[i + 1];
        } else if (!strcmp(words[i], "--threads")) {
            threads = atoi(words[i + 1]);
        } else {
            count = 0;
        }
    }
    if (count != 1 && (count < 2 || count % 2)) {
        fprintf(stderr, "usage: bench_estimate [LIST] [--only TEXT] [--threads N]\n");
        return 2;
    }
    kw_cpu_target(&s.target, threads);
    kw_status status = kw_context_open(
        &s.context, "cpu", &(kw_context_options){.size = sizeof(kw_context_options), .threads = threads, .wisdom_file = ""}, &err);
    printf("| problem | kernels | best's place | best us | its estimate us | first | of 3 | of 8 | best | first |\n"
           "|---|---|---|---|---|---|---|---|---|---|\n");
    status = status ? status : kw_problems_visit(count > 1 ? words[1] : "resnet50", KW_OP_COUNT, KW_DTYPE_COUNT, visit, &s, &err);
    if (status) {
        fprintf(stderr, "bench_estimate: %s\n", err.text);
    }
    printf("\n| measured | slower than the best, geometric mean | worst |\n|---|---|---|\n");
    for (int i = 0; i < DEPTHS && s.problems; i++) {
        printf("| the estimate's first %zu | %.3f | %.2f |\n", depths[i], exp(s.log_loss[i] / s.problems), s.worst[i]);
    }
    kw_context_close(&s.context);
    return status ? 1 : 0;
}
