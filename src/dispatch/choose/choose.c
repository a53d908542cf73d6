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
    kw_kernel_cache_release(&context->shelf, &choice->loaded);
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

/* Whether the wisdom_value is patient enough: of a mode that is, and out of as many candidates as would be considered now. */
static bool patient(const kw_wisdom_value *wisdom_value, const kw_request *request) {
    if (wisdom_value->mode < request->mode) {
        return false;
    }
    size_t asked = request->mode == KW_EXHAUSTIVE ? INT32_MAX : request->mode == KW_SHORTLIST ? (size_t)request->shortlist : 0;
    size_t had = (size_t)wisdom_value->candidates;
    return had >= asked || had >= kw_request_fitting(request, asked) || !*kw_build_tools_compiler(request->context->tools, NULL);
}

/* Whether the wisdom_value holds under today's rules and under the request's conditions; else one line why not. */
static kw_status check_verdict(kw_choice *choice, kw_config *config, const kw_wisdom_value *wisdom_value, const kw_request *request,
                               kw_error *why) {
    const kw_context *context = request->context;
    kw_status status = kw_config_parse(config, wisdom_value->config, why);
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
    return patient(wisdom_value, request) ? KW_OK
                                          : kw_fail(why, KW_NO_KERNEL, "it considered %d kernels (%s), which is less than asked",
                                                    wisdom_value->candidates, kw_mode_name(wisdom_value->mode));
}

static void tell_verdict(kw_choice *choice, const kw_wisdom_value *wisdom_value, const char *place) {
    char time[32];
    kw_time_print(time, wisdom_value->time_ns);
    kw_text_addf(&choice->explanation, "  from wisdom: %s (spread %.1f %%), best of %d kernels, measured on %s (%s); %s\n", time,
                 wisdom_value->time_ns > 0 ? 100 * wisdom_value->spread_ns / wisdom_value->time_ns : 0, wisdom_value->candidates,
                 wisdom_value->date, kw_mode_name(wisdom_value->mode), place);
    if (*wisdom_value->next && wisdom_value->time_ns > 0) {
        kw_text_addf(&choice->explanation, "  next best then: %+.1f %% time: %s\n",
                     100 * (wisdom_value->next_ns / wisdom_value->time_ns - 1), wisdom_value->next);
    }
}

/* The kernel as it was measured, whichever compiler made it, comes from the cache; only when it is not there a compiler is looked for. */
static kw_status take_known(kw_choice *choice, const kw_request *request, const kw_config *config, const char *builder, kw_error *why) {
    kw_kernel_cache *shelf = &request->context->shelf;
    kw_status status = kw_kernel_cache_acquire_cached(&choice->loaded, shelf, config, builder, why);
    return status && request->mode != KW_FROZEN ? kw_kernel_cache_acquire(&choice->loaded, shelf, config, true, why) : status;
}

/* What one layer answers: its wisdom_value and, with choice->loaded, the kernel. */
static void ask_layer(kw_choice *choice, kw_wisdom_value *wisdom_value, const kw_request *request, int layer) {
    kw_wisdom *wisdom = request->context->wisdom;
    kw_config config;
    kw_error why = {0};
    if (kw_wisdom_find(wisdom, layer, request->question, wisdom_value) &&
        (check_verdict(choice, &config, wisdom_value, request, &why) ||
         take_known(choice, request, &config, wisdom_value->builder, &why))) {
        kw_text_addf(&choice->explanation, "  wisdom of %s was not used: %s; %s\n", wisdom_value->date, why.text,
                     kw_wisdom_location(wisdom, layer));
        kw_log_line(&request->context->settings, "wisdom for %s was not used: %s", request->text, why.text);
    }
}

/* The first layer's answer; one in doubt is put back, for where there is time to verify it nothing else is asked. */
static void ask_wisdom(kw_choice *choice, const kw_request *request) {
    kw_wisdom *wisdom = request->context->wisdom;
    for (int layer = 0; layer < KW_LAYER_COUNT && !choice->loaded && !choice->in_doubt; layer++) {
        kw_wisdom_value wisdom_value;
        ask_layer(choice, &wisdom_value, request, layer);
        if (!choice->loaded) {
            continue;
        }
        choice->in_doubt = request->mode >= KW_SHORTLIST && kw_wisdom_needs_verification(wisdom, &wisdom_value, choice->loaded->builder);
        if (choice->in_doubt) {
            kw_kernel_cache_release(&request->context->shelf, &choice->loaded);
        } else {
            tell_verdict(choice, &wisdom_value, kw_wisdom_location(wisdom, layer));
        }
    }
}

