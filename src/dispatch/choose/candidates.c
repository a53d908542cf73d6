/* candidates.c: fits, then the estimate, then the model, then the workspace limit, then the order. Each kernel's launch is worked out once
 * and goes along. Kernels made for the problem stand behind those of the registry. */
#include "dispatch/choose/candidates.h"

#include "dispatch/tailored/tailored.h"
#include "predict/estimate.h"
#include "problem/wants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- gathering ---------------------------------------------------------------------------------------------------------- */

/* The registry's generated kernels of the problem's operation and type, in its order, as the selector is asked about them. */
typedef struct served_kernels {
    kw_arena *arena; /* everything below lies there, but for the launches */
    const kw_pool *pool;
    kw_config *specials; /* of a problem that is not plain or has its channels first; NULL: configs point into the catalog */
    const kw_config **configs;
    size_t *fits;              /* those that fit, in order */
    const kw_launch **fitting; /* NULL: it does not fit */
    kw_estimate *estimates;
    double *expected;
    size_t listed, count; /* of the registry; with those that are made */
} served_kernels;

static kw_status list_served_kernels(served_kernels *l, const kw_request *request, kw_error *err) {
    kw_status status = kw_registry_pool(&l->pool, request->registry, request->problem.op, request->problem.dtype, err);
    if (status) {
        return status;
    }
    bool plain = kw_problem_is_plain(&request->problem);
    l->listed = l->count = l->pool->count;
    size_t most = l->listed + KW_TAILORED_KEPT + 1;
    l->configs = kw_arena_array(l->arena, most, sizeof *l->configs);
    l->fits = kw_arena_array(l->arena, most, sizeof *l->fits);
    l->fitting = kw_arena_array(l->arena, most, sizeof *l->fitting);
    l->estimates = kw_arena_array(l->arena, most, sizeof *l->estimates);
    l->expected = kw_arena_array(l->arena, most, sizeof *l->expected);
    l->specials = plain ? NULL : kw_arena_array(l->arena, most, sizeof *l->specials);
    if (!l->configs || !l->fits || !l->fitting || !l->estimates || !l->expected || (!plain && !l->specials)) {
        return kw_fail_memory(err, "a list of candidates");
    }
    memcpy(l->configs, l->pool->configs, l->listed * sizeof *l->configs);
    return KW_OK;
}

/* Of a family that takes the problem. */
static bool kernel_fits(served_kernels *l, size_t i, const kw_request *request) {
    const kw_target *target = request->context->target;
    if (l->specials) { /* wide padding alone has one family's kernels made anew */
        l->specials[i] = kw_config_special(l->configs[i], &request->problem);
    }
    if (l->specials && !(l->pool->plain[i] && kw_config_is_plain(&l->specials[i]))) {
        bool serves = !kw_config_serves(&l->specials[i], l->configs[i], &request->problem, target, NULL);
        l->configs[i] = serves ? &l->specials[i] : l->configs[i];
        return serves;
    }
    return l->pool->plain[i] ? kw_pool_serves(l->pool, i, &request->problem)
                             : !kw_config_fits(l->configs[i], &request->problem, target, NULL);
}

static size_t list_fitting_kernels(served_kernels *l, const kw_request *request) {
    const kw_family *family = NULL;
    size_t count = 0;
    bool takes = false;
    for (size_t i = 0; i < l->listed; i++) {
        if (l->configs[i]->family != family) {
            family = l->configs[i]->family;
            takes = kw_family_takes(family, &request->problem, request->context->target);
        }
        if (takes && kernel_fits(l, i, request)) {
            l->fits[count++] = i;
        }
    }
    return count;
}

