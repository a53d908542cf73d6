/* test_model_selector.c: choices by a model: whose word counts, what a shortlist is made of, and that nothing a model does can keep a plan from
 * being made. The models are stumps over the toys' axes; there is one family of toys, so the shortlist's families are tested on lists made
 * by hand. */

#include "base/os/file.h"
#include "dispatch/choose/candidates.h"
#include "support/kw_test.h"
#include "support/rows/stumps.h"
#include "unit/dispatch/toy.h"

#include <math.h>

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

static const char *const served[] = {"gemm fp32", NULL};
static const char *const families[] = {"test.toy", NULL};
static const char *const fresh_elsewhere[] = {"test.toy gemm", "test.fresh conv_fwd", NULL};

/* Likes TOY_SECOND (name 2) best, then TOY_BEST, then the others. */
static const stump second_first[] = {{"name", 2.5, 0, 5, false}, {"name", 1.5, 2, 0, false}, {NULL, 0, 0, 0, false}};
/* Likes the high names: TOY_BROKEN, TOY_WRONG, then the others. */
static const stump high_first[] = {{"name", 4.5, 5, 0, false}, {"name", 3.5, 5, 0, false}, {NULL, 0, 0, 0, false}};

/* Writes data/models/NAME of a model trained on the target. */
static void save_model_of(const toy_world *world, const char *name, const char *target, const stump *trees, const char *predicts,
                          const char *const *known) {
    const char *const targets[] = {target, NULL};
    const stumps model = {predicts, targets, served, known, trees};
    char folder[4 * SCRATCH_MAX];
    snprintf(folder, sizeof folder, "%s/models/%s", world->data, name);
    stumps_save(&model, folder);
}

static void save_model(const toy_world *world, const char *name, const char *target, const stump *trees, const char *predicts) {
    save_model_of(world, name, target, trees, predicts, families);
}

/* This machine's target, with one thread, and in what it differs. */
static const char *target_text(toy_world *world, const char *find, const char *by) {
    static char text[KW_TARGET_TEXT_MAX + 64];
    kw_context *context = toy_open(world);
    const char *own = kw_context_target(context), *at = find ? strstr(own, find) : NULL;
    if (at) {
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - own), own, by, at + strlen(find));
    } else {
        snprintf(text, sizeof text, "%s", own);
    }
    kw_context_close(&context);
    return text;
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

static const kw_plan_options predict = {.size = sizeof(kw_plan_options), .mode = KW_PREDICT};

typedef struct remarks {
    char text[4096];
} remarks;

static void keep_remark(void *user, const char *line) {
    remarks *r = user;
    size_t size = strlen(r->text);
    snprintf(r->text + size, sizeof r->text - size, "%s\n", line);
}

/* Makes a plan by prediction in a fresh context; its config must be that one and its explanation hold these parts (NULL: nothing more). */
static void expect(toy_world *world, const char *config, const char *part, const char *other) {
    kw_context *context = toy_open(world);
    kw_plan *plan = make_plan(context, &predict);
    if (strcmp(kw_plan_config(plan), config)) {
        fail_msg("chose %s", kw_plan_explain(plan));
    }
    assert_contains(kw_plan_explain(plan), part);
    if (other) {
        assert_contains(kw_plan_explain(plan), other);
    }
    kw_plan_destroy(&plan);
    kw_context_close(&context);
}

/* --- which model ---------------------------------------------------------------------------------------------------------- */

static void prediction_goes_by_the_model(void **state) {
    toy_world *world = *state;
    expect(world, TOY_BEST, "by the analytic estimate", NULL);
    save_model(world, "mine", target_text(world, NULL, NULL), second_first, "ratio");
    expect(world, TOY_SECOND, "by model mine (", "the analytic estimate says");
}

