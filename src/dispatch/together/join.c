/* join.c: which plans of a GPU run in one launch when kw_plans_run is given them, and by which kernel (kw_plans_join).
 *
 * Products that want the same of a text (type, layout, epilogue, ...) make a class. For a class each kernel of the catalog that joins is tried by
 * the estimate: every product it serves either adds its tiles to the one launch or stays a launch of its own, whichever is the shorter; the kernel with
 * the least time for all of them is taken. A launch is no shorter than its longest tile, so a few products of great depth may be left out for that.
 * What no kernel serves together with others is queued. */
#include "config/config.h"
#include "dispatch/plan.h"
#include "predict/predict.h"

#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So that the units of a launch can be counted. */
enum { UNITS_MAX = INT32_MAX / KW_BACKEND_JOINED_MAX };

/* A plan of the list. own_ns: a launch of its own. ns, tile_ns: by the kernel that is looked at; ns INFINITY: it does not serve it. least_ns: by
 * the best of the kernels that were looked at. */
typedef struct member {
    const kw_plan *plan;
    size_t number; /* in the list */
    double own_ns, ns, tile_ns, least_ns;
    bool settled, joins;
} member;

typedef struct joining {
    kw_context *context;
    const kw_registry *registry;
    member *members;
    size_t count;
    member **class; /* those that are looked at */
    size_t class_count;
    kw_text *text;
} joining;

static kw_joint *joint_of(const member *m) {
    return atomic_load_explicit(&m->plan->impl->joint, memory_order_acquire);
}

static const kw_problem *problem_of(const member *m) {
    return &m->plan->impl->key.problem;
}

/* --- what a kernel is worth to a class --- */

/* What each member of the class would add to a launch by the kernel. Returns what the launch costs besides. */
static double estimate_members(const joining *j, const kw_config *config) {
    double start_ns = 0;
    for (size_t i = 0; i < j->class_count; i++) {
        member *m = j->class[i];
        const kw_problem *problem = problem_of(m);
        kw_config joined = *config;
        kw_launch launch;
        joined.wants = (kw_wants){.joined = true};
        bool serves = !kw_config_serves(&joined, &joined, problem, j->context->target, NULL);
        m->ns = INFINITY;
        if (serves) {
            kw_config_launch(&joined, problem, j->context->target, &launch);
            serves = launch.stages == 1 && !launch.shared_bytes && !launch.packed_bytes && launch.stage[0].units <= UNITS_MAX;
        }
        if (serves) {
            kw_joined_estimate e = kw_predict_joined(&joined, problem, j->context->target, &launch);
            m->ns = e.ns;
            m->tile_ns = e.tile_ns;
            m->least_ns = fmin(m->least_ns, e.ns);
            start_ns = e.start_ns;
        }
    }
    return start_ns;
}

static bool may_join(const member *m, double longest_tile_ns) {
    return m->ns < m->own_ns && m->tile_ns <= longest_tile_ns;
}

/* How long the class takes where what joins has no tile longer than that; INFINITY where fewer than two would. */
static double time_of_class(const joining *j, double start_ns, double longest_tile_ns) {
    double joined_ns = 0, longest_ns = 0, queued_ns = 0;
    size_t joins = 0;
    for (size_t i = 0; i < j->class_count; i++) {
        const member *m = j->class[i];
        if (may_join(m, longest_tile_ns)) {
            joins++;
            joined_ns += m->ns;
            longest_ns = fmax(longest_ns, m->tile_ns);
        } else {
            queued_ns += m->own_ns;
        }
    }
    return joins > 1 ? start_ns + fmax(joined_ns, longest_ns) + queued_ns : INFINITY;
}

/* How long the class takes at best by the kernel, and which members join then. */
static double weigh_kernel(const joining *j, const kw_config *config) {
    double start_ns = estimate_members(j, config), best_ns = INFINITY, longest_tile_ns = -1;
    for (size_t i = 0; i < j->class_count; i++) { /* each limit that is worth a thought is some member's own */
        const member *m = j->class[i];
        double ns = m->ns < INFINITY ? time_of_class(j, start_ns, m->tile_ns) : INFINITY;
        if (ns < best_ns) {
            best_ns = ns;
            longest_tile_ns = m->tile_ns;
        }
    }
    for (size_t i = 0; i < j->class_count; i++) {
        j->class[i]->joins = may_join(j->class[i], longest_tile_ns);
    }
    return best_ns;
}

/* --- making --- */

