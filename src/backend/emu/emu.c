/* emu.c: GPUs that a CPU plays, one device for each architecture: "emu:gfx942", "emu:sm_90". The device's facts are the architecture's
 * typical ones, so all that is generated, chosen and verified for it is what a real one would get. Blocks are independent: each thread
 * of this machine that takes part has a machine of its own and takes the next block. */
#include "backend/emu/emu.h"

#include "backend/cpu/cpu.h"
#include "backend/emu/emu_room.h"
#include "prelude/joined.h"
#include "problem/groups/groups.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { WORKERS_MAX = 256 };
static const int64_t cells_limit = 16 << 20;

struct kw_device {
    kw_target target;
    const kw_gpu_arch *arch;
    int32_t workers;
    bool checks;
    kw_emu_rooms *rooms;
};

struct kw_kernel {
    kw_emu_object object;
};

struct kw_bound {
    const kw_device *device;
    const kw_kernel *kernel;
    kw_kernel_args args;
    kw_stage shape[KW_STAGE_MAX];
    kw_map map[KW_MAPS];
    bool early[KW_STAGE_MAX];
    int32_t cluster[KW_STAGE_MAX];
    kw_turning turning;
    int32_t stages, cell_shift;
    kw_tensor result;
    int64_t tensor_bytes[KW_TENSOR_COUNT], packed_bytes, shared_bytes;
    kw_extra extra[KW_EXTRA_MAX]; /* of the epilogue */
    int32_t extras;
    int64_t ends_bytes; /* of a grouped product */
    bool joined;
};

static int count_devices(void) {
    int count = 0;
    while (kw_gpu_archs[count].name) {
        count++;
    }
    return count;
}

static int emu_probe(char why[256]) {
    (void)why;
    return count_devices();
}

static const char *device_name(int index) {
    return kw_gpu_archs[index].name;
}

static void emu_close_device(kw_device **device) {
    if (*device) {
        kw_emu_rooms_close((*device)->rooms);
        free((*device)->rooms);
    }
    free(*device);
    *device = NULL;
}

static kw_status emu_open_device(kw_device **device, int index, int threads, kw_error *err) {
    *device = NULL;
    if (index < 0 || index >= count_devices()) {
        return kw_fail(err, KW_MISSING, "device emu:%d: there are %d architectures", index, count_devices());
    }
    if (threads < 0 || threads > WORKERS_MAX) {
        return kw_fail(err, KW_ILLEGAL, "threads=%d; use 1 to %d, or 0 for all cores of the process", threads, WORKERS_MAX);
    }
    kw_device *opened = calloc(1, sizeof *opened);
    kw_emu_rooms *rooms = calloc(1, sizeof *rooms);
    if (!opened || !rooms || pthread_mutex_init(&rooms->lock, NULL)) {
        free(opened);
        free(rooms);
        return kw_fail_memory(err, "a device");
    }
    opened->rooms = rooms;
    kw_target cpu;
    const char *checks = secure_getenv("KW_EMU_CHECKS"), *units = secure_getenv("KW_EMU_UNITS");
    kw_cpu_target(&cpu, threads);
    opened->arch = &kw_gpu_archs[index];
    opened->target = opened->arch->typical;
    if (units && atoi(units) > 0) { /* so that blocks which stay take several tiles of a small problem */
        opened->target.units = atoi(units);
    }
    opened->workers = (int32_t)(cpu.units < WORKERS_MAX ? cpu.units : WORKERS_MAX);
    opened->checks = !checks || strcmp(checks, "0") != 0;
    *device = opened;
    return KW_OK;
}

static const kw_target *emu_device_target(const kw_device *device) {
    return &device->target;
}

static kw_status emu_alloc_memory(kw_device *device, size_t size, void **memory, kw_error *err) {
    (void)device;
    return kw_cpu_alloc(memory, size, err);
}

static void emu_release_memory(kw_device *device, void *memory) {
    (void)device;
    free(memory);
}

static kw_status emu_copy_memory(kw_device *device, void *to, const void *from, size_t size, kw_error *err) {
    (void)device, (void)err;
    memmove(to, from, size);
    return KW_OK;
}

static void emu_unload_kernel(kw_device *device, kw_kernel **kernel) {
    (void)device;
    if (*kernel) {
        kw_emu_object_close(&(*kernel)->object);
    }
    free(*kernel);
    *kernel = NULL;
}

