/* main.c: kwright, written on the two public headers only. Finds the verb, reads its options, runs it. */
#include "cli.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS(...)                                                                                                                       \
    (const cli_option_id[]) {                                                                                                              \
        __VA_ARGS__, OPT_COUNT                                                                                                             \
    }
#define NO_OPTIONS OPTIONS(OPT_COUNT)
#define COMMON OPT_DEVICE, OPT_THREADS, OPT_CACHE_DIR, OPT_CC, OPT_WISDOM, OPT_QUIET
#define SPACE OPT_SET, OPT_ARCH, OPT_FILTER, OPT_TRAITS, OPT_RULES, OPT_BUILDER_CONF, OPT_KERNELS, OPT_CONFIG
#define CHOICE OPT_SAMPLE, OPT_PER_BUCKET, OPT_MAX_GFLOP, OPT_MAX_MB, OPT_PART, OPT_TEST_SHARE, OPT_SEED
#define PROBLEM OPT_PROBLEMS, OPT_DIR, OPT_DTYPE, OPT_LIMIT, CHOICE
#define PLAN OPT_MODEL, OPT_MODE, OPT_FROZEN, OPT_REMEASURE, OPT_SHORTLIST, OPT_WORKSPACE, OPT_FRESH
#define SWEEP                                                                                                                              \
    OPT_OP, OPT_JOBS, OPT_OUT, OPT_BATCH, OPT_BATCHES, OPT_KERNEL_TIMEOUT, OPT_BUDGET, OPT_COLD, OPT_FRESH, OPT_EXHAUSTIVE,                \
        OPT_VERIFY_ONLY, OPT_OVERWRITE, OPT_YES, OPT_COUNT_ONLY, OPT_LIST, OPT_SHARD, OPT_PAIRS, OPT_JSON, OPT_WHERE, OPT_STORES,          \
        OPT_REGRET, OPT_MIN_SHAPES, OPT_EXPLOIT, OPT_EXPLORE, OPT_HOLDOUT, OPT_LEFT_OUT, OPT_NEXT
#define JUDGE OPT_OP, OPT_DTYPE, OPT_HOLDOUT, OPT_KERNELS, OPT_IN_SAMPLE, OPT_LEFT_OUT, OPT_SEED, OPT_JSON, OPT_QUIET

