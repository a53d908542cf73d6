/* sweep.c: the verb sweep: every kernel on every problem, into a store. What was measured stays, so the same command goes on where one
 * was stopped. Ctrl-C and SIGTERM end it in good order; a second one ends it at once, which costs the batch under way. */
#include "sweep.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Broken pipes (a progress reader that went away) end no sweep. */
static void set_signals(kw_sweep_options *options) {
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    options->stop = cli_stop_in_order();
    sigaction(SIGPIPE, &ignore, NULL);
}

/* All that one sweep is made of. */
typedef struct session {
    const cli_args *args;
    kw_context *context; /* of the registry alone: it opens no device that is measured and compiles nothing */
    kw_registry *registry;
    const char **configs;
    kw_problem *problems;
    char candidates[256], list[256], command[1024];
    kw_sweep_options options;
} session;

/* --- options ------------------------------------------------------------------------------------------------------ */

static bool seconds(const cli_args *args, cli_option_id option, double *value) {
    const char *text = args->value[option];
    char *end = NULL;
    *value = text ? strtod(text, &end) : 0;
    if (text && (!*text || *end || !(*value > 0) || *value > 1e6)) {
        cli_usage("--%s %.60s is not a number of seconds above 0", cli_options[option].name, text);
        return false;
    }
    return true;
}

static int read_sweep_numbers(session *s) {
    const cli_args *args = s->args;
    kw_sweep_options *o = &s->options;
    kw_error err = {0};
    int64_t threads, jobs, batch, batches, seed;
    if (!cli_number(args, OPT_THREADS, 1, 1024, 1, &threads) || !cli_number(args, OPT_JOBS, 1, 1024, 0, &jobs) ||
        !cli_number(args, OPT_BATCH, 1, 100000, 0, &batch) || !cli_number(args, OPT_BATCHES, 1, 100000, 0, &batches) ||
        !cli_number(args, OPT_SEED, 0, INT64_MAX, 0, &seed) || !seconds(args, OPT_KERNEL_TIMEOUT, &o->limits.kernel_s) ||
        !cli_duration(args, OPT_BUDGET, &o->limits.budget_s)) {
        return CLI_USAGE;
    }
    o->workers.threads = (int32_t)threads;
    o->build.jobs = (int32_t)jobs;
    o->workers.batch = (int32_t)batch;
    o->timing.batches = (int32_t)batches;
    o->timing.seed = (uint64_t)seed;
    return kw_shard_find(&o->shard, args->value[OPT_SHARD], &err) ? cli_fail(&err) : CLI_DONE;
}

static void read_words(session *s) {
    const cli_args *args = s->args;
    kw_sweep_options *o = &s->options;
    o->pairs = args->value[OPT_PAIRS];
    o->out = args->value[OPT_OUT];
    o->workers.devices = args->value[OPT_DEVICE];
    o->build.cache_dir = args->value[OPT_CACHE_DIR];
    o->build.compiler = args->value[OPT_CC];
    o->overwrite = args->value[OPT_OVERWRITE];
    o->timing.exhaustive = args->value[OPT_EXHAUSTIVE];
    o->timing.cold = args->value[OPT_COLD];
    o->timing.fresh_weights = args->value[OPT_FRESH];
    o->timing.verify_only = args->value[OPT_VERIFY_ONLY];
}

/* --- what the lists are called, for the run's facts --------------------------------------------------------------- */

static void append_word(char *text, size_t capacity, const char *name, const char *value) {
    size_t used = strlen(text);
    if (value && used < capacity) {
        snprintf(text + used, capacity - used, "%s%s%s%s", used ? " " : "", name, *value ? "=" : "", value);
    }
}

