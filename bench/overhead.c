/* overhead.c: what the library costs around a kernel, on one thread. Prints Markdown.
 *
 *   look-up   kw_plan_create and kw_plan_destroy for a problem that this context has answered before
 *   wisdom    kw_plan_create for a problem whose answer is in the wisdom file, each asked once: apart whether its kernel was loaded
 *             already or came from the cache
 *   decision  kw_predictions_visit up to its first answer: every kernel of the operation and type asked whether it fits, the ones that do
 *             estimated, judged by the model and sorted. The model is the one that serves, KW_MODEL as ever
 *   run       kw_plan_run of the smallest kernel there is, a 1 x 1 x 1 GEMM compiled in: an upper bound of a call's share */
#include "base/os/clock.h"
#include "measure/timing/timing.h"

#include <kernelwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROBLEMS = 60 };

typedef struct session {
    kw_context *context;
    kw_problem problem;
    kw_plan *plan;
    kw_tensors tensors;
} session;

static kw_status open_session(session *s, const char *wisdom, kw_error *err) {
    return kw_context_open(&s->context, "cpu",
                           &(kw_context_options){.size = sizeof(kw_context_options), .threads = 1, .wisdom_file = wisdom}, err);
}

static void close_session(session *s) {
    kw_plan_destroy(&s->plan);
    kw_context_close(&s->context);
}

static kw_problem small_gemm(int i) {
    kw_problem problem = {.op = KW_GEMM, .dtype = KW_FP32, .layout = KW_RRR};
    problem.gemm = (kw_gemm_dims){.batch = 1, .m = 28, .n = 64, .k = 64 + i};
    return problem;
}

static kw_status create_plan(session *s, const kw_problem *problem, kw_error *err) {
    return kw_plan_create(&s->plan, s->context, problem, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_SHORTLIST}, err);
}

static kw_status look_up(void *context, kw_error *err) {
    session *s = context;
    kw_status status = create_plan(s, &s->problem, err);
    kw_plan_destroy(&s->plan);
    return status;
}

static kw_status run(void *context, kw_error *err) {
    session *s = context;
    return kw_plan_run(s->plan, &s->tensors, NULL, err);
}

static kw_status time_call(const char *what, kw_status (*call)(void *, kw_error *), session *s, kw_error *err) {
    kw_subject subject = {.call = call, .context = s};
    kw_timed time;
    kw_status status = kw_time_subjects(&subject, 1, &(kw_timing_options){0}, 1, &time, err);
    if (!status) {
        printf("| %s | %.0f ns | +- %.0f |\n", what, time.time_ns, time.spread_ns);
    }
    return status;
}

/* Asks for each problem once. Plans whose kernel an earlier one of the context had count as loaded, the others as fetched from the
 * cache. */
static kw_status time_plans(session *s, kw_error *err) {
    char seen[PROBLEMS][KW_CONFIG_TEXT_MAX];
    double loaded[PROBLEMS], fetched[PROBLEMS], lower = 0, range = 0;
    size_t loaded_count = 0, fetched_count = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        kw_problem problem = small_gemm(i);
        int64_t start = kw_clock_ns();
        kw_status status = create_plan(s, &problem, err);
        double time = (double)(kw_clock_ns() - start);
        if (status) {
            return status;
        }
        bool known = false;
        for (size_t j = 0; j < fetched_count; j++) {
            known |= !strcmp(seen[j], kw_plan_config(s->plan));
        }
        if (known) {
            loaded[loaded_count++] = time;
        } else {
            snprintf(seen[fetched_count], sizeof seen[0], "%s", kw_plan_config(s->plan));
            fetched[fetched_count++] = time;
        }
        kw_plan_destroy(&s->plan);
    }
    printf("# What the library costs around a kernel\n\nOne thread, on %s.\nTo be met: 10 us for a plan from wisdom, 500 ns for a look-up, "
           "100 us for a decision, "
           "200 ns a "
           "call above the kernel itself.\n\n",
           kw_context_target(s->context));
    printf("| what | time | spread |\n|---|---|---|\n");
    printf("| the first plan of a context (reads wisdom, finds cache, loads a kernel) | %.0f ns | |\n", fetched[0]);
    kw_quartiles(loaded, loaded_count, &lower, &range);
    printf("| plan from wisdom, kernel loaded (%zu problems) | %.0f ns | +- %.0f |\n", loaded_count, lower, range);
    kw_quartiles(fetched + 1, fetched_count - 1, &lower, &range);
    if (fetched_count > 1) {
        printf("| plan from wisdom, kernel in the cache (%zu problems) | %.0f ns | +- %.0f |\n", fetched_count - 1, lower, range);
    }
    return KW_OK;
}