const cli_verb cli_verbs[] = {
    {"adopt", "FOLDER", "make a model of CK Tile's heuristics one that is asked here", "kwright adopt models/gemm_universal_fp8_gfx950",
     "FOLDER: feature_spec.json and forests as model_tflops.lgbm.gz, model_latency.lgbm, ... It gets a model.spec for its first target "
     "and\n"
     "model_TARGET.spec for the others, each of which --model takes; --out leaves it as it is and writes copies. Scores are LightGBM's to "
     "the\n"
     "last bit. --op: the direction, where the folder's name does not say it. docs/selection/model-folder.md tells all.",
     OPTIONS(OPT_OUT, OPT_OP, OPT_QUANTITY, OPT_QUIET), 1, 1, verb_adopt},
    {"build", "[PROBLEM ...]", "compile kernels into the cache, or into a folder", "kwright build --set tiny",
     "With problems the kernels that serve any of them, else all.\n"
     "  kwright build --set tiny --arch gfx942 --out objects\n"
     "compiles for an architecture without a device: a code object a kernel, and catalog.txt with config, file and resources of each.",
     OPTIONS(COMMON, SPACE, PROBLEM, OPT_JOBS, OPT_JSON, OPT_OUT), 0, -1, verb_build},
    {"cache", "", "show or clear the kernel cache", "kwright cache --clear", NULL, OPTIONS(COMMON, OPT_CLEAR, OPT_JSON), 0, 0, verb_cache},
    {"check", "[PROBLEM ...]", "verify kernels against the reference", "kwright check --set tests 'conv_fwd fp32 n1 c16 k16 i8x8 f3 p1'",
     "Every kernel of the set that serves the problem is run on small integers (exact) and on real data (within a bound).",
     OPTIONS(COMMON, SPACE, PROBLEM, OPT_JOBS, OPT_JSON, OPT_SEED), 0, -1, verb_check},
    {"compare", "A B", "hold two models against each other on measured problems",
     "kwright compare models/new models/old --stores results.db",
     "A and B: a model's folder, a file of held-out predictions (oof.csv.gz), estimate, random or single. docs/selection/evaluation.md "
     "tells all.",
     OPTIONS(OPT_STORES, JUDGE), 2, 2, verb_compare},
    {"completion", "", "print the completion script for bash and zsh", "source <(kwright completion)", NULL, NO_OPTIONS, 0, 0,
     verb_completion},
    {"count", "", "count the kernels that the rules declare", "kwright count --set full --arch x86-64-v3",
     "The last line is the number; the lines before it count by family, operation and type.", OPTIONS(SPACE, OPT_JSON, OPT_QUIET), 0, 0,
     verb_count},
    {"coverage", "LIST", "hold a set against a list of kernels that it must have",
     "kwright coverage reference.txt.gz --set full --arch gfx942",
     "LIST: a catalog, as `kwright list` prints it, gzip or not. All axes are compared; exit code 1: the set lacks some.",
     OPTIONS(SPACE, OPT_JSON, OPT_QUIET, OPT_LIMIT), 1, 1, verb_coverage},
    {"db", "COMMAND STORE ...", "list, count, check, export, import, drop or rescue the rows of a store",
     "kwright db list results.db --op conv_fwd --answers --limit 20",
     "  kwright db count results.db                     # rows, problems, kernels and outcomes\n"
     "  kwright db export results.db --out results.csv  # also .jsonl, each with .gz; --format seed-csv\n"
     "  kwright db import results.db more.jsonl         # a union; rows that cannot be true are refused (exit code 1)\n"
     "files of CK Tile's benchmarks take --target gfx950, and are known by their beginning or by --format ck-json, ck-log or seed-csv\n"
     "  kwright db drop results.db --outcome crashed --yes   # asks unless --yes\n"
     "  kwright db check results.db                     # every page and every row\n"
     "  kwright db recover damaged.db --out recovered.db\n"
     "docs/measuring/store.md tells all, with queries for sqlite3, DuckDB and pandas.",
     OPTIONS(OPT_OP, OPT_DTYPE, OPT_PROBLEM, OPT_CONFIG, OPT_OUTCOME, OPT_TARGET, OPT_RUN, OPT_ANSWERS, OPT_FORMAT, OPT_OUT, OPT_LIMIT,
             OPT_COLD, OPT_FRESH, OPT_YES, OPT_JSON, OPT_QUIET),
     2, -1, verb_db},
    {"diff", "NEW BASELINE", "hold the best kernels of a store against those of another, as a gate",
     "kwright diff results.db last-release.db --slack 0.03",
     "A line a problem: SAME, FAST, SLOW, or LOST where no kernel is good any more. A difference inside the noise of the two times is "
     "none.\n"
     "Exit code 1: a problem is slow or lost.",
     OPTIONS(OPT_SLACK, OPT_JSON, OPT_QUIET), 2, 2, verb_diff},
    {"doctor", "", "show devices, compilers, places and what will happen", "kwright doctor", NULL, OPTIONS(COMMON, OPT_JSON), 0, 0,
     verb_doctor},
    {"evaluate", "STORE ...", "say what the selections of a model are worth on measured problems",
     "kwright evaluate results.db --model models/mine --holdout resnet50,bert",
     "Efficiency against the oracle with 95 % intervals, shortlists, orders, coverage, slices and the worst selections; problems of the "
     "model's\n"
     "training are left out. --kernels: candidates that count where they were never measured, too. --out: one CSV line a problem group;\n"
     "--html: one page of charts and tables, beside the estimate, the single best kernel and chance.\n"
     "  kwright evaluate results.db --oof models/mine/oof.csv.gz --left-out family\n"
     "  kwright evaluate results.db --selector estimate            # also random, single\n"
     "docs/selection/evaluation.md has every definition.",
     OPTIONS(OPT_MODEL, OPT_OOF, OPT_SELECTOR, OPT_OUT, OPT_HTML, OPT_TITLE, JUDGE), 1, -1, verb_evaluate},
    {"explain", "PROBLEM ...", "say which kernel a problem gets and why", "kwright explain 'conv_fwd fp32 n1 c64 k64 i56x56 f3 p1'",
     "Answers from wisdom, else by prediction; it measures nothing unless --mode says so. With --together it also says which of the "
     "problems one\ncall runs in one launch of a GPU, and why the others stay apart.",
     OPTIONS(COMMON, SPACE, PROBLEM, PLAN, OPT_TOGETHER, OPT_JSON), 0, -1, verb_explain},
    {"help", "[VERB]", "show this list, or a verb's options", "kwright help tune", NULL, OPTIONS(OPT_MAN), 0, 1, verb_help},
    {"list", "", "list the kernels that the rules declare", "kwright list --set default --filter \"c.op == 'gemm'\"",
     "One config a line, a catalog that --kernels reads back; with --json a registry that --kernels FILE.json reads back.",
     OPTIONS(SPACE, OPT_COUNT_ONLY, OPT_EXPORT_JSON, OPT_JSON, OPT_LIMIT, OPT_QUIET), 0, 0, verb_list},
    {"merge", "[FILE ...]", "unite stores and segments of shards, and say what is missing",
     "kwright merge --out results.db --next holes.manifest results.db.shard-*.jsonl",
     "A union: order and repetition do not matter, and nothing is dropped. Manifests beside the files (NAME.manifest) say what should be\n"
     "there; exit code 1: pairs are missing, and kwright sweep --pairs holes.manifest measures them. docs/measuring/shards.md tells all.",
     OPTIONS(OPT_OUT, OPT_NEXT, OPT_MANIFEST, OPT_JSON, OPT_QUIET), 0, -1, verb_merge},
    {"predict", "PROBLEM", "list kernels by predicted time", "kwright predict 'conv_fwd fp32 n1 c64 k64 i56x56 f3 p1' --limit 10",
     "By the model that serves the problem, else by the analytic estimate; it runs and compiles nothing. Measured times are shown where "
     "wisdom\n"
     "or a store (--store) has one of this target. docs/selection/selection.md tells all.",
     OPTIONS(COMMON, SPACE, OPT_MODEL, OPT_STORE, OPT_FRESH, OPT_DTYPE, OPT_LIMIT, OPT_JSON), 1, 1, verb_predict},
    {"problems", "[PROBLEM ...]", "list problem sets; show, choose, extract and compare problems",
     "kwright problems --problems forward_2d --sample 300 --max-gflop 1",
     "Reads sets, our own lines, lines of MIOpenDriver, benchdnn, hipblaslt-bench and TunableOp, and lists of CK's tile engine (CSV, JSON, "
     "Python).\n"
     "  kwright problems extract log.txt                       # the different problems in the text of logs, name*K for K lines\n"
     "  kwright problems overlap forward_2d validation_holdout # exit code 1 when two lists share a problem",
     OPTIONS(PROBLEM, OPT_JSON, OPT_QUIET), 0, -1, verb_problems},
    {"prune", "STORE ...", "choose the fewest kernels that keep a share of the best",
     "kwright prune results.db --keep 0.99 --out kernels.txt",
     "For each operation and type. --out writes a catalog for --kernels, or a rule set where the name ends in .lua. What is kept is told "
     "on\n"
     "all problems and on problems that did not choose. docs/selection/search-and-prune.md tells all.",
     OPTIONS(OPT_KEEP, OPT_WORST, OPT_OP, OPT_DTYPE, OPT_OUT, OPT_SEED, OPT_JSON, OPT_QUIET), 1, -1, verb_prune},
    {"quality", "NEW BASE", "accept or refuse a model in place of another", "kwright quality models/new models/old --stores results.db",
     "Accepted: mean and median efficiency within 0.5 % of the base's, P10 within 2 %, no problem more than 10 % worse. Exit code 1 and "
     "the\n"
     "first criterion that was missed: refused.",
     OPTIONS(OPT_STORES, JUDGE), 2, 2, verb_quality},
    {"report", "STORE", "say what a store of measurements shows", "kwright report results.db --html report.html",
     "Efficiency against the roofs, winning families, worst problems, drift and failures by cause, each with a command to go on with;\n"
     "--html makes one page with charts and tables that opens offline. docs/measuring/reports.md says how to read it.",
     OPTIONS(OPT_HTML, OPT_BASELINE, OPT_TITLE, OPT_JSON), 1, 1, verb_report},
    {"run", "[PROBLEM ...]", "run a problem with its best kernel", "kwright run --check 'gemm bf16 rcr m128 n768 k768'", NULL,
     OPTIONS(COMMON, SPACE, PROBLEM, PLAN, OPT_CHECK, OPT_SEED, OPT_TOGETHER, OPT_JSON), 0, -1, verb_run},
    {"search", "PROBLEM", "find kernels of a whole space by prediction",
     "kwright search 'conv_fwd fp32 n8 c64 k64 i56x56 f3 p1' --model models/mine --budget 500 --measure",
     "Differential evolution over the axes that the rules give, random points, or all kernels; only kernels that can be built and\n"
     "serve the problem are looked at. By the analytic estimate where no model is given. --measure verifies and times what was found. Set "
     "full.",
     OPTIONS(OPT_MODEL, OPT_METHOD, OPT_BUDGET, OPT_TOP, OPT_SEED, OPT_MEASURE, OPT_TARGET, OPT_SET, OPT_ARCH, OPT_FILTER, OPT_TRAITS,
             OPT_RULES, OPT_DEVICE, OPT_THREADS, OPT_CACHE_DIR, OPT_CC, OPT_FRESH, OPT_JSON, OPT_QUIET),
     1, 1, verb_search},
    {"select", "[PROBLEM ...]", "print the kernel that a problem gets without measuring",
     "kwright select 'conv_fwd fp32 n1 c64 k64 i56x56 f3 p1'",
     "What mode predict runs: wisdom's answer, else the best by prediction that compiles. Below it stands where it came from.",
     OPTIONS(COMMON, SPACE, PROBLEM, PLAN, OPT_JSON), 0, -1, verb_select},
    {"show", "[FAMILY|CONFIG]", "explain a family or a config, print its source",
     "kwright show --source \"$(kwright list --set tiny --limit 1)\"",
     "Which rule keeps a kernel from being generated or run, and which from serving a problem:\n"
     "  kwright show --why-not \"$(kwright list --set tiny --arch gfx950 --limit 1)\" --arch gfx90a\n"
     "  kwright show \"$(kwright list --set tiny --limit 1)\" --why-not 'gemm fp32 m64 n64 k64'",
     OPTIONS(OPT_JSON, OPT_SOURCE, OPT_WHY_NOT, OPT_RULES, OPT_DEVICE, OPT_THREADS, OPT_SET, OPT_ARCH, OPT_FILTER, OPT_QUIET), 0, 1,
     verb_show},
    {"sweep", "[PROBLEM ...]", "measure every kernel on every problem into a store",
     "kwright sweep --op conv_fwd --set default --problems forward_2d --sample 300 --out results.db",
     "What has a row is skipped, so the same command goes on where one was stopped. Kernels run in processes of their own; what crashes,\n"
     "hangs or is wrong becomes a row that says so. Exit code 1: a result is wrong; 130: stopped. docs/measuring/sweeps.md tells all.\n"
     "  kwright sweep --where-model-errs models/mine --stores data/a.jsonl.gz --budget 20m --out new.db\n"
     "measures what a model most needs to know, until its regret is within --regret in every family.",
     OPTIONS(OPT_DEVICE, OPT_THREADS, OPT_CACHE_DIR, OPT_CC, OPT_QUIET, SPACE, PROBLEM, SWEEP), 0, -1, verb_sweep},
    {"train", "STORE ...", "learn from measurements which kernel suits which problem", "kwright train results.db --out models/mine",
     "Stores, or exports of them (.jsonl, .csv, .gz). Prints what selections of the model are worth on shapes and on families of problems "
     "that\n"
     "were left out, and writes the model's folder: forest, card, manifest, held-out predictions. Needs LightGBM: pip install lightgbm.",
     OPTIONS(OPT_OUT, OPT_OP, OPT_DTYPE, OPT_FEATURES, OPT_QUANTITY, OPT_FOLDS, OPT_TREES, OPT_LEAVES, OPT_LEARNING_RATE, OPT_ROUNDS,
             OPT_SEED, OPT_HOLDOUT, OPT_MAX_BYTES, OPT_WARM_START, OPT_LIGHTGBM, OPT_THREADS, OPT_JSON, OPT_QUIET),
     1, -1, verb_train},
    {"tune", "[PROBLEM ...]", "measure kernels and remember the winner",
     "kwright tune --exhaustive 'conv_fwd fp32 n1 c64 k64 i56x56 f3 p1'",
     "For one problem the ranking; for a list (--problems) one line a problem. Winners go to wisdom.",
     OPTIONS(COMMON, SPACE, PROBLEM, PLAN, OPT_EXHAUSTIVE, OPT_JOBS, OPT_JSON), 0, -1, verb_tune},
    {"validate", "STORE ...", "measure a model's selections and the best kernels again",
     "kwright validate results.db --model models/mine --limit 50",
     "Both kernels of a problem are timed side by side on this machine, into rows of their own (--out keeps them). Says whether the old "
     "rows'\n"
     "efficiency still holds: what chose selection and best were other samples.",
     OPTIONS(OPT_MODEL, OPT_OOF, OPT_SELECTOR, OPT_LIMIT, OPT_OUT, OPT_BATCHES, OPT_DEVICE, OPT_CACHE_DIR, OPT_CC, JUDGE), 1, -1,
     verb_validate},
    {"version", "", "print version, commit, compiler and libraries", "kwright version", NULL, OPTIONS(OPT_JSON), 0, 0, verb_version},
    {"wisdom", "[FILE]", "list what was learned by measuring, and what is stale", "kwright wisdom",
     "An entry is stale when today's rules refuse it; it is then not used.", OPTIONS(COMMON, OPT_FORGET, OPT_JSON, OPT_LIMIT), 0, 1,
     verb_wisdom},
    {0},
};

