/* wisdom_answer.c: see wisdom_answer.h. Whatever keeps an entry from being used becomes a line of the explanation and of the log. */
#include "dispatch/choose/wisdom_answer.h"

#include "dispatch/tailored/tailored.h"

#include "base/os/clock.h"
#include "measure/evaluate_kernel.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Whether the entry's mode is patient enough, and it had as many candidates as would be considered now. */
static bool considered_enough(const kw_wisdom_value *value, const kw_request *request) {
    if (value->mode < request->mode) {
        return false;
    }
    size_t asked = request->mode == KW_EXHAUSTIVE ? INT32_MAX : request->mode == KW_SHORTLIST ? (size_t)request->shortlist : 0;
    size_t had = (size_t)value->candidates;
    return had >= asked || had >= kw_request_fitting(request, asked) || !*kw_build_tools_compiler(request->context->build_tools, NULL);
}

bool kw_wisdom_is_provisional(const kw_wisdom_value *value, const kw_request *request) {
    return kw_noise_restless(value->time_ns, value->spread_ns, kw_context_spread_limit(request->context));
}

/* Whether choice->value holds under today's rules and under the request's conditions; sets choice->launch and choice->stale. */
static kw_status check_wisdom_value(kw_choice *choice, kw_config *config, const kw_request *request, kw_error *why) {
    const kw_context *context = request->context;
    const kw_wisdom_value *value = &choice->value;
    kw_status status = kw_config_parse(config, value->config, why);
    status = status ? status : kw_config_fits(config, &request->problem, context->target, why);
    if (status) {
        choice->stale = true;
        return status;
    }
    kw_config plain = kw_config_plain(config);
    bool listed = kw_catalog_has(&request->registry->catalog, &plain);
    if (request->registry->serial && !listed && !(request->registry->tailors && kw_tailored_has(request, &plain))) {
        return kw_fail(why, KW_NO_KERNEL, "its kernel is not in the registry");
    }
    choice->launch = (kw_launch){0};
    kw_config_launch(config, &request->problem, context->target, &choice->launch);
    choice->launch.team = value->threads;
    int64_t workspace = kw_request_workspace(request, &choice->launch);
    if (workspace > request->workspace_max) {
        return kw_fail(why, KW_NO_KERNEL, "its kernel needs %" PRId64 " bytes of workspace", workspace);
    }
    if (request->mode >= KW_SHORTLIST && kw_wisdom_is_provisional(value, request)) {
        choice->stale = true;
        return kw_fail(why, KW_NO_KERNEL, "it is provisional: measured on a busy machine, its times spread by %.0f %%",
                       100 * value->spread_ns / value->time_ns);
    }
    return considered_enough(value, request) ? KW_OK
                                             : kw_fail(why, KW_NO_KERNEL, "it considered %d kernels (%s), which is less than asked",
                                                       value->candidates, kw_mode_name(value->mode));
}

/* The kernel as it was measured, whichever compiler made it, comes from the cache; only when it is not there a compiler is looked for. */
static kw_status acquire_cached_kernel(kw_choice *choice, const kw_request *request, const kw_config *config, kw_error *why) {
    kw_kernel_cache *cache = &request->context->kernel_cache;
    kw_status status = kw_kernel_cache_acquire_cached(&choice->loaded, cache, config, choice->value.builder, why);
    return status && request->mode != KW_FROZEN ? kw_kernel_cache_acquire(&choice->loaded, cache, config, true, why) : status;
}

static void explain_wisdom(kw_choice *choice, const kw_request *request) {
    const kw_wisdom_value *value = &choice->value;
    char time[32];
    kw_time_print(time, value->time_ns);
    kw_explain(&choice->explanation, KW_EXPLAIN_WISDOM,
               "from wisdom: %s (spread %.1f %%), best of %d kernels considered, measured on %s (%s); %s", time,
               value->time_ns > 0 ? 100 * value->spread_ns / value->time_ns : 0, value->candidates, value->date, kw_mode_name(value->mode),
               kw_wisdom_location(request->context->wisdom, choice->layer));
    if (value->threads) {
        kw_explain(&choice->explanation, KW_EXPLAIN_THREADS, "runs on %d of %lld threads, as was measured then", value->threads,
                   (long long)request->context->target->units);
    }
    if (kw_wisdom_is_provisional(value, request)) {
        kw_explain(&choice->explanation, KW_EXPLAIN_NOISE,
                   "the machine was busy when it was measured, so it is provisional: whoever may measure measures again");
    }
    if (*value->next && value->time_ns > 0) {
        double gap = value->next_ns / value->time_ns - 1;
        kw_explain(&choice->explanation, KW_EXPLAIN_NEXT, "next best then: %.1f %% %s%s: %s", 100 * fabs(gap),
                   gap < 0 ? "faster" : "slower", gap < 0 ? ", which was a tie within the noise that the name decided" : "", value->next);
    }
}

/* What one layer answers; choice->loaded where it does. */
static void ask_wisdom_layer(kw_choice *choice, const kw_request *request, int layer) {
    kw_wisdom *wisdom = request->context->wisdom;
    kw_config config;
    kw_error why = {0};
    if (!kw_wisdom_find(wisdom, layer, request->wisdom_key, &choice->value)) {
        return;
    }
    choice->layer = layer;
    if (check_wisdom_value(choice, &config, request, &why) || acquire_cached_kernel(choice, request, &config, &why)) {
        kw_explain(&choice->explanation, KW_EXPLAIN_WISDOM, "wisdom of %s was not used: %s; %s", choice->value.date, why.text,
                   kw_wisdom_location(wisdom, layer));
        kw_log_line(&request->context->settings, "wisdom for %s was not used: %s", request->text, why.text);
    }
}

