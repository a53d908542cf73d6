/* grouped.c: a grouped product beside one plan for each of its groups, on any device.
 *
 *   bench_grouped [--device NAME] [--mode predict|tune] [--threads N] [--alone 1] [--unequal 1] [--queued 1] [--every 1] [--rounds N] [--seed N] [--cache DIR] PROBLEM...
 *
 * --unequal 1: n and k of each group are drawn too, a half to one and a half of the problem's in steps of 8, and the groups' plans in one call
 * (kw_plans_run) stand in the place of the grouped product, joined where they join (kw_plans_join); on a GPU by the clock around 20 rounds, each of
 * which waits for its end. --queued 1, on a GPU: the other way queues its launches without a wait between them, and both wait once, behind 20 rounds, so
 * that the time is the device's. --every 1: and each kernel of the catalog that joins all of them, best of the rounds.
 *
 * For each problem ("gemm bf16 g8 m128 n512 k512") groups are drawn whose rows go from some to seven times as many, m in all; each has a
 * plan of its own, for its own count of rows. All weights are packed beforehand, all plans chosen in the same way. The two ways are
 * run in turns, the first of each round in turn too: a row has the median of both, and of the rounds' ratios. On a CPU each way is timed by
 * the clock around its calls; on a GPU by the device's own around 20 of each, of the groups added up, so that no gap between their launches
 * counts. Both ways must have given the same bytes: the data are small whole numbers. --alone 1, on a CPU whose cores others use: what each
 * call would take if they did not, of each stage the longest share by its thread's own processor clock; waking threads is not counted. */
#include "backend/backend.h"
#include "base/os/clock.h"
#include "base/statistics/random.h"
#include "dispatch/plan.h"
#include "measure/data/fill.h"
#include "problem/groups/groups.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GPU_CALLS = 20, ROUNDS_MAX = 1000 };

typedef struct request {
    const char *device, *mode, *cache;
    int rounds, seed, threads, alone, unequal, queued, every;
} request;

/* A way of doing it: plans that run one after the other. */
typedef struct way {
    kw_plan **plan;
    kw_tensors *tensors;
    int count;
    bool together;         /* in one call */
    const kw_plan **plans; /* as that wants them */
    const kw_tensors **each;
    double ns[ROUNDS_MAX];
} way;

typedef struct session {
    const request *request;
    const kw_backend *backend;
    kw_device *device; /* for memory */
    kw_context *context;
    bool gpu;
} session;

static int fail(const char *what, const kw_error *err) {
    fprintf(stderr, "bench_grouped: %s: %s\n", what, err->text);
    return 1;
}

/* Memory of the device, with what is at data; NULL: nothing yet. */
static void *take(const session *s, int64_t bytes, const void *data) {
    void *memory = NULL;
    kw_error err = {0};
    if (s->backend->alloc(s->device, (size_t)bytes + 64, &memory, &err) ||
        (data && s->backend->copy(s->device, memory, data, (size_t)bytes, &err))) {
        exit(fail("memory", &err));
    }
    return memory;
}

static void *take_tensor(const session *s, const kw_problem *problem, const kw_fill *fill, kw_tensor tensor, int64_t *bytes) {
    int64_t elements = kw_problem_elements(problem, tensor);
    *bytes = elements * (int64_t)kw_dtype_size(kw_problem_dtype(problem, tensor));
    void *host = calloc(1, (size_t)*bytes);
    if (!host) {
        exit(fail("memory", &(kw_error){.text = "there is none for a tensor"}));
    }
    if (tensor != KW_Y) {
        kw_fill_tensor(fill, problem, tensor, 0, elements, host);
    }
    void *memory = take(s, *bytes, host);
    free(host);
    return memory;
}

