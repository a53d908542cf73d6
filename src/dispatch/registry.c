/* registry.c: registries as users see them, and the default one: the embedded catalog of the target's architecture and the reference
 * kernels, which are the single configs of their families: compiled in on a CPU, without axes on a GPU. */
#include "dispatch/registry.h"

#include "base/container/array.h"
#include "base/embedded.h"
#include "base/os/file.h"
#include "config/arch/by_rates.h"
#include "dispatch/context.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CATALOG_LIMIT = 256 << 20 };

/* Architecture -> catalog of set default; made when the library is built. */
extern const kw_embedded kw_default_catalogs[];

/* --- one registry ----------------------------------------------------------------------------------------------- */

/* Text before config, so that want of memory leaves the two lists of one length. */
static kw_status add_config_once(kw_registry *registry, const kw_config *config, kw_error *err) {
    if (kw_catalog_has(&registry->catalog, config)) {
        return KW_OK;
    }
    if (!KW_ARRAY_RESERVE(registry->texts, registry->text_capacity, registry->catalog.count + 1)) {
        return kw_fail_memory(err, "a registry");
    }
    char text[KW_CONFIG_TEXT_MAX];
    size_t length = kw_config_print(text, sizeof text, config);
    char *copy = kw_arena_copy(&registry->arena, text, length);
    if (!copy) {
        return kw_fail_memory(err, "a registry");
    }
    size_t index = registry->catalog.count;
    kw_status status = kw_catalog_add(&registry->catalog, config, NULL, err);
    if (!status) {
        assert(index < registry->text_capacity && registry->catalog.count == index + 1); /* one text a config */
        registry->texts[index] = copy;
    }
    return status;
}

static kw_status add_catalog(kw_registry *registry, const kw_catalog *catalog, kw_error *err) {
    kw_status status = KW_OK;
    for (size_t i = 0; !status && i < catalog->count; i++) {
        status = add_config_once(registry, &catalog->configs[i], err);
    }
    return status;
}

static void drop_pools(kw_registry *registry) {
    for (int op = 0; op < KW_OP_COUNT; op++) {
        for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
            kw_pool_close(&registry->pools[op][dtype]);
        }
    }
}

/* What was chosen from the registry before is no answer any more. */
static void renew_registry(kw_registry *registry) {
    kw_context *context = registry->context;
    kw_context_registry_changed(context, registry->serial);
    pthread_mutex_lock(&context->lock);
    registry->serial = ++context->serials;
    drop_pools(registry);
    pthread_mutex_unlock(&context->lock);
}

static kw_status make_registry(kw_registry **registry, kw_context *context, kw_error *err) {
    kw_registry *made = calloc(1, sizeof *made);
    *registry = made;
    if (made) {
        made->context = context;
        made->pools = calloc(KW_OP_COUNT, sizeof *made->pools);
    }
    if (!made || !made->pools) {
        free(made);
        *registry = NULL;
        return kw_fail_memory(err, "a registry");
    }
    return KW_OK;
}

kw_status kw_registry_create(kw_registry **registry, kw_context *context, kw_error *err) {
    if (!registry || !context) {
        return kw_fail(err, KW_ILLEGAL, "kw_registry_create: %s is NULL", registry ? "context" : "registry");
    }
    *registry = NULL;
    if (kw_context_check(context, err)) {
        return KW_FAILED;
    }
    kw_status status = make_registry(registry, context, err);
    if (status) {
        return status;
    }
    pthread_mutex_lock(&context->lock);
    (*registry)->serial = ++context->serials;
    pthread_mutex_unlock(&context->lock);
    return KW_OK;
}

void kw_registry_destroy(kw_registry **registry) {
    if (!registry || !*registry) {
        return;
    }
    kw_registry *gone = *registry;
    if (gone->serial && !kw_context_lost(gone->context)) {
        kw_context_registry_changed(gone->context, gone->serial);
    }
    drop_pools(gone);
    free(gone->pools);
    kw_bench_close(&gone->bench);
    kw_catalog_drop(&gone->catalog);
    kw_arena_drop(&gone->arena);
    free(gone->texts);
    free(gone);
    *registry = NULL;
}

kw_status kw_registry_add_default(kw_registry *registry, kw_error *err) {
    if (!registry) {
        return kw_fail(err, KW_ILLEGAL, "kw_registry_add_default: registry is NULL");
    }
    const kw_registry *defaults;
    kw_status status = kw_context_check(registry->context, err);
    if (status) {
        return status;
    }
    kw_context_learn_rates(registry->context); /* which decide what the default one has */
    status = kw_registry_default(&defaults, registry->context, err);
    status = status ? status : add_catalog(registry, &defaults->catalog, err);
    registry->tailors |= !status;
    renew_registry(registry);
    return status;
}