static void the_nearest_model_answers_and_a_far_one_is_remarked(void **state) {
    toy_world *world = *state;
    remarks heard = {{0}};
    world->options.log = keep_remark;
    world->options.user = &heard;
    save_model(world, "a-other-kind", "cpu:generic model=x units=1 lanes=1 registers=1 l1=1 l2=1 l3=1", high_first, "time");
    kw_context *context = toy_open(world);
    kw_plan *plan = make_plan(context, &predict);
    assert_contains(kw_plan_explain(plan), "by model a-other-kind");
    assert_contains(kw_plan_explain(plan), "model a-other-kind was trained on another architecture");
    assert_contains(heard.text, "model a-other-kind was trained on another architecture");
    kw_plan_destroy(&plan);
    kw_context_close(&context);
    memset(&heard, 0, sizeof heard);
    save_model(world, "b-near", target_text(world, "units=1", "units=3"), second_first, "time");
    expect(world, TOY_SECOND, "by model b-near",
           "b-near was trained on another processor, cache or number of threads: half of what it says");
    assert_string_equal(heard.text, "");
    save_model(world, "c-same", target_text(world, NULL, NULL), high_first, "time");
    context = toy_open(world);
    plan = make_plan(context, &predict);
    assert_contains(kw_plan_explain(plan), "by model c-same");
    kw_plan_destroy(&plan);
    kw_context_close(&context);
}

static void a_named_model_stands_alone_and_an_empty_name_means_none(void **state) {
    toy_world *world = *state;
    char folder[4 * SCRATCH_MAX];
    save_model(world, "mine", target_text(world, NULL, NULL), second_first, "ratio");
    world->options.model = "";
    expect(world, TOY_BEST, "by the analytic estimate", NULL);
    snprintf(folder, sizeof folder, "%s/models/mine", world->data);
    world->options.model = folder;
    expect(world, TOY_SECOND, "by model mine", NULL);
    world->options.model = "/nonexistent/model";
    expect(world, TOY_BEST, "by the analytic estimate", "model model was not used: cannot read /nonexistent/model/model.spec");
    world->options.model = NULL;
    setenv("KW_MODEL", "", 1);
    expect(world, TOY_BEST, "by the analytic estimate", NULL);
    setenv("KW_MODEL", folder, 1);
    expect(world, TOY_SECOND, "by model mine", NULL);
    world->options.model = "";
    expect(world, TOY_BEST, "by the analytic estimate", NULL);
    unsetenv("KW_MODEL");
}

static void a_model_for_other_problems_is_not_asked(void **state) {
    static const char *const conv[] = {"conv_fwd fp32", NULL};
    toy_world *world = *state;
    const char *const targets[] = {target_text(world, NULL, NULL), NULL};
    const stumps model = {"ratio", targets, conv, families, second_first};
    char folder[4 * SCRATCH_MAX];
    snprintf(folder, sizeof folder, "%s/models/conv", world->data);
    stumps_save(&model, folder);
    expect(world, TOY_BEST, "by the analytic estimate", "no model that may be asked serves gemm fp32");
}

/* --- failures -------------------------------------------------------------------------------------------------------------- */

static void a_broken_model_leaves_the_next_one_or_the_estimate(void **state) {
    toy_world *world = *state;
    char path[4 * SCRATCH_MAX];
    remarks heard = {{0}};
    world->options.log = keep_remark;
    world->options.user = &heard;
    save_model(world, "a", target_text(world, NULL, NULL), second_first, "ratio");
    snprintf(path, sizeof path, "%s/models/a/model.lgbm.gz", world->data);
    scratch_write(path, "tree\n", 5, 0600);
    expect(world, TOY_BEST, "by the analytic estimate", "model a was not used:");
    assert_contains(heard.text, "model a is not used: ");
    assert_contains(heard.text, "digest");
    save_model(world, "b", target_text(world, NULL, NULL), second_first, "ratio");
    expect(world, TOY_SECOND, "by model b", "model a was not used:");
    snprintf(path, sizeof path, "%s/models/b/model.spec", world->data);
    scratch_write(path, "kernelwright-model 1\nserves gemm fp32\nserves gemm fp32\n", 55, 0600);
    expect(world, TOY_BEST, "model a was not used:", "model b was not used: ");
    expect(world, TOY_BEST, "model.spec:3: serves gemm fp32 is said twice", NULL);
}