/* A launch is large, and most kernels do not fit: only those that do have one. Their memory is not cleared: each is written whole. */
static kw_status estimate_served_kernels(kw_candidates *candidates, served_kernels *l, const kw_request *request, kw_error *err) {
    const kw_target *target = request->context->target;
    double bytes = (double)kw_problem_bytes(&request->problem);
    size_t count = list_fitting_kernels(l, request);
    candidates->launches = malloc((count + 1) * sizeof *candidates->launches);
    if (!candidates->launches) {
        return kw_fail_memory(err, "a list of candidates");
    }
    for (size_t j = 0; j < count; j++) {
        size_t i = l->fits[j];
        kw_launch *launch = &candidates->launches[j];
        kw_config_launch(l->configs[i], &request->problem, target, launch);
        if (!kw_target_is_gpu(target) || kw_launch_is_counted(launch)) {
            l->fitting[i] = launch;
            l->estimates[i] = kw_estimate_of(l->configs[i], &request->problem, bytes, target, launch);
        }
    }
    return KW_OK;
}

static kw_status add_tailored_kernels(served_kernels *l, const kw_request *request, kw_error *err) {
    kw_tailored *made = NULL;
    size_t count = 0;
    kw_status status = kw_tailored_make(&made, &count, l->arena, request, err);
    for (size_t i = 0; i < count; i++, l->count++) {
        l->configs[l->count] = &made[i].config;
        l->fitting[l->count] = &made[i].launch;
        l->estimates[l->count] = made[i].estimate;
    }
    return status;
}

/* A model has seen each listed kernel on many problems, one made for a problem on few: the best of some such times is more often too good. On 95 problems of an
 * H200 drawn after this was picked, what a model chooses unmeasured takes 1.050 of the best kernel's time with it, 1.075 without; 3 to 10 % do as well
 * (docs/results/2026-11-28/nvidia-columns.md). */
static const double doubt = 1.05;

_Static_assert((int)KW_TAILORED_KEPT <= (int)KW_SELECTOR_TAILORED, "the selector has places for all that are made for a problem");

static void ask_model(kw_candidates *candidates, served_kernels *l, const kw_request *request) {
    kw_selector_query query = {
        .registry = request->registry->serial,
        .problem = &request->problem,
        .target = request->context->target,
        .configs = l->configs,
        .launches = l->fitting,
        .estimates = l->estimates,
        .listed = l->listed,
        .count = l->count,
    };
    if (!kw_model_selector_predict(request->context->selector, &query, l->expected, &candidates->prediction)) {
        for (size_t i = 0; i < l->count; i++) {
            l->expected[i] = l->estimates[i].ns;
        }
        return;
    }
    for (size_t i = l->listed; i < l->count; i++) {
        l->expected[i] *= doubt; /* without a time they are measured where the estimate says so, else not chosen */
    }
}

kw_status kw_candidates_gather(kw_candidates *candidates, const kw_request *request, kw_error *err) {
    *candidates = (kw_candidates){0};
    served_kernels l = {.arena = &candidates->arena};
    kw_status status = list_served_kernels(&l, request, err);
    status = status ? status : estimate_served_kernels(candidates, &l, request, err);
    status = status ? status : add_tailored_kernels(&l, request, err);
    if (!status) {
        candidates->list = kw_arena_array(l.arena, l.count + 1, sizeof *candidates->list);
        status = candidates->list ? KW_OK : kw_fail_memory(err, "a list of candidates");
    }
    if (!status) {
        ask_model(candidates, &l, request);
        status = candidates->prediction.notes.failed ? kw_fail_memory(err, "what a model says") : KW_OK;
    }
    for (size_t i = 0; i < l.count && !status; i++) {
        int64_t workspace = l.fitting[i] ? kw_request_workspace(request, l.fitting[i]) : 0;
        if (l.fitting[i] && workspace > request->workspace_max) {
            candidates->over_limit++;
        } else if (l.fitting[i]) {
            candidates->list[candidates->count++] = (kw_candidate){
                .config = l.configs[i],
                .expected_ns = l.expected[i],
                .estimate_ns = l.estimates[i].ns,
                .launch = l.fitting[i],
                .workspace = workspace,
                .tailored = i >= l.listed,
            };
        }
    }
    if (!status) {
        kw_candidates_sort(candidates->list, candidates->count);
    }
    return status;
}

void kw_candidates_drop(kw_candidates *candidates) {
    kw_arena_drop(&candidates->arena);
    free(candidates->launches);
    kw_text_drop(&candidates->prediction.notes);
    *candidates = (kw_candidates){0};
}
