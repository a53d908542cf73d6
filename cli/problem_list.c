/* problem_list.c: problems of the command line: read, turned to the direction and type that were asked for, and chosen from. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- reading --- */

typedef struct list_reader {
    cli_problem_list *list;
    int64_t limit;
    kw_op op;       /* KW_OP_COUNT: as each problem says */
    kw_dtype dtype; /* KW_DTYPE_COUNT: as each problem says */
    uint32_t ndim;  /* bits 1 << spatial axes of the convolutions that are wanted */
    bool every_direction, failed;
} list_reader;

static bool append_problem(cli_problem_list *list, const char *name, const kw_problem *problem) {
    if (!cli_reserve(&list->items, &list->capacity, list->count + 1, sizeof *list->items)) {
        return false;
    }
    char *copy = strdup(cli_shown(name)); /* from a file of anybody; here and below it is printed only */
    if (!copy) {
        return false;
    }
    list->items[list->count++] = (cli_problem){copy, *problem};
    return true;
}

/* Adds a problem in the direction and type that were asked for; under "--dir all" a convolution in each of its directions. */
static bool visit_problem(void *user, const char *name, const kw_problem *problem) {
    list_reader *g = user;
    kw_problem each = *problem;
    int first = (int)problem->op, last = first;
    if (!(g->ndim >> problem->ndim & 1)) {
        return true;
    }
    if (problem->op != KW_GEMM && g->every_direction) {
        first = KW_CONV_FWD;
        last = KW_CONV_BWD_WEIGHT;
    } else if (problem->op != KW_GEMM && g->op != KW_OP_COUNT && g->op != KW_GEMM) {
        first = last = (int)g->op;
    }
    each.dtype = g->dtype == KW_DTYPE_COUNT ? problem->dtype : g->dtype;
    for (int op = first; op <= last && (int64_t)g->list->count < g->limit; op++) {
        each.op = (kw_op)op;
        if (!append_problem(g->list, name, &each)) {
            g->failed = true;
            return false;
        }
    }
    return (int64_t)g->list->count < g->limit;
}

static int parse_op(const char *text, kw_op *op, bool *every) {
    *op = KW_OP_COUNT;
    *every = text && !strcmp(text, "all");
    return !text || *every || kw_op_find(op, text) ? CLI_DONE : cli_usage("--dir %.60s is not known; known: %s all", text, kw_op_names());
}

static int parse_dtype(const cli_args *args, kw_dtype *dtype) {
    bool given;
    *dtype = KW_DTYPE_COUNT;
    return cli_dtype(args, &given, dtype) ? CLI_DONE : CLI_USAGE;
}

/* A trait file for one operation, or one type, means the problems so, unless --dir or --dtype say otherwise. */
static int ask_traits(list_reader *g, const cli_args *args) {
    kw_error err = {0};
    uint32_t ops, dtypes;
    if (kw_traits_problems(&ops, &dtypes, &g->ndim, args->value[OPT_TRAITS], &err)) {
        return cli_fail(&err);
    }
    for (int op = 0; !args->value[OPT_DIR] && op < KW_OP_COUNT; op++) {
        g->op = ops == 1u << op ? (kw_op)op : g->op;
    }
    for (int dtype = 0; !args->value[OPT_DTYPE] && dtype < KW_INT32; dtype++) {
        g->dtype = dtypes == 1u << dtype ? (kw_dtype)dtype : g->dtype;
    }
    g->ndim |= 1; /* GEMMs */
    return CLI_DONE;
}

static int start_gather(list_reader *g, cli_problem_list *list, const cli_args *args) {
    *g = (list_reader){.list = list, .limit = INT64_MAX, .ndim = UINT32_MAX};
    int code = parse_op(args->value[OPT_DIR], &g->op, &g->every_direction);
    code = code ? code : parse_dtype(args, &g->dtype);
    return code || !args->value[OPT_TRAITS] ? code : ask_traits(g, args);
}

static int end_gather(const list_reader *g, kw_status status, const kw_error *err) {
    return g->failed ? cli_no_memory("the problem list") : status ? cli_fail(err) : CLI_DONE;
}

static int read_problem_list(list_reader *g, const char *name_or_path) {
    kw_error err = {0};
    return end_gather(g, kw_problems_visit(name_or_path, g->op, g->dtype, visit_problem, g, &err), &err);
}

