/* gpu.h: what the backends of real GPUs share. A driver is a library that is loaded when it is first asked for. Those of the vendors have
 * most calls in common but for their names (kw_gpu_calls); what differs stands in a driver's table (kw_gpu_driver). All rules are gpu.c's:
 * memory, modules, launches, streams, events, and which errors end the use of a device.
 *
 * To add one: a file with its table of names and differences, and its line in backend.c. Its stand-in for tests is a file beside
 * tests/support/device/fake_cuda.c. */
#ifndef KW_BACKEND_GPU_GPU_H
#define KW_BACKEND_GPU_GPU_H

#include "backend/backend.h"

/* One list for the table of calls, for loading it, and for the drivers' names of them (in cuda.c, hip.c). All give 0 for success. Handles
 * and device memory are pointers: a driver for which memory is a number of 64 bits passes it the same way. flags: 0 unless said here. */
#define KW_GPU_CALLS(X)                                                                                                                    \
    X(init, (unsigned flags))                                                                                                              \
    X(count, (int *count))                                                                                                                 \
    X(attribute, (int *value, int attribute, int device))                                                                                  \
    X(alloc, (void **memory, size_t size))                                                                                                 \
    X(release, (void *memory))                                                                                                             \
    X(stream_make, (void **stream, unsigned flags))                                                                                        \
    X(stream_drop, (void *stream))                                                                                                         \
    X(stream_wait, (void *stream))                                                                                                         \
    X(module_load, (void **module, const void *image))                                                                                     \
    X(module_drop, (void *module))                                                                                                         \
    X(module_find, (void **function, void *module, const char *name))                                                                      \
    X(launch, (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,    \
               unsigned shared_bytes, void *stream, void **parameters, void **extra))                                                      \
    X(event_make, (void **event, unsigned flags))                                                                                          \
    X(event_drop, (void *event))                                                                                                           \
    X(event_record, (void *event, void *stream))                                                                                           \
    X(event_wait, (void *event))                                                                                                           \
    X(event_between, (float *milliseconds, void *start, void *stop))

/* The first member of each driver's own table of calls. */
typedef struct kw_gpu_calls {
#define KW_GPU_CALL(name, parameters) int(*name) parameters;
    KW_GPU_CALLS(KW_GPU_CALL)
#undef KW_GPU_CALL
} kw_gpu_calls;

/* Numbers that all drivers agree on. STREAM_NON_BLOCKING: of stream_make; it does not wait for the default stream. */
enum { KW_GPU_OUT_OF_MEMORY = 2, KW_GPU_NO_DEVICE = 100, KW_GPU_STREAM_NON_BLOCKING = 1 };

/* A function of a driver's library: its name, and where the pointer to it goes in the driver's table of calls. spare: NULL goes there when
 * the library has none. */
typedef struct kw_gpu_symbol {
    const char *name;
    size_t offset;
    bool spare;
} kw_gpu_symbol;

/* What a blob says of its kernels. */
typedef struct kw_gpu_image {
    int32_t stages;                      /* kw_stage0, ...; 0: unknown, as many as are found by name */
    int32_t lds;                         /* the most bytes of shared memory that a block of any of them has */
    int32_t requested_lds[KW_STAGE_MAX]; /* of these, what the launch must ask for */
} kw_gpu_image;

/* A CUtensorMap; AMD has none. */
typedef struct kw_gpu_map {
    _Alignas(64) uint64_t opaque[16];
} kw_gpu_map;

/* A kernel's only parameter: kw_gpu_args of kernels/prelude/gpu_ptx.h. A kernel without maps is given the first member alone, since the
 * driver copies as many bytes as the kernel declares. */
typedef struct kw_gpu_args {
    kw_kernel_args args;
    kw_gpu_map map[KW_MAPS];
} kw_gpu_args;

/* What a launch consists of. */
typedef struct kw_gpu_grid {
    unsigned blocks, threads, shared_bytes, cluster; /* threads and bytes of a block; blocks of a cluster, 0: there are none */
    bool early;
} kw_gpu_grid;

