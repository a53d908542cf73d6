/* test_prune.c: the greedy cover on problem groups whose best sets are plain to see, what it keeps on problems that did not choose, and its
 * files. */
#include "support/rows/made_groups.h"
#include "support/rows/made_rows.h"
#include "space/enumerate.h"
#include "support/kw_test.h"
#include "support/scratch.h"
#include "prune/set_cover.h"
#include "learn/data/split/folds.h"
#include "learn/data/dataset_candidates.h"

#include <dirent.h>
#include <math.h>
#include <sys/stat.h>

enum { CONTESTS = 6, PROBLEMS = 40 };

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

/* Times of the kernels in each problem group; 0: it crashed there. */
typedef struct matrix {
    kw_dataset dataset;
    kw_group_oracle *oracles;
    kw_set_cover *cover;
} matrix;

static void open_matrix(matrix *m, const double times[][MADE_KERNELS], size_t problem_groups) {
    made_group list[CONTESTS];
    made_pair pairs[CONTESTS][MADE_KERNELS + 1];
    char problems[CONTESTS][64];
    kw_error err = {0};
    for (size_t c = 0; c < problem_groups; c++) {
        snprintf(problems[c], sizeof problems[c], "conv_fwd fp32 n%zu c64 k64 i28x28 f1%s", c + 1,
                 c % 2 ? " epilogue=bias+relu" : ""); /* a kernel is the same with and without one */
        for (int k = 0; k < MADE_KERNELS; k++) {
            pairs[c][k] = (made_pair){.kernel = k, .outcome = times[c][k] > 0 ? KW_GOOD : KW_CRASHED, .time = times[c][k]};
        }
        pairs[c][MADE_KERNELS] = (made_pair){.outcome = KW_OUTCOME_COUNT};
        list[c] = (made_group){problems[c], pairs[c]};
    }
    made_groups_make(&m->dataset, list, problem_groups);
    assert_ok(kw_group_oracles_create(&m->oracles, &m->dataset, &err), &err);
    assert_ok(kw_set_cover_open(&m->cover, &m->dataset, m->oracles, KW_CONV_FWD, KW_FP32, &err), &err);
}

static void close_matrix(matrix *m) {
    kw_set_cover_close(&m->cover);
    free(m->oracles);
    kw_dataset_close(&m->dataset);
}

/* The numbers of the chosen kernels in made_kernels, in order. */
static void choose(const matrix *m, const kw_set_cover_subset *part, double keep, double worst, char text[32]) {
    size_t order[MADE_KERNELS], count;
    kw_error err = {0};
    assert_ok(kw_set_cover_select(order, &count, m->cover, part, keep, worst, &err), &err);
    *text = 0;
    for (size_t i = 0; i < count; i++) {
        char config[KW_CONFIG_TEXT_MAX];
        int k = 0;
        kw_config_print(config, sizeof config, &kw_set_cover_kernels(m->cover)->configs[order[i]]);
        while (strcmp(config, made_kernels[k]) != 0) {
            k++;
        }
        snprintf(text + strlen(text), 32 - strlen(text), "%d", k);
    }
}

static const kw_set_cover_subset everything = {0};

/* Kernel 0 is the best in three problem groups and half as fast as the best elsewhere, 1 and 2 are the best in one each. */
static const double plain[][MADE_KERNELS] = {{100, 400, 400, 400, 0, 0},
                                             {100, 400, 400, 400, 0, 0},
                                             {100, 400, 400, 400, 0, 0},
                                             {200, 100, 400, 400, 0, 0},
                                             {200, 400, 100, 400, 0, 0}};

static void the_smallest_set_that_keeps_enough_is_taken(void **state) {
    (void)state;
    static const struct {
        double keep, worst;
        const char *chosen;
    } cases[] = {
        {0.6, 0, "0"}, {0.8, 0, "0"}, {0.81, 0, "01"}, {0.9, 0.5, "01"}, {0.91, 0, "012"}, {0.8, 0.51, "012"}, {1, 1, "012"},
    };
    matrix m;
    char chosen[32];
    open_matrix(&m, plain, 5);
    assert_int_equal(kw_set_cover_problem_groups(m.cover), 5);
    assert_int_equal(kw_set_cover_kernels(m.cover)->count, 4); /* what never ran is no kernel to choose */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        choose(&m, &everything, cases[i].keep, cases[i].worst, chosen);
        assert_string_equal(chosen, cases[i].chosen);
    }
    close_matrix(&m);
}