static kw_status add_plan(way *w, const session *s, const kw_problem *problem, const kw_tensors *tensors, kw_error *err) {
    kw_plan_options options = {.size = sizeof options, .mode = strcmp(s->request->mode, "tune") ? KW_PREDICT : KW_SHORTLIST};
    kw_plan *plan = NULL;
    kw_status status = kw_plan_create(&plan, s->context, problem, &options, err);
    status = status ? status : kw_plan_pack_weights(plan, tensors->w, err);
    if (!status) {
        w->plan[w->count] = plan;
        w->tensors[w->count] = *tensors;
        w->tensors[w->count++].workspace = take(s, kw_plan_workspace(plan), NULL);
    }
    return status;
}

static kw_status run_way(const way *w, kw_error *err) {
    kw_status status = KW_OK;
    if (w->together) {
        return kw_plans_run(w->plans, w->each, (size_t)w->count, NULL, err);
    }
    for (int i = 0; i < w->count && !status; i++) {
        status = kw_plan_run(w->plan[i], &w->tensors[i], NULL, err);
    }
    return status;
}

static kw_status time_way_alone(double *ns, const way *w, const session *s, kw_error *err) {
    kw_status status = KW_OK;
    *ns = 0;
    for (int i = 0; i < w->count && !status; i++) {
        const kw_plan_impl *impl = w->plan[i]->impl;
        const kw_tensors *t = &w->tensors[i];
        char *workspace = t->workspace;
        double one = 0;
        kw_launch_memory memory = {.tensor = {t->x, t->w, t->y},
                                   .ends = t->ends,
                                   .packed = w->plan[i]->packed,
                                   .shared = workspace + impl->layout_packed.shared,
                                   .threads = workspace + impl->layout_packed.threads};
        status = s->backend->run_alone(impl->bound, &memory, KW_RUN_REST, &one, err);
        *ns += one;
    }
    return status;
}

/* Queues all of it: what joins in launches of several. */
static kw_status queue_way(const way *w, const session *s, kw_error *err) {
    kw_status status = KW_OK;
    bool done[KW_TOGETHER_MAX] = {false};
    for (int i = 0; i < w->count && !status; i++) {
        kw_backend_call calls[KW_BACKEND_JOINED_MAX];
        const kw_joint *joint = w->together ? w->plan[i]->impl->joint : NULL;
        size_t taken = 0;
        for (int k = done[i] ? w->count : i; k < w->count && taken < (joint ? KW_BACKEND_JOINED_MAX : 1); k++) {
            const kw_plan *plan = w->plan[k];
            if (!done[k] && (!joint || (plan->impl->joint && plan->impl->joint->loaded == joint->loaded))) {
                const kw_tensors *t = &w->tensors[k];
                calls[taken] = (kw_backend_call){.bound = joint ? plan->impl->joint->bound : plan->impl->bound, .parts = KW_RUN_ALL};
                calls[taken++].memory = (kw_launch_memory){.tensor = {t->x, t->w, t->y}, .packed = plan->packed, .shared = t->workspace};
                done[k] = true;
            }
        }
        if (taken) {
            status = joint
                         ? s->backend->run_joined(calls, taken, NULL, err)
                         : s->backend->run(calls[0].bound, &calls[0].memory, calls[0].memory.packed ? KW_RUN_REST : KW_RUN_ALL, NULL, err);
        }
    }
    return status;
}

static kw_status time_way(double *ns, const way *w, const session *s, kw_error *err) {
    kw_status status = KW_OK;
    bool gpu = s->gpu;
    if (s->request->alone && s->backend->run_alone) {
        return time_way_alone(ns, w, s, err);
    }
    int64_t start = kw_clock_ns();
    *ns = 0;
    if (gpu && s->request->unequal) {
        for (int i = 0; i < GPU_CALLS && !status; i++) {
            status = s->request->queued ? queue_way(w, s, err) : run_way(w, err);
        }
        status = status || !s->request->queued || !s->backend->sync ? status : s->backend->sync(s->context->device, err);
        *ns = (double)(kw_clock_ns() - start) / GPU_CALLS;
        return status;
    }
    for (int i = 0; i < w->count && gpu && !status; i++) {
        double one;
        status = kw_plan_time(&one, w->plan[i], &w->tensors[i], GPU_CALLS, err);
        *ns += one;
    }
    if (!gpu) {
        status = run_way(w, err);
        *ns = (double)(kw_clock_ns() - start);
    }
    return status;
}