static bool stop_reading(void *user, const char *name, const kw_problem *problem) {
    (void)user, (void)name, (void)problem;
    return false;
}

/* Whether a word that is no problem names a set or a file of problems: then --problems was meant. */
static bool is_list(const char *word) {
    kw_error err = {0};
    return *word && strcmp(word, "-") && !strchr(word, ' ') &&
           !kw_problems_visit(word, KW_OP_COUNT, KW_DTYPE_COUNT, stop_reading, NULL, &err);
}

static int read_problem_line(list_reader *g, const char *line) {
    kw_error err = {0};
    kw_problem problems[KW_IMPORT_MAX];
    int count;
    kw_status status = kw_problem_import_all(problems, &count, line, &err);
    for (int i = 0; i < count && visit_problem(g, "", &problems[i]); i++) {
    }
    if (status && is_list(line)) {
        return cli_usage("%.200s is a list, no problem; --problems %.200s reads it", cli_shown(line), cli_shown(line));
    }
    return end_gather(g, status, &err);
}

int cli_problems_of(cli_problem_list *list, const cli_args *args, const char *name_or_path) {
    list_reader g;
    int code = start_gather(&g, list, args);
    return code ? code : read_problem_list(&g, name_or_path);
}

int cli_problems_extract(cli_problem_list *list, const cli_args *args, const char *path, kw_extract_count *lines) {
    list_reader g;
    kw_error err = {0};
    kw_extract_count here = {0};
    int code = start_gather(&g, list, args);
    if (!code) {
        code = end_gather(&g, kw_problems_extract(path, visit_problem, &g, &here, &err), &err);
    }
    lines->lines += here.lines;
    lines->problems += here.problems;
    lines->options += here.options;
    lines->skipped += here.skipped;
    if (!*lines->first_refusal) {
        memcpy(lines->first_refusal, here.first_refusal, sizeof lines->first_refusal);
    }
    return code;
}

/* --- choosing --- */

kw_problem *cli_problems_plain(const cli_problem_list *list) {
    kw_problem *problems = calloc(list->count ? list->count : 1, sizeof *problems);
    for (size_t i = 0; problems && i < list->count; i++) {
        problems[i] = list->items[i].problem;
    }
    return problems;
}

/* A number of at least 0 that an option gives. */
static bool real_number(const cli_args *args, cli_option_id option, double high, double fallback, double *value) {
    const char *text = args->value[option];
    char *end = NULL;
    *value = text ? strtod(text, &end) : fallback;
    if (text && (!*text || *end || !(*value > 0) || *value > high)) {
        cli_usage("--%s %.60s is not a number above 0%s", cli_options[option].name, text, isfinite(high) ? " and of at most 1" : "");
        return false;
    }
    return true;
}

static int find_part(const cli_args *args, bool *test) {
    const char *part = args->value[OPT_PART];
    *test = part && !strcmp(part, "test");
    if (!part && args->value[OPT_TEST_SHARE]) {
        return cli_usage("--test-share says how large the test part is, but none is asked for; add --part train or --part test");
    }
    return part && !*test && strcmp(part, "train") ? cli_usage("--part %.60s is not known; known: train test", part) : CLI_DONE;
}

/* How large a problem may be: operations in 10^9, bytes of its tensors in 10^6. */
typedef struct size_limit {
    double gflop, megabytes;
} size_limit;

static bool is_within_limit(const size_limit *limit, const kw_problem *problem) {
    return (double)kw_problem_flops(problem) <= limit->gflop * 1e9 && (double)kw_problem_bytes(problem) <= limit->megabytes * 1e6;
}

/* Drops what is of the other part, or too large. */
static void keep_part(cli_problem_list *list, bool split, bool test, double share, const size_limit *limit) {
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        const kw_problem *problem = &list->items[i].problem;
        if ((split && kw_problem_in_test(problem, share) != test) || !is_within_limit(limit, problem)) {
            free(list->items[i].name);
        } else {
            list->items[kept++] = list->items[i];
        }
    }
    list->count = kept;
}

