/* candidates.c: fits, then the estimate, then the model, then the workspace limit, then the order. Each kernel's launch is worked out once
 * and goes along. */
#include "dispatch/choose/candidates.h"

#include "predict/predict.h"
#include "problem/wants.h"

#include <stdlib.h>
#include <string.h>

/* --- gathering ---------------------------------------------------------------------------------------------------------- */

/* The registry's generated kernels of the problem's operation and type, in its order, as the selector is asked about them. */
typedef struct served_kernels {
    char *memory;        /* everything below points into it */
    kw_config *specials; /* of a problem that is not plain or has its channels first; NULL: configs point into the catalog */
    const kw_config **configs;
    kw_launch *launches;
    const kw_launch **fitting; /* NULL: it does not fit */
    double *estimates, *expected;
    size_t count;
} served_kernels;

static bool serves_request(const kw_request *request, const kw_config *config) {
    return config->family->emit && config->op == request->problem.op && config->dtype == request->problem.dtype;
}

static kw_status list_served_kernels(served_kernels *l, const kw_request *request, kw_error *err) {
    const kw_catalog *catalog = &request->registry->catalog;
    size_t most = 1;
    for (size_t i = 0; i < catalog->count; i++) {
        most += serves_request(request, &catalog->configs[i]);
    }
    bool plain = kw_problem_is_plain(&request->problem);
    l->memory = calloc(most, sizeof *l->launches + sizeof *l->estimates + sizeof *l->expected + sizeof *l->configs + sizeof *l->fitting +
                                 (plain ? 0 : sizeof *l->specials));
    if (!l->memory) {
        return kw_fail_memory(err, "a list of candidates");
    }
    l->launches = (kw_launch *)(void *)l->memory;
    l->estimates = (double *)(void *)(l->launches + most);
    l->expected = l->estimates + most;
    l->configs = (const kw_config **)(void *)(l->expected + most);
    l->fitting = (const kw_launch **)(void *)(l->configs + most);
    l->specials = plain ? NULL : (kw_config *)(void *)(l->fitting + most);
    for (size_t i = 0; i < catalog->count; i++) {
        if (serves_request(request, &catalog->configs[i])) {
            l->configs[l->count] = l->specials ? &l->specials[l->count] : &catalog->configs[i];
            if (l->specials) {
                l->specials[l->count] = catalog->configs[i];
            }
            l->count++;
        }
    }
    return KW_OK;
}

static void estimate_served_kernels(served_kernels *l, const kw_request *request) {
    const kw_target *target = request->context->target;
    for (size_t i = 0; i < l->count; i++) {
        const kw_config *config = l->configs[i];
        kw_config *special = l->specials ? &l->specials[i] : NULL;
        if (!(special ? kw_config_serves(special, config, &request->problem, target, NULL)
                      : kw_config_fits(config, &request->problem, target, NULL))) {
            kw_config_launch(config, &request->problem, target, &l->launches[i]);
            l->fitting[i] = &l->launches[i];
            l->estimates[i] = kw_predict_ns(config, &request->problem, target, &l->launches[i]);
        }
    }
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
    served_kernels l = {0};
    *candidates = (kw_candidates){0};
    kw_status status = list_served_kernels(&l, request, err);
    if (!status) {
        candidates->list = calloc(l.count + 1, sizeof *candidates->list);
        status = candidates->list ? KW_OK : kw_fail_memory(err, "a list of candidates");
    }
    if (!status) {
        estimate_served_kernels(&l, request);
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
    candidates->memory = l.memory;
    return status;
}

void kw_candidates_drop(kw_candidates *candidates) {
    free(candidates->list);
    free(candidates->memory);
    kw_text_drop(&candidates->prediction.notes);
    *candidates = (kw_candidates){0};
}
