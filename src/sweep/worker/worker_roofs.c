/* worker_roofs.c: the process that measures what a GPU does at most: the worker program with the hidden verb "roofs" and DEVICE CACHE
 * COMPILER TYPE ... ("" for no cache, and for the usual compiler). It prints one line, "roofs TYPE=RATE ... memory=RATE" in FLOP/s and
 * bytes a second, whole numbers, or why there is none. */
#include "jit/open.h"
#include "measure/measure.h"
#include "sweep/sweep_roofs.h"

#include <kernelwright_tune.h>

#include <stdio.h>
#include <string.h>

typedef struct roofs {
    const kw_backend *backend;
    kw_device *device;
    kw_jit_handle jit;
} roofs;

static kw_status open_roofs(roofs *r, char *const *arguments, kw_error *err) {
    kw_code code;
    int index = 0;
    kw_status status = kw_backend_find(&r->backend, &index, arguments[0], err);
    status = status ? status : r->backend->open(&r->device, index, 1, err);
    if (!status) {
        const kw_target *target = r->backend->target(r->device);
        status = kw_code_for(&code, target->backend, target->arch, err);
    }
    if (!status) {
        kw_jit_open(&r->jit, code, &(kw_jit_settings){.compiler = *arguments[2] ? arguments[2] : NULL, .cache = arguments[1]});
        status = r->jit.jit.compiler ? KW_OK : kw_fail(err, KW_ENVIRONMENT, "%s", r->jit.compiler_note);
    }
    return status;
}

static kw_status add_rates(kw_text *line, const roofs *r, int count, char *const *types, kw_error *err) {
    double rate = 0;
    kw_status status = KW_OK;
    for (int i = 0; i < count && !status; i++) {
        kw_dtype dtype;
        status = kw_dtype_find(&dtype, types[i]) ? kw_gpu_peak(&rate, r->backend, r->device, &r->jit.jit, dtype, err)
                                                 : kw_fail(err, KW_MISSING, "type %.40s is not known", types[i]);
        if (!status && rate > 0) {
            kw_text_addf(line, "%s=%.0f ", types[i], rate);
        }
    }
    status = status ? status : kw_gpu_bandwidth(&rate, r->backend, r->device, &r->jit.jit, err);
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
        printf("%s%s\n", KW_ROOFS_HEAD, kw_text_string(&line));
    } else {
        printf("%s\n", err.text);
    }
    kw_text_drop(&line);
    kw_jit_close(&r.jit);
    if (r.device) {
        r.backend->close(&r.device);
    }
    return status ? 1 : 0;
}
