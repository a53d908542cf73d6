/* test_threads.c: many threads on one context, many contexts in one process, many processes on one set of files. Run it under the
 * thread sanitizer too (ctest label "threads"). */

#include "base/os/process/process.h"
#include "base/os/parallel.h"
#include "support/kw_test.h"
#include "support/rows/stumps.h"
#include "unit/dispatch/toy.h"

#include <stdatomic.h>

enum { THREADS = 8, ROUNDS = 20, PROBLEMS = 4, PROCESSES = 60, PROCESSES_AT_ONCE = 8, LOOK_UP_THREADS = 64 };
/* Look-ups of a thread: KW_LOOK_UPS in the environment, 1,000,000 for a long run; few in CI, where sanitizers make one a hundred times slower. */
enum { LOOK_UPS = 5000 };

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

typedef struct shared {
    toy_world *world;
    kw_context *context; /* NULL: each piece of work opens its own */
    kw_plan *plan;       /* run by all */
    atomic_int failures; /* cmocka's assertions belong to the main thread */
    char chosen[64][KW_CONFIG_TEXT_MAX];
    kw_problem problem[PROBLEMS];
    int64_t look_ups;
} shared;

/* Product of ones: every element of the result is k. */
static bool run_plan(const kw_plan *plan, const kw_problem *problem) {
    int64_t x = kw_problem_elements(problem, KW_X), w = kw_problem_elements(problem, KW_W), y = kw_problem_elements(problem, KW_Y);
    float *memory = aligned_alloc(64, (size_t)(x + w + y + 64) / 16 * 64);
    void *workspace = aligned_alloc(64, (size_t)(kw_plan_workspace(plan) + 64) / 64 * 64);
    for (int64_t i = 0; i < x + w; i++) {
        memory[i] = 1;
    }
    kw_tensors tensors = {.size = sizeof(kw_tensors), .x = memory, .w = memory + x, .y = memory + x + w, .workspace = workspace};
    bool good = kw_plan_run(plan, &tensors, NULL, NULL) == KW_OK;
    for (int64_t i = 0; i < y; i++) {
        good &= memory[x + w + i] == (float)problem->gemm.k;
    }
    free(memory);
    free(workspace);
    return good;
}

static kw_problem nth_problem(int n) {
    static const char *const texts[PROBLEMS] = {TOY_PROBLEM, "gemm fp32 rcr m5 n6 k7", "gemm fp32 rcr m17 n3 k9", "gemm fp32 ccr m8 n8 k8"};
    kw_problem problem;
    kw_problem_parse(&problem, texts[n], NULL);
    return problem;
}

static void use_context(void *user, size_t index) {
    shared *s = user;
    kw_context *context = s->context;
    if (!context && kw_context_open(&context, "cpu", &s->world->options, NULL)) {
        s->failures++;
        return;
    }
    for (int round = 0; round < ROUNDS; round++) {
        kw_problem problem = nth_problem((int)((size_t)round + index) % PROBLEMS);
        kw_plan *plan = NULL;
        kw_plan_options options = {
            .size = sizeof(kw_plan_options), .mode = round % 5 == 4 ? KW_PREDICT : KW_SHORTLIST, .shortlist = round % 3 == 0 ? 2 : 0};
        /* The estimate's best of these may be a wrong kernel: prediction verifies nothing. */
        bool checked = options.mode != KW_PREDICT;
        if (kw_plan_create(&plan, context, &problem, &options, NULL)) {
            s->failures++;
            continue;
        }
        s->failures += checked && !run_plan(plan, &problem);
        s->failures += !strstr(kw_plan_explain(plan), kw_plan_config(plan));
        kw_plan_destroy(&plan);
        if (round % 16 == 11) {
            s->failures += kw_wisdom_forget(context, &problem, NULL, NULL) != KW_OK;
        }
        s->failures += !*kw_context_compiler(context);
    }
    if (!s->context) {
        kw_context_close(&context);
    }
}

static void eight_threads_share_one_context(void **state) {
    shared s = {.world = *state, .context = toy_open(*state)};
    kw_parallel_run(&(kw_parallel){.count = THREADS, .workers = THREADS, .work = use_context, .user = &s});
    assert_int_equal(s.failures, 0);
    kw_context_close(&s.context);
}

static void eight_contexts_share_one_folder(void **state) {
    shared s = {.world = *state};
    kw_parallel_run(&(kw_parallel){.count = THREADS, .workers = THREADS, .work = use_context, .user = &s});
    assert_int_equal(s.failures, 0);
}

