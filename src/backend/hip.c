/* hip.c: an AMD GPU as a device. Kernels are modules of one code object each; a launch goes to the caller's stream, or to the device's own,
 * which is waited for. A kernel that reads or writes where it must not, or does not end, leaves the device unusable for this process (and the
 * driver may end the process itself); such errors are KW_ENVIRONMENT, and a worker that meets one ends.
 *
 * The device that calls go to is a setting of the calling thread, so it is set before each of them. */
#include "backend/hip.h"

#include "backend/gpu_common.h"
#include "jit/hip.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct kw_device {
    kw_hip_calls calls;
    kw_target target;
    void *stream;
    int index;
    char about[160];
};

struct kw_kernel {
    void *module;
    void *stage[KW_STAGE_MAX];
    int32_t stages;
};

struct kw_bound {
    const kw_device *device;
    const kw_kernel *kernel;
    kw_gpu_launch launch;
};

static kw_status enter(const kw_device *device, kw_error *err) {
    return kw_hip_judge(&device->calls, device->calls.hipSetDevice(device->index), "choosing a device", err);
}

static int probe(char why[256]) {
    kw_hip_calls calls;
    kw_error reason = {0};
    int count = 0, error = 0;
    kw_status status = kw_hip_load(&calls, &reason);
    if (!status && (error = calls.hipGetDeviceCount(&count)) && error != KW_HIP_NO_DEVICE) {
        status = kw_hip_judge(&calls, error, "counting devices", &reason);
    }
    bool none = status || error || count < 1;
    if (why && none) {
        snprintf(why, 256, "%.255s", status ? reason.text : "the driver knows no device");
    }
    return none ? 0 : count;
}

static void close_device(kw_device **device) {
    if (*device && (*device)->stream) {
        (*device)->calls.hipStreamDestroy((*device)->stream);
    }
    free(*device);
    *device = NULL;
}

static kw_status open_device(kw_device **device, int index, int threads, kw_error *err) {
    (void)threads; /* of a CPU */
    *device = NULL;
    kw_device *opened = calloc(1, sizeof *opened);
    if (!opened) {
        return kw_fail_memory(err, "a device");
    }
    opened->index = index;
    kw_status status = kw_hip_load(&opened->calls, err);
    status = status ? status : enter(opened, err);
    status = status ? status : kw_hip_target(&opened->target, &opened->calls, index, err);
    if (!status) {
        status = kw_hip_judge(&opened->calls, opened->calls.hipStreamCreateWithFlags(&opened->stream, KW_HIP_STREAM_NON_BLOCKING),
                              "making a stream", err);
        kw_hip_about(opened->about, sizeof opened->about, &opened->calls, index);
    }
    *device = opened;
    if (status) {
        close_device(device);
    }
    return status;
}

static const kw_target *device_target(const kw_device *device) {
    return &device->target;
}

static const char *device_about(const kw_device *device) {
    return device->about;
}

static kw_status alloc_memory(kw_device *device, size_t size, void **memory, kw_error *err) {
    *memory = NULL;
    kw_status status = enter(device, err);
    return status ? status : kw_hip_judge(&device->calls, device->calls.hipMalloc(memory, size ? size : 1), "device memory", err);
}

static void release_memory(kw_device *device, void *memory) {
    if (memory && !enter(device, NULL)) {
        device->calls.hipFree(memory); /* an error here was some kernel's, and is told by the next call */
    }
}

/* In the order of the device's own stream; the driver knows which side of a pointer is whose. */
static kw_status copy_memory(kw_device *device, void *to, const void *from, size_t size, kw_error *err) {
    const kw_hip_calls *calls = &device->calls;
    kw_status status = enter(device, err);
    if (!status && size) {
        status = kw_hip_judge(calls, calls->hipMemcpyAsync(to, from, size, KW_HIP_MEMCPY_DEFAULT, device->stream), "a copy", err);
        status = status ? status : kw_hip_judge(calls, calls->hipStreamSynchronize(device->stream), "waiting for a copy", err);
    }
    return status;
}

static void unload_kernel(kw_device *device, kw_kernel **kernel) {
    if (*kernel && (*kernel)->module && !enter(device, NULL)) {
        device->calls.hipModuleUnload((*kernel)->module);
    }
    free(*kernel);
    *kernel = NULL;
}

static kw_status load_module(kw_device *device, kw_kernel *kernel, const kw_blob *blob, kw_error *err) {
    const kw_hip_calls *calls = &device->calls;
    kw_status status = enter(device, err);
    status = status ? status : kw_hip_judge(calls, calls->hipModuleLoadData(&kernel->module, blob->data), "loading a kernel", err);
    while (!status && kernel->stages < KW_STAGE_MAX) {
        char name[24];
        snprintf(name, sizeof name, "kw_stage%d", kernel->stages);
        if (calls->hipModuleGetFunction(&kernel->stage[kernel->stages], kernel->module, name)) {
            break;
        }
        kernel->stages++;
    }
    return !status && !kernel->stages ? kw_fail(err, KW_FAILED, "cannot load a kernel: it exports no kw_stage0") : status;
}

