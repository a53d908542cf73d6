/* plan.c: plans. A plan is a handle on a shared impl plus its own packed weights; making one again for a known problem is a look-up, and
 * running one checks pointers and calls the kernel. */
#include "base/sized.h"
#include "base/os/clock.h"
#include "config/launch/team.h"
#include "dispatch/choose/choose.h"
#include "dispatch/plan.h"
#include "dispatch/tailored/tailored.h"
#include "problem/groups/groups.h"
#include "problem/tensors/filter.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHORTLIST_DEFAULT = 8, SHORTLIST_MAX = 100000 };

static const char *const tensor_names[KW_TENSOR_COUNT] = {"x", "w", "y"};

/* --- making ------------------------------------------------------------------------------------------------------- */

static kw_status read_plan_options(kw_plan_key *key, const kw_context *context, const kw_plan_options *options, kw_error *err) {
    if (options->mode < KW_MODE_DEFAULT || options->mode > KW_EXHAUSTIVE) {
        return kw_fail(err, KW_ILLEGAL, "mode=%d is not a kw_mode; use 0 for the default", (int)options->mode);
    }
    if (options->workspace_max < KW_WORKSPACE_NONE) {
        return kw_fail(err, KW_ILLEGAL, "workspace_max=%" PRId64 " is negative; use 0 for no limit, KW_WORKSPACE_NONE for no workspace",
                       options->workspace_max);
    }
    if (options->shortlist < 0 || options->shortlist > SHORTLIST_MAX) {
        return kw_fail(err, KW_ILLEGAL, "shortlist=%d is not within 1..%d; use 0 for %d", options->shortlist, SHORTLIST_MAX,
                       SHORTLIST_DEFAULT);
    }
    if (options->registry && options->registry->context != context) {
        return kw_fail(err, KW_ILLEGAL, "the registry belongs to another context; create it on the plan's");
    }
    key->registry = options->registry ? options->registry->serial : 0;
    key->workspace_max = !options->workspace_max ? INT64_MAX : options->workspace_max == KW_WORKSPACE_NONE ? 0 : options->workspace_max;
    key->mode = (int32_t)(options->mode ? options->mode : context->settings.mode);
    key->shortlist = options->shortlist ? options->shortlist : SHORTLIST_DEFAULT;
    key->frozen_is_error = options->frozen_is_error;
    key->fresh_weights = options->fresh_weights;
    return KW_OK;
}

/* Small work that does not get all threads that it could use; of what was measured who measured tells. */
static void explain_threads(kw_explanation_list *explanation, const kw_choice *choice, const kw_request *request) {
    const kw_target *target = request->context->target;
    int64_t widest = 1, bytes = kw_problem_bytes(&request->problem);
    for (int i = 0; i < choice->launch.stages; i++) {
        widest = kw_max(widest, choice->launch.stage[i].units);
    }
    int64_t could = kw_min(widest, target->units), team = kw_team_threads(&choice->launch, bytes, target->units);
    if (!kw_target_is_gpu(target) && !choice->launch.team && team < could) {
        kw_explain(explanation, KW_EXPLAIN_THREADS,
                   "runs on %" PRId64 " of %" PRId64 " threads: %.0f vector instructions and %.0f kB of tensors are little work; a thread"
                   " more is taken for %.0f or %.0f kB",
                   team, could, fmax(choice->launch.multiply_adds, choice->launch.loads / 2), (double)bytes / 1e3, KW_TEAM_INSTRUCTIONS,
                   KW_TEAM_BYTES / 1e3);
    }
}

static void explain_tailored(kw_explanation_list *explanation, const kw_choice *choice, const kw_request *request) {
    kw_config plain = kw_config_plain(&choice->loaded->config);
    if (!kw_catalog_has(&request->registry->catalog, &plain) && kw_tailored_has(request, &plain)) {
        kw_explain(explanation, KW_EXPLAIN_TAILORED, "%s", "made to the problem's measure: no set lists this kernel");
    }
}

static void explain_bias(kw_explanation_list *explanation, const kw_request *request) {
    if (kw_epilogue_bias_gradient(&request->problem.epilogue)) {
        kw_explain(explanation, KW_EXPLAIN_PASSES, "%s",
                   kw_target_is_gpu(request->context->target)
                       ? "the gradient of the bias is summed by a second pass over y, in two launches"
                       : "the gradient of the bias is summed beside the kernel's first stage, from y once more");
    }
}

