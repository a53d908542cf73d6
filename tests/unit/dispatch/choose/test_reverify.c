/* test_reverify.c: when wisdom's winner is verified again before it is used, and what comes of it. Wisdom is made by measuring toys once,
 * and its line is changed by hand. */

#include "base/os/clock.h"
#include "dispatch/wisdom/wisdom_text.h"
#include "unit/dispatch/toy.h"
#include "support/kw_test.h"

#include <unistd.h>

enum { CONFIG = 4, DATE = 8, BUILDER = 11, CHECKED = 12, FIELDS = 13 };

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

/* Measures once, so that wisdom has one line. */
static void learn(toy_world *world) {
    kw_context *context = toy_open(world);
    assert_string_equal(toy_chosen(context, NULL), TOY_BEST);
    kw_context_close(&context);
}

/* Field number n of the only entry of a wisdom file, on the heap. */
static char *field_of(const char *path, int n) {
    size_t size;
    char *text = scratch_read(path, &size);
    const char *at = strchr(text, '\n') + 1;
    for (int i = 0; i < n; i++) {
        at += strcspn(at, "\t\n");
        assert_int_equal(*at, '\t');
        at++;
    }
    char *field = strndup(at, strcspn(at, "\t\n"));
    free(text);
    return field;
}

static void assert_field(const char *path, int n, const char *expected) {
    char *field = field_of(path, n);
    assert_string_equal(field, expected);
    free(field);
}

/* Writes the first count fields of the entry at from to the file at to, field n replaced by value (n -1: none). */
static void change(const char *to, const char *from, int count, int n, const char *value) {
    kw_text text = {0};
    for (int i = 0; i < count; i++) {
        char *field = field_of(from, i);
        kw_text_addf(&text, "%s%s", i ? "\t" : KW_WISDOM_HEADER "\n", i == n ? value : field);
        free(field);
    }
    kw_text_add(&text, "\n");
    scratch_write(to, text.data, text.size, 0644);
    kw_text_drop(&text);
}

/* Makes a plan in a fresh context: nothing may be measured unless the choice says so, and the explanation has the part or has it not. */
static void expect(toy_world *world, const kw_plan_options *options, bool verified) {
    static const char said[] = "verified again now";
    kw_context *context = toy_open(world);
    kw_problem problem = toy_problem(TOY_PROBLEM);
    kw_plan *plan = NULL;
    size_t count;
    assert_int_equal(kw_plan_create(&plan, context, &problem, options, NULL), KW_OK);
    assert_string_equal(kw_plan_config(plan), TOY_BEST);
    assert_null(kw_plan_records(plan, &count));
    assert_contains(kw_plan_explain(plan), "from wisdom");
    if (verified != (strstr(kw_plan_explain(plan), said) != NULL)) {
        fail_msg("verified is not %d: %s", verified, kw_plan_explain(plan));
    }
    kw_plan_destroy(&plan);
    kw_context_close(&context);
}

static void wisdom_of_today_and_of_this_compiler_is_not_verified(void **state) {
    toy_world *world = *state;
    char today[11];
    learn(world);
    kw_clock_date(today);
    assert_field(world->wisdom, CHECKED, today);
    char *builder = field_of(world->wisdom, BUILDER);
    assert_int_equal(strlen(builder), 16);
    free(builder);
    expect(world, NULL, false);
}

static void another_compiler_an_unknown_one_and_age_ask_for_it_once(void **state) {
    static const struct {
        int count, field;
        const char *value;
    } cases[] = {
        {FIELDS, BUILDER, "0123456789abcdef"},
        {FIELDS, BUILDER, "-"},
        {FIELDS, CHECKED, "2020-02-29"},
        {BUILDER, DATE, "2020-02-29"}, /* a line of before: eleven fields */
        {BUILDER, -1, NULL},
    };
    toy_world *world = *state;
    char today[11], days[2][11];
    kw_clock_date(today);
    kw_clock_date_before(days[0], 89);
    kw_clock_date_before(days[1], 91);
    learn(world);
    char *builder = field_of(world->wisdom, BUILDER);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        change(world->wisdom, world->wisdom, cases[i].count, cases[i].field, cases[i].value);
        expect(world, NULL, true);
        assert_int_equal(toy_wisdom_lines(world), 1);
        assert_field(world->wisdom, BUILDER, builder);
        assert_field(world->wisdom, CHECKED, today);
        assert_field(world->wisdom, DATE, i < 3 ? today : "2020-02-29"); /* when it was timed stays */
        expect(world, NULL, false);
    }
    change(world->wisdom, world->wisdom, FIELDS, CHECKED, days[0]);
    expect(world, NULL, false);
    change(world->wisdom, world->wisdom, FIELDS, CHECKED, days[1]);
    expect(world, NULL, true);
    free(builder);
}