static void name_lists(session *s) {
    static const cli_option_id of_candidates[] = {OPT_SET, OPT_ARCH, OPT_KERNELS, OPT_CONFIG, OPT_TRAITS, OPT_FILTER, OPT_RULES, OPT_PAIRS};
    static const cli_option_id of_list[] = {OPT_PROBLEMS, OPT_DIR,  OPT_DTYPE,      OPT_OP,    OPT_SAMPLE, OPT_PER_BUCKET, OPT_MAX_GFLOP,
                                            OPT_MAX_MB,   OPT_PART, OPT_TEST_SHARE, OPT_LIMIT, OPT_SEED,   OPT_PAIRS};
    for (size_t i = 0; i < sizeof of_candidates / sizeof *of_candidates; i++) {
        append_word(s->candidates, sizeof s->candidates, cli_options[of_candidates[i]].name, s->args->value[of_candidates[i]]);
    }
    if (!*s->candidates) {
        snprintf(s->candidates, sizeof s->candidates, "set=default");
    }
    for (size_t i = 0; i < sizeof of_list / sizeof *of_list; i++) {
        append_word(s->list, sizeof s->list, cli_options[of_list[i]].name, s->args->value[of_list[i]]);
    }
    s->options.candidates = s->candidates;
    s->options.list = s->list;
}

/* --- kernels and problems ----------------------------------------------------------------------------------------- */

/* Keeps the first count problems, each once. */
static int keep_problems(session *s, const cli_problem_list *list, size_t count) {
    size_t *first = calloc(count, sizeof *first), kept = 0;
    s->problems = cli_problems_plain(list);
    bool good = first && s->problems && !kw_problems_deduplicate(first, NULL, s->problems, count, NULL);
    for (size_t i = 0; good && i < count; i++) {
        if (first[i] == i) {
            s->problems[kept++] = s->problems[i];
        }
    }
    free(first);
    s->options.problems = s->problems;
    s->options.problem_count = kept;
    return good ? CLI_DONE : cli_no_memory("the problem list");
}

/* Where a model's errors choose, --limit is of what they choose. */
static int read_sweep_problems(const session *s, cli_problem_list *list) {
    cli_args args = *s->args;
    args.value[OPT_LIMIT] = args.value[OPT_WHERE] ? NULL : args.value[OPT_LIMIT];
    return cli_problems(list, &args);
}

static int read_problems(session *s) {
    cli_problem_list list = {0};
    bool by_op;
    kw_op op;
    if (!cli_op(s->args, OPT_OP, &by_op, &op)) {
        return CLI_USAGE;
    }
    int code = read_sweep_problems(s, &list);
    size_t kept = 0;
    for (size_t i = 0; !code && i < list.count; i++) {
        if (!by_op || op == list.items[i].problem.op) {
            cli_problem moved = list.items[kept];
            list.items[kept++] = list.items[i];
            list.items[i] = moved;
        }
    }
    if (!code && !kept && (list.count || !s->args->value[OPT_WHERE])) {
        code = list.count
                   ? cli_usage("none of the %zu problems is of --op %s; --dir takes convolutions in another direction", list.count,
                               kw_op_name(op))
                   : cli_problems_none(
                         s->args, "sweep needs --problems or a problem; for example: kwright sweep --problems resnet50 --out results.db");
    }
    code = code || !kept ? code : keep_problems(s, &list, kept);
    cli_problems_free(&list);
    return code;
}

static bool is_op_dtype_asked(const bool asked[KW_OP_COUNT][KW_DTYPE_COUNT], const char *config, kw_status *status, kw_error *err) {
    kw_config_info info;
    kw_error why = {0};
    kw_status read = kw_config_info_read(&info, config, &why);
    if (read == KW_NO_MEMORY) {
        *status = read;
        *err = why;
    }
    return !read && asked[info.op][info.dtype];
}

