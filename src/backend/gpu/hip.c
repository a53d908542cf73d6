/* hip.c: AMD's driver as gpu.c knows it. The device that calls go to is a setting of the calling thread, which stays as it is set. A code
 * object does not say which stages it has, so they are found by name; its blocks' shared memory is fixed when it is compiled. */
#include "backend/gpu/hip.h"

#include "jit/toolchain/hip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const kw_hip_calls *own_hip_context(const kw_gpu_calls *calls) {
    return (const kw_hip_calls *)calls;
}

static const char *hip_error_text(const kw_gpu_calls *calls, int error) {
    return own_hip_context(calls)->hipGetErrorString(error);
}

static int open_number(const kw_gpu_calls *calls, int index, int *number, void **context) {
    *number = index;
    *context = NULL;
    return own_hip_context(calls)->hipSetDevice(index);
}

static int set_device(const kw_gpu_calls *calls, int number, void *context) {
    (void)context;
    return own_hip_context(calls)->hipSetDevice(number);
}

static int hip_copy(const kw_gpu_calls *calls, void *to, const void *from, size_t size, void *stream) {
    return own_hip_context(calls)->hipMemcpyAsync(to, from, size, KW_HIP_MEMCPY_DEFAULT, stream);
}

/* --- facts -------------------------------------------------------------------------------------------------------- */

/* What the silicon fixes (registers, waves) is the architecture file's; what differs from product to product is the driver's to say. */
static void fill_hip_target(kw_target *target, const kw_gpu_calls *calls, int number) {
    const kw_gpu_reported told[] = {
        {&target->units, kw_gpu_attribute(calls, KW_HIP_MULTIPROCESSOR_COUNT, number)},
        {&target->lanes, kw_gpu_attribute(calls, KW_HIP_WARP_SIZE, number)},
        {&target->l2, kw_gpu_attribute(calls, KW_HIP_L2_SIZE, number)},
        {&target->lds, kw_gpu_attribute(calls, KW_HIP_SHARED_MEMORY_PER_BLOCK, number)},
        {&target->clock, kw_gpu_attribute(calls, KW_HIP_CLOCK_RATE, number) / 1000},
        {&target->bandwidth, kw_gpu_reported_bandwidth(kw_gpu_attribute(calls, KW_HIP_MEMORY_CLOCK_RATE, number),
                                                       kw_gpu_attribute(calls, KW_HIP_MEMORY_BUS_WIDTH, number))},
    };
    kw_gpu_apply_reported(told, sizeof told / sizeof *told);
}

/* The two strings of a device's properties. */
static kw_status read_hip_names(char name[KW_HIP_STRING_BYTES], char arch[KW_HIP_STRING_BYTES], const kw_gpu_calls *calls, int number,
                                kw_error *err) {
    char *properties = calloc(1, KW_HIP_PROPERTIES_BYTES);
    if (!properties) {
        return kw_fail_memory(err, "a device's properties");
    }
    int error = own_hip_context(calls)->hipGetDevicePropertiesR0600(properties, number);
    snprintf(name, KW_HIP_STRING_BYTES, "%.255s", properties + KW_HIP_NAME_AT);
    snprintf(arch, KW_HIP_STRING_BYTES, "%.255s", properties + KW_HIP_ARCH_AT);
    free(properties);
    arch[strcspn(arch, ":")] = 0; /* "gfx942:sramecc+:xnack-" */
    return kw_gpu_check(&kw_hip_driver, calls, error, "asking for a device's properties", err);
}

static kw_status read_hip_target(kw_target *target, const kw_gpu_calls *calls, int number, kw_error *err) {
    char name[KW_HIP_STRING_BYTES], arch[KW_HIP_STRING_BYTES];
    kw_code code;
    kw_status status = read_hip_names(name, arch, calls, number, err);
    status = status ? status : kw_code_for(&code, KW_BACKEND_HIP, arch, err);
    if (!status) {
        *target = code.arch->typical;
        target->backend = KW_BACKEND_HIP;
        kw_gpu_model(target->model, name);
        fill_hip_target(target, calls, number);
    }
    return status;
}

