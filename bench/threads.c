/* threads.c: what calls take on so many threads, one by one: where the library starts, wakes and joins its threads, and who else wants the
 * cores. Prints a line a problem: median, 90 % and mean of a call in us, and the kernel, the analytic estimate's choice, so that two
 * builds of the library run the same.
 *
 *   bench_threads THREADS REST_US [PROBLEM...]     REST_US: what the caller sleeps between two calls */
#include "base/os/clock.h"
#include "measure/data/fill.h"

#include <kernelwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CALLS_MAX = 4000 };
static const int64_t enough_ns = 300000000;

static const char *const usual[] = {
    "gemm fp32 rrr m64 n64 k64",
    "gemm fp32 rrr m96 n96 k96",
    "gemm fp32 rrr m128 n128 k128",
    "gemm fp32 rrr m192 n192 k192",
    "gemm fp32 rrr m256 n256 k256",
    "conv_fwd fp32 nhwgc n1 g1 c32 k32 i14x14 f3x3 s1x1 p1x1",
    "conv_fwd fp32 nhwgc n1 g1 c64 k64 i28x28 f3x3 s1x1 p1x1",
    "conv_fwd fp32 nhwgc n1 g1 c64 k64 i56x56 f3x3 s1x1 p1x1",
    "gemm fp32 rrr m1024 n1024 k1024",
};

static int compare_times(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void *filled(const kw_problem *problem, kw_tensor tensor) {
    size_t size = (size_t)kw_problem_elements(problem, tensor) * kw_dtype_size(kw_problem_dtype(problem, tensor));
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
    if (memory && tensor != kw_problem_result(problem)) { /* no zeros: they draw less power, and cores run faster on them */
        kw_fill fill = kw_fill_real(problem, 1);
        kw_fill_tensor(&fill, problem, tensor, 0, kw_problem_elements(problem, tensor), memory);
    }
    return memory;
}

static kw_status time_calls(const kw_plan *plan, const kw_tensors *tensors, useconds_t rest, const char *problem, kw_error *err) {
    static int64_t times[CALLS_MAX];
    size_t count = 0;
    double sum = 0;
    kw_status status = KW_OK;
    for (int i = 0; i < 20 && !status; i++) {
        status = kw_plan_run(plan, tensors, NULL, err);
    }
    int64_t end = kw_clock_ns() + enough_ns;
    while (!status && count < CALLS_MAX && (count < 20 || kw_clock_ns() < end)) {
        if (rest) {
            usleep(rest);
        }
        int64_t start = kw_clock_ns();
        status = kw_plan_run(plan, tensors, NULL, err);
        times[count] = kw_clock_ns() - start;
        sum += (double)times[count++];
    }
    if (!status) {
        qsort(times, count, sizeof *times, compare_times);
        printf("%s\t%.2f\t%.2f\t%.2f\t%.40s\n", problem, (double)times[count / 2] / 1e3, (double)times[count * 9 / 10] / 1e3,
               sum / (double)count / 1e3, kw_plan_config(plan));
    }
    return status;
}

static kw_status run_problem(kw_context *context, const char *text, useconds_t rest, kw_error *err) {
    kw_problem problem;
    kw_plan *plan = NULL;
    kw_tensors tensors = {.size = sizeof(kw_tensors)};
    kw_status status = kw_problem_parse(&problem, text, err);
    status = status
                 ? status
                 : kw_plan_create(&plan, context, &problem, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT}, err);
    if (!status) {
        void *x = filled(&problem, KW_X), *w = filled(&problem, KW_W), *y = filled(&problem, KW_Y);
        void *workspace = aligned_alloc(64, (size_t)(kw_plan_workspace(plan) + 64) / 64 * 64);
        tensors = (kw_tensors){.size = sizeof(kw_tensors), .x = x, .w = w, .y = y, .workspace = workspace};
        if (w && kw_problem_result(&problem) != KW_W) {
            status = kw_plan_pack_weights(plan, w, err); /* as those do whose weights stay */
        }
        status = status ? status : x && w && y && workspace ? time_calls(plan, &tensors, rest, text, err) : KW_NO_MEMORY;
        free(x);
        free(w);
        free(y);
        free(workspace);
    }
    kw_plan_destroy(&plan);
    return status;
}

int main(int argc, char **argv) {
    kw_error err = {0};
    kw_context *context = NULL;
    if (argc < 3) {
        fprintf(stderr, "usage: bench_threads THREADS REST_US [PROBLEM...]\n");
        return 2;
    }
    kw_context_options options = {.size = sizeof(kw_context_options), .threads = atoi(argv[1]), .wisdom_file = "", .model = ""};
    const char *const *problems = argc > 3 ? (const char *const *)argv + 3 : usual;
    size_t count = argc > 3 ? (size_t)argc - 3 : sizeof usual / sizeof *usual;
    kw_status status = kw_context_open(&context, "cpu", &options, &err);
    for (size_t i = 0; i < count && !status; i++) {
        status = run_problem(context, problems[i], (useconds_t)atoi(argv[2]), &err);
    }
    kw_context_close(&context);
    if (status) {
        fprintf(stderr, "bench_threads: %s\n", err.text);
    }
    return status ? 1 : 0;
}
