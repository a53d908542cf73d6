/* cli.h: what the verbs share. The command line stands on kernelwright.h and kernelwright_tune.h and on nothing of src/.
 *
 * Standard output holds the answer and nothing else; progress and remarks go to standard error. Every function that returns int gives
 * an exit code: 0 done, 1 the work failed, 2 the request was wrong, 3 the environment was wrong,
 * 130 Ctrl-C or SIGTERM ended it. */
#ifndef KW_CLI_H
#define KW_CLI_H

#include <kernelwright.h>
#include <kernelwright_tune.h>

#include <stdint.h>
#include <stdio.h>

enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_ENVIRONMENT = 3, CLI_STOPPED = 130 };

/* One list for the parser, help, completion and the man page: id, name, value (NULL for a flag), meaning. */
#define CLI_OPTIONS(X)                                                                                                                     \
    X(ANSWERS, "answers", NULL, "only the row that counts for each target, problem and kernel")                                            \
    X(ARCH, "arch", "NAME", "an architecture of rules/arch instead of this machine's")                                                     \
    X(BASELINE, "baseline", "STORE", "a second store to compare with")                                                                     \
    X(BATCH, "batch", "N", "kernels a worker process is given at a time (20)")                                                             \
    X(BATCHES, "batches", "N", "samples wanted of each kernel (21)")                                                                       \
    X(EXPLOIT, "exploit", "K", "kernels of a problem that predict the least time, by the model and by the estimate (4)")                   \
    X(BUILDER_CONF, "builder-conf", "DIR", "lists of CK Builder, for sets profiler and tests of GPUs")                                     \
    X(BUDGET, "budget", "N", "what to spend: kernels to look at, or a time")                                                               \
    X(SELECTOR, "selector", "WHO", "the selector: estimate, random, or single (the kernel that is best over all)")                         \
    X(CACHE_DIR, "cache-dir", "DIR", "keep compiled kernels there; '' keeps none")                                                         \
    X(CC, "cc", "COMPILER", "the C compiler to use; '' for none")                                                                          \
    X(CHECK, "check", NULL, "verify the kernel against the reference first")                                                               \
    X(CONFIG, "config", "CONFIG", "only this kernel; values may be *")                                                                     \
    X(COLD, "cold", NULL, "each call on other copies of the tensors than the one before")                                                  \
    X(COUNT_ONLY, "count-only", NULL, "only count, and print nothing else")                                                                \
    X(CLEAR, "clear", NULL, "delete every cached kernel")                                                                                  \
    X(DEVICE, "device", "NAME", "cpu, cuda:0, hip:0, or a GPU that is played, emu:sm_90 (cpu)")                                            \
    X(DIR, "dir", "OP", "take convolutions as conv_fwd, conv_bwd_data, conv_bwd_weight or all")                                            \
    X(DTYPE, "dtype", "TYPE", "take every problem in this type: fp32 bf16 fp16 fp8 bf8 int8")                                              \
    X(EXHAUSTIVE, "exhaustive", NULL, "measure every kernel that fits, not a shortlist")                                                   \
    X(EXPLORE, "explore", "N", "kernels of a problem at random besides (4)")                                                               \
    X(EXPORT_JSON, "export-json", "FILE", "write the kernels to a registry file (JSON)")                                                   \
    X(FEATURES, "features", "NAME", "native or ck, the published ones (ck where all kernels are CK Tile's)")                               \
    X(FILTER, "filter", "EXPR", "a Lua expression over c, e.g. \"c.tile_w >= 7\"")                                                         \
    X(FOLDS, "folds", "N", "parts that are left out in turn (5); 1: none")                                                                 \
    X(FORGET, "forget", "PROBLEM", "drop what wisdom says of a problem")                                                                   \
    X(FORMAT, "format", "FORMAT", "jsonl, csv or seed-csv")                                                                                \
    X(FRESH, "fresh-weights", NULL, "weights change from run to run, as in training: packing counts")                                      \
    X(FROZEN, "frozen", NULL, "measure and compile nothing; a miss is an error")                                                           \
    X(HTML, "html", "FILE", "write the report as one HTML file")                                                                           \
    X(IN_SAMPLE, "in-sample", NULL, "evaluate also what the model was trained on")                                                         \
    X(JOBS, "jobs", "N", "compilers at a time (one a core)")                                                                               \
    X(JSON, "json", NULL, "print JSON for machines")                                                                                       \
    X(KEEP, "keep", "X", "share of the oracle to keep (0.99)")                                                                             \
    X(KERNELS, "kernels", "FILE", "take the kernels from a catalog, or a list in JSON, instead of a rule set")                             \
    X(KERNEL_TIMEOUT, "kernel-timeout", "SECONDS", "that a kernel may stay in one step (30)")                                              \
    X(LEARNING_RATE, "learning-rate", "X", "how much of what is left a tree may explain (0.06)")                                           \
    X(LEAVES, "leaves", "N", "of a tree at most (48)")                                                                                     \
    X(MIN_SHAPES, "min-shapes", "N", "shapes that a family of problems needs to be known (5)")                                             \
    X(LEFT_OUT, "left-out", "WHAT", "predictions by models that saw no such shape, or no such family (shape)")                             \
    X(LIGHTGBM, "lightgbm", "FILE", "lib_lightgbm.so (where make or pip puts it)")                                                         \
    X(LIMIT, "limit", "N", "at most N lines")                                                                                              \
    X(LIST, "list", NULL, "print the kernels and do nothing")                                                                              \
    X(MAN, "man", NULL, "print the manual page in roff")                                                                                   \
    X(MANIFEST, "manifest", "FILE", "what should be there, instead of the manifests beside the inputs")                                    \
    X(MAX_BYTES, "max-bytes", "N", "of the model; later trees are left away (1000000)")                                                    \
    X(MAX_GFLOP, "max-gflop", "X", "leave out problems with more than X GFLOP")                                                            \
    X(MAX_MB, "max-mb", "X", "leave out problems whose tensors take more than X MB together")                                              \
    X(MEASURE, "measure", NULL, "verify and time what was found")                                                                          \
    X(METHOD, "method", "METHOD", "random, de (differential evolution) or all (de)")                                                       \
    X(MODE, "mode", "MODE", "frozen, predict, shortlist or exhaustive")                                                                    \
    X(MODEL, "model", "DIR", "predict by the model in this folder; '' for none")                                                           \
    X(NEXT, "next", "FILE", "write a manifest of the pairs that have no row")                                                              \
    X(OOF, "oof", "FILE", "held-out predictions: oof.csv.gz of a model")                                                                   \
    X(OP, "op", "OP", "only kernels and problems of this operation")                                                                       \
    X(OUT, "out", "FILE", "where to write")                                                                                                \
    X(OUTCOME, "outcome", "NAME", "only rows with this outcome, e.g. good or crashed")                                                     \
    X(OVERWRITE, "overwrite", NULL, "drop the rows of these pairs first")                                                                  \
    X(PAIRS, "pairs", "MANIFEST", "only the pairs of a manifest")                                                                          \
    X(PART, "part", "PART", "only the problems of one part: train or test")                                                                \
    X(PER_BUCKET, "per-bucket", "K", "draw at most K problems that are alike")                                                             \
    X(PROBLEM, "problem", "PROBLEM", "only this problem")                                                                                  \
    X(PROBLEMS, "problems", "LIST", "a problem set by name, a file, or - for standard input")                                              \
    X(QUANTITY, "quantity", "NAME",                                                                                                        \
      "what is learned: ratio (default) relative tflops time rank latency bandwidth, several with commas, or choose")                      \
    X(QUIET, "quiet", NULL, "no progress, no remarks")                                                                                     \
    X(REGRET, "regret", "X", "that every family of problems must stay within (0.01)")                                                      \
    X(REMEASURE, "remeasure", NULL, "measure even when wisdom has an answer")                                                              \
    X(ROUNDS, "rounds", "N", "of mining hard problems (2); 0: none")                                                                       \
    X(RULES, "rules", "DIR", "take the rules from a folder instead of those compiled in")                                                  \
    X(RUN, "run", "ID", "only rows of this run")                                                                                           \
    X(SAMPLE, "sample", "N", "draw N different problems, alike ones last")                                                                 \
    X(HOLDOUT, "holdout", "LIST,...", "problem lists that no row may be of")                                                               \
    X(SEED, "seed", "N", "of random data and of --sample (0)")                                                                             \
    X(SET, "set", "NAME", "a rule set: tiny, tests, default, full, ...")                                                                   \
    X(SHARD, "shard", "I/N", "do part I of N; else as Slurm or MPI say")                                                                   \
    X(SHORTLIST, "shortlist", "K", "measure the best K by prediction (8)")                                                                 \
    X(SLACK, "slack", "X", "a difference that counts as none, as a share (0: only the noise does)")                                        \
    X(SOURCE, "source", NULL, "print the generated source")                                                                                \
    X(STORE, "store", "STORE", "show the times that a store has of it")                                                                    \
    X(STORES, "stores", "A,B", "stores, or exports of them, with what was measured")                                                       \
    X(TARGET, "target", "TARGET", "only this target, by its whole text")                                                                   \
    X(TEST_SHARE, "test-share", "X", "how much of all problems is the test part (0.2)")                                                    \
    X(THREADS, "threads", "N", "threads of a kernel (all cores)")                                                                          \
    X(TITLE, "title", "TEXT", "of the HTML report")                                                                                        \
    X(TOGETHER, "together", NULL, "all in one call, as parts of one work that have nothing to do with each other")                         \
    X(TOP, "top", "K", "how many kernels to show (10)")                                                                                    \
    X(TRAITS, "traits", "FILE", "only kernels that a trait file (JSON) allows")                                                            \
    X(TREES, "trees", "N", "at most (1000); with --warm-start: to add (100)")                                                              \
    X(VERIFY_ONLY, "verify-only", NULL, "time nothing")                                                                                    \
    X(WARM_START, "warm-start", "MODEL", "go on from the trees of a model")                                                                \
    X(WHERE, "where-model-errs", "MODEL", "choose what to measure by the errors of a model (or its oof.csv.gz, or estimate)")              \
    X(WHY_NOT, "why-not", "WHAT", "say which rule refuses a config, or a problem to the kernel")                                           \
    X(WISDOM, "wisdom", "FILE", "the wisdom file; '' keeps wisdom in memory only")                                                         \
    X(WORKSPACE, "workspace-max", "BYTES", "use no kernel that needs more workspace; -1: none at all")                                     \
    X(WORST, "worst", "X", "share of the oracle to keep on every problem (0.9)")                                                           \
    X(YES, "yes", NULL, "answer questions with yes")

