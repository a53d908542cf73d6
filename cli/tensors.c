/* tensors.c: random numbers are made as bit patterns of each format, so that no conversion code is needed here. */
#include "tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix_bits(uint64_t x) {
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

static void fill_tensor(void *memory, kw_dtype dtype, int64_t count, uint64_t seed) {
    size_t size = kw_dtype_size(dtype);
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits = pattern(dtype, mix_bits(seed + (uint64_t)i));
        memcpy((char *)memory + (size_t)i * size, &bits, size); /* little-endian hosts only, as the CPU backend is */
    }
}

/* One tensor on the device, by way of the host. */
static kw_status make_filled(void **memory, kw_context *context, kw_dtype dtype, int64_t count, bool input, uint64_t seed, kw_error *err) {
    int64_t bytes = count * (int64_t)kw_dtype_size(dtype);
    void *host = malloc((size_t)bytes);
    if (!host) {
        err->status = KW_NO_MEMORY;
        snprintf(err->text, sizeof err->text,
                 "there is no memory for a tensor of %lld elements, %.1f GB; choose a smaller problem or free memory", (long long)count,
                 (double)bytes / 1e9);
        return KW_NO_MEMORY;
    }
    if (input) {
        fill_tensor(host, dtype, count, seed);
    } else {
        memset(host, 0xff, (size_t)bytes);
    }
    kw_status status = kw_device_alloc(context, bytes, memory, err);
    status = status ? status : kw_device_copy(context, *memory, host, bytes, err);
    free(host);
    return status;
}

int cli_tensors_room(kw_context *context, const kw_problem *problem) {
    const int64_t large = (int64_t)1 << 30; /* less is not worth the asking */
    int64_t bytes = kw_problem_bytes(problem);
    void *memory = NULL;
    kw_error err = {0};
    if (bytes < large) {
        return CLI_DONE;
    }
    kw_status status = kw_device_alloc(context, bytes, &memory, &err);
    kw_device_free(context, memory);
    return status ? cli_fail(&err) : CLI_DONE;
}

int cli_tensors(kw_tensors *tensors, kw_context *context, const kw_problem *problem, int64_t workspace, uint64_t seed) {
    void **slot[KW_TENSOR_COUNT] = {&tensors->x, &tensors->w, &tensors->y};
    kw_error err = {0};
    kw_status status = KW_OK;
    *tensors = (kw_tensors){.size = sizeof(kw_tensors)};
    for (int i = 0; i < KW_TENSOR_COUNT && !status; i++) {
        kw_tensor which = (kw_tensor)i;
        status = make_filled(slot[i], context, kw_problem_dtype(problem, which), kw_problem_elements(problem, which),
                             which != kw_problem_result(problem), mix_bits(seed) + ((uint64_t)i << 40), &err);
    }
    kw_extra extras[KW_EXTRA_MAX];
    int count = kw_problem_extras(extras, problem);
    for (int i = 0; i < count && !status; i++) {
        void *memory = NULL;
        status = make_filled(&memory, context, extras[i].dtype, extras[i].elements, true, mix_bits(seed) + ((uint64_t)(8 + i) << 40), &err);
        tensors->extra[i] = memory;
    }
    if (!status && workspace > 0) {
        status = kw_device_alloc(context, workspace, &tensors->workspace, &err);
    }
    if (status) {
        cli_tensors_free(tensors, context);
        return cli_fail(&err);
    }
    return CLI_DONE;
}

void cli_tensors_free(kw_tensors *tensors, kw_context *context) {
    kw_device_free(context, tensors->x);
    kw_device_free(context, tensors->w);
    kw_device_free(context, tensors->y);
    kw_device_free(context, tensors->workspace);
    for (int i = 0; i < KW_EXTRA_MAX; i++) {
        kw_device_free(context, (void *)(uintptr_t)tensors->extra[i]);
    }
    *tensors = (kw_tensors){.size = sizeof(kw_tensors)};
}
