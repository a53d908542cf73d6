/* hip.h: AMD GPUs through ROCm's libamdhip64, which is loaded when it is first asked for.
 *
 * Declared here by hand is what is used of HIP's documented C API (ROCm 6 and later), so that no header of ROCm is needed to build: functions
 * by name and signature, enumerators by their documented numbers. All functions return 0 for success. Nothing here has run on AMD hardware;
 * tests/support/fake_hip.c is what it was tested against. */
#ifndef KW_BACKEND_HIP_H
#define KW_BACKEND_HIP_H

#include "backend/backend.h"

extern const kw_backend kw_hip_backend;

enum {
    KW_HIP_OUT_OF_MEMORY = 2,
    KW_HIP_NO_DEVICE = 100,
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
    KW_HIP_MEMORY_CLOCK_RATE = 60, /* kHz, two bits a line and clock */
    KW_HIP_MULTIPROCESSOR_COUNT = 63,
    KW_HIP_SHARED_MEMORY_PER_BLOCK = 74,
    KW_HIP_WARP_SIZE = 87,
};

enum { KW_HIP_MEMCPY_DEFAULT = 4, KW_HIP_STREAM_NON_BLOCKING = 1 };

/* hipDeviceProp_tR0600, of which only two strings are read: the struct has grown in every release, but they have kept their places. */
enum { KW_HIP_PROPERTIES_BYTES = 8192, KW_HIP_NAME_AT = 0, KW_HIP_ARCH_AT = 1160, KW_HIP_STRING_BYTES = 256 };

/* One list for the table of calls and for loading it: result is int for all but the last. Handles are void *. */
#define KW_HIP_CALLS(X)                                                                                                                    \
    X(hipInit, (unsigned flags))                                                                                                           \
    X(hipGetDeviceCount, (int *count))                                                                                                     \
    X(hipRuntimeGetVersion, (int *version))                                                                                                \
    X(hipSetDevice, (int device))                                                                                                          \
    X(hipGetDevicePropertiesR0600, (void *properties, int device))                                                                         \
    X(hipDeviceGetAttribute, (int *value, int attribute, int device))                                                                      \
    X(hipMalloc, (void **memory, size_t size))                                                                                             \
    X(hipFree, (void *memory))                                                                                                             \
    X(hipMemcpyAsync, (void *to, const void *from, size_t size, int kind, void *stream))                                                   \
    X(hipStreamCreateWithFlags, (void **stream, unsigned flags))                                                                           \
    X(hipStreamDestroy, (void *stream))                                                                                                    \
    X(hipStreamSynchronize, (void *stream))                                                                                                \
    X(hipDeviceSynchronize, (void))                                                                                                        \
    X(hipModuleLoadData, (void **module, const void *image))                                                                               \
    X(hipModuleUnload, (void *module))                                                                                                     \
    X(hipModuleGetFunction, (void **function, void *module, const char *name))                                                             \
    X(hipModuleLaunchKernel, (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,       \
                              unsigned block_z, unsigned shared_bytes, void *stream, void **parameters, void **extra))                     \
    X(hipEventCreate, (void **event))                                                                                                      \
    X(hipEventDestroy, (void *event))                                                                                                      \
    X(hipEventRecord, (void *event, void *stream))                                                                                         \
    X(hipEventSynchronize, (void *event))                                                                                                  \
    X(hipEventElapsedTime, (float *milliseconds, void *start, void *stop))

typedef struct kw_hip_calls {
#define KW_HIP_CALL(name, parameters) int(*name) parameters;
    KW_HIP_CALLS(KW_HIP_CALL)
#undef KW_HIP_CALL
    const char *(*hipGetErrorString)(int error);
} kw_hip_calls;

/* hip_driver.c: loads libamdhip64 and starts it. KW_ENVIRONMENT when there is none. */
kw_status kw_hip_load(kw_hip_calls *calls, kw_error *err);
/* KW_OK for 0; else the status that an error of a call means, with what and the driver's words for it. */
kw_status kw_hip_judge(const kw_hip_calls *calls, int error, const char *what, kw_error *err);
/* Facts of a device. KW_MISSING when its architecture has no file. */
kw_status kw_hip_target(kw_target *target, const kw_hip_calls *calls, int index, kw_error *err);
/* "AMD Instinct MI300X, HIP 6.3.42134" */
void kw_hip_about(char *text, size_t capacity, const kw_hip_calls *calls, int index);

#endif
