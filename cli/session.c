/* session.c: turns options into a context, a registry and plan options. */
#include "cli.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cli_context(kw_context **context, const cli_args *args) {
    kw_error err = {0};
    int64_t threads;
    if (!cli_number(args, OPT_THREADS, 1, 1024, 0, &threads)) {
        return CLI_USAGE;
    }
    kw_context_options options = {
        .threads = (int32_t)threads,
        .cache_dir = args->value[OPT_CACHE_DIR],
        .wisdom_file = args->value[OPT_WISDOM],
        .compiler = args->value[OPT_CC],
        .model = args->value[OPT_MODEL],
    };
    const char *device = args->value[OPT_DEVICE];
    return kw_context_open(context, device ? device : KW_DEFAULT_DEVICE, &options, &err) ? cli_fail(&err) : CLI_DONE;
}

static void log_session_line(void *user, const char *line) {
    (void)user;
    fprintf(stderr, "kwright: %s\n", line);
}

/* --- signals --- */

static kw_stop stop;

/* A second one does not wait for good order. */
static void request_stop(int signal_number) {
    (void)signal_number;
    if (kw_stop_requested(&stop)) {
        _Exit(CLI_STOPPED);
    }
    kw_stop_request(&stop);
}

const kw_stop *cli_stop_on_signals(void) {
    struct sigaction action = {.sa_handler = request_stop, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return &stop;
}

kw_space_options cli_space(const cli_args *args) {
    return (kw_space_options){
        .set = args->value[OPT_SET],
        .arch = args->value[OPT_ARCH],
        .filter = args->value[OPT_FILTER],
        .rules_dir = args->value[OPT_RULES],
        .traits = args->value[OPT_TRAITS],
        .builder_conf = args->value[OPT_BUILDER_CONF],
        .log = args->value[OPT_QUIET] ? NULL : log_session_line,
    };
}

static bool ends_with(const char *text, const char *end) {
    size_t size = strlen(text), tail = strlen(end);
    return size >= tail && !strcmp(text + size - tail, end);
}

/* What a space does by itself, for kernels that come from elsewhere. */
static kw_status keep_wanted(kw_registry *registry, const kw_space_options *space, kw_error *err) {
    kw_status status = space->filter ? kw_registry_filter(registry, space->filter, err) : KW_OK;
    return status || !space->traits ? status : kw_registry_keep_traits(registry, space->traits, space->log, space->user, err);
}

bool cli_names_kernels(const cli_args *args) {
    return args->value[OPT_SET] || args->value[OPT_KERNELS] || args->value[OPT_CONFIG] || args->value[OPT_FILTER] ||
           args->value[OPT_ARCH] || args->value[OPT_RULES] || args->value[OPT_TRAITS];
}

int cli_registry(kw_registry **registry, kw_context *context, const cli_args *args) {
    kw_error err = {0};
    const char *file = args->value[OPT_KERNELS];
    kw_space_options space = cli_space(args);
    kw_status status = kw_registry_create(registry, context, &err);
    if (!status && args->value[OPT_CONFIG]) {
        status = kw_registry_add(*registry, args->value[OPT_CONFIG], &err);
    } else if (!status && file) {
        status = ends_with(file, ".json") ? kw_registry_load_json(*registry, file, &err) : kw_registry_load(*registry, file, &err);
        status = status ? status : keep_wanted(*registry, &space, &err);
    } else if (!status && (space.set || space.arch || space.rules_dir)) {
        status = kw_registry_add_space(*registry, &space, &err);
    } else if (!status) {
        status = kw_registry_add_default(*registry, &err);
        status = status ? status : keep_wanted(*registry, &space, &err);
    }
    if (!status && !kw_registry_count(*registry)) {
        status = err.status = KW_MISSING;
        snprintf(err.text, sizeof err.text,
                 "no kernel is left by --filter, --traits, --set, --arch or --kernels; `kwright list` shows what there is");
    }
    if (status) {
        kw_registry_destroy(registry);
        return cli_fail(&err);
    }
    return CLI_DONE;
}

int cli_plan_options(kw_plan_options *options, const cli_args *args) {
    static const struct {
        const char *name;
        kw_mode mode;
    } modes[] = {{"frozen", KW_FROZEN}, {"predict", KW_PREDICT}, {"shortlist", KW_SHORTLIST}, {"exhaustive", KW_EXHAUSTIVE}};
    int64_t shortlist, workspace;
    if (!cli_number(args, OPT_SHORTLIST, 1, 10000, 0, &shortlist) ||
        !cli_number(args, OPT_WORKSPACE, KW_WORKSPACE_NONE, INT64_MAX, 0, &workspace)) {
        return CLI_USAGE;
    }
    *options = (kw_plan_options){.shortlist = (int32_t)shortlist, .workspace_max = workspace};
    options->fresh_weights = args->value[OPT_FRESH] != NULL;
    options->remeasure = args->value[OPT_REMEASURE] != NULL;
    const char *mode = args->value[OPT_MODE];
    for (size_t i = 0; mode && i < sizeof modes / sizeof *modes; i++) {
        if (!strcmp(mode, modes[i].name)) {
            options->mode = modes[i].mode;
        }
    }
    if (mode && options->mode == KW_MODE_DEFAULT) {
        return cli_usage("--mode %.60s is not known; known: frozen predict shortlist exhaustive", mode);
    }
    if (args->value[OPT_FROZEN]) {
        options->mode = KW_FROZEN;
        options->frozen_is_error = true;
    }
    return CLI_DONE;
}
