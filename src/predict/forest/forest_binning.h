/* forest_binning.h: from a feature's values to the answers of all conditions on it, and rows for those that the candidates of a call do not
 * answer alike. A row has a bit for each candidate that the call asks about, and no other: most kernels do not fit a problem, and what the
 * rest have in common decides many conditions. */
#ifndef KW_PREDICT_FOREST_FOREST_BINNING_H
#define KW_PREDICT_FOREST_FOREST_BINNING_H

#include "predict/forest/forest_kernel.h"

/* Values that were numbered last, found by a hash of their bits. */
enum { KW_FOREST_MEMO_BITS = 8, KW_FOREST_MEMO = 1 << KW_FOREST_MEMO_BITS };

typedef struct kw_forest_memo {
    uint64_t bits[KW_FOREST_MEMO];
    uint32_t number[KW_FOREST_MEMO];
} kw_forest_memo;

typedef struct kw_forest_binning {
    const kw_forest *forest;
    size_t count;
    uint32_t *asked; /* the candidates that count, asked_count of them in ascending order; values of the others are not read */
    size_t asked_count;
    size_t words;       /* of a row of this call */
    uint32_t *answers;  /* one a condition of the forest */
    uint64_t *rows;     /* room for one for each condition on the features that are bound */
    size_t row_count;   /* rows in use */
    double *different;  /* the values of a column, each about once */
    uint32_t *lower;    /* one for each of them: thresholds below it, then its bin */
    uint32_t *numbers;  /* one a candidate that is asked about: which of them it has */
    uint16_t *bins;     /* one a candidate that is asked about */
    uint16_t *classes;  /* for each bin its class: kw_forest_max_bins of them */
    uint16_t *occupied; /* for each class its bin: as many */
    uint64_t *buckets;  /* for each class its candidates: a row each */
    kw_forest_memo *memo;
} kw_forest_binning;

/* The most bins of any feature with a split in the forest and this role, and the most classes that count candidates can be in. */
size_t kw_forest_max_bins(const kw_forest *forest, const kw_forest_role *roles, kw_forest_role role);
/* Conditions on features of this role: the most rows. */
size_t kw_forest_conditions_of(const kw_forest *forest, const kw_forest_role *roles, kw_forest_role role);

/* Answers for one value that all candidates share. */
void kw_forest_bin_value(const kw_forest *forest, size_t feature, double value, uint32_t *answers);
/* Answers and rows for one value a candidate; at least one is asked about. */
void kw_forest_bin_column(kw_forest_binning *binder, size_t feature, const double *values);
/* The same of values whose bins are known, one a candidate, which kw_forest_bins_of found. */
void kw_forest_bin_known(kw_forest_binning *binder, size_t feature, const uint16_t *bins);
void kw_forest_bins_of(uint16_t *bins, const kw_forest *forest, size_t feature, const double *values, size_t count);

#endif