typedef enum cli_option_id {
#define CLI_ID(id, name, value, meaning) OPT_##id,
    CLI_OPTIONS(CLI_ID)
#undef CLI_ID
        OPT_COUNT
} cli_option_id;

typedef struct cli_option {
    const char *name, *value, *meaning;
} cli_option;

extern const cli_option cli_options[OPT_COUNT];

/* What a verb got. value[i] is NULL when option i was not given, "" for a flag that was. */
typedef struct cli_args {
    const char *value[OPT_COUNT];
    const char *const *operands;
    int operand_count;
    char *joined; /* text of operands that came as several words; freed by who parsed */
} cli_args;

typedef struct cli_verb {
    const char *name, *operands, *summary;
    const char *example, *more;   /* example: one line; more: what the help says besides, may be NULL */
    const cli_option_id *options; /* ended by OPT_COUNT; one that stands twice is no error */
    int least, most;              /* operands; most -1: any number */
    int (*run)(const cli_args *args);
} cli_verb;

/* One entry a verb, one file a verb. Ended by a NULL name. */
extern const cli_verb cli_verbs[];

int verb_adopt(const cli_args *args);
int verb_build(const cli_args *args);
int verb_cache(const cli_args *args);
int verb_check(const cli_args *args);
int verb_compare(const cli_args *args);
int verb_completion(const cli_args *args);
int verb_count(const cli_args *args);
int verb_coverage(const cli_args *args);
int verb_db(const cli_args *args);
int verb_diff(const cli_args *args);
int verb_doctor(const cli_args *args);
int verb_evaluate(const cli_args *args);
int verb_explain(const cli_args *args);
int verb_help(const cli_args *args);
int verb_list(const cli_args *args);
int verb_merge(const cli_args *args);
int verb_predict(const cli_args *args);
int verb_problems(const cli_args *args);
int verb_prune(const cli_args *args);
int verb_quality(const cli_args *args);
int verb_report(const cli_args *args);
int verb_run(const cli_args *args);
int verb_search(const cli_args *args);
int verb_select(const cli_args *args);
int verb_show(const cli_args *args);
int verb_sweep(const cli_args *args);
int verb_train(const cli_args *args);
int verb_tune(const cli_args *args);
int verb_validate(const cli_args *args);
int verb_version(const cli_args *args);
int verb_wisdom(const cli_args *args);