/* Nothing to predict is no failure of the model's. */
static void a_problem_that_nothing_serves_says_nothing_of_models(void **state) {
    toy_world *world = *state;
    remarks heard = {{0}};
    save_model(world, "mine", target_text(world, NULL, NULL), second_first, "time");
    world->options.log = keep_remark;
    world->options.user = &heard;
    kw_context *context = toy_open(world);
    kw_problem problem = toy_problem("gemm fp32 ccr m8 n8 k8");
    kw_plan *plan = NULL;
    assert_int_equal(kw_plan_create(&plan, context, &problem, &predict, NULL), KW_OK);
    assert_null(strstr(kw_plan_explain(plan), "model"));
    assert_null(strstr(heard.text, "model"));
    kw_plan_destroy(&plan);
    kw_context_close(&context);
}

/* A file among the folders of models is none of them. */
static void stray_files_are_no_models(void **state) {
    toy_world *world = *state;
    char path[4 * SCRATCH_MAX];
    remarks heard = {{0}};
    save_model(world, "mine", target_text(world, NULL, NULL), second_first, "time");
    snprintf(path, sizeof path, "%s/models/README", world->data);
    scratch_write(path, "hello\n", 6, 0600);
    world->options.log = keep_remark;
    world->options.user = &heard;
    expect(world, TOY_SECOND, "by model mine", NULL);
    assert_string_equal(heard.text, "");
}

static void a_broken_model_is_remarked_once(void **state) {
    toy_world *world = *state;
    remarks heard = {{0}};
    world->options.log = keep_remark;
    world->options.user = &heard;
    world->options.model = "/nonexistent";
    kw_context *context = toy_open(world);
    static const char *const problems[] = {"gemm fp32 rcr m5 n6 k7", "gemm fp32 rcr m6 n6 k7", "gemm fp32 rcr m7 n6 k7"};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        kw_problem problem = toy_problem(problems[i]);
        kw_plan *plan = NULL;
        assert_int_equal(kw_plan_create(&plan, context, &problem, &predict, NULL), KW_OK);
        assert_contains(kw_plan_explain(plan), "was not used"); /* every explanation says so */
        kw_plan_destroy(&plan);
    }
    const char *first = strstr(heard.text, "is not used");
    assert_non_null(first);
    assert_null(strstr(first + 1, "is not used"));
    kw_context_close(&context);
}

/* What a model may say of all kernels alike: the order is then the estimate's, or the estimate answers. */
static void equal_and_impossible_predictions_leave_a_fixed_order(void **state) {
    static const struct {
        const char *predicts;
        double value;
        const char *part;
    } cases[] = {
        {"time", 5, "by model m ("},
        {"relative", 0, "by model m ("},
        {"rank", 3, "by model m ("},
        {"time", 1e300, "model m was not used: it has no finite time"},
        {"tflops", -1, "model m was not used: it has no finite time"},
        {"ratio", 1e300, "by the analytic estimate"},
    };
    toy_world *world = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const stump trees[] = {{"name", 0.5, cases[i].value, cases[i].value, false}, {NULL, 0, 0, 0, false}};
        save_model(world, "m", target_text(world, NULL, NULL), trees, cases[i].predicts);
        expect(world, TOY_BEST, cases[i].part, NULL);
    }
}

/* --- rankings of registries ------------------------------------------------------------------------------------------------ */

