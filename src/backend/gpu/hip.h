/* hip.h: AMD GPUs through ROCm's libamdhip64.
 *
 * Declared here by hand is what is used of HIP's documented C API (ROCm 6 and later) besides what all drivers have (gpu.h), so that no
 * header of ROCm is needed to build: functions by name and signature, enumerators by their documented numbers. Nothing here has run on AMD
 * hardware; tests/support/device/fake_hip.c is what it was tested against. */
#ifndef KW_BACKEND_GPU_HIP_H
#define KW_BACKEND_GPU_HIP_H

#include "backend/gpu/gpu.h"

extern const kw_backend kw_hip_backend;
extern const kw_gpu_driver kw_hip_driver;

/* hipError_t, as far as one is told from the others. */
enum {
    KW_HIP_ECC = 214,
    KW_HIP_ILLEGAL_ADDRESS = 700,
    KW_HIP_LAUNCH_TIMEOUT = 702,
    KW_HIP_ASSERT = 710,
    KW_HIP_LAUNCH_FAILURE = 719,
    KW_HIP_UNKNOWN = 999,
};

/* hipDeviceAttribute_t */
enum {
    KW_HIP_CLOCK_RATE = 5,         /* kHz */
    KW_HIP_L2_SIZE = 19,           /* bytes */
    KW_HIP_MEMORY_BUS_WIDTH = 59,  /* bits */
    KW_HIP_MEMORY_CLOCK_RATE = 60, /* kHz */
    KW_HIP_MULTIPROCESSOR_COUNT = 63,
    KW_HIP_SHARED_MEMORY_PER_BLOCK = 74,
    KW_HIP_WARP_SIZE = 87,
};

enum { KW_HIP_MEMCPY_DEFAULT = 4 };

/* hipDeviceProp_tR0600, of which only two strings are read: the struct has grown in every release, but they have kept their places. */
enum { KW_HIP_PROPERTIES_BYTES = 8192, KW_HIP_NAME_AT = 0, KW_HIP_ARCH_AT = 1160, KW_HIP_STRING_BYTES = 256 };

/* What HIP alone has: result is int for all but hipGetErrorString. Handles are void *. */
#define KW_HIP_CALLS(X)                                                                                                                    \
    X(hipRuntimeGetVersion, (int *version))                                                                                                \
    X(hipSetDevice, (int device))                                                                                                          \
    X(hipGetDevicePropertiesR0600, (void *properties, int device))                                                                         \
    X(hipMemcpyAsync, (void *to, const void *from, size_t size, int kind, void *stream))

typedef struct kw_hip_calls {
    kw_gpu_calls gpu;
#define KW_HIP_CALL(name, parameters) int(*name) parameters;
    KW_HIP_CALLS(KW_HIP_CALL)
#undef KW_HIP_CALL
    const char *(*hipGetErrorString)(int error);
} kw_hip_calls;

#endif