/* Replaces the list by a sample of it, in the order of drawing. */
static int draw_sample(cli_problem_list *list, const kw_sample_options *options) {
    kw_error err = {0};
    size_t count = 0;
    kw_problem *problems = cli_problems_plain(list);
    size_t *chosen = calloc(list->count ? list->count : 1, sizeof *chosen);
    cli_problem *items = calloc(list->count ? list->count : 1, sizeof *items);
    kw_status status = KW_NO_MEMORY;
    if (problems && chosen && items) {
        status = kw_problems_sample(chosen, &count, problems, list->count, options, &err);
    }
    for (size_t i = 0; i < count; i++) {
        items[i] = list->items[chosen[i]];
        list->items[chosen[i]].name = NULL;
    }
    if (!status) {
        size_t capacity = list->count ? list->count : 1;
        cli_problems_free(list);
        *list = (cli_problem_list){items, count, capacity};
        items = NULL;
    }
    free(problems);
    free(chosen);
    free(items);
    err.status = status;
    return status ? cli_fail(&err) : CLI_DONE;
}

int cli_problems_choose(cli_problem_list *list, const cli_args *args, kw_bucketing buckets, int64_t per_bucket) {
    int64_t sample, seed, limit;
    double share;
    size_limit most;
    bool test;
    if (!cli_number(args, OPT_SAMPLE, 1, INT64_MAX, 0, &sample) ||
        !cli_number(args, OPT_PER_BUCKET, 1, INT64_MAX, per_bucket, &per_bucket) || !cli_number(args, OPT_SEED, 0, INT64_MAX, 0, &seed) ||
        !cli_number(args, OPT_LIMIT, 1, INT64_MAX, INT64_MAX, &limit) || !real_number(args, OPT_TEST_SHARE, 1, 0.2, &share) ||
        !real_number(args, OPT_MAX_GFLOP, (double)INFINITY, (double)INFINITY, &most.gflop) ||
        !real_number(args, OPT_MAX_MB, (double)INFINITY, (double)INFINITY, &most.megabytes) || find_part(args, &test)) {
        return CLI_USAGE;
    }
    keep_part(list, args->value[OPT_PART] != NULL, test, share, &most);
    kw_sample_options options = {.size = sizeof(kw_sample_options),
                                 .count = (size_t)sample,
                                 .per_bucket = (size_t)per_bucket,
                                 .seed = (uint64_t)seed,
                                 .buckets = buckets};
    int code = args->value[OPT_SAMPLE] || args->value[OPT_PER_BUCKET] ? draw_sample(list, &options) : CLI_DONE;
    while ((int64_t)list->count > limit) {
        free(list->items[--list->count].name);
    }
    return code;
}

int cli_problems(cli_problem_list *list, const cli_args *args) {
    list_reader g;
    *list = (cli_problem_list){0};
    int code = start_gather(&g, list, args);
    const char *source = args->value[OPT_PROBLEMS];
    bool all = args->value[OPT_SAMPLE] || args->value[OPT_PER_BUCKET] || args->value[OPT_PART] || args->value[OPT_MAX_GFLOP] ||
               args->value[OPT_MAX_MB];
    if (code || (!all && !cli_number(args, OPT_LIMIT, 1, INT64_MAX, INT64_MAX, &g.limit))) {
        return CLI_USAGE;
    }
    for (int i = 0; !code && i < args->operand_count; i++) {
        if (strcmp(args->operands[i], "-")) {
            code = read_problem_line(&g, args->operands[i]);
        } else {
            source = "-";
        }
    }
    if (!code && source) {
        code = read_problem_list(&g, source);
    }
    code = code ? code : cli_problems_choose(list, args, KW_BUCKETS_FAMILY, 0);
    if (code) {
        cli_problems_free(list);
    }
    return code;
}

int cli_problems_none(const cli_args *args, const char *needs) {
    if (!args->value[OPT_PROBLEMS] && !args->operand_count) {
        return cli_usage("%s", needs);
    }
    bool chosen = args->value[OPT_PART] || args->value[OPT_MAX_GFLOP] || args->value[OPT_MAX_MB];
    return cli_usage("%.200s: %s", args->value[OPT_PROBLEMS] ? args->value[OPT_PROBLEMS] : args->operands[0],
                     chosen ? "--part, --max-gflop and --max-mb leave no problem of it" : "it holds no problem");
}

void cli_problems_free(cli_problem_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].name);
    }
    free(list->items);
    *list = (cli_problem_list){0};
}