static void explain_x_sums(kw_explanation_list *explanation, const kw_choice *choice) {
    if (choice->launch.turning.x_sums) {
        kw_explain(explanation, KW_EXPLAIN_PASSES, "%s",
                   "sums of x, which the zero points of w are multiplied by, are formed in front of the kernel's stages, from x once more");
    }
}

static void explain_filter(kw_explanation_list *explanation, const kw_choice *choice, const kw_request *request) {
    const kw_problem *problem = &request->problem;
    if (choice->launch.turning.copy[KW_W].made && kw_filter_order_normal(problem)) {
        kw_explain(explanation, KW_EXPLAIN_PASSES,
                   kw_problem_result(problem) == KW_W
                       ? "what the kernel wrote is copied into the order %s behind the kernel's own stages, in each run"
                       : "the filter is copied from the order %s when weights are packed",
                   kw_filter_order_name(problem->filter_order));
    }
}

/* The choice bound to the problem; the choice is empty afterwards. */
static kw_status make_plan_impl(kw_plan_impl **impl, const kw_plan_key *key, kw_choice *choice, const kw_request *request, kw_error *err) {
    kw_context *context = request->context;
    kw_plan_impl *made = calloc(1, sizeof *made);
    if (!made) {
        return kw_fail_memory(err, "a plan");
    }
    made->key = *key;
    made->context = context;
    made->users = 1;
    made->loaded = choice->loaded;
    made->records = choice->records;
    made->record_count = choice->record_count;
    explain_threads(&choice->explanation, choice, request);
    explain_tailored(&choice->explanation, choice, request);
    explain_bias(&choice->explanation, request);
    explain_filter(&choice->explanation, choice, request);
    explain_x_sums(&choice->explanation, choice);
    made->explanation = choice->explanation;
    made->launch = choice->launch;
    choice->loaded = NULL;
    choice->records = NULL;
    choice->explanation = (kw_explanation_list){0};
    made->layout = kw_workspace_layout_of(&made->launch, context->target, false);
    made->layout_packed = kw_workspace_layout_of(&made->launch, context->target, true);
    for (int i = 0; i < KW_TENSOR_COUNT; i++) {
        made->align[i] = kw_backend_alignment(context->target, kw_problem_dtype(&key->problem, (kw_tensor)i)) - 1;
    }
    kw_status status = made->explanation.texts.failed ? kw_fail_memory(err, "a plan") : KW_OK;
    status =
        status ? status : context->backend->bind(context->device, made->loaded->kernel, &key->problem, &made->launch, &made->bound, err);
    if (!status && request->registry->serial) {
        /* Now, because the registry may be gone when the explanation is asked for. */
        kw_explain_rejections(&made->rejections, request->registry, &key->problem);
    }
    if (status) {
        kw_plan_impl_drop(made, &context->kernel_cache);
        return status;
    }
    *impl = made;
    return KW_OK;
}

/* Chooses by measuring, one request at a time; another thread, or process, may have answered this one meanwhile. */
static kw_status measure_plan_impl(kw_plan_impl **impl, const kw_plan_key *key, kw_choice *choice, const kw_request *request,
                                   kw_error *err) {
    kw_context *context = request->context;
    kw_status status = KW_OK;
    kw_context_measuring_begin(context);
    *impl = request->remeasure ? NULL : kw_plan_cache_acquire(&context->plan_cache, key);
    if (*impl) {
        goto out;
    }
    if (kw_wisdom_refresh(context->wisdom) != choice->wisdom_generation && !request->remeasure) {
        kw_choice_drop(choice, context);
        status = kw_choose_known(choice, request, err);
    }
    if (!status && !choice->loaded) {
        status = kw_choose_measured(choice, request, err);
        kw_plan_cache_invalidate_problem(&context->plan_cache, &context->kernel_cache, &key->problem);
    }
    status = status ? status : make_plan_impl(impl, key, choice, request, err);
    if (!status) {
        kw_plan_cache_insert(&context->plan_cache, &context->kernel_cache, *impl);
    }
out:
    kw_context_measuring_end(context);
    return status;
}