kw_status kw_registry_add(kw_registry *registry, const char *config, kw_error *err) {
    if (!registry || !config) {
        return kw_fail(err, KW_ILLEGAL, "kw_registry_add: %s is NULL", registry ? "config" : "registry");
    }
    kw_config parsed;
    kw_status status = kw_context_check(registry->context, err);
    if (status) {
        return status;
    }
    status = kw_config_parse(&parsed, config, err);
    status = status ? status : add_config_once(registry, &parsed, err);
    renew_registry(registry);
    return status;
}

kw_status kw_registry_add_reference(kw_registry *registry, const kw_problem *problem, kw_error *err) {
    if (!registry || !problem) {
        return kw_fail(err, KW_ILLEGAL, "kw_registry_add_reference: %s is NULL", registry ? "problem" : "registry");
    }
    kw_config config;
    kw_status status = kw_context_check(registry->context, err);
    if (status) {
        return status;
    }
    status = kw_problem_check(problem, err);
    status = status ? status : kw_reference_find(&config, problem, registry->context->target, err);
    status = status ? status : add_config_once(registry, &config, err);
    renew_registry(registry);
    return status;
}

kw_status kw_registry_load(kw_registry *registry, const char *path, kw_error *err) {
    if (!registry || !path) {
        return kw_fail(err, KW_ILLEGAL, "kw_registry_load: %s is NULL", registry ? "path" : "registry");
    }
    kw_arena arena = {0};
    kw_catalog catalog = {0};
    char *data = NULL;
    size_t size = 0;
    kw_status status = kw_context_check(registry->context, err);
    if (status) {
        return status;
    }
    status = kw_file_read(&arena, path, CATALOG_LIMIT, &data, &size, err);
    status = status ? status : kw_catalog_read(&catalog, path, data, size, err);
    status = status ? status : add_catalog(registry, &catalog, err);
    renew_registry(registry);
    kw_catalog_drop(&catalog);
    kw_arena_drop(&arena);
    return status;
}

const char *kw_registry_arch(const kw_registry *registry) {
    return registry ? registry->context->target->arch : "";
}

size_t kw_registry_count(const kw_registry *registry) {
    return registry ? registry->catalog.count : 0;
}

const char *kw_registry_config(const kw_registry *registry, size_t index) {
    return registry && index < registry->catalog.count ? registry->texts[index] : NULL;
}

kw_status kw_registry_keep(kw_registry *registry, bool (*keep)(void *user, const char *config), void *user, kw_error *err) {
    if (!registry || !keep) {
        return kw_fail(err, KW_ILLEGAL, "kw_registry_keep: %s is NULL", registry ? "keep" : "registry");
    }
    if (kw_context_check(registry->context, err)) {
        return KW_FAILED;
    }
    kw_catalog kept = {0};
    bool *good = calloc(registry->catalog.count + 1, sizeof *good);
    kw_status status = good ? KW_OK : kw_fail_memory(err, "a registry");
    for (size_t i = 0; !status && i < registry->catalog.count; i++) {
        good[i] = keep(user, registry->texts[i]);
        status = good[i] ? kw_catalog_add(&kept, &registry->catalog.configs[i], NULL, err) : KW_OK;
    }
    if (status) {
        kw_catalog_drop(&kept);
    } else {
        for (size_t i = 0, next = 0; i < registry->catalog.count; i++) {
            if (good[i]) {
                registry->texts[next++] = registry->texts[i];
            }
        }
        kw_catalog_drop(&registry->catalog);
        registry->catalog = kept;
        registry->tailors = false;
        renew_registry(registry);
    }
    free(good);
    return status;
}

kw_status kw_registry_fits(const kw_registry *registry, size_t index, const kw_problem *problem, kw_error *err) {
    if (!registry || !problem || index >= registry->catalog.count) {
        return kw_fail(err, KW_ILLEGAL, "kw_registry_fits: %s; index is %zu of %zu",
                       !registry  ? "registry is NULL"
                       : !problem ? "problem is NULL"
                                  : "no such config",
                       index, kw_registry_count(registry));
    }
    kw_config special;
    kw_status status = kw_problem_check(problem, err);
    return status ? status : kw_config_serves(&special, &registry->catalog.configs[index], problem, registry->context->target, err);
}

