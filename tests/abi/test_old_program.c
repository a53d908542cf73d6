/* test_old_program.c: a program that was compiled against the first release's header (release_0_1.h) runs with today's library. */
#include "abi/old_program.h"
#include "support/kw_test.h"
#include "support/scratch.h"

static void a_program_of_the_first_release_runs(void **state) {
    char folder[SCRATCH_MAX];
    (void)state;
    const char *fault = old_program_run(scratch_make(folder));
    if (fault) {
        fail_msg("%s", fault);
    }
    scratch_remove(folder);
}

/* Programs make these and have arrays of them. One that has to change before the first release is changed in release_0_1.h, too. */
static void values_have_kept_their_size(void **state) {
    (void)state;
    assert_int_equal(old_program_problem_size(), sizeof(kw_problem));
    assert_int_equal(old_program_error_size(), sizeof(kw_error));
}

/* Else the first test says nothing of growth. */
static void something_has_grown_since(void **state) {
    (void)state;
    assert_true(sizeof(kw_context_options) > offsetof(kw_context_options, parallel_for));
    assert_int_equal(offsetof(kw_context_options, parallel_for), 11 * sizeof(void *));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_kept_their_size),
        cmocka_unit_test(a_program_of_the_first_release_runs),
        cmocka_unit_test(something_has_grown_since),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