static kw_status find_plan_impl(kw_plan_impl **impl, kw_context *context, const kw_plan_key *key, const kw_plan_options *options,
                                kw_error *err) {
    kw_request request = {
        .context = context,
        .registry = options->registry,
        .problem = key->problem,
        .mode = (kw_mode)key->mode,
        .workspace_max = key->workspace_max,
        .shortlist = key->shortlist,
        .frozen_is_error = options->frozen_is_error,
        .remeasure = options->remeasure,
        .fresh_weights = options->fresh_weights,
        .progress = options->progress,
        .user = options->user,
    };
    kw_choice choice = {0};
    kw_status status = kw_problem_check(&key->problem, err);
    if (!status && request.mode != KW_FROZEN) {
        kw_context_learn_rates(context);
    }
    status = status || request.registry ? status : kw_registry_default(&request.registry, context, err);
    if (status) {
        return status;
    }
    kw_problem_print(request.text, sizeof request.text, &key->problem);
    kw_wisdom_key_print(request.wisdom_key, request.text, key->fresh_weights);
    status = kw_choose_known(&choice, &request, err);
    if (!status && choice.loaded) {
        status = make_plan_impl(impl, key, &choice, &request, err);
        if (!status) {
            kw_plan_cache_insert(&context->plan_cache, &context->kernel_cache, *impl);
        }
    } else if (!status) {
        status = measure_plan_impl(impl, key, &choice, &request, err);
    }
    kw_choice_drop(&choice, context);
    return status;
}

kw_status kw_plan_create(kw_plan **plan, kw_context *context, const kw_problem *problem, const kw_plan_options *options, kw_error *err) {
    if (!plan || !context || !problem) {
        return kw_fail(err, KW_ILLEGAL, "kw_plan_create: %s is NULL", !plan ? "plan" : !context ? "context" : "problem");
    }
    *plan = NULL;
    kw_plan_key key;
    kw_plan_options own;
    kw_status status = kw_context_check(context, err);
    status = status ? status : KW_SIZED_READ(&own, kw_plan_options, user, options, err);
    if (status) {
        return status;
    }
    options = &own;
    kw_plan_key_make(&key, problem);
    status = status ? status : read_plan_options(&key, context, options, err);
    if (status) {
        return status;
    }
    kw_plan *made = calloc(1, sizeof *made);
    if (!made) {
        return kw_fail_memory(err, "a plan");
    }
    made->impl = options->remeasure ? NULL : kw_plan_cache_acquire(&context->plan_cache, &key);
    status = made->impl ? KW_OK : find_plan_impl(&made->impl, context, &key, options, err);
    if (status) {
        free(made);
        return status;
    }
    *plan = made;
    return KW_OK;
}

void kw_plan_destroy(kw_plan **plan) {
    if (!plan || !*plan) {
        return;
    }
    kw_context *context = (*plan)->impl->context;
    kw_plan_set_packed(*plan, NULL, false);
    if (!kw_context_lost(context)) {
        kw_plan_cache_release(&context->plan_cache, &context->kernel_cache, &(*plan)->impl);
    }
    free(*plan);
    *plan = NULL;
}

/* --- running ------------------------------------------------------------------------------------------------------ */

static kw_status fail_tensor(const kw_plan *plan, int tensor, const void *memory, kw_error *err) {
    const char *name = tensor_names[tensor];
    if (!memory) {
        return kw_fail(err, KW_ILLEGAL, "tensor %s is NULL; it has %" PRId64 " elements%s", name,
                       kw_problem_elements(&plan->impl->key.problem, (kw_tensor)tensor),
                       tensor == KW_W ? " and may be missing only after kw_plan_pack_weights or kw_plan_use_packed" : "");
    }
    return kw_fail(err, KW_ILLEGAL, "tensor %s at %p is not aligned to %s%zu bytes", name, memory,
                   kw_target_is_gpu(plan->impl->context->target) ? "" : "its type's ", (size_t)plan->impl->align[tensor] + 1);
}

/* Parts of one larger tensor may lie between each other, so addresses alone are compared. */
static kw_status check_result_not_operand(const kw_plan *plan, void *const tensor[KW_TENSOR_COUNT], kw_error *err) {
    kw_tensor result = kw_problem_result(&plan->impl->key.problem);
    for (int i = 0; i < KW_TENSOR_COUNT; i++) {
        if (i != (int)result && tensor[i] == tensor[result]) {
            return kw_fail(
                err, KW_ILLEGAL,
                "rule result_not_operand: tensors %s and %s are both at %p, and %s is written while %s is read; give it memory of its own",
                tensor_names[i], tensor_names[result], tensor[i], tensor_names[result], tensor_names[i]);
        }
    }
    return KW_OK;
}

