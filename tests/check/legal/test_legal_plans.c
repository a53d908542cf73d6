/* test_legal_plans.c: random legal problems through the public interface, on this CPU and on GPUs that it plays: every prediction is finite,
 * and every problem gets a plan. There is no compiler, so that nothing but choosing takes time; a CPU's plan then is the reference kernel's
 * or a cached one's. Nothing is run.
 *
 *   KW_LEGAL_SEED=N    what is drawn (1)
 *   KW_LEGAL_PLANS=N   problems a device (300) */
#include "base/statistics/random.h"
#include "check/legal/legal_problems.h"
#include "check/legal/legal_watch.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <math.h>

typedef struct world {
    char folder[SCRATCH_MAX];
    kw_context *context;
    kw_registry *registry;
    size_t predictions, plans;
} world;

static bool check_prediction(void *user, const kw_prediction *prediction) {
    world *w = user;
    w->predictions++;
    bool good =
        isfinite(prediction->estimate_ns) && prediction->estimate_ns > 0 && !isnan(prediction->expected_ns) && prediction->workspace >= 0;
    if (!good) {
        legal_watch_tell();
        fail_msg("%s: %g ns, estimate %g ns, workspace %lld", prediction->config, prediction->expected_ns, prediction->estimate_ns,
                 (long long)prediction->workspace);
    }
    return true;
}

static void check_plan(world *w, const kw_problem *problem, kw_mode mode) {
    kw_plan *plan = NULL;
    kw_error err = {0};
    kw_plan_options options = {.size = sizeof(kw_plan_options), .mode = mode};
    if (kw_plan_create(&plan, w->context, problem, &options, &err)) {
        legal_watch_tell();
        fail_msg("no plan: %s", err.text);
    }
    assert_true(kw_plan_workspace(plan) >= 0 && *kw_plan_config(plan) && *kw_plan_explain(plan));
    w->plans++;
    kw_plan_destroy(&plan);
}

static void ask_device(const char *device, bool plans) {
    world w = {.context = NULL};
    kw_error err = {0};
    char cache[2 * SCRATCH_MAX];
    uint64_t random = (uint64_t)legal_number("KW_LEGAL_SEED", 1);
    scratch_make(w.folder);
    scratch_path(cache, w.folder, "cache");
    kw_context_options options = {
        .size = sizeof(kw_context_options), .threads = 2, .cache_dir = cache, .data_dir = cache, .wisdom_file = "", .compiler = ""};
    assert_ok(kw_context_open(&w.context, device, &options, &err), &err);
    assert_ok(kw_registry_create(&w.registry, w.context, &err), &err);
    assert_ok(kw_registry_add_default(w.registry, &err), &err);
    int64_t count = legal_number("KW_LEGAL_PLANS", 300);
    for (int64_t i = 0; i < count; i++) {
        kw_config muse;
        size_t index = kw_random_below(&random, kw_registry_count(w.registry));
        assert_ok(kw_config_parse(&muse, kw_registry_config(w.registry, index), &err), &err);
        kw_problem problem = legal_problem_draw(&random, &muse, (legal_sizes)(i % LEGAL_SIZES_COUNT));
        legal_watch_problem(device, &problem);
        assert_ok(kw_predictions_visit(w.context, &problem, NULL, check_prediction, &w, &err), &err);
        if (plans) {
            check_plan(&w, &problem, KW_FROZEN);
            check_plan(&w, &problem, KW_PREDICT);
        }
    }
    print_message("%s: %lld problems, %zu predictions, %zu plans\n", device, (long long)count, w.predictions, w.plans);
    assert_true(w.predictions > 0);
    kw_registry_destroy(&w.registry);
    kw_context_close(&w.context);
    scratch_remove(w.folder);
}

static void every_legal_problem_gets_a_plan_on_this_cpu(void **state) {
    (void)state;
    ask_device("cpu", true);
}

/* A GPU's plan wants its reference kernel compiled: tests/unit/dispatch/test_gpu.c makes plans. */
static void every_legal_problem_is_predicted_on_gpus(void **state) {
    (void)state;
    ask_device("emu:sm_90", false);
    ask_device("emu:gfx942", false);
    ask_device("emu:gfx1250", false);
}

static int start(void **state) {
    (void)state;
    legal_watch_start();
    print_message("KW_LEGAL_SEED=%lld\n", (long long)legal_number("KW_LEGAL_SEED", 1));
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_legal_problem_gets_a_plan_on_this_cpu),
        cmocka_unit_test(every_legal_problem_is_predicted_on_gpus),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