/* A model of the toys: everything but the slow ones is alike to it. */
static void save_model(const toy_world *world) {
    static const char *const targets[] = {"cpu:none model=x units=1 lanes=1 registers=1 l1=1 l2=1 l3=1", NULL};
    static const char *const served[] = {"gemm fp32", NULL}, *const families[] = {"test.toy", NULL};
    static const stump trees[] = {{"slow", 10, 5, 9, false}, {"log2_estimate", 12, 0, 1, false}, {NULL, 0, 0, 0, false}};
    char folder[4 * SCRATCH_MAX];
    snprintf(folder, sizeof folder, "%s/models/toys", world->data);
    stumps_save(&(stumps){"time", targets, served, families, trees}, folder);
}

static void eight_threads_ask_one_model(void **state) {
    shared s = {.world = *state};
    save_model(*state);
    s.context = toy_open(*state);
    kw_parallel_run(&(kw_parallel){.count = THREADS, .workers = THREADS, .work = use_context, .user = &s});
    assert_int_equal(s.failures, 0);
    kw_context_close(&s.context);
}

static bool count_prediction(void *user, const kw_prediction *prediction) {
    int *count = user;
    *count += prediction->model && !strcmp(prediction->model, "toys");
    return true;
}

/* Each thread with a registry of its own, which comes, changes and goes while the others are answered. */
static void use_registries(void *user, size_t index) {
    shared *s = user;
    for (int round = 0; round < ROUNDS; round++) {
        kw_registry *registry = NULL;
        kw_problem problem = nth_problem(0);
        int counts[3] = {0};
        bool good = !kw_registry_create(&registry, s->context, NULL) && !kw_registry_add(registry, TOY_SECOND, NULL) &&
                    !kw_predictions_visit(s->context, &problem, registry, count_prediction, &counts[0], NULL) &&
                    !kw_registry_add(registry, TOY_SLOW, NULL) &&
                    !kw_predictions_visit(s->context, &problem, registry, count_prediction, &counts[1], NULL) &&
                    !kw_predictions_visit(s->context, &problem, NULL, count_prediction, &counts[2], NULL);
        s->failures += !good || counts[0] != 1 || counts[1] != 2 || counts[2] != TOY_COUNT;
        kw_registry_destroy(&registry);
        (void)index;
    }
}

static void registries_come_and_go_beside_one_model(void **state) {
    shared s = {.world = *state};
    save_model(*state);
    s.context = toy_open(*state);
    kw_parallel_run(&(kw_parallel){.count = THREADS, .workers = THREADS, .work = use_registries, .user = &s});
    assert_int_equal(s.failures, 0);
    kw_context_close(&s.context);
}

static void run_shared(void *user, size_t index) {
    shared *s = user;
    kw_problem problem = nth_problem(0);
    (void)index;
    for (int round = 0; round < ROUNDS; round++) {
        s->failures += !run_plan(s->plan, &problem);
    }
}

static void eight_threads_run_one_plan(void **state) {
    shared s = {.world = *state, .context = toy_open(*state)};
    kw_problem problem = nth_problem(0);
    assert_int_equal(kw_plan_create(&s.plan, s.context, &problem, NULL, NULL), KW_OK);
    kw_parallel_run(&(kw_parallel){.count = THREADS, .workers = THREADS, .work = run_shared, .user = &s});
    assert_int_equal(s.failures, 0);
    kw_plan_destroy(&s.plan);
    kw_context_close(&s.context);
}

/* Plans of known problems. A plan's config is compared once in a while only, so that look-ups meet look-ups. */
static void look_up_shared(void *user, size_t index) {
    shared *s = user;
    for (int64_t i = 0; i < s->look_ups; i++) {
        size_t n = ((size_t)i + index) % PROBLEMS;
        kw_plan *plan = NULL;
        bool good =
            !kw_plan_create(&plan, s->context, &s->problem[n], NULL, NULL) && (i % 64 || !strcmp(kw_plan_config(plan), s->chosen[n]));
        kw_plan_destroy(&plan);
        if (!good) {
            s->failures++;
            return;
        }
    }
}

