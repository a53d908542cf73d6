/* gpu_driver.c: drivers: found by name, so that the library runs where there is none; their errors told in our statuses; their facts. */
#include "backend/gpu/gpu.h"

#include "base/os/process/fork.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static bool find_symbols(kw_gpu_calls *calls, const kw_gpu_driver *driver, char why[256]) {
    void *handle = NULL;
    for (const char *const *name = driver->libraries; *name && !handle; name++) {
        handle = dlopen(*name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    }
    if (!handle) {
        const char *reason = dlerror();
        snprintf(why, 256, "no driver: %.200s", reason ? reason : driver->libraries[0]);
        return false;
    }
    bool whole = true;
    for (const kw_gpu_symbol *symbol = driver->symbols; symbol->name && whole; symbol++) {
        void *found = dlsym(handle, symbol->name);
        memcpy((char *)calls + symbol->offset, &found, sizeof found); /* C has no cast from object to function pointers */
        whole = found || symbol->spare;
        if (!whole) {
            snprintf(why, 256, "the driver is too old or broken: it has no %.100s", symbol->name);
        }
    }
    dlclose(handle);
    return whole;
}

kw_status kw_gpu_load(kw_gpu_calls *calls, const kw_gpu_driver *driver, kw_error *err) {
    char why[256];
    kw_loader_lock();
    bool found = find_symbols(calls, driver, why);
    kw_loader_unlock();
    if (!found) {
        return kw_fail(err, KW_ENVIRONMENT, "%s; %s", why, driver->needs);
    }
    return kw_gpu_check(driver, calls, calls->init(0), "starting the driver", err);
}

kw_status kw_gpu_check(const kw_gpu_driver *driver, const kw_gpu_calls *calls, int error, const char *what, kw_error *err) {
    if (!error) {
        return KW_OK;
    }
    if (error == KW_GPU_OUT_OF_MEMORY) {
        return kw_fail(err, KW_NO_MEMORY, "%s: no room on the device", what);
    }
    const char *words = driver->words(calls, error);
    const int *fatal = driver->fatal;
    while (*fatal && *fatal != error) {
        fatal++;
    }
    return kw_fail(err, *fatal ? KW_ENVIRONMENT : KW_FAILED, "%s: %s (%d)%s", what, words ? words : "no words", error,
                   *fatal ? "; this process cannot use the device any more" : "");
}

int64_t kw_gpu_attribute(const kw_gpu_calls *calls, int attribute, int number) {
    int value = 0;
    return calls->attribute(&value, attribute, number) || value < 0 ? 0 : value;
}

void kw_gpu_apply_reported(const kw_gpu_reported told[], size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (told[i].value > 0) {
            *told[i].fact = told[i].value;
        }
    }
}

int64_t kw_gpu_reported_bandwidth(int64_t memory_khz, int64_t bus_bits) {
    return memory_khz * 2 * (bus_bits / 8) / 1000000;
}

void kw_gpu_model(char model[48], const char *name) {
    size_t used = 0;
    for (; *name && used < 47; name++) {
        bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') || (*name >= '0' && *name <= '9') || *name == '.' ||
                     *name == '_';
        if (plain || (used && model[used - 1] != '-')) {
            model[used++] = plain ? *name : '-';
        }
    }
    while (used && model[used - 1] == '-') {
        used--;
    }
    model[used] = 0;
    if (!used) {
        snprintf(model, 48, "unknown");
    }
}
