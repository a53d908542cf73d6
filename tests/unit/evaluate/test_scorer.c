/* test_scorer.c: the selector: the single best kernel, chance, a model, held-out predictions. Each says one number a pair, or says of
 * what it says nothing. */
#include "support/rows/made_groups.h"
#include "support/rows/made_rows.h"
#include "support/kw_test.h"
#include "support/scratch.h"
#include "support/rows/stumps.h"
#include "learn/model/forest_text.h"
#include "evaluate/scorer.h"
#include "base/format/gzip.h"

#include <math.h>

#define END                                                                                                                                \
    { 0, KW_OUTCOME_COUNT, 0, {0}, 0 }

static char folder[SCRATCH_MAX];

static int set_up(void **state) {
    (void)state;
    scratch_make(folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

static void near(double value, double wanted) {
    if (!(fabs(value - wanted) <= 1e-9 * fmax(1, fabs(wanted)))) {
        fail_msg("%.12g is not %.12g", value, wanted);
    }
}

/* A model that follows the estimate, but for one feature that cannot matter. */
static const char *save_model(char path[2 * SCRATCH_MAX], const char *name, const char *const *serves) {
    static const stump trees[] = {{"tile_w", 1e9, 0, 0, false}, {NULL, 0, 0, 0, false}};
    static const char *const families[] = {"conv.direct",
                                           "conv.pointwise",
                                           "conv.direct_1st",
                                           "conv.gemm_col2im",
                                           "gemm.tiled",
                                           "conv.depthwise",
                                           "conv.merged",
                                           "conv.depthwise_weight",
                                           "conv.merged_weight",
                                           "conv.direct_bwd_weight",
                                           "conv.depthwise_block",
                                           "conv.direct_block",
                                           "conv.igemm",
                                           "gemm.mma",
                                           "conv.reference",
                                           "gemm.reference",
                                           NULL};
    const char *const targets[] = {made_target, NULL};
    stumps model = {"ratio", targets, serves, families, trees};
    scratch_path(path, folder, name);
    stumps_save(&model, path);
    return path;
}

static const made_pair small[] = {{0, KW_GOOD, 100, {0}, 0}, {1, KW_GOOD, 200, {0}, 0}, {4, KW_GOOD, 400, {0}, 0}, END};
static const made_pair other[] = {{0, KW_GOOD, 400, {0}, 0}, {1, KW_GOOD, 100, {0}, 0}, {5, KW_CRASHED, 0, {0}, 0}, END};
static const made_group three[] = {{"conv_fwd fp32 n1 c64 k64 i28x28 f1", small},
                                   {"conv_fwd fp32 n2 c64 k64 i28x28 f1", small},
                                   {"conv_fwd fp32 n4 c64 k64 i28x28 f1", other}};

static void score(kw_scores *scores, const kw_dataset *dataset, const kw_scorer *scorer) {
    kw_group_oracle *oracles = NULL;
    kw_error err = {0};
    assert_ok(kw_group_oracles_create(&oracles, dataset, &err), &err);
    assert_ok(kw_scores_make(scores, dataset, oracles, scorer, &err), &err);
    free(oracles);
}

static void the_single_best_is_that_of_all_other_problems(void **state) {
    (void)state;
    kw_dataset dataset;
    kw_scores s;
    made_groups_make(&dataset, three, 3);
    score(&s, &dataset, &(kw_scorer){.by = "single"});
    /* Kernel 0 is worth 1, 1, 0.25, kernel 1 0.5, 0.5, 1, kernel 4 0.25, 0.25, 0. Each problem group leaves its own out and takes the
     * mean of two. */
    static const double worth[] = {0.625, 0.75, 0.125, 0.625, 0.75, 0.125, 1, 0.5, 0};
    for (size_t i = 0; i < 9; i++) {
        near(s.ns[i], 2 - worth[i]);
    }
    assert_int_equal(s.kind, KW_SCORES_UNTIMED);
    kw_scores_drop(&s);
    kw_dataset_close(&dataset);
}

static void random_picks_follow_the_seed_and_nothing_else(void **state) {
    (void)state;
    kw_dataset all, last;
    kw_scores a, b, c;
    made_groups_make(&all, three, 3);
    made_groups_make(&last, three + 2, 1);
    score(&a, &all, &(kw_scorer){.by = "random", .seed = 3});
    score(&b, &last, &(kw_scorer){.by = "random", .seed = 3});
    score(&c, &last, &(kw_scorer){.by = "random", .seed = 4});
    assert_memory_equal(a.ns + 6, b.ns, 3 * sizeof *b.ns);
    assert_memory_not_equal(b.ns, c.ns, 3 * sizeof *b.ns);
    kw_scores_drop(&a);
    kw_scores_drop(&b);
    kw_scores_drop(&c);
    kw_dataset_close(&all);
    kw_dataset_close(&last);
}

static void a_model_speaks_for_what_it_serves(void **state) {
    (void)state;
    static const char *const forward[] = {"conv_fwd fp32", NULL}, *const gemm[] = {"gemm fp32", NULL};
    char path[2 * SCRATCH_MAX];
    kw_dataset dataset;
    kw_scores s;
    made_groups_make(&dataset, three, 3);
    score(&s, &dataset, &(kw_scorer){.by = save_model(path, "forward", forward)});
    for (size_t i = 0; i < dataset.pair_count; i++) {
        near(s.ns[i], dataset.pairs[i].estimate_ns);
    }
    assert_true(s.served[0] && s.served[1] && s.served[2]);
    assert_int_equal(s.kind, KW_SCORES_MODEL);
    kw_scores_drop(&s);
    score(&s, &dataset, &(kw_scorer){.by = save_model(path, "gemm", gemm)});
    assert_false(s.served[0] || s.served[1] || s.served[2]);
    kw_scores_drop(&s);
    kw_dataset_close(&dataset);
}

/* Predictions of the problem groups of three; line NULL: as they should be. */
static void write_predictions(char path[2 * SCRATCH_MAX], const char *head, const char *line) {
    kw_dataset dataset;
    kw_text text = {0}, packed = {0};
    made_groups_make(&dataset, three, 3);
    kw_text_addf(&text, "%s\n", head);
    for (size_t c = 0; c < 2; c++) {
        const kw_problem_group *problem_group = &dataset.problem_groups[c];
        char target[KW_TARGET_TEXT_MAX], problem[KW_PROBLEM_TEXT_MAX], config[KW_CONFIG_TEXT_MAX];
        kw_target_print(target, sizeof target, &problem_group->target);
        kw_problem_print(problem, sizeof problem, &problem_group->problem);
        for (size_t i = problem_group->first; i < problem_group->first + problem_group->count; i++) {
            kw_config_print(config, sizeof config, &dataset.pairs[i].config);
            kw_text_addf(&text, "%s,%s,%s,1,0,%zu,%s\n", target, problem, config, 100 + i, i == 1 ? "" : "7.5");
        }
    }
    kw_text_addf(&text, "%s", line ? line : "cpu:other,gemm,nothing,1,0,3,4\n");
    assert_ok(kw_gzip_pack(&packed, text.data, text.size, NULL), &(kw_error){0});
    scratch_write(scratch_path(path, folder, "oof.csv.gz"), packed.data, packed.size, 0644);
    kw_text_drop(&text);
    kw_text_drop(&packed);
    kw_dataset_close(&dataset);
}

static void predictions_find_their_pairs(void **state) {
    (void)state;
    static const char head[] = "target,problem,config,packed,cold,predicted_ns_by_shape,predicted_ns_by_family";
    char path[2 * SCRATCH_MAX];
    kw_dataset dataset;
    kw_scores s;
    made_groups_make(&dataset, three, 3);
    write_predictions(path, head, NULL);
    score(&s, &dataset, &(kw_scorer){.by = path});
    for (size_t i = 0; i < 6; i++) {
        near(s.ns[i], 100 + (double)i);
    }
    assert_true(s.served[0] && s.served[1] && !s.served[2]);
    assert_true(isnan(s.ns[6]));
    kw_scores_drop(&s);
    score(&s, &dataset, &(kw_scorer){.by = path, .folds = "family"});
    near(s.ns[0], 7.5);
    assert_true(isnan(s.ns[1]));
    kw_scores_drop(&s);
    kw_dataset_close(&dataset);
}

static void predictions_that_are_none_are_refused(void **state) {
    (void)state;
    static const char head[] = "target,problem,config,packed,cold,predicted_ns_by_shape";
    static const struct {
        const char *head, *line, *names;
        const char *folds;
    } cases[] = {
        {"", NULL, "no predictions", NULL},
        {"target,problem,config,cold,packed,predicted_ns_by_shape", NULL, "no predictions", NULL},
        {"target,problem,config,packed,cold,ns", NULL, "predicted_ns_by_shape", NULL},
        {head, NULL, "predicted_ns_by_family", "family"},
        {head, "a,b,c,1,0,fast\n", "oof.csv.gz:8: predicted_ns_by_shape is not a number", NULL},
        {head, "a,b,c,1\n", "oof.csv.gz:8:", NULL},
    };
    kw_dataset dataset;
    kw_group_oracle *oracles = NULL;
    made_groups_make(&dataset, three, 3);
    assert_int_equal(kw_group_oracles_create(&oracles, &dataset, NULL), KW_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[2 * SCRATCH_MAX];
        kw_scores s;
        kw_error err = {0};
        write_predictions(path, cases[i].head, cases[i].line);
        assert_int_equal(kw_scores_make(&s, &dataset, oracles, &(kw_scorer){.by = path, .folds = cases[i].folds}, &err), KW_MALFORMED);
        if (!strstr(err.text, cases[i].names)) {
            fail_msg("\"%s\" does not name %s", err.text, cases[i].names);
        }
    }
    free(oracles);
    kw_dataset_close(&dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_single_best_is_that_of_all_other_problems),
        cmocka_unit_test(random_picks_follow_the_seed_and_nothing_else),
        cmocka_unit_test(a_model_speaks_for_what_it_serves),
        cmocka_unit_test(predictions_find_their_pairs),
        cmocka_unit_test(predictions_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
