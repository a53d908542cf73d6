/* test_registry.c: contexts, registries, building, single measurements; and what a wrong call gets for an answer. */

#include "unit/dispatch/toy.h"
#include "support/kw_test.h"

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

static kw_registry *make_registry(kw_context *context) {
    kw_registry *registry = NULL;
    assert_int_equal(kw_registry_create(&registry, context, NULL), KW_OK);
    return registry;
}

/* --- contexts ------------------------------------------------------------------------------------------------------ */

static void opening_names_what_is_wrong(void **state) {
    static const struct {
        const char *device, *variable, *value;
        int threads;
        kw_status status;
        const char *part;
    } cases[] = {
        {"tpu", NULL, NULL, 0, KW_MISSING, "tpu"},
        {"", NULL, NULL, 0, KW_MISSING, ""},
        {NULL, NULL, NULL, 0, KW_ILLEGAL, "device is NULL"},
        {"cpu", NULL, NULL, -1, KW_ILLEGAL, "threads=-1"},
        {"cpu", NULL, NULL, 1 << 20, KW_ILLEGAL, "threads=1048576"},
        {"cpu", "KW_THREADS", "two", 0, KW_ILLEGAL, "KW_THREADS=two"},
        {"cpu", "KW_THREADS", "0", 0, KW_ILLEGAL, "KW_THREADS=0"},
        {"cpu", "KW_MODE", "fast", 0, KW_ILLEGAL, "KW_MODE=fast"},
        {"cpu", "KW_MODE", "frozen", 0, KW_OK, ""},
        {"cpu", "KW_THREADS", "1", 0, KW_OK, ""},
        {"cpu", "KW_THREADS", "two", 1, KW_OK, ""}, /* the option beats the variable */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_context *context = NULL;
        kw_error err = {0};
        if (cases[i].variable) {
            setenv(cases[i].variable, cases[i].value, 1);
        }
        kw_status status = kw_context_open(&context, cases[i].device,
                                           &(kw_context_options){.size = sizeof(kw_context_options), .threads = cases[i].threads}, &err);
        if (cases[i].variable) {
            unsetenv(cases[i].variable);
        }
        assert_int_equal(status, cases[i].status);
        assert_int_equal(err.status, cases[i].status);
        assert_contains(err.text, cases[i].part);
        assert_true(!context == (status != KW_OK));
        kw_context_close(&context);
    }
    assert_int_equal(kw_context_open(NULL, "cpu", NULL, NULL), KW_ILLEGAL);
    kw_context_close(NULL);
}

static void places_follow_options_then_variables(void **state) {
    toy_world *world = *state;
    kw_paths places;
    world->options.cache_dir = NULL;
    world->options.data_dir = NULL;
    setenv("KW_CACHE_DIR", world->cache, 1);
    setenv("KW_DATA_DIR", world->data, 1);
    kw_context *context = toy_open(world);
    assert_int_equal(kw_context_paths(&places, context, NULL), KW_OK);
    assert_string_equal(places.cache, world->cache);
    assert_string_equal(places.data, world->data);
    assert_string_equal(places.wisdom, world->wisdom);
    assert_string_equal(places.cache_note, "");
    kw_context_close(&context);
    setenv("KW_WISDOM", "/elsewhere/wisdom", 1);
    context = toy_open(world);
    kw_context_paths(&places, context, NULL);
    assert_string_equal(places.wisdom, "/elsewhere/wisdom");
    kw_context_close(&context);
    world->options.wisdom_file = "";
    world->options.cache_dir = "";
    context = toy_open(world);
    kw_context_paths(&places, context, NULL);
    assert_string_equal(places.wisdom, "");
    assert_string_equal(places.cache, "");
    assert_true(*places.cache_note);
    kw_context_close(&context);
    unsetenv("KW_WISDOM");
    unsetenv("KW_CACHE_DIR");
    unsetenv("KW_DATA_DIR");
}

static void opening_a_context_starts_nothing(void **state) {
    toy_world *world = *state;
    kw_context *context = toy_open(world);
    assert_contains(kw_context_target(context), "cpu:");
    assert_int_equal(scratch_count(world->folder, ""), 0);
    kw_context_close(&context);
}

static void the_mode_comes_from_the_environment_when_none_is_asked(void **state) {
    setenv("KW_MODE", "frozen", 1);
    kw_context *context = toy_open(*state);
    unsetenv("KW_MODE");
    assert_string_equal(toy_chosen(context, NULL), "gemm.reference gemm fp32");
    assert_string_equal(toy_chosen(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_SHORTLIST}), TOY_BEST);
    kw_context_close(&context);
}

