/* learn.h: from rows to a model.
 * Needs libkernelwright_tune. Conventions are those of kernelwright.h. */
#ifndef KERNELWRIGHT_TUNE_LEARN_H
#define KERNELWRIGHT_TUNE_LEARN_H

#include "../kernelwright.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How good the selections of a model are, on problem groups (a problem on a target, packed or not, cold or not) that it was not trained
 * on. Efficiency is the oracle's time over the selection's, at most 1; the oracle is chosen by one half of the samples and timed by the
 * other (docs/measuring/measuring.md); a selection that failed has efficiency 0. */
typedef struct kw_train_metrics {
    int64_t problem_groups, failed; /* failed: selections that failed */
    double mean, median, p10, worst;
    double regret; /* time of all selections over that of all oracles, less 1; a failed selection counts as the slowest good kernel */
    double top1;   /* share of problem groups in which the selection is the fastest kernel */
    double r2, rmse, mae; /* of predicted TFLOP/s over all good rows (kw_rate_errors) */
} kw_train_metrics;

typedef struct kw_train_progress {
    const char *phase; /* "read", "folds", "model" */
    int64_t done, total;
    double mean; /* efficiency so far, of the problem groups held out; 0: not known yet */
} kw_train_progress;

/* A zeroed member asks for its default. */
typedef struct kw_train_options {
    size_t size;               /* sizeof(kw_train_options) */
    const char *const *stores; /* stores, or exports of them (.jsonl, .csv, .gz) */
    size_t store_count;
    const char *out; /* the model's folder, made if missing */
    bool by_op, by_dtype;
    kw_op op;
    kw_dtype dtype;
    /* What is learned: ratio, relative, tflops, time, rank, latency, bandwidth; "choose" tries the first five; several with commas: a model each
     * in one folder, whose first is model.spec and the others model_QUANTITY.spec. NULL: ratio, of published features tflops. */
    const char *quantity;
    const char *features;       /* "native" or "ck", the published ones; NULL: ck where all kernels are CK Tile's, else native */
    const char *const *holdout; /* problem lists, by name or file: a row of one of their problems, in any type, is KW_FAILED */
    size_t holdout_count;
    int32_t folds;        /* 0: 5; 1: none, and no figures */
    int32_t trees;        /* at most; 0: 1000. With warm_start: how many are added; 0: 100 */
    int32_t leaves;       /* of a tree at most; 0: 48 */
    int32_t rounds;       /* of mining hard problems; 0: 2, negative: none */
    int32_t threads;      /* 0: 1. The model is the same with any number */
    double learning_rate; /* 0: 0.06 */
    uint64_t seed;
    int64_t max_bytes;      /* of the compressed forest; later trees are left away until it fits; 0: 1,000,000 */
    const char *warm_start; /* a model's folder whose trees come first; NULL: none */
    const char *lightgbm;   /* lib_lightgbm.so; NULL: KW_LIGHTGBM, else where make lightgbm puts it, else as the loader finds it */
    const char *command;    /* for the manifest */
    const kw_stop *stop;    /* the caller wants to end: nothing is written then. NULL: never */
    void (*progress)(void *user, const kw_train_progress *progress);
    void (*log)(void *user, const char *line); /* remarks; may be NULL */
    void *user;
} kw_train_options;

typedef struct kw_train_report {
    int64_t pairs, problem_groups, problems, families; /* families: of problems, those that folds leave out whole */
    int64_t good, slow, failed, foreign, untimed;      /* rows: of the pairs, and left out */
    kw_train_metrics shapes, unseen_families;          /* of folds over whole problems, and over whole families */
    kw_train_metrics estimate;                         /* of the analytic estimate, on the same problem groups */
    char quantity[16];
    int32_t rounds;                             /* of mining that were kept */
    int64_t trees, leaves, bytes, memory_bytes; /* bytes: on disk */
    char digest[33];
} kw_train_report;

/* Trains a model and writes its folder: the forest, what it is for, its held-out figures and predictions, its manifest and card
 * (docs/selection/training.md). Loads LightGBM into this process, which stays then. Same rows, options and library: same files, byte for byte. */
KW_API kw_status kw_train(const kw_train_options *options, kw_train_report *report, kw_error *err);

/* A zeroed member asks for its default. */
typedef struct kw_adopt_options {
    size_t size;        /* sizeof(kw_adopt_options) */
    const char *folder; /* of CK Tile's heuristics: feature_spec.json, model_TARGET.lgbm or .lgbm.gz, perhaps train_manifest.json */
    const char *out;    /* where specs and forests go; NULL: beside what is there */
    bool by_op;         /* the folder does not say its direction, or op is to be held against it */
    kw_op op;
    const char *quantity; /* "tflops" or "bandwidth": scores of it are logarithms though the folder does not say so */
    void (*log)(void *user, const char *line);
    void *user;
} kw_adopt_options;

typedef struct kw_adopt_report {
    kw_op op;
    kw_dtype dtype;
    char arch[32], quantities[96]; /* of each target, the first one is model.spec */
    int64_t features, trees;
} kw_adopt_report;

/* Makes a published folder one that is asked here: writes model.spec for its first target (tflops before latency and bandwidth) and
 * model_TARGET.spec for the others. Scores are LightGBM's to the last bit. KW_MISSING: a feature, type, architecture or version is not known
 * here; KW_MALFORMED: forest and feature_spec.json do not go together. */
KW_API kw_status kw_model_adopt(const kw_adopt_options *options, kw_adopt_report *report, kw_error *err);

/* --- for a trainer of your own ---------------------------------------------------------------------------------- */

/* A zeroed member asks for its default. */
typedef struct kw_training_options {
    size_t size;               /* sizeof(kw_training_options) */
    const char *const *stores; /* stores, or exports of them (.jsonl, .csv, .gz) */
    size_t store_count;
    bool by_op, by_dtype;
    kw_op op;
    kw_dtype dtype;
    const char *quantity; /* of the labels, one of kw_train_options; NULL: ratio */
} kw_training_options;

typedef struct kw_training_column {
    const char *name, *group, *unit, *formula; /* unit "code": a category, which is no quantity */
} kw_training_column;

/* A pair is a kernel on a problem, with its answer; pairs stand by groups: a problem on a target, timed in one way. */
typedef struct kw_training_view {
    size_t pairs, columns, groups;
    const kw_training_column *column;
    const double *values;      /* pairs rows of columns; NAN: the family has no such axis */
    const double *time_ns;     /* that labels are made from: bounded where it was slow or failed; 0: the group has no good pair */
    const float *label;        /* of pairs with a time */
    const int64_t *group;      /* of each pair, ascending */
    const uint64_t *shape;     /* pairs with the same number are to be left out together */
    const kw_outcome *outcome; /* of the row */
} kw_training_view;

/* What kw_train learns from by its own features: the same pairs, features and labels. */
typedef struct kw_training_table kw_training_table;
KW_API kw_status kw_training_table_open(kw_training_table **table, const kw_training_options *options, kw_error *err);
KW_API void kw_training_table_close(kw_training_table **table);
/* Owned by the table. */
KW_API const kw_training_view *kw_training_table_view(const kw_training_table *table);
KW_API kw_status kw_training_pair_text(char problem[KW_PROBLEM_TEXT_MAX], char config[KW_CONFIG_TEXT_MAX], const kw_training_table *table,
                                       size_t pair, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