static kw_status emu_load_kernel(kw_device *device, const kw_config *config, const kw_blob *blob, kw_kernel **kernel, kw_error *err) {
    *kernel = NULL;
    kw_status status = kw_config_runs(config, &device->target, err);
    if (status) {
        return status;
    }
    kw_kernel *loaded = calloc(1, sizeof *loaded);
    if (!loaded) {
        return kw_fail_memory(err, "a kernel");
    }
    status = kw_emu_object_open(&loaded->object, blob, err);
    if (status) {
        free(loaded);
        return status;
    }
    *kernel = loaded;
    return KW_OK;
}

static void emu_unbind_kernel(kw_bound **bound) {
    free(*bound);
    *bound = NULL;
}

static kw_status emu_bind_kernel(kw_device *device, const kw_kernel *kernel, const kw_problem *problem, const kw_launch *launch,
                                 kw_bound **bound, kw_error *err) {
    *bound = NULL;
    for (int i = 0; i < launch->stages; i++) {
        int entry = kw_stage_entry(&launch->turning, i);
        if (entry >= KW_STAGE_MAX || !kernel->object.stage[entry]) {
            return kw_fail(err, KW_FAILED, "the launch has %d stages and the kernel exports %d; its family and its text disagree",
                           launch->stages, entry);
        }
        int threads = launch->stage[i].threads;
        if (threads != kernel->object.threads[entry] || threads < 1 || threads > KW_EMU_THREADS_MAX) {
            return kw_fail(err, KW_FAILED, "stage %d is launched with %d threads a block and written for %d; 1 to %d are possible", i,
                           threads, kernel->object.threads[entry], KW_EMU_THREADS_MAX);
        }
        int32_t cluster = launch->cluster[i], waves = threads / (int32_t)device->target.lanes;
        if (cluster && (cluster > KW_EMU_CLUSTER_MAX || launch->stage[i].units % cluster || waves > KW_EMU_CLUSTER_WAVES)) {
            return kw_fail(err, KW_FAILED,
                           "stage %d has %lld blocks of %d waves in clusters of %d; 1 to %d that divide the blocks, of at most "
                           "%d waves, can be played",
                           i, (long long)launch->stage[i].units, waves, cluster, KW_EMU_CLUSTER_MAX, KW_EMU_CLUSTER_WAVES);
        }
    }
    kw_bound *made = calloc(1, sizeof *made);
    if (!made) {
        return kw_fail_memory(err, "a bound kernel");
    }
    kw_args_fill(&made->args, problem, launch);
    made->device = device;
    made->kernel = kernel;
    made->stages = launch->stages;
    made->result = kw_problem_result(problem);
    made->packed_bytes = launch->packed_bytes;
    made->shared_bytes = launch->shared_bytes;
    made->cell_shift = 2;
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        int32_t size = (int32_t)kw_dtype_size(kw_problem_dtype(problem, (kw_tensor)t));
        made->tensor_bytes[t] = kw_problem_elements(problem, (kw_tensor)t) * size;
        made->cell_shift = size < 1 << made->cell_shift ? size / 2 : made->cell_shift;
    }
    made->extras = kw_problem_extras(made->extra, problem);
    made->turning = launch->turning;
    made->joined = launch->joined;
    for (int i = 0; i < made->extras && (made->turning.is || made->turning.bias_at);
         i++) { /* written by elements, in copies or as they are */
        int32_t size = (int32_t)kw_dtype_size(made->extra[i].dtype);
        made->cell_shift = size < 1 << made->cell_shift ? size / 2 : made->cell_shift;
    }
    made->ends_bytes = kw_problem_is_grouped(problem) ? problem->gemm.groups * (int64_t)sizeof(int32_t) : 0;
    memcpy(made->shape, launch->stage, sizeof made->shape);
    memcpy(made->map, launch->map, sizeof made->map);
    memcpy(made->early, launch->early, sizeof made->early);
    memcpy(made->cluster, launch->cluster, sizeof made->cluster);
    *bound = made;
    return KW_OK;
}

/* --- a run --- */

/* One of this machine's threads. block: where it failed; the number of blocks when it did not. */
typedef struct worker {
    kw_emu_machine *machine;
    int64_t block;
    pthread_t thread;
    bool started;
} worker;

static void *run_worker(void *argument) {
    worker *w = argument;
    kw_emu_run *run = w->machine->run;
    w->block = run->blocks;
    for (int64_t block = atomic_fetch_add(&run->next, run->cluster); block < run->blocks;
         block = atomic_fetch_add(&run->next, run->cluster)) {
        if (!kw_emu_cluster_run(w->machine, block)) {
            w->block = block;
            atomic_store(&run->next, run->blocks); /* later blocks need not be tried */
            break;
        }
    }
    return NULL;
}

