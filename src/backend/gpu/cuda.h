/* cuda.h: NVIDIA GPUs through the driver's libcuda.
 *
 * Declared here by hand is what is used of CUDA's documented driver API (CUDA 12 and later) besides what all drivers have (gpu.h), so that
 * no header of a toolkit is needed to build: functions by the names that the library exports, enumerators by their documented numbers. */
#ifndef KW_BACKEND_GPU_CUDA_H
#define KW_BACKEND_GPU_CUDA_H

#include "backend/gpu/gpu.h"

extern const kw_backend kw_cuda_backend;
extern const kw_gpu_driver kw_cuda_driver;

/* CUresult, as far as one is told from the others. */
enum {
    KW_CUDA_DEINITIALIZED = 4,
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

/* CUdevice_attribute, CUfunction_attribute. */
enum {
    KW_CUDA_WARP_SIZE = 10,
    KW_CUDA_CLOCK_RATE = 13, /* kHz */
    KW_CUDA_UNITS = 16,
    KW_CUDA_MEMORY_CLOCK_RATE = 36, /* kHz */
    KW_CUDA_MEMORY_BUS_WIDTH = 37,  /* bits */
    KW_CUDA_L2_SIZE = 38,
    KW_CUDA_UNIT_THREADS = 39,
    KW_CUDA_MAJOR = 75,
    KW_CUDA_MINOR = 76,
    KW_CUDA_UNIT_LDS = 81,
    KW_CUDA_UNIT_REGISTERS = 82,
    KW_CUDA_BLOCK_LDS = 97, /* what a kernel may ask for */
};
enum { KW_CUDA_FUNCTION_DYNAMIC_LDS = 8 };

typedef struct kw_cuda_uuid {
    unsigned char bytes[16];
} kw_cuda_uuid;

/* CUlaunchConfig with its CUlaunchAttributes, as far as they are used. */
typedef struct kw_cuda_attribute {
    int id, unused;
    union {
        int on;
        unsigned cluster[3]; /* blocks along each axis */
        unsigned char room[64];
    } value;
} kw_cuda_attribute;
typedef struct kw_cuda_launch {
    unsigned grid[3], block[3], shared_bytes;
    void *stream;
    kw_cuda_attribute *attributes;
    unsigned attribute_count;
} kw_cuda_launch;
enum { KW_CUDA_LAUNCH_CLUSTER_DIMENSION = 4, KW_CUDA_LAUNCH_PROGRAMMATIC_SERIALIZATION = 6 };

/* What CUDA alone has. Results are int, handles and device memory void *, devices int. */
#define KW_CUDA_CALLS(X)                                                                                                                   \
    X(cuDriverGetVersion, (int *version))                                                                                                  \
    X(cuGetErrorString, (int error, const char **text))                                                                                    \
    X(cuDeviceGet, (int *device, int index))                                                                                               \
    X(cuDeviceGetName, (char *name, int size, int device))                                                                                 \
    X(cuDeviceGetUuid_v2, (kw_cuda_uuid * uuid, int device))                                                                               \
    X(cuDevicePrimaryCtxRetain, (void **context, int device))                                                                              \
    X(cuDevicePrimaryCtxRelease_v2, (int device))                                                                                          \
    X(cuCtxPushCurrent_v2, (void *context))                                                                                                \
    X(cuCtxPopCurrent_v2, (void **context))                                                                                                \
    X(cuMemcpyAsync, (void *to, const void *from, size_t size, void *stream))                                                              \
    X(cuFuncSetAttribute, (void *function, int attribute, int value))

/* Those that older drivers lack. */
#define KW_CUDA_SPARE_CALLS(X)                                                                                                             \
    X(cuLaunchKernelEx, (const kw_cuda_launch *launch, void *function, void **parameters, void **extra))                                   \
    X(cuTensorMapEncodeTiled, (kw_gpu_map * map, int type, unsigned rank, void *tensor, const uint64_t *extents, const uint64_t *strides,  \
                               const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill))          \
    X(cuTensorMapEncodeIm2col,                                                                                                             \
      (kw_gpu_map * map, int type, unsigned rank, void *tensor, const uint64_t *extents, const uint64_t *strides, const int *low,          \
       const int *high, uint32_t channels, uint32_t pixels, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill))

/* The enumerators that describe a CUtensorMap. */
enum {
    KW_CUDA_MAP_UINT8 = 0,
    KW_CUDA_MAP_FLOAT16 = 6,
    KW_CUDA_MAP_FLOAT32 = 7,
    KW_CUDA_MAP_BFLOAT16 = 9,
    KW_CUDA_MAP_TFLOAT32 = 11,
    KW_CUDA_MAP_SWIZZLE_128 = 3,
    KW_CUDA_MAP_PROMOTION_L2_128 = 2,
};

typedef struct kw_cuda_calls {
    kw_gpu_calls gpu;
#define KW_CUDA_CALL(name, parameters) int(*name) parameters;
    KW_CUDA_CALLS(KW_CUDA_CALL)
    KW_CUDA_SPARE_CALLS(KW_CUDA_CALL)
#undef KW_CUDA_CALL
} kw_cuda_calls;

#endif
