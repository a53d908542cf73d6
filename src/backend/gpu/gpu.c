/* gpu.c: a GPU as a device, through any driver's table (gpu.h). Kernels are modules of one blob each; a launch goes to the caller's stream,
 * or to the device's own, which waits for no other. Running a kernel allocates nothing and waits for nothing.
 *
 * A kernel that reads or writes where it must not leaves the device unusable for this process (and a driver may end the process itself);
 * such errors are KW_ENVIRONMENT, and a worker that meets one ends. Which device calls go to is a setting of the calling thread, so it is
 * made for each of them. */
#include "backend/gpu/gpu.h"

#include "config/config.h"
#include "prelude/joined.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kw_device {
    const kw_gpu_driver *driver;
    kw_gpu_calls *calls; /* the driver's own table */
    kw_target target;
    void *context, *stream;
    int number; /* as the driver counts */
    char about[160];
};

struct kw_kernel {
    void *module;
    void *stage[KW_STAGE_MAX];
    kw_gpu_image image;
};

/* args is without its pointers and maps. */
struct kw_bound {
    const kw_device *device;
    const kw_kernel *kernel;
    kw_kernel_args args;
    kw_stage shape[KW_STAGE_MAX];
    kw_map map[KW_MAPS];
    bool early[KW_STAGE_MAX];
    int32_t cluster[KW_STAGE_MAX];
    kw_turning turning;
    int32_t stages;
    bool joined;
};

static kw_status check_driver_error(const kw_device *device, int error, const char *what, kw_error *err) {
    return kw_gpu_check(device->driver, device->calls, error, what, err);
}

static kw_status enter_device(const kw_device *device, kw_error *err) {
    return check_driver_error(device, device->driver->enter(device->calls, device->number, device->context), "taking a device", err);
}

static void leave_device(const kw_device *device) {
    if (device->driver->leave) {
        device->driver->leave(device->calls);
    }
}

/* --- devices ------------------------------------------------------------------------------------------------------ */

int kw_gpu_probe(const kw_gpu_driver *driver, char why[256]) {
    kw_gpu_calls *calls = calloc(1, driver->calls_size);
    kw_error reason = {0};
    int count = 0, error = 0;
    kw_status status = calls ? kw_gpu_load(calls, driver, &reason) : kw_fail_memory(&reason, "a driver's calls");
    if (!status && (error = calls->count(&count)) && error != KW_GPU_NO_DEVICE) {
        status = kw_gpu_check(driver, calls, error, "counting devices", &reason);
    }
    bool none = status || error || count < 1;
    if (why && none) {
        snprintf(why, 256, "%.255s", status ? reason.text : "the driver knows no device");
    }
    free(calls);
    return none ? 0 : count;
}

void kw_gpu_close(kw_device **device) {
    kw_device *d = *device;
    if (!d) {
        return;
    }
    if (d->stream && !enter_device(d, NULL)) {
        d->calls->stream_drop(d->stream);
        leave_device(d);
    }
    if (d->context && d->driver->shut) {
        d->driver->shut(d->calls, d->number);
    }
    free(d->calls);
    free(d);
    *device = NULL;
}

static kw_status open_stream(kw_device *d, kw_error *err) {
    kw_status status = enter_device(d, err);
    if (!status) {
        status = check_driver_error(d, d->calls->stream_make(&d->stream, KW_GPU_STREAM_NON_BLOCKING), "making a stream", err);
        leave_device(d);
    }
    return status;
}

kw_status kw_gpu_open(kw_device **device, const kw_gpu_driver *driver, int index, kw_error *err) {
    kw_device *opened = calloc(1, sizeof *opened);
    *device = opened;
    if (!opened || !(opened->calls = calloc(1, driver->calls_size))) {
        free(opened);
        *device = NULL;
        return kw_fail_memory(err, "a device");
    }
    opened->driver = driver;
    kw_status status = kw_gpu_load(opened->calls, driver, err);
    if (!status) {
        status = check_driver_error(opened, driver->open(opened->calls, index, &opened->number, &opened->context), "opening a device", err);
    }
    status = status ? status : driver->target(&opened->target, opened->calls, opened->number, err);
    status = status ? status : open_stream(opened, err);
    if (status) {
        kw_gpu_close(device);
        return status;
    }
    driver->about(opened->about, sizeof opened->about, opened->calls, opened->number);
    return KW_OK;
}

const kw_target *kw_gpu_target(const kw_device *device) {
    return &device->target;
}

