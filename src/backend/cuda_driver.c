/* cuda_driver.c: NVIDIA's library: found, its errors told in our statuses, its devices' facts. */
#include "backend/cuda.h"
#include "backend/gpu_common.h"

#include <stdio.h>

kw_status kw_cuda_load(kw_cuda_calls *calls, kw_error *err) {
    static const char *const libraries[] = {"libcuda.so.1", "libcuda.so", NULL};
    static const kw_gpu_symbol symbols[] = {
#define KW_CUDA_CALL(name, parameters) {#name, offsetof(kw_cuda_calls, name), false},
        KW_CUDA_CALLS(KW_CUDA_CALL)
#undef KW_CUDA_CALL
#define KW_CUDA_CALL(name, parameters) {#name, offsetof(kw_cuda_calls, name), true},
            KW_CUDA_SPARE_CALLS(KW_CUDA_CALL)
#undef KW_CUDA_CALL
                {NULL, 0, false}};
    char why[256];
    if (!kw_gpu_driver_load(calls, libraries, symbols, why)) {
        return kw_fail(err, KW_ENVIRONMENT, "%s; NVIDIA GPUs need a driver for CUDA 12 or newer", why);
    }
    return kw_cuda_judge(calls, calls->cuInit(0), "starting the NVIDIA driver", err);
}

static int map_type(kw_dtype dtype) {
    return dtype == KW_BF16   ? KW_CUDA_MAP_BFLOAT16
           : dtype == KW_FP16 ? KW_CUDA_MAP_FLOAT16
           : dtype == KW_FP32 ? KW_CUDA_MAP_FLOAT32
                              : KW_CUDA_MAP_UINT8;
}

kw_status kw_cuda_encode(kw_cuda_map *to, const kw_cuda_calls *calls, const kw_map *map, void *tensor, kw_error *err) {
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
    int error = calls->cuTensorMapEncodeTiled(to, map_type(map->dtype), (unsigned)map->rank, tensor, extent, stride, box, step, 0,
                                              map->swizzle ? KW_CUDA_MAP_SWIZZLE_128 : 0, KW_CUDA_MAP_PROMOTION_L2_256, 0);
    return kw_cuda_judge(calls, error, "a tensor map (tensors must lie at multiples of 16 bytes)", err);
}

kw_status kw_cuda_judge(const kw_cuda_calls *calls, int error, const char *what, kw_error *err) {
    const char *words = NULL;
    if (error && calls->cuGetErrorString(error, &words)) {
        words = NULL;
    }
    words = words ? words : "no words";
    switch (error) {
    case 0:
        return KW_OK;
    case KW_CUDA_OUT_OF_MEMORY:
        return kw_fail(err, KW_NO_MEMORY, "%s: no room on the device", what);
    case KW_CUDA_DEINITIALIZED:
    case KW_CUDA_ECC:
    case KW_CUDA_NVLINK:
    case KW_CUDA_CONTAINED:
    case KW_CUDA_ILLEGAL_ADDRESS:
    case KW_CUDA_LAUNCH_TIMEOUT:
    case KW_CUDA_CONTEXT_DESTROYED:
    case KW_CUDA_ASSERT:
    case KW_CUDA_STACK_ERROR:
    case KW_CUDA_ILLEGAL_INSTRUCTION:
    case KW_CUDA_MISALIGNED:
    case KW_CUDA_ADDRESS_SPACE:
    case KW_CUDA_INVALID_PC:
    case KW_CUDA_LAUNCH_FAILED:
    case KW_CUDA_UNKNOWN:
        return kw_fail(err, KW_ENVIRONMENT, "%s: %s (%d); this process cannot use the device any more", what, words, error);
    default:
        return kw_fail(err, KW_FAILED, "%s: %s (%d)", what, words, error);
    }
}

static int64_t attribute(const kw_cuda_calls *calls, int number, int device) {
    int value = 0;
    return calls->cuDeviceGetAttribute(&value, number, device) || value < 0 ? 0 : value;
}

/* What the silicon fixes is the architecture file's; what differs from product to product is the driver's to say. */
static void fill_facts(kw_target *target, const kw_cuda_calls *calls, int device) {
    int64_t lanes = attribute(calls, KW_CUDA_WARP_SIZE, device);
    const struct {
        int64_t *fact, value;
    } told[] = {
        {&target->units, attribute(calls, KW_CUDA_UNITS, device)},
        {&target->lanes, lanes},
        {&target->l2, attribute(calls, KW_CUDA_L2_SIZE, device)},
        {&target->lds, attribute(calls, KW_CUDA_BLOCK_LDS, device)},
        {&target->unit_lds, attribute(calls, KW_CUDA_UNIT_LDS, device)},
        {&target->unit_registers, attribute(calls, KW_CUDA_UNIT_REGISTERS, device)},
        {&target->unit_waves, lanes ? attribute(calls, KW_CUDA_UNIT_THREADS, device) / lanes : 0},
        {&target->clock, attribute(calls, KW_CUDA_CLOCK_RATE, device) / 1000},
        {&target->bandwidth,
         attribute(calls, KW_CUDA_MEMORY_CLOCK_RATE, device) * 2 * (attribute(calls, KW_CUDA_MEMORY_BUS_WIDTH, device) / 8) / 1000000},
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        if (told[i].value > 0) { /* a driver that does not know says 0 */
            *told[i].fact = told[i].value;
        }
    }
}

kw_status kw_cuda_target(kw_target *target, const kw_cuda_calls *calls, int device, kw_error *err) {
    char arch[32], name[128] = "";
    kw_code code;
    snprintf(arch, sizeof arch, "sm_%d", (int)(10 * attribute(calls, KW_CUDA_MAJOR, device) + attribute(calls, KW_CUDA_MINOR, device)));
    kw_status status = kw_code_for(&code, "cuda", arch, err);
    status = status ? status : kw_cuda_judge(calls, calls->cuDeviceGetName(name, sizeof name, device), "asking for a device's name", err);
    if (!status) {
        *target = code.arch->typical;
        snprintf(target->backend, sizeof target->backend, "cuda");
        kw_gpu_model(target->model, name);
        fill_facts(target, calls, device);
    }
    return status;
}

void kw_cuda_about(char *text, size_t capacity, const kw_cuda_calls *calls, int device) {
    char name[128] = "an NVIDIA GPU";
    int version = 0;
    kw_cuda_uuid uuid;
    kw_line line = {.data = text, .capacity = capacity};
    calls->cuDeviceGetName(name, sizeof name, device);
    calls->cuDriverGetVersion(&version);
    kw_line_addf(&line, "%.60s, driver for CUDA %d.%d", name, version / 1000, version % 1000 / 10);
    if (!calls->cuDeviceGetUuid_v2(&uuid, device)) {
        kw_line_addf(&line, ", GPU");
        for (size_t i = 0; i < sizeof uuid.bytes; i++) {
            kw_line_addf(&line, "%s%02x", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid.bytes[i]);
        }
    }
}
