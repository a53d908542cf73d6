/* candidates.c: fits, then the estimate, then the model, then the workspace limit, then the order. */
#include "dispatch/choose/candidates.h"

#include "base/order.h"
#include "config/workspace.h"
#include "predict/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A family is strong when its best is expected to take at most so many times as long as the best of all. */
static const double reach = 1.5;

static int compare_candidates_by_time(const void *a, const void *b) {
    const kw_candidate *left = a, *right = b;
    int order = kw_order_real(left->expected_ns, right->expected_ns);
    order = order ? order : kw_order_real(left->estimate_ns, right->estimate_ns);
    return order ? order : left->config < right->config ? -1 : left->config > right->config;
}

int64_t kw_request_workspace(const kw_request *request, const kw_config *config) {
    kw_launch launch = {0};
    config->family->launch(config, &request->problem, request->context->target, &launch);
    return kw_workspace_layout_of(&launch, request->context->target, false).bytes;
}

static bool enters(const kw_request *request, const kw_config *config) {
    return config->family->emit && !kw_config_fits(config, &request->problem, request->context->target, NULL);
}

size_t kw_request_fitting(const kw_request *request, size_t most) {
    const kw_catalog *catalog = &request->registry->catalog;
    size_t count = 0;
    for (size_t i = 0; i < catalog->count && count < most; i++) {
        count += enters(request, &catalog->configs[i]);
    }
    return count;
}

/* --- gathering ---------------------------------------------------------------------------------------------------------- */

/* The registry's generated kernels of the problem's operation and type, in its order, as the selector is asked about them. */
typedef struct entry_list {
    char *memory; /* everything below points into it */
    const kw_config **configs;
    kw_launch *launches;
    const kw_launch **fitting; /* NULL: it does not fit */
    double *estimates, *expected;
    size_t count;
} entry_list;

static bool is_served(const kw_request *request, const kw_config *config) {
    return config->family->emit && config->op == request->problem.op && config->dtype == request->problem.dtype;
}

static kw_status take_entries(entry_list *l, const kw_request *request, kw_error *err) {
    const kw_catalog *catalog = &request->registry->catalog;
    size_t most = 1;
    for (size_t i = 0; i < catalog->count; i++) {
        most += is_served(request, &catalog->configs[i]);
    }
    l->memory = calloc(most, sizeof *l->launches + sizeof *l->estimates + sizeof *l->expected + sizeof *l->configs + sizeof *l->fitting);
    if (!l->memory) {
        return kw_fail_memory(err, "a list of candidates");
    }
    l->launches = (kw_launch *)(void *)l->memory;
    l->estimates = (double *)(void *)(l->launches + most);
    l->expected = l->estimates + most;
    l->configs = (const kw_config **)(void *)(l->expected + most);
    l->fitting = (const kw_launch **)(void *)(l->configs + most);
    for (size_t i = 0; i < catalog->count; i++) {
        if (is_served(request, &catalog->configs[i])) {
            l->configs[l->count++] = &catalog->configs[i];
        }
    }
    return KW_OK;
}

static void estimate_entries(entry_list *l, const kw_request *request) {
    const kw_target *target = request->context->target;
    for (size_t i = 0; i < l->count; i++) {
        const kw_config *config = l->configs[i];
        if (!kw_config_fits(config, &request->problem, target, NULL)) {
            config->family->launch(config, &request->problem, target, &l->launches[i]);
            l->fitting[i] = &l->launches[i];
            l->estimates[i] = kw_predict_ns(config, &request->problem, target, &l->launches[i]);
        }
    }
}

static void ask_model(kw_candidates *candidates, entry_list *l, const kw_request *request) {
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
    const kw_target *target = request->context->target;
    entry_list l = {0};
    *candidates = (kw_candidates){0};
    kw_status status = take_entries(&l, request, err);
    if (!status) {
        candidates->list = calloc(l.count + 1, sizeof *candidates->list);
        status = candidates->list ? KW_OK : kw_fail_memory(err, "a list of candidates");
    }
    if (!status) {
        estimate_entries(&l, request);
        ask_model(candidates, &l, request);
    }
    for (size_t i = 0; i < l.count && !status; i++) {
        int64_t workspace = l.fitting[i] ? kw_workspace_layout_of(l.fitting[i], target, false).bytes : 0;
        if (l.fitting[i] && workspace > request->workspace_max) {
            candidates->over_limit++;
        } else if (l.fitting[i]) {
            candidates->list[candidates->count++] = (kw_candidate){l.configs[i], l.expected[i], l.estimates[i], workspace};
        }
    }
    if (!status) {
        qsort(candidates->list, candidates->count, sizeof *candidates->list, compare_candidates_by_time);
    }
    free(l.memory);
    return status;
}

void kw_candidates_drop(kw_candidates *candidates) {
    free(candidates->list);
    kw_text_drop(&candidates->prediction.notes);
    *candidates = (kw_candidates){0};
}

/* --- the shortlist ------------------------------------------------------------------------------------------------------ */

/* Moves the candidate at from to the earlier place to, keeping the order of the others. */
static void move_candidate_up(kw_candidates *candidates, size_t from, size_t to) {
    kw_candidate moved = candidates->list[from];
    memmove(&candidates->list[to + 1], &candidates->list[to], (from - to) * sizeof moved);
    candidates->list[to] = moved;
}

static bool family_seen(const kw_candidates *candidates, size_t count, const kw_family *family) {
    for (size_t i = 0; i < count; i++) {
        if (candidates->list[i].config->family == family) {
            return true;
        }
    }
    return false;
}

/* Moves to the places from taken on the best of each family that is not there yet and expected within the limit. */
static size_t take_families(kw_candidates *candidates, size_t taken, size_t wanted, double limit_ns) {
    for (size_t i = taken; i < candidates->count && taken < wanted; i++) {
        const kw_candidate *candidate = &candidates->list[i];
        if (candidate->expected_ns <= limit_ns && !family_seen(candidates, taken, candidate->config->family)) {
            move_candidate_up(candidates, i, taken++);
        }
    }
    return taken;
}

static size_t best_estimate(const kw_candidates *candidates) {
    size_t best = 0;
    for (size_t i = 1; i < candidates->count; i++) {
        best = candidates->list[i].estimate_ns < candidates->list[best].estimate_ns ? i : best;
    }
    return best;
}

size_t kw_candidates_shortlist(kw_candidates *candidates, size_t wanted) {
    size_t chosen = wanted < candidates->count ? wanted : candidates->count;
    if (!chosen) {
        return 0;
    }
    if (!*candidates->prediction.model) {
        take_families(candidates, 0, chosen, INFINITY);
        /* Best estimate first again, so that the race meets the likely winner early. */
        qsort(candidates->list, chosen, sizeof *candidates->list, compare_candidates_by_time);
        return chosen;
    }
    size_t taken = 1, other = best_estimate(candidates);
    if (other && taken < chosen) {
        move_candidate_up(candidates, other, taken++);
    }
    take_families(candidates, taken, chosen, reach * candidates->list[0].expected_ns);
    return chosen;
}
