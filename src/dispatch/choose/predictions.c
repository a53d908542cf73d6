/* predictions.c: what the choice expects of every kernel, for those who want to see it: the same candidates that the choice is made from;
 * and the models that it may ask. */
#include "dispatch/choose/candidates.h"

#include "config/config.h"

kw_status kw_predictions_visit(kw_context *context, const kw_problem *problem, const kw_registry *registry,
                               bool (*visit)(void *user, const kw_prediction *prediction), void *user, kw_error *err) {
    if (!context || !problem || !visit) {
        return kw_fail(err, KW_ILLEGAL, "kw_predictions_visit: %s is NULL", !context ? "context" : !problem ? "problem" : "visit");
    }
    if (registry && registry->context != context) {
        return kw_fail(err, KW_ILLEGAL, "the registry belongs to another context; create it on this one");
    }
    kw_candidates candidates = {0};
    kw_request request = {.context = context, .registry = registry, .problem = *problem, .workspace_max = INT64_MAX};
    kw_status status = kw_context_check(context, err);
    status = status ? status : kw_problem_check(problem, err);
    if (!status) {
        kw_context_learn_rates(context);
    }
    status = status || registry ? status : kw_registry_default(&request.registry, context, err);
    status = status ? status : kw_candidates_gather(&candidates, &request, err);
    for (size_t i = 0; !status && i < candidates.count; i++) {
        const kw_candidate *candidate = &candidates.list[i];
        char config[KW_CONFIG_TEXT_MAX];
        kw_config_print(config, sizeof config, candidate->config);
        kw_prediction prediction = {
            .config = config,
            .expected_ns = candidate->expected_ns,
            .estimate_ns = candidate->estimate_ns,
            .workspace = candidate->workspace,
            .model = *candidates.prediction.model ? candidates.prediction.model : NULL,
            .model_distance = candidates.prediction.distance,
            .notes = kw_text_string(&candidates.prediction.notes),
        };
        if (!visit(user, &prediction)) {
            break;
        }
    }
    kw_candidates_drop(&candidates);
    return status;
}

kw_status kw_models_visit(kw_context *context, void (*visit)(void *user, const kw_model_info *model), void *user, kw_error *err) {
    if (!context || !visit) {
        return kw_fail(err, KW_ILLEGAL, "kw_models_visit: %s is NULL", context ? "visit" : "context");
    }
    kw_status status = kw_context_check(context, err);
    if (!status) {
        kw_model_selector_visit(context->selector, visit, user);
    }
    return status;
}
