/* test_sweep.c: what a sweep asks its workers for and what it makes of their answers. */
#include "sweep/shards/shard.h"
#include "sweep/sweep_build.h"
#include "sweep/sweep_plan.h"
#include "sweep_fixture.h"

#include <sched.h>
#include <unistd.h>

/* --- pairs -------------------------------------------------------------------------------------------------------- */

static void every_pair_has_one_row(void **state) {
    fixture *f = *state;
    int64_t pairs = 4 * (int64_t)f->config_count;
    fixture_run_well(f);
    assert_int_equal(f->report.pairs, pairs);
    assert_int_equal(f->report.skipped, 0);
    assert_int_equal(fixture_rows(&f->report), pairs);
    assert_int_equal(f->report.outcome[KW_UNTRIED], 0);
    assert_true(f->report.outcome[KW_GOOD] > 0 && f->report.outcome[KW_UNFIT] > 0);
    assert_int_equal(f->report.outcome[KW_GOOD], fake.count);
    assert_false(f->report.stopped);
    assert_int_equal(f->report.workers_lost, 1);
    contents c = fixture_look(f, f->out, KW_UNFIT);
    assert_int_equal(c.rows, pairs);
    assert_int_equal(c.answers, pairs);
    assert_int_equal(c.runs, 1);
    assert_int_equal(c.negative, 0);
    assert_int_equal(c.matched, f->report.outcome[KW_UNFIT]);
    assert_true(*c.detail); /* which rule */
}

static void what_comes_twice_counts_once(void **state) {
    fixture *f = *state;
    for (size_t i = 0; i < f->config_count; i++) {
        f->configs[f->config_count + i] = f->configs[i];
    }
    memcpy(f->problems + 4, f->problems, 4 * sizeof *f->problems);
    f->options.config_count = 2 * f->config_count;
    f->options.problem_count = 8;
    fixture_run_well(f);
    assert_int_equal(f->report.pairs, 4 * (int64_t)f->config_count);
    assert_int_equal(fixture_look(f, f->out, KW_GOOD).rows, f->report.pairs);
}

static void pairs_are_of_one_operation_and_type(void **state) {
    fixture *f = *state;
    f->options.problem_count = PROBLEMS;
    fixture_run_well(f);
    assert_int_equal(f->report.pairs, 4 * (int64_t)f->config_count);
    f->options.problems = f->problems + 4;
    f->options.problem_count = 2;
    fixture_run_well(f);
    assert_int_equal(f->report.pairs, 0);
}

static void problems_are_shared_out_whole(void **state) {
    fixture *f = *state;
    int64_t pairs = 0;
    char path[3 * SCRATCH_MAX];
    for (int32_t shard = 0; shard < 3; shard++) {
        f->options.shard.index = shard;
        f->options.shard.count = 3;
        fake_reset();
        fixture_run_well(f);
        pairs += f->report.pairs;
        assert_int_equal(f->report.pairs % (int64_t)f->config_count, 0);
        for (size_t i = 0; i < fake.count; i++) {
            kw_problem problem;
            assert_int_equal(kw_problem_parse(&problem, fake.asked[i].problem, NULL), KW_OK);
            assert_int_equal(kw_shard_of(&problem, 3, 0), shard);
        }
        snprintf(path, sizeof path, "%s.shard-%d-of-3.jsonl", f->out, shard + 1);
        assert_true(!f->report.pairs || !access(path, F_OK));
    }
    assert_int_equal(pairs, 4 * (int64_t)f->config_count);
    fake_reset();
    fixture_run_well(f); /* the last one again: its segment knows */
    assert_int_equal(fake.count, 0);
    assert_int_equal(f->report.skipped, f->report.pairs);
}

/* --- resuming ----------------------------------------------------------------------------------------------------- */

static void what_has_a_row_is_skipped(void **state) {
    fixture *f = *state;
    f->options.problem_count = 2;
    fixture_run_well(f);
    int64_t before = f->report.pairs;
    f->options.problem_count = 4;
    fake_reset();
    fixture_run_well(f);
    assert_int_equal(f->report.skipped, before);
    assert_int_equal(fixture_rows(&f->report), f->report.pairs - before);
    fake_reset();
    fixture_run_well(f);
    assert_int_equal(f->report.skipped, f->report.pairs);
    assert_int_equal(fixture_rows(&f->report), 0);
    assert_int_equal(fake.count, 0);
    contents c = fixture_look(f, f->out, KW_GOOD);
    assert_int_equal(c.rows, f->report.pairs);
    assert_int_equal(c.runs, 2); /* a run that had nothing to do says nothing */
}

static kw_outcome take_a_while(const char *problem, const char *config) {
    (void)problem;
    (void)config;
    usleep(20000);
    return KW_GOOD;
}