static void a_registry_that_changes_is_ranked_anew(void **state) {
    toy_world *world = *state;
    save_model(world, "mine", target_text(world, NULL, NULL), high_first, "ratio");
    kw_context *context = toy_open(world);
    for (int round = 0; round < 3; round++) {
        kw_registry *registry = NULL;
        assert_int_equal(kw_registry_create(&registry, context, NULL), KW_OK);
        const kw_plan_options own = {.size = sizeof(kw_plan_options), .mode = KW_PREDICT, .registry = registry};
        kw_registry_add(registry, TOY_BEST, NULL);
        assert_string_equal(toy_chosen(context, &own), TOY_BEST);
        kw_registry_add(registry, TOY(7, 50, none, 0, 0), NULL);
        assert_string_equal(toy_chosen(context, &own), TOY(7, 50, none, 0, 0));
        kw_registry_add(registry, TOY(2, 4, none, 0, 0), NULL);
        assert_string_equal(toy_chosen(context, &own), TOY(7, 50, none, 0, 0));
        kw_registry_destroy(&registry);
    }
    kw_context_close(&context);
}

typedef struct answers {
    char configs[TOY_COUNT + 1][KW_CONFIG_TEXT_MAX];
    kw_prediction last; /* its strings are gone */
    size_t count, most;
} answers;

static bool take_answer(void *user, const kw_prediction *prediction) {
    answers *a = user;
    assert_true(a->count < a->most);
    assert_true(!a->count || prediction->expected_ns >= a->last.expected_ns);
    assert_true(prediction->estimate_ns > 0);
    snprintf(a->configs[a->count], KW_CONFIG_TEXT_MAX, "%s", prediction->config);
    a->last = *prediction;
    return ++a->count < a->most;
}

static void predictions_come_in_the_order_of_the_mode(void **state) {
    toy_world *world = *state;
    kw_problem problem = toy_problem(TOY_PROBLEM), bad = problem;
    save_model(world, "mine", target_text(world, NULL, NULL), second_first, "time");
    kw_context *context = toy_open(world), *other = toy_open(world);
    kw_registry *foreign = NULL;
    kw_error err = {0};
    answers all = {.most = TOY_COUNT}, one = {.most = 1};
    bad.gemm.k = 0;
    assert_int_equal(kw_registry_create(&foreign, other, NULL), KW_OK);
    assert_int_equal(kw_predictions_visit(context, &problem, NULL, take_answer, &all, NULL), KW_OK);
    assert_int_equal(all.count, TOY_COUNT);
    assert_string_equal(all.configs[0], TOY_SECOND);
    assert_string_equal(all.configs[1], TOY_BEST);
    assert_int_equal(all.last.model_distance, 0);
    assert_int_equal(kw_predictions_visit(context, &problem, NULL, take_answer, &one, NULL), KW_OK);
    assert_int_equal(one.count, 1);
    assert_string_equal(toy_chosen(context, &predict), one.configs[0]);
    assert_int_equal(kw_predictions_visit(NULL, &problem, NULL, take_answer, &one, &err), KW_ILLEGAL);
    assert_contains(err.text, "context is NULL");
    assert_int_equal(kw_predictions_visit(context, NULL, NULL, take_answer, &one, &err), KW_ILLEGAL);
    assert_int_equal(kw_predictions_visit(context, &problem, NULL, NULL, &one, &err), KW_ILLEGAL);
    assert_int_equal(kw_predictions_visit(context, &bad, NULL, take_answer, &one, &err), KW_ILLEGAL);
    assert_int_equal(kw_predictions_visit(context, &problem, foreign, take_answer, &one, &err), KW_ILLEGAL);
    assert_contains(err.text, "another context");
    kw_registry_destroy(&foreign);
    kw_context_close(&context);
    kw_context_close(&other);
}

/* --- what there is ----------------------------------------------------------------------------------------------------------- */

typedef struct seen {
    char names[8][64], faults[8][200];
    int32_t distances[8];
    bool asked[8];
    int64_t memory[8];
    size_t count;
} seen;

