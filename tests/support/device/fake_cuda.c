/* fake_cuda.c: a stand-in for NVIDIA's libcuda: what it has besides fake_driver.c: contexts, which are pushed and popped, and shared memory
 * that a kernel must be allowed. It is an old driver, that encodes no tensor maps. Two devices, an H200 and one of an architecture that
 * nobody knows. */
#include "backend/gpu/cuda.h"
#include "support/device/fake_driver.h"

#include <stdio.h>
#include <string.h>

enum { FIRST = 10 }; /* number of the first device: not its index */

#define KW_CUDA_CALL(name, parameters) FAKE_EXPORT int name parameters;
KW_CUDA_CALLS(KW_CUDA_CALL)
#undef KW_CUDA_CALL

bool fake_find_fact(int *value, int attribute, int device) {
    static const fake_fact known[] = {{KW_CUDA_WARP_SIZE, 32},
                                      {KW_CUDA_CLOCK_RATE, 1980000},
                                      {KW_CUDA_UNITS, 132},
                                      {KW_CUDA_L2_SIZE, 62914560},
                                      {KW_CUDA_MEMORY_CLOCK_RATE, 3201000},
                                      {KW_CUDA_MEMORY_BUS_WIDTH, 6144},
                                      {KW_CUDA_UNIT_THREADS, 2048},
                                      {KW_CUDA_UNIT_LDS, 233472},
                                      {KW_CUDA_UNIT_REGISTERS, 65536},
                                      {KW_CUDA_BLOCK_LDS, 232448},
                                      {KW_CUDA_MINOR, 0},
                                      {KW_CUDA_MAJOR, 9}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].attribute == attribute) {
            *value = attribute == KW_CUDA_MAJOR && device != FIRST ? 99 : known[i].value;
            return true;
        }
    }
    return false;
}

int cuDriverGetVersion(int *version) {
    *version = 13010;
    return fake_called("cuDriverGetVersion");
}

int cuGetErrorString(int error, const char **text) {
    *text = error == FAKE_ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : "another error";
    return 0;
}

int cuDeviceGet(int *device, int index) {
    int error = fake_called("cuDeviceGet");
    *device = index + FIRST;
    return error ? error : index < 0 || index > 1 ? FAKE_INVALID_DEVICE : 0;
}

int cuDeviceGetName(char *name, int size, int device) {
    snprintf(name, (size_t)size, "%s", device == FIRST ? "NVIDIA H200" : "A Card of Tomorrow");
    return fake_called("cuDeviceGetName");
}

int cuDeviceGetUuid_v2(kw_cuda_uuid *uuid, int device) {
    memset(uuid->bytes, device, sizeof uuid->bytes);
    return fake_called("cuDeviceGetUuid_v2");
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
    (void)device;
    int error = fake_called("cuDevicePrimaryCtxRetain");
    *context = error ? NULL : (void *)&fake_state;
    fake_state.held += !error;
    return error;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
    (void)device;
    fake_state.held--;
    return fake_called("cuDevicePrimaryCtxRelease_v2");
}

/* A broken context can still be pushed. */
int cuCtxPushCurrent_v2(void *context) {
    fake_state.entered += context == (void *)&fake_state;
    return context == (void *)&fake_state ? 0 : FAKE_INVALID_VALUE;
}

int cuCtxPopCurrent_v2(void **context) {
    *context = &fake_state;
    fake_state.entered--;
    return 0;
}

int cuMemcpyAsync(void *to, const void *from, size_t size, void *stream) {
    return fake_queue_copy(to, from, size, stream);
}

FAKE_EXPORT int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                               unsigned block_z, unsigned shared_bytes, void *stream, void **parameters, void **extra);
FAKE_EXPORT int cuLaunchKernelEx(const kw_cuda_launch *launch, void *function, void **parameters, void **extra);
int cuLaunchKernelEx(const kw_cuda_launch *launch, void *function, void **parameters, void **extra) {
    for (unsigned i = 0; i < launch->attribute_count; i++) {
        const kw_cuda_attribute *attribute = &launch->attributes[i];
        const unsigned *cluster = attribute->value.cluster;
        bool early = attribute->id == KW_CUDA_LAUNCH_PROGRAMMATIC_SERIALIZATION && attribute->value.on == 1;
        bool clusters = attribute->id == KW_CUDA_LAUNCH_CLUSTER_DIMENSION && cluster[0] > 1 && cluster[1] == 1 && cluster[2] == 1;
        if ((!early && !clusters) || (clusters && launch->grid[0] % cluster[0])) {
            return FAKE_INVALID_VALUE;
        }
        fake_state.early += early;
        fake_state.cluster = clusters ? (int)cluster[0] : fake_state.cluster;
    }
    return cuLaunchKernel(function, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0], launch->block[1], launch->block[2],
                          launch->shared_bytes, launch->stream, parameters, extra);
}

int cuFuncSetAttribute(void *function, int attribute, int value) {
    int error = fake_called("cuFuncSetAttribute");
    fake_state.allowed_lds = value;
    return error ? error : !function || attribute != KW_CUDA_FUNCTION_DYNAMIC_LDS || value > 232448 ? FAKE_INVALID_VALUE : 0;
}