static void a_budget_ends_a_sweep_in_good_order(void **state) {
    fixture *f = *state;
    fake.outcome = take_a_while;
    f->options.workers.batch = 1;
    f->options.limits.budget_s = 1e-9; /* spent before anything is built */
    fixture_run_well(f);
    assert_true(f->report.spent && !f->report.stopped);
    assert_int_equal(fake.count, 0);
    assert_int_equal(f->report.built, 0);
    f->options.limits.budget_s = 60;
    fixture_run_well(f);
    size_t all = fake.count;
    assert_false(f->report.spent);
    assert_true(all > 3);

    /* The kernels are built by now: the time is that of measuring. */
    unlink(f->out);
    fake_reset();
    fake.outcome = take_a_while;
    f->options.limits.budget_s = 0.02 * (double)all / 2;
    fixture_run_well(f);
    assert_true(f->report.spent && !f->report.stopped);
    assert_in_range(fake.count, 0, all - 1); /* half of them, and fewer on a machine that has other work */
    assert_int_equal(f->report.outcome[KW_UNTRIED], f->report.pairs - fixture_rows(&f->report));
    assert_int_equal(fixture_look(f, f->out, KW_GOOD).rows, fixture_rows(&f->report));
    f->options.limits.budget_s = 0;
    fixture_run_well(f);
    assert_false(f->report.spent);
    assert_int_equal(fake.count, all);
    assert_int_equal(fixture_look(f, f->out, KW_GOOD).answers, f->report.pairs);
    f->options.limits.budget_s = -1;
    assert_int_equal(fixture_run(f), KW_ILLEGAL);
}

static void a_stop_keeps_what_was_measured_and_the_rest_comes_later(void **state) {
    fixture *f = *state;
    fixture_run_well(f);
    size_t all = fake.count;
    for (size_t limit = 1; limit < all; limit++) {
        unlink(f->out);
        f->options.workers.batch = 2;
        fake_reset();
        fake.limit = limit;
        fixture_run_well(f);
        int64_t written = fixture_rows(&f->report);
        assert_true(f->report.stopped);
        assert_int_equal(f->report.outcome[KW_GOOD], limit);
        assert_int_equal(f->report.outcome[KW_UNTRIED], f->report.pairs - written);
        assert_int_equal(fixture_look(f, f->out, KW_GOOD).rows, written);
        fake_reset();
        fixture_run_well(f);
        assert_int_equal(f->report.skipped, written);
        assert_int_equal(fake.count, all - limit);
        assert_int_equal(fixture_look(f, f->out, KW_GOOD).answers, f->report.pairs);
    }
}

static void overwriting_drops_these_pairs_and_no_others(void **state) {
    fixture *f = *state;
    f->options.timing.cold = true;
    fixture_run_well(f);
    f->options.timing.cold = false;
    fixture_run_well(f);
    int64_t pairs = f->report.pairs;
    f->options.problem_count = 1;
    f->options.overwrite = true;
    fake_reset();
    fixture_run_well(f);
    assert_int_equal(f->report.skipped, 0);
    assert_int_equal(fixture_rows(&f->report), f->report.pairs);
    assert_true(fake.count > 0);
    contents c = fixture_look(f, f->out, KW_GOOD);
    assert_int_equal(c.rows, 2 * pairs);
    assert_int_equal(c.answers, 2 * pairs);
    assert_int_equal(c.runs, 3);
}

static void counting_leaves_no_trace(void **state) {
    fixture *f = *state;
    f->options.count_only = f->options.overwrite = true;
    fixture_run_well(f);
    int64_t unfit = f->report.outcome[KW_UNFIT], fit = f->report.outcome[KW_UNTRIED];
    assert_int_equal(unfit + fit, f->report.pairs);
    assert_int_equal(access(f->out, F_OK), -1);
    assert_int_equal(fake.count, 0);
    f->options.count_only = false;
    fixture_run_well(f);
    assert_int_equal(fake.count, fit);
    assert_int_equal(f->report.outcome[KW_UNFIT], unfit);
    f->options.count_only = true;
    fixture_run_well(f);
    assert_int_equal(f->report.skipped, f->report.pairs);
    assert_int_equal(fixture_look(f, f->out, KW_GOOD).rows, f->report.pairs);
}

/* --- measuring ---------------------------------------------------------------------------------------------------- */

