/* host.c: the host backend and the family of seeded faults. */
#include "host.h"

#include "base/math.h"
#include "measure/data/expected.h"
#include "problem/reference.h"

#include "prelude/kernel_abi.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct kw_device {
    kw_target target;
};

struct kw_kernel {
    kw_config config;
};

struct kw_bound {
    const kw_kernel *kernel;
    kw_problem problem;
    kw_launch launch;
    int *runs;
};

enum { AXIS_FAULT, AXIS_PACKS };
enum { SCRATCH_BYTES = 40 };

static void launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *out) {
    (void)target;
    *out = (kw_launch){.stages = 1, .shared_bytes = SCRATCH_BYTES, .thread_bytes = SCRATCH_BYTES};
    out->stage[0] = (kw_stage){.units = 1};
    if (config->axis[AXIS_PACKS] && kw_problem_result(problem) != KW_W) {
        out->stages = 2;
        out->stage[0].packs = true;
        out->stage[1] = (kw_stage){.units = 1};
        out->packed_bytes = kw_problem_elements(problem, KW_W) * (int64_t)kw_dtype_size(problem->dtype);
    }
}

static const kw_axis axes[] = {
#define HOST_FAULT(name, text) #name " "
    {"fault", HOST_FAULTS(HOST_FAULT), 0, 0, "what it does wrong"},
#undef HOST_FAULT
    {"packs", "no yes", 0, 1, "whether w is packed"},
};

const kw_family host_family = {.name = "test.naive",
                               .summary = "the reference with seeded faults",
                               .kind = KW_KIND_CPU,
                               .ops = 0xf,
                               .dtypes = 0x3f,
                               .axes = axes,
                               .axis_count = 2,
                               .launch = launch};

const kw_family *const kw_family_table[] = {&host_family, NULL};

kw_config host_config(const kw_problem *problem, host_fault fault, bool packs) {
    return (kw_config){.family = &host_family, .op = problem->op, .dtype = problem->dtype, .axis = {(int32_t)fault, packs}};
}

const char *host_fault_name(host_fault fault) {
    static const char *const names[] = {
#define HOST_FAULT(name, text) #name,
        HOST_FAULTS(HOST_FAULT)
#undef HOST_FAULT
    };
    return names[fault];
}

/* --- the kernel --- */

/* Steps over the result: of a row (the axis before the last two, or m), of a group (or batch), of a channel (the last of its kind). */
typedef struct steps {
    int64_t row, rows, group, groups, channel, channels;
} steps;

static steps find_steps(const kw_problem *problem) {
    kw_tensor_axis all[KW_TENSOR_AXES];
    kw_tensor result = kw_problem_result(problem);
    int count = kw_tensor_axes(all, problem, result);
    steps s = {0};
    int64_t step = 1;
    for (int i = count - 1; i >= 0; i--) {
        char letter = all[i].letter;
        if (strchr("hym", letter)) {
            s.row = step;
            s.rows = all[i].extent;
        } else if (strchr("gb", letter)) {
            s.group = step;
            s.groups = all[i].extent;
        } else if (letter == (result == KW_Y && problem->op != KW_GEMM ? 'k' : result == KW_Y ? 'n' : 'c')) {
            s.channel = step;
            s.channels = all[i].extent;
        }
        step *= all[i].extent;
    }
    return s;
}

static bool is_float(kw_dtype dtype) {
    return dtype != KW_INT8 && dtype != KW_INT32;
}

bool host_fault_shows(host_fault fault, const kw_problem *problem, bool packs) {
    steps s = find_steps(problem);
    kw_dtype output = kw_problem_dtype(problem, kw_problem_result(problem));
    switch (fault) {
    case HOST_none:
        return false;
    case HOST_row_off_by_one:
        return s.rows > 1;
    case HOST_swapped_group:
        return s.groups > 1;
    case HOST_missing_last_tile:
    case HOST_last_channel:
        return s.channels > 1;
    case HOST_packed_past_end:
    case HOST_ignores_packed:
        return packs && kw_problem_result(problem) != KW_W;
    case HOST_truncates:
        return is_float(output) && kw_dtype_size(output) < 4;
    case HOST_low_precision:
        return is_float(output) && kw_dtype_size(output) < 4;
    case HOST_tires:
        return false; /* shows after many runs only: the timing test's */
    case HOST_nudges:
        return false; /* no fault, but to be told */
    default:
        return true;
    }
}