/* The fault of the lowest block counts, so that with one worker and with many the same is said as far as possible. */
static kw_status check_workers(const worker workers[], int32_t count, int64_t blocks, int stage, kw_error *err) {
    const worker *first = NULL;
    for (int32_t i = 0; i < count; i++) {
        if (workers[i].machine && workers[i].block < blocks && (!first || workers[i].block < first->block)) {
            first = &workers[i];
        }
    }
    return first ? kw_fail(err, KW_FAILED, "kw_stage%d: %s", stage, first->machine->fault) : KW_OK;
}

static kw_status run_stage(kw_emu_run *run, int stage, int32_t wanted, kw_error *err) {
    worker workers[WORKERS_MAX] = {0};
    int64_t clusters = run->blocks / run->cluster;
    int32_t count = (int32_t)(wanted < clusters ? wanted : clusters);
    kw_status status = KW_OK;
    for (int32_t i = 0; i < count && !status; i++) {
        status = kw_emu_machine_open(&workers[i].machine, run, err);
    }
    for (int32_t i = 1; i < count && !status; i++) { /* what is not to be had is done by the others */
        workers[i].block = run->blocks;
        workers[i].started = !pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]);
    }
    if (!status) {
        run_worker(&workers[0]);
    }
    for (int32_t i = 1; i < count; i++) {
        if (workers[i].started) {
            pthread_join(workers[i].thread, NULL);
        }
    }
    status = status ? status : check_workers(workers, count, run->blocks, stage, err);
    for (int32_t i = 0; i < count; i++) {
        kw_emu_machine_close(&workers[i].machine);
    }
    return status;
}

/* What a stage may touch. Those that pack write packed weights, and workspace; the others the result, and workspace. */
static void add_range(kw_emu_run *run, const char *name, void *start, int64_t size, bool written) {
    if (start && size > 0) {
        run->range[run->range_count++] = (kw_emu_range){.name = name, .start = start, .size = size, .written = written};
    }
}

/* One that is the result itself is the result's range, which stands before it. */
static void list_extras(kw_emu_run *run, const kw_bound *bound, const kw_launch_memory *memory, bool sums_bias) {
    for (int32_t i = 0; i < bound->extras; i++) {
        const kw_extra *extra = &bound->extra[i];
        add_range(run, extra->name, (void *)(uintptr_t)memory->extra[i], extra->elements * (int64_t)kw_dtype_size(extra->dtype),
                  sums_bias && i == 0);
    }
}

static void list_ranges(kw_emu_run *run, const kw_bound *bound, const kw_launch_memory *memory, int stage) {
    static const char *const names[KW_TENSOR_COUNT] = {"x", "w", "y"};
    bool packs = bound->shape[stage].packs, sums_bias = bound->turning.bias_at && stage >= bound->turning.bias_at;
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        add_range(run, names[t], memory->tensor[t], bound->tensor_bytes[t], !packs && !sums_bias && t == (int)bound->result);
    }
    list_extras(run, bound, memory, sums_bias);
    add_range(run, "ends", (void *)(uintptr_t)memory->ends, bound->ends_bytes, false);
    add_range(run, "packed weights", memory->packed, bound->packed_bytes, packs);
    add_range(run, "workspace", memory->shared, bound->shared_bytes, true);
}

static size_t range_shadow_bytes(const kw_emu_run *run, const kw_emu_range *range) {
    return ((size_t)range->size >> run->cell_shift) * sizeof(kw_emu_global_shadow_cell) + sizeof(kw_emu_global_shadow_cell);
}

