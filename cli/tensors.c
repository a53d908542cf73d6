/* tensors.c: random numbers are made as bit patterns of each format, so that no conversion code is needed here. */
#include "tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Sign, one of four exponents below 1, random mantissa. */
static uint32_t pattern(kw_dtype dtype, uint64_t r) {
    uint32_t sign = r & 1, step = (uint32_t)(r >> 1 & 3), fraction = (uint32_t)(r >> 8);
    switch (dtype) {
    case KW_FP32:
        return sign << 31 | (123 + step) << 23 | (fraction & 0x7fffff);
    case KW_BF16:
        return sign << 15 | (123 + step) << 7 | (fraction & 0x7f);
    case KW_FP16:
        return sign << 15 | (11 + step) << 10 | (fraction & 0x3ff);
    case KW_FP8:
        return sign << 7 | (3 + step) << 3 | (fraction & 7);
    case KW_BF8:
        return sign << 7 | (11 + step) << 2 | (fraction & 3);
    default:
        return (uint32_t)((int32_t)(fraction % 17) - 8);
    }
}

static void fill(void *memory, kw_dtype dtype, int64_t count, uint64_t seed) {
    size_t size = kw_dtype_size(dtype);
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits = pattern(dtype, mix(seed + (uint64_t)i));
        memcpy((char *)memory + (size_t)i * size, &bits, size); /* little-endian hosts only, as the CPU backend is */
    }
}

static void *allocate(int64_t bytes) {
    size_t size = ((size_t)bytes + 63) / 64 * 64;
    return aligned_alloc(64, size ? size : 64);
}

int cli_tensors(kw_tensors *tensors, const kw_problem *problem, int64_t workspace, uint64_t seed) {
    void **slot[KW_TENSOR_COUNT] = {&tensors->x, &tensors->w, &tensors->y};
    *tensors = (kw_tensors){0};
    for (int i = 0; i < KW_TENSOR_COUNT; i++) {
        kw_tensor which = (kw_tensor)i;
        kw_dtype dtype = kw_problem_dtype(problem, which);
        int64_t count = kw_problem_elements(problem, which);
        *slot[i] = allocate(count * (int64_t)kw_dtype_size(dtype));
        if (!*slot[i]) {
            cli_tensors_free(tensors);
            return cli_usage("out of memory for a tensor of %lld elements", (long long)count);
        }
        if (which == kw_problem_result(problem)) {
            memset(*slot[i], 0xff, (size_t)count * kw_dtype_size(dtype));
        } else {
            fill(*slot[i], dtype, count, mix(seed) + ((uint64_t)i << 40));
        }
    }
    if (workspace > 0) {
        tensors->workspace = allocate(workspace);
        if (!tensors->workspace) {
            cli_tensors_free(tensors);
            return cli_usage("out of memory for a workspace of %lld bytes", (long long)workspace);
        }
    }
    return CLI_DONE;
}

void cli_tensors_free(kw_tensors *tensors) {
    free(tensors->x);
    free(tensors->w);
    free(tensors->y);
    free(tensors->workspace);
    *tensors = (kw_tensors){0};
}
