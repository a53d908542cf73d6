/* test_choose.c: which kernel answers, by mode, by wisdom, by what may be compiled, by workspace and by noise. */

#include "base/text.h"
#include "measure/timing/noise.h"
#include "unit/dispatch/toy.h"
#include "support/kw_test.h"

#include <unistd.h>

#define GENERIC "gemm.reference gemm fp32"

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

static kw_plan *make_plan(kw_context *context, const kw_plan_options *options) {
    kw_problem problem = toy_problem(TOY_PROBLEM);
    kw_plan *plan = NULL;
    kw_error err = {0};
    if (kw_plan_create(&plan, context, &problem, options, &err)) {
        fail_msg("%s", err.text);
    }
    return plan;
}

static const kw_record *record_of(const kw_plan *plan, const char *config) {
    size_t count;
    const kw_record *records = kw_plan_records(plan, &count);
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(records[i].config, config)) {
            return &records[i];
        }
    }
    fail_msg("no record of %s", config);
    return NULL;
}

static void shortlist_takes_the_fastest_right_kernel(void **state) {
    kw_context *context = toy_open(*state);
    kw_plan *plan = make_plan(context, NULL);
    size_t count;
    const kw_record *records = kw_plan_records(plan, &count);
    assert_int_equal(count, TOY_COUNT);
    assert_string_equal(kw_plan_config(plan), TOY_BEST);
    assert_string_equal(records[0].config, TOY_BEST);
    assert_int_equal(record_of(plan, TOY_WRONG)->outcome, KW_WRONG);
    assert_int_equal(record_of(plan, TOY_BROKEN)->outcome, KW_UNCOMPILED);
    assert_int_equal(record_of(plan, TOY_SECOND)->outcome, KW_GOOD);
    assert_true(record_of(plan, TOY_SECOND)->time_ns > records[0].time_ns);
    assert_contains(kw_plan_explain(plan), "measured now (shortlist)");
    assert_contains(kw_plan_explain(plan), "best of 3 kernels that were measured, of 5 that fit");
    assert_contains(kw_plan_explain(plan), TOY_SECOND);
    assert_int_equal(toy_wisdom_lines(*state), 1);
    kw_plan_destroy(&plan);
    kw_context_close(&context);
}

static void wisdom_answers_a_new_context_without_measuring(void **state) {
    kw_context *context = toy_open(*state);
    toy_chosen(context, NULL);
    kw_context_close(&context);
    context = toy_open(*state);
    kw_plan *plan = make_plan(context, NULL);
    size_t count;
    assert_null(kw_plan_records(plan, &count));
    assert_int_equal(count, 0);
    assert_string_equal(kw_plan_config(plan), TOY_BEST);
    assert_contains(kw_plan_explain(plan), "from wisdom");
    assert_contains(kw_plan_explain(plan), "best of 5 kernels");
    kw_plan_destroy(&plan);
    kw_context_close(&context);
}

/* first makes the wisdom, then a new context asks second: is it measured again? */
static void wisdom_answers_no_more_patient_requests_only(void **state) {
    static const struct {
        kw_plan_options first, second;
        bool again;
    } cases[] = {
        {{.mode = KW_SHORTLIST}, {.mode = KW_SHORTLIST}, false},
        {{.mode = KW_SHORTLIST}, {.mode = KW_PREDICT}, false},
        {{.mode = KW_SHORTLIST}, {.mode = KW_FROZEN}, false},
        {{.mode = KW_SHORTLIST}, {.mode = KW_EXHAUSTIVE}, true},
        {{.mode = KW_EXHAUSTIVE}, {.mode = KW_SHORTLIST}, false},
        {{.mode = KW_EXHAUSTIVE}, {.mode = KW_EXHAUSTIVE}, false},
        {{.mode = KW_SHORTLIST, .shortlist = 2}, {.mode = KW_SHORTLIST}, true},
        {{.mode = KW_SHORTLIST, .shortlist = 2}, {.mode = KW_SHORTLIST, .shortlist = 1}, false},
        {{.mode = KW_SHORTLIST}, {.mode = KW_SHORTLIST, .remeasure = true}, true},
    };
    toy_world *world = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_plan_options first = cases[i].first, second = cases[i].second;
        first.size = second.size = sizeof(kw_plan_options);
        unlink(world->wisdom);
        kw_context *context = toy_open(world);
        toy_chosen(context, &first);
        kw_context_close(&context);
        context = toy_open(world);
        kw_plan *plan = make_plan(context, &second);
        size_t count;
        kw_plan_records(plan, &count);
        if ((count > 0) != cases[i].again) {
            fail_msg("case %zu: measured %zu kernels: %s", i, count, kw_plan_explain(plan));
        }
        assert_string_equal(kw_plan_config(plan), TOY_BEST);
        assert_int_equal(toy_wisdom_lines(world), 1);
        kw_plan_destroy(&plan);
        kw_context_close(&context);
    }
}

