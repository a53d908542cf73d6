/* kernelwright_tune.h: the workshop. Enumerates kernel spaces from rules, filters them, reads and writes registries as JSON, reads problem
 * lists, sweeps kernels over problems in processes of their own, keeps every outcome in a store, merges stores, and reports on them. Needs libkernelwright_tune; applications that only run kernels do not.
 *
 * Conventions are those of kernelwright.h.
 */
#ifndef KERNELWRIGHT_TUNE_H
#define KERNELWRIGHT_TUNE_H

#include "kernelwright.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- space: which kernels the rules declare ------------------------------------------------------------------- */

typedef struct kw_space_options {
    const char *set;          /* a rule set: "tiny", "tests", "default", "full", ...; NULL: what the library was built for, "default" */
    const char *arch;         /* an architecture of rules/arch; NULL: the one of this machine's CPU */
    const char *filter;       /* a Lua expression over c, e.g. "c.tile_w >= 7 and c.family == 'conv.direct'"; NULL: all */
    const char *rules_dir;    /* a folder with arch/, families/ and sets/; NULL: KW_RULES, else the rules compiled in */
    const char *traits;       /* a trait file (docs/traits.md): lists of allowed values; NULL: all */
    const char *builder_conf; /* a folder with lists of CK Builder, for sets that come from there; may be NULL */
    void (*log)(void *user, const char *line); /* remarks: traits that no family has; may be NULL */
    void *user;
} kw_space_options;

/* Calls visit with the canonical text of each config, in a fixed order, each config once; visit returns false to stop. */
KW_API kw_status kw_space_visit(const kw_space_options *options, bool (*visit)(void *user, const char *config), void *user, kw_error *err);
/* KW_OK when a kernel can be generated for the architecture and runs there; else KW_ILLEGAL or KW_NO_KERNEL and the rule that refuses it, by
 * name with its reason (docs/gpu-spaces.md). KW_MISSING: no such architecture, family or axis. */
KW_API kw_status kw_config_supported(const char *config, const char *arch, kw_error *why);

/* Holding a set against a list of configs that it must have: a catalog file, which may be gzip. */
typedef struct kw_coverage_options {
    const char *reference;                                            /* the list */
    void (*missing)(void *user, const char *config, const char *why); /* called for each that the set lacks; may be NULL */
    void *user;
} kw_coverage_options;
typedef struct kw_coverage_count {
    size_t reference, set; /* configs of each */
    size_t missing, more;  /* those of the reference that the set lacks; those of the set that the reference lacks */
} kw_coverage_count;
/* All axes are compared. KW_OK also where some are missing: count says so. */
KW_API kw_status kw_space_coverage(kw_coverage_count *count, const kw_space_options *space, const kw_coverage_options *options,
                                   kw_error *err);

/* Kernels as files, made without a device: each kernel's code object, and catalog.txt with config, file and resources of each. */
typedef struct kw_object_options {
    kw_space_options space; /* its arch must be given */
    const char *folder;     /* made where it is not there */
    bool emulate;           /* of a GPU: code that plays it on this machine, instead of its own */
    const char *compiler;   /* a path or a name; NULL: the usual ones */
    const char *cache_dir;  /* NULL: as kw_context_open */
    int32_t jobs;           /* compilers at a time; 0: one a core */
    void (*progress)(void *user, const kw_progress *progress);
    void *user;
} kw_object_options;
typedef struct kw_object_report {
    size_t built, cached, failed; /* compiled, taken from the cache, and what no compiler takes */
    size_t refused;               /* of those compiled or cached, what spills registers or wants more shared memory than there is */
    kw_build_cost cpu;
} kw_object_report;
/* KW_OK also where kernels failed: report and catalog.txt say so. */
KW_API kw_status kw_objects_build(kw_object_report *report, const kw_object_options *options, kw_error *err);

/* Adds the configs of a space to a registry. */
KW_API kw_status kw_registry_add_space(kw_registry *registry, const kw_space_options *options, kw_error *err);
/* Keeps the configs for which the Lua expression holds. */
KW_API kw_status kw_registry_filter(kw_registry *registry, const char *expression, kw_error *err);
/* Keeps the configs that a trait file allows. log (may be NULL) hears of traits that no family has. */
KW_API kw_status kw_registry_keep_traits(kw_registry *registry, const char *path, void (*log)(void *user, const char *line), void *user,
                                         kw_error *err);
/* What a trait file says of problems, as bits: 1 << kw_op by its variant, 1 << kw_dtype by data_type, 1 << spatial axes by ndim_spatial; all
 * bits where it says nothing. */
KW_API kw_status kw_traits_problems(uint32_t *ops, uint32_t *dtypes, uint32_t *ndim, const char *path, kw_error *err);
/* Names of what the rules know, one a line; kind: "arch", "set" or "family". The caller frees with kw_free. */
KW_API kw_status kw_space_names(char **names, const char *kind, const char *rules_dir, kw_error *err);

/* --- registries as JSON --------------------------------------------------------------------------------------- */

/* {"kernelwright": 1, "configs": [{"family": "conv.direct", "op": "conv_fwd", "dtype": "fp32", "tile_w": 14, ...}, ...]}.
 * Unknown keys, duplicate keys and wrong types are errors. The caller frees *json with kw_free. */
KW_API kw_status kw_registry_print_json(char **json, const kw_registry *registry, kw_error *err);
KW_API kw_status kw_registry_load_json(kw_registry *registry, const char *path, kw_error *err);

/* --- problem lists -------------------------------------------------------------------------------------------- */