static int read_sweep_kernels(session *s) {
    kw_error err = {0};
    bool asked[KW_OP_COUNT][KW_DTYPE_COUNT] = {{false}};
    kw_context_options options = {.size = sizeof(kw_context_options), .cache_dir = "", .wisdom_file = "", .compiler = "", .threads = 1};
    const char *devices = s->options.workers.devices ? s->options.workers.devices : KW_DEFAULT_DEVICE;
    char device[64]; /* the first of them: all are alike */
    snprintf(device, sizeof device, "%.*s", (int)strcspn(devices, ","), devices);
    if (kw_context_open(&s->context, device, &options, &err)) {
        return cli_fail(&err);
    }
    size_t problems = s->args->value[OPT_WHERE] ? 0 : s->options.problem_count; /* problems of any kind may be chosen */
    for (size_t i = 0; i < problems; i++) {
        asked[s->problems[i].op][s->problems[i].dtype] = true;
    }
    if (s->args->value[OPT_WHERE]) {
        memset(asked, true, sizeof asked);
    }
    int code = cli_registry(&s->registry, s->context, s->args, s->problems, problems);
    size_t count = code ? 0 : kw_registry_count(s->registry), kept = 0;
    s->configs = calloc(count + 1, sizeof *s->configs);
    kw_status status = KW_OK;
    for (size_t i = 0; s->configs && i < count; i++) {
        const char *config = kw_registry_config(s->registry, i);
        if (is_op_dtype_asked(asked, config, &status, &err)) {
            s->configs[kept++] = config;
        }
    }
    if (!code && (status || !s->configs)) {
        code = status ? cli_fail(&err) : cli_no_memory("the list of kernels");
    }
    s->options.configs = s->configs;
    s->options.config_count = kept;
    if (!code && !kept) {
        code = cli_usage("none of the %zu kernels is for a problem's operation and type; `kwright list` shows what there is", count);
    }
    return code;
}

static int list_sweep_kernels(const session *s) {
    for (size_t i = 0; i < s->options.config_count; i++) {
        printf("%s\n", s->options.configs[i]);
    }
    return CLI_DONE;
}

/* --- the sweep ---------------------------------------------------------------------------------------------------- */

static sweep_result result_of(const session *s, const kw_sweep_report *report) {
    int devices = 1;
    for (const char *name = s->options.workers.devices; name && (name = strchr(name, ',')); name++) {
        devices++;
    }
    return (sweep_result){.report = report,
                          .devices = devices,
                          .kernels = s->options.pairs ? 0 : s->options.config_count,
                          .problems = s->options.pairs ? 0 : s->options.problem_count,
                          .out = s->options.out,
                          .shard = s->options.shard.index,
                          .shards = s->options.shard.count,
                          .counted = s->options.count_only};
}

static int count(session *s, kw_sweep_report *report) {
    kw_error err = {0};
    s->options.count_only = true;
    return kw_sweep(&s->options, report, &err) ? cli_fail(&err) : CLI_DONE;
}

/* Whether the rows that --overwrite would drop may go. */
static int confirm(session *s) {
    kw_sweep_report report;
    int code = count(s, &report);
    s->options.count_only = false;
    if (code || !report.skipped || s->args->value[OPT_YES]) {
        return code;
    }
    if (!isatty(0) || !isatty(2)) {
        return cli_usage("--overwrite would drop the rows of %lld pairs; add --yes to do so", (long long)report.skipped);
    }
    fprintf(stderr, "drop the rows of %lld pairs in %s? [y/N] ", (long long)report.skipped, s->options.out);
    char answer[16] = "";
    if (!fgets(answer, sizeof answer, stdin) || (answer[0] != 'y' && answer[0] != 'Y')) {
        fprintf(stderr, "kwright: nothing was dropped, nothing measured\n");
        return CLI_FAILED;
    }
    return CLI_DONE;
}

static int report_sweep(const session *s, const kw_sweep_report *report) {
    if (report->stopped) {
        fprintf(stderr, "kwright: stopped; %lld pairs are left, and %s goes on with them\n", (long long)report->outcome[KW_UNTRIED],
                s->options.overwrite ? "the command without --overwrite" : "the same command");
        return CLI_STOPPED;
    }
    if (report->spent) {
        fprintf(stderr, "kwright: the budget is spent; %lld pairs are left, and the same command goes on with them\n",
                (long long)report->outcome[KW_UNTRIED]);
    }
    if (report->outcome[KW_WRONG]) {
        fprintf(stderr, "kwright: %lld results are wrong; a kernel that is wrong on one problem is to be trusted on none\n",
                (long long)report->outcome[KW_WRONG]);
        return CLI_FAILED;
    }
    return CLI_DONE;
}