/* Fails with the verb that was meant. */
int cli_unknown_verb(const char *name);

/* --- help.c, manual.c --- */

/* What an option means to a verb. */
const char *cli_meaning(const cli_verb *verb, int option);
void cli_print_manual(void);

/* --- options.c --- */

/* Whether the verb has the option. */
bool cli_takes(const cli_verb *verb, int option);
/* Reads the words behind the verb. operands must have room for count pointers. */
int cli_parse(cli_args *args, const cli_verb *verb, int count, char **words, const char **operands);
/* "; did you mean BEFORE-NAME", the nearest of names (with blanks between) to a mistyped one, or ""; gives hint back. */
enum { CLI_HINT_MAX = KW_NAME_MAX + 24 };
const char *cli_hint(char hint[CLI_HINT_MAX], const char *wrong, const char *before, const char *names);
/* --out of a verb that writes a store (rows: or a segment, .jsonl): false, after printing the error, where its name says that something else
 * is wanted. */
bool cli_names_store(const char *verb, const char *path, bool rows);
/* An option's whole number in low..high; fallback when it was not given. false after printing the error. */
bool cli_number(const cli_args *args, cli_option_id option, int64_t low, int64_t high, int64_t fallback, int64_t *value);
/* An option's operation, or --dtype's type; *given tells whether there is one. false after printing the error. */
bool cli_op(const cli_args *args, cli_option_id option, bool *given, kw_op *op);
bool cli_dtype(const cli_args *args, bool *given, kw_dtype *dtype);
/* An option's time in seconds, given as 90, 90s, 20m or 2h; 0 when it was not given. false after printing the error. */
bool cli_duration(const cli_args *args, cli_option_id option, double *seconds);