/* Weights that are packed beforehand and weights that are packed in every run are two questions with two lines of wisdom. */
static void fresh_weights_are_another_question(void **state) {
    toy_world *world = *state;
    kw_plan_options fresh = {.size = sizeof(kw_plan_options), .fresh_weights = true};
    size_t count;
    for (int round = 0; round < 2; round++) {
        kw_context *context = toy_open(world);
        kw_plan *packed = make_plan(context, NULL), *unpacked = make_plan(context, &fresh);
        kw_plan_records(packed, &count);
        assert_int_equal(count > 0, round == 0);
        kw_plan_records(unpacked, &count);
        assert_int_equal(count > 0, round == 0);
        assert_int_equal(toy_wisdom_lines(world), 2);
        kw_plan_destroy(&packed);
        kw_plan_destroy(&unpacked);
        kw_context_close(&context);
    }
}

static void predict_measures_nothing_and_writes_no_wisdom(void **state) {
    kw_context *context = toy_open(*state);
    kw_plan *plan = make_plan(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT});
    size_t count;
    assert_null(kw_plan_records(plan, &count));
    assert_string_equal(kw_plan_config(plan), TOY_BEST);
    assert_contains(kw_plan_explain(plan), "estimate");
    assert_int_equal(toy_wisdom_lines(*state), 0);
    kw_plan_destroy(&plan);
    kw_context_close(&context);
}

static kw_registry *make_registry(kw_context *context, const char *first, const char *second) {
    kw_registry *registry = NULL;
    assert_int_equal(kw_registry_create(&registry, context, NULL), KW_OK);
    assert_int_equal(kw_registry_add(registry, first, NULL), KW_OK);
    assert_int_equal(second ? kw_registry_add(registry, second, NULL) : KW_OK, KW_OK);
    return registry;
}

static void predict_passes_over_what_does_not_compile(void **state) {
    kw_context *context = toy_open(*state);
    kw_registry *registry = make_registry(context, TOY_SECOND, TOY_BROKEN);
    assert_string_equal(toy_chosen(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT, .registry = registry}),
                        TOY_SECOND);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
}

static void all_wrong_leaves_the_generic_kernel(void **state) {
    kw_context *context = toy_open(*state);
    kw_registry *registry = make_registry(context, TOY_WRONG, TOY_BROKEN);
    assert_string_equal(toy_chosen(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .registry = registry}), GENERIC);
    assert_int_equal(toy_wisdom_lines(*state), 0);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
}

static void frozen_never_measures_or_compiles(void **state) {
    const kw_plan_options frozen = {.size = sizeof(kw_plan_options), .mode = KW_FROZEN},
                          strict = {.size = sizeof(kw_plan_options), .mode = KW_FROZEN, .frozen_is_error = true};
    kw_context *context = toy_open(*state);
    assert_string_equal(toy_chosen(context, &frozen), GENERIC);
    assert_contains(toy_chosen(context, &strict), "no kernel: frozen");
    assert_int_equal(toy_wisdom_lines(*state), 0);
    toy_chosen(context, NULL);
    assert_string_equal(toy_chosen(context, &frozen), TOY_BEST); /* what was frozen before is forgotten with the new wisdom */
    kw_context_close(&context);
    context = toy_open(*state);
    assert_string_equal(toy_chosen(context, &strict), TOY_BEST);
    kw_context_close(&context);
    context = toy_open(*state);
    assert_int_equal(kw_cache_clear(context, NULL, NULL), KW_OK);
    assert_contains(toy_chosen(context, &strict), "no kernel: frozen");
    assert_string_equal(toy_chosen(context, &frozen), GENERIC);
    kw_plan *plan = make_plan(context, NULL); /* wisdom's kernel is compiled again, not measured again */
    size_t count;
    assert_null(kw_plan_records(plan, &count));
    assert_string_equal(kw_plan_config(plan), TOY_BEST);
    kw_plan_destroy(&plan);
    kw_context_close(&context);
}

