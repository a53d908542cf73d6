/* peaks.c: what the context's device does at most. Measured once a context, and never while something else is measured. */
#include "dispatch/context.h"
#include "measure/measure.h"

static double measure_gpu(kw_context *context, bool memory, kw_dtype dtype) {
    const kw_jit jit = kw_build_tools_jit(context->build_tools, true);
    kw_error why = {0};
    double rate = 0;
    kw_status status = memory ? kw_gpu_bandwidth(&rate, context->backend, context->device, &jit, &why)
                              : kw_gpu_peak(&rate, context->backend, context->device, &jit, dtype, &why);
    if (status) {
        kw_log_line(&context->settings, "no measured peak: %s", why.text);
    }
    return status ? 0 : rate;
}

/* dtype means nothing for memory. */
static double take_roof(kw_context *context, double *known, bool memory, kw_dtype dtype) {
    kw_context_measuring_begin(context);
    if (*known <= 0 && kw_target_is_gpu(context->target)) {
        *known = measure_gpu(context, memory, dtype);
    } else if (*known <= 0) {
        *known = memory ? kw_cpu_bandwidth() : kw_cpu_peak(dtype, (int)context->target->units);
    }
    double roof = *known;
    kw_context_measuring_end(context);
    return roof;
}

double kw_context_peak(kw_context *context, kw_dtype dtype) {
    return context && !kw_context_lost(context) && dtype >= 0 && dtype < KW_DTYPE_COUNT
               ? take_roof(context, &context->peak[dtype], false, dtype)
               : 0;
}

double kw_context_bandwidth(kw_context *context) {
    return context && !kw_context_lost(context) ? take_roof(context, &context->bandwidth, true, KW_FP32) : 0;
}
