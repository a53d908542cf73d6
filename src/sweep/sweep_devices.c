/* sweep_devices.c: workers and the cores they get. A worker dies with the thread that started it, so each device has one thread that starts
 * its worker, waits for what there is to measure, and ends it. */
#include "sweep/sweep_measure.h"

#include "base/os/parallel.h"
#include "base/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CORES_MAX = 1 << 14 };

static const double usual_limit_s = 30;

/* The program whose hidden verb serves. */
static kw_status find_worker(const char **program, kw_arena *arena, const kw_sweep_options *options, kw_error *err) {
    char path[PATH_MAX];
    const char *named = options->workers.program ? options->workers.program : secure_getenv("KW_WORKER");
    if (named && *named) {
        *program = kw_arena_copy(arena, named, strlen(named));
        return *program ? KW_OK : kw_fail_memory(err, "the name of the worker program");
    }
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    path[size > 0 ? size : 0] = 0;
    const char *name = strrchr(path, '/');
    if (!name || strncmp(name, "/kwright", 8)) {
        return kw_fail(err, KW_MISSING, "no worker program: this process is no kwright; name one in options.workers.program or KW_WORKER");
    }
    *program = "/proc/self/exe"; /* the very file that runs, also when its name was given to another since */
    return KW_OK;
}

/* "4,5,6": the share of device number index. */
static const char *cores_of_device(kw_arena *arena, const int *cores, size_t count, size_t index, size_t devices) {
    kw_text text = {0};
    for (size_t i = count * index / devices; i < count * (index + 1) / devices; i++) {
        kw_text_addf(&text, text.size ? ",%d" : "%d", cores[i]);
    }
    const char *copy = text.failed ? NULL : kw_arena_copy(arena, kw_text_string(&text), text.size);
    kw_text_drop(&text);
    return copy;
}

static kw_status share_cores(kw_sweep_devices *devices, int32_t threads, kw_error *err) {
    int *cores = malloc(CORES_MAX * sizeof *cores);
    kw_status status = KW_OK;
    size_t count = cores ? kw_cores_list(cores, CORES_MAX) : 0;
    if (!cores) {
        return kw_fail_memory(err, "the list of cores");
    }
    if (count < devices->count * (size_t)threads) {
        status = kw_fail(err, KW_ILLEGAL, "%zu workers of %d threads would disturb each other on %zu cores; name fewer devices or threads",
                         devices->count, threads, count);
    }
    for (size_t i = 0; !status && i < devices->count; i++) {
        devices->device_workers[i].settings.cpus = cores_of_device(&devices->arena, cores, count, i, devices->count);
        status = devices->device_workers[i].settings.cpus ? KW_OK : kw_fail_memory(err, "the shares of the cores");
    }
    free(cores);
    return status;
}

