/* cuda.c: NVIDIA's driver as gpu.c knows it. All work is done in the device's primary context, the one that CUDA's run-time library uses
 * too, so that its memory and streams are known here; it is pushed on the calling thread for the time of each call, and what the thread had
 * before is back afterwards. */
#include "backend/gpu/cuda.h"

#include "jit/toolchain/nvrtc.h"

#include <stdio.h>

static const kw_cuda_calls *own_cuda_context(const kw_gpu_calls *calls) {
    return (const kw_cuda_calls *)calls;
}

static const char *cuda_error_text(const kw_gpu_calls *calls, int error) {
    const char *text = NULL;
    return own_cuda_context(calls)->cuGetErrorString(error, &text) ? NULL : text;
}

static int open_context(const kw_gpu_calls *calls, int index, int *number, void **context) {
    int error = own_cuda_context(calls)->cuDeviceGet(number, index);
    return error ? error : own_cuda_context(calls)->cuDevicePrimaryCtxRetain(context, *number);
}

static void shut_context(const kw_gpu_calls *calls, int number) {
    own_cuda_context(calls)->cuDevicePrimaryCtxRelease_v2(number);
}

static int enter_context(const kw_gpu_calls *calls, int number, void *context) {
    (void)number;
    return own_cuda_context(calls)->cuCtxPushCurrent_v2(context);
}

static void leave_context(const kw_gpu_calls *calls) {
    void *context;
    own_cuda_context(calls)->cuCtxPopCurrent_v2(&context);
}

static int cuda_copy(const kw_gpu_calls *calls, void *to, const void *from, size_t size, void *stream) {
    return own_cuda_context(calls)->cuMemcpyAsync(to, from, size, stream);
}

/* --- facts -------------------------------------------------------------------------------------------------------- */

/* What the silicon fixes is the architecture file's; what differs from product to product is the driver's to say. */
static void fill_cuda_target(kw_target *target, const kw_gpu_calls *calls, int device) {
    int64_t lanes = kw_gpu_attribute(calls, KW_CUDA_WARP_SIZE, device);
    const kw_gpu_reported told[] = {
        {&target->units, kw_gpu_attribute(calls, KW_CUDA_UNITS, device)},
        {&target->lanes, lanes},
        {&target->l2, kw_gpu_attribute(calls, KW_CUDA_L2_SIZE, device)},
        {&target->lds, kw_gpu_attribute(calls, KW_CUDA_BLOCK_LDS, device)},
        {&target->unit_lds, kw_gpu_attribute(calls, KW_CUDA_UNIT_LDS, device)},
        {&target->unit_registers, kw_gpu_attribute(calls, KW_CUDA_UNIT_REGISTERS, device)},
        {&target->unit_waves, lanes ? kw_gpu_attribute(calls, KW_CUDA_UNIT_THREADS, device) / lanes : 0},
        {&target->clock, kw_gpu_attribute(calls, KW_CUDA_CLOCK_RATE, device) / 1000},
        {&target->bandwidth, kw_gpu_reported_bandwidth(kw_gpu_attribute(calls, KW_CUDA_MEMORY_CLOCK_RATE, device),
                                                       kw_gpu_attribute(calls, KW_CUDA_MEMORY_BUS_WIDTH, device))},
    };
    kw_gpu_apply_reported(told, sizeof told / sizeof *told);
}

static kw_status read_cuda_target(kw_target *target, const kw_gpu_calls *calls, int device, kw_error *err) {
    char arch[32], name[128] = "";
    kw_code code;
    snprintf(arch, sizeof arch, "sm_%d",
             (int)(10 * kw_gpu_attribute(calls, KW_CUDA_MAJOR, device) + kw_gpu_attribute(calls, KW_CUDA_MINOR, device)));
    kw_status status = kw_code_for(&code, KW_BACKEND_CUDA, arch, err);
    if (!status) {
        int error = own_cuda_context(calls)->cuDeviceGetName(name, sizeof name, device);
        status = kw_gpu_check(&kw_cuda_driver, calls, error, "asking for a device's name", err);
    }
    if (!status) {
        *target = code.arch->typical;
        target->backend = KW_BACKEND_CUDA;
        kw_gpu_model(target->model, name);
        fill_cuda_target(target, calls, device);
    }
    return status;
}

