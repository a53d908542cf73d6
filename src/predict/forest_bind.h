/* forest_bind.h: from a feature's values to the answers of all conditions on it, and rows for those that the candidates do not answer
 * alike. Used for kernel features when a pool is opened and for pair features in each call. */
#ifndef KW_PREDICT_FOREST_BIND_H
#define KW_PREDICT_FOREST_BIND_H

#include "predict/forest_kernel.h"

typedef struct kw_forest_binder {
    const kw_forest *forest;
    const kw_forest_kernel *kernel;
    size_t count, words;
    uint32_t *answers;  /* one a condition of the forest */
    uint64_t *rows;     /* room for a row for each condition on the features that will be bound */
    size_t row_count;   /* rows in use */
    size_t row_base;    /* number of the first of them */
    uint16_t *bins;     /* one a candidate */
    uint16_t *classes;  /* for each bin its class: kw_forest_bins_most of them */
    uint16_t *occupied; /* for each class its bin: as many */
    uint64_t *buckets;  /* for each class its candidates: kw_forest_classes_most rows */
} kw_forest_binder;

/* The most bins of any feature with a split in the forest and this role, and the most classes that count candidates can be in. */
size_t kw_forest_bins_most(const kw_forest *forest, const kw_forest_role *roles, kw_forest_role role);
/* Conditions on features of this role: the most rows. */
size_t kw_forest_conditions_of(const kw_forest *forest, const kw_forest_role *roles, kw_forest_role role);

/* Answers for one value that all candidates share. */
void kw_forest_bind_value(const kw_forest *forest, size_t feature, double value, uint32_t *answers);
/* Answers and rows for one value a candidate. */
void kw_forest_bind_column(kw_forest_binder *binder, size_t feature, const double *values);

#endif