/* --- without measuring ------------------------------------------------------------------------------------------- */

/* The generic kernel, with the reason why no other answers. On a CPU it is compiled in. */
static kw_status take_generic(kw_choice *choice, const kw_request *request, const char *reason, kw_error *err) {
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
    status = kw_kernel_cache_acquire(&choice->loaded, &request->context->shelf, &config, !frozen, err);
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

static const char *nothing_fits(char text[256], const kw_request *request, const kw_candidates *field) {
    if (field->over_limit) {
        snprintf(text, 256, "the %zu kernels that fit need more workspace than %" PRId64 " bytes", field->over_limit,
                 request->workspace_max);
    } else {
        snprintf(text, 256, "no other kernel of the registry fits");
    }
    return text;
}

/* By whom the candidate was expected to be fast. */
static void tell_expectation(kw_text *explanation, const kw_candidates *field, size_t number) {
    const kw_candidate *candidate = &field->list[number];
    char expected[32], estimate[32];
    kw_time_print(expected, candidate->expected_ns);
    kw_time_print(estimate, candidate->estimate_ns);
    if (*field->advice.model) {
        kw_text_addf(explanation, "  by model %s (%s; the analytic estimate says %s)", field->advice.model, expected, estimate);
    } else {
        kw_text_addf(explanation, "  by the analytic estimate (%s)", estimate);
    }
    kw_text_addf(explanation, ", number %zu of %zu that fit; nothing was measured\n", number + 1, field->count);
    kw_text_add(explanation, kw_text_string(&field->advice.notes));
}

/* One that was not measured is not taken when its resources say that it is slow. */
static kw_status take_usable(kw_choice *choice, const kw_request *request, const kw_config *config, kw_error *why) {
    kw_kernel_cache *shelf = &request->context->shelf;
    char detail[256];
    kw_status status = kw_kernel_cache_acquire(&choice->loaded, shelf, config, true, why);
    kw_outcome outcome = status ? KW_UNTRIED : kw_loaded_kernel_check(choice->loaded, shelf, detail);
    if (outcome != KW_UNTRIED) {
        status = kw_fail(why, KW_NO_KERNEL, "%s: %.100s: %s", kw_outcome_name(outcome), choice->loaded->text, detail);
        kw_kernel_cache_release(shelf, &choice->loaded);
    }
    return status;
}

static kw_status choose_unmeasured(kw_choice *choice, const kw_request *request, kw_error *err) {
    kw_candidates field;
    kw_error why = {0};
    char reason[256];
    const char *note;
    kw_status status = kw_candidates_gather(&field, request, err);
    int refused = 0;
    for (size_t i = 0; !status && i < field.count && refused < COMPILES_MAX; i++) {
        kw_status got = take_usable(choice, request, field.list[i].config, &why);
        if (!got) {
            tell_expectation(&choice->explanation, &field, i);
            goto out;
        }
        if (got != KW_MISSING) {
            refused++;
            kw_text_addf(&choice->explanation, "  failed: %s\n", why.text);
            kw_log_line(&request->context->settings, "%s", why.text);
        }
    }
    if (!status) {
        bool compiler = *kw_build_tools_compiler(request->context->tools, &note);
        nothing_fits(reason, request, &field);
        if (field.count) {
            snprintf(reason, sizeof reason, "%s%.200s",
                     compiler ? "the kernels that fit failed to compile, or spill"
                              : "nothing that fits is cached and there is no compiler: ",
                     compiler ? "" : note);
        }
        status = take_generic(choice, request, reason, err);
    }
out:
    kw_candidates_drop(&field);
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
    return take_generic(choice, request, "frozen, and wisdom has no cached kernel", err);
}

/* --- with measuring ---------------------------------------------------------------------------------------------- */

/* Whether the race was open to all that the default registry would send: only then its winner is an answer for everybody. */
static bool race_was_open(const kw_request *request, const kw_candidates *field) {
    const kw_context *context = request->context;
    if (field->over_limit) {
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
static kw_status remember(kw_choice *choice, const kw_request *request, const kw_wisdom_value *wisdom_value, kw_error *err) {
    kw_context *context = request->context;
    kw_status status = kw_wisdom_record(context->wisdom, request->question, wisdom_value, request->remeasure || choice->stale, err);
    kw_wisdom_value standing;
    kw_choice other = {0};
    for (int layer = 0; !status && layer <= KW_LAYER_USER; layer++) {
        if (!kw_wisdom_find(context->wisdom, layer, request->question, &standing)) {
            continue;
        }
        kw_config config;
        kw_error why = {0};
        if (strcmp(standing.config, wisdom_value->config) && !check_verdict(&other, &config, &standing, request, &why) &&
            !take_known(&other, request, &config, standing.builder, &why)) {
            kw_kernel_cache_release(&context->shelf, &choice->loaded);
            choice->loaded = other.loaded;
            kw_text_addf(&choice->explanation, "  another process decided first: its answer is used\n");
            tell_verdict(choice, &standing, kw_wisdom_location(context->wisdom, layer));
        }
        break;
    }
    return status;
}

/* The wisdom_value says when and with whose kernel it was found to be right, unless somebody changed it meanwhile. From the system's layer it is
 * copied to the user's. */
static kw_status renew_verdict(const kw_choice *choice, const kw_request *request, kw_wisdom_value *wisdom_value, kw_error *err) {
    kw_wisdom *wisdom = request->context->wisdom;
    kw_wisdom_value standing;
    kw_wisdom_refresh(wisdom);
    for (int layer = 0; layer <= KW_LAYER_USER; layer++) {
        if (kw_wisdom_find(wisdom, layer, request->question, &standing) &&
            (strcmp(standing.config, wisdom_value->config) || standing.time_ns != wisdom_value->time_ns)) {
            return KW_OK;
        }
    }
    kw_clock_date(wisdom_value->checked);
    snprintf(wisdom_value->builder, sizeof wisdom_value->builder, "%s", choice->loaded->builder);
    return kw_wisdom_record(wisdom, request->question, wisdom_value, true, err);
}

/* Wisdom's answer, verified; choice->loaded stays NULL when it is wrong now. */
static kw_status verify_wisdom(kw_choice *choice, const kw_request *request, kw_error *err) {
    kw_wisdom *wisdom = request->context->wisdom;
    bool good = false, renewed = false;
    kw_wisdom_value wisdom_value;
    choice->in_doubt = false;
    for (int layer = 0; layer < KW_LAYER_COUNT && !choice->loaded; layer++) {
        ask_layer(choice, &wisdom_value, request, layer);
        if (choice->loaded) {
            tell_verdict(choice, &wisdom_value, kw_wisdom_location(wisdom, layer));
        }
    }
    if (!choice->loaded) {
        return KW_OK;
    }
    kw_reverify(choice, request, &good, &renewed);
    if (!good) {
        choice->stale = true;
        kw_kernel_cache_release(&request->context->shelf, &choice->loaded);
    }
    return good && renewed ? renew_verdict(choice, request, &wisdom_value, err) : KW_OK;
}

static kw_status race_field(kw_choice *choice, const kw_request *request, kw_error *err) {
    kw_candidates field;
    kw_wisdom_value wisdom_value = {.mode = request->mode};
    char reason[256];
    kw_status status = kw_candidates_gather(&field, request, err);
    size_t entrants = request->mode == KW_EXHAUSTIVE ? field.count : kw_candidates_shortlist(&field, (size_t)request->shortlist);
    if (!status && !field.count) {
        status = take_generic(choice, request, nothing_fits(reason, request, &field), err);
        goto out;
    }
    status = status ? status : kw_autotune(choice, &wisdom_value, request, &field, entrants, err);
    if (status) {
        goto out;
    }
    if (!choice->loaded) {
        status = take_generic(choice, request, "none of the kernels that fit could be used", err);
    } else if (!race_was_open(request, &field)) {
        kw_text_add(&choice->explanation, "  not written to wisdom: a workspace limit or the registry left kernels out\n");
    } else if (wisdom_value.time_ns > 0) {
        status = remember(choice, request, &wisdom_value, err);
    }
out:
    kw_candidates_drop(&field);
    return status;
}

kw_status kw_choose_measured(kw_choice *choice, const kw_request *request, kw_error *err) {
    kw_status status = choice->in_doubt ? verify_wisdom(choice, request, err) : KW_OK;
    return status || choice->loaded ? status : race_field(choice, request, err);
}
