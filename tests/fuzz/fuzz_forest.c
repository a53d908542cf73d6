/* fuzz_forest.c: any bytes as a model, text or gzip. One that is read is finite and consistent: rows and batches score alike. */
#include "fuzz/fuzz.h"

#include "predict/forest/forest.h"

#include <math.h>

enum { CANDIDATES = 70 };

/* Values near what models ask for, and awkward ones. */
static double value_at(size_t i) {
    static const double values[] = {0, 1, 2.5, -1.5e-3, 3, NAN, INFINITY, -INFINITY, -0.0, 1e-36, 1e-34, 31, 32, 65535, 5e9, -0.5};
    return values[i * 7 % (sizeof values / sizeof *values)];
}

static void compare_scores(const kw_forest *forest, size_t features) {
    kw_forest_role *roles = calloc(features, sizeof *roles);
    const double **columns = calloc(features, sizeof *columns);
    double *values = calloc(features * CANDIDATES, sizeof *values), *row = calloc(features, sizeof *row),
           *shared = calloc(features, sizeof *row);
    double scores[CANDIDATES], wanted;
    kw_forest_batch *batch = NULL;
    kw_forest_scratch *scratch = NULL;
    for (size_t i = 0; i < features * CANDIDATES; i++) {
        values[i] = value_at(i + i / CANDIDATES);
    }
    for (size_t i = 0; i < features; i++) {
        roles[i] = (kw_forest_role)(i % 3);
        columns[i] = values + i * CANDIDATES;
        shared[i] = values[i * CANDIDATES];
    }
    kw_forest_candidates candidates = {CANDIDATES, roles, columns};
    require(!kw_forest_batch_open(&batch, forest, &candidates, NULL) && !kw_forest_scratch_open(&scratch, batch, NULL, NULL));
    kw_forest_query query = {.values = shared, .columns = columns};
    kw_forest_batch_score(batch, scratch, &query, scores);
    for (size_t k = 0; k < CANDIDATES; k++) {
        for (size_t i = 0; i < features; i++) {
            row[i] = roles[i] == KW_FOREST_PROBLEM ? shared[i] : columns[i][k];
        }
        kw_forest_score(forest, row, 1, &wanted);
        require(!memcmp(&wanted, &scores[k], sizeof wanted) || (isnan(wanted) && isnan(scores[k])));
    }
    kw_forest_scratch_close(&scratch);
    kw_forest_batch_close(&batch);
    free(roles);
    free(columns);
    free(values);
    free(row);
    free(shared);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_forest *forest = NULL;
    kw_error err = {0};
    kw_status status = kw_forest_parse(&forest, "fuzz", data, size, &err);
    require(status == err.status && !status == (forest != NULL));
    if (forest) {
        kw_forest_facts facts = kw_forest_describe(forest);
        require(facts.trees && facts.leaves >= facts.trees && facts.features <= KW_FOREST_MAX_FEATURES);
        if (facts.features <= 64) {
            compare_scores(forest, facts.features);
        }
        kw_forest_drop(&forest);
    }
    return 0;
}