static const cli_verb *find_verb(const char *name) {
    for (const cli_verb *verb = cli_verbs; verb->name; verb++) {
        if (!strcmp(verb->name, name)) {
            return verb;
        }
    }
    return NULL;
}

int cli_unknown_verb(const char *name) {
    char names[512] = "", hint[CLI_HINT_MAX];
    size_t used = 0;
    for (const cli_verb *verb = cli_verbs; verb->name && used < sizeof names; verb++) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s ", verb->name);
    }
    return cli_usage("verb '%.60s' is not known%s; `kwright help` lists the verbs", name, cli_hint(hint, name, "", names));
}

/* Anywhere behind the verb, and before "--". */
static bool asks_help(int count, char **words) {
    for (int i = 2; i < count && strcmp(words[i], "--"); i++) {
        if (!strcmp(words[i], "--help") || !strcmp(words[i], "-h")) {
            return true;
        }
    }
    return false;
}

static void add_about(void *user, const char *name, const char *value) {
    cli_json_text(user, name, value);
}

static void print_about(void *user, const char *name, const char *value) {
    (void)user;
    printf("  %-9s %s\n", name, value);
}

int verb_version(const cli_args *args) {
    cli_json json;
    if (args->value[OPT_JSON]) {
        cli_json_start(&json);
        cli_json_text(&json, "version", kw_version());
        kw_about_visit(add_about, &json);
        cli_json_print(&json, stdout);
    } else {
        printf("kwright %s\n", kw_version());
        kw_about_visit(print_about, NULL);
    }
    return CLI_DONE;
}