static kw_status fail_workspace(const kw_plan *plan, const void *workspace, kw_error *err) {
    if (!workspace) {
        return kw_fail(err, KW_ILLEGAL, "workspace is NULL; the plan needs %" PRId64 " bytes, see kw_plan_workspace",
                       kw_plan_workspace(plan));
    }
    return kw_fail(err, KW_ILLEGAL, "workspace at %p is not aligned to %d bytes", workspace, KW_WORKSPACE_ALIGN);
}

static kw_status read_extras(kw_launch_memory *memory, const kw_plan *plan, const kw_tensors *tensors, kw_error *err) {
    const kw_plan_impl *impl = plan->impl;
    kw_extra extras[KW_EXTRA_MAX];
    int count = kw_problem_extras(extras, &impl->key.problem);
    for (int i = 0; i < count; i++) {
        size_t align = kw_backend_alignment(impl->context->target, extras[i].dtype);
        bool writes = i == 0 && kw_epilogue_bias_gradient(&impl->key.problem.epilogue);
        memory->extra[i] = tensors->extra[i];
        if (!memory->extra[i]) {
            return kw_fail(err, KW_ILLEGAL, "tensor extra[%d] is NULL; step %s of the epilogue %s %" PRId64 " elements of %s", i,
                           extras[i].name, writes ? "writes" : "reads", extras[i].elements, kw_dtype_name(extras[i].dtype));
        }
        if ((uintptr_t)memory->extra[i] % align) {
            return kw_fail(err, KW_ILLEGAL, "tensor extra[%d] at %p (of step %s) is not aligned to %zu bytes", i, memory->extra[i],
                           extras[i].name, align);
        }
    }
    return KW_OK;
}

static kw_status read_ends(kw_launch_memory *memory, const kw_plan *plan, const kw_tensors *tensors, kw_error *err) {
    const kw_problem *problem = &plan->impl->key.problem;
    memory->ends = tensors->ends;
    if (!memory->ends) {
        return kw_fail(err, KW_ILLEGAL, "ends is NULL; the product has %" PRId64 " groups of rows, and ends says where each of them ends",
                       problem->gemm.groups);
    }
    if ((uintptr_t)memory->ends % sizeof *memory->ends) {
        return kw_fail(err, KW_ILLEGAL, "ends at %p is not aligned to %zu bytes", (const void *)memory->ends, sizeof *memory->ends);
    }
    /* A device's memory is not read here. */
    return kw_target_is_gpu(plan->impl->context->target) ? KW_OK : kw_group_ends_check(problem, memory->ends, err);
}

kw_status kw_plan_read_tensors(kw_launch_memory *memory, const kw_plan *plan, const kw_tensors *tensors, kw_error *err) {
    const kw_plan_impl *impl = plan->impl;
    kw_tensors own;
    kw_status status = KW_SIZED_READ(&own, kw_tensors, workspace, tensors, err);
    if (status) {
        return status;
    }
    tensors = &own;
    *memory = (kw_launch_memory){.tensor = {tensors->x, tensors->w, tensors->y}, .packed = plan->packed};
    for (int i = 0; i < KW_TENSOR_COUNT; i++) {
        bool needed = i != KW_W || !plan->packed;
        if ((needed && !memory->tensor[i]) || ((uintptr_t)memory->tensor[i] & impl->align[i])) {
            return fail_tensor(plan, i, memory->tensor[i], err);
        }
    }
    status = check_result_not_operand(plan, memory->tensor, err);
    if (status) {
        return status;
    }
    if (impl->key.problem.epilogue.count) {
        status = read_extras(memory, plan, tensors, err);
        if (status) {
            return status;
        }
    }
    if (kw_problem_is_grouped(&impl->key.problem)) {
        status = read_ends(memory, plan, tensors, err);
        if (status) {
            return status;
        }
    }
    const kw_workspace_layout *layout = plan->packed ? &impl->layout_packed : &impl->layout;
    if (layout->bytes) {
        char *workspace = tensors->workspace;
        if (!workspace || ((uintptr_t)workspace & (KW_WORKSPACE_ALIGN - 1))) {
            return fail_workspace(plan, workspace, err);
        }
        memory->packed = plan->packed ? plan->packed : workspace;
        memory->shared = workspace + layout->shared;
        memory->threads = workspace + layout->threads;
    }
    return KW_OK;
}