static void keep_model(void *user, const kw_model_info *model) {
    seen *s = user;
    assert_true(s->count < 8);
    snprintf(s->names[s->count], sizeof s->names[0], "%s", model->name);
    snprintf(s->faults[s->count], sizeof s->faults[0], "%s", model->fault);
    s->distances[s->count] = model->distance;
    s->asked[s->count] = model->asked[KW_GEMM][KW_FP32];
    s->memory[s->count] = model->memory_bytes;
    assert_false(model->asked[KW_CONV_FWD][KW_FP32]);
    assert_int_equal(model->serves[KW_GEMM][KW_FP32], *model->targets != NULL);
    assert_true(*model->folder != 0 && model->written > 0);
    assert_true(*model->fault || (model->file_bytes > 0 && model->rows > 0 && model->problems > 0));
    s->count++;
}

static void models_are_listed_with_what_is_asked_of_them(void **state) {
    toy_world *world = *state;
    char path[4 * SCRATCH_MAX];
    save_model(world, "a-near", target_text(world, "units=1", "units=7"), second_first, "ratio");
    save_model(world, "c-mine", target_text(world, NULL, NULL), second_first, "ratio");
    save_model(world, "d-mine-too", target_text(world, NULL, NULL), second_first, "ratio");
    save_model(world, "b-broken", target_text(world, NULL, NULL), second_first, "ratio");
    snprintf(path, sizeof path, "%s/models/b-broken/model.lgbm.gz", world->data);
    assert_int_equal(kw_file_replace(path, "no forest", 9, 0644, NULL), KW_OK);
    save_model(world, "e-unread", target_text(world, NULL, NULL), second_first, "ratio");
    snprintf(path, sizeof path, "%s/models/e-unread/model.spec", world->data);
    assert_int_equal(kw_file_replace(path, "nothing", 7, 0644, NULL), KW_OK);
    kw_context *context = toy_open(world);
    seen s = {.count = 0};
    kw_error err = {0};
    assert_int_equal(kw_models_visit(context, keep_model, &s, &err), KW_OK);
    static const char *const names[] = {"a-near", "b-broken", "c-mine", "d-mine-too", "e-unread"};
    assert_int_equal(s.count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(s.names[i], names[i]);
        assert_int_equal(s.asked[i], i == 2); /* the nearest that can be read, the first of equals */
        assert_int_equal(*s.faults[i] != 0, i == 1 || i == 4);
        assert_int_equal(s.memory[i] > 0, i != 1 && i != 4);
    }
    assert_int_equal(s.distances[0], 1);
    assert_int_equal(s.distances[2], 0);
    assert_int_equal(s.distances[4], -1);
    assert_int_equal(kw_models_visit(context, NULL, NULL, &err), KW_ILLEGAL);
    kw_context_close(&context);
}

/* --- the shortlist --------------------------------------------------------------------------------------------------------- */

static void a_shortlist_measures_the_models_best_and_the_estimates(void **state) {
    toy_world *world = *state;
    save_model(world, "wrong", target_text(world, NULL, NULL), high_first, "ratio");
    kw_context *context = toy_open(world);
    kw_plan *plan = make_plan(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .shortlist = 2});
    size_t count = 0;
    const kw_record *records = kw_plan_records(plan, &count);
    assert_int_equal(count, 2);
    /* The model's best does not compile; the estimate's best is in the list and wins. */
    assert_string_equal(records[0].config, TOY_BEST);
    assert_string_equal(records[1].config, TOY_BROKEN);
    assert_contains(kw_plan_explain(plan), "the shortlist is by model wrong");
    kw_plan_destroy(&plan);
    kw_context_close(&context);
}

enum { LIST = 10 };

/* Fills a list from rows: the family's letter, expected and estimated time, in the order of expectation. */
typedef struct row {
    char family;
    double expected, estimate;
} row;

