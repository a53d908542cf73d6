/* forest.h: gradient-boosted trees as LightGBM writes them (text, plain or gzip), read strictly and evaluated to the same doubles.
 *
 * Invariants: a kw_forest and, but for kw_forest_batch_replace, a kw_forest_batch are constant once made and may be used by any number
 * of threads; what a call writes is in its kw_forest_scratch, of which each thread has its own. A call takes no lock and allocates
 * nothing. The score is the raw score: the sum of the leaves in the order of the trees, in double, as LightGBM's C API returns it.
 * docs/selection/forest.md has the method, the limits and what is refused.
 *
 * kw_forest_score answers for any row and is the definition; kw_forest_batch_score answers for a fixed set of candidates at once. */
#ifndef KW_PREDICT_FOREST_FOREST_H
#define KW_PREDICT_FOREST_FOREST_H

#include "base/status.h"

typedef struct kw_forest kw_forest;
typedef struct kw_forest_batch kw_forest_batch;
typedef struct kw_forest_scratch kw_forest_scratch;

/* What a model file may hold at most. */
enum {
    KW_FOREST_MAX_FILE = 64 << 20,  /* bytes as stored */
    KW_FOREST_MAX_TEXT = 256 << 20, /* bytes of text */
    KW_FOREST_MAX_RATIO = 100,      /* text bytes for each stored byte of a gzip file, beyond the first MiB */
    KW_FOREST_MAX_FEATURES = 4096,
    KW_FOREST_MAX_NAME = 255, /* bytes of a feature's name */
    KW_FOREST_MAX_TREES = 65536,
    KW_FOREST_MAX_TREE_LEAVES = 65536,
    KW_FOREST_MAX_LEAVES = 1 << 23,         /* of all trees */
    KW_FOREST_MAX_THRESHOLDS = 65533,       /* distinct ones of one feature */
    KW_FOREST_MAX_CATEGORY = 65503,         /* the largest category that a split may name */
    KW_FOREST_MAX_CATEGORY_WORDS = 1 << 22, /* 32-bit words of category sets in all trees */
    KW_FOREST_MAX_CANDIDATES = 1 << 17
};

/* Reads a model; the format is told by the content. */
kw_status kw_forest_load(kw_forest **out, const char *path, kw_error *err);
/* The same from size bytes in memory (text or gzip; need not be terminated). name stands in messages. */
kw_status kw_forest_parse(kw_forest **out, const char *name, const void *data, size_t size, kw_error *err);
void kw_forest_drop(kw_forest **forest);

typedef struct kw_forest_facts {
    size_t features, trees, leaves; /* leaves of all trees */
    size_t conditions;              /* distinct questions that splits ask */
    size_t bytes;                   /* in memory */
    const char *objective;          /* as in the file, "" for a custom one */
} kw_forest_facts;

kw_forest_facts kw_forest_describe(const kw_forest *forest);
/* The name of feature i, as in the file. */
const char *kw_forest_feature(const kw_forest *forest, size_t i);
/* Splits on feature i in all trees; 0 means that its value plays no part. */
size_t kw_forest_feature_splits(const kw_forest *forest, size_t i);

/* Scores of row_count rows of all features each, one after the other. The plain form: walks each tree by comparing doubles. */
void kw_forest_score(const kw_forest *forest, const double *rows, size_t row_count, double *scores);

/* Where a feature's value comes from when a set of candidates is scored for one problem after another. */
typedef enum kw_forest_role {
    KW_FOREST_KERNEL,  /* of the candidate alone: given once, to kw_forest_batch_open */
    KW_FOREST_PROBLEM, /* of the problem (and the target) alone: one value a call */
    KW_FOREST_PAIR     /* of both: one value for each candidate in each call */
} kw_forest_role;

typedef struct kw_forest_candidates {
    size_t count;                /* 1..KW_FOREST_MAX_CANDIDATES */
    const kw_forest_role *roles; /* one a feature */
    const double *const
        *columns; /* one a feature: count values for role KERNEL, not read for the others or where the forest has no split */
} kw_forest_candidates;

/* Works out for every question about kernel features which candidates it sends left. The forest must outlive the batch. */
kw_status kw_forest_batch_open(kw_forest_batch **out, const kw_forest *forest, const kw_forest_candidates *candidates, kw_error *err);
/* Another candidate in the place of one, of which columns has the values as when the batch was opened. Not while a call is under way. */
void kw_forest_batch_replace(kw_forest_batch *batch, size_t candidate, const double *const *columns);
void kw_forest_batch_close(kw_forest_batch **batch);
size_t kw_forest_batch_bytes(const kw_forest_batch *batch);

/* One thread's memory for scoring this batch. instructions: "baseline", "avx2", "avx512", or NULL for the best that this processor has. */
kw_status kw_forest_scratch_open(kw_forest_scratch **out, const kw_forest_batch *batch, const char *instructions, kw_error *err);
void kw_forest_scratch_close(kw_forest_scratch **scratch);
size_t kw_forest_scratch_bytes(const kw_forest_scratch *scratch);

typedef struct kw_forest_query {
    const double *values;         /* one a feature: read for role PROBLEM */
    const double *const *columns; /* one a feature: count values for role PAIR; not read where the forest has no split */
    const bool *asked;            /* NULL: all candidates. The others cost nothing: no tree is walked for them, their values are not read */
} kw_forest_query;

/* Scores of the batch's candidates, in their order; of one that is not asked about any number. The scratch must have been opened for this batch. */
void kw_forest_batch_score(const kw_forest_batch *batch, kw_forest_scratch *scratch, const kw_forest_query *query, double *scores);

#endif
