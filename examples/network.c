/* network.c: all layers of a network through the public API. Reads a list of problems (lines "name: problem"), makes a plan for each, runs
 * each on real data and prints where the time goes: the least of a few runs.
 *
 *   network FILE [MODE]     MODE: frozen, predict, shortlist or exhaustive; default: what KW_MODE says
 *
 * Tensors of one layer are not those of the next: what is shown is the cost of each layer, not a whole inference. */
#include <kernelwright.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINE_MAX_BYTES = 1024, NAME_MAX_BYTES = 64, RUNS_MAX = 6, RUNS_NS = 100000000 };

typedef struct totals {
    int layers, failures;
    double plan_ns, run_ns, flops;
} totals;

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Bit patterns of each type for values of either sign from 0.5 to 1 (int8: all values): random ones between no bits and all. */
static const struct {
    uint32_t random, fixed;
} patterns[KW_DTYPE_COUNT] = {
    [KW_FP32] = {0x807fffff, 0x3f000000},
    [KW_BF16] = {0x807f, 0x3f00},
    [KW_FP16] = {0x83ff, 0x3800},
    [KW_FP8] = {0x87, 0x30},
    [KW_BF8] = {0x83, 0x38},
    [KW_INT8] = {0xff, 0},
};

static void fill(void *memory, int64_t count, kw_dtype dtype, uint64_t seed) {
    size_t size = kw_dtype_size(dtype);
    for (int64_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t bits = ((uint32_t)(seed >> 32) & patterns[dtype].random) | patterns[dtype].fixed;
        memcpy((char *)memory + (size_t)i * size, &bits, size); /* little-endian: the low bytes come first */
    }
}

/* Aligned memory of at least one byte; the workspace and the result need no contents. */
static void *take(int64_t bytes) {
    return bytes > INT64_MAX - 64 ? NULL : aligned_alloc(64, ((size_t)bytes + 64) / 64 * 64);
}

static void drop(kw_tensors *tensors) {
    free(tensors->x);
    free(tensors->w);
    free(tensors->y);
    free(tensors->workspace);
    *tensors = (kw_tensors){.size = sizeof(kw_tensors)};
}

static kw_status make_tensors(kw_tensors *tensors, const kw_problem *problem, int64_t workspace, kw_error *err) {
    void **place[KW_TENSOR_COUNT] = {&tensors->x, &tensors->w, &tensors->y};
    bool good = (tensors->workspace = take(workspace)) != NULL;
    for (int t = 0; t < KW_TENSOR_COUNT && good; t++) {
        kw_dtype dtype = kw_problem_dtype(problem, (kw_tensor)t);
        int64_t count = kw_problem_elements(problem, (kw_tensor)t);
        *place[t] = take(count * (int64_t)kw_dtype_size(dtype));
        good = *place[t] != NULL;
        if (good && (kw_tensor)t != kw_problem_result(problem)) {
            fill(*place[t], count, dtype, (uint64_t)t + 1);
        }
    }
    if (!good) {
        drop(tensors);
        snprintf(err->text, sizeof err->text, "out of memory for the tensors of a layer");
        return err->status = KW_NO_MEMORY;
    }
    return KW_OK;
}

static kw_status run_layer(kw_context *context, const char *name, const kw_problem *problem, kw_mode mode, totals *sum, kw_error *err) {
    kw_plan *plan = NULL;
    kw_tensors tensors = {.size = sizeof(kw_tensors)};
    double start = now_ns(), run_ns = 0;
    kw_status status = kw_plan_create(&plan, context, problem, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = mode}, err);
    sum->plan_ns += now_ns() - start;
    status = status ? status : make_tensors(&tensors, problem, kw_plan_workspace(plan), err);
    /* Weights that stay the same are packed once; the workspace that was asked for before is then more than enough. */
    if (!status && kw_problem_result(problem) != KW_W) {
        status = kw_plan_pack_weights(plan, tensors.w, err);
    }
    /* The first run touches the memory and loads the code; of the others the least is what a layer costs on a machine at rest. */
    double began = now_ns();
    for (int i = 0; i < RUNS_MAX && !status && (i < 2 || now_ns() - began < RUNS_NS); i++) {
        start = now_ns();
        status = kw_plan_run(plan, &tensors, NULL, err);
        double took = now_ns() - start;
        run_ns = i < 2 || took < run_ns ? took : run_ns;
    }
    if (!status) {
        double flops = (double)kw_problem_flops(problem);
        printf("%-28.60s %10.3f ms %9.1f GFLOP/s  %s\n", name, run_ns / 1e6, flops / run_ns, kw_plan_config(plan));
        sum->run_ns += run_ns;
        sum->flops += flops;
    }
    drop(&tensors);
    kw_plan_destroy(&plan);
    return status;
}

/* Takes the line apart; false when there is no problem on it. */
static bool split_line(char *line, char name[NAME_MAX_BYTES], char **problem) {
    line[strcspn(line, "#\r\n")] = 0;
    char *colon = strchr(line, ':');
    *problem = colon ? colon + 1 : line;
    snprintf(name, NAME_MAX_BYTES, "%.*s", colon ? (int)(colon - line < 40 ? colon - line : 40) : 0, line);
    *problem += strspn(*problem, " \t");
    return **problem != 0;
}

static void run_file(FILE *file, const char *path, kw_context *context, kw_mode mode, totals *sum) {
    char line[LINE_MAX_BYTES], name[NAME_MAX_BYTES], *text;
    for (int number = 1; fgets(line, sizeof line, file); number++) {
        kw_problem problem;
        kw_error err = {0};
        if (!split_line(line, name, &text)) {
            continue;
        }
        if (kw_problem_import(&problem, text, &err) || run_layer(context, *name ? name : text, &problem, mode, sum, &err)) {
            fprintf(stderr, "network: %s:%d: %s\n", path, number, err.text);
            sum->failures++;
            continue;
        }
        sum->layers++;
    }
}

/* The word's kw_mode; -1 when there is none. */
static int find_mode(const char *word) {
    static const char *const words[] = {"default", "frozen", "predict", "shortlist", "exhaustive"};
    for (int i = 0; i < (int)(sizeof words / sizeof *words); i++) {
        if (!strcmp(word, words[i])) {
            return i;
        }
    }
    return -1;
}

int main(int argc, char **argv) {
    totals sum = {0};
    kw_error err = {0};
    kw_context *context = NULL;
    int mode = argc > 2 ? find_mode(argv[2]) : KW_MODE_DEFAULT;
    if (argc < 2 || argc > 3 || mode < 0) {
        fprintf(stderr, "use: network FILE [frozen|predict|shortlist|exhaustive]\n");
        return 2;
    }
    FILE *file = fopen(argv[1], "r");
    if (!file) {
        fprintf(stderr, "network: cannot read %s\n", argv[1]);
        return 2;
    }
    if (kw_context_open(&context, "cpu", NULL, &err)) {
        fprintf(stderr, "network: %s\n", err.text);
        fclose(file);
        return 3;
    }
    run_file(file, argv[1], context, (kw_mode)mode, &sum);
    printf("%d layers: %.1f ms to make the plans, %.1f ms for one run of each, %.1f GFLOP/s in all\n", sum.layers, sum.plan_ns / 1e6,
           sum.run_ns / 1e6, sum.run_ns > 0 ? sum.flops / sum.run_ns : 0);
    fclose(file);
    kw_context_close(&context);
    return sum.failures || !sum.layers ? 1 : 0;
}
