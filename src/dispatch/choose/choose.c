/* choose.c: the order in which answers are sought: wisdom, then as the mode says a model or the estimate
 * or a race, then the compiled-in kernel. A
 * kernel that fails is a reason to take the next one, never an error. */
#include "dispatch/choose/choose.h"

#include "base/os/clock.h"
#include "dispatch/choose/candidates.h"
#include "dispatch/choose/autotune.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPILES_MAX = 8 }; /* refused compiles after which the estimate's order is followed no further */

void kw_choice_drop(kw_choice *choice, kw_context *context) {
    kw_kernel_cache_release(&context->kernel_cache, &choice->loaded);
    kw_text_drop(&choice->explanation);
    free(choice->records);
    *choice = (kw_choice){0};
}

void kw_time_print(char text[32], double ns) {
    double scale = ns < 1e3 ? 1 : ns < 1e6 ? 1e3 : ns < 1e9 ? 1e6 : 1e9;
    const char *unit = ns < 1e3 ? "ns" : ns < 1e6 ? "us" : ns < 1e9 ? "ms" : "s";
    snprintf(text, 32, "%.4g %s", ns / scale, unit);
}

/* --- wisdom ------------------------------------------------------------------------------------------------------ */

/* Whether the value is considered_enough enough: of a mode that is, and out of as many candidates as would be considered now. */
static bool considered_enough(const kw_wisdom_value *value, const kw_request *request) {
    if (value->mode < request->mode) {
        return false;
    }
    size_t asked = request->mode == KW_EXHAUSTIVE ? INT32_MAX : request->mode == KW_SHORTLIST ? (size_t)request->shortlist : 0;
    size_t had = (size_t)value->candidates;
    return had >= asked || had >= kw_request_fitting(request, asked) || !*kw_build_tools_compiler(request->context->build_tools, NULL);
}

/* Whether the value holds under today's rules and under the request's conditions; else one line why not. */
static kw_status check_wisdom_value(kw_choice *choice, kw_config *config, const kw_wisdom_value *value, const kw_request *request,
                                    kw_error *why) {
    const kw_context *context = request->context;
    kw_status status = kw_config_parse(config, value->config, why);
    status = status ? status : kw_config_fits(config, &request->problem, context->target, why);
    if (status) {
        choice->stale = true;
        return status;
    }
    if (request->registry->serial && !kw_catalog_has(&request->registry->catalog, config)) {
        return kw_fail(why, KW_NO_KERNEL, "its kernel is not in the registry");
    }
    if (kw_request_workspace(request, config) > request->workspace_max) {
        return kw_fail(why, KW_NO_KERNEL, "its kernel needs %" PRId64 " bytes of workspace", kw_request_workspace(request, config));
    }
    return considered_enough(value, request) ? KW_OK
                                             : kw_fail(why, KW_NO_KERNEL, "it considered %d kernels (%s), which is less than asked",
                                                       value->candidates, kw_mode_name(value->mode));
}

static void explain_wisdom(kw_choice *choice, const kw_wisdom_value *value, const char *place) {
    char time[32];
    kw_time_print(time, value->time_ns);
    kw_text_addf(&choice->explanation, "  from wisdom: %s (spread %.1f %%), best of %d kernels, measured on %s (%s); %s\n", time,
                 value->time_ns > 0 ? 100 * value->spread_ns / value->time_ns : 0, value->candidates, value->date,
                 kw_mode_name(value->mode), place);
    if (*value->next && value->time_ns > 0) {
        kw_text_addf(&choice->explanation, "  next best then: %+.1f %% time: %s\n", 100 * (value->next_ns / value->time_ns - 1),
                     value->next);
    }
}

/* The kernel as it was measured, whichever compiler made it, comes from the cache; only when it is not there a compiler is looked for. */
static kw_status acquire_cached_kernel(kw_choice *choice, const kw_request *request, const kw_config *config, const char *builder,
                                       kw_error *why) {
    kw_kernel_cache *cache = &request->context->kernel_cache;
    kw_status status = kw_kernel_cache_acquire_cached(&choice->loaded, cache, config, builder, why);
    return status && request->mode != KW_FROZEN ? kw_kernel_cache_acquire(&choice->loaded, cache, config, true, why) : status;
}