/* --- registries ---------------------------------------------------------------------------------------------------- */

static bool keep_named(void *user, const char *config) {
    return strstr(config, user) != NULL;
}

static void configs_are_added_once_and_kept_by_name(void **state) {
    kw_context *context = toy_open(*state);
    kw_registry *registry = make_registry(context);
    assert_int_equal(kw_registry_count(registry), 0);
    assert_null(kw_registry_config(registry, 0));
    assert_int_equal(kw_registry_add(registry, TOY_SLOW, NULL), KW_OK);
    /* another order of the axes is the same config */
    assert_int_equal(kw_registry_add(registry, "test.toy gemm fp32 packs=0 room=0 fault=none slow=40 name=3 math=fma isa=avx2", NULL),
                     KW_OK);
    assert_int_equal(kw_registry_count(registry), 1);
    assert_int_equal(kw_registry_add_default(registry, NULL), KW_OK);
    assert_int_equal(kw_registry_count(registry), TOY_COUNT + 6 + 3 * 6); /* and a generic one for each op and type */
    const char *first = kw_registry_config(registry, 0);
    assert_string_equal(first, TOY_SLOW);
    assert_int_equal(kw_registry_keep(registry, keep_named, "test.toy", NULL), KW_OK);
    assert_int_equal(kw_registry_count(registry), TOY_COUNT);
    assert_ptr_equal(kw_registry_config(registry, 0), first);
    assert_int_equal(kw_registry_keep(registry, keep_named, "fault=wrong", NULL), KW_OK);
    assert_int_equal(kw_registry_count(registry), 1);
    assert_string_equal(kw_registry_config(registry, 0), TOY_WRONG);
    assert_int_equal(kw_registry_add(registry, TOY_SLOW, NULL), KW_OK); /* what was left out can come back */
    assert_int_equal(kw_registry_count(registry), 2);
    assert_string_equal(first, TOY_SLOW); /* its text still lives */
    kw_registry_destroy(&registry);
    kw_context_close(&context);
}

static void bad_configs_are_named(void **state) {
    static const struct {
        const char *config;
        kw_status status;
        const char *part;
    } cases[] = {
        {"", KW_MALFORMED, "empty"},
        {"test.gone gemm fp32", KW_MISSING, "test.gone"},
        {"test.toy gemm fp32", KW_MALFORMED, "needs axis"},
        {TOY_BEST " q=1", KW_MISSING, "no axis q"},
        {"test.toy gemm int8 isa=avx2 math=fma name=1 slow=1 fault=none room=0 packs=0", KW_ILLEGAL, "int8"},
        {NULL, KW_ILLEGAL, "config is NULL"},
    };
    kw_context *context = toy_open(*state);
    kw_registry *registry = make_registry(context);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_error err = {0};
        assert_int_equal(kw_registry_add(registry, cases[i].config, &err), cases[i].status);
        assert_contains(err.text, cases[i].part);
    }
    assert_int_equal(kw_registry_count(registry), 0);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
}

static void a_catalog_file_is_added_whole_or_not_at_all(void **state) {
    toy_world *world = *state;
    char path[2 * SCRATCH_MAX];
    kw_error err = {0};
    static const char good[] = "# two\n" TOY_BEST " # the best\n\n" TOY_SLOW "\n", bad[] = TOY_BEST "\n" TOY_SLOW "\nnonsense\n";
    kw_context *context = toy_open(world);
    kw_registry *registry = make_registry(context);
    scratch_path(path, world->folder, "catalog.txt");
    scratch_write(path, bad, sizeof bad - 1, 0600);
    assert_int_not_equal(kw_registry_load(registry, path, &err), KW_OK);
    assert_contains(err.text, "catalog.txt:3");
    assert_int_equal(kw_registry_count(registry), 0);
    scratch_write(path, good, sizeof good - 1, 0600);
    assert_int_equal(kw_registry_load(registry, path, &err), KW_OK);
    assert_int_equal(kw_registry_count(registry), 2);
    assert_int_equal(kw_registry_load(registry, "/nonexistent/catalog", &err), KW_MISSING);
    assert_int_equal(kw_registry_load(registry, world->folder, &err), KW_IO);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
}