static kw_status list_devices(kw_sweep_devices *devices, const char *names, kw_error *err) {
    kw_scan scan = kw_scan_string(names);
    kw_word name;
    while (kw_scan_field(&scan, ',', &name)) {
        if (!name.size) {
            return kw_fail(err, KW_MALFORMED, "device '%.60s': a name between commas is missing", names);
        }
        if (devices->count == KW_SWEEP_DEVICES_MAX) {
            return kw_fail(err, KW_ILLEGAL, "more than %d devices are named", KW_SWEEP_DEVICES_MAX);
        }
        kw_worker_client_options *settings = &devices->device_workers[devices->count++].settings;
        settings->device = kw_arena_copy(&devices->arena, name.at, name.size);
        if (!settings->device) {
            return kw_fail_memory(err, "the names of devices");
        }
    }
    return KW_OK;
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

static void *serve_device(void *memory) {
    kw_device_worker *device_worker = memory;
    kw_sweep_devices *devices = device_worker->devices;
    device_worker->status = kw_worker_client_open(&device_worker->client, &device_worker->settings, &device_worker->err);
    if (!device_worker->status) {
        device_worker->target = *kw_worker_client_target(device_worker->client);
        snprintf(device_worker->name, sizeof device_worker->name, "%s", kw_worker_client_device(device_worker->client));
    }
    pthread_mutex_lock(&devices->lock);
    devices->opened++;
    pthread_cond_broadcast(&devices->changed);
    while (!devices->released) {
        pthread_cond_wait(&devices->changed, &devices->lock);
    }
    pthread_mutex_unlock(&devices->lock);
    if (!device_worker->status && devices->work) {
        devices->work(devices->user, device_worker->client);
    }
    int64_t lost = device_worker->client ? kw_worker_client_lost(device_worker->client) : 0;
    kw_worker_client_close(&device_worker->client);
    pthread_mutex_lock(&devices->lock);
    devices->lost += lost;
    pthread_mutex_unlock(&devices->lock);
    return NULL;
}

/* Rows of one sweep are of one target. */
static kw_status check_same_target(const kw_sweep_devices *devices, kw_error *err) {
    char first[KW_TARGET_TEXT_MAX], other[KW_TARGET_TEXT_MAX];
    kw_target_print(first, sizeof first, &devices->device_workers[0].target);
    for (size_t i = 1; i < devices->count; i++) {
        kw_target_print(other, sizeof other, &devices->device_workers[i].target);
        if (strcmp(first, other)) {
            return kw_fail(err, KW_ILLEGAL, "devices of one sweep are alike, but these are %.200s and %.200s; sweep them apart", first,
                           other);
        }
    }
    return KW_OK;
}

static kw_status start_threads(kw_sweep_devices *devices, kw_error *err) {
    kw_status status = KW_OK;
    size_t started = 0;
    pthread_mutex_init(&devices->lock, NULL);
    pthread_cond_init(&devices->changed, NULL);
    devices->open = true;
    for (size_t i = 0; !status && i < devices->count; i++) {
        kw_device_worker *device_worker = &devices->device_workers[i];
        device_worker->devices = devices;
        device_worker->started = !pthread_create(&device_worker->thread, NULL, serve_device, device_worker);
        started += device_worker->started;
        status = device_worker->started
                     ? KW_OK
                     : kw_fail(err, KW_ENVIRONMENT,
                               "no thread can be started for device number %zu: too many threads, or too little memory", i + 1);
    }
    pthread_mutex_lock(&devices->lock);
    while (devices->opened < started) {
        pthread_cond_wait(&devices->changed, &devices->lock);
    }
    pthread_mutex_unlock(&devices->lock);
    for (size_t i = 0; !status && i < devices->count; i++) {
        const kw_device_worker *device_worker = &devices->device_workers[i];
        status = device_worker->status ? kw_fail(err, device_worker->status, "%s", device_worker->err.text) : KW_OK;
    }
    return status;
}

kw_status kw_sweep_devices_open(kw_sweep_devices *devices, const kw_sweep_options *options, const char *cache_folder, kw_error *err) {
    const char *program = NULL;
    int32_t threads = options->workers.threads ? options->workers.threads : 1;
    int32_t batch = options->workers.batch ? options->workers.batch : KW_SWEEP_BATCH;
    double limit_s = options->limits.kernel_s > 0 ? options->limits.kernel_s : usual_limit_s;
    double batch_limit_s = options->limits.batch_s > 0 ? options->limits.batch_s : limit_s * batch;
    kw_status status = find_worker(&program, &devices->arena, options, err);
    status = status ? status : list_devices(devices, options->workers.devices ? options->workers.devices : KW_DEFAULT_DEVICE, err);
    if (!status && devices->count > 1) {
        status = share_cores(devices, threads, err);
    }
    for (size_t i = 0; i < devices->count; i++) {
        kw_worker_client_options *settings = &devices->device_workers[i].settings;
        settings->program = program;
        settings->cache = cache_folder;
        settings->threads = threads;
        settings->kernel_limit_ns = (int64_t)(limit_s * 1e9);
        settings->batch_limit_ns = (int64_t)(batch_limit_s * 1e9);
        settings->stop = options->stop;
        settings->log = options->log;
        settings->user = options->user;
    }
    status = status ? status : start_threads(devices, err);
    return status ? status : check_same_target(devices, err);
}

void kw_sweep_devices_start(kw_sweep_devices *devices, void (*work)(void *user, kw_worker_client *client), void *user) {
    pthread_mutex_lock(&devices->lock);
    if (!devices->released) {
        devices->work = work;
        devices->user = user;
        devices->released = true;
        pthread_cond_broadcast(&devices->changed);
    }
    pthread_mutex_unlock(&devices->lock);
}

int64_t kw_sweep_devices_close(kw_sweep_devices *devices) {
    int64_t lost = 0;
    if (devices->open) {
        kw_sweep_devices_start(devices, NULL, NULL);
        for (size_t i = 0; i < devices->count; i++) {
            if (devices->device_workers[i].started) {
                pthread_join(devices->device_workers[i].thread, NULL);
            }
        }
        lost = devices->lost;
        pthread_cond_destroy(&devices->changed);
        pthread_mutex_destroy(&devices->lock);
    }
    kw_arena_drop(&devices->arena);
    *devices = (kw_sweep_devices){0};
    return lost;
}