static void workspace_limits_are_kept(void **state) {
    kw_context *context = toy_open(*state);
    kw_plan *plan = make_plan(context, NULL);
    int64_t needed = kw_plan_workspace(plan);
    assert_int_equal(needed, 4096 + 20 * 16 * 4);
    kw_plan_destroy(&plan);
    assert_string_equal(toy_chosen(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .workspace_max = needed}), TOY_BEST);
    assert_string_equal(toy_chosen(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .workspace_max = needed - 1}), TOY_SECOND);
    assert_string_equal(toy_chosen(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .workspace_max = KW_WORKSPACE_NONE}),
                        TOY_SECOND);
    assert_string_equal(toy_chosen(context, NULL), TOY_BEST); /* a limited choice is no wisdom for others */
    assert_int_equal(toy_wisdom_lines(*state), 1);
    kw_registry *registry = make_registry(context, TOY_BEST, NULL);
    assert_string_equal(
        toy_chosen(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .workspace_max = KW_WORKSPACE_NONE, .registry = registry}),
        GENERIC);
    kw_registry_add(registry, TOY_SLOW, NULL);
    assert_string_equal(toy_chosen(context, &(kw_plan_options){.size = sizeof(kw_plan_options),
                                                               .workspace_max = KW_WORKSPACE_NONE,
                                                               .mode = KW_PREDICT,
                                                               .registry = registry}),
                        TOY_SLOW);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
}

static void limited_choices_are_remembered_in_memory(void **state) {
    kw_context *context = toy_open(*state);
    const kw_plan_options limited = {.size = sizeof(kw_plan_options), .workspace_max = KW_WORKSPACE_NONE};
    kw_plan *first = make_plan(context, &limited), *second = make_plan(context, &limited);
    size_t count;
    assert_ptr_equal(kw_plan_records(first, &count), kw_plan_records(second, &count));
    assert_true(count > 0);
    kw_plan_destroy(&first);
    kw_plan_destroy(&second);
    assert_int_equal(toy_wisdom_lines(*state), 0);
    kw_context_close(&context);
}

static void without_a_compiler_cached_kernels_answer(void **state) {
    toy_world *world = *state;
    world->options.compiler = "";
    kw_context *context = toy_open(world);
    assert_string_equal(kw_context_compiler(context), "");
    assert_string_equal(toy_chosen(context, NULL), GENERIC);
    assert_string_equal(toy_chosen(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT}), GENERIC);
    kw_plan *plan = make_plan(context, NULL);
    assert_contains(kw_plan_explain(plan), "no compiler");
    kw_plan_destroy(&plan);
    kw_context_close(&context);

    world->options.compiler = NULL;
    context = toy_open(world);
    kw_registry *registry = make_registry(context, TOY_SECOND, NULL);
    assert_int_equal(kw_registry_build(registry, NULL, NULL, NULL), KW_OK);
    kw_registry_destroy(&registry);
    kw_context_close(&context);

    world->options.compiler = "/nonexistent/cc";
    context = toy_open(world);
    assert_string_equal(kw_context_compiler(context), "");
    assert_string_equal(toy_chosen(context, NULL), TOY_SECOND);
    assert_string_equal(toy_chosen(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT}), TOY_SECOND);
    kw_context_close(&context);
}

static void an_unusable_cache_costs_speed_only(void **state) {
    toy_world *world = *state;
    scratch_write(world->cache, "a file", 6, 0600);
    kw_context *context = toy_open(world);
    kw_paths places;
    assert_int_equal(kw_context_paths(&places, context, NULL), KW_OK);
    assert_true(*places.cache_note);
    assert_int_equal(places.cache_entries, 0);
    assert_string_equal(toy_chosen(context, NULL), TOY_BEST);
    kw_context_close(&context);
}

