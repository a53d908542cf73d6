/* test_evaluate.c: what may be evaluated, and what is said of it: pools, what a model was trained on, evaluations of a store and
 * comparisons of two of them. */
#include "support/rows/made_groups.h"
#include "support/rows/made_rows.h"
#include "support/kw_test.h"
#include "support/scratch.h"
#include "support/rows/stumps.h"
#include "evaluate/evaluate.h"
#include "learn/model/forest_text.h"
#include "learn/data/dataset_candidates.h"
#include "base/format/gzip.h"

#include <jansson.h>
#include <math.h>

enum { PROBLEMS = 40 };

#define END                                                                                                                                \
    { 0, KW_OUTCOME_COUNT, 0, {0}, 0 }

static char folder[SCRATCH_MAX], store[2 * SCRATCH_MAX];
static made_rows made;

static int set_up(void **state) {
    (void)state;
    scratch_make(folder);
    scratch_path(store, folder, "all.db");
    made_rows_make(&made, PROBLEMS);
    made_rows_save(&made, store, 0, 1);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    made_rows_free(&made);
    scratch_remove(folder);
    return 0;
}

static void near(double value, double wanted) {
    if (!(fabs(value - wanted) <= 1e-9 * fmax(1, fabs(wanted)))) {
        fail_msg("%.12g is not %.12g", value, wanted);
    }
}

static kw_evaluation_options options_of(const char *by) {
    static const char *paths[1];
    paths[0] = store;
    return (kw_evaluation_options){.size = sizeof(kw_evaluation_options), .stores = paths, .store_count = 1, .by = by};
}

static kw_evaluation *open_by(const kw_evaluation_options *options) {
    kw_evaluation *e = NULL;
    kw_error err = {0};
    assert_ok(kw_evaluation_open(&e, options, &err), &err);
    return e;
}

