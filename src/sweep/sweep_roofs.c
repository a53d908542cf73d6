/* sweep_roofs.c: roofs of a GPU are measured in a process of their own (worker/worker_roofs.c), like kernels, so that a sweep opens no
 * device. */
#include "sweep/sweep_roofs.h"

#include "base/os/process/process.h"

#include <kernelwright_tune.h>

#include <stdio.h>
#include <string.h>

static const int64_t limit_ns = 60000000000;

/* The line that begins with KW_ROOFS_HEAD, without it; "" where there is none. */
static void copy_rates_line(char *text, size_t capacity, const char *output) {
    kw_scan scan = kw_scan_string(output);
    kw_word line;
    *text = 0;
    while (kw_scan_line(&scan, &line)) {
        if (kw_word_starts(line, KW_ROOFS_HEAD) && line.size - strlen(KW_ROOFS_HEAD) < capacity) {
            snprintf(text, capacity, "%.*s", (int)(line.size - strlen(KW_ROOFS_HEAD)), line.at + strlen(KW_ROOFS_HEAD));
        }
    }
}

void kw_sweep_roofs(char *text, size_t capacity, const kw_sweep_plan *plan, const kw_sweep_toolchain *toolchain,
                    const kw_worker_client_options *device_worker) {
    const char *argv[6 + KW_DTYPE_COUNT] = {device_worker->program, "roofs", device_worker->device,
                                            toolchain->cache_folder ? toolchain->cache_folder : "", toolchain->handle.compiler.path};
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
    kw_status status =
        kw_process_run_job(&(kw_process_job){.argv = argv, .limit_ns = limit_ns, .stop = device_worker->stop}, &output, &result, &why);
    copy_rates_line(text, capacity, kw_text_string(&output));
    if (!*text && device_worker->log) {
        kw_text line = {0};
        kw_text_addf(&line, "no measured roofs: %.200s", status ? why.text : kw_text_string(&output));
        device_worker->log(device_worker->user, kw_text_string(&line));
        kw_text_drop(&line);
    }
    kw_text_drop(&output);
}