/* "AMD Instinct MI300X, HIP 6.3.42134", of which the driver says 60342134. */
static void describe_hip_device(char *text, size_t capacity, const kw_gpu_calls *calls, int number) {
    char name[KW_HIP_STRING_BYTES], arch[KW_HIP_STRING_BYTES];
    int version = 0;
    bool named = !read_hip_names(name, arch, calls, number, NULL) && *name;
    own_hip_context(calls)->hipRuntimeGetVersion(&version);
    snprintf(text, capacity, "%.100s, HIP %d.%d.%d", named ? name : "an AMD GPU", version / 10000000, version / 100000 % 100,
             version % 100000);
}

/* --- kernels ------------------------------------------------------------------------------------------------------ */

static kw_status inspect_code_object(kw_gpu_image *image, const kw_blob *blob, kw_error *err) {
    kw_blob_facts facts;
    kw_status status = kw_hip_check(blob, err);
    status = status ? status : kw_hip_facts(&facts, blob, err);
    if (!status) {
        *image = (kw_gpu_image){.lds = facts.lds};
    }
    return status;
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

static const char *const libraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so", NULL};

static const int fatal[] = {KW_HIP_ECC, KW_HIP_ILLEGAL_ADDRESS, KW_HIP_LAUNCH_TIMEOUT, KW_HIP_ASSERT, KW_HIP_LAUNCH_FAILURE, KW_HIP_UNKNOWN,
                            0};

static const kw_gpu_symbol symbols[] = {
    {"hipInit", offsetof(kw_hip_calls, gpu.init), false},
    {"hipGetDeviceCount", offsetof(kw_hip_calls, gpu.count), false},
    {"hipDeviceGetAttribute", offsetof(kw_hip_calls, gpu.attribute), false},
    {"hipMalloc", offsetof(kw_hip_calls, gpu.alloc), false},
    {"hipFree", offsetof(kw_hip_calls, gpu.release), false},
    {"hipStreamCreateWithFlags", offsetof(kw_hip_calls, gpu.stream_make), false},
    {"hipStreamDestroy", offsetof(kw_hip_calls, gpu.stream_drop), false},
    {"hipStreamSynchronize", offsetof(kw_hip_calls, gpu.stream_wait), false},
    {"hipModuleLoadData", offsetof(kw_hip_calls, gpu.module_load), false},
    {"hipModuleUnload", offsetof(kw_hip_calls, gpu.module_drop), false},
    {"hipModuleGetFunction", offsetof(kw_hip_calls, gpu.module_find), false},
    {"hipModuleLaunchKernel", offsetof(kw_hip_calls, gpu.launch), false},
    {"hipEventCreateWithFlags", offsetof(kw_hip_calls, gpu.event_make), false},
    {"hipEventDestroy", offsetof(kw_hip_calls, gpu.event_drop), false},
    {"hipEventRecord", offsetof(kw_hip_calls, gpu.event_record), false},
    {"hipEventSynchronize", offsetof(kw_hip_calls, gpu.event_wait), false},
    {"hipEventElapsedTime", offsetof(kw_hip_calls, gpu.event_between), false},
#define KW_HIP_CALL(name, parameters) {#name, offsetof(kw_hip_calls, name), false},
    KW_HIP_CALLS(KW_HIP_CALL)
#undef KW_HIP_CALL
        {"hipGetErrorString", offsetof(kw_hip_calls, hipGetErrorString), false},
    {NULL, 0, false},
};

/* A grid is counted in threads, by 32 bits. */
const kw_gpu_driver kw_hip_driver = {
    .libraries = libraries,
    .symbols = symbols,
    .calls_size = sizeof(kw_hip_calls),
    .needs = "AMD GPUs need ROCm 6 or newer",
    .fatal = fatal,
    .threads_max = UINT32_MAX,
    .words = hip_error_text,
    .open = open_number,
    .enter = set_device,
    .target = read_hip_target,
    .about = describe_hip_device,
    .copy = hip_copy,
    .inspect = inspect_code_object,
};

static int probe_hip(char why[256]) {
    return kw_gpu_probe(&kw_hip_driver, why);
}

static kw_status open_hip_device(kw_device **device, int index, int threads, kw_error *err) {
    (void)threads; /* of a CPU */
    return kw_gpu_open(device, &kw_hip_driver, index, err);
}

const kw_backend kw_hip_backend = KW_GPU_BACKEND(KW_BACKEND_HIP, probe_hip, open_hip_device);