/* A model that follows the estimate, but for one feature that cannot matter. */
static const char *save_model(char path[2 * SCRATCH_MAX], const char *name, const char *const *serves) {
    static const stump trees[] = {{"tile_w", 1e9, 0, 0, false}, {NULL, 0, 0, 0, false}};
    static const char *const families[] = {"conv.direct", NULL};
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

/* --- pools ------------------------------------------------------------------------------------------------------------ */

static void a_pool_adds_what_has_no_row(void **state) {
    (void)state;
    char path[2 * SCRATCH_MAX];
    kw_text text = {0};
    kw_catalog candidates = {0};
    kw_dataset dataset;
    kw_error err = {0};
    size_t added;
    for (int i = MADE_KERNELS; i-- > 0;) {
        kw_text_addf(&text, "%s\n", made_kernels[i]);
    }
    kw_text_add(&text, "conv.reference conv_fwd fp32\ngemm.reference gemm fp32\n");
    scratch_write(scratch_path(path, folder, "pool.txt"), text.data, text.size, 0644);
    assert_ok(kw_dataset_candidates_read(&candidates, path, &err), &err);
    made_groups_make(&dataset, three, 3);
    assert_ok(kw_dataset_candidates_add(&dataset, &candidates, &added, &err), &err);
    assert_int_equal(added, 9);
    assert_int_equal(dataset.pair_count, 18);
    for (size_t c = 0; c < 3; c++) {
        const kw_problem_group *problem_group = &dataset.problem_groups[c];
        assert_int_equal(problem_group->first, 6 * c);
        assert_int_equal(problem_group->count, 6);
        for (size_t i = 0; i < 6; i++) {
            char config[KW_CONFIG_TEXT_MAX];
            const kw_pair *pair = &dataset.pairs[problem_group->first + i];
            kw_config_print(config, sizeof config, &pair->config);
            assert_string_equal(config, made_kernels[i]);
            bool had = c < 2 ? i == 0 || i == 1 || i == 4 : i == 0 || i == 1 || i == 5;
            assert_int_equal(pair->outcome == KW_UNTRIED, !had);
            assert_true(pair->estimate_ns > 0 && pair->launch.stages > 0);
        }
    }
    kw_dataset_close(&dataset);
    kw_catalog_drop(&candidates);
    kw_text_drop(&text);
    scratch_write(path, "# none\n", 7, 0644);
    assert_int_equal(kw_dataset_candidates_read(&candidates, path, &err), KW_ILLEGAL);
    kw_catalog_drop(&candidates);
}

static void a_pick_without_a_row_counts_as_nothing(void **state) {
    (void)state;
    char path[2 * SCRATCH_MAX];
    kw_text text = {0};
    kw_space_options space = {.size = sizeof(kw_space_options), .set = "full", .arch = "x86-64-v4-bf16"};
    kw_registry *registry = NULL;
    kw_context *context = NULL;
    kw_error err = {0};
    kw_context_options quiet = {.size = sizeof(kw_context_options), .wisdom_file = "", .cache_dir = "", .compiler = ""};
    assert_ok(kw_context_open(&context, "cpu", &quiet, &err), &err);
    assert_ok(kw_registry_create(&registry, context, &err), &err);
    assert_ok(kw_registry_add_space(registry, &space, &err), &err);
    for (size_t i = 0; i < kw_registry_count(registry); i++) {
        kw_text_addf(&text, "%s\n", kw_registry_config(registry, i));
    }
    scratch_write(scratch_path(path, folder, "full.txt"), text.data, text.size, 0644);
    kw_text_drop(&text);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
    kw_evaluation_options options = options_of("estimate");
    kw_evaluation *measured = open_by(&options);
    options.candidates = path;
    kw_evaluation *whole = open_by(&options);
    assert_int_equal(kw_evaluation_all(whole)->problem_groups, kw_evaluation_all(measured)->problem_groups);
    assert_true(kw_evaluation_all(whole)->candidates > kw_evaluation_all(measured)->candidates);
    assert_true(kw_evaluation_all(whole)->coverage.value < kw_evaluation_all(measured)->coverage.value);
    assert_true(kw_evaluation_all(whole)->mean.value < kw_evaluation_all(measured)->mean.value);
    assert_true(whole->untried > 0);
    kw_evaluation_close(&measured);
    kw_evaluation_close(&whole);
}

/* --- what a model was trained on -------------------------------------------------------------------------------------- */

static void save_trained(const char *where, const char *text, size_t size) {
    char path[2 * SCRATCH_MAX];
    kw_text packed = {0};
    assert_int_equal(kw_gzip_pack(&packed, text, size, NULL), KW_OK);
    scratch_write(scratch_path(path, where, "trained_on.txt.gz"), packed.data, packed.size, 0644);
    kw_text_drop(&packed);
}

static void what_was_trained_on_is_known_in_every_dress(void **state) {
    (void)state;
    static const made_group seen[] = {{"conv_fwd fp32 n1 c64 k64 i28x28 f1", small}};
    static const struct {
        const char *problem;
        bool shape, family;
    } cases[] = {
        {"conv_fwd fp32 n1 c64 k64 i28x28 f1", true, true},       {"conv_fwd bf16 n1 c64 k64 i28x28 f1", true, true},
        {"conv_bwd_data fp32 n1 c64 k64 i28x28 f1", true, false}, {"conv_fwd fp32 n2 c64 k64 i28x28 f1", false, true},
        {"conv_fwd fp32 n1 c64 k64 i28x28 f3 p1", false, false},
    };
    kw_dataset dataset;
    kw_text text = {0};
    kw_trained_on trained;
    kw_error err = {0};
    made_groups_make(&dataset, seen, 1);
    assert_ok(kw_trained_on_print(&text, &dataset, NULL, &err), &err);
    save_trained(folder, text.data, text.size);
    assert_ok(kw_trained_on_read(&trained, folder, &err), &err);
    assert_true(trained.known);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_dataset asked;
        made_pair none[] = {END};
        made_groups_make(&asked, &(made_group){cases[i].problem, none}, 1);
        assert_int_equal(kw_trained_on_has(&trained, &asked.problem_groups[0], KW_BY_SHAPE), cases[i].shape);
        assert_int_equal(kw_trained_on_has(&trained, &asked.problem_groups[0], KW_BY_FAMILY), cases[i].family);
        kw_dataset_close(&asked);
    }
    kw_trained_on_drop(&trained);
    kw_dataset_close(&dataset);
    kw_text_drop(&text);
    assert_ok(kw_trained_on_read(&trained, "/no/such", &err), &err);
    assert_false(trained.known);
    static const char *const bad[] = {"",
                                      "kernelwright-trained-on 2\n",
                                      "kernelwright-trained-on 1\nshape 12\n",
                                      "kernelwright-trained-on 1\nshape 0123456789abcdeg\n",
                                      "kernelwright-trained-on 1\nfamily \n",
                                      "kernelwright-trained-on 1\nnetwork x\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        save_trained(folder, bad[i], strlen(bad[i]));
        assert_int_equal(kw_trained_on_read(&trained, folder, &err), KW_MALFORMED);
        assert_false(trained.known);
    }
}