/* What one layer answers: its value and, with choice->loaded, the kernel. */
static void ask_wisdom_layer(kw_choice *choice, kw_wisdom_value *value, const kw_request *request, int layer) {
    kw_wisdom *wisdom = request->context->wisdom;
    kw_config config;
    kw_error why = {0};
    if (kw_wisdom_find(wisdom, layer, request->wisdom_key, value) &&
        (check_wisdom_value(choice, &config, value, request, &why) ||
         acquire_cached_kernel(choice, request, &config, value->builder, &why))) {
        kw_text_addf(&choice->explanation, "  wisdom of %s was not used: %s; %s\n", value->date, why.text,
                     kw_wisdom_location(wisdom, layer));
        kw_log_line(&request->context->settings, "wisdom for %s was not used: %s", request->text, why.text);
    }
}

/* The first layer's answer; one in doubt is put back, for where there is time to verify it nothing else is asked. */
static void ask_wisdom(kw_choice *choice, const kw_request *request) {
    kw_wisdom *wisdom = request->context->wisdom;
    for (int layer = 0; layer < KW_LAYER_COUNT && !choice->loaded && !choice->in_doubt; layer++) {
        kw_wisdom_value value;
        ask_wisdom_layer(choice, &value, request, layer);
        if (!choice->loaded) {
            continue;
        }
        choice->in_doubt = request->mode >= KW_SHORTLIST && kw_wisdom_needs_verification(wisdom, &value, choice->loaded->builder);
        if (choice->in_doubt) {
            kw_kernel_cache_release(&request->context->kernel_cache, &choice->loaded);
        } else {
            explain_wisdom(choice, &value, kw_wisdom_location(wisdom, layer));
        }
    }
}

/* --- without measuring ------------------------------------------------------------------------------------------- */