static void fits_gives_the_rule_that_refuses(void **state) {
    kw_context *context = toy_open(*state);
    kw_registry *registry = make_registry(context);
    kw_problem good = toy_problem(TOY_PROBLEM), batched = toy_problem("gemm fp32 rcr b2 m4 n4 k4"),
               half = toy_problem("gemm fp16 rcr m4 n4 k4");
    kw_problem none = good;
    none.gemm.m = 0;
    kw_error err = {0};
    kw_registry_add(registry, TOY_BEST, NULL);
    assert_int_equal(kw_registry_fits(registry, 0, &good, &err), KW_OK);
    assert_int_equal(kw_registry_fits(registry, 0, &batched, &err), KW_NO_KERNEL);
    assert_contains(err.text, "batch 1");
    assert_int_equal(kw_registry_fits(registry, 0, &half, &err), KW_NO_KERNEL);
    assert_contains(err.text, "fp16");
    assert_int_equal(kw_registry_fits(registry, 1, &good, &err), KW_ILLEGAL);
    assert_int_equal(kw_registry_fits(registry, 0, &none, &err), KW_ILLEGAL);
    assert_int_equal(kw_registry_fits(registry, 0, NULL, &err), KW_ILLEGAL);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
}

static void last_progress(void *user, const kw_progress *progress) {
    *(kw_progress *)user = *progress;
}

static void building_counts_what_is_built_cached_and_refused(void **state) {
    toy_world *world = *state;
    kw_context *context = toy_open(world);
    kw_registry *registry = make_registry(context);
    kw_build_report report;
    kw_progress progress = {0};
    kw_registry_add_default(registry, NULL);
    const kw_build_options options = {.size = sizeof(kw_build_options), .jobs = 3, .progress = last_progress, .user = &progress};
    assert_int_equal(kw_registry_build(registry, &options, &report, NULL), KW_OK);
    assert_int_equal(report.built, TOY_COUNT - 1);
    assert_int_equal(report.cached, 0);
    assert_int_equal(report.failed, 1);
    assert_true(report.cpu.median_ns > 0);
    assert_true(report.cpu.most_ns >= report.cpu.median_ns);
    assert_true(report.cpu.total_ns >= report.cpu.most_ns);
    assert_int_equal(progress.done, TOY_COUNT);
    assert_int_equal(progress.total, TOY_COUNT);
    assert_int_equal(progress.failed, 1);
    assert_string_equal(progress.what, "build");
    assert_int_equal(scratch_count(world->data, ".log"), 1);
    kw_paths places;
    assert_int_equal(kw_context_paths(&places, context, NULL), KW_OK);
    assert_int_equal(places.cache_entries, TOY_COUNT - 1);
    assert_true(places.cache_bytes > 0);
    assert_int_equal(kw_registry_build(registry, NULL, &report, NULL), KW_OK);
    assert_int_equal(report.cached, TOY_COUNT - 1);
    assert_int_equal(report.built, 0);
    assert_true(report.cpu.median_ns == 0);
    kw_problem other = toy_problem("gemm fp32 ccr m4 n4 k4");
    assert_int_equal(kw_registry_build(registry, &(kw_build_options){.size = sizeof(kw_build_options), .problem = &other}, &report, NULL),
                     KW_OK);
    assert_int_equal(report.built + report.cached + report.failed, 0);
    int64_t removed;
    assert_int_equal(kw_cache_clear(context, &removed, NULL), KW_OK);
    assert_int_equal(removed, TOY_COUNT - 1);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
    world->options.compiler = "";
    context = toy_open(world);
    registry = make_registry(context);
    kw_registry_add(registry, TOY_BEST, NULL);
    kw_error err = {0};
    assert_int_equal(kw_registry_build(registry, NULL, &report, &err), KW_ENVIRONMENT);
    assert_contains(err.text, "no compiler");
    kw_registry_destroy(&registry);
    kw_context_close(&context);
}

/* --- measuring ----------------------------------------------------------------------------------------------------- */

static void a_measurement_is_a_record_whatever_the_kernel_does(void **state) {
    static const struct {
        const char *config, *problem;
        kw_outcome outcome;
    } cases[] = {
        {TOY_BEST, TOY_PROBLEM, KW_GOOD},
        {TOY_WRONG, TOY_PROBLEM, KW_WRONG},
        {TOY_BROKEN, TOY_PROBLEM, KW_UNCOMPILED},
        {TOY_BEST, "gemm fp32 crr m4 n4 k4", KW_UNFIT},
        {"gemm.reference gemm fp32", TOY_PROBLEM, KW_GOOD},
    };
    kw_context *context = toy_open(*state);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_registry *registry = make_registry(context);
        kw_problem problem = toy_problem(cases[i].problem);
        kw_record record, timed;
        assert_int_equal(kw_registry_add(registry, cases[i].config, NULL), KW_OK);
        assert_int_equal(kw_measure(&record, registry, 0, &problem, NULL, NULL), KW_OK);
        assert_int_equal(
            kw_measure(&timed, registry, 0, &problem, &(kw_measure_options){.size = sizeof(kw_measure_options), .time = true}, NULL),
            KW_OK);
        assert_int_equal(record.outcome, cases[i].outcome);
        assert_int_equal(timed.outcome, cases[i].outcome);
        assert_string_equal(record.config, cases[i].config);
        assert_true(record.time_ns == 0);
        assert_true((timed.time_ns > 0 && timed.samples > 0) == (cases[i].outcome == KW_GOOD));
        assert_true(!*record.detail == (cases[i].outcome == KW_GOOD));
        kw_registry_destroy(&registry);
    }
    kw_registry *registry = make_registry(context);
    kw_problem problem = toy_problem(TOY_PROBLEM);
    kw_record record;
    assert_int_equal(kw_measure(&record, registry, 0, &problem, NULL, NULL), KW_ILLEGAL);
    assert_int_equal(kw_measure(NULL, registry, 0, &problem, NULL, NULL), KW_ILLEGAL);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
}