static kw_status bind_member(const joining *j, const member *m, const kw_config *config, kw_error *err) {
    kw_context *context = j->context;
    kw_joint *made = calloc(1, sizeof *made), *none = NULL;
    kw_launch launch;
    if (!made) {
        return kw_fail_memory(err, "what joins plans");
    }
    kw_status status = kw_kernel_cache_acquire(&made->loaded, &context->kernel_cache, config, true, err);
    if (status) {
        free(made);
        return status;
    }
    kw_config_launch(config, problem_of(m), context->target, &launch);
    status = context->backend->bind(context->device, made->loaded->kernel, problem_of(m), &launch, &made->bound, err);
    if (status) {
        kw_kernel_cache_release(&context->kernel_cache, &made->loaded);
        free(made);
        return status;
    }
    if (!atomic_compare_exchange_strong(&m->plan->impl->joint, &none, made)) { /* another thread was first, or the plan is there twice */
        kw_joint_drop(made, &context->kernel_cache);
    }
    return KW_OK;
}

/* What the plan's own explanation says of it from now on. */
static void __attribute__((format(printf, 3, 4))) note(const joining *j, const member *m, const char *format, ...) {
    char text[KW_CONFIG_TEXT_MAX + 256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    kw_plan_impl_note(&j->context->plan_cache, m->plan->impl, j->count > 1 ? text : "alone in its list it runs by its own kernel");
}

/* The class by the kernel, whose members that join are marked. */
static kw_status bind_class(joining *j, const kw_config *config, kw_error *err) {
    size_t joins = 0;
    double ns = 0, own_ns = 0;
    kw_config special = *config;
    kw_status status = KW_OK;
    for (size_t i = 0; i < j->class_count && !status; i++) {
        member *m = j->class[i];
        if (m->joins && !joint_of(m)) {
            special = *config;
            special.wants = (kw_wants){.joined = true};
            status = kw_config_serves(&special, &special, problem_of(m), j->context->target, err);
            status = status ? status : bind_member(j, m, &special, err);
        }
        joins += m->joins;
        ns += m->joins ? m->ns : 0;
        own_ns += m->joins ? m->own_ns : 0;
    }
    if (!status && joins) {
        char text[KW_CONFIG_TEXT_MAX];
        kw_config_print(text, sizeof text, &special);
        kw_text_addf(j->text, "%zu of %zu plans run in one launch, by the estimate %.1f us for %.1f in a launch each: %s\n", joins,
                     j->count, ns / 1e3, own_ns / 1e3, text);
        for (size_t i = 0; i < j->class_count; i++) {
            const member *m = j->class[i];
            if (m->joins) {
                note(j, m,
                     "together with %zu more of a list of %zu it runs in one launch, to which it adds %.2f us by the estimate, alone it "
                     "takes %.2f: %s",
                     joins - 1, j->count, m->ns / 1e3, m->own_ns / 1e3, text);
            }
        }
    }
    return status;
}

/* Members of the same wishes as the first that is not settled. */
static void gather_class(joining *j) {
    const kw_problem *first = NULL;
    kw_wants wants = {0};
    j->class_count = 0;
    for (size_t i = 0; i < j->count; i++) {
        member *m = &j->members[i];
        if (m->settled) {
            continue;
        }
        const kw_problem *p = problem_of(m);
        kw_wants own = kw_problem_wants(p);
        if (!first) {
            first = p;
            wants = own;
        }
        if (p->dtype == first->dtype && p->layout == first->layout && kw_wants_differ(&own, &wants) == KW_WANT_COUNT) {
            j->class[j->class_count++] = m;
        }
    }
}

static void settle(joining *j, member *m, const char *why) {
    m->settled = true;
    kw_text_addf(j->text, "plan %zu is queued: %s\n", m->number, why);
    note(j, m, "beside %zu more of a list it has a launch of its own: %s", j->count - 1, why);
}

/* Why a member of a class for which there is no kernel stays apart. */
static void settle_apart(joining *j, member *m) {
    char why[160] = "no kernel that joins takes it beside another like it in less time than its own launch";
    if (m->least_ns == INFINITY) {
        snprintf(why, sizeof why, "no kernel that joins serves it");
    } else if (m->least_ns >= m->own_ns) {
        snprintf(why, sizeof why, "its own launch takes %.1f us by the estimate, in one with others it would add %.1f", m->own_ns / 1e3,
                 m->least_ns / 1e3);
    } else if (j->class_count < 2) {
        snprintf(why, sizeof why, "no other product that does not join already has its type, layout, pitches and epilogue");
    }
    settle(j, m, why);
}

/* The kernel that some of the class joined by before, so that others go along; NULL: there is none. These are settled. */
static const kw_config *known_kernel(joining *j) {
    const kw_config *config = NULL;
    for (size_t i = 0; i < j->class_count; i++) {
        const kw_joint *joint = joint_of(j->class[i]);
        if (joint && (!config || kw_config_equal(config, &joint->loaded->config))) {
            config = &joint->loaded->config;
        }
    }
    return config;
}

/* The kernel of the catalog with the least time for the class; NULL: its members are better off in launches of their own. */
static const kw_config *best_kernel(const joining *j) {
    const kw_catalog *catalog = &j->registry->catalog;
    const kw_config *best = NULL;
    double best_ns = 0;
    for (size_t i = 0; i < j->class_count; i++) {
        best_ns += j->class[i]->own_ns;
    }
    for (size_t i = 0; i < catalog->count; i++) {
        const kw_config *config = &catalog->configs[i];
        if (config->family->joins && config->op == KW_GEMM && config->dtype == problem_of(j->class[0])->dtype) {
            double ns = weigh_kernel(j, config);
            best = ns < best_ns ? config : best;
            best_ns = fmin(ns, best_ns);
        }
    }
    return best;
}

/* The members that the kernel takes are bound to it; the others stay for another round, which may find another kernel for some of them. */
static kw_status join_class(joining *j, kw_error *err) {
    const kw_config *known = known_kernel(j), *config = known ? known : best_kernel(j);
    kw_error why = {0};
    if (config) {
        weigh_kernel(j, config);
    }
    kw_status status = config ? bind_class(j, config, &why) : KW_OK;
    if (status == KW_NO_MEMORY || status == KW_ENVIRONMENT) {
        return kw_fail(err, status, "%s", why.text);
    }
    for (size_t i = 0; i < j->class_count; i++) {
        member *m = j->class[i];
        if (joint_of(m)) {
            m->settled = true;
        } else if (!config) {
            settle_apart(j, m);
        } else if (status) { /* a compiler that refuses it, say */
            settle(j, m, why.text);
        }
    }
    return KW_OK;
}

/* Those about which nothing is to be asked, each with its reason. */
static void settle_some(joining *j) {
    for (size_t i = 0; i < j->count; i++) {
        member *m = &j->members[i];
        const kw_plan_impl *impl = m->plan->impl;
        const char *why = impl->key.problem.op != KW_GEMM ? "it is no product"
                          : m->plan->packed               ? "its weights are packed for its own kernel"
                                                          : NULL;
        m->own_ns = kw_predict_ns(&impl->loaded->config, problem_of(m), j->context->target, &impl->launch);
        if (why) {
            settle(j, m, why);
        }
    }
}

static kw_status join_all(joining *j, kw_error *err) {
    kw_status status = kw_registry_default(&j->registry, j->context, err);
    settle_some(j);
    for (gather_class(j); j->class_count && !status; gather_class(j)) {
        status = join_class(j, err);
    }
    return status;
}

static kw_status check_list(const kw_plan *const plans[], size_t count, kw_error *err) {
    for (size_t i = 0; i < count; i++) {
        if (!plans[i]) {
            return kw_fail(err, KW_ILLEGAL, "kw_plans_join: plans[%zu] is NULL", i);
        }
        if (plans[i]->impl->context != plans[0]->impl->context) {
            return kw_fail(err, KW_ILLEGAL, "kw_plans_join: plans[%zu] is of another context than plans[0]; join them apart", i);
        }
    }
    return count ? kw_context_check(plans[0]->impl->context, err) : KW_OK;
}

kw_status kw_plans_join(char **text, const kw_plan *const plans[], size_t count, kw_error *err) {
    kw_text said = {0};
    if (text) {
        *text = NULL;
    }
    if (count && !plans) {
        return kw_fail(err, KW_ILLEGAL, "kw_plans_join: plans is NULL");
    }
    kw_status status = check_list(plans, count, err);
    if (status) {
        return status;
    }
    joining j = {.context = count ? plans[0]->impl->context : NULL, .count = count, .text = &said};
    if (count && !j.context->backend->run_joined) {
        kw_text_addf(&said, "device %s runs plans side by side, each by its own kernel\n", kw_backend_name(j.context->backend));
        for (size_t i = 0; i < count; i++) {
            note(&j, &(member){.plan = plans[i]}, "beside %zu more of a list it runs by its own kernel, small plans on a thread each",
                 count - 1);
        }
    } else if (count) {
        j.members = calloc(count, sizeof *j.members);
        j.class = calloc(count, sizeof *j.class);
        status = j.members && j.class ? KW_OK : kw_fail_memory(err, "a list of plans");
        for (size_t i = 0; i < count && !status; i++) {
            j.members[i] = (member){.plan = plans[i], .number = i, .least_ns = INFINITY};
        }
        status = status ? status : join_all(&j, err);
    }
    if (!status && text) {
        *text = said.failed ? NULL : said.data ? kw_text_take(&said) : strdup("");
        status = *text ? KW_OK : kw_fail_memory(err, "what is to be said of plans that join");
    }
    kw_text_drop(&said);
    free(j.members);
    free(j.class);
    return status;
}
