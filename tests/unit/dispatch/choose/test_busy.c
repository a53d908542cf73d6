/* test_busy.c: what becomes of a choice that was measured on a busy machine. Whether it was is made known by KW_SPREAD_MAX alone: with 0 no
 * time is believed, with TOY_ANY_SPREAD every one is, whatever else this machine does. */

#include "unit/dispatch/toy.h"

#include "base/os/clock.h"
#include "base/os/file.h"
#include "support/kw_test.h"

#include <stdlib.h>

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

typedef struct answer {
    bool measured, wisdom, noise;
    char text[8192];
} answer;

static bool note_kind(void *user, const kw_explanation *e) {
    answer *a = user;
    a->measured |= e->kind == KW_EXPLAIN_MEASURED;
    a->wisdom |= e->kind == KW_EXPLAIN_WISDOM && !strncmp(e->text, "from wisdom", 11);
    a->noise |= e->kind == KW_EXPLAIN_NOISE;
    return true;
}

/* What a context that knows nothing but the files says. */
static answer ask(toy_world *world, const char *spread_max, kw_mode mode) {
    answer a = {.measured = false};
    kw_problem problem = toy_problem(TOY_PROBLEM);
    kw_error err = {0};
    kw_plan *plan = NULL;
    setenv("KW_SPREAD_MAX", spread_max, 1);
    kw_context *context = toy_open(world);
    if (kw_plan_create(&plan, context, &problem, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = mode}, &err)) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(kw_plan_config(plan), TOY_BEST); /* it is the fastest by a factor of four */
    kw_explanation_visit(plan, note_kind, &a);
    snprintf(a.text, sizeof a.text, "%s", kw_plan_explain(plan));
    kw_plan_destroy(&plan);
    kw_context_close(&context);
    return a;
}

static void what_a_busy_machine_says_is_provisional(void **state) {
    answer a = ask(*state, "0", KW_SHORTLIST);
    assert_true(a.measured && a.noise);
    assert_contains(a.text, "the machine is busy: times of the winner spread by ");
    assert_contains(a.text, "the choice is provisional, and measured again next time");
    assert_null(strstr(a.text, " after 0 more finals"));
    assert_int_equal(toy_wisdom_lines(*state), 1);
    /* it answers those who may not measure, who are told */
    static const kw_mode without[] = {KW_FROZEN, KW_PREDICT};
    for (size_t i = 0; i < 2; i++) {
        a = ask(*state, "0", without[i]);
        assert_true(a.wisdom && a.noise && !a.measured);
        assert_contains(a.text, "it is provisional");
    }
    /* those who may measure do so, in several finals unless the machine takes all the time that there is for them */
    const int64_t finals_ns = 1900000000;
    int64_t start = kw_clock_ns();
    a = ask(*state, "0", KW_SHORTLIST);
    bool slow = kw_clock_ns() - start > finals_ns;
    assert_true(a.measured && a.noise && !a.wisdom);
    assert_true(slow || !strstr(a.text, " after 1 more final;"));
    assert_contains(a.text, "was not used: it is provisional: measured on a busy machine, its times spread by ");
    assert_int_equal(toy_wisdom_lines(*state), 1);
    /* the same entry is a fact to who believes any spread */
    a = ask(*state, TOY_ANY_SPREAD, KW_SHORTLIST);
    assert_true(a.wisdom && !a.measured && !a.noise);
}

/* As one of 58 % was that a busy machine left there. */
static void an_entry_that_spreads_is_replaced(void **state) {
    toy_world *world = *state;
    kw_arena arena = {0};
    char *text = NULL, changed[4096];
    size_t size = 0;
    kw_error err = {0};
    ask(world, TOY_ANY_SPREAD, KW_SHORTLIST);
    assert_int_equal(kw_file_read(&arena, world->wisdom, sizeof changed, &text, &size, &err), KW_OK);
    char *field = strchr(text, '\n') + 1; /* mode target problem weights config time_ns spread_ns */
    for (int i = 0; i < 5; i++) {
        field = strchr(field, '\t') + 1;
    }
    char *rest = strchr(strchr(field, '\t') + 1, '\t');
    snprintf(changed, sizeof changed, "%.*s1000.0\t580.0%.*s", (int)(field - text), text, (int)(text + size - rest), rest);
    FILE *file = fopen(world->wisdom, "w");
    assert_non_null(file);
    fputs(changed, file);
    fclose(file);
    assert_contains(changed, "\t1000.0\t580.0\t");
    answer a = ask(world, "58", KW_SHORTLIST);
    assert_true(a.wisdom && !a.measured); /* exactly the limit */
    a = ask(world, "57", KW_PREDICT);
    assert_true(a.wisdom && a.noise);
    a = ask(world, "57", KW_SHORTLIST);
    assert_true(a.measured && !a.wisdom);
    assert_contains(a.text, "it is provisional: measured on a busy machine, its times spread by 58 %");
    kw_arena_drop(&arena);
    assert_int_equal(kw_file_read(&arena, world->wisdom, sizeof changed, &text, &size, &err), KW_OK);
    assert_null(strstr(text, "\t580.0\t"));
    assert_int_equal(toy_wisdom_lines(world), 1);
    kw_arena_drop(&arena);
}

static void note_entry(void *user, const kw_wisdom_entry *entry) {
    *(int *)user += entry->provisional ? 1 : 100;
}

static void entries_are_shown_as_provisional(void **state) {
    toy_world *world = *state;
    ask(world, TOY_ANY_SPREAD, KW_SHORTLIST);
    static const char *const limits[] = {"0", TOY_ANY_SPREAD};
    for (int i = 0; i < 2; i++) {
        int seen = 0;
        setenv("KW_SPREAD_MAX", limits[i], 1);
        kw_context *context = toy_open(world);
        assert_int_equal(kw_wisdom_visit(context, NULL, note_entry, &seen, NULL), KW_OK);
        assert_int_equal(seen, i ? 100 : 1);
        kw_context_close(&context);
    }
}

static void a_limit_without_sense_is_refused(void **state) {
    static const char *const bad[] = {"x", "-1", "1.5", "1000001"};
    toy_world *world = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        kw_context *context = NULL;
        kw_error err = {0};
        setenv("KW_SPREAD_MAX", bad[i], 1);
        assert_int_equal(kw_context_open(&context, "cpu", &world->options, &err), KW_ILLEGAL);
        assert_contains(err.text, "KW_SPREAD_MAX");
        assert_null(context);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_a_busy_machine_says_is_provisional),
        TEST(an_entry_that_spreads_is_replaced),
        TEST(entries_are_shown_as_provisional),
        TEST(a_limit_without_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