static void a_model_is_not_judged_by_its_own_training(void **state) {
    (void)state;
    static const char *const serves[] = {"conv_fwd fp32", "conv_fwd bf16", "gemm fp32", "gemm bf16", NULL};
    char path[2 * SCRATCH_MAX];
    kw_dataset half;
    kw_text text = {0};
    kw_error err = {0};
    kw_evaluation_options options = options_of(save_model(path, "model", serves));
    kw_evaluation *all = open_by(&options), *unseen = NULL, *asked = NULL;
    assert_true(all->unpredicted > 0);
    /* Trained on all but the second half of the problem groups. */
    assert_ok(kw_dataset_open(&half, options.stores, 1, NULL, &err), &err);
    size_t problem_groups = half.problem_group_count;
    half.problem_group_count = problem_groups / 2;
    assert_ok(kw_trained_on_print(&text, &half, NULL, &err), &err);
    save_trained(path, text.data, text.size);
    unseen = open_by(&options);
    assert_true(unseen->in_sample >= problem_groups / 2);
    assert_true(unseen->count < all->count && unseen->count > 0);
    options.in_sample = true;
    asked = open_by(&options);
    assert_int_equal(asked->count, all->count);
    assert_int_equal(asked->in_sample, 0);
    kw_evaluation_close(&asked);
    half.problem_group_count = problem_groups;
    kw_text_drop(&text);
    assert_ok(kw_trained_on_print(&text, &half, NULL, &err), &err);
    save_trained(path, text.data, text.size);
    options.in_sample = false;
    assert_int_equal(kw_evaluation_open(&asked, &options, &err), KW_FAILED);
    assert_non_null(strstr(err.text, "trained on"));
    assert_null(asked);
    kw_text_drop(&text);
    kw_dataset_close(&half);
    kw_evaluation_close(&all);
    kw_evaluation_close(&unseen);
}

/* --- evaluations ------------------------------------------------------------------------------------------------------ */

static void requests_that_cannot_be_are_refused_with_their_reason(void **state) {
    (void)state;
    static const char *const absent[] = {"/no/such.db"}, *const lists[] = {"bert"}, *const wrong[] = {"no-such-list"};
    struct {
        kw_evaluation_options options;
        kw_status status;
        const char *names;
    } cases[] = {
        {options_of(NULL), KW_ILLEGAL, "stores"},          {options_of(NULL), KW_MISSING, "/no/such.db"},
        {options_of(NULL), KW_ILLEGAL, "no store"},        {options_of("/no/oof.csv"), KW_MISSING, "/no/oof.csv"},
        {options_of(NULL), KW_FAILED, "holdout"},          {options_of(NULL), KW_MISSING, "no-such-list"},
        {options_of(NULL), KW_FAILED, "no problem group"}, {options_of(NULL), KW_MISSING, "/no/pool.txt"},
    };
    cases[0].options.stores = NULL;
    cases[1].options.stores = absent;
    cases[2].options.store_count = 0;
    cases[4].options.holdout = lists;
    cases[4].options.holdout_count = 1;
    cases[5].options.holdout = wrong;
    cases[5].options.holdout_count = 1;
    cases[6].options.by_dtype = true;
    cases[6].options.dtype = KW_INT8;
    cases[7].options.candidates = "/no/pool.txt";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_evaluation *e = NULL;
        kw_error err = {0};
        assert_int_not_equal(kw_evaluation_open(&e, &cases[i].options, &err), KW_OK);
        assert_null(e);
        assert_int_equal(err.status, cases[i].status);
        if (!strstr(err.text, cases[i].names)) {
            fail_msg("\"%s\" does not name %s", err.text, cases[i].names);
        }
    }
}

