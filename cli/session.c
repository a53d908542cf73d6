/* session.c: turns options into a context, a registry and plan options. */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A model that was asked for and is none would be passed over. */
static int check_model(const char *option) {
    char path[4096];
    const char *folder = option ? option : secure_getenv("KW_MODEL");
    if (!folder || !*folder) {
        return CLI_DONE;
    }
    size_t size = strlen(folder);
    bool spec = size > 5 && !strcmp(folder + size - 5, ".spec");
    snprintf(path, sizeof path, "%s%s", folder, spec ? "" : "/model.spec");
    if (access(path, R_OK) && !spec) {
        snprintf(path, sizeof path, "%s/feature_spec.json", folder);
        if (!access(path, R_OK)) {
            return cli_usage("%.200s is a model of CK Tile's heuristics; `kwright adopt %.200s` makes it one that is asked here", folder,
                             folder);
        }
        errno = ENOENT;
    }
    return !access(path, R_OK) ? CLI_DONE
                               : cli_usage("%s %.200s is no folder of a model: its model.spec cannot be read (%s); '' uses none",
                                           option ? "--model" : "KW_MODEL", folder, strerror(errno));
}

int cli_context(kw_context **context, const cli_args *args) {
    kw_error err = {0};
    int64_t threads;
    if (!cli_number(args, OPT_THREADS, 1, 1024, 0, &threads) || check_model(args->value[OPT_MODEL])) {
        return CLI_USAGE;
    }
    kw_context_options options = {
        .size = sizeof(kw_context_options),
        .threads = (int32_t)threads,
        .cache_dir = args->value[OPT_CACHE_DIR],
        .wisdom_file = args->value[OPT_WISDOM],
        .compiler = args->value[OPT_CC],
        .model = args->value[OPT_MODEL],
        .stop = cli_stop_soon(),
    };
    const char *device = args->value[OPT_DEVICE];
    return kw_context_open(context, device ? device : KW_DEFAULT_DEVICE, &options, &err) ? cli_fail(&err) : CLI_DONE;
}

void cli_warn_of_cache(kw_context *context, const cli_args *args) {
    const char *folder = args->value[OPT_CACHE_DIR], *note = kw_context_cache_note(context);
    if (*note && !(folder && !*folder) && !args->value[OPT_QUIET]) {
        fprintf(stderr, "kwright: the kernel cache: %s\n", note);
    }
}

static void log_session_line(void *user, const char *line) {
    (void)user;
    fprintf(stderr, "kwright: %s\n", line);
}

kw_space_options cli_space(const cli_args *args) {
    return (kw_space_options){
        .size = sizeof(kw_space_options),
        .set = args->value[OPT_SET],
        .config = args->value[OPT_CONFIG],
        .arch = args->value[OPT_ARCH],
        .filter = args->value[OPT_FILTER],
        .rules_dir = args->value[OPT_RULES],
        .traits = args->value[OPT_TRAITS],
        .builder_conf = args->value[OPT_BUILDER_CONF],
        .log = args->value[OPT_QUIET] ? NULL : log_session_line,
    };
}

/* What a space does by itself, for kernels that come from elsewhere. */
static kw_status keep_wanted(kw_registry *registry, const kw_space_options *space, kw_error *err) {
    kw_status status = space->filter ? kw_registry_filter(registry, space->filter, err) : KW_OK;
    return status || !space->traits ? status : kw_registry_keep_traits(registry, space->traits, space->log, space->user, err);
}

/* Of the registry's kernels the first that fits the problem, else count; err says why the very first does not. */
static size_t first_that_fits(const kw_registry *registry, const kw_problem *problem, kw_error *err) {
    size_t count = kw_registry_count(registry), i = 0;
    kw_error other = {0};
    while (i < count && kw_registry_fits(registry, i, problem, i ? &other : err)) {
        i++;
    }
    return i;
}

static bool is_of_registry(const kw_registry *registry, const char *config) {
    size_t count = kw_registry_count(registry), i = 0;
    while (i < count && strcmp(kw_registry_config(registry, i), config)) {
        i++;
    }
    return i < count;
}

int cli_check_config(const kw_registry *registry, const kw_plan *plan, const kw_problem *problem, const cli_args *args) {
    kw_error err = {0};
    char config[KW_CONFIG_TEXT_MAX + 16], quoted[KW_PROBLEM_TEXT_MAX + 16], text[KW_PROBLEM_TEXT_MAX];
    if (!args->value[OPT_CONFIG] || (plan && is_of_registry(registry, kw_plan_config(plan)))) {
        return CLI_DONE;
    }
    size_t fits = first_that_fits(registry, problem, &err), count = kw_registry_count(registry);
    if (fits == count && count > 1) {
        return cli_usage("none of the %zu kernels of --config serves the problem; the first: %.300s", count, err.text);
    }
    if (fits == count) {
        return cli_usage("%.380s; without --config the best kernel answers", err.text);
    }
    if (!plan) {
        return CLI_DONE;
    }
    cli_shell_word(config, sizeof config, kw_registry_config(registry, fits));
    kw_problem_print(text, sizeof text, problem);
    cli_shell_word(quoted, sizeof quoted, text);
    fprintf(stderr, "kwright: the kernel of --config could not be used\n  kwright check --config %s %s\n", config, quoted);
    return CLI_FAILED;
}