/* A problem of the command line, and all of them (problem_list.c). */
typedef struct cli_problem {
    char *name;
    kw_problem problem;
} cli_problem;
typedef struct cli_problem_list {
    cli_problem *items;
    size_t count, capacity;
} cli_problem_list;

/* --- session.c: opening what the options ask for --- */

int cli_context(kw_context **context, const cli_args *args);
/* Whether an option asks for other kernels than the default registry's. */
bool cli_names_kernels(const cli_args *args);
/* The kernels that --kernels, --set, --arch and --filter name; the default registry's when none of them is given. */
int cli_kernels(kw_registry **registry, kw_context *context, const cli_args *args);
/* The same to run them on problems: refused where none is for the context's device. Of a set only kernels of the problems' operations and
 * types are listed; without problems all. *registry is NULL before, and after a failure. */
int cli_registry(kw_registry **registry, kw_context *context, const cli_args *args, const kw_problem *problems, size_t count);
int cli_registry_for(kw_registry **registry, kw_context *context, const cli_args *args, const cli_problem_list *list);
/* Where --config names the one kernel that is wanted: whether it serves the problem and, once there is a plan, whether the plan has it; a
 * reference kernel in its place would be no answer. plan may be NULL. */
int cli_check_config(const kw_registry *registry, const kw_plan *plan, const kw_problem *problem, const cli_args *args);
/* --set, --arch, --filter, --rules, --traits as a struct. */
kw_space_options cli_space(const cli_args *args);
int cli_plan_options(kw_plan_options *options, const cli_args *args);
/* One line where kernels are not kept, or cannot be, and nobody asked for that. */
void cli_warn_of_cache(kw_context *context, const cli_args *args);

/* --- signals.c: what Ctrl-C and SIGTERM do --- */

/* From now on they end the process at once: the bar is erased, the word is "interrupted", the exit code 130. */
void cli_watch_signals(void);
/* From now on they ask for a stop, and end the process a second later; main says the word. */
const kw_stop *cli_stop_soon(void);
/* From now on they ask for a stop in good order; a second one sets it the limit of a second. */
const kw_stop *cli_stop_in_order(void);
/* Whether a stop was asked for that nobody but main speaks of. */
bool cli_is_interrupted(void);

/* --- problem_list.c: problems of the command line --- */

/* The operands (each a problem line, or - for lines of standard input) or --problems; --dir and --dtype apply to all of them, "--dir all"
 * gives a convolution in each direction; --part, --max-gflop, --sample, --per-bucket and --limit choose from them. */
int cli_problems(cli_problem_list *list, const cli_args *args);
/* All problems of one list under --dir and --dtype. */
int cli_problems_of(cli_problem_list *list, const cli_args *args, const char *name_or_path);
/* The problems in the text of a log, likewise; the counts are added to lines. */
int cli_problems_extract(cli_problem_list *list, const cli_args *args, const char *path, kw_extract_count *lines);
/* Leaves what --part, --max-gflop, --sample, --per-bucket (when not given: per_bucket, 0 for any number) and --limit choose. */
int cli_problems_choose(cli_problem_list *list, const cli_args *args, kw_bucketing buckets, int64_t per_bucket);
/* The problems alone, to be freed; NULL for want of memory. */
kw_problem *cli_problems_plain(const cli_problem_list *list);
/* Says why a list is empty: by the words of needs where no problem and no list was named. */
int cli_problems_none(const cli_args *args, const char *needs);
void cli_problems_free(cli_problem_list *list);

/* --- next.c: commands to go on with --- */

typedef struct cli_next {
    char text[8192];
    size_t used;
} cli_next;

