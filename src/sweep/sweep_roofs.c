/* sweep_roofs.c: roofs of a GPU are measured in a process of their own, like kernels, so that a sweep opens no device. That process is the
 * worker program with the hidden verb "roofs": DEVICE CACHE COMPILER TYPE ... ("" for no cache, and for the usual compiler). It prints one
 * line, "roofs TYPE=RATE ... memory=RATE" in FLOP/s and bytes a second, whole numbers. */
#include "sweep/sweep_roofs.h"

#include "base/os/process.h"
#include "measure/measure.h"

#include <kernelwright_tune.h>

#include <stdio.h>
#include <string.h>

static const int64_t limit_ns = 60000000000;
static const char head[] = "roofs ";

/* The line that begins with head, without it; "" where there is none. */
static void copy_rates_line(char *text, size_t capacity, const char *output) {
    kw_scan scan = kw_scan_string(output);
    kw_word line;
    *text = 0;
    while (kw_scan_line(&scan, &line)) {
        if (kw_word_starts(line, head) && line.size - strlen(head) < capacity) {
            snprintf(text, capacity, "%.*s", (int)(line.size - strlen(head)), line.at + strlen(head));
        }
    }
}

void kw_sweep_roofs(char *text, size_t capacity, const kw_sweep_plan *plan, const kw_sweep_toolchain *toolchain,
                    const kw_worker_client_options *device_worker) {
    const char *argv[6 + KW_DTYPE_COUNT] = {device_worker->program, "roofs", device_worker->device,
                                            toolchain->cache_folder ? toolchain->cache_folder : "",
                                            toolchain->has_compiler ? toolchain->compiler.path : ""};
    bool wanted[KW_DTYPE_COUNT] = {false};
    kw_text output = {0};
    kw_process_result result = {0};
    kw_error why = {0};
    for (size_t i = 0; i < plan->task_count; i++) {
        wanted[plan->tasks[i].problem->dtype] |= plan->tasks[i].fit > 0;
    }
    for (int dtype = 0, count = 5; dtype < KW_DTYPE_COUNT; dtype++) {
        if (wanted[dtype]) {
            argv[count++] = kw_dtype_name((kw_dtype)dtype);
        }
    }
    kw_status status = kw_process_run_until(argv, limit_ns, device_worker->stop, &output, &result, &why);
    copy_rates_line(text, capacity, kw_text_string(&output));
    if (!*text && device_worker->log) {
        kw_text line = {0};
        kw_text_addf(&line, "no measured roofs: %.200s", status ? why.text : kw_text_string(&output));
        device_worker->log(device_worker->user, kw_text_string(&line));
        kw_text_drop(&line);
    }
    kw_text_drop(&output);
}

/* --- the process -------------------------------------------------------------------------------------------------- */

typedef struct roofs {
    const kw_backend *backend;
    kw_device *device;
    kw_compiler compiler;
    kw_jit jit;
} roofs;

static kw_status open_roofs(roofs *r, char *const *arguments, kw_error *err) {
    char note[256];
    int index = 0;
    kw_status status = kw_backend_find(&r->backend, &index, arguments[0], err);
    status = status ? status : r->backend->open(&r->device, index, 1, err);
    if (!status) {
        const kw_target *target = r->backend->target(r->device);
        status = kw_code_for(&r->jit.code, target->backend, target->arch, err);
    }
    status = status ? status : kw_cache_open(&r->jit.cache, arguments[1], note, err);
    status = status ? status : kw_compiler_find(&r->compiler, *arguments[2] ? arguments[2] : NULL, r->jit.code, err);
    r->jit.compiler = &r->compiler;
    return status;
}

static kw_status add_rates(kw_text *line, const roofs *r, int count, char *const *types, kw_error *err) {
    double rate = 0;
    kw_status status = KW_OK;
    for (int i = 0; i < count && !status; i++) {
        kw_dtype dtype;
        status = kw_dtype_find(&dtype, types[i]) ? kw_gpu_peak(&rate, r->backend, r->device, &r->jit, dtype, err)
                                                 : kw_fail(err, KW_MISSING, "type %.40s is not known", types[i]);
        if (!status && rate > 0) {
            kw_text_addf(line, "%s=%.0f ", types[i], rate);
        }
    }
    status = status ? status : kw_gpu_bandwidth(&rate, r->backend, r->device, &r->jit, err);
    if (!status && rate > 0) {
        kw_text_addf(line, "memory=%.0f", rate);
    }
    return status;
}

int kw_roofs_main(int count, char *const *arguments) {
    roofs r = {.backend = NULL};
    kw_text line = {0};
    kw_error err = {0};
    kw_status status = count < 3 ? kw_fail(&err, KW_ILLEGAL, "usage: roofs DEVICE CACHE COMPILER TYPE ...") : KW_OK;
    status = status ? status : open_roofs(&r, arguments, &err);
    status = status ? status : add_rates(&line, &r, count - 3, arguments + 3, &err);
    if (!status && !line.failed) {
        printf("%s%s\n", head, kw_text_string(&line));
    } else {
        printf("%s\n", err.text);
    }
    kw_text_drop(&line);
    kw_cache_close(&r.jit.cache);
    if (r.device) {
        r.backend->close(&r.device);
    }
    return status ? 1 : 0;
}