static void what_became_needless_is_dropped(void **state) {
    (void)state;
    /* 0 is good everywhere and taken first; 1 and 2 then cover everything by themselves. */
    static const double times[][MADE_KERNELS] = {
        {125, 100, 0, 0, 0, 0}, {125, 100, 0, 0, 0, 0}, {125, 0, 100, 0, 0, 0}, {125, 0, 100, 0, 0, 0}};
    matrix m;
    char chosen[32];
    open_matrix(&m, times, 4);
    choose(&m, &everything, 0.7, 0, chosen);
    assert_string_equal(chosen, "0");
    choose(&m, &everything, 0.99, 0, chosen);
    assert_string_equal(chosen, "12");
    close_matrix(&m);
}

static void parts_are_chosen_for_and_judged_apart(void **state) {
    (void)state;
    static const int32_t fold[] = {0, 0, 0, 1, 2};
    const kw_set_cover_subset own = {fold, 1, false}, others = {fold, 1, true};
    matrix m;
    char chosen[32];
    kw_set_cover_score score;
    kw_error err = {0};
    open_matrix(&m, plain, 5);
    choose(&m, &own, 1, 1, chosen);
    assert_string_equal(chosen, "1");
    choose(&m, &others, 1, 1, chosen);
    assert_string_equal(chosen, "02");
    size_t order[] = {0, 2};
    assert_ok(kw_set_cover_evaluate(&score, m.cover, &own, order, 2, &err), &err);
    assert_int_equal(score.problem_groups, 1);
    near(score.sum, 0.5);
    assert_ok(kw_set_cover_evaluate(&score, m.cover, &others, order, 2, &err), &err);
    assert_int_equal(score.problem_groups, 4);
    near(score.sum, 4);
    near(score.worst, 1);
    assert_ok(kw_set_cover_evaluate(&score, m.cover, &everything, order, 0, &err), &err);
    near(score.sum, 0);
    close_matrix(&m);
}

static void nothing_to_cover_is_said(void **state) {
    (void)state;
    kw_dataset dataset = {0};
    kw_group_oracle oracles = {0};
    kw_set_cover *cover = NULL;
    kw_error err = {0};
    assert_int_equal(kw_set_cover_open(&cover, &dataset, &oracles, KW_GEMM, KW_BF16, &err), KW_FAILED);
    assert_non_null(strstr(err.text, "gemm bf16"));
    assert_null(cover);
}

/* --- kw_prune --------------------------------------------------------------------------------------------------------- */

static kw_prune_options options_of(const char *out) {
    static const char *paths[1];
    paths[0] = store;
    return (kw_prune_options){.size = sizeof(kw_prune_options),
                              .stores = paths,
                              .store_count = 1,
                              .out = out,
                              .keep = 0.98,
                              .worst = 0.8,
                              .command = "kwright\nprune"};
}

static void a_report_adds_up(void **state) {
    (void)state;
    kw_prune_options options = options_of(NULL);
    kw_prune_report r;
    kw_error err = {0};
    assert_ok(kw_prune(&options, &r, &err), &err);
    assert_true(r.groups > 3);
    int64_t problem_groups = 0, chosen = 0, kernels = 0;
    double kept = 0, worst = 1, held_out = 0, held_out_groups = 0, held_out_worst = 1, curve[KW_PRUNE_CURVE] = {0};
    bool goes_on[KW_PRUNE_CURVE] = {false};
    for (int32_t i = 0; i < r.groups; i++) {
        const kw_prune_group *g = &r.group[i];
        double groups = (double)g->problem_groups;
        problem_groups += g->problem_groups;
        chosen += g->chosen;
        kernels += g->kernels;
        kept += g->share * groups;
        worst = fmin(worst, g->worst);
        if (!isnan(g->held_out)) {
            held_out += g->held_out * groups;
            held_out_groups += groups;
            held_out_worst = fmin(held_out_worst, g->held_out_worst);
        }
        assert_true(g->chosen >= 1 && g->chosen <= g->kernels);
        assert_true(g->share >= 0.98 - 1e-9 && g->worst >= 0.8 - 1e-9);
        assert_true(isnan(g->held_out) || g->held_out <= 1);
        for (int k = 0; k < KW_PRUNE_CURVE; k++) {
            assert_int_equal(isnan(g->curve[k]), 1 << k > g->chosen);
            assert_true(!k || isnan(g->curve[k]) || g->curve[k] >= g->curve[k - 1] - 0.02);
            goes_on[k] |= !isnan(g->curve[k]);
            curve[k] += groups * (isnan(g->curve[k]) ? g->share : g->curve[k]); /* a curve that has ended keeps what it kept */
        }
    }
    assert_int_equal(r.all.problem_groups, problem_groups);
    assert_int_equal(r.all.chosen, chosen);
    assert_int_equal(r.all.kernels, kernels);
    near(r.all.share, kept / (double)problem_groups);
    near(r.all.worst, worst);
    assert_true(held_out_groups > 0);
    near(r.all.held_out, held_out / held_out_groups);
    near(r.all.held_out_worst, held_out_worst);
    for (int k = 0; k < KW_PRUNE_CURVE; k++) {
        assert_int_equal(isnan(r.all.curve[k]), !goes_on[k]);
        if (goes_on[k]) {
            near(r.all.curve[k], curve[k] / (double)problem_groups);
        }
    }
    options.by_dtype = true;
    options.dtype = KW_INT8;
    assert_int_equal(kw_prune(&options, &r, &err), KW_FAILED);
    options.stores = NULL;
    assert_int_equal(kw_prune(&options, &r, &err), KW_ILLEGAL);
}