const char *kw_gpu_describe(const kw_device *device) {
    return device->about;
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

kw_status kw_gpu_alloc(kw_device *device, size_t size, void **memory, kw_error *err) {
    *memory = NULL;
    kw_status status = enter_device(device, err);
    if (!status) {
        status = check_driver_error(device, device->calls->alloc(memory, size ? size : 1), "device memory", err);
        leave_device(device);
    }
    return status;
}

void kw_gpu_release(kw_device *device, void *memory) {
    if (memory && !enter_device(device, NULL)) {
        device->calls->release(memory); /* an error here was some kernel's, and is told by the next call */
        leave_device(device);
    }
}

kw_status kw_gpu_copy(kw_device *device, void *to, const void *from, size_t size, kw_error *err) {
    kw_status status = size ? enter_device(device, err) : KW_OK;
    if (!status && size) {
        status = check_driver_error(device, device->driver->copy(device->calls, to, from, size, device->stream), "a copy", err);
        status = status ? status : check_driver_error(device, device->calls->stream_wait(device->stream), "waiting for a copy", err);
        leave_device(device);
    }
    return status;
}

/* --- kernels ------------------------------------------------------------------------------------------------------ */

void kw_gpu_unload(kw_device *device, kw_kernel **kernel) {
    if (*kernel && (*kernel)->module && !enter_device(device, NULL)) {
        device->calls->module_drop((*kernel)->module);
        leave_device(device);
    }
    free(*kernel);
    *kernel = NULL;
}

/* With the device entered. Where the blob does not say how many stages it has, the first name that is not found ends them. */
static kw_status load_stages(const kw_device *device, kw_kernel *kernel, kw_error *err) {
    kw_gpu_image *image = &kernel->image;
    bool counted = image->stages > 0;
    kw_status status = KW_OK;
    for (int i = 0; i < (counted ? image->stages : KW_STAGE_MAX) && !status; i++) {
        char name[24];
        snprintf(name, sizeof name, "kw_stage%d", i);
        int error = device->calls->module_find(&kernel->stage[i], kernel->module, name);
        if (error && !counted) {
            break;
        }
        status = check_driver_error(device, error, "finding a kernel", err);
        if (!status && image->requested_lds[i]) {
            error = device->driver->allow_lds(device->calls, kernel->stage[i], image->requested_lds[i]);
            status = check_driver_error(device, error, "asking for shared memory", err);
        }
        image->stages = i + 1 > image->stages ? i + 1 : image->stages;
    }
    return !status && !image->stages ? kw_fail(err, KW_FAILED, "cannot load a kernel: it exports no kw_stage0") : status;
}

/* The blob is whole, and a block of it finds room. */
static kw_status inspect_image(const kw_device *device, kw_gpu_image *image, const kw_blob *blob, kw_error *err) {
    kw_error bad = {0};
    if (device->driver->inspect(image, blob, &bad)) {
        return kw_fail(err, KW_FAILED, "cannot load a kernel: %s", bad.text);
    }
    if (image->lds > device->target.lds) {
        return kw_fail(err, KW_NO_KERNEL, "a block of the kernel wants %d bytes of shared memory; this device gives %lld", image->lds,
                       (long long)device->target.lds);
    }
    return KW_OK;
}

kw_status kw_gpu_load_kernel(kw_device *device, const kw_config *config, const kw_blob *blob, kw_kernel **kernel, kw_error *err) {
    kw_gpu_image image = {0};
    *kernel = NULL;
    kw_status status = kw_config_runs(config, &device->target, err);
    status = status ? status : inspect_image(device, &image, blob, err);
    kw_kernel *loaded = status ? NULL : calloc(1, sizeof *loaded);
    if (!loaded) {
        return status ? status : kw_fail_memory(err, "a kernel");
    }
    loaded->image = image;
    *kernel = loaded;
    status = enter_device(device, err);
    if (!status) {
        status = check_driver_error(device, device->calls->module_load(&loaded->module, blob->data), "loading a kernel", err);
        status = status ? status : load_stages(device, loaded, err);
        leave_device(device);
    }
    if (status) {
        kw_gpu_unload(device, kernel);
    }
    return status;
}

void kw_gpu_unbind(kw_bound **bound) {
    free(*bound);
    *bound = NULL;
}

static kw_status check_launch(const kw_device *device, const kw_kernel *kernel, const kw_launch *launch, kw_error *err) {
    const int64_t blocks_max = INT32_MAX, threads_max = device->driver->threads_max;
    int entries = 0;
    for (int i = 0; i < launch->stages; i++) {
        int entry = kw_stage_entry(&launch->turning, i);
        entries = entry + 1 > entries ? entry + 1 : entries;
    }
    if (launch->stages < 1 || entries > kernel->image.stages) {
        return kw_fail(err, KW_FAILED, "the launch has %d stages and the kernel exports %d; its family and its text disagree", entries,
                       kernel->image.stages);
    }
    for (int i = 0; i < launch->stages; i++) {
        const kw_stage *stage = &launch->stage[i];
        if (stage->threads < 1) {
            return kw_fail(err, KW_FAILED, "stage %d has no threads; its family is none for a GPU", i);
        }
        if (stage->units > blocks_max || stage->units > threads_max / stage->threads) {
            return kw_fail(err, KW_NO_KERNEL, "stage %d needs %lld blocks of %d threads; one launch has at most %lld blocks, %lld threads",
                           i, (long long)stage->units, stage->threads, (long long)blocks_max, (long long)threads_max);
        }
        if (launch->cluster[i] && !device->driver->launch_special) {
            return kw_fail(err, KW_NO_KERNEL, "stage %d wants clusters of %d blocks, which this driver has none of", i, launch->cluster[i]);
        }
    }
    for (int i = 0; i < KW_MAPS; i++) {
        if (launch->map[i].rank && !device->driver->has_maps) {
            return kw_fail(err, KW_NO_KERNEL, "the kernel needs tensor maps, which this driver has none of");
        }
        if (launch->map[i].rank && device->driver->has_maps(device->calls, err)) {
            return KW_NO_KERNEL;
        }
    }
    return KW_OK;
}

kw_status kw_gpu_bind(kw_device *device, const kw_kernel *kernel, const kw_problem *problem, const kw_launch *launch, kw_bound **bound,
                      kw_error *err) {
    *bound = NULL;
    kw_status status = check_launch(device, kernel, launch, err);
    kw_bound *made = status ? NULL : calloc(1, sizeof *made);
    if (!made) {
        return status ? status : kw_fail_memory(err, "a bound kernel");
    }
    made->device = device;
    made->kernel = kernel;
    made->stages = launch->stages;
    kw_args_fill(&made->args, problem, launch);
    memcpy(made->shape, launch->stage, sizeof made->shape);
    memcpy(made->map, launch->map, sizeof made->map);
    memcpy(made->early, launch->early, sizeof made->early);
    memcpy(made->cluster, launch->cluster, sizeof made->cluster);
    made->turning = launch->turning;
    made->joined = launch->joined;
    *bound = made;
    return KW_OK;
}

/* --- running ------------------------------------------------------------------------------------------------------ */

static kw_status fill_gpu_args(kw_gpu_args *args, const kw_bound *bound, const kw_launch_memory *memory, kw_error *err) {
    const kw_device *device = bound->device;
    args->args = bound->args;
    kw_args_point(&args->args, memory);
    kw_status status = KW_OK;
    for (int i = 0; i < KW_MAPS && !status; i++) {
        const kw_map *map = &bound->map[i];
        if (map->rank) {
            void *at = map->copied ? (char *)memory->shared + map->copied_at : memory->tensor[map->tensor];
            int error = device->driver->encode(&args->map[i], device->calls, map, at);
            status = check_driver_error(device, error, "a tensor map (tensors must lie at multiples of 16 bytes)", err);
        }
    }
    return status;
}

static int queue_blocks(const kw_bound *bound, int i, int64_t units, void *stream, void *parameters[]) {
    const kw_device *device = bound->device;
    int entry = kw_stage_entry(&bound->turning, i);
    void *function = bound->kernel->stage[entry];
    unsigned blocks = (unsigned)units, threads = (unsigned)bound->shape[i].threads,
             lds = (unsigned)bound->kernel->image.requested_lds[entry];
    if ((bound->early[i] || bound->cluster[i]) && device->driver->launch_special) {
        const kw_gpu_grid grid = {blocks, threads, lds, (unsigned)bound->cluster[i], bound->early[i]};
        return device->driver->launch_special(device->calls, &grid, function, stream, parameters);
    }
    return device->calls->launch(function, blocks, 1, 1, threads, 1, 1, lds, stream, parameters, NULL);
}

/* One launch of all calls. With the device entered. */
static kw_status queue_joined(const kw_backend_call calls[], size_t count, void *stream, kw_error *err) {
    kw_joined table;
    kw_joined_part parts[KW_JOINED_MAX];
    void *parameters[] = {&table};
    for (size_t i = 0; i < count; i++) {
        parts[i] = (kw_joined_part){&calls[i].bound->args, &calls[i].memory, calls[i].bound->shape[0].units};
    }
    int64_t units = kw_joined_fill(&table, parts, count);
    int error = queue_blocks(calls[0].bound, 0, units, stream, parameters);
    return check_driver_error(calls[0].bound->device, error, "launching a kernel of several products", err);
}

/* Queued one behind the other, so that each stage sees what the one before wrote. The driver copies the parameter before it returns. With
 * the device entered. */
static kw_status queue_stages(const kw_bound *bound, const kw_launch_memory *memory, int parts, void *stream, kw_error *err) {
    const kw_device *device = bound->device;
    kw_gpu_args args = {0}, turn = {0}, bias;
    kw_launch_memory seen;
    if (bound->joined) {
        return queue_joined(&(const kw_backend_call){bound, *memory, parts}, 1, stream, err);
    }
    kw_stage_memory(&seen, &bound->turning, memory);
    kw_status status = fill_gpu_args(&args, bound, &seen, err);
    bias = args;
    kw_args_point(&bias.args, memory); /* no copies */
    for (int i = 0; i < bound->stages && !status; i++) {
        const kw_stage *stage = &bound->shape[i];
        bool sums_bias = bound->turning.bias_at && i >= bound->turning.bias_at;
        bool turns = bound->turning.stage[i].images > 0;
        if (stage->units > 0 && (parts & (stage->packs ? KW_RUN_PACK : KW_RUN_REST))) {
            void *parameters[] = {turns ? &turn : sums_bias ? &bias : &args};
            if (turns) {
                kw_turn_args(&turn.args, &bound->turning.stage[i], &bound->turning, memory);
            }
            status = check_driver_error(device, queue_blocks(bound, i, stage->units, stream, parameters), "launching a kernel", err);
        }
    }
    return status;
}

kw_status kw_gpu_run(const kw_bound *bound, const kw_launch_memory *memory, int parts, void *stream, kw_error *err) {
    const kw_device *device = bound->device;
    kw_status status = enter_device(device, err);
    if (!status) {
        status = queue_stages(bound, memory, parts, stream ? stream : device->stream, err);
        leave_device(device);
    }
    return status;
}

kw_status kw_gpu_run_joined(const kw_backend_call calls[], size_t count, void *stream, kw_error *err) {
    const kw_device *device = calls[0].bound->device;
    kw_status status = enter_device(device, err);
    if (!status) {
        status = queue_joined(calls, count, stream ? stream : device->stream, err);
        leave_device(device);
    }
    return status;
}

/* For the device's own stream alone: what others queued in theirs is not ours to wait for. */
kw_status kw_gpu_sync(kw_device *device, kw_error *err) {
    kw_status status = enter_device(device, err);
    if (!status) {
        status = check_driver_error(device, device->calls->stream_wait(device->stream), "a kernel", err);
        leave_device(device);
    }
    return status;
}

static kw_status time_between(const kw_bound *bound, const kw_launch_memory calls[], size_t count, int parts, void *const event[2],
                              float *ms, kw_error *err) {
    const kw_device *device = bound->device;
    const kw_gpu_calls *gpu = device->calls;
    kw_status status = check_driver_error(device, gpu->event_record(event[0], device->stream), "an event", err);
    for (size_t i = 0; i < count && !status; i++) {
        status = queue_stages(bound, &calls[i], parts, device->stream, err);
    }
    status = status ? status : check_driver_error(device, gpu->event_record(event[1], device->stream), "an event", err);
    status = status ? status : check_driver_error(device, gpu->event_wait(event[1]), "a kernel", err);
    return status ? status : check_driver_error(device, gpu->event_between(ms, event[0], event[1]), "the time of a kernel", err);
}

kw_status kw_gpu_time(const kw_bound *bound, const kw_launch_memory calls[], size_t count, int parts, double *ns, kw_error *err) {
    const kw_device *device = bound->device;
    void *event[2] = {NULL, NULL};
    float ms = 0;
    *ns = 0;
    kw_status status = enter_device(device, err);
    if (status) {
        return status;
    }
    for (int i = 0; i < 2 && !status; i++) {
        status = check_driver_error(device, device->calls->event_make(&event[i], 0), "an event", err);
    }
    status = status ? status : time_between(bound, calls, count, parts, event, &ms, err);
    for (int i = 0; i < 2; i++) {
        if (event[i]) {
            device->calls->event_drop(event[i]);
        }
    }
    leave_device(device);
    *ns = (double)ms * 1e6;
    return status;
}
