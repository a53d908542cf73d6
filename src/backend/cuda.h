/* cuda.h: NVIDIA GPUs through the driver's libcuda, which is loaded when it is first asked for.
 *
 * Declared here by hand is what is used of CUDA's documented driver API (CUDA 12 and later), so that no header of a toolkit is needed to build:
 * functions by the names that the library exports, enumerators by their documented numbers. All functions return 0 for success. */
#ifndef KW_BACKEND_CUDA_H
#define KW_BACKEND_CUDA_H

#include "backend/backend.h"

extern const kw_backend kw_cuda_backend;

/* CUresult, as far as one is told from the others. */
enum {
    KW_CUDA_OUT_OF_MEMORY = 2,
    KW_CUDA_DEINITIALIZED = 4,
    KW_CUDA_NO_DEVICE = 100,
    KW_CUDA_ECC = 214,
    KW_CUDA_NVLINK = 220,
    KW_CUDA_CONTAINED = 226,
    KW_CUDA_ILLEGAL_ADDRESS = 700,
    KW_CUDA_LAUNCH_TIMEOUT = 702,
    KW_CUDA_CONTEXT_DESTROYED = 709,
    KW_CUDA_ASSERT = 710,
    KW_CUDA_STACK_ERROR = 714,
    KW_CUDA_ILLEGAL_INSTRUCTION = 715,
    KW_CUDA_MISALIGNED = 716,
    KW_CUDA_ADDRESS_SPACE = 717,
    KW_CUDA_INVALID_PC = 718,
    KW_CUDA_LAUNCH_FAILED = 719,
    KW_CUDA_UNKNOWN = 999,
};

/* CUdevice_attribute, CUfunction_attribute, flags. */
enum {
    KW_CUDA_WARP_SIZE = 10,
    KW_CUDA_CLOCK_RATE = 13, /* kHz */
    KW_CUDA_UNITS = 16,
    KW_CUDA_MEMORY_CLOCK_RATE = 36, /* kHz, two bits a line and clock */
    KW_CUDA_MEMORY_BUS_WIDTH = 37,  /* bits */
    KW_CUDA_L2_SIZE = 38,
    KW_CUDA_UNIT_THREADS = 39,
    KW_CUDA_MAJOR = 75,
    KW_CUDA_MINOR = 76,
    KW_CUDA_UNIT_LDS = 81,
    KW_CUDA_UNIT_REGISTERS = 82,
    KW_CUDA_BLOCK_LDS = 97, /* what a kernel may ask for */
};
enum { KW_CUDA_FUNCTION_DYNAMIC_LDS = 8, KW_CUDA_STREAM_NON_BLOCKING = 1 };

/* Device memory is a number. */
typedef unsigned long long kw_cuda_memory;
typedef struct kw_cuda_uuid {
    unsigned char bytes[16];
} kw_cuda_uuid;

