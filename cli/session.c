/* session.c: turns options into a context, a registry, plan options and a list of problems. */
#include "cli.h"

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
    };
    const char *device = args->value[OPT_DEVICE];
    return kw_context_open(context, device ? device : "cpu", &options, &err) ? cli_fail(&err) : CLI_DONE;
}

kw_space_options cli_space(const cli_args *args) {
    return (kw_space_options){
        .set = args->value[OPT_SET],
        .arch = args->value[OPT_ARCH],
        .filter = args->value[OPT_FILTER],
        .rules_dir = args->value[OPT_RULES],
    };
}

static bool ends_with(const char *text, const char *end) {
    size_t size = strlen(text), tail = strlen(end);
    return size >= tail && !strcmp(text + size - tail, end);
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
        if (!status && space.filter) {
            status = kw_registry_filter(*registry, space.filter, &err);
        }
    } else if (!status && (space.set || space.arch || space.rules_dir)) {
        status = kw_registry_add_space(*registry, &space, &err);
    } else if (!status) {
        status = kw_registry_add_default(*registry, &err);
        if (!status && space.filter) {
            status = kw_registry_filter(*registry, space.filter, &err);
        }
    }
    if (!status && !kw_registry_count(*registry)) {
        status = err.status = KW_MISSING;
        snprintf(err.text, sizeof err.text,
                 "no kernel is left by --filter, --set, --arch or --kernels; `kwright list` shows what there is");
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

/* --- problems --- */

typedef struct gather {
    cli_problem_list *list;
    int64_t limit;
    kw_op op;       /* KW_OP_COUNT: as each problem says */
    kw_dtype dtype; /* KW_DTYPE_COUNT: as each problem says */
    bool every_direction, failed;
} gather;

static bool append(cli_problem_list *list, const char *name, const kw_problem *problem) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        cli_problem *items = realloc(list->items, capacity * sizeof *items);
        if (!items) {
            return false;
        }
        list->items = items;
        list->capacity = capacity;
    }
    char *copy = strdup(name);
    if (!copy) {
        return false;
    }
    list->items[list->count++] = (cli_problem){copy, *problem};
    return true;
}

/* Adds a problem in the direction and type that were asked for; under "--dir all" a convolution in each of its directions. */
static bool visit_problem(void *user, const char *name, const kw_problem *problem) {
    gather *g = user;
    kw_problem each = *problem;
    int first = (int)problem->op, last = first;
    if (problem->op != KW_GEMM && g->every_direction) {
        first = KW_CONV_FWD;
        last = KW_CONV_BWD_WEIGHT;
    } else if (problem->op != KW_GEMM && g->op != KW_OP_COUNT && g->op != KW_GEMM) {
        first = last = (int)g->op;
    }
    each.dtype = g->dtype == KW_DTYPE_COUNT ? problem->dtype : g->dtype;
    for (int op = first; op <= last && (int64_t)g->list->count < g->limit; op++) {
        each.op = (kw_op)op;
        if (!append(g->list, name, &each)) {
            g->failed = true;
            return false;
        }
    }
    return (int64_t)g->list->count < g->limit;
}

static int find_op(const char *text, kw_op *op, bool *every) {
    *op = KW_OP_COUNT;
    *every = text && !strcmp(text, "all");
    if (!text || *every) {
        return CLI_DONE;
    }
    for (int i = 0; i < KW_OP_COUNT; i++) {
        if (!strcmp(text, kw_op_name((kw_op)i))) {
            *op = (kw_op)i;
            return CLI_DONE;
        }
    }
    return cli_usage("--dir %.60s is not known; known: conv_fwd conv_bwd_data conv_bwd_weight gemm all", text);
}

static int find_dtype(const char *text, kw_dtype *dtype) {
    *dtype = KW_DTYPE_COUNT;
    for (int i = 0; text && i < KW_INT32; i++) {
        if (!strcmp(text, kw_dtype_name((kw_dtype)i))) {
            *dtype = (kw_dtype)i;
        }
    }
    return text && *dtype == KW_DTYPE_COUNT ? cli_usage("--dtype %.60s is not known; known: fp32 bf16 fp16 fp8 bf8 int8", text) : CLI_DONE;
}

static int add_line(gather *g, const char *line) {
    kw_error err = {0};
    kw_problem problem;
    if (kw_problem_import(&problem, line, &err)) {
        return cli_fail(&err);
    }
    visit_problem(g, "", &problem);
    return CLI_DONE;
}

int cli_problems(cli_problem_list *list, const cli_args *args) {
    kw_error err = {0};
    gather g = {.list = list};
    *list = (cli_problem_list){0};
    int code = find_op(args->value[OPT_DIR], &g.op, &g.every_direction);
    code = code ? code : find_dtype(args->value[OPT_DTYPE], &g.dtype);
    if (code || !cli_number(args, OPT_LIMIT, 1, INT64_MAX, INT64_MAX, &g.limit)) {
        return CLI_USAGE;
    }
    const char *source = args->value[OPT_PROBLEMS];
    for (int i = 0; !code && i < args->operand_count; i++) {
        if (strcmp(args->operands[i], "-")) {
            code = add_line(&g, args->operands[i]);
        } else {
            source = "-";
        }
    }
    if (!code && source) {
        code = kw_problems_visit(source, g.op, g.dtype, visit_problem, &g, &err) ? cli_fail(&err) : CLI_DONE;
    }
    if (!code && g.failed) {
        code = cli_usage("out of memory for the problem list");
    }
    if (code) {
        cli_problems_free(list);
    }
    return code;
}

void cli_problems_free(cli_problem_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].name);
    }
    free(list->items);
    *list = (cli_problem_list){0};
}
