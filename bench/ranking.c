/* ranking.c: what a model costs, features and all, on one thread. Prints Markdown. bench_ranking MODEL-FOLDER
 *
 * The candidates are the kernels of rule set "full" that serve one convolution, taken again and again until there are as many as wanted: a
 * ranking does not know that some are alike, and none is skipped.
 *
 *   launch   fits, launch and analytic estimate of each candidate: what dispatch knows of it with or without a model
 *   ranking  kw_ranking_score: features of the problem and of every pair, the forest, and nanoseconds out of scores
 *   open     kw_ranking_open, once for a registry */
#include "base/os/clock.h"
#include "measure/timing/timing.h"
#include "predict/model.h"
#include "predict/predict.h"

#include <kernelwright_tune.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 4608 };
#define PROBLEM "conv_fwd fp32 nhwgc n1 c64 k64 i56x56 f3x3 p1x1"

typedef struct session {
    kw_problem problem;
    kw_target target;
    kw_model *model;
    kw_ranking *ranking;
    kw_config *configs; /* MOST of everything, count of them in use */
    const kw_config **list;
    kw_launch *launches;
    const kw_launch **fitting;
    double *estimates, *ns;
    size_t distinct, count;
} session;

static bool take_config(void *user, const char *text) {
    session *s = user;
    kw_config *config = &s->configs[s->distinct];
    s->distinct += !kw_config_parse(config, text, NULL) && !kw_config_fits(config, &s->problem, &s->target, NULL);
    return s->distinct < MOST;
}

static kw_status open_session(session *s, const char *folder, kw_error *err) {
    kw_context *context = NULL;
    kw_status status =
        kw_context_open(&context, "cpu", &(kw_context_options){.size = sizeof(kw_context_options), .threads = 1, .wisdom_file = ""}, err);
    status = status ? status : kw_target_parse(&s->target, kw_context_target(context), err);
    status = status ? status : kw_problem_parse(&s->problem, PROBLEM, err);
    status = status ? status : kw_model_open(&s->model, folder, err);
    kw_context_close(&context);
    s->configs = calloc(MOST, sizeof *s->configs);
    s->list = calloc(MOST, sizeof *s->list);
    s->launches = calloc(MOST, sizeof *s->launches);
    s->fitting = calloc(MOST, sizeof *s->fitting);
    s->estimates = calloc(MOST, sizeof *s->estimates);
    s->ns = calloc(MOST, sizeof *s->ns);
    if (!status && !(s->configs && s->list && s->launches && s->fitting && s->estimates && s->ns)) {
        status = kw_fail_memory(err, "candidates");
    }
    kw_space_options space = {.size = sizeof(kw_space_options), .set = "full", .filter = "c.op == 'conv_fwd' and c.dtype == 'fp32'"};
    status = status ? status : kw_space_visit(&space, take_config, s, err);
    if (!status && !s->distinct) {
        status = kw_fail(err, KW_NO_KERNEL, "no kernel of set full serves " PROBLEM " here");
    }
    for (size_t i = 0; i < MOST && !status; i++) {
        s->list[i] = &s->configs[i % s->distinct];
    }
    return status;
}

static void close_session(session *s) {
    kw_ranking_close(&s->ranking);
    kw_model_close(&s->model);
    free(s->configs);
    free(s->list);
    free(s->launches);
    free(s->fitting);
    free(s->estimates);
    free(s->ns);
}

static kw_status launch(void *user, kw_error *err) {
    session *s = user;
    (void)err;
    for (size_t i = 0; i < s->count; i++) {
        const kw_config *config = s->list[i];
        if (!kw_config_fits(config, &s->problem, &s->target, NULL)) {
            s->launches[i] = (kw_launch){0};
            config->family->launch(config, &s->problem, &s->target, &s->launches[i]);
            s->fitting[i] = &s->launches[i];
            s->estimates[i] = kw_predict_ns(config, &s->problem, &s->target, &s->launches[i]);
        }
    }
    return KW_OK;
}

static kw_status rank(void *user, kw_error *err) {
    session *s = user;
    (void)err;
    kw_ranking_score(s->ranking, &s->problem, &s->target, s->fitting, s->estimates, s->ns);
    return KW_OK;
}

static kw_status time_pool(session *s, size_t count, kw_error *err) {
    kw_subject subjects[] = {{.call = launch, .context = s}, {.call = rank, .context = s}};
    kw_timed times[2];
    s->count = count;
    int64_t start = kw_clock_ns();
    kw_status status = kw_ranking_open(&s->ranking, s->model, s->list, count, err);
    double opened = (double)(kw_clock_ns() - start);
    status = status ? status : launch(s, err);
    status = status ? status : kw_time_subjects(subjects, 2, &(kw_timing_options){0}, 1, times, err);
    if (!status) {
        printf("| %zu | %.1f us | %.1f us +- %.1f | %.0f ns | %.1f ms |\n", count, times[0].time_ns / 1e3, times[1].time_ns / 1e3,
               times[1].spread_ns / 1e3, times[1].time_ns / (double)count, opened / 1e6);
    }
    kw_ranking_close(&s->ranking);
    return status;
}

int main(int argc, char **argv) {
    static const size_t counts[] = {8, 72, 512, MOST};
    session s = {0};
    kw_error err = {0};
    if (argc != 2) {
        fprintf(stderr, "bench_ranking: give the folder of a model\n");
        return 2;
    }
    kw_status status = open_session(&s, argv[1], &err);
    if (!status) {
        const kw_model_facts *facts = kw_model_describe(s.model);
        printf("# What a model costs, features and all\n\nOne thread; %zu trees, %zu leaves, %zu features, %.1f MB in memory; " PROBLEM
               ".\n\n",
               facts->trees, facts->leaves, facts->features, (double)facts->bytes / 1e6);
        printf("| candidates | launch | ranking | each | open |\n|---|---|---|---|---|\n");
    }
    for (size_t i = 0; i < sizeof counts / sizeof *counts && !status; i++) {
        status = time_pool(&s, counts[i], &err);
    }
    if (status) {
        fprintf(stderr, "bench_ranking: %s\n", err.text);
    }
    close_session(&s);
    return status ? 1 : 0;
}