/* Reads a list: the name of a set in problems/ (compiled in), a file, or "-" for standard input. A line is "NAME: PROBLEM" or PROBLEM in our
 * own text, MIOpenDriver's or benchdnn's; '#' starts a comment. A file whose first line has commas is CSV with that line as its
 * header; a file NAME.lua is a set of grids (docs/problem-sets.md). op and dtype are those of CSV rows (KW_OP_COUNT, KW_DTYPE_COUNT: conv_fwd,
 * or gemm where the columns are M,N,K, and fp32); grids name their op and have the given dtype. visit returns false to stop; name is ""
 * where a line has none. Repeats are visited as they stand. A bad line is an error that names the file and the line's number. */
KW_API kw_status kw_problems_visit(const char *name_or_path, kw_op op, kw_dtype dtype,
                                   bool (*visit)(void *user, const char *name, const kw_problem *problem), void *user, kw_error *err);
/* Names of the sets that are compiled in, one a line. The caller frees with kw_free. */
KW_API kw_status kw_problems_names(char **names, kw_error *err);
/* What a set that is compiled in says of itself: the comment at its head, line by line; the first line stands alone. The caller frees
 * with kw_free. */
KW_API kw_status kw_problems_description(char **about, const char *name, kw_error *err);

/* Which of the problems repeat: first[i] is the position of the first one that equals problem i (i itself for a new one). first has room for
 * count positions; *distinct may be NULL. */
KW_API kw_status kw_problems_deduplicate(size_t *first, size_t *distinct, const kw_problem *problems, size_t count, kw_error *err);

/* How a sample's buckets are cut. By family: op, spatial axes, filter, stride, dilation, groups, extent and channels in a few classes each (GEMM:
 * classes of m, n and k). By size: channels over 64, extents, filter, strides and groups as they are (GEMM: m, n and k over 64). */
typedef enum kw_bucketing { KW_BUCKETS_FAMILY = 0, KW_BUCKETS_SIZE } kw_bucketing;

/* Zero values mean no limit. */
typedef struct kw_sample_options {
    size_t count;      /* at most so many problems */
    size_t per_bucket; /* at most so many of one bucket */
    double max_gflop;  /* none that has more floating-point operations, in 10^9 */
    double max_mb;     /* none whose tensors take more bytes together, in 10^6 */
    uint64_t seed;
    kw_bucketing buckets;
} kw_sample_options;

/* Draws different problems, one of each bucket in turn, so that every bucket is met before one is met again. chosen has room for count positions
 * and gets those of the problems drawn, in the order of drawing. The draw is the same for the same problems and seed, in whatever order the
 * list has them, and a larger sample begins with the smaller one. */
KW_API kw_status kw_problems_sample(size_t *chosen, size_t *chosen_count, const kw_problem *problems, size_t count,
                                    const kw_sample_options *options, kw_error *err);

/* Whether a problem belongs to the test part, which gets this share (0 to 1) of all problems. A hash of the canonical text decides, so
 * nothing of a problem is ignored, every list agrees, and a larger share contains the smaller. */
KW_API bool kw_problem_in_test(const kw_problem *problem, double share);
/* KW_FAILED when two lists share a problem; the error names the first of a that b has and how many different ones there are. */
KW_API kw_status kw_problems_disjoint(const kw_problem *a, size_t a_count, const kw_problem *b, size_t b_count, kw_error *err);

/* Lines of a log. */
typedef struct kw_extract_count {
    int64_t lines, problems;
    int64_t options; /* lines of a benchdnn batch that only set options, or are empty or a comment */
    int64_t skipped; /* all others that hold no problem, or one that is refused */
} kw_extract_count;

/* Finds problems in the text of a log, "-" for standard input: lines of MIOpenDriver and benchdnn and our own text wherever in a line they
 * stand. Options on lines of their own hold for the descriptors below them, as in benchdnn's batches; lists of values give each combination. A
 * line's name is as in a list. */
KW_API kw_status kw_problems_extract(const char *path, bool (*visit)(void *user, const char *name, const kw_problem *problem), void *user,
                                     kw_extract_count *lines, kw_error *err);

/* --- rows: records with all that is known of their making ----------------------------------------------------- */

/* What a process that measures says of itself once. One list for the struct, the store's columns and JSON: name, size, meaning. */
#define KW_RUN_FACTS(X)                                                                                                                    \
    X(id, 33, "32 hexadecimal digits at random")                                                                                           \
    X(started, 32, "UTC, e.g. 2026-11-21T05:47:09Z; informs, orders nothing")                                                              \
    X(version, 64, "of this library, with its commit where known")                                                                         \
    X(command, 1024, "the command line, or what the host program says")                                                                    \
    X(host, 128, "host name")                                                                                                              \
    X(kernel, 128, "operating system and release")                                                                                         \
    X(device, 96, "the device's name, or its UUID")                                                                                        \
    X(target, 384, "canonical text of the target")                                                                                         \
    X(compiler, 192, "identity of the compiler")                                                                                           \
    X(pool, 256, "where the kernels came from: set, architecture, filter")                                                                 \
    X(pool_hash, 33, "of the configs' texts")                                                                                              \
    X(problems, 256, "where the problems came from")                                                                                       \
    X(problems_hash, 33, "of the problems' texts")                                                                                         \
    X(shard, 24, "I/N, or empty")                                                                                                          \
    X(options, 256, "how it was timed: threads, batches, cold, exhaustive, seed")                                                          \
    X(clocks, 128, "governor and limits of the clocks, where readable")                                                                    \
    X(roofs, 192, "measured when the run began: FLOP/s by type and bytes a second, e.g. fp32=1.17e11 bf16=2.3e11 memory=2.5e10")

