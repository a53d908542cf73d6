/* test_evaluation_memory.c: want of memory at any one allocation of evaluating, covering or searching is a status, and nothing is lost
 * by it. */
#include "support/rows/made_groups.h"
#include "support/rows/made_rows.h"
#include "prune/set_cover.h"
#include "evaluate/evaluate.h"
#include "support/kw_test.h"
#include "support/memory_limit.h"

#define END                                                                                                                                \
    { 0, KW_OUTCOME_COUNT, 0, {0}, 0 }
static const made_pair pairs[] = {{0, KW_GOOD, 100, {0}, 0}, {1, KW_GOOD, 200, {0}, 0}, {4, KW_GOOD, 400, {0}, 0}, END};
static const made_group problem_groups[] = {{"conv_fwd fp32 n1 c64 k64 i28x28 f1", pairs}, {"conv_fwd fp32 n2 c64 k64 i28x28 f1", pairs}};

static kw_dataset dataset;
static kw_group_oracle *oracles;

static int set_up(void **state) {
    (void)state;
    made_groups_make(&dataset, problem_groups, 2);
    return kw_group_oracles_create(&oracles, &dataset, NULL);
}

static int tear_down(void **state) {
    (void)state;
    free(oracles);
    kw_dataset_close(&dataset);
    return 0;
}

static kw_status evaluate(kw_error *err) {
    kw_scores scores = {0};
    kw_group_evaluation *list = NULL;
    kw_evaluation_metrics metrics;
    kw_group_oracle *found = NULL;
    size_t count = 0, which[] = {0, 1};
    kw_status status = kw_group_oracles_create(&found, &dataset, err);
    assert_true(status ? !found : found[0].oracle_ns > 0 && found[1].oracle_ns > 0); /* no problem group is dropped unawares */
    status = status ? status : kw_scores_make(&scores, &dataset, oracles, &(kw_scorer){.by = "single"}, err);
    status = status ? status : kw_group_evaluations_create(&list, &count, &dataset, oracles, &scores, NULL, err);
    status = status ? status : kw_evaluation_metrics_compute(&metrics, list, which, count, err);
    assert_true(status || (count == 2 && metrics.mean.value == 1));
    kw_scores_drop(&scores);
    free(found);
    free(list);
    return status;
}

static kw_status cover(kw_error *err) {
    static const kw_set_cover_subset all = {0};
    kw_set_cover *made = NULL;
    kw_set_cover_score score;
    size_t order[MADE_KERNELS], count = 0;
    kw_status status = kw_set_cover_open(&made, &dataset, oracles, KW_CONV_FWD, KW_FP32, err);
    status = status ? status : kw_set_cover_select(order, &count, made, &all, 1, 1, err);
    status = status ? status : kw_set_cover_evaluate(&score, made, &all, order, count, err);
    assert_true(status || (count == 1 && score.sum == 2));
    kw_set_cover_close(&made);
    return status;
}

static kw_status remember(kw_error *err) {
    kw_text text = {0};
    kw_status status = kw_trained_on_print(&text, &dataset, NULL, err);
    assert_true(status || strstr(text.data, "family conv_fwd"));
    kw_text_drop(&text);
    return status;
}

/* Long enough to have generations. One that gets all it asks for finds what the first did: nothing that was refused is passed over. */
static kw_status search(kw_error *err) {
    static char found[3][KW_CONFIG_TEXT_MAX];
    static int64_t drawn;
    kw_search_report r;
    kw_search_options options = {
        .size = sizeof(kw_search_options), .problem = &dataset.problem_groups[0].problem, .target = made_target, .budget = 160, .top = 3};
    kw_status status = kw_search(&options, &r, err);
    assert_true(status ? !r.results : r.count == 3);
    for (size_t i = 0; i < r.count; i++) {
        if (!drawn) {
            snprintf(found[i], sizeof found[i], "%s", r.results[i].config);
        }
        assert_string_equal(r.results[i].config, found[i]);
    }
    assert_true(status || !drawn || drawn == r.drawn);
    drawn = status ? drawn : r.drawn;
    kw_free(r.results);
    return status;
}

static void want_of_memory_anywhere_is_told(void **state) {
    (void)state;
    static const struct {
        kw_status (*work)(kw_error *err);
        long points; /* beyond the first 60 */
    } works[] = {{evaluate, 1000}, {cover, 1000}, {remember, 1000}, {search, 60}};
    for (size_t w = 0; w < sizeof works / sizeof *works; w++) {
        kw_error err = {0};
        memory_asked = 0;
        assert_int_equal(works[w].work(&err), KW_OK);
        long all = memory_asked;
        assert_true(all > 1);
        for (long n = 0; n < all; n += n < 60 ? 1 : all / works[w].points + 1) {
            memory_granted = n;
            kw_status status = works[w].work(&err);
            memory_granted = -1;
            if (status && status != KW_NO_MEMORY) {
                fail_msg("work %zu, allocation %ld: %s: %s", w, n, kw_status_name(status), err.text);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(want_of_memory_anywhere_is_told)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
