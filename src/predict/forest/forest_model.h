/* forest_model.h: a forest in memory; for the files of the forest alone.
 *
 * Splits of equal question share a kw_forest_condition; conditions lie sorted by feature, those of a numeric feature by threshold. A
 * tree is its splits and its leaf values in pre-order: split k with n leaves to its left has its left child at split k + 1 and its
 * right child at split k + n (a subtree of n leaves has n - 1 splits), and its leaves likewise. So a split takes six bytes, and a
 * subtree is three numbers: first split, first leaf, leaf count. */
#ifndef KW_PREDICT_FOREST_FOREST_MODEL_H
#define KW_PREDICT_FOREST_FOREST_MODEL_H

#include "predict/forest/forest.h"

#include "base/container/arena.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

typedef enum kw_forest_missing { KW_MISSING_NONE, KW_MISSING_ZERO, KW_MISSING_NAN, KW_MISSING_CATEGORY } kw_forest_missing;

typedef struct kw_forest_condition {
    double threshold; /* numeric: left when value <= threshold */
    uint32_t feature;
    uint32_t bin;      /* numeric: the threshold's index among the feature's; categorical: the set's first word */
    uint32_t words;    /* categorical: length of the set, bit c of which says whether category c goes left */
    uint8_t missing;   /* a kw_forest_missing; KW_MISSING_CATEGORY marks a categorical condition */
    uint8_t left;      /* where a missing value goes */
    uint8_t nan_left;  /* where NaN goes, and ... */
    uint8_t zero_left; /* ... zero, both with the missing rule applied */
} kw_forest_condition;

/* How values become bins. Bins 0..regular - 1 are intervals between thresholds (or categories, the last one being "none of them");
 * NaN has the bin after them, and zero the next, where a condition asks for zeros. */
typedef struct kw_forest_column {
    uint32_t condition, condition_end;
    uint32_t threshold, regular; /* first of its thresholds; number of regular bins */
    uint32_t splits;
    bool categorical, splits_zero;
} kw_forest_column;

/* Six bytes, of which a walk reads all: the condition's number in two halves, and how many leaves are to the left. */
typedef struct kw_forest_split {
    uint16_t condition_low, condition_high, left;
} kw_forest_split;

static inline uint32_t kw_forest_split_condition(const kw_forest_split *split) {
    return split->condition_low | (uint32_t)split->condition_high << 16;
}

static inline kw_forest_split kw_forest_split_make(uint32_t condition, uint32_t left) {
    assert(left && left <= UINT16_MAX);
    return (kw_forest_split){(uint16_t)condition, (uint16_t)(condition >> 16), (uint16_t)left};
}

struct kw_forest {
    kw_arena arena; /* what follows down to words; the rest is on the heap */
    size_t features, trees;
    const char **names;
    char *objective;
    kw_forest_column *columns;
    double *thresholds;
    kw_forest_condition *conditions;
    size_t condition_count, threshold_count;
    uint32_t *words; /* category sets */
    size_t word_count;
    uint32_t *tree_leaf; /* first leaf of each tree, and the end; its first split is that less the tree's number */
    double *values;
    kw_forest_split *splits;
};

/* LightGBM's bound of what counts as zero: a float constant, and smaller values are passed on as zero. */
static inline double kw_forest_flush(double value) {
    return fabs(value) <= (double)1e-35f ? 0.0 : value;
}

/* The category of a value, or -1: NaN, negative and too large ones belong to none. Truncates, as LightGBM does. */
static inline int64_t kw_forest_category(double value) {
    return value > -1.0 && value < 2147483648.0 ? (int64_t)value : -1;
}

static inline bool kw_forest_in_set(const kw_forest *forest, const kw_forest_condition *condition, int64_t category) {
    return category >= 0 && category / 32 < condition->words &&
           (forest->words[condition->bin + (size_t)category / 32] >> (category % 32) & 1);
}

#endif