static int order(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, order);
    return values[count / 2];
}

/* The result as it stands, and then cleared. */
static kw_status take_result(unsigned char *to, const session *s, void *y, int64_t bytes, kw_error *err) {
    kw_status status = s->backend->copy(s->device, to, y, (size_t)bytes, err);
    unsigned char *zeros = calloc(1, (size_t)bytes);
    status = status || !zeros ? status : s->backend->copy(s->device, y, zeros, (size_t)bytes, err);
    free(zeros);
    return status;
}

static kw_status compare_ways(const session *s, const way ways[2], void *y, int64_t bytes, kw_error *err) {
    unsigned char *result[2] = {malloc((size_t)bytes), malloc((size_t)bytes)};
    kw_status status = result[0] && result[1] ? KW_OK : kw_fail_memory(err, "two results");
    for (int i = 0; i < 2 && !status; i++) {
        status = run_way(&ways[i], err);
        status = status ? status : take_result(result[i], s, y, bytes, err);
    }
    if (!status && memcmp(result[0], result[1], (size_t)bytes)) {
        status = kw_fail(err, KW_FAILED, "the two ways have different results");
    }
    free(result[0]);
    free(result[1]);
    return status;
}

static kw_status time_ways(const session *s, way ways[2], const char *text, kw_error *err) {
    int rounds = s->request->rounds;
    double *ratio = calloc((size_t)rounds, sizeof *ratio);
    kw_status status = ratio ? KW_OK : kw_fail_memory(err, "ratios");
    for (int round = 0; round < rounds && !status; round++) {
        for (int i = 0; i < 2 && !status; i++) {
            way *w = &ways[(round + i) % 2];
            status = time_way(&w->ns[round], w, s, err);
        }
        ratio[round] = status ? 0 : ways[1].ns[round] / ways[0].ns[round];
    }
    if (!status) {
        double typical = median(ratio, rounds);
        printf("%9.1f us %s %9.1f us in %2d calls  %5.2f times as fast (middle half %.2f to %.2f)  %s | %s\n",
               median(ways[0].ns, rounds) / 1e3, ways[0].together ? "together" : "grouped", median(ways[1].ns, rounds) / 1e3, ways[1].count,
               typical, ratio[rounds / 4], ratio[rounds * 3 / 4], text, kw_plan_config(ways[0].plan[0]));
        fflush(stdout);
    }
    free(ratio);
    return status;
}

static void close_way(way *w, const session *s) {
    for (int i = 0; i < w->count; i++) {
        kw_plan_destroy(&w->plan[i]);
        s->backend->release(s->device, w->tensors[i].workspace);
    }
    free(w->plan);
    free(w->tensors);
    free(w->plans);
    free(w->each);
}

static void draw_ends(int32_t *ends, const kw_problem *problem, uint64_t seed) {
    int64_t sum = 0, at = 0, groups = problem->gemm.groups;
    uint64_t again = seed;
    for (int64_t g = 0; g < groups; g++) {
        sum += 1 + (int64_t)kw_random_below(&again, 7);
    }
    for (int64_t g = 0; g < groups; g++) {
        at += 1 + (int64_t)kw_random_below(&seed, 7);
        ends[g] = (int32_t)(problem->gemm.m * at / sum);
    }
}

