/* space.c: the public functions over spaces and filters. Registries are reached through their public functions only, so that the workshop
 * library can be built against any run-time library of the same version. */
#include "base/sized.h"
#include "backend/backend.h"
#include "base/nearest.h"
#include "base/os/file.h"
#include "space/enumerate.h"
#include "space/filter/filter.h"
#include "space/catalog_json.h"
#include "space/rules/rules.h"
#include "space/rules/rule_files.h"
#include "space/ck/traits.h"

#include <stdlib.h>
#include <string.h>

enum { JSON_FILE_LIMIT = 64 << 20 };

typedef struct text_visit {
    bool (*visit)(void *user, const char *config);
    void *user;
} text_visit;

static bool visit_text(void *user, const kw_config *config) {
    const text_visit *to = user;
    char text[KW_CONFIG_TEXT_MAX];
    kw_config_print(text, sizeof text, config);
    return to->visit(to->user, text);
}

kw_status kw_space_settle(kw_space_options *whole, const kw_space_options *options, kw_target *target, kw_error *err) {
    kw_status status = KW_SIZED_READ(whole, kw_space_options, user, options, err);
    if (!status && !whole->arch) {
        kw_cpu_target(target, 1);
        whole->arch = target->arch;
    }
    return status;
}

kw_status kw_space_visit(const kw_space_options *options, bool (*visit)(void *user, const char *config), void *user, kw_error *err) {
    kw_target target;
    if (!visit) {
        return kw_fail(err, KW_ILLEGAL, "kw_space_visit: visit is NULL; give a function");
    }
    kw_space_options whole;
    kw_status status = kw_space_settle(&whole, options, &target, err);
    return status ? status : kw_enumerate(&whole, visit_text, &(text_visit){visit, user}, err);
}

typedef struct addition {
    kw_registry *registry;
    kw_status status;
    kw_error *err;
} addition;

static bool add_registry_config(void *user, const char *config) {
    addition *to = user;
    to->status = kw_registry_add(to->registry, config, to->err);
    return !to->status;
}

kw_status kw_registry_add_space(kw_registry *registry, const kw_space_options *options, kw_error *err) {
    if (!registry) {
        return kw_fail(err, KW_ILLEGAL, "kw_registry_add_space: registry is NULL; make one with kw_registry_create");
    }
    addition to = {.registry = registry, .err = err};
    kw_space_options whole;
    kw_status status = KW_SIZED_READ(&whole, kw_space_options, user, options, err);
    if (status) {
        return status;
    }
    whole.arch = whole.arch ? whole.arch : kw_registry_arch(registry);
    if (whole.config && !kw_config_is_pattern(whole.config)) {
        return kw_registry_add(registry, whole.config, err); /* no set need know of it */
    }
    status = kw_space_visit(&whole, add_registry_config, &to, err);
    return status ? status : to.status;
}

static kw_status test_text(kw_filter *filter, const char *text, bool *selected, kw_error *err) {
    kw_config config;
    kw_status status = kw_config_parse(&config, text, err);
    return status ? status : kw_filter_test(filter, &config, selected, err);
}

static bool keep_selected(void *user, const char *config) {
    bool selected = false;
    return !test_text(user, config, &selected, NULL) && selected;
}

kw_status kw_registry_filter(kw_registry *registry, const char *expression, kw_error *err) {
    if (!registry || !expression) {
        return kw_fail(err, KW_ILLEGAL, "kw_registry_filter: %s is NULL", registry ? "expression" : "registry");
    }
    kw_filter *filter;
    kw_status status = kw_filter_open(&filter, expression, kw_registry_arch(registry), err);
    /* First without changing anything, so that an error leaves the registry as it was. */
    for (size_t i = 0; !status && i < kw_registry_count(registry); i++) {
        bool selected;
        status = test_text(filter, kw_registry_config(registry, i), &selected, err);
    }
    if (!status) {
        status = kw_registry_keep(registry, keep_selected, filter, err);
    }
    kw_filter_close(&filter);
    return status;
}

static bool keep_allowed(void *user, const char *text) {
    kw_config config;
    return !kw_config_parse(&config, text, NULL) && kw_traits_allow(user, &config);
}

static bool keep_none(void *user, const char *text) {
    (void)user;
    (void)text;
    return false;
}

kw_status kw_registry_keep_traits(kw_registry *registry, const char *path, void (*log)(void *user, const char *line), void *user,
                                  kw_error *err) {
    if (!registry || !path) {
        return kw_fail(err, KW_ILLEGAL, "kw_registry_keep_traits: %s is NULL", registry ? "path" : "registry");
    }
    kw_traits traits = {0};
    kw_config first;
    kw_status status = kw_traits_load(&traits, path, err);
    if (!status) {
        /* A registry's kernels are all of its context's backend. */
        if (kw_registry_count(registry) && !kw_config_parse(&first, kw_registry_config(registry, 0), NULL)) {
            kw_traits_warn(&traits, first.family->kind, kw_registry_arch(registry), log, user);
        }
        bool meant = kw_traits_allow_arch(&traits, kw_registry_arch(registry));
        status = kw_registry_keep(registry, meant ? keep_allowed : keep_none, &traits, err);
    }
    kw_traits_drop(&traits);
    return status;
}

