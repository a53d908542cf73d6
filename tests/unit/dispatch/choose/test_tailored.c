/* test_tailored.c: kernels that a family makes for a problem (kw_family.tailor) take part in the choice like listed ones, where the registry is the
 * default one; wisdom remembers them; a registry that lists its own kernels, or keeps some, has none. */
#include "support/kw_test.h"
#include "unit/dispatch/toy.h"

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

static kw_plan *make_plan(kw_context *context, kw_mode mode, kw_registry *registry) {
    kw_problem problem = toy_problem(TOY_TAILORED_PROBLEM);
    kw_plan *plan = NULL;
    kw_error err = {0};
    const kw_plan_options options = {.size = sizeof options, .mode = mode, .registry = registry};
    if (kw_plan_create(&plan, context, &problem, &options, &err)) {
        fail_msg("%s", err.text);
    }
    return plan;
}

typedef struct seen {
    int count;
    char first[512];
} seen;

static bool see(void *user, const kw_prediction *prediction) {
    seen *s = user;
    if (!s->count++) {
        snprintf(s->first, sizeof s->first, "%s", prediction->config);
    }
    return true;
}

static seen predictions(kw_context *context, const char *text, const kw_registry *registry) {
    kw_problem problem = toy_problem(text);
    kw_error err = {0};
    seen s = {0};
    if (kw_predictions_visit(context, &problem, registry, see, &s, &err)) {
        fail_msg("%s", err.text);
    }
    return s;
}

static bool keep_all(void *user, const char *config) {
    (void)user;
    (void)config;
    return true;
}

static kw_registry *registry_of(kw_context *context, bool keeps) {
    kw_registry *registry = NULL;
    assert_int_equal(kw_registry_create(&registry, context, NULL), KW_OK);
    assert_int_equal(kw_registry_add_default(registry, NULL), KW_OK);
    assert_int_equal(keeps ? kw_registry_keep(registry, keep_all, NULL, NULL) : KW_OK, KW_OK);
    return registry;
}

static void the_default_registry_has_what_is_made(void **state) {
    kw_context *context = toy_open(*state);
    seen s = predictions(context, TOY_TAILORED_PROBLEM, NULL);
    assert_int_equal(s.count, 2); /* the listed one and the one that is none are left out */
    assert_string_equal(s.first, TOY_TAILORED);
    assert_int_equal(predictions(context, TOY_PROBLEM, NULL).count, TOY_COUNT);
    kw_registry *whole = registry_of(context, false), *kept = registry_of(context, true);
    assert_int_equal(predictions(context, TOY_TAILORED_PROBLEM, whole).count, 2);
    assert_int_equal(predictions(context, TOY_TAILORED_PROBLEM, kept).count, 0);
    kw_registry_destroy(&whole);
    kw_registry_destroy(&kept);
    kw_context_close(&context);
}

static void it_is_chosen_told_and_remembered(void **state) {
    kw_context *context = toy_open(*state);
    kw_plan *plan = make_plan(context, KW_PREDICT, NULL);
    assert_string_equal(kw_plan_config(plan), TOY_TAILORED);
    assert_contains(kw_plan_explain(plan), "made to the problem's measure");
    kw_plan_destroy(&plan);
    plan = make_plan(context, KW_SHORTLIST, NULL);
    assert_string_equal(kw_plan_config(plan), TOY_TAILORED);
    assert_int_equal(toy_wisdom_lines(*state), 1);
    kw_plan_destroy(&plan);
    kw_context_close(&context);

    context = toy_open(*state);
    kw_registry *whole = registry_of(context, false), *kept = registry_of(context, true);
    for (int i = 0; i < 2; i++) {
        plan = make_plan(context, KW_SHORTLIST, i ? whole : NULL);
        assert_contains(kw_plan_explain(plan), "from wisdom");
        assert_contains(kw_plan_explain(plan), "made to the problem's measure");
        kw_plan_destroy(&plan);
    }
    plan = make_plan(context, KW_SHORTLIST, kept);
    assert_contains(kw_plan_explain(plan), "its kernel is not in the registry");
    assert_contains(kw_plan_config(plan), "gemm.reference");
    kw_plan_destroy(&plan);
    kw_registry_destroy(&whole);
    kw_registry_destroy(&kept);
    kw_context_close(&context);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(the_default_registry_has_what_is_made), TEST(it_is_chosen_told_and_remembered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
