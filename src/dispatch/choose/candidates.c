/* candidates.c: fits, then the estimate, then the model, then the workspace limit, then the order. Each kernel's launch is worked out once
 * and goes along. Kernels made for the problem stand behind those of the registry. */
#include "dispatch/choose/candidates.h"

#include "dispatch/tailored/tailored.h"
#include "predict/predict.h"
#include "problem/wants.h"

#include <math.h>
#include <string.h>

/* --- gathering ---------------------------------------------------------------------------------------------------------- */

/* The registry's generated kernels of the problem's operation and type, in its order, as the selector is asked about them. */
typedef struct served_kernels {
    kw_arena *arena;     /* everything below lies there */
    kw_config *specials; /* of a problem that is not plain or has its channels first; NULL: configs point into the catalog */
    const kw_config **configs;
    const kw_launch **fitting; /* NULL: it does not fit */
    double *estimates, *expected;
    size_t listed, count; /* of the registry; with those that are made */
} served_kernels;

static bool serves_request(const kw_request *request, const kw_config *config) {
    return config->op == request->problem.op && config->dtype == request->problem.dtype && config->family->emit;
}

static kw_status list_served_kernels(served_kernels *l, const kw_request *request, kw_error *err) {
    const kw_catalog *catalog = &request->registry->catalog;
    const kw_config **configs = kw_arena_array(l->arena, catalog->count + KW_TAILORED_KEPT + 1, sizeof *configs);
    for (size_t i = 0; i < catalog->count && configs; i++) {
        if (serves_request(request, &catalog->configs[i])) {
            configs[l->listed++] = &catalog->configs[i];
        }
    }
    bool plain = kw_problem_is_plain(&request->problem);
    size_t most = l->listed + KW_TAILORED_KEPT;
    l->configs = configs;
    l->count = l->listed;
    l->fitting = kw_arena_array(l->arena, most, sizeof *l->fitting);
    l->estimates = kw_arena_array(l->arena, most, sizeof *l->estimates);
    l->expected = kw_arena_array(l->arena, most, sizeof *l->expected);
    l->specials = plain ? NULL : kw_arena_array(l->arena, l->listed, sizeof *l->specials);
    if (!configs || !l->fitting || !l->estimates || !l->expected || (!plain && !l->specials)) {
        return kw_fail_memory(err, "a list of candidates");
    }
    for (size_t i = 0; i < l->listed && !plain; i++) {
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
    for (size_t i = 0; i < l->listed; i++) {
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

static kw_status add_tailored_kernels(served_kernels *l, const kw_request *request, kw_error *err) {
    kw_tailored *made = NULL;
    size_t count = 0;
    kw_status status = kw_tailored_make(&made, &count, l->arena, request, err);
    for (size_t i = 0; i < count; i++, l->count++) {
        l->configs[l->count] = &made[i].config;
        l->fitting[l->count] = &made[i].launch;
        l->estimates[l->count] = made[i].estimate_ns;
    }
    return status;
}

/* A model has seen each listed kernel on many problems, one made for a problem on few: the best of some such times is more often too good. On 95 problems of an
 * H200 drawn after this was picked, what a model chooses unmeasured takes 1.050 of the best kernel's time with it, 1.075 without; 3 to 10 % do as well
 * (docs/results/2026-11-28/nvidia-columns.md). */
static const double doubt = 1.05;

/* In one query the registry's kernels, which the selector keeps ready, and in another those that are of this problem alone. */
static void ask_model(kw_candidates *candidates, served_kernels *l, const kw_request *request) {
    kw_selector_query query = {
        .registry = request->registry->serial,
        .problem = &request->problem,
        .configs = l->configs,
        .launches = l->fitting,
        .estimates = l->estimates,
        .count = l->listed,
    };
    if (!kw_model_selector_predict(request->context->selector, &query, l->expected, &candidates->prediction)) {
        memcpy(l->expected, l->estimates, l->count * sizeof *l->expected);
        return;
    }
    query.passing = true;
    query.configs += l->listed;
    query.launches += l->listed;
    query.estimates += l->listed;
    query.count = l->count - l->listed;
    kw_selector_prediction same;
    bool answered = kw_model_selector_predict(request->context->selector, &query, l->expected + l->listed, &same);
    for (size_t i = l->listed; i < l->count; i++) {
        l->expected[i] = answered ? doubt * l->expected[i] : INFINITY; /* measured where the estimate says so, else not chosen */
    }
    kw_text_drop(&same.notes);
}

kw_status kw_candidates_gather(kw_candidates *candidates, const kw_request *request, kw_error *err) {
    *candidates = (kw_candidates){0};
    served_kernels l = {.arena = &candidates->arena};
    kw_status status = list_served_kernels(&l, request, err);
    status = status ? status : estimate_served_kernels(&l, request, err);
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
                .estimate_ns = l.estimates[i],
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
    kw_text_drop(&candidates->prediction.notes);
    *candidates = (kw_candidates){0};
}
