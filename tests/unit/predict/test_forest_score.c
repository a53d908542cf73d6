/* test_forest_score.c: the scores are LightGBM's to the last bit, for every kind of split, however features are divided between
 * candidates, problem and pairs, and with every set of instructions that this processor has. */

#include <math.h>
#include <pthread.h>

#include "forest_cases.h"
#include "support/kw_test.h"

static const char *const instruction_sets[] = {"baseline", "avx2", "avx512"};

static void a_row_scores_as_lightgbm_says(void **state) {
    (void)state;
    for (size_t i = 0; i < FOREST_CASES; i++) {
        forest_case c;
        assert_true(forest_case_open(&c, forest_case_names[i]));
        for (size_t r = 0; r < c.rows; r++) {
            double score = 0;
            kw_forest_score(c.forest, c.row + r * c.features, 1, &score);
            if (!same_double(score, c.score[r])) {
                fail_msg("%s row %zu: %a is not LightGBM's %a", forest_case_names[i], r, score, c.score[r]);
            }
        }
        double *all = calloc(c.rows, sizeof *all);
        kw_forest_score(c.forest, c.row, c.rows, all);
        assert_memory_equal(all, c.score, c.rows * sizeof *all);
        free(all);
        forest_case_close(&c);
    }
}

/* A batch of `count` candidates that take the rows from `first` on, over again. Features of role PROBLEM have the value of row first. */
typedef struct batch_case {
    const forest_case *source;
    size_t first, count;
    kw_forest_role *roles;
    double *columns; /* features x count */
    const double **column;
    double *scores, *wanted;
} batch_case;

static batch_case make_batch(const forest_case *source, size_t first, size_t count, unsigned roles) {
    size_t features = source->features;
    batch_case p = {.source = source, .first = first, .count = count};
    p.roles = calloc(features, sizeof *p.roles);
    p.columns = calloc(features * count, sizeof *p.columns);
    p.column = calloc(features, sizeof *p.column);
    p.scores = calloc(count, sizeof *p.scores);
    p.wanted = calloc(count, sizeof *p.wanted);
    double *row = calloc(features, sizeof *row);
    for (size_t i = 0; i < features; i++) {
        p.roles[i] = (kw_forest_role)(roles >> 2 * i & 3) % 3;
        p.column[i] = p.columns + i * count;
    }
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < features; i++) {
            size_t from = p.roles[i] == KW_FOREST_PROBLEM ? first : (first + k) % source->rows;
            row[i] = p.columns[i * count + k] = source->row[from * features + i];
        }
        kw_forest_score(source->forest, row, 1, &p.wanted[k]);
    }
    free(row);
    return p;
}

static void drop_batch(batch_case *p) {
    free(p->roles);
    free(p->columns);
    free(p->column);
    free(p->scores);
    free(p->wanted);
}

/* Asked about some, or about none, it says of those what it says of all. */
static void check_asked(batch_case *p, const kw_forest_batch *batch, kw_forest_scratch *scratch, const char *name) {
    bool *asked = calloc(p->count, sizeof *asked);
    for (size_t step = 1; step <= 70; step += 23) {
        for (size_t k = 0; k < p->count; k++) {
            asked[k] = k % step == step / 2;
        }
        kw_forest_query query = {.values = p->source->row + p->first * p->source->features, .columns = p->column, .asked = asked};
        memset(p->scores, 0xff, p->count * sizeof *p->scores);
        kw_forest_batch_score(batch, scratch, &query, p->scores);
        for (size_t k = 0; k < p->count; k++) {
            if (asked[k] && !same_double(p->scores[k], p->wanted[k])) {
                fail_msg("%s, candidate %zu of %zu, every %zu. asked: %a is not %a", name, k, p->count, step, p->scores[k], p->wanted[k]);
            }
        }
    }
    free(asked);
}

static void check_batch(batch_case *p, const char *instructions, const char *name) {
    kw_error err = {0};
    kw_forest_batch *batch = NULL;
    kw_forest_scratch *scratch = NULL;
    kw_forest_candidates candidates = {p->count, p->roles, p->column};
    kw_forest_query query = {.values = p->source->row + p->first * p->source->features, .columns = p->column};
    assert_int_equal(kw_forest_batch_open(&batch, p->source->forest, &candidates, &err), KW_OK);
    kw_status status = kw_forest_scratch_open(&scratch, batch, instructions, &err);
    if (status == KW_ENVIRONMENT) {
        kw_forest_batch_close(&batch);
        return;
    }
    assert_int_equal(status, KW_OK);
    for (int again = 0; again < 2; again++) { /* a scratch holds nothing over from the call before */
        memset(p->scores, 0xff, p->count * sizeof *p->scores);
        kw_forest_batch_score(batch, scratch, &query, p->scores);
        for (size_t k = 0; k < p->count; k++) {
            if (!same_double(p->scores[k], p->wanted[k])) {
                fail_msg("%s, %s, candidate %zu of %zu from row %zu: %a is not %a", name, instructions, k, p->count, p->first, p->scores[k],
                         p->wanted[k]);
            }
        }
    }
    check_asked(p, batch, scratch, name);
    kw_forest_scratch_close(&scratch);
    kw_forest_batch_close(&batch);
}