static void a_catalog_is_read_back(void **state) {
    (void)state;
    char path[2 * SCRATCH_MAX];
    kw_prune_options options = options_of(scratch_path(path, folder, "kernels.txt"));
    kw_prune_report r;
    kw_catalog candidates = {0};
    kw_error err = {0};
    assert_ok(kw_prune(&options, &r, &err), &err);
    assert_ok(kw_dataset_candidates_read(&candidates, path, &err), &err);
    assert_int_equal(candidates.count, r.all.chosen);
    kw_catalog_drop(&candidates);
    options.out = "/no/such/folder/kernels.txt";
    assert_int_equal(kw_prune(&options, &r, &err), KW_MISSING);
}

static void copy_rule(const char *name) {
    char from[4 * SCRATCH_MAX], to[2 * SCRATCH_MAX];
    size_t size;
    snprintf(from, sizeof from, "%s/%s", KW_RULE_FOLDER, name);
    char *text = scratch_read(from, &size);
    scratch_write(scratch_path(to, folder, name), text, size, 0644);
    free(text);
}

static void copy_rules(const char *kind) {
    char path[4 * SCRATCH_MAX], name[300];
    snprintf(path, sizeof path, "%s/%s", KW_RULE_FOLDER, kind);
    DIR *all = opendir(path);
    assert_non_null(all);
    for (struct dirent *entry; (entry = readdir(all));) {
        if (strstr(entry->d_name, ".lua")) {
            snprintf(name, sizeof name, "%s/%s", kind, entry->d_name);
            copy_rule(name);
        }
    }
    closedir(all);
}

static bool count_config(void *user, const kw_config *config) {
    (void)config;
    ++*(int64_t *)user;
    return true;
}

static void a_rule_set_yields_the_kernels_that_were_kept(void **state) {
    (void)state;
    static const char *const kinds[] = {"arch", "families", "sets", "tables"};
    char path[2 * SCRATCH_MAX];
    for (int i = 0; i < 4; i++) {
        mkdir(scratch_path(path, folder, kinds[i]), 0755);
    }
    copy_rule("arch/x86-64-v4-bf16.lua");
    copy_rules("tables");
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        char name[64];
        snprintf(name, sizeof name, "families/%s.lua", (*family)->name);
        copy_rule(name);
    }
    kw_prune_options options = options_of(scratch_path(path, folder, "sets/pruned.lua"));
    kw_prune_report r;
    kw_error err = {0};
    int64_t count = 0;
    assert_ok(kw_prune(&options, &r, &err), &err);
    kw_space_options space = {.size = sizeof(kw_space_options), .set = "pruned", .arch = "x86-64-v4-bf16", .rules_dir = folder};
    assert_ok(kw_enumerate(&space, count_config, &count, &err), &err);
    assert_int_equal(count, r.all.chosen);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_set_that_keeps_enough_is_taken),
        cmocka_unit_test(what_became_needless_is_dropped),
        cmocka_unit_test(parts_are_chosen_for_and_judged_apart),
        cmocka_unit_test(nothing_to_cover_is_said),
        cmocka_unit_test(a_report_adds_up),
        cmocka_unit_test(a_catalog_is_read_back),
        cmocka_unit_test(a_rule_set_yields_the_kernels_that_were_kept),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