kw_status kw_registry_pool(const kw_pool **pool, const kw_registry *registry, kw_op op, kw_dtype dtype, kw_error *err) {
    kw_context *context = registry->context;
    pthread_mutex_lock(&context->lock);
    kw_pool **kept = &registry->pools[op][dtype];
    kw_status status = *kept ? KW_OK : kw_pool_open(kept, &registry->catalog, op, dtype, context->target, err);
    *pool = *kept;
    pthread_mutex_unlock(&context->lock);
    return status;
}

/* --- the default registry --------------------------------------------------------------------------------------- */

/* A reference family has one config an op and dtype: every axis at its lowest value. */
static bool reference_config(kw_config *config, const kw_family *family, kw_op op, kw_dtype dtype) {
    *config = (kw_config){.family = family, .op = op, .dtype = dtype};
    for (int i = 0; i < family->axis_count; i++) {
        config->axis[i] = family->axes[i].words ? 0 : family->axes[i].low;
    }
    return family->is_reference && !kw_config_check(config, NULL);
}

kw_status kw_reference_find(kw_config *config, const kw_problem *problem, const kw_target *target, kw_error *err) {
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        if (reference_config(config, *family, problem->op, problem->dtype) && !kw_config_serves(config, config, problem, target, NULL)) {
            return KW_OK;
        }
    }
    return kw_fail(err, KW_NO_KERNEL, "no reference kernel serves %s %s", kw_op_name(problem->op), kw_dtype_name(problem->dtype));
}

static kw_status add_references(kw_registry *registry, kw_error *err) {
    kw_config config;
    kw_status status = KW_OK;
    for (const kw_family *const *family = kw_family_table; !status && *family; family++) {
        for (int op = 0; !status && op < KW_OP_COUNT; op++) {
            for (int dtype = 0; !status && dtype < KW_DTYPE_COUNT; dtype++) {
                bool serves = reference_config(&config, *family, (kw_op)op, (kw_dtype)dtype);
                serves = serves && !kw_config_runs(&config, registry->context->target, NULL);
                status = serves ? add_config_once(registry, &config, err) : KW_OK;
            }
        }
    }
    return status;
}

/* What the sets leave out as slower where the core's rates say that it is not (docs/kernels/cpu-rates.md). */
static kw_status add_by_rates(kw_registry *registry, const kw_catalog *catalog, kw_error *err) {
    const kw_rates *rates = &registry->context->target->rates;
    kw_config other;
    kw_status status = KW_OK;
    bool widens = false; /* instead of pairs, which the architecture has */
    for (size_t i = 0; i < catalog->count && !status; i++) {
        if (kw_config_by_rates(&other, &catalog->configs[i], rates)) {
            widens = widens || other.dtype == KW_BF16;
            status = add_config_once(registry, &other, err);
        }
    }
    for (size_t i = 0; i < catalog->count && widens && !status; i++) {
        if (kw_config_as_widened(&other, &catalog->configs[i], rates)) {
            status = add_config_once(registry, &other, err);
        }
    }
    return status;
}

static kw_status add_embedded(kw_registry *registry, kw_error *err) {
    const kw_context *context = registry->context;
    const kw_embedded *file = kw_embedded_find(kw_default_catalogs, context->target->arch);
    if (!file) {
        kw_log_line(&context->settings, "no default catalog for %s: only the reference kernels are used", context->target->arch);
        return KW_OK;
    }
    kw_catalog catalog = {0};
    kw_text text = {0};
    kw_status status = kw_embedded_text(&text, file, err);
    status = status ? status : kw_catalog_read(&catalog, file->name, text.data, text.size, err);
    status = status ? status : add_catalog(registry, &catalog, err);
    status = status ? status : add_by_rates(registry, &catalog, err);
    kw_catalog_drop(&catalog);
    kw_text_drop(&text);
    return status;
}

kw_status kw_registry_default(const kw_registry **registry, kw_context *context, kw_error *err) {
    kw_status status = KW_OK;
    pthread_mutex_lock(&context->lock);
    if (!context->registry) {
        kw_registry *made;
        status = make_registry(&made, context, err);
        status = status ? status : add_embedded(made, err);
        status = status ? status : add_references(made, err);
        if (status) {
            kw_registry_destroy(&made);
        } else {
            made->tailors = true;
        }
        context->registry = made;
    }
    *registry = context->registry;
    pthread_mutex_unlock(&context->lock);
    return status;
}
