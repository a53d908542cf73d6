/* fake_cuda.c: a stand-in for NVIDIA's libcuda: what backend/cuda.c calls of the documented API, with the rules that matter to it. Calls that need
 * a context are counted when none is current; device memory is the host's, copies are done at once; a launch adds 1 to the first byte of y,
 * and is done when it is queued, so that order and count show; errors of kernels show at the next wait and stay. A driver's state is the
 * process's, hence the static variable. */
#include "support/fake_cuda.h"

#include "backend/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { INVALID_VALUE = 1, INVALID_IMAGE = 200, NOT_FOUND = 500 };

static struct {
    fake_cuda_state state;
    int coming, sticky;
    float clock;
} fake;

EXPORT fake_cuda_call fake_cuda;
EXPORT fake_cuda_break_call fake_cuda_break;

fake_cuda_state *fake_cuda(void) {
    return &fake.state;
}

void fake_cuda_break(int error) {
    fake.coming = error;
    fake.sticky = 0;
}

static int inside(void) {
    fake.state.outside += !fake.state.pushed;
    return fake.sticky;
}

static int await(void) {
    fake.state.waits++;
    if (!fake.sticky && fake.coming) {
        fake.sticky = fake.coming;
    }
    return inside();
}

static int hold(void **handle, size_t size) {
    *handle = calloc(1, size);
    fake.state.held += *handle != NULL;
    return *handle ? 0 : KW_CUDA_OUT_OF_MEMORY;
}

static int let_go(void *handle) {
    fake.state.held -= handle != NULL;
    free(handle);
    return fake.sticky;
}

#define KW_CUDA_CALL(name, parameters) EXPORT int name parameters;
KW_CUDA_CALLS(KW_CUDA_CALL)
#undef KW_CUDA_CALL

int cuInit(unsigned flags) {
    return flags ? INVALID_VALUE : 0;
}

int cuDriverGetVersion(int *version) {
    *version = 13010;
    return 0;
}

int cuGetErrorString(int error, const char **text) {
    *text = error == KW_CUDA_ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : "another error";
    return 0;
}

int cuDeviceGetCount(int *count) {
    *count = 2;
    return 0;
}

int cuDeviceGet(int *device, int index) {
    *device = index + 10;
    return index < 0 || index > 1 ? INVALID_VALUE : 0;
}

int cuDeviceGetName(char *name, int size, int device) {
    snprintf(name, (size_t)size, "%s", device == 10 ? "NVIDIA H200" : "A Card of Tomorrow");
    return 0;
}

int cuDeviceGetUuid_v2(kw_cuda_uuid *uuid, int device) {
    memset(uuid->bytes, device, sizeof uuid->bytes);
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    static const struct {
        int attribute, value;
    } known[] = {{KW_CUDA_WARP_SIZE, 32},
                 {KW_CUDA_CLOCK_RATE, 1980000},
                 {KW_CUDA_UNITS, 132},
                 {KW_CUDA_L2_SIZE, 62914560},
                 {KW_CUDA_MEMORY_CLOCK_RATE, 3201000},
                 {KW_CUDA_MEMORY_BUS_WIDTH, 6144},
                 {KW_CUDA_UNIT_THREADS, 2048},
                 {KW_CUDA_UNIT_LDS, 233472},
                 {KW_CUDA_UNIT_REGISTERS, 65536},
                 {KW_CUDA_BLOCK_LDS, 232448},
                 {KW_CUDA_MINOR, 0}};
    if (attribute == KW_CUDA_MAJOR) {
        *value = device == 10 ? 9 : 99;
        return 0;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].attribute == attribute) {
            *value = known[i].value;
            return 0;
        }
    }
    return INVALID_VALUE;
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
    (void)device;
    *context = &fake;
    fake.state.held++;
    return fake.sticky;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
    (void)device;
    fake.state.held--;
    return fake.sticky;
}

int cuCtxPushCurrent_v2(void *context) {
    fake.state.pushed += context == (void *)&fake;
    return context == (void *)&fake ? 0 : INVALID_VALUE;
}

int cuCtxPopCurrent_v2(void **context) {
    *context = &fake;
    fake.state.pushed--;
    return 0;
}

int cuCtxSynchronize(void) {
    return await();
}

int cuMemAlloc_v2(kw_cuda_memory *memory, size_t size) {
    void *made = NULL;
    int error = inside();
    error = error ? error : size > (size_t)1 << 30 ? KW_CUDA_OUT_OF_MEMORY : hold(&made, size);
    *memory = (kw_cuda_memory)(uintptr_t)made;
    return error;
}

int cuMemFree_v2(kw_cuda_memory memory) {
    inside();
    return let_go((void *)(uintptr_t)memory);
}

int cuMemcpyAsync(kw_cuda_memory to, kw_cuda_memory from, size_t size, void *stream) {
    int error = inside();
    if (!error && stream) {
        memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
    }
    return error ? error : stream ? 0 : INVALID_VALUE;
}

int cuStreamCreate(void **stream, unsigned flags) {
    int error = inside();
    return error ? error : flags > 1 ? INVALID_VALUE : hold(stream, 1);
}

int cuStreamDestroy_v2(void *stream) {
    inside();
    return let_go(stream);
}

int cuStreamSynchronize(void *stream) {
    (void)stream;
    return await();
}

int cuModuleLoadData(void **module, const void *image) {
    int error = inside();
    return error ? error : memcmp(image, "\177ELF", 4) ? INVALID_IMAGE : hold(module, 1);
}

int cuModuleUnload(void *module) {
    inside();
    return let_go(module);
}

int cuModuleGetFunction(void **function, void *module, const char *name) {
    *function = module;
    int error = inside();
    return error ? error : strcmp(name, "kw_stage0") ? NOT_FOUND : 0;
}

int cuFuncSetAttribute(void *function, int attribute, int value) {
    fake.state.attribute = value;
    int error = inside();
    return error ? error : !function || attribute != KW_CUDA_FUNCTION_DYNAMIC_LDS || value > 232448 ? INVALID_VALUE : 0;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                   unsigned shared_bytes, void *stream, void **parameters, void **extra) {
    int error = inside();
    if (error || !function || grid_y * grid_z * block_y * block_z != 1 || !grid_x || !block_x || block_x > 1024 || !parameters || extra ||
        shared_bytes > (unsigned)fake.state.attribute) {
        return error ? error : INVALID_VALUE;
    }
    fake.state.launches++;
    fake.state.grid = grid_x;
    fake.state.block = block_x;
    fake.state.lds = shared_bytes;
    fake.state.stream = stream;
    fake.clock += 0.25f;
    ((const kw_cpu_args *)parameters[0])->y[0]++;
    return 0;
}

int cuEventCreate(void **event, unsigned flags) {
    int error = inside();
    return error ? error : flags ? INVALID_VALUE : hold(event, sizeof(float));
}

int cuEventDestroy_v2(void *event) {
    inside();
    return let_go(event);
}

int cuEventRecord(void *event, void *stream) {
    *(float *)event = fake.clock;
    int error = inside();
    return error ? error : stream ? 0 : INVALID_VALUE;
}

int cuEventSynchronize(void *event) {
    (void)event;
    return await();
}

int cuEventElapsedTime(float *milliseconds, void *start, void *stop) {
    *milliseconds = *(const float *)stop - *(const float *)start;
    return inside();
}