static void sealed_lists_alone_are_judged(void **state) {
    (void)state;
    char path[2 * SCRATCH_MAX], line[KW_PROBLEM_TEXT_MAX + 2];
    const char *lists[] = {scratch_path(path, folder, "holdout.txt")};
    kw_evaluation_options options = options_of("estimate");
    kw_evaluation *all = open_by(&options);
    const kw_problem *problem = &all->dataset.problem_groups[all->group_evaluations[0].problem_group].problem;
    kw_problem_print(line, sizeof line - 1, problem);
    strcat(line, "\n");
    scratch_write(path, line, strlen(line), 0644);
    options.holdout = lists;
    options.holdout_count = 1;
    kw_evaluation *holdout = open_by(&options);
    assert_true(holdout->count >= 1 && holdout->count < all->count);
    assert_int_equal(holdout->count + holdout->outside_holdout + holdout->unsolved, all->dataset.problem_group_count);
    for (size_t i = 0; i < holdout->count; i++) {
        assert_true(holdout->dataset.problem_groups[holdout->group_evaluations[i].problem_group].holdout);
    }
    kw_evaluation_close(&all);
    kw_evaluation_close(&holdout);
}

static void slices_partition_the_groups(void **state) {
    (void)state;
    kw_evaluation_options options = options_of("estimate");
    kw_evaluation *e = open_by(&options);
    int64_t problem_groups[KW_SLICINGS] = {0};
    double mean[KW_SLICINGS] = {0};
    for (size_t i = 0; i < e->slice_count; i++) {
        const kw_slice *slice = &e->slices[i];
        assert_true(*slice->key && slice->metrics.problem_groups > 0);
        problem_groups[slice->slicing] += slice->metrics.problem_groups;
        mean[slice->slicing] += slice->metrics.mean.value * (double)slice->metrics.problem_groups;
        assert_true(slice->metrics.mean.low <= slice->metrics.mean.value && slice->metrics.mean.value <= slice->metrics.mean.high);
    }
    for (int s = 0; s < KW_SLICINGS; s++) {
        assert_int_equal(problem_groups[s], s == KW_SLICE_TRAINED ? 0 : e->all.problem_groups);
        if (problem_groups[s]) {
            near(mean[s] / (double)problem_groups[s], e->all.mean.value);
        }
    }
    kw_evaluation_close(&e);
}

static void what_is_printed_is_whole(void **state) {
    (void)state;
    kw_evaluation_options options = options_of("estimate");
    kw_evaluation *e = open_by(&options);
    char *text = NULL, *json = NULL, path[2 * SCRATCH_MAX];
    kw_error err = {0};
    size_t size, lines = 0;
    assert_ok(kw_evaluation_text(&text, e, &err), &err);
    assert_non_null(strstr(text, "kernels each"));
    assert_non_null(strstr(text, "95 % interval"));
    assert_non_null(strstr(text, "worst selections"));
    kw_free(text);
    assert_ok(kw_evaluation_json(&json, e, &err), &err);
    json_error_t why;
    json_t *root = json_loads(json, JSON_REJECT_DUPLICATES, &why);
    assert_non_null(root);
    json_t *all = json_object_get(root, "all");
#define IS_THERE(name, meaning) assert_int_equal(json_array_size(json_object_get(all, #name)), 3);
    KW_EVALUATION_METRICS(IS_THERE)
#undef IS_THERE
    near(json_real_value(json_array_get(json_object_get(all, "mean"), 0)), e->all.mean.value);
    assert_int_equal(json_array_size(json_object_get(root, "slices")), e->slice_count);
    json_decref(root);
    kw_free(json);
    assert_ok(kw_evaluation_csv(scratch_path(path, folder, "selections.csv"), e, &err), &err);
    text = scratch_read(path, &size);
    size_t commas = 0, first = 0;
    for (size_t i = 0; i < size; i++) {
        commas += text[i] == ',';
        if (text[i] == '\n') {
            first = first ? first : commas;
            assert_int_equal(commas, first);
            commas = 0;
            lines++;
        }
    }
    assert_int_equal(lines, e->count + 1);
    free(text);
    kw_evaluation_close(&e);
}

/* --- comparisons ------------------------------------------------------------------------------------------------------ */

static void a_scorer_equals_itself(void **state) {
    (void)state;
    kw_evaluation_options options = options_of("estimate");
    kw_evaluation *a = open_by(&options), *b = open_by(&options);
    kw_comparison c;
    kw_error err = {0};
    assert_ok(kw_evaluations_compare(&c, a, b, &err), &err);
    assert_int_equal(c.problem_groups, a->count);
    assert_int_equal(c.agreed, a->count);
    assert_int_equal(c.same, a->count);
    near(c.mean_delta.value, 0);
    near(c.worst_loss, 0);
    assert_ok(kw_comparison_accept(&c, NULL, &err), &err);
    kw_evaluation_close(&a);
    kw_evaluation_close(&b);
}

