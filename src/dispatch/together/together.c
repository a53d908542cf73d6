/* together.c: runs of several plans that have nothing to do with each other, such as products of unequal m, n and k. All are checked before one
 * runs; then the device runs them side by side, KW_TOGETHER_MAX at a time, or queues one behind the other, those that join (together/join.c) in one
 * launch. */
#include "base/math.h"
#include "dispatch/plan.h"
#include "dispatch/together/apart.h"
#include "problem/tensors/runs.h"

#include <stdatomic.h>
#include <stdlib.h>

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

/* What a plan writes: its result, the gradient of its bias, its workspace. */
enum { WRITES_RESULT, WRITES_BIAS, WRITES_WORKSPACE, WRITES_COUNT };
static const char *const written_names[WRITES_COUNT] = {"result", "bias gradient", "workspace"};

static size_t add_written(kw_piece pieces[WRITES_COUNT], const kw_plan *plan, const kw_tensors *tensors, size_t number) {
    const kw_problem *problem = &plan->impl->key.problem;
    kw_tensor result = kw_problem_result(problem);
    kw_runs runs = kw_problem_runs(problem, result);
    int64_t bytes = (int64_t)kw_dtype_size(kw_problem_dtype(problem, result)), workspace = kw_plan_workspace(plan);
    const void *at = result == KW_X ? tensors->x : result == KW_W ? tensors->w : tensors->y;
    size_t count = 0;
    pieces[count++] = (kw_piece){(uintptr_t)at, runs.length * bytes, runs.step * bytes, runs.count, (int32_t)number, WRITES_RESULT};
    if (kw_epilogue_bias_gradient(&problem->epilogue)) {
        kw_extra extras[KW_EXTRA_MAX];
        kw_problem_extras(extras, problem);
        int64_t all = extras[0].elements * (int64_t)kw_dtype_size(extras[0].dtype);
        pieces[count++] = (kw_piece){(uintptr_t)tensors->extra[0], all, all, 1, (int32_t)number, WRITES_BIAS};
    }
    if (workspace) {
        pieces[count++] = (kw_piece){(uintptr_t)tensors->workspace, workspace, workspace, 1, (int32_t)number, WRITES_WORKSPACE};
    }
    return count;
}

/* Rule results_apart. What plans read is not looked at. */
static kw_status check_apart(const kw_plan *const plans[], const kw_tensors *const tensors[], size_t count, kw_error *err) {
    kw_piece few[WRITES_COUNT * KW_TOGETHER_MAX], pair[2], *pieces = few;
    size_t written = 0;
    bool meet = false;
    if (count > KW_TOGETHER_MAX) {
        pieces = count > INT32_MAX ? NULL : malloc(count * WRITES_COUNT * sizeof *pieces);
        if (!pieces) {
            return kw_fail_memory(err, "what the plans write");
        }
    }
    for (size_t i = 0; i < count; i++) {
        written += add_written(pieces + written, plans[i], tensors[i], i);
    }
    kw_status status = kw_pieces_meet(&meet, pair, pieces, written, err);
    if (!status && meet) {
        int a = pair[0].owner > pair[1].owner; /* the one with the lower number is named first */
        status =
            kw_fail(err, KW_ILLEGAL,
                    "kw_plans_run: rule results_apart: the %s of plan %d and the %s of plan %d overlap; what a plan writes must be its own",
                    written_names[pair[a].what], pair[a].owner, written_names[pair[!a].what], pair[!a].owner);
    }
    if (pieces != few) {
        free(pieces);
    }
    return status;
}

/* What a plan that joins others runs by: NULL where it does not, or has its weights packed beforehand, which no joint kernel reads. */
static const kw_joint *joint_of(const kw_plan *plan) {
    return plan->packed ? NULL : atomic_load_explicit(&plan->impl->joint, memory_order_acquire);
}

/* Those behind number `first` that join it leave together with it, as many as one launch takes; one alone runs as ever. done says which have left. */
static kw_status run_joined(const kw_plan *const plans[], const kw_backend_call calls[], size_t count, size_t first,
                            bool done[KW_TOGETHER_MAX], void *stream, kw_error *err) {
    const kw_backend *backend = plans[0]->impl->context->backend;
    const kw_joint *joint = backend->run_joined ? joint_of(plans[first]) : NULL;
    kw_backend_call joined[KW_BACKEND_JOINED_MAX];
    size_t taken = 0;
    for (size_t i = first; i < count && joint && taken < KW_BACKEND_JOINED_MAX; i++) {
        const kw_joint *other = done[i] ? NULL : joint_of(plans[i]);
        if (other && other->loaded == joint->loaded) {
            joined[taken] = calls[i];
            joined[taken++].bound = other->bound;
            done[i] = true;
        }
    }
    done[first] = true;
    return taken > 1 ? backend->run_joined(joined, taken, stream, err)
                     : backend->run(calls[first].bound, &calls[first].memory, calls[first].parts, stream, err);
}

static kw_status run_some(const kw_plan *const plans[], const kw_tensors *const tensors[], size_t count, void *stream, kw_error *err) {
    const kw_backend *backend = plans[0]->impl->context->backend;
    kw_backend_call calls[KW_TOGETHER_MAX];
    bool done[KW_TOGETHER_MAX] = {false};
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
        status = done[i] ? KW_OK : run_joined(plans, calls, count, i, done, stream, err);
    }
    return status;
}

kw_status kw_plans_run(const kw_plan *const plans[], const kw_tensors *const tensors[], size_t count, void *stream, kw_error *err) {
    if (count && (!plans || !tensors)) {
        return kw_fail(err, KW_ILLEGAL, "kw_plans_run: %s is NULL", plans ? "tensors" : "plans");
    }
    kw_status status = check_plans(plans, tensors, count, stream, err);
    status = status || count < 2 ? status : check_apart(plans, tensors, count, err);
    for (size_t i = 0; i < count && !status; i += KW_TOGETHER_MAX) {
        status = run_some(plans + i, tensors + i, (size_t)kw_min((int64_t)(count - i), KW_TOGETHER_MAX), stream, err);
    }
    if (status || !count || stream || !plans[0]->impl->context->backend->sync) {
        return status;
    }
    return plans[0]->impl->context->backend->sync(plans[0]->impl->context->device, err);
}