/* The blob is whole, and a block of it finds room. */
static kw_status check_blob(const kw_device *device, const kw_blob *blob, kw_error *err) {
    kw_blob_facts facts;
    kw_error bad = {0};
    if (kw_hip_check(blob, &bad) || kw_hip_facts(&facts, blob, &bad)) {
        return kw_fail(err, KW_FAILED, "cannot load a kernel: %s", bad.text);
    }
    if (facts.lds > device->target.lds) {
        return kw_fail(err, KW_NO_KERNEL, "a block of the kernel wants %d bytes of shared memory; this device gives %lld", facts.lds,
                       (long long)device->target.lds);
    }
    return KW_OK;
}

static kw_status load_kernel(kw_device *device, const kw_config *config, const kw_blob *blob, kw_kernel **kernel, kw_error *err) {
    *kernel = NULL;
    kw_status status = kw_config_runs(config, &device->target, err);
    status = status ? status : check_blob(device, blob, err);
    if (status) {
        return status;
    }
    kw_kernel *loaded = calloc(1, sizeof *loaded);
    if (!loaded) {
        return kw_fail_memory(err, "a kernel");
    }
    status = load_module(device, loaded, blob, err);
    *kernel = loaded;
    if (status) {
        unload_kernel(device, kernel);
    }
    return status;
}

static void unbind_kernel(kw_bound **bound) {
    free(*bound);
    *bound = NULL;
}

/* A grid is counted in threads, by 32 bits. */
static kw_status bind_kernel(kw_device *device, const kw_kernel *kernel, const kw_problem *problem, const kw_launch *launch,
                             kw_bound **bound, kw_error *err) {
    const kw_gpu_limits limits = {.exported = kernel->stages, .blocks = INT32_MAX, .threads = UINT32_MAX};
    *bound = calloc(1, sizeof **bound);
    if (!*bound) {
        return kw_fail_memory(err, "a bound kernel");
    }
    (*bound)->device = device;
    (*bound)->kernel = kernel;
    kw_status status = kw_gpu_launch_bind(&(*bound)->launch, problem, launch, limits, err);
    if (status) {
        unbind_kernel(bound);
    }
    return status;
}

/* The driver copies the parameter before it returns. */
static kw_status queue_stages(const kw_bound *bound, const kw_launch_memory *memory, int parts, void *stream, kw_error *err) {
    const kw_device *device = bound->device;
    kw_cpu_args args = kw_gpu_launch_args(&bound->launch, memory);
    void *parameters[] = {&args};
    kw_status status = KW_OK;
    for (int i = 0; i < bound->launch.stages && !status; i++) {
        const kw_stage *stage = &bound->launch.shape[i];
        if (kw_gpu_launch_has(&bound->launch, i, parts)) {
            int error = device->calls.hipModuleLaunchKernel(bound->kernel->stage[i], (unsigned)stage->units, 1, 1, (unsigned)stage->threads,
                                                            1, 1, 0, stream, parameters, NULL);
            status = kw_hip_judge(&device->calls, error, "launching a kernel", err);
        }
    }
    return status;
}

static kw_status run_kernel(const kw_bound *bound, const kw_launch_memory *memory, int parts, void *stream, kw_error *err) {
    const kw_device *device = bound->device;
    kw_status status = enter(device, err);
    return status ? status : queue_stages(bound, memory, parts, stream ? stream : device->stream, err);
}

static kw_status sync_device(kw_device *device, kw_error *err) {
    kw_status status = enter(device, err);
    return status ? status : kw_hip_judge(&device->calls, device->calls.hipDeviceSynchronize(), "a kernel", err);
}

static kw_status time_between(const kw_bound *bound, const kw_launch_memory calls[], size_t count, int parts, void *const event[2],
                              float *ms, kw_error *err) {
    const kw_device *device = bound->device;
    const kw_hip_calls *hip = &device->calls;
    kw_status status = kw_hip_judge(hip, hip->hipEventRecord(event[0], device->stream), "an event", err);
    for (size_t i = 0; i < count && !status; i++) {
        status = queue_stages(bound, &calls[i], parts, device->stream, err);
    }
    status = status ? status : kw_hip_judge(hip, hip->hipEventRecord(event[1], device->stream), "an event", err);
    status = status ? status : kw_hip_judge(hip, hip->hipEventSynchronize(event[1]), "a kernel", err);
    return status ? status : kw_hip_judge(hip, hip->hipEventElapsedTime(ms, event[0], event[1]), "the time of a kernel", err);
}

static kw_status time_kernel(const kw_bound *bound, const kw_launch_memory calls[], size_t count, int parts, double *ns, kw_error *err) {
    const kw_hip_calls *hip = &bound->device->calls;
    void *event[2] = {NULL, NULL};
    float ms = 0;
    kw_status status = enter(bound->device, err);
    for (int i = 0; i < 2 && !status; i++) {
        status = kw_hip_judge(hip, hip->hipEventCreate(&event[i]), "an event", err);
    }
    status = status ? status : time_between(bound, calls, count, parts, event, &ms, err);
    for (int i = 0; i < 2; i++) {
        if (event[i]) {
            hip->hipEventDestroy(event[i]);
        }
    }
    *ns = (double)ms * 1e6;
    return status;
}

const kw_backend kw_hip_backend = {
    .name = "hip",
    .probe = probe,
    .open = open_device,
    .close = close_device,
    .target = device_target,
    .alloc = alloc_memory,
    .release = release_memory,
    .copy = copy_memory,
    .load = load_kernel,
    .unload = unload_kernel,
    .bind = bind_kernel,
    .unbind = unbind_kernel,
    .run = run_kernel,
    .sync = sync_device,
    .time = time_kernel,
    .about = device_about,
};
