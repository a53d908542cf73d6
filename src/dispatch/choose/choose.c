/* choose.c: the order in which answers are sought: wisdom, then as the mode says a model, the estimate or measuring, then the reference
 * kernel. A kernel that fails is a reason to take the next one, never an error. */
#include "dispatch/choose/choose.h"

#include "dispatch/choose/autotune.h"
#include "dispatch/choose/candidates.h"
#include "dispatch/tailored/tailored.h"
#include "dispatch/choose/wisdom_answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COMPILES_MAX = 8 }; /* refused compiles after which the estimate's order is followed no further */

/* --- without measuring ------------------------------------------------------------------------------------------- */

/* The reference kernel, with the reason why no other answers. On a CPU it is compiled in. */
static kw_status choose_reference(kw_choice *choice, const kw_request *request, const char *reason, kw_error *err) {
    kw_config config;
    kw_status status = kw_reference_find(&config, &request->problem, request->context->target, err);
    if (status) {
        return status;
    }
    choice->launch = (kw_launch){0};
    kw_config_launch(&config, &request->problem, request->context->target, &choice->launch);
    int64_t workspace = kw_request_workspace(request, &choice->launch);
    if (workspace > request->workspace_max) {
        return kw_fail(err, KW_NO_KERNEL,
                       "workspace limit of %" PRId64 " bytes: no kernel needs so little for %.200s; the reference kernel needs %" PRId64,
                       request->workspace_max, request->text, workspace);
    }
    bool frozen = request->mode == KW_FROZEN;
    status = kw_kernel_cache_acquire(&choice->loaded, &request->context->kernel_cache, &config, !frozen, err);
    if (status == KW_MISSING && frozen) {
        return kw_fail(
            err, KW_NO_KERNEL,
            "frozen: nothing is compiled, and the cache has no %s kernel for %.200s; `kwright build` it, or plan it in another mode",
            config.family->name, request->text);
    }
    if (!status) {
        kw_explain(&choice->explanation, KW_EXPLAIN_REFERENCE, "reference kernel%s: %s", config.family->builtin ? ", compiled in" : "",
                   reason);
        kw_log_line(&request->context->settings, "the reference kernel answers %s: %s", request->text, reason);
    }
    return status;
}

static const char *explain_nothing_fits(char text[256], const kw_request *request, const kw_candidates *candidates) {
    if (candidates->over_limit) {
        snprintf(text, 256, "the %zu kernels that fit need more workspace than %" PRId64 " bytes", candidates->over_limit,
                 request->workspace_max);
    } else {
        snprintf(text, 256, "no other kernel of the registry fits");
    }
    return text;
}

/* By whom the candidate was expected to be fast. */
static void explain_prediction(kw_explanation_list *explanation, const kw_candidates *candidates, size_t number) {
    const kw_candidate *candidate = &candidates->list[number];
    char expected[32], estimate[32], by[192];
    kw_time_print(expected, candidate->expected_ns);
    kw_time_print(estimate, candidate->estimate_ns);
    if (*candidates->prediction.model) {
        snprintf(by, sizeof by, "by model %s (%s; the analytic estimate says %s)", candidates->prediction.model, expected, estimate);
    } else {
        snprintf(by, sizeof by, "by the analytic estimate (%s)", estimate);
    }
    kw_explain(explanation, KW_EXPLAIN_PREDICTED, "%s, number %zu of %zu that fit; nothing was measured", by, number + 1,
               candidates->count);
    kw_explain_lines(explanation, KW_EXPLAIN_MODEL, kw_text_string(&candidates->prediction.notes));
}

/* One that was not measured is not taken when its resources say that it is slow. */
static kw_status acquire_usable_kernel(kw_choice *choice, const kw_request *request, const kw_config *config, kw_error *why) {
    kw_kernel_cache *cache = &request->context->kernel_cache;
    char detail[256];
    kw_status status = kw_kernel_cache_acquire(&choice->loaded, cache, config, true, why);
    kw_outcome outcome = status ? KW_UNTRIED : kw_loaded_kernel_check(choice->loaded, cache, detail);
    if (outcome != KW_UNTRIED) {
        status = kw_fail(why, KW_NO_KERNEL, "%s: %.100s: %s", kw_outcome_name(outcome), choice->loaded->text, detail);
        kw_kernel_cache_release(cache, &choice->loaded);
    }
    return status;
}