static void a_narrow_registry_writes_no_wisdom_but_a_wide_one_does(void **state) {
    kw_context *context = toy_open(*state);
    kw_registry *registry = make_registry(context, TOY_SECOND, TOY_SLOW);
    const kw_plan_options options = {.size = sizeof(kw_plan_options), .registry = registry};
    assert_string_equal(toy_chosen(context, &options), TOY_SECOND);
    assert_int_equal(toy_wisdom_lines(*state), 0);
    kw_registry_add_default(registry, NULL);
    assert_int_equal(kw_registry_add(registry, TOY(9, 60, none, 0, 0), NULL), KW_OK);
    assert_string_equal(toy_chosen(context, &options), TOY_BEST); /* the changed registry is asked anew */
    assert_int_equal(toy_wisdom_lines(*state), 1);
    kw_registry_destroy(&registry);
    registry = make_registry(context, TOY_SECOND, TOY_SLOW);
    assert_string_equal(toy_chosen(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .registry = registry}),
                        TOY_SECOND); /* wisdom's kernel is not in it */
    kw_registry_destroy(&registry);
    kw_context_close(&context);
}

/* A launch of these takes 20 to 50 ms: of a shortlist four are measured, the fifth says why it was not. */
static void where_a_launch_is_long_four_are_measured(void **state) {
    static const char *const toys[] = {TOY(11, 7000, none, 0, 0), TOY(12, 7001, none, 0, 0), TOY(13, 7002, none, 0, 0),
                                       TOY(14, 7003, none, 0, 0), TOY(15, 7004, none, 0, 0)};
    enum { TOYS = sizeof toys / sizeof *toys };
    kw_context *context = toy_open(*state);
    kw_registry *registry = make_registry(context, toys[0], toys[1]);
    for (size_t i = 2; i < TOYS; i++) {
        assert_int_equal(kw_registry_add(registry, toys[i], NULL), KW_OK);
    }
    kw_plan *plan = make_plan(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .registry = registry});
    size_t count = 0, timed = 0, left = 0;
    const kw_record *records = kw_plan_records(plan, &count);
    assert_int_equal(count, TOYS);
    for (size_t i = 0; i < count; i++) {
        timed += records[i].outcome == KW_GOOD;
        left += records[i].outcome == KW_UNTRIED && strstr(records[i].detail, "not measured: one launch takes");
    }
    bool is_long = records[0].time_ns > 20e6;
    assert_int_equal(timed, is_long ? 4 : 5);
    assert_int_equal(left, is_long ? 1 : 0);
    kw_plan_destroy(&plan);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
}

static void a_problem_that_only_the_generic_kernel_serves_is_not_measured(void **state) {
    kw_context *context = toy_open(*state);
    kw_problem problem = toy_problem("gemm fp32 ccr m8 n8 k8");
    kw_plan *plan = NULL;
    size_t count;
    assert_int_equal(kw_plan_create(&plan, context, &problem, NULL, NULL), KW_OK);
    assert_string_equal(kw_plan_config(plan), GENERIC);
    assert_null(kw_plan_records(plan, &count));
    assert_contains(kw_plan_explain(plan), "refused: test.toy (rule rcr: layout rcr and batch 1 are needed)");
    kw_plan_destroy(&plan);
    kw_context_close(&context);
}

static void count_progress(void *user, const kw_progress *progress) {
    size_t *calls = user;
    assert_true(progress->done <= progress->total);
    assert_non_null(progress->current);
    calls[strcmp(progress->what, "build") != 0]++;
}

static void progress_tells_of_each_kernel_twice(void **state) {
    kw_context *context = toy_open(*state);
    size_t calls[2] = {0};
    toy_chosen(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .progress = count_progress, .user = calls});
    assert_int_equal(calls[0], TOY_COUNT);
    assert_int_equal(calls[1], TOY_COUNT);
    kw_context_close(&context);
}

/* --- the decision ------------------------------------------------------------------------------------------------- */