typedef struct kw_run {
#define KW_RUN_FACT(name, size, meaning) char name[size];
    KW_RUN_FACTS(KW_RUN_FACT)
#undef KW_RUN_FACT
} kw_run;

/* A row: one kernel on one problem on one target, once. Its identity is all of it: two rows are the same when every field is. */
typedef struct kw_row {
    kw_record record;
    char run[33];      /* kw_run.id */
    int64_t sequence;  /* ascends within a run, whatever the clock does */
    char time[32];     /* UTC; informs, orders nothing */
    char target[384];  /* canonical text */
    char problem[512]; /* canonical text */
    bool packed;       /* timed with weights packed beforehand */
    int64_t seed;      /* of the data */
    double compile_ns; /* processor time; 0: came from the cache */
    int64_t code_bytes;
    char code_hash[33];                                   /* of the compiled bytes */
    int32_t registers, spilled_bytes, shared_bytes;       /* of the compiled kernel, where its toolchain tells; else 0 */
    double control_ns, drift;                             /* the control kernel beside it; 0 where there was none */
    double clock_mhz, memory_mhz, temperature_c, power_w; /* of the device while it ran, where it tells; else 0 */
    int64_t pid;
} kw_row;

/* --- store: rows in one SQLite file --------------------------------------------------------------------------- */

/* Adding rows is a union: the same row twice is one row, whatever the order. Nothing is dropped because a better row exists; "the answer"
 * for a target, problem, config, packed and cold is the row that is best by: verified (good, then slow, then what failed), more samples,
 * smaller spread relative to its time, then the smaller digest. A filter's answers are those among the rows that its target, problem,
 * config, run, op and dtype leave; its outcome then keeps the answers that have it. One process writes a store at a time; many may read.
 * A handle belongs to one thread at a time. */
typedef struct kw_store kw_store;
typedef enum kw_store_access { KW_STORE_READ = 0, KW_STORE_WRITE /* made if missing */ } kw_store_access;

/* KW_MISSING: no such file. KW_MALFORMED: not a store, or damaged (kwright db salvage rescues). KW_ILLEGAL: made by a newer version. An older
 * one is migrated when opened for writing, after a copy of it is put beside it (PATH.v1). */
KW_API kw_status kw_store_open(kw_store **store, const char *path, kw_store_access access, kw_error *err);
KW_API void kw_store_close(kw_store **store);
/* The run that later rows name. Saying the same run again is no error. */
KW_API kw_status kw_store_add_run(kw_store *store, const kw_run *run, kw_error *err);
/* Adds rows in one transaction: all of them are there when it returns KW_OK, none otherwise. added (may be NULL): how many were new. */
KW_API kw_status kw_store_add(kw_store *store, const kw_row rows[], size_t count, size_t *added, kw_error *err);

/* Which rows; a zeroed struct asks for all. */
typedef struct kw_row_filter {
    const char *target, *problem, *config, *run; /* NULL: any */
    bool by_op, by_dtype, by_outcome, by_timing; /* whether op, dtype, outcome, and packed with cold count */
    kw_op op;
    kw_dtype dtype;
    kw_outcome outcome;
    bool packed, cold;
    bool answers; /* one row, the answer, for each target, problem, config, packed and cold */
} kw_row_filter;

/* In the order target, problem, config, packed, cold, digest: the same rows come in the same order from every store. The row lives during the
 * call. visit returns false to stop. */
KW_API kw_status kw_store_visit(kw_store *store, const kw_row_filter *filter, bool (*visit)(void *user, const kw_row *row), void *user,
                                kw_error *err);
KW_API kw_status kw_store_visit_runs(kw_store *store, bool (*visit)(void *user, const kw_run *run), void *user, kw_error *err);
/* Whether there is a row for it in any outcome but KW_UNTRIED. */
KW_API kw_status kw_store_has(kw_store *store, bool *has, const char *target, const char *problem, const char *config, bool packed,
                              bool cold, kw_error *err);
/* Drops the rows of a filter. */
KW_API kw_status kw_store_drop(kw_store *store, const kw_row_filter *filter, int64_t *dropped, kw_error *err);

typedef struct kw_store_counts {
    int64_t rows, targets, problems, configs, runs, bytes;
    int64_t outcome[KW_OUTCOME_COUNT];
} kw_store_counts;
KW_API kw_status kw_store_count(kw_store *store, kw_store_counts *counts, kw_error *err);
/* The file's identity: 32 hexadecimal digits, given when it was made. Owned by the store. */
KW_API const char *kw_store_id(const kw_store *store);
/* Looks at every page. KW_MALFORMED says what is wrong. */
KW_API kw_status kw_store_check(kw_store *store, kw_error *err);
/* Copies every row that can still be read from a damaged file into a new one. */
KW_API kw_status kw_store_recover(const char *damaged, const char *path, int64_t *recovered, kw_error *err);

typedef struct kw_export_report {
    int64_t rows, left_out; /* left_out: what seed-csv has no columns for: GEMM, padding that differs by side */
} kw_export_report;
/* "jsonl": everything, one row a line. "csv": everything, one row a line, with the problem's sizes. "seed-csv": the columns of the system this
 * one re-creates (24; the 17 older ones are read as well) of one operation and type; failed launches have latency_ms=N/A and tflops=0.
 * path "-": standard output, or input. Names ending in .gz are compressed. A file is there whole or not at all. report may be NULL. */