/* One list for the table of calls and for loading it. Results are int, handles void *, devices int. */
#define KW_CUDA_CALLS(X)                                                                                                                   \
    X(cuInit, (unsigned flags))                                                                                                            \
    X(cuDriverGetVersion, (int *version))                                                                                                  \
    X(cuGetErrorString, (int error, const char **text))                                                                                    \
    X(cuDeviceGetCount, (int *count))                                                                                                      \
    X(cuDeviceGet, (int *device, int index))                                                                                               \
    X(cuDeviceGetName, (char *name, int size, int device))                                                                                 \
    X(cuDeviceGetUuid_v2, (kw_cuda_uuid * uuid, int device))                                                                               \
    X(cuDeviceGetAttribute, (int *value, int attribute, int device))                                                                       \
    X(cuDevicePrimaryCtxRetain, (void **context, int device))                                                                              \
    X(cuDevicePrimaryCtxRelease_v2, (int device))                                                                                          \
    X(cuCtxPushCurrent_v2, (void *context))                                                                                                \
    X(cuCtxPopCurrent_v2, (void **context))                                                                                                \
    X(cuCtxSynchronize, (void))                                                                                                            \
    X(cuMemAlloc_v2, (kw_cuda_memory * memory, size_t size))                                                                               \
    X(cuMemFree_v2, (kw_cuda_memory memory))                                                                                               \
    X(cuMemcpyAsync, (kw_cuda_memory to, kw_cuda_memory from, size_t size, void *stream))                                                  \
    X(cuStreamCreate, (void **stream, unsigned flags))                                                                                     \
    X(cuStreamDestroy_v2, (void *stream))                                                                                                  \
    X(cuStreamSynchronize, (void *stream))                                                                                                 \
    X(cuModuleLoadData, (void **module, const void *image))                                                                                \
    X(cuModuleUnload, (void *module))                                                                                                      \
    X(cuModuleGetFunction, (void **function, void *module, const char *name))                                                              \
    X(cuFuncSetAttribute, (void *function, int attribute, int value))                                                                      \
    X(cuLaunchKernel, (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,              \
                       unsigned block_z, unsigned shared_bytes, void *stream, void **parameters, void **extra))                            \
    X(cuEventCreate, (void **event, unsigned flags))                                                                                       \
    X(cuEventDestroy_v2, (void *event))                                                                                                    \
    X(cuEventRecord, (void *event, void *stream))                                                                                          \
    X(cuEventSynchronize, (void *event))                                                                                                   \
    X(cuEventElapsedTime, (float *milliseconds, void *start, void *stop))

/* Those that older drivers lack. */
#define KW_CUDA_SPARE_CALLS(X)                                                                                                             \
    X(cuTensorMapEncodeTiled, (kw_cuda_map * map, int type, unsigned rank, void *tensor, const uint64_t *extents, const uint64_t *strides, \
                               const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill))

/* CUtensorMap, and the enumerators that describe one. */
typedef struct kw_cuda_map {
    _Alignas(64) uint64_t opaque[16];
} kw_cuda_map;
enum {
    KW_CUDA_MAP_UINT8 = 0,
    KW_CUDA_MAP_FLOAT16 = 6,
    KW_CUDA_MAP_FLOAT32 = 7,
    KW_CUDA_MAP_BFLOAT16 = 9,
    KW_CUDA_MAP_SWIZZLE_128 = 3,
    KW_CUDA_MAP_PROMOTION_L2_256 = 3,
};

/* A kernel's parameter: kw_gpu_args of kernels/prelude/gpu_ptx.h. */
typedef struct kw_cuda_args {
    kw_cpu_args args;
    kw_cuda_map map[KW_MAP_MAX];
} kw_cuda_args;

typedef struct kw_cuda_calls {
#define KW_CUDA_CALL(name, parameters) int(*name) parameters;
    KW_CUDA_CALLS(KW_CUDA_CALL)
    KW_CUDA_SPARE_CALLS(KW_CUDA_CALL)
#undef KW_CUDA_CALL
} kw_cuda_calls;

/* cuda_driver.c: loads libcuda and starts it. KW_ENVIRONMENT when there is none. */
kw_status kw_cuda_load(kw_cuda_calls *calls, kw_error *err);
/* KW_OK for 0; else the status that an error of a call means, with what and the driver's words for it. */
kw_status kw_cuda_judge(const kw_cuda_calls *calls, int error, const char *what, kw_error *err);
/* A map as the driver encodes it for a tensor of the device. Only where the driver has cuTensorMapEncodeTiled. */
kw_status kw_cuda_encode(kw_cuda_map *to, const kw_cuda_calls *calls, const kw_map *map, void *tensor, kw_error *err);
/* Facts of a device. KW_MISSING when its architecture has no file. */
kw_status kw_cuda_target(kw_target *target, const kw_cuda_calls *calls, int device, kw_error *err);
/* "NVIDIA H200, driver for CUDA 13.0, GPU-6f3c1a52-..." */
void kw_cuda_about(char *text, size_t capacity, const kw_cuda_calls *calls, int device);

#endif