static int run_sweep(session *s) {
    kw_error err = {0};
    kw_sweep_report report;
    sweep_progress progress;
    bool json = s->args->value[OPT_JSON];
    int code = s->options.overwrite ? confirm(s) : CLI_DONE;
    if (code) {
        return code;
    }
    set_signals(&s->options);
    sweep_progress_start(&progress, s->args);
    s->options.progress = sweep_progress_show;
    s->options.log = sweep_progress_log;
    s->options.user = &progress;
    kw_status status = kw_sweep(&s->options, &report, &err);
    sweep_progress_end(&progress, &report);
    if (status) {
        code = cli_fail(&err);
        return kw_stop_requested(s->options.stop) ? CLI_STOPPED : code;
    }
    sweep_result result = result_of(s, &report);
    sweep_print(&result, json);
    return report_sweep(s, &report);
}

/* sweep_plan_view with what a Ctrl-C and a terminal need. */
static int sweep_by_errors(session *s) {
    sweep_progress progress;
    set_signals(&s->options);
    sweep_progress_start(&progress, s->args);
    s->options.progress = sweep_progress_show;
    s->options.log = sweep_progress_log;
    s->options.user = &progress;
    return sweep_plan_view(s->args, &s->options);
}

static int dispatch(session *s) {
    if (s->args->value[OPT_WHERE]) {
        return sweep_by_errors(s);
    }
    if (s->args->value[OPT_LIST]) {
        return list_sweep_kernels(s);
    }
    if (s->args->value[OPT_COUNT_ONLY]) {
        kw_sweep_report report;
        int code = count(s, &report);
        sweep_result result = result_of(s, &report);
        if (!code) {
            sweep_print(&result, s->args->value[OPT_JSON]);
        }
        return code;
    }
    return run_sweep(s);
}

/* What is measured without a place for it; said before kernels and problems are read, which may take a while. */
static int check_out(const cli_args *args) {
    bool measures = !args->value[OPT_WHERE] && !args->value[OPT_LIST] && !args->value[OPT_COUNT_ONLY];
    bool named = args->value[OPT_PROBLEMS] || args->value[OPT_PAIRS] || args->operand_count;
    return measures && named && !args->value[OPT_OUT] ? cli_usage("sweep needs a place for its rows; for example --out results.db")
                                                      : CLI_DONE;
}

/* What only makes sense with --where-model-errs, and what does not with it. */
static int check_where(const cli_args *args) {
    static const cli_option_id only[] = {OPT_STORES,  OPT_REGRET,  OPT_MIN_SHAPES, OPT_EXPLOIT,
                                         OPT_EXPLORE, OPT_HOLDOUT, OPT_LEFT_OUT,   OPT_NEXT};
    static const cli_option_id never[] = {OPT_PAIRS, OPT_LIST, OPT_OVERWRITE, OPT_VERIFY_ONLY, OPT_SHARD};
    for (size_t i = 0; i < sizeof only / sizeof *only && !args->value[OPT_WHERE]; i++) {
        if (args->value[only[i]]) {
            return cli_usage("--%s is for --where-model-errs MODEL", cli_options[only[i]].name);
        }
    }
    for (size_t i = 0; i < sizeof never / sizeof *never && args->value[OPT_WHERE]; i++) {
        if (args->value[never[i]]) {
            return cli_usage("--where-model-errs chooses kernels and problems itself; leave --%s away", cli_options[never[i]].name);
        }
    }
    return CLI_DONE;
}

int verb_sweep(const cli_args *args) {
    session s = {.args = args, .options.size = sizeof s.options};
    int code = cli_names_store("sweep", args->value[OPT_OUT], true) ? check_where(args) : CLI_USAGE;
    code = code ? code : check_out(args);
    code = code ? code : read_sweep_numbers(&s);
    read_words(&s);
    if (!code && s.options.pairs && (args->value[OPT_PROBLEMS] || args->operand_count || args->value[OPT_LIST])) {
        code = cli_usage("--pairs names kernels and problems; leave --problems, problems and --list away");
    }
    if (!s.options.pairs) {
        code = code ? code : read_problems(&s);
        code = code ? code : read_sweep_kernels(&s);
    }
    if (!code) {
        name_lists(&s);
        cli_command(s.command, sizeof s.command);
        s.options.command = s.command;
        code = dispatch(&s);
    }
    free(s.configs);
    free(s.problems);
    kw_registry_destroy(&s.registry);
    kw_context_close(&s.context);
    return code;
}