static void shortlist_of(char names[LIST + 1], const row *rows, size_t count, size_t wanted, bool model) {
    static const kw_family three[3] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    kw_config configs[LIST] = {{0}};
    kw_candidate list[LIST];
    for (size_t i = 0; i < count; i++) {
        configs[i].family = &three[rows[i].family - 'a'];
        list[i] = (kw_candidate){.config = &configs[i], .expected_ns = rows[i].expected, .estimate_ns = rows[i].estimate};
    }
    size_t got = kw_shortlist_take(list, count, wanted, model);
    for (size_t i = 0; i < got; i++) {
        names[i] = (char)('0' + (list[i].config - configs));
    }
    names[got] = 0;
}

static void a_shortlist_is_diverse(void **state) {
    static const row rows[] = {{'a', 10, 50}, {'a', 11, 60}, {'a', 12, 70}, {'b', 14, 90}, {'c', 15.1, 80}, {'a', 16, 40}};
    /* Of b and c the model knows nothing; c's estimate is too far from the best one, a's second. */
    static const row strange[] = {{'a', 10, 50}, {'a', 11, 40}, {'b', INFINITY, 55}, {'b', INFINITY, 56}, {'c', INFINITY, 61}};
    /* In a short list the best of one that it never saw stands before those of families that it saw. */
    static const row fresh[] = {{'a', 10, 40}, {'a', 11, 50}, {'b', 12, 60}, {'c', INFINITY, 45}, {'c', INFINITY, 46}};
    static const row alone[] = {{'a', 10, 5}, {'b', 100, 6}};
    /* A list of eight has two of the estimate's, one where the model's best is its first. */
    static const row far[] = {{'a', 10, 50}, {'a', 11, 51}, {'a', 12, 52}, {'a', 13, 53}, {'a', 14, 54},
                              {'a', 15, 55}, {'a', 16, 56}, {'a', 17, 57}, {'a', 18, 41}, {'a', 19, 40}};
    static const row near[] = {{'a', 10, 40}, {'a', 11, 51}, {'a', 12, 52}, {'a', 13, 53}, {'a', 14, 54},
                               {'a', 15, 55}, {'a', 16, 56}, {'a', 17, 57}, {'a', 18, 42}, {'a', 19, 41}};
    static const struct {
        const row *rows;
        size_t count, wanted;
        bool model;
        const char *expected;
    } cases[] = {
        {rows, 6, 1, true, "0"},      /* the model's best */
        {rows, 6, 2, true, "05"},     /* the estimate's best */
        {rows, 6, 3, true, "053"},    /* b is within reach, c is not */
        {rows, 6, 4, true, "0531"},   /* then by rank */
        {rows, 6, 9, true, "053124"}, /* all of them */
        {rows, 6, 3, false, "034"},   /* by the estimate every family comes first */
        {rows, 6, 4, false, "0134"},  /* and the list keeps its order */
        {strange, 5, 2, true, "01"},    {strange, 5, 3, true, "012"},  {strange, 5, 4, true, "0123"}, /* no second one, and not c, before the next by rank */
        {fresh, 5, 2, true, "03"},      {fresh, 5, 3, true, "032"},    {fresh, 5, 9, true, "03214"},    {alone, 2, 2, true, "01"},
        {far, 10, 8, true, "09812345"}, {far, 10, 7, true, "0912345"}, {near, 10, 8, true, "09123456"}, {alone, 2, 1, true, "0"},
        {alone, 2, 0, true, ""},        {alone, 0, 4, true, ""},       {alone, 0, 4, false, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char names[LIST + 1];
        shortlist_of(names, cases[i].rows, cases[i].count, cases[i].wanted, cases[i].model);
        if (strcmp(names, cases[i].expected)) {
            fail_msg("case %zu: %s instead of %s", i, names, cases[i].expected);
        }
    }
}

/* The model has no time for some: they come last, whatever the estimate says, and the shortlist still holds. */
static void candidates_without_a_time_come_last(void **state) {
    toy_world *world = *state;
    static const stump trees[] = {{"name", 1.5, 1e300, 0, false}, {NULL, 0, 0, 0, false}};
    save_model(world, "m", target_text(world, NULL, NULL), trees, "time");
    expect(world, TOY_WRONG, "by model m", NULL); /* the best estimate of those that are left and compile */
}

static bool note_time(void *user, const kw_prediction *p) {
    char *marks = user;
    size_t size = strlen(marks);
    snprintf(marks + size, 64 - size, "%s%s", strstr(p->config, "test.fresh") ? "fresh" : "toy", isinf(p->expected_ns) ? "? " : " ");
    return true;
}

static void fresh_is_measured_or_left(toy_world *world, const char *const *known) {
    static const char remark[] = "model m never saw kernels of test.fresh for gemm: they may be measured, but are not chosen without";
    static const char *const configs[] = {TOY_SLOW, TOY_SECOND, TOY_FRESH};
    kw_registry *registry = NULL;
    kw_error err = {0};
    kw_problem problem = toy_problem(TOY_PROBLEM);
    char marks[64] = "";
    size_t count = 0;
    save_model_of(world, "m", target_text(world, NULL, NULL), second_first, "time", known);
    kw_context *context = toy_open(world);
    assert_ok(kw_registry_create(&registry, context, &err), &err);
    for (size_t i = 0; i < 3; i++) {
        assert_ok(kw_registry_add(registry, configs[i], &err), &err);
    }
    assert_ok(kw_predictions_visit(context, &problem, registry, note_time, marks, &err), &err);
    assert_string_equal(marks, "toy toy fresh? "); /* though its estimate is the best */
    kw_plan *plan = make_plan(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT, .registry = registry});
    assert_string_equal(kw_plan_config(plan), TOY_SECOND);
    assert_contains(kw_plan_explain(plan), remark);
    kw_plan_destroy(&plan);
    plan = make_plan(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .shortlist = 2, .registry = registry});
    kw_plan_records(plan, &count);
    assert_int_equal(count, 2);
    assert_string_equal(kw_plan_config(plan), TOY_FRESH); /* it is the fastest by a factor of four */
    assert_contains(kw_plan_explain(plan), "the shortlist is by model m");
    assert_contains(kw_plan_explain(plan), remark);
    kw_plan_destroy(&plan);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
}

