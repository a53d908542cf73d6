/* tailored.c: what families make passes the rules like any other kernel, and of what is left the best by the estimate are kept,
 * and all whose blocks meet in clusters. */
#include "dispatch/tailored/tailored.h"

static bool family_tailors(const kw_family *family, const kw_request *request) {
    kw_device_kind kind = kw_target_is_gpu(request->context->target) ? KW_KIND_GPU : KW_KIND_CPU;
    return family->tailor && family->kind == kind && family->ops >> request->problem.op & 1 && family->dtypes >> request->problem.dtype & 1;
}

/* Calls take with each config that a family makes for the problem, served or not, until it says that it has enough. */
static bool visit_made(const kw_request *request, bool (*take)(void *user, const kw_config *config), void *user) {
    kw_config made[KW_TAILORED_MAX];
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        size_t count = family_tailors(*family, request) ? (*family)->tailor(&request->problem, request->context->target, made) : 0;
        for (size_t i = 0; i < count; i++) {
            if (!kw_config_check(&made[i], NULL) && take(user, &made[i])) {
                return true;
            }
        }
    }
    return false;
}

typedef struct maker {
    const kw_request *request;
    kw_arena *arena;
    kw_tailored *made; /* room for all once there is one: most problems have none */
    size_t count;
    bool failed;                               /* no memory */
    const kw_tailored *order[KW_TAILORED_MAX]; /* the best by the estimate first */
} maker;

static bool take_in_order(void *user, const kw_config *config) {
    maker *m = user;
    const kw_request *request = m->request;
    const kw_target *target = request->context->target;
    kw_config special;
    if (kw_catalog_has(&request->registry->catalog, config) || kw_config_serves(&special, config, &request->problem, target, NULL)) {
        return false;
    }
    m->made = m->made ? m->made : kw_arena_array(m->arena, KW_TAILORED_MAX, sizeof *m->made);
    if (!m->made) {
        m->failed = true;
        return true;
    }
    kw_tailored *last = &m->made[m->count];
    last->config = special;
    kw_config_launch(&last->config, &request->problem, target, &last->launch);
    last->estimate = kw_estimate_of(&last->config, &request->problem, (double)kw_problem_bytes(&request->problem), target, &last->launch);
    size_t at = m->count++;
    for (; at > 0 && m->order[at - 1]->estimate.ns > last->estimate.ns; at--) {
        m->order[at] = m->order[at - 1];
    }
    m->order[at] = last;
    return m->count == KW_TAILORED_MAX;
}

static bool has_clusters(const kw_launch *launch) {
    bool clusters = false;
    for (int stage = 0; stage < launch->stages; stage++) {
        clusters |= launch->cluster[stage] > 1;
    }
    return clusters;
}

static size_t keep_best(kw_tailored kept[], const maker *m) {
    size_t count = 0, alone = 0;
    for (size_t i = 0; i < m->count && count < KW_TAILORED_KEPT; i++) {
        if (has_clusters(&m->order[i]->launch) || alone++ < KW_TAILORED_BEST) {
            kept[count++] = *m->order[i];
        }
    }
    return count;
}

kw_status kw_tailored_make(kw_tailored **made, size_t *count, kw_arena *arena, const kw_request *request, kw_error *err) {
    maker m = {.request = request, .arena = arena};
    *count = 0;
    if (request->registry->tailors) {
        visit_made(request, take_in_order, &m);
    }
    if (!m.count && !m.failed) {
        return KW_OK;
    }
    *made = m.failed ? NULL : kw_arena_array(arena, m.count < KW_TAILORED_KEPT ? m.count : KW_TAILORED_KEPT, sizeof **made);
    if (!*made) {
        return kw_fail_memory(err, "a list of candidates");
    }
    *count = keep_best(*made, &m);
    return KW_OK;
}

static bool is_same(void *user, const kw_config *config) {
    return kw_config_equal(user, config);
}

bool kw_tailored_has(const kw_request *request, const kw_config *config) {
    kw_config wanted = *config;
    return visit_made(request, is_same, &wanted);
}

static bool serves(void *user, const kw_config *config) {
    const kw_request *request = user;
    kw_config special;
    return !kw_config_serves(&special, config, &request->problem, request->context->target, NULL);
}

bool kw_tailored_any(const kw_request *request) {
    kw_request asked = *request;
    return visit_made(request, serves, &asked);
}
