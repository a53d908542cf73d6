/* gpu_peak.c: what a GPU does at most, measured by its own clock: matrix instructions on operands that never change, and copying memory.
 * The kernels are ordinary text of ours (kernels/gpu/peak/peak.c), compiled, cached and loaded like any other. The best of some samples of
 * a few milliseconds counts, after a while of work that brings the clock up: what a device can do for a moment, not what its power budget
 * lets it do for a second. */
#include "base/math.h"
#include "families/gpu/peak/peak.h"
#include "measure/measure.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 24, WARM_SAMPLES = 8, BLOCKS_OF_UNIT = 12 };
static const double sample_ns = 3e6;
static const int64_t copy_most = 512 << 20, copy_least = 16 << 20; /* bytes of one of the two tensors */

typedef struct peak {
    const kw_backend *backend;
    kw_device *device;
    kw_kernel *kernel;
    kw_bound *bound;
    kw_launch_memory memory;
    int64_t blocks;
} peak;

static kw_status load_peak(peak *p, const kw_jit *jit, const kw_config *config, kw_error *err) {
    kw_blob blob = {0};
    kw_jit_result result;
    kw_status status = kw_jit_blob(jit, config, &blob, &result, err);
    status = status ? status : p->backend->load(p->device, config, &blob, &p->kernel, err);
    kw_blob_drop(&blob);
    return status;
}

/* count: turns or pieces, of kw_peak_launch(). */
static kw_status bind_peak(peak *p, int64_t count, kw_error *err) {
    const kw_problem problem = {.op = KW_GEMM, .layout = KW_RCR, .gemm = {.batch = 1, .m = 1, .n = 1, .k = 1}};
    const kw_launch launch = kw_peak_launch(p->blocks, count);
    p->backend->unbind(&p->bound);
    return p->backend->bind(p->device, p->kernel, &problem, &launch, &p->bound, err);
}

static void drop_peak(peak *p) {
    for (int i = 0; i < KW_TENSOR_COUNT; i++) {
        if (p->memory.tensor[i]) {
            p->backend->release(p->device, p->memory.tensor[i]);
        }
    }
    p->backend->unbind(&p->bound);
    p->backend->unload(p->device, &p->kernel);
}

static kw_status time_once(double *ns, const peak *p, kw_error *err) {
    return p->backend->time(p->bound, &p->memory, 1, KW_RUN_ALL, ns, err);
}

static kw_status time_best(double *ns, const peak *p, kw_error *err) {
    kw_status status = KW_OK;
    *ns = 0;
    for (int i = 0; i < WARM_SAMPLES + SAMPLES && !status; i++) {
        double took = 0;
        status = time_once(&took, p, err);
        if (i >= WARM_SAMPLES && took > 0 && (*ns <= 0 || took < *ns)) {
            *ns = took;
        }
    }
    return status || *ns > 0 ? status : kw_fail(err, KW_FAILED, "the device's clock says 0 ns for a kernel of milliseconds");
}

/* As many turns as take a sample's time. */
static kw_status find_turns(int64_t *turns, peak *p, kw_error *err) {
    double ns = 0;
    kw_status status = KW_OK;
    *turns = 256;
    for (int i = 0; i < 8 && ns < sample_ns / 2 && !status; i++) {
        *turns = ns > 0 ? (int64_t)((double)*turns * (double)kw_min(64, (int64_t)(sample_ns / ns) + 1)) : *turns;
        status = bind_peak(p, *turns, err);
        status = status ? status : time_once(&ns, p, err);
    }
    return status;
}

kw_status kw_gpu_peak(double *flops, const kw_backend *backend, kw_device *device, const kw_jit *jit, kw_dtype dtype, kw_error *err) {
    peak p = {.backend = backend, .device = device, .blocks = BLOCKS_OF_UNIT * backend->target(device)->units};
    kw_config config;
    int64_t turns;
    double ns = 0;
    *flops = 0;
    if (!kw_backend_is_gpu_hardware(backend->id) || !kw_peak_math(&config, jit->code.arch, dtype)) {
        return KW_OK;
    }
    kw_status status = load_peak(&p, jit, &config, err);
    status = status ? status
                    : backend->alloc(device, (size_t)p.blocks * (size_t)kw_peak_launch(1, 0).stage[0].threads * sizeof(float),
                                     &p.memory.tensor[KW_Y], err);
    status = status ? status : find_turns(&turns, &p, err);
    status = status ? status : time_best(&ns, &p, err);
    if (!status) {
        *flops = kw_peak_flops(&config, jit->code.arch, turns) * (double)p.blocks / ns * 1e9;
    }
    drop_peak(&p);
    return status;
}

/* Random bytes would do no more than any: memory moves bits of either kind alike. Half as much when the device has no room. */
static kw_status take_memory(peak *p, int64_t *bytes, kw_error *err) {
    kw_status status = KW_NO_MEMORY;
    for (*bytes = copy_most; status == KW_NO_MEMORY && *bytes >= copy_least; *bytes /= 2) {
        status = p->backend->alloc(p->device, (size_t)*bytes, &p->memory.tensor[KW_X], err);
        status = status ? status : p->backend->alloc(p->device, (size_t)*bytes, &p->memory.tensor[KW_Y], err);
        if (!status) {
            return KW_OK;
        }
        p->backend->release(p->device, p->memory.tensor[KW_X]);
        p->memory.tensor[KW_X] = NULL;
    }
    return status;
}

kw_status kw_gpu_bandwidth(double *bytes_per_s, const kw_backend *backend, kw_device *device, const kw_jit *jit, kw_error *err) {
    peak p = {.backend = backend, .device = device, .blocks = BLOCKS_OF_UNIT * backend->target(device)->units};
    kw_config config;
    int64_t bytes = 0;
    double ns = 0;
    *bytes_per_s = 0;
    if (!kw_backend_is_gpu_hardware(backend->id)) {
        return KW_OK;
    }
    kw_peak_copy(&config);
    kw_status status = load_peak(&p, jit, &config, err);
    status = status ? status : take_memory(&p, &bytes, err);
    status = status ? status : bind_peak(&p, bytes / 16, err);
    status = status ? status : time_best(&ns, &p, err);
    if (!status) {
        *bytes_per_s = 2 * (double)bytes / ns * 1e9;
    }
    drop_peak(&p);
    return status;
}
