/* sweep.h: every kernel on every problem, measured in processes of their own; shards, and merging what they wrote.
 * Needs libkernelwright_tune. Conventions are those of kernelwright.h. */
#ifndef KERNELWRIGHT_TUNE_SWEEP_H
#define KERNELWRIGHT_TUNE_SWEEP_H

#include "../kernelwright.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kw_sweep_progress {
    const char *phase;           /* "build" or "measure" */
    int64_t done, total, failed; /* kernels, or pairs of kernel and problem */
    int64_t skipped;             /* pairs that have a row already */
    double eta_s;                /* negative: not known yet */
    const char *problem;         /* the one just done; NULL while building */
    double best_ns;              /* of its best kernel */
} kw_sweep_progress;

/* Who measures. Nothing opens a device in the calling process: workers, processes of their own, do. */
typedef struct kw_sweep_workers {
    const char *devices; /* "cpu"; several: "cpu,cpu" gives each worker its share of the cores; NULL: "cpu" */
    const char *program; /* the one whose hidden verb serves; NULL: KW_WORKER, else the running one if it is kwright */
    int32_t threads;     /* of a kernel; 0: 1 */
    int32_t batch;       /* kernels a worker is given at a time; 0: 20 */
} kw_sweep_workers;

/* How kernels are compiled; as in kw_context_options. */
typedef struct kw_sweep_build_options {
    const char *cache_dir, *compiler;
    int32_t jobs;        /* compilers at a time; 0: one a core */
    int32_t spill_limit; /* a kernel above it gets rows KW_SPILLS and is not run */
} kw_sweep_build_options;

typedef struct kw_sweep_timing_options {
    int32_t batches;          /* samples wanted; 0: 21 */
    bool cold, fresh_weights; /* default: hot, weights packed beforehand */
    bool exhaustive;          /* drop nothing for being slow */
    bool verify_only;
    uint64_t seed; /* of the data and the order */
} kw_sweep_timing_options;

typedef struct kw_sweep_limits {
    double kernel_s; /* that one kernel may stay in one step, 0: 30 */
    double batch_s;  /* of a batch; 0: kernel_s times its kernels */
    double budget_s; /* after so long no kernel is compiled and no batch begun; the rest is left for later; 0: no end */
} kw_sweep_limits;

/* This process does the problems that hash to index (0-based) of count; 0 of 0: all. */
typedef struct kw_shard {
    int32_t index, count;
} kw_shard;

/* A zeroed member asks for its default. */
typedef struct kw_sweep_options {
    size_t size;                /* sizeof(kw_sweep_options) */
    const char *const *configs; /* texts; a pair is a config and a problem of its operation and type */
    size_t config_count;
    const kw_problem *problems;
    size_t problem_count;
    const char *pairs;             /* a manifest (docs/measuring/sweeps.md): only its pairs, in place of configs and problems; NULL: none */
    const char *candidates, *list; /* what configs and problems are called, for the run's facts; may be NULL */
    const char *out;               /* a store, or a segment when it ends in .jsonl */
    const char *command;           /* for the run's facts */
    bool overwrite;                /* drop rows of these pairs first; else pairs that have a row are skipped */
    bool count_only;               /* only tells in the report what there is to do; nothing is built, run or written */
    kw_sweep_workers workers;
    kw_sweep_build_options build;
    kw_sweep_timing_options timing;
    kw_sweep_limits limits;
    kw_shard shard;
    const kw_stop *stop; /* the caller wants to end: the store is consistent within 2 s. NULL: never */
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
/* Name and value of what this build is made of: commit, compiler, libraries. */
KW_API void kw_about_visit(void (*visit)(void *user, const char *name, const char *value), void *user);

/* The hidden verb: serves a sweep on standard input and output until its input ends. Returns an exit code. arguments are those behind the
 * verb. */
KW_API int kw_worker_main(int count, char *const *arguments);
/* Another one: compiles one kernel for an NVIDIA GPU, in a process of its own (src/jit/toolchain/nvrtc.c). */
KW_API int kw_nvrtc_main(int count, char *const *arguments);
/* And one that measures what a GPU does at most (src/sweep/sweep_roofs.c). */
KW_API int kw_roofs_main(int count, char *const *arguments);

/* The shard of this process, from SLURM_ARRAY_TASK_*, SLURM_PROCID, OMPI_COMM_WORLD_RANK, PMI_RANK and their sizes; KW_OK with a count of 0 when none of
 * them is set. "I/N" in text (may be NULL) comes first; I counts from 1 there. */
KW_API kw_status kw_shard_find(kw_shard *shard, const char *text, kw_error *err);

typedef struct kw_merge_report {
    int64_t inputs, rows, added, known;
    int64_t damaged, refused; /* passed over: lines that are not whole, above all a last one cut off; rows and runs that cannot be true */
    char first_fault[512];    /* of these: its file, its line or row, and why */
    int64_t pairs, holes;     /* of the manifest, where there is one */
    char where[96]; /* options of kwright sweep that mean the target of the inputs' rows (" --threads 2"); "" where they are of several */
} kw_merge_report;
/* Adds stores and segments to a store: a union, so order and repetition do not matter. What kw_store_import refuses is refused here, too, and
 * what is left is merged. manifest: what should be there (NULL: the manifests
 * beside the inputs); next: where to write a manifest of the pairs without a row (NULL: nowhere; none is written when there is none). */
KW_API kw_status kw_merge(const char *out, const char *const *inputs, size_t count, const char *manifest, const char *next,
                          kw_merge_report *report, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