kw_status kw_plan_run(const kw_plan *plan, const kw_tensors *tensors, void *stream, kw_error *err) {
    if (!plan || !tensors) {
        return kw_fail(err, KW_ILLEGAL, "kw_plan_run: %s is NULL", plan ? "tensors" : "plan");
    }
    const kw_plan_impl *impl = plan->impl;
    const kw_backend *backend = impl->context->backend;
    if (stream && !backend->sync) {
        return kw_fail(err, KW_ILLEGAL, "kw_plan_run: device %s has no streams; pass NULL", kw_backend_name(backend));
    }
    kw_launch_memory memory;
    kw_status status = kw_plan_read_tensors(&memory, plan, tensors, err);
    status = status ? status : backend->run(impl->bound, &memory, plan->packed ? KW_RUN_REST : KW_RUN_ALL, stream, err);
    return status || stream || !backend->sync ? status : backend->sync(impl->context->device, err);
}

/* In pieces that are queued without a wait between their runs. */
static kw_status time_plan_on_device(double *ns, const kw_plan *plan, const kw_launch_memory *memory, int32_t calls, kw_error *err) {
    enum { PIECE = 64 };
    kw_launch_memory list[PIECE];
    const kw_plan_impl *impl = plan->impl;
    kw_status status = KW_OK;
    for (int i = 0; i < PIECE; i++) {
        list[i] = *memory;
    }
    for (int32_t left = calls; left > 0 && !status; left -= PIECE) {
        size_t count = (size_t)(left < PIECE ? left : PIECE);
        double piece = 0;
        status = impl->context->backend->time(impl->bound, list, count, plan->packed ? KW_RUN_REST : KW_RUN_ALL, &piece, err);
        *ns += piece;
    }
    return status;
}

kw_status kw_plan_time(double *ns, const kw_plan *plan, const kw_tensors *tensors, int32_t calls, kw_error *err) {
    if (!ns || !plan || !tensors || calls < 1) {
        return kw_fail(err, KW_ILLEGAL, "kw_plan_time: %s",
                       !ns        ? "ns is NULL"
                       : !plan    ? "plan is NULL"
                       : !tensors ? "tensors is NULL"
                                  : "calls is below 1");
    }
    kw_launch_memory memory;
    *ns = 0;
    kw_status status = kw_plan_read_tensors(&memory, plan, tensors, err);
    if (!status && plan->impl->context->backend->time) {
        status = time_plan_on_device(ns, plan, &memory, calls, err);
    } else if (!status) {
        int64_t start = kw_clock_ns();
        for (int32_t i = 0; i < calls && !status; i++) {
            status = kw_plan_run(plan, tensors, NULL, err);
        }
        *ns = (double)(kw_clock_ns() - start);
    }
    *ns = status ? 0 : *ns / calls;
    return status;
}

int64_t kw_plan_workspace(const kw_plan *plan) {
    return plan ? (plan->packed ? plan->impl->layout_packed.bytes : plan->impl->layout.bytes) : 0;
}

bool kw_plan_wants_packing(const kw_plan *plan) {
    return plan && plan->impl->launch.packed_bytes > 0;
}

kw_status kw_plan_check_weights(const kw_plan *plan, const void *w, kw_error *err) {
    return (uintptr_t)w & plan->impl->align[KW_W] ? fail_tensor(plan, KW_W, w, err) : KW_OK;
}

kw_status kw_plan_pack_into(const kw_plan *plan, void *packed, const void *w, kw_error *err) {
    const kw_plan_impl *impl = plan->impl;
    const kw_backend *backend = impl->context->backend;
    void *threads = NULL;
    size_t piece = (size_t)(impl->layout_packed.bytes - impl->layout_packed.threads);
    kw_status status = piece ? kw_context_allocate(impl->context, piece, &threads, err) : KW_OK;
    if (!status) {
        kw_launch_memory memory = {.tensor = {NULL, (void *)(uintptr_t)w, NULL}, .packed = packed, .threads = threads};
        status = backend->run(impl->bound, &memory, KW_RUN_PACK, NULL, err);
        status = status || !backend->sync ? status : backend->sync(impl->context->device, err);
    }
    kw_context_release(impl->context, threads, piece);
    return status;
}