void kw_wisdom_answer(kw_choice *choice, const kw_request *request) {
    kw_wisdom *wisdom = request->context->wisdom;
    choice->wisdom_generation = kw_wisdom_generation(wisdom);
    for (int layer = 0; layer < KW_LAYER_COUNT && !choice->loaded; layer++) {
        ask_wisdom_layer(choice, request, layer);
    }
    if (!choice->loaded) {
        return;
    }
    if (request->mode >= KW_SHORTLIST && kw_wisdom_needs_verification(wisdom, &choice->value, choice->loaded->builder)) {
        choice->in_doubt = choice->loaded;
        choice->loaded = NULL;
    } else {
        explain_wisdom(choice, request);
    }
}

/* --- verified again --------------------------------------------------------------------------------------------------- */

/* *good: choice->loaded may be used; *renewed: wisdom may say so too (false where there was no way to verify it). */
static void verify_loaded(kw_choice *choice, const kw_request *request, bool *good, bool *renewed) {
    kw_context *context = request->context;
    kw_explanation_list *explanation = &choice->explanation;
    const kw_loaded_kernel *loaded = choice->loaded;
    kw_bench *bench = NULL;
    kw_record record = {0};
    kw_error why = {0};
    kw_status status = kw_bench_open(&bench, context->backend, context->device, &request->problem, 0, &why);
    status = status ? status : kw_bench_verify(bench, loaded->kernel, &loaded->config, &record, &why);
    *good = status || record.outcome == KW_GOOD;
    *renewed = !status && *good;
    if (status) {
        kw_explain(explanation, KW_EXPLAIN_WISDOM, "it was due to be verified again and could not be: %s", why.text);
        kw_log_line(&context->settings, "wisdom for %s could not be verified again: %s", request->text, why.text);
    } else if (*good) {
        kw_explain(explanation, KW_EXPLAIN_WISDOM,
                   "verified again now: its kernel is of another compiler than was measured, or it is long ago");
    } else {
        kw_explain(explanation, KW_EXPLAIN_WISDOM, "verified again now, and wrong: %s: %s", kw_outcome_name(record.outcome), record.detail);
        kw_log_line(&context->settings, "wisdom for %s was not used: verified again, %s is %s: %s", request->text, loaded->text,
                    kw_outcome_name(record.outcome), record.detail);
    }
    kw_bench_close(&bench);
}

/* The entry says when and with whose kernel it was found to be right, unless somebody changed it meanwhile. From the system's layer it is
 * copied to the user's. */
static kw_status renew_wisdom_value(kw_choice *choice, const kw_request *request, kw_error *err) {
    kw_wisdom *wisdom = request->context->wisdom;
    kw_wisdom_value *value = &choice->value, standing;
    kw_wisdom_refresh(wisdom);
    for (int layer = 0; layer <= KW_LAYER_USER; layer++) {
        if (kw_wisdom_find(wisdom, layer, request->wisdom_key, &standing) &&
            (strcmp(standing.config, value->config) || standing.time_ns != value->time_ns)) {
            return KW_OK;
        }
    }
    kw_clock_date(value->checked);
    snprintf(value->builder, sizeof value->builder, "%s", choice->loaded->builder);
    return kw_wisdom_record(wisdom, request->wisdom_key, value, true, NULL, err);
}

kw_status kw_wisdom_verify(kw_choice *choice, const kw_request *request, kw_error *err) {
    bool good = false, renewed = false;
    choice->loaded = choice->in_doubt;
    choice->in_doubt = NULL;
    explain_wisdom(choice, request);
    verify_loaded(choice, request, &good, &renewed);
    if (!good) {
        choice->stale = true;
        kw_kernel_cache_release(&request->context->kernel_cache, &choice->loaded);
    }
    return good && renewed ? renew_wisdom_value(choice, request, err) : KW_OK;
}

/* --- remembering ------------------------------------------------------------------------------------------------------ */

/* What stands in wisdom, where it is another kernel that may be used: it takes the place of the winner. */
static void take_standing_winner(kw_choice *choice, const kw_request *request, int layer, const kw_wisdom_value *standing) {
    kw_choice other = {.value = *standing, .layer = layer};
    kw_config config;
    kw_error why = {0};
    if (!check_wisdom_value(&other, &config, request, &why) && !acquire_cached_kernel(&other, request, &config, &why)) {
        kw_kernel_cache_release(&request->context->kernel_cache, &choice->loaded);
        choice->loaded = other.loaded;
        choice->launch = other.launch;
        choice->value = *standing;
        choice->layer = layer;
        kw_explain(&choice->explanation, KW_EXPLAIN_WISDOM, "another process decided first: its answer is used");
        explain_wisdom(choice, request);
    }
}

kw_status kw_wisdom_remember(kw_choice *choice, const kw_request *request, const kw_wisdom_value *winner, kw_error *err) {
    kw_wisdom *wisdom = request->context->wisdom;
    kw_error unsaved = {0};
    kw_status status = kw_wisdom_record(wisdom, request->wisdom_key, winner, request->remeasure || choice->stale, &unsaved, err);
    kw_wisdom_value standing;
    if (unsaved.status) {
        kw_explain(&choice->explanation, KW_EXPLAIN_UNSAVED, "wisdom is kept in memory only: %s", unsaved.text);
    }
    for (int layer = 0; !status && layer <= KW_LAYER_USER; layer++) {
        if (kw_wisdom_find(wisdom, layer, request->wisdom_key, &standing)) {
            if (strcmp(standing.config, winner->config) != 0) {
                take_standing_winner(choice, request, layer, &standing);
            } else {
                choice->launch.team = standing.threads; /* who wrote first has decided that as well */
            }
            break;
        }
    }
    return status;
}
