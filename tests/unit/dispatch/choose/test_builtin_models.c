/* test_builtin_models.c: models that are compiled in, as cmake/embed.cmake makes them: one that is sound, one whose forest is missing, one
 * of another version. The toys' name axis tells whose word counted. */

#include "base/embedded.h"
#include "unit/dispatch/toy.h"
#include "support/kw_test.h"

/* Likes TOY_SECOND (name 2) best, then TOY_BEST, then the others. */
static const char forest[] = "tree\n"
                             "version=v4\n"
                             "num_class=1\n"
                             "num_tree_per_iteration=1\n"
                             "label_index=0\n"
                             "max_feature_idx=0\n"
                             "objective=regression\n"
                             "feature_names=name\n"
                             "feature_infos=[0:9]\n"
                             "tree_sizes=242 242\n"
                             "\n"
                             "Tree=0\n"
                             "num_leaves=2\n"
                             "num_cat=0\n"
                             "split_feature=0\n"
                             "split_gain=1\n"
                             "threshold=2.5\n"
                             "decision_type=8\n"
                             "left_child=-1\n"
                             "right_child=-2\n"
                             "leaf_value=0 5\n"
                             "leaf_weight=1 1\n"
                             "leaf_count=1 1\n"
                             "internal_value=0\n"
                             "internal_weight=0\n"
                             "internal_count=2\n"
                             "is_linear=0\n"
                             "shrinkage=1\n"
                             "\n"
                             "\n"
                             "Tree=1\n"
                             "num_leaves=2\n"
                             "num_cat=0\n"
                             "split_feature=0\n"
                             "split_gain=1\n"
                             "threshold=1.5\n"
                             "decision_type=8\n"
                             "left_child=-1\n"
                             "right_child=-2\n"
                             "leaf_value=2 0\n"
                             "leaf_weight=1 1\n"
                             "leaf_count=1 1\n"
                             "internal_value=0\n"
                             "internal_weight=0\n"
                             "internal_count=2\n"
                             "is_linear=0\n"
                             "shrinkage=1\n"
                             "\n"
                             "\n"
                             "end of trees\n";

/* From far away, so that any other model is nearer. */
#define SPEC(version)                                                                                                                      \
    "kernelwright-model " version "\ntarget cpu:none model=x units=1 lanes=1 registers=1 l1=1 l2=1 l3=1\nserves gemm fp32\n"               \
    "predicts time\nfeature name\nrows 10 problems 2\ndigest 9e332129086a48bfbc0ddab1b92c5205\n"
static const char spec[] = SPEC("1"), later[] = SPEC("2");

extern const kw_embedded kw_builtin_models[];
const kw_embedded kw_builtin_models[] = {
    {"bare/model.spec", spec, spec + sizeof spec - 1},           {"later/model.spec", later, later + sizeof later - 1},
    {"later/model.lgbm.gz", forest, forest + sizeof forest - 1}, {"sound/model.spec", spec, spec + sizeof spec - 1},
    {"sound/model.lgbm.gz", forest, forest + sizeof forest - 1}, {0},
};

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

static void the_sound_one_answers_and_the_others_are_named(void **state) {
    kw_context *context = toy_open(*state);
    kw_problem problem = toy_problem(TOY_PROBLEM);
    kw_plan *plan = NULL;
    assert_int_equal(
        kw_plan_create(&plan, context, &problem, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT}, NULL), KW_OK);
    assert_string_equal(kw_plan_config(plan), TOY_SECOND);
    assert_contains(kw_plan_explain(plan), "by model sound (");
    assert_contains(kw_plan_explain(plan), "model bare was not used: its forest was not compiled in");
    assert_contains(kw_plan_explain(plan), "model later was not used: later/model.spec:1: \"kernelwright-model 2\"");
    kw_plan_destroy(&plan);
    kw_context_close(&context);
}

static void an_empty_name_passes_over_them(void **state) {
    toy_world *world = *state;
    world->options.model = "";
    kw_context *context = toy_open(world);
    assert_string_equal(toy_chosen(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT}), TOY_BEST);
    kw_context_close(&context);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(the_sound_one_answers_and_the_others_are_named),
        TEST(an_empty_name_passes_over_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
