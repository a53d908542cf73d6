/* forest.c: what scoring a pool of candidates costs on one thread, against LightGBM's C API in the same run; both score the same
 * candidates of the same problems, and the scores are compared as bits. Prints Markdown.
 *
 * KW_LIGHTGBM names lib_lightgbm.so, KW_FOREST_BENCH the folder that `tools/long/make_forest_data.py bench FOLDER` filled. The time is
 * that of the whole call: binning of problem and pair features, answers, walk, sums. Contestants and problems take turns; a problem's
 * time is the least of its rounds; the table has the median over the problems. */
#include "base/os/clock.h"
#include "predict/forest/forest.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PROBLEMS = 12, MOST_ROUNDS = 9, KERNELS = 3, RAW_SCORE = 1, FLOAT64 = 1 };

static const char *const instruction_sets[KERNELS] = {"baseline", "avx2", "avx512"};

/* Of LightGBM's C API, version 4. */
typedef struct lightgbm {
    int (*open)(const char *path, int *iterations, void **model);
    int (*predict)(void *model, const void *data, int type, int32_t rows, int32_t columns, int row_major, int kind, int first, int count,
                   const char *parameters, int64_t *length, double *result);
    int (*close)(void *model);
} lightgbm;

/* pool.bin of tools/long/make_forest_data.py: all columns of all problems. */
typedef struct pool_data {
    int64_t candidates, problems, kernel, problem, pair;
    double *values; /* kernel columns, then each problem: its values, its pair columns */
} pool_data;

/* Candidates 0, step, 2 step ... modulo all, as contestants want them. */
typedef struct subset {
    size_t count, step, features;
    kw_forest_role *roles;
    double *columns; /* features x count; the problem's values repeated */
    const double **column;
    double *row_major; /* count x features */
    double *values;    /* one a feature */
} subset;