/* "NVIDIA H200, driver for CUDA 13.0, GPU-6f3c1a52-..." */
static void describe_cuda_device(char *text, size_t capacity, const kw_gpu_calls *calls, int device) {
    char name[128] = "an NVIDIA GPU";
    int version = 0;
    kw_cuda_uuid uuid;
    kw_line line = {.data = text, .capacity = capacity};
    own_cuda_context(calls)->cuDeviceGetName(name, sizeof name, device);
    own_cuda_context(calls)->cuDriverGetVersion(&version);
    kw_line_addf(&line, "%.60s, driver for CUDA %d.%d", name, version / 1000, version % 1000 / 10);
    if (!own_cuda_context(calls)->cuDeviceGetUuid_v2(&uuid, device)) {
        kw_line_addf(&line, ", GPU");
        for (size_t i = 0; i < sizeof uuid.bytes; i++) {
            kw_line_addf(&line, "%s%02x", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid.bytes[i]);
        }
    }
}

/* --- kernels ------------------------------------------------------------------------------------------------------ */

static kw_status inspect_cubin(kw_gpu_image *image, const kw_blob *blob, kw_error *err) {
    kw_cubin cubin;
    *image = (kw_gpu_image){0};
    kw_status status = kw_cubin_read(&cubin, blob, err);
    if (status) {
        return status;
    }
    for (int i = 0; i < KW_STAGE_MAX && cubin.stage[i].present; i++) {
        int64_t lds = (int64_t)cubin.stage[i].requested_lds + cubin.stage[i].fixed_lds;
        image->stages = i + 1;
        image->requested_lds[i] = cubin.stage[i].requested_lds;
        image->lds = lds <= image->lds ? image->lds : lds < INT32_MAX ? (int32_t)lds : INT32_MAX;
    }
    return image->stages ? KW_OK : kw_fail(err, KW_MALFORMED, "it exports no kw_stage0");
}

static int allow_lds(const kw_gpu_calls *calls, void *function, int32_t bytes) {
    return own_cuda_context(calls)->cuFuncSetAttribute(function, KW_CUDA_FUNCTION_DYNAMIC_LDS, bytes);
}

static kw_status has_maps(const kw_gpu_calls *calls, kw_error *err) {
    return own_cuda_context(calls)->cuTensorMapEncodeTiled && own_cuda_context(calls)->cuTensorMapEncodeIm2col
               ? KW_OK
               : kw_fail(err, KW_NO_KERNEL, "the driver has no cuTensorMapEncodeTiled, which kernels with bulk copies need; CUDA 12's has");
}

_Static_assert(sizeof(kw_cuda_launch) == 56 && sizeof(kw_cuda_attribute) == 72, "as cuLaunchKernelEx of a 64-bit machine has them");

/* A driver without cuLaunchKernelEx begins no launch early, and gets none with clusters: it has no tensor maps either (has_maps). */
static int launch_special(const kw_gpu_calls *calls, const kw_gpu_grid *grid, void *function, void *stream, void *parameters[]) {
    kw_cuda_attribute attributes[2];
    kw_cuda_launch launch = {{grid->blocks, 1, 1}, {grid->threads, 1, 1}, grid->shared_bytes, stream, attributes, 0};
    if (grid->early) {
        attributes[launch.attribute_count++] = (kw_cuda_attribute){.id = KW_CUDA_LAUNCH_PROGRAMMATIC_SERIALIZATION, .value.on = 1};
    }
    if (grid->cluster) {
        attributes[launch.attribute_count++] =
            (kw_cuda_attribute){.id = KW_CUDA_LAUNCH_CLUSTER_DIMENSION, .value.cluster = {grid->cluster, 1, 1}};
    }
    if (!own_cuda_context(calls)->cuLaunchKernelEx) {
        return calls->launch(function, grid->blocks, 1, 1, grid->threads, 1, 1, grid->shared_bytes, stream, parameters, NULL);
    }
    return own_cuda_context(calls)->cuLaunchKernelEx(&launch, function, parameters, NULL);
}

