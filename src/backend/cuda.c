/* cuda.c: an NVIDIA GPU as a device. Kernels are modules of one CUBIN each; a launch goes to the caller's stream, or to the device's own. All
 * work is done in the device's primary context, the one that CUDA's run-time library uses too, so that its memory and streams are known here;
 * it is pushed on the calling thread for the time of each call, and what the thread had before is back afterwards.
 *
 * A kernel that reads or writes where it must not leaves the context unusable for good; such errors are KW_ENVIRONMENT, and a worker that meets
 * one ends. */
#include "backend/cuda.h"

#include "backend/gpu_common.h"
#include "config/config.h"
#include "jit/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>

struct kw_device {
    kw_cuda_calls calls;
    kw_target target;
    void *context, *stream;
    int number; /* as the driver counts */
    char about[160];
};

struct kw_kernel {
    void *module;
    void *stage[KW_STAGE_MAX];
    unsigned lds[KW_STAGE_MAX]; /* bytes of shared memory that a launch asks for */
    int32_t stages;
};

struct kw_bound {
    const kw_device *device;
    const kw_kernel *kernel;
    kw_gpu_launch launch;
};

static kw_status enter(const kw_device *device, kw_error *err) {
    return kw_cuda_judge(&device->calls, device->calls.cuCtxPushCurrent_v2(device->context), "taking a device", err);
}

static void leave(const kw_device *device) {
    void *context;
    device->calls.cuCtxPopCurrent_v2(&context);
}

static int probe(char why[256]) {
    kw_cuda_calls calls;
    kw_error reason = {0};
    int count = 0, error = 0;
    kw_status status = kw_cuda_load(&calls, &reason);
    if (!status && (error = calls.cuDeviceGetCount(&count)) && error != KW_CUDA_NO_DEVICE) {
        status = kw_cuda_judge(&calls, error, "counting devices", &reason);
    }
    bool none = status || error || count < 1;
    if (why && none) {
        snprintf(why, 256, "%.255s", status ? reason.text : "the driver knows no device");
    }
    return none ? 0 : count;
}

/* --- devices ------------------------------------------------------------------------------------------------------ */

static void close_device(kw_device **device) {
    kw_device *d = *device;
    if (d && d->stream && !enter(d, NULL)) {
        d->calls.cuStreamDestroy_v2(d->stream);
        leave(d);
    }
    if (d && d->context) {
        d->calls.cuDevicePrimaryCtxRelease_v2(d->number);
    }
    free(d);
    *device = NULL;
}

static kw_status open_context(kw_device *d, kw_error *err) {
    kw_status status = kw_cuda_judge(&d->calls, d->calls.cuDevicePrimaryCtxRetain(&d->context, d->number), "opening a device", err);
    status = status ? status : enter(d, err);
    if (!status) {
        status = kw_cuda_judge(&d->calls, d->calls.cuStreamCreate(&d->stream, KW_CUDA_STREAM_NON_BLOCKING), "making a stream", err);
        leave(d);
    }
    return status;
}