/* Towards zero in the storage type: the neighbour below in magnitude when rounding went up. */
static void store_cut(kw_dtype dtype, void *memory, int64_t index, double value) {
    kw_dtype_store(dtype, memory, index, value);
    double stored = kw_dtype_load(dtype, memory, index);
    if ((value > 0 && stored > value) || (value < 0 && stored < value)) {
        uint16_t bits;
        memcpy(&bits, (char *)memory + 2 * index, 2);
        bits--;
        memcpy((char *)memory + 2 * index, &bits, 2);
    }
}

/* As if the partial sum was kept in the storage type half way. */
static double low_precision(const kw_problem *problem, const void *const tensors[KW_TENSOR_COUNT], int64_t index, kw_dtype dtype) {
    double magnitude = 0, value = kw_reference_at(problem, tensors, (kw_zeros){0}, index, NULL, &magnitude);
    _Alignas(8) unsigned char half[8];
    kw_dtype_store(dtype, half, 0, magnitude / 2);
    return value + kw_dtype_load(dtype, half, 0) - magnitude / 2;
}

static int64_t source_index(host_fault fault, const steps *s, int64_t index) {
    if (fault == HOST_row_off_by_one) {
        int64_t row = index / s->row % s->rows;
        return row + 1 < s->rows ? index + s->row : index;
    }
    if (fault == HOST_swapped_group) {
        int64_t group = index / s->group % s->groups;
        return group == 0 ? index + s->group : group == 1 ? index - s->group : index;
    }
    return index;
}

static void compute(const kw_bound *bound, const kw_launch_memory *memory, const void *const tensors[KW_TENSOR_COUNT]) {
    const kw_problem *problem = &bound->problem;
    host_fault fault = (host_fault)bound->kernel->config.axis[AXIS_FAULT];
    kw_tensor result = kw_problem_result(problem);
    kw_dtype output = kw_problem_dtype(problem, result);
    int64_t elements = kw_problem_elements(problem, result);
    steps s = find_steps(problem);
    double carry = 0;
    carry += fault == HOST_stale_shared ? kw_dtype_load(output, memory->shared, 0) : 0;
    carry += fault == HOST_stale_thread ? kw_dtype_load(output, memory->threads, 0) : 0;
    if (fault == HOST_reads_past) {
        kw_tensor first = result == KW_X ? KW_W : KW_X;
        carry += kw_dtype_load(problem->dtype, tensors[first], kw_problem_elements(problem, first));
    }
    for (int64_t i = 0; i < elements; i++) {
        bool last_channel = s.channels > 1 && i / s.channel % s.channels == s.channels - 1;
        if ((fault == HOST_unwritten_tail && i == elements - 1) || (fault == HOST_unwritten_middle && i == elements / 2)) {
            continue;
        }
        double value = fault == HOST_low_precision
                           ? low_precision(problem, tensors, i, output)
                           : kw_reference_at(problem, tensors, (kw_zeros){0}, source_index(fault, &s, i), NULL, NULL);
        value += carry;
        value += fault == HOST_stale_result ? kw_dtype_load(output, memory->tensor[result], i) : 0;
        value = fault == HOST_missing_last_tile && last_channel ? 0 : value;
        value += fault == HOST_last_channel && last_channel ? 1 + value : 0;
        value += fault == HOST_last_element && i == elements - 1 ? 1 + value : 0;
        value += fault == HOST_tires && *bound->runs >= 40 ? 1 : 0;
        value = fault == HOST_not_a_number && i == elements / 3 && is_float(output) ? (double)__builtin_nanf("") : value;
        value = fault == HOST_not_a_number && i == elements / 3 && !is_float(output) ? value + 1 : value;
        if (fault == HOST_nudges && output == KW_FP32 && value != rint(value)) {
            value = (double)nextafterf((float)value, INFINITY);
        }
        if (fault == HOST_truncates) {
            store_cut(output, memory->tensor[result], i, value);
        } else {
            kw_dtype_store(output, memory->tensor[result], i, value);
        }
    }
}

