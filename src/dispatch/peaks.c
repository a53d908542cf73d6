/* peaks.c: that nothing else is measured meanwhile; what the context's device does at most, measured once a context, and what its cores get done,
 * measured once a machine. */
#include "dispatch/context.h"
#include "measure/measure.h"
#include "measure/rates/rates.h"

#include "base/os/lease.h"

static const int64_t lease_wait_ns = 600 * INT64_C(1000000000);

void kw_context_measuring_begin(kw_context *context) {
    pthread_mutex_lock(&context->measuring);
    bool shared = kw_target_is_gpu(context->target) && !kw_backends[context->target->backend].emulated;
    context->lease = shared ? kw_lease_take(&context->settings, kw_context_about(context), lease_wait_ns) : -1;
}

void kw_context_measuring_end(kw_context *context) {
    kw_lease_give(context->lease);
    pthread_mutex_unlock(&context->measuring);
}

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
        *known = memory ? kw_cpu_bandwidth() : kw_cpu_peak(context->target->arch, dtype, (int)context->target->units);
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

void kw_context_learn_rates(kw_context *context) {
    if (atomic_load(&context->rates_known)) {
        return;
    }
    kw_context_measuring_begin(context);
    if (!atomic_load(&context->rates_known)) {
        context->learned = context->facts;
        kw_rates_learn(&context->learned, &context->settings);
        atomic_store(&context->target, &context->learned);
        atomic_store(&context->rates_known, true);
    }
    kw_context_measuring_end(context);
}

kw_status kw_context_rates(char *text, size_t capacity, kw_context *context, kw_error *err) {
    if (!text || !capacity || !context) {
        return kw_fail(err, KW_ILLEGAL, "kw_context_rates: %s", context ? "there is no room for the text" : "context is NULL");
    }
    *text = 0;
    kw_status status = kw_context_check(context, err);
    if (!status && !kw_target_is_gpu(context->target)) {
        kw_target target = *context->target; /* the context's own stays: other threads read it */
        kw_context_measuring_begin(context);
        kw_rates_renew(&target, &context->settings);
        kw_context_measuring_end(context);
        kw_rates_print(text, capacity, &target.rates);
    }
    return status;
}