static kw_status open_device(kw_device **device, int index, int threads, kw_error *err) {
    (void)threads; /* of a CPU */
    *device = NULL;
    kw_device *opened = calloc(1, sizeof *opened);
    if (!opened) {
        return kw_fail_memory(err, "a device");
    }
    kw_status status = kw_cuda_load(&opened->calls, err);
    if (!status) {
        status = kw_cuda_judge(&opened->calls, opened->calls.cuDeviceGet(&opened->number, index), "finding a device", err);
    }
    status = status ? status : kw_cuda_target(&opened->target, &opened->calls, opened->number, err);
    status = status ? status : open_context(opened, err);
    if (!status) {
        kw_cuda_about(opened->about, sizeof opened->about, &opened->calls, opened->number);
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

/* --- memory ------------------------------------------------------------------------------------------------------- */

static kw_cuda_memory number_of(const void *memory) {
    return (kw_cuda_memory)(uintptr_t)memory;
}

static kw_status alloc_memory(kw_device *device, size_t size, void **memory, kw_error *err) {
    kw_cuda_memory made = 0;
    kw_status status = enter(device, err);
    if (!status) {
        status = kw_cuda_judge(&device->calls, device->calls.cuMemAlloc_v2(&made, size ? size : 1), "device memory", err);
        leave(device);
    }
    *memory = (void *)(uintptr_t)made;
    return status;
}

static void release_memory(kw_device *device, void *memory) {
    if (memory && !enter(device, NULL)) {
        device->calls.cuMemFree_v2(number_of(memory)); /* an error here was some kernel's, and is told by the next call */
        leave(device);
    }
}

/* In the order of the device's own stream; the driver knows which side of a pointer is whose. */
static kw_status copy_memory(kw_device *device, void *to, const void *from, size_t size, kw_error *err) {
    const kw_cuda_calls *calls = &device->calls;
    kw_status status = size ? enter(device, err) : KW_OK;
    if (!status && size) {
        status = kw_cuda_judge(calls, calls->cuMemcpyAsync(number_of(to), number_of(from), size, device->stream), "a copy", err);
        status = status ? status : kw_cuda_judge(calls, calls->cuStreamSynchronize(device->stream), "waiting for a copy", err);
        leave(device);
    }
    return status;
}

/* --- kernels ------------------------------------------------------------------------------------------------------ */

static void unload_kernel(kw_device *device, kw_kernel **kernel) {
    if (*kernel && (*kernel)->module && !enter(device, NULL)) {
        device->calls.cuModuleUnload((*kernel)->module);
        leave(device);
    }
    free(*kernel);
    *kernel = NULL;
}

/* With the device entered. */
static kw_status load_stages(const kw_device *device, kw_kernel *kernel, const kw_cubin *cubin, kw_error *err) {
    const kw_cuda_calls *calls = &device->calls;
    kw_status status = KW_OK;
    for (int i = 0; i < KW_STAGE_MAX && cubin->stage[i].present && !status; i++) {
        char name[16];
        int32_t lds = cubin->stage[i].requested_lds;
        snprintf(name, sizeof name, "kw_stage%d", i);
        status = kw_cuda_judge(calls, calls->cuModuleGetFunction(&kernel->stage[i], kernel->module, name), "finding a kernel", err);
        if (!status && lds) {
            status = kw_cuda_judge(calls, calls->cuFuncSetAttribute(kernel->stage[i], KW_CUDA_FUNCTION_DYNAMIC_LDS, lds),
                                   "asking for shared memory", err);
        }
        kernel->lds[i] = (unsigned)lds;
        kernel->stages = i + 1;
    }
    return status;
}

static kw_status check_needs(const kw_device *device, const kw_cubin *cubin, kw_error *err) {
    if (!cubin->stage[0].present) {
        return kw_fail(err, KW_FAILED, "cannot load a kernel: it exports no kw_stage0");
    }
    for (int i = 0; i < KW_STAGE_MAX; i++) {
        int64_t lds = (int64_t)cubin->stage[i].requested_lds + cubin->stage[i].fixed_lds;
        if (lds > device->target.lds) {
            return kw_fail(err, KW_NO_KERNEL, "a block of the kernel wants %lld bytes of shared memory; this device gives %lld",
                           (long long)lds, (long long)device->target.lds);
        }
    }
    return KW_OK;
}

static kw_status load_kernel(kw_device *device, const kw_config *config, const kw_blob *blob, kw_kernel **kernel, kw_error *err) {
    const kw_cuda_calls *calls = &device->calls;
    kw_error bad = {0};
    kw_cubin cubin;
    *kernel = NULL;
    kw_status status = kw_config_runs(config, &device->target, err);
    if (!status && kw_cubin_read(&cubin, blob, &bad)) {
        status = kw_fail(err, KW_FAILED, "cannot load a kernel: %s", bad.text);
    }
    status = status ? status : check_needs(device, &cubin, err);
    kw_kernel *loaded = status ? NULL : calloc(1, sizeof *loaded);
    if (!loaded) {
        return status ? status : kw_fail_memory(err, "a kernel");
    }
    status = enter(device, err);
    if (!status) {
        status = kw_cuda_judge(calls, calls->cuModuleLoadData(&loaded->module, blob->data), "loading a kernel", err);
        status = status ? status : load_stages(device, loaded, &cubin, err);
        leave(device);
    }
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

static kw_status bind_kernel(kw_device *device, const kw_kernel *kernel, const kw_problem *problem, const kw_launch *launch,
                             kw_bound **bound, kw_error *err) {
    const kw_gpu_limits limits = {.exported = kernel->stages, .blocks = INT32_MAX, .threads = INT64_MAX};
    for (int i = 0; i < KW_MAP_MAX; i++) {
        if (launch->map[i].rank && !device->calls.cuTensorMapEncodeTiled) {
            return kw_fail(err, KW_NO_KERNEL,
                           "the driver has no cuTensorMapEncodeTiled, which kernels with bulk copies need; CUDA 12's has");
        }
    }
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

/* --- running ------------------------------------------------------------------------------------------------------ */

/* Queued one behind the other, so that each stage sees what the one before wrote. With the device entered. */
static kw_status queue_stages(const kw_bound *bound, const kw_launch_memory *memory, int parts, void *stream, kw_error *err) {
    const kw_device *device = bound->device;
    const kw_kernel *kernel = bound->kernel;
    kw_cuda_args args = {.args = kw_gpu_launch_args(&bound->launch, memory)};
    void *parameters[] = {&args};
    kw_status status = KW_OK;
    for (int i = 0; i < KW_MAP_MAX && !status; i++) {
        const kw_map *map = &bound->launch.map[i];
        if (map->rank) {
            status = kw_cuda_encode(&args.map[i], &device->calls, map, memory->tensor[map->tensor], err);
        }
    }
    for (int i = 0; i < bound->launch.stages && !status; i++) {
        const kw_stage *stage = &bound->launch.shape[i];
        if (kw_gpu_launch_has(&bound->launch, i, parts)) {
            int error = device->calls.cuLaunchKernel(kernel->stage[i], (unsigned)stage->units, 1, 1, (unsigned)stage->threads, 1, 1,
                                                     kernel->lds[i], stream, parameters, NULL);
            status = kw_cuda_judge(&device->calls, error, "launching a kernel", err);
        }
    }
    return status;
}

static kw_status run_kernel(const kw_bound *bound, const kw_launch_memory *memory, int parts, void *stream, kw_error *err) {
    const kw_device *device = bound->device;
    kw_status status = enter(device, err);
    if (!status) {
        status = queue_stages(bound, memory, parts, stream ? stream : device->stream, err);
        leave(device);
    }
    return status;
}

static kw_status sync_device(kw_device *device, kw_error *err) {
    kw_status status = enter(device, err);
    if (!status) {
        status = kw_cuda_judge(&device->calls, device->calls.cuCtxSynchronize(), "a kernel", err);
        leave(device);
    }
    return status;
}

static kw_status time_between(const kw_bound *bound, const kw_launch_memory calls[], size_t count, int parts, void *const event[2],
                              float *ms, kw_error *err) {
    const kw_device *device = bound->device;
    const kw_cuda_calls *cuda = &device->calls;
    kw_status status = kw_cuda_judge(cuda, cuda->cuEventRecord(event[0], device->stream), "an event", err);
    for (size_t i = 0; i < count && !status; i++) {
        status = queue_stages(bound, &calls[i], parts, device->stream, err);
    }
    status = status ? status : kw_cuda_judge(cuda, cuda->cuEventRecord(event[1], device->stream), "an event", err);
    status = status ? status : kw_cuda_judge(cuda, cuda->cuEventSynchronize(event[1]), "a kernel", err);
    return status ? status : kw_cuda_judge(cuda, cuda->cuEventElapsedTime(ms, event[0], event[1]), "the time of a kernel", err);
}

static kw_status time_kernel(const kw_bound *bound, const kw_launch_memory calls[], size_t count, int parts, double *ns, kw_error *err) {
    const kw_device *device = bound->device;
    const kw_cuda_calls *cuda = &device->calls;
    void *event[2] = {NULL, NULL};
    float ms = 0;
    *ns = 0;
    kw_status status = enter(device, err);
    if (status) {
        return status;
    }
    for (int i = 0; i < 2 && !status; i++) {
        status = kw_cuda_judge(cuda, cuda->cuEventCreate(&event[i], 0), "an event", err);
    }
    status = status ? status : time_between(bound, calls, count, parts, event, &ms, err);
    for (int i = 0; i < 2; i++) {
        if (event[i]) {
            cuda->cuEventDestroy_v2(event[i]);
        }
    }
    leave(device);
    *ns = (double)ms * 1e6;
    return status;
}

const kw_backend kw_cuda_backend = {
    .name = "cuda",
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
