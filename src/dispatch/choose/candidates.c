/* candidates.c: fits, then the estimate, then the model, then the workspace limit, then the order. Each kernel's launch is worked out once
 * and goes along. */
#include "dispatch/choose/candidates.h"

#include "predict/predict.h"
#include "problem/wants.h"

#include <string.h>

/* --- gathering ---------------------------------------------------------------------------------------------------------- */

/* The registry's generated kernels of the problem's operation and type, in its order, as the selector is asked about them. */
typedef struct served_kernels {
    kw_arena *arena;     /* everything below lies there */
    kw_config *specials; /* of a problem that is not plain or has its channels first; NULL: configs point into the catalog */
    const kw_config **configs;
    const kw_launch **fitting; /* NULL: it does not fit */
    double *estimates, *expected;
    size_t count;
} served_kernels;

static bool serves_request(const kw_request *request, const kw_config *config) {
    return config->op == request->problem.op && config->dtype == request->problem.dtype && config->family->emit;
}

static kw_status list_served_kernels(served_kernels *l, const kw_request *request, kw_error *err) {
    const kw_catalog *catalog = &request->registry->catalog;
    const kw_config **configs = kw_arena_array(l->arena, catalog->count + 1, sizeof *configs);
    for (size_t i = 0; i < catalog->count && configs; i++) {
        if (serves_request(request, &catalog->configs[i])) {
            configs[l->count++] = &catalog->configs[i];
        }
    }
    bool plain = kw_problem_is_plain(&request->problem);
    l->configs = configs;
    l->fitting = kw_arena_array(l->arena, l->count, sizeof *l->fitting);
    l->estimates = kw_arena_array(l->arena, l->count, sizeof *l->estimates);
    l->expected = kw_arena_array(l->arena, l->count, sizeof *l->expected);
    l->specials = plain ? NULL : kw_arena_array(l->arena, l->count, sizeof *l->specials);
    if (!configs || !l->fitting || !l->estimates || !l->expected || (!plain && !l->specials)) {
        return kw_fail_memory(err, "a list of candidates");
    }
    for (size_t i = 0; i < l->count && !plain; i++) {
        l->specials[i] = *configs[i];
        configs[i] = &l->specials[i];
    }
    return KW_OK;
}

static bool kernel_fits(const served_kernels *l, size_t i, const kw_request *request) {
    const kw_target *target = request->context->target;
    const kw_config *config = l->configs[i];
    if (l->specials) {
        return !kw_config_serves(&l->specials[i], config, &request->problem, target, NULL);
    }
    return !(kw_config_is_plain(config) ? kw_config_fits_plain(config, &request->problem, target, NULL)
                                        : kw_config_fits(config, &request->problem, target, NULL));
}

/* A launch is large, and most kernels do not fit: only those that do have one. */
static kw_status estimate_served_kernels(served_kernels *l, const kw_request *request, kw_error *err) {
    const kw_target *target = request->context->target;
    for (size_t i = 0; i < l->count; i++) {
        if (!kernel_fits(l, i, request)) {
            continue;
        }
        kw_launch *launch = kw_arena_alloc(l->arena, sizeof *launch);
        if (!launch) {
            return kw_fail_memory(err, "a list of candidates");
        }
        kw_config_launch(l->configs[i], &request->problem, target, launch);
        l->fitting[i] = launch;
        l->estimates[i] = kw_predict_ns(l->configs[i], &request->problem, target, launch);
    }
    return KW_OK;
}

static void ask_model(kw_candidates *candidates, served_kernels *l, const kw_request *request) {
    kw_selector_query query = {
        .registry = request->registry->serial,
        .problem = &request->problem,
        .configs = l->configs,
        .launches = l->fitting,
        .estimates = l->estimates,
        .count = l->count,
    };
    if (!kw_model_selector_predict(request->context->selector, &query, l->expected, &candidates->prediction)) {
        memcpy(l->expected, l->estimates, l->count * sizeof *l->expected);
    }
}

kw_status kw_candidates_gather(kw_candidates *candidates, const kw_request *request, kw_error *err) {
    *candidates = (kw_candidates){0};
    served_kernels l = {.arena = &candidates->arena};
    kw_status status = list_served_kernels(&l, request, err);
    status = status ? status : estimate_served_kernels(&l, request, err);
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
                .estimate_ns = l.estimates[i],
                .launch = l.fitting[i],
                .workspace = workspace,
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
    kw_text_drop(&candidates->prediction.notes);
    *candidates = (kw_candidates){0};
}