static void stray(const kw_bound *bound, const kw_launch_memory *memory) {
    const kw_problem *problem = &bound->problem;
    host_fault fault = (host_fault)bound->kernel->config.axis[AXIS_FAULT];
    kw_tensor result = kw_problem_result(problem), first = result == KW_X ? KW_W : KW_X, second = result == KW_Y ? KW_W : KW_Y;
    kw_dtype output = kw_problem_dtype(problem, result);
    switch (fault) {
    case HOST_past_end:
        kw_dtype_store(output, memory->tensor[result], kw_problem_elements(problem, result), 1);
        break;
    case HOST_before_start:
        kw_dtype_store(output, memory->tensor[result], -1, 1);
        break;
    case HOST_shared_past_end:
        ((char *)memory->shared)[SCRATCH_BYTES] = 1;
        break;
    case HOST_thread_past_end:
        ((char *)memory->threads)[SCRATCH_BYTES] = 1;
        break;
    case HOST_changes_x:
        ((char *)memory->tensor[first])[0] ^= 1;
        break;
    case HOST_changes_w:
        ((char *)memory->tensor[second])[1 % kw_dtype_size(problem->dtype)] ^= 1;
        break;
    case HOST_input_past_end:
        kw_dtype_store(problem->dtype, memory->tensor[first], kw_problem_elements(problem, first), 1);
        break;
    default:
        break;
    }
}

static kw_status run(const kw_bound *bound, const kw_launch_memory *memory, int parts, void *stream, kw_error *err) {
    (void)stream;
    (void)err;
    const void *tensors[KW_TENSOR_COUNT] = {memory->tensor[0], memory->tensor[1], memory->tensor[2]};
    host_fault fault = (host_fault)bound->kernel->config.axis[AXIS_FAULT];
    if (bound->launch.packed_bytes) {
        if (parts & KW_RUN_PACK) {
            memcpy(memory->packed, memory->tensor[KW_W], (size_t)bound->launch.packed_bytes);
            if (fault == HOST_packed_past_end) {
                ((char *)memory->packed)[bound->launch.packed_bytes] = 1;
            }
        }
        if (fault != HOST_ignores_packed) {
            tensors[KW_W] = memory->packed;
        }
    }
    if (parts & KW_RUN_REST) {
        ++*bound->runs;
        compute(bound, memory, tensors);
        stray(bound, memory);
    }
    return KW_OK;
}

/* --- the backend --- */

static kw_status open_device(kw_device **device, int index, int threads, kw_error *err) {
    (void)index;
    *device = calloc(1, sizeof **device);
    if (!*device) {
        return kw_fail_memory(err, "a device");
    }
    (*device)->target =
        (kw_target){.backend = KW_BACKEND_CPU, .arch = "generic", .units = threads, .lanes = 4, .registers = 16, .l3 = HOST_CACHE};
    return KW_OK;
}

static void close_device(kw_device **device) {
    free(*device);
    *device = NULL;
}

static const kw_target *target(const kw_device *device) {
    return &device->target;
}

static kw_status alloc(kw_device *device, size_t size, void **memory, kw_error *err) {
    (void)device;
    *memory = malloc(size);
    return *memory ? KW_OK : kw_fail_memory(err, "a buffer");
}

static void release(kw_device *device, void *memory) {
    (void)device;
    free(memory);
}

static kw_status copy(kw_device *device, void *to, const void *from, size_t size, kw_error *err) {
    (void)device;
    (void)err;
    memcpy(to, from, size);
    return KW_OK;
}

static kw_status load(kw_device *device, const kw_config *config, const kw_blob *blob, kw_kernel **kernel, kw_error *err) {
    (void)device;
    (void)blob;
    *kernel = calloc(1, sizeof **kernel);
    if (!*kernel) {
        return kw_fail_memory(err, "a kernel");
    }
    (*kernel)->config = *config;
    return KW_OK;
}

static void unload(kw_device *device, kw_kernel **kernel) {
    (void)device;
    free(*kernel);
    *kernel = NULL;
}

static kw_status bind(kw_device *device, const kw_kernel *kernel, const kw_problem *problem, const kw_launch *how, kw_bound **bound,
                      kw_error *err) {
    (void)device;
    *bound = calloc(1, sizeof **bound);
    int *runs = calloc(1, sizeof *runs);
    if (!*bound || !runs) {
        return kw_fail_memory(err, "a bound kernel");
    }
    **bound = (kw_bound){kernel, *problem, *how, runs};
    return KW_OK;
}

static void unbind(kw_bound **bound) {
    free((*bound)->runs);
    free(*bound);
    *bound = NULL;
}

const kw_backend host_backend = {.id = KW_BACKEND_CPU,
                                 .open = open_device,
                                 .close = close_device,
                                 .target = target,
                                 .alloc = alloc,
                                 .release = release,
                                 .copy = copy,
                                 .load = load,
                                 .unload = unload,
                                 .bind = bind,
                                 .unbind = unbind,
                                 .run = run};