KW_API kw_status kw_store_export(kw_store *store, const kw_row_filter *filter, const char *format, const char *path,
                                 kw_export_report *report, kw_error *err);

typedef struct kw_import_report {
    int64_t added, known, refused;
    char first_refusal[256]; /* with its line */
} kw_import_report;
/* Refuses rows that cannot be true (docs/store.md): times that are negative, not finite or so short that the work would be above any peak the
 * target can have, outcomes that contradict the rest, malformed texts. format NULL: as the first line says. Rows of "seed-csv" say little of
 * themselves: defaults gives them run, target, packed, cold, time and, by any problem of it, operation and type (NULL for the other formats).
 * A kernel that is no config of ours keeps its name; registries refuse it, so it is never dispatched. */
KW_API kw_status kw_store_import(kw_store *store, const char *format, const char *path, const kw_row *defaults, kw_import_report *report,
                                 kw_error *err);

/* One row as a line of JSON without its end, and back. A line carries a checksum of itself as its last member; a line whose checksum does
 * not match is KW_MALFORMED. The caller frees *line with kw_free. */
KW_API kw_status kw_row_print(char **line, const kw_row *row, kw_error *err);
KW_API kw_status kw_row_parse(kw_row *row, const char *line, size_t size, kw_error *err);
KW_API kw_status kw_run_print(char **line, const kw_run *run, kw_error *err);
KW_API kw_status kw_run_parse(kw_run *run, const char *line, size_t size, kw_error *err);

/* --- sweep: every kernel on every problem --------------------------------------------------------------------- */

typedef struct kw_sweep_progress {
    const char *phase;           /* "build" or "measure" */
    int64_t done, total, failed; /* kernels, or pairs of kernel and problem */
    int64_t skipped;             /* pairs that have a row already */
    double eta_s;                /* negative: not known yet */
    const char *problem;         /* the one just done; NULL while building */
    double best_ns;              /* of its best kernel */
} kw_sweep_progress;

/* A zeroed member asks for its default. Nothing here opens a device in the calling process: workers do. */
typedef struct kw_sweep_options {
    const char *const *configs; /* texts; a pair is a config and a problem of its operation and type */
    size_t config_count;
    const kw_problem *problems;
    size_t problem_count;
    const char *pairs;        /* a manifest (docs/sweeps.md): only its pairs, in place of configs and problems; NULL: none */
    const char *pool, *list;  /* what the two are called, for the run's facts; may be NULL */
    const char *out;          /* a store, or a segment when it ends in .jsonl */
    const char *device;       /* "cpu"; several: "cpu,cpu" gives each worker its share of the cores */
    const char *worker;       /* the program whose hidden verb serves; NULL: KW_WORKER, else the running one if it is kwright */
    const char *command;      /* for the run's facts */
    int32_t threads;          /* of a kernel; 0: 1 */
    int32_t jobs;             /* compilers at a time; 0: one a core */
    int32_t batch;            /* kernels a worker is given at a time; 0: 20 */
    int32_t batches;          /* samples wanted; 0: 21 */
    double kernel_limit_s;    /* that one kernel may stay in one step, 0: 30 */
    double batch_limit_s;     /* of a batch; 0: kernel_limit_s times its kernels */
    double budget_s;          /* after so long no kernel is compiled and no batch begun; the rest is left for later; 0: no end */
    bool overwrite;           /* drop rows of these pairs first; else pairs that have a row are skipped */
    bool exhaustive;          /* drop nothing for being slow */
    bool cold, fresh_weights; /* as in timing; default hot, weights packed beforehand */
    bool verify_only;
    bool count_only; /* only tells in the report what there is to do; nothing is built, run or written */
    uint64_t seed;
    int32_t spill_limit;              /* as in kw_context_options; a kernel above it gets rows KW_SPILLS and is not run */
    int32_t shard, shards;            /* this process does the problems that hash to shard (0-based) of shards; 0 of 0: all */
    const char *cache_dir, *compiler; /* as in kw_context_options */
    const volatile int *stop;         /* becomes non-zero when the caller wants to end; the store is consistent within 2 s. NULL: none */
    void (*progress)(void *user, const kw_sweep_progress *progress);
    void (*log)(void *user, const char *line); /* remarks; may be NULL */
    void *user;
} kw_sweep_options;

typedef struct kw_sweep_report {
    int64_t pairs, skipped; /* all pairs of this shard; those that had a row already */
    int64_t outcome
        [KW_OUTCOME_COUNT]; /* of the rows written now; KW_UNTRIED: pairs that still have none, because the sweep was stopped, or only counted */
    int64_t built, cached;   /* kernels */
    int64_t workers_lost;    /* processes that had to be replaced */
    bool stopped, spent;     /* by options->stop, and by the budget, before every pair had a row */
    double wall_s, kernel_s; /* of measuring; of it inside kernels, on all devices together */
    double build_s;
} kw_sweep_report;

KW_API kw_status kw_sweep(const kw_sweep_options *options, kw_sweep_report *report, kw_error *err);
/* The hidden verb: serves a sweep on standard input and output until its input ends. Returns an exit code. arguments are those behind the
 * verb. */
KW_API int kw_worker_main(int count, char *const *arguments);
/* Another one: compiles one kernel for an NVIDIA GPU, in a process of its own (src/jit/toolchain/nvrtc.c). */
KW_API int kw_nvrtc_main(int count, char *const *arguments);
/* And one that measures what a GPU does at most (src/sweep/sweep_roofs.c). */
KW_API int kw_roofs_main(int count, char *const *arguments);