/* A model that was trained before there was test.fresh says nothing of it: predictions leave it, a shortlist has it measured, both tell. */
static void a_family_that_the_model_never_saw_is_measured_or_left(void **state) {
    fresh_is_measured_or_left(*state, families);
}

/* Nor does one whose rows of it are of another operation. */
static void so_is_one_that_was_seen_for_other_operations(void **state) {
    fresh_is_measured_or_left(*state, fresh_elsewhere);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(prediction_goes_by_the_model),
        TEST(the_nearest_model_answers_and_a_far_one_is_remarked),
        TEST(a_named_model_stands_alone_and_an_empty_name_means_none),
        TEST(a_model_for_other_problems_is_not_asked),
        TEST(a_broken_model_leaves_the_next_one_or_the_estimate),
        TEST(a_problem_that_nothing_serves_says_nothing_of_models),
        TEST(stray_files_are_no_models),
        TEST(models_are_listed_with_what_is_asked_of_them),
        TEST(a_broken_model_is_remarked_once),
        TEST(equal_and_impossible_predictions_leave_a_fixed_order),
        TEST(a_family_that_the_model_never_saw_is_measured_or_left),
        TEST(so_is_one_that_was_seen_for_other_operations),
        TEST(a_registry_that_changes_is_ranked_anew),
        TEST(predictions_come_in_the_order_of_the_mode),
        TEST(a_shortlist_measures_the_models_best_and_the_estimates),
        TEST(candidates_without_a_time_come_last),
        cmocka_unit_test(a_shortlist_is_diverse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