static void the_order_is_decided_by_texts_and_seed(void **state) {
    fixture *f = *state;
    fake_asked *first = calloc(FAKE_ASKED_MAX, sizeof *first);
    assert_non_null(first);
    fixture_run_well(f);
    size_t count = fake.count;
    memcpy(first, fake.asked, count * sizeof *first);
    for (int round = 0; round < 3; round++) { /* the same lists, turned around, another seed */
        for (size_t i = 0; round == 1 && i < 2; i++) {
            kw_problem held = f->problems[i];
            f->problems[i] = f->problems[3 - i];
            f->problems[3 - i] = held;
        }
        for (size_t i = 0; round == 1 && i < f->config_count / 2; i++) {
            const char *held = f->configs[i];
            f->configs[i] = f->configs[f->config_count - 1 - i];
            f->configs[f->config_count - 1 - i] = held;
        }
        f->options.timing.seed = round == 2 ? 12345 : 0;
        unlink(f->out);
        fake_reset();
        fixture_run_well(f);
        assert_int_equal(fake.count, count);
        bool same = true;
        for (size_t i = 0; i < count; i++) {
            same = same && !strcmp(first[i].problem, fake.asked[i].problem) && !strcmp(first[i].config, fake.asked[i].config);
        }
        assert_int_equal(same, round != 2);
    }
    free(first);
}

static void batches_are_as_large_as_asked_and_carry_the_best_time(void **state) {
    fixture *f = *state;
    f->options.timing.verify_only = false;
    f->options.workers.batch = 1;
    for (int exhaustive = 0; exhaustive < 2; exhaustive++) {
        f->options.timing.exhaustive = exhaustive;
        unlink(f->out);
        fake_reset();
        fixture_run_well(f);
        double best = 0;
        for (size_t i = 0; i < fake.count; i++) {
            const fake_asked *a = &fake.asked[i];
            best = i && !strcmp(a->problem, fake.asked[i - 1].problem) ? best : 0;
            assert_int_equal(a->batch, 1);
            assert_true(a->has_control);
            assert_true(a->best_ns == best);
            assert_true(exhaustive ? a->drop_ratio == 0 : a->drop_ratio == 3);
            double ns = 1000 + (double)(kw_hash64(a->config, strlen(a->config)) % 1000);
            best = best <= 0 || ns < best ? ns : best;
        }
        assert_true(f->report.kernel_s > 0);
    }
}

static void options_reach_the_worker(void **state) {
    fixture *f = *state;
    f->options.timing.cold = f->options.timing.fresh_weights = true;
    fixture_run_well(f);
    assert_true(fake.count > 0);
    for (size_t i = 0; i < fake.count; i++) {
        assert_true(fake.asked[i].cold && fake.asked[i].verify_only);
        assert_false(fake.asked[i].pack_weights || fake.asked[i].has_control);
    }
    f->options.timing.cold = f->options.timing.fresh_weights = false;
    fake_reset();
    fixture_run_well(f); /* other times are other pairs */
    assert_true(fake.count > 0 && fake.asked[0].pack_weights && !fake.asked[0].cold);
}

static kw_outcome some_fail(const char *problem, const char *config) {
    static const kw_outcome outcomes[] = {KW_WRONG, KW_CRASHED, KW_TIMED_OUT, KW_SLOW, KW_MISTRUSTED, KW_UNLAUNCHED};
    return outcomes[(strlen(problem) + strlen(config)) % (sizeof outcomes / sizeof *outcomes)];
}

static void failures_are_rows_and_are_not_tried_again(void **state) {
    fixture *f = *state;
    fake.outcome = some_fail;
    fixture_run_well(f);
    assert_int_equal(fixture_rows(&f->report), f->report.pairs);
    assert_int_equal(f->report.outcome[KW_GOOD], 0);
    fake_reset();
    fixture_run_well(f);
    assert_int_equal(fake.count, 0);
}

static void progress_never_goes_back_and_ends_at_its_total(void **state) {
    fixture *f = *state;
    f->options.workers.batch = 1;
    fixture_run_well(f);
    assert_true(f->told >= 3);
    assert_false(f->went_back);
    assert_int_equal(f->last_done, fake.count);
    assert_true(f->last_eta >= 0 && f->last_eta < 1e-6);
}

static void a_pool_that_fails_ends_the_sweep_and_loses_nothing(void **state) {
    fixture *f = *state;
    f->options.workers.batch = 1;
    fake.fail_after = 3;
    assert_int_equal(fixture_run(f), KW_ENVIRONMENT);
    assert_non_null(strstr(f->err.text, "told to fail"));
    assert_int_equal(f->report.outcome[KW_GOOD], 3);
    assert_int_equal(fixture_look(f, f->out, KW_GOOD).matched, 3);
    fake_reset();
    fake.open_status = KW_ENVIRONMENT;
    assert_int_equal(fixture_run(f), KW_ENVIRONMENT);
    fake_reset();
    fixture_run_well(f);
    assert_int_equal(fixture_look(f, f->out, KW_GOOD).answers, f->report.pairs);
}