/* Cells take many times the memory that they stand for; where that is too much, races between blocks are not looked for. */
static void open_cells(kw_emu_run *run) {
    for (int i = 0; run->checks && i < run->range_count; i++) {
        kw_emu_range *range = &run->range[i];
        if (range->written && range->size <= cells_limit) {
            void *cells =
                mmap(NULL, range_shadow_bytes(run, range), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            range->cells = cells == MAP_FAILED ? NULL : cells;
        }
    }
}

static void close_cells(kw_emu_run *run) {
    for (int i = 0; i < run->range_count; i++) {
        if (run->range[i].cells) {
            munmap(run->range[i].cells, range_shadow_bytes(run, &run->range[i]));
        }
    }
}

static void fill_emu_args(kw_emu_args *args, const kw_bound *bound, const kw_launch_memory *memory) {
    *args = (kw_emu_args){.args = bound->args};
    kw_args_point(&args->args, memory);
    for (int i = 0; i < KW_MAPS; i++) {
        const kw_map *from = &bound->map[i];
        kw_emu_map *to = &args->map[i];
        *to = (kw_emu_map){.base = from->copied ? (char *)memory->shared + from->copied_at : memory->tensor[from->tensor],
                           .rank = from->rank,
                           .bytes = (int)kw_dtype_size(from->dtype),
                           .swizzle = from->swizzle};
        for (int axis = 0; axis < KW_MAP_RANK; axis++) {
            to->extent[axis] = from->extent[axis];
            to->box[axis] = from->box[axis];
        }
        for (int axis = 0; axis < KW_MAP_RANK - 1; axis++) {
            to->stride[axis] = from->stride[axis];
        }
        to->pixels = from->pixels;
        for (int axis = 0; axis < 3; axis++) {
            to->low[axis] = from->low[axis];
            to->count[axis] = from->count[axis];
            to->step[axis] = from->step[axis];
        }
    }
}

/* What is known of a stage's run before its arguments and memory are. */
static void start_run(kw_emu_run *run, const kw_bound *bound, int stage) {
    const kw_device *device = bound->device;
    *run = (kw_emu_run){.stage = bound->kernel->object.stage[kw_stage_entry(&bound->turning, stage)],
                        .blocks = bound->shape[stage].units,
                        .threads = bound->shape[stage].threads,
                        .wave = (int32_t)device->target.lanes,
                        .wave_shift = device->target.lanes == 64 ? 6 : 5,
                        .cluster = bound->cluster[stage] > 1 ? bound->cluster[stage] : 1,
                        .cell_shift = bound->cell_shift,
                        .lds = (int32_t)device->target.lds,
                        .nvidia = device->arch->backend == KW_BACKEND_CUDA,
                        .checks = device->checks,
                        .early = bound->early[stage],
                        .object = &bound->kernel->object,
                        .rooms = device->rooms};
}

static kw_status emu_run_joined(const kw_backend_call calls[], size_t count, void *stream, kw_error *err) {
    const kw_bound *first = calls[0].bound;
    kw_joined_part parts[KW_JOINED_MAX];
    kw_joined table;
    kw_emu_run run;
    (void)stream;
    start_run(&run, first, 0);
    for (size_t i = 0; i < count; i++) {
        const kw_bound *bound = calls[i].bound;
        parts[i] = (kw_joined_part){&bound->args, &calls[i].memory, bound->shape[0].units};
        run.cell_shift = bound->cell_shift < run.cell_shift ? bound->cell_shift : run.cell_shift;
        list_ranges(&run, bound, &calls[i].memory, 0);
    }
    run.blocks = kw_joined_fill(&table, parts, count);
    run.args = (kw_emu_args){.joined = &table};
    add_range(&run, "the table of products", &table, sizeof table, false);
    open_cells(&run);
    kw_status status = run_stage(&run, 0, first->device->workers, err);
    close_cells(&run);
    return status;
}

static kw_status emu_run_kernel(const kw_bound *bound, const kw_launch_memory *memory, int parts, void *stream, kw_error *err) {
    const kw_device *device = bound->device;
    kw_status status = KW_OK;
    if (bound->joined) {
        return emu_run_joined(&(const kw_backend_call){bound, *memory, parts}, 1, stream, err);
    }
    for (int i = 0; i < bound->stages && !status; i++) {
        if (!(parts & (bound->shape[i].packs ? KW_RUN_PACK : KW_RUN_REST)) || bound->shape[i].units <= 0) {
            continue;
        }
        const kw_turn *turn = &bound->turning.stage[i];
        kw_emu_run run;
        start_run(&run, bound, i);
        kw_launch_memory seen;
        kw_stage_memory(&seen, &bound->turning, memory);
        bool sums_bias = bound->turning.bias_at && i >= bound->turning.bias_at;
        fill_emu_args(&run.args, bound, sums_bias ? memory : &seen); /* the sums of the bias know no copies */
        if (turn->images > 0) {
            kw_turn_args(&run.args.args, turn, &bound->turning, memory);
        }
        list_ranges(&run, bound, memory, i);
        open_cells(&run);
        status = run_stage(&run, i, device->workers, err);
        close_cells(&run);
    }
    return status;
}

const kw_backend kw_emu_backend = {
    .id = KW_BACKEND_EMU,
    .probe = emu_probe,
    .open = emu_open_device,
    .close = emu_close_device,
    .target = emu_device_target,
    .alloc = emu_alloc_memory,
    .release = emu_release_memory,
    .copy = emu_copy_memory,
    .load = emu_load_kernel,
    .unload = emu_unload_kernel,
    .bind = emu_bind_kernel,
    .unbind = emu_unbind_kernel,
    .run = emu_run_kernel,
    .run_joined = emu_run_joined,
    .device_name = device_name,
};