/* Fills the wisdom file in one context, asks in another. */
static kw_status time_wisdom(const char *wisdom, kw_error *err) {
    session writer = {0}, reader = {0};
    kw_status status = open_session(&writer, wisdom, err);
    for (int i = 0; i < PROBLEMS && !status; i++) {
        kw_problem problem = small_gemm(i);
        status = create_plan(&writer, &problem, err);
        kw_plan_destroy(&writer.plan);
    }
    close_session(&writer);
    status = status ? status : open_session(&reader, wisdom, err);
    status = status ? status : time_plans(&reader, err);
    if (!status) {
        reader.problem = small_gemm(0);
        status = time_call("repeated plan look-up, create and destroy", look_up, &reader, err);
    }
    close_session(&reader);
    return status;
}

/* What kw_predictions_visit finds. */
typedef struct answers {
    size_t count, most;
    char model[64];
} answers;

static bool take_answer(void *user, const kw_prediction *prediction) {
    answers *a = user;
    a->count++;
    snprintf(a->model, sizeof a->model, "%.50s", prediction->model ? prediction->model : "");
    return a->count < a->most;
}

static kw_status decide(void *context, kw_error *err) {
    session *s = context;
    return kw_predictions_visit(s->context, &s->problem, NULL, take_answer, &(answers){.most = 1}, err);
}

static size_t pool_size(kw_context *context, const char *family_part) {
    kw_registry *registry = NULL;
    size_t count = 0;
    if (!kw_registry_create(&registry, context, NULL) && !kw_registry_add_default(registry, NULL)) {
        for (size_t i = 0; i < kw_registry_count(registry); i++) {
            const char *config = kw_registry_config(registry, i);
            count += strstr(config, family_part) && !strstr(config, "generic");
        }
    }
    kw_registry_destroy(&registry);
    return count;
}

static kw_status time_decisions(kw_error *err) {
    static const struct {
        const char *kind, *problem;
    } cases[] = {
        {"conv_fwd fp32 ", "conv_fwd fp32 nhwgc n1 c64 k64 i56x56 f3x3 p1x1"},
        {"conv_fwd bf16 ", "conv_fwd bf16 nhwgc n4 c256 k512 i14x14 f1x1"},
        {"gemm fp32 ", "gemm fp32 rcr m128 n768 k768"},
    };
    session s = {0};
    kw_status status = open_session(&s, "", err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases && !status; i++) {
        answers all = {.most = SIZE_MAX};
        char what[200];
        status = kw_problem_parse(&s.problem, cases[i].problem, err);
        status = status ? status : kw_predictions_visit(s.context, &s.problem, NULL, take_answer, &all, err);
        snprintf(what, sizeof what, "one decision among the %zu kernels of %sthat there are, %zu of which fit, by %s%s",
                 pool_size(s.context, cases[i].kind), cases[i].kind, all.count, *all.model ? "model " : "the analytic estimate", all.model);
        status = status ? status : time_call(what, decide, &s, err);
    }
    close_session(&s);
    return status;
}

static kw_status time_run(kw_error *err) {
    session s = {0};
    float x = 1, w = 2, y = 0;
    kw_status status = open_session(&s, "", err);
    kw_problem problem = small_gemm(0);
    problem.gemm = (kw_gemm_dims){.batch = 1, .m = 1, .n = 1, .k = 1};
    kw_plan_options options = {.size = sizeof(kw_plan_options), .mode = KW_FROZEN};
    status = status ? status : kw_plan_create(&s.plan, s.context, &problem, &options, err);
    if (!status) {
        s.tensors = (kw_tensors){.size = sizeof(kw_tensors),
                                 .x = &x,
                                 .w = &w,
                                 .y = &y,
                                 .workspace = aligned_alloc(64, (size_t)(kw_plan_workspace(s.plan) + 64) / 64 * 64)};
        status = time_call("kw_plan_run of a 1 x 1 x 1 GEMM, kernel included", run, &s, err);
        free(s.tensors.workspace);
    }
    close_session(&s);
    return status;
}

int main(void) {
    kw_error err = {0};
    char folder[] = "/tmp/kw-overhead-XXXXXX", wisdom[64];
    if (!mkdtemp(folder)) {
        fprintf(stderr, "bench_overhead: /tmp cannot be written\n");
        return 3;
    }
    snprintf(wisdom, sizeof wisdom, "%s/wisdom.txt", folder);
    kw_status status = time_wisdom(wisdom, &err);
    status = status ? status : time_decisions(&err);
    status = status ? status : time_run(&err);
    if (status) {
        fprintf(stderr, "bench_overhead: %s\n", err.text);
    }
    unlink(wisdom);
    rmdir(folder);
    return status ? 1 : 0;
}
