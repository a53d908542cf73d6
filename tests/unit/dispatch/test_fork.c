/* test_fork.c: a host whose threads plan and run forks. The child, which has none of them and whose inherited locks may be closed for ever,
 * is refused what needs them, runs inherited plans, and plans anew on a context of its own; it never waits for ever. */

#include "support/kw_test.h"
#include "unit/dispatch/toy.h"

#include <kernelwright.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

/* The sanitizers' allocators do not survive a fork beside threads that allocate: there the host forks while it has no other threads. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifdef SANITIZED
enum { THREADS = 0, FORKS = 3 };
#else
enum { THREADS = 4, FORKS = 40 };
#endif
enum { PATIENCE_S = 60 };

static int setup(void **state) {
    *state = calloc(1, sizeof(toy_world));
    toy_world_make(*state);
    return 0;
}

static int teardown(void **state) {
    toy_world_drop(*state);
    free(*state);
    return 0;
}

typedef struct host {
    toy_world *world;
    kw_context *context;
    kw_registry *registry;
    kw_plan *plan; /* of TOY_PROBLEM */
    atomic_bool over;
} host;

static kw_status plan_on(kw_plan **plan, kw_context *context) {
    kw_problem problem = toy_problem(TOY_PROBLEM);
    return kw_plan_create(plan, context, &problem, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT}, NULL);
}

/* Some threads on the shared context, some on contexts of their own, which load their kernels each time. */
static void *plan_often(void *user) {
    host *h = user;
    for (int i = 0; !atomic_load(&h->over); i++) {
        kw_context *own = NULL;
        kw_plan *plan = NULL;
        if (i % 3 && kw_context_open(&own, "cpu", &h->world->options, NULL)) {
            return h;
        }
        if (plan_on(&plan, own ? own : h->context)) {
            return h;
        }
        kw_plan_destroy(&plan);
        kw_context_close(&own);
    }
    return NULL;
}

/* A product of ones. */
static bool is_plan_right(const kw_plan *plan) {
    static _Alignas(64) float x[24 * 16], w[20 * 16], y[24 * 20];
    kw_tensors tensors = {.size = sizeof(kw_tensors),
                          .x = x,
                          .w = w,
                          .y = y,
                          .workspace = aligned_alloc(64, (size_t)(kw_plan_workspace(plan) + 64) / 64 * 64)};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        x[i] = 1;
    }
    for (size_t i = 0; i < sizeof w / sizeof *w; i++) {
        w[i] = 1;
    }
    bool right = !kw_plan_run(plan, &tensors, NULL, NULL);
    for (size_t i = 0; i < sizeof y / sizeof *y; i++) {
        right &= y[i] == 16;
    }
    free(tensors.workspace);
    return right;
}

static bool count_prediction(void *user, const kw_prediction *prediction) {
    (void)prediction;
    ++*(int *)user;
    return true;
}

/* Each entry that takes the context, one bit each for those that did not refuse. */
static int entries_that_do_not_refuse(host *h) {
    kw_problem problem = toy_problem(TOY_PROBLEM);
    kw_plan *plan = NULL;
    kw_registry *registry = NULL;
    kw_paths paths;
    kw_record record;
    kw_error err = {0};
    int count = 0;
    const bool refused[] = {
        kw_plan_create(&plan, h->context, &problem, NULL, &err) == KW_FAILED && !plan && strstr(err.text, "forked"),
        kw_predictions_visit(h->context, &problem, NULL, count_prediction, &count, NULL) == KW_FAILED && !count,
        kw_registry_create(&registry, h->context, NULL) == KW_FAILED && !registry,
        kw_registry_add_default(h->registry, NULL) == KW_FAILED,
        kw_registry_add(h->registry, TOY_SECOND, NULL) == KW_FAILED,
        kw_registry_add_reference(h->registry, &problem, NULL) == KW_FAILED,
        kw_registry_load(h->registry, "/dev/null", NULL) == KW_FAILED,
        kw_registry_build(h->registry, NULL, NULL, NULL) == KW_FAILED,
        kw_measure(&record, h->registry, 0, &problem, NULL, NULL) == KW_FAILED,
        kw_context_paths(&paths, h->context, NULL) == KW_FAILED,
        kw_cache_clear(h->context, NULL, NULL) == KW_FAILED,
        kw_wisdom_forget(h->context, &problem, NULL, NULL) == KW_FAILED,
        !*kw_context_compiler(h->context) && !*kw_context_cache_note(h->context),
        !*kw_plan_explain(h->plan),
        kw_context_peak(h->context, KW_FP32) <= 0 && kw_context_bandwidth(h->context) <= 0,
    };
    int bits = 0;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        bits |= !refused[i] << i;
    }
    return bits;
}

static int live_as_child(host *h) {
    alarm(PATIENCE_S);
    int bits = entries_that_do_not_refuse(h);
    if (bits) {
        fprintf(stderr, "entries that do not refuse: %#x\n", (unsigned)bits);
        return 1;
    }
    if (!is_plan_right(h->plan)) {
        return 2;
    }
    kw_plan_destroy(&h->plan);
    kw_registry_destroy(&h->registry);
    kw_context_close(&h->context);
    kw_context *own = NULL;
    kw_plan *plan = NULL;
    if (h->plan || h->registry || h->context || kw_context_open(&own, "cpu", &h->world->options, NULL) || plan_on(&plan, own)) {
        return 3;
    }
    bool right = is_plan_right(plan);
    kw_plan_destroy(&plan);
    kw_context_close(&own);
    return right ? 0 : 4;
}

static void a_child_of_a_busy_host_is_refused_or_served(void **state) {
    pthread_t threads[THREADS + 1];
    host h = {.world = *state};
    h.context = toy_open(h.world);
    /* The fast wrong kernel would be predicted: this world has only the right ones. */
    assert_int_equal(kw_registry_create(&h.registry, h.context, NULL), KW_OK);
    assert_int_equal(kw_registry_add(h.registry, TOY_BEST, NULL), KW_OK);
    kw_problem problem = toy_problem(TOY_PROBLEM);
    assert_int_equal(
        kw_plan_create(&h.plan, h.context, &problem, &(kw_plan_options){.size = sizeof(kw_plan_options), .registry = h.registry}, NULL),
        KW_OK);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, plan_often, &h), 0);
    }
    int bad = 0, last = 0;
    for (int i = 0; i < FORKS; i++) {
        int status = 0;
        usleep((useconds_t)(i * 37 % 11) * 300);
        pid_t child = fork();
        if (!child) {
            _exit(live_as_child(&h));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        bad += status != 0;
        last = status ? status : last;
    }
    atomic_store(&h.over, true);
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    if (bad) {
        fail_msg("%d of %d children failed or hung; status %#x", bad, FORKS, (unsigned)last);
    }
    kw_plan_destroy(&h.plan);
    kw_registry_destroy(&h.registry);
    kw_context_close(&h.context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_child_of_a_busy_host_is_refused_or_served, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