/* "kwright VERB" and those options in force that the verb takes and its answer depends on. */
void cli_next_start(cli_next *next, const char *verb, const cli_args *args);
void cli_next_option(cli_next *next, cli_option_id option, const char *value);
/* An operand, quoted where a shell needs it. */
void cli_next_word(cli_next *next, const char *word);
/* The command that verifies one kernel on one problem again. */
const char *cli_next_check(cli_next *next, const cli_args *args, const char *config, const char *problem);

/* --- json.c: what --json prints, one object a line --- */

enum { CLI_SCHEMA = 1, CLI_JSON_DEPTH = 8 };

/* An object being made: at[depth] is the innermost object or list that is open. Want of memory is kept until it is printed. */
typedef struct cli_json {
    struct json_t *at[CLI_JSON_DEPTH];
    int depth;
    bool failed;
} cli_json;

/* Begins with "schema". */
void cli_json_start(cli_json *json);
/* Each adds a member to the innermost object, or, with key NULL, an element to the innermost list. */
void cli_json_object(cli_json *json, const char *key);
void cli_json_list(cli_json *json, const char *key);
void cli_json_text(cli_json *json, const char *key, const char *text);
void cli_json_int(cli_json *json, const char *key, int64_t value);
void cli_json_real(cli_json *json, const char *key, double value); /* null where it is not finite */
void cli_json_bool(cli_json *json, const char *key, bool value);
void cli_json_null(cli_json *json, const char *key);
/* "target", and of a CPU "threads". */
void cli_json_target(cli_json *json, const kw_context *context);
/* Ends the innermost object or list. */
void cli_json_end(cli_json *json);
/* Prints and drops the whole. Where that cannot be, the process ends with an error. */
void cli_json_print(cli_json *json, FILE *to);

/* --- output.c --- */

/* "kwright: TEXT" on standard error; the exit code that the status deserves. */
int cli_fail(const kw_error *err);
int cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Room for at least count items of so many bytes in an array of the heap; items is the address of the pointer. false: no memory. */
bool cli_reserve(void *items, size_t *capacity, size_t count, size_t size);
/* "8.41 ms" */
const char *cli_time(char text[32], double ns);
/* Says that memory is short, for what; returns the exit code. */
int cli_no_memory(const char *what);
/* A text from a store, a file or an environment as it may be printed; good until the fourth call from now. */
const char *cli_shown(const char *text);
/* A word for a shell, quoted where that is needed, for lines to be pasted. */
void cli_shell_word(char *text, size_t capacity, const char *word);
/* The words that this process was started with, as a shell would take them. */
void cli_command(char *text, size_t capacity);
double cli_gflops(const kw_problem *problem, double ns);

/* --- table.c --- */

/* Of the terminal on standard output; 0 where that is none. */
size_t cli_columns(void);
/* Words up to the end, in lines of at most so many columns; the cursor stands in column, and further lines begin in column hang. */
void cli_print_wrapped(size_t column, size_t hang, size_t most, const char *text, size_t size);
bool cli_same_family(const char *a, const char *b);
/* A config's family, and those of its words that all kernels of the family among the records have (shared), or that not all have. */
void cli_config_words(char *text, size_t capacity, const char *config, const kw_record *records, size_t count, bool shared);

/* --- progress.c --- */

/* One line on standard error that is redrawn; nothing with --quiet or where that is no terminal. */
typedef struct cli_bar {
    bool quiet, terminal, drawn;
    int64_t start_ns, shown_ns;
} cli_bar;
void cli_bar_start(cli_bar *bar, const cli_args *args);
/* Whether it is time to show something again. */
bool cli_bar_due(cli_bar *bar);
/* left_s: time that is left, negative: not known. rest stands last and is what gets lost on a narrow terminal. */
void cli_bar_draw(cli_bar *bar, const char *what, int64_t done, int64_t total, double left_s, const char *rest);
void cli_bar_end(cli_bar *bar);
/* A remark on a line of its own; user is the cli_bar. */
void cli_bar_log(void *user, const char *line);

typedef struct cli_progress {
    cli_bar bar;
    const kw_problem *problem; /* for GFLOP/s of the best; may be NULL */
} cli_progress;
void cli_progress_start(cli_progress *progress, const cli_args *args, const kw_problem *problem);
/* The callback for kw_build_options and kw_plan_options; user is the cli_progress. */
void cli_progress_show(void *user, const kw_progress *now);
/* Clears the bar. */
void cli_progress_end(cli_progress *progress);
int64_t cli_now_ns(void);

/* The models that dispatch knows of, for the verb doctor. */
int cli_show_models(kw_context *context, cli_json *json);

#endif