static void devices_share_problems_and_cores(void **state) {
    fixture *f = *state;
    cpu_set_t set;
    f->options.workers.devices = "cpu,cpu";
    if (sched_getaffinity(0, sizeof set, &set) || CPU_COUNT(&set) < 2) {
        assert_int_equal(fixture_run(f), KW_ILLEGAL);
        assert_non_null(strstr(f->err.text, "disturb"));
        return;
    }
    f->options.workers.batch = 1;
    fixture_run_well(f);
    assert_int_equal(fake.opened, 2);
    assert_int_equal(fixture_rows(&f->report), f->report.pairs);
    assert_int_equal(fixture_look(f, f->out, KW_GOOD).answers, f->report.pairs);
    f->options.workers.threads = CPU_COUNT(&set);
    assert_int_equal(fixture_run(f), KW_ILLEGAL);
}

/* --- refusals ----------------------------------------------------------------------------------------------------- */

static void a_sweep_without_sense_is_refused_before_anything_starts(void **state) {
    fixture *f = *state;
    kw_sweep_options good = f->options;
    const struct {
        kw_sweep_options options;
        kw_status status;
        const char *words;
    } cases[] = {
        {{.configs = f->configs, .config_count = 1, .out = f->out}, KW_ILLEGAL, "nothing to do"},
        {{.problems = f->problems, .problem_count = 1, .out = f->out}, KW_ILLEGAL, "nothing to do"},
        {{.configs = f->configs, .config_count = 1, .problems = f->problems, .problem_count = 1}, KW_ILLEGAL, "place for its rows"},
        {{.pairs = "/nonexistent", .out = f->out}, KW_MISSING, "/nonexistent"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        f->options = cases[i].options;
        f->options.size = sizeof f->options;
        kw_status status = fixture_run(f);
        if (status != cases[i].status && !(status == KW_IO && i == 3)) {
            fail_msg("case %zu: %s %s", i, kw_status_name(status), f->err.text);
        }
        assert_non_null(strstr(f->err.text, cases[i].words));
    }
    f->options = good;
    f->options.shard.count = 2;
    f->options.shard.index = 2;
    assert_int_equal(fixture_run(f), KW_ILLEGAL);
    f->options = good;
    f->options.out = "/nonexistent/folder/results.db";
    assert_true(fixture_run(f) == KW_IO || f->err.status == KW_MISSING);
    assert_int_equal(fake.opened, 0);
    f->options = good;
    f->options.workers.devices = "cpu,,cpu";
    assert_int_equal(fixture_run(f), KW_MALFORMED);
    f->options = good;
    f->options.workers.program = NULL;
    assert_int_equal(fixture_run(f), KW_MISSING); /* this test program is no kwright */
    assert_int_equal(kw_sweep(NULL, NULL, &f->err), KW_ILLEGAL);
    assert_int_equal(fake.opened, 0);
}

static void the_control_kernel_serves_every_known_architecture(void **state) {
    (void)state;
    static const char *const archs[] = {"generic", "x86-64-v3", "x86-64-v4", "x86-64-v4-bf16"};
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        kw_target target;
        kw_config config;
        kw_problem problem;
        char text[KW_TARGET_TEXT_MAX];
        snprintf(text, sizeof text, "cpu:%s model=any units=1 lanes=16 registers=32 l1=32768 l2=1048576 l3=33554432", archs[i]);
        assert_int_equal(kw_target_parse(&target, text, NULL), KW_OK);
        assert_true(kw_sweep_control_find(&config, &problem, &target));
        assert_int_equal(kw_config_fits(&config, &problem, &target, NULL), KW_OK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH(every_pair_has_one_row),
        WITH(what_comes_twice_counts_once),
        WITH(pairs_are_of_one_operation_and_type),
        WITH(problems_are_shared_out_whole),
        WITH(what_has_a_row_is_skipped),
        WITH(a_budget_ends_a_sweep_in_good_order),
        WITH(a_stop_keeps_what_was_measured_and_the_rest_comes_later),
        WITH(overwriting_drops_these_pairs_and_no_others),
        WITH(counting_leaves_no_trace),
        WITH(the_order_is_decided_by_texts_and_seed),
        WITH(batches_are_as_large_as_asked_and_carry_the_best_time),
        WITH(options_reach_the_worker),
        WITH(failures_are_rows_and_are_not_tried_again),
        WITH(progress_never_goes_back_and_ends_at_its_total),
        WITH(a_pool_that_fails_ends_the_sweep_and_loses_nothing),
        WITH(devices_share_problems_and_cores),
        WITH(a_sweep_without_sense_is_refused_before_anything_starts),
        cmocka_unit_test(the_control_kernel_serves_every_known_architecture),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fake_drop();
    return failed;
}