/* Both ways run the same plans of the same tensors. */
static kw_status add_unequal(way ways[2], const session *s, const kw_problem *problem, kw_error *err) {
    const kw_gemm_dims *d = &problem->gemm;
    uint64_t seed = (uint64_t)s->request->seed;
    int32_t *ends = calloc((size_t)d->groups, sizeof *ends);
    kw_status status = ends ? KW_OK : kw_fail_memory(err, "ends");
    if (!status) {
        draw_ends(ends, problem, seed);
    }
    for (int64_t g = 0; g < d->groups && !status; g++) {
        kw_problem one = *problem;
        kw_tensors tensors = {.size = sizeof tensors};
        void **const place[KW_TENSOR_COUNT] = {&tensors.x, &tensors.w, &tensors.y};
        one.gemm = (kw_gemm_dims){.batch = 1, .m = ends[g] - (g ? ends[g - 1] : 0)};
        int64_t *const drawn[] = {&one.gemm.n, &one.gemm.k}, of[] = {d->n, d->k};
        for (int i = 0; i < 2; i++) {
            *drawn[i] = (of[i] / 2 + (int64_t)kw_random_below(&seed, (uint64_t)of[i] + 1)) / 8 * 8 + 8;
        }
        if (!one.gemm.m) {
            continue;
        }
        kw_fill fill = kw_fill_exact(&one, seed);
        for (int t = 0; t < KW_TENSOR_COUNT; t++) {
            int64_t bytes;
            *place[t] = take_tensor(s, &one, &fill, (kw_tensor)t, &bytes);
        }
        for (int i = 0; i < 2 && !status; i++) {
            status = add_plan(&ways[i], s, &one, &tensors, err);
        }
    }
    free(ends);
    return status;
}

static kw_status compare_unequal(const session *s, const way ways[2], kw_error *err) {
    kw_status status = KW_OK;
    enum { BOTH = 2 };
    for (int i = 0; i < ways[0].count && !status; i++) {
        const kw_problem *one = &ways[0].plan[i]->impl->key.problem;
        int64_t bytes = kw_problem_elements(one, KW_Y) * (int64_t)kw_dtype_size(kw_problem_dtype(one, KW_Y));
        unsigned char *result[BOTH] = {malloc((size_t)bytes), malloc((size_t)bytes)};
        status = result[0] && result[1] ? KW_OK : kw_fail_memory(err, "two results");
        for (int k = 0; k < BOTH && !status; k++) {
            status = k ? kw_plan_run(ways[1].plan[i], &ways[1].tensors[i], NULL, err) : KW_OK;
            status = status ? status : take_result(result[k], s, ways[0].tensors[i].y, bytes, err);
        }
        if (!status && memcmp(result[0], result[1], (size_t)bytes)) {
            status = kw_fail(err, KW_FAILED, "the two ways have different results");
        }
        free(result[0]);
        free(result[1]);
    }
    return status;
}

/* Another kernel for what joins. */
static kw_status join_by(way *w, const session *s, const kw_config *config, kw_error *err) {
    kw_status status = KW_OK;
    for (int i = 0; i < w->count && !status; i++) {
        kw_plan_impl *impl = w->plan[i]->impl;
        kw_config special = *config;
        kw_joint *joint = calloc(1, sizeof *joint);
        kw_launch launch;
        special.wants = (kw_wants){.joined = true};
        status = kw_config_serves(&special, &special, &impl->key.problem, s->context->target, err);
        if (!joint || status) {
            free(joint);
            return status ? status : kw_fail_memory(err, "a joint");
        }
        kw_config_launch(&special, &impl->key.problem, s->context->target, &launch);
        status = kw_kernel_cache_acquire(&joint->loaded, &s->context->kernel_cache, &special, true, err);
        status =
            status ? status : s->backend->bind(s->context->device, joint->loaded->kernel, &impl->key.problem, &launch, &joint->bound, err);
        if (status) {
            free(joint);
            return status;
        }
        kw_joint *before = impl->joint;
        impl->joint = joint;
        kw_joint_drop(before, &s->context->kernel_cache);
    }
    return status;
}