static void modes_that_measure_nothing_verify_nothing(void **state) {
    toy_world *world = *state;
    learn(world);
    change(world->wisdom, world->wisdom, FIELDS, BUILDER, "0123456789abcdef");
    expect(world, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_FROZEN}, false);
    expect(world, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT}, false);
    assert_field(world->wisdom, BUILDER, "0123456789abcdef");
    expect(world, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_SHORTLIST}, true);
}

static void one_that_is_wrong_now_is_measured_anew(void **state) {
    toy_world *world = *state;
    learn(world);
    change(world->wisdom, world->wisdom, BUILDER, CONFIG, TOY_WRONG);
    kw_context *context = toy_open(world);
    kw_problem problem = toy_problem(TOY_PROBLEM);
    kw_plan *plan = NULL;
    size_t count = 0;
    assert_int_equal(kw_plan_create(&plan, context, &problem, NULL, NULL), KW_OK);
    assert_string_equal(kw_plan_config(plan), TOY_BEST);
    assert_non_null(kw_plan_records(plan, &count));
    assert_contains(kw_plan_explain(plan), "verified again now, and wrong: ");
    assert_contains(kw_plan_explain(plan), "measured now");
    assert_field(world->wisdom, CONFIG, TOY_BEST);
    kw_plan_destroy(&plan);
    kw_context_close(&context);
    expect(world, NULL, false);
}

static void wisdom_of_the_system_is_copied_when_it_was_verified(void **state) {
    toy_world *world = *state;
    char path[2 * SCRATCH_MAX];
    learn(world);
    scratch_path(path, world->folder, "system.txt");
    change(path, world->wisdom, FIELDS, BUILDER, "0123456789abcdef");
    unlink(world->wisdom);
    setenv("KW_SYSTEM_WISDOM", path, 1);
    expect(world, NULL, true);
    assert_int_equal(toy_wisdom_lines(world), 1);
    assert_field(path, BUILDER, "0123456789abcdef");
    expect(world, NULL, false);
    unsetenv("KW_SYSTEM_WISDOM");
}

/* The real thing: the cache is empty and another compiler makes the kernel. */
static void a_kernel_made_by_another_compiler_is_verified(void **state) {
    toy_world *world = *state;
    learn(world);
    char *before = field_of(world->wisdom, BUILDER);
    world->options.compiler = "clang";
    kw_context *context = toy_open(world);
    kw_cache_clear(context, NULL, NULL);
    bool there = !strncmp(kw_context_compiler(context), "clang", 5);
    kw_context_close(&context);
    if (!there) {
        free(before);
        print_message("skipped: no clang\n");
        skip();
    }
    expect(world, NULL, true);
    char *after = field_of(world->wisdom, BUILDER);
    assert_string_not_equal(after, before);
    expect(world, NULL, false);
    free(before);
    free(after);
}

/* Another compiler made it too, later; the cache still has the one that was measured. */
static void the_kernel_that_was_measured_comes_before_a_younger_one(void **state) {
    toy_world *world = *state;
    kw_registry *registry = NULL;
    kw_build_report report = {0};
    learn(world);
    world->options.compiler = "clang";
    kw_context *context = toy_open(world);
    bool there = !strncmp(kw_context_compiler(context), "clang", 5);
    if (there) {
        assert_int_equal(kw_registry_create(&registry, context, NULL), KW_OK);
        kw_registry_add(registry, TOY_BEST, NULL);
        assert_int_equal(kw_registry_build(registry, NULL, &report, NULL), KW_OK);
        assert_int_equal(report.built, 1);
        kw_registry_destroy(&registry);
    }
    kw_context_close(&context);
    if (!there) {
        print_message("skipped: no clang\n");
        skip();
    }
    char *builder = field_of(world->wisdom, BUILDER);
    expect(world, NULL, false);
    change(world->wisdom, world->wisdom, FIELDS, BUILDER, "0123456789abcdef");
    expect(world, NULL, true);
    char *younger = field_of(world->wisdom, BUILDER);
    assert_string_not_equal(younger, builder);
    free(builder);
    free(younger);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(wisdom_of_today_and_of_this_compiler_is_not_verified),
        TEST(another_compiler_an_unknown_one_and_age_ask_for_it_once),
        TEST(modes_that_measure_nothing_verify_nothing),
        TEST(one_that_is_wrong_now_is_measured_anew),
        TEST(wisdom_of_the_system_is_copied_when_it_was_verified),
        TEST(a_kernel_made_by_another_compiler_is_verified),
        TEST(the_kernel_that_was_measured_comes_before_a_younger_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
