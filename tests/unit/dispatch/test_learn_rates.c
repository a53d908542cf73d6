/* test_learn_rates.c: the first choice on a machine of which nothing is kept measures its rates, once for all later contexts; a frozen context
 * does not, nor one under KW_RATES=usual. */
#include "dispatch/context.h"
#include "kernelwright.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <stdlib.h>

static kw_context *open_in(const char *folder) {
    kw_context *context = NULL;
    kw_error err = {0};
    kw_context_options options = {.size = sizeof options, .threads = 1, .cache_dir = folder, .data_dir = folder, .model = ""};
    assert_int_equal(kw_context_open(&context, "cpu", &options, &err), KW_OK);
    return context;
}

static bool see_one(void *user, const kw_prediction *prediction) {
    *(double *)user = prediction->estimate_ns;
    return false;
}

static double predict(kw_context *context) {
    kw_problem problem;
    kw_error err = {0};
    double ns = 0;
    assert_int_equal(kw_problem_parse(&problem, "gemm fp32 rcr m64 n64 k64", &err), KW_OK);
    assert_int_equal(kw_predictions_visit(context, &problem, NULL, see_one, &ns, &err), KW_OK);
    return ns;
}

static bool is_kept(const char *folder) {
    char path[2 * SCRATCH_MAX];
    scratch_path(path, folder, "rates.txt");
    FILE *file = fopen(path, "re");
    if (file) {
        fclose(file);
    }
    return file;
}

static void the_first_choice_measures_them_once(void **state) {
    (void)state;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        skip();
    }
    char folder[SCRATCH_MAX];
    scratch_make(folder);
    kw_context *context = open_in(folder);
    assert_true(context->target->rates.fma256 == 0 && !is_kept(folder)); /* opening measures nothing */
    assert_true(predict(context) > 0);
    double rate = context->target->rates.fma256;
    assert_true(rate > 0 && context->target->rates.l2 > 0 && context->target->rates.ram == 0 && is_kept(folder));
    assert_true(predict(context) > 0 && context->target->rates.fma256 == rate);
    kw_context_close(&context);
    context = open_in(folder);
    double kept = context->target->rates.fma256;
    assert_true(kept > 0.99 * rate && kept < 1.01 * rate); /* three digits are kept */
    kw_context_close(&context);
    scratch_remove(folder);
}

static void a_frozen_context_measures_nothing(void **state) {
    (void)state;
    char folder[SCRATCH_MAX];
    scratch_make(folder);
    kw_context *context = open_in(folder);
    kw_problem problem;
    kw_plan *plan = NULL;
    kw_error err = {0};
    kw_plan_options options = {.size = sizeof options, .mode = KW_FROZEN};
    assert_int_equal(kw_problem_parse(&problem, "gemm fp32 rcr m64 n64 k64", &err), KW_OK);
    assert_int_equal(kw_plan_create(&plan, context, &problem, &options, &err), KW_OK);
    assert_true(context->target->rates.fma256 == 0 && !is_kept(folder));
    kw_plan_destroy(&plan);
    kw_context_close(&context);
    scratch_remove(folder);
}

static void the_usual_ones_stand_where_they_are_wanted(void **state) {
    (void)state;
    char folder[SCRATCH_MAX];
    scratch_make(folder);
    setenv("KW_RATES", "usual", 1);
    kw_context *context = open_in(folder);
    assert_true(predict(context) > 0 && context->target->rates.fma256 == 0 && !is_kept(folder));
    kw_context_close(&context);
    setenv("KW_RATES", "guessed", 1);
    kw_error err = {0};
    assert_int_equal(kw_context_open(&context, "cpu", NULL, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "KW_RATES=guessed is not known; known: measured usual"));
    unsetenv("KW_RATES");
    scratch_remove(folder);
}

int main(void) {
    unsetenv("KW_RATES");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_choice_measures_them_once),
        cmocka_unit_test(a_frozen_context_measures_nothing),
        cmocka_unit_test(the_usual_ones_stand_where_they_are_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
