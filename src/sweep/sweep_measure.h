/* sweep_measure.h: the measuring part of a sweep: one thread a device, each with a worker process of its own. */
#ifndef KW_SWEEP_SWEEP_MEASURE_H
#define KW_SWEEP_SWEEP_MEASURE_H

#include "sweep/worker/worker_client.h"
#include "sweep/sweep_build.h"
#include "sweep/sweep_rows.h"

enum { KW_SWEEP_DEVICES_MAX = 64, KW_SWEEP_BATCH = 20 };

/* One device: a thread, and the worker process that it starts, uses and ends. */
typedef struct kw_device_worker {
    struct kw_sweep_devices *devices;
    pthread_t thread;
    bool started; /* the thread */
    kw_worker_client *client;
    kw_worker_client_options settings;
    kw_target target;
    char name[96]; /* of the device, for people */
    kw_status status;
    kw_error err;
} kw_device_worker;

typedef struct kw_sweep_devices {
    kw_arena arena;
    kw_device_worker device_workers[KW_SWEEP_DEVICES_MAX];
    size_t count, opened;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool open, released; /* released: threads that wait for work go on */
    void (*work)(void *user, kw_worker_client *client);
    void *user;
    int64_t lost;
} kw_sweep_devices;

/* Starts a worker for each name in options->device; several share the cores of this process evenly. devices must be zeroed; close it also
 * after a failure. */
kw_status kw_sweep_devices_open(kw_sweep_devices *devices, const kw_sweep_options *options, const char *cache_folder, kw_error *err);
/* Has each device's thread call work, once. */
void kw_sweep_devices_start(kw_sweep_devices *devices, void (*work)(void *user, kw_worker_client *client), void *user);
/* Waits for the threads. Returns how many worker processes had to be replaced. */
int64_t kw_sweep_devices_close(kw_sweep_devices *devices);

/* What all devices measure with. */
typedef struct kw_sweep_context {
    const kw_sweep_plan *plan;
    const kw_sweep_options *options;
    const kw_sweep_toolchain *toolchain;
    const kw_sweep_kernel *control; /* NULL: none */
    const kw_problem *control_problem;
    kw_sweep_writer *writer;
} kw_sweep_context;

/* Measures the plan's pairs. Sets report's wall_s and kernel_s. After options->stop, the end of the budget, or an error, what was
 * measured is in the sink. */
kw_status kw_sweep_measure(kw_sweep_devices *devices, const kw_sweep_context *work, kw_sweep_report *report, kw_error *err);

#endif
