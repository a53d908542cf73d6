/* fake_hip.c: a stand-in for ROCm's libamdhip64: what it has besides fake_driver.c: the device of a thread, which stays set, and
 * properties. Two devices, "gfx942:sramecc+:xnack-" and one of an architecture that nobody knows. */
#include "backend/gpu/hip.h"
#include "support/device/fake_driver.h"

#include <string.h>

#define KW_HIP_CALL(name, parameters) FAKE_EXPORT int name parameters;
KW_HIP_CALLS(KW_HIP_CALL)
#undef KW_HIP_CALL
FAKE_EXPORT const char *hipGetErrorString(int error);

bool fake_find_fact(int *value, int attribute, int device) {
    static const fake_fact known[] = {
        {KW_HIP_CLOCK_RATE, 2100000},
        {KW_HIP_L2_SIZE, 4194304},
        {KW_HIP_MEMORY_BUS_WIDTH, 8192},
        {KW_HIP_MEMORY_CLOCK_RATE, 2600000},
        {KW_HIP_MULTIPROCESSOR_COUNT, 228},
        {KW_HIP_SHARED_MEMORY_PER_BLOCK, 65536},
        {KW_HIP_WARP_SIZE, 64},
    };
    (void)device;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].attribute == attribute) {
            *value = known[i].value;
            return true;
        }
    }
    return false;
}

const char *hipGetErrorString(int error) {
    return error == FAKE_ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : "another error";
}

int hipRuntimeGetVersion(int *version) {
    *version = 60342134;
    return fake_called("hipRuntimeGetVersion");
}

int hipSetDevice(int device) {
    int error = fake_called("hipSetDevice");
    error = error ? error : device < 0 || device > 1 ? FAKE_INVALID_DEVICE : 0;
    fake_state.entered = !error;
    return error;
}

int hipGetDevicePropertiesR0600(void *properties, int device) {
    int error = fake_called("hipGetDevicePropertiesR0600");
    if (!error) {
        strcpy((char *)properties + KW_HIP_NAME_AT, device ? "A Card of Tomorrow" : "AMD Instinct MI300X (OAM)");
        strcpy((char *)properties + KW_HIP_ARCH_AT, device ? "gfx9999" : "gfx942:sramecc+:xnack-");
    }
    return error;
}

int hipMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream) {
    return kind == KW_HIP_MEMCPY_DEFAULT ? fake_queue_copy(to, from, size, stream) : FAKE_INVALID_VALUE;
}
