/* forest_cases.h: the models of tests/data/forest with their rows and LightGBM's own raw scores. */
#ifndef KW_TEST_FOREST_CASES_H
#define KW_TEST_FOREST_CASES_H

#include "predict/forest/forest.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct forest_case {
    kw_forest *forest;
    size_t features, rows;
    double *row; /* rows x features */
    double *score;
} forest_case;

static const char *const forest_case_names[] = {
    "numeric.lgbm.gz", "nan.lgbm",      "zero_as_missing.lgbm", "no_missing.lgbm", "categorical.lgbm", "categorical_nan.lgbm",
    "rank.lgbm",       "constant.lgbm", "many_thresholds.lgbm", "deep.lgbm",       "infinite.lgbm"};
enum { FOREST_CASES = sizeof forest_case_names / sizeof *forest_case_names };

/* Equal as bits; any NaN equals any other. */
static inline bool same_double(double a, double b) {
    return !memcmp(&a, &b, sizeof a) || (a != a && b != b);
}

static inline void forest_case_close(forest_case *c) {
    kw_forest_drop(&c->forest);
    free(c->row);
    free(c->score);
    *c = (forest_case){0};
}

/* Reads NAME and the rows beside it; false where anything is amiss. */
static inline bool forest_case_open(forest_case *c, const char *name) {
    char path[512];
    kw_error err = {0};
    *c = (forest_case){0};
    snprintf(path, sizeof path, "%s/%s", KW_FOREST_DATA, name);
    if (kw_forest_load(&c->forest, path, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    c->features = kw_forest_describe(c->forest).features;
    snprintf(path, sizeof path, "%s/%.*s.rows", KW_FOREST_DATA, (int)(strstr(name, ".lgbm") - name), name);
    FILE *file = fopen(path, "r");
    size_t capacity = 1000;
    c->row = calloc(capacity * c->features, sizeof *c->row);
    c->score = calloc(capacity, sizeof *c->score);
    double value;
    for (size_t i = 0; file && c->row && c->score && c->rows < capacity && fscanf(file, "%lf", &value) == 1; i++) {
        if (i == c->features) {
            c->score[c->rows++] = value;
            i = (size_t)-1;
        } else {
            c->row[c->rows * c->features + i] = value;
        }
    }
    if (file) {
        fclose(file);
    }
    return c->rows > 0;
}

#endif