static void sixty_four_threads_look_up_known_plans(void **state) {
    const char *asked = getenv("KW_LOOK_UPS");
    shared s = {.world = *state, .context = toy_open(*state), .look_ups = asked ? strtoll(asked, NULL, 10) : LOOK_UPS};
    for (int n = 0; n < PROBLEMS; n++) {
        s.problem[n] = nth_problem(n);
        assert_int_equal(kw_plan_create(&s.plan, s.context, &s.problem[n], NULL, NULL), KW_OK);
        snprintf(s.chosen[n], KW_CONFIG_TEXT_MAX, "%s", kw_plan_config(s.plan));
        kw_plan_destroy(&s.plan);
    }
    kw_parallel_run(&(kw_parallel){.count = LOOK_UP_THREADS, .workers = LOOK_UP_THREADS, .work = look_up_shared, .user = &s});
    assert_int_equal(s.failures, 0);
    kw_context_close(&s.context);
}

static void choose_shared(void *user, size_t index) {
    shared *s = user;
    snprintf(s->chosen[index], KW_CONFIG_TEXT_MAX, "%s", toy_chosen(s->context, NULL));
}

static void threads_that_ask_at_once_measure_once_and_agree(void **state) {
    shared s = {.world = *state, .context = toy_open(*state)};
    kw_parallel_run(&(kw_parallel){.count = THREADS, .workers = THREADS, .work = choose_shared, .user = &s});
    for (int i = 0; i < THREADS; i++) {
        assert_string_equal(s.chosen[i], TOY_BEST);
    }
    assert_int_equal(toy_wisdom_lines(*state), 1);
    kw_context_close(&s.context);
}

/* --- processes ----------------------------------------------------------------------------------------------------- */

/* A child: chooses among near ties and prints what it chose. */
static int choose_alone(const char *cache, const char *wisdom) {
    kw_context *context = NULL;
    kw_registry *registry = NULL;
    kw_plan *plan = NULL;
    kw_error err = {0};
    kw_problem problem = nth_problem(0);
    kw_context_options options = {
        .size = sizeof(kw_context_options), .threads = 1, .cache_dir = cache, .data_dir = "", .wisdom_file = wisdom};
    bool good = !kw_context_open(&context, "cpu", &options, &err) && !kw_registry_create(&registry, context, &err) &&
                !kw_registry_add_default(registry, &err);
    /* Twins of the best: the same code under another name. */
    for (int i = 0; good && i < 6; i++) {
        char text[KW_CONFIG_TEXT_MAX];
        snprintf(text, sizeof text, "test.toy gemm fp32 isa=avx2 math=fma name=%d slow=1 fault=none room=0 packs=0", 20 + i);
        good = !kw_registry_add(registry, text, &err);
    }
    good = good && !kw_plan_create(&plan, context, &problem,
                                   &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_EXHAUSTIVE, .registry = registry}, &err);
    printf("%s\n", good ? kw_plan_config(plan) : err.text);
    kw_plan_destroy(&plan);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
    return !good;
}

static void choose_in_child(void *user, size_t index) {
    shared *s = user;
    const char *const argv[] = {"/proc/self/exe", s->world->cache, s->world->wisdom, NULL};
    kw_process_result result;
    kw_text output = {0};
    if (kw_process_run(argv, 120000000000, &output, &result, NULL) || result.exit_code) {
        print_error("child %zu fails: %s\n", index, kw_text_string(&output));
        s->failures++;
    }
    snprintf(s->chosen[index], KW_CONFIG_TEXT_MAX, "%s", kw_text_string(&output));
    kw_text_drop(&output);
}

/* All start without wisdom, all measure: the first to write decides for all. What a busy machine says would be provisional, and measured
 * again by the next. */
static void processes_that_share_wisdom_choose_alike(void **state) {
    shared s = {.world = *state};
    setenv("KW_SPREAD_MAX", TOY_ANY_SPREAD, 1);
    kw_parallel_run(&(kw_parallel){.count = PROCESSES, .workers = PROCESSES_AT_ONCE, .work = choose_in_child, .user = &s});
    unsetenv("KW_SPREAD_MAX");
    assert_int_equal(s.failures, 0);
    for (int i = 1; i < PROCESSES; i++) {
        assert_string_equal(s.chosen[i], s.chosen[0]);
    }
    assert_int_equal(toy_wisdom_lines(*state), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv) {
    if (argc == 3) {
        return choose_alone(argv[1], argv[2]);
    }
    const struct CMUnitTest tests[] = {
        TEST(eight_threads_share_one_context),
        TEST(eight_contexts_share_one_folder),
        TEST(eight_threads_ask_one_model),
        TEST(registries_come_and_go_beside_one_model),
        TEST(eight_threads_run_one_plan),
        TEST(sixty_four_threads_look_up_known_plans),
        TEST(threads_that_ask_at_once_measure_once_and_agree),
        TEST(processes_that_share_wisdom_choose_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
