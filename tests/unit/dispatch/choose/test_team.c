/* test_team.c: how many threads a kernel runs on: tried are those whose work is worth it, the smallest that is as good wins, wisdom keeps it,
 * plans run on it. The times of teams are the test's own: kw_bench_time is wrapped. */
#include "unit/dispatch/toy.h"

#include "measure/measure.h"
#include "support/kw_test.h"

#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 8, TEAMS_MAX = 4 };

/* Thread counts that were asked for, and what each is said to take; 0: a kernel that gave up. */
static struct {
    double ns[THREADS + 1];
    int32_t teams[TEAMS_MAX];
    size_t count;
} timed;

kw_status __real_kw_bench_time(kw_bench *bench, const kw_kernel *const kernels[], const kw_config *const configs[], size_t count,
                               const kw_timing_options *options, kw_record records[], kw_error *err);
kw_status __wrap_kw_bench_time(kw_bench *bench, const kw_kernel *const kernels[], const kw_config *const configs[], size_t count,
                               const kw_timing_options *options, kw_record records[], kw_error *err);

kw_status __wrap_kw_bench_time(kw_bench *bench, const kw_kernel *const kernels[], const kw_config *const configs[], size_t count,
                               const kw_timing_options *options, kw_record records[], kw_error *err) {
    if (!options->teams) { /* the toy that does least wins, whatever else the machine does */
        kw_timing_options patient = *options;
        patient.give_up_ns = 0;
        kw_status status = __real_kw_bench_time(bench, kernels, configs, count, &patient, records, err);
        for (size_t i = 0; i < count && !status; i++) {
            records[i].time_ns = 1000 * strtod(strstr(records[i].config, "slow=") + 5, NULL);
            records[i].spread_ns = 0;
        }
        return status;
    }
    assert_true(count <= TEAMS_MAX);
    timed.count = count;
    for (size_t i = 0; i < count; i++) {
        timed.teams[i] = options->teams[i];
        records[i].time_ns = timed.ns[options->teams[i]];
        records[i].samples = records[i].time_ns > 0;
    }
    return KW_OK;
}

/* The host's loop tells how many threads a plan takes. */
static void count_team(void *pool, int32_t count, void (*task)(void *work, int32_t index), void *work) {
    *(int32_t *)pool = count;
    for (int32_t i = 0; i < count; i++) {
        task(work, i);
    }
}

/* The threads that the plan's loops ask for; 1 where it asks for none. */
static int32_t team_of(const kw_plan *plan, int32_t *pool) {
    enum { FLOATS = 128 * 128 };
    kw_error err = {0};
    float *memory = calloc(3 * FLOATS, sizeof *memory);
    void *workspace = aligned_alloc(64, (size_t)(kw_plan_workspace(plan) + 64) / 64 * 64);
    assert_true(memory && workspace);
    kw_tensors tensors = {.size = sizeof tensors, .x = memory, .w = memory + FLOATS, .y = memory + 2 * FLOATS, .workspace = workspace};
    *pool = 1;
    assert_ok(kw_plan_run(plan, &tensors, NULL, &err), &err);
    free(memory);
    free(workspace);
    return *pool;
}

static kw_plan *plan_of(kw_context *context, const char *text, kw_mode mode) {
    kw_error err = {0};
    kw_plan *plan = NULL;
    kw_problem problem = toy_problem(text);
    kw_plan_options options = {.size = sizeof options, .mode = mode};
    assert_ok(kw_plan_create(&plan, context, &problem, &options, &err), &err);
    return plan;
}

static int setup(void **state) {
    static toy_world world;
    static int32_t pool;
    toy_world_make(&world);
    world.options.threads = THREADS;
    world.options.parallel_for = count_team;
    world.options.pool = &pool;
    *state = &world;
    timed.count = 0;
    return 0;
}

static int teardown(void **state) {
    toy_world_drop(*state);
    return 0;
}

#define SMALL "gemm fp32 rcr m64 n64 k64" /* four threads' worth of work */