/* The generic kernel, with the reason why no other answers. On a CPU it is compiled in. */
static kw_status choose_reference(kw_choice *choice, const kw_request *request, const char *reason, kw_error *err) {
    kw_config config;
    kw_status status = kw_reference_find(&config, &request->problem, request->context->target, err);
    if (status) {
        return status;
    }
    int64_t workspace = kw_request_workspace(request, &config);
    if (workspace > request->workspace_max) {
        return kw_fail(err, KW_NO_KERNEL,
                       "workspace limit of %" PRId64 " bytes: no kernel needs so little for %.200s; the generic one needs %" PRId64,
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
        kw_text_addf(&choice->explanation, "  generic kernel%s: %s\n", config.family->builtin ? ", compiled in" : "", reason);
        kw_log_line(&request->context->settings, "the generic kernel answers %s: %s", request->text, reason);
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
static void explain_prediction(kw_text *explanation, const kw_candidates *candidates, size_t number) {
    const kw_candidate *candidate = &candidates->list[number];
    char expected[32], estimate[32];
    kw_time_print(expected, candidate->expected_ns);
    kw_time_print(estimate, candidate->estimate_ns);
    if (*candidates->prediction.model) {
        kw_text_addf(explanation, "  by model %s (%s; the analytic estimate says %s)", candidates->prediction.model, expected, estimate);
    } else {
        kw_text_addf(explanation, "  by the analytic estimate (%s)", estimate);
    }
    kw_text_addf(explanation, ", number %zu of %zu that fit; nothing was measured\n", number + 1, candidates->count);
    kw_text_add(explanation, kw_text_string(&candidates->prediction.notes));
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
        kw_status got = acquire_usable_kernel(choice, request, candidates.list[i].config, &why);
        if (!got) {
            explain_prediction(&choice->explanation, &candidates, i);
            goto out;
        }
        if (got != KW_MISSING) {
            refused++;
            kw_text_addf(&choice->explanation, "  failed: %s\n", why.text);
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
        ask_wisdom(choice, request);
    }
    if (choice->loaded || request->mode > KW_PREDICT) {
        return KW_OK;
    }
    if (request->mode == KW_PREDICT) {
        return choose_unmeasured(choice, request, err);
    }
    if (request->frozen_is_error) {
        return kw_fail(err, KW_NO_KERNEL, "frozen: wisdom has no cached kernel for %.250s; `kwright tune` it, or allow the generic kernel",
                       request->text);
    }
    return choose_reference(choice, request, "frozen, and wisdom has no cached kernel", err);
}

/* --- with measuring ---------------------------------------------------------------------------------------------- */

/* Whether the race was open to all that the default registry would send: only then its winner is an answer for everybody. */
static bool considered_all(const kw_request *request, const kw_candidates *candidates) {
    const kw_context *context = request->context;
    if (candidates->over_limit) {
        return false;
    }
    if (!request->registry->serial) {
        return true;
    }
    const kw_registry *defaults;
    if (kw_registry_default(&defaults, request->context, NULL)) {
        return false;
    }
    for (size_t i = 0; i < defaults->catalog.count; i++) {
        const kw_config *config = &defaults->catalog.configs[i];
        if (config->family->emit && !kw_config_fits(config, &request->problem, context->target, NULL) &&
            !kw_catalog_has(&request->registry->catalog, config)) {
            return false;
        }
    }
    return true;
}

/* Remembers the winner. Where another process was first with the same problem, its answer is taken instead: one decision for all. */
static kw_status record_winner(kw_choice *choice, const kw_request *request, const kw_wisdom_value *value, kw_error *err) {
    kw_context *context = request->context;
    kw_status status = kw_wisdom_record(context->wisdom, request->wisdom_key, value, request->remeasure || choice->stale, err);
    kw_wisdom_value standing;
    kw_choice other = {0};
    for (int layer = 0; !status && layer <= KW_LAYER_USER; layer++) {
        if (!kw_wisdom_find(context->wisdom, layer, request->wisdom_key, &standing)) {
            continue;
        }
        kw_config config;
        kw_error why = {0};
        if (strcmp(standing.config, value->config) && !check_wisdom_value(&other, &config, &standing, request, &why) &&
            !acquire_cached_kernel(&other, request, &config, standing.builder, &why)) {
            kw_kernel_cache_release(&context->kernel_cache, &choice->loaded);
            choice->loaded = other.loaded;
            kw_text_addf(&choice->explanation, "  another process decided first: its answer is used\n");
            explain_wisdom(choice, &standing, kw_wisdom_location(context->wisdom, layer));
        }
        break;
    }
    return status;
}

/* The value says when and with whose kernel it was found to be right, unless somebody changed it meanwhile. From the system's layer it is
 * copied to the user's. */
static kw_status renew_wisdom_value(const kw_choice *choice, const kw_request *request, kw_wisdom_value *value, kw_error *err) {
    kw_wisdom *wisdom = request->context->wisdom;
    kw_wisdom_value standing;
    kw_wisdom_refresh(wisdom);
    for (int layer = 0; layer <= KW_LAYER_USER; layer++) {
        if (kw_wisdom_find(wisdom, layer, request->wisdom_key, &standing) &&
            (strcmp(standing.config, value->config) || standing.time_ns != value->time_ns)) {
            return KW_OK;
        }
    }
    kw_clock_date(value->checked);
    snprintf(value->builder, sizeof value->builder, "%s", choice->loaded->builder);
    return kw_wisdom_record(wisdom, request->wisdom_key, value, true, err);
}

/* Wisdom's answer, verified; choice->loaded stays NULL when it is wrong now. */
static kw_status verify_wisdom(kw_choice *choice, const kw_request *request, kw_error *err) {
    kw_wisdom *wisdom = request->context->wisdom;
    bool good = false, renewed = false;
    kw_wisdom_value value;
    choice->in_doubt = false;
    for (int layer = 0; layer < KW_LAYER_COUNT && !choice->loaded; layer++) {
        ask_wisdom_layer(choice, &value, request, layer);
        if (choice->loaded) {
            explain_wisdom(choice, &value, kw_wisdom_location(wisdom, layer));
        }
    }
    if (!choice->loaded) {
        return KW_OK;
    }
    kw_reverify(choice, request, &good, &renewed);
    if (!good) {
        choice->stale = true;
        kw_kernel_cache_release(&request->context->kernel_cache, &choice->loaded);
    }
    return good && renewed ? renew_wisdom_value(choice, request, &value, err) : KW_OK;
}

static kw_status autotune_candidates(kw_choice *choice, const kw_request *request, kw_error *err) {
    kw_candidates candidates;
    kw_wisdom_value value = {.mode = request->mode};
    char reason[256];
    kw_status status = kw_candidates_gather(&candidates, request, err);
    size_t count = request->mode == KW_EXHAUSTIVE ? candidates.count : kw_candidates_shortlist(&candidates, (size_t)request->shortlist);
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
        kw_text_add(&choice->explanation, "  not written to wisdom: a workspace limit or the registry left kernels out\n");
    } else if (value.time_ns > 0) {
        status = record_winner(choice, request, &value, err);
    }
out:
    kw_candidates_drop(&candidates);
    return status;
}

kw_status kw_choose_measured(kw_choice *choice, const kw_request *request, kw_error *err) {
    kw_status status = choice->in_doubt ? verify_wisdom(choice, request, err) : KW_OK;
    return status || choice->loaded ? status : autotune_candidates(choice, request, err);
}