static void try_every(way *w, const session *s) {
    const kw_registry *registry;
    kw_error err = {0};
    if (kw_registry_default(&registry, s->context, &err)) {
        return;
    }
    for (size_t i = 0; i < registry->catalog.count; i++) {
        const kw_config *config = &registry->catalog.configs[i];
        char text[KW_CONFIG_TEXT_MAX];
        double best = INFINITY, ns = 0;
        if (!config->family->joins || config->op != KW_GEMM || join_by(w, s, config, &err)) {
            continue;
        }
        kw_status status = KW_OK;
        for (int round = 0; round < s->request->rounds && !status; round++) {
            status = time_way(&ns, w, s, &err);
            best = ns < best ? ns : best;
        }
        kw_config_print(text, sizeof text, config);
        printf("%9.1f us by %s%s\n", best / 1e3, text, status ? err.text : "");
        fflush(stdout);
    }
}

static kw_status measure_unequal(const session *s, const char *text, kw_error *err) {
    static way ways[2];
    kw_problem problem;
    kw_status status = kw_problem_parse(&problem, text, err);
    if (status || !kw_problem_is_grouped(&problem) || problem.epilogue.count) {
        return status ? status : kw_fail(err, KW_ILLEGAL, "no grouped product without an epilogue, e.g. gemm fp32 g8 m128 n512 k512");
    }
    size_t most = (size_t)problem.gemm.groups;
    for (int i = 0; i < 2; i++) {
        ways[i] = (way){.plan = calloc(most, sizeof(kw_plan *)), .tensors = calloc(most, sizeof(kw_tensors)), .together = i == 0};
        ways[i].plans = calloc(most, sizeof(kw_plan *)), ways[i].each = calloc(most, sizeof(kw_tensors *));
        status = ways[i].plan && ways[i].tensors && ways[i].plans && ways[i].each ? status : kw_fail_memory(err, "plans");
    }
    status = status ? status : add_unequal(ways, s, &problem, err);
    for (int i = 0; i < ways[0].count; i++) {
        ways[0].plans[i] = ways[0].plan[i];
        ways[0].each[i] = &ways[0].tensors[i];
    }
    char *joined = NULL;
    status = status ? status : kw_plans_join(&joined, ways[0].plans, (size_t)ways[0].count, err);
    if (joined && s->gpu) {
        printf("%s", joined);
    }
    kw_free(joined);
    status = status ? status : run_way(&ways[0], err);
    status = status ? status : compare_unequal(s, ways, err);
    status = status ? status : time_ways(s, ways, text, err);
    if (!status && s->request->every && s->gpu) {
        try_every(&ways[0], s);
    }
    for (int i = 0; i < ways[0].count; i++) {
        const kw_tensors *t = &ways[0].tensors[i];
        s->backend->release(s->device, t->x);
        s->backend->release(s->device, t->w);
        s->backend->release(s->device, t->y);
    }
    for (int i = 0; i < 2; i++) {
        close_way(&ways[i], s);
    }
    return status;
}