/* Shard and shards from SLURM_ARRAY_TASK_*, SLURM_PROCID, OMPI_COMM_WORLD_RANK, PMI_RANK and their sizes; KW_OK with *shards 0 when none of
 * them is set. "I/N" in text (may be NULL) comes first; I counts from 1 there. */
KW_API kw_status kw_shard_find(int32_t *shard, int32_t *shards, const char *text, kw_error *err);

typedef struct kw_merge_report {
    int64_t inputs, rows, added, known, refused; /* refused: lines that are damaged, above all a last one cut off */
    int64_t pairs, holes;                        /* of the manifest, where there is one */
} kw_merge_report;
/* Adds stores and segments to a store: a union, so order and repetition do not matter. manifest: what should be there (NULL: the manifests
 * beside the inputs); next: where to write a manifest of the pairs without a row (NULL: nowhere; none is written when there is none). */
KW_API kw_status kw_merge(const char *out, const char *const *inputs, size_t count, const char *manifest, const char *next,
                          kw_merge_report *report, kw_error *err);

/* --- learning: from rows to a model ---------------------------------------------------------------------------- */

/* How good the picks of a model are, on contests (a problem on a target, packed or not, cold or not) that it was not trained on. Efficiency is the
 * oracle's time over the pick's, at most 1; the oracle is chosen by one half of the samples and timed by the other (docs/measuring.md); a
 * pick that failed has efficiency 0. */
typedef struct kw_train_metrics {
    int64_t problem_groups, failed; /* failed: picks that failed */
    double mean, median, p10, worst;
    double regret; /* time of all picks over that of all oracles, less 1; a failed pick counts as the slowest good kernel */
    double top1;   /* share of contests in which the pick is the fastest kernel */
} kw_train_metrics;

typedef struct kw_train_progress {
    const char *phase; /* "read", "folds", "model" */
    int64_t done, total;
    double mean; /* efficiency so far, of the contests held out; 0: not known yet */
} kw_train_progress;

/* A zeroed member asks for its default. */
typedef struct kw_train_options {
    const char *const *stores; /* stores, or exports of them (.jsonl, .csv, .gz) */
    size_t store_count;
    const char *out; /* the model's folder, made if missing */
    bool by_op, by_dtype;
    kw_op op;
    kw_dtype dtype;
    const char *quantity;       /* what is learned: ratio, relative, tflops, time, rank; "choose" tries all; NULL: ratio */
    const char *const *holdout; /* problem lists, by name or file: a row of one of their problems, in any type, is KW_FAILED */
    size_t holdout_count;
    int32_t folds;        /* 0: 5; 1: none, and no figures */
    int32_t trees;        /* at most; 0: 1000. With warm_start: how many are added; 0: 100 */
    int32_t leaves;       /* of a tree at most; 0: 48 */
    int32_t rounds;       /* of mining hard problems; 0: 2, negative: none */
    int32_t threads;      /* 0: 1. The model is the same with any number */
    double learning_rate; /* 0: 0.06 */
    uint64_t seed;
    int64_t max_bytes;        /* of the compressed forest; later trees are left away until it fits; 0: 1,000,000 */
    const char *warm_start;   /* a model's folder whose trees come first; NULL: none */
    const char *lightgbm;     /* lib_lightgbm.so, or libxgboost.so; NULL: KW_LIGHTGBM, else where make lightgbm puts it, else an XGBoost */
    const char *command;      /* for the manifest */
    const volatile int *stop; /* becomes non-zero when the caller wants to end; nothing is written then. NULL: none */
    void (*progress)(void *user, const kw_train_progress *progress);
    void (*log)(void *user, const char *line); /* remarks; may be NULL */
    void *user;
} kw_train_options;

typedef struct kw_train_report {
    int64_t pairs, problem_groups, problems, families; /* families: of problems, those that folds leave out whole */
    int64_t good, slow, failed, foreign, untimed;      /* rows: of the pairs, and left out */
    kw_train_metrics shapes, unseen_families;          /* of folds over whole problems, and over whole families */
    kw_train_metrics estimate;                         /* of the analytic estimate, on the same contests */
    char quantity[16];
    int32_t rounds;                             /* of mining that were kept */
    int64_t trees, leaves, bytes, memory_bytes; /* bytes: on disk */
    char digest[33];
} kw_train_report;

/* Trains a model and writes its folder: the forest, what it is for, its held-out figures and predictions, its manifest and card
 * (docs/training.md). Loads LightGBM into this process, which stays then. Same rows, options and library: same files, byte for byte. */
KW_API kw_status kw_train(const kw_train_options *options, kw_train_report *report, kw_error *err);

/* --- evaluation: what picks are worth -------------------------------------------------------------------------- */

/* A value with its 95 % interval: 1,000 resamples of the problems, each with all its contests, from a fixed seed. NAN: nothing to tell. */
typedef struct kw_metric {
    double value, low, high;
} kw_metric;

/* One list for the struct, tables and JSON: name, meaning. A contest is a problem on a target, packed or not, cold or not, with every kernel
 * that was measured there. All but regret are shares, 1 at best; regret is 0 at best. docs/evaluation.md has the definitions in full. */
