/* bench.c: the data of one problem, made once; a config made ready to run on it.
 *
 * Tensors that are read are filled in host memory, handed to the reference, copied to the device and forgotten; their hash stays, to see
 * that no kernel changes them. The exact set lies off the 64-byte alignment, as a caller's may: by one element on a CPU, whose kernels
 * must ask for no more than their type's, by 16 bytes on a GPU, whose kernels may load as much at once. */
#include "measure/bench.h"

#include "base/os/clock.h"
#include "base/math.h"
#include "config/launch/workspace.h"
#include "problem/epilogue/epilogue.h"
#include "problem/groups/groups.h"
#include "problem/names/outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const tensor_names[KW_TENSOR_COUNT] = {"x", "w", "y"};

static int64_t tensor_bytes(const kw_problem *problem, kw_tensor tensor) {
    return kw_problem_elements(problem, tensor) * (int64_t)kw_dtype_size(kw_problem_dtype(problem, tensor));
}

int kw_bench_shift(const kw_bench *bench, int set, kw_tensor tensor) {
    size_t least = kw_backend_alignment(bench->backend->target(bench->device), kw_problem_dtype(&bench->problem, tensor));
    return set == KW_SET_EXACT ? (int)least : 0;
}

static kw_status open_tensor(kw_bench *bench, int set, kw_tensor tensor, const void *data, kw_error *err) {
    kw_buffer *buffer = &bench->set[set].tensor[tensor];
    kw_status status =
        kw_buffer_open(buffer, bench->backend, bench->device, tensor_names[tensor], tensor_bytes(&bench->problem, tensor), err);
    if (status) {
        return status;
    }
    kw_buffer_shift(buffer, kw_bench_shift(bench, set, tensor));
    status = kw_buffer_write(buffer, data, err);
    return status ? status : kw_buffer_hash(buffer, &bench->set[set].hash[tensor], err);
}

/* On the heap; NULL when there is no memory. */
static void *make_data(const kw_bench *bench, int set, kw_tensor tensor) {
    void *data = malloc((size_t)tensor_bytes(&bench->problem, tensor));
    if (data) {
        kw_fill_tensor(&bench->set[set].fill, &bench->problem, tensor, 0, kw_problem_elements(&bench->problem, tensor), data);
    }
    return data;
}

kw_status kw_bench_restore(kw_bench *bench, int set, kw_tensor tensor, kw_error *err) {
    void *data = make_data(bench, set, tensor);
    if (!data) {
        return kw_fail_memory(err, "the data of a problem");
    }
    kw_status status = kw_buffer_write(&bench->set[set].tensor[tensor], data, err);
    free(data);
    return status;
}

/* The tensors of the epilogue's steps; host[i] are the caller's to free. */
static kw_status open_extras(kw_bench *bench, int set, void *host[KW_EXTRA_MAX], kw_error *err) {
    static const char *const names[KW_EXTRA_MAX] = {"extra[0]", "extra[1]", "extra[2]", "extra[3]", "extra[4]", "extra[5]"};
    const kw_epilogue *epilogue = &bench->problem.epilogue;
    kw_extra extras[KW_EXTRA_MAX];
    kw_problem_extras(extras, &bench->problem);
    kw_status status = KW_OK;
    for (int step = 0, i = 0; step < epilogue->count && !status; step++) {
        if (!kw_epilogue_step_has_tensor(&epilogue->step[step])) {
            continue;
        }
        int64_t bytes = extras[i].elements * (int64_t)kw_dtype_size(extras[i].dtype);
        kw_buffer *buffer = &bench->set[set].extra[i];
        host[i] = malloc((size_t)bytes);
        if (!host[i]) {
            return kw_fail_memory(err, "the data of an epilogue");
        }
        kw_fill_extra(&bench->set[set].fill, &bench->problem, step, host[i]);
        status = kw_buffer_open(buffer, bench->backend, bench->device, names[i], bytes, err);
        if (!status) {
            size_t least = kw_backend_alignment(bench->backend->target(bench->device), extras[i].dtype);
            kw_buffer_shift(buffer, set == KW_SET_EXACT ? (int)least : 0);
            status = kw_buffer_write(buffer, host[i], err);
        }
        status = status ? status : kw_buffer_hash(buffer, &bench->set[set].extra_hash[i], err);
        i++;
    }
    return status;
}

/* The ends of groups; *host is the caller's to free. The exact set leaves rows behind the last one, which stay as they are. */
static kw_status open_ends(kw_bench *bench, int set, int32_t **host, kw_error *err) {
    if (!kw_problem_is_grouped(&bench->problem)) {
        return KW_OK;
    }
    kw_buffer *buffer = &bench->set[set].ends;
    size_t bytes = (size_t)bench->problem.gemm.groups * sizeof **host;
    *host = malloc(bytes);
    if (!*host) {
        return kw_fail_memory(err, "the ends of groups");
    }
    kw_group_ends_draw(*host, &bench->problem, bench->set[set].fill.seed + (uint64_t)set, set == KW_SET_REAL);
    kw_status status = kw_buffer_open(buffer, bench->backend, bench->device, "ends", (int64_t)bytes, err);
    if (!status) {
        kw_buffer_shift(buffer, set == KW_SET_EXACT ? (int)sizeof **host : 0);
        status = kw_buffer_write(buffer, *host, err);
    }
    return status ? status : kw_buffer_hash(buffer, &bench->set[set].ends_hash, err);
}

