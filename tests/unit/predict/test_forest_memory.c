/* test_forest_memory.c: where memory ends, reading a model, opening a batch and opening a scratch say so and leave nothing behind. The
 * n-th allocation fails, for every n that there is. */

#include "forest_cases.h"
#include "support/kw_test.h"
#include "support/memory_limit.h"

/* Load, open and score with the n-th allocation failing. Gives back room that failed to shrink: that is no failure. */
static kw_status use_forest(const char *path, long n) {
    kw_error err = {0};
    kw_forest *forest = NULL;
    kw_forest_batch *batch = NULL;
    kw_forest_scratch *scratch = NULL;
    double values[8] = {0}, scores[3];
    const double *columns[8] = {values, values, values, values, values, values, values, values};
    kw_forest_role roles[8] = {KW_FOREST_KERNEL, KW_FOREST_PAIR, KW_FOREST_PROBLEM};
    memory_granted = n;
    kw_status status = kw_forest_load(&forest, path, &err);
    status = status ? status : kw_forest_batch_open(&batch, forest, &(kw_forest_candidates){3, roles, columns}, &err);
    status = status ? status : kw_forest_scratch_open(&scratch, batch, NULL, &err);
    memory_granted = -1;
    if (!status) {
        kw_forest_batch_score(batch, scratch, &(kw_forest_query){.values = values, .columns = columns}, scores);
    }
    assert_int_equal(status, err.status);
    assert_true(forest || !batch);
    kw_forest_scratch_close(&scratch);
    kw_forest_batch_close(&batch);
    kw_forest_drop(&forest);
    return status;
}

static void the_end_of_memory_is_a_status(void **state) {
    (void)state;
    static const char *const paths[] = {KW_FOREST_DATA "/categorical.lgbm", KW_FOREST_DATA "/numeric.lgbm.gz", KW_FOREST_DATA "/deep.lgbm"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        long failed = 0;
        for (long n = 0;; n++) {
            memory_granted = -1;
            kw_status status = use_forest(paths[i], n);
            assert_true(status == KW_OK || status == KW_NO_MEMORY);
            failed += status == KW_NO_MEMORY;
            if (status == KW_OK && n > failed + 8) { /* past the last call: a few that only shrink may fail unheard */
                break;
            }
        }
        assert_true(failed > 20);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_end_of_memory_is_a_status)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