static kw_status measure(const session *s, const char *text, kw_error *err) {
    static way ways[2]; /* grouped; one by one */
    kw_problem problem;
    kw_status status = kw_problem_parse(&problem, text, err);
    if (status || !kw_problem_is_grouped(&problem) || problem.epilogue.count) {
        return status ? status : kw_fail(err, KW_ILLEGAL, "no grouped product without an epilogue, e.g. gemm fp32 g8 m128 n512 k512");
    }
    int64_t groups = problem.gemm.groups, bytes[KW_TENSOR_COUNT];
    kw_fill fill = kw_fill_exact(&problem, (uint64_t)s->request->seed);
    int32_t *ends = calloc((size_t)groups, sizeof *ends);
    kw_tensors all = {.size = sizeof all};
    void **const place[KW_TENSOR_COUNT] = {&all.x, &all.w, &all.y};
    if (!ends) {
        return kw_fail_memory(err, "ends");
    }
    draw_ends(ends, &problem, (uint64_t)s->request->seed);
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        *place[t] = take_tensor(s, &problem, &fill, (kw_tensor)t, &bytes[t]);
    }
    all.ends = take(s, groups * (int64_t)sizeof *ends, ends);
    for (int i = 0; i < 2; i++) {
        size_t most = i ? (size_t)groups : 1;
        ways[i] = (way){.plan = calloc(most, sizeof(kw_plan *)), .tensors = calloc(most, sizeof(kw_tensors))};
        status = ways[i].plan && ways[i].tensors ? status : kw_fail_memory(err, "plans");
    }
    status = status ? status : add_plan(&ways[0], s, &problem, &all, err);
    kw_group_memory whole = {{all.x, all.w, all.y}, {0}};
    for (int64_t g = 0; g < groups && !status; g++) {
        kw_problem one;
        kw_group_memory own;
        if (ends[g] == (g ? ends[g - 1] : 0)) {
            continue;
        }
        kw_group_product(&one, &own, &problem, ends, g, &whole);
        kw_tensors tensors = {.size = sizeof tensors};
        tensors.x = (void *)(uintptr_t)own.tensor[KW_X];
        tensors.w = (void *)(uintptr_t)own.tensor[KW_W];
        tensors.y = (void *)(uintptr_t)own.tensor[KW_Y];
        status = add_plan(&ways[1], s, &one, &tensors, err);
    }
    status = status ? status : compare_ways(s, ways, all.y, bytes[KW_Y], err);
    status = status ? status : time_ways(s, ways, text, err);
    for (int i = 0; i < 2; i++) {
        close_way(&ways[i], s);
    }
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        s->backend->release(s->device, *place[t]);
    }
    s->backend->release(s->device, (void *)(uintptr_t)all.ends);
    free(ends);
    return status;
}

int main(int argc, char **argv) {
    request q = {.device = "cpu", .mode = "tune", .cache = "build-kernels", .rounds = 101, .seed = 1};
    int first = 1, index, wrong = 0;
    kw_error err = {0};
    for (; first + 1 < argc && !strncmp(argv[first], "--", 2); first += 2) {
        const char *name = argv[first] + 2, *value = argv[first + 1];
        const struct {
            const char *name, **text;
            int *number;
        } options[] = {{"device", &q.device, NULL},   {"mode", &q.mode, NULL},   {"cache", &q.cache, NULL},
                       {"threads", NULL, &q.threads}, {"alone", NULL, &q.alone}, {"unequal", NULL, &q.unequal},
                       {"queued", NULL, &q.queued},   {"every", NULL, &q.every}, {"rounds", NULL, &q.rounds},
                       {"seed", NULL, &q.seed}};
        bool known = false;
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            if (!strcmp(name, options[i].name)) {
                known = true;
                if (options[i].text) {
                    *options[i].text = value;
                } else {
                    *options[i].number = atoi(value);
                }
            }
        }
        if (!known) {
            fprintf(stderr,
                    "bench_grouped: --%s is not known; options are device mode cache threads alone unequal queued every rounds seed\n",
                    name);
            return 2;
        }
    }
    if (first == argc || q.rounds < 1 || q.rounds > ROUNDS_MAX) {
        fprintf(stderr,
                "usage: bench_grouped [--device NAME] [--mode predict|tune] [--threads N] [--alone 1] [--unequal 1] [--rounds 1..%d] "
                "[--seed N] [--cache "
                "DIR] "
                "PROBLEM...\n",
                ROUNDS_MAX);
        return 2;
    }
    session s = {.request = &q};
    kw_context_options options = {.size = sizeof options, .threads = q.threads, .cache_dir = q.cache, .data_dir = q.cache};
    if (kw_backend_find(&s.backend, &index, q.device, &err) || s.backend->open(&s.device, index, 0, &err) ||
        kw_context_open(&s.context, q.device, &options, &err)) {
        return fail(q.device, &err);
    }
    s.gpu = kw_target_is_gpu(s.backend->target(s.device));
    for (int i = first; i < argc; i++) {
        wrong += (q.unequal ? measure_unequal : measure)(&s, argv[i], &err) ? fail(argv[i], &err) : 0;
    }
    kw_context_close(&s.context);
    s.backend->close(&s.device);
    return wrong > 0;
}