static kw_status open_bench_set(kw_bench *bench, int set, const kw_fill *fill, kw_error *err) {
    void *host[KW_TENSOR_COUNT] = {0}, *extras[KW_EXTRA_MAX] = {0};
    int32_t *ends = NULL;
    bench->set[set].fill = *fill;
    kw_status status = KW_OK;
    for (int t = 0; t < KW_TENSOR_COUNT && !status; t++) {
        kw_tensor tensor = (kw_tensor)t;
        if (tensor == kw_problem_result(&bench->problem)) {
            continue;
        }
        host[t] = make_data(bench, set, tensor);
        if (!host[t]) {
            status = kw_fail_memory(err, "the data of a problem");
            break;
        }
        status = open_tensor(bench, set, tensor, host[t], err);
    }
    status = status ? status : open_extras(bench, set, extras, err);
    status = status ? status : open_ends(bench, set, &ends, err);
    if (!status) {
        kw_group_memory memory = {{host[KW_X], host[KW_W], host[KW_Y]}, {0}};
        memcpy(memory.extra, extras, sizeof extras);
        status = kw_expected_make(&bench->set[set].expected, &bench->problem, fill, &memory, ends, err);
        status = status ? status : kw_expected_bias_make(&bench->set[set].bias, &bench->problem, fill, host[KW_Y], err);
    }
    free(ends);
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        free(host[t]);
    }
    for (int i = 0; i < KW_EXTRA_MAX; i++) {
        free(extras[i]);
    }
    return status;
}

kw_status kw_bench_open_fills(kw_bench **bench, const kw_backend *backend, kw_device *device, const kw_problem *problem,
                              const kw_fill fills[KW_SET_COUNT], kw_error *err) {
    *bench = NULL;
    kw_status status = kw_problem_check(problem, err);
    if (status) {
        return status;
    }
    kw_bench *made = calloc(1, sizeof *made);
    if (!made) {
        return kw_fail_memory(err, "a bench");
    }
    made->backend = backend;
    made->device = device;
    made->problem = *problem;
    kw_tensor result = kw_problem_result(problem);
    status = kw_buffer_open(&made->result, backend, device, tensor_names[result], tensor_bytes(problem, result), err);
    for (int set = 0; set < KW_SET_COUNT && !status; set++) {
        status = open_bench_set(made, set, &fills[set], err);
    }
    if (status) {
        kw_bench_close(&made);
        return status;
    }
    *bench = made;
    return KW_OK;
}

/* Of few results an epilogue such as relu may leave none that tells anything. Of many the share is the same by any seed. */
static bool other_data_may_tell(const kw_bench *bench) {
    enum { FEW = 256 };
    const kw_expected *expected = &bench->set[KW_SET_EXACT].expected;
    return !kw_expected_trusted(expected) && expected->possible <= FEW;
}

kw_status kw_bench_open(kw_bench **bench, const kw_backend *backend, kw_device *device, const kw_problem *problem, uint64_t seed,
                        kw_error *err) {
    *bench = NULL;
    kw_status status = kw_problem_check(problem, err);
    if (status) {
        return status;
    }
    enum { TRIES = 16 };
    seed = seed ? seed : 20261121;
    for (int i = 0; !status && i < TRIES && (i == 0 || other_data_may_tell(*bench)); i++) {
        kw_bench_close(bench);
        kw_fill fills[KW_SET_COUNT] = {
            [KW_SET_EXACT] = kw_fill_exact(problem, seed + (uint64_t)i), [KW_SET_REAL] = kw_fill_real(problem, seed + (uint64_t)i)};
        status = kw_bench_open_fills(bench, backend, device, problem, fills, err);
    }
    return status;
}

double kw_bench_kernel_ns(const kw_bench *bench) {
    return bench->kernel_ns;
}

void kw_bench_close(kw_bench **bench) {
    if (!*bench) {
        return;
    }
    for (int set = 0; set < KW_SET_COUNT; set++) {
        for (int tensor = 0; tensor < KW_TENSOR_COUNT; tensor++) {
            kw_buffer_close(&(*bench)->set[set].tensor[tensor]);
        }
        for (int i = 0; i < KW_EXTRA_MAX; i++) {
            kw_buffer_close(&(*bench)->set[set].extra[i]);
        }
        kw_buffer_close(&(*bench)->set[set].ends);
        kw_expected_drop(&(*bench)->set[set].expected);
        kw_expected_bias_drop(&(*bench)->set[set].bias);
    }
    kw_buffer_close(&(*bench)->result);
    kw_buffer_close(&(*bench)->poison_w);
    kw_rotation_close(&(*bench)->copies);
    free(*bench);
    *bench = NULL;
}