static void the_smallest_of_the_best_teams_wins_and_stays(void **state) {
    static const struct {
        double ns[THREADS + 1];
        int32_t best;
    } cases[] = {
        {{[1] = 100, [2] = 60, [4] = 40, [8] = 30}, 8}, {{[1] = 100, [2] = 60, [4] = 58, [8] = 57}, 2},
        {{[1] = 100, [2] = 97, [4] = 96, [8] = 99}, 1}, {{[1] = 100, [2] = 120, [4] = 60, [8] = 90}, 4},
        {{[1] = 10, [2] = 20, [4] = 30, [8] = 40}, 1},
    };
    toy_world *world = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char runs[64], fields[16];
        unlink(world->wisdom);
        memcpy(timed.ns, cases[i].ns, sizeof timed.ns);
        kw_context *context = toy_open(world);
        kw_plan *plan = plan_of(context, SMALL, KW_SHORTLIST);
        assert_int_equal(timed.count, 4);
        for (size_t t = 0; t < timed.count; t++) {
            assert_int_equal(timed.teams[t], 1 << t);
        }
        assert_int_equal(team_of(plan, world->options.pool), cases[i].best);
        snprintf(runs, sizeof runs, "runs on %d of 8 threads, as was measured: ", cases[i].best);
        assert_contains(kw_plan_explain(plan), runs);
        kw_plan_destroy(&plan);
        kw_context_close(&context);
        size_t size;
        char *wisdom = scratch_read(world->wisdom, &size);
        snprintf(fields, sizeof fields, "\t%d\n", cases[i].best);
        assert_true(size > strlen(fields) && !memcmp(wisdom + size - strlen(fields), fields, strlen(fields)));
        free(wisdom);
        timed.count = 0;
        context = toy_open(world);
        plan = plan_of(context, SMALL, KW_FROZEN);
        assert_int_equal(timed.count, 0);
        assert_int_equal(team_of(plan, world->options.pool), cases[i].best);
        assert_contains(kw_plan_explain(plan), "threads, as was measured then");
        kw_plan_destroy(&plan);
        kw_context_close(&context);
    }
}

static void teams_without_enough_work_are_not_tried(void **state) {
    static const struct {
        const char *problem;
        size_t count;
        int32_t teams[TEAMS_MAX], runs_on;
    } cases[] = {
        {"gemm fp32 rcr m32 n32 k32", 0, {0}, 1},
        {"gemm fp32 rcr m48 n48 k48", 2, {1, 2}, 2},
        {"gemm fp32 rcr m128 n128 k128", 3, {1, 4, 8}, 8},
        {"gemm fp32 rcr m3 n128 k128", 0, {0}, 1},
    };
    toy_world *world = *state;
    for (int team = 1; team <= THREADS; team++) {
        timed.ns[team] = 100.0 / team;
    }
    kw_context *context = toy_open(world);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        timed.count = 0;
        kw_plan *plan = plan_of(context, cases[i].problem, KW_SHORTLIST);
        if (timed.count != cases[i].count) {
            fail_msg("%s: %zu teams: %s", cases[i].problem, timed.count, kw_plan_explain(plan));
        }
        assert_memory_equal(timed.teams, cases[i].teams, cases[i].count * sizeof *timed.teams);
        assert_int_equal(team_of(plan, world->options.pool), cases[i].runs_on);
        kw_plan_destroy(&plan);
    }
    kw_context_close(&context);
}

/* A team whose time is not there: the estimate stands, and wisdom says nothing of threads. */
static void what_could_not_be_timed_leaves_the_estimate(void **state) {
    toy_world *world = *state;
    memset(timed.ns, 0, sizeof timed.ns);
    timed.ns[1] = 5;
    kw_context *context = toy_open(world);
    kw_plan *plan = plan_of(context, SMALL, KW_SHORTLIST);
    assert_int_equal(timed.count, 4);
    assert_int_equal(team_of(plan, world->options.pool), 4);
    assert_contains(kw_plan_explain(plan), "runs on 4 of 8 threads: ");
    kw_plan_destroy(&plan);
    kw_context_close(&context);
    context = toy_open(world);
    plan = plan_of(context, SMALL, KW_FROZEN);
    assert_int_equal(team_of(plan, world->options.pool), 4);
    kw_plan_destroy(&plan);
    kw_context_close(&context);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_smallest_of_the_best_teams_wins_and_stays),
        TEST(teams_without_enough_work_are_not_tried),
        TEST(what_could_not_be_timed_leaves_the_estimate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