void kw_plan_set_packed(kw_plan *plan, void *packed, bool owned) {
    if (plan->owned && plan->packed != packed) {
        kw_context_release(plan->impl->context, plan->packed, (size_t)plan->impl->launch.packed_bytes);
    }
    plan->packed = packed;
    plan->owned = owned;
}

kw_status kw_plan_pack_weights(kw_plan *plan, const void *w, kw_error *err) {
    if (!plan || !w) {
        return kw_fail(err, KW_ILLEGAL, "kw_plan_pack_weights: %s is NULL", plan ? "w" : "plan");
    }
    kw_context *context = plan->impl->context;
    size_t bytes = (size_t)plan->impl->launch.packed_bytes;
    void *packed = plan->owned ? plan->packed : NULL;
    kw_status status = kw_plan_check_weights(plan, w, err);
    if (status || !bytes) {
        return status;
    }
    status = packed ? KW_OK : kw_context_allocate(context, bytes, &packed, err);
    status = status ? status : kw_plan_pack_into(plan, packed, w, err);
    if (!status) {
        kw_plan_set_packed(plan, packed, true);
    } else if (!plan->owned) {
        kw_context_release(context, packed, bytes);
    }
    return status;
}

/* --- asking ------------------------------------------------------------------------------------------------------- */

const char *kw_plan_config(const kw_plan *plan) {
    return plan ? plan->impl->loaded->text : "";
}

const kw_record *kw_plan_records(const kw_plan *plan, size_t *count) {
    if (count) {
        *count = plan ? plan->impl->record_count : 0;
    }
    return plan ? plan->impl->records : NULL;
}

static const char no_explanation[] = "there was no memory for the explanation";

/* The rejections and the prose, made when they are first asked for, and prose again with each note. NULL: no memory for it. *note: the newest. */
static const char *complete_explanation(const kw_join_note **note, kw_plan_impl *impl) {
    kw_plan_cache *cache = &impl->context->plan_cache;
    pthread_mutex_lock(&cache->lock);
    kw_join_note *newest = impl->notes;
    char **prose = newest ? &newest->explain : &impl->explain;
    const char *known = *prose;
    bool rejected = impl->key.registry || impl->rejected;
    pthread_mutex_unlock(&cache->lock);
    *note = newest;
    if (known) {
        return known;
    }
    kw_text text = {0};
    const kw_registry *registry;
    kw_explanation_list rejections = {0};
    if (!rejected && !kw_registry_default(&registry, impl->context, NULL)) {
        kw_explain_rejections(&rejections, registry, &impl->key.problem);
    }
    kw_text_addf(&text, "%s\n", impl->loaded->text);
    kw_explanation_list_print(&text, &impl->explanation);
    if (newest) {
        kw_explanation_list_print(&text, &newest->line);
    }
    kw_explanation_list_print(&text, rejected ? &impl->rejections : &rejections);
    char *made = kw_text_take(&text);
    pthread_mutex_lock(&cache->lock);
    if (!impl->key.registry && !impl->rejected) {
        impl->rejections = rejections;
        impl->rejected = true;
        rejections = (kw_explanation_list){0};
    }
    if (!*prose && made) {
        *prose = made;
        made = NULL;
    }
    known = *prose;
    pthread_mutex_unlock(&cache->lock);
    kw_explanation_list_drop(&rejections);
    free(made);
    return known;
}

const char *kw_plan_explain(const kw_plan *plan) {
    const kw_join_note *note;
    const char *known = plan && !kw_context_lost(plan->impl->context) ? complete_explanation(&note, plan->impl) : "";
    return known ? known : no_explanation;
}

void kw_explanation_visit(const kw_plan *plan, bool (*visit)(void *user, const kw_explanation *explanation), void *user) {
    const kw_join_note *note;
    if (!plan || !visit || kw_context_lost(plan->impl->context)) {
        return;
    }
    if (!complete_explanation(&note, plan->impl)) {
        visit(user, &(kw_explanation){.text = no_explanation});
        return;
    }
    const kw_explanation_list *lists[] = {&plan->impl->explanation, note ? &note->line : NULL, &plan->impl->rejections};
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        for (size_t i = 0; lists[l] && i < lists[l]->count; i++) {
            kw_explanation explanation = kw_explanation_at(lists[l], i);
            if (!visit(user, &explanation)) {
                return;
            }
        }
    }
}
