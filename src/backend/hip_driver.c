/* hip_driver.c: ROCm's library: found, its errors told in our statuses, its devices' facts. */
#include "backend/gpu_common.h"
#include "backend/hip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

kw_status kw_hip_load(kw_hip_calls *calls, kw_error *err) {
    static const char *const libraries[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so", NULL};
    static const kw_gpu_symbol symbols[] = {
#define KW_HIP_CALL(name, parameters) {#name, offsetof(kw_hip_calls, name), false},
        KW_HIP_CALLS(KW_HIP_CALL)
#undef KW_HIP_CALL
            {"hipGetErrorString", offsetof(kw_hip_calls, hipGetErrorString), false},
        {NULL, 0, false}};
    char why[256];
    if (!kw_gpu_driver_load(calls, libraries, symbols, why)) {
        return kw_fail(err, KW_ENVIRONMENT, "%s; AMD GPUs need ROCm 6 or newer", why);
    }
    return kw_hip_judge(calls, calls->hipInit(0), "starting the AMD driver", err);
}

kw_status kw_hip_judge(const kw_hip_calls *calls, int error, const char *what, kw_error *err) {
    const char *words = error ? calls->hipGetErrorString(error) : NULL;
    switch (error) {
    case 0:
        return KW_OK;
    case KW_HIP_OUT_OF_MEMORY:
        return kw_fail(err, KW_NO_MEMORY, "%s: no room on the device", what);
    case KW_HIP_ECC:
    case KW_HIP_ILLEGAL_ADDRESS:
    case KW_HIP_LAUNCH_TIMEOUT:
    case KW_HIP_ASSERT:
    case KW_HIP_LAUNCH_FAILURE:
    case KW_HIP_UNKNOWN:
        return kw_fail(err, KW_ENVIRONMENT, "%s: %s (%d); this process cannot use the device any more", what, words ? words : "no words",
                       error);
    default:
        return kw_fail(err, KW_FAILED, "%s: %s (%d)", what, words ? words : "no words", error);
    }
}

static int64_t attribute(const kw_hip_calls *calls, int number, int index) {
    int value = 0;
    return calls->hipDeviceGetAttribute(&value, number, index) || value < 0 ? 0 : value;
}

/* What the silicon fixes (registers, waves) is the architecture file's; what differs from product to product is the driver's to say. */
static void fill_facts(kw_target *target, const kw_hip_calls *calls, int index, const kw_gpu_arch *arch, const char *name) {
    *target = arch->typical;
    snprintf(target->backend, sizeof target->backend, "hip");
    kw_gpu_model(target->model, name);
    const struct {
        int64_t *fact, value;
    } told[] = {
        {&target->units, attribute(calls, KW_HIP_MULTIPROCESSOR_COUNT, index)},
        {&target->lanes, attribute(calls, KW_HIP_WARP_SIZE, index)},
        {&target->l2, attribute(calls, KW_HIP_L2_SIZE, index)},
        {&target->lds, attribute(calls, KW_HIP_SHARED_MEMORY_PER_BLOCK, index)},
        {&target->clock, attribute(calls, KW_HIP_CLOCK_RATE, index) / 1000},
        {&target->bandwidth,
         attribute(calls, KW_HIP_MEMORY_CLOCK_RATE, index) * 2 * (attribute(calls, KW_HIP_MEMORY_BUS_WIDTH, index) / 8) / 1000000},
    };
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        if (told[i].value > 0) { /* a driver that does not know says 0 */
            *told[i].fact = told[i].value;
        }
    }
}

/* The two strings of a device's properties. */
static kw_status read_names(char name[KW_HIP_STRING_BYTES], char arch[KW_HIP_STRING_BYTES], const kw_hip_calls *calls, int index,
                            kw_error *err) {
    char *properties = calloc(1, KW_HIP_PROPERTIES_BYTES);
    if (!properties) {
        return kw_fail_memory(err, "a device's properties");
    }
    int error = calls->hipGetDevicePropertiesR0600(properties, index);
    snprintf(name, KW_HIP_STRING_BYTES, "%.255s", properties + KW_HIP_NAME_AT);
    snprintf(arch, KW_HIP_STRING_BYTES, "%.255s", properties + KW_HIP_ARCH_AT);
    free(properties);
    arch[strcspn(arch, ":")] = 0; /* "gfx942:sramecc+:xnack-" */
    return kw_hip_judge(calls, error, "asking for a device's properties", err);
}

kw_status kw_hip_target(kw_target *target, const kw_hip_calls *calls, int index, kw_error *err) {
    char name[KW_HIP_STRING_BYTES], arch[KW_HIP_STRING_BYTES];
    kw_code code;
    kw_status status = read_names(name, arch, calls, index, err);
    status = status ? status : kw_code_for(&code, "hip", arch, err);
    if (!status) {
        fill_facts(target, calls, index, code.arch, name);
    }
    return status;
}

/* A version 60342134 is 6.3.42134. */
void kw_hip_about(char *text, size_t capacity, const kw_hip_calls *calls, int index) {
    char name[KW_HIP_STRING_BYTES], arch[KW_HIP_STRING_BYTES];
    int version = 0;
    bool named = !read_names(name, arch, calls, index, NULL) && *name;
    calls->hipRuntimeGetVersion(&version);
    snprintf(text, capacity, "%.100s, HIP %d.%d.%d", named ? name : "an AMD GPU", version / 10000000, version / 100000 % 100,
             version % 100000);
}