static void a_batch_scores_as_its_rows(void **state) {
    (void)state;
    static const size_t counts[] = {1, 2, 63, 64, 65, 130, 512, 513, 1100};
    uint64_t random = 88172645463325252u;
    for (size_t i = 0; i < FOREST_CASES; i++) {
        forest_case c;
        assert_true(forest_case_open(&c, forest_case_names[i]));
        for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            unsigned roles = n == 0             ? 0
                             : n == 5 || n == 8 ? 0xaaaaaaaau
                                                : (unsigned)(random >> 11); /* all of the kernel, all of the pair, any */
            batch_case p = make_batch(&c, (size_t)(random >> 40) % c.rows, counts[n], roles);
            for (size_t k = 0; k < sizeof instruction_sets / sizeof *instruction_sets; k++) {
                check_batch(&p, instruction_sets[k], forest_case_names[i]);
            }
            drop_batch(&p);
        }
        forest_case_close(&c);
    }
}

/* Each row as a problem of its own for a batch of two candidates. */
static void a_row_given_as_the_problem_scores_as_lightgbm_says(void **state) {
    (void)state;
    for (size_t i = 0; i < FOREST_CASES; i++) {
        forest_case c;
        kw_forest_batch *batch = NULL;
        kw_forest_scratch *scratch = NULL;
        assert_true(forest_case_open(&c, forest_case_names[i]));
        kw_forest_role *roles = calloc(c.features, sizeof *roles);
        for (size_t k = 0; k < c.features; k++) {
            roles[k] = KW_FOREST_PROBLEM;
        }
        assert_int_equal(kw_forest_batch_open(&batch, c.forest, &(kw_forest_candidates){.count = 2, .roles = roles}, NULL), KW_OK);
        assert_int_equal(kw_forest_scratch_open(&scratch, batch, NULL, NULL), KW_OK);
        for (size_t r = 0; r < c.rows; r++) {
            double scores[2] = {0};
            kw_forest_batch_score(batch, scratch, &(kw_forest_query){.values = c.row + r * c.features}, scores);
            assert_true(same_double(scores[0], c.score[r]) && same_double(scores[1], c.score[r]));
        }
        kw_forest_scratch_close(&scratch);
        kw_forest_batch_close(&batch);
        free(roles);
        forest_case_close(&c);
    }
}

/* One thread of many on one batch, each with a scratch of its own. */
typedef struct worker {
    const batch_case *p;
    const kw_forest_batch *batch;
    size_t wrong;
} worker;

static void *score_often(void *argument) {
    worker *w = argument;
    kw_forest_scratch *scratch = NULL;
    double *scores = calloc(w->p->count, sizeof *scores);
    kw_forest_query query = {.values = w->p->source->row + w->p->first * w->p->source->features, .columns = w->p->column};
    w->wrong = !scores || kw_forest_scratch_open(&scratch, w->batch, NULL, NULL);
    for (size_t i = 0; i < 100 && !w->wrong; i++) {
        kw_forest_batch_score(w->batch, scratch, &query, scores);
        w->wrong += memcmp(scores, w->p->wanted, w->p->count * sizeof *scores) != 0;
    }
    kw_forest_scratch_close(&scratch);
    free(scores);
    return NULL;
}

static void threads_share_a_batch(void **state) {
    (void)state;
    enum { THREADS = 8 };
    forest_case c;
    kw_forest_batch *batch = NULL;
    pthread_t thread[THREADS];
    worker workers[THREADS];
    assert_true(forest_case_open(&c, "categorical_nan.lgbm"));
    batch_case p = make_batch(&c, 3, 130, 0x264);
    assert_int_equal(kw_forest_batch_open(&batch, c.forest, &(kw_forest_candidates){p.count, p.roles, p.column}, NULL), KW_OK);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){&p, batch, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, score_often, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(workers[i].wrong, 0);
    }
    kw_forest_batch_close(&batch);
    drop_batch(&p);
    forest_case_close(&c);
}

static void a_batch_is_refused_where_it_cannot_be(void **state) {
    (void)state;
    kw_error err = {0};
    forest_case c;
    kw_forest_batch *batch = NULL;
    kw_forest_scratch *scratch = NULL;
    assert_true(forest_case_open(&c, "numeric.lgbm.gz"));
    kw_forest_role *roles = calloc(c.features, sizeof *roles);
    const double **columns = calloc(c.features, sizeof *columns);
    kw_forest_candidates candidates = {0, roles, columns};
    assert_int_equal(kw_forest_batch_open(&batch, c.forest, &candidates, &err), KW_ILLEGAL);
    candidates.count = KW_FOREST_MAX_CANDIDATES + 1;
    assert_int_equal(kw_forest_batch_open(&batch, c.forest, &candidates, &err), KW_ILLEGAL);
    candidates.count = 3;
    assert_int_equal(kw_forest_batch_open(&batch, c.forest, &candidates, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "Column_0"));
    for (size_t i = 0; i < c.features; i++) {
        roles[i] = KW_FOREST_PROBLEM;
    }
    assert_int_equal(kw_forest_batch_open(&batch, c.forest, &candidates, &err), KW_OK);
    assert_int_equal(kw_forest_scratch_open(&scratch, batch, "sse9", &err), KW_MISSING);
    assert_null(scratch);
    kw_forest_batch_close(&batch);
    free(roles);
    free(columns);
    forest_case_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_scores_as_lightgbm_says),
        cmocka_unit_test(a_batch_scores_as_its_rows),
        cmocka_unit_test(a_row_given_as_the_problem_scores_as_lightgbm_says),
        cmocka_unit_test(threads_share_a_batch),
        cmocka_unit_test(a_batch_is_refused_where_it_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
