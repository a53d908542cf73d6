/* backend.h: live devices. A backend is one const struct of functions. A target is a value, a device is a handle. */
#ifndef KW_BACKEND_BACKEND_H
#define KW_BACKEND_BACKEND_H

#include "base/os/host.h"
#include "jit/jit.h"

#include "prelude/kernel_abi.h"

typedef struct kw_device kw_device;
typedef struct kw_kernel kw_kernel; /* a loaded blob */

/* A kernel bound to a problem: every number the launch needs, worked out beforehand. Made once a plan, read by many threads. */
typedef struct kw_bound kw_bound;

/* Device memory of one launch. packed: the packed weights (in: if packed_ready, else written by the pack stages). */
typedef struct kw_launch_memory {
    void *tensor[KW_TENSOR_COUNT];
    const void *extra[KW_EXTRA_MAX]; /* of the epilogue */
    const int32_t *ends;             /* of a grouped product */
    void *packed, *shared, *threads;
} kw_launch_memory;

enum { KW_RUN_PACK = 1, KW_RUN_REST = 2, KW_RUN_ALL = 3 };

/* A run of several that have nothing to do with each other; parts: KW_RUN_*. */
enum { KW_TOGETHER_MAX = 128 };
typedef struct kw_backend_call {
    const kw_bound *bound;
    kw_launch_memory memory;
    int parts;
} kw_backend_call;

/* Most calls of a launch that joins them. */
enum { KW_BACKEND_JOINED_MAX = 64 };

typedef struct kw_backend {
    kw_backend_id id;
    /* Number of devices; 0 with the reason in why (may be NULL) when there is no driver. */
    int (*probe)(char why[256]);
    kw_status (*open)(kw_device **device, int index, int threads, kw_error *err);
    void (*close)(kw_device **device);
    /* Kernels that are bound from now on run on the host's threads. NULL: the host's are not for this device. */
    void (*use_threads)(kw_device *device, const kw_host_threads *threads);
    const kw_target *(*target)(const kw_device *device);
    kw_status (*alloc)(kw_device *device, size_t size, void **memory, kw_error *err);
    void (*release)(kw_device *device, void *memory);
    kw_status (*copy)(kw_device *device, void *to, const void *from, size_t size, kw_error *err);
    kw_status (*load)(kw_device *device, const kw_config *config, const kw_blob *blob, kw_kernel **kernel, kw_error *err);
    void (*unload)(kw_device *device, kw_kernel **kernel);
    kw_status (*bind)(kw_device *device, const kw_kernel *kernel, const kw_problem *problem, const kw_launch *launch, kw_bound **bound,
                      kw_error *err);
    void (*unbind)(kw_bound **bound);
    /* Runs the pack stages, the others, or all (parts is KW_RUN_*). Where sync is NULL it returns when they are done, else when they are
     * queued on the stream (NULL: the device's own). */
    kw_status (*run)(const kw_bound *bound, const kw_launch_memory *memory, int parts, void *stream, kw_error *err);
    /* Runs calls of one device, at most KW_TOGETHER_MAX, in any order, side by side where that is faster, and returns when all are done. NULL:
     * one after the other is all that there is. */
    kw_status (*run_together)(const kw_backend_call calls[], size_t count, kw_error *err);
    /* Runs calls of one device, whose bounds are of one kernel with joined=1, at most KW_BACKEND_JOINED_MAX, by one launch; their parts are not
     * looked at. Returns as run does. NULL: there are no such kernels. */
    kw_status (*run_joined)(const kw_backend_call calls[], size_t count, void *stream, kw_error *err);
    /* Waits until all that was queued is done. KW_FAILED: a kernel went wrong; where the device cannot be used any more after that,
     * KW_ENVIRONMENT, and the process should end. NULL: nothing is ever queued. */
    kw_status (*sync)(kw_device *device, kw_error *err);
    /* Runs calls[0 .. count-1] one after the other and gives the time of them all together by the device's own clock. NULL: the caller's
     * clock around run will do. */
    kw_status (*time)(const kw_bound *bound, const kw_launch_memory calls[], size_t count, int parts, double *ns, kw_error *err);
    /* Runs as run does, and gives what it would have taken if nobody else had the cores: of each stage the longest share by its thread's own
     * processor clock, added up. NULL: not to be had. */
    kw_status (*run_alone)(const kw_bound *bound, const kw_launch_memory *memory, int parts, double *ns, kw_error *err);
    /* Threads that a run takes. NULL: not the host's. */
    int (*team)(const kw_bound *bound);
    /* Devices that have names besides numbers ("emu:gfx942"): that of number index. NULL: they have none. */
    const char *(*device_name)(int index);
    /* The device for people: product, driver. NULL: the processor's brand says it. */
    const char *(*about)(const kw_device *device);
} kw_backend;

extern const kw_backend *const kw_backend_table[KW_BACKEND_COUNT]; /* by kw_backend_id */
const char *kw_backend_name(const kw_backend *backend);
/* "cpu", "cuda:1", "emu:gfx942"; without a number or name the first one. KW_MISSING names what is known. */
kw_status kw_backend_find(const kw_backend **backend, int *index, const char *device, kw_error *err);

/* What the address of a tensor must be a multiple of: its type's bytes on a CPU, KW_GPU_ALIGN on a GPU, whose kernels read vectors. */
enum { KW_GPU_ALIGN = 16 };
static inline size_t kw_backend_alignment(const kw_target *target, kw_dtype dtype) {
    return kw_target_is_gpu(target) ? KW_GPU_ALIGN : kw_dtype_size(dtype);
}

/* The arguments that a kernel of any backend gets, but for the pointers. Triples of a problem: spatial sizes are 1 and padding 0 where
 * there are none. */
void kw_args_fill(kw_kernel_args *args, const kw_problem *problem, const kw_launch *launch);
/* The pointers. */
void kw_args_point(kw_kernel_args *args, const kw_launch_memory *memory);

/* The table of a launch that joins so many products (kernels/prelude/joined.h), each as its bound kernel knows it. Returns the launch's units. */
typedef struct kw_joined_part {
    const kw_kernel_args *args;
    const kw_launch_memory *memory;
    int64_t units;
} kw_joined_part;
struct kw_joined;
int64_t kw_joined_fill(struct kw_joined *table, const kw_joined_part parts[], size_t count);

/* Of a launch with stages that turn tensors, or without. Which kernel of the blob a stage runs, counted from kw_stage0; what the kernel's
 * own stages see; the arguments of one that turns. */
int kw_stage_entry(const kw_turning *turning, int stage);
void kw_stage_memory(kw_launch_memory *seen, const kw_turning *turning, const kw_launch_memory *memory);
void kw_turn_args(kw_kernel_args *args, const kw_turn *turn, const kw_turning *turning, const kw_launch_memory *memory);

/* Facts of this machine's CPU; threads 0: all cores this process may use. Its architecture is the one that KW_CPU_ARCH names where the machine
 * runs it, else the best that it runs. */
void kw_cpu_target(kw_target *target, int threads);
/* KW_CPU_ARCH; NULL: not set. */
const char *kw_cpu_wanted_arch(void);
/* "AMD EPYC ..." for people, and what is to be said of its tile registers. */
enum { KW_BRAND_MAX = 192 };
void kw_cpu_brand(char text[KW_BRAND_MAX]);

#endif