kw_status kw_traits_problems(uint32_t *ops, uint32_t *dtypes, uint32_t *ndim, const char *path, kw_error *err) {
    if (!ops || !dtypes || !ndim || !path) {
        return kw_fail(err, KW_ILLEGAL, "kw_traits_problems: %s is NULL", path ? "ops, dtypes or ndim" : "path");
    }
    kw_traits traits = {0};
    kw_status status = kw_traits_load(&traits, path, err);
    *ops = traits.ops;
    *dtypes = traits.dtypes;
    *ndim = traits.ndim;
    kw_traits_drop(&traits);
    return status;
}

bool kw_name_nearest(char name[KW_NAME_MAX], const char *wrong, const char *names) {
    return name && wrong && names && kw_nearest(name, (kw_word){wrong, strlen(wrong)}, names);
}

kw_status kw_space_names(char **names, const char *kind, const char *rules_dir, kw_error *err) {
    static const struct { const char *kind, *folder; } kinds[] = {{"arch", "arch"}, {"set", "sets"}, {"family", "families"}};
    if (!names || !kind) {
        return kw_fail(err, KW_ILLEGAL, "kw_space_names: %s is NULL", names ? "kind" : "names");
    }
    *names = NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!strcmp(kinds[i].kind, kind)) {
            kw_text text = {0};
            kw_status status = kw_rule_names(&text, kw_rule_folder(rules_dir), kinds[i].folder, '\n', err);
            *names = status ? NULL : kw_text_take(&text);
            kw_text_drop(&text);
            return status || *names ? status : kw_fail_memory(err, "a list of names");
        }
    }
    return kw_fail(err, KW_MISSING, "kind '%.40s' is not known; known: arch set family", kind);
}

/* The registry's configs as values. */
static kw_status collect_configs(kw_catalog *catalog, const kw_registry *registry, kw_error *err) {
    kw_status status = KW_OK;
    for (size_t i = 0; !status && i < kw_registry_count(registry); i++) {
        kw_config config;
        status = kw_config_parse(&config, kw_registry_config(registry, i), err);
        status = status ? status : kw_catalog_add(catalog, &config, NULL, err);
    }
    return status;
}

kw_status kw_registry_print_json(char **json, const kw_registry *registry, kw_error *err) {
    if (!json || !registry) {
        return kw_fail(err, KW_ILLEGAL, "kw_registry_print_json: %s is NULL", json ? "registry" : "json");
    }
    kw_catalog catalog = {0};
    kw_text text = {0};
    kw_status status = collect_configs(&catalog, registry, err);
    status = status ? status : kw_catalog_json_print(&text, &catalog, err);
    *json = status ? NULL : kw_text_take(&text);
    kw_text_drop(&text);
    kw_catalog_drop(&catalog);
    return status || *json ? status : kw_fail_memory(err, "a registry's JSON");
}

kw_status kw_registry_save_json(const kw_registry *registry, const char *path, kw_error *err) {
    char *json = NULL;
    if (!path) {
        return kw_fail(err, KW_ILLEGAL, "kw_registry_save_json: path is NULL");
    }
    kw_status status = kw_registry_print_json(&json, registry, err);
    status = status ? status : kw_file_replace(path, json, strlen(json), 0666, err);
    free(json);
    return status;
}

/* The whole file is checked before anything is added. */
static kw_status load_json(kw_registry *registry, const char *path, char remark[KW_CATALOG_REMARK_MAX], kw_error *err) {
    kw_arena arena = {0};
    kw_catalog catalog = {0};
    char *data = NULL;
    size_t size = 0;
    kw_status status = kw_file_read(&arena, path, JSON_FILE_LIMIT, &data, &size, err);
    status = status ? status : kw_catalog_json_read(&catalog, remark, path, data, size, err);
    for (size_t i = 0; !status && i < catalog.count; i++) {
        char text[KW_CONFIG_TEXT_MAX];
        kw_config_print(text, sizeof text, &catalog.configs[i]);
        status = kw_registry_add(registry, text, err);
    }
    kw_catalog_drop(&catalog);
    kw_arena_drop(&arena);
    return status;
}

kw_status kw_registry_load_json(kw_registry *registry, const char *path, kw_error *err) {
    if (!registry || !path) {
        return kw_fail(err, KW_ILLEGAL, "kw_registry_load_json: %s is NULL", registry ? "path" : "registry");
    }
    return load_json(registry, path, NULL, err);
}

kw_status kw_registry_load_any(kw_registry *registry, const char *path, void (*log)(void *user, const char *line), void *user,
                               kw_error *err) {
    if (!registry || !path) {
        return kw_fail(err, KW_ILLEGAL, "kw_registry_load_any: %s is NULL", registry ? "path" : "registry");
    }
    char remark[KW_CATALOG_REMARK_MAX] = "";
    size_t length = strlen(path);
    if (length < 5 || strcmp(path + length - 5, ".json")) {
        return kw_registry_load(registry, path, err);
    }
    kw_status status = load_json(registry, path, remark, err);
    if (*remark && log) {
        log(user, remark);
    }
    return status;
}