#define KW_EVALUATION_METRICS(X)                                                                                                           \
    X(mean, "mean efficiency: the oracle's time over the pick's; a tie counts as 1, a pick that failed as 0")                              \
    X(median, "median efficiency")                                                                                                         \
    X(p10, "efficiency that a tenth of the contests stays below (quantile 0.1, linear between neighbours)")                                \
    X(p1, "the same of one in a hundred")                                                                                                  \
    X(worst, "least efficiency")                                                                                                           \
    X(mean_untied, "mean efficiency where ties count as what was measured")                                                                \
    X(regret, "time of all picks over that of all oracles, less 1; a pick that failed takes as long as the slowest good kernel")           \
    X(tied, "contests whose pick is as fast as the fastest kernel, within the noise and 2 %")                                              \
    X(best_in_1, "contests whose fastest kernel is the pick")                                                                              \
    X(best_in_3, "contests whose fastest kernel is among the first 3 of the predicted order")                                              \
    X(best_in_5, "contests whose fastest kernel is among the first 5 of the predicted order")                                              \
    X(best_in_10, "contests whose fastest kernel is among the first 10 of the predicted order")                                            \
    X(pick_in_3, "contests whose pick is among the 3 fastest kernels")                                                                     \
    X(pick_in_5, "contests whose pick is among the 5 fastest kernels")                                                                     \
    X(pick_in_10, "contests whose pick is among the 10 fastest kernels")                                                                   \
    X(ndcg, "mean NDCG of the first 10; the gain of a kernel is the best time over its own, 0 when it failed")                             \
    X(spearman, "mean rank correlation of predicted and measured times within a contest")                                                  \
    X(coverage, "contests whose pick was measured and did not fail")                                                                       \
    X(shortlist_3, "mean efficiency of the best of a shortlist of 3, as dispatch draws it")                                                \
    X(shortlist_5, "mean efficiency of the best of a shortlist of 5")                                                                      \
    X(shortlist_8, "mean efficiency of the best of a shortlist of 8")                                                                      \
    X(shortlist_8_p10, "quantile 0.1 of the efficiency of the best of a shortlist of 8")

typedef struct kw_evaluation_metrics {
    int64_t problem_groups, problems, failed;    /* failed: picks that failed or have no row */
    double pool, candidates_min, candidates_max; /* candidates of a contest: mean, least, most */
#define KW_EVALUATION_METRIC(name, meaning) kw_metric name;
    KW_EVALUATION_METRICS(KW_EVALUATION_METRIC)
#undef KW_EVALUATION_METRIC
} kw_evaluation_metrics;

/* A zeroed member asks for its default. */
typedef struct kw_evaluation_options {
    const char *const *stores; /* stores, or exports of them (.jsonl, .csv, .gz) */
    size_t store_count;
    /* Who picks: "estimate" (the analytic one), "random", "single" (for each operation and type the kernel that is best over all other
     * problems), a model's folder, or a file of held-out predictions (oof.csv.gz). NULL: "estimate". */
    const char *by;
    const char *folds; /* of held-out predictions: "shape" or "family"; NULL: "shape" */
    const char *pool;  /* a catalog: its kernels that fit are candidates where they have no row, too; NULL: what was measured */
    bool by_op, by_dtype;
    kw_op op;
    kw_dtype dtype;
    const char *const *holdout; /* problem lists, by name or file: only their problems are judged, in any type; none: all */
    size_t holdout_count;
    bool in_sample; /* also contests of shapes that the model was trained on; else these are left out */
    uint64_t seed;
    void (*log)(void *user, const char *line); /* remarks; may be NULL */
    void *user;
} kw_evaluation_options;

/* Immutable. */
typedef struct kw_evaluation kw_evaluation;
/* KW_FAILED when there is nothing to judge; the error says what left everything out. */
KW_API kw_status kw_evaluation_open(kw_evaluation **evaluation, const kw_evaluation_options *options, kw_error *err);
KW_API void kw_evaluation_close(kw_evaluation **evaluation);
/* Of all contests together. Owned by the evaluation. */
KW_API const kw_evaluation_metrics *kw_evaluation_all(const kw_evaluation *evaluation);
/* For people: the figures, slices and the worst picks. The caller frees *text with kw_free. */
KW_API kw_status kw_evaluation_text(char **text, const kw_evaluation *evaluation, kw_error *err);
/* For machines: every figure of every slice. The caller frees *json with kw_free. */
KW_API kw_status kw_evaluation_json(char **json, const kw_evaluation *evaluation, kw_error *err);
/* One line a contest; "-": standard output; names ending in .gz are compressed. */
KW_API kw_status kw_evaluation_csv(const char *path, const kw_evaluation *evaluation, kw_error *err);

/* Two who pick on the same contests. better and worse: by more than the noise of the two picks (and 1 %). */
typedef struct kw_comparison {
    int64_t problem_groups, agreed; /* agreed: the same pick */
    int64_t better, same, worse;
    kw_evaluation_metrics a, b; /* on the contests that both judge */
    kw_metric mean_delta;       /* of efficiency, b - a, by resamples of both together */
    double worst_loss;          /* the greatest share of efficiency that b loses on one contest: 1 - b / a; 0: none */
    char worst[KW_PROBLEM_TEXT_MAX];
} kw_comparison;

/* KW_ILLEGAL unless both read the same rows. */
KW_API kw_status kw_evaluations_compare(kw_comparison *comparison, const kw_evaluation *a, const kw_evaluation *b, kw_error *err);
/* For people. The caller frees *text with kw_free. */
KW_API kw_status kw_comparison_text(char **text, const kw_comparison *comparison, const kw_evaluation *a, const kw_evaluation *b,
                                    kw_error *err);

/* What a new model must keep of the base's; zeroed members: the defaults. */
typedef struct kw_acceptance {
    double mean, median, p10; /* how much lower they may be, as a share of the base's; 0: 0.005, 0.005, 0.02 */
    double one;               /* share that no contest may lose more than; 0: 0.1 */
} kw_acceptance;
/* KW_FAILED and the first criterion that b misses. acceptance may be NULL. */
KW_API kw_status kw_comparison_accept(const kw_comparison *comparison, const kw_acceptance *acceptance, kw_error *err);