/* Functions give the driver's error, 0 for none, unless they give a status. */
typedef struct kw_gpu_driver {
    const char *const *libraries; /* names, the best first, ended by NULL */
    const kw_gpu_symbol *symbols; /* ended by a NULL name */
    size_t calls_size;            /* of the driver's own table of calls */
    const char *needs;            /* what to install when there is none */
    const int *fatal;             /* errors after which the process cannot use the device any more, ended by 0 */
    int64_t threads_max;          /* of a launch, in all its blocks together */
    /* The driver's words for an error; NULL: none. */
    const char *(*words)(const kw_gpu_calls *calls, int error);
    /* number and context are kept for the calls below; shut gives the context back. shut may be NULL. */
    int (*open)(const kw_gpu_calls *calls, int index, int *number, void **context);
    void (*shut)(const kw_gpu_calls *calls, int number);
    /* Between the two the calling thread's work goes to the device. leave may be NULL. */
    int (*enter)(const kw_gpu_calls *calls, int number, void *context);
    void (*leave)(const kw_gpu_calls *calls);
    /* Facts of a device. KW_MISSING when its architecture has no file. */
    kw_status (*target)(kw_target *target, const kw_gpu_calls *calls, int number, kw_error *err);
    /* Product and driver, for people. */
    void (*about)(char *text, size_t capacity, const kw_gpu_calls *calls, int number);
    /* In the order of a stream; the driver knows which side of a pointer is whose. */
    int (*copy)(const kw_gpu_calls *calls, void *to, const void *from, size_t size, void *stream);
    /* KW_MALFORMED when the blob is not whole. */
    kw_status (*inspect)(kw_gpu_image *image, const kw_blob *blob, kw_error *err);
    /* Lets a kernel ask for so many bytes of shared memory. NULL: nothing is ever asked for. */
    int (*allow_lds)(const kw_gpu_calls *calls, void *function, int32_t bytes);
    /* Whether maps can be made, and why not; and one for a tensor of the device. NULL: kernels of this driver have none. */
    kw_status (*has_maps)(const kw_gpu_calls *calls, kw_error *err);
    int (*encode)(kw_gpu_map *to, const kw_gpu_calls *calls, const kw_map *map, void *tensor);
    /* A launch whose blocks may begin while the one before it in the stream ends (kw_launch.early), or that has clusters of blocks. NULL: the
     * driver has neither. */
    int (*launch_special)(const kw_gpu_calls *calls, const kw_gpu_grid *grid, void *function, void *stream, void *parameters[]);
} kw_gpu_driver;

/* --- gpu_driver.c --- */

/* Loads the driver's library into calls (of its calls_size) and starts it. KW_ENVIRONMENT when there is none, or one that lacks a function.
 * The library stays with the process, as drivers start threads of their own. */
kw_status kw_gpu_load(kw_gpu_calls *calls, const kw_gpu_driver *driver, kw_error *err);
/* KW_OK for 0; else the status that an error of a call means, with what and the driver's words for it. */
kw_status kw_gpu_check(const kw_gpu_driver *driver, const kw_gpu_calls *calls, int error, const char *what, kw_error *err);
/* A number that a driver tells of a device; 0 where it does not know. */
int64_t kw_gpu_attribute(const kw_gpu_calls *calls, int attribute, int number);
/* The facts that are what the driver says; those of which it knows nothing stay. bandwidth from memory clock (kHz, two bits a line and
 * clock) and bus width (bits). */
typedef struct kw_gpu_reported {
    int64_t *fact, value;
} kw_gpu_reported;
void kw_gpu_apply_reported(const kw_gpu_reported told[], size_t count);
int64_t kw_gpu_reported_bandwidth(int64_t memory_khz, int64_t bus_bits);
/* "AMD Instinct MI300X" as the one word that a target's model is: what is neither letter, digit nor one of . _ becomes '-'. */
void kw_gpu_model(char model[48], const char *name);

/* --- gpu.c: the slots of a backend --- */

int kw_gpu_probe(const kw_gpu_driver *driver, char why[256]);
kw_status kw_gpu_open(kw_device **device, const kw_gpu_driver *driver, int index, kw_error *err);
void kw_gpu_close(kw_device **device);
const kw_target *kw_gpu_target(const kw_device *device);
const char *kw_gpu_describe(const kw_device *device);
kw_status kw_gpu_alloc(kw_device *device, size_t size, void **memory, kw_error *err);
void kw_gpu_release(kw_device *device, void *memory);
kw_status kw_gpu_copy(kw_device *device, void *to, const void *from, size_t size, kw_error *err);
kw_status kw_gpu_load_kernel(kw_device *device, const kw_config *config, const kw_blob *blob, kw_kernel **kernel, kw_error *err);
void kw_gpu_unload(kw_device *device, kw_kernel **kernel);
kw_status kw_gpu_bind(kw_device *device, const kw_kernel *kernel, const kw_problem *problem, const kw_launch *launch, kw_bound **bound,
                      kw_error *err);
void kw_gpu_unbind(kw_bound **bound);
kw_status kw_gpu_run(const kw_bound *bound, const kw_launch_memory *memory, int parts, void *stream, kw_error *err);
kw_status kw_gpu_run_joined(const kw_backend_call calls[], size_t count, void *stream, kw_error *err);
kw_status kw_gpu_sync(kw_device *device, kw_error *err);
kw_status kw_gpu_time(const kw_bound *bound, const kw_launch_memory calls[], size_t count, int parts, double *ns, kw_error *err);

/* A backend of a driver: its probe and open name the driver, all else is shared. */
#define KW_GPU_BACKEND(backend_id, backend_probe, backend_open)                                                                            \
    {                                                                                                                                      \
        .id = backend_id, .probe = backend_probe, .open = backend_open, .close = kw_gpu_close, .target = kw_gpu_target,                    \
        .alloc = kw_gpu_alloc, .release = kw_gpu_release, .copy = kw_gpu_copy, .load = kw_gpu_load_kernel, .unload = kw_gpu_unload,        \
        .bind = kw_gpu_bind, .unbind = kw_gpu_unbind, .run = kw_gpu_run, .run_joined = kw_gpu_run_joined, .sync = kw_gpu_sync,             \
        .time = kw_gpu_time, .about = kw_gpu_describe                                                                                      \
    }

#endif
