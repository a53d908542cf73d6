/* dataset.h: rows of stores as a table to learn from and to evaluate by. A pair is a config on a problem with its answer (kw_store);
 * pairs of one problem, target and kind of timing (packed, cold) stand together and form a problem group. What does not fit is left out,
 * as dispatch never asks for it, and so is what spills or wants too much shared memory, which dispatch passes over; what failed stays,
 * because a selection that fails must count against its selector. */
#ifndef KW_LEARN_DATA_DATASET_H
#define KW_LEARN_DATA_DATASET_H

#include "measure/measure.h"
#include "predict/features/features_native.h"

typedef struct kw_pair {
    kw_config config;
    kw_outcome outcome;
    int32_t samples;
    double time_ns, spread_ns, half_ns[2]; /* half_ns: as in kw_record */
    double estimate_ns;                    /* kw_predict_ns */
    kw_native_resources need;              /* what the row says of the compiled kernel */
    kw_launch launch;
} kw_pair;

typedef struct kw_problem_group {
    kw_problem problem;
    kw_target target;
    bool packed, cold;
    size_t first, count; /* its pairs */
    uint64_t hash;       /* of the problem's canonical text */
    char bucket[64];     /* operation, group kind, filter, spatial and channel class: what "a family left out" leaves out */
    bool holdout;        /* in a list that must not be trained on */
} kw_problem_group;

typedef struct kw_dataset {
    kw_problem_group *problem_groups;
    kw_pair *pairs;
    size_t problem_group_count, pair_count;
    int64_t outcome[KW_OUTCOME_COUNT]; /* of all rows read, those left out too */
    size_t ck;                         /* pairs of kernels of CK Tile (predict/ck/ck_kernels.h) */
    bool published;                    /* rates count as the published models have it: products with padding too */
    int64_t foreign; /* rows left out because their config, problem or target is not ours any more, or its rules changed */
    int64_t untimed; /* rows left out because nothing was timed: only verified, or not tried */
    char digest[33]; /* of the rows used */
} kw_dataset;

/* Which rows; zeroed: all of every operation and type. */
typedef struct kw_dataset_filter {
    bool by_op, by_dtype;
    kw_op op;
    kw_dtype dtype;
    const kw_problem *holdout; /* problems that are held out, by their canonical text without the type */
    size_t holdout_count;
    bool ck; /* rows of kernels of CK Tile as well: their times are believed, though nobody here has verified their results */
} kw_dataset_filter;

/* Reads the answers of stores (or .jsonl, .csv and .gz exports of them). */
kw_status kw_dataset_open(kw_dataset *dataset, const char *const *paths, size_t count, const kw_dataset_filter *filter, kw_error *err);
void kw_dataset_close(kw_dataset *dataset);
/* All features of all pairs, pair_count rows of the table's columns; the caller frees with free. */
kw_status kw_dataset_features(double **rows, const kw_dataset *dataset, const kw_native_features *native, kw_error *err);

/* The same of published features, which know GEMM or convolutions and kernels with tiles: KW_ILLEGAL where the pairs have both operations, or
 * others. *table is the one that holds. */
kw_status kw_dataset_ck_features(double **rows, const kw_feature_table **table, const kw_dataset *dataset, kw_error *err);
/* Operations and bytes of a group's problem, for rates. */
typedef struct kw_group_work {
    double flops, bytes;
} kw_group_work;
kw_group_work kw_problem_group_work(const kw_dataset *dataset, const kw_problem_group *problem_group);

/* What is known of a pair's times, for kw_oracle and kw_record_score. */
kw_record kw_pair_record(const kw_pair *pair);
/* The honest best of a problem group: chosen on one half of the samples and scored on the other, both ways, averaged (kw_oracle). index:
 * the pair (of the data set) that wins on all samples. When nothing in it is good, *ns is 0 and *index SIZE_MAX: that is no error. */
kw_status kw_problem_group_oracle(const kw_dataset *dataset, const kw_problem_group *problem_group, size_t *index, double *ns,
                                  kw_error *err);

#endif
