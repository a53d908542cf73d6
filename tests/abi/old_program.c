/* old_program.c: a program as it was written for the first release. What it hands in lies at the end of a page, behind which nothing can be
 * read: a library that takes one of today's structs for granted ends it. */
#include "abi/old_program.h"

#include "abi/release_0_1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { M = 37, N = 48, K = 24 };

/* The bytes of a struct, which end where the readable memory does. */
static void *at_the_edge(const void *bytes, size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + page, page, PROT_NONE)) {
        abort();
    }
    return memcpy(memory + page - size, bytes, size);
}

/* A is [M, K], B [N, K] and both hold small whole numbers. */
static int is_product(const float *a, const float *b, const float *c) {
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++) {
                sum += a[i * K + k] * b[j * K + k];
            }
            if (c[i * N + j] != sum) {
                return 0;
            }
        }
    }
    return 1;
}

static const char *run_twice(kw_plan *plan, kw_error *err) {
    static _Alignas(64) float a[M * K], b[N * K], c[M * N];
    for (int i = 0; i < M * K; i++) {
        a[i] = (float)(i % 7 - 3);
    }
    for (int i = 0; i < N * K; i++) {
        b[i] = (float)(i % 5 - 2);
    }
    void *workspace = aligned_alloc(64, (size_t)(kw_plan_workspace(plan) + 64) / 64 * 64);
    const char *fault = NULL;
    for (int packed = 0; packed < 2 && !fault; packed++) {
        kw_tensors tensors = {.size = sizeof tensors, .x = a, .w = b, .y = c, .workspace = workspace};
        memset(c, 0x55, sizeof c);
        if ((packed && kw_plan_pack_weights(plan, b, err)) || kw_plan_run(plan, at_the_edge(&tensors, sizeof tensors), NULL, err)) {
            fault = err->text;
        } else if (!is_product(a, b, c)) {
            fault = "the product is wrong";
        }
    }
    free(workspace);
    return fault;
}

const char *old_program_run(const char *folder) {
    static kw_error err;
    kw_context *context = NULL;
    kw_plan *plan = NULL;
    kw_problem problem;
    kw_context_options options = {.size = sizeof options, .threads = 2, .cache_dir = folder, .data_dir = folder, .wisdom_file = ""};
    kw_plan_options how = {.size = sizeof how, .mode = KW_PREDICT};
    const char *fault = NULL;
    if (kw_problem_parse(&problem, "gemm fp32 rcr m37 n48 k24", &err) ||
        kw_context_open(&context, "cpu", at_the_edge(&options, sizeof options), &err) ||
        kw_plan_create(&plan, context, &problem, at_the_edge(&how, sizeof how), &err)) {
        fault = err.text;
    } else {
        fault = run_twice(plan, &err);
    }
    kw_plan_destroy(&plan);
    kw_context_close(&context);
    return fault;
}

size_t old_program_problem_size(void) {
    return sizeof(kw_problem);
}

size_t old_program_error_size(void) {
    return sizeof(kw_error);
}