static int map_type(const kw_map *map) {
    return map->tf32               ? KW_CUDA_MAP_TFLOAT32
           : map->dtype == KW_BF16 ? KW_CUDA_MAP_BFLOAT16
           : map->dtype == KW_FP16 ? KW_CUDA_MAP_FLOAT16
           : map->dtype == KW_FP32 ? KW_CUDA_MAP_FLOAT32
                                   : KW_CUDA_MAP_UINT8;
}

/* Drivers up to CUDA 13.1 set a bit in maps of images below 128 KiB with which the copies fail. */
static void mend_small_image(kw_gpu_map *to, const kw_gpu_calls *calls, const kw_map *map) {
    enum { VERSION = 13010, BYTES = 131072, WORD = 2, BIT = 21 };
    int version = 0, last = map->rank - 1;
    own_cuda_context(calls)->cuDriverGetVersion(&version);
    if (version <= VERSION && map->extent[last] * map->stride[last - 1] < BYTES) {
        ((uint32_t *)to)[WORD] &= ~((uint32_t)1 << BIT);
    }
}

static int encode_image_map(kw_gpu_map *to, const kw_gpu_calls *calls, const kw_map *map, void *tensor) {
    uint64_t extent[KW_MAP_RANK], stride[KW_MAP_RANK - 1];
    uint32_t step[KW_MAP_RANK] = {1, 1, 1, 1, 1};
    int low[3], high[3], axes = map->rank - 2;
    for (int i = 0; i < map->rank; i++) {
        extent[i] = (uint64_t)map->extent[i];
        if (i) {
            stride[i - 1] = (uint64_t)map->stride[i - 1];
        }
    }
    for (int i = 0; i < axes; i++) { /* the upper bound counts from the image's end */
        low[i] = map->low[i];
        high[i] = (int)(map->low[i] + (map->count[i] - 1) * map->step[i] + 1 - map->extent[i + 1]);
        step[i + 1] = (uint32_t)map->step[i];
    }
    int error = own_cuda_context(calls)->cuTensorMapEncodeIm2col(
        to, map_type(map), (unsigned)map->rank, tensor, extent, stride, low, high, (uint32_t)map->box[0], (uint32_t)map->box[1], step, 0,
        map->swizzle ? KW_CUDA_MAP_SWIZZLE_128 : 0, KW_CUDA_MAP_PROMOTION_L2_128, 0);
    mend_small_image(to, calls, map);
    return error;
}