static bool load_symbol(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool open_peer(lightgbm *peer, const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return library && load_symbol(library, "LGBM_BoosterCreateFromModelfile", &peer->open) &&
           load_symbol(library, "LGBM_BoosterPredictForMat", &peer->predict) && load_symbol(library, "LGBM_BoosterFree", &peer->close);
}

static bool read_pool(pool_data *pool, const char *folder) {
    char path[4096];
    int64_t head[5];
    snprintf(path, sizeof path, "%s/pool.bin", folder);
    FILE *file = fopen(path, "rb");
    if (!file || fread(head, sizeof head, 1, file) != 1) {
        return false;
    }
    *pool = (pool_data){head[0], head[1], head[2], head[3], head[4], NULL};
    size_t count = (size_t)(pool->candidates * pool->kernel + pool->problems * (pool->problem + pool->candidates * pool->pair));
    pool->values = malloc(count * sizeof *pool->values);
    bool good = pool->values && fread(pool->values, sizeof *pool->values, count, file) == count && pool->problems <= MOST_PROBLEMS;
    fclose(file);
    return good;
}

static bool make_subset(subset *s, const pool_data *pool, size_t count, size_t step) {
    *s = (subset){.count = count, .step = step, .features = (size_t)(pool->problem + pool->kernel + pool->pair)};
    s->roles = calloc(s->features, sizeof *s->roles);
    s->columns = calloc(s->features * count, sizeof *s->columns);
    s->row_major = calloc(s->features * count, sizeof *s->row_major);
    s->values = calloc(s->features, sizeof *s->values);
    s->column = calloc(s->features, sizeof *s->column);
    for (size_t i = 0; s->roles && s->column && s->columns && i < s->features; i++) {
        int64_t at = (int64_t)i;
        s->roles[i] = at < pool->problem ? KW_FOREST_PROBLEM : at < pool->problem + pool->kernel ? KW_FOREST_KERNEL : KW_FOREST_PAIR;
        s->column[i] = s->columns + i * count;
    }
    return s->roles && s->columns && s->row_major && s->values && s->column;
}

static void drop_subset(subset *s) {
    free(s->roles);
    free(s->columns);
    free(s->row_major);
    free(s->values);
    free(s->column);
}

static void fill_subset(subset *s, const pool_data *pool, size_t problem) {
    size_t all = (size_t)pool->candidates;
    size_t pairs = (size_t)pool->pair, words = (size_t)pool->problem, kernels = (size_t)pool->kernel;
    const double *own = pool->values + all * kernels + problem * (words + all * pairs);
    for (size_t i = 0; i < s->features; i++) {
        for (size_t k = 0; k < s->count; k++) {
            size_t from = k * s->step % all;
            double value = i < words             ? own[i]
                           : i < words + kernels ? pool->values[(i - words) * all + from]
                                                 : own[words + (i - words - kernels) * all + from];
            s->columns[i * s->count + k] = s->row_major[k * s->features + i] = value;
        }
        s->values[i] = s->columns[i * s->count];
    }
}

typedef struct pool_size {
    size_t count, step;
    const char *about;
} pool_size;

typedef struct problem_group {
    const lightgbm *peer;
    void *model;
    kw_forest_batch *pool;
    kw_forest_scratch *scratch[KERNELS];
    double *scores, *peer_scores;
    double best[KERNELS][MOST_PROBLEMS], peer_best[MOST_PROBLEMS];
    size_t rounds, different;
} problem_group;

static double time_peer(problem_group *c, const subset *s) {
    int64_t length = 0, start = kw_clock_ns();
    c->peer->predict(c->model, s->row_major, FLOAT64, (int32_t)s->count, (int32_t)s->features, 1, RAW_SCORE, 0, -1, "num_threads=1",
                     &length, c->peer_scores);
    return (double)(kw_clock_ns() - start);
}

static double time_ours(problem_group *c, const subset *s, size_t k) {
    kw_forest_query query = {.values = s->values, .columns = s->column};
    int64_t start = kw_clock_ns();
    kw_forest_batch_score(c->pool, c->scratch[k], &query, c->scores);
    double time = (double)(kw_clock_ns() - start);
    c->different += memcmp(c->scores, c->peer_scores, s->count * sizeof *c->scores) != 0;
    return time;
}

/* One call of each contestant; whose turn is first changes. A contestant meets another problem each time, as a selector does: nothing
 * of the one before helps it. */
static void run_problem(problem_group *c, const subset *s, size_t problem, size_t round) {
    c->peer_best[problem] = fmin(c->peer_best[problem], time_peer(c, s));
    for (size_t i = 0; i < KERNELS; i++) {
        size_t k = (i + round) % KERNELS;
        if (c->scratch[k]) {
            c->best[k][problem] = fmin(c->best[k][problem], time_ours(c, s, k));
        }
    }
}

static void run_rounds(problem_group *c, subset *s, const pool_data *pool) {
    for (size_t i = 0; i < MOST_PROBLEMS; i++) {
        c->peer_best[i] = c->best[0][i] = c->best[1][i] = c->best[2][i] = INFINITY;
    }
    for (size_t round = 0; round < c->rounds; round++) {
        for (size_t i = 0; i < (size_t)pool->problems; i++) {
            fill_subset(s, pool, i);
            run_problem(c, s, i, round);
        }
    }
}

static int compare_doubles(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Median, least and greatest, after sorting. */
static void print_times(const char *who, double *times, size_t count, double peer) {
    qsort(times, count, sizeof *times, compare_doubles);
    double median = count % 2 ? times[count / 2] : (times[count / 2 - 1] + times[count / 2]) / 2;
    printf("| %s | %.3f | %.3f | %.3f | %.0fx |\n", who, median / 1e6, times[0] / 1e6, times[count - 1] / 1e6,
           (peer > 0 ? peer : median) / median);
}

static void print_group(problem_group *c, const pool_size *size, size_t problems) {
    double sorted[MOST_PROBLEMS];
    memcpy(sorted, c->peer_best, sizeof sorted);
    printf("\n%zu candidates%s, %zu problems; calls whose scores differ from LightGBM's in any bit: %zu.\n\n", size->count, size->about,
           problems, c->different);
    printf("| who | median, ms | least | greatest | against LightGBM |\n|---|---|---|---|---|\n");
    print_times("LightGBM", sorted, problems, 0);
    double peer = problems % 2 ? sorted[problems / 2] : (sorted[problems / 2 - 1] + sorted[problems / 2]) / 2;
    for (size_t k = 0; k < KERNELS; k++) {
        if (c->scratch[k]) {
            print_times(instruction_sets[k], c->best[k], problems, peer);
        }
    }
    printf("\nPool %.2f MB, scratch of a thread %.2f MB.\n", (double)kw_forest_batch_bytes(c->pool) / 1e6,
           (double)kw_forest_scratch_bytes(c->scratch[0]) / 1e6);
}

static kw_status run_group(problem_group *c, const kw_forest *forest, const pool_data *pool, const pool_size *size, kw_error *err) {
    subset s;
    size_t count = size->count, problems = (size_t)pool->problems;
    c->scores = calloc(count, sizeof *c->scores);
    c->peer_scores = calloc(count, sizeof *c->peer_scores);
    kw_status status =
        make_subset(&s, pool, count, size->step) && c->scores && c->peer_scores ? KW_OK : kw_fail_memory(err, "the benchmark");
    if (!status) {
        fill_subset(&s, pool, 0);
        status = kw_forest_batch_open(&c->pool, forest, &(kw_forest_candidates){count, s.roles, s.column}, err);
    }
    for (size_t k = 0; k < KERNELS && !status; k++) {
        status = kw_forest_scratch_open(&c->scratch[k], c->pool, instruction_sets[k], err);
        status = status == KW_ENVIRONMENT ? KW_OK : status;
    }
    if (!status) {
        run_rounds(c, &s, pool);
        print_group(c, size, problems);
    }
    for (size_t k = 0; k < KERNELS; k++) {
        kw_forest_scratch_close(&c->scratch[k]);
    }
    kw_forest_batch_close(&c->pool);
    drop_subset(&s);
    free(c->scores);
    free(c->peer_scores);
    return status;
}

static kw_status run_model(const lightgbm *peer, const pool_data *pool, const char *folder, const char *name, kw_error *err) {
    static const pool_size sizes[] = {{4608, 1, ""}, {4608, 2731, " in mixed order"}, {1000, 4, ""}, {100, 46, ""}};
    char path[4096];
    int iterations = 0;
    void *model = NULL;
    kw_forest *forest = NULL;
    snprintf(path, sizeof path, "%s/%s.lgbm", folder, name);
    int64_t start = kw_clock_ns();
    kw_status status = kw_forest_load(&forest, path, err);
    double own_load = (double)(kw_clock_ns() - start) / 1e6;
    start = kw_clock_ns();
    if (!status && peer->open(path, &iterations, &model)) {
        status = kw_fail(err, KW_FAILED, "LightGBM does not read %s", path);
    }
    double peer_load = (double)(kw_clock_ns() - start) / 1e6;
    kw_forest_facts facts = {0};
    if (!status) {
        facts = kw_forest_describe(forest);
        printf("\n## %s\n\n%zu trees, %zu leaves, %zu distinct conditions; %.2f MB in memory; read in %.0f ms (LightGBM: %.0f ms).\n", name,
               facts.trees, facts.leaves, facts.conditions, (double)facts.bytes / 1e6, own_load, peer_load);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !status; i++) {
        problem_group c = {.peer = peer, .model = model, .rounds = facts.trees > 1000 ? MOST_ROUNDS / 3 : MOST_ROUNDS};
        status = run_group(&c, forest, pool, &sizes[i], err);
    }
    if (model) {
        peer->close(model);
    }
    kw_forest_drop(&forest);
    return status;
}

int main(void) {
    const char *library = getenv("KW_LIGHTGBM"), *folder = getenv("KW_FOREST_BENCH");
    kw_error err = {0};
    pool_data pool = {0};
    lightgbm peer;
    if (!library || !folder || !open_peer(&peer, library) || !read_pool(&pool, folder)) {
        fprintf(stderr, "bench_forest: KW_LIGHTGBM must name lib_lightgbm.so and KW_FOREST_BENCH the folder that\n"
                        "tools/long/make_forest_data.py bench FOLDER filled\n");
        return 3;
    }
    printf("# Scoring a pool of candidates\n\nOne thread. To be met: 4,608 candidates in 1.5 ms with their features, 60 times as fast as "
           "LightGBM's C API; about 100 candidates in 100 us.\n");
    static const char *const models[] = {"model_200x127", "model_400x127", "model_2000x255"};
    kw_status status = KW_OK;
    for (size_t i = 0; i < sizeof models / sizeof *models && !status; i++) {
        status = run_model(&peer, &pool, folder, models[i], &err);
    }
    if (status) {
        fprintf(stderr, "bench_forest: %s\n", err.text);
    }
    free(pool.values);
    return status ? 1 : 0;
}