static void equal_times_are_decided_by_name(void **state) {
    static const struct {
        const char *what;
        double time[3], spread;
        size_t winner;
    } cases[] = {
        {"clear winner", {103, 100, 110}, 0.1, 1},
        {"inside three in a thousand the first name wins", {100.2, 100, 110}, 0.1, 0},
        {"just outside time wins", {100.4, 100, 110}, 0.1, 1},
        {"a spread widens the band", {100.9, 100, 110}, 5, 0},
        {"but never beyond one percent", {101.1, 100, 110}, 50, 1},
        {"the order of the records plays no part", {100, 100.1, 100.2}, 0.1, 0},
        {"all equal", {100, 100, 100}, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_record records[3] = {{0}};
        const kw_record *list[3], *turned[3];
        for (int j = 0; j < 3; j++) {
            records[j] = (kw_record){.outcome = KW_GOOD, .time_ns = cases[i].time[j], .spread_ns = cases[i].spread, .samples = 21};
            snprintf(records[j].config, sizeof records[j].config, "kernel %c", 'a' + j);
            list[j] = &records[j];
            turned[2 - j] = &records[j];
        }
        double noise;
        if (kw_noise_select(list, 3, &kw_noise_decide, &noise) != cases[i].winner ||
            kw_noise_select(turned, 3, &kw_noise_decide, NULL) != 2 - cases[i].winner) {
            fail_msg("%s", cases[i].what);
        }
        assert_true(noise >= 0.003 && noise <= 0.01);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* A line of prose is put together again from each record. */
typedef struct retelling {
    kw_text text;
    int kinds[KW_EXPLAIN_PASSES + 1], left;
} retelling;

static bool retell(void *user, const kw_explanation *e) {
    retelling *r = user;
    assert_int_equal(e->family != NULL, e->kind == KW_EXPLAIN_REJECTED);
    kw_text_addf(&r->text, e->family ? "  refused: %s (%s)\n" : "  %s%s\n", e->family ? e->family : "", e->text);
    r->kinds[e->kind]++;
    return --r->left != 0;
}

static void an_explanation_is_records_first_and_prose_made_of_them(void **state) {
    kw_context *context = toy_open(*state);
    static const struct {
        kw_mode mode;
        kw_explanation_kind kind;
    } cases[] = {{KW_FROZEN, KW_EXPLAIN_REFERENCE},
                 {KW_PREDICT, KW_EXPLAIN_PREDICTED},
                 {KW_SHORTLIST, KW_EXPLAIN_MEASURED},
                 {KW_SHORTLIST, KW_EXPLAIN_WISDOM}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (i == 3) { /* another context has nothing but the wisdom of the one before */
            kw_context_close(&context);
            context = toy_open(*state);
        }
        kw_plan *plan = make_plan(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = cases[i].mode});
        retelling all = {.left = 0}, one = {.left = 1};
        kw_explanation_visit(plan, retell, &all);
        kw_explanation_visit(plan, retell, &one);
        const char *prose = strchr(kw_plan_explain(plan), '\n') + 1;
        assert_string_equal(kw_text_string(&all.text), prose);
        assert_int_equal(strncmp(kw_text_string(&one.text), prose, one.text.size), 0);
        assert_int_equal(one.text.size, strchr(prose, '\n') + 1 - prose);
        assert_int_equal(all.kinds[cases[i].kind], 1);
        kw_text_drop(&all.text);
        kw_text_drop(&one.text);
        kw_plan_destroy(&plan);
    }
    kw_explanation_visit(NULL, retell, NULL);
    kw_context_close(&context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(shortlist_takes_the_fastest_right_kernel),
        TEST(wisdom_answers_a_new_context_without_measuring),
        TEST(an_explanation_is_records_first_and_prose_made_of_them),
        TEST(wisdom_answers_no_more_patient_requests_only),
        TEST(fresh_weights_are_another_question),
        TEST(predict_measures_nothing_and_writes_no_wisdom),
        TEST(predict_passes_over_what_does_not_compile),
        TEST(all_wrong_leaves_the_generic_kernel),
        TEST(frozen_never_measures_or_compiles),
        TEST(workspace_limits_are_kept),
        TEST(limited_choices_are_remembered_in_memory),
        TEST(without_a_compiler_cached_kernels_answer),
        TEST(an_unusable_cache_costs_speed_only),
        TEST(a_narrow_registry_writes_no_wisdom_but_a_wide_one_does),
        TEST(where_a_launch_is_long_four_are_measured),
        TEST(a_problem_that_only_the_generic_kernel_serves_is_not_measured),
        TEST(progress_tells_of_each_kernel_twice),
        cmocka_unit_test(equal_times_are_decided_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