static int encode_tensor_map(kw_gpu_map *to, const kw_gpu_calls *calls, const kw_map *map, void *tensor) {
    if (map->pixels) {
        return encode_image_map(to, calls, map, tensor);
    }
    uint64_t extent[KW_MAP_RANK], stride[KW_MAP_RANK - 1];
    uint32_t box[KW_MAP_RANK], step[KW_MAP_RANK];
    for (int i = 0; i < map->rank; i++) {
        extent[i] = (uint64_t)map->extent[i];
        box[i] = (uint32_t)map->box[i];
        step[i] = 1;
        if (i) {
            stride[i - 1] = (uint64_t)map->stride[i - 1];
        }
    }
    return own_cuda_context(calls)->cuTensorMapEncodeTiled(to, map_type(map), (unsigned)map->rank, tensor, extent, stride, box, step, 0,
                                                           map->swizzle ? KW_CUDA_MAP_SWIZZLE_128 : 0, KW_CUDA_MAP_PROMOTION_L2_128, 0);
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

static const char *const libraries[] = {"libcuda.so.1", "libcuda.so", NULL};

static const int fatal[] = {KW_CUDA_DEINITIALIZED,
                            KW_CUDA_ECC,
                            KW_CUDA_NVLINK,
                            KW_CUDA_CONTAINED,
                            KW_CUDA_ILLEGAL_ADDRESS,
                            KW_CUDA_LAUNCH_TIMEOUT,
                            KW_CUDA_CONTEXT_DESTROYED,
                            KW_CUDA_ASSERT,
                            KW_CUDA_STACK_ERROR,
                            KW_CUDA_ILLEGAL_INSTRUCTION,
                            KW_CUDA_MISALIGNED,
                            KW_CUDA_ADDRESS_SPACE,
                            KW_CUDA_INVALID_PC,
                            KW_CUDA_LAUNCH_FAILED,
                            KW_CUDA_UNKNOWN,
                            0};

static const kw_gpu_symbol symbols[] = {
    {"cuInit", offsetof(kw_cuda_calls, gpu.init), false},
    {"cuDeviceGetCount", offsetof(kw_cuda_calls, gpu.count), false},
    {"cuDeviceGetAttribute", offsetof(kw_cuda_calls, gpu.attribute), false},
    {"cuMemAlloc_v2", offsetof(kw_cuda_calls, gpu.alloc), false},
    {"cuMemFree_v2", offsetof(kw_cuda_calls, gpu.release), false},
    {"cuStreamCreate", offsetof(kw_cuda_calls, gpu.stream_make), false},
    {"cuStreamDestroy_v2", offsetof(kw_cuda_calls, gpu.stream_drop), false},
    {"cuStreamSynchronize", offsetof(kw_cuda_calls, gpu.stream_wait), false},
    {"cuModuleLoadData", offsetof(kw_cuda_calls, gpu.module_load), false},
    {"cuModuleUnload", offsetof(kw_cuda_calls, gpu.module_drop), false},
    {"cuModuleGetFunction", offsetof(kw_cuda_calls, gpu.module_find), false},
    {"cuLaunchKernel", offsetof(kw_cuda_calls, gpu.launch), false},
    {"cuEventCreate", offsetof(kw_cuda_calls, gpu.event_make), false},
    {"cuEventDestroy_v2", offsetof(kw_cuda_calls, gpu.event_drop), false},
    {"cuEventRecord", offsetof(kw_cuda_calls, gpu.event_record), false},
    {"cuEventSynchronize", offsetof(kw_cuda_calls, gpu.event_wait), false},
    {"cuEventElapsedTime", offsetof(kw_cuda_calls, gpu.event_between), false},
#define KW_CUDA_CALL(name, parameters) {#name, offsetof(kw_cuda_calls, name), false},
    KW_CUDA_CALLS(KW_CUDA_CALL)
#undef KW_CUDA_CALL
#define KW_CUDA_CALL(name, parameters) {#name, offsetof(kw_cuda_calls, name), true},
        KW_CUDA_SPARE_CALLS(KW_CUDA_CALL)
#undef KW_CUDA_CALL
            {NULL, 0, false},
};

const kw_gpu_driver kw_cuda_driver = {
    .libraries = libraries,
    .symbols = symbols,
    .calls_size = sizeof(kw_cuda_calls),
    .needs = "NVIDIA GPUs need a driver for CUDA 12 or newer",
    .fatal = fatal,
    .threads_max = INT64_MAX,
    .words = cuda_error_text,
    .open = open_context,
    .shut = shut_context,
    .enter = enter_context,
    .leave = leave_context,
    .target = read_cuda_target,
    .about = describe_cuda_device,
    .copy = cuda_copy,
    .inspect = inspect_cubin,
    .allow_lds = allow_lds,
    .has_maps = has_maps,
    .encode = encode_tensor_map,
    .launch_special = launch_special,
};

static int probe_cuda(char why[256]) {
    return kw_gpu_probe(&kw_cuda_driver, why);
}

static kw_status open_cuda_device(kw_device **device, int index, int threads, kw_error *err) {
    (void)threads; /* of a CPU */
    return kw_gpu_open(device, &kw_cuda_driver, index, err);
}

const kw_backend kw_cuda_backend = KW_GPU_BACKEND(KW_BACKEND_CUDA, probe_cuda, open_cuda_device);
