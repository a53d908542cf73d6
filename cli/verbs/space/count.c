/* count.c: the verbs count and list: what the rules declare, without compiling anything. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_MAX = 256, KEY_MAX = 64 };

/* Counts by "FAMILY OP DTYPE", the first three words of a config. */
typedef struct tally {
    struct {
        char key[KEY_MAX];
        size_t count;
    } group[GROUPS_MAX];
    size_t groups, total, limit;
    bool print;
} tally;

static void group_key(char key[KEY_MAX], const char *config) {
    int words = 0;
    size_t i = 0;
    for (; config[i] && i + 1 < KEY_MAX; i++) {
        words += config[i] == ' ';
        if (words == 3) {
            break;
        }
        key[i] = config[i];
    }
    key[i] = 0;
}

static bool visit_config(void *user, const char *config) {
    tally *t = user;
    if (t->print) {
        puts(config);
        return ++t->total < t->limit;
    }
    char key[KEY_MAX];
    group_key(key, config);
    size_t i = 0;
    while (i < t->groups && strcmp(t->group[i].key, key)) {
        i++;
    }
    if (i < GROUPS_MAX) {
        if (i == t->groups) {
            t->groups++;
            memcpy(t->group[i].key, key, sizeof key);
        }
        t->group[i].count++;
    }
    t->total++;
    return true;
}

/* Without a context: enumerating needs no device. Kernels of a file do need one to be read. */
static int visit(tally *t, const cli_args *args) {
    kw_error err = {0};
    if (!args->value[OPT_KERNELS]) {
        kw_space_options space = cli_space(args);
        return kw_space_visit(&space, visit_config, t, &err) ? cli_fail(&err) : CLI_DONE;
    }
    kw_context *context = NULL;
    kw_registry *registry = NULL;
    int code = cli_context(&context, args);
    code = code ? code : cli_kernels(&registry, context, args);
    for (size_t i = 0; !code && i < kw_registry_count(registry) && visit_config(t, kw_registry_config(registry, i)); i++) {
    }
    kw_registry_destroy(&registry);
    kw_context_close(&context);
    return code;
}

int verb_count(const cli_args *args) {
    tally *t = calloc(1, sizeof *t);
    int code = t ? visit(t, args) : cli_no_memory("the request");
    if (!code && args->value[OPT_JSON]) {
        cli_json json;
        cli_json_start(&json);
        cli_json_int(&json, "count", (int64_t)t->total);
        cli_json_object(&json, "groups");
        for (size_t i = 0; i < t->groups; i++) {
            cli_json_int(&json, t->group[i].key, (int64_t)t->group[i].count);
        }
        cli_json_end(&json);
        cli_json_print(&json, stdout);
    } else if (!code) {
        for (size_t i = 0; i < t->groups && !args->value[OPT_QUIET] && !args->value[OPT_COUNT_ONLY]; i++) {
            printf("%6zu %s\n", t->group[i].count, t->group[i].key);
        }
        printf("%zu\n", t->total);
    }
    free(t);
    return code;
}

static int list_json(const cli_args *args) {
    kw_error err = {0};
    kw_context *context = NULL;
    kw_registry *registry = NULL;
    char *json = NULL;
    int code = cli_context(&context, args);
    if (!code && !args->value[OPT_KERNELS]) {
        kw_space_options space = cli_space(args);
        if (kw_registry_create(&registry, context, &err) || kw_registry_add_space(registry, &space, &err)) {
            code = cli_fail(&err);
        }
    } else if (!code) {
        code = cli_kernels(&registry, context, args);
    }
    const char *file = args->value[OPT_EXPORT_JSON];
    if (!code && file) {
        code = kw_registry_save_json(registry, file, &err) ? cli_fail(&err) : CLI_DONE;
    } else if (!code) {
        code = kw_registry_print_json(&json, registry, &err) ? cli_fail(&err) : puts(json) < 0 ? CLI_ENVIRONMENT : CLI_DONE;
    }
    kw_free(json);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
    return code;
}

int verb_list(const cli_args *args) {
    int64_t limit;
    if (!cli_number(args, OPT_LIMIT, 1, INT32_MAX, INT32_MAX, &limit)) {
        return CLI_USAGE;
    }
    if (args->value[OPT_COUNT_ONLY]) {
        return verb_count(args);
    }
    if (args->value[OPT_JSON] || args->value[OPT_EXPORT_JSON]) {
        return list_json(args);
    }
    tally *t = calloc(1, sizeof *t);
    if (!t) {
        return cli_no_memory("the request");
    }
    t->print = true;
    t->limit = (size_t)limit;
    int code = visit(t, args);
    free(t);
    return code;
}
