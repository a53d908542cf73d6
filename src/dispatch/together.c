/* together.c: runs of several plans that have nothing to do with each other, such as products of unequal m, n and k. All are checked before one
 * runs; then the device runs them side by side, KW_TOGETHER_MAX at a time, or queues one behind the other. */
#include "base/math.h"
#include "dispatch/plan.h"

/* Every refusal says which of them it is about. */
static kw_status fail_one(size_t number, kw_status status, kw_error *err) {
    if (err) {
        kw_error one = *err;
        return kw_fail(err, status, "plan %zu: %s", number, one.text);
    }
    return status;
}

static kw_status check_plans(const kw_plan *const plans[], const kw_tensors *const tensors[], size_t count, void *stream, kw_error *err) {
    for (size_t i = 0; i < count; i++) {
        kw_launch_memory memory;
        if (!plans[i] || !tensors[i]) {
            return kw_fail(err, KW_ILLEGAL, "kw_plans_run: %s[%zu] is NULL", plans[i] ? "tensors" : "plans", i);
        }
        if (plans[i]->impl->context != plans[0]->impl->context) {
            return kw_fail(err, KW_ILLEGAL, "kw_plans_run: plans[%zu] is of another context than plans[0]; run them apart", i);
        }
        kw_status status = kw_plan_read_tensors(&memory, plans[i], tensors[i], err);
        if (status) {
            return fail_one(i, status, err);
        }
    }
    const kw_backend *backend = count ? plans[0]->impl->context->backend : NULL;
    if (stream && backend && !backend->sync) {
        return kw_fail(err, KW_ILLEGAL, "kw_plans_run: device %s has no streams; pass NULL", kw_backend_name(backend));
    }
    return KW_OK;
}

static kw_status run_some(const kw_plan *const plans[], const kw_tensors *const tensors[], size_t count, void *stream, kw_error *err) {
    const kw_backend *backend = plans[0]->impl->context->backend;
    kw_backend_call calls[KW_TOGETHER_MAX];
    kw_status status = KW_OK;
    for (size_t i = 0; i < count && !status; i++) {
        calls[i].bound = plans[i]->impl->bound;
        calls[i].parts = plans[i]->packed ? KW_RUN_REST : KW_RUN_ALL;
        status = kw_plan_read_tensors(&calls[i].memory, plans[i], tensors[i], err);
    }
    if (!status && backend->run_together) {
        return backend->run_together(calls, count, err);
    }
    for (size_t i = 0; i < count && !status; i++) {
        status = backend->run(calls[i].bound, &calls[i].memory, calls[i].parts, stream, err);
    }
    return status;
}

kw_status kw_plans_run(const kw_plan *const plans[], const kw_tensors *const tensors[], size_t count, void *stream, kw_error *err) {
    if (count && (!plans || !tensors)) {
        return kw_fail(err, KW_ILLEGAL, "kw_plans_run: %s is NULL", plans ? "tensors" : "plans");
    }
    kw_status status = check_plans(plans, tensors, count, stream, err);
    for (size_t i = 0; i < count && !status; i += KW_TOGETHER_MAX) {
        status = run_some(plans + i, tensors + i, (size_t)kw_min((int64_t)(count - i), KW_TOGETHER_MAX), stream, err);
    }
    if (status || !count || stream || !plans[0]->impl->context->backend->sync) {
        return status;
    }
    return plans[0]->impl->context->backend->sync(plans[0]->impl->context->device, err);
}