static void chance_is_worse_than_the_estimate(void **state) {
    (void)state;
    kw_evaluation_options by_estimate = options_of("estimate"), by_chance = options_of("random");
    kw_evaluation *a = open_by(&by_estimate), *b = open_by(&by_chance);
    kw_comparison c, back;
    kw_error err = {0};
    char *text = NULL;
    assert_ok(kw_evaluations_compare(&c, a, b, &err), &err);
    assert_ok(kw_evaluations_compare(&back, b, a, &err), &err);
    assert_int_equal(c.better + c.same + c.worse, c.problem_groups);
    assert_true(c.worse > c.better && c.agreed < c.problem_groups);
    assert_int_equal(c.better, back.worse);
    assert_int_equal(c.worse, back.better);
    near(c.mean_delta.value, b->all.mean.value - a->all.mean.value);
    assert_true(c.mean_delta.low <= c.mean_delta.value && c.mean_delta.value <= c.mean_delta.high && c.mean_delta.value < 0);
    assert_true(c.worst_loss > 0.1 && *c.worst);
    assert_ok(kw_comparison_text(&text, &c, a, b, &err), &err);
    assert_non_null(strstr(text, "B loses most"));
    kw_free(text);
    assert_int_equal(kw_comparison_accept(&c, NULL, &err), KW_FAILED);
    kw_evaluation_options less = options_of("random");
    less.by_op = true;
    less.op = KW_GEMM;
    kw_evaluation *other_rows = open_by(&less);
    assert_int_equal(kw_evaluations_compare(&c, a, other_rows, &err), KW_ILLEGAL);
    kw_evaluation_close(&other_rows);
    kw_evaluation_close(&a);
    kw_evaluation_close(&b);
}

static void acceptance_names_the_first_criterion_that_is_missed(void **state) {
    (void)state;
    static const struct {
        double mean, median, p10, loss;
        const char *names; /* NULL: accepted */
    } cases[] = {
        {0.9, 0.96, 0.8, 0, NULL},      {0.8955, 0.9552, 0.784, 0.1, NULL},
        {0.8954, 0.96, 0.8, 0, "mean"}, {0.9, 0.955, 0.8, 0, "median"},
        {0.9, 0.96, 0.783, 0, "P10"},   {0.9, 0.96, 0.8, 0.101, "one problem"},
        {0.5, 0.5, 0.5, 0.5, "mean"},   {0.99, 1, 0.9, 0, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_comparison c = {.a = {.mean = {.value = 0.9}, .median = {.value = 0.96}, .p10 = {.value = 0.8}},
                           .b = {.mean = {.value = cases[i].mean}, .median = {.value = cases[i].median}, .p10 = {.value = cases[i].p10}},
                           .worst_loss = cases[i].loss,
                           .worst = "conv_fwd ..."};
        kw_error err = {0};
        kw_status status = kw_comparison_accept(&c, NULL, &err);
        assert_int_equal(status, cases[i].names ? KW_FAILED : KW_OK);
        if (cases[i].names && strncmp(err.text, cases[i].names, strlen(cases[i].names)) != 0) {
            fail_msg("\"%s\" does not begin with %s", err.text, cases[i].names);
        }
    }
    kw_comparison c = {.a = {.mean = {.value = 1}}, .b = {.mean = {.value = 0.8}}};
    assert_int_equal(kw_comparison_accept(&c, &(kw_acceptance){.size = sizeof(kw_acceptance), .mean = 0.3}, NULL), KW_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_adds_what_has_no_row),
        cmocka_unit_test(a_pick_without_a_row_counts_as_nothing),
        cmocka_unit_test(what_was_trained_on_is_known_in_every_dress),
        cmocka_unit_test(a_model_is_not_judged_by_its_own_training),
        cmocka_unit_test(requests_that_cannot_be_are_refused_with_their_reason),
        cmocka_unit_test(sealed_lists_alone_are_judged),
        cmocka_unit_test(slices_partition_the_groups),
        cmocka_unit_test(what_is_printed_is_whole),
        cmocka_unit_test(a_scorer_equals_itself),
        cmocka_unit_test(chance_is_worse_than_the_estimate),
        cmocka_unit_test(acceptance_names_the_first_criterion_that_is_missed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