/* --- a config made ready --- */

static kw_status open_workspace(kw_prepared *ready, kw_error *err) {
    kw_bench *bench = ready->bench;
    int64_t units = kw_max(1, bench->backend->target(bench->device)->units);
    struct {
        kw_buffer *buffer;
        const char *name;
        int64_t size;
    } parts[] = {{&ready->packed, "packed weights", ready->launch.packed_bytes},
                 {&ready->shared, "shared workspace", ready->launch.shared_bytes},
                 {&ready->threads, "thread workspace", ready->thread_step * (units - 1) + ready->launch.thread_bytes}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        kw_status status = kw_buffer_open(parts[i].buffer, bench->backend, bench->device, parts[i].name, parts[i].size, err);
        if (status) {
            return status;
        }
    }
    return KW_OK;
}

void kw_prepared_open(kw_prepared *ready, kw_bench *bench, const kw_kernel *kernel, const kw_config *config, int32_t team,
                      kw_record *record) {
    kw_error why = {0};
    const kw_target *target = bench->backend->target(bench->device);
    *ready = (kw_prepared){.bench = bench, .sum_error = config->family->sum_error ? config->family->sum_error(config) : 0};
    if (kw_config_fits(config, &bench->problem, target, &why)) {
        kw_record_fail(record, KW_UNFIT, &why);
        return;
    }
    kw_config_launch(config, &bench->problem, target, &ready->launch);
    for (int stage = 0; stage < ready->launch.stages; stage++) {
        ready->packs |= ready->launch.stage[stage].packs && kw_problem_result(&bench->problem) != KW_W;
    }
    ready->thread_step = kw_workspace_layout_of(&ready->launch, target, false).thread_step + KW_GUARD_BYTES;
    kw_launch apart = ready->launch; /* the backend lays threads' memory out by thread_bytes, so this makes room for the guards */
    apart.thread_bytes = ready->launch.thread_bytes ? ready->thread_step : 0;
    apart.multiply_adds = team == KW_TEAM_ALL ? 0 : ready->launch.multiply_adds; /* config/launch/team.h */
    apart.team = team == KW_TEAM_ALL ? 0 : team;
    kw_status status = open_workspace(ready, &why);
    if (!status) {
        status = bench->backend->bind(bench->device, kernel, &bench->problem, &apart, &ready->bound, &why);
    }
    if (!status && ready->packs && !bench->poison_w.memory) {
        status = kw_buffer_open(&bench->poison_w, bench->backend, bench->device, "w in place of packed weights",
                                tensor_bytes(&bench->problem, KW_W), &why);
        status = status ? status : kw_buffer_poison(&bench->poison_w, 0xff, &why);
    }
    if (status) {
        kw_record_fail(record, KW_UNLAUNCHED, &why);
        kw_prepared_close(ready);
    }
}

void kw_prepared_close(kw_prepared *ready) {
    if (ready->bound) {
        ready->bench->backend->unbind(&ready->bound);
    }
    kw_buffer_close(&ready->packed);
    kw_buffer_close(&ready->shared);
    kw_buffer_close(&ready->threads);
    ready->bound = NULL;
}

kw_launch_memory kw_prepared_memory(const kw_prepared *ready, int set, bool with_w) {
    kw_bench *bench = ready->bench;
    kw_launch_memory memory = {.packed = ready->packed.start, .shared = ready->shared.start, .threads = ready->threads.start};
    for (int tensor = 0; tensor < KW_TENSOR_COUNT; tensor++) {
        memory.tensor[tensor] = bench->set[set].tensor[tensor].start;
    }
    for (int i = 0; i < KW_EXTRA_MAX; i++) {
        memory.extra[i] = bench->set[set].extra[i].start;
    }
    memory.ends = (const int32_t *)(const void *)bench->set[set].ends.start;
    memory.tensor[kw_problem_result(&bench->problem)] = bench->result.start;
    if (!with_w) {
        memory.tensor[KW_W] = bench->poison_w.start;
    }
    return memory;
}

kw_status kw_prepared_run(const kw_prepared *ready, int set, int parts, bool with_w, kw_error *err) {
    kw_launch_memory memory = kw_prepared_memory(ready, set, with_w);
    int64_t start = kw_clock_ns();
    const kw_backend *backend = ready->bench->backend;
    kw_status status = backend->run(ready->bound, &memory, parts, NULL, err);
    if (!status && backend->sync) {
        status = backend->sync(ready->bench->device, err);
    }
    ready->bench->kernel_ns += (double)(kw_clock_ns() - start);
    return status;
}

int64_t kw_prepared_workspace(const kw_prepared *ready, bool packed_apart) {
    return kw_workspace_layout_of(&ready->launch, ready->bench->backend->target(ready->bench->device), packed_apart).bytes;
}