/* A standard file that was closed is opened so that using it fails: else the next file opened would take its number, and what is printed would
 * go there. */
static bool keep_standard_files(void) {
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd) {
            return false;
        }
    }
    return true;
}

int main(int count, char **words) {
    if (!keep_standard_files()) {
        return CLI_ENVIRONMENT;
    }
    signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is told as a full disk is, by whoever writes */
    if (count > 1 && !strcmp(words[1], "worker")) {
        return kw_worker_main(count - 2, words + 2); /* for sweeps, not for people, so it is not among the verbs */
    }
    if (count > 1 && !strcmp(words[1], "nvrtc")) {
        return kw_nvrtc_main(count - 2, words + 2); /* the same, for compiles */
    }
    if (count > 1 && !strcmp(words[1], "roofs")) {
        return kw_roofs_main(count - 2, words + 2); /* the same, for what a GPU does at most */
    }
    cli_watch_signals();
    if (count < 2 || !strcmp(words[1], "--help") || !strcmp(words[1], "-h")) {
        cli_args none = {0};
        int code = verb_help(&none);
        return count < 2 ? CLI_USAGE : code;
    }
    const cli_verb *verb = find_verb(strcmp(words[1], "--version") && strcmp(words[1], "-V") ? words[1] : "version");
    if (!verb) {
        return cli_unknown_verb(words[1]);
    }
    if (asks_help(count, words)) {
        cli_args about = {.operands = (const char *const *)&verb->name, .operand_count = 1};
        return verb_help(&about);
    }
    const char **operands = calloc((size_t)count, sizeof *operands);
    if (!operands) {
        return cli_no_memory("the request");
    }
    cli_args args = {0};
    int code = cli_parse(&args, verb, count - 2, words + 2, operands);
    if (!code) {
        code = verb->run(&args);
    }
    free(args.joined);
    free(operands);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "kwright: cannot write to standard output\n");
        code = code ? code : CLI_ENVIRONMENT;
    }
    if (cli_is_interrupted()) {
        fprintf(stderr, "kwright: interrupted\n");
        code = CLI_STOPPED;
    }
    return code;
}