/* --- validation: picks and best kernels measured anew ---------------------------------------------------------- */

/* A zeroed member asks for its default. */
typedef struct kw_validate_options {
    size_t limit;    /* at most so many contests, drawn from the seed; 0: 50 */
    const char *out; /* a store for the new rows, which must not be there yet; NULL: none is kept */
    uint64_t seed;
    int32_t batches;                       /* as in a sweep */
    const char *device, *worker, *command; /* as in a sweep */
    const char *cache_dir, *compiler;      /* as in a sweep */
    const volatile int *stop;              /* as in a sweep */
    void (*progress)(void *user, const kw_sweep_progress *progress);
    void (*log)(void *user, const char *line);
    void *user;
} kw_validate_options;

typedef struct kw_validate_report {
    int64_t problem_groups, lost; /* lost: without a new time of both kernels */
    kw_metric claimed;            /* mean efficiency by the old rows, of the contests that were measured anew */
    kw_metric found;              /* by the new ones: time of the best kernel over that of the pick, at most 1; a tie counts as 1 */
    double found_p10;
    double drift;     /* median of the best kernels' new times over their old ones */
    double worst_gap; /* by how much found falls short of claimed at worst, in efficiency */
    char worst[KW_PROBLEM_TEXT_MAX];
} kw_validate_report;

/* Measures the pick and the best kernel of contests of an evaluation again, both of a problem interleaved, and says whether what the old
 * rows claim still holds. Contests timed hot with packed weights on this machine's target alone are drawn from; KW_FAILED when there is
 * none. */
KW_API kw_status kw_validate(const kw_evaluation *evaluation, const kw_validate_options *options, kw_validate_report *report,
                             kw_error *err);

/* --- active data: what to measure next --------------------------------------------------------------------------- */

/* Problems are sorted into families (operation, axes, filter, stride, dilation, groups, extent and channels in classes; docs/training.md). The
 * regret of a family is 1 less the mean efficiency of its picks, by predictions that saw no row of the shape. */
typedef enum kw_family_state {
    KW_FAMILY_OVER = 0, /* its regret is above the target */
    KW_FAMILY_UNKNOWN,  /* too few shapes to tell */
    KW_FAMILY_MET
} kw_family_state;

typedef struct kw_proposal_family {
    char key[64];
    kw_family_state state;
    int64_t shapes, problem_groups; /* judged */
    int64_t waiting;                /* shapes that have rows of which nothing is predicted: a new training will know them */
    double regret;                  /* NAN where nothing is judged */
    int64_t proposed;               /* problems */
    bool exhausted;                 /* more would be wanted, but no new problem of it was found */
} kw_proposal_family;

/* A zeroed member asks for its default. What is pointed to must outlive the proposal. */
typedef struct kw_proposal_options {
    const char *const *stores; /* stores, or exports of them, with what was measured */
    size_t store_count;
    /* Whose errors count: "estimate" (the analytic one), a file of held-out predictions (oof.csv.gz), or a model's folder, whose held-out
     * predictions judge the shapes that it was trained on, and which judges the others itself. NULL: "estimate". */
    const char *by;
    const char *folds;        /* of held-out predictions: "shape" or "family"; NULL: "shape" */
    const char *target;       /* only rows of this one count, by its canonical text; NULL: this machine with so many threads */
    int32_t threads;          /* 0: 1 */
    bool cold, fresh_weights; /* only rows timed so count, and what is proposed is timed so; default hot, weights packed beforehand */
    bool by_op, by_dtype;
    kw_op op;
    kw_dtype dtype;
    double regret;              /* that every family must stay within; 0: 0.01 */
    int32_t least;              /* shapes that a family must have to be known; 0: 5 */
    const kw_problem *problems; /* drawn from before others are made up; their families must be known as well */
    size_t problem_count;
    const char *const *configs; /* the kernels to choose from, as texts */
    size_t config_count;
    int32_t best;               /* kernels of a problem that predict the least time, by the model and as many by the estimate; 0: 4 */
    int32_t explore;            /* others at random; 0: 4, negative: none */
    size_t limit;               /* problems in a proposal; 0: 16 */
    double max_gflop, max_mb;   /* as in kw_sample_options; 0: no limit */
    const char *const *holdout; /* problem lists, by name or file, that are never proposed or counted, in any type */
    size_t holdout_count;
    uint64_t seed;
    void (*log)(void *user, const char *line); /* remarks; may be NULL */
    void *user;
} kw_proposal_options;

typedef struct kw_proposal_facts {
    const kw_proposal_family *families; /* what is over, unknown, met; in each the greatest regret first. Owned by the proposal */
    size_t family_count;
    int64_t count[KW_FAMILY_MET + 1]; /* of families by state */
    bool met;                         /* every family is */
    int64_t problem_groups;           /* judged */
    double regret;                    /* of all of them together; NAN: there are none */
    int64_t problems, drawn, pairs;   /* proposed; drawn: problems that are from the lists */
} kw_proposal_facts;

/* The same rows, lists and seed give the same proposal. */
typedef struct kw_proposal kw_proposal;
KW_API kw_status kw_proposal_open(kw_proposal **proposal, const kw_proposal_options *options, kw_error *err);
KW_API void kw_proposal_close(kw_proposal **proposal);
/* Changes with kw_proposal_measure. */
KW_API const kw_proposal_facts *kw_proposal_describe(const kw_proposal *proposal);
/* A manifest for kw_sweep_options.pairs. KW_FAILED when nothing is proposed. */
KW_API kw_status kw_proposal_write(const kw_proposal *proposal, const char *path, kw_error *err);