static kw_status choose_unmeasured(kw_choice *choice, const kw_request *request, kw_error *err) {
    kw_candidates candidates;
    kw_error why = {0};
    char reason[256];
    const char *note;
    kw_status status = kw_candidates_gather(&candidates, request, err);
    int refused = 0;
    for (size_t i = 0; !status && i < candidates.count && refused < COMPILES_MAX; i++) {
        if (kw_stop_requested(request->context->settings.stop)) {
            status = kw_fail_stopped(err);
            break;
        }
        kw_status got = acquire_usable_kernel(choice, request, candidates.list[i].config, &why);
        if (!got) {
            choice->launch = *candidates.list[i].launch;
            explain_prediction(&choice->explanation, &candidates, i);
            goto out;
        }
        if (got != KW_MISSING) {
            refused++;
            kw_explain(&choice->explanation, KW_EXPLAIN_FAILED, "failed: %s", why.text);
            kw_log_line(&request->context->settings, "%s", why.text);
        }
    }
    if (!status) {
        bool compiler = *kw_build_tools_compiler(request->context->build_tools, &note);
        explain_nothing_fits(reason, request, &candidates);
        if (candidates.count) {
            snprintf(reason, sizeof reason, "%s%.200s",
                     compiler ? "the kernels that fit failed to compile, or spill"
                              : "nothing that fits is cached and there is no compiler: ",
                     compiler ? "" : note);
        }
        status = choose_reference(choice, request, reason, err);
    }
out:
    kw_candidates_drop(&candidates);
    return status;
}

kw_status kw_choose_known(kw_choice *choice, const kw_request *request, kw_error *err) {
    if (!request->remeasure || request->mode < KW_SHORTLIST) {
        kw_wisdom_answer(choice, request);
    }
    if (choice->loaded || request->mode > KW_PREDICT) {
        return KW_OK;
    }
    if (request->mode == KW_PREDICT) {
        return choose_unmeasured(choice, request, err);
    }
    if (request->frozen_is_error) {
        return kw_fail(err, KW_NO_KERNEL,
                       "frozen: wisdom has no cached kernel for %.250s; `kwright tune` it, or allow the reference kernel (--mode frozen)",
                       request->text);
    }
    return choose_reference(choice, request, "frozen, and wisdom has no cached kernel", err);
}

/* --- with measuring ---------------------------------------------------------------------------------------------- */

/* Whether all that the default registry has were considered: only then the winner is an answer for everybody. */
static bool considered_all(const kw_request *request, const kw_candidates *candidates) {
    const kw_context *context = request->context;
    if (candidates->over_limit) {
        return false;
    }
    if (!request->registry->serial) {
        return true;
    }
    const kw_registry *defaults;
    if (kw_registry_default(&defaults, request->context, NULL) || (!request->registry->tailors && kw_tailored_any(request))) {
        return false;
    }
    for (size_t i = 0; i < defaults->catalog.count; i++) {
        const kw_config *config = &defaults->catalog.configs[i];
        kw_config special;
        if (config->family->emit && !kw_config_serves(&special, config, &request->problem, context->target, NULL) &&
            !kw_catalog_has(&request->registry->catalog, config)) {
            return false;
        }
    }
    return true;
}

static kw_status autotune_candidates(kw_choice *choice, const kw_request *request, kw_error *err) {
    kw_candidates candidates;
    kw_wisdom_value value = {.mode = request->mode};
    char reason[256];
    kw_status status = kw_candidates_gather(&candidates, request, err);
    size_t count = candidates.count;
    if (request->mode != KW_EXHAUSTIVE) {
        count = kw_shortlist_take(candidates.list, candidates.count, (size_t)request->shortlist, *candidates.prediction.model);
    }
    if (!status && !candidates.count) {
        status = choose_reference(choice, request, explain_nothing_fits(reason, request, &candidates), err);
        goto out;
    }
    status = status ? status : kw_autotune(choice, &value, request, &candidates, count, err);
    if (status) {
        goto out;
    }
    if (!choice->loaded) {
        status = choose_reference(choice, request, "none of the kernels that fit could be used", err);
    } else if (!considered_all(request, &candidates)) {
        kw_explain(&choice->explanation, KW_EXPLAIN_UNSAVED, "not written to wisdom: a workspace limit or the registry left kernels out");
    } else if (choice->wanting) {
        kw_explain(&choice->explanation, KW_EXPLAIN_UNSAVED,
                   "not written to wisdom: %zu kernels could not be tried for want of memory, processes, open files or disk",
                   choice->wanting);
    } else if (value.time_ns > 0) {
        status = kw_wisdom_remember(choice, request, &value, err);
    }
out:
    kw_candidates_drop(&candidates);
    return status;
}

kw_status kw_choose_measured(kw_choice *choice, const kw_request *request, kw_error *err) {
    kw_status status = choice->in_doubt ? kw_wisdom_verify(choice, request, err) : KW_OK;
    return status || choice->loaded ? status : autotune_candidates(choice, request, err);
}
