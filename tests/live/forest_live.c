/* forest_live.c: forest_live LIB_LIGHTGBM ROWS MODEL...: scores ROWS random rows a model with LightGBM's C API and with ours, row by row and
 * as pools, and demands equal bits. Values are thresholds, their neighbours among the doubles, categories and what doubles have
 * of awkward values. Prints a line a model; run by `make test-forest`. */
#include "predict/forest/forest_model.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 2000, RAW_SCORE = 1, FLOAT64 = 1, SETS = 3 };

static const char *const instruction_sets[SETS] = {"baseline", "avx2", "avx512"};

typedef struct lightgbm {
    int (*open)(const char *path, int *iterations, void **model);
    int (*predict)(void *model, const void *data, int type, int32_t rows, int32_t columns, int row_major, int kind, int first, int count,
                   const char *parameters, int64_t *length, double *result);
    int (*close)(void *model);
} lightgbm;

static bool load_symbol(void *library, const char *name, void *function) {
    void *symbol = library ? dlsym(library, name) : NULL;
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static uint64_t next(uint64_t *random) {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random;
}

static double awkward(uint64_t *random) {
    static const double values[] = {
        0,     -0.0,  5e-324,       -5e-324,      1e-36,        -1e-36, 1e-35,         -1e-35, (double)1e-35f, -(double)1e-35f,
        1e-34, 1e300, -1e300,       INFINITY,     -INFINITY,    NAN,    -NAN,          0.5,    -0.5,           -1,
        1e9,   2e9,   2147483647.0, 2147483647.5, 2147483648.0, 1e10,   -2147483649.0, 65536,  4.9e-320,       2.2250738585072014e-308};
    return values[next(random) % (sizeof values / sizeof *values)];
}

static double value_for(const kw_forest *forest, size_t feature, uint64_t *random) {
    const kw_forest_column *column = &forest->columns[feature];
    uint64_t kind = next(random) >> 20 & 15;
    if (kind < 2) {
        return awkward(random);
    }
    if (column->categorical) {
        return (double)((int64_t)(next(random) >> 33) % (2 * (int64_t)column->regular)) + (kind == 2 ? 0.75 : 0);
    }
    if (kind < 6 || column->regular < 2) {
        return ((double)(next(random) >> 11) / 9007199254740992.0 - 0.5) * 8;
    }
    double threshold = forest->thresholds[column->threshold + (next(random) >> 33) % (column->regular - 1)];
    return kind < 9 ? threshold : nextafter(threshold, kind < 12 ? INFINITY : -INFINITY);
}

typedef struct block {
    size_t features;
    double *rows, *columns, *theirs, *ours;
    const double **column;
    kw_forest_role *roles;
} block;

/* Rows of which the features of role PROBLEM agree. */
static void fill_block(block *b, const kw_forest *forest, uint64_t *random) {
    uint64_t roles = next(random);
    for (size_t i = 0; i < b->features; i++) {
        b->roles[i] = (kw_forest_role)((roles >> 3 * i & 7) % 3);
        b->column[i] = b->columns + i * BLOCK;
        for (size_t k = 0; k < BLOCK; k++) {
            double value = k && b->roles[i] == KW_FOREST_PROBLEM ? b->rows[i] : value_for(forest, i, random);
            b->rows[k * b->features + i] = b->columns[i * BLOCK + k] = value;
        }
    }
}

static size_t count_differences(const block *b) {
    size_t count = 0;
    for (size_t i = 0; i < BLOCK; i++) {
        count += memcmp(&b->theirs[i], &b->ours[i], sizeof b->ours[i]) != 0;
    }
    return count;
}

static size_t compare_pool(block *b, const kw_forest *forest, const char *instructions) {
    kw_forest_batch *batch = NULL;
    kw_forest_scratch *scratch = NULL;
    kw_forest_candidates candidates = {BLOCK, b->roles, b->column};
    kw_forest_query query = {.values = b->rows, .columns = b->column};
    kw_status status = kw_forest_batch_open(&batch, forest, &candidates, NULL);
    status = status ? status : kw_forest_scratch_open(&scratch, batch, instructions, NULL);
    if (!status) {
        kw_forest_batch_score(batch, scratch, &query, b->ours);
    }
    kw_forest_scratch_close(&scratch);
    kw_forest_batch_close(&batch);
    return status == KW_ENVIRONMENT ? 0 : status ? BLOCK : count_differences(b);
}

static size_t compare_block(block *b, const lightgbm *peer, void *model, const kw_forest *forest) {
    int64_t length = 0;
    size_t differences = 0;
    if (peer->predict(model, b->rows, FLOAT64, BLOCK, (int32_t)b->features, 1, RAW_SCORE, 0, -1, "num_threads=1", &length, b->theirs) ||
        length != BLOCK) {
        return BLOCK;
    }
    kw_forest_score(forest, b->rows, BLOCK, b->ours);
    differences += count_differences(b);
    for (size_t i = 0; i < SETS; i++) {
        differences += compare_pool(b, forest, instruction_sets[i]);
    }
    return differences;
}

static bool compare_model(const lightgbm *peer, const char *path, size_t rows) {
    kw_error err = {0};
    kw_forest *forest = NULL;
    void *model = NULL;
    int iterations = 0;
    uint64_t random = 88172645463325252u;
    size_t differences = 0, done = 0;
    if (kw_forest_load(&forest, path, &err) || peer->open(path, &iterations, &model)) {
        fprintf(stderr, "forest_live: %s\n", err.status ? err.text : "LightGBM refuses the model");
        kw_forest_drop(&forest);
        return false;
    }
    block b = {.features = kw_forest_describe(forest).features};
    b.rows = malloc(b.features * BLOCK * sizeof *b.rows);
    b.columns = malloc(b.features * BLOCK * sizeof *b.columns);
    b.theirs = malloc(BLOCK * sizeof *b.theirs);
    b.ours = malloc(BLOCK * sizeof *b.ours);
    b.column = malloc(b.features * sizeof *b.column);
    b.roles = malloc(b.features * sizeof *b.roles);
    bool room = b.rows && b.columns && b.theirs && b.ours && b.column && b.roles;
    for (; room && done < rows; done += BLOCK) {
        fill_block(&b, forest, &random);
        differences += compare_block(&b, peer, model, forest);
    }
    printf("%-60s %zu rows, %zu scores differ\n", path, done, differences);
    free(b.rows);
    free(b.columns);
    free(b.theirs);
    free(b.ours);
    free(b.column);
    free(b.roles);
    peer->close(model);
    kw_forest_drop(&forest);
    return room && !differences;
}

int main(int argc, char **argv) {
    lightgbm peer;
    if (argc < 4) {
        fprintf(stderr, "forest_live LIB_LIGHTGBM ROWS MODEL...\n");
        return 3;
    }
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!load_symbol(library, "LGBM_BoosterCreateFromModelfile", &peer.open) ||
        !load_symbol(library, "LGBM_BoosterPredictForMat", &peer.predict) || !load_symbol(library, "LGBM_BoosterFree", &peer.close)) {
        fprintf(stderr, "forest_live: %s is no library of LightGBM 4\n", argv[1]);
        return 3;
    }
    bool equal = true;
    for (int i = 3; i < argc; i++) {
        equal &= compare_model(&peer, argv[i], strtoul(argv[2], NULL, 10));
    }
    return equal ? 0 : 1;
}