typedef struct kw_proposal_report {
    int64_t rounds, problems, pairs;   /* measured, as far as it came */
    int64_t outcome[KW_OUTCOME_COUNT]; /* of the rows written */
    double wall_s;
    bool stopped, spent; /* by sweep->stop; by its budget */
} kw_proposal_report;

/* Measures what is proposed into sweep->out, looks again with the new rows and goes on with a new proposal until the target is met, nothing
 * more is found to propose, or sweep->budget_s is spent; without a budget, once. Nothing is measured where the target is met already. Of sweep
 * count neither the kernels and problems nor threads, cold, fresh_weights and shards. */
KW_API kw_status kw_proposal_measure(kw_proposal *proposal, const kw_sweep_options *sweep, kw_proposal_report *report, kw_error *err);

/* --- pruning: the fewest kernels that keep a share of the best ------------------------------------------------- */

enum { KW_PRUNE_CURVE = 12, KW_PRUNE_GROUPS = 32 };

/* Of one operation and type. kept: mean over contests of the oracle's time over that of the best kernel kept, chosen by one half of the
 * samples and timed by the other; worst: of the worst contest. Compiled-in kernels are always there and are not counted. */
typedef struct kw_prune_group {
    kw_op op;
    kw_dtype dtype;
    int64_t problem_groups, kernels, chosen; /* kernels: measured good in some contest */
    double kept, worst;
    double unseen, unseen_worst;  /* on problems that did not choose: five folds over shapes, each chosen for by the others; NAN: too few */
    double curve[KW_PRUNE_CURVE]; /* kept by the first 1, 2, 4, ... kernels, the most useful ones first; NAN beyond those chosen */
} kw_prune_group;

/* A zeroed member asks for its default. */
typedef struct kw_prune_options {
    const char *const *stores; /* stores, or exports of them */
    size_t store_count;
    bool by_op, by_dtype;
    kw_op op;
    kw_dtype dtype;
    double keep;         /* mean share to keep, in each group; 0: 0.99 */
    double worst;        /* share to keep in each contest; 0: 0.9, negative: none */
    const char *out;     /* a catalog; a rule set when it ends in .lua (docs/rules.md); NULL: nothing is written */
    const char *command; /* for the file's comment; may be NULL */
    uint64_t seed;       /* of the folds */
} kw_prune_options;

typedef struct kw_prune_report {
    kw_prune_group all; /* op and dtype mean nothing; curve: each group's first 1, 2, 4, ... kernels */
    kw_prune_group group[KW_PRUNE_GROUPS];
    int32_t groups;
} kw_prune_report;

KW_API kw_status kw_prune(const kw_prune_options *options, kw_prune_report *report, kw_error *err);

/* --- search: good kernels of a whole space by prediction ------------------------------------------------------- */

typedef enum kw_search_method {
    KW_SEARCH_EVOLVE = 0, /* differential evolution over the axes, each family its own population */
    KW_SEARCH_RANDOM,
    KW_SEARCH_ALL /* every kernel of the space */
} kw_search_method;

/* A zeroed member asks for its default. */
typedef struct kw_search_options {
    const kw_problem *problem;
    const char *model;      /* a model's folder; NULL: the analytic estimate */
    kw_space_options space; /* set NULL: "full" */
    const char *target;     /* canonical text; NULL: this machine with so many threads */
    int32_t threads;        /* 0: 1 */
    kw_search_method method;
    int32_t budget; /* kernels to look at; 0: 500 */
    int32_t top;    /* kernels to give; 0: 10 */
    uint64_t seed;
} kw_search_options;

typedef struct kw_search_result {
    char config[KW_CONFIG_TEXT_MAX];
    double predicted_ns; /* by the model, or the estimate */
    double estimate_ns;
} kw_search_result;

typedef struct kw_search_report {
    kw_search_result *results; /* best first, each kernel once; freed with kw_free */
    size_t count;
    int64_t evaluated;             /* kernels that were scored, each once */
    int64_t drawn, refused, unfit; /* points drawn; of them not in the space, and in it but not serving the problem */
} kw_search_report;

/* Only kernels that the rules declare, that can be generated and that serve the problem are looked at. */
KW_API kw_status kw_search(const kw_search_options *options, kw_search_report *report, kw_error *err);

/* --- report --------------------------------------------------------------------------------------------------- */

typedef struct kw_report_options {
    const char *baseline; /* a second store to compare with; NULL: none */
    const char *title;
    const char *script; /* a chart library to inline; NULL: Debian's libjs-chart.js where it is; "": none */
} kw_report_options;
/* One self-contained HTML file that opens offline. */
KW_API kw_status kw_report_html(const char *store, const char *path, const kw_report_options *options, kw_error *err);
/* One such file about the first of the evaluations, beside the others (1 to 8 in all, of the same stores) on the contests that all of them judge:
 * predicted against measured times, distributions of efficiency, the best of lists, regret by family, residuals, features. options: title and
 * script; may be NULL. */
KW_API kw_status kw_evaluations_html(const char *path, const kw_evaluation *const evaluations[], size_t count,
                                     const kw_report_options *options, kw_error *err);
/* The same in short, for a terminal. The caller frees *text with kw_free. */
KW_API kw_status kw_report_text(char **text, const char *store, const kw_report_options *options, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