static void measuring_without_a_compiler_is_an_error_of_the_environment(void **state) {
    toy_world *world = *state;
    world->options.compiler = "";
    kw_context *context = toy_open(world);
    kw_registry *registry = make_registry(context);
    kw_problem problem = toy_problem(TOY_PROBLEM);
    kw_record record;
    kw_registry_add(registry, TOY_BEST, NULL);
    assert_int_equal(kw_measure(&record, registry, 0, &problem, NULL, NULL), KW_ENVIRONMENT);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
}

static void sources_are_complete_texts(void **state) {
    char *source = NULL;
    kw_error err = {0};
    (void)state;
    assert_int_equal(kw_config_source(&source, TOY_BEST, NULL, &err), KW_OK);
    assert_contains(source, "kw_stage1");
    kw_free(source);
    assert_int_equal(kw_config_source(&source, "gemm.reference gemm fp32", NULL, &err), KW_ILLEGAL);
    assert_null(source);
    assert_int_equal(kw_config_source(&source, "nothing", NULL, &err), KW_MISSING);
    assert_int_equal(kw_config_source(NULL, TOY_BEST, NULL, &err), KW_ILLEGAL);
}

static void null_handles_are_harmless(void **state) {
    (void)state;
    kw_error err = {0};
    kw_problem problem = toy_problem(TOY_PROBLEM);
    assert_int_equal(kw_registry_create(NULL, NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_registry_add(NULL, TOY_BEST, &err), KW_ILLEGAL);
    assert_int_equal(kw_registry_load(NULL, "x", &err), KW_ILLEGAL);
    assert_int_equal(kw_registry_add_default(NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_registry_keep(NULL, keep_named, NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_registry_build(NULL, NULL, NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_context_paths(NULL, NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_cache_clear(NULL, NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_wisdom_visit(NULL, NULL, NULL, NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_wisdom_forget(NULL, &problem, NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_registry_count(NULL), 0);
    assert_null(kw_registry_config(NULL, 0));
    assert_true(kw_context_peak(NULL, KW_FP32) == 0);
    kw_registry_destroy(NULL);
    kw_plan_destroy(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void the_reference_kernel_is_added_for_a_problem(void **state) {
    toy_world *world = *state;
    kw_context *context = toy_open(world);
    kw_registry *registry = NULL;
    kw_problem problem;
    assert_int_equal(kw_registry_create(&registry, context, NULL), KW_OK);
    assert_int_equal(kw_problem_parse(&problem, "gemm bf16 rcr m5 n3 k2", NULL), KW_OK);
    assert_int_equal(kw_registry_add_reference(registry, &problem, NULL), KW_OK);
    assert_int_equal(kw_registry_count(registry), 1);
    assert_int_equal(kw_registry_fits(registry, 0, &problem, NULL), KW_OK);
    assert_int_equal(kw_registry_add_reference(registry, NULL, NULL), KW_ILLEGAL);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_names_what_is_wrong),
        TEST(places_follow_options_then_variables),
        TEST(opening_a_context_starts_nothing),
        TEST(the_mode_comes_from_the_environment_when_none_is_asked),
        TEST(configs_are_added_once_and_kept_by_name),
        TEST(bad_configs_are_named),
        TEST(a_catalog_file_is_added_whole_or_not_at_all),
        TEST(fits_gives_the_rule_that_refuses),
        TEST(the_reference_kernel_is_added_for_a_problem),
        TEST(building_counts_what_is_built_cached_and_refused),
        TEST(a_measurement_is_a_record_whatever_the_kernel_does),
        TEST(measuring_without_a_compiler_is_an_error_of_the_environment),
        cmocka_unit_test(sources_are_complete_texts),
        cmocka_unit_test(null_handles_are_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