bool cli_names_kernels(const cli_args *args) {
    return args->value[OPT_SET] || args->value[OPT_KERNELS] || args->value[OPT_CONFIG] || args->value[OPT_FILTER] ||
           args->value[OPT_ARCH] || args->value[OPT_RULES] || args->value[OPT_TRAITS];
}

static bool is_listed_by_rules(const kw_space_options *space, const cli_args *args) {
    return space->config || (!args->value[OPT_KERNELS] && (space->set || space->arch || space->rules_dir || space->traits));
}

static kw_status fill_registry(kw_registry **registry, kw_context *context, const kw_space_options *space, const cli_args *args,
                               kw_error *err) {
    const char *file = args->value[OPT_KERNELS];
    kw_status status = kw_registry_create(registry, context, err);
    if (status || is_listed_by_rules(space, args)) {
        return status ? status : kw_registry_add_space(*registry, space, err);
    }
    status = file ? kw_registry_load_any(*registry, file, space->log, space->user, err) : kw_registry_add_default(*registry, err);
    return status ? status : keep_wanted(*registry, space, err);
}

int cli_kernels(kw_registry **registry, kw_context *context, const cli_args *args) {
    kw_error err = {0};
    kw_space_options space = cli_space(args);
    kw_status status = fill_registry(registry, context, &space, args, &err);
    if (!status && !kw_registry_count(*registry)) {
        status = err.status = KW_MISSING;
        snprintf(err.text, sizeof err.text,
                 "no kernel is left by --filter, --traits, --config, --set, --arch or --kernels; `kwright list` shows what there is");
    }
    if (status) {
        kw_registry_destroy(registry);
        return cli_fail(&err);
    }
    return CLI_DONE;
}

/* Whether the context's device runs one kernel of the registry; why is what refuses the first. */
static bool runs_some(const kw_registry *registry, const kw_context *context, kw_error *why) {
    const char *target = kw_context_target(context), *arch = strchr(target, ':');
    char name[64];
    snprintf(name, sizeof name, "%.*s", arch ? (int)strcspn(arch + 1, " ") : 0, arch ? arch + 1 : "");
    size_t count = kw_registry_count(registry), i = 0;
    kw_error other = {0};
    while (i < count && kw_config_supported(kw_registry_config(registry, i), name, i ? &other : why)) {
        i++;
    }
    return i < count;
}

/* The kernels of a set that the problems can use, where the device runs some; else none, and the whole set has to say why not. Traits and
 * configs narrow by themselves, and say so where they leave nothing at all. */
static int list_for_problems(kw_registry **registry, kw_context *context, const cli_args *args, const kw_problem *problems, size_t count) {
    kw_error err = {0};
    kw_space_options space = cli_space(args);
    if (!count || !is_listed_by_rules(&space, args) || space.config || space.traits) {
        return CLI_DONE;
    }
    space.problems = problems;
    space.problem_count = count;
    int code = fill_registry(registry, context, &space, args, &err) ? cli_fail(&err) : CLI_DONE;
    if (code || !runs_some(*registry, context, &err)) {
        kw_registry_destroy(registry);
    }
    return code;
}

int cli_registry(kw_registry **registry, kw_context *context, const cli_args *args, const kw_problem *problems, size_t count) {
    kw_error why = {0};
    int code = list_for_problems(registry, context, args, problems, count);
    if (code || *registry) {
        return code;
    }
    code = cli_kernels(registry, context, args);
    bool by_config = args->value[OPT_CONFIG] != NULL; /* of one kernel cli_check_config says more */
    if (code || by_config || !cli_names_kernels(args) || runs_some(*registry, context, &why)) {
        return code;
    }
    size_t kernels = kw_registry_count(*registry);
    kw_registry_destroy(registry);
    return cli_usage("none of the %zu kernels that --set, --arch or --kernels name is for this device (%.200s); --device names another "
                     "(`kwright doctor` lists them), and build --out DIR makes code objects without one",
                     kernels, why.text);
}

int cli_registry_for(kw_registry **registry, kw_context *context, const cli_args *args, const cli_problem_list *list) {
    kw_problem *problems = cli_problems_plain(list);
    int code = problems ? cli_registry(registry, context, args, problems, list->count) : cli_no_memory("the problem list");
    free(problems);
    return code;
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
    *options = (kw_plan_options){.size = sizeof(kw_plan_options), .shortlist = (int32_t)shortlist, .workspace_max = workspace};
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
    if (options->remeasure && (options->mode == KW_FROZEN || options->mode == KW_PREDICT)) {
        return cli_usage("--remeasure: mode %s measures nothing; leave it out, or take --mode shortlist or exhaustive",
                         options->mode == KW_FROZEN ? "frozen" : "predict");
    }
    return CLI_DONE;
}
